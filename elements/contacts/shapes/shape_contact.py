"""Rows from which contacts of a sphere with a shape are built, and what their constructors check.

Sphere of radius r about point P of body A (offset a); shape fixed in frame Q on body B (origin b, axes F). A shape is
known by the distance φ of a point y from it, the normal n = ∇φ there and the curvature N = ∂n/∂y; all that follows is
the same for every shape. Q components unless marked; index 0: start of the step; Q_BA = R_Bᵀ R_A.

    y_B   = R_Bᵀ (x_A + R_A a − x_B),   y = Fᵀ (y_B − b)           sphere centre, B and Q components                (1)
    gap   = φ(y) − r                                                                                             (2)
    ψ     = Fᵀ log(Q_BA Q_BA0ᵀ)                                    relative rotation of the step                     (3)
    J     = [ R_Bᵀ , −Q_BA ã , −R_Bᵀ , ỹ_B ]                       y_B variation: δy_B = J δq                        (4)
    G_N   = Jᵀ F n ;   ∂G_N/∂q = (second variation of y_B along F n: sphere_plane, (8)) + Jᵀ F N Fᵀ J                (5)

Tangents. At the start of the step t1 is the z axis of Q projected onto the tangent plane, or its x axis where z is
within 26° of the normal; t2 = n × t1. During the step they follow n by the smallest rotation n0 → n, c = n0·n:

    t_k   = t0_k − 2α (t0_k·n)(n0 + n),   α = 1/(2(1 + c))                                                        (6)

They rotate with body B: the description is the same in every inertial frame. Those of two spheres rotate with half of
the relative rotation as well, (13).

Slip. The velocity of the sphere's point of contact relative to the shape is ẏ + r n × ω. Its integral over the step is
taken on the arc along which n rotates from n0 to n, with mean tangents u_k = (t0_k + t_k)/2:

    slip_1 = w_1·(y − y0) − r u_2·ψ ,   slip_2 = w_2·(y − y0) + r u_1·ψ                                           (7)
    u_k    = t0_k − α (t0_k·n)(n0 + n)
    w_k    = t0_k − (t0_k·n) [ α (n0 + n) − κ (n − n0) ]                                                           (8)
    κ(σ)   = (asin√σ / √(σ (1 − σ)) − 1) / (4σ),   σ = (1 − c)/2 = sin²(half the angle from n0 to n)                (9)

The point of contact lies on the sphere, s = 0. Of two spheres, and of two rounded bodies alike, it lies in the middle
of the gap, s = ½, so that it does not matter which of them is named first. A point, r = 0, is touched where it is: it
has no surface, and its node may have no rotation. The arm in (11) is r + s gap, and in (7) its mean over the step,

    r + ½ s (gap + gap0) ,   which adds to (10): − ½ s (u_2·ψ) G_N for slip_1, + ½ s (u_1·ψ) G_N for slip_2       (12)

Two spheres that touch from outside are described in axes C that rotate by p ψ from those of B, p = ½, since in those of
either body the result depends on which of them is named first. With E = exp(p ψ), and y from the centre of the second,

    n ← Eᵀ n ,   y − y0 ← Eᵀ y − y0 ,   r + ½ s (gap + gap0) ← r + ½ s (gap + gap0) − ½ p (|y| + |y0|)             (13)

in (6)-(9): A rotates by (1 − p) ψ and B by −p ψ in C. The arm, ½ (r_A − r_B) for s = p, has the gradient ½ (s − p) G_N,
and e·(Eᵀ y) the part p T(p ψ)((E e) × y) along ∂ψ.

κ stretches the chord of the arc to its length: (7) is exact for motion in a plane on a flat, cylindrical or spherical
shape, for any size of step and any motion of B, and of second order otherwise. Contacts whose normal rotates by more
than 154° in one step (c < −0.9: centres that nearly coincide) take n for n0. Relative rotations are below π in a step.

    G_T = ∂slip/∂q: along J with w_k + N ∂slip_k/∂n, along ψ with T⁻ᵀ(ψ) [ 0, Q_BA, 0, −I ]                        (10)
    V_T = [t1 t2]ᵀ (J + r ñ [ 0, Q_BA, 0, −I ]) ;   W = [t1 t2 n]ᵀ [ 0, Q_BA, 0, −I ]                              (11)

Source: docs/theory/contacts.md, (1)-(7), (9)-(13), generalised here from planes to shapes: (6)-(9) are derived
here. Sanchez2025 annex B freezes n and the tangents at the start of the step (B.36), which is of first order.

Each shape has a kernel ``nearest`` of φ, n and N, and passes it to the kernels below. The rows take fields of the
parameters, not the record, which is another type for every shape: they are compiled once for all (2.5 s of compilation
for a shape instead of 6.5 s).

    symbol  code   shape   unit  meaning
    a       p_AP   (3,)    m     sphere centre from A's origin, A components
    b, F    p_BQ, R_BQ (3,)… m, - origin and axes of the shape's frame in B
    r       radius ()      m     radius of the sphere, 0 for a point
    n, N    n, N   (3,)…   -, 1/m  unit normal from the shape to the sphere, and its derivative (symmetric, N n = 0)
"""

