"""Tangents of a superelement, block by block.

Rows of frames are, for columns of p̂̇, of −g_d, and of s̄, which is s without Σ π̇_i, and with h̄ = ω_0 × p_i + …,

    rows = Bᵀ (p̂̇ + h̄) − Pᵀ g_d + Eᵀ s̄ ,        rows of modes: p̂̇_η − g_d,η                                         (31)

which is (12) with another grouping. In δp̂̇ and δg_d of the local motion all matrices are constant but

    W = Σ ω_a N_a ,   Y = Σ ω̇_a N_a ,   Z = Σ ω_a ω_b O_ab                                                         (32)
    δp̂̇ = M̂ δv̂̇ + Y δd + W δḋ + [N_a d] δω̇ + [N_a ḋ] δω ,   −δg_d = −Wᵀ δv̂ − Z δd − [U_a] δω                 (33)
    δs̄_a = U'_a·δd + N_a d·δv̂̇ + U_a·δḋ + N_a ḋ·δv̂ + O δω̇ + 2 (ḋ·O_ab d) δω_b + …                                  (34)
    U_a = N_aᵀv̂ + 2 Σ ω_b O_ab d ,   U'_a = N_aᵀv̂̇ + 2 Σ (ω̇_b O_ab d + ω_b O_ab ḋ)                                  (35)

An amplitude changes d, ḋ = v̂ or v̂̇ by itself alone: its columns are those of the matrices. Columns of frames need the
6 nb directions of `variations`. To these the change of B, P and E at fixed h, g, s adds, with μ_i, y, F_i of (12),

    x_i: −R_0 F̃_i E ,   θ_i: b_i R_i⁰ᵀ (y q_iᵀ + Q_i ỹ) φ_i ,   all: Σ φ_iᵀ ∂(T⁻ᵀ g_θ)/∂θ_i δθ_i             (36)
    all: Eᵀ Σ [ (g̃_i + 𝒱_i(y)) δr_i + (Q_i μ̃_i + 𝒯_i(0, y)) φ_i ]

All of this is linear in the derivatives: what is computed are the sums c_M M + c_C C and c_K K + c_A ∂(M a)/∂q, in this
order, in columns ``…_s`` of frames and ``…_m`` of modes; those of `variations` are without weights.

Source: derivatives of (8)-(12), derived here and checked by finite differences.
"""

from fem_mbs.elements.superelements.forces import SUM, find_resultants, pair
from fem_mbs.elements.superelements.products import (
    add_by_nodes,
    add_columns,
    add_columns_T,
    add_combination,
    add_scaled,
    clear_columns,
    copy_columns,
    sum_columns,
    times_T,
)
from fem_mbs.elements.superelements.variations import arm_matrix, turning_matrix
from fem_mbs.elements.superelements.views import flat
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_R_skew, add_skew, form_gradient

# weights of a sum, in this order
OF_M, OF_C, OF_K, OF_KA = 0, 1, 2, 3


@kernel
def weigh_motion(p, weights, kinds):
    """Sums of the columns of `variations` with weights."""
    nf = p.size_nf
    w_M, w_C, w_K, w_A = weights[0], weights[1], weights[2], weights[3]
    sum_columns(w_M, p.speed_q, 0, w_C, p.acceleration_q, 0, p.acceleration_s, 0, nf)
    sum_columns(w_M, p.omega_q, 0, w_C, p.alpha_q, 0, p.alpha_s, 0, nf)
    if kinds == 2:
        sum_columns(w_K, p.acceleration_q, nf, w_A, p.acceleration_q, 2 * nf, p.acceleration_s, nf, nf)
        sum_columns(w_K, p.alpha_q, nf, w_A, p.alpha_q, 2 * nf, p.alpha_s, nf, nf)
    for kind in range(kinds):
        w, o = weights[1 + kind], kind * nf
        sum_columns(w, p.rate_q, o, 0.0, p.rate_q, o, p.rate_s, o, nf)
        sum_columns(w, p.speed_q, o, 0.0, p.speed_q, o, p.speed_s, o, nf)
        sum_columns(w, p.omega_q, o, 0.0, p.omega_q, o, p.omega_s, o, nf)
        for i in range(p.size_nb):
            sum_columns(w, p.xi_q[i], o, 0.0, p.xi_q[i], o, p.xi_s[i], o, nf)


