"""Rainflow counting: cycles of a history that varies irregularly.

With the turning points of the history on a stack, X the range of the last two and Y that of the two before:

    X < Y                                 take the next turning point
    X ≥ Y, Y begins at the first point    half a cycle of range Y; remove the first point                           (1)
    X ≥ Y else                            a cycle of range Y; remove both of its points                             (2)

At the end the remaining ranges are half cycles. A history that repeats is counted from its largest value to its next
occurrence: the half cycles are then pairs of equal ones.

(1), (2) are applied while the last point still moves, before it is known to be a turning point: X only grows, and Y no
longer changes. Points between turning points and equal neighbours have no effect.

Source: ASTM E1049-85, 5.4.4; repeating histories: 5.4.5. Own implementation: the library `rainflow` counts in Python,
about 1 µs per value and per point of a body, and does not count repeating histories; tests compare the two. Tests:
tests/core/fatigue/test_rainflow.py.

    symbol   code      unit            meaning
    -        points    of the history  stack of turning points; the last may still move
    X, Y     -         of the history  the last range and the one before
"""

from typing import NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.jit import kernel


class Cycles(NamedTuple):
    """Cycles of a history, sorted by their range.

    ``range`` (n,), largest minus smallest value; ``mean`` (n,), both in the unit of the history; ``number`` (n,), 0.5
    for half cycles; equal cycles are one row.
    """

    range: np.ndarray
    mean: np.ndarray
    number: np.ndarray

    @property
    def amplitude(self) -> np.ndarray:
        """Half the range (n,)."""
        return 0.5 * self.range

    def __repr__(self):
        largest = f", range up to {self.range.max():.6g}" if len(self.range) else ""
        return f"Cycles({self.number.sum():g} cycles in {len(self.range)} rows{largest})"


@kernel
def _add(points, k, cycles, n, count):
    """Write the cycle between points k and k + 1 to row n of cycles (range, mean, count)."""
    cycles[n, 0] = abs(points[k + 1] - points[k])
    cycles[n, 1] = 0.5 * (points[k + 1] + points[k])
    cycles[n, 2] = count


@kernel
def _count(history, points, cycles):
    """Fill cycles (k, 3) by (1), (2) from history (k,); points (k,) is scratch. Returns the number of rows."""
    n, top = 0, 0
    for value in history:
        if top > 0 and value == points[top - 1]:
            continue
        if top > 1 and (points[top - 1] > points[top - 2]) == (value > points[top - 1]):
            points[top - 1] = value
        else:
            points[top] = value
            top += 1
        while top > 2 and abs(points[top - 1] - points[top - 2]) >= abs(points[top - 2] - points[top - 3]):
            half = top == 3
            _add(points, top - 3, cycles, n, 0.5 if half else 1.0)
            n += 1
            if half:
                points[0], points[1] = points[1], points[2]
                top = 2
            else:
                points[top - 3] = points[top - 1]
                top -= 2
    for k in range(top - 1):
        _add(points, k, cycles, n, 0.5)
        n += 1
    return n


def counted(history: np.ndarray, repeats: bool) -> np.ndarray:
    """Cycles (n, 3): range, mean, count, as they are found, of a history (k,)."""
    if repeats:
        history = np.roll(history, -int(np.argmax(history)))
        history = np.append(history, history[0])
    cycles = np.empty((len(history), 3))
    return cycles[: _count(np.ascontiguousarray(history), np.empty(len(history)), cycles)]


@Keywords.known
def rainflow(history: ArrayLike, *, repeats: bool = False) -> Cycles:
    """Cycles of a history by rainflow counting.

    Parameters
    ----------
    history : (k,)
        Values over time, such as a stress [Pa]; the times do not matter. Between the values it is monotone: every
        turning point must be among them. A stress with a sign: von Mises' stress, which has none, hides half of the
        range of a stress that changes its sign.
    repeats : bool
        The history is one period of a load that repeats. Otherwise it happens once, and half cycles remain.

    Returns
    -------
    Cycles

    Examples
    --------
    The example printed in ASTM E1049-85:

    >>> cycles = rainflow([-2, 1, -3, 5, -1, 3, -4, 4, -2])
    >>> for size, mean, number in zip(*cycles):
    ...     print(f"range {size:g}, mean {mean:4g}, {number:g} cycles")
    range 3, mean -0.5, 0.5 cycles
    range 4, mean   -1, 0.5 cycles
    range 4, mean    1, 1 cycles
    range 6, mean    1, 0.5 cycles
    range 8, mean    0, 0.5 cycles
    range 8, mean    1, 0.5 cycles
    range 9, mean  0.5, 0.5 cycles
    """
    owner = Named("rainflow")
    values = owner.as_array("history", history, (None,))
    owner.check(len(values) > 0, "history", values, "has no values")
    found = counted(values, owner.as_flag("repeats", repeats))
    rows, which = np.unique(found[:, :2], axis=0, return_inverse=True)
    return Cycles(rows[:, 0], rows[:, 1], np.bincount(which.ravel(), found[:, 2], minlength=len(rows)))
