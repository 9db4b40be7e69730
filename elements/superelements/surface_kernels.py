"""Kernels that hold a node on a point of a superelement, and a node in its floating frame.

F is a node of the floating frame, x_F = x̄ and R_F = R_0. That R_0 is nearest to the frames says that R_0ᵀA is
symmetric (`motion`, (1)), with r_i = R_Fᵀ(x_i − x_F), Q_i = R_FᵀR_i and ax(Q) = (Q_32 − Q_23, …):

    g_F = ( x_F − Σ a_i x_i ,  1/ℓ Σ [ a_i V_i × r_i + b_i ax(Q_i) ] ) = 0 ,     ℓ² = Σ b_i                          (1)

A point X of the body, with its rows Φ of the basis, U_i and W_i of the displacement and rotation of frame i:

    g = x − x_1 − R_F s = 0 ,  s = X − X_1 + Σ [ U_i (r_i − V_i + V_1) + W_i θ_i ] + Φ_η η ,  θ_i = log Q_i          (2)

    δr_i = R_Fᵀ(δx_i − δx_1) + r_i × δθ_F ,  δQ_i = Q_i φ̃_i ,  φ_i = δΘ_i − Q_iᵀδθ_F ,  δθ_i = T_i⁻¹ φ_i             (3)

    G      x   x_F                       θ_F                                  x_i           Θ_i           η
    (1)        1                                                              −a_i
                                  1/ℓ Σ [a_i Ṽ_i r̃_i − b_i D_i Q_iᵀ]         a_i/ℓ Ṽ_i R_Fᵀ   b_i/ℓ D_i
    (2)    1   x_1: −1 + RΣU_iRᵀ  R_F (s̃ − Σ [U_i r̃_i − W_i T_i⁻¹Q_iᵀ])     −R_F U_i R_Fᵀ  −R_F W_i T_i⁻¹  −R_F Φ_η

with D = tr(Q) 1 − Qᵀ. Σ a_i V_i = 0 and ΣU_i = 1: r_i count from the first frame. Second derivatives: those of G
in one direction, column by column.

Source: docs/theory/superelements.md, section 7; derived here and checked by finite differences.

    symbol       code              shape        unit     meaning
    a, b, V      frames            (nb, 5)      -, m²,m  weights of the floating frame and arms
    s_0          p.arm             (3,)         m        X − X_1
    U, W         basis[:, 6 i]     (3, n)       -, m     rows of the basis at the point
    nodes                                                (1): F, frames;  (2): point, F, frames, those of modes
"""

import numpy as np

from fem_mbs.jit import kernel, local_matrix, local_vector, matrix
from fem_mbs.rotations import (
    add_cross,
    add_R_skew,
    add_skew,
    add_skew_skew,
    form_matrix,
    form_rate,
    form_tangent_inverse_T,
    log_matrix,
    multiply_T,
    rotate,
    rotate_T,
)

R_, THETA, DR, PHI, DTHETA = range(5)  # rows of B: of a frame, values and derivatives
N_B = 5
Q_, TI, TIQ, DQ, DTI, DTIQ = range(6)  # of T: T⁻¹ is TI, T⁻¹Qᵀ is TIQ
N_T = 6


@kernel
def add_turned(scale, R, A, S, out, i, j):
    """Add scale R A Sᵀ of (3, 3) to the block of out that begins at (i, j)."""
    for k in range(3):
        for m in range(3):
            total = 0.0
            for a in range(3):
                for c in range(3):
                    total += R[k, a] * A[a, c] * S[m, c]
            out[i + k, j + m] += scale * total


@kernel
def add_product(scale, A, B, out, i, j):
    """Add scale A B of (3, 3) to the block of out that begins at (i, j)."""
    for k in range(3):
        for m in range(3):
            out[i + k, j + m] += scale * (A[k, 0] * B[0, m] + A[k, 1] * B[1, m] + A[k, 2] * B[2, m])


@kernel
def add_product_T(scale, A, B, out, i, j):
    """Add scale A Bᵀ of (3, 3) to the block of out that begins at (i, j)."""
    for k in range(3):
        for m in range(3):
            out[i + k, j + m] += scale * (A[k, 0] * B[m, 0] + A[k, 1] * B[m, 1] + A[k, 2] * B[m, 2])


