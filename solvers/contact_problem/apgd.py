"""Accelerated projected gradients (Nesterov) on the convex problem with s frozen, De Saxcé's term outside.

    inner   x = P_K(y − (W y + q + s n)/L),   y = x + β (x − x_old),   restart when (W y + q + s n)·(x − x_old) > 0  (1)
    outer   s = Σ μ_k |u_k| when the convex error has fallen to a tenth of Coulomb's

Needs only products with W: the method for problems too large to factorise, good to about 1e-5 there.

Source: docs/theory/contact_problems.md, (21); Mazhar et al. 2015.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

CHECK_EVERY = 10  # inner iterations between two tests of the error
MARGIN = 1.02  # on the norm of W, which power iteration finds from below
INNER = 200  # largest number of inner iterations


def apgd(problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, iterations: int = 5000) -> np.ndarray:
    """Iterate (1) from r (nc, d); returns the best iterate of ``watch``."""
    step = 1.0 / (MARGIN * problem.operator.norm())
    while watch.iterations < iterations:
        u = problem.velocity(r)
        s = problem.saxce(u)
        r, stop = _convex(problem, r, s, step, watch, min(INNER, iterations - watch.iterations))
        if stop:
            break
    return watch.best


def _convex(problem, x, s, step, watch, iterations):
    """Inner loop of (1); returns the iterate and whether to stop."""
    y, theta = x, 1.0
    for k in range(1, iterations + 1):
        gradient = problem.velocity(y)
        gradient[:, 0] += s
        new = problem.project(y - step * gradient)
        watch.iterations += 1
        moved = new - x
        following = 0.5 * theta * (math.sqrt(theta * theta + 4.0) - theta)
        if np.vdot(gradient, moved) > 0.0:
            y, theta = new, 1.0
        else:
            y, theta = new + theta * (1.0 - theta) / (theta * theta + following) * moved, following
        x = new
        if k % CHECK_EVERY == 0 or k == iterations:
            u = problem.velocity(x)
            convex, _ = problem.error(x, u, s)
            if watch.judge(x, u):
                return x, True
            if convex < 0.1 * watch.history[-1][1]:
                break
    return x, False
