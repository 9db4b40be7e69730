"""Linear laws of controllers: systems of scipy.signal and python-control, and PID.

    u_k = C z_k + D y_k      z_{k+1} = A z_k + B y_k                                                                (7)

of a system in discrete time, or of one in continuous time that is sampled with a zero-order hold (`cont2discrete`).

A PID controller, e_k = r(t_k) − y_k, with a filtered backward difference and an integral that is limited:

    d_k = β d_{k−1} + (1 − β)(e_k − e_{k−1})/T ,   β = τ/(τ + T) ,  d_0 = 0                                         (8)
    w_k = k_p e_k + k_i I_k + k_d d_k ,   u_k = limited(w_k) ,   I_{k+1} = I_k + T e_k + g (u_k − w_k)              (9)

"clamp": g = 0 and I stands still while u is limited and k_i e_k drives w farther out; "back": g = T/(T_t k_i) carries
the integral back with the time T_t.

Source: docs/theory/control.md, (7)-(9); Åström and Hägglund, Advanced PID control, 2006, sections 3.5 and 13.4.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.elements.control.controller import Controller
from fem_mbs.elements.control.sensor import Sensor
from fem_mbs.signals import Signal

SAME = 1e-9  # of a period: what is given and that of the system may differ by so much


class LinearLaw:
    """(7) as a law of a controller, from a system of scipy.signal or python-control."""

    def __init__(self, owner: Controller, system: Any, period: float | None) -> None:
        A, B, C, D, dt = _matrices(owner, system)
        if dt is None:
            from scipy.signal import cont2discrete

            owner.check(period is not None, "period", period, "s is needed: the system is in continuous time")
            self.period = owner.positive("period", period, "s")
            A, B, C, D, _ = cont2discrete((A, B, C, D), self.period)
        else:
            self.period = dt if period is None else owner.positive("period", period, "s")
            owner.check(abs(self.period - dt) <= SAME * dt, "period", period, f"s is not that of the system, {dt} s")
        self.A, self.B, self.C, self.D = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, C, D))
        self.start, self.outputs = np.zeros(len(self.A)), len(self.D)

    def __call__(self, t: float, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.C @ z + self.D @ y, self.A @ z + self.B @ y

    def fits(self, owner: Controller) -> None:
        """Refuse a controller with other numbers of inputs or outputs."""
        given = sum(item.size if isinstance(item, Sensor) else 1 for item in owner.inputs)
        n, m = self.D.shape[1], self.D.shape[0]
        owner.check(given == n, "inputs", given, f"numbers are given to a system with {n} inputs")
        owner.check(len(owner.outputs) == m, "outputs", owner.outputs, f"does not fit a system with {m} outputs")


def _matrices(owner, system):
    """A, B, C, D and the period of a system, None of one in continuous time."""
    from scipy import signal

    if hasattr(system, "to_ss"):
        system = system.to_ss()
    elif not all(hasattr(system, name) for name in "ABCD"):
        try:  # a TransferFunction of python-control
            num, den = np.atleast_1d(system.num[0][0]), np.atleast_1d(system.den[0][0])
            dt, single = system.dt, len(system.num) == 1 and len(system.num[0]) == 1
        except (AttributeError, TypeError, IndexError, KeyError):
            message = "is not a function, nor a system of scipy.signal or python-control"
            owner.check(False, "function", system, message)
        owner.check(single, "function", system, "has several inputs or outputs: give its state-space form")
        return *signal.tf2ss(num, den), dt or None
    dt = system.dt
    owner.check(dt is not True, "function", system, "is in discrete time without a period: set its dt")
    return system.A, system.B, system.C, system.D, (float(dt) if dt else None)


class PID(Controller):
    """Sampled PID controller with limits and anti-windup.

    Parameters
    ----------
    sensor : Sensor
        What is controlled, one number y.
    kp, ki, kd : float
        Gains of the error e = set_point − y, of its integral [1/s] and of its rate [s].
    period : float > 0 [s]
    set_point : float, callable, Signal or Held
        r(t); a held signal can be changed by events.
    limits : (float, float), optional
        Smallest and largest output.
    anti_windup : {"clamp", "back"}
        What the integral does at a limit: it stands still, or is carried back with ``tracking_time``.
    tracking_time : float > 0 [s], optional
        Of "back"; default: √(k_d/k_i), or k_p/k_i without k_d.
    filter_time : float ≥ 0 [s]
        Time constant of the filter of the rate.
    delay, name : as of `Controller`

    Raises
    ------
    ParameterError
        A sensor with several numbers; limits in the wrong order; "back" without an integral.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> arm = fem.RigidBody(1.0, [0.1, 0.1, 0.1], name="arm")
    >>> angle = fem.Sensor(arm, "angle", axis=[0, 0, 1])
    >>> pid = fem.PID(angle, 40.0, 20.0, 8.0, period=1e-3, set_point=0.5, limits=(-30, 30))
    >>> motor = fem.PointMoment(arm, [0, 0, 1], signal=pid.output())
    """

    def __init__(
        self,
        sensor: Sensor,
        kp: float,
        ki: float = 0.0,
        kd: float = 0.0,
        *,
        period: float,
        set_point: Any = 0.0,
        limits: Sequence[float] | None = None,
        anti_windup: str = "clamp",
        tracking_time: float | None = None,
        filter_time: float = 0.0,
        delay: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.sensor = self.as_instance("sensor", sensor, Sensor)
        self.check(sensor.size == 1, "sensor", sensor, f"has {sensor.size} numbers; choose a component")
        self.kp, self.ki, self.kd = (self.number(n, k) for n, k in (("kp", kp), ("ki", ki), ("kd", kd)))
        self.set_point = Signal.of(self.as_motion("set_point", set_point))
        self.limits = (-np.inf, np.inf)
        if limits is not None:
            low, high = self.as_array("limits", limits, (2,))
            self.check(low < high, "limits", limits, "must be (smallest, largest)")
            self.limits = float(low), float(high)
        self.anti_windup = self.as_choice("anti_windup", anti_windup, ("clamp", "back"))
        self.filter_time = self.positive("filter_time", filter_time, "s", allow_zero=True)
        self.tracking_time = self._tracking(tracking_time)
        super().__init__(self.control, period, [sensor, self.set_point], delay=delay, state=(0.0, 0.0, None), name=name)

    def _tracking(self, given):
        if self.anti_windup == "clamp":
            self.check(given is None, "tracking_time", given, 'is for anti_windup="back"')
            return None
        self.check(self.ki > 0, "anti_windup", "back", "needs an integral: ki > 0")
        usual = np.sqrt(self.kd / self.ki) if self.kd > 0 else max(self.kp / self.ki, 0.0)
        if given is None:
            self.check(usual > 0, "tracking_time", given, "s is needed without kp and kd")
        return float(usual) if given is None else self.positive("tracking_time", given, "s")

    def control(self, t: float, y: np.ndarray, state: tuple) -> tuple[float, tuple]:
        """Output and next state (I, d, e) of (8), (9)."""
        integral, rate, last = state
        error, T = float(y[1] - y[0]), self.period
        if last is not None:
            beta = self.filter_time / (self.filter_time + T)
            rate = beta * rate + (1.0 - beta) * (error - last) / T
        wanted = self.kp * error + self.ki * integral + self.kd * rate
        u = min(max(wanted, self.limits[0]), self.limits[1])
        grows = T * error
        if u != wanted and self.tracking_time is not None:
            grows += T / (self.tracking_time * self.ki) * (u - wanted)
        elif u != wanted and self.ki * error * (wanted - u) > 0.0:
            grows = 0.0
        return u, (integral + grows, rate, error)
