"""Meshes of Abaqus input files: nodes, elements, sets and surfaces of parts and their instances.

    *NODE, *ELEMENT, *NSET, *ELSET (GENERATE), *SURFACE (TYPE=ELEMENT, TYPE=NODE), *PART, *INSTANCE, *ASSEMBLY

Instances are put where they belong. Where there are several, each is a group; sets of one name are put together.
Labels in a set of the assembly are those of the assembly's own nodes, unless the set names an instance. Surfaces become
groups of faces, of the sides of elements that they name. Keywords that make no mesh are passed over, a closed list
(`fem_mbs.abaqus_keywords`); any other is refused, and what would make nodes or elements, or take them from other files.
Middle nodes are in the order of VTK.

meshio's reader leaves instances where their part is, knows upper case alone, and neither surfaces nor C3D15.

Source: docs/howto/meshes.md; Abaqus Keywords Reference Guide, sides of elements as in its Elements Guide.
"""

import re
from pathlib import Path

import numpy as np

from fem_mbs.abaqus_keywords import DOTTED, MAKERS, NAMES, READ, in_full, key, keywords_of, plain
from fem_mbs.arguments import Named
from fem_mbs.cells import CELLS, FACES
from fem_mbs.errors import ParameterError
from fem_mbs.mesh_labels import Elements, Found, Labels
from fem_mbs.rotations import exp
from fem_mbs.spelling import meant
from fem_mbs.text_files import text_of

SOLID = re.compile(r"D?C3D(\d+)")
FLAT = re.compile(r"(?:CPS|CPE|CPEG|CAX|S|STRI|M3D|SFM3D|R3D|DS)(\d)")
SOLIDS = {4: "tetra", 10: "tetra10", 8: "hexahedron", 20: "hexahedron20", 6: "wedge", 15: "wedge15", 5: "pyramid"}
FLATS = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8"}
NODES_OF = {"pyramid": 5} | {cell.name: cell.nn for cell in (*CELLS.values(), *FACES.values())}
PASSED = (  # types of elements without a form
    "B2", "B3", "T2D", "T3D", "PIPE", "ELBOW", "FRAME", "MASS", "ROTARYI", "HEATCAP", "SPRING", "DASHPOT", "CONN", "RB",
    "R2D", "GAP", "DCOUP", "JOINTC", "ITS", "TRACER",
)  # fmt: skip
SURFACES = (
    "ELEMENT",
    "NODE",
    "CUTTING SURFACE",
    "CYLINDER",
    "EULERIAN MATERIAL",
    "REVOLUTION",
    "SEGMENTS",
    "USER",
    "VOID",
)
NEEDED = {  # parameters of keywords
    "ELEMENT": ["TYPE"], "NSET": ["NSET"], "ELSET": ["ELSET"], "SURFACE": ["NAME"], "PART": ["NAME"],
    "INSTANCE": ["NAME", "PART"],
}  # fmt: skip
SIDES = {  # corners of the sides S1, S2 …
    "tetra": [(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)],
    "wedge": [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)],
    "hexahedron": [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)],
}
SHOWN = 40  # characters of a line in a message


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
        new.cells = {kind: list(rows) for kind, rows in self.cells.items()}
        new.sets = {
            what: {name: {where: list(labels) for where, labels in one.items()} for name, one in found.items()}
            for what, found in self.sets.items()
        }
        new.surfaces = dict(self.surfaces)
        return new


