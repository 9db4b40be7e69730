"""Ready-made motions: piecewise polynomials in time, with their derivatives and integrals in closed form.

Between breakpoints t_k a profile is a polynomial of the time since the last one,

    p(t) = Σ_j c_kj (t − t_k)^j,   t_k ≤ t < t_{k+1}                                                               (1)

and continues beyond the ends with another polynomial, or repeats. Derivative and integral of (1) are of the same
kind. Value, rate and acceleration of one profile always belong together, at a breakpoint those that follow.

    quintic step   s(u) = 10 u³ − 15 u⁴ + 6 u⁵: s, s', s'' are continuous at u = 0 and 1                             (2)
    smooth start   v T ∫₀ᵘ s = v T (5/2 u⁴ − 3 u⁵ + u⁶), u = (t − t_0)/T; then v (t − t_0 − T/2)                     (3)
    trapezoid      a τ²/2, then v τ, then v τ − b τ²/2; v = √(2 D a b/(a + b)) if D is too short for v              (4)

Source: elementary; (2) Biagiotti & Melchiorri, Trajectory Planning for Automatic Machines and Robots (2008), ch. 2, (4)
ch. 3.
"""

import functools
import math
from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import ParameterError, Warnings
from fem_mbs.functions.jets import Jet
from fem_mbs.functions.signals import Signal


class Profile(Signal):
    """Piecewise polynomial of time, made by `ramp`, `smooth_start`, `trapezoidal` and `table`.

    Attributes
    ----------
    times : list of float [s]
        Breakpoints; the first and the last are ``start`` and ``end``.
    period : float [s] or None
        Of a profile that repeats itself.
    kinked : bool
        True for monotone tables, whose acceleration jumps at every point and is no measure of that of the data.

    Examples
    --------
    >>> speed = ramp(height=30.0, duration=0.5)  # rad/s
    >>> angle = speed.integral()
    >>> angle.jet(0.5)
    (7.5, 30.0, 0.0)
    """

    def __init__(self, name: str, times: Any, pieces: Any, *, period: float | None = None, gain: float = 0.0) -> None:
        super().__init__(self._value, self._rate)
        self.name = name
        self.times, self.period, self.gain = [float(t) for t in times], period, float(gain)
        self.kinked = False
        self.pieces = [[float(c) for c in piece] for piece in pieces]  # before the first breakpoint, then from each on

    @property
    def start(self) -> float:
        return self.times[0]

    @property
    def end(self) -> float:
        return self.times[-1]

    def _value(self, t):
        return self.jet(t)[0]

    def _rate(self, t):
        return self.jet(t)[1]

    def __call__(self, t):
        if isinstance(t, Jet):
            return t.chain(*self.jet(t.value, before=(t - t.value).side() < 0))
        return self.jet(t)[0]

    def jet(self, t: float, *, before: bool = False) -> tuple[float, float, float]:
        """Value, rate and acceleration at time t; at a breakpoint those that follow, or come ``before``."""
        times, offset = self.times, 0.0
        if self.period is not None:
            cycles = (t - times[0]) / self.period
            cycles = math.ceil(cycles) - 1 if before else math.floor(cycles)
            t, offset = t - cycles * self.period, cycles * self.gain
        k = (bisect_left if before else bisect_right)(times, t)
        if self.period is not None:
            k = min(max(k, 1), len(times) - 1)
        x = t - times[max(k - 1, 0)]
        value = rate = half = 0.0
        for c in reversed(self.pieces[k]):
            half = half * x + rate
            rate = rate * x + value
            value = value * x + c
        return value + offset, rate, 2.0 * half

    def derivative(self) -> "Profile":
        """The rate as a profile of its own; a jump of it keeps the value that follows."""
        pieces = [[j * c for j, c in enumerate(piece)][1:] or [0.0] for piece in self.pieces]
        return Profile(f"rate of {self.name}", self.times, pieces, period=self.period)

    def integral(self, initial: float = 0.0, *, at: float = 0.0) -> "Profile":
        """What a rate adds up to: an angle from an angular velocity, exactly.

        Parameters
        ----------
        initial : float
            Value at the time ``at``; for a driver the angle or distance of the initial pose.
        at : float [s]

        Raises
        ------
        ParameterError
            ``initial`` or ``at`` not finite; the integral of a periodic profile with a mean, taken twice.
        """
        for name, value in (("initial", initial), ("at", at)):
            _finite(self, name, value, "")
        if self.gain:
            raise ParameterError(
                self,
                "gain",
                float(f"{self.gain:.6g}"),
                "per period: this profile drifts already, its integral is not a profile",
            )
        pieces, value = [[0.0] + [c / (j + 1) for j, c in enumerate(piece)] for piece in self.pieces], 0.0
        for k in range(1, len(pieces)):
            pieces[k][0] = value
            if k < len(self.times):
                x = self.times[k] - self.times[k - 1]
                value = sum(c * x**j for j, c in enumerate(pieces[k]))
        whole = Profile(self.name, self.times, pieces, period=self.period, gain=value if self.period else 0.0)
        shift = initial - whole.jet(at)[0]
        for piece in whole.pieces:
            piece[0] += shift
        whole.name = f"integral of {self.name}"
        return whole

    def __repr__(self):
        return f"Profile({self.name}, {self.start:g} … {self.end:g} s)"


