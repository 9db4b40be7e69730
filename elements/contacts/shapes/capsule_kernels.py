"""Kernels of contacts between capsules: nearest points of two segments, gap, rows and slip.

A capsule is all that is within a radius of a segment, whose ends are fixed to one rigid body or to two nodes (a beam).
Ends z_1, z_2 of the first, z_3, z_4 of the second, z_k = x + R o on their nodes; P = (1 − σ) z_1 + σ z_2 and
Q = (1 − τ) z_3 + τ z_4 the nearest points, 0 ≤ σ, τ ≤ 1; a sphere has one end, σ = 0. With e_A = z_2 − z_1,
e_B = z_4 − z_3, weights c = (1 − σ, σ, τ − 1, −τ):

    v = P − Q = Σ c_k z_k ,   gap = |v| − r_A − r_B ,   n = v/|v| ,   ∂gap/∂z_k = c_k n                              (1)
    D ∂(σ, τ) = −[e_A, −e_B]ᵀ Σ c_k δz_k − (v·δe_A, −v·δe_B) ,   D = [e_A, −e_B]ᵀ[e_A, −e_B]                         (2)
    ∂v = Σ c_k δz_k + e_A ∂σ − e_B ∂τ ,   ∂n = (I − n nᵀ) ∂v/|v|                                                  (3)

where (2) has only the rows and columns of parameters that are not held at an end. The slip is that of the surfaces,
taken over the step as in shape_contact, (7)-(9) there, with the weights c̄ at the mean of the parameters at the start
and at the end, which is of second order:

    slip_1 = w_1·y − u_2·Ψ ,   slip_2 = w_2·y + u_1·Ψ ,   y = Σ c̄_k (z_k − z_k0) ,   Ψ = Σ r_k |c̄_k| log(R_k R_k0ᵀ) (4)
    V_T    = [t1 t2]ᵀ Σ ( c_k ż_k + r_k |c_k| n × ω_k ) ,   W = [t1 t2 n]ᵀ Σ c_k ω_k                               (5)

with r_k = r_A + s gap on the first and r_B + (1 − s) gap on the second (for the slip with the mean of the gap) and s of
shape_contact, (12), ½ unless r_A = 0: both surfaces are taken at the middle of the gap. A common rigid motion is no
slip, open or closed, and it does not matter which capsule is named first.

Tangent t1 is at the start of the step the axis of the second capsule projected onto the tangent plane (where it is
within 26° of the normal, a transverse axis of its first node) and follows n by the smallest rotation.

Capsules that are parallel to 1e-6 rad touch in the middle of their common length, with σ held.

Source: docs/theory/contacts.md, (17)-(21); nearest points of segments: Ericson, Real-Time Collision Detection (2005),
5.1.9; (2)-(5) derived here, checked by differences.

    symbol    code         shape   unit  meaning
    o_k       offset       (4, 3)  m     ends from their nodes, node axes; node (4,) numbers the nodes of the element
    r_A, r_B  radius       (2,)    m     radii
              segment      ()      -     1 when the first is a capsule, 0 when it is a sphere
"""

import collections
import math

import numpy as np

from fem_mbs.distance.segments import feet
from fem_mbs.elements.contacts.shapes.shape_contact import Arc, arc_slip, arc_start, middle_of_gap
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import add_cross, add_skew_skew, cross, dot, log_matrix, rotate, rotate_T, tangent_inverse

PARAMETERS = np.dtype(
    [("offset", "f8", (4, 3)), ("node", "i8", (4,)), ("radius", "f8", (2,)), ("segment", "i8")]
)  # fmt: skip
# of (4): arms (2,), ends now and at the start, rotations of the ends (4, 3), ∂Ψ/∂(mean gap) (3,), mean weights (4,) and
# weights, normal and gradients of both at the end
Step = collections.namedtuple("Step", "r z z0 psi spread mean c n moves turns")
_NEAR_AXIS = 0.9  # cosine between the normal and the axis from which t1 comes from another direction


