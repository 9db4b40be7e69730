"""Length of a cable along its path: straight spans, and arcs on pulleys without friction.

Stations c_0 … c_n: the ends and the centres of pulleys between them, each a point of a body. The plane of the cable is
that of x and y of one frame, E; Δ = R_Eᵀ(c_{k+1} − c_k). A pulley of radius r has ρ = ± r: + where the cable runs
around it counter-clockwise about z; ends have ρ = 0, or are drums. With κ = ρ_{k+1} − ρ_k, D² = Δ_x² + Δ_y², ψ_Δ the
angle of Δ, span k and its share of the arcs are

    L_k = √(D² − κ² + Δ_z²)     ψ_k = ψ_Δ − asin(κ/D)     f_k = L_k − κ ψ_k     ℓ = Σ_k f_k                         (1)
    arc on pulley k:  ρ_k (ψ_k − ψ_{k−1}) > 0                                                                    (2)

An end with ρ ≠ 0 is a drum: the cable is fixed to it at an angle ψ_m of its axes, and (1), (2) hold with ψ_m for
the span that is missing. E is then a frame of the drum, so that ψ_m is a number, and the drum rotates with its cable.

ψ_k is unwrapped (multi-turn). In directions (d, t, z) along Δ in the plane, across, and out of it,

    ∇f = ( D/L_k − κ²/(D W),  −κ/D,  Δ_z/L_k ) ,   W = √(D² − κ²)                                                (3)
    H = d dᵀ: 1/L_k − D²/L_k³ + κ² (1/(D²W) + 1/W³) ;  t tᵀ: f_d/D ;  d tᵀ, t dᵀ: κ/D² ;
        d zᵀ, z dᵀ: −D Δ_z/L_k³ ;  z zᵀ: 1/L_k − Δ_z²/L_k³                                                       (4)

In the plane, Δ_z = 0, ∇f is the unit vector u along the span and H = (I − u uᵀ)/L_k. Spans with κ = 0 are straight
lines in space: ∇f = Δ/|Δ|. Out of the plane a span with κ ≠ 0 is longer than the shortest by terms of (κ Δ_z/D²)².

Source: docs/theory/gears_and_belts.md, (12)-(15); derived there, checked by differences.

    symbol   code                    shape    unit  meaning
    c_k      p.point, p.node         (8, 3)   m     stations: point from its node, node axes; number of the node
    ρ_k      p.rho                   (8,)     m     signed radii
    E        p.plane, p.R_AE         ()(3, 3) -     number of the node of E, axes of E in its axes
    ψ_k      state                   (7,)     rad   at the end of the last step
    ψ_m      p.mark, p.wound         (2,)     rad   of drums at the first and last end; whether (2) is looked at there
"""

import math

import numpy as np

from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import add_R_skew, add_rotated, add_skew_RT, add_skew_skew, cross, dot, rotate, rotate_T

MOST = 8  # stations
PATH = [
    ("count", "i8"), ("node", "i8", (MOST,)), ("point", "f8", (MOST, 3)), ("rho", "f8", (MOST,)), ("plane", "i8"),
    ("R_AE", "f8", (3, 3)), ("length", "f8"), ("start", "f8", (MOST - 1,)), ("mark", "f8", (2,)), ("wound", "i8", (2,)),
]  # fmt: skip
CABLE = np.dtype([*PATH, ("stiffness", "f8"), ("damping", "f8")])


@kernel
def axes_of_plane(p, R, R_E):
    """Fill R_E (3, 3) with the axes of E, inertial axes."""
    for i in range(3):
        for j in range(3):
            R_E[i, j] = 0.0
            for k in range(3):
                R_E[i, j] += R[p.plane, i, k] * p.R_AE[k, j]


@kernel
def span_vector(p, k, x, R, R_E, delta):
    """Fill delta (3,) with Δ of span k, axes of E."""
    d = local_vector(3)
    A, B = p.node[k], p.node[k + 1]
    for i in range(3):
        d[i] = x[B, i] - x[A, i]
    add_rotated(1.0, R[B], p.point[k + 1], d)
    add_rotated(-1.0, R[A], p.point[k], d)
    rotate_T(R_E, d, delta)


@kernel
def span_angle(p, k, delta, near):
    """ψ_k of (1), the value nearest to ``near``; 0 in spans in which no arc depends on it."""
    kappa = p.rho[k + 1] - p.rho[k]
    if p.rho[k] == 0.0 and p.rho[k + 1] == 0.0:
        return 0.0
    across = math.sqrt(delta[0] * delta[0] + delta[1] * delta[1])
    turn = math.atan2(delta[1], delta[0]) - math.asin(min(max(kappa / across, -1.0), 1.0)) - near
    return near + turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)