import collections
import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.contact import Contact
from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import (
    add_cross,
    add_R_skew,
    add_skew_RT,
    add_skew_skew,
    cross,
    dot,
    exp_matrix,
    log_matrix,
    multiply_T,
    rotate,
    rotate_T,
    tangent,
    tangent_inverse,
)

FRAMES = [("p_AP", "f8", (3,)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3)), ("radius", "f8")]
# of (1)-(5): the centre of the sphere, y_B and y, the normal and the curvature there; y0, n0 at the start of the step
Foot = collections.namedtuple("Foot", "y_B y y0 n n0 N")
# of (6)-(9), from m: tangents at the start (2, 3), u, w, tangents at the end, and h = ∂slip/∂n, all (2, 3)
Arc = collections.namedtuple("Arc", "m t u w end h")
_NEAR_AXIS = 0.9  # cosine between the normal and the z axis from which t1 comes from the x axis
_TURNED = -0.9  # cosine between the normals of a step below which the arc is undetermined


@kernel
def sphere_center(x_A, R_A, p_AP, x_B, R_B, p_BQ, R_BQ, y_B, y):
    """Fill the centre of the sphere in B components, y_B (3,), and in Q components, y (3,), by (1)."""
    d = local_vector(3)
    rotate(R_A, p_AP, d)
    for i in range(3):
        d[i] += x_A[i] - x_B[i]
    rotate_T(R_B, d, y_B)
    for i in range(3):
        d[i] = y_B[i] - p_BQ[i]
    rotate_T(R_BQ, d, y)


@kernel
def first_tangents(n, t):
    """Fill t (2, 3) with unit tangents for the normal n (3,): t1 from the z axis, or from x where n is near z."""
    i = 2 if abs(n[2]) <= _NEAR_AXIS else 0
    scale = 1.0 / math.sqrt(1.0 - n[i] * n[i])
    for j in range(3):
        t[0, j] = -scale * n[i] * n[j]
    t[0, i] += scale
    cross(n, t[0], t[1])


@kernel
def arc_stretch(c):
    """κ of (9) and dκ/dc for the cosine c of the angle between the normals."""
    sigma = 0.5 * (1.0 - c)
    if sigma < 0.05:
        # asin√σ/√(σ(1 − σ)) = Σ g_k σᵏ with g_0 = 1, g_{k+1}/g_k = (2k + 2)/(2k + 3); 12 terms: 1e-16 at 0.05
        value, slope, power, g = 0.0, 0.0, 1.0, 2.0 / 3.0
        for k in range(12):
            value += g * power
            g *= (2.0 * k + 4.0) / (2.0 * k + 5.0)
            slope += (k + 1.0) * g * power
            power *= sigma
        return 0.25 * value, -0.125 * slope
    g = math.asin(math.sqrt(sigma)) / math.sqrt(sigma * (1.0 - sigma))
    g_rate = (1.0 - g * (1.0 - 2.0 * sigma)) / (2.0 * sigma * (1.0 - sigma))
    return (g - 1.0) / (4.0 * sigma), -(g_rate * sigma - (g - 1.0)) / (8.0 * sigma * sigma)


