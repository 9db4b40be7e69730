"""Options of joints: springs, dampers, stops, motors and friction along their free coordinates.

Each makes a companion, a separate element that acts along a coordinate of the joint. `Model.add` adds it with the
joint, and names it after the joint: "hinge spring", "hinge lower stop".

Source: docs/theory/joints.md.
"""

from collections.abc import Callable
from typing import Any

from fem_mbs.arguments.checked import Checked, FrameLike
from fem_mbs.arguments.representation import line
from fem_mbs.element.base import JOINT_FRAMES, Element, Joint
from fem_mbs.element.speed_laws import restitution_of
from fem_mbs.elements.joints.coordinates.coordinates import check_limits, coordinate_of


class Stops(Checked):
    """Limits of a coordinate of a joint: rigid with impacts, or compliant.

    Parameters
    ----------
    lower, upper : float [rad or m], optional
        Values of the coordinate, unwrapped (multi-turn); at least one. The joint starts between them.
    restitution : float, 0 … 1, -, or a law of the approach speed as of a `Contact`, optional
        Of rigid stops, 0 by default: Newton's coefficient e_N. Of an angle the speeds are in rad/s.
    stiffness : float > 0 [N m/rad or N/m], optional
        Makes compliant stops: N = k δ (1 + d δ̇).
    damping : float ≥ 0 [s/rad or s/m], optional
        d of compliant stops; a rebound has about 1 − ⅔ d v of the speed v.

    Raises
    ------
    ParameterError
        No limit, lower ≥ upper, restitution with stiffness, damping without stiffness, values out of range.

    Examples
    --------
    >>> Stops(-1.2, 0.5, restitution=0.4).upper
    0.5
    """

    def __init__(
        self,
        lower: float | None = None,
        upper: float | None = None,
        *,
        restitution: Any = None,
        stiffness: float | None = None,
        damping: float | None = None,
    ) -> None:
        self.lower, self.upper = check_limits(self, lower, upper)
        both = restitution is not None and stiffness is not None
        self.check(not both, "restitution", restitution, "is of rigid stops, stiffness of compliant ones; give one")
        loose = damping is not None and stiffness is None
        self.check(not loose, "damping", damping, "is of compliant stops: give their stiffness too, or a restitution")
        self.restitution = restitution_of(self, 0.0 if restitution is None else restitution)
        self.stiffness = None if stiffness is None else self.positive("stiffness", stiffness)
        self.damping = self.positive("damping", 0.0 if damping is None else damping, allow_zero=True)


class Motor(Checked):
    """Motor that drives a coordinate of a joint: a given position, rate or effort, perhaps with a limit of its effort.

    Parameters
    ----------
    position : float, callable or Signal [rad or m]
        Of t [s]. The coordinate follows exactly; see `JointDriver`. Of a controller: ``controller.motion()``.
    rate : float, callable or Signal [rad/s or m/s]
        The rate follows exactly, the position adds up; see `JointRate`. Of a controller: ``controller.output()``.
    effort : float, callable or Signal [N m or N]
        Moment or force on the second body; see `JointEffort`. Of a controller: ``controller.output()``.
    limit : float, callable or Signal, ≥ 0 [N m or N], optional
        Largest effort. A motor with a rate then follows as far as it can, see `JointServo`; an effort is cut off.

    Exactly one of position, rate and effort is given.

    Raises
    ------
    ParameterError
        None of them, or more than one; a limit with a position; a negative limit.

    Examples
    --------
    >>> Motor(rate=lambda t: 20.0 * t).kind
    'rate'
    """

    def __init__(self, *, position: Any = None, rate: Any = None, effort: Any = None, limit: Any = None) -> None:
        given = {"position": position, "rate": rate, "effort": effort}
        given = {name: value for name, value in given.items() if value is not None}
        names = " and ".join(given) or "nothing"
        self.check(len(given) == 1, "given", names, "must be one of position, rate and effort")
        ((self.kind, self.value),) = given.items()
        self.limit = limit
        if isinstance(limit, (int, float)):
            self.number("limit", limit, at_least=0)
        cure = (
            "cannot be combined with a position, which has to be reached. Give a rate with a limit, from a controller "
            "that compares position and set point"
        )
        self.check(limit is None or self.kind != "position", "limit", limit, cure)

    def __repr__(self):
        return line("Motor", {self.kind: self.value} | ({} if self.limit is None else {"limit": self.limit}))


