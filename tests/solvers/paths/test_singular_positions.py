"""Mechanisms that pass positions where their constraints depend on each other."""

import numpy as np
import pytest

import fem_mbs as fem

SPEED, ARM, DISTANCE = 5.0, 0.03, 0.2  # rad/s, m, m


def coupled_wheels(start):
    """A driven wheel turns a second one by a rod, as in a parallelogram; start [rad] is their angle."""
    model = fem.Model("coupled wheels", gravity=[0, -9.81, 0])
    pin, z = ARM * np.array([np.cos(start), np.sin(start), 0]), [0, 0, 1]
    moving = {"angular_velocity": [0, 0, SPEED]}
    one = model.add(fem.RigidBody(2.0, [4e-3] * 3, **moving, name="one"))
    two = model.add(fem.RigidBody(2.0, [4e-3] * 3, position=[DISTANCE, 0, 0], **moving, name="two"))
    velocity = SPEED * np.array([-pin[1], pin[0], 0])
    rod = model.add(
        fem.RigidBody(0.5, [1e-4, 2e-3, 2e-3], position=pin + [DISTANCE / 2, 0, 0], velocity=velocity, name="rod")
    )
    motor = fem.Motor(position=lambda t: SPEED * t)
    model.add(fem.Revolute.at(model.ground, one, [0, 0, 0], z, motor=motor, name="axle 1"))
    model.add(fem.Revolute.at(model.ground, two, [DISTANCE, 0, 0], z, damping=0.02, name="axle 2"))
    model.add(fem.Revolute.at(one, rod, pin, z, name="pin 1"))
    model.add(fem.PointOnLine.at(two, rod, pin + [DISTANCE, 0, 0], z, name="pin 2"))
    return model


@pytest.mark.parametrize("steps_per_turn, lands", [(400, True), (331, False)])
def test_coupled_wheels_stay_a_parallelogram_when_steps_land_on_dead_centres(steps_per_turn, lands):
    """At a dead centre the constraints leave the second wheel free; it passes by inertia."""
    h = 2 * np.pi / SPEED / steps_per_turn
    result = fem.DecoupledNSGA().run(coupled_wheels(np.pi / 2), 2 * steps_per_turn * h, h)
    apart = result["axle 2"].angle - result["axle 1"].angle
    # g = 0 holds to 3e-13 of the size of the model: of an angle with a double root its square root is left
    assert np.abs(apart).max() < 1e-6
    assert any("dead centre" in text for text in result.warnings) == lands


def test_coupled_wheels_that_start_on_a_dead_centre_pass_it_turn_after_turn():
    """Rows of the predicted positions contradict each other there by more than they do after the corrections."""
    h = 2 * np.pi / SPEED / 400
    system = coupled_wheels(0.0).compile(redundant="allow")
    result = fem.DecoupledNSGA(divide_failed_steps=False).run(system, 1200 * h, h)
    apart = result["axle 2"].angle - result["axle 1"].angle
    # redundant rows hold g = 0 to 3e-11: of an angle with a double root its square root is left
    assert np.abs(apart).max() < 2e-5 and np.abs(apart[50:150]).max() < 1e-10
    assert any("dead centre" in text for text in result.warnings)
