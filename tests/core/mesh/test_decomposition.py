"""Convex parts of bodies: given ones, meshes that are cut, errors."""

import sys

import numpy as np
import pytest
from stones import CUBE

import fem_mbs as fem
from fem_mbs.shapes import Box, Mesh

OUTLINE = 0.1 * np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]])


def angle():
    """Closed surface of an L, two bars of 0.1 m: volume 5e-3 m³."""
    n = len(OUTLINE)
    points = np.vstack([np.column_stack([OUTLINE, np.full(n, z)]) for z in (0.0, 0.1)])
    ends = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    sides = [[i, (i + 1) % n, (i + 1) % n + n, i + n] for i in range(n)]
    faces = [face[::-1] for face in ends] + [[k + n for k in face] for face in ends]
    return Mesh(points, [np.array(faces), np.array(sides)])


def test_given_parts_are_taken_as_they_are_and_weigh_what_they_do():
    bars = [Box([0.3, 0.1, 0.1]), Box([0.1, 0.1, 0.2], offset=[0.1, 0, 0.15])]
    parts = fem.convex_parts(bars)
    assert parts.gained == 0.0 and parts.volume == pytest.approx(5e-3)
    body = fem.RigidBody.from_mesh(parts, 1000.0)
    center = (0.003 * np.zeros(3) + 0.002 * np.array([0.1, 0, 0.15])) / 0.005
    assert body.mass == pytest.approx(5.0) and body.position == pytest.approx(center)
    assert body.mesh_frame.p == pytest.approx(-center)
    assert len(body.shapes) == 1  # drawn


def test_given_parts_that_overlap_are_reported_with_their_common_volume(recwarn):
    """A bar through a wall of 0.1 m, and a spike that takes a corner of a cube: a tetrahedron of 0.1³/6 m³."""
    wall, bar = Box([1, 1, 0.1]), Box([0.2, 0.1, 1.0])
    with pytest.warns(UserWarning, match=r"0\.002 m³.*1\.7 %"):
        fem.convex_parts([wall, bar])
    corner = 0.1 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    cube, beyond = 0.2 * (CUBE + 0.5), np.vstack([corner, [[-0.3, -0.3, -0.3]]])
    with pytest.warns(UserWarning, match=r"have 0\.0001667 m³ in common"):
        fem.convex_parts([cube, beyond, cube + [5.0, 0, 0]])
    recwarn.clear()
    fem.convex_parts([CUBE, CUBE + [1, 0, 0], CUBE + [1, 1 + 1e-9, 0]])  # side by side
    assert not recwarn.list


def test_groups_of_a_mesh_are_parts():
    """As the how-to has it: nodes of two blocks with a common face."""
    mesh = fem.block_mesh([2.0, 1.0, 1.0], [2, 1, 1])
    left = mesh.with_group("left", lambda x: x[:, 0] < 1.0 + 1e-9).with_group("right", lambda x: x[:, 0] > 1.0 - 1e-9)
    parts = fem.convex_parts([left.points[left.nodes_of(name)] for name in ("left", "right")])
    assert parts.volume == pytest.approx(2.0)


def test_an_angle_is_cut_into_its_two_bars():
    """To 1 % of the volume: coacd cuts near the corner, not at it."""
    pytest.importorskip("coacd")
    parts = fem.convex_parts(angle())
    assert len(parts.parts) == 2
    assert parts.mesh_volume == pytest.approx(5e-3)
    assert abs(parts.gained) < 0.01


def test_parts_that_fill_a_hollow_are_reported():
    """One part only: the hull of the angle has 0.1 (0.09 − 0.02) m³ = 7e-3 m³, 40 % more."""
    pytest.importorskip("coacd")
    with pytest.warns(UserWarning, match=r"1 parts.*40 %.*volume"):
        parts = fem.convex_parts(angle(), most=1)
    assert parts.gained == pytest.approx(0.4, abs=0.01)


def test_a_mesh_without_the_package_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(fem.FemMbsError, match="pip install coacd"):
        fem.convex_parts(angle())


@pytest.mark.parametrize(
    ("mesh", "options", "words"),
    [
        ([], {}, r"mesh = .*no parts"),
        ([CUBE, CUBE[:4]], {}, r"mesh = .*part 1 of 2.*plane"),
        ([CUBE], {"most": 0}, "most"),
        ([CUBE], {"concavity": 2.0}, "concavity"),
        ([CUBE], {"corners": 3}, "corners"),
        (Mesh(angle().points, angle().faces[:1]), {}, "not closed"),
    ],
)
def test_what_cannot_be_parts_is_rejected(mesh, options, words):
    with pytest.raises(fem.ParameterError, match=words):
        fem.convex_parts(mesh, **options)
