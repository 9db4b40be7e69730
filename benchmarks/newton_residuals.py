"""Residuals of the Newton iterations of one large smooth step, and of the step of a billiard break.

    python benchmarks/newton_residuals.py        prints residual norms over the first, constant and exponent

With exact tangents the correct digits double. The iterations are seen through the failure of a solver that is allowed
fewer of them than it needs: its history has the norms of their residuals. Tolerances are at round-off. With
``reuse=False`` every iteration has a tangent of its own, by default a factorisation is kept while it contracts the
residual by 50.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np

import fem_mbs as fem
from fem_mbs.jit import address, invoke
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.data import COUNTS

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import billiard_break
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
STARTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # disturbances of the first guess


def residuals(name, disturbed=0.0, **options):
    """Norms (k,) of the residuals of the iterations, the first is 1; without the last, which is below round-off.

    ``disturbed`` is how much the accelerations at the start, from which the first guess is made, are changed, relative.
    """
    build, h = CASES[name]
    system, found = build().compile(), ()
    options = {"reuse": False, "contact_solver": "newton", "divide_failed_steps": False, **options}
    for iterations in range(1, ENOUGH):
        engine = fem.DecoupledNSGA(rtol=1e-15, max_iterations=iterations, **options).prepare(system, h)
        acceleration = engine.arrays["Vd0"]
        acceleration *= 1.0 + disturbed * np.random.default_rng(0).uniform(-1.0, 1.0, acceleration.shape)
        engine.run[0]["costly"] = 0  # costly steps that fail are repeated with own tangents: that history is not meant
        engine.march.advance(np.array([h]), engine.make_records(1))
        if engine.run[0]["code"] == OK:
            return found / found[0]
        found = engine.arrays["history"][: int(engine.run[0]["history_length"])].copy()
    raise RuntimeError(f"{name}: the step takes more than {ENOUGH} iterations")


BREAK_STEP = 1e-3  # s, as published
PROBLEMS = ("position correction", "1st impact problem", "2nd impact problem", "3rd impact problem")


@cache
def before_the_break():
    """Results of the break up to the step of its impact."""
    stepper = fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5)
    return stepper.run(billiard_break.build(), 0.114, BREAK_STEP)


def break_residuals(problem, reuse=False):
    """Norms (k,) of the residuals of a problem of the step with the impact of the cue ball, the first is 1.

    A step that fails is repeated with other penalties, and its error states the last attempt. Here the parts of a step
    are called one by one, after a step that fails because it may solve one impact problem only.
    """
    earlier, system = before_the_break(), billiard_break.build().compile()
    for name in ("cue", "ball 3", "ball 4", "ball 5"):
        row, ball, state = system.nodes.index(system.model[name].node), earlier[name], system.initial
        state.x[row], state.R[row] = ball.position[-1], ball.rotation[-1]
        state.V[row] = [*ball.velocity[-1], *ball.angular_velocity[-1]]
    stepper = fem.DecoupledNSGA.published(
        rho_inf=0.8, rtol=1e-15, max_iterations=ENOUGH, max_problems=1, contact_solver="newton",
        reuse=reuse, divide_failed_steps=False,
    )  # fmt: skip
    engine = stepper.prepare(system, BREAK_STEP)
    arrays = engine.arrays
    start = {name: values.copy() for name, values in arrays.items()} | {f"{k}0": arrays[k].copy() for k in "xQRV"}
    counts = {name: int(engine.run[0][name]) for name in COUNTS}
    engine.march.advance(np.array([BREAK_STEP]), engine.make_records(1))

    def solved(part, again=False, **limits):
        """Call a part: number of the sub-problem that failed, impact problems, residuals of the last Newton."""
        if not again:
            for name, values in start.items():
                arrays[name][...] = values
            for name, number in counts.items():
                engine.run[0][name] = number
        for name, value in limits.items():
            engine.record_of(name)[name] = value
        invoke(int(engine.record_of(part)[part]), address(engine.data), address(engine.run))
        run = engine.run[0]
        history = arrays["history"][: int(run["history_length"])].copy()
        return int(run["failed_problem"]), int(run["impact_problems"]), history

    number = PROBLEMS.index(problem)
    if number == 0:
        found = [solved("step_part", max_iterations=k) for k in range(1, ENOUGH)]
        norms = [norms for stopped_at, _, norms in found if stopped_at == 1][-1]
    else:
        _, solved_problems, norms = solved("step_part")
        if number > 1:  # the second needs three iterations, the third is the last
            limit = 2 if number == 2 else ENOUGH
            _, solved_problems, norms = solved("velocity_part", again=True, max_problems=50, max_iterations=limit)
        if solved_problems != (1 if number == 2 else number):
            raise RuntimeError("the sequence of impacts is another one: so are its problems")
    return norms / norms[0]


def constant(norms):
    """Largest C in r_{k+1} = C r_k² of residuals above round-off, relative to the first."""
    norms = norms[norms > ROUND_OFF]
    return float(np.max(norms[1:] / norms[:-1] ** 2))


def last_exponent(norms):
    """p in r_{k+1}/r_k = (r_k/r_{k-1})^p of the last three residuals, the last of them the first below round-off."""
    below = np.flatnonzero(norms < ROUND_OFF)
    end = below[0] if len(below) else len(norms) - 1
    a, b, c = np.log(norms[end - 2 : end + 1])
    return float((c - b) / (b - a))


def exponent(name, **options):
    """Median of the last exponents of several starts: 2 with exact tangents, 1 with those of another state.

    One start says little: stiff and soft parts of a residual fall in turn, and round-off cuts the last one.
    """
    return float(np.median([last_exponent(residuals(name, size, **options)) for size in STARTS]))


def main():
    for name in CASES:
        for reuse in (False, True):
            norms = residuals(name, reuse=reuse)
            how = "kept factorisation" if reuse else "own tangents"
            falls = f"C = {constant(norms):<9.2g} exponent {exponent(name, reuse=reuse):.2f} "
            print(f"{name:<28} {how:<20} {falls}", *(f"{r:.1e}" for r in norms))
    for name in PROBLEMS:
        norms = break_residuals(name)
        print(f"{'break, ' + name:<28} {'own tangents':<20} C = {constant(norms):<9.2g}", *(f"{r:.1e}" for r in norms))


if __name__ == "__main__":
    main()
