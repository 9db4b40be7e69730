"""The steps of a run in chunks: from the engine to observers, results file and progress bar, until it ends or fails.

Chunks are as long as the progress bar and Ctrl-C can wait: short ones on a busy machine. What they record is gathered,
and written when the arrays of records are full, when a killed run would lose too much, and at the end: each write goes
to all datasets of the file. What is left at the end may go to a file in its final layout.
"""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import NonFiniteError, SolverError
from fem_mbs.results.file.memory import memory_of
from fem_mbs.results.sums import KeptStates

if TYPE_CHECKING:
    from fem_mbs.results.file.writer import ResultsWriter
    from fem_mbs.results.progress import Progress
    from fem_mbs.results.results import Results
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.saved.checkpoints import Checkpoints
    from fem_mbs.system.compiled import CompiledSystem

CHUNK_SECONDS = 0.2  # between two updates of the progress bar, roughly
WRITE_SECONDS = 2.0  # the most that a killed run loses, roughly
PAIR_BYTES = 32e6  # of closed pairs between two writes; the arrays of records have no place for them


def signals_at(
    system: "CompiledSystem", ends: np.ndarray, h: float, instants: tuple[float, ...] = (1.0,)
) -> tuple[np.ndarray, NonFiniteError | None]:
    """Signals of steps h that end at some times, at the instants of each that a method asks for (parts of a step).

    Returns
    -------
    table : (k, len(instants), n_signals, 3)
        Up to the first step with a signal that is not finite.
    NonFiniteError or None
        What is wrong with that one.
    """
    table = np.zeros((len(ends), len(instants), max(len(system.signals), 1), 3))
    if not system.signals:
        return table, None
    for k, end in enumerate(ends):
        for i, part in enumerate(instants):
            try:
                system.update_signals(end if part == 1.0 else end - (1.0 - part) * h)
            except NonFiniteError as error:
                return table[:k], error
            table[k, i] = system.signal_values
    return table, None


