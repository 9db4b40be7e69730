"""Sweeps with momentum: the same in both forms of W, right where they end, and quick where all contacts slide."""

import contact_families as families
import numpy as np
import pytest

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_problem.momentum import momentum
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem
from fem_mbs.solvers.contact_problem.watch import Watch

PROBLEMS = {
    "smooth pile": lambda: families.pile(3, 3, 0, 1.0, 0.0, 1),
    "falling pile": lambda: families.pile(3, 3, 0, 0.3, 0.5, 1),
    "unsymmetric pile": lambda: families.unsymmetric(families.pile(3, 3, 0, 0.3, 0.5, 1), 0.05),
    "rolling": lambda: families.pile(3, 2, speed=1.0, rolling=0.01, spinning=0.01),
}


def as_matrix(problem):
    """The same problem with W in place of its bodies."""
    return ContactProblem(problem.W, problem.q, problem.friction[:, 0])


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_it_finds_is_a_solution(name):
    """By the law of each contact written out, in scaled variables; velocities without friction are unique."""
    problem = PROBLEMS[name]()
    solution = solve_contact_problem(problem, "momentum", 1e-7)  # below it decays ever more slowly
    assert solution.converged and solution.error <= 1.01e-7
    scaled = problem.scaled
    r, u, slack = scaled.into(solution.r), scaled.S * solution.u / scaled.q_norm, 1e-6 * np.sqrt(problem.n_contacts)
    assert r[:, 0].min() > -slack and u[:, 0].min() > -slack and np.abs(r[:, 0] * u[:, 0]).max() < slack
    if problem.friction.shape[1] == 1:
        limit, T, slip = scaled.friction[:, 0] * r[:, 0], r[:, 1:], u[:, 1:]
        assert (np.linalg.norm(T, axis=1) - limit).max() < slack
        # friction takes all it can from what slides
        assert np.abs((T * slip).sum(axis=1) + limit * np.linalg.norm(slip, axis=1)).max() < 10 * slack
    if not problem.friction.any():
        known = solve_contact_problem(problem, tol=1e-10)
        # |Δz|² = Δr·Δu of the convex problem is at most the error times impulses of size 5: √(1e-7 · 5) = 7e-4
        assert np.abs(solution.u - known.u).max() < 1e-3 * np.abs(problem.q).max()


def test_sweeps_on_bodies_and_on_rows_of_w_are_the_same():
    """Order and rules are the same; sums differ in round-off, which 60 iterations of a sliding pile do not amplify."""
    given = families.pile(3, 3, speed=1.0, friction=0.1)
    ends = []
    for problem in (given, as_matrix(given)):
        watch = Watch(problem.scaled, 1e-14)
        momentum(problem.scaled, np.zeros_like(problem.q), watch, iterations=60)
        ends.append((problem.scaled.back(watch.best), [error for _, error in watch.history]))
    assert len(ends[0][1]) == len(ends[1][1]) == 3
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=1e-6)
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-8 * np.abs(ends[0][0]).max()


@pytest.mark.parametrize("speed, friction", [(1.0, 0.3), (3.0, 0.1)])
def test_a_pile_that_slides_everywhere_needs_fewer_sweeps_with_momentum(speed, friction):
    """599 contacts to 1e-4 in 160 to 340 sweeps; accelerated as Anderson does, and plain, they stay above in 600."""
    problem = families.pile(5, 5, 0, speed, friction, 1)
    swift = solve_contact_problem(problem, "momentum", 1e-4, iterations=600)
    assert swift.converged and swift.iterations <= 600
    plain = solve_contact_problem(problem, "gauss_seidel", 1e-4, iterations=600, accelerated=False)
    assert plain.error > 3 * swift.error


@pytest.mark.parametrize("speed", [0.3, 1.0])
def test_a_jammed_pile_with_an_unsymmetric_w_is_solved(speed):
    problem = families.unsymmetric(families.pile(5, 5, 1, speed, 1.0), 0.05)
    assert problem.n_contacts == 599
    solution = solve_contact_problem(problem)
    assert solution.converged and solution.error < 1.01e-8


def test_the_relaxed_law_is_rejected():
    given = families.table(4, slide=1.0)
    with pytest.raises(ParameterError, match="relaxed"):
        solve_contact_problem(ContactProblem(given.bodies, given.q, 0.3, relaxed=True), "momentum")
