"""Pages of the four examples of Bruls2014, figures 2-24: ball, pendulum, elastic bar, rocking block.

Quantities are those that its text names; which of the figures shows which is not known, and no curve is digitised.
All pages take two to three minutes, of which the bar takes most.
"""

from typing import Any

import numpy as np

from fem_mbs.cases import bruls2014 as source
from fem_mbs.cases.case import Method
from fem_mbs.cases.figures.page import Mark, Page, Panel, Points
from fem_mbs.cases.scripts import script

GGL = source.GGL
DOTS = {"ls": "", "marker": "."}
FINE = {**DOTS, "ms": 2}  # of forces that jump from step to step


def of(name: str, history: str, *component: int, scale: float = 1.0) -> Any:
    """Curve of a history over time, or of a component of it."""

    def curve(result: Any) -> Points:
        values = np.asarray(getattr(result[name], history))
        return result.t, scale * (values[:, component[0]] if component else values)

    return curve


def energy(result: Any) -> Points:
    """Total energy [J]."""
    return result.t, result.energy.total


def impulses(name: str, component: int = 0) -> Any:
    """Curve of impulses [N s] of a contact, of the steps with an impact."""

    def curve(result: Any) -> Points:
        hit = np.flatnonzero(result[name].impact)
        return result.t[hit], result[name].impulse[hit, component]

    return curve


def drift(level: str) -> Any:
    """Curve of the largest constraint violation of joints, at least the 1e-17 that the axis begins with."""
    return lambda result: (result.t, np.maximum(getattr(result.violation, level), 1e-17))


# --- bouncing ball ----------------------------------------------------------------------------------------------------


def ball_run(stepper: Any) -> Any:
    """4.5 s with 2 ms."""
    return stepper.run(script("bouncing_ball").build(), 4.5, 2e-3)


def ball_energy(result: Any) -> Points:
    """Total energy [J] over that at rest."""
    ball = script("bouncing_ball")
    return result.t, result.energy.total - ball.mass * ball.g * ball.radius


def ball_exact(which: int) -> Any:
    """Gap (0) or speed (1) of the closed form."""
    t = np.linspace(0, 4.5, 4501)
    return lambda: (t, script("bouncing_ball").exact(t)[which])


def ball_accumulates(_: Any) -> float:
    """End [s] of the last flight of the closed form."""
    t = np.linspace(3.5, 3.7, 200_001)
    return float(t[np.flatnonzero(script("bouncing_ball").exact_gap(t) > 0)[-1]])


ACCUMULATES = Mark(3.602, "x", "3.602 s", ball_accumulates, 5e-4)
LATE = {"xlim": (3.2, 4.5)}
BALL = Page(
    "Bruls2014, figures 2-7", "bouncing ball, 2 ms", ("bruls2014-ball",), GGL, ball_run,
    (
        Panel("gap [m]", of("table", "gap"), ball_exact(0), (ACCUMULATES,), {"ylim": (-0.05, 1.0)}),
        Panel("velocity [m/s]", of("ball", "velocity", 2), ball_exact(1), (), {"ylim": (-5, 5)}),
        Panel("energy [J]", ball_energy, None, (), {"ylim": (-3, 130)}),
        Panel("energy [J], enlarged", ball_energy, None, (), {"xlim": (0, 1.2), "ylim": (4.5, 9.5)}),
        Panel("gap after the accumulation [m]", of("table", "gap"), ball_exact(0), (ACCUMULATES,),
              {**LATE, "ylim": (-1e-3, 5e-3)}),
        Panel("velocity after it [m/s]", of("ball", "velocity", 2), None, (),
              {**LATE, "ylim": (-0.35, 0.35)}),
        Panel("impulse Λ [N s], steps with an impact", impulses("table"), None, (),
              {"yscale": "log", "ylim": (1e-3, 20), "xlim": (0, 4.5)}, DOTS),
        Panel("force Λ/h [N]", of("table", "force_normal"), None,
              (Mark(10.0, "y", "10 N", lambda r: r["table"].force_normal[-1], 1e-6),),
              {**LATE, "ylim": (-1, 25)}, FINE),
    ),
)  # fmt: skip


