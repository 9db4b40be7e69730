"""The automatic solver: short attempts of different methods from different starts, until one succeeds.

    1  Gauss-Seidel while 30 sweeps reduce the error to a fifth, at least 30, then Newton (Alart-Curnier map)
    2  100 more sweeps, then Newton (natural map)
    3  convex interior point (s = 0), polish
    4  interior point with De Saxcé's term, own start, polish
    5  ADMM from zero with adaptive penalty, polish
    6  Cadoux's outer loop, polish inside; from an error below 1e-4 Newton with full steps and smaller and smaller
       shifts, which may wander for some forty iterations; up to 2,000 rows also with systems solved exactly
    7  sweeps with momentum, for piles in which all contacts slide
    8  long rounds: ADMM with a fixed penalty, polish, proximal Newton, sweeps, polish
    9  after two of them, up to 2,000 rows, with friction, and where the best error is still above 1e-3: the path of
       smoothed problems, with Newton from it; then the other rounds

polish = Newton with the Alart-Curnier, then with the natural map; in the long rounds also with Fischer-Burmeister's.
A long round that has reduced the error to a third is continued by the next one; else the next starts from zero with
another penalty. The order was chosen by processor time on the families of benchmarks/contact_problems.py: 3 finishes
piles thrown at each other (all jammed: s = 0 was the right guess), 4 tall kicked stacks, 5 sliding slabs and walls, 6
mass ratios of 10⁴ in tall stacks; a kicked wall of 904 contacts needs 45,000 iterations of 8, and slabs with random
friction (480 contacts), which nothing else brings below 1e-3, need 9.

The best iterate of all stages is kept, but later stages do not start from it: stalled points are bad starts. A warm
start (the last step's impulses) is where the iterations of 1 begin. In the long rounds of large problems Newton is
tried only from an error of 2e-6: an ADMM iteration costs two products and a solve, one of Newton hundreds of times
more. The relaxed problem (no De Saxcé's term) is convex and has stages of its own: Newton with the natural map from the
start, interior points and ADMM with polish, long rounds of accelerated gradients.

With rolling or spinning stages 3, 4, 6, 9 and the Fischer-Burmeister map are left out. When W is known by products
only, its matrix is formed up to 2,000 rows, which takes fewer products than any first-order method; beyond, APGD and
ADMM with conjugate gradients are tried.

Source: docs/theory/contact_problems.md, "The hybrid".
"""

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.solvers.contact_problem.admm import admm
from fem_mbs.solvers.contact_problem.apgd import apgd
from fem_mbs.solvers.contact_problem.exact import exact_newton
from fem_mbs.solvers.contact_problem.gauss_seidel import gauss_seidel
from fem_mbs.solvers.contact_problem.interior_point import cadoux, interior_point
from fem_mbs.solvers.contact_problem.momentum import momentum
from fem_mbs.solvers.contact_problem.newton import free_newton, newton, proximal_newton
from fem_mbs.solvers.contact_problem.operators import DENSE_ROWS
from fem_mbs.solvers.contact_problem.path import smoothed_path

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

# (rho, alpha, adaptive) of the ADMM in the long rounds
PENALTIES = ((0.3, 1.6, False), (0.1, 1.0, False), (0.01, 1.6, False), (0.03, 1.0, True), (1.0, 1.6, True))
LARGEST_FORMED = 2000  # rows up to which a W known by products is formed by that many
ROUND_ITERATIONS, ROUND_GROWTH = 8000, 1.25
WORTH_GOING_ON = 1 / 3  # reduction of the error in a long round for which it is continued
WORTH_FREE = 1e-4  # error below which Newton without a search is tried
WANDERING, WANDERING_SHIFTS = 80, (1e-6, 1e-7, 1e-8)  # iterations and shifts of Newton that may go astray
LARGEST_EXACT = 2000  # rows up to which Newton's systems are solved exactly in contact space after that
WORTH_POLISH = 2e-6  # error of a large problem below which the long rounds go on with searched Newton
ROUNDS_BEFORE_PATH, LARGEST_PATH, WORTH_PATH = 2, 2000, 1e-3  # rounds before the path; most rows; least error
MOST_SWEEPS, WORTH_SWEEPS = 200_000, 0.75  # with momentum; they go on while twice as many leave this part
WORTH_PROXIMAL = 1e-3  # error below which proximal Newton is tried


