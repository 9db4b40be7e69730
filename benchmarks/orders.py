"""Errors over the step size of the contact examples of Sanchez2025, which are of first order there.

    python benchmarks/orders.py        prints the table of docs/published_benchmarks.md; takes a minute

Errors are those of the source, in the L1 norm: Σ |f_i − f(t_i)| / Σ |f(t_i)|, (A.58) and (B.45). The error of an event
depends on where in its step it lies: where steps can be chosen so that it always lies at the same place, they are.
Where there is no closed form, f is the result with a step that is at least three times smaller than the smallest.
"""

import sys
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import fem_mbs as fem

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import bernoulli_balls
import bouncing_ball
import force_recovery
import rolling_ball
import spinning_cue_ball
import thirty_degree_rule
import three_balls
import two_spheres


class Study(NamedTuple):
    """Step sizes [s], what is looked at, and its errors at a step size."""

    steps: np.ndarray
    quantities: tuple
    errors: object


def l1_error(obtained, exact):
    """Σ |f_i − f(t_i)| / Σ |f(t_i)|."""
    return float(np.abs(obtained - exact).sum() / np.abs(exact).sum())


def at_steps_of(result, fine):
    """Numbers of the saved steps of a finer run at the times of a run."""
    return np.round(result.t / fine.h[-1]).astype(int)


def slopes(name):
    """Slope (k,) of the errors of each quantity of a study in double logarithmic axes."""
    h, errors = measured(name)
    return np.polyfit(np.log(h), np.log(errors), 1)[0]


@cache
def measured(name):
    """Step sizes (n,) [s] and errors (n, k) of a study."""
    study = STUDIES[name]
    return study.steps, np.array([study.errors(h) for h in study.steps])


# --- A.6.1, A.6.2: a ball on a plane ----------------------------------------------------------------------------------


def sliding(h):
    case = rolling_ball.Sliding
    result = case.run(h)
    force = np.linalg.norm(result["floor"].force_tangential, axis=1)[1:]
    limit = case.friction * rolling_ball.mass * rolling_ball.g
    return [l1_error(force, np.where(result.t[1:] <= case.t_roll, limit, 0.0))]


def turning(case, h):
    result = case.run(h)
    t = np.minimum(result.t, case.t_stop)
    angle = np.linalg.norm(result["ball"].rotation_vector, axis=1)
    return [l1_error(angle, case.start * t - 0.5 * case.deceleration * t**2)]


def acary_bourrier(case, h):
    result = rolling_ball.acary_bourrier(case, h)
    fine = np.linspace(0.0, result.t[-1], 200_001)
    speed = rolling_ball.acary_bourrier_exact(case, fine)[0]
    path = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(fine) * (speed[1:] + speed[:-1]))])
    moved = result["ball"].position[:, 0] - result["ball"].position[0, 0]
    return [l1_error(moved, np.interp(result.t, fine, path))]


# --- B.5: impacts of balls --------------------------------------------------------------------------------------------


def driven_spheres(h):
    result = two_spheres.run(h)
    obtained = [result[n].angular_velocity[:, 2] for n in "AB"] + [two_spheres.angle(result, n) for n in "AB"]
    obtained.append(np.linalg.norm(result["contact"].force_tangential, axis=1))
    return [l1_error(a[1:], b[1:]) for a, b in zip(obtained, two_spheres.exact(result.t))]


RULE_STEPS = 2.7e-3 / 3.0 ** np.arange(4)


def cut_ball(t_end, h, **options):
    """Results of the half-ball cut; the balls touch in the middle of a step of all sizes."""
    distance = 20.5 * RULE_STEPS[0] * thirty_degree_rule.speed
    model = thirty_degree_rule.build(distance=distance, **options)
    return fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-5).run(model, t_end, h)


def cut(restitution, h):
    result = cut_ball(0.35, h, restitution=restitution)
    since = result.t - 20.5 * RULE_STEPS[0]  # the ball moves 20.5 of the largest steps before its impact
    after = since > 0
    place, velocity = thirty_degree_rule.trajectory(since[after], 0.5, 0.0, restitution)
    ball = result["cue"]
    return [l1_error(ball.position[after, :2], place), l1_error(ball.velocity[after, :2], velocity)]


@cache
def cut_with_friction(h, damping):
    return cut_ball(0.2, h, friction=0.2, restitution=0.94, spin_damping=damping)


def rubbing_cut(h, steps=RULE_STEPS, damping=0.0):
    """``damping``: times the step, against turning about the vertical."""
    least = steps[-1] / 9
    fine = cut_with_friction(least, damping / least)
    result = cut_with_friction(h, damping / h)
    return [l1_error(result["cue"].position[:, :2], fine["cue"].position[at_steps_of(result, fine), :2])]


@cache
def spinning_shot(h):
    """Ratio −0.4, half of rolling, cut 30°."""
    distance = 20.5 * RULE_STEPS[0] * spinning_cue_ball.speed
    model = spinning_cue_ball.build(np.pi / 6, -0.4, 0.5, distance=distance)
    return fem.DecoupledNSGA.published(rho_inf=0.8).run(model, 0.2, h)


