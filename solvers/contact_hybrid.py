"""The automatic solver: short attempts of different methods from different starts, until one succeeds.

    1  Gauss-Seidel, 30 sweeps, then Newton (Alart-Curnier map)
    2  100 more sweeps, then Newton (natural map)
    3  interior point with De Saxcé's term, own start, then polish
    4  ADMM from zero with adaptive penalty, then polish
    5  Cadoux's outer loop around convex interior points, polish inside
    6  long rounds: ADMM with a fixed penalty, polish, proximal Newton, sweeps, polish

polish = Newton with the Alart-Curnier, then with the natural map; in the long rounds also with Fischer-Burmeister's,
which finished a thrown wall of 904 contacts from an error of 1e-6. In the long rounds ρ = 0.3 with α = 1.6 went
furthest (that wall and a pile of 1,749: 4e-6 and 7e-7 after 24,000 iterations, with α = 1 1e-5 and 3e-6), so it is
continued over several rounds; other penalties follow, each from zero.

The best iterate of all stages is kept, but later stages do not start from it: stalled points are bad starts. With a
warm start (the last step's impulses) Newton comes first. Large problems in body space do 4 before 3, and their long
rounds are polished only from an error of 2e-6: an ADMM iteration costs two products and a solve there, one of Newton or
of the interior point hundreds of times more. With rolling or spinning stages 3 and 5 and the Fischer-Burmeister map are
left out; without a matrix only APGD remains.

Source: formulation-contact-problem-solver, section 5.
"""

import math
import time

from fem_mbs.solvers.contact_admm import admm
from fem_mbs.solvers.contact_apgd import apgd
from fem_mbs.solvers.contact_gauss_seidel import gauss_seidel
from fem_mbs.solvers.contact_interior_point import cadoux, interior_point
from fem_mbs.solvers.contact_newton import newton, proximal_newton
from fem_mbs.solvers.contact_operators import BodyOperator

# (rho, alpha, adaptive, continued) of the ADMM in the long rounds
ROUNDS = (
    (0.3, 1.6, False, False),
    (0.3, 1.6, False, True),
    (0.3, 1.6, False, True),
    (0.3, 1.6, False, True),
    (0.1, 1.0, False, False),
    (0.01, 1.6, False, False),
    (0.03, 1.0, True, False),
    (0.3, 1.6, False, True),
    (0.3, 1.6, False, True),
)
ROUND_ITERATIONS, ROUND_GROWTH = 8000, 1.25
WORTH_POLISH = 2e-6  # error of a large problem below which the long rounds go on with Newton
WORTH_PROXIMAL = 1e-3  # error below which proximal Newton is tried


def hybrid(problem, r, watch, *, rounds=9):
    """Run the stages above from r (nc, d); returns the best iterate of ``watch``.

    Parameters
    ----------
    rounds : 0 to 9, number of long rounds of stage 6; 0 bounds the time in a time stepper
    """
    watch.history = []
    ladder = _Ladder(problem, watch)
    if not problem.operator.factors:
        ladder.run("apgd", apgd, r)
        return watch.best
    for stage in _stages(problem, ladder, r, rounds):
        if stage():
            break
    return watch.best


def _stages(problem, ladder, r, rounds):
    """The stages in their order; each returns True when the problem is solved or the time is over."""
    zero = 0.0 * r
    cone, bodies = problem.q.shape[1] == 3, isinstance(problem.operator, BodyOperator)

    def sweeps_and_newton():
        if r.any() and ladder.run("newton ac, warm", newton, r):
            return True
        if ladder.run("gauss-seidel 30", gauss_seidel, r, iterations=30):
            return True
        return ladder.run("newton ac", newton, ladder.last)

    def more_sweeps():
        start = ladder.after_sweeps
        if ladder.run("gauss-seidel 100", gauss_seidel, start, iterations=100):
            return True
        return ladder.run("newton nm", newton, ladder.last, map="natural")

    def interior():
        return cone and (ladder.run("interior point", interior_point, zero, share=0.4) or ladder.polish())

    def splitting():
        return ladder.run("admm", admm, zero, share=0.3) or ladder.polish()

    def outer_loop():
        return cone and ladder.run("cadoux", cadoux, zero, share=0.4)

    continued = [zero]

    def long_round(k):
        rho, alpha, adaptive, again = ROUNDS[k]
        options = {
            "rho": rho,
            "alpha": alpha,
            "adaptive": adaptive,
            "iterations": int(ROUND_ITERATIONS * ROUND_GROWTH**k),
        }
        if ladder.run(f"long admm {k + 1}", admm, continued[-1] if again else zero, **options):
            return True
        if again or k == 0:
            continued.append(ladder.last)
        if bodies and ladder.last_error > WORTH_POLISH:
            return False  # more iterations are cheaper than a factorisation that will not help yet
        if ladder.polish(cone):
            return True
        if ladder.last_error < WORTH_PROXIMAL and ladder.run(f"proximal newton {k + 1}", proximal_newton, ladder.last):
            return True
        return ladder.run(f"long sweeps {k + 1}", gauss_seidel, ladder.last, iterations=1000) or ladder.polish(cone)

    long = [lambda k=k: long_round(k) for k in range(rounds)]
    first = [splitting, interior] if bodies else [interior, splitting]
    return [sweeps_and_newton, more_sweeps, *first, outer_loop, *long]


class _Ladder:
    """Runs stages, merges their best iterates into the watch of the whole, keeps the record.

    Attributes
    ----------
    last, last_error : iterate that the last stage left and its error
    after_sweeps : iterate after the first sweeps
    """

    def __init__(self, problem, watch):
        self.problem, self.watch = problem, watch
        self.last, self.last_error, self.after_sweeps = watch.best, watch.best_error, watch.best

    def run(self, name, method, start, *, share=1.0, **options):
        """Run one stage in its share of the remaining time; True when the whole should stop."""
        watch, begin = self.watch, time.perf_counter()
        deadline = watch.deadline if math.isinf(watch.deadline) else begin + share * max(watch.deadline - begin, 0.0)
        stage = type(watch)(self.problem, watch.tol, deadline)
        method(self.problem, start, stage, **options)
        watch.iterations += stage.iterations
        if stage.best is not None:
            self.last, self.last_error = stage.best, stage.best_error
            if name == "gauss-seidel 30":
                self.after_sweeps = stage.best
            if stage.best_error < watch.best_error:
                watch.best, watch.best_error, watch.converged = stage.best, stage.best_error, stage.converged
                watch.label = f"hybrid: {name}"
        watch.history.append((name, stage.iterations, stage.best_error, time.perf_counter() - begin))
        return watch.converged or time.perf_counter() > watch.deadline

    def polish(self, three=False):
        """Newton with two or three maps from where the last stage ended, which stays the last when none is better."""
        start, error, name = self.last, self.last_error, self.watch.history[-1][0]
        maps = [("ac", "alart_curnier"), ("nm", "natural"), ("fb", "fischer_burmeister")]
        for label, map in maps if three else maps[:2]:
            if self.run(
                f"{name} + {label}", newton, start, iterations=25, map=map, patience=20 if label == "fb" else 10
            ):
                return True
        if error <= self.last_error:
            self.last, self.last_error = start, error
        return False