@kernel
def add_along(scale, e, a, R_B, Q, y_B, row):
    """Add scale eᵀ J, e (3,) in B components, to a row (12,)."""
    z = local_vector(3)
    rotate(R_B, e, z)
    for i in range(3):
        row[i] += scale * z[i]
        row[6 + i] -= scale * z[i]
    rotate_T(Q, e, z)
    add_cross(scale, a, z, row[3:6])
    add_cross(scale, e, y_B, row[9:12])


@kernel
def add_turning(scale, e, Q, row):
    """Add scale eᵀ [0, Q_BA, 0, −I], e (3,) in B components, to a row (12,)."""
    for i in range(3):
        row[3 + i] += scale * (Q[0, i] * e[0] + Q[1, i] * e[1] + Q[2, i] * e[2])
        row[9 + i] -= scale * e[i]


@kernel
def relative_turn(R_A, R_B, R0_A, R0_B, Q, Q0, psi, T):
    """Fill Q and Q0 = R_Bᵀ R_A at the end and at the start, ψ = log(Q Q0ᵀ) (3,), B components, and T⁻¹(ψ)."""
    E = local_matrix(3, 3)
    multiply_T(R_B, R_A, Q)
    multiply_T(R0_B, R0_A, Q0)
    for i in range(3):
        for j in range(3):
            E[i, j] = Q[i, 0] * Q0[j, 0] + Q[i, 1] * Q0[j, 1] + Q[i, 2] * Q0[j, 2]
    log_matrix(E, psi)
    tangent_inverse(psi, T)


@kernel
def arc_start(n0, n, m):
    """Fill m (3,) with the normal from which the tangents follow n: n0, and n where the arc is undetermined.

    Returns 1 or 0 for these, the factor of the change of the tangents with n.
    """
    follows = 1.0 if dot(n0, n) >= _TURNED else 0.0
    for i in range(3):
        m[i] = n0[i] if follows == 1.0 else n[i]
    return follows


@kernel
def arc_slip(n, follows, r, d, psi, arc, slip):
    """Add (7) to slip (2,); fill u, w, end and h of an `Arc`.

    m (3,) and follows as from `arc_start`, t (2, 3) the tangents there, d (3,) = y − y0.
    """
    m, t, u, w, end, h = arc
    c = min(dot(m, n), 1.0)
    alpha = 0.5 / (1.0 + c)
    alpha_c = -2.0 * alpha * alpha
    kappa, kappa_c = arc_stretch(c)
    for k in range(2):
        s = dot(t[k], n)
        for i in range(3):
            u[k, i] = t[k, i] - s * alpha * (m[i] + n[i])
            w[k, i] = u[k, i] + s * kappa * (n[i] - m[i])
            end[k, i] = 2.0 * u[k, i] - t[k, i]
    along, back, turn = dot(d, n) + dot(d, m), dot(d, n) - dot(d, m), dot(psi, n) + dot(psi, m)
    for k in range(2):
        o, sign = 1 - k, 2.0 * k - 1.0  # slip_1 has −u_2, slip_2 has +u_1
        slip[k] += dot(w[k], d) + sign * r * dot(u[o], psi)
        s, s_o = dot(t[k], n), dot(t[o], n)
        for i in range(3):
            of_w = -(alpha * along - kappa * back) * t[k, i] - s * (
                (alpha_c * along - kappa_c * back) * m[i] + (alpha - kappa) * d[i]
            )
            of_u = -alpha * turn * t[o, i] - s_o * (alpha_c * turn * m[i] + alpha * psi[i])
            h[k, i] = follows * (of_w + sign * r * of_u)


