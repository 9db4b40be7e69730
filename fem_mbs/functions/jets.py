"""Truncated Taylor series in time: a value with its first and second derivative, carried through NumPy functions.

    u(t + τ) = u + u̇ τ + ü τ²/2,   τ → 0⁺
    f(u):      f,  f' u̇,  f'' u̇² + f' ü                                                                            (1)

The derivatives are those that *follow* in time (τ > 0). Where a function has a kink or a jump - abs, minimum, floor, a
comparison in an ``if`` - the branch is taken that holds just after t:

    u < v   if the first of u − v, u̇ − v̇, ü − v̈ that is not zero is negative                                       (2)

so that at a tie of minimum, maximum, clip all terms of a formula change sides together, and none is counted twice.
A difference that begins with τ³ is beyond (2) and counts as equal; for minimum and maximum both branches have the same
value and derivatives then.

Source: elementary; Griewank & Walther, Evaluating Derivatives (2008), ch. 13 (series) and 14 (one-sided branches).
"""

import math
import numbers
from typing import Any

import numpy as np

PLAIN = (float, int)  # constants, the usual case
HINT = "or give Signal(value, rate, acceleration)"


class Jet:
    """A value with its first two derivatives with respect to time; supports arithmetic and NumPy functions.

    Parameters
    ----------
    value, d, dd : float
        Value, first and second derivative [unit, unit/s, unit/s²].

    Examples
    --------
    >>> t = Jet(0.2, 1.0)
    >>> np.minimum(t, 0.2) + 2 * np.maximum(t - 0.2, 0)  # the rate that follows: 2, not 1 + 2
    Jet(0.2, 2.0, 0.0)
    """

    __slots__ = ("d", "dd", "value")
    __array_priority__ = 1000

    def __init__(self, value: float, d: float = 0.0, dd: float = 0.0) -> None:
        self.value, self.d, self.dd = float(value), float(d), float(dd)

    @staticmethod
    def of(other: Any) -> "Jet":
        """The jet itself, or one of a constant."""
        return other if isinstance(other, Jet) else Jet(other)

    def __repr__(self):
        return f"Jet({self.value}, {self.d}, {self.dd})"

    def chain(self, f: float, df: float, ddf: float) -> "Jet":
        """(1), with f and its derivatives at the value."""
        return Jet(f, df * self.d, ddf * self.d**2 + df * self.dd)

    # --- arithmetic -------------------------------------------------------------------------------------------------

    def __add__(self, other):
        if type(other) in PLAIN:
            return Jet(self.value + other, self.d, self.dd)
        if isinstance(other, np.ndarray):
            return NotImplemented
        o = Jet.of(other)
        return Jet(self.value + o.value, self.d + o.d, self.dd + o.dd)

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.value, -self.d, -self.dd)

    def __pos__(self):
        return self

    def __sub__(self, other):
        if type(other) is Jet:
            return Jet(self.value - other.value, self.d - other.d, self.dd - other.dd)
        return self + -other

    def __rsub__(self, other):
        return other + -self

    def __mul__(self, other):
        if type(other) in PLAIN:
            return Jet(self.value * other, self.d * other, self.dd * other)
        if isinstance(other, np.ndarray):
            return NotImplemented
        o = Jet.of(other)
        return Jet(
            self.value * o.value,
            self.d * o.value + self.value * o.d,
            self.dd * o.value + 2.0 * self.d * o.d + self.value * o.dd,
        )

    __rmul__ = __mul__

    def __truediv__(self, other):
        if type(other) in PLAIN:
            return Jet(self.value / other, self.d / other, self.dd / other)
        if isinstance(other, np.ndarray):
            return NotImplemented
        o = Jet.of(other)
        return self * o.chain(1.0 / o.value, -1.0 / o.value**2, 2.0 / o.value**3)

    def __rtruediv__(self, other):
        return Jet.of(other) / self

    def __pow__(self, n):
        if isinstance(n, Jet):
            if self.value > 0.0 or n.d != 0.0 or n.dd != 0.0:
                return np.exp(n * np.log(self))
            n = n.value
        if isinstance(n, np.ndarray):
            return NotImplemented
        if n == 0:
            return 1.0
        second = n * (n - 1) * self.value ** (n - 2) if n != 1 else 0.0
        return self.chain(self.value**n, n * self.value ** (n - 1), second)

    def __rpow__(self, base):
        return np.exp(self * np.log(base))

    def __floordiv__(self, other):
        return np.floor(self / other)

    def __rfloordiv__(self, other):
        return np.floor(other / self)

    def __mod__(self, other):
        return self - other * np.floor(self / other)

    def __rmod__(self, other):
        return other - self * np.floor(other / self)

    def __divmod__(self, other):
        return self // other, self % other

    # --- what depends on the side: just after t ---------------------------------------------------------------------

    def side(self) -> int:
        """Sign −1, 0, 1 just after t, by (2)."""
        for part in (self.value, self.d, self.dd):
            if part != 0.0:
                return 1 if part > 0.0 else -1
        return 0

    def __abs__(self):
        return -self if self.side() < 0 else self

    def __lt__(self, other):
        return (self - other).side() < 0

    def __le__(self, other):
        return (self - other).side() <= 0

    def __gt__(self, other):
        return (self - other).side() > 0

    def __ge__(self, other):
        return (self - other).side() >= 0

    def __eq__(self, other):
        if not isinstance(other, (Jet, numbers.Real)):
            return NotImplemented
        return (self - other).side() == 0

    __hash__ = None  # type: ignore[assignment]  # as Python itself says of what is compared by value

    def __bool__(self):
        return self.side() != 0

    def __floor__(self):
        low = np.floor(self.value)
        return float(low - 1.0 if low == self.value and (self - low).side() < 0 else low)

    def __ceil__(self):
        return -(-self).__floor__()

    def __trunc__(self):
        return self.__floor__() if self.side() >= 0 else self.__ceil__()

    def __round__(self, digits=0):
        scale = 10.0**digits
        return (self * scale + 0.5).__floor__() / scale

    # --- NumPy ------------------------------------------------------------------------------------------------------

    def __float__(self):
        raise TypeError(
            "this function drops derivatives (math.sin, float, SciPy, an array of floats); use NumPy functions "
            f"(np.sin instead of math.sin), for measured data fem_mbs.table, {HINT}"
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        rule = UFUNCS.get(ufunc.__name__)
        if method != "__call__" or rule is None:
            raise TypeError(f"np.{ufunc.__name__} is not among the functions that are differentiated; {KNOWN}")
        if len(inputs) == 1:
            return rule(self)
        inputs = [i.item() if isinstance(i, np.generic | np.ndarray) and i.ndim == 0 else i for i in inputs]
        if not any(isinstance(i, np.ndarray) for i in inputs):
            return rule(*inputs)
        entries = np.broadcast_arrays(*(np.array(i, object) for i in inputs))  # sums of sines: entry by entry
        result = np.empty(entries[0].shape, object)
        for at in np.ndindex(result.shape):
            result[at] = rule(*(entry[at] for entry in entries))
        return result

    def __array_function__(self, function, _, args, kwargs):
        rule = FUNCTIONS.get(function.__name__)
        if rule is None:
            raise TypeError(f"np.{function.__name__} is not among the functions that are differentiated; {KNOWN}")
        return rule(*args, **kwargs)

    def __getattr__(self, name):
        # arrays of jets: NumPy asks each entry for a method of the function's name
        if name in UNARY:
            return lambda: UFUNCS[name](self)
        raise AttributeError(f"a function of time has no '{name}' here; {KNOWN}")


def _unary(f, df, ddf):
    def rule(u):
        return u.chain(f(u.value), df(u.value), ddf(u.value)) if isinstance(u, Jet) else f(u)

    return rule


def _arctan2(a, b):
    a, b = Jet.of(a), Jet.of(b)
    y, x = a.value, b.value
    if y == 0.0:  # on the cut: the branch that follows
        y = np.copysign(0.0, a.side())
    r2 = x * x + y * y
    if r2 == 0.0:
        return Jet(np.nan, np.nan, np.nan)
    cross, dot = x * a.d - y * b.d, x * b.d + y * a.d
    return Jet(np.arctan2(y, x), cross / r2, (x * a.dd - y * b.dd) / r2 - 2.0 * cross * dot / r2**2)


def _hypot(a, b):
    a, b = Jet.of(a), Jet.of(b)
    r = np.hypot(a.value, b.value)
    if r == 0.0:  # the length of a vector that starts at zero grows with the length of its rate
        rate = np.hypot(a.d, b.d)
        if rate == 0.0:
            return Jet(0.0, 0.0, np.hypot(a.dd, b.dd))
        return Jet(0.0, rate, (a.d * a.dd + b.d * b.dd) / rate)
    rate = (a.value * a.d + b.value * b.d) / r
    return Jet(r, rate, (a.value * a.dd + b.value * b.dd + a.d**2 + b.d**2 - rate**2) / r)


def _heaviside(a, b):
    side = Jet.of(a).side()
    return b if side == 0 else float(side > 0)


def _fmod(a, b):
    return a - b * _of_side("__trunc__", np.trunc)(a / b)


def _of_side(name, plain):
    return lambda u: getattr(u, name)() if isinstance(u, Jet) else plain(u)


def _power(a, b):
    if isinstance(a, Jet) and not isinstance(b, Jet):
        return a ** float(b)
    return a**b if isinstance(b, Jet) else np.power(a, b)


_ln2, _ln10 = math.log(2.0), math.log(10.0)
UFUNCS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "fmod": _fmod,
    "power": _power,
    "float_power": _power,
    "negative": lambda a: -a,
    "positive": lambda a: +a,
    "absolute": abs,
    "fabs": abs,
    "square": lambda a: a * a,
    "reciprocal": lambda a: 1.0 / a,
    "minimum": lambda a, b: a if a <= b else b,
    "maximum": lambda a, b: a if a >= b else b,
    "fmin": lambda a, b: a if a <= b else b,
    "fmax": lambda a, b: a if a >= b else b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": lambda a: not a,
    "isfinite": lambda a: bool(np.isfinite([a.value, a.d, a.dd]).all()),
    "sign": lambda a: float(a.side()),
    "heaviside": _heaviside,
    "floor": _of_side("__floor__", np.floor),
    "ceil": _of_side("__ceil__", np.ceil),
    "trunc": _of_side("__trunc__", np.trunc),
    "rint": _of_side("__round__", np.rint),
    "copysign": lambda a, b: abs(a) if Jet.of(b).side() >= 0 else -abs(a),
    "hypot": _hypot,
    "arctan2": _arctan2,
    "sin": _unary(np.sin, math.cos, lambda x: -math.sin(x)),
    "cos": _unary(np.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)),
    "tan": _unary(np.tan, lambda x: math.cos(x) ** -2, lambda x: 2 * math.tan(x) * math.cos(x) ** -2),
    "exp": _unary(np.exp, math.exp, math.exp),
    "exp2": _unary(np.exp2, lambda x: _ln2 * 2.0**x, lambda x: _ln2**2 * 2.0**x),
    "expm1": _unary(np.expm1, math.exp, math.exp),
    "log": _unary(np.log, lambda x: 1 / x, lambda x: -1 / x**2),
    "log2": _unary(np.log2, lambda x: 1 / (_ln2 * x), lambda x: -1 / (_ln2 * x**2)),
    "log10": _unary(np.log10, lambda x: 1 / (_ln10 * x), lambda x: -1 / (_ln10 * x**2)),
    "log1p": _unary(np.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2),
    "sqrt": _unary(np.sqrt, lambda x: 0.5 / math.sqrt(x), lambda x: -0.25 / (x * math.sqrt(x))),
    "cbrt": _unary(np.cbrt, lambda x: float(np.cbrt(x)) / (3 * x), lambda x: -2 * float(np.cbrt(x)) / (9 * x * x)),
    "tanh": _unary(np.tanh, lambda x: 1 - math.tanh(x) ** 2, lambda x: -2 * math.tanh(x) * (1 - math.tanh(x) ** 2)),
    "sinh": _unary(np.sinh, math.cosh, math.sinh),
    "cosh": _unary(np.cosh, math.sinh, math.cosh),
    "arcsin": _unary(np.arcsin, lambda x: 1 / math.sqrt(1 - x * x), lambda x: x / math.sqrt(1 - x * x) ** 3),
    "arccos": _unary(np.arccos, lambda x: -1 / math.sqrt(1 - x * x), lambda x: -x / math.sqrt(1 - x * x) ** 3),
    "arctan": _unary(np.arctan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
    "arcsinh": _unary(np.arcsinh, lambda x: (1 + x * x) ** -0.5, lambda x: -x * (1 + x * x) ** -1.5),
    "arccosh": _unary(np.arccosh, lambda x: 1 / math.sqrt(x * x - 1), lambda x: -x / math.sqrt(x * x - 1) ** 3),
    "arctanh": _unary(np.arctanh, lambda x: 1 / (1 - x * x), lambda x: 2 * x / (1 - x * x) ** 2),
    "deg2rad": lambda a: a * (np.pi / 180.0),
    "radians": lambda a: a * (np.pi / 180.0),
    "rad2deg": lambda a: a * (180.0 / np.pi),
    "degrees": lambda a: a * (180.0 / np.pi),
}
_TWO = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "minimum",
    "maximum", "fmin", "fmax", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
    "logical_or", "heaviside", "copysign", "hypot", "arctan2",
}  # fmt: skip
UNARY = set(UFUNCS) - _TWO


