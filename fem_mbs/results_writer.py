"""Writing results: saved steps of a run as a stream, to a file (described in `fem_mbs.results`) or to memory.

Rows are written first and counted last, and the file is flushed after every chunk: a run that is interrupted, or
killed, leaves everything up to its last chunk (how: `fem_mbs.vtkhdf`).
"""

import json
import time
from pathlib import Path

import numpy as np

from fem_mbs.errors import FemMbsError
from fem_mbs.results import FORMAT, Memory, Results
from fem_mbs.results_table import HISTORIES, PAIR_COLUMNS, separated, shape_of, sizes_of
from fem_mbs.scene import Scene
from fem_mbs.shapes import Skin

GEOMETRY_LIMIT = 400e6  # bytes of uncompressed frames for ParaView, unless the user wants more
HISTORY_LIMIT = 500e6  # bytes of histories that space is taken for in advance
START_ROWS = 1024  # states to take space for when the length of the run is not known
BLOCK_POINTS = 200_000  # points moved at once
SUFFIXES = (".vtkhdf", ".hdf", ".h5", ".hdf5")


def describe(system):
    """Description of a `System` for results: plain numbers and texts, as JSON can hold them."""
    number = {id(contact): i for i, contact in enumerate(system.contacts)}
    elements = []
    for element in system.elements:
        rows = system.rows.get(element)
        slices = system.output_slices.get(element, {})
        elements.append(
            {
                "name": element.name,
                "type": type(element).__name__,
                "role": element.role,
                "nodes": [int(node.index) for node in element.nodes],
                "rows": None if rows is None else [rows.start, rows.stop],
                "contact": number.get(id(element)),
                "ends": _contact_ends(element),
                "outputs": {k: [s.start, s.stop, element.outputs[k][1]] for k, s in slices.items()},
            }
        )
    nodes = [{"name": n.name, "type": type(n).__name__, "free": [bool(f) for f in n.free]} for n in system.nodes]
    gravity = [float(g) for g in getattr(system, "gravity", (0, 0, 0))]
    groups = [_describe_group(group) for group in getattr(system.model, "contact_groups", ())]
    return {
        "model": system.name, "gravity": gravity, "sizes": sizes_of(system), "nodes": nodes, "elements": elements,
        "contact_groups": groups,
    }  # fmt: skip


def _contact_ends(element):
    """Axes of a contact that moves with more than two nodes: node and offset of both ends of both axes."""
    if element.role != "contact" or len(element.nodes) == 2:
        return None
    return [[int(frame.node.index), *map(float, frame.p)] for frame in element.ends]


def _describe_group(group):
    """Name of a contact group, its spheres (numbers of nodes), types of partners and their names."""
    kinds = group.kinds()
    partners = [[p.nodes[1].name or "ground" for p in prototypes] for _, prototypes in kinds]
    return {
        "name": group.name,
        "spheres": [int(frame.node.index) for frame in group.frames],
        "radii": [float(r) for r in group.radii],
        "types": [kind.__name__ for kind, _ in kinds],
        "partners": partners,
    }


