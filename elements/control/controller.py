"""Sampled controllers: called at exact times, their outputs are held until the next.

    t_k = k T ,  k integer      y_k = sensors at t_k      (u_k, z_{k+1}) = function(t_k, y_k, z_k)                  (5)
    u(t) = u_k   for   k T + delay ≤ t < (k + 1) T + delay                                                         (6)

and outputs that are positions go on from one to the next, `control.sampled_motion`.

Steps end at all these times (`fem_mbs.solvers.stepping.march.schedule`).

Source: docs/theory/control.md, (5), (6).
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fem_mbs.element.base import Element
from fem_mbs.element.watching import Watching
from fem_mbs.elements.control.sampled_motion import SampledMotion
from fem_mbs.elements.control.sensor import Sensor
from fem_mbs.errors import ParameterError
from fem_mbs.functions.signals import Held, Signal


class LawError(Exception):
    """Fault of the values that a controller returned; the run reports it with name and time."""


class Controller(Watching):
    """A function that is called at sample times, with state; its outputs are held signals for loads and motors.

    Parameters
    ----------
    function : callable, scipy.signal system, or python-control system
        ``function(t, y)`` returns the output, or a sequence of outputs; y (n,) has the numbers of ``inputs`` one after
        the other. With ``state``: ``function(t, y, state)`` returns ``(outputs, state)``. A linear system in discrete
        time has the period in it; one in continuous time is sampled with ``period`` (zero-order hold).
    period : float > 0 [s], optional
        T; optional if the system defines it.
    inputs : sequence of Sensor, Held or Signal
        What the function reads. A held signal may be an output of another controller that was added before.
    outputs : int or sequence of str
        Number or names of the outputs.
    delay : float ≥ 0 [s]
        Time from a sample until its outputs act.
    state : any, optional
        At the start; a run works with a copy. It must be what ``copy.deepcopy`` copies.
    initial : float or sequence of float
        Outputs until the first sample acts.
    switches : dict, optional
        Name of output -> element that it switches when it acts: on from 0.5 upwards, else off. Grippers, locks,
        brakes; their state before the first sample is that of the element (``active``).
    name : str, optional

    Raises
    ------
    ParameterError
        Period not positive or not that of the system; inputs that are none; numbers of inputs or outputs that are not
        those of the system.

    Notes
    -----
    Samples are at multiples of the period, also in a run that begins at another time. Steps end there, so that between
    samples the loads are smooth: the run takes (T/n), n = ceil(T/h), in place of h where h does not divide the period.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> arm = fem.RigidBody(1.0, [0.1, 0.1, 0.1], name="arm")
    >>> angle = fem.Sensor(arm, "angle", axis=[0, 0, 1])
    >>> rate = fem.Sensor(arm, "angular_velocity", component="z")
    >>> pd = fem.Controller(lambda t, y: -9 * y[0] - 3 * y[1], 1e-3, [angle, rate], name="pd")
    >>> torque = fem.PointMoment(arm, [0, 0, 1], signal=pd.output())
    """

    role = "controller"

    def __init__(
        self,
        function: Any,
        period: float | None = None,
        inputs: Sequence[Any] = (),
        outputs: int | Sequence[str] = 1,
        *,
        delay: float = 0.0,
        state: Any = None,
        initial: Any = 0.0,
        switches: Mapping[str, Element] | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.function = function
        system = None
        if not callable(function) or hasattr(function, "to_ss") or hasattr(function, "A"):
            from fem_mbs.elements.control.linear import LinearLaw

            system = LinearLaw(self, function, period)
            self.check(state is None, "state", state, "is that of the system; remove it")
            state, period = system.start, system.period
        elif isinstance(function, type):
            raise ParameterError(self, "function", function, "is a type; make one, or give a function")
        else:
            self.as_function("function", function, "function(t, y)" + (", state" if state is not None else ""),
                             2 if state is None else 3)  # fmt: skip
        self.law: Callable = function if system is None else system
        self.period = self.positive("period", period, "s")
        self.inputs = self._as_inputs(inputs)
        self.outputs = self._as_names(outputs, system)
        self.delay = self.positive("delay", delay, "s", allow_zero=True)
        self.state = state
        starts = np.zeros(len(self.outputs)) + self.as_array("initial", initial, (), (len(self.outputs),))
        self.initial = starts
        self.switches = self._as_switches(switches)
        self.held = {n: Held(float(u), name=n) for n, u in zip(self.outputs, starts)}
        for held in self.held.values():
            held.owner = self
        self.motions: dict[str, SampledMotion] = {}
        if system is not None:
            system.fits(self)

    def _as_inputs(self, inputs):
        self.check(isinstance(inputs, (list, tuple)), "inputs", inputs, "must be a list of sensors")
        for item in inputs:
            good = isinstance(item, (Sensor, Signal))
            self.check(good, "inputs", item, "is not a Sensor, nor a signal; make one: Sensor(joint, 'angle')")
        return tuple(inputs)

    def _as_names(self, outputs, system):
        if system is not None and outputs == 1:
            outputs = system.outputs
        if isinstance(outputs, (int, np.integer)) and not isinstance(outputs, bool):
            outputs = [f"u{i + 1}" if outputs > 1 else "u" for i in range(self.as_integer("outputs", outputs))]
        good = isinstance(outputs, (list, tuple)) and len(outputs) > 0 and all(isinstance(n, str) for n in outputs)
        self.check(good, "outputs", outputs, "must be a number of outputs, or a list of their names")
        self.check(len(set(outputs)) == len(outputs), "outputs", outputs, "has a name twice")
        return tuple(outputs)

    def _as_switches(self, switches):
        found = dict(self.as_instance("switches", {} if switches is None else switches, Mapping, "a dict of elements"))
        for name, element in found.items():
            self.check(name in self.outputs, "switches", name, f"is no output; there is {', '.join(self.outputs)}")
            self.as_instance(f"switches[{name!r}]", element, Element, "an element of the model, such as an Attachment")
        return found

    def output(self, name: str | None = None) -> Held:
        """The signal of an output, for loads and motors; ``name`` may be left out where there is one.

        Raises
        ------
        ParameterError
            No such output.
        """
        if name is None:
            self.check(len(self.outputs) == 1, "name", name, f"is needed: one of {', '.join(self.outputs)}")
            name = self.outputs[0]
        return self.held[self.as_choice("name", name, self.outputs)]

    def motion(self, name: str | None = None) -> SampledMotion:
        """The signal of an output that is a position, for motors and drivers: it moves from sample to sample.

        What the law gives out is where the motion is when its next output acts, one period later; in between it is a
        cubic without jumps of place and rate. ``initial`` of the output is where it begins. ``name`` as for `output`.

        Raises
        ------
        ParameterError
            No such output.
        """
        name = str(self.output(name).name)
        if name not in self.motions:
            self.motions[name] = SampledMotion(self, name, self.held[name].initial)
        return self.motions[name]

    def sensors(self) -> list[Sensor]:
        """Sensors that it reads."""
        return [item for item in self.inputs if isinstance(item, Sensor)]

    def start(self) -> Any:
        """State at the start of a run, a copy."""
        return copy.deepcopy(self.state)

    def evaluate(self, t: float, y: np.ndarray, state: Any) -> tuple[np.ndarray, Any]:
        """Outputs (n,) and the next state of a sample.

        Raises
        ------
        LawError
            Wrong number of outputs, or some that are not finite.
        """
        if self.state is None:
            given = self.law(t, y)
        else:
            both = self.law(t, y, state)
            if not isinstance(both, tuple) or len(both) != 2:
                raise LawError(f"returned {both!r}, must return (outputs, state)")
            given, state = both
        try:
            u = np.atleast_1d(np.asarray(given, float)).ravel()
        except (TypeError, ValueError):
            raise LawError(f"returned {given!r}, which is not a number") from None
        if len(u) != len(self.outputs):
            raise LawError(f"returned {len(u)} numbers, and has {len(self.outputs)} outputs")
        if not np.isfinite(u).all():
            raise LawError(f"returned {u.tolist()}, which is not finite")
        return u, state
