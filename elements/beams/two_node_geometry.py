"""Two-node beam between its nodes and its section law: strains of poses, forces of stresses, their tangent, damping.

Kinematics, between the section frames (y_A, S_A), (y_B, S_B) at the two ends

    ψ = log(S_Aᵀ S_B),  u = S_Aᵀ (y_B − y_A),  A = T⁻ᵀ(ψ),  D = ∂(A u)/∂ψ
    ε = (Γ, κ) = (A u, ψ)/L,   L δε = Q (δu, δψ),   Q = [A D; 0 I]                                                (1)
    δu = S_Aᵀ(δy_B − δy_A) + ũ δθ_A,   δψ = Aᵀ δθ_B − A δθ_A                                                      (2)

Forces on the section frames, b = Aᵀ s_Γ, μ = s_κ + Dᵀ s_Γ

    y_A: S_A b    θ_A: Aᵀμ + u × b    y_B: −S_A b    θ_B: −A μ                                                    (7)

Damping: the stresses s get C_v ε̇, with ε̇ = δε of (1)-(2) for the velocities                                    (9)

Source: docs/theory/beams.md, section 7. Helicoidal kinematics: Sonneville, Cardona & Brüls 2014. The law, (3) to (6),
is in `beams.two_node_law`.

    symbol     code            shape    unit      meaning
    S_A, S_B   S_A, S_B        (3, 3)   -         rotations of the section frames (e₁ along the beam)
    u, ψ       u, psi          (3,)     m, rad    relative pose of the ends, axes of S_A
    A, D       A, D            (3, 3)   -, m      of (1); ``form`` holds the scalar functions of T⁻ᵀ (rotations.py)
    ε, ε₀      strain          (6,)     -, 1/m    Γ, κ; of the unloaded element
"""

import collections

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
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_record, local_vector
from fem_mbs.rotations import add_cross, add_skew, form_gradient, form_hessian, rotate, rotate_T

# Of two nodes: pose of the segment by (1), and its rates by (2)
Segment = collections.namedtuple("Segment", "S_A S_B u psi form A D strain")
SEGMENT = "3 3, 3 3, 3, 3, 9, 3 3, 3 3, 6"
Rates = collections.namedtuple("Rates", "d theta_A theta_B du dpsi rate")
RATES = "3, 3, 3, 3, 3, 6"


@kernel
def relative_pose(p, x_A, R_A, x_B, R_B, seg):
    """Fill all of a `Segment` but D, by (1)."""
    y_A, y_B = local_arrays("3, 3")
    section_frame(x_A, R_A, p.p_A, p.S_A, y_A, seg.S_A)
    section_frame(x_B, R_B, p.p_B, p.S_B, y_B, seg.S_B)
    segment_pose(p.length, y_A, seg.S_A, y_B, seg.S_B, seg.u, seg.psi, seg.form, seg.A, seg.strain)


@kernel
def relative_rates(p, R_A, v_A, w_A, R_B, v_B, w_B, seg, rates):
    """Fill `Rates`: (2) and the strain rates (1) of a motion v (ẋ, Ω) of the nodes.

    d (3,) = S_Aᵀ (ẏ_B − ẏ_A), theta_A, theta_B (3,) the angular velocities in section axes are left for the tangent.
    """
    dy_A, dy_B = local_arrays("3, 3")
    end_rates(R_A, seg.S_A, v_A, w_A, p.p_A, dy_A, rates.theta_A)
    end_rates(R_B, seg.S_B, v_B, w_B, p.p_B, dy_B, rates.theta_B)
    ends = (dy_A, rates.theta_A, dy_B, rates.theta_B)
    segment_rates(p.length, seg.S_A, ends, seg.u, seg.A, seg.D, rates.d, rates.du, rates.dpsi, rates.rate)


@kernel
def add_forces(p, R_A, R_B, S_A, A, u, b, mu, f):
    """Add (7), carried to the nodes, to f (12,)."""
    F, M = local_arrays("3, 3")
    rotate(S_A, b, F)
    rotate_T(A, mu, M)
    add_cross(1.0, u, b, M)
    add_end_force(R_A, p.p_A, p.S_A, F, M, f, 0)
    rotate(A, mu, M)
    for i in range(3):
        F[i] = -F[i]
        M[i] = -M[i]
    add_end_force(R_B, p.p_B, p.S_B, F, M, f, 6)


