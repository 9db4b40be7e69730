"""One contact with friction: a block on a slope and on a plane, a bowling ball, by Coulomb's law and by its relaxation.

Negrut, Serban and Tasora (2018) relax Coulomb's law to a convex problem (CCP): a contact that slides with v keeps a gap
of h μ v. Numbers are closed forms of both laws, those of the relaxed one with the step h = 1 ms.
"""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import Case, Method
from fem_mbs.shapes import Sphere

g, H = 9.81, 1e-3  # m/s², s
ALPHA = np.radians(30)


def is_relaxed(stepper: Any) -> bool:
    """True for the relaxed law of the source."""
    return type(stepper).__name__ == "ConeComplementarity" and stepper.relaxed


def point_model(friction: float, slope: float = 0.0, speed: float = 0.0, gap: float = 0.0) -> fem.Model:
    """A point of 1 kg on the plane z = 0, gravity tilted by the slope [rad] towards x."""
    model = fem.Model("block", gravity=[g * np.sin(slope), 0, -g * np.cos(slope)])
    block = model.add(fem.PointMass(1.0, position=[0, 0, gap], velocity=[speed, 0, 0], name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=friction, name="plane"))
    return model


def incline(stepper: Any) -> fem.Checks:
    """Slope of 30°: sticks with μ = 0.7, slides with μ = 0.3."""
    sticks, slides = (stepper.run(point_model(mu, ALPHA), 1.0, H) for mu in (0.7, 0.3))
    speed = 2.356075 if is_relaxed(stepper) else g * (np.sin(ALPHA) - 0.3 * np.cos(ALPHA))
    gap, weight = 0.3 * H * speed if is_relaxed(stepper) else 0.0, g * np.cos(ALPHA)
    held, moving = np.abs(sticks["block"].velocity).max(), slides["block"].velocity[-1, 0]
    return fem.Checks(
        fem.Check("0.7: largest speed [m/s]", reference=0.0, obtained=held, abs=1e-8),
        fem.Check("0.7: normal force [N]", reference=weight, obtained=sticks["plane"].force_normal[-1], rel=1e-6),
        fem.Check("0.7: friction [N]", reference=-g * np.sin(ALPHA), obtained=sticks["plane"].force_tangential[-1, 0],
                  rel=1e-6),
        fem.Check("0.3: speed at 1 s [m/s]", reference=speed, obtained=moving, abs=2e-6),
        fem.Check("0.3: normal force [N]", reference=weight, obtained=slides["plane"].force_normal[-1], rel=2e-6),
        fem.Check("0.3: gap at 1 s [m]", reference=gap, obtained=slides["plane"].gap[-1], abs=1e-9),
        fem.Check("0.3: normal force of the first step [N]", reference=9.144228 if is_relaxed(stepper) else weight,
                  obtained=slides["plane"].force_normal[1], rel=2e-6),
    )  # fmt: skip


def sliding_block(stepper: Any) -> fem.Checks:
    """A block of 5 m/s, friction 0.3; the relaxed law begins with its gap."""
    mu, start = 0.3, 5.0
    gap = mu * H * start if is_relaxed(stepper) else 0.0
    result = stepper.run(point_model(mu, speed=start, gap=gap), 1.0, H)
    speed = 2.05726 if is_relaxed(stepper) else start - mu * g
    plane = result["plane"]
    return fem.Checks(
        fem.Check("speed at 1 s [m/s]", reference=speed, obtained=result["block"].velocity[-1, 0], abs=6e-6),
        fem.Check("normal force [N]", reference=g, obtained=plane.force_normal[-1], rel=2e-6),
        fem.Check(
            "normal force of the first step [N]",
            reference=g / (1 + mu**2) if gap else g,
            obtained=plane.force_normal[1],
            rel=2e-6,
        ),
        fem.Check("friction [N]", reference=-mu * g, obtained=plane.force_tangential[-1, 0], rel=2e-6),
        fem.Check("gap at 1 s [m]", reference=mu * H * speed if gap else 0.0, obtained=plane.gap[-1], abs=1e-8),
    )


def bowling_model(gap: float) -> fem.Model:
    """A ball of 1 kg and 0.1 m over the lane, 2 m/s without rotation, friction 0.2."""
    model = fem.Model("bowling ball", gravity=[0, 0, -g])
    ball = fem.RigidBody(
        1.0, 0.4 * 0.1**2, position=[0, 0, 0.1 + gap], velocity=[2, 0, 0], shape=Sphere(0.1), name="ball"
    )
    model.add(ball, fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.2, name="lane"))
    return model


def bowling_ball(stepper: Any) -> fem.Checks:
    """A ball slides, then rolls."""
    mu, start, radius = 0.2, 2.0, 0.1
    gap = mu * H * start if is_relaxed(stepper) else 0.0
    result = stepper.run(bowling_model(gap), 0.6, H)
    slip = result["ball"].velocity[:, 0] - radius * result["ball"].angular_velocity[:, 1]
    rolls, velocity = result.t[np.argmax(np.abs(slip) < 1e-6)], result["ball"].velocity[-1, 0]
    return fem.Checks(
        fem.Check("rolls from [s]", reference=2 * start / (7 * mu * g), obtained=rolls, abs=2 * H),
        fem.Check("speed [m/s]", reference=5 / 7 * start, obtained=velocity, abs=1e-6),
        fem.Check("normal force [N]", reference=g, obtained=result["lane"].force_normal[-1], rel=2e-6),
        fem.Check(
            "normal force of the first step [N]",
            reference=g / (1 + 3.5 * mu**2) if gap else g,
            obtained=result["lane"].force_normal[1],
            rel=2e-6,
        ),
        fem.Check("gap at the end [m]", reference=0.0, obtained=result["lane"].gap[-1], abs=1e-9),
    )