@kernel
def find_matrices(p, weights, kinds):
    """(32): W, −Wᵀ, and with two ``kinds`` the sum of Y, Y of accelerations and −Z, in rows of frames −Z apart."""
    nf, n, w, w_K, w_A = p.size_nf, p.size_n, p.omega[0], weights[OF_K], weights[OF_KA]
    minus, alpha, scale = local_arrays("3, 3, 6")
    for a in range(3):
        minus[a], alpha[a] = -w[a], w_K * p.alpha[a] + w_A * p.omega[1, a]
        for b in range(a + 1):
            scale[pair(a, b)] = -w_K * w[a] * w[b] * (1.0 if a == b else 2.0)
    p.W[:, :] = 0.0
    p.W_T[:, :] = 0.0
    for i in range(n):
        add_combination(w, p.N[i], 0, p.W[i])
        add_combination(minus, p.N_T[i], 0, p.W_T[i])
    if kinds == 2:
        p.Y[:, :] = 0.0
        p.Z[:, :] = 0.0
        for i in range(n):
            add_combination(alpha, p.N[i], 0, p.Y[i])
            row = p.Z[i] if i < nf else p.Y[i]
            add_combination(scale, p.O[i], 0, row)
            add_combination(scale, p.O[i], 3, row)


@kernel
def find_covectors(p, weights, kinds):
    """(35): U, and with two ``kinds`` the sum of U', with what gravity adds, and that of accelerations."""
    n, U, U_d, w, w_K, w_A = p.size_n, p.U, p.U_d, p.omega[0], weights[OF_K], weights[OF_KA]
    for a in range(3):
        for i in range(n):
            U[a, i] = p.N_T_speed[a, i]
        for b in range(3):
            add_scaled(2.0 * w[b], p.O_d[pair(a, b)], U[a])
    if kinds == 1:
        return
    for i in range(n):
        p.mixed[i] = w_K * p.acceleration[i] + w_A * p.speed[1, i]
    times_T(p.N, p.mixed, flat(U_d))
    times_T(p.O, p.d_rate[0], flat(p.O_d_rate))
    for a in range(3):
        for b in range(3):
            k = pair(a, b)
            add_scaled(2.0 * (w_K * p.alpha[b] + w_A * p.omega[1, b]), p.O_d[k], U_d[a])
            add_scaled(2.0 * w_K * w[b], p.O_d_rate[k], U_d[a])
        b, c = (a + 1) % 3, (a + 2) % 3
        add_scaled(w_K * p.mass * p.local_gravity[b], p.centre_rates[c], U_d[a])
        add_scaled(-w_K * p.mass * p.local_gravity[c], p.centre_rates[b], U_d[a])


@kernel
def skew(scale, a, A):
    """Fill A (3, 3) with scale ã."""
    A[:, :] = 0.0
    add_skew(scale, a, A, 0, 0)


