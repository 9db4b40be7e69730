"""Floating frame of a superelement and its local motion, with derivatives in one direction.

The frame rotates with the rotation R_0 nearest to the boundary frames, weights a_i and b_i, x̄ = Σ a_i x_i,

    A = Σ a_i (x_i − x̄) V_iᵀ + Σ b_i R'_i ,   R_0 = polar rotation of A ,   H = R_0ᵀA ,   S = tr(H) I − H           (1)
    δθ_0 = S⁻¹ Σ [ a_i V_i × R_0ᵀδx_i + b_i (tr(Q_i) I − Q_iᵀ) R_i⁰δθ_i ]  = E δq                                    (2)
    r_i = R_0ᵀ(x_i − x̄) ,   Q_i = R_0ᵀ R_i R_i⁰ᵀ ,   d = ( r_i − V_i , log Q_i , η )                                (3)
    δr_i = R_0ᵀ(δx_i − δx̄) + r_i × δθ_0 ,   φ_i = R_i⁰δθ_i − Q_iᵀδθ_0 ,   δQ_i = Q_i φ̃_i ,   δθ_i = T⁻¹(θ_i) φ_i   (4)
    v̂ = ( ξ_i , ω_0 + θ̇_i , η̇ ) ,   ξ_i = R_0ᵀẋ_i ,   θ̇_i = T⁻¹(θ_i) φ_i ,   φ_i = R_i⁰Ω_i − Q_iᵀω_0 ,   ω_0 = E v   (5)
    v̂̇ = ( R_0ᵀẍ_i − ω_0 × ξ_i , ω̇_0 + θ̈_i , η̈ ) ,   θ̈_i = T⁻¹ φ̇_i + (T⁻¹)'[θ̇_i] φ_i ,
        φ̇_i = R_i⁰Ω̇_i − Q_iᵀω̇_0 + φ_i × Q_iᵀω_0                                                                  (6)
    ω̇_0 = E a + S⁻¹ Σ [ a_i V_i × (ξ_i × ω_0) + b_i (tr(Q̇_i) I − Q̇_iᵀ) R_i⁰Ω_i ] − S⁻¹ (tr(Ḣ) I − Ḣ) ω_0          (7)

Source: docs/theory/superelements.md, section 3; derived here and checked by finite differences.

Symbols and their names in code: `data`, value and derivative of each in one direction.
"""

import math

from fem_mbs.elements.superelements.duals import copy, dual_cross, dual_multiply, dual_multiply_T, dual_trace
from fem_mbs.jit import kernel, local_arrays, local_matrix
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
def clear_derivatives(p):
    """Set the derivatives of the pose to zero."""
    for i in range(p.size_nb):
        p.r[i, 1, :] = 0.0
        p.theta[i, 1, :] = 0.0
        p.Q[i, 1, :, :] = 0.0
        p.T_inv[i, 1, :, :] = 0.0
    p.turn[:] = 0.0
    p.S[1, :, :] = 0.0
    p.S_inv[1, :, :] = 0.0
    p.d[1, :] = 0.0


