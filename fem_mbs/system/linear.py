"""Linear solvers behind one interface: analyse once, refactorise in place, solve; callable from compiled steppers.

A solver works on the values of a matrix with a fixed pattern, compressed by columns (a dense matrix is the pattern in
which every entry is stored). It offers two C functions, ``factor(context, values)`` and ``solve(context, right-hand
side)``, called through their addresses, and a status word (0: good). Which one is used:

    up to `DENSE_LIMIT` unknowns   dense LU of LAPACK (through the functions that SciPy exports)
    larger, libklu found           KLU (SuiteSparse): block triangular form, AMD; best for chains, trees, beam lines
    larger, otherwise              SuperLU of SciPy (a callback into Python)

KLU keeps the pivots of its first factorisation; the first solve with new factors checks the residual and factorises
afresh when it exceeds `REFRESH` of the right-hand side. Rows are scaled, KLU's default: without it a refactorisation
costs a fifth less, and solutions lose five digits. KKT matrices with a zero block need KLU's block triangular form,
which is its default.

Source: measured on the systems of this project (docs/howto/linear_solvers.md).
"""

import ctypes
import ctypes.util
import functools
import importlib.machinery
import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from fem_mbs.arguments import Named
from fem_mbs.jit import (
    address,
    callback_address,
    entry,
    indices,
    integers,
    invoke,
    kernel,
    python_callback,
    vector,
    void_pointer,
)

DENSE_LIMIT = 60
REFRESH = 1e-10


def _foreign_call(count):
    """Signature and code of ``int64 f(int64 × count)`` called at an address."""

    def codegen(context, builder, signature, args):
        i64 = ir.IntType(64)
        pointer = builder.inttoptr(args[0], ir.FunctionType(i64, [i64] * count).as_pointer())
        return builder.call(pointer, list(args[1:]))

    return types.int64(*[types.int64] * (count + 1)), codegen


@intrinsic
def _call5(typingctx, f, a, b, c, d, e):
    return _foreign_call(5)


@intrinsic
def _call6(typingctx, f, a, b, c, d, e, g):
    return _foreign_call(6)


@intrinsic
def _call9(typingctx, f, a, b, c, d, e, g, h, i, j):
    return _foreign_call(9)


