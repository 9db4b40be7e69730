"""Checkpoints of a run: when they are due, and what is in them.

A checkpoint changes nothing in the run that writes it: a run without checkpoints, one with many, and one that was
killed and resumed give the same bits.

Source: docs/theory/restart.md.
"""

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fem_mbs.errors import ParameterError, label
from fem_mbs.results.file.frames import FRAMES
from fem_mbs.solvers.stepping.saved.checkpoint_file import checkpoint_path, environment, pickled, write
from fem_mbs.solvers.stepping.saved.fingerprint import fingerprint, signals_of
from fem_mbs.solvers.stepping.saved.laws import sums_of
from fem_mbs.solvers.stepping.saved.saved_state import save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fem_mbs.arguments.checked import ArrayLike
    from fem_mbs.results.file.writer import ResultsWriter
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.stepper import Stepper
    from fem_mbs.system.compiled import CompiledSystem


class Taken(Protocol):
    """What is read of the steps taken so far, `march.chunks.Chunks`."""

    start: float
    done: int
    steps: int
    engine: "Engine"
    writer: "ResultsWriter"

    def time(self, number: int) -> float: ...
    def get_state(self) -> dict[str, Any]: ...


STEPS = re.compile(r"\s*(\d+)\s+steps?\s*")
NEVER = 2**62  # steps


class Asked(NamedTuple):
    """Arguments of `Stepper.run`, without the model; a resumed run has the same but for ``t_end``."""

    t_end: float
    h: float
    save: str | Path | None = None
    save_every: int = 1
    strict: bool = False
    single: bool = False
    pvd: bool = False
    checkpoint_every: float | str | None = None
    output_times: "ArrayLike | None" = None
    balance: bool = False
    frames: int | str | None = FRAMES


class Checkpoints:
    """Writes the checkpoints of one run.

    Parameters
    ----------
    method : Stepper
    system : System
    observers : sequence
    asked : Asked
    results : path of the results file

    Raises
    ------
    ParameterError
        ``checkpoint_every`` is neither a time nor a number of steps; results are kept in memory; an observer has no
        state that can be saved.
    """

    def __init__(
        self, method: "Stepper", system: "CompiledSystem", observers: "Sequence", asked: Asked, results: Path
    ) -> None:
        self.system, self.observers, self.path = system, observers, checkpoint_path(results)
        self.seconds, self.steps = _interval(method, asked.checkpoint_every)
        for observer in observers:
            if not (hasattr(observer, "get_state") and hasattr(observer, "set_state")):
                message = "has no get_state() and set_state(state), which a checkpoint needs"
                raise ParameterError(method, "observers", type(observer).__name__, message)
        self.parts: dict[str, bytes | None] = {}
        self.parts["method"], why = pickled(method)
        if why:
            raise ParameterError(
                method, "checkpoint_every", asked.checkpoint_every, f"{label(method)} cannot be saved: {why}"
            )
        self.parts["model"], self.no_model = pickled(system)
        self.parts["observers"], self.no_observers = pickled(tuple(observers))
        self.asked = asked._replace(save=str(results))
        self.print, self.laws = fingerprint(system), sums_of(system)
        self.environment = environment()
        self.last, self.written = time.perf_counter(), -1

    def left(self, done: int) -> int:
        """Steps up to the next checkpoint, after so many."""
        return NEVER if self.steps is None else self.steps - done % self.steps

    def is_due(self, done: int) -> bool:
        """Whether one is to be written now."""
        if self.steps is not None:
            return done % self.steps == 0
        return time.perf_counter() - self.last >= self.seconds

    def write(self, chunks: Taken) -> None:
        """Write the state of a run between two chunks, whose states are in the results file.

        Raises
        ------
        FileError
            The disk does not take it.
        """
        system, times = self.system, [chunks.start, chunks.time(chunks.done)]
        model = {"fingerprint": self.print, "times": times, "signals": signals_of(system, times)}
        state = {
            "engine": save(chunks.engine), "chunks": chunks.get_state(), "writer": chunks.writer.get_state(),
            "observers": [observer.get_state() for observer in self.observers], "initial": system.initial,
            "model": model | {"laws": self.laws, "laws_now": sums_of(system)},
        }  # fmt: skip
        head = {
            "environment": self.environment, "model": system.name, "t": times[1], "step": chunks.done,
            "complete": chunks.done == chunks.steps, "asked": json.loads(json.dumps(self.asked._asdict(), default=str)),
            "no_model": self.no_model, "no_observers": self.no_observers,
        }  # fmt: skip
        data, why = pickled(state)
        if data is None:
            raise ParameterError(chunks.engine.method, "checkpoint_every", self.asked.checkpoint_every,
                                 f"a part of the run cannot be saved: {why}")  # fmt: skip
        write(self.path, head, {**self.parts, "state": data})
        self.last, self.written = time.perf_counter(), chunks.done


def _interval(method, every):
    """Seconds and None, or None and a number of steps."""
    if isinstance(every, str):
        found = STEPS.fullmatch(every)
        if found is None or int(found[1]) < 1:
            message = 'must be seconds between two checkpoints, a number, or steps, a text such as "1000 steps"'
            raise ParameterError(method, "checkpoint_every", every, message)
        return None, int(found[1])
    return method.positive("checkpoint_every", every, "s"), None
