"""Every method on every kind of problem it is meant for; the hybrid on all of them."""

import contact_families as families
import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from fem_mbs.solvers.contact_problem import hybrid as hybrid_method
from fem_mbs.solvers.contact_problem.admm import admm
from fem_mbs.solvers.contact_problem.choice import smallest_impulses
from fem_mbs.solvers.contact_problem.newton import newton, proximal_newton
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem
from fem_mbs.solvers.contact_problem.watch import Watch

TOL = 1e-8

PROBLEMS = {
    "stack at rest": lambda: families.stack(5),
    "kicked stack": lambda: families.stack(5, kick=1.0),
    "heavy on light": lambda: families.stack(6, ratio=1e4),
    "light on heavy": lambda: families.stack(6, ratio=1e4, heavy_top=False, kick=0.1),
    "arch": lambda: families.arch(8),
    "arch of unlike stones": lambda: families.arch(8, ratio=1e3, friction=1.0),
    "wall": lambda: families.wall(3, 3),
    "kicked wall": lambda: families.wall(3, 3, kick=1.0),
    "pile": lambda: families.pile(3, 3),
    "falling pile": lambda: families.pile(3, 2, speed=1.0),
    "falling pile of unlike masses": lambda: families.pile(3, 2, speed=0.3, spread=1e4, friction=0.8),
    "table": lambda: families.table(5),
    "sliding table": lambda: families.table(4, slide=1.0, spin=1.0),
    "loaded table": lambda: families.table(3, load=1e4),
    "wedge": lambda: families.wedge(3),
    "rods": lambda: families.rods(6),
    "slabs": lambda: families.slabs(6),
    "random": lambda: families.random_dense(20),
    "random of low rank": lambda: families.random_dense(30, rank=30, friction=2.0),
    "rescaled": lambda: families.rescaled(families.wall(3, 3, kick=1.0), 1e-6, 1e6),
    "unsymmetric": lambda: families.unsymmetric(families.wall(3, 3, kick=1.0), 0.1),
    "rolling": lambda: families.pile(3, 2, speed=1.0, rolling=0.01, spinning=0.01),
}

# methods that are not meant to solve everything, on what they are meant for
SINGLE = {
    ("gauss_seidel", "table"): {},
    ("gauss_seidel", "wedge"): {},
    ("gauss_seidel", "random"): {},
    ("newton", "kicked stack"): {},
    ("newton", "arch"): {"map": "natural"},
    ("newton", "random"): {"map": "fischer_burmeister"},
    ("newton", "slabs"): {},
    ("admm", "kicked stack"): {},
    ("admm", "arch"): {},
    ("admm", "kicked wall"): {},
    ("admm", "unsymmetric"): {},
    ("apgd", "kicked stack"): {},
    ("apgd", "rods"): {},
    ("apgd", "random"): {},
    ("interior_point", "loaded table"): {},
    ("interior_point", "heavy on light"): {},
    ("interior_point", "pile"): {},
    ("cadoux", "falling pile"): {},
    ("cadoux", "loaded table"): {},
}


def check_laws(problem, solution):
    """Signorini and Coulomb at every contact, written out, in the units of the problem."""
    S = problem.scaled.S
    r, u, mu = solution.r / S, solution.u * S, problem.scaled.friction[:, 0]
    size = np.linalg.norm(problem.scaled.q) * problem.scaled.q_norm
    slack = 2 * TOL * size * (1 + np.abs(r).max() / size)  # the error bounds each residual; products grow with r
    slide, force = np.linalg.norm(u[:, 1:3], axis=1), np.linalg.norm(r[:, 1:3], axis=1)
    assert (force <= mu * r[:, 0] * (1 + 1e-12) + 1e-300).all()  # projected at the end
    assert u[:, 0].min() > -slack
    assert np.minimum(r[:, 0], u[:, 0]).max() < slack  # either open or pressed
    sliding = (slide > 1e3 * slack) & (r[:, 0] > 1e3 * slack)
    against = -np.einsum("ia,ia->i", r[sliding, 1:3], u[sliding, 1:3]) / slide[sliding]
    assert against == pytest.approx(mu[sliding] * r[sliding, 0], rel=2e-3)  # at 1e3 times the slack: angle 1e-3


