"""The energy table of joints: friction, stops, motors, states of first order, controllers and switches.

The rest, "numerical", is round-off where forces are constant, at any ρ∞: of 1e-8 of the works that the issue
of joints asks for, tests have 1e-12.
"""

import numpy as np
import pytest

import fem_mbs as fem

DEFAULT = fem.DecoupledNSGA().rho_inf
CLOSED = 1e-12  # of the works: round-off of a few hundred steps; 1e-14 measured


def wheel(spin=2.0, load=0.0, friction=1.0, preload=0.6, speed=0.0, **options):
    """A wheel of 0.3 kg m² in a hinge with a friction of 0.6 N m, with a constant load."""
    model = fem.Model("wheel")
    body = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], angular_velocity=[0, 0, spin], name="wheel"))
    hinge = model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge", **options))
    model.add(fem.JointFriction(hinge, friction, preload=preload, speed=speed, name="brake"))
    model.add(fem.PointMoment(body, [0, 0, load], name="load"))
    return model


def table(model, t_end=2.0, h=1e-2, rho=1.0, **options):
    result = fem.DecoupledNSGA(rho_inf=rho, rtol=1e-12, **options).run(model, t_end, h, balance=True)
    return result, result.energy_table()


def left_over(found):
    """Of the works."""
    return abs(found.numerical) / sum(abs(line.work) for line in found.lines)


@pytest.mark.parametrize("rho", [1.0, DEFAULT])
def test_friction_of_a_joint_takes_its_bound_times_the_multi_turn_angle(rho):
    """20 rad/s against 0.6 − 0.3 N m: it turns 200 rad, and stops within a step."""
    result, found = table(wheel(20.0, 0.3), 21.0, 0.03, rho)
    angle, sliding = result["hinge"].angle, result.energy_table(0.0, 19.5)
    assert angle[-1] == pytest.approx(0.5 * 0.3 * 400 / 0.3, rel=1e-5) and abs(result["hinge"].rate[-1]) < 1e-10
    assert sliding.work("brake", "friction") == pytest.approx(-0.6 * angle[result.at(19.5)], rel=1e-12)
    # in the step that stops the way of the scheme is that of its smooth motion: 0.03² × 1 rad/s² / 2 at most
    assert found.work("brake", "friction") == pytest.approx(-0.6 * angle[-1], abs=0.6 * 4.5e-4)
    assert found.work("load") == pytest.approx(0.3 * angle[-1], rel=1e-12)
    assert left_over(found) < CLOSED and left_over(sliding) < CLOSED


@pytest.mark.parametrize("rho", [1.0, DEFAULT])
def test_the_table_closes_where_sliding_reverses_with_static_friction(rho):
    result, found = table(wheel(2.0, -0.9, friction=(1.0, 0.6)), rho=rho)
    way = np.abs(np.diff(result["hinge"].angle)).sum()
    assert result["hinge"].rate[-1] < -1.0 and left_over(found) < CLOSED
    # in the step that reverses both differ by its way at most: 0.01² × 4 rad/s² × 0.36 N m
    assert found.work("brake") == pytest.approx(-0.36 * way, abs=3e-4)
    assert result["brake"].dissipated[-1] == pytest.approx(0.36 * way, abs=3e-4)


@pytest.mark.parametrize("rho", [1.0, DEFAULT])
def test_stops_with_restitution_and_friction_take_what_newtons_law_says(rho):
    """Each impact takes (1 − e²) of what friction has left; it stops between the stops."""
    e, limit = 0.6, 1.0
    _, found = table(wheel(6.0, stops=fem.Stops(-limit, limit, restitution=e)), rho=rho)
    assert left_over(found) < CLOSED
    assert found.total("friction") + found.total("impact") == pytest.approx(-5.4, rel=1e-12)
    energy, way = 5.4, limit  # J
    struck = {"upper": 0.0, "lower": 0.0}
    for side in ("upper", "lower", "upper"):
        energy -= 0.6 * way
        if energy < 0.0:
            break
        struck[side] -= (1 - e * e) * energy
        energy, way = e * e * energy, 2 * limit
    for side, work in struck.items():  # hit up to a step late: 0.01 s of 6 rad/s and 0.6 N m
        assert found.work(f"hinge {side} stop", "impact") == pytest.approx(work, abs=0.05)


def test_a_joint_that_is_pressed_against_its_stop_does_no_work():
    """1.5 N m against 0.6 N m push the wheel to its stop at 1 rad, where it stays for 8 s; then a servo does."""
    _, found = table(wheel(0.0, 1.5, stops=fem.Stops(-1.0, 1.0)), 10.0)
    assert found.work("brake") == pytest.approx(-0.6, abs=0.6 * 0.02)  # hits up to a step late: 0.02 rad
    model = wheel(0.0, preload=0.1, motor=fem.Motor(rate=3.0, limit=1.5), stops=fem.Stops(-1.0, 0.0))
    _, found = table(model, 2.0)
    assert np.abs([line.work for line in found.lines]).max() < 1e-12 and abs(found.numerical) < 1e-12


@pytest.mark.parametrize("rho", [1.0, DEFAULT])
def test_a_clutch_gives_the_work_of_its_surface_and_takes_that_of_slip(rho):
    """0.6 N m bring it to 3 rad/s in 1.5 s: 0.6 × 4.5 rad of the surface, half of it heat."""
    _, found = table(wheel(0.0, speed=3.0), rho=rho)
    assert found.work("brake", "driver") == pytest.approx(2.7, rel=1e-10)
    assert found.work("brake", "friction") == pytest.approx(-1.35, rel=1e-10)
    assert left_over(found) < CLOSED


