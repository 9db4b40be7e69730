"""Subdivided steps of the methods that solve contacts in velocities: `MoreauJean` and `ConeComplementarity`."""

import numpy as np
import pytest

import fem_mbs as fem

METHODS = [fem.MoreauJean, fem.ConeComplementarity]
both = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)


def swing(speed):
    """A rod that turns about a ball joint, and a ball of 20 mm on the way of its end, 0.5 rad ahead."""
    model = fem.Model("swing", gravity=[0, 0, -9.81])
    rod = model.add(
        fem.RigidBody(
            2.0, [0.01, 0.02, 0.03], position=[0.5, 0, 0], velocity=[0, 0, -speed],
            angular_velocity=[0, 2.0 * speed, 0], name="rod",
        )
    )  # fmt: skip
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0], name="hinge"))
    place = model.ground.frame([0.5 * np.cos(0.5), 0, -0.5 * np.sin(0.5)])
    model.add(fem.SphereOnSphere(rod, place, radius_A=0.02, radius_B=0.02, restitution=0.5, name="stop"))
    return model


@both
def test_a_contact_that_a_step_would_pass_is_hit_in_a_part_of_it(method):
    """40 m/s and 3 ms: 0.12 m in a step, past a pair of 0.04 m."""
    with pytest.raises(fem.SolverError, match="contact 'stop'"):
        method(divide_failed_steps=False).run(swing(40.0), 0.03, 3e-3)
    result = method().run(swing(40.0), 0.03, 3e-3)
    speed = np.linalg.norm(result["rod"].velocity, axis=1)
    assert result.statistics["divided_steps"] == 1 and "subdivided" in result.warnings[0]
    assert (np.diff(result.t) == pytest.approx(3e-3)) and result["stop"].impact.sum() == 1
    assert speed[-1] == pytest.approx(20.0, rel=0.04)  # e = 0.5, central impact; a step late or early by h


@pytest.mark.parametrize(("method", "iterations"), [(fem.MoreauJean, 3), (fem.ConeComplementarity, 2)])
def test_reactions_of_a_step_in_substeps_are_the_momentum_that_all_parts_gave(method, iterations):
    """m Δv = h (λ + m g), to round-off: so few iterations that whole steps fail."""
    model, h = fem.Model("conical pendulum", gravity=[0, 0, -9.81]), 5e-2
    body = {"position": [0.5, 0, 0], "velocity": [0, 6.0, 0], "angular_velocity": [0, 0, 12.0]}
    rod = model.add(fem.RigidBody(2.0, [0.01, 0.02, 0.03], name="rod", **body))
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0], name="hinge"))
    with pytest.raises(fem.SolverError, match=f"stopped after {iterations} iterations"):
        method(max_iterations=iterations, divide_failed_steps=False).run(model, 0.5, h)
    result = method(max_iterations=iterations).run(model, 0.5, h)
    assert result.statistics["divided_steps"] > 5
    given = 2.0 * np.diff(result["rod"].velocity, axis=0) / h - 2.0 * np.array([0, 0, -9.81])
    np.testing.assert_allclose(result["hinge"].force[1:], given, atol=1e-11)  # of 180 N


def part_of_a_step(model, change=None, parts=16, h=1e-2, method=None):
    """Engine after one part of a step, from a pose that ``change`` makes of the arrays."""
    engine = (method or fem.ConeComplementarity()).prepare(model.compile(), h)
    block = engine.make_records(1)  # the engine has its addresses only
    engine.run_data.record_into(block)
    if change is not None:
        change(engine.arrays)
    engine.march.set_size(h / parts)
    code, error = engine.march.trial(h / parts)
    assert code == 0 and error is None and block["step"][0] == 1
    return engine


def test_what_overlaps_is_taken_back_with_the_speed_of_whole_steps():
    """0.1 mm in 10 ms; in a sixteenth of that it would leave the table sixteen times as fast."""
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="table"))

    def sink(arrays):
        arrays["x"][ball.node.index, 2] -= 1e-4

    engine = part_of_a_step(model, sink)
    assert engine.arrays["V"][ball.node.index, 2] == pytest.approx(1e-2, rel=1e-9)


