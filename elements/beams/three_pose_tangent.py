"""Tangent of the three-node beam; symbols and (1) are those of `beams.three_pose_kinematics`.

    H = (L/ℓ²) Qᵀ Jᵀ C_ab J Q + second derivatives of (a, b) and of ℓε_h with s, s_h                              (2)
    K = Pᵀ H P + turning of the forces,    P: (2) of `beams.segment` for both halves                               (3)

The second derivative of a: ∂²(L s·a)/∂ε₁∂ε₂ = (L²/24) X, X = [0 ñ; ñ m̃] of the first six of s.

The 18 rows and columns belong to the section frames A, M, B until `carry` brings them to the nodes.

Source: docs/theory/beams.md, sections 2-4.
"""

from fem_mbs.elements.beams.segment import add_arm_column, add_arm_row
from fem_mbs.jit import kernel, local_arrays, local_matrix
from fem_mbs.rotations import form_gradient, form_hessian


@kernel
def pull_half(c, d, other, A, D, X, Y, first):
    """Rows first … first + 5 of Y (12, 16): (1) of one half for all columns of X (12, 16), scaled as `half_stresses`.

    c = ±4/L and d = ±L/12 with the strains of the other half; straight-line code over contiguous columns, which the
    compiler turns into vector instructions where this is called in one place only.
    """
    g0, g1, g2 = d * other[0], d * other[1], d * other[2]
    k0, k1, k2 = d * other[3], d * other[4], d * other[5]
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = (
        A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]
    )  # fmt: skip
    d00, d01, d02, d10, d11, d12, d20, d21, d22 = (
        D[0, 0], D[0, 1], D[0, 2], D[1, 0], D[1, 1], D[1, 2], D[2, 0], D[2, 1], D[2, 2]
    )  # fmt: skip
    for j in range(16):
        n0, n1, n2, m0, m1, m2 = X[0, j], X[1, j], X[2, j], X[3, j], X[4, j], X[5, j]
        t0 = n0 + c * X[6, j] - k1 * n2 + k2 * n1
        t1 = n1 + c * X[7, j] - k2 * n0 + k0 * n2
        t2 = n2 + c * X[8, j] - k0 * n1 + k1 * n0
        Y[first, j] = a00 * t0 + a10 * t1 + a20 * t2
        Y[first + 1, j] = a01 * t0 + a11 * t1 + a21 * t2
        Y[first + 2, j] = a02 * t0 + a12 * t1 + a22 * t2
        Y[first + 3, j] = m0 + c * X[9, j] - g1 * n2 + g2 * n1 - k1 * m2 + k2 * m1 + d00 * t0 + d10 * t1 + d20 * t2
        Y[first + 4, j] = m1 + c * X[10, j] - g2 * n0 + g0 * n2 - k2 * m0 + k0 * m2 + d01 * t0 + d11 * t1 + d21 * t2
        Y[first + 5, j] = m2 + c * X[11, j] - g0 * n1 + g1 * n0 - k0 * m1 + k1 * m0 + d02 * t0 + d12 * t1 + d22 * t2


@kernel
def law_hessian(p, eps, A, D, C, H):
    """Fill H (12, 12) with (L/ℓ²) Qᵀ Jᵀ C J Q, C (12, 12) symmetric."""
    X, Y = local_matrix(12, 16), local_matrix(12, 16)  # columns as many as vector registers hold
    scale = 1.0 / p.length
    for i in range(12):
        for j in range(12):
            X[i, j] = scale * C[i, j]
        for j in range(12, 16):
            X[i, j] = 0.0
    for side in range(2):
        for h in range(2):
            sign, k, other = 2.0 * h - 1.0, 3 * h, 6 - 6 * h
            pull_half(
                sign * 4.0 / p.length, -sign * p.length / 12.0, eps[other : other + 6], A[k : k + 3], D[k : k + 3],
                X, Y, 6 * h,
            )  # fmt: skip
        if side == 0:
            for i in range(12):
                for j in range(12):
                    X[i, j] = Y[j, i]
    for i in range(12):
        for j in range(12):
            H[i, j] = Y[i, j]


