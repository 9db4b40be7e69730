"""Derivatives of the local motion of a superelement in all directions of its frames at once.

Columns of an array ``…_q`` are components of the frames, nf = 6 nb; amplitudes of modes enter the local motion as they
are. With δx_i, δθ_i one component each, δr_i, φ_i, E of (2), (4), q_i·φ = tr(Q_i φ̃), and for fixed Ω, ω and y

    δS y = −Σ [ 𝒯_i(0, y) φ_i + 𝒱_i(y) δr_i ] ,   𝒱_i(y) = a_i ((V_i·y) I − y V_iᵀ)                                 (24)
    𝒯_i(Ω, ω) = b_i ((Ω − ω) q_iᵀ − (Q_iᵀΩ)~ − Q_i ω̃)                                                             (25)
    δω_0 = S⁻¹ Σ [ 𝒯_i(Ω_i, ω_0) φ_i + 𝒱_i(ω_0) δr_i + a_i Ṽ_i ξ̃_i E ]                         at fixed v         (26)
    δφ_i = −(Q_iᵀω_0)~ φ_i − Q_iᵀδω_0 ,   δθ̇_i = T⁻¹ δφ_i + ∂(T⁻¹φ_i)/∂θ_i δθ_i ,   δξ_i = ξ̃_i E                  (27)

(φ_i on the right is that of the direction). Of velocities δv: δω_0 = E, δφ_i = φ_i, δξ_i = R_0ᵀδẋ_i. With
z_i = Q_iᵀω_0 and w_i of `motion.turn_twice`, and the terms in [] at fixed v only, in () at fixed pose only,

    δω̇_0 = S⁻¹ { Σ 𝒯_i(Ω_i, ω_0) δφ_i + 𝒱_i(ω_0) δṙ_i − a_i Ṽ_i ω̃_0 δξ_i                                           (28)
              + ( Σ [a_i (Ṽ_i ξ̃_i + ṙ_i V_iᵀ) + b_i Q_i φ̃_i] − tr(Ḣ) I ) δω_0 + (Σ b_i ((q_i·φ_i) I + φ̃_i Q_iᵀ) δΩ_i)
              + [Σ (b_i ((Ω_i − ω_0) u_iᵀ + φ̃_i (Q_iᵀΩ_i)~ − Q_i (φ_i × ω_0)~) + 𝒯_i(0, ω̇_0)) φ_i + 𝒱_i(ω̇_0) δr_i] }
    δθ̈_i = T⁻¹ δw_i + (T⁻¹)'[θ̇_i] δφ_i + ∂(T⁻¹φ_i)/∂θ_i δθ̇_i + [∂(T⁻¹w_i + (T⁻¹)'[θ̇_i] φ_i)/∂θ_i δθ_i]             (29)
    δw_i = −Q_iᵀδω̇_0 − z̃_i δφ_i + φ̃_i Q_iᵀδω_0 + [(φ̃_i z̃_i − (Q_iᵀω̇_0)~) φ_i] ,
    u_i = Q_i φ_i − tr(Q_i) φ_i                                                                                    (30)

Source: derivatives of (1)-(7), derived here and checked by finite differences.
"""

from fem_mbs.elements.superelements.motion import add_frame_rate
from fem_mbs.elements.superelements.products import (
    add_columns,
    add_columns_T,
    clear_columns,
    copy_columns,
    multiply_columns,
)
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import (
    add_outer,
    add_R_skew,
    add_skew,
    add_skew_RT,
    add_skew_skew,
    cross,
    dot,
    form_gradient,
    form_rate_gradient,
    multiply,
    rotate,
    rotate_T,
)


