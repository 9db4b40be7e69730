"""Forces along the two common tangents of two circles: flanks of involute teeth, spans of a belt.

d is the vector from P to Q, in the plane of the wheels; φ_1 the angle of x_P against d about z_P, φ_2 that of x_Q
against −d about z_Q, both unwrapped (multi-turn); a = |d|. With signed radii r_1, r_2 and κ = |r_1 + r_2|

    q = r_1 φ_1 + r_2 φ_2 − ψ_0          h(a) = √(a² − κ²) − κ acos(κ/a)                                          (1)
    ε± = ±q + s (h − h_0) − b±           h' = √(1 − κ²/a²) ,   h'' = κ²/(a³ h')                                  (2)
    F± = max(F_0 + k ε± + c ε̇±, 0)  where F_0 + k ε± > 0, else 0                                                (3)
    V = Σ± (F_0 + k ε±)²/2k  where F_0 + k ε± > 0 ,   f = −Σ± (F± ∇ε± + ½ k' ε±² ∇φ_1)                           (4)

The tangential part of ∇ε is κ/a and its radial part h': a unit vector along the tangent. h = κ (tan α − α) with
cos α = κ/a, κ times the involute function.

    teeth, external       r_1 = r_b1, r_2 = r_b2,    s = −1     ε is the compression of the two flanks
    teeth, internal       r_1 = r_b1, r_2 = −r_b2,   s = +1
    belt, open            r_1 = r_1,  r_2 = −r_2,    s = +1     ε is the stretch of the two spans
    belt, crossed         r_1 = r_1,  r_2 = r_2,     s = +1

k may depend on φ_1, with a period of one pitch; F_0 is 0 then. The last term of (4) belongs to it: with it the mesh
neither makes nor loses energy. Angles come from rows "in plane" of `joints.rows`, (3): with their c = x_P·d, s = y_P·d,
φ_1 = −atan2(s, c), a² = c² + s², and

    ∇φ = −(c ∇s − s ∇c)/a²    H_φ = −(c H_s − s H_c)/a² − (∇sᵀ∇c − ∇cᵀ∇s)/a² − 2 ∇φᵀ∇a/a                         (5)
    ∇a = (c ∇c + s ∇s)/a      H_a = (c H_c + s H_s + ∇cᵀ∇c + ∇sᵀ∇s)/a − ∇aᵀ∇a/a                                  (6)

Source: docs/theory/gears_and_belts.md, (7)-(10); derived there, checked by differences.

    symbol       code              shape    unit     meaning
    φ_1, φ_2, a  u                 (3,)     rad, m   angles of the wheels against the centre line, centre distance
    ∇, H of u    U, HU             (3, 12), (3, 12, 12)  first and second derivatives
    ψ_0, b±      p.psi_0, p.b      ()       m        ε = 0 on flank +; clearance on flank −
    k(φ_1)       p.table_at        (n, 4)   N/m      cubic pieces over one pitch, see `stiffness_at`
    F_0          p.preload         ()       N        tension of a belt at rest
    ±            p.flank           ()       -        of a rigid flank (`drives.loose_gears`) alone
"""

import math

import numpy as np

from fem_mbs.element.base import JOINT_FRAMES
from fem_mbs.elements.joints.rows import plane_hessian, plane_row
from fem_mbs.jit import kernel, local_arrays, local_matrix, matrix

SPANS = np.dtype(
    [
        *JOINT_FRAMES.descr, ("r_1", "f8"), ("r_2", "f8"), ("kappa", "f8"), ("side", "f8"), ("h_0", "f8"),
        ("psi_0", "f8"), ("b", "f8"), ("preload", "f8"), ("damping", "f8"), ("teeth", "f8"), ("phase", "f8"),
        ("flank", "f8"), ("table_at", "i8"), ("pieces", "i8"),
    ]
)  # fmt: skip


@kernel
def nearest_turn(angle, near):
    """The angle [rad] that differs from ``angle`` by whole turns and is nearest to ``near``."""
    turn = angle - near
    return near + turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)


@kernel
def tangent_length(kappa, a):
    """h of (1) [m]; 0 where the circles have no common tangents (`trouble_tangents` reports such poses)."""
    if a <= kappa:
        return 0.0
    return math.sqrt(a * a - kappa * kappa) - (kappa * math.acos(kappa / a) if kappa > 0.0 else 0.0)


@kernel
def _centre_rows(p, wheel, x_A, R_A, x_B, R_B, g, GS):
    """Fill g (2,) with (c, s) of a wheel and GS (2, 12) with their gradients; columns x_A, θ_A, x_B, θ_B."""
    g[:] = 0.0
    GS[:, :] = 0.0
    if wheel == 0:
        for i in range(2):
            plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, g, GS)
        return
    for i in range(2):
        plane_row(x_B, R_B, p.p_BQ, p.R_BQ, x_A, R_A, p.p_AP, i, i, g, GS)
        for j in range(6):
            GS[i, j], GS[i, 6 + j] = GS[i, 6 + j], GS[i, j]


