"""Contacts of capsules: `SphereOnCapsule`, `CapsuleOnCapsule`, `CapsuleOnPlane`, on bodies and along beams."""

from itertools import pairwise

import numpy as np
import pytest
from contact_at import Kinematics, rigid_motion_seen, slip_order

import fem_mbs as fem
from fem_mbs.element.registry import make_example
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

STEPPER = {"rho_inf": 0.8, "rtol": 1e-9}


def rod(length, axis, name="rod", mass=1.0, radius=0.05, **options):
    """Homogeneous rod and the frames of the ends of its axis."""
    axis = np.array(axis, float)
    body = fem.RigidBody.cylinder(mass, radius, length, axis=axis, name=name, **options)
    return body, (body.frame(-0.5 * length * axis), body.frame(0.5 * length * axis))


def test_next_to_a_capsule_the_contact_is_that_of_a_cylinder_and_round_its_end_that_of_a_sphere():
    A, B = Node6(), Node6([0, 1, 0])
    capsule = Kinematics(
        fem.SphereOnCapsule(
            A.frame([0.1, 0, 0.2]), (B.frame([0, 0, -1]), B.frame([0, 0, 1])), radius=0.2, radius_capsule=0.3
        )
    )
    cylinder = Kinematics(fem.SphereOnCylinder(A.frame([0.1, 0, 0.2]), B, radius=0.2, radius_cylinder=0.3))
    end = Kinematics(fem.SphereOnSphere(A.frame([0.1, 0, 0.2]), B.frame([0, 0, 1]), radius_A=0.2, radius_B=0.3))
    turn, R = exp([0.3, -0.5, 0.9]), exp([0.2, 0.8, -0.4])
    # next to a cylinder the point is on the sphere, next to a capsule in the middle of the gap: one when they touch
    for center, other, touch in (
        ([0.3, 0.4, 0.2], cylinder, True), ([0.6, 0.3, 0.2], cylinder, False), ([0.4, -0.2, 1.5], end, True),
    ):  # fmt: skip
        poses = [(R @ (center - turn @ [0.1, 0, 0.2]) + [1, 2, 3], R @ turn), ([1, 2, 3], R)]
        out, reference = capsule(poses), other(poses)
        reference["point"] -= (0.0 if touch else 0.5) * out["gap"] * out["normal"]
        for name in ("gap", "G_N", "normal", "point"):
            np.testing.assert_allclose(out[name], reference[name], atol=1e-14)  # round-off of lengths of 1 m
        for name in ("V_T", "W") if touch else ("W",):
            space = np.vstack([out["tangents"], out["normal"]])[: len(out[name])].T @ out[name]
            expected = np.vstack([reference["tangents"], out["normal"]])[: len(out[name])].T @ reference[name]
            np.testing.assert_allclose(space, expected, atol=1e-13)


def test_rolling_round_a_capsule_gives_no_slip_for_a_step_of_any_size():
    A, B = Node6(), Node6([0, 1, 0])
    kinematics = Kinematics(
        fem.SphereOnCapsule(A, (B.frame([0, 0, -1]), B.frame([0, 0, 1])), radius=0.3, radius_capsule=1.0)
    )
    for phi in (1e-3, 0.3, 0.6):
        center = 1.3 * np.array([np.cos(phi), np.sin(phi), 0])
        start, still = [([1.3, 0, 0], None), ([0, 0, 0], None)], ([0, 0, 0], None)
        assert abs(kinematics.slip([(center, exp([0, 0, 1.3 / 0.3 * phi])), still], start)).max() < 1e-14
        # without rotation the surfaces slip by the way of the centre on its arc; along the axis by the way itself
        slip = kinematics.slip([(center + [0, 0, 0.2], None), still], start)
        np.testing.assert_allclose(np.abs(slip), [0.2, 1.3 * phi], rtol=1e-12)
        # a common turn of both is no slip
        T = exp([0, 0, phi])
        assert abs(kinematics.slip([(T @ [1.3, 0, 0], T), ([0, 0, 0], T)], start)).max() < 1e-14


