"""A segment of a beam between two section frames k, l: relative pose, helical strains, forces, turning terms.

    ψ = log(S_kᵀ S_l),  u = S_kᵀ (y_l − y_k),  A = T⁻ᵀ(ψ),  D = ∂(A u)/∂ψ
    ε = (Γ, κ) = (A u, ψ)/ℓ,   ℓ δε = Q (δu, δψ),   Q = [A D; 0 I]                                                (1)
    δu = S_kᵀ(δy_l − δy_k) + ũ δθ_k,   δψ = Aᵀ δθ_l − A δθ_k                                                      (2)

With b, μ conjugate to (u, ψ), forces on the section frames:

    y_k: S_k b    θ_k: Aᵀμ + u × b    y_l: −S_k b    θ_l: −A μ                                                    (3)

The two-node element is one segment, the three-node element two. Section frames are carried to the nodes with their
arms p: δy = δx + R (δθ × p), δθ_section = S_oᵀ δθ.

Source: docs/theory/beams.md, section 1; helicoidal kinematics: Sonneville, Cardona & Brüls 2014.

    symbol     code            shape    unit      meaning
    y, S       y, S            (3,) (3, 3)        place and rotation of a section frame (e₁ along the beam), inertial
    u, ψ       u, psi          (3,)     m, rad    relative pose of the ends, axes of S_k
    A, D       A, D            (3, 3)   -, m      of (1); ``form`` holds the scalar functions of T⁻ᵀ (rotations.py)
    ε          strain          (6,)     -, 1/m    Γ, κ
    ℓ          length          float    m         reference length
"""

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import (
    add_cross,
    add_rotated,
    form_gradient,
    form_matrix,
    form_rate,
    form_rate_gradient,
    form_tangent_inverse_T,
    log_matrix,
    multiply_T,
    rotate,
    rotate_T,
)


@kernel
def section_frame(x, R, offset, rotation, y, S):
    """Fill position y (3,) and rotation S (3, 3) of the section frame at an end."""
    for i in range(3):
        y[i] = x[i]
        for k in range(3):
            y[i] += R[i, k] * offset[k]
            S[i, k] = R[i, 0] * rotation[0, k] + R[i, 1] * rotation[1, k] + R[i, 2] * rotation[2, k]


@kernel
def segment_pose(length, y_k, S_k, y_l, S_l, u, psi, form, A, strain):
    """Fill (u, ψ), the operator A with its form, and the strains of (1)."""
    d = local_vector(3)
    for i in range(3):
        d[i] = y_l[i] - y_k[i]
    rotate_T(S_k, d, u)
    multiply_T(S_k, S_l, A)
    log_matrix(A, psi)
    form_tangent_inverse_T(psi, form)
    form_matrix(form, psi, A)
    for i in range(3):
        strain[i] = (A[i, 0] * u[0] + A[i, 1] * u[1] + A[i, 2] * u[2]) / length
        strain[3 + i] = psi[i] / length


@kernel
def end_rates(R, S, velocity, spin, offset, dy, dtheta):
    """Fill dy (3,), inertial, and dtheta (3,), section axes: motion of a section frame, from that of its node."""
    arm, dtheta_node = local_arrays("3, 3")
    for i in range(3):
        arm[i] = spin[(i + 1) % 3] * offset[(i + 2) % 3] - spin[(i + 2) % 3] * offset[(i + 1) % 3]
        dy[i] = velocity[i]
    add_rotated(1.0, R, arm, dy)
    rotate(R, spin, dtheta_node)
    rotate_T(S, dtheta_node, dtheta)


@kernel
def segment_rates(length, S_k, ends, u, A, D, d, du, dpsi, rate):
    """Fill (2) and the strain rates (1) of motions (ẏ inertial, θ̇ section axes) of the two section frames.

    ends: ẏ_k, θ̇_k, ẏ_l, θ̇_l; d (3,) = S_kᵀ (ẏ_l − ẏ_k) is left for `rate_gradient`.
    """
    dy_k, theta_k, dy_l, theta_l = ends
    for i in range(3):
        dpsi[i] = dy_l[i] - dy_k[i]
    rotate_T(S_k, dpsi, d)
    for i in range(3):
        du[i] = d[i]
        dpsi[i] = 0.0
    add_cross(1.0, u, theta_k, du)
    for i in range(3):
        for k in range(3):
            dpsi[i] += A[k, i] * theta_l[k] - A[i, k] * theta_k[k]
    for i in range(3):
        rate[i] = 0.0
        for k in range(3):
            rate[i] += (A[i, k] * du[k] + D[i, k] * dpsi[k]) / length
        rate[3 + i] = dpsi[i] / length


