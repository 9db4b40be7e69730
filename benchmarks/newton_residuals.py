"""Residuals of the Newton iterations of one large smooth step: with exact tangents the correct digits double.

    python benchmarks/newton_residuals.py        prints the residual norms over the first, and the constant of the fall

The iterations are seen through the error of a solver that is allowed fewer of them than it needs: `SolverError.history`
has the norms of their residuals. Tolerances are at round-off. With ``reuse=False`` every iteration has a tangent of its
own, by default a factorisation is kept while it contracts the residual by 50.
"""

import sys
from pathlib import Path

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import double_pendulum
import falling_cantilever
import heavy_top
import roller_crank

# name: model, step [s]; ten to thirty times as large as those of the examples
CASES = {
    "heavy top, 150 rad/s": (lambda: heavy_top.build(heavy_top.FAST), 0.015),
    "double pendulum": (double_pendulum.build, 0.1),
    "falling cantilever": (falling_cantilever.build, 0.02),
    "roller-crank, 8 beams": (lambda: roller_crank.build(flexible=True), 0.01),
}
ENOUGH = 30  # iterations; every case needs fewer
ROUND_OFF = 1e-11  # of residuals, relative to the first


def residuals(name, **options):
    """Norms (k,) of the residuals of the iterations, the first is 1; without the last, which is below round-off."""
    build, h = CASES[name]
    model, found = build(), ()
    options = {"reuse": False, "contact_solver": "newton", **options}
    for iterations in range(1, ENOUGH):
        stepper = fem.DecoupledNSGA(rtol=1e-15, max_iterations=iterations, **options)
        try:
            stepper.run(model, h, h)
        except fem.SolverError as error:
            found = error.history
        else:
            return np.array(found) / found[0]
    raise RuntimeError(f"{name}: the step takes more than {ENOUGH} iterations")


def constant(norms):
    """Largest C in r_{k+1} = C r_k² of residuals above round-off."""
    norms = norms[norms > ROUND_OFF]
    return float(np.max(norms[1:] / norms[:-1] ** 2))


def main():
    for name in CASES:
        for reuse in (False, True):
            norms = residuals(name, reuse=reuse)
            how = "kept factorisation" if reuse else "own tangents"
            print(f"{name:<24} {how:<20} C = {constant(norms):<9.2g}", *(f"{r:.1e}" for r in norms))


if __name__ == "__main__":
    main()
