"""What a results file must be to be read; a damaged or foreign one ends in a `FileError` that says what is wrong.

Nothing outside the file is followed: links to other files and data kept in other files raise an error, so that opening
a file that somebody sent reads that file and no other.
"""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.errors import FemMbsError, FileError
from fem_mbs.results.drawing.skin import CORNERS
from fem_mbs.stresses.reduced_parts import ReducedParts
from fem_mbs.stresses.shell_arrays import Shells
from fem_mbs.stresses.shell_cells import cell_of

TEXTS = ("description", "parameters", "statistics")
DAMAGE = (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError, RecursionError)
NEEDED = ("t", "step", "h")  # histories without which there is no run; others may be missing in files of older versions


class _Wrong(Exception):
    """What is wrong with a file, in words."""


def _need(condition, message):
    if not condition:
        raise _Wrong(message)


@contextlib.contextmanager
def opened(path: str | Path, run: str | None = None) -> Iterator:
    """An open results file (h5py); what goes wrong while it is read becomes a `FileError`.

    ``run``: what names the run that wrote it, when it was read before; a file replaced since then raises an error.
    """
    import h5py

    path = Path(path)
    if not path.exists():
        raise FileError(path, "does not exist")
    try:
        with _opened(path) as file:
            if run is not None and _run(file["fem_mbs"]) != run:
                raise FileError(path, "was replaced by another run since it was loaded: load it again")
            yield file
    except FemMbsError:
        raise
    except _Wrong as wrong:
        raise FileError(path, f"is damaged: {wrong}") from None
    except DAMAGE as error:
        if not h5py.is_hdf5(path):
            raise FileError(path, f"is not a readable HDF5 file: {error}") from error
        raise FileError(path, f"is damaged: {type(error).__name__}: {error}") from error


def _opened(path):
    import h5py

    try:
        return h5py.File(path, "r", locking=False)
    except OSError:  # this process has it open already, with HDF5's lock: all openings must agree
        return h5py.File(path, "r")


def _run(root):
    return str(root.attrs.get("run", ""))


def read(path: str | Path, newest: int, shapes: Callable[[dict], dict]) -> dict:
    """Check a results file and read what describes it.

    Parameters
    ----------
    path : path
    newest : int
        Largest number of the format that is known.
    shapes : callable, sizes -> {name of a history: its shape in one saved step}

    Returns
    -------
    dict
        n, status, run, and the texts of `TEXTS` as Python objects

    Raises
    ------
    FileError
        It does not exist, was not written by this package, is newer, is for ParaView alone, or is damaged.
    """
    with opened(path) as file:
        if "fem_mbs" not in file:
            raise FileError(path, "was not written by fem_mbs: it has no group 'fem_mbs'")
        _nothing_outside(file, "fem_mbs")
        root = file["fem_mbs"]
        form = _whole(root.attrs.get("format"), "format")
        if form > newest:
            raise FileError(path, f"was written by a newer fem_mbs (format {form}); update")
        if root.attrs.get("single", False):
            raise FileError(
                path, "is for ParaView alone (single=True): it has no histories. Run with single=False to load it"
            )
        found = {"n": _whole(root.attrs.get("n"), "n", least=0), "run": _run(root)}
        status = root.attrs.get("status")
        _need(isinstance(status, bytes), f"its status is {status!r}, not a text")
        found["status"] = status.decode(errors="ignore")
        for name in TEXTS:
            found[name] = _text(root, name)
        sizes = _description(found["description"])
        _histories(root, found["n"], shapes(sizes))
        return found


def leads_outside(file: Any) -> str | None:
    """Describe what in an open file (h5py) is a link or data in another file; None if nothing is."""
    try:
        for name in file:
            _nothing_outside(file, name)
    except _Wrong as wrong:
        return str(wrong)
    return None


def _nothing_outside(group, name):
    """Raise an error for links and data that lead out of the file."""
    import h5py

    link = group.get(name, getlink=True)
    _need(isinstance(link, h5py.HardLink), f"'{name}' is a link to somewhere else, which is not followed")
    item = group[name]
    if isinstance(item, h5py.Dataset):
        _need(not item.external and not item.is_virtual, f"the data of '{name}' are in another file, which is not read")
        return
    _need(isinstance(item, h5py.Group), f"'{name}' is neither a group nor data")
    for inner in item:
        _nothing_outside(item, inner)


def _whole(value, name, least=1, most=None):
    """A whole number, checked."""
    _need(value is not None, f"it has no {name}")
    _need(
        isinstance(value, (int, np.integer)) and not isinstance(value, bool), f"its {name} is {value!r}, not a number"
    )
    allowed = f"≥ {least}" if most is None else f"{least} … {most}"
    _need(value >= least and (most is None or value <= most), f"its {name} is {value}, must be {allowed}")
    return int(value)