@pytest.mark.parametrize("name", PROBLEMS)
def test_hybrid_solves(name):
    problem = PROBLEMS[name]()
    solution = solve_contact_problem(problem, tol=TOL)
    assert solution.converged and solution.error <= TOL * (1 + 1e-6), solution.history
    assert solution.error == problem.error(solution.r)[0]
    assert solution.u == pytest.approx(problem.velocity(solution.r), abs=0.0)
    if problem.size == 3:
        check_laws(problem, solution)


@pytest.mark.parametrize("method, name", SINGLE)
def test_single_method_solves(method, name):
    problem = PROBLEMS[name]()
    solution = solve_contact_problem(problem, method, tol=TOL, **SINGLE[method, name])
    assert solution.converged and solution.method == method and solution.iterations > 0, solution.history[-3:]
    check_laws(problem, solution)


def test_methods_agree_on_a_problem_with_one_solution():
    problem = PROBLEMS["random"]()
    solutions = [solve_contact_problem(problem, m, tol=1e-9) for m in ("gauss_seidel", "admm", "apgd", "newton")]
    for other in solutions[1:]:
        # W is regular with condition of some hundreds, so errors of 1e-9 are errors in r of about 1e-7
        assert other.r == pytest.approx(solutions[0].r, abs=1e-6 * np.abs(solutions[0].r).max())


@pytest.mark.parametrize("factor, spread", [(1e6, 1.0), (1e-6, 1.0), (1e-3, 1e6)])
def test_hybrid_takes_the_same_path_in_any_units(factor, spread):
    problem = PROBLEMS["kicked stack"]()
    plain = solve_contact_problem(problem)
    scaled = solve_contact_problem(families.rescaled(problem, factor, spread))
    assert scaled.converged and scaled.method == plain.method and scaled.iterations == plain.iterations


def test_redundant_contacts_give_the_right_motion_and_the_right_total_force():
    problem = families.table(5)  # 25 feet, 6 unknown velocities
    solution = solve_contact_problem(problem)
    weight = families.STEP * families.GRAVITY * 1.0  # impulse of gravity on 1 kg in the step
    assert np.abs(solution.u).max() < 1e-8  # stays at rest; tolerance 1e-8 of velocities of 0.1 m/s, 6 unknowns
    assert solution.r[:, 0].sum() == pytest.approx(weight, rel=1e-7)


@pytest.mark.parametrize("name", ["table", "sliding table", "stack at rest", "wedge", "kicked wall", "random"])
def test_smallest_impulses_keep_the_motion_and_the_laws(name):
    problem = PROBLEMS[name]()
    solution = solve_contact_problem(problem, tol=1e-9)
    chosen = smallest_impulses(problem, solution)
    S = problem.scaled.S
    assert np.linalg.norm(chosen.r / S) <= np.linalg.norm(solution.r / S) * (1 + 1e-6)  # its own stopping test
    scale = np.linalg.norm(problem.q * S)
    assert np.abs((chosen.u - solution.u) * S).max() < 1e-6 * scale
    check_laws(problem, chosen)


def test_smallest_impulses_of_a_symmetric_table_are_symmetric():
    problem = families.table(5)
    chosen = smallest_impulses(problem, solve_contact_problem(problem)).r
    feet = chosen[:, 0].reshape(5, 5)
    for mirrored in (feet[::-1], feet[:, ::-1], feet.T):
        assert feet == pytest.approx(mirrored, rel=1e-5)  # stops at a relative change of 1e-8 per iteration
    # at rest under its weight nothing asks for friction
    assert np.abs(chosen[:, 1:]).max() < 1e-5 * feet.max()


def test_warm_start_saves_the_sweeps():
    problem = PROBLEMS["kicked stack"]()
    cold = solve_contact_problem(problem)
    warm = solve_contact_problem(problem, start=cold.r * (1 + 1e-4))
    assert warm.converged and warm.iterations < cold.iterations


