"""Impacts of bodies that closed contacts or friction of joints hold: supports act until the touch as they are there.

A split step is two problems: that of the time before the touch, and the impact, which lasts no time. The friction of a
floor or of a joint acts before the touch as it sticks or slides there, and in the impact by what the impact presses on
it. Speeds after the impact are compared with closed forms, for touches early and late in their step.
"""

import numpy as np
import pytest

import fem_mbs as fem

G, H = 9.81, 0.01  # m/s², s
PARTS = [0.05, 0.5, 0.95]  # of the step, at which the touch is
# default, and contacts that the smooth motion does not include
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
    model = fem.Model("impact on a block", gravity=[0, 0, -G])
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
def test_a_seesaw_hit_at_its_end_leaves_its_far_support_at_the_touch(solver, part):
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


# --- friction of joints ---------------------------------------------------------------------------------------------


def struck_slider(part, speed=0.0, restitution=0.5, **options):
    """A slider of 4 kg that a ball of 1 kg hits with 2 m/s, after ``part`` of the fifth step."""
    touch = 0.04 + part * H
    model = fem.Model("impact on a slider")
    slider = model.add(fem.RigidBody(4.0, 0.05, velocity=[speed, 0, 0], name="slider"))
    model.add(fem.Prismatic.at(model.ground, slider, [0, 0, 0], axis=[1, 0, 0], name="guide", **options))
    motion = {"position": [-2.0 * touch, 0, 0], "velocity": [speed + 2.0, 0, 0]}
    ball = model.add(fem.PointMass(1.0, fixed=("y", "z"), name="ball", **motion))
    model.add(fem.SphereOnPlane(ball, across(slider), radius=0.0, restitution=restitution))
    return model, touch


@both
@parts
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_slider_held_by_a_preload_slides_from_the_touch_on(solver, part, restitution):
    force = 10.0  # N
    model, touch = struck_slider(part, restitution=restitution, friction=fem.DryFriction(1.0, preload=force))
    result = solver.run(model, t_end=0.06, h=H, balance=True)
    since, after = result.t[-1] - touch, (1 + restitution) * 2.0 / 5.0
    mass = 4.0 if restitution else 5.0  # without restitution the ball stays in front of the slider, and brakes less
    assert result["slider"].velocity[:5, 0] == pytest.approx(0.0, abs=1e-12)
    if restitution == 0.0:
        # friction slows the slider, the ball pushes it: they move together
        assert result["ball"].velocity[-1, 0] == pytest.approx(result["slider"].velocity[-1, 0], abs=1e-12)
    way = after * since - 0.5 * force / mass * since**2
    assert result["slider"].velocity[-1, 0] == pytest.approx(after - force / mass * since, abs=1e-9)
    assert result["guide"].displacement[-1] == pytest.approx(way, abs=1e-9)
    friction, table = result["guide friction"], result.energy_table()
    assert friction.force[-1] == pytest.approx(-force, abs=1e-9)
    assert friction.dissipated[-1] == pytest.approx(force * way, abs=1e-9)
    assert table.work("guide friction", "friction") == pytest.approx(-force * way, abs=1e-9)
    assert table.numerical == pytest.approx(0.0, abs=1e-9)


@both
@parts
def test_a_motor_at_its_limit_pushes_from_the_touch_on(solver, part):
    """The slider follows its motor without effort, a ball makes it faster, and the motor brakes with its limit."""
    speed, limit = 0.7, 12.0
    model, touch = struck_slider(part, speed=speed, motor=fem.Motor(rate=speed, limit=limit))
    result = solver.run(model, t_end=0.06, h=H, balance=True)
    since, gained = result.t[-1] - touch, 1.5 * 2.0 / 5.0
    assert result["slider"].velocity[-1, 0] == pytest.approx(speed + gained - limit / 4.0 * since, abs=1e-9)
    assert result["guide motor"].effort[-1] == pytest.approx(-limit, abs=1e-9)
    table, way = result.energy_table(), speed * since + gained * since - 0.5 * limit / 4.0 * since**2
    assert table.work("guide motor") == pytest.approx(-limit * way, abs=1e-9)
    assert table.numerical == pytest.approx(0.0, abs=1e-12)


def struck_bar(part, solver, h=H, aside=0.0, friction=0.3):
    """Bar in a horizontal hinge whose friction is that of the reaction, hit at its end; its rate, closed form if
    its centre of mass is in the hinge, and the energy table."""
    M, J, arm, m, speed, radius = 2.0, 0.2, 0.5, 0.5, 1.5, 0.05
    touch = 0.04 + part * H
    model = fem.Model("impact on a bar", gravity=[0, 0, -G])
    bar = model.add(fem.RigidBody(M, J, position=[aside, 0, 0], name="bar"))
    law = fem.DryFriction(friction, radius=radius)
    model.add(fem.Revolute.at(model.ground, bar, [0, 0, 0], [0, 1, 0], name="hinge", friction=law))
    place = [arm, 0, speed * touch + 0.5 * G * touch**2]
    ball = model.add(fem.PointMass(m, position=place, velocity=[0, 0, -speed], fixed=("x", "y"), name="ball"))
    model.add(fem.SphereOnPlane(ball, bar.frame([-aside, 0, 0]), radius=0.0, restitution=0.5))
    result = solver.run(model, t_end=0.08, h=h, balance=True)
    lost, u = np.max(friction) * radius, speed + G * touch  # arm of friction; speed of the ball at the touch
    impulse = 1.5 * u / (arm * (arm - lost) / J + 1 / m)  # its reaction in the hinge presses as well
    rate = impulse * (arm - lost) / J - lost * M * G / J * (0.08 - touch)
    return result["bar"].angular_velocity[-1, 1], rate, result


@both
@parts
def test_friction_of_a_loaded_hinge_acts_in_the_impact_by_the_reaction_of_the_impact(solver, part):
    rate, expected, result = struck_bar(part + 0.03, solver)
    assert rate == pytest.approx(expected, abs=1e-9)
    table, taken = result.energy_table(), result["hinge friction"].dissipated[-1]
    assert table.work("hinge friction", "friction") == pytest.approx(-taken, abs=1e-12)
    assert table.numerical == pytest.approx(0.0, abs=1e-12)


@parts
def test_a_bar_held_by_static_friction_and_hit_is_of_second_order(part):
    """Its weight would turn it against sliding friction, which is three quarters of static friction."""
    solver, h = fem.DecoupledNSGA(impacts="split"), np.array([0.01, 0.005, 0.0025])
    rates = np.array([struck_bar(part + 0.03, solver, step, 0.017, (0.4, 0.3))[0] for step in [*h, 0.000625]])
    error = np.abs(rates[:-1] - rates[-1])
    assert error[0] < 4e-6  # 2.7e-6 rad/s measured
    assert error[:-1] / error[1:] == pytest.approx(4.1, abs=0.5)  # 4.1: the reference has an error too
