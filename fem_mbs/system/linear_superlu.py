"""SuperLU of SciPy: sparse, always there, called back from compiled code."""

import ctypes
import warnings
from typing import Any

import numpy as np

from fem_mbs.jit import callback_address, python_callback
from fem_mbs.system.linear_base import LinearSolver


class SuperLU(LinearSolver):
    """SciPy's sparse LU: always there; called back from compiled code."""

    name = "SuperLU (SciPy)"

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.factors, self.factored = None, np.zeros(0)  # and the values that they are of
        self._factor_callback = python_callback(self._factor)
        self._solve_callback = python_callback(self._solve)
        self.context_address = 0
        self.factor_address = callback_address(self._factor_callback)
        self.solve_address = callback_address(self._solve_callback)

    def foreign_bytes(self) -> int:
        """What SuperLU's factors hold: numbers and their rows."""
        return 0 if self.factors is None else 12 * int(self.factors.nnz)

    def _array(self, at, count):
        return np.ctypeslib.as_array((ctypes.c_double * count).from_address(at))

    def _factor(self, _, values_at):
        self._factorise(self._array(values_at, len(self.rows)).copy())

    def _factorise(self, values):
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        self.factored = values
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.factors = splu(csc_array((values, self.rows, self.pointers), shape=(self.n, self.n)))
            self.status[0] = 0
        except RuntimeError:  # exactly singular
            self.factors, self.status[0] = None, 1

    def get_state(self) -> dict[str, Any]:
        """As of `LinearSolver`."""
        return super().get_state() | {"factored": self.factored.copy()}

    def set_state(self, state: dict[str, Any]) -> None:
        """As of `LinearSolver`."""
        super().set_state(state)
        if len(state["factored"]) not in (0, len(self.rows)):
            raise ValueError(f"a matrix with {len(self.rows)} entries has no factors of {len(state['factored'])}")
        if len(state["factored"]):
            self._factorise(state["factored"].copy())

    def _solve(self, _, right_at):
        if self.factors is not None:
            right = self._array(right_at, self.n)
            right[:] = self.factors.solve(right.copy())
