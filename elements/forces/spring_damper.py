"""Spring-dampers: between two points, and about a common axis.

`Spring`, with d = x_B + R_B b − x_A − R_A a, w = ḋ, l = |d|, e = d/l, J = ∂d/∂q = [−I, R_A ã, I, −R_B b̃]:

    F = k (l − l_0) + c e·w          V = ½ k (l − l_0)²          f = −Jᵀ e F                                       (1)
    K = Jᵀ(k e eᵀ + c e wᵀP + F P) J + c Jᵀ e eᵀ ∂w/∂q + (θ_A,θ_A) −ã (R_Aᵀ e F)~ + (θ_B,θ_B) b̃ (R_Bᵀ e F)~        (2)
    C = c Jᵀ e eᵀ J              P = (I − e eᵀ)/l ,  ∂w/∂q:  θ_A −R_A (a × Ω_A)~ ,  θ_B R_B (b × Ω_B)~             (3)

A spring without free length has F/l = k, also where the points meet: there e F = k d + c w, the limit of motion
through.

`TorsionSpring`, with φ the angle from x_P to x_Q, S = y_P·x_Q, D = x_P·x_Q, ρ² = S² + D² (1 when the z axes are equal):

    φ = atan2(S, D)   G = ∂φ/∂q = (D G_S − S G_D)/ρ²   M = k (φ − φ_0) + c G v   V = ½ k (φ − φ_0)²    f = −Gᵀ M   (4)
    K = Gᵀ(k G + c vᵀH) + M H        C = c Gᵀ G                                                                    (5)
    H = ∂Gᵀ/∂q = (D H_S − S H_D + G_Sᵀ G_D − G_Dᵀ G_S)/ρ² − 2 Gᵀ(S G_S + D G_D)/ρ²                                 (6)

The axes of P are turned by φ_0 about z, so that φ − φ_0 is the angle that the kernel measures: the spring is smooth
within half a turn of its free angle.

Source: docs/theory/springs_and_loads.md, (1)-(6); (4)-(6) derived from the row "perpendicular" of docs/theory/joints.md
(2.4) and checked by finite differences.

    symbol   code            shape   unit       meaning
    a, b     p.p_AP, p_BQ    (3,)    m          points from their nodes, node axes
    k, c     p.stiffness …   ()      N/m, N s/m stiffness and damping (N m/rad, N m s/rad in (4)-(6))
    l_0      p.free_length   ()      m          length without force
"""

import math

import numpy as np

from fem_mbs.arguments import FrameLike
from fem_mbs.elements.base import JOINT_FRAMES, Force, Joint, register
from fem_mbs.elements.joints.rows import axes_hessian, axes_row, check_parallel, points_apart, random_joint, start_size
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.rotations import add_cross, add_R_skew, add_rotated, add_skew_skew, cross, dot, exp, rotate_T

SPRING = np.dtype(
    [("p_AP", "f8", (3,)), ("p_BQ", "f8", (3,)), ("stiffness", "f8"), ("damping", "f8"), ("free_length", "f8")]
)
TORSION = np.dtype([("stiffness", "f8"), ("damping", "f8"), ("free_angle", "f8"), *JOINT_FRAMES.descr])


@kernel
def add_point_velocity(scale, a, R, velocity, Omega, w):
    """Add scale (ẋ + R (Ω × a)) to w (3,)."""
    y = local_vector(3)
    cross(Omega, a, y)
    for i in range(3):
        w[i] += scale * velocity[i]
    add_rotated(scale, R, y, w)


@kernel
def ends_apart(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, d, w):
    """Fill d and w (3,), from P to Q and its rate."""
    points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, d)
    w[:] = 0.0
    add_point_velocity(-1.0, p.p_AP, R_A, v_A, w_A, w)
    add_point_velocity(1.0, p.p_BQ, R_B, v_B, w_B, w)


@kernel
def pull(p, d, w, e):
    """Fill e (3,) with the direction of the spring (0 where the points meet); return l, F/l and the axial force F.

    Where the points meet F/l is k without free length, infinite with one (no direction: the force becomes NaN).
    """
    length = math.sqrt(dot(d, d))
    if length == 0.0:
        e[:] = 0.0
        return length, p.stiffness if p.free_length == 0.0 else math.inf, 0.0
    for i in range(3):
        e[i] = d[i] / length
    force = p.stiffness * (length - p.free_length) + p.damping * dot(e, w)
    return length, force / length, force