@kernel
def place_frame(p, x, R):
    """Values of (1), (3) and T⁻¹ at a pose, without derivatives.

    Returns det A, which is positive near the reference.
    """
    nb = p.size_nb
    a, b, V, R_ref = p.a, p.b, p.V, p.R_ref
    mean, arm, form = local_arrays("3, 3, 9")
    A, turned, R_0 = local_matrix(3, 3), local_matrix(3, 3), p.R_0
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
            p.S[0, k, m] = (trace if k == m else 0.0) - 0.5 * (H[k, m] + H[m, k])
    inverse(p.S[0], p.S_inv[0])
    for i in range(nb):
        for k in range(3):
            arm[k] = x[i, k] - mean[k]
        rotate_T(R_0, arm, p.r[i, 0])
        for k in range(3):
            for m in range(3):
                turned[k, m] = 0.0
                for j in range(3):
                    turned[k, m] += R[i, k, j] * R_ref[i, m, j]
        for k in range(3):
            for m in range(3):
                p.Q[i, 0, k, m] = 0.0
                for j in range(3):
                    p.Q[i, 0, k, m] += R_0[j, k] * turned[j, m]
        log_matrix(p.Q[i, 0], p.theta[i, 0])
        form_tangent_inverse_T(p.theta[i, 0], form)
        form_matrix(form, p.theta[i, 0], turned)
        for k in range(3):
            for m in range(3):
                p.T_inv[i, 0, k, m] = turned[m, k]
            p.d[0, 6 * i + k] = p.r[i, 0, k] - V[i, k]
            p.d[0, 6 * i + 3 + k] = p.theta[i, 0, k]
    for k in range(p.modes):
        p.d[0, 6 * nb + k] = x[nb + k // 3, k % 3]
    clear_derivatives(p)
    return det


@kernel
def turn_frame(p, dq):
    """Derivatives of all that `place_frame` fills, in the direction dq (6 nn,): (2), (4)."""
    nb = p.size_nb
    a, b, V, R_ref = p.a, p.b, p.V, p.R_ref
    R_0, turn = p.R_0, p.turn
    mean, own, total, form, rate, back = local_arrays("3, 3, 3, 9, 3 3, 3")
    mean[:] = 0.0
    total[:] = 0.0
    for i in range(nb):
        rotate_T(R_0, dq[6 * i : 6 * i + 3], p.r[i, 1])
        rotate(R_ref[i], dq[6 * i + 3 : 6 * i + 6], p.phi[i, 1])
        add_cross(a[i], V[i], p.r[i, 1], total)
        rotate_T(p.Q[i, 0], p.phi[i, 1], own)
        trace = p.Q[i, 0, 0, 0] + p.Q[i, 0, 1, 1] + p.Q[i, 0, 2, 2]
        for k in range(3):
            total[k] += b[i] * (trace * p.phi[i, 1, k] - own[k])
            mean[k] += a[i] * p.r[i, 1, k]
    rotate(p.S_inv[0], total, turn)
    H = local_matrix(3, 3)
    H[:, :] = 0.0
    for i in range(nb):
        for k in range(3):
            p.r[i, 1, k] -= mean[k]
        add_cross(1.0, p.r[i, 0], turn, p.r[i, 1])
        rotate_T(p.Q[i, 0], turn, back)
        phi = p.phi[i, 1]
        for k in range(3):
            phi[k] -= back[k]
        for k in range(3):  # Q φ̃
            for m in range(3):
                n, o = (m + 1) % 3, (m + 2) % 3
                p.Q[i, 1, k, m] = p.Q[i, 0, k, n] * phi[o] - p.Q[i, 0, k, o] * phi[n]
                H[k, m] += a[i] * p.r[i, 1, k] * V[i, m] + b[i] * p.Q[i, 1, k, m]
        rotate(p.T_inv[i, 0], phi, p.theta[i, 1])
        form_tangent_inverse_T(p.theta[i, 0], form)
        form_rate(form, p.theta[i, 0], p.theta[i, 1], rate)
        for k in range(3):
            for m in range(3):
                p.T_inv[i, 1, k, m] = rate[m, k]
            p.d[1, 6 * i + k] = p.r[i, 1, k]
            p.d[1, 6 * i + 3 + k] = p.theta[i, 1, k]
    for k in range(p.modes):
        p.d[1, 6 * nb + k] = dq[6 * (nb + k // 3) + k % 3]
    trace = H[0, 0] + H[1, 1] + H[2, 2]
    for k in range(3):
        for m in range(3):
            p.S[1, k, m] = (trace if k == m else 0.0) - 0.5 * (H[k, m] + H[m, k])
    for k in range(3):
        for m in range(3):
            rate[k, m] = 0.0
            for j in range(3):
                rate[k, m] += p.S[1, k, j] * p.S_inv[0, j, m]
    for k in range(3):
        for m in range(3):
            p.S_inv[1, k, m] = 0.0
            for j in range(3):
                p.S_inv[1, k, m] -= p.S_inv[0, k, j] * rate[j, m]


@kernel
def local_axes(p, y, dy, out):
    """Fill out (2, 3) with R_0ᵀ y and its derivative."""
    rotate_T(p.R_0, y, out[0])
    rotate_T(p.R_0, dy, out[1])
    add_cross(1.0, out[0], p.turn, out[1])


@kernel
def add_frame_rate(p, translations, rotations, out):
    """Add the sum of (2), of vectors of the frames (nb, 2, 3), to out (2, 3)."""
    nb = p.size_nb
    a, b, V = p.a, p.b, p.V
    for i in range(nb):
        add_cross(a[i], V[i], translations[i, 0], out[0])
        add_cross(a[i], V[i], translations[i, 1], out[1])
        dual_trace(p.Q[i], rotations[i], out, b[i])
        dual_multiply_T(-b[i], p.Q[i], rotations[i], out)


@kernel
def move(p, v, dv):
    """(5) and ḋ of (4) from velocities v and their derivatives dv (6 nn,)."""
    nb = p.size_nb
    a, R_ref, d_rate, speed = p.a, p.R_ref, p.d_rate, p.speed
    total, mean, turned = local_arrays("2 3, 2 3, 2 3")
    total[:, :] = 0.0
    mean[:, :] = 0.0
    for i in range(nb):
        local_axes(p, v[6 * i : 6 * i + 3], dv[6 * i : 6 * i + 3], p.xi[i])
        rotate(R_ref[i], v[6 * i + 3 : 6 * i + 6], p.Omega[i, 0])
        rotate(R_ref[i], dv[6 * i + 3 : 6 * i + 6], p.Omega[i, 1])
        for e in range(2):
            for k in range(3):
                mean[e, k] += a[i] * p.xi[i, e, k]
    add_frame_rate(p, p.xi, p.Omega, total)
    p.omega[:, :] = 0.0
    dual_multiply(1.0, p.S_inv, total, p.omega)
    for i in range(nb):
        turned[:, :] = 0.0
        dual_multiply_T(-1.0, p.Q[i], p.omega, turned)
        for e in range(2):
            for k in range(3):
                p.phi[i, e, k] = p.Omega[i, e, k] + turned[e, k]
        turned[:, :] = 0.0
        dual_multiply(1.0, p.T_inv[i], p.phi[i], turned)
        for e in range(2):
            for k in range(3):
                d_rate[e, 6 * i + 3 + k] = turned[e, k]
                speed[e, 6 * i + k] = p.xi[i, e, k]
                speed[e, 6 * i + 3 + k] = p.omega[e, k] + turned[e, k]
        turned[:, :] = 0.0
        dual_cross(1.0, p.r[i], p.omega, turned)
        for e in range(2):
            for k in range(3):
                d_rate[e, 6 * i + k] = p.xi[i, e, k] - mean[e, k] + turned[e, k]
    for k in range(p.modes):
        at, to = 6 * (nb + k // 3) + k % 3, 6 * nb + k
        speed[0, to] = d_rate[0, to] = v[at]
        speed[1, to] = d_rate[1, to] = dv[at]


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
def turn_twice(p, i, out):
    """Fill out (2, 3) with θ̈_i of (6) and its derivative."""
    phi, back, rate = p.phi[i], local_matrix(2, 3), local_matrix(2, 3)
    form, turned, along = local_arrays("9, 3 3, 3")
    back[:, :] = 0.0
    copy(p.Omega_rate[i], rate)
    dual_multiply_T(1.0, p.Q[i], p.omega, back)
    dual_cross(1.0, phi, back, rate)
    dual_multiply_T(-1.0, p.Q[i], p.omega_rate, rate)
    out[:, :] = 0.0
    dual_multiply(1.0, p.T_inv[i], rate, out)
    spin, turn = p.d_rate[:, 6 * i + 3 : 6 * i + 6], p.theta[i]
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
def accelerate(p, a, da):
    """(6) and (7) from accelerations a and their derivatives da (6 nn,)."""
    nb = p.size_nb
    wa, wb, V, R_ref = p.a, p.b, p.V, p.R_ref
    total, work, H, rate = local_matrix(2, 3), local_matrix(2, 3), p.H_rate, p.Q_rate
    total[:, :] = 0.0
    H[:, :, :] = 0.0
    for i in range(nb):
        local_axes(p, a[6 * i : 6 * i + 3], da[6 * i : 6 * i + 3], p.xi_rate[i])
        rotate(R_ref[i], a[6 * i + 3 : 6 * i + 6], p.Omega_rate[i, 0])
        rotate(R_ref[i], da[6 * i + 3 : 6 * i + 6], p.Omega_rate[i, 1])
        turned_rate(p.Q[i], p.phi[i], rate)
        dual_trace(rate, p.Omega[i], total, wb[i])
        dual_multiply_T(-wb[i], rate, p.Omega[i], total)
        work[:, :] = 0.0
        dual_cross(1.0, p.xi[i], p.omega, work)
        add_cross(wa[i], V[i], work[0], total[0])
        add_cross(wa[i], V[i], work[1], total[1])
        for e in range(2):
            for k in range(3):
                for m in range(3):
                    H[e, k, m] += wa[i] * p.d_rate[e, 6 * i + k] * V[i, m] + wb[i] * rate[e, k, m]
    add_frame_rate(p, p.xi_rate, p.Omega_rate, total)
    dual_trace(H, p.omega, total, -1.0)
    dual_multiply(1.0, H, p.omega, total)
    p.omega_rate[:, :] = 0.0
    dual_multiply(1.0, p.S_inv, total, p.omega_rate)
    for i in range(nb):
        work[:, :] = 0.0
        dual_cross(1.0, p.xi[i], p.omega, work)
        for e in range(2):
            for k in range(3):
                p.speed_rate[e, 6 * i + k] = p.xi_rate[i, e, k] + work[e, k]
        turn_twice(p, i, work)
        for e in range(2):
            for k in range(3):
                p.speed_rate[e, 6 * i + 3 + k] = p.omega_rate[e, k] + work[e, k]
    for k in range(p.modes):
        at, to = 6 * (nb + k // 3) + k % 3, 6 * nb + k
        p.speed_rate[0, to], p.speed_rate[1, to] = a[at], da[at]
