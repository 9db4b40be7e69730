"""ADMM with De Saxcé's term inside: one factorisation of W + ρ I, then products and projections.

    x = (W + ρ I)⁻¹ (−q − s n + ρ (z − y)),   x̂ = α x + (1 − α) z,   v = x̂ + y,   z = P_K(v),   y = v − z            (1)
    s_i = Σ μ_k ρ |y_k|        because −ρ y is the estimate of ũ

ρ follows the ratio of the residuals, |x − z|/max(|x|, |z|) to |z − z_old|/|y|, at growing intervals. No fixed ρ is
right for all problems. Start from zero: stalled iterates of other methods are bad starts.

Source: formulation-contact-problem-solver, section 4.2.
"""

import math

import numpy as np

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact_cones import project, saxce
from fem_mbs.solvers.contact_operators import Singular

CHECK_EVERY = 10  # iterations between two tests of the error


@kernel
def update(x, z, y, mu, alpha, rho, q, right):
    """(1) after the linear solve: updates z and y, fills the next right-hand side. Returns the four squared norms."""
    n, d = x.shape
    new, primal, dual, size_x, size_z, size_y = np.empty(d), 0.0, 0.0, 0.0, 0.0, 0.0
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
    right_hand_side(z, y, mu, rho, q, right)
    return primal, dual, max(size_x, size_z), size_y


@kernel
def right_hand_side(z, y, mu, rho, q, right):
    """−q − s n + ρ (z − y)."""
    for i in range(z.shape[0]):
        for a in range(z.shape[1]):
            right[i, a] = rho * (z[i, a] - y[i, a]) - q[i, a]
        right[i, 0] -= rho * saxce(y[i], mu[i])


def admm(problem, r, watch, *, iterations=2000, rho=1.0, alpha=1.6, adaptive=True):
    """Iterate (1) from r (nc, d), zero is best; returns the best iterate of ``watch``.

    Parameters
    ----------
    rho : float > 0, first (or fixed) penalty in the scaled problem
    alpha : 1 to 1.6, over-relaxation; larger does not converge with sliding contacts
    adaptive : bool
    """
    operator, mu, q = problem.operator, problem.friction, problem.q
    if not operator.factors:
        raise ValueError("ADMM needs W as a matrix, not as a product only")
    z = r.copy()
    u = problem.velocity(z)
    u[:, 0] += problem.saxce(u)
    y = -u / rho
    right = np.empty_like(z)
    right_hand_side(z, y, mu, rho, q, right)
    try:
        solve = operator.shifted(rho)
    except Singular:
        return watch.best
    next_change = CHECK_EVERY
    for k in range(1, iterations + 1):
        x = solve(right.ravel()).reshape(z.shape)
        primal, dual, size, size_y = update(x, z, y, mu, alpha, rho, q, right)
        watch.iterations += 1
        if k % CHECK_EVERY and k < iterations:
            continue
        if watch.judge(z) or not math.isfinite(primal):
            break
        if adaptive and k >= next_change and min(primal, dual, size, size_y) > 0.0:
            ratio = math.sqrt(math.sqrt(primal / size) / math.sqrt(dual / size_y))
            if ratio > 3.0 or ratio < 1.0 / 3.0:
                old, rho = rho, rho * min(max(ratio, 0.05), 20.0)
                y *= old / rho
                right_hand_side(z, y, mu, rho, q, right)
                try:
                    solve = operator.shifted(rho)
                except Singular:
                    break
                next_change = k + max(10, int(0.3 * k))
    return watch.best
