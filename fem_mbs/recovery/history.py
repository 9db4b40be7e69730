"""Recovered history: total curves of a contact over time, tables and plots of what `force_recovery` found.

Histories are given at the ends of all steps and at 201 times within each impact. The force of the closed contact is
constant in a step; where it jumps between two steps the time appears twice, before and after, so that the trapezoidal
rule integrates it exactly.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fem_mbs.recovery.forces import RecoveredForces

SAMPLES = 201


def histories(found: "RecoveredForces") -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, force, indentation and approach speed, each (n,), of a `RecoveredForces`."""
    t, F_c = found.step_times, found.continuous
    # state k: value of the step that ends there, and of the one that begins
    after = np.append(F_c[1:], F_c[-1])
    before = np.concatenate([after[:1], F_c[1:]])
    jumps = before != after
    table, good = found.impacts, found.recovered
    inner = table.time[good, None] + table.duration[good, None] * np.linspace(0, 1, SAMPLES)
    inner = np.minimum(inner.ravel(), t[-1])  # an impact at the end of the run continues after it: cut
    at_step = np.clip(np.searchsorted(t, inner, "left"), 1, len(t) - 1)
    # the second appearance of a time must come after the first: key 0, 1, 2 (before, within, after)
    times = np.concatenate([t, inner, t[jumps]])
    keys = np.concatenate([np.zeros(len(t)), np.ones(len(inner)), np.full(jumps.sum(), 2)])
    force = np.concatenate([before, F_c[at_step], after[jumps]])
    order = np.lexsort((keys, times))
    times, force = times[order], force[order]
    indentation = found.static_indentation(np.maximum(force, 0.0))  # filters may leave a tension of round-off
    velocity = _speed_of_bodies(found, times)
    if len(good):
        first = np.searchsorted(times, table.time[good], "left")
        last = np.searchsorted(times, table.time[good] + table.duration[good], "right")
        for i, a, b in zip(good, first, last):
            row = table[i]
            tau = np.clip((times[a:b] - row.time) / row.duration, 0.0, 1.0)
            curve = found._curve_at(i, tau)
            force[a:b] += curve.force
            indentation[a:b] = np.maximum(indentation[a:b], curve.indentation)
            velocity[a:b] = curve.velocity
    return times, force, indentation, velocity


def _speed_of_bodies(found, times):
    """Approach speeds (n,) [m/s]: straight between saved states, with a jump at first touch in steps with an impact."""
    t, closing = found.step_times, found.closing
    speed = np.interp(times, t, closing)
    step = np.clip(np.searchsorted(t, times, "left"), 1, len(t) - 1)
    touch = np.full(len(t), np.nan)
    touch[found.impacts.state] = found.impacts.time
    struck = ~np.isnan(touch[step])
    late = times > touch[step]
    return np.where(struck, np.where(late, closing[step], closing[step - 1]), speed)


def text(found: "RecoveredForces", rows: int = 20) -> str:
    """Table of impacts as a text."""
    from fem_mbs.checks import table
    from fem_mbs.recovery.hysteresis import _title

    impacts = found.impacts
    shown = np.arange(len(impacts))
    if len(impacts) > rows:
        rank = np.argsort(-np.where(np.isnan(impacts.peak_force), -1.0, impacts.peak_force), kind="stable")
        shown = np.sort(rank[:rows])
    law = getattr(found.model, "name", _title(found.model))
    total, struck = found.impulse[1:].sum(), impacts.impulse.sum()
    lines = [
        f"{found.contact}: {len(impacts)} impacts ({law}, {found.filter} filter)"
        + (f", the {rows} with the largest forces" if len(shown) < len(impacts) else ""),
        f"impulse {total:.6g} N s, of which impacts {struck:.6g} N s; largest continuous force "
        f"{found.continuous.max():.6g} N",
    ]
    if len(shown):
        columns = {
            "time [s]": ("time", "{:.6g}"), "speed [m/s]": ("speed", "{:.4g}"), "e": ("restitution", "{:.3f}"),
            "impulse [N s]": ("impulse", "{:.5g}"), "duration [s]": ("duration", "{:.4g}"),
            "peak force [N]": ("peak_force", "{:.5g}"), "indentation [m]": ("indentation", "{:.4g}"),
            "energy lost [J]": ("energy_lost", "{:.4g}"), "note": ("note", "{}"),
        }  # fmt: skip
        body = [[form.format(impacts[name][i]) for name, form in columns.values()] for i in shown]
        cells = [["", *columns], *([str(i), *row] for i, row in zip(shown, body))]
        lines.append(table(cells, left=(len(columns),)))
    return "\n".join(lines)


def plot(
    found: "RecoveredForces",
    impacts: int | Sequence[int],
    save: str | Path | None,
    show: bool,
    title: str | None,
    size: tuple[float, float],
) -> Any:
    """See `RecoveredForces.plot`."""
    import matplotlib

    from fem_mbs.results.drawing.plot import COLORS, STYLE, _new_figure

    if isinstance(impacts, (int, np.integer)):
        rank = found.recovered[np.argsort(-found.impacts.peak_force[found.recovered], kind="stable")]
        rows: Any = np.sort(rank[:impacts])
    else:
        rows = impacts
    with matplotlib.rc_context(STYLE):
        figure = _new_figure(size, show)
        if len(rows):
            grid = figure.add_gridspec(2, 2)
            whole, course_of, loop = (figure.add_subplot(grid[s]) for s in ((0, slice(None)), (1, 0), (1, 1)))
        else:
            whole = figure.subplots()
        whole.plot(found.t, found.force, color=COLORS[0], lw=1.0, label="total")
        if found.continuous.any():
            whole.plot(
                found.step_times,
                found.continuous,
                color=COLORS[1],
                lw=1.0,
                drawstyle="steps-pre",
                label="closed contact",
            )
            whole.legend(loc="best")
        whole.set(xlabel="time [s]", ylabel="normal force [N]")
        whole.set_title(title or f"{found.contact}: recovered force", loc="left")
        for n, i in enumerate(rows):
            curve, color = found.curve(i), COLORS[n % len(COLORS)]
            label = f"t = {found.impacts.time[i]:.4g} s, {found.impacts.speed[i]:.3g} m/s"
            course_of.plot((curve.t - curve.t[0]) * 1e3, curve.force, color=color, label=label)
            loop.plot(curve.indentation * 1e3, curve.force, color=color)
        if len(rows):
            course_of.set(xlabel="time since first touch [ms]", ylabel="force [N]")
            loop.set(xlabel="indentation [mm]", ylabel="force [N]")
            course_of.legend(loc="best", fontsize=8)
        if save is not None:
            figure.savefig(save, dpi=150)
    if show:
        import matplotlib.pyplot as plt

        plt.show()
    return figure