@kernel
def spring_force(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, f):
    """Add (1) to f (12,)."""
    d, w, e = local_vector(3), local_vector(3), local_vector(3)
    ends_apart(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, d, w)
    length, ratio, _ = pull(p, d, w, e)
    for i in range(3):
        d[i] *= ratio
        if length == 0.0:
            d[i] += p.damping * w[i]
    add_spring_force(p, R_A, R_B, d, f)


@kernel
def add_spring_force(p, R_A, R_B, pulled, f):
    """Add the force ``pulled`` (3,) on P, and its opposite on Q, to f (12,)."""
    y = local_vector(3)
    for i in range(3):
        f[i] += pulled[i]
        f[6 + i] -= pulled[i]
    rotate_T(R_A, pulled, y)
    add_cross(1.0, p.p_AP, y, f[3:6])
    rotate_T(R_B, pulled, y)
    add_cross(-1.0, p.p_BQ, y, f[9:12])


@kernel
def spring_tangent(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, K, C):
    """Add (2) and (3) to K and C (12, 12)."""
    d, w, e = local_vector(3), local_vector(3), local_vector(3)
    ends_apart(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, d, w)
    length, ratio, _ = pull(p, d, w, e)
    add_spring_tangent(p, R_A, w_A, R_B, w_B, d, w, e, length, ratio, p.stiffness, p.damping, K, C)


@kernel
def add_spring_tangent(p, R_A, w_A, R_B, w_B, d, w, e, length, ratio, stiffness, damping, K, C):
    """Add (2) and (3) with ∂F/∂l = ``stiffness``, ∂F/∂l' = ``damping`` and F/l = ``ratio`` to K and C (12, 12)."""
    pulled, y = local_vector(3), local_vector(3)
    J, JD, Jw, JE = local_matrix(3, 12), local_matrix(3, 12), local_matrix(3, 12), local_matrix(3, 12)
    J[:, :] = 0.0
    Jw[:, :] = 0.0
    for i in range(3):
        J[i, i] = -1.0
        J[i, 6 + i] = 1.0
        pulled[i] = ratio * d[i]
        if length == 0.0:
            pulled[i] += damping * w[i]
    add_R_skew(1.0, R_A, p.p_AP, J, 0, 3)
    add_R_skew(-1.0, R_B, p.p_BQ, J, 0, 9)
    cross(p.p_AP, w_A, y)
    add_R_skew(-1.0, R_A, y, Jw, 0, 3)
    cross(p.p_BQ, w_B, y)
    add_R_skew(1.0, R_B, y, Jw, 0, 9)
    # JD = D J with D = ∂(e F)/∂d, JE = E J and Jw ← E ∂w/∂q with E = ∂(e F)/∂w
    along = dot(e, w)
    for j in range(12):
        eJ = e[0] * J[0, j] + e[1] * J[1, j] + e[2] * J[2, j]
        if length == 0.0:
            for i in range(3):
                JD[i, j] = ratio * J[i, j]
                JE[i, j] = damping * J[i, j]
                Jw[i, j] *= damping
        else:
            wJ = (w[0] * J[0, j] + w[1] * J[1, j] + w[2] * J[2, j] - along * eJ) / length
            ew = e[0] * Jw[0, j] + e[1] * Jw[1, j] + e[2] * Jw[2, j]
            for i in range(3):
                JD[i, j] = e[i] * ((stiffness - ratio) * eJ + damping * wJ) + ratio * J[i, j]
                JE[i, j] = damping * e[i] * eJ
                Jw[i, j] = damping * e[i] * ew
    damped = damping != 0.0
    for r in range(12):
        j0, j1, j2 = J[0, r], J[1, r], J[2, r]
        for j in range(12):
            K[r, j] += j0 * (JD[0, j] + Jw[0, j]) + j1 * (JD[1, j] + Jw[1, j]) + j2 * (JD[2, j] + Jw[2, j])
        if damped:
            for j in range(12):
                C[r, j] += j0 * JE[0, j] + j1 * JE[1, j] + j2 * JE[2, j]
    rotate_T(R_A, pulled, y)
    add_skew_skew(-1.0, p.p_AP, y, K, 3, 3)
    rotate_T(R_B, pulled, y)
    add_skew_skew(1.0, p.p_BQ, y, K, 9, 9)


@kernel
def energy_spring(p, x_A, R_A, x_B, R_B):
    """Potential V of (1) [J]."""
    d = local_vector(3)
    points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, d)
    stretch = math.sqrt(dot(d, d)) - p.free_length
    return 0.5 * p.stiffness * stretch * stretch


@kernel
def spring_output(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, out):
    """Length and axial force."""
    d, w, e = local_vector(3), local_vector(3), local_vector(3)
    ends_apart(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, d, w)
    length, _, force = pull(p, d, w, e)
    out[0] += length
    out[1] += force


