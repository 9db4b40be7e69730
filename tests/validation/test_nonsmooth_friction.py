"""NonsmoothGeneralizedAlphaFriction: orders of forces, stick and slip; digits of an independent prototype.

Digits are printed ones of the same equations with three-dimensional bodies. ``approach="start"`` is Newton's law as
published. The examples of Capobianco2021 are compared in tests of `fem_mbs.cases`.
"""

from functools import cache

import double_pendulum
import driven_double_pendulum
import loaded_ball
import numpy as np
import pytest
from pendulum_errors import LATER, NODES, TIGHT, TIMES, driven_motion, free_motion, pendulum_errors, steps
from references import rotation_error

import fem_mbs as fem
from fem_mbs.errors import ParameterError

METHOD = fem.NonsmoothGeneralizedAlphaFriction
STEPS = np.array([2e-2, 1e-2, 5e-3, 2.5e-3])
mass, radius, gravity = 1.0, 0.1, 9.81  # kg, m, m/s²: ball of the source


# --- smooth motion ----------------------------------------------------------------------------------------------------


@cache
def free(rho_inf, h):
    return METHOD(rho_inf, rtol=TIGHT).run(double_pendulum.build(), 0.5, h)


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
def test_smooth_motion_is_second_order_in_all_quantities(rho_inf):
    errors = np.array([pendulum_errors(free(rho_inf, h), free_motion(), NODES["com"])[0] for h in STEPS])
    slopes = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
    assert np.abs(slopes - 2.0).max() < 0.06, slopes
    # those of the method of two levels, to two digits: 2.4e-4 m, 3.8e-4 rad, 1.8e-2 N for ρ 0.8, six times those for 0
    factor, spread = (1.0, 0.05) if rho_inf == 0.8 else (6.0, 0.1)
    assert errors[2, [0, 1]] == pytest.approx(factor * np.array([2.4e-4, 3.8e-4]), rel=spread), errors


def test_joints_hold_in_positions_velocities_and_accelerations():
    result = free(0.8, 5e-3)
    assert result.violation.position.max() < 2e-13 and result.violation.velocity.max() < 1e-11
    # the joint moves on a circle: centre 1 keeps its distance from joint 1, ẍ·x + ẋ·ẋ = 0 with the centripetal part
    body = result["body 1"]
    rate = np.sum(body.acceleration * body.position, axis=1) + np.sum(body.velocity**2, axis=1)
    assert np.abs(rate).max() < 1e-7


def test_driven_pendulum_and_its_moment_are_second_order():
    motion, moment = driven_motion()
    errors = []
    for h in STEPS[1:]:
        result = METHOD(0.8, rtol=TIGHT).run(driven_double_pendulum.build(), 0.5, h)
        count = steps(0.5, TIMES[1]) + 1
        motions = pendulum_errors(result, motion, NODES["off"], moment[:count])[0]
        drive = np.abs(result["driver"].moment[steps(TIMES[:count], h)] - moment[:count])
        errors.append([*motions, drive[LATER[:count]].max()])
    orders = np.log2(np.array(errors[-2]) / errors[-1])
    assert np.abs(orders - 2.0).max() < 0.06, (orders, errors)


# --- ball that spins and bounces, 3.1 ---------------------------------------------------------------------------------


def ball(spin, restitution, t_end, rotation=(0.0, 0.0, 0.0)):
    """Results of a ball that falls from 1 m, with its node axes turned."""
    model = fem.Model("ball", gravity=[0, 0, -gravity])
    body = fem.RigidBody(mass, 0.004, position=[0, 0, 1], rotation=rotation, angular_velocity=[0, spin, 0], name="ball")
    model.add(body)
    law = {"restitution": restitution, "friction": 0.2}
    model.add(fem.SphereOnPlane(body, model.ground, radius=radius, name="table", **law))
    return METHOD(0.5, approach="start").run(model, t_end, 2e-3)


def test_the_ball_bounces_to_rest_as_that_of_the_prototype():
    result = ball(0.0, 0.5, 1.5)
    table = result["table"]
    hits = np.flatnonzero(table.impact)[:6]
    assert result.t[hits] == pytest.approx([0.430, 0.860, 1.074, 1.180, 1.232, 1.258], abs=1e-12)
    # Λ_N = P_N − h γ c λ_N, and λ_N = m g in the step of an impact too
    smooth = 2e-3 * (5 / 6) / 1.5 * mass * gravity
    impulse = table.impulse[hits, 0] - smooth
    assert impulse == pytest.approx([6.307, 3.158, 1.554, 0.767, 0.366, 0.184], abs=6e-4)
    rests = result.t > 1.35
    assert table.force_normal[rests] == pytest.approx(mass * gravity, rel=1e-9)
    assert table.gap.min() > -1e-12 and np.abs(result["ball"].velocity[-1]).max() < 1e-10
    assert result.iterations.max[0] <= 4 and not result.warnings


