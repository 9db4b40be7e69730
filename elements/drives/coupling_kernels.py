"""Couplings of joint coordinates in compiled code: gear pairs, racks, differentials; with the force of teeth.

One row for coordinates ξ_k of up to four joints, unwrapped (`joints.coordinates.kernels`). Teeth of a wheel on
joint k press in the direction b_k at the point s_k, both in axes of P_k, and so load the joint. They bring the
displacement D = x_Q − x_P in axes of P_k and the tilt τ = (−y_P·z_Q, x_P·z_Q, y_P·x_Q) into the row, which the joint
keeps at 0:

    g = Σ_k [ c_k ξ_k + b_k·D + τ·((s_k − D) × b_k) ] − g_0 − n p                                                (1)

of a turning wheel without the third component of τ, which is ξ. On the joint's own g = 0 (1) is Σ c_k ξ_k − g_0, and
its gradient is that of the velocity of the teeth along b: n·(v_1 − v_2) at the pitch point. With w = (D, τ),

    (1) = L·w + ½ wᵀQw ,   G = Σ_r (∂g/∂w_r) G_r ,   H = Σ_r (∂g/∂w_r) H_r + Σ_rs Q_rs G_rᵀ G_s                    (2)

    b_k = b⁰_k + σ b¹_k ,  σ = sign λ                                                                            (3)

b¹ separates the wheels. The flank that is loaded, σ, is that of the last accepted step. n is an integer found at the
start: any tooth may be in any gap (p, one pitch), also where a run begins with wheels that have turned before.

Source: docs/theory/gears_and_belts.md, (1)-(5); rows of (2) from `joints.rows`; checked by differences.

    symbol    code                     shape    unit      meaning
    c_k       p.c                      (4,)     m, 1      coefficients of the coordinates
    b⁰, b¹, s p.along, p.apart, p.point (4, 3)  -, -, m   tangential and separating direction, pitch point
    teeth     p.teeth                  (4,)     -         0: none, 1: of a wheel that rotates, 2: of a rack
    A_k, B_k  p.first, p.second        (4,)     -         numbers of the two nodes of joint k in the element
"""

import math

import numpy as np

from fem_mbs.elements.joints.coordinates.kernels import coordinate_gradient, coordinate_hessian, coordinate_value
from fem_mbs.elements.joints.rows import axes_hessian, axes_row, plane_hessian, plane_row
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import add_rotated, rotate

MOST = 4  # joints of one row
TEETH_OF_WHEEL, TEETH_OF_RACK = 1, 2
COUPLING = np.dtype(
    [
        ("count", "i8"), ("first", "i8", (MOST,)), ("second", "i8", (MOST,)), ("kind", "i8", (MOST,)),
        ("p_AP", "f8", (MOST, 3)), ("R_AP", "f8", (MOST, 3, 3)), ("p_BQ", "f8", (MOST, 3)),
        ("R_BQ", "f8", (MOST, 3, 3)), ("c", "f8", (MOST,)), ("teeth", "i8", (MOST,)), ("along", "f8", (MOST, 3)),
        ("apart", "f8", (MOST, 3)), ("point", "f8", (MOST, 3)), ("start", "f8", (MOST,)), ("offset", "f8"),
        ("pitch", "f8"), ("flank", "f8"),
    ]
)  # fmt: skip
TURNS, FLANK = MOST, MOST + 1  # places in the state after the turns: n p of (1), σ of (3)
N_STATE = MOST + 2


@kernel
def _tooth_rows(p, k, x_A, R_A, x_B, R_B, w, G):
    """Fill w (6,) with (D, τ) of (1) and G (6, 12) with their gradients."""
    w[:] = 0.0
    G[:, :] = 0.0
    for i in range(3):
        plane_row(x_A, R_A, p.p_AP[k], p.R_AP[k], x_B, R_B, p.p_BQ[k], i, i, w, G)
    axes_row(R_A, p.R_AP[k], 1, R_B, p.R_BQ[k], 2, 3, w, G)
    axes_row(R_A, p.R_AP[k], 0, R_B, p.R_BQ[k], 2, 4, w, G)
    axes_row(R_A, p.R_AP[k], 1, R_B, p.R_BQ[k], 0, 5, w, G)
    w[3] = -w[3]
    for j in range(12):
        G[3, j] = -G[3, j]


