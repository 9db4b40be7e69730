"""Primal-dual interior point with Nesterov-Todd scaling; De Saxcé's term inside, with its derivative.

Sliding friction only: with rolling or spinning K is the intersection of several cones that share r_n. That cone is not
symmetric, so it has no Jordan product and no scaling point N x = y as in (4); splitting it into second-order cones with
copies of r_n adds equations that make W singular. ADMM, Gauss-Seidel, APGD and the hybrid take these cones.

A further scaling makes every cone self-dual, μ̂ = 1:

    x = r/D, y = D ũ,  D = diag(a, b, b),  a = (W_nn + 2 μ² W_TT)^(-½), b = μ a   (μ = 0: normal alone)   (1)

With |y_T| = s and rd = D (W r + q) + s n − y, one iteration solves, C = I + n tᵀ, t = y_T/|y_T|,

    (N + C D W D) dx = c − C rd,   dy = C (D W D dx + rd)                                                          (2)
    predictor c = −y;  corrector c = N^½ v,  λ∘v = σ m e − λ∘λ − (N^½ dx)∘(N^-½ dy),  σ = (m_aff/m)³               (3)

with N x = y the Nesterov-Todd block of a contact, λ = N^½ x and m = x·y/nc:

    x̄ = x/√det x, ȳ = y/√det y, g = √((1 + x̄·ȳ)/2), w = (ȳ + J x̄)/(2 g), e = √(det y/det x), J = diag(1, −1, −1)    (4)
    N = e (2 w wᵀ − J),  N^½ = √e [[w_0, w_Tᵀ], [w_T, I + w_T w_Tᵀ/(1 + w_0)]]

With s frozen C = I and the problem is convex; `cadoux` repeats that with s ← μ |u_T| and a Newton polish in between.

Source: docs/theory/contact_problems.md, (23)-(25), own method; Acary et al. 2023 for the field.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.contact_problem.input import Unsuitable
from fem_mbs.solvers.contact_problem.linear_solves import Singular
from fem_mbs.solvers.contact_problem.newton import newton

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

START, CONVEX_START = 1.0, 100.0  # size of the first x and y; from 1 convex problems take up to twice as long
TO_BOUNDARY = 0.99  # of the step to the boundary of a cone
PUSH = 1.0 + 1e-13  # keeps iterates inside their cones in rounding
PATIENCE, CONVEX_PATIENCE = 16, 25  # iterations without a gain of 30 %
CONVEX_TOL, SMALL_PART = 1e-11, 1e-5  # of a convex problem: absolute, and of Coulomb's error, which s decides


def interior_point(problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, iterations: int = 60) -> np.ndarray:
    """Solve the problem from the method's own start; returns the best iterate of ``watch``."""
    if problem.relaxed:
        watch.judge(_Iteration(problem).run(watch, iterations, np.zeros(len(r))))
    else:
        _Iteration(problem).run(watch, iterations)
    return watch.best


def cadoux(problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, outer: int = 6, polish: int = 20) -> np.ndarray:
    """Convex problems with s frozen, first at that of r, each followed by a Newton polish; returns the best iterate.

    Start from r = 0 for s = 0, as is usual.
    """
    iteration = _Iteration(problem)
    s, last = problem.saxce(problem.velocity(r)) if r.any() else np.zeros(len(r)), math.inf
    for _ in range(outer):
        r = iteration.run(watch, 60, s)
        if watch.judge(r):
            break
        s = problem.saxce(problem.velocity(r))
        start, error = r, watch.history[-1][1]
        for name in ("natural",) if problem.relaxed else ("alart_curnier", "natural"):
            stage = type(watch)(problem, watch.tol, watch.deadline)
            newton(problem, start, stage, iterations=polish, map=name)
            watch.iterations += stage.iterations
            if watch.judge(stage.best):
                return watch.best
        if not error < 0.5 * last:
            break
        last = error
    return watch.best


