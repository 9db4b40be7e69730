"""Writing results: saved steps of a run as a stream, to a file (described in `fem_mbs.results.results`) or to memory.

The file grows during the run and is flushed after every chunk: a run that is interrupted, or killed, leaves
everything up to its last chunk (how: `fem_mbs.results.file.run_file`). When the run has ended, the file is written in
its final layout (`fem_mbs.results.file.final_layout`). A run that ends before its first chunk was due is written once,
in that layout; until then its file describes the model and has no states.
"""

import atexit
import contextlib
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
from fem_mbs.results.file.final_layout import cut_if_large, replace
from fem_mbs.results.file.frames import FRAMES
from fem_mbs.results.file.guarded_file import GuardedFile
from fem_mbs.results.file.journal import Journal
from fem_mbs.results.file.results_file import plain, refuse_foreign, results_path
from fem_mbs.results.file.run_file import Contents, RunFile
from fem_mbs.results.file.store import Memory
from fem_mbs.results.results import Results
from fem_mbs.results.table import HISTORIES, PAIR_COLUMNS, separated, shape_of

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

MEMORY = 2**22  # bytes by which a file in memory grows
FIRST_PART = 64  # states of the first part of what is written at once
PART = 4  # later ones are this part of what was written before: a full disk takes no more than that of a run

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
    frames : int, "all" or None
        Number of frames for ParaView, evenly spaced in time, with one more at the first impact between two of them.
        None: no drawing. Runs of unknown length draw every saved state. Histories always have every saved state.
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
        frames: int | str | None = FRAMES,
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
        if single and frames is None:
            raise FemMbsError("single=True writes only frames, and frames=None writes none: remove one of them")
        self.description = describe(system, forces, works)
        self.sizes = self.description["sizes"]
        self.journal = journal
        self.parameters = {k: plain(v) for k, v in (parameters or {}).items()}
        self.sketch = Sketch(system)
        self.count, self.begun = 0, time.perf_counter()
        self.path = None if path is None else results_path(path)
        self.file, self.chunks, self.pair_tables = None, [], []
        self.rows: Any = None
        self.late: list[tuple] = []  # rows of a run that has ended, not yet in the file
        self.ends = False
        self.single, self.pvd, self.in_memory = bool(single), bool(pvd), self.path is None or bool(single)
        if self.path is not None:
            run = uuid.uuid4().hex if continued is None else continued["run"]
            self.skin = self.sketch.skin()
            scene = Scene(self.skin, self.description["elements"])
            self.contents = Contents(
                run, self.description, self.parameters, self.skin, scene, journal, frames, self.single,
                histories=not self.single,
            )  # fmt: skip
            self.lock = FileLock(self.path)
            self.process = os.getpid()
            _OPEN.add(self)
            if continued is not None:
                self._continue(continued)
                return
            try:
                self._create()
            except BaseException:
                self._abandon()
                raise

    @property
    def n(self) -> int:
        """Number of saved states."""
        return self.count if self.path is None else self.rows.n

    def _continue(self, state):
        """Make the file anew with the rows up to a state of the writer that began it."""
        from fem_mbs.results.file import continued

        try:
            before = continued.set_aside(self.path, state["run"])
        except BaseException:
            self.lock.release()
            raise
        try:
            self._create()
            states, frames = self.rows.expected()
            self.rows.grow(states + state["n"], frames + state["frames"])
            continued.copy_into(self, before, state)
        except BaseException:
            self._abandon()
            os.replace(before, self.path)
            raise
        before.unlink()

    def get_state(self) -> dict[str, Any]:
        """Return the valid rows of the file, and the other data a writer needs to continue it; a copy."""
        state = {"run": self.contents.run, "wall": time.perf_counter() - self.begun}
        return state | self.rows.get_state()

    def to_disk(self) -> None:
        """Have the system bring what was written to the disk, so that a power cut does not take it."""
        if self.file is not None:
            self.file.flush()
            with contextlib.suppress(OSError):
                os.fsync(self.disk.raw.fileno())

    def _create(self):
        """Begin the file, which describes the run and has no states yet."""
        import h5py

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
        self.rows = RunFile(self.file, self.contents, self._check_disk)

    def _check_disk(self):
        """Raise what writing met; the file keeps what was counted before."""
        if self.disk.error is not None:
            n = 0 if self.rows is None else self.rows.n
            kept = "nothing of this run is in it" if n == 0 else f"its first {n} saved states are kept"
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
        self._close()
        self.lock.release()

    def _close(self):
        if self.file is not None:
            file, self.file = self.file, None
            file.close()
            self.disk.close()

    def end(self) -> None:
        """Announce that the run has ended: what is appended from here on may be written when the file is closed."""
        self.ends = True

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
        if self.path is None or not k:
            self.count += k
        elif self.ends and not self.rows.grown:
            self.late.append((rows, table))
        else:
            self._write(rows, table)

    def _write(self, block, table):
        """Write states to the file on the disk, some after the other."""
        pairs, first = np.append(0, np.cumsum(block["pair_count"])), 0
        while first < len(block["t"]):
            last = min(first + max(FIRST_PART, self.rows.n // PART), len(block["t"]))
            part = {name: values[first:last] for name, values in block.items()}
            self.rows.write(part, table[pairs[first] : pairs[last]])
            first = last

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
        """Complete the file, in its final layout if there is room for that."""
        status, done = np.array(status.encode()[:400], "S400"), False
        try:
            done = not self.rows.grown and self._finish_at_once(status, statistics)
        finally:
            if not done:  # or interrupted
                self._finish_grown(status, statistics)

    def _finish_at_once(self, status, statistics):
        """Write the file of a run that has not written states; returns whether there was room for it."""
        import h5py

        name = f"{self.contents.run} in memory"
        with h5py.File(name, "w", libver="earliest", driver="core", backing_store=False, block_size=MEMORY) as file:
            rows = RunFile(file, self.contents, self._check_disk)
            states = sum(len(block["t"]) for block, _ in self.late)
            rows.grow(max(states, 1), max(min(states, rows.expected()[1]), 1))
            for late in self.late:
                rows.write(*late)
            rows.complete(status, statistics)
            return replace(self.path, file, rows.kept(), self._close)

    def _finish_grown(self, status, statistics):
        """Complete the file that has grown; one in its final layout takes its place."""
        from fem_mbs.results.file import vtkhdf

        try:
            for late in self.late:
                self._write(*late)
            self.rows.complete(status, statistics)
            kept = self.rows.kept()
            if not cut_if_large(self.file, kept):
                replace(self.path, self.file, kept, self._close)
            self._close()
        except FileError:
            self._close()
            vtkhdf.write_status(self.path, status)
            raise
