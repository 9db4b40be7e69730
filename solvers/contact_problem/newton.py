"""Semismooth Newton with a non-monotone line search, on one of the maps of `contact_problem.cones`.

    repeat:  (A + B (W + λ I)) d = −F(r);   r ← r + a d with a = 1, ½, … 2⁻⁹                                        (1)
             accept when |F(r + a d)| ≤ (1 − 10⁻⁴ a) max of the last 5 |F|

λ enters the matrix only, so the solution is unchanged; it makes redundant contacts solvable. Open contacts have B = 0
and are eliminated. The method converges in about 15 iterations or not at all: several short attempts from different
starts and with different maps beat one long one.

With rolling or spinning the cone is not one of second order (several discs share r_n), so Fischer-Burmeister's map,
which needs the Jordan product of such a cone, is for sliding friction only.

`free_newton` takes full steps. `proximal_newton` solves a sequence of regular problems W + ε I, q − ε r_k.

Source: docs/theory/contact_problems.md, (22).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.contact_problem.cones import alart_curnier, fischer_burmeister, natural_map, relaxed_map
from fem_mbs.solvers.contact_problem.gauss_seidel import sweeper
from fem_mbs.solvers.contact_problem.input import Unsuitable
from fem_mbs.solvers.contact_problem.linear_solves import ACCURATE, Singular

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

MAPS = {"alart_curnier": alart_curnier, "natural": natural_map, "fischer_burmeister": fischer_burmeister}
SMALLEST_SHIFT, LARGEST_SHIFT = 1e-8, 1e-2
SHORTEST = 2.0**-9
MEMORY = 5  # norms that the non-monotone search looks back on
FAILED_SEARCHES = 12
PART, LEAST_ACCURATE = 1e-2, 1e-3  # of what may be left of |F|, and at most: residual of an inexact Newton step
FREE_SHIFT, FREE_PATIENCE, LARGEST_ERROR = 1e-6, 8, 10.0  # Newton without a search
SWEEPS, EASY = 10, 6  # proximal points: Gauss-Seidel sweeps before Newton; iterations of an easy inner problem


def newton(
    problem: "ScaledProblem",
    r: np.ndarray,
    watch: "Watch",
    *,
    iterations: int = 25,
    map: str = "alart_curnier",
    patience: int = 10,
) -> np.ndarray:
    """Iterate (1) from r (nc, d); returns the best iterate of ``watch``.

    Parameters
    ----------
    map : "alart_curnier", "natural" or "fischer_burmeister" (the last for sliding friction only)
    patience : iterations in which |F| must halve; Fischer-Burmeister's map needs about 20
    """
    evaluate, mu = _map(problem, map), problem.friction
    n, d = r.shape
    F, A, B = np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))

    def size_at(r):
        """|F| at r (fills F, A, B), and whether to stop."""
        u = problem.velocity(r)
        stop = watch.judge(r, u)
        evaluate(r, u, mu, F, A, B)
        size = np.linalg.norm(F)
        return (size if np.isfinite(size) else np.inf), stop

    shift, failures, since_half = SMALLEST_SHIFT, 0, 0
    size, stop = size_at(r)
    last, reference = [size], size
    while not stop and watch.iterations < iterations and failures < FAILED_SEARCHES and since_half < patience:
        if size <= 1e-14 * np.sqrt(n):
            break  # rounding
        watch.iterations += 1
        try:
            step = problem.operator.solve(A, B, -F, shift, _accuracy(watch.tol, last[-1], n))
        except Singular:
            shift, failures = max(100 * shift, SMALLEST_SHIFT), failures + 1
            continue
        fraction, best, accepted = 1.0, (np.inf, 0.0), False
        while fraction >= SHORTEST:
            size, stop = size_at(r + fraction * step)
            accepted = size <= (1 - 1e-4 * fraction) * max(last[-MEMORY:])
            if stop or accepted:
                break
            best = min(best, (size, fraction))
            fraction *= 0.5
        if stop:
            break
        if accepted:
            r = r + fraction * step
            if fraction == 1.0:
                shift = max(0.3 * shift, SMALLEST_SHIFT)
        else:
            r = r + best[1] * step
            size, _ = size_at(r)
            shift, failures = min(10 * shift, LARGEST_SHIFT), failures + 1
        last.append(size)
        since_half += 1
        if size <= 0.5 * reference:
            reference, since_half = size, 0
    return watch.best


def free_newton(
    problem: "ScaledProblem",
    r: np.ndarray,
    watch: "Watch",
    *,
    iterations: int = 15,
    map: str = "alart_curnier",
    shift: float = FREE_SHIFT,
    patience: int = FREE_PATIENCE,
) -> np.ndarray:
    """Iterate (1) with full steps and a fixed shift from r (nc, d); returns the best iterate of ``watch``.

    Stops when the error has not fallen below its smallest for ``patience`` iterations or exceeds ten. Where a few
    contacts are on the edge of sticking, the exact step changes their state and the error rises a thousandfold before
    it vanishes: a search would reject it. So it is with a kicked wall of 904 contacts, which the search does not finish
    from 1e-8, while full steps do from 8e-7, in five.
    """
    evaluate, mu = _map(problem, map), problem.friction
    n, d = r.shape
    F, A, B = np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))
    smallest, since = np.inf, 0
    for _ in range(iterations + 1):
        u = problem.velocity(r)
        if watch.judge(r, u):
            break
        error = watch.history[-1][1]
        smallest, since = (error, 0) if error < smallest else (smallest, since + 1)
        if since >= patience or not error <= LARGEST_ERROR or watch.iterations >= iterations:
            break
        evaluate(r, u, mu, F, A, B)
        watch.iterations += 1
        try:
            r = r + problem.operator.solve(A, B, -F, shift, _accuracy(watch.tol, np.linalg.norm(F), n))
        except Singular:
            break
    return watch.best


def _accuracy(tol, size, n):
    """Relative residual of a Newton system: 1 % of the permitted remainder of |F|."""
    return min(max(PART * tol * np.sqrt(n) / size, ACCURATE), LEAST_ACCURATE) if size > 0.0 else ACCURATE


def _map(problem, name):
    """Function of a map by its name; ValueError when it is unknown, does not take the cones or W is a product only."""
    if name not in MAPS:
        raise Unsuitable(f"map '{name}' is unknown; choose among {', '.join(MAPS)}")
    if not problem.operator.factors:
        raise Unsuitable("Newton needs W as a matrix, not as a product only")
    if name == "fischer_burmeister" and problem.q.shape[1] != 3:
        raise Unsuitable("Fischer-Burmeister's map takes sliding friction only; with rolling or spinning take "
                         "'alart_curnier' or 'natural'")  # fmt: skip
    if problem.relaxed and name != "natural":
        raise Unsuitable(f"map '{name}' is of Coulomb's law; the relaxed problem has 'natural'")
    return relaxed_map if problem.relaxed else MAPS[name]


def proximal_newton(problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, outer: int = 15) -> np.ndarray:
    """Proximal points: W + ε I and q − ε r_k, each solved by ten sweeps and Newton, from r (nc, d).

    ε falls while the inner problems are easy and rises when one is not solved. Gains one to three digits where Newton
    alone is stuck. Returns the best iterate of ``watch``.
    """
    epsilon, small = 0.1, 1e-7 * np.sqrt(len(r))
    for _ in range(outer):
        before = watch.iterations
        new, size, stop = _regularised(problem, r, watch, epsilon, small)
        if stop:
            break
        if size <= small:
            r = new
            if watch.iterations - before <= EASY:
                epsilon = max(0.3 * epsilon, 1e-7)
        else:
            epsilon = min(4 * epsilon, 1.0)
    return watch.best


def _regularised(problem, center, watch, epsilon, small):
    """Best iterate of one inner problem, its |F|, and whether to stop."""
    operator, mu, (n, d) = problem.operator, problem.friction, center.shape
    r = center.copy()
    improve = sweeper(problem, r, epsilon, problem.q - epsilon * center)
    for k in range(SWEEPS):
        improve(k % 2 == 0)
    F, A, B = np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))

    def size_at(r):
        u = problem.velocity(r)
        stop = watch.judge(r, u)
        alart_curnier(r, u + epsilon * (r - center), mu, F, A, B)
        return np.linalg.norm(F), stop

    size, stop = size_at(r)
    last, best = [size], (size, r)
    for _ in range(15):
        if stop or size <= small:
            break
        watch.iterations += 1
        try:
            step = operator.solve(A, B, -F, epsilon)
        except Singular:
            break
        fraction = 1.0
        while True:
            size, stop = size_at(r + fraction * step)
            if stop or fraction <= SHORTEST or size <= (1 - 1e-4 * fraction) * max(last[-MEMORY:]):
                break
            fraction *= 0.5
        r = r + fraction * step
        last.append(size)
        if size < best[0]:
            best = size, r
    return best[1], best[0], stop
