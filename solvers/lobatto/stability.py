"""Limit of stability of a scheme without numerical damping, and the largest frequency of a model, which meets it.

A step of a spring of circular frequency ω takes (ω q, v) to N(h ω) (ω q, v), with the coefficients of the tableau

    N(z) = I + z [ bᵀ V ; −bᵀ Q ] ,   Q = 1 (1, 0) + z A V ,   V = 1 (0, 1) − z Â Q                                (1)

Q, V (s, 2) the stages. N has the determinant 1, and by symmetry equal diagonal entries: N_11² = 1 + N_12 N_21. It is
stable from z = 0 on up to the first zero of N_12 or N_21. The largest ω of the motions x that the joints allow is found
by power iteration:

    [ M  −Gᵀ ; −G  −ε ] (x⁺, ·) = (K x, 0) ,   ω² ← xᵀKx / xᵀMx                                                   (2)

Source: docs/theory/lobatto.md, (15).
"""

from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import bmat, eye_array
from scipy.sparse.linalg import splu

from fem_mbs.solvers.lobatto.tableau import tableau
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.state import State

ITERATIONS = 60
MARGIN = 1.02  # the iteration ends below the largest frequency
SHIFT = 1e-8  # ε, times the mean mass's inverse: redundant constraints
FIRST, LAST = 0.5, 3.5  # N_12 and −N_21 are near sin z: between these they have one zero at most, and none before


def stability_matrix(stages: int, z: float) -> np.ndarray:
    """N(z) (2, 2) of (1), z = h ω."""
    pair, one = tableau(stages), np.ones((stages, 1))
    system = np.block([[np.eye(stages), -z * pair.a], [z * pair.a_hat, np.eye(stages)]])
    inner = np.linalg.solve(system, np.block([[one, 0 * one], [0 * one, one]]))
    return np.eye(2) + z * np.vstack([pair.b @ inner[stages:], -pair.b @ inner[:stages]])


def _entry(z, stages, i, j):
    return stability_matrix(stages, z)[i, j]


@cache
def stability_limit(stages: int) -> float:
    """Largest h ω [rad] of a spring without damping for which steps are stable."""
    zeros = []
    for entry in ((stages, 0, 1), (stages, 1, 0)):
        if _entry(FIRST, *entry) * _entry(LAST, *entry) < 0.0:
            zeros.append(brentq(_entry, FIRST, LAST, args=entry, xtol=1e-15))
    return min(zeros)


def largest_frequency(system: CompiledSystem, state: State) -> float:
    """Largest circular frequency [rad/s] of small motions about a state, to 2 %; 0 without stiffness."""
    M, _, K, G = system.matrices(state)
    n = system.n
    if n == 0 or not K.nnz or not np.abs(K.data).max():
        return 0.0
    blocks = [[M, -G.T], [-G, -SHIFT / system.mean_mass * eye_array(system.m)]] if system.m else [[M]]
    try:
        factor = splu(bmat(blocks, format="csc"))
    except RuntimeError:  # singular: nodes without mass, which raise an error at the start of a run
        return 0.0
    x, square = np.random.default_rng(1).normal(size=n), 0.0
    right = np.zeros(n + system.m)
    for _ in range(ITERATIONS):
        right[:n] = K @ x
        x = factor.solve(right)[:n]
        size = np.linalg.norm(x)
        if not size > 0.0 or not np.isfinite(size):
            return 0.0
        x /= size
        square = (x @ (K @ x)) / (x @ (M @ x))
    return MARGIN * float(np.sqrt(max(square, 0.0)))
