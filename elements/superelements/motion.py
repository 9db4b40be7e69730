"""Floating frame of a superelement and its local motion.

The frame rotates with the rotation R_0 nearest to the boundary frames, weights a_i and b_i, x̄ = Σ a_i x_i,

    A = Σ a_i (x_i − x̄) V_iᵀ + Σ b_i R'_i ,   R_0 = polar rotation of A ,   H = R_0ᵀA ,   S = tr(H) I − H           (1)
    δθ_0 = S⁻¹ Σ [ a_i V_i × R_0ᵀδx_i + b_i (tr(Q_i) I − Q_iᵀ) R_i⁰δθ_i ]  = E δq                                    (2)
    r_i = R_0ᵀ(x_i − x̄) ,   Q_i = R_0ᵀ R_i R_i⁰ᵀ ,   d = ( r_i − V_i , log Q_i , η )                                (3)
    δr_i = R_0ᵀ(δx_i − δx̄) + r_i × δθ_0 ,   φ_i = R_i⁰δθ_i − Q_iᵀδθ_0 ,   δQ_i = Q_i φ̃_i ,   δθ_i = T⁻¹(θ_i) φ_i   (4)
    v̂ = ( ξ_i , ω_0 + θ̇_i , η̇ ) ,   ξ_i = R_0ᵀẋ_i ,   θ̇_i = T⁻¹(θ_i) φ_i ,   φ_i = R_i⁰Ω_i − Q_iᵀω_0 ,   ω_0 = E v   (5)
    v̂̇ = ( R_0ᵀẍ_i − ω_0 × ξ_i , ω̇_0 + θ̈_i , η̈ ) ,   θ̈_i = T⁻¹ φ̇_i + (T⁻¹)'[θ̇_i] φ_i ,
        φ̇_i = R_i⁰Ω̇_i − Q_iᵀω̇_0 + φ_i × Q_iᵀω_0                                                                  (6)
    ω̇_0 = E a + S⁻¹ Σ [ a_i V_i × (ξ_i × ω_0) + b_i (tr(Q̇_i) I − Q̇_iᵀ) R_i⁰Ω_i ] − S⁻¹ (tr(Ḣ) I − Ḣ) ω_0          (7)

Source: docs/theory/superelements.md, section 3; derived here and checked by finite differences.

Derivatives: `variations`. Symbols and their names in code: `data`.
"""

import math

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import (
    add_cross,
    add_rotated,
    dot,
    form_matrix,
    form_rate,
    form_tangent_inverse_T,
    log_matrix,
    rotate,
    rotate_T,
)

POLAR_STEPS = 60
# what is kept of a pose and its velocities, until there are others
PRODUCTS, MOVED, FORCES, VARIED, VARIED_RATES = 0, 1, 2, 3, 4


