"""Pictures of docs/theory/beams.md: the element, and its orders as the tests measure them."""

import itertools
import sys

import numpy as np
from drawing import ROOT, keep, panels

sys.path.append(str(ROOT / "tests" / "validation"))

BLUE, RED, GREEN, BROWN = "#33658a", "#b03a2e", "#2a7f3f", "#b06a1e"


def beam_orders():
    """Errors over the number of intervals of both elements: statics, frequencies with shear, slender frequencies."""
    import test_beam_dynamics as dynamics
    import test_beam_statics as statics

    figure, axes = panels(3, (11, 3.7))
    styles = {"three nodes": ("o-", BLUE), "two nodes": ("s--", BROWN)}
    options = {"three nodes": {}, "two nodes": {"poses": 2}}
    stocky = dynamics.timoshenko_free(3)
    studies = (
        # the reference has seven decimals: errors above 1e-6
        ("cantilever, $PL^2/EI = 5$: tip / L", (2, 4, 8, 16), lambda n, o: statics.elastica_error(5, n, **o)[0], (4,)),
        (
            "free beam, h/L = 0.15: frequency 3", (8, 16, 32, 64),
            lambda n, o: abs(dynamics.stocky(n, **o)[2] / stocky[2] - 1), (2, 4),
        ),
        (
            "slender cantilever: frequency 3", (4, 8, 16),
            lambda n, o: abs(dynamics.modes(dynamics.planar_beam(n, True, **o)[0], 3).omega[2]
                             / dynamics.CANTILEVER[2] - 1), (4, 6),
        ),
    )  # fmt: skip
    for panel, (title, meshes, error, orders) in zip(axes, studies):
        lines = {name: np.array([error(n, options[name]) for n in meshes]) for name in styles}
        for name, (style, color) in styles.items():
            panel.loglog(meshes, lines[name], style, color=color, ms=5, lw=1.3, label=name)
        for order, name in zip(orders, ("two nodes", "three nodes")[-len(orders) :]):
            _slope(panel, meshes, lines[name][-1], order, above=name == "two nodes")
        panel.set(title=title, xlabel="intervals n")
        panel.set_xticks(meshes, [str(n) for n in meshes])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("relative error")
    axes[0].legend(fontsize=9)
    keep(figure, "beam_orders")


def _slope(panel, meshes, last, order, above):
    """A dotted line of an order next to the last two points of a curve."""
    ends = np.array(meshes[-2:], float)
    beside = (3.0 if above else 0.3) * last * (ends / ends[-1]) ** -order
    panel.loglog(ends, beside, ":", color="0.35", lw=1.3)
    # in the free corner of its triangle
    at, height = (ends[1], beside[0]) if above else (ends[0], beside[1])
    panel.text(at, height, f"order {order}", color="0.35", fontsize=9, ha="right" if above else "left", va="center")


def beam_element():
    """Three node frames, the two helices between them, a section frame, and strains along the element."""
    figure, (shape, strains) = panels(2, (10.4, 3.7), width_ratios=[1.75, 1])
    length, angles = 3.0, np.array([0.55, -0.5, -0.95])  # of a half, of the normals at A, M, B
    curvature = np.diff(angles) / length
    nodes, curves = [np.array([0.0, 0.0])], []
    for angle, kappa in zip(angles, curvature):
        s = np.linspace(0, length, 80)
        turned = angle + kappa * s
        curve = nodes[-1] + np.array([np.sin(turned) - np.sin(angle), np.cos(angle) - np.cos(turned)]).T / kappa
        curves.append(curve)
        nodes.append(curve[-1])
    half = 0.36
    normals = [np.linspace(a, b, 80) for a, b in itertools.pairwise(angles)]
    for curve, turned in zip(curves, normals):
        across = half * np.array([-np.sin(turned), np.cos(turned)]).T
        outline = np.concatenate([curve + across, (curve - across)[::-1]])
        shape.fill(*outline.T, facecolor="#eef3f8", edgecolor="none", zorder=0)
        for side in (curve + across, curve - across):
            shape.plot(*side.T, color=BLUE, lw=0.7)
        shape.plot(*curve.T, color=BLUE, lw=2)
    for node, angle, name, turn in zip(nodes, angles, "AMB", (0.3, 0.5, 0.8)):
        e_1, e_2 = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
        shape.plot(*np.array([node - half * e_2, node + half * e_2]).T, color="0.25", lw=1.4)
        for axis, text in ((e_1, f"$S_{name} e_1$"), (e_2, f"$S_{name} e_2$")):
            head = {"arrowstyle": "-|>", "color": RED, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
            shape.annotate("", node + 0.85 * axis, node, arrowprops=head)
            shape.text(*(node + 1.12 * axis), text, color=RED, fontsize=10, ha="center", va="center")
        shape.plot(*node, "o", color="k", ms=5 if name != "M" else 4, mfc="k" if name != "M" else "w", zorder=5)
        shape.text(*(node - turn * e_1 - 0.8 * e_2), f"${name}$: $x_{name}, S_{name}$", fontsize=10, ha="center")
    middle = curves[0][42]
    shape.text(middle[0] - 0.35, middle[1] + 0.72, r"helix, $\varepsilon_1$", color=BLUE, fontsize=11, ha="center")
    middle = curves[1][40]
    shape.text(middle[0] + 0.45, middle[1] + 0.62, r"helix, $\varepsilon_2$", color=BLUE, fontsize=11, ha="center")
    origin = np.array([-1.1, -2.6])
    for axis, text in (((0.7, 0), "$x$"), ((0, 0.7), "$y$")):
        shape.annotate("", origin + axis, origin, arrowprops={"arrowstyle": "-|>", "color": "0.4", "shrinkA": 0})
        shape.text(*(origin + 1.25 * np.array(axis)), text, color="0.4", fontsize=10, ha="center", va="center")
    shape.set(aspect="equal", xlim=(-1.4, 6.9), ylim=(-3.2, 1.6))
    shape.axis("off")

    tau, (first, second) = np.array([-0.5, 0, 0.5]), (0.75, 0.3)
    strains.hlines([first, second], tau[:2], tau[1:], color=BLUE, lw=2)
    strains.plot(tau, [(first + second) / 2 - 2 * t * (first - second) for t in tau], color=GREEN, lw=2)
    strains.text(-0.25, first + 0.05, r"$\varepsilon_1$", color=BLUE, fontsize=12, ha="center")
    strains.text(0.3, second - 0.13, r"$\varepsilon_2$", color=BLUE, fontsize=12, ha="center")
    strains.text(0.08, 0.56, r"$a + \tau b$", color=GREEN, fontsize=12)
    for t, name in zip(tau, "AMB"):
        strains.axvline(t, color="0.7", lw=0.8, ls="--")
        strains.text(t, 1.22, f"${name}$", ha="center", fontsize=10)
    strains.set(xlim=(-0.58, 0.58), ylim=(0, 1.3), xlabel=r"$\tau$", ylabel="one component of the strain", yticks=[])
    strains.set_xticks(tau, ["$-L/2$", "0", "$L/2$"])
    keep(figure, "beam_element")


DRAWINGS = (beam_orders, beam_element)
