"""Non-holonomic benchmarks: a disc that rolls without slipping, and Chaplygin's sleigh.

The sleigh and the steady precession of the disc have closed forms. A wobbling disc is compared with its equations of
motion as a point on a sphere, integrated to round-off; constraints and reactions do not appear in them:

    e' = ω × e ,  x' = p × ω ,  (J − m p̃ p̃) ω' = m p × (p' × ω) + m g p × Z − ω × J ω ,  J = A I + (C − A) e eᵀ     (1)

with p from the centre to the lowest point of the edge. Source: docs/theory/non_holonomic.md, (9)-(12).
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.cases.case import Case, Method
from fem_mbs.rotations import skew
from fem_mbs.shapes import Cylinder

Z = np.array([0.0, 0.0, 1.0])
PUSH = np.array([1.5, 0.5, -0.5])  # rad/s, makes the disc wobble


def allowed(stepper: Any, high: float, second: float, first: float) -> float:
    """Tolerance by the order of a scheme: errors measured at 2.5 ms, tripled."""
    return {"LobattoIIIAB": high, "ConeComplementarity": first}.get(type(stepper).__name__, second)


# --- disc -------------------------------------------------------------------------------------------------------------

MASS, RADIUS, g = 1.0, 0.5, 9.81  # kg, m, m/s²
A, C = 0.0625, 0.125  # kg m², about a diameter and about the axis
TILT, CIRCLE = np.radians(70.0), 1.0  # rad, axis from the vertical; m, radius of the centre's circle


def precession(tilt: float = TILT, circle: float = CIRCLE) -> tuple[float, float]:
    """Rate Ω about the vertical and spin ψ' about the axis [rad/s] with which the disc rolls on a circle."""
    inertia = np.sin(tilt) * (circle * (C / RADIUS + MASS * RADIUS) + A * np.cos(tilt))
    rate = float(np.sqrt(MASS * g * RADIUS * np.cos(tilt) / inertia))
    return rate, -rate * float(circle / RADIUS + np.cos(tilt))


def lowest(e: np.ndarray) -> np.ndarray:
    """p (3,) [m] of a disc with the axis e (3,)."""
    w = Z - e[2] * e
    return -RADIUS * w / np.linalg.norm(w)


def disc_model(tilt: float = TILT, circle: float = CIRCLE, push: np.ndarray | None = None) -> fem.Model:
    """Disc that rolls on a circle about the origin; ``push`` (3,) [rad/s] is added to its angular velocity."""
    rate, spin = precession(tilt, circle)
    e = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    w = rate * Z + spin * e + (0.0 if push is None else np.asarray(push))
    centre = np.array([circle, 0.0, RADIUS * np.sin(tilt)])
    model = fem.Model("rolling disc", gravity=[0, 0, -g])
    rim = Cylinder([0, 0, -0.01], [0, 0, 0.01], RADIUS)
    disc = fem.RigidBody(MASS, [A, A, C], position=centre, rotation=[0, tilt, 0], velocity=np.cross(lowest(e), w),
                         angular_velocity=w, shape=rim, name="disc")  # fmt: skip
    model.add(disc, fem.RollingDisc.at(model.ground, disc, centre, radius=RADIUS, name="floor"))
    return model


def disc_rates(_: float, y: np.ndarray) -> np.ndarray:
    """Derivatives (8,) of e, ω, x, y by (1)."""
    e, w = y[:3], y[3:6]
    p, de = lowest(e), np.cross(w, e)
    across, dw = Z - e[2] * e, -de[2] * e - e[2] * de
    size = np.linalg.norm(across)
    dp = -RADIUS * (dw - across * (across @ dw) / size**2) / size
    J = A * np.eye(3) + (C - A) * np.outer(e, e)
    moment = MASS * np.cross(p, np.cross(dp, w)) + MASS * g * np.cross(p, Z) - np.cross(w, J @ w)
    turning = np.linalg.solve(J - MASS * skew(p) @ skew(p), moment)
    return np.concatenate([de, turning, np.cross(p, w)[:2]])


