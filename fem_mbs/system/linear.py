"""Linear solvers behind one interface: analyse once, refactorise in place, solve; callable from compiled steppers.

A solver works on the values of a matrix with a fixed pattern, compressed by columns (a dense matrix is the pattern in
which every entry is stored). It offers two C functions, ``factor(context, values)`` and ``solve(context, right-hand
side)``, called through their addresses, and a status word (0: good). Which one is used:

    libklu found                          KLU (SuiteSparse): block triangular form, AMD
    otherwise, up to `DENSE_LIMIT`        dense LU of LAPACK (through the functions that SciPy exports)
    otherwise, more unknowns              SuperLU of SciPy (a callback into Python)

KLU is given the entries that are or were not zero, which it takes and tells from one look at the values: half of what
elements could fill is zero in most models (planar motion, frames along axes, open contacts). When others appear it
analyses the pattern anew. Where more than half have become zero (contacts that opened) it forgets these: after
`AMORTISED` factorisations, then after twice as many, and so on. Where it would analyse too often, see `ANALYSES`, it is
given more than it needs.

Diagonal matrices need no factors: KLU would scale their rows to ±1 and divide by that, which gives the same bits. Free
bodies with principal axes have no others, spheres above all, and KLU would take a kilobyte for each.

KLU keeps the pivots of its first factorisation; the first solve with new factors checks the residual and factorises
afresh when it exceeds `REFRESH` of the right-hand side. Rows are scaled, KLU's default, where pivots are chosen:
without it solutions lose five digits. Once pivots are given scales change round-off only, L to D L D⁻¹ and U to D U,
so that a refactorisation leaves them out: it is a fifth cheaper. KKT matrices with a zero block need KLU's block
triangular form, which is its default.

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
ANALYSES, AMORTISED = 32, 64  # of a pattern: that many, and one more in so many factorisations
FEWER = 2  # times what is not zero: of more entries KLU is given the others no longer
EARLIER, IN_USE = 1, 2  # entries that KLU was given before, and those it is given


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

    def foreign_bytes(self) -> int:
        """Bytes that a library holds for the factors, besides arrays of this object; 0 where it does not tell."""
        return 0

    # what rebuilds the factors to the last bit, for a run that goes on from a file: arrays, besides ``status``
    kept: tuple[str, ...] = ()

    def get_state(self) -> dict[str, Any]:
        """What the same factors can be made of again, a copy: numbers and arrays."""
        state: dict[str, Any] = {"solver": type(self).__name__, "status": self.status.copy()}
        return state | {name: getattr(self, name).copy() for name in self.kept}

    def set_state(self, state: dict[str, Any]) -> None:
        """Make the factors again that `get_state` told of.

        Raises
        ------
        ValueError
            It is the state of another solver or another pattern.
        """
        if state["solver"] != type(self).__name__:
            raise ValueError(f"factors of {state['solver']} cannot be those of {type(self).__name__}")
        for name in ("status", *self.kept):
            array = getattr(self, name)
            if array.shape != state[name].shape:
                raise ValueError(
                    f"array '{name}' of the linear solver has {len(array)} numbers, not {len(state[name])}"
                )
            array[:] = state[name]


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


# --- KLU
# ---------------------------------------------------------------------------------------------------------------

_COMMON_BYTES = 512  # klu_common is about 160 bytes in all versions
_USED = 144  # place of memusage and mempeak in it
_SCALE_AT = 48  # of the int32 ``scale`` in it, behind five doubles and two int32
SCALED, UNSCALED = 2, -1  # by the largest entry of each row; not, nor are indices checked again
# symbolic_at and numeric_at are addresses of one pointer each; taken, used_* and values: the entries that KLU is given
KLU_DATA = np.dtype(
    [(name, "i8") for name in ("n", "nnz", "pointers_at", "rows_at", "common_at", "symbolic_at", "numeric_at")]
    + [(name, "i8") for name in ("analyze", "factor", "refactor", "solve", "free", "free_symbolic", "status_at")]
    + [(name, "i8") for name in ("taken_at", "used_pointers_at", "used_rows_at", "where_at", "values_at", "work_at")]
    + [("scale_at", "i8")]  # of KLU's switch
    + [(name, "i8") for name in ("used", "analyses", "factorisations", "since", "wait", "checked")]
    + [(name, "i8") for name in ("diagonal", "diagonal_at")]  # whether the matrix is, and its entries
    + [("pivoted_at", "i8")]  # values that the pivots were chosen for
)


@kernel
def _klu_release(c):
    """Give factors back."""
    numeric_at = integers(c.numeric_at, 1)
    if numeric_at[0] != 0:
        _call5(c.free, c.numeric_at, c.common_at, 0, 0, 0)
        numeric_at[0] = 0


@kernel
def _klu_again(c):
    """Factorise with the pivots there are, without scales; False when one of them is zero."""
    symbolic, numeric = integers(c.symbolic_at, 1)[0], integers(c.numeric_at, 1)[0]
    scale = indices(c.scale_at, 1)
    scale[0] = UNSCALED
    good = _call6(c.refactor, c.used_pointers_at, c.used_rows_at, c.values_at, symbolic, numeric, c.common_at)
    scale[0] = SCALED
    return good & 0xFFFFFFFF != 0


@kernel
def _klu_fresh(c):
    """Factorise with new pivots; the status word is 1 when the matrix is singular.

    Factors are then made as later ones are: their bits tell nothing of when the pivots were chosen.
    """
    _klu_release(c)
    symbolic, numeric = integers(c.symbolic_at, 1)[0], 0
    kept, pivoted = vector(c.values_at, c.used), vector(c.pivoted_at, c.used)
    for k in range(c.used):
        pivoted[k] = kept[k]
    if symbolic != 0:
        numeric = _call5(c.factor, c.used_pointers_at, c.used_rows_at, c.values_at, symbolic, c.common_at)
    integers(c.numeric_at, 1)[0] = numeric
    if numeric != 0 and not _klu_again(c):
        numeric = 0
    integers(c.status_at, 1)[0] = 0 if numeric != 0 else 1


@kernel
def _klu_gather(c, values):
    """Copy the values of the entries that KLU is given; returns how many are not zero, of all and of these."""
    where, kept = indices(c.where_at, c.nnz), vector(c.values_at, c.nnz)
    total = found = 0
    for i in range(c.nnz):
        total += 1 if values[i] != 0.0 else 0
    for k in range(c.used):
        value = values[where[k]]
        kept[k] = value
        found += 1 if value != 0.0 else 0
    return total, found


@kernel
def _klu_forget(c):
    """Mark the entries that KLU was given as `EARLIER` ones."""
    taken = indices(c.taken_at, c.nnz)
    for k in range(c.nnz):
        taken[k] = min(taken[k], EARLIER)
    c.wait, c.since = 2 * c.wait, 0


@kernel
def _klu_analyse(c, values):
    """Give KLU the entries in use and those that are not zero now; where that happens too often all earlier ones too,
    and then all.
    """
    pointers, rows, taken = indices(c.pointers_at, c.n + 1), indices(c.rows_at, c.nnz), indices(c.taken_at, c.nnz)
    used_pointers, used_rows = indices(c.used_pointers_at, c.n + 1), indices(c.used_rows_at, c.nnz)
    where, kept, used = indices(c.where_at, c.nnz), vector(c.values_at, c.nnz), 0
    often = c.analyses // (ANALYSES + c.factorisations // AMORTISED)
    least = IN_USE if often == 0 else EARLIER if often == 1 else 0
    for j in range(c.n):
        for k in range(pointers[j], pointers[j + 1]):
            if values[k] != 0.0 or taken[k] >= least:
                taken[k] = IN_USE
                where[used], used_rows[used], kept[used] = k, rows[k], values[k]
                used += 1
        used_pointers[j + 1] = used
    c.used, c.analyses = used, c.analyses + 1
    _klu_release(c)
    symbolic_at = integers(c.symbolic_at, 1)
    if symbolic_at[0] != 0:
        _call5(c.free_symbolic, c.symbolic_at, c.common_at, 0, 0, 0)
    symbolic_at[0] = _call5(c.analyze, c.n, c.used_pointers_at, c.used_rows_at, c.common_at, 0)


@kernel
def _is_diagonal(c, values):
    """Whether just the diagonal is not zero, and all of it; copies it."""
    pointers, rows = indices(c.pointers_at, c.n + 1), indices(c.rows_at, c.nnz)
    diagonal = vector(c.diagonal_at, c.n)
    for j in range(c.n):
        found = False
        for k in range(pointers[j], pointers[j + 1]):
            if values[k] != 0.0:
                if rows[k] != j:
                    return False
                diagonal[j], found = values[k], True
        if not found:
            return False
    return True


@entry("void(int64, int64)")
def _klu_factor(context, values_at):
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    values = vector(values_at, c.nnz)
    c.checked = 0
    c.diagonal = 1 if _is_diagonal(c, values) else 0
    if c.diagonal != 0:
        integers(c.status_at, 1)[0] = 0
        return
    total, found = _klu_gather(c, values)
    c.factorisations += 1
    c.since += 1
    fewer = c.since >= c.wait and FEWER * found < c.used
    if fewer:
        _klu_forget(c)
    if fewer or total != found or c.analyses == 0:
        _klu_analyse(c, values)
    if integers(c.numeric_at, 1)[0] != 0:
        integers(c.status_at, 1)[0] = 0
        if _klu_again(c):
            return
    _klu_fresh(c)


@entry("void(int64, int64)")
def _klu_rebuild(context, values_at):
    """Analyse and factorise as it was done before, with pivots of the values at `pivoted`; then with those given."""
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    symbolic_at = integers(c.symbolic_at, 1)
    if symbolic_at[0] != 0:
        _call5(c.free_symbolic, c.symbolic_at, c.common_at, 0, 0, 0)
    symbolic_at[0] = _call5(c.analyze, c.n, c.used_pointers_at, c.used_rows_at, c.common_at, 0)
    given, kept, pivoted = vector(values_at, c.nnz), vector(c.values_at, c.nnz), vector(c.pivoted_at, c.nnz)
    for k in range(c.used):
        kept[k] = pivoted[k]
    _klu_fresh(c)
    for k in range(c.used):
        kept[k] = given[k]
    if integers(c.numeric_at, 1)[0] != 0:
        _klu_again(c)


@kernel
def _klu_residual(c, right, solution):
    """Largest residual and largest right-hand side entry of a solve; ``work`` is scratch."""
    pointers, rows = indices(c.used_pointers_at, c.n + 1), indices(c.used_rows_at, c.nnz)
    values, residual = vector(c.values_at, c.nnz), vector(c.work_at + 8 * c.n, c.n)
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
def _klu_substitute(c, right_at):
    """Solve with the factors."""
    symbolic, numeric = integers(c.symbolic_at, 1)[0], integers(c.numeric_at, 1)[0]
    _call6(c.solve, symbolic, numeric, c.n, 1, right_at, c.common_at)


@kernel
def _klu_bad(c, right_at):
    """Whether a solve leaves a residual above `REFRESH`; the right-hand side is that kept in ``work``."""
    right, kept = vector(right_at, c.n), vector(c.work_at, c.n)
    for i in range(c.n):
        right[i] = kept[i]
    _klu_substitute(c, right_at)
    worst, scale = _klu_residual(c, kept, right)
    return not worst <= REFRESH * scale


@entry("void(int64, int64)")
def _klu_solve(context, right_at):
    c = carray(void_pointer(context), (1,), KLU_DATA)[0]
    if c.diagonal != 0:
        right, diagonal = vector(right_at, c.n), vector(c.diagonal_at, c.n)
        for i in range(c.n):
            right[i] /= diagonal[i]
        return
    numeric_at = integers(c.numeric_at, 1)
    if numeric_at[0] == 0:
        return
    if c.checked != 0:
        _klu_substitute(c, right_at)
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
    kept = ("taken", "where", "used_rows", "used_pointers", "values", "pivoted", "diagonal")
    counted = ("used", "analyses", "factorisations", "since", "wait", "checked", "diagonal")  # numbers of the context

    def __init__(self, n: int, pointers: np.ndarray, rows: np.ndarray) -> None:
        super().__init__(n, pointers, rows)
        library = klu()

        def function(name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value

        nnz = len(rows)
        self.common = np.zeros(_COMMON_BYTES, np.uint8)
        library.klu_defaults(ctypes.c_void_p(address(self.common)))
        self.symbolic, self.numeric = np.zeros(1, np.int64), np.zeros(1, np.int64)
        # a library whose record is laid out otherwise keeps its own switch, and scales always
        switch = self.common[_SCALE_AT : _SCALE_AT + 4].view(np.int32)
        self.scale = switch if switch[0] == SCALED else np.array([SCALED], np.int32)
        self.taken, self.where, self.used_rows = (np.zeros(nnz, np.int32) for _ in range(3))
        self.used_pointers, self.values, self.work = np.zeros(n + 1, np.int32), np.zeros(nnz), np.zeros(2 * n)
        self.diagonal, self.pivoted = np.zeros(n), np.zeros(nnz)
        self.context = np.zeros(1, KLU_DATA)
        fields: dict[str, Any] = {
            "n": n, "nnz": nnz, "pointers_at": pointers, "rows_at": rows, "common_at": self.common,
            "symbolic_at": self.symbolic, "numeric_at": self.numeric, "status_at": self.status,
            "taken_at": self.taken, "used_pointers_at": self.used_pointers, "used_rows_at": self.used_rows,
            "where_at": self.where, "values_at": self.values, "work_at": self.work, "diagonal_at": self.diagonal,
            "scale_at": self.scale, "pivoted_at": self.pivoted,
            "analyze": function("klu_analyze"), "factor": function("klu_factor"),
            "refactor": function("klu_refactor"), "solve": function("klu_solve"),
            "wait": AMORTISED, "free": function("klu_free_numeric"), "free_symbolic": function("klu_free_symbolic"),
        }  # fmt: skip
        for name, value in fields.items():
            self.context[0][name] = address(value) if isinstance(value, np.ndarray) else value
        self.context_address = address(self.context)
        self.factor_address, self.solve_address = _klu_factor.address, _klu_solve.address

    def get_state(self) -> dict[str, Any]:
        """As of `LinearSolver`; analysis and pivots are made again from what they were made of."""
        counted = {name: int(self.context[0][name]) for name in self.counted}
        return super().get_state() | {"counted": counted}

    def set_state(self, state: dict[str, Any]) -> None:
        """As of `LinearSolver`."""
        super().set_state(state)
        for name, value in state["counted"].items():
            self.context[0][name] = value
        if state["counted"]["analyses"]:
            values = self.values.copy()  # held here while compiled code reads it
            invoke(_klu_rebuild.address, self.context_address, address(values))
            self.status[:] = state["status"]

    def foreign_bytes(self) -> int:
        """What KLU has allocated, by its own count."""
        now, most = (int(n) for n in self.common[_USED : _USED + 16].view(np.uint64))
        return now if now <= most < 2**48 else 0  # a version with another record

    def __del__(self):
        if sys is None or sys.is_finalizing():  # the process gives all back
            return
        library = klu() if klu else None  # type: ignore[truthy-function]  # gone when Python ends
        if library and hasattr(self, "context"):
            common = ctypes.c_void_p(address(self.common))
            if self.numeric[0]:
                library.klu_free_numeric(ctypes.c_void_p(address(self.numeric)), common)
            if self.symbolic[0]:
                library.klu_free_symbolic(ctypes.c_void_p(address(self.symbolic)), common)


# --- SuperLU
# -----------------------------------------------------------------------------------------------------------


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
    if klu() is not None:
        return KLU
    return DenseLU if n <= DENSE_LIMIT else SuperLU


def available() -> list[tuple[str, bool, str]]:
    """What is active on this machine, as (name, found, how to get it) lines for `fem-mbs solvers`."""
    return [
        (KLU.name, klu() is not None, "apt-get install libsuitesparse-dev (used when found)"),
        (DenseLU.name, True, f"used up to {DENSE_LIMIT} unknowns when KLU is missing"),
        (SuperLU.name, True, "used above when KLU is missing"),
    ]