def test_slip_between_capsules_in_space_is_of_second_order():
    nodes = [Node6([0, 0, 0]), Node6([1, 0, 0]), Node6([0, 0, 1]), Node6([1, 1, 0])]
    element = fem.CapsuleOnCapsule(nodes[:2], nodes[2:], radius_A=0.2, radius_B=0.3)
    rng = np.random.default_rng(4)
    v, w = 0.3 * rng.normal(size=(4, 3)), 1.5 * rng.normal(size=(4, 3))
    x = np.array([[-1, 0.1, 0.5], [1, 0, 0.6], [0, -1, 0], [0.2, 1, 0.1]])

    def path(t):
        return [(x[i] + t * v[i] + 0.2 * t**2 * v[3 - i], exp(t * w[i])) for i in range(4)]

    def velocity(t):
        return np.concatenate([[*(v[i] + 0.4 * t * v[3 - i]), *w[i]] for i in range(4)])

    order, errors = slip_order(element, path, velocity, axes=lambda t: np.eye(3))
    assert 2.8 < order < 3.3, f"errors of one step {errors}"  # h³ in one step


@pytest.mark.parametrize("e", [0.0, 0.7])
def test_a_rod_that_falls_across_the_middle_of_another_hands_over_its_momentum(e):
    model = fem.Model("crossing rods")
    high, a = rod(1.0, [0, 1, 0], "high", position=[0.1, 0.05, 0.25], velocity=[0, 0, -2])
    low, b = rod(1.2, [1, 0, 0], "low", mass=3.0, position=[0.1, 0.05, 0])
    model.add(high, low, fem.CapsuleOnCapsule(a, b, radius_A=0.05, radius_B=0.05, restitution=e, name="crossing"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.15, h=1e-3)
    # central impact of 1 kg at 2 m/s on 3 kg at rest; tolerance of the stepper
    common = -0.5
    np.testing.assert_allclose(result["high"].velocity[-1], [0, 0, common + 1.5 * e], atol=1e-9)
    np.testing.assert_allclose(result["low"].velocity[-1], [0, 0, common - 0.5 * e], atol=1e-9)
    assert result["crossing"].gap.min() > -1e-12


def test_a_rod_that_lands_on_one_end_turns_as_the_impulse_says():
    # J = (1 + e) u / (1/m + (l cos φ/2)²/I) at the lower end, at l/2 cos φ from the centre along the floor
    length, slope, e, u = 1.0, 0.4, 0.5, 2.0
    model = fem.Model("landing rod")
    body, ends = rod(length, [1, 0, 0], position=[0, 0, 0.5], rotation=[0, slope, 0], velocity=[0, 0, -u])
    model.add(body, fem.CapsuleOnPlane(ends, model.ground, radius=0.05, restitution=e, name="floor"))
    lower = 0.5 - 0.5 * length * np.sin(slope) - 0.05
    h = (
        (1 + 1e-7) * lower / u / 50
    )  # lands at the end of a step, so that the correction of the position does not tilt it
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=60 * h, h=h)
    arm, inertia = 0.5 * length * np.cos(slope), (3 * 0.05**2 + length**2) / 12
    J = (1 + e) * u / (1 + arm**2 / inertia)
    assert result["rod"].velocity[-1, 2] == pytest.approx(J - u, abs=1e-7)
    assert result["rod"].angular_velocity[-1, 1] == pytest.approx(-J * arm / inertia, abs=1e-6)
    assert result["floor 2"].impulse[:, 0].sum() == pytest.approx(J, abs=1e-7)
    assert not result["floor 1"].impulse.any()


