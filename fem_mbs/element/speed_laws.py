"""Coefficients that depend on a speed: restitution on the approach speed, friction on the sliding speed.

Source: docs/theory/contact_laws.md, (12), (15), (16).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked, FloatOrArray
from fem_mbs.system.speed_pieces import EXPONENTIAL, PIECE, POWER, values_of


class SpeedLaw(Checked):
    """Base of coefficients c(v) ≥ 0 that depend on a speed v ≥ 0 [m/s]; called with speeds it returns its values.

    Attributes
    ----------
    pieces : (k,) records `fem_mbs.system.speed_pieces.PIECE`
    largest : float
        Largest value at any speed.
    """

    pieces: np.ndarray
    largest: float

    def __call__(self, speed: ArrayLike) -> FloatOrArray:
        """Values at speeds ≥ 0 [m/s], a number or an array, in the shape of these."""
        speed = self.as_array("speed", speed)
        self.check(bool((speed >= 0.0).all()), "speed", speed, "m/s must be ≥ 0")
        found = values_of(self.pieces, speed.ravel()).reshape(speed.shape)
        return found if speed.ndim else float(found)


class SpeedTable(SpeedLaw):
    """Values at speeds, linear between them and constant outside.

    Parameters
    ----------
    points : (k, 2), k ≥ 2
        Speeds [m/s], rising, and values.
    """

    def __init__(self, points: np.ndarray) -> None:
        self.points = points
        self.largest = float(points[:, 1].max())
        (v, values), k = points.T, len(points)
        slopes = np.diff(values) / np.diff(v)
        self.pieces = np.zeros(k + 1, PIECE)
        self.pieces["start"][1:], self.pieces["scale"], self.pieces["exponent"] = v, 1.0, 1.0
        self.pieces["constant"] = [values[0], *(values[:-1] - slopes * v[:-1]), values[-1]]
        self.pieces["factor"][1:-1] = slopes
        self.pieces["kind"] = POWER


class PowerRestitution(SpeedLaw):
    """Restitution that falls with a power of the approach speed v, as of impacts with plastic deformation.

        e(v) = e_0 ,  v ≤ v_0 ;      e(v) = e_0 (v/v_0)^(−p) ,  v > v_0

    Parameters
    ----------
    restitution : float, 0 … 1, -
        e_0, at approach speeds up to ``speed``.
    speed : float > 0 [m/s]
        v_0, above which the restitution falls; of two elastic-plastic bodies the speed at which yielding begins.
    exponent : float > 0, -
        p. Default: 1/4, of impacts of spheres that deform plastically (Johnson).

    Raises
    ------
    ParameterError
        Values out of range.

    Notes
    -----
    Far above the yield speed a constant pressure over the contact area gives e ∝ v^(−1/4), measured for spheres of
    steel, brass and aluminium. Near the yield speed measured values fall more slowly: use a table there.
    Source: K. L. Johnson, Contact Mechanics (1985), 11.5; C. Thornton, J. Appl. Mech. 64 (1997).

    Examples
    --------
    >>> law = PowerRestitution(0.9, 0.1)
    >>> law(0.05), round(law(1.6), 6)
    (0.9, 0.45)
    """

    def __init__(self, restitution: float, speed: float, exponent: float = 0.25) -> None:
        self.restitution = self.largest = self.number("restitution", restitution, at_least=0, at_most=1)
        self.speed = self.positive("speed", speed, "m/s")
        self.exponent = self.positive("exponent", exponent)
        below = (0.0, self.restitution, 0.0, 1.0, 1.0, POWER)
        above = (self.speed, 0.0, self.restitution, self.speed, -self.exponent, POWER)
        self.pieces = np.array([below, above], PIECE)


class StribeckLaw(SpeedLaw):
    """Sliding friction μ_k + (μ_s − μ_k) exp(−(v/v_s)^n); with v_s = 0 it is μ_k at any speed."""

    def __init__(self, static: float, sliding: float, speed: float, exponent: float) -> None:
        self.largest = static if speed > 0.0 else sliding
        fall = static - sliding if speed > 0.0 else 0.0
        self.pieces = np.array([(0.0, sliding, fall, speed or 1.0, exponent, EXPONENTIAL)], PIECE)


def table_of(owner: Any, parameter: str, value: Any, most: float = np.inf) -> SpeedTable:
    """Return a table of speeds and values; ParameterError of ``owner`` for one that is none, or values > ``most``."""
    points = owner.as_array(parameter, value, (None, 2))
    owner.check(len(points) > 1, parameter, value, "must have two or more pairs (speed, value); or give one number")
    v, values = points.T
    for bad, message in (
        (v < 0.0, "speeds [m/s] must be ≥ 0"),
        (np.diff(v, prepend=-1.0) <= 0.0, "speeds [m/s] must rise from one pair (speed, value) to the next"),
        ((values < 0.0) | (values > most), f"values must be 0 … {most:g}" if most < np.inf else "values must be ≥ 0"),
    ):
        if bad.any():
            k = int(bad.argmax())
            owner.check(False, parameter, value, f"has the pair ({v[k]:g}, {values[k]:g}); {message}")
    return SpeedTable(points.copy())


def is_table(value: Any) -> bool:
    """True for a sequence of sequences, which can only be a table."""
    if isinstance(value, np.ndarray):
        return value.ndim > 1
    several = isinstance(value, Sequence) and not isinstance(value, str)
    return several and len(value) > 0 and isinstance(value[0], (Sequence, np.ndarray))


def restitution_of(owner: Any, value: Any, parameter: str = "restitution") -> Any:
    """A restitution in the form that is kept: a float, or a `SpeedLaw`."""
    if isinstance(value, SpeedLaw):
        owner.check(value.largest <= 1.0, parameter, value, "has values above 1")
        return value
    if is_table(value):
        return table_of(owner, parameter, value, 1.0)
    message = "must be a number, pairs (approach speed [m/s], value), or PowerRestitution(…)"
    owner.check(not callable(value) and not isinstance(value, dict), parameter, value, message)
    return owner.number(parameter, value, at_least=0, at_most=1)


def largest(restitution: Any) -> float:
    """Largest restitution at any approach speed."""
    return restitution.largest if isinstance(restitution, SpeedLaw) else restitution


def pieces_of(value: SpeedLaw | float) -> np.ndarray:
    """Pieces of a law, or of a number."""
    return value.pieces if isinstance(value, SpeedLaw) else np.array([(0.0, value, 0.0, 1.0, 1.0, POWER)], PIECE)
