"""Forces of redundant contacts as of very stiff ones (`Results.unique_forces`), against statics done by hand."""

import numpy as np
import pytest
from scipy.optimize import nnls

import fem_mbs as fem
from fem_mbs.results.unique_forces import MINDLIN, _States
from fem_mbs.rotations import exp

G, MASS = 9.81, 10.0
CORNERS = [(-0.5, -0.3), (0.5, -0.3), (-0.5, 0.3), (0.5, 0.3)]
METHODS = [
    fem.DecoupledNSGA, fem.NonsmoothGeneralizedAlphaGGL, fem.NonsmoothGeneralizedAlphaFriction, fem.MoreauJean,
    fem.ConeComplementarity, fem.LobattoIIIAB,
]  # fmt: skip


def table(
    legs=CORNERS, load=(0.1, 0.05), friction=0.4, slope=0.0, turned=(0.0, 0.0, 0.0), velocity=0.0, spin=0.0, **law
):
    """A rigid table whose centre of mass is at ``load`` in its plane, on a floor with a slope across its x axis."""
    R = exp(turned)
    model = fem.Model("table", gravity=G * R @ [0, -np.sin(slope), -np.cos(slope)])
    top = model.add(
        fem.RigidBody(MASS, [1, 2, 3], position=R @ [*load, 0.5], rotation=turned, velocity=R @ [0, -velocity, 0],
                      angular_velocity=[0, 0, spin],
                      name="top")
    )  # fmt: skip
    floor = model.ground.frame(rotation=R)
    for i, (x, y) in enumerate(legs):
        foot = top.frame([x - load[0], y - load[1], -0.5])
        model.add(fem.SphereOnPlane(foot, floor, radius=0.0, friction=friction, name=f"leg {i}"))
    return model


def shares(model, method=fem.DecoupledNSGA, steps=5, **options):
    """Forces (c, 3) at the end of a short run."""
    result = method().run(model, steps * 1e-3, 1e-3)
    found = result.unique_forces(**options)
    return np.stack([found[name].force[-1] for name in result.contacts])


def linear_shares(legs, load, k=None, weight=MASS * G):
    """Springs on a rigid plate: r_i = k_i (a + b x_i + c y_i) with the sum and the moments of the load."""
    k = np.ones(len(legs)) if k is None else np.asarray(k)
    rows = np.array([[1.0, x, y] for x, y in legs])
    return k * (rows @ np.linalg.solve(rows.T @ (k[:, None] * rows), weight * np.array([1.0, *load])))


def test_legs_of_a_table_share_its_weight_as_springs():
    for k in (None, [1.0, 2.0, 3.0, 4.0]):
        given = None if k is None else {f"leg {i}": value for i, value in enumerate(k)}
        found = shares(table(friction=0.0), stiffness=given)
        np.testing.assert_allclose(found[:, 0], linear_shares(CORNERS, (0.1, 0.05), k), rtol=1e-9)


def test_legs_that_would_pull_are_free():
    legs, load = [(-0.5, -0.3), (0.5, -0.3), (-0.5, 0.3), (0.5, 0.3), (0.0, 0.0), (0.2, 0.1)], (-0.46, -0.26)
    assert linear_shares(legs, load).min() < -1.0
    # least Σ r² with r ≥ 0 and the sum and moments of the load: non-negative least squares with a large weight of these
    rows = np.array([[1.0, x, y] for x, y in legs]).T
    weight = 1e5
    known = nnls(
        np.vstack([weight * rows, np.eye(6)]), np.append(weight * MASS * G * np.array([1, *load]), np.zeros(6))
    )
    found = shares(table(legs, load, friction=0.0))
    np.testing.assert_allclose(found[:, 0], known[0], atol=1e-6)
    assert (found[:, 0] >= 0.0).all() and (found[:, 0] == 0.0).any()


