"""`to_urdf`: a tree of rigid bodies and joints as a URDF file.

A link has its origin at the joint that it hangs on, and the axes of its node; the file is of zero coordinates.

Source: docs/theory/urdf.md, (4).
"""

import os
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.element.base import Joint
from fem_mbs.elements.joints.coordinates.coordinates import coordinate_of
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.planar import Planar
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.elements.urdf.geometry import MeshFiles, picture_of
from fem_mbs.elements.urdf.parts import Parts
from fem_mbs.elements.urdf.reader import NO_LIMIT
from fem_mbs.elements.urdf.text import Pose, angles_of
from fem_mbs.errors import ModelError, Warnings, label
from fem_mbs.model import Model
from fem_mbs.nodes import Node
from fem_mbs.rotations import log


@dataclass
class UrdfText:
    """Result of `to_urdf`, with the initial coordinates, which a file does not contain.

    Attributes
    ----------
    text : str
    base : {"ground", "free"}
    configuration, rates : dict, name of a joint -> value or values, for `from_urdf`
    """

    text: str
    base: str = "ground"
    configuration: dict[str, Any] = field(default_factory=dict)
    rates: dict[str, Any] = field(default_factory=dict)

    def __repr__(self):
        return f"UrdfText({self.text.count('<link')} links, {len(self.configuration)} joints that move)"


@Keywords.known
def to_urdf(model: Model, path: Any = None, *, leave_out: Sequence[str] = ()) -> UrdfText:
    """Write a tree of rigid bodies as a URDF file.

    Parameters
    ----------
    model : Model
        Of `RigidBody`, `Revolute`, `Prismatic`, `Planar`, `Fixed`; with rigid stops, linear dampers, constant friction
        and couplings of two joints.
    path : path, optional
        Of the file; surfaces that are no box, sphere or cylinder become files next to it. Default: the text alone.
    leave_out : sequence of names
        Elements that are not written: motors, springs, loads.

    Returns
    -------
    UrdfText

    Raises
    ------
    ModelError
        The model has parts that URDF does not support: loops, other joints and elements; all are named.

    Notes
    -----
    Gravity, initial position and velocities are no part of the format: ``from_urdf(path, base=written.base,
    configuration=written.configuration, rates=written.rates)`` gives the model back.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model = fem.Model("swing")
    >>> bob = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, -1], name="bob"))
    >>> pin = model.add(fem.Revolute.at(model.ground, bob, [0, 0, 0], [0, 1, 0], name="pin"))
    >>> to_urdf(model)
    UrdfText(2 links, 1 joints that move)
    """
    owner = Named("to_urdf")
    owner.as_instance("model", model, Model)
    owner.as_instance("leave_out", leave_out, (list, tuple), "a list of names of elements")
    for name in leave_out:
        owner.check(isinstance(name, str), "leave_out", name, "must be the name of an element")
    if path is not None:
        owner.as_instance("path", path, (str, os.PathLike), "the path of a file")
    place = None if path is None else Path(path)
    written = _Writer(model, Parts(model, leave_out), MeshFiles(place)).write()
    if place is not None:
        try:
            place.write_text(written.text, encoding="utf-8")
        except (OSError, ValueError) as error:
            owner.check(False, "path", str(path), f"cannot be written: {error}")
    return written


