"""Cubic impact: the course of an impact of which only the impulse and the speeds before and after are known.

τ = t/T in [0, 1], approach speed δ̇_i, restitution e, impulse Λ. The rate of indentation is a cubic in a warped time g,
the warp being straight up to τ = k and straight after it:

    δ̇/δ̇_i = 1 − 3 (1 + e) g² + 2 (1 + e) g³                 δ̇(0) = δ̇_i, δ̇(1) = −e δ̇_i, no acceleration at the end (1)
    g = b τ/k  (τ ≤ k),   g = b + (1 − b)(τ − k)/(1 − k)  (τ > k)                                                 (2)
    k = α e/(1 + α e),   α = 1.7                                                                                  (3)
    b³ − (k + 1) b² + (k − 1) b + k + (1 − e)/(1 + e) = 0    from δ(1) = 0                                        (4)

The indentation δ = T δ̇_i δ̄(τ) follows by integration, in closed form. (4) falls from a positive value at b = 0 to a
negative one at b = 1 and has no other root between. With F = K δⁿ (1 + χ δ̇/δ̇_i) the damping does not contribute to
the impulse, because δⁿ δ̇ integrates to zero, and the impulse gives the duration:

    I = ∫₀¹ δ̄ⁿ dτ ,   T = (Λ/(K δ̇_iⁿ I))^(1/(n+1))                                                               (5)
    energy lost to the law: ∮ F dδ = χ Λ δ̇_i ∫₀¹ δ̄ⁿ (δ̇/δ̇_i)² dτ/I                                                (6)

T and the largest indentation do not depend on the damping, the force does. For another force law F(δ, δ̇) the duration
is the root of ∫ F dt = Λ. δ̄ is largest where (1) vanishes: g = ½ + cos((arccos(−(1 − e)/(1 + e)) + 4π)/3).

Source: docs/theory/force_recovery.md, (6)-(10); Sanchez2025 annex C, (C.28)-(C.39). The sign before the fraction of (4)
is printed as minus: then δ(1) = 0 only for e = 1; with plus the integral of (1) vanishes for every e (tested). b = a k
of the source. α was chosen there after tests; n = 1 and n = 10/9 keep it.

    symbol   code    unit   meaning
    b, k     b, k    -      g and τ at the knot of the warp
    δ̄        shape   -      δ/(T δ̇_i)
    δ̇/δ̇_i    rate    -
"""

from collections.abc import Callable

import numpy as np

from fem_mbs.arguments.checked import ArrayLike

ALPHA = 1.7
_X, _W = np.polynomial.legendre.leggauss(64)
_X, _W = 0.5 * (_X + 1), 0.5 * _W  # on [0, 1]
CHUNK = 4000  # impacts at a time: arrays of 128 or 401 numbers for each


