"""A path of equilibria: its points, where it turns back or branches, its histories."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import FrameLike, Keywords
from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import label
from fem_mbs.nodes import COMPONENTS
from fem_mbs.results.file.names import UnknownNameError
from fem_mbs.solvers.static_result import StaticResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fem_mbs.element.base import Element
    from fem_mbs.nodes import Node
    from fem_mbs.results.results import Results
    from fem_mbs.solvers.equilibrium import Equilibrium
    from fem_mbs.solvers.paths.control import Metric
    from fem_mbs.solvers.paths.follow import Point
    from fem_mbs.system.system import System


class PathPoint(StaticResult):
    """One equilibrium of a `LoadPath`; `fem_mbs.modes` takes it as ``about``.

    Attributes
    ----------
    load_factor : float
    length : float, arc length of the path from its beginning
    state, multipliers, stable, position, rotation, reaction, output, contact_force, contact_status
        As of `StaticResult`.
    unstable : int or None
        How many motions lower the potential energy; None: not known.
    """

    def __init__(self, system: "System", found: "Point", reactions: np.ndarray, output: Callable) -> None:
        super().__init__(system)
        self.state, self.multipliers = found.state, found.lam[: system.m]
        self.load_factor, self.length = float(found.factor), float(found.s)
        self.unstable = None if found.spectrum is None else found.spectrum.negative
        self.stable = _stable(found.spectrum)
        self.load_factors, self.iterations, self.negative = [self.load_factor], [found.iterations], [self.unstable]
        self._reactions, self._output, self._found = [reactions], output, found

    def output(self, element: "Element", name: str) -> np.ndarray:
        """Output of an element at this equilibrium."""
        return self._output()[self._place(element, name)]

    def __getitem__(self, name):
        raise UnknownNameError(
            f"{self!r} is one equilibrium and has no histories; those of the path are path[{name!r}]"
        )

    def __contains__(self, name):
        return False

    def __iter__(self):
        return iter(())

    def report(self) -> str:
        """Load factor and stability, one line."""
        return f"{self.system.name}: load factor {self.load_factor:.9g}, {describe_stability(self.unstable)}"

    def __repr__(self):
        return f"{type(self).__name__}(load factor {self.load_factor:.6g}, {describe_stability(self.unstable)})"


def _stable(spectrum):
    if spectrum is None or (not spectrum.symmetric and spectrum.negative % 2 == 0):
        return None
    return spectrum.negative == 0


def describe_stability(unstable: int | None) -> str:
    """Describe the stability of an equilibrium."""
    if unstable is None:
        return "stability not known"
    return "stable" if unstable == 0 else f"unstable in {unstable} motion{'s' if unstable > 1 else ''}"


class CriticalPoint(PathPoint):
    """A point of a path at which a motion without stiffness appears.

    Attributes
    ----------
    kind : {"limit", "branch"}
        "limit": the load factor has an extremum. "branch": another path crosses here;
        ``load_path(…, start=point)`` follows it.
    mode : (N, 6)
        The motion without stiffness (δx inertial [m], δθ body [rad]); largest component 1.
    """

    def __init__(
        self, system: "System", found: "Point", reactions: np.ndarray, output: Callable, kind: str, y: np.ndarray,
        problem: "Equilibrium", metric: "Metric",
    ) -> None:  # fmt: skip
        super().__init__(system, found, reactions, output)
        self.kind, self._direction, self._problem, self._metric = kind, y, problem, metric
        mode = system.expanded(y[: system.n])
        self.mode = mode / mode.reshape(-1)[np.abs(mode).argmax()]

    def report(self) -> str:
        """Load factor, kind and mode, one line."""
        full = int(np.abs(self.mode).argmax())
        what = f"{label(self.system.nodes[full // 6])} in {COMPONENTS[full % 6]}"
        return f"{self.kind} point at load factor {self.load_factor:.9g}; moves most: {what}"


@Deprecated.attributes(remarks="warnings")
class LoadPath:
    """A path of equilibria.

    Attributes
    ----------
    points : list of `PathPoint`, as converged
    load_factors : (k,), of the points
    lengths : (k,)
        Arc length of the path up to each point: root mean square of what nodes turn [rad] and move (in extents of the
        model), with the change of the load factor times ``load_weight``.
    load_weight : float
        Weight of the load factor in the arc length: the one given, or the one found from the first step.
    unstable : list of int or None
        How many motions lower the potential energy at each point; 0: stable. None: not known.
    limits, branches : lists of `CriticalPoint`, located to the tolerance of the path
    critical : list of both, in the order of the path
    contact_changes : list of `ContactChange`, in the order of the path
        Where contacts close and open: ``contact``, ``kind``, ``load_factor``, ``length``, and ``turns``, whether the
        load factor has an extremum there.
    results : Results
        Histories with the arc length in the place of time: ``path["tip"].position``. ``name in path`` and ``for name
        in path`` are about the names of the model; ``len(path)`` is the number of points.
    ended : str, why the path ends where it does
    rejected : int, steps that were halved
    warnings : list of str, warnings of undecided points
    """

    def __init__(self, system: "System") -> None:
        self.system, self.points, self.critical, self.contact_changes = system, [], [], []
        self.ended, self.rejected, self.warnings, self.load_weight = "", 0, [], 1.0
        self.results: Results = None  # type: ignore[assignment]  # set before anybody gets it

    def __getitem__(self, name):
        return self.results[name]

    def __contains__(self, name):
        return name in self.results

    def __iter__(self):
        return iter(self.results)

    def __len__(self):
        return len(self.points)

    @property
    def load_factors(self) -> np.ndarray:
        return np.array([point.load_factor for point in self.points])

    @property
    def lengths(self) -> np.ndarray:
        return np.array([point.length for point in self.points])

    @property
    def unstable(self) -> list:
        return [point.unstable for point in self.points]

    @property
    def limits(self) -> list:
        return [point for point in self.critical if point.kind == "limit"]

    @property
    def branches(self) -> list:
        return [point for point in self.critical if point.kind == "branch"]

    @property
    def total_iterations(self) -> int:
        return sum(point.iterations[0] for point in self.points)

    def reactions(self, node: "Node") -> np.ndarray:
        """Force [N] and moment [N m] of the support of a node's fixed components along the path (k, 6)."""
        return np.array([np.concatenate(point.reaction(node)) for point in self.points])

    @Keywords.known
    def plot(
        self, node: FrameLike, component: str, save: str | Path | None = None, *, figure: "Figure | None" = None
    ) -> "Figure":
        """Draw the load factor over a displacement: full lines are stable, critical points and contact changes marked.

        Parameters
        ----------
        node : Node, Frame or body whose node moves
        component : {"x", "y", "z"}
        save : path, optional
        figure : matplotlib Figure, optional
            Of another path, which is drawn into.

        Returns
        -------
        matplotlib Figure

        Raises
        ------
        ParameterError
            A node that is not of the model; another component.
        """
        from fem_mbs.solvers.paths.diagram import draw_path

        return draw_path(self, node, component, save, figure)

    def report(self) -> str:
        """Points, critical points and the end, some lines."""
        factors = self.load_factors
        low, high = factors.min(), factors.max()
        halved = f", {self.rejected} halved" if self.rejected else ""
        lines = [
            f"{self.system.name}: path of {len(self.points)} equilibria{halved}, {self.total_iterations} iterations",
            f"  load factor  {factors[0]:.6g} to {factors[-1]:.6g}, between {low:.6g} and {high:.6g}",
            *[
                f"  {event.report()}"
                for event in sorted([*self.critical, *self.contact_changes], key=lambda e: e.length)
            ],
            f"  ended        {self.ended}; {describe_stability(self.points[-1].unstable)}",
        ]
        return "\n".join([*lines, *[f"  note         {text}" for text in self.warnings]])

    def __str__(self):
        return self.report()

    def __repr__(self):
        return (
            f"LoadPath({len(self.points)} equilibria, {len(self.limits)} limit and {len(self.branches)} branch points)"
        )