# --- bouncing pendulum ------------------------------------------------------------------------------------------------


def pendulum_run(stepper: Any, h: float = 1e-3) -> Any:
    """6 s with 1 ms."""
    return stepper.run(source.bouncing_pendulum(), 6.0, h)


AFTER = {"xlim": (0.48, 0.53)}  # s, around the first impact
PENDULUM = Page(
    "Bruls2014, figures 8-16", "bouncing pendulum, 1 ms", ("bruls2014-pendulum",), GGL, pendulum_run,
    (
        Panel("gap x − √½ [m]", of("wall", "gap")),
        Panel("gap at impacts [m]", of("wall", "gap"), None, (), {"ylim": (-1.5e-3, 3e-3)}),
        Panel("velocity of x [m/s]", of("bob", "velocity", 0)),
        Panel("energy [J]", energy),
        Panel("violation of the hinge, positions [m]", drift("position"), None, (), {"yscale": "log"}),
        Panel("violation of the hinge, velocities [m/s]", drift("velocity"), None, (), {"yscale": "log"}),
        Panel("impulse of the wall [N s]", impulses("wall"), None, (), {"yscale": "log", "xlim": (0, 6)}, DOTS),
        Panel("force of the wall [N]", of("wall", "force_normal"), None, (), {"xlim": (4.8, 5.4), "ylim": (-1, 25)},
              FINE),
        Panel("force of the hinge, x [N]", of("pivot", "force", 0), None, (), {"ylim": (-45, 20)}),
        Panel("force of the hinge after the first impact, x [N]", of("pivot", "force", 0), None, (),
              {**AFTER, "ylim": (-35, 10)}),
        Panel("force of the hinge after it, y [N]", of("pivot", "force", 1), None, (), {**AFTER, "ylim": (-10, 35)}),
        Panel("force of the hinge at rest, x [N]", of("pivot", "force", 0), None, (),
              {"xlim": (4.8, 5.4), "ylim": (-25, 5)}, FINE),
    ),
    {"reference of the source: its scheme, 0.1 ms": lambda: pendulum_run(GGL.make(), 1e-4),
     "its scheme, ρ∞ = 0": lambda: pendulum_run(Method(GGL.stepper, {"rho_inf": 0.0, "approach": "start"}).make())},
)  # fmt: skip


# --- elastic bar ------------------------------------------------------------------------------------------------------


def bar_run(stepper: Any) -> Any:
    """2 s with 2 ms."""
    return stepper.run(script("elastic_bar").build(), 2.0, 2e-3)


def bar_exact(what: str) -> Any:
    """Gap, velocity of the end, energy, or force of the closed form."""
    t = np.linspace(0, 2, 4001)

    def curve() -> Points:
        bar = script("elastic_bar")
        closed = (t >= bar.t_touch) & (t < bar.t_leave)
        away = np.where(t < bar.t_touch, -bar.speed, bar.speed)
        return t, {"gap": bar.exact_gap(t), "velocity": np.where(closed, 0.0, away), "energy": np.full_like(t, 500.0),
                   "force": np.where(closed, bar.force, 0.0)}[what]  # fmt: skip

    return curve


def bar_closed(result: Any) -> float:
    """Time [s] between the first and the last step with a contact force, one step of each end included."""
    closed = np.flatnonzero(result["wall"].force_normal > 0)
    return float(result.t[closed[-1]] - result.t[closed[0] - 1])


