"""Numbers of Sanchez2025 that no script of `examples` compares: angles, recovered impacts, damping, an ideal crank.

Closed forms and printed digits of annexes A, B, C and of chapters 2 and 3; recovered impacts of annex C are those of
its method, computed in tests/references/sanchez2025.py.
"""

from typing import Any

import numpy as np

import fem_mbs as fem
from fem_mbs.cases.case import OWN, STATIC, Case, Method, decoupled
from fem_mbs.cases.classical import Z
from fem_mbs.cases.scripts import script

# --- angles, A.6.1, A.6.2 and B.5.1 -----------------------------------------------------------------------------------


def angles(stepper: Any) -> fem.Checks:
    """Balls that slide, roll and spin to rest, and two that turn each other; h = 1 ms."""
    ball, pair, h = script("rolling_ball"), script("two_spheres"), 1e-3
    checks = []
    for name, case, turned in (("rolling", ball.ROLLING, 0.081695), ("spinning", ball.SPINNING, 0.305745)):
        angle = float(np.linalg.norm(case.run(h, solver=stepper)["ball"].rotation_vector[-1]))
        # half a step of the first speed, by which the source turns too far; twice that
        checks.append(fem.Check(f"{name} to rest [rad]", reference=turned, obtained=angle, abs=h * case.start))
    slides = ball.Sliding.run(h, solver=stepper)["ball"]
    path, turns = np.linalg.norm(slides.position[-1] - slides.position[0]), np.linalg.norm(slides.rotation_vector[-1])
    second, third = (ball.acary_bourrier(case, h, solver=stepper) for case in ("II", "III"))
    fastest, stops = ball.speeds(second)[1], ball.speeds(third)[0][third.at(3.404)]
    meet = pair.run(h, solver=stepper)
    return fem.Checks(
        *checks,
        # where sliding ends is known to a step: h times what speeds change before it
        fem.Check("sliding: path [m]", reference=1.589949, obtained=path, abs=h * 0.61),
        fem.Check("sliding: turned by [rad]", reference=2.654830, obtained=turns, abs=h * 3.03),
        fem.Check("II: turns fastest at [s]", reference=0.256, obtained=second.t[fastest.argmax()], abs=2 * h),
        # in a step sliding changes the angular speed by (μ r − ρ) M g h/I
        fem.Check("II: and with [rad/s]", reference=3.99954, obtained=fastest.max(), abs=h * 5.9),
        fem.Check("III: speed when its rotation stops [m/s]", reference=0.83206, obtained=stops, abs=h * 0.49),
        # the driving torque grows by 20 N m/s: h² k/I
        fem.Check("spheres: angle of A [rad]", reference=2.700434, obtained=pair.angle(meet, "A")[-1], abs=50 * h**2),
        fem.Check("spheres: angle of B [rad]", reference=-5.632899, obtained=pair.angle(meet, "B")[-1], abs=50 * h**2),
    )


# --- recovered impacts, C.6.1 and C.6.2 -------------------------------------------------------------------------------

# restitution: duration [s], largest force [N], indentation [m]
BALL = {
    1.0: (1.3693e-3, 11544.0, 1.8944e-3), 0.8: (1.3909e-3, 10902.0, 1.7716e-3), 0.6: (1.4458e-3, 11297.0, 1.6258e-3),
    0.4: (1.5806e-3, 13070.0, 1.4390e-3), 0.2: (1.9994e-3, 17857.0, 1.1565e-3),
}  # fmt: skip
SPHERES = {0.8: (1.6014e-4, 295.72, 1.3822e-5), 0.6: (1.6646e-4, 301.84, 1.2684e-5),
           0.4: (1.8199e-4, 328.41, 1.1227e-5), 0.2: (2.3020e-4, 388.15, 9.0226e-6)}  # fmt: skip
ZHANG = {0.8: 293.67, 0.6: 298.43, 0.4: 328.24, 0.2: 395.94}  # N
PRINTED = {0.8: 1.60e-4, 0.2: 2.26e-4}  # s, of the spheres


