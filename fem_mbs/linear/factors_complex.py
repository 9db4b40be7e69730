"""Factors of complex matrices that have one pattern: harmonic responses at one frequency after the other.

UMFPACK where the pattern fills in, analysed once, else SciPy's SuperLU. A matrix without imaginary parts has real
factors, a third of the time.
"""

import ctypes
from typing import Any

import numpy as np

from fem_mbs.linear.factors import FEW
from fem_mbs.linear.solvers import fills_in
from fem_mbs.linear.umfpack import UMFPACK, Handles, library, predicted_fill

ACCURATE = 1e-6  # what a solution may change by when it is refined
_NOTHING = ctypes.c_void_p(0)


class _Complex(Handles):
    """UMFPACK of complex numbers, real and imaginary parts one after the other."""

    numbers = "zi"

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        self.n, self.pointers, self.rows, self.values = n, pointers, rows, np.zeros(0, complex)
        self.prepare()
        self.call(
            "symbolic", ctypes.c_int(n), ctypes.c_int(n), pointers, rows, _NOTHING, _NOTHING, self.symbolic,
            self.control, self.info,
        )  # fmt: skip

    def factor(self, values: np.ndarray) -> bool:
        """Factors of the matrix with these values (nnz,); False when it is singular."""
        self.release()
        self.values = np.ascontiguousarray(values, complex)
        if not self.symbolic[0]:
            return False
        status = self.call(
            "numeric", self.pointers, self.rows, self.values, _NOTHING, ctypes.c_void_p(int(self.symbolic[0])),
            self.numeric, self.control, self.info,
        )  # fmt: skip
        if status != 0:
            self.release()
        return status == 0

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solution (n,) for a right-hand side (n,)."""
        right, found = np.ascontiguousarray(right, complex), np.empty(self.n, complex)
        self.call(
            "solve", 0, self.pointers, self.rows, self.values, _NOTHING, found, _NOTHING, right, _NOTHING,
            ctypes.c_void_p(int(self.numeric[0])), self.control, self.info,
        )  # fmt: skip
        return found


class Responses:
    """Solutions with sums Σ c_k A_k of real matrices, c_k complex.

    Parameters
    ----------
    matrices : list of (n, n) sparse, columns compressed
    """

    def __init__(self, matrices: list[Any]) -> None:
        from scipy.sparse import csc_array, eye_array

        n = self.n = matrices[0].shape[0]
        present = (csc_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape) for A in matrices)
        pattern = csc_array(sum(present, eye_array(n, format="csc")))
        pattern.sort_indices()
        self.pointers, self.rows = pattern.indptr.astype(np.int32), pattern.indices.astype(np.int32)
        places = np.repeat(np.arange(n, dtype=np.int64), np.diff(self.pointers)) * n + self.rows
        self.values = np.zeros((len(matrices), len(places)))
        for of, A in zip(self.values, matrices):
            A = A.tocoo()
            np.add.at(of, np.searchsorted(places, A.col.astype(np.int64) * n + A.row), A.data)
        filled = n > FEW and fills_in(n, predicted_fill(n, self.pointers, self.rows))
        self.multifrontal = filled and hasattr(library("umfpack"), "umfpack_zi_numeric")
        self.solvers: dict[str, Any] = {}

    def solve(self, factors: list[complex], right: np.ndarray) -> np.ndarray | None:
        """Solutions (n, k) for right-hand sides (n, k); None where the matrix is singular to round-off."""
        from scipy.sparse import csc_array

        values = np.asarray(factors) @ self.values
        if not values.imag.any():
            values = np.ascontiguousarray(values.real)
        A = csc_array((values, self.rows, self.pointers), shape=(self.n, self.n))
        solver = self._multifrontal(values) if self.multifrontal else self._sparse(A)
        if solver is None:
            return None
        found = solver(right)
        better = solver(right - A @ found)  # of a singular matrix as large as what was found
        size = np.abs(found).max(axis=0)
        if not (np.abs(better).max(axis=0) <= ACCURATE * size).all():
            return None
        return found + better

    def _multifrontal(self, values):
        key = values.dtype.kind
        if key not in self.solvers:
            self.solvers[key] = (_Complex if key == "c" else UMFPACK)(self.n, self.pointers, self.rows)
        solver = self.solvers[key]
        if not solver.factor(values):
            return None

        def solve(right):
            if key == "f" and np.iscomplexobj(right):
                return solve(right.real) + 1j * solve(right.imag)
            return np.stack([solver.solve(np.ascontiguousarray(column)) for column in right.T], axis=1)

        return solve

    @staticmethod
    def _sparse(A):
        from scipy.sparse.linalg import splu

        try:
            factors = splu(A)
        except RuntimeError:
            return None
        return lambda right: factors.solve(np.asarray(right, A.dtype))