# --- functions of NumPy that are not ufuncs -------------------------------------------------------------------------


def _where(condition, *choices):
    if len(choices) != 2:
        raise TypeError("np.where of a function of time needs two choices: np.where(t < 1, a, b)")
    if np.ndim(condition):
        return np.array([_where(c, *choices) for c in condition], object)
    return choices[0] if condition else choices[1]


def _clip(a, a_min=None, a_max=None, *, min=None, max=None, out=None):
    low, high = a_min if a_min is not None else min, a_max if a_max is not None else max
    a = a if low is None else UFUNCS["maximum"](a, low)
    return a if high is None else UFUNCS["minimum"](a, high)


def _interp(x, xp, fp, left=None, right=None, period=None):
    """Straight lines between points, constant beyond them, as NumPy has it; at a point the line that follows."""
    xp, fp = np.asarray(xp, float), np.asarray(fp, float)
    x = Jet.of(x)
    if period is not None:
        x = x % abs(period)
        order = np.argsort(xp % abs(period), kind="stable")
        xp, fp = (xp % abs(period))[order], fp[order]
        xp = np.concatenate([[xp[-1] - abs(period)], xp, [xp[0] + abs(period)]])
        fp = np.concatenate([[fp[-1]], fp, [fp[0]]])
    falls = (x - x.value).side() < 0
    k = int(np.searchsorted(xp, x.value, side="left" if falls else "right"))
    if k == 0:
        return float(fp[0] if left is None else left)
    if k == len(xp):
        return float(fp[-1] if right is None else right)
    slope = (fp[k] - fp[k - 1]) / (xp[k] - xp[k - 1])
    return fp[k - 1] + slope * (x - xp[k - 1])