def _text(root, name):
    """One of the JSON texts; parameters and statistics may be missing."""
    if name not in root and name != "description":
        return {}
    _need(name in root, f"it has no {name}")
    _need(root[name].shape == (), f"its {name} is not one text")
    try:
        value = json.loads(root[name][()])
    except (ValueError, TypeError, RecursionError) as error:
        raise _Wrong(f"its {name} cannot be understood ({type(error).__name__}: {str(error)[:80]})") from None
    _need(isinstance(value, dict), f"its {name} is not a table of names")
    return value


def _description(description):
    """Sizes of the model; every number in the description that points into an array is within it."""
    for name, kind in {"model": str, "sizes": dict, "nodes": list, "elements": list}.items():
        _need(isinstance(description.get(name), kind), f"its description has no {name}")
    sizes = {name: _whole(description["sizes"].get(name), f"size {name}", 0) for name in ("N", "m", "nc", "no")}
    # files of versions whose forces of contacts were their impulses over h do not have it
    sizes["nf"] = _whole(description["sizes"].setdefault("nf", 0), "size nf", 0)
    _need(sizes["nf"] in (0, sizes["nc"]), f"its size nf is {sizes['nf']}, must be 0 or {sizes['nc']}")
    _need(len(description["nodes"]) == sizes["N"], f"it describes {len(description['nodes'])} nodes of {sizes['N']}")
    for node in description["nodes"]:
        _need(isinstance(node, dict) and isinstance(node.get("name", 0), (str, type(None))), "a node has no name")
    for number, element in enumerate(description["elements"]):
        where = f"element {number + 1} in its description"
        for name, kind in {"type": str, "role": str, "nodes": list, "outputs": dict}.items():
            _need(isinstance(element, dict) and isinstance(element.get(name), kind), f"{where} has no {name}")
        _need(isinstance(element.get("name", 0), (str, type(None))), f"{where} has no name")
        for node in element["nodes"]:
            _whole(node, f"number of a node ({where})", 0, sizes["N"] - 1)
        if element.get("contact") is not None:
            _whole(element["contact"], f"number of a contact ({where})", 0, sizes["nc"] - 1)
        if element.get("rows") is not None:
            _range(element["rows"], sizes["m"], f"rows ({where})")
        for output in element["outputs"].values():
            _need(isinstance(output, list) and len(output) == 3 and isinstance(output[2], str), f"{where}: outputs")
            _range(output[:2], sizes["no"], f"outputs ({where})")
        element.setdefault("rows", None)
        element.setdefault("contact", None)
    _need(isinstance(description.setdefault("contact_groups", []), list), "its contact groups are not a list")
    return sizes


def _range(pair, size, name):
    _need(isinstance(pair, list) and len(pair) == 2, f"its {name} are {pair!r}")
    _whole(pair[1], name, _whole(pair[0], name, 0, size), size)


def _histories(root, n, shapes):
    """Shapes and types of the histories."""
    import h5py

    histories = root.get("histories")
    _need(isinstance(histories, h5py.Group), "it has no histories")
    for name, shape in shapes.items() if n else ():
        if 0 in shape or (name not in histories and name not in NEEDED):
            continue
        _need(isinstance(histories.get(name), h5py.Dataset), f"it has no history '{name}'")
        data = histories[name]
        _need(data.dtype.kind in "fiu", f"history '{name}' does not hold numbers")
        _need(data.shape[1:] == shape, f"history '{name}' has rows of shape {data.shape[1:]}, the model needs {shape}")
        _need(len(data) >= n, f"it counts {n} saved states, history '{name}' has {len(data)}")


