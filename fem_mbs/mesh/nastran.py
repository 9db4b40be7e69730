"""Meshes in bulk data of Nastran: GRID, CTETRA, CHEXA, CPENTA, CPYRAM, triangles and quadrilaterals.

Groups are "property 7" of the cells with this number of a property, and "SPC1 3" of the points that a set of supports
holds. Lines, springs, rigid elements, loads and materials are passed over. Cards of elements and grids begin with C and
G: those that are passed over are a closed list (`PASSED`), any other raises an error that names it, as do several
parts of bulk data (superelements) and cells without some of their middle nodes. Grids may be in other coordinate
systems
(`fem_mbs.mesh.nastran_frames`); files named by INCLUDE are read from the folder of the file or below. Cards after
ENDDATA are not read.

Nodes are numbered as those of VTK but for the middles of upright edges, which Nastran has before those of the upper
face. meshio's reader takes no blank continuations, which most programs write, and drops middle nodes of CPENTA.

Source: docs/howto/meshes.md; MSC Nastran Quick Reference Guide, bulk data entries.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError
from fem_mbs.mesh.labels import Elements, Found, Labels, distinct
from fem_mbs.mesh.nastran_cards import cards_of, listed, number
from fem_mbs.mesh.nastran_frames import Frames
from fem_mbs.mesh.text_files import Lines

# number of nodes -> type of cell, and where its nodes stand in the card
HEXA20 = [*range(12), *range(16, 20), *range(12, 16)]
WEDGE15 = [*range(9), *range(12, 15), *range(9, 12)]
CELLS_OF: dict[str, dict[int, tuple[str, Sequence[int]]]] = {
    "CTETRA": {4: ("tetra", range(4)), 10: ("tetra10", range(10))},
    "CHEXA": {8: ("hexahedron", range(8)), 20: ("hexahedron20", HEXA20)},
    "CPENTA": {6: ("wedge", range(6)), 15: ("wedge15", WEDGE15)},
    "CPYRAM": {5: ("pyramid", range(5)), 13: ("pyramid13", range(13))},
    "CPYRA": {5: ("pyramid", range(5)), 13: ("pyramid13", range(13))},
    "CTRIA3": {3: ("triangle", range(3))}, "CTRIAR": {3: ("triangle", range(3))},
    "CQUAD4": {4: ("quad", range(4))}, "CQUADR": {4: ("quad", range(4))},
    "CTRIA6": {6: ("triangle6", range(6))}, "CQUAD8": {8: ("quad8", range(8))},
}  # fmt: skip
PASSED = """
CBAR CBARAO CBEAM CBEAM3 CBEND CROD CONROD CTUBE CVISC CGAP CGAPG CELAS1 CELAS2 CELAS3 CELAS4 CDAMP1 CDAMP2 CDAMP3
CDAMP4 CDAMP5 CMASS1 CMASS2 CMASS3 CMASS4 CONM1 CONM2 CBUSH CBUSH1D CBUSH2D CWELD CFAST CSEAM CHBDYE CHBDYG CHBDYP CONV
CONV3 CONVM CONTRLT CORD3G CORD3R CREEP CSET CSET1 CSUPER CSUPEXT CAERO1
CAERO2 CAERO3 CAERO4 CAERO5 CSSCHD CLOAD CYAX CYJOIN CYSUP CYSYM CEND CNTNL CONTACT CONTF CONTPRM CONTX11 CONCTL
CMBEAM CMBUSH CMBUSHC CMBUSHE CMBUSHT CMSPDP CMSPDPC CMSPDPE GENEL GRAV GUST GAPPRM GVAR GPFORCE GLOBSUB
""".split()  # lines, springs, masses, coordinate systems, loads that begin with C or G
INCLUDE = re.compile(r"""\s*INCLUDE\s+(?:'([^']+)'|"([^"]+)"|([^\s'"$]+))\s*(?:\$|$)""", re.IGNORECASE)
SHOWN = 40  # characters of a line in a message