def test_all_methods_give_the_same_shares_where_their_own_differ():
    legs = [*CORNERS, (0.0, -0.3), (0.1, 0.3), (-0.5, 0.0)]
    own, found = [], []
    for method in METHODS:
        result = method().run(table(legs, slope=0.2), 5e-3, 1e-3)
        unique = result.unique_forces()
        own.append([result[name].force[-1] for name in result.contacts])
        found.append([unique[name].force[-1] for name in result.contacts])
    apart = np.abs(np.array(found) - found[0]).max()
    assert apart < 1e-4, apart  # of 98 N: accuracy of the methods' sums of forces
    assert np.abs(np.array(own) - own[0]).max() > 0.5


def test_shares_turn_with_the_model():
    straight = shares(table(slope=0.2))
    turned = shares(table(slope=0.2, turned=np.array([0.7, -1.1, 0.4])))
    # axes t1, t2 of the floor turn with it
    np.testing.assert_allclose(turned, straight, atol=1e-6)


def trough(alpha, mu):
    """A ball in a trough of two planes inclined by alpha, which it touches in two points."""
    model = fem.Model("trough", gravity=[0, 0, -G])
    ball = model.add(fem.RigidBody.sphere(MASS, 0.1, position=[0, 0, 0.1 / np.cos(alpha)], name="ball"))
    for side in (-1, 1):
        plane = model.ground.frame(rotation=[0, side * alpha, 0])
        model.add(fem.SphereOnPlane(ball, plane, radius=0.1, friction=mu, name=f"side {side}"))
    return model


def test_sticking_contacts_share_by_their_stiffnesses_up_to_the_cone():
    alpha = np.radians(40)
    for ratio, mu in ((0.5, 2.0), (14 / 17, 2.0), (14 / 17, 0.3)):
        # the ball moves down by y: e_N = y cos α, e_T = y sin α
        t = min(ratio * np.tan(alpha), mu)
        normal = MASS * G / (2 * (np.cos(alpha) + t * np.sin(alpha)))
        found = shares(trough(alpha, mu), tangential_stiffness=ratio)
        np.testing.assert_allclose(found[:, 0], normal, rtol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(found[:, 1:], axis=1), t * normal, rtol=1e-8)


def states(model, velocity=None):
    """Saved states of a short run, of which the last may be given another velocity and angular velocity of the body."""
    system = model.compile()
    result = fem.DecoupledNSGA().run(system, 5e-3, 1e-3)
    described = [e for e in result.description["elements"] if e["contact"] is not None]
    found = _States(result, system, described, np.tile([1.0, MINDLIN, MINDLIN], (len(described), 1)))
    if velocity is not None:
        i = system.model["top"].nodes[0].index
        found.rows["velocity"][-1, i], found.rows["angular_velocity"][-1, i] = velocity
    return found


def test_forces_with_the_same_resultants_give_the_same_shares():
    found = states(table(friction=0.0))
    known = found.reported[-1].copy()
    assert found.distribute(-1, known)
    other = known.copy()
    other[:, 0] += known[0, 0] * np.array([-1, 1, 1, -1])  # nothing on a leg that is closed
    assert other[0, 0] == 0.0
    assert found.distribute(-1, other)
    np.testing.assert_allclose(other, known, atol=1e-9)


def test_contacts_that_open_take_no_share():
    # the table turns about its edge at y = −0.3: the leg in its middle has had an impulse, the far ones had none
    w = 0.1
    found = states(table([*CORNERS, (0.0, 0.0)], friction=0.0), ([0, 0, 0.35 * w], [w, 0, 0]))
    force = np.zeros((5, 3))
    force[[0, 1, 4], 0] = 30.0, 20.0, 40.0
    kept = force.copy()
    assert found.distribute(-1, kept)
    np.testing.assert_allclose(kept, force, atol=1e-9)