class Chunks:
    """Takes ``steps`` steps of an engine.

    Attributes
    ----------
    done : int
        Steps taken.
    failure : SolverError or None
        Why it stopped early.
    reason : str
        How the run ended, for the file.
    """

    def __init__(
        self,
        engine: "Engine",
        writer: "ResultsWriter",
        observers: Sequence,
        bar: "Progress",
        *,
        start: float,
        steps: int,
        size: int,
        checkpoints: "Checkpoints | None" = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.engine, self.writer, self.observers, self.bar = engine, writer, observers, bar
        self.start, self.steps, self.every = start, steps, engine.every
        self.least = 1 if observers else engine.every  # steps between two records
        self.size, self.records = size, engine.make_records(size)
        self.gathered, self.pairs = 0, []  # not yet written
        self.states = KeptStates()  # of those that observers see
        self.written = time.perf_counter()  # when the file got states
        self.done, self.reason = 0, "complete"
        self.failure: Exception | None = None
        self.checkpoints, self.notes = checkpoints, notes
        self.before = 0  # steps that were taken before this part of the run

    @property
    def ended(self) -> str:
        """Why an event has ended the run; "" while it continues."""
        return self.engine.march.ended

    def time(self, steps: int) -> float:
        """Time [s] after so many steps."""
        return self.start + steps * self.engine.march.h

    def get_state(self) -> dict[str, Any]:
        """Where the run is; everything that was gathered is written."""
        return {"done": self.done, "states": self.states.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what `get_state` has given."""
        self.done = self.before = state["done"]
        self.states.set_state(state["states"])

    def take_all(self, interrupt: Any) -> None:
        """Steps until the last, a failure, or an interrupt."""
        try:
            self._take_steps(interrupt)
        finally:
            self.writer.end()
            self._write()

    def _take_steps(self, interrupt):
        if self.before == 0:
            block = self._free()
            self.failure = self.engine.march.begin()
            self.engine.first(block)
            self._keep(block, 1)
        count = self.least
        if self._is_due():
            self._write()
        while self.done < self.steps and self.failure is None and interrupt.asked is None and not self.ended:
            fit = (self.size - self.gathered) * self.least
            most = self.steps if self.checkpoints is None else self.checkpoints.left(self.done)
            seconds = self._take(min(count, self.steps - self.done, fit, most))
            if seconds < 0.5 * CHUNK_SECONDS:
                count *= 8 if seconds < CHUNK_SECONDS / 8 else 2
            elif seconds > 2 * CHUNK_SECONDS:
                count = max(self.least, count // 2 // self.least * self.least)
            count = min(count, self.size * self.least)
            if self._is_due():
                self._write()
            if self.checkpoints is not None and self.failure is None and self.checkpoints.is_due(self.done):
                self._checkpoint()
        if self.checkpoints is not None and self.failure is None and self.checkpoints.written != self.done:
            self._checkpoint()
        over = self.failure is None and (self.done == self.steps or self.ended)
        self.writer.end()
        if over and int(self.engine.run[0]["step_number"]) % self.every:
            # the last step is kept too; observers have seen it
            self._write()
            self.engine.last(self.records)
            block, pairs = {name: array[:1] for name, array in self.records.items()}, self.engine.pairs()
            self._observe(block)
            if self.observers:  # it was in the block before, and has left its impulses
                block, pairs = self.states.keep_last(block, pairs)
            self.writer.append(block, pairs)

    def _free(self):
        """The rows of the arrays of records that hold nothing yet."""
        return {name: array[self.gathered :] for name, array in self.records.items()}

    def _take(self, count):
        """One chunk of steps; returns how long it took [s]."""
        engine, records, begin = self.engine, self._free(), time.perf_counter()
        times = self.time(np.arange(self.done + 1, self.done + count + 1))
        taken, saved, failure = engine.march.advance(times, records)
        self.failure = failure or self._unseen(taken)
        if saved:
            engine.struck |= records["impact"][:saved].any(axis=0)
            self._keep(records, saved)
        self.done += taken
        seconds = time.perf_counter() - begin
        self.bar.update(self.time(self.done), self.done - self.before, records, saved)
        return seconds

    def _unseen(self, taken):
        """What a law in Python raised where no equation is solved: outputs, energies, work. None when all went well."""
        try:
            self.engine.system.raise_python_errors(self.time(self.done + taken))
        except NonFiniteError as error:
            return error
        return None

    def _keep(self, records, saved):
        """Show the states of a chunk to the observers, and gather them."""
        block, pairs = {name: array[:saved] for name, array in records.items()}, self.engine.pairs()
        self._observe(block)
        for observer in self.observers:
            observer.observe(block)
        self.gathered += saved
        self.pairs += pairs

    def _observe(self, block):
        """Show recorded states to the monitors."""
        for monitor in self.engine.monitors:
            monitor.observe(block)

    def _is_due(self):
        """Whether it is time to write what was gathered."""
        full = self.gathered >= self.size or sum(table.nbytes for table in self.pairs) > PAIR_BYTES
        return full or (self.writer.path is not None and time.perf_counter() - self.written > WRITE_SECONDS)

    def _write(self):
        """Write those of the gathered states that are to be kept."""
        block, pairs = {name: array[: self.gathered] for name, array in self.records.items()}, self.pairs
        self.gathered, self.pairs = 0, []  # also when writing fails: it is not tried again
        if self.observers:
            block, pairs = self.states.keep(block, pairs, np.flatnonzero(block["step"] % self.every == 0))
        if len(block["step"]):
            self.writer.append(block, pairs)
        self.written = time.perf_counter()

    def _checkpoint(self):
        """Write a checkpoint, after the states that it counts on."""
        self._write()
        self.writer.to_disk()
        self.checkpoints.write(self)

    def broke(self, error: BaseException) -> None:
        """Note an exception that is none of the method's."""
        self.reason = f"{type(error).__name__} at t = {self.time(self.done):.9g} s: {error}"

    def _reports(self):
        """Warnings and statistics of the run; where a monitor raises, the run has failed, and its file is closed."""
        try:
            return list(dict.fromkeys([*self.engine.warnings(), *self.notes])), self.engine.statistics()
        except Exception as error:
            if self.failure is None:
                text = f"the warnings or statistics of a monitor raised {type(error).__name__}: {error}"
                self.failure = SolverError(text, step=self.done, time=self.time(self.done))
                self.failure.__cause__ = error
                self.reason = f"stopped: {self.failure}"
            return list(self.notes), {}

    def close(self, interrupt: Any) -> "Results":
        """Close bar, file and observers; returns the results."""
        self.bar.close()
        if self.failure is not None:
            self.reason = f"stopped: {self.failure}"
        elif self.ended:
            self.reason = f"stopped: {self.ended}"
        elif interrupt.asked and self.done < self.steps:
            self.reason = f"interrupted at t = {self.time(self.done):.9g} s"
            print(f"\n{self.reason}; results up to there are kept", file=sys.stderr)
        try:
            warnings, statistics = self._reports()
            if self.engine.strict and warnings and self.failure is None:
                end = self.time(self.done)
                text = f"{' '.join(warnings)} Without strict=True this is a warning of the result."
                self.failure = SolverError(text, step=self.done, time=end)
                self.reason = f"stopped: {self.failure}"
            memory = memory_of(
                self.engine, [self.records, self.pairs, self.writer.chunks, self.writer.pair_tables, self.writer.late]
            )
            return self.writer.close(self.reason, warnings=warnings, memory=memory, **statistics)
        finally:
            for observer in self.observers:
                observer.finish()
