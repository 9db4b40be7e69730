"""A flexible body from a mesh: its nodes and elements, made and checked as arrays.

One element by its constructor takes 0.1 ms; a body of 10⁵ is checked once, and its elements are rows of one array.

Source: docs/howto/meshes.md, docs/theory/solids.md.
"""

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.elements.solids.element import DEFAULTS, MASSES, SOLIDS, SolidElement, lighten, records
from fem_mbs.elements.solids.material import SolidMaterial
from fem_mbs.elements.solids.mesh_body import MeshBody
from fem_mbs.errors import ParameterError
from fem_mbs.mesh.cells import CELLS
from fem_mbs.mesh.mesh import Mesh, sound
from fem_mbs.stresses.solid_stress import ENHANCED, Block, Fields


class SolidBody(MeshBody):
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
    light : str, optional
        Group of points that touch obstacles: their nodes keep 1 % of their mass, the rest is added to the other nodes
        of their elements, which are lumped. For impacts with waves, in steps shorter than these need through an
        element.
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
    >>> from fem_mbs.mesh.block import block_mesh
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
        light: str | None = None,
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
        self._use_points(np.unique(np.concatenate([rows.ravel() for rows in used])))
        self.nodes = self._nodes(position, rotation, velocity, angular_velocity)
        self.elements: list[SolidElement] = []
        self.records: dict[str, np.ndarray] = {}
        for (cell, numbers), rows in zip(solids.items(), used):
            self._refuse_twice(cell, numbers, rows)
            made = records(CELLS[cell], kinds[cell].parameters, self.mesh.points[rows], material, beta, lumped)
            self._refuse_bad(cell, numbers, made)
            if light is not None:
                self._lighten(light, cell, rows, made)
            self.records[cell] = made
            self._fill(kinds[cell], self._place[rows], made, material=material)
        if light is not None:
            self.node_numbers(light)  # raises an error for a group without nodes of this body
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
            message = f"cells of type {cell} are flat or inverted; the first is number {numbers[bad[0]]}"
            raise ParameterError(self, "mesh", len(bad), f"{message}, at {where} m")

    def _lighten(self, light, cell, rows, made):
        """Take mass from the nodes of a group."""
        touching = np.isin(rows, self.mesh.nodes_of(light))
        whole = int(touching.all(axis=1).sum())
        message = (
            f"has all nodes of {whole} cells of type {cell}, whose mass would have no place. Name the nodes of the "
            "surface that touches, or divide the mesh into more cells below it"
        )
        self.check(whole == 0, "light", light, message)
        lighten(CELLS[cell], made, touching)

    def nodal_volumes(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places (n, nn) in `nodes` of elements of one kind, and the part (n, nn) [m³] of their volume of each node."""
        for cell, made in self.records.items():
            yield self.connectivity(cell), (made["m"] / self.material.density) @ CELLS[cell].mass.shapes

    def connectivity(self, cell: str) -> np.ndarray:
        """Places in `nodes` (k, nn) of the nodes of the cells of a type."""
        return self._place[self.mesh.cells[cell][self.cells[cell]]]

    def stresses(self, state: Any, time: float | None = None) -> Fields:
        """Strains and stresses of this body at one configuration.

        Parameters
        ----------
        state, time : as `positions`

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
        return Fields(self.blocks, self.positions(state, time))

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