@kernel
def rate_gradient(A, D, u, psi, form, d, theta_k, theta_l, du, dpsi, Z):
    """Fill Z (6, 9) with ∂(ℓε̇)/∂(u, ψ, θ_k) at fixed motions of the section frames."""
    Zp, M, minus_psi = local_matrix(3, 3), local_matrix(3, 3), local_vector(3)  # Zp: ∂ψ̇/∂ψ
    for i in range(3):
        minus_psi[i] = -psi[i]
    form_gradient(0, form, minus_psi, theta_l, Zp)
    form_gradient(0, form, psi, theta_k, M)
    for i in range(3):
        for j in range(3):
            Zp[i, j] = -Zp[i, j] - M[i, j]
    # u̇: −Ω̃_k δu + d̃ δθ_k, through A; A's own change along ψ̇
    form_rate(form, psi, dpsi, M)
    for i in range(3):
        for j in range(3):
            k, m = (j + 1) % 3, (j + 2) % 3
            Z[i, j] = M[i, j] - A[i, k] * theta_k[m] + A[i, m] * theta_k[k]
            Z[i, 6 + j] = A[i, k] * d[m] - A[i, m] * d[k]
            Z[3 + i, j] = 0.0
            Z[3 + i, 3 + j] = Zp[i, j]
            Z[3 + i, 6 + j] = 0.0
            Z[i, 3 + j] = D[i, 0] * Zp[0, j] + D[i, 1] * Zp[1, j] + D[i, 2] * Zp[2, j]
    form_gradient(0, form, psi, du, M)
    for i in range(3):
        for j in range(3):
            Z[i, 3 + j] += M[i, j]
    form_rate_gradient(form, psi, dpsi, u, M)
    for i in range(3):
        for j in range(3):
            Z[i, 3 + j] += M[i, j]


@kernel
def conjugates(A, D, s, b, mu):
    """Fill b (3,), μ (3,) of (3): Qᵀ times the stresses s (6,)."""
    for i in range(3):
        b[i] = A[0, i] * s[0] + A[1, i] * s[1] + A[2, i] * s[2]
        mu[i] = s[3 + i] + D[0, i] * s[0] + D[1, i] * s[1] + D[2, i] * s[2]


@kernel
def add_end_force(R, offset, rotation, force, moment, f, row):
    """Add a force (3,), inertial, and a moment (3,), section axes, of a section frame to f at row, node axes."""
    local = local_vector(3)
    rotate_T(R, force, local)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        f[row + i] += force[i]
        f[row + 3 + i] += (
            rotation[i, 0] * moment[0] + rotation[i, 1] * moment[1] + rotation[i, 2] * moment[2]
            + offset[j] * local[k] - offset[k] * local[j]
        )  # fmt: skip


@kernel
def add_arm_column(R, offset, M, i, column):
    """Add the contribution of a motion δy = R (δθ × offset) to the rotation columns of row i."""
    a = local_vector(3)
    for k in range(3):
        a[k] = R[0, k] * M[i, column] + R[1, k] * M[i, column + 1] + R[2, k] * M[i, column + 2]
    for k in range(3):
        j, m = (k + 1) % 3, (k + 2) % 3
        M[i, column + 3 + k] += offset[j] * a[m] - offset[m] * a[j]


@kernel
def add_arm_row(R, offset, M, row, j):
    """Add to the moment rows of column j the moment offset × Rᵀ force of the force rows."""
    a = local_vector(3)
    for k in range(3):
        a[k] = R[0, k] * M[row, j] + R[1, k] * M[row + 1, j] + R[2, k] * M[row + 2, j]
    for k in range(3):
        i, m = (k + 1) % 3, (k + 2) % 3
        M[row + 3 + k, j] += offset[i] * a[m] - offset[m] * a[i]


@kernel
def add_arm_turning(sign, R, offset, force, K, row):
    """Add sign p̃ (Rᵀ force)~ to the (θ, θ) block of an end: its force rotates relative to its arm."""
    a = local_vector(3)
    rotate_T(R, force, a)
    ab = a[0] * offset[0] + a[1] * offset[1] + a[2] * offset[2]
    for i in range(3):
        for j in range(3):
            K[row + i, row + j] += sign * a[i] * offset[j]
        K[row + i, row + i] -= sign * ab


@kernel
def add_arm_velocity(R, offset, spin, C, K, column):
    """Add to K the change of the velocity R (Ω × p) of a section frame when its node rotates: −C_x R (Ω×p)~."""
    a, c = local_arrays("3, 3")
    for k in range(3):
        c[k] = spin[(k + 1) % 3] * offset[(k + 2) % 3] - spin[(k + 2) % 3] * offset[(k + 1) % 3]
    for i in range(len(C)):
        for k in range(3):
            a[k] = R[0, k] * C[i, column] + R[1, k] * C[i, column + 1] + R[2, k] * C[i, column + 2]
        for k in range(3):
            j, m = (k + 1) % 3, (k + 2) % 3
            K[i, column + 3 + k] -= a[j] * c[m] - a[m] * c[j]
