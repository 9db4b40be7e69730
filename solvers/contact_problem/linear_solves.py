"""Linear systems of the methods, each by the factors of a nearby matrix or exactly: blocks, flexible GMRES, SuperLU.

The nearby matrix has a larger shift on its diagonal, `enlarged`, where contacts stick and the exact one is singular or
almost so. Why it is 10⁻⁷, and what it costs, is in `contact_problem.operators`.

Source: docs/theory/contact_problems.md, (13), (14).
"""

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.linalg import splu

from fem_mbs.solvers.contact_problem.factor import BlockPattern, SingularPivot

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.solvers.contact_problem.factor import BlockFactors


SMALLEST_SHIFT = 1e-7  # in the matrix that is factorised in body space; see (3) of `contact_problem.operators`
ACCURATE, TOLERABLE = 1e-10, 1e-6  # relative residuals of a linear system: where to stop; what is still a solution
KRYLOV = 20  # largest number of Krylov vectors


class Singular(ArithmeticError):
    """A linear system that could not be factorised."""


def superlu(matrix: "csc_array") -> Callable[[np.ndarray], np.ndarray]:
    """Function that solves with a sparse matrix, (nc, d) → (nc, d); unknowns behind the contacts have no right side."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            factors = splu(matrix.tocsc())
        except RuntimeError as error:
            raise Singular(str(error)) from None

    def solve(f):
        right = np.zeros(matrix.shape[0])
        right[: f.size] = f.ravel()
        d = factors.solve(right)[: f.size].reshape(f.shape)
        if not np.isfinite(d).all():
            raise Singular("solution is not finite")
        return d

    return solve


def block_factors(pattern: BlockPattern, values: np.ndarray) -> "BlockFactors":
    """Block factors; raises Singular."""
    try:
        return pattern.factor(values)
    except SingularPivot as error:
        raise Singular(str(error)) from None


def enlarged(shift: float) -> float:
    """Shift of the matrix that is factorised by blocks; interior points, without shift, have regular ones."""
    return max(shift, SMALLEST_SHIFT) if shift else 0.0


def solver(
    factor: Callable[[], Callable], product: Callable, exactly: Callable[[], Callable], accuracy: float
) -> Callable[[np.ndarray], np.ndarray]:
    """Function that solves product(d) = f by flexible GMRES with the solver of a nearby matrix, else exactly.

    Parameters
    ----------
    factor, exactly : functions () → solver of a nearby matrix, of the matrix itself; may raise Singular
    accuracy : relative residual at which GMRES stops
    """
    try:
        nearly, exact = factor(), None
    except Singular:
        nearly, exact = None, exactly()

    def solve(f):
        nonlocal exact
        if exact is None:
            try:
                return krylov(product, nearly, f, accuracy)
            except Singular:
                exact = exactly()
        return exact(f)

    return solve


def krylov(product: Callable, nearly: Callable, f: np.ndarray, accuracy: float = ACCURATE) -> np.ndarray:
    """Solve product(d) = f by flexible GMRES to a relative residual; ``nearly`` solves nearly the same system.

    Raises
    ------
    Singular
        If the residual stays above a millionth of f and above ``accuracy``.
    """
    size = np.linalg.norm(f)
    if size == 0.0:
        return np.zeros_like(f)
    basis, steps, H = [f / size], [], np.zeros((KRYLOV + 1, KRYLOV))
    with np.errstate(all="ignore"):
        for j in range(KRYLOV):
            steps.append(nearly(basis[j]))
            w = product(steps[j])
            for _ in range(2):  # twice: keeps the basis orthogonal in rounding
                for i in range(j + 1):
                    along = np.vdot(basis[i], w)
                    H[i, j] += along
                    w = w - along * basis[i]
            H[j + 1, j] = np.linalg.norm(w)
            if not np.isfinite(H).all():
                raise Singular("solution is not finite")
            right = np.zeros(j + 2)
            right[0] = size
            y, *_ = np.linalg.lstsq(H[: j + 2, : j + 1], right, rcond=None)
            rest = np.linalg.norm(H[: j + 2, : j + 1] @ y - right)
            if rest <= accuracy * size or H[j + 1, j] <= 1e-300:
                break
            basis.append(w / H[j + 1, j])
    if not rest <= max(TOLERABLE, accuracy) * size:
        raise Singular(f"relative residual {rest / size:.1e}")
    return sum(c * step for c, step in zip(y, steps, strict=True))
