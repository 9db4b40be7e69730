"""Ball bearing with moving balls: separate bodies between compliant grooved races, in a cage with pockets.

The parts, for Z balls of radius r between the rings (frames of outer and inner body, z the axis):

    ball k, cage             rigid bodies
    ball k and either race   CompliantContact of a SphereInGroove, N = K δ^{3/2} with the Hertz stiffness of that race,
                             friction μ w/√(w² + w_s²)
    ball k and its pocket    CompliantContact of a SphereInSphere, N = K_p δ^{3/2}, hysteresis of restitution e_p

**Why the races yield.** Between rigid races the loads of the balls are not determined, and in motion one or two balls
carry everything: .53 F each instead of .49 F, .33 F, .04 F of nine balls; lives from such loads are wrong by factors.

**Steps.** A ball on its races vibrates with 26 to 63 kHz (6205, 10 to 2000 N). Steps longer than its period with
``DecoupledNSGA(rho_inf=0)`` damp these vibrations out and leave the quasi-static balance of each ball, as desired;
then only the passage of balls (Z times per revolution of the cage) and of spalls has to be resolved.

**Cage.** Its pockets are spheres, as those of a ribbon cage: the balls guide it in all directions.

**Start.** Balls are put where they balance between the races as these lie at the start, without forces of inertia:
with δ the distance of the groove centres minus A, δ_o = (Q/K_o)^{2/3}, Q = K_n δ^{3/2}; in the middle of their play if
δ < 0. They roll without slip, with the speeds of `ball_speeds` (race control decides the axis of rotation), and the
cage turns with their mean orbital speed. Start rings in their loaded positions (from `bearing_equilibrium`).

**Friction** is that of a point: it transmits traction, it does not resist drilling about the normal, nor rolling.
w_s stands for the creep that a lubricated contact needs for its traction; the default is 1 % of the speed of the races
relative to each other at the pitch circle, at least 1 mm/s.

Source: docs/theory/bearings.md, (15), (16) and "Balls that move".
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike, Keywords, Named
from fem_mbs.bearings import balls as be
from fem_mbs.bearings.geometry import BearingGeometry
from fem_mbs.bearings.spall import Spall
from fem_mbs.bearings.statics import CONTROLS
from fem_mbs.element.base import Part
from fem_mbs.elements.bearings.quasi_static import QuasiStaticBearing
from fem_mbs.elements.bearings.rigid_ball import RigidBallBearing
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.contacts.compliant import CompliantContact
from fem_mbs.elements.contacts.shapes.sphere_groove import SphereInGroove
from fem_mbs.elements.contacts.shapes.sphere_sphere import SphereInSphere
from fem_mbs.errors import label
from fem_mbs.nodes import Frame

RACES = ("outer", "inner")


class DynamicBearing(Part):
    """Ball bearing with moving balls and cage between two bodies: level (b).

    Radial, axial and tilting loads, clearance, contact angles, spalls, traction and cage come from the motion of the
    parts. Add it to a model like an element. `BearingHistory` gives loads, angles, pressures, speeds and losses.

    Parameters
    ----------
    outer, inner : Frame, Node or body
        Housing and shaft. z is the axis, the origin the centre of the bearing, as in `QuasiStaticBearing`: where both
        frames coincide the rings are in the middle of their play, or (``contact_angle``) just touch the balls.
    geometry : BearingGeometry
    friction : float ≥ 0
        Traction coefficient of balls and races, 0.05 … 0.1 with oil.
    slip_speed : float > 0 [m/s], optional
        w_s of the traction law: its 71 % are reached there. Default in the header; give it for bearings that start
        from rest.
    cage : bool
        Without a cage unloaded balls drift. A run over a fraction of a revolution works without.
    cage_mass : float > 0 [kg], optional
        Default: half the mass of the balls.
    pocket_clearance : float > 0 [m], optional
        Radius of the pockets minus that of the balls. Default: 1/80 of the ball diameter.
    pocket_stiffness : float > 0 [N/m^{3/2}]
        Of a ball in its pocket: 1 N presses it in by 5 µm.
    pocket_restitution, pocket_friction : float
        Of balls and pockets.
    spall : Spall or sequence of at most one for each race, optional
        Pits; ``angle`` is a number, from the x axis of the frame of that ring, with which the pit turns.
    cage_angle : float [rad]
        Position of ball 0 from the x axis of the outer frame, at the start.
    control : "outer" or "inner"
        Race control at the start, see `fem_mbs.bearings.balls`. The motion decides what becomes of it.
    name : str
        Begins the names of the parts: "name ball 0", "name cage", "name outer 0", "name inner 0", "name pocket 0".

    Attributes
    ----------
    balls : list of RigidBody
    cage : RigidBody or None
    elements : list, all parts
    cage_speed : float [rad/s], at the start

    Raises
    ------
    ParameterError
        Both frames on one node, not a `BearingGeometry`, rings that do not fit, numbers out of range.

    Notes
    -----
    Forces and limits: header of the file. Rings are rigid and round, grooves have no shoulders.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model, speed = fem.Model("bearing"), 2 * np.pi * 30
    >>> shaft = model.add(fem.RigidBody(0.5, 1e-4, angular_velocity=[0, 0, speed], name="shaft"))
    >>> geometry = fem.BearingGeometry.from_designation("6205", clearance=10e-6)
    >>> bearing = model.add(fem.DynamicBearing(model.ground, shaft, geometry, name="front"))
    >>> print(f"{len(bearing.elements)} parts, cage turns with {bearing.cage_speed / speed:.4f} of the shaft's speed")
    37 parts, cage turns with 0.3983 of the shaft's speed
    """

    role = "dynamic bearing"

    def __init__(
        self,
        outer: FrameLike,
        inner: FrameLike,
        geometry: BearingGeometry,
        *,
        friction: float = 0.1,
        slip_speed: float | None = None,
        cage: bool = True,
        cage_mass: float | None = None,
        pocket_clearance: float | None = None,
        pocket_stiffness: float = 1e8,
        pocket_restitution: float = 1.0,
        pocket_friction: float = 0.0,
        spall: Any = (),
        cage_angle: float = 0.0,
        control: str = "outer",
        name: str = "bearing",
    ) -> None:
        self.name, self.geometry = name, self.as_instance("geometry", geometry, BearingGeometry)
        self.outer, self.inner = self.as_frame("outer", outer), self.as_frame("inner", inner)
        # the frame of the inner groove circle
        offset = self.inner.rotation @ [0.0, 0.0, geometry.axial_offset]
        self.inner_race = Frame(self.inner.node, self.inner.p + offset, self.inner.rotation, name=self.inner.name)
        self.cage_angle = self.number("cage_angle", cage_angle, "rad")
        self.as_choice("control", control, CONTROLS)
        self.check(self.outer.node is not self.inner.node, "inner", self.inner, "is on the same node as outer")
        self._check_pose()
        self._place(control)
        D = geometry.ball_diameter
        surface = abs(self.inner_speed - self.outer_speed) * 0.5 * geometry.pitch_diameter
        self.slip_speed = (
            max(0.01 * surface, 1e-3) if slip_speed is None else self.positive("slip_speed", slip_speed, "m/s")
        )
        mass = 0.5 * geometry.balls * geometry.ball_mass
        self.cage_mass = mass if cage_mass is None else self.positive("cage_mass", cage_mass, "kg")
        clearance = D / 80 if pocket_clearance is None else self.positive("pocket_clearance", pocket_clearance, "m")
        self.balls = [self._ball(k) for k in range(geometry.balls)]
        self.cage, self.elements, spalls = None, list(self.balls), self._spalls(spall)
        for race in RACES:
            self.elements += [self._race(race, k, friction, spalls[race]) for k in range(geometry.balls)]
        if self.as_flag("cage", cage):
            self.cage = self._cage()
            law = {"restitution": pocket_restitution, "friction": pocket_friction}
            self.elements.append(self.cage)
            self.elements += [self._pocket(k, clearance, pocket_stiffness, law) for k in range(geometry.balls)]

    def _spalls(self, given):
        """Spall of each race, or None."""
        found = dict.fromkeys(RACES)
        for spall in [given] if isinstance(given, Spall) or not isinstance(given, (list, tuple)) else given:
            self.check(isinstance(spall, Spall), "spall", spall, "must be a Spall(race, length, …)")
            self.check(found[spall.race] is None, "spall", spall, f"is a second one of the {spall.race} race")
            found[spall.race] = spall
        return found

    def _check_pose(self):
        """Rings must lie in each other."""
        A, axis = self.geometry.groove_distance, self.outer.orientation[:, 2]
        apart = self.inner.position - self.outer.position
        message = f"m from the outer ring is more than the groove distance A = {A:.4g} m lets it move"
        self.check(np.linalg.norm(apart) < A, "inner", apart, message)
        tilt = float(np.arccos(min(1.0, axis @ self.inner.orientation[:, 2])))
        self.check(tilt < 0.05, "inner", tilt, "rad of tilt; the z axes of both frames must point the same way")

    def _place(self, control):
        """Centres (Z, 3) of the balls and cage speed at the start, speeds of the balls."""
        g, R = self.geometry, self.outer.orientation
        e, e_i = R[:, 2], self.inner_race.orientation[:, 2]
        w_O = self.outer.node.angular_velocity
        self.outer_speed, self.inner_speed = float(w_O @ e), float(self.inner.node.angular_velocity @ e)
        self.psi = self.cage_angle + 2 * np.pi * np.arange(g.balls) / g.balls
        radial = np.cos(self.psi)[:, None] * R[:, 0] + np.sin(self.psi)[:, None] * R[:, 1]
        radial_i = radial - (radial @ e_i)[:, None] * e_i
        radial_i /= np.linalg.norm(radial_i, axis=1)[:, None]
        C_o = self.outer.position + g.groove_circle_outer * radial
        C_i = self.inner_race.position + g.groove_circle_inner * radial_i
        d = C_i - C_o
        # in the plane of the ball and the axis
        u_r, u_z = np.sum(d * radial, axis=1), d @ e
        length = np.hypot(u_r, u_z)
        delta = length - g.groove_distance
        load = g.stiffness * np.maximum(delta, 0.0) ** 1.5
        reach = np.where(delta > 0, g.reach_outer + (load / g.outer.stiffness) ** (2 / 3),
                         g.reach_outer * length / g.groove_distance)  # fmt: skip
        share = reach / np.where(length > 0, length, 1.0)
        self.centers = C_o + share[:, None] * (u_r[:, None] * radial + u_z[:, None] * e)
        # rolling: at the angles of the loaded balls, at the nominal angle where there is no load
        nominal = g.contact_angle or 0.0
        angle = np.where(delta > 0, np.arctan2(u_z, u_r), nominal)
        law, Y, found = be.race_law(g, inertia=False, control=control), np.zeros((5, 3)), []
        for a in angle:
            c, s = np.cos(a), np.sin(a)
            be.ball_speeds(law, c, s, c, s, self.inner_speed, self.outer_speed, Y)
            found.append(Y[0].copy())
        found = np.array(found)
        loaded = delta > 0
        self.cage_speed = float((found[loaded] if loaded.any() else found)[:, 0].mean())
        across = w_O - self.outer_speed * e
        self.carried = across + self.cage_speed * e  # rotation of the cage
        self.velocities = self.outer.velocity + np.cross(self.carried, self.centers - self.outer.position)
        self.rotations = self.carried + found[:, 1:2] * e + found[:, 2:3] * radial

    def _ball(self, k):
        g = self.geometry
        return RigidBody.sphere(
            g.ball_mass, 0.5 * g.ball_diameter, position=self.centers[k], velocity=self.velocities[k],
            angular_velocity=self.rotations[k], name=f"{self.name} ball {k}",
        )  # fmt: skip

    def _race(self, race, k, friction, spall):
        g, frame = self.geometry, self.outer if race == "outer" else self.inner_race
        osculation = g.osculation_outer if race == "outer" else g.osculation_inner
        circle = g.groove_circle_outer if race == "outer" else g.groove_circle_inner
        contact = SphereInGroove(
            self.balls[k], frame, radius=0.5 * g.ball_diameter, radius_groove=osculation * g.ball_diameter,
            radius_circle=circle, side=race, spall=spall, drawn=k == 0, restitution=1.0, friction=friction,
            name=f"{self.name} {race} {k}",
        )  # fmt: skip
        stiffness = (g.outer if race == "outer" else g.inner).stiffness
        return CompliantContact(contact, stiffness=stiffness, slip_speed=self.slip_speed, simple_tangent=True)

    def _cage(self):
        g, m = self.geometry, self.cage_mass
        R, D = 0.5 * g.pitch_diameter, g.ball_diameter
        # a ring of the height of the balls
        polar, across = m * R**2, m * (0.5 * R**2 + D**2 / 12)
        middle = np.mean(self.centers, axis=0)
        return RigidBody(
            m, [across, across, polar], position=middle, rotation=self.outer.orientation, velocity=self.outer.velocity,
            angular_velocity=self.carried, shape=_rings(R, D), name=f"{self.name} cage",
        )  # fmt: skip

    def _pocket(self, k, clearance, stiffness, law):
        r, psi = 0.5 * self.geometry.ball_diameter, self.psi[k]
        center = 0.5 * self.geometry.pitch_diameter * np.array([np.cos(psi), np.sin(psi), 0.0])
        contact = SphereInSphere(
            self.balls[k], self.cage.frame(center), radius=r, radius_outer=r + clearance, drawn=False,
            name=f"{self.name} pocket {k}", **law,
        )  # fmt: skip
        return CompliantContact(
            contact, stiffness=stiffness, exponent=1.0, slip_speed=self.slip_speed, simple_tangent=True
        )

    def __repr__(self):
        return f"{label(self)}: {self.geometry.balls} balls"


def _rings(R, D):
    """Drawing of a cage: two flat rings on both sides of the balls."""
    from fem_mbs.shapes import Mesh

    n, angle = 72, 2 * np.pi * np.arange(72) / 72
    shapes = []
    for z in (-0.52 * D, 0.52 * D):
        rows = [
            np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, height)])
            for radius, height in (
                (R - 0.1 * D, z - 0.04 * D), (R + 0.1 * D, z - 0.04 * D), (R + 0.1 * D, z + 0.04 * D),
                (R - 0.1 * D, z + 0.04 * D),
            )
        ]  # fmt: skip
        i = np.arange(n)
        j = (i + 1) % n
        faces = [np.stack([a * n + i, b * n + i, b * n + j, a * n + j], axis=1)[:, ::-1]
                 for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))]  # fmt: skip
        shapes.append(Mesh(np.vstack(rows), faces, color="brown"))
    return shapes


def _rigid(outer, inner, geometry, *, grooves=False, cage_stiffness=1e8, cage_angle=0.0, **options):
    """`RigidBallBearing` with the dimensions of a geometry."""
    pitch, r = 0.5 * geometry.pitch_diameter, 0.5 * geometry.ball_diameter
    play = 0.25 * geometry.clearance
    options |= {"ball_mass": geometry.ball_mass, "cage_stiffness": cage_stiffness, "angle": cage_angle}
    owner = Named("ball_bearing", options.get("name"))
    if not owner.as_flag("grooves", grooves):
        return RigidBallBearing(
            outer, inner, balls=geometry.balls, radius_ball=r, radius_inner=pitch - r - play,
            radius_outer=pitch + r + play, **options,
        )  # fmt: skip
    groove_inner, groove_outer = geometry.osculation_inner * 2 * r, geometry.osculation_outer * 2 * r
    race = owner.as_frame("inner", inner)
    race = race.node.frame(race.p + race.rotation @ [0.0, 0.0, geometry.axial_offset], race.rotation, name=race.name)
    return RigidBallBearing(
        outer, race, balls=geometry.balls, radius_ball=r, radius_inner=geometry.groove_circle_inner - groove_inner,
        radius_outer=geometry.groove_circle_outer + groove_outer, groove_inner=groove_inner,
        groove_outer=groove_outer, **options,
    )  # fmt: skip


LEVELS: dict[str, Callable[..., Any]] = {"dynamic": DynamicBearing, "quasi-static": QuasiStaticBearing, "rigid": _rigid}


@Keywords.known
def ball_bearing(
    outer: FrameLike, inner: FrameLike, geometry: BearingGeometry, *, level: str = "dynamic", **options: Any
) -> Any:
    """A ball bearing between two bodies, at one of the levels of detail.

    Parameters
    ----------
    outer, inner : Frame, Node or body
        Housing and shaft; z is the axis, the origin the centre of the bearing.
    geometry : BearingGeometry
    level : {"dynamic", "quasi-static", "rigid"}
        "dynamic": `DynamicBearing`, balls and cage move between races that yield. "quasi-static": `QuasiStaticBearing`,
        balls in equilibrium: a stiffness, for long runs and large models. "rigid": `RigidBallBearing`, rigid balls with
        impacts: for shocks and play, not for ball loads; planar between spherical races, with ``grooves=True``
        three-dimensional between the grooves of the geometry. Its clearance to one side is half the diametral one of
        the geometry, which must be positive.
    **options
        Of that class; ``name`` and ``cage_angle`` (of ball 0 [rad]) are options of all.

    Returns
    -------
    DynamicBearing, QuasiStaticBearing or RigidBallBearing
        To be added to the model.

    Raises
    ------
    ParameterError
        Unknown level, and the errors of the class.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model = fem.Model("rotor")
    >>> shaft = model.add(fem.RigidBody(2.0, [5e-3, 5e-3, 1e-3], name="shaft"))
    >>> geometry = fem.BearingGeometry.from_designation("6204")
    >>> front = model.add(fem.ball_bearing(model.ground, shaft, geometry, level="quasi-static", name="front"))
    """
    owner = Named("ball_bearing", options.get("name"))
    owner.as_choice("level", level, tuple(LEVELS))
    owner.as_instance("geometry", geometry, BearingGeometry)
    return LEVELS[level](outer, inner, geometry, **options)
