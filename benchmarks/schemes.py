"""Every time stepper in the same tables: orders, energy over long times, what a step costs and keeps, lines of code.

    python benchmarks/schemes.py            prints the tables of docs/comparison.md; takes three minutes
    python benchmarks/schemes.py --write    writes them into docs, next to the page that includes them

Orders are slopes of the largest errors in a run over four step sizes, in double logarithmic axes. References are
minimal coordinates integrated to round-off (the ball), event-driven integration (impacts), and else runs of sixth
order with steps that are several times smaller than the smallest.
"""

import ast
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fem_mbs as fem
from fem_mbs.cases import mechanism
from fem_mbs.errors import ParameterError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
import compare_steppers as study
import double_pendulum
import heavy_top
import imports
import loaded_ball
import references

ROOT = Path(__file__).resolve().parents[1]
UNSUPPORTED = "not supported"

# label -> stepper; those of the comparison, and two more formulations
SCHEMES = {label: stepper for label, (stepper, *_) in study.METHODS.items()} | {
    "Nonsmooth GGL, sequential": fem.NonsmoothGeneralizedAlphaGGL(coupling="sequential", rtol=study.RTOL),
    "Generalized-α, index 3": fem.GeneralizedAlpha(formulation="index 3", rtol=study.RTOL),
}


class Motion(NamedTuple):
    """A motion without impacts, the steps it is taken in, and ``errors(result)``: places, forces (nan: there are none).

    Attributes
    ----------
    title : str
    build : callable, build() -> Model
    duration : float [s]
    steps : numbers of steps in which it is run
    errors : callable, largest errors of positions [m] and rotations [rad] together, and of forces [N]
    floor : float, errors of positions below it are those of the reference; of forces a hundred times that
    """

    title: str
    build: Callable
    duration: float
    steps: tuple
    errors: Callable
    floor: float


# --- smooth motion ----------------------------------------------------------------------------------------------------


def free_top():
    """A body without forces that turns about all axes."""
    model = fem.Model("free top", gravity=[0, 0, 0])
    spin = [1.5, 0.3, -1.2]
    model.add(fem.RigidBody(1.0, [1.0, 2.0, 3.5], angular_velocity=spin, name="top", allow_nonphysical=True))
    return model


def rubber_rod(hinged=False):
    """Two beams of soft rubber with a body at each end, free or on a skew hinge, and a force that grows smoothly."""
    section = fem.Section.rectangle(0.05, 0.04, E=1e5, nu=0.3, density=1100.0)
    model = fem.Model("rubber rod", gravity=[0, 0, 0])
    rod = fem.beam_line([0, 0, 0], [0.5, 0.1, 0], 2, section, name="rod")
    model.add(fem.RigidBody(0.3, [3e-4, 4e-4, 5e-4], node=rod.nodes[0], name="root"))
    model.add(fem.RigidBody(0.2, [1e-4, 2e-4, 3e-4], node=rod.nodes[-1], name="tip"), rod)
    if hinged:
        model.add(fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 0], [0, 0.6, 0.8], name="hinge"))
    push = np.array([0.5, 1.2, -0.9])
    model.add(fem.PointForce(rod.nodes[-1], lambda t: np.sin(8 * t) ** 4 * push, name="load"))
    return model


@cache
def fine(build, duration, steps):
    """Run of sixth order."""
    return fem.LobattoIIIAB(4, rtol=1e-12).run(build(), duration, duration / steps)


def second_half(result):
    """Rows of it: errors of forces at the start die out, or are those of a single step."""
    return result.t > 0.5 * result.t[-1]


def against_fine(build, duration, steps, bodies, joint, result):
    """Errors of bodies, and of the force of a joint."""
    exact = fine(build, duration, steps)
    k = np.round(result.t / duration * steps).astype(int)
    place = max(
        max(np.abs(result[n].position - exact[n].position[k]).max(),
            references.rotation_error(result[n].rotation, exact[n].rotation[k]))
        for n in bodies
    )  # fmt: skip
    if joint is None:
        return place, np.nan
    return place, np.abs(result[joint].force - exact[joint].force[k])[second_half(result)].max()


# --- closed contact ---------------------------------------------------------------------------------------------------


def ball_errors(slides, result):
    """Errors of the loaded ball, and of the normal force at the ends of steps."""
    place, rotation, _, normal = loaded_ball.motion(result.t, slides)
    body = result["ball"]
    off = max(np.abs(body.position - place).max(), references.rotation_error(body.rotation, rotation))
    return off, np.abs(result["table"].force_normal - normal)[second_half(result)].max()


