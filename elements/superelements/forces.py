"""Forces of a superelement, with derivatives in one direction, which are the columns of its tangents.

    V = ½ d·K̂ d + Σ_pq k_pq (e_p q_q + ½ q_p q_q) ,   e_p = c_p·d ,   q_p = ½ d·Ĝ_p d                               (8)
    T = ½ v̂·M̂ v̂ + v̂·N ω_0 + ½ ω_0·O ω_0 ,   N = [N_a d] ,   O_ab = d·O_ab d                                      (9)
    p̂ = M̂ v̂ + N ω_0 = (p_i, π_i, p_η) ,   σ = Nᵀv̂ + O ω_0 ,   g_d = Σ ω_a N_aᵀ v̂ + Σ ω_a ω_b O_ab d            (10)
    h_i = ṗ_i + ω_0 × p_i ,   g = −g_d + (0, π̇_i, ṗ_η) ,   s = σ̇ + ω_0 × σ + Σ (π̇_i + ω_0 × π_i − p_i × ξ_i)      (11)
    rows = Bᵀ h + Pᵀ g + Eᵀ s                                                                                       (12)
      Bᵀh:  x_i: R_0 h_i
      Pᵀg:  x_i: R_0 (g_i − a_i Σ g_k) ,  θ_i: R_i⁰ᵀ μ_i ,  η: g_η ,  all: −Eᵀ Σ (r_i × g_i + Q_i μ_i) ,  μ = T⁻ᵀ g_θ
      Eᵀs:  x_i: −a_i R_0 (V_i × y) ,  θ_i: b_i R_i⁰ᵀ (tr(Q_i) y − Q_i y) ,  y = S⁻¹ s

with g = K̂ d + D̂ ḋ + … of elastic forces, and of gravity g = −m c_dᵀR_0ᵀg, s = −m s_c × R_0ᵀg.

Source: docs/theory/superelements.md, sections 4-6; derived here and checked by finite differences.
"""

import numpy as np

from fem_mbs.elements.superelements.duals import (
    add_scaled,
    dual_cross,
    dual_dot,
    dual_multiply,
    dual_multiply_T,
    dual_trace,
    product,
)
from fem_mbs.elements.superelements.motion import (
    FRAME_TURN,
    PHI,
    PLACE,
    POSE,
    POSE_RATE,
    SIGMA,
    SPEED,
    SPEED_RATE,
    SPIN,
    SPIN_RATE,
    TOTAL,
    WORK,
    XI,
    local_axes,
)
from fem_mbs.jit import kernel, local_matrix, matrix, tensor, vector
from fem_mbs.rotations import add_cross, rotate

PARAMETERS = np.dtype(
    [
        ("nn", "i8"), ("frames", "i8"), ("modes", "i8"), ("patterns", "i8"), ("damped", "i8"), ("mass", "f8"),
        ("geometry_at", "i8"), ("stiffness_at", "i8"), ("damping_at", "i8"), ("inertia_at", "i8"),
        ("pattern_at", "i8"), ("spin_at", "i8"),
    ]
)  # fmt: skip
# rows of L after those of `motion`: M̂v̂, M̂v̂̇, p̂, p̂̇, h, g; N_a d, N_a ḋ, N_aᵀ v̂ (3 each), O_ab d (6)
M_SPEED, M_RATE, P, P_RATE, H_, G_, N_POSE, N_RATE, NT_SPEED, O_POSE = 4, 5, 6, 7, 8, 9, 10, 13, 16, 19
N_L = 25


@kernel
def pair(a, b):
    """Number of the product O_ab of a symmetric set of six: 11, 22, 33, 12, 13, 23."""
    return a if a == b else a + b + 2


