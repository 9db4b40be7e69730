"""Shapes of contact groups: spheres, capsules, boxes and hulls as cores with a radius.

A shape is all that is within a radius ρ of its core, a box of half edge lengths h, some of which may be 0: the point of
a sphere, the axis of a capsule, the box that is left when the faces of a box move in by ρ. The core of a hull is a
polyhedron (`fem_mbs.mesh.polyhedra`). The ends of the core are its corners; a sphere of radius ρ about each is part of
the shape.

Source: docs/theory/contact_groups.md, (21); docs/theory/hulls.md, (2).
"""

from typing import NamedTuple

import numpy as np

from fem_mbs.mesh.polyhedra import Polyhedron
from fem_mbs.nodes import Frame


class GroupShape(NamedTuple):
    """A shape on a body.

    Attributes
    ----------
    kind : "sphere", "capsule", "box" or "hull"
    frame : Frame, its centre and axes; the axis of a capsule is z
    half : (3,) half edge lengths of the core [m]; 0 of a hull
    radius : ρ [m]
    hull : Polyhedron, the core of a hull about its centre; else None
    whole : Polyhedron, the hull itself about that centre; else None
    """

    kind: str
    frame: Frame
    half: np.ndarray
    radius: float
    hull: Polyhedron | None = None
    whole: Polyhedron | None = None

    def is_at(self, other: "GroupShape") -> bool:
        """Whether this is another one's place on the same node, and its size."""
        one, two = self.frame, other.frame
        same = self.kind == other.kind and self.radius == other.radius and (one.p == two.p).all()
        turned = self.kind != "sphere" and (one.rotation != two.rotation).any()
        return bool(same and not turned and (self.half == other.half).all() and self.hull is other.hull)

    @property
    def thickness(self) -> float:
        """Half the smallest thickness [m]."""
        if self.hull is not None:
            return self.radius + self.hull.inradius
        return self.radius + (float(self.half.min()) if self.kind == "box" else 0.0)

    @property
    def bound(self) -> float:
        """Radius [m] of a sphere about the centre that has all of it inside."""
        farthest = self.half if self.hull is None else np.linalg.norm(self.hull.points, axis=1).max()
        return float(np.linalg.norm(farthest)) + self.radius

    @property
    def corner_count(self) -> int:
        """Number of corners of the core."""
        return 2 ** int(np.count_nonzero(self.half > 0.0)) if self.hull is None else len(self.hull.points)

    @property
    def corners(self) -> list:
        """Frames of the corners of the core: from − to + along x first, then y, then z. Endless axes have their middle
        for both.
        """
        if self.kind == "sphere":
            return [self.frame]
        frame = self.frame
        if self.hull is not None:
            return [Frame(frame.node, place, frame.rotation) for place in frame.p + self.hull.points @ frame.rotation.T]
        axes = [k for k in range(3) if self.half[k] > 0.0]
        places = np.zeros((2 ** len(axes), 3))
        for bit, axis in enumerate(axes):
            half = 0.0 if np.isinf(self.half[axis]) else self.half[axis]
            places[:, axis] = half * np.where(np.arange(len(places)) >> bit & 1, 1.0, -1.0)
        return [Frame(frame.node, frame.p + frame.rotation @ place, frame.rotation) for place in places]
