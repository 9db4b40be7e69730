"""Billiard break with impacts and with compliant contacts: work and result, Sanchez2025, B.5.6, figure B.25.

    python benchmarks/penalty.py        prints the table of docs/published_benchmarks.md; takes a minute

The compliant contacts have the law of Flores and the restitution of the impacts. Steps of constant size must resolve
the shortest impact from start to end; those of a `StepControl` are short in impacts only. Constant steps are run over
one break, and their time is scaled to the whole shot.
"""

import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import billiard_break

STIFFNESS = 1e8  # N/m^1.5, balls of phenolic resin by Hertz's theory: about 1e9; the source prints none
SHOT, AFTER = 3.0, 0.13  # s: a shot, a time at which only the break has happened
BALLS = ("cue", "ball 3", "ball 4")


class Row(NamedTuple):
    """One way to run the break."""

    name: str
    steps: float
    seconds: float
    velocities: np.ndarray  # (3, 2) [m/s], after the break


def impacts():
    """Nonsmooth run with the published scheme, steps of 1 ms."""
    return run("impacts, 1 ms", billiard_break.build(), fem.DecoupledNSGA.published(rho_inf=0.8), 1e-3)


def compliant(tolerance, stiffness=STIFFNESS):
    """Compliant contacts with controlled steps."""
    control = fem.StepControl(tolerance=tolerance, h_max=1e-3)
    name = f"compliant, tolerance {tolerance:g} m"
    return run(name, billiard_break.build(stiffness=stiffness), fem.DecoupledNSGA(rho_inf=0.8, step_control=control))


def constant(h):
    """Compliant contacts with constant steps; time and number of steps are those of the whole shot."""
    row = run(f"compliant, {h * 1e6:g} µs", billiard_break.build(stiffness=STIFFNESS),
              fem.DecoupledNSGA(rho_inf=0.8), h, t_end=AFTER)  # fmt: skip
    return row._replace(steps=row.steps * SHOT / AFTER, seconds=row.seconds * SHOT / AFTER)


def run(name, model, stepper, h=1e-4, t_end=SHOT):
    system = model.compile()
    stepper.run(system, min(h, 1e-3), min(h, 1e-3), progress=False)  # compile
    start = time.process_time()
    result = stepper.run(system, t_end, h, progress=False)
    seconds, k = time.process_time() - start, min(np.searchsorted(result.t, AFTER), len(result.t) - 1)
    velocities = np.array([result[name].velocity[k, :2] for name in BALLS])
    return Row(name, len(result.t) - 1, seconds, velocities)


def main():
    rows = [impacts(), *(compliant(tolerance) for tolerance in (1e-7, 1e-8, 1e-9)), constant(1e-6)]
    print("| | steps | CPU time, impacts = 1 | cue | ball 3 | ball 4 [m/s] |\n|---|---|---|---|---|---|")
    for row in rows:
        cue, apex, corner = row.velocities
        text = f"{cue[0]:.3f} | {apex[0]:.3f} | {corner[0]:.3f}, {corner[1]:.3f}"
        print(f"| {row.name} | {row.steps:.0f} | {row.seconds / rows[0].seconds:.1f} | {text} |")


if __name__ == "__main__":
    main()
