"""Export of frames and histories to other formats: those of meshio, PVD series of VTU files, CSV tables."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import FemMbsError
from fem_mbs.mesh.cells import CELLS
from fem_mbs.results.drawing.options import as_file
from fem_mbs.results.drawing.skin import CORNERS, LINE, QUAD, TRIANGLE, VERTEX
from fem_mbs.results.sums import vectors

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

SOLID_NAMES = {cell.vtk: name for name, cell in CELLS.items()}
NAMES = {VERTEX: "vertex", LINE: "line", TRIANGLE: "triangle", QUAD: "quad"} | SOLID_NAMES  # of meshio
SURFACE_ONLY = (".stl", ".obj", ".ply", ".off")  # formats that hold triangles and nothing else
FRAMES = 200
IMPULSES = ("impulse", "moment_impulse", "contact_normal", "contact_tangents")


@Keywords.known
def export(result: "Results", save: str | Path, *, time: float | None = None, frames: int | None = None) -> list[Path]:
    """Write the deformed model in a format of meshio.

    Parameters
    ----------
    result : Results
    save : path
        The ending says the format: .pvd is a series of .vtu files with their times; .vtu, .vtk, .stl, .ply, .obj and
        whatever else meshio writes hold one frame.
    time : float, optional [s]
        Of a single frame: the nearest saved step; default: the last.
    frames : int, optional
        Largest number of frames of a series, evenly spaced; default 200.

    Returns
    -------
    list of pathlib.Path, the files written
    """
    owner = Named("export")
    path = Path(as_file(owner, save))
    frames = FRAMES if frames is None else owner.as_integer("frames", frames)
    if not len(result.t):
        raise FemMbsError(f"result of model '{result.model}' has no saved steps; there is nothing to export")
    path.parent.mkdir(parents=True, exist_ok=True)
    suffix = path.suffix.lower()
    if suffix != ".pvd":
        step = len(result.t) - 1 if time is None else result.at(time)
        return [_write(path, _mesh(result, step, surface_only=suffix in SURFACE_ONLY))]
    wanted = np.linspace(result.t[0], result.t[-1], min(frames, len(result.t)))
    steps = np.unique([result.at(t) for t in wanted])
    return _pvd(result, path, steps)


def _mesh(result, step, surface_only=False, first=None):
    """The model at one saved step as a meshio mesh, with the impulses of saved steps from the first to this one."""
    import meshio

    skin, scene = result.skin, result.scene
    rows = result.rows([step])
    if first is not None and skin.n_contacts:
        more = result._store.rows(np.arange(first, step + 1), IMPULSES)
        rows = rows | {"impulse_of_frame": vectors(more)[0].sum(axis=0)[None]}
    points, data = scene.frames(rows)
    blocks, cell_data = [], {"kind": [], "element": [], "color": []}
    for cell, name in NAMES.items():
        chosen = skin.types == cell
        if not chosen.any() or (surface_only and (cell in (VERTEX, LINE) or cell in SOLID_NAMES)):
            continue
        rows = skin.connectivity[skin.offsets[:-1][chosen][:, None] + np.arange(CORNERS[cell])]
        if surface_only and cell == QUAD:
            rows, name = np.vstack([rows[:, [0, 1, 2]], rows[:, [0, 2, 3]]]), "triangle"
        blocks.append((name, rows))
        for key, values in (("kind", skin.kind), ("element", skin.owner), ("color", skin.color)):
            cell_data[key].append(values[chosen])
    if surface_only:
        blocks.append(("triangle", skin.solid_surface[0]))
        triangles = np.vstack([np.zeros((0, 3), np.int32), *(rows.astype(np.int32) for _, rows in blocks)])
        return meshio.Mesh(points[0], [("triangle", triangles)])
    point_data = {name: values[0] if values.shape[-1] > 1 else values[0, :, 0] for name, values in data.items()}
    return meshio.Mesh(points[0], blocks, point_data=point_data, cell_data=cell_data)


def _write(path, mesh):
    import meshio

    try:
        meshio.write(path, mesh)
    except (meshio.WriteError, meshio.ReadError, KeyError, OSError) as error:
        raise FemMbsError(f"{path}: meshio cannot write this: {error}") from error
    return path


def _pvd(result, path, steps):
    """Write a folder of .vtu files and a .pvd file that lists them with their times; impulses are since the last
    frame.
    """
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    digits, files, lines = len(str(len(steps) - 1)), [], []
    for n, step in enumerate(steps):
        file = folder / f"{path.stem}_{n:0{digits}d}.vtu"
        files.append(_write(file, _mesh(result, step, first=steps[n - 1] + 1 if n else 0)))
        name = quoteattr(f"{folder.name}/{file.name}")
        lines.append(f'    <DataSet timestep="{result.t[step]:.17g}" part="0" file={name}/>')
    text = '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n  <Collection>\n'
    path.write_text(text + "\n".join(lines) + "\n  </Collection>\n</VTKFile>\n")
    return [path, *files]


def table(result: "Results", save: str | Path, *what: str) -> list[Path]:
    """Write histories as a CSV table: time first, one column for each component, names and units in the first line.

    ``what``: as in `fem_mbs.results.drawing.plot.plot`.
    """
    from fem_mbs.results.drawing.plot import panels

    curves = [curve for group in panels(result, what) for curve in group]
    header = ["time [s]"] + [f"{c.label} [{c.unit}]" if c.unit else c.label for c in curves]
    rows = np.column_stack([result.t, *(curve.values for curve in curves)])
    path = Path(as_file(Named("table"), save))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(header)  # quotes names with commas, quotes or line breaks
        np.savetxt(file, rows, delimiter=",", fmt="%.17g")
    return [path]
