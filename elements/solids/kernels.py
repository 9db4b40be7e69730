"""Kernels of solid elements on nodes with translations: total Lagrangian, any cell, two laws.

With the gradients g_a = ∂N_a/∂X at the points of the stiffness rule

    F = Σ x_a ⊗ g_a ,   E = ½(FᵀF − I) ,   f_a = −Σ_q w F S g_a                                                    (1)
    St. Venant-Kirchhoff:  W = ½λ tr²E + μ E:E                       S = λ tr(E) I + 2μ E                          (2)
    neo-Hookean:           W = ½μ(tr C − 3) − μ ln J + ½λ ln²J       S = μ(I − C⁻¹) + λ ln J C⁻¹                   (3)

Both laws have the same form of the tangent ∂(FS)/∂F, so that one loop serves them:

    K_ab = Σ_q w [ (g_a·S g_b) I + b (g_a·D g_b) B + a p_a p_bᵀ + b p_b p_aᵀ ] ,   p_a = P g_a                      (4)
    (2): P = F,   B = F Fᵀ,  D = I,     a = λ,  b = μ
    (3): P = F⁻ᵀ, B = I,     D = C⁻¹,   a = λ,  b = μ − λ ln J

Damping proportional to the stiffness of the unloaded body, S_v = β [λ tr(Ė) I + 2μ Ė], Ė = sym(Fᵀ Ḟ): nothing in a
rigid motion. Mass: m_ab = Σ_q ρ w N_a N_b, or lumped (`masses` in `elements.solids.element`); gravity acts on both.

Source: docs/theory/solids.md, section 3; Bonet & Wood, Nonlinear Continuum Mechanics for FE Analysis, ch. 6 and 9.

    symbol    code       shape        unit   meaning
    X_a       p.X        (nn, 3)      m      nodes of the unloaded body
    w         p.w        (q,)         m³     weight times ∂X/∂ξ, stiffness rule
    ρ w       p.m        (qm,)        kg     density times the same, mass rule
    Σ_b m_ab  p.nodal    (nn,)        kg     row sums, or lumped masses
    λ, μ      p.lam, mu               Pa
    β         p.beta                  s
    law       p.law                          0: (2), 1: (3)
    ∂N/∂ξ     gradients  (q, 3, nn)          of the cell, at the address p.gradients_at
    N_a N_b   products   (qm + 1, nn²)       of the cell, and their mean over it, at the address p.products_at
    m         p.mass                  kg     p.affine = 1: ∂X/∂ξ is the same everywhere, m_ab = m times that mean
"""

import math

import numpy as np

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector, matrix, tensor

ST_VENANT_KIRCHHOFF, NEO_HOOKE = 0, 1


def parameters(nn: int, q: int, qm: int) -> np.dtype:
    """Record of the parameters of an element with nn nodes, q stiffness points and qm mass points."""
    return np.dtype(
        [
            ("X", "f8", (nn, 3)),
            ("w", "f8", (q,)),
            ("m", "f8", (qm,)),
            ("nodal", "f8", (nn,)),
            ("lam", "f8"),
            ("mu", "f8"),
            ("beta", "f8"),
            ("law", "i8"),
            ("lumped", "i8"),
            ("affine", "i8"),
            ("mass", "f8"),
            ("gradients_at", "i8"),
            ("products_at", "i8"),
        ]
    )


@kernel
def inverse3(A, B):
    """Fill B with A⁻¹ (3, 3); returns det A."""
    c0 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c1 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c2 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    det = A[0, 0] * c0 + A[0, 1] * c1 + A[0, 2] * c2
    r = 1.0 / det
    B[0, 0], B[1, 0], B[2, 0] = r * c0, r * c1, r * c2
    B[0, 1] = r * (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2])
    B[1, 1] = r * (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0])
    B[2, 1] = r * (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1])
    B[0, 2] = r * (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1])
    B[1, 2] = r * (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2])
    B[2, 2] = r * (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    return det


@kernel
def gradients(p, q, G):
    """Fill G (3, nn) with ∂N_a/∂X at stiffness point q."""
    nn = len(p.X)
    N = tensor(p.gradients_at, len(p.w), 3, nn)
    J, inverse = local_arrays("3 3, 3 3")
    for i in range(3):
        for j in range(3):
            J[i, j] = 0.0
            for a in range(nn):
                J[i, j] += p.X[a, i] * N[q, j, a]
    inverse3(J, inverse)
    for i in range(3):
        for a in range(nn):
            G[i, a] = inverse[0, i] * N[q, 0, a] + inverse[1, i] * N[q, 1, a] + inverse[2, i] * N[q, 2, a]


@kernel
def field_gradient(x, G, F):
    """Fill F (3, 3) with Σ x_a ⊗ g_a of nodal vectors x (nn, 3)."""
    for i in range(3):
        for j in range(3):
            F[i, j] = 0.0
            for a in range(len(x)):
                F[i, j] += x[a, i] * G[j, a]


@kernel
def cauchy_green(F, C):
    """Fill C (3, 3) with FᵀF."""
    for i in range(3):
        for j in range(3):
            C[i, j] = F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j]


