"""Kernels that hold a node on a point of a superelement, and a node in its floating frame.

F is a node of the floating frame, x_F = x̄ and R_F = R_0. As R_0 is nearest to the frames, R_0ᵀA is
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

Symbols and their names in code: `data`; U_i and W_i are basis[:, 6 i : 6 i + 3] and basis[:, 6 i + 3 : 6 i + 6].
Nodes: of (1) F, frames; of (2) point, F, frames, those of the modes.
"""

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
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
def place_apart(x, R, first, origin, i, r, Q):
    """Fill r_i, from a node ``origin``, and Q_i of frame i; node F is the one before ``first``, the first of them."""
    arm = local_vector(3)
    for k in range(3):
        arm[k] = x[first + i, k] - x[origin, k]
    rotate_T(R[first - 1], arm, r)
    multiply_T(R[first - 1], R[first + i], Q)


@kernel
def move_apart(dq, R, first, origin, i, r, Q, dr, phi, dQ):
    """Fill δr_i, φ_i and δQ_i of (3) for variations dq (nd,) of all nodes."""
    at, F = 6 * (first + i), 6 * (first - 1)
    arm, turn = local_vector(3), dq[F + 3 : F + 6]
    for k in range(3):
        arm[k] = dq[at + k] - dq[6 * origin + k]
    rotate_T(R[first - 1], arm, dr)
    add_cross(1.0, r, turn, dr)
    rotate_T(Q, turn, arm)
    for k in range(3):
        phi[k] = dq[at + 3 + k] - arm[k]
    for k in range(3):
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            dQ[k, m] = Q[k, n] * phi[o] - Q[k, o] * phi[n]


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
    per, r, Q, D, moment = 1.0 / p.radius, local_vector(3), local_matrix(3, 3), local_matrix(3, 3), local_vector(3)
    moment[:] = 0.0
    for k in range(3):
        g[k] += x[0, k]
        G[k, k] += 1.0
    for i in range(p.size_nb):
        a, b, V, at = p.a[i], p.b[i], p.V[i], 6 * (1 + i)
        place_apart(x, R, 1, 1, i, r, Q)
        less_transpose(Q, D)
        add_cross(a, V, r, moment)
        for k in range(3):
            n, o = (k + 1) % 3, (k + 2) % 3
            moment[k] += b * (Q[o, n] - Q[n, o])
            g[k] -= a * x[1 + i, k]
            G[k, at + k] -= a
            for m in range(3):
                G[3 + k, at + 3 + m] += per * b * D[k, m]
                G[3 + k, at + m] += per * a * (V[n] * R[0, m, o] - V[o] * R[0, m, n])
        add_skew_skew(per * a, V, r, G, 3, 3)
        add_product_T(-per * b, D, Q, G, 3, 3)
    for k in range(3):
        g[3 + k] += per * moment[k]


