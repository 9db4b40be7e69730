"""Coordinates of joints in compiled code: an unwrapped (multi-turn) angle about an axis, and a slide.

An angle is that of a direction of one body against two of the other, c its cosine and s its sine:

    kind      c           s                                                                     turn of
    TURN_Z    x_P·x_Q     y_P·x_Q       x of Q about z of P: hinge, first pin of a cross                       (1)
    TURN_X    z_P·z_Q     z_P·y_Q       Q about its x axis, seen from z of P: second pin of a cross            (2)

    θ = θ_n + wrap(atan2(s, c) − θ_n) ,   wrap to (−π, π] ,   n² = c² + s²                                     (3)
    G = (c G_s − s G_c)/n²                                                                                     (4)
    H = (c H_s − s H_c)/n² + (G_sᵀ G_c − G_cᵀ G_s)/n² − 2 Gᵀ(c G_c + s G_s)/n²                                 (5)

θ_n is the value at the end of the last accepted step, a `state` of the element that uses the coordinate. A step must
rotate by less than half a turn. (4), (5) hold at every angle, and where n is not 1: off g = 0.

A slide is the distance of Q from P along an axis of P, row "in plane" of `joints.rows`, (3):

    SLIDE_X, SLIDE_Y, SLIDE_Z      u·(x_Q − x_P)  with u = x_P, y_P, z_P                                       (6)

Source: docs/theory/joints.md, (12), (13); derived from the rows (2), (3) of `joints.rows`.

    symbol     code           shape    unit  meaning
    θ_n        near           ()       rad   value that the angle is within half a turn of
    c/n, s/n   g              (2,)     -     cosine and sine; gradients of c and s over n: GS (2, 12)
    G, H       G, H           (12,), (12, 12)  gradient and second derivatives; columns x_A, θ_A, x_B, θ_B
"""

import math

from fem_mbs.elements.joints.rows import along_axis, axes_hessian, axes_product, axes_row, plane_hessian, plane_row
from fem_mbs.jit import kernel, local_arrays, local_vector

TURN_Z, TURN_X, SLIDE_X, SLIDE_Y, SLIDE_Z = 0, 1, 2, 3, 4


@kernel
def _cosine_and_sine(kind, R_A, R_AP, R_B, R_BQ, g, GS):
    """Fill g (2,) with (c, s)/n of (1) or (2) and GS (2, 12) with (G_c, G_s)/n; return n."""
    g[:] = 0.0
    GS[:, :] = 0.0
    if kind == TURN_Z:
        axes_row(R_A, R_AP, 0, R_B, R_BQ, 0, 0, g, GS)
        axes_row(R_A, R_AP, 1, R_B, R_BQ, 0, 1, g, GS)
    else:
        axes_row(R_A, R_AP, 2, R_B, R_BQ, 2, 0, g, GS)
        axes_row(R_A, R_AP, 2, R_B, R_BQ, 1, 1, g, GS)
    n = math.sqrt(g[0] * g[0] + g[1] * g[1])
    for i in range(2):
        g[i] /= n
        for j in range(12):
            GS[i, j] /= n
    return n


@kernel
def _unwrapped(cosine, sine, near):
    """The angle with this cosine and sine, up to a common factor, that is nearest to ``near`` [rad]."""
    angle = math.atan2(sine, cosine)
    # whole turns are added, so that the last bits of ``near`` are not in the answer
    return angle + 2.0 * math.pi * math.floor((near - angle) / (2.0 * math.pi) + 0.5)


@kernel
def coordinate_value(kind, p_AP, R_AP, p_BQ, R_BQ, near, x_A, R_A, x_B, R_B):
    """Value of a coordinate [rad or m]; an angle is the one nearest to ``near`` [rad]."""
    if kind >= SLIDE_X:
        return along_axis(x_A, R_A, p_AP, R_AP, kind - SLIDE_X, x_B, R_B, p_BQ)
    if kind == TURN_Z:
        cosine, sine = axes_product(R_A, R_AP, 0, R_B, R_BQ, 0), axes_product(R_A, R_AP, 1, R_B, R_BQ, 0)
    else:
        cosine, sine = axes_product(R_A, R_AP, 2, R_B, R_BQ, 2), axes_product(R_A, R_AP, 2, R_B, R_BQ, 1)
    return _unwrapped(cosine, sine, near)


