"""Elastic part of the three-pose beam: two helical halves A-M, M-B with one section law (`beams.law`).

In coordinates q = (u₁, ψ₁, u₂, ψ₂) of the two segments (`beams.segment`), ℓ = L/2, s from the law:

    s_h = 2 (Jᵀ s)_h,   (b, μ)_h = Q_hᵀ s_h                                forces by (3) of `beams.segment`          (1)
    H = (L/ℓ²) Qᵀ Jᵀ C_ab J Q + second derivatives of (a, b) and of ℓε_h with s, s_h                              (2)
    K = Pᵀ H P + turning of the forces,    P: (2) of `beams.segment` for both halves                               (3)

The second derivative of a: ∂²(L s·a)/∂ε₁∂ε₂ = (L²/24) X, X = [0 ñ; ñ m̃] of the first six of s.

Damping: s gets C_v (ȧ, ḃ), (ȧ, ḃ) = J (ε̇₁, ε̇₂) of the velocities; nothing for rigid motion                        (4)

The 18 components belong to the section frames A, M, B until `carry` brings them to the nodes.

Source: docs/theory/beams.md, sections 1-4; mixed iteration: Magisano, Leonetti & Garcea 2017.

    symbol    code        shape            meaning
    y, S      y, S        (3, 3), (9, 3)   section frames A, M, B
    u, ψ      u, psi      (2, 3)           of the halves; A, D (6, 3), form (2, 9) one below the other
    ε₁, ε₂    eps         (12,)            strains of the halves
"""

import numpy as np

from fem_mbs.elements.beams.law import (
    factor,
    half_stresses,
    law_operator,
    law_tangent,
    mean_and_slope,
    mean_and_slope_rates,
    slope_operator,
    solve,
    stress,
)
from fem_mbs.elements.beams.segment import (
    add_arm_column,
    add_arm_row,
    add_arm_turning,
    add_arm_velocity,
    add_end_force,
    conjugates,
    end_rates,
    rate_gradient,
    section_frame,
    segment_pose,
    segment_rates,
)
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.rotations import add_cross, form_gradient, form_hessian, rotate, rotate_T

PARAMETERS = np.dtype(
    [
        ("length", "f8"),
        ("p_A", "f8", (3,)),  # section frames at the ends in the axes of their nodes; at M they are the node's
        ("S_A", "f8", (3, 3)),
        ("p_B", "f8", (3,)),
        ("S_B", "f8", (3, 3)),
        ("placed", "i8"),  # 1 if a section frame at an end is not that of its node
        ("strain0", "f8", (12,)),
        ("Phi", "f8", (12, 12)),
        ("X", "f8", (12, 3)),
        ("F2", "f8", (3, 3)),
        ("tapered", "i8"),
        ("damped", "i8"),
        ("C_v", "f8", (12, 12)),
        # inertia, see beams/inertia.py
        ("m", "f8", (6, 6)),
        ("arms", "f8", (3, 2, 3)),
        ("off_axis", "i8"),
        ("J", "f8", (3, 3, 3, 3)),
    ]
)


# --- kinematics ---------------------------------------------------------------------------------------------------


@kernel
def section_frames(p, x, R, y, S):
    """Fill the section frames y (3, 3), S (9, 3) of A, M, B."""
    section_frame(x[0], R[0], p.p_A, p.S_A, y[0], S[0:3])
    section_frame(x[2], R[2], p.p_B, p.S_B, y[2], S[6:9])
    for i in range(3):
        y[1, i] = x[1, i]
        for j in range(3):
            S[3 + i, j] = R[1, i, j]


@kernel
def halves(p, x, R, S, u, psi, form, A, eps):
    """Fill section rotations S (9, 3), relative poses u, ψ (2, 3), forms (2, 9), A (6, 3) and strains (12,)."""
    y = local_matrix(3, 3)
    section_frames(p, x, R, y, S)
    for h in range(2):
        k, m = 3 * h, 3 * h + 3
        segment_pose(
            0.5 * p.length, y[h], S[k:m], y[h + 1], S[m : m + 3], u[h], psi[h], form[h], A[k:m], eps[6 * h : 6 * h + 6]
        )