@kernel
def floating_hessian(p, x, R, H):
    """Add the derivatives of the gradient of `floating` to H (6, nd, nd)."""
    nd, dq, dG, per = p.size_nd, p.dq, p.dG, 1.0 / p.radius
    r, Q, D, turned, dr, phi, dQ, dD = local_arrays("3, 3 3, 3 3, 3 3, 3, 3, 3 3, 3 3")
    dq[:] = 0.0
    for j in range(3, nd):  # the place of F has no part
        dq[j] = 1.0
        dG[:, :] = 0.0
        for i in range(p.size_nb):
            if j >= 6 and j // 6 != 1 + i:
                continue
            a, b, V, at = p.a[i], p.b[i], p.V[i], 6 * (1 + i)
            place_apart(x, R, 1, 1, i, r, Q)
            move_apart(dq, R, 1, 0, i, r, Q, dr, phi, dQ)  # that the first frame moves all cancels
            less_transpose(Q, D)
            less_transpose(dQ, dD)
            add_skew_skew(per * a, V, dr, dG, 0, 3)
            add_product_T(-per * b, dD, Q, dG, 0, 3)
            add_product_T(-per * b, D, dQ, dG, 0, 3)
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
def place_point(p, x, R, s):
    """Fill all of (2) and (3) that has no derivatives: of the frames, and s (3,)."""
    nb, basis, V, r, theta, Q = p.size_nb, p.basis, p.V, p.r, p.theta, p.Q
    turned, form = local_arrays("3 3, 9")
    for k in range(3):
        s[k] = p.arm[k]
    for i in range(nb):
        T_inv, T_inv_Q_T = p.T_inv[i], p.T_inv_Q_T[i]
        place_apart(x, R, 2, 2, i, r[i], Q[i])
        log_matrix(Q[i], theta[i])
        form_tangent_inverse_T(theta[i], form)
        form_matrix(form, theta[i], turned)
        for k in range(3):
            for m in range(3):
                T_inv[k, m] = turned[m, k]
        T_inv_Q_T[:, :] = 0.0
        add_product_T(1.0, T_inv, Q[i], T_inv_Q_T, 0, 0)
        for k in range(3):
            for m in range(3):
                s[k] += basis[k, 6 * i + m] * (r[i, m] - V[i, m] + V[0, m])
                s[k] += basis[k, 6 * i + 3 + m] * theta[i, m]
    for j in range(p.modes):
        for k in range(3):
            s[k] += basis[k, 6 * nb + j] * x[2 + nb + j // 3, j % 3]


@kernel
def turn_point(p, dq, R, ds):
    """Fill the derivatives of what `place_point` fills, for variations dq (nd,)."""
    nb, basis, dr, dtheta = p.size_nb, p.basis, p.dr, p.dtheta
    rate, form = local_arrays("3 3, 9")
    ds[:] = 0.0
    for i in range(nb):
        Q, dQ, theta, T_inv, dT_inv, dT_inv_Q_T = p.Q[i], p.dQ[i], p.theta[i], p.T_inv[i], p.dT_inv[i], p.dT_inv_Q_T[i]
        move_apart(dq, R, 2, 2, i, p.r[i], Q, dr[i], p.phi[i], dQ)
        rotate(T_inv, p.phi[i], dtheta[i])
        form_tangent_inverse_T(theta, form)
        form_rate(form, theta, dtheta[i], rate)
        for k in range(3):
            for m in range(3):
                dT_inv[k, m] = rate[m, k]
        dT_inv_Q_T[:, :] = 0.0
        add_product_T(1.0, dT_inv, Q, dT_inv_Q_T, 0, 0)
        add_product_T(1.0, T_inv, dQ, dT_inv_Q_T, 0, 0)
        for k in range(3):
            for m in range(3):
                ds[k] += basis[k, 6 * i + m] * dr[i, m] + basis[k, 6 * i + 3 + m] * dtheta[i, m]
    for j in range(p.modes):
        for k in range(3):
            ds[k] += basis[k, 6 * nb + j] * dq[6 * (2 + nb + j // 3) + j % 3]


@kernel
def turning_block(basis, s, r, T_inv_Q_T, out):
    """Fill out (3, 3) with s̃ − Σ [U_i r̃_i − W_i T_i⁻¹Q_iᵀ], of values or of derivatives."""
    part = local_matrix(3, 3)
    out[:, :] = 0.0
    add_skew(1.0, s, out, 0, 0)
    for i in range(r.shape[0]):
        add_product(1.0, basis[:, 6 * i + 3 : 6 * i + 6], T_inv_Q_T[i], out, 0, 0)
        part[:, :] = 0.0
        add_skew(1.0, r[i], part, 0, 0)
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
def add_mode_columns(p, R, out):
    """Add −R Φ_η to the columns η of out (3, nd)."""
    first, basis = 6 * p.size_nb, p.basis
    for j in range(p.modes):
        at = 6 * (2 + p.size_nb + j // 3) + j % 3
        for k in range(3):
            for c in range(3):
                out[k, at] -= R[k, c] * basis[c, first + j]


@kernel
def point(p, x, R, g, G):
    """Add (2) to g (3,) [m] and its gradient to G (3, 6 nn)."""
    F, basis, T_inv = R[1], p.basis, p.T_inv
    s, turned, turning = local_arrays("3, 3, 3 3")
    place_point(p, x, R, s)
    rotate(F, s, turned)
    for k in range(3):
        g[k] += x[0, k] - x[2, k] - turned[k]
        G[k, k] += 1.0
        G[k, 12 + k] -= 1.0
    for i in range(p.size_nb):
        add_place_blocks(basis, i, F, F, G)
        add_rotation_block(basis, i, F, T_inv[i], G)
    turning_block(basis, s, p.r, p.T_inv_Q_T, turning)
    add_product(1.0, F, turning, G, 0, 9)
    add_mode_columns(p, F, G)


@kernel
def point_hessian(p, x, R, H):
    """Add the derivatives of the gradient of `point` to H (3, nd, nd)."""
    nb, nd, F, basis, dq, dG = p.size_nb, p.size_nd, R[1], p.basis, p.dq, p.dG
    s, ds, turning, change, spun = local_arrays("3, 3, 3 3, 3 3, 3 3")
    dq[:] = 0.0
    place_point(p, x, R, s)
    turning_block(basis, s, p.r, p.T_inv_Q_T, turning)
    for j in range(9, 6 * (2 + nb)):  # rotation of F, whose place has no part, and the frames
        dq[j] = 1.0
        dG[:, :] = 0.0
        turn_point(p, dq, R, ds)
        turning_block(basis, ds, p.dr, p.dT_inv_Q_T, change)
        spun[:, :] = 0.0
        add_R_skew(1.0, F, dq[9:12], spun, 0, 0)  # δR_F
        for i in range(nb):
            add_rotation_block(basis, i, spun, p.T_inv[i], dG)
            add_rotation_block(basis, i, F, p.dT_inv[i], dG)
            if j < 12:
                add_place_blocks(basis, i, spun, F, dG)
                add_place_blocks(basis, i, F, spun, dG)
        add_product(1.0, spun, turning, dG, 0, 9)
        add_product(1.0, F, change, dG, 0, 9)
        if j < 12:
            add_mode_columns(p, spun, dG)
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
