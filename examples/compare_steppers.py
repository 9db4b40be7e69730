"""All time steppers on six problems: error over time of computation and over step, energy, joints, gaps.

Smooth motion of rigid and of flexible bodies, impacts, rolling and sliding, impacts that go on from body to body, and
an elastic bar against a wall. Errors are against closed forms, integration of minimal coordinates, or a run of sixth
order that agrees with printed digits. Times are processor seconds of a whole run, with compiled code that is loaded:
read their ratios, not their values. docs/comparison.md says what follows for the choice of a scheme.

    python examples/compare_steppers.py         writes compare_steppers.vtkhdf (the soft pendulum), and the pictures
                                                compare_steppers.png, _orders.png, _kept.png
"""

import time
from collections import namedtuple
from functools import partial

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.mechanism import iterations, unknowns
from fem_mbs.cases.six_problems import PROBLEMS, reference_misses, soft_pendulum
from fem_mbs.checks import table
from fem_mbs.errors import ParameterError
from fem_mbs.runtime import output_path

RTOL = 1e-9  # of the iterations: far below the errors of the steps
ROUND_OFF = 1e-12  # m: errors below it are not of the steps

published = partial(fem.DecoupledNSGA.published, rtol=RTOL, approach="slower")  # without its gains of energy
# label -> the stepper, and how its curve looks: colour, marker
METHODS = {
    "Decoupled": (published(), "#1f5fa8", "o"),  # the published steps
    "Decoupled, split": (published(impacts="split"), "#2a9d8f", "s"),
    "Decoupled, default": (fem.DecoupledNSGA(rtol=RTOL), "#7fb2e5", "D"),
    "Moreau-Jean": (fem.MoreauJean(rtol=RTOL), "#e07b00", "^"),
    "Moreau-Jean, projected": (fem.MoreauJean(projection=True, rtol=RTOL), "#f4b860", "P"),
    "Nonsmooth GGL": (fem.NonsmoothGeneralizedAlphaGGL(rtol=RTOL), "#6aa84f", "v"),
    "Nonsmooth friction": (fem.NonsmoothGeneralizedAlphaFriction(rtol=RTOL), "#274e13", "p"),
    "Generalized-α": (fem.GeneralizedAlpha(rtol=RTOL), "#222222", "x"),
    "Lobatto 2": (fem.LobattoIIIAB(2), "#e3a0d8", "$2$"),
    "Lobatto 3": (fem.LobattoIIIAB(3), "#b455a8", "$3$"),
    "Lobatto 4": (fem.LobattoIIIAB(4), "#6a1b6a", "$4$"),
    "Cone, relaxed": (fem.ConeComplementarity(rtol=RTOL), "#c94a3b", "<"),
    "Cone, Coulomb": (fem.ConeComplementarity(relaxed=False, rtol=RTOL), "#7a4a12", ">"),
}
DEFAULT = "Decoupled, default"

# one run: step [s], error [m], processor time [s], energy at the end − reference [J], largest |g| [m], smallest gap
# [m], and solves per step
Run = namedtuple("Run", "h error seconds energy drift gap iterations")
# runs of a method on a problem: unknowns of the largest matrix, and the last error of runs that failed
Series = namedtuple("Series", "runs unknowns failed")


# --- runs ------------------------------------------------------------------------


def series(problem, stepper, steps):
    """`Series` of a method with several numbers of steps; runs that raise an error are listed, not counted."""
    system, (error, energy) = problem.build().compile(), problem.reference()
    runs, failed = [], ""
    for n in steps:
        h = problem.duration / n
        try:
            if not runs:
                stepper.run(system, 2 * h, h)  # loads compiled code
            before = time.process_time()
            result = stepper.run(system, problem.duration, h)
            seconds = time.process_time() - before
        except (ParameterError, fem.SolverError) as reason:
            failed = str(reason)
            continue
        gaps = [result[name].gap.min() for name in result.names if hasattr(result[name], "gap")]
        runs.append(
            Run(
                h, error(result), seconds, result.energy.total[-1] - energy, result.violation.position.max(),
                min(gaps, default=np.nan), sum(iterations(stepper, result)),
            )
        )  # fmt: skip
    return Series(runs, unknowns(stepper, system, runs[-1].h) if runs else 0, failed)


def column(found, name):
    """One quantity of all runs (k,)."""
    return np.array([getattr(run, name) for run in found.runs], float)


def order(found):
    """Slope of the error over the step; nan where errors are round-off or runs are few."""
    h, error = column(found, "h"), column(found, "error")
    above = error > ROUND_OFF
    return np.polyfit(np.log(h[above]), np.log(error[above]), 1)[0] if above.sum() > 2 else np.nan


def order_text(found):
    """The order as it is shown."""
    slope = order(found)
    if column(found, "error")[-1] < ROUND_OFF and np.isnan(slope):
        return "exact"
    return "-" if np.isnan(slope) else f"{slope + 0.0:.1f}".replace("-0.0", "0.0")


