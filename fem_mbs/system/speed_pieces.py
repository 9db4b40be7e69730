"""Coefficients that depend on a speed, in the one form that compiled code has: pieces, each from a speed on.

    c(v) = a + b φ( (v/w)^q ) ,   v ≥ v_i ;       φ(x) = x  or  exp(−x)                                             (1)

Tables are pieces with q = 1, constants have b = 0.

    symbol          code
    v_i             start      [m/s]; the first is 0, unused ones are infinite
    a, b, w, q      constant, factor, scale [m/s], exponent
    φ               kind       `POWER` or `EXPONENTIAL`
"""

import math
from collections.abc import Sequence

import numpy as np
from numba import carray

from fem_mbs.jit import kernel, void_pointer

PIECE = np.dtype([(name, "f8") for name in ("start", "constant", "factor", "scale", "exponent")] + [("kind", "i8")])
POWER, EXPONENTIAL = 0, 1
PIECE_BYTES = PIECE.itemsize
NO_PIECES = np.zeros(0, PIECE)


def table_of_pieces(laws: Sequence[np.ndarray]) -> np.ndarray:
    """Pieces (n, k) of n laws, the shorter ones filled up with unused ones; (n, 0) if none depends on the speed."""
    if not any((pieces["factor"] != 0.0).any() for pieces in laws):
        return np.zeros((len(laws), 0), PIECE)
    table = np.zeros((len(laws), max(map(len, laws))), PIECE)
    table["start"], table["scale"] = np.inf, 1.0
    for row, pieces in zip(table, laws):
        row[: len(pieces)] = pieces
    return table


@kernel
def value_of(pieces, speed):
    """c(v) of (1) at a speed ≥ 0 [m/s]; never negative by round-off."""
    k = 0
    while k + 1 < len(pieces) and speed >= pieces[k + 1].start:
        k += 1
    piece = pieces[k]
    if piece.factor == 0.0:
        return piece.constant
    x = speed / piece.scale
    x = x * x if piece.exponent == 2.0 else x**piece.exponent
    return max(piece.constant + piece.factor * (math.exp(-x) if piece.kind == EXPONENTIAL else x), 0.0)


@kernel
def values_of(pieces, speeds):
    """c(v) (n,) of (1) at speeds (n,)."""
    found = np.empty(len(speeds))
    for i in range(len(speeds)):
        found[i] = value_of(pieces, speeds[i])
    return found


@kernel
def pieces_at(at, count, e):
    """Pieces (count,) of contact e of the table (n, count) at an address."""
    return carray(void_pointer(at + e * count * PIECE_BYTES), (count,), PIECE)


@kernel
def varies(at, count, e):
    """True if the coefficient of contact e of such a table depends on the speed; of none (count = 0) it does not."""
    if count == 0:
        return False
    pieces = pieces_at(at, count, e)
    for k in range(count):
        if pieces[k].factor != 0.0:
            return True
    return False
