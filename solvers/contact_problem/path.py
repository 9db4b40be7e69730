"""Path of smoothed problems, followed around its turning points: the late attempt at what no iteration solves.

With x = (r_n, r_T/μ)/a and y = a (u_n + γ s, μ u_T), a = (W_nn + μ² tr W_TT)^(-½), every cone is self-dual and a
contact asks K ∋ x ⟂ y ∈ K. It is smoothed by t > 0 (Chen-Harker-Kanzow-Smale, for second-order cones):

    F(r, t) = x − P_t(x − y) = 0,   P_t(z) = Σ ½ (λ_k + (λ_k² + 4 t²)^½) c_k,   z = Σ λ_k c_k                      (1)
    u = W r + q + t (ξ + ε r),   s = μ (|u_T|² + t²)^½,   γ = 1/(1 + t²)                                           (2)

λ_1,2 = z_n ± |z_T| and c_1,2 = ½ (1, ±z_T/|z_T|). For large t De Saxcé's term is small and the problem nearly convex
and regular: one solution, where the path begins. At t = 0 it is Coulomb's. In between the path may turn in t many
times; that is why continuation which only lowers t (interior points, W + ε I, μ) breaks off. So t is an unknown like
r, and the path is followed by its length in (r/L, ln t), with the plane through the predicted point:

    F(r, t) = 0,   τ·(r − r_0, ln t − ln t_0) = σ,   τ = tangent at (r_0, t_0), L = 0.3 |r_0|                      (3)

The orientation of the tangent follows from the sign of det ∂F/∂r: d ln t/dσ changes its sign with it. Comparing with
the last tangent instead goes astray where the path turns within a step of 10⁻⁵: it runs back along itself. The small
random velocities ξ make the path regular (almost every ξ does): without them the path of a symmetric problem, as a
stack of boxes at rest, passes through bifurcations where the sign changes and the path does not turn. ε makes
redundant contacts regular.

A regular path that is followed exactly cannot come back to t = ∞; if it stays bounded it ends in a solution. It stays
bounded where some velocity opens all contacts, Hᵀ v + w in the interior of K*, as with all obstacles at rest: that is
the usual criterion of existence. Steps are finite, so a path may still be lost: then another ξ is tried. Newton
without smoothing is tried from the path each time that the error has fallen to a tenth.

120 slabs of random friction sliding over each other (480 contacts, benchmarks/contact_families.py, seed 2): about
thirty turning points between t = 0.4 and 0.01, with |r| from 12 to 110, then straight to the solution: 1,000 steps of
four to five sparse factorisations in contact space. With ε of 10⁻³ and more that path was lost. Not for tall stacks
with masses over 10⁴ (80 contacts are at 2e-4 after 8 s with ε = 0, at 5e-5 with 10⁻², in steps of 10⁻³), nor for
walls of 900 contacts, where a factorisation takes long.

Source: smoothing: Fukushima, Luo and Tseng 2002; orientation, random ξ: Allgower and Georg, "Numerical continuation
methods"; criterion of existence: docs/theory/contact_problems.md, "The problem"; (26)-(28) there. Combined here.

    symbol  code  shape       meaning
    x, y    x, y  (nc, 3)     impulses and velocities in the self-dual scaling
    t       t     -           smoothing;  ln t is ``level``
    A, B    A, B  (nc, 3, 3)  dF = A dr + B W dr
    ξ, ε    generic, SHIFT    random velocities (nc, 3); diagonal
"""

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fem_mbs.solvers.contact_problem.exact import FullFactors, block_system, contact_matrix
from fem_mbs.solvers.contact_problem.input import Unsuitable
from fem_mbs.solvers.contact_problem.newton import free_newton, newton

if TYPE_CHECKING:
    from scipy.sparse.linalg import SuperLU

    from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
    from fem_mbs.solvers.contact_problem.watch import Watch

