"""Contract of contact groups: attributes that the search for pairs and the solvers read."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from fem_mbs.distance.group_shapes import GroupShape
from fem_mbs.nodes import Frame, Node


class GroupOfShapes(Protocol):
    """Shapes on bodies that can touch each other and obstacles, see `fem_mbs.ContactGroup`.

    Attributes
    ----------
    shapes : list of GroupShape
    frames, radii, sphere_materials : of the corners of their cores, one after the other: centres, radii [m], materials
    obstacles : list of (contact type, frame, options, material)
    materials : MaterialTable
    excluded : set of pairs of nodes that never touch
    skin : margin of the search [m], None: of the method
    shaped : bool, True with shapes other than spheres
    nodes : nodes of shapes and obstacles
    """

    name: str | None
    shapes: list[GroupShape]
    frames: list[Frame]
    radii: list[float]
    sphere_materials: list[str | None]
    obstacles: list[tuple]
    materials: Any
    excluded: set
    skin: float | None

    @property
    def shaped(self) -> bool: ...

    @property
    def nodes(self) -> Iterable[Node]: ...

    def kinds(self) -> list:
        """Contact types with their prototypes, that of two spheres first."""
        ...

    def seconds(self, kind: type) -> list[Frame]:
        """Frames of the second partners of a type."""
        ...

    def partners(self, kind: type) -> list:
        """Materials of the second partners of a type."""
        ...

    def solids(self, kind: type) -> list:
        """Second partners of a type as shapes; None for planes and hollows."""
        ...

    def second_records(self, kind: type, prototypes: list) -> tuple[np.ndarray, np.ndarray]:
        """Parameters of contacts with the second partners of a type, and their nodes."""
        ...

    def law_tables(self, names: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Laws (k, k) of all pairs of materials that occur, NaN where there is none; pieces (k, k, ·) of restitution
        and sliding friction, of laws that depend on a speed.
        """
        ...
