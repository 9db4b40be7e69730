"""NonsmoothGeneralizedAlphaFriction: orders of forces, stick and slip; digits of an independent prototype.

Digits are printed ones of the same equations with three-dimensional bodies. ``approach="start"`` is Newton's law as
published. The examples of Capobianco2021 are compared in tests of `fem_mbs.cases`.
"""

from functools import cache

import bouncing_ball
import double_pendulum
import driven_double_pendulum
import elastic_bar
import loaded_ball
import numpy as np
import pytest
import random_models
import tippe_top
from pendulum_errors import LATER, NODES, TIGHT, TIMES, driven_motion, free_motion, pendulum_errors, steps
from references import rotation_error

import fem_mbs as fem
from fem_mbs.rotations import exp

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


def flights(count, h, e):
    """Times [s] and impulses [N s] of impacts of a ball that falls from 1 m, of the scheme in closed form.

    The speed of the start of a step is reflected at its end. Then the ball flies for n steps, the first that leaves no
    gap; some end with a gap of round-off, which is none.
    """
    fall = gravity * h
    n = int(np.ceil(np.sqrt(2 * (1.0 - radius) / gravity) / h))
    time, speed = n * h, (n - 1) * fall
    for _ in range(count):
        yield time, mass * ((1 + e) * speed + fall)
        n = int(np.ceil(2 * e * speed / fall - 1e-9))
        time, speed = time + n * h, (n - 1) * fall - e * speed


def test_a_ball_bounces_to_rest_with_the_impacts_of_the_closed_form():
    result = ball(0.0, 0.5, 1.5)
    table = result["table"]
    hits = np.flatnonzero(table.impact)[:6]
    times, impulses = np.transpose(list(flights(6, 2e-3, 0.5)))
    assert result.t[hits] == pytest.approx(times, abs=1e-12)
    assert table.impulse[hits, 0] == pytest.approx(impulses, rel=1e-9)
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
    """Where a step is subdivided ā and λ̄ stay as far from a and λ as steps of that size would leave them."""
    engine = METHOD(0.8).prepare(loaded_ball.loaded_ball(True).compile(), 1e-2)
    engine.march.advance(np.arange(1, 11) * 1e-2, engine.make_records(10))
    a = engine.arrays
    before = a["Va0"] - a["Vd0"], a["bar0"] - a["lam_c0"]
    assert all(np.abs(difference).max() > 1e-3 for difference in before)
    engine.method.rescale(engine, 0.25, None)
    for difference, now in zip(before, (a["Va0"] - a["Vd0"], a["bar0"] - a["lam_c0"])):
        assert now == pytest.approx(0.25 * difference, abs=1e-12)


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
@pytest.mark.parametrize("slides", [False, True])
def test_steps_of_variable_size_are_of_second_order_in_a_contact_that_stays_closed(slides, rho_inf):
    """The error of a step is of third order: h ∝ tol^⅓, and errors of the run ∝ h², those of forces too."""
    steps_taken, errors = [], []
    for tolerance in (1e-6, 1e-8):
        method = METHOD(rho_inf, rtol=1e-9, step_control=fem.StepControl(tolerance=tolerance))
        result = method.run(loaded_ball.loaded_ball(slides), loaded_ball.duration, 1e-3)
        position, rotation, velocity, force = loaded_ball.motion(result.t, slides)
        body = result["ball"]
        errors.append([
            np.abs(body.position - position).max(),
            rotation_error(body.rotation, rotation),
            np.abs(body.velocity - velocity).max(),
            np.abs(result["table"].force_normal - force).max(),
        ])  # fmt: skip
        steps_taken.append(len(result.t) - 1)
        assert result.statistics["failed_steps"] == 0 and result.h.max() > 1.5e-3
    ratio = steps_taken[1] / steps_taken[0]
    assert ratio == pytest.approx(100 ** (1 / 3), rel=0.15)  # the first steps grow from 1 ms
    orders = np.log(np.divide(*errors)) / np.log(ratio)
    # steps of 0.1 s at 1e-6 are not small for the motion
    assert np.all((orders > 1.8) & (orders < 2.4)), (orders, errors)


