"""Dense LU: every entry of the matrix is stored; LAPACK through the functions that SciPy exports."""

import functools
import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import numpy as np
from numba import carray

from fem_mbs.jit import address, entry, indices, integers, vector, void_pointer
from fem_mbs.linear.base import LinearSolver
from fem_mbs.linear.calls import call6, call9

# ``ints`` holds n, nrhs = 1, info, then the pivots (int32), because LAPACK takes everything by address
DENSE = np.dtype([(name, "i8") for name in ("n", "lu_at", "ints_at", "letter_at", "getrf", "getrs", "status_at")])


@entry("void(int64, int64)")
def _dense_factor(context, values_at):
    c = carray(void_pointer(context), (1,), DENSE)[0]
    values, lu = vector(values_at, c.n * c.n), vector(c.lu_at, c.n * c.n)
    for i in range(c.n * c.n):
        lu[i] = values[i]
    at = c.ints_at
    call6(c.getrf, at, at, c.lu_at, at, at + 12, at + 8)
    integers(c.status_at, 1)[0] = indices(at + 8, 1)[0]


@entry("void(int64, int64)")
def _dense_solve(context, right_at):
    c = carray(void_pointer(context), (1,), DENSE)[0]
    at = c.ints_at
    call9(c.getrs, c.letter_at, at, at + 4, c.lu_at, at, at + 12, right_at, at, at + 8)


@functools.cache
def _lapack(name: str) -> int:
    """Address of a function of the LAPACK that SciPy brings.

    Only the module that exports it is loaded: the package around it, scipy.linalg, takes longer than all of NumPy.
    """
    import scipy
    from numba.extending import get_cython_function_address

    module = "scipy.linalg.cython_lapack"
    whole = "scipy.linalg" in sys.modules
    if not whole:
        folder = str(Path(scipy.__file__).parent / "linalg")
        spec = importlib.machinery.PathFinder.find_spec(module.rpartition(".")[2], [folder])
        if spec is None or spec.loader is None:  # a SciPy of another build
            whole = True
        else:
            sys.modules[module] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[module])
    try:
        return get_cython_function_address(module, name)
    finally:
        if not whole:
            sys.modules.pop(module, None)  # who imports scipy.linalg gets it from there


class DenseLU(LinearSolver):
    """LU with partial pivoting of the full matrix (LAPACK dgetrf, dgetrs)."""

    name = "dense LU (LAPACK)"
    kept = ("lu", "ints")

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.lu = np.zeros(n * n)
        self.ints = np.zeros(3 + n, np.int32)
        self.ints[:2] = n, 1
        self.letter = np.frombuffer(b"N       ", np.uint8).copy()
        self.context = np.zeros(1, DENSE)
        self.context[0] = (
            n,
            address(self.lu),
            address(self.ints),
            address(self.letter),
            _lapack("dgetrf"),
            _lapack("dgetrs"),
            address(self.status),
        )
        self.context_address = address(self.context)
        self.factor_address, self.solve_address = _dense_factor.address, _dense_solve.address
