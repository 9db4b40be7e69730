"""What all time steppers share: the run with its results file, progress, interruption and diagnosis.

A method is a class with two functions:

    prepare(system, h, save_every)  make and return an engine for this system
    engine.advance(times, signals, records)
                           take the steps that end at ``times`` (k,), with ``signals`` (k, n_signals, 3) set before
                           each; fill ``records`` (name -> array, first axis: saved steps; see `RECORDS`); return the
                           number of steps done, the number of records filled, and None or a SolverError that says
                           what went wrong
    engine.first(records)  fill record 0 with the initial state
    engine.pairs()         tables of closed pairs of contact groups, one per record of the last call (empty: no groups)
    engine.statistics()    numbers counted over all steps, saved or not
    engine.keep_whole(n)   of the records of all steps, those that are not every n-th may lack outputs and energies;
                           called when observers need every step and the file does not
"""

import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs import runtime
from fem_mbs.arguments import Checked, Keywords
from fem_mbs.errors import NonFiniteError, ParameterError, SolverError
from fem_mbs.model import compiled
from fem_mbs.results import Results

CHUNK_BYTES = 32e6  # of records between two writes to the file
CHUNK_SECONDS = 0.2  # between two updates of the progress bar, roughly


class _Interrupt:
    """Ctrl-C ends a run after the steps under way, so that none is lost half-way; a second one stops the program.

    Compiled code calls back into Python (user laws, SciPy's solver), where an interrupt would be swallowed.
    """

    def __init__(self):
        self.asked, self.before = False, None
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGINT, self._ask)

    def _ask(self, *_):
        self.asked = True
        self.end()

    def end(self):
        """Give Ctrl-C back to whoever had it."""
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            self.before = None


