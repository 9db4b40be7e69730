"""Smallest and largest values of outputs over all steps of a run, for warnings of elements at its end.

An element may leave its range of validity and return between two saved states. Compiled code therefore checks the
outputs after every step, only those of elements with the method ``output_warnings``; it costs one evaluation of these,
and nothing in models without them. Beams need less: their kernels of forces note normal forces on the way (``noted`` of
an element), those of the residual that was evaluated last in the step. Checks that require a whole motion use the one
at which one output, the ``peak`` of an element, is largest.

Symbols: `TABLE`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import N_SLOTS, SLOT, entry, integer_matrix, integers, kernel, matrix, vector, void_pointer
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.monitors.monitor import Monitor
from fem_mbs.system.assembly import output_of
from fem_mbs.system.checks.element_checks import output_warnings, peak_warnings
from fem_mbs.system.records import groups_of, switches_of

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine

# nq groups of such elements, ny of their outputs, np of their nodes with a peak
TABLE = Table(
    "extremes",
    {
        "checked": Item("nq 5", "groups: number, first, of the peak or −1, first of peaks, 1 if noted", "i8"),
        "extremes": Item("ny 2", "smallest and largest value of these after any step", kept=True),
        "peaks": Item("np 19", "x (3), R (9), V (6) of nodes where the peak was largest, and when", kept=True),
    },
)
_EXTREMES = TABLE.dtype
_OUT = SLOT["out"]


def _place_of_peak(group):
    """Place of the peak among the outputs of an element, −1 without one."""
    kind, place = group.elements[0], 0
    for name, (size, _) in kind.outputs.items():
        if name == kind.peak:
            return place
        place += size
    return -1


@kernel
def keep_peak(g, e, row, s, peaks):
    """Keep the motion of the nodes of an element."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    for k in range(g.nn):
        i, kept = nodes[e, k], peaks[row + k]
        for j in range(3):
            kept[j] = s.x[i, j]
            for m in range(3):
                kept[3 + 3 * j + m] = s.R[i, j, m]
        for j in range(6):
            kept[12 + j] = s.V[i, j]
        kept[18] = s.t


@kernel
def widen(extremes, row, value):
    """Take a value into smallest and largest; True if it is the largest. What is not a number is no extreme."""
    if value < extremes[row, 0]:
        extremes[row, 0] = value
    if value > extremes[row, 1]:
        extremes[row, 1] = value
        return True
    return False


@kernel
def note_numbers(g, at, extremes):
    """Take what the kernels of forces have noted; 0 of elements that are off."""
    noted, on = matrix(g.noted_at, g.n, 2), switches_of(g)
    for e in range(g.n):
        for j in range(2):
            widen(extremes, at + 2 * e + j, noted[e, j] if on[e] != 0 else 0.0)


@entry("void(int64, int64)")
def note_extremes(data, run):
    """Record the outputs of the state after a step."""
    d, s = system_at(data)[0], run_at(run)[0]
    own = carray(void_pointer(s.monitor_at), (1,), _EXTREMES)[0]
    b, groups, checked, extremes = integers(d.table_at, N_SLOTS), groups_of(d), own.checked, own.extremes
    for k in range(checked.shape[0]):
        g, at, peak = groups[checked[k, 0]], checked[k, 1], checked[k, 2]
        if checked[k, 4] != 0:
            note_numbers(g, at, extremes)
            continue
        for e in range(g.n):
            output_of(d, g, e, b, s.x, s.R, s.V, s.Vd, s.lam_report)
            out = vector(b[_OUT], g.no)
            for j in range(g.no):
                if widen(extremes, at, out[j]) and j == peak:
                    keep_peak(g, e, checked[k, 3] + e * g.nn, s, own.peaks)
                at += 1


class ExtremesWatch(Monitor):
    """Extremes of outputs; no compiled code in models without such elements."""

    table = TABLE

    def __init__(self, engine: "Engine") -> None:
        super().__init__(engine)
        table, self.n_outputs, self.n_peaks = [], 0, 0
        for number, group in enumerate(self.system.groups):
            if group.sizes["no"] and any(element.output_warnings for element in group.elements):
                noted = len(group.elements[0].noted)
                table.append((number, self.n_outputs, _place_of_peak(group), self.n_peaks, int(noted > 0)))
                self.n_outputs += group.n * (noted or group.sizes["no"])
                self.n_peaks += group.n * group.sizes["nn"] if table[-1][2] >= 0 else 0
        self.checked = np.array(table, np.int64).reshape(-1, 5)
        self.after_step = note_extremes if table else None

    def sizes(self) -> dict[str, int]:
        """Return numbers of groups, outputs and nodes."""
        return {"nq": len(self.checked), "ny": self.n_outputs, "np": self.n_peaks}

    def start(self) -> None:
        """No output has been evaluated."""
        self.engine.arrays["checked"][:] = self.checked
        self.engine.arrays["extremes"][:] = np.inf, -np.inf

    def warnings(self) -> list[str]:
        """Return warnings of elements about the extremes of a run, and about the motions at their peaks."""
        seen: Any = self.engine.arrays["extremes"]
        if not np.isfinite(seen).any():
            return []
        rows = np.full((2, self.system.n_outputs), np.nan)
        found: list = []
        for number, at, peak, first, noted in self.checked:
            group = self.system.groups[number]
            if noted:
                _fill_noted(rows, group, seen[at : at + 2 * group.n].reshape(group.n, 2, 2))
                continue
            if peak >= 0:
                found += _at_peaks(group, seen[at + peak :: group.sizes["no"], 1], self.engine.arrays["peaks"][first:])
            count = group.n * group.sizes["no"]
            rows[:, group.first_output : group.first_output + count] = seen[at : at + count].T
        return output_warnings(self.system, rows) + peak_warnings(found)


def _fill_noted(rows, group, seen):
    """Extremes (n, 2, 2) of what the elements of a group have noted, as those of the outputs they stand for."""
    kind = group.elements[0]
    sizes = [size for size, _ in kind.outputs.values()]
    places = dict(zip(kind.outputs, np.cumsum([0, *sizes])))
    for j, (name, component) in enumerate(kind.noted):
        at = group.first_output + places[name] + component
        rows[:, at : at + group.n * group.sizes["no"] : group.sizes["no"]] = seen[:, j].T


def _at_peaks(group, values, kept):
    """Elements of a group, largest values of their peaks, times and motions of their nodes there."""
    found, nn = [], group.sizes["nn"]
    for e, element in enumerate(group.elements):
        own = kept[e * nn : (e + 1) * nn]
        motion = own[:, :3], own[:, 3:12].reshape(-1, 3, 3), own[:, 12:18]
        if np.isfinite(values[e]):
            found.append((element, float(values[e]), float(own[0, 18]), *motion))
    return found
