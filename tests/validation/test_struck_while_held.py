"""Impacts of bodies that other closed contacts hold: supports act until the touch, not as they are after it.

A split step is two problems: that of the time before the touch, and the impact, which lasts no time. The friction of a
floor acts before the touch as it sticks or slides there, and in the impact by what the impact presses on it. Speeds
after the impact are compared with closed forms, for touches early and late in their step.
"""

import numpy as np
import pytest

import fem_mbs as fem

G, H = 9.81, 0.01  # m/s², s
PARTS = [0.05, 0.5, 0.95]  # of the step, at which the touch is
# default, and contacts that the smooth motion does not know
SOLVERS = [fem.DecoupledNSGA(), fem.DecoupledNSGA(impacts="split", persistent_contacts=False)]

both = pytest.mark.parametrize("solver", SOLVERS, ids=["default", "split alone"])
parts = pytest.mark.parametrize("part", PARTS)


def across(body):
    """Frame of a body whose plane faces −x."""
    return body.frame([0, 0, 0], [0, -np.pi / 2, 0])


@both
@parts
def test_a_block_held_by_friction_slides_from_the_touch_on(solver, part):
    M, m, mu, e, speed = 4.0, 1.0, 0.5, 0.5, 2.0
    touch = 0.04 + part * H
    model = fem.Model("struck block", gravity=[0, 0, -G])
    block = model.add(fem.RigidBody(M, 0.05, fixed=("y", "rx", "ry", "rz"), name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=mu, name="floor"))
    ball = fem.PointMass(m, position=[-speed * touch, 0, 0], velocity=[speed, 0, 0], fixed=("y", "z"), name="ball")
    model.add(ball)
    model.add(fem.SphereOnPlane(ball, across(block), radius=0.0, restitution=e))
    result = solver.run(model, t_end=0.1, h=H)
    expected = m * (1 + e) * speed / (M + m) - mu * G * (result.t[-1] - touch)
    assert result["block"].velocity[-1, 0] == pytest.approx(expected, abs=1e-9)


@both
@parts
def test_a_ball_that_rolls_against_a_wall_keeps_its_spin_at_the_touch(solver, part):
    R, mu, e, speed = 0.05, 0.25, 0.7, 1.0
    touch = 0.04 + part * H
    model = fem.Model("rolling ball", gravity=[0, 0, -G])
    motion = {"velocity": [speed, 0, 0], "angular_velocity": [0, speed / R, 0]}
    ball = model.add(fem.RigidBody.sphere(0.2, R, position=[0, 0, R], fixed=("y", "rx", "rz"), name="ball", **motion))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=R, friction=mu, name="floor"))
    wall = model.ground.frame([speed * touch + R, 0, 0], [0, -np.pi / 2, 0])
    model.add(fem.SphereOnPlane(ball, wall, radius=R, restitution=e, name="wall"))
    result = solver.run(model, t_end=0.1, h=H)
    since = result.t[-1] - touch
    assert result["ball"].velocity[-1, 0] == pytest.approx(-e * speed + mu * G * since, abs=1e-9)
    assert result["ball"].angular_velocity[-1, 1] == pytest.approx(speed / R - mu * G * since / (0.4 * R), abs=1e-7)


@both
@parts
def test_a_seesaw_struck_at_its_end_leaves_its_far_support_at_the_touch(solver, part):
    """A plank on two supports without friction: the near one takes its share of the impulse, the far one opens."""
    a, b, M, J, m, e, speed = 0.3, 0.8, 4.0, 1.0, 1.0, 0.5, 1.0
    touch = 0.04 + part * H
    model = fem.Model("seesaw", gravity=[0, 0, -G])
    plank = model.add(fem.RigidBody(M, J, fixed=("x", "y", "rx", "rz"), name="plank"))
    for side in (1, -1):
        model.add(fem.SphereOnPlane(plank.frame([side * a, 0, 0]), model.ground, radius=0.0))
    height = speed * touch + 0.5 * G * touch**2
    ball = fem.PointMass(m, position=[b, 0, height], velocity=[0, 0, -speed], fixed=("x", "y"), name="ball")
    model.add(ball)
    model.add(fem.SphereOnPlane(ball, plank, radius=0.0, restitution=e))
    result = solver.run(model, t_end=0.06, h=H)
    about = J + M * a**2
    impulse = (1 + e) * (speed + G * touch) / (1 / m + (b - a) ** 2 / about)
    expected = (impulse * (b - a) - M * G * a * (result.t[-1] - touch)) / about
    # the plank turns by some 0.01 rad after it, which changes the arm of its weight by 1e-4
    assert result["plank"].angular_velocity[-1, 1] == pytest.approx(expected, abs=2e-4)


@both
@parts
def test_a_wheel_that_rolls_against_a_kerb_turns_about_it(solver, part):
    R, height, M, speed, small = 0.3, 0.06, 20.0, 1.2, 1e-3
    J, touch, d = 0.5 * M * R**2, 0.04 + part * H, R + small
    ahead = np.sqrt(d**2 - (R - height) ** 2)
    model = fem.Model("kerb", gravity=[0, 0, -G])
    motion = {"velocity": [speed, 0, 0], "angular_velocity": [0, speed / R, 0]}
    place = [-speed * touch - ahead, 0, R]
    wheel = model.add(fem.RigidBody(M, J, position=place, fixed=("y", "rx", "rz"), name="wheel", **motion))
    model.add(fem.SphereOnPlane(wheel, model.ground, radius=R, friction=2.0, name="floor"))
    edge = model.ground.frame([0, 0, height])
    model.add(fem.SphereOnSphere(wheel, edge, radius_A=R, radius_B=small, friction=5.0, name="kerb"))
    result = solver.run(model, t_end=0.05, h=H)
    # momentum about the kerb is kept, then its weight slows the wheel; it climbs by up to 2 degrees
    after = (J * speed / R + M * speed * R * (R - height) / d) / (J + M * R**2)
    slows = M * G * R * ahead / d / (J + M * R**2)
    expected = after - slows * (result.t[-1] - touch)
    assert result["wheel"].angular_velocity[-1, 1] == pytest.approx(expected, abs=6e-3)
    assert result["floor"].impulse[-1] == pytest.approx(np.array([M * G * part * H, 0, 0]), abs=1e-9)
