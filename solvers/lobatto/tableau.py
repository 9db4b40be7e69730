"""Coefficients of the Lobatto IIIA-IIIB pair with any number of stages.

Nodes c = (1 + x)/2 and weights are those of Lobatto's quadrature with s points, P_k the Legendre polynomials:

    (1 − x²) P'_{s−1}(x) = 0 ,   b_j = 1 / ( s (s − 1) P_{s−1}(x_j)² )                                            (1)
    IIIA  a_ij = ∫_0^{c_i} ℓ_j = b_j Σ_{k<s} P_k(x_j)/γ_k ∫_{−1}^{x_i} P_k : positions, a_1j = 0, a_sj = b_j       (2)
    IIIB  â_ij = b_j − b_j a_ji / b_i :  momenta, â_i1 = b_1, â_is = 0                                            (3)
    γ_k = 2/(2k + 1), γ_{s−1} = 2/(s − 1) ;   (2k + 1) ∫_{−1}^x P_k = P_{k+1} − P_{k−1} ,  ∫_{−1}^x P_0 = x + 1

(2) is the polynomial ℓ_j of collocation in terms of P_k, which the quadrature leaves orthogonal with squares γ_k: no
system of equations, and round-off in all coefficients. The zero column of (3) lets what acts at the last stage leave
all stages alone: the step splits in two problems.

Source: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), II.1.4; docs/theory/lobatto.md.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

# the longest stable step of an oscillator has an error of 5e-13 with 10 stages, 3e-15 with 11, round-off with more
MOST_STAGES = 11


class Tableau(NamedTuple):
    """Coefficients for s stages.

    Attributes
    ----------
    a, a_hat : (s, s) of IIIA and IIIB
    b, c : (s,) weights and parts of the step
    averages : (s, s) P_i(x_j) b_j: weights of the averages of rates, docs/theory/lobatto.md, (13)
    """

    a: np.ndarray
    a_hat: np.ndarray
    b: np.ndarray
    c: np.ndarray
    averages: np.ndarray


def _points(stages: int) -> np.ndarray:
    """Points x (s,) of Lobatto's quadrature on [−1, 1]."""
    slope = legendre.legder(np.eye(stages)[-1])
    inner = np.sort(legendre.legroots(slope))
    inner -= legendre.legval(inner, slope) / legendre.legval(inner, legendre.legder(slope))  # last digits
    x = np.concatenate([[-1.0], inner, [1.0]])
    return 0.5 * (x - x[::-1])


@cache
def tableau(stages: int) -> Tableau:
    """Coefficients of the pair with so many stages, 2 or more. The arrays are shared: copy them to change them."""
    x = _points(stages)
    P = legendre.legvander(x, stages)
    b = 1.0 / (stages * (stages - 1) * P[:, stages - 1] ** 2)
    k = np.arange(stages)
    squares = 2.0 / (2 * k + 1)
    squares[-1] = 2.0 / (stages - 1)
    integrals = np.column_stack([x + 1.0, (P[:, 2:] - P[:, :-2]) / (2 * k[1:] + 1)])
    a = (integrals / squares) @ P[:, :stages].T * b
    a[0], a[-1] = 0.0, b  # exactly
    a_hat = b - b * a.T / b[:, None]
    a_hat[:, -1] = 0.0
    return Tableau(a, a_hat, b, 0.5 * (1.0 + x), P[:, :stages].T * b)
