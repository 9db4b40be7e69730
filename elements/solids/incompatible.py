"""Strains as vectors, incompatible modes of a hexahedron of 8 nodes, and the small algebra of `solids.enhanced`.

    M_k = (j_0/j) ξ_m sym(h_i ⊗ h_j) ,   h_i = ∂ξ_i/∂X at the centre                                                (1)
    (ij: m) = 11: ξ, 22: η, 33: ζ, 12: ξ, η, 23: η, ζ, 13: ξ, ζ

Strains are (11, 22, 33, 12, 23, 13), shears doubled; stresses stay 3 × 3. At a point of the 2³ rule ξ_m = ±1/√3.

Source: docs/theory/solids.md, section 5; Simo & Rifai, Int. J. Num. Meth. Eng. 29 (1990).

    symbol  code  shape    unit  meaning
    M       M     (6, 9)         modes at a point
    B       B     (6, 24)  1/m   strain of displacements, sym(Fᵀ δu_a ⊗ g_a)
    ℂ       Q     (6, 6)   Pa    elasticity
    K_αα    A     (9, 9)   N m   of the amplitudes, or its Cholesky factor L in the lower triangle
"""

import math

from fem_mbs.elements.solids.kernels import inverse3
from fem_mbs.jit import kernel, local_matrix, local_vector

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
def strain_operator(F, G, B):
    """Fill B (6, 24): strains sym(Fᵀ δu_a ⊗ g_a)."""
    for a in range(8):
        for i in range(3):
            for c in range(6):
                r, s = first(c), second(c)
                value = F[i, r] * G[s, a]
                B[c, 3 * a + i] = value if c < 3 else value + F[i, s] * G[r, a]


@kernel
def elasticity(lam, b, D, Q):
    """Fill Q (6, 6) with ℂ = λ D⊗D + b (D D + D D), D = I or C⁻¹."""
    for c in range(6):
        i, j = first(c), second(c)
        for d in range(6):
            k, n = first(d), second(d)
            Q[c, d] = lam * D[i, j] * D[k, n] + b * (D[i, k] * D[j, n] + D[i, n] * D[j, k])


@kernel
def add_work(w, L, S, r):
    """Add w Lᵀ S to r (columns of L,): what stresses S (3, 3) do on the strains L (6, columns)."""
    for n in range(L.shape[1]):
        for c in range(6):
            r[n] += w * L[c, n] * S[first(c), second(c)]


@kernel(fused=True)
def add_product(w, L, Q, R, K):
    """Add w Lᵀ Q R to K, of strains L and R (6, rows and columns of K); the inner loops run along rows of memory."""
    rows, columns, QR = L.shape[1], R.shape[1], local_matrix(6, 24)
    for c in range(6):
        q0, q1, q2 = w * Q[c, 0], w * Q[c, 1], w * Q[c, 2]
        q3, q4, q5 = w * Q[c, 3], w * Q[c, 4], w * Q[c, 5]
        for n in range(columns):
            QR[c, n] = q0 * R[0, n] + q1 * R[1, n] + q2 * R[2, n] + q3 * R[3, n] + q4 * R[4, n] + q5 * R[5, n]
    for r in range(rows):
        l0, l1, l2, l3, l4, l5 = L[0, r], L[1, r], L[2, r], L[3, r], L[4, r], L[5, r]
        for n in range(columns):
            K[r, n] += l0 * QR[0, n] + l1 * QR[1, n] + l2 * QR[2, n] + l3 * QR[3, n] + l4 * QR[4, n] + l5 * QR[5, n]


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
