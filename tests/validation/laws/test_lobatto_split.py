"""Located impacts and transitions of Lobatto IIIA-IIIB: order 2 s − 2 through impacts, stick-slip and lift-off.

References are closed forms and an event-driven integrator that shares nothing with the package (helpers/split_models,
helpers/located_models). With ``impacts="plain"`` all orders are about one.
"""

import random

import numpy as np
import pytest
import random_systems
from located_models import DampedBall, G, Hopper, Tumbler, TwoMasses
from split_models import Ball, Disc, FourBalls, Pendulum, TwoLinks

import fem_mbs as fem
from fem_mbs.errors import ParameterError
from fem_mbs.solvers.stepping.march import splitter

STAGES = pytest.mark.parametrize("stages", [2, 3, 4])
# of a run: errors above round-off, near their order; several, because where events lie in their steps scatters errors
STEPS = {2: (100, 200, 400), 3: (40, 57, 80, 113, 160), 4: (20, 28, 40, 57, 80, 113)}


def run(model, t_end, h, stages=3, **options):
    return fem.LobattoIIIAB(stages, **{"impacts": "split", "rtol": 1e-12, **options}).run(model, t_end, h)


def in_plane(result, name):
    """Position and velocity (4,) at the end, along x and z."""
    body = result[name]
    return np.concatenate([body.position[-1, [0, 2]], body.velocity[-1, [0, 2]]])


def events(result):
    """Numbers of impacts and transitions that were located, and of those that were not."""
    names = ("split_impacts", "located_transitions", "impacts_not_split", "transitions_not_located")
    return [result.statistics[name] for name in names]


def check_order(build, end, exact, t_end, stages, counts, steps=None, slack=0.35):
    """Order 2 s − 2 of the state at the end, by a fit over the steps; all events are located."""
    sizes, errors = t_end / np.array((steps or STEPS)[stages]), []
    for h in sizes:
        result = run(build(), t_end, h, stages)
        assert events(result) == [*counts, 0, 0]
        errors.append(np.abs(end(result) - exact).max())
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert abs(order - (2 * stages - 2)) < slack, f"order {order:.2f}, errors {errors}"
    # an order alone does not show that the limit is right; "plain" leaves 1e-2 … 1e-3 at these steps
    assert errors[-1] < {2: 5e-4, 3: 1e-6, 4: 1e-7}[stages], errors


# --- impacts ----------------------------------------------------------------------------------------------------------


@STAGES
@pytest.mark.parametrize("case", [(Pendulum, "ball", {}), (Disc, "ball", {}), (Disc, "ball", {"mu": 1.0})])
def test_states_after_impacts_have_the_order_of_the_scheme(case, stages):
    kind, name, values = case
    exact, impacts = kind.exact(**values)
    steps = {2: (128, 256, 512), 3: (32, 64, 128), 4: (16, 32, 64)}
    check_order(
        lambda: kind.build(**values), lambda r: in_plane(r, name), exact, kind.t_end, stages, (impacts, 0), steps
    )


@STAGES
def test_two_links_with_a_frictional_impact_keep_the_order(stages):
    exact, impacts = TwoLinks.exact()
    steps = {2: (256, 512, 1024), 3: (64, 128, 256), 4: (64, 96, 128)}
    # links turn by half a radian per step at the coarsest
    check_order(
        TwoLinks.build, lambda r: in_plane(r, "lower"), exact, TwoLinks.t_end, stages, (impacts, 0), steps, slack=0.7
    )


@STAGES
def test_a_ball_with_drag_bounces_as_an_event_driven_integration(stages):
    exact, impacts = DampedBall.exact()
    assert len(impacts) == 4

    def end(result):
        return np.array([result["ball"].position[-1, 2], result["ball"].velocity[-1, 2]])

    check_order(DampedBall.build, end, exact, DampedBall.t_end, stages, (4, 0), slack=0.6)


