"""Corrections by the contact-problem solver: alone, after a Newton iteration that stalls, and when it fails too."""

import numpy as np
import pytest
from contact_models import LEGS, thrown

import fem_mbs as fem
from fem_mbs.cases.bruls2014 import bouncing_pendulum
from fem_mbs.solvers.contact import correction
from fem_mbs.solvers.contact_problem.fclib import read_problem


def billiard_break():
    from billiard_break import build

    return build(rolling_resistance=0.005)


@pytest.mark.parametrize(
    ("model", "t_end"), [(billiard_break, 0.15), (bouncing_pendulum, 0.6), (lambda: thrown(LEGS), 0.4)]
)
def test_both_ways_to_solve_contacts_give_one_motion(model, t_end):
    newton, problem = (
        fem.DecoupledNSGA(contact_solver=solver, rtol=1e-8).run(model(), t_end, 1e-3)
        for solver in ("newton", "problem")
    )
    assert not newton.contact_problems.any()
    assert problem.statistics["contact_problems"] == problem.contact_problems.sum() > 0
    a, b = newton.rows([-1]), problem.rows([-1])
    # tolerances of the two, grown by the impacts in between
    np.testing.assert_allclose(a["position"], b["position"], atol=1e-6)
    np.testing.assert_allclose(a["velocity"], b["velocity"], atol=1e-5)
    assert min(problem[name].gap.min() for name in problem.contacts) > -1e-10


def test_a_stalled_newton_iteration_is_handed_over_and_reported():
    """The tripod of `contact_models` lands with three points in friction: Newton's statuses cycle, as published."""
    model = thrown(LEGS)
    alone = fem.DecoupledNSGA.published(contact_solver="newton").run(model, 1.3, 1e-3)
    assert alone.repeats.any()
    helped = fem.DecoupledNSGA.published().run(model, 1.3, 1e-3)
    assert helped.statistics["repeated_steps"] == 0
    stalled = np.flatnonzero(alone.repeats)
    assert helped.contact_problems[stalled[0]] == 1
    np.testing.assert_allclose(helped.rows([-1])["position"], alone.rows([-1])["position"], atol=1e-4)


def test_a_step_that_nobody_solves_leaves_its_contact_problem(tmp_path, monkeypatch):
    """One iteration is not enough for Newton's method, and the other solver fails."""
    real = correction.solve_contact_problem

    def gives_up(problem, **options):
        solution = real(problem, **options)
        solution.r = 0.0 * solution.r
        return solution

    monkeypatch.setattr(correction, "solve_contact_problem", gives_up)
    stepper = fem.DecoupledNSGA(contact_solver="problem", max_iterations=1)
    with pytest.raises(fem.SolverError, match=r"run\.contact_problem\.hdf5") as raised:
        stepper.run(thrown(LEGS), 1.0, 1e-3, save=str(tmp_path / "run.vtkhdf"))
    problem = read_problem(tmp_path / "run.contact_problem.hdf5")
    assert problem.n_contacts == raised.value.contact_problem.n_contacts >= 1
    assert real(problem, tol=1e-8).converged


def test_unknown_contact_solver_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"contact_solver = 'fast'.*'auto', 'newton', 'problem'"):
        fem.DecoupledNSGA(contact_solver="fast")
