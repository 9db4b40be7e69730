"""Planar ball bearing of rigid spheres between spherical races, with a cage of springs: a part made of elements.

    races    a sphere of radius r_i on the inner body, a hollow sphere of radius r_e on the outer body
    balls    Z spheres of radius r_b, each with a `SphereOnSphere` on the inner and a `SphereInSphere` on the outer race
    cage     a closed ring of Z springs between neighbouring balls, free length 2 r_j sin(π/Z),  r_j = (r_i + r_e)/2
    clearance  r_e − r_i − 2 r_b, to one side (half of the diametral clearance P_d of `BearingGeometry`)
    start    no slip, as in steady rotation, with h = v of the centres of the races:

    ω_m = (ω_i r_i + ω_o r_e)/(r_i + r_e),   ẋ_j = h + ω_m e × r_j ê_j,   ω_b = (ω_o r_e − ω_m r_j)/r_b              (1)

All contacts are rigid and unilateral, with impacts and friction. **Rigid balls do not share a load**: of a radial
load Q the two adjacent balls carry the forces of two supports in statics,

    F = Q sin(2π/Z − |β|)/sin(2π/Z)      for a ball at β from the load, |β| < 2π/Z; the others none                  (2)

which is the whole load when a ball is in its line. Elastic balls share: with the stiffness of the source's example
54 % of the load are on that ball without clearance, all of it with 20 µm. Take `QuasiStaticBearing` for loads of balls
and for life; take this one for shocks and play. The races' double curvature enters nowhere but in the stresses
(`RigidBallBearing.hertz`).

Source: docs/theory/bearings.md, (18), (19); Sanchez2025, chapter 4; (1) from its (4.6)-(4.11), with both races turning;
(2) derived here.

    symbol        code                                  unit   meaning
    r_i, r_e      radius_inner, radius_outer            m      races
    r_b, r_j      radius_ball, radius_cage              m      ball, circle of the balls' centres
    Z             balls
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Part
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereInSphere, SphereOnSphere
from fem_mbs.elements.forces.spring_damper import Spring
from fem_mbs.errors import label


class RigidBallBearing(Part):
    """Planar ball bearing of rigid balls between spherical races; ``model.add(bearing)`` adds all of it.

    Parameters
    ----------
    outer, inner : Frame, Node or body
        Outer and inner race. z is the axis, parallel to x, y or z of the inertial frame; the motion is in the plane
        across it. The initial velocities of the two bodies set those of the balls.
    balls : int ≥ 3
    radius_ball, radius_inner, radius_outer : float > 0 [m]
        Of the balls and of the two races.
    ball_mass : float > 0 [kg]
    ball_inertia : float > 0 [kg m²], optional
        Default: a solid sphere.
    cage_stiffness, cage_damping : float [N/m], [N s/m]
        Of each spring of the cage.
    friction, restitution : float
        Of all contacts.
    angle : float [rad]
        Of ball 0 from x of the outer frame.
    name : str
        Parts are called "name ball 0", "name inner 0", "name outer 0" (contacts), "name cage 0".

    Attributes
    ----------
    bodies : list of RigidBody, the balls
    inner_contacts, outer_contacts, springs : lists of elements
    elements : list, all of them
    clearance : float [m], to one side
    radius_cage : float [m]

    Raises
    ------
    ParameterError
        Impossible dimensions; balls that do not fit; axis not along an inertial axis; races out of their clearance.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model = fem.Model("bearing")
    >>> shaft = model.add(fem.RigidBody(1.0, 1e-4, fixed=("z", "rx", "ry"), name="shaft"))
    >>> bearing = model.add(fem.RigidBallBearing(
    ...     model.ground, shaft, balls=8, radius_ball=3.96875e-3, radius_inner=12.77125e-3, radius_outer=20.71875e-3,
    ...     ball_mass=2.042e-3, cage_stiffness=1e8, friction=0.001, name="front",
    ... ))
    >>> print(f"{1e6 * bearing.clearance:.1f} µm, {len(bearing.elements)} elements")
    10.0 µm, 32 elements
    """

    def __init__(
        self,
        outer: FrameLike,
        inner: FrameLike,
        *,
        balls: int,
        radius_ball: float,
        radius_inner: float,
        radius_outer: float,
        ball_mass: float,
        ball_inertia: float | None = None,
        cage_stiffness: float,
        cage_damping: float = 0.0,
        friction: float = 0.0,
        restitution: Any = 0.0,
        angle: float = 0.0,
        name: str = "bearing",
    ) -> None:
        self.name = name
        self.outer, self.inner = self.as_frame("outer", outer), self.as_frame("inner", inner)
        self.check(self.outer.node is not self.inner.node, "inner", inner, "is on the same node as outer")
        self.balls = Z = self.as_integer("balls", balls, 3)
        angle = self.number("angle", angle, "rad")
        self.radius_ball = r_b = self.positive("radius_ball", radius_ball, "m")
        self.radius_inner = r_i = self.positive("radius_inner", radius_inner, "m")
        self.radius_outer = r_e = self.positive("radius_outer", radius_outer, "m")
        self.clearance = r_e - r_i - 2 * r_b
        self.check(
            0 < self.clearance < r_b,
            "radius_outer",
            r_e,
            f"m leaves {self.clearance:.6g} m between inner race and balls; the clearance must be > 0 and below the "
            f"ball radius: radius_outer from {r_i + 2 * r_b:.6g} m",
        )
        self.radius_cage = r_j = 0.5 * (r_i + r_e)
        chord = 2 * r_j * np.sin(np.pi / Z)
        message = f"m does not fit: {Z} balls on this circle are {chord:.6g} m apart"
        self.check(chord > 2 * r_b, "radius_ball", r_b, message)
        mass = self.positive("ball_mass", ball_mass, "kg")
        if ball_inertia is None:
            ball_inertia = 0.4 * mass * r_b**2
        R, component = self._axis()
        apart = self.inner.position - self.outer.position
        message = f"is {np.linalg.norm(apart):.6g} m from the outer race's centre, more than the clearance"
        self.check(np.linalg.norm(apart) <= self.clearance, "inner", self.inner, message)

        e = R[:, 2]
        speeds = [float(frame.node.angular_velocity @ e) for frame in (self.inner, self.outer)]
        orbit = (speeds[0] * r_i + speeds[1] * r_e) / (r_i + r_e)
        spin = (speeds[1] * r_e - orbit * r_j) / r_b
        middle = 0.5 * (self.inner.position + self.outer.position)
        drift = 0.5 * (self.inner.velocity + self.outer.velocity)
        law = {"friction": friction, "restitution": restitution}
        self.bodies, self.inner_contacts, self.outer_contacts, self.springs = [], [], [], []
        for j in range(Z):
            psi = angle + 2 * np.pi * j / Z
            arm = r_j * (np.cos(psi) * R[:, 0] + np.sin(psi) * R[:, 1])
            ball = RigidBody(
                mass, ball_inertia, position=middle + arm, rotation=R, velocity=drift + orbit * np.cross(e, arm),
                angular_velocity=spin * e, fixed=(component, "rx", "ry"), name=f"{name} ball {j}",
                shape=_ball_shape(r_b),
            )  # fmt: skip
            self.bodies.append(ball)
            self.inner_contacts.append(
                SphereOnSphere(ball, self.inner, radius_A=r_b, radius_B=r_i, **law, name=f"{name} inner {j}")
            )
            self.outer_contacts.append(
                SphereInSphere(
                    ball, self.outer, radius=r_b, radius_outer=r_e, drawn=False, **law, name=f"{name} outer {j}"
                )
            )
        for j in range(Z):
            pair = self.bodies[j], self.bodies[(j + 1) % Z]
            self.springs.append(Spring(*pair, cage_stiffness, cage_damping, chord, name=f"{name} cage {j}"))
        self.elements = [*self.bodies, *self.inner_contacts, *self.outer_contacts, *self.springs]
        self.nodes = [ball.nodes[0] for ball in self.bodies]

    def _axis(self):
        """Axes of the bearing (3, 3), and the inertial component along its axis, which the balls must not have."""
        R = self.outer.orientation
        z_P, z_Q = R[:, 2], self.inner.orientation[:, 2]
        message = "has its z axis elsewhere than that of outer: z of both is the axis of the bearing"
        self.check(np.linalg.norm(np.cross(z_P, z_Q)) < 1e-8 and z_P @ z_Q > 0, "inner", self.inner, message)
        k = int(np.abs(z_P).argmax())
        message = "has a z axis that is not parallel to x, y or z of the inertial frame; the bearing is planar"
        self.check(abs(z_P[k]) > 1 - 1e-12, "outer", self.outer, message)
        return R, "xyz"[k]

    @property
    def speed_ratio(self) -> float:
        """Speed of the cage over that of the inner race, outer race at rest, without slip."""
        return self.radius_inner / (self.radius_inner + self.radius_outer)

    def share(self, beta: ArrayLike) -> np.ndarray:
        """Part of a radial load that a ball at an angle beta [rad] from it carries, equation (2)."""
        pitch = 2 * np.pi / self.balls
        beta = np.abs(np.mod(self.as_array("beta", beta) + np.pi, 2 * np.pi) - np.pi)
        return np.where(beta < pitch, np.sin(pitch - np.minimum(beta, pitch)) / np.sin(pitch), 0.0)

    def hertz(self, race: FrameLike, *, radius_groove: float, E: float, nu: float = 0.3) -> Any:
        """`HertzContact` of a ball with a race, for stresses and for the recovery of impact forces.

        Parameters
        ----------
        race : "inner" or "outer"
        radius_groove : float > radius_ball [m]
            Of the section of the race.
        E, nu : float [Pa], -
        """
        from fem_mbs.hertz import HertzContact  # here, because it brings SciPy with it

        self.as_choice("race", race, ("inner", "outer"))
        radius_groove = self.positive("radius_groove", radius_groove, "m")
        along = self.radius_inner if race == "inner" else -self.radius_outer
        return HertzContact(self.radius_ball, (-radius_groove, along), E=E, nu=nu, name=f"{self.name} {race} race")

    def __repr__(self):
        return f"{label(self)}: {self.balls} balls"


def _ball_shape(radius):
    from fem_mbs.shapes import Sphere

    return Sphere(radius, resolution=16)
