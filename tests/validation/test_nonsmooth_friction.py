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
import random_models
import tippe_top
from pendulum_errors import LATER, NODES, TIGHT, TIMES, driven_motion, free_motion, pendulum_errors, steps
from references import rotation_error

import fem_mbs as fem

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
    # the prototype's Λ_N = P_N − h γ c λ_N, with λ_N = m g in the step of an impact too
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
            np.abs(table.force_normal - force).max(),  # the start too
        ])  # fmt: skip
        if slides:
            assert tangential == pytest.approx(loaded_ball.friction * table.force_normal, rel=1e-6)
        assert table.gap.min() > -1e-12 and np.all(table.force_normal > 0)
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


# --- rolling, spinning, drilling --------------------------------------------------------------------------------------

heavy, wide, resistance = 2.0, 0.2, 0.01  # kg, m, m: ball that turns on a table


def turning_ball(velocity, spin, t_end, h, slope=0.0, **law):
    """Results of a ball on a plane inclined by ``slope`` [rad] about y, in axes of the plane; it does not slide."""
    model = fem.Model("ball", gravity=[gravity * np.sin(slope), 0, -gravity * np.cos(slope)])
    ball = fem.RigidBody.sphere(
        heavy, wide, position=[0, 0, wide], velocity=velocity, angular_velocity=spin, name="ball"
    )
    model.add(ball)
    model.add(fem.SphereOnPlane(ball, model.ground, radius=wide, friction=0.8, name="floor", **law))
    return METHOD(0.8, rtol=1e-9).run(model, t_end, h)


def test_resistance_to_rolling_stops_a_ball_when_the_closed_form_says():
    h, moment = 1e-2, resistance * heavy * gravity
    result = turning_ball([1, 0, 0], [0, 1 / wide, 0], 3.5, h, rolling_resistance=resistance)
    slows = resistance * gravity / (1.4 * wide)  # of 7/5 m, with the moment over the radius
    floor, rolls, stop = result["floor"], result.t < 1 / slows - h, 1 / slows
    assert result["ball"].velocity[rolls, 0] == pytest.approx(1 - slows * result.t[rolls], abs=1e-9)
    assert np.linalg.norm(floor.moment[rolls], axis=1) == pytest.approx(moment, rel=1e-9)  # the start too
    assert floor.force_normal == pytest.approx(heavy * gravity, rel=1e-9)
    rests = result.t > stop + 2 * h
    assert np.abs(result["ball"].velocity[rests]).max() < 1e-10 and np.abs(floor.moment[rests]).max() < 1e-9
    assert result["ball"].position[-1, 0] == pytest.approx(0.5 * stop, abs=slows * h**2)


def test_resistance_to_spinning_stops_a_ball_when_the_closed_form_says():
    h, spin = 1e-2, 6.0
    result = turning_ball([0, 0, 0], [0, 0, spin], 1.5, h, spinning_resistance=resistance)
    slows = resistance * gravity / (0.4 * wide**2)
    floor, spins = result["floor"], result.t < spin / slows - h
    assert result["ball"].angular_velocity[spins, 2] == pytest.approx(spin - slows * result.t[spins], abs=1e-8)
    assert floor.moment[spins, 2] == pytest.approx(-resistance * heavy * gravity, rel=1e-9)
    rests = result.t > spin / slows + 2 * h
    assert np.abs(result["ball"].angular_velocity[rests]).max() < 1e-9 and np.abs(floor.moment[rests]).max() < 1e-9


def test_a_ball_that_rolls_in_a_curve_and_spins_is_second_order_with_its_moments():
    """On a slope the direction of rolling turns, and so does the moment against it."""
    law = {"rolling_resistance": 0.004, "spinning_resistance": resistance}
    fine = 2.5e-4

    def quantities(h):
        result = turning_ball([0, 1, 0], [-1 / wide, 0, 6], 0.5, h, slope=0.2, **law)
        ball, floor = result["ball"], result["floor"]
        tangential = np.einsum("ki,kij->kj", floor.force_tangential, floor.tangents)
        return [ball.position, ball.velocity, ball.rotation.reshape(-1, 9), tangential, floor.moment]

    reference = quantities(fine)
    errors = []
    for h in STEPS[1:]:
        every = round(h / fine)
        errors.append([np.abs(a - b[::every]).max() for a, b in zip(quantities(h), reference)])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    # the reference has errors of 1/100 of the finest of them
    assert np.abs(orders - 2.0).max() < 0.08, (orders, errors)
    assert errors[0][4] < 1e-3 * resistance * heavy * gravity, errors


@cache
def top(h, height, t_end):
    return tippe_top.run(h, t_end, height, solver=METHOD(0.5))


@pytest.mark.parametrize("height", [tippe_top.start, 1.2015e-2], ids=["closed", "printed"])
def test_the_tippe_top_turns_over_and_stands_on_its_stick(height):
    """Figures of the source, with the times of `test_tippe_top` where the source's have an error of discretisation."""
    h = 1e-3
    result = top(h, height, 8.0)
    tilt, t = tippe_top.angle(result), result.t
    over, touch, leave = tippe_top.times(result)
    assert over == pytest.approx(tippe_top.REFERENCE["over"], abs=2 * h)
    assert touch == pytest.approx(tippe_top.REFERENCE["touch"], abs=2 * h)
    assert leave == pytest.approx(tippe_top.REFERENCE["leave"], abs=0.02)
    assert tilt[(t > 1.6) & (t < 4)].min() > 165.0
    assert tilt[result.at(5.0)] == pytest.approx(140.28, abs=0.01)  # on both spheres: geometry
    assert min(result[name].gap.min() for name in ("body", "stick")) > -1e-12
    # of 12 mJ; friction takes at least 5e-8 J in a step
    assert np.diff(result.energy.total).max() < 0.0 and not result.warnings
    assert result.iterations.max[0] <= 10 and result.iterations.mean[0] < 2.1


def test_the_sliding_tippe_top_is_of_second_order():
    exact, _, _ = tippe_top.reference()
    times = np.arange(1, 7) * 0.2
    errors = []
    for h in (1e-3, 5e-4):
        run = top(h, tippe_top.start, 8.0 if h == 1e-3 else 1.2)
        errors.append(np.abs(tippe_top.angle(run)[[run.at(t) for t in times]] - exact(times)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1) and errors[0] < 0.3, errors


# --- impacts ----------------------------------------------------------------------------------------------------------


def test_no_force_acts_at_the_end_of_a_step_in_which_a_contact_rebounds():
    """The memory of such a force gave fast linkages energy: it is taken back along another normal."""
    result = ball(0.0, 0.5, 0.5)
    table = result["table"]
    k = np.flatnonzero(table.impact)[0]
    assert table.impulse[k, 0] == pytest.approx(1.5 * mass * gravity * (result.t[k] - 1e-3), rel=5e-3)
    assert not table.force_normal.any()


def test_a_fast_linkage_that_hits_its_obstacles_gains_no_energy():
    """162, 106, 63 J of it with h = 0.5, 0.25, 0.125 ms where the force acted."""
    outcome = random_models.run(30, METHOD.__name__)
    assert outcome.kind == "fine" and outcome.rise < 0.01, outcome
