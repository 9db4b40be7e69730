"""Equilibria that a path has passed before: it has turned back, or it is closed.

A new point p on an earlier step, from a to b, is on its chord but for the turn of the path in the step (50° at most,
which makes 2.4 %),

    |a − p| + |p − b| < 1.03 |a − b|                                                                               (1)

in the metric of the path. Another path may come as near. What decides is the point of the earlier step that is as far
from a as p: it is solved for.

Source: docs/theory/load_paths.md, derived there.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import SolverError
from fem_mbs.solvers.paths.control import Sphere, Tangent

if TYPE_CHECKING:
    from fem_mbs.solvers.paths.follow import Follower, Point


CHORD = 1.03  # of (1)
SAME = 1e-4  # of the step: two equilibria nearer than this are one
MARGIN = 0.25  # of a step, by which its coordinates are exceeded within it


class Visited:
    """The points of the path of a `Follower`, in its order."""

    def __init__(self, follower: "Follower") -> None:
        self.follower = follower
        self.points: list[Point] = []
        self.marks = np.empty((0, 4))  # load factor and mean position of each

    def closed(self, point: "Point") -> bool:
        """Add a point; True where the path has been there before, in the same direction.

        Raises
        ------
        SolverError
            It has been there in the other direction; with the path so far.
        """
        mark = np.append(point.factor, point.state.x[self.follower.problem.system.spatial].mean(axis=0))
        for k in self._near(mark):
            if self._at(k, point):
                if self._back(k, point):
                    raise self._error(point)
                return True
        self.points.append(point)
        self.marks = np.vstack([self.marks, mark])
        return False

    def _near(self, mark):
        """Numbers of earlier steps whose coordinates are about those of a point; the last two are left out."""
        first, second = self.marks[:-3], self.marks[1:-2]
        low, high = np.minimum(first, second), np.maximum(first, second)
        margin = MARGIN * np.abs(high - low).max(axis=1, initial=0.0)[:, None] * [0.0, 1.0, 1.0, 1.0]
        margin[:, 0] = MARGIN * (high - low)[:, 0]
        return np.flatnonzero(((mark >= low - margin) & (mark <= high + margin)).all(axis=1))

    def _at(self, k, point):
        """True where a point is on an earlier step."""
        a, b = self.points[k], self.points[k + 1]
        length, from_a, to_b = self._distance(a, b), self._distance(a, point), self._distance(point, b)
        if not 0.0 < from_a + to_b <= CHORD * length:
            return False
        if min(from_a, to_b) <= SAME * length:
            return True
        there = self.follower.advance(a, from_a, Sphere)[0]
        return there is not None and self._distance(there, point) <= SAME * length

    def _back(self, k, point):
        """True where the path goes the other way than in an earlier step."""
        a, b, metric = self.points[k], self.points[k + 1], self.follower.metric
        chord = Tangent(metric.between(a.state, b.state), b.lam, b.factor - a.factor)
        return metric.product(chord, point.tangent) < 0.0

    def _distance(self, one, other):
        metric = self.follower.metric
        return metric.norm(metric.between(one.state, other.state), other.factor - one.factor)

    def _error(self, point):
        follower = self.follower
        error = SolverError(
            f"{follower.who} of '{follower.problem.system.name}', load factor {point.factor:.6g} after "
            f"{len(self.points)} equilibria: the path goes back over an equilibrium that it has passed before. It "
            "turned back at a point that its steps do not resolve. Take a smaller step, another load_weight, or "
            "control=(node, component). What was found is in the attribute `path` of this error"
        )
        error.path = follower.path  # type: ignore[attr-defined]
        return error
