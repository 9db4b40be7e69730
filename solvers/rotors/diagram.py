"""Pictures of rotors: Campbell diagram, unbalance response."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.results.drawing.plot import COLORS, STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from fem_mbs.arguments.checked import FrameLike


LINES: dict[str, Any] = {"forward": "-", "backward": "--", "mixed": "-.", "straight": ":", "along the axis": ":"}


def _figure(figure, size):
    from fem_mbs.results.drawing.figure import Figure

    return Figure(figsize=size, layout="constrained") if figure is None else figure


def draw_campbell(
    diagram: Any, save: "str | Path | None", orders: "Sequence[float]", rpm: bool, figure: "Figure | None"
) -> "Figure":
    """Frequencies over speed, with the style of a line by its whirl."""
    import matplotlib
    from matplotlib.lines import Line2D

    unit = 30 / np.pi if rpm else 1.0
    x = diagram.speeds * unit
    with matplotlib.rc_context(STYLE):
        figure = _figure(figure, (7.0, 4.6))
        axes = figure.add_subplot()
        top = 1.08 * diagram.frequency.max()
        kinds = []
        for j in range(diagram.omega.shape[1]):
            for i in range(len(x) - 1):
                kind = diagram.whirl[i + 1, j]
                kinds.append(kind)
                axes.plot(
                    x[i : i + 2], diagram.frequency[i : i + 2, j], LINES[kind], color=COLORS[j // 2 % len(COLORS)]
                )
        handles = [Line2D([], [], color="#404040", linestyle=LINES[k], label=k) for k in LINES if k in kinds]
        for order in orders:
            end = min(np.abs(x).max(), top * 2 * np.pi / order * unit)
            axes.plot([0, end], [0, order * end / unit / (2 * np.pi)], color="#909090", linewidth=0.9)
            handles.append(Line2D([], [], color="#909090", linewidth=0.9, label=f"{order:g} × speed"))
        for c in diagram.critical:
            axes.plot(c.speed * unit, c.order * abs(c.speed) / (2 * np.pi), "o", color="#202020", markersize=5)
        if diagram.critical:
            handles.append(Line2D([], [], color="#202020", marker="o", linestyle="", markersize=5, label="critical"))
        axes.set(xlabel="speed [1/min]" if rpm else "speed [rad/s]", ylabel="frequency [Hz]")
        axes.set(xlim=(x[0], x[-1]) if len(x) > 1 else None, ylim=(0, top))
        axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5))
        if save is not None:
            figure.savefig(save, dpi=150)
    return figure


def draw_unbalance(
    response: Any, save: "str | Path | None", parts: "Sequence[FrameLike]", rpm: bool, figure: "Figure | None"
) -> "Figure":
    """Semi-major axes of the orbits and their phases over speed."""
    import matplotlib

    unit = 30 / np.pi if rpm else 1.0
    with matplotlib.rc_context(STYLE):
        figure = _figure(figure, (7.0, 5.2))
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        for k, part in enumerate(parts):
            name = getattr(part, "name", None) or f"place {k}"
            color = COLORS[k % len(COLORS)]
            upper.semilogy(response.speeds * unit, response.amplitude(part), color=color, label=name)
            lower.plot(response.speeds * unit, np.degrees(response.phase(part)), color=color)
        upper.set(ylabel="amplitude [m]")
        lower.set(xlabel="speed [1/min]" if rpm else "speed [rad/s]", ylabel="phase [°]")
        upper.legend()
        if save is not None:
            figure.savefig(save, dpi=150)
    return figure
