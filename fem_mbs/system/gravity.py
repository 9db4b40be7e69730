"""Gravity that changes in time: a lift that starts, a centrifuge, a field that is switched off.

In a frame that moves with acceleration a(t) and does not rotate, bodies move as in a field of gravity g − a(t). The
field is three functions of time of the system, as those of loads. It has no potential: its work is accumulated as that
of a load.

Source: docs/theory/energy_table.md, (3).
"""

from collections.abc import Callable

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.functions.signals import VectorOfTime

TIMES = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 61)])  # [s] after the start, of `Gravity.largest`


class Gravity(Checked):
    """The field of a model, as a function of time.

    Parameters
    ----------
    function : callable t [s] -> (3,) [m/s²], inertial axes
        Any Python function is accepted; it is evaluated once per step.
    name : str, optional
        That of the model, shown in errors.

    Raises
    ------
    ParameterError
        It cannot be called with a time, or does not return three finite numbers at t = 0.
    """

    role = "dynamic"  # its functions of time act as those of loads

    def __init__(self, function: Callable, *, name: str | None = None) -> None:
        self.name = name
        self.as_function("gravity", function, "a function of time t that returns (3,)", 1)
        self.field = VectorOfTime(self, "gravity", function)
        start = self.field.at_start()
        self.check(np.isfinite(start).all(), "gravity", start, "is not finite at t = 0")
        self.signals = self.field.signals()

    def at(self, t: float) -> np.ndarray:
        """Value (3,) [m/s²] at a time [s]."""
        return np.array(self.field.evaluate(t))

    def largest(self, t: float) -> float:
        """Largest size [m/s²] at t [s] and at times up to 1000 s after it: a scale for tolerances, no more.

        Times at which the function cannot be evaluated are left out: a run that gets there reports it.
        """
        found = [0.0]
        for time in t + TIMES:
            try:
                found.append(float(np.linalg.norm(self.at(time))))
            except Exception:  # of the user's function, which may have no value then
                continue
        return max(size for size in found if np.isfinite(size))
