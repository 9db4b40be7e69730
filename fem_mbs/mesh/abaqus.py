"""Meshes of Abaqus input files: nodes, elements, sets and surfaces of parts and their instances.

    *NODE, *ELEMENT, *NSET, *ELSET (GENERATE), *SURFACE (TYPE=ELEMENT, TYPE=NODE), *PART, *INSTANCE, *ASSEMBLY, *SYSTEM

Instances are put where they belong. Where there are several, each is a group; sets of one name are put together.
Labels in a set of the assembly are those of the assembly's own nodes, unless the set names an instance. Surfaces become
groups of faces, of the sides of elements that they name. Files of *INCLUDE and INPUT= are read from the
folder of the file or below. Keywords that make no mesh are passed over, a closed list
(`fem_mbs.mesh.abaqus_keywords`); any other raises an error, as do keywords that generate nodes or elements.
Middle nodes are in the order of VTK.

meshio's reader leaves instances where their part is, supports upper case alone, and neither surfaces nor C3D15.

Source: docs/howto/meshes.md; Abaqus Keywords Reference Guide, sides of elements as in its Elements Guide.
"""

import re
from pathlib import Path

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.arguments.spelling import meant
from fem_mbs.errors import ParameterError
from fem_mbs.mesh.abaqus_keywords import (
    DOTTED,
    MAKERS,
    NAMES,
    READ,
    data_of,
    in_full,
    included,
    key,
    keywords_of,
    plain,
)
from fem_mbs.mesh.abaqus_parts import Joined, Part, system_of
from fem_mbs.mesh.cells import CELLS, FACES
from fem_mbs.mesh.labels import Found
from fem_mbs.mesh.nastran_cards import number
from fem_mbs.mesh.text_files import Lines, beside, text_of
from fem_mbs.rotations import exp

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
SHOWN = 40  # characters of a line in a message


