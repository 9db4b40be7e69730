"""The moment of an event, as its actions see it."""

import math
import numbers
from typing import TYPE_CHECKING

from fem_mbs.element.base import Element
from fem_mbs.errors import FemMbsError, label, show
from fem_mbs.functions.signals import Held

if TYPE_CHECKING:
    import numpy as np

    from fem_mbs.element.watching import Watching
    from fem_mbs.solvers.stepping.march.schedule import Schedule
    from fem_mbs.system.state import State


class Moment:
    """What an action of an event can do and read.

    Attributes
    ----------
    t : float [s]
    name : str, of the event
    """

    def __init__(self, schedule: "Schedule", event: "Watching") -> None:
        self._schedule, self.t, self.name = schedule, schedule.t, event.name

    @property
    def state(self) -> "State":
        """State of the model at this time, a copy."""
        return self._schedule.engine.state()

    def read(self, sensor: "Watching") -> "float | np.ndarray":
        """Value of a sensor that is in the model: a float, or an array of several numbers.

        Raises
        ------
        FemMbsError
            The sensor is not in the model.
        """
        sensing = self._schedule.sensing
        if sensor not in sensing.rows:
            raise FemMbsError(f"{self.name}: this sensor is not in the model: model.add(…) it")
        sensing.measure()
        return sensing.value(sensor)

    def set(self, held: Held, value: float) -> None:
        """Give a held signal another value.

        Raises
        ------
        FemMbsError
            It is an output of a controller, or no held signal; the value is not a finite number.
        """
        if not isinstance(held, Held):
            raise FemMbsError(f"{self.name}: {held!r} is not a Held signal: fem.Held(0.0)")
        if held.owner is not None:
            raise FemMbsError(f"{self.name}: {held!r} is an output of {label(held.owner)}, which sets it")
        if not isinstance(value, numbers.Real) or not math.isfinite(value):
            raise FemMbsError(f"{self.name}: {held!r} cannot be {value!r}: it takes finite numbers")
        self._schedule.helds.setdefault(held, self)
        held.set(float(value))

    def switch(self, element: Element, on: bool) -> None:
        """Switch a joint (with what its options have made), driver, load or force on or off.

        Raises
        ------
        FemMbsError
            It is no element, or one that has no switch, or is not in the model.
        """
        if not isinstance(element, Element):
            raise FemMbsError(f"{self.name}: {show(element)} is not an element of the model: model['name'] gives one")
        from fem_mbs.solvers.stepping.march.switch import switch_with_companions

        switch_with_companions(self._schedule.engine, element, on)

    def stop(self, reason: str) -> None:
        """End the run; ``result.status`` states the reason."""
        self._schedule.ended = f"{reason} (event '{self.name}' at t = {self.t:.9g} s)"
