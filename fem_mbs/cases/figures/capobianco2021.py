"""Pages of Capobianco2021, figures 1 to 5: spinning ball, ball in a corner, ball in a cylinder, Painlevé's rod.

Figures 6 and 7 are the pictures of `examples/guided_hopper.py` and `examples/tippe_top.py`. All pages take about a
minute, of which the corner takes most.
"""

from typing import Any

import numpy as np

from fem_mbs.cases import capobianco2021 as source
from fem_mbs.cases.case import Method
from fem_mbs.cases.figures.bruls2014 import DOTS, impulses, of
from fem_mbs.cases.figures.page import Mark, Page, Panel, Points
from fem_mbs.cases.scripts import script

SCHEME = source.FRICTION

# --- spinning ball, figures 1 and 2 -----------------------------------------------------------------------------------

FALL, DROP = np.sqrt(2 * (1 - source.radius) / source.g), np.sqrt(2 * source.g * (1 - source.radius))  # s, m/s
RUNS = {"bounces": (0.0, 0.5, 1.5), "slides": (50.0, 0.0, 1.1), "sticks": (10.0, 0.0, 1.1)}  # rad/s, e, end [s]


def ball_runs(stepper: Any) -> Any:
    """Without spin, with 50 and with 10 rad/s; 2 ms."""
    return {name: source.run_ball(stepper, *case) for name, case in RUNS.items()}


def in_run(name: str, curve: Any) -> Any:
    """The curve of one of several runs."""
    return lambda runs: curve(runs[name])


def ball_exact(which: int) -> Any:
    """Height (0) or speed (1) of the closed form without spin."""
    t = np.linspace(0, 1.5, 3001)
    above = (1 - which) * source.radius
    return lambda: (t, above + script("bouncing_ball").exact(t, 1 - source.radius, 0.5, source.g)[which])


def ball_impulses() -> Points:
    """Closed form of the first eight impacts without spin."""
    k = np.arange(8)
    return FALL + 2 * DROP / source.g * (1 - 0.5**k), 1.5 * source.mass * DROP * 0.5**k


def at_impact(name: str, component: int) -> Any:
    """Component of the impulse [N s] of the strongest impact."""

    def obtained(runs: Any) -> float:
        floor = runs[name]["floor"]
        return float(floor.impulse[np.argmax(floor.impulse[:, 0]), component])

    return obtained


def while_sliding(history: str, *component: int) -> Any:
    """Mean force [N] from 0.45 to 0.7 s, while the ball of 50 rad/s slides."""

    def obtained(runs: Any) -> float:
        t, y = of("floor", history, *component)(runs["slides"])
        return float(np.mean(y[(t > 0.45) & (t < 0.7)]))

    return obtained


NORMAL, ALONG = of("floor", "force_normal"), of("floor", "force_tangential", 0)
LASTING = {"ylim": (-3, 14)}
SHORT = {"xlim": (0.4, 1.1)}
BALL = Page(
    "Capobianco2021, figures 1 and 2", "ball, 2 ms; no spin and e = 0.5; 50 rad/s; 10 rad/s",
    ("capobianco2021-ball-bounces", "capobianco2021-ball-slides", "capobianco2021-ball-rolls"), SCHEME, ball_runs,
    (
        Panel("1: height [m]", in_run("bounces", of("ball", "position", 1)), ball_exact(0)),
        Panel("1: velocity [m/s]", in_run("bounces", of("ball", "velocity", 1)), ball_exact(1)),
        Panel("1: impulse Λ_N [N s]", in_run("bounces", impulses("floor")), ball_impulses, (),
              {"yscale": "log", "ylim": (1e-2, 10), "xlim": (0, 1.5)}, DOTS),
        Panel("1: force λ_N [N]", in_run("bounces", NORMAL), None, (), {"ylim": (-1, 25), "xlim": (1.2, 1.5)}, DOTS),
        Panel("2 left: impulse Λ_N [N s]", in_run("slides", impulses("floor")), None,
              (Mark(4.2, "y", "4.2 N s", at_impact("slides", 0), 0.05),), {**SHORT, "ylim": (-0.2, 5)}, DOTS),
        Panel("2 left: impulse Λ_F [N s]", in_run("slides", impulses("floor", 1)), None,
              (Mark(-0.84, "y", "0.84 N s", at_impact("slides", 1), 0.005),), {**SHORT, "ylim": (-1, 0.1)}, DOTS),
        Panel("2 left: force λ_N [N]", in_run("slides", NORMAL), None,
              (Mark(9.81, "y", "9.81 N", while_sliding("force_normal"), 0.005),), LASTING),
        Panel("2 left: force λ_F [N]", in_run("slides", ALONG), None,
              (Mark(-1.96, "y", "1.96 N", while_sliding("force_tangential", 0), 0.005),), {"ylim": (-3, 1)}),
        Panel("2 right: impulse Λ_N [N s]", in_run("sticks", impulses("floor")), None, (),
              {**SHORT, "ylim": (-0.2, 5)}, DOTS),
        Panel("2 right: impulse Λ_F [N s]", in_run("sticks", impulses("floor", 1)), None,
              (Mark(-0.29, "y", "0.29 N s", at_impact("sticks", 1), 0.005),), {**SHORT, "ylim": (-1, 0.1)}, DOTS),
        Panel("2 right: force λ_N [N]", in_run("sticks", NORMAL), None, (), LASTING),
        Panel("2 right: force λ_F [N]", in_run("sticks", ALONG), None, (), {"ylim": (-3, 1)}),
    ),
)  # fmt: skip


