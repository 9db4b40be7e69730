"""Two helical halves A-M, M-B of the three-node beam: strains of the poses of its nodes, forces of the stresses.

In coordinates q = (u₁, ψ₁, u₂, ψ₂) of the two segments (`beams.segment`), ℓ = L/2, s from the law (`beams.law`):

    s_h = 2 (Jᵀ s)_h,   (b, μ)_h = Q_hᵀ s_h                                forces by (3) of `beams.segment`          (1)

The 18 components belong to the section frames A, M, B until `carry_rows` brings them to the nodes.

Source: docs/theory/beams.md, sections 1-3.

    symbol    code        shape            meaning
    y, S      y, S        (3, 3), (9, 3)   section frames A, M, B
    u, ψ      u, psi      (2, 3)           of the halves; A, D (6, 3), form (2, 9) one below the other
    ε₁, ε₂    eps         (12,)            strains of the halves
"""

import collections

from fem_mbs.elements.beams.law import half_stresses
from fem_mbs.elements.beams.segment import (
    add_end_force,
    conjugates,
    end_rates,
    section_frame,
    segment_pose,
    segment_rates,
)
from fem_mbs.jit import kernel, local_arrays, local_matrix
from fem_mbs.rotations import add_cross, form_gradient, rotate, rotate_T

# Of both halves: pose, and rates: strain rates (12,), d, du, dpsi (2, 3) of them, spins theta (3, 3) of A, M, B
Halves = collections.namedtuple("Halves", "S u psi form A D eps")
HalfRates = collections.namedtuple("HalfRates", "d theta du dpsi rate")


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
def half_rates(p, R, v, at, rates):
    """Fill `HalfRates` of both halves for velocities v (18,) of the nodes."""
    S, u, _, _, A, D, _ = at
    d, theta, du, dpsi, rate = rates
    dy = local_matrix(3, 3)
    end_rates(R[0], S[0:3], v[0:3], v[3:6], p.p_A, dy[0], theta[0])
    end_rates(R[2], S[6:9], v[12:15], v[15:18], p.p_B, dy[2], theta[2])
    for i in range(3):
        dy[1, i], theta[1, i] = v[6 + i], v[9 + i]
    for h in range(2):
        k, m = 3 * h, 3 * h + 3
        ends = (dy[h], theta[h], dy[h + 1], theta[h + 1])
        segment_rates(0.5 * p.length, S[k:m], ends, u[h], A[k:m], D[k:m], d[h], du[h], dpsi[h], rate[6 * h : 6 * h + 6])


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
    force, moment = local_arrays("3, 3")
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