def _polyval(p, x):
    result = 0.0
    for coefficient in p:
        result = result * x + coefficient
    return result


def _piecewise(x, condlist, funclist, *args, **kw):
    conditions = list(condlist) if np.ndim(condlist) else [condlist]
    chosen = None if len(funclist) == len(conditions) else len(conditions)
    for i, condition in enumerate(conditions):  # the last that holds, as NumPy has it
        chosen = i if condition else chosen
    if chosen is None:
        return 0.0
    function = funclist[chosen]
    return function(x, *args, **kw) if callable(function) else function


def _select(condlist, choicelist, default=0):
    return next((choice for condition, choice in zip(condlist, choicelist) if condition), default)


def _sum(a, *_, **__):
    return a


FUNCTIONS = {
    "where": _where,
    "clip": _clip,
    "interp": _interp,
    "polyval": _polyval,
    "piecewise": _piecewise,
    "select": _select,
    "sum": _sum,
    "round": lambda a, decimals=0, out=None: round(a, decimals),
    "around": lambda a, decimals=0, out=None: round(a, decimals),
    "real": lambda a: a,
    "ndim": lambda a: 0,
    "shape": lambda a: (),
    "size": lambda a: 1,
}
KNOWN = f"write it with arithmetic and those (names: fem_mbs.functions.jets.UFUNCS and FUNCTIONS), {HINT}"
