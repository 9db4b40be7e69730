"""A page of panels: quantities of an example with every method of its cases, and the numbers that its source prints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fem_mbs.cases.case import Method
from fem_mbs.cases.registry import cases
from fem_mbs.checks import Check
from fem_mbs.errors import FemMbsError

Points = tuple[Any, Any]  # x (k,), y (k,)

COLORS = {
    "DecoupledNSGA": "C0", "NonsmoothGeneralizedAlphaGGL": "C3", "NonsmoothGeneralizedAlphaFriction": "C1",
    "MoreauJean": "C2", "LobattoIIIAB": "C4", "ConeComplementarity": "C5",
}  # fmt: skip
STYLES = ("-", "--", ":", "-.")
EXACT = {"color": "k", "lw": 0.9, "ls": (0, (6, 3)), "label": "closed form, or Runge-Kutta"}
FEW = 20  # points of a closed form that are drawn as such
BLACK = ((0, (1, 2)), (0, (4, 1, 1, 1)))  # line styles of other runs
PRINTED = {"color": "0.45", "lw": 0.8, "zorder": 0}
PAPER = {"facecolor": "w", "alpha": 0.6, "lw": 0, "pad": 0.5}


@dataclass(frozen=True)
class Mark:
    """A number that the source prints, drawn as a line across a panel.

    Parameters
    ----------
    value : float
        As printed, in the unit of the panel.
    axis : {"x", "y"}
        On which axis it is.
    text : str
        What is written at its line.
    obtained : callable
        ``obtained(runs)`` is the same quantity of what `Page.run` returns.
    abs : float
        Half a unit of the last printed digit, or what is said there.
    start : float
        Where the number is counted from on the axis: 0.5 for a duration that begins there.
    """

    value: float
    axis: str
    text: str
    obtained: Callable[[Any], float]
    abs: float
    start: float = 0.0

    def check(self, runs: Any) -> Check:
        """Compare the printed number with the runs of a method."""
        return Check(self.text, reference=self.value, obtained=self.obtained(runs), abs=self.abs)


@dataclass(frozen=True)
class Panel:
    """Axes with one curve per method.

    Parameters
    ----------
    title : str
        Quantity and unit.
    curve : callable
        ``curve(runs)`` returns x and y of what `Page.run` returns.
    exact : callable, optional
        Returns x and y of a closed form, or of an independent integration.
    marks : sequence of Mark
    view : dict
        Arguments of `matplotlib.axes.Axes.set`: limits, scales, the label of x.
    style : dict
        Arguments of `matplotlib.axes.Axes.plot` for all curves.
    slopes : sequence of int
        Orders of convergence, drawn as lines.
    """

    title: str
    curve: Callable[[Any], Points]
    exact: Callable[[], Points] | None = None
    marks: tuple[Mark, ...] = ()
    view: Mapping[str, Any] = field(default_factory=dict)
    style: Mapping[str, Any] = field(default_factory=dict)
    slopes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Page:
    """Panels of one example.

    Parameters
    ----------
    source : str
        Publication and its figures.
    title : str
        Model and step size.
    cases : sequence of str
        Names of the cases whose methods are drawn.
    own : Method
        Scheme of the source, of which its numbers are.
    run : callable
        ``run(stepper)`` returns results; anything that the panels read.
    panels : sequence of Panel
    others : dict
        Label -> callable without arguments that returns what ``run`` does: more runs, in black.
    columns : int
    """

    source: str
    title: str
    cases: tuple[str, ...]
    own: Method
    run: Callable[[Any], Any]
    panels: tuple[Panel, ...]
    others: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    columns: int = 4

    @property
    def methods(self) -> list[Method]:
        """Methods of the cases that this version has, each once."""
        known = cases()
        found = {method.label: method for name in self.cases for method in known[name].methods if method.exists}
        return list(found.values())

    @property
    def marks(self) -> list[Mark]:
        """Printed numbers of all panels."""
        return [mark for panel in self.panels for mark in panel.marks]

    def draw(self, steppers: Sequence[str] = ()) -> Any:
        """Run the methods and draw the panels.

        Parameters
        ----------
        steppers : sequence of str, optional
            Names of time steppers; default: all methods, and the other runs.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        FemMbsError
            If no method has one of these time steppers.
        """
        import matplotlib

        from fem_mbs.results.drawing.figure import Figure

        rows = -(-len(self.panels) // self.columns)
        with matplotlib.rc_context({"font.size": 7.5, "axes.titlesize": 8, "axes.grid": True, "grid.alpha": 0.25}):
            figure = Figure(figsize=(max(2.9 * self.columns, 8.7), 1.95 * rows + 0.9), layout="constrained")
            axes = figure.subplots(rows, self.columns, squeeze=False).ravel()
            for ax in axes[len(self.panels) :]:
                ax.remove()
            for style, runs in self._curves(steppers):
                for ax, panel in zip(axes, self.panels):
                    ax.plot(*panel.curve(runs), **{**style, **panel.style})
            for ax, panel in zip(axes, self.panels):
                _finish(ax, panel)
            known: dict[str, Any] = {}
            for ax in axes[: len(self.panels)]:
                for line, label in zip(*ax.get_legend_handles_labels()):
                    known.setdefault(label, line)
            figure.legend(known.values(), known, loc="outside lower center", ncols=2, fontsize=7, frameon=False)
            figure.suptitle(f"{self.source}: {self.title}", fontsize=10)
        return figure

    def _curves(self, steppers):
        """Line style and runs of each method; lines become thinner, such that those below remain visible."""
        methods, seen = [method for method in self.methods if not steppers or method.stepper in steppers], {}
        if not methods:
            known = ", ".join(dict.fromkeys(method.stepper for method in self.methods))
            raise FemMbsError(f"no curves for {self.source}: its time steppers are {known}")
        for i, method in enumerate(methods):
            place = seen[method.family] = seen.get(method.family, -1) + 1
            label = method.label + (", the scheme of the source" if method.label == self.own.label else "")
            width = 2.6 - 1.9 * i / max(len(methods) - 1, 1)
            yield {"color": COLORS.get(method.family, "C7"), "ls": STYLES[place % 4], "lw": width, "ms": 1 + 2 * width,
                   "label": label}, self.run(method.make())  # fmt: skip
        for ls, (label, run) in zip(BLACK, () if steppers else self.others.items()):
            yield {"color": "k", "lw": 0.9, "ls": ls, "ms": 2, "label": label}, run()


def _finish(ax, panel):
    """Closed form, printed numbers, orders, limits and titles."""
    if panel.exact is not None:
        x, y = panel.exact()
        ax.plot(x, y, **(EXACT if len(x) > FEW else {**EXACT, "ls": "", "marker": "x", "ms": 4}))
    ax.set(title=panel.title, xlabel="t [s]")
    ax.set(**panel.view)
    for mark in panel.marks:
        upright, value = mark.axis == "x", mark.start + mark.value
        (ax.axvline if upright else ax.axhline)(value, **PRINTED)
        place = (value, 0.98) if upright else (0.98, value)
        where = ax.get_xaxis_transform() if upright else ax.get_yaxis_transform()
        ax.text(*place, mark.text, transform=where, rotation=90 if upright else 0, ha="right", fontsize=6.5,
                va="top" if upright else "bottom", bbox=PAPER, color="0.3")  # fmt: skip
    for slope in panel.slopes:
        h = np.array(next(line.get_xdata() for line in ax.lines if len(line.get_xdata()) > 2))
        height = panel.view["ylim"][1] / 3 * (h / h.max()) ** slope
        ax.plot(h, height, **PRINTED)
        ax.annotate(f"order {slope}", (h[len(h) // 2], height[len(h) // 2]), fontsize=6.5, color="0.3", bbox=PAPER)
