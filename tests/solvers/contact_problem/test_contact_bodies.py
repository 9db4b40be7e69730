"""Contacts between bodies as arrays of blocks: errors, what W is, sweeps with and without acceleration."""

import contact_families as families
import numpy as np
import pytest

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_problem.gauss_seidel import gauss_seidel, sweeper
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem
from fem_mbs.solvers.contact_problem.watch import Watch


def arguments(rng=None, nb=3, nc=4, d=3, m=6):
    """Arguments of `from_contacts` for random contacts between three bodies and the ground."""
    rng = rng or np.random.default_rng(20)
    G = rng.normal(size=(nb, m, m))
    masses = G @ G.transpose(0, 2, 1) + np.eye(m)
    bodies = np.array([[0, -1], [1, 0], [2, 1], [-1, 2]])[:nc]
    return {"masses": masses, "bodies": bodies, "blocks": rng.normal(size=(nc, 2, d, m)), "w": rng.normal(size=(nc, d)),
            "friction": 0.4, "v": rng.normal(size=(nb, m))}  # fmt: skip


def changed(name, value):
    given = arguments()
    given[name] = value(given[name]) if callable(value) else value
    return given


def with_entry(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("masses", lambda M: M[:, :5], r"masses = \(3, 5, 6\).*\(nb, m, m\)"),
        ("masses", lambda M: M[0, 0], r"masses = \(6,\).*shape"),
        ("masses", lambda M: with_entry(M, 1, -np.eye(6)), r"masses\[1\] = .*positive definite"),
        ("masses", lambda M: with_entry(M, (2, 0, 1), 9.0), r"masses\[2\] = .*positive definite"),
        ("masses", lambda M: with_entry(M, (0, 0, 0), np.nan), r"masses = .*not finite"),
        ("masses", np.ones((3, 6)) * [1, 1, 1, 1, 1, 0.0], r"masses\[0\] = .*positive definite"),
        ("bodies", lambda b: b.astype(float), r"bodies = \(4, 2\).*integers"),
        ("bodies", lambda b: b[:, 0], r"bodies = \(4,\).*\(nc, sides\)"),
        ("bodies", lambda b: with_entry(b, (1, 0), 3), r"bodies\[1\] = .*-1 to 2"),
        ("bodies", lambda b: with_entry(b, (2, 1), -2), r"bodies\[2\] = .*-1 to 2"),
        ("blocks", lambda B: B[:, :1], r"blocks = \(4, 1, 3, 6\).*\(4, 2, 3, 6\)"),
        ("blocks", lambda B: B[:, :, :2], r"blocks = \(4, 2, 2, 6\).*\(4, 2, 3, 6\)"),
        ("blocks", lambda B: with_entry(B, (0, 0, 0, 0), np.inf), r"blocks = .*not finite"),
        ("w", np.zeros(11), r"w = \(11,\).* 3 .* 4 contacts"),
        ("w", lambda w: with_entry(w, (3, 0), np.nan), r"w = .*not finite"),
        ("v", np.zeros((2, 6)), r"v = \(2, 6\).*\(3, 6\)"),
        ("v", lambda v: with_entry(v, (0, 0), np.inf), r"v = .*not finite"),
        ("friction", [0.1, 0.2], r"friction = .*\(4\)"),
        ("friction", [0.4, -0.1, 0.4, 0.4], r"friction = -0\.1 of contact 1"),
        ("rolling", -1.0, r"blocks = \(4, 2, 3, 6\).*\(4, 2, 5, 6\)"),
    ],
)
def test_impossible_arrays_are_rejected_with_the_reason(name, value, message):
    given = changed(name, value) if name != "rolling" else {**arguments(), "rolling": value}
    with pytest.raises(ParameterError, match=message):
        ContactProblem.from_contacts(**given)


def test_negative_rolling_resistance_is_rejected():
    with pytest.raises(ParameterError, match=r"rolling = -0\.001 of contact 0"):
        ContactProblem.from_contacts(**arguments(d=5), rolling=-1e-3)


def test_inverse_masses_may_be_singular_but_not_indefinite():
    given = arguments()
    given["masses"] = np.linalg.inv(given["masses"])
    given["masses"][0] = 0.0  # follows a prescribed motion
    problem = ContactProblem.from_contacts(**given, inverse=True)
    r = np.random.default_rng(21).normal(size=(4, 3))
    assert problem.body_velocity(r)[0] == pytest.approx(given["v"][0], abs=0.0)
    given["masses"][1] *= -1
    with pytest.raises(ParameterError, match=r"masses\[1\] = .*positive semidefinite"):
        ContactProblem.from_contacts(**given, inverse=True)