def test_a_start_that_solves_is_returned_at_once():
    problem = PROBLEMS["arch"]()
    first = solve_contact_problem(problem, tol=1e-10)
    again = solve_contact_problem(problem, start=first.r)
    assert again.converged and again.iterations == 0


def by_products(problem):
    """The same problem with W as a product."""
    W = problem.W
    free = LinearOperator(W.shape, matvec=lambda x: W @ x, dtype=float)
    return ContactProblem(free, problem.q, problem.friction[:, 0], blocks=problem.diagonal)


@pytest.mark.parametrize("method, name", [("apgd", "kicked stack"), ("apgd", "rods"), ("admm", "kicked stack"),
                                          ("admm", "arch"), ("hybrid", "falling pile")])  # fmt: skip
def test_problem_known_by_products_only_is_solved(method, name):
    problem = by_products(PROBLEMS[name]())
    solution = solve_contact_problem(problem, method, tol=1e-6)
    assert solution.converged and solution.error <= 1e-6


def test_matrix_formed_by_products_is_the_scaled_one():
    problem = PROBLEMS["kicked stack"]()
    formed = by_products(problem).scaled.formed()
    r = np.random.default_rng(12).normal(size=problem.q.shape)
    assert type(formed.operator).__name__ == "DenseOperator"
    assert formed.velocity(r) == pytest.approx(problem.scaled.velocity(r), abs=1e-12)  # round-off of 60 terms


def test_large_problem_known_by_products_only_is_solved_by_first_order_methods(monkeypatch):
    monkeypatch.setattr(hybrid_method, "LARGEST_FORMED", 10)
    solution = solve_contact_problem(by_products(PROBLEMS["kicked stack"]()), tol=1e-6)
    assert solution.converged and solution.method in ("hybrid: apgd", "hybrid: admm")


@pytest.mark.parametrize("method", ["newton", "interior_point"])
def test_methods_that_factorise_reject_a_problem_known_by_products_only(method):
    with pytest.raises(ValueError, match="needs W as a matrix"):
        solve_contact_problem(by_products(PROBLEMS["kicked stack"]()), method)


@pytest.mark.parametrize("resistances", [{"rolling": 0.01}, {"spinning": 0.01}, {"rolling": 0.01, "spinning": 0.01}])
@pytest.mark.parametrize("speed", [0.0, 0.1])
def test_sweeps_admm_and_hybrid_take_rolling_and_spinning_cones(resistances, speed):
    problem = families.pile(3, 2, speed=speed, **resistances)
    solutions = [solve_contact_problem(problem, method, tol=TOL) for method in ("gauss_seidel", "admm", "hybrid")]
    for solution in solutions:
        assert solution.converged, (solution.method, solution.error)
    # APGD closes in slowly where spheres roll: 1e-5 … 5e-6 after 5,000 products with this speed, 8e-9 at rest
    solution = solve_contact_problem(problem, "apgd", tol=TOL if speed == 0 else 1e-4)
    assert solution.converged


def test_newton_takes_rolling_cones_from_a_start_near_the_solution():
    problem = families.pile(3, 2, speed=0.1, rolling=0.01, spinning=0.01)
    near = solve_contact_problem(problem, "admm", tol=1e-5)
    for name in ("alart_curnier", "natural"):
        assert solve_contact_problem(problem, "newton", tol=TOL, start=near.r, map=name).converged, name


@pytest.mark.parametrize("method, options, message", [
    ("interior_point", {}, "rolling or spinning.*'hybrid', 'admm'"),
    ("cadoux", {}, "rolling or spinning.*'hybrid', 'admm'"),
    ("newton", {"map": "fischer_burmeister"}, "rolling or spinning.*'alart_curnier'"),
])  # fmt: skip
def test_methods_for_second_order_cones_reject_rolling_ones_and_say_what_to_take(method, options, message):
    problem = families.pile(3, 2, rolling=0.01)
    with pytest.raises(ValueError, match=message):
        solve_contact_problem(problem, method, **options)


