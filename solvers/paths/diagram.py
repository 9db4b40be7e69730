"""Picture of a load path: load factor over the displacement of a node."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import label
from fem_mbs.nodes import COMPONENTS
from fem_mbs.results.drawing.plot import COLORS, STYLE

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure


def draw_path(path: Any, node: Any, component: str, save: "str | Path | None", figure: "Figure | None") -> "Figure":
    """Load factor over displacement, broken where the path is unstable, with critical points and contact changes."""
    import matplotlib

    from fem_mbs.results.drawing.figure import Figure

    owner = Named("LoadPath.plot")
    node = owner.as_frame("node", node).node
    i = COMPONENTS.index(owner.as_choice("component", component, COMPONENTS[:3]))
    owner.check(any(node is one for one in path.system.nodes), "node", node, "is not a node of the model")
    start = path.system.initial.x[node.index, i]

    def moved(points):
        return np.array([point.state.x[node.index, i] - start for point in points])

    x, y = moved(path.points), path.load_factors
    stable = np.array(path.unstable) == 0
    firm = stable[:-1] & stable[1:]  # a piece is as firm as the weaker of its ends
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained") if figure is None else figure
        axes = figure.add_subplot() if not figure.axes else figure.axes[0]
        cuts = [0, *(np.flatnonzero(np.diff(firm)) + 1).tolist(), len(firm)] if len(firm) else []
        for first, last in pairwise(cuts):
            axes.plot(x[first : last + 1], y[first : last + 1], "-" if firm[first] else "--", color=COLORS[0])
        for kind, marker, found in (("limit", "o", path.limits), ("branch", "s", path.branches)):
            if found:
                heights = [point.load_factor for point in found]
                axes.plot(moved(found), heights, marker, color="#202020", markersize=5, label=f"{kind} point")
        if path.contact_changes:
            at = [change.length for change in path.contact_changes]
            heights = [change.load_factor for change in path.contact_changes]
            place = np.interp(at, path.lengths, x)
            axes.plot(place, heights, "^", color="#202020", markersize=5, label="contact changes")
        axes.set(xlabel=f"displacement {component} of {label(node)} [m]", ylabel="load factor")
        if path.critical or path.contact_changes:
            axes.legend()
        if save is not None:
            figure.savefig(save, dpi=150)
    return figure
