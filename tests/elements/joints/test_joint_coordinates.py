"""Coordinates of joints: gradients at every angle, multi-turn angles, which rejected steps restore."""

import numpy as np
import pytest
from every_stepper import every_method

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.elements.joints.coordinates import kernels
from fem_mbs.elements.joints.coordinates.coordinates import coordinate_of
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp

KINDS = ["TURN_Z", "TURN_X", "SLIDE_X", "SLIDE_Y", "SLIDE_Z"]


def random_frames(rng):
    """Two nodes with frames at random poses, as arguments of the kernels after the kind."""
    frames = (rng.normal(size=3), exp(rng.normal(size=3)), rng.normal(size=3), exp(rng.normal(size=3)))
    poses = [rng.normal(size=3), exp(rng.normal(size=3)), rng.normal(size=3), exp(rng.normal(size=3))]
    return frames, poses


def moved(poses, delta):
    x_A, R_A, x_B, R_B = poses
    return x_A + delta[:3], R_A @ exp(delta[3:6]), x_B + delta[6:9], R_B @ exp(delta[9:])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_and_second_derivatives_are_those_of_the_value_anywhere(kind):
    kind, rng = getattr(kernels, kind), np.random.default_rng(5)
    for _ in range(5):
        frames, poses = random_frames(rng)
        near = kernels.coordinate_value(kind, *frames, 40.0, *poses)
        G, H = np.zeros(12), np.zeros((12, 12))
        assert kernels.coordinate_gradient(kind, *frames, near, *poses, G) == pytest.approx(near, rel=1e-14)
        kernels.coordinate_hessian(kind, *frames, *poses, H)

        def gradient(delta, kind=kind, frames=frames, poses=poses):
            row = np.zeros(12)
            kernels.coordinate_gradient(kind, *frames, 0.0, *moved(poses, delta), row)
            return row

        def value(delta, kind=kind, frames=frames, poses=poses, near=near):
            return kernels.coordinate_value(kind, *frames, near, *moved(poses, delta))

        for j, unit in enumerate(np.eye(12)):
            # central differences of six points: 1e-11 of values of order 1
            assert verify.difference(lambda e, u=unit: value(e * u), 1e-3) == pytest.approx(G[j], abs=1e-9)
            assert verify.difference(lambda e, u=unit: gradient(e * u), 1e-3) == pytest.approx(H[:, j], abs=1e-8)


@pytest.mark.parametrize("turns", [0, 0.249, 0.25, 0.251, 0.5, 3.75, -12.5])
def test_an_angle_is_the_one_nearest_to_the_last_and_its_gradient_is_the_axis(turns):
    rng, angle = np.random.default_rng(3), 2 * np.pi * turns
    A, B = Node6(rng.normal(size=3), rng.normal(size=3)), Node6(rng.normal(size=3), rng.normal(size=3))
    axis = rng.normal(size=3)
    hinge = fem.Revolute.at(A, B, rng.normal(size=3), axis / np.linalg.norm(axis))
    record, q, z = coordinate_of(hinge, "joint", hinge).record, hinge.frame_P.position, hinge.frame_P.orientation[:, 2]
    turn = exp(z * angle)
    pose = A.position, A.rotation, q + turn @ (B.position - q), turn @ B.rotation
    G = np.zeros(12)
    assert kernels.coordinate_gradient(*record, angle + 3.1, *pose, G) == pytest.approx(angle, abs=1e-13)
    assert G[3:6] == pytest.approx(-A.rotation.T @ z, abs=1e-14)  # on g = 0; round-off
    assert G[9:] == pytest.approx(pose[3].T @ z, abs=1e-14)


def spinning_rod(rate, **when):
    """A rod that spins about a hinge through its centre: its angle is rate t, whatever the method."""
    model = fem.Model("rod")
    rod = fem.RigidBody(1.0, [0.1, 0.2, 0.3], angular_velocity=[0, 0, rate], name="rod")
    model.add(rod)
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 0, 1], name="hinge"), **when)
    return model


@every_method
def test_angles_of_hinges_are_multi_turn_with_every_method(method):
    result = method.run(spinning_rod(40.0), t_end=1.0, h=0.05)  # 2 rad in a step, 6.4 turns
    assert result["hinge"].angle == pytest.approx(40.0 * result.t, rel=1e-8)  # round-off of Newton's iteration
    assert result["hinge"].rate == pytest.approx(40.0, rel=1e-8)


def test_turns_are_counted_in_steps_of_any_size_between_bodies_that_both_turn():
    """Steps of 0.05 to 2.9 rad: a wheel that is driven faster and faster against one that spins the other way."""
    model = spinning_rod(-10.0)
    wheel = model.add(fem.RigidBody(1.0, [0.3, 0.3, 0.5], position=[0, 0, 1], name="wheel"))
    model.add(fem.Revolute.at(model["rod"], wheel, [0, 0, 1], [0, 0, 1], name="pin"))
    model.add(fem.PointMoment(wheel, [0, 0, 0.5 * 72.5], name="torque"))  # 72.5 rad/s²
    result = fem.DecoupledNSGA().run(model, t_end=2.0, h=0.02)
    assert result["pin"].rate[-1] * 0.02 > 2.9 and result["pin"].angle[-1] > 26 * 2 * np.pi
    assert result["pin"].angle == pytest.approx(0.5 * 72.5 * result.t**2 + 10.0 * result.t, rel=1e-8, abs=1e-9)
    assert result["hinge"].angle == pytest.approx(-10.0 * result.t, rel=1e-8)