# Arrays of a skin: letters are numbers that agree among them (p points on nodes, b beams, w points on beams, c
# contacts, k cells, …); then what the numbers in it count.
SKIN = {
    "node": (("p",), "nodes"), "offset": (("p", 3), None), "ends": (("b", 2), "nodes"),
    "end_offset": (("b", 2, 3), None), "end_rotation": (("b", 2, 3, 3), None), "beam_element": (("b",), "elements"),
    "stations": (("s",), None), "beam": (("w",), "b"), "station": (("w",), "s"), "section": (("w", 2), None),
    "contact_element": (("c",), "elements"), "types": (("k",), None), "kind": (("k",), None), "owner": (("k",), None),
    "color": (("k", 3), None), "offsets": (("k + 1",), None), "connectivity": (("corners",), "points"),
    "edges": (("lines", 2), "points"), "joint_point": (("j",), "points"), "joint_element": (("j",), "elements"),
    "solid_type": (("e",), None), "solid_connectivity": (("o",), "nodes"), "solid_X": (("o", 3), None),
    "solid_material": (("e", 3), None), "solid_owner": (("e",), "elements"), "solid_color": (("e",), None),
    "shell_count": (("shells",), None), "shell_section": (("shells",), "shell sections"),
    "shell_connectivity": (("shell nodes",), "nodes"), "shell_X": (("shell nodes", 3), None),
    "shell_Y": (("shell nodes", 9), None), "shell_c": (("shell strains",), None), "shell_first": (("shells", 3), None),
    "shell_stiffness": (("shell sections", 8, 8), None), "shell_thickness": (("shell sections",), None),
    "shell_z": (("shell sections", 3), None), "shell_plane": (("shell sections", 3, 3, 3), None),
    "shell_owner": (("shells",), "elements"), "shell_color": (("shells",), None),
    "reduced_sizes": (("reduced parts", 4), None), "reduced_nodes": (("reduced nodes",), "nodes"),
    "reduced_frame": (("reduced frames", 5), None), "reduced_mean": (("reduced parts", 3), None),
    "reduced_point": (("reduced", 3), None), "reduced_basis": (("reduced basis",), None),
    "reduced_triangles": (("reduced faces", 3), "reduced"), "reduced_type": (("reduced e",), None),
    "reduced_connectivity": (("reduced o",), "reduced"), "reduced_material": (("reduced e", 3), None),
    "reduced_owner": (("reduced e",), "elements"), "reduced_color": (("reduced e",), None),
    "span_point": (("q", 2), "p"), "span_radii": (("q", 2), None), "span_node": (("q",), "nodes"),
    "span_axis": (("q", 3), None),
}  # fmt: skip
OPTIONAL = ("solid_", "shell_", "reduced_")  # arrays that not all skins have
LATER = {"span_point": np.zeros((0, 2), int), "span_radii": np.zeros((0, 2)), "span_node": np.zeros(0, int),
         "span_axis": np.zeros((0, 3))}  # of files that were written before there were such arrays  # fmt: skip


def skin(arrays: dict, description: dict) -> dict:
    """Check the arrays of a `Skin` by name: what draws it does not look at numbers of points again."""
    sizes = {"nodes": len(description["nodes"]), "elements": len(description["elements"])}
    there = {name: line for name, line in SKIN.items() if name in arrays or not name.startswith(OPTIONAL)}
    for name, (shape, _) in there.items():
        array = arrays[name]
        _need(array.dtype.kind in "fiu" and array.ndim == len(shape), f"its skin has no usable '{name}'")
        for letter, size in zip(shape, array.shape):
            known = letter if isinstance(letter, int) else sizes.setdefault(letter, size)
            _need(size == known, f"its skin has {size} rows or columns in '{name}', needs {known}")
        sizes["k + 1"] = sizes.get("k", 0) + 1
    sizes["points"] = sizes["p"] + sizes["w"] + sizes["c"] + sizes.get("reduced", 0)
    for name, (_, counted) in there.items():
        if counted and arrays[name].size:
            low, high, most = arrays[name].min(), arrays[name].max(), sizes[counted] - 1
            _need(low >= 0 and high <= most, f"its skin has numbers in '{name}' that are not between 0 and {most}")
    for prefix, corners in (("solid_", "o"), ("reduced_", "reduced o")):
        if f"{prefix}type" in there:
            missing = [name for name in SKIN if name.startswith(prefix) and name not in there]
            numbers = [CORNERS.get(int(kind), 0) for kind in arrays[f"{prefix}type"]]
            _need(not missing, "its solids are not complete")
            whole = sum(numbers) == sizes[corners] and all(numbers)
            _need(whole, "its solids have other numbers of nodes than their types")
    if "shell_count" in there:
        _shells(arrays)
    if "reduced_sizes" in there:
        _reduced(arrays)
    offsets = arrays["offsets"]
    whole = offsets[0] == 0 and (np.diff(offsets) > 0).all() and offsets[-1] == sizes["corners"]
    _need(whole, "the cells of its skin overlap")
    return arrays


def _shells(arrays):
    """Check that the numbers of a skin's shells belong to each other."""
    _need(all(f"shell_{name}" in arrays for name in Shells.ARRAYS), "its shells are not complete")
    count = arrays["shell_count"]
    _need(np.isin(count, (3, 4)).all(), "its shells have other numbers of nodes than 3 and 4")
    _need(count.sum() == len(arrays["shell_connectivity"]), "its shells have other numbers of nodes than they say")
    strains = sum(np.sum(count == nn) * (cell_of(nn).nm + nn) for nn in (3, 4))
    _need(strains == len(arrays["shell_c"]), "its shells have another number of strains")


def _reduced(arrays):
    """Check that the numbers of a skin's reduced bodies belong to each other."""
    needed = [f"reduced_{name}" for name in ReducedParts.ARRAYS]
    _need(all(name in arrays for name in needed), "its reduced bodies are not complete")
    nb, m, k, _ = arrays["reduced_sizes"].T
    counts = {"nodes": nb - (-m // 3), "frame": nb, "point": k, "basis": 3 * k * (6 * nb + m)}
    _need((arrays["reduced_sizes"] >= 0).all(), "its reduced bodies have negative sizes")
    for name, count in counts.items():
        _need(count.sum() == len(arrays[f"reduced_{name}"]), f"its reduced bodies have other sizes than their '{name}'")