@kernel
def place_apart(x, R, first, origin, i, B, T):
    """Fill r_i, from a node ``origin``, and Q_i of frame i; node F is the one before ``first``, the first of them."""
    arm = local_vector(3)
    for k in range(3):
        arm[k] = x[first + i, k] - x[origin, k]
    rotate_T(R[first - 1], arm, B[R_])
    multiply_T(R[first - 1], R[first + i], T[Q_])


@kernel
def move_apart(dq, R, first, origin, i, B, T):
    """Fill δr_i, φ_i and δQ_i of (3) for variations dq (nd,) of all nodes."""
    at, F = 6 * (first + i), 6 * (first - 1)
    arm, turn = local_vector(3), dq[F + 3 : F + 6]
    for k in range(3):
        arm[k] = dq[at + k] - dq[6 * origin + k]
    rotate_T(R[first - 1], arm, B[DR])
    add_cross(1.0, B[R_], turn, B[DR])
    rotate_T(T[Q_], turn, arm)
    phi, Q = B[PHI], T[Q_]
    for k in range(3):
        phi[k] = dq[at + 3 + k] - arm[k]
    for k in range(3):
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            T[DQ, k, m] = Q[k, n] * phi[o] - Q[k, o] * phi[n]


@kernel
def less_transpose(Q, D):
    """Fill D (3, 3) with tr(Q) 1 − Qᵀ."""
    trace = Q[0, 0] + Q[1, 1] + Q[2, 2]
    for k in range(3):
        for m in range(3):
            D[k, m] = (trace if k == m else 0.0) - Q[m, k]


@kernel
def floating(p, x, R, g, G):
    """Add (1) to g (6,) [m] and its gradient to G (6, 6 nn)."""
    nb = x.shape[0] - 1
    frames, per = matrix(p.frames_at, nb, 5), 1.0 / p.radius
    B, T, D = local_matrix(N_B, 3), np.empty((N_T, 3, 3)), local_matrix(3, 3)
    moment = local_vector(3)
    moment[:] = 0.0
    for k in range(3):
        g[k] += x[0, k]
        G[k, k] += 1.0
    for i in range(nb):
        a, b, V, at = frames[i, 0], frames[i, 1], frames[i, 2:5], 6 * (1 + i)
        place_apart(x, R, 1, 1, i, B, T)
        Q = T[Q_]
        less_transpose(Q, D)
        add_cross(a, V, B[R_], moment)
        for k in range(3):
            n, o = (k + 1) % 3, (k + 2) % 3
            moment[k] += b * (Q[o, n] - Q[n, o])
            g[k] -= a * x[1 + i, k]
            G[k, at + k] -= a
            for m in range(3):
                G[3 + k, at + 3 + m] += per * b * D[k, m]
                G[3 + k, at + m] += per * a * (V[n] * R[0, m, o] - V[o] * R[0, m, n])
        add_skew_skew(per * a, V, B[R_], G, 3, 3)
        add_product_T(-per * b, D, Q, G, 3, 3)
    for k in range(3):
        g[3 + k] += per * moment[k]


@kernel
def floating_hessian(p, x, R, H):
    """Add the derivatives of the gradient of `floating` to H (6, nd, nd)."""
    nb = x.shape[0] - 1
    nd = 6 * (1 + nb)
    frames, per = matrix(p.frames_at, nb, 5), 1.0 / p.radius
    B, T, D, dD = local_matrix(N_B, 3), np.empty((N_T, 3, 3)), local_matrix(3, 3), local_matrix(3, 3)
    dq, dG, turned = np.zeros(nd), np.zeros((3, nd)), local_matrix(3, 3)
    for j in range(3, nd):  # the place of F has no part
        dq[j] = 1.0
        dG[:, :] = 0.0
        for i in range(nb):
            if j >= 6 and j // 6 != 1 + i:
                continue
            a, b, V, at = frames[i, 0], frames[i, 1], frames[i, 2:5], 6 * (1 + i)
            place_apart(x, R, 1, 1, i, B, T)
            move_apart(dq, R, 1, 0, i, B, T)  # that the first frame moves all cancels
            less_transpose(T[Q_], D)
            less_transpose(T[DQ], dD)
            add_skew_skew(per * a, V, B[DR], dG, 0, 3)
            add_product_T(-per * b, dD, T[Q_], dG, 0, 3)
            add_product_T(-per * b, D, T[DQ], dG, 0, 3)
            turned[:, :] = 0.0
            add_skew_skew(1.0, V, dq[3:6], turned, 0, 0)
            add_product_T(-per * a, turned, R[0], dG, 0, at)
            for k in range(3):
                for m in range(3):
                    dG[k, at + 3 + m] += per * b * dD[k, m]
        for k in range(3):
            for m in range(nd):
                H[3 + k, m, j] += dG[k, m]
        dq[j] = 0.0