@kernel
def middle_of_gap(r):
    """s of (12) of two bodies of one kind: part of the gap from the surface of a sphere of radius r to the point."""
    return 0.5 if r > 0.0 else 0.0


@kernel
def axes_between(share, psi, E, T):
    """Fill E = exp(p ψ) of (13) and T(p ψ), for share = p."""
    turn = local_vector(3)
    for i in range(3):
        turn[i] = share * psi[i]
    exp_matrix(turn, E)
    tangent(turn, T)


@kernel
def shape_rows(a, F, r, A, B, foot, rows, between):
    """Add all of (5)-(13) but the gap to ``rows``; A, B: `NodeState` of the bodies of sphere and shape, foot: `Foot`.

    between: s of (12), the gaps at the end and at the start of the step, and p of (13), of spheres; (0, 0, 0, 0) for a
    point on the surface of the sphere.
    """
    part, gap, gap0, share = between
    y, y0, n, N = foot.y, foot.y0, foot.n, foot.N
    Q, T, t, w, u, end, h, m, d, psi, z, e, Q0 = local_arrays("3 3, 3 3, 2 3, 2 3, 2 3, 2 3, 2 3, 3, 3, 3, 3, 3, 3 3")
    E, T_C, e_n, n_C, f = local_arrays("3 3, 3 3, 3, 3, 3")
    arm, mean_arm = r + part * gap, r + 0.5 * part * (gap + gap0)
    if share != 0.0:
        mean_arm -= 0.5 * share * (math.sqrt(dot(y, y)) + math.sqrt(dot(y0, y0)))
    relative_turn(A.R, B.R, A.R0, B.R0, Q, Q0, z, T)
    rotate_T(F, z, psi)
    axes_between(share, psi, E, T_C)
    # normal direction
    rotate(F, n, e_n)
    add_along(1.0, e_n, a, B.R, Q, foot.y_B, rows.G_N)
    add_turning(1.0, e_n, Q, rows.W[2])
    rotate(B.R, e_n, z)
    for i in range(3):
        rows.normal[i] += z[i]
        rows.point[i] += A.x[i] + A.R[i, 0] * a[0] + A.R[i, 1] * a[1] + A.R[i, 2] * a[2] - arm * z[i]
    rotate_T(E, y, d)
    for i in range(3):
        d[i] -= y0[i]
    rotate_T(E, n, n_C)
    follows = arc_start(foot.n0, n_C, m)
    first_tangents(m, t)
    arc_slip(n_C, follows, mean_arm, d, psi, Arc(m, t, u, w, end, h), rows.slip)
    for k in range(2):
        o, sign = 1 - k, 2.0 * k - 1.0
        # slip, (10), (12), (13)
        rotate(E, h[k], z)
        rotate(E, w[k], e)
        for i in range(3):
            e[i] += N[i, 0] * z[0] + N[i, 1] * z[1] + N[i, 2] * z[2]
        rotate(F, e, z)
        add_along(1.0, z, a, B.R, Q, foot.y_B, rows.G_T[k])
        cross(e, y, f)
        rotate(T_C, f, z)
        for i in range(3):
            z[i] = share * z[i] + sign * mean_arm * u[o, i]
        rotate(F, z, e)
        rotate(T, e, z)
        add_turning(1.0, z, Q, rows.G_T[k])
        add_along(0.5 * (part - share) * sign * dot(u[o], psi), e_n, a, B.R, Q, foot.y_B, rows.G_T[k])
        # velocities, (11): t_1 × n = −t_2, t_2 × n = t_1
        rotate(E, end[k], z)
        rotate(F, z, e)
        add_along(1.0, e, a, B.R, Q, foot.y_B, rows.V_T[k])
        add_turning(1.0, e, Q, rows.W[k])
        add_turning(-sign * arm, e, Q, rows.V_T[o])
        rotate(B.R, e, z)
        for i in range(3):
            rows.tangents[k, i] += z[i]