def test_a_table_stands_on_the_ground_and_on_a_plate():
    legs, load, place, mass = [*CORNERS, (0.2, 0.1)], (0.1, 0.05), 0.3, 3.0
    pads = [(0.4, 0.4), (-0.4, 0.4), (-0.4, -0.4), (0.4, -0.4)]
    model = fem.Model("table on a plate", gravity=[0, 0, -G])
    plate = model.add(fem.RigidBody.box(mass, [1, 1, 0.1], position=[place, 0, -0.05], name="plate"))
    for i, (x, y) in enumerate(pads):
        below = model.ground.frame([0, 0, -0.1])
        model.add(fem.SphereOnPlane(plate.frame([x, y, -0.05]), below, radius=0.0, name=f"pad {i}"))
    top = model.add(fem.RigidBody(MASS, [1, 2, 3], position=[*load, 0.5], name="top"))
    for i, (x, y) in enumerate(legs):
        floor = model.ground if i < 2 else plate.frame([0, 0, 0.05])
        foot = top.frame([x - load[0], y - load[1], -0.5])
        model.add(fem.SphereOnPlane(foot, floor, radius=0.0, name=f"leg {i}"))
    found = fem.DecoupledNSGA().run(model, 5e-3, 1e-3).unique_forces()
    # springs between two rigid plates and the ground
    rows = [[0, 0, 0, 1, place + x, y] for x, y in pads]
    rows += [[1, x, y, *(np.array([-1, -x, -y]) * (i > 1))] for i, (x, y) in enumerate(legs)]
    B, weights = np.array(rows, float), G * np.array([MASS, MASS * load[0], MASS * load[1], mass, mass * place, 0])
    known = B @ np.linalg.solve(B.T @ B, weights)
    np.testing.assert_allclose([history.force[-1, 0] for history in found.values()], known, rtol=1e-7)


def test_what_slides_keeps_its_direction_and_the_motion_its_forces():
    # it turns: every leg slides in its own direction
    result = fem.DecoupledNSGA().run(table(slope=0.3, friction=(0.3, 0.1), velocity=0.2, spin=1.0), 5e-3, 1e-3)
    found = result.unique_forces()
    force = np.stack([found[name].force for name in result.contacts])
    own = np.stack([result[name].force for name in result.contacts])
    np.testing.assert_allclose(force.sum(axis=0), own.sum(axis=0), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(force[:, 1:, 1:], axis=2), 0.1 * force[:, 1:, 0], rtol=1e-6)
    directions = [f[:, -1, 1:] / f[:, -1, :1] for f in (force, own)]
    np.testing.assert_allclose(*directions, atol=1e-9)
    assert np.abs(directions[0] - directions[0][0]).max() > 0.01
    points = np.stack([result[name].point for name in result.contacts])
    vectors = (np.stack([h[name].force_vector for name in result.contacts]) for h in (found, result))
    moments = [np.cross(points, vector).sum(axis=0) for vector in vectors]
    np.testing.assert_allclose(moments[0], moments[1], atol=1e-8)


@pytest.mark.parametrize("friction", [(0.6, 0.4), [(0, 0.1), (1, 0.5)]], ids=["static", "table"])
def test_a_leg_without_force_slides_with_the_coefficient_of_its_speed(friction):
    found = states(table(friction=friction, slope=0.7, velocity=0.2))
    known = found.reported[-1].copy()
    assert found.distribute(-1, known)
    other, one, ratio = known.copy(), known[0, 0], known[0, 1:] / known[0, 0]
    other[:, 0] += one * np.array([-1, 1, 1, -1])
    other[:, 1:] = other[:, :1] * ratio
    assert (other[0] == 0.0).all()
    assert found.distribute(-1, other)
    np.testing.assert_allclose(other, known, rtol=1e-3, atol=1e-9)


def test_forces_that_keep_to_their_law_to_the_tolerance_of_the_run_are_shared():
    """Directions of friction of the legs differ by 3e-6: no displacement has their resultant exactly."""
    method = fem.DecoupledNSGA(persistent_contacts=False)
    result = method.run(table(friction=(0.6, 0.4), slope=0.7), 5e-3, 1e-3)
    first = result.unique_forces()["leg 0"].force[1:]
    np.testing.assert_allclose(first, first[[0]] * np.ones((len(first), 1)), rtol=1e-4, atol=1e-3)