class DryFriction(Checked):
    """Dry friction along a coordinate of a joint, as an option of the joint; see `JointFriction`, which it makes.

    Parameters
    ----------
    coefficient : float ≥ 0 or (static, sliding), -
    radius, length, collar : float [m], optional
        Of the bearing: its radius, the distance of two bearings or pads, and of a collar that carries the axial force.
    preload : float or function of time [N, of an angle N m], optional
    flat, offset, speed : optional, see `JointFriction`

    Raises
    ------
    ParameterError
        When the joint is made: the errors of `JointFriction`.

    Examples
    --------
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> law = DryFriction((0.25, 0.2), radius=0.01, preload=0.1)
    >>> hinge = Revolute.at(Ground(), Node6([1, 0, 0]), [0, 0, 0], [0, 0, 1], friction=law, name="hinge")
    >>> hinge.companions[0].name
    'hinge friction'
    """

    def __init__(
        self,
        coefficient: Any,
        *,
        radius: float | None = None,
        length: float | None = None,
        collar: float | None = None,
        preload: Any = None,
        flat: bool | None = None,
        offset: Any = None,
        speed: Any = None,
    ) -> None:
        self.coefficient = coefficient
        given = {"radius": radius, "length": length, "collar": collar, "preload": preload, "flat": flat,
                 "offset": offset, "speed": speed}  # fmt: skip
        self.options = {name: value for name, value in given.items() if value is not None}


