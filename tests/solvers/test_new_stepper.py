"""The time stepper of docs/new_stepper.md: order, impacts, friction, and what it has from the shared run."""

import sys
from pathlib import Path

import numpy as np
import pytest

import fem_mbs as fem

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def euler():
    """The class of the page."""
    sys.path.insert(0, str(DOCS))
    try:
        from symplectic_euler import SymplecticEuler
    finally:
        sys.path.remove(str(DOCS))
    return SymplecticEuler


def block(*, slope=0.0, velocity=2.0, friction=0.3):
    """Block on a plane inclined by tan(angle) = slope."""
    angle = np.arctan(slope)
    model = fem.Model("block", gravity=[10.0 * np.sin(angle), 0, -10.0 * np.cos(angle)])
    body = model.add(fem.RigidBody.box(1.0, [0.2] * 3, position=[0, 0, 0.1], velocity=[velocity, 0, 0], name="block"))
    model.add(fem.BoxOnPlane(body, model.ground.frame(), size=[0.2] * 3, friction=friction, name="floor"))
    return model


def ball():
    """Ball dropped from a gap of 1 m, e = 0.8."""
    model = fem.Model("ball", gravity=[0, 0, -10.0])
    body = model.add(fem.RigidBody.sphere(1.0, 0.2, position=[0, 0, 1.2], velocity=[1, 0, 0], name="ball"))
    model.add(fem.SphereOnPlane(body, model.ground.frame(), radius=0.2, restitution=0.8, name="table"))
    return model


def pendulum():
    model = fem.Model("pendulum", gravity=[0, 0, -10.0])
    rod = model.add(fem.RigidBody.box(1.0, [1.0, 0.05, 0.05], position=[0.5, 0, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], axis=[0, 1, 0], name="hinge"))
    return model


def order_of(error, sizes):
    return np.polyfit(np.log(sizes), np.log(error), 1)[0]


def test_a_sliding_block_has_order_one(euler):
    sizes, error = np.array([0.02, 0.01, 0.005]), []
    for h in sizes:
        result = euler().run(block(), t_end=0.5, h=h)
        x = result["block"].position[:, 0]
        error.append(np.abs(x - (2.0 * result.t - 1.5 * result.t**2)).max())  # constant friction, 3 m/s²
    assert error == pytest.approx(1.5 * sizes * 0.5, rel=1e-6)  # x_n = v t − ½ a t (t + h): exactly ½ a t h
    assert 0.999 < order_of(error, sizes) < 1.001


def test_a_pendulum_has_order_one(euler):
    exact = fem.DecoupledNSGA(rho_inf=0.9).run(pendulum(), t_end=0.5, h=2.5e-4)["hinge"].angle[-1]
    sizes = np.array([0.02, 0.01, 0.005])
    error = [abs(euler().run(pendulum(), t_end=0.5, h=h)["hinge"].angle[-1] - exact) for h in sizes]
    assert 0.9 < order_of(error, sizes) < 1.1
    assert error[-1] < 0.02


def test_a_bouncing_ball_agrees_with_the_closed_form(euler):
    result = euler().run(ball(), t_end=1.15, h=1e-3)
    first = np.sqrt(0.2)  # s, first impact
    since = result.t - first
    v = 0.8 * 10.0 * first  # m/s, after the impact
    exact = np.where(since < 0, 1.0 - 5.0 * result.t**2, v * since - 5.0 * since**2)
    # impacts are captured up to half a step late or early, and the flight has an error of ½ g t h
    assert np.abs(result["table"].gap - exact).max() < 0.01
    assert result["table"].gap[since > 0].max() == pytest.approx(0.64, rel=2e-3)


@pytest.mark.parametrize("slope, slides", [(0.297, False), (0.303, True)])
def test_a_block_slides_only_above_the_friction_angle(slope, slides, euler):
    path = euler().run(block(slope=slope, velocity=0.0), t_end=0.5, h=0.01)["block"].position[-1, 0]
    assert (path > 1e-3) == slides  # closed form above: 3.6 mm


def test_events_switches_output_times_and_files_need_no_code_of_the_method(euler, tmp_path):
    model = fem.Model("gripper")
    hand = model.add(fem.RigidBody.sphere(3.0, 0.1, velocity=[2, 0, 0], name="hand"))
    part = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0.5, 0, 0], name="part"))
    grip = model.add(fem.Attachment(hand, part, active=False, name="grip"))
    near = fem.Sensor(part, "position", component="x", relative_to=hand)
    model.add(fem.Event(near, fem.SwitchOn(grip), level=0.2, direction="down", name="closes"))
    file, times = tmp_path / "gripper.vtkhdf", [0.0, 0.123, 1.0]
    result = euler().run(model, t_end=1.0, h=0.01, save=file, output_times=times[1:], balance=True)
    assert [event.t for event in result.events] == pytest.approx([0.15])
    assert result["part"].velocity[-1, 0] == pytest.approx(1.5)  # momentum
    assert result.statistics["energy_lost_in_switches"] == pytest.approx(1.5)  # J
    assert fem.load(file).t == pytest.approx(times)


def test_a_resumed_run_is_bit_identical(euler, tmp_path):
    whole = euler().run(ball(), t_end=1.0, h=1e-3)
    euler().run(ball(), t_end=0.6, h=1e-3, save=tmp_path / "ball.vtkhdf", checkpoint_every="100 steps")
    resumed = fem.resume(tmp_path / "ball.vtkhdf", t_end=1.0, model=ball())
    assert np.array_equal(resumed["ball"].position, whole["ball"].position)


def test_steps_in_which_bodies_would_pass_each_other_are_subdivided(euler):
    model = fem.Model("shot")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.05, velocity=[20.0, 0, 0], name="ball"))
    target = model.ground.frame([0.73, 0, 0])
    model.add(fem.SphereOnSphere(ball.frame(), target, radius_A=0.05, radius_B=0.05, restitution=1.0, name="target"))
    result = euler().run(model, t_end=0.1, h=0.02)  # 0.4 m per step
    assert result.statistics["divided_steps"] == 1
    assert result["ball"].velocity[-1, 0] == pytest.approx(-20.0)
    with pytest.raises(fem.SolverError):
        euler(divide_failed_steps=False).run(model, t_end=0.1, h=0.02)


def test_a_contact_group_carries_its_weight(euler):
    model = fem.Model("stack", gravity=[0, 0, -10.0])
    group = fem.ContactGroup(friction=0.4, name="group")
    for k in range(4):
        at = [0.05 * k, 0, 0.02 + 0.01 * k]
        group.sphere(model.add(fem.RigidBody.sphere(0.05, 0.02, position=at)), 0.02)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    pairs = euler().run(model, t_end=0.5, h=1e-3).pairs(-1)
    assert pairs.force[:, 2].sum() == pytest.approx(4 * 0.05 * 10.0, rel=1e-3)  # all have fallen on the plane


def test_options_are_checked_and_reported(euler):
    with pytest.raises(fem.ParameterError, match="reach"):
        euler(reach=2.0)
    assert repr(euler(reach=0.25)) == "SymplecticEuler(reach=0.25)"


def test_joint_friction_holds_below_its_bound_only(euler):
    for preload, moves in ((5.1, False), (4.9, True)):  # N m; the weight has 5
        model = pendulum()
        hinge = next(element for element in model.elements if element.name == "hinge")
        model.add(fem.JointFriction(hinge, friction=1, preload=preload, name="brake"))
        angle = euler().run(model, t_end=0.5, h=0.01)["hinge"].angle[-1]
        assert (abs(angle) > 1e-3) == moves
