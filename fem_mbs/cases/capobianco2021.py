"""Planar benchmarks of Capobianco2021: a ball that spins and bounces, in a corner, in a cylinder; Painlevé's rod.

Capobianco2021, section 10; tippe top and hopper are scripts of `examples`. The article prints curves; numbers are
closed forms, Runge-Kutta integrations to round-off and its scheme, both in tests/references/capobianco2021.py. Plane
x-y, gravity along −y.
"""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.bruls2014 import is_moreau
from fem_mbs.cases.case import Case, Method, decoupled
from fem_mbs.shapes import Box, Sphere

mass, radius, inertia, g = 1.0, 0.1, 0.004, 9.81  # kg, m, kg m², m/s²: the ball of 10.1 to 10.3
PLANAR = ("z", "rx", "ry")

NSGA = decoupled(0.5)
MOREAU = Method("MoreauJean", {"theta": 0.5})
PROJECTED = Method("MoreauJean", {"theta": 0.5, "projection": True})
GGL = Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.5, "approach": "start"})
FRICTION = Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.5, "approach": "start"})
LOBATTO = Method("LobattoIIIAB", {"stages": 2})


def cone(reason: str, *checks: str) -> Method:
    """Coulomb's law with the gap in it, and the checks that its first order misses."""
    return Method("ConeComplementarity", {"relaxed": False}, dict.fromkeys(checks, reason))


def facing(normal: Any) -> np.ndarray:
    """Axes (3, 3) of a plane with a normal (3,) in x-y: t1 = normal turned clockwise, t2, normal."""
    n = np.asarray(normal, float)
    t = np.array([n[1], -n[0], 0.0])
    return np.column_stack([t, np.cross(n, t), n])


def ball_model(position: Any, spin: float = 0.0) -> tuple[fem.Model, fem.RigidBody]:
    """Model with the ball, its centre at a position (2,) [m], turning about z with ``spin`` [rad/s]."""
    model = fem.Model("ball", gravity=[0, -g, 0])
    ball = fem.RigidBody(mass, inertia, position=[*position, 0], angular_velocity=[0, 0, spin], fixed=PLANAR,
                         shape=Sphere(radius), name="ball")  # fmt: skip
    return model, model.add(ball)


# --- bouncing and rolling ball, 10.1 ----------------------------------------------------------------------------------


def run_ball(stepper: Any, spin: float, restitution: float, t_end: float) -> Any:
    """Results of the ball that falls from y = 1 m, h = 2 ms."""
    model, ball = ball_model([0, 1], spin)
    floor = model.ground.frame(rotation=facing([0, 1, 0]))
    law = {"restitution": restitution, "friction": 0.2}
    model.add(fem.SphereOnPlane(ball, floor, radius=radius, name="floor", **law))
    return stepper.run(model, t_end, 2e-3)


def bouncing_ball(stepper: Any) -> fem.Checks:
    """Case a: no spin, e = 0.5."""
    h, result = 2e-3, run_ball(stepper, 0.0, 0.5, 1.5)
    floor, height = result["floor"], result["ball"].position[:, 1]
    hits = np.flatnonzero(floor.impact)
    fall, speed = np.sqrt(2 * (1 - radius) / g), np.sqrt(2 * g * (1 - radius))
    checks = []
    for i in range(4):
        time = fall + 2 * speed / g * sum(0.5**j for j in range(1, i + 1))
        impulse = 1.5 * mass * speed * 0.5**i
        checks += [
            fem.Check(f"impact {i + 1} [s]", reference=time, obtained=result.t[hits[i]], abs=(5 if i else 2) * h),
            fem.Check(
                f"impact {i + 1}, impulse [N s]",
                reference=impulse,
                obtained=floor.impulse[hits[i], 0],
                abs=2 * 1.5 * mass * g * h,
            ),
        ]
    for i, apex in enumerate((0.325, 0.15625, 0.11406)):
        flight = height[hits[i] : hits[i + 1]]
        checks.append(fem.Check(f"apex {i + 1} [m]", reference=apex, obtained=flight.max(), abs=2e-3))
    return fem.Checks(
        *checks,
        fem.Check("height at rest [m]", reference=radius, obtained=height[-1], abs=1e-6),
        fem.Check("force at rest [N]", reference=mass * g, obtained=floor.force_normal[-1], abs=1e-6),
        fem.Check("smallest gap [m]", reference=0.0, obtained=floor.gap.min(), abs=1e-12),
    )


