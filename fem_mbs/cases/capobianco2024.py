"""Benchmarks of Capobianco2024: a point that slides down an exponential slope, a slider-crank with clearance.

Capobianco2024, section 6; its ball of 6.1 is that of Capobianco2021 with steps of 10 ms. Of the ball and of
the mechanism numbers are those of the article's scheme, computed in tests/references/capobianco2024.py; the slope's
reference is its equation of motion integrated to round-off. Pendulums, on which orders are measured, are not in the
article. Plane x-y, gravity along −y.
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.cases.capobianco2021 import ball_model, cone, facing
from fem_mbs.cases.case import Case, Method, decoupled
from fem_mbs.shapes import Box

# --- rotating bouncing ball, 6.1 --------------------------------------------------------------------------------------


def run_ball(stepper: Any, spin: float, restitution: float, t_end: float, tangential: float = 0.0) -> Any:
    """Results of the ball that falls from y = 1 m, h = 10 ms."""
    model, ball = ball_model([0, 1], spin)
    floor = model.ground.frame(rotation=facing([0, 1, 0]))
    law = {"restitution": restitution, "tangential_restitution": tangential, "friction": 0.2}
    model.add(fem.SphereOnPlane(ball, floor, radius=0.1, name="floor", **law))
    return stepper.run(model, t_end, 1e-2)


# number of the step: friction [N s], half a digit
RUBS = {43: (-0.84366, 5e-6), 44: (-0.01962, 1e-7), 72: (-0.01962, 1e-7), 73: (-0.0159314, 1e-7), 74: (0.0, 1e-7)}
APEX, BOUNCE, LANDING = 0.2163, 6.2784, 4.2183  # m; N s with e = 0.5, with e = 0
ITERATIONS = 4


def ball(stepper: Any) -> fem.Checks:
    """Without spin to rest; 50 rad/s: slides, then rolls; 10 rad/s: sticks, or slips back with e_T = 1."""
    bounces, slides, sticks = (run_ball(stepper, *case, 2.0) for case in ((0.0, 0.5), (50.0, 0.0), (10.0, 0.0)))
    floor, push = slides["floor"], 1e-2 * slides["floor"].force_tangential[:, 0]
    back = run_ball(stepper, 10.0, 0.5, 0.5, 1.0)
    slip = back["ball"].velocity[43, 0] + 0.1 * back["ball"].angular_velocity[43, 2]
    first = bounces["floor"].impulse[43, 0]
    apex = bounces["floor"].gap[43:85].max()
    return fem.Checks(
        fem.Check("bounces: first apex [m]", reference=APEX, obtained=apex, abs=5e-5),
        fem.Check("iterations above 4", reference=ITERATIONS,
                  obtained=max(bounces.iterations.max[0], ITERATIONS), abs=0),
        fem.Check("bounces: first impulse [N s]", reference=BOUNCE, obtained=first, abs=5e-5),
        fem.Check("bounces: smallest gap [m]", reference=0.0, obtained=bounces["floor"].gap.min(), abs=1e-12),
        fem.Check("bounces: gap at 2 s [m]", reference=0.0, obtained=bounces["floor"].gap[-1], abs=1e-8),
        fem.Check("bounces: force at 2 s [N]", reference=9.81, obtained=bounces["floor"].force_normal[-1], abs=1e-3),
        fem.Check("slides: impulse, normal [N s]", reference=LANDING, obtained=floor.impulse[43, 0], abs=5e-5),
        *[fem.Check(f"slides: friction, step {i} [N s]", reference=ref, obtained=push[i], abs=allowed)
          for i, (ref, allowed) in RUBS.items()],
        fem.Check("slides: speed at the end [m/s]", reference=-10 / 7, obtained=slides["ball"].velocity[-1, 0],
                  abs=1e-8),
        fem.Check("slides: angular speed at the end [rad/s]", reference=100 / 7,
                  obtained=slides["ball"].angular_velocity[-1, 2], abs=1e-7),
        fem.Check("slips back: impulse of friction [N s]", reference=-4 / 7, obtained=back["floor"].impulse[43, 1],
                  abs=1e-7),
        fem.Check("slips back: sliding speed, 1 m/s before [m/s]", reference=-1.0, obtained=slip, abs=1e-7),
        fem.Check("sticks: impulse of friction [N s]", reference=-2 / 7, obtained=sticks["floor"].impulse[43, 1],
                  abs=1e-7),
        fem.Check("sticks: friction afterwards [N]", reference=0.0,
                  obtained=np.abs(sticks["floor"].force_tangential[44:]).max(), abs=1e-6),
    )  # fmt: skip


# --- pendulums: orders ------------------------------------------------------------------------------------------------

ARM, TURN_0, RATE_0, GRAVITY, END = 1.0, 1.0, 0.5, 9.81, 1.6  # m, rad, rad/s, m/s², s
SWAY = 0.3  # m, of the pivot: 0.3 sin 3t


def swinging(driven: bool) -> fem.Model:
    """A body on a hinge, whose pivot is at rest or is moved to and fro."""
    model = fem.Model("pendulum", gravity=[0, -GRAVITY, 0])
    down, pace = np.array([np.sin(TURN_0), -np.cos(TURN_0), 0]), 3 * SWAY if driven else 0.0
    velocity = RATE_0 * ARM * np.array([-down[1], down[0], 0]) + [pace, 0, 0]
    bob = model.add(fem.RigidBody(1.0, [0.01, 0.02, 0.03], position=ARM * down, velocity=velocity,
                                  angular_velocity=[0, 0, RATE_0], name="bob"))  # fmt: skip
    pivot: Any = model.ground
    if driven:
        pivot = model.add(
            fem.RigidBody(1.0, 0.1, velocity=[pace, 0, 0], fixed=("y", "z", "rx", "ry", "rz"), name="cart")
        )
        model.add(fem.Prescribed(pivot.frame(), x=lambda t: SWAY * np.sin(3 * t), name="drive"))
    model.add(fem.Revolute.at(pivot, bob, [0, 0, 0], [0, 0, 1], name="pivot"))
    return model


def swing_exact(driven: bool) -> np.ndarray:
    """Place (2,) of the body at the end, in minimal coordinates."""
    sway = 9 * SWAY if driven else 0.0

    def rate(t, y):  # of the angle from below; the pivot accelerates with −9 · 0.3 sin 3t
        pull = -GRAVITY * np.sin(y[0]) + sway * np.sin(3 * t) * np.cos(y[0])
        return [y[1], ARM * pull / (ARM**2 + 0.03)]

    angle = solve_ivp(rate, (0, END), [TURN_0, RATE_0], "DOP853", rtol=1e-13, atol=1e-14).y[0, -1]
    return np.array([np.sin(angle) + (SWAY * np.sin(3 * END) if driven else 0.0), -np.cos(angle)])


def pendulums(stepper: Any) -> fem.Checks:
    """Orders over four steps from 0.1 s on, and constraints at both levels."""
    expected = 2 * stepper.stages - 2 if type(stepper).__name__ == "LobattoIIIAB" else 2
    checks = []
    for name, driven in (("at rest", False), ("driven", True)):
        steps, errors, drift = np.array([16, 32, 64, 128]), [], 0.0
        for n in steps:
            result = stepper.run(swinging(driven), END, END / n)
            errors.append(np.abs(result["bob"].position[-1, :2] - swing_exact(driven)).max())
            drift = max(drift, result.violation.position.max())
        above = np.array(errors) > 1e-12
        order = -np.polyfit(np.log(steps[above]), np.log(np.array(errors)[above]), 1)[0]
        checks += [
            fem.Check(f"{name}: order", reference=expected, obtained=order, abs=0.1),
            fem.Check(f"{name}: largest |g| [m]", reference=0.0, obtained=drift, abs=1e-11),
        ]
    return fem.Checks(*checks)


# --- exponential slope, 6.3 -------------------------------------------------------------------------------------------

# height of the start [m]: place (2,) [m] and velocity (2,) [m/s] at 1.6 s, time [s] and x [m] of rest
SLOPE = {
    1.0: ((2.55416429, 0.07775719), (1.1718349, -0.09111859), 2.097352, 2.849185),
    1.5: ((2.72449578, 0.06557926), (1.47548802, -0.09676141), 2.187883, 3.163866),
}


def run_slope(stepper: Any, height: float, t_end: float = 2.5, h: float = 1e-2, points: int = 601) -> Any:
    """Results of a point that starts at rest at (0, height) over y = exp(−x), μ = 0.3."""
    x = np.linspace(-1, 5, points)
    model = fem.Model("slope", gravity=[0, -10, 0])
    point = model.add(fem.PointMass(1.0, position=[0, height, 0], fixed=("z",), name="point"))
    curve = np.column_stack([x, np.exp(-x)])
    model.add(fem.PointOnCurve(point, model.ground, points=curve, friction=0.3, width=0.0, name="slope"))
    return stepper.run(model, t_end, h)


def compared(result: Any, height: float, allowed: float) -> list:
    """Checks of place and velocity at 1.6 s, and of where and when the point rests."""
    place, velocity, time, x = SLOPE[height]
    point, k = result["point"], result.at(1.6)
    off = np.abs(point.position[k, :2] - place).max()
    wrong = np.abs(point.velocity[k, :2] - velocity).max()
    moving = np.flatnonzero(np.linalg.norm(point.velocity, axis=1) > 1e-6)
    return [
        fem.Check("error of the place at 1.6 s [m]", reference=0.0, obtained=off, abs=allowed),
        fem.Check("error of the velocity at 1.6 s [m/s]", reference=0.0, obtained=wrong, abs=2 * allowed),
        fem.Check("rests from [s]", reference=time, obtained=result.t[moving[-1]], abs=2e-2),
        fem.Check("x at rest [m]", reference=x, obtained=point.position[-1, 0], abs=3 * allowed),
        fem.Check("smallest gap [m]", reference=0.0, obtained=result["slope"].gap.min(), abs=1e-12),
    ]


def slope(stepper: Any) -> fem.Checks:
    """Starts on the slope."""
    return fem.Checks(*compared(run_slope(stepper, 1.0), 1.0, 1e-4))


# three stages: impulse and friction of the impact [N s], x at rest [m]
SLOPE_SCHEME = (2.26429, -0.67929, 3.16434)


def slope_impact(stepper: Any) -> fem.Checks:
    """Falls on the slope from half a metre above it."""
    result = run_slope(stepper, 1.5)
    contact = result["slope"]
    k, own = int(np.argmax(contact.impact)), []
    if type(stepper).__name__ == "LobattoIIIAB":  # three stages
        normal, friction, rest = SLOPE_SCHEME
        own = [
            fem.Check("impulse of the scheme [N s]", reference=normal, obtained=contact.impulse[k, 0], abs=5e-6),
            fem.Check("friction of the scheme [N s]", reference=friction, obtained=contact.impulse[k, 2], abs=5e-6),
            fem.Check("x at rest, of the scheme [m]", reference=rest, obtained=result["point"].position[-1, 0],
                      abs=5e-6),
        ]  # fmt: skip
    return fem.Checks(
        *own,
        fem.Check("impact [s]", reference=np.sqrt(0.1), obtained=result.t[k], abs=1e-2),
        # caught up to a step late: m g h of √5
        fem.Check("its impulse [N s]", reference=np.sqrt(5), obtained=contact.impulse[k, 0], abs=0.1),
        fem.Check("its friction [N s]", reference=-0.67082, obtained=contact.impulse[k, 2], abs=0.03),
        *compared(result, 1.5, 1e-2),
    )


# stages: h [s]: Σ |error| h over 1.6 s, of places [m s] and of velocities [m]
SLOPE_ERRORS = {
    2: {0.1024: (4.62e-3, 1.59e-2), 0.0512: (1.16e-3, 4.03e-3), 0.0256: (2.90e-4, 1.00e-3)},
    3: {0.1024: (3.02e-6, 5.11e-6), 0.0512: (1.92e-7, 3.24e-7), 0.0256: (1.19e-8, 2.01e-8)},
    4: {0.1024: (3.62e-9, 5.63e-9), 0.0512: (5.67e-11, 8.82e-11)},
}


def slope_exact(t: np.ndarray, height: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Places and velocities (k, 2) at times t of the point that starts at rest at (0, height), height ≥ 1 m.

    It falls on the slope without rebound. y: x and the speed along the curve.
    """
    touch = np.sqrt((height - 1) / 5)
    speed_0 = 10 * touch * (1 - 0.3) / np.sqrt(2)  # tangential, less μ times the normal one

    def rate(_, y):
        steep = np.exp(-y[0])
        N = np.sqrt(1 + steep**2)
        return [y[1] / N, 10 * steep / N - 0.3 * (10 / N + steep * y[1] ** 2 / N**3)]

    falls = t < touch
    y = np.zeros((2, len(t)))
    span = (touch, t[-1])
    y[:, ~falls] = solve_ivp(rate, span, [0.0, speed_0], "DOP853", t[~falls], rtol=1e-13, atol=1e-14).y
    x, speed = y
    along = np.stack([np.ones_like(x), -np.exp(-x)], 1)
    place, velocity = np.stack([x, np.exp(-x)], 1), speed[:, None] * along / np.linalg.norm(along, axis=1)[:, None]
    place[falls, 1] = height - 5 * t[falls] ** 2
    velocity[falls, 1] = -10 * t[falls]
    return place, velocity


