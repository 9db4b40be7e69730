"""Writing results: saved steps of a run as a stream, to a file (described in `fem_mbs.results.results`) or to memory.

Rows are written first and counted last, and the file is flushed after every chunk: a run that is interrupted, or
killed, leaves everything up to its last chunk (how: `fem_mbs.results.file.vtkhdf`).
"""

import atexit
import contextlib
import json
import os
import time
import uuid
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import FemMbsError, FileError
from fem_mbs.results.describe import describe
from fem_mbs.results.drawing.scene import Scene
from fem_mbs.results.drawing.sketch import Sketch
from fem_mbs.results.file.file_lock import FileLock
from fem_mbs.results.file.guarded_file import GuardedFile
from fem_mbs.results.file.journal import Journal
from fem_mbs.results.file.results_file import plain, refuse_foreign, results_path, versions
from fem_mbs.results.file.store import Memory
from fem_mbs.results.results import FORMAT, Results
from fem_mbs.results.sums import between, vectors
from fem_mbs.results.table import HISTORIES, PAIR_COLUMNS, separated, shape_of

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

GEOMETRY_LIMIT = 400e6  # bytes of uncompressed frames for ParaView, unless the user wants more
HISTORY_LIMIT = 500e6  # bytes of histories that space is taken for in advance
START_ROWS = 1024  # states to take space for when the length of the run is not known
BLOCK_POINTS = 100_000  # points moved at once


_OPEN = weakref.WeakSet()  # writers of files


@atexit.register
def _close_all():
    """Close what a script has left open, while HDF5 can still call `GuardedFile`."""
    for writer in list(_OPEN):
        if writer.process == os.getpid():  # a forked process leaves the file of its parent alone
            writer._drop()


