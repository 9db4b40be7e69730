"""Surfaces of STL files, as text or binary: triangles, and a group for each solid where there are several.

A file is binary if its length is that of the triangles it declares, whatever its first word is; bytes behind them are
passed over. Normals and colours are passed over, and points at one place are one point. The text must have three points
for each facet: nothing of it is lost.

Source: Marshall Burns, Automated Fabrication, section 6.5; names and colours as programs write them.
"""

from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.mesh.labels import Found
from fem_mbs.mesh.text_files import decoded

FACET = np.dtype([("normal", "<f4", 3), ("points", "<f4", (3, 3)), ("colour", "<u2")])
HEAD = 84  # bytes before the facets
SPARE = 512  # bytes that may follow them
SHOWN = 40  # characters of a line in a message
PASSED = ("outer", "endloop", "facet", "endfacet", "endsolid", "color", "")  # first words of other lines


def read_stl(owner: Any, path: str | Path) -> Found:
    """The surface of a file.

    Raises
    ------
    ParameterError
        Names the line of a text, or the lengths of a binary file.
    """
    raw = Path(path).read_bytes()
    count = int.from_bytes(raw[80:HEAD], "little") if len(raw) >= HEAD else -1
    length = HEAD + FACET.itemsize * count
    is_text = raw.lstrip(b"\xef\xbb\xbf \t\r\n")[:5].lower() == b"solid" and b"facet" in raw.lower()
    if count > 0 and length <= len(raw) and (length == len(raw) or not is_text):
        why = f"declares {count} triangles, {length} bytes, and has {len(raw)}"
        owner.check(len(raw) - length <= SPARE, "path", str(path), f"is no STL file that can be read: it {why}")
        corners, names = np.frombuffer(raw, FACET, count, HEAD)["points"].astype(float), []
    elif is_text:
        corners, names = _text(owner, path, decoded(raw))
    else:
        why = f"it has {len(raw)} bytes; {count} triangles need {length}" if count >= 0 else "it is too short"
        raise ParameterError(owner, "path", str(path), f"is no STL file that can be read: {why}. Export it again")
    points, number = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    several = len({name for name, _ in names}) > 1
    ends = [first for _, first in names[1:]] + [len(corners)]
    sets: dict[str, np.ndarray] = {}
    for (name, first), end in zip(names, ends) if several else ():
        sets[name] = np.concatenate([sets.get(name, np.zeros(0, np.int64)), np.arange(first, end)])
    cells = {"triangle": number.reshape(-1, 3)} if len(corners) else {}
    return Found(points, cells, {name: [rows] for name, rows in sets.items()}, {})


def _text(owner, path, text):
    """Corners (k, 3, 3) of the facets, and (name, first facet) of each solid."""
    points: list[list[float]] = []
    names: list[tuple[str, int]] = []
    facets = 0
    for at, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        word, *rest = line.split() or [""]
        word = word.lower()
        try:
            if word == "vertex":
                if len(rest) != 3:
                    raise ValueError("a point has three coordinates")
                points.append([float(value) for value in rest])
            elif word == "solid":
                names.append((" ".join(rest) or "solid", facets))
            elif word not in PASSED:
                raise ValueError(f"'{word}' is not a word of STL")
            if word == "facet":
                facets += 1
            if word in ("facet", "endfacet", "endsolid") and len(points) != 3 * (facets - (word == "facet")):
                raise ValueError(f"facet {facets - (word == 'facet')} has not three points")
        except ValueError as error:
            why = f"is no STL file that can be read: line {at}, '{line.strip()[:SHOWN]}': {error}"
            raise ParameterError(owner, "path", str(path), why) from None
    owner.check(len(points) == 3 * facets, "path", str(path), f"has {facets} facets and {len(points)} points")
    return np.array(points, float).reshape(-1, 3, 3), names
