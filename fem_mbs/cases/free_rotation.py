"""A free rigid body that turns over again and again: rotation about the middle axis of inertia (Dzhanibekov).

Euler's equations in closed form. With moments of inertia J1 < J2 < J3, twice the kinetic energy E2 and the angular
momentum L, L² < E2 J2, from a start with Ω3 = 0:

    Ω = (A1 dn(K + ν t), A2 sn(K + ν t), A3 cn(K + ν t))        A1² = (E2 J3 − L²)/(J1 (J3 − J1))                  (1)
    A2² = (L² − E2 J1)/(J2 (J2 − J1))                           A3² = (L² − E2 J1)/(J3 (J3 − J1))
    ν² = (J2 − J1)(E2 J3 − L²)/(J1 J2 J3)                       k² = (J3 − J2)(L² − E2 J1)/((J2 − J1)(E2 J3 − L²))

Source: Landau and Lifshitz, Mechanics, section 37. How far it has turned about L is integrated.
"""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import fem_mbs as fem
from fem_mbs.cases.case import Case
from fem_mbs.cases.classical import LOBATTO, MOREAU, SMOOTH, is_lobatto
from fem_mbs.shapes import Box

J = np.array([0.01, 0.02, 0.025])  # kg m²
START = np.array([0.1, 4.0, 0.0])  # rad/s
T_END = 20.0  # s, turns over four times


def constants() -> tuple[np.ndarray, float, float]:
    """A (3,) [rad/s], ν [1/s] and m = k² of (1)."""
    (J1, J2, J3), E2, L2 = J, J @ START**2, J**2 @ START**2
    along, across = E2 * J3 - L2, L2 - E2 * J1
    A = np.sqrt([along / (J1 * (J3 - J1)), across / (J2 * (J2 - J1)), across / (J3 * (J3 - J1))])
    return A, np.sqrt((J2 - J1) * along / (J1 * J2 * J3)), (J3 - J2) * across / ((J2 - J1) * along)


def exact_rates(t: Any) -> np.ndarray:
    """Ω (3, k) [rad/s] of (1), body axes."""
    A, rate, m = constants()
    sn, cn, dn, _ = ellipj(ellipk(m) + rate * t, m)
    return np.array([A[0] * dn, A[1] * sn, A[2] * cn])


def exact_axes(t: np.ndarray) -> np.ndarray:
    """Rotations (k, 3, 3) that (1) leads to."""

    def rate(t, y):
        R, (a, b, c) = y.reshape(3, 3), exact_rates(t)
        return (R @ np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])).ravel()

    solution = solve_ivp(rate, (0, t[-1]), np.eye(3).ravel(), "DOP853", t, rtol=1e-11, atol=1e-12)
    return solution.y.T.reshape(-1, 3, 3)


def tumbling(stepper: Any) -> fem.Checks:
    """Twenty seconds; near the middle axis a deviation grows by e every 0.6 s."""
    h, allowed = (5e-3, 2e-8) if is_lobatto(stepper) else (2e-3, 1e-4)
    model = fem.Model("free body")
    model.add(fem.RigidBody(1.0, J, angular_velocity=START, shape=Box([0.5, 0.3, 0.1]), name="body"))
    result = stepper.run(model, T_END, h)
    body, (_, rate, m) = result["body"], constants()
    checks = []
    over = np.flatnonzero(np.diff(np.sign(body.angular_velocity[:, 1])))
    for i, k in enumerate(over):
        a, b = body.angular_velocity[k : k + 2, 1]
        # where a straight line between steps vanishes: the speed is an odd function there, of some 10 rad/s³
        checks.append(fem.Check(f"turns over {i + 1} [s]", reference=(2 * i + 1) * ellipk(m) / rate,
                                obtained=result.t[k] + h * a / (a - b), abs=10 * h**3 + allowed))  # fmt: skip
    speed = np.abs(body.angular_velocity - exact_rates(result.t).T).max()
    turned = np.abs(body.rotation - exact_axes(result.t)).max()
    momentum = np.einsum("kij,j,kj->ki", body.rotation, J, body.angular_velocity)
    lost = np.abs(momentum - momentum[0]).max() / (J @ np.abs(START))
    energy = np.ptp(result.energy.total) / result.energy.total[0]
    return fem.Checks(
        *checks,
        fem.Check("turns over so often", reference=4, obtained=len(over), abs=0),
        fem.Check("largest error of Ω [rad/s]", reference=0.0, obtained=speed, abs=allowed),
        fem.Check("of its axes, of unit length [-]", reference=0.0, obtained=turned, abs=allowed),
        fem.Check("of the angular momentum, relative", reference=0.0, obtained=lost, abs=allowed),
        fem.Check("of the energy, relative", reference=0.0, obtained=energy, abs=allowed),
    )


CASES = [
    Case("free-body", "free body that turns over about its middle axis (Dzhanibekov)",
         "closed form, elliptic functions",
         "second order in h, twice what was measured at 2 ms; of Lobatto's scheme at 5 ms",
         tumbling, (*SMOOTH, MOREAU, *LOBATTO)),
]  # fmt: skip
