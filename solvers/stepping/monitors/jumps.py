"""Drivers that jump: functions of time that change over a step by much more than their rates say.

    |s_{n+1} − s_n| > c (h max(|ṡ_n|, |ṡ_{n+1}|) + h² max(|s̈_n|, |s̈_{n+1}|))                                        (1)

For functions that are smooth within the step the right-hand side without c is a bound, up to h³. No step size helps a
jump: bodies are moved at once, with an energy that nobody gives, or the step fails. Only what joints and surfaces
depend on is looked at; loads may jump.
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import label
from fem_mbs.solvers.stepping.monitors.monitor import Monitor

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

FACTOR = 10.0  # c of (1)
FLOOR = 1e-9  # of the largest value of a signal so far
MOST = 1000  # jumps whose times are kept


def jumps_between(values: np.ndarray, h: float, period: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Which signals (k, ns) jump by (1) between states of values and derivatives (k + 1, ns, 3), h [s] apart.

    ``period`` (ns,): changes by multiples of it are none, as of an angle; 0 for others. ``size`` (ns,): largest |s| so
    far, whose round-off is no jump.
    """
    change = np.diff(values[:, :, 0], axis=0)
    whole = np.where(period > 0.0, period, 1.0)
    change = np.abs(change - np.where(period > 0.0, whole * np.round(change / whole), 0.0))
    rate, second = (np.maximum(np.abs(values[1:, :, k]), np.abs(values[:-1, :, k])) for k in (1, 2))
    return change > FACTOR * (h * rate + h * h * second) + FLOOR * size


class JumpWatch(Monitor):
    """Looks at the signals of all steps of a run, which the march passes to it.

    Attributes
    ----------
    times : list of float
        Middles [s] of steps in which something jumps, the first `MOST`.
    """

    state = "times", "last", "size", "first"

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        system = self.system
        self.times: list[float] = []
        self.watched = [k for k, owner in enumerate(system.signal_owner) if owner.role in ("constraint", "contact")]
        owners = [system.signal_owner[k] for k in self.watched]
        self.period = np.array([owner.period for owner in owners])
        self.last: np.ndarray | None = None
        self.size = np.zeros(len(self.watched))
        self.first = ""

    def look(self, ends: np.ndarray, table: np.ndarray, h: float) -> None:
        """Take in the values at the ends (k,) of successive steps h [s], table (k, instants, signals, 3)."""
        if not self.watched or not len(table):
            return
        values = table[:, -1, self.watched]
        if self.last is None:
            self.last = self._values(ends[0] - h)
        values = np.concatenate([self.last[None], values])
        self.size = np.maximum(self.size, np.abs(values[:, :, 0]).max(axis=0))
        found = jumps_between(values, h, self.period, self.size)
        for k in np.flatnonzero(found.any(axis=1)):
            self.first = self.first or self._description(int(np.argmax(found[k])), values[k : k + 2, :, 0], ends[k], h)
            self.times += [float(ends[k] - 0.5 * h)] if len(self.times) < MOST else []
        self.last = values[-1]

    def cause(self, t: float, h: float) -> str:
        """What jumps in a step h [s] that ends at t [s], in words; "" if nothing does."""
        if not self.watched:
            return ""
        try:
            values = np.stack([self._values(t - h), self._values(t)])
        except Exception:  # of the user's function, at a time between steps: the failure is reported without it
            return ""
        found = jumps_between(values, h, self.period, np.maximum(self.size, np.abs(values[:, :, 0]).max(axis=0)))[0]
        return self._description(int(np.argmax(found)), values[:, :, 0], t, h) if found.any() else ""

    def within(self, begin: float, end: float) -> bool:
        """Whether something jumps in a step that ends after ``begin``, up to ``end`` [s]."""
        return any(begin < t < end for t in self.times)

    def warnings(self) -> list[str]:
        """That something jumps."""
        return [f"{self.first}."] if self.first else []

    def _values(self, t):
        """Values and derivatives (watched, 3) at a time; those of the system are left as they are."""
        return np.array([self.system.signals[k].jet(t) for k in self.watched])

    def _description(self, which, values, t, h):
        (before, after), owner = values[:, which], self.system.signal_owner[self.watched[which]]
        return (
            f"{label(owner)} jumps: its function of time goes from {before:.6g} to {after:.6g} between "
            f"t = {t - h:.6g} s and {t:.6g} s, and its rate does not say so. Smaller steps do not help: give a "
            "function without jumps"
        )
