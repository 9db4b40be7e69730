"""Impulses of least norm, where several give the same motion.

Redundant contacts make W singular: u is determined, r is not. With u fixed the solutions are a convex set,

    W r = W r*,   r_i ∈ K_i(u):   {0} when u_n > 0,   {t (1, −μ u_T/|u_T|), t ≥ 0} when it slides,   K otherwise  (1)

and the choice is its element with the smallest |r̂| (scaled variables): unique, and symmetric when the problem is.
ADMM between the affine space and the cones, with P the projector onto the null space of W:

    x = r* − P r* + P ρ (z − y)/(1 + ρ),   z = projection of x + y onto K(u),   y ← y + x − z                       (2)

Source: docs/theory/contact_problems.md, (29), (30); (2) derived here.
"""

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_problem.operators import DenseOperator

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.problem import ContactProblem, Solution
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem

NULL = 1e-10  # eigenvalues of W below this part of the largest are zero
SHIFT = 1e-9  # of ‖W‖, in the projector of large problems
RHO = 1.0


def smallest_impulses(
    problem: "ContactProblem", solution: "Solution", *, iterations: int = 2000, tol: float = 1e-8
) -> "Solution":
    """Replace the impulses of a solution by the smallest ones with the same motion.

    Parameters
    ----------
    problem : ContactProblem
        Sliding friction only; W symmetric, given as a matrix or by bodies.
    solution : Solution, converged
    iterations, tol : largest number of iterations (2), and where they stop (relative change)

    Returns
    -------
    Solution
        With the new impulses if they fulfil the problem as well as the old ones (error within 10 times); otherwise the
        solution unchanged.
    """
    scaled = problem.scaled
    operator = scaled.operator
    if problem.relaxed:
        message = "is not for smallest impulses: they follow from Coulomb's law"
        raise ParameterError(problem, "relaxed", True, message)
    if not (operator.factors and operator.symmetric and problem.size == 3):
        message = "must be symmetric, a matrix or of bodies, with sliding friction only, to choose smallest impulses"
        raise ParameterError(problem, "W", type(operator).__name__, message)
    r = scaled.into(solution.r)
    u = scaled.velocity(r)
    limit = 100 * max(solution.error, np.finfo(float).eps)  # below it a velocity is zero
    cones = _Cones(scaled, u, limit)
    project_null = _null_projector(operator)
    fixed = r - project_null(r)
    z, y = r, np.zeros_like(r)
    for _ in range(iterations):
        x = fixed + project_null(RHO / (1 + RHO) * (z - y))
        new = cones.project(x + y)
        y = y + x - new
        moved = max(np.linalg.norm(new - z), np.linalg.norm(x - new))
        z = new
        if moved <= tol * np.linalg.norm(z):
            break
    chosen = scaled.back(scaled.project(z))
    error, error_max = problem.error(chosen)
    if not error <= 10 * max(solution.error, tol):
        return solution
    return dataclasses.replace(solution, r=chosen, u=problem.velocity(chosen), error=error, error_max=error_max)


def _null_projector(operator):
    """Function that projects (nc, d) onto the null space of W."""
    if isinstance(operator, DenseOperator):
        values, vectors = scipy.linalg.eigh(operator.matrix)
        null = vectors[:, values <= NULL * max(values[-1], 0.0)]
        return lambda r: (null @ (null.T @ r.ravel())).reshape(r.shape)
    shift = SHIFT * operator.norm()
    solve = operator.shifted(shift)
    return lambda r: shift * solve(r)


class _Cones:
    """K_i(u) of (1) for all contacts."""

    def __init__(self, problem: "ScaledProblem", u: np.ndarray, limit: float) -> None:
        self.problem = problem
        size = np.linalg.norm(u[:, 1:], axis=1)
        mu = problem.friction[:, 0]
        opened, sliding = u[:, 0] > limit, (size > limit) & (mu > 0)
        self.rays = opened | sliding
        self.ray = np.column_stack([np.ones(len(u)), -(mu / np.maximum(size, 1e-300))[:, None] * u[:, 1:]])[self.rays]
        self.ray[opened[self.rays]] = 0.0
        self.square = np.maximum(np.square(self.ray).sum(axis=1), 1e-300)

    def project(self, x: np.ndarray) -> np.ndarray:
        """Closest point of the cones."""
        z = self.problem.project(x)
        along = np.maximum(np.einsum("ia,ia->i", self.ray, x[self.rays]), 0.0) / self.square
        z[self.rays] = along[:, None] * self.ray
        return z
