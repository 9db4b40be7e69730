"""Slider-crank whose crank pin runs in a ball bearing with 0.4 mm of clearance, and readings of its printed data.

The link of 0.11 m is driven with 50 rad/s, that of 0.225 m moves a slider; both are aligned at the start. Links are
rigid, or four beams each. The source prints the largest force of a ball on the outer race: 9100 N with rigid links,
2500 N with flexible ones.

`Reading` has one field for each datum that the source does not print, or prints twice; its defaults are the reading of
this project. Forces of balls are those of the source: impulses of a run with rigid contacts, split by the peak filter,
impacts with the indentation of annex C, Hertz's stiffness of (4.1) and the law of Flores. The groove radius, which the
stiffness needs, is that with which 9100 N give the printed pressure.

Source: Sanchez2025, 4.5, table 4.2, after Yao et al. 2017.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.classical import Z
from fem_mbs.shapes import Box

DRIVEN, COUPLER, SPEED = 0.11, 0.225, 50.0  # m, m, rad/s
RIGID = {  # kg, kg m²
    "crank": (1.0, [0.0028, 0.0006, 0.0033]),
    "coupler": (4.0, [0.0086, 0.0251, 0.0334]),
    "slider": (2.0, [0.0013, 0.0013, 0.0021]),
}
AREA = {"crank": 1.16e-3, "coupler": 1.13e-3}  # m²; square sections have the printed I to 0.4 %
STEEL, BEAMS = {"E": 210e9, "nu": 0.3, "density": 7850.0}, 4
RACES = {"inner race": (8e-3, 3.643e-6), "outer race": (8e-3, 6.523e-6)}  # kg, kg m²
BALLS: dict[str, Any] = {
    "balls": 8, "radius_ball": 5.5e-3, "radius_inner": 33.745e-3, "ball_mass": 2.7e-3, "ball_inertia": 3.267e-8,
    "cage_stiffness": 1e5,
}  # fmt: skip
RESTITUTION, GROOVE = 0.9, 5.82e-3  # -, m
PLANAR = ("z", "rx", "ry")
PIVOT, PIN, END = np.zeros(3), np.array([DRIVEN, 0, 0]), np.array([DRIVEN + COUPLER, 0, 0])
TURN = -SPEED * DRIVEN / COUPLER  # rad/s of the coupler at the start
BENDING = (np.pi / COUPLER) ** 2 * np.sqrt(STEEL["E"] * AREA["coupler"] / 12 / STEEL["density"])  # rad/s, its first


START = 0.01  # s: the first impact, of races that begin concentric, is over


def stiffness(bearing: Any, race: str = "outer") -> float:
    """K [N/m^1.5] of a ball and a race."""
    return float(bearing.hertz(race, radius_groove=GROOVE, E=STEEL["E"], nu=STEEL["nu"]).stiffness)


class Forces(NamedTuple):
    """Largest forces (8,) [N] of each ball on the outer race, and of the joint."""

    start: np.ndarray  # recovered, with the force of the closed contact, before `START`
    later: np.ndarray  # after it
    impact: np.ndarray  # of impacts alone, after it
    continuous: np.ndarray  # of the closed contact alone, after it
    mean: np.ndarray  # impulse over h, after it
    joint: float  # root mean square of the sum of impulses of all balls over h

    @classmethod
    def of(cls, result: Any, bearing: Any) -> "Forces":
        """Recover them from a run with every step saved."""
        rows, total = [], np.zeros(1)
        later = result.t[1:] > START
        for contact in bearing.outer_contacts:
            history = result[contact.name]
            mean = history.impulse[1:, 0] / result.h[1:]
            total = total + mean[:, None] * history.normal[1:]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # impacts through a ball that have no approach speed of their own
                found = fem.recover_forces(result, contact.name, stiffness=stiffness(bearing), model="flores",
                                           restitution=RESTITUTION, filter="peak")  # fmt: skip
            impacts = found.impacts[np.isfinite(found.impacts.peak_force)]
            peak, late = impacts.peak_force + impacts.background, impacts.time > START
            continuous = found.continuous[1:]
            rows.append([
                max(peak[~late].max(initial=0.0), continuous[~later].max(initial=0.0)),
                max(peak[late].max(initial=0.0), continuous[later].max(initial=0.0)),
                impacts.peak_force[late].max(initial=0.0),
                continuous[later].max(initial=0.0), mean[later].max(initial=0.0),
            ])  # fmt: skip
        start, after, impact, closed, impulse = np.array(rows).T
        joint = float(np.sqrt(np.mean(np.sum(np.square(total), axis=1))))
        return cls(start, after, impact, closed, impulse, joint)

    @classmethod
    def resolved(cls, result: Any, bearing: Any) -> "Forces":
        """Read them from a run with a compliant bearing, whose steps differ in size."""
        loads = np.array([result[contact.name].force_normal for contact in bearing.outer_contacts])
        normals = np.array([result[contact.name].normal for contact in bearing.outer_contacts])
        square = np.sum(np.einsum("jk,jki->ki", loads, normals) ** 2, axis=1)
        late = result.t > START
        later = loads[:, late].max(axis=1)
        joint = np.sqrt(np.sum(square[1:] * np.diff(result.t)) / result.t[-1])
        return cls(loads[:, ~late].max(axis=1), later, later, later, later, float(joint))


@dataclass(frozen=True)
class Reading:
    """How the printed data are read.

    Parameters
    ----------
    flexible, clearance : bool
        Beams for rigid links; the bearing, or a hinge.
    parts : sequence of str
        Links that are beams if ``flexible``.
    poses : {3, 2}
        Nodes of a beam element.
    inertia : str
        Of beams with two nodes: "hermite", "linear" or "lumped".
    beams : int
        Intervals between nodes of each link.
    damping : float [-]
        Damping ratio of the first bending mode of the coupler, proportional to the stiffness.
    coupler_mass : float [kg]
        Of the flexible coupler; None: that of steel, 2.0 kg. The rigid one has 4 kg.
    inner_on_crank : bool
        The inner race is on the pin of the driven link, the outer one in the eye of the coupler; or the other way.
    angle : float [rad]
        Of ball 0 from the line of the links.
    radius_outer : float [m]
        45.15 mm is printed, and leaves 0.405 mm of clearance; 45.145 mm the 0.4 mm that are printed too.
    gravity : float [m/s²], along −y
    friction, cage_damping : float [-], [N s/m]
    restitution : float [-]
    start : {"moving", "driven", "ramp"}
        All links move as with an ideal hinge; the driven one alone; all at rest, and the drive speeds up in 20 ms.
    race_mass : float
        Factor of mass and inertia of both races.
    compliant : bool
        Balls and races yield, by Hertz with the law of Flores, in the place of impacts: the printed model resolved in
        time, whose forces need no recovery.
    """

    flexible: bool = False
    clearance: bool = True
    parts: tuple[str, ...] = ("crank", "coupler")
    poses: int = 3
    inertia: str = "hermite"
    beams: int = BEAMS
    damping: float = 0.0
    coupler_mass: float | None = None
    inner_on_crank: bool = True
    angle: float = 0.0
    radius_outer: float = 45.15e-3
    gravity: float = 0.0
    friction: float = 0.001
    restitution: float = RESTITUTION
    cage_damping: float = 1e3
    start: str = "moving"
    race_mass: float = 1.0
    compliant: bool = False

    def drive(self, t: float) -> float:
        """Angle [rad] of the driven link."""
        if self.start != "ramp":
            return SPEED * t
        rise = 0.02
        s = min(t / rise, 1.0)
        return SPEED * (rise * (s**3 - 0.5 * s**4) + max(t - rise, 0.0))

    def build(self) -> tuple[fem.Model, Any]:
        """Model and bearing (None: a hinge)."""
        model = fem.Model("crank mechanism with a bearing", gravity=[0, -self.gravity, 0])
        moving = self.start == "moving"
        pivot, pin = self._link(model, "crank", PIVOT, PIN, 0.0 if self.start == "ramp" else SPEED)
        eye, wrist = self._link(model, "coupler", PIN, END, TURN if moving else 0.0)
        mass, inertia = RIGID["slider"]
        slider = model.add(
            fem.RigidBody(
                mass, inertia, position=END, shape=Box([0.06, 0.05, 0.05]), fixed=("y", "rx", "ry", "rz"), name="slider"
            )
        )
        inner, outer = (pin, eye) if self.inner_on_crank else (eye, pin)
        for frame, (name, (m, J)) in zip((inner, outer), RACES.items()):
            m, J = m * self.race_mass, J * self.race_mass
            model.add(fem.RigidBody(m, J, center=frame.p, node=frame.node, name=name))
        model.add(fem.Spherical.at(model.ground, pivot.node, PIVOT, name="pivot"))
        model.add(fem.RevoluteDriver(model.ground, pivot, fem.Signal(self.drive), name="motor"))
        model.add(fem.Spherical.at(wrist.node, slider, END, name="wrist"))
        if not self.clearance:
            model.add(fem.Spherical(pin, eye, name="pin"))
            return model, None
        bearing = fem.RigidBallBearing(
            outer, inner, **BALLS, radius_outer=self.radius_outer, cage_damping=self.cage_damping,
            friction=self.friction, restitution=self.restitution, angle=self.angle, name="bearing",
        )  # fmt: skip
        if not self.compliant:
            return model, model.add(bearing)
        model.add(bearing.bodies, bearing.springs)
        for race, contacts in (("inner", bearing.inner_contacts), ("outer", bearing.outer_contacts)):
            law: dict[str, Any] = {"stiffness": stiffness(bearing, race), "model": "flores", "simple_tangent": True}
            model.add([fem.CompliantContact(contact, **law) for contact in contacts])
        return model, bearing

    def _link(self, model, name, start, end, spin):
        """A link that turns with ``spin`` about the pivot, or about the slider; returns its frames at both ends.

        All nodes stay in the plane, where no joint holds them there.
        """
        at_rest, middle, length = PIVOT if name == "crank" else END, 0.5 * (start + end), np.linalg.norm(end - start)
        held = name == "crank" or not self.clearance  # by a joint
        if self.flexible and name in self.parts:
            side, steel = np.sqrt(AREA[name]), dict(STEEL)
            if name == "coupler" and self.coupler_mass is not None:
                steel["density"] = self.coupler_mass / (AREA[name] * COUPLER)
            section = fem.Section.rectangle(side, side, **steel)
            first = fem.Node6(start, fixed=PLANAR[1:] if held else PLANAR, name=f"{name} node 0")
            options = {"inertia": self.inertia} if self.poses == 2 else {}
            line = model.add(
                fem.beam_line(
                    first, end, self.beams, section, orientation=[0, 1, 0], name=name, poses=self.poses,
                    damping=2 * self.damping / BENDING, fixed=PLANAR, **options,
                )
            )  # fmt: skip
            for node in line.nodes:
                node.velocity[:] = np.cross(spin * Z, node.position - at_rest)
                node.angular_velocity[:] = spin * Z
            return [node.frame_at(node.position) for node in (line.nodes[0], line.nodes[-1])]
        mass, inertia = RIGID[name]
        body = model.add(
            fem.RigidBody(
                mass, inertia, position=middle, velocity=np.cross(spin * Z, middle - at_rest), name=name,
                angular_velocity=spin * Z, shape=Box([length, 0.03, 0.02]), fixed=PLANAR[1:] if held else PLANAR,
            )
        )  # fmt: skip
        return [body.frame_at(start), body.frame_at(end)]


def bending(result: Any, beams: int = BEAMS) -> np.ndarray:
    """Rotation (k,) [rad] of the coupler's end at the slider relative to its end at the bearing."""
    first, last = (result[f"coupler node {i}"].rotation[:, :2, 0] for i in (0, beams))
    return np.arcsin(first[:, 0] * last[:, 1] - first[:, 1] * last[:, 0])
