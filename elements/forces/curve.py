"""Force laws of one variable from numbers, tables and functions: cubic pieces with a continuous slope, and potential.

Between breakpoints x_k, with ξ = x − x_k,

    F(x) = c_0 + c_1 ξ + c_2 ξ² + c_3 ξ³ ,    V(x) = V_k + c_0 ξ + c_1 ξ²/2 + c_2 ξ³/3 + c_3 ξ⁴/4                   (1)

and beyond the ends straight lines with the slopes there. Of tables the slopes at breakpoints are those of Fritsch and
Carlson, SIAM J. Numer. Anal. 17 (1980): where the points rise, so does the curve between them. A number k is the line
k x. V is 0 at x = 0, so that stored energy is zero in the unloaded state.

`ForceCurve` is such a law by itself; of a function it has a cubic spline. `Law` is that of a joint, or of a torsion
spring: its functions are not sampled but called, with their derivatives by Taylor arithmetic, as functions of time are
(`fem_mbs.functions.signals`).

Source: docs/theory/curves_and_bushings.md, (1).

    symbol     code              shape    unit      meaning
    x          x                 ()       m, rad …  elongation, angle, or the rate of one
    c_i, V_k   table[k, 1:6]     (5,)     N, …      of (1); table[k, 0] is x_k, of row 0 the first breakpoint
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import address, kernel, matrix

_SAMPLES = 2000  # intervals of a function in its range
_MISS = 1e-4  # of the largest value: largest error of the pieces of a function half-way between its samples


@kernel
def curve_values(table_at, pieces, x):
    """F, dF/dx and V of (1) at x; all zero for a curve of no pieces."""
    if pieces == 0:
        return 0.0, 0.0, 0.0
    table = matrix(table_at, pieces, 6)
    low, high = 0, pieces
    while high - low > 1:  # the last piece that begins at or before x; the first extends to −∞
        middle = (low + high) // 2
        if table[middle, 0] <= x:
            low = middle
        else:
            high = middle
    d = x - table[low, 0]
    c0, c1, c2, c3 = table[low, 1], table[low, 2], table[low, 3], table[low, 4]
    force = c0 + d * (c1 + d * (c2 + d * c3))
    slope = c1 + d * (2.0 * c2 + 3.0 * d * c3)
    return force, slope, table[low, 5] + d * (c0 + d * (c1 / 2.0 + d * (c2 / 3.0 + d * c3 / 4.0)))


def points_of(owner: Checked, parameter: str, given: Any) -> np.ndarray:
    """Points (n, 2) of a table, n ≥ 2, as a new array.

    Raises
    ------
    ParameterError
        In the name of the owner: it is none, or x does not rise.
    """
    points = owner.as_array(parameter, given)
    fits = points.ndim == 2 and points.shape[1] == 2 and len(points) >= 2
    owner.check(fits, parameter, points, "must be a number, a function, or points (x, F), two at least")
    owner.check((np.diff(points[:, 0]) > 0).all(), parameter, points[:, 0], "must rise in x")
    return points.copy()


class ForceCurve(Checked):
    """A force (or moment) as a function of one variable, for springs, dampers and bushings.

    Parameters
    ----------
    law : (n, 2) array, list of pairs, float, or callable
        Points (x, F) with x rising, n ≥ 2; or the slope of a straight line through 0; or a function F(x).
    between : (x_min, x_max), of a function only
        Where it is sampled, at 2,001 points. Beyond, and beyond the ends of a table, the curve continues straight.
    name : str, optional

    Raises
    ------
    ParameterError
        Points that are not finite or do not rise in x; a function without range, or one that 2,001 points do not
        resolve to 1e-4 of its largest value (for example a jump: give points instead).

    Examples
    --------
    >>> bump = ForceCurve([(-0.02, -9e3), (-0.01, -2e3), (0.0, 0.0), (1.0, 0.0)])
    >>> bump(-0.01), bump(0.5)
    (-2000.0, 0.0)
    >>> hardening = ForceCurve(lambda x: 1e4 * x + 3e6 * x**3, between=(-0.1, 0.1))
    """

    def __init__(self, law: Any, between: ArrayLike | None = None, *, name: str | None = None) -> None:
        self.name = name
        if callable(law):
            self.as_function("law", law, "a function of one variable", 1)
            x, F = self._sampled(law, between)
        else:
            self.check(between is None, "between", between, "is the range of a function; a table has its own")
            x, F = self._points(law)
        self.points = np.column_stack([x, F])
        self.table = _pieces(self.points, smooth=callable(law))

    @classmethod
    def of(cls, owner: Checked, parameter: str, law: Any) -> "ForceCurve":
        """The curve itself, or one made of a table or a slope; messages name the owner's parameter."""
        if isinstance(law, ForceCurve):
            return law
        owner.check(
            not callable(law), parameter, law, "is a function; give ForceCurve(function, between=(lowest, highest))"
        )
        try:
            return cls(law)
        except ValueError as error:
            owner.check(False, parameter, law, f"is no force law: {error}")
            raise

    def _points(self, law):
        if np.ndim(law) == 0:
            k = self.number("law", law)
            return np.array([-1.0, 0.0, 1.0]), np.array([-k, 0.0, k])
        return points_of(self, "law", law).T

    def _sampled(self, law, between):
        self.check(between is not None, "between", between, "is missing: where is the function to be sampled?")
        low, high = self.as_vector("between", between, 2)
        self.check(low < high, "between", between, "must be (lowest, highest) x")
        x = np.linspace(low, high, _SAMPLES + 1)
        F = np.array([self.number("law", law(value)) for value in x])
        pieces, middle = _pieces(np.column_stack([x, F]), smooth=True), 0.5 * (x[:-1] + x[1:])
        miss = max(abs(self._at(pieces, m)[0] - law(m)) for m in middle[:: max(_SAMPLES // 500, 1)])
        size = np.abs(F).max()
        self.check(
            miss <= _MISS * size, "law", law, f"changes too abruptly for {_SAMPLES} samples in {low:g} … {high:g}: "
            f"between them they miss it by {miss:.3g} of {size:.3g}. Give a table of points, or a smaller range",
        )  # fmt: skip
        return x, F

    @staticmethod
    def _at(table, x):
        return curve_values(address(table), len(table), float(x))

    def __call__(self, x: float) -> float:
        """F at x."""
        return self._at(self.table, x)[0]

    def slope(self, x: float) -> float:
        """dF/dx at x."""
        return self._at(self.table, x)[1]

    def potential(self, x: float) -> float:
        """∫ F dx from 0 to x."""
        return self._at(self.table, x)[2]

    @property
    def place(self) -> tuple[int, int]:
        """Address and number of the pieces, for records; the curve must live as long as they do."""
        return address(self.table), len(self.table)


class Law:
    """The characteristic of a spring or damper in a joint, from the argument of a user.

    Attributes
    ----------
    table : (n, 6) array, rows of (1); none for a function
    function : Signal or None
    zero : bool, whether it does nothing
    """

    def __init__(self, owner: Any, parameter: str, value: Any, unit: str, start: float = 0.0) -> None:
        self.function: Signal | None = None
        self.table = np.zeros((0, 6))
        self.zero = False
        if isinstance(value, ForceCurve):
            self.table = value.table
        elif callable(value):
            self.function = self._checked(owner, parameter, value, start)
        elif not isinstance(value, (list, tuple)) and np.ndim(value) == 0:
            number = owner.positive(parameter, value, unit, allow_zero=True)
            self.zero = number == 0.0
            self.table = np.array([[0.0, 0.0, number, 0.0, 0.0, 0.0]])
        else:
            self.table = _pieces(points_of(owner, parameter, value))

    @staticmethod
    def _checked(owner, parameter, value, start):
        """The function, if it can be called and differentiated where it begins."""
        signal = Signal.of(value)
        try:
            jet = signal.jet(start)
        except Exception as error:
            owner.check(False, parameter, value, f"cannot be evaluated and differentiated at {start:g}: {error}")
        owner.check(np.isfinite(jet).all(), parameter, value, f"is not finite at {start:g}: value and slope {jet[:2]}")
        return signal

    def __call__(self, x: float) -> tuple[float, float]:
        """Value and slope at x."""
        if self.function is not None:
            return self.function.jet(x)[:2]
        return curve_values(address(self.table), len(self.table), x)[:2]

    def integral(self) -> Any:
        """∫_0^x as a function."""
        if self.function is not None:
            return self.function.integral()
        return lambda x: curve_values(address(self.table), len(self.table), x)[2]


def _pieces(points, smooth=False):
    """Table (n + 1, 6) of (1) through points (n, 2): the line before the first, the pieces, the line after the last.

    Samples of a ``smooth`` function get a spline, points of a table a curve that stays within their values.
    """
    from scipy.interpolate import CubicSpline, PchipInterpolator

    x, F = points.T
    table = np.zeros((len(x) + 1, 6))
    if len(x) == 2:
        slope = (F[1] - F[0]) / (x[1] - x[0])
        table[1, 1:3] = F[0], slope
        ends = slope, slope
    else:
        curve = (CubicSpline if smooth else PchipInterpolator)(x, F)
        table[1:-1, 1:5] = curve.c[::-1].T
        ends = float(curve(x[0], 1)), float(curve(x[-1], 1))
    table[0, :3] = x[0], F[0], ends[0]
    table[1:-1, 0] = x[:-1]
    table[-1, :3] = x[-1], F[-1], ends[1]
    for k in range(1, len(x)):
        d, c = x[k] - x[k - 1], table[k, 1:5]
        table[k + 1, 5] = table[k, 5] + d * (c[0] + d * (c[1] / 2 + d * (c[2] / 3 + d * c[3] / 4)))
    table[:, 5] -= ForceCurve._at(table, 0.0)[2]
    return table
