"""Modal phases: impacts of a run whose bodies deform, each from its first touch to its separation, by `modal_impact`.

A node of a mesh that a rigid impact stops has the mass of its elements; the body behind it pushes it into further
impacts, or holds the contact closed, until waves have gone through. All impulses of the run between first touch and
separation of the deforming bodies are one impact here. Its force is integrated from the state before the first of them,
not made from their impulses, which are kept for comparison:

    impulse            sum of those of the run in the steps of the phase, of impacts and closed contact
    recovered_impulse  ∫ F dt

Source: docs/theory/force_recovery.md, "Bodies that deform". Tests: tests/core/recovery/test_modal_recovery.py.
"""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fem_mbs.errors import Warnings
from fem_mbs.recovery.hysteresis import hysteresis_factor
from fem_mbs.recovery.modal_impact import LocalMotion, resolve
from fem_mbs.results.results import Results

if TYPE_CHECKING:
    from fem_mbs.recovery.forces import RecoveredForces


class Local(Protocol):
    """Interface of ``modes``: `ContactModes` and `fem_mbs.ReducedContact` have it."""

    def local_motion(self, result: Any, contact: str, state: int, speed: float, stiff: tuple) -> LocalMotion: ...


def integrate_phases(found: "RecoveredForces", result: Results, modes: Local, restitution: float) -> list:
    """Replace impacts and continuous force of ``found`` by phases; returns their curves (None: without force)."""
    table, law = found.impacts, (float(found.stiffness or 0.0), found.exponent)  # without a ForceLaw there is one
    factor = float(hysteresis_factor(found.model, restitution))
    rows, curves, problems, first = [], [], set(), 0
    while first < len(table):
        row, state = table[first], int(table.state[first])
        impact = None
        if row.speed > 0.0:  # nan: not known
            local = modes.local_motion(result, found.contact, state - 1, float(row.speed), law)
            impact = resolve(local, *law, factor)
        if impact is None or impact.curve is None:
            problems.add("no approach speed" if impact is None else impact.problem)
            count, curve = 1, None
        else:
            begin = float(row.time) if local.gap <= 0.0 or local.still else float(found.step_times[state - 1])
            curve = impact.curve.later(begin)
            count = max(int(np.searchsorted(table.time, curve.t[-1])) - first, 1)
        rows.append(_phase(found, table[first : first + count], curve, impact))
        curves.append(curve)
        first += count
    kept = np.zeros(len(rows), table.dtype).view(np.recarray)
    for i, one in enumerate(rows):
        kept[i] = one
    found.impacts, found.states = kept, kept.state
    _compare(found, result, curves, problems)
    return curves


def _phase(found, members, curve, impact):
    """Row of the table for the impacts of the run ``members``, from the curve of the phase."""
    row = members[:1].copy()
    for name in ("duration", "peak_force", "indentation", "loop_area", "recovered_impulse"):
        row[name] = np.nan
    if curve is None:
        problem = "no approach speed" if impact is None else impact.problem
        row.note = problem
        return row[0]
    t = found.step_times
    last = min(int(np.searchsorted(t, curve.t[-1])), len(t) - 1)
    steps = slice(int(row.state[0]), last + 1)
    row.impulse = found.impulse[steps].sum()
    found.continuous[steps] = 0.0
    row.background, row.merged = 0.0, len(members)
    row.time, row.duration, row.speed = curve.t[0], curve.duration, impact.speed
    row.peak_force, row.indentation = curve.force.max(), curve.indentation.max()
    row.restitution = -curve.velocity[-1] / impact.speed
    row.recovered_impulse = curve.impulse
    row.effective_mass = row.recovered_impulse / (impact.speed * (1.0 + row.restitution))
    row.energy_lost, row.loop_area = np.nansum(members.energy_lost), curve.loop_area
    notes = [name for name, holds in (
        ("touches again", impact.again), ("continues after the run", curve.t[-1] > t[-1]),
    ) if holds]  # fmt: skip
    row.note = ", ".join(notes)
    return row[0]


def _compare(found, result, curves, problems):
    """Warn of phases without force, and of those in which other contacts carry impulses too."""
    where = f"recover_forces of '{found.contact}'"
    if problems:
        count = sum(curve is None for curve in curves)
        Warnings.issue(f"{where}: {count} impacts have no force: {', '.join(sorted(problems))}")
    others = [name for name in result.contacts if name != found.contact]
    shared = set()
    for curve in (curve for curve in curves if curve is not None):
        steps = (result.t > curve.t[0]) & (result.t - result.h < curve.t[-1])
        shared |= {name for name in others if result[name].impulse[steps, 0].any()}
    if shared:
        names = ", ".join(f"'{name}'" for name in sorted(shared)[:5]) + (", …" if len(shared) > 5 else "")
        Warnings.issue(
            f"{where}: other contacts carry impulses during its impacts ({names}), which modes take as open; forces "
            "are wrong where these contacts are of the same bodies"
        )
