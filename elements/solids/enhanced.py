"""Hexahedron of 8 nodes with 9 incompatible modes in the Green-Lagrange strain.

    E = E(u) + Σ_k α_k M_k ,   M_k = (j_0/j) ξ_m sym(h_i ⊗ h_j) ,   h_i = ∂ξ_i/∂X at the centre                     (1)
    (ij: m) = 11: ξ, 22: η, 33: ζ, 12: ξ, η, 23: η, ζ, 13: ξ, ζ

The amplitudes α make the strain energy least, r = Σ_q w M_k:S = 0: one linear solution for St. Venant-Kirchhoff, a few
iterations for neo-Hookean. They are found anew at each call, so that forces are a function of positions alone. With

    K_αα = Σ w M:ℂ:M ,   H = Σ w Bᵀ ℂ M ,   K = Σ w [Bᵀ ℂ B + (g_a·S g_b) I] − H K_αα⁻¹ Hᵀ                          (2)

Damping is that of the unloaded element: amplitudes γ of the strain rate make ½β Σ w (Ė + γ_k M_k):ℂ_0:(…) least.

Source: docs/theory/solids.md, section 5; Simo & Rifai, Int. J. Num. Meth. Eng. 29 (1990); Klinkel & Wagner, Int. J.
Num. Meth. Eng. 40 (1997). Strains are (11, 22, 33, 12, 23, 13), shears doubled; symbols as in `solids.kernels`.
"""

import math

from fem_mbs.elements.solids.kernels import (
    ST_VENANT_KIRCHHOFF,
    cauchy_green,
    energy_density,
    energy_of_weight,
    field_gradient,
    gradients,
    inverse3,
    stress,
    velocity_gradient,
)
from fem_mbs.jit import kernel, local_matrix, local_vector

ITERATIONS = 30
CONVERGED = 1e-9  # of the last step: the error that it leaves is of the order of its square
ROOT = 1.0 / math.sqrt(3.0)


@kernel
def first(k):
    """First axis of strain component k."""
    return k if k < 3 else (k - 3 if k < 5 else 0)


@kernel
def second(k):
    """Second axis of strain component k."""
    return k if k < 3 else (k - 2 if k < 5 else 2)


@kernel
def centre(p, h):
    """Fill h (3, 3) with ∂ξ_i/∂X_j at the centre; returns j_0."""
    J = local_matrix(3, 3)
    for i in range(3):
        for j in range(3):
            J[i, j] = 0.0
    for a in range(8):
        side = a % 4
        xi = 0.125 if side == 1 or side == 2 else -0.125
        eta, zeta = (0.125 if side >= 2 else -0.125), (0.125 if a >= 4 else -0.125)
        for i in range(3):
            J[i, 0] += p.X[a, i] * xi
            J[i, 1] += p.X[a, i] * eta
            J[i, 2] += p.X[a, i] * zeta
    return inverse3(J, h)


@kernel
def modes(p, q, h, j0, M):
    """Fill M (6, 9) with the modes (1) at point q, of weight 1."""
    scale = j0 / p.w[q] * ROOT
    place = local_vector(3)
    for i in range(3):
        place[i] = scale if (q >> i) & 1 else -scale
    for k in range(9):
        component = k if k < 3 else 3 + (k - 3) // 2
        i, j = first(component), second(component)
        m = i if k < 3 or (k - 3) % 2 == 0 else j
        for c in range(6):
            r, s = first(c), second(c)
            value = 0.5 * (h[i, r] * h[j, s] + h[i, s] * h[j, r])
            M[c, k] = place[m] * (value if c < 3 else 2.0 * value)


@kernel
def elasticity(p, b, D, Q):
    """Fill Q (6, 6) with ℂ = λ D⊗D + b (D D + D D), D = I or C⁻¹."""
    for c in range(6):
        i, j = first(c), second(c)
        for d in range(6):
            k, n = first(d), second(d)
            Q[c, d] = p.lam * D[i, j] * D[k, n] + b * (D[i, k] * D[j, n] + D[i, n] * D[j, k])


@kernel
def factorise(A):
    """Cholesky factor of A (9, 9) in its lower triangle."""
    for j in range(9):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        A[j, j] = math.sqrt(A[j, j])
        for i in range(j + 1, 9):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]