@kernel
def gradients(u, psi, form, D):
    """Fill D (6, 3) of both halves."""
    for h in range(2):
        form_gradient(0, form[h], psi[h], u[h], D[3 * h : 3 * h + 3])


@kernel
def half_rates(p, R, v, S, u, A, D, d, theta, du, dpsi, rate):
    """Fill the strain rates (12,) of both halves; d, du, dpsi (2, 3) of them, spins theta (3, 3) of A, M, B."""
    dy = local_matrix(3, 3)
    end_rates(R[0], S[0:3], v[0:3], v[3:6], p.p_A, dy[0], theta[0])
    end_rates(R[2], S[6:9], v[12:15], v[15:18], p.p_B, dy[2], theta[2])
    for i in range(3):
        dy[1, i], theta[1, i] = v[6 + i], v[9 + i]
    for h in range(2):
        k, m = 3 * h, 3 * h + 3
        segment_rates(
            0.5 * p.length, S[k:m], dy[h], theta[h], dy[h + 1], theta[h + 1], u[h], A[k:m], D[k:m], d[h], du[h],
            dpsi[h], rate[6 * h : 6 * h + 6],
        )  # fmt: skip


@kernel
def pull(p, eps, A, D, s, t, q):
    """Fill t (12,) with the stresses of the halves that s (12,) gives, q (12,) with their b₁, μ₁, b₂, μ₂ (1)."""
    half_stresses(p, eps, s, t)
    for h in range(2):
        k, m = 3 * h, 6 * h
        conjugates(A[k : k + 3], D[k : k + 3], t[m : m + 6], q[m : m + 3], q[m + 3 : m + 6])


@kernel
def spread(S, u, A, q, row):
    """Add Pᵀ q to row (18,): what b₁, μ₁, b₂, μ₂ are on the section frames."""
    force, moment = local_vector(3), local_vector(3)
    for h in range(2):
        k, c, m = 3 * h, 6 * h, 3 * h + 3
        b, mu = q[c : c + 3], q[c + 3 : c + 6]
        rotate(S[k:m], b, force)
        rotate_T(A[k:m], mu, moment)
        add_cross(1.0, u[h], b, moment)
        for i in range(3):
            row[c + i] -= force[i]
            row[c + 3 + i] -= moment[i]
            row[c + 6 + i] += force[i]
        rotate(A[k:m], mu, moment)
        for i in range(3):
            row[c + 9 + i] += moment[i]


# --- tangent ------------------------------------------------------------------------------------------------------