# --- torsion --------------------------------------------------------------------------------------------------------


@kernel
def torsion_gradient(p, R_A, R_B, g, GS, G):
    """Fill g (2,) with (S, D)/ρ, GS (2, 12) with (G_S, G_D)/ρ and G (12,) with G of (4); return ρ."""
    g[:] = 0.0
    GS[:, :] = 0.0
    axes_row(R_A, p.R_AP, 1, R_B, p.R_BQ, 0, 0, g, GS)
    axes_row(R_A, p.R_AP, 0, R_B, p.R_BQ, 0, 1, g, GS)
    rho = math.sqrt(g[0] * g[0] + g[1] * g[1])
    for i in range(2):
        g[i] /= rho
    for j in range(12):
        GS[0, j] /= rho
        GS[1, j] /= rho
        G[j] = g[1] * GS[0, j] - g[0] * GS[1, j]
    return rho


@kernel
def torsion_moment(p, g, G, v):
    """Moment M of (4) [N m]."""
    moment = p.stiffness * math.atan2(g[0], g[1])
    for j in range(12):
        moment += p.damping * G[j] * v[j]
    return moment


@kernel
def torsion_force(p, R_A, R_B, v, f):
    """Add (4) to f (12,)."""
    g, GS, G = local_vector(2), local_matrix(2, 12), local_vector(12)
    torsion_gradient(p, R_A, R_B, g, GS, G)
    moment = torsion_moment(p, g, G, v)
    for j in range(12):
        f[j] -= moment * G[j]


@kernel
def torsion_tangent(p, R_A, R_B, v, K, C):
    """Add (5) to K and C (12, 12)."""
    g, GS, G = local_vector(2), local_matrix(2, 12), local_vector(12)
    HS, H = local_vector(288).reshape(2, 12, 12), local_matrix(12, 12)
    HS[:] = 0.0
    rho = torsion_gradient(p, R_A, R_B, g, GS, G)
    moment = torsion_moment(p, g, G, v)
    axes_hessian(R_A, p.R_AP, 1, R_B, p.R_BQ, 0, 0, HS)
    axes_hessian(R_A, p.R_AP, 0, R_B, p.R_BQ, 0, 1, HS)
    for i in range(12):
        for j in range(12):
            H[i, j] = (g[1] * HS[0, i, j] - g[0] * HS[1, i, j]) / rho + GS[0, i] * GS[1, j] - GS[1, i] * GS[0, j]
            H[i, j] -= 2.0 * G[i] * (g[0] * GS[0, j] + g[1] * GS[1, j])  # (6)
    for j in range(12):
        vH = 0.0
        for i in range(12):
            vH += v[i] * H[i, j]
        for i in range(12):
            K[i, j] += G[i] * (p.stiffness * G[j] + p.damping * vH) + moment * H[i, j]
            C[i, j] += p.damping * G[i] * G[j]


@kernel
def energy_torsion(p, R_A, R_B):
    """Potential V of (4) [J]."""
    g, GS, G = local_vector(2), local_matrix(2, 12), local_vector(12)
    torsion_gradient(p, R_A, R_B, g, GS, G)
    twist = math.atan2(g[0], g[1])
    return 0.5 * p.stiffness * twist * twist


@kernel
def torsion_output(p, R_A, R_B, v, out):
    """Angle and moment."""
    g, GS, G = local_vector(2), local_matrix(2, 12), local_vector(12)
    torsion_gradient(p, R_A, R_B, g, GS, G)
    out[0] += p.free_angle + math.atan2(g[0], g[1])
    out[1] += torsion_moment(p, g, G, v)