@kernel
def forward(A, y):
    """Replace y (9,) by L⁻¹ y."""
    for i in range(9):
        for k in range(i):
            y[i] -= A[i, k] * y[k]
        y[i] /= A[i, i]


@kernel
def backward(A, y):
    """Replace y (9,) by L⁻ᵀ y."""
    for i in range(8, -1, -1):
        for k in range(i + 1, 9):
            y[i] -= A[k, i] * y[k]
        y[i] /= A[i, i]


@kernel
def enhance(C, M, alpha, out):
    """Fill out (3, 3) with C + 2 Σ α_k M_k."""
    for c in range(6):
        i, j, value = first(c), second(c), 0.0
        for k in range(9):
            value += M[c, k] * alpha[k]
        out[i, j] = C[i, j] + (2.0 * value if c < 3 else value)
        out[j, i] = out[i, j]


@kernel
def add_modal(w, Q, M, A):
    """Add w Mᵀ Q M to A (9, 9)."""
    QM = local_vector(6)
    for k in range(9):
        for c in range(6):
            QM[c] = 0.0
            for d in range(6):
                QM[c] += w * Q[c, d] * M[d, k]
        for n in range(9):
            for c in range(6):
                A[n, k] += M[c, n] * QM[c]


@kernel
def add_residual(w, S, M, r):
    """Add w M:S to r (9,)."""
    for k in range(9):
        for c in range(6):
            r[k] += w * M[c, k] * S[first(c), second(c)]


@kernel
def amplitudes(p, x, h, j0, alpha, A):
    """Fill alpha (9,) so that r = 0, and A (9, 9) with the factor of K_αα; no numbers where that is not found."""
    G, F, C = local_matrix(3, 8), local_matrix(3, 3), local_matrix(3, 3)
    D, S, now = local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    M, Q, r = local_matrix(6, 9), local_matrix(6, 6), local_vector(9)
    for k in range(9):
        alpha[k] = 0.0
    linear = p.law == ST_VENANT_KIRCHHOFF
    for _ in range(ITERATIONS):
        for k in range(9):
            r[k] = 0.0
            for n in range(9):
                A[k, n] = 0.0
        for q in range(8):
            gradients(p, q, G)
            field_gradient(x, G, F)
            cauchy_green(F, C)
            modes(p, q, h, j0, M)
            enhance(C, M, alpha, now)
            b = stress(p, now, D, S)
            elasticity(p, b, D, Q)
            add_residual(p.w[q], S, M, r)
            add_modal(p.w[q], Q, M, A)
        factorise(A)
        forward(A, r)
        backward(A, r)
        step, size = 0.0, 0.0
        for k in range(9):
            alpha[k] -= r[k]
            step, size = max(step, abs(r[k])), max(size, abs(alpha[k]))
        if linear or step <= CONVERGED * max(size, 1e-3 * j0 ** (2.0 / 3.0)):
            return
    for k in range(9):
        alpha[k] = math.nan


@kernel
def strain_operator(F, G, B):
    """Fill B (6, 24): strains sym(Fᵀ δu_a ⊗ g_a)."""
    for a in range(8):
        for i in range(3):
            for c in range(6):
                r, s = first(c), second(c)
                value = F[i, r] * G[s, a]
                B[c, 3 * a + i] = value if c < 3 else value + F[i, s] * G[r, a]


@kernel
def unloaded(p, Q):
    """Fill Q (6, 6) with β ℂ_0, of damping."""
    D = local_matrix(3, 3)
    for i in range(3):
        for j in range(3):
            D[i, j] = 1.0 if i == j else 0.0
    elasticity(p, p.mu, D, Q)
    for c in range(6):
        for d in range(6):
            Q[c, d] *= p.beta


@kernel
def strain_rate(F, F_v, M, gamma, rate):
    """Fill rate (6,) with Ė + Σ γ_k M_k."""
    for c in range(6):
        i, j = first(c), second(c)
        rate[c] = 0.0
        for k in range(3):
            rate[c] += F[k, i] * F_v[k, j] if c < 3 else F[k, i] * F_v[k, j] + F_v[k, i] * F[k, j]
        for k in range(9):
            rate[c] += gamma[k] * M[c, k]


