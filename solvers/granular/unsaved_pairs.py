"""Impulses of the pairs of a contact group in steps that are not saved, by the spheres or shapes that touch.

Pairs come and go, so that sums are kept in a table by their two numbers: a hash table with open addressing, at most
half full. The contacts of two shapes are one entry. It exists in runs that save only some of their steps.

Source: `stepping.monitors.unsaved`, (1); Knuth, The Art of Computer Programming 3, section 6.4, algorithm L.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel
from fem_mbs.results.table import PAIR_COLUMNS, pair_column
from fem_mbs.solvers.stepping.saved.saved_state import arrays_of, numbers_of, put_arrays, put_numbers

if TYPE_CHECKING:
    from fem_mbs.solvers.granular.grains import Grains

HALF = 2**31
SPREAD = 0x1E3779B97F4A7C15  # odd: neighbouring keys lie far apart
FIRST_SIZE = 1024  # of the table, a power of two

# of two spheres or shapes: sums of impulses, and the rest of the last step in which they touched
SUM = np.dtype(
    [("impulse", "f8", 3), ("moment_impulse", "f8", 3), ("point", "f8", 3), ("normal", "f8", 3), ("gap", "f8")],
    align=True,
)
TABLE = Table(
    "unsaved impulses of a contact group",
    {
        "key": Item("nu", "first · 2³² + second + 2³¹ of each place, −1: free", "i8"),
        "values": Item("nu", "impulse, moment impulse, last point, last normal, last gap", SUM),
        "used": Item("nu", "places that are not free", "i8"),
        "number": Item("", "of these", "i8"),
        "wanted": Item("", "entries that there must be room for", "i8"),
        "left": Item("", "the last step is not in the table yet: it was too small", "i8"),
    },
)


@kernel
def place_of(u, key):
    """Place of a key in the table, where it is or goes."""
    last = u.key.shape[0] - 1
    k = ((key * SPREAD) >> 20) & last
    while u.key[k] != -1 and u.key[k] != key:
        k = (k + 1) & last
    if u.key[k] == -1:
        u.key[k] = key
        u.used[u.number] = k
        u.number += 1
    return k


@kernel
def add_pairs(u, p, s):
    """Add the impulses of the last step; False, and nothing is added: the table must grow first."""
    u.wanted = u.number + p.count
    u.left = 1 if 2 * u.wanted > u.key.shape[0] else 0
    if u.left != 0:
        return False
    bodies, resists = p.clumps != 0, p.resists != 0
    for c in range(p.count):
        pair = p.pairs[c]
        if not pair.normal_impulse > 0.0:
            continue
        a, b = p.first[c], p.second[c]
        first, second = a, b
        if p.shapes != 0:
            first = p.shape[a]
            second = p.shape[b] if b >= 0 else b
        total = u.values[place_of(u, first * 2 * HALF + second + HALF)]
        for i in range(3):
            n = pair.normal[i]
            total.impulse[i] += pair.normal_impulse * n + pair.tangential_impulse[i]
            total.normal[i] = n
            total.point[i] = s.x0[p.node[a], i] + p.arms[c, i] if bodies else p.at[a, i] - p.radius[a] * n
            if resists:
                total.moment_impulse[i] += p.moments[c].moment_impulse[i]
        total.gap = p.gap[c]
    return True


@kernel
def move_entries(u, key, values, used, number):
    """Put entries of a smaller table into this one, which is empty."""
    for i in range(number):
        k = place_of(u, key[used[i]])
        u.values[k] = values[used[i]]


@kernel
def grow(record, key, values, used, number):
    """`move_entries` for Python."""
    move_entries(record[0], key, values, used, number)


@kernel
def add_left(record, grains, run):
    """`add_pairs` for Python."""
    return add_pairs(record[0], grains[0], run[0])


class UnsavedPairs:
    """The table of one run."""

    def __init__(self) -> None:
        self.arrays, self.record = TABLE.arrays({"nu": FIRST_SIZE}), np.zeros(1, TABLE.dtype)
        self._clear()

    def _clear(self):
        self.arrays["key"][:], self.record[0]["number"] = -1, 0
        TABLE.aim(self.record, self.arrays)

    def take_left(self, grains: "Grains") -> bool:
        """Make room for the last step and add it; False: it is in the table."""
        if not self.record[0]["left"]:
            return False
        old, number = self.arrays, int(self.record[0]["number"])
        size = 1 << int(4 * self.record[0]["wanted"]).bit_length()
        self.arrays = TABLE.arrays({"nu": size})
        self._clear()
        grow(self.record, old["key"], old["values"], old["used"], number)
        return bool(add_left(self.record, grains.record, grains.engine.run))

    def take(self, grains: "Grains") -> np.ndarray:
        """Table of pairs, see `fem_mbs.results.table.PAIRS`; none waits then."""
        a, number = self.arrays, int(self.record[0]["number"])
        used = a["used"][:number]
        key, values = a["key"][used], a["values"][used]
        first, second = key // (2 * HALF), key % (2 * HALF) - HALF
        types, partners, fixed, obstacles = np.zeros(number), second.copy(), second < 0, grains.obstacles
        types[fixed], partners[fixed] = (of[-1 - second[fixed]] for of in (obstacles.types, obstacles.partners))
        columns: dict[str, Any] = {
            "sphere": first, "type": types, "partner": partners, "gap": values["gap"],
            **{name: values[name] for name in ("impulse", "moment_impulse", "point", "normal")},
        }  # fmt: skip
        table = np.zeros((number, PAIR_COLUMNS))
        for name, column in columns.items():
            table[:, pair_column(name)] = column
        a["values"][used] = np.zeros((), SUM)
        self._clear()
        return table

    def get_state(self) -> dict[str, Any]:
        """All entries, a copy."""
        return {"arrays": arrays_of(self.arrays), "numbers": numbers_of(TABLE, self.record)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from what `get_state` has given."""
        put_arrays("unsaved impulses", self.arrays, state["arrays"])
        TABLE.aim(self.record, self.arrays)
        put_numbers(TABLE, self.record, state["numbers"])
