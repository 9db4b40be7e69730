"""Meshes of Abaqus input files: nodes, elements, sets and surfaces of parts and their instances.

    *NODE, *ELEMENT, *NSET, *ELSET (GENERATE), *SURFACE (TYPE=ELEMENT, TYPE=NODE), *PART, *INSTANCE, *ASSEMBLY

Instances are put where they belong. Where there are several, each is a group; sets of one name are put together.
Surfaces become groups of faces, of the sides of elements that they name. What is no mesh is passed over; what would
make nodes or elements, or take them from other files, is refused. Middle nodes are in the order of VTK.

meshio's reader leaves instances where their part is, knows upper case alone, and neither surfaces nor C3D15.

Source: docs/howto/meshes.md; Abaqus Keywords Reference Guide, sides of elements as in its Elements Guide.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fem_mbs.arguments import Named
from fem_mbs.cells import CELLS, FACES
from fem_mbs.errors import ParameterError
from fem_mbs.mesh_labels import Found, Labels
from fem_mbs.rotations import exp

SOLID = re.compile(r"D?C3D(\d+)")
FLAT = re.compile(r"(?:CPS|CPE|CPEG|CAX|S|STRI|M3D|SFM3D|R3D|DS)(\d)")
SOLIDS = {4: "tetra", 10: "tetra10", 8: "hexahedron", 20: "hexahedron20", 6: "wedge", 15: "wedge15", 5: "pyramid"}
FLATS = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8"}
NODES_OF = {"pyramid": 5} | {cell.name: cell.nn for cell in (*CELLS.values(), *FACES.values())}
PASSED = ("B2", "B3", "T2D", "T3D", "PIPE", "FRAME", "MASS", "ROTARYI", "SPRING", "DASHPOT", "CONN", "RB", "R2D", "GAP")
MAKERS = ("INCLUDE", "NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM")
SIDES = {  # corners of the sides S1, S2 …
    "tetra": [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)],
    "wedge": [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)],
    "hexahedron": [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)],
}
SHOWN = 40  # characters of a line in a message


class Part:
    """Nodes (n, 4) and elements by type, labels first; sets and surfaces by names in capital letters."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.nodes: list[np.ndarray] = []
        self.cells: dict[str, list[np.ndarray]] = {}
        self.sets: dict[str, dict[str, list[str]]] = {"NSET": {}, "ELSET": {}}
        self.surfaces: dict[str, list[list[str]]] = {}
        self.rotation, self.shift = np.eye(3), np.zeros(3)

    def instance(self, name: str) -> "Part":
        """The same nodes, elements and sets under another name; what is added to them stays there."""
        new = Part(name)
        new.nodes = list(self.nodes)
        new.cells = {kind: list(rows) for kind, rows in self.cells.items()}
        new.sets = {what: {k: list(v) for k, v in found.items()} for what, found in self.sets.items()}
        new.surfaces = dict(self.surfaces)
        return new

    def members(self, what: str, entry: str, seen: tuple[str, ...] = ()) -> list[int]:
        """Labels of a set, of a set of an instance ("I.SET"), or of a label itself."""
        if entry.lstrip("-").isdigit():
            return [int(entry)]
        name = entry.upper()
        if "." in name and name.split(".", 1)[0] == self.name.upper():
            name = name.split(".", 1)[1]
            if name.isdigit():
                return [int(name)]
        if name in seen:
            return []
        return [k for one in self.sets[what].get(name, []) for k in self.members(what, one, (*seen, name))]


def blocks_of(lines: list[str]) -> Iterator[tuple[int, str, str, dict[str, str], list[list[str]]]]:
    """Number and text of a keyword line, keyword, parameters, and the fields of the lines of data below it."""
    at, count = 0, len(lines)
    while at < count:
        if not lines[at].startswith("*") or lines[at].startswith("**"):
            at += 1
            continue
        first, text = at, lines[at].strip()
        while text.endswith(",") and at + 1 < count:
            at += 1
            text += lines[at].strip()
        key, *options = (part.strip() for part in text[1:].split(","))
        pairs = [option.partition("=") for option in options if option]
        given = {name.strip().upper(): value.strip().strip('"') for name, _, value in pairs}
        at, rows = at + 1, []
        while at < count and (not lines[at].startswith("*") or lines[at].startswith("**")):
            if lines[at].strip() and not lines[at].startswith("**"):
                rows.append([field.strip() for field in lines[at].split(",")])
            at += 1
        yield first + 1, lines[first].strip(), " ".join(key.upper().split()), given, rows