# --- corner, figure 3 -------------------------------------------------------------------------------------------------


def corner_closed(result: Any) -> float:
    """Time [s] from which both gaps stay closed."""
    open_ = np.max([result[f"plane {i}"].gap for i in (1, 2)], axis=0) > 1e-7
    return float(result.t[np.flatnonzero(open_)[-1] + 1])


def path(name: str) -> Any:
    """Curve of the place of a body in the plane, y over x."""
    return lambda result: tuple(result[name].position[:, :2].T)


def first_of_corner(i: int) -> Any:
    """Closed form of the first impact with a plane."""
    return lambda: tuple(np.array(source.CORNER[i][:1]).T)


REST = Mark(1.36, "x", "1.36 s: both closed", corner_closed, 5e-3)
HITS = {"yscale": "log", "ylim": (1e-3, 10), "xlim": (0, 1.6)}
PLACES = {"xlabel": "x [m]", "ylabel": "y [m]", "aspect": "equal"}
CORNER = Page(
    "Capobianco2021, figure 3", "ball in a corner, 0.1 ms", ("capobianco2021-corner",), SCHEME, source.run_corner,
    (
        Panel("gap of plane 1 [m]", of("plane 1", "gap")),
        Panel("gap of plane 2 [m]", of("plane 2", "gap")),
        Panel("path of the centre", path("ball"), None, (), PLACES),
        Panel("gap of plane 1, enlarged [m]", of("plane 1", "gap"), None, (REST,),
              {"xlim": (1.1, 1.5), "ylim": (-1e-3, 1e-2)}),
        Panel("impulse Λ_N of plane 1 [N s]", impulses("plane 1"), first_of_corner(1), (), HITS, DOTS),
        Panel("impulse Λ_N of plane 2 [N s]", impulses("plane 2"), first_of_corner(2), (), HITS, DOTS),
    ),
    columns=3,
)  # fmt: skip


# --- cylinder, figure 4 -----------------------------------------------------------------------------------------------


def on_circle() -> Points:
    """The lower half of the circle of 0.9 m."""
    turned = np.linspace(np.pi, 2 * np.pi, 181)
    return 0.9 * np.cos(turned), source.TUBE + 0.9 * np.sin(turned)


def circle_left(result: Any) -> float:
    """Largest distance [m] of the centre from the axis."""
    return float(np.linalg.norm(result["ball"].position[:, :2] - [0, source.TUBE], axis=1).max())


def cylinder_angle(result: Any) -> Points:
    """Angle [rad] of the centre from the bottom."""
    place = result["ball"].position - [0, source.TUBE, 0]
    return result.t, np.arctan2(place[:, 0], -place[:, 1])


CYLINDER = Page(
    "Capobianco2021, figure 4", "ball in a cylinder, 10 ms", ("capobianco2021-cylinder",), SCHEME,
    lambda stepper: source.run_cylinder(stepper, 5.0),
    (
        Panel("path of the centre", path("ball"), on_circle, (), PLACES),
        Panel("distance of the centre from the axis [m]", lambda r: (r.t, 1 - 0.1 - r["wall"].gap), None,
              (Mark(0.9, "y", "circle of 0.9 m", circle_left, 1e-9),)),
        Panel("angle from the bottom [rad]", cylinder_angle, lambda: tuple(np.array(source.TURNS).T)),
    ),
    columns=3,
)  # fmt: skip


# --- Painlevé's rod, figure 5 -----------------------------------------------------------------------------------------


def rod_exact(which: int) -> Any:
    """Angular speed (0) or normal force (1) before the singularity, integrated to round-off."""
    return lambda: (list(source.ROD), [values[which] for values in source.ROD.values()])


POINTED = {"xlim": (0.75, 0.9)}
TURNING = of("rod", "angular_velocity", 2, scale=-1.0)
ROD = Page(
    "Capobianco2021, figure 5", "Painlevé's rod, 0.8 ms", ("capobianco2021-rod",),
    Method(SCHEME.stepper, {**SCHEME.options, "rho_inf": 0.9}), source.run_rod,  # type: ignore[dict-item]
    (
        Panel("angular speed, clockwise [rad/s]", TURNING, rod_exact(0)),
        Panel("angle [rad]", lambda r: (r.t, np.unwrap(-r["rod"].rotation_vector[:, 2]))),
        Panel("gap of the tip [m]", of("floor", "gap")),
        Panel("speed of the centre [m/s]", of("rod", "velocity", 0)),
        Panel("angular speed, enlarged [rad/s]", TURNING, rod_exact(0), (), POINTED),
        Panel("gap of the tip, enlarged [m]", of("floor", "gap"), None, (), {**POINTED, "ylim": (-0.005, 0.05)}),
        Panel("normal force [N]", of("floor", "force_normal"), rod_exact(1), (), {**POINTED, "ylim": (-10, 200)}),
        Panel("friction force [N]", of("floor", "force_tangential", 0), None, (), {**POINTED, "ylim": (-350, 20)}),
    ),
)  # fmt: skip

PAGES = {
    **dict.fromkeys(BALL.cases, BALL), "capobianco2021-corner": CORNER, "capobianco2021-cylinder": CYLINDER,
    "capobianco2021-rod": ROD,
}  # fmt: skip
