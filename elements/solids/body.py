"""A flexible body from a mesh: its nodes and elements, made and checked as arrays.

One element by its constructor takes 0.1 ms; a body of 10⁵ is checked once, and its elements are rows of one array.

Source: docs/howto/meshes.md, docs/theory/solids.md.
"""

import functools
from typing import Any

import numpy as np

from fem_mbs.arguments import ArrayLike, Checked
from fem_mbs.cells import CELLS
from fem_mbs.elements.base import Part
from fem_mbs.elements.solids.element import DEFAULTS, MASSES, SOLIDS, SolidElement, records
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.errors import ParameterError, label
from fem_mbs.mesh import Mesh, sound
from fem_mbs.nodes import MOTION, Node3
from fem_mbs.solid_stress import ENHANCED, Block, Fields


class SolidBody(Part):
    """A flexible body of solid elements; ``model.add(body)`` adds it.

    Parameters
    ----------
    mesh : Mesh
        `fem_mbs.read_mesh` reads one, `fem_mbs.block_mesh` makes one.
    material : SolidMaterial
    group : str, optional
        Group of solid cells it is made of; default: all of the mesh.
    elements : dict or type, optional
        Type of cell -> class of element where it is not the default, or one class for all: {"hexahedron":
        Hexa8Enhanced} bends well with one element per thickness.
    mass, damping : as `SolidElement`
    position : (3,) [m], rotation : optional
        Where the axes of the mesh are at the start, from the inertial frame; default: on it.
    velocity, angular_velocity : (3,) [m/s], [rad/s]
        Motion at the start, of the origin of the mesh, inertial axes.
    name : str, optional
        Elements are called "name 0", "name 1", …

    Attributes
    ----------
    elements, nodes : lists
    cells : dict, type -> numbers of the cells of the mesh
    points : (n,) int
        Number of each node in the mesh; points that no element has are left out.
    reference : (n, 3) [m]
        Nodes of the body without stress, axes of the mesh.
    mass : float [kg]
    volume : float [m³]

    Raises
    ------
    ParameterError
        A group that is not there (lists those that are), without solid cells, or with cells of other types; bad cells.

    Examples
    --------
    >>> from fem_mbs.mesh_block import block_mesh
    >>> steel = SolidMaterial(E=210e9, nu=0.3, density=7850)
    >>> beam = SolidBody(block_mesh([1.0, 0.1, 0.1], [8, 1, 1]), steel, name="beam")
    >>> beam.fix("x0")
    >>> len(beam.elements), len(beam.nodes_of("x1")), round(beam.mass, 9)
    (8, 8, 78.5)
    """

    def __init__(
        self,
        mesh: Mesh,
        material: SolidMaterial,
        *,
        group: str | None = None,
        elements: Any = None,
        mass: str = "consistent",
        damping: float = 0.0,
        position: ArrayLike = (0, 0, 0),
        rotation: Any = None,
        velocity: ArrayLike = (0, 0, 0),
        angular_velocity: ArrayLike = (0, 0, 0),
        name: str | None = None,
    ) -> None:
        self.name = name
        self.mesh = self.as_instance("mesh", mesh, Mesh, "a Mesh: fem.read_mesh(path) reads one")
        self.material = self.as_instance("material", material, SolidMaterial, "a SolidMaterial")
        lumped = self.as_choice("mass", mass, MASSES) == "lumped"
        beta = self.positive("damping", damping, "s", allow_zero=True)
        solids = self.cells = self.mesh.solids_of(group)
        kinds = {cell: self._kind(cell, elements) for cell in solids}
        used = [self.mesh.cells[cell][numbers] for cell, numbers in solids.items()]
        self.points = np.unique(np.concatenate([rows.ravel() for rows in used]))
        self._place = np.full(len(self.mesh.points), -1, np.int64)  # of points of the mesh among the nodes
        self._place[self.points] = np.arange(len(self.points))
        self.reference = self.mesh.points[self.points]
        self.nodes = self._nodes(
            self.as_vector("position", position),
            self.as_rotation("rotation", rotation),
            self.as_vector("velocity", velocity),
            self.as_vector("angular_velocity", angular_velocity),
        )
        self.elements: list[SolidElement] = []
        self.records: dict[str, np.ndarray] = {}
        for (cell, numbers), rows in zip(solids.items(), used):
            self._refuse_twice(cell, numbers, rows)
            made = records(CELLS[cell], kinds[cell].parameters, self.mesh.points[rows], material, beta, lumped)
            self._refuse_bad(cell, numbers, made)
            self.records[cell] = made
            self._fill(kinds[cell], self._place[rows], made)
        self.volume = float(sum(made["w"].sum() for made in self.records.values()))
        self.mass = float(sum(made["m"].sum() for made in self.records.values()))

    def _kind(self, cell, elements):
        """Class of the elements of a type of cell."""
        known = {kind.__name__: kind for kind in SOLIDS}
        given = elements.get(cell) if isinstance(elements, dict) else elements
        if isinstance(elements, dict):
            wrong = [name for name in elements if name not in CELLS]
            self.check(not wrong, "elements", wrong, f"are no cells of solids; allowed: {', '.join(CELLS)}")
        if given is None:
            return DEFAULTS[cell]
        kind = known.get(given) if isinstance(given, str) else given
        right = isinstance(kind, type) and issubclass(kind, SolidElement) and kind.cell.name == cell
        fitting = ", ".join(kind.__name__ for kind in SOLIDS if kind.cell.name == cell)
        self.check(right, "elements", given, f"is no element for cells of type {cell}; allowed: {fitting}")
        return kind

    def _nodes(self, position, rotation, velocity, spin):
        """Nodes, which share one array."""
        arms = self.reference @ rotation.T
        motion = np.zeros((len(arms), MOTION))
        motion[:, 0:3], motion[:, 3:12] = position + arms, np.eye(3).ravel()
        motion[:, 12:15] = velocity + np.cross(spin, arms)
        free, made = Node3().free, []
        for k in range(len(arms)):
            node = Node3.__new__(Node3)
            Checked.set_unchecked(
                node, _own_name=None, _motion=motion, _row=k, _free=free, index=None, body=self, _made=True
            )
            made.append(node)
        return made

    def _refuse_twice(self, cell, numbers, rows):
        """Cells of the same nodes would have mass and stiffness twice."""
        _, first, count = np.unique(np.sort(rows, axis=1), axis=0, return_index=True, return_counts=True)
        again = first[count > 1]
        if len(again):
            where = self.mesh.points[rows[again[0]]].mean(axis=0).round(6).tolist()
            message = (
                f"cells of type {cell} are there more than once; the first is number {numbers[again[0]]}, at {where} "
                "m. Files have cells once for each group that they are in: put each into one group of solids"
            )
            raise ParameterError(self, "mesh", len(again), message)

    def _refuse_bad(self, cell, numbers, made):
        bad = np.flatnonzero(~sound((made["w"], made["m"])))
        if len(bad):
            where = made["X"][bad[0]].mean(axis=0).round(6).tolist()
            message = f"cells of type {cell} are flat or turned inside out; the first is number {numbers[bad[0]]}"
            raise ParameterError(self, "mesh", len(bad), f"{message}, at {where} m")

    def _fill(self, kind, places, made):
        """Elements of one type, on nodes ``places`` (n, nn), with their records."""
        nodes, first = self.nodes, len(self.elements)
        alike = {
            "body_name": self.name,
            "material": self.material,
            "signals": [],
            "index": None,
            "viscous": bool(made["beta"].any()),
        }
        for k, row in enumerate(places.tolist()):
            element = kind.__new__(kind)
            name = None if self.name is None else f"{self.name} {first + k}"
            Checked.set_unchecked(
                element, _own_name=name, nodes=tuple([nodes[i] for i in row]), record=made[k], _made=True, **alike
            )
            self.elements.append(element)

    @property
    def points_inside(self) -> np.ndarray:
        """Which points of the mesh (n,) are nodes of the body."""
        return self._place >= 0

    def places_of(self, points: np.ndarray) -> np.ndarray:
        """Places in `nodes` of points of the mesh that are nodes of the body."""
        return self._place[points]

    def connectivity(self, cell: str) -> np.ndarray:
        """Places in `nodes` (k, nn) of the nodes of the cells of a type."""
        return self._place[self.mesh.cells[cell][self.cells[cell]]]

    def node_numbers(self, group: str) -> np.ndarray:
        """Places (k,) in `nodes` of the nodes of a group of the mesh."""
        found = self._place[self.mesh.nodes_of(group)]
        found = found[found >= 0]
        self.check(found.size, "group", group, "has no nodes of this body")
        return found

    def nodes_of(self, group: str) -> list[Node3]:
        """Nodes of a group of the mesh.

        Raises
        ------
        ParameterError
            No such group (lists those there are), or one without nodes of this body.
        """
        return [self.nodes[k] for k in self.node_numbers(group)]

    def node_at(self, point: ArrayLike) -> Node3:
        """The node nearest to a point (3,) [m] of the unloaded body, axes of the mesh."""
        apart = self.reference - self.as_vector("point", point)
        return self.nodes[int(np.einsum("ni,ni->n", apart, apart).argmin())]

    def stresses(self, state: Any, time: float | None = None) -> Fields:
        """Strains and stresses of this body at one configuration.

        Parameters
        ----------
        state : Results, StaticResult or State
            Of a model with this body.
        time : float, optional [s]
            Of `Results`: the nearest saved step; default: the last.

        Returns
        -------
        Fields
            ``stress`` (Cauchy), ``strain`` (Green-Lagrange), ``von_mises`` and ``principal_stress`` at the nodes of the
            body, in the order of `nodes`; at points of integration in ``points``.

        Raises
        ------
        ParameterError
            The state is not of a model with this body.
        """
        return Fields(self.blocks, poses_of(self, (self.elements[0], self.elements[-1]), state, time)[0])

    def mode_shapes(self, modes: Any) -> np.ndarray:
        """Displacements (k, n, 3) of the nodes of this body in k modes, for `fem_mbs.mac`.

        Parameters
        ----------
        modes : Modes
            Of `fem_mbs.modes` of a model with this body.
        """
        return modes.shapes[:, numbers_in(self, modes), :3]

    @functools.cached_property
    def blocks(self) -> list[Block]:
        """The elements as arrays, places in `nodes`: what their stresses are made of."""
        blocks = []
        for cell, made in self.records.items():
            kind = next(type(e) for e in self.elements if e.cell.name == cell)
            law = made["law"] + (ENHANCED if kind.enhanced else 0)
            material = np.stack([made["lam"], made["mu"], law], axis=1)
            blocks.append(Block(CELLS[cell], self.connectivity(cell), made["X"], material))
        return blocks

    def fix(self, group: str, components: Any = True) -> None:
        """Hold the nodes of a group where they are.

        Parameters
        ----------
        group : str
        components : True or sequence of {"x", "y", "z"}
            Which displacements, inertial axes.

        Raises
        ------
        ParameterError
            No such group or component; the body is in a model that was compiled.
        """
        held = Node3(fixed=components).free
        self.check(not held[:3].all(), "components", components, "hold nothing: True, or names of x, y, z")
        nodes = self.nodes_of(group)
        done = any(node.index is not None for node in nodes)
        self.check(not done, "group", group, "cannot be fixed: the model was compiled. Fix it before")
        for node in nodes:
            Checked.set_unchecked(node, _free=node.free & held)

    def __repr__(self) -> str:
        return f"{label(self)}: {len(self.elements)} elements, {len(self.nodes)} nodes, {self.mass:.6g} kg"


def poses_of(body: Any, elements: Any, state: Any, time: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) [m] and quaternions (n, 4) of the nodes of a body at a state, as `SolidBody.stresses` takes one.

    ``elements``, those of the body by which its nodes are found again, must be in the model of a result under the same
    names and with the same nodes; ParameterError where they are not. A `State` tells nothing but the number of nodes.
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
