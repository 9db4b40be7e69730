"""Inertia of the two-node beam: translation by a field of four vectors, rotation by the angular velocities of the ends.

The vectors z = (y_A, t_A, y_B, t_B) are the positions and the tangents (times L) of the ends. Each is fixed to a node:

    z_i = ε_i x_n + R_n c_i,   z̈_i = ε_i ẍ_n + R_n (Ω̇_n × c_i + Ω_n × (Ω_n × c_i))                             (1)
    T = ½ Σ_ij m_ij ż_i·ż_j + ½ Σ_nm Ω_n·J_nm Ω_m                                                                 (2)
    rows  x_n: Σ_i ε_i F_i    θ_n: Σ_i c_i × R_nᵀF_i + π̇_n + Ω_n × π_n                                            (3)
          F_i = Σ_j m_ij z̈_j,  π_n = Σ_m J_nm Ω_m
    ∂z̈_i/∂θ_n = −R_n (Ω̇×c + Ω×(Ω×c))~,   ∂z̈_i/∂Ω_n = −R_n [(Ω×c)~ + Ω̃c̃],   ∂z̈_i/∂Ω̇_n = −R_n c̃            (4)
    ∂(3)/∂θ_n at fixed F:  Σ_i c̃_i (R_nᵀF_i)~                                                                     (5)

Gravity is the same field with z̈ = −g for the positions and 0 for the tangents; with Hermite numbers it contains the end
moments ±(L²/12) e × q of the weight.

    m_ij = ρA L g_ij:  Hermite 1/420 [156 22 54 −13; 22 4 13 −3; 54 13 156 −22; −13 −3 −22 4],
                       linear 1/6 [2 0 1 0; 0 0 0 0; 1 0 2 0; 0 0 0 0],  lumped ½ diag(1 0 1 0)

Source: formulation-beams, section 1.10.

    symbol    code              shape     unit    meaning
    c_i       p.arm_A, p.arm_B  (2, 3)    m       arms of y and t of an end, node axes
    m_ij      p.m               (4, 4)    kg
    J_nm      p.J_A, J_AB, J_B  (3, 3)    kg m²   rotary inertia, node axes of both ends
    z̈         z, y              (4, 3)    m/s²    its parts from accelerations; from velocities and gravity
"""

from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.rotations import add_cross, add_R_skew, add_rotated, add_skew, add_skew_skew, cross, rotate, rotate_T


@kernel
def accelerations(R, w, a, alpha, arm, gravity, z, y, row):
    """Fill rows ``row``, ``row + 1`` of z and y (4, 3) with the two parts of (1)."""
    c, d, e = local_vector(3), local_vector(3), local_vector(3)
    for k in range(2):
        for i in range(3):
            c[i] = arm[k, i]
            z[row + k, i] = a[i] if k == 0 else 0.0
            y[row + k, i] = -gravity[i] if k == 0 else 0.0
        cross(alpha, c, d)
        add_rotated(1.0, R, d, z[row + k])
        cross(w, c, d)
        cross(w, d, e)
        add_rotated(1.0, R, e, y[row + k])


@kernel
def weighted(p, z, F):
    """Fill F (4, 3) with Σ_j m_ij z_j."""
    for i in range(4):
        for k in range(3):
            F[i, k] = p.m[i, 0] * z[0, k] + p.m[i, 1] * z[1, k] + p.m[i, 2] * z[2, k] + p.m[i, 3] * z[3, k]


@kernel
def add_rows(sign, R, arm, F, first, f, row):
    """Add sign times the rows (3) of one end, without rotary inertia, to f."""
    local = local_vector(3)
    for i in range(3):
        f[row + i] += sign * F[first, i]
    for k in range(2):
        rotate_T(R, F[first + k], local)
        for i in range(3):
            j, m = (i + 1) % 3, (i + 2) % 3
            f[row + 3 + i] += sign * (arm[k, j] * local[m] - arm[k, m] * local[j])


@kernel
def rotary(p, a, b, pi_A, pi_B):
    """Fill π_A, π_B (3,) with J_nm times the vectors a, b (3,) of the two ends."""
    for i in range(3):
        pi_A[i], pi_B[i] = 0.0, 0.0
        for k in range(3):
            pi_A[i] += p.J_A[i, k] * a[k] + p.J_AB[i, k] * b[k]
            pi_B[i] += p.J_AB[k, i] * a[k] + p.J_B[i, k] * b[k]


