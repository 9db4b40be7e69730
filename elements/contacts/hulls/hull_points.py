"""Hulls that a user gives: points of whatever has some, checked, and their polyhedra, made once for each form."""

import functools
from os import PathLike
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.mesh.mass import cells_of
from fem_mbs.mesh.polyhedra import MOST, Polyhedron, fault_of


def points_of(owner: Checked, parameter: str, given: Any) -> np.ndarray:
    """Points (n, 3) [m] of an array, or of the cells of a mesh."""
    is_array = isinstance(given, (np.ndarray, list, tuple))
    if is_array:
        return owner.as_array(parameter, given, (None, 3))
    some = isinstance(given, (str, PathLike)) or hasattr(given, "cells") or hasattr(given, "faces")
    owner.check(some, parameter, given, "must be points (n, 3), a mesh, a form of fem.shapes, or the path of a file")
    points, blocks = cells_of(owner, given)
    used = np.unique(np.concatenate([np.asarray(cells).reshape(-1) for _, cells in blocks])) if blocks else []
    return points[used] if len(used) else points


def hull_of(owner: Checked, points: np.ndarray, parameter: str = "points") -> Polyhedron:
    """Hull of points (n, 3); an error is raised if it has no thickness or too many corners."""
    fault = fault_of(points)
    owner.check(fault is None, parameter, len(points), fault or "")
    hull = _hull(np.ascontiguousarray(points, float).tobytes())
    message = (
        f"corners of the hull, at most {MOST}. Simplify the mesh (fewer triangles), or take a sphere, capsule or box "
        "where it is one"
    )
    owner.check(len(hull.points) <= MOST, parameter, len(hull.points), message)
    return hull


def rounded_hull(
    owner: Checked, points: np.ndarray, rounding: float, parameter: str = "points"
) -> tuple[Polyhedron, np.ndarray]:
    """Core of the hull of points (n, 3) about its centre, and the centre (3,)."""
    hull, rounding = hull_of(owner, points, parameter), owner.positive("rounding", rounding, "m")
    message = f"m must be below the radius of the largest ball inside, {hull.inradius:.6g} m; a few per cent of it"
    owner.check(rounding < (1.0 - 1e-6) * hull.inradius, "rounding", rounding, message)
    core = _core(np.ascontiguousarray(points, float).tobytes(), rounding)
    owner.check(core is not None, "rounding", rounding, "m leaves nothing of the hull; a few per cent of its thickness")
    return core


@functools.lru_cache(1024)
def _hull(data):
    return Polyhedron(np.frombuffer(data).reshape(-1, 3))


@functools.lru_cache(1024)
def _core(data, rounding):
    """Core about its centre, and the centre; None where it has no thickness."""
    places = _hull(data).core_points(rounding)
    if fault_of(places) is not None:
        return None
    core = Polyhedron(places)
    return core.moved(-core.center), core.center