@kernel
def vary_pose(p):
    """(2) and (4): E, φ_i, P and, of v̂, B, in the first columns of ``omega_q``, ``phi_q``, ``rate_q``, ``speed_q``."""
    nf, E, P, B = p.size_nf, p.omega_q, p.rate_q, p.speed_q
    zero, unit, column = local_arrays("3, 3, 3")
    zero[:] = 0.0
    for i in range(p.size_nb):
        for k in range(3):
            column[:] = 0.0
            add_frame_rate(p, i, p.R_0[k], zero, column)
            for m in range(3):
                E[m, 6 * i + k] = column[m]
                unit[m] = p.R_ref[i, m, k]
            column[:] = 0.0
            add_frame_rate(p, i, zero, unit, column)
            for m in range(3):
                E[m, 6 * i + 3 + k] = column[m]
    multiply_columns(p.S_inv, E, 0, nf)
    skew = p.coefficient
    for i in range(p.size_nb):
        phi, dr, dtheta, xi = p.phi_q[i], P[6 * i : 6 * i + 3], P[6 * i + 3 : 6 * i + 6], p.xi_q[i]
        clear_columns(phi, 0, nf)
        clear_columns(dr, 0, nf)
        clear_columns(dtheta, 0, nf)
        clear_columns(xi, 0, nf)
        add_columns_T(-1.0, p.Q[i], 0, 3, E, 0, phi, 0, nf)
        skew[:, :] = 0.0
        add_skew(1.0, p.r[i], skew, 0, 0)
        add_columns(1.0, skew, 3, E, 0, dr, 0, nf)
        for k in range(3):
            for m in range(3):
                phi[k, 6 * i + 3 + m] += p.R_ref[i, k, m]
                xi[k, 6 * i + m] = p.R_0[m, k]
                dr[k, 6 * i + m] += p.R_0[m, k]
                for j in range(p.size_nb):
                    dr[k, 6 * j + m] -= p.a[j] * p.R_0[m, k]
        add_columns(1.0, p.T_inv[i], 3, phi, 0, dtheta, 0, nf)
        copy_columns(xi, 0, B[6 * i : 6 * i + 3], 0, nf)
        add_speed(E, 0, dtheta, 0, B[6 * i + 3 : 6 * i + 6], 0, nf)


@kernel
def add_speed(omega, o, theta, t, speed, to, count):
    """Fill columns of the rotations of v̂ with those of ω_0 + θ̇_i."""
    for k in range(3):
        for j in range(count):
            speed[k, to + j] = omega[k, o + j] + theta[k, t + j]


@kernel
def turning_matrix(p, i, Omega, omega, A):
    """Fill A (3, 3) with (25)."""
    Q, b, back, axial = p.Q[i], p.b[i], local_vector(3), p.axial[i]
    rotate_T(Q, Omega, back)
    for k in range(3):
        for m in range(3):
            A[k, m] = b * (Omega[k] - omega[k]) * axial[m]
    add_skew(-b, back, A, 0, 0)
    add_R_skew(-b, Q, omega, A, 0, 0)


@kernel
def arm_matrix(p, i, y, A):
    """Fill A (3, 3) with 𝒱_i(y) of (24)."""
    a, V = p.a[i], p.V[i]
    along = dot(V, y)
    for k in range(3):
        for m in range(3):
            A[k, m] = -a * y[k] * V[m]
        A[k, k] += a * along


@kernel
def vary_rates(p, e, omega_q, o, speed_q, to):
    """(26), (27) of velocities (e = 0) or of B a, E a (e = 1), in columns o … of ω_0 and to … of v̂.

    Those of φ_i and θ̇_i are columns (1 + e) nf … of ``phi_q`` and ``rate_q``.
    """
    nf, omega, E, A, across = p.size_nf, p.omega[e], p.omega_q, p.coefficient, p.on_turn
    at, back = (1 + e) * nf, local_vector(3)
    clear_columns(omega_q, o, nf)
    across[:, :] = 0.0
    for i in range(p.size_nb):
        turning_matrix(p, i, p.Omega[e, i], omega, A)
        add_columns(1.0, A, 3, p.phi_q[i], 0, omega_q, o, nf)
        arm_matrix(p, i, omega, A)
        add_columns(1.0, A, 3, p.rate_q[6 * i : 6 * i + 3], 0, omega_q, o, nf)
        add_skew_skew(p.a[i], p.V[i], p.xi[e, i], across, 0, 0)
    add_columns(1.0, across, 3, E, 0, omega_q, o, nf)
    multiply_columns(p.S_inv, omega_q, o, nf)
    for i in range(p.size_nb):
        phi, rate, speed = p.phi_q[i], p.rate_q[6 * i + 3 : 6 * i + 6], speed_q[6 * i : 6 * i + 3]
        clear_columns(phi, at, nf)
        clear_columns(rate, at, nf)
        clear_columns(speed, to, nf)
        rotate_T(p.Q[i], omega, back)
        A[:, :] = 0.0
        add_skew(-1.0, back, A, 0, 0)
        add_columns(1.0, A, 3, phi, 0, phi, at, nf)
        add_columns_T(-1.0, p.Q[i], 0, 3, omega_q, o, phi, at, nf)
        form_gradient(0.0, p.form[i], p.theta[i], p.phi[e, i], A)
        add_columns(1.0, p.T_inv[i], 3, phi, at, rate, at, nf)
        add_columns(1.0, A, 3, rate, 0, rate, at, nf)
        A[:, :] = 0.0
        add_skew(1.0, p.xi[e, i], A, 0, 0)
        add_columns(1.0, A, 3, E, 0, speed, to, nf)
        add_speed(omega_q, o, rate, at, speed_q[6 * i + 3 : 6 * i + 6], to, nf)


