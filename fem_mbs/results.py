"""Results of a run: written as a stream while it goes on, read back by name.

    /VTKHDF          what ParaView shows, see `fem_mbs.vtkhdf` and `fem_mbs.scene` (single precision)
    /fem_mbs         attributes: format, n (saved steps that count), status
      description    JSON: model, nodes, elements with their outputs and places in the arrays
      parameters     JSON: what the stepper was asked to do; statistics: JSON, written at the end
      histories/…    the arrays of `HISTORIES`, one row per saved step (double precision)
      skin/…         shapes, see `fem_mbs.shapes.Skin`

Rows are written first and counted last, and the file is flushed after every chunk: a run that is interrupted, or
killed, leaves everything up to its last chunk (how: `fem_mbs.vtkhdf`).
"""

import difflib
import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fem_mbs.errors import FemMbsError
from fem_mbs.scene import SECTION_LABELS, Scene, contact_vector, inverse_step
from fem_mbs.shapes import Skin, matrices

FORMAT = 1
GEOMETRY_LIMIT = 400e6  # bytes of uncompressed frames for ParaView, unless the user wants more
HISTORY_LIMIT = 500e6  # bytes of histories that space is taken for in advance
START_ROWS = 1024  # states to take space for when the length of the run is not known
BLOCK_POINTS = 200_000  # points moved at once
SUFFIXES = (".vtkhdf", ".hdf", ".h5", ".hdf5")

# One saved step. N nodes, m constraint rows, nc contacts, no element outputs.
HISTORIES = {
    # name: type, shape, meaning
    "t": ("f8", (), "time [s]"),
    "step": ("i8", (), "number of the step; 0 is the initial state"),
    "h": ("f8", (), "size of the step that led here [s]"),
    "position": ("f8", ("N", 3), "[m] inertial axes"),
    "quaternion": ("f8", ("N", 4), "body to inertial axes, scalar first"),
    "velocity": ("f8", ("N", 3), "[m/s] inertial axes"),
    "angular_velocity": ("f8", ("N", 3), "[rad/s] body axes"),
    "acceleration": ("f8", ("N", 3), "[m/s²] inertial axes, without impacts"),
    "angular_acceleration": ("f8", ("N", 3), "[rad/s²] body axes, without impacts"),
    "multiplier": ("f8", ("m",), "of constraint rows, along +Gᵀ"),
    "gap": ("f8", ("nc",), "[m] open > 0"),
    "impulse": ("f8", ("nc", 3), "[N s] of the step on the first body: normal, t1, t2"),
    "moment_impulse": ("f8", ("nc", 3), "[N m s] rolling about t1, t2, spinning or drilling"),
    "contact_point": ("f8", ("nc", 3), "[m] inertial axes"),
    "contact_normal": ("f8", ("nc", 3), "inertial axes, from the second body to the first"),
    "contact_tangents": ("f8", ("nc", 2, 3), "t1 and t2, inertial axes"),
    "contact_status": ("i1", ("nc",), "0 open, 1 sticking or rolling, 2 sliding or drilling, 3 no friction"),
    "impact": ("i1", ("nc",), "1 if the contact took part in an impact"),
    "output": ("f8", ("no",), "outputs of all elements, see the description"),
    "energy": ("f8", (2,), "[J] kinetic, potential"),
    "iterations": ("i8", (3,), "Newton iterations: smooth, position, velocity"),
    "problems": ("i8", (), "impact problems solved in the step"),
    "pair_count": ("i8", (), "closed contacts of contact groups, rows of the table of pairs"),
    "repeats": ("i8", (), "times the step was repeated with other penalties"),
    "contact_problems": ("i8", (), "sub-problems of the step given to the contact-problem solver"),
    "violation": ("f8", (2,), "largest |g|, |ġ| of the constraints"),
}

# Closed contacts of contact groups: rows of all saved steps one after the other. Columns: contact group, sphere, type
# of the partner (0: sphere), partner, status, gap; impulse (3) and moment impulse (3) on the sphere, point (3), normal
# (3) from the partner to the sphere, inertial axes.
PAIR_COLUMNS = 18