@kernel
def find_frame_columns(p, weights, kinds):
    """(33) of directions of frames; rows of modes with −g_d."""
    nf, n, m, some, R, D = p.size_nf, p.size_n, p.modes, kinds * p.size_nf, p.momentum_rate_s, p.g_s
    modal, gravity = R[nf:], -p.mass * weights[OF_K]
    clear_columns(R, 0, some)
    clear_columns(D, 0, some)
    add_columns(1.0, p.M, n, p.acceleration_s, 0, R, 0, some)
    add_columns_T(1.0, p.N_d, 0, n, p.alpha_s, 0, R, 0, some)
    add_columns(1.0, p.W, n, p.rate_s, 0, R, 0, some)
    add_columns_T(1.0, p.N_d_rate, 0, n, p.omega_s, 0, R, 0, some)
    add_columns(1.0, p.W_T, nf, p.speed_s, 0, D, 0, some)
    add_columns_T(-1.0, p.U, 0, nf, p.omega_s, 0, D, 0, some)
    add_columns(1.0, p.W_T[nf:], m, p.speed_s, 0, modal, 0, some)
    add_columns_T(-1.0, p.U, nf, m, p.omega_s, 0, modal, 0, some)
    if kinds == 2:
        add_columns(1.0, p.Y, n, p.rate_q, 0, R, nf, nf)
        add_columns(1.0, p.Z, nf, p.rate_q, 0, D, nf, nf)
        skew(1.0, p.local_gravity, p.coefficient)
        clear_columns(p.column, 0, nf)
        add_columns(1.0, p.coefficient, 3, p.omega_q, 0, p.column, 0, nf)
        add_columns_T(gravity, p.centre_rates, 0, nf, p.column, 0, D, nf, nf)
        add_columns_T(gravity, p.centre_rates, nf, m, p.column, 0, modal, nf, nf)


@kernel
def find_frame_sums(p, weights, kinds):
    """(34) of directions of frames, and what ω_0 × p_i adds to the rows of p̂̇."""
    nf, some, S, A, w_K = p.size_nf, kinds * p.size_nf, p.s_s, p.coefficient, weights[OF_K]
    sigma_s, momentum_s, omega_s = p.sigma_s, p.momentum_s, p.omega_s
    clear_columns(S, 0, some)
    clear_columns(sigma_s, 0, some)
    clear_columns(momentum_s, 0, some)
    add_columns(1.0, p.N_d, 3, p.acceleration_s, 0, S, 0, some)
    add_columns(1.0, p.d_O_d, 3, p.alpha_s, 0, S, 0, some)
    add_columns(1.0, p.U, 3, p.rate_s, 0, S, 0, some)
    add_columns(1.0, p.N_d_rate, 3, p.speed_s, 0, S, 0, some)
    add_columns(1.0, p.O_rate, 3, omega_s, 0, S, 0, some)
    add_columns(1.0, p.N_d, 3, p.speed_s, 0, sigma_s, 0, some)
    add_columns(1.0, p.d_O_d, 3, omega_s, 0, sigma_s, 0, some)
    add_columns(1.0, p.M, nf, p.speed_s, 0, momentum_s, 0, some)
    add_columns_T(1.0, p.N_d, 0, nf, omega_s, 0, momentum_s, 0, some)
    if kinds == 2:
        add_columns(1.0, p.U_d, 3, p.rate_q, 0, S, nf, nf)
        skew(-p.mass * w_K, p.arm, A)
        add_columns(1.0, A, 3, p.column, 0, S, nf, nf)
        add_columns(w_K, p.U, 3, p.rate_q, 0, sigma_s, nf, nf)
        add_columns(w_K, p.W, nf, p.rate_q, 0, momentum_s, nf, nf)
    skew(1.0, p.omega[0], p.on_omega)
    add_columns(1.0, p.on_omega, 3, sigma_s, 0, S, 0, some)
    skew(-1.0, p.sigma, p.on_turn)
    for i in range(p.size_nb):
        push, turn = momentum_s[6 * i : 6 * i + 3], momentum_s[6 * i + 3 : 6 * i + 6]
        rows = p.momentum_rate_s[6 * i : 6 * i + 3]
        add_columns(1.0, p.on_omega, 3, push, 0, rows, 0, some)
        add_columns(1.0, p.on_omega, 3, turn, 0, S, 0, some)
        skew(-1.0, p.momentum[6 * i : 6 * i + 3], A)
        add_columns(1.0, A, 3, omega_s, 0, rows, 0, some)
        add_columns(1.0, A, 3, p.xi_s[i], 0, S, 0, some)
        add_skew(-1.0, p.momentum[6 * i + 3 : 6 * i + 6], p.on_turn, 0, 0)
        skew(1.0, p.xi[0, i], A)
        add_columns(1.0, A, 3, push, 0, S, 0, some)
    add_columns(1.0, p.on_turn, 3, omega_s, 0, S, 0, some)