@kernel
def pull_half(c, d, other, A, D, X, Y, first):
    """Rows first … first + 5 of Y (12, 12): (1) of one half for all columns of X (12, 12), scaled as `half_stresses`.

    c = ±4/L and d = ±L/12 with the strains of the other half; straight-line code over contiguous columns, which the
    compiler turns into vector instructions.
    """
    g0, g1, g2 = d * other[0], d * other[1], d * other[2]
    k0, k1, k2 = d * other[3], d * other[4], d * other[5]
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = (
        A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]
    )  # fmt: skip
    d00, d01, d02, d10, d11, d12, d20, d21, d22 = (
        D[0, 0], D[0, 1], D[0, 2], D[1, 0], D[1, 1], D[1, 2], D[2, 0], D[2, 1], D[2, 2]
    )  # fmt: skip
    for j in range(12):
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
def add_law(p, eps, A, D, C, H):
    """Add (L/ℓ²) Qᵀ Jᵀ C J Q to H (12, 12), C (12, 12) symmetric and overwritten."""
    c, d = 4.0 / p.length, p.length / 12.0
    T = local_matrix(12, 12)
    pull_half(-c, d, eps[6:12], A[0:3], D[0:3], C, T, 0)
    pull_half(c, -d, eps[0:6], A[3:6], D[3:6], C, T, 6)
    for i in range(12):
        for j in range(12):
            C[i, j] = T[j, i]
    pull_half(-c, d, eps[6:12], A[0:3], D[0:3], C, T, 0)
    pull_half(c, -d, eps[0:6], A[3:6], D[3:6], C, T, 6)
    for i in range(12):
        for j in range(12):
            H[i, j] += T[i, j] / p.length


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
    N, Y = local_matrix(3, 3), local_matrix(3, 3)
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
def spread_half(S, u, A, X, Y, n, h):
    """Add what half h gives to the rows of Y (18, n): Pᵀ X (12, n), as `spread`; straight-line code over columns."""
    c = 6 * h
    u0, u1, u2 = u[h, 0], u[h, 1], u[h, 2]
    S, A = S[3 * h : 3 * h + 3], A[3 * h : 3 * h + 3]
    s00, s01, s02, s10, s11, s12, s20, s21, s22 = (
        S[0, 0], S[0, 1], S[0, 2], S[1, 0], S[1, 1], S[1, 2], S[2, 0], S[2, 1], S[2, 2]
    )  # fmt: skip
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = (
        A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]
    )  # fmt: skip
    for j in range(n):
        b0, b1, b2 = X[c, j], X[c + 1, j], X[c + 2, j]
        m0, m1, m2 = X[c + 3, j], X[c + 4, j], X[c + 5, j]
        f0 = s00 * b0 + s01 * b1 + s02 * b2
        f1 = s10 * b0 + s11 * b1 + s12 * b2
        f2 = s20 * b0 + s21 * b1 + s22 * b2
        Y[c, j] -= f0
        Y[c + 1, j] -= f1
        Y[c + 2, j] -= f2
        Y[c + 3, j] -= a00 * m0 + a10 * m1 + a20 * m2 + u1 * b2 - u2 * b1
        Y[c + 4, j] -= a01 * m0 + a11 * m1 + a21 * m2 + u2 * b0 - u0 * b2
        Y[c + 5, j] -= a02 * m0 + a12 * m1 + a22 * m2 + u0 * b1 - u1 * b0
        Y[c + 6, j] += f0
        Y[c + 7, j] += f1
        Y[c + 8, j] += f2
        Y[c + 9, j] += a00 * m0 + a01 * m1 + a02 * m2
        Y[c + 10, j] += a10 * m0 + a11 * m1 + a12 * m2
        Y[c + 11, j] += a20 * m0 + a21 * m1 + a22 * m2


@kernel
def add_to_frames(S, u, A, H, E):
    """Add Pᵀ H P to E (18, 18), H (12, 12) symmetric."""
    M, T = local_matrix(18, 12), local_matrix(12, 18)
    M[:, :] = 0.0
    spread_half(S, u, A, H, M, 12, 0)
    spread_half(S, u, A, H, M, 12, 1)
    for i in range(12):
        for j in range(18):
            T[i, j] = M[j, i]
    spread_half(S, u, A, T, E, 18, 0)
    spread_half(S, u, A, T, E, 18, 1)


@kernel
def add_turning(S, u, psi, form, A, q, E):
    """Add what the turning of the forces b, μ of q (12,) with the frames adds to E (18, 18)."""
    M, X, minus_psi = local_matrix(3, 3), local_matrix(3, 3), local_vector(3)
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
def carry_rows(p, R, f_sections, f):
    """Add forces (18,) on the section frames to f (18,) of the nodes."""
    if p.placed == 0:
        for i in range(18):
            f[i] += f_sections[i]
        return
    for i in range(6, 12):
        f[i] += f_sections[i]
    add_end_force(R[0], p.p_A, p.S_A, f_sections[0:3], f_sections[3:6], f, 0)
    add_end_force(R[2], p.p_B, p.S_B, f_sections[12:15], f_sections[15:18], f, 12)


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


# --- damping ------------------------------------------------------------------------------------------------------


@kernel
def viscous_stress(p, ab_rate, s_v):
    """Fill s_v (12,) with C_v (ȧ, ḃ)."""
    for i in range(12):
        s_v[i] = 0.0
        for k in range(12):
            s_v[i] += p.C_v[i, k] * ab_rate[k]


