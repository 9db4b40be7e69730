"""The tree of a URDF: links that fixed joints hold together, the order of the joints, what follows what, and motion.

Links that fixed joints hold together are one body. With A the body of the parent, J the frame of a joint on it, B the
body of the child, and p, R, ṗ, w the pose and the motion of B in J that the coordinates of the joint give:

    x_B = x_J + R_J p ,   R_B = R_J R ,   ω_B = ω_A + R_J w ,   v_B = v_A + ω_A × (x_B − x_A) + R_J ṗ              (1)

Source: docs/theory/urdf.md, (2), (3).
"""

from typing import Any, NamedTuple

import numpy as np

from fem_mbs.arguments.spelling import listed, meant
from fem_mbs.elements.urdf.text import AT_ORIGIN, JointText, Pose, Robot
from fem_mbs.errors import ParameterError, Warnings
from fem_mbs.rotations import exp

SIZES = {"revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "floating": 6, "fixed": 0}


class Motion(NamedTuple):
    """Pose of a frame, and velocities (3,) of its origin [m/s] and of its rotation [rad/s], inertial axes."""

    pose: Pose
    v: np.ndarray
    w: np.ndarray


class Group(NamedTuple):
    """Links that are one body: the first one, whose frame is that of the group, and the pose of each in it."""

    first: str
    places: dict[str, Pose]
    joint: JointText | None  # by which the first link hangs on its parent


def turn_z_to(axis: np.ndarray) -> np.ndarray:
    """The shortest rotation (3, 3) that takes the z axis to a unit vector (3,)."""
    z = np.array([0.0, 0.0, 1.0])
    across = np.cross(z, axis)
    size = np.linalg.norm(across)
    if size < 1e-12:
        return np.eye(3) if axis[2] > 0 else np.diag([1.0, -1.0, -1.0])
    return exp(np.arctan2(size, axis[2]) / size * across)


def without_locked(robot: Robot, by_limits: bool) -> tuple[Robot, list[str]]:
    """The robot with joints that cannot move as fixed ones; and names of those that follow what never moves.

    ``by_limits``: also hinges and slides whose limits, both in the file, are equal; not where all are such, as drawing
    programs write zeros for limits that were not given.
    """
    joints, held = dict(robot.joints), []

    def fix(name, value):
        pose, _, _ = relative(joints[name], np.array([value]), np.zeros(1))
        joints[name] = joints[name]._replace(kind="fixed", origin=joints[name].origin.then(pose), mimic=None)
        values[name] = value

    values = {name: 0.0 for name, joint in joints.items() if joint.kind == "fixed"}
    for name in values:
        if joints[name].mimic is not None:
            joints[name] = joints[name]._replace(mimic=None)
            Warnings.issue(f"URDF joint '{name}' is of type fixed: its <mimic> has no effect")
    movers = [joint for joint in joints.values() if SIZES[joint.kind] and joint.mimic is None]
    limited = [(joint.name, joint.limits) for joint in movers if joint.kind in ("revolute", "prismatic")]
    equal = [(name, ends.lower) for name, ends in limited if ends and ends.given and ends.lower == ends.upper]
    if by_limits and len(equal) < len(movers):
        for name, value in equal:
            fix(name, value)
            text = f'has equal limits, {value:.6g}: it is fixed there. limits="ignore" lets it move'
            Warnings.issue(f"URDF joint '{name}' {text}")
    for _ in range(len(joints)):  # followers of followers too
        moving = [(one.name, one.mimic) for name, one in joints.items() if name not in values and SIZES[one.kind] == 1]
        followed = [(name, way) for name, way in moving if way and (way.joint in values or way.multiplier == 0.0)]
        if not followed:
            break
        for name, way in followed:
            fix(name, way.multiplier * values.get(way.joint, 0.0) + way.offset)
            held.append(name)
    return robot._replace(joints=joints), held


def groups_of(owner: Any, robot: Robot, kept: tuple | list) -> list[Group]:
    """Groups of links from the root on, parents first; joints named in ``kept`` are not merged.

    Raises
    ------
    ParameterError
        A link without a joint, that has two parents, or that hangs on itself; several roots.
    """
    below: dict[str, list[JointText]] = {name: [] for name in robot.links}
    parents: dict[str, str] = {}
    for joint in robot.joints.values():
        for end in (joint.parent, joint.child):
            if end not in robot.links:  # tested before the message is made: it compares with all links
                raise ParameterError(owner, f"joint '{joint.name}'", end, f"is no link; {meant(end, robot.links)}")
        other = parents.setdefault(joint.child, joint.name)
        twice = f"hangs on two joints, '{other}' and '{joint.name}'; URDF supports trees only"
        owner.check(other == joint.name, "link", joint.child, twice)
        below[joint.parent].append(joint)
    roots = [name for name in robot.links if name not in parents]
    loop = "of the links hang on no joint; a tree has one such link, its root. There are"
    owner.check(len(roots) == 1, "links", len(roots), f"{loop}: {listed(roots) or 'none, joints make a circle'}")
    groups = [Group(roots[0], {}, None)]
    for group in groups:
        todo = [(group.first, AT_ORIGIN)]
        for name, place in todo:
            group.places[name] = place
            for joint in below[name]:
                if joint.kind == "fixed" and joint.name not in kept:
                    todo.append((joint.child, place.then(joint.origin)))
                else:
                    groups.append(Group(joint.child, {}, joint))
    found = {name for group in groups for name in group.places}
    circle = [name for name in robot.links if name not in found]
    owner.check(not circle, "links", listed(circle), "hang on each other in a circle, apart from the root")
    return groups


def followers(owner: Any, robot: Robot) -> dict[str, tuple[str, float, float]]:
    """Joint that follows -> the one that leads (which follows none), multiplier and offset."""
    found = {}
    for joint in robot.joints.values():
        leader, multiplier, offset, way = joint, 1.0, 0.0, [joint.name]
        while leader.mimic is not None:
            name = leader.mimic.joint
            if name not in robot.joints:
                raise ParameterError(owner, f"joint '{leader.name}' mimic", name, meant(name, robot.joints))
            owner.check(name not in way, f"joint '{leader.name}' mimic", name, "is a circle: it follows itself")
            offset += multiplier * leader.mimic.offset
            multiplier *= leader.mimic.multiplier
            leader = robot.joints[name]
            way.append(name)
        if leader is joint:
            continue
        for one in (joint, leader):
            good = SIZES[one.kind] == 1
            owner.check(
                good,
                f"joint '{joint.name}' mimic",
                one.kind,
                "joints neither lead nor follow; one coordinate is needed",
            )
        found[joint.name] = (leader.name, multiplier, offset)
    return found


def shared_limits(owner: Any, robot: Robot, follow: dict) -> dict[str, tuple[float, float]]:
    """Limits of the joints that lead or stand alone, with those of their followers moved to them; −∞, ∞: none."""
    ends = {}
    for name, joint in robot.joints.items():
        if joint.kind not in ("revolute", "prismatic"):
            continue
        given: tuple[Any, Any] = (0.0, 0.0) if joint.limits is None else joint.limits[:2]
        wrong = (
            "are its limits lower and upper: the joint cannot move. Give them in <limit>; without limits a hinge is "
            'of type continuous, and from_urdf(…, limits="ignore") takes none'
        )
        owner.check(given[0] < given[1], f"joint '{name}'", given, wrong)
        leader, multiplier, offset = follow.get(name, (name, 1.0, 0.0))
        low, high = sorted((end - offset) / multiplier for end in given)
        old = ends.get(leader, (-np.inf, np.inf))
        ends[leader] = max(low, old[0]), min(high, old[1])
    for name, (low, high) in ends.items():
        owner.check(low < high, f"joint '{name}'", (low, high), "are its limits with those of what follows it")
    return ends


def relative(joint: JointText, value: np.ndarray, rate: np.ndarray) -> tuple[Pose, np.ndarray, np.ndarray]:
    """Pose p, R of a child in the frame of its joint, ṗ and w of (1), for the coordinates (n,) and their rates."""
    zero, axis = np.zeros(3), joint.axis
    if joint.kind in ("revolute", "continuous"):
        return Pose(zero, exp(value[0] * axis)), zero, rate[0] * axis
    if joint.kind == "prismatic":
        return Pose(value[0] * axis, np.eye(3)), rate[0] * axis, zero
    if joint.kind == "planar":
        plane = turn_z_to(axis)[:, :2]
        return Pose(plane @ value[:2], exp(value[2] * axis)), plane @ rate[:2], rate[2] * axis
    if joint.kind == "floating":
        return Pose(value[:3], exp(value[3:])), rate[:3], rate[3:]
    return AT_ORIGIN, zero, zero


def moved(parent: Motion, origin: Pose, joint: JointText, value: np.ndarray, rate: np.ndarray) -> Motion:
    """Motion of a child by (1); ``origin``: pose of the joint in the body of the parent."""
    pose, slide, turn = relative(joint, value, rate)
    J = parent.pose.then(origin)
    here = J.then(pose)
    v = parent.v + np.cross(parent.w, here.p - parent.pose.p) + J.R @ slide
    return Motion(here, v, parent.w + J.R @ turn)
