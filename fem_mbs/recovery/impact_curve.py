"""Impact curve: force, indentation and its rate during one impact. Tests: tests/core/recovery/test_impact_laws.py."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, repr=False)
class ImpactCurve:
    """One impact in time.

    Attributes
    ----------
    t : (k,) [s], times; the impact begins at the first and ends at the last
    force : (k,) [N]
    indentation : (k,) [m]
    velocity : (k,) [m/s], rate of the indentation, > 0 while closing
    """

    t: np.ndarray
    force: np.ndarray
    indentation: np.ndarray
    velocity: np.ndarray

    def __repr__(self):
        return f"ImpactCurve({len(self.t)} times, {self.duration:.6g} s, at most {self.force.max():.6g} N)"

    def later(self, t: float) -> "ImpactCurve":
        """The same curve, at times later by t [s]."""
        return ImpactCurve(self.t + t, self.force, self.indentation, self.velocity)

    @property
    def duration(self) -> float:
        """[s]"""
        return self.t[-1] - self.t[0]

    @property
    def impulse(self) -> float:
        """∫ F dt [N s], by Simpson's rule."""
        from scipy.integrate import simpson

        return float(simpson(self.force, x=self.t))

    @property
    def loop_area(self) -> float:
        """∮ F dδ [J] of the hysteresis loop: energy lost to the law."""
        from scipy.integrate import simpson

        return float(simpson(self.force * self.velocity, x=self.t))


def evenly(curve: ImpactCurve, samples: int) -> ImpactCurve:
    """A curve at so many evenly spaced times, straight between its own."""
    return at_times(curve, np.linspace(curve.t[0], curve.t[-1], samples))


def at_times(curve: ImpactCurve, t: np.ndarray) -> ImpactCurve:
    """A curve at other times, straight between its own."""
    return ImpactCurve(t, *(np.interp(t, curve.t, c) for c in (curve.force, curve.indentation, curve.velocity)))