class Spring(Force):
    """Linear spring and damper between two points.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Ends on the first and on the second body (or ground); only their origins matter.
    stiffness : float ≥ 0 [N/m]
    damping : float ≥ 0 [N s/m]
        Acts on the rate of the length.
    free_length : float ≥ 0 [m], optional
        Length without force; default: the distance at the start. With 0 the spring pulls the points together with k d
        and may pass through d = 0.
    name : str, optional

    Outputs
    -------
    length : [m]
    force : [N], along the spring, positive in tension, damper included

    Raises
    ------
    ParameterError
        Both frames on one node; negative stiffness, damping or free length; stiffness and damping both 0; points that
        coincide at the start with a free length > 0 (the direction of the force is undefined).

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> spring = Spring(Ground(), Node6([0, 0, -1]), stiffness=2e4, damping=50, free_length=0.9, name="spring")
    """

    parameters = SPRING
    kernels = {"force": spring_force, "force_tangent": spring_tangent, "energy": energy_spring, "output": spring_output}
    outputs = {"length": (1, "m"), "force": (1, "N")}

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        stiffness: float,
        damping: float = 0.0,
        free_length: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self._connect(frame_P, frame_Q, "a spring between them never changes its length", name=name)
        self.stiffness = self.positive("stiffness", stiffness, "N/m", allow_zero=True)
        self.damping = self.positive("damping", damping, "N s/m", allow_zero=True)
        self.viscous = self.damping > 0.0
        self.check(
            self.stiffness or self.damping, "stiffness", stiffness, "N/m and damping are both 0: it does nothing"
        )
        start = float(np.linalg.norm(self.frame_Q.position - self.frame_P.position))
        given = start if free_length is None else free_length
        self.free_length = self.positive("free_length", given, "m", allow_zero=True)
        smallest = 1e-12 * start_size(self.frame_P, self.frame_Q)
        unloaded = free_length is None or self.free_length > 0
        self.check(
            start > smallest or not unloaded,
            "frame_Q",
            self.frame_Q,
            "coincides with frame_P at the start: the direction of the force is undefined. Move an end, or set "
            "free_length=0 (a spring that pulls the points together)",
        )
        self.record = (self.frame_P.p, self.frame_Q.p, self.stiffness, self.damping, self.free_length)


class TorsionSpring(Force):
    """Torsional spring and damper about the common z axis of two frames.

    The hinge is a joint of its own (`Revolute`, `Cylindrical`) between the same frames.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground), z axes equal at the start; see `at`.
    stiffness : float ≥ 0 [N m/rad]
    damping : float ≥ 0 [N m s/rad]
    free_angle : float [rad], optional
        Angle from x of P to x of Q about z without moment; default: that of the start.
    name : str, optional

    Outputs
    -------
    angle : [rad], within half a turn of ``free_angle``
    moment : [N m], M = k (φ − φ_0) + c φ̇: −M acts on the second body about z, +M on the first

    Raises
    ------
    ParameterError
        Both frames on one node; z axes apart at the start; negative stiffness or damping, or both 0.

    Notes
    -----
    Turns are not counted: 180° beyond the free angle the moment jumps to that of −180°. A spring for larger angles is a
    `UserForce`.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], axis=[0, 0, 1])
    >>> spring = TorsionSpring(hinge.frame_P, hinge.frame_Q, stiffness=12.0, name="return spring")
    """

    parameters = TORSION
    kernels = {
        "force": torsion_force,
        "force_tangent": torsion_tangent,
        "energy": energy_torsion,
        "output": torsion_output,
    }
    outputs = {"angle": (1, "rad"), "moment": (1, "N m")}
    at = classmethod(Joint.at.__func__)  # frames are placed as those of a joint

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        stiffness: float,
        damping: float = 0.0,
        free_angle: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self._connect(frame_P, frame_Q, "a spring between them never turns", name=name)
        check_parallel(self)
        self.stiffness = self.positive("stiffness", stiffness, "N m/rad", allow_zero=True)
        self.damping = self.positive("damping", damping, "N m s/rad", allow_zero=True)
        self.viscous = self.damping > 0.0
        self.check(
            self.stiffness or self.damping, "stiffness", stiffness, "N m/rad and damping are both 0: it does nothing"
        )
        if free_angle is None:
            P, x_Q = self.frame_P.orientation, self.frame_Q.orientation[:, 0]
            free_angle = np.arctan2(P[:, 1] @ x_Q, P[:, 0] @ x_Q)
        self.free_angle = self.number("free_angle", free_angle, "rad")
        turned = self.frame_P.rotation @ exp([0.0, 0.0, self.free_angle])
        law = (self.stiffness, self.damping, self.free_angle)
        self.record = (*law, self.frame_P.p, turned, self.frame_Q.p, self.frame_Q.rotation)


def _example_spring(rng, a, b):
    P, Q = a.frame(rng.normal(size=3)), b.frame(rng.normal(size=3))
    stiffness, damping, length = rng.uniform(0.5, 2.0, size=3)
    return Spring(P, Q, stiffness, damping, length * rng.integers(0, 2))


def _example_torsion(rng, a, b):
    stiffness, damping, angle = rng.uniform(0.5, 2.0, size=3)
    return random_joint(TorsionSpring, rng, a, b, stiffness=stiffness, damping=damping, free_angle=angle)


register(Spring, example=_example_spring)
register(TorsionSpring, example=_example_torsion)
