"""Kernels of shell elements: a director at every node, strains that are products of nodal vectors.

A node I has a position x_I and three vectors that rotate with it, y = R Y: the director d (Y = D, unit, normal to the
unloaded surface) and two in the surface, τʳ and τˢ. Every strain of the element is a sum of products

    e_k = Σ_j p_j·q_j − c_k ,   p_j = Σ_I P_jI x_I ,   q_j = Σ_I Q_jI z_I ,   z one of x, d, τʳ, τˢ                 (1)

with the constant tables P, Q of `fem_mbs.stresses.shell_cells` and c_k that makes it zero unloaded: lengths of edges
are membrane strains, x_,α·d_,β bending, x_,α·d transverse shear, x_,α·τ the rotation of a node about its normal
(drilling). Nothing changes in a rigid motion, whatever its size. The energy is ½ eᵀ H e with a constant matrix H, so
that

    f = −Bᵀ s ,   s = H (e + β ė) ,   B = ∂e/∂q:   ∂e/∂x_I = P_jI q_j (+ Q_jI p_j),   ∂e/∂θ_I = Q_jI Y × Rᵀp_j      (2)
    K = Bᵀ H (B + β ∂ė/∂q) + Σ_k s_k ∂B_k/∂q ,   C = β Bᵀ H B                                                      (3)
    x_I–x_J: P_I Q_J + Q_I P_J ;  x_I–θ_J: −P_I Q_J R_J Ỹ_J ;  θ_I–θ_I: Ỹ (RᵀF)~, F = Σ s_j Q_jI p_j               (4)
    ė = Σ p_j·q̇_j + ṗ_j·q_j ,   ẏ = R (Ω × Y) ,   ∂ė/∂x_I = P q̇ (+ Q ṗ),  ∂ė/∂θ_I = Q [Y × Rᵀṗ + (Ω × Y) × Rᵀp]     (5)

Mixed Newton (statics): s are separate iterates. f is as above, (4) has the kept s, and an iteration δq takes them
to

    s ← H (e + B δq)                                                                                               (6)

where s = H e after a large rotation of a thin shell would be those of strains that the next iteration takes away again.

The last nn strains (drilling) have a separate diagonal part of H.

Mass: m_IJ = ∫ ρ h N_I N_J dA (or its row sums) for the places; at each node the inertia J (1 − (1 − ε) D Dᵀ), J = its
part of ∫ ρ h³/12 dA, in node axes, with the gyroscopic moment −Ω × J Ω.

Source: docs/theory/shells.md, sections 1 to 4; mixed iteration: Magisano, Leonetti & Garcea 2017.

    symbol    code        shape            unit    meaning
    X         p.X         (nn, 3)          m       nodes of the unloaded element; read for stresses only
    Y         p.Y         (3, nn, 3)       -, 1/m⁰ D, τʳ, τˢ of the nodes, node axes
    c         p.c         (ne,)            m², m   strains (1) of the unloaded element without the −c
    H         p.H         (nm, nm)         …       of all strains but those of drilling
              p.drill     (nn,)            N m     of these
    β         p.beta                       s
    m         p.m         (nn, nn)         kg
    J, ε      p.J, p.eps  (nn,), ()        kg m², -
    Z         p.Z         (8, nm)                  section forces at the middle from strains, see `output`
              p.first     (3,)             -       first axis of the section at the middle, axes of X; for stresses
    P, Q      p.cell_at  (np, 2 nn + 2)   -       rows (P, Q, which z, which strain) of `fem_mbs.stresses.shell_cells`
"""

import numpy as np

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector, matrix

STRAINS = {4: 15, 3: 9}  # nodes -> strains nm without drilling


def parameters(nn: int) -> np.dtype:
    """Record of the parameters of an element with nn nodes."""
    nm = STRAINS[nn]
    return np.dtype(
        [
            ("X", "f8", (nn, 3)),
            ("Y", "f8", (3, nn, 3)),
            ("c", "f8", (nm + nn,)),
            ("H", "f8", (nm, nm)),
            ("drill", "f8", (nn,)),
            ("beta", "f8"),
            ("m", "f8", (nn, nn)),
            ("nodal", "f8", (nn,)),
            ("J", "f8", (nn,)),
            ("eps", "f8"),
            ("Z", "f8", (8, nm)),
            ("first", "f8", (3,)),
            ("products", "i8"),
            ("cell_at", "i8"),
        ]
    )