def test_memories_of_forces_grow_from_their_last_change_and_not_from_a_jump():
    """ā and λ̄ belong to the time t_n + (α_m − α_f) h; what a jump left in them must not grow with the step."""
    engine = METHOD(0.8).prepare(loaded_ball.loaded_ball(True).compile(), 1e-2)
    engine.march.advance(np.arange(1, 11) * 1e-2, engine.make_records(10))
    a, kept = engine.arrays, engine.run_data.kept()
    alpha_m, alpha_f, _, _ = engine.method.coefficients
    change = np.ones_like(a["Vd"])
    assert not a["changed"].any() and np.abs(a["lam_change"][0, :3]).min() > 1e-3
    engine.method.rescale(engine, 2.0, change)
    expected = a["lam_c0"] + 2.0 * (alpha_m - alpha_f) * a["lam_change"]
    assert a["bar0"] == pytest.approx(expected, abs=1e-12)
    engine.run_data.restore(kept)
    a["changed"][0] = 1
    before = a["bar0"] - a["lam_c0"]
    engine.method.rescale(engine, 2.0, change)
    assert a["bar0"] - a["lam_c0"] == pytest.approx(2.0 * before, abs=1e-12)


def test_flights_take_larger_steps_and_impacts_those_of_the_user():
    method = METHOD(0.8, step_control=fem.StepControl(tolerance=1e-6, h_max=0.02))
    result = method.run(bouncing_ball.build(), 4.5, 2e-3)
    table = result["table"]
    impacts = np.flatnonzero(table.impact)
    assert len(result.t) < 1000 and result.h.max() > 0.019 and result.h[impacts].max() < 2e-3 * (1 + 1e-9)
    # an impact is late by a step at most, at 4 m/s, as with constant steps
    assert np.abs(table.gap - bouncing_ball.exact_gap(result.t)).max() < 25 * 2e-3
    assert table.force_normal[-1] == pytest.approx(10.0, abs=1e-8) and table.gap.min() > -1e-12


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


# --- contacts that depend on each other ------------------------------------------------------------------------------


def box(feet, copies=1, slope=0.3, **motion):
    """Box of 1 × 0.6 × 0.4 m on a slope, on as many feet, each given several times."""
    model = fem.Model("box", gravity=[gravity * np.sin(slope), 0, -gravity * np.cos(slope)])
    start = {"position": [0, 0, 0.2], "velocity": [1, 0.5, 0], "angular_velocity": [0, 0, 4]} | motion
    body = model.add(fem.RigidBody.box(2.0, [1, 0.6, 0.4], name="box", **start))
    corners = [(x, y, -0.2) for x in (-0.5, 0.5) for y in (-0.3, 0.3)]
    around = [(0.5 * np.cos(a), 0.3 * np.sin(a), -0.2) for a in 2 * np.pi * np.arange(feet) / feet]
    for copy in range(copies):
        for i, place in enumerate(corners if feet == 4 else around):
            name = f"foot {i}, {copy}"
            model.add(fem.SphereOnPlane(body.frame(place), model.ground, radius=0, friction=0.5, name=name))
    return model


@pytest.mark.parametrize("feet, copies", [(4, 1), (4, 2), (8, 1), (8, 2)])
def test_feet_that_share_a_load_are_solved_with_a_singular_matrix(feet, copies):
    """Without the shift of the diagonal the matrix is singular while the box is on all feet."""
    h, t_end = 1e-3, 0.4
    names = [f"foot {i}, {copy}" for i in range(feet) for copy in range(copies)]
    shifted = METHOD(0.8).run(box(feet, copies), t_end, h)
    singular = METHOD(0.8, epsilon=0.0, divide_failed_steps=False).run(box(feet, copies), t_end, h)
    assert singular.statistics["contact_problems"] > 100 and singular.statistics["repeated_steps"] < 10
    weight = sum(singular[name].force_normal for name in names)
    assert weight[5:] == pytest.approx(2.0 * gravity * np.cos(0.3), rel=1e-5)  # rtol of forces and moments
    assert min(singular[name].gap.min() for name in names) > -1e-12
    for name in names:
        size = np.linalg.norm(singular[name].force_tangential, axis=1)
        assert np.all(size <= 0.5 * singular[name].force_normal + 1e-4)
    # how the feet share the load is left open, and with it a part of the moment of friction: 9 of 400 mm, measured
    assert singular["box"].position == pytest.approx(shifted["box"].position, abs=2e-2)
    assert np.diff(singular.energy.total).max() < 1e-7 * singular.energy.total.max()


@pytest.mark.parametrize("slides", [False, True])
def test_the_fixed_point_iteration_finds_what_newtons_finds(slides):
    """Every step by it, because Newton's iteration may not take any; joints, stick and slip have one solution here."""
    found, times = [], np.arange(1, 21) * 1e-2
    for iterations in (30, 0):
        engine = METHOD(0.8, rtol=1e-9).prepare(loaded_ball.loaded_ball(slides).compile(), 1e-2)
        engine.run[0]["max_iterations"] = iterations
        records = engine.make_records(20)
        done, _, error = engine.march.advance(times, records)
        assert done == 20 and error is None
        assert records["contact_problems"].sum() == (0 if iterations else 20)
        found.append(np.concatenate([engine.arrays[name].ravel() for name in ("x", "V", "lam_c0")]))
    assert found[1] == pytest.approx(found[0], abs=1e-7)  # rtol of forces of 10 N


