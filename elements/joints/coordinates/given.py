"""Functions of time that joints, drivers and motors are given: what each may be, checked where it is given.

Source: docs/theory/joints.md.
"""

from typing import Any

import numpy as np

from fem_mbs.errors import Warnings, label
from fem_mbs.functions.signals import Combined, Held, Signal

ROUND_OFF = 1e-9  # of the largest value so far: smaller negative values count as zero


def driving_signal(
    element: Any, parameter: str, value: Any, *, may_jump: bool = False
) -> tuple[Signal, tuple[float, float, float]]:
    """The value as a `Signal`, and its jet at t = 0; a ParameterError unless it is finite and differentiable.

    ``may_jump``: held signals, which jump, are accepted.
    """
    signal = Signal.of(element.as_motion(parameter, value))
    try:
        start = signal.jet(0.0)
    except TypeError as error:
        element.check(False, parameter, value, f"cannot be differentiated: {error}")
    except Exception as error:
        element.check(False, parameter, value, f"raised {type(error).__name__} at t = 0: {error} (it or a derivative)")
    element.check(np.isfinite(start).all(), parameter, value, f"is not finite at t = 0: value and derivatives {start}")
    jumping = [held for held in Held.among(signal) if held.jumps] if Held.made and not may_jump else []
    message = (
        "jumps where a controller or an event sets it: a driver needs a smooth motion. Take controller.motion(…), "
        "which moves from sample to sample without jumps, a motor with a rate, or let it act through a load"
    )
    element.check(not jumping, parameter, jumping[0] if jumping else value, message)
    if not may_jump and _kinked(signal):
        Warnings.issue(
            f"{label(element)}: {parameter} is a monotone table, whose acceleration jumps at every point: inertia "
            'forces of this motion are wrong by their own size. Take fem.table(…, kind="cubic") for positions'
        )
    return signal, start


def _kinked(signal):
    """True if a motion is made of a monotone table, by itself or in sums and products."""
    if isinstance(signal, Signal):
        return signal.kinked or _kinked(signal.value)
    return isinstance(signal, Combined) and any(_kinked(part) for part in signal.parts)


class _NeverNegative:
    """A function of time that raises where it is negative beyond round-off; no kernel reads its derivatives."""

    def __init__(self, parameter: str, function: Signal, unit: str) -> None:
        self.parameter, self.function, self.unit = parameter, function, unit
        self.largest = 0.0  # value so far, whose round-off is no sign

    def __call__(self, t: float) -> float:
        value = self.function(t)
        self.largest = max(self.largest, abs(value) if value > 0.0 else 0.0)
        if value < -ROUND_OFF * self.largest:
            raise ValueError(f"{self.parameter} = {value:.6g} {self.unit} must be ≥ 0 at all times")
        return max(value, 0.0)

    @staticmethod
    def zero(t: float) -> float:
        """Return the derivative, which is not used."""
        return 0.0


def never_negative(element: Any, parameter: str, value: Any, unit: str) -> Signal:
    """The value, a number or a function of time, as a `Signal` that stops a run where it is negative.

    Raises
    ------
    ParameterError
        A negative number; a function that is negative, not finite or not to be called at t = 0.
    """
    signal = Signal.of(element.as_motion(parameter, value))
    if signal.constant:
        return Signal(element.number(parameter, signal(0.0), unit, at_least=0))
    checked = _NeverNegative(parameter, signal, unit)
    try:
        start = checked(0.0)
    except ValueError as error:
        element.check(False, parameter, value, f"is not to be used at t = 0: {error}")
    except Exception as error:
        element.check(False, parameter, value, f"raised {type(error).__name__} at t = 0: {error}")
    element.check(np.isfinite(start), parameter, value, f"is not finite at t = 0: {start}")
    return Signal(checked, checked.zero, checked.zero)