def spinning(h):
    result, fine = spinning_shot(h), spinning_shot(RULE_STEPS[-1] / 9)
    k = at_steps_of(result, fine)
    pairs = [(result[n], fine[n], what) for n in ("cue", "ball") for what in ("position", "velocity")]
    return [l1_error(getattr(a, what), getattr(b, what)[k]) for a, b, what in pairs]


def time_of_impact():
    """Time of the impact of ball 1 on the others [s]: it slides, then rolls."""
    c = three_balls
    t_roll = c.speed / (c.cloth * c.g * (1 + c.mass * c.radius**2 / c.inertia))
    rolling = c.speed - c.cloth * c.g * t_roll
    return t_roll + (c.gap - 0.5 * (c.speed + rolling) * t_roll) / rolling  # 0.32862 s


LINE_STEPS = time_of_impact() / 200.5 / 3.0 ** np.arange(4)


@cache
def balls_in_line(h):
    return three_balls.run(h)


def line(h):
    result, fine, row = balls_in_line(h), balls_in_line(LINE_STEPS[-1] / 3), []
    k = at_steps_of(result, fine)
    for name in "123":
        start = result[name].position[0, 0]
        row.append(l1_error(result[name].position[:, 0] - start, fine[name].position[k, 0] - start))
        row.append(l1_error(result[name].velocity[:, 0], fine[name].velocity[k, 0]))
    return row


def bernoulli(h):
    result = bernoulli_balls.run(h)  # 0.1 m at 1 m/s: the impact is at the end of a step of all sizes
    after = result.t > 0.1 + 1e-9
    exact = {n: np.hypot(*v) for n, v in bernoulli_balls.AFTER.items()}
    speed = {n: np.hypot(*result[n].velocity[after, :2].T) for n in "23"}
    return [l1_error(speed[n], np.full(after.sum(), exact[n])) for n in "23"]


# --- C.6.1: a bouncing ball -------------------------------------------------------------------------------------------


def bouncing(h):
    """e = 0.8, until the ball rests."""
    result = force_recovery.run(0.8, h=h, t_end=4.5)
    fall, g = force_recovery.fall, force_recovery.g
    gap, velocity = bouncing_ball.exact(result.t, fall, 0.8, g)
    ball = result["ball"]
    return [l1_error(ball.position[:, 2] - force_recovery.radius, gap), l1_error(ball.velocity[:, 2], velocity)]


COARSE = np.array([1e-2, 5e-3, 2e-3, 1e-3])
STUDIES = {
    # sliding ends in the middle of a step
    "A.6.1 sliding": Study(
        rolling_ball.Sliding.t_roll / (np.array([12, 25, 50, 100, 200]) + 0.5), ("friction force",), sliding
    ),
    "A.6.1 rolling": Study(COARSE, ("angle",), partial(turning, rolling_ball.ROLLING)),
    "A.6.1 spinning": Study(COARSE, ("angle",), partial(turning, rolling_ball.SPINNING)),
    **{f"A.6.2 {case}": Study(COARSE, ("path",), partial(acary_bourrier, case)) for case in ("I", "II", "III")},
    "B.5.1 two spheres": Study(
        COARSE, ("ω of A", "ω of B", "angle of A", "angle of B", "friction force"), driven_spheres
    ),
    "B.5.2 half ball": Study(RULE_STEPS, ("path", "velocity"), partial(cut, 1.0)),
    "B.5.2 half ball, e = 0.94": Study(RULE_STEPS, ("path", "velocity"), partial(cut, 0.94)),
    "B.5.2 half ball, μ = 0.2": Study(RULE_STEPS, ("path",), rubbing_cut),
    "B.5.2 half ball, μ = 0.2, no spin": Study(
        RULE_STEPS[:3], ("path",), partial(rubbing_cut, steps=RULE_STEPS[:3], damping=100.0)
    ),
    "B.5.3 spinning shot": Study(
        RULE_STEPS, ("path of cue ball", "its velocity", "path of object ball", "its velocity"), spinning
    ),
    "B.5.4 three balls": Study(LINE_STEPS, tuple(f"{w} of {n}" for n in "123" for w in ("path", "velocity")), line),
    "B.5.5 Bernoulli's balls": Study(np.array([2e-2, 1e-2, 5e-3, 2e-3, 1e-3]), ("speed of 2", "speed of 3"), bernoulli),
    # impacts lie anywhere in their steps, and what an impact is late by delays all that follow: many steps
    "C.6.1 bouncing ball": Study(np.geomspace(1e-3, 3e-5, 24), ("position", "velocity"), bouncing),
}


HEAD = "| example | steps [ms] | measured slopes |\n|---|---|---|"


def row(name):
    """Line of the table."""
    steps, quantities, _ = STUDIES[name]
    found = ", ".join(f"{what} {slope:.2f}" for what, slope in zip(quantities, slopes(name)))
    return f"| {name} | {1e3 * steps[0]:.2g} … {1e3 * steps[-1]:.2g} | {found} |"


def main():
    print(HEAD)
    for name in STUDIES:
        print(row(name), flush=True)


if __name__ == "__main__":
    main()