class LinearSolver:
    """A solver for one pattern; owns the arrays behind the addresses it hands to compiled code.

    Parameters
    ----------
    n : int
        Number of unknowns.
    pointers, rows : (n + 1,), (nnz,) int32
        Pattern compressed by columns.
    """

    name = "none"
    factor_address: int
    solve_address: int
    context_address: int

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        self.n, self.pointers, self.rows = n, pointers, rows
        self.status = np.zeros(1, np.int64)

    def factor(self, values: np.ndarray) -> bool:
        """Factorise the matrix with these values (nnz,), in pattern order; False when it is singular."""
        invoke(self.factor_address, self.context_address, address(values))
        return self.status[0] == 0

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solution (n,) for a right-hand side (n,)."""
        solution = np.array(right, float)
        invoke(self.solve_address, self.context_address, address(solution))
        return solution


# --- dense
# -------------------------------------------------------------------------------------------------------------

# ``ints`` holds n, nrhs = 1, info, then the pivots (int32), because LAPACK takes everything by address
DENSE = np.dtype([(name, "i8") for name in ("n", "lu_at", "ints_at", "letter_at", "getrf", "getrs", "status_at")])


@entry("void(int64, int64)")
def _dense_factor(context, values_at):
    c = carray(void_pointer(context), (1,), DENSE)[0]
    values, lu = vector(values_at, c.n * c.n), vector(c.lu_at, c.n * c.n)
    for i in range(c.n * c.n):
        lu[i] = values[i]
    at = c.ints_at
    _call6(c.getrf, at, at, c.lu_at, at, at + 12, at + 8)
    integers(c.status_at, 1)[0] = indices(at + 8, 1)[0]


@entry("void(int64, int64)")
def _dense_solve(context, right_at):
    c = carray(void_pointer(context), (1,), DENSE)[0]
    at = c.ints_at
    _call9(c.getrs, c.letter_at, at, at + 4, c.lu_at, at, at + 12, right_at, at, at + 8)


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


# --- KLU
# ---------------------------------------------------------------------------------------------------------------

_COMMON_BYTES = 512  # klu_common is about 160 bytes in all versions
KLU_DATA = np.dtype(
    [(name, "i8") for name in ("n", "nnz", "pointers_at", "rows_at", "common_at", "symbolic", "numeric")]
    + [(name, "i8") for name in ("factor", "refactor", "solve", "free", "status_at", "values_at", "work_at", "checked")]
)


@kernel
def _klu_fresh(c):
    """Factorise with new pivots; the status word is 1 when the matrix is singular."""
    numeric_at = integers(c.numeric, 1)
    if numeric_at[0] != 0:
        _call5(c.free, c.numeric, c.common_at, 0, 0, 0)
    numeric_at[0] = _call5(c.factor, c.pointers_at, c.rows_at, c.values_at, c.symbolic, c.common_at)
    integers(c.status_at, 1)[0] = 0 if numeric_at[0] != 0 else 1


@entry("void(int64, int64)")
def _klu_factor(context, values_at):
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    values, kept = vector(values_at, c.nnz), vector(c.values_at, c.nnz)
    for i in range(c.nnz):
        kept[i] = values[i]
    c.checked = 0
    numeric_at = integers(c.numeric, 1)
    if numeric_at[0] != 0:
        good = _call6(c.refactor, c.pointers_at, c.rows_at, c.values_at, c.symbolic, numeric_at[0], c.common_at)
        integers(c.status_at, 1)[0] = 0
        if good & 0xFFFFFFFF != 0:
            return
    _klu_fresh(c)


@kernel
def _klu_residual(c, right, solution):
    """Largest residual and largest right-hand side entry of a solve; ``work`` is scratch."""
    pointers, rows, values = indices(c.pointers_at, c.n + 1), indices(c.rows_at, c.nnz), vector(c.values_at, c.nnz)
    residual = vector(c.work_at + 8 * c.n, c.n)
    for i in range(c.n):
        residual[i] = right[i]
    for j in range(c.n):
        for k in range(pointers[j], pointers[j + 1]):
            residual[rows[k]] -= values[k] * solution[j]
    worst, scale = 0.0, 0.0
    for i in range(c.n):
        worst = max(worst, abs(residual[i]))
        scale = max(scale, abs(right[i]))
    return worst, scale


@kernel
def _klu_bad(c, right_at):
    """Whether a solve leaves a residual above `REFRESH`; the right-hand side is that kept in ``work``."""
    right, kept = vector(right_at, c.n), vector(c.work_at, c.n)
    for i in range(c.n):
        right[i] = kept[i]
    _call6(c.solve, c.symbolic, integers(c.numeric, 1)[0], c.n, 1, right_at, c.common_at)
    worst, scale = _klu_residual(c, kept, right)
    return not worst <= REFRESH * scale


@entry("void(int64, int64)")
def _klu_solve(context, right_at):
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    numeric_at = integers(c.numeric, 1)
    if numeric_at[0] == 0:
        return
    if c.checked != 0:
        _call6(c.solve, c.symbolic, numeric_at[0], c.n, 1, right_at, c.common_at)
        return
    c.checked = 1
    right, kept = vector(right_at, c.n), vector(c.work_at, c.n)
    for i in range(c.n):
        kept[i] = right[i]
    if _klu_bad(c, right_at):
        _klu_fresh(c)
        if numeric_at[0] != 0:
            _klu_bad(c, right_at)


def _load_klu():
    """The KLU library of the system (libklu1 or libklu2), or None."""
    for name in (ctypes.util.find_library("klu"), "libklu.so.2", "libklu.so.1"):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    return None


_klu_library = None


def klu() -> Any:
    """The loaded KLU library, or None; looked for once."""
    global _klu_library
    if _klu_library is None:
        _klu_library = _load_klu() or False
    return _klu_library or None


class KLU(LinearSolver):
    """Sparse LU of SuiteSparse for matrices that fall into blocks (mechanisms, chains, beam lines)."""

    name = "KLU (SuiteSparse)"

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        library = klu()

        def function(name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value

        self.common = np.zeros(_COMMON_BYTES, np.uint8)
        library.klu_defaults(ctypes.c_void_p(address(self.common)))
        library.klu_analyze.restype = ctypes.c_void_p
        self.symbolic = library.klu_analyze(
            ctypes.c_int(n), *(ctypes.c_void_p(address(a)) for a in (pointers, rows, self.common))
        )
        if not self.symbolic:
            raise MemoryError(f"KLU could not analyse a pattern of {n} unknowns, {len(rows)} entries")
        self.numeric = np.zeros(1, np.int64)
        self.values, self.work = np.zeros(len(rows)), np.zeros(2 * n)
        self.context = np.zeros(1, KLU_DATA)
        self.context[0] = (
            n,
            len(rows),
            address(pointers),
            address(rows),
            address(self.common),
            self.symbolic,
            address(self.numeric),
            function("klu_factor"),
            function("klu_refactor"),
            function("klu_solve"),
            function("klu_free_numeric"),
            address(self.status),
            address(self.values),
            address(self.work),
            0,
        )
        self.context_address = address(self.context)
        self.factor_address, self.solve_address = _klu_factor.address, _klu_solve.address

    def __del__(self):
        if sys is None or sys.is_finalizing():  # the process gives all back
            return
        library = klu() if klu else None  # type: ignore[truthy-function]  # gone when Python ends
        if library and getattr(self, "symbolic", None):
            common = ctypes.c_void_p(address(self.common))
            if self.numeric[0]:
                library.klu_free_numeric(ctypes.c_void_p(address(self.numeric)), common)
            symbolic = ctypes.c_void_p(self.symbolic)
            library.klu_free_symbolic(ctypes.byref(symbolic), common)


# --- SuperLU
# -----------------------------------------------------------------------------------------------------------


class SuperLU(LinearSolver):
    """SciPy's sparse LU: always there; called back from compiled code."""

    name = "SuperLU (SciPy)"

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        self.factors = None
        self._factor_callback = python_callback(self._factor)
        self._solve_callback = python_callback(self._solve)
        self.context_address = 0
        self.factor_address = callback_address(self._factor_callback)
        self.solve_address = callback_address(self._solve_callback)

    def _array(self, at, count):
        return np.ctypeslib.as_array((ctypes.c_double * count).from_address(at))

    def _factor(self, _, values_at):
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        values = self._array(values_at, len(self.rows)).copy()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.factors = splu(csc_array((values, self.rows, self.pointers), shape=(self.n, self.n)))
            self.status[0] = 0
        except RuntimeError:  # exactly singular
            self.factors, self.status[0] = None, 1

    def _solve(self, _, right_at):
        if self.factors is not None:
            right = self._array(right_at, self.n)
            right[:] = self.factors.solve(right.copy())


