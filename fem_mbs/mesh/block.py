"""Meshes of blocks: a box divided into cells of any type, to be bent into other forms.

Hexahedra are divided into six tetrahedra along one diagonal, or two wedges; quadratic cells get nodes in the middle of
their edges, before the points are moved.

Source: docs/howto/meshes.md.
"""

from collections.abc import Callable

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.errors import Warnings
from fem_mbs.mesh.cells import CELLS
from fem_mbs.mesh.files import unjoined
from fem_mbs.mesh.mesh import NODES, Mesh

SIX = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
TWO = [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]
SIDES = ("x", "y", "z")


@Warnings.kept
@Keywords.known
def block_mesh(
    sides: ArrayLike,
    divisions: ArrayLike,
    *,
    cell: str = "hexahedron20",
    form: Callable[[np.ndarray], np.ndarray] | None = None,
    name: str | None = None,
) -> Mesh:
    """A box with one corner at the origin, divided into cells.

    Parameters
    ----------
    sides : (3,) > 0 [m]
    divisions : (3,) whole numbers ≥ 1
        Hexahedra along each side; six tetrahedra or two wedges in the place of each.
    cell : {"tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15"}
    form : callable, optional
        ``form(points)`` moves all points (n, 3) [m], after middle nodes were put in.
    name : str, optional

    Returns
    -------
    Mesh
        With groups of points "x0", "x1", "y0", … of its six sides.

    Raises
    ------
    ParameterError
        Numbers that are not positive; an unknown type of cell; a form that turns cells inside out.

    Warns
    -----
    UserWarning
        A form that lays points on each other, as sides that meet in a ring: cells are not joined there.

    Examples
    --------
    >>> block_mesh([2, 1, 1], [2, 1, 1], cell="tetra10")
    Mesh: 45 points, 12 tetra10; groups x0, x1, y0, y1, z0, z1
    """
    owner = Named("block_mesh")
    lengths = owner.as_array("sides", sides, (3,))
    owner.check((lengths > 0).all(), "sides", sides, "must be positive")
    numbers = [owner.as_integer("divisions", n) for n in owner.as_array("divisions", divisions, (3,)).tolist()]
    kind = CELLS[owner.as_choice("cell", cell, tuple(CELLS))]
    points, cells = _bricks(lengths, numbers)
    parts = {"tetra": SIX, "wedge": TWO}.get(kind.kind)
    if parts is not None:
        cells = cells[:, parts].reshape(-1, len(parts[0]))
    if kind.order == 2:
        points, cells = quadratic(points, cells, kind.edges)
    groups = {}
    for axis, letter in enumerate(SIDES):
        for end in (0, 1):
            near = np.abs(points[:, axis] - end * lengths[axis]) < 1e-9 * lengths[axis]
            groups[f"{letter}{end}"] = {NODES: np.flatnonzero(near)}
    made = Mesh(points, {kind.name: cells}, groups, name=name)
    if form is not None:
        made = made.moved(owner.as_function("form", form, "a function of points (n, 3)", 1))
        made.check_cells()
        for text in unjoined(made):
            Warnings.issue(f"block_mesh: the form {text}")
    return made


def _bricks(lengths, numbers):
    """Points and hexahedra of a divided box."""
    lines = [np.linspace(0.0, length, n + 1) for length, n in zip(lengths, numbers)]
    z, y, x = np.meshgrid(*lines[::-1], indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    nx, ny, nz = numbers
    k, j, i = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    first = (i + (nx + 1) * (j + (ny + 1) * k)).ravel()
    up, back = (nx + 1) * (ny + 1), nx + 1
    corners = [0, 1, 1 + back, back, up, up + 1, up + 1 + back, up + back]
    return points, first[:, None] + np.array(corners)


def quadratic(points: np.ndarray, cells: np.ndarray, edges: list) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and cells (k, nn) with nodes in the middle of the edges (pairs of corners) of linear cells."""
    pairs = np.sort(np.stack([cells[:, list(edge)] for edge in edges], axis=1), axis=2)
    unique, where = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    middles = points[unique].mean(axis=1)
    return np.vstack([points, middles]), np.hstack([cells, len(points) + where.reshape(len(cells), -1)])
