"""Capsules: sphere against capsule, capsule against capsule, capsule on a plane; on rigid bodies or along beams.

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

with r_k = r_A on the first and r_k = |v| − r_A on the second, r_B plus the gap (for the slip its mean): both surfaces
are taken at the point of the first, so that a common rigid motion is no slip, open or closed.

Tangent t1 is at the start of the step the axis of the second capsule projected onto the tangent plane (where it is
within 26° of the normal, a transverse axis of its first node) and follows n by the smallest rotation.

Capsules that are parallel to 1e-6 rad touch in the middle of their common length, with σ held. One contact is one
point: capsules that lie along each other need further contacts (`SphereOnCapsule` at their ends). A capsule on a plane
touches with its ends: two contacts of spheres.

Source: docs/theory/contacts.md, (17)-(21); nearest points of segments: Ericson, Real-Time Collision Detection (2005),
5.1.9; (2)-(5) derived here, checked by differences.

    symbol    code         shape   unit  meaning
    o_k       offset       (4, 3)  m     ends from their nodes, node axes; node (4,) numbers the nodes of the element
    r_A, r_B  radius       (2,)    m     radii
              segment      ()      -     1 when the first is a capsule, 0 when it is a sphere
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments import FrameLike
from fem_mbs.elements.base import Contact, Part, register
from fem_mbs.elements.contacts.shape_contact import arc
from fem_mbs.elements.contacts.sphere_plane import SphereOnPlane
from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.rotations import add_cross, add_skew_skew, cross, dot, log_matrix, rotate, rotate_T, tangent_inverse

PARAMETERS = np.dtype(
    [("offset", "f8", (4, 3)), ("node", "i8", (4,)), ("radius", "f8", (2,)), ("segment", "i8")]
)  # fmt: skip
_PARALLEL = 1e-12  # sine squared of the angle of two axes below which they count as parallel
_NEAR_AXIS = 0.9  # cosine between the normal and the axis from which t1 comes from another direction
_TURNED = -0.9  # cosine between the normals of a step below which no arc can be told


@kernel
def _foot(first, last, y):
    """Parameter in [0, 1] of the point nearest to y (3,) on the segment from first to last."""
    square, part = 0.0, 0.0
    for i in range(3):
        square += (last[i] - first[i]) ** 2
        part += (last[i] - first[i]) * (y[i] - first[i])
    return min(max(part / square, 0.0), 1.0)


@kernel
def nearest(p, x, R, z, at, v, c):
    """Fill ends z (4, 3), parameters and whether they are free at (4,) = σ, τ, 0 or 1, 0 or 1, v (3,), c (4,)."""
    for k in range(4):
        rotate(R[p.node[k]], p.offset[k], z[k])
        for i in range(3):
            z[k, i] += x[p.node[k], i]
    a = e = b = d = f = 0.0
    for i in range(3):
        e_A, e_B, apart = z[1, i] - z[0, i], z[3, i] - z[2, i], z[0, i] - z[2, i]
        a += e_A * e_A
        e += e_B * e_B
        b += e_A * e_B
        d += e_A * apart
        f += e_B * apart
    s, free = 0.0, 0.0
    if p.segment != 0:
        det = a * e - b * b
        if det > _PARALLEL * a * e:
            s, free = (b * f - d * e) / det, 1.0
        else:
            first, last = min(f, f + b) / e, max(f, f + b) / e
            middle = 0.5 * (min(max(first, 0.0), 1.0) + min(max(last, 0.0), 1.0))
            s = (middle * e - f) / b
        s = min(max(s, 0.0), 1.0)
    t = (b * s + f) / e
    # from an end to the other segment: not touched by the round-off of the other end
    if t <= 0.0 or t >= 1.0:
        t = 0.0 if t <= 0.0 else 1.0
        if p.segment != 0:
            s, free = _foot(z[0], z[1], z[2] if t == 0.0 else z[3]), 1.0
    elif s == 0.0 or s == 1.0:
        t = _foot(z[2], z[3], z[0] if s == 0.0 else z[1])
    at[0], at[1] = s, t
    at[2] = free if 0.0 < s < 1.0 else 0.0
    at[3] = 1.0 if 0.0 < t < 1.0 else 0.0
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
def _add_end(p, k, R, g, h, row):
    """Add gᵀ δz_k + hᵀ (rotation of the node of end k), g and h (3,) in inertial axes, to a row (nd,)."""
    at, o = 6 * p.node[k], p.offset[k]
    y = local_vector(3)
    rotate_T(R[p.node[k]], g, y)
    for i in range(3):
        row[at + i] += g[i]
    add_cross(1.0, o, y, row[at + 3 : at + 6])
    rotate_T(R[p.node[k]], h, y)
    for i in range(3):
        row[at + 3 + i] += y[i]


@kernel
def contact(p, x, R, x0, R0, gap, slip, G_N, G_T, V_T, W, point, normal, tangents):
    """Kinematics (1)-(5)."""
    z, z0, at, at0 = local_matrix(4, 3), local_matrix(4, 3), local_vector(4), local_vector(4)
    v, n, n0, c, mean = local_vector(3), local_vector(3), local_vector(3), local_vector(4), local_vector(4)
    moves, turns, psi, T = local_matrix(2, 12), local_matrix(3, 12), local_matrix(4, 3), local_matrix(3, 3)
    t, w, u, end = local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3), local_matrix(2, 3)
    y, turn, turn_B, r, zero = local_vector(3), local_vector(3), local_vector(3), local_vector(2), local_vector(3)
    g, h = local_vector(3), local_vector(3)
    nearest(p, x0, R0, z0, at0, v, mean)
    size0 = _changes(z0, at0, v, mean, moves, turns, n0)
    nearest(p, x, R, z, at, v, c)
    size = _changes(z, at, v, c, moves, turns, n)
    gap[0] += size - p.radius[0] - p.radius[1]
    # displacements and rotations of the step, at the mean weights
    r[0], r[1] = p.radius[0], 0.5 * (size0 + size) - p.radius[0]
    for i in range(3):
        y[i] = turn[i] = turn_B[i] = zero[i] = 0.0
    for k in range(4):
        mean[k] = 0.5 * (mean[k] + c[k])
        a = p.node[k]
        for i in range(3):
            for j in range(3):
                T[i, j] = R[a, i, 0] * R0[a, j, 0] + R[a, i, 1] * R0[a, j, 1] + R[a, i, 2] * R0[a, j, 2]
        log_matrix(T, psi[k])
        for i in range(3):
            y[i] += mean[k] * (z[k, i] - z0[k, i])
            turn[i] += r[k // 2] * abs(mean[k]) * psi[k, i]
            turn_B[i] += abs(mean[k]) * psi[k, i] if k >= 2 else 0.0
    # tangents at the start, on the way and at the end
    follows = 1.0 if dot(n0, n) >= _TURNED else 0.0
    for i in range(3):
        n0[i] = n0[i] if follows == 1.0 else n[i]
        g[i] = z0[3, i] - z0[2, i]
    _first_tangents(g, R0[p.node[2]], n0, t)
    cosine = min(dot(n0, n), 1.0)
    alpha = 0.5 / (1.0 + cosine)
    kappa, kappa_c = arc(cosine)
    alpha_c = -2.0 * alpha * alpha
    for k in range(2):
        s = dot(t[k], n)
        for i in range(3):
            u[k, i] = t[k, i] - s * alpha * (n0[i] + n[i])
            w[k, i] = u[k, i] + s * kappa * (n[i] - n0[i])
            end[k, i] = 2.0 * u[k, i] - t[k, i]
    along, back, twist = dot(y, n) + dot(y, n0), dot(y, n) - dot(y, n0), dot(turn, n) + dot(turn, n0)
    for i in range(3):
        normal[i] += n[i]
        point[i] += c[0] * z[0, i] + c[1] * z[1, i] - p.radius[0] * n[i]
        for k in range(2):
            tangents[k, i] += end[k, i]
    for k in range(4):
        for i in range(3):
            g[i], h[i] = c[k] * n[i], c[k] * n[i]
        _add_end(p, k, R, g, zero, G_N)
        _add_end(p, k, R, zero, h, W[2])
    for m in range(2):
        o, sign = 1 - m, 2.0 * m - 1.0  # slip_1 has −u_2, slip_2 has +u_1
        slip[m] += dot(w[m], y) + sign * dot(u[o], turn)
        s, s_o = dot(t[m], n), dot(t[o], n)
        for i in range(3):  # h = ∂slip_m/∂n
            of_w = -(alpha * along - kappa * back) * t[m, i] - s * (
                (alpha_c * along - kappa_c * back) * n0[i] + (alpha - kappa) * y[i]
            )
            of_u = -alpha * twist * t[o, i] - s_o * (alpha_c * twist * n0[i] + alpha * turn[i])
            h[i] = follows * (of_w + sign * of_u)
        of_sigma = of_tau = 0.0  # half of ∂slip_m/∂(mean of σ), of τ
        for i in range(3):
            of_sigma += 0.5 * w[m, i] * (z[1, i] - z0[1, i] - z[0, i] + z0[0, i])
            of_sigma += 0.5 * sign * r[0] * u[o, i] * (psi[1, i] - psi[0, i])
            of_tau -= 0.5 * w[m, i] * (z[3, i] - z0[3, i] - z[2, i] + z0[2, i])
            of_tau += 0.5 * sign * r[1] * u[o, i] * (psi[3, i] - psi[2, i])
        for k in range(4):
            for i in range(3):
                j = 3 * k + i
                g[i] = mean[k] * w[m, i] + of_sigma * moves[0, j] + of_tau * moves[1, j]
                g[i] += h[0] * turns[0, j] + h[1] * turns[1, j] + h[2] * turns[2, j]
                g[i] += 0.5 * sign * dot(u[o], turn_B) * c[k] * n[i]  # r_k of the second grows with the gap
            _add_end(p, k, R, g, zero, G_T[m])
            tangent_inverse(psi[k], T)
            rotate(T, u[o], g)
            for i in range(3):
                g[i] *= sign * r[k // 2] * abs(mean[k])
            _add_end(p, k, R, zero, g, G_T[m])
            for i in range(3):
                g[i] = c[k] * end[m, i]
            _add_end(p, k, R, zero, g, W[m])
            _add_end(p, k, R, g, zero, V_T[m])
            # t_1 × n = −t_2, t_2 × n = t_1
            for i in range(3):
                g[i] = sign * (p.radius[0] if k < 2 else size - p.radius[0]) * abs(c[k]) * end[o, i]
            _add_end(p, k, R, zero, g, V_T[m])


@kernel
def contact_hessian(p, x, R, H_N):
    """Add ∂G_N/∂q to H_N (nd, nd): ∂(c_k n)/∂z between ends, and the second variation of each end."""
    z, at, v, c, n = local_matrix(4, 3), local_vector(4), local_vector(3), local_vector(4), local_vector(3)
    moves, turns = local_matrix(2, 12), local_matrix(3, 12)
    g, y, block, half = local_vector(3), local_vector(3), local_matrix(3, 3), local_matrix(3, 3)
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


def _ends(owner, parameter, item):
    """Frames (first, second) of the ends of a capsule: a pair, or a beam."""
    if hasattr(item, "frame_A") and hasattr(item, "frame_B"):
        item = (item.frame_A, item.frame_B)
    try:
        first, second = item
    except (TypeError, ValueError):
        raise ParameterError(owner, parameter, item, "is not a pair of frames, nor a beam") from None
    ends = owner.as_frame(parameter, first), owner.as_frame(parameter, second)
    if np.linalg.norm(ends[1].position - ends[0].position) == 0.0:
        raise ParameterError(owner, parameter, item, "has both ends at the same position; for a sphere use one frame")
    return ends


class _CapsuleContact(Contact):
    """What contacts between capsules share: nodes, record and the configurations at which they are smooth."""

    parameters = PARAMETERS
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    convex = True

    @property
    def passage(self) -> float:
        return float(sum(self.record[2]))

    @property
    def reach(self) -> float:
        z = [frame.position for frame in self.ends]
        return float(max(np.linalg.norm(z[1] - z[0]), np.linalg.norm(z[3] - z[2])) + max(self.record[2]))

    def _connect(self, first, second, radii, name, law):
        """Take the ends (one or two frames, two frames) and both radii."""
        self.ends = (*first, *first)[:2] + tuple(second)
        nodes = []
        for frame in self.ends:
            if not any(frame.node is other for other in nodes):
                nodes.append(frame.node)
        number = [next(i for i, node in enumerate(nodes) if node is frame.node) for frame in self.ends]
        super().__init__(nodes, name=name, **law)
        message = "has a node in common with the first; they can never part"
        self.check(not set(number[:2]) & set(number[2:]), "second", self.ends[2], message)
        self.sides = tuple(dict.fromkeys(number[:2])), tuple(dict.fromkeys(number[2:]))
        self.record = (np.array([f.p for f in self.ends]), number, radii, len(first) - 1)

    def regular(self, point: Any) -> bool:
        """Whether a configuration of `fem_mbs.verify` is away from where σ or τ reach an end and axes are parallel."""
        p = np.zeros(1, PARAMETERS)
        p[0] = self.record
        near = 0.02 * max(np.linalg.norm(node.position - self.nodes[0].position) for node in self.nodes)
        z, at, v, c, states, normals = np.empty((4, 3)), np.empty(4), np.empty(3), np.empty(4), [], []
        rng = np.random.default_rng(0)
        for k in range(13):
            moved = near * rng.normal(size=point.x.shape) * (k > 1)
            x, R = (point.x0, point.R0) if k == 0 else (point.x + moved, point.R)
            nearest(p[0], x, R, z, at, v, c)
            normals.append(v / np.linalg.norm(v))
            states.append(tuple(np.where(at[2:] == 1, 2, at[:2])) if k else None)
        e_A, e_B = z[1] - z[0], z[3] - z[2]
        parallel = np.linalg.norm(np.cross(e_A, e_B)) < 0.4 * np.linalg.norm(e_A) * np.linalg.norm(e_B)
        close = np.linalg.norm(v) < 30 * near
        same = all(state == states[1] for state in states[1:])
        parallel = parallel and self.record[3] == 1
        return bool(same and not close and not parallel and normals[0] @ normals[1] > -0.85)


class SphereOnCapsule(_CapsuleContact):
    """A sphere that can touch a capsule: a rod with round ends, or a beam between its two nodes.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the sphere.
    capsule : pair of Frame, or Beam
        Ends of the axis: two frames of one body, frames or nodes of two, or a beam, whose axis is taken as straight
        between its ends.
    radius : float ≥ 0 [m]
        Of the sphere.
    radius_capsule : float > 0 [m]
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution, name:
        see `Contact`.

    Raises
    ------
    ParameterError
        Radii, a capsule without length, a node on both sides, coefficients out of range.

    Notes
    -----
    A line of beams needs one contact for each beam; where two meet both may be closed, and the multipliers are
    shared.

    Examples
    --------
    >>> from fem_mbs import RigidBody
    >>> rod = RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), name="rod")
    >>> ball = RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5])
    >>> ends = rod.frame([-0.5, 0, 0]), rod.frame([0.5, 0, 0])
    >>> SphereOnCapsule(ball, ends, radius=0.1, radius_capsule=0.05, restitution=0.6, name="hit")
    SphereOnCapsule 'hit'
    """

    def __init__(
        self,
        sphere: FrameLike,
        capsule: Any,
        *,
        radius: float,
        radius_capsule: float,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.radius = self.positive("radius", radius, "m", allow_zero=True)
        self.radius_capsule = self.positive("radius_capsule", radius_capsule, "m")
        ends = _ends(self, "capsule", capsule)
        self._connect((self.as_frame("sphere", sphere),), ends, (self.radius, self.radius_capsule), name, law)


class CapsuleOnCapsule(_CapsuleContact):
    """Two capsules that can touch: rods with round ends, or beams between their nodes.

    Parameters
    ----------
    capsule_A, capsule_B : pair of Frame, or Beam
        Ends of the axes: two frames of one body, frames or nodes of two, or a beam, whose axis is taken as straight
        between its ends.
    radius_A, radius_B : float > 0 [m]
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution, name:
        see `Contact`.
        Impulses and slip are those of the first capsule relative to the second.

    Raises
    ------
    ParameterError
        Radii not positive, a capsule without length, a node on both sides, coefficients out of range.

    Notes
    -----
    One contact is one point: rods that cross. For rods that lie along each other add `SphereOnCapsule` contacts at the
    ends of the shorter one.

    Examples
    --------
    >>> from fem_mbs import RigidBody
    >>> low = RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), name="low")
    >>> high = RigidBody.cylinder(1.0, 0.05, 1.0, axis=(0, 1, 0), position=[0, 0, 0.2], name="high")
    >>> a = high.frame([0, -0.5, 0]), high.frame([0, 0.5, 0])
    >>> b = low.frame([-0.5, 0, 0]), low.frame([0.5, 0, 0])
    >>> CapsuleOnCapsule(a, b, radius_A=0.05, radius_B=0.05, friction=0.3, name="crossing")
    CapsuleOnCapsule 'crossing'
    """

    def __init__(
        self, capsule_A: Any, capsule_B: Any, *, radius_A: float, radius_B: float, name: str | None = None, **law: Any
    ) -> None:
        self.name = name
        self.radius_A = self.positive("radius_A", radius_A, "m")
        self.radius_B = self.positive("radius_B", radius_B, "m")
        first, second = _ends(self, "capsule_A", capsule_A), _ends(self, "capsule_B", capsule_B)
        self._connect(first, second, (self.radius_A, self.radius_B), name, law)


class CapsuleOnPlane(Part):
    """A capsule that can touch a plane: two `SphereOnPlane` contacts, one at each end, which is all that can touch.

    Parameters
    ----------
    capsule : pair of Frame, or Beam
        Ends of the axis: two frames of one body, frames or nodes of two, or a beam.
    plane : Frame, Node or body
        The plane contains its origin; its z axis is the normal and points to the side where the capsule may be.
    radius : float > 0 [m]
        Of the capsule.
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane, see `SphereOnPlane`.
    name : str, optional
        The contacts are called "name 1" and "name 2", after the ends.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution:
        see `Contact`.

    Attributes
    ----------
    elements : list of the two contacts

    Raises
    ------
    ParameterError
        Radius not positive, a capsule without length, a common node, coefficients out of range.

    Examples
    --------
    >>> from fem_mbs import Model, RigidBody
    >>> model, rod = Model(), RigidBody.cylinder(1.0, 0.05, 1.0, axis=(1, 0, 0), position=[0, 0, 1], name="rod")
    >>> ends = rod.frame([-0.5, 0, 0]), rod.frame([0.5, 0, 0])
    >>> floor = model.add(CapsuleOnPlane(ends, model.ground, radius=0.05, friction=0.3, name="floor"))
    >>> floor.elements
    [SphereOnPlane 'floor 1', SphereOnPlane 'floor 2']
    """

    options_of = Contact

    def __init__(
        self,
        capsule: Any,
        plane: FrameLike,
        *,
        radius: float,
        drawn_size: float | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.radius = self.positive("radius", radius, "m")
        first, second = _ends(self, "capsule", capsule)
        names = (None, None) if name is None else (f"{name} 1", f"{name} 2")
        self.elements = [
            SphereOnPlane(first, plane, radius=radius, drawn_size=drawn_size, name=names[0], **law),
            SphereOnPlane(second, plane, radius=radius, drawn_size=0.0, name=names[1], **law),
        ]


def _random_ends(rng, A, B):
    return A.frame(0.2 * rng.normal(size=3)), B.frame(0.2 * rng.normal(size=3))


register(
    SphereOnCapsule,
    example=lambda rng, A, B, C: SphereOnCapsule(
        A.frame(0.2 * rng.normal(size=3)), _random_ends(rng, B, C), radius=rng.uniform(0, 0.5),
        radius_capsule=rng.uniform(0.1, 0.5),
    ),
)  # fmt: skip
register(
    CapsuleOnCapsule,
    example=lambda rng, A, B, C, D: CapsuleOnCapsule(
        _random_ends(rng, A, B), _random_ends(rng, C, D), radius_A=rng.uniform(0.1, 0.5), radius_B=rng.uniform(0.1, 0.5)
    ),
)