def disc_reference(model: fem.Model, t_end: float) -> tuple[np.ndarray, np.ndarray]:
    """Place (2,) [m] and axis (3,) of the disc of a model at a time [s], by (1)."""
    node = model["disc"].node
    start = np.concatenate([node.rotation[:, 2], node.angular_velocity, node.position[:2]])
    y = solve_ivp(disc_rates, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return y[6:], y[:3]


def steady(stepper: Any) -> fem.Checks:
    """Steady precession, 3 s, h = 2.5 ms."""
    result = stepper.run(disc_model(), 3.0, 2.5e-3)
    rate, spin = precession()
    turned = fem.rotations.exp([0, 0, rate * result.t[-1]])
    place, axis = turned @ [CIRCLE, 0, 0], turned @ [np.sin(TILT), 0, np.cos(TILT)]
    force = np.array([0, 0, MASS * g]) - MASS * rate**2 * place
    disc, floor = result["disc"], result["floor"]
    means = type(stepper).__name__ == "MoreauJean"  # its forces are those of half a step before
    errors = {
        "place [m]": (disc.position[-1, :2] - place[:2], allowed(stepper, 3e-10, 1e-4, 0.3)),
        "axis [-]": (disc.rotation[-1, :, 2] - axis, allowed(stepper, 3e-10, 1e-4, 0.3)),
        "force at 3 s [N]": (floor.force[-1] - force, 1.5e-2 if means else allowed(stepper, 1e-9, 5e-5, 0.6)),
        "slip, largest [m/s]": (floor.slip, allowed(stepper, 1e-11, 1e-11, 7e-3)),
        "energy, its change [J]": (result.energy.total - result.energy.total[0], allowed(stepper, 3e-12, 1e-6, 2e-2)),
    }
    return fem.Checks(
        fem.Check("spin about the axis [rad/s]", reference=spin,
                  obtained=disc.angular_velocity[-1, 2] - rate * np.cos(TILT), abs=allowed(stepper, 1e-9, 1e-4, 6e-2)),
        *[fem.Check(f"error of the {name}", reference=0.0, obtained=np.abs(error).max(), abs=allowed)
          for name, (error, allowed) in errors.items()],
    )  # fmt: skip


def wobbling(stepper: Any) -> fem.Checks:
    """The same disc, pushed: 2 s, h = 2.5 ms."""
    model = disc_model(push=PUSH)
    place, axis = disc_reference(model, 2.0)
    result = stepper.run(model, 2.0, 2.5e-3)
    near = allowed(stepper, 2e-8, 4e-4, 0.5)
    disc, total = result["disc"], result.energy.total
    return fem.Checks(
        fem.Check("error of the place [m]", reference=0.0, obtained=np.abs(disc.position[-1, :2] - place).max(),
                  abs=near),
        fem.Check("error of the axis [-]", reference=0.0, obtained=np.abs(disc.rotation[-1, :, 2] - axis).max(),
                  abs=near),
        fem.Check("slip, largest [m/s]", reference=0.0, obtained=np.abs(result["floor"].slip).max(),
                  abs=allowed(stepper, 1e-11, 1e-11, 0.17)),
        fem.Check("energy, its change [J]", reference=0.0, obtained=np.abs(total - total[0]).max(),
                  abs=allowed(stepper, 1.2e-8, 2e-3, 0.1)),
    )  # fmt: skip


# --- Chaplygin's sleigh -----------------------------------------------------------------------------------------------

BEHIND, INERTIA, SPEED, TURN = 0.3, 0.2, 0.2, 3.0  # m, blade behind the centre; kg m²; m/s, of the blade; rad/s


def sleigh_model() -> fem.Model:
    """A body on ice that a blade behind its centre of mass holds across."""
    model = fem.Model("Chaplygin's sleigh", gravity=[0, 0, 0])
    hull = Cylinder([-BEHIND, 0, 0], [0.2, 0, 0], 0.05)
    sleigh = fem.RigidBody(MASS, INERTIA, velocity=[SPEED, BEHIND * TURN, 0], angular_velocity=TURN * Z, shape=hull,
                           fixed=("z", "rx", "ry"), name="sleigh")  # fmt: skip
    model.add(sleigh, fem.KnifeEdge.at(model.ground, sleigh, [-BEHIND, 0, 0], [0, 1, 0], name="blade"))
    return model


def sleigh_exact(t: float) -> tuple[float, float, float]:
    """Angle [rad], speed of the blade [m/s] and angular velocity [rad/s] at a time [s]."""
    I_blade = INERTIA + MASS * BEHIND**2
    c = np.sqrt(SPEED**2 + I_blade * TURN**2 / MASS)
    k, begin = BEHIND * c * MASS / I_blade, np.arctanh(SPEED / c)
    tau = begin + k * t
    largest = c * np.sqrt(MASS / I_blade)
    angle = 2 * largest / k * (np.arctan(np.tanh(tau / 2)) - np.arctan(np.tanh(begin / 2)))
    return float(angle), float(c * np.tanh(tau)), float(largest / np.cosh(tau))


def heading(result: Any) -> float:
    """Angle [rad] of the sleigh at the end, of less than half a turn more than at the start."""
    R = result["sleigh"].rotation[-1]
    return float(np.arctan2(R[1, 0], R[0, 0]))


def sleigh(stepper: Any) -> fem.Checks:
    """Three seconds, h = 2.5 ms: it ends by going straight ahead, at its largest speed."""
    result = stepper.run(sleigh_model(), 3.0, 2.5e-3)
    angle, speed, rate = sleigh_exact(3.0)
    near = allowed(stepper, 5e-12, 1.2e-5, 1e-2)
    along = result["sleigh"].rotation[-1, :, 0] @ result["blade"].velocity[-1]
    across = np.einsum("ki,ki->k", result["sleigh"].rotation[:, :, 1], result["blade"].velocity)
    total = result.energy.total
    return fem.Checks(
        fem.Check("angle [rad]", reference=angle, obtained=heading(result), abs=near),
        fem.Check("speed [m/s]", reference=speed, obtained=along, abs=near),
        fem.Check("angular velocity [rad/s]", reference=rate,
                  obtained=result["sleigh"].angular_velocity[-1, 2], abs=near),
        fem.Check("speed across, largest [m/s]", reference=0.0, obtained=np.abs(across).max(),
                  abs=allowed(stepper, 1e-12, 1e-12, 2e-2)),
        fem.Check("energy, its change [J]", reference=0.0, obtained=np.abs(total - total[0]).max(),
                  abs=allowed(stepper, 3e-12, 1e-5, 1.2e-2)),
    )  # fmt: skip


ALPHA = {"rho_inf": 0.9}
METHODS = (
    *(Method(name, ALPHA) for name in ("DecoupledNSGA", "NonsmoothGeneralizedAlphaGGL",
                                       "NonsmoothGeneralizedAlphaFriction", "GeneralizedAlpha")),
    Method("MoreauJean", {"theta": 0.5, "projection": True}),
    Method("ConeComplementarity", {}),
    *(Method("LobattoIIIAB", {"stages": s}) for s in (3, 4)),
)  # fmt: skip
WHY = "errors measured at 2.5 ms, tripled: second order in h, 4 and 6 with Lobatto's scheme, 1 with the cone's"
CASES = [
    Case("rolling-disc-precession", "disc that rolls on a circle", "closed form, docs/theory/non_holonomic.md, (10)",
         WHY, steady, METHODS,
         note="ConeComplementarity has its rows at the start of the step: the disc slips by what they turn in a step."),
    Case("rolling-disc-wobbling", "disc that wobbles while it rolls",
         "its equations of motion, integrated to round-off; O'Reilly (1996) for the disc", WHY, wobbling, METHODS),
    Case("chaplygin-sleigh", "Chaplygin's sleigh", "closed form; Neimark and Fufaev (1972)", WHY, sleigh, METHODS),
]  # fmt: skip
