"""Convex hulls that touch each other, for bodies with joints and springs, for all time steppers.

Of the pairs of features of two hulls - corners and cores, edges and edges - the nearest are contacts, as many as there
can be at two faces that lie on each other. Equations, symbols and source: `hull_pair_kernels`.

Source: docs/theory/hulls.md, (6)-(8).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.distance.hull_arrays import arrays_of
from fem_mbs.element.base import Part, register
from fem_mbs.element.contact import Contact
from fem_mbs.element.members import HasScratch
from fem_mbs.elements.contacts.hulls.hull_pair_kernels import (
    CROSSED,
    HIDDEN,
    HULLS,
    SCRATCH,
    TABLE,
    Hulls,
    accept,
    contact,
    contact_hessian,
    initial,
    nearest,
    trouble,
)
from fem_mbs.elements.contacts.hulls.hull_points import points_of, rounded_hull
from fem_mbs.elements.contacts.shapes.capsule import CapsuleOnCapsule
from fem_mbs.errors import label
from fem_mbs.mesh.polyhedra import Polyhedron
from fem_mbs.nodes import Frame
from fem_mbs.rotations import exp

SPARE = 3  # slots for each corner that two faces can have in common: corners and edges meet in one place


class _Pair(HasScratch):
    """Common data of the contacts of two hulls: polyhedra in axes of the nodes, and arrays for results.

    Attributes
    ----------
    frames : (Frame, Frame)
    slots : int, K
    arms : (2,) [m], from each node to the farthest point of its hull
    room : arrays in which kernels store results for each other
    """

    scratch = ("room",)

    def __init__(self, frames: tuple[Frame, Frame], cores: list[Polyhedron], radius: float) -> None:
        self.frames, self.radius = frames, radius
        self.arrays = arrays_of(cores)
        together = sum(max(map(len, core.rims())) for core in cores)
        self.slots = SPARE * together
        self.n_state = self.slots + 2
        first = self.arrays["first_edge"]
        self.room = TABLE.arrays(
            {"K": self.slots, "nv": len(self.arrays["corner"]), "m_B": first[2] - first[1]}, SCRATCH
        )
        self.room["pose"][:] = self.room["ahead_of"][:] = np.nan  # no pose is that of an answer yet
        self.centers = np.array([core.points.mean(axis=0) for core in cores])
        far = [np.linalg.norm(core.points - center, axis=1).max() for core, center in zip(cores, self.centers)]
        self.bounds = np.array(far) + radius
        self.arms = np.array([np.linalg.norm(core.points, axis=1).max() for core in cores]) + radius
        along = [np.diff(core.points[core.edges], axis=1) for core in cores]
        self.longest = min(float(np.linalg.norm(edge, axis=2).max()) for edge in along)

    @property
    def hulls(self) -> Hulls:
        """Arrays as kernels take them."""
        return Hulls(*(self.arrays[name] for name in HULLS))

    def record(self, slot: int) -> tuple:
        """Values of the parameters for a slot."""
        spheres = {"center": self.centers, "bound": self.bounds, "arm": self.arms}
        numbers = {"nq": self.n_state, "slot": slot, "radius": self.radius}
        return TABLE.values(numbers, self.arrays | spheres | self.room)


class HullFeature(Contact):
    """One of the contacts of two hulls, `HullOnHull`: of a pair of features that is near in a step.

    Parameters
    ----------
    pair : common data of the contacts of two hulls
    slot : int, its number among them
    **law
        see `Contact`; name
    """

    parameters = TABLE.dtype
    kernels = {
        "contact": contact, "contact_hessian": contact_hessian, "initial": initial, "accept": accept,
        "trouble": trouble,
    }  # fmt: skip
    convex = True
    shorter_steps_help = True

    def __init__(self, pair: _Pair, slot: int, *, name: str | None = None, **law: Any) -> None:
        self.pair, self._slot, self.n_state = pair, slot, pair.n_state
        super().__init__([frame.node for frame in pair.frames], name=name, **law)
        self.place()

    @property
    def passage(self) -> float:
        return 2.0 * self.pair.radius

    @property
    def reach(self) -> float:
        return self.pair.longest + self.pair.radius

    def place(self) -> None:
        self.record = self.pair.record(self._slot)

    def feature_at(self, x: np.ndarray, R: np.ndarray, v: np.ndarray | None = None) -> tuple[int, int]:
        """Feature of the slot at a pose x (2, 3), R (2, 3, 3) as (corner, −1) or (edge of A, edge of B), at its first
        evaluation; with velocities v (12,), default 0.

        Corners of B follow those of A.
        """
        p, state = np.zeros(1, self.parameters), np.zeros(self.n_state)
        p[0] = self.record
        v = np.zeros(12) if v is None else np.ascontiguousarray(v)
        initial(p[0], np.ascontiguousarray(x), np.ascontiguousarray(R), v, 0.0, state)
        feature, q = int(state[self._slot]), self.pair.hulls
        corners, edges_B = int(q.first_corner[2]), int(q.first_edge[2] - q.first_edge[1])
        return (feature, -1) if feature < corners else divmod(feature - corners, edges_B)

    def regular(self, point: Any) -> bool:
        """True if the feature at a configuration of `fem_mbs.verify` is smooth near it."""
        first, second = self.feature_at(point.x, point.R, point.v)
        q, (A, B) = self.pair.hulls, self.nodes
        if second >= 0:
            ends: Any = [
                [node.frame(q.corner[q.first_corner[k] + i]) for i in q.end[q.first_edge[k] + e]]
                for k, (node, e) in enumerate(((A, first), (B, second)))
            ]
            capsules = CapsuleOnCapsule(*ends, radius_A=self.pair.radius, radius_B=self.pair.radius)
            # where edges cross, translations do not rotate the normal: blocks of 0, whose relative errors have no
            # meaning
            return capsules.regular(point) and not capsules.crosses(point.x, point.R)
        a = 0 if first < q.first_corner[1] else 1
        bends, normals = [], []
        near = 4e-3 * (point.size + self.pair.arms.max())  # differences rotate bodies too
        for x, R in ((point.x0, point.R0), (point.x, point.R)):
            y = R[1 - a].T @ (x[a] + R[a] @ q.corner[first] - x[1 - a])
            for step in near * np.vstack([np.zeros(3), np.eye(3), -np.eye(3)]):
                n, N = np.zeros(3), np.zeros((3, 3))
                if nearest(q, 1 - a, y + step, n, N) <= 0.0:
                    return False
                normals.append(n)
                bends.append(N)
        change = max(np.abs(bend - bends[7]).max() for bend in bends[7:])
        largest = max(np.abs(bend).max() for bend in bends[7:])
        return bool(normals[0] @ normals[7] > -0.85 and change <= 0.03 * largest)

    def trouble(self, state: Any) -> str:
        """Describe why the pose is invalid for the contacts of the pair."""
        p, own = np.zeros(1, self.parameters), np.zeros(self.n_state)
        p[0] = self.record
        x, R = (np.array([getattr(state, name)[node.index] for node in self.nodes]) for name in "xR")
        initial(p[0], x, R, np.zeros(12), 0.0, own)
        hulls, answer = " and ".join(label(node) for node in self.nodes), trouble(p[0], x, R, x, R, own)
        if answer == CROSSED:
            return (
                f"{label(self)}: the hulls of {hulls} go through each other, deeper than their rounding of "
                f"{self.pair.radius:.3g} m. Move them apart, or take smaller steps: edges must not pass through each "
                "other within one"
            )
        if answer == HIDDEN:
            return (
                f"{label(self)}: the hulls of {hulls} came to overlap where none of the {self.pair.slots} contacts "
                "is that they had in this step; take smaller steps"
            )
        return f"{label(self)}: the hulls of {hulls} went through each other within this step; take smaller steps"


class HullOnHull(Part):
    """The convex hulls of points on two bodies, which can touch each other anywhere: corners, edges and faces.

    Parameters
    ----------
    hull_A, hull_B : Frame, Node or body; points are in their axes, from their origins
        For a body of `RigidBody.from_mesh` and its mesh: ``body.mesh_frame``.
    points_A, points_B : (n, 3) [m], or a mesh: fem.Mesh, fem.shapes.Mesh, meshio.Mesh, path
        At most 256 corners each. Points inside the hull, and on its faces, are left out.
    rounding : float > 0 [m]
        Radius of edges and corners of both, below that of the largest ball inside; a few per cent of it. Faces stay
        where they are; where more than three meet in a corner, to a few per cent of the rounding. Corners must not
        cross the other core within one step: keep speed times step size below it.
    name : str, optional
        The contacts are called "name 1", "name 2", ….
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`. Impulses are those on the first hull.

    Attributes
    ----------
    elements : list of the contacts

    Raises
    ------
    ParameterError
        Fewer than four points, points in one plane, more than 256 corners, rounding that is not positive or leaves
        nothing, a common node, coefficients out of range.

    Notes
    -----
    There are three times as many contacts as the largest faces have corners together: 24 of two boxes, which have 160
    pairs of features. Each is of another pair, the nearest ones, chosen as a step ends. Which one that is changes in a
    run; ``result.resultant`` has the force of all. A step in which others come to overlap is rejected. Hulls that lie
    on each other touch with several redundant contacts; their multipliers are shared, see
    :doc:`redundant contacts </howto/redundant>`. Many free bodies: `ContactGroup.hull`.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> wedge = [[-0.1, -0.1, 0], [0.2, -0.1, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0.2]]
    >>> low = RigidBody(1.0, 0.01, name="low")
    >>> high = RigidBody(1.0, 0.01, position=[0, 0, 0.3], name="high")
    >>> pair = HullOnHull(high, low, points_A=wedge, points_B=wedge, rounding=2e-3, friction=0.3, name="pair")
    >>> pair.elements[0].name, len(pair.elements)
    ('pair 1', 18)
    """

    options_of = Contact

    def __init__(
        self,
        hull_A: FrameLike,
        hull_B: FrameLike,
        *,
        points_A: Any,
        points_B: Any,
        rounding: float,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        frames = self.as_frame("hull_A", hull_A), self.as_frame("hull_B", hull_B)
        self.check(frames[0].node is not frames[1].node, "hull_B", frames[1], "is on the same node as hull_A")
        rounding = self.positive("rounding", rounding, "m")
        cores = []
        for parameter, frame, points in zip(("points_A", "points_B"), frames, (points_A, points_B)):
            core, center = rounded_hull(self, points_of(self, parameter, points), rounding, parameter)
            cores.append(core.moved(frame.p + frame.rotation @ center, frame.rotation))
        pair = _Pair(frames, cores, rounding)
        names = [None if name is None else f"{name} {k + 1}" for k in range(pair.slots)]
        self.elements = [HullFeature(pair, k, name=given, **law) for k, given in enumerate(names)]


def _example(rng, A, B):
    """Example of hulls whose corners are not near the nodes: blocks of derivatives are then of one size."""
    frames = [body.frame(0.1 * rng.normal(size=3), exp(rng.normal(size=3))) for body in (A, B)]
    points = rng.normal(size=(2, 8, 3))
    points *= 0.6 / np.linalg.norm(points, axis=2)[:, :, None]
    pair = HullOnHull(*frames, points_A=points[0], points_B=points[1], rounding=0.01)
    return pair.elements[rng.choice([0, 0, 5])]  # the first slot has a corner, or edges that cross; others mostly edges


register(HullFeature, example=_example)