class JointOptions(Checked):
    """Makes the companions of a joint from its options.

    Parameters
    ----------
    joint : Joint
    stiffness, damping : float, (n, 2) array or callable, optional
        Spring and damper, see `JointSpring`.
    rest : float [rad or m], optional
        Where the spring has no force; default: the start.
    stops : Stops, optional
    motor : Motor, optional
    friction : float, (static, sliding) or DryFriction, optional

    Each is for the only coordinate of the joint, or a dict: name of coordinate -> value. Friction of a `Planar` may be
    given for "displacement" too, sliding in any direction; that of a `Spherical` is its "rotation".

    Raises
    ------
    ParameterError
        Unknown coordinates, options of wrong types, values out of range; names the joint.
    """

    def __init__(
        self,
        joint: Joint,
        *,
        stiffness: Any = None,
        damping: Any = None,
        rest: Any = None,
        stops: Any = None,
        motor: Any = None,
        friction: Any = None,
    ) -> None:
        self.name = joint.name
        self._joint = joint
        self._parts: list[Element] = []
        self._spring(stiffness, damping, rest)
        for name, value, kind in (("stops", stops, Stops), ("motor", motor, Motor)):
            for at, part in self._by_coordinate(name, value).items() if value is not None else ():
                joint.as_instance(name, part, kind, f"a fem.{kind.__name__}(…)")
                coordinate = next(c for c in joint.coordinates if c.name == at)
                self._stop(part, coordinate) if kind is Stops else self._drive(part, coordinate)
        if friction is not None:
            self._rub(friction)

    @property
    def companions(self) -> tuple[Element, ...]:
        """Elements that act along the coordinates of the joint."""
        return tuple(self._parts)

    def _by_coordinate(self, parameter, value):
        """Name of coordinate -> option given for it."""
        joint = self._joint
        if not isinstance(value, dict):
            return {coordinate_of(joint, parameter, joint).name: value}
        names = [coordinate_of(joint, parameter, joint, name).name for name in value]
        return dict(zip(names, value.values()))

    def _add(self, suffix, coordinate, cls, **options):
        """Make a companion along a coordinate of this name. Its messages name it after the joint."""
        if len(self._joint.coordinates) > 1:
            suffix = f"{coordinate} {suffix}"
        name = None if self._joint.name is None else f"{self._joint.name} {suffix}"
        made = cls(self._joint, coordinate=coordinate, name=name, **options)
        made._suffix = suffix
        self._parts.append(made)

    def _spring(self, stiffness, damping, rest):
        """A spring, a damper or both along each coordinate that something is given for."""
        given = {"stiffness": stiffness, "damping": damping, "rest": rest}
        parts = {name: self._by_coordinate(name, value) for name, value in given.items() if value is not None}
        for coordinate in self._joint.coordinates:
            law = {name: values[coordinate.name] for name, values in parts.items() if coordinate.name in values}
            if not law:
                continue
            from fem_mbs.elements.joints.coordinates.joint_spring import JointSpring

            hint = f"is of a spring; give a stiffness of {coordinate.name} too"
            self._joint.check("stiffness" in law or "rest" not in law, "rest", rest, hint)
            self._add("spring" if "stiffness" in law else "damper", coordinate.name, JointSpring, **law)

    def _stop(self, stops, coordinate):
        """Rigid stops, one element on each side, or compliant ones."""
        from fem_mbs.elements.joints.coordinates.stops import JointBumper, JointStop

        limits = {"lower": stops.lower, "upper": stops.upper}
        if stops.stiffness is not None:
            law = {"stiffness": stops.stiffness, "damping": stops.damping}
            self._add("stops", coordinate.name, JointBumper, **limits, **law)
            return
        for side, limit in limits.items():
            if limit is not None:
                law = {"limit": limit, "side": side, "restitution": stops.restitution}
                self._add(f"{side} stop", coordinate.name, JointStop, **law)

    def _drive(self, motor, coordinate):
        """A motor of one of three kinds, or one that follows a rate with a limited effort."""
        from fem_mbs.elements.joints.coordinates.driver import JointDriver
        from fem_mbs.elements.joints.coordinates.motors import JointEffort, JointRate
        from fem_mbs.elements.joints.coordinates.servo import JointServo

        rate = JointRate if motor.limit is None else JointServo
        cls = {"position": JointDriver, "rate": rate, "effort": JointEffort}[motor.kind]
        limit = {} if motor.limit is None else {"limit": motor.limit}
        self._add("motor", coordinate.name, cls, **{motor.kind: motor.value}, **limit)

    def _rub(self, friction):
        """Dry friction along each coordinate that it is given for, or in several directions together."""
        from fem_mbs.elements.joints.coordinates.friction import JointFriction, friction_of_several

        joint = self._joint
        several, names = friction_of_several(joint)
        if several and not isinstance(friction, dict):
            choice = f"must be a dict, {{'{several}': …}}: this joint has friction against {' and '.join(names)}"
            joint.check(len(names) == 1, "friction", "…", choice)
            friction = {several: friction}
        for name in friction if several else ():
            known = [*names, *(coordinate.name for coordinate in joint.coordinates)]
            joint.check(name in known, "friction", name, f"is no motion of this joint; it has: {', '.join(names)}")
        for at, part in (friction if several else self._by_coordinate("friction", friction)).items():
            law = part if isinstance(part, DryFriction) else DryFriction(part)
            self._add("friction", at, JointFriction, friction=law.coefficient, **law.options)


class JointWithOptions(Joint):
    """Base of joints that take the options of `JointOptions`.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground).
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Class attributes
    ----------------
    conditions : tuple of functions of the joint
        Raise an error for frames that do not fit at the start.
    """

    options_of = JointOptions
    parameters = JOINT_FRAMES
    conditions: tuple[Callable[[Joint], None], ...] = ()

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None, **options: Any) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        for condition in self.conditions:
            condition(self)
        if options:
            self.companions = JointOptions(self, **options).companions
