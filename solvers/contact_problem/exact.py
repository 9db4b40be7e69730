"""Newton with full steps and systems solved exactly in contact space, for modes that are hardly held at all.

    (A + B (W + λ I)) d = −F(r);   r ← r + d;   λ = 10⁻⁹ … 2·10⁻¹¹ one after the other                               (1)

A tall stack of boxes with masses over 10⁴ has rocking modes that are eigenvectors of W with 7.5·10⁻¹², the largest
being 6. A larger λ holds them fixed, and body space needs 10⁻⁷: the states of all contacts are right then, the error
stands at 2·10⁻⁷ and no sweep, ADMM or restart changes that. With λ near 10⁻¹⁰ the first step throws the iterate to
errors of 1 to 100, since contacts change their state, and after 20 to 60 more it arrives. Which λ arrives is a matter
of luck (9 of 12 pairs of λ and map did), so they are tried in turn; redundant contacts forbid λ = 0. Starts a part in
10³ away do not arrive at all.

Source: docs/theory/contact_problems.md, (22), for the systems; full steps and small λ by own measurement.
"""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse.linalg import splu

from fem_mbs.solvers.contact_problem.input import Unsuitable
from fem_mbs.solvers.contact_problem.newton import MAPS
from fem_mbs.solvers.contact_problem.operators import Operator

if TYPE_CHECKING:
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import SuperLU

    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

SHIFTS = (1e-9, 5e-10, 1e-10, 5e-11, 2e-11)  # λ, in units of the scaled W
ASTRAY = 1e8  # size of r, relative to the start, that is not followed


def exact_newton(problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, iterations: int = 80) -> np.ndarray:
    """Iterate (1) from r (nc, d) with each shift and both maps; returns the best iterate of ``watch``.

    Parameters
    ----------
    iterations : largest number for each shift and map

    Raises
    ------
    Unsuitable
        When W is known by products only.
    """
    if not problem.operator.factors:
        raise Unsuitable("exact Newton needs W as a matrix, not as a product only")
    W = contact_matrix(problem.operator)
    for shift in SHIFTS:
        shifted = sp.csc_array(W + shift * sp.eye_array(W.shape[0]))
        for name in ("alart_curnier", "natural"):
            if _wander(problem, shifted, MAPS[name], r, watch, iterations):
                return watch.best
    return watch.best


def contact_matrix(operator: Operator) -> sp.csc_array:
    """W of an operator as a sparse matrix (m, m)."""
    return sp.csc_array(operator.matrix if operator.bodies is None else operator.bodies.delassus())


class FullFactors:
    """LU factors of a full matrix, with what is used of SuperLU's; RuntimeError when it is exactly singular."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.lu, self.exchanges, trouble = dgetrf(matrix)
        if trouble:
            raise RuntimeError("the matrix is exactly singular")

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solution for one right-hand side (m,) or several (m, k)."""
        return dgetrs(self.lu, self.exchanges, right)[0]

    def sign(self) -> float:
        """Sign of the determinant."""
        moved = np.count_nonzero(self.exchanges != np.arange(len(self.exchanges)))
        return np.sign(self.lu.diagonal()).prod() * (1 - 2 * (moved % 2))


def block_system(A: np.ndarray, B: np.ndarray, W: "np.ndarray | csc_array") -> "FullFactors | SuperLU":
    """LU of A + B W, A, B (nc, d, d): SuperLU of a sparse W, `FullFactors` of a full one.

    RuntimeError when it is exactly singular.
    """
    if isinstance(W, np.ndarray):
        n, d, _ = A.shape
        full = (B @ W.reshape(n, d, n * d)).reshape(n * d, n * d)
        full.reshape(n, d, n, d)[np.arange(n), :, np.arange(n)] += A
        return FullFactors(full)
    places = np.arange(len(A) + 1)
    A, B = (sp.bsr_array((X, places[:-1], places), shape=W.shape) for X in (A, B))
    return splu(sp.csc_array(A + B @ W))


def _wander(problem, W, evaluate, r, watch, iterations):
    """Full steps with one matrix and map; whether to stop altogether."""
    n, d = r.shape
    F, A, B = np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))
    largest = ASTRAY * max(np.linalg.norm(r), np.linalg.norm(problem.q))
    for _ in range(iterations + 1):
        u = problem.velocity(r)
        if watch.judge(r, u):
            return True
        watch.iterations += 1
        evaluate(r, u, problem.friction, F, A, B)
        try:
            r = r - block_system(A, B, W).solve(F.ravel()).reshape(n, d)
        except RuntimeError:
            return False
        if not np.linalg.norm(r) <= largest:
            return False
    return False
