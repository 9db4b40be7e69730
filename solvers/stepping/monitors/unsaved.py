"""Impulses of steps that are not saved: the next saved state reports them with its own.

A saved state reports the impulse of a contact since the saved state before,

    Λ = Σ_k Λ_k ,      Λ_k = n_k Λ_N + t_1 Λ_T1 + t_2 Λ_T2  of step k, inertial axes                                 (1)

with the scale of anisotropic friction (`fem_mbs.element.anisotropic`) in both last terms,

as its components along the axes n, t_1, t_2 that are saved with it. The sum over all saved states is then that over all
steps, whatever the interval between them is. An impact is reported if it occurred in any of these steps. Forces are
those of the step that leads to the saved state.

    symbol   code             unit   meaning
    Σ Λ_k    unsaved          N s    of steps since the last saved state, inertial axes; `unsaved_chi`: moments, N m s
    -        waiting          -      0: nothing, 1: impulses, 2: impulses of an impact
    -        counted          -      impact problems, repeats, sub-problems of the contact-problem solver

Source: elementary; docs/howto/results.md, what a saved state contains.
"""

from typing import TYPE_CHECKING

from fem_mbs.jit import entry, integers, kernel
from fem_mbs.results.sums import SUMS, along_axes
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.contacts import contact_groups, contacts_of

if TYPE_CHECKING:
    import numpy as np

    from fem_mbs.solvers.stepping.engine import Engine

NO_NORMAL = 0.5  # squared length of the normal of a contact that has none in its present position


@kernel
def impulses_of(s):
    """Impulses (nc, 6) of contacts in the last step."""
    return s.sent if s.persistent != 0 else s.total_Lam


@kernel
def _add(d, s, Lam):
    """Add impulses Lam (nc, 6) of contacts, along their present axes, to those that wait."""
    impact = integers(s.impact_at, d.nc)
    for g in contact_groups(d):
        contact = contacts_of(g)
        scale = contact.friction_scale
        for e in range(g.n):
            c = g.first_contact + e
            if impact[c] != 0:
                s.waiting[c] = 2
            size = 0.0
            for i in range(SIX):
                size += abs(Lam[c, i])
            if size == 0.0:
                continue
            s.waiting[c] = max(s.waiting[c], 1)
            for i in range(3):
                n, t1, t2 = contact.normal[e, i], contact.tangents[e, 0, i], contact.tangents[e, 1, i]
                s.unsaved[c, i] += Lam[c, 0] * n + scale[e, 0] * Lam[c, 1] * t1 + scale[e, 1] * Lam[c, 2] * t2
                s.unsaved_chi[c, i] += Lam[c, 3] * t1 + Lam[c, 4] * t2 + Lam[c, 5] * n  # rolling, then spinning


@kernel
def _count(s):
    """Add the counts of the last step that are reported as sums."""
    s.counted[0] += s.impact_problems
    s.counted[1] += s.repeats
    s.counted[2] += s.handed_problems


@kernel
def keep_unsaved(d, s):
    """Keep the impulses and counts of the last step, which is not saved, or is a part of a step."""
    if d.nc > 0:
        _add(d, s, impulses_of(s))
    _count(s)
    s.unsaved_step = s.step_number


@entry("void(int64, int64)")
def keep_jump(data, run):
    """Keep impulses of a jump between two steps, which are in ``total_Lam``."""
    d, s = system_at(data)[0], run_at(run)[0]
    _add(d, s, s.total_Lam)


@kernel
def report_counted(s, o, k):
    """Put into row k of the records what steps were counted for since the last saved state."""
    if s.unsaved_step != s.step_number:
        _count(s)
    o.problems[k], o.repeats[k], o.contact_problems[k] = s.counted[0], s.counted[1], s.counted[2]
    for i in range(3):
        s.counted[i] = 0


@kernel
def report_unsaved(s, o, k, c):
    """Add the impulses of contact c that wait to row k of the records o, whose axes are there; none waits then."""
    if s.waiting[c] == 0:
        return
    if s.waiting[c] == 2:
        o.impact[k, c] = 1
    n, t, Lam, chi = o.contact_normal[k, c], o.contact_tangents[k, c], s.unsaved[c], s.unsaved_chi[c]
    size, square = 0.0, 0.0
    for i in range(3):
        size += n[i] * n[i]
        square += Lam[i] * Lam[i]
    if size < NO_NORMAL and square > 0.0:  # an open contact without a normal where it is now
        for i in range(3):
            n[i] = Lam[i] / square**0.5
    for i in range(3):
        o.impulse[k, c, 0] += n[i] * Lam[i]
        o.moment_impulse[k, c, 2] += n[i] * chi[i]
        for j in range(2):
            o.impulse[k, c, 1 + j] += t[j, i] * Lam[i]
            o.moment_impulse[k, c, j] += t[j, i] * chi[i]
    s.waiting[c] = 0
    for i in range(3):
        Lam[i] = chi[i] = 0.0


def deliver(engine: "Engine", block: "dict[str, np.ndarray]", row: int) -> None:
    """Put all impulses and counts that wait into a row of records that has the axes of contacts; none waits then.

    For a subdivided step: substeps wait as steps that are not saved do.
    """
    a, fixed, one = engine.arrays, slice(0, engine.system.nc_fixed), slice(row, row + 1)
    axes = {name: values[one] for name, values in block.items()}
    sums = along_axes(axes, a["unsaved"][None, fixed], a["unsaved_chi"][None, fixed])
    sums |= {"impact": a["waiting"][None, fixed] == 2, **dict(zip(SUMS[2:], a["counted"]))}
    for name, value in sums.items():
        block[name][one] = value
    for name in ("unsaved", "unsaved_chi", "waiting", "counted"):
        a[name][:] = 0
