"""The switches of a run that are not those of an event: at given times, and by outputs of controllers.

Steps end at the times (`fem_mbs.solvers.stepping.march.schedule`). Of elements that are switched at one time those that
go off go first, so that one can take over from another. At the end of a run nothing is switched.

Source: docs/theory/switches.md.
"""

from typing import TYPE_CHECKING

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.stepping.march.switch import refuse, switch_with_companions

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.solvers.stepping.march.schedule import Schedule

ON = 0.5  # outputs of controllers from here upwards switch on


def times_of(engine: "Engine") -> "list[tuple[float, bool, Element]]":
    """When elements are switched after the begin of a run [s], whether on, and which; in the order of what happens.

    Raises
    ------
    ParameterError
        An element that cannot be switched.
    """
    found, start = [], engine.system.initial.t
    companions = {part for element in engine.system.elements for part in element.companions}
    for element in engine.system.elements:
        times = [(t, on, element) for t, on in element.switch_times() if t > start and element not in companions]
        if times:
            refuse(engine, element)
        found += times
    return sorted(found, key=lambda item: item[:2])


class Switching:
    """Switches elements of a run when the schedule is at their times.

    Parameters
    ----------
    schedule : Schedule
    times : list of (t [s], on, element)
        See `times_of`.

    Raises
    ------
    ParameterError, ModelError
        What a controller or an event switches cannot be, or is not in the model.
    """

    def __init__(self, schedule: "Schedule", times: "list[tuple[float, bool, Element]]") -> None:
        self.schedule, self.engine, self.times, self.done = schedule, schedule.engine, times, 0
        self.wanted: list[tuple[bool, Element]] = []  # by controllers, at the present time
        owners = [(c, "switches", element) for c in schedule.controllers for element in c.switches.values()]
        actions = [(event, action) for event in schedule.events for action in event.actions]
        owners += [(event, "action", a.switched) for event, a in actions if a.switched is not None]
        for owner, parameter, element in owners:
            if element not in self.engine.system.elements:
                raise ParameterError(owner, parameter, element, "is not in the model: model.add(…) it")
            for part in (element, *element.companions):
                refuse(self.engine, part)

    def next(self) -> list[float]:
        """The next time, if there is one."""
        return [self.times[self.done][0]] if self.done < len(self.times) else []

    def act(self, t: float, slack: float) -> None:
        """Switch what is due at a time [s], unless the run ends there; SolverError as of `stepping.march.switch`."""
        if self.done == len(self.times) or t >= self.engine.t_end - slack:
            return
        while self.done < len(self.times) and self.times[self.done][0] <= t + slack:
            _, on, element = self.times[self.done]
            self.done += 1
            self._switch(t, element, on, "in its intervals")

    def want(self, element: "Element", value: float) -> None:
        """Note what the output of a controller asks for."""
        self.wanted.append((value >= ON, element))

    def act_wanted(self, t: float) -> None:
        """Switch what controllers have asked for; SolverError as of `stepping.march.switch`."""
        wanted, self.wanted = sorted(self.wanted, key=lambda item: item[0]), []
        for on, element in wanted:
            self._switch(t, element, on, "by its controller")

    def _switch(self, t, element, on, why):
        """Switch an element, and note it if it was not so already."""
        if switch_with_companions(self.engine, element, on):
            self.schedule.journal.event(t, element.name, f"{'on' if on else 'off'} {why}")
