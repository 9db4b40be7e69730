"""Boxes on planes and on each other: `BoxOnPlane`, `BoxOnBox`."""

import numpy as np
import pytest
from contact_at import Kinematics
from scipy.optimize import lsq_linear

import fem_mbs as fem
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

SIZES = {"size_A": [0.2, 0.3, 0.1], "size_B": [0.4, 0.2, 0.3]}


def smallest_gap(part):
    """Function that gives it for all contacts of a part at poses of its nodes, node -> (position, rotation)."""
    contacts = [(contact.nodes, Kinematics(contact)) for contact in part.elements]
    return lambda poses: min(gap([poses[node] for node in nodes])["gap"][0] for nodes, gap in contacts)


def distance(sizes, rounding, pose_A, pose_B):
    """Distance of the rounded boxes: bounded least squares for the nearest points of their cores."""
    (x_A, R_A), (x_B, R_B) = pose_A, pose_B
    half = np.concatenate([0.5 * np.array(size) - rounding for size in sizes.values()])
    nearest = lsq_linear(np.hstack([R_A, -R_B]), x_B - x_A, (-half, half), method="bvls", tol=1e-15)
    return np.sqrt(2 * nearest.cost) - 2 * rounding


def test_the_smallest_gap_is_the_distance_of_the_boxes():
    rng, crossed = np.random.default_rng(3), 0
    A, B = Node6(name="A"), Node6([0, 1, 0], name="B")
    part = fem.BoxOnBox(A, B, **SIZES, rounding=0.01, name="pair")
    corners = fem.BoxOnBox(A, B, **SIZES, rounding=0.01, edges=False)
    assert len(part.elements) == 24 and len(corners.elements) == 16
    gap, gap_of_corners = smallest_gap(part), smallest_gap(corners)
    for _ in range(40):
        poses = {A: (np.zeros(3), exp(rng.normal(size=3))), B: (0.5 * rng.normal(size=3), exp(rng.normal(size=3)))}
        if (expected := distance(SIZES, 0.01, *poses.values())) <= 0:
            continue
        assert gap(poses) == pytest.approx(expected, abs=1e-9)  # where the least squares stop
        crossed += gap_of_corners(poses) > expected + 1e-6
    assert crossed > 3  # cases in which two edges are nearest


def test_box_on_a_plane_has_the_gap_of_its_lowest_point():
    rng = np.random.default_rng(1)
    size, rounding = np.array([0.4, 0.2, 0.3]), 0.02
    for rho in (0.0, rounding):
        box, plane = Node6(), Node6([0, 1, 0])
        part = fem.BoxOnPlane(box, plane, size=size, rounding=rho)
        gap = smallest_gap(part)
        for _ in range(5):
            R, x = exp(rng.normal(size=3)), rng.normal(size=3)
            lowest = x[2] - np.abs(R[2]) @ (0.5 * size - rho) - rho
            assert gap({box: (x, R), plane: (np.zeros(3), None)}) == pytest.approx(lowest, abs=1e-14)


def test_in_a_plane_four_corners_are_enough():
    A, B = Node6(), Node6([0, 1, 0])
    part = fem.BoxOnBox(A, B, **SIZES, rounding=0.01, planar="y", name="pair")
    assert [contact.name for contact in part.elements] == [f"pair {s}{k}" for s in "AB" for k in (1, 2, 3, 4)]
    gap, whole = smallest_gap(part), smallest_gap(fem.BoxOnBox(A, B, **SIZES, rounding=0.01))
    for angle in (0.0, 0.3, -1.1):
        poses = {A: (np.zeros(3), exp([0, angle, 0])), B: (np.array([0.1, 0, 0.4]), exp([0, -0.2, 0]))}
        assert gap(poses) == pytest.approx(whole(poses), abs=1e-14)
    assert len(fem.BoxOnPlane(A, B, size=[1, 1, 1], planar="y").elements) == 4