class Bulk:
    """What the cards of a file say: labels and places of points, cells by type with their properties, supports."""

    def __init__(self, owner: Named, path: str | Path) -> None:
        self.owner, self.path = owner, str(path)
        self.labels: list[int] = []
        self.given: list[list[float]] = []  # coordinates
        self.systems: list[int | None] = []  # in which they are; None: the default
        self.system = 0  # that default
        self.frames = Frames()
        self.cells: dict[str, list[list[int]]] = {}
        self.properties: dict[str, list[int]] = {}
        self.held: dict[str, list[int]] = {}
        self.elements = Elements()
        self.warnings: list[str] = []
        self.source = Lines(owner, path, _included)
        lines = self.source.lines
        heads = (k + 1 for k, line in enumerate(lines) if line.split("$")[0].upper().split() == ["BEGIN", "BULK"])
        begin = next(heads, 0)  # files of bulk data alone have no such line
        ends = (k for k in range(begin, len(lines)) if lines[k].lstrip().upper().startswith("ENDDATA"))
        lines = lines[: next(ends, len(lines))]
        for at, line, (card, *fields) in cards_of(lines[begin:]):
            self.at, self.line = begin + at, line.strip()
            try:
                self._take(card.rstrip("_"), fields)
            except (ValueError, IndexError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise self.refuse(f"cannot be read ({error})") from None
        declared = sum(line.split("$")[0].upper().lstrip().startswith(tuple(CELLS_OF)) for line in lines[begin:])
        message = f"has {declared} lines that begin a cell, of which {self.elements.count} were read"
        owner.check(declared == self.elements.count, "path", self.path, message)

    def refuse(self, why: str) -> ParameterError:
        """The error of the line that is read."""
        return ParameterError(self.owner, "path", self.path, f"{self.where}: {why}")

    @property
    def where(self) -> str:
        """The line that is read, with its number, and its file where it is another one."""
        return f"{self.source.where(self.at - 1)}, '{self.line[:SHOWN]}'"

    def _take(self, card, fields):
        if card == "GRID":
            self.labels.append(int(fields[0]))
            self.systems.append(int(fields[1]) if fields[1] else None)
            self.given.append([number(x or "0") for x in fields[2:5]])
        elif card == "GRDSET":
            self.system = int(fields[1] or 0)
        elif card in ("CORD1R", "CORD1C", "CORD1S", "CORD2R", "CORD2C", "CORD2S"):
            self.frames.add(card, fields)
        elif card in CELLS_OF:
            kind, nodes = self._cell(card, fields[2:])
            if not self.elements.add(int(fields[0]), kind, nodes):
                return
            self.cells.setdefault(kind, []).append(nodes)
            self.properties.setdefault(kind, []).append(int(fields[1] or 0))
        elif card == "SPC1":
            try:
                self.held.setdefault(f"SPC1 {fields[0]}", []).extend(listed(fields[2:]))
            except (ValueError, IndexError) as error:  # the mesh does not need it
                self.warnings.append(f"{self.where}: SPC1 {fields[0]} cannot be read ({error}); it becomes no group")
        elif card.startswith(("INCLUDE", "BEGIN")):
            raise self.refuse("is not followed; put all into one part of bulk data, and INCLUDE 'file' on one line")
        elif card.startswith(("C", "G")) and card not in PASSED:
            cells = ", ".join(CELLS_OF)
            raise self.refuse(f"{card} is not supported; cells are {cells}. Remove it if it is no part of the mesh")

    def _cell(self, card, fields):
        """Type and labels of the nodes of a cell, in the order of VTK."""
        kinds = CELLS_OF[card]
        nodes = [int(x) if x.isdigit() else 0 for x in fields[: max(kinds)]]  # behind them: angles, thicknesses
        while nodes and nodes[-1] == 0:
            nodes.pop()
        if len(nodes) not in kinds or 0 in nodes:
            there = " or ".join(map(str, kinds))
            raise self.refuse(f"has {np.count_nonzero(nodes)} nodes; a {card} must have {there}, without gaps")
        kind, order = kinds[len(nodes)]
        return kind, [nodes[k] for k in order]

    def places(self) -> np.ndarray:
        """Places (n, 3) of the points in the basic coordinate system.

        Raises
        ------
        ParameterError
            Names the coordinate system that is not there, or has no axes.
        """
        systems = [self.system if system is None else system for system in self.systems]
        found = np.array(self.given, float).reshape(-1, 3)
        self.frames.grids = {label: one for label, *one in zip(self.labels, systems, found.copy())}  # type: ignore[misc]
        for k in np.flatnonzero(systems):
            try:
                found[k] = self.frames.frame(systems[k]).place(found[k])
            except ValueError as error:
                why = f"has grid {self.labels[k]} in coordinate system {systems[k]}: {error}"
                raise ParameterError(self.owner, "path", self.path, why) from None
        return found


def _included(line):
    """Name of the file that a line includes; None of other lines."""
    found = INCLUDE.match(line)
    return next((name for name in found.groups() if name), None) if found else None


def read_nastran(owner: Named, path: str | Path) -> Found:
    """The mesh of a file of bulk data, with or without the sections before it.

    Raises
    ------
    ParameterError
        Names the line.
    """
    bulk = Bulk(owner, path)
    owner.check(bulk.labels and bulk.cells, "path", str(path), "has no GRID, or no cells of Nastran's bulk data")
    numbers, places = distinct(owner, path, bulk.labels, bulk.places())
    labels = Labels(owner, path, numbers)
    tags = [np.array(bulk.properties[kind]) for kind in bulk.cells]
    different = np.unique(np.concatenate(tags))
    groups = {f"property {k}": [np.flatnonzero(tag == k) for tag in tags] for k in different[different > 0]}
    held = {name: labels.of(nodes, missing=False) for name, nodes in bulk.held.items()}
    cells = {kind: labels.of(rows) for kind, rows in bulk.cells.items()}
    return Found(places, cells, groups, held, [*bulk.warnings, *bulk.elements.warnings()])