@pytest.mark.parametrize("h", [5e-3, 0.05])
def test_turns_of_a_hinge_continue_while_it_is_off(h):
    """Nothing but the hinge keeps the rod where it spins, and it stays there without."""
    model = spinning_rod(40.0, intervals=[(0.0, 0.3), (0.65, 5.0)])
    result = fem.DecoupledNSGA().run(model, t_end=1.0, h=h)
    assert len(result.events) >= 2
    assert result["hinge"].angle == pytest.approx(40.0 * result.t, rel=1e-8)


def test_turns_are_counted_from_the_start_of_each_run_of_a_system():
    system = spinning_rod(40.0).compile()
    angles = [fem.DecoupledNSGA().run(system, t_end=0.5, h=0.05)["hinge"].angle for _ in range(2)]
    assert (angles[0] == angles[1]).all()
    assert angles[1][0] == 0.0


def test_angles_are_those_of_time_in_runs_with_rejected_steps():
    model = spinning_rod(40.0)
    ball = model.add(fem.PointMass(1.0, position=[0, 0, -2.0], name="ball"))
    model.add(fem.Spring(model.ground.frame([0, 0, -1]), ball, 400.0, free_length=0.7))  # causes rejected steps
    control = fem.StepControl(tolerance=1e-4, h_max=0.07)
    result = fem.DecoupledNSGA(step_control=control).run(model, t_end=0.3, h=0.07)
    assert result.statistics["inaccurate_steps"] > 0
    assert result["hinge"].angle == pytest.approx(40.0 * result.t, rel=1e-8)


def test_a_universal_joint_measures_the_turns_about_both_of_its_pins():
    rng = np.random.default_rng(8)
    A, B = Node6(rng.normal(size=3), rng.normal(size=3)), Node6(rng.normal(size=3), rng.normal(size=3))
    cross = fem.Universal.at(A, B, rng.normal(size=3), axis=[0, 0.6, 0.8])
    call, point = verify.Evaluator(cross), verify.random_point(cross, rng)
    first, second = cross.frame_P.orientation[:, 2], cross.frame_Q.orientation[:, 0]
    for a, b in ((0.4, -0.3), (2.8, 1.9), (-3.0, -2.2)):
        turn = exp(a * first) @ exp(b * second)
        q = cross.frame_P.position
        x = np.array([A.position, q + turn @ (B.position - q)])
        spin = 0.7 * first - 1.3 * exp(a * first) @ second  # rates of the angles about the pins as they are
        R_B = turn @ B.rotation
        v = np.concatenate([np.zeros(6), np.cross(spin, x[1] - q), R_B.T @ spin])
        here = point.copy(x=x, R=np.array([A.rotation, R_B]), v=v, lam=np.zeros(4))
        here.state = call("initial", here)["state"]
        assert here.state == pytest.approx([a, b], abs=1e-13)
        assert call("output", here)["out"][6:] == pytest.approx([a, b, 0.7, -1.3], abs=1e-13)


def test_coordinates_that_a_joint_does_not_have_are_rejected_with_those_there_are():
    A, B = Node6(), Node6([1, 0, 0])
    sleeve = fem.Cylindrical.at(A, B, [0, 0, 0], [1, 0, 0], name="sleeve")
    ball = fem.Spherical.at(A, B, [0, 0, 0], name="ball")
    with pytest.raises(fem.ParameterError, match=r"'turn'.*'sleeve'.*displacement, angle"):
        coordinate_of(sleeve, "joint", sleeve, "turn")
    with pytest.raises(fem.ParameterError, match=r"2 free.*'displacement' or 'angle'"):
        coordinate_of(sleeve, "joint", sleeve)
    with pytest.raises(fem.ParameterError, match=r"joint = .*no free coordinate"):
        coordinate_of(sleeve, "joint", ball)
    assert coordinate_of(sleeve, "joint", sleeve, "angle").unit == "rad"


def test_turns_are_counted_where_two_steps_together_are_more_than_half_a_turn():
    """Two wheels turn against each other, by 0.9 rad in a step each: 1.8 rad of the joint, 3.6 rad in two steps."""
    model = fem.Model("wheels")
    low, high = (fem.RigidBody(1.0, 0.1, angular_velocity=[0, 0, w], name=f"wheel {w}") for w in (-90.0, 90.0))
    model.add(low, high, fem.Revolute.at(model.ground, low, [0, 0, 0], [0, 0, 1], name="axle"))
    model.add(fem.Revolute.at(low, high, [0, 0, 0], [0, 0, 1], name="bearing"))
    result = fem.DecoupledNSGA().run(model, 0.5, 1e-2)
    assert np.abs(result["bearing"].angle - 180.0 * result.t).max() < 1e-9