START, HIGHEST, LOWEST = 3.0, 1e3, 1e-7  # t: where the path begins, where it is lost, where it ends
FIRST, SHORTEST, LONGEST, SHARP = (
    0.1,
    1e-7,
    2.0,
    1e-3,
)  # lengths σ of a step; below SHARP turns are not resolved further
LENGTH, SMALLEST_LENGTH = 0.3, 1e-3  # L per size of r
CORRECTIONS, ACCURATE = 6, 1e-5  # Newton steps, and |F|/t that is wanted
DEVIATION, TURN = 0.4, 0.7  # most that is corrected per length; least cosine of the angle between two tangents
POLISH_BELOW, POLISH_AGAIN = 1e-2, 0.1  # error for the first Newton, reduction for the next
GENERIC = 0.3  # size of ξ
SHIFT = 1e-5  # ε
FULL = 150  # rows of W up to which full matrices are faster than sparse ones


def smoothed_path(
    problem: "ScaledProblem", r: np.ndarray, watch: "Watch", *, steps: int = 4000, attempts: int = 4
) -> np.ndarray:
    """Follow (3) from its own start; returns the best iterate of ``watch``.

    Parameters
    ----------
    problem : `ScaledProblem` with sliding friction only, W known as a matrix or by bodies
    r : (nc, 3), not used: the start is where the smoothed problem is nearly convex
    steps : largest number of steps along a path
    attempts : paths, each with ξ of its own, that are tried when one is lost

    Raises
    ------
    Unsuitable
        With rolling or spinning, or when W is known by products only.
    """
    if problem.q.shape[1] != 3:
        raise Unsuitable("the path of smoothed problems takes sliding friction only, not rolling or spinning; take "
                         "'hybrid', 'admm' or 'gauss_seidel'")  # fmt: skip
    if problem.relaxed:
        raise Unsuitable("the path of smoothed problems is for Coulomb's law; the relaxed one: take "
                         "'hybrid'")  # fmt: skip
    if not problem.operator.factors:
        raise Unsuitable("the path of smoothed problems needs W as a matrix, not as a product only")
    if watch.judge(np.zeros_like(r)):
        return watch.best
    for seed in range(attempts):
        if _follow(_Path(_Smoothed(problem, seed)), watch, steps) or watch.late():
            break
    return watch.best


def _follow(path, watch, steps):
    """Follow one path; whether it ends in a solution."""
    problem, polish_at = path.smoothed.problem, POLISH_BELOW
    if not path.begin(watch):
        return False
    for _ in range(steps):
        watch.iterations += 1
        if not path.advance(watch) or not math.log(LOWEST) < path.level < math.log(HIGHEST):
            return False
        if watch.judge(problem.project(path.r)):
            return watch.converged
        error = watch.history[-1][1]
        if error <= polish_at:
            polish_at = POLISH_AGAIN * error
            if _polished(problem, path.r, watch):
                return True
    return False


def _polished(problem, r, watch):
    """Newton without smoothing from r; whether that solves the problem."""
    for method, options in ((newton, {}), (newton, {"map": "natural"}), (free_newton, {})):
        stage = type(watch)(problem, watch.tol, watch.deadline)
        method(problem, r, stage, **options)
        if watch.judge(stage.best):
            return True
    return False


