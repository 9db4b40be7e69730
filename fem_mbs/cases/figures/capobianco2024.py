"""Pages of Capobianco2024, figures 3, 4, 6, 8 and 9: ball, slider-crank with clearance, point on a slope, its orders.

End times of ball and slider-crank are not printed: 2 s and 0.1 s. All pages take about a minute.
"""

from typing import Any

import numpy as np

from fem_mbs.cases import capobianco2024 as source
from fem_mbs.cases.figures.bruls2014 import DOTS, of
from fem_mbs.cases.figures.capobianco2021 import PLACES, in_run, path
from fem_mbs.cases.figures.page import Mark, Page, Panel, Points
from fem_mbs.errors import FemMbsError

SCHEME = source.LOBATTO

# --- spinning ball, figures 3 and 4 -----------------------------------------------------------------------------------

RUNS = {"bounces": (0.0, 0.5), "slides": (50.0, 0.0), "sticks": (10.0, 0.0)}  # rad/s, e


def ball_runs(stepper: Any) -> Any:
    """Cases 1 to 3, 2 s with 10 ms."""
    return {name: source.run_ball(stepper, *case, t_end=2.0) for name, case in RUNS.items()}


def ball_panels(name: str, title: str) -> tuple[Panel, ...]:
    """Speeds and impulses of a step of a case with spin."""
    first = {"xlim": (0.3, 1.0)}
    return (
        Panel(f"{title}: speed [m/s]", in_run(name, of("ball", "velocity", 0)), None, (), first),
        Panel(f"{title}: angular speed [rad/s]", in_run(name, of("ball", "angular_velocity", 2)), None, (), first),
        Panel(f"{title}: ΔP_N of a step [N s]", in_run(name, of("floor", "force_normal", scale=1e-2)), None, (),
              {**first, "yscale": "log", "ylim": (1e-2, 10)}, DOTS),
        Panel(f"{title}: −ΔP_F of a step [N s]", in_run(name, of("floor", "force_tangential", 0, scale=-1e-2)), None,
              (), {**first, "yscale": "log", "ylim": (1e-3, 2)}, DOTS),
    )  # fmt: skip


BALL = Page(
    "Capobianco2024, figures 3 and 4", "ball, 10 ms; no spin and e = 0.5; 50 rad/s; 10 rad/s",
    ("capobianco2024-ball", "capobianco2021-ball-bounces"), SCHEME, ball_runs,
    (
        Panel("no spin: gap [m]", in_run("bounces", of("floor", "gap"))),
        Panel("no spin: velocity [m/s]", in_run("bounces", of("ball", "velocity", 1))),
        Panel("no spin: gap, enlarged [m]", in_run("bounces", of("floor", "gap")), None, (),
              {"xlim": (1.0, 1.6), "ylim": (-2e-3, 2e-2)}),
        Panel("no spin: ΔP_N of a step [N s]", in_run("bounces", of("floor", "force_normal", scale=1e-2)), None, (),
              {"yscale": "log", "ylim": (1e-2, 10)}, DOTS),
        *ball_panels("slides", "50 rad/s"),
        *ball_panels("sticks", "10 rad/s"),
    ),
)  # fmt: skip


# --- slider-crank with clearance, figure 6 ----------------------------------------------------------------------------


def crank_run(stepper: Any) -> Any:
    """0.1 s with 0.1 ms."""
    return stepper.run(source.slider_crank(), 0.1, 1e-4)


def corner_rate(x: int, y: int) -> Any:
    """Curve of the rate of the gap [m/s] of the corner at (x a, y b) of the slider, x and y ±1."""

    def curve(result: Any) -> Points:
        slider = result["slider"]
        angle, rate = slider.rotation_vector[:, 2], slider.angular_velocity[:, 2]
        arm = x * source.HALF * np.cos(angle) - y * source.LOW * np.sin(angle)
        return result.t, -y * (slider.velocity[:, 1] + arm * rate)

    return curve


def straight(result: Any) -> float:
    """Time [s] from which the slider is turned by less than 0.2 mrad."""
    return float(result.t[np.flatnonzero(np.abs(result["slider"].rotation_vector[:, 2]) > 2e-4)[-1] + 1])


STRAIGHT = Mark(0.01, "x", "0.01 s: straight", straight, 5e-3)
CRANK = Page(
    "Capobianco2024, figure 6", "slider-crank with clearance, 0.1 ms", ("capobianco2024-slider-crank",), SCHEME,
    crank_run,
    (
        Panel("6a: gap of corner 1 [m]", of("corner 1", "gap")),
        Panel("6a: its rate [m/s]", corner_rate(-1, 1)),
        Panel("6b: gap of corner 3 [m]", of("corner 3", "gap")),
        Panel("6b: its rate [m/s]", corner_rate(-1, -1)),
        Panel("6c: angle of the slider [rad]", of("slider", "rotation_vector", 2), None, (STRAIGHT,),
              {"xlim": (0, 0.02)}),
        Panel("6c: its angular speed [rad/s]", of("slider", "angular_velocity", 2), None, (STRAIGHT,),
              {"xlim": (0, 0.02)}),
        Panel("6d: path of the slider", path("slider"), None, (), {**PLACES, "aspect": "auto"}),
        Panel("6a: gap of corner 1, early [m]", of("corner 1", "gap"), None, (), {"xlim": (0, 0.02)}),
    ),
)  # fmt: skip


