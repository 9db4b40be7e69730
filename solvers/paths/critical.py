"""Critical points of a path: where an eigenvalue of the tangent on the motions that constraints allow is zero.

Between two points the eigenvalue at place j of `fem_mbs.solvers.paths.spectrum` changes its sign. The root is that of

    [ A   b ] [ y ]   [ 0 ]
    [ bᵀ  0 ] [ τ ] = [ 1 ] ,     A = [ K + K_g  −Gᵀ; −G  0 ],   b = (D φ_j, 0)                                    (1)

which is smooth along the path and zero where A is singular, to the accuracy of the factors and not of an eigenvalue
compared with the largest stiffness. y is then the critical motion with its multipliers, and with the left vector z of A

    z·p = 0  branch point: the load does no work on the critical motion, other paths cross;   p = ∂(f + Gᵀμ, g)/∂λ
    z·p ≠ 0  limit point: the path turns back in λ.                                                                (2)

Source: docs/theory/load_paths.md, (11)-(13); Griewank & Reddien 1984 for (1); Wriggers & Simo 1990.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.solvers.equilibrium import Equilibrium


BRANCH = 1e-5  # of |z||p|: work of the load on the critical motion
FLAT = 1e-3  # the same where the place is known from a flat extremum, to the root of the tolerance
LIMIT, BRANCHES = "limit", "branch"


class Test:
    """Test function (1) with a fixed border b, from a motion (n,)."""

    def __init__(self, problem: "Equilibrium", motion: np.ndarray, scale: np.ndarray) -> None:
        self.problem, self.scale = problem, scale
        border = scale**2 * motion
        self.border = np.concatenate([border / np.linalg.norm(border), np.zeros(problem.rows)])

    def _factors(self, state, lam, factor):
        from scipy.sparse import block_array, csc_array
        from scipy.sparse.linalg import splu

        problem, b = self.problem, csc_array(self.border[:, None])
        problem.set_load(factor)
        problem.residual(state, lam, factor, False)
        A = problem.matrix(state, lam)
        return splu(block_array([[A, b], [b.T, None]]).tocsc())

    def __call__(self, state: State, lam: np.ndarray, factor: float) -> float:
        """τ."""
        try:
            return float(self._factors(state, lam, factor).solve(np.append(0.0 * self.border, 1.0))[-1])
        except RuntimeError:
            return np.nan

    def vectors(self, state: State, lam: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
        """y and z (n + m,), of size 1 in the metric of the path."""
        factors, right = self._factors(state, lam, factor), np.append(0.0 * self.border, 1.0)
        found = []
        for trans in ("N", "T"):
            y = factors.solve(right, trans)[:-1]
            found.append(y / np.linalg.norm(self.scale * y[: len(self.scale)]))
        return found[0], found[1]

    def kind(self, state: State, lam: np.ndarray, factor: float, little: float = BRANCH) -> str:
        """`LIMIT` or `BRANCHES` by (2); ``little`` is the share of work that counts as none."""
        _, z = self.vectors(state, lam, factor)
        rate, _ = self.problem.load_rate(state, lam, factor)
        work = abs(float(z @ rate))
        n = len(self.scale)
        possible = np.linalg.norm(rate[:n] / self.scale) + np.linalg.norm(z[n:]) * np.linalg.norm(rate[n:])
        return BRANCHES if work <= little * possible else LIMIT


def root(function: Callable[[float], float], low: float, high: float, f_low: float, f_high: float) -> float | None:
    """Zero of a function between two places with values of different signs, to 1e-10 of their distance (Brent)."""
    from scipy.optimize import brentq

    if not (np.isfinite(f_low) and np.isfinite(f_high)) or f_low * f_high > 0:
        return None
    known = {low: f_low, high: f_high}
    try:
        return brentq(lambda s: known[s] if s in known else function(s), low, high, xtol=1e-10 * (high - low))
    except (ValueError, ArithmeticError):
        return None
