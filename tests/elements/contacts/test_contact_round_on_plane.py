"""Ellipsoids and edges of discs on planes: against nearest points by search, and closed forms of motion."""

import re
from itertools import pairwise

import numpy as np
import pytest
from contact_at import Kinematics

import fem_mbs as fem
from fem_mbs.errors import ModelError, ParameterError, SolverError
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

G, MASS, RADIUS = 9.81, 0.4, 0.1
A, C = 0.25 * MASS * RADIUS**2, 0.5 * MASS * RADIUS**2  # moments of inertia of a thin disc
PLANAR = ("x", "y", "rx", "ry", "rz")
UP = np.array([0.0, 0.0, 1.0])


def poses(rng, size=1.0):
    return [(size * rng.normal(size=3), exp(rng.normal(size=3))) for _ in range(2)]


# --- kinematics -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge", [0.0, 0.05])
def test_the_point_is_the_nearest_of_the_surface(edge):
    """Of 40,000 points of an ellipsoid and of a ring none is nearer, and the nearest is so near."""
    rng = np.random.default_rng(4)
    semi, u = np.array([0.3, 0.5, 0.2]), rng.normal(size=(40000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    turn = np.linspace(0, 2 * np.pi, 40001)
    rim = RADIUS * np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    frame = {"p": [0.1, 0.2, 0.3], "rotation": [0.3, -0.2, 0.5]}
    shapes = [(fem.RingOnPlane(Node6().frame(**frame), Node6([0, 1, 0]), radius=RADIUS, edge_radius=edge), rim, edge)]
    shapes += [(fem.EllipsoidOnPlane(Node6().frame(**frame), Node6([0, 1, 0]), semi_axes=semi), semi * u, 0.0)]
    for contact, points, rounding in shapes:
        for _ in range(5):
            (x_A, R_A), (x_B, R_B) = ends = poses(rng)
            out = Kinematics(contact)(ends)
            n, first = R_B[:, 2], contact.first
            there = x_A + (first.p + points @ first.rotation.T) @ R_A.T
            heights = (there - x_B) @ n - rounding
            assert heights.min() - 2e-4 < out["gap"][0] <= heights.min() + 1e-14
            assert np.linalg.norm(out["point"] - (there[heights.argmin()] - rounding * n)) < 0.02
            assert (out["point"] - x_B) @ n == pytest.approx(out["gap"][0], abs=1e-14)


def test_an_ellipsoid_with_equal_axes_is_a_sphere():
    rng = np.random.default_rng(5)
    ball = Kinematics(fem.SphereOnPlane(Node6().frame([0.1, 0, 0]), Node6([0, 1, 0]), radius=0.3))
    same = Kinematics(fem.EllipsoidOnPlane(Node6().frame([0.1, 0, 0]), Node6([0, 1, 0]), semi_axes=[0.3] * 3))
    for _ in range(5):
        start = poses(rng)
        end = [(x + 0.3 * rng.normal(size=3), R @ exp(0.5 * rng.normal(size=3))) for x, R in start]
        out, reference = same(end, start), ball(end, start)
        for name in ("gap", "slip", "G_N", "G_T", "V_T", "W", "point"):
            np.testing.assert_allclose(out[name], reference[name], atol=1e-13)  # round-off of lengths of 1 m


def test_a_wheel_that_rolls_upright_does_not_slip_however_large_the_step():
    wheel = Kinematics(fem.RingOnPlane(Node6(), Node6([0, 1, 0]), radius=RADIUS))
    upright, turn = exp(np.array([np.pi / 2, 0, 0])), 1.5
    start = [([0, 0, RADIUS], upright), ([0, 0, 0], None)]
    end = [([RADIUS * turn, 0, RADIUS], exp(np.array([0, turn, 0])) @ upright), ([0, 0, 0], None)]
    out = wheel(end, start)
    assert np.abs(out["slip"]).max() < 1e-15 and abs(out["gap"]) < 1e-15


def test_slip_of_a_step_is_of_second_order():
    """Against the sum over a thousand parts of the same screw motion."""
    ring = Kinematics(fem.RingOnPlane(Node6(), Node6([0, 1, 0]), radius=RADIUS))

    def pose(s):
        return [
            ([0.1 * s, 0.05 * s, 0.1], exp(np.array([1.0, 0.2, 0])) @ exp(s * np.array([0.3, 1.0, 2.0]))),
            ([0] * 3, None),
        ]

    errors = []
    for s in (0.08, 0.04, 0.02):
        cuts = np.linspace(0, s, 1001)
        exact = sum(ring(pose(b), pose(a))["slip"] for a, b in pairwise(cuts))
        errors.append(np.abs(ring(pose(s), pose(0.0))["slip"] - exact).max() / s)
    assert np.log2(errors[0] / errors[1]) > 1.8 and np.log2(errors[1] / errors[2]) > 1.8, errors
    assert errors[-1] < 1e-5


# --- the disc ---------------------------------------------------------------------------------------------------------


def rolling(tilt, precession, **law):
    """A disc in steady motion, its axis tilted from the normal: model, distance of its centre from the middle.

    (C + m r²) Ω ω₃ sin β = A Ω² sin β cos β − m g r cos β; the centre goes round in a circle of radius −r ω₃/Ω.
    """
    s, c, W = np.sin(tilt), np.cos(tilt), precession
    spin = (A * W**2 * s * c - MASS * G * RADIUS * c) / ((C + MASS * RADIUS**2) * W * s)
    X = -RADIUS * spin / W
    e = np.array([s, 0.0, c])
    model = fem.Model("coin", gravity=[0, 0, -G])
    motion = {"velocity": [0, W * X, 0], "angular_velocity": W * UP + (spin - W * c) * e}
    coin = fem.RigidBody(MASS, [A, A, C], position=[X, 0, RADIUS * s], rotation=[0, tilt, 0], name="coin", **motion)
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=RADIUS, name="edge", **law))
    return model, X


