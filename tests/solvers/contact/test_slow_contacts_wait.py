"""Contacts that close slowly in the step of a fast impact at the same body hand its impulse on, one after the other."""

from itertools import pairwise

import numpy as np
import pytest

import fem_mbs as fem

MASS, RADIUS, LENGTH = 0.3, 0.02, 0.5


def row(drift, gaps, restitution, **options):
    """Velocities after 5 ms of balls in a row that drift; the last one flies at them with -1 m/s."""
    model, position, balls = fem.Model("row"), 0.0, []
    for k, speed in enumerate((*drift, -1.0)):
        balls.append(fem.RigidBody.sphere(MASS, RADIUS, position=[position, 0, 0], velocity=[speed, 0, 0]))
        position += 2 * RADIUS + (*gaps, 0.0)[k]
    model.add(*balls)
    for first, second in pairwise(balls):
        model.add(fem.SphereOnSphere(first, second, radius_A=RADIUS, radius_B=RADIUS, restitution=restitution))
    return fem.DecoupledNSGA(**options).run(model, t_end=5e-3, h=1e-3).state(-1).V[1:, 0]


@pytest.mark.parametrize("options", [{"impacts": "plain"}, {"impacts": "split"}, {}], ids=str)
@pytest.mark.parametrize("restitution", [1.0, 0.95, 0.7])
def test_balls_that_drift_together_send_off_one_ball(options, restitution):
    """Gaps of 6 to 20 µm close within the step, at 1e-3 of the speed of the impact: two balls left with half of it."""
    drift = [1.0e-3, -0.9e-3, -0.3e-3, 0.3e-3]
    speed = -1.0
    for own in reversed(drift):  # each pair by momentum and Newton's law
        speed = own - 0.5 * (1 + restitution) * (own - speed)
    velocities = row(drift, [2.07e-5, 5.8e-6, 5.6e-6, 6e-4], restitution, **options)
    assert velocities[0] == pytest.approx(speed, rel=5e-3)
    assert abs(velocities[1:]).max() < 0.2  # they may meet again


@pytest.mark.parametrize("h", [1e-3, 5e-4])
def test_a_lossy_cradle_returns_to_the_side_where_it_began(h):
    """Four balls swing slowly when the fifth comes back: the first one alone leaves, by ((1 + e)/2)⁴ of its speed."""
    e, model, balls = 0.95, fem.Model("cradle", gravity=[0, 0, -9.81]), []
    for k in range(5):
        x, angle = 2 * RADIUS * k, np.radians(30.0) if k == 0 else 0.0
        place = [x - LENGTH * np.sin(angle), 0, -LENGTH * np.cos(angle)]
        balls.append(model.add(fem.RigidBody.sphere(MASS, RADIUS, position=place)))
        model.add(fem.Revolute.at(model.ground, balls[-1], [x, 0, 0], axis=[0, 1, 0]))
    for first, second in pairwise(balls):
        model.add(fem.SphereOnSphere(first, second, radius_A=RADIUS, radius_B=RADIUS, restitution=e))
    result = fem.DecoupledNSGA().run(model, t_end=1.1, h=h)
    before, after = (result.state(result.at(t)).V[1:, 0] for t in (1.079, 1.085))
    assert after[0] == pytest.approx((0.5 * (1 + e)) ** 4 * before[4], rel=0.02)
    assert np.ptp(after[1:]) < 5e-3


def test_a_slow_impact_elsewhere_takes_no_notice_of_a_fast_one():
    """An elastic ball that falls on the floor in the step of a fast impact of two other bodies keeps its energy."""
    model = fem.Model("two places", gravity=[0, 0, -9.81])
    slow = fem.RigidBody.sphere(MASS, RADIUS, position=[0, 0, RADIUS + 1.0e-4], name="slow")
    fast = fem.RigidBody.sphere(MASS, RADIUS, position=[1, 0, RADIUS + 0.0452], velocity=[0, 0, -10.0], name="fast")
    model.add(slow, fast)
    for ball in (slow, fast):
        model.add(fem.SphereOnPlane(ball, model.ground, radius=RADIUS, restitution=1.0))
    result = fem.DecoupledNSGA(impacts="plain").run(model, t_end=6e-3, h=1e-3)
    kinetic, height = 0.5 * result["slow"].velocity[-1, 2] ** 2, result["slow"].position[-1, 2] - RADIUS
    assert result["fast"].velocity[-1, 2] > 9.0
    assert kinetic + 9.81 * height == pytest.approx(9.81e-4, rel=1e-3)


def test_which_contacts_wait_does_not_depend_on_their_order_in_the_model():
    """Approaches of 1, 0.05 and 0.003 m/s in a row: the slowest waits for the second, which waits for the first."""
    found = []
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        model, at = fem.Model("row"), np.cumsum([0, 2 * RADIUS + 1e-6, 2 * RADIUS + 1e-5, 2 * RADIUS + 3e-4])
        drift = (0.0, -0.003, -0.053, -1.053)
        balls = [fem.RigidBody.sphere(MASS, RADIUS, position=[x, 0, 0], velocity=[v, 0, 0]) for x, v in zip(at, drift)]
        model.add(*balls)
        radii = {"radius_A": RADIUS, "radius_B": RADIUS, "restitution": 0.9}
        pairs = [fem.SphereOnSphere(first, second, **radii) for first, second in pairwise(balls)]
        model.add(*(pairs[k] for k in order))
        result = fem.DecoupledNSGA(impacts="plain").run(model, t_end=1e-3, h=1e-3)
        found.append(result.state(-1).V[1:, 0])
    assert found[1] == pytest.approx(found[0], abs=1e-9) and found[2] == pytest.approx(found[0], abs=1e-9)
    assert found[0][0] == pytest.approx(-(0.95**3), rel=0.1)
