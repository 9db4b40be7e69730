"""Linear solvers behind one interface: analyse once, refactorise in place, solve; callable from compiled steppers.

A solver works on the values of a matrix with a fixed pattern, compressed by columns (a dense matrix is the pattern in
which every entry is stored). It offers two C functions, ``factor(context, values)`` and ``solve(context, right-hand
side)``, called through their addresses, and a status word (0: good). Which one is used:

    libklu found                          KLU (SuiteSparse): block triangular form, AMD
    otherwise, up to `DENSE_LIMIT`        dense LU of LAPACK (through the functions that SciPy exports)
    otherwise, more unknowns              SuperLU of SciPy (a callback into Python)

What KLU is given and when it takes new pivots is told in `fem_mbs.system.linear_klu_kernels`.

Source: measured on the systems of this project (docs/howto/linear_solvers.md).
"""

from fem_mbs.arguments import Named
from fem_mbs.system.linear_base import LinearSolver
from fem_mbs.system.linear_dense import DenseLU
from fem_mbs.system.linear_klu import KLU, klu
from fem_mbs.system.linear_superlu import SuperLU

DENSE_LIMIT = 60

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