class Reader:
    """Parts, instances and what is outside of them, of the lines of a file."""

    def __init__(self, owner: Named, path: str | Path) -> None:
        self.owner, self.path = owner, str(path)
        self.root, self.parts, self.instances = Part(), {}, {}  # type: ignore[var-annotated]
        self.names: dict[str, str] = {}  # of sets, as they are written
        now = self.root
        for at, line, key, given, rows in blocks_of(Path(path).read_text(encoding="latin-1").splitlines()):
            self.at, self.line = at, line
            try:
                now = self._take(now, key, given, rows)
            except (ValueError, IndexError, KeyError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise self.refuse(f"or a line below it cannot be read ({error})") from None

    def refuse(self, why: str) -> ParameterError:
        """The error of the line that is read."""
        return ParameterError(self.owner, "path", self.path, f"line {self.at}, '{self.line[:SHOWN]}': {why}")

    def _take(self, now, key, given, rows):
        """Take what a keyword says into a part; returns the part that the next one is for."""
        if key in MAKERS or (key in ("NODE", "ELEMENT") and "INPUT" in given):
            raise self.refuse("is not followed; write nodes and elements out, into one file")
        if key == "PART":
            return self.parts.setdefault(given["NAME"].upper(), Part(given["NAME"]))
        if key == "INSTANCE":
            return self._place(given, rows)
        if key in ("END PART", "END INSTANCE"):
            return self.root
        if key in ("NODE", "ELEMENT", "NSET", "ELSET", "SURFACE"):
            getattr(self, f"_{key.lower()}")(now, given, rows)
        return now

    def _place(self, given, rows):
        """A new instance: its part, turned and shifted by the lines of data."""
        part = self.parts.get(given["PART"].upper())
        if part is None:
            raise self.refuse(f"there is no part {given['PART']}")
        made = self.instances[given["NAME"].upper()] = part.instance(given["NAME"])
        if rows:
            made.shift = np.array([float(x or 0) for x in (rows[0] + [""] * 3)[:3]])
        if len(rows) > 1:
            a, b, angle = (np.array([float(x) for x in rows[1][k : k + 3]]) for k in (0, 3, 6))
            axis = (b - a) / np.linalg.norm(b - a)
            made.rotation = exp(np.radians(angle[0]) * axis)
            made.shift = made.rotation @ (made.shift - a) + a
        return made

    def _node(self, part, given, rows):
        if given.get("SYSTEM", "R").upper() != "R":
            raise self.refuse("cylindrical or spherical coordinates are not known")
        table = np.array([[float(x or 0) for x in (row + [""] * 4)[:4]] for row in rows]).reshape(-1, 4)
        part.nodes.append(table)
        if "NSET" in given:
            self._add(part, "NSET", given["NSET"], [str(int(label)) for label in table[:, 0]])

    def _element(self, part, given, rows):
        kind = self._kind(given["TYPE"].upper())
        numbers = [int(x) for row in rows for x in row if x]
        if kind is None:
            return
        per = NODES_OF[kind] + 1
        if len(numbers) % per:
            raise self.refuse(f"{given['TYPE']} has {per - 1} nodes, which the lines below do not give to each element")
        table = np.array(numbers, np.int64).reshape(-1, per)
        part.cells.setdefault(kind, []).append(table)
        if "ELSET" in given:
            self._add(part, "ELSET", given["ELSET"], [str(label) for label in table[:, 0]])

    def _kind(self, name):
        """Type of cell; None of what has no form."""
        for pattern, kinds in ((SOLID, SOLIDS), (FLAT, FLATS)):
            found = pattern.match(name)
            if found and ("STRI65" in name or int(found[1]) in kinds):
                return "triangle6" if "STRI65" in name else kinds[int(found[1])]
        if name.startswith(PASSED):
            return None
        raise self.refuse(f"elements of type {name} are not known")

    def _add(self, part, what, name, entries):
        self.names.setdefault(name.upper(), name)
        part.sets[what].setdefault(name.upper(), []).extend(entries)

    def _set(self, part, what, given, rows):
        part = self.instances[given["INSTANCE"].upper()] if "INSTANCE" in given else part
        entries = [field for row in rows for field in row if field]
        if "GENERATE" in given:
            lists = [[int(x) for x in row if x] for row in rows]
            entries = [str(k) for first, last, *step in lists for k in range(first, last + 1, *(step or [1]))]
        for target in [part] if part is not self.root else [self.root, *self.instances.values()]:
            self._add(target, what, given[what], entries)

    def _nset(self, part, given, rows):
        if "ELSET" in given:
            raise self.refuse("a set of the nodes of elements is not known; its elements are a group that has them")
        self._set(part, "NSET", given, rows)

    def _elset(self, part, given, rows):
        self._set(part, "ELSET", given, rows)

    def _surface(self, part, given, rows):
        kind = given.get("TYPE", "ELEMENT").upper()
        if kind == "NODE":
            self._set(part, "NSET", {"NSET": given["NAME"]}, [[row[0]] for row in rows])
        elif kind == "ELEMENT":
            self.names.setdefault(given["NAME"].upper(), given["NAME"])
            for target in [part] if part is not self.root else [self.root, *self.instances.values()]:
                target.surfaces[given["NAME"].upper()] = rows


class Joined:
    """Points, cells and groups of several parts, by types of cells."""

    def __init__(self, owner: Named, reader: Reader) -> None:
        self.owner, self.reader, self.n_points = owner, reader, 0
        self.points: list[np.ndarray] = []
        self.cells: dict[str, list[np.ndarray]] = {}
        self.cell_groups: dict[str, dict[str, list[np.ndarray]]] = {}
        self.point_groups: dict[str, list[np.ndarray]] = {}

    def add(self, part: Part) -> None:
        """Take a part with its sets and surfaces."""
        nodes = np.concatenate(part.nodes)
        number = Labels(self.owner, self.reader.path, nodes[:, 0].astype(np.int64))
        rows = {kind: np.concatenate(tables) for kind, tables in part.cells.items()}
        nodes_of = {kind: self.n_points + number.of(table[:, 1:]) for kind, table in rows.items()}
        for what, found in part.sets["NSET"].items():
            labels = [k for entry in found for k in part.members("NSET", entry)]
            self.point_groups.setdefault(self.reader.names[what], []).append(
                self.n_points + number.of(labels, missing=False)
            )
        for what in part.surfaces:
            for kind, faces in self._faces(part, what, rows, nodes_of).items():
                self._cells(kind, faces, self.reader.names[what])
        sets = {
            name: [k for e in found for k in part.members("ELSET", e)] for name, found in part.sets["ELSET"].items()
        }
        for kind, table in rows.items():
            first = self._cells(kind, nodes_of[kind])
            for name, labels in sets.items():
                self._group(self.reader.names[name], kind, first + np.flatnonzero(np.isin(table[:, 0], labels)))
            if len(self.reader.instances) > 1:
                self._group(part.name, kind, first + np.arange(len(table)))
        self.points.append(nodes[:, 1:] @ part.rotation.T + part.shift)
        self.n_points += len(nodes)

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

    def _faces(self, part, name, rows, nodes_of):
        """Type -> points of the faces of a surface."""
        found: dict[str, list[np.ndarray]] = {}
        for entry, *side in part.surfaces[name]:
            if not side or not re.fullmatch(r"[Ss]\d", side[0]):
                continue  # a side of a shell, or all free faces
            labels = part.members("ELSET", entry)
            for kind, table in rows.items():
                cell, k = CELLS.get(kind), int(side[0][1]) - 1
                chosen = np.isin(table[:, 0], labels)
                if cell is None or not chosen.any():
                    continue
                right = k < len(SIDES[cell.kind])
                self.owner.check(right, "path", self.reader.path, f"surface {name}: a {kind} has no side {side[0]}")
                corners = set(SIDES[cell.kind][k])
                face = next(f for f in cell.faces if set(f[: len(corners)]) == corners)
                found.setdefault(FACES[len(face)].name, []).append(nodes_of[kind][chosen][:, face])
        return {kind: np.concatenate(parts) for kind, parts in found.items()}


def read_abaqus(owner: Named, path: str | Path) -> Found:
    """The mesh of an input file, surfaces as cells and groups of faces.

    Raises
    ------
    ParameterError
        Names the line.
    """
    reader = Reader(owner, path)
    parts = [*(reader.instances or reader.parts).values(), reader.root]
    joined = Joined(owner, reader)
    for part in parts:
        if part.nodes:
            joined.add(part)
    owner.check(joined.cells, "path", str(path), "has no nodes or no elements of Abaqus")
    cells = {kind: np.concatenate(rows) for kind, rows in joined.cells.items()}
    sets = {
        name: [np.concatenate([np.zeros(0, np.int64), *found.get(kind, [])]) for kind in cells]
        for name, found in joined.cell_groups.items()
    }
    points = {name: np.unique(np.concatenate(found)) for name, found in joined.point_groups.items()}
    return Found(np.concatenate(joined.points), cells, sets, points)
