"""Theory of Hertz: contacts at a point and along a line, stresses below the surface."""

from fem_mbs.hertz.line import LineContact, palmgren_indentation
from fem_mbs.hertz.point import ChartCoefficients, HertzContact, axis_ratio, series_stiffness
from fem_mbs.hertz.stress import Peak, Stress

__all__ = [
    "ChartCoefficients", "HertzContact", "LineContact", "Peak", "Stress", "axis_ratio", "palmgren_indentation",
    "series_stiffness",
]  # fmt: skip
