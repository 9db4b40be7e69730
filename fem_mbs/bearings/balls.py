"""Balls between two grooved races in quasi-static equilibrium: forces on the inner ring and their derivatives.

In the half plane of ball j, at ψ_j from the x axis of the outer ring, with coordinates (r, z) along ê_j and the axis e:

    C_o = (R_go, 0)     C_i = (R_gi, a) + B_j q     q = (u_x, u_y, u_z, θ_x, θ_y)                                   (1)
    B_j = [ cos ψ   sin ψ   0      0          0      ]
          [   0       0     1  R_gi sin ψ  −R_gi cos ψ ]
    s_o = v − C_o,  s_i = C_i − v,   l = |s|,  u = s/l = (cos α, sin α),  τ = (−sin α, cos α)                        (2)
    δ_o = l_o − (f_o − ½)D,  δ_i = l_i − (f_i − ½)D,   Q = K δ^{3/2} for δ > 0
    0 = Q_i u_i − Q_o u_o + F_c (1, 0) + (M_g/D) (λ_i τ_i − λ_o τ_o)           ball centre v = (r, z)               (3)
    P = −Q_i u_i − λ_i (M_g/D) τ_i                                             force on the inner ring              (4)

Without forces of inertia the ball drops out: δ = |C_i − C_o| − A, Q = K_n δ^{3/2} (ISO/TS 16281). With them,

    F_c = ½ m d_m ω_m²,   M_g = (m D²/10) ω_m ω_r,   λ = (0, 2) outer, (1, 1) inner race control                     (5)
    ω_m (R + h cos α_o) + h (ω_z cos α_o − ω_r sin α_o) = ω_o (R + h cos α_o)        no slip, outer,  R = d_m/2      (6)
    ω_m (R − h cos α_i) − h (ω_z cos α_i − ω_r sin α_i) = ω_i (R − h cos α_i)        no slip, inner,  h = D/2
    (ω_m + ω_z) sin α_x + ω_r cos α_x = ω_x sin α_x                                  no spin at race x in control

ω_m is the speed of the cage, (ω_r, ω_z) the ball's rotation relative to it. Race control is a hypothesis, good at high
speed with oil; it moves contact angles by degrees and the stiffness by tens of per cent at 10⁶ d n.

(3) is solved by Newton's method in two stages: first with F_c at its first guess and M_g = 0, where it is the minimum
of a convex function and cannot fail; then the whole, with the exact Jacobian: F_c and M_g vary with the angles through
(6). The derivatives of (4) follow by static condensation of v. A ball with room to spare sits on the outer race,
α_o = 0, and does not touch the inner one. With outer control M_g goes to zero with α_o, so that a ball comes off the
inner race without a jump; with inner control M_g is there until it does, and the forces jump: choose inner control only
where all balls stay loaded.
Raceways have no shoulders: the groove continues to any contact angle.

Source: docs/theory/bearings.md, (5)-(10); Harris, Rolling Bearing Analysis, after Jones.

    symbol            code                 unit   meaning
    R_go, R_gi, a     law[R_GO] …          m      groove circles, their axial distance without load
    K_o, K_i, K_n     law[K_O] …           N/m^{3/2}  contacts, and both in series
    m, J              law[MASS], law[SPIN_INERTIA]   kg, kg m²   ball
    P                 b[FORCE_R], b[FORCE_Z]     N
    −∂P/∂C_i          b[S_RR] …            N/m    2 × 2
"""

import math
from typing import Any

import numpy as np

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector

# entries of law (N_RACE_LAW,): what kernels know of a bearing
(
    BALLS, R_GO, R_GI, OFFSET, REACH_O, REACH_I, K_O, K_I, K_N, HALF_PITCH, HALF_BALL, MASS, SPIN_INERTIA, INERTIA,
    INNER_CONTROL, SPALL, SPALL_RADIUS, SPALL_LENGTH, SPALL_DROP,
) = range(19)  # fmt: skip
N_RACE_LAW = 20
OUTER_SPALL, INNER_SPALL = 1.0, 2.0  # law[SPALL]; 0: none

