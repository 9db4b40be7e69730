"""Parts of Abaqus input files, as they are read, and the one mesh that they make.

Source: docs/howto/meshes.md; sides of elements as in the Abaqus Elements Guide.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.mesh.cells import CELLS, FACES
from fem_mbs.mesh.labels import Elements, Labels, distinct
from fem_mbs.mesh.nastran_cards import number

SIDES = {  # corners of the sides S1, S2 …
    "tetra": [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)],
    "wedge": [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)],
    "hexahedron": [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)],
}


def system_of(rows: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) and axes (3, 3) of a system, of the data lines of *SYSTEM; the global one of none.

    They give its origin, a point on its x axis, and a point in its xy plane (default: the plane of x and y).

    Raises
    ------
    ValueError
        Axes without a direction.
    """
    given = np.array([number(x or "0") for row in rows for x in row[:6]])
    given = np.concatenate([given, np.zeros(-len(given) % 3)]).reshape(-1, 3)
    if len(given) < 2:
        return given[0] if len(given) else np.zeros(3), np.eye(3)
    x = given[1] - given[0]
    z = np.cross(x, given[2] - given[0]) if len(given) > 2 else np.array([0.0, 0.0, 1.0])
    if not (np.linalg.norm(x) > 0.0 and np.linalg.norm(z) > 0.0) or (len(given) == 2 and x[2] != 0.0):
        raise ValueError("the system has axes without a direction, or an x axis out of its xy plane")
    x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
    return given[0], np.column_stack([x, np.cross(z, x), z])


class Part:
    """Nodes (n, 4) and elements by type, labels first; sets and surfaces by the keys of their names.

    A set is a dict: labels of this part under "", of an instance under its key (in sets of the assembly).
    """

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.nodes: list[np.ndarray] = []
        self.cells: dict[str, list[np.ndarray]] = {}
        self.elements = Elements()
        self.formless: list[int] = []  # labels of elements that are passed over
        self.sets: dict[str, dict[str, dict[str, list[int]]]] = {"NSET": {}, "ELSET": {}}
        self.surfaces: dict[str, tuple[int, str, list[list[str]]]] = {}  # number and text of the line, data lines
        self.rotation, self.shift = np.eye(3), np.zeros(3)

    def instance(self, name: str) -> "Part":
        """The same nodes, elements and sets under another name; what is added to them stays there."""
        new = Part(name)
        new.nodes, new.formless = list(self.nodes), list(self.formless)
        new.elements = self.elements.copy()
        new.cells = {kind: list(rows) for kind, rows in self.cells.items()}
        new.sets = {
            what: {name: {where: list(labels) for where, labels in one.items()} for name, one in found.items()}
            for what, found in self.sets.items()
        }
        new.surfaces = dict(self.surfaces)
        return new


class Joined:
    """Points, cells and groups of several parts, by types of cells.

    Parameters
    ----------
    owner : of messages
    reader : `fem_mbs.mesh.abaqus.Reader`
    """

    def __init__(self, owner: Named, reader: Any) -> None:
        self.owner, self.reader, self.n_points = owner, reader, 0
        self.points: list[np.ndarray] = []
        self.cells: dict[str, list[np.ndarray]] = {}
        self.cell_groups: dict[str, dict[str, list[np.ndarray]]] = {}
        self.point_groups: dict[str, list[np.ndarray]] = {}

    def add(self, part: Part) -> None:
        """Take a part with its sets and surfaces."""
        nodes = np.concatenate(part.nodes)
        names, places = distinct(self.owner, self.reader.path, nodes[:, 0], nodes[:, 1:])
        numbers = Labels(self.owner, self.reader.path, names)
        rows = {kind: np.concatenate(tables) for kind, tables in part.cells.items()}
        nodes_of = {kind: self.n_points + numbers.of(table[:, 1:]) for kind, table in rows.items()}
        known = {"NSET": names, "ELSET": np.array(part.formless, np.int64)}
        for table in rows.values():
            known["ELSET"] = np.concatenate([known["ELSET"], table[:, 0]])
        sets = {what: self._labels(part, what, known[what]) for what in known}
        for what, labels in sets["NSET"].items():
            self.point_groups.setdefault(self.reader.names[what], []).append(
                self.n_points + numbers.of(labels, missing=False)
            )
        for scope, where in self._scopes(part):
            for what in scope.surfaces:
                for kind, faces in self._faces(scope, where, what, rows, nodes_of).items():
                    self._cells(kind, faces, self.reader.names[what])
        for kind, table in rows.items():
            first = self._cells(kind, nodes_of[kind])
            for what, labels in sets["ELSET"].items():
                self._group(self.reader.names[what], kind, first + np.flatnonzero(np.isin(table[:, 0], labels)))
            if len(self.reader.instances) > 1:
                self._group(part.name, kind, first + np.arange(len(table)))
        self.points.append(places @ part.rotation.T + part.shift)
        self.n_points += len(places)

    def _scopes(self, part):
        """Return where sets and surfaces of a part are defined, and key of its labels there: itself, the assembly."""
        keys = [name for name, instance in self.reader.instances.items() if instance is part]
        return [(part, ""), *((self.reader.root, name) for name in keys)]

    def _labels(self, part, what, known):
        """Key of a set -> labels of this part in it; labels that are not ``known`` are warned of."""
        found: dict[str, list[int]] = {}
        for scope, where in self._scopes(part):
            for name, members in scope.sets[what].items():
                found.setdefault(name, []).extend(members.get(where, []))
        for name, labels in found.items():
            missing = np.setdiff1d(labels, known)
            if len(missing) and name not in self.reader.ranges:
                kind = "nodes" if what == "NSET" else "elements"
                text = (
                    f"set '{self.reader.names[name]}' has {len(missing)} {kind} that are not there, {missing[0]} first"
                )
                self.reader.warnings.append(text)
        return found

    def _cells(self, kind, rows, group=None):
        """Add cells of a type; returns the number of the first."""
        there = self.cells.setdefault(kind, [])
        first = sum(map(len, there))
        there.append(rows)
        if group is not None:
            self._group(group, kind, first + np.arange(len(rows)))
        return first

    def _group(self, name, kind, numbers):
        if len(numbers):
            self.cell_groups.setdefault(name, {}).setdefault(kind, []).append(numbers)

    def _faces(self, scope, where, name, rows, nodes_of):
        """Type -> points of the faces of a surface that is defined in ``scope``, of its labels under ``where``."""
        found: dict[str, list[np.ndarray]] = {}
        self.reader.at, self.reader.line, entries = scope.surfaces[name]
        for entry, side in (row[:2] for row in entries):
            labels = self.reader.members(scope, "ELSET", entry).get(where, [])
            for kind, table in rows.items():
                cell, k = CELLS.get(kind), int(side[1]) - 1
                chosen = np.isin(table[:, 0], labels)
                if cell is None or not chosen.any():
                    continue
                right = k < len(SIDES[cell.kind])
                self.owner.check(right, "path", self.reader.path, f"surface {name}: a {kind} has no side {side}")
                corners = set(SIDES[cell.kind][k])
                face = next(f for f in cell.faces if set(f[: len(corners)]) == corners)
                found.setdefault(FACES[len(face)].name, []).append(nodes_of[kind][chosen][:, face])
        return {kind: np.concatenate(parts) for kind, parts in found.items()}
