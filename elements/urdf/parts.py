"""Parts of a model that URDF supports: bodies, joints with limits, damping, friction and followers. The rest, by name.

Source: docs/theory/urdf.md, "Scope of URDF".
"""

from typing import Any

from fem_mbs.element.base import Joint
from fem_mbs.elements.bodies.rigid_body import RigidBody
from fem_mbs.elements.drives.coupling import CoordinateCoupling
from fem_mbs.elements.joints.coordinates.friction import JointFriction
from fem_mbs.elements.joints.coordinates.friction_kernels import PARAMETERS
from fem_mbs.elements.joints.coordinates.joint_spring import JointSpring
from fem_mbs.elements.joints.coordinates.stops import JointStop
from fem_mbs.elements.joints.fixed import Fixed
from fem_mbs.elements.joints.planar import Planar
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.errors import ModelError, label
from fem_mbs.model import Model
from fem_mbs.nodes import Ground, Node

JOINTS = (Revolute, Prismatic, Planar, Fixed)
SMALL = 1e-6  # coefficient of friction of a slide below which its load plays no part


class Parts:
    """Parts of a model, sorted.

    Parameters
    ----------
    model : Model
    leave_out : collection of names of elements

    Attributes
    ----------
    bodies : dict, node -> RigidBody
    joints : list of Joint
    limits, damping, friction : dict, joint -> ([lower, upper], number, number)
    follows : dict, joint -> (joint that leads, multiplier, offset)

    Raises
    ------
    ModelError
        The model has parts that URDF does not support: all of them, by name, with the reason.
    """

    def __init__(self, model: Model, leave_out: Any) -> None:
        self.bodies: dict[Node, RigidBody] = {}
        self.joints: list[Joint] = []
        self.limits: dict[Joint, list] = {}
        self.damping: dict[Joint, float] = {}
        self.friction: dict[Joint, float] = {}
        self.follows: dict[Joint, tuple[Joint, float, float]] = {}
        self._wrong: list[tuple[Any, str]] = []
        elements = [element for element in model.elements if element.name not in leave_out]
        for element in sorted(elements, key=lambda e: not isinstance(e, (RigidBody, Joint))):  # those of joints last
            why = self._take(element)
            if why:
                self._wrong.append((element, why))
        more = [*model.contact_groups, *(item for item in model.watching if item.role != "sensor")]
        self._wrong += [(item, "URDF has none") for item in more if item.name not in leave_out]
        for node in model.nodes:
            if node not in self.bodies and not isinstance(node, Ground):
                self._wrong.append((node, "has no body"))
        for joint in self.joints:
            for node in joint.nodes:
                if node not in self.bodies and not isinstance(node, Ground):
                    self._wrong.append((joint, "is on a node without a body"))
        self.refuse()

    def refuse(self) -> None:
        """Raise a ModelError for the faults found, if any."""
        if self._wrong:
            lines = "\n".join(f"  {label(item)}: {why}" for item, why in self._wrong)
            raise ModelError(
                f"URDF supports trees of rigid bodies only. Not supported (leave_out writes the rest):\n{lines}",
                [item for item, _ in self._wrong],
            )

    def _take(self, element):
        """Take an element; returns why it cannot be."""
        if element.role != "contact" and (not element.active or element.switch_times()):
            return "is switched on or off"
        if type(element) is RigidBody:
            return self._body(element)
        if type(element) in JOINTS:
            self.joints.append(element)
            return None
        if type(element) is CoordinateCoupling:
            return self._coupling(element)
        if isinstance(element, (JointStop, JointSpring, JointFriction)):
            return self._option(element)
        return "URDF has none"

    def _body(self, body):
        node = body.node
        if node in self.bodies:
            return f"is on the node of {label(self.bodies[node])}; make them one body"
        if node.free.any() and not node.free.all():
            return "has components that are fixed; joints can do that"
        self.bodies[node] = body
        return None

    def _option(self, element):
        """Stops, dampers and friction of a joint with one coordinate."""
        joint = element.joint
        if joint not in self.joints:
            return "its joint cannot be written"
        if len(joint.coordinates) != 1:
            return "is of a joint with several coordinates, for which URDF has no such thing"
        if isinstance(element, JointStop):
            if element.restitution:
                return "has a restitution"
            ends = self.limits.setdefault(joint, [None, None])
            ends[element.side == "upper"] = element.limit
            return None
        if isinstance(element, JointSpring):
            law = element.damper
            slope = law(1.0)[0] if law.function is None else 0.0
            straight = slope > 0 and all(abs(law(x)[0] - x * slope) <= 1e-12 * slope for x in (-7.0, 0.1, 3.0))
            if not element.spring.zero or not straight:
                return "is a spring, or a damper that is not linear"
            self.damping[joint] = self.damping.get(joint, 0.0) + slope
            return None
        (static, sliding, _), given = element.law, dict(zip(PARAMETERS.names or (), element.record))
        loaded = element.radius > 0.0 or element.collar > 0.0 if element.turns else static > SMALL
        if loaded or static != sliding or element.moved or element.signals or joint in self.friction:
            return "is not a constant friction that load has no part in"
        self.friction[joint] = static * given["preload"]
        return None

    def _coupling(self, coupling):
        """The first joint follows the second, or the second the first."""
        if len(coupling.terms) != 2:
            return "couples more than two joints"
        found = []
        for term in coupling.terms:
            joint = next((j for j in self.joints if j.frame_P is term.P and j.frame_Q is term.Q), None)
            if joint is None or len(joint.coordinates) != 1:
                return "is of a joint that cannot be written, or with several coordinates"
            found.append((joint, term.coefficient))
        (second, b), (first, a) = found
        if second in self.follows:
            (first, a), (second, b) = (second, b), (first, a)
        leader = first
        while leader in self.follows and leader is not second:
            leader = self.follows[leader][0]
        if second in self.follows or leader is second:
            return "couples joints that follow others both"
        self.follows[second] = (first, -a / b, coupling.offset / b)
        return None