def slope_error(stepper: Any, h: float, height: float = 1.0) -> np.ndarray:
    """Errors (2,) Σ |error| h over the steps up to 1.6 s, of places [m s] and of velocities [m]."""
    n = int(1.6 / h + 1e-9)
    point = run_slope(stepper, height, n * h, h, 6001)["point"]
    pairs = zip((point.position, point.velocity), slope_exact(np.arange(n + 1) * h, height))
    return np.array([h * np.abs(found[:, :2] - exact).sum() for found, exact in pairs])


STEPS = 3.2e-3 * 2.0 ** np.arange(8)  # s, of figure 9


def slope_errors(stepper: Any) -> fem.Checks:
    """Errors of the article's convergence study, of the number of stages; orders over all its steps."""
    found = {h: slope_error(stepper, h) for h in STEPS}
    checks = []
    for h, known in SLOPE_ERRORS[stepper.stages].items():
        for name, reference, error in zip(("places", "velocities"), known, found[h]):
            checks.append(
                fem.Check(f"error of {name} with {h} s", reference=reference, obtained=error, rel=0.005, abs=3e-12)
            )
    errors = np.array([found[h] for h in STEPS[:-1]])  # asymptotic: up to 0.2 s
    for name, column in zip(("places", "velocities"), errors.T):
        above = column > 1e-11  # of round-off and rtol
        order = np.polyfit(np.log(STEPS[:-1][above]), np.log(column[above]), 1)[0]
        checks.append(fem.Check(f"order of {name}", reference=2 * stepper.stages - 2, obtained=order, abs=0.1))
    largest = max(slope_error(stepper, h, 1.5)[0] / h for h in STEPS)
    return fem.Checks(
        *checks,
        fem.Check("with an impact: largest error over h [m]", reference=0.0, obtained=largest, abs=0.3),
    )


