"""The four examples of Bruls2014 and an oscillator, with every scheme of impacts: what all share, what is known of one.

The article prints no table. Numbers are closed forms, and those of the schemes that they compare, their
coupled one (GGL), Moreau's with θ = 1/(1 + ρ∞) = 5/9, and the smooth generalized-α method with gaps in positions alone,
computed from their equations with the same steps in tests/references/bruls2014.py.
"""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import WHOLE_STEPS, Case, Method, decoupled
from fem_mbs.cases.scripts import script
from fem_mbs.rotations import exp, frame_with_axis

ROUND_OFF = 1e-12
RISE = 5e-12  # J: m v² of the first impact times the accuracy of velocities, 3e-13
THETA = 1 / 1.8  # of Moreau's scheme that belongs to ρ∞ = 0.8

GGL = Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.8, "approach": "start"})
POSITIONS = Method(GGL.stepper, {**GGL.options, "constraints": "positions"})  # type: ignore[dict-item]
FRICTION = Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.8, "approach": "start"})
NSGA = decoupled(0.8)
WHOLE = decoupled(0.8, **WHOLE_STEPS)[1]
MOREAU = Method("MoreauJean", {"theta": THETA})
PROJECTED = Method("MoreauJean", {"theta": THETA, "projection": True})
LOBATTO = Method("LobattoIIIAB", {"stages": 2})


def is_moreau(stepper: Any) -> bool:
    """True for the published scheme of Moreau, which closes contacts in velocities and projects nothing."""
    return type(stepper).__name__ == "MoreauJean" and not stepper.projection


def in_positions(stepper: Any) -> bool:
    """True for the smooth method of the source, whose gaps hold in positions alone and which has no impact law."""
    return stepper.constraints == "positions"


def combined(stepper: Any) -> bool:
    """True for the variant of the source whose gaps are complementary to ν − h Λ."""
    return stepper.constraints == "combined"


def coupled(stepper: Any) -> bool:
    """True for the scheme of the source, constraints at both levels, and where it has the same equations."""
    return type(stepper).__name__ == "NonsmoothGeneralizedAlphaGGL" and stepper.constraints == "both"


def velocities(reasons: dict[str, str]) -> Method:
    """The coupled scheme with constraints in velocities alone, and its deviations."""
    return Method(GGL.stepper, {**GGL.options, "constraints": "velocities"}, reasons)  # type: ignore[dict-item]


def smallest_gap(stepper: Any, gap: float, moreau: float, digits: float) -> fem.Check:
    """No penetration, or that of Moreau's scheme."""
    reference, allowed = (moreau, digits) if is_moreau(stepper) else (0.0, ROUND_OFF)
    return fem.Check("smallest gap [m]", reference=reference, obtained=gap, abs=allowed)


# --- bouncing ball, 10.1 ----------------------------------------------------------------------------------------------


BALL_SMOOTH = (8.01, 46.3, 123.0)  # J before the first impact, after it and after the second, gaps in positions alone
BALL_RESTS = 3.444  # s
BALL_SINKS = -2.0e-3  # m, with Moreau's scheme


def ball_that_chatters(steps: int, h: float, gap: float) -> np.ndarray:
    """Gaps and speeds (2, steps + 1) of a ball of 1 kg with 0 ≤ g ⟂ ν − h Λ ≥ 0 in the place of 0 ≤ g ⟂ ν ≥ 0."""
    course = [(gap, 0.0)]
    for _ in range(steps):
        gap, speed = course[-1]
        free = gap + h * speed - 5 * h**2
        impulse = max(10 * h - 1.8 * speed, 0.0) if free <= 0 else 0.0
        course.append((free + max(h * impulse, -free), speed - 10 * h + impulse))
    return np.array(course).T


