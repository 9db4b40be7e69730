"""Hexahedron of 8 nodes with 9 incompatible modes in the Green-Lagrange strain, E = E(u) + Σ α_k M_k.

The amplitudes α make the strain energy least, r = Σ_q w M_k:S = 0: one linear solution for St. Venant-Kirchhoff, a few
iterations for neo-Hookean. They are found anew at each call, so that forces are a function of positions alone. With

    K_αα = Σ w M:ℂ:M ,   H = Σ w M:ℂ:B ,   K = Σ w [Bᵀ ℂ B + (g_a·S g_b) I] − Hᵀ K_αα⁻¹ H                          (1)

Damping is that of the unloaded element: amplitudes γ of the strain rate make ½β Σ w (Ė + γ_k M_k):ℂ_0:(…) least. Its
forces Σ w Bᵀ S_v have the same reduction, with ℂ_0 in place of ℂ, and for ∂/∂q a second H of Ḃ, strains with Ḟ.

Source: docs/theory/solids.md, section 5; Simo & Rifai, Int. J. Num. Meth. Eng. 29 (1990); Klinkel & Wagner, Int. J.
Num. Meth. Eng. 40 (1997). Symbols as in `solids.kernels` and `solids.incompatible`, where the modes are.
"""

import math

from fem_mbs.elements.solids.incompatible import (
    add_product,
    add_work,
    backward,
    centre,
    elasticity,
    factorise,
    first,
    forward,
    modes,
    reduce,
    second,
    strain_operator,
    take_off,
)
from fem_mbs.elements.solids.kernels import (
    ST_VENANT_KIRCHHOFF,
    add_geometric,
    cauchy_green,
    energy_density,
    energy_of_weight,
    field_gradient,
    gradients,
    stress,
    velocity_gradient,
)
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector

ITERATIONS = 30
CONVERGED = 1e-9  # of the last step: the error that it leaves is of the order of its square


@kernel
def point(p, q, x, h, j0, G, F, M):
    """Fill G (3, 8), F (3, 3) and the modes M (6, 9) at stiffness point q."""
    gradients(p, q, G)
    field_gradient(x, G, F)
    modes(p, q, h, j0, M)


@kernel
def enhanced(F, M, alpha, C):
    """Fill C (3, 3) with FᵀF + 2 Σ α_k M_k."""
    cauchy_green(F, C)
    for c in range(6):
        i, j, value = first(c), second(c), 0.0
        for k in range(9):
            value += M[c, k] * alpha[k]
        C[i, j] += 2.0 * value if c < 3 else value
        C[j, i] = C[i, j]


@kernel
def stress_rate(F, F_v, M, gamma, Q, S):
    """Fill S (3, 3) with Q (Ė + Σ γ_k M_k), of elasticity or of damping."""
    rate = local_vector(6)
    for c in range(6):
        i, j = first(c), second(c)
        rate[c] = 0.0
        for k in range(3):
            rate[c] += F[k, i] * F_v[k, j] if c < 3 else F[k, i] * F_v[k, j] + F_v[k, i] * F[k, j]
        for k in range(9):
            rate[c] += gamma[k] * M[c, k]
    for c in range(6):
        i, j, value = first(c), second(c), 0.0
        for d in range(6):
            value += Q[c, d] * rate[d]
        S[i, j] = S[j, i] = value


# --- elasticity -------------------------------------------------------------------------------------------------------


@kernel
def amplitudes(p, x, h, j0, alpha, A):
    """Fill alpha (9,) so that r = 0, and A (9, 9) with the factor of K_αα; no numbers where that is not found."""
    G, F, C, M, D, S, Q, r = local_arrays("3 8, 3 3, 3 3, 6 9, 3 3, 3 3, 6 6, 9")
    for k in range(9):
        alpha[k] = 0.0
    linear = p.law == ST_VENANT_KIRCHHOFF
    for _ in range(ITERATIONS):
        r[:] = 0.0
        A[:, :] = 0.0
        for q in range(8):
            point(p, q, x, h, j0, G, F, M)
            enhanced(F, M, alpha, C)
            b = stress(p, C, D, S)
            elasticity(p.lam, b, D, Q)
            add_work(p.w[q], M, S, r)
            add_product(p.w[q], M, Q, M, A)
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
def force(p, x, v, f):
    """Add the forces with damping to f (24,)."""
    G, F, C, M, D, S, B, h, A, alpha = local_arrays("3 8, 3 3, 3 3, 6 9, 3 3, 3 3, 6 24, 3 3, 9 9, 9")
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    for q in range(8):
        point(p, q, x, h, j0, G, F, M)
        enhanced(F, M, alpha, C)
        stress(p, C, D, S)
        strain_operator(F, G, B)
        add_work(-p.w[q], B, S, f)
    if p.beta > 0.0:
        add_damping(p, x, v, h, j0, f)