class _Smoothed:
    """(1) and (2) of one scaled problem.

    Attributes
    ----------
    W : (3 nc, 3 nc) sparse; full when small
    generic : (nc, 3), ξ
    """

    def __init__(self, problem: "ScaledProblem", seed: int = 0) -> None:
        self.problem = problem
        self.generic = GENERIC * np.random.default_rng(seed).uniform(-1.0, 1.0, problem.q.shape)
        operator, mu = problem.operator, problem.friction[:, 0]
        W = contact_matrix(operator)
        self.W = W.toarray() if W.shape[0] <= FULL else W
        tangential = operator.diagonal[:, 1, 1] + operator.diagonal[:, 2, 2]
        a = np.maximum(operator.diagonal[:, 0, 0] + mu**2 * tangential, 1e-14) ** -0.5
        self.flat = mu == 0.0
        b = np.where(self.flat, a, mu * a)
        self.a, self.slip = a, mu * a
        self.of_r, self.of_u = 1.0 / np.column_stack([a, b, b]), np.column_stack([a, mu * a, mu * a])

    def values(self, r: np.ndarray, t: float, derivatives: bool = True) -> np.ndarray | tuple[np.ndarray, ...]:
        """F (nc, 3); with derivatives also A, B and ∂F/∂t (nc, 3)."""
        u = self.problem.velocity(r) + t * (self.generic + SHIFT * r)
        slide = np.sqrt(u[:, 1] ** 2 + u[:, 2] ** 2 + t * t)
        part = 1.0 / (1.0 + t * t)
        x, y = self.of_r * r, self.of_u * u
        y[:, 0] += part * self.slip * slide
        z = x - y
        z[self.flat, 1:] = 0.0
        size = np.hypot(z[:, 1], z[:, 2])
        e = z[:, 1:] / np.maximum(size, 1e-300)[:, None]
        e[size < 1e-300] = 1.0, 0.0
        high, low = z[:, 0] + size, z[:, 0] - size
        root_high, root_low = np.hypot(high, 2 * t), np.hypot(low, 2 * t)
        p_high, p_low = _smooth_part(high, root_high, t), _smooth_part(low, root_low, t)
        F = x.copy()
        F[:, 0] -= 0.5 * (p_high + p_low)
        F[:, 1:] -= (0.5 * (p_high - p_low))[:, None] * e
        if not derivatives:
            return F
        d_high, d_low = 0.5 * (1.0 + high / root_high), 0.5 * (1.0 + low / root_low)
        turn = np.where(size > 1e-12 * (1.0 + np.abs(z[:, 0])), (p_high - p_low) / np.maximum(2 * size, 1e-300), d_high)
        mean, half = 0.5 * (d_high + d_low), 0.5 * (d_high - d_low)
        along = e[:, :, None] * e[:, None, :]
        DP = np.empty((len(r), 3, 3))
        DP[:, 0, 0] = mean
        DP[:, 0, 1:] = DP[:, 1:, 0] = half[:, None] * e
        DP[:, 1:, 1:] = turn[:, None, None] * (np.eye(2) - along) + mean[:, None, None] * along
        DP[self.flat, 1:, :], DP[self.flat, :, 1:] = 0.0, 0.0
        C = self.of_u[:, :, None] * np.eye(3)
        C[:, 0, 1:] += (part * self.slip / slide)[:, None] * u[:, 1:]
        B = DP @ C
        A = (np.eye(3) - DP) * self.of_r[:, None, :] + t * SHIFT * B
        of_t = DP[:, :, 0] * (self.slip * (part * t / slide - 2 * t * part * part * slide))[:, None]
        of_t += np.einsum("iab,ib->ia", B, self.generic + SHIFT * r)
        g_high, g_low = 2 * t / root_high, 2 * t / root_low
        of_t[:, 0] -= 0.5 * (g_high + g_low)
        of_t[:, 1:] -= (0.5 * (g_high - g_low))[:, None] * np.where(self.flat[:, None], 0.0, e)
        return F, A, B, of_t

    def factors(self, A: np.ndarray, B: np.ndarray) -> "FullFactors | SuperLU":
        """LU of A + B W; RuntimeError when it is exactly singular."""
        return block_system(A, B, self.W)


def _smooth_part(value, root, t):
    """½ (λ + (λ² + 4 t²)^½) without cancellation for λ < 0."""
    return np.where(value >= 0.0, 0.5 * (value + root), 2 * t * t / np.maximum(root - value, 1e-300))


