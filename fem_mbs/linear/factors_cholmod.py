"""CHOLMOD of SuiteSparse, where the system has it: supernodal Cholesky of large positive definite matrices.

It holds one triangle where LU factors are two, in half the time. AMD orders, or METIS where that leaves less fill; for
many unknowns also METIS with more effort. Wide dense columns are held in panels.
"""

import ctypes
from typing import Any

import numpy as np

from fem_mbs.jit import address
from fem_mbs.linear.metis import nested_dissection
from fem_mbs.linear.panels import panels, workspaces
from fem_mbs.linear.umfpack import library

_COMMON_BYTES = 1 << 14  # the workspace of the library is about 3 kB in all versions
_MINOR_AT = 1  # of the size_t at the beginning of a factor: n, and the first column that is not positive
_NZMAX_AT, _NSUPER_AT, _SSIZE_AT, _XSIZE_AT = 5, 13, 14, 15  # of the same: entries, supernodes, their rows and numbers
_MAXCSIZE_AT, _MAXESIZE_AT = 16, 17  # of the same: workspaces
_SUPER_AT, _PI_AT, _PX_AT, _S_AT = 18, 19, 20, 21  # of the same: arrays of the supernodes, as in `panels`
_LOWER, _REAL, _DOUBLE, _INT = -1, 1, 0, 0
_POINTER = ctypes.c_void_p
_RELAXED = (0.8, 0.1, 0.05), (4, 16, 48)  # of the library: zeros in dense columns, and how many columns may have them
_LOOSE = (0.8, 0.3, 0.15), (8, 32, 96)  # a third less time with a fifth more memory, up to 20,000 unknowns
_TIGHT = (0.3, 0.05, 0.02), (4, 16, 48)  # 3 % less memory in the same time, from 40,000 unknowns on
_PANEL = 512  # columns: 12 % less memory for the factors of a block of 10⁵ Tetra10
_DEFAULTS = np.array([0, 1, 0, 0, 3, 0, 0, -1, -1, -1, 0, 0, 0])  # that follow _RELAXED, with any address of a function
_METHODS_AT = 10  # among them: how many orders are tried, 0 for two that it finds and the given one
MANY = 30_000  # unknowns, from which on an order that takes seconds pays
_PRINTF = 4  # of the functions in ``SuiteSparse_config``


class _Sparse(ctypes.Structure):
    """``cholmod_sparse``, the same in versions 1 to 5."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("nrow", "ncol", "nzmax")]
    _fields_ += [(name, _POINTER) for name in ("p", "i", "nz", "x", "z")]
    _fields_ += [(name, ctypes.c_int) for name in ("stype", "itype", "xtype", "dtype", "sorted", "packed")]


class _Dense(ctypes.Structure):
    """``cholmod_dense``, the same in versions 1 to 5."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("nrow", "ncol", "nzmax", "d")]
    _fields_ += [("x", _POINTER), ("z", _POINTER), ("xtype", ctypes.c_int), ("dtype", ctypes.c_int)]


def _silence():
    """Let CHOLMOD print nothing: what it has to say comes as an error."""
    config = library("suitesparseconfig")
    if config is None:
        return
    if hasattr(config, "SuiteSparse_config_printf_func_set"):  # since version 6
        config.SuiteSparse_config_printf_func_set(_POINTER(0))
    else:
        (_POINTER * 7).in_dll(config, "SuiteSparse_config")[_PRINTF] = None


def _integers(at, length):
    """The array of int32 at an address."""
    return np.frombuffer((ctypes.c_int * length).from_address(at), np.int32)