def per_step(problem, found):
    """Processor time of one step more [µs]."""
    if len(found.runs) < 2:
        return np.nan
    return 1e6 * np.polyfit(problem.duration / column(found, "h"), column(found, "seconds"), 1)[0]


def cost(found, error):
    """Shortest time [s] of the runs with at most this error, on straight lines between runs; inf: none has it."""
    seconds, errors = column(found, "seconds"), column(found, "error")
    reached = [s for s, e in zip(seconds, errors) if e <= error]
    for k in range(len(errors) - 1):
        first, last = np.log(np.maximum(errors[k : k + 2], 1e-16))
        if (first - np.log(error)) * (last - np.log(error)) < 0:
            part = (np.log(error) - first) / (last - first)
            reached.append(seconds[k] ** (1 - part) * seconds[k + 1] ** part)
    return min(reached, default=np.inf)


def time_ratio(found, name, label):
    """Time that a method needs for twice the smallest error of the default stepper, over the time of the default.

    Twice: where errors scatter the smallest one is luck.
    """
    error = 2 * column(found[name, DEFAULT], "error").min()
    return cost(found[name, label], error) / cost(found[name, DEFAULT], error)


def study(names=tuple(PROBLEMS)):
    """(problem, method) -> `Series`."""
    return {
        (name, label): series(PROBLEMS[name], METHODS[label][0], PROBLEMS[name].steps)
        for name in names
        for label in METHODS
    }


# --- tables ----------------------------------------------------------------------

HEAD = (
    "method", "order", "smallest error", "energy", "|g|", "smallest gap", "unknowns", "solves/step", "time/step",
    "time to the same error",
)  # fmt: skip


def rows(found, name):
    """Table of a problem (rows of texts), of the runs with the smallest step; times relative to the default stepper."""
    problem, usual, result = PROBLEMS[name], found[name, DEFAULT], []
    for label in METHODS:
        item = found.get((name, label))
        if item is None or not item.runs:
            continue
        last, times = item.runs[-1], time_ratio(found, name, label)
        result.append(
            (
                label, order_text(item), f"{last.error:.1e} m", f"{last.energy / problem.energy:+.0e}",
                f"{last.drift:.0e} m", "" if np.isnan(last.gap) else f"{last.gap:.0e} m", str(item.unknowns),
                f"{last.iterations:.1f}", f"{per_step(problem, item) / per_step(problem, usual):.1f}",
                f"{times:.1f}" if np.isfinite(times) else "not reached",
            )
        )  # fmt: skip
    return result


def failures(found):
    """Runs that raised an error: problem, method, reason, with all step sizes or some."""
    return [
        (PROBLEMS[name].title, label, "some steps" if item.runs else "all", item.failed)
        for (name, label), item in found.items()
        if item.failed
    ]


def tables(found):
    """All tables, as they are printed."""
    parts = []
    for name in dict.fromkeys(name for name, _ in found):
        usual = per_step(PROBLEMS[name], found[name, DEFAULT])
        parts.append(
            f"{PROBLEMS[name].title} (a step of {DEFAULT}: {usual:.0f} µs)\n" + table([HEAD, *rows(found, name)])
        )
    parts.append("failed\n" + "\n".join(f"  {a}, {b}, {c}: {d}" for a, b, c, d in failures(found)))
    return "\n\n".join(parts)


# --- pictures --------------------------------------------------------------------