def sliding_ball(stepper: Any) -> fem.Checks:
    """Case b: 50 rad/s, e = 0; slides after its impact, then rolls."""
    h, spin, mu = 2e-3, 50.0, 0.2
    result = run_ball(stepper, spin, 0.0, 1.1)
    floor, ball = result["floor"], result["ball"]
    k, normal = int(np.argmax(floor.impact)), mass * np.sqrt(2 * g * (1 - radius))
    slip = radius * spin - 3.5 * mu * normal / mass  # after the impact
    rolls = np.sqrt(2 * (1 - radius) / g) + slip / (3.5 * mu * g)
    push, slides = floor.force_tangential[:, 0], (result.t > 0.45) & (result.t < 0.7)
    return fem.Checks(
        fem.Check("impulse, normal [N s]", reference=normal, obtained=floor.impulse[k, 0], rel=0.01),
        fem.Check("impulse, friction [N s]", reference=-mu * normal, obtained=floor.impulse[k, 1], rel=0.01),
        fem.Check("friction while it slides [N]", reference=-mu * mass * g, obtained=push[slides].mean(), abs=1e-6),
        fem.Check("rolls from [s]", reference=rolls, obtained=result.t[np.abs(push) > 1e-3][-1], abs=2 * h),
        fem.Check("friction while it rolls [N]", reference=0.0, obtained=np.abs(push[result.t > 0.74]).max(), abs=2e-5),
        fem.Check("angular speed [rad/s]", reference=2 / 7 * spin, obtained=ball.angular_velocity[-1, 2], abs=1e-6),
        fem.Check("speed [m/s]", reference=-2 / 7 * spin * radius, obtained=ball.velocity[-1, 0], abs=1e-7),
    )


def largest_spin(stepper: Any) -> float:
    """Spin [rad/s] up to which the ball does not slide after its impact, at 0.432 s; by bisection to 0.01 rad/s."""
    sticks, slides = 25.0, 35.0
    while slides - sticks > 0.01:
        spin = 0.5 * (sticks + slides)
        ball = run_ball(stepper, spin, 0.0, 0.432)["ball"]
        slip = ball.velocity[-1, 0] + radius * ball.angular_velocity[-1, 2]
        sticks, slides = (spin, slides) if abs(slip) < 1e-6 else (sticks, spin)
    return sticks


def rolling_ball(stepper: Any) -> fem.Checks:
    """Case c: 10 rad/s, e = 0; sticks in its impact. Between it and case b lies 29.4 rad/s."""
    spin, result = 10.0, run_ball(stepper, 10.0, 0.0, 1.1)
    floor, ball = result["floor"], result["ball"]
    k = int(np.argmax(floor.impact))
    later = np.abs(floor.force_tangential[k + 1 :, 0]).max()
    return fem.Checks(
        fem.Check("impulse, friction [N s]", reference=-2 / 7 * mass * radius * spin, obtained=floor.impulse[k, 1],
                  abs=1e-8),
        fem.Check("friction while it rolls [N]", reference=0.0, obtained=later, abs=2e-5),
        # 3.5 μ Λ_N/(m R): two steps late the floor has taken 2 m g h more
        fem.Check("sticks up to [rad/s]", reference=29.415, obtained=largest_spin(stepper),
                  abs=3.5 * 0.2 * 2 * g * 2e-3 / radius + 0.02),
        fem.Check("angular speed [rad/s]", reference=2 / 7 * spin, obtained=ball.angular_velocity[-1, 2], abs=1e-7),
        fem.Check("speed [m/s]", reference=-2 / 7 * spin * radius, obtained=ball.velocity[-1, 0], abs=1e-8),
    )  # fmt: skip