def test_planks_that_cross_lie_on_their_edges():
    """No corner of one is over the other: only the four crossings of edges can carry the upper plank."""
    size = np.array([0.6, 0.1, 0.05])
    model = fem.Model("crossed planks", gravity=[0, 0, -9.81])
    low = model.add(fem.RigidBody.box(1.0, size, position=[0, 0, 0.025], name="low"))
    high = model.add(fem.RigidBody.box(2.0, size, position=[0, 0, 0.075], rotation=[0, 0, np.pi / 2], name="high"))
    model.add(fem.BoxOnPlane(low, model.ground, size=size, friction=0.5, name="floor"))
    model.add(fem.BoxOnBox(high, low, size_A=size, size_B=size, rounding=1e-3, friction=0.5, name="pair"))
    result = fem.DecoupledNSGA().run(model, t_end=0.1, h=1e-3)
    assert np.abs(result["high"].position - [0, 0, 0.075]).max() < 1e-10
    crossings = [n for n in result.names if n.startswith("pair ") and result[n].impulse[-1, 0] > 0]
    for n in crossings:
        assert np.abs(result[n].point[-1, :2]) == pytest.approx([0.049, 0.049], abs=1e-9)  # of the cores
    assert len(crossings) >= 2  # opposite ones; which of the four redundant ones carry is not unique
    load = sum(result[n].force_vector[-1] for n in crossings)
    np.testing.assert_allclose(load, [0, 0, 2 * 9.81], atol=1e-6)


@pytest.mark.parametrize("tan_slope, slides", [(0.49, False), (0.51, True)])
def test_a_box_slides_on_a_tilted_box_beyond_the_angle_of_friction(tan_slope, slides):
    slope = exp([0, np.arctan(tan_slope), 0])
    model = fem.Model("box on a ramp", gravity=[0, 0, -9.81])
    sizes = {"size_A": [0.1, 0.1, 0.1], "size_B": [2.0, 0.5, 0.2]}
    box = model.add(fem.RigidBody.box(1.0, [0.1] * 3, position=slope @ [0, 0, 0.15], rotation=slope, name="box"))
    ramp = model.ground.frame([0, 0, 0], slope)
    model.add(fem.BoxOnBox(box, ramp, **sizes, rounding=5e-3, edges=False, friction=0.5, name="ramp"))
    result = fem.DecoupledNSGA().run(model, t_end=0.5, h=1e-3)
    travel = (result["box"].position[-1] - result["box"].position[0]) @ slope[:, 0]
    # g (sin − μ cos) t²/2: 10.9 mm; the scheme is of first order in h for closed contacts
    expected = 0.5 * 9.81 * (tan_slope - 0.5) / np.hypot(1, tan_slope) * 0.25
    assert travel == pytest.approx(expected if slides else 0.0, rel=5e-3, abs=1e-9)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda a, b: fem.BoxOnPlane(a, b, size=[1, 0, 1], name="floor"), "'floor': size = .*three dir"),
        (lambda a, b: fem.BoxOnPlane(a, b, size=[1, 1]), "size .*2 components.* 3"),
        (lambda a, b: fem.BoxOnPlane(a, b, size=[1, 2, 3], rounding=0.5), r"rounding = 0\.5 m.*below"),
        (lambda a, b: fem.BoxOnPlane(a, b, size=[1, 2, 3], planar="xz"), "planar = 'xz'.*'x', 'y', 'z'"),
        (lambda a, b: fem.BoxOnPlane(a, a, size=[1, 2, 3]), r"plane = .*same node as the sphere"),
        (lambda a, b: fem.BoxOnBox(a, b, size_A=[1, 2, 3], size_B=[1, -1, 1], rounding=0.1), "size_B = .*three dir"),
        (lambda a, b: fem.BoxOnBox(a, b, size_A=[1, 2, 3], size_B=[1, 1, 1], rounding=0), "rounding = 0.0 m.*>"),
        (lambda a, b: fem.BoxOnBox(a, b, size_A=[1, 2, 3], size_B=[1, 1, 1], rounding=0.1, friction=-1), "friction"),
    ],
)  # fmt: skip
def test_boxes_that_cannot_be_are_rejected_in_the_words_of_the_user(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make(Node6(), Node6([0, 1, 0]))
