"""Base of flexible bodies that are made of a mesh: which of its points are nodes, groups, supports, shapes of modes.

Source: docs/howto/meshes.md.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.element.base import Part
from fem_mbs.errors import label
from fem_mbs.mesh.mesh import Mesh
from fem_mbs.nodes import MOTION, Node3


class MeshBody(Part):
    """Base of `SolidBody` and `ShellBody`.

    Attributes
    ----------
    mesh : Mesh
    elements, nodes : lists
    points : (n,) int
        Number of each node in the mesh.
    reference : (n, 3) [m]
        Nodes of the body without stress, axes of the mesh.
    is_surface : bool, whether it is made of surface cells
    """

    node_kind: Any = Node3
    is_surface = False
    mesh: Mesh
    nodes: list
    elements: list
    points: np.ndarray
    reference: np.ndarray
    mass: float
    volume: float
    _place: np.ndarray  # of points of the mesh among the nodes, −1 of those that are none

    def _use_points(self, points):
        """Take the points (n,) of the mesh, rising, as nodes."""
        self.points = points
        self._place = np.full(len(self.mesh.points), -1, np.int64)
        self._place[points] = np.arange(len(points))
        self.reference = self.mesh.points[points]

    def _nodes(self, position, rotation, velocity, angular_velocity):
        """Nodes, which share one array; those with rotations are turned as the body is."""
        position, rotation = self.as_vector("position", position), self.as_rotation("rotation", rotation)
        velocity = self.as_vector("velocity", velocity)
        spin = self.as_vector("angular_velocity", angular_velocity)
        arms = self.reference @ rotation.T
        turns = bool(self.node_kind().free[3:].any())
        motion = np.zeros((len(arms), MOTION))
        motion[:, 0:3], motion[:, 3:12] = position + arms, (rotation if turns else np.eye(3)).ravel()
        motion[:, 12:15] = velocity + np.cross(spin, arms)
        if turns:
            motion[:, 15:18] = spin
        free, made = self.node_kind().free, []
        for k in range(len(arms)):
            node = self.node_kind.__new__(self.node_kind)
            Checked.set_unchecked(
                node, _own_name=None, _motion=motion, _row=k, _free=free, index=None, body=self, _made=True
            )
            made.append(node)
        return made

    def _fill(self, kind, places, made, **alike):
        """Elements of one type, on nodes ``places`` (n, nn), with their records and what they have in common."""
        nodes, first = self.nodes, len(self.elements)
        alike |= {"body_name": self.name, "signals": [], "index": None, "viscous": bool(made["beta"].any())}
        for k, row in enumerate(places.tolist()):
            element = kind.__new__(kind)
            name = None if self.name is None else f"{self.name} {first + k}"
            Checked.set_unchecked(
                element, _own_name=name, nodes=tuple([nodes[i] for i in row]), record=made[k], _made=True, **alike
            )
            self.elements.append(element)

    @property
    def points_inside(self) -> np.ndarray:
        """Mask of the points of the mesh (n,) that are nodes of the body."""
        return self._place >= 0

    def places_of(self, points: np.ndarray) -> np.ndarray:
        """Places in `nodes` of points of the mesh that are nodes of the body."""
        return self._place[points]

    def node_numbers(self, group: str) -> np.ndarray:
        """Places (k,) in `nodes` of the nodes of a group of the mesh."""
        found = self._place[self.mesh.nodes_of(group)]
        found = found[found >= 0]
        self.check(found.size, "group", group, "has no nodes of this body")
        return found

    def nodes_of(self, group: str) -> list[Any]:
        """Nodes of a group of the mesh.

        Raises
        ------
        ParameterError
            No such group (lists those there are), or one without nodes of this body.
        """
        return [self.nodes[k] for k in self.node_numbers(group)]

    def node_at(self, point: ArrayLike) -> Any:
        """The node nearest to a point (3,) [m] of the unloaded body, axes of the mesh."""
        apart = self.reference - self.as_vector("point", point)
        return self.nodes[int(np.einsum("ni,ni->n", apart, apart).argmin())]

    def poses(self, state: Any, time: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Positions (n, 3) [m] and rotations (n, 3, 3) of the nodes in a state, or at the step of a run next to a time.

        Raises
        ------
        ParameterError
            The state is not of a model with this body.
        """
        from fem_mbs.shapes import matrices

        x, Q = poses_of(self, (self.elements[0], self.elements[-1]), state, time)
        return x, matrices(Q)

    def positions(self, state: Any, time: float | None = None) -> np.ndarray:
        """Positions (n, 3) [m] of the nodes, in the order of `nodes`, inertial axes.

        Parameters
        ----------
        state : Results, StaticResult or State
            Of a model with this body.
        time : float, optional [s]
            Of `Results`: the nearest saved step; default: the last.

        Raises
        ------
        ParameterError
            The state is not of a model with this body.
        """
        return self.poses(state, time)[0]

    def faces_of(self, owner: Any, group: str | None) -> list[np.ndarray]:
        """Positions (nn,) in `nodes` of the cells of a group, for surfaces."""
        raise NotImplementedError(f"{type(self).__name__} does not define faces_of(self, owner, group)")

    def nodal_volumes(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places (n, nn) in `nodes` of elements of one kind, and the part (n, nn) [m³] of their volume of each node."""
        raise NotImplementedError(f"{type(self).__name__} does not define nodal_volumes(self)")

    def mode_shapes(self, modes: Any) -> np.ndarray:
        """Displacements (k, n, 3) of the nodes of this body in k modes, for `fem_mbs.mac`.

        Parameters
        ----------
        modes : Modes
            Of `fem_mbs.modes` of a model with this body.
        """
        return modes.shapes[:, numbers_in(self, modes), :3]

    def fix(self, group: str, components: Any = True) -> None:
        """Hold the nodes of a group where they are.

        Parameters
        ----------
        group : str
        components : True or sequence of {"x", "y", "z"}, of shells also {"rx", "ry", "rz"}
            Which displacements, inertial axes, and rotations, axes of the body.

        Raises
        ------
        ParameterError
            No such group or component; the body is in a model that was compiled.
        """
        held = self.node_kind(fixed=components).free
        free = self.node_kind().free
        self.check((held != free).any(), "components", components, "hold nothing: True, or names of components")
        nodes = self.nodes_of(group)
        done = any(node.index is not None for node in nodes)
        self.check(not done, "group", group, "cannot be fixed: the model was compiled. Fix it before")
        for node in nodes:
            Checked.set_unchecked(node, _free=node.free & held)

    def __repr__(self) -> str:
        return f"{label(self)}: {len(self.elements)} elements, {len(self.nodes)} nodes, {self.mass:.6g} kg"


def poses_of(body: Any, elements: Any, state: Any, time: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) [m] and quaternions (n, 4) of the nodes of a body at a state, as `stresses` takes one.

    ``elements``, those of the body by which its nodes are found again, must be in the model of a result under the same
    names and with the same nodes; ParameterError where they are not. Of a `State` only the number of nodes is checked.
    """
    if hasattr(state, "rows") and hasattr(state, "at"):
        run, row = state, state.rows([len(state.t) - 1 if time is None else state.at(time)])
        x, Q = row["position"][0], row["quaternion"][0]
    else:
        body.check(time is None, "time", time, "is for results of a run alone")
        run, last = getattr(state, "results", None), getattr(state, "state", state)
        body.check(hasattr(last, "Q"), "state", state, "must be Results, a StaticResult or a State")
        x, Q = last.x, last.Q
    numbers = [-1 if node.index is None else node.index for node in body.nodes]
    mine = min(numbers) >= 0 and max(numbers) < len(x)
    if run is not None:
        there = {one["name"]: one for one in run.description["elements"]}
        for element in elements:
            one = there.get(element.name, {"type": "", "nodes": []})
            mine &= one["type"] == type(element).__name__ and one["nodes"] == [n.index for n in element.nodes]
    message = "is of a model without this body, or another model with this body was compiled since"
    body.check(mine, "state", state, message)
    return x[numbers], Q[numbers]


def numbers_in(body: Any, modes: Any) -> list[int]:
    """Numbers of the nodes of a body in the shapes of modes; ParameterError where these are of another model."""
    body.check(hasattr(modes, "shapes") and hasattr(modes, "system"), "modes", modes, "must be what fem.modes returned")
    numbers = [-1 if node.index is None else node.index for node in body.nodes]
    theirs = modes.system.nodes
    mine = all(0 <= k < len(theirs) and theirs[k] is node for k, node in zip(numbers, body.nodes))
    body.check(mine, "modes", modes, "are of a model without this body")
    return numbers