@kernel
def centre_line(p, x_A, R_A, x_B, R_B, state, u, U):
    """Fill u (3,) with φ_1, φ_2, a and U (3, 12) with their gradients, (5), (6)."""
    g, GS = local_arrays("2, 2 12")
    for wheel in range(2):
        _centre_rows(p, wheel, x_A, R_A, x_B, R_B, g, GS)
        square = g[0] * g[0] + g[1] * g[1]
        u[wheel] = nearest_turn(-math.atan2(g[1], g[0]), state[wheel])
        for j in range(12):
            U[wheel, j] = -(g[0] * GS[1, j] - g[1] * GS[0, j]) / square
        if wheel == 0:
            u[2] = math.sqrt(square)
            for j in range(12):
                U[2, j] = (g[0] * GS[0, j] + g[1] * GS[1, j]) / u[2]


@kernel
def centre_line_hessian(p, x_A, R_A, x_B, R_B, HU):
    """Fill HU (3, 12, 12) with the second derivatives of φ_1, φ_2, a, (5), (6)."""
    g, GS = local_arrays("2, 2 12")
    HS = local_arrays("2 12 12")[0]
    G, A = local_arrays("12, 12")
    for wheel in range(2):
        _centre_rows(p, wheel, x_A, R_A, x_B, R_B, g, GS)
        HS[:] = 0.0
        swap = 6 * wheel  # the rows of the second wheel begin with its own body
        for i in range(2):
            if wheel == 0:
                plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, HS)
            else:
                plane_hessian(x_B, R_B, p.p_BQ, p.R_BQ, x_A, R_A, p.p_AP, i, i, HS)
        square = g[0] * g[0] + g[1] * g[1]
        a = math.sqrt(square)
        for j in range(12):
            G[j] = -(g[0] * GS[1, j] - g[1] * GS[0, j]) / square
            A[j] = (g[0] * GS[0, j] + g[1] * GS[1, j]) / a
        for i in range(12):
            for j in range(12):
                Hc = HS[0, (i + swap) % 12, (j + swap) % 12]
                Hs = HS[1, (i + swap) % 12, (j + swap) % 12]
                turn = g[0] * Hs - g[1] * Hc + GS[1, i] * GS[0, j] - GS[0, i] * GS[1, j]
                HU[wheel, i, j] = -turn / square - 2.0 * G[i] * A[j] / a
                if wheel == 0:
                    apart = g[0] * Hc + g[1] * Hs + GS[0, i] * GS[0, j] + GS[1, i] * GS[1, j]
                    HU[2, i, j] = (apart - A[i] * A[j]) / a


@kernel
def stiffness_at(p, phi, k):
    """Fill k (3,) with the stiffness and its first two derivatives by φ_1 at φ_1 = ``phi``."""
    table = matrix(p.table_at, p.pieces, 4)
    if p.teeth == 0.0:
        k[0], k[1], k[2] = table[0, 0], 0.0, 0.0
        return
    scale = p.teeth / (2.0 * math.pi) * p.pieces  # pieces per radian
    place = (phi * p.teeth / (2.0 * math.pi) + p.phase) * p.pieces
    whole = math.floor(place)
    t = place - whole
    if not 0.0 <= t <= 1.0:  # not a number: no place in the table
        k[0], k[1], k[2] = t, t, t
        return
    c = table[int(whole - p.pieces * math.floor(whole / p.pieces))]
    k[0] = c[0] + t * (c[1] + t * (c[2] + t * c[3]))
    k[1] = scale * (c[1] + t * (2.0 * c[2] + 3.0 * t * c[3]))
    k[2] = scale * scale * (2.0 * c[2] + 6.0 * t * c[3])


@kernel
def stretch(p, u, flank):
    """ε of (2) [m]; flank +1 or −1."""
    q = p.r_1 * u[0] + p.r_2 * u[1] - p.psi_0
    return flank * q + p.side * (tangent_length(p.kappa, u[2]) - p.h_0) - (p.b if flank < 0.0 else 0.0)


@kernel
def stretch_gradient(p, u, U, flank, G):
    """Fill G (12,) with ∇ε of (2)."""
    ratio = min(p.kappa / u[2], 1.0)
    slope = p.side * math.sqrt(1.0 - ratio * ratio)
    for j in range(12):
        G[j] = flank * (p.r_1 * U[0, j] + p.r_2 * U[1, j]) + slope * U[2, j]


