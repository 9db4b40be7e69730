"""A motion from sample to sample of a controller, without jumps: what drivers of positions follow.

An output u_k that acts at t_k is where the motion is at t_k + T, when the next one acts. On the way it is a cubic with
the place and the rate that it has at t_k, and with the mean rate m at its end:

    m = (u_k − φ_k)/T ,   φ(t) = φ_k + r_k τ + (m − r_k) (2 τ²/T − τ³/T²) ,   τ = t − t_k                           (1)
    r_k+1 = m ,   φ_k+1 = u_k                                                                                      (2)

Place and rate are continuous, the acceleration jumps. A set point that moves evenly is followed exactly from the second
sample on; one that jumps is reached after T with the rate m, overshot by 4/27 of the jump and at rest after 2 T.

Source: docs/theory/control.md, (14), (15); derived there.
"""

from typing import Any

from fem_mbs.functions.signals import Held, Signal


class _Number(Held):
    """A number of a motion: it jumps, quantities derived from it do not."""

    jumps = False


class SampledMotion(Signal):
    """Motion (1) through the outputs of a controller; `Controller.motion` makes it.

    Parameters
    ----------
    controller : Controller
        Whose period is T.
    name : str
        Of the output.
    initial : float [unit of the output]
        φ until the first output acts.
    """

    def __init__(self, controller: Any, name: str, initial: float) -> None:
        self.period = controller.period
        values = {"begin": 0.0, "start": initial, "start rate": 0.0, "mean rate": 0.0}
        self.numbers = tuple(_Number(value, name=f"{name}, {what}") for what, value in values.items())
        for number in self.numbers:
            number.owner = controller
        super().__init__(self._place, self._speed, self._change)

    def aim(self, t: float, target: float) -> None:
        """Go from the present place and rate to a target, from t [s] on; for runs."""
        place, rate, _ = self.jet(t)
        for number, value in zip(self.numbers, (t, place, rate, (target - place) / self.period)):
            number.set(value)

    def _now(self, t):
        """τ, φ_k, r_k, m − r_k."""
        begin, start, rate, mean = (number(t) for number in self.numbers)
        return t - begin, start, rate, mean - rate

    def _place(self, t):
        tau, start, rate, more = self._now(t)
        return start + tau * (rate + more * (2.0 - tau / self.period) * tau / self.period)

    def _speed(self, t):
        tau, _, rate, more = self._now(t)
        return rate + more * (4.0 - 3.0 * tau / self.period) * tau / self.period

    def _change(self, t):
        tau, _, _, more = self._now(t)
        return more * (4.0 - 6.0 * tau / self.period) / self.period
