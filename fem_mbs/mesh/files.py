"""Reading meshes of other programs: Abaqus, Nastran, Gmsh, OBJ and STL by readers of our own, others through meshio.

All come through one door, `mesh_of`: cells that a file has several times, as once for each group, are one cell, and
polygons of more than four corners become triangles; groups follow.

What comes as named groups depends on the format:

    Gmsh .msh        physical groups by name, "physical 7" without one (`fem_mbs.mesh.gmsh`)
    Abaqus .inp      element sets, node sets and surfaces (`fem_mbs.mesh.abaqus`)
    Nastran .bdf     "property 7", "SPC1 3" (`fem_mbs.mesh.nastran`)
    OBJ              "g" and "o" (`fem_mbs.mesh.obj`)
    STL              names of solids, if there are several (`fem_mbs.mesh.stl`)
    VTK, VTU …       no names; whole numbers of cells ("material" = 3) become groups "material 3"

Source: docs/howto/meshes.md.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import ParameterError, Warnings, label
from fem_mbs.mesh.abaqus import read_abaqus
from fem_mbs.mesh.cells import CELLS
from fem_mbs.mesh.gmsh import read_gmsh
from fem_mbs.mesh.mesh import NODES, Mesh
from fem_mbs.mesh.nastran import read_nastran
from fem_mbs.mesh.obj import read_obj
from fem_mbs.mesh.polygons import triangulated
from fem_mbs.mesh.stl import read_stl
from fem_mbs.mesh.text_files import text_of

LARGE, SMALL = 50.0, 2e-4  # m: a warning is issued for parts out of this range
LARGE_UNSAID = 5.0  # m: where nobody said that a file is in metres; most parts drawn in mm are longer than 5
UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048}
NASTRAN = (".bdf", ".nas", ".fem", ".blk")
MOST = 64  # different numbers of cells that are groups


@Warnings.kept
@Keywords.known
def read_mesh(path: str | Path, *, units: str | float | None = None, check: bool = True) -> Mesh:
    """Read a mesh from a file: Abaqus, Nastran, Gmsh, OBJ, STL, and any format that meshio supports (VTK, VTU, MED …).

    Parameters
    ----------
    path : path
    units : {"m", "cm", "mm", "um", "in", "ft"} or float > 0
        Of the coordinates in the file; a number is the metres of one unit. Default: metres, with a warning from 5 m on.
    check : bool
        Raise an error for solid cells that are flat or inverted.

    Returns
    -------
    Mesh

    Raises
    ------
    ParameterError
        No file, or none that can be read; no points or cells; bad cells, by type, number and place.

    Warns
    -----
    UserWarning
        A part longer than 50 m (5 m without ``units``) or shorter than 0.2 mm: are the units right? Points on the
        places of others, where cells are not joined. Cells that a file has twice; sets that name what is not there.

    Examples
    --------
    >>> part = read_mesh("part.msh", units="mm")  # doctest: +SKIP
    >>> part.nodes_of("bore")  # doctest: +SKIP
    """
    owner = Named("read_mesh")
    said = 1.0 if units is None else units
    scale = UNITS[owner.as_choice("units", said, tuple(UNITS))] if isinstance(said, str) else said
    scale = owner.positive("units", scale, "m")
    check = owner.as_flag("check", check)
    mesh = mesh_of(owner, path, scale)
    if check:
        mesh.check_cells()
    for text in mesh_warnings(mesh, LARGE_UNSAID if units is None else LARGE):
        Warnings.issue(f"read_mesh: '{Path(path).name}' {text}")
    return mesh


def mesh_of(owner: Any, given: Any, scale: float = 1.0, parameter: str = "path") -> Mesh:
    """The mesh of a file, or of a meshio.Mesh, times ``scale``; the form of its cells is not checked."""
    is_file = not hasattr(given, "cells")
    found = load(owner, given, parameter) if is_file else given
    points = np.zeros((len(found.points), 3))
    points[:, : np.shape(found.points)[1]] = found.points
    blocks = [_polygons(owner, parameter, given, block, points) for block in found.cells]
    whole = Blocks([kind for kind, _, _ in blocks], [rows for _, rows, _ in blocks], [parts for _, _, parts in blocks])
    owner.check(len(found.points) and whole.cells, parameter, given, "has no points or no cells")
    name = Path(given).name if is_file else None
    tagged = getattr(found, "repeated", "gmsh:physical" in found.cell_data)  # a cell once for each of its groups
    twice = {kind: n for kind, n in whole.twice.items() if n and not tagged}
    twofold = [
        f"has {n} cells of type {kind} on the points of others; they are one cell each" for kind, n in twice.items()
    ]
    for text in [*getattr(found, "warnings", ()), *twofold]:
        Warnings.issue(f"{label(owner)}: '{name or 'mesh'}' {text}")
    return Mesh(scale * points, whole.cells, _groups(found, whole), name=name)


def mesh_warnings(mesh: Mesh, large: float = LARGE) -> Iterator[str]:
    """What is unlikely in a mesh: its size [m], points that lie on each other and join nothing."""
    extent = np.ptp(mesh.points[_used(mesh)], axis=0).max()
    if not SMALL < extent < large:
        known = 'units="m" says that they are' if large < extent < LARGE else ""
        yield f"is {extent:.3g} m long. Are the units right?" + f" {known}" * bool(known)
    yield from unjoined(mesh)


def _used(mesh):
    """Numbers of the points of the cells that bodies are made of: solid ones, or those there are."""
    solids = [rows for kind, rows in mesh.cells.items() if kind in CELLS]
    return np.unique(np.concatenate([rows.ravel() for rows in solids or mesh.cells.values()]))


def unjoined(mesh: Mesh) -> Iterator[str]:
    """Yield warnings about coincident points that are not merged."""
    from scipy.spatial import cKDTree

    used = mesh.points[_used(mesh)]
    pairs = cKDTree(used).query_pairs(1e-9 * np.ptp(used, axis=0).max(), output_type="ndarray")
    again = len(np.unique(pairs[:, 1]))
    if again:
        yield (
            f"has {again} points of cells on the places of others: cells are not joined there. Merge them where the "
            "mesh was made, unless the parts are apart by intent (contact, ties)"
        )


def load(owner: Any, path: Any, parameter: str = "path") -> Any:
    """The meshio.Mesh of a file; a ParameterError of the owner if there is none."""
    path = owner.as_path(parameter, path)
    owner.check(path is not None, parameter, path, "must be the path of a mesh file")
    owner.check(Path(path).is_file(), parameter, path, "is no mesh: there is no such file")
    kind = Path(path).suffix.lower()
    if kind == ".inp":
        return read_abaqus(owner, path)
    if kind in NASTRAN or (kind == ".dat" and "GRID" in text_of(path).upper()):
        return read_nastran(owner, path)
    if kind == ".obj":
        return read_obj(owner, path)
    if kind == ".stl":
        return read_stl(owner, path)
    if kind == ".msh" and Path(path).read_bytes()[:4096].find(b"$") >= 0:  # ANSYS has files of this name too
        return read_gmsh(owner, path)
    drawn = kind in (".step", ".stp", ".iges", ".igs", ".brep")
    owner.check(not drawn, parameter, path, "is a CAD part without cells; fem.mesh_from_cad(path, size) meshes it")
    import meshio

    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), np.errstate(all="ignore"):
            return meshio.read(Path(path))
    except (Exception, SystemExit) as error:  # its readers raise whatever a file makes them stumble over
        words = " ".join(said.getvalue().split()) or ("" if isinstance(error, SystemExit) else str(error))
        words = words or type(error).__name__
        raise ParameterError(owner, parameter, path, f"is no mesh that meshio reads ({words})") from None


def _polygons(owner, parameter, given, block, points):
    """Type of a block, its cells (k, nn), and where the parts of each of its cells begin, (k + 1,), or None.

    Polygons are cut into triangles.
    """
    try:
        rows = np.asarray(block.data, np.int64)
    except (ValueError, TypeError):
        rows = np.zeros(0, np.int64)
    owner.check(rows.ndim == 2, parameter, given, f"has cells of type {block.type}, which are not supported")
    if not block.type.startswith("polygon"):
        return block.type, rows, None
    corners = rows.shape[1]
    if corners < 5:
        return {3: "triangle", 4: "quad"}[corners], rows, None
    return "triangle", triangulated(points, rows).reshape(-1, 3), np.arange(len(rows) + 1) * (corners - 2)


class Blocks:
    """Blocks of cells put together by types, each cell once.

    Attributes
    ----------
    cells : dict, type -> (k, nn)
    twice : dict, type -> number of cells that were left out, as they are on the points of others
    """

    def __init__(self, kinds: list[str], rows: list[np.ndarray], parts: list[np.ndarray | None]) -> None:
        self._kinds, self._parts, self._first = kinds, parts, []
        there: dict[str, list[np.ndarray]] = {}
        for kind, block in zip(kinds, rows):
            before = there.setdefault(kind, [])
            self._first.append(sum(map(len, before)))
            before.append(block)
        self.cells: dict[str, np.ndarray] = {}
        self.twice: dict[str, int] = {}
        self._kept: dict[str, np.ndarray] = {}
        for kind, blocks in there.items():
            if sum(map(len, blocks)):
                whole = np.concatenate(blocks)
                self.cells[kind], self._kept[kind] = once(kind, whole)
                self.twice[kind] = len(whole) - len(self.cells[kind])

    def numbers(self, block: int, chosen: Any) -> tuple[str, np.ndarray]:
        """Type, and numbers of the cells that cells ``chosen`` of a block have become."""
        kind, parts = self._kinds[block], self._parts[block]
        chosen = np.asarray(chosen, np.int64)
        if parts is not None:
            chosen = np.concatenate([np.zeros(0, np.int64), *(np.arange(parts[k], parts[k + 1]) for k in chosen)])
        return kind, self._kept[kind][self._first[block] + chosen] if len(chosen) else chosen


def once(kind: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells (k, nn) without those on the points of earlier ones, and the number that each of the given has in them.

    Faces that run through their points the other way round are other faces.
    """
    corners = {"triangle": 3, "quad": 4}.get(kind.rstrip("0123456789"))
    if corners is None:
        keys = np.sort(rows, axis=1)
    else:  # from the smallest corner on, in their order
        turned = np.argmin(rows[:, :corners], axis=1)[:, None] + np.arange(corners)
        keys = np.take_along_axis(rows[:, :corners], turned % corners, axis=1)
    mixed = (keys.astype(np.uint64) * np.random.default_rng(0).integers(1, 2**63, keys.shape[1], np.uint64)).sum(axis=1)
    if len(np.unique(mixed)) == len(rows):  # equal cells have equal sums
        return rows, np.arange(len(rows))
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return rows[first[order]], np.argsort(order)[place.ravel()]


