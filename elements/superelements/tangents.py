"""Tangents of a superelement, block by block.

Rows of frames are, for columns of p̂̇, of −g_d, and of s̄, which is s without Σ π̇_i, and with h̄ = ω_0 × p_i + …,

    rows = Bᵀ (p̂̇ + h̄) − Pᵀ g_d + Eᵀ s̄ ,        rows of modes: p̂̇_η − g_d,η                                         (31)

which is (12) with another grouping. In δp̂̇ and δg_d of the local motion all matrices are constant but

    W = Σ ω_a N_a ,   Y = Σ ω̇_a N_a ,   Z = Σ ω_a ω_b O_ab                                                         (32)
    δp̂̇ = M̂ δv̂̇ + Y δd + W δḋ + [N_a d] δω̇ + [N_a ḋ] δω ,   −δg_d = Wᵀ.. : −Wᵀ δv̂ − Z δd − [U_a] δω                 (33)
    δs̄_a = U'_a·δd + N_a d·δv̂̇ + U_a·δḋ + N_a ḋ·δv̂ + O δω̇ + 2 (ḋ·O_ab d) δω_b + …                                  (34)
    U_a = N_aᵀv̂ + 2 Σ ω_b O_ab d ,   U'_a = N_aᵀv̂̇ + 2 Σ (ω̇_b O_ab d + ω_b O_ab ḋ)                                  (35)

An amplitude changes d, ḋ = v̂ or v̂̇ by itself alone: its columns are those of the matrices. Columns of frames need the
6 nb directions of `variations`. To these the change of B, P and E at fixed h, g, s adds, with μ_i, y, F_i of (12),

    x_i: −R_0 F̃_i E ,   θ_i: b_i R_i⁰ᵀ (y q_iᵀ + Q_i ỹ) φ_i ,   all: Σ φ_iᵀ ∂(T⁻ᵀ g_θ)/∂θ_i δθ_i                     (36)
    all: Eᵀ Σ [ (g̃_i + 𝒱_i(y)) δr_i + (Q_i μ̃_i + 𝒯_i(0, y)) φ_i ]

Columns are kept in the order M, C, K, ∂(M a)/∂q: arrays ``…_q`` of frames, ``…_m`` of modes.

Source: derivatives of (8)-(12), derived here and checked by finite differences.
"""

from fem_mbs.elements.superelements.forces import flat, pair
from fem_mbs.elements.superelements.products import (
    add_columns,
    add_columns_T,
    add_combination,
    add_scaled,
    clear_columns,
    copy_columns,
    times_T,
)
from fem_mbs.elements.superelements.variations import arm_matrix, turning_matrix
from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import add_R_skew, add_skew, form_gradient


@kernel
def find_matrices(p, kinds):
    """(32): W, −Wᵀ, and with two ``kinds`` Y − Z, in rows of frames Y and −Z apart, and Y of accelerations."""
    nf, n, alpha, scale = p.size_nf, p.size_n, p.alpha, local_vector(6)
    w, minus = p.omega[0], local_vector(3)
    for a in range(3):
        minus[a] = -w[a]
        for b in range(a + 1):
            scale[pair(a, b)] = -w[a] * w[b] * (1.0 if a == b else 2.0)
    p.W[:, :] = 0.0
    p.W_T[:, :] = 0.0
    for i in range(n):
        add_combination(w, p.N[i], 0, p.W[i])
        add_combination(minus, p.N_T[i], 0, p.W_T[i])
    if kinds == 1:
        return
    p.Y[:, :] = 0.0
    p.Z[:, :] = 0.0
    p.Y_a[:, :] = 0.0
    for i in range(n):
        add_combination(alpha, p.N[i], 0, p.Y[i])
        add_combination(p.omega[1], p.N[i], 0, p.Y_a[i])
        row = p.Z[i] if i < nf else p.Y[i]
        add_combination(scale, p.O[i], 0, row)
        add_combination(scale, p.O[i], 3, row)


@kernel
def find_covectors(p, kinds):
    """(35): U, and with two ``kinds`` U', with what gravity adds, and that of accelerations."""
    U, U_d, U_a, w, alpha = p.U, p.U_d, p.U_a, p.omega[0], p.alpha
    if kinds == 2:
        times_T(p.N, p.acceleration, flat(U_d))
        times_T(p.N, p.speed[1], flat(U_a))
        times_T(p.O, p.d_rate[0], flat(p.O_d_rate))
    for a in range(3):
        for i in range(p.size_n):
            U[a, i] = p.N_T_speed[a, i]
        for b in range(3):
            k = pair(a, b)
            add_scaled(2.0 * w[b], p.O_d[k], U[a])
            if kinds == 2:
                add_scaled(2.0 * alpha[b], p.O_d[k], U_d[a])
                add_scaled(2.0 * w[b], p.O_d_rate[k], U_d[a])
                add_scaled(2.0 * p.omega[1, b], p.O_d[k], U_a[a])
        if kinds == 2:
            b, c = (a + 1) % 3, (a + 2) % 3
            add_scaled(p.mass * p.local_gravity[b], p.centre_rates[c], U_d[a])
            add_scaled(-p.mass * p.local_gravity[c], p.centre_rates[b], U_d[a])