@kernel
def carried(p, x, R, z):
    """Fill z (4 nn, 3) with x, d, τʳ, τˢ of all nodes."""
    nn = len(x)
    for a in range(nn):
        for i in range(3):
            z[a, i] = x[a, i]
            for k in range(3):
                z[(k + 1) * nn + a, i] = (
                    R[a, i, 0] * p.Y[k, a, 0] + R[a, i, 1] * p.Y[k, a, 1] + R[a, i, 2] * p.Y[k, a, 2]
                )


@kernel
def carried_rates(p, R, v, z_v):
    """Fill z_v (4 nn, 3) with the rates of x, d, τʳ, τˢ."""
    nn, u = len(R), local_vector(3)
    for a in range(nn):
        for i in range(3):
            z_v[a, i] = v[6 * a + i]
        for k in range(3):
            spin(p, v, k, a, u)
            for i in range(3):
                z_v[(k + 1) * nn + a, i] = R[a, i, 0] * u[0] + R[a, i, 1] * u[1] + R[a, i, 2] * u[2]


@kernel
def spin(p, v, k, a, u):
    """Fill u (3,) with Ω × Y of vector k of node a."""
    for i in range(3):
        j, n = (i + 1) % 3, (i + 2) % 3
        u[i] = v[6 * a + 3 + j] * p.Y[k, a, n] - v[6 * a + 3 + n] * p.Y[k, a, j]


@kernel
def factors(table, nn, j, z, P, Q):
    """Fill P and Q (3,) with p_j and q_j of (1) of the vectors z (4 nn, 3)."""
    first = nn * int(table[j, 2 * nn])
    for i in range(3):
        P[i] = Q[i] = 0.0
        for a in range(nn):
            P[i] += table[j, a] * z[a, i]
            Q[i] += table[j, nn + a] * z[first + a, i]


@kernel
def strains(p, z, e):
    """Fill e (ne,) with (1)."""
    nn, P, Q = len(p.X), local_vector(3), local_vector(3)
    table = matrix(p.cell_at, p.products, 2 * nn + 2)
    for k in range(len(p.c)):
        e[k] = -p.c[k]
    for j in range(p.products):
        factors(table, nn, j, z, P, Q)
        e[int(table[j, 2 * nn + 1])] += P[0] * Q[0] + P[1] * Q[1] + P[2] * Q[2]


@kernel
def strain_rates(p, z, z_v, e):
    """Add β ė of (5) to e (ne,)."""
    nn, P, Q, P_v, Q_v = len(p.X), local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    table = matrix(p.cell_at, p.products, 2 * nn + 2)
    for j in range(p.products):
        factors(table, nn, j, z, P, Q)
        factors(table, nn, j, z_v, P_v, Q_v)
        for i in range(3):
            e[int(table[j, 2 * nn + 1])] += p.beta * (P[i] * Q_v[i] + P_v[i] * Q[i])


@kernel
def stresses(p, e, s):
    """Fill s (ne,) with H e."""
    nm = len(p.H)
    for k in range(nm):
        s[k] = 0.0
        for n in range(nm):
            s[k] += p.H[k, n] * e[n]
    for a in range(len(p.drill)):
        s[nm + a] = p.drill[a] * e[nm + a]


@kernel
def pulls(p, z, s, F):
    """Fill F (4 nn, 3) with Σ s_k ∂e_k/∂z of all vectors."""
    nn, P, Q = len(p.X), local_vector(3), local_vector(3)
    table = matrix(p.cell_at, p.products, 2 * nn + 2)
    for n in range(4 * nn):
        for i in range(3):
            F[n, i] = 0.0
    for j in range(p.products):
        factors(table, nn, j, z, P, Q)
        first, size = nn * int(table[j, 2 * nn]), s[int(table[j, 2 * nn + 1])]
        for a in range(nn):
            for i in range(3):
                F[a, i] += size * table[j, a] * Q[i]
                F[first + a, i] += size * table[j, nn + a] * P[i]


@kernel
def add_forces(p, R, F, f):
    """Add −F of the places and −Y × RᵀF of the vectors to f (6 nn,)."""
    nn, u = len(p.X), local_vector(3)
    for a in range(nn):
        for i in range(3):
            f[6 * a + i] -= F[a, i]
        for k in range(3):
            turned_back(R, F, (k + 1) * nn + a, a, u)
            for i in range(3):
                j, n = (i + 1) % 3, (i + 2) % 3
                f[6 * a + 3 + i] -= p.Y[k, a, j] * u[n] - p.Y[k, a, n] * u[j]


