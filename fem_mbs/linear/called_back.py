"""Linear solvers whose factorisation and solution are Python functions, called back from compiled code.

A call back costs some microseconds: for libraries whose factorisations take much longer.
"""

import ctypes
from typing import Any

import numpy as np

from fem_mbs.jit import callback_address, python_callback
from fem_mbs.linear.base import LinearSolver


class CalledBack(LinearSolver):
    """A solver of two functions of its own, ``_factorise(values)`` and ``_solution(right)``.

    ``_factorise`` sets the status, and keeps the values that it was given in ``factored``: the factors are made again
    of them.
    """

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.factored = np.zeros(0)
        self._factor_callback = python_callback(self._factor)
        self._solve_callback = python_callback(self._solve)
        self.context_address = 0
        self.factor_address = callback_address(self._factor_callback)
        self.solve_address = callback_address(self._solve_callback)

    def _factorise(self, values: np.ndarray) -> None:
        """Factorise the matrix with these values (nnz,) of its pattern."""
        raise NotImplementedError(f"{type(self).__name__} does not define _factorise(self, values)")

    def _solution(self, right: np.ndarray) -> np.ndarray:
        """Return the solution (n,) for a right-hand side (n,)."""
        raise NotImplementedError(f"{type(self).__name__} does not define _solution(self, right)")

    def _array(self, at, count):
        return np.ctypeslib.as_array((ctypes.c_double * count).from_address(at))

    def _factor(self, _, values_at):
        self._factorise(self._array(values_at, len(self.rows)).copy())

    def _solve(self, _, right_at):
        right = self._array(right_at, self.n)
        right[:] = self._solution(right.copy())

    def get_state(self) -> dict[str, Any]:
        """As of `LinearSolver`."""
        return super().get_state() | {"factored": self.factored.copy()}

    def rebuild(self, state: dict[str, Any]) -> None:
        """As of `LinearSolver`."""
        if len(state["factored"]) not in (0, len(self.rows)):
            raise ValueError(f"a matrix with {len(self.rows)} entries has no factors of {len(state['factored'])}")
        if len(state["factored"]):
            self._factorise(state["factored"].copy())
