"""Smallest and largest values of outputs over all steps of a run, for what elements remark on at its end.

An element that leaves the range it is made for and comes back between two states that are saved has been outside all
the same. Compiled code therefore looks after every step, at the outputs of elements with a method ``remark`` alone; it
costs one evaluation of these, and nothing in models without them.

    symbol      code                  meaning
                s.remarking           groups of such elements: number, first of their outputs
                s.extremes            smallest and largest value of each of these outputs
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.jit import N_SLOTS, entry, integers, kernel
from fem_mbs.solvers.stepping.data import run_at, system_at
from fem_mbs.system.assembly import output_of
from fem_mbs.system.element_checks import remarks
from fem_mbs.system.records import groups_of

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.system import System


def remarking(system: "System") -> tuple[np.ndarray, int]:
    """Groups with elements that remark on their outputs, (k, 2) int64: number, first output; and how many there are."""
    table, count = [], 0
    for number, group in enumerate(system.groups):
        if group.sizes["no"] and any(hasattr(element, "remark") for element in group.elements):
            table.append((number, count))
            count += group.n * group.sizes["no"]
    return np.array(table, np.int64).reshape(-1, 2), count


@kernel
def note_extremes(d, s):
    """Take note of the outputs of the state after a step."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for k in range(s.remarking.shape[0]):
        g, at = groups[s.remarking[k, 0]], s.remarking[k, 1]
        for e in range(g.n):
            out = output_of(d, g, e, b, s.x, s.R, s.V, s.Vd, s.lam_report)
            for j in range(g.no):
                # what is not a number is no extreme
                if out[j] < s.extremes[at, 0]:
                    s.extremes[at, 0] = out[j]
                if out[j] > s.extremes[at, 1]:
                    s.extremes[at, 1] = out[j]
                at += 1


@entry("void(int64, int64)")
def extremes(data, run):
    """`note_extremes`: a part, for most models do not need it."""
    note_extremes(system_at(data)[0], run_at(run)[0])


def remarks_of_run(engine: "Engine") -> list[str]:
    """What elements remark on the extremes of a run."""
    seen: Any = engine.arrays["extremes"]
    if not np.isfinite(seen).any():
        return []
    rows = np.full((2, engine.system.n_outputs), np.nan)
    for number, at in engine.arrays["remarking"]:
        group = engine.system.groups[number]
        count = group.n * group.sizes["no"]
        rows[:, group.first_output : group.first_output + count] = seen[at : at + count].T
    return remarks(engine.system, rows)
