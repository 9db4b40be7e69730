"""Contact groups: shapes on any number of bodies that touch each other and obstacles, pairs found while they move.

A pair becomes a contact of the ordinary element type (`SphereOnSphere`, or the type of the obstacle) while its gap is
below a margin, the *skin*; pairs are found anew when anything has moved by half of it, so that none is missed
(`fem_mbs.system.pairs`, `fem_mbs.system.broad_phase`). The law of each pair comes from a table of materials. Groups
with capsules, boxes and hulls are solved by the Gauss-Seidel solver only (`fem_mbs.solvers.granular`).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike, Keywords
from fem_mbs.arguments.spelling import meant
from fem_mbs.distance.group_shapes import GroupShape
from fem_mbs.element.base import Part
from fem_mbs.element.contact import Contact
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.bodies.spheres import make_frames, make_spheres, numbers, rows
from fem_mbs.elements.contacts.groups.hull_mass import mass_difference
from fem_mbs.elements.contacts.groups.materials import MaterialTable
from fem_mbs.elements.contacts.hulls.hull_points import hull_of, points_of, rounded_hull
from fem_mbs.elements.contacts.shapes.capsule import CapsuleContact
from fem_mbs.elements.contacts.shapes.shape_contact import SphereShapeContact
from fem_mbs.elements.contacts.shapes.sphere_cylinder import SphereInCylinder, SphereOnCylinder
from fem_mbs.elements.contacts.shapes.sphere_plane import SphereOnPlane
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereOnSphere
from fem_mbs.errors import ParameterError, label
from fem_mbs.mesh.decomposition import ConvexParts, convex_parts
from fem_mbs.nodes import Frame, Node, Node6, motions
from fem_mbs.rotations import frame_with_axis
from fem_mbs.system.contacts import LAW
from fem_mbs.system.speed_pieces import NO_PIECES, table_of_pieces

COEFFICIENTS = Keywords.of(Contact) - {"nodes", "name"}
INSTEAD = {
    SphereOnSphere: "put a sphere on the body (or on model.ground.frame(…)) with group.sphere(body, radius)",
    CapsuleContact: "use SphereOnCylinder with its length, on a frame whose z axis is the axis of the capsule",
}
TINY = 1e-30  # m: a sphere that fits into any hollow


def _contact(kind, frame, geometry, radius):
    """Contact of a sphere with an obstacle."""
    return kind(Node6(name="a sphere"), frame, radius=radius, **geometry)


class ContactGroup(Part):
    """Spheres, capsules, boxes and hulls that can touch each other and obstacles.

    Parameters
    ----------
    materials : MaterialTable or dict, optional
        Laws by pairs of materials. Without it all pairs have ``law``.
    skin : float > 0, optional [m]
        Pairs with a smaller gap are evaluated. Larger: fewer searches, more pairs. Default: 0.3 of the mean radius
        (half thickness).
    name : str, optional
    **law
        restitution, friction, … of all pairs (see `Contact`) when there is no table.

    Raises
    ------
    ParameterError
        Both a table and a law, unknown coefficients, sizes that are not positive, a shape given twice (same place on
        the same body, same size), a material that the table does not name, capsules, boxes or hulls where they cannot
        be solved (docs/howto/many_bodies.md).

    Notes
    -----
    Pairs on one body never touch. Contacts of a group are solved by the Gauss-Seidel solver or by the assembled
    contact-problem solver (docs/theory/contact_groups.md, choice of the solver).
    ``result.pairs(k)`` lists the closed ones of a saved step.

    Materials that are named have to occur in the table, which else would give misspelt ones the law of "*". Spheres and
    obstacles without a name have that law; a table of ("*", "*") alone takes any name.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model = Model("three balls", gravity=[0, 0, -9.81])
    >>> balls = [RigidBody.sphere(0.1, 0.02, position=[0.05 * i, 0, 0.1], name=f"ball {i}") for i in range(3)]
    >>> group = ContactGroup(friction=0.3, name="balls")
    >>> for ball in balls:
    ...     group.sphere(ball, 0.02)
    >>> group.obstacle(SphereOnPlane, model.ground.frame())
    >>> model.add(*balls, group)[-1]
    ContactGroup 'balls': 3 bodies, 1 obstacles
    """

    role = "contact group"
    options_of = Contact

    def __init__(
        self,
        *,
        materials: MaterialTable | dict | None = None,
        skin: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        if materials is not None and law:
            raise ParameterError(self, "materials", materials, f"and a law ({', '.join(law)}) exclude each other")
        if law:
            self._check_law(law)
        table = materials if materials is not None else {("*", "*"): law}
        self.materials = table if isinstance(table, MaterialTable) else MaterialTable(table)
        self.skin = None if skin is None else self.positive("skin", skin, "m")
        self.shapes = []  # GroupShape
        self._numbers: dict[Node, tuple[int, ...]] = {}  # of the shapes on each node
        self.frames, self.radii, self.sphere_materials = [], [], []  # of their corners: a sphere is its own
        self.obstacles = []  # (contact type, frame, options, material)
        self.excluded = set()

    def _check_law(self, law):
        """Raise an error for invalid coefficients, in the name of the group."""
        try:
            Contact((), **law)
        except ParameterError as error:
            raise ParameterError(self, error.parameter, error.value, error.reason) from None

    @Keywords.known
    def sphere(self, body: FrameLike, radius: float, material: str = "") -> None:
        """Put a sphere on a body (frame or node; its origin is the centre), radius [m] > 0."""
        self._add("sphere", self.as_frame("body", body), np.zeros(3), self.positive("radius", radius, "m"), material)

    @Keywords.known
    def spheres(
        self,
        positions: ArrayLike,
        radii: ArrayLike,
        *,
        density: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        velocity: ArrayLike = (0, 0, 0),
        angular_velocity: ArrayLike = (0, 0, 0),
        material: str = "",
        **drawn: Any,
    ) -> list[RigidBody]:
        """Make many homogeneous spheres, free bodies, and put each into the group; ``model.add(…)`` the bodies.

        The same as `RigidBody.sphere` and `sphere` for one after the other, several times as fast.

        Parameters
        ----------
        positions : (n, 3) [m], inertial axes
        radii : (n,), or one for all, > 0 [m]
        density : (n,), or one for all, > 0 [kg/m³]
        mass : the same [kg]; give one of the two
        velocity, angular_velocity : (n, 3), or one (3,) for all [m/s], [rad/s], inertial axes
        material : str, of all
        **drawn : color, resolution, … of the drawn `Sphere`

        Returns
        -------
        list of n `RigidBody`, in the order of the positions

        Raises
        ------
        ParameterError
            Arrays that do not fit each other, values that are not positive or not finite, both or none of density and
            mass.

        Examples
        --------
        >>> import numpy as np
        >>> from fem_mbs import Model
        >>> model, group = Model("particles"), ContactGroup(friction=0.3)
        >>> centers = 0.05 * np.stack(np.indices((10, 10, 10)), axis=-1).reshape(-1, 3)
        >>> particles = group.spheres(centers, 0.02, density=2500.0)
        >>> added = model.add(particles, group)
        """
        places = self.as_array("positions", positions, (None, 3))
        n = len(places)
        sizes = numbers(self, "radii", radii, "m", n)
        if density is not None and mass is None:
            masses = numbers(self, "density", density, "kg/m³", n) * (4.0 / 3.0 * np.pi * sizes**3)
        elif mass is not None and density is None:
            masses = numbers(self, "mass", mass, "kg", n)
        else:
            raise ParameterError(self, "density", density, "or mass: give one of them, and not both")
        material = self._known(material)
        motion = rows(self, "velocity", velocity, n), rows(self, "angular_velocity", angular_velocity, n)
        bodies = make_spheres(places, sizes, masses, *motion, **drawn)
        point = np.zeros(3)
        for frame, radius in zip(make_frames(bodies), sizes.tolist()):
            self._take(GroupShape("sphere", frame, point, radius), material)
        return bodies

    @Keywords.known
    def capsule(
        self, body: FrameLike, radius: float, length: float, material: str = "", axis: ArrayLike = (0, 0, 1)
    ) -> None:
        """Put a capsule on a body: all that is within a radius of a segment.

        Parameters
        ----------
        body : Frame, Node or body; its origin is the centre of the capsule
        radius : float > 0 [m]
        length : float > 0 [m], of the axis, between the centres of the round ends
        material : str
        axis : (3,), in axes of the frame
        """
        frame = self.as_frame("body", body)
        radius, length = self.positive("radius", radius, "m"), self.positive("length", length, "m")
        turn = frame.rotation @ frame_with_axis(self.unit_vector("axis", axis))
        half = np.array([0.0, 0.0, 0.5 * length])
        self._add("capsule", Frame(frame.node, frame.p, turn, name=frame.name), half, radius, material)

    @Keywords.known
    def box(self, body: FrameLike, size: ArrayLike, rounding: float, material: str = "") -> None:
        """Put a box with rounded edges and corners on a body.

        Parameters
        ----------
        body : Frame, Node or body; its origin is the centre of the box, its axes are those of the box
        size : (3,) > 0 [m], edge lengths
        rounding : float > 0 [m]
            Radius of edges and corners, below half the smallest edge length; faces stay where they are. A few per cent
            of that length.
        material : str
        """
        frame, edges = self.as_frame("body", body), self.as_lengths("size", size)
        rounding = self.positive("rounding", rounding, "m")
        message = f"m must be below half the smallest edge length, {0.5 * edges.min():.6g} m"
        self.check(2 * rounding < edges.min(), "rounding", rounding, message)
        self._add("box", frame, 0.5 * edges - rounding, rounding, material)

    @Keywords.known
    def hull(self, body: FrameLike, points: Any, rounding: float, material: str = "") -> None:
        """Put the convex hull of points, with rounded edges and corners, on a body.

        Parameters
        ----------
        body : Frame, Node or body; points are in its axes, from its origin
            For a body of `RigidBody.from_mesh` and its mesh: ``body.mesh_frame``.
        points : (n, 3) [m], or a mesh: fem.Mesh, fem.shapes.Mesh, meshio.Mesh, path
            At most 256 corners. Points inside the hull, and on its faces, are left out.
        rounding : float > 0 [m]
            Radius of edges and corners, below that of the largest ball inside; a few per cent of it. Faces stay where
            they are; where more than three meet in a corner, to a few per cent of the rounding.
        material : str

        Raises
        ------
        ParameterError
            Fewer than four points, points in one plane, more than 256 corners, rounding that leaves nothing.
        """
        places = points_of(self, "points", points)
        core, center = rounded_hull(self, places, rounding)
        frame = self.as_frame("body", body)
        place = Frame(frame.node, frame.p + frame.rotation @ center, frame.rotation, name=frame.name)
        self._add("hull", place, np.zeros(3), float(rounding), material, core, hull_of(self, places).moved(-center))

    @Keywords.known
    def mesh(self, body: FrameLike, mesh: Any, rounding: float, material: str = "") -> ConvexParts:
        """Put a body that is not convex on a body, as hulls of its parts.

        Parameters
        ----------
        body : Frame, Node or body; the mesh is in its axes, from its origin
            For a body of `RigidBody.from_mesh` and its mesh: ``body.mesh_frame``.
        mesh : `ConvexParts`, list of parts, or a mesh
            Parts are what `hull` takes as points. A mesh is cut by `convex_parts`, which needs the package coacd; call
            that directly to set the resolution.
        rounding : float > 0 [m], of each part, see `hull`
        material : str

        Returns
        -------
        ConvexParts
            The parts, with their volume compared with that of the mesh.
        """
        parts = mesh if isinstance(mesh, ConvexParts) else convex_parts(mesh)
        for points in parts.parts:
            self.hull(body, points, rounding, material)
        return parts

    def _add(self, kind, frame, half, radius, material, hull=None, whole=None):
        """Check a shape and take it."""
        shape, material = GroupShape(kind, frame, half, radius, hull, whole), self._known(material)
        if kind != "sphere":
            for obstacle, place, geometry, _ in self.obstacles:
                self._refuse_obstacle(_contact(obstacle, place, geometry, TINY))
        self._take(shape, material)

    def _take(self, shape, material):
        """Take a shape, its corners, and its place, which is for one shape of its kind and size."""
        number, radius = len(self.shapes), shape.radius
        there = self._numbers.get(shape.frame.node, ())
        for before in (k for k in there if self.shapes[k].is_at(shape)):
            name = "rounding" if shape.kind in ("box", "hull") else "radius"
            message = f"m is at the place of {shape.kind} {before}, on the same body and of the same size; give it once"
            raise ParameterError(self, name, radius, message)
        self._numbers[shape.frame.node] = (*there, number)
        if number == 0:  # by which a model finds groups that were not added to it
            shape.frame.node._groups += (self,)
        self.shapes.append(shape)
        for corner in shape.corners:
            self.frames.append(corner)
            self.radii.append(radius)
            self.sphere_materials.append(material)

    @property
    def shaped(self) -> bool:
        """True if there are shapes other than spheres."""
        return len(self.frames) > len(self.shapes)

    def _refuse_obstacle(self, contact):
        """Raise an error for obstacles that capsules and boxes may touch elsewhere than at a few known points."""
        known = isinstance(contact, SphereOnPlane)
        if isinstance(contact, SphereShapeContact):
            known = contact.hollow or contact.solid is not None
        rims = isinstance(contact, (SphereOnCylinder, SphereInCylinder))
        ends = ": rims touch anywhere; remove its length, or" if rims else "; with these"
        message = (
            f"supports spheres only, not capsules, boxes and hulls{ends} use SphereOnPlane, SphereOnBox, "
            "SphereOnRectangle, SphereOnCylinder or SphereInCylinder without length, SphereInSphere, or put the "
            "obstacle into the group as a shape of a body with fixed=True"
        )
        self.check(known, "kind", type(contact).__name__, message)

    def solids(self, kind: type) -> list:
        """Second partners of a type as `GroupShape`, in the order of `kinds`; None for planes and hollows."""
        found = []
        for other, frame, geometry, _ in self.obstacles:
            if other is kind:
                solid = None if kind is SphereOnPlane else _contact(other, frame, geometry, TINY).solid
                found.append(solid if solid is None else GroupShape("box", frame, *solid))
        return found

    def refuse_pairwise(self, reason: str) -> None:
        """Raise an error, with the reason, where capsules and boxes would need the assembled solver."""
        if not self.shaped:
            return
        kind = next(shape.kind for shape in self.shapes if shape.kind != "sphere")
        message = (
            f"in the group is solved by the Gauss-Seidel solver only, which this run cannot use: {reason}. It "
            "supports free rigid bodies among obstacles, by contact_solver='auto' of DecoupledNSGA, "
            "ConeComplementarity, MoreauJean; for a few bodies use contact elements (HullOnPlane, HullOnHull, "
            "BoxOnPlane, BoxOnBox, CapsuleOnPlane, CapsuleOnCapsule, ...)"
        )
        raise ParameterError(self, "shape", kind, message)

    @Keywords.known
    def obstacle(self, kind: type, body: FrameLike, material: str = "", **geometry: Any) -> None:
        """Put an obstacle on a body or on the ground.

        Parameters
        ----------
        kind : contact type of a sphere with it: `SphereOnPlane`, `SphereOnBox`, `SphereInCylinder`, …
            With capsules and boxes: planes, boxes, rectangles, endless cylinders from out- and inside, hollow spheres.
        body : Frame, Node or body, second argument of ``kind``
        material : str
        **geometry : further arguments of ``kind`` (size, …), but for radius and law, and a ``name`` for messages and
            results. The law is that of the group: for obstacles that differ name materials, and give a table.

        Raises
        ------
        ParameterError
            A type that is no contact of a sphere with one frame, arguments that it does not have, a law.
        """
        self._refuse_kind(kind)
        frame = self.as_frame("body", body)
        self._known(material)
        for name in geometry.keys() & COEFFICIENTS:
            message = "belongs to pairs: give it to the group, or a material to the obstacle and a table to the group"
            raise ParameterError(self, name, geometry[name], message)
        if "radius" in geometry:
            raise ParameterError(self, "radius", geometry["radius"], "is that of spheres: group.sphere(body, radius)")
        if (name := geometry.pop("name", None)) is not None:
            frame = Frame(frame.node, frame.p, frame.rotation, name=self.as_text("name", name))
        contact = _contact(kind, frame, geometry, TINY)  # raises errors for wrong arguments
        if self.shaped:
            self._refuse_obstacle(contact)
        self.obstacles.append((kind, frame, geometry, material))

    def _refuse_kind(self, kind):
        """Raise an error, with alternatives, for types other than contacts of a sphere with an obstacle on one
        frame.
        """
        contact_type = isinstance(kind, type) and issubclass(kind, Contact)
        self.check(contact_type, "kind", kind, "is not a type of contact of a sphere, such as SphereOnPlane")
        for other, instead in INSTEAD.items():
            self.check(not issubclass(kind, other), "kind", kind, f"is no obstacle of a group; {instead}")

    def _known(self, material):
        """Name of a material, which has to be in a table that names materials; "" for one without a name."""
        names = self.materials.names
        known = self.as_text("material", material) in ("", "*", *names) or not names
        if not known:
            raise ParameterError(self, "material", material, f"is in no key of the table: {meant(material, names)}")
        return material

    @Keywords.known
    def exclude(self, first: FrameLike, second: FrameLike) -> None:
        """Exclude contacts of two bodies (nodes, frames); both have shapes or obstacles of the group."""
        frames = self.as_frame("first", first), self.as_frame("second", second)
        self.excluded.add(frozenset(frame.node for frame in frames))

    def mass_warnings(self) -> list[tuple[RigidBody, str]]:
        """Return bodies of hulls whose mass differs from that of these, with a text on the difference."""
        found = []
        for node, own in self._numbers.items():
            shapes, body = [self.shapes[k] for k in own], node.body
            if isinstance(body, RigidBody) and all(shape.hull is not None for shape in shapes):
                difference = mass_difference(body, shapes)
                if difference is not None:
                    found.append((body, difference))
        return found

    @property
    def nodes(self) -> list:
        """Nodes of all shapes and obstacles."""
        return [shape.frame.node for shape in self.shapes] + [frame.node for _, frame, _, _ in self.obstacles]

    def kinds(self) -> list:
        """Contact types of the group, with their prototypes.

        Returns
        -------
        list of (type, prototypes): one contact of a sphere with each second partner of that type. Spheres themselves
        come first, with one contact: they differ by centre and radius only (`PairSearch`).
        """
        if not self.frames:
            raise ParameterError(self, "spheres", 0, "in the group; put some in with group.sphere(body, radius)")
        known = set(self.nodes)
        for node in (node for pair in self.excluded for node in pair if node not in known):
            message = "has no shape and no obstacle of this group: give it one, or leave out exclude(…)"
            raise ParameterError(self, "exclude", node.name or node, message)
        sphere = SphereOnSphere(Node6(name="a sphere"), self.frames[0], radius_A=1.0, radius_B=self.radii[0])
        found, smallest = {SphereOnSphere: [sphere]}, min(self.radii)  # a prototype has to fit into its obstacle
        for kind, frame, geometry, _ in self.obstacles:
            found.setdefault(kind, []).append(_contact(kind, frame, geometry, smallest))
        return list(found.items())

    def seconds(self, kind: type) -> list:
        """Frames of the second partners of a type."""
        return (
            self.frames if kind is SphereOnSphere else [frame for other, frame, *_ in self.obstacles if other is kind]
        )

    def second_records(self, kind: type, prototypes: list) -> tuple[np.ndarray, np.ndarray]:
        """Parameters of contacts with the second partners of a type, from its entry in `kinds`.

        Returns
        -------
        records : (k,) parameters of a contact with each
        passages : (k,) `Contact.passage` of these [m]
        """
        count = len(self.frames) if kind is SphereOnSphere else len(prototypes)
        records = np.zeros(count, prototypes[0].parameters)
        if kind is SphereOnSphere:
            records[:] = prototypes[0].record
            records["p_BQ"], records["R_BQ"] = [f.p for f in self.frames], [f.rotation for f in self.frames]
            records["radius_B"] = self.radii
            return records, records["radius"] + records["radius_B"]
        for k, prototype in enumerate(prototypes):
            records[k] = prototype.record
        return records, np.array([prototype.passage for prototype in prototypes])

    def partners(self, kind: type) -> list:
        """Materials of the second partners of a type, in the order of `kinds`."""
        if kind is SphereOnSphere:
            return list(self.sphere_materials)
        return [material for other, _, _, material in self.obstacles if other is kind]

    def law_tables(self, names: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Laws of all pairs of materials that occur, for names (k,).

        Returns
        -------
        laws : (k, k) records `LAW`; NaN: none in the table
        restitutions, sliding : (k, k, ·) pieces of what depends on a speed, see `table_of_pieces`
        """
        k = len(names)
        laws, pieces = np.full((k, k), np.nan, LAW), [(NO_PIECES, NO_PIECES)] * (k * k)
        for i, first in enumerate(names):
            for j, second in enumerate(names):
                try:
                    contact = Contact((), name=self.name, **self.materials.law(first, second))
                except ParameterError as error:
                    if error.parameter != "law":
                        raise
                else:
                    laws[i, j], pieces[i * k + j] = contact.law, contact.pieces
        restitutions, sliding = (table_of_pieces(all_of).reshape(k, k, -1) for all_of in zip(*pieces))
        return laws, restitutions, sliding

    def picture(self) -> list:
        """Drawings of the obstacles; planes without a ``drawn_size`` are drawn as large as the group."""
        shapes, planes = [], any(kind is SphereOnPlane for kind, *_ in self.obstacles)
        extent = self._extent() if planes else 0.0
        for kind, frame, geometry, _ in self.obstacles:
            size = {"drawn_size": extent} if kind is SphereOnPlane else {}
            shapes += _contact(kind, frame, size | geometry, min(self.radii)).picture()
        return shapes

    def _extent(self):
        positions = motions([frame.node for frame in self.frames])[:, :3]
        return float(2.0 * np.ptp(positions, axis=0).max() + 10.0 * max(self.radii))

    def __repr__(self):
        return f"{label(self)}: {len(self.shapes)} bodies, {len(self.obstacles)} obstacles"
