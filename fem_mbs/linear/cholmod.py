"""CHOLMOD of SuiteSparse by scikit-sparse, where it is installed: supernodal Cholesky of positive definite matrices.

It holds one triangle where LU factors are two, in half the time. AMD orders, or METIS where that leaves less fill.

Source: measured on the systems of this project (docs/howto/linear_solvers.md).
"""

from typing import Any

import numpy as np

_module: Any = False  # of scikit-sparse; None: not installed, False: not looked for yet


def cholmod() -> Any:
    """The module ``sksparse.cholmod``, or None; looked for once."""
    global _module
    if _module is False:
        try:
            from sksparse import cholmod as _module
        except ImportError:
            _module = None
    return _module


class Cholesky:
    """Factors of a symmetric positive definite matrix (n, n).

    Parameters
    ----------
    matrix : (n, n) sparse
        Its lower triangle, in columns that are compressed and sorted.

    Attributes
    ----------
    evenness : float
        The least pivot over the largest: round-off where the matrix is singular but for that.

    Raises
    ------
    RuntimeError
        It is not positive definite, or the factors do not fit into the memory.
    """

    evenness: float

    def __init__(self, matrix: Any) -> None:
        self.n = matrix.shape[0]
        self._factor = self._of(cholmod().analyze, matrix)
        self.factor(matrix)

    def factor(self, matrix: Any) -> None:
        """Factors of another matrix with the same pattern, in place of those that there are.

        Raises
        ------
        RuntimeError
            As of the class.
        """
        self._of(self._factor.cholesky_inplace, matrix)
        pivots = self._factor.D()
        if not (pivots > 0.0).all():  # few entries are eliminated one by one, and nothing stops at such a pivot
            raise RuntimeError(f"the matrix is not positive definite, in column {np.argmin(pivots > 0.0)} of the order")
        self.evenness = float(pivots.min() / pivots.max())

    def _of(self, work, matrix):
        """What the library makes of a matrix, with its errors as those of the class."""
        from scipy.sparse import csc_array

        numbers = (matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int32, copy=False))
        library = cholmod()
        try:
            return work(csc_array((matrix.data, *numbers), shape=matrix.shape))
        except library.CholmodNotPositiveDefiniteError as error:
            message = f"the matrix is not positive definite, in column {error.column} of the order"
            raise RuntimeError(message) from error
        except (library.CholmodOutOfMemoryError, library.CholmodTooLargeError) as error:
            raise RuntimeError(f"the factors of {self.n} unknowns do not fit into the memory") from error

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions of right-hand sides (n,) or (n, k)."""
        return self._factor(right)
