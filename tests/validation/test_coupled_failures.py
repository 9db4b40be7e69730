"""Coupled methods where Newton's iteration finds no step: sets of contacts that it goes to and fro between."""

import numpy as np
import pytest
import random_models

import fem_mbs as fem

GGL, FRICTION = fem.NonsmoothGeneralizedAlphaGGL, fem.NonsmoothGeneralizedAlphaFriction


def pendulum_in_a_worn_bearing():
    """A bar on a journal with clearance. Both ends of the journal slide on the bore, and their forces couple: the one
    that is pressed less would have to pull, and closes further without a force. The other one lets go.
    """
    model = fem.Model("worn bearing", gravity=[0, 0, -9.81])
    bar = model.add(fem.RigidBody.box(1.0, [0.5, 0.05, 0.05], position=[0.25, 0, 0], name="bar"))
    axis = [np.pi / 2, 0, 0]
    joint = fem.JournalClearance(
        bar.frame([-0.25, 0, 0], rotation=axis), model.ground.frame(rotation=axis), radius=0.02, clearance=1e-3,
        length=0.05, end_play=1e-3, friction=0.3, restitution=0.5, name="pin",
    )  # fmt: skip
    model.add(joint)
    return model


@pytest.mark.parametrize("method", [GGL, FRICTION])
@pytest.mark.parametrize("h", [2e-4, 1e-4])
def test_smaller_steps_are_not_harder_in_a_worn_bearing(method, h):
    result = method(divide_failed_steps=False).run(pendulum_in_a_worn_bearing(), 0.2, h)
    solved = np.flatnonzero(result.contact_problems)
    assert result.status == "complete" and len(solved) > 0 and not result.warnings
    ends = np.stack([result["pin 1"].impulse, result["pin 2"].impulse])
    normal, friction = ends[:, :, 0], np.linalg.norm(ends[:, :, 1:], axis=2)
    assert normal.min() > -1e-12 and (friction - 0.3 * normal).max() < 1e-5 * normal.max()
    assert (np.minimum(*normal)[solved] < 1e-12).any()  # one end has let go
    assert min(result[f"pin {i}"].gap.min() for i in range(1, 11)) > -1e-12
    energy = result.energy.total
    assert (energy - np.minimum.accumulate(energy)).max() < 1e-5 * result.energy.kinetic.max()


def test_stiff_beams_take_all_blocks_at_once_where_the_blocks_in_turn_do_not_converge():
    outcome = random_models.run(62279, "NonsmoothGeneralizedAlphaGGL")
    assert "sequential" in outcome.case and outcome.kind == "fine", outcome


def ladder(angle):
    """A ladder of 2 m from rest between a smooth wall and a smooth floor; ``angle`` [rad] above the floor."""
    length, model = 2.0, fem.Model("ladder", gravity=[0, 0, -9.81])
    middle = 0.5 * length * np.array([np.cos(angle), 0, np.sin(angle)])
    body = model.add(
        fem.RigidBody(3.0, [1e-2, length**2 / 4, length**2 / 4], position=middle, rotation=[0, angle - np.pi, 0],
                      fixed=("y", "rx", "rz"), name="ladder")
    )  # fmt: skip
    wall = model.ground.frame([0, 0, 0], [0, np.pi / 2, 0])
    model.add(fem.SphereOnPlane(body.frame([-length / 2, 0, 0]), model.ground, radius=0.0, name="floor"))
    model.add(fem.SphereOnPlane(body.frame([length / 2, 0, 0]), wall, radius=0.0, name="wall"))
    return model


@pytest.mark.parametrize("coupling", ["monolithic", "sequential"])
def test_a_contact_that_only_the_force_of_another_one_closes_has_no_velocity(coupling):
    """Without forces the top of the ladder would leave the wall; the floor presses it on."""
    result = GGL(coupling=coupling).run(ladder(np.radians(60)), 0.3, 1e-3)
    assert not result.warnings
    assert np.abs(result["wall"].gap).max() < 1e-12
    # the top moves along the wall: |ẋ| of the middle is |ω| times its height; and the energy stays
    body = result["ladder"]
    across = np.abs(body.velocity[:, 0]) - np.abs(body.angular_velocity[:, 1]) * body.position[:, 2]
    assert np.abs(across).max() < 1e-10
    lost = np.abs(result.energy.total - result.energy.total[0])
    assert (lost <= 0.01 * result.energy.kinetic).all()


def sliding_and_sticking(t):
    return [5.0 * np.sin(8 * t), 0.0, 4.0 * np.sin(5 * t)]


def pulled_block():
    model = fem.Model("pulled block", gravity=[0, 0, -9.81])
    block = model.add(fem.RigidBody(1.0, [0.01] * 3, fixed=("y", "rx", "ry", "rz"), name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=0.3, name="foot"))
    model.add(fem.PointForce(block, force=sliding_and_sticking, name="pull"))
    return model


# rho_inf up to 0.5: inside to the accuracy asked of friction rows, rtol = 1e-6 of the forces of a step
@pytest.mark.parametrize(("rho_inf", "least", "most"), [(0.0, 0.0, 1e-8), (0.5, 0.0, 1e-8), (0.8, 1e-3, 0.05)])
def test_the_result_tells_how_far_impulses_of_friction_leave_their_cone(rho_inf, least, most):
    result = FRICTION(rho_inf).run(pulled_block(), 1.0, 1e-3)
    foot, told = result["foot"], result.statistics["friction_beyond_cone"]
    bound = 0.3 * foot.impulse[:, 0]
    beyond = np.linalg.norm(foot.impulse[:, 1:], axis=1) - bound
    assert told == pytest.approx(max(beyond[1:].max(), 0.0) / bound[1:].max(), abs=1e-12)
    assert least <= told <= most
    assert ("outside of its cone" in str(result.report())) == (told > 1e-6)
    force = np.linalg.norm(foot.force[:, 1:], axis=1) - 0.3 * foot.force[:, 0]
    assert force.max() < 1e-6 * foot.force[:, 0].max()  # the force itself is inside