def recovery(stepper: Any) -> fem.Checks:
    """First impacts of all restitutions."""
    ball, spheres = script("force_recovery"), script("compliant_impacts")
    names, checks = ("duration [s]", "largest force [N]", "indentation [m]"), []
    for e, row in BALL.items():
        result = ball.run(e, t_end=0.6, solver=stepper)
        first = fem.recover_forces(result, "ground contact", stiffness=ball.stiffness, model="flores").impacts[0]
        found = first.duration, first.peak_force, first.indentation
        # the speed is that of a step, up to g h of 4.43 m/s less; the impulse has up to m g h of gravity
        late = 9.8 * 1e-3 / np.sqrt(2 * 9.8 * ball.fall)
        for name, reference, value, power in zip(names, row, found, (0.2, 1.2, 0.8)):
            allowed = late * (power + 1 / (1 + e))
            checks.append(fem.Check(f"ball, {e}: {name}", reference=reference, obtained=value, rel=allowed))
    for e, row in SPHERES.items():
        result = stepper.run(spheres.two_spheres(e), 0.25, 1e-2)
        law = {"stiffness": spheres.SPHERE_STIFFNESS}
        first = fem.recover_forces(result, "pair", model="hu", **law).impacts[0]
        other = fem.recover_forces(result, "pair", model="zhang", **law).impacts[0]
        found = first.duration, first.peak_force, first.indentation
        checks += [
            fem.Check(f"spheres, {e}: {name}", reference=reference, obtained=value, rel=1e-4)
            for name, reference, value in zip(names, row, found)
        ]
        checks.append(fem.Check(f"spheres, {e}: largest force, law of Zhang [N]", reference=ZHANG[e],
                                obtained=other.peak_force, rel=1e-4))  # fmt: skip
        if e in PRINTED:
            checks.append(fem.Check(f"spheres, {e}: printed duration [s]", reference=PRINTED[e], obtained=found[0],
                                    abs=5e-7))  # fmt: skip
    return fem.Checks(*checks)


# --- factors of damping, table 2.1 ------------------------------------------------------------------------------------

FACTORS = {  # restitution: laws in the order of `LAWS`
    0.9: (0.15, 0.1425, 0.18734, 0.17778, 0.16649), 0.8: (0.30, 0.27, 0.40965, 0.40000, 0.37377),
    0.7: (0.45, 0.3825, 0.67980, 0.68571, 0.63635), 0.6: (0.60, 0.48, 1.01852, 1.06667, 0.97674),
    0.4: (0.90, 0.63, 2.07927, 2.40000, 2.07708), 0.2: (1.20, 0.72, 4.78082, 6.40000, 4.91365),
}  # fmt: skip
LAWS = ("hunt-crossley", "lankarani-nikravesh", "hu", "flores", "zhang")


def factors(_: Any) -> fem.Checks:
    """Five laws, six restitutions."""
    return fem.Checks(*[
        fem.Check(f"{law}, {e}", reference=reference, obtained=float(fem.hysteresis_factor(law, e)), abs=5.1e-6)
        for e, row in FACTORS.items() for law, reference in zip(LAWS, row)
    ])  # fmt: skip


# --- ideal slider-crank, C.6.4 ----------------------------------------------------------------------------------------

CRANK, ROD, SPEED, SLIDER = 0.05, 0.12, 5000 * np.pi / 30, 0.14  # m, m, rad/s, kg


