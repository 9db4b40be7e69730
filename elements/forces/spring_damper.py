"""Spring and damper between two points.

With d = x_B + R_B b − x_A − R_A a, w = ḋ, l = |d|, e = d/l, J = ∂d/∂q = [−I, R_A ã, I, −R_B b̃]:

    F = k (l − l_0) + c e·w          V = ½ k (l − l_0)²          f = −Jᵀ e F                                       (1)
    K = Jᵀ(k e eᵀ + c e wᵀP + F P) J + c Jᵀ e eᵀ ∂w/∂q + (θ_A,θ_A) −ã (R_Aᵀ e F)~ + (θ_B,θ_B) b̃ (R_Bᵀ e F)~        (2)
    C = c Jᵀ e eᵀ J              P = (I − e eᵀ)/l ,  ∂w/∂q:  θ_A −R_A (a × Ω_A)~ ,  θ_B R_B (b × Ω_B)~             (3)

A spring without free length has F/l = k, also where the points meet: there e F = k d + c w, the limit of motion
through.

Source: docs/theory/springs_and_loads.md, (1)-(3).

    symbol   code            shape   unit       meaning
    a, b     p.p_AP, p_BQ    (3,)    m          points from their nodes, node axes
    k, c     p.stiffness …   ()      N/m, N s/m stiffness and damping
    l_0      p.free_length   ()      m          length without force
"""

import math

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Force, register
from fem_mbs.elements.joints.rows import points_apart, start_size
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_cross, add_R_skew, add_rotated, add_skew_skew, cross, dot, rotate_T

SPRING = np.dtype(
    [("p_AP", "f8", (3,)), ("p_BQ", "f8", (3,)), ("stiffness", "f8"), ("damping", "f8"), ("free_length", "f8")]
)


@kernel
def add_point_velocity(scale, a, R, velocity, Omega, w):
    """Add scale (ẋ + R (Ω × a)) to w (3,)."""
    y = local_vector(3)
    cross(Omega, a, y)
    for i in range(3):
        w[i] += scale * velocity[i]
    add_rotated(scale, R, y, w)


@kernel
def ends_apart(p, node_A, node_B, d, w):
    """Fill d and w (3,), from P to Q and its rate."""
    points_apart(node_A.x, node_A.R, p.p_AP, node_B.x, node_B.R, p.p_BQ, d)
    w[:] = 0.0
    add_point_velocity(-1.0, p.p_AP, node_A.R, node_A.v, node_A.w, w)
    add_point_velocity(1.0, p.p_BQ, node_B.R, node_B.v, node_B.w, w)


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
def spring_force(p, node_A, node_B, f):
    """Add (1) to f (12,)."""
    d, w, e = local_arrays("3, 3, 3")
    ends_apart(p, node_A, node_B, d, w)
    length, ratio, _ = pull(p, d, w, e)
    for i in range(3):
        d[i] *= ratio
        if length == 0.0:
            d[i] += p.damping * w[i]
    add_spring_force(p, node_A.R, node_B.R, d, f)


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
def spring_tangent(p, node_A, node_B, K, C):
    """Add (2) and (3) to K and C (12, 12)."""
    d, w, e = local_arrays("3, 3, 3")
    ends_apart(p, node_A, node_B, d, w)
    length, ratio, _ = pull(p, d, w, e)
    add_spring_tangent(p, node_A, node_B, d, w, e, (length, ratio, p.stiffness, p.damping), K, C)


@kernel
def add_spring_tangent(p, node_A, node_B, d, w, e, law, K, C):
    """Add (2) and (3) to K and C (12, 12); law: l, F/l, ∂F/∂l and ∂F/∂l'."""
    length, ratio, stiffness, damping = law
    pulled, y, J, JD, Jw, JE = local_arrays("3, 3, 3 12, 3 12, 3 12, 3 12")
    J[:, :] = 0.0
    Jw[:, :] = 0.0
    for i in range(3):
        J[i, i] = -1.0
        J[i, 6 + i] = 1.0
        pulled[i] = ratio * d[i]
        if length == 0.0:
            pulled[i] += damping * w[i]
    add_R_skew(1.0, node_A.R, p.p_AP, J, 0, 3)
    add_R_skew(-1.0, node_B.R, p.p_BQ, J, 0, 9)
    cross(p.p_AP, node_A.w, y)
    add_R_skew(-1.0, node_A.R, y, Jw, 0, 3)
    cross(p.p_BQ, node_B.w, y)
    add_R_skew(1.0, node_B.R, y, Jw, 0, 9)
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
    rotate_T(node_A.R, pulled, y)
    add_skew_skew(-1.0, p.p_AP, y, K, 3, 3)
    rotate_T(node_B.R, pulled, y)
    add_skew_skew(1.0, p.p_BQ, y, K, 9, 9)


@kernel
def energy_spring(p, x_A, R_A, x_B, R_B):
    """Potential V of (1) [J]."""
    d = local_vector(3)
    points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, d)
    stretch = math.sqrt(dot(d, d)) - p.free_length
    return 0.5 * p.stiffness * stretch * stretch


@kernel
def spring_output(p, node_A, node_B, out):
    """Length and axial force."""
    d, w, e = local_arrays("3, 3, 3")
    ends_apart(p, node_A, node_B, d, w)
    length, _, force = pull(p, d, w, e)
    out[0] += length
    out[1] += force


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


def _example_spring(rng, a, b):
    P, Q = a.frame(rng.normal(size=3)), b.frame(rng.normal(size=3))
    stiffness, damping, length = rng.uniform(0.5, 2.0, size=3)
    return Spring(P, Q, stiffness, damping, length * rng.integers(0, 2))


register(Spring, example=_example_spring)