def _groups(found, whole):
    """Name -> type -> numbers of cells or points."""
    groups: dict[str, dict[str, list]] = {}

    def add(name, kind, numbers):
        if len(numbers):
            groups.setdefault(str(name), {}).setdefault(kind, []).append(np.asarray(numbers, np.int64))

    for name, parts in found.cell_sets.items():
        if not name.startswith("gmsh:"):
            for block, numbers in enumerate(parts):
                if numbers is not None:
                    add(name, *whole.numbers(block, numbers))
    for name, numbers in found.point_sets.items():
        add(name, NODES, numbers)
    if not groups:
        for name, rows in _numbered(found):
            for block, chosen in enumerate(rows):
                add(name, *whole.numbers(block, np.flatnonzero(chosen)))
    return {name: {k: np.unique(np.concatenate(v)) for k, v in parts.items()} for name, parts in groups.items()}


def _numbered(found):
    """Groups of whole numbers of cells, (name, chosen cells of each block): materials, groups that meshio has read."""
    names = {(int(tag), int(dim)): name for name, (tag, dim) in found.field_data.items()}
    for field, parts in found.cell_data.items():
        parts = [np.asarray(part) for part in parts]
        if field == "gmsh:geometrical" or any(p.ndim > 1 or p.dtype.kind not in "iu" for p in parts):
            continue
        numbers = np.unique(np.concatenate(parts)) if parts else []
        if len(numbers) > MOST:
            continue
        dimensions = [_dimension(block.type) for block in found.cells]
        for number in numbers:
            chosen = [part == number for part in parts]
            if field != "gmsh:physical":
                yield f"{field} {number}", chosen
                continue
            for dim in sorted(set(dimensions)):
                name = names.get((int(number), dim), f"physical {number}")
                yield name, [c & (d == dim) for c, d in zip(chosen, dimensions)]


def _dimension(kind):
    """Dimension of a type of cell."""
    if kind.startswith(("vertex", "line", "triangle", "quad")):
        return 0 if kind.startswith("vertex") else 1 if kind.startswith("line") else 2
    return 3
