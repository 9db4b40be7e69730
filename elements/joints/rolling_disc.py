"""Rolling disc: the sharp edge of a disc on the second body rolls without slipping on a plane of the first.

Normal of the plane n = z_P, axis of the disc e = z_Q, c = n·e. The lowest point C of the edge is at

    C = x_Q + p ,   p = −r w/|w| ,   w = n − c e ,   |w| = √(1 − c²)                                               (1)

It stays in the plane, and does not move on it, with rows t = n, x_P, y_P of `joints.velocity_rows`, (1):

    g = n·(x_Q − x_P) − r √(1 − c²) = 0 ,    n·(v_B(C) − v_A(C)) = ġ                                              (2)
    x_P·(v_B(C) − v_A(C)) = 0 ,    y_P·(v_B(C) − v_A(C)) = 0                                                     (3)

(2) is the gradient of a gap: the first row is one of positions. (3) are rows of velocities. Variations:

    δn = α_A × n ,  δe = α_B × e ,  δw = δn − δc e − c δe ,  δp = −r (δw − w (w·δw)/|w|²)/|w|                       (4)

Source: docs/theory/non_holonomic.md, (6)-(8); (2) and (4) derived here and checked by differences.

    symbol     code        shape    unit  meaning
    r          p.radius    ()       m     radius of the edge
    x_Q − x_B  d           (3,)     m     centre of the disc from the node of B, inertial axes
    s, r_C     s, r        (3,)     m     C from the nodes of B and of A
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike, Keywords, Named
from fem_mbs.element.base import Joint, register
from fem_mbs.elements.joints.rows import POSE_TOLERANCE, column, start_size
from fem_mbs.elements.joints.velocity_rows import (
    component_across,
    relative_velocity,
    subtract,
    unit_variation,
    velocity_row,
    velocity_row_change,
)
from fem_mbs.errors import label
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.nodes import Ground
from fem_mbs.rotations import cross, dot, frame_with_axis, rotate

PARAMETERS = np.dtype(
    [("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("p_BQ", "f8", (3,)), ("R_BQ", "f8", (3, 3)), ("radius", "f8")]
)
FLAT = 1e-2  # |w| of a disc that lies: at 0 its lowest point, and with it the joint, is not defined


@kernel
def axis_of(R, R_of_frame, i, t):
    """Fill t (3,) with axis i of a frame, inertial axes."""
    u = local_vector(3)
    column(R_of_frame, i, u)
    rotate(R, u, t)


@kernel
def lowest(n, e, radius, w, arm):
    """Fill w and arm = p (3,) of (1); returns |w|."""
    component_across(n, e, w)
    length = math.sqrt(dot(w, w))
    for i in range(3):
        arm[i] = -radius * w[i] / length
    return length


@kernel
def contact_arms(p, x_A, R_A, x_B, R_B, r, s):
    """Fill r = C − x_A and s = C − x_B (3,) [m]; returns |w|."""
    n, e, w, arm = local_arrays("3, 3, 3, 3")
    axis_of(R_A, p.R_AP, 2, n)
    axis_of(R_B, p.R_BQ, 2, e)
    length = lowest(n, e, p.radius, w, arm)
    rotate(R_B, p.p_BQ, s)
    for i in range(3):
        s[i] += arm[i]
        r[i] = x_B[i] + s[i] - x_A[i]
    return length


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (2) to g (3,) [m] and the gradients of (2), (3) to G (3, 12)."""
    r, s, t, u = local_arrays("3, 3, 3, 3")
    contact_arms(p, x_A, R_A, x_B, R_B, r, s)
    for k in range(3):
        axis_of(R_A, p.R_AP, (k + 2) % 3, t)
        velocity_row(R_A, R_B, r, s, t, G[k])
        if k == 0:
            rotate(R_A, p.p_AP, u)
            g[0] += dot(t, r) - dot(t, u)  # n·(C − x_P)


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (2), (3) to H (3, 12, 12), by (4)."""
    r, s, t, dt, n, e, w, arm, d, ds, dn, de, moved = local_arrays("3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3")
    turned_A, turned_B = local_arrays("3, 3")
    contact_arms(p, x_A, R_A, x_B, R_B, r, s)
    axis_of(R_A, p.R_AP, 2, n)
    axis_of(R_B, p.R_BQ, 2, e)
    length = lowest(n, e, p.radius, w, arm)
    c = dot(n, e)
    subtract(s, arm, d)
    for j in range(12):
        unit_variation(R_A, R_B, j, moved, turned_A, turned_B)
        cross(turned_A, n, dn)
        cross(turned_B, e, de)
        cross(turned_B, d, ds)
        dc, along = dot(dn, e) + dot(n, de), 0.0
        for i in range(3):
            dn[i] -= dc * e[i] + c * de[i]  # δw
            along += w[i] * dn[i] / length**2
        for i in range(3):
            ds[i] -= p.radius * (dn[i] - along * w[i]) / length
        for k in range(3):
            axis_of(R_A, p.R_AP, (k + 2) % 3, t)
            cross(turned_A, t, dt)
            velocity_row_change(R_A, R_B, r, s, t, (moved, ds, dt, turned_A, turned_B), j, H[k])


@kernel
def trouble(p, R_A, R_B):
    """1 for a disc that lies on the plane."""
    n, e, w, arm = local_arrays("3, 3, 3, 3")
    axis_of(R_A, p.R_AP, 2, n)
    axis_of(R_B, p.R_BQ, 2, e)
    return 0.0 if lowest(n, e, p.radius, w, arm) > FLAT else 1.0


@kernel
def output(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, lam, out):
    """Force on the disc, the point at which it acts, the tilt of the disc, and what slip is left there."""
    r, s, t, u = local_arrays("3, 3, 3, 3")
    length = contact_arms(p, x_A, R_A, x_B, R_B, r, s)
    relative_velocity(R_A, v_A, w_A, R_B, v_B, w_B, r, s, u)
    for k in range(3):
        axis_of(R_A, p.R_AP, (k + 2) % 3, t)
        for i in range(3):
            out[i] += lam[k] * t[i]
        if k == 0:
            axis_of(R_B, p.R_BQ, 2, s)
            out[6] += math.atan2(length, dot(t, s))
    for i in range(3):
        out[3 + i] += x_A[i] + r[i]
        out[7 + i] += u[i]


class RollingDisc(Joint):
    """A disc on the second body rolls without slipping on a plane of the first, and never leaves it: coin, wheel, hoop.

    Parameters
    ----------
    frame_P : Frame, Node or body
        On the first body: the plane, through the origin, its normal the z axis, on the side of the disc.
    frame_Q : Frame, Node or body
        On the second body: centre of the disc, its axis the z axis. ``RollingDisc.at(first, second, position, axis,
        radius=…)`` makes both frames for a disc whose centre is at ``position``.
    radius : float > 0 [m], of the sharp edge that rolls
    drawn_size : float ≥ 0, optional [m]
        Edge length of the square patch that draws the plane about P; 0 draws none. Default: ten radii for planes on the
        ground.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the plane on the disc, inertial axes
    point : (3,) [m], where it acts: the lowest point of the edge
    tilt : [rad], angle between the axis and the normal: π/2 upright, 0 or π flat
    slip : (3,) [m/s], velocity of the disc on the plane at that point, inertial axes: the round-off of a run

    Raises
    ------
    ParameterError
        Both frames on one node; radius not positive; the disc does not touch the plane, or lies on it, at the start.

    Notes
    -----
    Two of the three rows constrain velocities alone: `static_equilibrium` raises an error. The joint pulls as well as
    it pushes and holds with any friction: look at ``force``. A disc that may slip or lift off is a contact,
    `RingOnPlane`. A run ends where the disc comes to lie on the plane.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> coin = RollingDisc.at(Ground(), Node6([0, 0, 0.3]), position=[0, 0, 0.3], axis=[1, 0, 0], radius=0.3)
    """

    rows, velocity_rows = 3, 2
    parameters = PARAMETERS
    kernels = {"constraint": constraint, "hessian": hessian, "output": output, "trouble": trouble}
    outputs = {"force": (3, "N"), "point": (3, "m"), "tilt": (1, "rad"), "slip": (3, "m/s")}

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        radius: float,
        drawn_size: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        self.radius = self.positive("radius", radius, "m")
        if drawn_size is None:
            drawn_size = 10.0 * self.radius if isinstance(self.frame_P.node, Ground) else 0.0
        self.drawn_size = self.positive("drawn_size", drawn_size, "m", allow_zero=True)
        frames = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)
        self.record = (*frames, self.radius)
        n, e = self.frame_P.orientation[:, 2], self.frame_Q.orientation[:, 2]
        sine = float(np.linalg.norm(np.cross(n, e)))
        self.check(
            sine > FLAT, "frame_Q", self.frame_Q,
            f"has its z axis along that of frame_P ({np.degrees(sine):.2g}° off): the disc lies on the plane and has "
            "no lowest point. Tilt it, or take points of its edge, SphereOnPlane(…, radius=0)",
        )  # fmt: skip
        gap = float(n @ (self.frame_Q.position - self.frame_P.position)) - self.radius * sine
        size = max(start_size(self.frame_P, self.frame_Q), self.radius)
        self.check(
            abs(gap) <= POSE_TOLERANCE * size, "frame_Q", self.frame_Q,
            f"has its origin {gap + self.radius * sine:.6g} m above the plane of frame_P; a disc of radius "
            f"{self.radius:g} m with this tilt touches it at {self.radius * sine:.6g} m. Move it by {-gap:.6g} m along "
            "the normal, or let RollingDisc.at(first, second, position, axis, radius=…) place the plane",
        )  # fmt: skip

    @classmethod
    @Keywords.known
    def at(  # type: ignore[override]  # a disc has no default radius
        cls,
        first: FrameLike,
        second: FrameLike,
        position: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        radius: float,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        **options: Any,
    ) -> "RollingDisc":
        """Make the joint for a disc with its centre at ``position`` (3,) [m]; the plane is laid under it.

        ``axis`` (3,), unit: that of the disc, inertial axes; default: z of the second node. ``normal`` (3,), unit, of
        the plane, inertial axes.
        """
        owner = Named(cls.__name__, options.get("name"))
        A, B = owner.as_frame("first", first).node, owner.as_frame("second", second).node
        centre, r = owner.as_vector("position", position), owner.positive("radius", radius, "m")
        e = B.rotation[:, 2] if axis is None else owner.unit_vector("axis", axis)
        n = owner.unit_vector("normal", normal)
        w = n - (n @ e) * e
        length = np.linalg.norm(w)
        lowest_point = centre - r * w / length if length > FLAT else centre
        P, Q = A.frame_at(lowest_point, frame_with_axis(n)), B.frame_at(centre, frame_with_axis(e))
        return cls(P, Q, radius=r, **options)

    def picture(self) -> list:
        if self.drawn_size == 0.0:
            return []
        from fem_mbs.shapes import Patch

        patch = Patch([self.drawn_size, self.drawn_size], offset=self.frame_P.p, rotation=self.frame_P.rotation)
        return [(self.frame_P.node, patch)]

    def trouble(self, state: Any) -> str:
        """Report that the disc lies on the plane."""
        return (
            f"{label(self)}: the disc has come within {np.degrees(FLAT):.2g}° of lying on the plane, where it has no "
            "lowest point. End the run before, or take points of its edge, SphereOnPlane(…, radius=0)"
        )

    def regular(self, point: Any) -> bool:
        """True if the disc of a configuration of `fem_mbs.verify` is tilted enough to be differentiated."""
        n, e = (R @ frame.rotation[:, 2] for R, frame in zip(point.R, (self.frame_P, self.frame_Q)))
        return bool(np.linalg.norm(np.cross(n, e)) > 0.2)


def _example(rng, a, b):
    axis, normal = rng.normal(size=(2, 3))
    return RollingDisc.at(
        a, b, rng.normal(size=3), axis / np.linalg.norm(axis), radius=rng.uniform(0.2, 1.0),
        normal=normal / np.linalg.norm(normal),
    )  # fmt: skip


register(RollingDisc, example=_example)