@kernel
def inverse(A, B):
    """Fill B (3, 3) with the inverse of A; returns the determinant of A."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for m in range(3):
            n, o = (m + 1) % 3, (m + 2) % 3
            B[m, i] = A[j, n] * A[k, o] - A[j, o] * A[k, n]
    det = A[0, 0] * B[0, 0] + A[0, 1] * B[1, 0] + A[0, 2] * B[2, 0]
    for i in range(3):
        for j in range(3):
            B[i, j] /= det
    return det


@kernel
def polar(A, R):
    """Fill R (3, 3) with the orthogonal polar factor of A; returns the determinant of A.

    R ← ½ (γ R + R⁻ᵀ/γ) with γ² = |R⁻¹|/|R|: Higham, SIAM J. Sci. Stat. Comput. 7 (1986).
    """
    Y = local_matrix(3, 3)
    for i in range(3):
        for j in range(3):
            R[i, j] = A[i, j]
    first = 0.0
    for step in range(POLAR_STEPS):
        det = inverse(R, Y)
        if step == 0:
            first = det
        one = other = 0.0
        for i in range(3):
            for j in range(3):
                one += R[i, j] ** 2
                other += Y[i, j] ** 2
        scale = math.sqrt(math.sqrt(other / one))
        change = 0.0
        for i in range(3):
            for j in range(3):
                new = 0.5 * (scale * R[i, j] + Y[j, i] / scale)
                Y[j, i] = R[i, j]
                R[i, j] = new
        for i in range(3):
            for j in range(3):
                change = max(change, abs(R[i, j] - Y[j, i]))
        if not change > 1e-15:
            break
    return first


@kernel
def is_known(known, given):
    """True if all numbers are known; if not, they are now."""
    same = True
    for i in range(given.shape[0]):
        same = same and known[i] == given[i]
        known[i] = given[i]
    return same


@kernel
def is_known_pose(p, x, R):
    """The same of a pose."""
    known = True
    for i in range(x.shape[0]):
        for k in range(3):
            known = known and p.known_x[3 * i + k] == x[i, k]
            p.known_x[3 * i + k] = x[i, k]
    for i in range(p.size_nb):
        for k in range(3):
            for m in range(3):
                known = known and p.known_R[i, k, m] == R[i, k, m]
                p.known_R[i, k, m] = R[i, k, m]
    return known


@kernel
def place_frame(p, x, R):
    """(1), (3) and T⁻¹ at a pose, if they are not yet those of this pose.

    Returns det A, which is positive near the reference.
    """
    if not is_known_pose(p, x, R):
        p.det[0] = find_frame(p, x, R)
        find_deformation(p, x, R)
        p.has[:] = 0.0
    return p.det[0]


@kernel
def find_frame(p, x, R):
    """(1): R_0 and S⁻¹; mean place in ``mean``. Returns det A."""
    a, b, V, R_ref, R_0, mean = p.a, p.b, p.V, p.R_ref, p.R_0, p.mean
    A, H, S = local_matrix(3, 3), local_matrix(3, 3), local_matrix(3, 3)
    mean[:] = 0.0
    A[:, :] = 0.0
    for i in range(p.size_nb):
        for k in range(3):
            mean[k] += a[i] * x[i, k]
    for i in range(p.size_nb):
        for k in range(3):
            for m in range(3):
                A[k, m] += a[i] * (x[i, k] - mean[k]) * V[i, m]
                for j in range(3):
                    A[k, m] += b[i] * R[i, k, j] * R_ref[i, m, j]
    det = polar(A, R_0)
    for k in range(3):
        for m in range(3):
            H[k, m] = R_0[0, k] * A[0, m] + R_0[1, k] * A[1, m] + R_0[2, k] * A[2, m]
    trace = H[0, 0] + H[1, 1] + H[2, 2]
    for k in range(3):
        for m in range(3):
            S[k, m] = (trace if k == m else 0.0) - 0.5 * (H[k, m] + H[m, k])
    inverse(S, p.S_inv)
    return det


@kernel
def find_deformation(p, x, R):
    """(3) and T⁻¹ of all frames."""
    R_ref, R_0, d, first = p.R_ref, p.R_0, p.d, 6 * p.size_nb
    arm, turned = local_arrays("3, 3 3")
    for i in range(p.size_nb):
        Q = p.Q[i]
        for k in range(3):
            arm[k] = x[i, k] - p.mean[k]
            for m in range(3):
                turned[k, m] = 0.0
                for j in range(3):
                    turned[k, m] += R[i, k, j] * R_ref[i, m, j]
        rotate_T(R_0, arm, p.r[i])
        for k in range(3):
            for m in range(3):
                Q[k, m] = R_0[0, k] * turned[0, m] + R_0[1, k] * turned[1, m] + R_0[2, k] * turned[2, m]
        p.trace[i] = Q[0, 0] + Q[1, 1] + Q[2, 2]
        for k in range(3):
            m, j = (k + 1) % 3, (k + 2) % 3
            p.axial[i, k] = Q[m, j] - Q[j, m]
        theta, form = p.theta[i], p.form[i]
        log_matrix(Q, theta)
        form_tangent_inverse_T(theta, form)
        form[1] = -form[1]  # of T⁻¹
        form_matrix(form, theta, p.T_inv[i])
        for k in range(3):
            d[6 * i + k] = p.r[i, k] - p.V[i, k]
            d[6 * i + 3 + k] = theta[k]
    for k in range(p.modes):
        d[first + k] = x[p.size_nb + k // 3, k % 3]


@kernel
def add_frame_rate(p, i, translation, rotation, out):
    """Add the sum of (2) of one frame to out (3,), of vectors in axes of the floating frame."""
    back = local_vector(3)
    add_cross(p.a[i], p.V[i], translation, out)
    rotate_T(p.Q[i], rotation, back)
    for k in range(3):
        out[k] += p.b[i] * (p.trace[i] * rotation[k] - back[k])


@kernel
def rates(p, e, v):
    """(5) and ḋ of (4) from velocities v (6 nn,), e = 0, or B a and E a from accelerations, e = 1."""
    nb, first = p.size_nb, 6 * p.size_nb
    omega, d_rate, speed = p.omega[e], p.d_rate[e], p.speed[e]
    total, mean, back = local_arrays("3, 3, 3")
    total[:] = 0.0
    mean[:] = 0.0
    for i in range(nb):
        xi, Omega = p.xi[e, i], p.Omega[e, i]
        rotate_T(p.R_0, v[6 * i : 6 * i + 3], xi)
        rotate(p.R_ref[i], v[6 * i + 3 : 6 * i + 6], Omega)
        add_frame_rate(p, i, xi, Omega, total)
        for k in range(3):
            mean[k] += p.a[i] * xi[k]
    rotate(p.S_inv, total, omega)
    for i in range(nb):
        xi, Omega, phi = p.xi[e, i], p.Omega[e, i], p.phi[e, i]
        rotate_T(p.Q[i], omega, back)
        for k in range(3):
            phi[k] = Omega[k] - back[k]
        rotate(p.T_inv[i], phi, d_rate[6 * i + 3 : 6 * i + 6])
        for k in range(3):
            speed[6 * i + k] = xi[k]
            speed[6 * i + 3 + k] = omega[k] + d_rate[6 * i + 3 + k]
            d_rate[6 * i + k] = xi[k] - mean[k]
        add_cross(1.0, p.r[i], omega, d_rate[6 * i : 6 * i + 3])
    for k in range(p.modes):
        speed[first + k] = d_rate[first + k] = v[first + 6 * (k // 3) + k % 3]


@kernel
def move(p, v):
    """`rates` of velocities v (6 nn,), if they are not yet those."""
    if not is_known(p.known_v, v):
        p.has[MOVED] = p.has[FORCES] = p.has[VARIED_RATES] = 0.0
    if p.has[MOVED] == 0.0:
        rates(p, 0, v)
        p.has[MOVED] = 1.0


@kernel
def turn_twice(p, i, theta_rate_rate):
    """Fill θ̈_i of (6) without accelerations, T⁻¹w + X φ, and w and X = (T⁻¹)'[θ̇] in scratch."""
    w, X, omega, phi = p.w[i], p.X[i], p.omega[0], p.phi[0, i]
    back = p.omega_back[i]
    rotate_T(p.Q[i], omega, back)
    rotate_T(p.Q[i], p.alpha, w)
    for k in range(3):
        w[k] = -w[k]
    add_cross(1.0, phi, back, w)
    rotate(p.T_inv[i], w, theta_rate_rate)
    form_rate(p.form[i], p.theta[i], p.d_rate[0, 6 * i + 3 : 6 * i + 6], X)
    add_rotated(1.0, X, phi, theta_rate_rate)