@kernel
def turned_back(R, F, row, a, u):
    """Fill u (3,) with R_aᵀ F of a row."""
    for i in range(3):
        u[i] = R[a, 0, i] * F[row, 0] + R[a, 1, i] * F[row, 1] + R[a, 2, i] * F[row, 2]


@kernel
def force(p, x, R, v, f):
    """Add (2) to f (6 nn,)."""
    z, F, e, s = local_arrays("16 3, 16 3, 19, 19")
    carried(p, x, R, z)
    strains(p, z, e)
    if p.beta > 0.0:
        z_v = local_matrix(16, 3)
        carried_rates(p, R, v, z_v)
        strain_rates(p, z, z_v, e)
    stresses(p, e, s)
    pulls(p, z, s, F)
    add_forces(p, R, F, f)


@kernel
def gradients(p, R, z, B):
    """Fill B (ne, 6 nn) of (2)."""
    nn, P, Q, u = len(p.X), local_vector(3), local_vector(3), local_vector(3)
    table = matrix(p.cell_at, p.products, 2 * nn + 2)
    for k in range(len(p.c)):
        for n in range(6 * nn):
            B[k, n] = 0.0
    for j in range(p.products):
        factors(table, nn, j, z, P, Q)
        k, row = int(table[j, 2 * nn]) - 1, int(table[j, 2 * nn + 1])
        for a in range(nn):
            own = table[j, nn + a]
            for i in range(3):
                B[row, 6 * a + i] += table[j, a] * Q[i]
                if k < 0:
                    B[row, 6 * a + i] += own * P[i]
            if k >= 0 and own != 0.0:
                for i in range(3):
                    u[i] = own * (R[a, 0, i] * P[0] + R[a, 1, i] * P[1] + R[a, 2, i] * P[2])
                for i in range(3):
                    m, n = (i + 1) % 3, (i + 2) % 3
                    B[row, 6 * a + 3 + i] += p.Y[k, a, m] * u[n] - p.Y[k, a, n] * u[m]


@kernel
def add_rate_gradients(p, R, v, z, z_v, B):
    """Add β ∂ė/∂q of (5) to B (ne, 6 nn)."""
    nn, P, Q, P_v, Q_v = len(p.X), local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    u, w, y = local_arrays("3, 3, 3")
    table = matrix(p.cell_at, p.products, 2 * nn + 2)
    for j in range(p.products):
        factors(table, nn, j, z, P, Q)
        factors(table, nn, j, z_v, P_v, Q_v)
        k, row = int(table[j, 2 * nn]) - 1, int(table[j, 2 * nn + 1])
        for a in range(nn):
            own = p.beta * table[j, nn + a]
            for i in range(3):
                B[row, 6 * a + i] += p.beta * table[j, a] * Q_v[i]
                if k < 0:
                    B[row, 6 * a + i] += own * P_v[i]
            if k >= 0 and own != 0.0:
                spin(p, v, k, a, y)
                for i in range(3):
                    u[i] = own * (R[a, 0, i] * P_v[0] + R[a, 1, i] * P_v[1] + R[a, 2, i] * P_v[2])
                    w[i] = own * (R[a, 0, i] * P[0] + R[a, 1, i] * P[1] + R[a, 2, i] * P[2])
                for i in range(3):
                    m, n = (i + 1) % 3, (i + 2) % 3
                    B[row, 6 * a + 3 + i] += p.Y[k, a, m] * u[n] - p.Y[k, a, n] * u[m] + y[m] * w[n] - y[n] * w[m]


@kernel
def add_product(p, B, T, K, factor):
    """Add factor Bᵀ H T to K (6 nn, 6 nn); B, T (ne, 6 nn)."""
    nm, nd, row = len(p.H), 6 * len(p.X), local_vector(24)
    for k in range(len(p.c)):
        for n in range(nd):
            row[n] = 0.0
        if k < nm:
            for m in range(nm):
                h = factor * p.H[k, m]
                for n in range(nd):
                    row[n] += h * T[m, n]
        else:
            for n in range(nd):
                row[n] = factor * p.drill[k - nm] * T[k, n]
        for m in range(nd):
            b = B[k, m]
            if b != 0.0:
                for n in range(nd):
                    K[m, n] += b * row[n]