@kernel
def stress(p, C, D, S):
    """Fill S (3, 3) by (2) or (3), and D of (4); returns b of (4): of (3) no number where det C ≤ 0."""
    if p.law == ST_VENANT_KIRCHHOFF:
        trace = 0.5 * (C[0, 0] + C[1, 1] + C[2, 2] - 3.0)
        for i in range(3):
            for j in range(3):
                one = 1.0 if i == j else 0.0
                D[i, j] = one
                S[i, j] = p.lam * trace * one + p.mu * (C[i, j] - one)
        return p.mu
    det = inverse3(C, D)
    log_J = 0.5 * math.log(det) if det > 0.0 else math.nan
    for i in range(3):
        for j in range(3):
            S[i, j] = (p.lam * log_J - p.mu) * D[i, j] + (p.mu if i == j else 0.0)
    return p.mu - p.lam * log_J


@kernel
def energy_density(p, C):
    """W of (2) or (3) [J/m³]."""
    trace = C[0, 0] + C[1, 1] + C[2, 2] - 3.0
    if p.law == ST_VENANT_KIRCHHOFF:
        square = 0.0
        for i in range(3):
            for j in range(3):
                square += (C[i, j] - (1.0 if i == j else 0.0)) ** 2
        return 0.125 * p.lam * trace * trace + 0.25 * p.mu * square
    inverse = local_matrix(3, 3)
    det = inverse3(C, inverse)
    log_J = 0.5 * math.log(det) if det > 0.0 else math.nan
    return 0.5 * p.mu * trace - p.mu * log_J + 0.5 * p.lam * log_J * log_J


@kernel
def add_viscous_stress(p, F, F_v, S):
    """Add S_v of the rate Ḟ to S (3, 3)."""
    trace = 0.0
    for i in range(3):
        for k in range(3):
            trace += F[k, i] * F_v[k, i]
    for i in range(3):
        for j in range(3):
            rate = 0.0
            for k in range(3):
                rate += 0.5 * (F[k, i] * F_v[k, j] + F_v[k, i] * F[k, j])
            S[i, j] += p.beta * (2.0 * p.mu * rate + (p.lam * trace if i == j else 0.0))