class Cholesky:
    """Factors of a symmetric positive definite matrix (n, n).

    Parameters
    ----------
    matrix : (n, n) sparse
        Its lower triangle, in columns that are compressed and sorted.
    often : bool
        It is factorised many times, and sometimes analysed anew: less time for more memory.

    Raises
    ------
    RuntimeError
        It is not positive definite, or the factors do not fit into the memory.
    """

    _at: Any = None  # of CHOLMOD's record; None: the constructor has raised

    def __init__(self, matrix: Any, often: bool = False) -> None:
        self._factor = _POINTER()
        self._library = cholmod = library("cholmod")
        cholmod.cholmod_analyze_p.restype = _POINTER
        cholmod.cholmod_solve.restype = ctypes.POINTER(_Dense)
        self.n = n = matrix.shape[0]
        self._common = np.zeros(_COMMON_BYTES, np.uint8)
        at = self._at = _POINTER(address(self._common))
        A, arrays = self._sparse(matrix)
        _silence()
        cholmod.cholmod_start(at)
        place = self._relax(*(_LOOSE if often else _TIGHT))
        order = nested_dissection(matrix) if n > MANY and not often else None
        if order is not None and place is not None:
            self._order_given(place)
        given = None if order is None else _POINTER(address(order))
        self._factor.value = cholmod.cholmod_analyze_p(ctypes.byref(A), given, None, ctypes.c_size_t(0), at)
        if not self._factor.value:
            raise RuntimeError(f"the factors of {n} unknowns could not be planned: there is not enough memory")
        del arrays
        self._split()
        self.factor(matrix)

    def factor(self, matrix: Any) -> None:
        """Factors of another matrix with the same pattern, in place of those that there are.

        Raises
        ------
        RuntimeError
            As of the class.
        """
        A, arrays = self._sparse(matrix)
        done = self._library.cholmod_factorize(ctypes.byref(A), self._factor, self._at)
        minor = ctypes.cast(self._factor, ctypes.POINTER(ctypes.c_size_t))[_MINOR_AT]
        del arrays
        if minor < self.n:
            raise RuntimeError(f"the matrix is not positive definite, in column {minor} of the order")
        if not done:
            raise RuntimeError(f"the factors of {self.n} unknowns do not fit into the memory")

    def _relax(self, part, number):
        """Set the relaxation of supernodes in CHOLMOD; a library with another record layout keeps its defaults.

        Returns the place of `_RELAXED` in the record, or None.
        """
        zeros, columns = self._common.view(np.float64), self._common.view(np.uint64)
        for at in np.flatnonzero(zeros[: len(zeros) // 8] == _RELAXED[0][0]):
            if tuple(zeros[at : at + 3]) == _RELAXED[0] and tuple(columns[at + 3 : at + 6]) == _RELAXED[1]:
                zeros[at : at + 3], columns[at + 3 : at + 6] = part, number
                return at
        return None

    def _order_given(self, at):
        """Let CHOLMOD look for no other order than the given one; ``at``: place of `_RELAXED` in its record."""
        numbers = self._common.view(np.int32)[2 * (at + 6) :][: len(_DEFAULTS)]
        there = _DEFAULTS >= 0
        if np.array_equal(numbers[there], _DEFAULTS[there]):
            numbers[_METHODS_AT] = 1

    def _split(self):
        """Put panels in the place of wide supernodes, but where the record of a library is laid out otherwise."""
        record = ctypes.cast(self._factor, ctypes.POINTER(ctypes.c_size_t))
        count, rows = record[_NSUPER_AT], record[_SSIZE_AT]
        if not count:
            return
        places = _SUPER_AT, _PI_AT, _PX_AT, _S_AT
        lengths = count + 1, count + 1, count + 1, rows
        old = [_integers(record[at], length) for at, length in zip(places, lengths)]
        if (old[0][-1], old[1][-1], old[2][-1]) != (self.n, rows, record[_XSIZE_AT]):
            return
        new = panels(old[0], old[1], old[3], _PANEL)
        if len(new[0]) == len(old[0]):
            return
        realloc = self._library.cholmod_realloc
        realloc.restype = _POINTER
        for at, length, values in zip(places, lengths, new):
            held = ctypes.c_size_t(length)
            found = realloc(
                ctypes.c_size_t(len(values)), ctypes.c_size_t(4), _POINTER(record[at]), ctypes.byref(held), self._at
            )
            if held.value != len(values):
                raise RuntimeError(f"the factors of {self.n} unknowns do not fit into the memory")
            record[at] = found
            _integers(found, len(values))[:] = values
        record[_NSUPER_AT], record[_SSIZE_AT], record[_XSIZE_AT] = len(new[0]) - 1, len(new[3]), int(new[2][-1])
        record[_MAXCSIZE_AT], record[_MAXESIZE_AT] = workspaces(new[0], new[1], new[3])

    def _sparse(self, matrix):
        """The record of a lower triangle, and the arrays that it points to."""
        pointers, rows = matrix.indptr.astype(np.int32, copy=False), matrix.indices.astype(np.int32, copy=False)
        values, n = np.ascontiguousarray(matrix.data, float), self.n
        A = _Sparse(
            n, n, len(rows), address(pointers), address(rows), None, address(values), None,
            _LOWER, _INT, _REAL, _DOUBLE, 1, 1,
        )  # fmt: skip
        return A, (pointers, rows, values)

    def evenness(self) -> float:
        """The least pivot over the largest: round-off where the matrix is singular but for that."""
        self._library.cholmod_rcond.restype = ctypes.c_double
        return float(self._library.cholmod_rcond(self._factor, self._at))

    def bytes(self) -> int:
        """What the factors hold: numbers of dense columns, or of single entries with their rows."""
        record = ctypes.cast(self._factor, ctypes.POINTER(ctypes.c_size_t))
        return 8 * record[_XSIZE_AT] if record[_NSUPER_AT] else 12 * record[_NZMAX_AT]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solutions of right-hand sides (n,) or (n, k)."""
        right = np.asfortranarray(right, float)
        columns = 1 if right.ndim == 1 else right.shape[1]
        B = _Dense(self.n, columns, self.n * columns, self.n, address(right), None, _REAL, _DOUBLE)
        X = self._library.cholmod_solve(0, self._factor, ctypes.byref(B), self._at)
        if not X:
            raise MemoryError(f"{columns} solutions of {self.n} unknowns do not fit into the memory")
        values = (ctypes.c_double * (self.n * columns)).from_address(X.contents.x)
        found = np.frombuffer(values).copy().reshape(right.shape, order="F")
        self._library.cholmod_free_dense(ctypes.byref(X), self._at)
        return found

    def __del__(self):
        if self._at is not None:
            if self._factor.value:
                self._library.cholmod_free_factor(ctypes.byref(self._factor), self._at)
            self._library.cholmod_finish(self._at)