SOLVERS = {"dense": DenseLU, "klu": KLU, "superlu": SuperLU}


def choose(n: int, wanted: str | None = None) -> type[LinearSolver]:
    """Solver class for n unknowns: by name ("dense", "klu", "superlu"), or the best available.

    Raises
    ------
    ParameterError
        If the wanted solver is unknown or its library is not installed.
    """
    if wanted is not None:
        owner = Named("System")
        owner.as_choice("linear_solver", wanted, tuple(SOLVERS), f"is unknown; choose among {', '.join(SOLVERS)}")
        message = "needs a library that was not found; get it with: apt-get install libsuitesparse-dev"
        owner.check(wanted != "klu" or klu() is not None, "linear_solver", wanted, message)
        return SOLVERS[wanted]
    if n <= DENSE_LIMIT:
        return DenseLU
    return KLU if klu() is not None else SuperLU


def available() -> list[tuple[str, bool, str]]:
    """What is active on this machine, as (name, found, how to get it) lines for `fem-mbs solvers`."""
    return [
        (DenseLU.name, True, f"used up to {DENSE_LIMIT} unknowns"),
        (KLU.name, klu() is not None, "apt-get install libsuitesparse-dev (used above)"),
        (SuperLU.name, True, "used when KLU is missing"),
    ]