@kernel
def _pressing(p, k, state, b):
    """Fill b (3,) of (3)."""
    for i in range(3):
        b[i] = p.along[k, i] + state[FLANK] * p.apart[k, i]


@kernel
def _tooth_value(p, k, b, w, dw):
    """The part b·D + τ·((s − D) × b) of (1); fills dw (6,) with its derivatives by w."""
    m, arm = local_arrays("3, 3")
    for i in range(3):
        arm[i] = p.point[k, i] - w[i]
    tilts = 3 if p.teeth[k] == TEETH_OF_RACK else 2
    value = 0.0
    for i in range(3):
        m[i] = arm[(i + 1) % 3] * b[(i + 2) % 3] - arm[(i + 2) % 3] * b[(i + 1) % 3]
        dw[i] = b[i]
        dw[3 + i] = m[i] if i < tilts else 0.0
        value += b[i] * w[i]
    for i in range(tilts):
        value += w[3 + i] * m[i]
        dw[(i + 1) % 3] -= w[3 + i] * b[(i + 2) % 3]
        dw[(i + 2) % 3] += w[3 + i] * b[(i + 1) % 3]
    return value


@kernel
def _term(p, k, x, R, state, G):
    """Value of term k of (1); fills G (12,) with its gradient."""
    A, B = p.first[k], p.second[k]
    for j in range(12):
        G[j] = 0.0
    value = 0.0
    if p.c[k] != 0.0:
        value = p.c[k] * coordinate_gradient(
            p.kind[k], p.p_AP[k], p.R_AP[k], p.p_BQ[k], p.R_BQ[k], state[k], x[A], R[A], x[B], R[B], G
        )
        for j in range(12):
            G[j] *= p.c[k]
    if p.teeth[k] != 0:
        w, rows, b, dw = local_arrays("6, 6 12, 3, 6")
        _tooth_rows(p, k, x[A], R[A], x[B], R[B], w, rows)
        _pressing(p, k, state, b)
        value += _tooth_value(p, k, b, w, dw)
        for r in range(6):
            for j in range(12):
                G[j] += dw[r] * rows[r, j]
    return value


@kernel
def _tooth_hessian(p, k, x_A, R_A, x_B, R_B, state, H):
    """Add the second derivatives (2) of the teeth of term k to H (12, 12)."""
    w, rows, b, dw = local_arrays("6, 6 12, 3, 6")
    HS = local_arrays("6 12 12")[0]
    HS[:] = 0.0
    _tooth_rows(p, k, x_A, R_A, x_B, R_B, w, rows)
    _pressing(p, k, state, b)
    _tooth_value(p, k, b, w, dw)
    for i in range(3):
        plane_hessian(x_A, R_A, p.p_AP[k], p.R_AP[k], x_B, R_B, p.p_BQ[k], i, i, HS)
    axes_hessian(R_A, p.R_AP[k], 1, R_B, p.R_BQ[k], 2, 3, HS)
    axes_hessian(R_A, p.R_AP[k], 0, R_B, p.R_BQ[k], 2, 4, HS)
    axes_hessian(R_A, p.R_AP[k], 1, R_B, p.R_BQ[k], 0, 5, HS)
    dw[3] = -dw[3]  # `_tooth_rows` reverses the sign of this row
    for i in range(12):
        for j in range(12):
            for r in range(6):
                H[i, j] += dw[r] * HS[r, i, j]
            for t in range(3 if p.teeth[k] == TEETH_OF_RACK else 2):
                # ∂²/∂τ_t∂D: +b of the one direction, −b of the other
                u, v = (t + 1) % 3, (t + 2) % 3
                H[i, j] -= b[v] * (rows[3 + t, i] * rows[u, j] + rows[u, i] * rows[3 + t, j])
                H[i, j] += b[u] * (rows[3 + t, i] * rows[v, j] + rows[v, i] * rows[3 + t, j])