# --- ball in a corner, 10.2 -------------------------------------------------------------------------------------------

# plane: impacts, time [s] and normal impulse [N s] (exact: the first of both planes)
CORNER = {
    1: [(0.5988, 4.450), (1.0265, 1.952), (1.2142, 0.857)],
    2: [(0.27038, 1.8755), (0.8431, 0.847), (1.1337, 0.372)],
}
CORNER_GAPS = {0.5: (0.26888, 0.0), 0.7: (0.11458, 0.05024), 1.1: (0.0291, 0.0086)}  # m at t [s]


CORNER_NORMALS = {1: np.sqrt(0.5) * np.array([-1, 1, 0]), 2: np.sqrt(0.5) * np.array([1, 1, 0])}
CORNER_STEP = 1e-4  # s


def run_corner(stepper: Any) -> Any:
    """Results of the ball between two planes at ±45°, e = 0.5 and 0, friction 0.3."""
    model, ball = ball_model([-0.5, 1.0])
    for i, n in CORNER_NORMALS.items():
        law = {"restitution": 0.5 if i == 1 else 0.0, "friction": 0.3}
        model.add(
            fem.SphereOnPlane(ball, model.ground.frame(rotation=facing(n)), radius=radius, name=f"plane {i}", **law)
        )
    return stepper.run(model, 1.6, CORNER_STEP)


def corner(stepper: Any) -> fem.Checks:
    """The ball bounces between the planes to rest."""
    h, s, normals = CORNER_STEP, np.sqrt(0.5), CORNER_NORMALS
    result = run_corner(stepper)
    planes = {i: result[f"plane {i}"] for i in normals}
    checks = []
    for i, impacts in CORNER.items():
        hits = np.flatnonzero(planes[i].impact)
        for j, (time, impulse) in enumerate(impacts):
            k, name = hits[j], f"plane {i}, impact {j + 1}"
            checks += [
                fem.Check(f"{name} [s]", reference=time, obtained=result.t[k], abs=3 * h),
                fem.Check(f"{name}, impulse [N s]", reference=impulse, obtained=planes[i].impulse[k, 0], abs=5e-3),
            ]
    for time, gaps in CORNER_GAPS.items():
        found = [planes[i].gap[result.at(time)] for i in normals]
        error = np.abs(np.array(found) - gaps).max()
        checks.append(fem.Check(f"error of the gaps at {time} s [m]", reference=0.0, obtained=error, abs=1e-3))
    forces = sum(
        np.column_stack([p.force_tangential, p.force_normal]) @ facing(normals[i]).T for i, p in planes.items()
    )
    force, mean = forces[-1], forces[result.t > 1.5].mean(axis=0)
    at_rest = np.linalg.norm(result["ball"].position[-1] - [0, radius / s, 0])
    return fem.Checks(
        *checks,
        fem.Check("distance from its place at rest [m]", reference=0.0, obtained=at_rest, abs=1e-8),
        # it stands still from 1.361 s on: momentum balance of 0.1 s
        fem.Check("mean force of both planes, x [N]", reference=0.0, obtained=mean[0], abs=1e-3),
        fem.Check("mean force of both planes, y [N]", reference=mass * g, obtained=mean[1], abs=1e-3),
        fem.Check("force of both planes, x [N]", reference=0.0, obtained=force[0], abs=1e-5),
        fem.Check("force of both planes, y [N]", reference=mass * g, obtained=force[1], abs=1e-5),
        fem.Check("smallest gap [m]", reference=0.0, obtained=min(p.gap.min() for p in planes.values()), abs=1e-12),
    )