@functools.cache  # functions of time make profiles at every step
def _named(function, name=None):
    """The function or profile as errors name it."""
    return Named(function) if name is None else Named(function, name)


def _finite(owner, name, value, unit):
    return _owner(owner).number(name, value, unit)


def _positive(owner, name, value, unit):
    return _owner(owner).positive(name, value, unit)


def _owner(owner):
    function = getattr(owner, "__name__", None)
    return _named(function) if function else _named(type(owner).__name__, owner.name)


def _rise(owner, start, end, height, initial):
    """Step (2) from a value to another between two times."""
    if end <= start:
        raise ParameterError(owner, "end", end, f"s must be later than start = {start:g} s")
    T = end - start
    rise = [initial, 0.0, 0.0, 10.0 * height / T**3, -15.0 * height / T**4, 6.0 * height / T**5]
    return Profile("ramp", [start, end], [[initial], rise, [initial + height]])


def _ramp_between(start, end, height=1.0):
    """Step by a height between two times: the former parameters of `ramp`."""
    start, end = _finite(ramp, "start", start, "s"), _finite(ramp, "end", end, "s")
    return _rise(ramp, start, end, _finite(ramp, "height", height, ""), 0.0)


@Deprecated.calls(
    _ramp_between, "positional arguments or end", "ramp(height=…, duration=…, start=…), duration = end − start", "end"
)
@Keywords.known
def ramp(*, height: float = 1.0, duration: float, start: float = 0.0, initial: float = 0.0) -> Profile:
    """Smooth step by a height: quintic (2), continuous to the second derivative.

    Parameters
    ----------
    height : float, any unit
        Change of the value.
    duration : float > 0 [s]
        Of the change. It is steepest half-way: 15/8 of the mean slope.
    start : float [s]
        When the change begins.
    initial : float, unit of ``height``
        Value before it.

    Returns
    -------
    Profile

    Raises
    ------
    ParameterError
        Not finite, or duration ≤ 0.

    Examples
    --------
    >>> ramp(height=10.0, duration=2.0).jet(1.0)
    (5.0, 9.375, 0.0)
    """
    height, duration = _finite(ramp, "height", height, ""), _positive(ramp, "duration", duration, "s")
    start, initial = _finite(ramp, "start", start, "s"), _finite(ramp, "initial", initial, "")
    return _rise(ramp, start, start + duration, height, initial)


@Keywords.known
def smooth_start(rate: float, duration: float, *, start: float = 0.0, initial: float = 0.0) -> Profile:
    """Angle or distance of a motor that runs up smoothly and then keeps its speed, (3).

    Parameters
    ----------
    rate : float [rad/s or m/s]
        Speed after the start; negative turns the other way.
    duration : float > 0 [s]
        Of the run-up. The largest acceleration is 15/8 rate/duration, half-way; it is 0 at both ends.
    start : float [s]
        When the run-up begins; at rest before.
    initial : float [rad or m]
        Angle or distance before the start.

    Returns
    -------
    Profile
        Value [rad or m] with continuous rate, acceleration and third derivative; ``derivative()`` is the speed.

    Raises
    ------
    ParameterError
        Not finite, or duration ≤ 0.

    Examples
    --------
    >>> motor = smooth_start(rate=10.0, duration=0.5)
    >>> motor.jet(0.5)
    (2.5, 10.0, 0.0)
    """
    owner = smooth_start
    rate, duration = _finite(owner, "rate", rate, "rad/s or m/s"), _positive(owner, "duration", duration, "s")
    start, initial = _finite(owner, "start", start, "s"), _finite(owner, "initial", initial, "rad or m")
    profile = ramp(height=rate, duration=duration, start=start).integral(initial, at=start)
    profile.name = "smooth_start"
    return profile


