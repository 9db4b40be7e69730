"""Smallest and largest values of outputs over all steps of a run, for warnings of elements at its end.

An element may leave its range of validity and return between two saved states. Compiled code therefore checks the
outputs after every step, only those of elements with the method ``output_warnings``; it costs one evaluation of these,
and nothing in models without them. Checks that require a whole motion use the one at which one output, the ``peak`` of
an element, is largest.

    symbol      code                  meaning
                s.remarking           groups of such elements: number, first of their outputs, place of the peak
                                      among those of an element (−1: none), first of their rows in s.peaks
                s.extremes            smallest and largest value of each of these outputs
                s.peaks               x (3), R (9), V (6) of a node where the peak of its element was largest, and when
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.jit import N_SLOTS, entry, integer_matrix, integers, kernel
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.assembly import output_of
from fem_mbs.system.checks.element_checks import output_warnings, peak_warnings
from fem_mbs.system.records import groups_of

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.compiled import CompiledSystem


def checked_groups(system: "CompiledSystem") -> tuple[np.ndarray, int, int]:
    """Groups with elements that check their outputs, (k, 4) int64; numbers of outputs, and of nodes of peaks."""
    table, count, nodes = [], 0, 0
    for number, group in enumerate(system.groups):
        if group.sizes["no"] and any(element.output_warnings for element in group.elements):
            table.append((number, count, _place_of_peak(group), nodes))
            count += group.n * group.sizes["no"]
            nodes += group.n * group.sizes["nn"] if table[-1][2] >= 0 else 0
    return np.array(table, np.int64).reshape(-1, 4), count, nodes


def _place_of_peak(group):
    """Place of the peak among the outputs of an element, −1 without one."""
    kind, place = group.elements[0], 0
    for name, (size, _) in kind.outputs.items():
        if name == kind.peak:
            return place
        place += size
    return -1


@kernel
def keep_peak(g, e, row, s):
    """Keep the motion of the nodes of an element."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    for k in range(g.nn):
        i, kept = nodes[e, k], s.peaks[row + k]
        for j in range(3):
            kept[j] = s.x[i, j]
            for m in range(3):
                kept[3 + 3 * j + m] = s.R[i, j, m]
        for j in range(6):
            kept[12 + j] = s.V[i, j]
        kept[18] = s.t


@kernel
def note_extremes(d, s):
    """Record the outputs of the state after a step."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for k in range(s.remarking.shape[0]):
        g, at, peak = groups[s.remarking[k, 0]], s.remarking[k, 1], s.remarking[k, 2]
        for e in range(g.n):
            out = output_of(d, g, e, b, s.x, s.R, s.V, s.Vd, s.lam_report)
            for j in range(g.no):
                # what is not a number is no extreme
                if out[j] < s.extremes[at, 0]:
                    s.extremes[at, 0] = out[j]
                if out[j] > s.extremes[at, 1]:
                    s.extremes[at, 1] = out[j]
                    if j == peak:
                        keep_peak(g, e, s.remarking[k, 3] + e * g.nn, s)
                at += 1


@entry("void(int64, int64)")
def extremes(data, run):
    """`note_extremes`: a part, for most models do not need it."""
    note_extremes(system_at(data)[0], run_at(run)[0])


def warnings_of_extremes(engine: "Engine") -> list[str]:
    """Warnings of elements about the extremes of a run, and about the motions at their peaks."""
    seen: Any = engine.arrays["extremes"]
    if not np.isfinite(seen).any():
        return []
    rows = np.full((2, engine.system.n_outputs), np.nan)
    found: list = []
    for number, at, peak, first in engine.arrays["remarking"]:
        group = engine.system.groups[number]
        if peak >= 0:
            found += _at_peaks(group, seen[at + peak :: group.sizes["no"], 1], engine.arrays["peaks"][first:])
        count = group.n * group.sizes["no"]
        rows[:, group.first_output : group.first_output + count] = seen[at : at + count].T
    return output_warnings(engine.system, rows) + peak_warnings(found)


def _at_peaks(group, values, kept):
    """Elements of a group, largest values of their peaks, times and motions of their nodes there."""
    found, nn = [], group.sizes["nn"]
    for e, element in enumerate(group.elements):
        own = kept[e * nn : (e + 1) * nn]
        motion = own[:, :3], own[:, 3:12].reshape(-1, 3, 3), own[:, 12:18]
        if np.isfinite(values[e]):
            found.append((element, float(values[e]), float(own[0, 18]), *motion))
    return found