class UnknownNameError(FemMbsError, KeyError):
    """A name that the results do not have; the message lists near ones."""

    __str__ = Exception.__str__


def unknown_name(name, known, where):
    """The error for a name that is not among the known ones."""
    near = difflib.get_close_matches(str(name), known, n=5, cutoff=0.5)
    hint = f"did you mean {', '.join(repr(n) for n in near)}?" if near else ""
    listed = ", ".join(repr(n) for n in list(known)[:30]) + (", …" if len(known) > 30 else "")
    return UnknownNameError(f"{where} has no '{name}'; {hint or 'it has: ' + listed}")


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
    sizes = {
        "N": len(nodes),
        "m": sum(e["rows"][1] - e["rows"][0] for e in elements if e["rows"]),
        "nc": len(system.contacts),
        "no": max([s[1] for e in elements for s in e["outputs"].values()], default=0),
    }
    gravity = [float(g) for g in getattr(system, "gravity", (0, 0, 0))]
    groups = [_describe_group(group) for group in getattr(system.model, "contact_groups", ())]
    return {
        "model": system.name, "gravity": gravity, "sizes": sizes, "nodes": nodes, "elements": elements,
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


def _shape(name, sizes):
    return tuple(sizes.get(s, s) for s in HISTORIES[name][1])


# --- writing ------------------------------------------------------------------------------------------------------


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
        if not t_end or not h:
            return START_ROWS, START_ROWS, 0.0
        saved = t_end / (h * p.get("save_every", 1))
        most = max(200.0, GEOMETRY_LIMIT / max(size, 1)) if frames is None else max(frames - 1, 1)
        row = sum(
            np.dtype(kind).itemsize * np.prod(_shape(name, self.sizes)) for name, (kind, _, _) in HISTORIES.items()
        )
        # one more for the initial state, one for an end that is not a multiple of save_every
        states = int(min(saved + 2, max(START_ROWS, HISTORY_LIMIT / row)))
        return states, int(min(saved, most)) + 2, t_end / most if saved > most else 0.0

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
        for name, (kind, _, meaning) in HISTORIES.items():
            shape = _shape(name, self.sizes)
            if 0 not in shape:
                self.datasets[name] = vtkhdf.growing(histories, name, shape, kind, states)
                self.datasets[name].attrs["meaning"] = meaning
        if self.description["contact_groups"]:
            self.pair_data = vtkhdf.growing(histories, "pairs", (PAIR_COLUMNS,), "f8", START_ROWS)
        s = self.skin
        cells = {"kind": s.kind, "element": s.owner, "color": s.color}
        fields = self.scene.fields
        self.grid = vtkhdf.MovingGrid(self.file, s.n_points, s.connectivity, s.offsets, s.types, cells, fields, frames)
        self.file.flush()

    def append(self, chunk, pairs=()):
        """Take saved steps: a dict of arrays, one row per step, with all names of `HISTORIES`.

        ``pairs``: tables (n, PAIR_COLUMNS) of closed contacts of contact groups, one per step; none without groups.

        ``velocity`` and ``acceleration`` may hold six numbers per node, as states do; they are then taken apart. The
        arrays may be reused by the caller afterwards.
        """
        k = len(chunk["t"])
        chunk = _separated(chunk)
        rows = {}
        for name, (kind, _, _) in HISTORIES.items():
            rows[name] = np.array(chunk[name], kind).reshape(k, *_shape(name, self.sizes))
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
            for name, (kind, _, _) in HISTORIES.items():
                empty = np.zeros((0, *_shape(name, self.sizes)), kind)
                arrays[name] = np.concatenate([empty, *(rows.pop(name) for rows in self.chunks)])
            arrays["pairs"] = np.concatenate([np.zeros((0, PAIR_COLUMNS)), *self.pair_tables])
            self.chunks, self.pair_tables = [], []
            return Results(_Memory(arrays), self.description, self.parameters, statistics, status, skin=self.skin)
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


def _separated(chunk):
    """The chunk with translation and rotation of velocities and accelerations as histories of their own."""
    chunk = dict(chunk)
    for name in ("velocity", "acceleration"):
        if f"angular_{name}" not in chunk:
            both = np.asarray(chunk[name])
            chunk[name], chunk[f"angular_{name}"] = both[..., :3], both[..., 3:]
    return chunk


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


# --- reading ------------------------------------------------------------------------------------------------------


class _Memory:
    """Histories held as arrays."""

    def __init__(self, arrays):
        self.arrays = arrays

    def read(self, name, column=slice(None)):
        array = self.arrays[name]
        return array if array.ndim == 1 else array[:, column]

    def pairs(self, first, last):
        return self.arrays["pairs"][first:last]

    def rows(self, chosen):
        return {name: array[chosen] for name, array in self.arrays.items() if name != "pairs"}


class _File:
    """Histories read from a file when they are asked for."""

    def __init__(self, path, n, sizes):
        self.path, self.n, self.sizes = path, n, sizes

    def _open(self):
        import h5py

        return h5py.File(self.path, "r", locking=False)

    def read(self, name, column=slice(None)):
        kind, shape = HISTORIES[name][0], _shape(name, self.sizes)
        if 0 in shape:
            return np.zeros((self.n, *shape), kind)[:, column]
        with self._open() as file:
            dataset = file["fem_mbs/histories"][name]
            return dataset[: self.n] if dataset.ndim == 1 else dataset[: self.n, column]

    def pairs(self, first, last):
        with self._open() as file:
            histories = file["fem_mbs/histories"]
            return histories["pairs"][first:last] if "pairs" in histories else np.zeros((0, PAIR_COLUMNS))

    def rows(self, chosen):
        chosen = np.asarray(chosen)
        order, back = np.unique(chosen, return_inverse=True)
        result = {}
        with self._open() as file:
            for name, (kind, _, _) in HISTORIES.items():
                shape = _shape(name, self.sizes)
                if 0 in shape:
                    result[name] = np.zeros((len(chosen), *shape), kind)
                else:
                    result[name] = file["fem_mbs/histories"][name][order][back]
        return result


class Pairs(NamedTuple):
    """Closed contacts of contact groups in one saved step; arrays with one entry per contact.

    ``group``, ``sphere``, ``type`` and ``partner`` are numbers into ``result.description["contact_groups"]``, in the
    order in which spheres and obstacles were put in; type 0 are the spheres themselves. Vectors are in inertial axes;
    impulses [N s], [N m s] act on the sphere, the normal points to it. ``status`` as of other contacts.
    """

    group: np.ndarray
    sphere: np.ndarray
    type: np.ndarray
    partner: np.ndarray
    status: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    moment_impulse: np.ndarray
    point: np.ndarray
    normal: np.ndarray


class Quantity(NamedTuple):
    """How one history is obtained: its unit, the names of its components, and a function without arguments."""

    unit: str
    labels: tuple
    read: object


class History:
    """Histories of one node, body, joint, beam or contact: each attribute is an array with one row per saved step.

    ``dir(history)`` lists them; `units` tells their units, `labels` their components.
    """

    def __init__(self, name, quantities):
        self._name, self._quantities, self._values = name, quantities, {}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._quantities:
            near = difflib.get_close_matches(name, self._quantities, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise AttributeError(f"'{self._name}' has no history '{name}'; {hint}it has: {', '.join(self._quantities)}")
        if name not in self._values:
            self._values[name] = self._quantities[name].read()
        return self._values[name]

    def __dir__(self):
        return [*self._quantities, "units", "labels"]

    @property
    def units(self):
        """Unit of each history."""
        return {name: quantity.unit for name, quantity in self._quantities.items()}

    @property
    def labels(self):
        """Names of the components of each history; empty for a scalar."""
        return {name: quantity.labels for name, quantity in self._quantities.items()}

    def __repr__(self):
        return f"<histories of '{self._name}': {', '.join(self._quantities)}>"


class Iterations(History):
    """Newton iterations of each step; ``max`` and ``mean`` (3,) over saved steps: smooth, position, velocity."""

    @property
    def _all(self):
        return np.stack([self.smooth, self.position, self.velocity], axis=1)[self.step > 0]

    @property
    def max(self):
        """Largest numbers (3,) int."""
        return self._all.max(axis=0) if len(self._all) else np.zeros(3, int)

    @property
    def mean(self):
        """Mean numbers (3,)."""
        return self._all.mean(axis=0) if len(self._all) else np.zeros(3)


def view(records):
    """Store of `Results` that reads the records of a stepper: dict of arrays, one row per state, not all names."""
    return _Memory(_separated(records))


class Results:
    """Histories of a run, by the names of the model.

    Attributes
    ----------
    t : (k,) [s], times of the saved steps
    h : (k,) [s], sizes of the steps that led there
    energy : histories kinetic, potential, total [J]
    iterations : histories smooth, position, velocity, with ``max`` and ``mean``
    violation : histories position (largest |g|), velocity (largest |ġ|) of the constraints
    problems : (k,) int, impact problems solved in each step
    multiplier : (k, m), of all constraint rows
    status : "complete", "running" (being written, or killed) or "stopped: …"
    parameters, statistics : dict, what the stepper was asked to do and what it counted
    names : list of str

    Examples
    --------
    >>> import fem_mbs as fem
    >>> result = fem.load("bouncing_ball.vtkhdf")  # doctest: +SKIP
    >>> result["ball"].position[-1], result["table"].gap.min()  # doctest: +SKIP
    """

    def __init__(self, store, description, parameters, statistics, status, *, skin=None, path=None):
        self._store, self._skin = store, skin
        self.description, self.parameters, self.statistics = description, parameters, statistics
        self.status, self.path = status, path
        self.model = description["model"]
        self._entries, self._cache = self._index(), {}

    @classmethod
    def read(cls, path):
        """Results of a file that `ResultsWriter` wrote, or is still writing; arrays are loaded when asked for."""
        import h5py

        path = Path(path)
        if not path.exists():
            raise FemMbsError(f"results file {path} does not exist")
        try:
            with h5py.File(path, "r", locking=False) as file:
                if "fem_mbs" not in file:
                    raise FemMbsError(f"{path} was not written by fem_mbs: it has no group 'fem_mbs'")
                root = file["fem_mbs"]
                if root.attrs["format"] > FORMAT:
                    raise FemMbsError(f"{path} was written by a newer fem_mbs (format {root.attrs['format']}); update")
                n, status = int(root.attrs["n"]), bytes(root.attrs["status"]).decode(errors="ignore")
                texts = {k: root[k][()] if k in root else b"{}" for k in ("description", "parameters", "statistics")}
        except OSError as error:
            raise FemMbsError(f"{path} is not a readable HDF5 file: {error}") from error
        description, parameters, statistics = (json.loads(text) for text in texts.values())
        store = _File(path, n, description["sizes"])
        return cls(store, description, parameters, statistics, status, path=path)

    # --- names ----------------------------------------------------------------------------------------------------

    def _index(self):
        """Name -> (node number or None, element number or None)."""
        entries = {}
        nodes = self.description["nodes"]
        for i, node in enumerate(nodes):
            name = node["name"] or f"node {i}"
            entries[name if name not in entries else f"{name} (node {i})"] = (i, None)
        for e, element in enumerate(self.description["elements"]):
            name = element["name"] or f"{element['type'].lower()} {e + 1}"
            carried = element["nodes"][0] if len(element["nodes"]) == 1 else None
            if name in entries and entries[name] != (carried, None):
                name = f"{name} ({element['type']})"
            entries[name] = (carried, e)
        return entries

    @property
    def names(self):
        """Names that ``result[name]`` knows: nodes and elements of the model."""
        return list(self._entries)

    def __getitem__(self, name):
        """`History` of a node, body, joint, beam or contact."""
        if name not in self._entries:
            raise unknown_name(name, self._entries, f"result of model '{self.model}'")
        if name not in self._cache:
            node, element = self._entries[name]
            quantities = {} if node is None else self._of_node(node)
            if element is not None:
                quantities |= self._of_element(self.description["elements"][element])
            self._cache[name] = History(name, quantities)
        return self._cache[name]

    def __contains__(self, name):
        return name in self._entries

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self.t)

    def _of_node(self, i):
        read, xyz = self._store.read, ("x", "y", "z")

        def history(name, unit, labels):
            return Quantity(unit, labels, lambda: read(name, i))

        return {
            "position": history("position", "m", xyz),
            "velocity": history("velocity", "m/s", xyz),
            "acceleration": history("acceleration", "m/s²", xyz),
            "rotation": Quantity("", (), lambda: matrices(read("quaternion", i))),
            "quaternion": history("quaternion", "", ("w", "x", "y", "z")),
            "rotation_vector": Quantity("rad", xyz, lambda: _rotation_vectors(read("quaternion", i))),
            "angular_velocity": history("angular_velocity", "rad/s", xyz),
            "angular_acceleration": history("angular_acceleration", "rad/s²", xyz),
        }

    def _of_element(self, element):
        read, quantities = self._store.read, {}
        for name, (start, stop, unit) in element["outputs"].items():
            labels = _labels(element["role"], name, stop - start)
            column = slice(start, stop) if stop - start > 1 else start
            quantities[name] = Quantity(unit, labels, lambda column=column: read("output", column))
        if element["rows"]:
            rows = slice(*element["rows"])
            numbers = tuple(str(i + 1) for i in range(rows.stop - rows.start))
            quantities["multiplier"] = Quantity("", numbers, lambda: read("multiplier", rows))
        if element["contact"] is not None:
            quantities |= self._of_contact(element["contact"])
        return quantities

    def _of_contact(self, c):
        read = self._store.read

        def per_time(values):
            scale = inverse_step(self.h)
            return values * scale.reshape(-1, *[1] * (values.ndim - 1))

        def vector():
            return contact_vector(per_time(read("impulse", c)), read("contact_normal", c), read("contact_tangents", c))

        axes, turns, xyz = ("normal", "t1", "t2"), ("roll t1", "roll t2", "spin"), ("x", "y", "z")
        return {
            "gap": Quantity("m", (), lambda: read("gap", c)),
            "impulse": Quantity("N s", axes, lambda: read("impulse", c)),
            "moment_impulse": Quantity("N m s", turns, lambda: read("moment_impulse", c)),
            "force": Quantity("N", axes, lambda: per_time(read("impulse", c))),
            "force_normal": Quantity("N", (), lambda: per_time(read("impulse", c))[:, 0]),
            "force_tangential": Quantity("N", ("t1", "t2"), lambda: per_time(read("impulse", c))[:, 1:]),
            "force_vector": Quantity("N", xyz, vector),
            "moment": Quantity("N m", turns, lambda: per_time(read("moment_impulse", c))),
            "point": Quantity("m", xyz, lambda: read("contact_point", c)),
            "normal": Quantity("", xyz, lambda: read("contact_normal", c)),
            "tangents": Quantity("", (), lambda: read("contact_tangents", c)),
            "status": Quantity("", (), lambda: read("contact_status", c)),
            "impact": Quantity("", (), lambda: read("impact", c)),
        }

    # --- the whole system -----------------------------------------------------------------------------------------

    def _once(self, name, make):
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    @property
    def t(self):
        """Times (k,) [s] of the saved steps."""
        return self._once(("t",), lambda: self._store.read("t"))

    @property
    def step(self):
        """Numbers (k,) of the saved steps; 0 is the initial state."""
        return self._once(("step",), lambda: self._store.read("step"))

    @property
    def h(self):
        """Sizes (k,) [s] of the steps that led to the saved states."""
        return self._once(("h",), lambda: self._store.read("h"))

    @property
    def problems(self):
        """Impact problems (k,) solved in each step."""
        return self._once(("problems",), lambda: self._store.read("problems"))

    @property
    def pair_count(self):
        """Closed contacts (k,) of contact groups."""
        return self._once(("pair_count",), lambda: self._store.read("pair_count"))

    def recovered(self, contact):
        """Forces of a contact that `RecoveredForces.save` or `ForceObserver.save` has put into the file of this run.

        Parameters
        ----------
        contact : str
            Its name.

        Returns
        -------
        namespace
            ``impacts`` (record array), ``t`` [s], ``force`` [N], after a recovery also ``indentation`` [m] and
            ``velocity`` [m/s], of an observer ``continuous`` [N] and ``impulse`` [N s]; ``stiffness``, ``exponent``,
            ``model``, ``filter``.

        Raises
        ------
        FemMbsError
            No file, or no forces of this contact in it; the message has the names of those that are there.
        """
        from fem_mbs.recovered_file import read

        if self.path is None:
            raise FemMbsError("this run was not saved: recovered forces are read from its results file")
        return read(self.path, contact)

    def pairs(self, state):
        """Closed contacts of contact groups in saved step number ``state`` (negative: from the end).

        Returns
        -------
        Pairs

        Raises
        ------
        IndexError
            If there is no such saved step.
        """
        state = range(len(self.t))[state]
        last = int(self.pair_count[: state + 1].sum())
        rows = self._store.pairs(last - int(self.pair_count[state]), last)
        numbers = rows[:, :5].astype(int).T
        return Pairs(*numbers, rows[:, 5], rows[:, 6:9], rows[:, 9:12], rows[:, 12:15], rows[:, 15:18])

    @property
    def repeats(self):
        """Times (k,) that each step was repeated with other penalties before it converged."""
        return self._once(("repeats",), lambda: self._store.read("repeats"))

    @property
    def contact_problems(self):
        """Sub-problems (k,) of each step that were given to the contact-problem solver."""
        return self._once(("contact_problems",), lambda: self._store.read("contact_problems"))

    @property
    def multiplier(self):
        """Multipliers (k, m) of all constraint rows."""
        return self._once(("multiplier",), lambda: self._store.read("multiplier"))

    def _columns(self, name, columns, unit):
        read = self._store.read
        return {c: Quantity(unit, (), lambda i=i: read(name, i)) for i, c in enumerate(columns)}

    @property
    def energy(self):
        """Histories kinetic, potential and total [J]."""
        parts = self._columns("energy", ("kinetic", "potential"), "J")
        parts["total"] = Quantity("J", (), lambda: self._store.read("energy").sum(axis=1))
        return self._once(("energy",), lambda: History("energy", parts))

    @property
    def iterations(self):
        """Histories smooth, position, velocity of the Newton iterations; see `Iterations`."""
        parts = self._columns("iterations", ("smooth", "position", "velocity"), "")
        parts["step"] = Quantity("", (), lambda: self.step)
        return self._once(("iterations",), lambda: Iterations("iterations", parts))

    @property
    def violation(self):
        """Histories position and velocity: largest |g| and |ġ| of the constraints in each step."""
        parts = self._columns("violation", ("position", "velocity"), "")
        return self._once(("violation",), lambda: History("violation", parts))

    @property
    def skin(self):
        """The `Skin` of the model."""
        if self._skin is None:
            with self._store._open() as file:
                group = file["fem_mbs/skin"]
                self._skin = Skin(**{name: group[name][()] for name in Skin.ARRAYS})
        return self._skin

    @property
    def scene(self):
        """The `Scene` that draws saved steps."""
        return self._once(("scene",), lambda: Scene(self.skin, self.description["elements"]))

    def rows(self, chosen):
        """All histories of chosen saved steps: dict of arrays, see `HISTORIES`."""
        return self._store.rows(np.asarray(chosen))

    def at(self, time):
        """Number of the saved step nearest to a time [s]."""
        if not len(self.t):
            raise FemMbsError(f"result of model '{self.model}' has no saved steps")
        return int(np.argmin(np.abs(self.t - time)))

    @property
    def contacts(self):
        """Names of the contacts, in the order of contact results."""
        found = {
            self.description["elements"][e]["contact"]: name
            for name, (_, e) in self._entries.items()
            if e is not None and self.description["elements"][e]["contact"] is not None
        }
        return [found[i] for i in sorted(found)]

    def lift_offs(self, contact):
        """Times (n,) [s] at which a contact that was closed for at least two saved steps opens.

        A single closed step is an impact, not a phase of contact.
        """
        return self.t[_openings(self[contact].status)]

    # --- shown ----------------------------------------------------------------------------------------------------

    def report(self):
        """Table of the run as a text: time, iterations, constraints, contacts, energy."""
        return "\n".join(f"  {name:<13}{text}" if name else text for name, text in self._report_lines())

    def _report_lines(self):
        p, s = self.parameters, self.statistics
        shown = ("h", "save_every", "rho_inf", "rtol")
        options = ", ".join(f"{k} = {p[k]:g}" for k in shown if isinstance(p.get(k), (int, float)))
        yield "", f"{self.model}: {p.get('stepper', 'run')}" + (f" ({options})" if options else "")
        if not len(self.t):
            yield "status", f"{self.status}; nothing saved"
            return
        wall = f" in {s['wall_time']:.3g} s" if "wall_time" in s else ""
        steps = int(s.get("steps", self.step[-1]))
        yield "status", f"{self.status}{wall}"
        yield "time", f"{self.t[0]:g} … {self.t[-1]:g} s, {steps} steps, {len(self.t)} states saved"
        most, mean = s.get("iterations_max", self.iterations.max), s.get("iterations_mean", self.iterations.mean)
        parts = (f"{n} {int(a)} / {b:.2f}" for n, a, b in zip(("smooth", "position", "velocity"), most, mean))
        yield "iterations", "max / mean: " + ", ".join(parts)
        if self.description["sizes"]["m"]:
            g, rate = self.violation.position.max(), self.violation.velocity.max()
            yield "constraints", f"{self.description['sizes']['m']} rows, largest |g| {g:.2e}, |dg/dt| {rate:.2e}"
        if self.contacts:
            yield "contacts", self._contact_summary()
        total = self.energy.total
        rise = np.diff(total).max(initial=0.0)
        text = f"{total[0]:.6g} J at the start, {total[-1]:.6g} J at the end"
        yield "energy", f"{text}, largest rise between saved states {rise:.2e} J"

    def _contact_summary(self):
        gap, impact = self._store.read("gap"), self._store.read("impact")
        i, c = np.unravel_index(np.argmin(gap), gap.shape)
        name = self.contacts[c]
        text = f"{len(self.contacts)}, smallest gap {gap[i, c]:.2e} m ('{name}', t = {self.t[i]:g} s)"
        return (
            f"{text}, {int(impact.sum())} impacts, {int(_openings(self._store.read('contact_status')).sum())} lift-offs"
        )

    def __str__(self):
        return self.report()

    def __repr__(self):
        return f"<Results of '{self.model}': {len(self.t)} saved steps, {self.status}>"

    def plot(self, *what, **options):
        """Plot histories with matplotlib; see `fem_mbs.plot.plot`."""
        from fem_mbs.plot import plot

        return plot(self, *what, **options)

    def picture(self, save=None, **options):
        """Picture of the model at one time, off-screen; see `fem_mbs.picture.picture`."""
        from fem_mbs.picture import picture

        return picture(self, save, **options)

    def animate(self, save, **options):
        """Animation of the run as .gif or .mp4; see `fem_mbs.picture.animate`."""
        from fem_mbs.picture import animate

        return animate(self, save, **options)

    def export(self, save, **options):
        """Write frames in a format of meshio; see `fem_mbs.export.export`."""
        from fem_mbs.export import export

        return export(self, save, **options)


def load(path):
    """Results of a file, see `Results.read`."""
    return Results.read(path)


def _openings(status):
    """True (k, …) where a contact that was closed in the two saved steps before is open."""
    closed = np.asarray(status) > 0
    opening = np.zeros(closed.shape, bool)
    opening[2:] = closed[:-2] & closed[1:-1] & ~closed[2:]
    return opening


def _rotation_vectors(quaternions):
    """Rotation vectors (k, 3) [rad], |ψ| ≤ π, of quaternions (k, 4)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quaternions[:, [1, 2, 3, 0]]).as_rotvec()


def _labels(role, name, count):
    """Names of the components of an element's output: joints report in inertial axes, beams in section axes."""
    if count == 1:
        return ()
    if name in SECTION_LABELS:
        return SECTION_LABELS[name]
    if role == "constraint" and count == 3:
        return ("x", "y", "z")
    return tuple(str(i + 1) for i in range(count))