def hybrid(problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, rounds: int = 10) -> np.ndarray:
    """Run the stages above from r (nc, d); returns the best iterate of ``watch``.

    Parameters
    ----------
    rounds : int ≥ 0, number of long rounds of stage 8; 0 bounds the time in a time stepper
    """
    watch.history = []
    ladder = _Ladder(problem, watch, exact=rounds > 0)
    if not problem.operator.factors and r.size > LARGEST_FORMED:
        _ = ladder.run("apgd", apgd, r, share=0.5) or ladder.run("admm", admm, np.zeros_like(r))
        return watch.best
    if not problem.operator.factors:
        problem = ladder.problem = problem.formed()
    stages = _relaxed_stages if problem.relaxed else _stages
    for stage in stages(problem, ladder, r, rounds):
        if stage():
            break
    return watch.best


def _stages(problem, ladder, r, rounds):
    """The stages in their order; each returns True when the problem is solved or the time is over."""
    zero = np.zeros_like(r)
    cone, large = problem.q.shape[1] == 3, problem.operator.rows > DENSE_ROWS

    def sweeps_and_newton():
        if ladder.run("gauss-seidel", gauss_seidel, r, iterations=300, least=0.2):
            return True
        return ladder.run("newton ac", newton, ladder.last)

    def more_sweeps():
        if ladder.run("gauss-seidel 100", gauss_seidel, ladder.after_sweeps, iterations=100):
            return True
        return ladder.run("newton nm", newton, ladder.last, map="natural")

    def convex():
        return cone and ladder.run("convex", cadoux, zero, share=0.4, outer=1)

    def interior():
        return cone and (ladder.run("interior point", interior_point, zero, share=0.4) or ladder.polish())

    def splitting():
        return ladder.run("admm", admm, zero, share=0.3) or ladder.polish()

    def outer_loop():
        if cone and ladder.run("cadoux", cadoux, zero, share=0.4):
            return True
        return ladder.wander(ladder.watch.best, ladder.watch.best_error)

    def path():
        worth = cone and r.size <= LARGEST_PATH and ladder.watch.best_error > WORTH_PATH
        # without friction and with a symmetric W the problem is convex: what stages before left has no solution
        convex = problem.operator.symmetric and not problem.friction.any()
        return worth and not convex and ladder.run("path", smoothed_path, zero, share=0.7)

    def with_momentum():
        return ladder.run("momentum", momentum, zero, share=0.5, iterations=MOST_SWEEPS, least=WORTH_SWEEPS)

    long = _LongRounds(ladder, zero, cone, large)
    return [
        sweeps_and_newton,
        more_sweeps,
        convex,
        interior,
        splitting,
        outer_loop,
        *([with_momentum] if rounds > 0 else []),
        *(lambda k=k: long.run(k) for k in range(min(rounds, ROUNDS_BEFORE_PATH))),
        *([path] if rounds > 0 else []),
        *(lambda k=k: long.run(k) for k in range(ROUNDS_BEFORE_PATH, rounds)),
    ]


def _relaxed_stages(problem, ladder, r, rounds):
    """The stages for the relaxed problem, as `_stages`."""
    zero = np.zeros_like(r)

    def from_start():
        return ladder.run("newton nm", newton, r, map="natural")

    def interior():
        cone = problem.q.shape[1] == 3
        return cone and (ladder.run("interior point", interior_point, zero, share=0.4) or ladder.polish())

    def splitting():
        return ladder.run("admm", admm, zero, share=0.5) or ladder.polish()

    def long(k):
        iterations = int(ROUND_ITERATIONS * ROUND_GROWTH**k)
        start = ladder.watch.best
        return ladder.run(f"long apgd {k + 1}", apgd, start, iterations=iterations) or ladder.polish()

    return [from_start, interior, splitting, *(lambda k=k: long(k) for k in range(rounds))]


