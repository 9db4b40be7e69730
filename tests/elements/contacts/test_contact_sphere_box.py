"""Contacts of a sphere with a box (`SphereOnBox`) and with a thin plate (`SphereOnRectangle`)."""

import numpy as np
import pytest
from contact_at import Kinematics, rigid_motion_seen

import fem_mbs as fem
from fem_mbs.element.registry import make_example
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

STEPPER = {"rho_inf": 0.8, "rtol": 1e-9}


def throw(position, velocity, e, t_end=0.2, h=1e-3):
    """Ball of 0.1 m thrown at a turned box of edges (2, 1.2, 0.8) m; its last velocity in axes of the box, result."""
    R = exp([0.4, -0.7, 0.2])
    model = fem.Model("thrown at a box")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=R @ position, velocity=R @ velocity, name="ball"))
    box = model.ground.frame(rotation=R)
    model.add(fem.SphereOnBox(ball, box, radius=0.1, size=[2, 1.2, 0.8], restitution=e, name="box"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=t_end, h=h)
    return result["ball"].velocity[-1] @ R, result


def test_a_ball_that_hits_a_corner_along_the_diagonal_comes_straight_back():
    diagonal = np.ones(3) / np.sqrt(3)
    velocity, result = throw([1, 0.6, 0.4] + 0.3 * diagonal, -2 * diagonal, e=0.5)
    np.testing.assert_allclose(velocity, diagonal, atol=1e-9)  # e u, at the tolerance of the stepper
    assert result["box"].gap.min() > -1e-12  # round-off


@pytest.mark.parametrize("h", [1e-3, 1e-4, 1e-5])
def test_a_ball_that_hits_an_edge_is_reflected_by_the_normal_of_the_edge(h):
    # centre passes 0.06 m outside the upper edge at y = 0.6, falling: touches 0.08 m above it, n = (0, 0.6, 0.8)
    velocity, result = throw([0.3, 0.66, 0.7], [0.5, 0, -3], e=0.5, h=h)
    n = np.array([0, 0.6, 0.8])
    expected = [0.5, 0, -3] + 1.5 * 2.4 * n
    # the impact is seen at most one step late; then the normal has turned by h 3 m/s x 0.6/0.1 m, and with it the
    # impulse of 3.6 N s: no edge but in the limit (40 h measured)
    assert np.abs(velocity - expected).max() < 3.6 * 18 * h
    # and exactly where it is seen: impulse along the normal at the end of the step, speed from that at its start or end
    hit, R, before = np.flatnonzero(result["box"].impact)[0], exp([0.4, -0.7, 0.2]), np.array([0.5, 0, -3])
    start, end = result["box"].normal[[hit - 1, hit]] @ R
    assert np.linalg.norm(np.cross(velocity - before, end)) < 1e-12  # round-off
    low, high = sorted(-0.5 * np.array([before @ start, before @ end]))
    assert low - 1e-9 < velocity @ end < high + 1e-9  # the tolerance of the stepper
    assert velocity[0] == pytest.approx(0.5, abs=1e-12)  # along the edge: frictionless, round-off
    assert np.linalg.norm(result["ball"].velocity[0]) > np.linalg.norm(velocity)


def test_a_ball_falls_flat_on_a_face():
    velocity, _ = throw([0.9, -0.5, 0.7], [0.3, 0.2, -2], e=1.0)
    np.testing.assert_allclose(velocity, [0.3, 0.2, 2], atol=1e-9)  # the tolerance of the stepper


@pytest.mark.parametrize("make", [fem.SphereOnRectangle, fem.SphereOnBox])
def test_a_ball_that_slides_over_the_edge_of_a_table_leaves_where_gravity_no_longer_holds_it(make):
    # frictionless, speed v at the edge: N = 0 where cos φ = (2 + v²/(g r))/3
    r, g, v = 0.5, 10.0, 0.8
    model = fem.Model("over the edge", gravity=[0, 0, -g])
    thick = make is fem.SphereOnBox
    ball = model.add(fem.RigidBody.sphere(1.0, r, position=[0.9, 0, r], velocity=[v, 0, 0], name="ball"))
    table = model.ground.frame([0, 0, -0.2 if thick else 0])
    model.add(make(ball, table, radius=r, size=[2, 1, 0.4] if thick else [2, 1], name="table"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.7, h=1e-3)
    gap = result["table"].gap
    leaves = np.argmax(gap > 1e-9)
    assert gap.min() > -1e-11 and 0 < leaves < len(gap) - 1
    x, _, z = result["ball"].position[leaves].T
    # the gap opens with the cube of time, so it is seen late: 3.7e-3 rad at this step and 3.2e-3 at half of it, doubled
    assert np.arctan2(x - 1, z) == pytest.approx(np.arccos((2 + v**2 / (g * r)) / 3), abs=8e-3)


@pytest.mark.parametrize(
    "center, gap, normal",
    [
        ([0.5, 0.2, 0.9], 0.4, [0, 0, 1]),
        ([0.5, 0.2, -0.9], 0.4, [0, 0, -1]),
        ([-1.4, 0.2, 0.7], 0.4, [-0.8, 0, 0.6]),
        ([-1.2, 0.9, 1.0], 0.6, [-2 / 7, 3 / 7, 6 / 7]),
        ([0.1, 0.55, 0.1], -0.15, [0, 1, 0]),  # the centre is inside: pushed out by the shortest way
    ],
)
def test_the_nearest_point_is_on_a_face_an_edge_or_a_corner(center, gap, normal):
    kinematics = Kinematics(fem.SphereOnBox(Node6(), Node6(), radius=0.1, size=[2, 1.2, 0.8]))
    out = kinematics([(center, None), ([0, 0, 0], None)])
    assert out["gap"] == pytest.approx(gap, rel=1e-13)
    np.testing.assert_allclose(out["normal"], normal, atol=1e-15)


def test_gap_and_normal_are_continuous_round_the_box():
    kinematics = Kinematics(fem.SphereOnBox(Node6(), Node6(), radius=0.1, size=[2, 1.2, 0.8]))
    angle = np.linspace(0, 2 * np.pi, 2001)
    way = np.column_stack([1.5 * np.cos(angle), 1.1 * np.sin(angle), 0.9 * np.sin(3 * angle)])
    out = [kinematics([(x, None), ([0, 0, 0], None)]) for x in way]
    step = np.linalg.norm(np.diff(way, axis=0), axis=1)
    assert (np.abs(np.diff([o["gap"][0] for o in out])) <= step * (1 + 1e-12)).all()  # distances change no faster
    turn = np.linalg.norm(np.diff([o["normal"] for o in out], axis=0), axis=1)
    nearest = min(o["gap"][0] + 0.1 for o in out)
    assert (turn <= step / nearest * (1 + 1e-9)).all()  # curvature is at most that of a sphere about an edge


def test_a_ball_that_rolls_along_an_edge_does_not_slip():
    # contact with an edge along x: rolling radius r about the x direction; the centre moves on a straight line
    kinematics = Kinematics(fem.SphereOnBox(Node6(), Node6(), radius=0.5, size=[2, 1.2, 0.8]))
    n = np.array([0, 0.6, 0.8])
    center = np.array([0, 0.6, 0.4]) + 0.5 * n
    # ẋ + r n × ω = 0 for ω = n × ẋ / r
    for way in (1e-3, 0.3):
        roll = exp(np.cross(n, [way, 0, 0]) / 0.5)
        end, start = [(center + [way, 0, 0], roll), ([0, 0, 0], None)], [(center, None), ([0, 0, 0], None)]
        assert abs(kinematics.slip(end, start)).max() < 1e-15


@pytest.mark.parametrize("name", ["SphereOnBox", "SphereOnRectangle"])
def test_forces_and_moments_on_both_bodies_balance(name):
    rng = np.random.default_rng(5)
    assert rigid_motion_seen(make_example(name, rng), rng) < 1e-13  # round-off of lengths of a few m


@pytest.mark.parametrize(
    "cls, numbers, message",
    [
        (fem.SphereOnBox, {"radius": 0, "size": [1, 1, 1]}, "radius = 0.0 m.*> 0"),
        (fem.SphereOnBox, {"radius": 1, "size": [1, 0, 1]}, "size .*three directions"),
        (
            fem.SphereOnBox,
            {"radius": 1, "size": [1, 2, 3], "rounding": 0.5},
            r"rounding = 0\.5 m.*below",
        ),
        (fem.SphereOnBox, {"radius": 1, "size": [1, 2, 3], "rounding": -1}, "rounding = -1.0 m.*≥ 0"),
        (fem.SphereOnBox, {"radius": 1, "size": [1, 1]}, "size .*2 components.* 3"),
        (fem.SphereOnRectangle, {"radius": 1, "size": [1, -1]}, r"size .* both directions"),
    ],
)
def test_boxes_that_cannot_be_are_rejected_in_the_words_of_the_user(cls, numbers, message):
    with pytest.raises(fem.ParameterError, match=message):
        cls(Node6(), Node6(), **numbers)


def test_box_and_plate_on_ground_are_drawn_where_they_are():
    frame = fem.Model().ground.frame([1, 2, 3], [0.3, -0.2, 0.5])
    for cls, size in ((fem.SphereOnBox, [2, 1, 0.5]), (fem.SphereOnRectangle, [2, 1])):
        ((_, shape),) = cls(Node6(), frame, radius=0.1, size=size).picture()
        local = (shape.points - frame.p) @ frame.rotation
        np.testing.assert_allclose(np.ptp(local, axis=0)[: len(size)], size, rtol=1e-14)
        assert cls(Node6(), Node6(), radius=0.1, size=size).picture() == []


def test_rounding_keeps_the_faces_and_rounds_edges_and_corners():
    sharp, rounded = (
        Kinematics(fem.SphereOnBox(Node6(), Node6(), radius=0.1, size=[2, 1.2, 0.8], rounding=rho)) for rho in (0, 0.05)
    )
    still = ([0, 0, 0], None)
    assert rounded([([0.5, 0.2, 0.9], None), still])["gap"] == pytest.approx(0.4, rel=1e-13)  # face
    # along a diagonal the corner of the core is √3 ρ inside, its surface (√3 − 1) ρ; along an edge √2 instead of √3
    for center, n in (([1.2, 0.8, 0.6], 3), ([0.3, 0.8, 0.6], 2)):
        both = [k([(center, None), still])["gap"][0] for k in (sharp, rounded)]
        assert both[1] - both[0] == pytest.approx((np.sqrt(n) - 1) * 0.05, rel=1e-12)


def test_a_point_touches_a_box_with_round_edges():
    kinematics = Kinematics(fem.SphereOnBox(Node6(), Node6(), radius=0, size=[2, 1.2, 0.8], rounding=0.1))
    out = kinematics([([1.2, 0.5 + 0.6, 0], None), ([0, 0, 0], None)])
    assert out["gap"] == pytest.approx(np.hypot(0.3, 0.6) - 0.1, rel=1e-13)