@kernel
def add_law(p, A, D, C, H):
    """Add Qᵀ C Q / L to the columns δu, δψ of H (6, 9)."""
    X = local_matrix(6, 6)
    for i in range(6):
        for j in range(3):
            X[i, j] = C[i, 0] * A[0, j] + C[i, 1] * A[1, j] + C[i, 2] * A[2, j]
            X[i, 3 + j] = C[i, 0] * D[0, j] + C[i, 1] * D[1, j] + C[i, 2] * D[2, j] + C[i, 3 + j]
    c = 1.0 / p.length
    for i in range(3):
        for j in range(6):
            H[i, j] += c * (A[0, i] * X[0, j] + A[1, i] * X[1, j] + A[2, i] * X[2, j])
            H[3 + i, j] += c * (D[0, i] * X[0, j] + D[1, i] * X[1, j] + D[2, i] * X[2, j] + X[3 + i, j])


@kernel
def add_geometric(A, D, u, psi, form, s, b, mu, H, N):
    """Add the terms of stresses s: second derivatives of Lε to H (6, 9), turning of the forces to N (9, 9)."""
    M, minus_psi = local_arrays("3 3, 3")
    form_gradient(1, form, psi, s[0:3], M)
    for i in range(3):
        minus_psi[i] = -psi[i]
        for j in range(3):
            H[i, 3 + j] += M[i, j]
            H[3 + j, i] += M[i, j]
    form_hessian(form, psi, u, s[0:3], M)
    for i in range(3):
        for j in range(3):
            H[3 + i, 3 + j] += M[i, j]
    add_skew(-1.0, b, N, 0, 6)
    add_skew(1.0, b, N, 3, 0)
    form_gradient(0, form, minus_psi, mu, M)
    for i in range(3):
        for j in range(3):
            N[3 + i, 3 + j] += M[i, j]
    form_gradient(0, form, psi, mu, M)
    for i in range(3):
        for j in range(3):
            N[6 + i, 3 + j] += M[i, j]


@kernel
def add_to_nodes(p, R_A, R_B, S_A, A, u, H, N, K):
    """Add the tangent to K (12, 12).

    H (6, 9) gives the increments of (b, μ), N (9, 9) the other terms of the rows (y_B, θ_A, θ_B); columns are
    (δu, δψ, δθ_A), all in axes of S_A. N is overwritten.
    """
    M, a, b = local_arrays("9 12, 3, 3")
    for j in range(9):
        for i in range(3):
            N[i, j] += H[i, j]
            N[6 + i, j] += A[i, 0] * H[3, j] + A[i, 1] * H[4, j] + A[i, 2] * H[5, j]
            N[3 + i, j] -= A[0, i] * H[3, j] + A[1, i] * H[4, j] + A[2, i] * H[5, j]
        N[3, j] -= u[1] * H[2, j] - u[2] * H[1, j]
        N[4, j] -= u[2] * H[0, j] - u[0] * H[2, j]
        N[5, j] -= u[0] * H[1, j] - u[1] * H[0, j]
    # columns (2), carried to the nodes
    for i in range(9):
        n = N[i]
        for k in range(3):
            M[i, 6 + k] = S_A[k, 0] * n[0] + S_A[k, 1] * n[1] + S_A[k, 2] * n[2]
            M[i, k] = -M[i, 6 + k]
            a[k] = n[6 + k] - A[0, k] * n[3] - A[1, k] * n[4] - A[2, k] * n[5]
            b[k] = A[k, 0] * n[3] + A[k, 1] * n[4] + A[k, 2] * n[5]
        add_cross(1.0, n[0:3], u, a)
        for k in range(3):
            M[i, 3 + k] = p.S_A[k, 0] * a[0] + p.S_A[k, 1] * a[1] + p.S_A[k, 2] * a[2]
            M[i, 9 + k] = p.S_B[k, 0] * b[0] + p.S_B[k, 1] * b[1] + p.S_B[k, 2] * b[2]
    if p.eccentric == 1:
        for i in range(9):
            add_arm_column(R_A, p.p_A, M, i, 0)
            add_arm_column(R_B, p.p_B, M, i, 6)
    # rows
    E = local_matrix(12, 12)
    for j in range(12):
        for i in range(3):
            E[6 + i, j] = S_A[i, 0] * M[0, j] + S_A[i, 1] * M[1, j] + S_A[i, 2] * M[2, j]
            E[i, j] = -E[6 + i, j]
            E[3 + i, j] = p.S_A[i, 0] * M[3, j] + p.S_A[i, 1] * M[4, j] + p.S_A[i, 2] * M[5, j]
            E[9 + i, j] = p.S_B[i, 0] * M[6, j] + p.S_B[i, 1] * M[7, j] + p.S_B[i, 2] * M[8, j]
    if p.eccentric == 1:
        for j in range(12):
            add_arm_row(R_A, p.p_A, E, 0, j)
            add_arm_row(R_B, p.p_B, E, 6, j)
    for i in range(12):
        for j in range(12):
            K[i, j] += E[i, j]


