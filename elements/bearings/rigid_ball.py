"""Ball bearing of rigid balls between rigid races, with impacts, friction and a cage of springs: a part of elements.

    races    planar: a sphere of radius r_i on the inner body, a hollow sphere of radius r_e on the outer body;
             three-dimensional: grooves about the axis with these radii at their bottoms (`grooved_races`)
    balls    Z spheres of radius r_b, each with a `SphereOnSphere` on the inner and a `SphereInSphere` on the outer
             race, or a `SphereInGroove` on both
    cage     a closed ring of Z springs between neighbouring balls, free length 2 r_j sin(π/Z),  r_j = (r_i + r_e)/2.
             Grooves keep the balls in the plane of the ring, the same springs suffice
    clearance  r_e − r_i − 2 r_b, to one side (half of the diametral clearance P_d of `BearingGeometry`)
    start    no slip, as in steady rotation, with h = v of the centres of the races:

    ω_m = (ω_i r_i + ω_o r_e)/(r_i + r_e),   ẋ_j = h + ω_m e × r_j ê_j,   ω_b = (ω_o r_e − ω_m r_j)/r_b              (1)

    of balls in grooves: (3), (4) of `grooved_races`.

All contacts are rigid and unilateral, with impacts and friction. **Rigid balls do not share a load**: of a radial
load Q the two adjacent balls carry the forces of two supports in statics,

    F = Q sin(2π/Z − |β|)/sin(2π/Z)      for a ball at β from the load, |β| < 2π/Z; the others none                  (2)

which is the whole load when a ball is in its line. In grooves a thrust T on an inner race that does not tilt turns
their contact angle, F being the radial component, until all balls take part,

    tan α = T/Σ F ,   force of a ball = F/cos α    for α < α_0;    T/(Z sin α_0) each without a radial load         (3)

Elastic balls share: with the stiffness of the source's example 54 % of the load are on that ball without clearance, all
of it with 20 µm. Take `QuasiStaticBearing` for loads of balls and for life; take this one for shocks and play.
`Results.unique_forces` shares the load among the balls that touch. The curvature of the races across the plane enters
the planar bearing nowhere but in the stresses (`RigidBallBearing.hertz`).

Source: docs/theory/bearings.md, (18), (19), (30)-(33); Sanchez2025, chapter 4 and, for three dimensions, its section
5.2; (1) from its (4.6)-(4.11), with both races turning; (2), (3) derived here.
Tests: tests/elements/bearings/test_rigid_ball_bearing.py, test_grooved_ball_bearing.py.

    symbol        code                          unit   meaning
    r_i, r_e      radius_inner, radius_outer    m      races, at the bottom of grooves
    r_b, r_j      radius_ball, radius_cage      m      ball, circle of the balls' centres
    Z             balls
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import Part
from fem_mbs.elements.bearings.grooved_races import BallStart, GroovedRaces
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.shapes.sphere_groove import SphereInGroove
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereInSphere, SphereOnSphere
from fem_mbs.elements.forces.spring_damper import Spring
from fem_mbs.errors import label

ROOM = 1e-9  # of the groove distance: round-off of positions in contact with both races


class RigidBallBearing(Part):
    """Ball bearing of rigid balls between rigid races; ``model.add(bearing)`` adds all of it.

    Parameters
    ----------
    outer, inner : Frame, Node or body
        Outer and inner race. The initial velocities of the two bodies set those of the balls. Planar: z is the axis,
        parallel to x, y or z of the inertial frame; the motion is in the plane across it. With grooves: z is the axis
        in any direction, the origin the centre of the groove circle; the races may be displaced along it and tilted.
    balls : int ≥ 3
    radius_ball, radius_inner, radius_outer : float > 0 [m]
        Of the balls and of the two races, of grooves at their bottom.
    groove_inner, groove_outer : float > radius_ball [m], optional
        Radii of the grooves across the races, in bearings 1.04 to 1.06 times that of the balls. Given, the bearing is
        three-dimensional: balls with six free components each. Default: a planar bearing.
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
    grooves : GroovedRaces or None
        With ``free_angle`` [rad] and ``axial_play`` [m].

    Raises
    ------
    ParameterError
        Impossible dimensions; balls that do not fit; races out of their play; planar: axis not along an inertial axis.

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

    The same bearing in three dimensions, between grooves:

    >>> free = fem.Model("free bearing")
    >>> shaft = free.add(fem.RigidBody(1.0, 1e-4, name="shaft"))
    >>> bearing = free.add(fem.RigidBallBearing(
    ...     free.ground, shaft, balls=8, radius_ball=3.96875e-3, radius_inner=12.77125e-3, radius_outer=20.71875e-3,
    ...     groove_inner=4.128e-3, groove_outer=4.207e-3, ball_mass=2.042e-3, cage_stiffness=1e8, name="front",
    ... ))
    >>> print(f"{1e6 * bearing.grooves.axial_play:.1f} µm, {np.degrees(bearing.grooves.free_angle):.2f}°")
    177.2 µm, 12.88°
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
        groove_inner: float | None = None,
        groove_outer: float | None = None,
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
        self.grooves = self._grooves(groove_inner, groove_outer)
        limit, name_of_limit = (r_b, "ball radius") if self.grooves is None else (
            self.grooves.groove_distance, f"distance of the groove centres, {self.grooves.groove_distance:.6g} m"
        )  # fmt: skip
        self.check(
            0 < self.clearance < limit,
            "radius_outer",
            r_e,
            f"m leaves {self.clearance:.6g} m between inner race and balls; the clearance must be > 0 and below the "
            f"{name_of_limit}: radius_outer from {r_i + 2 * r_b:.6g} m",
        )
        self.radius_cage = r_j = 0.5 * (r_i + r_e) if self.grooves is None else self.grooves.radius_cage
        chord = 2 * r_j * np.sin(np.pi / Z)
        message = f"m does not fit: {Z} balls on this circle are {chord:.6g} m apart"
        self.check(chord > 2 * r_b, "radius_ball", r_b, message)
        mass = self.positive("ball_mass", ball_mass, "kg")
        if ball_inertia is None:
            ball_inertia = 0.4 * mass * r_b**2
        start, fixed = self._planar_start(angle) if self.grooves is None else self._grooved_start(angle)
        law = {"friction": friction, "restitution": restitution}
        self.bodies, self.inner_contacts, self.outer_contacts, self.springs = [], [], [], []
        for j in range(Z):
            ball = RigidBody(
                mass, ball_inertia, position=start.positions[j], rotation=self.outer.orientation,
                velocity=start.velocities[j], angular_velocity=start.rotations[j], fixed=fixed,
                name=f"{name} ball {j}", shape=_ball_shape(r_b),
            )  # fmt: skip
            self.bodies.append(ball)
            inner_contact, outer_contact = self._contacts(j, ball, law)
            self.inner_contacts.append(inner_contact)
            self.outer_contacts.append(outer_contact)
        for j in range(Z):
            pair = self.bodies[j], self.bodies[(j + 1) % Z]
            self.springs.append(Spring(*pair, cage_stiffness, cage_damping, chord, name=f"{name} cage {j}"))
        self.elements = [*self.bodies, *self.inner_contacts, *self.outer_contacts, *self.springs]
        self.nodes = [ball.nodes[0] for ball in self.bodies]

    def _grooves(self, groove_inner, groove_outer):
        """`GroovedRaces`, or None of a planar bearing."""
        if groove_inner is None and groove_outer is None:
            return None
        radii = []
        for parameter, value in (("groove_inner", groove_inner), ("groove_outer", groove_outer)):
            self.check(value is not None, parameter, value, "is missing: give both grooves, or none (planar)")
            radii.append(self.positive(parameter, value, "m"))
            message = f"m must be larger than radius_ball = {self.radius_ball:.6g} m: a groove is wider than its ball"
            self.check(radii[-1] > self.radius_ball, parameter, radii[-1], message)
        message = f"m must be below half of radius_outer = {self.radius_outer:.6g} m, or the groove meets its axis"
        self.check(2 * radii[1] < self.radius_outer, "groove_outer", radii[1], message)
        return GroovedRaces(self.radius_ball, self.radius_inner, self.radius_outer, *radii)

    def _contacts(self, j, ball, law):
        """Contacts of ball j with the inner and the outer race."""
        name, r_b, grooves = self.name, self.radius_ball, self.grooves
        if grooves is None:
            return (
                SphereOnSphere(
                    ball, self.inner, radius_A=r_b, radius_B=self.radius_inner, **law, name=f"{name} inner {j}"
                ),
                SphereInSphere(
                    ball, self.outer, radius=r_b, radius_outer=self.radius_outer, drawn=False, **law,
                    name=f"{name} outer {j}",
                ),
            )  # fmt: skip
        races = (
            ("inner", self.inner, grooves.groove_inner, grooves.circle_inner),
            ("outer", self.outer, grooves.groove_outer, grooves.circle_outer),
        )
        return tuple(
            SphereInGroove(
                ball, frame, radius=r_b, radius_groove=groove, radius_circle=circle, side=side, drawn=j == 0, **law,
                name=f"{name} {side} {j}",
            )
            for side, frame, groove, circle in races
        )  # fmt: skip

    def _planar_start(self, angle):
        """Start (1), and the components that the balls must not have."""
        r_i, r_e, r_j = self.radius_inner, self.radius_outer, self.radius_cage
        R, component = self._axis()
        apart = self.inner.position - self.outer.position
        message = f"is {np.linalg.norm(apart):.6g} m from the outer race's centre, more than the clearance"
        self.check(np.linalg.norm(apart) <= self.clearance, "inner", self.inner, message)
        e = R[:, 2]
        speeds = [float(frame.node.angular_velocity @ e) for frame in (self.inner, self.outer)]
        orbit = (speeds[0] * r_i + speeds[1] * r_e) / (r_i + r_e)
        spin = (speeds[1] * r_e - orbit * r_j) / self.radius_ball
        middle = 0.5 * (self.inner.position + self.outer.position)
        drift = 0.5 * (self.inner.velocity + self.outer.velocity)
        positions, velocities = [], []
        for j in range(self.balls):
            psi = angle + 2 * np.pi * j / self.balls
            arm = r_j * (np.cos(psi) * R[:, 0] + np.sin(psi) * R[:, 1])
            positions.append(middle + arm)
            velocities.append(drift + orbit * np.cross(e, arm))
        start = BallStart(np.array(positions), np.array(velocities), np.tile(spin * e, (self.balls, 1)))
        return start, (component, "rx", "ry")

    def _grooved_start(self, angle):
        """Start in grooves; the balls have all components."""
        message = "has its z axis opposite to that of outer: z of both is the axis of the bearing"
        self.check(self.outer.orientation[:, 2] @ self.inner.orientation[:, 2] > 0, "inner", self.inner, message)
        psi, grooves = angle + 2 * np.pi * np.arange(self.balls) / self.balls, self.grooves
        C_o, C_i, _ = grooves.centers(self.outer, self.inner, psi)
        apart = np.linalg.norm(C_i - C_o, axis=1)
        j, A = int(apart.argmax()), grooves.groove_distance
        message = (
            f"is out of its play: at ball {j} the centres of the grooves are {apart[j]:.9g} m apart, and the ball has "
            f"room up to {A:.9g} m. Play to one side: radial {self.clearance:.6g} m, axial "
            f"{0.5 * grooves.axial_play:.6g} m; less of each where displacements and tilt add up"
        )
        self.check(apart[j] <= (1 + ROOM) * A, "inner", self.inner, message)
        return grooves.start(self.outer, self.inner, psi), ()

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
        """Speed of the cage over that of the inner race, outer race at rest, without slip.

        With grooves at the free contact angle, under a thrust: (5) of `grooved_races`.
        """
        if self.grooves is not None:
            return 0.5 * (1 - self.radius_ball * np.cos(self.grooves.free_angle) / self.radius_cage)
        return self.radius_inner / (self.radius_inner + self.radius_outer)

    def share(self, beta: ArrayLike) -> np.ndarray:
        """Part of a radial load that a ball at an angle beta [rad] from it carries, equation (2).

        With grooves the radial component of its force, see (3).
        """
        pitch = 2 * np.pi / self.balls
        beta = np.abs(np.mod(self.as_array("beta", beta) + np.pi, 2 * np.pi) - np.pi)
        return np.where(beta < pitch, np.sin(pitch - np.minimum(beta, pitch)) / np.sin(pitch), 0.0)

    def hertz(self, race: FrameLike, *, radius_groove: float | None = None, E: float, nu: float = 0.3) -> Any:
        """`HertzContact` of a ball with a race, for stresses and for the recovery of impact forces.

        Parameters
        ----------
        race : "inner" or "outer"
        radius_groove : float > radius_ball [m]
            Of the section of the race. Default: its groove; required of a planar bearing.
        E, nu : float [Pa], -
        """
        from fem_mbs.hertz import HertzContact  # here, because it brings SciPy with it

        self.as_choice("race", race, ("inner", "outer"))
        if radius_groove is None and self.grooves is not None:
            radius_groove = self.grooves.groove_inner if race == "inner" else self.grooves.groove_outer
        radius_groove = self.positive("radius_groove", radius_groove, "m")
        along = self.radius_inner if race == "inner" else -self.radius_outer
        return HertzContact(self.radius_ball, (-radius_groove, along), E=E, nu=nu, name=f"{self.name} {race} race")

    def __repr__(self):
        return f"{label(self)}: {self.balls} balls" + (", grooves" if self.grooves is not None else "")


def _ball_shape(radius):
    from fem_mbs.shapes import Sphere

    return Sphere(radius, resolution=16)