# entries of b (N_BALL,): one ball in equilibrium
(
    FORCE_R, FORCE_Z, S_RR, S_RZ, S_ZR, S_ZZ, INNER_R, INNER_Z, OUTER_R, OUTER_Z, Q_I, Q_O, COS_I, SIN_I, COS_O, SIN_O,
    ORBIT, SPIN_Z, SPIN_R, CENTRIFUGAL, GYROSCOPIC, BALL_R, BALL_Z, STRAIN, FAILED,
) = range(25)  # fmt: skip
N_BALL = 26

_ITERATIONS = 60


def race_law(geometry: Any, *, inertia: bool = False, control: str = "outer", spall: Any = None) -> np.ndarray:
    """The numbers (N_RACE_LAW,) that the kernels below take, of a `BearingGeometry` and a `Spall`."""
    g, law = geometry, np.zeros(N_RACE_LAW)
    law[: INNER_CONTROL + 1] = (
        g.balls, g.groove_circle_outer, g.groove_circle_inner, g.axial_offset, g.reach_outer, g.reach_inner,
        g.outer.stiffness, g.inner.stiffness, g.stiffness, g.pitch_diameter / 2, g.ball_diameter / 2, g.ball_mass,
        g.ball_inertia, float(inertia), float(control == "inner"),
    )  # fmt: skip
    if spall is not None:
        law[SPALL_DROP], law[SPALL_RADIUS], law[SPALL_LENGTH] = spall.drop(g), spall.radius(g), spall.length
        law[SPALL] = OUTER_SPALL if spall.race == "outer" else INNER_SPALL
    return law