@Keywords.known
def trapezoidal(
    distance: float, speed: float, acceleration: float, *, deceleration: float | None = None, start: float = 0.0,
    initial: float = 0.0,
) -> Profile:  # fmt: skip
    """Point-to-point motion with a trapezoidal speed: speed up, keep the speed, slow down, stay; (4).

    Parameters
    ----------
    distance : float ≠ 0 [rad or m]
        From rest to rest; negative goes the other way.
    speed : float > 0 [rad/s or m/s]
        Largest speed. A distance too short for it gives a triangle.
    acceleration, deceleration : float > 0 [rad/s² or m/s²]
        Magnitudes; by default both are the same.
    start : float [s]
        When the motion begins; at rest before.
    initial : float [rad or m]
        Angle or distance before the start.

    Returns
    -------
    Profile
        Value [rad or m]; ``end`` is the time of arrival, ``derivative()`` the speed.

    Raises
    ------
    ParameterError
        Not finite, distance zero, others not positive.

    Notes
    -----
    The acceleration jumps at four times. Forces of a driver jump with it; in a model with flexible parts prefer
    `smooth_start`, `ramp` or `table`. The order of a run is kept when steps end at the jumps.

    Examples
    --------
    >>> move = trapezoidal(distance=0.6, speed=0.4, acceleration=2.0)
    >>> move.end
    1.7
    >>> move.jet(1.0)[1]
    0.4
    """
    owner, units = trapezoidal, ("rad/s or m/s", "rad/s² or m/s²")
    distance = _finite(owner, "distance", distance, "rad or m")
    if distance == 0.0:
        raise ParameterError(owner, "distance", distance, "must not be 0; for no motion give a number")
    v, a = _positive(owner, "speed", speed, units[0]), _positive(owner, "acceleration", acceleration, units[1])
    b = a if deceleration is None else _positive(owner, "deceleration", deceleration, units[1])
    start, initial = _finite(owner, "start", start, "s"), _finite(owner, "initial", initial, "rad or m")
    D, sign = abs(distance), math.copysign(1.0, distance)
    v = min(v, math.sqrt(2.0 * D * a * b / (a + b)))
    up, down = v / a, v / b
    keep = max(D - 0.5 * v * (up + down), 0.0) / v
    first, last = initial + sign * 0.5 * a * up**2, initial + distance
    before_last = last - sign * 0.5 * v * down
    times = [start, start + up, start + up + keep, start + up + keep + down]
    pieces = [
        [initial],
        [initial, 0.0, 0.5 * sign * a],
        [first, sign * v],
        [before_last, sign * v, -0.5 * sign * b],
        [last],
    ]
    return Profile("trapezoidal", times, pieces)


ENDS = ("natural", "rest", "periodic")
KINDS = ("monotone", "cubic")
BEYOND = 0.1  # of the range of the points: an overshoot that is worth a warning


