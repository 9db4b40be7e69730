"""Gear pairs and rack and pinion with rigid teeth: the ratio of their coordinates, and the force of the teeth.

Wheels 1 and 2 rotate on hinges of one carrier; θ_k are their angles against it. In the pitch point, t is the direction
in which wheel 1 moves for θ̇_1 > 0, u that of the common line of the pitch cylinders or cones, w = ±t × u points to
axis 1:

    g = r_1 θ_1 + s r_2 θ_2 − g_0          s = +1 external, −1 internal; bevel: by the side of the apex            (1)
    g = r θ − (t·z) d − g_0                rack: d is its slide along z                                            (2)
    n = t + σ tan α/cos β w ∓ tan β u ,    force λ n on wheel 1 and −λ n on wheel 2 (or the rack)                  (3)
    bevel:  r_1/r_2 = z_1/z_2 = sin δ_1/sin δ_2 ,  δ_1 + δ_2 = Σ, angle of the axes from the apex                  (4)

λ is the tangential force on the pitch circles. σ = sign λ is the loaded flank: teeth push apart in both senses.

Source: docs/theory/gears_and_belts.md, (1)-(6). Kernels: `fem_mbs.elements.drives.coupling_kernels`.
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import register
from fem_mbs.elements.drives.coupling import Coupling, Term, random_hinges
from fem_mbs.elements.drives.coupling_kernels import TEETH_OF_RACK, TEETH_OF_WHEEL
from fem_mbs.elements.joints.coordinates.coordinates import coordinate_of
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_Z, TURN_Z
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.errors import ParameterError
from fem_mbs.rotations import exp

_SAME = 1e-8  # of directions and, relative, of lengths at the start


class _Toothed(Coupling):
    """Common base of gear pairs and racks."""

    def _on_carrier(self, joint_1: Any, joint_2: Any, names: tuple[str, str]) -> list:
        """(P, Q) of both joints with P on the carrier, the body that they share, and their coordinates."""
        kinds = (TURN_Z, SLIDE_Z if names[1] == "rack" else TURN_Z)
        joints, frames = (joint_1, joint_2), []
        for name, joint, kind in zip(names, joints, kinds):
            self._check_joint(name, joint)
            there = [c.name for c in joint.coordinates if c.kind == kind]
            what = "slide along its z axis" if kind == SLIDE_Z else "turn about its z axis"
            self.check(there, name, joint, f"has no coordinate that is a {what}")
            coordinate_of(self, name, joint, there[0])
            frames.append((joint.frame_P, joint.frame_Q))
        carriers = [node for node in (f.node for f in frames[0]) if node in [f.node for f in frames[1]]]
        self.check(
            len(carriers) == 1,
            names[1],
            joint_2,
            f"must share one body, the carrier, with {names[0]}; they share {len(carriers)}",
        )
        return [pair if pair[0].node is carriers[0] else pair[::-1] for pair in frames]

    def _flank(self, flank: Any) -> float:
        choice = self.as_choice("flank", flank, ("auto", "forward", "backward"))
        return {"auto": 0.0, "forward": 1.0, "backward": -1.0}[choice]

    def _normal(self, pressure_angle: float | None, helix_angle: float, t, u, w) -> tuple[np.ndarray, np.ndarray]:
        """Parts of (3) that do not depend on σ, and that do; inertial axes at the start."""
        if pressure_angle is None:
            return t, np.zeros(3)
        alpha = self.number("pressure_angle", pressure_angle, "rad", at_least=0, at_most=0.8)
        beta = self.number("helix_angle", helix_angle, "rad", at_least=-1.2, at_most=1.2)
        return t - math.tan(beta) * u, math.tan(alpha) / math.cos(beta) * w

    @staticmethod
    def _term(frames, kind, coefficient, teeth, force, place, sign):
        """One `Term`, its teeth in axes of P; force: the two parts of n, place: the pitch point, inertial axes."""
        P, Q = frames
        axes = P.orientation.T
        start = 0.0
        if kind == TURN_Z:
            x = axes @ Q.orientation[:, 0]
            start = float(math.atan2(x[1], x[0]))
        along, apart = (sign * (axes @ part) for part in force)
        return Term(P, Q, kind, start, coefficient, teeth, along, apart, axes @ (place - P.position))


class GearPair(_Toothed):
    """Two gears with rigid teeth: external, internal, or bevel, which follows from the axes of their joints.

    Parameters
    ----------
    joint_1, joint_2 : Joint
        Joints of the two gears with an angle (`Revolute`, `Cylindrical`); they share one body, the carrier (housing,
        planet carrier, ground), on which the ratio holds, also when it rotates. Axes parallel or crossing in one point.
    teeth : (2,), optional
        Numbers of teeth; with parallel axes the pitch radii follow from their distance.
    radii : (2,) [m], optional
        Pitch radii; with parallel axes their sum (internal: difference) is the distance of the axes.
    module : float [m], optional
        For bevel gears, which have no distance of axes: radii are module × teeth/2, at the middle of the face width.
    internal : bool
        Gear 2 is a ring with internal teeth.
    pressure_angle : float [rad] or None
        Normal angle α, by which teeth push the gears apart; default 20°. None: the force of the teeth is tangential.
    helix_angle : float [rad]
        β > 0: right-handed teeth on gear 1. For parallel axes.
    flank : "auto", "forward" or "backward"
        Which flank is taken as loaded: by the force at the end of the last step, or always that of λ > 0 or λ < 0.
    name : str, optional

    Outputs
    -------
    force : λ [N], tangential force at the pitch circle; > 0 turns gear 1 in positive sense about z of its joint
    torque : (2,) [N m], of the teeth on gear 1 and gear 2 about z of their joints
    angle : (2,) [rad], of the gears against the carrier, unwrapped (multi-turn)
    tooth_force : (3,) [N], of the teeth on gear 1, inertial axes

    Attributes
    ----------
    ratio : θ̇_1/θ̇_2 against the carrier, with its sign
    pitch_point : (3,) [m], at the start, inertial axes

    Raises
    ------
    ParameterError
        Joints without an angle or without a common body; axes that are skew or, parallel, 0 apart; radii that do not
        fit the distance; bevel gears without module or radii, or whose joint has its origin in the apex.

    Notes
    -----
    Equations (1), (3), (4) of the file's header. The teeth are rigid and without backlash: `GearMesh` has both. Angles
    of joints given as (gear, carrier) count in the other sense here, see ``angle``. Three planets between a sun and a
    ring have redundant constraints, and undetermined loads.
    With rigid teeth motion and λ do not depend on ``pressure_angle``, reactions of the joints do.
    For bevel gears each joint's origin must be on the side of the apex on which its gear is.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> ground = Ground()
    >>> hinges = [Revolute.at(ground, Node6([x, 0, 0]), [x, 0, 0], [0, 0, 1]) for x in (0.0, 0.09)]
    >>> pair = GearPair(*hinges, teeth=(20, 40), name="stage 1")
    >>> pair.ratio
    -2.0
    """

    outputs = {"force": (1, "N"), "torque": (2, "N m"), "angle": (2, "rad"), "tooth_force": (3, "N")}

    def __init__(
        self,
        joint_1: Any,
        joint_2: Any,
        *,
        teeth: ArrayLike | None = None,
        radii: ArrayLike | None = None,
        module: float | None = None,
        internal: bool = False,
        pressure_angle: float | None = math.radians(20),
        helix_angle: float = 0.0,
        flank: str = "auto",
        name: str | None = None,
    ) -> None:
        self.name = name
        self.internal, flank_sign = self.as_flag("internal", internal), self._flank(flank)
        self.teeth = None if teeth is None else self.as_teeth("teeth", teeth)
        given = None if radii is None else self.as_array("radii", radii, (2,))
        for key, value in (("teeth", self.teeth), ("radii", given)):
            self.check(value is None or (value > 0).all(), key, value, "must be positive; `internal` sets the sense")
        self.check(self.teeth is not None or given is not None, "teeth", teeth, "or radii must be given")
        if self.teeth is not None and given is not None:
            same = abs(given[0] * self.teeth[1] - given[1] * self.teeth[0]) <= 1e-6 * given[0] * self.teeth[1]
            self.check(same, "radii", radii, f"m have another ratio than teeth = {self.teeth.tolist()}")
        module = None if module is None else self.positive("module", module, "m")
        if given is None and module is not None and self.teeth is not None:
            given = 0.5 * module * self.teeth
        (P_1, _), (P_2, _) = frames = self._on_carrier(joint_1, joint_2, ("joint_1", "joint_2"))
        z_1, z_2 = P_1.orientation[:, 2], P_2.orientation[:, 2]
        if np.linalg.norm(np.cross(z_1, z_2)) < _SAME:
            self.radii, place, u = self._parallel(P_1, P_2, z_1, given, joint_2)
        else:
            self.check(helix_angle == 0.0, "helix_angle", helix_angle, "rad is for parallel axes")
            self.radii, place, u = self._bevel(P_1, P_2, z_1, z_2, given)
        self.pitch_point = place
        arm_1, arm_2 = place - P_1.position, place - P_2.position
        t = np.cross(z_1, arm_1)
        t /= np.linalg.norm(t)
        w = np.cross(t, u)
        w *= -np.sign(w @ (arm_1 - (arm_1 @ z_1) * z_1))
        normal = self._normal(pressure_angle, helix_angle, t, u, w)
        sense = -float(np.sign(np.cross(arm_2, t) @ z_2))
        c = (float(self.radii[0]), sense * float(self.radii[1]))
        self.ratio = -c[1] / c[0]
        pitch = 0.0 if self.teeth is None else 2.0 * math.pi * c[0] / float(self.teeth[0])
        terms = [
            self._term(pair, TURN_Z, c[k], TEETH_OF_WHEEL, normal, place, (1.0, -1.0)[k])
            for k, pair in enumerate(frames)
        ]
        self._couple(terms, name, pitch, flank_sign)

    def _parallel(self, P_1, P_2, z, given, joint_2):
        """Pitch radii (2,), pitch point and common direction of the axes, for parallel axes."""
        d = P_2.position - P_1.position
        e = d - (d @ z) * z
        distance = float(np.linalg.norm(e))
        sign = -1.0 if self.internal else 1.0
        self.check(distance > 0.0, "joint_2", joint_2, "has the same axis as joint_1: the gears cannot mesh")
        if given is None:
            total = self.teeth[1] + sign * self.teeth[0]
            self.check(total > 0, "teeth", self.teeth, "the ring, gear 2, must have more teeth than gear 1")
            radii = distance * self.teeth / total
        else:
            radii = given
            needed = radii[1] + sign * radii[0]
            self.check(
                abs(needed - distance) <= 1e-6 * distance,
                "radii",
                radii,
                f"m need axes {needed:.9g} m apart, those of the joints are {distance:.9g} m apart",
            )
        if self.teeth is not None:
            radii = radii[0] * np.array([1.0, float(self.teeth[1]) / float(self.teeth[0])])  # the ratio to round-off
        return radii, P_1.position + sign * radii[0] * e / distance + 0.5 * (d @ z) * z, z

    def _bevel(self, P_1, P_2, z_1, z_2, radii):
        """Pitch radii (2,), pitch point and direction of the common line of the pitch cones, for crossing axes."""
        self.check(not self.internal, "internal", True, "is for parallel axes; these cross")
        self.check(
            radii is not None, "module", None, "or radii must be given: the axes cross, so that these are bevel gears"
        )
        d = P_2.position - P_1.position
        across = np.cross(z_1, z_2)
        miss = abs(d @ across) / np.linalg.norm(across)
        # the two points of the axes that are nearest to each other
        s = np.linalg.lstsq(np.column_stack([z_1, -z_2]), d, rcond=None)[0]
        size = float(radii.sum())
        self.check(
            miss <= 1e-6 * size,
            "joint_2",
            P_2,
            f"has an axis that passes that of joint_1 {miss:.3g} m apart. Bevel gears need axes that cross; for other "
            "gears give the ratio of the angles with a CoordinateCoupling",
        )
        for key, P, along in (("joint_1", P_1, s[0]), ("joint_2", P_2, s[1])):
            self.check(
                abs(along) > 1e-6 * size,
                key,
                P,
                "has its origin where the axes cross: place it on the side on which its gear is: it decides the sense",
            )
        a_1, a_2 = -np.sign(s[0]) * z_1, -np.sign(s[1]) * z_2  # from the apex to the gears
        cosine = float(a_1 @ a_2)
        sine = math.sqrt(1.0 - cosine**2)
        delta = math.atan2(sine, radii[1] / radii[0] + cosine)
        u = math.cos(delta) * a_1 + math.sin(delta) * (a_2 - cosine * a_1) / sine
        return radii, P_1.position + s[0] * z_1 + radii[0] / math.sin(delta) * u, u


class RackAndPinion(_Toothed):
    """A pinion that drives a rack, or a wheel that rolls on a rail, without slip: d = ± r θ.

    Parameters
    ----------
    pinion : Joint
        Hinge of the pinion (`Revolute`, `Cylindrical`).
    rack : Joint
        Guide of the rack (`Prismatic`, `Cylindrical`) on the same body, its z axis at right angles to the pinion's. Its
        origin is on the side of the pinion where the rack is; its distance does not matter.
    radius : float > 0 [m], optional
        Pitch radius; or teeth and module.
    teeth : int, optional
    module : float > 0 [m], optional
    pressure_angle : float [rad] or None
    flank : "auto", "forward" or "backward"
    name : str, optional
        As those of `GearPair`.

    Outputs
    -------
    force : λ [N], tangential; > 0 turns the pinion in positive sense about z of its joint
    effort : (2,), torque on the pinion [N m], force on the rack along z of its joint [N]
    coordinate : (2,), angle of the pinion [rad], unwrapped (multi-turn); slide of the rack [m]; against the body of
    both tooth_force : (3,) [N], of the teeth on the pinion, inertial axes

    Raises
    ------
    ParameterError
        Joints of other kinds or without a common body; axes not at right angles; a rack whose line crosses the axis of
        the pinion; neither radius nor teeth and module.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> ground, pinion, rack = Ground(), Node6(), Node6([0, -0.05, 0])
    >>> hinge = Revolute.at(ground, pinion, [0, 0, 0], [0, 0, 1])
    >>> guide = Prismatic.at(ground, rack, [0, -0.05, 0], [1, 0, 0])
    >>> steering = RackAndPinion(hinge, guide, radius=0.05, name="steering")
    """

    outputs = {"force": (1, "N"), "effort": (2, ""), "coordinate": (2, ""), "tooth_force": (3, "N")}

    def __init__(
        self,
        pinion: Any,
        rack: Any,
        *,
        radius: float | None = None,
        teeth: int | None = None,
        module: float | None = None,
        pressure_angle: float | None = math.radians(20),
        flank: str = "auto",
        name: str | None = None,
    ) -> None:
        self.name = name
        flank_sign = self._flank(flank)
        self.teeth = None if teeth is None else self.as_integer("teeth", teeth)
        if radius is None:
            if self.teeth is None or module is None:
                raise ParameterError(self, "radius", radius, "or teeth and module must be given")
            radius = 0.5 * self.positive("module", module, "m") * self.teeth
        self.radius = self.positive("radius", radius, "m")
        (P_1, _), (P_2, _) = frames = self._on_carrier(pinion, rack, ("pinion", "rack"))
        z_1, z_2 = P_1.orientation[:, 2], P_2.orientation[:, 2]
        self.check(
            abs(z_1 @ z_2) < _SAME, "rack", rack, "slides along a line that is not at right angles to the pinion"
        )
        d = P_2.position - P_1.position
        d = d - (d @ z_1) * z_1 - (d @ z_2) * z_2
        side = float(np.linalg.norm(d))
        self.check(
            side > 1e-6 * self.radius,
            "rack",
            rack,
            "slides along a line through the axis of the pinion. Place its joint on the side where the rack is",
        )
        self.pitch_point = place = P_1.position + self.radius * d / side
        t = np.cross(z_1, d / side)
        normal = self._normal(pressure_angle, 0.0, t, z_1, -d / side)
        pitch = 0.0 if self.teeth is None else 2.0 * math.pi * self.radius / self.teeth
        terms = [
            self._term(frames[0], TURN_Z, self.radius, TEETH_OF_WHEEL, normal, place, 1.0),
            self._term(frames[1], SLIDE_Z, 0.0, TEETH_OF_RACK, normal, place, -1.0),
        ]
        self._couple(terms, name, pitch, flank_sign)


def _example_pair(rng, a, b, c):
    kind = rng.integers(0, 3)
    axes = exp(rng.normal(size=3))
    where = [rng.normal(size=3)]
    options = {"flank": rng.choice(["forward", "backward"])}
    if kind == 2:  # bevel
        z = [axes[:, 2], axes @ exp([0.0, rng.uniform(0.5, 2.0), 0.0])[:, 2]]
        where.append(where[0] - rng.uniform(0.2, 1.0) * z[0] + rng.uniform(0.2, 1.0) * z[1])
        options |= {"teeth": (20, 31), "module": 0.02}
    else:
        z = [axes[:, 2], axes[:, 2] * rng.choice([-1.0, 1.0])]
        where.append(where[0] + rng.uniform(0.2, 1.0) * axes[:, 0] + 0.1 * z[0])
        options |= {"teeth": (20, 31), "internal": bool(kind), "helix_angle": rng.uniform(-0.3, 0.3)}
    from fem_mbs.elements.joints.revolute import Revolute

    return GearPair(*(Revolute.at(a, node, p, axis) for node, p, axis in zip((b, c), where, z)), **options)


def _example_rack(rng, a, b, c):
    axes = exp(rng.normal(size=3))
    hinge = random_hinges(rng, a, (b,), [axes[:, 2]])[0]
    guide = Prismatic.at(a, c, hinge.frame_P.position + 0.3 * axes[:, 1], axes[:, 0])
    return RackAndPinion(hinge, guide, radius=rng.uniform(0.1, 0.5), flank=rng.choice(["forward", "backward"]))


register(GearPair, example=_example_pair)
register(RackAndPinion, example=_example_rack)