# --- slider-crank with clearance, 6.2 ---------------------------------------------------------------------------------

CRANK, ROD, HALF, LOW, WALLS = 0.153, 0.306, 0.05, 0.025, 0.052  # m: links, half sizes of the slider, walls
MASSES, INERTIAS = (0.038, 0.038, 0.076), (7.4e-5, 5.9e-4, 2.7e-6)  # kg, kg m²
TURN = 0.017  # rad, of the slider at the start


def slider_crank() -> fem.Model:
    """Crank, rod and a slider with four corners between two walls, 1 mm of play."""
    model = fem.Model("slider-crank", gravity=[0, -9.81, 0])
    z, end, thin = [0, 0, 1], CRANK + ROD, [0.01, 0.01]

    def body(i, x, velocity, rate, size, **options):
        inertia = [INERTIAS[i]] * 3
        return model.add(fem.RigidBody(MASSES[i], inertia, position=[x, 0, 0], velocity=[0, velocity, 0],
                                       angular_velocity=[0, 0, rate], shape=Box(size), **options))  # fmt: skip

    crank = body(0, CRANK / 2, 11.475, 150.0, [CRANK, *thin], name="crank")
    rod = body(1, CRANK + ROD / 2, 11.475, -75.0, [ROD, *thin], name="rod")
    slider = body(2, end, 0.0, 0.0, [2 * HALF, 2 * LOW, 0.02], name="slider", rotation=[0, 0, TURN],
                  fixed=("z", "rx", "ry"))  # fmt: skip
    model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], z, name="pivot"))
    model.add(fem.Cylindrical.at(crank, rod, [CRANK, 0, 0], z, name="pin"))
    model.add(fem.Spherical.at(rod, slider, [end, 0, 0], name="wrist"))
    for i, (x, y) in enumerate([(-1, 1), (1, 1), (-1, -1), (1, -1)]):
        wall = model.ground.frame([0.3, y * WALLS / 2, 0], facing([0, -y, 0]))
        corner = slider.frame([x * HALF, y * LOW, 0])
        model.add(fem.SphereOnPlane(corner, wall, radius=0.0, restitution=0.4, friction=0.01, name=f"corner {i + 1}"))
    return model


