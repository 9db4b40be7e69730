"""Factors of a single sparse matrix, for analyses that need no compiled code: modes, statics, reductions.

CHOLMOD where the matrix is symmetric and positive definite, else UMFPACK where it fills in, else SciPy's SuperLU.
"""

from typing import Any

import numpy as np

from fem_mbs.linear.cholesky import SYMMETRIC as ALIKE
from fem_mbs.linear.cholmod import Cholesky, cholmod
from fem_mbs.linear.solvers import fills_in
from fem_mbs.linear.umfpack import UMFPACK, predicted_fill

FEW = 300  # unknowns: any factors are made in 10 ms
EVEN = 1e-11  # pivot over the largest: below, pivots are chosen that lose fewer digits


class _Multifrontal:
    """Factors by UMFPACK, with the ``solve`` of SciPy's."""

    def __init__(self, matrix: Any) -> None:
        self._solver = UMFPACK(matrix.shape[0], matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32))
        if not self._solver.factor(np.ascontiguousarray(matrix.data, float)):
            raise RuntimeError("Factor is exactly singular")  # as SciPy says

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions of right-hand sides (n,) or (n, k)."""
        right = np.asarray(right, float)
        if right.ndim == 1:
            return self._solver.solve(right)
        found = np.empty(right.shape, order="F")
        for k in range(right.shape[1]):
            found[:, k] = self._solver.solve(right[:, k])
        return found


SYMMETRIC: dict[str, Any] = {  # of SuperLU: pivots on the diagonal, the order of A + Aᵀ
    "permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True},
}  # fmt: skip


def factors(matrix: Any, positive: bool = False) -> Any:
    """Factors of a real sparse matrix with a method ``solve(right)``.

    Parameters
    ----------
    matrix : (n, n) sparse
    positive : bool
        It is symmetric and positive definite, which is otherwise found out where it fills in.

    Raises
    ------
    RuntimeError
        The matrix is exactly singular, or not ``positive`` definite; SuperLU and UMFPACK do not find the second.
    """
    from scipy.sparse import csc_array, tril
    from scipy.sparse.linalg import splu

    matrix = csc_array(matrix)
    if positive:
        return positive_factors(tril(matrix, format="csc"))
    matrix.sort_indices()
    if not _fills_in(matrix):
        return splu(matrix)
    return _definite(matrix) or _Multifrontal(matrix)


def positive_factors(lower: Any) -> Any:
    """As `factors` of a positive definite matrix, of which the lower triangle is given: half the memory.

    Parameters
    ----------
    lower : (n, n) sparse, compressed by columns

    Raises
    ------
    RuntimeError
        As `factors`.
    """
    from scipy.sparse import tril
    from scipy.sparse.linalg import splu

    lower.sort_indices()
    if cholmod() is not None:
        return Cholesky(lower)
    whole = (lower + tril(lower, -1).T).tocsc()
    whole.sort_indices()
    return _Multifrontal(whole) if _fills_in(whole) else splu(whole, **SYMMETRIC)


def _fills_in(matrix):
    """True if the factors fill in, so that UMFPACK is faster than SuperLU."""
    n = matrix.shape[0]
    if n <= FEW:
        return False
    return fills_in(n, predicted_fill(n, matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)))


def _definite(matrix):
    """Cholesky factors; None where the matrix is not symmetric, not positive definite, or nearly singular."""
    from scipy.sparse import tril

    diagonal = matrix.diagonal()
    if cholmod() is None or not (diagonal > 0.0).all():
        return None
    apart, root = (matrix - matrix.T).tocoo(), np.sqrt(diagonal)
    if not (np.abs(apart.data) <= ALIKE * root[apart.row] * root[apart.col]).all():  # a load that follows, NaN
        return None
    try:
        found = Cholesky(tril(matrix, format="csc"))
    except RuntimeError:
        return None
    return found if found.evenness > EVEN else None