class ResultsWriter:
    """Takes the saved steps of a run, in chunks, to a file or to memory.

    Parameters
    ----------
    system : System
    path : path, optional
        Results file, best "….vtkhdf" (ParaView knows this ending); it is replaced. None keeps everything in memory.
    parameters : dict, optional
        What was asked for: stepper, t_end, h, save_every, … (numbers, texts). Shown by `Results.report`.
    frames : int, optional
        Largest number of frames for ParaView, evenly spaced in time. Default: every saved step, unless that would make
        more than 400 MB of geometry. Histories always have every saved step.
    """

    def __init__(self, system, path=None, *, parameters=None, frames=None):
        self.description = describe(system)
        self.sizes = self.description["sizes"]
        self.parameters = {k: _plain(v) for k, v in (parameters or {}).items()}
        self.skin = Skin.of(system)
        self.n, self.begun = 0, time.perf_counter()
        self.path = None if path is None else results_path(path)
        self.file, self.chunks, self.last, self.last_frame = None, [], None, -1
        self.pair_tables, self.n_pairs = [], 0
        if self.path is not None:
            self.scene = Scene(self.skin, self.description["elements"])
            states, frames, self.interval = self._expect(frames)
            self.next_frame = -np.inf
            self._create(states, frames)

    def _expect(self, frames):
        """Numbers of states and of frames to take space for, and the time between frames [s], 0 for every state."""
        p, size = self.parameters, 4 * self.skin.n_points * (3 + sum(self.scene.fields.values()))
        t_end, h = p.get("t_end"), p.get("h")
        if t_end is None or not h:
            return START_ROWS, START_ROWS, 0.0
        duration = t_end - p.get("t_start", 0.0)
        saved = duration / (h * p.get("save_every", 1))
        most = max(200.0, GEOMETRY_LIMIT / max(size, 1)) if frames is None else max(frames - 1, 1)
        row = sum(np.dtype(h.kind).itemsize * np.prod(shape_of(name, self.sizes)) for name, h in HISTORIES.items())
        # one more for the initial state, one for an end that is not a multiple of save_every
        states = int(min(saved + 2, max(START_ROWS, HISTORY_LIMIT / row)))
        return states, int(min(saved, most)) + 2, duration / most if saved > most else 0.0

    def _create(self, states, frames):
        import h5py

        from fem_mbs import vtkhdf

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # without HDF5's lock ParaView and Python can look at the file while it grows
            self.file = h5py.File(self.path, "w", libver="earliest", locking=False)
        except OSError as error:
            raise FemMbsError(f"results file {self.path} cannot be written: {error}") from error
        root = self.root = self.file.create_group("fem_mbs")
        root.attrs["format"] = FORMAT
        root.attrs["n"] = np.int64(0)
        root.attrs["status"] = np.array(b"running", "S400")
        root["description"] = json.dumps(self.description)
        root["parameters"] = json.dumps(self.parameters)
        root["versions"] = json.dumps(_versions())
        skin = root.create_group("skin")
        for name, array in self.skin.arrays().items():
            skin[name] = array
        histories = root.create_group("histories")
        self.datasets = {}
        for name, line in HISTORIES.items():
            shape = shape_of(name, self.sizes)
            if 0 not in shape:
                self.datasets[name] = vtkhdf.growing(histories, name, shape, line.kind, states)
                self.datasets[name].attrs["meaning"], self.datasets[name].attrs["unit"] = line.meaning, line.unit
        if self.description["contact_groups"]:
            self.pair_data = vtkhdf.growing(histories, "pairs", (PAIR_COLUMNS,), "f8", START_ROWS)
        s = self.skin
        cells = {"kind": s.kind, "element": s.owner, "color": s.color}
        fields = self.scene.fields
        self.grid = vtkhdf.MovingGrid(self.file, s.n_points, s.connectivity, s.offsets, s.types, cells, fields, frames)
        self.file.flush()

    def append(self, chunk, pairs=()):
        """Take saved steps: a dict of arrays, one row per step, with all names of `fem_mbs.results_table`.

        ``pairs``: tables (n, PAIR_COLUMNS) of closed contacts of contact groups, one per step; none without groups.

        ``velocity`` and ``acceleration`` may hold six numbers per node, as states do; they are then taken apart. The
        arrays may be reused by the caller afterwards.
        """
        k = len(chunk["t"])
        chunk = separated(chunk)
        rows = {}
        for name, line in HISTORIES.items():
            rows[name] = np.array(chunk[name], line.kind).reshape(k, *shape_of(name, self.sizes))
        table = np.concatenate(pairs) if len(pairs) else np.zeros((0, PAIR_COLUMNS))
        if self.path is None:
            self.chunks.append(rows)
            self.pair_tables.append(table)
            self.n += k
            return
        if k == 0:
            return
        from fem_mbs.vtkhdf import write_rows

        for name, dataset in self.datasets.items():
            write_rows(dataset, self.n, rows[name])
        if len(table):
            write_rows(self.pair_data, self.n_pairs, table)
            self.n_pairs += len(table)
        self._append_frames(rows)
        self.n += k
        self.last = {name: values[-1:] for name, values in rows.items()}
        self._commit()

    def _append_frames(self, rows):
        chosen = []
        for i, t in enumerate(rows["t"]):
            # half a step of slack: a frame time that is missed by round-off would be late by a whole step
            if t >= self.next_frame - 0.5 * rows["h"][i]:
                chosen.append(i)
                self.next_frame = (
                    max(self.next_frame + self.interval, t) if np.isfinite(self.next_frame) else t + self.interval
                )
        if chosen:
            self._write_frames({name: values[chosen] for name, values in rows.items()})

    def _write_frames(self, rows):
        size = max(1, BLOCK_POINTS // max(self.skin.n_points, 1))
        for first in range(0, len(rows["t"]), size):
            part = {name: values[first : first + size] for name, values in rows.items()}
            self.grid.append(part["t"], *self.scene.frames(part))
            self.last_frame = int(part["step"][-1])

    def _commit(self):
        """Make what was written count: data to the file first, then the counters."""
        self.file.flush()
        self.root.attrs.modify("n", np.int64(self.n))
        self.grid.commit()
        self.file.flush()

    def close(self, reason="complete", **statistics):
        """End the run and return its `Results`.

        Parameters
        ----------
        reason : str
            "complete", or why the run stopped ("interrupted", "step 1841 failed: …").
        **statistics : numbers or texts
            What the stepper counted over all steps, saved or not; shown by `Results.report`.
        """
        status = reason if reason == "complete" or reason.startswith("stopped") else f"stopped: {reason}"
        statistics = {"wall_time": time.perf_counter() - self.begun, **{k: _plain(v) for k, v in statistics.items()}}
        if self.path is None:
            arrays = {}
            for name, line in HISTORIES.items():
                empty = np.zeros((0, *shape_of(name, self.sizes)), line.kind)
                arrays[name] = np.concatenate([empty, *(rows.pop(name) for rows in self.chunks)])
            arrays["pairs"] = np.concatenate([np.zeros((0, PAIR_COLUMNS)), *self.pair_tables])
            self.chunks, self.pair_tables = [], []
            return Results(Memory(arrays), self.description, self.parameters, statistics, status, skin=self.skin)
        if self.file:
            from fem_mbs import vtkhdf

            # the state in which a run ends is always a frame
            if self.last is not None and self.last["step"][0] != self.last_frame:
                self._write_frames(self.last)
            self.root["statistics"] = json.dumps(statistics)
            self.root.attrs.modify("status", np.array(status.encode()[:400], "S400"))
            self._commit()
            lengths = {dataset.name[1:]: self.n for dataset in self.datasets.values()} | self.grid.lengths()
            if self.description["contact_groups"]:
                lengths[self.pair_data.name[1:]] = self.n_pairs
            # all point data but velocity are zero on most points: compression makes them nearly free
            sparse = {f"VTKHDF/PointData/{name}" for name in self.scene.fields if name != "velocity"}
            vtkhdf.finish(self.file, lengths, sparse)
            self.file = None
        return Results.read(self.path)


def results_path(path):
    """Path of a results file; an ending that ParaView knows is added or demanded."""
    path = Path(path)
    if not path.suffix:
        return path.with_suffix(".vtkhdf")
    if path.suffix.lower() not in SUFFIXES:
        raise FemMbsError(f"results file {path}: ending '{path.suffix}' is none of {', '.join(SUFFIXES)}; use .vtkhdf")
    return path


def _plain(value):
    """Value as JSON holds it."""
    if isinstance(value, (np.ndarray, list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {name: _plain(v) for name, v in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _versions():
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for package in ("fem_mbs", "numpy", "numba", "scipy", "h5py"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "?"
    return found