# --- what the relaxed law alone does, and what its stabilisation does -------------------------------------------------


def launch(stepper: Any) -> fem.Checks:
    """Sliding that begins on a closed contact launches, whatever the step; with the gap h μ v it does not."""
    mu, start = 0.3, 5.0
    result = stepper.run(point_model(mu, speed=start), 1.0, H)
    block, plane = result["block"], result["plane"]
    rolled = stepper.run(bowling_model(0.0), 0.6, H)
    ball, lane = rolled["ball"], rolled["lane"]
    free = (start - mu * g * H) / (1 + mu**2)
    return fem.Checks(
        fem.Check("first impulse [N s]", reference=1.38515, obtained=plane.impulse[1, 0], abs=5e-6),
        fem.Check("launched with [m/s]", reference=1.37534, obtained=block.velocity[1, 2], abs=5e-6),
        fem.Check("slides then with [m/s]", reference=free, obtained=block.velocity[1, 0], abs=1e-6),
        fem.Check("height of the hop [m]", reference=0.0971, obtained=plane.gap.max(), abs=5e-5),
        fem.Check("speed at 1 s [m/s]", reference=2.05726, obtained=block.velocity[-1, 0], abs=6e-6),
        fem.Check("ball: first impulse [N s]", reference=0.359482, obtained=lane.impulse[1, 0], abs=1e-6),
        fem.Check("ball: launched with [m/s]", reference=0.349672, obtained=ball.velocity[1, 2], abs=1e-6),
        fem.Check("ball: slides then with [m/s]", reference=1.928104, obtained=ball.velocity[1, 0], abs=1e-6),
        fem.Check("ball: height of the hop [m]", reference=6.4e-3, obtained=lane.gap.max(), abs=5e-5),
        fem.Check("ball: speed at last [m/s]", reference=10 / 7, obtained=ball.velocity[-1, 0], abs=1e-6),
    )


def stabilised(stepper: Any) -> fem.Checks:
    """Landing at the surface, and a table on four legs, whose forces are not unique."""
    h = 5e-3
    falls = stepper.run(point_model(0.3, gap=0.1), 0.3, h)["plane"]
    legs = fem.Model("table", gravity=[0, 0, -g])
    top = legs.add(fem.RigidBody(4.0, [0.2, 0.2, 0.3], position=[0, 0, 0.5], name="top"))
    names = []
    for x in (-0.4, 0.4):
        for y in (-0.3, 0.3):
            names.append(f"leg {x} {y}")
            legs.add(fem.SphereOnPlane(top.frame([x, y, -0.5]), legs.ground, radius=0.0, friction=0.4, name=names[-1]))
    stands = stepper.run(legs, 0.2, h)
    weight = sum(stands[name].force_normal for name in names)
    return fem.Checks(
        fem.Check("lands: smallest gap [m]", reference=0.0, obtained=falls.gap.min(), abs=1e-12),
        fem.Check("lands: speed afterwards [m/s]", reference=0.0, obtained=np.abs(np.diff(falls.gap[-5:])).max() / h,
                  abs=1e-9),
        fem.Check("table: its weight on four legs [N]", reference=4 * g, obtained=weight[-1], rel=1e-6),
        fem.Check("table: largest speed [m/s]", reference=0.0, obtained=np.abs(stands["top"].velocity).max(), abs=1e-8),
    )  # fmt: skip


SOURCE = "Negrut2018; closed forms of Coulomb's law and of its relaxation"
REASON = "digits of the relaxed law at 1 ms; rtol of the forces where Coulomb's law is exact in every step"
METHODS = (
    Method("DecoupledNSGA", {"rho_inf": 0.8}),
    Method("MoreauJean", {"theta": 0.5, "projection": True}),
    Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.8}),
    Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.8}),
    Method("LobattoIIIAB", {"stages": 2}),
    Method("ConeComplementarity", {"relaxed": True}),
    Method("ConeComplementarity", {"relaxed": False}),
)
CASES = [
    Case("negrut2018-incline", "block on a slope, sticking and sliding", SOURCE, REASON, incline, METHODS),
    Case("negrut2018-block", "block that slides on a plane", SOURCE, REASON, sliding_block, METHODS),
    Case(
        "negrut2018-ball", "bowling ball that slides, then rolls", SOURCE, REASON + "; two steps", bowling_ball, METHODS
    ),
    Case(
        "negrut2018-launch",
        "block that is launched where it begins to slide",
        SOURCE,
        "digits of the relaxed law at 1 ms",
        launch,
        (Method("ConeComplementarity", {"relaxed": True}),),
        note="An artefact of the relaxation: Coulomb's law, relaxed=False, does not launch.",
    ),
    Case(
        "negrut2018-landing",
        "point that lands, table on four legs",
        SOURCE,
        "round-off; rtol of the forces",
        stabilised,
        METHODS,
    ),
]
