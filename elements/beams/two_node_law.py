"""Section law of the two-node beam: fourth-order flexibility, stresses, exact tangent.

Section law of the element, w = (n, m) its mean section forces, W(κ) = −[κ̃ 0; γ̃ κ̃], p = Ww, r = F₁w + F₂p

    F*(κ) w = ε − ε₀,   F* = F₀ + F₁W + WᵀF₁ + WᵀF₂W            γ = reference Γ, or the current one (large strain) (3)
    s = w − Yᵀr                 Y = ∂p/∂ε = [0 ñ; g ñ m̃]         g = 1 if γ is the current Γ, else 0               (4)
    Λ = I − Z − F₁Y − WᵀF₂Y     Z = [−g r̃₂ −r̃₁; 0 −r̃₂]                                                          (5)
    C_t = Λᵀ F*⁻¹ Λ − Yᵀ F₂ Y = ∂s/∂ε                                                                             (6)

Numbers of equations go on from `beams.two_node_geometry`; (8) is in `beams.two_node_kernels`.

Source: docs/theory/beams.md, section 7.

    symbol     code            shape    unit      meaning
    ε, ε₀      strain          (6,)     -, 1/m    Γ, κ; of the unloaded element
    w, s       w, s            (6,)     N, N m    mean section forces; stresses conjugate to ε
    F₀ F₁ F₂   p.F0 p.F1 p.F2  (6, 6)   1/N …     moments of the flexibility along the element: 1/L ∫ (1, τ, τ²) F dτ
    F*         G               (6, 6)             its Cholesky factor, with the inverse of the diagonal
    F₁ + WᵀF₂  X               (6, 6)
"""

import math

from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_skew


@kernel
def times_WT(strain, gamma, r, y):
    """Fill y (6,) with Wᵀ r = (κ×r₁ + γ×r₂, κ×r₂)."""
    k1, k2, k3 = strain[3], strain[4], strain[5]
    y[0] = k2 * r[2] - k3 * r[1] + gamma[1] * r[5] - gamma[2] * r[4]
    y[1] = k3 * r[0] - k1 * r[2] + gamma[2] * r[3] - gamma[0] * r[5]
    y[2] = k1 * r[1] - k2 * r[0] + gamma[0] * r[4] - gamma[1] * r[3]
    y[3] = k2 * r[5] - k3 * r[4]
    y[4] = k3 * r[3] - k1 * r[5]
    y[5] = k1 * r[4] - k2 * r[3]


@kernel
def times_YT(g, w, a, y):
    """Fill y (6,) with Yᵀ a = (g a₂×n, a₁×n + a₂×m), of w = (n, m)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        across = a[3 + j] * w[k] - a[3 + k] * w[j]
        y[i] = g * across
        y[3 + i] = a[j] * w[k] - a[k] * w[j] + a[3 + j] * w[3 + k] - a[3 + k] * w[3 + j]


@kernel
def reference_gamma(p, strain, gamma):
    """Fill γ (3,) of W."""
    for i in range(3):
        gamma[i] = strain[i] if p.large_strain == 1.0 else p.strain0[i]


@kernel
def flexibility(p, strain, X, G):
    """Fill X (6, 6) = F₁ + WᵀF₂ and the Cholesky factor G of F* (3)."""
    gamma, a, y, z = local_arrays("3, 6, 6, 6")
    reference_gamma(p, strain, gamma)
    for j in range(6):
        for i in range(6):
            a[i] = p.F2[i, j]
            z[i] = p.F1[i, j]
        times_WT(strain, gamma, a, y)
        for i in range(6):
            X[i, j] = z[i] + y[i]
        times_WT(strain, gamma, z, y)
        for i in range(6):
            G[i, j] = p.F0[i, j] + y[i]
    for i in range(6):
        times_WT(strain, gamma, X[i], y)
        for j in range(6):
            G[i, j] += y[j]
    for j in range(6):
        d = G[j, j]
        for k in range(j):
            d -= G[j, k] * G[j, k]
        d = 1.0 / math.sqrt(d)
        G[j, j] = d
        for i in range(j + 1, 6):
            e = G[i, j]
            for k in range(j):
                e -= G[i, k] * G[j, k]
            G[i, j] = e * d


@kernel
def solve_factored(G, b):
    """Replace b (6,) by F*⁻¹ b."""
    for i in range(6):
        for k in range(i):
            b[i] -= G[i, k] * b[k]
        b[i] *= G[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            b[i] -= G[k, i] * b[k]
        b[i] *= G[i, i]


@kernel
def mean_forces(p, strain, G, w):
    """Fill w (6,) with the section forces that satisfy (3)."""
    for i in range(6):
        w[i] = strain[i] - p.strain0[i]
    solve_factored(G, w)


@kernel
def stress(p, strain, w, r, residual, s):
    """Fill r (6,) = F₁w + F₂p, the residual r_w (6,) of (8) and the stresses s (6,) of (4)."""
    gamma, q = local_arrays("3, 6")
    reference_gamma(p, strain, gamma)
    k1, k2, k3 = strain[3], strain[4], strain[5]
    q[0] = k3 * w[1] - k2 * w[2]  # p = Ww = −(κ×n, κ×m + γ×n)
    q[1] = k1 * w[2] - k3 * w[0]
    q[2] = k2 * w[0] - k1 * w[1]
    q[3] = k3 * w[4] - k2 * w[5] + gamma[2] * w[1] - gamma[1] * w[2]
    q[4] = k1 * w[5] - k3 * w[3] + gamma[0] * w[2] - gamma[2] * w[0]
    q[5] = k2 * w[3] - k1 * w[4] + gamma[1] * w[0] - gamma[0] * w[1]
    for i in range(6):
        r[i] = 0.0
        residual[i] = strain[i] - p.strain0[i]
        for k in range(6):
            r[i] += p.F1[i, k] * w[k] + p.F2[i, k] * q[k]
            residual[i] -= p.F0[i, k] * w[k] + p.F1[i, k] * q[k]
    times_WT(strain, gamma, r, q)
    for i in range(6):
        residual[i] -= q[i]
    times_YT(p.large_strain, w, r, q)
    for i in range(6):
        s[i] = w[i] - q[i]


@kernel
def law_operator(p, w, r, X, Lam):
    """Fill Λ (6, 6) of (5)."""
    y = local_vector(6)
    for i in range(6):
        times_YT(p.large_strain, w, X[i], y)
        for j in range(6):
            Lam[i, j] = -y[j]
        Lam[i, i] += 1.0
    add_skew(p.large_strain, r[3:6], Lam, 0, 0)
    add_skew(1.0, r[0:3], Lam, 0, 3)
    add_skew(1.0, r[3:6], Lam, 3, 3)


@kernel
def law_tangent(p, w, G, Lam, C):
    """Fill C (6, 6) with C_t of (6)."""
    V, B, a, y = local_arrays("6 6, 6 6, 6, 6")
    for i in range(6):
        for j in range(6):
            V[i, j] = Lam[i, j]
            a[j] = p.F2[i, j]
        for k in range(i):
            for j in range(6):
                V[i, j] -= G[i, k] * V[k, j]
        for j in range(6):
            V[i, j] *= G[i, i]
        times_YT(p.large_strain, w, a, y)
        for j in range(6):
            B[j, i] = y[j]  # (F₂Y)ᵀ
    for i in range(6):
        times_YT(p.large_strain, w, B[i], y)
        for j in range(6):
            C[i, j] = -y[j]
    for k in range(6):
        for i in range(6):
            for j in range(6):
                C[i, j] += V[k, i] * V[k, j]