@kernel
def add_viscous(Q, rate, S):
    """Add Q times a strain rate (6,) to S (3, 3)."""
    for c in range(6):
        i, j, value = first(c), second(c), 0.0
        for d in range(6):
            value += Q[c, d] * rate[d]
        S[i, j] += value
        if c >= 3:
            S[j, i] += value


@kernel
def rate_amplitudes(p, x, v, h, j0, Q, gamma, A):
    """Fill gamma (9,), amplitudes of the strain rate, and A (9, 9) with the factor of Σ w M:Q:M."""
    G, F, F_v, M = local_matrix(3, 8), local_matrix(3, 3), local_matrix(3, 3), local_matrix(6, 9)
    S, r, rate = local_matrix(3, 3), local_vector(9), local_vector(6)
    for k in range(9):
        gamma[k] = r[k] = 0.0
        for n in range(9):
            A[k, n] = 0.0
    for q in range(8):
        gradients(p, q, G)
        field_gradient(x, G, F)
        velocity_gradient(v, G, F_v)
        modes(p, q, h, j0, M)
        strain_rate(F, F_v, M, gamma, rate)
        S[:, :] = 0.0
        add_viscous(Q, rate, S)
        add_residual(p.w[q], S, M, r)
        add_modal(p.w[q], Q, M, A)
    factorise(A)
    forward(A, r)
    backward(A, r)
    for k in range(9):
        gamma[k] = -r[k]


@kernel
def add_forces_of(w, B, S, f):
    """Add −w Bᵀ S to f (24,)."""
    for r in range(24):
        for c in range(6):
            f[r] -= w * B[c, r] * S[first(c), second(c)]


@kernel
def force(p, x, v, f):
    """Add the forces with damping to f (24,)."""
    G, F, F_v, C = local_matrix(3, 8), local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    D, S, M, h = local_matrix(3, 3), local_matrix(3, 3), local_matrix(6, 9), local_matrix(3, 3)
    A, B, now, Q = local_matrix(9, 9), local_matrix(6, 24), local_matrix(3, 3), local_matrix(6, 6)
    alpha, gamma, rate = local_vector(9), local_vector(9), local_vector(6)
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    if p.beta > 0.0:
        unloaded(p, Q)
        rate_amplitudes(p, x, v, h, j0, Q, gamma, A)
    for q in range(8):
        gradients(p, q, G)
        field_gradient(x, G, F)
        cauchy_green(F, C)
        modes(p, q, h, j0, M)
        enhance(C, M, alpha, now)
        stress(p, now, D, S)
        if p.beta > 0.0:
            velocity_gradient(v, G, F_v)
            strain_rate(F, F_v, M, gamma, rate)
            add_viscous(Q, rate, S)
        strain_operator(F, G, B)
        add_forces_of(p.w[q], B, S, f)


@kernel
def add_material(w, B, Q, R, K):
    """Add w Bᵀ Q R to K (24, 24), R (6, 24)."""
    QR = local_vector(6)
    for n in range(24):
        for c in range(6):
            QR[c] = 0.0
            for d in range(6):
                QR[c] += w * Q[c, d] * R[d, n]
        for r in range(24):
            for c in range(6):
                K[r, n] += B[c, r] * QR[c]


@kernel
def add_coupling(w, B, Q, M, H):
    """Add w Mᵀ Q B to H (9, 24)."""
    QB = local_vector(6)
    for r in range(24):
        for c in range(6):
            QB[c] = 0.0
            for d in range(6):
                QB[c] += w * Q[c, d] * B[d, r]
        for k in range(9):
            for c in range(6):
                H[k, r] += M[c, k] * QB[c]


@kernel
def add_geometric(w, S, G, K):
    """Add w (g_a·S g_b) I to K (24, 24)."""
    for a in range(8):
        for b in range(8):
            value = 0.0
            for i in range(3):
                for j in range(3):
                    value += w * G[i, a] * S[i, j] * G[j, b]
            for i in range(3):
                K[3 * a + i, 3 * b + i] += value


