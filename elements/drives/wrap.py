"""Euler-Eytelwein's limit of a belt on two pulleys: what friction on the arcs can hold.

    wrap of pulley i       β_i = π ± 2 asin(κ/a)                                                                  (1)
    no slip                T_1/T_2 ≤ e^E ,   E = min_i μ_i β_i                                                    (2)
    grip                   u = |T_1 − T_2| / ((T_1 + T_2) tanh(E/2)) ≤ 1                                          (3)

κ = |r_1 ∓ r_2| as in `drives.spans`, a the centre distance. In (1) the upper sign is that of the larger pulley of an
open belt and of both pulleys of a crossed one. The pulley with the smaller μβ slips. (3) is (2), as the part that is
used of the force that the belt can transmit with the sum of its tensions.

Source: docs/theory/gears_and_belts.md, (18), (19), (22); textbook (Euler, Eytelwein).

    symbol   code     shape   unit   meaning
    μ_i      p.mu     (2,)    -      coefficients of the two pulleys
    β_i      p.wrap   (2,)    rad    where it is given; 0: (1)
    ±        p.lean   (2,)    -      sign in (1)
"""

import math
from typing import Any

import numpy as np

from fem_mbs.element.base import Element
from fem_mbs.jit import kernel

WRAP: list[tuple] = [("mu", "f8", (2,)), ("wrap", "f8", (2,)), ("lean", "f8", (2,))]


@kernel
def exponent(p, a):
    """E of (2) at the centre distance a [m]."""
    least = np.inf
    for i in range(2):
        wrap = p.wrap[i]
        if wrap == 0.0:
            wrap = math.pi + 2.0 * p.lean[i] * math.asin(min(p.kappa / a, 1.0))
        least = min(least, p.mu[i] * wrap)
    return least


@kernel
def exponent_slope(p, a):
    """∂E/∂a of (2) [1/m]."""
    least = exponent(p, a)
    for i in range(2):
        if p.wrap[i] == 0.0 and p.kappa < a:
            wrap = math.pi + 2.0 * p.lean[i] * math.asin(p.kappa / a)
            if p.mu[i] * wrap == least:
                return -2.0 * p.mu[i] * p.lean[i] * p.kappa / (a * math.sqrt(a * a - p.kappa * p.kappa))
    return 0.0


@kernel
def grip(p, a, T_1, T_2):
    """u of (3); 0 without tension."""
    total = T_1 + T_2
    return abs(T_1 - T_2) / (total * math.tanh(0.5 * exponent(p, a))) if total > 0.0 else 0.0


def leans(radii: np.ndarray, crossed: bool) -> tuple[float, float]:
    """Signs (2,) of (1)."""
    if crossed:
        return 1.0, 1.0
    return (-1.0, 1.0) if radii[0] < radii[1] else (1.0, -1.0)


def wraps(radii: np.ndarray, crossed: bool, distance: float) -> np.ndarray:
    """Angles of wrap (2,) [rad] of (1)."""
    kappa = radii.sum() if crossed else abs(radii[0] - radii[1])
    return math.pi + 2.0 * np.array(leans(radii, crossed)) * math.asin(kappa / distance)


def given_wrap(owner: Element, wrap: Any) -> np.ndarray:
    """Angles (2,) of the argument ``wrap``: a number for both pulleys, one for each, or None, which are zeros."""
    if wrap is None:
        return np.zeros(2)
    both = np.broadcast_to(owner.as_array("wrap", wrap, (), (2,)), 2).astype(float)
    owner.check((both > 0.0).all(), "wrap", wrap, "rad must be positive")
    owner.check((both < 50.0).all(), "wrap", wrap, "is in rad, and would be more than 8 turns: is it in degrees?")
    return both
