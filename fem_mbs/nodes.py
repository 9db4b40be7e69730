"""Nodes and frames: what elements connect.

Every node is stored as a position and a rotation with six velocity components (ẋ inertial, Ω body); a node type says
which of them are free. This keeps one layout for all elements: a `Node3` is a node whose rotation is fixed.
"""

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.rotations import as_matrix

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")


def finite_vector(owner, name, value, n=3):
    """Float array (n,) of a parameter, or a ParameterError that names it."""
    try:
        array = np.array(value, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise ParameterError(owner, name, value, f"is not a vector of {n} numbers") from None
    if array.shape != (n,):
        raise ParameterError(owner, name, value, f"has {array.size} components, must have {n}")
    if not np.isfinite(array).all():
        raise ParameterError(owner, name, value, "has components that are not finite")
    return array


def rotation_matrix(owner, name, value):
    """Rotation matrix (3, 3) of a parameter, or a ParameterError that names it."""
    try:
        R = as_matrix(value)
    except (TypeError, ValueError) as error:
        raise ParameterError(owner, name, value, f"is not a rotation: {error}") from None
    if not np.isfinite(R).all():
        raise ParameterError(owner, name, value, "has components that are not finite")
    return R


class Node:
    """A point with a position and a rotation; base of `Node6`, `Node3`, `Node1`.

    Attributes
    ----------
    position : (3,) [m], inertial axes
    rotation : (3, 3), body components to inertial components
    velocity : (3,) [m/s], inertial axes
    angular_velocity : (3,) [rad/s], inertial axes (ω = R Ω)
    free : (6,) bool, components (x, y, z inertial; rx, ry, rz about the body axes) that can move
    """

    def __init__(self, position, rotation, velocity, angular_velocity, free, name):
        self.name = name
        self.position = finite_vector(self, "position", position)
        self.rotation = rotation_matrix(self, "rotation", rotation)
        self.velocity = finite_vector(self, "velocity", velocity)
        self.angular_velocity = finite_vector(self, "angular_velocity", angular_velocity)
        self.free = free
        self.index = None  # set by model.compile()

    def frame(self, p=(0.0, 0.0, 0.0), rotation=None, *, name=None):
        """Attachment frame at constant offset p (3,) [m] and rotation, both in the axes of this node."""
        return Frame(self, p, rotation, name=name)

    def frame_at(self, position, rotation=None, *, name=None):
        """Attachment frame that is at a given initial position (3,) [m] and rotation in inertial axes."""
        offset = self.rotation.T @ (finite_vector(self, "position", position) - self.position)
        return Frame(self, offset, self.rotation.T @ rotation_matrix(self, "rotation", rotation), name=name)

    def __repr__(self):
        return f"{type(self).__name__}({self.name or self.position.tolist()})"


def _fixed_mask(node, fixed, available):
    free = np.array([c in available for c in COMPONENTS])
    if fixed is True:
        return np.zeros(6, bool)
    names = [fixed] if isinstance(fixed, str) else list(fixed or ())
    for component in names:
        if component not in available:
            allowed = ", ".join(available)
            message = f"is not a component of this node; allowed: {allowed}, or True"
            raise ParameterError(node, "fixed", component, message)
        free[COMPONENTS.index(component)] = False
    return free


class Node6(Node):
    """Node with position and rotation.

    Parameters
    ----------
    position : (3,) [m], inertial axes
    rotation : (3, 3) matrix, (3,) rotation vector [rad] or (4,) quaternion, optional
        Body components to inertial components; default: parallel to the inertial frame.
    velocity : (3,) [m/s], inertial axes
    angular_velocity : (3,) [rad/s], inertial axes
    fixed : True or sequence of {"x", "y", "z", "rx", "ry", "rz"}
        Components that never move; rotations are about the node's own axes. A planar model in x-y: ("z", "rx", "ry").
    name : str, optional
    """

    def __init__(
        self, position=(0, 0, 0), rotation=None, *, velocity=(0, 0, 0), angular_velocity=(0, 0, 0), fixed=(), name=None
    ):
        self.name = name
        super().__init__(position, rotation, velocity, angular_velocity, _fixed_mask(self, fixed, COMPONENTS), name)


class Node3(Node):
    """Node with a position only (point masses, cables, solids); parameters as `Node6`."""

    def __init__(self, position=(0, 0, 0), *, velocity=(0, 0, 0), fixed=(), name=None):
        self.name = name
        super().__init__(position, None, velocity, (0, 0, 0), _fixed_mask(self, fixed, COMPONENTS[:3]), name)


class Node1(Node):
    """Node with one scalar coordinate (a generalised coordinate, a temperature, a voltage); it is stored as x.

    Parameters
    ----------
    value, velocity : float
    fixed : bool
    """

    def __init__(self, value=0.0, *, velocity=0.0, fixed=False, name=None):
        self.name = name
        mask = _fixed_mask(self, ("x",) if fixed else (), COMPONENTS[:1])
        super().__init__((value, 0, 0), None, (velocity, 0, 0), (0, 0, 0), mask, name)


class Ground(Node):
    """The inertial frame as a node that never moves; every model has one, ``model.ground``."""

    def __init__(self, name="ground"):
        super().__init__((0, 0, 0), None, (0, 0, 0), (0, 0, 0), np.zeros(6, bool), name)


class Frame:
    """A node plus a constant offset pose: where joints, springs, contacts and loads attach.

    Parameters
    ----------
    node : Node
    p : (3,) [m]
        Origin of the frame, from the node's origin, in the node's axes.
    rotation : matrix, rotation vector or quaternion, optional
        Frame components to node components.
    """

    def __init__(self, node, p=(0.0, 0.0, 0.0), rotation=None, *, name=None):
        self.node, self.name = node, name or node.name
        self.p = finite_vector(self, "p", p)
        self.rotation = rotation_matrix(self, "rotation", rotation)

    @property
    def position(self):
        """Initial position of the frame (3,) [m], inertial axes."""
        return self.node.position + self.node.rotation @ self.p

    @property
    def orientation(self):
        """Initial rotation (3, 3), frame components to inertial components."""
        return self.node.rotation @ self.rotation

    @property
    def velocity(self):
        """Initial velocity of its origin (3,) [m/s], inertial axes."""
        return self.node.velocity + np.cross(self.node.angular_velocity, self.node.rotation @ self.p)

    @classmethod
    def of(cls, item):
        """The frame itself, or the frame of a node, or of an element with one node (a rigid body)."""
        if isinstance(item, Frame):
            return item
        if isinstance(item, Node):
            return cls(item)
        if hasattr(item, "frame"):
            return item.frame()
        raise TypeError(f"a frame, node or body is needed, not {item!r}")

    def __repr__(self):
        return f"Frame({self.node!r}, p={self.p.tolist()})"
