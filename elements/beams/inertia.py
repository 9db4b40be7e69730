"""Inertia of beams: translation by a field of two vectors per node, rotation by the angular velocities of the nodes.

The vectors z = (y_A, t_A, y_M, t_M, …) are the places and the tangents (times L) of the section frames at the nodes,
two or three of them. Each is fixed to its node k, i = 2k (y, ε = 1) or 2k + 1 (t, ε = 0):

    z_i = ε_i x_k + R_k c_i,   z̈_i = ε_i ẍ_k + R_k (Ω̇_k × c_i + Ω_k × (Ω_k × c_i))                             (1)
    T = ½ Σ_ij m_ij ż_i·ż_j + ½ Σ_kl Ω_k·J_kl Ω_l                                                                 (2)
    rows  x_k: Σ_i ε_i F_i    θ_k: Σ_i c_i × R_kᵀF_i + π̇_k + Ω_k × π_k                                            (3)
          F_i = Σ_j m_ij z̈_j,  π_k = Σ_l J_kl Ω_l
    ∂z̈_i/∂θ_k = −R_k (Ω̇×c + Ω×(Ω×c))~,   ∂z̈_i/∂Ω_k = −R_k [(Ω×c)~ + Ω̃c̃],   ∂z̈_i/∂Ω̇_k = −R_k c̃            (4)
    ∂(3)/∂θ_k at fixed F:  Σ_i c̃_i (R_kᵀF_i)~                                                                     (5)

Gravity is the same field with z̈ = −g for the places and 0 for the tangents. The numbers m_ij and J_kl, integrals of
products of shape functions once and for all, are in `beams.shapes`.

Source: docs/theory/beams.md, section 5.

    symbol    code     shape             unit    meaning
    n                                    -       nodes of the element
    c_i       p.arms   (n, 2, 3)         m       arms of y and t, node axes; p.off_axis = 1 if an arm of y is not zero
    m_ij      p.m      (2n, 2n)          kg
    J_kl      p.J      (n, n, 3, 3)      kg m²   rotary inertia, node axes of both
    z̈         z, y     (2n, 3)           m/s²    its parts from accelerations; from velocities and gravity
"""

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import add_cross, add_R_skew, add_rotated, add_skew, add_skew_skew, cross, rotate, rotate_T


@kernel
def accelerations(p, R, v, a, gravity, z, y):
    """Fill z and y (≤ 6, 3) with the two parts of (1) of all nodes."""
    c, d, e = local_arrays("3, 3, 3")
    for n in range(len(p.arms)):
        w, alpha = v[6 * n + 3 : 6 * n + 6], a[6 * n + 3 : 6 * n + 6]
        for k in range(2):
            i = 2 * n + k
            for j in range(3):
                c[j] = p.arms[n, k, j]
                z[i, j] = a[6 * n + j] if k == 0 else 0.0
                y[i, j] = -gravity[j] if k == 0 else 0.0
            if k == 0 and p.off_axis == 0:
                continue
            cross(alpha, c, d)
            add_rotated(1.0, R[n], d, z[i])
            cross(w, c, d)
            cross(w, d, e)
            add_rotated(1.0, R[n], e, y[i])


@kernel
def weighted(p, z, F):
    """Fill F (≤ 6, 3) with Σ_j m_ij z_j."""
    for i in range(len(p.m)):
        for k in range(3):
            F[i, k] = 0.0
        for j in range(len(p.m)):
            for k in range(3):
                F[i, k] += p.m[i, j] * z[j, k]


@kernel
def add_rows(sign, p, R, F, f):
    """Add sign times the rows (3), without rotary inertia, to f."""
    local = local_vector(3)
    for n in range(len(p.arms)):
        row = 6 * n
        for i in range(3):
            f[row + i] += sign * F[2 * n, i]
        for k in range(2):
            if k == 0 and p.off_axis == 0:
                continue
            rotate_T(R[n], F[2 * n + k], local)
            for i in range(3):
                j, m = (i + 1) % 3, (i + 2) % 3
                f[row + 3 + i] += sign * (p.arms[n, k, j] * local[m] - p.arms[n, k, m] * local[j])


@kernel
def momentum(p, k, spins, pi):
    """Fill π_k (3,) of the vectors at the places of the angular velocities in ``spins`` (6 n,)."""
    for i in range(3):
        pi[i] = 0.0
        for n in range(len(p.arms)):
            for j in range(3):
                pi[i] += p.J[k, n, i, j] * spins[6 * n + 3 + j]


@kernel
def inertia(p, R, v, a, gravity, Ma, f):
    """Add the acceleration part of (3) to Ma (6 n,), minus the rest and gravity to f (6 n,)."""
    z, y, F, pi = local_arrays("6 3, 6 3, 6 3, 3")
    accelerations(p, R, v, a, gravity, z, y)
    weighted(p, z, F)
    add_rows(1.0, p, R, F, Ma)
    weighted(p, y, F)
    add_rows(-1.0, p, R, F, f)
    for n in range(len(p.arms)):
        momentum(p, n, a, pi)
        for i in range(3):
            Ma[6 * n + 3 + i] += pi[i]
        momentum(p, n, v, pi)
        add_cross(-1.0, v[6 * n + 3 : 6 * n + 6], pi, f[6 * n + 3 : 6 * n + 6])


