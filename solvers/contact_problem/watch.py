"""The judge of iterates, which all methods of contact problems share: which is best, and when to stop.

Errors are those of `contact_problem.problem`, whose numbers of equations are meant here.
"""

import math
import time
from typing import Any

import numpy as np

from fem_mbs.solvers.contact_problem.scaled import ROUNDING_LIMIT, ScaledProblem

GRACE = 6  # iterates that rounding would excuse before a method stops above the tolerance


class Watch:
    """Judges iterates, keeps the best, says when to stop; each stage of the hybrid has one of its own.

    Attributes
    ----------
    best : (nc, d), best iterate by error (3); best_error : its error
    iterations : counted by the method; history : list of (iteration, error)
    label : stage of the hybrid that found the best iterate, or None
    """

    def __init__(self, problem: ScaledProblem, tol: float, deadline: float = math.inf) -> None:
        self.problem, self.tol, self.deadline = problem, tol, deadline
        self.best: Any = None  # (nc, d), of all iterates so far
        self.best_error, self.iterations, self.history = math.inf, 0, []
        self.converged, self.within_rounding = False, 0
        self.label: str | None = None

    def judge(self, r: np.ndarray, u: np.ndarray | None = None) -> bool:
        """Record an iterate; True when the method should stop."""
        error, _ = self.problem.error(r, u)
        if error <= 100 * self.tol:  # what is handed back lies in the cones, so that is what has to be good enough
            r = self.problem.project(r)
            error, _ = self.problem.error(r)
        self.history.append((self.iterations, error))
        if self.problem.lost_in_rounding(r, error, self.tol):
            error = math.inf  # that of (3) says nothing: see (5)
        if error < self.best_error or self.best is None:
            self.best, self.best_error = r.copy(), error
        if error <= self.tol:
            self.converged = True
            return True
        if error <= ROUNDING_LIMIT and error <= self.problem.reachable(r, self.tol):
            self.converged, self.within_rounding = True, self.within_rounding + 1
        return self.within_rounding >= GRACE or self.late()

    def late(self) -> bool:
        """True if the time is over."""
        return time.perf_counter() > self.deadline
