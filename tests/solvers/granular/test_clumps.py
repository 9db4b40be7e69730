"""Contact groups of bodies with several spheres each: closed forms, motion of the pairwise solver, invariants."""

import numpy as np
import pytest
from grain_piles import swept
from in_turn import in_turn
from scipy.spatial.transform import Rotation

import fem_mbs as fem
from fem_mbs.solvers.granular import fitting, grains

H, G, R = 2e-3, 9.81, 0.05
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "relaxed": lambda **options: fem.ConeComplementarity(relaxed=True, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
    "moreau": lambda **options: fem.MoreauJean(**options),
}
SHAPES = {
    "dumbbell": [[0.04, 0, 0], [-0.04, 0, 0]],
    "tetrahedron": [[0.04, 0.04, 0.04], [-0.04, -0.04, 0.04], [-0.04, 0.04, -0.04], [0.04, -0.04, -0.04]],
    "hook": [[0.05, -0.02, 0], [0, 0, 0], [0, 0.06, -0.01]],
}
INERTIA = np.array(
    [[2e-3, 1e-4, 0], [1e-4, 3e-3, 2e-4], [0, 2e-4, 2.5e-3]]
)  # kg m², main axes are not those of the node


def heap(count, across, shape, *, friction=0.3, restitution=0.0):
    """Bodies of one shape in all orientations, above each other, between four walls."""
    rng = np.random.default_rng(0)
    model = fem.Model("heap", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=friction, restitution=restitution, name="clumps")
    for i in range(count):
        cell = np.array([i % across, (i // across) % across, i // across**2])
        place = 0.3 * cell + [*(0.02 * rng.standard_normal(2)), 0.16]
        turned = Rotation.from_rotvec(rng.standard_normal(3)).as_matrix()
        body = fem.RigidBody(1.0 + 0.2 * (i % 3), INERTIA, position=place, rotation=turned, name=f"body {i}")
        model.add(body)
        for offset in SHAPES[shape]:
            group.sphere(body.frame(offset), R)
    group.obstacle(fem.SphereOnPlane, model.ground)
    for normal, distance in (
        ((1, 0, 0), 0.15),
        ((0, 1, 0), 0.15),
        ((-1, 0, 0), 0.3 * across),
        ((0, -1, 0), 0.3 * across),
    ):
        axes = np.stack([np.cross(normal, [0, 0, 1]), [0, 0, 1], normal], axis=1)
        axes[:, 1] = np.cross(axes[:, 2], axes[:, 0])
        group.obstacle(fem.SphereOnPlane, model.ground.frame(-distance * np.array(normal), axes))
    model.add(group)
    return model


def dropped(spin=(0.0, 0.0, 0.0), **law):
    """A body that is about to touch a floor with a sphere off its centre, at 2 m/s; 60 others are far away at rest."""
    model = fem.Model("drop", gravity=[0, 0, 0])
    group = fem.ContactGroup(**law, name="clumps")
    motion = {"velocity": [0, 0, -2.0], "angular_velocity": spin}
    body = fem.RigidBody(1.5, INERTIA, position=[0, 0, 0.1 + 1e-9], name="body", **motion)
    group.sphere(model.add(body).frame([0.03, 0.04, -0.05]), R)
    for k in range(60):  # DecoupledNSGA takes few spheres with restitution one impact after the other
        group.sphere(model.add(fem.RigidBody.sphere(1.0, R, position=[1 + k, 0, R])), R)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("name", METHODS)
def test_an_eccentric_impact_has_the_impulse_of_its_effective_mass(name, restitution):
    """r_N = (1 + e) v/w with w = 1/m + (a × n)ᵀ J⁻¹ (a × n)."""
    model = dropped(friction=0.0, restitution=restitution)
    result = METHODS[name](contact_tolerance=1e-10).run(model, 1e-6, 1e-6)
    assert swept(result)
    across = np.cross([0.03, 0.04, -0.1], [0, 0, 1.0])
    turn = np.linalg.solve(INERTIA, across)
    impulse = (1 + restitution) * 2.0 / (1 / 1.5 + across @ turn)
    assert result["body"].velocity[-1] == pytest.approx([0, 0, -2.0 + impulse / 1.5], abs=1e-5)
    assert result["body"].angular_velocity[-1] == pytest.approx(impulse * turn, abs=1e-3)  # h of Ω × J Ω


@pytest.mark.parametrize("name", ["cone", "nsga"])
def test_friction_of_an_eccentric_impact_is_coulombs(name):
    """Of the friction cone's bound, against the slip at the end of the impact."""
    result = METHODS[name](contact_tolerance=1e-10).run(dropped(spin=(0, 0, 3.0), friction=0.1), 1e-4, 1e-4)
    pairs = result.pairs(-1)
    impulse, arm = pairs.impulse[0], np.array([0.03, 0.04, -0.1])
    slip = result["body"].velocity[-1] + np.cross(result["body"].angular_velocity[-1], arm)
    assert slip[2] == pytest.approx(0.0, abs=1e-3)
    assert np.linalg.norm(impulse[:2]) == pytest.approx(0.1 * impulse[2], rel=1e-9)
    assert impulse[:2] / np.linalg.norm(impulse[:2]) == pytest.approx(-slip[:2] / np.linalg.norm(slip[:2]), abs=1e-3)


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize("name", ["cone", "nsga"])
def test_gyroscopic_moments_that_an_impact_changes_leave_its_law(name, times):
    """The velocities of the method are those of the contact law, although impulses change h Ω × J Ω."""
    model = dropped(spin=times * np.array([20.0, 30.0, -10.0]), friction=0.0)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 1e-3, 1e-3)
    arm = result["body"].rotation[0] @ [0.03, 0.04, -0.05] + [0, 0, -R]
    spin = result["body"].rotation[0] @ result["body"].rotation[-1].T @ result["body"].angular_velocity[-1]
    approach = result["body"].velocity[-1, 2] + np.cross(spin, arm)[2]
    assert approach == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize(
    ("shape", "restitution"), [("dumbbell", 0.0), ("dumbbell", 0.5), ("tetrahedron", 0.5), ("hook", 0.0)]
)
def test_smooth_bodies_move_as_they_do_pairwise(shape, restitution, monkeypatch):
    monkeypatch.setattr(grains, "BAND", 0.0)  # the law has this in addition, and impacts in turn
    monkeypatch.setattr(grains, "BOUNCES", False)
    model = heap(8, 2, shape, friction=0.0, restitution=restitution)
    a, b = (
        fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-12, contact_solver=way).run(model, 100 * H, H)
        for way in ("auto", "problem")
    )
    assert swept(a) and not swept(b) and (a.pair_count > 0).sum() >= 7
    for k, accuracy in ((75, 1e-8), (100, 2e-6)):  # what impulses leave grows from impact to impact
        assert a.rows([k])["position"] == pytest.approx(b.rows([k])["position"], abs=accuracy)


@pytest.mark.parametrize("relaxed", [False, True])
def test_friction_is_that_of_the_contacts_pairwise(relaxed, monkeypatch):
    monkeypatch.setattr(grains, "BAND", 0.0)
    model = heap(8, 2, "dumbbell")
    a, b = (
        fem.ConeComplementarity(relaxed=relaxed, contact_tolerance=1e-11, contact_solver=way).run(model, 75 * H, H)
        for way in ("auto", "problem")
    )
    assert a.pair_count.max() >= 2
    assert a.rows([75])["position"] == pytest.approx(b.rows([75])["position"], abs=2e-6)


@pytest.mark.parametrize(("name", "shape"), in_turn(METHODS, ["dumbbell", "tetrahedron"], first="nsga"))
def test_a_heap_keeps_its_invariants(name, shape):
    result = METHODS[name]().run(heap(64, 4, shape), 0.8, H)
    assert swept(result) and result.statistics["inexact_contact_problems"] == 0 and not result.warnings
    for k in range(len(result.t)):
        pairs = result.pairs(k)
        assert pairs.gap.min(initial=0.0) > -1.001e-6 * 2 * R
        along = np.einsum("ck,ck->c", pairs.impulse, pairs.normal)
        across = np.linalg.norm(pairs.impulse - along[:, None] * pairs.normal, axis=1)
        assert (along > 0.0).all() and (across <= 0.3 * along * (1 + 1e-12)).all()
    assert np.diff(result.energy.total).max() <= 1e-3 * result.energy.kinetic.max()
    assert result.pair_count[-1] > 120
    # momentum: that of floor and walls and of gravity
    mass = np.array([1.0 + 0.2 * (i % 3) for i in range(64)])
    up = sum(p.impulse[p.type == 1, 2].sum() for p in map(result.pairs, range(1, len(result.t))))
    left = mass @ result.rows([-1])["velocity"][0, 1:, 2]
    assert up - G * mass.sum() * 0.8 == pytest.approx(left, abs=1e-9 * G * mass.sum())


def test_a_body_whose_mass_is_not_at_its_node_is_solved_pairwise():
    model = fem.Model("other", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.2, name="balls")
    body = model.add(fem.RigidBody(1.0, INERTIA, position=[0, 0, 0.2], center=[0.01, 0, 0]))
    group.sphere(body, 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    assert "not centred" in (fitting.fit(model.compile(), fem.DecoupledNSGA()).reason or "")


@pytest.mark.parametrize(("length", "mass"), [(1e-6, 1.0), (1e-6, 1e-9), (1e6, 1.0)])
def test_bodies_with_unlike_moments_of_inertia_are_no_particles_in_any_unit(length, mass):
    """A bound for moments of inertia that masses set would make spheres of particles of a micrometre."""

    def rolled(length, mass):
        model = fem.Model("one", gravity=[0, 0, -G * length])
        group = fem.ContactGroup(friction=0.5, name="balls")
        body = fem.RigidBody(mass, mass * length**2 * np.array([0.2, 0.3, 0.4]), position=[0, 0, length], name="body",
                             velocity=[length, 0.3 * length, 0], angular_velocity=[1.0, 2.0, 0.5])  # fmt: skip
        group.sphere(model.add(body), length)
        group.obstacle(fem.SphereOnPlane, model.ground)
        model.add(group)
        assert not fitting.fit(model.compile(), fem.ConeComplementarity()).grains
        return fem.ConeComplementarity().run(model, 0.2, 1e-3)["body"].angular_velocity[-1]

    assert rolled(length, mass) == pytest.approx(rolled(1.0, 1.0), rel=1e-6)


def test_a_light_body_next_to_a_heavy_one_is_not_centred_by_the_mass_of_the_other():
    model = fem.Model("unlike", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.2, name="balls")
    group.sphere(model.add(fem.RigidBody.sphere(1e7, 1.0, position=[0, 0, 1.0])), 1.0)
    dust = fem.RigidBody(1e-4, 1e-8, position=[5.0, 0, 0.01], center=[0.005, 0, 0])
    group.sphere(model.add(dust), 0.01)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    assert "not centred" in (fitting.fit(model.compile(), fem.ConeComplementarity()).reason or "")


def tilted(restitution):
    """Bodies of three spheres that fall on a plate, which a driver turns about a hinge next to and below it."""
    model = fem.Model("tilt", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, restitution=restitution, name="clumps")
    plate = model.add(fem.RigidBody(5.0, 1.0, position=[0.1, 0, 0], name="plate"))
    hinge = model.add(fem.Revolute.at(model.ground, plate, [-0.2, 0.1, -0.3], [0, 1, 0], name="hinge"))
    angle = lambda t: 0.05 * (np.cos(8 * t) - 1) - 0.5 * t  # noqa: E731
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=angle, name="motor"))
    plate.node.angular_velocity[:] = [0, -0.5, 0]
    plate.node.velocity[:] = [-0.15, 0, 0.15]
    for k in range(2):
        body = fem.RigidBody(1.0 + 0.2 * k, INERTIA, position=[0.3 * k, 0.1 * k, 0.1], name=f"body {k}")
        model.add(body)
        for offset in ([0.04, 0, -0.03], [-0.04, 0.03, -0.03], [-0.04, -0.03, -0.03]):
            group.sphere(body.frame(offset), R)
    group.obstacle(fem.SphereOnPlane, plate)
    model.add(group)
    return model


