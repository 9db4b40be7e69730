"""Surfaces of Wavefront OBJ files: points, faces and groups ("g", "o").

Numbers of points count from 1, negative ones back from the last point so far. Faces of more than four corners become
triangles. An object ("o") is a group of its whole name, in addition to those of "g". Colours behind coordinates,
normals and textures are passed over; curves and patches raise an error.

Source: specification of OBJ, appendix B1 of Wavefront's Advanced Visualizer manual.
"""

from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.mesh.labels import Found
from fem_mbs.mesh.polygons import triangles_of
from fem_mbs.mesh.text_files import text_of

KINDS = {3: "triangle", 4: "quad"}
PASSED = {
    *"vn vt vp p l mtllib usemtl s mg lod bevel c_interp d_interp shadow_obj trace_obj maplib usemap".split(),
    "stech", "ctech", "call", "csh",
}  # fmt: skip
SHOWN = 40  # characters of a line in a message


def read_obj(owner: Any, path: str | Path) -> Found:
    """The surface of a file.

    Raises
    ------
    ParameterError
        Names the line.
    """
    points: list[list[float]] = []
    faces: list[tuple[list[int], list[str], int, str]] = []  # corners, groups, number and text of the line
    named: dict[str, list[str]] = {"o": [], "g": []}

    def refuse(at, line, error):
        why = f"is no OBJ file that can be read: line {at}, '{line.strip()[:SHOWN]}': {error}"
        return ParameterError(owner, "path", str(path), why)

    for at, line in _joined(text_of(path).split("\n")):
        word, *rest = line.split("#")[0].split() or [""]
        try:
            if word == "v":
                if len(rest) < 3:
                    raise ValueError("a point has three coordinates")
                points.append([float(value) for value in rest[:3]])
            elif word == "g":
                named["g"] = rest
            elif word == "o":
                named["o"] = [" ".join(rest)] if rest else []
            elif word in ("f", "fo"):
                faces.append((_corners(rest, len(points)), [*named["o"], *named["g"]], at, line))
            elif word and word not in PASSED:
                raise ValueError(f"'{word}' is not supported; a surface has v and f")
        except ValueError as error:
            raise refuse(at, line, error) from None
    cells: dict[str, list[list[int]]] = {kind: [] for kind in KINDS.values()}
    groups: dict[str, dict[str, list[int]]] = {}
    places = np.array(points, float).reshape(-1, 3)
    for corners, names, at, line in faces:
        if max(corners) >= len(points):
            raise refuse(at, line, f"a face has a point that is not there; there are {len(points)}")
        whole = len(corners) in KINDS
        for part in [range(len(corners))] if whole else triangles_of(places[corners]):
            kind = KINDS[len(part)]
            for name in dict.fromkeys(names):
                groups.setdefault(name, {}).setdefault(kind, []).append(len(cells[kind]))
            cells[kind].append([corners[k] for k in part])
    found = {kind: np.array(rows, np.int64) for kind, rows in cells.items() if rows}
    sets = {name: [np.array(parts.get(kind, []), np.int64) for kind in found] for name, parts in groups.items()}
    return Found(places, found, sets, {})


def _joined(lines):
    """Number of its first line, and text, of lines that a backslash at the end continues."""
    held, first = "", 0
    for at, line in enumerate(lines, 1):
        first = first if held else at
        text = line.rstrip()
        if text.endswith("\\"):
            held += text[:-1] + " "
            continue
        yield first, held + text
        held = ""
    if held:
        yield first, held


def _corners(fields, count):
    """Numbers of the points of a face, from 0; ``count`` points are there so far, of which negative ones are."""
    found = [int(field.split("/")[0]) for field in fields]
    corners = [k - 1 if k > 0 else count + k for k in found]
    if len(corners) < 3:
        raise ValueError("a face needs three points")
    if 0 in found or min(corners) < 0:
        raise ValueError(f"a face has a point that is not there; there are {count} before it")
    return corners
