"""Common parts of the readers of mesh files: their results, points with labels, elements that are defined twice."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import Named


class Block(NamedTuple):
    """Cells of one type."""

    type: str
    data: np.ndarray


class Found:
    """A mesh as it is read: what a meshio.Mesh has, for any type of cells.

    Attributes
    ----------
    points : (n, 3)
    cells : list of Block
    cell_sets : name -> numbers of cells of each block
    point_sets : name -> numbers of points
    warnings : list of str
    repeated : bool, the format writes cells once for each of their groups
    """

    repeated = False

    def __init__(
        self,
        points: np.ndarray,
        cells: dict[str, np.ndarray],
        cell_sets: dict[str, list[np.ndarray]],
        point_sets: dict[str, np.ndarray],
        warnings: Iterable[str] = (),
    ) -> None:
        self.points, self.cell_sets, self.point_sets = points, cell_sets, point_sets
        self.cells = [Block(kind, rows) for kind, rows in cells.items()]
        self.cell_data: dict[str, Any] = {}
        self.field_data: dict[str, Any] = {}
        self.warnings = list(warnings)

    def with_blocks(self, blocks: Iterable[tuple[str, np.ndarray]], repeated: bool = False) -> "Found":
        """Take cells in blocks, of which several may be of one type."""
        self.cells = [Block(kind, rows) for kind, rows in blocks]
        self.repeated = repeated
        return self


def distinct(owner: Named, path: str | Path, labels: Any, places: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n,) and places (n, 3) of nodes, each once.

    Raises
    ------
    ParameterError
        A label at two places.
    """
    labels, places = np.asarray(labels, np.int64), np.asarray(places, float)
    order = np.argsort(labels, kind="stable")
    again = np.diff(labels[order]) == 0
    apart = again & (places[order][1:] != places[order][:-1]).any(axis=1)
    if apart.any():
        label = labels[order][1:][apart][0]
        owner.check(
            False, "path", str(path), f"has node {label} twice, at different places; give each a label of its own"
        )
    kept = np.ones(len(labels), bool)
    kept[order[1:][again]] = False
    return labels[kept], places[kept]


class Labels:
    """Numbers of points by their labels.

    Parameters
    ----------
    owner, path
        Of messages.
    labels : (n,) int, of the points in their order

    Raises
    ------
    ParameterError
        A label twice.
    """

    def __init__(self, owner: Named, path: str | Path, labels: Any) -> None:
        self.owner, self.path = owner, str(path)
        self.order = np.argsort(labels, kind="stable")
        self.labels = np.asarray(labels, np.int64)[self.order]
        again = self.labels[1:][np.diff(self.labels) == 0]
        owner.check(not len(again), "path", self.path, f"has node {again[0] if len(again) else 0} twice")

    def of(self, wanted: Any, missing: bool = True) -> np.ndarray:
        """Numbers of the points with these labels; labels without a point raise an error, or are skipped."""
        wanted = np.asarray(wanted, np.int64)
        at = np.minimum(np.searchsorted(self.labels, wanted), len(self.labels) - 1)
        there = self.labels[at] == wanted
        if missing and not there.all():
            why = f"has a cell with node {wanted[~there][0]}, which is not there: it is not the whole mesh"
            self.owner.check(False, "path", self.path, why)
        found = self.order[at]
        return found if missing else found[there]


class Elements:
    """Labels of elements with their nodes, to find those that a file has twice.

    Attributes
    ----------
    nodes : dict, label -> (type, labels of nodes …)
    count : int, elements given
    again : list of int, labels that stand for the same cell twice
    """

    def __init__(self) -> None:
        self.nodes: dict[int, tuple] = {}
        self.count, self.again = 0, []  # type: ignore[var-annotated]

    def copy(self) -> "Elements":
        """The same elements, without a record of those that were defined twice."""
        new = Elements()
        new.nodes = dict(self.nodes)
        return new

    def add(self, label: int, kind: str, nodes: Any) -> bool:
        """Add an element; False if it has been added before, ValueError if its label belongs to another one."""
        self.count += 1
        new = (kind, *nodes)
        old = self.nodes.setdefault(label, new)
        if old is new:
            return True
        if old != new:
            raise ValueError(f"element {label} is defined twice, with other nodes")
        self.again.append(label)
        return False

    def warnings(self) -> Iterable[str]:
        """Yield the warnings about elements that are defined twice."""
        if self.again:
            few = ", ".join(map(str, self.again[:5])) + " …" * (len(self.again) > 5)
            yield f"defines {len(self.again)} elements twice ({few}); each is read once"