@kernel
def _solve3(A, b, x):
    """Fill x (3,) with the solution of A x = b, by cofactors."""
    c0 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c1 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c2 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    det = A[0, 0] * c0 + A[0, 1] * c1 + A[0, 2] * c2
    x[0] = b[0] * c0 + b[1] * (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2]) + b[2] * (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1])
    x[1] = b[0] * c1 + b[1] * (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]) + b[2] * (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2])
    x[2] = b[0] * c2 + b[1] * (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]) + b[2] * (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    for i in range(3):
        x[i] /= det


@kernel
def ball_speeds(law, ci, si, co, so, inner_speed, outer_speed, Y):
    """Fill Y (5, 3): (ω_m, ω_z, ω_r) of (6), then its derivatives with respect to α_o, α_i, ω_i, ω_o."""
    A, b, y = local_arrays("3 3, 3, 3")
    R, h = law[HALF_PITCH], law[HALF_BALL]
    inner = law[INNER_CONTROL] != 0.0
    A[0, 0], A[0, 1], A[0, 2] = R + h * co, h * co, -h * so
    A[1, 0], A[1, 1], A[1, 2] = R - h * ci, -h * ci, h * si
    sx, cx, wx = so, co, outer_speed
    if inner:
        sx, cx, wx = si, ci, inner_speed
    A[2, 0], A[2, 1], A[2, 2] = sx, sx, cx
    b[0], b[1], b[2] = outer_speed * A[0, 0], inner_speed * A[1, 0], wx * sx
    _solve3(A, b, y)
    for k in range(3):
        Y[0, k] = y[k]
    about_control = wx * cx - (y[0] + y[1]) * cx + y[2] * sx
    # ∂/∂α_o of the three equations, at fixed speeds
    b[0] = -outer_speed * h * so + h * so * (y[0] + y[1]) + h * co * y[2]
    b[1] = 0.0
    b[2] = 0.0 if inner else about_control
    _solve3(A, b, Y[1])
    b[0] = 0.0
    b[1] = inner_speed * h * si - h * si * (y[0] + y[1]) - h * ci * y[2]
    b[2] = about_control if inner else 0.0
    _solve3(A, b, Y[2])
    b[0], b[1], b[2] = 0.0, A[1, 0], (sx if inner else 0.0)
    _solve3(A, b, Y[3])
    b[0], b[1], b[2] = A[0, 0], 0.0, (0.0 if inner else sx)
    _solve3(A, b, Y[4])


@kernel
def _balance(law, dr, dz, r, z, speeds, frozen, F, J, b, Y):
    """Fill F (2,) with the right side of (3) [N], J (8, 2) with its derivatives, and the numbers of the ball in b.

    Rows of J: derivatives of F with respect to r, z, the two components of C_i, ω_i, ω_o; then ∂P/∂α_o over l_o and
    ∂P/∂α_i over l_i. speeds: ω_i, ω_o. ``frozen`` ≥ 0: F_c has this value and M_g = 0. Positions are measured
    from C_o: (r, z) of the ball, (dr, dz) of C_i. Returns the size of the forces on the ball [N].
    """
    so_r, so_z, si_r, si_z = r, z, dr - r, dz - z
    lo, li = math.sqrt(so_r * so_r + so_z * so_z), math.sqrt(si_r * si_r + si_z * si_z)
    co, so, ci, si = so_r / lo, so_z / lo, si_r / li, si_z / li
    delta_o, delta_i = max(lo - law[REACH_O], 0.0), max(li - law[REACH_I], 0.0)
    root_o, root_i = math.sqrt(delta_o), math.sqrt(delta_i)
    Qo, Qi = law[K_O] * delta_o * root_o, law[K_I] * delta_i * root_i
    ko, ki = 1.5 * law[K_O] * root_o, 1.5 * law[K_I] * root_i
    lam_i, lam_o = (1.0, 1.0) if law[INNER_CONTROL] != 0.0 else (0.0, 2.0)
    Fc, T = frozen, 0.0
    m, D = law[MASS], 2.0 * law[HALF_BALL]
    for k in range(8):
        J[k, 0] = 0.0
        J[k, 1] = 0.0
    # ∂F and ∂P along l and α of each contact
    dFo_r, dFo_z, dFi_r, dFi_z = Qo * so, -Qo * co, -Qi * si, Qi * ci
    dPi_r, dPi_z, dPo_r, dPo_z = Qi * si, -Qi * ci, 0.0, 0.0
    if frozen < 0.0:
        ball_speeds(law, ci, si, co, so, speeds[0], speeds[1], Y)
        wm, wr = Y[0, 0], Y[0, 2]
        Fc, T = m * law[HALF_PITCH] * wm * wm, law[SPIN_INERTIA] * wm * wr / D
        nr, nz = -lam_i * si + lam_o * so, lam_i * ci - lam_o * co  # λ_i τ_i − λ_o τ_o
        for k in range(1, 5):
            dF = 2.0 * m * law[HALF_PITCH] * wm * Y[k, 0]
            dT = law[SPIN_INERTIA] / D * (Y[k, 0] * wr + wm * Y[k, 2])
            along_r, along_z = dF + dT * nr, dT * nz
            p_r, p_z = lam_i * dT * si, -lam_i * dT * ci
            if k == 1:
                dFo_r += along_r + lam_o * T * co
                dFo_z += along_z + lam_o * T * so
                dPo_r += p_r
                dPo_z += p_z
            elif k == 2:
                dFi_r += along_r - lam_i * T * ci
                dFi_z += along_z - lam_i * T * si
                dPi_r += p_r + lam_i * T * ci
                dPi_z += p_z + lam_i * T * si
            else:
                J[1 + k, 0], J[1 + k, 1] = along_r, along_z
                b[2 * k], b[2 * k + 1] = p_r, p_z  # INNER_R … OUTER_Z: ∂P/∂ω at fixed ball
        b[ORBIT], b[SPIN_Z], b[SPIN_R] = wm, Y[0, 1], wr
    else:
        nr, nz = 0.0, 0.0
    F[0] = Qi * ci - Qo * co + Fc + T * nr
    F[1] = Qi * si - Qo * so + T * nz
    # J_c: l_i and α_i move with C_i; J_v: minus that, and l_o and α_o
    J[2, 0], J[2, 1] = ki * ci * ci - dFi_r * si / li, ki * si * ci - dFi_z * si / li
    J[3, 0], J[3, 1] = ki * ci * si + dFi_r * ci / li, ki * si * si + dFi_z * ci / li
    J[0, 0], J[0, 1] = -ko * co * co - dFo_r * so / lo - J[2, 0], -ko * so * co - dFo_z * so / lo - J[2, 1]
    J[1, 0], J[1, 1] = -ko * co * so + dFo_r * co / lo - J[3, 0], -ko * so * so + dFo_z * co / lo - J[3, 1]
    J[6, 0], J[6, 1] = dPo_r / lo, dPo_z / lo  # times τ_o: ∂P/∂v through α_o
    J[7, 0], J[7, 1] = dPi_r / li, dPi_z / li  # times τ_i: ∂P/∂s_i through α_i
    b[FORCE_R], b[FORCE_Z] = -Qi * ci + lam_i * T * si, -Qi * si - lam_i * T * ci
    b[Q_I], b[Q_O], b[COS_I], b[SIN_I], b[COS_O], b[SIN_O] = Qi, Qo, ci, si, co, so
    b[CENTRIFUGAL], b[GYROSCOPIC], b[BALL_R], b[BALL_Z] = Fc, T * D, law[R_GO] + r, z
    b[STRAIN] = 0.4 * (Qi * delta_i + Qo * delta_o)
    # the last term times round-off is the force that round-off of the lengths makes
    return Qi + Qo + Fc + abs(T) + 1e-5 * (ko * lo + ki * li)


@kernel
def _newton(law, dr, dz, r, z, speeds, frozen, F, J, b, Y):
    """Solve (3) from (r, z); return (r, z, whether it converged to round-off). Positions as in `_balance`."""
    A = law[REACH_O] + law[REACH_I]
    scale = _balance(law, dr, dz, r, z, speeds, frozen, F, J, b, Y)
    norm = math.hypot(F[0], F[1])
    for _ in range(_ITERATIONS):
        if norm <= 1e-15 * scale:
            return r, z, True
        # keep the matrix regular where neither race is loaded; far below the stiffness of a loaded contact
        shift = 1e-9 * law[K_O] * math.sqrt(A)
        a, c = J[0, 0] - shift, J[1, 1] - shift
        det = a * c - J[1, 0] * J[0, 1]
        step_r = (-F[0] * c + F[1] * J[1, 0]) / det
        step_z = (-F[1] * a + F[0] * J[0, 1]) / det
        if frozen >= 0.0 and step_r * F[0] + step_z * F[1] <= 0.0:
            step_r, step_z = F[0], F[1]  # a direction of descent of the convex function of stage one
        length = math.hypot(step_r, step_z)
        factor = min(1.0, 0.1 * A / length)
        better = False
        halvings = 30 if norm > 1e-11 * scale else 1  # near round-off a step that does not help is the last one
        for _ in range(halvings):
            new_scale = _balance(law, dr, dz, r + factor * step_r, z + factor * step_z, speeds, frozen, F, J, b, Y)
            new = math.hypot(F[0], F[1])
            if new < norm:
                better = True
                break
            factor *= 0.5
        if not better:
            _balance(law, dr, dz, r, z, speeds, frozen, F, J, b, Y)
            return r, z, norm <= 1e-11 * scale  # round-off, or stuck
        r, z, norm, scale = r + factor * step_r, z + factor * step_z, new, new_scale
    return r, z, norm <= 1e-11 * scale


@kernel
def _clear(b):
    for k in range(N_BALL):
        b[k] = 0.0
    b[COS_I] = 1.0
    b[COS_O] = 1.0


@kernel
def static_ball(law, sr, sz, b):
    """Fill b with a ball without forces of inertia; (sr, sz) is C_i − C_o."""
    _clear(b)
    length = math.sqrt(sr * sr + sz * sz)
    delta = length - law[REACH_O] - law[REACH_I]
    if delta <= 0.0 or sr <= 0.0:
        return
    c, s = sr / length, sz / length
    k = 1.5 * law[K_N] * math.sqrt(delta)
    Q = law[K_N] * delta * math.sqrt(delta)
    across = Q / length
    b[FORCE_R], b[FORCE_Z] = -Q * c, -Q * s
    b[S_RR], b[S_ZZ] = k * c * c + across * s * s, k * s * s + across * c * c
    b[S_RZ] = (k - across) * c * s
    b[S_ZR] = b[S_RZ]
    b[Q_I], b[Q_O], b[COS_I], b[SIN_I], b[COS_O], b[SIN_O] = Q, Q, c, s, c, s
    reach = law[REACH_O] + (Q / law[K_O]) ** (2.0 / 3.0)
    b[BALL_R], b[BALL_Z], b[STRAIN] = law[R_GO] + reach * c, reach * s, 0.4 * Q * delta


@kernel
def moving_ball(law, sr, sz, inner_speed, outer_speed, b):
    """Fill b with a ball under centrifugal force and gyroscopic moment; b[FAILED] = 1 when (3) was not solved.

    (sr, sz) is C_i − C_o.
    """
    F, J, Y = local_arrays("2, 8 2, 5 3")
    _clear(b)
    ball_speeds(law, 1.0, 0.0, 1.0, 0.0, inner_speed, outer_speed, Y)
    orbit = Y[0, 0]
    Fc = law[MASS] * law[HALF_PITCH] * orbit * orbit
    # where the ball is when nothing else touches it
    resting = (Fc / law[K_O]) ** (2.0 / 3.0)
    r, z = law[REACH_O] + resting, 0.0
    distance = math.sqrt(sr * sr + sz * sz)
    spare = distance <= law[REACH_O] + law[REACH_I] and Fc == 0.0
    if spare or math.hypot(sr - r, sz - z) <= law[REACH_I] or sr <= 0.0:
        b[Q_O], b[CENTRIFUGAL], b[BALL_R], b[BALL_Z], b[STRAIN] = Fc, Fc, law[R_GO] + r, z, 0.4 * Fc * resting
        b[ORBIT], b[SPIN_Z], b[SPIN_R] = orbit, Y[0, 1], Y[0, 2]
        return
    total = distance - law[REACH_O] - law[REACH_I]
    if total > 0.0:  # on the line of centres, the indentation shared as without forces of inertia
        share = law[REACH_O] + total * (law[K_N] / law[K_O]) ** (2.0 / 3.0)
        r, z = share * sr / distance, share * sz / distance
    r, z, _ = _newton(law, sr, sz, r, z, (inner_speed, outer_speed), Fc, F, J, b, Y)
    r, z, solved = _newton(law, sr, sz, r, z, (inner_speed, outer_speed), -1.0, F, J, b, Y)
    if not solved:
        b[FAILED] = 1.0
    # static condensation: dP = P_c dC + P_v dv + P_ω dω with dv = −J_v⁻¹ (J_c dC + J_ω dω)
    ci, si, co, so = b[COS_I], b[SIN_I], b[COS_O], b[SIN_O]
    delta_i = max(math.hypot(sr - r, sz - z) - law[REACH_I], 0.0)
    ki = 1.5 * law[K_I] * math.sqrt(delta_i)
    Pc_rr, Pc_zr = -ki * ci * ci - J[7, 0] * si, -ki * si * ci - J[7, 1] * si
    Pc_rz, Pc_zz = -ki * ci * si + J[7, 0] * ci, -ki * si * si + J[7, 1] * ci
    Pv_rr, Pv_zr = -J[6, 0] * so - Pc_rr, -J[6, 1] * so - Pc_zr
    Pv_rz, Pv_zz = J[6, 0] * co - Pc_rz, J[6, 1] * co - Pc_zz
    det = J[0, 0] * J[1, 1] - J[1, 0] * J[0, 1]
    for k in range(2, 6):
        dr = (-J[k, 0] * J[1, 1] + J[k, 1] * J[1, 0]) / det
        dz = (-J[k, 1] * J[0, 0] + J[k, 0] * J[0, 1]) / det
        along_r, along_z = Pv_rr * dr + Pv_rz * dz, Pv_zr * dr + Pv_zz * dz
        if k == 2:
            b[S_RR], b[S_ZR] = -Pc_rr - along_r, -Pc_zr - along_z
        elif k == 3:
            b[S_RZ], b[S_ZZ] = -Pc_rz - along_r, -Pc_zz - along_z
        else:
            b[2 * k - 2] += along_r
            b[2 * k - 1] += along_z


@kernel
def spall_drop(law, angle):
    """H of `fem_mbs.bearings.spall`, (1) [m], for a ball at an angle from the middle of the pit."""
    s = law[SPALL_RADIUS] * (angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5))
    if abs(s) >= 0.5 * law[SPALL_LENGTH]:
        return 0.0
    return 0.5 * law[SPALL_DROP] * (1.0 + math.cos(2.0 * math.pi * s / law[SPALL_LENGTH]))