def smooth(title, build, duration, coarsest, least, bodies, joint=None, floor=2e-12):
    """`Motion` with four step sizes that are halved, against a run with ``least`` steps."""
    errors = partial(against_fine, build, duration, least, bodies, joint)
    return Motion(title, build, duration, tuple(coarsest * 2**i for i in range(4)), errors, floor)


def closed(title, slides):
    """`Motion` of the loaded ball."""
    build = partial(loaded_ball.loaded_ball, slides)
    return Motion(title, build, loaded_ball.duration, (10, 20, 40, 80), partial(ball_errors, slides), 5e-11)


hinged_rod = partial(rubber_rod, True)
MOTIONS = {
    "rigid": smooth("rigid, free", free_top, 2.0, 20, 640, ("top",)),
    "rigid, joints": smooth(
        "rigid, joints", double_pendulum.build, 0.5, 25, 800, ("body 1", "body 2"), "joint 1"
    ),
    "flexible": smooth("flexible, free", rubber_rod, 0.8, 125, 4000, ("root", "tip"), floor=1e-12),
    "flexible, joints": smooth("flexible, joint", hinged_rod, 0.8, 125, 4000, ("root", "tip"), "hinge", 1e-12),
    "rolls": closed("rolls", False),
    "slides": closed("slides, turning", True),
}  # fmt: skip


@cache
def measured(label, name):
    """Step sizes (k,) [s] and errors (k, 2) of a scheme on a motion; a text: the error it raises."""
    motion, rows = MOTIONS[name], []
    system = motion.build().compile()
    for n in motion.steps:
        try:
            rows.append(motion.errors(SCHEMES[label].run(system, motion.duration, motion.duration / n)))
        except (ParameterError, fem.SolverError) as reason:
            return str(reason)
    return motion.duration / np.array(motion.steps), np.array(rows)


def slopes(label, name):
    """Order of positions and of forces (2,), nan where there are none; a text: the error that the scheme raises.

    Errors not above that of the reference are ignored; the order is infinite if fewer than two remain.
    """
    found = measured(label, name)
    if isinstance(found, str):
        return found
    (h, errors), floor = found, MOTIONS[name].floor
    result = []
    for error, least in zip(errors.T, (1.0 * floor, 100.0 * floor)):
        above = error > least
        if np.isnan(error).any():
            result.append(np.nan)
        elif above.sum() < 2:
            result.append(np.inf)
        else:
            result.append(np.polyfit(np.log(h[above]), np.log(error[above]), 1)[0])
    return np.array(result)


@cache
def impact_order(label):
    """Order in positions through impacts: the bouncing pendulum, impacts anywhere in their steps; None: unsupported."""
    problem = study.PROBLEMS["impacts"]
    found = study.series(problem, SCHEMES[label], problem.steps)
    return study.order(found) if found.runs else None


# --- energy over long times -------------------------------------------------------------------------------------------

TOP_STEP, TOP_END = 5e-3, 30.0  # s


@cache
def top_energy(label):
    """Mean error of the energy [J] of the heavy top in the first and the last fifth of 30 s."""
    result = SCHEMES[label].run(heavy_top.build(), TOP_END, TOP_STEP)
    error, n = result.energy.total - result.energy.total[0], len(result.t) // 5
    return error[:n].mean(), error[-n:].mean()


# --- lines of code ----------------------------------------------------------------------------------------------------


def lines_of(text):
    """Lines with code: without blank lines, comments and docstrings."""
    tree, kept = ast.parse(text), set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                kept |= set(range(first.lineno, first.end_lineno + 1))  # a docstring
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for i, line in lines if i not in kept and line.strip() and not line.strip().startswith("#"))


def reached(start, arrows):
    """Modules of the solvers that a module needs, itself among them."""
    found, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name not in found and imports.layer(name) == "solvers" and name != "fem_mbs.solvers":
            found.add(name)
            todo += arrows[name]
    return found


class Code(NamedTuple):
    """Lines of code of a scheme: those it alone needs, shared with some others, shared with all; whom with."""

    own: int
    family: int
    common: int
    shared: dict  # file group -> number of schemes that use it


def code():
    """Class name -> `Code`, of the steppers."""
    arrows, files = imports.graph(), imports.sources()
    needs = {name: reached(stepper.__module__, arrows) for name, stepper in fem.solvers.STEPPERS.items()}
    lines = {module: lines_of(files[module].read_text(encoding="utf-8")) for module in set().union(*needs.values())}
    users = {module: [name for name in needs if module in needs[name]] for module in lines}
    found = {}
    for name, modules in needs.items():
        parts = {"own": 0, "family": 0, "common": 0}
        shared = {}
        for module in modules:
            count = len(users[module])
            parts["own" if count == 1 else "common" if count == len(needs) else "family"] += lines[module]
            if 1 < count < len(needs):
                shared.setdefault(module.split(".")[2], set()).update(set(users[module]) - {name})
        found[name] = Code(**parts, shared=shared)
    return found


