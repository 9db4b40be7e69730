"""`from_urdf`: a model of rigid bodies and joints from a URDF file.

Each body has its node at its centre of mass, its axes parallel to those of its first link. Joints have their frames
where the origin of the joint is, with z along the axis: the coordinate is zero where that of URDF is.

Source: docs/theory/urdf.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.arguments.spelling import listed, meant
from fem_mbs.element.base import Joint
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.drives.coupling import CoordinateCoupling
from fem_mbs.elements.joints.coordinates.options import DryFriction, Stops
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.planar import Planar
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.elements.urdf.geometry import Meshes
from fem_mbs.elements.urdf.text import AT_ORIGIN, JointText, Limits, Pose, Robot, read_urdf
from fem_mbs.elements.urdf.tree import (
    SIZES,
    Group,
    Motion,
    followers,
    groups_of,
    moved,
    shared_limits,
    turn_z_to,
    without_locked,
)
from fem_mbs.errors import Warnings
from fem_mbs.model import Model
from fem_mbs.nodes import Frame, Node

TYPES = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "planar": Planar, "fixed": Fixed}
NO_LIMIT = 1e9  # [rad or m]: limits so far away are none; a prismatic joint must have some
LOADLESS = 1e-9  # coefficient of friction of a slide, whose load plays then no part: URDF gives a constant force


@dataclass
class UrdfModel:
    """Result of `from_urdf`.

    Attributes
    ----------
    model : Model
    bodies : dict, name of the first link of a body -> `RigidBody`
    links : dict, name of a link -> `Frame` of its origin and axes, on its body or on ground
    joints : dict, name of a joint that moves (or is kept) -> joint; those of type floating are none
    limits : dict, name of a joint -> (lower, upper, effort, velocity) of the file, None where it has none. Effort
        and velocity are of the motor, which the model does not have: saturate a user-defined motor with them.
    """

    model: Model
    bodies: dict[str, RigidBody] = field(default_factory=dict)
    links: dict[str, Frame] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    limits: dict[str, Limits] = field(default_factory=dict)

    def __repr__(self):
        return f"UrdfModel('{self.model.name}': {len(self.bodies)} bodies, {len(self.joints)} joints)"


@Warnings.kept
@Keywords.known
def from_urdf(
    urdf: Any,
    *,
    base: str = "ground",
    configuration: dict | None = None,
    rates: dict | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    limits: str = "stops",
    dynamics: str = "joints",
    density: float | None = None,
    keep: Sequence[str] = (),
    packages: dict | None = None,
    allow_nonphysical: bool = False,
) -> UrdfModel:
    """Make a model from a URDF file.

    Parameters
    ----------
    urdf : path, or text of a file
    base : {"ground", "free"}
        Whether the root link is part of the ground, or moves freely: a quadruped.
    configuration : dict, name of a joint -> value at the start [rad or m], optional
        Default 0. Of a planar joint (x, y, angle), of a floating one position (3,) and rotation vector (3,). The root
        of a free base has the name of its link, as a floating joint.
    rates : dict, name of a joint -> rate at the start [rad/s or m/s], optional
        Of a floating joint velocity and angular velocity in the axes of the joint.
    gravity : (3,) [m/s²]
    limits : {"stops", "ignore"}
        Make rigid stops of the limits, or nothing.
    dynamics : {"joints", "ignore"}
        Give joints the ``damping`` and ``friction`` of the file, or nothing.
    density : float > 0 [kg/m³], optional
        Links without mass get that of their collision geometry, else of their visual geometry, as solids.
    keep : sequence of names, optional
        Fixed joints that become `Fixed`, with forces as outputs, instead of making one body of two links.
    packages : dict, name of a ROS package -> its folder, optional
        Where meshes ``package://NAME/…`` are. Default: searched from the folder of the file upwards. Other meshes must
        be in the folder of the file, in its package (the folder above that has package.xml), or in one of these.
    allow_nonphysical : bool
        Accept inertias that no real body has, see `RigidBody`.

    Returns
    -------
    UrdfModel

    Raises
    ------
    ParameterError
        A file that cannot be read, or is no tree; a link that moves without mass; unknown joints; a joint that starts
        outside its limits.

    Notes
    -----
    Attributes that <inertia> lacks are 0, with a warning: the format requires all six, and other programs do not read
    the file. A joint whose name is that of a link gets " joint" added in the model. Limits of a joint that follows
    another (``mimic``) are moved to the one that leads. One that follows a fixed joint is `Fixed` at its offset; one
    with equal limits is as a joint of type fixed, with a warning. A root link that is part of the ground needs no
    inertia. A geometry that cannot be read is not drawn, with a warning; it is an error where ``density`` needs it.

    Examples
    --------
    >>> text = '''<robot name="swing"><link name="frame"/><link name="bob"><inertial><origin xyz="0 0 -1"/>
    ... <mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
    ... <joint name="pin" type="continuous"><parent link="frame"/><child link="bob"/><axis xyz="0 1 0"/></joint>
    ... </robot>'''
    >>> swing = from_urdf(text, configuration={"pin": 0.5})
    >>> swing
    UrdfModel('swing': 1 bodies, 1 joints)
    """
    owner = Named("from_urdf")
    options = {
        "base": owner.as_choice("base", base, ("ground", "free")),
        "limits": owner.as_choice("limits", limits, ("stops", "ignore")) == "stops",
        "dynamics": owner.as_choice("dynamics", dynamics, ("joints", "ignore")) == "joints",
        "density": None if density is None else owner.positive("density", density, "kg/m³"),
        "allow_nonphysical": owner.as_flag("allow_nonphysical", allow_nonphysical),
    }
    owner.as_instance("keep", keep, (list, tuple), "a list of names of joints")
    owner.as_instance("packages", packages, (dict, type(None)), "a dict: name of a package -> folder")
    for name, folder in (packages or {}).items():
        owner.check(owner.as_path("packages", folder) is not None, f"packages['{name}']", folder, "must be a folder")
    robot = read_urdf(owner, urdf)
    made = UrdfModel(Model(robot.name, gravity=owner.as_vector("gravity", gravity)))
    _Builder(owner, robot, made, options, keep, Meshes(robot, packages or {})).build(configuration, rates)
    Warnings.keep(made.model, Warnings.issued())
    return made


class _Builder:
    """Makes bodies and joints, from the root on."""

    def __init__(
        self, owner: Any, robot: Robot, made: UrdfModel, options: dict, keep: Sequence[str], meshes: Meshes
    ) -> None:
        self.owner, self.made, self.options, self.meshes = owner, made, options, meshes
        for name in keep:
            joint = robot.joints.get(name) if isinstance(name, str) else None
            owner.check(joint is not None and joint.kind == "fixed", "keep", name, "is no fixed joint of the file")
        self.robot, held = without_locked(robot, options["limits"])
        robot = self.robot
        self.groups = groups_of(owner, robot, (*keep, *held))
        self.follow = followers(owner, robot)
        self.ends = shared_limits(owner, robot, self.follow) if options["limits"] else {}
        self.group_of = {name: group for group in self.groups for name in group.places}

    def build(self, configuration: dict | None, rates: dict | None) -> None:
        """Fill the result."""
        root = self.groups[0]
        floor = JointText(root.first, "floating", "", root.first, AT_ORIGIN, np.zeros(3), None, 0.0, 0.0, None)
        joints = [group.joint for group in self.groups if group.joint is not None]  # all but the root
        joints += [floor] if self.options["base"] == "free" else []
        values = self._coordinates("configuration", configuration, joints, offsets=True)
        speeds = self._coordinates("rates", rates, joints, offsets=False)
        zero = np.zeros(3)
        still = Motion(AT_ORIGIN, zero, zero)
        motions = {}
        for group in self.groups:
            joint = group.joint
            if joint is None:
                name = root.first
                free = self.options["base"] == "free"
                motions[name] = moved(still, AT_ORIGIN, floor, values[name], speeds[name]) if free else still
            else:
                above = self.group_of[joint.parent]
                origin = above.places[joint.parent].then(joint.origin)
                self._check_start(joint, values[joint.name])
                motions[group.first] = moved(
                    motions[above.first], origin, joint, values[joint.name], speeds[joint.name]
                )
            self._body(group, motions[group.first])
            if joint is not None and joint.kind != "floating":
                self._joint(group, joint)
        for name, (leader, multiplier, _) in self.follow.items():
            terms = [(1.0, self.made.joints[name]), (-multiplier, self.made.joints[leader])]
            self.made.model.add(CoordinateCoupling(terms, name=f"{name} mimic"))
        self.made.limits.update({j.name: j.limits or Limits(None, None, None, None) for j in joints if j is not floor})

    # --- coordinates at the start -------------------------------------------------------------------------------------

    def _coordinates(self, parameter, given, joints, offsets):
        """Values (n,) of every joint, those that follow included."""
        given = {} if given is None else self.owner.as_instance(parameter, given, dict, "a dict: joint -> value")
        sizes = {joint.name: SIZES[joint.kind] for joint in joints}
        found = {name: np.zeros(size) for name, size in sizes.items()}
        choices = {name: None for name, size in sizes.items() if size and name not in self.follow}
        for name, value in given.items():
            if name not in choices:  # the message compares it with all names
                message = f"is no joint that moves; {meant(str(name), list(choices)) if choices else 'there is none'}"
                if name in self.follow:
                    message = f"follows '{self.follow[name][0]}'; give the value of that one"
                self.owner.check(False, parameter, name, message)
            what = f"{parameter}['{name}']"
            n = sizes[name]
            found[name] = np.array([self.owner.number(what, value)]) if n == 1 else self.owner.as_vector(what, value, n)
        for name, (leader, multiplier, offset) in self.follow.items():
            found[name] = multiplier * found[leader] + (offset if offsets else 0.0)
        return found

    def _check_start(self, joint, value):
        """A joint starts within its limits, and a hinge with limits within half a turn of zero."""
        low, high = self.ends.get(joint.name, (-np.inf, np.inf))
        inside = low - 1e-9 <= value[0] <= high + 1e-9 if len(value) == 1 else True
        hint = f'choose with configuration={{"{joint.name}": …}}, or take none with limits="ignore"'
        self.owner.check(
            inside, f"configuration['{joint.name}']", float(value[0]) if len(value) else 0.0,
            f"is outside the limits {low:.6g} … {high:.6g} of the joint at the start; {hint}",
        )  # fmt: skip
        turned = joint.name in self.ends and joint.kind != "prismatic" and abs(value[0]) > np.pi
        self.owner.check(
            not turned, f"configuration['{joint.name}']", float(value[0]) if len(value) else 0.0,
            f"rad is more than half a turn, from which stops cannot count; {hint}",
        )  # fmt: skip

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _weights(self, group):
        """(mass, centre, inertia) of the links of a body with mass, in the axes of its first link."""
        for name, place in group.places.items():
            link = self.robot.links[name]
            if link.error is not None:
                if not self._on_ground(group):
                    raise link.error
                Warnings.issue(f"{str(link.error).rstrip('.')}. It is part of the ground, which needs no inertia.")
            parts = [(link.mass, link.center.p, link.center.R @ link.inertia @ link.center.R.T)]
            if link.mass == 0.0 and self.options["density"] is not None:
                solids = link.collisions or link.visuals
                parts = [self.meshes.mass(solid, self.options["density"]) for solid in solids]
            for mass, center, inertia in parts:
                if mass > 0.0:
                    yield mass, place.p + place.R @ center, place.R @ inertia @ place.R.T

    def _body(self, group: Group, motion: Motion):
        """Make the body of some links at the pose of the first one, and the frames of all."""
        on_ground = self._on_ground(group)
        weights = list(self._weights(group))
        mass = sum(weight[0] for weight in weights)
        center = np.asarray(sum(m * c for m, c, _ in weights)) / mass if mass > 0.0 else np.zeros(3)
        inertia = np.zeros((3, 3))
        for m, c, J in weights:
            arm = c - center
            inertia += J + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        if mass == 0.0 or (on_ground and np.linalg.eigvalsh(inertia)[0] <= 0.0):  # ground needs no inertia
            self._check_massless(group, on_ground)
            node: Node = self.made.model.ground
            center = np.zeros(3)
        else:
            text = "kg m² has principal moments that are not positive; a file without them has forgotten <inertia>"
            self.owner.check(np.linalg.eigvalsh(inertia)[0] > 0.0, f"inertia of link '{group.first}'", inertia, text)
            offset = motion.pose.R @ center
            shapes = [self.meshes.shape(v, Pose(p - center, R)) for link, (p, R) in group.places.items()
                      for v in self.robot.links[link].visuals]  # fmt: skip
            body = RigidBody(
                mass, inertia, position=motion.pose.p + offset, rotation=motion.pose.R,
                velocity=motion.v + np.cross(motion.w, offset), angular_velocity=motion.w, fixed=on_ground,
                shape=[shape for shape in shapes if shape is not None], name=group.first,
                allow_nonphysical=on_ground or self.options["allow_nonphysical"],
            )  # fmt: skip
            self.made.bodies[group.first] = self.made.model.add(body)
            node = body.node
        for name, (p, R) in group.places.items():
            self.made.links[name] = node.frame(p - center, R, name=name)

    def _on_ground(self, group):
        """Return True for a part of the ground, which needs no inertia."""
        return group.joint is None and self.options["base"] == "ground"

    def _check_massless(self, group, on_ground):
        names = listed([f"'{name}'" for name in group.places])
        if on_ground:
            return
        moves = "the base is free" if group.joint is None else f"joint '{group.joint.name}' moves it"
        self.owner.check(
            False, "link", names,
            f"without mass, and {moves}. Give <inertial> with a mass, let density= take it from the geometry, or "
            + ('hold it with base="ground"' if group.joint is None else "make the joint fixed"),
        )  # fmt: skip

    # --- joints -------------------------------------------------------------------------------------------------------

    def _joint(self, group: Group, joint: JointText):
        """Make the joint by which a body hangs on its parent."""
        parent, child = self.made.links[joint.parent], self.made.links[joint.child]
        S = turn_z_to(joint.axis)
        P = Pose(parent.p, parent.rotation).then(joint.origin)
        name = joint.name
        while name in self.robot.links or (name != joint.name and name in self.robot.joints):
            name += " joint"
        frames = parent.node.frame(P.p, P.R @ S), child.node.frame(child.p, child.rotation @ S)
        made = TYPES[joint.kind](*frames, name=name, **self._options(joint))
        self.made.joints[joint.name] = self.made.model.add(made)

    def _options(self, joint):
        """Stops, damper and friction."""
        options: dict[str, Any] = {}
        ends = [float(end) if abs(end) < NO_LIMIT else None for end in self.ends.get(joint.name, (-np.inf, np.inf))]
        if ends != [None, None]:
            options["stops"] = Stops(*ends)
        if not self.options["dynamics"] or not (joint.damping or joint.friction):
            return options
        if SIZES[joint.kind] != 1:
            what = f"URDF joint '{joint.name}': damping and friction of {joint.kind} joints are not defined; left out"
            Warnings.issue(what)
            return options
        if joint.damping:
            options["damping"] = joint.damping
        if joint.friction:
            mu = LOADLESS if joint.kind == "prismatic" else 1.0
            options["friction"] = DryFriction(mu, preload=joint.friction / mu)
        return options
