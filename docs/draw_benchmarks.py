"""Pictures and tables of docs/benchmarks.md, from the newest measurement that was kept in benchmarks/results."""

from drawing import keep, panels

COLORS = {"fem_mbs": "k", "exudyn": "C0", "mujoco": "C1", "drake": "C2", "pyelastica": "C4"}
SIZES = {"pile": "spheres", "chain": "links", "beam": "intervals"}


def style(who, ours=False):
    """Colour by program; a second way of a program is dashed."""
    first = who.partition(",")[0]
    color = "k" if ours else COLORS[first]
    second = who.partition(",")[2].strip() in ("tree", "RK4") or "Lobatto" in who
    return {"color": color, "linestyle": "--" if second else "-", "linewidth": 2 if color == "k" else 1.2}


def benchmarks():
    """Cost over size, error over cost, and the tables."""
    import bench_tables

    session = bench_tables.newest()
    bench_tables.main()
    figure, axes = panels(len(SIZES), (11, 3.8))
    for ax, (name, unit) in zip(axes, SIZES.items()):
        rows = [row for row in session["rows"] if row["case"] == name]
        for who, points in bench_tables.curves(rows).items():
            size, us = zip(*points)
            ax.loglog(size, us, "o", linestyle=style(who)["linestyle"], color=style(who)["color"], ms=4, label=who)
        ax.set(xlabel=unit, ylabel=f"µs for {1e3 * rows[0]['h']:g} ms of motion", title=rows[0]["title"].split(",")[0])
        ax.legend(fontsize=8)
        ax.grid(alpha=0.3)
    keep(figure, "benchmarks_size")
    figure, axes = panels(len(session["accuracy"]), (10, 4), squeeze=False)
    for ax, (name, found) in zip(axes[0], session["accuracy"].items()):
        for curve in found:
            seconds, error = zip(*((point["seconds"], point["error"]) for point in curve["points"]))
            ax.loglog(seconds, error, "o", ms=4, label=curve["label"], **style(curve["label"], curve["ours"]))
        title = {"top": "heavy top, 1 s", "beam": "clamped rod that falls, 0.5 s"}[name]
        ax.set(xlabel="processor time of the steps [s]", ylabel="error of the place at the end [m]", title=title)
        ax.legend(fontsize=8)
        ax.grid(alpha=0.3)
    keep(figure, "benchmarks_accuracy")


DRAWINGS = (benchmarks,)