class ResultsWriter:
    """Takes the saved steps of a run, in chunks, to a file or to memory.

    Parameters
    ----------
    system : System
    path : path, optional
        Results file, best "….vtkhdf" (ParaView supports this ending); it is replaced. None keeps everything in memory.
    parameters : dict, optional
        What was asked for: stepper, t_end, h, save_every, … (numbers, texts). Shown by `Results.report`.
    frames : int, optional
        Largest number of frames for ParaView, evenly spaced in time. Default: every saved step, unless that would make
        more than 400 MB of geometry. Histories always have every saved step.
    single : bool
        The file is for ParaView alone: numbers rounded to 16 bits (at most 1.5e-5 of each), no histories. These stay in
        memory, where `close` returns them.
    pvd : bool
        Write the model as a .pvd file with its .vtu files next to the results file at the end, for ParaView before
        5.12.
    forces : bool
        The steps have ``contact_force`` and ``contact_moment``, as steps of `DecoupledNSGA` with persistent contacts.
    continued : dict, optional
        State of the writer that began the file, `get_state`: the file is made anew with the rows up to there.
    works : sequence of (name, kind)
        Lines of the energy table, whose work the steps have.

    journal : Journal, optional
        Samples and events of the run, which grow meanwhile.

    Raises
    ------
    FileError
        Another run is writing the file, the file is somebody else's, or the disk does not take it.
    """

    def __init__(
        self,
        system: "CompiledSystem",
        path: str | Path | None = None,
        *,
        parameters: dict[str, Any] | None = None,
        frames: int | None = None,
        single: bool = False,
        pvd: bool = False,
        forces: bool = False,
        journal: Journal | None = None,
        continued: dict[str, Any] | None = None,
        works: Sequence = (),
    ) -> None:
        if path is None and (single or pvd):
            raise FemMbsError(
                f"{'single' if single else 'pvd'}=True is about the results file: give its name with save=…"
            )
        self.description = describe(system, forces, works)
        self.sizes = self.description["sizes"]
        self.journal = journal
        self.parameters = {k: plain(v) for k, v in (parameters or {}).items()}
        self.sketch = Sketch(system)
        self.n, self.begun = 0, time.perf_counter()
        self.path = None if path is None else results_path(path)
        self.file, self.chunks, self.last, self.last_frame = None, [], None, -1
        self.waiting: Any = 0.0  # impulses (nc, 3) since the last frame [N s], inertial axes
        self.pair_tables, self.n_pairs = [], 0
        self.single, self.pvd, self.in_memory = bool(single), bool(pvd), self.path is None or bool(single)
        if self.path is not None:
            self.skin = self.sketch.skin()
            self.scene = Scene(self.skin, self.description["elements"])
            states, frames, self.interval = self._expect(frames)
            self.next_frame = -np.inf
            self.lock = FileLock(self.path)
            self.process = os.getpid()
            _OPEN.add(self)
            if continued is not None:
                self._continue(states, frames, continued)
                return
            try:
                self._create(states, frames)
            except BaseException:
                self._abandon()
                raise

    def _continue(self, states, frames, state):
        """Make the file anew with the rows up to a state of the writer that began it."""
        from fem_mbs.results.file import continued

        try:
            before = continued.set_aside(self.path, state["run"])
        except BaseException:
            self.lock.release()
            raise
        try:
            self._create(states + state["n"], frames + state["frames"], state["run"])
            continued.copy_into(self, before, state)
        except BaseException:
            self._abandon()
            os.replace(before, self.path)
            raise
        before.unlink()

    def get_state(self) -> dict[str, Any]:
        """Return the valid rows of the file, and the other data a writer needs to continue it; a copy."""
        return {
            "run": self.run, "n": self.n, "n_pairs": self.n_pairs, "frames": self.grid.n_steps,
            "next_frame": self.next_frame, "interval": self.interval, "last_frame": self.last_frame,
            "last": self.last, "waiting": self.waiting, "wall": time.perf_counter() - self.begun,
        }  # fmt: skip

    def to_disk(self) -> None:
        """Have the system bring what was written to the disk, so that a power cut does not take it."""
        if self.file is not None:
            self.file.flush()
            with contextlib.suppress(OSError):
                os.fsync(self.disk.raw.fileno())

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

    def _create(self, states, frames, run=None):
        import h5py

        from fem_mbs.results.file import vtkhdf

        if not self.lock.left_behind:
            refuse_foreign(self.path)
        try:
            self.disk = GuardedFile(self.path, "w+b")
        except OSError as error:
            raise FileError(self.path, f"cannot be written: {error.strerror}") from error
        # HDF5's lock is not used with a file object: ParaView and Python can look at the file while it grows
        # nor a cache: rows go to the disk when they are written, and each of many datasets would keep a megabyte
        try:
            self.file = h5py.File(self.disk, "w", libver="earliest", rdcc_nbytes=0)
        except BaseException:
            self.disk.close()
            raise
        root = self.root = self.file.create_group("fem_mbs")
        root.attrs["format"] = FORMAT
        self.run = root.attrs["run"] = run or uuid.uuid4().hex
        root.attrs["single"] = self.single
        root.attrs["n"] = np.int64(0)
        root.attrs["status"] = np.array(b"running", "S400")
        root["description"] = json.dumps(self.description)
        root["parameters"] = json.dumps(self.parameters)
        root["versions"] = json.dumps(versions())
        self.datasets, self.pair_data = {}, None
        if not self.in_memory:
            self._create_histories(root, states)
        if self.journal is not None and not self.in_memory:
            self.journal.create(root)
        s = self.skin
        cells = {"kind": s.kind, "element": s.owner, "color": s.color}
        fields = self.scene.fields
        self.grid = vtkhdf.MovingGrid(self.file, s.n_points, s.connectivity, s.offsets, s.types, cells, fields, frames)
        self.grid.rounded = self.single
        self.file.flush()
        self._check_disk()

    def _create_histories(self, root, states):
        from fem_mbs.results.file import vtkhdf

        skin = root.create_group("skin")
        for name, array in self.skin.arrays().items():
            skin[name] = array
        histories = root.create_group("histories")
        for name, line in HISTORIES.items():
            shape = shape_of(name, self.sizes)
            if 0 not in shape:
                self.datasets[name] = vtkhdf.growing(histories, name, shape, line.kind, states)
                self.datasets[name].attrs["meaning"], self.datasets[name].attrs["unit"] = line.meaning, line.unit
        if self.description["contact_groups"]:
            self.pair_data = vtkhdf.growing(histories, "pairs", (PAIR_COLUMNS,), "f8", START_ROWS)

    def _check_disk(self):
        """Raise what writing met; the file keeps what was counted before."""
        if self.disk.error is not None:
            kept = "nothing of this run is in it" if self.n == 0 else f"its first {self.n} saved states are kept"
            raise FileError(
                self.path, f"could not be written to its end: {self.disk.cause}; {kept}"
            ) from self.disk.error

    def _abandon(self):
        """Discard a file that could not be begun."""
        begun = self.file is not None
        self._drop()
        if begun:
            self.path.unlink(missing_ok=True)

    def give_up(self) -> None:
        """Close a file without an end: nothing of it counts that did not before."""
        if self.path is not None:
            self._drop()

    def _drop(self):
        """Leave the file as it is."""
        if self.file is not None:
            file, self.file = self.file, None
            file.close()
            self.disk.close()
        self.lock.release()

    def append(self, chunk: dict[str, Any], pairs: Sequence[np.ndarray] = ()) -> None:
        """Take saved steps: a dict of arrays, one row per step, with all names of `fem_mbs.results.table`.

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
        if self.in_memory:
            self.chunks.append(rows)
            self.pair_tables.append(table)
        if self.path is not None and k:
            self._write(rows, table)
        else:
            self.n += k

    def _write(self, rows, table):
        from fem_mbs.results.file.vtkhdf import write_rows

        for name, dataset in self.datasets.items():
            write_rows(dataset, self.n, rows[name])
        if self.pair_data is not None and len(table):
            write_rows(self.pair_data, self.n_pairs, table)
            self.n_pairs += len(table)
        self._append_frames(rows)
        if self.journal is not None and not self.in_memory:
            self.journal.write()
        self.file.flush()
        self._check_disk()
        self.n += len(rows["t"])
        self.last = {name: values[-1:] for name, values in rows.items()}
        self._commit(self.file)

    def _append_frames(self, rows):
        chosen = []
        for i, t in enumerate(rows["t"]):
            # half a step of slack: a frame time that is missed by round-off would be late by a whole step
            if t >= self.next_frame - 0.5 * rows["h"][i]:
                chosen.append(i)
                self.next_frame = (
                    max(self.next_frame + self.interval, t) if np.isfinite(self.next_frame) else t + self.interval
                )
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
            self.grid.append(part["t"], *self.scene.frames(part, np.float32))
            self.last_frame = int(part["step"][-1])

    def _commit(self, file):
        """Make what was written count; it is in the file already."""
        self.root.attrs.modify("n", np.int64(self.n))
        self.grid.commit()
        file.flush()
        self._check_disk()

    def close(self, reason: str = "complete", **statistics: Any) -> Results:
        """End the run and return its `Results`.

        Parameters
        ----------
        reason : str
            "complete", or why the run stopped ("interrupted", "step 1841 failed: …").
        **statistics : numbers or texts
            What the stepper counted over all steps, saved or not; shown by `Results.report`.

        Raises
        ------
        FileError
            The disk did not take everything; ``error.result`` holds what it took.
        """
        status = reason if reason == "complete" or reason.startswith("stopped") else f"stopped: {reason}"
        statistics = {"wall_time": time.perf_counter() - self.begun, **{k: plain(v) for k, v in statistics.items()}}
        failure = None
        if self.file is not None:
            try:
                self._finish(status, statistics)
            except FileError as error:
                failure = error
            finally:
                self.lock.release()
        result = self._from_memory(statistics, status) if self.in_memory else self._from_file(failure)
        if failure is not None:
            failure.result = result
            raise failure
        if self.pvd and len(result.t):
            self._export(result)
        return result

    def _export(self, result):
        path = self.path.with_suffix(".pvd")
        try:
            result.export(path)
        except OSError as error:
            failure = FileError(path, f"could not be written to its end: {error.strerror}; the results are complete")
            failure.result = result
            raise failure from error

    def _from_memory(self, statistics, status):
        arrays = {}
        for name, line in HISTORIES.items():
            empty = np.zeros((0, *shape_of(name, self.sizes)), line.kind)
            arrays[name] = np.concatenate([empty, *(rows.pop(name) for rows in self.chunks)])
        arrays["pairs"] = np.concatenate([np.zeros((0, PAIR_COLUMNS)), *self.pair_tables])
        self.chunks, self.pair_tables = [], []
        skin = self.sketch if self.path is None else self.skin
        parts = self.description, self.parameters, statistics, status
        return Results(Memory(arrays), *parts, skin=skin, journal=self.journal)

    def _from_file(self, failure):
        """What the file holds; None if the failure of the disk left nothing that can be read."""
        try:
            return Results.read(self.path)
        except FemMbsError:
            if failure is None:
                raise
            return None

    def _finish(self, status, statistics):
        """Last frame, statistics and status; then the small copy of the file takes its place."""
        from fem_mbs.results.file import vtkhdf

        file, self.file = self.file, None
        status = np.array(status.encode()[:400], "S400")
        try:
            # the state in which a run ends is always a frame
            if self.disk.error is None and self.last is not None and self.last["step"][0] != self.last_frame:
                waits = {"impulse_of_frame": self.waiting[None]} if self.skin.n_contacts else {}
                self._write_frames(self.last | waits)
            if self.journal is not None and not self.in_memory:
                self.journal.write()
            self.root["statistics"] = json.dumps(statistics)
            self.root.attrs.modify("status", status)
            file.flush()
            self._check_disk()
            self._commit(file)
            lengths = {dataset.name[1:]: self.n for dataset in self.datasets.values()} | self.grid.lengths()
            if self.journal is not None and not self.in_memory:
                lengths |= self.journal.lengths()
            if self.pair_data is not None:
                lengths[self.pair_data.name[1:]] = self.n_pairs
            vtkhdf.finish(file, self.disk, self.path, lengths, self.grid.compressed(), shuffle=self.single)
        except FileError:
            file.close()
            self.disk.close()
            vtkhdf.write_status(self.path, status)
            raise