@kernel
def vary_translations(p):
    """δξ_i of (27) and δṙ_i, after `vary_rates` of velocities."""
    nf, omega, A, mean = p.size_nf, p.omega[0], p.coefficient, local_vector(3)
    mean[:] = 0.0
    for i in range(p.size_nb):
        for k in range(3):
            mean[k] += p.a[i] * p.xi[0, i, k]
    for i in range(p.size_nb):
        rate, xi = p.rate_q[6 * i : 6 * i + 3], p.xi[0, i]
        copy_columns(p.speed_q[6 * i : 6 * i + 3], nf, p.xi_q[i], nf, nf)
        clear_columns(rate, nf, nf)
        A[:, :] = 0.0
        add_skew(1.0, xi, A, 0, 0)
        add_skew(-1.0, mean, A, 0, 0)
        add_columns(1.0, A, 3, p.omega_q, 0, rate, nf, nf)
        A[:, :] = 0.0
        add_skew(-1.0, omega, A, 0, 0)
        add_columns(1.0, A, 3, rate, 0, rate, nf, nf)
        A[:, :] = 0.0
        add_skew(1.0, p.r[i], A, 0, 0)
        add_columns(1.0, A, 3, p.omega_q, nf, rate, nf, nf)


@kernel
def vary_accelerations(p, kinds):
    """δω̇_0 and δv̂̇ of (28)-(30): of velocities, and, with two ``kinds``, after them of the pose."""
    count, omega, A, on_omega, alpha_q = kinds * p.size_nf, p.omega[0], p.coefficient, p.on_omega, p.alpha_q
    clear_columns(alpha_q, 0, count)
    on_omega[:, :] = 0.0
    for k in range(3):
        on_omega[k, k] = -p.trace_rate[0]
    for i in range(p.size_nb):
        a, b, V, Q, phi, xi = p.a[i], p.b[i], p.V[i], p.Q[i], p.phi[0, i], p.xi[0, i]
        turning_matrix(p, i, p.Omega[0, i], omega, A)
        add_columns(1.0, A, 3, p.phi_q[i], 0, alpha_q, 0, count)
        arm_matrix(p, i, omega, A)
        add_columns(1.0, A, 3, p.rate_q[6 * i : 6 * i + 3], 0, alpha_q, 0, count)
        A[:, :] = 0.0
        add_skew_skew(-a, V, omega, A, 0, 0)
        add_columns(1.0, A, 3, p.xi_q[i], 0, alpha_q, 0, count)
        add_skew_skew(a, V, xi, on_omega, 0, 0)
        add_outer(a, p.d_rate[0, 6 * i : 6 * i + 3], V, on_omega, 0, 0)
        add_R_skew(b, Q, phi, on_omega, 0, 0)
        A[:, :] = 0.0
        add_skew_RT(b, phi, Q, A, 0, 0)
        for k in range(3):
            A[k, k] += b * dot(p.axial[i], phi)
        add_columns(1.0, A, 3, p.R_ref[i], 0, alpha_q, 6 * i + 3, 3)
        if kinds == 2:
            vary_turning(p, i)
    add_columns(1.0, on_omega, 3, p.omega_q, 0, alpha_q, 0, count)
    multiply_columns(p.S_inv, alpha_q, 0, count)
    for i in range(p.size_nb):
        vary_acceleration_of(p, i, kinds)