def warp(e: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Knot (k, b) of the warp (2) for restitutions e (m,) > 0, by (3) and by bisection of (4)."""
    e = np.asarray(e, float)
    k = ALPHA * e / (1 + ALPHA * e)
    rest = k + (1 - e) / (1 + e)
    low, high = np.zeros_like(e), np.ones_like(e)
    for _ in range(60):
        b = 0.5 * (low + high)
        above = ((b - (k + 1)) * b + (k - 1)) * b + rest > 0
        low, high = np.where(above, b, low), np.where(above, high, b)
    return k, 0.5 * (low + high)


def course(tau: ArrayLike, e: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """δ̄ and δ̇/δ̇_i, both (m, s), at times tau (s,) or (m, s) for restitutions e (m,)."""
    e = np.asarray(e, float)[:, None]
    k, b = warp(e)
    tau = np.broadcast_to(tau, np.broadcast_shapes(np.shape(tau), e.shape))
    slope_1, slope_2 = b / k, (1 - b) / (1 - k)
    late = tau > k
    g = np.where(late, b + slope_2 * (tau - k), slope_1 * tau)
    rate = 1 + (1 + e) * g**2 * (2 * g - 3)

    def area(g):  # ∫ (rate − 1) dg
        return (1 + e) * g**3 * (0.5 * g - 1)

    shape = tau + np.where(late, area(b) / slope_1 + (area(g) - area(b)) / slope_2, area(g) / slope_1)
    # δ̄(1) is zero up to round-off, of either sign: no power of a negative number
    return np.maximum(shape, 0.0), rate


def deepest(e: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Largest δ̄ (m,) and the τ (m,) at which it is reached."""
    e = np.asarray(e, float)
    k, b = warp(e)
    g = 0.5 + np.cos((np.arccos(-(1 - e) / (1 + e)) + 4 * np.pi) / 3)
    tau = np.where(g <= b, g * k / b, k + (g - b) * (1 - k) / (1 - b))
    return course(tau[:, None], e)[0][:, 0], tau


def quadrature(e: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights (m, 128) on [0, 1] for integrals of δ̄ⁿ times smooth functions.

    Gauss's rule on either side of the knot, in √τ and √(1 − τ): δ̄ⁿ is not smooth at the ends for fractional n.
    """
    k = warp(e)[0][:, None]
    first, last = k * _X**2, 1 - (1 - k) * _X**2
    return np.hstack([first, last]), np.hstack([2 * k * _X * _W, 2 * (1 - k) * _X * _W])


def integrals(e: ArrayLike, n: float) -> tuple[np.ndarray, np.ndarray]:
    """I (m,) of (5) and ∫ δ̄ⁿ (δ̇/δ̇_i)² dτ (m,) of (6)."""
    tau, weight = quadrature(e)
    shape, rate = course(tau, e)
    powers = weight * shape**n
    return powers.sum(axis=1), (powers * rate**2).sum(axis=1)


def peak(e: ArrayLike, n: float, factor: np.ndarray) -> np.ndarray:
    """Largest δ̄ⁿ (1 + χ δ̇/δ̇_i) (m,): on a grid, refined by a parabola through the three highest points.

    The peak lies before the deepest point (its rate is positive there); the grid covers that part alone.
    """
    at = deepest(e)[1]
    tau = np.linspace(0, 1, 401) * at[:, None]
    shape, rate = course(tau, e)
    values = shape**n * (1 + factor[:, None] * rate)
    i = np.clip(np.argmax(values, axis=1), 1, values.shape[1] - 2)
    rows = np.arange(len(at))
    before, here, after = values[rows, i - 1], values[rows, i], values[rows, i + 1]
    bend = 2 * here - before - after
    refined = here + (after - before) ** 2 / np.where(bend > 0, 8 * bend, np.inf)
    return np.maximum(values.max(axis=1), refined)


def hertz_type(
    impulse: np.ndarray, speed: np.ndarray, e: np.ndarray, factor: np.ndarray, stiffness: float, n: float
) -> np.ndarray:
    """Duration T, largest δ, largest F and loop area (6), each (m,), of impacts with the law K δⁿ (1 + χ δ̇/δ̇_i).

    Parameters
    ----------
    impulse, speed, e, factor : (m,) [N s], [m/s], -, -
    stiffness, n : float [N/mⁿ], -
    """
    parts = []
    for first in range(0, len(impulse), CHUNK):
        Lam, v, r, chi = (a[first : first + CHUNK] for a in (impulse, speed, e, factor))
        I, J = integrals(r, n)
        T = (Lam / (stiffness * v**n * I)) ** (1 / (n + 1))
        parts.append([T, T * v * deepest(r)[0], stiffness * (T * v) ** n * peak(r, n, chi), chi * Lam * v * J / I])
    return np.concatenate(parts, axis=1) if parts else np.zeros((4, 0))


def of_force_law(
    impulse: float, speed: float, e: float, law: Callable, guess: float
) -> tuple[float, float, float, float] | None:
    """The same four numbers of one impact with a `ForceLaw`; ``guess`` [s] is where the search of T begins.

    Returns
    -------
    tuple of four floats, or None if no duration gives the impulse
    """
    from scipy.optimize import brentq

    r = np.array([e])
    tau, weight = (a[0] for a in quadrature(r))
    shape, rate = (a[0] for a in course(tau, r))

    def missing(log_T):
        T = np.exp(log_T)
        return T * (weight @ law(T * speed * shape, speed * rate, speed, e)) / impulse - 1

    low = high = np.log(guess)
    for _ in range(60):
        if missing(low) <= 0:
            break
        low -= 1.0
    for _ in range(60):
        if missing(high) >= 0:
            break
        high += 1.0
    if not (missing(low) <= 0 <= missing(high)):
        return None
    T = np.exp(brentq(missing, low, high, xtol=1e-14, rtol=1e-14))
    shape_f, rate_f = (a[0] for a in course(np.linspace(0, 1, 1001), r))
    force = law(T * speed * shape_f, speed * rate_f, speed, e)
    area = T * (weight @ (law(T * speed * shape, speed * rate, speed, e) * speed * rate))
    return T, T * speed * deepest(r)[0][0], force.max(), area
