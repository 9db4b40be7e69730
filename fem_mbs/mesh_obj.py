"""Surfaces of Wavefront OBJ files: points, faces and groups ("g", "o").

Numbers of points count from 1, negative ones back from the last point so far. Faces of more than four corners become
fans of triangles. Colours behind coordinates, normals and textures are passed over; what has points and is no polygon
(lines, curves, patches) is refused.

Source: specification of OBJ, appendix B1 of Wavefront's Advanced Visualizer manual.
"""

from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.mesh_labels import Found
from fem_mbs.text_files import text_of

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
    faces: dict[str, list[list[int]]] = {kind: [] for kind in KINDS.values()}
    groups: dict[str, dict[str, list[int]]] = {}
    names: list[str] = []
    for at, line in enumerate(text_of(path).replace("\\\n", " ").split("\n"), 1):
        word, *rest = line.split("#")[0].split() or [""]
        try:
            if word == "v":
                if len(rest) < 3:
                    raise ValueError("a point has three coordinates")
                points.append([float(value) for value in rest[:3]])
            elif word in ("g", "o"):
                names = rest
            elif word == "f":
                corners = _corners(rest, len(points))
                whole = len(corners) in KINDS
                for part in (
                    [corners] if whole else [[corners[0], *corners[k : k + 2]] for k in range(1, len(corners) - 1)]
                ):
                    kind = KINDS[len(part)]
                    for name in names:
                        groups.setdefault(name, {}).setdefault(kind, []).append(len(faces[kind]))
                    faces[kind].append(part)
            elif word and word not in PASSED:
                raise ValueError(f"'{word}' is not supported; a surface has v and f")
        except ValueError as error:
            why = f"is no OBJ file that can be read: line {at}, '{line.strip()[:SHOWN]}': {error}"
            raise ParameterError(owner, "path", str(path), why) from None
    cells = {kind: np.array(rows, np.int64) for kind, rows in faces.items() if rows}
    sets = {name: [np.array(parts.get(kind, []), np.int64) for kind in cells] for name, parts in groups.items()}
    return Found(np.array(points, float).reshape(-1, 3), cells, sets, {})


def _corners(fields, count):
    """Numbers of the points of a face, from 0; ``count`` points are there so far."""
    found = [int(field.split("/")[0]) for field in fields]
    corners = [k - 1 if k > 0 else count + k for k in found]
    if len(corners) < 3:
        raise ValueError("a face needs three points")
    if 0 in found or min(corners) < 0 or max(corners) >= count:
        raise ValueError(f"a face has a point that is not there; there are {count} before it")
    return corners