def ball(stepper: Any) -> fem.Checks:
    """The ball of `examples/bouncing_ball.py` through its accumulation point."""
    ball, h = script("bouncing_ball"), 2e-3
    result = stepper.run(ball.build(), 4.5, h)
    table, velocity = result["table"], result["ball"].velocity[:, 2]
    if in_positions(stepper):  # from the level of the table
        energy = result.energy.total - ball.mass * ball.g * ball.radius
        before, after, later = BALL_SMOOTH
        return fem.Checks(
            fem.Check("energy before the first impact [J]", reference=before, obtained=energy[result.at(0.4)],
                      abs=1e-9),
            fem.Check("energy after it [J]", reference=after, obtained=energy[result.at(1.0)], abs=0.05),
            fem.Check("energy after the second impact [J]", reference=later, obtained=energy[result.at(3.0)], abs=0.5),
            smallest_gap(stepper, table.gap.min(), 0.0, 0.0),
        )  # fmt: skip
    if combined(stepper):
        gap, speed = ball_that_chatters(len(result.t) - 1, h, 0.801)
        late = result.t > 4.4
        return fem.Checks(
            fem.Check(
                "largest difference of gaps [m]", reference=0.0, obtained=np.abs(table.gap - gap).max(), abs=1e-9
            ),
            fem.Check("of speeds [m/s]", reference=0.0, obtained=np.abs(velocity - speed).max(), abs=1e-7),
            fem.Check("hops at the end [m]", reference=6e-4, obtained=table.gap[late].max(), rel=0.1),
            fem.Check("smallest gap [m]", reference=0.0, obtained=min(table.gap.min(), 0.0), abs=ROUND_OFF),
        )
    k, flight = result.at(0.402), (result.t > 0.01) & (result.t < 0.39)
    theta = stepper.theta if type(stepper).__name__ == "MoreauJean" else 0.5
    lost, error = -np.diff(result.energy.total[flight]).mean(), np.abs(table.gap - ball.exact_gap(result.t)).max()
    rests = result.t[(np.flatnonzero(table.gap > ROUND_OFF)[-1] + 1) % len(result.t)]  # 0: it does not
    return fem.Checks(
        fem.Check("first impact, speed before [m/s]", reference=-4.0, obtained=velocity[k - 1], abs=ROUND_OFF),
        fem.Check("speed after [m/s]", reference=3.2, obtained=velocity[k], abs=1e-9),
        fem.Check("impulse [N s]", reference=7.22, obtained=table.impulse[k, 0], abs=1e-9),
        fem.Check("largest error of the gap [m]", reference=0.0, obtained=error, abs=25 * h),
        fem.Check("lost per step of flight [J]", reference=100 * h**2 * (theta - 0.5), obtained=lost, abs=ROUND_OFF),
        fem.Check("largest rise of energy [J]", reference=0.0,
                  obtained=max(np.diff(result.energy.total).max(), 0.0), abs=RISE),
        *([fem.Check("rests from [s]", reference=BALL_RESTS, obtained=rests, abs=1e-9)] if coupled(stepper) else []),
        fem.Check("speed at rest [m/s]", reference=0.0, obtained=velocity[-1], abs=1e-9),
        fem.Check("force at rest [N]", reference=10.0, obtained=table.force_normal[-1], rel=1e-6),
        smallest_gap(stepper, table.gap.min(), BALL_SINKS, 5e-5),
    )  # fmt: skip


# --- bouncing pendulum, 10.2 ------------------------------------------------------------------------------------------


PENDULUM_HANGS = 4.933  # s
PENDULUM_RISE = 1.1e-4  # J, of the energy in a step
PENDULUM_ITERATIONS = 3
PENDULUM_SINKS, PENDULUM_DRIFTS = -1.1e-3, 4.6e-4  # m, with Moreau's scheme