@kernel
def add_damping_matrix(p, R, S, u, A, D, eps, B):
    """Add the damping matrix ∂f/∂v to B (18, 18)."""
    H, E, C_v = local_matrix(12, 12), local_matrix(18, 18), local_matrix(12, 12)
    H[:, :] = 0.0
    E[:, :] = 0.0
    for i in range(12):
        for j in range(12):
            C_v[i, j] = p.C_v[i, j]
    add_law(p, eps, A, D, C_v, H)
    add_to_frames(S, u, A, H, E)
    carry(p, R, E, B)


@kernel
def damping_alone(p, x, R, C):
    """Add C = −∂f/∂v (18, 18) of `force`."""
    S, u, psi, form = local_matrix(9, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 9)
    A, D, eps = local_matrix(6, 3), local_matrix(6, 3), local_vector(12)
    if p.damped == 0:
        return
    halves(p, x, R, S, u, psi, form, A, eps)
    gradients(u, psi, form, D)
    add_damping_matrix(p, R, S, u, A, D, eps, C)


@kernel
def add_damping(p, R, v, S, u, psi, form, A, D, eps, rate, d, theta, du, dpsi, K, C):
    """Add the damping matrix to C (18, 18), and to K what (ȧ, ḃ) changes with the pose at fixed velocities."""
    E, B = local_matrix(18, 18), local_matrix(18, 18)
    B[:, :] = 0.0
    add_damping_matrix(p, R, S, u, A, D, eps, B)
    if p.placed == 1:
        add_arm_velocity(R[0], p.p_A, v[3:6], B, K, 0)
        add_arm_velocity(R[2], p.p_B, v[15:18], B, K, 12)
    for i in range(18):
        for j in range(18):
            C[i, j] += B[i, j]
    # ∂(ȧ, ḃ) over columns (u₁, ψ₁, u₂, ψ₂, θ_A, θ_M)
    Z, T, rates, viscous = local_matrix(6, 9), local_matrix(12, 18), local_matrix(12, 18), local_matrix(12, 18)
    of_rate, of_pose = local_vector(12), local_vector(12)
    ab, other, t, q = local_vector(12), local_vector(12), local_vector(12), local_vector(12)
    scale = 2.0 / p.length
    for h in range(2):
        k, m = 3 * h, 3 * h + 3
        rate_gradient(A[k:m], D[k:m], u[h], psi[h], form[h], d[h], theta[h], theta[h + 1], du[h], dpsi[h], Z)
        for j in range(9):
            for i in range(12):
                of_rate[i], of_pose[i] = 0.0, 0.0
            for i in range(6):
                of_rate[6 * h + i] = scale * Z[i, j]
            # ∂ε of the same half: columns of Q/ℓ; a turns with the other's rate through ad
            for i in range(3):
                if j < 3:
                    of_pose[6 * h + i] = scale * A[k + i, j]
                elif j < 6:
                    of_pose[6 * h + i] = scale * D[k + i, j - 3]
            if 3 <= j < 6:
                of_pose[6 * h + j] = scale
            mean_and_slope_rates(p, eps, of_rate, ab)
            mean_and_slope_rates(p, rate, of_pose, other)
            for i in range(6):  # of J only the part with ad depends on the strains
                ab[i] += other[i] - 0.5 * (of_pose[i] + of_pose[6 + i])
            column = 6 * h + j if j < 6 else 12 + 3 * h + j - 6
            for i in range(12):
                rates[i, column] = ab[i]
    for i in range(12):
        for j in range(18):
            viscous[i, j] = 0.0
        for k in range(12):
            c_v = p.C_v[i, k]
            for j in range(18):
                viscous[i, j] += c_v * rates[k, j]
    for j in range(18):
        for i in range(12):
            other[i] = viscous[i, j]
        pull(p, eps, A, D, other, t, q)
        for i in range(12):
            T[i, j] = q[i]
    E[:, :] = 0.0
    M = local_matrix(12, 18)
    M[:, :] = 0.0
    for i in range(12):
        spread(S, u, A, T[i, 0:12], M[i])
        for j in range(3):
            M[i, 3 + j] += T[i, 12 + j]
            M[i, 9 + j] += T[i, 15 + j]
    spread_half(S, u, A, M, E, 18, 0)
    spread_half(S, u, A, M, E, 18, 1)
    carry(p, R, E, K)