@kernel
def nearest(p, x, R, z, at, v, c):
    """Fill ends z (4, 3), parameters and whether they are free at (4,) = σ, τ, 0 or 1, 0 or 1, v (3,), c (4,)."""
    for k in range(4):
        rotate(R[p.node[k]], p.offset[k], z[k])
        for i in range(3):
            z[k, i] += x[p.node[k], i]
    feet(z, p.segment, at)
    s, t = at[0], at[1]
    c[0], c[1], c[2], c[3] = 1.0 - s, s, t - 1.0, -t
    for i in range(3):
        v[i] = c[0] * z[0, i] + c[1] * z[1, i] + c[2] * z[2, i] + c[3] * z[3, i]


@kernel
def _changes(z, at, v, c, moves, turns, n):
    """Fill ∂(σ, τ)/∂z, moves (2, 12), by (2), and ∂n/∂z, turns (3, 12), by (3), and n (3,); returns |v|."""
    e = local_matrix(2, 3)  # e_A, −e_B
    for i in range(3):
        e[0, i] = z[1, i] - z[0, i]
        e[1, i] = z[2, i] - z[3, i]
    size = math.sqrt(dot(v, v))
    for i in range(3):
        n[i] = v[i] / size if size > 0.0 else (1.0 if i == 2 else 0.0)
    d00, d01, d11 = dot(e[0], e[0]), dot(e[0], e[1]), dot(e[1], e[1])
    if at[2] == 0.0:
        d00, d01 = 1.0, 0.0
    if at[3] == 0.0:
        d11, d01 = 1.0, 0.0
    det = d00 * d11 - d01 * d01
    for k in range(4):
        for i in range(3):
            # of v·e_A and v·(−e_B): ends 1 and 4 shorten e, ends 2 and 3 lengthen it
            sign = 1.0 if k == 1 or k == 2 else -1.0
            f0 = at[2] * (c[k] * e[0, i] + (sign * v[i] if k < 2 else 0.0))
            f1 = at[3] * (c[k] * e[1, i] + (sign * v[i] if k >= 2 else 0.0))
            moves[0, 3 * k + i] = -(d11 * f0 - d01 * f1) / det
            moves[1, 3 * k + i] = -(d00 * f1 - d01 * f0) / det
    for j in range(12):
        part = 0.0
        for i in range(3):
            turns[i, j] = e[0, i] * moves[0, j] + e[1, i] * moves[1, j] + (c[j // 3] if j % 3 == i else 0.0)
            part += n[i] * turns[i, j]
        for i in range(3):
            turns[i, j] = (turns[i, j] - n[i] * part) / size if size > 0.0 else 0.0
    return size


@kernel
def _first_tangents(axis, R, n, t):
    """Fill t (2, 3) with unit tangents for the normal n: t1 from the axis (3,), or from a column of R where it is near
    n."""
    j, part = -1, dot(axis, n) / math.sqrt(dot(axis, axis))
    if abs(part) > _NEAR_AXIS:
        for k in range(3):
            along = R[0, k] * n[0] + R[1, k] * n[1] + R[2, k] * n[2]
            if abs(along) < abs(part):
                j, part = k, along
    size = 1.0 / math.sqrt(dot(axis, axis))
    for i in range(3):
        t[0, i] = (size * axis[i] if j < 0 else R[i, j]) - part * n[i]
    size = 1.0 / math.sqrt(dot(t[0], t[0]))
    for i in range(3):
        t[0, i] *= size
    cross(n, t[0], t[1])


@kernel
def _add_shift(p, k, R, g, row):
    """Add gᵀ δz_k, g (3,) in inertial axes, to a row (nd,)."""
    at, y = 6 * p.node[k], local_vector(3)
    rotate_T(R[p.node[k]], g, y)
    for i in range(3):
        row[at + i] += g[i]
    add_cross(1.0, p.offset[k], y, row[at + 3 : at + 6])


@kernel
def _add_turn(p, k, R, g, row):
    """Add gᵀ (rotation of the node of end k), g (3,) in inertial axes, to a row (nd,)."""
    at, y = 6 * p.node[k], local_vector(3)
    rotate_T(R[p.node[k]], g, y)
    for i in range(3):
        row[at + 3 + i] += y[i]


@kernel
def _displacements(p, R, R0, step, part, y, turn):
    """Fill y and Ψ of (4), and spread and psi of the step, for s = part."""
    T = local_matrix(3, 3)
    r, z, z0, psi, spread, mean, _, _, _, _ = step
    for i in range(3):
        y[i] = turn[i] = spread[i] = 0.0
    for k in range(4):
        a = p.node[k]
        for i in range(3):
            for j in range(3):
                T[i, j] = R[a, i, 0] * R0[a, j, 0] + R[a, i, 1] * R0[a, j, 1] + R[a, i, 2] * R0[a, j, 2]
        log_matrix(T, psi[k])
        for i in range(3):
            y[i] += mean[k] * (z[k, i] - z0[k, i])
            turn[i] += r[k // 2] * abs(mean[k]) * psi[k, i]
            spread[i] += (part if k < 2 else 1.0 - part) * abs(mean[k]) * psi[k, i]


@kernel
def _normal_rows(p, R, z, c, arm, n, G_N, W, point, normal):
    """Add the normal rows of (1) and (5), G_N (nd,) and W (nd,), the normal, and the point of contact at an arm [m]
    from the axis of the first."""
    g = local_vector(3)
    for i in range(3):
        normal[i] += n[i]
        point[i] += c[0] * z[0, i] + c[1] * z[1, i] - arm * n[i]
    for k in range(4):
        for i in range(3):
            g[i] = c[k] * n[i]
        _add_shift(p, k, R, g, G_N)
        _add_turn(p, k, R, g, W)


@kernel
def _slip_row(p, R, sign, w, u, h, step, row):
    """Add ∂slip/∂q of (4) to a row (nd,), for its w (3,), sign u (3,) and h = ∂slip/∂n (3,)."""
    r, z, z0, psi, spread, mean, c, n, moves, turns = step
    g, T = local_arrays("3, 3 3")
    of_sigma = of_tau = 0.0  # half of ∂slip/∂(mean of σ), of τ
    for i in range(3):
        of_sigma += 0.5 * w[i] * (z[1, i] - z0[1, i] - z[0, i] + z0[0, i])
        of_sigma += 0.5 * sign * r[0] * u[i] * (psi[1, i] - psi[0, i])
        of_tau -= 0.5 * w[i] * (z[3, i] - z0[3, i] - z[2, i] + z0[2, i])
        of_tau += 0.5 * sign * r[1] * u[i] * (psi[3, i] - psi[2, i])
    of_gap = 0.5 * sign * dot(u, spread)
    for k in range(4):
        for i in range(3):
            j = 3 * k + i
            g[i] = mean[k] * w[i] + of_sigma * moves[0, j] + of_tau * moves[1, j]
            g[i] += h[0] * turns[0, j] + h[1] * turns[1, j] + h[2] * turns[2, j]
            g[i] += of_gap * c[k] * n[i]
        _add_shift(p, k, R, g, row)
        tangent_inverse(psi[k], T)
        rotate(T, u, g)
        for i in range(3):
            g[i] *= sign * r[k // 2] * abs(mean[k])
        _add_turn(p, k, R, g, row)


@kernel
def _velocity_rows(p, R, c, r, sign, t, t_o, V_T, W):
    """Add (5) for the tangent t (3,) to V_T (nd,) and W (nd,); t × n = sign t_o, r (2,) the r_k."""
    g = local_vector(3)
    for k in range(4):
        for i in range(3):
            g[i] = c[k] * t[i]
        _add_turn(p, k, R, g, W)
        _add_shift(p, k, R, g, V_T)
        for i in range(3):
            g[i] = sign * r[k // 2] * abs(c[k]) * t_o[i]
        _add_turn(p, k, R, g, V_T)


@kernel
def contact(p, x, R, x0, R0, rows):
    """Kinematics (1)-(5)."""
    z, z0, psi, at, v, c, mean, n, n0, m, moves = local_arrays("4 3, 4 3, 4 3, 4, 3, 4, 4, 3, 3, 3, 2 12")
    turns, r, axis, t, w, u, end, y, turn, spread, h = local_arrays("3 12, 2, 3, 2 3, 2 3, 2 3, 2 3, 3, 3, 3, 2 3")
    arm = local_vector(2)
    nearest(p, x0, R0, z0, at, v, mean)
    size0 = _changes(z0, at, v, mean, moves, turns, n0)
    nearest(p, x, R, z, at, v, c)
    size = _changes(z, at, v, c, moves, turns, n)
    part, touching = middle_of_gap(p.radius[0]), p.radius[0] + p.radius[1]
    rows.gap[0] += size - touching
    for i in range(2):
        share = part if i == 0 else 1.0 - part
        arm[i] = p.radius[i] + share * (size - touching)
        r[i] = p.radius[i] + share * (0.5 * (size0 + size) - touching)
    _normal_rows(p, R, z, c, arm[0], n, rows.G_N, rows.W[2], rows.point, rows.normal)
    # the step, at the means of weights and lever arms
    for k in range(4):
        mean[k] = 0.5 * (mean[k] + c[k])
    step = Step(r, z, z0, psi, spread, mean, c, n, moves, turns)
    _displacements(p, R, R0, step, part, y, turn)
    for i in range(3):
        axis[i] = z0[3, i] - z0[2, i]
    follows = arc_start(n0, n, m)
    _first_tangents(axis, R0[p.node[2]], m, t)
    arc_slip(n, follows, 1.0, y, turn, Arc(m, t, u, w, end, h), rows.slip)  # Ψ has the radii
    for k in range(2):
        o, sign = 1 - k, 2.0 * k - 1.0  # slip_1 has −u_2, slip_2 has +u_1; t_1 × n = −t_2, t_2 × n = t_1
        _slip_row(p, R, sign, w[k], u[o], h[k], step, rows.G_T[k])
        _velocity_rows(p, R, c, arm, sign, end[k], end[o], rows.V_T[k], rows.W[k])
        for i in range(3):
            rows.tangents[k, i] += end[k, i]


@kernel
def contact_hessian(p, x, R, H_N):
    """Add ∂G_N/∂q to H_N (nd, nd): ∂(c_k n)/∂z between ends, and the second variation of each end."""
    z, at, v, c, n, moves, turns, g, y, block, half = local_arrays("4 3, 4, 3, 4, 3, 2 12, 3 12, 3, 3, 3 3, 3 3")
    nearest(p, x, R, z, at, v, c)
    _changes(z, at, v, c, moves, turns, n)
    for k in range(4):
        a = 6 * p.node[k]
        for i in range(3):
            g[i] = c[k] * n[i]
        rotate_T(R[p.node[k]], g, y)
        add_skew_skew(1.0, p.offset[k], y, H_N, a + 3, a + 3)
        side, sign = k // 2, (1.0 if k == 1 or k == 2 else -1.0)  # c_2 and c_3 grow with σ, τ
        for m in range(4):
            b = 6 * p.node[m]
            for i in range(3):
                for j in range(3):
                    block[i, j] = c[k] * turns[i, 3 * m + j] + sign * n[i] * moves[side, 3 * m + j]
                    H_N[a + i, b + j] += block[i, j]
            # δz_m = … − R õ δθ: columns θ_m are rows of (block R) crossed with o_m; rows θ_k the same from the left
            for i in range(3):
                rotate_T(R[p.node[m]], block[i], y)
                half[i, 0] = p.offset[m, 1] * y[2] - p.offset[m, 2] * y[1]
                half[i, 1] = p.offset[m, 2] * y[0] - p.offset[m, 0] * y[2]
                half[i, 2] = p.offset[m, 0] * y[1] - p.offset[m, 1] * y[0]
                for j in range(3):
                    H_N[a + i, b + 3 + j] += half[i, j]
            for j in range(3):
                for i in range(3):
                    g[i] = block[i, j]
                rotate_T(R[p.node[k]], g, y)
                add_cross(1.0, p.offset[k], y, H_N[a + 3 : a + 6, b + j])
                for i in range(3):
                    g[i] = half[i, j]
                rotate_T(R[p.node[k]], g, y)
                add_cross(1.0, p.offset[k], y, H_N[a + 3 : a + 6, b + 3 + j])
