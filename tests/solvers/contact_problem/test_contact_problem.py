"""The contact problem itself: projection, one contact, maps, scaling and the error that decides."""

import contact_families as families
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_problem import cones
from fem_mbs.solvers.contact_problem.one import solve_one
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem

PARTS = {3: 1, 4: 2, 5: 2, 6: 3}


def parts_of(x):
    """The friction parts of a contact vector."""
    return [x[1 + 2 * k : 3 + 2 * k] for k in range(PARTS[len(x)])]


def in_cone(x, mu, slack):
    return all(np.linalg.norm(part) <= m * x[0] + slack for part, m in zip(parts_of(x), mu))


def in_dual(x, mu, slack):
    return x[0] >= sum(m * np.linalg.norm(part) for part, m in zip(parts_of(x), mu)) - slack


def random_psd(rng, d):
    G = rng.normal(size=(d, d))
    W = G @ G.T
    return W * d / np.trace(W)


@pytest.mark.parametrize("d", PARTS)
def test_projection_satisfies_moreau(d):
    rng, p = np.random.default_rng(1), np.empty(d)
    for _ in range(3000):
        x, mu = rng.normal(size=d), rng.choice([0.0, 0.1, 0.7, 2.0], size=PARTS[d])
        cones.project(x, mu, p)
        # x = p + (x − p) with p in K, p − x in K*, orthogonal: exact up to a few roundings
        assert in_cone(p, mu, 1e-14) and in_dual(p - x, mu, 1e-14) and abs(p @ (p - x)) < 1e-13


@pytest.mark.parametrize("d, name", [(d, name) for d in PARTS for name in ("natural_map", "alart_curnier")]
                         + [(3, "fischer_burmeister")])  # fmt: skip
def test_derivatives_of_the_maps_agree_with_differences(d, name):
    rng, evaluate = np.random.default_rng(2), getattr(cones, name)
    n, parts = 40, PARTS[d]
    r, u, mu = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.uniform(0.1, 1.0, (n, parts))
    mu[0] = 0.0
    F, A, B = np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))
    other = np.empty_like(F), np.empty_like(A), np.empty_like(B)
    evaluate(r, u, mu, F, A, B)
    h = 1e-6
    for x, tangent in ((r, A), (u, B)):
        for b in range(d):
            difference = np.zeros((n, d))
            for sign in (1, -1):
                x[:, b] += sign * h
                evaluate(r, u, mu, *other)
                difference += sign * other[0] / (2 * h)
                x[:, b] -= sign * h
            # central differences of O(1) maps: h² + ε/h; no random point lies within h of a kink
            assert np.abs(difference - tangent[:, :, b]).max() < 1e-6


