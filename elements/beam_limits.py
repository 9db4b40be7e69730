"""Where a pose of a beam leaves what its element is made for: the kernels ``trouble``."""

import math

from fem_mbs.jit import kernel, local_matrix
from fem_mbs.rotations import multiply

LARGEST_ANGLE = 2.8  # rad between the ends of a segment; beyond π the relative rotation would flip its sign
_SMALLEST_COSINE = math.cos(LARGEST_ANGLE)


@kernel
def turned_too_far(S_A, S_B):
    """Whether two section frames are turned by more than `LARGEST_ANGLE` against each other, 1.0 or 0.0."""
    trace = 0.0
    for i in range(3):
        for k in range(3):
            trace += S_A[k, i] * S_B[k, i]
    return 1.0 if 0.5 * (trace - 1.0) < _SMALLEST_COSINE else 0.0


@kernel
def trouble(p, R_A, R_B):
    """1.0: the ends are turned too far against each other."""
    S_A, S_B = local_matrix(3, 3), local_matrix(3, 3)
    multiply(R_A, p.S_A, S_A)
    multiply(R_B, p.S_B, S_B)
    return turned_too_far(S_A, S_B)