@kernel
def one_ball(whole, psi, spall_angle, q, inner_speed, outer_speed, b):
    """Fill b (N_BALL,) with the ball at angle psi [rad] for displacements q (5,) of the inner ring.

    ``whole``: the law without its pit, whose middle is at ``spall_angle``.
    """
    law = local_vector(20)
    for k in range(N_RACE_LAW):
        law[k] = whole[k]
    if whole[SPALL] == OUTER_SPALL:
        law[REACH_O] += spall_drop(whole, psi - spall_angle)
    elif whole[SPALL] == INNER_SPALL:
        law[REACH_I] += spall_drop(whole, psi - spall_angle)
    c, s = math.cos(psi), math.sin(psi)
    # C_i − C_o, not C_i: a hundred times smaller, and round-off with it
    sr = (law[R_GI] - law[R_GO]) + c * q[0] + s * q[1]
    sz = law[OFFSET] + q[2] + law[R_GI] * (s * q[3] - c * q[4])
    if law[INERTIA] != 0.0:
        moving_ball(law, sr, sz, inner_speed, outer_speed, b)
    else:
        static_ball(law, sr, sz, b)


@kernel
def ring_forces(law, cage_angle, spall_angle, q, inner_speed, outer_speed, F, S, W):
    """Add to F (5,) the forces and moments on the inner ring, to S (5, 5) −∂F/∂q, to W (5, 2) ∂F/∂(ω_i, ω_o).

    Returns the strain energy of the contacts [J]; not a number when a ball has no equilibrium.
    """
    b = local_vector(26)
    pitch, R, energy = 2.0 * math.pi / law[BALLS], law[R_GI], 0.0
    Br, Bz = local_arrays("5, 5")
    for j in range(int(law[BALLS])):
        psi = cage_angle + j * pitch
        one_ball(law, psi, spall_angle, q, inner_speed, outer_speed, b)
        energy += b[STRAIN]
        if b[FAILED] != 0.0:
            energy = math.nan
            F[0] = math.nan
        c, s = math.cos(psi), math.sin(psi)
        Br[0], Br[1], Br[2], Br[3], Br[4] = c, s, 0.0, 0.0, 0.0
        Bz[0], Bz[1], Bz[2], Bz[3], Bz[4] = 0.0, 0.0, 1.0, R * s, -R * c
        for i in range(5):
            F[i] += Br[i] * b[FORCE_R] + Bz[i] * b[FORCE_Z]
            W[i, 0] += Br[i] * b[INNER_R] + Bz[i] * b[INNER_Z]
            W[i, 1] += Br[i] * b[OUTER_R] + Bz[i] * b[OUTER_Z]
            for k in range(5):
                S[i, k] += Br[i] * (b[S_RR] * Br[k] + b[S_RZ] * Bz[k]) + Bz[i] * (b[S_ZR] * Br[k] + b[S_ZZ] * Bz[k])
    return energy


@kernel
def ball_table(law, cage_angle, spall_angle, q, inner_speed, outer_speed, table):
    """Fill table (Z, N_BALL) with the balls, speeds (6) included also for balls without forces of inertia."""
    Y = local_matrix(5, 3)
    pitch = 2.0 * math.pi / law[BALLS]
    for j in range(int(law[BALLS])):
        b = table[j]
        one_ball(law, cage_angle + j * pitch, spall_angle, q, inner_speed, outer_speed, b)
        if law[INERTIA] == 0.0:
            ball_speeds(law, b[COS_I], b[SIN_I], b[COS_O], b[SIN_O], inner_speed, outer_speed, Y)
            b[ORBIT], b[SPIN_Z], b[SPIN_R] = Y[0, 0], Y[0, 1], Y[0, 2]
