"""Dry friction in a joint: set-valued Coulomb friction against the rate of one of its coordinates.

N, the normal force on the surfaces, is a sum of lengths of forces times their arms, (3) of
`joints.coordinates.friction_kernels`. F = (F_x, F_y) is the radial force of the joint on a journal or guide, M its
moment about Q, in the axes of P; bearings or pads at ±ℓ/2 along z carry F/2 ± (M_y, −M_x)/ℓ, and a collar or a thread
carries F_z.

    joint         F           F_z     (M_y, −M_x)         rows
    Revolute      (p_0, p_1)  p_2     (λ_3, λ_4)          3 "point", x_P·z_Q, y_P·z_Q
    Cylindrical   (λ_0, λ_1)  -       (λ_2, λ_3)          2 "in plane", x_P·z_Q, y_P·z_Q
    Prismatic     (λ_0, λ_1)  -       (−λ_4, λ_3)         2 "in plane", x_P·y_Q, y_P·z_Q, z_P·x_Q
    Screw         (λ_0, λ_1)  λ_4     (λ_2, λ_3)          2 "in plane", x_P·z_Q, y_P·z_Q, thread
    PointOnLine   (λ_0, λ_1)  -       -                   2 "in plane"
    Planar        -           λ_0     -                   1 "in plane", x_P·z_Q, y_P·z_Q
    Universal     (p_0, p_1)  -       (p_3, p_4)          3 "point", z_P·x_Q; z along the pin, (5) there
    Spherical     (p_0, p_1)  p_2     -                   3 "point"; a ball carries all three components as one

Where the relative motion has several directions, a ball in its socket or a plate that slides on its plane, friction is
opposite to the relative velocity vector γ, and |friction| ≤ μ N: it sticks and slides in all directions together.

Source: docs/theory/joint_friction.md, (2)-(4). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fem_mbs.element.base import register
from fem_mbs.element.friction_row import FrictionRow, friction_coefficients
from fem_mbs.element.registry import REGISTRY
from fem_mbs.elements.joints.coordinates.friction_kernels import (
    AS_THEY_ARE,
    MOST_TERMS,
    PARAMETERS,
    PIN_FIRST,
    PIN_SECOND,
    POINT,
    SLIDE,
    SLIDE_PLANE,
    TURN,
    TURN_ALL,
    TURN_SECOND,
    friction,
    friction_bound,
    friction_hessian,
    output,
)
from fem_mbs.elements.joints.coordinates.given import never_negative
from fem_mbs.elements.joints.rows import random_joint
from fem_mbs.functions.signals import Signal
from fem_mbs.system.friction import MOST_ROWS


class Known(NamedTuple):
    """Properties of the surfaces of a type of joints.

    Attributes
    ----------
    coordinates : dict
        Name of a coordinate -> its kind, and what p is.
    force : (2,)
        Numbers of p that are F; () for none.
    moment : (2,) of (number of p, sign)
        What (M_y, −M_x) is; () for none.
    axial : int
        Number of p that is F_z; −1 for none.
    default : str
        Coordinate that is meant where several have friction and none is given; "": one has to be given.
    """

    coordinates: dict
    force: tuple = (0, 1)
    moment: tuple = ()
    axial: int = -1
    default: str = ""


# by the names of the types, because joints make their friction
KNOWN = {
    "Revolute": Known({"angle": (TURN, POINT)}, moment=((3, 1.0), (4, 1.0)), axial=2),
    "Prismatic": Known({"displacement": (SLIDE, AS_THEY_ARE)}, moment=((4, -1.0), (3, 1.0))),
    "Cylindrical": Known(
        {"displacement": (SLIDE, AS_THEY_ARE), "angle": (TURN, AS_THEY_ARE)}, moment=((2, 1.0), (3, 1.0))
    ),
    "Screw": Known({"angle": (TURN, AS_THEY_ARE)}, moment=((2, 1.0), (3, 1.0)), axial=4),
    "PointOnLine": Known({"displacement": (SLIDE, AS_THEY_ARE)}),
    "Planar": Known(
        {"angle": (TURN, AS_THEY_ARE), "displacement": (SLIDE_PLANE, AS_THEY_ARE)}, force=(), axial=0, default="angle"
    ),
    "Universal": Known(
        {"first_angle": (TURN, PIN_FIRST), "second_angle": (TURN_SECOND, PIN_SECOND)}, moment=((3, 1.0), (4, 1.0))
    ),
    "Spherical": Known({"rotation": (TURN_ALL, POINT)}),
}
DIRECTIONS = {TURN_ALL: 3, SLIDE_PLANE: 2}  # of kinds that have more than one
SLIDING = (SLIDE, SLIDE_PLANE)


def _kind_of(joint):
    """Name in `KNOWN` of the type of a joint; "" for none."""
    return next((cls.__name__ for cls in type(joint).__mro__ if cls.__name__ in KNOWN), "")


def friction_of_several(joint: Any) -> tuple[str, tuple[str, ...]]:
    """Name of the relative motion of a joint that has several directions of friction, "" for none; names of all."""
    coordinates = KNOWN.get(_kind_of(joint), Known({})).coordinates
    return next((name for name, (kind, _) in coordinates.items() if kind in DIRECTIONS), ""), tuple(coordinates)


class JointFriction(FrictionRow):
    """Dry friction in a joint that is in the model: it sticks, and slides where it cannot hold.

    The friction force or torque is at most μ N against the rate of a coordinate of the joint, and as large as needed
    where that rate is zero: a door stays in its position. N consists of a preload and of the force that the joint
    itself transmits at the time, impacts included.

    Parameters
    ----------
    joint : Revolute, Prismatic, Cylindrical, Universal, Screw, PointOnLine, Planar or Spherical
        It is added to the model by itself.
    friction : float ≥ 0 or (static, sliding), -
        μ, one number or two with static ≥ sliding. The force of a joint is the *resultant* of pressure and friction:
        for a journal with the dry coefficient f of its surfaces μ is sin(atan f) = f/√(1 + f²) (friction circle). For
        guides, whose friction is no part of what their rows transmit, μ is f itself.
    coordinate : str, optional
        Of a `Cylindrical`, "angle" or "displacement"; of a `Universal`, "first_angle" or "second_angle": each pin has
        its own. Of a `Planar`, "angle" (default), or "displacement": sliding in the plane in any direction. Of a
        `Spherical`, "rotation" about any axis.
    radius : float ≥ 0 [m]
        Of the journal, for an angle: N has the radial force times it; of the ball of a `Spherical`: N has the whole
        force times it. 0: the load plays no part.
    length : float > 0 [m], optional
        Distance of two bearings or pads, at ±length/2 from Q along the axis, which carry the tilting moment. Default:
        one short bearing, which carries the force alone. Those of a pin of a cross carry its moment.
    collar : float ≥ 0 [m]
        Mean radius of the surface that carries the axial force: the collar of a `Revolute`, the thread of a `Screw`,
        the plate of a
        `Planar` that rotates on its plane (for a disc ⅔ of its radius).
    preload : float or function of t [s], ≥ 0 [N, of an angle N m]
        Part of N that is there without load: seals, a spring, a brake. With ``friction=1`` the torque of a clutch.
    flat : bool
        Of a displacement: flat ways, |F_x| + |F_y| of each pad, instead of a round guide, √(F_x² + F_y²).
    offset : (2,) [m]
        Of a displacement: where the friction acts off the z axis, x and y of Q at the start. Guides jam by it.
    speed : float or function of t [s], [rad/s or m/s]
        Of the surface on the first body, for belts and motors with limited torque: friction acts against
        rate − speed. Of the displacement of a `Planar` two, of a `Spherical` three of them, along the axes of P.
    kappa : bool
        Compute κ in every step, which costs one factorisation of a matrix.
    name : str, optional

    Outputs
    -------
    force : [N, of an angle N m], friction on the second body along the coordinate, at the end of the step; the mean
        over a step with an impact. Of a `Spherical` (3,) and of the displacement of a `Planar` (2,), in axes of P
    bound : [N or N m], μ N at the same time
    slip : [m/s or rad/s], rate − speed; (3,) and (2,) as the force
    status : 0 sticks, 1 or −1 slides in this direction, 2 jammed in this step; 1 slides, of several directions
    power : [W], taken out of the model
    dissipated : [J], the same since the start, by the trapezoidal rule
    kappa : [-], by which friction enlarges its own cause: 1/(1 − κ) times. At κ ≥ 1 a joint jams. Computed where
        sliding ends, or in all steps with ``kappa=True``

    Raises
    ------
    ParameterError
        Another joint; coefficients out of range; neither radius, collar nor preload for an angle; a length of pads of
        no size; options of another coordinate; x or y of a `Planar`, which slides in both together ("displacement").
    SolverError
        In a run, where a preload that is a function of time is negative.

    Notes
    -----
    Of second order with `DecoupledNSGA`, of first with other methods. Two frictions on the coordinates of one
    `Cylindrical` are two laws: the direction of friction is not that of the helical motion. The moment about the axis
    of a `Prismatic` causes no friction. A screw holds its load where μ times the radius of its thread is above
    lead/2π. Springs, motors and friction along one pin of a `Universal` press on the other pin too; this is not in its
    N.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6(), position=[0, 0, 0], axis=[0, 0, 1], name="hinge")
    >>> friction = JointFriction(hinge, friction=(0.25, 0.2), radius=0.01, name="hinge friction")
    """

    parameters = PARAMETERS
    kernels = {"friction": friction, "friction_hessian": friction_hessian, "friction_bound": friction_bound,
               "output": output}  # fmt: skip

    def __init__(
        self,
        joint: Any,
        friction: float | Sequence[float],
        *,
        coordinate: str | None = None,
        radius: float = 0.0,
        length: float | None = None,
        collar: float = 0.0,
        preload: Any = 0.0,
        flat: bool = False,
        offset: Sequence[float] = (0.0, 0.0),
        speed: Any = 0.0,
        kappa: bool = False,
        name: str | None = None,
    ) -> None:
        self.name = name
        self._choose(joint, coordinate)
        self.radius = self.number("radius", radius, "m", at_least=0)
        self.length = None if length is None else self.positive("length", length, "m")
        self.collar = self.number("collar", collar, "m", at_least=0)
        self.flat, self.offset = self.as_flag("flat", flat), self.as_vector("offset", offset, 2)
        self._refuse_others()
        signals: list[Signal] = []
        friction_coefficients(self, friction)  # before what else may be missing
        unit = ("N m", "rad/s") if self.turns else ("N", "m/s")
        preload = self._given("preload", never_negative(self, "preload", preload, unit[0]), signals)
        speeds = self._speeds(speed, signals)
        self.moved = any(given != (0.0, -1) for given in speeds)
        loaded = not self.turns or self.radius > 0 or self.collar > 0
        self.check(loaded or preload != (0.0, -1), "radius", radius,
                   "is 0, and so are collar and preload: nothing would ever cause friction")  # fmt: skip
        super().__init__(joint, friction, kappa=kappa, name=name, signals=signals, units=unit)
        terms = self._terms()
        frames = list(joint.record[:4])
        frames[2] = frames[2] + frames[3][:, :2] @ self.offset
        rows = np.zeros((MOST_TERMS, 3, MOST_ROWS))
        for k, term in enumerate(terms):
            rows[k] = term
        values, numbers = zip(*speeds, *[(0.0, -1)] * (3 - self.directions))
        self.record = (*frames, *self._kind, len(terms), rows, *preload, self.directions, values, numbers)

    def _choose(self, joint, coordinate):
        """Set the data of the joint and of the coordinate."""
        known = _kind_of(joint)
        *most, last = KNOWN
        message = f"must be a {', '.join(most)} or {last} joint"
        self.check(known != "", "joint", joint, message)
        self.known, names = KNOWN[known], tuple(KNOWN[known].coordinates)
        if coordinate is None and len(names) > 1:
            coordinate = self.known.default or None
            self.check(coordinate is not None, "coordinate", coordinate, f"must be one of {names}: this joint has both")
        place = known == "Planar" and coordinate in ("x", "y")
        self.check(not place, "coordinate", coordinate,
                   'has no separate friction: a plate slides in both together; use "displacement"')  # fmt: skip
        self.coordinate = self.as_choice("coordinate", names[0] if coordinate is None else coordinate, names)
        self._kind = self.known.coordinates[self.coordinate]
        self.turns, self.of_point = self._kind[0] not in SLIDING, self._kind[1] != AS_THEY_ARE
        self.directions = DIRECTIONS.get(self._kind[0], 1)

    def _refuse_others(self):
        """Raise an error for options that the coordinate or the joint does not have."""
        if self.turns:
            self.check(not self.flat, "flat", self.flat, "belongs to a displacement, not to an angle")
            self.check(not self.offset.any(), "offset", self.offset, "belongs to a displacement, not to an angle")
        else:
            self.check(self.radius == 0.0, "radius", self.radius, "belongs to an angle, not to a displacement")
        self.check(self.directions == 1 or not self.flat, "flat", self.flat,
                   "is that of the ways of a guide; a plate has its normal force")  # fmt: skip
        carries = " and ".join(name for name, known in KNOWN.items() if known.axial >= 0)
        self.check(self.collar == 0.0 or self.known.axial >= 0, "collar", self.collar,
                   f"carries the axial force, which only a {carries} has")  # fmt: skip
        self.check(self.collar == 0.0 or self.turns, "collar", self.collar,
                   "belongs to an angle, not to a displacement")  # fmt: skip
        self.check(self.radius == 0.0 or self.known.force, "radius", self.radius,
                   "is that of a journal, which this joint has not; give its mean radius as collar")  # fmt: skip
        self.check(self.length is None or self.known.moment, "length", self.length,
                   "is that of two bearings or pads, which carry a moment: this joint has none")  # fmt: skip
        self.check(not self.offset.any() or self.known.moment, "offset", self.offset,
                   "is for a guide that can tilt; this joint has none")  # fmt: skip

    def _given(self, name, value, signals):
        """A constant and −1, or 0 and the number of the signal that a function of time gets."""
        signal = Signal.of(self.as_motion(name, value))
        if signal.constant:
            return self.number(name, signal(0.0)), -1
        signals.append(signal)
        return 0.0, len(signals) - 1

    def _speeds(self, speed, signals):
        """Speed of the surface in each direction, as `_given` returns it."""
        n = self.directions
        if n == 1 or (isinstance(speed, (int, float)) and speed == 0.0):
            return [self._given("speed", speed, signals)] * n
        listed = isinstance(speed, (list, tuple, np.ndarray)) and len(speed) == n
        self.check(listed, "speed", speed, f"must be {n} numbers or functions of t, along the axes of frame P")
        return [self._given("speed", part, signals) for part in speed]

    def regular(self, point: Any) -> bool:
        """True if no term of N is near its kink at a point of `fem_mbs.verify`, where differences have no meaning."""
        _, R_AP, _, R_BQ, _, axes, count, rows, *_ = self.record
        P, Q, lam = point.R[0] @ R_AP, point.R[1] @ R_BQ, point.lam
        p = np.zeros(MOST_ROWS)
        p[: len(lam)] = lam
        if axes == POINT:
            p[:3] = P.T @ lam[:3]
        elif axes != AS_THEY_ARE:
            own, other = (P, Q[:, 0]) if axes == PIN_FIRST else (np.roll(Q, -1, axis=1), P[:, 2])
            p[:] = *(own.T @ lam[:3]), *(lam[3] * (own[:, :2].T @ other))
        return bool((np.linalg.norm(rows[:count] @ p, axis=1) > 0.03 * np.abs(rows).max()).all())

    def _terms(self):
        """Rows C_k of (3), a list of (3, 5)."""
        F, M = np.zeros((3, MOST_ROWS)), np.zeros((3, MOST_ROWS))
        whole = {TURN_ALL: (0, 1, 2), SLIDE_PLANE: (self.known.axial,)}  # all that a ball, or a plate, carries
        for i, number in enumerate(whole.get(self._kind[0], self.known.force)):
            F[i, number] = 1.0
        for i, (number, sign) in enumerate(self.known.moment):
            M[i, number] = sign
        pads = [F] if self.length is None else [0.5 * F + M / self.length, 0.5 * F - M / self.length]
        if self.flat:
            pads = [np.array([pad[i], *np.zeros((2, MOST_ROWS))]) for pad in pads for i in range(2)]
        found = [self.radius * pad for pad in pads if self.radius > 0] if self.turns else pads
        if self.collar > 0:
            axial = np.zeros((3, MOST_ROWS))
            axial[0, self.known.axial] = self.collar
            found.append(axial)
        return found


def _example(rng, a, b):
    """Friction in a random joint, with all of its options in turn."""
    sizes = rng.uniform(0.05, 0.5, size=3)
    kind = list(KNOWN)[rng.integers(len(KNOWN))]
    joint = random_joint(REGISTRY[kind][0], rng, a, b, **({"lead": rng.normal()} if kind == "Screw" else {}))
    names = list(KNOWN[kind].coordinates)
    options: dict[str, Any] = {"coordinate": names[rng.integers(len(names))]}
    turns = KNOWN[kind].coordinates[options["coordinate"]][0] not in SLIDING
    if KNOWN[kind].moment and rng.integers(2):
        options["length"] = sizes[1]
    if turns and KNOWN[kind].force:
        options["radius"] = sizes[0]
    if turns and KNOWN[kind].axial >= 0:
        options["collar"] = sizes[2]
    if kind in ("Revolute", "Universal"):
        options["speed"] = lambda t: 2.0 + t
    if not turns:
        options |= {"flat": kind != "Planar" and bool(rng.integers(2)), "preload": lambda t: 1.0 + t}
        if kind == "Prismatic":
            options["offset"] = rng.normal(size=2)
        if kind == "Planar":
            options["speed"] = (1.0, lambda t: 2.0 - t)
    return JointFriction(joint, friction=(0.3, 0.2), **options)


register(JointFriction, example=_example)
