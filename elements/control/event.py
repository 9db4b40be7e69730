"""Events: a condition that crosses zero inside a step, and actions at that time.

    φ(t) = y(t) − level ,    event where φ changes its sign, upwards (+1), downwards (−1), or either (0)            (1)

What is on its level at the start of a run is crossed where it leaves the level in that direction.

It fires where it is armed: at the start, and again, unless ``once``, when |φ| has been above the dead band. The time is
found by taking the step again with other sizes (`fem_mbs.solvers.stepping.march.crossing`).

Source: docs/theory/events.md, (3).
"""

from collections.abc import Callable, Sequence
from typing import Any

from fem_mbs.arguments.checked import Checked
from fem_mbs.element.base import Element
from fem_mbs.element.watching import Watching
from fem_mbs.elements.control.sensor import Sensor
from fem_mbs.functions.signals import Held

DIRECTIONS = {"up": 1, "down": -1, "either": 0}


class Action(Checked):
    """Action of an event. A subclass defines ``act(moment)``, given a `Moment` of the run, and ``describe()``.

    Class attributes
    ----------------
    resets : bool
        Whether forces may jump, so that the memory of the method begins anew.

    Attributes
    ----------
    held : Held or None, signal that it sets
    """

    resets = True
    held: Held | None = None

    @property
    def switched(self) -> Element | None:
        """Element that it switches on or off, which must be in the model; None for other actions."""
        return None

    def act(self, moment: Any) -> None:
        """Perform the action at the moment of an event."""
        raise NotImplementedError(f"{type(self).__name__} does not define act(self, moment)")

    def describe(self) -> str:
        """Describe the action for the table of events."""
        raise NotImplementedError(f"{type(self).__name__} does not define describe(self)")


class Stop(Action):
    """End the run.

    Parameters
    ----------
    reason : str
        Reported by ``result.status`` and the report.

    Examples
    --------
    >>> end = Stop("the door is closed")
    """

    resets = False

    def __init__(self, reason: str) -> None:
        self.reason = self.as_text("reason", reason)

    def act(self, moment: Any) -> None:
        moment.stop(self.reason)

    def describe(self) -> str:
        return f"stop: {self.reason}"


class SetTo(Action):
    """Give a held signal another value: a set point, a load on or off.

    Parameters
    ----------
    held : Held
    value : float

    Examples
    --------
    >>> import fem_mbs as fem
    >>> brake = fem.Held(0.0, name="brake")
    >>> on = SetTo(brake, 1.0)
    """

    def __init__(self, held: Held, value: float) -> None:
        self.held: Held = self.as_instance("held", held, Held, "a Held signal: fem.Held(0.0)")
        self.check(held.owner is None, "held", held, "is an output of a controller, which sets it; make a Held")
        self.value = self.number("value", value)

    def act(self, moment: Any) -> None:
        moment.set(self.held, self.value)

    def describe(self) -> str:
        return f"{self.held.name or 'held signal'} = {self.value:g}"


class SwitchOn(Action):
    """Switch a joint, driver, load or force on: lock, attach, switch on.

    Parameters
    ----------
    element : Element
        Of the model, see `Model.add`.

    Raises
    ------
    ParameterError
        A contact or an element with mass, which cannot be switched.
    ModelError
        When a run starts: the element is not in the model.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> pin = fem.Fixed.at(fem.Node6(), fem.Node6(), [0, 0, 0], name="pin")
    >>> lock, free = SwitchOn(pin), SwitchOff(pin)
    """

    on = True
    resets = False  # the switch does so itself

    def __init__(self, element: Element) -> None:
        self.element = self.as_instance("element", element, Element, "an element of the model")
        self.check(element.always_on is None, "element", element, f"cannot be switched on and off: {element.always_on}")

    @property
    def switched(self) -> Element:
        return self.element

    def act(self, moment: Any) -> None:
        moment.switch(self.element, self.on)

    def describe(self) -> str:
        return f"{self.element.name} {'on' if self.on else 'off'}"


class SwitchOff(SwitchOn):
    """Switch a joint, driver, load or force off: unlock, detach; as `SwitchOn`."""

    on = False


class Call(Action):
    """A function of the user as an action."""

    def __init__(self, function: Callable) -> None:
        self.function = self.as_function("function", function, "function(moment)", 1)

    def act(self, moment: Any) -> None:
        self.function(moment)

    def describe(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)


class Event(Watching):
    """Something that is done when a quantity crosses a value, at the time of the crossing inside a step.

    Parameters
    ----------
    condition : Sensor
        One number; of a function of sensors make a `Sensor` (``Sensor(function, inputs=[…])``).
    action : Stop, SetTo, SwitchOn, SwitchOff, callable, or a list of them
        A function is given a `Moment`: ``moment.t``, ``moment.read(sensor)``, ``moment.set(held, value)``,
        ``moment.switch(element, on)``, ``moment.stop(reason)``.
    level : float
        The value that is crossed, in units of the sensor.
    direction : {"either", "up", "down"} or {0, 1, −1}
        Which crossings count.
    once : bool
        Only the first crossing of a run.
    dead_band : float ≥ 0
        Without ``once``: the sensor must have been farther from the level than this before it fires again.
    name : str, optional

    Raises
    ------
    ParameterError
        A condition with several numbers; an object that is no action.

    Notes
    -----
    A sensor that is on the level when a run begins fires where it leaves the level in the direction of the event: a
    speed at once in what begins at rest, with level 0. Where that is not meant choose the other direction, or a level
    next to it.

    Two crossings of the same sensor within one step are not seen. A condition that is a function in Python is evaluated
    after every step (some µs each); other conditions cost no call of Python until they are met.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> ball = fem.PointMass(1.0, position=[0, 0, 1], name="ball")
    >>> height = fem.Sensor(ball, "position", component="z")
    >>> half_way = fem.Event(height, fem.Stop("half way down"), level=0.5, direction="down", name="half way")
    """

    role = "event"

    def __init__(
        self,
        condition: Sensor,
        action: Any,
        *,
        level: float = 0.0,
        direction: str | int = "either",
        once: bool = True,
        dead_band: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.condition = self.as_instance("condition", condition, Sensor, "a Sensor, such as Sensor(joint, 'angle')")
        self.check(condition.size == 1, "condition", condition, f"has {condition.size} numbers; choose a component")
        self.action = action
        self.actions = [self._as_action(a) for a in (action if isinstance(action, (list, tuple)) else [action])]
        self.check(len(self.actions) > 0, "action", action, "is empty: there is nothing to do")
        self.level = self.number("level", level)
        chosen = self.as_choice("direction", direction, (*DIRECTIONS, *DIRECTIONS.values()))
        self.direction = int(DIRECTIONS.get(chosen, chosen))
        self.once = self.as_flag("once", once)
        self.dead_band = self.positive("dead_band", dead_band, "", allow_zero=True)

    def _as_action(self, action):
        if isinstance(action, Action):
            for name, call in {"act": "act(self, moment)", "describe": "describe(self)"}.items():
                defined = getattr(type(action), name) is not getattr(Action, name)
                self.check(defined, "action", action, f"does not define {call}, which a run would call")
            return action
        good = callable(action) and not isinstance(action, (type, Held))
        self.check(good, "action", action, "is not an action, nor a function; make one: Stop('reason')")
        self.as_function("action", action, "function(moment)", 1)
        return Call(action)

    def sensors(self) -> Sequence[Sensor]:
        """Sensors that it reads."""
        return [self.condition]

    def describe(self) -> str:
        """Describe the action."""
        return "; ".join(action.describe() for action in self.actions)
