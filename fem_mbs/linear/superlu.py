"""SuperLU of SciPy: sparse, always there, called back from compiled code.

Columns are ordered by COLAMD, which suits rows of constraints. Where the factors come out much fuller than the matrix,
as those of solids do, they are once made in the order of minimum degree of AᵀA's symmetric counterpart A + Aᵀ with
pivots near the diagonal too; the order with fewer entries stays.
"""

import warnings
from typing import Any

import numpy as np

from fem_mbs.linear.called_back import CalledBack

FULL, LARGE = 6, 1000  # times the entries of the matrix; unknowns: from there on the other order is tried
COLUMNS, SYMMETRIC = 1, 2  # orders
OPTIONS: dict[int, dict[str, Any]] = {
    COLUMNS: {},
    # pivots off the diagonal only below 0.1 % of the largest entry
    SYMMETRIC: {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 1e-3, "options": {"SymmetricMode": True}},
}


class SuperLU(CalledBack):
    """SciPy's sparse LU: always there; called back from compiled code."""

    name = "SuperLU (SciPy)"
    kept = ("order",)

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.factors: Any = None
        self.order = np.zeros(1, np.int64)  # chosen; 0: not yet

    def foreign_bytes(self) -> int:
        """What SuperLU's factors hold: numbers and their rows."""
        return 0 if self.factors is None else 12 * int(self.factors.nnz)

    def _factorise(self, values):
        self.factored = values
        try:
            self.factors = self._factors(values, int(self.order[0]) or COLUMNS)
            if not self.order[0]:
                self._choose(values)
            self.status[0] = 0
        except RuntimeError:  # exactly singular
            self.factors, self.status[0] = None, 1

    def _factors(self, values, order):
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return splu(csc_array((values, self.rows, self.pointers), shape=(self.n, self.n)), **OPTIONS[order])

    def _choose(self, values):
        """Keep the order with fewer entries, and its factors."""
        self.order[0] = COLUMNS
        if self.n < LARGE or self.factors.nnz < FULL * len(self.rows):
            return
        try:
            other = self._factors(values, SYMMETRIC)
        except RuntimeError:
            return
        if other.nnz < self.factors.nnz:
            self.factors, self.order[0] = other, SYMMETRIC

    def _solution(self, right):
        return right if self.factors is None else self.factors.solve(right)