def test_proximal_newton_solves_what_newton_alone_does_not():
    problem = families.wall(5, 5, kick=0.3).scaled
    zero = np.zeros_like(problem.q)
    begun = Watch(problem, TOL)
    admm(problem, zero, begun, iterations=100)
    stuck, proximal = Watch(problem, TOL), Watch(problem, TOL)
    newton(problem, begun.best, stuck)
    proximal_newton(problem, begun.best, proximal)
    assert stuck.best_error > 1e-4 and proximal.converged, (begun.best_error, stuck.best_error, proximal.best_error)


def test_large_problem_is_solved_in_body_space():
    problem = families.pile(8, 5)
    assert problem.n_contacts * 3 > 1500 and type(problem.scaled.operator).__name__ == "BodyOperator"
    solution = solve_contact_problem(problem)
    assert solution.converged
    check_laws(problem, solution)


def test_moving_obstacle_without_solution_returns_a_finite_best_iterate():
    # a ball pressed between two walls that close: no impulse can help
    W = np.array([[1.0, -1.0], [-1.0, 1.0]])
    problem = ContactProblem(np.kron(W, np.diag([1.0, 0.0, 0.0])) + np.diag([0, 1.0, 1.0, 0, 1.0, 1.0]),
                             [-1.0, 0, 0, -1.0, 0, 0], 0.0)  # fmt: skip
    solution = solve_contact_problem(problem, rounds=1)
    assert not solution.converged and np.isfinite(solution.r).all()
    assert solution.error > 0.1  # it says so


def test_time_limit_is_kept():
    problem = families.pile(6, 6, speed=1.0)
    solution = solve_contact_problem(problem, time_limit=0.3, tol=1e-15)
    assert sum(entry[3] for entry in solution.history) < 3.0  # one factorisation may be under way: far below the ladder


def test_rolling_and_spinning_resistance_stop_a_ball_that_would_roll_on():
    mass, radius = 1.0, 0.1
    J = 0.4 * mass * radius**2
    H = np.zeros((6, 6))  # sphere on the plane z = 0: normal z, tangents x, y; rolling about x, y, spinning about z
    H[2, 0] = H[0, 1] = H[1, 2] = 1.0
    H[4, 1], H[3, 2] = -radius, radius
    H[3, 3] = H[4, 4] = H[5, 5] = 1.0
    M = np.diag([mass] * 3 + [J] * 3)
    rolling = np.array([0.02, 0, 0, 0, 0.2, 0])  # v_x = ω_y r
    for mu_R, moves in ((1e-4, True), (1e-1, False)):
        q = H.T @ (rolling - [0, 0, 0.5, 0, 0, 0])  # pressed on by an impulse of 0.5 N s
        problem = ContactProblem.from_bodies(M, H, q, 0.5, rolling=mu_R, spinning=mu_R)
        solution = solve_contact_problem(problem)
        assert solution.converged
        # closed form: the moment takes 0.7·m v r to stop the ball; μ_R r_n is 1/28 of it, or 36 times as much
        expected = 0.2 - mu_R * 0.5 / (1.4 * mass * radius**2) if moves else 0.0
        assert solution.u[0, 4] == pytest.approx(expected, abs=1e-7)


@pytest.mark.slow
def test_a_kicked_stack_of_unlike_masses_is_solved_although_its_weak_modes_resist():
    """480 contacts, masses over 1e4: Cadoux's loop ends at 3e-8; full Newton steps with a small shift go on."""
    problem = families.stack(120, 1, 0.1, ratio=1e4)
    solution = solve_contact_problem(problem, tol=TOL)
    assert solution.converged and solution.error <= TOL * (1 + 1e-6), solution.history
    # 3e-8 was not what rounding allows: ε ‖Ŵ‖ ‖r̂‖/‖q̂‖ is 3e-12
    scaled = problem.scaled
    r = scaled.into(solution.r)
    assert np.finfo(float).eps * scaled.operator.norm() * np.linalg.norm(r) / np.linalg.norm(scaled.q) < 1e-11