@pytest.mark.parametrize("friction", [0.0, 0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("symmetric", [True, False])
def test_one_contact_is_solved_to_rounding(friction, symmetric):
    rng, r = np.random.default_rng(3), np.zeros(3)
    mu = np.array([friction])
    for _ in range(2000):
        W = random_psd(rng, 3)
        if not symmetric:
            skew = 0.1 * rng.normal(size=(3, 3))
            W = W + skew - skew.T
        q = rng.normal(size=3)
        solve_one(W, q, mu, r)
        u = W @ r + q
        total, _ = cones.natural_error(r[None], u[None], np.array([cones.saxce(u, mu)]), mu[None])
        # a prototype: at most 1e-10 in 20,000 cases; relative here, r grows as W_nn falls
        assert np.sqrt(total) < 1e-10 * (1 + np.linalg.norm(r)), (W, q)


def test_one_contact_without_mobility_keeps_the_proximal_fixed_point():
    r = np.array([1.0, 0.2, 0.0])
    solve_one(np.zeros((3, 3)), np.zeros(3), np.array([0.5]), r)
    assert r == pytest.approx([1.0, 0.2, 0.0], rel=1e-12)  # nothing moves, so nothing asks for another impulse


def mobility(rng, d):
    """W_ii of a contact between two bodies of random inertia touching away from their centres."""
    columns = {4: [0, 1, 2, 3], 5: [0, 1, 2, 4, 5], 6: [0, 1, 2, 4, 5, 3]}[d]
    W = np.zeros((6, 6))
    for _ in range(2):
        x, y, z = rng.normal(size=3)
        H = np.eye(6)
        H[3:, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        W += H.T @ np.diag(rng.uniform(0.5, 2.0, 6)) @ H
    W = W[np.ix_(columns, columns)]
    return W * d / np.trace(W)


@pytest.mark.parametrize("d", [4, 5, 6])
def test_one_rolling_contact_fulfils_all_its_laws(d):
    rng = np.random.default_rng(4)
    for _ in range(1000):
        W, q, mu = mobility(rng, d), rng.normal(size=d), rng.uniform(0.05, 0.5, PARTS[d])
        r = np.zeros(d)
        solve_one(W, q, mu, r)
        u = W @ r + q
        total, _ = cones.natural_error(r[None], u[None], np.array([cones.saxce(u, mu)]), mu[None])
        assert np.sqrt(total) < 1e-9 * (1 + np.linalg.norm(r))  # the local Newton stops at 1e-10 of max |q|


@pytest.mark.parametrize("slope_over_limit, slides", [(0.99, False), (1.01, True)])
def test_block_sticks_below_and_slides_above_the_friction_angle(slope_over_limit, slides):
    friction, mass = 0.5, 3.0
    q = np.array([-1.0, 0.5 * slope_over_limit, 0.0])  # velocity gained in one step on the slope
    solution = solve_contact_problem(ContactProblem(np.eye(3) / mass, q, friction))
    assert (np.abs(solution.u[0, 1]) > 1e-3) == slides  # closed form: 5e-3 above the angle, 0 below
    assert solution.u[0, 0] == pytest.approx(0.0, abs=1e-8)  # Coulomb, not the convexified law: no separation


def test_error_does_not_depend_on_units():
    problem = families.slabs(4)
    rng = np.random.default_rng(5)
    r = np.abs(rng.normal(size=problem.q.shape))
    n = problem.n_contacts
    units = np.repeat(10.0 ** rng.uniform(-3, 3, n), 3)
    other = ContactProblem(1e-3 * units[:, None] * problem.W.toarray() * units, 7 * units * problem.q.ravel(),
                           problem.friction[:, 0])  # fmt: skip
    scaled = (7 / 1e-3) * r.ravel() / units
    assert other.error(scaled) == pytest.approx(problem.error(r), rel=1e-12)  # round-off


def test_error_of_rolling_contacts_does_not_depend_on_the_unit_of_length():
    problem = families.pile(2, 2, speed=1.0, rolling=0.01, spinning=0.02)
    n = problem.n_contacts
    r = np.abs(np.random.default_rng(6).normal(size=problem.q.shape))
    length = 1e-3  # moments r and coefficients μ_R, μ_S are multiplied by it, angular velocities divided
    scale = np.tile([1.0, 1.0, 1.0, 1 / length, 1 / length, 1 / length], n)
    sliding, rolling, spinning = problem.friction.T
    other = ContactProblem(scale[:, None] * problem.W.toarray() * scale, scale * problem.q.ravel(), sliding,
                           rolling=rolling * length, spinning=spinning * length)  # fmt: skip
    assert other.error(r.ravel() / scale) == pytest.approx(problem.error(r), rel=1e-10)  # round-off


def test_bodies_give_the_delassus_matrix_also_when_masses_are_coupled():
    rng = np.random.default_rng(7)
    H, w, f = rng.normal(size=(15, 6)), rng.normal(size=6), rng.normal(size=15)
    small = sp.block_diag([random_psd(rng, 3) + np.eye(3) for _ in range(5)])
    G = rng.normal(size=(15, 15))
    for M in (small, G @ G.T + np.eye(15), small.toarray() + 0.1 * (G - G.T)):
        dense = M.toarray() if sp.issparse(M) else M
        problem = ContactProblem.from_bodies(M, H, w, 0.3, f=f)
        r = rng.normal(size=6)
        expected = H.T @ np.linalg.solve(dense, H @ r + f) + w
        assert problem.velocity(r).ravel() == pytest.approx(expected, rel=1e-9, abs=1e-11)  # round-off times condition


def test_dense_sparse_body_and_free_operators_give_the_same_error_and_velocity():
    problem = families.pile(7, 5)  # more than 700 rows: body space
    W, q, mu = sp.csr_array(problem.W), problem.q, problem.friction[:, 0]
    n = problem.n_contacts
    blocks = W.toarray().reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n)]
    free = LinearOperator(W.shape, matvec=lambda x: W @ x, dtype=float)
    forms = [problem, *(ContactProblem(form, q, mu) for form in (W, W.toarray()))]
    forms.append(ContactProblem(free, q, mu, blocks=blocks))
    kinds = [type(form.scaled.operator).__name__ for form in forms]
    # a full matrix of mostly zeros is treated by blocks
    assert kinds == ["BodyOperator", "SparseOperator", "SparseOperator", "FreeOperator"]
    r = np.abs(np.random.default_rng(8).normal(size=q.shape))
    for form in forms[1:]:
        assert form.error(r) == pytest.approx(problem.error(r), rel=1e-10)  # round-off of sums of about 100 terms


def test_systems_are_solved_alike_in_contact_space_and_in_body_space():
    problem = families.pile(7, 5)
    body = problem.scaled.operator
    sparse = ContactProblem(sp.csr_array(problem.W), problem.q, problem.friction[:, 0]).scaled.operator
    rng = np.random.default_rng(9)
    n, d = problem.q.shape
    A, B, f = rng.normal(size=(n, d, d)), rng.normal(size=(n, d, d)), rng.normal(size=(n, d))
    A += 6 * np.eye(3)  # well conditioned: the test is about the algebra
    B[::3], A[::3] = 0.0, np.eye(d)  # open contacts
    assert np.abs(body.solve(A, B, f, 0.1) - sparse.solve(A, B, f, 0.1)).max() < 1e-9 * np.abs(f).max()  # condition 1e4
    residual = np.einsum("iab,ib->ia", A, x := body.solve(A, B, f)) + np.einsum("iab,ib->ia", B, body.product(x)) - f
    assert np.abs(residual).max() < 1e-10
    b = rng.normal(size=(n, d))
    for rho in (1e-2, 1.0):
        x = body.shifted(rho)(b)
        assert np.abs(body.product(x) + rho * x - b).max() < 1e-10  # round-off / rho
        assert sparse.shifted(rho)(b) == pytest.approx(x, abs=1e-9)


def test_nothing_to_do_is_recognised():
    free = solve_contact_problem(ContactProblem(np.eye(6), [1.0, 2, 3, 0.5, 0, 0], 0.5))
    assert free.converged and not free.r.any() and free.iterations == 0  # both contacts open
    empty = solve_contact_problem(ContactProblem(np.zeros((0, 0)), np.zeros(0), 0.5))
    assert empty.converged and empty.r.shape == (0, 3)
    still = solve_contact_problem(ContactProblem(np.eye(3), np.zeros(3), 0.5))
    assert still.converged and not still.r.any()


LINE = [-1.0, 0.2, 0.0]  # one contact that approaches
PRODUCT = LinearOperator((3, 3), matvec=lambda x: x, dtype=float)


@pytest.mark.parametrize(
    "W, q, friction, message",
    [
        (np.eye(3), [1.0, 2.0], 0.5, "q = .*multiple of 3"),
        (np.eye(6), [0.0, 0, 0], 0.5, r"W = \(6, 6\).*\(3, 3\)"),
        (np.eye(3), [0.0, np.nan, 0], 0.5, r"q = .*not finite"),
        (np.eye(3), [0.0, 0, 0], -0.1, r"friction = -0\.1 of contact 0"),
        (np.eye(3), [0.0, 0, 0], [0.1, 0.2], r"friction = .*\(1\)"),
        (np.diag([1, np.inf, 1]), [0.0, 0, 0], 0.5, r"(?s)W = .*not finite"),
        (sp.csr_array(np.diag([1, np.inf, 1])), LINE, 0.5, r"W = .*not finite"),
        (LinearOperator((3, 3), matvec=lambda x: x), [0.0, 0, 0], 0.5, r"blocks = None.*\(1, 3, 3\)"),
        ([], LINE, 0.5, r"W = \(0, 0\).*\(3, 3\)"),
        (1j * np.eye(3), LINE, 0.5, "(?s)W = .*is complex"),
        (sp.csr_array(1j * np.eye(3)), LINE, 0.5, "W = .*complex128"),
        (np.eye(3), 1j * np.array(LINE), 0.5, r"q = .* is complex"),
        (np.eye(3), LINE, 0.5j, r"friction = .* is complex"),
        ("abc", LINE, 0.5, "W = 'abc' of type str"),
        (None, LINE, 0.5, r"W = "),
        (2.0, LINE, 0.5, r"W = \(\).*matrix"),
        (np.ones((1, 3, 3)), LINE, 0.5, r"W = \(1, 3, 3\).*matrix"),
        (np.eye(3), "abc", 0.5, r"q = 'abc' of type str"),
        (np.eye(3), [[1.0, 2, 3], [1.0]], 0.5, "q = .*of type list"),
        (np.eye(3), LINE, "rough", r"friction = 'rough' of type str"),
        (1e-300 * np.eye(3), 1e300 * np.array(LINE), 0.5, r"q = 1e\+300.*too large"),
    ],
)
def test_impossible_problems_are_rejected_with_the_reason(W, q, friction, message):
    with pytest.raises(ParameterError, match=message):
        ContactProblem(W, q, friction)


@pytest.mark.parametrize(
    "blocks, message",
    [
        (np.eye(3), r"blocks = \(3, 3\).*\(1, 3, 3\)"),
        (np.zeros((2, 3, 3)), r"blocks = \(2, 3, 3\).*shape"),
        (np.full((1, 3, 3), np.nan), r"(?s)blocks = .*not finite"),
        ("abc", r"blocks = 'abc' of type str"),
    ],
)
def test_wrong_diagonal_blocks_of_a_product_are_rejected(blocks, message):
    with pytest.raises(ParameterError, match=message):
        ContactProblem(PRODUCT, LINE, 0.5, blocks=blocks)


def test_blocks_next_to_a_matrix_are_rejected_instead_of_ignored():
    with pytest.raises(ParameterError, match=r"blocks = \(1, 3, 3\).*LinearOperator"):
        ContactProblem(np.eye(3), LINE, 0.5, blocks=np.ones((1, 3, 3)))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"f": [1.0, 2.0]}, r"f = \(2,\).*\(3,\)"),
        ({"f": [np.nan] * 3}, r"f = .*not finite"),
        ({"f": "abc"}, r"f = 'abc' of type str"),
        ({"H": np.ones((4, 3))}, r"H = \(4, 3\).*\(3, nc·3\)"),
        ({"H": np.ones((3, 4))}, r"H = \(3, 4\).*shape"),
        ({"H": np.ones(3)}, r"H = \(3,\).*matrix"),
        ({"H": 1j * np.eye(3)}, r"(?s)H = .* is complex"),
        ({"H": np.full((3, 3), np.nan)}, r"(?s)H = .*not finite"),
        ({"M": np.ones((3, 4))}, r"M = \(3, 4\).*square"),
        ({"M": np.ones((20, 20)), "H": np.ones((20, 3))}, r"M = .* is singular"),
        ({"M": np.zeros((3, 3))}, r"(?s)masses\[0\] = .*positive definite"),
        ({"w": [1.0, 2.0]}, r"w = \(2,\).*\(3,\)"),
        ({"w": None}, r"w = "),
    ],
)
def test_bodies_that_do_not_fit_together_are_rejected_with_the_shape_that_would(change, message):
    arguments = {"M": np.eye(3), "H": np.eye(3), "w": LINE, "friction": 0.5} | change
    with pytest.raises(ParameterError, match=message):
        ContactProblem.from_bodies(**arguments)


