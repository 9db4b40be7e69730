"""Time per step of the roller-crank mechanism, rigid and flexible, and where it goes (warm).

    python benchmarks/step_time.py

Steps are timed without saving; the best of several runs counts. The profile calls the compiled parts of a step one by
one in the state at 0.25 s and weights them with how often a step calls them; what is left over is bookkeeping in
between. Other methods are compared on two rigid models."""

import sys
import time
from pathlib import Path

import numpy as np

import fem_mbs as fem
from fem_mbs.jit import address, call2, kernel

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import double_pendulum
import roller_crank

h, steps, runs, repeats = 1e-3, 2000, 5, 2000


@kernel
def repeat(function, a, b, n):
    """Call a C function n times."""
    for _ in range(n):
        call2(function, a, b)


def microseconds(function, a, b):
    """Best time of one call of a C function [µs]."""
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        repeat(function, a, b, repeats)
        best = min(best, time.perf_counter() - start)
    return best / repeats * 1e6


def engine_at(method, system, t):
    """Engine advanced to time t [s]."""
    engine = method.prepare(system, h, 10**9)
    engine.advance(np.arange(1, round(t / h) + 1) * h, no_signals(method), engine.make_records(1))
    return engine


def no_signals(method):
    """Signals of all steps of a model without drivers."""
    return np.zeros((steps, len(method.instants), 1, 3))


def time_per_step(method, system):
    """Best time of a step over whole runs [µs]."""
    best, signals, times = np.inf, no_signals(method), np.arange(1, steps + 1) * h
    for _ in range(runs):
        engine = method.prepare(system, h, 10**9)
        records = engine.make_records(1)
        start = time.perf_counter()
        engine.advance(times, signals, records)
        best = min(best, time.perf_counter() - start)
    return best / steps * 1e6


def profile(method, system, mean):
    """Parts of a step: name, µs per call, calls per step; ``mean`` iterations of the three sub-problems."""
    engine = engine_at(method, system, 0.25)
    data, run = address(engine.data), address(engine.run)
    rows = []
    for which, name in enumerate(("smooth", "position", "velocity")):
        layout = engine.matrices.layouts[which]
        engine.run[0]["want_matrix"] = 0
        calls = engine.problems[name][0]
        part = int(calls["residual"])
        rows.append((f"{name}: residual", microseconds(part, data, run), mean[which] + (name != "smooth")))
        if name == "smooth":
            engine.run[0]["want_matrix"] = 1
            rows.append((f"{name}: residual and matrix", microseconds(part, data, run), 1.0))
        else:
            engine.run[0]["number"] = which
            for call in ("matrix", "contacts"):
                rows.append((f"{name}: {call}", microseconds(int(calls[call]), data, run), 1.0))
        solver = layout.solver
        right = np.ones(layout.n)
        factor = microseconds(solver.factor_address, solver.context_address, address(layout.values))
        rows.append((f"{name}: factorise ({layout.n}, {solver.name})", factor, 1.0))
        solve = microseconds(solver.solve_address, solver.context_address, address(right))
        rows.append((f"{name}: solve", solve, mean[which]))
    return rows


def label(method):
    """Name of a method, with its number of stages."""
    return f"{type(method).__name__} {getattr(method, 'stages', '')}".strip()


def main():
    method = fem.DecoupledNSGA(rho_inf=0.0)
    figures = {}
    for name, flexible in (("rigid", False), ("flexible", True)):
        system = roller_crank.build(flexible).compile()
        result = method.run(system, t_end=2.0, h=h)
        total = figures[name] = time_per_step(method, system)
        sizes = f"{system.n} velocities, {system.m} constraint rows, {system.nc} contact"
        print(f"{name}: {total:.0f} µs per step; {sizes}")
        rows = profile(method, system, result.iterations.mean)
        for part, cost, calls in sorted(rows, key=lambda r: -r[1] * r[2]):
            share = cost * calls
            print(f"    {part:48s} {cost:7.2f} µs × {calls:4.2f} = {share:6.1f} µs ({share / total:4.0%})")
        print(f"    {'all of the above':48s} {'':18s}{sum(c * n for _, c, n in rows):6.1f} µs")
    print(f"ratio flexible / rigid: {figures['flexible'] / figures['rigid']:.2f}")
    others = (fem.MoreauJean(), *(fem.LobattoIIIAB(stages) for stages in (2, 3, 4)))
    for name, model in (("roller-crank, rigid", roller_crank.build()), ("double pendulum", double_pendulum.build())):
        system = model.compile()
        usual = time_per_step(method, system)
        ratios = [f"{label(other)} {time_per_step(other, system) / usual:.1f}" for other in others]
        print(f"{name}: times the step of DecoupledNSGA: {', '.join(ratios)}")


if __name__ == "__main__":
    main()