@kernel
def skew(scale, a, A):
    """Fill A (3, 3) with scale ã."""
    A[:, :] = 0.0
    add_skew(scale, a, A, 0, 0)


@kernel
def find_frame_columns(p, kinds):
    """(33) of directions of frames; rows of modes with −g_d."""
    nf, n, m = p.size_nf, p.size_n, p.modes
    every, some, R, D = 2 * kinds * nf, kinds * nf, p.momentum_rate_q, p.g_q
    modal = R[nf:]
    clear_columns(R, 0, every)
    clear_columns(D, 0, some)
    add_columns(1.0, p.M, n, p.acceleration_q, 0, R, 0, every)
    add_columns_T(1.0, p.N_d, 0, n, p.alpha_q, 0, R, 0, every)
    add_columns(1.0, p.W, n, p.rate_q, 0, R, nf, some)
    add_columns_T(1.0, p.N_d_rate, 0, n, p.omega_q, 0, R, nf, some)
    add_columns(1.0, p.W_T, nf, p.speed_q, 0, D, 0, some)
    add_columns_T(-1.0, p.U, 0, nf, p.omega_q, 0, D, 0, some)
    add_columns(1.0, p.W_T[nf:], m, p.speed_q, 0, modal, nf, some)
    add_columns_T(-1.0, p.U, nf, m, p.omega_q, 0, modal, nf, some)
    if kinds == 2:
        add_columns(1.0, p.Y, n, p.rate_q, 0, R, 2 * nf, nf)
        add_columns(1.0, p.Y_a, n, p.rate_q, 0, R, 3 * nf, nf)
        add_columns(1.0, p.Z, nf, p.rate_q, 0, D, nf, nf)
        skew(1.0, p.local_gravity, p.coefficient)
        clear_columns(p.column, 0, nf)
        add_columns(1.0, p.coefficient, 3, p.omega_q, 0, p.column, 0, nf)
        add_columns_T(-p.mass, p.centre_rates, 0, nf, p.column, 0, D, nf, nf)
        add_columns_T(-p.mass, p.centre_rates, nf, m, p.column, 0, modal, 2 * nf, nf)


@kernel
def find_frame_sums(p, kinds):
    """(34) of directions of frames, and what ω_0 × p_i adds to the rows of p̂̇."""
    nf, every, some, S, A = p.size_nf, 2 * kinds * p.size_nf, kinds * p.size_nf, p.s_q, p.coefficient
    sigma_q, momentum_q, omega_q = p.sigma_q, p.momentum_q, p.omega_q
    clear_columns(S, 0, every)
    clear_columns(sigma_q, 0, some)
    clear_columns(momentum_q, 0, some)
    add_columns(1.0, p.N_d, 3, p.acceleration_q, 0, S, 0, every)
    add_columns(1.0, p.d_O_d, 3, p.alpha_q, 0, S, 0, every)
    add_columns(1.0, p.U, 3, p.rate_q, 0, S, nf, some)
    add_columns(1.0, p.N_d_rate, 3, p.speed_q, 0, S, nf, some)
    add_columns(1.0, p.O_rate, 3, omega_q, 0, S, nf, some)
    add_columns(1.0, p.N_d, 3, p.speed_q, 0, sigma_q, 0, some)
    add_columns(1.0, p.d_O_d, 3, omega_q, 0, sigma_q, 0, some)
    add_columns(1.0, p.M, nf, p.speed_q, 0, momentum_q, 0, some)
    add_columns_T(1.0, p.N_d, 0, nf, omega_q, 0, momentum_q, 0, some)
    if kinds == 2:
        add_columns(1.0, p.U_d, 3, p.rate_q, 0, S, 2 * nf, nf)
        add_columns(1.0, p.U_a, 3, p.rate_q, 0, S, 3 * nf, nf)
        skew(-p.mass, p.arm, A)
        add_columns(1.0, A, 3, p.column, 0, S, 2 * nf, nf)
        add_columns(1.0, p.U, 3, p.rate_q, 0, sigma_q, nf, nf)
        add_columns(1.0, p.W, nf, p.rate_q, 0, momentum_q, nf, nf)
    skew(1.0, p.omega[0], p.on_omega)
    add_columns(1.0, p.on_omega, 3, sigma_q, 0, S, nf, some)
    skew(-1.0, p.sigma, A)
    add_columns(1.0, A, 3, omega_q, 0, S, nf, some)
    for i in range(p.size_nb):
        push, turn = momentum_q[6 * i : 6 * i + 3], momentum_q[6 * i + 3 : 6 * i + 6]
        rows = p.momentum_rate_q[6 * i : 6 * i + 3]
        add_columns(1.0, p.on_omega, 3, push, 0, rows, nf, some)
        add_columns(1.0, p.on_omega, 3, turn, 0, S, nf, some)
        skew(-1.0, p.momentum[6 * i : 6 * i + 3], A)
        add_columns(1.0, A, 3, omega_q, 0, rows, nf, some)
        add_columns(1.0, A, 3, p.xi_q[i], 0, S, nf, some)
        skew(-1.0, p.momentum[6 * i + 3 : 6 * i + 6], A)
        add_columns(1.0, A, 3, omega_q, 0, S, nf, some)
        skew(1.0, p.xi[0, i], A)
        add_columns(1.0, A, 3, push, 0, S, nf, some)


