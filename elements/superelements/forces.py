"""Forces of a superelement.

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

from fem_mbs.elements.superelements.motion import PRODUCTS
from fem_mbs.elements.superelements.products import add_scaled, add_times_T, product, times_T
from fem_mbs.elements.superelements.views import flat
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import add_cross, add_rotated, rotate, rotate_T

MOTION, ACCELERATION, ELASTIC, SUM = 0, 1, 2, 3  # forces of velocities and weight, and others; a sum of such


@kernel
def pair(a, b):
    """Number of the product O_ab of a symmetric set of six: 11, 22, 33, 12, 13, 23."""
    return a if a == b else a + b + 2


@kernel
def find_products(p):
    """N_a d, O_ab d and d·O_ab d of (9), if they are not yet those of this pose."""
    if p.has[PRODUCTS] == 0.0:
        n, d = p.size_n, p.d
        times_T(p.N_T, d, flat(p.N_d))
        times_T(p.O, d, flat(p.O_d))
        for a in range(3):
            for b in range(3):
                p.d_O_d[a, b] = product(d, p.O_d[pair(a, b)], n)
        p.has[PRODUCTS] = 1.0


@kernel
def take_momentum_rate(p, e):
    """Make of ṗ̂, in g, what it adds to h, g and s of (11)."""
    g, h, s = p.g[e], p.h[e], p.s[e]
    for i in range(p.size_nb):
        for k in range(3):
            h[i, k] = g[6 * i + k]
            g[6 * i + k] = 0.0
            s[k] += g[6 * i + 3 + k]


@kernel
def inertia_forces(p):
    """h, g and s of (11) that are linear in accelerations, after `rates` of these."""
    n, g, s, acceleration, alpha = p.size_n, p.g[1], p.s[1], p.speed[1], p.omega[1]
    times_T(p.M, acceleration, g)
    for a in range(3):
        add_scaled(alpha[a], p.N_d[a], g)
        s[a] = product(p.N_d[a], acceleration, n)
    add_rotated(1.0, p.d_O_d, alpha, s)
    take_momentum_rate(p, ACCELERATION)


@kernel
def gyroscopic_forces(p):
    """h, g and s of (11) without accelerations, after `accelerate`."""
    n, d_rate, speed, acceleration = p.size_n, p.d_rate[0], p.speed[0], p.acceleration
    omega, alpha, sigma, g, s, momentum = p.omega[0], p.alpha, p.sigma, p.g[0], p.s[0], p.momentum
    times_T(p.N_T, d_rate, flat(p.N_d_rate))
    times_T(p.N, speed, flat(p.N_T_speed))
    times_T(p.M, acceleration, g)
    times_T(p.M, speed, momentum)
    for a in range(3):
        add_scaled(alpha[a], p.N_d[a], g)
        add_scaled(omega[a], p.N_d_rate[a], g)
        add_scaled(omega[a], p.N_d[a], momentum)
        s[a] = product(p.N_d[a], acceleration, n) + product(p.N_d_rate[a], speed, n)
        sigma[a] = product(p.N_d[a], speed, n)
        for b in range(3):
            p.O_rate[a, b] = 2.0 * product(d_rate, p.O_d[pair(a, b)], n)
    add_rotated(1.0, p.d_O_d, alpha, s)
    add_rotated(1.0, p.O_rate, omega, s)
    add_rotated(1.0, p.d_O_d, omega, sigma)
    take_momentum_rate(p, MOTION)
    for a in range(3):
        add_scaled(-omega[a], p.N_T_speed[a], g)
        for b in range(a + 1):
            add_scaled(-omega[a] * omega[b] * (1.0 if a == b else 2.0), p.O_d[pair(a, b)], g)
    add_turning(p)


@kernel
def add_turning(p):
    """Add the products with ω_0 and ξ_i of (11) to h and s."""
    h, s, omega, momentum = p.h[0], p.s[0], p.omega[0], p.momentum
    add_cross(1.0, omega, p.sigma, s)
    for i in range(p.size_nb):
        translation = momentum[6 * i : 6 * i + 3]
        add_cross(1.0, omega, translation, h[i])
        add_cross(-1.0, translation, p.xi[0, i], s)
        add_cross(1.0, omega, momentum[6 * i + 3 : 6 * i + 6], s)


@kernel
def add_gravity(p, gravity):
    """Add minus the force of gravity to g and s; its force on x̄ is left to the caller."""
    local, arm, rates, g = p.local_gravity, p.arm, p.centre_rates, p.g[0]
    rotate_T(p.R_0, gravity, local)
    for k in range(3):
        arm[k] = p.centre[k] + product(rates[k], p.d, p.size_n)
        add_scaled(-p.mass * local[k], rates[k], g)
    add_cross(-p.mass, arm, local, p.s[0])


@kernel
def stretches(p):
    """Fill Ĝ_p d, e_p and q_p of (8), and the pulls Σ k_pq (e_q + q_q)."""
    n, d, e, q = p.size_n, p.d, p.e, p.q
    for a in range(p.size_np):
        times_T(p.G[a], d, p.G_d[a])
        e[a] = product(p.c[a], d, n)
        q[a] = 0.5 * product(d, p.G_d[a], n)
    for a in range(p.size_np):
        p.pulls[a] = product(p.k[a], e, p.size_np) + product(p.k[a], q, p.size_np)


@kernel
def elastic_forces(p):
    """g of K̂ d + D̂ ḋ + …; h and s are zero."""
    g = p.g[ELASTIC]
    p.h[ELASTIC, :, :] = 0.0
    p.s[ELASTIC, :] = 0.0
    times_T(p.K, p.d, g)
    if p.damped == 1:
        add_times_T(p.D, p.d_rate[0], g)
    if p.size_np > 0:
        stretches(p)
        for a in range(p.size_np):
            add_scaled(product(p.k[a], p.q, p.size_np), p.c[a], g)
            add_scaled(p.pulls[a], p.G_d[a], g)


@kernel
def find_resultants(p, e):
    """μ_i, y and the forces F_i on the positions of frames, axes of the floating frame, of (12)."""
    nb, a, V, h, g = p.size_nb, p.a, p.V, p.h[e], p.g[e]
    F, y = p.F[e], p.y[e]
    mean, total = local_arrays("3, 3")
    mean[:] = 0.0
    for k in range(3):
        total[k] = p.s[e, k]
    for i in range(nb):
        mu, force = p.mu[e, i], g[6 * i : 6 * i + 3]
        rotate_T(p.T_inv[i], g[6 * i + 3 : 6 * i + 6], mu)
        add_cross(-1.0, p.r[i], force, total)
        add_rotated(-1.0, p.Q[i], mu, total)
        for k in range(3):
            mean[k] += force[k]
    rotate(p.S_inv, total, y)
    for i in range(nb):
        for k in range(3):
            F[i, k] = h[i, k] + g[6 * i + k] - a[i] * mean[k]
        add_cross(-a[i], V[i], y, F[i])


@kernel
def add_rows(p, e, scale, rows):
    """Add scale times (12) to the rows (6 nn,)."""
    nb, b, y = p.size_nb, p.b, p.y[e]
    moment, turned = local_arrays("3, 3")
    find_resultants(p, e)
    for i in range(nb):
        add_rotated(scale, p.R_0, p.F[e, i], rows[6 * i : 6 * i + 3])
        rotate(p.Q[i], y, turned)
        for k in range(3):
            moment[k] = p.mu[e, i, k] + b[i] * (p.trace[i] * y[k] - turned[k])
        rotate_T(p.R_ref[i], moment, turned)
        for k in range(3):
            rows[6 * i + 3 + k] += scale * turned[k]
    first = 6 * nb
    for k in range(p.modes):
        rows[first + 6 * (k // 3) + k % 3] += scale * p.g[e, first + k]
