"""Nodes and frames: what elements connect.

Every node is stored as a position and a rotation with six velocity components (ẋ inertial, Ω body); a node type defines
which of them are free. This keeps one layout for all elements: a `Node3` is a node whose rotation is fixed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, Keywords, Named
from fem_mbs.errors import ParameterError, label

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")
_ORIGIN = (0.0, 0.0, 0.0)


# for owners of any kind; `Checked` objects have them as methods
finite_vector, rotation_matrix = Checked.as_vector, Checked.as_rotation


def _column(first: int, *shape: int) -> Any:
    """Attribute of nodes that is kept in columns of the rows of `Node._motion`; reading gives a view."""
    columns, table = slice(first, first + int(np.prod(shape))), len(shape) > 1

    def read(node):
        view = node._motion[node._row, columns]
        return view.reshape(shape) if table else view

    def write(node, value):
        node._motion[node._row, columns] = np.ravel(value)

    return property(read, write)


MOTION = 18  # columns: position, rotation, velocity, angular velocity


def motions(nodes: Sequence["Node"]) -> np.ndarray:
    """Position (3), rotation (9), velocity (3) and angular velocity (3) of nodes, as rows (n, 18)."""
    found = np.empty((len(nodes), MOTION))
    for i, node in enumerate(nodes):
        found[i] = node._motion_now()
    return found


class Node(Checked):
    """A point with a position and a rotation; base of `Node6`, `Node3`, `Node1`.

    Attributes
    ----------
    position : (3,) [m], inertial axes
    rotation : (3, 3), body components to inertial components
    velocity : (3,) [m/s], inertial axes
    angular_velocity : (3,) [rad/s], inertial axes (ω = R Ω)
    free : (6,) bool, components (x, y, z inertial; rx, ry, rz about the body axes) that can move; fixed once it is made

    Position, rotation and velocities may be set until the model is compiled; they are checked as the constructor does.
    """

    _groups: tuple = ()  # contact groups whose first shape is on it

    changeable = {
        "position": Checked.as_vector,
        "rotation": Checked.as_rotation,
        "velocity": Checked.as_vector,
        "angular_velocity": Checked.as_vector,
    }
    position, rotation, velocity, angular_velocity = _column(0, 3), _column(3, 3, 3), _column(12, 3), _column(15, 3)
    refused = {"free": "give the constructor of the node or body the components that do not move: fixed=('x', 'rz', …)"}

    def __init__(
        self,
        position: ArrayLike,
        rotation: Any,
        velocity: ArrayLike,
        angular_velocity: ArrayLike,
        free: np.ndarray,
        name: str | None,
    ) -> None:
        self.name = name
        motion = np.empty(MOTION)
        motion[:3] = self.as_vector("position", position)
        motion[3:12] = self.as_rotation("rotation", rotation).ravel()
        motion[12:15] = self.as_vector("velocity", velocity)
        motion[15:] = self.as_vector("angular_velocity", angular_velocity)
        self._motion, self._row = motion[None], 0  # many nodes may share one array
        self._free = free
        self.index = None  # set by model.compile()
        self.body: Any = None  # the element, or the part made of elements, that made this node for itself

    def _motion_now(self) -> np.ndarray:
        """Row of `motions`; of nodes whose velocities follow others it is not the one that is kept."""
        return self._motion[self._row]

    @property
    def free(self) -> np.ndarray:
        """Mask of the free components of six (6,), read-only."""
        view = self._free.view()
        view.setflags(write=False)
        return view

    @Keywords.known
    def frame(self, p: ArrayLike = _ORIGIN, rotation: ArrayLike | None = None, *, name: str | None = None) -> "Frame":
        """Attachment frame at constant offset p (3,) [m] and rotation, both in the axes of this node."""
        return Frame(self, p, rotation, name=name)

    @Keywords.known
    def frame_at(self, position: ArrayLike, rotation: ArrayLike | None = None, *, name: str | None = None) -> "Frame":
        """Attachment frame that is at a given initial position (3,) [m] and rotation in inertial axes."""
        offset = self.rotation.T @ (self.as_vector("position", position) - self.position)
        return Frame(self, offset, self.rotation.T @ self.as_rotation("rotation", rotation), name=name)

    def __repr__(self):
        return f"{type(self).__name__}({self.name or self.position.tolist()})"


def _fixed_mask(node, fixed, available):
    """Mask of the components (6,) that can move: those available, but for the fixed ones."""
    free = _AVAILABLE[available].copy()
    if fixed is True:
        return np.zeros(6, bool)
    names = [fixed] if isinstance(fixed, str) else () if fixed is None or fixed is False else fixed
    if not isinstance(names, (list, tuple, set)):
        raise ParameterError(node, "fixed", fixed, f"must be True, or names of components: {', '.join(available)}")
    for component in names:
        if not isinstance(component, str) or component not in available:
            allowed = ", ".join(available)
            message = f"is not a component of this node; allowed: {allowed}, or True"
            raise ParameterError(node, "fixed", component, message)
        free[COMPONENTS.index(component)] = False
    return free


_AVAILABLE = {COMPONENTS[:n]: np.arange(6) < n for n in (1, 3, 6)}  # of the types of nodes


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
        self,
        position: ArrayLike = (0, 0, 0),
        rotation: ArrayLike | None = None,
        *,
        velocity: ArrayLike = (0, 0, 0),
        angular_velocity: ArrayLike = (0, 0, 0),
        fixed: Any = (),
        name: str | None = None,
    ) -> None:
        self.name = name
        super().__init__(position, rotation, velocity, angular_velocity, _fixed_mask(self, fixed, COMPONENTS), name)


class Node3(Node):
    """Node with a position only (point masses, cables, solids); parameters as `Node6`."""

    def __init__(
        self,
        position: ArrayLike = (0, 0, 0),
        *,
        velocity: ArrayLike = (0, 0, 0),
        fixed: Any = (),
        name: str | None = None,
    ) -> None:
        self.name = name
        super().__init__(position, None, velocity, (0, 0, 0), _fixed_mask(self, fixed, COMPONENTS[:3]), name)


class Node1(Node):
    """Node with one scalar coordinate (a generalised coordinate, a temperature, a voltage); it is stored as x.

    Parameters
    ----------
    value, velocity : float
    fixed : bool
    """

    def __init__(
        self, value: float = 0.0, *, velocity: float = 0.0, fixed: bool = False, name: str | None = None
    ) -> None:
        self.name = name
        mask = _fixed_mask(self, ("x",) if self.as_flag("fixed", fixed) else (), COMPONENTS[:1])
        value, velocity = self.number("value", value), self.number("velocity", velocity)
        super().__init__((value, 0, 0), None, (velocity, 0, 0), (0, 0, 0), mask, name)


class Ground(Node):
    """The inertial frame as a node that never moves; every model has one, ``model.ground``."""

    def __init__(self, name: str = "ground") -> None:
        super().__init__((0, 0, 0), None, (0, 0, 0), (0, 0, 0), np.zeros(6, bool), name)


class Frame(Checked):
    """A node plus a constant offset pose: where joints, springs, contacts and loads attach.

    Parameters
    ----------
    node : Node
    p : (3,) [m]
        Origin of the frame, from the node's origin, in the node's axes.
    rotation : matrix, rotation vector or quaternion, optional
        Frame components to node components.
    """

    freezes = True

    def __init__(
        self, node: Node, p: ArrayLike = _ORIGIN, rotation: ArrayLike | None = None, *, name: str | None = None
    ) -> None:
        self.name = name
        self.node = self.as_instance("node", node, Node, "a node, such as body.node")
        if name is None:
            self.name = node.name
        self.p = self.as_vector("p", p)
        self.rotation = self.as_rotation("rotation", rotation)

    @property
    def position(self) -> np.ndarray:
        """Initial position of the frame (3,) [m], inertial axes."""
        return self.node.position + self.node.rotation @ self.p

    @property
    def orientation(self) -> np.ndarray:
        """Initial rotation (3, 3), frame components to inertial components."""
        return self.node.rotation @ self.rotation

    @property
    def velocity(self) -> np.ndarray:
        """Initial velocity of its origin (3,) [m/s], inertial axes."""
        return self.node.velocity + np.cross(self.node.angular_velocity, self.node.rotation @ self.p)

    @classmethod
    def of(cls, item: Any) -> "Frame":
        """The frame itself, or the frame of a node, or of an element with one node (a rigid body)."""
        return Named("Frame").as_frame("item", item)

    @Keywords.known
    def frame(self, p: ArrayLike = _ORIGIN, rotation: ArrayLike | None = None, *, name: str | None = None) -> "Frame":
        """Frame of the same node at a constant offset p (3,) [m] and rotation from this one, both in its axes.

        Without arguments the frame itself.
        """
        if name is None and rotation is None and p is _ORIGIN:
            return self
        p = self.as_vector("p", p)
        if name is None and rotation is None and not p.any():
            return self
        axes = self.rotation @ self.as_rotation("rotation", rotation)
        return Frame(self.node, self.p + self.rotation @ p, axes, name=self.name if name is None else name)

    def __repr__(self):
        return f"{label(self)}({self.node!r}, p={self.p.tolist()})"