@kernel
def find_mode_columns(p, kinds):
    """(33) and (34) of amplitudes, rows of frames, with ω_0 × p_i."""
    nf, m, R, D, S = p.size_nf, p.modes, p.momentum_rate_m, p.g_m, p.s_m
    copy_columns(p.M[:nf], nf, R, 0, m)
    copy_columns(p.W[:nf], nf, R, m, m)
    copy_columns(p.W_T[:nf], nf, D, 0, m)
    copy_columns(p.N_d, nf, S, 0, m)
    copy_columns(p.U, nf, S, m, m)
    copy_columns(p.N_d, nf, p.sigma_m, 0, m)
    for a in range(3):
        for j in range(m):
            S[a, m + j] += p.N_d_rate[a, nf + j]
    if kinds == 2:
        copy_columns(p.Y[:nf], nf, R, 2 * m, m)
        copy_columns(p.Y_a[:nf], nf, R, 3 * m, m)
        copy_columns(p.Z, nf, D, m, m)
        copy_columns(p.U_d, nf, S, 2 * m, m)
        copy_columns(p.U_a, nf, S, 3 * m, m)
        copy_columns(p.U, nf, p.sigma_m, m, m)
    skew(1.0, p.omega[0], p.on_omega)
    add_columns(1.0, p.on_omega, 3, p.sigma_m, 0, S, m, kinds * m)
    for i in range(p.size_nb):  # p̂ of columns of C and K is p̂̇ of those of M and C: K, which needs that of C, goes first
        push, turn = R[6 * i : 6 * i + 3], R[6 * i + 3 : 6 * i + 6]
        skew(1.0, p.xi[0, i], p.coefficient)
        add_columns(1.0, p.coefficient, 3, push, 0, S, m, kinds * m)
        add_columns(1.0, p.on_omega, 3, turn, 0, S, m, kinds * m)
        if kinds == 2:
            add_columns(1.0, p.on_omega, 3, push, m, push, 2 * m, m)
        add_columns(1.0, p.on_omega, 3, push, 0, push, m, m)