class Reader:
    """Parts, instances and what is outside of them, of the lines of a file."""

    def __init__(self, owner: Named, path: str | Path) -> None:
        self.owner, self.path = owner, str(path)
        self.root, self.parts, self.instances = Part(), {}, {}  # type: ignore[var-annotated]
        self.names: dict[str, str] = {}  # of sets and surfaces, as they are written
        self.ranges: set[str] = set()  # keys of sets that GENERATE made: they may have gaps
        self.warnings: list[str] = []
        self.system = np.zeros(3), np.eye(3)  # position and axes of that in which nodes are given
        self.source = Lines(owner, path, included)
        now = self.root
        for found in keywords_of(self.source.lines):
            self.at, self.line = found.at, found.line
            try:
                name = self._keyword(found.name)
                if name is not None:
                    given = self._parameters(name, found.given)
                    now = self._take(now, name, given, [*found.rows, *self._rows_of(given.get("INPUT"))])
            except (ValueError, IndexError, KeyError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise self.refuse(f"or a line below it cannot be read ({error}). Correct it there") from None

    def refuse(self, why: str) -> ParameterError:
        """The error of the line that is read."""
        return ParameterError(self.owner, "path", self.path, f"{self.where}, '{self.line[:SHOWN]}': {why}")

    @property
    def where(self) -> str:
        """The number of the line that is read, and its file where it is another one."""
        return self.source.where(self.at - 1)

    def check_root(self) -> None:
        """Warn about sets outside of parts, where there are no nodes: their labels are of none."""
        for what, sets in self.root.sets.items():
            kind, known = ("nodes", []) if what == "NSET" else ("elements", self.root.formless)
            for name, members in sets.items():
                lost = set(members.get("", [])) - set(known)
                if lost and name not in self.ranges:
                    text = f"set '{self.names[name]}' has {len(lost)} {kind} that are not there, {min(lost)} first"
                    self.warnings.append(f"{text}; a set of the assembly names its instance")

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
        if "FILE" in full:
            raise self.refuse("results of another analysis are not read; write nodes and elements out")
        return full

    def _rows_of(self, name):
        """Return the fields of the data lines of a file in the same folder."""
        if not name:
            return []
        file = beside(self.owner, self.path, plain(name), f"{self.where}, '{self.line[:SHOWN]}'")
        return list(data_of(text_of(file).split("\n")))

    def _take(self, now, name, given, rows):
        """Take what a keyword says into a part; returns the part that the next one is for."""
        if name in ("PART", "END PART", "SYSTEM"):
            self.system = system_of(rows if name == "SYSTEM" else [])
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
            made.shift = np.array([number(x or "0") for x in (rows[0] + [""] * 3)[:3]])
        if len(rows) > 1:
            fields = np.array([number(x or "0") for x in (rows[1] + [""] * 7)[:7]])
            a, b, angle = fields[:3], fields[3:6], fields[6:]
            if not (a != b).any():
                raise self.refuse(f"the axis of instance {given['NAME']} has no direction: its two points are equal")
            axis = (b - a) / np.linalg.norm(b - a)
            made.rotation = exp(np.radians(angle[0]) * axis)
            made.shift = made.rotation @ (made.shift - a) + a
        return made

    def _node(self, part, given, rows):
        system = given.get("SYSTEM", "R").upper()
        if system not in ("R", "C"):
            raise self.refuse(f"SYSTEM={system} is not supported; write nodes in cartesian or cylindrical coordinates")
        table = np.array([[number(x or "0") for x in (row + [""] * 4)[:4]] for row in rows]).reshape(-1, 4)
        if system == "C":  # radius, angle in degrees, z
            r, angle = table[:, 1].copy(), np.radians(table[:, 2])
            table[:, 1], table[:, 2] = r * np.cos(angle), r * np.sin(angle)
        p, R = self.system
        table[:, 1:] = table[:, 1:] @ R.T + p
        part.nodes.append(table)
        if "NSET" in given:
            self._add(part, "NSET", given["NSET"], {"": [int(label) for label in table[:, 0]]})

    def _element(self, part, given, rows):
        kind = self._kind(given["TYPE"].upper())
        if kind is None:  # its nodes may be of instances, "I.7"
            labels = [int(row[0]) for row in rows if row[0]]
            part.formless.extend(labels)
        else:
            table = np.array(self._numbers(given["TYPE"], NODES_OF[kind] + 1, rows), np.int64)
            table = table.reshape(-1, NODES_OF[kind] + 1)
            labels = [int(label) for label in table[:, 0]]
            fresh = [part.elements.add(label, kind, nodes) for label, *nodes in table.tolist()]
            part.cells.setdefault(kind, []).append(table[np.array(fresh, bool)])
        if "ELSET" in given:
            self._add(part, "ELSET", given["ELSET"], {"": labels})

    def _numbers(self, name, per, rows):
        """Labels of elements and of their nodes; each element begins on a line and takes as many as it needs."""
        found, held = [], []  # type: ignore[var-annotated]
        for row in rows:
            held += [int(x) for x in row if x]
            if len(held) >= per:
                found.append(held)
                held = []
        wrong = next((one for one in [*found, held] if len(one) not in (0, per)), None)
        if wrong is not None:
            why = f"{name} has {per - 1} nodes, which the lines below do not give to each element, as {wrong[0]}"
            raise self.refuse(why)
        return found

    def _kind(self, name):
        """Type of cell; None of what has no form."""
        for pattern, kinds in ((SOLID, SOLIDS), (FLAT, FLATS)):
            found = pattern.match(name)
            if found and ("STRI65" in name or int(found[1]) in kinds):
                return "triangle6" if "STRI65" in name else kinds[int(found[1])]
        if name.startswith(PASSED):
            return None
        solids = ", ".join(f"C3D{n}" for n in sorted(SOLIDS))
        why = f"elements of type {name} are not supported; solid ones are {solids}. Write them as these, or remove"
        raise self.refuse(f"{why} them if they are no part of the mesh")

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

    def _target(self, part, given):
        """The part that a set is of, and its key: itself, or the instance that is named."""
        if "INSTANCE" not in given:
            return part, ""
        where = key(given["INSTANCE"])
        if where not in self.instances:
            raise self.refuse(f"there is no instance {given['INSTANCE']}")
        return self.instances[where], where

    def _set(self, part, what, given, rows):
        name = given[what]
        target, where = self._target(part, given)
        self._add(part, what, name, {})
        if "GENERATE" in given:
            found = []
            for first, last, step in (([int(x) for x in row if x] + [1])[:3] for row in rows):
                if first > last or step < 1:
                    raise self.refuse(f"GENERATE from {first} to {last} by {step}: the first must not exceed the last")
                found.extend(range(first, last + 1, step))
            self.ranges.add(key(name))
            self._add(part, what, name, {where: found})
            return
        for entry in (field for row in rows for field in row if field):
            labels = self.members(target, what, entry)
            self._add(part, what, name, labels if target is part else {where: labels.get("", [])})

    def _nset(self, part, given, rows):
        if "ELSET" not in given:
            self._set(part, "NSET", given, rows)
            return
        target, where = self._target(part, given)  # the nodes of elements
        for inside, labels in self.members(target, "ELSET", given["ELSET"]).items():
            elements = (self.instances[inside] if inside else target).elements.nodes
            formless = [label for label in labels if label not in elements]
            if formless:
                name = plain(given["NSET"])
                self.warnings.append(f"{self.where}: set '{name}' lacks the nodes of {len(formless)} elements")
            nodes = sorted({node for label in labels if label in elements for node in elements[label][1:]})
            self._add(part, "NSET", given["NSET"], {inside or where: nodes})

    def _elset(self, part, given, rows):
        self._set(part, "ELSET", given, rows)

    def _surface(self, part, given, rows):
        short = "".join(given.get("TYPE", "ELEMENT").split()).upper()
        kinds = in_full(short, SURFACES)
        if len(kinds) != 1:
            raise self.refuse(f"TYPE={short} is no type of a surface")
        if "COMBINE" in given or "CROP" in given or kinds[0] not in ("ELEMENT", "NODE"):
            what = "combined" if kinds[0] in ("ELEMENT", "NODE") else f"of type {kinds[0]}"
            self.warnings.append(f"{self.where}: surface '{plain(given['NAME'])}' is {what}; it becomes no group")
        elif kinds[0] == "NODE":
            self._set(part, "NSET", {"NSET": given["NAME"]}, [[row[0]] for row in rows])
        else:
            self.names.setdefault(key(given["NAME"]), plain(given["NAME"]))
            sides = [side[0] if side else "" for _, *side in rows]
            other = [side for side in sides if not re.fullmatch(r"[Ss]\d", side)]
            if other:
                what = f"side {other[0]} of shells" if other[0] else "all free faces of a set"
                self.warnings.append(f"{self.where}: surface '{plain(given['NAME'])}' has {what}; it becomes no group")
            else:
                part.surfaces[key(given["NAME"])] = self.at, self.line, rows


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
    if not reader.root.nodes:
        reader.check_root()
    every = (*reader.parts.values(), *reader.instances.values(), reader.root)
    twice = [text for part in every for text in part.elements.warnings()]
    return Found(np.concatenate(joined.points), cells, sets, points, [*reader.warnings, *twice])
