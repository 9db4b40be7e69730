"""Pictures and tables of docs/comparison.md, from one run of examples/compare_steppers.py."""

import os

import numpy as np
from drawing import PICTURES, ROOT, keep, panels, shrink

FAMILY = {"Decoupled": "#e3ecf7", "Lobatto": "#f0e3f0", "Moreau": "#fbead6", "Cone": "#f6e0dc"}


def comparison():
    """The three pictures of the example and the tables of the page."""
    import compare_steppers as study
    import schemes

    found = study.study()
    study.panels(found, "seconds", "compare_steppers.png")
    study.panels(found, "h", "compare_steppers_orders.png")
    study.kept(found, "compare_steppers_kept.png")
    for name in ("", "_orders", "_kept"):
        target = PICTURES / f"compare_steppers{name}.png"
        os.replace(f"compare_steppers{name}.png", target)
        shrink(target)
    (ROOT / "docs" / "comparison_tables.inc").write_text(tables(study, found), encoding="utf-8")
    schemes.main(write=True)


def tables(study, found):
    """Orders, time to the same error, and what a step costs, as Markdown."""
    from schemes import markdown, why

    def table(entry, first, names=tuple(study.PROBLEMS)):
        lines = []
        for label in study.METHODS:
            found_here = [(found[name, label], name) for name in names]
            lines.append(
                [label, *(entry(item, name, label) if item.runs else "not supported" for item, name in found_here)]
            )
        return markdown([first, *(study.PROBLEMS[name].title for name in names)], lines)

    def ratio(_, name, label):
        value = study.time_ratio(found, name, label)
        return f"{value:.1f}" if np.isfinite(value) else "not reached"

    def step(item, name, _):
        problem = study.PROBLEMS[name]
        times = study.per_step(problem, item) / study.per_step(problem, found[name, study.DEFAULT])
        return f"{item.unknowns}, {item.runs[-1].iterations:.1f}, {times:.1f}"

    def order(item, name, _):
        return study.order_text(item) if name != "bar" else f"{1e3 * study.column(item, 'error')[-1]:.0f} mm"

    reasons = {}
    for title, label, _, reason in study.failures(found):
        reasons.setdefault((label, why(reason)), []).append(title)
    failed = "\n".join(f"- **{label}** ({', '.join(titles)}): {text}." for (label, text), titles in reasons.items())
    return (
        "Order of the error over the step; for the bar the error at the smallest step:\n\n"
        + table(order, "order")
        + "\n\nProcessor time for the same error, over that of the default (twice the smallest of its errors):\n\n"
        + table(ratio, "time")
        + "\n\nA step: unknowns of its largest matrix, solves (all sub-problems), time over that of the default:\n\n"
        + table(step, "step")
        + "\n\nRuns that failed, and why:\n\n"
        + failed
        + "\n"
    )


def which_stepper():
    """The decision diagram: questions on the left, schemes on the right."""
    questions = (
        ("No contacts, or compliant ones?", "low frequencies, many digits, or energy: Lobatto 3 or 4\n"
         "stiff parts, few digits: Decoupled, or Generalized-α", "Lobatto"),
        ("A heap of hundreds of bodies?\n(not in this study)",
         "Decoupled, or Cone relaxed=False, with contact groups;\n"
         "Cone, relaxed: convex, but sliding contacts float", "Cone"),
        ("Few impacts, one after the other, and\ntheir accuracy or derivatives count?", 'Decoupled, impacts="split"',
         "Decoupled"),
        ("Contacts that stay closed:\nrolling, sliding, standing?", "Decoupled, as it is\n"
         "low frequencies: Lobatto 2 or 3", "Decoupled"),
        ("Do impacts run on through\nbodies that touch?", "Decoupled: the others solve them all at once", "Decoupled"),
        ("Large steps, speed before accuracy?", "Moreau-Jean, with projection=True against drift", "Moreau"),
    )  # fmt: skip
    figure, axes = panels(1, (9.2, 6.4))
    box = {"boxstyle": "round,pad=0.5", "edgecolor": "#33658a"}
    arrow = {"arrowstyle": "-|>", "color": "0.4", "lw": 1.2}
    rows = [len(questions) - k for k in range(len(questions) + 1)]
    for y, below, (question, answer, family) in zip(rows, rows[1:], questions):
        axes.annotate("", (0.2, below), (0.2, y), arrowprops={**arrow, "shrinkB": 22}, zorder=1)
        axes.annotate("", (0.49, y), (0.2, y), arrowprops=arrow, zorder=1)
        axes.text(0.215, y - 0.47, "no", fontsize=9, color="0.4", va="center")
        axes.text(0.44, y + 0.1, "yes", fontsize=9, color="0.4", ha="center")
        axes.text(0.2, y, question, ha="center", va="center", fontsize=10, bbox={**box, "facecolor": "white"}, zorder=2)
        axes.text(0.51, y, answer, va="center", fontsize=10, bbox={**box, "facecolor": FAMILY[family]})
    last = {**box, "facecolor": FAMILY["Decoupled"], "linewidth": 2}
    text = "Decoupled, as it is:\nevery model, no drift, no penetration"
    axes.text(0.2, rows[-1], text, ha="center", va="center", fontsize=10, bbox=last, zorder=2)
    axes.set(xlim=(0, 1.02), ylim=(-0.4, rows[0] + 0.4))
    axes.axis("off")
    keep(figure, "which_stepper")


DRAWINGS = (comparison, which_stepper)
