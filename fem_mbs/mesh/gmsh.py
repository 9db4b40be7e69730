"""Meshes of Gmsh: MSH 4.1, 4.0 and 2.2, as text or binary, partitioned or not, with all physical groups.

A group is a dimension and a number, with a name or without: "physical 7". Groups of one name are put together. An
entity of MSH 4 may be in several groups; MSH 2.2 writes its cells once for each of them, and
`fem_mbs.mesh.files.mesh_of` makes them one. Numbers of nodes and cells are compared with those that the file declares.
Parameters of nodes, periodic nodes, data and ghost cells are passed over.

meshio's reader loses groups that share a name, have none, or are of a reversed surface, and does not support
partitions.

Source: docs/howto/meshes.md; Gmsh reference manual, "MSH file format".
"""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError
from fem_mbs.mesh.labels import Found, Labels, distinct
from fem_mbs.mesh.text_files import decoded, text_of

# number of a type -> type of cell, its dimension, and where its nodes stand in the file
TYPES: dict[int, tuple[str, int, Any]] = {
    15: ("vertex", 0, range(1)), 1: ("line", 1, range(2)), 8: ("line3", 1, range(3)),
    2: ("triangle", 2, range(3)), 9: ("triangle6", 2, range(6)), 3: ("quad", 2, range(4)),
    16: ("quad8", 2, range(8)), 10: ("quad9", 2, range(9)),
    4: ("tetra", 3, range(4)), 11: ("tetra10", 3, [*range(8), 9, 8]),
    5: ("hexahedron", 3, range(8)),
    17: ("hexahedron20", 3, [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15]),
    12: ("hexahedron27", 3, [*range(8), 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15, 22, 23, 21, 24, 20, 25, 26]),
    6: ("wedge", 3, range(6)), 18: ("wedge15", 3, [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11]),
    13: ("wedge18", 3, [*range(6), 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16]),
    7: ("pyramid", 3, range(5)), 19: ("pyramid13", 3, [*range(5), 5, 8, 10, 6, 7, 9, 11, 12]),
    14: ("pyramid14", 3, [*range(5), 5, 8, 10, 6, 7, 9, 11, 12, 13]),
}  # fmt: skip
SECTION = re.compile(rb"\$(\w+)[ \t]*\r?\n")
NAME = re.compile(r'\s*(\d+)\s+(-?\d+)\s+"(.*)"\s*$')
VERSIONS = ("2.2", "4.0", "4.1")


class Numbers:
    """Numbers of a section one after the other, of words or of binary data.

    Parameters
    ----------
    body : bytes
    order : "", "<" or ">", of the bytes; "" of text
    """

    def __init__(self, body: bytes, order: str) -> None:
        self.body, self.order, self.at = body, order, 0
        self.words = None if order else self._words(body)

    @staticmethod
    def _words(body):
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # what NumPy says of a word that is no number
            try:
                return np.fromstring(body, sep=" ") if body.strip() else np.zeros(0)
            except DeprecationWarning:
                raise ValueError("it has words that are no numbers") from None

    def _take(self, n, kind):
        size = 1 if self.words is not None else int(kind[1:])
        first, self.at = self.at, self.at + int(n) * size
        if n < 0 or self.at > len(self.body if self.words is None else self.words):
            raise ValueError("it is shorter than it declares")
        if self.words is not None:
            return self.words[first : self.at]
        return np.frombuffer(self.body[first : self.at], self.order + kind)

    def whole(self, n: int, kind: str = "i4") -> np.ndarray:
        """The next ``n`` whole numbers, (n,) int64; ``kind``: how binary files write them."""
        return self._take(n, kind).astype(np.int64)

    def real(self, n: int) -> np.ndarray:
        """The next ``n`` numbers, (n,) float."""
        return self._take(n, "f8").astype(float)

    def end(self) -> None:
        """Raise a ValueError if numbers are left."""
        rest = self.body[self.at :].strip() if self.words is None else self.words[self.at :]
        if len(rest):
            raise ValueError("it is longer than it declares")


