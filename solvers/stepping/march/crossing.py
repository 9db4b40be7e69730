"""Where an event is crossed inside a step: the step is taken again with other sizes until it ends there.

    φ(h₁) = 0 ,   0 < h₁ ≤ h                                                                                       (4)

φ(h₁) is the quantity of the event at the end of a step h₁ of the scheme itself, not of an interpolation. It changes its
sign between 0 and h; Brent's method keeps that bracket, so that a velocity that jumps at an impact is bisected where
smooth motion converges in a few trials. Steps end on the far side of the crossing, within 10⁻¹² h.

Of several events the earliest counts: the others are looked at where the first one is, and sought before it if they
have been crossed there.

Source: docs/theory/events.md, (4); Brent, Algorithms for minimization without derivatives, 1973, chapter 4.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.stepping.kernels.codes import NEVER
from fem_mbs.solvers.stepping.march.chunks import signals_at
from fem_mbs.solvers.stepping.march.snapshot import Snapshot
from fem_mbs.solvers.stepping.march.watch import BEGINS, is_crossed

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.march.march import March

ACCURACY = 1e-12  # of the step: error of the time of a crossing
SHORTEST = 1e-8  # of the step: smallest part that is tried


class Crossing:
    """Finds the crossing in a step that was taken, and takes the part of it up to there.

    Parameters
    ----------
    march : March
    before : Snapshot
        Start of the step.
    start, end : float [s]
        Of the step.
    """

    def __init__(self, march: "March", before: Snapshot, start: float, end: float) -> None:
        self.march, self.engine, self.before = march, march.engine, before
        self.start, self.h = start, end - start
        self.crossed_to = self.engine.arrays["event_phi"].copy()
        self.failure: Exception | None = None
        self.trials: dict[float, np.ndarray] = {}  # size of a part -> φ of all events at its end

    def find(self) -> tuple[list[int], Exception | None]:
        """Numbers of the events that are crossed where the run stands then, and what went wrong."""
        a = self.engine.arrays
        self.before.restore()
        self.begin, self.armed = a["event_phi"].copy(), a["event_armed"].copy()
        self.trials = {0.0: self.begin, self.h: self.crossed_to}
        part, fired = self._earliest()
        if self.failure is not None:
            return [], self.failure
        self._try(part, record=True)
        if not self.march.varies:
            self.march.t = self.start + part
        return [i for i in fired if self._is_crossed(i, a["event_phi"])], self.failure

    def _is_crossed(self, i, phi):
        """Whether event number i is crossed between the start of the step and values φ, as compiled code says."""
        a = self.engine.arrays
        near = a["event_level"][i, 2]
        return bool(is_crossed.py_func(self.armed[i], self.begin[i], phi[i], a["events"][i, 1], near))

    def _crossed(self, phi):
        return [i for i in range(len(phi)) if self._is_crossed(i, phi)]

    def _earliest(self):
        """Size of the part up to the first crossing, and the events that are crossed there."""
        part, found = self.h, self._crossed(self.trials[self.h])
        while self.failure is None and found:
            i = min(found, key=lambda i: abs(self.begin[i]) / abs(self.begin[i] - self.trials[part][i]))
            part = self._root(i, part)
            found = self._crossed(self.trials.get(part, self.begin))
            # what else is crossed there may be earlier, or at the same time
            just = part - 1e3 * ACCURACY * self.h
            others = [j for j in found if j != i]
            if not others or just < SHORTEST * self.h:
                break
            earlier = [j for j in others if self._is_crossed(j, self._phi(just))]
            if not earlier:
                break
            part, found = just, earlier
        return part, found

    def _root(self, i, high):
        """Size of the part at the end of which event i has just been crossed, up to a part ``high`` where it has."""
        from scipy.optimize import brentq

        low, tolerance = SHORTEST * self.h, ACCURACY * self.h
        if high <= low or self._is_crossed(i, self._phi(low)):
            return min(low, high)
        if self.armed[i] == BEGINS:
            return self._leaves(i, low, high)
        sign = -1.0 if self.begin[i] > 0.0 else 1.0
        part = self._guarded(brentq, lambda h: sign * self._phi(h)[i], low, high, tolerance)
        for reach in (0.0, 1.0, 2.0, 8.0, 64.0):  # to the far side
            beyond = min(part + reach * tolerance, high)
            if self.failure is not None or self._is_crossed(i, self._phi(beyond)):
                return beyond
        return high

    def _leaves(self, i, low, high):
        """Size of the part at the end of which event i, on its level before, has just left it: by bisection."""
        while high - low > ACCURACY * self.h and self.failure is None:
            middle = 0.5 * (low + high)
            if self._is_crossed(i, self._phi(middle)):
                high = middle
            else:
                low = middle
        return high

    def _guarded(self, solve: Callable, function: Callable, low: float, high: float, tolerance: float) -> float:
        """Root of a function whose trials may fail: then the end of the bracket."""
        if function(high) == 0.0:
            return high
        try:
            return float(solve(function, low, high, xtol=tolerance, rtol=1e-15))
        except ValueError:  # a trial has failed, and φ is not known there
            return high

    def _phi(self, part):
        """φ of all events at the end of a part."""
        if part not in self.trials:
            self._try(part, record=False)
            self.trials[part] = self.engine.arrays["event_phi"].copy()
        return self.trials[part]

    def _try(self, part, record):
        """Take the part of the step from its start."""
        run = self.engine.run[0]
        self.before.restore()
        every = int(run["save_every"])
        run["save_every"] = every if record else NEVER
        failure = self._take(self.start + part, part)
        run["save_every"] = every
        run["crossed"] = 0
        self.failure = self.failure or failure

    def _take(self, end: float, size: float) -> Exception | None:
        """A step of a size that ends at a time."""
        engine, march = self.engine, self.march
        if march.varies:
            failure, room = None, len(march.block["t"])
            while failure is None and march.t < end - ACCURACY * march.h:
                if int(engine.run[0]["saved"]) >= room:
                    break  # the rest in the next block
                failure = march.step(end)
            return failure
        march.resize(size)
        ends = np.array([end])
        signals, bad = signals_at(engine.system, ends, size, engine.method.instants)
        return bad or march.take(ends, signals, march.block)[2]