# three stages: mean and largest number of iterations, largest rise of energy [J]
MECHANISM_STEPS = (2.0, 5, 1.1e-7)
MECHANISM_GAPS = {1: 1.8536e-3, 2: 1.5365e-4}  # m, at the start
MECHANISM_ENERGIES = (7.49555, 7.2285)  # J at the start and at 0.1 s
FIRST_TOUCH, CRANK_ANGLE = 0.0013, 1.61333  # s; rad at 20 ms


def clearance(stepper: Any) -> fem.Checks:
    """0.1 s with h = 0.1 ms: the slider is set straight within 10 ms."""
    result = stepper.run(slider_crank(), 0.1, 1e-4)
    corners = [result[f"corner {i}"] for i in (1, 2, 3, 4)]
    angle, crank = result["slider"].rotation_vector[:, 2], result["crank"].rotation_vector[:, 2]
    first = min(result.t[np.argmax(c.impact)] for c in corners if c.impact.any())
    energy, aligned = result.energy.total, np.abs(result["slider"].position[result.t > 0.01, 1]).max()
    drift = result.violation.position.max()
    own = []
    if type(stepper).__name__ == "LobattoIIIAB":
        count, rise, (mean, most, rises) = result.iterations, np.diff(energy).max(), MECHANISM_STEPS
        own = [
            fem.Check(
                "mean number of iterations above 2", reference=0.0, obtained=max(count.mean[0] - mean, 0), abs=0.05
            ),
            fem.Check("largest number above 5", reference=0, obtained=max(count.max[0] - most, 0), abs=0),
            fem.Check(
                "largest rise of energy, above 1.1e-7 [J]", reference=0.0, obtained=max(rise - rises, 0), abs=1e-8
            ),
        ]
    return fem.Checks(
        *own,
        *[fem.Check(f"gap {i} at the start [m]", reference=gap, obtained=corners[i - 1].gap[0], abs=5e-8)
          for i, gap in MECHANISM_GAPS.items()],
        fem.Check("energy at the start [J]", reference=MECHANISM_ENERGIES[0], obtained=energy[0], abs=5e-6),
        fem.Check("first contact [s]", reference=FIRST_TOUCH, obtained=first, abs=2e-4),
        fem.Check("tilt from 10 ms on [rad]", reference=0.0, obtained=np.abs(angle[result.t > 0.01]).max(), abs=2e-4),
        fem.Check("height from 10 ms on, beyond the play of 1 mm [m]", reference=0.0, obtained=max(aligned - 1e-3, 0),
                  abs=1e-6),
        fem.Check("angle of the crank at 20 ms [rad]", reference=CRANK_ANGLE, obtained=crank[result.at(0.02)],
                  abs=5e-4),
        fem.Check("energy at 0.1 s [J]", reference=MECHANISM_ENERGIES[1], obtained=energy[-1], abs=1e-2),
        fem.Check("smallest gap [m]", reference=0.0, obtained=min(c.gap.min() for c in corners), abs=1e-12),
        fem.Check("largest |g| [m]", reference=0.0, obtained=drift, abs=1e-10),
    )  # fmt: skip


