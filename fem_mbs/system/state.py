"""Where the nodes of a system are and how they move at one time."""

import numpy as np

from fem_mbs.arguments import Checked


class State(Checked):
    """Configuration and velocity of a system at one time.

    Attributes
    ----------
    t : float [s]
    x : (N, 3) [m], positions of all nodes, inertial axes
    Q, R : (N, 4), (N, 3, 3), rotations: quaternions (scalar first), and their matrices
    V : (N, 6), velocities (ẋ inertial, Ω body) [m/s, rad/s]
    """

    def __init__(self, n_nodes: int) -> None:
        n_nodes = self.as_integer("n_nodes", n_nodes, 0)
        self.check(n_nodes <= 100_000_000, "n_nodes", n_nodes, "are too many")
        self.t = 0.0
        self.x, self.Q, self.R = np.zeros((n_nodes, 3)), np.zeros((n_nodes, 4)), np.zeros((n_nodes, 3, 3))
        self.V = np.zeros((n_nodes, 6))

    def copy(self) -> "State":
        """An independent copy."""
        other = State(len(self.x))
        other.t = self.t
        for name in ("x", "Q", "R", "V"):
            getattr(other, name)[:] = getattr(self, name)
        return other
