"""Contact groups of free bodies with `MoreauJean`: iterations, impulses of the pairwise solver, options."""

import numpy as np
import pytest
from grain_piles import swept

import fem_mbs as fem

H, G = 2e-3, 9.81


def kicked(side=2, overlap=0.0):
    """Touching spheres on a floor with any velocities."""
    model = fem.Model("kick", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, name="balls")
    rng = np.random.default_rng(3)
    for i in range(side**3):
        place = (0.1 - overlap) * np.array([i % side, (i // side) % side, i // side**2 + 0.5])
        motion = {"velocity": rng.normal(size=3), "angular_velocity": 20 * rng.normal(size=3)}
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=place, **motion)), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


def sorted_pairs(result, k):
    """Impulses of a step by sphere, type and partner."""
    pairs = result.pairs(k)
    order = np.lexsort((pairs.partner, pairs.type, pairs.sphere))
    return np.stack([pairs.sphere, pairs.type, pairs.partner], axis=1)[order], pairs.impulse[order]


@pytest.mark.parametrize("theta", [0.5, 1.0])
def test_impulses_of_a_step_are_those_pairwise(theta):
    """In so short a step both solvers have the same contacts; else separating ones take no part in the pairwise."""
    results = []
    for options in ({}, {"contact_solver": "problem"}):
        method = fem.MoreauJean(theta, contact_tolerance=1e-11, **options)
        results.append(method.run(kicked(overlap=1e-10), 1e-11, 1e-11))
    assert swept(results[0]) and not swept(results[1])
    (mine, a), (theirs, b) = (sorted_pairs(result, 1) for result in results)
    assert len(a) >= 6
    np.testing.assert_array_equal(mine, theirs)
    velocities = [result.rows([1])["velocity"] for result in results]
    assert velocities[0] == pytest.approx(velocities[1], abs=1e-7)
    assert a == pytest.approx(b, abs=1e-7 * np.abs(b).max() + 1e-7)


def test_a_heap_moves_as_with_the_other_method_that_has_this_law():
    """With θ = 1 a step of free spheres is one of `ConeComplementarity` with Coulomb's law."""
    ends = []
    for method in (
        fem.MoreauJean(1.0, contact_tolerance=1e-11),
        fem.ConeComplementarity(False, contact_tolerance=1e-11),
    ):
        result = method.run(kicked(3), 20 * H, H)
        assert swept(result)
        ends.append(result.rows([20]))
    for name in ("position", "velocity"):
        assert ends[0][name] == pytest.approx(ends[1][name], abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"theta": 5 / 9}, {"theta": 1.0}, {"projection": True}])
def test_spheres_neither_overlap_nor_gain_energy(options):
    result = fem.MoreauJean(**options).run(kicked(3), 0.5, H)
    assert swept(result) and not result.warnings
    assert result.statistics["inexact_contact_problems"] == 0
    assert min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t))) > -1.01e-6 * 0.1
    energy = result.energy.total
    assert np.diff(energy).max() <= 1e-3 * result.energy.kinetic.max() * H
    assert energy[-1] < energy[0] - 0.3 * result.energy.kinetic[0]


def belt(**options):
    """Three spheres on a driven belt."""
    model = fem.Model("belt", gravity=[0, 0, -G])
    body = model.add(fem.RigidBody(5.0, 1.0, velocity=[0.5, 0, 0], name="belt"))
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], name="guide"))
    model.add(fem.Prescribed(body, x=lambda t: 0.5 * t, name="drive"))
    group = fem.ContactGroup(friction=0.4, name="goods")
    for k in range(3):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0.3 * k, 0, 0.05], name=f"b{k}")), 0.05)
    group.obstacle(fem.SphereOnPlane, body)
    model.add(group)
    return fem.MoreauJean(**options).run(model, 5e-3, 1e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"projection": True}, "projection"),
        ({"contact_solver": "problem"}, "contact_solver is 'problem'"),
    ],
)
def test_options_that_sweeps_do_not_support_are_reported(options, words):
    assert swept(belt())
    result = belt(**options)
    assert not swept(result) and f"because {words}" in str(result.report())


def test_joints_next_to_a_group_are_projected():
    start = {"position": [5, 0, 1], "velocity": [0, 0, -1], "angular_velocity": [0, 1, 0]}
    model = kicked()
    bob = model.add(fem.RigidBody(1.0, 0.01, name="bob", **start))
    model.add(fem.Revolute.at(model.ground, bob, [4, 0, 1], [0, 1, 0], name="hinge"))
    result = fem.MoreauJean(projection=True).run(model, 0.2, H)
    assert swept(result)
    arm = result["bob"].position - [4, 0, 1]
    assert np.linalg.norm(arm, axis=1) == pytest.approx(1.0, abs=1e-9)
    alone = fem.Model("pendulum", gravity=[0, 0, -G])
    bob = alone.add(fem.RigidBody(1.0, 0.01, name="bob", **start))
    alone.add(fem.Revolute.at(alone.ground, bob, [4, 0, 1], [0, 1, 0]))
    other = fem.MoreauJean(projection=True).run(alone, 0.2, H)
    assert result["bob"].position[-1] == pytest.approx(other["bob"].position[-1], abs=1e-9)


def test_newtons_iteration_on_a_group_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"contact_solver.*contact groups"):
        fem.MoreauJean(contact_solver="newton").run(kicked(), H, H)


def test_angular_velocities_that_contacts_change_stay_in_inertial_axes():
    """A ball that slides and spins about the vertical: friction on the floor does not change that spin."""
    model = fem.Model("ball", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, name="floor")
    start = {"position": [0, 0, 0.1], "velocity": [2.0, 0, 0], "angular_velocity": [0, 0, 40.0]}
    group.sphere(model.add(fem.RigidBody.sphere(2.0, 0.1, name="ball", **start)), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    body = fem.MoreauJean(contact_tolerance=1e-10).run(model, 0.5, H)["ball"]
    spin = np.einsum("kij,kj->ki", body.rotation, body.angular_velocity)
    assert spin[:, 2] == pytest.approx(np.full(len(spin), 40.0), abs=1e-8)
    assert spin[-1, :2] == pytest.approx([0, 10 * 2.0 * 5 / 7], abs=1e-6)
    assert body.velocity[-1] == pytest.approx([2.0 * 5 / 7, 0, 0], abs=1e-7)