@pytest.mark.parametrize("rotation", [(0.0, 0.0, 0.0), (0.4, -0.3, 0.5)])
def test_a_spinning_ball_slides_after_its_impact_then_rolls(rotation):
    result = ball(50.0, 0.0, 1.1, rotation)
    table, body = result["table"], result["ball"]
    k = np.flatnonzero(table.impact)
    assert result.t[k] == pytest.approx([0.430])
    smooth = 2e-3 * (5 / 6) / 1.5 * mass * gravity
    friction = np.abs(table.impulse[k[0], 1:]).max()
    assert table.impulse[k[0], 0] - smooth == pytest.approx(4.20740, abs=6e-6)
    assert friction - 0.2 * smooth == pytest.approx(0.84148, abs=6e-6)
    size = np.linalg.norm(table.force_tangential, axis=1)
    slides, rolls = (result.t > 0.429) & (result.t < 0.7285), result.t > 0.7285
    assert size[slides] == pytest.approx(1.962, rel=1e-9) and size[rolls].max() < 1e-6
    assert set(table.status[slides]) == {2} and set(table.status[rolls]) == {1}
    assert np.abs(body.velocity[-1, 0]) == pytest.approx(1.4285714, abs=6e-8)
    turns = np.linalg.norm(body.angular_velocity[-1])
    assert turns == pytest.approx(14.2857143, abs=6e-8) and result.iterations.max[0] <= 3


def test_a_spinning_ball_that_sticks_in_its_impact_has_no_friction_afterwards():
    result = ball(10.0, 0.0, 1.1, (0.4, -0.3, 0.5))
    table = result["table"]
    k = np.flatnonzero(table.impact)[0]
    assert np.abs(table.impulse[k, 1:]).max() == pytest.approx(0.285714, abs=6e-7)
    assert np.abs(table.impulse[k + 1 :, 1:]).max() < 1e-8 and np.abs(table.force_tangential).max() < 1e-6


# --- contacts that last -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slides", [False, True])
def test_a_loaded_ball_is_second_order_in_all_quantities_and_in_the_contact_force(slides):
    """Also where the direction of sliding turns: with friction along that of the step's end it would be first order."""
    errors = []
    for h in STEPS:
        result = METHOD(0.8, rtol=1e-9).run(loaded_ball.loaded_ball(slides), loaded_ball.duration, h)
        position, rotation, velocity, force = loaded_ball.motion(result.t, slides)
        body, table = result["ball"], result["table"]
        tangential = np.linalg.norm(table.force_tangential, axis=1)
        errors.append([
            np.abs(body.position - position).max(),
            rotation_error(body.rotation, rotation),
            np.abs(body.velocity - velocity).max(),
            np.abs(table.force_normal - force)[1:].max(),
        ])  # fmt: skip
        if slides:
            assert tangential[1:] == pytest.approx(loaded_ball.friction * table.force_normal[1:], rel=1e-6)
        assert table.gap.min() > -1e-12 and np.all(table.force_normal[1:] > 0)
    slopes = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
    assert np.abs(slopes - 2.0).max() < 0.05, (slopes, errors)


def test_memories_of_forces_and_accelerations_follow_the_step_size_together():
    """Where a step is taken in parts ā and λ̄ stay as far from a and λ as steps of that size would leave them."""
    engine = METHOD(0.8).prepare(loaded_ball.loaded_ball(True).compile(), 1e-2)
    engine.advance(np.arange(1, 11) * 1e-2, np.zeros((10, 1, 1, 3)), engine.make_records(10))
    a = engine.arrays
    before = a["Va0"] - a["Vd0"], a["bar0"] - a["lam_c0"]
    assert all(np.abs(difference).max() > 1e-3 for difference in before)
    engine.method.rescale(engine, 0.25, None)
    for difference, now in zip(before, (a["Va0"] - a["Vd0"], a["bar0"] - a["lam_c0"])):
        assert now == pytest.approx(0.25 * difference, abs=1e-12)


# --- what it does not know --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["rolling_resistance", "spinning_resistance", "radius_contensou"])
def test_resistance_to_turning_is_refused_by_name(law):
    model = fem.Model("turns", gravity=[0, 0, -gravity])
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.2], name="ball"))
    options = {"friction": 0.3, law: 1e-3}
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, name="table", **options))
    with pytest.raises(ParameterError, match=r"table.*DecoupledNSGA"):
        METHOD().run(model, 0.1, 1e-3)
