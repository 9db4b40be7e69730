"""A step that is not solved ends with a message after so many iterations, however many attempts are left."""

import numpy as np
import pytest
import random_models
from test_accepted_steps import slider_in_a_guide

import fem_mbs as fem
from fem_mbs.rotations import frame_with_axis
from fem_mbs.solvers.stepping import numbers

FEW = 40  # iterations: one contact problem of the slider takes that


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-6)], ids=["subdivided", "step control"])
def test_a_step_whose_contact_problems_are_not_solved_ends_and_is_not_tried_in_all_smaller_ones(monkeypatch, control):
    monkeypatch.setattr(numbers, "MOST_WORK", FEW)
    method = fem.DecoupledNSGA(contact_solver="problem", step_control=control)
    model = slider_in_a_guide(0, restitution=0.5, friction=0.3)
    with pytest.raises(fem.SolverError, match=r"Step 1, .*40 iterations"):
        method.run(model, 0.1, 1e-3)


def locked_rod(spin, tangential_restitution):
    """A rod on a ball joint comes down at a slope of 20° off the direction to the joint: friction 0.8 > tan 20°."""
    model, w = fem.Model("locked rod", gravity=[0, 0, -9.81]), [0.0, 2.0, spin]
    motion = {"velocity": np.cross(w, [0.25, 0, 0]), "angular_velocity": w}
    rod = model.add(fem.RigidBody.cylinder(1.0, 0.01, 0.5, axis=(1, 0, 0), position=[0.25, 0, 0], name="rod", **motion))
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0], name="hinge"))
    normal = np.array([-np.cos(np.radians(20.0)), 0, np.sin(np.radians(20.0))])
    slope = model.ground.frame_at(np.array([0.5, 0, 0]) - 0.023 * normal, frame_with_axis(normal))
    law = {"friction": 0.8, "restitution": 0.5, "tangential_restitution": tangential_restitution}
    model.add(fem.SphereOnPlane(rod.frame([0.25, 0, 0]), slope, radius=0.02, name="slope", **law))
    return model


@pytest.mark.parametrize(
    ("solver", "spin", "tangential_restitution"), [("problem", 0.0, 0.0), ("auto", 3.0, 0.3), ("problem", 3.0, 0.3)]
)
def test_an_impact_that_friction_locks_is_solved_without_restitution_within_the_budget(
    solver, spin, tangential_restitution
):
    """The tip cannot rebound, neither along the normal nor sideways: with either restitution there is no solution."""
    model = locked_rod(spin, tangential_restitution)
    result = fem.DecoupledNSGA(contact_solver=solver).run(model, 0.018, 1e-3)
    assert result.statistics["steps_without_restitution"] == 1 and result["slope"].impact.sum() == 1
    assert np.abs(result["slope"].gap[10:]).max() < 1e-12  # from 3 mm, at 0.37 m/s in step 9
    assert result.energy.total.max() <= result.energy.total[0] * (1 + 1e-9)


@pytest.mark.slow
def test_a_linkage_that_solves_each_step_as_a_contact_problem_ends():
    """Persistent contacts and rho_inf = 1: Newton's iteration stalls in the round-off of each step."""
    outcome = random_models.run(81335)
    assert outcome.kind in ("fine", "warned"), outcome.message