# --- ball in a cylinder, 10.3 -----------------------------------------------------------------------------------------

TURNS = [(1.13, 1.2325), (2.17, -0.8851), (3.23, 0.6895), (4.31, -0.5387)]  # s, rad from the bottom
TUBE = 1.0  # m
EARLY = (-0.6162814, -7.478163)  # x [m] and angular speed [rad/s] at 0.4 s, while it slides
PLACE = (0.8216, 0.6326)  # m, of the centre at 1 s
SINKS = {0.5: -0.016, 1.0: -0.038, 2.0: -0.060, 5.0: -0.082, 10.0: -0.096}  # t [s]: gap [m] of Moreau's scheme


def run_cylinder(stepper: Any, t_end: float) -> Any:
    """Results of the ball that starts at rest at nine o'clock in a cylinder of 1 m, friction 0.1, h = 10 ms."""
    model, ball = ball_model([-0.9, 1.0])
    axis = model.ground.frame([0, TUBE, 0])
    model.add(fem.SphereInCylinder(ball, axis, radius=radius, radius_cylinder=TUBE, friction=0.1, name="wall"))
    return stepper.run(model, t_end, 1e-2)


def cylinder(stepper: Any) -> fem.Checks:
    """To and fro for five seconds; with Moreau's scheme, which sinks in, ten."""
    h = 1e-2
    result = run_cylinder(stepper, 10.0 if is_moreau(stepper) else 5.0)
    place, wall, k = result["ball"].position - [0, TUBE, 0], result["wall"], result.at(0.4)
    if is_moreau(stepper):
        return fem.Checks(
            *[fem.Check(f"gap at {t} s [m]", reference=gap, obtained=wall.gap[result.at(t)], abs=5e-4)
              for t, gap in SINKS.items()]
        )  # fmt: skip
    angle = np.arctan2(place[:, 0], -place[:, 1])
    later = place[result.at(1.0), :2] - [PLACE[0], PLACE[1] - TUBE]
    turns = 1 + np.flatnonzero(np.diff(np.sign(np.diff(angle))))
    checks = [
        fem.Check("x at 0.4 s [m]", reference=EARLY[0], obtained=place[k, 0], abs=5e-4),
        fem.Check("error of the place at 1 s [m]", reference=0.0, obtained=np.abs(later).max(), abs=1e-3),
        fem.Check("angular speed at 0.4 s [rad/s]", reference=EARLY[1],
                  obtained=result["ball"].angular_velocity[k, 2], rel=1e-3),
    ]  # fmt: skip
    for i, (time, turned) in enumerate(TURNS):
        checks += [
            fem.Check(f"turns {i + 1} [s]", reference=time, obtained=result.t[turns[i]], abs=1.01 * h),
            fem.Check(f"turns {i + 1}, angle [rad]", reference=turned, obtained=angle[turns[i]], abs=0.01),
        ]
    return fem.Checks(*checks, fem.Check("largest |gap| [m]", reference=0, obtained=np.abs(wall.gap).max(), abs=1e-10))


# --- Painlevé's rod, 10.4 ---------------------------------------------------------------------------------------------

# t [s]: angular speed [rad/s], normal force [N], integrated to round-off before the singularity at 0.81454 s
ROD = {0.2: (0.010664, 10.0769), 0.4: (0.052343, 10.3493), 0.6: (0.263934, 11.8601), 0.7: (0.660626, 15.1933),
       0.8: (2.449510, 43.2175)}  # fmt: skip
ROD_LATE = (13.65893, 0.742565)  # speed of its centre [m/s] and angle [rad] at 0.8 s
ROD_LEAVES = 0.8136  # s, with Moreau's scheme