@pytest.mark.parametrize("motor", [{"rate": lambda t: 3.0 * t}, {"position": lambda t: 1.5 * t * t}])
@pytest.mark.parametrize("rho", [1.0, DEFAULT])
def test_a_motor_supplies_friction_loss_and_kinetic_energy(motor, rho):
    """To 6 rad/s and 6 rad in 2 s: 5.4 J and 0.6 × 6 J."""
    _, found = table(wheel(0.0, motor=fem.Motor(**motor)), rho=rho)
    assert found.work("hinge motor", "driver") == pytest.approx(9.0, rel=1e-9)
    assert found.work("brake") == pytest.approx(-3.6, rel=1e-9) and left_over(found) < 1e-9


def test_the_rest_of_a_motor_that_reverses_falls_with_the_fourth_power_of_the_step():
    """ρ∞ = 1. At the default it is what the scheme dissipates, and falls with the second."""
    left = {}
    for rho in (1.0, DEFAULT):
        for h in (1e-2, 5e-3):
            motor = fem.Motor(position=lambda t: 0.5 * np.sin(3.0 * t))
            left[rho, h] = left_over(table(wheel(1.5, motor=motor), h=h, rho=rho)[1])
    assert left[1.0, 5e-3] < 1e-8 and left[1.0, 1e-2] / left[1.0, 5e-3] > 12.0, left
    assert left[DEFAULT, 1e-2] < 1e-5, left


def test_rates_of_states_of_first_order_are_no_work():
    """A torque of 40 N m e^(−5t) by a state: 8 N m s, and what it does to a wheel that turns freely."""
    model = fem.Model("lag")
    body = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], angular_velocity=[0, 0, 2.0], name="wheel"))
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.StateSpace(-5.0, 0.0, inputs=[0.0], acts_on=[fem.Coordinate(body, "rz")], start=[40.0], name="lag"))
    _, found = table(model, 2.0, 1e-3)
    end = 2.0 + 8.0 * (1 - np.exp(-10.0)) / 0.3
    assert found.work("lag", "load") == pytest.approx(0.15 * (end**2 - 4.0), rel=1e-5) and left_over(found) < CLOSED


def test_a_held_torque_works_with_the_value_that_it_has_in_a_step():
    """Torques of 1, −2, 3, … N m, 0.1 s each: they begin with the steps, not half a step before."""
    model = wheel(0.0, preload=0.1)
    steps = fem.Controller(lambda t, y: (-1.0) ** round(10 * t) * (1.0 + round(10 * t)), 0.1, name="steps")
    model.add(fem.PointMoment(model["wheel"], [0, 0, 1], signal=steps.output(), name="held"))
    model.add(steps)
    _, found = table(model, 1.0, 1e-2)
    assert abs(found.work("held")) > 0.05 and left_over(found) < CLOSED


def test_what_is_off_does_no_work_and_switches_have_their_line():
    """A torque of 0.6 N m for 1 s brings the wheel to 2 rad/s; a lock at 1.5 s takes the 0.6 J."""
    model = fem.Model("switched")
    body = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], name="wheel"))
    hinge = model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.PointMoment(body, [0, 0, 0.6], name="torque"), intervals=[(0.0, 1.0)])
    model.add(fem.Lock(hinge, intervals=[(1.5, 5.0)], name="lock"))
    result, found = table(model, 2.0, 1e-2)
    assert found.work("torque") == pytest.approx(0.6, rel=1e-12) and left_over(found) < CLOSED
    assert found.work("switches", "switch") == pytest.approx(-0.6, rel=1e-10)
    assert abs(result["hinge"].rate[-1]) < 1e-10


def test_friction_that_does_not_settle_leaves_that_of_other_mechanisms_alone():
    """A slide that rests jammed on its stop, in millimetres; next to it a clutch that holds what it can hold."""

    def clutch(model, s, T):
        wheel = fem.RigidBody(s**3, 0.01 * s**5, position=[0, 3 * s, 0], name="wheel")
        axle = fem.Revolute.at(model.ground, wheel, [0, 3 * s, 0], [0, 0, 1], name="axle")
        model.add(wheel, axle, fem.JointEffort(axle, lambda t: 0.9 * np.sin(9 * t / T) * s**4, name="load"))
        model.add(fem.JointFriction(axle, (1.0, 0.6), preload=s**4, name="clutch"))

    s = 1e-3
    T = np.sqrt(s)
    model = fem.Model("slide", gravity=[0, 0, -9.81])
    arm = fem.RigidBody(s**3, 0.02 * s**5, position=[0.3 * s, 0, 0], name="arm")
    slide = fem.RigidBody(0.5 * s**3, 0.01 * s**5, position=[0.6 * s, 0, 0], name="slide")
    motor = fem.Motor(rate=lambda t: 2 * np.sin(4 * t / T) / T, limit=2.0 * s**4)
    dry = fem.DryFriction((0.3, 0.2), radius=0.02 * s, preload=0.5 * s**4)
    model.add(arm, slide)
    limits = fem.Stops(-0.5, 0.6, restitution=0.4)
    model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 1, 0], stops=limits, motor=motor, friction=dry))
    stops = {"displacement": fem.Stops(-0.1 * s, 0.05 * s, restitution=0.6), "angle": fem.Stops(-0.3, 0.4)}
    rub, spring = {"displacement": fem.DryFriction(0.1, length=0.1 * s)}, {"displacement": 20.0 * s**2}
    axis = [1, 0, 0]
    model.add(fem.Cylindrical.at(arm, slide, [0.5 * s, 0, 0], axis, stops=stops, friction=rub, stiffness=spring))
    clutch(model, s, T)
    result = fem.DecoupledNSGA().run(model, 2.0 * T, 4e-3 * T)
    assert np.abs(result["axle"].angle).max() < 1e-9 and np.abs(result["clutch"].status).max() == 0.0