class _LongRounds:
    """Stage 8: remembers which penalty is used and where it has come to."""

    def __init__(self, ladder: "_Ladder", zero: np.ndarray, cone: bool, large: bool) -> None:
        self.ladder, self.zero, self.cone, self.large = ladder, zero, cone, large
        self.memory, self.error, self.penalty = {}, math.inf, 0

    def run(self, k: int) -> bool:
        """Round k; True when the whole should stop."""
        ladder = self.ladder
        rho, alpha, adaptive = PENALTIES[self.penalty % len(PENALTIES)]
        options: dict[str, Any] = {"rho": rho, "alpha": alpha, "adaptive": adaptive, "memory": self.memory}
        options["iterations"] = int(ROUND_ITERATIONS * ROUND_GROWTH**k)
        if ladder.run(f"long admm {k + 1}", admm, self.zero, **options):
            return True
        error, start = ladder.last_error, ladder.last
        if error <= WORTH_GOING_ON * self.error:
            self.error = error
        else:
            self.memory, self.error, self.penalty = {}, math.inf, self.penalty + 1
        if error < WORTH_FREE and ladder.run(f"long admm {k + 1} + free", free_newton, start):
            return True
        if ladder.wander(ladder.last, ladder.last_error):
            return True
        if self.large and error > WORTH_POLISH:
            return False  # more iterations are cheaper than a factorisation that will not help yet
        ladder.last, ladder.last_error = start, error
        if ladder.polish(self.cone):
            return True
        if ladder.last_error < WORTH_PROXIMAL and ladder.run(f"proximal newton {k + 1}", proximal_newton, ladder.last):
            return True
        if ladder.run(f"long sweeps {k + 1}", gauss_seidel, ladder.last, iterations=1000):
            return True
        return ladder.polish(self.cone)


class _Ladder:
    """Runs stages, merges their best iterates into the watch of the whole, keeps the record.

    Attributes
    ----------
    last, last_error : iterate that the last stage left and its error
    wandered : error from which full Newton steps were tried last
    after_sweeps : iterate after the first sweeps
    exact : bool, whether wandering may end with Newton's systems solved exactly, hundreds of factorisations
    """

    def __init__(self, problem: "ScaledProblem", watch: "Watch", exact: bool) -> None:
        self.problem, self.watch, self.exact = problem, watch, exact
        self.last, self.last_error, self.after_sweeps = watch.best, watch.best_error, watch.best
        self.wandered = math.inf

    def run(self, name: str, method: Callable, start: np.ndarray, *, share: float = 1.0, **options: Any) -> bool:
        """Run one stage in its share of the remaining time; True when the whole should stop."""
        watch, begin = self.watch, time.perf_counter()
        deadline = watch.deadline if math.isinf(watch.deadline) else begin + share * max(watch.deadline - begin, 0.0)
        stage = type(watch)(self.problem, watch.tol, deadline)
        method(self.problem, start, stage, **options)
        watch.iterations += stage.iterations
        if stage.best is not None:
            self.last, self.last_error = stage.best, stage.best_error
            if name == "gauss-seidel":
                self.after_sweeps = stage.best
            if stage.best_error < watch.best_error:
                watch.best, watch.best_error, watch.converged = stage.best, stage.best_error, stage.converged
                watch.label = f"hybrid: {name}"
        watch.history.append((name, stage.iterations, stage.best_error, time.perf_counter() - begin))
        return watch.converged or time.perf_counter() > watch.deadline

    def wander(self, start: np.ndarray, error: float) -> bool:
        """Newton with full steps and smaller and smaller shifts, which may go astray for many iterations before it
        arrives; not again from an error about as large as before. True when the whole should stop."""
        if not error < min(WORTH_FREE, WORTH_GOING_ON * self.wandered):
            return False
        self.wandered = error
        for shift in WANDERING_SHIFTS:
            options = {"iterations": WANDERING, "patience": WANDERING, "shift": shift}
            if self.run(f"free newton {shift:.0e}", free_newton, start, share=0.2, **options):
                return True
            if self.last_error < error:
                start, error = self.last, self.last_error
        worth = self.exact and start.size <= LARGEST_EXACT
        return worth and self.run("exact newton", exact_newton, start, share=0.3)

    def polish(self, three: bool = False) -> bool:
        """Newton with two or three maps from where the last stage ended, which stays the last when none is better."""
        start, error, name = self.last, self.last_error, self.watch.history[-1][0]
        maps = [("ac", "alart_curnier"), ("nm", "natural"), ("fb", "fischer_burmeister")]
        chosen = maps[1:2] if self.problem.relaxed else maps if three else maps[:2]
        for label, map in chosen:
            if self.run(
                f"{name} + {label}", newton, start, iterations=25, map=map, patience=20 if label == "fb" else 10
            ):
                return True
        if error <= self.last_error:
            self.last, self.last_error = start, error
        return False
