"""A step that is not solved ends with a message after so many iterations, however many attempts are left."""

import pytest
import random_models
from test_accepted_steps import slider_in_a_guide

import fem_mbs as fem
from fem_mbs.solvers.stepping import engine

FEW = 40  # iterations: one contact problem of the slider takes that


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-6)], ids=["subdivided", "step control"])
def test_a_step_whose_contact_problems_are_not_solved_ends_and_is_not_tried_in_all_smaller_ones(monkeypatch, control):
    monkeypatch.setattr(engine, "MOST_WORK", FEW)
    method = fem.DecoupledNSGA(contact_solver="problem", step_control=control)
    model = slider_in_a_guide(0, restitution=0.5, friction=0.3)
    with pytest.raises(fem.SolverError, match=r"Step 1, .*not solved in 40 iterations of all attempts.*Usual causes"):
        method.run(model, 0.1, 1e-3)


@pytest.mark.slow
def test_a_linkage_that_solves_each_step_as_a_contact_problem_ends():
    """Persistent contacts and rho_inf = 1: Newton's iteration stalls in the round-off of each step."""
    outcome = random_models.run(81335)
    assert outcome.kind in ("fine", "warned"), outcome.message