@Keywords.known
def table(times: Any, values: Any, *, ends: str = "natural", kind: str = "monotone") -> Profile:
    """Curve through given points, by default without overshoot; a smooth spline for positions of drivers.

    Parameters
    ----------
    times : (n,) [s], n ≥ 2
        Increasing.
    values : (n,), any unit
    ends : {"natural", "rest", "periodic"}
        natural: no acceleration at the ends of a cubic; beyond the ends it continues with the speed it has there. rest:
        no speed at the ends, and at rest beyond them; the acceleration jumps there. periodic: repeats; the first and
        the last value are equal.
    kind : {"monotone", "cubic"}
        monotone: value and rate are continuous, and no value leaves the range of the two adjacent points: for loads,
        speeds and measured data that jump. cubic: a spline, whose acceleration is continuous too: for positions of
        drivers. Accelerations of a monotone table are wrong by their own size, at any number of points.

    Returns
    -------
    Profile
        ``integral()`` is the angle of a table of angular velocities.

    Raises
    ------
    ParameterError
        Not vectors of finite numbers of the same length; times not increasing; unknown ``ends`` or ``kind``; periodic
        with first and last value apart.

    Warns
    -----
    UserWarning
        A cubic that leaves the range of its points by more than 10 % of it.

    Notes
    -----
    The monotone curve is that of Fritsch and Butland, the cubic one the spline of least curvature. Of a sine with 20
    and 80 points a period the values err by 4e-3 and 2e-4 (monotone), 9e-5 and 1e-7 (cubic).

    Examples
    --------
    >>> gust = table([0, 1, 1.5, 3, 3.5, 10], [0, 0, 30, 30, 0, 0], ends="rest")  # Pa
    >>> gust(2.25), gust(5.0)
    (30.0, 0.0)
    >>> cam = table([0, 0.1, 0.2, 0.3, 0.4], [0, 2.5e-3, 5e-3, 2.5e-3, 0], ends="periodic", kind="cubic")
    >>> round(cam(0.15), 6) == round(cam(1.75), 6)
    True
    """
    owner = table
    times, values = _points(owner, times, values)
    for name, given, choices in (("ends", ends, ENDS), ("kind", kind, KINDS)):
        if given not in choices:
            raise ParameterError(owner, name, given, f"is unknown; allowed: {', '.join(choices)}")
    if ends == "periodic":
        if abs(values[0] - values[-1]) > 1e-12 * np.ptp(values):
            raise ParameterError(owner, "values", values, "must end with the number they begin with when they repeat")
        values = np.append(values[:-1], values[0])
    spline = _monotone(times, values, ends) if kind == "monotone" else _cubic(times, values, ends)
    pieces = [list(c) for c in spline.c[::-1].T]
    pieces = [[values[0], float(spline(times[0], 1))], *pieces, [values[-1], float(spline(times[-1], 1))]]
    if ends == "rest":
        pieces[0], pieces[-1] = [values[0]], [values[-1]]
    period = float(times[-1] - times[0]) if ends == "periodic" else None
    found = Profile("table", times, pieces, period=period)
    found.kinked = kind == "monotone" and len(times) > 2
    return found


def _points(owner, times, values):
    """Times and values of a table as vectors, checked."""
    arrays = []
    for name, given in (("times", times), ("values", values)):
        try:
            array = np.asarray(given, float)
        except (TypeError, ValueError):
            raise ParameterError(owner, name, given, "is not a list of numbers") from None
        if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
            raise ParameterError(owner, name, array, "must be at least two finite numbers in a row")
        arrays.append(array)
    times, values = arrays
    if len(times) != len(values):
        raise ParameterError(owner, "values", values, f"has {len(values)} numbers for {len(times)} times")
    if not (np.diff(times) > 0).all():
        k = int(np.argmin(np.diff(times)))
        raise ParameterError(owner, "times", times, f"must increase, but times[{k + 1}] is not later than times[{k}]")
    return times, values


def _monotone(times, values, ends):
    """Cubic Hermite pieces that stay between their points; no slope at ends at rest, one slope where they repeat."""
    from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

    t, v = times, values
    if ends == "periodic":
        T = times[-1] - times[0]
        t = np.concatenate([times[:-1] - T, times, times[1:] + T])
        v = np.concatenate([values[:-1], values, values[1:]])
    slopes = PchipInterpolator(t, v)(times, 1)
    if ends == "rest":
        slopes[[0, -1]] = 0.0
    return CubicHermiteSpline(times, values, slopes)


def _cubic(times, values, ends):
    """Cubic spline; a warning where it leaves the range of its points."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(times, values, bc_type="clamped" if ends == "rest" else ends)
    extremes = spline(times[:-1, None] + np.diff(times)[:, None] * np.linspace(0.0, 1.0, 17))
    over, span = max(extremes.max() - values.max(), values.min() - extremes.min()), np.ptp(values)
    if over > BEYOND * span:
        text = f"table: the spline leaves the range of its points by {over / span:.0%} of it, {extremes.min():.4g} … "
        text += f'{extremes.max():.4g} for {values.min():.4g} … {values.max():.4g}. kind="monotone" does not; or give '
        Warnings.issue(text + "more points")
    return spline