@kernel
def place_point(p, x, R, basis, modes_from, B, T, s):
    """Fill all of (2) and (3) that has no derivatives: per frame B[i], T[i]; and s (3,)."""
    nb = p.frames
    frames, turned = matrix(p.frames_at, nb, 5), local_matrix(3, 3)
    form = local_vector(9)
    for k in range(3):
        s[k] = p.arm[k]
    for i in range(nb):
        place_apart(x, R, 2, 2, i, B[i], T[i])
        log_matrix(T[i, Q_], B[i, THETA])
        form_tangent_inverse_T(B[i, THETA], form)
        form_matrix(form, B[i, THETA], turned)
        for k in range(3):
            for m in range(3):
                T[i, TI, k, m] = turned[m, k]
        T[i, TIQ, :, :] = 0.0
        add_product_T(1.0, T[i, TI], T[i, Q_], T[i, TIQ], 0, 0)
        for k in range(3):
            for m in range(3):
                s[k] += basis[k, 6 * i + m] * (B[i, R_, m] - frames[i, 2 + m] + frames[0, 2 + m])
                s[k] += basis[k, 6 * i + 3 + m] * B[i, THETA, m]
    for j in range(p.modes):
        for k in range(3):
            s[k] += basis[k, 6 * nb + j] * x[modes_from + j // 3, j % 3]


@kernel
def turn_point(p, dq, R, basis, modes_from, B, T, ds):
    """Fill the derivatives of what `place_point` fills, for variations dq (nd,)."""
    nb = p.frames
    rate, form, back = local_matrix(3, 3), local_vector(9), local_matrix(3, 3)
    ds[:] = 0.0
    for i in range(nb):
        move_apart(dq, R, 2, 2, i, B[i], T[i])
        rotate(T[i, TI], B[i, PHI], B[i, DTHETA])
        form_tangent_inverse_T(B[i, THETA], form)
        form_rate(form, B[i, THETA], B[i, DTHETA], rate)
        for k in range(3):
            for m in range(3):
                T[i, DTI, k, m] = rate[m, k]
        back[:, :] = 0.0
        add_product_T(1.0, T[i, DTI], T[i, Q_], back, 0, 0)
        add_product_T(1.0, T[i, TI], T[i, DQ], back, 0, 0)
        for k in range(3):
            for m in range(3):
                T[i, DTIQ, k, m] = back[k, m]
                ds[k] += basis[k, 6 * i + m] * B[i, DR, m] + basis[k, 6 * i + 3 + m] * B[i, DTHETA, m]
    for j in range(p.modes):
        for k in range(3):
            ds[k] += basis[k, 6 * nb + j] * dq[6 * (modes_from + j // 3) + j % 3]


@kernel
def turning_block(p, basis, s, B, row, T, which, out):
    """Fill out (3, 3) with s̃ − Σ [U_i r̃_i − W_i T_i⁻¹Q_iᵀ]: of values, or of derivatives by their rows of B and T."""
    part = local_matrix(3, 3)
    out[:, :] = 0.0
    add_skew(1.0, s, out, 0, 0)
    for i in range(p.frames):
        add_product(1.0, basis[:, 6 * i + 3 : 6 * i + 6], T[i, which], out, 0, 0)
        part[:, :] = 0.0
        add_skew(1.0, B[i, row], part, 0, 0)
        add_product(-1.0, basis[:, 6 * i : 6 * i + 3], part, out, 0, 0)


@kernel
def add_rotation_block(basis, i, R, A, out):
    """Add −R W_i A to the columns Θ_i of out (3, nd)."""
    part = local_matrix(3, 3)
    part[:, :] = 0.0
    add_product(1.0, basis[:, 6 * i + 3 : 6 * i + 6], A, part, 0, 0)
    add_product(-1.0, R, part, out, 0, 6 * (2 + i) + 3)


@kernel
def add_place_blocks(basis, i, R, S, out):
    """Add R U_i Sᵀ to the columns x_1 of out (3, nd), and take it from those of x_i."""
    U = basis[:, 6 * i : 6 * i + 3]
    add_turned(1.0, R, U, S, out, 0, 12)
    add_turned(-1.0, R, U, S, out, 0, 6 * (2 + i))


@kernel
def add_mode_columns(p, basis, R, out):
    """Add −R Φ_η to the columns η of out (3, nd)."""
    first = 6 * p.frames
    for j in range(p.modes):
        at = 6 * (2 + p.frames + j // 3) + j % 3
        for k in range(3):
            for c in range(3):
                out[k, at] -= R[k, c] * basis[c, first + j]


@kernel
def point(p, x, R, g, G):
    """Add (2) to g (3,) [m] and its gradient to G (3, 6 nn)."""
    nb, F = p.frames, R[1]
    basis = matrix(p.basis_at, 3, 6 * nb + p.modes)
    B, T = np.empty((nb, N_B, 3)), np.empty((nb, N_T, 3, 3))
    s, turned, turning = local_vector(3), local_vector(3), local_matrix(3, 3)
    place_point(p, x, R, basis, 2 + nb, B, T, s)
    rotate(F, s, turned)
    for k in range(3):
        g[k] += x[0, k] - x[2, k] - turned[k]
        G[k, k] += 1.0
        G[k, 12 + k] -= 1.0
    for i in range(nb):
        add_place_blocks(basis, i, F, F, G)
        add_rotation_block(basis, i, F, T[i, TI], G)
    turning_block(p, basis, s, B, R_, T, TIQ, turning)
    add_product(1.0, F, turning, G, 0, 9)
    add_mode_columns(p, basis, F, G)


@kernel
def point_hessian(p, x, R, H):
    """Add the derivatives of the gradient of `point` to H (3, nd, nd)."""
    nb, nd, F = p.frames, H.shape[1], R[1]
    basis = matrix(p.basis_at, 3, 6 * nb + p.modes)
    B, T = np.empty((nb, N_B, 3)), np.empty((nb, N_T, 3, 3))
    s, ds, dq, dG = local_vector(3), local_vector(3), np.zeros(nd), np.zeros((3, nd))
    turning, change, spun = local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    place_point(p, x, R, basis, 2 + nb, B, T, s)
    turning_block(p, basis, s, B, R_, T, TIQ, turning)
    for j in range(9, 6 * (2 + nb)):  # rotation of F, whose place has no part, and the frames
        dq[j] = 1.0
        dG[:, :] = 0.0
        turn_point(p, dq, R, basis, 2 + nb, B, T, ds)
        turning_block(p, basis, ds, B, DR, T, DTIQ, change)
        spun[:, :] = 0.0
        add_R_skew(1.0, F, dq[9:12], spun, 0, 0)  # δR_F
        for i in range(nb):
            add_rotation_block(basis, i, spun, T[i, TI], dG)
            add_rotation_block(basis, i, F, T[i, DTI], dG)
            if j < 12:
                add_place_blocks(basis, i, spun, F, dG)
                add_place_blocks(basis, i, F, spun, dG)
        add_product(1.0, spun, turning, dG, 0, 9)
        add_product(1.0, F, change, dG, 0, 9)
        if j < 12:
            add_mode_columns(p, basis, spun, dG)
        for k in range(3):
            for m in range(nd):
                H[k, m, j] += dG[k, m]
        dq[j] = 0.0
    for j in range(p.modes):  # they move s alone
        for k in range(3):
            ds[k] = basis[k, 6 * nb + j]
        spun[:, :] = 0.0
        add_R_skew(1.0, F, ds, spun, 0, 0)
        for k in range(3):
            for m in range(3):
                H[k, 9 + m, 6 * (2 + nb + j // 3) + j % 3] += spun[k, m]


@kernel
def force_on_point(p, x, R, lam, out):
    """Force [N] of the body on the node, inertial axes."""
    for k in range(3):
        out[k] += lam[k]