@kernel
def to_rows(p, B, Q, G, F, L, rows):
    """Add (12) of L[H_], L[G_] and G[TOTAL] = s, and its derivative, to rows (2, 6 nn)."""
    nb = p.frames
    a, b = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * nb, nb)
    V, R_ref = matrix(p.geometry_at + 16 * nb, nb, 3), tensor(p.geometry_at + 40 * nb, nb, 3, 3)
    s, y, mean, one, two = G[TOTAL], local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3)
    mean[:, :] = 0.0
    y[:, :] = 0.0
    for i in range(nb):
        for e in range(2):
            for k in range(3):
                one[e, k] = L[G_, e, 6 * i + 3 + k]
        two[:, :] = 0.0
        dual_multiply_T(1.0, Q[i, 1], one, two)
        for e in range(2):
            for k in range(3):
                B[i, PHI, e, k] = two[e, k]  # μ_i
                one[e, k] = L[G_, e, 6 * i + k]
                mean[e, k] += one[e, k]
        dual_cross(-1.0, B[i, PLACE], one, s)
        dual_multiply(-1.0, Q[i, 0], two, s)
    dual_multiply(1.0, F[1], s, y)
    for i in range(nb):
        for e in range(2):
            for k in range(3):
                one[e, k] = L[H_, e, 6 * i + k] + L[G_, e, 6 * i + k] - a[i] * mean[e, k]
        for e in range(2):
            add_cross(-a[i], V[i], y[e], one[e])
        add_cross(1.0, G[FRAME_TURN, 1], one[0], one[1])
        for e in range(2):
            rotate(F[2, 0], one[e], two[e])
            for k in range(3):
                rows[e, 6 * i + k] += two[e, k]
                two[e, k] = B[i, PHI, e, k]
        dual_trace(Q[i, 0], y, two, b[i])
        dual_multiply(-b[i], Q[i, 0], y, two)
        for e in range(2):
            for k in range(3):
                for j in range(3):
                    rows[e, 6 * i + 3 + k] += R_ref[i, j, k] * two[e, j]
    for k in range(p.modes):
        for e in range(2):
            rows[e, 6 * (nb + k // 3) + k % 3] += L[G_, e, 6 * nb + k]


@kernel
def stretches(p, derivative, L, turned, e):
    """Fill Ĝ_p d in turned (2, patterns, n), and e_p and q_p of (8) in e (2, 2, patterns).

    ``derivative`` 0: values, in turned[0] and e[0]; 1: derivatives, which need these, in turned[1] and e[1].
    """
    n = 6 * p.frames + p.modes
    half = 0.5 if derivative == 0 else 1.0
    for q in range(p.patterns):
        at = p.pattern_at + 8 * (p.patterns**2 + q * (n + n * n))
        c = vector(at, n)
        product(matrix(at + 8 * n, n, n), n, derivative, L[POSE], L[H_])
        e[derivative, 0, q] = e[derivative, 1, q] = 0.0
        for i in range(n):
            turned[derivative, q, i] = L[H_, derivative, i]
            e[derivative, 0, q] += c[i] * L[POSE, derivative, i]
            e[derivative, 1, q] += half * L[POSE, derivative, i] * turned[0, q, i]


@kernel
def add_patterns(p, derivative, L):
    """Add the forces of the load patterns (8) to L[G_]; ``derivative`` 0: values, 1: derivatives."""
    n, count = 6 * p.frames + p.modes, p.patterns
    k = matrix(p.pattern_at, count, count)
    turned, e = np.zeros((2, count, n)), np.zeros((2, 2, count))
    stretches(p, 0, L, turned, e)
    if derivative == 1:
        stretches(p, 1, L, turned, e)
    for q in range(count):
        c = vector(p.pattern_at + 8 * (count**2 + q * (n + n * n)), n)
        for r in range(count):
            half, pull, tension = (
                e[derivative, 1, r],
                e[derivative, 0, r] + e[derivative, 1, r],
                e[0, 0, r] + e[0, 1, r],
            )
            for i in range(n):  # turned[1] is zero where values are asked for
                L[G_, derivative, i] += k[q, r] * (half * c[i] + pull * turned[0, q, i] + tension * turned[1, q, i])


@kernel
def pull_rates(p, L, rates):
    """Fill rates (patterns,) with the derivatives of the pulls Σ k_pq (e_q + q_q) of (8); L[H_] is zero then."""
    count = p.patterns
    k = matrix(p.pattern_at, count, count)
    turned, e = np.zeros((2, count, 6 * p.frames + p.modes)), np.zeros((2, 2, count))
    stretches(p, 0, L, turned, e)
    stretches(p, 1, L, turned, e)
    for q in range(count):
        rates[q] = 0.0
        for r in range(count):
            rates[q] += k[q, r] * (e[1, 0, r] + e[1, 1, r])
    L[H_, :, :] = 0.0


@kernel
def elastic(p, derivative, L):
    """Fill L[G_] with K̂ d + D̂ ḋ + …, its values (0) or derivatives (1); L[H_] is zero then."""
    n = 6 * p.frames + p.modes
    product(matrix(p.stiffness_at, n, n), n, derivative, L[POSE], L[G_])
    if p.patterns > 0:
        add_patterns(p, derivative, L)
    if p.damped == 1:
        product(matrix(p.damping_at, n, n), n, derivative, L[POSE_RATE], L[H_])
        for i in range(n):
            L[G_, derivative, i] += L[H_, derivative, i]
    L[H_, :, :] = 0.0


@kernel
def inertia_products(p, derivative, gyroscopic, L):
    """Products of the constant matrices with d, ḋ, v̂, v̂̇: values (0) or derivatives (1)."""
    n = 6 * p.frames + p.modes
    one = 8 * n * n
    product(matrix(p.inertia_at, n, n), n, derivative, L[SPEED_RATE], L[M_RATE])
    if gyroscopic == 1:
        product(matrix(p.inertia_at, n, n), n, derivative, L[SPEED], L[M_SPEED])
    for a in range(3):  # N_a by rows of N_aᵀ
        product(matrix(p.inertia_at + (4 + a) * one, n, n), n, derivative, L[POSE], L[N_POSE + a])
        if gyroscopic == 1:
            product(matrix(p.inertia_at + (4 + a) * one, n, n), n, derivative, L[POSE_RATE], L[N_RATE + a])
            product(matrix(p.inertia_at + (1 + a) * one, n, n), n, derivative, L[SPEED], L[NT_SPEED + a])
    for k in range(6):
        product(matrix(p.inertia_at + (7 + k) * one, n, n), n, derivative, L[POSE], L[O_POSE + k])


@kernel
def inertia_rows(p, B, Q, G, F, L, c, gyroscopic, rows):
    """Add (11), (12), and their derivatives, to rows (2, 6 nn); without velocities ``gyroscopic`` is 0."""
    nb = p.frames
    n = 6 * nb + p.modes
    w, alpha, sigma, s, work = G[SPIN], G[SPIN_RATE], G[SIGMA], G[TOTAL], G[WORK]
    sigma[:, :] = 0.0
    s[:, :] = 0.0
    L[P_RATE, :, :] = L[M_RATE]
    L[G_, :, :] = 0.0
    if gyroscopic == 1:
        L[P, :, :] = L[M_SPEED]
    for a in range(3):
        add_scaled(alpha, a, L[N_POSE + a], n, L[P_RATE])
        dual_dot(L[N_POSE + a], L[SPEED_RATE], n, c)
        s[0, a] += c[0]
        s[1, a] += c[1]
        if gyroscopic == 1:
            add_scaled(w, a, L[N_POSE + a], n, L[P])
            add_scaled(w, a, L[N_RATE + a], n, L[P_RATE])
            dual_dot(L[N_RATE + a], L[SPEED], n, c)
            s[0, a] += c[0]
            s[1, a] += c[1]
            dual_dot(L[N_POSE + a], L[SPEED], n, c)
            sigma[0, a] += c[0]
            sigma[1, a] += c[1]
            for e in range(2):
                work[e, 0] = -w[e, a]
            add_scaled(work, 0, L[NT_SPEED + a], n, L[G_])
        for b in range(3):
            row = O_POSE + pair(a, b)
            dual_dot(L[POSE], L[row], n, c)
            s[0, a] += c[0] * alpha[0, b]
            s[1, a] += c[1] * alpha[0, b] + c[0] * alpha[1, b]
            if gyroscopic == 0:
                continue
            sigma[0, a] += c[0] * w[0, b]
            sigma[1, a] += c[1] * w[0, b] + c[0] * w[1, b]
            dual_dot(L[POSE_RATE], L[row], n, c)
            s[0, a] += 2.0 * c[0] * w[0, b]
            s[1, a] += 2.0 * (c[1] * w[0, b] + c[0] * w[1, b])
            work[0, 0] = -w[0, a] * w[0, b]
            work[1, 0] = -w[1, a] * w[0, b] - w[0, a] * w[1, b]
            add_scaled(work, 0, L[row], n, L[G_])
    L[H_, :, :] = L[P_RATE]
    for e in range(2):
        for i in range(nb):
            for k in range(3):
                s[e, k] += L[P_RATE, e, 6 * i + 3 + k]
                L[G_, e, 6 * i + 3 + k] += L[P_RATE, e, 6 * i + 3 + k]
        for j in range(6 * nb, n):
            L[G_, e, j] += L[P_RATE, e, j]
    if gyroscopic == 1:
        add_turning(nb, B, G, L)
    to_rows(p, B, Q, G, F, L, rows)


@kernel
def add_turning(nb, B, G, L):
    """Add the products with ω_0 and ξ_i of (11) to L[H_] and G[TOTAL]."""
    one, two, s = local_matrix(2, 3), local_matrix(2, 3), G[TOTAL]
    dual_cross(1.0, G[SPIN], G[SIGMA], s)
    for i in range(nb):
        for e in range(2):
            for k in range(3):
                one[e, k], G[WORK, e, k] = L[P, e, 6 * i + k], L[P, e, 6 * i + 3 + k]
        two[:, :] = 0.0
        dual_cross(1.0, G[SPIN], one, two)
        dual_cross(-1.0, one, B[i, XI], s)
        dual_cross(1.0, G[SPIN], G[WORK], s)
        for e in range(2):
            for k in range(3):
                L[H_, e, 6 * i + k] += two[e, k]


@kernel
def gravity_rows(p, gravity, zero, B, Q, G, F, L, rows):
    """Add minus the force of gravity, and its derivative, to rows (2, 6 nn)."""
    nb = p.frames
    n = 6 * nb + p.modes
    a, centre = vector(p.geometry_at, nb), vector(p.geometry_at + 8 * 14 * nb, 3)
    c_d = matrix(p.geometry_at + 8 * (14 * nb + 3), 3, n)
    local, arm = local_matrix(2, 3), local_matrix(2, 3)
    local_axes(F, G, gravity, zero, local)
    L[H_, :, :] = 0.0
    for k in range(3):
        arm[0, k], arm[1, k] = centre[k], 0.0
        for j in range(n):
            arm[0, k] += c_d[k, j] * L[POSE, 0, j]
            arm[1, k] += c_d[k, j] * L[POSE, 1, j]
    for e in range(2):
        for j in range(n):
            L[G_, e, j] = -p.mass * (c_d[0, j] * local[e, 0] + c_d[1, j] * local[e, 1] + c_d[2, j] * local[e, 2])
    G[TOTAL, :, :] = 0.0
    dual_cross(-p.mass, arm, local, G[TOTAL])
    to_rows(p, B, Q, G, F, L, rows)
    for i in range(nb):
        for k in range(3):
            rows[0, 6 * i + k] -= p.mass * a[i] * gravity[k]