@kernel
def add_bending(A, D, u, psi, form, s, t, H):
    """Add the second derivatives of (2) for stresses s (12,), t (12,) of the halves to H (12, 12)."""
    M = local_matrix(3, 3)
    for h in range(2):
        c, n = 6 * h, t[6 * h : 6 * h + 3]
        form_gradient(1, form[h], psi[h], n, M)
        for i in range(3):
            for j in range(3):
                H[c + i, c + 3 + j] += M[i, j]
                H[c + 3 + j, c + i] += M[i, j]
        form_hessian(form[h], psi[h], u[h], n, M)
        for i in range(3):
            for j in range(3):
                H[c + 3 + i, c + 3 + j] += M[i, j]
    # (1/6) Q₁ᵀ X Q₂ between the halves
    n1, n2, n3 = s[0] / 6.0, s[1] / 6.0, s[2] / 6.0
    N, Y = local_arrays("3 3, 3 3")
    N[0, 0], N[0, 1], N[0, 2] = 0.0, -n3, n2
    N[1, 0], N[1, 1], N[1, 2] = n3, 0.0, -n1
    N[2, 0], N[2, 1], N[2, 2] = -n2, n1, 0.0
    Y[0, 0], Y[0, 1], Y[0, 2] = 0.0, -s[5] / 6.0, s[4] / 6.0
    Y[1, 0], Y[1, 1], Y[1, 2] = s[5] / 6.0, 0.0, -s[3] / 6.0
    Y[2, 0], Y[2, 1], Y[2, 2] = -s[4] / 6.0, s[3] / 6.0, 0.0
    for i in range(3):
        for j in range(3):
            up, low = 0.0, 0.0
            for k in range(3):
                up += A[k, i] * N[k, j]
                low += N[i, k] * A[3 + k, j]
                Y[i, j] += D[k, i] * N[k, j] + N[i, k] * D[3 + k, j]
            H[i, 9 + j] += up
            H[9 + j, i] += up
            H[3 + i, 6 + j] += low
            H[6 + j, 3 + i] += low
    for i in range(3):
        for j in range(3):
            H[3 + i, 9 + j] += Y[i, j]
            H[9 + j, 3 + i] += Y[i, j]


@kernel
def spread_rows(S, u, A, X, n, out):
    """Fill n ≤ 24 columns of out (18, ≥ n) with Pᵀ X (12, 24), as `spread`; code as in `pull_half`."""
    Y = local_matrix(18, 24)  # its own: that no input changes meanwhile is what vector instructions need
    u0, u1, u2 = u[0, 0], u[0, 1], u[0, 2]
    v0, v1, v2 = u[1, 0], u[1, 1], u[1, 2]
    for j in range(24 if n > 16 else 16):
        b0, b1, b2, m0, m1, m2 = X[0, j], X[1, j], X[2, j], X[3, j], X[4, j], X[5, j]
        c0, c1, c2, n0, n1, n2 = X[6, j], X[7, j], X[8, j], X[9, j], X[10, j], X[11, j]
        f0 = S[0, 0] * b0 + S[0, 1] * b1 + S[0, 2] * b2
        f1 = S[1, 0] * b0 + S[1, 1] * b1 + S[1, 2] * b2
        f2 = S[2, 0] * b0 + S[2, 1] * b1 + S[2, 2] * b2
        g0 = S[3, 0] * c0 + S[3, 1] * c1 + S[3, 2] * c2
        g1 = S[4, 0] * c0 + S[4, 1] * c1 + S[4, 2] * c2
        g2 = S[5, 0] * c0 + S[5, 1] * c1 + S[5, 2] * c2
        Y[0, j] = -f0
        Y[1, j] = -f1
        Y[2, j] = -f2
        Y[3, j] = u2 * b1 - u1 * b2 - (A[0, 0] * m0 + A[1, 0] * m1 + A[2, 0] * m2)
        Y[4, j] = u0 * b2 - u2 * b0 - (A[0, 1] * m0 + A[1, 1] * m1 + A[2, 1] * m2)
        Y[5, j] = u1 * b0 - u0 * b1 - (A[0, 2] * m0 + A[1, 2] * m1 + A[2, 2] * m2)
        Y[6, j] = f0 - g0
        Y[7, j] = f1 - g1
        Y[8, j] = f2 - g2
        l0 = A[0, 0] * m0 + A[0, 1] * m1 + A[0, 2] * m2
        l1 = A[1, 0] * m0 + A[1, 1] * m1 + A[1, 2] * m2
        l2 = A[2, 0] * m0 + A[2, 1] * m1 + A[2, 2] * m2
        Y[9, j] = l0 + v2 * c1 - v1 * c2 - (A[3, 0] * n0 + A[4, 0] * n1 + A[5, 0] * n2)
        Y[10, j] = l1 + v0 * c2 - v2 * c0 - (A[3, 1] * n0 + A[4, 1] * n1 + A[5, 1] * n2)
        Y[11, j] = l2 + v1 * c0 - v0 * c1 - (A[3, 2] * n0 + A[4, 2] * n1 + A[5, 2] * n2)
        Y[12, j] = g0
        Y[13, j] = g1
        Y[14, j] = g2
        Y[15, j] = A[3, 0] * n0 + A[3, 1] * n1 + A[3, 2] * n2
        Y[16, j] = A[4, 0] * n0 + A[4, 1] * n1 + A[4, 2] * n2
        Y[17, j] = A[5, 0] * n0 + A[5, 1] * n1 + A[5, 2] * n2
    for i in range(18):
        for j in range(n):
            out[i, j] = Y[i, j]