@kernel
def coordinate_gradient(kind, p_AP, R_AP, p_BQ, R_BQ, near, x_A, R_A, x_B, R_B, G):
    """Fill G (12,) with the gradient of a coordinate; return its value as `coordinate_value` does."""
    g, GS = local_arrays("2, 2 12")
    if kind >= SLIDE_X:
        g[:] = 0.0
        GS[:, :] = 0.0
        plane_row(x_A, R_A, p_AP, R_AP, x_B, R_B, p_BQ, kind - SLIDE_X, 0, g, GS)
        for j in range(12):
            G[j] = GS[0, j]
        return g[0]
    _cosine_and_sine(kind, R_A, R_AP, R_B, R_BQ, g, GS)
    for j in range(12):
        G[j] = g[0] * GS[1, j] - g[1] * GS[0, j]
    return _unwrapped(g[0], g[1], near)


@kernel
def coordinate_hessian(kind, p_AP, R_AP, p_BQ, R_BQ, x_A, R_A, x_B, R_B, H):
    """Fill H (12, 12) with the second derivatives ∂G_i/∂q_j of a coordinate."""
    HS = local_arrays("2 12 12")[0]
    HS[:] = 0.0
    if kind >= SLIDE_X:
        plane_hessian(x_A, R_A, p_AP, R_AP, x_B, R_B, p_BQ, kind - SLIDE_X, 0, HS)
        for i in range(12):
            for j in range(12):
                H[i, j] = HS[0, i, j]
        return
    g, GS, G = local_arrays("2, 2 12, 12")
    n = _cosine_and_sine(kind, R_A, R_AP, R_B, R_BQ, g, GS)
    if kind == TURN_Z:
        axes_hessian(R_A, R_AP, 0, R_B, R_BQ, 0, 0, HS)
        axes_hessian(R_A, R_AP, 1, R_B, R_BQ, 0, 1, HS)
    else:
        axes_hessian(R_A, R_AP, 2, R_B, R_BQ, 2, 0, HS)
        axes_hessian(R_A, R_AP, 2, R_B, R_BQ, 1, 1, HS)
    for j in range(12):
        G[j] = g[0] * GS[1, j] - g[1] * GS[0, j]
    for i in range(12):
        for j in range(12):
            H[i, j] = (g[0] * HS[1, i, j] - g[1] * HS[0, i, j]) / n + GS[1, i] * GS[0, j] - GS[0, i] * GS[1, j]
            H[i, j] -= 2.0 * G[i] * (g[0] * GS[0, j] + g[1] * GS[1, j])  # (5)


# --- for elements whose record has `COORDINATE`: the state ----------------------------------------------------------


@kernel
def count(p, x_A, R_A, x_B, R_B, state):
    """Value at the end of a step, counted on from ``state``."""
    state[0] = coordinate_value(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)


@kernel
def first(p, x_A, R_A, x_B, R_B, state):
    """Value at the start; angles in (−π, π]."""
    state[0] = coordinate_value(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, 0.0, x_A, R_A, x_B, R_B)


# --- for joints: outputs, and the state of an angle about z ---------------------------------------------------------


@kernel
def add_coordinate(kind, p, near, x_A, R_A, x_B, R_B, v, value, rate, out):
    """Add a coordinate to out[value] [rad or m] and its rate with velocities v (12,) to out[rate]."""
    G = local_vector(12)
    out[value] += coordinate_gradient(kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, near, x_A, R_A, x_B, R_B, G)
    for j in range(12):
        out[rate] += G[j] * v[j]


@kernel
def count_turn(p, x_A, R_A, x_B, R_B, state):
    """Angle (1) at the end of a step, counted on from ``state``."""
    state[0] = coordinate_value(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)


@kernel
def first_turn(p, x_A, R_A, x_B, R_B, state):
    """Angle (1) at the start, in (−π, π]."""
    state[0] = 0.0
    count_turn(p, x_A, R_A, x_B, R_B, state)