@pytest.mark.parametrize("tilt, precession", [(1.2, 6.0), (0.3, np.sqrt(4 * G / (RADIUS * np.sin(0.3))))])
def test_a_coin_rolls_steadily_as_the_closed_form_says(tilt, precession):
    """A wheel in a circle, and Euler's disc, whose centre is at rest: Ω² = 4 g/(r sin β)."""
    errors = []
    for h in (1e-3, 5e-4):
        model, X = rolling(tilt, precession, friction=0.8)
        result = fem.DecoupledNSGA(rho_inf=0.9, persistent_contacts=True).run(model, 0.5, h, balance=True, strict=True)
        place, t = result["coin"].position, result.t
        circle = np.column_stack(
            [X * np.cos(precession * t), X * np.sin(precession * t), 0 * t + RADIUS * np.sin(tilt)]
        )
        e = result["coin"].rotation[:, :, 2]
        axis = np.column_stack(
            [np.sin(tilt) * np.cos(precession * t), np.sin(tilt) * np.sin(precession * t), 0 * t + np.cos(tilt)]
        )
        errors.append([np.abs(place - circle).max(), np.abs(e - axis).max()])
        assert np.abs(result["edge"].gap).max() < 1e-10
        assert result["edge"].force_normal[5:] == pytest.approx(MASS * G, rel=2e-2)
        change = np.abs(result.energy.total - result.energy.total[0]).max()  # it rolls: friction takes nothing
        errors[-1].append(change / result.energy.kinetic[0])
    orders = np.log2(np.divide(errors[0], errors[1]))
    assert (orders > 1.8).all(), (orders, errors)
    assert np.max(errors[1]) < 2e-3, errors


@pytest.mark.parametrize(
    "method",
    [fem.MoreauJean(), fem.LobattoIIIAB(), fem.NonsmoothGeneralizedAlphaFriction()],
    ids=lambda method: type(method).__name__,
)
def test_other_methods_roll_the_coin_too(method):
    model, X = rolling(1.2, 6.0, friction=0.8)
    result = method.run(model, 0.2, 5e-4)
    turned = X * np.array([np.cos(1.2), np.sin(1.2)])
    assert result["coin"].position[-1, :2] == pytest.approx(turned, abs=2e-3 * abs(X))


