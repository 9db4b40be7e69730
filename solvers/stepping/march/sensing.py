"""What controllers and events of a run read: the table of sensors for compiled code, and those that are functions.

Compiled code reads outputs of elements; functions of these are evaluated here, in the order in which they
depend on each other: at samples, and after every step where an event asks for one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ModelError, ParameterError, SolverError, label
from fem_mbs.functions.signals import Held
from fem_mbs.jit import callback_address, invoke, python_callback
from fem_mbs.solvers.stepping.march import watch
from fem_mbs.solvers.stepping.march.watch import ARMED, BEGINS

if TYPE_CHECKING:
    from fem_mbs.element.base import Element
    from fem_mbs.element.watching import Watching
    from fem_mbs.jit import Entry
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.compiled import CompiledSystem


ROUND_OFF = 8 * np.finfo(float).eps  # of the level of an event: values that differ by less are on it


def named(item: "Watching") -> str:
    """What messages call a sensor, a controller or an event."""
    return label(item) if item.name else f"{type(item).__name__} of {item.quantity or 'a function'}"


def held_signals(system: "CompiledSystem", controllers: "Sequence[Watching]" = ()) -> "dict[Held, Element | Watching]":
    """Held signals among the functions of time of a system, and who uses them.

    Raises
    ------
    ParameterError
        One is an output of a controller that is none of these: nobody would set it.
    """
    found: dict[Held, Element | Watching] = {}
    for signal, owner in zip(system.signals, system.signal_owner):
        for held in Held.among(signal, system.initial.t) if Held.made else ():
            if held.owner is not None and held.owner not in controllers:
                message = f"is an output of {label(held.owner)}, which is not in the model: model.add(…) it"
                raise ParameterError(owner, "signal", held, message)
            found[held] = owner
    return found


class Sensing:
    """Values of the sensors of a run, and the events on them.

    Attributes
    ----------
    controllers, events : lists, in the order of the model
    sizes : dict, sizes of the tables of `stepping.march.watch`
    failure : SolverError or None
        What a function raised after a step.
    """

    def __init__(self, engine: "Engine") -> None:
        self.engine: Engine = engine
        watching = engine.system.watching
        self.controllers = [item for item in watching if item.role == "controller"]
        self.events = [item for item in watching if item.role == "event"]
        self.rows: dict[Watching, list[int]] = {}  # sensor -> its numbers among all
        self.table: list[tuple[int, int, int]] = []
        self.functions: list[Any] = []
        for item in watching:
            for sensor in [item] if item.role == "sensor" else item.sensors():
                self._number(engine.system, sensor)
        self.sizes = {"nm": len(self.table), "nw": len(self.events)}
        self.failure: SolverError | None = None
        self.asked: list[Watching] = []  # functions that events ask for after every step
        for event in self.events:
            self._find_switched(engine.system, event)
            for sensor in event.condition.all():
                if event.condition.function is not None and sensor.function and sensor not in self.asked:
                    self.asked.append(sensor)
        self._callback = python_callback(self._ask)

    @staticmethod
    def _find_switched(system, event):
        """Raise an error now, not at the event, if an element that it switches is not in the model."""
        present = {id(element) for group in system.groups for element in group.elements}
        for element in (action.switched for action in event.actions):
            if element is not None and id(element) not in present:
                message = f"{named(event)} switches {label(element)}, which is not in the model: model.add(…) it"
                raise ModelError(message, [element])

    def _number(self, system: "CompiledSystem", sensor: Any) -> None:
        """Give a sensor, and those it is made of, places in the table."""
        if sensor in self.rows:
            return
        for part in sensor.inputs:
            self._number(system, part)
        first = len(self.table)
        if sensor.function is not None:
            self.functions.append(sensor)
            self.table.append((-1, 0, 0))
        else:
            group, number = self._place(system, sensor)
            self.table += [(group, number, place) for place in sensor.places]
        self.rows[sensor] = list(range(first, len(self.table)))

    @staticmethod
    def _place(system, sensor):
        """Number of the group and number in it of the element of a sensor."""
        for number, group in enumerate(system.groups):
            if sensor.element in group.elements:
                return number, group.elements.index(sensor.element)
        raise ModelError(
            f"{named(sensor)} reads {label(sensor.element)}, which is not in the model: model.add(…) it",
            [sensor.element],
        )

    def parts(self) -> "dict[str, Entry]":
        """Compiled parts that the run needs."""
        return {"measure": watch.measure, **({"watch": watch.watch} if self.events else {})}

    def begin(self) -> None:
        """Fill the tables of the run, and look at the initial state."""
        a, run = self.engine.arrays, self.engine.run[0]
        a["sensors"][:] = np.array(self.table, np.int64).reshape(-1, 3)
        for i, event in enumerate(self.events):
            a["events"][i] = self.rows[event.condition][0], event.direction
            a["event_level"][i] = event.level, event.dead_band, ROUND_OFF * abs(event.level)
        if self.asked:
            run["ask_part"] = callback_address(self._callback)
        self.measure()
        self.look()
        a["event_armed"][:] = np.where(np.abs(a["event_phi"]) <= a["event_level"][:, 2], BEGINS, ARMED)

    def measure(self) -> None:
        """Values of all sensors at the present state.

        Raises
        ------
        SolverError
            A function raised, or returned what is not a finite number.
        """
        run = self.engine.run[0]
        invoke(int(run["measure_part"]), int(run["data_at"]), int(run["run_at"]))
        self.evaluate(self.functions)

    def look(self) -> None:
        """Note where the quantities of events are, after they were measured."""
        a = self.engine.arrays
        a["event_phi"][:] = a["measured"][a["events"][:, 0]] - a["event_level"][:, 0]

    def evaluate(self, functions: Sequence[Any]) -> None:
        """Values of sensors that are functions of others, which have been measured."""
        measured = self.engine.arrays["measured"]
        for sensor in functions:
            values = [self.value(part) for part in sensor.inputs]
            try:
                result = float(sensor.function(*values))
            except Exception as error:
                raise self._error(sensor, f"raised {type(error).__name__}: {error}") from error
            if not np.isfinite(result):
                raise self._error(sensor, f"returned {result}")
            measured[self.rows[sensor][0]] = result

    def value(self, sensor: "Watching") -> float | np.ndarray:
        """Value that was measured: a float, or an array of several numbers."""
        measured, rows = self.engine.arrays["measured"], self.rows[sensor]
        return float(measured[rows[0]]) if len(rows) == 1 else measured[rows].copy()

    def _error(self, sensor, what):
        t = float(self.engine.run[0]["t"])
        return SolverError(f"{named(sensor)}: its function {what} (t = {t:.9g} s)", time=t)

    def _ask(self, data, run):
        """What compiled code calls after a step: an exception may not leave it."""
        try:
            self.evaluate(self.asked)
        except SolverError as error:
            self.failure = self.failure or error
            self.engine.run[0]["crossed"] = -1
