"""Newton iterations per step printed in two sources, compared with those of the same methods here, on the same models.

Sanchez2025 prints the largest and the mean number of its three problems (smooth, position, velocity), mean ones as
integers; Capobianco2021 those of its one problem, where a step with one update counts as none: one is added here.
What matters is not to need more: checks compare numbers above the printed ones; lower ones count as equal. Tolerances
and first guesses differ.
"""

from collections.abc import Callable
from typing import Any

import fem_mbs as fem
from fem_mbs.cases import capobianco2021
from fem_mbs.cases.case import OWN, Case, Method
from fem_mbs.cases.scripts import script

Three = tuple[int, int, int]
MEAN = 0.5  # printed means are rounded to integers


# --- Sanchez2025, annexes -----------------------------------------------------------------------------------------


def nsga(rho_inf: float = 0.8, **options: Any) -> fem.DecoupledNSGA:
    """The scheme with the settings of the source."""
    return fem.DecoupledNSGA.published(rho_inf, rtol=1e-5, **options)


def thirty_degrees() -> Any:
    """B.5.2, half ball."""
    return nsga().run(script("thirty_degree_rule").build(0.5), 0.35, 1e-4)


# fmt: off
# name: run, largest and mean numbers of the source; the break has 1, 2, 1 on average
EXAMPLES: dict[str, tuple[Callable[[], Any], Three, Three]] = {
    "A.6.1 sliding": (lambda: script("rolling_ball").Sliding.run(1e-2, solver=nsga()), (1, 2, 2), (1, 1, 1)),
    "A.6.1 rolling": (lambda: script("rolling_ball").ROLLING.run(1e-2, solver=nsga()), (1, 1, 3), (1, 1, 1)),
    "A.6.1 spinning": (lambda: script("rolling_ball").SPINNING.run(1e-2, solver=nsga()), (1, 1, 2), (1, 1, 1)),
    "A.6.4 wall": (lambda: nsga().run(script("ball_against_wall").build(), 3.0, 1e-3), (1, 7, 7), (1, 1, 3)),
    "B.5.1 two spheres": (lambda: script("two_spheres").run(1e-3, solver=nsga()), (1, 3, 3), (1, 2, 2)),
    "B.5.2 half ball": (thirty_degrees, (1, 4, 5), (1, 1, 1)),
    "B.5.3 spinning": (
        lambda: nsga().run(script("spinning_cue_ball").build(distance=0.2), 1.0, 1e-4), (1, 3, 6), (1, 1, 1)
    ),
    "B.5.4 smooth": (lambda: script("three_balls").run(1e-3, False, solver=nsga()), (1, 3, 1), (1, 1, 1)),
    "B.5.4 friction": (lambda: script("three_balls").run(1e-3, solver=nsga()), (1, 4, 2), (1, 1, 1)),
    "B.5.5 Bernoulli": (lambda: script("bernoulli_balls").run(1e-2, solver=nsga()), (1, 3, 1), (1, 1, 1)),
    "B.5.6 break": (lambda: nsga().run(script("billiard_break").build(), 3.0, 1e-3), (1, 7, 4), (1, 2, 1)),
    "C.6.1 ball": (lambda: script("force_recovery").run(0.8, solver=nsga(0.0)), (1, 1, 1), (1, 1, 1)),
    "C.6.2 spheres": (
        lambda: nsga(0.0).run(script("compliant_impacts").two_spheres(0.8), 0.5, 1e-2), (1, 2, 2), (1, 2, 2)
    ),
    "C.6.3 slider": (lambda: nsga(0.0).run(script("slider_hits_block").build(), 0.1, 1e-4), (2, 3, 2), (1, 2, 1)),
}
# fmt: on
PARTS = ("smooth", "position", "velocity")


def sanchez(_: Any) -> fem.Checks:
    """Largest and mean numbers."""
    checks = []
    for name, (run, largest, mean) in EXAMPLES.items():
        found = run().iterations
        for i, part in enumerate(PARTS):
            checks += [
                fem.Check(f"{name}: {part}, largest, above {largest[i]}", reference=largest[i],
                          obtained=max(found.max[i], largest[i]), abs=0),
                fem.Check(f"{name}: {part}, mean, above {mean[i]}", reference=mean[i],
                          obtained=max(found.mean[i], mean[i]), abs=MEAN),
            ]  # fmt: skip
    return fem.Checks(*checks)