@pytest.mark.parametrize("masses", ["abc", [[1, 2], [1]], [[1j] * 3]])
def test_masses_that_are_no_real_numbers_are_rejected(masses):
    with pytest.raises(ParameterError, match="masses = "):
        ContactProblem.from_contacts(masses, [[0]], np.eye(3)[None, None], LINE, 0.5)


FORMATS = ["lil", "dok", "coo", "dia", "bsr", "csc", "csr"]


@pytest.mark.parametrize("form", [*FORMATS, "list", "matrix", "integers"])
def test_matrices_of_every_kind_give_the_same_impulses(form):
    W = np.array([[2.0, 0, 0], [0, 3, 1], [0, 1, 3]])
    others = {"list": W.tolist(), "matrix": np.asmatrix(W), "integers": W.astype(int)}
    given = others[form] if form in others else getattr(sp, f"{form}_array")(W)
    expected = solve_contact_problem(ContactProblem(W, LINE, 0.5)).r
    assert solve_contact_problem(ContactProblem(given, LINE, 0.5)).r == pytest.approx(expected, rel=1e-12)  # round-off


@pytest.mark.parametrize("W", [[], np.zeros((0, 0)), sp.csr_array((0, 0)), sp.lil_array((0, 0))], ids=repr)
def test_a_problem_without_contacts_is_solved_by_no_impulses(W):
    solution = solve_contact_problem(ContactProblem(W, [], 0.5))
    assert solution.converged and solution.r.shape == solution.u.shape == (0, 3)