@kernel
def find_mode_columns(p, weights, kinds):
    """(33) and (34) of amplitudes, rows of frames, with ω_0 × p_i."""
    nf, m, R, D, S, sigma = p.size_nf, p.modes, p.momentum_rate_m, p.g_m, p.s_m, p.sigma_m
    w_M, w_C, w_K = weights[OF_M], weights[OF_C], weights[OF_K]
    sum_columns(w_M, p.M[:nf], nf, w_C, p.W[:nf], nf, R, 0, m)
    sum_columns(w_C, p.W_T[:nf], nf, 0.0, p.W_T[:nf], nf, D, 0, m)
    sum_columns(w_M, p.N_d, nf, w_C, p.U, nf, S, 0, m)
    sum_columns(1.0, S, 0, w_C, p.N_d_rate, nf, S, 0, m)
    sum_columns(w_C, p.N_d, nf, 0.0, p.N_d, nf, sigma, 0, m)
    if kinds == 2:
        copy_columns(p.Y[:nf], nf, R, m, m)
        copy_columns(p.Z, nf, D, m, m)
        copy_columns(p.U_d, nf, S, m, m)
        sum_columns(w_K, p.U, nf, 0.0, p.U, nf, sigma, m, m)
    skew(1.0, p.omega[0], p.on_omega)
    add_columns(1.0, p.on_omega, 3, sigma, 0, S, 0, kinds * m)
    for i in range(p.size_nb):
        skew(1.0, p.xi[0, i], p.coefficient)
        add_momentum_of_modes(p, i, w_C, p.M, 0)
        if kinds == 2:
            add_momentum_of_modes(p, i, w_K, p.W, m)


@kernel
def add_momentum_of_modes(p, i, scale, A, o):
    """Add the part of the momentum of frame i; columns of amplitudes are those of A: M̂ at fixed pose, W at fixed v."""
    nf, m, S, push, turn = p.size_nf, p.modes, p.s_m, A[6 * i : 6 * i + 3], A[6 * i + 3 : 6 * i + 6]
    add_columns(scale, p.on_omega, 3, push, nf, p.momentum_rate_m[6 * i : 6 * i + 3], o, m)
    add_columns(scale, p.on_omega, 3, turn, nf, S, o, m)
    add_columns(scale, p.coefficient, 3, push, nf, S, o, m)


@kernel
def map_mode_columns(p, kinds):
    """Rows of frames (31) of columns of modes."""
    nf, some = p.size_nf, kinds * p.modes
    clear_columns(p.found_m, 0, some)
    add_columns_T(1.0, p.speed_q, 0, nf, p.momentum_rate_m, 0, p.found_m, 0, some)
    add_columns_T(1.0, p.omega_q, 0, nf, p.s_m, 0, p.found_m, 0, some)
    add_columns_T(1.0, p.rate_q, 0, nf, p.g_m, 0, p.found_m, 0, some)