@pytest.mark.parametrize("iterations", [30, 0])
@pytest.mark.parametrize("disc", [0.0, 0.2])
def test_tangential_restitution_reverses_slip_and_drilling(disc, iterations):
    """γ_F⁺ = −e_T γ_F⁻ where friction can give it, by Newton's iteration and by that of fixed points."""
    model, e_T = fem.Model("superball"), 0.5
    motion = {"velocity": [0.2, 0.1, -1.0], "angular_velocity": [3.0, -2.0, 4.0]}
    ball = model.add(fem.RigidBody.sphere(mass, radius, position=[0, 0, radius + 5e-4], **motion, name="ball"))
    law = {"friction": 2.0, "restitution": 0.5, "tangential_restitution": e_T, "radius_contensou": disc}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=radius, **law))
    engine = METHOD(0.8, rtol=1e-9).prepare(model.compile(), 1e-3)
    engine.run[0]["max_iterations"] = iterations
    records = engine.make_records(1)
    done, _, error = engine.march.advance(np.array([1e-3]), records)
    assert done == 1 and error is None and records["contact_problems"].sum() == (0 if iterations else 1)
    spin = engine.arrays["R"][1] @ engine.arrays["V"][1, 3:]
    slip = engine.arrays["V"][1, :3] + np.cross(spin, [0, 0, -radius])
    # start: 0.2 + 0.2, 0.1 + 0.3, -1 m/s and 4 rad/s; without a disc nothing opposes drilling
    assert slip == pytest.approx([-e_T * 0.4, -e_T * 0.4, 0.5], abs=1e-6)
    assert spin[2] == pytest.approx(-e_T * 4.0 if disc else 4.0, abs=1e-2)  # the ball tumbles by 4 mrad in the step


@pytest.mark.parametrize("slides", [False, True])
def test_a_contact_that_is_given_twice_without_shift_moves_its_body_as_once(slides):
    once, twice = loaded_ball.loaded_ball(slides), loaded_ball.loaded_ball(slides)
    ball = next(element for element in twice.elements if isinstance(element, fem.RigidBody))
    law = {"radius": loaded_ball.radius, "friction": 0.2 if slides else 2.0}
    twice.add(fem.SphereOnPlane(ball.frame(loaded_ball.centre), twice.ground, name="again", **law))
    one = METHOD(0.8, rtol=1e-9).run(once, 0.1, 5e-3)["ball"]
    result = METHOD(0.8, rtol=1e-9, epsilon=0.0, divide_failed_steps=False).run(twice, 0.1, 5e-3)
    assert result.statistics["contact_problems"] > 10
    assert np.abs(result["ball"].position - one.position).max() < 1e-7
    assert np.abs(result["ball"].velocity - one.velocity).max() < 1e-6


@pytest.mark.parametrize("friction", [0.1, 2.0])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_an_impact_with_a_singular_matrix_has_its_restitution_and_leaves_no_force(restitution, friction):
    """A contact that is given twice, without the shift: only the fixed-point iteration can solve it."""
    model, e_T = fem.Model("point", gravity=[0, 0, -gravity]), 0.5
    point = model.add(fem.PointMass(1.0, position=[0, 0, 5e-4], velocity=[0.4, 0.2, -1.0], name="point"))
    law = {"friction": friction, "restitution": restitution, "tangential_restitution": e_T}
    for name in ("one", "two"):
        model.add(fem.SphereOnPlane(point, model.ground, radius=0.0, name=name, **law))
    result = METHOD(0.8, epsilon=0.0, divide_failed_steps=False).run(model, 1e-3, 1e-3)
    assert result.statistics["contact_problems"] == 1 and result["one"].impact[-1]
    # 1 m/s at the start of the step is what Newton's law reflects; gravity adds to what stops it
    slip = np.array([0.4, 0.2])
    share = min(friction * (1 + restitution + gravity * 1e-3) / np.linalg.norm(slip), 1 + e_T)
    assert result["point"].velocity[-1] == pytest.approx([*(1 - share) * slip, restitution], abs=1e-5)
    force = sum(result[name].force_normal[-1] for name in ("one", "two"))
    assert force == pytest.approx(0.0 if restitution else gravity, abs=1e-3)