def test_bodies_without_contacts_keep_their_velocities():
    for arrays in (([], []), (np.zeros((0, 2), int), np.zeros((0, 2, 3, 3)))):
        problem = ContactProblem.from_contacts([[2.0] * 3], *arrays, [], 0.5, v=[[1.0, 2, 3]])
        assert solve_contact_problem(problem).v.tolist() == [[1.0, 2, 3]]
    assert solve_contact_problem(ContactProblem.from_bodies(np.eye(3), np.zeros((3, 0)), [], 0.5)).r.shape == (0, 3)


def immovable(rows):
    """W of two contacts whose given rows nothing moves."""
    W = np.eye(6)
    W[rows, rows] = 0.0
    return W


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4, 5], [3, 4, 5], [3], [0, 3]])
@pytest.mark.parametrize("method", ["hybrid", "gauss_seidel", "newton", "admm", "apgd", "interior_point", "cadoux"])
def test_bodies_that_approach_what_cannot_move_are_no_solved_problem(rows, method):
    problem = ContactProblem(immovable(rows), LINE * 2, 0.5)
    options = {"rounds": 1} if method == "hybrid" else {}
    solution = solve_contact_problem(problem, method, time_limit=2.0, **options)
    # u_N = -1 whatever r is: the distance of u from the dual cone is 1/√1.25 of |q_N|
    assert solution.u[1, 0] == -1.0 and not solution.converged
    assert solution.error > 0.3 and solution.error_max > 0.3
    # rounding of r is far below q: 1e20 … 1e65 came back, in which velocities are lost
    assert np.finfo(float).eps * np.linalg.norm(problem.scaled.into(solution.r)) < 1e-6


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-155, 1.0, 1e155, 1e200, 1e300])
def test_velocities_of_any_size_give_impulses_in_proportion(size):
    solution = solve_contact_problem(ContactProblem(np.eye(3) / 2.0, size * np.array([-3.0, 1.0, 0.0]), 0.2))
    assert solution.converged
    assert solution.r / size == pytest.approx(np.array([[6.0, -1.2, 0.0]]), rel=1e-7)  # tolerance 1e-8 of |q|