@kernel
def span_length(p, k, delta, near):
    """f_k of (1) [m]. Circles without common tangent count as touching; `trouble_path` reports such poses."""
    kappa = p.rho[k + 1] - p.rho[k]
    if kappa == 0.0:
        return math.sqrt(dot(delta, delta))
    square = max(delta[0] * delta[0] + delta[1] * delta[1] - kappa * kappa, 0.0) + delta[2] * delta[2]
    return math.sqrt(square) - kappa * span_angle(p, k, delta, near)


@kernel
def span_gradient(p, k, delta, phi):
    """Fill phi (3,) with ∇f_k by Δ, (3), axes of E."""
    kappa = p.rho[k + 1] - p.rho[k]
    if kappa == 0.0:
        length = math.sqrt(dot(delta, delta))
        for i in range(3):
            phi[i] = delta[i] / length
        return
    across = math.sqrt(delta[0] * delta[0] + delta[1] * delta[1])
    tangent = math.sqrt(max(across * across - kappa * kappa, 1e-12 * kappa * kappa))
    length = math.sqrt(tangent * tangent + delta[2] * delta[2])
    dx, dy = delta[0] / across, delta[1] / across
    along = across / length - kappa * kappa / (across * tangent)
    aside = -kappa / across
    phi[0], phi[1], phi[2] = along * dx - aside * dy, along * dy + aside * dx, delta[2] / length


@kernel
def span_hessian(p, k, delta, F):
    """Fill F (3, 3) with the second derivatives of f_k by Δ, (4), axes of E."""
    kappa = p.rho[k + 1] - p.rho[k]
    across = math.sqrt(delta[0] * delta[0] + delta[1] * delta[1])
    tangent = math.sqrt(max(across * across - kappa * kappa, 1e-12 * kappa * kappa))
    length = math.sqrt(tangent * tangent + delta[2] * delta[2])
    cube = length * length * length
    if kappa == 0.0:
        for i in range(3):
            for j in range(3):
                F[i, j] = ((1.0 / length) if i == j else 0.0) - delta[i] * delta[j] / cube
        return
    dx, dy = delta[0] / across, delta[1] / across
    dd = 1.0 / length - across * across / cube
    dd += kappa * kappa * (1.0 / (across * across * tangent) + 1.0 / (tangent * tangent * tangent))
    tt = (across / length - kappa * kappa / (across * tangent)) / across
    dt, dz = kappa / (across * across), -across * delta[2] / cube
    F[0, 0] = dd * dx * dx + tt * dy * dy - 2.0 * dt * dx * dy
    F[1, 1] = dd * dy * dy + tt * dx * dx + 2.0 * dt * dx * dy
    F[0, 1] = (dd - tt) * dx * dy + dt * (dx * dx - dy * dy)
    F[0, 2], F[1, 2], F[2, 2] = dz * dx, dz * dy, 1.0 / length - delta[2] * delta[2] / cube
    F[1, 0], F[2, 0], F[2, 1] = F[0, 1], F[0, 2], F[1, 2]


@kernel
def cable_length(p, x, R, state):
    """ℓ of (1) [m]."""
    R_E, delta = local_arrays("3 3, 3")
    axes_of_plane(p, R, R_E)
    total = p.rho[p.count - 1] * p.mark[1] - p.rho[0] * p.mark[0]
    for k in range(p.count - 1):
        span_vector(p, k, x, R, R_E, delta)
        total += span_length(p, k, delta, state[k])
    return total


@kernel
def add_gradient(p, x, R, scale, G):
    """Add scale times the gradient of ℓ to G (nd,)."""
    R_E, delta, phi, W, y = local_arrays("3 3, 3, 3, 3, 3")
    axes_of_plane(p, R, R_E)
    for k in range(p.count - 1):
        span_vector(p, k, x, R, R_E, delta)
        span_gradient(p, k, delta, phi)
        rotate(R_E, phi, W)
        for end in range(2):
            node, sign = p.node[k + end], scale * (2.0 * end - 1.0)
            rotate_T(R[node], W, y)
            for i in range(3):
                G[6 * node + i] += sign * W[i]
                u, v = (i + 1) % 3, (i + 2) % 3
                G[6 * node + 3 + i] += sign * (p.point[k + end, u] * y[v] - p.point[k + end, v] * y[u])
        cross(phi, delta, W)  # the axes of E rotate: φ × Δ, then from axes of E to those of its node
        rotate(p.R_AE, W, y)
        for i in range(3):
            G[6 * p.plane + 3 + i] += scale * y[i]