@kernel
def add_mode_columns(p, kind, K):
    """Add the rows of frames of columns of modes, and the rows of modes of columns of frames."""
    nf, m, found, R = p.size_nf, p.modes, p.found_m, p.momentum_rate_s
    for i in range(nf):
        add_by_nodes(1.0, found[i], kind * m, K[i], nf, m)
    for i in range(m):
        to = nf + 6 * (i // 3) + i % 3
        for j in range(nf):
            K[to, j] += R[nf + i, kind * nf + j]


@kernel
def add_modes(p, scale, A, K):
    """Add rows and columns of modes of scale A, A (n, n)."""
    nf, m = p.size_nf, p.modes
    for i in range(m):
        add_by_nodes(scale, A[nf + i], nf, K[nf + 6 * (i // 3) + i % 3], nf, m)


@kernel
def add_frame_rows(p, kind, K):
    """Add rows and columns of frames of (31)."""
    nf = p.size_nf
    add_columns_T(1.0, p.speed_q, 0, nf, p.momentum_rate_s[:nf], kind * nf, K, 0, nf)
    add_columns_T(1.0, p.omega_q, 0, nf, p.s_s, kind * nf, K, 0, nf)
    add_columns_T(1.0, p.rate_q, 0, nf, p.g_s, kind * nf, K, 0, nf)


@kernel
def add_change_of_axes(p, w_0, e_0, w_1, e_1, K):
    """Add (36) to K, of w_0 times the h, g and s of a set e_0, plus w_1 times those of e_1."""
    nf, y, E, A, column, zero = p.size_nf, p.y[SUM], p.omega_q, p.coefficient, p.column, local_vector(3)
    for i in range(6 * p.size_nb):
        p.g[SUM, i] = w_0 * p.g[e_0, i] + w_1 * p.g[e_1, i]
    for k in range(3):
        p.s[SUM, k] = w_0 * p.s[e_0, k] + w_1 * p.s[e_1, k]
        for i in range(p.size_nb):
            p.h[SUM, i, k] = w_0 * p.h[e_0, i, k] + w_1 * p.h[e_1, i, k]
    find_resultants(p, SUM)
    zero[:] = 0.0
    clear_columns(column, 0, nf)
    for i in range(p.size_nb):
        phi, P, g = p.phi_q[i], p.rate_q[6 * i : 6 * i + 3], p.g[SUM, 6 * i : 6 * i + 6]
        arm_matrix(p, i, y, A)
        add_skew(1.0, g[:3], A, 0, 0)
        add_columns(1.0, A, 3, P, 0, column, 0, nf)
        turning_matrix(p, i, zero, y, A)
        clear_columns(p.turned, 0, nf)
        add_columns(1.0, A, 3, phi, 0, p.turned, 0, nf)
        add_columns_T(-1.0, p.R_ref[i], 0, 3, p.turned, 0, K[6 * i + 3 : 6 * i + 6], 0, nf)
        add_R_skew(1.0, p.Q[i], p.mu[SUM, i], A, 0, 0)
        add_columns(1.0, A, 3, phi, 0, column, 0, nf)
        A[:, :] = 0.0
        add_R_skew(-1.0, p.R_0, p.F[SUM, i], A, 0, 0)
        add_columns(1.0, A, 3, E, 0, K[6 * i : 6 * i + 3], 0, nf)
        form_gradient(1.0, p.form[i], p.theta[i], g[3:6], A)
        clear_columns(p.turned, 0, nf)
        add_columns(1.0, A, 3, p.rate_q[6 * i + 3 : 6 * i + 6], 0, p.turned, 0, nf)
        add_columns_T(1.0, phi, 0, nf, p.turned, 0, K, 0, nf)
    add_columns_T(1.0, E, 0, nf, column, 0, K, 0, nf)


@kernel
def add_of_deformation(p, scale, A, x, modes, K):
    """Add scale Pᵀ A X, A (n, n), X: columns x … of ``rate_q``, and with ``modes`` = 1 those of modes."""
    nf, m, modal = p.size_nf, p.modes, p.momentum_rate_s[p.size_nf :]
    clear_columns(p.g_s, 0, nf)
    clear_columns(modal, 0, nf)
    add_columns(scale, A, nf, p.rate_q, x, p.g_s, 0, nf)
    add_columns(scale, A[nf:], m, p.rate_q, x, modal, 0, nf)
    add_columns_T(1.0, p.rate_q, 0, nf, p.g_s, 0, K, 0, nf)
    clear_columns(p.found_m, 0, m)
    if modes == 1:
        sum_columns(scale, A[:nf], nf, 0.0, A[:nf], nf, p.g_m, 0, m)
        add_columns_T(1.0, p.rate_q, 0, nf, p.g_m, 0, p.found_m, 0, m)
        add_modes(p, scale, A, K)
    add_mode_columns(p, 0, K)


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