@kernel
def shape_hessian(a, F, R_A, R_B, y_B, n, N, H_N):
    """Add ∂G_N/∂q of (5) to H_N (12, 12)."""
    Q, J, NF, B, e, z = local_arrays("3 3, 3 12, 3 3, 3 3, 3, 3")
    multiply_T(R_B, R_A, Q)
    rotate(F, n, e)
    add_R_skew(-1.0, R_B, e, H_N, 0, 9)
    add_R_skew(1.0, R_B, e, H_N, 6, 9)
    add_skew_RT(1.0, e, R_B, H_N, 9, 0)
    add_skew_RT(-1.0, e, R_B, H_N, 9, 6)
    rotate_T(Q, e, z)
    add_skew_skew(1.0, a, z, H_N, 3, 3)
    add_skew_skew(1.0, e, y_B, H_N, 9, 9)
    # J of (4), and −ã Qᵀ ẽ, whose column j is −a × (Qᵀ (e × axis j)), with its transpose
    for j in range(3):
        for i in range(3):
            J[i, j] = R_B[j, i]
            J[i, 6 + j] = -R_B[j, i]
            J[i, 9 + j] = 0.0
            B[i, j] = 0.0
        B[j, j] = 1.0
    for j in range(3):
        cross(e, B[j], z)
        for i in range(3):
            NF[0, i] = Q[0, i] * z[0] + Q[1, i] * z[1] + Q[2, i] * z[2]
        cross(a, NF[0], z)
        for i in range(3):
            H_N[3 + i, 9 + j] -= z[i]
            H_N[9 + j, 3 + i] -= z[i]
        cross(a, Q[j], z)  # row j of −Q ã is a × (row j of Q)
        for i in range(3):
            J[j, 3 + i] = z[i]
        cross(y_B, B[j], z)
        for i in range(3):
            J[i, 9 + j] = z[i]
    # curvature: Jᵀ F N Fᵀ J
    for i in range(3):
        for j in range(3):
            NF[i, j] = N[i, 0] * F[j, 0] + N[i, 1] * F[j, 1] + N[i, 2] * F[j, 2]
    for i in range(3):
        for j in range(3):
            B[i, j] = F[i, 0] * NF[0, j] + F[i, 1] * NF[1, j] + F[i, 2] * NF[2, j]
    for j in range(12):
        for i in range(3):
            z[i] = B[i, 0] * J[0, j] + B[i, 1] * J[1, j] + B[i, 2] * J[2, j]
        for i in range(12):
            H_N[i, j] += J[0, i] * z[0] + J[1, i] * z[1] + J[2, i] * z[2]


@kernel
def sphere_contact(nearest, p, A, B, rows, share=0.0):
    """Gap and rows of a sphere against the shape with the kernel ``nearest`` (p, y, n, N) -> φ; share: s and p of (12),
    (13) of two spheres."""
    foot = Foot(
        local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_matrix(3, 3)
    )  # fmt: skip
    sphere_center(A.x0, A.R0, p.p_AP, B.x0, B.R0, p.p_BQ, p.R_BQ, foot.y_B, foot.y0)
    before = nearest(p, foot.y0, foot.n0, foot.N) - p.radius
    sphere_center(A.x, A.R, p.p_AP, B.x, B.R, p.p_BQ, p.R_BQ, foot.y_B, foot.y)
    now = nearest(p, foot.y, foot.n, foot.N) - p.radius
    rows.gap[0] += now
    shape_rows(p.p_AP, p.R_BQ, p.radius, A, B, foot, rows, (share, now, before, share))