@kernel
def add_geometric(p, R, F, s, K):
    """Add (4) to K (6 nn, 6 nn)."""
    nn = len(p.X)
    table = matrix(p.cell_at, p.products, 2 * nn + 2)
    g, A, u = local_arrays("16 4, 3 3, 3")
    for n in range(4 * nn):
        for a in range(nn):
            g[n, a] = 0.0
    for j in range(p.products):
        first, size = nn * int(table[j, 2 * nn]), s[int(table[j, 2 * nn + 1])]
        for b in range(nn):
            for a in range(nn):
                g[first + b, a] += size * table[j, a] * table[j, nn + b]
    for a in range(nn):
        for b in range(nn):
            for i in range(3):
                K[6 * a + i, 6 * b + i] += g[b, a] + g[a, b]
    for k in range(3):
        for b in range(nn):
            for i in range(3):  # −R Ỹ
                for m in range(3):
                    n, o = (m + 1) % 3, (m + 2) % 3
                    A[i, m] = R[b, i, o] * p.Y[k, b, n] - R[b, i, n] * p.Y[k, b, o]
            row = (k + 1) * nn + b
            for a in range(nn):
                for i in range(3):
                    for m in range(3):
                        K[6 * a + i, 6 * b + 3 + m] += g[row, a] * A[i, m]
                        K[6 * b + 3 + m, 6 * a + i] += g[row, a] * A[i, m]
            turned_back(R, F, row, b, u)
            along = p.Y[k, b, 0] * u[0] + p.Y[k, b, 1] * u[1] + p.Y[k, b, 2] * u[2]
            for i in range(3):  # Ỹ ũ = u Yᵀ − (Y·u) 1
                for m in range(3):
                    K[6 * b + 3 + i, 6 * b + 3 + m] += u[i] * p.Y[k, b, m]
                K[6 * b + 3 + i, 6 * b + 3 + i] -= along


@kernel
def linearise(p, x, R, v, kept, state, f, K, C):
    """Add (2) to f and (3) to K and C (6 nn, 6 nn); with ``kept`` = 1 with ``state`` as in (6)."""
    z, F, e, s, B = local_arrays("16 3, 16 3, 19, 19, 19 24")
    carried(p, x, R, z)
    strains(p, z, e)
    gradients(p, R, z, B)
    if p.beta > 0.0:
        z_v, T = local_arrays("16 3, 19 24")
        carried_rates(p, R, v, z_v)
        strain_rates(p, z, z_v, e)
        for k in range(len(p.c)):
            for n in range(6 * len(x)):
                T[k, n] = B[k, n]
        add_rate_gradients(p, R, v, z, z_v, T)
        add_product(p, B, T, K, 1.0)
        add_product(p, B, B, C, p.beta)
    else:
        add_product(p, B, B, K, 1.0)
    stresses(p, e, s)
    pulls(p, z, s, F)
    add_forces(p, R, F, f)
    if kept == 1:
        if p.beta > 0.0:  # those of damping are not kept
            for k in range(len(p.c)):
                e[k] = 0.0
            strain_rates(p, z, z_v, e)
            stresses(p, e, s)
            for k in range(len(p.c)):
                s[k] += state[k]
        else:
            for k in range(len(p.c)):
                s[k] = state[k]
        pulls(p, z, s, F)
    add_geometric(p, R, F, s, K)


@kernel
def force_tangent(p, x, R, v, f, K, C):
    """Add (2) to f and (3) to K and C (6 nn, 6 nn)."""
    linearise(p, x, R, v, 0, f, f, K, C)


@kernel
def mixed(p, x, R, v, state, f, K, C):
    """Add f, K, C of the mixed iteration (6) at the kept ``state`` (ne,)."""
    linearise(p, x, R, v, 1, state, f, K, C)


@kernel
def update(p, x, R, state, delta):
    """Set the ``state`` (ne,) by (6) for the variation delta (6 nn,) of the nodes."""
    z, e, B = local_arrays("16 3, 19, 19 24")
    carried(p, x, R, z)
    strains(p, z, e)
    gradients(p, R, z, B)
    for k in range(len(p.c)):
        for n in range(6 * len(x)):
            e[k] += B[k, n] * delta[n]
    stresses(p, e, state)


@kernel
def initial(p, x, R, state):
    """Fill the ``state`` (ne,) that belongs to the configuration, H e."""
    z, e = local_arrays("16 3, 19")
    carried(p, x, R, z)
    strains(p, z, e)
    stresses(p, e, state)


