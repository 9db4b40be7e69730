"""Positions and velocities of the nodes of a system at one time."""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.rotations import matrix_to_quaternion


class State(Checked):
    """Configuration and velocity of a system at one time.

    Attributes
    ----------
    t : float [s]
    x : (N, 3) [m], positions of all nodes, inertial axes
    Q, R : (N, 4), (N, 3, 3), rotations: quaternions (scalar first), and their matrices
    V : (N, 6), velocities (ẋ inertial, Ω body) [m/s, rad/s]

    A state of `Results.state` remembers how far joints and gaps of its run had drifted. Methods that let them drift
    continue from it; the others raise an error if it is not assembled.

    It also has the angles of joints there: a run that begins with it continues the unwrapped angles.

    A rotation is stored twice. `set_rotation` sets both; a run from a state whose Q and R differ raises an error.
    """

    changeable = {
        "t": lambda self, name, value: float(self.as_array(name, value, (), finite=False)),
        **dict.fromkeys(
            ("x", "Q", "R", "V"),
            lambda self, name, value: self.as_array(name, value, getattr(self, name).shape, finite=False),
        ),
    }

    def __init__(self, n_nodes: int) -> None:
        n_nodes = self.as_integer("n_nodes", n_nodes, 0)
        self.check(n_nodes <= 100_000_000, "n_nodes", n_nodes, "are too many")
        self.t = 0.0
        self.x, self.Q, self.R = np.zeros((n_nodes, 3)), np.zeros((n_nodes, 4)), np.zeros((n_nodes, 3, 3))
        self.V = np.zeros((n_nodes, 6))
        self._outputs: tuple = {}, np.zeros(0)  # where those of elements are, by name, and their values in a result
        self._drifted = (0.0, 0.0, 0.0)  # |g|, |ġ| and penetration [m] of the run it is from, see `Results.state`

    def __repr__(self):
        return f"State(t={self.t:.6g} s, {len(self.x)} nodes)"

    def set_rotation(self, node: Any, rotation: ArrayLike) -> None:
        """Set the rotation of a node, Q and R.

        Parameters
        ----------
        node : Node, body with one node, or int
            An int is the row of the node; a node is that of the system compiled or run last.
        rotation : (3, 3) matrix, (3,) rotation vector [rad] or (4,) quaternion
            Body components to inertial components.

        Raises
        ------
        ParameterError
            No such row, a node that is in no system, or not a rotation.
        """
        if isinstance(node, (int, np.integer)) and not isinstance(node, bool):
            row = int(node)
        else:
            row = self.as_frame("node", node).node.index
            self.check(row is not None, "node", node, "is in no system yet: compile its model first")
        self.check(0 <= row < len(self.x), "node", node, f"is not in this state, which has {len(self.x)} nodes")
        self.R[row] = self.as_rotation("rotation", rotation)
        matrix_to_quaternion(self.R[row], self.Q[row])

    def output_of(self, element: str, output: str, component: int) -> float | None:
        """Output of an element in the result that the state is of, by names; None where that has none."""
        places, values = self._outputs
        place = places.get(element, {}).get(output)
        return None if place is None else float(values[place[0] + component])

    def copy(self) -> "State":
        """An independent copy."""
        other = State(len(self.x))
        other.t, other._drifted, other._outputs = self.t, self._drifted, self._outputs
        for name in ("x", "Q", "R", "V"):
            getattr(other, name)[:] = getattr(self, name)
        return other
