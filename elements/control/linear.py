"""Linear laws of controllers: systems of scipy.signal and python-control.

    u_k = C z_k + D y_k      z_{k+1} = A z_k + B y_k                                                                (7)

of a system in discrete time, or of one in continuous time that is sampled with a zero-order hold (`cont2discrete`).

Source: docs/theory/control.md, (7).
"""

from typing import Any

import numpy as np

from fem_mbs.elements.control.sensor import Sensor

SAME = 1e-9  # of a period: tolerance of a given period and that of the system


class LinearLaw:
    """(7) as a law of a controller, from a system of scipy.signal or python-control."""

    def __init__(self, owner: Any, system: Any, period: float | None) -> None:
        A, B, C, D, dt = _matrices(owner, system)
        if dt is None:
            from scipy.signal import cont2discrete

            owner.check(period is not None, "period", period, "s is needed: the system is in continuous time")
            self.period = owner.positive("period", period, "s")
            A, B, C, D, _ = cont2discrete((A, B, C, D), self.period)
        else:
            self.period = dt if period is None else owner.positive("period", period, "s")
            owner.check(abs(self.period - dt) <= SAME * dt, "period", period, f"s is not that of the system, {dt} s")
        self.A, self.B, self.C, self.D = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, C, D))
        self.start, self.outputs = np.zeros(len(self.A)), len(self.D)

    def __call__(self, t: float, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.C @ z + self.D @ y, self.A @ z + self.B @ y

    def fits(self, owner: Any) -> None:
        """Raise an error for a controller with other numbers of inputs or outputs."""
        given = sum(item.size if isinstance(item, Sensor) else 1 for item in owner.inputs)
        n, m = self.D.shape[1], self.D.shape[0]
        owner.check(given == n, "inputs", given, f"numbers are given to a system with {n} inputs")
        owner.check(len(owner.outputs) == m, "outputs", owner.outputs, f"does not fit a system with {m} outputs")


def _matrices(owner, system):
    """A, B, C, D and the period of a system, None of one in continuous time."""
    from scipy import signal

    if hasattr(system, "to_ss"):
        system = system.to_ss()
    elif not all(hasattr(system, name) for name in "ABCD"):
        try:  # a TransferFunction of python-control
            num, den = np.atleast_1d(system.num[0][0]), np.atleast_1d(system.den[0][0])
            dt, single = system.dt, len(system.num) == 1 and len(system.num[0]) == 1
        except (AttributeError, TypeError, IndexError, KeyError):
            message = "is not a function, nor a system of scipy.signal or python-control"
            owner.check(False, "function", system, message)
        owner.check(single, "function", system, "has several inputs or outputs: give its state-space form")
        return *signal.tf2ss(num, den), dt or None
    dt = system.dt
    owner.check(dt is not True, "function", system, "is in discrete time without a period: set its dt")
    return system.A, system.B, system.C, system.D, (float(dt) if dt else None)
