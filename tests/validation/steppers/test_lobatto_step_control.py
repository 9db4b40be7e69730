"""Steps of variable size with LobattoIIIAB: the error that it estimates, orders, contacts, the limit of stability."""

import double_pendulum
import numpy as np
import pytest
import references
from test_lobatto import free_top
from test_lobatto_failures import hanging_rod

import fem_mbs as fem

NODES = double_pendulum.center_1, double_pendulum.center_2
g = 9.81


def pendulum_error(result):
    (motion,) = references.double_pendulum_motion(np.array([0.0, 0.5]))[1:]
    return float(references.rotation_error(result["body 2"].rotation[-1:], np.array([motion.R2])))


def estimate(stages, h):
    """The estimate of a step, and its result."""
    method = fem.LobattoIIIAB(stages, rtol=1e-13)
    engine = method.prepare(free_top().compile(), h)
    _, _, error = engine.march.advance(np.array([h]), engine.make_records(1))
    assert error is None
    return method.local_error(engine, h, None), engine


def test_the_estimate_of_two_stages_is_the_error_of_the_step():
    ratios = []
    for h in (0.04, 0.02):
        estimated, engine = estimate(2, h)
        exact = fem.LobattoIIIAB(4, rtol=1e-13).run(free_top(), h, h / 8)["top"].rotation[-1]
        missed = fem.rotations.log(exact.T @ engine.state().R[-1])
        ratios.append(estimated / (engine.system.length * np.abs(missed).max()))
    # both are h³ to leading order
    assert ratios[1] == pytest.approx(1.0, abs=0.05) and abs(ratios[1] - 1) < 0.7 * abs(ratios[0] - 1)


@pytest.mark.parametrize("stages, order", [(2, 3), (3, 5), (4, 5), (6, 5)])
def test_the_estimate_falls_with_the_power_of_the_step_that_the_next_one_is_chosen_by(stages, order):
    one, half = (estimate(stages, h)[0] for h in (0.04, 0.02))
    assert np.log2(one / half) == pytest.approx(order, abs=0.1)
    assert fem.LobattoIIIAB(stages).error_order == order


@pytest.mark.parametrize("stages, tolerances", [(2, (1e-6, 1e-7)), (3, (1e-7, 1e-9))])
def test_the_error_follows_the_tolerance_with_as_many_steps_as_equal_ones_need(stages, tolerances):
    errors, steps = [], []
    for tolerance in tolerances:
        control = fem.StepControl(tolerance=tolerance, h_max=0.1)
        method = fem.LobattoIIIAB(stages, rtol=1e-12, step_control=control)
        result = method.run(double_pendulum.build(*NODES), 0.5, 1e-3)
        assert result.t[-1] == pytest.approx(0.5, abs=1e-12) and result.h.max() > 3e-3
        errors.append(pendulum_error(result))
        steps.append(len(result.t) - 1)
    order = 2 * stages - 2
    assert np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0]) == pytest.approx(order, rel=0.15)
    equal = fem.LobattoIIIAB(stages, rtol=1e-12).run(double_pendulum.build(*NODES), 0.5, 0.5 / steps[1])
    assert errors[1] < 1.5 * pendulum_error(equal)


def test_the_error_of_three_stages_follows_the_tolerance_where_forces_depend_on_positions():
    errors, steps = [], []
    for tolerance in (1e-6, 1e-8):
        model = fem.Model("oscillator", gravity=[0, 0, 0])
        mass = model.add(fem.PointMass(1.0, position=[1.5, 0, 0], name="mass"))
        model.add(fem.Spring(model.ground, mass, stiffness=400.0, free_length=1.0, name="spring"))
        control = fem.StepControl(tolerance=tolerance, h_max=0.2)
        result = fem.LobattoIIIAB(3, rtol=1e-13, step_control=control).run(model, 1.0, 1e-3)
        errors.append(abs(result["mass"].position[-1, 0] - 1.0 - 0.5 * np.cos(20.0)))
        steps.append(len(result.t) - 1)
    assert errors[0] < 50 * 1e-6 and errors[1] < 100 * 1e-8  # of 100 and 240 steps
    assert np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0]) == pytest.approx(4, rel=0.15)


def test_a_stop_that_begins_to_act_within_a_step_is_resolved_by_three_stages():
    """An elastic impact: its force has a corner, of which Hermite's formula sees nothing."""
    model = fem.Model("bounce", gravity=[0, 0, -g])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.12], velocity=[0, 0, -1.0], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=1e5, model="hooke"))
    control = fem.StepControl(tolerance=1e-8, h_max=5e-3)
    energy = fem.LobattoIIIAB(3, step_control=control).run(model, 0.15, 1e-4).energy
    assert abs(np.ptp(energy.total)) < 1e-3 * energy.kinetic.max()


def test_contacts_have_the_users_step_and_flights_longer_ones():
    h = 1e-3
    model = fem.Model("ball", gravity=[3.0 * g, 0, -g])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, friction=0.3, name="table"))
    control = fem.StepControl(tolerance=1e-9, h_max=0.02)
    result = fem.LobattoIIIAB(3, step_control=control).run(model, 1.5, h)
    acts = result["table"].impulse[:, 0] > 0
    assert acts.sum() > 300 and result.h[acts].max() < h * (1 + 1e-6)
    assert result.h.max() == pytest.approx(0.02) and result["table"].gap.min() > -1e-12
    assert result.t[np.argmax(acts)] == pytest.approx(np.sqrt(1.0 / g), abs=h)
    # flights are parabolas: a step costs nothing, and all that is left is where it falls on the impact
    assert result.statistics["steps_too_large_for_contact"] >= 2
    assert result.statistics["inaccurate_steps"] == 0


def test_steps_that_fail_are_halved_and_all_parts_are_saved():
    result = fem.LobattoIIIAB(2, step_control=fem.StepControl()).run(hanging_rod(), 0.1, 2e-3)
    assert result.statistics["failed_steps"] > 0
    assert result.h[1:].min() < 1e-3 and result.h.max() == pytest.approx(2e-3)
    np.testing.assert_allclose(np.diff(result.t), result.h[1:], rtol=1e-9)


def test_steps_do_not_grow_beyond_the_limit_of_stability():
    model = fem.Model("spring", gravity=[0, 0, 0])
    mass = model.add(fem.PointMass(1.0, position=[1.0, 0, 0], name="mass"))
    model.add(fem.Spring(model.ground, mass, stiffness=1e4, free_length=1.0, name="spring"))
    # at rest there is no error that would keep steps small
    method = fem.LobattoIIIAB(2, step_control=fem.StepControl(tolerance=1e-3))
    result = method.run(model, 1.0, 1e-3)
    assert 0.9 * 2.0 / 100.0 < result.h.max() < 2.0 / 100.0
    assert np.abs(result["mass"].velocity).max() < 1e-12
