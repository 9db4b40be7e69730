"""Description, histories and frames of a run in an open HDF5 file: space for rows, and rows.

Rows are written first and counted last (how: `fem_mbs.results.file.vtkhdf`). The layout is described in
`fem_mbs.results.results`.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.results.drawing.scene import Scene
from fem_mbs.results.drawing.skin import Skin
from fem_mbs.results.file.final_layout import Rows
from fem_mbs.results.file.frames import FrameChoice, frame_interval
from fem_mbs.results.file.journal import Journal
from fem_mbs.results.file.results_file import versions
from fem_mbs.results.file.vtkhdf import MovingGrid, growing, write_rows
from fem_mbs.results.results import FORMAT
from fem_mbs.results.sums import between, vectors
from fem_mbs.results.table import HISTORIES, PAIR_COLUMNS, shape_of

HISTORY_LIMIT = 500e6  # bytes of histories that space is taken for in advance
START_ROWS = 1024  # states to take space for when the length of the run is not known
BLOCK_POINTS = 100_000  # points moved at once


class Contents(NamedTuple):
    """What a results file is made of, next to the rows.

    ``run`` names the run; ``histories``: whether the file has any; ``frames``: as of `ResultsWriter`.
    """

    run: str
    description: dict[str, Any]
    parameters: dict[str, Any]
    skin: Skin
    scene: Scene
    journal: Journal | None
    frames: Any
    single: bool
    histories: bool


class RunFile:
    """Writes a run into an open file.

    Parameters
    ----------
    file : h5py.File, open for writing
    contents : Contents
    check : callable
        Raises an error if the disk has not taken what was written.

    Attributes
    ----------
    n, n_pairs : int
        Saved states, and rows of the table of pairs, that count.
    grown : bool
        Whether there is space for rows; before there is the description alone.
    """

    def __init__(self, file: Any, contents: Contents, check: Callable[[], None]) -> None:
        self.file, self.contents, self.check = file, contents, check
        self.sizes, self.skin = contents.description["sizes"], contents.skin
        self.journal = contents.journal if contents.histories else None
        interval = frame_interval(contents.frames, contents.parameters)
        self.choice = None if interval is None else FrameChoice(interval)
        self.n, self.n_pairs, self.grown = 0, 0, False
        self.last: dict[str, np.ndarray] | None = None
        self.last_frame = -1
        self.waiting: Any = 0.0  # impulses (nc, 3) since the last frame [N s], inertial axes
        self.datasets: dict[str, Any] = {}
        self.pair_data: Any = None
        self.grid: MovingGrid | None = None
        self._describe()

    def _describe(self):
        c = self.contents
        root = self.root = self.file.create_group("fem_mbs")
        root.attrs["format"], root.attrs["run"], root.attrs["single"] = FORMAT, c.run, c.single
        root.attrs["n"] = np.int64(0)
        root.attrs["status"] = np.array(b"running", "S400")
        for name, text in (("description", c.description), ("parameters", c.parameters), ("versions", versions())):
            root[name] = json.dumps(text)
        if c.histories:
            root.create_group("histories")
        self.file.flush()
        self.check()

    # --- space ----------------------------------------------------------------------------------------------------

    def expected(self) -> tuple[int, int]:
        """Numbers of states and of frames to take space for; more of them are written as well."""
        p = self.contents.parameters
        t_end, h = p.get("t_end"), p.get("h")
        if t_end is None or not h:
            return START_ROWS, START_ROWS
        duration = t_end - p.get("t_start", 0.0)
        saved = duration / (h * p.get("save_every", 1))
        row = sum(np.dtype(h.kind).itemsize * np.prod(shape_of(name, self.sizes)) for name, h in HISTORIES.items())
        # one more for the initial state, one for an end that is not a multiple of save_every
        states = int(min(saved + 2, max(START_ROWS, HISTORY_LIMIT / row)))
        interval = 0.0 if self.choice is None else self.choice.interval
        return states, int(min(saved, duration / interval) if interval else saved) + 2

    def grow(self, states: int, frames: int) -> None:
        """Take space for so many states and frames."""
        self.grown = True
        if self.contents.histories:
            self._create_histories(states)
        if self.journal is not None:
            self.journal.create(self.root)
        if self.choice is not None:
            s = self.skin
            cells = {"kind": s.kind, "element": s.owner, "color": s.color}
            fields = self.contents.scene.fields
            self.grid = MovingGrid(self.file, s.n_points, s.connectivity, s.offsets, s.types, cells, fields, frames)
            self.grid.rounded = self.contents.single
        self.file.flush()
        self.check()

    def _create_histories(self, states):
        skin = self.root.create_group("skin")
        for name, array in self.skin.arrays().items():
            skin[name] = array
        histories = self.root["histories"]
        for name, line in HISTORIES.items():
            shape = shape_of(name, self.sizes)
            if 0 not in shape:
                self.datasets[name] = growing(histories, name, shape, line.kind, states)
                self.datasets[name].attrs["meaning"], self.datasets[name].attrs["unit"] = line.meaning, line.unit
        if self.contents.description["contact_groups"]:
            self.pair_data = growing(histories, "pairs", (PAIR_COLUMNS,), "f8", START_ROWS)

    # --- rows -----------------------------------------------------------------------------------------------------

    def write(self, rows: dict[str, np.ndarray], table: np.ndarray) -> None:
        """Write saved states, rows of all histories, and their closed pairs."""
        if not self.grown:
            self.grow(*self.expected())
        for name, dataset in self.datasets.items():
            write_rows(dataset, self.n, rows[name])
        if self.pair_data is not None and len(table):
            write_rows(self.pair_data, self.n_pairs, table)
            self.n_pairs += len(table)
        if self.choice is not None:
            self._append_frames(rows)
        if self.journal is not None:
            self.journal.write()
        self.file.flush()
        self.check()
        self.n += len(rows["t"])
        self.last = {name: values[-1:] for name, values in rows.items()}
        self.commit()

    def _append_frames(self, rows):
        chosen = self.choice.choose(rows)
        frames = rows if len(chosen) == len(rows["t"]) else {name: values[chosen] for name, values in rows.items()}
        if self.skin.n_contacts:
            impulses, self.waiting = between(vectors(rows)[0], chosen, self.waiting)
            frames = frames | {"impulse_of_frame": impulses}
        if chosen:
            self._write_frames(frames)

    def _write_frames(self, rows):
        size = max(1, BLOCK_POINTS // max(self.skin.n_points, 1))
        for first in range(0, len(rows["t"]), size):
            part = {name: values[first : first + size] for name, values in rows.items()}
            self.grid.append(part["t"], *self.contents.scene.frames(part, np.float32))
            self.last_frame = int(part["step"][-1])

    def commit(self) -> None:
        """Make what was written count; it is in the file already."""
        self.root.attrs.modify("n", np.int64(self.n))
        if self.grid is not None:
            self.grid.commit()
        self.file.flush()
        self.check()

    def complete(self, status: np.ndarray, statistics: dict[str, Any]) -> None:
        """Write the last frame, statistics and status of a run that has ended."""
        if not self.grown:
            self.grow(1, 1)
        # the state in which a run ends is always a frame
        if self.grid is not None and self.last is not None and self.last["step"][0] != self.last_frame:
            waits = {"impulse_of_frame": self.waiting[None]} if self.skin.n_contacts else {}
            self._write_frames(self.last | waits)
        if self.journal is not None:
            self.journal.write()
        self.root["statistics"] = json.dumps(statistics)
        self.root.attrs.modify("status", status)
        self.file.flush()
        self.check()
        self.commit()

    def kept(self) -> dict[str, Rows]:
        """Rows in use of each growing dataset, by its name in the file."""
        rows = {dataset.name[1:]: Rows(self.n) for dataset in self.datasets.values()}
        if self.grid is not None:
            rows |= self.grid.kept()
        if self.journal is not None:
            rows |= {name: Rows(count) for name, count in self.journal.lengths().items()}
        if self.pair_data is not None:
            rows[self.pair_data.name[1:]] = Rows(self.n_pairs)
        return rows

    def get_state(self) -> dict[str, Any]:
        """Return the valid rows of the file, and what else is needed to continue it; a copy."""
        return {
            "n": self.n, "n_pairs": self.n_pairs, "frames": 0 if self.grid is None else self.grid.n_steps,
            "choice": None if self.choice is None else self.choice.get_state(), "last_frame": self.last_frame,
            "last": self.last, "waiting": self.waiting,
        }  # fmt: skip

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has returned; the rows up to there are in the file."""
        self.n, self.n_pairs, self.last = state["n"], state["n_pairs"], state["last"]
        self.last_frame, self.waiting = state["last_frame"], state["waiting"]
        if self.choice is not None:
            self.choice.set_state(state["choice"])
