"""Largest frequency of a model, which limits the step of a scheme without numerical damping.

A spring of circular frequency ω is stable for h ω below 2, 2√2, 3.11 with two, three, four stages. The largest ω of the
motions x that the joints allow is found by power iteration:

    [ M  −Gᵀ ; −G  −ε ] (x⁺, ·) = (K x, 0) ,   ω² ← xᵀKx / xᵀMx                                                   (1)

Source: docs/theory/lobatto.md, (15).
"""

import numpy as np
from scipy.sparse import bmat, eye_array
from scipy.sparse.linalg import splu

from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.state import State

ITERATIONS = 60
MARGIN = 1.02  # the iteration ends below the largest frequency
SHIFT = 1e-8  # ε, times the mean mass's inverse: redundant constraints


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
