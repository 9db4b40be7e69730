"""Comparison of the mass properties of a body with those of its hulls, taken as of one density, to find wrong frames.

Source: docs/theory/hulls.md; moments of tetrahedra: docs/theory/bodies.md, (6).
"""

from typing import cast

import numpy as np
from scipy.linalg import eigh

from fem_mbs.distance.group_shapes import GroupShape
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.mesh.mass import moments
from fem_mbs.mesh.polyhedra import Polyhedron

ASIDE = 0.1  # of the size: a warning is issued for centres of mass that are farther apart
UNLIKE = 2.5  # times as large, or as small: a warning is issued for such moments of inertia


def mass_difference(body: RigidBody, shapes: list[GroupShape]) -> str | None:
    """Describe the difference, or None where the body may consist of ``shapes``, all of its hulls."""
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for shape in shapes:
        whole = cast("Polyhedron", shape.whole)
        places = shape.frame.p + whole.points @ shape.frame.rotation.T
        corners = np.zeros((len(whole.triangles), 4, 3))
        corners[:, 1:] = places[whole.triangles]
        parts = moments(corners)
        volume, first, second = volume + parts[0], first + parts[1], second + parts[2]
    center, size = first / volume, max(shape.bound for shape in shapes)
    apart = float(np.linalg.norm(center - body.center))
    if apart > ASIDE * size:
        return (
            f"the centre of its hulls is {apart:.3g} m from its centre of mass. Points are in axes of the frame given "
            "with them, from its origin: for RigidBody.from_mesh that is body.mesh_frame"
        )
    C = body.mass * (second / volume - np.outer(center, center))
    ratios = eigh(body.inertia, np.trace(C) * np.eye(3) - C, eigvals_only=True)
    if ratios[0] < 1.0 / UNLIKE or ratios[-1] > UNLIKE:
        return (
            f"its moments of inertia are {ratios[0]:.2g} to {ratios[-1]:.2g} times those of its hulls with this mass. "
            "Are they in kg m², and is the hull in metres and in axes of the body?"
        )
    return None
