"""Contact of a surface of a solid body with a plane, a sphere or a cylinder: every node of it is a point that touches.

Faces of quadratic cells are refused, unless asked for: their corners take −1/12 of the resultant of a uniform pressure
(quadrilaterals) or nothing of it (triangles), so that no set of forces ≥ 0 at the nodes is a uniform pressure.

Source: docs/theory/solids.md, section 9.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments import Checked, FrameLike
from fem_mbs.elements.base import Contact
from fem_mbs.elements.contacts.sphere_cylinder import SphereInCylinder, SphereOnCylinder
from fem_mbs.elements.contacts.sphere_plane import SphereOnPlane
from fem_mbs.elements.contacts.sphere_sphere import SphereOnSphere
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import places_of_faces

LINEAR = (3, 4)  # nodes of faces whose nodes all take a part > 0 of a uniform pressure


class SurfaceContacts(Checked):
    """Contact of the nodes of a surface of a solid with a plane, sphere or cylinder; ``model.add(contacts)`` adds it.

    The surface touches with its nodes alone: an obstacle that is smaller than a face may pass between them.

    Parameters
    ----------
    body : SolidBody
        Of `Hexa8`, `Tetra4` or `Wedge6`, see ``quadratic``.
    group : str or None
        Faces, or nodes of the boundary: then the faces all of whose nodes are in the group. None: the whole boundary.
    plane : Frame, Node or body, optional
        Contains its origin; its z axis is the normal and points to the side where the solid may be.
    sphere : Frame, Node or body, optional
        Instead of a plane: its origin is the centre of the sphere, which the solid stays outside of.
    cylinder : Frame, Node or body, optional
        Instead of a plane: its z axis is the axis of an infinite cylinder, which the solid stays outside of.
    radius : float > 0, optional [m]
        Of the sphere or cylinder.
    hollow : bool
        The solid is inside the cylinder: a bore, a drum.
    quadratic : bool
        Take faces of quadratic cells too. Their motion is right, forces of single nodes are not pressures, and corners
        may lift off where a pressure acts.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane, length of the cylinder; default: none is drawn.
    name : str, optional
        Contacts are called "name 0", "name 1", …
    **law
        restitution (0 by default: waves carry the impact), friction …, see `Contact`.

    Attributes
    ----------
    elements : list of SphereOnPlane, SphereOnSphere, SphereOnCylinder or SphereInCylinder
    nodes : list of Node3
        The node of each contact.

    Raises
    ------
    ParameterError
        No such group, no faces in it, faces that are not on the boundary of the body; quadratic faces; not one of
        plane, sphere and cylinder; a sphere or cylinder without a radius; ``hollow`` without a cylinder.

    Examples
    --------
    >>> from fem_mbs import Model, SolidMaterial, block_mesh
    >>> model = Model()
    >>> mesh = block_mesh([1, 1, 1], [2, 2, 2], cell="hexahedron")
    >>> block = SolidBody(mesh, SolidMaterial(1e6, 0.3, 1000.0), position=[0, 0, 0.5])
    >>> floor = SurfaceContacts(block, "z0", model.ground.frame(), friction=0.3, name="floor")
    >>> len(model.add(block, floor)[1].elements)
    9
    """

    def __init__(
        self,
        body: SolidBody,
        group: str | None,
        plane: FrameLike | None = None,
        *,
        sphere: FrameLike | None = None,
        cylinder: FrameLike | None = None,
        radius: float | None = None,
        hollow: bool = False,
        quadratic: bool = False,
        drawn_size: float = 0.0,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.body = self.as_instance("body", body, SolidBody, "a SolidBody")
        hollow = self.as_flag("hollow", hollow)
        self._one_obstacle(plane, sphere, cylinder, radius, hollow)
        allowed = self.as_flag("quadratic", quadratic)
        size = self.positive("drawn_size", drawn_size, "m", allow_zero=True)
        faces = places_of_faces(self, body, group)
        bad = 0 if allowed else sum(len(places) not in LINEAR for places in faces)
        message = (
            f"has {bad} faces of quadratic cells: at their corners a pressure has forces of the wrong sign or none. "
            "Take hexahedra of 8 nodes, or quadratic=True where single forces do not matter"
        )
        self.check(bad == 0, "group", group, message)
        self.nodes = [body.nodes[k] for k in np.unique(np.concatenate(faces))]
        self.elements: list[Contact] = []
        for k, node in enumerate(self.nodes):
            label = None if name is None else f"{name} {k}"
            drawn = size if k == 0 else 0.0
            if plane is not None:
                touch: Contact = SphereOnPlane(node, plane, radius=0.0, drawn_size=drawn, name=label, **law)
            elif sphere is not None:
                touch = SphereOnSphere(node, sphere, radius_A=0.0, radius_B=radius, name=label, **law)
            else:
                kind = SphereInCylinder if hollow else SphereOnCylinder
                shape = {"radius": 0.0, "radius_cylinder": radius, "drawn_length": drawn}
                touch = kind(node, cylinder, name=label, **shape, **law)
            self.elements.append(touch)

    def _one_obstacle(self, plane, sphere, cylinder, radius, hollow):
        given = [one for one in (plane, sphere, cylinder) if one is not None]
        self.check(len(given) == 1, "plane", plane, "or a sphere or a cylinder must be given, and not two of them")
        round_one, has = plane is None, radius is not None
        self.check(has == round_one, "radius", radius, "goes with a sphere or cylinder, and these need one")
        if has:
            self.positive("radius", radius, "m")
        self.check(cylinder is not None or not hollow, "hollow", hollow, "goes with a cylinder")