@kernel
def vary_turning(p, i):
    """Add the terms of frame i in [] of (28)."""
    nf, b, Q, phi, Omega, omega, A = p.size_nf, p.b[i], p.Q[i], p.phi[0, i], p.Omega[0, i], p.omega[0], p.coefficient
    u, zero, back, across = local_arrays("3, 3, 3, 3")
    zero[:] = 0.0
    turning_matrix(p, i, zero, p.alpha, A)
    rotate(Q, phi, u)
    rotate_T(Q, Omega, back)
    cross(phi, omega, across)
    for k in range(3):
        u[k] -= p.trace[i] * phi[k]
    for k in range(3):
        for m in range(3):
            A[k, m] += b * (Omega[k] - omega[k]) * u[m]
    add_skew_skew(b, phi, back, A, 0, 0)
    add_R_skew(-b, Q, across, A, 0, 0)
    add_columns(1.0, A, 3, p.phi_q[i], 0, p.alpha_q, nf, nf)
    arm_matrix(p, i, p.alpha, A)
    add_columns(1.0, A, 3, p.rate_q[6 * i : 6 * i + 3], 0, p.alpha_q, nf, nf)


@kernel
def vary_acceleration_of(p, i, kinds):
    """Derivatives of v̂̇ of one frame: ξ_i × ω_0 and ω̇_0 + θ̈_i."""
    nf, count, Q, phi, A, B = p.size_nf, kinds * p.size_nf, p.Q[i], p.phi[0, i], p.coefficient, p.on_turn
    form, theta, T_inv, back = p.form[i], p.theta[i], p.T_inv[i], local_vector(3)
    push, turn = p.acceleration_q[6 * i : 6 * i + 3], p.acceleration_q[6 * i + 3 : 6 * i + 6]
    clear_columns(push, 0, count)
    A[:, :] = 0.0
    add_skew(-1.0, p.omega[0], A, 0, 0)
    add_columns(1.0, A, 3, p.xi_q[i], 0, push, 0, count)
    A[:, :] = 0.0
    add_skew(1.0, p.xi[0, i], A, 0, 0)
    add_columns(1.0, A, 3, p.omega_q, 0, push, 0, count)
    copy_columns(p.alpha_q, 0, turn, 0, count)
    for k in range(3):
        for m in range(3):
            A[k, m] = -(T_inv[k, 0] * Q[m, 0] + T_inv[k, 1] * Q[m, 1] + T_inv[k, 2] * Q[m, 2])
    add_columns(1.0, A, 3, p.alpha_q, 0, turn, 0, count)
    for k in range(3):
        for m in range(3):
            A[k, m] = p.X[i, k, m]
    add_R_skew(-1.0, T_inv, p.omega_back[i], A, 0, 0)
    add_columns(1.0, A, 3, p.phi_q[i], 0, turn, 0, count)
    B[:, :] = 0.0
    add_skew_RT(1.0, phi, Q, B, 0, 0)
    multiply(T_inv, B, A)
    add_columns(1.0, A, 3, p.omega_q, 0, turn, 0, count)
    form_gradient(0.0, form, theta, phi, A)
    rates = p.rate_q[6 * i + 3 : 6 * i + 6]
    add_columns(1.0, A, 3, rates, 0, turn, 0, count)
    if kinds == 2:
        rotate_T(Q, p.alpha, back)
        B[:, :] = 0.0
        add_skew_skew(1.0, phi, p.omega_back[i], B, 0, 0)
        add_skew(-1.0, back, B, 0, 0)
        multiply(T_inv, B, A)
        add_columns(1.0, A, 3, p.phi_q[i], 0, turn, nf, nf)
        form_gradient(0.0, form, theta, p.w[i], A)
        add_columns(1.0, A, 3, rates, 0, turn, nf, nf)
        form_rate_gradient(form, theta, p.d_rate[0, 6 * i + 3 : 6 * i + 6], phi, A)
        add_columns(1.0, A, 3, rates, 0, turn, nf, nf)