@kernel
def inertia(p, R_A, w_A, a_A, alpha_A, R_B, w_B, a_B, alpha_B, gravity, Ma, f):
    """Add the acceleration part of (3) to Ma (12,), minus the rest and gravity to f (12,)."""
    z, y, F = local_matrix(4, 3), local_matrix(4, 3), local_matrix(4, 3)
    pi_A, pi_B = local_vector(3), local_vector(3)
    accelerations(R_A, w_A, a_A, alpha_A, p.arm_A, gravity, z, y, 0)
    accelerations(R_B, w_B, a_B, alpha_B, p.arm_B, gravity, z, y, 2)
    weighted(p, z, F)
    add_rows(1.0, R_A, p.arm_A, F, 0, Ma, 0)
    add_rows(1.0, R_B, p.arm_B, F, 2, Ma, 6)
    weighted(p, y, F)
    add_rows(-1.0, R_A, p.arm_A, F, 0, f, 0)
    add_rows(-1.0, R_B, p.arm_B, F, 2, f, 6)
    rotary(p, alpha_A, alpha_B, pi_A, pi_B)
    for i in range(3):
        Ma[3 + i] += pi_A[i]
        Ma[9 + i] += pi_B[i]
    rotary(p, w_A, w_B, pi_A, pi_B)
    add_cross(-1.0, w_A, pi_A, f[3:6])
    add_cross(-1.0, w_B, pi_B, f[9:12])


@kernel
def add_coupling(p, R_A, R_B, S, column, symmetric, out):
    """Add what ∂z̈_j = −S_j does to the rows (3), in one block column of out (12, 12).

    S (6, 3) holds S_j of the two vectors of the end whose rotation columns begin at ``column`` (3 or 9). With
    ``symmetric`` = 1 the (θ, x) blocks get the transpose of the (x, θ) blocks.
    """
    X, Y = local_matrix(3, 3), local_matrix(3, 3)
    first = 0 if column == 3 else 2
    for i in range(4):
        row = 0 if i < 2 else 6
        for j in range(3):
            for k in range(3):
                X[j, k] = p.m[i, first] * S[j, k] + p.m[i, first + 1] * S[3 + j, k]
        if i % 2 == 0:
            for j in range(3):
                for k in range(3):
                    out[row + j, column + k] -= X[j, k]
                    if symmetric == 1:
                        out[column + k, row + j] -= X[j, k]
            if p.eccentric == 0:
                continue
        R = R_A if i < 2 else R_B
        for j in range(3):
            for k in range(3):
                Y[j, k] = R[0, j] * X[0, k] + R[1, j] * X[1, k] + R[2, j] * X[2, k]
        for j in range(3):
            m, n = (j + 1) % 3, (j + 2) % 3
            c_m = p.arm_A[i % 2, m] if i < 2 else p.arm_B[i % 2, m]
            c_n = p.arm_A[i % 2, n] if i < 2 else p.arm_B[i % 2, n]
            for k in range(3):
                out[row + 3 + j, column + k] -= c_m * Y[n, k] - c_n * Y[m, k]


@kernel
def add_end_tangent(p, R_A, R_B, R, arm, w, alpha, column, M, C, K, Ka):
    """Add (4) for one end: its block columns of M, C, K, Ka."""
    c, d, e = local_vector(3), local_vector(3), local_vector(3)
    S_M, S_C, S_K, S_Ka = local_matrix(6, 3), local_matrix(6, 3), local_matrix(6, 3), local_matrix(6, 3)
    S_M[:, :] = 0.0
    S_C[:, :] = 0.0
    S_K[:, :] = 0.0
    S_Ka[:, :] = 0.0
    for k in range(2):
        for i in range(3):
            c[i] = arm[k, i]
        add_R_skew(1.0, R, c, S_M, 3 * k, 0)
        cross(alpha, c, d)
        add_R_skew(1.0, R, d, S_Ka, 3 * k, 0)
        cross(w, c, d)
        cross(w, d, e)
        add_R_skew(1.0, R, e, S_K, 3 * k, 0)
        # (Ω×c)~ + Ω̃c̃ = (Ω×c)~ + c Ωᵀ − (Ω·c) I
        add_R_skew(1.0, R, d, S_C, 3 * k, 0)
        rotate(R, c, e)
        wc = w[0] * c[0] + w[1] * c[1] + w[2] * c[2]
        for i in range(3):
            for j in range(3):
                S_C[3 * k + i, j] += e[i] * w[j] - wc * R[i, j]
    add_coupling(p, R_A, R_B, S_M, column, 1, M)
    add_coupling(p, R_A, R_B, S_C, column, 0, C)
    add_coupling(p, R_A, R_B, S_K, column, 0, K)
    add_coupling(p, R_A, R_B, S_Ka, column, 0, Ka)


