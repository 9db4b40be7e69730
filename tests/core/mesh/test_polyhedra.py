"""Convex polyhedra: faces, edges and corners of hulls, cores of rounded ones, and points that have no hull."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from stones import CUBE, center_of, polyhedron

from fem_mbs.mesh.polyhedra import Polyhedron, fault_of

SIDES = np.array([1.0, 0.8, 0.5])


def test_a_box_of_many_points_has_six_faces_and_no_diagonals():
    """Also turned, to single precision, as STL files have it: 2e-7 m here."""
    rng = np.random.default_rng(0)
    on_faces = SIDES * (rng.uniform(-0.5, 0.5, (40, 3)))
    on_faces[np.arange(40), np.arange(40) % 3] = 0.5 * SIDES[np.arange(40) % 3] * np.where(np.arange(40) % 2, 1, -1)
    points = np.vstack([SIDES * CUBE, on_faces, np.zeros((1, 3)), [[0.5, 0.4, 0.1]]])  # the last is on an edge
    for given in (points, (points @ Rotation.from_rotvec([0.3, -0.5, 0.2]).as_matrix().T).astype(np.float32)):
        box = Polyhedron(given.astype(float))
        assert (len(box.points), len(box.edges), len(box.normals)) == (8, 12, 6)
        assert box.volume == pytest.approx(SIDES.prod(), rel=1e-6)
        assert box.inradius == pytest.approx(0.25, rel=1e-6)
        assert sorted(len(rim) for rim in box.rims()) == [4] * 6


@pytest.mark.parametrize("count", [4, 12, 30, 100])
def test_a_hull_of_points_has_the_numbers_of_euler_and_all_points_inside(count):
    points = polyhedron(count, 3, (0.3, 0.2, 0.25)) + [5.0, 0, 0]
    hull = Polyhedron(points)
    assert len(hull.points) - len(hull.edges) + len(hull.normals) == 2
    assert (hull.normals @ points.T - hull.offsets[:, None]).max() < 1e-14
    assert hull.center == pytest.approx([5.0, 0, 0], abs=1e-14)
    for k, rim in enumerate(hull.rims()):  # counter-clockwise from outside
        a, b, c = hull.points[rim[:3]]
        assert np.cross(b - a, c - b) @ hull.normals[k] > 0


def test_the_core_of_a_box_is_the_box_that_box_shapes_have():
    core = Polyhedron(Polyhedron(SIDES * CUBE).core_points(0.03))
    assert core.points == pytest.approx((SIDES - 0.06) * CUBE, abs=1e-15)


@pytest.mark.parametrize(("count", "deepest"), [(4, 1e-12), (8, 0.05), (30, 0.05), (100, 0.05)])
def test_the_core_lies_where_all_faces_have_moved_in_and_faces_stay_nearly(count, deepest):
    """Three faces meet in each corner of a tetrahedron, whose faces stay; others go in by 5 % of ρ (measured)."""
    rho, hull = 0.01, Polyhedron(polyhedron(count, 1, (0.3, 0.25, 0.2)))
    highest = (hull.normals @ hull.core_points(rho).T).max(axis=1) + rho - hull.offsets
    assert highest.max() < 1e-14  # nothing is outside
    assert highest.min() > -deepest * rho


def test_the_core_of_a_rounding_that_swallows_a_short_edge_stays_inside():
    """A wedge whose upper face is 1 mm wide, rounded by 20 mm: that face goes down, all others stay."""
    points = np.array([[x, y, z] for y in (-0.2, 0.2) for x, z in ((-0.3, 0), (0.3, 0), (-5e-4, 0.4), (5e-4, 0.4))])
    hull = Polyhedron(points)
    core = Polyhedron(hull.core_points(0.02))
    down = hull.offsets - 0.02 - (hull.normals @ core.points.T).max(axis=1)
    upper = hull.normals[:, 2] > 0.99
    # lines of the sides meet 5e-4 · 0.4/0.2995 m above the face; moved in they meet ρ/sin α below that
    sine = 0.2995 / np.hypot(0.2995, 0.4)
    assert down[upper] == pytest.approx(0.02 / sine - 5e-4 * 0.4 / 0.2995 - 0.02, abs=1e-12)
    assert down[~upper] == pytest.approx(0.0, abs=1e-9)
    assert fault_of(core.points) is None


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (CUBE[:3], "different points"),
        (np.repeat(CUBE[:3], 4, axis=0), "different points"),
        (CUBE[CUBE[:, 2] > 0], "in one plane"),
        (CUBE * [1, 1, 1e-6], "in one plane, to 7e-07|in one plane"),
        (np.outer(np.arange(5.0), [1, 2, 3]), "on one line"),
    ],
)
def test_points_without_a_thickness_are_reported(points, words):
    assert re.search(words, fault_of(np.asarray(points)))


def test_the_helper_of_tests_agrees_about_centres():
    points = polyhedron(20, 7)
    assert Polyhedron(points + 1.0).center == pytest.approx(center_of(points) + 1.0, abs=1e-14)
