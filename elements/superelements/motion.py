"""Floating frame of a superelement and its local motion, with derivatives in one direction.

The frame turns with the rotation R_0 nearest to the boundary frames, weights a_i and b_i, x̄ = Σ a_i x_i,

    A = Σ a_i (x_i − x̄) V_iᵀ + Σ b_i R'_i ,   R_0 = polar rotation of A ,   H = R_0ᵀA ,   S = tr(H) I − H           (1)
    δθ_0 = S⁻¹ Σ [ a_i V_i × R_0ᵀδx_i + b_i (tr(Q_i) I − Q_iᵀ) R_i⁰δθ_i ]  = E δq                                    (2)
    r_i = R_0ᵀ(x_i − x̄) ,   Q_i = R_0ᵀ R_i R_i⁰ᵀ ,   d = ( r_i − V_i , log Q_i , η )                                (3)
    δr_i = R_0ᵀ(δx_i − δx̄) + r_i × δθ_0 ,   φ_i = R_i⁰δθ_i − Q_iᵀδθ_0 ,   δQ_i = Q_i φ̃_i ,   δθ_i = T⁻¹(θ_i) φ_i   (4)
    v̂ = ( ξ_i , ω_0 + θ̇_i , η̇ ) ,   ξ_i = R_0ᵀẋ_i ,   θ̇_i = T⁻¹(θ_i) φ_i ,   φ_i = R_i⁰Ω_i − Q_iᵀω_0 ,   ω_0 = E v   (5)
    v̂̇ = ( R_0ᵀẍ_i − ω_0 × ξ_i , ω̇_0 + θ̈_i , η̈ ) ,   θ̈_i = T⁻¹ φ̇_i + (T⁻¹)'[θ̇_i] φ_i ,
        φ̇_i = R_i⁰Ω̇_i − Q_iᵀω̇_0 + φ_i × Q_iᵀω_0                                                                  (6)
    ω̇_0 = E a + S⁻¹ Σ [ a_i V_i × (ξ_i × ω_0) + b_i (tr(Q̇_i) I − Q̇_iᵀ) R_i⁰Ω_i ] − S⁻¹ (tr(Ḣ) I − Ḣ) ω_0          (7)

Source: docs/theory/superelements.md, section 3; derived here and checked by finite differences.

    symbol       code                  shape       meaning
    a, b         geometry              (nb,)       weights [-], [m²]
    V, R⁰        geometry              (nb, 3) …   boundary frames in the reference, from X̄, axes of the body
    r, ξ, …      B[i, PLACE], …        (2, 3)      of boundary frame i, value and derivative
    Q, T⁻¹, φ    Q[i, 0], Q[i, 1] …    (2, 3, 3), B[i, PHI]
    ω_0, ω̇_0     G[SPIN], G[SPIN_RATE] (2, 3)
    S, S⁻¹, R_0  F[0], F[1], F[2]      (2, 3, 3)   of R_0 the value alone
    Ḣ, Q̇_i       F[3], F[4]            (2, 3, 3)
    d, v̂, …      L[POSE], L[SPEED] …   (2, n)
"""

import math

from fem_mbs.elements.superelements.duals import (
    dual_cross,
    dual_multiply,
    dual_multiply_T,
    dual_trace,
)
from fem_mbs.jit import kernel, local_matrix, local_vector, matrix, tensor, vector
from fem_mbs.rotations import (
    add_cross,
    form_matrix,
    form_rate,
    form_rate_gradient,
    form_tangent_inverse_T,
    log_matrix,
    rotate,
    rotate_T,
)

PLACE, XI, SPIN_OF, XI_RATE, SPIN_RATE_OF, TURN, PHI = range(7)  # rows of B
N_B = 7
SPIN, SPIN_RATE, FRAME_TURN, WORK, MEAN, TOTAL, SIGMA = range(7)  # rows of G
N_G = 7
POSE, SPEED, POSE_RATE, SPEED_RATE = range(4)  # first rows of L
POLAR_STEPS = 60


