"""Convex hulls that touch a plane: a contact at each corner, for bodies with joints and springs, for all time steppers.

A hull whose edges and corners are rounded off by ρ is all that is within ρ of its core (`fem_mbs.mesh.polyhedra`). On a
plane only corners can touch, since the height above it is linear along edges and faces:

    gap = min over corners c of  n·(c − o) − ρ                                                                      (1)

Each corner is a sphere of radius ρ, a separate `SphereOnPlane`.

Source: docs/theory/hulls.md, (2).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Part
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.hulls.hull_points import hull_of, points_of, rounded_hull
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.nodes import Frame, Ground


class HullOnPlane(Part):
    """The convex hull of points on a body, which can touch a plane: a `SphereOnPlane` contact at each corner.

    Parameters
    ----------
    hull : Frame, Node or body; points are in its axes, from its origin
        For a body of `RigidBody.from_mesh` and its mesh: ``body.mesh_frame``.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the hull may be.
    points : (n, 3) [m], or a mesh: fem.Mesh, fem.shapes.Mesh, meshio.Mesh, path
        At most 256 corners. Points inside the hull, and on its faces, are left out.
    rounding : float ≥ 0, optional [m]
        Radius of edges and corners; faces stay where they are. 0 makes sharp corners.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane, see `SphereOnPlane`. Default: three times the extent of
        the hull for planes on the ground.
    name : str, optional
        The contacts are called "name 1", "name 2", … in the order of the corners.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, tangential_restitution, stribeck_speed,
        stribeck_exponent: see `Contact`.

    Attributes
    ----------
    elements : list of the contacts

    Raises
    ------
    ParameterError
        Fewer than four points, points in one plane, more than 256 corners, rounding that leaves nothing, a common node,
        coefficients out of range.

    Notes
    -----
    A face that lies on the plane has a contact at each of its corners; their multipliers are shared, see
    :doc:`redundant contacts </howto/redundant>`. Hulls that touch each other: `HullOnHull`, and `ContactGroup.hull` for
    many free bodies.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, body = Model(), RigidBody(1.0, 0.01, position=[0, 0, 0.1], name="wedge")
    >>> points = [[-0.1, -0.1, -0.1], [0.2, -0.1, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, 0.2]]
    >>> floor = model.add(HullOnPlane(body, model.ground, points=points, friction=0.3, name="floor"))
    >>> [contact.name for contact in floor.elements]
    ['floor 1', 'floor 2', 'floor 3', 'floor 4']
    """

    options_of = Contact

    def __init__(
        self,
        hull: FrameLike,
        plane: FrameLike,
        *,
        points: Any,
        rounding: float = 0.0,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        frame, ground = self.as_frame("hull", hull), self.as_frame("plane", plane)
        rounding, places = self.positive("rounding", rounding, "m", allow_zero=True), points_of(self, "points", points)
        if rounding > 0.0:
            core, center = rounded_hull(self, places, rounding)
            corners = core.points + center
        else:
            corners = hull_of(self, places).points
        if drawn_size is None:
            drawn_size = 3.0 * float(np.ptp(corners, axis=0).max()) if isinstance(ground.node, Ground) else 0.0
        self.elements = [
            SphereOnPlane(
                Frame(frame.node, place, frame.rotation),
                ground,
                radius=rounding,
                drawn_size=0.0 if k else drawn_size,
                name=None if name is None else f"{name} {k + 1}",
                **law,
            )
            for k, place in enumerate(frame.p + corners @ frame.rotation.T)
        ]
