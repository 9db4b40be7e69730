"""A shell from a mesh of triangles and quadrilaterals: its nodes and elements, made and checked as arrays.

Source: docs/howto/shells.md, docs/theory/shells.md, section 5.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.elements.shells.element import SHELLS, ShellElement, badness, checked_axis, normals_of
from fem_mbs.elements.shells.orientation import (
    branches,
    covered,
    hanging_nodes,
    joined,
    shared_edges,
    smooth_normals,
    turned_cells,
)
from fem_mbs.elements.shells.record import DRILLING, records
from fem_mbs.elements.shells.section import ShellSection
from fem_mbs.elements.solids.element import MASSES
from fem_mbs.elements.solids.mesh_body import MeshBody
from fem_mbs.errors import ParameterError, Warnings, label
from fem_mbs.mesh.cells import FACES
from fem_mbs.mesh.mesh import Mesh
from fem_mbs.nodes import Node6
from fem_mbs.stresses.shell_stiffness import directions, unit
from fem_mbs.stresses.shell_stress import ShellBlock, ShellFields

FOLD = np.radians(40.0)
CURVED = ("triangle6", "quad8", "quad9", "triangle7")


class ShellBody(MeshBody):
    """A flexible body of shell elements; ``model.add(body)`` adds it.

    Parameters
    ----------
    mesh : Mesh
        Of triangles and quadrilaterals with straight edges: from `fem_mbs.panel_mesh` or `fem_mbs.read_mesh`.
    section : ShellSection or dict
        One for all, or group of cells -> section; each cell in one group.
    group : str, optional
        Group of cells it is made of; default: all triangles and quadrilaterals of the mesh.
    axis : (3,) unit vector, optional
        Direction whose projection on the surface is the first axis of the section, axes of the mesh. Must be given for
        sections with fibres; default: x, or y where x is within 37° of the normal.
    normals : callable, optional
        ``normals(points)`` returns the unit normals (n, 3) of the surface at points (n, 3), on the side of those of
        the cells; default: means of the normals of the cells around a node, less exact at the rim of curved surfaces.
    fold : float [rad], between 0 and π/2
        Cells that meet at larger angles have separate directors at their common edge (default 40°).
    orient : bool
        Turn cells over where neighbours have different sides up, as the first of each part is; by default they
        raise an error: pressure and layers depend on it.
    mass, damping, drilling : as `ShellElement`
    position : (3,) [m], rotation : optional
        Where the axes of the mesh are at the start, from the inertial frame; default: on it. Nodes have these axes.
    velocity, angular_velocity : (3,) [m/s], [rad/s]
        Motion at the start, of the origin of the mesh, inertial axes.
    name : str, optional
        Elements are called "name 0", "name 1", …

    Attributes
    ----------
    elements, nodes : lists
    cells : dict, type -> numbers of the cells of the mesh
    points : (n,) int
        Number of each node in the mesh.
    reference : (n, 3) [m]
        Nodes of the body without stress, axes of the mesh.
    area : float [m²]
    volume : float [m³]
    mass : float [kg]

    Raises
    ------
    ParameterError
        A group that is not there, or without surface cells; cells without area, with corners inwards, or too much
        warped (names the first by type, number and place); different sides up; a cell in no group of sections.

    Warns
    -----
    UserWarning
        Nodes on edges of cells that do not have them: the surface is open there.

    Examples
    --------
    >>> from fem_mbs.mesh.panel import panel_mesh
    >>> from fem_mbs.elements.solids.material import SolidMaterial
    >>> sheet = ShellSection(SolidMaterial(E=210e9, nu=0.3, density=7850), 1e-3)
    >>> wall = ShellBody(panel_mesh([1.0, 0.5], [8, 4]), sheet, name="wall")
    >>> wall.fix("x0")
    >>> len(wall.elements), len(wall.nodes_of("x1")), round(wall.mass, 9)
    (32, 5, 3.925)
    """

    node_kind = Node6
    is_surface = True

    def __init__(
        self,
        mesh: Mesh,
        section: ShellSection | dict[str, ShellSection],
        *,
        group: str | None = None,
        axis: ArrayLike | None = None,
        normals: Callable[[np.ndarray], np.ndarray] | None = None,
        fold: float = FOLD,
        orient: bool = False,
        mass: str = "consistent",
        damping: float = 0.0,
        drilling: float = DRILLING,
        position: ArrayLike = (0, 0, 0),
        rotation: Any = None,
        velocity: ArrayLike = (0, 0, 0),
        angular_velocity: ArrayLike = (0, 0, 0),
        name: str | None = None,
    ) -> None:
        self.name = name
        self.mesh = self.as_instance("mesh", mesh, Mesh, "a Mesh: fem.panel_mesh makes one, fem.read_mesh reads one")
        self.cells = self._surface_cells(group)
        self.section = section
        sections = self._sections(section)
        options = {
            "damping": self.positive("damping", damping, "s", allow_zero=True),
            "drilling": self.positive("drilling", drilling, ""),
            "lumped": self.as_choice("mass", mass, MASSES) == "lumped",
        }
        fold = self.number("fold", fold, "rad", above=0, below=0.5 * np.pi)
        X = self.mesh.points
        blocks = self._oriented(self.as_flag("orient", orient), fold)
        self._use_points(np.unique(np.concatenate([rows.ravel() for rows in blocks])))
        self._tell_hanging(blocks)
        directors = self._directors(normals, blocks, fold)
        self._refuse_bad(blocks, directors)
        self.nodes = self._nodes(position, rotation, velocity, angular_velocity)
        self.elements: list[ShellElement] = []
        self.connectivity: dict[str, np.ndarray] = {}
        self._parts: list[tuple[ShellSection, np.ndarray, np.ndarray]] = []
        for cell, rows, D in zip(self.cells, blocks, directors):
            self.connectivity[cell] = self._place[rows]
            for one, chosen in sections[cell]:
                some, n = rows[chosen], np.sum(chosen)
                first = directions(X[some], checked_axis(self, axis, one, normals_of(X[some])))
                turned = np.broadcast_to(np.eye(3), (n, rows.shape[1], 3, 3))
                made = records(X[some], D[chosen], turned, one, first=first, **options)
                self._fill(SHELLS[rows.shape[1]], self._place[some], made, section=one)
                self._parts.append((one, self._place[some], made))
        self.area = float(sum(made["nodal"].sum() / one.mass_per_area for one, _, made in self._parts))
        self.mass = float(sum(made["nodal"].sum() for _, _, made in self._parts))
        self.volume = float(sum(part.sum() for _, part in self.nodal_volumes()))

    def _surface_cells(self, group):
        """Type -> numbers of the triangles and quadrilaterals of a group, or of all."""
        mesh = self.mesh
        given = {k: np.arange(len(v)) for k, v in mesh.cells.items()} if group is None else mesh.group(group)
        curved = [kind for kind in CURVED if len(given.get(kind, ()))]
        message = (
            "has cells with nodes on their edges; shells have corners alone: mesh anew with straight edges (order 1)"
        )
        self.check(not curved, "mesh", ", ".join(curved), message)
        found = {FACES[nn].name: given[FACES[nn].name] for nn in (4, 3) if len(given.get(FACES[nn].name, ()))}
        kinds = ", ".join(f"{len(part)} {kind}" for kind, part in given.items()) or "nothing"
        self.check(found, "group", group, f"has no triangles or quadrilaterals; it has {kinds}")
        return found

    def _sections(self, section):
        """Type -> list of (section, which of the cells (k,) bool)."""
        if not isinstance(section, dict):
            one = self.as_instance("section", section, ShellSection, "a ShellSection, or a dict: group to section")
            return {cell: [(one, np.ones(len(numbers), bool))] for cell, numbers in self.cells.items()}
        found, count = {cell: [] for cell in self.cells}, {cell: 0 for cell in self.cells}
        for group, one in section.items():
            self.as_instance("section", one, ShellSection, "a ShellSection for each group")
            parts = self.mesh.group(group)
            for cell, numbers in self.cells.items():
                chosen = np.isin(numbers, parts.get(cell, ()))
                count[cell] = count[cell] + chosen
                if chosen.any():
                    found[cell].append((one, chosen))
        for cell, times in count.items():
            wrong = np.sum(times != 1)
            message = f"{wrong} cells of type {cell} are in none of these groups, or in several"
            self.check(wrong == 0, "section", list(section), message)
        return found

    def _oriented(self, orient, fold):
        """Points (k, nn) of the cells of each type, all of one side up."""
        X = self.mesh.points
        blocks = [self.mesh.cells[cell][numbers] for cell, numbers in self.cells.items()]
        twice = covered(blocks)
        where = X[twice[0]].round(6).tolist() if len(twice) else None
        message = f"has cells that lie on each other, with the same corners, one at {where} m. Take each once"
        self.check(not len(twice), "mesh", self.mesh, message)
        edges = joined(shared_edges(blocks), branches(X, blocks, fold))
        wrong = int(np.sum(~edges.alike))
        if wrong == 0:
            return blocks
        message = f"has {wrong} edges whose two cells have different sides up; orient=True turns cells over"
        self.check(orient, "mesh", self.mesh, message)
        turned = turned_cells(sum(map(len, blocks)), edges)
        message = "is a surface with one side only (a Möbius strip): cut it into two bodies, or groups of sections"
        self.check(turned is not None, "mesh", self.mesh, message)
        at, found = 0, []
        for rows in blocks:
            part = turned[at : at + len(rows), None]
            found.append(np.where(part, np.roll(rows[:, ::-1], 1, axis=1), rows))
            at += len(rows)
        return found

    def _directors(self, normals, blocks, fold):
        """Directors (k, nn, 3) of the cells of each type."""
        X = self.mesh.points
        if normals is None:
            with np.errstate(all="ignore"):  # cells without area raise an error afterwards
                return smooth_normals(X, blocks, shared_edges(blocks), fold)
        self.as_function("normals", normals, "a function of points (n, 3)", 1)
        given = self.as_array("normals", normals(self.reference.copy()), (len(self.reference), 3))
        lengths = np.linalg.norm(given, axis=1)
        self.check(np.abs(lengths - 1).max() < 1e-6, "normals", normals, "must return vectors of length one")
        return [unit(given)[self._place[rows]] for rows in blocks]

    def _tell_hanging(self, blocks):
        """Warn about nodes on edges of cells that do not have them."""
        hanging = hanging_nodes(self.mesh.points, blocks)
        if len(hanging):
            count = "a node" if len(hanging) == 1 else f"{len(hanging)} nodes"
            text = (
                f"{label(self)} has {count} on edges of cells that end elsewhere, one at "
                f"{self.mesh.points[hanging[0]].round(6).tolist()} m: the surface is open there, as along a slit. "
                "Divide the larger cells, so that cells share whole edges"
            )
            Warnings.issue(text)

    def _refuse_bad(self, blocks, directors):
        for (cell, numbers), rows, D in zip(self.cells.items(), blocks, directors):
            X = self.mesh.points[rows]
            for wrong, message in badness(X, D):
                bad = np.flatnonzero(wrong)
                if len(bad):
                    where = X[bad[0]].mean(axis=0).round(6).tolist()
                    message = f"cells of type {cell} are {message}; the first is number {numbers[bad[0]]}, at {where} m"
                    raise ParameterError(self, "mesh", len(bad), message)

    def faces_of(self, owner: Any, group: str | None) -> list[np.ndarray]:
        """Places (nn,) in `nodes` of the cells of a group, or of those all of whose nodes are in it; None: of all.

        Raises
        ------
        ParameterError
            In the name of ``owner``: no such group, or one without cells of this body.
        """
        if group is None:
            return [row for rows in self.connectivity.values() for row in rows]
        parts, found = self.mesh.group(group), []
        inside = np.isin(np.arange(len(self.nodes)), self._place[self.mesh.nodes_of(group)])
        of_cells = any(kind in parts for kind in self.cells)
        for cell, numbers in self.cells.items():
            rows = self.connectivity[cell]
            chosen = np.isin(numbers, parts.get(cell, ())) if of_cells else inside[rows].all(axis=1)
            found += list(rows[chosen])
        owner.check(found, "group", group, "has no cells of this body")
        return found

    def edges_of(self, owner: Any, group: str) -> np.ndarray:
        """Places (k, 2) in `nodes` of the edges of a group, each once: its line cells, or where it has none all edges
        of cells with both nodes in it.

        Raises
        ------
        ParameterError
            In the name of ``owner``: no such group, or one without edges of this body; both edges of the rim and edges
            inside, between nodes of the group.
        """
        inside = np.isin(np.arange(len(self.nodes)), self.node_numbers(group))
        pairs = [
            np.stack([rows, np.roll(rows, -1, axis=1)], axis=2).reshape(-1, 2) for rows in self.connectivity.values()
        ]
        every, count = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0, return_counts=True)
        lines = self.mesh.group(group).get("line", ())
        if len(lines):
            n, asked = len(self.nodes), np.sort(self._place[self.mesh.cells["line"][lines]], axis=1)
            chosen = np.isin(every @ [n, 1], asked[asked[:, 0] >= 0] @ [n, 1])
        else:
            chosen = inside[every].all(axis=1)
            rim = chosen & (count == 1)
            message = (
                f"has {rim.sum()} edges of the rim, and {(chosen & ~rim).sum()} inside whose ends are both in it too. "
                "Give the nodes of one line, as of each side by itself, or line cells (a physical curve of Gmsh)"
            )
            owner.check(not rim.any() or (rim == chosen).all(), "group", group, message)
        owner.check(chosen.any(), "group", group, "has no edges of this body")
        return every[chosen]

    def nodal_volumes(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places (n, nn) in `nodes` of elements of one kind, and the part (n, nn) [m³] of their volume of each node."""
        for section, places, made in self._parts:
            yield places, made["nodal"] * (section.thickness / section.mass_per_area)

    @functools.cached_property
    def blocks(self) -> list[ShellBlock]:
        """The elements as arrays, places in `nodes`: what their stresses are made of."""
        return [
            ShellBlock.of(places, made["X"], made["Y"], made["c"], made["first"], section)
            for section, places, made in self._parts
        ]

    def stresses(self, state: Any, time: float | None = None) -> ShellFields:
        """Strains and stresses of this body at one configuration.

        Parameters
        ----------
        state, time : as `positions`

        Returns
        -------
        ShellFields
            ``stress`` (Cauchy), ``strain``, ``von_mises`` and ``principal_stress`` at the bottom, in the middle and on
            the top of each corner of the surface.

        Raises
        ------
        ParameterError
            The state is not of a model with this body.
        """
        return ShellFields(self.blocks, *self.poses(state, time))
