"""Functions of time: what drivers and loads follow, with exact first and second derivatives.

A signal is anything that can be called with a time. Derivatives come, in this order, from functions the user gives
(`Signal`), or by evaluating the function on truncated Taylor series (`fem_mbs.functions.jets.Jet`): NumPy functions,
arithmetic and powers are differentiated exactly. At a kink or a jump the derivatives are those that follow in time.
Ready-made motions are in `fem_mbs.functions.profiles`. Signals are evaluated once per step, outside compiled code, so
they may be any Python function. A `Held` signal keeps its value until a controller or an event gives it another.
"""

import contextlib
import functools
import itertools
import math
import numbers
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.arguments.representation import short
from fem_mbs.errors import ParameterError
from fem_mbs.functions.jets import Jet


class Signal:
    """A function of time with its derivatives.

    Parameters
    ----------
    value : float or callable
        Constant, or function of t [s]. It may call other signals.
    rate, acceleration : callable, optional
        First and second derivative; by default they are found exactly by Taylor arithmetic. With ``rate`` alone the
        acceleration is found from it.

    Raises
    ------
    TypeError
        ``value`` is neither a number nor a function; ``acceleration`` without ``rate``.

    Notes
    -----
    Signals and profiles can be added, multiplied, … and put into NumPy functions: ``2 * ramp(duration=0.5) + 0.1``,
    ``np.sin(angle)`` are signals again.

    At a kink (``np.minimum(t, 0.2)``, ``abs``, an ``if``) rate and acceleration are the ones that follow in time. A
    driver with a kink changes its speed in no time, which is an impact; `fem_mbs.smooth_start`, `fem_mbs.trapezoidal`,
    `fem_mbs.ramp` and `fem_mbs.table` have none.

    Examples
    --------
    >>> import numpy as np
    >>> Signal(lambda t: 0.8 * np.sin(3 * t)).jet(0.0)
    (0.0, 2.4000000000000004, 0.0)
    >>> Signal(lambda t: np.minimum(t, 0.2)).jet(0.2)
    (0.2, 0.0, 0.0)
    """

    kinked = False  # its second derivative jumps at many points, see `fem_mbs.functions.profiles`
    size = 1  # numbers that a controller reads of it

    def __init__(
        self, value: float | Callable, rate: Callable | None = None, acceleration: Callable | None = None
    ) -> None:
        if not callable(value) and not isinstance(value, numbers.Real):
            raise TypeError(f"a number or a function of time is needed, not {value!r}")
        for name, function in (("rate", rate), ("acceleration", acceleration)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function of time, not {function!r}")
        if acceleration is not None and rate is None:
            raise TypeError("acceleration is given without rate; give both, or rate alone, or none")
        self.value: Any = value  # float where `constant`
        self.rate, self.acceleration = rate, acceleration
        self.constant = not callable(value)

    def __repr__(self):
        return f"{type(self).__name__}({short(self.value)})"

    @classmethod
    def of(cls, value: Any) -> "Signal":
        """The signal itself, or a new one around a number or function."""
        return value if isinstance(value, Signal) else cls(value)

    # sums, products and NumPy functions of signals are signals

    def __array_ufunc__(self, function, method, *parts, **options):
        if method != "__call__" or options or not all(callable(p) or isinstance(p, numbers.Real) for p in parts):
            return NotImplemented
        return Signal(Combined(function, parts))

    def __add__(self, other):
        return np.add(self, other)

    def __radd__(self, other):
        return np.add(other, self)

    def __sub__(self, other):
        return np.subtract(self, other)

    def __rsub__(self, other):
        return np.subtract(other, self)

    def __mul__(self, other):
        return np.multiply(self, other)

    def __rmul__(self, other):
        return np.multiply(other, self)

    def __truediv__(self, other):
        return np.divide(self, other)

    def __rtruediv__(self, other):
        return np.divide(other, self)

    def __pow__(self, other):
        return np.power(self, other)

    def __neg__(self):
        return np.negative(self)

    def __call__(self, t):
        """Value at time t [s]; of a `Jet` its value and derivatives, so that signals can be parts of others."""
        if not isinstance(t, Jet):
            if isinstance(t, np.ndarray) and t.ndim:
                raise TypeError("a signal takes one time, not an array: [signal(t) for t in times]")
            return float(self.value) if self.constant else float(self.value(t))
        if self.constant:
            return float(self.value)
        if self.rate is None:
            return self.value(t)
        return t.chain(*self.jet(t.value))

    def jet(self, t: float) -> tuple[float, float, float]:
        """Value, first and second derivative at time t, as floats; those that follow t at a kink.

        Raises
        ------
        TypeError
            If the function cannot be differentiated (it leaves NumPy); give ``rate`` and ``acceleration`` then.
        """
        if self.constant:
            return float(self.value), 0.0, 0.0
        if self.rate is None:
            result = Jet.of(self.value(Jet(t, 1.0)))
            return result.value, result.d, result.dd
        if self.acceleration is None:
            rate = Jet.of(self.rate(Jet(t, 1.0)))
            return float(self.value(t)), rate.value, rate.d
        return float(self.value(t)), float(self.rate(t)), float(self.acceleration(t))

    def integral(self, initial: float = 0.0, *, at: float = 0.0) -> "Signal":
        """What a rate adds up to: the angle of a motor from its speed, for any function of time.

        Parameters
        ----------
        initial : float
            Value at the time ``at``; for a driver the angle or distance of the initial pose.
        at : float [s]

        Returns
        -------
        Signal
            Its rate and acceleration are value and rate of this one. Its value is found by adaptive quadrature to about
            1e-12 of the largest rate times the time, once per step; a `Profile` has it in closed form.

        Examples
        --------
        >>> angle = Signal(lambda t: 30.0 + 2.0 * t).integral()
        >>> round(angle(1.0), 9)
        31.0
        """
        if Held.made and Held.among(self, float(at)):
            raise TypeError("a held signal has no integral: past values are not kept. Let the controller add it up")
        return Signal(_Quadrature(self, float(initial), float(at)), self, lambda t: self.jet(t)[1])


class _Thread(threading.local):
    """What held signals know of the thread that asks them: each run is in one thread."""

    asked: "list[Held] | None" = None  # those that were evaluated, while `Held.among` listens
    as_at_start = False  # whether they give their initial values


_thread = _Thread()


class Held(Signal):
    """A signal that keeps its value until a controller or an event gives it another.

    Loads and motors take it wherever they take a function of time, also as a part of other functions: ``2 * u``,
    ``lambda t: u(t) * np.sin(t)``. Drivers of positions raise an error: they need a motion without jumps.

    Parameters
    ----------
    initial : float
        Value at the start of every run, and outside of runs.
    name : str, optional
        Shown in the table of events.

    Attributes
    ----------
    now : float
        Present value in the run of this thread; runs alone change it, with `set`.
    jumps : bool
        True if quantities derived from it jump with it; those of a motion that continues smoothly do not.

    Raises
    ------
    ParameterError
        ``initial`` is not a finite number.

    Examples
    --------
    >>> brake = Held(0.0, name="brake")
    >>> torque = -3.0 * brake
    >>> torque(0.5)
    -0.0
    """

    made = False  # whether this program has any: runs look for them only then
    changes = 0  # of any held signal: who keeps values of a time asks whether they are old
    _count = itertools.count(1)
    jumps = True

    def __init__(self, initial: float = 0.0, *, name: str | None = None) -> None:
        owner = Named("Held", name)
        initial = owner.number("initial", initial)
        super().__init__(initial)
        self.constant = False
        self.initial, self.name = initial, owner.name
        self._values: dict[int, float] = {}  # by thread, where it is not the initial one
        self.owner: Any = None  # the controller that sets it, if one does
        Held.made = True

    @property
    def value(self) -> Any:
        """Value at the start of every run; `set` changes the present one, ``now``."""
        return self.initial

    @value.setter
    def value(self, value: Any) -> None:
        if "initial" in self.__dict__:
            why = "is fixed once it is made: call set(value) in a controller or an event of a run, or make a new Held"
            raise AttributeError(f"{self!r}: value {why}")

    @property
    def now(self) -> float:
        """Present value in the run of this thread."""
        return self.initial if _thread.as_at_start else self._values.get(threading.get_ident(), self.initial)

    def set(self, value: float) -> None:
        """Give it another value; for runs, which put the initial one back at their end."""
        if value == self.initial:
            self._values.pop(threading.get_ident(), None)
        else:
            self._values[threading.get_ident()] = float(value)
        Held.changes = next(Held._count)

    def __call__(self, t):
        if _thread.asked is not None:
            _thread.asked.append(self)
        return self.now

    def jet(self, t: float) -> tuple[float, float, float]:
        """Value and zeros: the value jumps at samples and events, where no step goes across."""
        return self(t), 0.0, 0.0

    def integral(self, initial: float = 0.0, *, at: float = 0.0) -> Signal:
        """Raise an error: past values are not kept.

        Raises
        ------
        TypeError
            Always; let the controller add up what it gives out.
        """
        raise TypeError("a held signal has no integral: past values are not kept. Let the controller add it up")

    def __getstate__(self):
        return self.__dict__ | {"_values": {}}

    def __setstate__(self, state):
        self.__dict__.update(state)
        Held.made = True  # in a process that has made none

    def __repr__(self):
        return f"Held({self.name or self.initial!r})"

    @staticmethod
    def among(signal: Callable, t: float = 0.0) -> "list[Held]":
        """The held signals that a function of time evaluates at t [s]."""
        before, _thread.asked = _thread.asked, []
        Held.changes = next(Held._count)  # what others keep of this time is not asked
        try:
            signal(t)
            return list(dict.fromkeys(_thread.asked))
        finally:
            _thread.asked = before

    @staticmethod
    @contextlib.contextmanager
    def as_at_start() -> Iterator[None]:
        """All held signals give their initial values meanwhile: functions of time as the model has them."""
        _thread.as_at_start = True
        Held.changes = next(Held._count)
        try:
            yield
        finally:
            _thread.as_at_start = False
            Held.changes = next(Held._count)


class Combined:
    """A function of the values of signals, functions of time and numbers."""

    def __init__(self, function: Callable, parts: Any) -> None:
        self.function, self.parts = function, parts

    def __call__(self, t):
        return self.function(*(part(t) if callable(part) else part for part in self.parts))


class _Quadrature:
    """Integral of a rate from a time on. Whole panels are kept, so that a value depends on its time alone."""

    PANEL = 0.1  # s; a matter of speed: the quadrature of each panel is adaptive

    def __init__(self, rate: Callable, initial: float, at: float) -> None:
        self.rate, self.at = rate, at
        self.sums = {1: [initial], -1: [initial]}  # at the ends of the panels after and before ``at``

    def __getstate__(self):  # sums that were found meanwhile are no part of it
        return self.__dict__ | {"sums": {side: sums[:1] for side, sums in self.sums.items()}}

    def __call__(self, t):
        side = 1 if t >= self.at else -1
        sums, whole = self.sums[side], math.floor(abs(t - self.at) / self.PANEL)
        while len(sums) <= whole:
            sums.append(sums[-1] + self._part(side, len(sums) - 1, self.at + side * len(sums) * self.PANEL))
        return sums[whole] + self._part(side, whole, t)

    def _part(self, side, panel, t):
        """Integral from the beginning of a panel to t."""
        from scipy.integrate import quad

        begin = self.at + side * panel * self.PANEL
        return quad(self.rate, begin, t, epsabs=1e-15, epsrel=1e-12, limit=100, full_output=1)[0]


NOT_YET = (math.nan, 0, 0), np.zeros(3)


class VectorOfTime:
    """A vector function of time [t -> (3,)], scaled; it is called once per time for all components.

    Derivatives of its components are declared 0, because no kernel of a load or of a weight reads them: any
    function is sufficient.

    Parameters
    ----------
    owner : what has the parameter, for messages
    parameter : str
    vector : (3,) or callable t -> (3,)
    scale : Signal, optional
    """

    def __init__(self, owner: Any, parameter: str, vector: Any, scale: Signal | None = None) -> None:
        self.vector, self.owner, self.parameter = vector, owner, parameter
        self.scale = Signal(1.0) if scale is None else scale
        self.last = NOT_YET  # when and in which thread it was called last, and the value

    def __getstate__(self):
        return self.__dict__ | {"last": NOT_YET}  # threads of another process are others

    def evaluate(self, t: float) -> np.ndarray:
        """Value (3,) at time t."""
        at = (t, Held.changes, threading.get_ident())  # held signals change between two calls at one time
        last, value = self.last
        if last != at:
            now = self.vector(t) if callable(self.vector) else self.vector
            value = self.owner.as_array(self.parameter, now, finite=False)
            self.owner.check(
                value.shape == (3,), self.parameter, value, f"has shape {value.shape} at t = {t:.6g} s, must be (3,)"
            )
            value = value * self.scale(t)
            self.last = at, value  # at once: another thread may be here
        return value

    def at_start(self) -> np.ndarray:
        """Value (3,) at t = 0; an error in the code of the function is a `ParameterError` of the owner."""
        try:
            return self.evaluate(0.0)
        except ParameterError:
            raise
        except Exception as error:
            reason = f"raised {type(error).__name__} at t = 0: {error}. It is called with the time alone"
            raise ParameterError(self.owner, self.parameter, self.vector, reason) from error

    def signals(self) -> list[Signal]:
        """Three signals, one per component."""
        return [Signal(functools.partial(self.part, i), self.zero, self.zero) for i in range(3)]

    def part(self, i: int, t: float) -> float:
        """Component i at time t; the first calls the function anew, as what it closes over may have changed."""
        if i == 0:
            self.last = NOT_YET
        return self.evaluate(t)[i]

    @staticmethod
    def zero(t: float) -> float:
        """The derivative that nobody reads."""
        return 0.0
