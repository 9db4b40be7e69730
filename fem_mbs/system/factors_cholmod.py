"""CHOLMOD of SuiteSparse, where the system has it: supernodal Cholesky of large positive definite matrices.

It holds one triangle where LU factors are two, in half the time. AMD orders, or METIS where that leaves less fill; for
many unknowns also METIS with more effort.
"""

import ctypes
from typing import Any

import numpy as np

from fem_mbs.jit import address
from fem_mbs.system.linear_umfpack import library
from fem_mbs.system.metis import nested_dissection

_COMMON_BYTES = 1 << 14  # the workspace of the library is about 3 kB in all versions
_MINOR_AT = 1  # of the size_t at the beginning of a factor: n, and the first column that is not positive
_LOWER, _REAL, _DOUBLE, _INT = -1, 1, 0, 0
_POINTER = ctypes.c_void_p
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


class Cholesky:
    """Factors of a symmetric positive definite matrix (n, n).

    It is given by its lower triangle, in columns that are compressed and sorted.

    Raises
    ------
    RuntimeError
        It is not positive definite, or the factors do not fit into the memory.
    """

    def __init__(self, matrix: Any) -> None:
        self._factor = _POINTER()
        self._library = cholmod = library("cholmod")
        cholmod.cholmod_analyze_p.restype = _POINTER
        cholmod.cholmod_solve.restype = ctypes.POINTER(_Dense)
        self.n = n = matrix.shape[0]
        self._common = np.zeros(_COMMON_BYTES, np.uint8)
        at = self._at = _POINTER(address(self._common))
        pointers, rows = matrix.indptr.astype(np.int32, copy=False), matrix.indices.astype(np.int32, copy=False)
        values = np.ascontiguousarray(matrix.data, float)
        A = _Sparse(
            n, n, len(rows), address(pointers), address(rows), None, address(values), None,
            _LOWER, _INT, _REAL, _DOUBLE, 1, 1,
        )  # fmt: skip
        _silence()
        cholmod.cholmod_start(at)
        order = nested_dissection(matrix) if n > MANY else None
        given = None if order is None else _POINTER(address(order))
        self._factor.value = cholmod.cholmod_analyze_p(ctypes.byref(A), given, None, ctypes.c_size_t(0), at)
        if not self._factor.value:
            raise RuntimeError(f"the factors of {n} unknowns could not be planned: there is not enough memory")
        done = cholmod.cholmod_factorize(ctypes.byref(A), self._factor, at)
        minor = ctypes.cast(self._factor, ctypes.POINTER(ctypes.c_size_t))[_MINOR_AT]
        if minor < n:
            raise RuntimeError(f"the matrix is not positive definite, in column {minor} of the order")
        if not done:
            raise RuntimeError(f"the factors of {n} unknowns do not fit into the memory")

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
        if getattr(self, "_at", None) is not None:
            if self._factor.value:
                self._library.cholmod_free_factor(ctypes.byref(self._factor), self._at)
            self._library.cholmod_finish(self._at)