# a step at the front of the wave, which the mesh spreads, and one of each end
CONTACT = Mark(2 / 3, "x", "in contact for 2/3 s", bar_closed, 3 * 2e-3, start=0.5005)
WHILE = {"xlim": (0.45, 1.25)}
BAR = Page(
    "Bruls2014, figures 17-19", "elastic bar, 200 elements, 2 ms", ("bruls2014-bar",), GGL, bar_run,
    (
        Panel("gap [m]", of("wall", "gap"), bar_exact("gap"), (CONTACT,)),
        Panel("gap in contact [m]", of("wall", "gap"), bar_exact("gap"), (),
              {**WHILE, "ylim": (-5e-3, 1e-2)}),
        Panel("velocity of the end [m/s]", of("node 0", "velocity", 0), bar_exact("velocity")),
        Panel("velocity of the end in contact [m/s]", of("node 0", "velocity", 0), None, (),
              {**WHILE, "ylim": (-3, 3)}),
        Panel("energy [J]", energy, bar_exact("energy"), (), {"ylim": (470, 510)}),
        Panel("contact force [N]", of("wall", "force_normal"), bar_exact("force"), (CONTACT,), WHILE),
        Panel("contact force, enlarged [N]", of("wall", "force_normal"), bar_exact("force"), (),
              {**WHILE, "ylim": (270, 330)}),
        Panel("error of the gap [m]",
              lambda r: (r.t, r["wall"].gap - script("elastic_bar").exact_gap(r.t))),
    ),
)  # fmt: skip


# --- rocking block ----------------------------------------------------------------------------------------------------


def block_run(stepper: Any, h: float = 1e-2) -> Any:
    """1.2 s with 10 ms: it stands from 0.72 s on."""
    return stepper.run(script("rocking_block").build(), 1.2, h)


def corner_speed(i: int) -> Any:
    """Curve of the rate of the gap [m/s] of corner 1 or 2."""

    def curve(result: Any) -> Points:
        block, body = script("rocking_block"), result["block"]
        angle, side = body.rotation_vector[:, 2], 1.5 - i
        arm = side * block.width * np.cos(angle) + 0.5 * block.height * np.sin(angle)
        return result.t, body.velocity[:, 1] + arm * body.angular_velocity[:, 2]

    return curve


BLOCK = Page(
    "Bruls2014, figures 20-24", "rocking block, 10 ms", ("bruls2014-block",), GGL, block_run,
    (
        Panel("height of the centre [m]", of("block", "position", 1)),
        Panel("angle [rad]", of("block", "rotation_vector", 2)),
        Panel("gap of corner 1 [m]", of("corner 1", "gap"), None, (), {"ylim": (-0.02, 0.12)}),
        Panel("gap of corner 2 [m]", of("corner 2", "gap"), None, (), {"ylim": (-0.02, 0.12)}),
        Panel("energy [J]", energy),
        Panel("energy, enlarged [J]", energy, None, (), {"xlim": (0.4, 1.2), "ylim": (7.34, 7.8)}),
        Panel("rate of gap 1 [m/s]", corner_speed(1)),
        Panel("rate of gap 2 [m/s]", corner_speed(2)),
        Panel("impulse of corner 1 [N s]", impulses("corner 1"), None, (), {"xlim": (0, 1.2)}, DOTS),
        Panel("impulse of corner 2 [N s]", impulses("corner 2"), None, (), {"xlim": (0, 1.2)}, DOTS),
        Panel("force of corner 1 [N]", of("corner 1", "force_normal"), None, (), {"xlim": (0.6, 1.2), "ylim": (-1, 15)},
              FINE),
        Panel("force of corner 2 [N]", of("corner 2", "force_normal"), None, (), {"xlim": (0.6, 1.2), "ylim": (-1, 15)},
              FINE),
    ),
    {"reference of the source: its scheme, 0.2 ms": lambda: block_run(GGL.make(), 2e-4)},
)  # fmt: skip

PAGES = {"bruls2014-ball": BALL, "bruls2014-pendulum": PENDULUM, "bruls2014-bar": BAR, "bruls2014-block": BLOCK}
