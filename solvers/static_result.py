"""Result of a static analysis: positions, forces, stability, and the solution path."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import ParameterError, label
from fem_mbs.nodes import COMPONENTS
from fem_mbs.results.file.names import unknown_name
from fem_mbs.system import assembly

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.element.contact import Contact
    from fem_mbs.nodes import Node
    from fem_mbs.results.results import Results
    from fem_mbs.system.state import State
    from fem_mbs.system.system import System


class StaticResult:
    """Equilibria along the load path.

    Attributes
    ----------
    state : State
        The last one, with the time for which it holds; ``system.initial = result.state`` starts a run in time from it.
        It has the velocities of a steady rotation, but what is fixed stands still.
    multipliers : (m,), forces of the constraints at the last one
        With redundant rows (``redundant="allow"``) those of least norm, moments divided by the size of the model.
    angular_velocity : (3,) [rad/s] or None, of a steady rotation
    stable : bool or None
        True if no small motion lowers the potential energy (neutral motions, to round-off, do not), with contacts that
        press, and those that stick, held as they are. None: not decided by the stiffness (follower loads), or not known
        (while a contact slides it is not). With rotation: without the help of gyroscopic moments. For
        both, ``fem_mbs.modes(system, about=result).stable`` decides.
    lowest_eigenvalue : float [N/m]
        Smallest eigenvalue of the tangent stiffness on the motions that the constraints allow, (2) of the head of the
        file; per displacement of 1 m, or rotation of 1 m divided by the size of the model. inf: nothing can move; nan:
        not requested or not found.
    mode : (N, 6), motion (δx inertial [m], δθ body [rad]) of it; largest component 1
    load_factors : list of float, of the converged load steps
    iterations : list of int, of each
    negative : list of int or None, of each load step
        How many motions lower the potential energy there: 0 where the equilibrium is stable; where the number changes
        the path has passed a critical load. Without potential (follower loads) those that diverge are counted. None:
        not known; empty with ``stability=False``.
    rejected : int, load steps that were halved
    contact_status : (nc,) int
        Of each contact at the last equilibrium: 0 open, 1 sticks, 2 slides, 3 closed without friction; empty where
        contacts take no part.
    results : Results
        Histories of the load path, with the load factor in the place of time: ``result["tip"].position``.

    ``name in result`` and ``for name in result`` are about the names of the model; ``len(result)`` is the number of
    load steps.
    """

    def __init__(self, system: "System", angular_velocity: np.ndarray | None = None) -> None:
        self.system, self.angular_velocity = system, angular_velocity
        # set before anybody gets the result
        self.state: State = None  # type: ignore[assignment]
        self.multipliers: np.ndarray = None  # type: ignore[assignment]
        self.results: Results = None  # type: ignore[assignment]
        self._motion: tuple = ()  # velocities and accelerations of a steady rotation
        self._rows = {id(node): i for i, node in enumerate(system.nodes)}
        self.load_factors, self.iterations, self.rejected = [], [], 0
        self.negative: list[int | None] = []
        self._reactions: list[np.ndarray] = []  # (N, 6) of each record
        self._contacts: list[np.ndarray] = []  # (nc, 3) of each record, where contacts take part
        self.contact_status: np.ndarray = np.zeros(0, np.int64)
        self.lowest_eigenvalue, self.mode = np.nan, np.zeros((len(system.nodes), 6))
        self.stable: bool | None = None

    def __getitem__(self, name):
        return self.results[name]

    def __contains__(self, name):
        return name in self.results

    def __iter__(self):
        return iter(self.results)

    def __len__(self):
        return len(self.load_factors)

    @property
    def total_iterations(self) -> int:
        return sum(self.iterations)

    def _row(self, node):
        if id(node) not in self._rows:
            its = getattr(node, "node", None)  # of a frame, or of a body
            cure = f": give its node, {type(node).__name__.lower()}.node" if id(its) in self._rows else ""
            raise ParameterError(self, "node", node, f"is not a node of '{self.system.name}'{cure}")
        return self._rows[id(node)]

    def position(self, node: "Node") -> np.ndarray:
        """Position of a node at the last equilibrium (3,) [m]."""
        return self.state.x[self._row(node)]

    def rotation(self, node: "Node") -> np.ndarray:
        """Rotation of a node at the last equilibrium (3, 3)."""
        return self.state.R[self._row(node)]

    def output(self, element: "Element", name: str) -> np.ndarray:
        """Output of an element at the last equilibrium."""
        system, out = self.system, np.zeros(self.system.n_outputs)
        V, A = self._motion
        assembly.output_values(system.data[0], self.state.x, self.state.R, V, A, self.multipliers, out)
        return out[self._place(element, name)]

    def _place(self, element, name):
        """Index of an output of an element among those of the system."""
        known = self.system.output_slices.get(element, {})
        name = Deprecated.output(type(element).__name__, name, known)
        if name not in known:
            raise unknown_name(name, known, f"{label(element)} of '{self.system.name}'")
        return known[name]

    def reaction(self, node: "Node") -> tuple[np.ndarray, np.ndarray]:
        """Support reaction of a node's fixed components at the last equilibrium.

        Parameters
        ----------
        node : Node of the system

        Returns
        -------
        force : (3,) [N], inertial axes
        moment : (3,) [N m], about the node, inertial axes; both zero for free components

        Raises
        ------
        ParameterError
            The node is not one of the system. What joints and `Prescribed` motions do is an output of theirs.
        """
        held = self.reactions(node)[-1]
        return held[:3], held[3:]

    def reactions(self, node: "Node") -> np.ndarray:
        """`reaction` along the load path (k, 6): force [N] and moment [N m] of each saved equilibrium."""
        return np.array([held[self._row(node)] for held in self._reactions])

    def contact_force(self, contact: "Contact") -> np.ndarray:
        """Force of a contact on its first body at the last equilibrium (3,) [N]: normal (≥ 0), t1, t2.

        Its axes, its place, the gap and the forces on the way are ``result["name"]``: ``force``, ``normal``,
        ``tangents``, ``point``, ``gap``, ``status``.

        Raises
        ------
        ParameterError
            The contact is not one of the system, or contacts take no part (contact groups, steady rotation).
        """
        places = [c for c, one in enumerate(self.system.contacts) if one is contact]
        if not places or not self._contacts:
            raise ParameterError(self, "contact", contact, "is no contact that takes part in this equilibrium")
        return self._contacts[-1][places[0]]

    def report(self) -> str:
        """Summarize the solution and its stability, a few lines."""
        lines = [f"{self.system.name}: static equilibrium at t = {self.state.t:g} s"]
        if self.angular_velocity is not None:
            lines.append(f"  rotation     {self.angular_velocity.tolist()} rad/s")
        halved = f", {self.rejected} halved" if self.rejected else ""
        lines.append(f"  load steps   {len(self.iterations)}{halved}, {self.total_iterations} iterations")
        return "\n".join([*lines, f"  stability    {self._stability()}", *self._changes()])

    def _changes(self):
        """Lines on load steps between which the number of unstable motions changes."""
        known = [(0.0, 0), *zip(self.load_factors, self.negative)]
        return [
            f"  critical     between load factors {a:.6g} and {b:.6g}: {i} -> {j} unstable motions"
            for (a, i), (b, j) in pairwise(known)
            if i is not None and j is not None and i != j
        ]

    def _stability(self):
        if np.isnan(self.lowest_eigenvalue):
            return "not known"
        if np.isinf(self.lowest_eigenvalue):
            return "stable: constraints leave no motion"
        text = f"lowest eigenvalue of the stiffness {self.lowest_eigenvalue:.4g} N/m"
        if self.stable is None:
            return f"{text}; loads without potential: fem_mbs.modes(system, about=…).stable decides"
        if self.stable:
            return f"stable, {text}"
        full = int(np.abs(self.mode).argmax())
        return f"UNSTABLE, {text}: {label(self.system.nodes[full // 6])} would move in {COMPONENTS[full % 6]}"

    def __str__(self):
        return self.report()

    def __repr__(self):
        unstable = ", unstable" if self.stable is False else ""
        return f"StaticResult({len(self.iterations)} load steps, {self.total_iterations} iterations{unstable})"