def test_joints_that_are_apart_close_with_the_speed_of_whole_steps_and_drivers_keep_theirs():
    model = fem.Model("lift")
    mass = model.add(fem.PointMass(1.0, name="mass"))
    model.add(fem.Prescribed(mass, x=0.0, y=0.0, z=lambda t: 0.3 * t, name="drive"))
    mass.node.velocity[:] = [0, 0, 0.3]

    def shift(arrays):
        arrays["x"][mass.node.index] += [2e-4, 0, 1e-4]

    engine = part_of_a_step(model, shift)
    assert engine.arrays["V"][mass.node.index, :3] == pytest.approx([-2e-2, 0, 0.3 - 1e-2], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("parts", "theta"), [(1, 0.5), (16, 1.0)])
def test_parts_of_a_step_of_moreau_and_jean_damp_what_rings(parts, theta):
    """m v̇ = −k x: x = x_0 + h (θ v + (1 − θ) v_0), and v = v_0 − h k/m (θ x + (1 − θ) x_0)."""
    model, stiffness, x_0, v_0, h = fem.Model("spring"), 4e3, 0.01, -0.3, 1e-2 / parts
    mass = model.add(fem.PointMass(2.0, position=[1.0 + x_0, 0, 0], velocity=[v_0, 0, 0], name="mass"))
    model.add(fem.Spring(model.ground, mass, stiffness=stiffness, free_length=1.0))
    engine = part_of_a_step(model, parts=parts, method=fem.MoreauJean(theta=0.5))
    q = h * stiffness / 2.0
    v = (v_0 * (1 - q * theta * h * (1 - theta)) - q * x_0) / (1 + q * h * theta**2)
    assert engine.arrays["V"][mass.node.index, 0] == pytest.approx(v, rel=1e-7)
    x = 1.0 + x_0 + h * (theta * v + (1 - theta) * v_0)
    assert engine.arrays["x"][mass.node.index, 0] == pytest.approx(x, rel=1e-9)


def jammed(spin=10.0):
    """A rod between a ball joint and a rough plane, 20° off the plane's normal, that spins about its axis."""
    model, tilt = fem.Model("jam"), np.radians(20.0)
    model.add(fem.RigidBody(
        1.0, [0.002, 0.001, 0.002], position=[0, 0.02, 0.1], angular_velocity=[0, 0, spin],
        velocity=np.cross([0, 0, spin], [0, 0.02, 0.1]), name="rod",
    ))  # fmt: skip
    rod = model["rod"]
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0.0], name="hinge"))
    normal = np.array([np.sin(tilt), 0, -np.cos(tilt)])
    plane = model.ground.frame(np.array([0, 0, 0.2]) - 0.01 * normal, [0, np.pi - tilt, 0])
    tip = rod.frame(np.array([0, 0, 0.2]) - [0, 0.02, 0.1])
    model.add(fem.SphereOnPlane(tip, plane, radius=0.01, friction=1.0, name="wall"))
    return model


@pytest.mark.parametrize("t_end", [0.012, pytest.param(0.02, marks=pytest.mark.slow)])
def test_a_rod_that_friction_jams_is_left_as_deep_as_it_is(t_end):
    """tan 20° < 1: no push along the normal moves the contact apart, and its problem has no solution that does.

    The curvature of the way of its mass pulls the hinge apart in each step, which the wall does not let back.
    """
    result = fem.ConeComplementarity().run(jammed(), t_end, 1e-3)  # the iterations of each step go to their limit
    assert result.statistics["steps_without_restitution"] > 10
    wall = result["wall"]
    assert wall.force_normal[5:].min() > 0.0 and -wall.gap.min() < 1e-3
    assert result.energy.total.max() <= result.energy.total[0] * (1 + 1e-9)