@kernel
def reduce(A, H):
    """Replace H (9, 24) by L⁻¹ H."""
    y = local_vector(9)
    for r in range(24):
        for k in range(9):
            y[k] = H[k, r]
        forward(A, y)
        for k in range(9):
            H[k, r] = y[k]


@kernel
def take_off(H, R, K):
    """Add −Hᵀ R to K (24, 24), of H and R (9, 24)."""
    for r in range(24):
        for k in range(9):
            for n in range(24):
                K[r, n] -= H[k, r] * R[k, n]


@kernel
def force_tangent(p, x, v, f, K, C):
    """Add the forces to f (24,), (2) to K and C (24, 24) with what damping gives."""
    G, F, CG = local_matrix(3, 8), local_matrix(3, 3), local_matrix(3, 3)
    D, S, M, h = local_matrix(3, 3), local_matrix(3, 3), local_matrix(6, 9), local_matrix(3, 3)
    A, B, now, Q = local_matrix(9, 9), local_matrix(6, 24), local_matrix(3, 3), local_matrix(6, 6)
    H, alpha = local_matrix(9, 24), local_vector(9)
    H[:, :] = 0.0
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    for k in range(9):
        for n in range(9):
            A[k, n] = 0.0
    for q in range(8):
        gradients(p, q, G)
        field_gradient(x, G, F)
        cauchy_green(F, CG)
        modes(p, q, h, j0, M)
        enhance(CG, M, alpha, now)
        b = stress(p, now, D, S)
        elasticity(p, b, D, Q)
        strain_operator(F, G, B)
        add_forces_of(p.w[q], B, S, f)
        add_material(p.w[q], B, Q, B, K)
        add_geometric(p.w[q], S, G, K)
        add_coupling(p.w[q], B, Q, M, H)
        add_modal(p.w[q], Q, M, A)
    factorise(A)
    reduce(A, H)
    take_off(H, H, K)
    if p.beta > 0.0:
        add_damping(p, x, v, h, j0, f, K, C)


@kernel
def add_damping(p, x, v, h, j0, f, K, C):
    """Add what damping gives to f (24,), K and C (24, 24)."""
    G, F, F_v, M = local_matrix(3, 8), local_matrix(3, 3), local_matrix(3, 3), local_matrix(6, 9)
    A, B, R, Q = local_matrix(9, 9), local_matrix(6, 24), local_matrix(6, 24), local_matrix(6, 6)
    H, H_v, S = local_matrix(9, 24), local_matrix(9, 24), local_matrix(3, 3)
    gamma, rate = local_vector(9), local_vector(6)
    H[:, :] = 0.0
    H_v[:, :] = 0.0
    unloaded(p, Q)
    rate_amplitudes(p, x, v, h, j0, Q, gamma, A)
    for q in range(8):
        gradients(p, q, G)
        field_gradient(x, G, F)
        velocity_gradient(v, G, F_v)
        modes(p, q, h, j0, M)
        strain_rate(F, F_v, M, gamma, rate)
        S[:, :] = 0.0
        add_viscous(Q, rate, S)
        strain_operator(F, G, B)
        strain_operator(F_v, G, R)
        add_forces_of(p.w[q], B, S, f)
        add_geometric(p.w[q], S, G, K)
        add_material(p.w[q], B, Q, R, K)
        add_material(p.w[q], B, Q, B, C)
        add_coupling(p.w[q], B, Q, M, H)
        add_coupling(p.w[q], R, Q, M, H_v)
    reduce(A, H)
    reduce(A, H_v)
    take_off(H, H_v, K)
    take_off(H, H, C)


@kernel
def energy(p, x, gravity):
    """Strain energy and potential of the weight [J]."""
    G, F, C, now = local_matrix(3, 8), local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    M, h, A, alpha = local_matrix(6, 9), local_matrix(3, 3), local_matrix(9, 9), local_vector(9)
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    total = energy_of_weight(p, x, gravity)
    for q in range(8):
        gradients(p, q, G)
        field_gradient(x, G, F)
        cauchy_green(F, C)
        modes(p, q, h, j0, M)
        enhance(C, M, alpha, now)
        total += p.w[q] * energy_density(p, now)
    return total