def bouncing_pendulum(arm: float = 1.0) -> fem.Model:
    """Body on a hinge about z whose centre of mass, 1 m from the pivot, hits the plane x = √½; e = 0.8.

    ``arm`` [m] is the distance of the node from the pivot: 1 puts it at the centre of mass, 0 at the pivot.
    """
    model = fem.Model("bouncing pendulum", gravity=[0, -10, 0])
    start = exp([0, 0, np.pi / 12])
    centre = np.array([1.0 - arm, 0, 0])
    body = model.add(
        fem.RigidBody(
            1.0, [0.05, 0.1, 0.1], position=start @ [arm, 0, 0], rotation=start, center=centre, name="bob",
            allow_nonphysical=True,
        )
    )  # fmt: skip
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="pivot"))
    wall = model.ground.frame([np.sqrt(0.5), 0, 0], frame_with_axis(np.array([1.0, 0, 0])))
    model.add(fem.SphereOnPlane(body.frame(centre), wall, radius=0.0, restitution=0.8, name="wall"))
    return model


def pendulum(stepper: Any) -> fem.Checks:
    """The pendulum until it hangs on the wall."""
    h = 1e-3
    result = stepper.run(bouncing_pendulum(), 6.0, h)
    wall, energy = result["wall"], result.energy.total
    k = int(np.argmax(wall.impact))
    push = result["pivot"].force[-1]
    # Moreau's scheme rests where joint and wall have drifted to, 1e-3 m off
    same = 3e-3 if is_moreau(stepper) else 1e-6
    checks = [
        fem.Check("first impact [s]", reference=0.486110, obtained=result.t[k], abs=h),
        # its speed is that of a step before, where ẍ = 10 m/s² at most: (1 + e) m_eff ẍ h, m_eff = 2.2 kg
        fem.Check("its impulse [N s]", reference=11.7347, obtained=wall.impulse[k, 0], abs=1.8 * 2.2 * 10 * h),
        # of ½ J θ̇²: J θ̇ e² θ̈ h = 27 mJ, J = 1.1 kg m², θ̇ = 4.19 rad/s, θ̈ = 9 rad/s²
        fem.Check("energy after it [J]", reference=-0.88914, obtained=energy[k], abs=27 * h),
        fem.Check("force of the wall at rest [N]", reference=10.0, obtained=wall.force_normal[-1], rel=same),
        fem.Check("force of the pivot at rest, x [N]", reference=-10.0, obtained=push[0], rel=same),
        fem.Check("force of the pivot at rest, y [N]", reference=10.0, obtained=push[1], rel=same),
        smallest_gap(stepper, wall.gap.min(), PENDULUM_SINKS, 5e-5),
    ]
    if is_moreau(stepper):
        drift = np.abs(result.violation.position).max()
        checks.append(fem.Check("largest |g| [m]", reference=PENDULUM_DRIFTS, obtained=drift, rel=0.02))
    if coupled(stepper):
        rise, closed = np.diff(energy).max(), np.flatnonzero(wall.gap > ROUND_OFF)[-1] + 1
        most = max(result.iterations.max[0], PENDULUM_ITERATIONS)
        checks += [
            fem.Check("hangs on the wall from [s]", reference=PENDULUM_HANGS, obtained=result.t[closed], abs=1e-9),
            fem.Check("largest rise of energy [J]", reference=PENDULUM_RISE, obtained=rise, abs=5e-6),
            fem.Check("largest number of iterations above 3", reference=PENDULUM_ITERATIONS, obtained=most, abs=0),
        ]
    if not is_moreau(stepper):
        angle, drift = result["bob"].rotation_vector[-1, 2], result.violation.position.max()
        checks += [
            fem.Check("angle at rest [rad]", reference=-np.pi / 4, obtained=angle, abs=1e-9),
            fem.Check("energy at rest [J]", reference=-10 * np.sqrt(0.5), obtained=energy[-1], abs=1e-8),
            fem.Check("largest |g| [m]", reference=0.0, obtained=drift, abs=ROUND_OFF),
        ]
    return fem.Checks(*checks)


# --- elastic bar, 10.3 ------------------------------------------------------------------------------------------------

# J at 2 s; the scheme of three levels has the numbers of the coupled one where nothing rubs
BAR_ENERGY = {
    "DecoupledNSGA": 496.2, "NonsmoothGeneralizedAlphaGGL": 497.3, "NonsmoothGeneralizedAlphaFriction": 497.3,
    "MoreauJean": 475.5,
}  # fmt: skip