@pytest.mark.parametrize("restitution", [0.0, 0.4])
@pytest.mark.parametrize("relaxed", [False, True])
def test_bodies_on_a_plate_that_turns_move_and_push_as_pairwise(relaxed, restitution, monkeypatch):
    """What the plate's motion carries along and reflects, and the moment of the contacts about its hinge."""
    monkeypatch.setattr(grains, "BAND", 0.0)
    monkeypatch.setattr(grains, "BOUNCES", False)  # impacts in turn
    a, b = (
        fem.ConeComplementarity(relaxed=relaxed, contact_tolerance=1e-11, contact_solver=way).run(
            tilted(restitution), 0.08, 1e-3
        )
        for way in ("auto", "problem")
    )
    assert swept(a) and not swept(b) and a.pair_count.max() >= 2
    assert a.rows([80])["position"] == pytest.approx(b.rows([80])["position"], abs=1e-7)
    largest = np.abs(b["motor"].moment).max()
    assert a["motor"].moment == pytest.approx(b["motor"].moment, abs=1e-3 * largest)
    assert np.abs(b["motor"].moment[:30]).max() < 0.1 * largest  # before anything has touched


def test_bodies_at_rest_are_no_inexact_contact_problem():
    """Velocities of iterations and method differ by round-off, of which they consist."""
    model = fem.Model("stop", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, name="balls")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], velocity=[1.0, 0, 0])), 0.1)
    stop = model.add(fem.RigidBody(1.0, 0.1, position=[0.5, 0, 0.1], fixed=True))
    for y in (-0.08, 0.08):
        group.sphere(stop.frame([0, y, 0]), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-9).run(model, 0.5, 1e-3)
    assert swept(result) and np.abs(result.rows([-1])["velocity"]).max() < 1e-9
    assert result.statistics["inexact_contact_problems"] == 0


@pytest.mark.parametrize("shape", ["spheres", "box", "rolling"])
@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.MoreauJean])
def test_bodies_in_flight_keep_the_order_of_the_method(method, shape):
    """z = v t − g t²/2 exactly at all steps: impacts were assumed for bodies that turn, by round-off."""
    model = fem.Model("flight", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(friction=0.3, name="all", **({"rolling_resistance": 0.01} if shape == "rolling" else {}))
    motion = {"velocity": [1.0, 0, 3.0], "angular_velocity": [1.0, 2, 3], "rotation": [0.3, 0.4, 0.5]}
    body = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.25], position=[0, 0, 5], **motion, name="body"))
    if shape == "box":
        group.box(body, [0.1, 0.2, 0.3], 0.01)
    else:
        for x in (-0.1, 0.1):
            group.sphere(body.frame([x, 0, 0]), 0.05)
    # one that lies there, so that there are contacts
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[9, 0, 0.1]))
    group.sphere(ball, 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = method().run(model, 0.8, 1e-2)
    assert "contact_sweeps" in result.statistics and result.pair_count.max() == 1
    assert result["body"].position[:, 2] == pytest.approx(5 + 3 * result.t - 0.5 * 9.81 * result.t**2, abs=1e-12)
