"""Time per step of chains of rigid links that swing under gravity, and where it goes.

    python benchmarks/chain.py --links 10 100 1000 10000 --joint revolute

A chain is fixed at one end and starts horizontal, with a wave of velocities: at rest all but the first links of a long
one would fall freely, and joints would have nothing to do. Steps are timed in processor time,
without saving, after `WARM` steps; the best of several stretches counts. Numbers of factorisations and the shares of
assembly, factorisation and solution come from a second run, in which every call of a compiled part goes through a
function that counts and times it.
"""

import argparse
import ctypes
import time
from collections import defaultdict

import numpy as np

import fem_mbs as fem
from fem_mbs.jit import callback_address, python_callback

LENGTH, WIDTH = 0.5, 0.05  # m, of a link
SPEED, WAVE = 1.6, 20  # m/s, links: turns links by 1 rad/s
WARM = 80  # steps before time is taken: the wave begins with a jump of forces


def build(links, joint="revolute"):
    """Chain of links (1 kg each) along x, hung at its end; a wave of velocities across it."""
    model = fem.Model(f"chain of {links}", gravity=[0, 0, -9.81])
    before = model.ground
    v = SPEED * np.sin(2 * np.pi * np.arange(links + 1) / WAVE)  # m/s, of the joints
    for i in range(links):
        motion = {"velocity": [0, 0, (v[i] + v[i + 1]) / 2], "angular_velocity": [0, (v[i] - v[i + 1]) / LENGTH, 0]}
        middle = [LENGTH * (i + 0.5), 0, 0]
        link = fem.RigidBody.box(1.0, [LENGTH, WIDTH, WIDTH], position=middle, name=f"link {i + 1}", **motion)
        model.add(link)
        at = [LENGTH * i, 0, 0]
        if joint == "revolute":
            model.add(fem.Revolute.at(before, link, at, [0, 1, 0]))
        else:
            model.add(fem.Spherical.at(before, link, at))
        before = link
    return model


class Run:
    """Steps of one engine."""

    def __init__(self, method, system, h, steps):
        self.engine = method.prepare(system, h, 10**9)
        self.h, self.done = h, 0
        self.records = self.engine.make_records(1)
        self.signals = np.zeros((steps, len(method.instants), 1, 3))

    def go(self, steps):
        """Processor time [s] of so many steps."""
        times = (self.done + 1 + np.arange(steps)) * self.h
        start = time.process_time()
        _, _, error = self.engine.advance(times, self.signals[:steps], self.records)
        spent = time.process_time() - start
        if error is not None:
            raise error
        self.done += steps
        return spent


class Watch:
    """Counts and times the calls of the compiled parts of an engine."""

    def __init__(self, engine):
        self.calls, self.spent, self.kept = defaultdict(int), defaultdict(float), []
        for problem, record in engine.problems.items():
            for name in ("residual", "matrix"):
                record[0][name] = self._watched(f"{problem}: {name}", int(record[0][name]))
        for k, problem in enumerate(("smooth", "position", "velocity")):
            layout = engine.matrices.records[k]
            for name in ("factor", "solve"):
                layout[name] = self._watched(f"{problem}: {name}", int(layout[name]))

    def _watched(self, name, at):
        function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(at)

        def call(a, b):
            start = time.process_time()
            function(a, b)
            self.spent[name] += time.process_time() - start
            self.calls[name] += 1

        self.kept.append(python_callback(call))
        return callback_address(self.kept[-1])


def measure(method, links, joint, h, steps, runs):
    """Print the figures of one chain; returns the time per step [s]."""
    system = build(links, joint).compile()
    run = Run(method, system, h, max(steps, WARM))
    run.go(WARM)
    best = min(run.go(steps) for _ in range(runs)) / steps
    run = Run(method, system, h, max(steps, WARM))
    run.go(WARM)
    watch = Watch(run.engine)
    total = run.go(steps) / steps
    print(f"{links} links, {joint}: {1e3 * best:.4g} ms per step ({1e6 * best / links:.3g} µs per link)")
    for kind in ("factor", "solve", "matrix", "residual"):
        names = [f"{problem}: {kind}" for problem in ("smooth", "position", "velocity")]
        calls = ", ".join(f"{watch.calls[name] / steps:.2f}" for name in names)
        spent = [watch.spent[name] / steps for name in names]
        shares = ", ".join(f"{1e3 * t:.4g}" for t in spent)
        print(f"    {kind:8s} calls per step {calls}; ms {shares}; {sum(spent) / total:4.0%} of the step")
    rest = total - sum(watch.spent.values()) / steps
    print(f"    {'rest':8s} {1e3 * rest:.4g} ms, {rest / total:4.0%}; with watch {1e3 * total:.4g} ms")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, nargs="+", default=[10, 100, 1000, 10000])
    parser.add_argument("--joint", choices=["revolute", "spherical"], default="revolute")
    parser.add_argument("--h", type=float, default=1e-3)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-reuse", action="store_true")
    options = parser.parse_args()
    method = fem.DecoupledNSGA(reuse=not options.no_reuse)
    figures = []
    for links in options.links:
        steps = int(np.clip(40_000 // links, 10, 1000))
        figures.append(measure(method, links, options.joint, options.h, steps, options.runs))
    if len(figures) > 1:
        exponent = np.polyfit(np.log(options.links), np.log(figures), 1)[0]
        print(f"time grows with links to the power {exponent:.2f}")


if __name__ == "__main__":
    main()
