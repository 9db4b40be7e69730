"""The late stages, path of smoothed problems and Newton with exact systems: what they solve, derivatives, refusals."""

import contact_families as families
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, splu

from fem_mbs.solvers.contact_problem.exact import block_system, exact_newton
from fem_mbs.solvers.contact_problem.path import _sign_of_determinant, _Smoothed
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem
from fem_mbs.solvers.contact_problem.watch import Watch

TOL = 1e-8
PROBLEMS = {
    "one box": lambda: families.stack(1),
    "kicked stack": lambda: families.stack(5, kick=1.0),
    "heavy on light": lambda: families.stack(6, ratio=1e4),
    "arch": lambda: families.arch(8),
    "kicked wall": lambda: families.wall(3, 3, kick=1.0),
    "falling pile": lambda: families.pile(3, 2, speed=1.0),
    "table": lambda: families.table(5),
    "slabs": lambda: families.slabs(12, speed=0.3, seed=2),
    "random": lambda: families.random_dense(20, friction=2.0),
    "unsymmetric": lambda: families.unsymmetric(families.wall(3, 3, kick=1.0), 0.1),
}


def with_some_frictionless(problem):
    """Every third contact without friction."""
    friction = problem.friction[:, 0] * (np.arange(problem.n_contacts) % 3 > 0)
    return ContactProblem(problem.W, problem.q, friction)


@pytest.mark.parametrize("name", PROBLEMS)
def test_path_solves(name):
    solution = solve_contact_problem(PROBLEMS[name](), "path", tol=TOL)
    assert solution.converged and solution.error <= TOL * (1 + 1e-6)
    assert solution.iterations < 200  # steps; the path itself, not the last Newton alone


@pytest.mark.parametrize("name", ["kicked stack", "table", "slabs"])
def test_path_takes_contacts_without_friction(name):
    problem = with_some_frictionless(PROBLEMS[name]())
    solution = solve_contact_problem(problem, "path", tol=TOL)
    assert solution.converged
    assert not solution.r[problem.friction[:, 0] == 0.0, 1:].any()


@pytest.mark.parametrize("t", [1.0, 0.1])
def test_derivatives_of_the_smoothed_map_agree_with_differences(t):
    problem = with_some_frictionless(families.slabs(3)).scaled
    smoothed, rng = _Smoothed(problem), np.random.default_rng(4)
    r, direction = rng.normal(size=(2, *problem.q.shape))
    F, A, B, of_t = smoothed.values(r, t)
    moved = problem.operator.product(direction)
    along = np.einsum("iab,ib->ia", A, direction) + np.einsum("iab,ib->ia", B, moved)
    h = 1e-6  # central: truncation h² times third derivatives of about 1/t², rounding 1e-16/h
    plus, minus = (smoothed.values(r + sign * h * direction, t, False) for sign in (1, -1))
    assert along == pytest.approx((plus - minus) / (2 * h), abs=1e-7)
    plus, minus = (smoothed.values(r, t + sign * h, False) for sign in (1, -1))
    assert of_t == pytest.approx((plus - minus) / (2 * h), abs=1e-7)
    assert smoothed.values(r, t, False) == pytest.approx(F, abs=0.0)


def test_smoothed_map_tends_to_coulombs_law():
    problem = families.slabs(6)
    r = solve_contact_problem(problem, tol=1e-10).r
    smoothed, scaled = _Smoothed(problem.scaled), problem.scaled.into(r)
    sizes = [np.abs(smoothed.values(scaled, t, False)).max() for t in (1e-3, 1e-4, 1e-5)]
    # |P_t − P| ≤ t in each part of the spectrum; t μ a ≤ t in s; ξ of 0.3 in three components; a shift of 1e-5
    assert all(size <= 3 * t for size, t in zip(sizes, (1e-3, 1e-4, 1e-5)))


def test_sign_of_the_determinant_counts_both_permutations():
    rng, signs = np.random.default_rng(0), set()
    for n in (1, 2, 5, 8, 20) * 4:
        A = rng.normal(size=(n, n))
        signs.add(np.sign(np.linalg.det(A)))
        assert _sign_of_determinant(splu(sp.csc_array(A))) == np.sign(np.linalg.det(A))
    assert signs == {1.0, -1.0}


