"""Loads on bodies of contact groups with the Gauss-Seidel solver: closed forms, and the pairwise solver."""

import numpy as np
import pytest
from in_turn import in_turn

import fem_mbs as fem

G, R, H = 9.81, 0.05, 1e-3
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
    "moreau": lambda **options: fem.MoreauJean(**options),
}


def ball_on_floor(friction=0.5, shape="sphere"):
    model, group = fem.Model("floor", gravity=[0, 0, -G]), fem.ContactGroup(friction=friction, name="group")
    if shape == "sphere":
        ball = fem.RigidBody.sphere(2.0, R, position=[0, 0, R], name="ball")
        group.sphere(model.add(ball), R)
    else:
        ball = fem.RigidBody.capsule(2.0, R, 0.2, axis=[0, 1, 0], position=[0, 0, R], name="ball")
        group.capsule(model.add(ball), R, 0.2, axis=[0, 1, 0])
    group.obstacle(fem.SphereOnPlane, model.ground)
    return model.add(group) and model, ball


@pytest.mark.parametrize(
    ("name", "shape", "kind"),
    in_turn(METHODS, ["sphere", "capsule"], ["force", "moment", "offset"], first="nsga"),
)
def test_a_ball_that_is_pushed_rolls_with_the_acceleration_of_rolling(name, kind, shape):
    """(m + J/r²) a = F of a force at the centre, M/r of a moment, F (1 + z/r) of a force z above the centre."""
    model, ball = ball_on_floor(shape=shape)
    if kind == "force":
        model.add(fem.PointForce(ball, [3.0, 0, 0]))
        force = 3.0
    elif kind == "moment":
        model.add(fem.PointMoment(ball, [0, 0.1, 0]))
        force = 0.1 / R
    else:  # two that turn with the ball are a couple of constant moment: r F, about y
        model.add(fem.PointForce(ball.frame([R, 0, 0]), [0, 0, -2.0], follower=True))
        model.add(fem.PointForce(ball.frame([-R, 0, 0]), [0, 0, 2.0], follower=True))
        force = 2 * R * 2.0 / R
    result = METHODS[name](contact_tolerance=1e-10).run(model, 0.3, H)
    assert "contact_sweeps" in result.statistics and result.statistics["inexact_contact_problems"] == 0
    rate = force / (2.0 + ball.inertia[1, 1] / R**2)
    # moments of balls that turn are known to the second order in h: products with the rotation of a step
    assert result["ball"].velocity[:, 0] == pytest.approx(rate * result.t, abs=1e-6)
    assert result["ball"].angular_velocity[-1] == pytest.approx([0, rate * 0.3 / R, 0], abs=1e-5)


@pytest.mark.parametrize("name", ["cone", "nsga"])
def test_a_thruster_off_the_centre_is_as_pairwise(name):
    def run(way):
        model, ball = ball_on_floor(friction=0.2)
        model.add(
            fem.PointForce(ball.frame([0.01, 0.02, 0.03]), [4.0, 1.0, 0.5], follower=True, signal=lambda t: 1 - t)
        )
        return METHODS[name](contact_solver=way, contact_tolerance=1e-9).run(model, 0.2, 2.5e-4)

    a, b = run("auto"), run("problem")
    assert "contact_sweeps" in a.statistics and "contact_sweeps" not in b.statistics
    for quantity in ("velocity", "angular_velocity"):
        size = np.abs(getattr(b["ball"], quantity)).max()
        assert getattr(a["ball"], quantity) == pytest.approx(getattr(b["ball"], quantity), abs=3e-3 * size)


def test_one_load_leaves_all_others_to_sweeps():
    """A spring does not: it answers to the motion."""
    for element, swept in (("load", True), ("spring", False)):
        model, ball = ball_on_floor()
        if element == "load":
            model.add(fem.PointForce(ball, [1.0, 0, 0]))
        else:
            model.add(fem.Spring(model.ground.frame([0, 0, 1]), ball, stiffness=10.0, free_length=1.0, name="rope"))
        result = fem.DecoupledNSGA().run(model, 0.01, H)
        assert ("contact_sweeps" in result.statistics) == swept
