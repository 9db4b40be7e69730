"""Sampled PID controller.

With e_k = r(t_k) − y_k, with a filtered backward difference and an integral that is limited:

    d_k = β d_{k−1} + (1 − β)(e_k − e_{k−1})/T ,   β = τ/(τ + T) ,  d_0 = 0                                         (8)
    w_k = k_p e_k + k_i I_k + k_d d_k ,   u_k = limited(w_k) ,   I_{k+1} = I_k + T e_k + g (u_k − w_k)              (9)

"clamp": g = 0 and I stands still while u is limited and k_i e_k drives w farther out; "back": g = T/(T_t k_i) carries
the integral back with the time T_t.

Source: docs/theory/control.md, (8), (9); Åström and Hägglund, Advanced PID control, 2006, sections 3.5 and 13.4.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.elements.control.controller import Controller
from fem_mbs.elements.control.sensor import Sensor
from fem_mbs.functions.signals import Signal


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
