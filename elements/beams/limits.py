"""Limits of validity of beam elements: the kernels ``trouble``."""

import math

from fem_mbs.elements.beams.two_node_kernels import initial
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import multiply

LARGEST_ANGLE = 2.8  # rad between the ends of a segment; beyond π the relative rotation would flip its sign
TENSION_TWO_NODE = 6.0  # N L²/EI of the two-node element with the reference strain, which is unstable from 12 on
_SMALLEST_COSINE = math.cos(LARGEST_ANGLE)


@kernel
def turned_too_far(S_A, S_B):
    """Return 1.0 if two section frames are rotated by more than `LARGEST_ANGLE` relative to each other, else 0.0."""
    trace = 0.0
    for i in range(3):
        for k in range(3):
            trace += S_A[k, i] * S_B[k, i]
    return 1.0 if 0.5 * (trace - 1.0) < _SMALLEST_COSINE else 0.0


@kernel
def tension_number(p, x_A, R_A, x_B, R_B):
    """N L²/EI of a two-node element, EI the smaller one."""
    w = local_vector(6)
    initial(p, x_A, R_A, x_B, R_B, w)
    return w[0] * 12.0 * max(p.F2[4, 4], p.F2[5, 5])


@kernel
def trouble_two_node(p, x_A, R_A, x_B, R_B):
    """1.0: the ends are turned too far against each other; 2.0: tension beyond the limit of the reference strain."""
    S_A, S_B = local_arrays("3 3, 3 3")
    multiply(R_A, p.S_A, S_A)
    multiply(R_B, p.S_B, S_B)
    if turned_too_far(S_A, S_B) > 0.0:
        return 1.0
    if p.large_strain == 0.0 and tension_number(p, x_A, R_A, x_B, R_B) > TENSION_TWO_NODE:
        return 2.0
    return 0.0


@kernel
def trouble_three_pose(p, R):
    """1.0 or 2.0: the ends of the first or of the second half are turned too far against each other."""
    S = local_matrix(3, 3)
    multiply(R[0], p.S_A, S)
    if turned_too_far(S, R[1]) > 0.0:
        return 1.0
    multiply(R[2], p.S_B, S)
    return 2.0 * turned_too_far(R[1], S)
