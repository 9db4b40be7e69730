"""Section law of the three-node beam: from a linear strain field to the section forces of mean and slope.

ε₁, ε₂ are the strains of the two halves (segments of length ℓ = L/2). The linear field with these helices is, by the
fourth-order Magnus formula read backwards, with ad(ξ) = [κ̃ Γ̃; 0 κ̃]

    a = ½(ε₁ + ε₂) − (L/24) ad(ε₁) ε₂,   b = (2/L)(ε₂ − ε₁),   e = (a − a₀, b − b₀)                                (1)
    J = ∂(a, b)/∂(ε₁, ε₂) = [½I + (L/24) ad(ε₂)   ½I − (L/24) ad(ε₁);  −(2/L) I   (2/L) I]                         (2)

Section forces w(τ) = w̄ + (12/L²) τ W₁ + ½(τ² − L²/12) w₂, w = (n, m, N₁, M₁); w₂ by equilibrium with a constant line
load, of which the moment part alone is kept:

    w₂ = G w,  G = −[Γ̃_b κ̃_b cΓ̃_a cκ̃_a],   c = 12/L²                                                            (3)
    Φ w = e,   Φ = Φ₀ + X G + (X G)ᵀ + Gᵀ F₂ G,    energy ½ L w·e                                                 (4)
    s = w − Yᵀr,   r = Xᵀw + F₂ w₂,   Y = ∂w₂/∂(a, b) = [cÑ₁ cM̃₁ ñ m̃]              conjugate to (a, b)            (5)
    Λ = I + [0 r̃; c r̃ 0] − (X + GᵀF₂) Y                                             = ∂(e − Φw)/∂e                (6)
    C_ab = Λᵀ Φ⁻¹ Λ − Yᵀ F₂ Y = ∂s/∂e                                                                             (7)

Φ₀ = (1/L)∫[I, cτI]ᵀ F [I, cτI], X = (1/L)∫ q [I, cτI]ᵀ F E_m, F₂ = (1/L)∫ q² E_mᵀ F E_m with q = ½(τ² − L²/12) and E_m
the moment part: numbers of the element; uniform section: Φ₀ = diag(F, cF), X = 0, F₂ = (L⁴/720) F_MM.

Mixed Newton: w is kept; r_w = e − Φw; forces with s + Λᵀ Φ⁻¹ r_w; w ← w + Φ⁻¹ (r_w + Λ δe)                      (8)

Source: docs/theory/beams.md, sections 2 and 3.

    symbol   code      shape      unit      meaning
    a, b     ab        (12,)      -, 1/m    mean strain and slope of the strain
    w        w         (12,)      N, N m    mean section forces, scaled slope
    Φ        P         (12, 12)             its factors, see `factor`
    X + GᵀF₂ U         (12, 3)
"""

from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_skew


@kernel
def ad_T(scale, strain, t, y):
    """Add scale ad(ξ)ᵀ t = −scale (κ×t₁, Γ×t₁ + κ×t₂) to y (6,); ξ = strain (6,)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        y[i] -= scale * (strain[3 + j] * t[k] - strain[3 + k] * t[j])
        y[3 + i] -= scale * (strain[j] * t[k] - strain[k] * t[j] + strain[3 + j] * t[3 + k] - strain[3 + k] * t[3 + j])


@kernel
def ad(scale, strain, t, y):
    """Add scale ad(ξ) t = scale (κ×t₁ + Γ×t₂, κ×t₂) to y (6,)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        y[i] += scale * (strain[3 + j] * t[k] - strain[3 + k] * t[j] + strain[j] * t[3 + k] - strain[k] * t[3 + j])
        y[3 + i] += scale * (strain[3 + j] * t[3 + k] - strain[3 + k] * t[3 + j])


@kernel
def mean_and_slope(p, eps, ab, e):
    """Fill a, b (12,) and e (12,) of (1) from the strains eps (12,) of the two halves."""
    L = p.length
    for i in range(6):
        ab[i] = 0.5 * (eps[i] + eps[6 + i])
        ab[6 + i] = 2.0 / L * (eps[6 + i] - eps[i])
    ad(-L / 24.0, eps[0:6], eps[6:12], ab[0:6])
    for i in range(12):
        e[i] = ab[i] - p.strain0[i]


@kernel
def mean_and_slope_rates(p, eps, rate, ab_rate):
    """Fill ab_rate (12,) with J times rate (12,)."""
    L = p.length
    for i in range(6):
        ab_rate[i] = 0.5 * (rate[i] + rate[6 + i])
        ab_rate[6 + i] = 2.0 / L * (rate[6 + i] - rate[i])
    ad(-L / 24.0, rate[0:6], eps[6:12], ab_rate[0:6])
    ad(-L / 24.0, eps[0:6], rate[6:12], ab_rate[0:6])


@kernel
def half_stresses(p, eps, s, t):
    """Fill t (12,) with 2 Jᵀ s: the stresses of the two halves."""
    L = p.length
    for i in range(6):
        t[i] = s[i] - 4.0 / L * s[6 + i]
        t[6 + i] = s[i] + 4.0 / L * s[6 + i]
    ad_T(L / 12.0, eps[6:12], s[0:6], t[0:6])
    ad_T(-L / 12.0, eps[0:6], s[0:6], t[6:12])


