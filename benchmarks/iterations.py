"""Newton iterations of the examples of Sanchez2025, annexes A and B, compared with the published ones.

    python benchmarks/iterations.py            prints the table of docs/published_benchmarks.md

Largest and mean numbers per step of the three sub-problems: smooth motion, position, velocity. Step sizes, tolerance
(1e-5) and spectral radius are those of the source. A number counts solutions of linear systems: a sub-problem whose
first residual is small enough counts 0, where the source counts at least 1. Iterations of steps that were repeated with
other penalties are counted, those of the contact-problem solver are not: two columns show how many steps were
repeated and how many sub-problems were passed to another solver because Newton iterations did not converge.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import ball_against_wall
import bernoulli_balls
import billiard_break
import roller_crank
import rolling_ball
import spinning_cue_ball
import thirty_degree_rule
import three_balls
import two_spheres


def run(model, t_end, h, rho_inf=0.8, **options):
    options = {"rtol": 1e-5, "approach": "slower"} | options
    return fem.DecoupledNSGA.published(rho_inf, **options).run(model, t_end, h)


def flexible_crank(h):
    """With matrices of its own, as published: by default those of the smooth motion serve the position correction."""
    return [run(roller_crank.build(True), 2.0, h, 0.0, reuse=False)]


def cuts():
    """All seven hit-ball fractions, without friction between the balls."""
    return [run(thirty_degree_rule.build(f), 0.35, 1e-4) for f in thirty_degree_rule.DEFLECTION]


def shots():
    """All 28 spinning shots, on the cloth."""
    table = [(np.radians(phi), s, rolling) for (phi, rolling), row in spinning_cue_ball.THROW.items() for s in row]
    return [run(spinning_cue_ball.build(*shot, distance=0.05), 0.06, 1e-4) for shot in table]


# name, step size, published: largest, mean (None: not published); runs
CASES = [
    ("A.6.1 sliding ball", 1e-2, (1, 2, 2), (1, 1, 1), lambda h: [rolling_ball.Sliding.run(h)]),
    ("A.6.1 rolling resistance", 1e-2, (1, 1, 3), (1, 1, 1), lambda h: [rolling_ball.ROLLING.run(h)]),
    ("A.6.1 spinning resistance", 1e-2, (1, 1, 2), (1, 1, 1), lambda h: [rolling_ball.SPINNING.run(h)]),
    ("A.6.2 sliding and rolling, I", 1e-3, None, None, lambda h: [rolling_ball.acary_bourrier("I", h)]),
    ("A.6.2 sliding and rolling, II", 1e-3, None, None, lambda h: [rolling_ball.acary_bourrier("II", h)]),
    ("A.6.2 sliding and rolling, III", 1e-3, None, None, lambda h: [rolling_ball.acary_bourrier("III", h)]),
    ("A.6.3 roller-crank, rigid", 1e-3, (1, 3, 3), (1, 2, 2), lambda h: [run(roller_crank.build(), 2.0, h, 0.0)]),
    ("A.6.3 roller-crank, 8 beams", 1e-3, (2, 3, 1), (2, 2, 1), flexible_crank),
    ("A.6.4 ball against a wall", 1e-3, (1, 7, 7), (1, 1, 3), lambda h: [run(ball_against_wall.build(), 3.0, h)]),
    ("B.5.1 two spheres", 1e-3, (1, 3, 3), (1, 2, 2), lambda h: [two_spheres.run(h)]),
    ("B.5.2 seven cuts, no friction", 1e-4, (1, 4, 5), (1, 1, 1), lambda h: cuts()),
    (
        "B.5.2 half ball, μ = 0.06, e = 0.94",
        1e-4,
        (1, 4, 5),
        (1, 1, 1),
        lambda h: [run(thirty_degree_rule.build(0.5, friction=0.06, restitution=0.94), 0.35, h)],
    ),
    ("B.5.3 28 spinning shots", 1e-4, (1, 3, 6), (1, 1, 1), lambda h: shots()),
    ("B.5.4 three balls, smooth", 1e-3, (1, 3, 1), (1, 1, 1), lambda h: [three_balls.run(h, friction=False)]),
    ("B.5.4 three balls, friction", 1e-3, (1, 4, 2), (1, 1, 1), lambda h: [three_balls.run(h)]),
    ("B.5.5 Bernoulli's balls", 1e-2, (1, 3, 1), (1, 1, 1), lambda h: [bernoulli_balls.run(h)]),
    ("B.5.6 break", 1e-3, (1, 7, 4), (1, 2, 1), lambda h: [run(billiard_break.build(), 3.0, h)]),
    (
        "B.5.6 break, rolling resistance",
        1e-3,
        (1, 7, 4),
        (1, 2, 1),
        lambda h: [run(billiard_break.build(0.005), 3.0, h)],
    ),
]


class Counts(NamedTuple):
    """Over all runs of a case: largest and mean iterations (3,) of a step; steps, of these repeated, handed over."""

    largest: np.ndarray
    mean: np.ndarray
    steps: int
    repeated: int
    handed: int


def measure(case):
    """Run a case."""
    _, h, _, _, runs = case
    results = runs(h)
    totals = (sum(r.statistics[n] for r in results) for n in ("steps", "repeated_steps", "contact_problems"))
    return Counts(
        np.max([r.iterations.max for r in results], axis=0),
        np.mean([r.iterations.mean for r in results], axis=0),
        *totals,
    )


def row(case, counts):
    """Line of the table."""

    def text(numbers, form):
        return "" if numbers is None else ", ".join(form.format(n) for n in numbers)

    name, h, published_largest, published_mean, _ = case
    cells = [name, f"{1e3 * h:g} ms", text(published_largest, "{}"), text(counts.largest, "{:.0f}")]
    cells += [text(published_mean, "{}"), text(counts.mean, "{:.2f}")]
    return "| " + " | ".join([*cells, *map(str, (counts.steps, counts.repeated, counts.handed))]) + " |"


COLUMNS = (
    "example", "step", "largest, published", "largest", "mean, published", "mean", "steps", "repeated", "handed over"
)  # fmt: skip
HEAD = "| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|"


def main():
    print(HEAD)
    for case in CASES:
        print(row(case, measure(case)), flush=True)


if __name__ == "__main__":
    main()