@kernel
def add_turning(R, arm, F, first, K, row):
    """Add (5) of one end to K."""
    c, local = local_vector(3), local_vector(3)
    for k in range(2):
        for i in range(3):
            c[i] = arm[k, i]
        rotate_T(R, F[first + k], local)
        add_skew_skew(1.0, c, local, K, row, row)


@kernel
def inertia_tangent(p, R_A, w_A, a_A, alpha_A, R_B, w_B, a_B, alpha_B, gravity, M, C, K, Ka):
    """Add the mass matrix and the derivatives of `inertia` to M, C, K, Ka (12, 12)."""
    z, y, F = local_matrix(4, 3), local_matrix(4, 3), local_matrix(4, 3)
    pi_A, pi_B = local_vector(3), local_vector(3)
    for i in range(3):
        for n in range(2):
            for m in range(2):
                M[6 * n + i, 6 * m + i] += p.m[2 * n, 2 * m]
    add_end_tangent(p, R_A, R_B, R_A, p.arm_A, w_A, alpha_A, 3, M, C, K, Ka)
    add_end_tangent(p, R_A, R_B, R_B, p.arm_B, w_B, alpha_B, 9, M, C, K, Ka)
    accelerations(R_A, w_A, a_A, alpha_A, p.arm_A, gravity, z, y, 0)
    accelerations(R_B, w_B, a_B, alpha_B, p.arm_B, gravity, z, y, 2)
    weighted(p, z, F)
    add_turning(R_A, p.arm_A, F, 0, Ka, 3)
    add_turning(R_B, p.arm_B, F, 2, Ka, 9)
    weighted(p, y, F)
    add_turning(R_A, p.arm_A, F, 0, K, 3)
    add_turning(R_B, p.arm_B, F, 2, K, 9)
    # rotary inertia: C gets Ω̃_n J_nm and −π̃_n
    rotary(p, w_A, w_B, pi_A, pi_B)
    add_skew(-1.0, pi_A, C, 3, 3)
    add_skew(-1.0, pi_B, C, 9, 9)
    for i in range(3):
        j, m = (i + 1) % 3, (i + 2) % 3
        for k in range(3):
            M[3 + i, 3 + k] += p.J_A[i, k]
            M[3 + i, 9 + k] += p.J_AB[i, k]
            M[9 + i, 3 + k] += p.J_AB[k, i]
            M[9 + i, 9 + k] += p.J_B[i, k]
            C[3 + i, 3 + k] += w_A[j] * p.J_A[m, k] - w_A[m] * p.J_A[j, k]
            C[3 + i, 9 + k] += w_A[j] * p.J_AB[m, k] - w_A[m] * p.J_AB[j, k]
            C[9 + i, 3 + k] += w_B[j] * p.J_AB[k, m] - w_B[m] * p.J_AB[k, j]
            C[9 + i, 9 + k] += w_B[j] * p.J_B[m, k] - w_B[m] * p.J_B[j, k]


@kernel
def gravity_energy(p, x_A, R_A, x_B, R_B, gravity):
    """Potential energy −Σ m_ij z_i·g [J], the sum over the positions j: that of the field that gives the forces."""
    energy = 0.0
    for k in range(3):
        y_A, t_A, y_B, t_B = x_A[k], 0.0, x_B[k], 0.0
        for i in range(3):
            y_A += R_A[k, i] * p.arm_A[0, i]
            t_A += R_A[k, i] * p.arm_A[1, i]
            y_B += R_B[k, i] * p.arm_B[0, i]
            t_B += R_B[k, i] * p.arm_B[1, i]
        for j in range(0, 3, 2):
            energy -= gravity[k] * (p.m[0, j] * y_A + p.m[1, j] * t_A + p.m[2, j] * y_B + p.m[3, j] * t_B)
    return energy