@kernel
def add_mode_columns(p, number, K):
    """Add the rows of frames of columns of modes, number 0, 1, 2, 3: of M, C, K, ∂(M a)/∂q."""
    nf, m, found = p.size_nf, p.modes, p.found_m
    for i in range(nf):
        for j in range(m):
            K[i, nf + 6 * (j // 3) + j % 3] += found[i, number * m + j]


@kernel
def add_mode_rows(p, number, K):
    """Add the rows of modes of columns of frames."""
    nf, R = p.size_nf, p.momentum_rate_q
    for i in range(p.modes):
        to = nf + 6 * (i // 3) + i % 3
        for j in range(nf):
            K[to, j] += R[nf + i, number * nf + j]


@kernel
def add_modes(p, A, K):
    """Add rows and columns of modes of A (n, n)."""
    nf, m = p.size_nf, p.modes
    for i in range(m):
        to = nf + 6 * (i // 3) + i % 3
        for j in range(m):
            K[to, nf + 6 * (j // 3) + j % 3] += A[nf + i, nf + j]


@kernel
def add_frame_rows(p, number, K):
    """Add rows and columns of frames of (31)."""
    nf = p.size_nf
    add_columns_T(1.0, p.speed_q, 0, nf, p.momentum_rate_q[:nf], number * nf, K, 0, nf)
    add_columns_T(1.0, p.omega_q, 0, nf, p.s_q, number * nf, K, 0, nf)
    if number == 1 or number == 2:
        add_columns_T(1.0, p.rate_q, 0, nf, p.g_q, (number - 1) * nf, K, 0, nf)


@kernel
def add_change_of_axes(p, e, K):
    """Add (36) to K, of the h, g and s of a set e, after `find_resultants` of it."""
    nf, y, E, A, column, zero = p.size_nf, p.y[e], p.omega_q, p.coefficient, p.column, local_vector(3)
    zero[:] = 0.0
    clear_columns(column, 0, nf)
    for i in range(p.size_nb):
        phi, P, g = p.phi_q[i], p.rate_q[6 * i : 6 * i + 3], p.g[e, 6 * i : 6 * i + 6]
        arm_matrix(p, i, y, A)
        add_skew(1.0, g[:3], A, 0, 0)
        add_columns(1.0, A, 3, P, 0, column, 0, nf)
        turning_matrix(p, i, zero, y, A)
        clear_columns(p.turned, 0, nf)
        add_columns(1.0, A, 3, phi, 0, p.turned, 0, nf)
        add_columns_T(-1.0, p.R_ref[i], 0, 3, p.turned, 0, K[6 * i + 3 : 6 * i + 6], 0, nf)
        add_R_skew(1.0, p.Q[i], p.mu[e, i], A, 0, 0)
        add_columns(1.0, A, 3, phi, 0, column, 0, nf)
        A[:, :] = 0.0
        add_R_skew(-1.0, p.R_0, p.F[e, i], A, 0, 0)
        add_columns(1.0, A, 3, E, 0, K[6 * i : 6 * i + 3], 0, nf)
        form_gradient(1.0, p.form[i], p.theta[i], g[3:6], A)
        clear_columns(p.turned, 0, nf)
        add_columns(1.0, A, 3, p.rate_q[6 * i + 3 : 6 * i + 6], 0, p.turned, 0, nf)
        add_columns_T(1.0, phi, 0, nf, p.turned, 0, K, 0, nf)
    add_columns_T(1.0, E, 0, nf, column, 0, K, 0, nf)


@kernel
def map_mode_columns(p, kinds):
    """Rows of frames (31) of columns of modes."""
    nf, m = p.size_nf, p.modes
    clear_columns(p.found_m, 0, 2 * kinds * m)
    add_columns_T(1.0, p.speed_q, 0, nf, p.momentum_rate_m, 0, p.found_m, 0, 2 * kinds * m)
    add_columns_T(1.0, p.omega_q, 0, nf, p.s_m, 0, p.found_m, 0, 2 * kinds * m)
    add_columns_T(1.0, p.rate_q, 0, nf, p.g_m, 0, p.found_m, m, kinds * m)


@kernel
def add_of_deformation(p, A, kind, K):
    """Add Pᵀ A δ, A (n, n), with the derivatives δ of d with respect to q or ḋ to v (kind 0), or of ḋ to q (1)."""
    nf, m, modal = p.size_nf, p.modes, p.momentum_rate_q[p.size_nf :]
    clear_columns(p.g_q, 0, nf)
    clear_columns(modal, 0, nf)
    add_columns(1.0, A, nf, p.rate_q, kind * nf, p.g_q, 0, nf)
    add_columns(1.0, A[nf:], m, p.rate_q, kind * nf, modal, 0, nf)
    add_columns_T(1.0, p.rate_q, 0, nf, p.g_q, 0, K, 0, nf)
    add_mode_rows(p, 0, K)
    if kind == 0:
        copy_columns(A[:nf], nf, p.g_m, 0, m)
        clear_columns(p.found_m, 0, m)
        add_columns_T(1.0, p.rate_q, 0, nf, p.g_m, 0, p.found_m, 0, m)
        add_mode_columns(p, 0, K)
        add_modes(p, A, K)


@kernel
def find_stiffness(p):
    """∂²V/∂d² of the patterns (8) in ``Y``, with K̂; after `forces.stretches`."""
    n, Y = p.size_n, p.Y
    for i in range(n):
        for j in range(n):
            Y[i, j] = p.K[i, j]
    for a in range(p.size_np):
        for b in range(p.size_np):
            k = p.k[a, b]
            for i in range(n):
                add_scaled(k * p.c[a, i], p.G_d[b], Y[i])
                add_scaled(k * p.G_d[a, i], p.c[b], Y[i])
                add_scaled(k * p.G_d[a, i], p.G_d[b], Y[i])
        for i in range(n):
            add_scaled(p.pulls[a], p.G[a, i], Y[i])
