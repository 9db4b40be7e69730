"""Points of a superelement between its frames, as nodes for contacts and loads there.

Every point is a node without mass that a constraint holds on its place of the deformed body. Contacts of nodes then act
on the body through it, exactly: the virtual work of a force on the node is that of the force on the body.

Source: docs/theory/superelements.md, section 7; kernels and equations: `surface_kernels`.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords
from fem_mbs.element.base import Constraint, Part, register
from fem_mbs.elements.superelements import surface_kernels as kernels
from fem_mbs.elements.superelements.data import FLOATING_FRAME, FRAME_SCRATCH, POINT, POINT_SCRATCH
from fem_mbs.elements.superelements.superelement import Superelement, example
from fem_mbs.errors import label
from fem_mbs.nodes import Node3, Node6
from fem_mbs.rotations import log

SAME = 1e-9  # of the largest: rows of points that others make up


class FloatingFrame(Constraint):
    """A node that moves with the floating frame of a superelement; `SuperelementSurface` makes it.

    Parameters
    ----------
    node : Node6
        Without mass; at the mean of the frames, turned as the body is.
    body : Superelement
    name : str, optional

    Raises
    ------
    ParameterError
        Not a node with a rotation; no superelement.
    """

    rows = 6
    parameters = FLOATING_FRAME.dtype
    scratch = ("_scratch",)
    kernels = {"constraint": kernels.floating, "hessian": kernels.floating_hessian}

    def __init__(self, node: Node6, body: Superelement, *, name: str | None = None) -> None:
        self.name = name
        self.as_instance("node", node, Node6, "a Node6")
        self.body = self.as_instance("body", body, Superelement, "a Superelement")
        super().__init__([node, *body.nodes[: body.places]], name=name)
        f, nn = body.floating, len(self.nodes)
        self._numbers = {"nn": nn, "radius": float(np.sqrt(f.b.sum()))}
        self._constants = {"a": f.a, "b": f.b, "V": f.arms}
        self._scratch = FLOATING_FRAME.arrays({"nd": 6 * nn}, FRAME_SCRATCH)
        self.place()

    def place(self) -> None:
        self.record = FLOATING_FRAME.values(self._numbers, self._constants | self._scratch)


class PointOfBody(Constraint):
    """A node on a point of a superelement; `SuperelementSurface` makes those of a surface.

    Parameters
    ----------
    node : Node3
        Without mass, at the point.
    floating : FloatingFrame
        Of the body.
    number : int
        Of the point among those of the reduction.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the body on the node, inertial axes

    Raises
    ------
    ParameterError
        No such point.
    """

    rows = 3
    parameters = POINT.dtype
    scratch = ("_scratch",)
    kernels = {"constraint": kernels.point, "hessian": kernels.point_hessian, "output": kernels.force_on_point}
    outputs = {"force": (3, "N")}

    def __init__(self, node: Node3, floating: FloatingFrame, number: int, *, name: str | None = None) -> None:
        self.name = name
        self.as_instance("node", node, Node3, "a Node3")
        self.as_instance("floating", floating, FloatingFrame, "a FloatingFrame")
        body, r = floating.body, floating.body.reduction
        number = self.as_integer("number", number, at_least=0)
        self.check(number < len(r.points), "number", number, f"must be less than {len(r.points)}, the number of points")
        super().__init__([node, floating.nodes[0], *body.nodes], name=name)
        self._numbers = {"nn": len(self.nodes), "modes": r.modes}
        self._constants = {
            "V": body.floating.arms,
            "arm": r.points[number] - r.positions[0],
            "basis": np.ascontiguousarray(r.basis[3 * number : 3 * number + 3]),
        }
        self._scratch = POINT.arrays({"nb": body.places, "nd": 6 * len(self.nodes)}, POINT_SCRATCH)
        self.places = 2 + body.places
        self.point_of = body, number  # of its output ``force``, see `element_checks`
        self.place()

    def place(self) -> None:
        self.record = POINT.values(self._numbers, self._constants | self._scratch)

    def regular(self, point: Any) -> bool:
        """True if no frame is turned so far from the floating frame that its rotation vector is not smooth."""
        turns = log(point.R[1].T @ point.R[2 : self.places])
        return bool(np.linalg.norm(turns, axis=-1).max() < 2.0)


class SuperelementSurface(Part):
    """A surface of a superelement, whose points can touch; ``model.add(surface)`` adds it, after the body.

    `SurfaceContacts` and `SurfaceOnSurface` take it as they take a `SolidBody`.

    Parameters
    ----------
    body : Superelement
    group : str or sequence of int, optional
        A group of faces, or of nodes of the boundary, of the mesh that was reduced; or numbers of points of the
        reduction. None: its whole boundary. Take no more than can touch: every point costs three unknowns and three
        equations.
    name : str, optional
        Its elements are called "name 0", "name 1", …

    Attributes
    ----------
    elements : list of FloatingFrame and PointOfBody
    nodes : list of Node3
        One for each point, without mass. Loads and springs may act on them too.
    points : (k,) int
        Their numbers among ``body.reduction.points``.

    Raises
    ------
    ParameterError
        No such group (lists those there are), or one without faces; numbers of points that are not there.

    Examples
    --------
    >>> from fem_mbs import Model, SolidMaterial, SurfaceContacts, block_mesh, reduce_mesh
    >>> rubber = SolidMaterial(1e7, 0.3, 1000.0)
    >>> made = reduce_mesh(block_mesh([1, 1, 1], [2, 2, 2], cell="hexahedron"), rubber, {"top": "z1"}, modes=23)
    >>> block = Superelement(made, position=[0, 0, 0.5], name="block")
    >>> foot = SuperelementSurface(block, "z0", name="foot")
    >>> model = Model()
    >>> floor = SurfaceContacts(foot, None, model.ground.frame(), friction=0.3)
    >>> len(model.add(block, foot, floor)[2].elements), round(floor.mass_shares["surface"], 2)
    (9, 0.38)
    """

    is_surface = True

    def __init__(self, body: Superelement, group: Any = None, *, name: str | None = None) -> None:
        self.name = name
        self.body = self.as_instance("body", body, Superelement, "a Superelement")
        self.points, self._triangles = self._chosen(group)
        r, first = body.reduction, body.nodes[0]
        x_0, R_0, velocity, spin = first.position, first.rotation, first.velocity, first.angular_velocity
        arms = (np.vstack([body.floating.mean, r.points[self.points]]) - r.positions[0]) @ R_0.T
        x, v = x_0 + arms, velocity + np.cross(spin, arms)
        frame = Node6(x[0], R_0, velocity=v[0], angular_velocity=spin, name=name and f"{name} floating frame")
        self.nodes = [Node3(x[k], velocity=v[k], name=name and f"{name} {k - 1}") for k in range(1, len(x))]
        for node in (frame, *self.nodes):
            node.body = self  # named in the error if the surface is not added
        floating = FloatingFrame(frame, body, name=name and f"{name} floating frame")
        self.elements: list[Constraint] = [floating]
        for k, (node, number) in enumerate(zip(self.nodes, self.points.tolist())):
            self.elements.append(PointOfBody(node, floating, number, name=name and f"{name} {k}"))

    def _chosen(self, group):
        """Numbers of points (k,), rising, and triangles (f, 3) of them, numbers of points."""
        r = self.body.reduction
        if group is None or isinstance(group, str):
            self.check(
                len(r.faces), "group", group, f"has no faces: {label(self.body)} is reduced from matrices {NONE}"
            )
            triangles = r.faces if group is None else r.faces[self._of_group(group)]
            return np.unique(triangles), triangles
        given = self.as_array("group", group, (None,))
        right = given.size and (given == np.floor(given)).all() and 0 <= given.min() and given.max() < len(r.points)
        message = f"must be the name of a group of the mesh, None, or numbers of points from 0 to {len(r.points) - 1}"
        self.check(right, "group", group, message)
        points = np.unique(given.astype(np.int64))
        return points, r.faces[np.isin(r.faces, points).all(axis=1)]

    def _of_group(self, group):
        groups = self.body.reduction.groups
        frames = f". '{group}' is a frame, whose origin touches by itself: SurfaceContacts(body, frame, …)"
        there = f"it has: {', '.join(sorted(groups)) or 'none'}{frames if group in self.body.reduction.frames else ''}"
        self.check(group in groups, "group", group, f"is no group with faces of the mesh that was reduced; {there}")
        return groups[group]

    def faces_of(self, owner: Checked, group: str | None) -> list[np.ndarray]:
        """Places (3,) in `nodes` of the triangles of a group, as seen from outside of the body; None: of all.

        Raises
        ------
        ParameterError
            In the name of ``owner``: no such group, or faces that are not of this surface.
        """
        triangles = self._triangles if group is None else self.body.reduction.faces[self._of_group(group)]
        owner.check(len(triangles), "group", group, f"{label(self)} has no faces: it was made of single points")
        inside = np.isin(triangles, self.points).all()
        owner.check(inside, "group", group, f"is not all of it in {label(self)}; make the surface of it, or give None")
        return list(np.searchsorted(self.points, triangles))

    @property
    def has_faces(self) -> bool:
        """True if its points have faces between them; single points have none."""
        return len(self._triangles) > 0

    def places_that_touch(self, owner: Checked, group: str | None) -> np.ndarray:
        """Places (k,) in `nodes` of the points of a group; None: of all."""
        if group is None:
            return np.arange(len(self.nodes))
        return np.unique(np.concatenate(self.faces_of(owner, group)))

    @Keywords.known
    def mass_share(self, places: ArrayLike | None = None, direction: ArrayLike | None = None) -> float:
        """m_eff/M of an impact with restitution 0 on points that all stop at once: the share of the energy that it
        takes.

        Parameters
        ----------
        places : (k,) int, optional
            Places in `nodes` of the points; None: all.
        direction : (3,), optional
            In which the body flies and the points stop, its own axes. None: the worst of these axes.

        Raises
        ------
        ParameterError
            Places that are not there.
        """
        r, most = self.body.reduction, len(self.nodes)
        given = self.as_array("places", np.arange(most) if places is None else places, (None,))
        right = given.size and (given == np.floor(given)).all() and 0 <= given.min() and given.max() < most
        self.check(right, "places", places, f"must be numbers from 0 to {most - 1}")
        places = given.astype(np.int64)
        rows = r.basis.reshape(len(r.points), 3, -1)[self.points[places]]
        half, shares = np.linalg.cholesky(r.M), []
        for e in np.eye(3) if direction is None else [self.unit_vector("direction", direction)]:
            stopped = np.linalg.solve(half, np.einsum("i,kin->nk", e, rows))  # motions of the points, in units of √M
            U, sizes, _ = np.linalg.svd(stopped, full_matrices=False)
            U = U[:, sizes > SAME * sizes[0]]
            flight = half.T @ r.rigid_motions()[:, :3] @ e
            shares.append(float(np.sum((U.T @ flight) ** 2) / (flight @ flight)))
        return max(shares)

    def __repr__(self) -> str:
        return f"{label(self)}: {len(self.nodes)} points of {label(self.body)}"


NONE = "(faces= of reduce_matrices defines them); or give numbers of points"


def _example_of_frame(rng):
    body = example(rng)
    return FloatingFrame(Node6(rng.normal(size=3), rng.normal(size=3)), body)


def _example_of_point(rng):
    body = example(rng)
    frame = FloatingFrame(Node6(rng.normal(size=3), rng.normal(size=3)), body)
    # between the frames: of a point on one the others have no part, and what differences leave of 0 is round-off
    return PointOfBody(Node3(rng.normal(size=3)), frame, int(rng.integers(9, 12)))


register(FloatingFrame, example=_example_of_frame)
register(PointOfBody, example=_example_of_point)