@kernel
def _span_jacobians(p, k, R, R_E, delta, J):
    """Fill J (15, 3), five blocks: ∂Δᵀ by x, θ of both ends of span k and by θ of the node of E."""
    ends = local_matrix(3, 3)
    J[:, :] = 0.0
    for end in range(2):
        node, sign = p.node[k + end], 2.0 * end - 1.0
        ends[:, :] = 0.0
        add_R_skew(-sign, R[node], p.point[k + end], ends, 0, 0)  # ∂(R a)/∂θ = −R ã
        for i in range(3):
            for j in range(3):
                J[6 * end + i, j] = sign * R_E[i, j]
                for m in range(3):
                    J[6 * end + 3 + i, j] += ends[m, i] * R_E[m, j]
    ends[:, :] = 0.0
    add_skew_RT(1.0, delta, p.R_AE, ends, 0, 0)  # δΔ = Δ̃ R_AEᵀ δθ
    for i in range(3):
        for j in range(3):
            J[12 + i, j] = ends[j, i]


@kernel
def add_hessian(p, x, R, scale, H):
    """Add scale times the second derivatives ∂²ℓ of the gradient of `add_gradient` to H (nd, nd)."""
    R_E, F, J, delta, phi, W, y, a, at, turn, arm = local_arrays("3 3, 3 3, 15 3, 3, 3, 3, 3, 3, 5, 3 3, 3 3")
    axes_of_plane(p, R, R_E)
    E = 6 * p.plane + 3
    for k in range(p.count - 1):
        span_vector(p, k, x, R, R_E, delta)
        span_gradient(p, k, delta, phi)
        span_hessian(p, k, delta, F)
        _span_jacobians(p, k, R, R_E, delta, J)
        at[0], at[2], at[4] = 6 * p.node[k], 6 * p.node[k + 1], E
        at[1], at[3] = at[0] + 3, at[2] + 3
        for r in range(15):
            row = int(at[r // 3]) + r % 3
            for c in range(15):
                column, total = int(at[c // 3]) + c % 3, 0.0
                for m in range(3):
                    for n in range(3):
                        total += J[r, m] * F[m, n] * J[c, n]
                H[row, column] += scale * total
        # φ·∂²Δ: W = R_E φ rotates with E, arms rotate with their bodies
        rotate(R_E, phi, W)
        rotate(p.R_AE, phi, a)
        for end in range(2):
            node, sign = p.node[k + end], scale * (2.0 * end - 1.0)
            rotate_T(R[node], W, y)
            add_skew_skew(sign, p.point[k + end], y, H, 6 * node + 3, 6 * node + 3)
            # ∂/∂θ_E of sign (W, arm × RᵀW), δW = −R_EA ã δθ_E, and the transposes
            turn[:, :] = 0.0
            add_R_skew(-sign, R[p.plane], a, turn, 0, 0)
            for i in range(3):
                for j in range(3):
                    H[6 * node + i, E + j] += turn[i, j]
                    H[E + j, 6 * node + i] += turn[i, j]
                    arm[i, j] = R[node, 0, i] * turn[0, j] + R[node, 1, i] * turn[1, j] + R[node, 2, i] * turn[2, j]
            for i in range(3):
                u, v = (i + 1) % 3, (i + 2) % 3
                for j in range(3):
                    moment = p.point[k + end, u] * arm[v, j] - p.point[k + end, v] * arm[u, j]
                    H[6 * node + 3 + i, E + j] += moment
                    H[E + j, 6 * node + 3 + i] += moment
        rotate(p.R_AE, delta, y)
        add_skew_skew(scale, a, y, H, E, E)  # φ × (Δ × δθ)


@kernel
def first_spans(p, x, R, state):
    """ψ_k at the start, near those that the path was built with."""
    R_E, delta = local_arrays("3 3, 3")
    axes_of_plane(p, R, R_E)
    for k in range(p.count - 1):
        span_vector(p, k, x, R, R_E, delta)
        state[k] = span_angle(p, k, delta, p.start[k])


@kernel
def count_spans(p, x, R, state):
    """ψ_k at the end of a step."""
    R_E, delta = local_arrays("3 3, 3")
    axes_of_plane(p, R, R_E)
    for k in range(p.count - 1):
        span_vector(p, k, x, R, R_E, delta)
        state[k] = span_angle(p, k, delta, state[k])


@kernel
def trouble_path(p, x, R, state):
    """1 + k: span k has no common tangent; 100 + k: the arc on the pulley or drum at station k is negative."""
    R_E, delta = local_arrays("3 3, 3")
    axes_of_plane(p, R, R_E)
    before = 0.0
    for k in range(p.count - 1):
        span_vector(p, k, x, R, R_E, delta)
        kappa = p.rho[k + 1] - p.rho[k]
        if delta[0] * delta[0] + delta[1] * delta[1] <= kappa * kappa and kappa != 0.0:
            return k + 1.0
        angle = span_angle(p, k, delta, state[k])
        if k == 0:
            before = p.mark[0] if p.wound[0] != 0 else angle
        if p.rho[k] != 0.0 and p.rho[k] * (angle - before) < 0.0:
            return 100.0 + k
        before = angle
    last = p.count - 1
    return 100.0 + last if p.wound[1] != 0 and p.rho[last] * (p.mark[1] - before) < 0.0 else 0.0
