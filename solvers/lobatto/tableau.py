"""Coefficients of the Lobatto IIIA-IIIB pairs with two, three and four stages.

    IIIA  a_ij: positions,    a_1j = 0,  a_sj = b_j                                                               (1)
    IIIB  â_ij = b_j − b_j a_ji / b_i: momenta,  â_i1 = b_1,  â_is = 0                                            (2)

The zero column of (2) lets what acts at the last stage leave all stages alone: the step splits in two problems.

Source: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), II.1.4 and table II.1.1; docs/theory/lobatto.md.
"""

from typing import NamedTuple

import numpy as np

_ROOT = np.sqrt(5.0)
NODES = {2: [0.0, 1.0], 3: [0.0, 0.5, 1.0], 4: [0.0, (5 - _ROOT) / 10, (5 + _ROOT) / 10, 1.0]}
WEIGHTS = {2: [1 / 2, 1 / 2], 3: [1 / 6, 2 / 3, 1 / 6], 4: [1 / 12, 5 / 12, 5 / 12, 1 / 12]}
_A = {
    2: [[0, 0], [1 / 2, 1 / 2]],
    3: [[0, 0, 0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]],
    4: [
        [0, 0, 0, 0],
        [(11 + _ROOT) / 120, (25 - _ROOT) / 120, (25 - 13 * _ROOT) / 120, (-1 + _ROOT) / 120],
        [(11 - _ROOT) / 120, (25 + 13 * _ROOT) / 120, (25 + _ROOT) / 120, (-1 - _ROOT) / 120],
        [1 / 12, 5 / 12, 5 / 12, 1 / 12],
    ],
}
# largest h ω of a spring without damping for which steps are stable (docs/theory/lobatto.md, (15)): 2, 2√2, measured
LIMITS = {2: 2.0, 3: 2.828, 4: 3.113}


class Tableau(NamedTuple):
    """Coefficients for s stages.

    Attributes
    ----------
    a, a_hat : (s, s) of IIIA and IIIB
    b, c : (s,) weights and parts of the step
    """

    a: np.ndarray
    a_hat: np.ndarray
    b: np.ndarray
    c: np.ndarray


def tableau(stages: int) -> Tableau:
    """Coefficients of the pair with so many stages, 2, 3 or 4."""
    a, b, c = np.array(_A[stages], float), np.array(WEIGHTS[stages]), np.array(NODES[stages])
    a_hat = b - b * a.T / b[:, None]
    a_hat[:, -1] = 0.0  # exactly
    return Tableau(a, a_hat, b, c)
