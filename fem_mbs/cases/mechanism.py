"""What a step costs and keeps, on a mechanism that rolls and slides: the roller-crank with every time stepper.

Models and data are those of examples/roller_crank.py, rigid and with a rod of eight beams (Sanchez2025, section A.6.3).
Times are processor seconds of a whole run, the least of some rounds in which all methods take turns, so that what else
a machine does falls on all of them: read their ratios.
"""

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

import fem_mbs as fem
from fem_mbs.arguments.checked import Keywords
from fem_mbs.cases.scripts import script
from fem_mbs.errors import ParameterError
from fem_mbs.results.results import Results

COUPLED = fem.NonsmoothGeneralizedAlphaGGL, fem.NonsmoothGeneralizedAlphaFriction, fem.GeneralizedAlpha


class Cost(NamedTuple):
    """Of a run: what a step costs, and what is kept.

    Attributes
    ----------
    unknowns : int, of the largest matrix of a step
    iterations : (3,), Newton iterations per step: smooth, position, velocity; of a coupled problem (n, 0, 0). Each is
        one linear solve
    seconds : float [s], processor time per step
    gap : float [m], smallest
    drift, rate : float, largest |g| and |ġ| of the constraints
    cone : float, largest excess of a sliding force over friction times the normal force, over the largest normal force
    loss : float [J], energy that the method took: neither friction nor rolling resistance did
    rise : float [J], largest rise in a step
    lift_offs : int
    """

    unknowns: int
    iterations: tuple[float, ...]
    seconds: float
    gap: float
    drift: float
    rate: float
    cone: float
    loss: float
    rise: float
    lift_offs: int


def unknowns(stepper: Any, system: Any, h: float) -> int:
    """Size of the largest matrix of a step."""
    matrices = stepper.prepare(system, h).matrices
    return max(layout.n for layout in [*matrices.layouts, matrices.stacked] if layout is not None)


def iterations(stepper: Any, result: Results) -> tuple[float, ...]:
    """Newton iterations per step (3,); those of a coupled problem, which results contain three times, once."""
    mean = result.iterations.mean
    return (float(mean[0]), 0.0, 0.0) if isinstance(stepper, COUPLED) else tuple(float(n) for n in mean)


def cone_excess(force: np.ndarray, friction: float) -> float:
    """Largest |F_T| − μ F_N of forces (k, 3), over the largest F_N; 0 inside the cone."""
    excess = np.linalg.norm(force[:, 1:], axis=1) - friction * force[:, 0]
    return float(max(excess.max(), 0.0) / force[:, 0].max())


def _cost(stepper: Any, system: Any, h: float, result: Results, seconds: float) -> Cost:
    """`Cost` of a run that is done."""
    crank = script("roller_crank")
    floor, violation = result["floor"], result.violation
    return Cost(
        unknowns(stepper, system, h), iterations(stepper, result), seconds / (len(result.t) - 1),
        float(floor.gap.min()), float(violation.position.max()), float(violation.velocity.max()),
        cone_excess(floor.force[1:], crank.friction), float(crank.method_loss(result)),
        float(np.diff(result.energy.total).max()), len(crank.lift_offs(result)),
    )  # fmt: skip


@Keywords.known
def costs(
    steppers: dict[str, Any], *, flexible: bool, h: float = 1e-3, t_end: float = 2.0, rounds: int = 2
) -> dict[str, Cost | str]:
    """`Cost` of each method on the mechanism, by label; a text says why a method does not support it.

    Parameters
    ----------
    steppers : dict of label -> time stepper
    flexible : bool
        With a rod of eight beams and rolling resistance.
    h, t_end : float [s]
        Step size, and how long it runs.
    rounds : int
        Of all methods; the least time of each counts.
    """
    crank = script("roller_crank")
    systems: dict[str, Any] = {label: crank.build(flexible).compile() for label in steppers}
    found: dict[str, Cost | str] = {}
    for _ in range(rounds):
        for label, stepper in _able(steppers, found):
            try:
                if label not in found:
                    stepper.run(systems[label], 2 * h, h)  # loads compiled code
                before = time.process_time()
                result = stepper.run(systems[label], t_end, h)
                seconds = time.process_time() - before
            except (ParameterError, fem.SolverError) as reason:
                found[label] = str(reason)
                continue
            cost = _cost(stepper, systems[label], h, result, seconds)
            last = found.get(label)
            found[label] = cost if last is None else cost._replace(seconds=min(cost.seconds, last.seconds))  # type: ignore[union-attr]
    return found


def _able(steppers: dict[str, Any], found: dict[str, Cost | str]) -> Iterable[tuple[str, Any]]:
    """Methods that support the model."""
    return [(label, stepper) for label, stepper in steppers.items() if not isinstance(found.get(label), str)]