# --- tables -----------------------------------------------------------------------------------------------------------


def markdown(head, rows):
    """A table as Markdown, of texts."""
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows))


def number(order):
    """An order as it is shown."""
    if np.isnan(order):
        return "-"
    return "exact" if np.isinf(order) else f"{order + 0.0:.1f}".replace("-0.0", "0.0")


def order_cells(label):
    """Orders of a scheme as texts: places, and forces after a comma where there are some."""
    for name in MOTIONS:
        found = slopes(label, name)
        if isinstance(found, str):
            yield UNSUPPORTED
        else:
            yield ", ".join(number(order) for order in found if not np.isnan(order))
    order = impact_order(label)
    yield UNSUPPORTED if order is None else number(order)


def error_cells(label):
    """Errors of places with the smallest steps, as texts, and the two mean errors of energy."""
    for name in MOTIONS:
        found = measured(label, name)
        yield UNSUPPORTED if isinstance(found, str) else f"{found[1][-1, 0]:.0e}"
    yield from (f"{error:+.1e}" for error in top_energy(label))


def orders_table():
    """Orders, then errors and energy, as Markdown."""
    titles = [motion.title for motion in MOTIONS.values()]
    steps = [f"{1e3 * motion.duration / motion.steps[-1]:.3g} ms" for motion in MOTIONS.values()]
    errors = [f"{title}, {step}" for title, step in zip(titles, steps)]
    head = ["error", *errors, "energy, first 6 s [J]", "energy, last 6 s [J]"]
    return "\n\n".join(
        [
            markdown(["order", *titles, "impacts"], [[label, *order_cells(label)] for label in SCHEMES]),
            markdown(head, [[label, *error_cells(label)] for label in SCHEMES]),
        ]
    )


def code_table():
    """Lines of code as Markdown."""
    rows = []
    for name, counts in code().items():
        shared = [f"{folder}: {len(others)}" for folder, others in sorted(counts.shared.items())]
        rows.append([f"`{name}`", str(counts.own), str(counts.family), ", ".join(shared) or "-", str(counts.common)])
    head = ["scheme", "its own", "with some others", "folder: with how many others", "with all"]
    return markdown(head, rows)


COSTS = (
    "µs", "of the default's", "unknowns", "iterations", "solves", "smallest gap", r"$\lvert g\rvert$",
    r"$\lvert G v\rvert$", "cone", "energy taken", "largest rise", "lift-offs",
)  # fmt: skip


def cost_cells(cost, usual):
    """Texts of a `mechanism.Cost`, in the order of `COSTS`; ``usual``: seconds of a step of the default stepper."""
    parts = " + ".join(f"{n:.1f}" for n in cost.iterations) if sum(cost.iterations[1:]) else f"{cost.iterations[0]:.1f}"
    numbers = (f"{n:.0e}" for n in (cost.gap, cost.drift, cost.rate, cost.cone, cost.loss, cost.rise))
    return [f"{1e6 * cost.seconds:.0f}", f"{cost.seconds / usual:.1f}", str(cost.unknowns), parts,
            f"{sum(cost.iterations):.1f}", *numbers, str(cost.lift_offs)]  # fmt: skip


def why(reason):
    """The part of an error that states the unsupported feature or the largest step."""
    for begin in ("a contact, which", "rolling, spinning"):
        if begin in reason:
            return begin + reason.partition(begin)[2]
    return (
        "steps above the limit of stability: h must be below"
        + reason.partition("must be below")[2].partition(" with ")[0]
    )


def costs_table():
    """What a step costs and keeps on the roller-crank, as Markdown."""
    parts = []
    for title, flexible in (("Rigid", False), ("With eight beams and rolling resistance", True)):
        costs = mechanism.costs(SCHEMES, flexible=flexible)
        usual = costs[study.DEFAULT].seconds
        rows = [[label, *cost_cells(cost, usual)] for label, cost in costs.items() if not isinstance(cost, str)]
        errors = [
            f"- **{label}** raises an error: {why(cost)}." for label, cost in costs.items() if isinstance(cost, str)
        ]
        parts += [f"{title}:", markdown(["scheme", *COSTS], rows), "\n".join(errors)]
    return "\n\n".join(parts)


TABLES = {"orders": orders_table, "roller_crank": costs_table, "code": code_table}


def main(write=False):
    for name, table in TABLES.items():
        text = table() + "\n"
        print(text, flush=True)
        if write:
            (ROOT / "docs" / f"comparison_{name}.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main("--write" in sys.argv[1:])
