"""Linear solvers behind one interface: analyse once, refactorise in place, solve; callable from compiled steppers.

A solver works on the values of a matrix with a fixed pattern, compressed by columns (a dense matrix is the pattern in
which every entry is stored). It offers two C functions, ``factor(context, values)`` and ``solve(context, right-hand
side)``, called through their addresses, and a status word (0: good). Which one is used:

    libklu found                          KLU (SuiteSparse): block triangular form, AMD
    the same, a pattern that fills in     CHOLMOD (scikit-sparse) where symmetric, else UMFPACK: dense blocks
    otherwise, up to `DENSE_LIMIT`        dense LU of LAPACK (through the functions that SciPy exports)
    otherwise, more unknowns              SuperLU of SciPy (a callback into Python)

The entries that KLU gets and when it takes new pivots are described in `fem_mbs.linear.klu_kernels`. A pattern fills
in when AMD predicts `PRODUCTS` for an elimination and `PER_ENTRY` for each entry of its factors: solids, grids of
beams.

Source: measured on the systems of this project (docs/howto/linear_solvers.md).
"""

from typing import Protocol

from fem_mbs.arguments.checked import Named
from fem_mbs.linear.base import LinearSolver
from fem_mbs.linear.cholesky import CholeskyWithBorder
from fem_mbs.linear.cholmod import cholmod
from fem_mbs.linear.dense import DenseLU
from fem_mbs.linear.klu import KLU, klu
from fem_mbs.linear.superlu import SuperLU
from fem_mbs.linear.umfpack import UMFPACK, library

GET_CHOLMOD = "apt-get install libsuitesparse-dev, pip install fem_mbs[sparse]"
DENSE_LIMIT = 60
PRODUCTS, PER_ENTRY = 2e7, 60.0  # KLU takes a millisecond for a million products
PER_SOLUTION = 30.0  # products of a factorisation that take as long as an entry of the factors in an iteration
DEAREST = 50.0  # iterations

SOLVERS = {"dense": DenseLU, "klu": KLU, "umfpack": UMFPACK, "cholmod": CholeskyWithBorder, "superlu": SuperLU}


def choose(n: int, wanted: str | None = None) -> type[LinearSolver]:
    """Solver class for n unknowns: by name (of `SOLVERS`), or the best available.

    Raises
    ------
    ParameterError
        If the wanted solver is unknown or its library is not installed.
    """
    if wanted is not None:
        owner = Named("System")
        owner.as_choice("linear_solver", wanted, tuple(SOLVERS), f"is unknown; choose among {', '.join(SOLVERS)}")
        get = GET_CHOLMOD if wanted == "cholmod" else "apt-get install libsuitesparse-dev"
        message = f"needs a library that was not found; get it with: {get}"
        found = {"klu": klu() is not None, "umfpack": library("umfpack") is not None, "cholmod": cholesky_found()}
        owner.check(found.get(wanted, True), "linear_solver", wanted, message)
        return SOLVERS[wanted]
    if klu() is not None:
        return KLU
    return DenseLU if n <= DENSE_LIMIT else SuperLU


def cholesky_found() -> bool:
    """True if scikit-sparse is installed, and UMFPACK for matrices that it cannot factorise."""
    return cholmod() is not None and library("umfpack") is not None


def fills_in(n: int, fill: tuple[float, float]) -> bool:
    """Whether factors of n unknowns with a `predicted_fill` are dense enough for UMFPACK, and it is there."""
    entries, products = fill
    return products > max(PRODUCTS, PER_ENTRY * entries) and n > DENSE_LIMIT and library("umfpack") is not None


def price_of(fill: tuple[float, float]) -> float:
    """What a matrix and its factors cost, in iterations with factors that are there."""
    entries, products = fill
    return min(max(products / (PER_SOLUTION * max(entries, 1.0)), 1.0), DEAREST)


class Pattern(Protocol):
    """What is read of the pattern of a matrix, `fem_mbs.system.layout.Pattern`."""

    n: int  # unknowns

    @property
    def fill(self) -> tuple[float, float]: ...


def suited(kind: type[LinearSolver], pattern: Pattern, symmetric: bool = True) -> type[LinearSolver]:
    """CHOLMOD or UMFPACK in place of KLU for a pattern that fills in; else ``kind``."""
    if kind is not KLU or not fills_in(pattern.n, pattern.fill):
        return kind
    return CholeskyWithBorder if symmetric and cholesky_found() else UMFPACK


def available() -> list[tuple[str, bool, str]]:
    """What is active on this machine, as (name, found, how to get it) lines for `fem-mbs solvers`."""
    return [
        (KLU.name, klu() is not None, "apt-get install libsuitesparse-dev (used when found)"),
        (UMFPACK.name, library("umfpack") is not None, "apt-get install libsuitesparse-dev (for solids, when found)"),
        (CholeskyWithBorder.name, cholesky_found(), f"{GET_CHOLMOD} (for solids, when found)"),
        (DenseLU.name, True, f"used up to {DENSE_LIMIT} unknowns when KLU is missing"),
        (SuperLU.name, True, "used above when KLU is missing"),
    ]