def test_path_ends_where_there_is_no_solution():
    # a ball pressed between two walls that close, as in test_contact_methods
    W = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.diag([1.0, 0.0, 0.0])) + np.diag([0, 1.0, 1.0, 0, 1.0, 1.0])
    solution = solve_contact_problem(ContactProblem(W, [-1.0, 0, 0, -1.0, 0, 0], 0.3), "path", time_limit=5.0)
    assert not solution.converged and np.isfinite(solution.r).all() and solution.error > 0.1


def test_path_rejects_rolling_contacts_and_problems_known_by_products_only():
    with pytest.raises(ValueError, match=r"rolling or spinning.*'hybrid'"):
        solve_contact_problem(families.pile(3, 2, rolling=0.01), "path")
    problem = families.stack(2)
    W = problem.W
    free = LinearOperator(W.shape, matvec=lambda x: W @ x, dtype=float)
    with pytest.raises(ValueError, match=r"method = .*W as a matrix"):
        solve_contact_problem(ContactProblem(free, problem.q, 0.5, blocks=problem.diagonal), "path")


@pytest.mark.slow  # half a minute
def test_slabs_of_random_friction_are_solved_around_the_turning_points():
    """480 contacts: sweeps, ADMM and interior points end at 1e-3 … 2e-2, the path continues after 30 turning points."""
    problem = families.slabs(120, speed=0.1, seed=2)
    solution = solve_contact_problem(problem, tol=TOL)
    assert solution.converged and solution.error <= TOL * (1 + 1e-6), solution.history
    assert solution.method == "hybrid: path"
    before = [entry[2] for entry in solution.history[:-1]]
    assert min(before) > 1e-4


@pytest.mark.parametrize("name", ["kicked stack", "arch", "random", "unsymmetric"])
def test_exact_newton_solves_from_near_the_solution(name):
    problem = PROBLEMS[name]()
    start = solve_contact_problem(problem, "admm", tol=1e-5).r
    watch = Watch(problem.scaled, TOL)
    exact_newton(problem.scaled, problem.scaled.into(start), watch)
    assert watch.converged and watch.best_error <= TOL


def test_exact_newton_rejects_problems_known_by_products_only():
    problem = families.stack(2)
    W = problem.W
    free = LinearOperator(W.shape, matvec=lambda x: W @ x, dtype=float)
    scaled = ContactProblem(free, problem.q, 0.5, blocks=problem.diagonal).scaled
    with pytest.raises(ValueError, match="W as a matrix"):
        exact_newton(scaled, np.zeros_like(scaled.q), Watch(scaled, TOL))


@pytest.mark.slow
def test_stack_of_unlike_masses_whose_rocking_is_hardly_held_is_solved_with_exact_systems():
    """480 contacts, masses over 1e4: all other stages end at 2.3e-7, with every contact in its right state."""
    problem = families.stack(120, 2, 0.1, ratio=1e4)
    solution = solve_contact_problem(problem, tol=TOL)
    assert solution.converged and solution.error <= TOL * (1 + 1e-6), solution.history
    assert solution.method == "hybrid: exact newton"
    assert min(entry[2] for entry in solution.history[:-1]) > 1e-7
    values = np.linalg.eigvalsh(problem.scaled.operator.bodies.delassus().toarray())
    weakest = values[values > 1e-13 * values[-1]][0]  # the redundant ones are zero: 5e-16 of the largest
    assert weakest < 1e-11 * values[-1]


@pytest.mark.parametrize("contacts", [1, 2, 7])
def test_full_factors_are_those_of_sparse_ones(contacts):
    rng = np.random.default_rng(contacts)
    signs = set()
    for _ in range(20):
        A, B = rng.normal(size=(2, contacts, 3, 3))
        W = rng.normal(size=(3 * contacts, 3 * contacts))
        right = rng.normal(size=(3 * contacts, 2))
        sparse, full = block_system(A, B, sp.csc_array(W)), block_system(A, B, W)
        np.testing.assert_allclose(full.solve(right), sparse.solve(right), rtol=1e-9, atol=1e-9)
        assert _sign_of_determinant(full) == _sign_of_determinant(sparse)
        signs.add(_sign_of_determinant(full))
    assert signs == {-1.0, 1.0}


def test_full_matrices_that_are_exactly_singular_are_rejected_as_sparse_ones_are():
    nothing = np.zeros((2, 3, 3))
    for W in (np.eye(6), sp.eye_array(6, format="csc")):
        with pytest.raises(RuntimeError, match="singular"):
            block_system(nothing, nothing, W)