def run_rod(stepper: Any) -> Any:
    """Results of a rod of 2 m that slides on its tip with 30 m/s, h = 0.8 ms."""
    half, start = 1.0, np.radians(31)
    model = fem.Model("rod", gravity=[0, -10, 0])
    body = fem.RigidBody(1.0, [1e-3, 1 / 3, 1 / 3], position=[0, half * np.sin(start), 0], rotation=[0, 0, -start],
                         velocity=[30, 0, 0], fixed=PLANAR, shape=Box([2 * half, 0.02, 0.02]), name="rod")  # fmt: skip
    model.add(body)
    floor = model.ground.frame(rotation=facing([0, 1, 0]))
    model.add(fem.SphereOnPlane(body.frame([half, 0, 0]), floor, radius=0.0, friction=5 / 3, name="floor"))
    return stepper.run(model, 1.5, 8e-4)


def rod(stepper: Any) -> fem.Checks:
    """It slides into the region where sliding contact has no solution, and leaves the floor."""
    h, result = 8e-4, run_rod(stepper)
    turning, floor = -result["rod"].angular_velocity[:, 2], result["floor"]
    checks = []
    for time, (rate, force) in ROD.items():
        k = result.at(time)
        checks += [
            fem.Check(f"angular speed at {time} s [rad/s]", reference=rate, obtained=turning[k], rel=1e-3),
            fem.Check(f"force at {time} s [N]", reference=force, obtained=floor.force_normal[k], rel=1e-3),
        ]
    body, k = result["rod"], result.at(0.8)
    checks += [
        fem.Check("speed of its centre at 0.8 s [m/s]", reference=ROD_LATE[0], obtained=body.velocity[k, 0], rel=1e-3),
        fem.Check("angle at 0.8 s [rad]", reference=ROD_LATE[1], obtained=-body.rotation_vector[k, 2], rel=1e-3),
    ]
    k = np.flatnonzero(floor.force_normal > 0)[-1]
    if is_moreau(stepper):
        name = "leaves the floor, Moreau's scheme [s]"
        checks.append(fem.Check(name, reference=ROD_LEAVES, obtained=result.t[k], abs=h))
    return fem.Checks(
        *checks,
        fem.Check("leaves the floor [s]", reference=0.845, obtained=result.t[k], abs=0.035),
        fem.Check("angular speed changes then by [rad/s]", reference=0.0, obtained=np.ptp(turning[k + 1 :]), abs=1e-8),
        fem.Check("smallest gap [m]", reference=0.0, obtained=floor.gap.min(), abs=1e-11),
    )


