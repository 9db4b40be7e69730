"""Characteristics of springs and dampers: an effort over a deflection or a rate, as a number, a table or a function.

A number k is the line k x. A table (x_i, y_i) is joined by cubic pieces with the slopes of Fritsch and Carlson (pchip):
continuous slope, monotone where the data are, no overshoot; beyond its ends it goes on straight. Both are rows of

    start, a_0 … a_3, V_start:     y = Σ a_k (x − start)^k ,   V = ∫_0^x y dx = V_start + ∫_start^x y dx            (1)

of which the first has no beginning and the last no end. A function is not tabulated: it is called, with its derivative
by Taylor arithmetic, as functions of time are (`fem_mbs.signals`).

Source: Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980) 238 (slopes); docs/theory/springs_and_loads.md, (6).
"""

from typing import Any

import numpy as np

from fem_mbs.jit import address, kernel, matrix
from fem_mbs.signals import Signal


@kernel
def law_value(table_at, pieces, x):
    """Value, slope and integral from 0 of a table of rows (1) at x."""
    table = matrix(table_at, pieces, 6)
    low, high = 0, pieces - 1
    while high > low:  # last piece that begins at or before x
        middle = (low + high + 1) // 2
        if table[middle, 0] <= x:
            low = middle
        else:
            high = middle - 1
    a0, a1, a2, a3 = table[low, 1], table[low, 2], table[low, 3], table[low, 4]
    t = x - table[low, 0]
    value = a0 + t * (a1 + t * (a2 + t * a3))
    slope = a1 + t * (2.0 * a2 + 3.0 * t * a3)
    integral = table[low, 5] + t * (a0 + t * (a1 / 2.0 + t * (a2 / 3.0 + t * a3 / 4.0)))
    return value, slope, integral


class Law:
    """A characteristic, from what a user gives.

    Attributes
    ----------
    table : (n, 6) array, rows (1); none for a function
    function : Signal or None
    zero : bool, whether it does nothing
    """

    def __init__(self, owner: Any, parameter: str, value: Any, unit: str, start: float = 0.0) -> None:
        self.function: Signal | None = None
        self.table = np.zeros((0, 6))
        self.zero = False
        if callable(value):
            self.function = self._checked(owner, parameter, value, start)
        elif not isinstance(value, (list, tuple)) and np.ndim(value) == 0:
            number = owner.positive(parameter, value, unit, allow_zero=True)
            self.zero = number == 0.0
            self.table = np.array([[0.0, 0.0, number, 0.0, 0.0, 0.0]])
        else:
            self.table = _pieces(owner, parameter, value)

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
        return law_value(address(self.table), len(self.table), x)[:2]

    def integral(self) -> Any:
        """∫_0^x as a function."""
        if self.function is not None:
            return self.function.integral()
        return lambda x: law_value(address(self.table), len(self.table), x)[2]


def _pieces(owner, parameter, value):
    """Rows (1) of a table of pairs."""
    from scipy.interpolate import PchipInterpolator

    data = owner.as_array(parameter, value, (None, 2))
    owner.check(len(data) >= 2, parameter, value, "needs two rows (x, effort) at least")
    x, y = data.T
    owner.check((np.diff(x) > 0).all(), parameter, value, "must have its first column increasing")
    through = PchipInterpolator(x, y)
    slope = through.derivative()(x[[0, -1]])
    rows = np.zeros((len(x) + 1, 6))
    rows[0, :3] = x[0], y[0], slope[0]
    rows[1:-1, 0], rows[1:-1, 1:5] = x[:-1], through.c[::-1].T
    rows[-1, :3] = x[-1], y[-1], slope[1]
    step = np.diff(x)
    areas = sum(rows[1:-1, 1 + k] * step ** (k + 1) / (k + 1) for k in range(4))
    rows[1:-1, 5] = np.concatenate([[0.0], np.cumsum(areas)[:-1]])
    rows[-1, 5] = areas.sum()
    rows[:, 5] -= law_value(address(rows), len(rows), 0.0)[2]
    return rows
