"""Rigid races with grooves: play of the inner race, and a start of the balls without slip, in three dimensions.

In the half plane of ball j, at ψ_j from x of the outer race, with the axis e and the radial direction ê_j of that race,
the groove circles (radii R_go, R_gi) have one point each, C_o and C_i. A ball between the grooves (radii r_go, r_gi)
has room for

    d = |C_i − C_o| ≤ A ,   A = r_go + r_gi − 2 r_b                                                                (1)

Both races in the middle of their play: d = A − c, with c the clearance to one side. The race moves axially until d = A:

    cos α_0 = 1 − c/A ,   P_e = 2 A sin α_0 = 2 √(2 A c − c²)            from stop to stop                         (2)

Start: the centre of ball j in the middle of its play, the contacts on the line u of the groove centres,

    x_j = C_o + (r_go − r_b)(C_i − C_o)/A ,   u = (C_i − C_o)/d ,   p_o, p_i = x_j ± r_b u                         (3)
    ẋ_j = ½ (v_o + v_i) ,   ω_j = u × (v_o − v_i)/(2 r_b) + ½ u · (ω_o + ω_i) u                                    (4)

v_o, v_i are the velocities of the races at p_o, p_i: no slip there. Rolling leaves the rotation about u free; that of
(4) drills equally on both races. In steady rotation about e at the contact angle α, with d_m/2 the distance of the
balls from the axis, (4) moves the balls about the axis with

    ω_m = ½ ω_i (1 − 2 r_b cos α/d_m) + ½ ω_o (1 + 2 r_b cos α/d_m)                                                (5)

Source: docs/theory/bearings.md, (30)-(33); (1), (2) as in Harris, Rolling Bearing Analysis,
ch. 2; (3), (4) derived here.
Tests: tests/elements/bearings/test_grooved_ball_bearing.py.

    symbol        code                              unit   meaning
    R_go, R_gi    circle_outer, circle_inner        m      circles of groove centres
    A             groove_distance                   m
    x, ẋ, ω       BallStart                         m, m/s, rad/s
"""

from typing import Any, NamedTuple

import numpy as np


class BallStart(NamedTuple):
    """Positions (Z, 3) [m], velocities (Z, 3) [m/s] and angular velocities (Z, 3) [rad/s] of balls, inertial axes."""

    positions: np.ndarray
    velocities: np.ndarray
    rotations: np.ndarray


class GroovedRaces(NamedTuple):
    """Dimensions [m] of balls and grooves, to the bottom of which the radii of the races go."""

    radius_ball: float
    radius_inner: float
    radius_outer: float
    groove_inner: float
    groove_outer: float

    @property
    def clearance(self) -> float:
        """Radial play c [m] to one side."""
        return self.radius_outer - self.radius_inner - 2 * self.radius_ball

    @property
    def groove_distance(self) -> float:
        """A [m] of (1)."""
        return self.groove_inner + self.groove_outer - 2 * self.radius_ball

    @property
    def circle_inner(self) -> float:
        """Radius R_gi [m] of the circle of groove centres of the inner race."""
        return self.radius_inner + self.groove_inner

    @property
    def circle_outer(self) -> float:
        """Radius R_go [m] of that of the outer race."""
        return self.radius_outer - self.groove_outer

    @property
    def share_outer(self) -> float:
        """Part of the line from C_o to C_i at which a ball in the middle of its play lies."""
        return (self.groove_outer - self.radius_ball) / self.groove_distance

    @property
    def radius_cage(self) -> float:
        """Radius [m] of the circle of the balls, with the races centred and at either axial stop."""
        return self.circle_outer + self.share_outer * (self.circle_inner - self.circle_outer)

    @property
    def free_angle(self) -> float:
        """α_0 [rad] of (2)."""
        return float(np.arccos(1 - self.clearance / self.groove_distance))

    @property
    def axial_play(self) -> float:
        """P_e [m] of (2)."""
        return float(2 * np.sqrt(self.clearance * (2 * self.groove_distance - self.clearance)))

    def centers(self, outer: Any, inner: Any, psi: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """C_o, C_i and ê (Z, 3) in the half planes at ψ (Z,) of the frames of the races."""
        R, a, b = outer.orientation, inner.orientation[:, 0], inner.orientation[:, 1]
        radial = np.cos(psi)[:, None] * R[:, 0] + np.sin(psi)[:, None] * R[:, 1]
        across = np.cross(R[:, 2], radial)
        along_a, along_b = self.circle_inner * (across @ a), self.circle_inner * (across @ b)
        # the angle of C_i on its circle: (C_i - x_o) . across = 0
        cosine = (across @ (outer.position - inner.position)) / np.hypot(along_a, along_b)
        phi = np.arctan2(along_b, along_a) - np.arccos(np.clip(cosine, -1.0, 1.0))
        on_circle = np.cos(phi)[:, None] * a + np.sin(phi)[:, None] * b
        return outer.position + self.circle_outer * radial, inner.position + self.circle_inner * on_circle, radial

    def start(self, outer: Any, inner: Any, psi: np.ndarray) -> BallStart:
        """Start (3), (4) of balls at ψ (Z,) between races with the frames ``outer`` and ``inner``."""
        C_o, C_i, radial = self.centers(outer, inner, psi)
        line = C_i - C_o
        # where the play is far from taken up, the line of the centres may point inwards
        outwards = np.sum(line * radial, axis=1) > 0
        u = np.where(outwards[:, None], line / np.linalg.norm(line, axis=1, keepdims=True).clip(1e-300), radial)
        x = C_o + self.share_outer * line
        speeds = [
            frame.velocity + np.cross(frame.node.angular_velocity, x + side * self.radius_ball * u - frame.position)
            for side, frame in ((1.0, outer), (-1.0, inner))
        ]
        drilling = 0.5 * (u @ (outer.node.angular_velocity + inner.node.angular_velocity))
        rolling = np.cross(u, speeds[0] - speeds[1]) / (2 * self.radius_ball)
        return BallStart(x, 0.5 * (speeds[0] + speeds[1]), rolling + drilling[:, None] * u)
