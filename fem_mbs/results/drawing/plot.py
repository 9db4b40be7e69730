"""Plots of histories with matplotlib.

`plot(result, "ball.position.z", "table.gap")` draws each history over time; those of one unit share a panel.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import FemMbsError
from fem_mbs.results.drawing.options import as_file
from fem_mbs.results.file.names import unknown_name
from fem_mbs.results.history import History

if TYPE_CHECKING:
    from fem_mbs.results.results import Results

COLORS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#eeca3b")
LOGARITHMIC = ("violation",)  # numbers that matter by their order of magnitude
COUNTS = ("iterations", "problems")
STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": "#606060",
    "axes.labelcolor": "#303030",
    "grid.color": "#e6e6e6",
    "xtick.color": "#606060",
    "ytick.color": "#606060",
    "font.size": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


class Curve(NamedTuple):
    """One line of a plot: owner ("ball"), history ("position"), component ("z" or ""), values (k,), unit."""

    owner: str
    history: str
    component: str
    values: np.ndarray
    unit: str

    @property
    def label(self) -> str:
        return " ".join(part for part in (self.owner, self.history.replace("_", " "), self.component) if part)


@Keywords.known
def plot(
    result: "Results",
    *what: str,
    component: Any = None,
    save: str | Path | None = None,
    show: bool = False,
    title: str | None = None,
    label: str | None = None,
    figure: Any = None,
    size: tuple[float, float] = (8.0, 2.6),
) -> Any:
    """Plot histories over time.

    Parameters
    ----------
    result : Results
    *what : str
        "name.history" or "name.history.component" ("ball.position.z"), or "energy", "energy.total", "iterations",
        "violation", "problems". Histories of one unit share a panel; panels are stacked.
    component : str, int, "norm" or sequence of them, optional
        Components of vectors to draw: their names ("x", "normal"), numbers from 0, or "norm" for the length. Default:
        all.
    save : path, optional
        Write the figure, with the format of the file's ending (.png, .pdf, .svg).
    show : bool
        Open a window and wait until it is closed.
    title : str, optional
    label : str, optional
        Put before the names in the legend, to distinguish several runs.
    figure : Figure, optional
        Draw into a figure that an earlier call returned: the same histories of another run.
    size : (width, height of one panel) [inch]

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks display it.

    Raises
    ------
    UnknownNameError
        For a name or component that the results do not have; the message lists near ones.
    FemMbsError
        For an ending of ``save`` that matplotlib does not support.
    """
    import matplotlib
    from matplotlib.figure import FigureBase

    owner = Named("plot")
    save = as_file(owner, save, optional=True)
    if save is not None:
        _check_ending(save)
    for text in what:
        owner.as_text("what", text)
    width, height = owner.as_lengths("size", size, 2)
    show = owner.as_flag("show", show)
    title, label = owner.as_text("title", title, True), owner.as_text("label", label, True)
    kinds = (FigureBase, type(None))
    figure = owner.as_instance("figure", figure, kinds, "a figure that an earlier call returned")
    groups = panels(result, what, component)
    with matplotlib.rc_context(STYLE):
        if figure is None:
            figure = _new_figure((width, height * len(groups) + 0.4), show)
            axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
            axes[-1].set_xlabel("time [s]")
        else:
            axes = figure.axes
            if len(axes) != len(groups):
                raise FemMbsError(f"the figure has {len(axes)} panels, these histories need {len(groups)}")
        for ax, curves in zip(axes, groups):
            _draw(ax, result.t, curves, label)
        if title:
            axes[0].set_title(title, loc="left")
        figure.align_ylabels()
        if save is not None:
            figure.savefig(save, dpi=150)
    if show:
        import matplotlib.pyplot as plt

        plt.show()
    return figure


def _check_ending(save):
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    suffix = Path(save).suffix.lower().removeprefix(".")
    if suffix and suffix not in known:
        raise FemMbsError(f"plot {save}: the ending must be one of {', '.join('.' + name for name in sorted(known))}")


def _new_figure(size, show):
    if show:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, layout="constrained")
    from fem_mbs.results.drawing.figure import Figure

    return Figure(figsize=size, layout="constrained")


def _draw(ax, t, curves, label):
    """One panel."""
    first = curves[0]
    for curve in curves:
        color = COLORS[len(ax.lines) % len(COLORS)]
        style = {"drawstyle": "steps-pre"} if first.owner in COUNTS or curve.values.dtype.kind == "i" else {}
        text = curve.label if label is None else f"{label}: {curve.label}"
        ax.plot(t, curve.values, color=color, label=text, **style)
    names = {curve.history if curve.owner not in (*COUNTS, *LOGARITHMIC, "energy") else curve.owner for curve in curves}
    quantity = names.pop().replace("_", " ") if len(names) == 1 else ""
    if len(ax.lines) == 1:
        quantity = first.label
    ax.set_ylabel(f"{quantity} [{first.unit}]" if first.unit else quantity)
    if len(ax.lines) > 1:
        ax.legend(loc="best", ncols=1 + (len(ax.lines) > 4))
    if first.owner in LOGARITHMIC and any((line.get_ydata() > 0).any() for line in ax.lines):
        ax.set_yscale("log")


def panels(result: "Results", what: Sequence[str], component: Any = None) -> list[list[Curve]]:
    """Curves of the histories asked for, those of one unit (or, without units, of one kind) together."""
    if not what:
        raise FemMbsError("say what to plot: 'name.history', for example " + ", ".join(_examples(result)))
    Named("plot").check(component is None or np.size(component), "component", component, "names no component")
    groups = {}
    for text in what:
        for curve in curves_of(result, text, component):
            kind = curve.unit or (curve.owner if curve.owner in (*COUNTS, *LOGARITHMIC) else curve.history)
            groups.setdefault(kind, []).append(curve)
    return list(groups.values())


def curves_of(result: "Results", text: str, component: Any = None) -> list[Curve]:
    """The curves of one text, see `plot`."""
    owner, history, last = _split(result, text)
    if isinstance(owner, np.ndarray):
        return [Curve("", history, "", owner, "")]
    names = [history] if history else [name for name in owner.units if name != "step"]
    curves = []
    for name in names:
        values = getattr(owner, name)
        labels, unit = owner.labels[name], owner.units[name]
        if values.ndim == 1:
            curves.append(Curve(owner._name, name, "", values, unit))
            continue
        if values.ndim > 2:
            raise FemMbsError(f"{text}: '{name}' is a matrix at each time and cannot be plotted; take rotation_vector")
        for which in _components(text, labels, last if last is not None else component):
            column = np.linalg.norm(values, axis=1) if which == "norm" else values[:, labels.index(which)]
            curves.append(Curve(owner._name, name, which, column, unit))
    return curves


def _components(text, labels, component):
    if component is None:
        return labels
    chosen = component if isinstance(component, (list, tuple)) else [component]
    names = []
    for which in chosen:
        if isinstance(which, str) and which.isdigit() and which not in labels:
            which = int(which)
        if isinstance(which, (int, np.integer)) and not isinstance(which, bool) and 0 <= which < len(labels):
            which = labels[which]
        if which != "norm" and which not in labels:
            raise unknown_name(which, (*labels, "norm"), f"'{text}'")
        names.append(which)
    return names


def _split(result, text):
    """History object, history name or "", component or None, of a text; names may contain dots."""
    if text in ("problems", "h", "step"):
        return getattr(result, text), text, None
    parts = text.split(".")
    for n in range(len(parts), 0, -1):
        name, rest = ".".join(parts[:n]), parts[n:]
        if name in result:
            owner = result[name]
        elif n == 1 and name in ("energy", "iterations", "violation"):
            owner = getattr(result, name)
        else:
            continue
        if not rest:
            if name in result:
                known = ", ".join(f"{name}.{history}" for history in owner.units)
                raise FemMbsError(f"'{text}': say which history of it, one of {known}")
            return owner, "", None
        if rest[0] not in owner.units:
            raise unknown_name(rest[0], owner.units, f"'{name}'")
        return owner, rest[0], rest[1] if len(rest) > 1 else None
    raise unknown_name(parts[0], (*result.names, "energy", "iterations", "violation"), f"result of '{result.model}'")


def _examples(result):
    """A few texts that can be plotted."""
    found = []
    for name in result.names[:6]:
        history = result[name]
        if isinstance(history, History) and history.units:
            found.append(f"'{name}.{next(iter(history.units))}'")
    return [*found[:3], "'energy'"]