@pytest.mark.parametrize("h", [0.01, 0.02])
def test_impulses_and_times_of_impacts_are_those_of_the_law(h):
    e = 0.8
    _, impacts = DampedBall.exact(e)
    result = run(DampedBall.build(e), DampedBall.t_end, h, stages=4)
    floor = result["floor"]
    struck = np.flatnonzero(floor.impact)
    assert len(struck) == len(impacts)
    for k, (t, speed) in zip(struck, impacts, strict=True):
        assert result.t[k - 1] < t <= result.t[k]
        assert floor.impulse[k] == pytest.approx([DampedBall.mass * (1 + e) * speed, 0, 0], abs=1e-7)
        assert floor.status[k] > 0
    # from the states around it, by extrapolation to third order in h
    assert result.impact_times("floor") == pytest.approx([t for t, _ in impacts], abs=20 * h**3)
    assert np.delete(floor.impulse[:, 0], struck) == pytest.approx(0.0, abs=1e-15)


@STAGES
def test_two_masses_on_springs_that_meet_four_times_keep_the_order(stages):
    exact, impacts = TwoMasses.exact()
    assert impacts == 4

    def end(result):
        bodies = [result[f"mass {i}"] for i in (0, 1)]
        return np.array([b.position[-1, 0] for b in bodies] + [b.velocity[-1, 0] for b in bodies])

    steps = {2: (200, 400, 800), 3: (60, 120, 240), 4: (40, 60, 80)}
    check_order(TwoMasses.build, end, exact, TwoMasses.t_end, stages, (4, 0), steps, slack=0.6)


@STAGES
@pytest.mark.parametrize("mu", [0.25, 1.0])  # slides, sticks
def test_a_tumbling_body_with_frictional_impacts_keeps_the_order(stages, mu):
    exact, impacts = Tumbler.exact(mu=mu)

    def end(result):
        body = result["body"]
        return np.concatenate([body.position[-1], body.velocity[-1], body.angular_velocity[-1]])

    steps = {2: (40, 80, 160), 3: (20, 40, 80), 4: (10, 20, 40)}
    check_order(lambda: Tumbler.build(mu=mu), end, exact, Tumbler.t_end, stages, (len(impacts), 0), steps, slack=0.5)


def test_impulses_of_a_tumbling_body_are_those_of_newton_and_coulomb():
    _, impacts = Tumbler.exact()
    result = run(Tumbler.build(), Tumbler.t_end, 2.5e-3, stages=4)
    floor = result["floor"]
    struck = np.flatnonzero(floor.impact)
    for k, (_, impulse) in zip(struck, impacts, strict=True):
        assert floor.impulse[k, 0] == pytest.approx(impulse[0], abs=1e-7)
        assert np.linalg.norm(floor.impulse[k, 1:]) == pytest.approx(np.linalg.norm(impulse[1:]), abs=1e-7)
    # momentum along x and y is that of friction alone
    body = result["body"]
    change = Tumbler.mass * (body.velocity[-1, :2] - Tumbler.velocity[:2])
    assert change == pytest.approx(sum(impulse[1:] for _, impulse in impacts), abs=1e-7)


def test_free_flight_between_impacts_is_exact():
    for h in (0.02, 0.05):
        result = run(Ball.build(), 1.6, h, stages=2)
        assert result["ball"].position[-1, 2] - 0.1 == pytest.approx(Ball.exact(), abs=1e-12)
        assert result["table"].gap.min() > -1e-12


def test_a_body_that_would_be_through_a_corner_of_its_path_and_out_again_within_a_step_is_split():
    """A ball dips below a plate at an inner stage and is above it at the end of a step: one impact each way out."""
    model = fem.Model("dip", gravity=[0, 0, G])  # falls upwards: thrown down, it returns
    speed, depth = 4.0, 0.01
    height = speed**2 / (2 * G) - depth
    ball = fem.PointMass(1.0, position=[0, 0, height], velocity=[0, 0, -speed], fixed=("x", "y"), name="ball")
    model.add(ball, fem.SphereOnPlane(ball, model.ground, radius=0.0, restitution=0.5, name="plate"))
    h = 2 * speed / G
    result = run(model, h, h, stages=3)
    touch = (speed - np.sqrt(speed**2 - 2 * G * height)) / G
    before = speed - G * touch
    rest = h - touch
    if result.statistics["split_impacts"]:
        assert result["ball"].position[-1, 2] == pytest.approx(0.5 * before * rest + 0.5 * G * rest**2, abs=1e-12)
    else:  # slower than forces make it in a step: left to it
        assert result.statistics["impacts_not_split"] == 0 and result["plate"].gap.min() > -1e-12


# --- stick-slip, lift-off ---------------------------------------------------------------------------------------------

