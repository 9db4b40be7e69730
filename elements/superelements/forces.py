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

from fem_mbs.elements.superelements.duals import (
    add_scaled,
    copy,
    dual_cross,
    dual_dot,
    dual_multiply,
    dual_multiply_T,
    dual_trace,
    product,
)
from fem_mbs.elements.superelements.motion import local_axes
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import add_cross, rotate


@kernel
def pair(a, b):
    """Number of the product O_ab of a symmetric set of six: 11, 22, 33, 12, 13, 23."""
    return a if a == b else a + b + 2


@kernel
def to_rows(p):
    """Add (12) of h, g and s, and its derivative, to the rows."""
    nb = p.size_nb
    a, b, V, R_ref, g, h, rows = p.a, p.b, p.V, p.R_ref, p.g, p.h, p.rows
    s, y, mean, one, two = p.s, local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3)
    mean[:, :] = 0.0
    y[:, :] = 0.0
    for i in range(nb):
        mu = p.mu[i]
        for e in range(2):
            for k in range(3):
                one[e, k] = g[e, 6 * i + 3 + k]
        mu[:, :] = 0.0
        dual_multiply_T(1.0, p.T_inv[i], one, mu)
        for e in range(2):
            for k in range(3):
                one[e, k] = g[e, 6 * i + k]
                mean[e, k] += one[e, k]
        dual_cross(-1.0, p.r[i], one, s)
        dual_multiply(-1.0, p.Q[i], mu, s)
    dual_multiply(1.0, p.S_inv, s, y)
    for i in range(nb):
        for e in range(2):
            for k in range(3):
                one[e, k] = h[e, 6 * i + k] + g[e, 6 * i + k] - a[i] * mean[e, k]
        for e in range(2):
            add_cross(-a[i], V[i], y[e], one[e])
        add_cross(1.0, p.turn, one[0], one[1])
        for e in range(2):
            rotate(p.R_0, one[e], two[e])
            for k in range(3):
                rows[e, 6 * i + k] += two[e, k]
                two[e, k] = p.mu[i, e, k]
        dual_trace(p.Q[i], y, two, b[i])
        dual_multiply(-b[i], p.Q[i], y, two)
        for e in range(2):
            for k in range(3):
                for j in range(3):
                    rows[e, 6 * i + 3 + k] += R_ref[i, j, k] * two[e, j]
    for k in range(p.modes):
        for e in range(2):
            rows[e, 6 * (nb + k // 3) + k % 3] += g[e, 6 * nb + k]


@kernel
def stretches(p, derivative):
    """Fill Ĝ_p d, e_p and q_p of (8): values (0), or derivatives (1), which need the values."""
    n, c, d, G_d, e, q = p.size_n, p.c, p.d, p.G_d, p.e, p.q
    half = 0.5 if derivative == 0 else 1.0
    for a in range(p.size_np):
        product(p.G[a], n, derivative, d, G_d[a])
        e[derivative, a] = q[derivative, a] = 0.0
        for i in range(n):
            e[derivative, a] += c[a, i] * d[derivative, i]
            q[derivative, a] += half * d[derivative, i] * G_d[a, 0, i]


@kernel
def add_patterns(p, derivative):
    """Add the forces of the load patterns (8) to g: values (0) or derivatives (1)."""
    n, count, k, c, g, G_d, e, q = p.size_n, p.size_np, p.k, p.c, p.g, p.G_d, p.e, p.q
    G_d[:, 1, :] = 0.0
    stretches(p, 0)
    if derivative == 1:
        stretches(p, 1)
    for a in range(count):
        for b in range(count):
            half, pull, tension = q[derivative, b], e[derivative, b] + q[derivative, b], e[0, b] + q[0, b]
            for i in range(n):  # where values are computed, G_d[a, 1] is zero
                g[derivative, i] += k[a, b] * (half * c[a, i] + pull * G_d[a, 0, i] + tension * G_d[a, 1, i])


@kernel
def find_pull_rates(p):
    """Fill the derivatives of the pulls Σ k_pq (e_q + q_q) of (8)."""
    count, k, e, q, rates = p.size_np, p.k, p.e, p.q, p.pull_rates
    stretches(p, 0)
    stretches(p, 1)
    for a in range(count):
        rates[a] = 0.0
        for b in range(count):
            rates[a] += k[a, b] * (e[1, b] + q[1, b])


@kernel
def elastic(p, derivative):
    """Fill g with K̂ d + D̂ ḋ + …, its values (0) or derivatives (1), and h with zeros."""
    n, g, h = p.size_n, p.g, p.h
    product(p.K, n, derivative, p.d, g)
    if p.size_np > 0:
        add_patterns(p, derivative)
    if p.damped == 1:
        product(p.D, n, derivative, p.d_rate, h)
        for i in range(n):
            g[derivative, i] += h[derivative, i]
    h[:, :] = 0.0


@kernel
def inertia_products(p, derivative, gyroscopic):
    """Products of the constant matrices with d, ḋ, v̂, v̂̇: values (0) or derivatives (1)."""
    n = p.size_n
    product(p.M, n, derivative, p.speed_rate, p.M_speed_rate)
    if gyroscopic == 1:
        product(p.M, n, derivative, p.speed, p.M_speed)
    for a in range(3):
        product(p.N_T[a], n, derivative, p.d, p.N_d[a])
        if gyroscopic == 1:
            product(p.N_T[a], n, derivative, p.d_rate, p.N_d_rate[a])
            product(p.N[a], n, derivative, p.speed, p.N_T_speed[a])
    for k in range(6):
        product(p.O[k], n, derivative, p.d, p.O_d[k])


@kernel
def inertia_rows(p, gyroscopic):
    """Add (11), (12), and their derivatives, to the rows; without velocities ``gyroscopic`` is 0."""
    n, c, work = p.size_n, local_vector(2), local_matrix(2, 1)
    d, d_rate, speed, g, momentum, momentum_rate = p.d, p.d_rate, p.speed, p.g, p.momentum, p.momentum_rate
    w, alpha, sigma, s = p.omega, p.omega_rate, p.sigma, p.s
    sigma[:, :] = 0.0
    s[:, :] = 0.0
    copy(p.M_speed_rate, momentum_rate)
    g[:, :] = 0.0
    if gyroscopic == 1:
        copy(p.M_speed, momentum)
    for a in range(3):
        N_d, N_d_rate = p.N_d[a], p.N_d_rate[a]
        add_scaled(alpha, a, N_d, n, momentum_rate)
        dual_dot(N_d, p.speed_rate, n, c)
        s[0, a] += c[0]
        s[1, a] += c[1]
        if gyroscopic == 1:
            add_scaled(w, a, N_d, n, momentum)
            add_scaled(w, a, N_d_rate, n, momentum_rate)
            dual_dot(N_d_rate, speed, n, c)
            s[0, a] += c[0]
            s[1, a] += c[1]
            dual_dot(N_d, speed, n, c)
            sigma[0, a] += c[0]
            sigma[1, a] += c[1]
            for e in range(2):
                work[e, 0] = -w[e, a]
            add_scaled(work, 0, p.N_T_speed[a], n, g)
        for b in range(3):
            O_d = p.O_d[pair(a, b)]
            dual_dot(d, O_d, n, c)
            s[0, a] += c[0] * alpha[0, b]
            s[1, a] += c[1] * alpha[0, b] + c[0] * alpha[1, b]
            if gyroscopic == 0:
                continue
            sigma[0, a] += c[0] * w[0, b]
            sigma[1, a] += c[1] * w[0, b] + c[0] * w[1, b]
            dual_dot(d_rate, O_d, n, c)
            s[0, a] += 2.0 * c[0] * w[0, b]
            s[1, a] += 2.0 * (c[1] * w[0, b] + c[0] * w[1, b])
            work[0, 0] = -w[0, a] * w[0, b]
            work[1, 0] = -w[1, a] * w[0, b] - w[0, a] * w[1, b]
            add_scaled(work, 0, O_d, n, g)
    add_momentum_rate(p)
    if gyroscopic == 1:
        add_turning(p)
    to_rows(p)


@kernel
def add_momentum_rate(p):
    """Fill h with ṗ, and add ṗ to g and π̇_i to s: (11) without the products with ω_0."""
    nb, n, s, g, momentum_rate = p.size_nb, p.size_n, p.s, p.g, p.momentum_rate
    copy(momentum_rate, p.h)
    for e in range(2):
        for i in range(nb):
            for k in range(3):
                s[e, k] += momentum_rate[e, 6 * i + 3 + k]
                g[e, 6 * i + 3 + k] += momentum_rate[e, 6 * i + 3 + k]
        for j in range(6 * nb, n):
            g[e, j] += momentum_rate[e, j]


@kernel
def add_turning(p):
    """Add the products with ω_0 and ξ_i of (11) to h and s."""
    h, s, momentum = p.h, p.s, p.momentum
    one, two, turned = local_arrays("2 3, 2 3, 2 3")
    dual_cross(1.0, p.omega, p.sigma, s)
    for i in range(p.size_nb):
        for e in range(2):
            for k in range(3):
                one[e, k], two[e, k] = momentum[e, 6 * i + k], momentum[e, 6 * i + 3 + k]
        turned[:, :] = 0.0
        dual_cross(1.0, p.omega, one, turned)
        dual_cross(-1.0, one, p.xi[i], s)
        dual_cross(1.0, p.omega, two, s)
        for e in range(2):
            for k in range(3):
                h[e, 6 * i + k] += turned[e, k]


@kernel
def gravity_rows(p, gravity, zero):
    """Add minus the force of gravity, and its derivative, to the rows; ``zero`` (3,)."""
    n, a, centre, rates, d, g, rows = p.size_n, p.a, p.centre, p.centre_rates, p.d, p.g, p.rows
    local, arm = local_arrays("2 3, 2 3")
    local_axes(p, gravity, zero, local)
    p.h[:, :] = 0.0
    for k in range(3):
        arm[0, k], arm[1, k] = centre[k], 0.0
        for j in range(n):
            arm[0, k] += rates[k, j] * d[0, j]
            arm[1, k] += rates[k, j] * d[1, j]
    for e in range(2):
        for j in range(n):
            g[e, j] = -p.mass * (rates[0, j] * local[e, 0] + rates[1, j] * local[e, 1] + rates[2, j] * local[e, 2])
    p.s[:, :] = 0.0
    dual_cross(-p.mass, arm, local, p.s)
    to_rows(p)
    for i in range(p.size_nb):
        for k in range(3):
            rows[0, 6 * i + k] -= p.mass * a[i] * gravity[k]