@kernel
def stretch_hessian(p, u, U, HU, flank, H):
    """Fill H (12, 12) with the second derivatives of (2)."""
    ratio = min(p.kappa / u[2], 1.0)
    slope = math.sqrt(1.0 - ratio * ratio)
    bend = p.side * ratio * ratio / (u[2] * slope) if slope > 0.0 else 0.0
    for i in range(12):
        for j in range(12):
            H[i, j] = flank * (p.r_1 * HU[0, i, j] + p.r_2 * HU[1, i, j]) + p.side * slope * HU[2, i, j]
            H[i, j] += bend * U[2, i] * U[2, j]


@kernel
def span_force(p, k, stretched, rate):
    """F of (3) [N]."""
    elastic = p.preload + k * stretched
    force = elastic + p.damping * rate
    return 0.0 if elastic <= 0.0 or force <= 0.0 else force  # NaN stays NaN, and stops the run


@kernel
def spans_force(p, x_A, R_A, x_B, R_B, v, state, f):
    """Add (4) to f (12,)."""
    u, U, G, k = local_arrays("3, 3 12, 12, 3")
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    stiffness_at(p, u[0], k)
    for flank in (1.0, -1.0):
        stretched, rate = stretch(p, u, flank), 0.0
        stretch_gradient(p, u, U, flank, G)
        for j in range(12):
            rate += G[j] * v[j]
        force = span_force(p, k[0], stretched, rate)
        turning = 0.5 * k[1] * stretched * stretched if p.preload + k[0] * stretched > 0.0 else 0.0
        for j in range(12):
            f[j] -= force * G[j] + turning * U[0, j]


@kernel
def spans_tangent(p, x_A, R_A, x_B, R_B, v, state, K, C):
    """Add −∂f/∂q and −∂f/∂v of (4) to K and C (12, 12)."""
    u, U, G, k, dF = local_arrays("3, 3 12, 12, 3, 12")
    HU, H = local_arrays("3 12 12")[0], local_matrix(12, 12)
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    centre_line_hessian(p, x_A, R_A, x_B, R_B, HU)
    stiffness_at(p, u[0], k)
    for flank in (1.0, -1.0):
        stretched, rate = stretch(p, u, flank), 0.0
        if p.preload + k[0] * stretched <= 0.0:
            continue
        stretch_gradient(p, u, U, flank, G)
        stretch_hessian(p, u, U, HU, flank, H)
        for j in range(12):
            rate += G[j] * v[j]
        force = span_force(p, k[0], stretched, rate)
        pressed = 1.0 if force > 0.0 else 0.0  # where damping would pull, (3) gives no force at all
        for j in range(12):
            along = 0.0
            for i in range(12):
                along += v[i] * H[i, j]
            dF[j] = pressed * (k[0] * G[j] + k[1] * stretched * U[0, j] + p.damping * along)
        for i in range(12):
            for j in range(12):
                K[i, j] += G[i] * dF[j] + force * H[i, j]
                C[i, j] += pressed * p.damping * G[i] * G[j]
                if k[1] != 0.0 or k[2] != 0.0:
                    bent = k[2] * U[0, i] * U[0, j] + k[1] * HU[0, i, j]
                    K[i, j] += stretched * (0.5 * stretched * bent + k[1] * U[0, i] * G[j])


@kernel
def energy_spans(p, x_A, R_A, x_B, R_B, state):
    """Potential V of (4) [J]."""
    u, U, k = local_arrays("3, 3 12, 3")
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    stiffness_at(p, u[0], k)
    energy = 0.0
    for flank in (1.0, -1.0):
        elastic = p.preload + k[0] * stretch(p, u, flank)
        energy += 0.5 * elastic * elastic / k[0] if elastic > 0.0 else 0.0
    return energy


@kernel
def first_angles(p, x_A, R_A, x_B, R_B, state):
    """Angles of the wheels at the start, in (−π, π]."""
    u, U, near = local_arrays("3, 3 12, 2")
    near[0], near[1] = 0.0, 0.0
    centre_line(p, x_A, R_A, x_B, R_B, near, u, U)
    state[0], state[1] = u[0], u[1]


@kernel
def count_angles(p, x_A, R_A, x_B, R_B, state):
    """Angles of the wheels at the end of a step."""
    u, U = local_arrays("3, 3 12")
    centre_line(p, x_A, R_A, x_B, R_B, state, u, U)
    state[0], state[1] = u[0], u[1]


@kernel
def trouble_tangents(p, x_A, R_A, x_B, R_B):
    """1 where the circles have no common tangents: the wheels are nearer than their base circles."""
    g, GS = local_arrays("2, 2 12")
    _centre_rows(p, 0, x_A, R_A, x_B, R_B, g, GS)
    return 1.0 if g[0] * g[0] + g[1] * g[1] <= p.kappa * p.kappa else 0.0
