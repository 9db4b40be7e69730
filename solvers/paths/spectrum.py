"""Number of motions that lower the potential energy: eigenvalues of the tangent on the motions that constraints allow.

    K φ − Gᵀ δμ = κ D φ,   G φ = 0,   D = 1 (displacements), L² (rotations)                                        (1)

An equilibrium is stable where none is negative. Up to `DENSE_LIMIT` unknowns all negative eigenvalues and the next are
computed on a basis of the null space of G. Of larger models the negative ones are counted without computing them: by
Sylvester's law of inertia the pivots of

    [ K   −Gᵀ ]
    [ −G  −ε  ]                                                                                                    (2)

have as many negative signs as K on the null space, and m more; the eigenvalues nearest to zero are found by Lanczos.

Forces without potential (followers, moments of fixed direction) make K unsymmetric. Counted are then the real negative
eigenvalues: an odd number is divergence, and one that passes zero is a limit or a branch point all the same.

Source: docs/theory/load_paths.md, (9), (10); Parlett, The Symmetric Eigenvalue Problem (1998), ch. 3.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fem_mbs.errors import SolverError
from fem_mbs.solvers import eigen

if TYPE_CHECKING:
    from scipy.sparse import csc_array


SOME = 8  # eigenvalues in addition to the negative ones
SMALL_BORDER = 1e-10  # ε of (2), of the flexibility 1/K_ii


class Spectrum(NamedTuple):
    """Eigenvalues about zero.

    Attributes
    ----------
    negative : int, how many are negative
    values, vectors : (k,), (n, k), some neighbours in increasing order, and their motions by columns
    first : int, place of values[0] among all
    symmetric : bool
    """

    negative: int
    values: np.ndarray
    vectors: np.ndarray
    first: int
    symmetric: bool

    def vector(self, place: int) -> np.ndarray | None:
        """Motion of the eigenvalue at a place among all; None where it is not among those computed."""
        k = place - self.first
        return self.vectors[:, k] if 0 <= k < len(self.values) else None


def spectrum(K: "csc_array", D: "csc_array", G: "csc_array", circulatory: bool) -> Spectrum | None:
    """Of K (n, n), D (n, n) diagonal, G (m, n); None where an iteration of a large model did not converge."""
    n, m = K.shape[0], G.shape[0]
    if n <= m:
        return Spectrum(0, np.zeros(0), np.zeros((n, 0)), 0, True)
    symmetric = eigen.symmetric(K, circulatory)
    if n + m <= eigen.DENSE_LIMIT:
        return _dense(0.5 * (K + K.T) if symmetric else K, D, G, symmetric)
    if not symmetric:
        return None
    try:
        values, vectors = eigen.sparse(0.5 * (K + K.T), D, G, min(SOME, n - m - 1), 0.0)
    except SolverError:
        return None
    negative = count_negative(0.5 * (K + K.T), G)
    below = int((values < 0).sum())
    return Spectrum(below if negative is None else negative, values, vectors, max((negative or below) - below, 0), True)


def _dense(K, D, G, symmetric):
    from scipy.linalg import eig, eigh

    Z = eigen.null_space(G)
    k, d = Z.T @ (K @ Z), Z.T @ (D @ Z)
    if symmetric:
        k, d = 0.5 * (k + k.T), 0.5 * (d + d.T)
        wanted = min(SOME, len(k))
        values, vectors = eigh(k, d, subset_by_index=[0, wanted - 1])
        if values[-1] < 0 and wanted < len(k):
            values, vectors = eigh(k, d)
    else:
        values, vectors = eig(k, d)
        real = np.abs(values.imag) <= 1e-9 * np.abs(values)
        order = np.argsort(values[real].real)
        values, vectors = values[real].real[order], vectors[:, real].real[:, order]
    motions = Z @ vectors
    size = np.abs(motions)
    neutral = eigen.NEUTRAL * np.einsum("ik,ik->k", size, abs(K) @ size)
    neutral /= np.maximum(np.einsum("ik,ik->k", size, D @ size), 1e-300)
    return Spectrum(int((values < -neutral).sum()), values, motions, 0, symmetric)


def count_negative(K: "csc_array", G: "csc_array") -> int | None:
    """Negative eigenvalues of a symmetric K (n, n) on the null space of G (m, n), by (2); None: pivots had to move."""
    from scipy.sparse import block_array, eye_array
    from scipy.sparse.linalg import splu

    n, m = K.shape[0], G.shape[0]
    stiffness = np.abs(K.diagonal()).max(initial=0.0) or 1.0
    matrix = K.tocsc()
    if m:
        matrix = block_array([[K, -G.T], [-G, -SMALL_BORDER / stiffness * eye_array(m)]]).tocsc()
    try:
        factors = splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True, "Equil": False}
        )
    except RuntimeError:
        return None
    if not np.array_equal(factors.perm_r, factors.perm_c):
        return None
    right = np.random.default_rng(0).normal(size=n + m)
    if not np.abs(matrix @ factors.solve(right) - right).max() <= 1e-6 * np.abs(right).max():
        return None
    return int((factors.U.diagonal() < 0).sum()) - m
