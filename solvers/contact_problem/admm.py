"""ADMM with De Saxcé's term inside: one factorisation of W + ρ I, then products and projections.

    x = (W + ρ I)⁻¹ (−q − s n + ρ (z − y)),   x̂ = α x + (1 − α) z,   v = x̂ + y,   z = P_K(v),   y = v − z            (1)
    s_i = Σ μ_k ρ |y_k|        because −ρ y is the estimate of ũ; 0 in the relaxed problem

ρ follows the ratio of the residuals, |x − z|/max(|x|, |z|) to |z − z_old|/|y|, at growing intervals. No fixed ρ is
right for all problems. Start from zero: stalled iterates of other methods are bad starts.

Source: docs/theory/contact_problems.md, (20).
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact_problem.body_sweeps import bodies_to_contacts, impulses_to_bodies
from fem_mbs.solvers.contact_problem.cones import project, saxce
from fem_mbs.solvers.contact_problem.factor import solve_blocks
from fem_mbs.solvers.contact_problem.linear_solves import Singular
from fem_mbs.solvers.contact_problem.shifts import BlockShift, BodyShift, FreeShift

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

CHECK_EVERY = 10  # iterations between two tests of the error
CG_PART = 0.1  # errors of x by conjugate gradients as part of the residuals of the last iteration


@kernel
def update(x, z, y, mu, alpha, new):
    """(1) after the linear solve: updates z and y. Returns |x − z|², |z − z_old|², max(|x|², |z|²), |y|²."""
    n, d = x.shape
    primal, dual, size_x, size_z, size_y = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        for a in range(d):
            y[i, a] += alpha * x[i, a] + (1.0 - alpha) * z[i, a]
        project(y[i], mu[i], new)
        for a in range(d):
            y[i, a] -= new[a]
            primal += (x[i, a] - new[a]) ** 2
            dual += (new[a] - z[i, a]) ** 2
            size_x += x[i, a] * x[i, a]
            size_z += new[a] * new[a]
            size_y += y[i, a] * y[i, a]
            z[i, a] = new[a]
    return primal, dual, max(size_x, size_z), size_y


@kernel
def right_hand_side(z, y, lift, rho, q, right):
    """−q − s n + ρ (z − y), s = Σ lift_k ρ |y_k|."""
    for i in range(z.shape[0]):
        for a in range(z.shape[1]):
            right[i, a] = rho * (z[i, a] - y[i, a]) - q[i, a]
        right[i, 0] -= rho * saxce(y[i], lift[i])


@kernel
def _iterate_dense(inverse, q, mu, lift, rho, alpha, z, y, count):
    """``count`` iterations with the full inverse of W + ρ I; returns the norms of the last."""
    right, new = np.empty_like(z), np.empty(z.shape[1])
    norms = (0.0, 0.0, 0.0, 0.0)
    for _ in range(count):
        right_hand_side(z, y, lift, rho, q, right)
        x = np.dot(inverse, right.reshape(right.size)).reshape(z.shape)
        norms = update(x, z, y, mu, alpha, new)
    return norms


@kernel
def _iterate_blocks(factors, q, mu, lift, rho, alpha, z, y, count):
    """``count`` iterations with the factors of W + ρ I by blocks of contacts."""
    right, x, new = np.empty_like(z), np.empty_like(z), np.empty(z.shape[1])
    norms = (0.0, 0.0, 0.0, 0.0)
    for _ in range(count):
        right_hand_side(z, y, lift, rho, q, right)
        solve_blocks(factors, right, x)
        norms = update(x, z, y, mu, alpha, new)
    return norms


@kernel
def _iterate_bodies(factors, bodies, blocks, count_bodies, q, mu, lift, rho, alpha, z, y, count):
    """``count`` iterations with the factors of ρ I + Gᵀ G by blocks of bodies."""
    right, x, new = np.empty_like(z), np.empty_like(z), np.empty(z.shape[1])
    b, v = np.empty((count_bodies, blocks.shape[3])), np.empty((count_bodies, blocks.shape[3]))
    norms = (0.0, 0.0, 0.0, 0.0)
    for _ in range(count):
        right_hand_side(z, y, lift, rho, q, right)
        impulses_to_bodies(bodies, blocks, right, b)
        solve_blocks(factors, b, v)
        bodies_to_contacts(bodies, blocks, v, x)
        for i in range(x.shape[0]):
            for a in range(x.shape[1]):
                x[i, a] = (right[i, a] - x[i, a]) / rho
        norms = update(x, z, y, mu, alpha, new)
    return norms


def _iterate_free(problem, solve, rho, alpha, z, y, count):
    """``count`` iterations with conjugate gradients, as exact as the residuals of the last iteration ask for."""
    right, new = np.empty_like(z), np.empty(z.shape[1])
    for _ in range(count):
        right_hand_side(z, y, problem.lift, rho, problem.q, right)
        x = solve(right)
        norms = update(x, z, y, problem.friction, alpha, new)
        solve.tolerance = CG_PART * rho * math.sqrt(min(norms[0], norms[1]))
    return norms


def _iterations(problem, solve, rho, alpha, z, y, count):
    """``count`` iterations (1), z and y (nc, d) in place; returns the four squared norms of the last."""
    q, mu, lift = problem.q, problem.friction, problem.lift
    if isinstance(solve, BodyShift):
        bodies = solve.bodies
        return _iterate_bodies(
            solve.factors.parts, bodies.bodies, bodies.blocks, bodies.count, q, mu, lift, rho, alpha, z, y, count
        )
    if isinstance(solve, BlockShift):
        return _iterate_blocks(solve.factors.parts, q, mu, lift, rho, alpha, z, y, count)
    if isinstance(solve, FreeShift):
        return _iterate_free(problem, solve, rho, alpha, z, y, count)
    return _iterate_dense(solve.inverse, q, mu, lift, rho, alpha, z, y, count)


def admm(
    problem: "ScaledProblem",
    r: np.ndarray,
    watch: "Watch",
    *,
    iterations: int = 2000,
    rho: float = 1.0,
    alpha: float = 1.6,
    adaptive: bool = True,
    memory: dict | None = None,
) -> np.ndarray:
    """Iterate (1) from r (nc, d), zero is best; returns the best iterate of ``watch``.

    Parameters
    ----------
    rho : float > 0, first (or fixed) penalty in the scaled problem
    alpha : 1 to 1.6, over-relaxation; larger does not converge with sliding contacts
    adaptive : bool
    memory : dict, optional
        Filled with z, y and rho at the end; when it has them, the iterations go on from there and not from r.
    """
    operator = problem.operator
    if memory:
        z, y, rho = memory["z"], memory["y"], memory["rho"]
    else:
        z, u = r.copy(), problem.velocity(r)
        u[:, 0] += problem.saxce(u)
        y = -u / rho
    try:
        solve = operator.shifted(rho)
    except Singular:
        return watch.best
    next_change, done = CHECK_EVERY, 0
    while done < iterations:
        count = min(CHECK_EVERY, iterations - done)
        primal, dual, size, size_y = _iterations(problem, solve, rho, alpha, z, y, count)
        done += count
        watch.iterations += count
        if not math.isfinite(primal) or watch.judge(z):
            break
        if adaptive and done >= next_change and min(primal, dual, size, size_y) > 0.0:
            ratio = math.sqrt(math.sqrt(primal / size) / max(math.sqrt(dual / size_y), 1e-300))
            if ratio > 3.0 or ratio < 1.0 / 3.0:
                old, rho = rho, rho * min(max(ratio, 0.05), 20.0)
                y *= old / rho
                try:
                    solve = operator.shifted(rho)
                except Singular:
                    break
                next_change = done + max(10, int(0.3 * done))
    if memory is not None:
        memory.update(z=z, y=y, rho=rho)
    return watch.best