# --- kernels of the contract --------------------------------------------------------------------------------------


@kernel
def force(p, x, R, v, f):
    """Add the forces (1) with damping (4) to f (18,)."""
    ab, G, w, s_v = local_vector(12), local_matrix(3, 12), local_vector(12), local_vector(12)
    force_and_law(p, x, R, v, f, ab, G, w, s_v)


@kernel
def force_and_law(p, x, R, v, f, ab, G, w, s_v):
    """`force`, and what it finds on the way: fill a, b (12,), G (3, 12), section forces w (12,), C_v (ȧ, ḃ) in s_v."""
    S, u, psi, form = local_matrix(9, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 9)
    A, D, eps = local_matrix(6, 3), local_matrix(6, 3), local_vector(12)
    e, U, P = local_vector(12), local_matrix(12, 3), local_matrix(12, 12)
    r, rest, s, t, q = local_vector(3), local_vector(12), local_vector(12), local_vector(12), local_vector(12)
    row = local_vector(18)
    halves(p, x, R, S, u, psi, form, A, eps)
    gradients(u, psi, form, D)
    mean_and_slope(p, eps, ab, e)
    slope_operator(p, ab, G, U)
    factor(p, G, U, P)
    for i in range(12):
        w[i], s_v[i] = e[i], 0.0
    solve(P, w)
    stress(p, G, e, w, r, rest, s)
    if p.damped == 1:
        d, du, dpsi, theta = local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(3, 3)
        half_rates(p, R, v, S, u, A, D, d, theta, du, dpsi, rest)
        mean_and_slope_rates(p, eps, rest, t)
        viscous_stress(p, t, s_v)
        for i in range(12):
            s[i] += s_v[i]
    pull(p, eps, A, D, s, t, q)
    row[:] = 0.0
    spread(S, u, A, q, row)
    for i in range(18):
        row[i] = -row[i]
    carry_rows(p, R, row, f)


@kernel
def linearise(p, x, R, v, solve_law, w, f, K, C):
    """Add f, K, C of the mixed iteration at section forces w (12,); with ``solve_law`` = 1 w is found first."""
    S, u, psi, form = local_matrix(9, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 9)
    A, D, eps = local_matrix(6, 3), local_matrix(6, 3), local_vector(12)
    ab, e, G, U, P = local_vector(12), local_vector(12), local_matrix(3, 12), local_matrix(12, 3), local_matrix(12, 12)
    r, rest, s, t, q = local_vector(3), local_vector(12), local_vector(12), local_vector(12), local_vector(12)
    Lam, C_ab, H, E, row = (
        local_matrix(12, 12), local_matrix(12, 12), local_matrix(12, 12), local_matrix(18, 18), local_vector(18)
    )  # fmt: skip
    halves(p, x, R, S, u, psi, form, A, eps)
    gradients(u, psi, form, D)
    mean_and_slope(p, eps, ab, e)
    slope_operator(p, ab, G, U)
    factor(p, G, U, P)
    if solve_law == 1:
        for i in range(12):
            w[i] = e[i]
        solve(P, w)
    stress(p, G, e, w, r, rest, s)
    law_operator(p, w, r, U, Lam)
    law_tangent(p, w, P, Lam, C_ab)
    solve(P, rest)
    H[:, :] = 0.0
    add_law(p, eps, A, D, C_ab, H)
    s_force = e  # from here on
    for i in range(12):
        s_force[i] = s[i]
        for k in range(12):
            s_force[i] += Lam[k, i] * rest[k]
    if p.damped == 1:
        d, du, dpsi, theta = local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(3, 3)
        half_rates(p, R, v, S, u, A, D, d, theta, du, dpsi, rest)
        mean_and_slope_rates(p, eps, rest, ab)
        viscous_stress(p, ab, t)
        for i in range(12):
            s[i] += t[i]
            s_force[i] += t[i]
        add_damping(p, R, v, S, u, psi, form, A, D, eps, rest, d, theta, du, dpsi, K, C)
    # forces
    pull(p, eps, A, D, s_force, t, q)
    row[:] = 0.0
    spread(S, u, A, q, row)
    for i in range(18):
        row[i] = -row[i]
    carry_rows(p, R, row, f)
    # tangent
    pull(p, eps, A, D, s, t, q)
    add_bending(A, D, u, psi, form, s, t, H)
    E[:, :] = 0.0
    add_to_frames(S, u, A, H, E)
    add_turning(S, u, psi, form, A, q, E)
    carry(p, R, E, K)
    if p.placed == 1:
        rotate(S[0:3], q[0:3], r)
        add_arm_turning(-1.0, R[0], p.p_A, r, K, 3)
        rotate(S[3:6], q[6:9], r)
        add_arm_turning(1.0, R[2], p.p_B, r, K, 15)