class _Path:
    """A point (r, level = ln t) of the path, its tangent and how far to go next.

    Attributes
    ----------
    tangent : (direction of r/L (nc, 3), direction of level, L), a unit vector; None before the first step
    """

    def __init__(self, smoothed: "_Smoothed") -> None:
        self.smoothed, self.level, self.length = smoothed, math.log(START), FIRST
        self.r = np.zeros_like(smoothed.of_r)
        self.r[:, 0] = START * smoothed.a
        self.tangent, self.orientation = None, 0.0

    def begin(self, watch: "Watch") -> bool:
        """Newton with a line search at the first t; whether it arrives."""
        t = START
        for _ in range(100):
            F, A, B, _ = self.smoothed.values(self.r, t)
            size = np.linalg.norm(F)
            if size <= 1e-9 * math.sqrt(len(F)):
                return True
            if not np.isfinite(size) or watch.late():
                return False
            try:
                step = self.smoothed.factors(A, B).solve(-F.ravel()).reshape(F.shape)
            except RuntimeError:
                return False
            part = 1.0
            while part > 1e-4:
                if np.linalg.norm(self.smoothed.values(self.r + part * step, t, False)) <= (1 - 1e-4 * part) * size:
                    break
                part *= 0.5
            self.r = self.r + part * step
        return False

    def advance(self, watch: "Watch") -> bool:
        """Take one step of (3), shorter until it can be corrected and the path does not bend too much; False when
        lost.
        """
        try:
            if self.tangent is None:
                self.tangent = self._tangent(self.r, self.level)
            while self.length > SHORTEST and not watch.late():
                r, level, corrections = self._corrected()
                if corrections is None:
                    self.length *= 0.5
                    continue
                tangent = self._tangent(r, level)
                if self.length > SHARP and self._cosine(tangent) < TURN:
                    self.length *= 0.3
                    continue
                self.r, self.level, self.tangent = r, level, tangent
                if corrections <= 3:
                    self.length = min(1.5 * self.length, LONGEST)
                elif corrections >= CORRECTIONS - 1:
                    self.length *= 0.7
                return True
        except RuntimeError:  # a matrix that is exactly singular
            return False
        return False

    def _tangent(self, r, level):
        """Unit tangent at a point of the path, oriented by the sign of the determinant."""
        t = math.exp(level)
        _, A, B, of_t = self.smoothed.values(r, t)
        factors = self.smoothed.factors(A, B)
        L = LENGTH * max(np.linalg.norm(r), SMALLEST_LENGTH * math.sqrt(len(r)))
        direction = factors.solve(-t * of_t.ravel()).reshape(r.shape) / L
        sign = _sign_of_determinant(factors)
        if self.orientation == 0.0:
            self.orientation = sign
        down = -sign * self.orientation / math.sqrt(np.vdot(direction, direction) + 1.0)
        return down * direction, down, L

    def _cosine(self, tangent):
        """Of the angle between a tangent and the last one, in the lengths of the first."""
        direction, level = self.tangent[0] * (self.tangent[2] / tangent[2]), self.tangent[1]
        size = math.sqrt(np.vdot(direction, direction) + level**2)
        return (np.vdot(tangent[0], direction) + tangent[1] * level) / size

    def _corrected(self):
        """Point (r, level) a step of ``length`` ahead, and the number of corrections; None for it when that fails."""
        direction, down, L = self.tangent
        first_r, first_level = self.r + self.length * L * direction, self.level + self.length * down
        r, level, largest = first_r, first_level, math.inf
        for k in range(CORRECTIONS):
            t = math.exp(level)
            F, A, B, of_t = self.smoothed.values(r, t)
            size = np.linalg.norm(F) / math.sqrt(len(r)) / t
            moved = math.hypot(np.linalg.norm(r - first_r) / L, level - first_level)
            if not size <= largest or (moved > DEVIATION * self.length and self.length > 1e-6):
                break
            if size <= ACCURATE:
                return r, level, k
            largest = 10.0 * size + 1.0 if k == 0 else largest
            factors = self.smoothed.factors(A, B)
            to_r, with_level = factors.solve(np.column_stack([-F.ravel(), -t * of_t.ravel()])).T
            ahead = np.vdot(direction, r - self.r) / L + down * (level - self.level) - self.length
            change = -(ahead + np.dot(direction.ravel(), to_r) / L)
            change /= np.dot(direction.ravel(), with_level) / L + down
            r, level = r + (to_r + change * with_level).reshape(r.shape), level + change
            if not abs(level) < 300.0:
                break
        return r, level, None


def _sign_of_determinant(factors):
    """Sign of det A from its factors; SuperLU's: those of the pivots and of the two permutations."""
    if isinstance(factors, FullFactors):
        return factors.sign()
    return np.sign(factors.U.diagonal()).prod() * _parity(factors.perm_r) * _parity(factors.perm_c)


def _parity(permutation):
    """1 for an even permutation, −1 for an odd one: elements less cycles."""
    n = len(permutation)
    graph = sp.csr_array((np.ones(n), (np.arange(n), permutation)), shape=(n, n))
    return 1 - 2 * ((n - connected_components(graph, directed=False, return_labels=False)) % 2)
