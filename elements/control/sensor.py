"""Input of a controller or an event: an output of an element, the motion of a frame, a function of other sensors.

A sensor of a motion brings an element that puts it out (`motion`), so that compiled code finds it like any other output
and results have it under the name of the sensor.

Source: docs/theory/control.md.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.deprecated import Deprecated
from fem_mbs.element.base import Element
from fem_mbs.element.watching import Watching
from fem_mbs.elements.control.motion import QUANTITIES, FrameAngle, FrameMotion

XYZ = {"x": 0, "y": 1, "z": 2}


class Sensor(Watching):
    """A number, or a few, that controllers and events read.

    Parameters
    ----------
    source : element, Frame, Node, body or callable
        An element of the model with outputs (a joint, a spring, a beam, …); a frame, node or body whose motion is
        measured; or a function of other sensors, ``function(*values)``, which returns a number.
    quantity : str, optional
        Of an element: the name of an output ("angle", "force", …). Of a frame: "position" [m], "velocity" [m/s],
        "acceleration" [m/s²], "angle" [rad], "angular_velocity" [rad/s], "angular_acceleration" [rad/s²].
    component : {"x", "y", "z"} or int, optional
        One component of a quantity with several; default: all of them.
    axis : (3,), unit, optional
        Of "angle": the axis, in inertial axes or those of ``relative_to``. Full turns are counted.
    relative_to : Frame, Node or body, optional
        Measure the motion from there, in its axes; default: the inertial frame.
    inputs : sequence of Sensor
        Of a function: its arguments, a number of each sensor with one number, else an array.
    name : str, optional
        Of a motion: also its name in results, ``result[name].value``.

    Raises
    ------
    ParameterError
        The element has no such output; a component that there is not; an angle without axis; options that the source
        does not have.

    Notes
    -----
    A controller reads the state at the end of the last step. Accelerations and forces are those of that step, before
    the controller changes what acts.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> arm = fem.RigidBody(1.0, [0.1, 0.1, 0.1], name="arm")
    >>> angle = fem.Sensor(arm, "angle", axis=[0, 0, 1], name="arm angle")
    >>> height = fem.Sensor(arm.frame([0, 0.5, 0]), "position", component="y")
    >>> error = fem.Sensor(lambda angle: 0.3 - angle, inputs=[angle])
    """

    role = "sensor"

    def __init__(
        self,
        source: Any,
        quantity: str | None = None,
        *,
        component: str | int | None = None,
        axis: ArrayLike | None = None,
        relative_to: FrameLike | None = None,
        inputs: Sequence[Any] = (),
        name: str | None = None,
    ) -> None:
        self.name = name
        self.source, self.quantity, self.component, self.axis, self.relative_to = (
            source, quantity, component, axis, relative_to,
        )  # fmt: skip
        self.function: Callable | None = None
        self.element: Any = None  # whose output it is
        self.elements: tuple = ()  # that it brings
        self.places: tuple[int, ...] = (0,)  # among the outputs of the element
        self.as_text("quantity", quantity, optional=True)
        self.check(isinstance(inputs, (list, tuple)), "inputs", inputs, "must be a list of sensors")
        if isinstance(source, Element):
            self.quantity = quantity = Deprecated.output(type(source).__name__, quantity, source.outputs)
        if isinstance(source, Element) and quantity in source.outputs:
            self.inputs = self._no_inputs(inputs)
            self._no_axes("of an element is defined by the element")
            self._of_output(source)
        elif hasattr(source, "frame") and not isinstance(source, type):
            self.inputs = self._no_inputs(inputs)
            self._of_motion()
        elif isinstance(source, Element):
            has = ", ".join(source.outputs) or "none"
            self.check(False, "quantity", quantity, f"is not an output of the element; it has: {has}")
        else:
            self._of_function(inputs)

    def _no_inputs(self, inputs):
        self.check(len(inputs) == 0, "inputs", inputs, "are for a function; this source has none")
        return ()

    def _no_axes(self, why):
        for option in ("axis", "relative_to"):
            value = getattr(self, option)
            self.check(value is None, option, value, f"is for motions of frames; a quantity {why}")

    def _of_output(self, element):
        count, self.unit = element.outputs[self.quantity]
        first = 0
        for name, (size, _) in element.outputs.items():
            if name == self.quantity:
                break
            first += size
        self.element = element
        self.places = tuple(first + i for i in self._components(count))

    def _of_motion(self):
        known = (*QUANTITIES, "angle")
        quantity = self.as_choice("quantity", self.quantity, known)
        if quantity == "angle":
            self.check(self.axis is not None, "axis", self.axis, "is needed for an angle, such as axis=[0, 0, 1]")
            motion: Any = FrameAngle(self.source, self.axis, relative_to=self.relative_to, name=self.name)
        else:
            self.check(self.axis is None, "axis", self.axis, 'is for quantity="angle"; take a component')
            motion = FrameMotion(self.source, quantity, relative_to=self.relative_to, name=self.name)
        self.element, self.elements, (count, self.unit) = motion, (motion,), motion.outputs["value"]
        self.places = tuple(self._components(count))

    def _components(self, count):
        """Numbers of the components that are read, of a quantity with so many."""
        chosen = self.component
        if chosen is None:
            return range(count)
        if isinstance(chosen, str) and count == 3:
            return [XYZ[self.as_choice("component", chosen, tuple(XYZ))]]
        self.check(not isinstance(chosen, str), "component", chosen, f"has no meaning: '{self.quantity}' has {count}")
        index = self.as_integer("component", chosen, at_least=0)
        self.check(index < count, "component", chosen, f"is not there: '{self.quantity}' has {count}, from 0")
        return [index]

    def _of_function(self, inputs):
        for option in ("quantity", "component"):
            value = getattr(self, option)
            self.check(value is None, option, value, "is for elements and frames; a function gives a number")
        self._no_axes("of a function has none")
        for sensor in inputs:
            self.check(isinstance(sensor, Sensor), "inputs", sensor, "is not a Sensor")
        self.inputs = tuple(inputs)
        self.unit = ""
        self.as_function(
            "source", self.source, f"an element, a frame, or a function of {len(inputs)} values", len(inputs)
        )
        self.check(len(inputs) > 0, "inputs", inputs, "is empty: a function needs sensors whose values it is given")
        self.function = self.source

    @property
    def size(self) -> int:
        """Number of its components."""
        return len(self.places)

    def all(self) -> list["Sensor"]:
        """The sensor after those that it is made of."""
        return [*(s for sensor in self.inputs for s in sensor.all()), self]

    def of(self, result: Any) -> np.ndarray:
        """Its history in a result: (k,), or (k, n) for several numbers, one row per saved step.

        A motion must have been in the model of the run: by ``model.add(sensor)``, or with a controller or an event.

        Parameters
        ----------
        result : Results

        Raises
        ------
        KeyError
            The element is not in the result.
        """
        if self.function is not None:
            columns = [sensor.of(result) for sensor in self.inputs]
            return np.array([float(self.function(*values)) for values in zip(*columns)])
        values = np.asarray(getattr(result[self.element.name], "value" if self.elements else str(self.quantity)))
        if values.ndim == 1:
            return values
        first = self.places[0]
        if self.elements:
            return values[:, list(self.places)] if self.size > 1 else values[:, first]
        begin = 0
        for name, (size, _) in self.element.outputs.items():
            if name == self.quantity:
                break
            begin += size
        places = [place - begin for place in self.places]
        return values[:, places] if self.size > 1 else values[:, places[0]]