@kernel
def accelerate(p):
    """(6) and (7) without accelerations, after `rates` of velocities."""
    a, b, V, omega, alpha = p.a, p.b, p.V, p.omega[0], p.alpha
    total, turning, across, H_omega, back = local_arrays("3, 3, 3, 3, 3")
    total[:] = 0.0
    trace = 0.0
    for i in range(p.size_nb):
        Q, Omega, phi, r_rate = p.Q[i], p.Omega[0, i], p.phi[0, i], p.d_rate[0, 6 * i : 6 * i + 3]
        across[:] = 0.0
        add_cross(1.0, p.xi[0, i], omega, across)
        add_cross(a[i], V[i], across, total)
        rotate_T(Q, Omega, back)
        turning[:] = 0.0
        add_cross(1.0, phi, omega, turning)
        rotate(Q, turning, H_omega)
        along = dot(p.axial[i], phi)
        for k in range(3):
            total[k] += b[i] * (along * Omega[k] + H_omega[k]) + a[i] * dot(V[i], omega) * r_rate[k]
        add_cross(b[i], phi, back, total)
        trace += a[i] * dot(V[i], r_rate) + b[i] * along
    for k in range(3):
        total[k] -= trace * omega[k]
    rotate(p.S_inv, total, alpha)
    p.trace_rate[0] = trace
    acceleration = p.acceleration
    acceleration[:] = 0.0
    for i in range(p.size_nb):
        add_cross(1.0, p.xi[0, i], omega, acceleration[6 * i : 6 * i + 3])
        turn_twice(p, i, acceleration[6 * i + 3 : 6 * i + 6])
        for k in range(3):
            acceleration[6 * i + 3 + k] += alpha[k]
