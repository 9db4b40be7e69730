"""METIS, where the system has it: an order of a symmetric pattern in which its factors fill in little.

CHOLMOD and UMFPACK call it with its defaults, one separator of each part. The best of five leaves some 5 % less fill in
solids, and 7 % fewer products.
"""

import ctypes
from typing import Any

import numpy as np

from fem_mbs.jit import address
from fem_mbs.linear.umfpack import library

SEPARATORS = 5  # that are tried of each part
_OPTIONS, _NSEPS, _OK = 40, 15, 1  # length of the array of options, a place in it, and the status; in all versions 5


def _at(array):
    return ctypes.c_void_p(address(array))


def nested_dissection(lower: Any) -> np.ndarray | None:
    """The row (n,) int32 of each row of the order.

    None without the library, or with one that is not built for numbers of 32 bits.

    Parameters
    ----------
    lower : (n, n) sparse, columns compressed
        The lower triangle of a matrix.
    """
    from scipy.sparse import csc_array, tril

    metis = library("metis")
    options = np.zeros(2 * _OPTIONS, np.int32)
    if metis is None or not hasattr(metis, "METIS_NodeND"):
        return None
    metis.METIS_SetDefaultOptions(_at(options))
    if options[_OPTIONS:].any():  # of 64 bits
        return None
    options[_NSEPS] = SEPARATORS
    n = np.array([lower.shape[0]], np.int32)
    pattern = tril(csc_array((np.ones(lower.nnz, np.int8), lower.indices, lower.indptr), shape=lower.shape), -1)
    pattern = (pattern + pattern.T).tocsc()
    pointers, rows = pattern.indptr.astype(np.int32, copy=False), pattern.indices.astype(np.int32, copy=False)
    order, place = np.zeros(n[0], np.int32), np.zeros(n[0], np.int32)
    status = metis.METIS_NodeND(_at(n), _at(pointers), _at(rows), None, _at(options), _at(order), _at(place))
    whole = status == _OK and np.array_equal(np.sort(order), np.arange(n[0]))  # a wrong one would end in an error
    return order if whole else None
