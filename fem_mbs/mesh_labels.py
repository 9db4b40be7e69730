"""What readers of mesh files return, and points that are named by labels."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments import Named


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
    """

    def __init__(
        self,
        points: np.ndarray,
        cells: dict[str, np.ndarray],
        cell_sets: dict[str, list[np.ndarray]],
        point_sets: dict[str, np.ndarray],
    ) -> None:
        self.points, self.cell_sets, self.point_sets = points, cell_sets, point_sets
        self.cells = [Block(kind, rows) for kind, rows in cells.items()]
        self.cell_data: dict[str, Any] = {}
        self.field_data: dict[str, Any] = {}


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
        """Numbers of the points with these labels; labels without a point are refused, or passed over."""
        wanted = np.asarray(wanted, np.int64)
        at = np.minimum(np.searchsorted(self.labels, wanted), len(self.labels) - 1)
        there = self.labels[at] == wanted
        if missing and not there.all():
            self.owner.check(False, "path", self.path, f"has a cell with node {wanted[~there][0]}, which is not there")
        found = self.order[at]
        return found if missing else found[there]