class _Iteration:
    """The iteration (2)-(3) on one scaled problem."""

    def __init__(self, problem: "ScaledProblem") -> None:
        if problem.q.shape[1] != 3:
            raise Unsuitable("the interior point method takes sliding friction only, not rolling or spinning; "
                             "'hybrid', 'admm', 'gauss_seidel' and 'apgd' take these")  # fmt: skip
        if not problem.operator.factors:
            raise Unsuitable("the interior point method needs W as a matrix, not as a product only")
        self.problem = problem
        mu, W = problem.friction[:, 0], problem.operator.diagonal
        tangential = 0.5 * (W[:, 1, 1] + W[:, 2, 2])
        a = np.maximum(W[:, 0, 0] + 2 * mu**2 * tangential, 1e-14) ** -0.5
        self.flat = mu == 0.0
        b = np.where(self.flat, a, mu * a)
        self.D = np.column_stack([a, b, b])

    def run(self, watch: "Watch", iterations: int, s: np.ndarray | None = None) -> np.ndarray:
        """Iterate from x = y = START (1, 0, 0); s frozen when given. Returns the last good r."""
        problem, D, n = self.problem, self.D, len(self.D)
        identity = np.zeros((n, 3))
        identity[:, 0] = 1.0
        x = y = identity * (START if s is None else CONVEX_START)
        best, best_error, since_gain, reference = D * x, math.inf, 0, math.inf
        for _ in range(iterations):
            r = D * x
            u = problem.velocity(r)
            if s is None:
                stop = watch.judge(r, u)
                error = watch.history[-1][1]
            else:
                error, _ = problem.error(r, u, s)
                coulomb, _ = problem.error(r, u)
                stop = error <= max(CONVEX_TOL, SMALL_PART * coulomb) or coulomb <= watch.tol
            if error < best_error:
                best, best_error = r, error
            since_gain = 0 if error < 0.7 * reference else since_gain + 1
            reference = min(reference, error) if since_gain == 0 else reference
            if stop or since_gain > (PATIENCE if s is None else CONVEX_PATIENCE) or watch.late():
                break
            watch.iterations += 1
            residual = D * u - y
            C = np.zeros((n, 3, 3))
            C[:] = np.eye(3)
            if s is None:
                slide = np.hypot(y[:, 1], y[:, 2])
                residual[:, 0] += slide
                C[:, 0, 1:] = y[:, 1:] / np.maximum(slide, 1e-300)[:, None]
            else:
                residual[:, 0] += D[:, 0] * s
            residual[self.flat, 1:] = 0.0
            try:
                dx, dy = self._direction(x, y, residual, C, identity)
            except (Singular, FloatingPointError):
                break
            a = min(1.0, TO_BOUNDARY * min(_to_boundary(x, dx), _to_boundary(y, dy)))
            x, y = _inside(x + a * dx), _inside(y + a * dy)
        return best

    def _direction(self, x, y, residual, C, identity):
        """Predictor and corrector, (2) and (3)."""
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            N, root, inverse = _nesterov_todd(x, y)
            lam = _apply(root, x)
            m = np.vdot(x, y) / len(x)
            A, B = N / self.D[:, None, :], C * self.D[:, None, :]
            A[self.flat, 1:], B[self.flat, 1:] = 0.0, 0.0
            A[self.flat, 1, 1] = A[self.flat, 2, 2] = 1.0
            solve = self.problem.operator.system(A, B)
            dx, dy = self._solve(solve, A, B, C, residual, -y)
            a = min(1.0, min(_to_boundary(x, dx), _to_boundary(y, dy)))
            sigma = min(1.0, max(np.vdot(x + a * dx, y + a * dy) / len(x) / m, 0.0)) ** 3
            target = sigma * m * identity - _jordan(lam, lam) - _jordan(_apply(root, dx), _apply(inverse, dy))
            return self._solve(solve, A, B, C, residual, _apply(root, _jordan_divide(lam, target)))

    def _solve(self, solve, A, B, C, residual, c):
        """Solve (2), with one step of refinement where it helps; A and B are written for d = D dx."""
        operator = self.problem.operator
        right = c - _apply(C, residual)
        right[self.flat, 1:] = 0.0
        d = solve(right)
        rest = right - _apply(A, d) - _apply(B, operator.product(d))
        if np.linalg.norm(rest) > 1e-10 * np.linalg.norm(right):
            d = d + solve(rest)
        dy = _apply(C, self.D * operator.product(d) + residual)
        dy[self.flat, 1:] = 0.0
        return d / self.D, dy


def _apply(blocks, x):
    return np.einsum("iab,ib->ia", blocks, x)


def _det(x):
    """x_0² − |x_T|² without cancellation."""
    size = np.hypot(x[:, 1], x[:, 2])
    return (x[:, 0] - size) * (x[:, 0] + size)


def _inside(x):
    """x with x_0 pushed above |x_T|."""
    x[:, 0] = np.maximum(np.maximum(x[:, 0], np.hypot(x[:, 1], x[:, 2]) * PUSH), 1e-150)
    return x


def _jordan(x, y):
    """Product x∘y of the second-order cone, contact by contact."""
    return np.column_stack([np.einsum("ia,ia->i", x, y), x[:, :1] * y[:, 1:] + y[:, :1] * x[:, 1:]])


def _jordan_divide(x, z):
    """y with x∘y = z."""
    first = (x[:, 0] * z[:, 0] - np.einsum("ia,ia->i", x[:, 1:], z[:, 1:])) / _det(x)
    return np.column_stack([first, (z[:, 1:] - first[:, None] * x[:, 1:]) / x[:, :1]])


def _nesterov_todd(x, y):
    """N, N^½ and N^-½ of (4), each (nc, 3, 3)."""
    J = np.array([1.0, -1.0, -1.0])
    det_x, det_y = _det(x), _det(y)
    unit_x, unit_y = x / np.sqrt(det_x)[:, None], y / np.sqrt(det_y)[:, None]
    g = np.sqrt(0.5 * (1.0 + np.einsum("ia,ia->i", unit_x, unit_y)))
    w = (unit_y + J * unit_x) / (2.0 * g)[:, None]
    e = np.sqrt(det_y / det_x)
    N = e[:, None, None] * (2.0 * w[:, :, None] * w[:, None, :] - np.diag(J))
    root = np.zeros_like(N)
    root[:, 0, :], root[:, :, 0] = w, w
    root[:, 1:, 1:] = np.eye(2) + w[:, 1:, None] * w[:, None, 1:] / (1.0 + w[:, 0])[:, None, None]
    inverse = root * np.outer(J, J)
    scale = np.sqrt(e)[:, None, None]
    return N, scale * root, inverse / scale


def _to_boundary(x, dx):
    """Longest step for which x + a dx stays in its cones."""
    a2 = dx[:, 0] ** 2 - dx[:, 1] ** 2 - dx[:, 2] ** 2
    a1 = x[:, 0] * dx[:, 0] - x[:, 1] * dx[:, 1] - x[:, 2] * dx[:, 2]
    a0 = _det(x)
    below = np.sqrt(np.maximum(a1 * a1 - a2 * a0, 0.0)) - a1
    real = (a1 * a1 - a2 * a0 >= 0.0) & (below > 0.0)
    return np.min(a0[real] / below[real], initial=math.inf)