def linked(split):
    """A beam of four parts that are fixed to each other, or of one, on five feet without friction."""
    model = fem.Model("parts", gravity=[0, 0, -G])
    feet = [(-0.5, 0.1), (-0.2, -0.1), (0.2, 0.1), (0.3, -0.1), (0.5, 0.1)]
    sizes = [(-0.5, -0.2), (-0.2, 0.0), (0.0, 0.1), (0.1, 0.5)] if split else [(-0.5, 0.5)]  # no feet in the middle
    parts = [
        model.add(
            fem.RigidBody.box(MASS * (b - a), [b - a, 0.2, 0.1], position=[(a + b) / 2, 0, 0.05], name=f"part {a}")
        )
        for a, b in sizes
    ]
    if split:
        for i in range(3):
            model.add(fem.Fixed.at(*parts[i : i + 2], [sizes[i][1], 0, 0.05], name=f"weld {i}"))
    for i, (x, y) in enumerate(feet):
        part, (a, b) = next((p, size) for p, size in zip(parts, sizes) if x <= size[1])
        foot = part.frame([x - (a + b) / 2, y, -0.05])
        model.add(fem.SphereOnPlane(foot, model.ground, radius=0.0, name=f"foot {i}"))
    return model, feet


def test_bodies_that_joints_link_share_as_one():
    for split in (False, True):
        model, feet = linked(split)
        np.testing.assert_allclose(shares(model)[:, 0], linear_shares(feet, (0.0, 0.0)), rtol=1e-7)


def test_stiff_contacts_tend_to_it():
    legs, load = [*CORNERS, (0.2, 0.1)], (0.1, 0.05)
    known = shares(table(legs, load, friction=0.0))[:, 0]
    errors = []
    for k in (1e6, 1e7):
        model = fem.Model("table", gravity=[0, 0, -G])
        start = [*load, 0.5 - MASS * G / (len(legs) * k)]
        top = model.add(fem.RigidBody(MASS, [1, 2, 3], position=start, fixed=("x", "y", "rz"), name="top"))
        for i, (x, y) in enumerate(legs):
            foot = fem.SphereOnPlane(top.frame([x - load[0], y - load[1], -0.5]), model.ground, radius=0.0)
            model.add(fem.CompliantContact(foot, model="hooke", stiffness=k, name=f"leg {i}"))
        static = fem.static_equilibrium(model.compile())
        force = np.array([static.output(model[f"leg {i}"], "force_normal") for i in range(len(legs))])
        errors.append(np.abs(force.ravel() - known).max())
    assert errors[1] < 0.2 * errors[0] and errors[1] < 1e-3


def test_bad_input_raises_errors(tmp_path):
    result = fem.DecoupledNSGA().run(table(), 2e-3, 1e-3, save=tmp_path / "table.vtkhdf")
    with pytest.raises(fem.ParameterError, match="tangential_stiffness"):
        result.unique_forces(tangential_stiffness=0.0)
    with pytest.raises(fem.ParameterError, match=r"'foot'.*'leg 0'"):
        result.unique_forces(stiffness={"foot": 1.0})
    with pytest.raises(fem.ParameterError, match="leg 1"):
        result.unique_forces(stiffness={"leg 0": 1.0})
    with pytest.raises(fem.ParameterError, match="leg 2"):
        result.unique_forces(stiffness={f"leg {i}": -1.0 if i == 2 else 1.0 for i in range(4)})
    loaded = fem.load(tmp_path / "table.vtkhdf")
    with pytest.raises(fem.FemMbsError, match="model=model"):
        loaded.unique_forces()
    known, found = result.unique_forces(), loaded.unique_forces(model=table())
    assert all((known[name].force == found[name].force).all() for name in known)
    ellipse = fem.DecoupledNSGA().run(table(friction=fem.AnisotropicFriction(0.2, 0.4)), 2e-3, 1e-3)
    with pytest.raises(fem.FemMbsError, match=r"leg 0.*anisotropic"):
        ellipse.unique_forces()