@kernel
def add_coupling(p, R, S, n, symmetric, out):
    """Add what ∂z̈_j = −S_j of node n does to the rows (3), in its block column of rotations of out (6 n, 6 n).

    S (6, 3) holds S_j of the two vectors of the node. With ``symmetric`` = 1 the (θ, x) blocks get the transpose of
    the (x, θ) blocks.
    """
    X = local_matrix(3, 3)
    column, first = 6 * n + 3, 2 * n
    for i in range(len(p.m)):
        k = i // 2
        if i % 2 == 0 or p.off_axis == 1:
            for r in range(3):
                for c in range(3):
                    X[r, c] = p.m[i, first] * S[r, c] + p.m[i, first + 1] * S[3 + r, c]
        else:
            for r in range(3):
                for c in range(3):
                    X[r, c] = p.m[i, first + 1] * S[3 + r, c]
        if i % 2 == 0:
            row = 6 * k
            for r in range(3):
                for c in range(3):
                    out[row + r, column + c] -= X[r, c]
                    if symmetric == 1:
                        out[column + c, row + r] -= X[r, c]
            if p.off_axis == 0:
                continue
        row = 6 * k + 3
        c0, c1, c2 = p.arms[k, i % 2, 0], p.arms[k, i % 2, 1], p.arms[k, i % 2, 2]
        for c in range(3):
            y0 = R[k, 0, 0] * X[0, c] + R[k, 1, 0] * X[1, c] + R[k, 2, 0] * X[2, c]
            y1 = R[k, 0, 1] * X[0, c] + R[k, 1, 1] * X[1, c] + R[k, 2, 1] * X[2, c]
            y2 = R[k, 0, 2] * X[0, c] + R[k, 1, 2] * X[1, c] + R[k, 2, 2] * X[2, c]
            out[row, column + c] -= c1 * y2 - c2 * y1
            out[row + 1, column + c] -= c2 * y0 - c0 * y2
            out[row + 2, column + c] -= c0 * y1 - c1 * y0


@kernel
def add_node_tangent(p, R, w, alpha, n, M, C, K, Ka):
    """Add (4) of node n: its block columns of M, C, K, Ka."""
    c, d, e, S_M, S_C, S_K, S_Ka = local_arrays("3, 3, 3, 6 3, 6 3, 6 3, 6 3")
    S_M[:, :] = 0.0
    S_C[:, :] = 0.0
    S_K[:, :] = 0.0
    S_Ka[:, :] = 0.0
    for k in range(2):
        if k == 0 and p.off_axis == 0:
            continue
        for i in range(3):
            c[i] = p.arms[n, k, i]
        add_R_skew(1.0, R[n], c, S_M, 3 * k, 0)
        cross(alpha, c, d)
        add_R_skew(1.0, R[n], d, S_Ka, 3 * k, 0)
        cross(w, c, d)
        cross(w, d, e)
        add_R_skew(1.0, R[n], e, S_K, 3 * k, 0)
        # (Ω×c)~ + Ω̃c̃ = (Ω×c)~ + c Ωᵀ − (Ω·c) I
        add_R_skew(1.0, R[n], d, S_C, 3 * k, 0)
        rotate(R[n], c, e)
        wc = w[0] * c[0] + w[1] * c[1] + w[2] * c[2]
        for i in range(3):
            for j in range(3):
                S_C[3 * k + i, j] += e[i] * w[j] - wc * R[n, i, j]
    add_coupling(p, R, S_M, n, 1, M)
    add_coupling(p, R, S_C, n, 0, C)
    add_coupling(p, R, S_K, n, 0, K)
    add_coupling(p, R, S_Ka, n, 0, Ka)


@kernel
def add_turning(p, R, F, K):
    """Add (5) of all nodes to K."""
    c, local = local_arrays("3, 3")
    for n in range(len(p.arms)):
        for k in range(2):
            if k == 0 and p.off_axis == 0:
                continue
            for i in range(3):
                c[i] = p.arms[n, k, i]
            rotate_T(R[n], F[2 * n + k], local)
            add_skew_skew(1.0, c, local, K, 6 * n + 3, 6 * n + 3)


@kernel
def inertia_tangent(p, R, v, a, gravity, M, C, K, Ka):
    """Add the mass matrix and the derivatives of `inertia` to M, C, K, Ka (6 n, 6 n)."""
    z, y, F, pi = local_arrays("6 3, 6 3, 6 3, 3")
    for n in range(len(p.arms)):
        for m in range(len(p.arms)):
            for i in range(3):
                M[6 * n + i, 6 * m + i] += p.m[2 * n, 2 * m]
        add_node_tangent(p, R, v[6 * n + 3 : 6 * n + 6], a[6 * n + 3 : 6 * n + 6], n, M, C, K, Ka)
    accelerations(p, R, v, a, gravity, z, y)
    weighted(p, z, F)
    add_turning(p, R, F, Ka)
    weighted(p, y, F)
    add_turning(p, R, F, K)
    # rotary inertia: C gets Ω̃_k J_kl and −π̃_k
    for n in range(len(p.arms)):
        row = 6 * n + 3
        w = v[row : row + 3]
        momentum(p, n, v, pi)
        add_skew(-1.0, pi, C, row, row)
        for m in range(len(p.arms)):
            column = 6 * m + 3
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                for c in range(3):
                    M[row + i, column + c] += p.J[n, m, i, c]
                    C[row + i, column + c] += w[j] * p.J[n, m, k, c] - w[k] * p.J[n, m, j, c]


@kernel
def gravity_energy(p, x, R, gravity):
    """Potential energy −Σ m_ij z_i·g [J], the sum over the places j: that of the field that gives the forces."""
    energy = 0.0
    for i in range(len(p.m)):
        k = i // 2
        mass = 0.0
        for j in range(0, len(p.m), 2):
            mass += p.m[i, j]
        for r in range(3):
            z = x[k, r] if i % 2 == 0 else 0.0
            for c in range(3):
                z += R[k, r, c] * p.arms[k, i % 2, c]
            energy -= mass * gravity[r] * z
    return energy
