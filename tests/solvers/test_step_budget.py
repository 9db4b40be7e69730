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
    with pytest.raises(
        fem.SolverError, match=r"40 iterations.*the step is not solved.*Usual causes: contacts"
    ) as error:
        method.run(model, 0.1, 1e-3)
    # the last contact problem goes to its end; none is begun after it
    assert error.value.result.status != "complete" and len(error.value.result.t) > 1


def test_parts_of_a_step_share_its_iterations(monkeypatch):
    """Two parts that are each solved in less than the whole may take do not begin anew."""
    model = slider_in_a_guide(0, restitution=0.5, friction=0.3)
    solved = fem.DecoupledNSGA().run(model, 0.02, 1e-3)
    monkeypatch.setattr(engine, "MOST_WORK", 3)
    with pytest.raises(fem.SolverError, match=r"3 iterations, with those of shorter steps that were tried"):
        fem.DecoupledNSGA().run(slider_in_a_guide(0, restitution=0.5, friction=0.3), 0.1, 1e-3)
    assert solved.status == "complete"


@pytest.mark.slow
def test_a_linkage_that_solves_each_step_as_a_contact_problem_ends():
    """Persistent contacts and rho_inf = 1: Newton's iteration stalls in the round-off of each step."""
    outcome = random_models.run(81335)
    assert outcome.kind in ("fine", "warned"), outcome.message