class Reader:
    """Parts, instances and what is outside of them, of the lines of a file."""

    def __init__(self, owner: Named, path: str | Path) -> None:
        self.owner, self.path = owner, str(path)
        self.root, self.parts, self.instances = Part(), {}, {}  # type: ignore[var-annotated]
        self.names: dict[str, str] = {}  # of sets and surfaces, as they are written
        self.ranges: set[str] = set()  # keys of sets that GENERATE made: they may have gaps
        self.doubts: list[str] = []
        now, lines = self.root, text_of(path).split("\n")
        for found in keywords_of(lines):
            self.at, self.line = found.at, found.line
            try:
                name = self._keyword(found.name)
                if name is not None:
                    now = self._take(now, name, self._parameters(name, found.given), found.rows)
            except (ValueError, IndexError, KeyError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise self.refuse(f"or a line below it cannot be read ({error})") from None

    def refuse(self, why: str) -> ParameterError:
        """The error of the line that is read."""
        return ParameterError(self.owner, "path", self.path, f"line {self.at}, '{self.line[:SHOWN]}': {why}")

    def _keyword(self, short):
        """The name of a keyword that is read; None of one that is passed over."""
        found = in_full(short, NAMES.values())
        if not found:
            near = meant(short, [*READ, *NAMES.values()])
            hint = f"; {near}" if near.startswith("did you mean") else ""
            why = f"*{short} is not supported{hint}. Remove it with its lines if it makes no nodes, elements or sets"
            raise self.refuse(why)
        if found[0] in MAKERS and len(found) == 1:
            raise self.refuse("is not followed; write nodes and elements out, into one file")
        ours = [name for name in found if name in READ or name in MAKERS]
        if ours and len(found) > 1:
            raise self.refuse(f"*{short} may stand for *{' or *'.join(found[:4])}; write the keyword in full")
        return ours[0] if ours else None

    def _parameters(self, name, given):
        """The parameters of a keyword by their full names."""
        full = {}
        for short, value in given.items():
            found = in_full(short, READ[name])
            if len(found) != 1:
                why = (
                    f"may stand for {' or '.join(found)}" if found else f"is no parameter of *{name} that is supported"
                )
                raise self.refuse(f"{short} {why}")
            full[found[0]] = value
        if name == "INSTANCE" and ("INSTANCE" in full or "LIBRARY" in full):
            raise self.refuse("an instance of another analysis is not supported; write its nodes and elements out")
        missing = [one for one in NEEDED.get(name, ()) if not full.get(one)]
        if missing:
            raise self.refuse(f"*{name} needs {missing[0]}=…")
        if "INPUT" in full or "FILE" in full:
            raise self.refuse("is not followed; write nodes and elements out, into one file")
        return full

    def _take(self, now, name, given, rows):
        """Take what a keyword says into a part; returns the part that the next one is for."""
        if name == "PART":
            return self.parts.setdefault(key(given["NAME"]), Part(plain(given["NAME"])))
        if name == "INSTANCE":
            return self._place(given, rows)
        if name in ("END PART", "END INSTANCE"):
            return self.root
        if name in ("NODE", "ELEMENT", "NSET", "ELSET", "SURFACE"):
            getattr(self, f"_{name.lower()}")(now, given, rows)
        return now

    def _place(self, given, rows):
        """A new instance: its part, turned and shifted by the lines of data."""
        part = self.parts.get(key(given["PART"]))
        if part is None:
            raise self.refuse(f"there is no part {given['PART']}")
        made = self.instances[key(given["NAME"])] = part.instance(plain(given["NAME"]))
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
            self._add(part, "NSET", given["NSET"], {"": [int(label) for label in table[:, 0]]})

    def _element(self, part, given, rows):
        kind = self._kind(given["TYPE"].upper())
        numbers = [int(x) for row in rows for x in row if x]
        if kind is None:
            labels = [int(row[0]) for row in rows if row[0]]
            part.formless.extend(labels)
        else:
            per = NODES_OF[kind] + 1
            if len(numbers) % per:
                why = f"{given['TYPE']} has {per - 1} nodes, which the lines below do not give to each element"
                raise self.refuse(why)
            table = np.array(numbers, np.int64).reshape(-1, per)
            labels = [int(label) for label in table[:, 0]]
            fresh = [part.elements.add(label, kind, nodes) for label, *nodes in table.tolist()]
            part.cells.setdefault(kind, []).append(table[np.array(fresh, bool)])
        if "ELSET" in given:
            self._add(part, "ELSET", given["ELSET"], {"": labels})

    def _kind(self, name):
        """Type of cell; None of what has no form."""
        for pattern, kinds in ((SOLID, SOLIDS), (FLAT, FLATS)):
            found = pattern.match(name)
            if found and ("STRI65" in name or int(found[1]) in kinds):
                return "triangle6" if "STRI65" in name else kinds[int(found[1])]
        if name.startswith(PASSED):
            return None
        raise self.refuse(f"elements of type {name} are not known")

    def _add(self, part, what, name, labels):
        """Add labels, by "" and the keys of instances, to a set."""
        self.names.setdefault(key(name), plain(name))
        found = part.sets[what].setdefault(key(name), {})
        for where, more in labels.items():
            found.setdefault(where, []).extend(more)

    def members(self, part: Part, what: str, entry: str) -> dict[str, list[int]]:
        """Labels by "" and the keys of instances: of a label, a set, or those of an instance ("I.SET", "I.7").

        Raises
        ------
        ParameterError
            No such set has been defined before.
        """
        if entry.lstrip("-").isdigit():
            return {"": [int(entry)]}
        if key(entry) in part.sets[what]:
            return part.sets[what][key(entry)]
        dotted = DOTTED.fullmatch(entry)
        instance = self.instances.get(key(dotted[1])) if dotted else None
        if instance is not None and dotted is not None:
            labels = self.members(instance, what, dotted[2]).get("", [])
            return {"" if instance is part else key(dotted[1]): labels}
        where = f" of {part.name}" if part.name else ""
        raise self.refuse(f"there is no {'node' if what == 'NSET' else 'element'} set '{plain(entry)}'{where}")

    def _set(self, part, what, given, rows):
        name, target, where = given[what], part, ""
        if "INSTANCE" in given:
            where = key(given["INSTANCE"])
            target = self.instances.get(where)
            if target is None:
                raise self.refuse(f"there is no instance {given['INSTANCE']}")
        self._add(part, what, name, {})
        if "GENERATE" in given:
            lists = [[int(x) for x in row if x] for row in rows]
            found = [k for first, last, *step in lists for k in range(first, last + 1, *(step or [1]))]
            self.ranges.add(key(name))
            self._add(part, what, name, {where: found})
            return
        for entry in (field for row in rows for field in row if field):
            labels = self.members(target, what, entry)
            self._add(part, what, name, labels if target is part else {where: labels.get("", [])})

    def _nset(self, part, given, rows):
        if "ELSET" in given:
            raise self.refuse("a set of the nodes of elements is not known; its elements are a group that has them")
        self._set(part, "NSET", given, rows)

    def _elset(self, part, given, rows):
        self._set(part, "ELSET", given, rows)

    def _surface(self, part, given, rows):
        short = "".join(given.get("TYPE", "ELEMENT").split()).upper()
        kinds = in_full(short, SURFACES)
        if len(kinds) != 1:
            raise self.refuse(f"TYPE={short} is no type of a surface")
        if "COMBINE" in given or "CROP" in given or kinds[0] not in ("ELEMENT", "NODE"):
            what = "combined" if kinds[0] in ("ELEMENT", "NODE") else f"of type {kinds[0]}"
            self.doubts.append(f"line {self.at}: surface '{plain(given['NAME'])}' is {what}; it becomes no group")
        elif kinds[0] == "NODE":
            self._set(part, "NSET", {"NSET": given["NAME"]}, [[row[0]] for row in rows])
        else:
            self.names.setdefault(key(given["NAME"]), plain(given["NAME"]))
            sides = [side[0] if side else "" for _, *side in rows]
            other = [side for side in sides if not re.fullmatch(r"[Ss]\d", side)]
            if other:
                what = f"side {other[0]} of shells" if other[0] else "all free faces of a set"
                self.doubts.append(f"line {self.at}: surface '{plain(given['NAME'])}' has {what}; it becomes no group")
            else:
                part.surfaces[key(given["NAME"])] = self.at, self.line, rows


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
        known = {"NSET": nodes[:, 0], "ELSET": np.array(part.formless, np.int64)}
        for table in rows.values():
            known["ELSET"] = np.concatenate([known["ELSET"], table[:, 0]])
        sets = {what: self._labels(part, what, known[what]) for what in known}
        for what, labels in sets["NSET"].items():
            self.point_groups.setdefault(self.reader.names[what], []).append(
                self.n_points + number.of(labels, missing=False)
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
        self.points.append(nodes[:, 1:] @ part.rotation.T + part.shift)
        self.n_points += len(nodes)

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
                self.reader.doubts.append(text)
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
    twice = [text for part in (*reader.parts.values(), reader.root) for text in part.elements.warnings()]
    return Found(np.concatenate(joined.points), cells, sets, points, [*reader.doubts, *twice])