# m at 1.6 s, m s in 2 s
BAR_GAPS = {"NonsmoothGeneralizedAlphaGGL": (4.293, 0.042), "MoreauJean": (4.223, 0.123)}
BAR_SINKS = -3.9e-3  # m, with Moreau's scheme
# gaps in positions alone: open steps, mean force [N], energy at 2 s and the largest one [J], gap at 1.6 s [m]
BAR_SMOOTH = (9, 300.1, 497.4, 502.7, 4.293)


def bar(stepper: Any) -> fem.Checks:
    """The bar of `examples/elastic_bar.py`: Courant number 1.2."""
    bar, h = script("elastic_bar"), 2e-3
    result = stepper.run(bar.build(), 2.0, h)
    wall, middle = result["wall"], bar.in_contact(result, 0.1)
    closed = result.t[wall.force_normal > 0]
    speed = np.abs(result["node 0"].velocity[bar.in_contact(result, 2 * h)]).max()
    if in_positions(stepper):
        inside = result.t[(result.t > closed[0]) & (result.t < closed[-1])]
        energy, (steps, force, last, largest, gap) = result.energy.total, BAR_SMOOTH
        opened = len(inside) - len(closed) + 2
        return fem.Checks(
            fem.Check("open steps while it should touch", reference=steps, obtained=opened, abs=0),
            fem.Check("force, mean [N]", reference=force, obtained=wall.force_normal[middle].mean(), abs=1.0),
            fem.Check("energy at 2 s [J]", reference=last, obtained=energy[-1], abs=0.06),
            fem.Check("largest energy [J]", reference=largest, obtained=energy.max(), abs=0.06),
            fem.Check("gap at 1.6 s [m]", reference=gap, obtained=wall.gap[result.at(1.6)], abs=5e-4),
            fem.Check("smallest gap [m]", reference=0.0, obtained=wall.gap.min(), abs=1e-11),
        )
    energy, published = BAR_ENERGY[type(stepper).__name__], []
    if type(stepper).__name__ in BAR_GAPS:
        gap, error = BAR_GAPS[type(stepper).__name__]
        published = [
            fem.Check("gap at 1.6 s [m]", reference=gap, obtained=wall.gap[result.at(1.6)], abs=5e-4),
            fem.Check("error of the gap [m s]", reference=error, obtained=bar.gap_error(result), abs=5e-4),
        ]
    return fem.Checks(
        *published,
        fem.Check("touches [s]", reference=bar.t_touch, obtained=closed[0], abs=h),
        # mesh and damping spread the front of the wave over two steps
        fem.Check("leaves [s]", reference=bar.t_leave, obtained=closed[-1], abs=3 * h),
        fem.Check("force, mean [N]", reference=bar.force, obtained=wall.force_normal[middle].mean(), rel=1e-3),
        fem.Check("speed of the end in contact [m/s]", reference=0.0, obtained=speed, abs=1e-9),
        fem.Check("energy at 2 s [J]", reference=energy, obtained=result.energy.total[-1], abs=0.06),
        smallest_gap(
            stepper, wall.gap.min() if is_moreau(stepper) else min(wall.gap.min() + 1e-11, 0), BAR_SINKS, 5e-5
        ),
    )


# --- rocking block, 10.4 ----------------------------------------------------------------------------------------------


BLOCK_ANGLE = -0.0671  # rad, the smallest
BLOCK_SINKS = -7.5e-3  # m, with Moreau's scheme


