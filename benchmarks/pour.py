"""Spheres poured into a box: seconds of a run with a contact group, and where they go.

    python benchmarks/pour.py                                  1,000 spheres, 1 s at h = 1 ms
    python benchmarks/pour.py --spheres 200 --time 0.2

The model is that of examples/spheres_in_a_box.py: two sizes and materials, friction, no restitution. A run of a few
spheres comes first, so that compilation does not count. Steps are not saved but every hundredth of a second. The parts
are wall times of cProfile, which adds less than 1 %: no Python runs per sphere or contact."""

# ruff: noqa: E402

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # two threads on small factorisations cost more than they bring

import argparse
import cProfile
import pstats
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import spheres_in_a_box

# what the parts are called, and the function (file, name) whose time they are
PARTS = {
    "steps, with contacts and the search of pairs (compiled)": ("march.py", "take"),
    "tables of closed contacts": ("grains.py", "closed_pairs"),
}


@dataclass
class Pour:
    """A measured run.

    Attributes
    ----------
    result : Results
    wall, processor : s, of the whole run
    parts : dict name → s, see `PARTS`, and "the rest (compiled steps)"
    sweeps : number of Gauss-Seidel iterations over all contacts
    """

    result: object
    wall: float
    processor: float
    parts: dict
    sweeps: int


def pour(spheres=1000, t_end=1.0, h=1e-3, tolerance=1e-3, *, save_every=10):
    """Pour ``spheres`` for ``t_end`` [s] with steps h [s] and the given contact tolerance; a `Pour`."""
    stepper = fem.DecoupledNSGA(contact_tolerance=tolerance)
    across = max(2, round(spheres ** (1 / 3)))  # the block that falls is about as high as wide
    system = spheres_in_a_box.build(spheres, across=across).compile()
    profile, begun, begun_processor = cProfile.Profile(), time.perf_counter(), time.process_time()
    profile.enable()
    try:
        result = stepper.run(system, t_end, h, save_every=save_every)
    finally:
        profile.disable()
    wall, processor = time.perf_counter() - begun, time.process_time() - begun_processor
    sweeps = result.statistics["contact_sweeps"]
    return Pour(result, wall, processor, _parts(pstats.Stats(profile).stats, wall), sweeps)


def _parts(stats, wall):
    """Times [s] by the names of `PARTS`, and the rest."""
    seconds = {(Path(file).name, name): cumulative for (file, _, name), (*_, cumulative, _) in stats.items()}
    steps, tables = (seconds.get(key, 0.0) for key in PARTS.values())
    parts = dict(zip(PARTS, (steps - tables, tables)))
    return {**parts, "the rest (set up, records, histories)": wall - steps}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spheres", type=int, default=1000)
    parser.add_argument("--time", type=float, default=1.0, help="simulated time [s]")
    parser.add_argument("--step", type=float, default=1e-3, help="size of the steps [s]")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of the contact problems, scale-free")
    options = parser.parse_args()
    pour(20, 0.05)  # compiles
    run = pour(options.spheres, options.time, options.step, options.tolerance)
    result, steps = run.result, run.result.statistics["steps"]
    gap = min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t)))
    energy = result.energy.total
    print(f"{options.spheres} spheres, {steps} steps of {options.step:g} s, contact tolerance {options.tolerance:g}")
    print(f"closed contacts at the end {result.pair_count[-1]}, most in a saved step {result.pair_count.max()}")
    print(f"smallest gap {gap:.1e} m, largest rise of energy between saved steps {np.diff(energy).max():.1e} J of"
          f" {energy[0]:.3g} J, speed at the end {np.abs(result.rows([-1])['velocity']).max():.2g}")  # fmt: skip
    print(f"{run.sweeps} sweeps, {result.statistics['inexact_contact_problems']} steps left above the tolerance,"
          f" {result.statistics['pair_searches']} searches of pairs\n")  # fmt: skip
    for name, seconds in run.parts.items():
        print(f"{name:58s} {seconds:8.2f} s  {100 * seconds / run.wall:5.1f} %")
    for name, seconds in (("wall time", run.wall), ("processor time", run.processor)):
        print(f"{name:58s} {seconds:8.2f} s  {seconds / options.time:.0f} times the simulated time")


if __name__ == "__main__":
    main()
