"""Input of contact problems, as arrays of real numbers, or an error that states what is wrong with it."""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fem_mbs.errors import ParameterError

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.arguments.checked import ArrayLike


PRODUCTS = (sp.csr_array, sp.csc_array, sp.bsr_array, sp.csr_matrix, sp.csc_matrix, sp.bsr_matrix)


class Unsuitable(ValueError):
    """A method cannot take this problem or this option; says why and what to take instead."""


def real_array(owner: object, parameter: str, value: "ArrayLike", *, finite: bool = True) -> np.ndarray:
    """Array of float64 made of numbers, arrays or lists.

    Parameters
    ----------
    owner, parameter : who is named in errors, and which argument
    value : what was given
    finite : bool, True if NaN and infinity raise an error

    Raises
    ------
    ParameterError
        Not numbers, rows of different lengths, complex or not finite.
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "cbiuf":
            array = np.asarray(value, float)
    except (TypeError, ValueError):
        kind = f"of type {type(value).__name__} is not"
        raise ParameterError(owner, parameter, _short(value), f"{kind} an array of numbers") from None
    if array.dtype.kind == "c":
        message = "is complex; contact problems are real: give its real part"
        raise ParameterError(owner, parameter, f"an array {array.shape}", message)
    array = np.asarray(array, float)
    if finite and not np.isfinite(array).all():
        shown = array if array.ndim < 2 else f"an array {array.shape}"
        raise ParameterError(owner, parameter, shown, "has entries that are not finite")
    return array


def real_matrix(owner: object, parameter: str, value: "ArrayLike | csc_array") -> "np.ndarray | csc_array":
    """Matrix as an array or a sparse array that can be multiplied, real and finite; lists and all sparse formats do.

    Raises
    ------
    ParameterError
        As `real_array`, or not two-dimensional.
    """
    if sp.issparse(value):
        matrix = value if isinstance(value, PRODUCTS) else sp.csr_array(value)
        matrix = matrix if matrix.dtype == float else matrix.astype(_real_type(owner, parameter, matrix))
        if not np.isfinite(matrix.data).all():
            raise ParameterError(owner, parameter, f"a sparse matrix {matrix.shape}", "has entries that are not finite")
    else:
        matrix = real_array(owner, parameter, value)
        matrix = matrix.reshape(0, 0) if matrix.size == 0 and matrix.ndim < 2 else matrix
    if matrix.ndim != 2:
        raise ParameterError(owner, parameter, matrix.shape, "must be the shape of a matrix: rows and columns")
    return matrix


def _real_type(owner, parameter, matrix):
    """float64, or an error when the entries are no real numbers."""
    if matrix.dtype.kind not in "biuf":
        raise ParameterError(
            owner, parameter, f"a sparse matrix of {matrix.dtype}", "must hold real numbers; give its real part"
        )
    return np.float64


def _short(value):
    """A value that fits into a message."""
    text = repr(value)
    return value if len(text) <= 60 else f"{text[:57]}..."
