"""Coordinates of joints: the free coordinates of a joint, by name. Drivers, springs, stops, friction and gears use
them.

A class of joints lists its free relative coordinates, those that have names:

    coordinates = (Coordinate("angle", TURN_Z, "rate"),)

An element that acts on one of a joint (a spring, a gear) finds it with `coordinate_of`. Its record holds `COORDINATE`
for it, its kernels call `coordinate_value`, `coordinate_gradient` and `coordinate_hessian` of
`joints.coordinates.kernels`, and each angle has a number in its ``state``, which kernels ``initial`` and ``accept``
set.

Source: docs/theory/joints.md, (12), (13).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fem_mbs.element.base import JOINT_FRAMES, Joint
from fem_mbs.elements.joints.coordinates.kernels import (
    SLIDE_X,
    SLIDE_Y,
    SLIDE_Z,
    TURN_X,
    TURN_Z,
    coordinate_value,
    count_turn,
    first_turn,
)
from fem_mbs.errors import Warnings, label

COORDINATE = np.dtype([("kind", "i8"), *JOINT_FRAMES.descr])


@dataclass(frozen=True)
class Coordinate:
    """A free relative coordinate of a type of joints.

    Attributes
    ----------
    name, rate : str
        Outputs of the joint that have its value and its rate.
    kind : {TURN_Z, TURN_X, SLIDE_X, SLIDE_Y, SLIDE_Z}
        See `fem_mbs.elements.joints.coordinates.kernels`.
    """

    name: str
    kind: int
    rate: str

    @property
    def turns(self) -> bool:
        """True if it is an angle, which is unwrapped (multi-turn)."""
        return self.kind < SLIDE_X

    @property
    def unit(self) -> str:
        """Unit of its value."""
        return "rad" if self.turns else "m"

    @property
    def effort(self) -> str:
        """Unit of the moment or force along it."""
        return "N m" if self.turns else "N"


FORCE, MOMENT = {"force": (3, "N")}, {"moment": (3, "N m")}  # outputs of joints
COUNTS_TURN = {
    "initial": first_turn,
    "accept": count_turn,
}  # kernels of joints that rotate about z, and about no other axis


def outputs_of(*coordinates: Coordinate) -> dict[str, tuple[int, str]]:
    """Outputs of a joint that its coordinates are: their values, then their rates."""
    values = {coordinate.name: (1, coordinate.unit) for coordinate in coordinates}
    return values | {coordinate.rate: (1, f"{coordinate.unit}/s") for coordinate in coordinates}


class JointCoordinate:
    """A free coordinate of one joint, for elements that act on it.

    Attributes
    ----------
    joint : Joint
    name, rate, kind, turns, unit, effort :
        Those of the `Coordinate`.
    record : tuple
        Values of `COORDINATE`.
    start : float [rad or m]
        Its value at the start; of angles in (−π, π].
    """

    def __init__(self, joint: "Joint", coordinate: Coordinate) -> None:
        self.joint, self.name, self.rate, self.kind = joint, coordinate.name, coordinate.rate, coordinate.kind
        self.turns, self.unit, self.effort = coordinate.turns, coordinate.unit, coordinate.effort
        P, Q = joint.frame_P, joint.frame_Q
        self.record = (coordinate.kind, P.p, P.rotation, Q.p, Q.rotation)
        A, B = P.node, Q.node
        self.start = float(coordinate_value(*self.record, 0.0, A.position, A.rotation, B.position, B.rotation))


def coordinate_of(owner: Any, parameter: str, joint: Any, name: str | None = None) -> JointCoordinate:
    """A free coordinate of a joint by its name; without a name the only one.

    Raises
    ------
    ParameterError
        In the name of ``owner`` and its ``parameter``: not a joint with coordinates, no coordinate of this name,
        several to choose from.
    """
    there = joint.coordinates if isinstance(joint, Joint) else ()
    owner.check(
        there, parameter, joint, "has no free coordinate with a name; it must be a joint that rotates or slides"
    )
    names = [coordinate.name for coordinate in there]
    if name is None:
        choice = " or ".join(f"'{n}'" for n in names)
        several = f"has {len(there)} free coordinates; choose one: {choice}"
        owner.check(len(there) == 1, parameter, joint if owner is not joint else "…", several)
        return JointCoordinate(joint, there[0])
    name = owner.as_text("coordinate", name)
    choice = ", ".join(names)
    of = joint.name or type(joint).__name__
    owner.check(name in names, "coordinate", name, f"is none of '{of}'; it has: {choice}")
    return JointCoordinate(joint, there[names.index(name)])


def check_limits(owner: Any, lower: Any, upper: Any, unit: str = "") -> tuple[float | None, float | None]:
    """Two limits, one of which may be None; a ParameterError unless lower < upper."""
    owner.check(lower is not None or upper is not None, "lower", None, "and upper are both missing; give at least one")
    low = None if lower is None else owner.number("lower", lower, unit)
    high = None if upper is None else owner.number("upper", upper, unit)
    ordered = low is None or high is None or low < high
    owner.check(ordered, "lower", lower, f"is not below upper = {upper}")
    return low, high


def warn_of_degrees(owner: Any, joint: "JointCoordinate", *limits: float | None) -> None:
    """Warn about limits of an angle that are whole numbers beyond a turn: degrees."""
    wrong = [x for x in limits if x is not None and joint.turns and abs(x) > 2.0 * np.pi and x == round(x)]
    if wrong:
        text = f"a limit of {wrong[0]:g} rad is {abs(wrong[0]) / (2 * np.pi):.3g} turns. Angles are in rad: "
        text = f"{label(owner)}: {text}np.radians({wrong[0]:g}) is {np.radians(wrong[0]):.4g}"
        Warnings.issue(text)


def regular_angle(element: Any, point: Any) -> bool:
    """True if the coordinate at the end of an element's record can be differentiated at a point of `fem_mbs.verify`.

    Off the manifold of the joint the rotating direction may point along the axis, where it has no angle.
    """
    kind, _, R_AP, _, R_BQ = element.record[-5:]
    if kind >= SLIDE_X:
        return True
    products = (point.R[0] @ R_AP).T @ (point.R[1] @ R_BQ)
    cosine, sine = (products[0, 0], products[1, 0]) if kind == TURN_Z else (products[2, 2], products[2, 1])
    return float(np.hypot(cosine, sine)) > 0.3


class AnyCoordinate(Joint):
    """Two frames with every kind of coordinate, without rows: what acts along coordinates is checked with it."""

    coordinates = tuple(
        Coordinate(name, kind, f"{name}_rate")
        for name, kind in zip(("turn_z", "turn_x", "x", "y", "z"), (TURN_Z, TURN_X, SLIDE_X, SLIDE_Y, SLIDE_Z))
    )


def random_coordinate(rng: np.random.Generator, a: Any, b: Any, names: Any = None) -> tuple[Joint, str]:
    """Random frames and the name of one of their coordinates, among ``names``: for registered examples."""
    joint = AnyCoordinate(
        a.frame(rng.normal(size=3), rng.normal(size=3)), b.frame(rng.normal(size=3), rng.normal(size=3))
    )
    names = names or [coordinate.name for coordinate in joint.coordinates]
    return joint, names[rng.integers(len(names))]