@kernel
def coupling_constraint(p, x, R, state, g, G):
    """Add (1) to g (1,) and its gradient to G (1, nd)."""
    term = local_vector(12)
    g[0] -= p.offset + state[TURNS]
    for k in range(p.count):
        g[0] += _term(p, k, x, R, state, term)
        for j in range(6):
            G[0, 6 * p.first[k] + j] += term[j]
            G[0, 6 * p.second[k] + j] += term[6 + j]


@kernel
def coupling_hessian(p, x, R, state, H):
    """Add ∂Gᵀ/∂q of (1) to H (1, nd, nd)."""
    term = local_matrix(12, 12)
    for k in range(p.count):
        A, B = p.first[k], p.second[k]
        for i in range(12):
            for j in range(12):
                term[i, j] = 0.0
        if p.c[k] != 0.0:
            coordinate_hessian(p.kind[k], p.p_AP[k], p.R_AP[k], p.p_BQ[k], p.R_BQ[k], x[A], R[A], x[B], R[B], term)
            for i in range(12):
                for j in range(12):
                    term[i, j] *= p.c[k]
        if p.teeth[k] != 0:
            _tooth_hessian(p, k, x[A], R[A], x[B], R[B], state, term)
        for i in range(12):
            row = 6 * A + i if i < 6 else 6 * B + i - 6
            for j in range(12):
                H[0, row, 6 * A + j if j < 6 else 6 * B + j - 6] += term[i, j]


@kernel
def _coordinate(p, k, x, R, near):
    """Value of coordinate k, unwrapped from ``near``."""
    A, B = p.first[k], p.second[k]
    return coordinate_value(p.kind[k], p.p_AP[k], p.R_AP[k], p.p_BQ[k], p.R_BQ[k], near, x[A], R[A], x[B], R[B])


@kernel
def first_coordinates(p, x, R, state):
    """Turns near those of the start, no flank unless one is given, and n p of (1)."""
    term = local_vector(12)
    total = -p.offset
    state[TURNS], state[FLANK] = 0.0, p.flank
    for k in range(p.count):
        state[k] = _coordinate(p, k, x, R, p.start[k])
        total += _term(p, k, x, R, state, term)
    if p.pitch > 0.0:
        state[TURNS] = p.pitch * math.floor(total / p.pitch + 0.5)


@kernel
def count_coordinates(p, x, R, lam, state):
    """Turns at the end of a step, and the flank that is loaded there."""
    for k in range(p.count):
        state[k] = _coordinate(p, k, x, R, state[k])
    if p.flank == 0.0 and lam[0] != 0.0:
        state[FLANK] = 1.0 if lam[0] > 0.0 else -1.0


@kernel
def coupling_output(p, x, R, state, lam, out):
    """λ; then of each joint the moment or force on its second body along the coordinate, and the coordinate; then the
    force of the teeth on the second body of joint 0, inertial axes."""
    b, n = local_arrays("3, 3")
    out[0] += lam[0]
    for k in range(p.count):
        _pressing(p, k, state, b)
        out[1 + k] += lam[0] * (p.c[k] + (b[2] if p.teeth[k] == TEETH_OF_RACK else 0.0))
        out[1 + p.count + k] += _coordinate(p, k, x, R, state[k])
    if p.teeth[0] != 0:
        _pressing(p, 0, state, b)
        rotate(p.R_AP[0], b, n)
        add_rotated(lam[0], R[p.first[0]], n, out[1 + 2 * p.count : 4 + 2 * p.count])
