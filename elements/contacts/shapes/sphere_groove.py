"""Sphere in a toroidal groove: a ball on the race of a bearing; both may be attached to moving bodies.

Sphere of radius r about P on body A; groove of radius r_g about a circle of radius R_g around the z axis e of frame Q
on body B, in its plane z = 0. With ρ the distance of the sphere's centre y from the axis, ê the unit vector across the
axis towards y, t = e × ê and θ = atan2(y_2, y_1),

    s = (ρ − R_g) ê + z e ,   d = |s| ,   u = s/d = u_r ê + u_z e ,   w = t × u = u_z ê − u_r e                     (1)
    φ = r_g − d + H(θ) ,   gap = φ − r                                                                             (2)
    f = ∇φ = −u + H′ t/ρ                                                                                           (3)
    P = ∇²φ = −w wᵀ/d − (u_r/ρ) t tᵀ + H″ t tᵀ/ρ² − H′ (ê tᵀ + t êᵀ)/ρ²                                             (4)

**Outer and inner race are the same**: the ball of an outer race lies outside the circle of groove centres (u_r > 0),
that of an inner race inside (u_r < 0), and the sign of the curvature along the race in (4) follows. Contact angle: that
of −u to the plane of the groove circle.

Spall of length L and depth along a race that the ball touches at radius ρ_c, β = L/(2ρ_c), x = θ − θ_d:

    H = ½ H_max (1 + cos(π x/β))  for |x| < β ,   H_max = min(depth, (L²/8)(1/r ± 1/ρ_c))                           (5)

(+ inner, − outer): the drop of a rigid ball into a pit of length L with sharp edges. It rotates with the race. H′
makes f longer than 1 by ½(H′/ρ)² (5e-5 for 3 µm on 1 mm): normals n = f/|f| and N = ∂n/∂y go to the tangential rows, f
and P themselves to G_N and ∂G_N/∂q, so that G_N stays the gradient of the gap and the spall supplies no energy:

    G_N = |f| Jᵀ F n ;   N = (I − n nᵀ) P/|f|                                                                       (6)

On the groove circle (d = 0), where the ball is open by r_g − r, u is ê and w wᵀ/d is left out.

Source: docs/theory/contacts.md, (14)-(16), docs/theory/bearings.md, (17) (spall); (4)-(6) checked by
differences. Tangents, slip and gradients follow as for every shape (shape_contact).

    symbol     code                        shape  unit  meaning
    r, r_g     radius, groove              ()     m     radii of the ball and of the groove
    R_g        circle                      ()     m     radius of the circle of groove centres
    θ_d, β     spall_angle, spall_half     ()     rad   middle and half width of the spall, 0 without one
    H_max      spall_depth                 ()     m
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.bearings.spall import Spall
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.shapes.shape_contact import (
    SphereShapeContact,
    parameters,
    sphere_center,
    sphere_contact,
    sphere_hessian,
)
from fem_mbs.errors import ParameterError
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.nodes import Ground

_CENTERED = 1e-9  # of the radius of the groove
RACES = ("outer", "inner")


@kernel
def groove_field(p, y, f, P):
    """φ [m] of (2) at the point y (3,); fills f (3,) with (3) and P (3, 3) with (4)."""
    rho = math.sqrt(y[0] * y[0] + y[1] * y[1])
    ex, ey = y[0] / rho, y[1] / rho
    d = math.sqrt((rho - p.circle) * (rho - p.circle) + y[2] * y[2])
    off = d > _CENTERED * p.groove
    u_r, u_z = ((rho - p.circle) / d, y[2] / d) if off else (1.0, 0.0)
    across = -1.0 / d if off else 0.0
    H, H_1, H_2 = 0.0, 0.0, 0.0
    if p.spall_half > 0.0:
        x = math.atan2(y[1], y[0]) - p.spall_angle
        x -= 2.0 * math.pi * math.floor(x / (2.0 * math.pi) + 0.5)
        if abs(x) < p.spall_half:
            k, half = math.pi / p.spall_half, 0.5 * p.spall_depth
            H, H_1, H_2 = half * (1.0 + math.cos(k * x)), -half * k * math.sin(k * x), -half * k * k * math.cos(k * x)
    along = -u_r / rho + H_2 / (rho * rho)
    mixed = -H_1 / (rho * rho)
    f[0] = -u_r * ex - H_1 / rho * ey
    f[1] = -u_r * ey + H_1 / rho * ex
    f[2] = -u_z
    wx, wy, wz = u_z * ex, u_z * ey, -u_r
    P[0, 0] = across * wx * wx + along * ey * ey - 2.0 * mixed * ex * ey
    P[1, 1] = across * wy * wy + along * ex * ex + 2.0 * mixed * ex * ey
    P[2, 2] = across * wz * wz
    P[0, 1] = across * wx * wy - along * ex * ey + mixed * (ex * ex - ey * ey)
    P[0, 2] = across * wx * wz
    P[1, 2] = across * wy * wz
    P[1, 0], P[2, 0], P[2, 1] = P[0, 1], P[0, 2], P[1, 2]
    return p.groove - d + H


@kernel
def _nearest(p, y, n, N):
    """φ [m] at the point y (3,); fills the unit normal n (3,) and Nᵀ (3, 3) of (6), which shape_rows multiplies."""
    distance = groove_field(p, y, n, N)
    if p.spall_half > 0.0:
        length = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        for i in range(3):
            n[i] /= length
        for i in range(3):
            bent = N[i, 0] * n[0] + N[i, 1] * n[1] + N[i, 2] * n[2]
            for j in range(3):
                N[i, j] = (N[i, j] - bent * n[j]) / length
    return distance


@kernel
def contact(p, node_A, node_B, rows):
    """Gap and rows of a sphere in the groove."""
    A, B = node_A, node_B
    sphere_contact(_nearest, p, A, B, rows)
    if p.spall_half > 0.0:
        y, y_B, f, P = local_arrays("3, 3, 3, 3 3")
        sphere_center(A.x, A.R, p.p_AP, B.x, B.R, p.p_BQ, p.R_BQ, y_B, y)
        groove_field(p, y, f, P)
        length = math.sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        for i in range(12):
            rows.G_N[i] *= length


@kernel
def contact_hessian(p, x_A, R_A, x_B, R_B, H_N):
    """Add ∂G_N/∂q to H_N (12, 12): linear in f and P."""
    sphere_hessian(groove_field, p, x_A, R_A, x_B, R_B, H_N)


class SphereInGroove(SphereShapeContact):
    """A ball on the race of a ball bearing: sphere in a groove around an axis.

    Parameters
    ----------
    sphere : Frame, Node or body
        Its origin is the centre of the ball.
    race : Frame, Node or body
        Its z axis is the axis of the bearing, its origin the centre of the circle of groove centres.
    radius, radius_groove : float > 0 [m]
        radius < radius_groove: a groove is wider than its ball, by 4 to 6 % in bearings.
    radius_circle : float > radius_groove [m]
        Of the circle of groove centres, see `BearingGeometry` (``groove_circle_inner``, ``groove_circle_outer``).
    side : {"outer", "inner"}
        Of which race: decides where the spall is (the ball runs on the far or on the near side of the groove circle)
        and the drawing, not the contact.
    spall : Spall, optional
        A pit in the race; its ``race`` is ``side``, its ``angle`` a number, from the x axis of the race's frame:
        it rotates with the race by itself.
    drawn : bool, optional
        Draw the groove. Default: on ground only.
    **law
        restitution, friction, rolling_resistance, spinning_resistance, radius_contensou, tangential_restitution,
        stribeck_speed, stribeck_exponent: see `Contact`.

    Raises
    ------
    ParameterError
        Radii that leave no groove, a spall as long as the race, both frames on one node, coefficients out of range.

    Notes
    -----
    The groove has no shoulders: contact angles are not limited. The ball must not come to the axis of the bearing.
    **Rigid balls do not share the load of a bearing**; wrap the contact in a `CompliantContact` with the stiffness of
    Hertz, as `ball_bearing` does.

    Examples
    --------
    >>> from fem_mbs import BearingGeometry, Model, RigidBody
    >>> bearing, model = BearingGeometry.from_designation("6205"), Model()
    >>> r = 0.5 * bearing.ball_diameter
    >>> ball = RigidBody.sphere(bearing.ball_mass, r, position=[0.5 * bearing.pitch_diameter, 0, 0])
    >>> SphereInGroove(
    ...     ball, model.ground, radius=r, radius_groove=2 * r * bearing.osculation_outer,
    ...     radius_circle=bearing.groove_circle_outer, name="outer race",
    ... )
    SphereInGroove 'outer race': sphere=Node6, radius=0.003969, radius_groove=0.00420714, radius_circle=0.0192856
    """

    parameters = parameters(
        ("groove", "f8"), ("circle", "f8"), ("spall_angle", "f8"), ("spall_half", "f8"), ("spall_depth", "f8")
    )
    kernels = {"contact": contact, "contact_hessian": contact_hessian}
    nearest = staticmethod(_nearest)

    def __init__(
        self,
        sphere: FrameLike,
        race: FrameLike,
        *,
        radius: float,
        radius_groove: float,
        radius_circle: float,
        side: str = "outer",
        spall: Spall | None = None,
        drawn: bool | None = None,
        name: str | None = None,
        **law: Any,
    ) -> None:
        super().__init__(sphere, race, radius=radius, name=name, **law)
        self.radius_groove = self.positive("radius_groove", radius_groove, "m")
        self.radius_circle = self.positive("radius_circle", radius_circle, "m")
        message = f"m must be larger than radius = {self.radius:.6g} m: a groove is wider than its ball"
        self.check(self.radius_groove > self.radius, "radius_groove", self.radius_groove, message)
        message = f"m must be larger than radius_groove = {self.radius_groove:.6g} m, or the groove meets its axis"
        self.check(self.radius_circle > self.radius_groove, "radius_circle", self.radius_circle, message)
        self.as_choice("side", side, RACES)
        self.side, self.spall = side, spall
        self.drawn = isinstance(self.shape.node, Ground) if drawn is None else self.as_flag("drawn", drawn)
        self.record = (*self.poses, self.radius_groove, self.radius_circle, *self._spall_numbers())

    @property
    def bottom_radius(self) -> float:
        """Radius [m] of the bottom of the groove about the axis of the bearing."""
        return self.radius_circle + (self.radius_groove if self.side == "outer" else -self.radius_groove)

    def _spall_numbers(self):
        """θ_d, β, H_max of (5)."""
        if self.spall is None:
            return 0.0, 0.0, 0.0
        if not isinstance(self.spall, Spall):
            raise ParameterError(self, "spall", self.spall, "must be a Spall(race, length, …)")
        self.check(
            self.spall.race == self.side, "spall.race", self.spall.race, f"is not this one, the {self.side} race"
        )
        message = "must be a number: the spall rotates with its race by itself"
        self.check(not callable(self.spall.angle), "spall.angle", self.spall.angle, message)
        angle = self.number("spall.angle", self.spall.angle, "rad")
        length = self.positive("spall.length", self.spall.length, "m")
        depth = np.inf if self.spall.depth is None else self.positive("spall.depth", self.spall.depth, "m")
        half = 0.5 * length / self.bottom_radius
        self.check(half < math.pi, "spall.length", length, "m is longer than the race; is it in metres?")
        sign = 1.0 if self.side == "inner" else -1.0
        drop = length**2 / 8.0 * (1.0 / self.radius + sign / self.bottom_radius)
        return angle, half, min(depth, drop)

    def picture(self) -> list:
        if not self.drawn:
            return []
        from fem_mbs.shapes import Mesh

        # 100° of the groove: between the shoulders of a deep groove bearing
        across = np.radians(np.linspace(-50, 50, 9))
        sign = 1.0 if self.side == "outer" else -1.0
        radius = self.radius_circle + sign * self.radius_groove * np.cos(across)
        height = self.radius_groove * np.sin(across)
        around = np.linspace(0, 2 * np.pi, 73)[:-1]
        points = np.stack([
            np.outer(np.cos(around), radius), np.outer(np.sin(around), radius), np.tile(height, (len(around), 1))
        ], axis=-1).reshape(-1, 3)  # fmt: skip
        i, j = np.meshgrid(np.arange(72), np.arange(8), indexing="ij")
        first, second = 9 * i + j, 9 * ((i + 1) % 72) + j
        faces = np.stack([first, second, second + 1, first + 1], axis=-1).reshape(-1, 4)
        return self.placed(Mesh, points, [faces])


def _example(rng, A, B):
    a, b = A.frame(0.3 * rng.normal(size=3)), B.frame(0.3 * rng.normal(size=3), rng.normal(size=3))
    groove = rng.uniform(0.5, 1.0)
    spall, side = None, RACES[rng.integers(2)]
    if rng.random() < 0.5:
        spall = Spall(side, rng.uniform(2.0, 4.0), depth=rng.uniform(0.05, 0.2), angle=rng.uniform(-3, 3))
    return SphereInGroove(
        a, b, radius=groove * rng.uniform(0.3, 0.9), radius_groove=groove, radius_circle=rng.uniform(1.5, 2.5),
        side=side, spall=spall,
    )  # fmt: skip


register(SphereInGroove, example=_example)
