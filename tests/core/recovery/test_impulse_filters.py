"""Filters that separate impacts from continuous forces, in made-up impulses and in runs."""

import force_recovery as bouncing
import numpy as np
import pytest
from recoveries import recover

import fem_mbs as fem
from fem_mbs.recovery import cubic_impact, impulse_filter
from fem_mbs.results.contact_motion import approaching

H = 1e-4


def synthetic(spikes):
    """Forces, approach speeds and gains of a contact that carries 100 ± 20 N at 25 Hz, with impulses put on it."""
    t = np.arange(1, 401) * H
    force = 100 + 20 * np.sin(2 * np.pi * 25 * t)
    approach = np.zeros(400)
    for i, impulse in spikes.items():
        force[i] += impulse / H
        approach[i] = 1.0
    return force, approach, np.full(400, 9.8 * H)


@pytest.mark.parametrize(
    "spikes",
    [{200: 0.05}, {200: 0.05, 201: 0.03}, {200: 0.03, 201: 0.05, 202: 0.04}],
    ids=["single", "two adjacent", "three adjacent"],
)
def test_kinematic_filter_separates_impacts_in_adjacent_steps(spikes):
    force, approach, gain = synthetic(spikes)
    impact, _, continuous = impulse_filter.kinematic_filter(force, approach, gain, 1e-6)
    assert list(np.flatnonzero(impact)) == list(spikes)
    # the background between the neighbours is straight: 20 N (2π 25 Hz)² (2 h)²/2 = 0.01 N off, 1e-6 N s
    for i, impulse in spikes.items():
        assert H * (force[i] - continuous[i]) == pytest.approx(impulse, abs=4e-5)
    assert continuous.max() < 120.1


def test_peak_filter_finds_single_spikes_only():
    force, *_ = synthetic({200: 0.05})
    free, on_closed, continuous = impulse_filter.peak_filter(force)
    assert not free.any() and on_closed[200] and H * (force[200] - continuous[200]) == pytest.approx(0.05, rel=1e-3)
    # two adjacent: the smaller stays in the continuous force (docs/theory: Λ_i 0.035, forces of 230 and 380 N)
    force, *_ = synthetic({200: 0.05, 201: 0.03})
    _, on_closed, continuous = impulse_filter.peak_filter(force)
    assert on_closed[200] and not on_closed[201]
    assert H * (force[200] - continuous[200]) == pytest.approx(0.035, rel=0.02) and continuous[201] > 350
    # a force that alternates by ± 10 N: a false impact every second step
    force = 100 + 10.0 * (-1) ** np.arange(100)
    assert impulse_filter.peak_filter(force)[1].sum() == 49
    assert not impulse_filter.kinematic_filter(force, np.zeros(100), np.full(100, 1e-3), 1e-6)[0].any()


def test_impact_that_closes_a_contact_carries_half_of_the_first_force_after_it():
    force = np.concatenate([np.zeros(5), [5000.0], np.full(5, 100.0)])
    approach = np.where(np.arange(11) == 5, 2.0, 0.0)
    impact, _, continuous = impulse_filter.kinematic_filter(force, approach, np.zeros(11), 1e-6)
    assert list(np.flatnonzero(impact)) == [5] and continuous[5] == 50.0


def test_filters_leave_nothing_and_add_nothing():
    rng = np.random.default_rng(5)
    force = rng.exponential(size=500) * (rng.random(500) < 0.6)
    approach, gain = rng.normal(size=500), 0.1 * rng.random(500)
    free, on_closed, smooth = impulse_filter.peak_filter(force)
    impact, _, continuous = impulse_filter.kinematic_filter(force, approach, gain, 1e-6)
    for struck, rest in ((free | on_closed, smooth), (impact, continuous)):
        assert 20 < struck.sum() < 400 and not struck[force == 0].any()
        assert np.all(rest >= 0) and np.all(rest <= force)
        np.testing.assert_array_equal(rest[~struck], force[~struck])


def test_more_impacts_than_fit_into_one_chunk_are_recovered_each_like_alone():
    rng = np.random.default_rng(8)
    count = 2 * cubic_impact.CHUNK + 7
    impulse, speed, e = rng.uniform(0.1, 2, count), rng.uniform(0.1, 3, count), rng.uniform(0.05, 1, count)
    chi = fem.hysteresis_factor("zhang", e)
    together = cubic_impact.hertz_type(impulse, speed, e, chi, 1e8, 1.5)
    for i in (0, cubic_impact.CHUNK - 1, cubic_impact.CHUNK, count - 1):
        alone = cubic_impact.hertz_type(impulse[[i]], speed[[i]], e[[i]], chi[[i]], 1e8, 1.5)
        np.testing.assert_allclose(together[:, i], alone[:, 0], rtol=1e-12)  # order of sums


def stack(t_end=0.34):
    """A ball falls on a heavier one that rests on the floor; a third rests next to them."""
    model = fem.Model("stack", gravity=[0, 0, -9.8])
    lower = model.add(fem.RigidBody.sphere(2.0, 0.1, position=[0, 0, 0.1], fixed=("x", "y"), name="lower"))
    upper = model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0, 0, 0.6978], fixed=("x", "y"), name="upper"))
    model.add(fem.SphereOnPlane(lower, model.ground, radius=0.1, restitution=0.5, name="floor"))
    model.add(fem.SphereOnSphere(upper, lower, radius_A=0.05, radius_B=0.1, restitution=0.8, name="hit"))
    apart = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[1, 0, 0.1], name="apart"))
    model.add(fem.SphereOnPlane(apart, model.ground, radius=0.1, restitution=0.5, name="floor apart"))
    # a subdivided step has two impact problems, and its impacts the note "sequence": here there is one
    return fem.DecoupledNSGA(rho_inf=0.0, impacts="plain").run(model, t_end=t_end, h=1e-3)