@kernel
def velocity_gradient(v, G, F_v):
    """Fill F_v (3, 3) with Σ ẋ_a ⊗ g_a of velocities v (3 nn,)."""
    for i in range(3):
        for j in range(3):
            F_v[i, j] = 0.0
            for a in range(len(v) // 3):
                F_v[i, j] += v[3 * a + i] * G[j, a]


@kernel
def add_forces(w, F, S, G, f):
    """Add −w F S g_a to f (3 nn,)."""
    P = local_matrix(3, 3)
    for i in range(3):
        for j in range(3):
            P[i, j] = w * (F[i, 0] * S[0, j] + F[i, 1] * S[1, j] + F[i, 2] * S[2, j])
    for a in range(len(f) // 3):
        for i in range(3):
            f[3 * a + i] -= P[i, 0] * G[0, a] + P[i, 1] * G[1, a] + P[i, 2] * G[2, a]


@kernel
def force(p, x, v, f):
    """Add (1) with damping to f (3 nn,)."""
    G, F, F_v, C, D, S = local_arrays("3 20, 3 3, 3 3, 3 3, 3 3, 3 3")
    for q in range(len(p.w)):
        gradients(p, q, G)
        field_gradient(x, G, F)
        cauchy_green(F, C)
        stress(p, C, D, S)
        if p.beta > 0.0:
            velocity_gradient(v, G, F_v)
            add_viscous_stress(p, F, F_v, S)
        add_forces(p.w[q], F, S, G, f)


@kernel(fused=True)
def add_point(first, nn, w, a, b, B, P, D, S, G, blocks):
    """Add (4) of one point to the blocks [xx, xy, xz, yy, yz, zz] of K, rows (6 nn, 20); at the ``first`` set them.

    Block ik is g_a·A_ik g_b, A_ik (3, 3) with all terms of (4): three products for each entry. Columns go on to a
    multiple of four, so that the inner loop is whole vectors; those of G that are too many are zero.
    """
    A, row = local_matrix(3, 3), 0
    wide = nn + (-nn) % 4
    for i in range(3):
        for k in range(i, 3):
            own, one = w * b * B[i, k], (w if i == k else 0.0)
            for j in range(3):
                for n in range(3):
                    A[j, n] = one * S[j, n] + own * D[j, n] + w * (a * P[i, j] * P[k, n] + b * P[i, n] * P[k, j])
            for m in range(nn):
                c0 = G[0, m] * A[0, 0] + G[1, m] * A[1, 0] + G[2, m] * A[2, 0]
                c1 = G[0, m] * A[0, 1] + G[1, m] * A[1, 1] + G[2, m] * A[2, 1]
                c2 = G[0, m] * A[0, 2] + G[1, m] * A[1, 2] + G[2, m] * A[2, 2]
                if first:
                    for n in range(wide):
                        blocks[row, n] = c0 * G[0, n] + c1 * G[1, n] + c2 * G[2, n]
                else:
                    for n in range(wide):
                        blocks[row, n] += c0 * G[0, n] + c1 * G[1, n] + c2 * G[2, n]
                row += 1


@kernel
def add_blocks(nn, blocks, K):
    """Add the blocks of `add_point` to K (3 nn, 3 nn)."""
    for m in range(nn):
        for n in range(nn):
            K[3 * m, 3 * n] += blocks[m, n]
            K[3 * m, 3 * n + 1] += blocks[nn + m, n]
            K[3 * m, 3 * n + 2] += blocks[2 * nn + m, n]
            K[3 * m + 1, 3 * n] += blocks[nn + n, m]
            K[3 * m + 1, 3 * n + 1] += blocks[3 * nn + m, n]
            K[3 * m + 1, 3 * n + 2] += blocks[4 * nn + m, n]
            K[3 * m + 2, 3 * n] += blocks[2 * nn + n, m]
            K[3 * m + 2, 3 * n + 1] += blocks[4 * nn + n, m]
            K[3 * m + 2, 3 * n + 2] += blocks[5 * nn + m, n]


@kernel
def spatial_form(p, F, D, P, B):
    """Fill P and B of (4)."""
    inverse = local_matrix(3, 3)
    if p.law == NEO_HOOKE:
        inverse3(F, inverse)
    for i in range(3):
        for j in range(3):
            if p.law == ST_VENANT_KIRCHHOFF:
                P[i, j] = F[i, j]
                B[i, j] = F[i, 0] * F[j, 0] + F[i, 1] * F[j, 1] + F[i, 2] * F[j, 2]
            else:
                P[i, j] = inverse[j, i]
                B[i, j] = 1.0 if i == j else 0.0


@kernel
def add_viscous_tangent(p, w, F, F_v, G, K, C):
    """Add ∂/∂q and ∂/∂v of w F S_v g_a at fixed S_v to K and C: B_aᵀ ℂ Ḃ_b and B_aᵀ ℂ B_b, ℂ = β (λ, 2μ).

    B_a δu = sym(Fᵀ δu ⊗ g_a), Ḃ_a the same with Ḟ.
    """
    nn = len(p.X)
    f, r, FF, FR = local_arrays("3 20, 3 20, 3 3, 3 3")
    for i in range(3):
        for n in range(nn):
            f[i, n] = F[i, 0] * G[0, n] + F[i, 1] * G[1, n] + F[i, 2] * G[2, n]
            r[i, n] = F_v[i, 0] * G[0, n] + F_v[i, 1] * G[1, n] + F_v[i, 2] * G[2, n]
        for k in range(3):
            FF[i, k] = FR[i, k] = 0.0
            for j in range(3):
                FF[i, k] += F[i, j] * F[k, j]
                FR[i, k] += F[i, j] * F_v[k, j]
    lam, mu = w * p.beta * p.lam, w * p.beta * p.mu
    for m in range(nn):
        for n in range(nn):
            dot = G[0, m] * G[0, n] + G[1, m] * G[1, n] + G[2, m] * G[2, n]
            for i in range(3):
                for k in range(3):
                    C[3 * m + i, 3 * n + k] += lam * f[i, m] * f[k, n] + mu * (FF[i, k] * dot + f[i, n] * f[k, m])
                    K[3 * m + i, 3 * n + k] += lam * f[i, m] * r[k, n] + mu * (FR[i, k] * dot + f[i, n] * r[k, m])


@kernel
def force_tangent(p, x, v, f, K, C):
    """Add (1) to f, (4) to K (3 nn, 3 nn), and what damping adds to f, K and C."""
    G, F, F_v, CG, D, S, P, B, blocks = local_arrays("3 20, 3 3, 3 3, 3 3, 3 3, 3 3, 3 3, 3 3, 120 20")
    nn = len(p.X)
    G[:, :] = 0.0
    for q in range(len(p.w)):
        gradients(p, q, G)
        field_gradient(x, G, F)
        cauchy_green(F, CG)
        b = stress(p, CG, D, S)
        if p.beta > 0.0:
            velocity_gradient(v, G, F_v)
            add_viscous_stress(p, F, F_v, S)
            add_viscous_tangent(p, p.w[q], F, F_v, G, K, C)
        add_forces(p.w[q], F, S, G, f)
        spatial_form(p, F, D, P, B)
        add_point(q == 0, nn, p.w[q], p.lam, b, B, P, D, S, G, blocks)
    add_blocks(nn, blocks, K)


@kernel
def add_geometric(w, S, G, K):
    """Add w (g_a·S g_b) I to K (3 nn, 3 nn)."""
    nn = len(K) // 3
    for a in range(nn):
        for b in range(nn):
            value = 0.0
            for i in range(3):
                for j in range(3):
                    value += w * G[i, a] * S[i, j] * G[j, b]
            for i in range(3):
                K[3 * a + i, 3 * b + i] += value


@kernel
def geometric(p, x, v, K):
    """Add Σ w (g_a·Ṡ g_b) I to K (3 nn, 3 nn), of the stresses Ṡ = ℂ:Ė that displacements v (3 nn,) bring about."""
    G, F, F_v, C, D, S, DE = local_arrays("3 20, 3 3, 3 3, 3 3, 3 3, 3 3, 3 3")
    for q in range(len(p.w)):
        gradients(p, q, G)
        field_gradient(x, G, F)
        velocity_gradient(v, G, F_v)
        cauchy_green(F, C)
        b = stress(p, C, D, S)
        trace = 0.0
        for i in range(3):
            for j in range(3):
                DE[i, j] = 0.0
                for k in range(3):
                    for m in range(3):  # D Ė, with 2 Ė = Fᵀ Ḟ + Ḟᵀ F
                        DE[i, j] += 0.5 * D[i, k] * (F[m, k] * F_v[m, j] + F_v[m, k] * F[m, j])
            trace += DE[i, i]
        for i in range(3):
            for j in range(3):
                S[i, j] = p.lam * trace * D[i, j]
                for k in range(3):
                    S[i, j] += 2.0 * b * DE[i, k] * D[k, j]
        add_geometric(p.w[q], S, G, K)


@kernel(fused=True)
def mass_row(p, m, row):
    """Fill row (≥ nn,) with m_mb; of a cell without curved sides mass times the row of the reference cell."""
    nn, qm = len(p.X), len(p.m)
    products = matrix(p.products_at, qm + 1, nn * nn)
    if p.affine == 1:
        for n in range(nn):
            row[n] = p.mass * products[qm, m * nn + n]
        return
    for n in range(nn):
        row[n] = 0.0
    for q in range(qm):
        for n in range(nn):
            row[n] += p.m[q] * products[q, m * nn + n]


@kernel
def inertia(p, a, gravity, Ma, f):
    """Add M a to Ma (3 nn,) and gravity to f (3 nn,)."""
    nn, row = len(p.X), local_vector(20)
    for m in range(nn):
        for i in range(3):
            f[3 * m + i] += p.nodal[m] * gravity[i]
        if p.lumped == 1:
            for i in range(3):
                Ma[3 * m + i] += p.nodal[m] * a[3 * m + i]
            continue
        mass_row(p, m, row)
        for i in range(3):
            for n in range(nn):
                Ma[3 * m + i] += row[n] * a[3 * n + i]


@kernel
def inertia_tangent(p, M):
    """Add the mass matrix to M (3 nn, 3 nn)."""
    nn, row = len(p.X), local_vector(20)
    for m in range(nn):
        if p.lumped == 1:
            for i in range(3):
                M[3 * m + i, 3 * m + i] += p.nodal[m]
            continue
        mass_row(p, m, row)
        for n in range(nn):
            for i in range(3):
                M[3 * m + i, 3 * n + i] += row[n]


@kernel
def energy_of_weight(p, x, gravity):
    """Potential of the weight [J]."""
    total = 0.0
    for n in range(len(p.X)):
        total -= p.nodal[n] * (gravity[0] * x[n, 0] + gravity[1] * x[n, 1] + gravity[2] * x[n, 2])
    return total


@kernel
def energy(p, x, gravity):
    """Strain energy and potential of the weight [J]."""
    G, F, C = local_arrays("3 20, 3 3, 3 3")
    total = energy_of_weight(p, x, gravity)
    for q in range(len(p.w)):
        gradients(p, q, G)
        field_gradient(x, G, F)
        cauchy_green(F, C)
        total += p.w[q] * energy_density(p, C)
    return total


@kernel
def trouble(p, x):
    """1 where the element is inverted at a point, det F ≤ 0."""
    G, F, inverse = local_arrays("3 20, 3 3, 3 3")
    for q in range(len(p.w)):
        gradients(p, q, G)
        field_gradient(x, G, F)
        det = inverse3(F, inverse)
        if not det > 0.0:
            return 1.0
    return 0.0
