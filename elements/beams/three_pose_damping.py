"""Damping of the three-node beam; symbols and (1) are those of `beams.three_pose_kinematics`.

    s gets C_v (ȧ, ḃ), (ȧ, ḃ) = J (ε̇₁, ε̇₂) of the velocities; nothing for rigid motion                            (4)

Source: docs/theory/beams.md, section 4.
"""

from fem_mbs.elements.beams.law import mean_and_slope_rates
from fem_mbs.elements.beams.segment import add_arm_velocity, rate_gradient
from fem_mbs.elements.beams.three_pose_kinematics import pull, spread
from fem_mbs.elements.beams.three_pose_tangent import carry, law_hessian, spread_rows, to_frames
from fem_mbs.jit import kernel, local_arrays, local_matrix


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
    H, E, C_v = local_arrays("12 12, 18 18, 12 12")
    for i in range(12):
        for j in range(12):
            C_v[i, j] = p.C_v[i, j]
    law_hessian(p, eps, A, D, C_v, H)
    to_frames(S, u, A, H, E)
    carry(p, R, E, B)


@kernel
def add_damping(p, R, v, at, rates, K, C):
    """Add the damping matrix to C (18, 18), and to K what (ȧ, ḃ) changes with the pose at fixed velocities."""
    S, u, psi, form, A, D, eps = at
    d, theta, du, dpsi, rate = rates
    E, B = local_arrays("18 18, 18 18")
    B[:, :] = 0.0
    add_damping_matrix(p, R, S, u, A, D, eps, B)
    if p.placed == 1:
        add_arm_velocity(R[0], p.p_A, v[3:6], B, K, 0)
        add_arm_velocity(R[2], p.p_B, v[15:18], B, K, 12)
    for i in range(18):
        for j in range(18):
            C[i, j] += B[i, j]
    # ∂(ȧ, ḃ) over columns (u₁, ψ₁, u₂, ψ₂, θ_A, θ_M)
    Z, T, changes, viscous, of_rate, of_pose, ab, other = local_arrays("6 9, 12 18, 12 18, 12 18, 12, 12, 12, 12")
    t, q = local_arrays("12, 12")
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
                changes[i, column] = ab[i]
    for i in range(12):
        for j in range(18):
            viscous[i, j] = 0.0
        for k in range(12):
            c_v = p.C_v[i, k]
            for j in range(18):
                viscous[i, j] += c_v * changes[k, j]
    for j in range(18):
        for i in range(12):
            other[i] = viscous[i, j]
        pull(p, eps, A, D, other, t, q)
        for i in range(12):
            T[i, j] = q[i]
    M = local_matrix(12, 24)
    M[:, :] = 0.0
    for i in range(12):
        spread(S, u, A, T[i, 0:12], M[i])
        for j in range(3):
            M[i, 3 + j] += T[i, 12 + j]
            M[i, 9 + j] += T[i, 15 + j]
    spread_rows(S, u, A, M, 18, E)
    carry(p, R, E, K)