def test_velocities_are_those_of_the_equations_of_motion():
    given = arguments()
    given["bodies"][1] = [1, 1]  # both sides on one body
    problem = ContactProblem.from_contacts(**given)
    r = np.random.default_rng(22).normal(size=(4, 3))
    v = given["v"].copy()
    for i, sides in enumerate(given["bodies"]):
        for k, b in enumerate(sides):
            if b >= 0:
                v[b] += np.linalg.solve(given["masses"][b], given["blocks"][i, k].T @ r[i])
    u = given["w"].copy()
    for i, sides in enumerate(given["bodies"]):
        for k, b in enumerate(sides):
            if b >= 0:
                u[i] += given["blocks"][i, k] @ v[b]
    # round-off times the condition of the masses, below 1e3
    assert problem.body_velocity(r) == pytest.approx(v, rel=1e-11)
    assert problem.velocity(r) == pytest.approx(u, rel=1e-11, abs=1e-12)
    assert problem.W.toarray() == pytest.approx(problem.bodies.dense(), rel=1e-12, abs=1e-12)


def test_diagonal_masses_are_the_same_as_full_ones():
    given = arguments()
    given["masses"] = np.random.default_rng(23).uniform(0.5, 2.0, (3, 6))
    diagonal = ContactProblem.from_contacts(**given)
    given["masses"] = np.array([np.diag(mass) for mass in given["masses"]])
    full = ContactProblem.from_contacts(**given)
    assert diagonal.q == pytest.approx(full.q, rel=1e-14)
    assert diagonal.W.toarray() == pytest.approx(full.W.toarray(), rel=1e-13, abs=1e-14)  # round-off


def test_iterations_over_bodies_are_those_with_the_matrix():
    problem = families.pile(3, 3, speed=0.3)
    by_bodies = problem.scaled
    by_matrix = ContactProblem(problem.W, problem.q, problem.friction[:, 0]).scaled
    r = by_bodies.project(np.random.default_rng(24).normal(size=problem.q.shape))
    ours, theirs = r.copy(), r.copy()
    one, other = sweeper(by_bodies, ours), sweeper(by_matrix, theirs)
    for k in range(6):
        one(k % 2 == 0)
        other(k % 2 == 0)
    assert np.abs(ours - r).max() > 0.1  # something happened
    assert ours == pytest.approx(theirs, abs=1e-10)  # round-off


def sweeps_to(problem, tol, start=None, **options):
    """Number of iterations to an error, from given impulses."""
    scaled, watch = problem.scaled, Watch(problem.scaled, tol)
    r = np.zeros_like(scaled.q) if start is None else scaled.into(start)
    gauss_seidel(scaled, r, watch, iterations=3000, **options)
    assert watch.converged, watch.history[-3:]
    return watch.iterations


@pytest.mark.parametrize("name, at_least", [("pile at rest", 3.0), ("kicked wall", 1.5), ("table", 1.5)])
def test_accelerated_sweeps_need_fewer(name, at_least):
    problem = {
        "pile at rest": lambda: families.pile(6, 5),  # measured 230 and 50
        "kicked wall": lambda: families.wall(6, 6, 0, 0.3),
        "table": lambda: families.table(16),
    }[name]()
    plain = sweeps_to(problem, 1e-6, accelerated=False)
    assert plain >= at_least * sweeps_to(problem, 1e-6), name


def test_accelerated_sweeps_end_where_plain_ones_do():
    problem = families.pile(5, 4)
    one = solve_contact_problem(problem, "gauss_seidel", 1e-9, iterations=5000)
    other = solve_contact_problem(problem, "gauss_seidel", 1e-9, iterations=5000, accelerated=False)
    assert one.converged and other.converged
    # at rest velocities are unique; errors of 1e-9 of speeds of 0.1 m/s, times the 10 contacts of a column
    assert np.abs(one.v - other.v).max() < 1e-8


def test_sweeps_survive_acceleration_that_goes_astray():
    """Spheres thrown at each other: the combination of pairs fails again and again, plain sweeps go on."""
    problem = families.pile(4, 4, seed=1, speed=1.0)
    scaled, watch = problem.scaled, Watch(problem.scaled, 1e-12)
    gauss_seidel(scaled, np.zeros_like(scaled.q), watch, iterations=1500)
    plain = Watch(scaled, 1e-12)
    gauss_seidel(scaled, np.zeros_like(scaled.q), plain, iterations=1500, accelerated=False)
    assert watch.best_error <= 3 * plain.best_error


def test_warm_start_of_a_body_problem_saves_sweeps():
    problem = families.pile(6, 5)
    cold = solve_contact_problem(problem, "gauss_seidel", 1e-6, iterations=3000)
    moved = ContactProblem.from_contacts(
        np.ones((problem.bodies.count, 6)), problem.bodies.bodies, problem.bodies.blocks, 1.02 * problem.q, 0.5
    )  # the loads of the next step are a little others
    first = sweeps_to(moved, 1e-6)
    assert sweeps_to(moved, 1e-6, start=cold.r) < first
    assert solve_contact_problem(problem, "gauss_seidel", 1e-6, start=cold.r).iterations == 0


def test_a_start_of_another_shape_is_rejected():
    problem = families.stack(2)
    with pytest.raises(ParameterError, match=r"start = \(3, 3\).*\(8, 3\)"):
        solve_contact_problem(problem, start=np.zeros((3, 3)))


def test_a_start_that_is_not_finite_is_rejected():
    problem = families.stack(2)
    start = np.zeros((8, 3))
    start[2, 0] = np.nan
    with pytest.raises(ParameterError, match=r"start = .*not finite"):
        solve_contact_problem(problem, start=start)