def crank_model() -> fem.Model:
    """Rigid crank, rod and slider in line, driven; the rod of 0.21 kg is slender."""
    model = fem.Model("ideal slider-crank")
    turn = -SPEED * CRANK / ROD
    across = 0.21 * ROD**2 / 12
    crank = fem.RigidBody(0.3, 1e-4, position=[0, 0, 0], angular_velocity=SPEED * Z, name="crank")
    rod = fem.RigidBody(0.21, [1e-5, across, across], position=[CRANK + ROD / 2, 0, 0],
                        velocity=[0, SPEED * CRANK / 2, 0], angular_velocity=turn * Z, name="rod")  # fmt: skip
    slider = fem.RigidBody(SLIDER, 1e-4, position=[CRANK + ROD, 0, 0], name="slider")
    model.add(crank, rod, slider)
    shaft = model.add(fem.Revolute.at(model.ground, crank, [0, 0, 0], Z, name="shaft"))
    model.add(
        fem.RevoluteDriver(shaft.frame_P, shaft.frame_Q, lambda t: SPEED * t, name="drive"),
        fem.Cylindrical.at(crank, rod, [CRANK, 0, 0], Z, name="pin"),
        fem.Spherical.at(rod, slider, [CRANK + ROD, 0, 0], name="slider pin"),
        fem.Prismatic.at(model.ground, slider, [CRANK + ROD, 0, 0], [1.0, 0, 0], name="guide"),
    )
    return model


def ideal_crank(stepper: Any) -> fem.Checks:
    """A turn in 1200 steps."""
    result = stepper.run(crank_model(), 0.012, 1e-5)
    speed, push = np.abs(result["slider"].velocity[:, 0]), result["slider pin"].force[:, 0]
    angle = np.degrees(SPEED * result.t)
    late, outward = result.at(0.006), push[1:].argmax() + 1
    step = np.degrees(SPEED * 1e-5)
    at = angle[outward] if angle[outward] < 180 else 360 - angle[outward]
    return fem.Checks(
        fem.Check("largest speed of the slider [m/s]", reference=28.41, obtained=speed.max(), abs=5e-3),
        fem.Check(
            "crank then at [°]", reference=70.2, obtained=angle[: late + 1][speed[: late + 1].argmax()], abs=step
        ),
        fem.Check("force at the outer dead centre [N]", reference=-2719, obtained=push[-1], abs=1.0),
        fem.Check("force at the inner one [N]", reference=1119, obtained=push[late], abs=1.0),
        fem.Check("largest outward force [N]", reference=1357, obtained=push[1:].max(), abs=1.0),
        fem.Check("crank then at, from a dead centre [°]", reference=122, obtained=at, abs=0.5 + step),
    )


NSGA = decoupled(0.8, rtol=1e-5)
PROJECTED = Method("MoreauJean", {"theta": 0.5, "projection": True})
GGL = Method("NonsmoothGeneralizedAlphaGGL", {"rho_inf": 0.8, "approach": "start"})
FRICTION = Method("NonsmoothGeneralizedAlphaFriction", {"rho_inf": 0.8, "approach": "start"})
LOBATTO = Method("LobattoIIIAB", {"stages": 3})
LONG = {"spheres, 0.2: printed duration [s]": "2.302e-4 s, 1.9 % above what is printed"}
CASES = [
    Case("sanchez2025-angles", "angles of balls that slide, roll, spin and turn each other",
         "Sanchez2025, A.6.1, A.6.2, B.5.1; closed forms", "first order in h: what is known to a step only", angles,
         (*NSGA, PROJECTED, GGL, FRICTION, LOBATTO), fast=False),
    Case("sanchez2025-recovery", "forces, durations and indentations of recovered impacts",
         "Sanchez2025, C.6.1 and C.6.2; method computed in tests/references/sanchez2025.py",
         "g h of the speed of the ball and m g h of its impulse; digits of the spheres", recovery,
         tuple(Method(m.stepper, m.options, LONG) for m in (*NSGA, PROJECTED, GGL, FRICTION, LOBATTO)),
         fast=False),
    Case("sanchez2025-damping", "damping factors of five laws of impact", "Sanchez2025, table 2.1; closed forms",
         "half a unit of the last of five digits", factors, (Method(STATIC, OWN),)),
    Case("sanchez2025-ideal-crank", "slider-crank without clearance at 5000 rpm",
         "Sanchez2025, C.6.4 and 3.3.3; closed forms",
         "digits; angles: a step", ideal_crank,
         (*NSGA, Method("GeneralizedAlpha", {"rho_inf": 0.8}), GGL, FRICTION, LOBATTO, PROJECTED)),
]  # fmt: skip