class _Writer:
    """Walks along the tree from its root and writes links and joints."""

    def __init__(self, model: Model, parts: Parts, meshes: MeshFiles) -> None:
        self.model, self.parts, self.meshes = model, parts, meshes
        self.robot = ET.Element("robot", name=str(model.name))
        self.frames: dict[Node, Pose] = {}  # frame of the link in its node
        self.names: dict[Node, str] = {}
        self.at: dict[Node, list[Joint]] = {node: [] for node in (model.ground, *parts.bodies)}
        for joint in parts.joints:
            for node in joint.nodes:
                self.at[node].append(joint)
        self.written = UrdfText("")

    def write(self) -> UrdfText:
        """Write everything, from the root on."""
        root, alone = self._root()
        held = [node for node in alone if not node.free.any()]
        for node in held:
            self._hang(root, node)
        for node in (root, *held):
            self._walk(node)
        for node in alone:
            if node not in self.names:
                self._hang(root, node)
                self._walk(node)
        ET.indent(self.robot)
        self.written.text = '<?xml version="1.0"?>\n' + ET.tostring(self.robot, encoding="unicode") + "\n"
        return self.written

    def _root(self):
        """The root, whose link is written, and nodes that may hang on nothing."""
        ground, bodies = self.model.ground, list(self.parts.bodies)
        if not bodies:
            raise ModelError(f"model '{self.model.name}' has no bodies to write", [])
        still = [node for node in bodies if not node.free.any()]
        if len(still) == 1:  # its link is in the place of ground
            root, place = still[0], Pose(np.zeros(3), np.eye(3))
            self.at[root] += self.at[ground]
            self.frames[ground] = place
            self.names[ground] = self.parts.bodies[root].name
        elif still or self.at[ground] or len(self._reached(bodies[0])) < len(bodies):
            root = ground
        else:
            root = bodies[0]
            self.written.base = "free"
        if root is ground or root in still:
            R = root.rotation.T
            self._link(root, Pose(-R @ root.position, R))
        else:
            self._link(root, Pose(np.zeros(3), np.eye(3)))
            self._floating(self.names[root], root)
        return root, [node for node in bodies if node is not root]

    def _reached(self, node):
        """Bodies that joints connect with a node."""
        found, todo = {node}, [node]
        while todo:
            for joint in self.at[todo.pop()]:
                new = set(joint.nodes) - found
                found |= new
                todo += new
        return found

    def _walk(self, root):
        """Write what hangs on a node whose link is written."""
        done: set = {joint for joint in self.parts.joints if all(node in self.names for node in joint.nodes)}
        todo = [root]
        for node in todo:
            for joint in self.at[node]:
                if joint in done:
                    continue
                done.add(joint)
                first, second = joint.nodes
                forward = first in self.names
                child = second if forward else first
                if child in self.names:
                    raise ModelError(
                        f"{label(joint)} closes a loop: URDF supports trees only. leave_out=[…] it", [joint]
                    )
                self._joint(joint, forward)
                todo.append(child)

    # --- links --------------------------------------------------------------------------------------------------------

    def _link(self, node, frame):
        """Write the link of a node; ``frame``: its pose in the node."""
        body = self.parts.bodies.get(node)
        taken = {self._name_of(other) for other in self.parts.bodies}
        name = self._name_of(node) if body is not None else next(n for n in ("world", "ground", "_") if n not in taken)
        self.names[node], self.frames[node] = name, frame
        link = ET.SubElement(self.robot, "link", name=name)
        if body is None:
            return
        back = Pose(-frame.R.T @ frame.p, frame.R.T)  # of the node in the link
        inertial = ET.SubElement(link, "inertial")
        _origin(inertial, Pose(back.p + back.R @ body.center, back.R))
        ET.SubElement(inertial, "mass", value=_text(body.mass))
        J = body.inertia
        pairs = {"ixx": J[0, 0], "ixy": J[0, 1], "ixz": J[0, 2], "iyy": J[1, 1], "iyz": J[1, 2], "izz": J[2, 2]}
        ET.SubElement(inertial, "inertia", {key: _text(value) for key, value in pairs.items()})
        for shape in body.shapes:
            self._visual(link, body, picture_of(shape, back, self.meshes))

    def _name_of(self, node):
        return self.parts.bodies[node].name

    def _visual(self, link, body, picture):
        if picture is None:
            Warnings.issue(f"{label(body)}: a surface needs a file; give to_urdf a path. Not written.")
            return
        visual = ET.SubElement(link, "visual")
        _origin(visual, picture.pose)
        sizes = {key: value if isinstance(value, str) else _text(value) for key, value in picture.sizes.items()}
        ET.SubElement(ET.SubElement(visual, "geometry"), picture.kind, sizes)
        if picture.color is not None:
            material = ET.SubElement(visual, "material", name=f"{body.name} {len(link)}")
            ET.SubElement(material, "color", rgba=_text([*picture.color, 1.0]))

    # --- joints -------------------------------------------------------------------------------------------------------

    def _add(self, name, kind, parent, child, origin):
        joint = ET.SubElement(self.robot, "joint", name=name, type=kind)
        _origin(joint, origin)
        ET.SubElement(joint, "parent", link=self.names[parent])
        ET.SubElement(joint, "child", link=self.names[child])
        return joint

    def _hang(self, root, node):
        """Write a body that no joint connects with the root: fixed where it is, or floating."""
        ends = Pose(np.zeros(3), np.eye(3))
        self._link(node, ends)
        if node.free.any():
            self._add(f"{self.names[node]} floating", "floating", root, node, ends)
            self._floating(f"{self.names[node]} floating", node)
        else:
            self._add(f"{self.names[node]} fixed", "fixed", root, node, Pose(node.position, node.rotation))

    def _floating(self, name, node):
        self.written.configuration[name] = [*node.position.tolist(), *log(node.rotation).tolist()]
        self.written.rates[name] = [*node.velocity.tolist(), *node.angular_velocity.tolist()]

    def _joint(self, joint, forward):
        """Write a joint and the link that hangs on it; backward: its first body is the child."""
        X, Y = (joint.frame_P, joint.frame_Q) if forward else (joint.frame_Q, joint.frame_P)
        parent, child = X.node, Y.node
        above = self.frames[parent]
        turned = isinstance(joint, Planar)  # x and y of it are those of the link
        self._link(child, Pose(Y.p, Y.rotation if turned else np.eye(3)))
        E = self.frames[child].R
        held = isinstance(joint, (Prismatic, Fixed))  # the relative rotation of the start
        R = parent.rotation.T @ child.rotation if held else X.rotation @ Y.rotation.T
        origin = Pose(above.R.T @ (X.p - above.p), above.R.T @ R @ E)
        stops = self.parts.limits.get(joint)
        kind = {Revolute: "revolute" if stops else "continuous", Prismatic: "prismatic", Planar: "planar"}.get(
            type(joint), "fixed"
        )
        tag = self._add(joint.name, kind, parent, child, origin)
        if kind == "fixed":
            return
        sign = 1.0 if forward or turned else -1.0
        ET.SubElement(tag, "axis", xyz=_text(sign * E.T @ Y.rotation[:, 2]))
        if kind in ("revolute", "prismatic"):
            low, high = stops or (None, None)
            ends = {"lower": -NO_LIMIT if low is None else low, "upper": NO_LIMIT if high is None else high}
            ends |= {"effort": NO_LIMIT, "velocity": NO_LIMIT}  # a file must give them
            ET.SubElement(tag, "limit", {key: _text(value) for key, value in ends.items()})
        laws = {"damping": self.parts.damping.get(joint, 0.0), "friction": self.parts.friction.get(joint, 0.0)}
        if any(laws.values()):
            ET.SubElement(tag, "dynamics", {key: _text(value) for key, value in laws.items()})
        if joint in self.parts.follows:
            leader, multiplier, offset = self.parts.follows[joint]
            ET.SubElement(tag, "mimic", joint=str(leader.name), multiplier=_text(multiplier), offset=_text(offset))
        else:
            self._start(joint, X, Y, sign)

    def _start(self, joint, X, Y, sign):
        """Value and rate of a joint at the start."""
        axis = sign * Y.orientation[:, 2]
        between = Y.position - X.position
        slide = Y.velocity - X.velocity - np.cross(X.node.angular_velocity, between)
        turn = float(axis @ (Y.node.angular_velocity - X.node.angular_velocity))
        if isinstance(joint, Planar):
            axes = X.orientation
            across = axes.T @ Y.orientation
            value: Any = [*(axes.T @ between)[:2].tolist(), float(np.arctan2(across[1, 0], across[0, 0]))]
            rate: Any = [*(axes.T @ slide)[:2].tolist(), turn]
        else:
            value = coordinate_of(joint, "joint", joint).start
            rate = turn if isinstance(joint, Revolute) else float(axis @ slide)
        self.written.configuration[joint.name], self.written.rates[joint.name] = value, rate


def _text(values):
    """Numbers so that reading gives the same ones."""
    return " ".join(repr(float(value) + 0.0) for value in np.ravel(values))


def _origin(tag, pose):
    ET.SubElement(tag, "origin", xyz=_text(pose.p), rpy=_text(angles_of(pose.R)))