@pytest.mark.parametrize("size", [1e-300, 1e-155, 1e155, 1e300])
def test_mobilities_of_any_size_give_impulses_in_inverse_proportion(size):
    solution = solve_contact_problem(ContactProblem(size * np.eye(3) / 2.0, [-3.0, 1.0, 0.0], 0.2))
    assert solution.converged
    assert solution.r * size == pytest.approx(np.array([[6.0, -1.2, 0.0]]), rel=1e-7)


def test_an_indefinite_matrix_is_not_excused_by_its_own_rounding():
    # negative mobilities make the scaled matrix huge, and 30 ε times its norm was taken for rounding
    rng, accepted = np.random.default_rng(0), []
    for _ in range(40):
        A = rng.normal(size=(6, 6))
        problem = ContactProblem(A + A.T, rng.normal(size=6), 0.5)
        solution = solve_contact_problem(problem, rounds=0)
        if solution.converged:
            accepted.append(solution.error)
    assert len(accepted) > 3  # some have solutions, which may be found
    assert max(accepted) <= 1.0001e-8  # the tolerance, and round-off of the return to the units of the problem


def test_a_product_that_is_not_finite_is_named():
    bad = LinearOperator((3, 3), matvec=lambda x: np.nan * x, dtype=float)
    with pytest.raises(ParameterError, match=r"W = .*velocities.*not finite"):
        solve_contact_problem(ContactProblem(bad, LINE, 0.5, blocks=np.eye(3)[None]))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"method": "magic"}, "method = 'magic'.*unknown.*hybrid"),
        ({"method": None}, "method = None.*unknown"),
        ({"tol": "a"}, "tol = 'a'.*between 0 and 1"),
        ({"tol": -1.0}, r"tol = -1.0 must be"),
        ({"tol": np.nan}, "tol = nan"),
        ({"tol": np.inf}, "tol = inf"),  # every r would do
        ({"time_limit": -1.0}, r"time_limit = -1\.0 s.*> 0"),
        ({"time_limit": "a"}, "time_limit = 'a' s.*> 0"),
        ({"start": [1.0]}, r"start = \(1,\).*\(1, 3\)"),
        ({"start": "a"}, r"start = 'a' of type str"),
        ({"start": [[np.nan] * 3]}, r"start = .*not finite"),
        ({"rouds": 1}, "rouds = 1.*'hybrid'.*rounds"),
        ({"method": "newton", "map": "magic"}, "method = 'newton' map 'magic'.*unknown"),
    ],
)
def test_a_call_that_cannot_be_meant_is_rejected(options, message):
    with pytest.raises(ParameterError, match=message):
        solve_contact_problem(ContactProblem(np.eye(3), LINE, 0.5), **options)


def test_what_is_not_a_problem_is_rejected():
    with pytest.raises(ParameterError, match=r"problem = 'stack'.*ContactProblem"):
        solve_contact_problem("stack")
    with pytest.raises(ParameterError, match=r"r = \(2,\).*\(1, 3\)"):
        ContactProblem(np.eye(3), LINE, 0.5).velocity([1.0, 2.0])
