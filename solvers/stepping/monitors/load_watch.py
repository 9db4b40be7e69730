"""Static loads on points of bodies that represent them in part only, as superelements between their frames.

In windows of saved states, as long as the body requires (`Superelement.settling_time`, first of any load, then of
the mean one) and of eight states at least, a load is static, and no impact, where with the sum S of the sizes of the
forces on a body

    mean(S)² > ½ mean(S²)                                                                                           (1)

A force that acts in the share κ of a window gives κ. Means are over time, each state for the step that ends in it:
controlled steps are shortest at impacts. Means of forces and of deformations over such a window are shown
to the body (`load_warnings`), and the strongest warning is reported.

Source: docs/theory/superelements.md, section 7.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.shapes import matrices
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.checks.element_checks import point_loads, warning_texts

if TYPE_CHECKING:
    from fem_mbs.element.kinds import FloatingBody
    from fem_mbs.solvers.stepping.engine import Engine

LASTING = 0.5  # of (1)
LEAST = 8  # states of a window


class Watched(NamedTuple):
    """A body, its nodes (nn,), points (k,) on which forces act, columns (k, 3) of these, and the window [s]."""

    body: "FloatingBody"
    nodes: np.ndarray
    points: np.ndarray
    columns: np.ndarray
    window: float


class LoadWatch(Monitor):
    """Means of forces and deformations in windows of saved states."""

    state = "sums", "last", "found"

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        self.watched = []
        for body, (points, columns) in point_loads(self.system).items():
            window = body.settling_time(points)
            if np.isfinite(window):
                nodes = np.array([node.index for node in body.nodes])
                self.watched.append(Watched(body, nodes, points, columns, window))
        self.sums: list[Any] = [None] * len(self.watched)  # start and length of the window, count, sums over time
        self.last: float | None = None  # time of the last state that was taken in
        self.found: list[list] = [[] for _ in self.watched]

    def observe(self, block: dict[str, np.ndarray]) -> None:
        """Take in recorded states that have outputs."""
        if not self.watched:
            return
        rows = np.flatnonzero(block["step"] % self.engine.every == 0)
        t, outputs = block["t"][rows], block["output"][rows]
        if not len(rows):
            return
        lasts = np.diff(t, prepend=t[0] if self.last is None else self.last)
        self.last = float(t[-1])
        for number, one in enumerate(self.watched):
            nodes = np.ix_(rows, one.nodes)
            _, R_0, d = one.body.pose(block["position"][nodes], matrices(block["quaternion"][nodes]))
            forces = -np.einsum("sij,ski->skj", R_0, outputs[:, one.columns])
            sizes = np.linalg.norm(forces, axis=2).sum(axis=1)
            columns = np.column_stack([np.ones(len(rows)), sizes, sizes**2, forces.reshape(len(rows), -1), d])
            columns *= lasts[:, None]
            first = 0
            while first < len(rows):
                first = self._fill(number, one, t, columns, first)

    def _fill(self, number, one, t, columns, first):
        """Add states from ``first`` on to a window, up to its end; returns the first of the next."""
        start, length, count, sums = self.sums[number] or (float(t[first]), one.window, 0, 0.0)
        end = int(np.searchsorted(t, start + length)) + 1
        end = min(max(end, first + LEAST - count, first + 1), len(t))
        count, sums = count + end - first, sums + columns[first:end].sum(axis=0)
        self.sums[number] = start, length, count, sums
        if t[end - 1] - start >= length and count >= LEAST:
            self._close(number, one, float(t[end - 1]))
        return end

    def _close(self, number, one, t):
        """Pass a window to the body, and make it longer or begin another."""
        start, _, count, sums = self.sums[number]
        self.sums[number], mean = None, sums[1:] / sums[0]
        if mean[0] ** 2 <= LASTING * mean[1]:
            return
        forces, d = np.split(mean[2:], [3 * len(one.points)])
        needed = one.body.settling_time(one.points, forces.reshape(-1, 3))
        if t - start < needed:
            self.sums[number] = start, needed, count, sums
            return
        warnings = one.body.load_warnings(one.points, forces.reshape(-1, 3), d)
        self.found[number] = max([warnings, self.found[number]], key=lambda given: given[0][1] if given else 0.0)

    def warnings(self) -> list[str]:
        """Warnings of the bodies."""
        return warning_texts(zip((one.body for one in self.watched), self.found))
