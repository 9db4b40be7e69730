"""Contact of a surface of a flexible body with a plane, sphere, cylinder or box: every node is a point that touches.

Of a reduced body (`Superelement`) boundary frames touch with their origins. What lies between them has no nodes:
`SuperelementSurface` makes them. Of a shell points of its skin touch, at the top and the bottom of its nodes
(`shells.skin`).

Faces of quadratic cells raise an error, unless requested: their corners take −1/12 of the resultant of a uniform
pressure
(quadrilaterals) or nothing of it (triangles), so that no set of forces ≥ 0 at the nodes is a uniform pressure.

Source: docs/theory/solids.md, section 9.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, FrameLike
from fem_mbs.element.contact import Contact
from fem_mbs.element.speed_laws import largest, restitution_of
from fem_mbs.elements.contacts.faces.holes import gaps_along, holes, tell_small_obstacle
from fem_mbs.elements.contacts.shapes.sphere_box import SphereOnBox
from fem_mbs.elements.contacts.shapes.sphere_cylinder import SphereInCylinder, SphereOnCylinder
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereOnSphere
from fem_mbs.elements.shells.body import ShellBody
from fem_mbs.elements.shells.skin import SIDES, skin, tell_far_side
from fem_mbs.elements.solids.between_nodes import BetweenNodes, between_nodes
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import normals_of_faces, places_of_faces, tell_far_faces
from fem_mbs.elements.superelements.superelement import Superelement
from fem_mbs.elements.superelements.surface import SuperelementSurface
from fem_mbs.errors import Warnings, label

MUCH = 0.5  # share of the energy that an impact may take without a warning
LINEAR = (3, 4)  # nodes of faces whose nodes all take a part > 0 of a uniform pressure


class SurfaceContacts(Checked):
    """Contact of the nodes of a surface with a plane, sphere, cylinder or box; ``model.add(contacts)`` adds it.

    The surface touches with its nodes alone: an obstacle that is smaller than a face may pass between them. Where it
    would at the faces that are nearest at the start, a warning is issued. A run reports obstacles that are deep between
    nodes of linear faces (0.2 of the radius, or of half the shortest edge of a box).

    Parameters
    ----------
    body : SolidBody, ShellBody, SuperelementSurface or Superelement
        Of `Hexa8`, `Tetra4` or `Wedge6`, see ``quadratic``. A shell touches with its outer faces, half the thickness
        from its nodes. A superelement by itself touches with its boundary frames.
    group : str or None
        Faces, or nodes of the boundary: then the faces all of whose nodes are in the group. None: the whole boundary.
        Of a shell cells, or nodes, as those of an edge; None: all. Of the surface of a superelement None, all its
        points, or a part of it. Of a superelement a name of a frame, or a list of names; None: all frames.
    plane : Frame, Node or body, optional
        Contains its origin; its z axis is the normal and points to the side where the solid may be.
    sphere : Frame, Node or body, optional
        Instead of a plane: its origin is the centre of the sphere, which the solid stays outside of.
    cylinder : Frame, Node or body, optional
        Instead of a plane: its z axis is the axis of an infinite cylinder, which the solid stays outside of.
    box : Frame, Node or body, optional
        Instead of a plane: its origin is the centre, its axes are those of the box, which the solid stays outside of.
    radius : float > 0, optional [m]
        Of the sphere or cylinder, and of the edges of the box: a point has no normal on a sharp edge.
    size : (3,) > 0, optional [m]
        Edge lengths of the box.
    hollow : bool
        The solid is inside the cylinder: a bore, a drum.
    quadratic : bool
        Take faces of quadratic cells too. Their motion is right, forces of single nodes are not pressures, and corners
        may lift off where a pressure acts.
    side : {"top", "bottom", "both"}, optional
        Of a shell: which faces touch; the top is where its normals point. Default: both, a node has two contacts then.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane, length of the cylinder; default: none is drawn.
    name : str, optional
        Contacts are called "name 0", "name 1", …
    **law
        restitution (0 by default: waves carry the impact), friction …, see `Contact`.

    Attributes
    ----------
    elements : list of SphereOnPlane, SphereOnSphere, SphereOnCylinder, SphereInCylinder or SphereOnBox
    nodes : list of Node
        The node of each contact.
    mass_shares : dict
        Of a superelement: name of a frame -> m_eff/M, the largest over directions: the share of the energy of the body
        that an impact there takes, with restitution 0. A body without modes loses all, and needs a restitution; one
        with many loses little. See `Reduction.effective_mass`. Of a surface "surface" -> the share of an impact on
        all of its points at once, along the normal of the plane at the start.

    Raises
    ------
    ParameterError
        No such group, no faces in it, faces that are not on the boundary of the body; quadratic faces; not one of
        plane, sphere, cylinder and box; one of these without its radius and size; ``hollow`` without a cylinder; a
        surface of a superelement that is no frame; ``side`` of a body that is no shell; folds of shells sharper than
        120°.

    Warns
    -----
    UserWarning
        A side of a shell, or faces of a body, that look away from the obstacle. An obstacle that fits between the nodes
        of the nearest faces, or sinks in there by half of its radius. An impact on all points of the surface of
        a superelement that would take more than half of its energy.

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
        body: SolidBody | ShellBody | SuperelementSurface | Superelement,
        group: Any,
        plane: FrameLike | None = None,
        *,
        sphere: FrameLike | None = None,
        cylinder: FrameLike | None = None,
        box: FrameLike | None = None,
        radius: float | None = None,
        size: ArrayLike | None = None,
        hollow: bool = False,
        quadratic: bool = False,
        side: str | None = None,
        drawn_size: float = 0.0,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        what = (
            "a SolidBody, a ShellBody, or a Superelement or its SuperelementSurface. A RigidBody touches by its form: "
            "HullOnPlane, BoxOnPlane …"
        )
        self.body = self.as_instance("body", body, (SolidBody, ShellBody, SuperelementSurface, Superelement), what)
        known = group is None or isinstance(group, (str, list, tuple))
        self.check(known, "group", group, "must be a name of a group, or None; an obstacle comes after it")
        self.check(side is None or isinstance(body, ShellBody), "side", side, "is for shells, which have two")
        hollow = self.as_flag("hollow", hollow)
        self._one_obstacle(plane, sphere, cylinder, box, radius, size, hollow)
        allowed = self.as_flag("quadratic", quadratic)
        drawn = self.positive("drawn_size", drawn_size, "m", allow_zero=True)
        self.mass_shares: dict[str, float] = {}
        faces: list[np.ndarray] = []
        self.between: BetweenNodes | None = None  # looked at in runs
        if isinstance(body, ShellBody):
            points: list[Any] = self._skin(group, side)
            some = group is None or set(body.cells) & set(body.mesh.group(group))  # else nodes alone, as of an edge
            faces = body.faces_of(self, group) if some else []
            x = np.array([point.position for point in points])
            ways = self._ways(x, plane, sphere, cylinder, box, size, hollow)
            tell_far_side(self, "side", side, points, ways)
        elif isinstance(body, SuperelementSurface):
            points = self._points(group, plane, largest(restitution_of(self, law.get("restitution", 0.0))))
            faces = body.faces_of(self, group) if body.has_faces else []
        elif isinstance(body, Superelement):
            points = self._frames(group)
        else:
            faces = self._surface(group, allowed)
            points = [body.nodes[k] for k in np.unique(np.concatenate(faces))]
        if faces:
            x = np.array([node.position for node in body.nodes])
            middles, normals = normals_of_faces(x, faces)
            ways = self._ways(middles, plane, sphere, cylinder, box, size, hollow)
            if not isinstance(body, ShellBody):  # a warning about its side has been issued
                tell_far_faces(self, label(body) if group is None else f"group = {group!r}", normals, ways)
            kind, obstacle, small = "", None, False
            if sphere is not None:
                kind, obstacle = "sphere", sphere
                small = tell_small_obstacle(self, "radius", float(radius or 0.0), ways, holes(x, faces))
            elif cylinder is not None and not hollow:
                kind, obstacle = "cylinder", cylinder
                between = gaps_along(x, faces, normals, self.as_frame("cylinder", cylinder).orientation[:, 2])
                small = tell_small_obstacle(self, "radius", float(radius or 0.0), ways, between)
            elif box is not None:
                kind, obstacle = "box", box
                small = self._warn_of_small_box(x, faces, normals, ways, box, size)
            if obstacle is not None and not small:  # else the warning has been issued
                self.between = between_nodes(body, faces, kind, self.as_frame(kind, obstacle), radius, size)
        self.nodes: list[Any] = [self.as_frame("group", point).node for point in points]
        self.elements: list[Contact] = []
        for k, node in enumerate(points):
            name_k = None if name is None else f"{name} {k}"
            length = drawn if k == 0 else 0.0
            if plane is not None:
                touch: Contact = SphereOnPlane(node, plane, radius=0.0, drawn_size=length, name=name_k, **law)
            elif sphere is not None:
                shape: dict[str, Any] = {"radius_A": 0.0, "radius_B": radius}
                touch = SphereOnSphere(node, sphere, name=name_k, **shape, **law)
            elif box is not None:
                shape = {"size": size, "rounding": radius, "drawn": None if k == 0 else False}
                touch = SphereOnBox(node, box, radius=0.0, name=name_k, **shape, **law)
            else:
                made: Any = SphereInCylinder if hollow else SphereOnCylinder
                shape = {"radius": 0.0, "radius_cylinder": radius, "drawn_length": length}
                touch = made(node, cylinder, name=name_k, **shape, **law)
            self.elements.append(touch)
        if self.between is not None:
            self.elements[0]._surface = self

    def _warn_of_small_box(self, x, faces, normals, ways, box, size):
        """Warn about a box whose side that looks at the faces fits between their nodes x either way; True if it
        does.
        """
        looks = normals[np.linalg.norm(ways, axis=1).argmin()]
        short, long, axis = self._widths(box, size, looks)
        if tell_small_obstacle(self, "size", long, ways, holes(x, faces), flat=True):
            return True
        return tell_small_obstacle(self, "size", short, ways, gaps_along(x, faces, normals, axis), flat=True)

    def _points(self, group, plane, restitution):
        """Nodes of the surface of a superelement, and what share of the mass an impact on all of them meets."""
        surface, places = self.body, self.body.places_that_touch(self, group)
        flies = None
        if plane is not None:
            flies = surface.body.nodes[0].rotation.T @ self.as_frame("plane", plane).orientation[:, 2]
        share = self.mass_shares["surface"] = surface.mass_share(places, flies)
        if share > MUCH and restitution == 0.0:
            Warnings.issue(
                f"{label(self)}: an impact on all of its {len(places)} points at once, with restitution 0, takes "
                f"{share:.0%} of the energy: {label(surface.body)} has too few modes ({surface.body.modes}) to spring "
                "back. Take more modes, fewer points, or a restitution"
            )
        return [surface.nodes[k] for k in places]

    def _surface(self, group, allowed):
        """Faces of a group of a solid, places of their nodes."""
        faces = places_of_faces(self, self.body, group)
        bad = 0 if allowed else sum(len(places) not in LINEAR for places in faces)
        message = (
            f"has {bad} faces of quadratic cells: at their corners a pressure has forces of the wrong sign or none. "
            "Take hexahedra of 8 nodes, or quadratic=True where single forces do not matter"
        )
        self.check(bad == 0, "group", group, message)
        return faces

    def _skin(self, group, side):
        """Points of one or both sides of a shell."""
        wanted = self.as_choice("side", "both" if side is None else side, (*SIDES, "both"))
        sides = SIDES if wanted == "both" else (wanted,)
        return [point for one in sides for point in skin(self, "group", self.body, group, one)[0]]

    def _ways(self, x, plane, sphere, cylinder, box, size, hollow):
        """Directions (n, 3) from the obstacle to points x (n, 3) at the start."""
        frame = self.as_frame("plane", next(one for one in (plane, sphere, cylinder, box) if one is not None))
        y = (x - frame.position) @ frame.orientation
        if plane is not None:
            y = np.tile([0.0, 0.0, 1.0], (len(y), 1))
        elif cylinder is not None:
            y = y * [1.0, 1.0, 0.0] * (-1.0 if hollow else 1.0)
        elif box is not None:
            half = 0.5 * self.as_vector("size", size)
            y = y - np.clip(y, -half, half)
        return y @ frame.orientation.T

    def _widths(self, box, size, normal):
        """Half edges of the side of a box that looks at a face with a normal (3,), short and long; axis of the long."""
        turned, edges = self.as_frame("box", box).orientation, self.as_vector("size", size)
        side = np.delete(np.arange(3), np.abs(normal @ turned).argmax())
        short, long = side[np.argsort(edges[side], kind="stable")]
        return 0.5 * float(edges[short]), 0.5 * float(edges[long]), turned[:, long]

    def _frames(self, group):
        """Nodes of frames of a superelement, and what share of the mass an impact on each meets."""
        reduction = self.body.reduction
        names = [group] if isinstance(group, str) else list(reduction.frames) if group is None else group
        right = isinstance(names, (list, tuple)) and len(names) > 0 and all(isinstance(one, str) for one in names)
        self.check(right, "group", group, "must be a name of a frame of the superelement, or a list of names")
        missing = [one for one in names if one not in reduction.frames]
        message = (
            f"has {', '.join(map(repr, missing))}, no frame of this superelement ({', '.join(reduction.frames)}). "
            "Points between frames have no nodes: give fem.SuperelementSurface(body, group of the mesh) instead of the "
            "body"
        )
        self.check(not missing, "group", group, message)
        numbers = [reduction.frame_number(one) for one in names]
        inverse = np.linalg.inv(reduction.M)
        for one, i in zip(names, numbers):
            light = np.linalg.eigvalsh(inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3])[0]
            self.mass_shares[one] = float(1.0 / light / reduction.mass)
        return [self.body.nodes[i] for i in numbers]

    def _one_obstacle(self, plane, sphere, cylinder, box, radius, size, hollow):
        given = [one for one in (plane, sphere, cylinder, box) if one is not None]
        self.check(len(given) == 1, "plane", plane, "or a sphere, cylinder or box must be given, and not two of them")
        round_one, has = plane is None, radius is not None
        message = "is required for a sphere, cylinder or box, and for these only"
        self.check(has == round_one, "radius", radius, message)
        if has:
            self.positive("radius", radius, "m")
        self.check((size is None) == (box is None), "size", size, "is required for a box, and for it only")
        self.check(cylinder is not None or not hollow, "hollow", hollow, "is for a cylinder only")

    def __repr__(self) -> str:
        shares = ", ".join(f"{one} {share:.2g}" for one, share in self.mass_shares.items())
        return f"{label(self)}: {len(self.elements)} contacts" + (f", m_eff/M: {shares}" if shares else "")