def test_impulse_that_comes_through_another_body_is_an_impact_and_asks_for_a_mass():
    result = stack()
    hit = fem.recover_forces(result, "hit", stiffness=1e9)
    with pytest.warns(UserWarning, match=r"'floor'.*1 impacts.*no approach speed.*effective_mass"):
        floor = fem.recover_forces(result, "floor", stiffness=1e9)
    assert len(hit.impacts) == len(floor.impacts) == 1
    assert floor.impacts.note[0] == "no approach speed, through other bodies"
    # the lower ball does not move: all of the impulse is transmitted to the floor, and the weight stays
    assert floor.impacts.impulse[0] == pytest.approx(hit.impacts.impulse[0], rel=1e-9)
    np.testing.assert_allclose(floor.continuous[1:], 2 * 9.8, rtol=1e-9)
    assert np.isnan(floor.impacts.peak_force[0]) and floor.checks().ok
    with pytest.raises(fem.FemMbsError, match=r"impact 0 of 'floor'.*approach speed"):
        floor.curve(0)
    floor = fem.recover_forces(result, "floor", stiffness=1e9, effective_mass=2.0, restitution=0.5)
    assert floor.impacts.speed[0] == pytest.approx(floor.impacts.impulse[0] / 2.0, rel=1e-12)
    assert floor.checks().ok and floor.curve(0).impulse == pytest.approx(floor.impacts.impulse[0], rel=1e-5)


def test_an_impact_reaches_linked_bodies_and_no_others():
    result = stack()
    state = np.flatnonzero(result["hit"].impact)[0]
    struck, labels, nodes, free = approaching(result, [state - 1, state], 1e-6)
    names = result.contacts
    assert [names[c] for c in np.flatnonzero(struck[1])] == ["hit"] and not struck[0].any()
    ground, lower, upper, apart = (labels[:, i] for i in range(4))
    assert not free[0] and lower[1] == upper[1] and lower[0] != upper[0]  # not before they touch
    assert apart[1] not in (lower[1], ground[1]) and lower[1] != ground[1]  # the ground passes nothing on
    assert nodes[names.index("hit")] == [2, 1]
    assert len(fem.recover_forces(result, "floor apart", stiffness=1e9).impacts) == 0


@pytest.mark.parametrize("stepper", [fem.DecoupledNSGA.published, fem.DecoupledNSGA], ids=["published", "default"])
def test_sliding_and_rolling_contact_has_no_impacts_and_its_force_is_the_weight(stepper):
    import ball_against_wall as example

    h = 1e-3
    result = stepper(rho_inf=0.8, rtol=1e-5).run(example.build(), t_end=0.8, h=h)
    for option in ("kinematic", "peak"):
        floor = fem.recover_forces(result, "floor", stiffness=1e9, filter=option)
        assert len(floor.impacts) == 0
        np.testing.assert_allclose(floor.force[1:], example.mass * example.g, rtol=1e-6)  # solver's tolerance
    wall = fem.recover_forces(result, "wall", stiffness=1e9).impacts
    assert len(wall) == 1
    if stepper is not fem.DecoupledNSGA:  # the speed at the start of the step is reflected
        assert wall.energy_lost[0] == pytest.approx(0, abs=1e-6) and wall.restitution[0] == 1.0
    else:  # after an impact in the step the ball slides until it ends: the floor slows it down by up to μ g h
        slower = (1.0 - wall.restitution[0]) * wall.speed[0]
        assert 0.0 < slower < example.friction * example.g * h
        assert wall.energy_lost[0] == pytest.approx(example.mass * wall.speed[0] * slower, rel=2e-3)


def test_plastic_impacts_are_listed_without_force_until_a_restitution_is_given():
    result = bouncing.run(0.0, t_end=0.6)
    with pytest.warns(UserWarning, match=r"'ground contact'.*1 impacts.*without rebound.*restitution="):
        found = recover(result, "hu")
    assert len(found.impacts) == 1 and np.isnan(found.impacts.duration[0]) and found.impacts.restitution[0] == 0
    assert found.impacts.energy_lost[0] == pytest.approx(0.5 * found.impacts.speed[0] * found.impacts.impulse[0])
    assert recover(result, "hu", restitution=0.3).impacts.duration[0] > 1e-3


@pytest.mark.parametrize("factor, is_impact", [(1.2, False), (1.9, False), (2.1, True), (5.0, True)])
def test_an_impact_that_came_through_the_chain_is_more_than_twice_the_force_around_it(factor, is_impact):
    """A closed contact whose neighbour is hit: forces that only rise with the load are no impacts."""
    force = np.full(11, 40.0)
    force[5] *= factor
    found = impulse_filter.kinematic_filter(force, np.zeros(11), np.zeros(11), 1e-6, lambda steps: steps == 5)
    impact, passed, continuous = found
    assert np.flatnonzero(impact).tolist() == np.flatnonzero(passed).tolist() == ([5] if is_impact else [])
    assert continuous[5] == (40.0 if is_impact else force[5])
    # without a neighbour that is hit, no size makes an impact of it
    assert not impulse_filter.kinematic_filter(force, np.zeros(11), np.zeros(11), 1e-6, lambda s: s < 0)[0].any()
