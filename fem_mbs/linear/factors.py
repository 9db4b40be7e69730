"""Factors of a single sparse matrix, for analyses that need no compiled code: modes, statics, reductions."""

from typing import Any

import numpy as np

from fem_mbs.linear.factors_cholmod import Cholesky
from fem_mbs.linear.solvers import fills_in
from fem_mbs.linear.umfpack import UMFPACK, library, predicted_fill

FEW = 300  # unknowns: any factors are made in 10 ms


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
        It is symmetric and positive definite: Cholesky factors by CHOLMOD, else SuperLU's with pivots on the diagonal.
        Other matrices get UMFPACK's where they fill in, and SuperLU's where they do not.

    Raises
    ------
    RuntimeError
        The matrix is exactly singular, or not positive definite; SuperLU does not find the second.
    """
    from scipy.sparse import csc_array, tril
    from scipy.sparse.linalg import splu

    matrix = csc_array(matrix)
    if positive:
        return positive_factors(tril(matrix, format="csc"))
    matrix.sort_indices()
    n = matrix.shape[0]
    if n > FEW:
        pointers, rows = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        if fills_in(n, predicted_fill(n, pointers, rows)):
            return _Multifrontal(matrix)
    return splu(matrix)


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
    if library("cholmod") is not None:
        return Cholesky(lower)
    return splu((lower + tril(lower, -1).T).tocsc(), **SYMMETRIC)