@kernel
def to_frames(S, u, A, H, E):
    """Fill E (18, 18) with Pᵀ H P, H (12, 12) symmetric."""
    X, Y = local_matrix(12, 24), local_matrix(18, 12)  # 24 columns fill vector registers
    X[:, :] = 0.0
    for i in range(12):
        for j in range(12):
            X[i, j] = H[i, j]
    spread_rows(S, u, A, X, 12, Y)
    for i in range(12):
        for j in range(18):
            X[i, j] = Y[j, i]
    spread_rows(S, u, A, X, 18, E)


@kernel
def add_turning(S, u, psi, form, A, q, E):
    """Add the contribution of the rotation of the forces b, μ of q (12,) with the frames to E (18, 18)."""
    M, X, minus_psi = local_arrays("3 3, 3 3, 3")
    for h in range(2):
        c, k = 6 * h, 3 * h
        b, mu = q[c : c + 3], q[c + 3 : c + 6]
        ub = u[h, 0] * b[0] + u[h, 1] * b[1] + u[h, 2] * b[2]
        for i in range(3):
            # S b̃: columns of θ_k in rows y_k, y_l; minus its transpose in row θ_k
            s0, s1, s2 = S[k + i, 0], S[k + i, 1], S[k + i, 2]
            M[i, 0] = s1 * b[2] - s2 * b[1]
            M[i, 1] = s2 * b[0] - s0 * b[2]
            M[i, 2] = s0 * b[1] - s1 * b[0]
            minus_psi[i] = -psi[h, i]
        for i in range(3):
            for j in range(3):
                E[c + i, c + 3 + j] += M[i, j]
                E[c + 6 + i, c + 3 + j] -= M[i, j]
                E[c + 3 + j, c + i] += M[i, j]
                E[c + 3 + j, c + 6 + i] -= M[i, j]
                E[c + 3 + i, c + 3 + j] += u[h, i] * b[j]  # b̃ũ = u bᵀ − (u·b) I
            E[c + 3 + i, c + 3 + i] -= ub
        # ∂(Aᵀμ), ∂(Aμ) through δψ = Aᵀδθ_l − A δθ_k
        for side in range(2):
            form_gradient(0, form[h], minus_psi if side == 0 else psi[h], mu, X)
            row = c + 3 + 6 * side
            for i in range(3):
                for j in range(3):
                    on_k, on_l = 0.0, 0.0
                    for m in range(3):
                        on_k += X[i, m] * A[k + m, j]
                        on_l += X[i, m] * A[k + j, m]
                    E[row + i, c + 3 + j] -= on_k
                    E[row + i, c + 9 + j] += on_l


@kernel
def carry_end(R, offset, rotation, E, at):
    """Bring the rows and columns of one end (at ``at``) of E (18, 18) from its section frame to its node."""
    for i in range(18):
        a, b, c = E[i, at + 3], E[i, at + 4], E[i, at + 5]
        for k in range(3):
            E[i, at + 3 + k] = rotation[k, 0] * a + rotation[k, 1] * b + rotation[k, 2] * c
        add_arm_column(R, offset, E, i, at)
    for j in range(18):
        a, b, c = E[at + 3, j], E[at + 4, j], E[at + 5, j]
        for k in range(3):
            E[at + 3 + k, j] = rotation[k, 0] * a + rotation[k, 1] * b + rotation[k, 2] * c
        add_arm_row(R, offset, E, at, j)


@kernel
def carry(p, R, E, K):
    """Add a matrix E (18, 18) of the section frames to K (18, 18) of the nodes; E is overwritten."""
    if p.placed == 1:
        carry_end(R[0], p.p_A, p.S_A, E, 0)
        carry_end(R[2], p.p_B, p.S_B, E, 12)
    for i in range(18):
        for j in range(18):
            K[i, j] += E[i, j]