@kernel
def add_damping_stress(p, rate, s):
    """Add C_v ε̇ to s (6,)."""
    for i in range(6):
        for k in range(6):
            s[i] += p.C_v[i, k] * rate[k]


@kernel
def add_damping_tangent(p, seg, rates, H):
    """Add Qᵀ C_v ∂ε̇/∂q to H (6, 9), at fixed velocities of the section frames."""
    Z, A, D = local_matrix(6, 9), seg.A, seg.D
    rate_gradient(A, D, seg.u, seg.psi, seg.form, rates.d, rates.theta_A, rates.theta_B, rates.du, rates.dpsi, Z)
    column = local_vector(6)
    for j in range(9):
        for i in range(6):
            column[i] = 0.0
            for k in range(6):
                column[i] += p.C_v[i, k] * Z[k, j] / p.length
        for i in range(3):
            H[i, j] += A[0, i] * column[0] + A[1, i] * column[1] + A[2, i] * column[2]
            H[3 + i, j] += D[0, i] * column[0] + D[1, i] * column[1] + D[2, i] * column[2] + column[3 + i]


@kernel
def tangents(p, node_A, node_B, seg, s, s_force, C_t, K, C):
    """Add K (12, 12) for stresses s and law C_t, and the damping matrix C; add C_v ε̇ to s and s_force (6,)."""
    H, N, b, mu, F = local_arrays("6 9, 9 9, 3, 3, 3")
    H[:, :] = 0.0
    if p.damped == 1:
        rates = local_record(Rates, RATES)
        relative_rates(p, node_A.R, node_A.v, node_A.w, node_B.R, node_B.v, node_B.w, seg, rates)
        add_damping_stress(p, rates.rate, s)
        add_damping_stress(p, rates.rate, s_force)
        Cv = local_matrix(6, 6)
        for i in range(6):
            for j in range(6):
                Cv[i, j] = p.C_v[i, j]
        add_law(p, seg.A, seg.D, Cv, H)
        E = local_matrix(12, 12)
        E[:, :] = 0.0
        N[:, :] = 0.0
        add_to_nodes(p, node_A.R, node_B.R, seg.S_A, seg.A, seg.u, H, N, E)
        if p.eccentric == 1:
            add_arm_velocity(node_A.R, p.p_A, node_A.w, E, K, 0)
            add_arm_velocity(node_B.R, p.p_B, node_B.w, E, K, 6)
        for i in range(12):
            for j in range(12):
                C[i, j] += E[i, j]
        H[:, :] = 0.0
        add_damping_tangent(p, seg, rates, H)
    N[:, :] = 0.0
    conjugates(seg.A, seg.D, s, b, mu)
    add_law(p, seg.A, seg.D, C_t, H)
    add_geometric(seg.A, seg.D, seg.u, seg.psi, seg.form, s, b, mu, H, N)
    add_to_nodes(p, node_A.R, node_B.R, seg.S_A, seg.A, seg.u, H, N, K)
    if p.eccentric == 1:
        rotate(seg.S_A, b, F)
        add_arm_turning(-1.0, node_A.R, p.p_A, F, K, 3)
        add_arm_turning(1.0, node_B.R, p.p_B, F, K, 9)