@kernel
def force_tangent(p, x, v, f, K, C):
    """Add the forces to f (24,), (1) to K and C (24, 24) with what damping gives."""
    G, F, CG, M, D, S, Q, h, A, B, H = local_arrays("3 8, 3 3, 3 3, 6 9, 3 3, 3 3, 6 6, 3 3, 9 9, 6 24, 9 24")
    alpha = local_vector(9)
    H[:, :] = 0.0
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    for q in range(8):
        point(p, q, x, h, j0, G, F, M)
        enhanced(F, M, alpha, CG)
        b = stress(p, CG, D, S)
        elasticity(p.lam, b, D, Q)
        strain_operator(F, G, B)
        add_work(-p.w[q], B, S, f)
        add_product(p.w[q], B, Q, B, K)
        add_geometric(p.w[q], S, G, K)
        add_product(p.w[q], M, Q, B, H)
    reduce(A, H)
    take_off(H, H, K)
    if p.beta > 0.0:
        add_damping_tangent(p, x, v, h, j0, f, K, C)


@kernel
def energy(p, x, gravity):
    """Strain energy and potential of the weight [J]."""
    G, F, C, M, h, A, alpha = local_arrays("3 8, 3 3, 3 3, 6 9, 3 3, 9 9, 9")
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    total = energy_of_weight(p, x, gravity)
    for q in range(8):
        point(p, q, x, h, j0, G, F, M)
        enhanced(F, M, alpha, C)
        total += p.w[q] * energy_density(p, C)
    return total


@kernel
def geometric(p, x, v, K):
    """Add Σ w (g_a·Ṡ g_b) I to K (24, 24), of the stresses that displacements v (24,) bring about."""
    G, F, F_v, C, D, S, Q, h, M, A, alpha, r = local_arrays("3 8, 3 3, 3 3, 3 3, 3 3, 3 3, 6 6, 3 3, 6 9, 9 9, 9, 9")
    rate = local_vector(9)
    r[:] = 0.0
    rate[:] = 0.0
    j0 = centre(p, h)
    amplitudes(p, x, h, j0, alpha, A)
    for known in range(2):  # the rates of α
        for q in range(8):
            point(p, q, x, h, j0, G, F, M)
            enhanced(F, M, alpha, C)
            b = stress(p, C, D, S)
            elasticity(p.lam, b, D, Q)
            velocity_gradient(v, G, F_v)
            stress_rate(F, F_v, M, rate, Q, S)
            if known == 0:
                add_work(p.w[q], M, S, r)
            else:
                add_geometric(p.w[q], S, G, K)
        if known == 0:
            forward(A, r)
            backward(A, r)
            for k in range(9):
                rate[k] = -r[k]


# --- damping ----------------------------------------------------------------------------------------------------------


@kernel
def unloaded(p, Q):
    """Fill Q (6, 6) with β ℂ_0."""
    D = local_matrix(3, 3)
    for i in range(3):
        for j in range(3):
            D[i, j] = 1.0 if i == j else 0.0
    elasticity(p.beta * p.lam, p.beta * p.mu, D, Q)


@kernel
def rates(p, x, v, h, j0, Q, gamma, A):
    """Fill gamma (9,) so that Σ w M_k:S_v = 0, and A (9, 9) with the factor of Σ w M:Q:M."""
    G, F, F_v, M, S, r = local_arrays("3 8, 3 3, 3 3, 6 9, 3 3, 9")
    gamma[:] = 0.0
    r[:] = 0.0
    A[:, :] = 0.0
    for q in range(8):
        point(p, q, x, h, j0, G, F, M)
        velocity_gradient(v, G, F_v)
        stress_rate(F, F_v, M, gamma, Q, S)
        add_work(p.w[q], M, S, r)
        add_product(p.w[q], M, Q, M, A)
    factorise(A)
    forward(A, r)
    backward(A, r)
    for k in range(9):
        gamma[k] = -r[k]


@kernel
def add_damping(p, x, v, h, j0, f):
    """Add the forces of damping to f (24,)."""
    G, F, F_v, M, A, B, Q, S, gamma = local_arrays("3 8, 3 3, 3 3, 6 9, 9 9, 6 24, 6 6, 3 3, 9")
    unloaded(p, Q)
    rates(p, x, v, h, j0, Q, gamma, A)
    for q in range(8):
        point(p, q, x, h, j0, G, F, M)
        velocity_gradient(v, G, F_v)
        stress_rate(F, F_v, M, gamma, Q, S)
        strain_operator(F, G, B)
        add_work(-p.w[q], B, S, f)


@kernel
def add_damping_tangent(p, x, v, h, j0, f, K, C):
    """Add what damping gives to f (24,), K and C (24, 24)."""
    G, F, F_v, M, A, B, B_v, Q, H, H_v, S = local_arrays("3 8, 3 3, 3 3, 6 9, 9 9, 6 24, 6 24, 6 6, 9 24, 9 24, 3 3")
    gamma = local_vector(9)
    H[:, :] = 0.0
    H_v[:, :] = 0.0
    unloaded(p, Q)
    rates(p, x, v, h, j0, Q, gamma, A)
    for q in range(8):
        point(p, q, x, h, j0, G, F, M)
        velocity_gradient(v, G, F_v)
        stress_rate(F, F_v, M, gamma, Q, S)
        strain_operator(F, G, B)
        strain_operator(F_v, G, B_v)
        add_work(-p.w[q], B, S, f)
        add_geometric(p.w[q], S, G, K)
        add_product(p.w[q], B, Q, B_v, K)
        add_product(p.w[q], B, Q, B, C)
        add_product(p.w[q], M, Q, B, H)
        add_product(p.w[q], M, Q, B_v, H_v)
    reduce(A, H)
    reduce(A, H_v)
    take_off(H, H_v, K)
    take_off(H, H, C)