def block(stepper: Any) -> fem.Checks:
    """The block of `examples/rocking_block.py`, h = 10 ms."""
    block, h = script("rocking_block"), 1e-2
    result = stepper.run(block.build(), 3.0, h)
    body, corners = result["block"], [result["corner 1"], result["corner 2"]]
    hits, energies = np.flatnonzero((corners[0].impact > 0) | (corners[1].impact > 0)), result.energy.total
    gap = smallest_gap(stepper, min(corner.gap.min() for corner in corners), BLOCK_SINKS, 5e-5)
    if is_moreau(stepper):
        return fem.Checks(
            fem.Check("impact 1 [s]", reference=0.18375, obtained=result.t[hits[0]], abs=h),
            # closed form; the speed is that of a step before: g h times (1 + e) m_eff, below 1 kg
            fem.Check(
                "impact 1, impulse [N s]", reference=1.8916, obtained=corners[1].impulse[hits[0], 0], abs=9.81 * h
            ),
            # sinks in: 3 to 5 mJ below
            fem.Check("energy at rest [J]", reference=7.3575, obtained=energies[-1], abs=5e-3),
            gap,
        )
    checks = []
    for i, (t, corner, impulse, energy) in enumerate(block.IMPACTS):
        k = hits[i]
        checks += [
            fem.Check(f"impact {i + 1} [s]", reference=t, obtained=result.t[k], abs=1e-9),
            fem.Check(f"impact {i + 1}, impulse [N s]", reference=impulse,
                      obtained=corners[corner - 1].impulse[k, 0], abs=1e-4),
            fem.Check(f"impact {i + 1}, energy after it [J]", reference=energy,
                      obtained=energies[k], abs=6e-4),
        ]  # fmt: skip
    closed = np.flatnonzero(np.max([corner.gap for corner in corners], axis=0) > ROUND_OFF)[-1] + 1
    checks += [
        fem.Check("stands from [s]", reference=block.CLOSED, obtained=result.t[closed], abs=1e-9),
        fem.Check("smallest angle [rad]", reference=BLOCK_ANGLE, obtained=body.rotation_vector[:, 2].min(), abs=5e-5),
        fem.Check("force of a corner at rest [N]", reference=4.905, obtained=corners[0].force_normal[-1], rel=1e-6),
        fem.Check("angle at rest [rad]", reference=0.0, obtained=body.rotation_vector[-1, 2], abs=1e-9),
        fem.Check("height at rest [m]", reference=0.75, obtained=body.position[-1, 1], abs=1e-9),
        gap,
    ]
    return fem.Checks(*checks)


# --- oscillator at a wall ---------------------------------------------------------------------------------------------

# J at 2 s with h = 2, 1 and 0.25 ms
OSCILLATOR_ENERGY = {"NonsmoothGeneralizedAlphaGGL": (3.43545, 3.43591, 3.43593), "MoreauJean": (3.288, 3.361, 3.417)}


def oscillator_model() -> fem.Model:
    """Mass on a spring, 10 rad/s, that falls back to a wall in its position of rest; e = 0.8."""
    model = fem.Model("oscillator", gravity=[0, 0, 0])
    mass = model.add(fem.PointMass(1.0, position=[0, 0, 1], name="mass", fixed=("x", "y")))
    model.add(fem.Spring(model.ground.frame([0, 0, -10]), mass, stiffness=100.0, free_length=10.0, name="spring"))
    model.add(fem.SphereOnPlane(mass, model.ground, radius=0.0, restitution=0.8, name="wall"))
    return model


def oscillator(stepper: Any) -> fem.Checks:
    """Six impacts in 2 s."""
    result = stepper.run(oscillator_model(), 2.0, 2e-3)
    exact, wall = 50 * 0.8**12, result["wall"]
    energy, own = result.energy.total[-1], []
    for h, known in zip((2e-3, 1e-3, 2.5e-4), OSCILLATOR_ENERGY.get(type(stepper).__name__, ())):
        found = stepper.run(oscillator_model(), 2.0, h).energy.total[-1]
        own.append(fem.Check(f"energy at 2 s with {1e3 * h:g} ms [J]", reference=known, obtained=found, abs=6e-4))
    return fem.Checks(
        *own,
        fem.Check("impacts", reference=6, obtained=np.count_nonzero(wall.impact), abs=0),
        fem.Check("energy at 2 s, exact [J]", reference=exact, obtained=energy, rel=0.05),
    )