@kernel
def force_tangent(p, x, R, v, needs_K, K, C):
    """Add K = −∂f/∂q and C = −∂f/∂v (18, 18) of `force`."""
    if needs_K == 0.0:
        damping_alone(p, x, R, C)
        return
    w, f = local_vector(12), local_vector(18)
    linearise(p, x, R, v, 1, w, f, K, C)


@kernel
def mixed(p, x, R, v, state, f, K, C):
    """Add f, K, C of the mixed iteration at the kept section forces ``state`` (12,)."""
    linearise(p, x, R, v, 0, state, f, K, C)


@kernel
def update(p, x, R, state, delta):
    """Advance the section forces ``state`` (12,) by (8) of `beams.law` for the variation delta (18,) of the nodes."""
    S, u, psi, form = local_matrix(9, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 9)
    A, D, eps = local_matrix(6, 3), local_matrix(6, 3), local_vector(12)
    ab, e, G, U, P = local_vector(12), local_vector(12), local_matrix(3, 12), local_matrix(12, 3), local_matrix(12, 12)
    r, rest, s, Lam = local_vector(3), local_vector(12), local_vector(12), local_matrix(12, 12)
    d, du, dpsi, theta = local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(3, 3)
    halves(p, x, R, S, u, psi, form, A, eps)
    gradients(u, psi, form, D)
    mean_and_slope(p, eps, ab, e)
    slope_operator(p, ab, G, U)
    factor(p, G, U, P)
    stress(p, G, e, state, r, rest, s)
    law_operator(p, state, r, U, Lam)
    half_rates(p, R, delta, S, u, A, D, d, theta, du, dpsi, s)
    mean_and_slope_rates(p, eps, s, ab)
    for i in range(12):
        for k in range(12):
            rest[i] += Lam[i, k] * ab[k]
    solve(P, rest)
    for i in range(12):
        state[i] += rest[i]


@kernel
def initial(p, x, R, state):
    """Fill the section forces ``state`` (12,) that belong to the configuration."""
    ab = local_vector(12)
    section_forces(p, x, R, ab, state)


@kernel
def section_forces(p, x, R, ab, w):
    """Fill a, b (12,) and the section forces w (12,) of a configuration; returns the strain energy [J]."""
    S, u, psi, form = local_matrix(9, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 9)
    A, eps, e = local_matrix(6, 3), local_vector(12), local_vector(12)
    G, U, P = local_matrix(3, 12), local_matrix(12, 3), local_matrix(12, 12)
    halves(p, x, R, S, u, psi, form, A, eps)
    mean_and_slope(p, eps, ab, e)
    slope_operator(p, ab, G, U)
    factor(p, G, U, P)
    for i in range(12):
        w[i] = e[i]
    solve(P, w)
    energy = 0.0
    for i in range(12):
        energy += 0.5 * p.length * w[i] * e[i]
    return energy