class Reader:
    """Nodes, cells and groups of a file.

    Attributes
    ----------
    labels, places : of the nodes
    cells : list of (type, labels of nodes (k, nn), numbers of groups of each cell)
    """

    def __init__(self, owner: Named, path: str | Path) -> None:
        self.owner, self.path = owner, str(path)
        self.version, self.order, self.wide = "", "", "u8"
        self.labels: list[np.ndarray] = []
        self.places: list[np.ndarray] = []
        self.names: dict[tuple[int, int], str] = {}
        self.groups_of: dict[tuple[int, int], list[int]] = {}  # of an entity
        self.cells: list[tuple[int, np.ndarray, np.ndarray | list[int]]] = []
        takes = {"MeshFormat": self._format, "PhysicalNames": self._names, "Entities": self._entities,
                 "PartitionedEntities": self._partitions, "Nodes": self._nodes, "Elements": self._elements}  # fmt: skip
        for name, body in self._sections(Path(path).read_bytes()):
            if name not in takes:
                continue
            if not self.version and name != "MeshFormat":
                raise self.refuse(f"has ${name} before $MeshFormat. {self.remedy}")
            try:
                takes[name](body)
            except (ValueError, IndexError, KeyError, OverflowError) as error:
                if isinstance(error, ParameterError):
                    raise
                raise self.refuse(f"section ${name} cannot be read: {error}") from None
        if not self.labels or not self.cells:
            raise self.refuse(f"has no $Nodes or no $Elements. {self.remedy}")

    remedy = "Save it in Gmsh as MSH 4.1 (Mesh.MshFileVersion = 4.1)"

    def refuse(self, why: str) -> ParameterError:
        """The error of the file."""
        return ParameterError(self.owner, "path", self.path, f"is no MSH file that can be read: {why}")

    def _sections(self, raw):
        """Names and bodies of the sections; of text in UTF-8, with line feeds."""
        found = re.search(rb"\$MeshFormat\s+\S+\s+(\d)", raw)
        if found is None or found[1] == b"0":
            raw = text_of(self.path).encode()
        at = 0
        while (head := SECTION.search(raw, at)) is not None:
            name = head[1].decode(errors="replace")
            if name in ("NOD", "ELM"):
                raise self.refuse(f"version 1 is not supported. {self.remedy}")
            at = raw.find(b"$End" + head[1], head.end())
            if at < 0:
                line = raw[: head.start()].count(b"\n") + 1
                raise self.refuse(f"section ${name} of line {line} has no $End{name}: the file is cut short")
            yield name, raw[head.end() : at]
            at += len(b"$End" + head[1])

    def _format(self, body):
        line, _, rest = body.partition(b"\n")
        version, binary, size = line.split()[:3]
        self.version = version.decode()
        self.version = {"2": "2.2", "4": "4.0"}.get(self.version, self.version)
        self.version = "2.2" if self.version.startswith("2.") else self.version
        if self.version not in VERSIONS:
            raise self.refuse(f"version {self.version} is not supported. {self.remedy}")
        self.wide = f"u{int(size)}"
        if binary == b"1":
            self.order = "<" if rest[:4] == b"\x01\x00\x00\x00" else ">"

    def _names(self, body):
        for line in decoded(body).split("\n")[1:]:
            found = NAME.match(line)
            if found is not None:
                self.names[int(found[1]), int(found[2])] = found[3]
            elif line.strip():
                raise ValueError(f"'{line.strip()[:40]}' is no name of a group")

    def _entities(self, body, partitioned=False):
        numbers = Numbers(body, self.order)
        old = self.version == "4.0"
        if partitioned:
            numbers.whole(1, self.wide)  # of partitions
            numbers.whole(2 * int(numbers.whole(1, self.wide)[0]))  # ghost entities
        for dim, count in enumerate(numbers.whole(4, self.wide)):
            for _ in range(count):
                tag = int(numbers.whole(1)[0])
                if partitioned:
                    numbers.whole(2)  # its parent
                    numbers.whole(int(numbers.whole(1, self.wide)[0]))  # partitions
                numbers.real(6 if dim or old else 3)  # box
                self.groups_of[dim, tag] = abs(numbers.whole(int(numbers.whole(1, self.wide)[0]))).tolist()
                if dim:
                    numbers.whole(int(numbers.whole(1, self.wide)[0]))  # its boundary

    def _partitions(self, body):
        self._entities(body, partitioned=True)

    def _nodes(self, body):
        if self.version == "2.2":
            numbers = self._counted(body)
            if self.order:
                kind = np.dtype([("label", self.order + "i4"), ("place", self.order + "f8", 3)])
                table = np.frombuffer(numbers.body[: kind.itemsize * self.count], kind)
                numbers.at = kind.itemsize * self.count
                self._add_nodes(table["label"], table["place"])
            else:
                table = numbers.real(4 * self.count).reshape(-1, 4)
                self._add_nodes(table[:, 0], table[:, 1:])
            numbers.end()
            return
        numbers = Numbers(body, self.order)
        blocks, count = numbers.whole(2, self.wide)
        if self.version == "4.1":
            numbers.whole(2, self.wide)  # smallest and largest label
        for _ in range(blocks):
            dim, _, parametric = numbers.whole(3)
            if self.version == "4.0":
                dim = _  # its order is entity, dimension
            n = int(numbers.whole(1, self.wide)[0])
            per = 3 + (int(dim) if parametric else 0)
            if self.version == "4.1":
                labels = numbers.whole(n, self.wide)
                self._add_nodes(labels, numbers.real(per * n).reshape(-1, per)[:, :3])
            else:
                table = numbers.real((1 + per) * n).reshape(-1, 1 + per)
                self._add_nodes(table[:, 0], table[:, 1:4])
        self._compare("nodes", sum(map(len, self.labels)), count)
        numbers.end()

    def _add_nodes(self, labels, places):
        self.labels.append(np.asarray(labels).astype(np.int64))
        self.places.append(np.array(places, float))

    def _compare(self, what, found, declared):
        if found != declared:
            raise ValueError(f"it has {found} {what} and declares {declared}")

    def _counted(self, body):
        """Numbers behind the line with their count, of MSH 2.2."""
        line, _, rest = body.partition(b"\n")
        self.count = int(line)
        return Numbers(rest, self.order)

    def _kind(self, number):
        if int(number) not in TYPES:
            names = "; cells of third order and more have no elements here: Mesh.ElementOrder = 1 or 2"
            raise ValueError(f"cells of type {number} are not supported{names}")
        return TYPES[int(number)]

    def _elements(self, body):
        if self.version == "2.2":
            self._elements_of_2(self._counted(body))
            return
        numbers = Numbers(body, self.order)
        blocks, count = numbers.whole(2, self.wide)
        if self.version == "4.1":
            numbers.whole(2, self.wide)
        found = 0
        for _ in range(blocks):
            dim, tag, kind = numbers.whole(3)
            if self.version == "4.0":
                dim, tag = tag, dim
            n = int(numbers.whole(1, self.wide)[0])
            per = 1 + len(self._kind(kind)[2])
            table = numbers.whole(per * n, "i4" if self.version == "4.0" else self.wide).reshape(-1, per)
            self.cells.append((int(kind), table[:, 1:], self.groups_of.get((int(dim), int(tag)), [])))
            found += n
        self._compare("cells", found, count)
        numbers.end()

    def _elements_of_2(self, numbers):
        """Take cells of MSH 2.2, which name their first group; runs of one type are blocks."""
        runs: list[tuple[int, list, list]] = []
        for kind, groups, nodes in self._binary_cells(numbers) if self.order else self._text_cells(numbers):
            if not runs or runs[-1][0] != kind:
                runs.append((kind, [], []))
            runs[-1][1].extend(groups)
            runs[-1][2].extend(nodes)
        self.cells.extend((kind, np.array(nodes), np.abs(groups)) for kind, groups, nodes in runs)
        self._compare("cells", sum(len(groups) for _, groups, _ in runs), self.count)
        numbers.end()

    def _text_cells(self, numbers):
        words = numbers.whole(len(numbers.words)).tolist()
        at = 0
        while at < len(words):
            _, kind, tags = words[at : at + 3]
            first = at + 3 + tags
            at = first + len(self._kind(kind)[2])
            if at > len(words):
                raise ValueError("it ends within a cell")
            yield kind, words[first - tags : first][:1] or [0], [words[first:at]]

    def _binary_cells(self, numbers):
        found = 0
        while found < self.count:
            kind, n, tags = numbers.whole(3).tolist()
            found += n
            table = numbers.whole(n * (1 + tags + len(self._kind(kind)[2]))).reshape(n, -1)
            yield kind, table[:, 1].tolist() if tags else [0] * n, table[:, 1 + tags :].tolist()


def read_gmsh(owner: Named, path: str | Path) -> Found:
    """The mesh of an MSH file.

    Raises
    ------
    ParameterError
        Names the section.
    """
    reader = Reader(owner, path)
    numbers, places = distinct(owner, path, np.concatenate(reader.labels), np.concatenate(reader.places))
    labels = Labels(owner, path, numbers)
    blocks, sets = [], {}  # type: ignore[var-annotated]
    for block, (number, rows, groups) in enumerate(reader.cells):
        kind, dim, order = TYPES[number]
        blocks.append((kind, labels.of(rows[:, list(order)])))
        every = np.arange(len(rows))
        each = groups if isinstance(groups, list) else np.unique(groups).tolist()
        for group in each:
            chosen = every if isinstance(groups, list) else every[groups == group]
            if group:
                name = reader.names.get((dim, int(group)), f"physical {group}")
                parts = sets.setdefault(name, {})
                parts[block] = np.union1d(parts.get(block, chosen[:0]), chosen)
    none = np.zeros(0, np.int64)
    cell_sets = {name: [parts.get(block, none) for block in range(len(blocks))] for name, parts in sets.items()}
    found = Found(places, {}, cell_sets, {})
    return found.with_blocks(blocks, repeated=reader.version == "2.2")