def panels(found, what, save):
    """Errors of all methods over the step ("h") or the processor time ("seconds"), a panel for each problem."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for name, _ in found))
    figure, axes = plt.subplots(2, (len(names) + 1) // 2, figsize=(12, 7.6), layout="constrained", squeeze=False)
    for ax, name in zip(axes.flat, names):
        for label, (_, color, marker) in METHODS.items():
            item = found.get((name, label))
            if item is None or not item.runs:
                continue
            size = 1e3 * column(item, what)
            error = np.maximum(column(item, "error"), 1e-14)
            wide = 2.2 if label == DEFAULT else 1.1
            ax.loglog(size, error, color=color, marker=marker, ms=5, lw=wide, mew=0.8, label=label)
        if what == "h":
            slopes(ax)
        few_numbers(ax.xaxis)
        if np.ptp(np.log10(ax.get_ylim())) < 2:
            few_numbers(ax.yaxis)
        ax.set_title(PROBLEMS[name].title, fontsize=11)
        ax.set_xlabel("step [ms]" if what == "h" else "processor time of a run [ms]")
        ax.grid(alpha=0.25)
    for ax in axes[:, 0]:
        ax.set_ylabel("error [m]")
    handles = {label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels())}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncol=6, fontsize=9)
    figure.savefig(output_path(save), dpi=110)
    plt.close(figure)


def slopes(ax):
    """Dotted lines of order 1 and 2 through the upper right corner of a panel."""
    (left, right), limits = ax.get_xlim(), ax.get_ylim()
    for power in (1, 2):
        low = limits[1] * (left / right) ** power
        ax.plot([left, right], [low, limits[1]], ":", color="0.6", lw=1, zorder=0, label="orders 1 and 2")
    ax.set_xlim(left, right)
    ax.set_ylim(limits)


def few_numbers(axis):
    """1, 2, 5 of each decade, written out."""
    from matplotlib import ticker

    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def kept(found, save):
    """What a step in the middle of the study leaves of energy, joints and gaps, by methods and problems."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names, labels = list(dict.fromkeys(name for name, _ in found)), list(METHODS)[::-1]
    figure, axes = plt.subplots(1, 3, figsize=(12, 5.2), sharey=True, layout="constrained")
    for name, marker, color in zip(names, "os^vDP", plt.get_cmap("tab10").colors):
        problem = PROBLEMS[name]
        for row, label in enumerate(labels):
            item = found.get((name, label))
            if item is None or not item.runs:
                continue
            run = item.runs[len(item.runs) // 2]
            values = abs(run.energy) / problem.energy, run.drift / problem.length, max(-run.gap, 0) / problem.length
            for ax, value in zip(axes, values):
                if not np.isnan(value) and (ax is not axes[2] or not np.isnan(run.gap)):
                    place = row + 0.11 * (names.index(name) - 2.5)
                    title = problem.title if label == DEFAULT and ax is axes[0] else None
                    ax.plot(max(value, 1e-16), place, marker, color=color, ms=6, ls="none", label=title)
    for ax, title in zip(axes, ("energy at the end, error", "largest |g| of joints", "deepest penetration")):
        ax.set_xscale("log")
        ax.set_xlim(3e-17, 2)
        ax.set_title(title + ", relative", fontsize=11)
        ax.axvspan(3e-17, 1e-11, color="0.93", zorder=0)
        ax.grid(alpha=0.25)
    axes[0].set_yticks(range(len(labels)), labels)
    axes[2].text(2e-14, labels.index("Generalized-α"), "round-off", ha="center", va="center", color="0.45")
    figure.legend(loc="outside lower center", ncol=6, fontsize=9)
    figure.savefig(output_path(save), dpi=110)
    plt.close(figure)


# --- checks ----------------------------------------------------------------------

# problem, method -> order that the documentation of the method says, and how far off a fit may be: smooth errors bend
# a little; impacts lie anywhere in their steps, which scatters errors of first order (docs/theory/split_impacts.md)
ORDERS = {
    ("rigid", "Decoupled"): (2, 0.1), ("rigid", "Moreau-Jean"): (2, 0.1), ("rigid", "Nonsmooth GGL"): (2, 0.1),
    ("rigid", "Generalized-α"): (2, 0.1), ("rigid", "Lobatto 2"): (2, 0.1), ("rigid", "Lobatto 3"): (4, 0.1),
    ("rigid", "Lobatto 4"): (6, 0.2), ("rigid", "Cone, Coulomb"): (1, 0.2),
    ("impacts", "Decoupled"): (1, 0.6), ("impacts", "Decoupled, split"): (2, 0.1),
    ("friction", "Decoupled"): (1, 0.1), ("friction", "Decoupled, default"): (2, 0.1),
    ("friction", "Nonsmooth GGL"): (1, 0.1), ("friction", "Cone, Coulomb"): (1, 0.1),
    ("row", "Decoupled"): (1, 0.6),
    ("soft", "Lobatto 3"): (4, 0.2),
}  # fmt: skip


def checks(found):
    """Orders, and what the tables say of the default stepper."""
    result = [
        # digits that the source prints, half a unit
        fem.Check("reference of the double pendulum [m]", reference=0, obtained=reference_misses(), abs=5e-10)
    ]
    for (name, label), (expected, allowed) in ORDERS.items():
        if (name, label) in found:
            obtained = order(found[name, label])
            text = f"{PROBLEMS[name].title}, {label}: order"
            result.append(fem.Check(text, reference=expected, obtained=obtained, abs=allowed))
    for name in dict.fromkeys(name for name, _ in found):
        run, title = found[name, DEFAULT].runs[-1], PROBLEMS[name].title
        # tolerance of the two corrections of a step
        result.append(fem.Check(f"{title}: largest |g| [m]", reference=0, obtained=run.drift, abs=1e-10))
        if not np.isnan(run.gap):
            result.append(fem.Check(f"{title}: penetration [m]", reference=0, obtained=max(-run.gap, 0), abs=1e-10))
    if "row" in dict.fromkeys(name for name, _ in found):
        last = found["row", "Decoupled, split"].runs[-1].error
        result.append(fem.Check("three balls, split: error [m]", reference=0, obtained=last, abs=ROUND_OFF))
    return fem.Checks(*result)


def main(problems=tuple(PROBLEMS), save="compare_steppers.vtkhdf", picture="compare_steppers"):
    """Checks of the study; without ``picture`` no tables are printed either."""
    found = study(problems)
    if save is not None:
        METHODS[DEFAULT][0].run(soft_pendulum(), 0.5, 5e-3, save=save)
    if picture is not None:
        print(tables(found), end="\n\n")
        panels(found, "seconds", f"{picture}.png")
        panels(found, "h", f"{picture}_orders.png")
        kept(found, f"{picture}_kept.png")
    return checks(found)


if __name__ == "__main__":
    main().print()