HOPPERS = {
    "stick-slip": (Hopper(), (0, 4)),
    "lands and slips": (Hopper(lift=12.0), (1, 2)),
    "without friction": (Hopper(lift=12.0, mu=0.0), (1, 1)),
    "bounces": (Hopper(lift=14.0, e=0.5, t_end=2.4), (1, 1)),
}
HOPS = {2: (200, 400, 800), 3: (80, 160, 320), 4: (28, 40, 57, 80, 113)}


@STAGES
@pytest.mark.parametrize("case", HOPPERS)
def test_stick_slip_and_lift_off_keep_the_order(case, stages):
    hopper, counts = HOPPERS[case]
    exact, _ = hopper.exact()
    check_order(hopper.build, lambda r: in_plane(r, "mass"), exact, hopper.t_end, stages, counts, HOPS, slack=0.5)


def test_a_mass_sticks_between_the_times_at_which_it_stops_and_yields():
    hopper, h = Hopper(), 0.01
    _, happened = hopper.exact()
    result = run(hopper.build(), hopper.t_end, h, stages=4)
    assert [name for _, name in happened] == ["stops", "yields", "stops", "yields"]
    sticks, speed = result["floor"].status == 1, np.abs(result["mass"].velocity[:, 0])
    for (stop, _), (yields, _) in zip(happened[::2], happened[1::2], strict=True):
        inside = (result.t > stop + h) & (result.t < yields - 1e-9)
        assert speed[inside] == pytest.approx(0.0, abs=1e-12)
        assert sticks[inside].all()
        outside = (np.abs(result.t - yields) < 3 * h) & (result.t > yields + h)
        assert speed[outside].min() > 1e-5
    # friction of a sliding mass is μ N, with its impulse over a whole step
    slides = (speed > 0.1) & (np.roll(speed, 1) > 0.1)
    slides[0] = False
    ratio = np.abs(result["floor"].impulse[slides, 1:]).max(axis=1) / result["floor"].impulse[slides, 0]
    assert ratio == pytest.approx(hopper.mu, abs=1e-6)