def test_a_rod_lies_flat_on_the_floor_with_half_its_weight_on_each_end():
    model = fem.Model("lying rod", gravity=[0, 0, -9.81])
    body, ends = rod(1.0, [1, 0, 0], mass=2.0, position=[0, 0, 0.05])
    model.add(body, fem.CapsuleOnPlane(ends, model.ground, radius=0.05, friction=0.3, name="floor"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.05, h=1e-3)
    np.testing.assert_allclose(result["floor 1"].force[1:, 0], 9.81, rtol=1e-8)  # the tolerance of the stepper
    np.testing.assert_allclose(result["floor 2"].force[1:, 0], 9.81, rtol=1e-8)


def test_a_ball_that_hits_a_free_beam_gives_it_its_momentum_at_the_lever_of_the_point_of_contact():
    section = fem.Section.circle(0.02, E=2e9, density=1000.0)
    model, nodes = fem.Model("ball on beam"), [Node6([x, 0, 0], name=f"n{x}") for x in (0.0, 0.5, 1.0)]
    beams = [fem.Beam(a, b, section, name=f"beam {a.name}") for a, b in pairwise(nodes)]
    ball = fem.RigidBody.sphere(0.5, 0.05, position=[0.6, 0, 0.0705], velocity=[0, 0, -1], name="ball")
    model.add(*beams, ball)
    for k, beam in enumerate(beams):
        model.add(fem.SphereOnCapsule(ball, beam, radius=0.05, radius_capsule=0.02, restitution=0.5, name=f"hit {k}"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=2e-3, h=1e-5)
    hit = result["hit 1"].impulse[:, 0]
    assert hit.sum() > 0.01 and not result["hit 0"].impulse.any()  # N s; only the beam that is touched
    # momentum of the ball lost = impulse, and it presses the ball up
    assert 0.5 * (result["ball"].velocity[-1, 2] + 1) == pytest.approx(hit.sum(), rel=1e-7)  # tolerance
    assert result["hit 1"].gap.min() > -1e-12
    np.testing.assert_allclose(result["hit 1"].point[np.argmax(hit), 0], 0.6, atol=1e-6)


@pytest.mark.parametrize("shift, middle", [(0.0, 0.0), (0.6, 0.3), (3.0, 1.0)])
def test_parallel_capsules_touch_in_the_middle_of_their_common_length(shift, middle):
    A, B = Node6(), Node6([0, 1, 0])
    element = fem.CapsuleOnCapsule(
        (A.frame([-1, 0, 0]), A.frame([1, 0, 0])), (B.frame([1, 0, 0]), B.frame([-1, 0, 0])), radius_A=0.1, radius_B=0.1
    )
    out = Kinematics(element)([([shift, 0, 0.5], None), ([0, 0, 0], None)])
    apart = np.hypot(max(shift - 2, 0), 0.5)
    assert out["gap"] == pytest.approx(apart - 0.2, rel=1e-14)
    on_axis = out["point"] + (0.1 + 0.5 * out["gap"]) * out["normal"]
    assert on_axis[0] == pytest.approx(max(middle, shift - 1), abs=1e-14)
    assert all(np.isfinite(value).all() for value in out.values())


def test_nearest_points_are_nearer_than_any_others():
    rng = np.random.default_rng(7)
    grid = np.linspace(0, 1, 41)
    for _ in range(40):
        ends = rng.normal(size=(4, 3))
        nodes = [Node6(x) for x in ends]
        out = Kinematics(fem.CapsuleOnCapsule(nodes[:2], nodes[2:], radius_A=0.1, radius_B=0.1))(
            [(x, None) for x in ends]
        )
        P = ends[0] + grid[:, None, None] * (ends[1] - ends[0])
        Q = ends[2] + grid[None, :, None] * (ends[3] - ends[2])
        sampled = np.linalg.norm(P - Q, axis=2).min()
        # samples are at most half a spacing (1/80 of a length of up to 5 m) away on both axes
        assert -1e-12 <= sampled - (out["gap"][0] + 0.2) < 0.125


@pytest.mark.parametrize("name", ["SphereOnCapsule", "CapsuleOnCapsule"])
def test_forces_and_moments_on_all_nodes_balance(name):
    rng = np.random.default_rng(8)
    assert rigid_motion_seen(make_example(name, rng), rng) < 1e-13  # round-off of lengths of a few m


NODES = [Node6([x, 0, 0]) for x in range(4)]


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda a, b, c, d: fem.SphereOnCapsule(a, (b, b), radius=1, radius_capsule=1),
            r"capsule = .*same position",
        ),
        (lambda a, b, c, d: fem.SphereOnCapsule(a, b, radius=1, radius_capsule=1), r"capsule = .*pair of frames"),
        (lambda a, b, c, d: fem.SphereOnCapsule(a, (a, b), radius=1, radius_capsule=1), "node in common"),
        (
            lambda a, b, c, d: fem.SphereOnCapsule(a, (b, c), radius=1, radius_capsule=0),
            "radius_capsule = 0.0 m must be",
        ),
        (lambda a, b, c, d: fem.CapsuleOnCapsule((a, b), (c, d), radius_A=-1, radius_B=1), "radius_A = -1.0 m must be"),
        (lambda a, b, c, d: fem.CapsuleOnPlane((a, b), c, radius=0), "radius = 0.0 m.*> 0"),
        (lambda a, b, c, d: fem.CapsuleOnPlane((a, a), c, radius=1), r"capsule = .*same position"),
    ],
)
def test_capsules_that_cannot_be_are_rejected_in_the_words_of_the_user(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make(*NODES)
