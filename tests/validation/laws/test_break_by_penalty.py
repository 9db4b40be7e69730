"""Billiard break through compliant contacts: against an integration of its equations, and compared with impacts."""

from itertools import combinations

import billiard_break
import numpy as np
import penalty
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem

MASS, INERTIA, RADIUS = billiard_break.mass, billiard_break.inertia, billiard_break.radius
STIFFNESS, RESTITUTION, FRICTION, SLOW = 1e8, 0.93, 0.06, 1e-3
FACTOR = 1.6 * (1 - RESTITUTION) / RESTITUTION  # of Flores
ROW = RADIUS * np.array([np.sqrt(3.0), 1.0])
PLACES = np.array([[-2 * RADIUS - 1e-6, 0], [0, 0], ROW, ROW * [1, -1]])
SPEED = 10.0
PAIRS = list(combinations(range(4), 2))


def equations(t, y):
    """Rates of places (4, 2), velocities (4, 2), spins (4,) and the largest rates of indentation (6,)."""
    x, v, spin, largest = y[:8].reshape(4, 2), y[8:16].reshape(4, 2), y[16:20], y[20:]
    force, moment, growth = np.zeros((4, 2)), np.zeros(4), np.zeros(len(PAIRS))
    for k, (i, j) in enumerate(PAIRS):
        apart = x[i] - x[j]
        distance = np.linalg.norm(apart)
        depth, n = 2 * RADIUS - distance, apart / distance
        if depth <= 0:
            continue
        tangent = np.array([-n[1], n[0]])
        rate = -n @ (v[i] - v[j])
        speed = max(rate, largest[k], 1e-3)
        normal = max(STIFFNESS * depth**1.5 * (1 + FACTOR * rate / speed), 0.0)
        slip = tangent @ (v[i] - v[j]) - RADIUS * (spin[i] + spin[j])
        along = -FRICTION * normal * slip / np.hypot(slip, SLOW)
        force[i] += normal * n + along * tangent
        force[j] -= normal * n + along * tangent
        moment[[i, j]] -= RADIUS * along
        if rate > largest[k]:
            growth[k] = (rate - largest[k]) * 1e8  # follows the largest rate within 10 ns
    return np.concatenate([v.ravel(), force.ravel() / MASS, moment / INERTIA, growth])


def compliant():
    """The same balls on no table."""
    model = fem.Model("break")
    bodies = []
    for k, place in enumerate(PLACES):
        velocity = [SPEED if k == 0 else 0.0, 0, 0]
        body = fem.RigidBody(MASS, INERTIA, position=[*place, 0], velocity=velocity, name=f"ball {k}")
        bodies.append(model.add(body))
    for i, j in PAIRS:
        law = {"radius_A": RADIUS, "radius_B": RADIUS, "restitution": RESTITUTION, "friction": FRICTION}
        contact = fem.SphereOnSphere(bodies[i], bodies[j], **law, name=f"{i}, {j}")
        model.add(fem.CompliantContact(contact, stiffness=STIFFNESS, model="flores", slip_speed=SLOW))
    return model


def test_a_break_through_compliant_contacts_is_that_of_its_equations():
    start = np.concatenate([PLACES.ravel(), [SPEED, *np.zeros(7)], np.zeros(4), np.zeros(len(PAIRS))])
    exact = solve_ivp(equations, (0, 1e-3), start, "LSODA", rtol=1e-8, atol=1e-10, max_step=1e-6).y[8:16, -1]
    control = fem.StepControl(tolerance=1e-9, h_max=1e-5)
    result = fem.DecoupledNSGA(rho_inf=0.8, step_control=control).run(compliant(), 1e-3, 1e-6, progress=False)
    found = np.array([result[f"ball {k}"].velocity[-1, :2] for k in range(4)])
    np.testing.assert_allclose(found, exact.reshape(4, 2), atol=1e-2)  # 4e-3 m/s measured
    assert found[1, 0] < 0.1 * SPEED  # the apex ball, which is hit, is nearly at rest


def test_impacts_and_compliant_contacts_break_the_rack_alike():
    """Impacts in sequence and forces that overlap: numbers of docs/published_benchmarks.md."""
    impacts, yielding = penalty.impacts(), penalty.compliant(1e-8)
    np.testing.assert_allclose(impacts.velocities[:, 0], [-1.411, 0.255, 5.773], atol=2e-3)
    np.testing.assert_allclose(yielding.velocities[:, 0], [-1.301, 0.004, 5.842], atol=5e-3)
    assert yielding.velocities[2, 1] == pytest.approx(3.21, abs=0.01)