FIRST = "of first order in h where a contact lasts: "
PLACES = ["x at 0.4 s [m]", "error of the place at 1 s [m]", "angular speed at 0.4 s [rad/s]"]
LATER = [*PLACES, *(f"turns {i}, angle [rad]" for i in (1, 2, 3, 4))]
LANDS = "a contact may close in a step but not more, so that a landing takes two: "
SOURCE = "Capobianco2021"
COMPUTED = "scheme computed in tests/references/capobianco2021.py"
ALL = (*NSGA, PROJECTED, GGL, FRICTION, LOBATTO)
BALL = (
    "an impact is caught up to two steps late, with the speed of a step before, which moves the next by two steps; "
    "sums over all earlier impacts are geometric; forces: rtol of m g; "
)
CASES = [
    Case("capobianco2021-ball-bounces", "ball that bounces to rest, e = 0.5", f"{SOURCE}, 10.1; closed form",
         BALL + "apexes: 2 mm, the height of a step", bouncing_ball,
         (*ALL, cone("turns back above the floor: 5 mm too high", "apex 1 [m]", "apex 2 [m]"))),
    Case("capobianco2021-ball-slides", "spinning ball that slides after its impact, then rolls",
         f"{SOURCE}, 10.1; closed form", BALL + "1 %", sliding_ball,
         (*ALL, cone(LANDS + "1.36 of 4.20 N s in the second", "impulse, normal [N s]", "impulse, friction [N s]"))),
    Case("capobianco2021-ball-rolls", "spinning ball that sticks in its impact", f"{SOURCE}, 10.1; closed form",
         "the friction of the impact does not depend on when it is caught: round-off, tolerances", rolling_ball,
         (*ALL, cone(LANDS + "friction of −0.014 and −0.272 N s", "impulse, friction [N s]",
                     "friction while it rolls [N]"))),
    Case("capobianco2021-corner", "ball between two planes: linearly dependent directions of contact",
         f"{SOURCE}, 10.2; {COMPUTED}", "three steps; impulses and gaps after impacts: first order in h",
         corner,
         (
             *NSGA,
             Method("MoreauJean", {"theta": 0.5}, {
                 "smallest gap [m]": "contacts are closed in velocities: −2.0e-4 m",
                 "distance from its place at rest [m]": "sinks in: 7.3e-8 m",
             }),
             PROJECTED,
             GGL,
             FRICTION,
             LOBATTO,
         )),
    Case("capobianco2021-cylinder", "ball in a cylinder", f"{SOURCE}, 10.3; Runge-Kutta, {COMPUTED}",
         "second order in h: twice the error of the source's scheme; turns: digits of its curve; Moreau's scheme: its "
         "digits",
         cylinder,
         (
             Method("DecoupledNSGA", {"rho_inf": 0.5}),
             Method("DecoupledNSGA.published", {"rho_inf": 0.5},
                    dict.fromkeys([*LATER, "turns 4 [s]"], FIRST + "0.06 rad at the first turn")),
             MOREAU,
             Method("MoreauJean", {"theta": 0.5, "projection": True},
                    dict.fromkeys(LATER, FIRST + "0.02 rad at the first turn")),
             Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.5, "approach": "start"},
                    dict.fromkeys([*LATER, "turns 4 [s]"], FIRST + "0.06 rad at the first turn")),
             FRICTION,
             LOBATTO,
         ),
         note="The axis is not printed; it is where the ball starts in contact."),
    Case("capobianco2021-rod", "Painlevé's rod", f"{SOURCE}, 10.4; Runge-Kutta before the singularity, {COMPUTED}",
         "1e-3 of the source's own scheme; the time of leaving depends on scheme and step", rod,
         (
             Method("DecoupledNSGA", {"rho_inf": 0.9}),
             Method("MoreauJean", {"theta": 0.5}, {
                 "force at 0.7 s [N]": FIRST + "0.14 %",
                 "angular speed at 0.8 s [rad/s]": FIRST + "0.5 % at the singularity",
                 "speed of its centre at 0.8 s [m/s]": FIRST + "0.13 %",
                 "force at 0.8 s [N]": FIRST + "0.8 % at the singularity",
                 "smallest gap [m]": "contacts are closed in velocities: −6.4e-6 m",
             }),
             Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.9, "approach": "start"}, {
                 **{f"angular speed at {t} s [rad/s]": FIRST + "0.2 to 3.5 %" for t in ROD},
                 **{f"force at {t} s [N]": FIRST + "0.1 to 5 %" for t in (0.6, 0.7, 0.8)},
                 "speed of its centre at 0.8 s [m/s]": FIRST + "0.7 %",
                 "angle at 0.8 s [rad]": FIRST + "0.4 %",
             }),
             Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.9, "approach": "start"}, {
                 "angular speed changes then by [rad/s]": "the memory of the force is taken back: 3.6e-5 rad/s",
             }),
             Method("LobattoIIIAB", {"stages": 2}, {
                 f"force at {t} s [N]": "means over a step, half a step early: 0.16 and 1.16 %" for t in (0.7, 0.8)
             }),
             cone("means over a step, and another end of the contact: 0.16 and 1.19 %, 0.886 s", "force at 0.7 s [N]",
                  "angle at 0.8 s [rad]",
                  "force at 0.8 s [N]", "leaves the floor [s]"),
         ),
         note="What follows the singularity depends on scheme and step: the angular speed after it is not compared."),
]  # fmt: skip
