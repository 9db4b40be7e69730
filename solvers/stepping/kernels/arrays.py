"""Small loops over arrays of nodes and rows, in compiled code."""

import math

from fem_mbs.jit import kernel


@kernel
def copy(a, b):
    """b ← a for arrays (N, k)."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


@kernel
def copy1(a, b):
    """b ← a for arrays (n,)."""
    for i in range(a.shape[0]):
        b[i] = a[i]


@kernel
def copy3(a, b):
    """b ← a for arrays (N, 3, 3)."""
    for i in range(a.shape[0]):
        for j in range(3):
            for k in range(3):
                b[i, j, k] = a[i, j, k]


@kernel
def largest(a):
    """Largest absolute value of an array (N, k)."""
    result = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            result = max(result, abs(a[i, j]))
    return result


@kernel
def largest_turn(D):
    """Largest rotation [rad] among increments D (N, 6)."""
    turn = 0.0
    for i in range(D.shape[0]):
        turn = max(turn, D[i, 3] ** 2 + D[i, 4] ** 2 + D[i, 5] ** 2)
    return math.sqrt(turn)


@kernel
def norm(a, n):
    """Euclidean norm of a (n,)."""
    total = 0.0
    for i in range(n):
        total += a[i] * a[i]
    return math.sqrt(total)
