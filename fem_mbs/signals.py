"""Functions of time: what drivers and loads follow, with exact first and second derivatives.

A signal is anything that can be called with a time. Derivatives come, in this order, from methods or functions the user
gives (`Signal`), or by evaluating the function on truncated Taylor series (`Jet`): NumPy functions, arithmetic and
powers are differentiated exactly. Signals are evaluated once per step, outside compiled code, so they may be any Python
function.
"""

import numbers

import numpy as np


class Jet:
    """A value with its first two derivatives with respect to time; supports arithmetic and NumPy functions."""

    __slots__ = ("d", "dd", "value")
    __array_priority__ = 1000

    def __init__(self, value, d=0.0, dd=0.0):
        self.value, self.d, self.dd = float(value), float(d), float(dd)

    @staticmethod
    def of(other):
        return other if isinstance(other, Jet) else Jet(other)

    def _chain(self, f, df, ddf):
        return Jet(f, df * self.d, ddf * self.d**2 + df * self.dd)

    def __add__(self, other):
        o = Jet.of(other)
        return Jet(self.value + o.value, self.d + o.d, self.dd + o.dd)

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.value, -self.d, -self.dd)

    def __pos__(self):
        return self

    def __sub__(self, other):
        return self + -Jet.of(other)

    def __rsub__(self, other):
        return Jet.of(other) + -self

    def __mul__(self, other):
        o = Jet.of(other)
        return Jet(
            self.value * o.value,
            self.d * o.value + self.value * o.d,
            self.dd * o.value + 2.0 * self.d * o.d + self.value * o.dd,
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        o = Jet.of(other)
        return self * o._chain(1.0 / o.value, -1.0 / o.value**2, 2.0 / o.value**3)

    def __rtruediv__(self, other):
        return Jet.of(other) / self

    def __pow__(self, n):
        if isinstance(n, Jet):
            return np.exp(n * np.log(self))
        if n == 0:
            return Jet(1.0)
        second = n * (n - 1) * self.value ** (n - 2) if n != 1 else 0.0
        return self._chain(self.value**n, n * self.value ** (n - 1), second)

    def __rpow__(self, base):
        return np.exp(self * np.log(base))

    def __abs__(self):
        return -self if self.value < 0 else self

    def __lt__(self, other):
        return self.value < Jet.of(other).value

    def __le__(self, other):
        return self.value <= Jet.of(other).value

    def __gt__(self, other):
        return self.value > Jet.of(other).value

    def __ge__(self, other):
        return self.value >= Jet.of(other).value

    def __float__(self):
        raise TypeError("this function drops derivatives; use NumPy functions (np.sin, not math.sin)")

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        if method != "__call__" or ufunc.__name__ not in _UFUNCS:
            return NotImplemented
        return _UFUNCS[ufunc.__name__](*[Jet.of(i) for i in inputs])


def _unary(f, df, ddf):
    return lambda u: u._chain(f(u.value), df(u.value), ddf(u.value))


_UFUNCS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a ** (b.value if b.d == 0 and b.dd == 0 else b),
    "negative": lambda a: -a,
    "absolute": abs,
    "square": lambda a: a * a,
    "minimum": lambda a, b: a if a.value <= b.value else b,
    "maximum": lambda a, b: a if a.value >= b.value else b,
    "sin": _unary(np.sin, np.cos, lambda x: -np.sin(x)),
    "cos": _unary(np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)),
    "tan": _unary(np.tan, lambda x: 1 / np.cos(x) ** 2, lambda x: 2 * np.tan(x) / np.cos(x) ** 2),
    "exp": _unary(np.exp, np.exp, np.exp),
    "log": _unary(np.log, lambda x: 1 / x, lambda x: -1 / x**2),
    "sqrt": _unary(np.sqrt, lambda x: 0.5 / np.sqrt(x), lambda x: -0.25 * x**-1.5),
    "tanh": _unary(np.tanh, lambda x: 1 - np.tanh(x) ** 2, lambda x: -2 * np.tanh(x) * (1 - np.tanh(x) ** 2)),
    "sinh": _unary(np.sinh, np.cosh, np.sinh),
    "cosh": _unary(np.cosh, np.sinh, np.cosh),
    "arctan": _unary(np.arctan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    "heaviside": lambda a, b: Jet(np.heaviside(a.value, b.value)),
}


class Signal:
    """A function of time with its derivatives.

    Parameters
    ----------
    value : float or callable
        Constant, or function of t [s].
    rate, acceleration : callable, optional
        First and second derivative; by default they are found exactly by Taylor arithmetic.

    Examples
    --------
    >>> Signal(lambda t: 0.8 * np.sin(3 * t)).jet(0.0)
    (0.0, 2.4000000000000004, 0.0)
    """

    def __init__(self, value, rate=None, acceleration=None):
        if not callable(value) and not isinstance(value, numbers.Real):
            raise TypeError(f"a number or a function of time is needed, not {value!r}")
        self.value, self.rate, self.acceleration = value, rate, acceleration
        self.constant = not callable(value)

    @classmethod
    def of(cls, value):
        """The signal itself, or a new one around a number or function."""
        return value if isinstance(value, Signal) else cls(value)

    def __call__(self, t):
        return float(self.value) if self.constant else float(self.value(t))

    def jet(self, t):
        """Value, first and second derivative at time t, as floats.

        Raises
        ------
        TypeError
            If the function cannot be differentiated (it leaves NumPy); give ``rate`` and ``acceleration`` then.
        """
        if self.constant:
            return float(self.value), 0.0, 0.0
        if self.rate is not None and self.acceleration is not None:
            return float(self.value(t)), float(self.rate(t)), float(self.acceleration(t))
        result = Jet.of(self.value(Jet(t, 1.0)))
        return result.value, result.d, result.dd


def ramp(start, end, height=1.0):
    """Smooth step from 0 to ``height`` between times start and end [s] (quintic: continuous to the second
    derivative).
    """

    def value(t):
        if t <= start:
            return 0.0 * t
        if t >= end:
            return height + 0.0 * t
        u = (t - start) / (end - start)
        return height * u**3 * (10.0 - 15.0 * u + 6.0 * u**2)

    return Signal(value)


def table(times, values):
    """Cubic spline through given points (natural ends); times (n,) [s] increasing, values (n,)."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(times, values, bc_type="natural")
    return Signal(spline, spline.derivative(1), spline.derivative(2))