@kernel
def sphere_hessian(nearest, p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12) for the shape with the kernel ``nearest``."""
    y, y_B, n, N = local_arrays("3, 3, 3, 3 3")
    sphere_center(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, p.R_BQ, y_B, y)
    nearest(p, y, n, N)
    shape_hessian(p.p_AP, p.R_BQ, R_A, R_B, y_B, n, N, H_N)


class SphereShapeContact(Contact):
    """Base of contacts between a sphere and a shape: takes two frames and the radius, checks them.

    A subclass sets ``record`` to `poses` and its own numbers, ``parameters`` to ``FRAMES`` and its own fields, and
    ``nearest`` to its kernel (p, y, n, N) -> φ, which its kernels ``contact`` and ``contact_hessian`` pass to
    `sphere_contact` and `sphere_hessian`.
    """

    of_sphere = True
    nearest: Any = None

    def __init__(
        self,
        sphere: FrameLike,
        shape: FrameLike,
        *,
        radius: float,
        allow_point: bool = False,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        self.sphere, self.shape = self.as_frame("sphere", sphere), self.as_frame("shape", shape)
        super().__init__((self.sphere.node, self.shape.node), name=name, **law)
        if self.sphere.node is self.shape.node:
            raise ParameterError(self, "shape", self.shape, "is on the same node as the sphere; they can never touch")
        self.radius = self.positive("radius", radius, "m", allow_zero=allow_point)

    @property
    def solid(self) -> tuple[np.ndarray, float] | None:
        """Core and radius of the shape, which is all within a radius [m] of a box of half edge lengths (3,) [m] in its
        frame: some are 0, or that along z infinite. None: it is no such shape.
        """
        return None

    @property
    def hollow(self) -> bool:
        """True if the space outside the shape is convex: convex bodies are in it where their corners are."""
        return False

    @property
    def smallest_radius(self) -> float | None:
        """Smallest radius [m] of the edges and walls of the shape; None: it has no other side."""
        return None

    @property
    def passage(self) -> float:
        """Radius of the smallest circle on which the sphere's centre moves round the shape."""
        return 0.0 if self.smallest_radius is None else self.radius + self.smallest_radius

    @property
    def reach(self) -> float:
        return self.radius

    @property
    def poses(self) -> tuple:
        """Values of the fields `FRAMES`."""
        return self.sphere.p, self.shape.p, self.shape.rotation, self.radius

    def regular(self, point: Any) -> bool:
        """True if the rows are smooth near a configuration of `fem_mbs.verify`: no edge and no centre is near.

        Curvatures may change by a tenth within 4e-3 of the size of the point (differences reach 3e-3), and the
        normal may rotate by up to 148° in the step.
        """
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        near = 4e-3 * point.size
        N, changed, normals = np.empty((3, 3)), np.empty((3, 3)), np.empty((2, 3))
        for n, x, R in zip(normals, (point.x0, point.x), (point.R0, point.R)):
            y_B = R[1].T @ (x[0] + R[0] @ self.sphere.p - x[1])
            y = self.shape.rotation.T @ (y_B - self.shape.p)
            type(self).nearest(p[0], y, n, N)
        if normals[0] @ normals[1] < -0.85:
            return False
        largest, n = np.abs(N).max(), np.empty(3)
        for step in near * np.vstack([np.eye(3), -np.eye(3)]):
            type(self).nearest(p[0], y + step, n, changed)
            if np.abs(changed - N).max() > 0.1 * max(largest, np.abs(changed).max()):
                return False
        return True

    def placed(self, shape: type, *arguments: Any, **options: Any) -> list:
        """A drawing (class of `fem_mbs.shapes`) in the axes of frame Q, for ``picture``."""
        placement = {"offset": self.shape.p, "rotation": self.shape.rotation}
        return [(self.shape.node, shape(*arguments, **options, **placement))]


def parameters(*fields: tuple) -> np.dtype:
    """Record type of a contact of a sphere with a shape: the common fields and those of the shape."""
    return np.dtype(FRAMES + list(fields))