def test_a_contact_and_a_joint_that_roll_are_the_same_motion():
    model, _ = rolling(1.0, 5.0, friction=2.0)
    coin = model["coin"]
    coin.node.angular_velocity = coin.node.angular_velocity + [0.3, 0, 0]  # off the steady motion: it wobbles
    n, x = UP, np.array(coin.node.position)
    joint = fem.Model("joint", gravity=[0, 0, -G])
    s = np.sin(1.0)
    other = fem.RigidBody(MASS, [A, A, C], position=x, rotation=[0, 1.0, 0], name="coin")
    w = np.array(coin.node.angular_velocity)
    arm = RADIUS * np.array([np.cos(1.0), 0, -s])
    for node in (coin.node, other.node):
        node.angular_velocity, node.velocity = w, -np.cross(w, arm)
    joint.add(other, fem.RollingDisc.at(joint.ground, other, position=x, radius=RADIUS, normal=n))
    method = fem.DecoupledNSGA(persistent_contacts=True)
    one, two = (method.run(m, 0.5, 5e-4) for m in (model, joint))
    assert one["coin"].position[-1] == pytest.approx(two["coin"].position[-1], abs=2e-5)


def test_a_disc_that_comes_to_lie_is_rejected_and_one_that_turns_over_in_the_air_is_not():
    model = fem.Model("toss", gravity=[0, 0, -G])
    thrown = {"position": [0, 0, 1.0], "angular_velocity": [30.0, 0, 0], "velocity": [0, 0, 1.0]}
    coin = fem.RigidBody(MASS, [A, A, C], name="coin", **thrown)
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=RADIUS, friction=0.3, restitution=0.3, name="edge"))
    result = fem.DecoupledNSGA().run(model, 0.5, 1e-3)
    assert result["edge"].gap.min() > 0.1
    assert result["coin"].position[-1, 2] == pytest.approx(1.0 + 0.5 - 0.5 * G * 0.25, abs=1e-12)
    model = fem.Model("drop", gravity=[0, 0, -G])
    coin = fem.RigidBody(MASS, [A, A, C], position=[0, 0, 0.1], name="coin")
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=RADIUS, name="edge"))
    with pytest.raises(SolverError, match=r"'edge'.*0\.57°.*plane"):
        fem.DecoupledNSGA().run(model, 0.5, 1e-3)
    # with friction the iteration does not converge, which has the same cause
    model = fem.Model("slap", gravity=[0, 0, -G])
    motion = {"velocity": [0.3, 0, 0], "angular_velocity": [0, 0, 3.0]}
    coin = fem.RigidBody(1.0, [0.01, 0.008, 0.012], position=[0, 0, 0.3], name="coin", **motion)
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=0.2, edge_radius=0.02, friction=0.4, name="edge"))
    with pytest.raises(SolverError, match=r"'edge'.*0\.57°.*plane"):
        fem.DecoupledNSGA().run(model, 0.5, 1e-3)


def test_a_coin_that_tumbles_keeps_above_the_plane_and_ends_with_a_word_when_it_lies():
    model = fem.Model("tumble", gravity=[0, 0, -G])
    thrown = {"position": [0, 0, 0.3], "rotation": [0.9, 0.3, 0], "angular_velocity": [3.0, 1.0, 8.0]}
    coin = fem.RigidBody(MASS, [A, A, C], name="coin", velocity=[0.3, 0, 0], **thrown)
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=RADIUS, friction=0.3, restitution=0.4, name="edge"))
    try:
        result = fem.DecoupledNSGA().run(model, 1.0, 5e-4)
    except SolverError as error:
        assert re.search("lying.*plane", str(error))
        result = error.result
    assert result.t[-1] > 0.3 and result["edge"].gap.min() > -1e-11
    # an impact is seen up to a step late, and lifts what has fallen too far: m g v h
    assert np.diff(result.energy.total).max() < MASS * G * 2.5 * 5e-4
    assert result.energy.total[-1] < 0.2 * result.energy.total[0]


# --- the ellipsoid ----------------------------------------------------------------------------------------------------

SEMI = np.array([0.3, 0.2, 0.1])
INERTIA = MASS / 5.0 * np.array([SEMI[1] ** 2 + SEMI[2] ** 2, SEMI[0] ** 2 + SEMI[2] ** 2, SEMI[0] ** 2 + SEMI[1] ** 2])


def pebble(rotation=(0, 0, 0), height=None, **law):
    model = fem.Model("pebble", gravity=[0, 0, -G])
    R = exp(np.array(rotation, float))
    height = np.linalg.norm(SEMI * R[2]) if height is None else height
    stone = model.add(fem.RigidBody(MASS, INERTIA, position=[0, 0, height], rotation=rotation, name="stone"))
    model.add(fem.EllipsoidOnPlane(stone, model.ground, semi_axes=SEMI, name="floor", **law))
    return model