@kernel
def inverse(A, B):
    """Fill B (3, 3) with the inverse of A; returns the determinant of A."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            B[m, i] = A[j, n] * A[k, o] - A[j, o] * A[k, n]
    det = A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + A[0, 2] * B[2, 0]
    for i in range(3):
        for j in range(3):
            B[i, j] /= det
    return det


@kernel
def polar(A, R):
    """Fill R (3, 3) with the orthogonal polar factor of A; returns the determinant of A.

    R ← ½ (γ R + R⁻ᵀ/γ) with γ² = |R⁻¹|/|R|: Higham, SIAM J. Sci. Stat. Comput. 7 (1986).
    """
    Y = local_matrix(3, 3)
    for i in range(3):
        for j in range(3):
            R[i, j] = A[i, j]
    first = 0.0
    for step in range(POLAR_STEPS):
        det = inverse(R, Y)
        if step == 0:
            first = det
        one = other = 0.0
        for i in range(3):
            for j in range(3):
                one += R[i, j] ** 2
                other += Y[i, j] ** 2
        scale = math.sqrt(math.sqrt(other / one))
        change = 0.0
        for i in range(3):
            for j in range(3):
                new = 0.5 * (scale * R[i, j] + Y[j, i] / scale)
                Y[j, i] = R[i, j]
                R[i, j] = new
        for i in range(3):
            for j in range(3):
                change = max(change, abs(R[i, j] - Y[j, i]))
        if not change > 1e-15:
            break
    return first


@kernel
def place_frame(p, x, R, B, Q, F, L):
    """Values of (1), (3) and T⁻¹ at a pose; returns det A, which is positive near the reference."""
    nb = p.frames
    a, b = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * nb, nb)
    V, R_ref = matrix(p.geometry_at + 16 * nb, nb, 3), tensor(p.geometry_at + 40 * nb, nb, 3, 3)
    mean, arm, form = local_vector(3), local_vector(3), local_vector(9)
    A, turned, R_0 = local_matrix(3, 3), local_matrix(3, 3), F[2, 0]
    mean[:] = 0.0
    A[:, :] = 0.0
    for i in range(nb):
        for k in range(3):
            mean[k] += a[i] * x[i, k]
    for i in range(nb):
        for k in range(3):
            for m in range(3):
                A[k, m] += a[i] * (x[i, k] - mean[k]) * V[i, m]
                for j in range(3):
                    A[k, m] += b[i] * R[i, k, j] * R_ref[i, m, j]
    det = polar(A, R_0)
    H = local_matrix(3, 3)
    for k in range(3):
        for m in range(3):
            H[k, m] = 0.0
            for j in range(3):
                H[k, m] += R_0[j, k] * A[j, m]
    trace = H[0, 0] + H[1, 1] + H[2, 2]
    for k in range(3):
        for m in range(3):
            F[0, 0, k, m] = (trace if k == m else 0.0) - 0.5 * (H[k, m] + H[m, k])
    inverse(F[0, 0], F[1, 0])
    for i in range(nb):
        for k in range(3):
            arm[k] = x[i, k] - mean[k]
        rotate_T(R_0, arm, B[i, PLACE, 0])
        for k in range(3):
            for m in range(3):
                turned[k, m] = 0.0
                for j in range(3):
                    turned[k, m] += R[i, k, j] * R_ref[i, m, j]
        for k in range(3):
            for m in range(3):
                Q[i, 0, 0, k, m] = 0.0
                for j in range(3):
                    Q[i, 0, 0, k, m] += R_0[j, k] * turned[j, m]
        log_matrix(Q[i, 0, 0], B[i, TURN, 0])
        form_tangent_inverse_T(B[i, TURN, 0], form)
        form_matrix(form, B[i, TURN, 0], turned)
        for k in range(3):
            for m in range(3):
                Q[i, 1, 0, k, m] = turned[m, k]
            L[POSE, 0, 6 * i + k] = B[i, PLACE, 0, k] - V[i, k]
            L[POSE, 0, 6 * i + 3 + k] = B[i, TURN, 0, k]
    for k in range(p.modes):
        L[POSE, 0, 6 * nb + k] = x[nb + k // 3, k % 3]
    return det


@kernel
def clear_derivatives(p, B, Q, G, F, L):
    """Set the derivatives of the pose to zero."""
    for i in range(p.frames):
        B[i, PLACE, 1, :] = 0.0
        B[i, TURN, 1, :] = 0.0
        Q[i, 0, 1, :, :] = 0.0
        Q[i, 1, 1, :, :] = 0.0
    G[FRAME_TURN, :, :] = 0.0
    F[0, 1, :, :] = 0.0
    F[1, 1, :, :] = 0.0
    L[POSE, 1, :] = 0.0


@kernel
def turn_frame(p, dq, B, Q, G, F, L):
    """Derivatives of all that `place_frame` fills, in the direction dq (6 nn,): (2), (4)."""
    nb = p.frames
    a, b = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * nb, nb)
    V, R_ref = matrix(p.geometry_at + 16 * nb, nb, 3), tensor(p.geometry_at + 40 * nb, nb, 3, 3)
    R_0, turn = F[2, 0], G[FRAME_TURN, 1]
    mean, own, total, form = local_vector(3), local_vector(3), local_vector(3), local_vector(9)
    rate, back = local_matrix(3, 3), local_vector(3)
    mean[:] = 0.0
    total[:] = 0.0
    for i in range(nb):
        rotate_T(R_0, dq[6 * i : 6 * i + 3], B[i, PLACE, 1])
        rotate(R_ref[i], dq[6 * i + 3 : 6 * i + 6], B[i, PHI, 1])
        add_cross(a[i], V[i], B[i, PLACE, 1], total)
        rotate_T(Q[i, 0, 0], B[i, PHI, 1], own)
        trace = Q[i, 0, 0, 0, 0] + Q[i, 0, 0, 1, 1] + Q[i, 0, 0, 2, 2]
        for k in range(3):
            total[k] += b[i] * (trace * B[i, PHI, 1, k] - own[k])
            mean[k] += a[i] * B[i, PLACE, 1, k]
    rotate(F[1, 0], total, turn)
    H = local_matrix(3, 3)
    H[:, :] = 0.0
    for i in range(nb):
        for k in range(3):
            B[i, PLACE, 1, k] -= mean[k]
        add_cross(1.0, B[i, PLACE, 0], turn, B[i, PLACE, 1])
        rotate_T(Q[i, 0, 0], turn, back)
        phi = B[i, PHI, 1]
        for k in range(3):
            phi[k] -= back[k]
        for k in range(3):  # Q φ̃
            for m in range(3):
                n, o = (m + 1) % 3, (m + 2) % 3
                Q[i, 0, 1, k, m] = Q[i, 0, 0, k, n] * phi[o] - Q[i, 0, 0, k, o] * phi[n]
                H[k, m] += a[i] * B[i, PLACE, 1, k] * V[i, m] + b[i] * Q[i, 0, 1, k, m]
        rotate(Q[i, 1, 0], phi, B[i, TURN, 1])
        form_tangent_inverse_T(B[i, TURN, 0], form)
        form_rate(form, B[i, TURN, 0], B[i, TURN, 1], rate)
        for k in range(3):
            for m in range(3):
                Q[i, 1, 1, k, m] = rate[m, k]
            L[POSE, 1, 6 * i + k] = B[i, PLACE, 1, k]
            L[POSE, 1, 6 * i + 3 + k] = B[i, TURN, 1, k]
    for k in range(p.modes):
        L[POSE, 1, 6 * nb + k] = dq[6 * (nb + k // 3) + k % 3]
    trace = H[0, 0] + H[1, 1] + H[2, 2]
    for k in range(3):
        for m in range(3):
            F[0, 1, k, m] = (trace if k == m else 0.0) - 0.5 * (H[k, m] + H[m, k])
    for k in range(3):
        for m in range(3):
            rate[k, m] = 0.0
            for j in range(3):
                rate[k, m] += F[0, 1, k, j] * F[1, 0, j, m]
    for k in range(3):
        for m in range(3):
            F[1, 1, k, m] = 0.0
            for j in range(3):
                F[1, 1, k, m] -= F[1, 0, k, j] * rate[j, m]


@kernel
def local_axes(F, G, y, dy, out):
    """Fill out (2, 3) with R_0ᵀ y and its derivative."""
    rotate_T(F[2, 0], y, out[0])
    rotate_T(F[2, 0], dy, out[1])
    add_cross(1.0, out[0], G[FRAME_TURN, 1], out[1])


@kernel
def add_frame_rate(p, B, Q, of_place, of_turn, out):
    """Add the sum of (2), of vectors B[i, of_place] and B[i, of_turn], to out (2, 3)."""
    nb = p.frames
    a, b = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * nb, nb)
    V = matrix(p.geometry_at + 16 * nb, nb, 3)
    for i in range(nb):
        add_cross(a[i], V[i], B[i, of_place, 0], out[0])
        add_cross(a[i], V[i], B[i, of_place, 1], out[1])
        dual_trace(Q[i, 0], B[i, of_turn], out, b[i])
        dual_multiply_T(-b[i], Q[i, 0], B[i, of_turn], out)


@kernel
def move(p, v, dv, B, Q, G, F, L):
    """(5) and ḋ of (4) from velocities v and their derivatives dv (6 nn,)."""
    nb = p.frames
    a, R_ref = vector(p.geometry_at, nb), tensor(p.geometry_at + 40 * nb, nb, 3, 3)
    G[WORK, :, :] = 0.0
    G[MEAN, :, :] = 0.0
    for i in range(nb):
        local_axes(F, G, v[6 * i : 6 * i + 3], dv[6 * i : 6 * i + 3], B[i, XI])
        rotate(R_ref[i], v[6 * i + 3 : 6 * i + 6], B[i, SPIN_OF, 0])
        rotate(R_ref[i], dv[6 * i + 3 : 6 * i + 6], B[i, SPIN_OF, 1])
        for e in range(2):
            for k in range(3):
                G[MEAN, e, k] += a[i] * B[i, XI, e, k]
    add_frame_rate(p, B, Q, XI, SPIN_OF, G[WORK])
    G[SPIN, :, :] = 0.0
    dual_multiply(1.0, F[1], G[WORK], G[SPIN])
    for i in range(nb):
        turned = G[WORK]
        turned[:, :] = 0.0
        dual_multiply_T(-1.0, Q[i, 0], G[SPIN], turned)
        for e in range(2):
            for k in range(3):
                B[i, PHI, e, k] = B[i, SPIN_OF, e, k] + turned[e, k]
        turned[:, :] = 0.0
        dual_multiply(1.0, Q[i, 1], B[i, PHI], turned)
        for e in range(2):
            for k in range(3):
                L[POSE_RATE, e, 6 * i + 3 + k] = turned[e, k]
                L[SPEED, e, 6 * i + k] = B[i, XI, e, k]
                L[SPEED, e, 6 * i + 3 + k] = G[SPIN, e, k] + turned[e, k]
        turned[:, :] = 0.0
        dual_cross(1.0, B[i, PLACE], G[SPIN], turned)
        for e in range(2):
            for k in range(3):
                L[POSE_RATE, e, 6 * i + k] = B[i, XI, e, k] - G[MEAN, e, k] + turned[e, k]
    for k in range(p.modes):
        at, to = 6 * (nb + k // 3) + k % 3, 6 * nb + k
        L[SPEED, 0, to] = L[POSE_RATE, 0, to] = v[at]
        L[SPEED, 1, to] = L[POSE_RATE, 1, to] = dv[at]


@kernel
def turned_rate(Q, phi, rate):
    """Fill rate (2, 3, 3) with Q φ̃, Q (2, 3, 3) and phi (2, 3)."""
    for k in range(3):
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            rate[0, k, m] = Q[0, k, n] * phi[0, o] - Q[0, k, o] * phi[0, n]
            rate[1, k, m] = Q[1, k, n] * phi[0, o] - Q[1, k, o] * phi[0, n]
            rate[1, k, m] += Q[0, k, n] * phi[1, o] - Q[0, k, o] * phi[1, n]


@kernel
def turn_twice(i, B, Q, G, L, out):
    """Fill out (2, 3) with θ̈_i of (6) and its derivative."""
    phi, back, rate = B[i, PHI], local_matrix(2, 3), local_matrix(2, 3)
    form, turned, along = local_vector(9), local_matrix(3, 3), local_vector(3)
    back[:, :] = 0.0
    rate[:, :] = B[i, SPIN_RATE_OF]
    dual_multiply_T(1.0, Q[i, 0], G[SPIN], back)
    dual_cross(1.0, phi, back, rate)
    dual_multiply_T(-1.0, Q[i, 0], G[SPIN_RATE], rate)
    out[:, :] = 0.0
    dual_multiply(1.0, Q[i, 1], rate, out)
    spin, turn = L[POSE_RATE, :, 6 * i + 3 : 6 * i + 6], B[i, TURN]
    form_tangent_inverse_T(turn[0], form)
    form[1] = -form[1]  # of T⁻¹
    form_rate(form, turn[0], spin[0], turned)
    for e in range(2):
        rotate(turned, phi[e], along)
        for k in range(3):
            out[e, k] += along[k]
    form_rate(form, turn[0], spin[1], turned)
    rotate(turned, phi[0], along)
    for k in range(3):
        out[1, k] += along[k]
    form_rate_gradient(form, turn[0], spin[0], phi[0], turned)
    rotate(turned, turn[1], along)
    for k in range(3):
        out[1, k] += along[k]


@kernel
def accelerate(p, a, da, B, Q, G, F, L):
    """(6) and (7) from accelerations a and their derivatives da (6 nn,)."""
    nb = p.frames
    wa, wb = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * nb, nb)
    V, R_ref = matrix(p.geometry_at + 16 * nb, nb, 3), tensor(p.geometry_at + 40 * nb, nb, 3, 3)
    total, work = G[TOTAL], G[WORK]
    total[:, :] = 0.0
    H, rate = F[3], F[4]
    H[:, :, :] = 0.0
    for i in range(nb):
        local_axes(F, G, a[6 * i : 6 * i + 3], da[6 * i : 6 * i + 3], B[i, XI_RATE])
        rotate(R_ref[i], a[6 * i + 3 : 6 * i + 6], B[i, SPIN_RATE_OF, 0])
        rotate(R_ref[i], da[6 * i + 3 : 6 * i + 6], B[i, SPIN_RATE_OF, 1])
        turned_rate(Q[i, 0], B[i, PHI], rate)
        dual_trace(rate, B[i, SPIN_OF], total, wb[i])
        dual_multiply_T(-wb[i], rate, B[i, SPIN_OF], total)
        work[:, :] = 0.0
        dual_cross(1.0, B[i, XI], G[SPIN], work)
        add_cross(wa[i], V[i], work[0], total[0])
        add_cross(wa[i], V[i], work[1], total[1])
        for e in range(2):
            for k in range(3):
                for m in range(3):
                    H[e, k, m] += wa[i] * L[POSE_RATE, e, 6 * i + k] * V[i, m] + wb[i] * rate[e, k, m]
    add_frame_rate(p, B, Q, XI_RATE, SPIN_RATE_OF, total)
    dual_trace(H, G[SPIN], total, -1.0)
    dual_multiply(1.0, H, G[SPIN], total)
    G[SPIN_RATE, :, :] = 0.0
    dual_multiply(1.0, F[1], total, G[SPIN_RATE])
    for i in range(nb):
        work[:, :] = 0.0
        dual_cross(1.0, B[i, XI], G[SPIN], work)
        for e in range(2):
            for k in range(3):
                L[SPEED_RATE, e, 6 * i + k] = B[i, XI_RATE, e, k] + work[e, k]
        turn_twice(i, B, Q, G, L, work)
        for e in range(2):
            for k in range(3):
                L[SPEED_RATE, e, 6 * i + 3 + k] = G[SPIN_RATE, e, k] + work[e, k]
    for k in range(p.modes):
        at, to = 6 * (nb + k // 3) + k % 3, 6 * nb + k
        L[SPEED_RATE, 0, to], L[SPEED_RATE, 1, to] = a[at], da[at]