SOURCE = "Capobianco2024"
COMPUTED = "scheme computed in tests/references/capobianco2024.py"
NSGA = Method("DecoupledNSGA.published", {"rho_inf": 0.8})
PERSISTENT = Method("DecoupledNSGA", {"rho_inf": 0.8})
PROJECTED = Method("MoreauJean", {"theta": 0.5, "projection": True})
GGL = Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.8, "approach": "start"})
FRICTION = Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.8, "approach": "start"})
LOBATTO = Method("LobattoIIIAB", {"stages": 3})
FIRST = "of first order in h where a contact lasts: "
PLACE, SPEED, REST = "error of the place at 1.6 s [m]", "error of the velocity at 1.6 s [m/s]", "x at rest [m]"


def missing(method: Method, reason: str, *checks: str) -> Method:
    """The method, which does not pass some checks."""
    return Method(method.stepper, method.options, dict.fromkeys(checks, reason))


EVERY = tuple(Method("LobattoIIIAB", {"stages": s}) for s in (2, 3, 4))
TIGHT = tuple(Method(one.stepper, {**one.options, "rtol": 1e-12}) for one in EVERY)  # type: ignore[dict-item]
CASES = [
    Case("capobianco2024-ball", "ball that bounces, slides, rolls, with steps of 10 ms",
         f"{SOURCE}, 6.1; {COMPUTED}", "printed digits of the scheme, which are those of all stages",
         ball, EVERY,
         note="Other schemes: capobianco2021-ball-bounces, -slides, -rolls. The second impact is at the very end of a "
         "step, 0.85 s; the source takes it in the next one, so that later ones are not compared."),
    Case("capobianco2024-pendulums", "pendulums at rest and driven: orders",
         f"{SOURCE}, order 2 s − 2; minimal coordinates integrated to round-off",
         "slope over steps of 100 to 12.5 ms, which are large for them: 0.1", pendulums,
         (*EVERY, Method(PERSISTENT.stepper, {"rho_inf": 0.9}), PROJECTED, Method(GGL.stepper, {"rho_inf": 0.9}),
          Method(FRICTION.stepper, {"rho_inf": 0.9}), Method("GeneralizedAlpha", {"rho_inf": 0.9}))),
    Case("capobianco2024-slope", "point that slides down an exponential slope to rest", f"{SOURCE}, 6.3; Runge-Kutta",
         "second order, (h/1 s)² m; rests: two steps", slope,
         (
             PERSISTENT, FRICTION, LOBATTO,
             missing(NSGA, FIRST + "0.020 m and 0.016 m/s at 10 ms", PLACE, SPEED, REST),
             missing(PROJECTED, FIRST + "1.3 mm and 0.7 mm/s at 10 ms", PLACE, SPEED, REST),
             missing(GGL, FIRST + "0.020 m and 0.016 m/s at 10 ms", PLACE, SPEED, REST),
         )),
    Case("capobianco2024-slope-errors", "errors of the point that slides down an exponential slope",
         f"{SOURCE}, 6.3; {COMPUTED}", "half a unit of the last of three digits; 3e-12 of round-off; orders scatter "
         "by 0.1, as there; with an impact: of first order, below 0.3 h at all steps",
         slope_errors, TIGHT, fast=False),
    Case("capobianco2024-slope-impact", "point that falls on an exponential slope",
         f"{SOURCE}, 6.3; Runge-Kutta, {COMPUTED}",
         "first order: the impact is caught up to a step late, at 1.6 m/s along the slope; rests: two steps",
         slope_impact,
         (
             PERSISTENT, FRICTION, PROJECTED,
             missing(LOBATTO, "a gap is the distance to the curve here, that across the slope at the same x there: "
                     "2.26589 and −0.67977 N s, 3.16416 m", "impulse of the scheme [N s]",
                     "friction of the scheme [N s]", "x at rest, of the scheme [m]"),
             missing(NSGA, FIRST + "0.025 m and 0.021 m/s at 10 ms", PLACE, SPEED, REST),
             missing(GGL, FIRST + "0.024 m and 0.033 m at 10 ms", PLACE, REST),
         )),
    Case("capobianco2024-slider-crank", "slider-crank whose slider has play",
         f"{SOURCE}, 6.2; {COMPUTED}",
         "printed digits at the start; later impact-sensitive: three times what schemes of two and three stages differ "
         "by, 4 % of the energy lost", clearance, (*decoupled(0.8), PROJECTED, GGL, FRICTION, LOBATTO,
          cone("of first order: 1e-3 rad, 1.3e-5 m at 0.1 ms", "angle of the crank at 20 ms [rad]", "largest |g| [m]")),
         note="Half sizes of the slider and places of the corners are not printed."),
]  # fmt: skip