@pytest.mark.parametrize("axis, across", [(1, 0), (0, 1)])
@pytest.mark.parametrize("friction", [0.0, 0.9])
def test_a_pebble_rocks_with_the_frequency_of_the_closed_form(axis, across, friction):
    """ω² = m g (R − c)/(I + m c²) where it rolls, R = a²/c; without friction its centre does not move: I."""
    c, inertia = SEMI[2], INERTIA[axis]
    w = np.sqrt(MASS * G * (SEMI[across] ** 2 / c - c) / (inertia + (MASS * c**2 if friction else 0.0)))
    rotation = np.zeros(3)
    rotation[axis] = 1e-3
    result = fem.DecoupledNSGA(rho_inf=1.0, persistent_contacts=True).run(
        pebble(rotation, friction=friction), 2.0 * np.pi / w, 1e-3
    )
    row = result["stone"].rotation[:, 2, across] / result["stone"].rotation[0, 2, across]
    assert row == pytest.approx(np.cos(w * result.t), abs=2e-3)  # (ω h)²/12 of the angle, w/o friction and with
    assert np.abs(result["floor"].gap).max() < 1e-12


def test_a_pebble_at_rest_stays():
    result = fem.DecoupledNSGA().run(pebble(friction=0.3), 0.5, 1e-2)
    assert np.abs(result["stone"].position - [0, 0, SEMI[2]]).max() < 1e-13
    assert result["floor"].force_normal[1:] == pytest.approx(MASS * G, rel=1e-10)


def test_an_impact_of_a_tilted_pebble_is_that_of_rigid_bodies():
    """P = (1 + e) m v/(1 + m (n × p)·J⁻¹(n × p)), p from the centre to the point."""
    tilt, e, height = 0.4, 0.6, 0.5
    model = pebble([0, tilt, 0], height, restitution=e)
    result = fem.DecoupledNSGA().run(model, 0.33, 1e-4)
    k = int(np.argmax(result["floor"].impact != 0))
    v = -result["stone"].velocity[k - 1, 2]
    x = (
        (SEMI[0] ** 2 - SEMI[2] ** 2)
        * np.sin(tilt)
        * np.cos(tilt)
        / np.hypot(SEMI[0] * np.sin(tilt), SEMI[2] * np.cos(tilt))
    )
    P = (1 + e) * v * MASS / (1 + MASS * x**2 / INERTIA[1])
    assert result["floor"].impulse[k, 0] == pytest.approx(P, rel=1e-3)  # the weight of a step, g h/v
    assert abs(result["stone"].angular_velocity[k, 1]) == pytest.approx(P * abs(x) / INERTIA[1], rel=1e-3)


def test_bad_shapes_are_rejected_in_words():
    ground = fem.Model().ground
    with pytest.raises(ParameterError, match=r"'egg': semi_axes.*positive"):
        fem.EllipsoidOnPlane(Node6(), ground, semi_axes=[1, 0, 1], name="egg")
    model = fem.Model("flat")
    coin = fem.RigidBody(MASS, [A, A, C], name="coin")
    model.add(coin, fem.RingOnPlane(coin, model.ground, radius=1.0, name="edge"))
    with pytest.raises(ModelError, match=r"'edge'.*0\.57°.*plane"):
        model.compile()
    with pytest.raises(ParameterError, match="radius"):
        fem.RingOnPlane(Node6([0, 0, 3]), ground, radius=-1.0)
    with pytest.raises(ParameterError, match="same node"):
        fem.RingOnPlane(ground, ground, radius=1.0)
    with pytest.raises(ParameterError, match=r"'edge'.*without a point of contact"):
        fem.CompliantContact(model["edge"], stiffness=1e5, restitution=0.5)


def test_a_compliant_ellipsoid_rests_as_deep_as_its_law_says():
    soft = fem.Model("soft", gravity=[0, 0, -G])
    stone = fem.RigidBody(MASS, INERTIA, position=[0, 0, SEMI[2] - 1e-5], name="stone", fixed=PLANAR)
    floor = fem.EllipsoidOnPlane(stone, soft.ground, semi_axes=SEMI, name="floor")
    soft.add(stone, fem.CompliantContact(floor, stiffness=1e5, exponent=1.5, restitution=0.5))
    found = fem.static_equilibrium(soft)
    assert SEMI[2] - found.position(stone.node)[2] == pytest.approx((MASS * G / 1e5) ** (1 / 1.5), rel=1e-6)
