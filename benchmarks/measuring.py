"""Time of steps and where it goes: the one way in which runs of ours are measured."""

import ctypes
import time
from collections import defaultdict

import numpy as np

from fem_mbs.jit import callback_address, python_callback

PROBLEMS = "smooth", "position", "velocity"
# what a call belongs to -> kinds of calls that `Watch` counts
SHARES = {
    "assembly": ("residual", "matrix"),
    "factorisation": ("factor",),
    "solution": ("solve",),
    "contacts": ("grains",),
    "records": ("record",),
}


class Run:
    """Steps of one engine, which saves one state in so many: by default none."""

    def __init__(self, method, system, h, save_every=10**9):
        self.engine = method.prepare(system, h, save_every)
        self.h, self.done, self.every = h, 0, save_every

    def go(self, steps):
        """Processor time [s] of so many steps, signals of drivers included."""
        if steps == 0:
            return 0.0
        engine = self.engine
        records = engine.make_records(1 + steps // self.every)
        start = time.process_time()
        times = engine.system.initial.t + (self.done + 1 + np.arange(steps)) * self.h
        _, _, error = engine.march.advance(times, records)
        spent = time.process_time() - start
        if error is not None:
            raise error
        self.done += steps
        return spent


class Watch:
    """Counts and times the calls of the compiled parts of an engine.

    Attributes
    ----------
    calls, spent : dict of name -> number, processor seconds
        Names are "smooth: factor" and the like, and names of parts of a step: "record", "grains".
    """

    def __init__(self, engine):
        self.calls, self.spent, self.kept = defaultdict(int), defaultdict(float), []
        for problem, record in engine.problems.items():
            for name in ("residual", "matrix"):
                record[0][name] = self._watched(f"{problem}: {name}", int(record[0][name]))
        for k, problem in enumerate(PROBLEMS):
            layout = engine.matrices.records[k]
            for name in ("factor", "solve"):
                layout[name] = self._watched(f"{problem}: {name}", int(layout[name]))
        for name in ("record", "grains"):
            at = int(engine.run[0][f"{name}_part"])
            if at:
                engine.run[0][f"{name}_part"] = self._watched(name, at)

    def _watched(self, name, at):
        function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(at)

        def call(a, b):
            start = time.process_time()
            function(a, b)
            self.spent[name] += time.process_time() - start
            self.calls[name] += 1

        self.kept.append(python_callback(call))
        return callback_address(self.kept[-1])

    def count(self, kind):
        """Calls of a kind, of all problems together."""
        return sum(count for name, count in self.calls.items() if name.rpartition(": ")[2] == kind)

    def seconds(self, kind, each=0.0):
        """Time [s] of the calls of a kind, less ``each`` per call."""
        spent = sum(spent for name, spent in self.spent.items() if name.rpartition(": ")[2] == kind)
        return max(spent - each * self.count(kind), 0.0)


def price_of_watching(repeats=2000):
    """Overhead of a timed call [s], measured with a function that does nothing."""
    nothing = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(nothing)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function(0, 0)
        times.append(time.process_time() - start)
    return float(np.median(times))


def profile(method, system, h, warm, steps):
    """Where the time of a step goes if every state is saved, as a run does by default.

    Timing makes a step longer. Shares therefore refer to the sum of the timed calls and of the remaining time of a step
    without timing: both are measured for the same steps, one after the other.

    Returns
    -------
    dict with ``shares`` (parts of 1, by the names of `SHARES` and "rest") and, per step, ``factorisations``,
    ``solutions`` (= Newton iterations) and ``residuals``; three numbers each: smooth motion, positions, velocities.
    """
    Run(method, system, h).go(1)  # loads compiled code
    plain = Run(method, system, h, 1)
    plain.go(warm)
    total = plain.go(steps)
    run = Run(method, system, h, 1)
    run.go(warm)
    watch, clock = Watch(run.engine), price_of_watching()
    run.go(steps)
    spent = {name: sum(watch.seconds(kind, clock) for kind in kinds) for name, kinds in SHARES.items()}
    total = max(total, sum(spent.values()))
    shares = {name: seconds / total for name, seconds in spent.items()}
    shares["rest"] = 1.0 - sum(shares.values())
    counts = {"factorisations": "factor", "solutions": "solve", "residuals": "residual"}
    per_step = {
        name: [watch.calls[f"{problem}: {kind}"] / steps for problem in PROBLEMS] for name, kind in counts.items()
    }
    return {"shares": shares, **per_step}
