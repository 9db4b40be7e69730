"""Spall: a pit in a race of a ball bearing, as a local change of the gap between ball and race.

    H(s) = ½ H_max (1 + cos(2π s/L))   for |s| < L/2,   s = ρ_c (ψ − φ_d)  along the race                           (1)
    H_max = min(depth, H_geo),   H_geo = (L²/8)(2/D ± 1/R),   + inner, − outer race, R its radius                   (2)

A ball at ψ finds the race H farther away; φ_d is the place of the pit. H_geo is how deep a ball can sink between the
edges of a pit with a flat bottom: it hardly ever touches the bottom. (1) is the smooth choice of two in the source, the
other has a kink where the ball leaves one edge for the other. The pit is passed with the ball-pass frequencies of
`BearingGeometry.pass_frequencies`: lines at multiples of the outer one for a pit in the outer race; at multiples of the
inner one with side bands at the speed of the shaft for one in the inner race, which goes in and out of the load zone.

Source: docs/theory/bearings.md, (17).

    symbol   code      unit   meaning
    L        length    m      of the pit along the race, at the contact radius ρ_c
    φ_d      angle     rad    from x of the outer ring's frame
"""

import math
from dataclasses import dataclass
from typing import Any

from fem_mbs.arguments.checked import Checked, Keywords
from fem_mbs.errors import ParameterError


@Keywords.known
@dataclass(frozen=True)
class Spall(Checked):
    """A pit in a race.

    ``race``: "outer" or "inner"; ``length`` [m] along the race; ``depth`` [m], default: as deep as the ball can sink;
    ``angle`` [rad] of its middle from x of the outer ring's frame: a number, or a function of time for a race that
    turns (``lambda t: speed * t``, with the speed of the inner ring relative to the outer).

    Examples
    --------
    >>> from fem_mbs.bearings.geometry import BearingGeometry
    >>> bearing = BearingGeometry.from_designation("6205")
    >>> print(f"{1e6 * Spall('inner', 1e-3).drop(bearing):.1f} µm")
    39.5 µm
    """

    race: str
    length: float
    depth: float | None = None
    angle: Any = 0.0

    def __post_init__(self):
        self.as_choice("race", self.race, ("outer", "inner"))
        for parameter in ("length", "depth"):
            if parameter == "length" or self.depth is not None:
                object.__setattr__(self, parameter, self.positive(parameter, getattr(self, parameter), "m"))
        self.as_motion("angle", self.angle)

    def radius(self, geometry: Any) -> float:
        """Radius R of the race at the contact [m]."""
        from fem_mbs.bearings.geometry import BearingGeometry

        self.as_instance("geometry", geometry, BearingGeometry)
        side = 1 if self.race == "outer" else -1
        return 0.5 * (geometry.pitch_diameter + side * geometry.gamma() * geometry.pitch_diameter)

    def drop(self, geometry: Any) -> float:
        """H_max [m], (2).

        Raises
        ------
        ParameterError
            A pit longer than the distance of the balls.
        """
        R = self.radius(geometry)
        if not self.length < 2 * math.pi * R / geometry.balls:
            message = (
                f"m must be below the distance of the balls on this race, {2 * math.pi * R / geometry.balls:.4g} m"
            )
            raise ParameterError(self, "length", self.length, message)
        curvature = 2 / geometry.ball_diameter + (1 if self.race == "inner" else -1) / R
        sinks = self.length**2 / 8 * curvature
        return sinks if self.depth is None else min(self.depth, sinks)