SOURCE = "Bruls2014"
COMPUTED = "scheme computed in tests/references/bruls2014.py"
SLOWER = "restitution of the slower of two normal velocities, of the same order in h: "
DIGITS = "printed digits of the scheme; round-off where the scheme is exact; "
CASES = [
    Case(
        "bruls2014-ball", "ball that bounces to rest", f"{SOURCE}, 10.1; {COMPUTED}",
        DIGITS + "error of the gap: an impact is early or late by a step at most, at 4 m/s, and shifts what follows",
        ball,
        (
            NSGA[0], WHOLE, MOREAU, PROJECTED, GGL, POSITIONS,
            velocities({
                "smallest gap [m]": "contacts penetrate: −4.4e-4 m",
                "largest rise of energy [J]": "what sinks is carried on: 5e-6 J",
            }),
            Method(GGL.stepper, {**GGL.options, "constraints": "combined"}),  # type: ignore[dict-item]
            FRICTION, LOBATTO,
        ),
        note="With constraints=\"positions\", the smooth method of the source, the energy grows in impacts, as there. "
        "With \"combined\" the ball chatters, as there: by 4.2 mm from 3.6 s on, by the 0.6 mm of the source at 4.5 s.",
    ),
    Case(
        "bruls2014-pendulum", "pendulum that bounces on a wall", f"{SOURCE}, 10.2; {COMPUTED}",
        DIGITS + "first impact: the speed of a step before, first order in h",
        pendulum,
        (
            *NSGA,
            Method("MoreauJean", {"theta": THETA}, {
                "smallest gap [m]": "−8.5e-4 m: joints push along the directions of the middle of a step here, in the "
                "source along those of its end",
            }),
            PROJECTED,
            Method(GGL.stepper, GGL.options, {
                "largest number of iterations above 3": "gaps and joints are solved to round-off here: 6, in space",
            }),
            velocities({
                "largest |g| [m]": "joints drift: 1.8e-6 m",
                "smallest gap [m]": "contacts penetrate: −1.8e-7 m",
                "angle at rest [rad]": "rests where joint and wall have drifted to, 1.5e-7 rad off",
                "energy at rest [J]": "rests where joint and wall have drifted to, 2.4e-6 J off",
            }),
            FRICTION, LOBATTO,
        ),
    ),
    Case(
        "bruls2014-bar", "elastic bar that hits a wall",
        f"{SOURCE}, 10.3; scheme computed in tests/references/elastic_bar_schemes.py",
        DIGITS + "times: the front of the wave is spread over two steps", bar,
        (
            *NSGA, MOREAU, GGL, POSITIONS, FRICTION,
        ),
        note="The cross-section is not printed: 1 m². Lobatto IIIA-IIIB is not stable with this mesh and step.",
        fast=False,
    ),
    Case(
        "bruls2014-block", "block that rocks from corner to corner", f"{SOURCE}, 10.4; {COMPUTED}", DIGITS.rstrip("; "),
        block,
        (
            NSGA[0],
            Method(WHOLE.stepper, WHOLE.options, {
                "impact 2, impulse [N s]": SLOWER + "1.8187 N s", "impact 2, energy after it [J]": SLOWER + "8.0091 J",
                "impact 3, impulse [N s]": SLOWER + "1.0068 N s", "impact 3, energy after it [J]": SLOWER + "7.6967 J",
                "stands from [s]": SLOWER + "0.71 s, a step earlier",
            }),
            Method("MoreauJean", {"theta": THETA}, {
                "smallest gap [m]": "−1.19e-2 m: which step catches an impact depends on the forecast of the gap, "
                "linear here, of the turned block in the source",
            }),
            GGL, FRICTION,
        ),
        note="The order of later impacts depends on the step: only the first three are compared.",
    ),
    Case(
        "oscillator-at-a-wall", "oscillator that bounces on a wall in its position of rest",
        f"closed form; {SOURCE}, {COMPUTED}",
        DIGITS + "exact energy: 5 %, of which Moreau's scheme takes 4.3 % with θ = 5/9",
        oscillator, (*NSGA, MOREAU, GGL, velocities({}), FRICTION, LOBATTO),
    ),
]  # fmt: skip