def thrown_box(seed, friction):
    """A box that falls on its corners, with a random motion."""
    rng = np.random.default_rng(seed)
    model, half = fem.Model("box", gravity=[0, 0, -gravity]), np.array([0.5, 0.3, 0.2])
    rotation = exp(0.3 * rng.normal(size=3))
    corners = [half * (x, y, -1) for x in (-1, 1) for y in (-1, 1)]
    height = rng.uniform(0, 0.3) - min((rotation @ corner)[2] for corner in corners)
    body = fem.RigidBody.box(
        2.0, 2 * half, position=[0, 0, height], rotation=rotation, velocity=rng.normal(size=3) * [2, 2, 1],
        angular_velocity=3 * rng.normal(size=3), name="box",
    )  # fmt: skip
    model.add(body)
    for i, corner in enumerate(corners):
        law = {"friction": friction, "restitution": 0.3, "name": f"corner {i}"}
        model.add(fem.SphereOnPlane(body.frame(corner), model.ground, radius=0.0, **law))
    return model


@pytest.mark.parametrize("seed, friction", [(2, 1.0), (5, 0.2)])
def test_a_box_that_lands_on_its_corners_is_solved_where_newton_fails(seed, friction):
    """Two of 160 throws, of which 61 failed with Newton's iteration alone, and 3 are with all of decision 4."""
    result = METHOD(0.8, divide_failed_steps=False).run(thrown_box(seed, friction), 1.5, 1e-3)
    corners = [result[f"corner {i}"] for i in range(4)]
    assert min(corner.gap.min() for corner in corners) > -1e-12 and not result.warnings
    for corner in corners:
        size = np.linalg.norm(corner.impulse[:, 1:], axis=1)
        assert np.all(size <= 1.01 * friction * corner.impulse[:, 0] + 1e-6)
    # what restitution and friction leave; the heaviest impacts take most of it
    assert result.energy.total[-1] < result.energy.total[0] and np.diff(result.energy.total).max() < 1e-3


# --- impacts ----------------------------------------------------------------------------------------------------------


def test_no_force_acts_at_the_end_of_a_step_in_which_a_contact_rebounds():
    """The memory of such a force gave fast linkages energy: it is taken back along another normal."""
    result = ball(0.0, 0.5, 0.5)
    table = result["table"]
    k = np.flatnonzero(table.impact)[0]
    assert table.impulse[k, 0] == pytest.approx(1.5 * mass * gravity * (result.t[k] - 1e-3), rel=5e-3)
    assert not table.force_normal.any()


def test_the_first_parts_of_a_step_leave_its_size_to_the_last_bit():
    """Steps that are taken again after a failure have the size given; others would differ from them by round-off."""
    for h in (1e-4, 2e-3, 7e-4):
        model = fem.Model("ball", gravity=[0, 0, -9.81])
        ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1]))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.3))
        method = fem.NonsmoothGeneralizedAlphaFriction()
        engine = method.prepare(model.compile(), h)
        run, fresh = engine.run[0], method._numbers_of_alpha(h)
        assert run["h"] == h and run["ks"] == engine.system.contact_mass / h
        assert all(engine.record_of(name)[name] == value for name, value in fresh.items())


def test_forces_of_open_contacts_are_exactly_zero():
    """They were what the last solve left, 1e-15 N, so that contacts looked closed to who asks for forces above zero."""
    wall = METHOD(0.8, approach="start").run(elastic_bar.build(elements=20), 1.5, 5e-3)["wall"]
    assert (wall.force_normal > 0).sum() > 100 and wall.gap[-1] > 1.0  # has touched and left
    assert not wall.force_normal[wall.gap > 1e-9].any()


def test_a_fast_linkage_that_hits_its_obstacles_gains_no_energy():
    """162, 106, 63 J of it with h = 0.5, 0.25, 0.125 ms where the force acted."""
    outcome = random_models.run(30, METHOD.__name__)
    assert outcome.kind == "fine" and outcome.rise < 0.01, outcome


def test_impulses_of_a_ball_at_rest_add_up_to_its_weight():
    """Row 0 had the impulse of the small step with which forces of the start are found."""
    model = fem.Model("rest", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(0.7, 0.1, position=[0, 0, 0.1], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor"))
    floor = fem.NonsmoothGeneralizedAlphaFriction().run(model, 0.1, 1e-2)["floor"]
    assert floor.impulse[0, 0] == 0.0 and floor.force[0, 0] == pytest.approx(0.7 * 9.81)
    assert floor.impulse[:, 0].sum() == pytest.approx(0.7 * 9.81 * 0.1, rel=1e-12)
