"""Six models with accurate references, on which all time steppers are compared (examples/compare_steppers.py).

Models are those of other examples and of Bruls2014. References are closed forms, minimal coordinates integrated to
round-off, and, for smooth motion, runs of sixth order: that of the double pendulum agrees with the digits its source
prints, see `reference_misses`.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.cases.bruls2014 import bouncing_pendulum
from fem_mbs.cases.scripts import script

Error = Callable[[Any], float]  # error [m] of a run


class Problem(NamedTuple):
    """A model, the steps it is run with, and what its motion is compared with.

    Attributes
    ----------
    title : str
    build : callable, build() -> Model
    duration : float [s]
    steps : numbers of steps in which it is run
    reference : callable, reference() -> (error, energy): ``error(result)`` [m], and the exact energy at the end [J]
    energy : float [J]
        Scale of the errors of the energy: the energy exchanged.
    length : float [m]
        To which drifts and penetrations are compared.
    """

    title: str
    build: Callable[[], fem.Model]
    duration: float
    steps: tuple[int, ...]
    reference: Callable[[], tuple[Error, float]]
    energy: float
    length: float


# --- smooth motion -----------------------------------------------------------


def soft_pendulum() -> fem.Model:
    """A rubber rod of 1 m on a hinge, from the horizontal."""
    model = fem.Model("soft pendulum", gravity=[0, 0, -9.81])
    section = fem.Section.circle(0.05, E=1e6, nu=0.3, density=1100.0)
    tip = fem.Node6([1, 0, 0], name="tip")
    rod = model.add(fem.beam_line([0, 0, 0], tip, 8, section, name="rod"))
    model.add(fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 0], [0, 1, 0], name="hinge"))
    return model


def sixth_order(
    build: Callable[[], fem.Model], duration: float, steps: int, names: Sequence[str]
) -> tuple[fem.Results, Error]:
    """A run of sixth order, and the error of positions against it, for runs whose steps are multiples of its own."""
    exact = fem.LobattoIIIAB(4, rtol=1e-12).run(build(), duration, duration / steps)

    def error(result):
        k = np.round(result.t / duration * steps).astype(int)
        return max(np.abs(result[name].position - exact[name].position[k]).max() for name in names)

    return exact, error


@cache
def rigid_run() -> tuple[fem.Results, Error]:
    """The double pendulum with steps of 0.6 ms."""
    return sixth_order(script("double_pendulum").build, 1.0, 1600, ("body 1", "body 2"))


def rigid_reference() -> tuple[Error, float]:
    """The double pendulum."""
    exact, error = rigid_run()
    return error, exact.energy.total[0]


def reference_misses() -> float:
    """Error [m] of the reference of the double pendulum at its end: against digits from minimal coordinates."""
    (exact, _), digits = rigid_run(), script("double_pendulum").REFERENCE
    return max(np.abs(exact[f"body {i}"].position[-1] - digits[f"centre {i}"]).max() for i in (1, 2))


@cache
def soft_reference() -> tuple[Error, float]:
    """The tip of the soft pendulum."""
    exact, error = sixth_order(soft_pendulum, 0.5, 2000, ("tip",))
    return error, exact.energy.total[0]


# --- contacts ------------------------------------------------------------------


@cache
def pendulum_reference() -> tuple[Error, float]:
    """Angle of the pendulum of Bruls2014, impact by impact: J θ̈ = −m g cos θ, θ̇ ← −0.8 θ̇ at −45°."""
    inertia, weight, t, y, pieces = 1.1, 10.0, 0.0, np.array([np.pi / 12, 0.0]), []

    def wall(_, y):
        return y[0] + np.pi / 4

    wall.terminal, wall.direction = True, -1  # type: ignore[attr-defined]
    while t < PROBLEMS["impacts"].duration:
        rate = lambda _, y: [y[1], -weight * np.cos(y[0]) / inertia]  # noqa: E731
        part = solve_ivp(rate, (t, 1.6), y, "DOP853", events=wall, rtol=1e-12, atol=1e-13, dense_output=True)
        pieces.append((t, part.sol))
        t, y = part.t[-1], part.y[:, -1] * [1, -0.8 if part.status == 1 else 1]

    def motion(t):
        starts = [start for start, _ in pieces]
        which = np.searchsorted(starts, t, side="right") - 1
        return np.array([pieces[k][1](time) for k, time in zip(which, t)])

    def error(result):
        angle = motion(result.t)[:, 0]
        return np.abs(result["bob"].position[:, :2] - np.stack([np.cos(angle), np.sin(angle)], 1)).max()

    angle, rate = motion(np.array([PROBLEMS["impacts"].duration]))[0]
    return error, 0.5 * inertia * rate**2 + weight * np.sin(angle)


@cache
def thrown_places(steps: int) -> np.ndarray:
    """Exact positions of the ball at the ends of so many steps."""
    return script("order_in_contact").thrown_exact(np.linspace(0, PROBLEMS["friction"].duration, steps + 1))[0]


@cache
def thrown_reference() -> tuple[Error, float]:
    """The ball rolls at the end of the run, so that its energy follows from the motion of its centre."""
    model, fine = script("order_in_contact"), 20000
    places = thrown_places(fine)
    velocity = (3 * places[-1] - 4 * places[-2] + places[-3]) * fine / (2 * PROBLEMS["friction"].duration)

    def error(result):
        return np.abs(result["ball"].position[:, :2] - thrown_places(len(result.t) - 1)).max()

    return error, model.mass * (0.7 * velocity @ velocity + model.g * places[-1, 1])


@cache
def balls_reference() -> tuple[Error, float]:
    """Without friction the first ball stops where it touches, the last one leaves with its speed."""
    balls = script("three_balls")
    r, gap, speed = balls.radius, balls.gap, balls.speed

    def error(result):
        path = speed * result.t
        exact = np.stack(
            [np.minimum(path, gap), 0 * path + gap + 2 * r, gap + 4 * r + np.maximum(path - gap, 0)], axis=1
        )
        return np.abs(np.stack([result[n].position[:, 0] for n in "123"], 1) - exact).max()

    return error, balls.mass * (0.5 * speed**2 + 3 * balls.g * r)


def bar_reference() -> tuple[Error, float]:
    """The wave equation: mean error of the gap."""
    return lambda result: script("elastic_bar").gap_error(result) / result.t[-1], 500.0


TWICE = (25, 50, 100, 200, 400, 800)
SCATTERED = (75, 106, 150, 212, 300, 424, 600, 849, 1200)  # where impacts lie in their steps differs
# energies: all of it, of the fall, of the fall to the wall, lost by friction, of the first ball, of the bar
PROBLEMS: dict[str, Problem] = {
    "rigid": Problem(
        "double pendulum", lambda: script("double_pendulum").build(), 1.0, TWICE, rigid_reference, 9.05, 1.0
    ),
    "soft": Problem("soft pendulum", soft_pendulum, 0.5, (125, 250, 500, 1000), soft_reference, 42.4, 1.0),
    "impacts": Problem("bouncing pendulum", bouncing_pendulum, 1.5, SCATTERED, pendulum_reference, 9.66, 1.0),
    "friction": Problem(
        "ball slides and rolls in a drum", lambda: script("order_in_contact").thrown(), 1.7, SCATTERED,
        thrown_reference, 3.45, 1.0,
    ),
    "row": Problem(
        "three balls in a row", lambda: script("three_balls").build(False), 0.5, SCATTERED, balls_reference, 0.37, 1.0
    ),
    "bar": Problem(
        "elastic bar hits a wall", lambda: script("elastic_bar").build(elements=50), 1.3,
        (92, 130, 184, 260, 368, 520), bar_reference, 500.0, 10.0,
    ),
}  # fmt: skip