class Stepper(Checked):
    """Base of time steppers."""

    prepare: Callable[..., Any]  # (system, h, save_every): makes the engine that steps; each stepper has its own

    @Keywords.known
    def run(
        self,
        model: Any,
        t_end: Any,
        h: Any,
        *,
        save: str | Path | None = None,
        save_every: int = 1,
        progress: bool | None = None,
        observers: Any = (),
    ) -> Results:
        """Integrate a model from its initial state.

        Parameters
        ----------
        model : Model or System
        t_end : float > 0 [s]
        h : float > 0 [s]
            Step size; constant. The last step ends at or just before t_end.
        save : str, optional
            Results file (VTKHDF: ParaView opens it, `fem_mbs.load` reads it), written while the run goes on. Without it
            results stay in memory.
        save_every : int ≥ 1
            Save every so many steps.
        progress : bool, optional
            Show a progress bar; default: on a terminal.
        observers : sequence of ForceObserver
            They see every step, also those that are not saved.

        Returns
        -------
        Results

        Raises
        ------
        ParameterError
            Step size or end time not positive.
        SolverError
            A step failed. ``error.result`` holds what was computed, as does the file.
        """
        from fem_mbs.progress import Progress
        from fem_mbs.results_writer import ResultsWriter

        t_end, h, save = runtime.apply(t_end, h, save)
        h = self.positive("h", h, "s")
        t_end = self.positive("t_end", t_end, "s")
        save_every = self.as_integer("save_every", save_every)
        self.as_path("save", save)
        if progress is not None:
            progress = self.as_flag("progress", progress)
        system = compiled(self, model)
        steps = int(np.floor(t_end / h * (1 + 1e-12) + 1e-9))
        if steps < 1:
            raise ParameterError(self, "h", h, f"s is larger than t_end = {t_end} s; no step fits")
        observers = tuple(self.as_instance("observers", observers, (list, tuple), "a list of observers"))
        for observer in observers:
            self.check(hasattr(observer, "observe"), "observers", observer, "is not an observer")
        wanted = save_every
        for observer in observers:
            observer.start(system)
        save_every = 1 if observers else save_every  # of the engine; thinned below
        engine = self.prepare(system, h, save_every)
        engine.t_end = steps * h
        if observers:
            engine.keep_whole(wanted)
        parameters = {"stepper": type(self).__name__, "h": h, "t_end": t_end, "save_every": wanted}
        parameters |= self.parameters()
        writer = ResultsWriter(system, save, parameters=parameters)
        bar = Progress(t_end, enabled=progress)
        size = max(1, min(int(CHUNK_BYTES / self._bytes(engine)), 4096))
        records = engine.make_records(size)
        engine.first(records)
        self._take(engine, records, 1, wanted, writer, observers)
        done, count, seconds = 0, save_every, 0.0
        reason, failure, interrupt = "complete", None, _Interrupt()
        try:
            while done < steps and failure is None and not interrupt.asked:
                count = min(count, steps - done, size * save_every)
                begin = time.perf_counter()
                numbers = np.arange(done + 1, done + count + 1)
                signals, bad_signal = self._signals(system, numbers * h)
                taken, saved, failure = engine.advance(numbers[: len(signals)] * h, signals, records)
                failure = failure or (bad_signal if taken == len(signals) else None)
                if saved:
                    self._take(engine, records, saved, wanted, writer, observers)
                done += taken
                seconds = time.perf_counter() - begin
                bar.update(done * h, done, records, saved)
                if seconds < 0.5 * CHUNK_SECONDS:
                    count = 2 * count
                elif seconds > 2 * CHUNK_SECONDS:
                    count = max(save_every, count // 2 // save_every * save_every)
        except BaseException as error:
            reason = f"{type(error).__name__} at t = {done * h:.9g} s: {error}"
            raise
        finally:
            interrupt.end()
            bar.close()
            if failure is not None:
                reason = f"stopped: {failure}"
            elif interrupt.asked and done < steps:
                reason = f"interrupted at t = {done * h:.9g} s"
                print(f"\n{reason}; results up to there are kept", file=sys.stderr)
            result = writer.close(reason, **engine.statistics())
            for observer in observers:
                observer.finish()
        if failure is not None:
            where = f" Steps 0-{done} are in {save}." if save else ""
            where += self._dump(failure, save)
            failure.args = (f"{failure.args[0]}{where}",)
            failure.result = result
            raise failure
        return result

    @staticmethod
    def _take(engine, records, saved, every, writer, observers):
        """Show the states of a block to the observers, and write those that are to be kept."""
        block, pairs = {name: array[:saved] for name, array in records.items()}, engine.pairs()
        for observer in observers:
            observer.observe(block)
        kept = np.arange(saved)
        if observers:
            kept = np.flatnonzero(block["step"] % every == 0)
            pairs = [pairs[i] for i in kept] if len(pairs) else pairs
        if len(kept):
            writer.append({name: array[kept] for name, array in block.items()}, pairs)

    @staticmethod
    def _dump(failure, save):
        """Write the contact problem of a failed step beside the results; returns a sentence about it."""
        problem = failure.contact_problem
        if problem is None:
            return ""
        if save is None:
            return " Its contact problem is error.contact_problem (fem_mbs.solvers.fclib.write_problem keeps it)."
        from fem_mbs.solvers.fclib import write_problem

        path = Path(save).with_suffix(".contact_problem.hdf5")
        write_problem(path, problem)
        return f" Its contact problem is in {path} (fclib)."

    def parameters(self) -> dict:
        """Options of the method, stored with the results."""
        return {k: v for k, v in vars(self).items() if isinstance(v, (int, float, bool, str))}

    @staticmethod
    def _signals(system, times):
        """Signals at the times up to the first that is not finite, and the error of that one."""
        if not system.signals:
            return np.zeros((len(times), 1, 3)), None
        table = np.zeros((len(times), len(system.signals), 3))
        for k, t in enumerate(times):
            try:
                system.update_signals(t)
            except NonFiniteError as error:
                return table[:k], error
            table[k] = system.signal_values
        return table, None

    @staticmethod
    def _bytes(engine):
        return sum(array.nbytes for array in engine.make_records(1).values())


def new_records(system, size):
    """Arrays for ``size`` saved steps, by name; shapes (size, …) as in `fem_mbs.results_writer`."""
    N, m, nc, no = len(system.nodes), system.m, system.nc_fixed, system.n_outputs
    shapes = {
        "t": (), "h": (), "step": (), "problems": (), "repeats": (), "contact_problems": (), "pair_count": (),
        "position": (N, 3), "quaternion": (N, 4), "velocity": (N, 6), "acceleration": (N, 6), "multiplier": (m,),
        "gap": (nc,), "impulse": (nc, 3), "moment_impulse": (nc, 3), "contact_point": (nc, 3),
        "contact_normal": (nc, 3), "contact_tangents": (nc, 6), "contact_status": (nc,), "impact": (nc,),
        "output": (no,), "energy": (2,), "iterations": (3,), "violation": (2,),
    }  # fmt: skip
    return {name: np.zeros((size, *shape)) for name, shape in shapes.items()}


__all__ = ["SolverError", "Stepper", "new_records"]
