"""Reading meshes of other programs: Abaqus and Nastran by readers of our own, all others through meshio.

What comes as named groups depends on the format:

    MSH 4.1          ``cell_sets`` by the names of physical groups
    MSH 2.2          numbers in ``cell_data["gmsh:physical"]``, their names in ``field_data``
    Abaqus .inp      element sets, node sets and surfaces (`fem_mbs.mesh_abaqus`)
    Nastran .bdf     "property 7", "SPC1 3" (`fem_mbs.mesh_nastran`)
    VTK, VTU …       no names; whole numbers of cells ("material" = 3) become groups "material 3"

Source: docs/howto/meshes.md.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments import Keywords, Named
from fem_mbs.cells import CELLS
from fem_mbs.errors import ParameterError, Warnings
from fem_mbs.mesh import NODES, Mesh
from fem_mbs.mesh_abaqus import read_abaqus
from fem_mbs.mesh_nastran import read_nastran

LARGE, SMALL = 50.0, 2e-4  # m: parts out of this range are told
LARGE_UNSAID = 5.0  # m: where nobody said that a file is in metres; most parts drawn in mm are longer than 5
UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048}
NASTRAN = (".bdf", ".nas", ".fem", ".blk")
MOST = 64  # different numbers of cells that are groups


@Warnings.kept
@Keywords.known
def read_mesh(path: str | Path, *, units: str | float | None = None, check: bool = True) -> Mesh:
    """Read a mesh from a file: Abaqus, Nastran, and any format that meshio knows (Gmsh, VTK, VTU, MED, STL …).

    Parameters
    ----------
    path : path
    units : {"m", "cm", "mm", "um", "in", "ft"} or float > 0
        Of the coordinates in the file; a number is the metres of one unit. Default: metres, with a warning from 5 m on.
    check : bool
        Refuse solid cells that are flat or turned inside out.

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
        places of others, where cells are not joined.

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
    for text in doubts(mesh, LARGE_UNSAID if units is None else LARGE):
        Warnings.issue(f"read_mesh: '{Path(path).name}' {text}")
    return mesh


def mesh_of(owner: Any, path: str | Path, scale: float) -> Mesh:
    """The mesh of a file, times ``scale``; cells are not looked at."""
    found = load(owner, path)
    cells, starts = _cells(found)
    owner.check(len(found.points) and cells, "path", path, "has no points or no cells")
    points = np.zeros((len(found.points), 3))
    points[:, : np.shape(found.points)[1]] = found.points
    return Mesh(scale * points, cells, _groups(found, starts), name=Path(path).name)


def doubts(mesh: Mesh, large: float = LARGE) -> Iterator[str]:
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
    """What is told of points that lie on each other and join nothing."""
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
    if kind in NASTRAN or (kind == ".dat" and "GRID" in Path(path).read_text(encoding="latin-1").upper()):
        return read_nastran(owner, path)
    import meshio

    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), np.errstate(all="ignore"):
            return meshio.read(Path(path))
    except (Exception, SystemExit) as error:  # its readers raise whatever a file makes them stumble over
        words = " ".join(said.getvalue().split()) or ("" if isinstance(error, SystemExit) else str(error))
        words = words or type(error).__name__
        raise ParameterError(owner, parameter, path, f"is no mesh that meshio reads ({words})") from None


def _cells(found):
    """Type -> (k, nn) cells, blocks of one type put together; and where each block begins in them."""
    cells, starts = {}, []
    for block in found.cells:
        parts = cells.setdefault(block.type, [])
        starts.append((block.type, sum(len(part) for part in parts), len(block.data)))
        parts.append(np.asarray(block.data))
    return {kind: np.concatenate(parts) for kind, parts in cells.items() if sum(map(len, parts))}, starts


def _groups(found, starts):
    """Name -> type -> numbers of cells or points."""
    groups: dict[str, dict[str, list]] = {}

    def add(name, kind, numbers):
        if len(numbers):
            groups.setdefault(str(name), {}).setdefault(kind, []).append(np.asarray(numbers, np.int64))

    for name, parts in found.cell_sets.items():
        if not name.startswith("gmsh:"):
            for (kind, first, _), numbers in zip(starts, parts):
                if numbers is not None:
                    add(name, kind, first + np.asarray(numbers, np.int64))
    for name, numbers in found.point_sets.items():
        add(name, NODES, numbers)
    if not groups:
        for name, rows in _numbered(found):
            for (kind, first, _), chosen in zip(starts, rows):
                add(name, kind, first + np.flatnonzero(chosen))
    return {name: {k: np.concatenate(v) for k, v in parts.items()} for name, parts in groups.items()}


def _numbered(found):
    """Groups of whole numbers of cells, (name, chosen cells of each block): physical groups of Gmsh, materials."""
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