@kernel
def slope_operator(p, ab, G, U):
    """Fill G (3, 12) of (3) and U = X + GᵀF₂ (12, 3)."""
    c = 12.0 / (p.length * p.length)
    G[:, :] = 0.0
    add_skew(-1.0, ab[6:9], G, 0, 0)
    add_skew(-1.0, ab[9:12], G, 0, 3)
    add_skew(-c, ab[0:3], G, 0, 6)
    add_skew(-c, ab[3:6], G, 0, 9)
    for i in range(12):
        for k in range(3):
            U[i, k] = p.X[i, k] + G[0, i] * p.F2[0, k] + G[1, i] * p.F2[1, k] + G[2, i] * p.F2[2, k]


@kernel
def factor(p, G, U, P):
    """Fill P (12, 12) with the factors of Φ = Lᵀ D⁻¹ L (4), D the diagonal of L: L above the diagonal, D⁻¹ on it.

    Below the diagonal P is scratch: whole rows take fewer instructions than parts of rows.
    """
    row = local_vector(12)
    for i in range(12):
        a, b, c = U[i, 0], U[i, 1], U[i, 2]
        for j in range(12):
            P[i, j] = p.Phi[i, j] + a * G[0, j] + b * G[1, j] + c * G[2, j]
    if p.tapered == 1:
        for i in range(12):
            for j in range(12):
                P[i, j] += G[0, i] * p.X[j, 0] + G[1, i] * p.X[j, 1] + G[2, i] * p.X[j, 2]
    for k in range(12):
        d = 1.0 / P[k, k]
        for j in range(12):
            row[j] = P[k, j]
        P[k, k] = d
        for i in range(k + 1, 12):
            f = d * row[i]
            for j in range(12):
                P[i, j] -= f * row[j]


@kernel
def solve(P, b):
    """Replace b (12,) by Φ⁻¹ b."""
    for i in range(12):
        b[i] *= P[i, i]
        f = b[i]
        for k in range(i + 1, 12):
            b[k] -= P[i, k] * f
    for i in range(11, -1, -1):
        f = 0.0
        for k in range(i + 1, 12):
            f += P[i, k] * b[k]
        b[i] -= P[i, i] * f


@kernel
def times_YT(c, w, r, y):
    """Fill y (12,) with Yᵀ r = (c r×N₁, c r×M₁, r×n, r×m)."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        y[i] = c * (r[j] * w[6 + k] - r[k] * w[6 + j])
        y[3 + i] = c * (r[j] * w[9 + k] - r[k] * w[9 + j])
        y[6 + i] = r[j] * w[k] - r[k] * w[j]
        y[9 + i] = r[j] * w[3 + k] - r[k] * w[3 + j]


@kernel
def stress(p, G, w, w2, r, s):
    """Fill w₂ (3,) of (3), r (3,) and the stresses s (12,) of (5)."""
    for k in range(3):
        w2[k], r[k] = 0.0, 0.0
        for i in range(12):
            w2[k] += G[k, i] * w[i]
            r[k] += p.X[i, k] * w[i]
    for k in range(3):
        r[k] += p.F2[k, 0] * w2[0] + p.F2[k, 1] * w2[1] + p.F2[k, 2] * w2[2]
    times_YT(12.0 / (p.length * p.length), w, r, s)
    for i in range(12):
        s[i] = w[i] - s[i]


@kernel
def law_residual(p, G, e, w, w2, r, residual):
    """Fill the residual r_w (12,) of (8) with w₂ and r of `stress`."""
    for i in range(12):
        residual[i] = e[i]
        for k in range(12):
            residual[i] -= p.Phi[i, k] * w[k]
        for k in range(3):
            residual[i] -= p.X[i, k] * w2[k] + G[k, i] * r[k]


@kernel
def law_operator(p, w, r, U, Lam):
    """Fill Λ (12, 12) of (6)."""
    c = 12.0 / (p.length * p.length)
    for i in range(12):
        times_YT(c, w, U[i], Lam[i])
        for j in range(12):
            Lam[i, j] = -Lam[i, j]
        Lam[i, i] += 1.0
    add_skew(1.0, r, Lam, 0, 6)
    add_skew(1.0, r, Lam, 3, 9)
    add_skew(c, r, Lam, 6, 0)
    add_skew(c, r, Lam, 9, 3)


@kernel
def law_tangent(p, w, P, Lam, C):
    """Fill C (12, 12) with C_ab of (7); Λ in Lam (12, 12) becomes scratch."""
    V, Y, y, row = local_arrays("12 12, 3 12, 3, 12")
    c = 12.0 / (p.length * p.length)
    # Λ becomes B with Λᵀ Φ⁻¹ Λ = Bᵀ V, V = D⁻¹ B (D of `factor`)
    for i in range(12):
        d = P[i, i]
        for j in range(12):
            row[j] = d * Lam[i, j]
            V[i, j] = row[j]
        for k in range(i + 1, 12):
            f = P[i, k]
            for j in range(12):
                Lam[k, j] -= f * row[j]
    for k in range(3):
        for i in range(3):
            y[i] = 1.0 if i == k else 0.0
        times_YT(c, w, y, Y[k])
    for i in range(12):
        for k in range(3):
            y[k] = Y[0, i] * p.F2[0, k] + Y[1, i] * p.F2[1, k] + Y[2, i] * p.F2[2, k]
        for j in range(12):
            row[j] = -y[0] * Y[0, j] - y[1] * Y[1, j] - y[2] * Y[2, j]
        for k in range(12):
            v = Lam[k, i]
            for j in range(12):
                row[j] += v * V[k, j]
        for j in range(12):
            C[i, j] = row[j]