# --- Capobianco2021 -----------------------------------------------------------------------------------------------


def coupled(rho_inf: float, **options: Any) -> fem.NonsmoothGeneralizedAlphaFriction:
    """The scheme of the source."""
    return fem.NonsmoothGeneralizedAlphaFriction(rho_inf=rho_inf, approach="start", **options)


# run; largest and mean number of updates of the source, one added
SYSTEMS: dict[str, tuple[Callable[[], Any], int, float]] = {
    "10.1 ball": (lambda: capobianco2021.run_ball(coupled(0.5), 0.0, 0.5, 1.5), 2, 1.01),
    "10.2 corner": (lambda: capobianco2021.run_corner(coupled(0.5)), 8, 1.36),
    "10.3 cylinder": (lambda: capobianco2021.run_cylinder(coupled(0.5), 5.0), 75, 1.37),
    "10.4 rod": (lambda: capobianco2021.run_rod(coupled(0.9)), 3, 1.07),
    "10.5 hopper": (lambda: coupled(0.0).run(script("guided_hopper").build(), 0.3, 5e-5), 6, 2.23),
    "10.6 tippe top": (lambda: script("tippe_top").run(solver=coupled(0.5)), 4, 1.36),
}


def capobianco(_: Any) -> fem.Checks:
    """Largest and mean numbers."""
    checks = []
    for name, (run, largest, mean) in SYSTEMS.items():
        result = run()
        found = result.iterations
        checks += [
            fem.Check(
                f"{name}: largest, above {largest}", reference=largest, obtained=max(found.max[0], largest), abs=0
            ),
            fem.Check(f"{name}: mean, above {mean}", reference=mean, obtained=max(found.mean[0], mean), abs=0.005),
        ]
    return fem.Checks(*checks)


ONE_MORE = "one more than printed, gaps and their rates are solved to round-off here: {}"
SANCHEZ_MISSED = {
    "A.6.1 rolling: position, largest, above 1": "2",
    "A.6.1 spinning: position, largest, above 1": "2",
    "B.5.3 spinning: position, largest, above 3": "4",
    "B.5.4 smooth: velocity, largest, above 1": "2",
    "B.5.4 friction: position, largest, above 4": "5",
    "B.5.4 friction: velocity, largest, above 2": "3",
    "B.5.5 Bernoulli: velocity, largest, above 1": "2",
    "C.6.1 ball: position, largest, above 1": "2",
    "C.6.1 ball: velocity, largest, above 1": "2",
    "C.6.3 slider: position, largest, above 3": "4",
}
# benchmarks/accuracy_of_gaps.py: what accuracy explains
EXACT = "gaps and their rates are solved to round-off here, with 1e-6 in the source: {}"
SINGLE = "in single steps, for gaps with 1e-6 too: {}"
CAPOBIANCO_MISSED = {
    "10.1 ball: largest, above 2": EXACT.format("3 for 2, in the impact"),
    "10.2 corner: largest, above 8": "with friction in the corner Newton's iteration goes to and fro, and the "
    "contact-problem solver follows: 220 in one of 9 such steps, for 281 with another iteration in the source",
    "10.3 cylinder: mean, above 1.37": EXACT.format("2.07 for 1.37"),
    "10.4 rod: largest, above 3": EXACT.format("5 for 3, at the singularity"),
    "10.5 hopper: largest, above 6": SINGLE.format("19 for 6"),
    "10.6 tippe top: largest, above 4": SINGLE.format("6 for 4"),
    "10.6 tippe top: mean, above 1.36": EXACT.format("2.08 for 1.36"),
}
CASES = [
    Case("sanchez2025-iterations", f"Newton iterations of {len(EXAMPLES)} runs",
         "Sanchez2025, annexes A (without A.6.3), B and C (without C.6.4)",
         "no more than printed; printed means are rounded", sanchez,
         (Method("DecoupledNSGA.published", OWN, {name: ONE_MORE.format(n) for name, n in SANCHEZ_MISSED.items()}),)),
    Case("capobianco2021-iterations", f"Newton iterations of {len(SYSTEMS)} examples", "Capobianco2021, section 10",
         "no more than printed; means to the half of a printed digit", capobianco,
         (Method("NonsmoothGeneralizedAlphaFriction", OWN, CAPOBIANCO_MISSED),),
         note="The source counts a step with one update as none; times of the end are not printed: hopper 0.3 s, tippe "
         "top 8 s.", fast=False),
]  # fmt: skip