@STAGES
@pytest.mark.parametrize("h", [0.007, 0.02])
def test_a_sliding_sphere_begins_to_roll_where_its_slip_ends(stages, h):
    """Closed form: v falls by μ g t until r ω has caught up, then it rolls; no force acts along the floor."""
    mu, r, speed, t_end = 0.1, 0.1, 2.0, 0.98
    model = fem.Model("bowling", gravity=[0, 0, -G])
    ball = model.add(fem.RigidBody.sphere(2.0, r, position=[0, 0, r], velocity=[speed, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=r, friction=mu, restitution=0.4, name="lane"))
    result = run(model, t_end, h, stages)
    stop = 2.0 * speed / (7.0 * mu * G)
    path = speed * stop - 0.5 * mu * G * stop**2 + 5.0 / 7.0 * speed * (result.t[-1] - stop)
    assert events(result) == [0, 1, 0, 0]
    assert result["ball"].position[-1] == pytest.approx([path, 0, r], abs=1e-9)
    assert result["ball"].velocity[-1] == pytest.approx([5.0 / 7.0 * speed, 0, 0], abs=1e-9)
    assert result["ball"].angular_velocity[-1, 1] * r == pytest.approx(5.0 / 7.0 * speed, abs=1e-9)


@STAGES
def test_a_box_on_four_corners_stops_where_its_friction_says(stages):
    """The forces of its corners are not determined; their sum is."""
    mu, speed = 0.3, 1.0
    model = fem.Model("box", gravity=[0, 0, -G])
    box = fem.RigidBody.box(1.0, [0.4, 0.3, 0.1], position=[0, 0, 0.05], velocity=[speed, 0, 0], name="box")
    model.add(box)
    for i, (x, y) in enumerate(((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))):
        frame = box.frame([x, y, -0.05])
        model.add(fem.SphereOnPlane(frame, model.ground, radius=0.0, friction=mu, name=f"corner {i}"))
    result = run(model, 0.6, 0.01, stages)
    assert result.statistics["transitions_not_located"] == 0
    assert result["box"].position[-1] == pytest.approx([speed**2 / (2 * mu * G), 0, 0.05], abs=1e-10)
    assert result["box"].velocity[-1] == pytest.approx([0, 0, 0], abs=1e-12)
    total = sum(result[f"corner {i}"].impulse[-1, 0] for i in range(4))
    assert total == pytest.approx(G * 0.01, rel=1e-8)


# --- accumulations, chatter, energy -----------------------------------------------------------------------------------


@STAGES
@pytest.mark.parametrize("h", [2e-2, 2e-3])
def test_a_ball_goes_through_the_accumulation_point_of_its_bounces(stages, h):
    e, mu, height, t_end = 0.5, 0.3, 0.5, 3.0
    model = fem.Model("Zeno", gravity=[0, 0, -G])
    start = {"position": [0, 0, height + 0.1], "velocity": [2.0, 0, 0], "angular_velocity": [0, -70, 0]}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball", **start))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=e, friction=mu, name="table"))
    result = run(model, t_end, h, stages)
    # friction of a bounce is mu times its impulse until it rolls at (5 v − 2 r ω)/7 (Newton's law)
    fall, x, final = np.sqrt(2 * height / G), 2.0, (5.0 * 2.0 - 2.0 * 7.0) / 7.0
    place, t, speed = x * fall, fall, G * fall
    while speed > 1e-14:
        x, speed = max(x - mu * (1 + e) * speed, final), e * speed
        place, t = place + x * 2 * speed / G, t + 2 * speed / G
    place += x * (t_end - t)
    assert result.statistics["split_impacts"] >= 5  # slower ones are left to the steps
    assert result["ball"].position[-1] == pytest.approx([place, 0, 0.1], abs=1e-9)
    assert result["ball"].velocity[-1] == pytest.approx([x, 0, 0], abs=1e-9)
    assert result["table"].gap.min() > -1e-12


@pytest.mark.parametrize(("most", "split"), [(3, 4), (1, 1)])
def test_a_step_with_more_impacts_than_are_split_is_taken_as_it_is(most, split, monkeypatch):
    monkeypatch.setattr(splitter, "MOST", most)
    result = run(FourBalls.build(), FourBalls.t_end, FourBalls.h)
    assert result.statistics["split_impacts"] == split
    assert result.statistics["impacts_not_split"] == (0 if split == 4 else 1)
    assert (FourBalls.error(result) < 1e-11) == (split == 4)


@STAGES
def test_an_elastic_ball_keeps_its_energy(stages):
    result = run(Ball.build(e=1.0), 90.0, 1e-2, stages, rtol=1e-10)
    assert result.statistics["split_impacts"] == 100
    assert abs(result.energy.total[-1] / result.energy.total[0] - 1.0) < 1e-11


def test_elastic_masses_keep_the_energy_that_the_scheme_keeps():
    """Between impacts the error of the energy is bounded; an impact adds none."""
    energies = run(TwoMasses.build(e=1.0), 10.0, 0.02, stages=4).energy.total
    assert np.abs(energies / energies[0] - 1.0).max() < 1e-10  # measured: 2e-11; "plain": 0.08


@pytest.mark.parametrize("group", sorted(random_systems.GROUPS))
def test_random_systems_neither_fail_nor_penetrate_nor_gain_energy(group):
    split = 0
    for seed in range(10):
        model = random_systems.build(random.Random(seed), most=4, **random_systems.GROUPS[group])
        result = fem.LobattoIIIAB(impacts="split", check_stability=False).run(model, 0.3, 1e-3)
        assert result.statistics["energy_rises"] == 0, f"seed {seed}, {group}"
        for element in model.elements:
            if element.role == "contact":
                assert result[element.name].gap.min() > -1e-10, f"seed {seed}, {group}, {element.name}"
                assert result[element.name].impulse[:, 0].min() > -1e-9, f"seed {seed}, {group}, {element.name}"
        split += result.statistics["split_impacts"]
    assert split > 20


# --- what users see ---------------------------------------------------------------------------------------------------


def test_states_are_saved_at_the_times_of_the_user_with_the_impulses_of_all_parts():
    h = Disc.t_end / 128
    every = run(Disc.build(), Disc.t_end, h)
    table = every["table"]
    struck = np.flatnonzero(table.impact)
    assert every.t == pytest.approx(np.arange(129) * h, abs=1e-15)
    assert len(struck) == every.statistics["split_impacts"] == 2
    # friction alone turns the sphere
    spin = np.diff(every["ball"].angular_velocity[:, 1])
    assert spin[struck - 1] == pytest.approx(-0.1 * table.impulse[struck, 1:].sum(axis=1) / 4e-3, abs=1e-9)
    assert np.isfinite(every["ball"].acceleration).all()


def test_a_hinge_reports_its_impulse_of_the_whole_step_with_an_impact():
    """Of the time before the touch, of the impact and of the rest of the step; the ball of 1 kg has no other forces."""
    h = Pendulum.t_end / 400
    result = run(Pendulum.build(), Pendulum.t_end, h, stages=3)
    ball, wall = result["ball"], result["wall"]
    for k in np.flatnonzero(wall.impact):
        change = (ball.velocity[k] - ball.velocity[k - 1]) / h + [0, 0, 9.81]
        needed = change - wall.impulse[k, 0] * wall.normal[k] / h
        assert np.linalg.norm(needed) > 10.0
        # the end of the rest instead of its mean: first order in h, measured 0.05 N; each part of the impulse is larger
        assert result["hinge"].force[k] == pytest.approx(needed, abs=0.3)


def test_steps_of_variable_size_end_where_contacts_touch():
    exact, impacts = TwoLinks.exact()
    control = fem.StepControl(tolerance=1e-8, h_max=0.02)
    result = run(TwoLinks.build(), TwoLinks.t_end, TwoLinks.t_end / 256, step_control=control)
    assert result.statistics["split_impacts"] == impacts
    assert in_plane(result, "lower") == pytest.approx(exact, abs=1e-5)
    struck = np.flatnonzero(result["wall"].impact)
    assert len(struck) == 1 and abs(result["wall"].gap[struck[0]]) < 1e-12


def test_output_times_and_events_do_not_change_the_motion_beyond_its_error():
    hopper = Hopper(lift=12.0)
    exact, _ = hopper.exact()
    times = np.array([0.3, 0.47853, 1.82, 2.9, 3.0])
    method = fem.LobattoIIIAB(4, impacts="split", rtol=1e-12)
    result = method.run(hopper.build(), hopper.t_end, 0.02, output_times=times)
    assert result.t == pytest.approx([0.0, *times], abs=1e-12)
    assert in_plane(result, "mass") == pytest.approx(exact, abs=1e-7)


def test_models_without_contacts_run_as_without_the_option():
    def motion(impacts):
        model = fem.Model("free", gravity=[0, 0, -G])
        body = model.add(fem.RigidBody(1.0, [0.01, 0.02, 0.03], angular_velocity=[1, 5, 0.1], name="body"))
        model.add(fem.Spring(model.ground.frame([0, 0, 1]), body.frame([0.1, 0, 0]), 20.0, 0.1, 0.5))
        return fem.LobattoIIIAB(3, impacts=impacts).run(model, 0.5, 0.01)["body"].position

    assert np.array_equal(motion("plain"), motion("split"))


# --- what is rejected -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["auto", True, None, "Split"])
def test_other_values_of_the_option_are_rejected(value):
    with pytest.raises(ParameterError, match=r"impacts.*plain.*split"):
        fem.LobattoIIIAB(impacts=value)


def on_floor(friction=0.3):
    model = fem.Model("floor", gravity=[0, 0, -G])
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5], name="ball"))
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, friction=friction, name="floor"))
    return model, body


def test_static_and_sliding_friction_of_contacts_is_rejected_by_name():
    with pytest.raises(ParameterError, match=r"impacts.*static and sliding friction.*'floor'.*remove"):
        run(on_floor((0.3, 0.2))[0], 0.1, 0.01)


def test_joint_friction_is_rejected_by_name():
    model, body = on_floor()
    hinge = model.add(fem.Revolute.at(model.ground, body, [0, 0, 0.7], [0, 1, 0], name="hinge"))
    model.add(fem.JointFriction(hinge, 0.3, radius=0.1, name="journal"))
    with pytest.raises(ParameterError, match=r"impacts.*joint friction.*journal.*remove"):
        run(model, 0.1, 0.01)


def test_contact_groups_are_rejected():
    model, group = fem.Model("grains"), fem.ContactGroup(friction=0.3, name="pile")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1])), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    with pytest.raises(ParameterError, match=r"'pile'.*group of contacts.*DecoupledNSGA"):
        run(model, 0.1, 0.01)