@kernel
def inertia(p, v, a, gravity, Ma, f):
    """Add M a to Ma (6 nn,), weight and gyroscopic moments to f (6 nn,)."""
    nn = len(p.X)
    for m in range(nn):
        for i in range(3):
            f[6 * m + i] += p.nodal[m] * gravity[i]
            for n in range(nn):
                Ma[6 * m + i] += p.m[m, n] * a[6 * n + i]
        turn, spin = 0.0, 0.0
        for i in range(3):
            turn += p.Y[0, m, i] * a[6 * m + 3 + i]
            spin += p.Y[0, m, i] * v[6 * m + 3 + i]
        lost = p.J[m] * (1.0 - p.eps)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            Ma[6 * m + 3 + i] += p.J[m] * a[6 * m + 3 + i] - lost * turn * p.Y[0, m, i]
            # −Ω × JΩ, JΩ = J Ω − lost (D·Ω) D
            f[6 * m + 3 + i] += lost * spin * (v[6 * m + 3 + j] * p.Y[0, m, k] - v[6 * m + 3 + k] * p.Y[0, m, j])


@kernel
def inertia_tangent(p, v, M, C):
    """Add the mass matrix to M and ∂(Ω × J Ω)/∂Ω to C (6 nn, 6 nn)."""
    nn, w = len(p.X), local_vector(3)
    for m in range(nn):
        spin = 0.0
        for i in range(3):
            for n in range(nn):
                M[6 * m + i, 6 * n + i] += p.m[m, n]
            spin += p.Y[0, m, i] * v[6 * m + 3 + i]
        lost = p.J[m] * (1.0 - p.eps)
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            w[i] = v[6 * m + 3 + j] * p.Y[0, m, k] - v[6 * m + 3 + k] * p.Y[0, m, j]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            M[6 * m + 3 + i, 6 * m + 3 + i] += p.J[m]
            for n in range(3):
                M[6 * m + 3 + i, 6 * m + 3 + n] -= lost * p.Y[0, m, i] * p.Y[0, m, n]
                C[6 * m + 3 + i, 6 * m + 3 + n] -= lost * w[i] * p.Y[0, m, n]
            # −lost (D·Ω) ∂(Ω × D)/∂Ω = lost (D·Ω) D̃
            C[6 * m + 3 + i, 6 * m + 3 + k] += lost * spin * p.Y[0, m, j]
            C[6 * m + 3 + i, 6 * m + 3 + j] -= lost * spin * p.Y[0, m, k]


@kernel
def energy(p, x, R, gravity):
    """½ eᵀ H e and potential of the weight [J]."""
    z, e, s = local_arrays("16 3, 19, 19")
    carried(p, x, R, z)
    strains(p, z, e)
    stresses(p, e, s)
    total = 0.0
    for k in range(len(p.c)):
        total += 0.5 * e[k] * s[k]
    for n in range(len(p.X)):
        total -= p.nodal[n] * (gravity[0] * x[n, 0] + gravity[1] * x[n, 1] + gravity[2] * x[n, 2])
    return total


@kernel
def output(p, x, R, v, out):
    """Fill out (9,): N₁₁, N₂₂, N₁₂, M₁₁, M₂₂, M₁₂, Q₁, Q₂ at the middle, section axes, and the largest |δ|."""
    z, e = local_arrays("16 3, 19")
    carried(p, x, R, z)
    strains(p, z, e)
    for a in range(len(x)):
        out[8] = max(out[8], abs(e[len(p.H) + a]))
    if p.beta > 0.0:
        z_v = local_matrix(16, 3)
        carried_rates(p, R, v, z_v)
        strain_rates(p, z, z_v, e)
    for k in range(8):
        for n in range(len(p.H)):
            out[k] += p.Z[k, n] * e[n]


@kernel
def trouble(p, x, R):
    """1 where a director does not point out of its side of the surface any more."""
    nn, z, u, w = len(x), local_matrix(16, 3), local_vector(3), local_vector(3)
    carried(p, x, R, z)
    for a in range(nn):
        b, c, volume = (a + 1) % nn, (a + nn - 1) % nn, 0.0
        for i in range(3):
            u[i], w[i] = x[b, i] - x[a, i], x[c, i] - x[a, i]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            volume += (u[j] * w[k] - u[k] * w[j]) * z[nn + a, i]
        if not volume > 0.0:
            return 1.0
    return 0.0
