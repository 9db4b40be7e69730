"""UMFPACK of SuiteSparse, where the system has it: multifrontal, for patterns that fill in (solids, grids of beams).

Its cost is products of dense blocks by the BLAS of the system; KLU, which eliminates entry by entry, is faster only
where factors hardly have more entries than the matrix. The pattern is analysed once, symmetrically and ordered by
METIS, and pivots are chosen anew in each factorisation. UMFPACK is given the entries that are or once were not zero.

Source: measured on the systems of this project (docs/howto/linear_solvers.md).
"""

import ctypes
import ctypes.util
import sys
from typing import Any

import numpy as np

from fem_mbs.jit import address
from fem_mbs.linear.called_back import CalledBack

_STRATEGY, _REFINEMENT, _ORDERING = 5, 7, 10  # places in the control array, the same in all versions since 5.5
_SYMMETRIC, _METIS = 3, 3
_N_CONTROL, _N_INFO = 20, 90
_SINGULAR = 1  # status
_NUMERIC_SIZE, _UNIT = 40, 3  # of the information: units that the factors hold (also in memory), bytes of a unit
_AMD_INFO, _AMD_ENTRIES, _AMD_PRODUCTS = 20, 9, 12


def _load(name):
    """A library of SuiteSparse by its name, or None."""
    for file in (ctypes.util.find_library(name), f"lib{name}.so"):
        if file:
            try:
                return ctypes.CDLL(file)
            except OSError:
                continue
    return None


_libraries: dict[str, Any] = {}


def library(name: str) -> Any:
    """The library "umfpack" or "amd" of the system, or None; looked for once."""
    if name not in _libraries:
        _libraries[name] = _load(name)
    return _libraries[name]


def pointer_to(array: np.ndarray) -> ctypes.c_void_p:
    """Its data, as functions of a library take them."""
    return ctypes.c_void_p(address(array))


def predicted_fill(n: int, pointers: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """Entries of one factor and products of an LU factorisation with diagonal pivots in AMD's order.

    (0, 0) without the library.

    Parameters
    ----------
    n : int
        Number of unknowns.
    pointers, rows : (n + 1,), (nnz,) int32
        Pattern compressed by columns; that of its symmetric part and transpose together counts.
    """
    amd = library("amd")
    if amd is None:
        return 0.0, 0.0
    order, info = np.zeros(n, np.int32), np.zeros(_AMD_INFO)
    amd.amd_order(ctypes.c_int(n), pointer_to(pointers), pointer_to(rows), pointer_to(order), None, pointer_to(info))
    return float(info[_AMD_ENTRIES]), float(info[_AMD_PRODUCTS])


class Handles:
    """What UMFPACK keeps of a matrix: options, the analysis of its pattern and its factors, given back with the object.

    ``numbers`` are "di" (real) or "zi" (complex).
    """

    numbers = "di"
    numeric: Any = None  # address of the factors; None: the constructor has raised

    def prepare(self) -> None:
        """Options, and no analysis yet."""
        self.library = library("umfpack")
        self.control, self.info = np.zeros(_N_CONTROL), np.zeros(_N_INFO)
        self.call("defaults", self.control)
        self.control[_STRATEGY], self.control[_REFINEMENT], self.control[_ORDERING] = _SYMMETRIC, 0, _METIS
        self.symbolic, self.numeric = np.zeros(1, np.int64), np.zeros(1, np.int64)

    def call(self, what: str, *arguments: Any) -> int:
        """Call the function of the library for these numbers; it gets where the data of arrays are."""
        given = [pointer_to(one) if isinstance(one, np.ndarray) else one for one in arguments]
        return getattr(self.library, f"umfpack_{self.numbers}_{what}")(*given)

    def release(self) -> None:
        """Give the factors back."""
        if self.numeric[0]:
            self.call("free_numeric", self.numeric)

    def release_analysis(self) -> None:
        """Give the analysis of the pattern back."""
        if self.symbolic[0]:
            self.call("free_symbolic", self.symbolic)

    def __del__(self):
        if sys is None or sys.is_finalizing():  # the process gives all back
            return
        if self.numeric is not None:
            self.release()
            self.release_analysis()


class UMFPACK(Handles, CalledBack):
    """Multifrontal LU of SuiteSparse, called back from compiled code."""

    name = "UMFPACK (SuiteSparse)"
    kept = ("taken",)

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.prepare()
        self.taken = np.zeros(len(rows), bool)  # entries that UMFPACK is given, of all
        self.used_pointers, self.used_rows, self.values = pointers, rows, np.zeros(0)

    def foreign_bytes(self) -> int:
        """What UMFPACK's factors hold, by its own count."""
        return int(self.info[_NUMERIC_SIZE] * self.info[_UNIT]) if self.numeric[0] else 0

    def _analyse(self):
        """Order the entries that are taken; the order depends on nothing else."""
        self.release()
        self.release_analysis()
        before = np.concatenate([[0], np.cumsum(self.taken)])
        self.used_pointers = before[self.pointers].astype(np.int32)
        self.used_rows = np.ascontiguousarray(self.rows[self.taken])
        n, no_values = ctypes.c_int(self.n), ctypes.c_void_p(0)
        self.call(
            "symbolic", n, n, self.used_pointers, self.used_rows, no_values, self.symbolic, self.control,
            self.info,
        )  # fmt: skip

    def _factorise(self, values):
        self.factored = values
        new = (values != 0.0) & ~self.taken
        if new.any() or not self.symbolic[0]:
            self.taken |= new
            self._analyse()
        self.release()
        self.values = np.ascontiguousarray(values[self.taken])
        status = -1
        if self.symbolic[0]:  # else not even the pattern could be ordered
            status = self.call(
                "numeric", self.used_pointers, self.used_rows, self.values,
                ctypes.c_void_p(int(self.symbolic[0])), self.numeric, self.control, self.info,
            )  # fmt: skip
        if status == _SINGULAR:
            self.release()
        self.status[0] = 0 if status == 0 else 1

    def _solution(self, right):
        solution = np.empty(self.n)
        if self.numeric[0]:
            self.call(
                "solve", 0, self.used_pointers, self.used_rows, self.values, solution, right,
                ctypes.c_void_p(int(self.numeric[0])), self.control, self.info,
            )  # fmt: skip
            return solution
        return right

    def rebuild(self, state: dict[str, Any]) -> None:
        """As of `LinearSolver`."""
        if self.taken.any():
            self._analyse()
        super().rebuild(state)
