"""Boxes that touch planes and each other: parts made of contacts of points and edges.

A box of edge lengths s whose edges and corners are rounded off by ρ is all that is within ρ of its core, the box of
edge lengths s − 2ρ. On a plane only corners can touch. The distance of two boxes that do not overlap is that of their
cores less both radii, and that of the cores is reached between a corner and a face (edge, corner), or between two
edges that cross:

    gap = min( corners of A to B, corners of B to A, edges of A to edges of B ) ,   8 + 8 + 144 pairs of features    (1)

so that boxes do not overlap as long as none is negative. Boxes whose edges can meet are hulls of eight corners
(`hull_pair`), where the nearest pairs are contacts. Without edges each corner is a contact, a sphere of radius ρ
(`SphereOnPlane`, `SphereOnBox`); boxes that are guided in a plane need the four corners of their outline only, 4 + 4.

Source: docs/theory/contacts.md, (22); nearest features of convex polytopes, Ericson, Real-Time Collision Detection
(2005), 5.1.9 and 5.2.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Part
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.hulls.hull_pair import HullOnHull
from fem_mbs.elements.contacts.shapes.sphere_box import SphereOnBox
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.nodes import Frame, Ground

_AXES = "xyz"
_CORNERS = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])


class _BoxContact(Part):
    """Corners of boxes as frames, and the checks of their sizes."""

    options_of = Contact

    def _outline(self, box, parameter, size, rounding, planar):
        """Size (3,), and frames of the corners of the core."""
        frame, size = self.as_frame(parameter.replace("size", "box"), box), self.as_lengths(parameter, size)
        message = f"m must be below half the smallest edge length, {0.5 * size.min():.6g} m"
        self.check(2 * rounding < size.min(), "rounding", rounding, message)
        half, numbers = 0.5 * size - rounding, range(8)
        if self.as_choice("planar", planar, (*_AXES, None)) is not None:
            across = _AXES.index(planar)
            half[across], numbers = 0.0, [k for k in numbers if k >> across & 1]
        places = half * _CORNERS[list(numbers)]
        return size, [Frame(frame.node, frame.p + frame.rotation @ place, frame.rotation) for place in places]

    def _name(self, text):
        return None if self.name is None else f"{self.name} {text}"


class BoxOnPlane(_BoxContact):
    """A box that can touch a plane: a `SphereOnPlane` contact at each corner, which is all that can touch.

    Parameters
    ----------
    box : Frame, Node or body
        Its origin is the centre of the box, its axes are those of the box.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the box may be.
    size : (3,) > 0 [m]
        Edge lengths of the box along the axes of its frame.
    rounding : float ≥ 0, optional [m]
        Radius of edges and corners; faces stay where they are. 0 makes sharp corners.
    planar : {"x", "y", "z"}, optional
        Axis of the box across which its motion is guided (``fixed=`` of the body): four corners, in the middle of it.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane, see `SphereOnPlane`. Default: three times the longest edge
        for planes on the ground.
    name : str, optional
        The contacts are called "name 1" to "name 8": from − to + along x first, then y, then z.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, tangential_restitution, stribeck_speed,
        stribeck_exponent: see `Contact`.

    Attributes
    ----------
    elements : list of the contacts

    Raises
    ------
    ParameterError
        Size not positive, rounding that leaves nothing of it, a common node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, box = Model(), RigidBody.box(1.0, [0.3, 0.2, 0.1], position=[0, 0, 0.05], name="box")
    >>> floor = model.add(BoxOnPlane(box, model.ground, size=[0.3, 0.2, 0.1], friction=0.3, name="floor"))
    >>> floor.elements[7].name
    'floor 8'
    """

    def __init__(
        self,
        box: FrameLike,
        plane: FrameLike,
        *,
        size: ArrayLike,
        rounding: float = 0.0,
        planar: str | None = None,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        rounding = self.positive("rounding", rounding, "m", allow_zero=True)
        lengths, corners = self._outline(box, "size", size, rounding, planar)
        frame = self.as_frame("plane", plane)
        if drawn_size is None:
            drawn_size = 3.0 * lengths.max() if isinstance(frame.node, Ground) else 0.0
        self.elements = [
            SphereOnPlane(
                corner, frame, radius=rounding, drawn_size=0.0 if k else drawn_size, name=self._name(k + 1), **law
            )
            for k, corner in enumerate(corners)
        ]


class BoxOnBox(_BoxContact):
    """Two boxes that can touch: as hulls, with corners and edges, or the corners of each against the other alone.

    Parameters
    ----------
    box_A, box_B : Frame, Node or body
        Their origins are the centres of the boxes, their axes those of the boxes.
    size_A, size_B : (3,) > 0 [m]
        Edge lengths of the boxes along the axes of their frames.
    rounding : float > 0 [m]
        Radius of edges and corners of both; faces stay where they are. A few per cent of the smallest edge length:
        corners must not cross each other's core within one step, keep speed times step size below it.
    edges : bool
        Whether edges can touch edges: the boxes are then hulls, `HullOnHull`, with 24 contacts. Without them boxes
        whose edges meet crosswise pass through each other; leave them out where that cannot happen (a box that stands
        on another).
    planar : {"x", "y", "z"}, optional
        Axis of both boxes across which their motion is guided (``fixed=`` of the bodies): four corners each, in the
        middle of it, no edges.
    name : str, optional
        With edges contacts are called "name 1" to "name 24"; which is which changes in a run. Without, "name A1" …
        (corners of A on B), "name B1" … (corners of B on A): from − to + along x first, then y, then z.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, tangential_restitution, stribeck_speed,
        stribeck_exponent: see `Contact`.

    Attributes
    ----------
    elements : list of the contacts

    Raises
    ------
    ParameterError
        Sizes not positive, rounding not positive or too large, a common node, coefficients out of range.

    Notes
    -----
    Boxes that lie on each other touch with several redundant contacts; their multipliers are shared, see
    :doc:`redundant contacts </howto/redundant>`.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> low = RigidBody.box(1.0, [0.3, 0.3, 0.1], position=[0, 0, 0.05], name="low")
    >>> high = RigidBody.box(1.0, [0.2, 0.2, 0.1], position=[0, 0, 0.15], name="high")
    >>> sizes = {"size_A": [0.2, 0.2, 0.1], "size_B": [0.3, 0.3, 0.1]}
    >>> pair = BoxOnBox(high, low, **sizes, rounding=2e-3, edges=False, friction=0.3, name="pair")
    >>> pair.elements[0].name, len(pair.elements)
    ('pair A1', 16)
    """

    def __init__(
        self,
        box_A: FrameLike,
        box_B: FrameLike,
        *,
        size_A: ArrayLike,
        size_B: ArrayLike,
        rounding: float,
        edges: bool = True,
        planar: str | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        rounding = self.positive("rounding", rounding, "m")
        size_A, corners_A = self._outline(box_A, "size_A", size_A, rounding, planar)
        size_B, corners_B = self._outline(box_B, "size_B", size_B, rounding, planar)
        frame_A, frame_B = self.as_frame("box_A", box_A), self.as_frame("box_B", box_B)
        self.check(frame_A.node is not frame_B.node, "box_B", frame_B, "is on the same node as box_A")
        if self.as_flag("edges", edges) and planar is None:
            halves = zip("AB", (size_A, size_B))
            points: Any = {f"points_{letter}": 0.5 * np.asarray(size) * _CORNERS for letter, size in halves}
            hulls = HullOnHull(frame_A, frame_B, **points, rounding=rounding, name=name, **law)
            self.elements: list[Any] = hulls.elements
            return
        self.elements = []
        for letter, corners, other, size in (("A", corners_A, box_B, size_B), ("B", corners_B, box_A, size_A)):
            for k, corner in enumerate(corners):
                options = {
                    "radius": rounding,
                    "rounding": rounding,
                    "size": size,
                    "name": self._name(f"{letter}{k + 1}"),
                }
                self.elements.append(SphereOnBox(corner, other, drawn=False, **options, **law))