# --- point on a slope, figure 8 ---------------------------------------------------------------------------------------

HEIGHTS = {"1": 1.0, "2": 1.5}  # m, of the start of cases 1 and 2


def slope_runs(stepper: Any) -> Any:
    """Cases 1 and 2, 2.5 s with 10 ms."""
    return {name: source.run_slope(stepper, height) for name, height in HEIGHTS.items()}


def speed(result: Any) -> Points:
    """Absolute velocity [m/s]."""
    return result.t, np.linalg.norm(result["point"].velocity, axis=1)


def slope_exact(name: str, what: str) -> Any:
    """Path, or speed, up to 2.08 s, before the point rests."""
    t = np.linspace(0, 2.08, 417)

    def curve() -> Points:
        place, velocity = source.slope_exact(t, HEIGHTS[name])
        return tuple(place.T) if what == "path" else (t, np.linalg.norm(velocity, axis=1))

    return curve


def slope_rests(name: str) -> Any:
    """Time [s] of the first step at rest."""
    return lambda runs: float(runs[name].t[np.flatnonzero(speed(runs[name])[1] > 1e-6)[-1] + 1])


def slope_impact(runs: Any) -> float:
    """Time [s] of the impact of case 2."""
    return float(runs["2"].t[np.argmax(runs["2"]["slope"].impact)])


REST = (
    Mark(2.1, "x", "2.1 s: at rest", slope_rests("1"), 0.05),
    Mark(2.25, "x", "at rest between 2 and 2.5 s", slope_rests("2"), 0.25),
)
IMPACT = Mark(0.3, "x", "0.3 s: impact", slope_impact, 0.05)
SLOPE = Page(
    "Capobianco2024, figure 8", "point on a slope, 10 ms", ("capobianco2024-slope", "capobianco2024-ball"), SCHEME,
    slope_runs,
    tuple(
        panel
        for name, marks in (("1", REST[:1]), ("2", (IMPACT, REST[1])))
        for panel in (
            Panel(f"case {name}: path", in_run(name, path("point")), slope_exact(name, "path"), (), PLACES),
            Panel(f"case {name}: speed [m/s]", in_run(name, speed), slope_exact(name, "speed"), marks),
            Panel(f"case {name}: speed before rest [m/s]", in_run(name, speed), slope_exact(name, "speed"), (),
                  {"xlim": (1.9, 2.3), "ylim": (-0.05, 0.6)}),
        )
    ),
    columns=3,
)  # fmt: skip


# --- errors of the point on a slope, figure 9 -------------------------------------------------------------------------


def slope_errors(stepper: Any, steps: Any = source.STEPS) -> Any:
    """Errors (k, 2) of cases 1 and 2 over the steps [s]; NaN where a run fails."""

    def error(h: float, height: float) -> np.ndarray:
        try:
            return source.slope_error(stepper, h, height)
        except FemMbsError:
            return np.full(2, np.nan)

    return {name: np.array([error(h, height) for h in steps]) for name, height in HEIGHTS.items()}


def over_steps(name: str, column: int) -> Any:
    """Curve of errors of places (0) or velocities (1) over the step."""
    return lambda errors: (source.STEPS, errors[name][:, column])


LOGARITHMIC = {"xscale": "log", "yscale": "log", "xlabel": "h [s]", "ylim": (1e-13, 3)}
ERRORS = Page(
    "Capobianco2024, figure 9", "errors of the point on a slope up to 1.6 s, steps of 3.2 to 409.6 ms",
    ("capobianco2024-slope-errors", "capobianco2024-slope"), source.TIGHT[1], slope_errors,
    tuple(
        Panel(f"case {name}: {what}", over_steps(name, column), None, (), view, {"marker": "o", "ms": 3}, slopes)
        for name, view, slopes in (("1", LOGARITHMIC, (2, 4, 6)), ("2", {**LOGARITHMIC, "ylim": (1e-5, 3)}, (1,)))
        for column, what in enumerate(("places [m s]", "velocities [m]"))
    ),
    columns=2,
)  # fmt: skip

PAGES = {
    "capobianco2024-ball": BALL, "capobianco2024-slider-crank": CRANK, "capobianco2024-slope": SLOPE,
    "capobianco2024-slope-impact": SLOPE, "capobianco2024-slope-errors": ERRORS,
}  # fmt: skip
