"""The relaxed contact problem, K* ∋ u ⟂ r ∈ K: by its conditions written out, and against Clarabel."""

import clarabel
import contact_families as families
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_problem import cones
from fem_mbs.solvers.contact_problem.choice import smallest_impulses
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem

PROBLEMS = {
    "kicked wall": lambda: families.wall(3, 3, kick=1.0),
    "kicked stack": lambda: families.stack(5, kick=1.0),
    "heavy on light": lambda: families.stack(6, ratio=1e4),
    "falling pile": lambda: families.pile(3, 2, speed=1.0),
    "sliding table": lambda: families.table(4, slide=1.0, spin=1.0),
    "random": lambda: families.random_dense(20),
    "rolling": lambda: families.pile(3, 2, speed=1.0, rolling=0.01, spinning=0.01),
}


def relaxed(problem, W=None, **options):
    """The same problem without De Saxcé's term."""
    names = ("rolling", "spinning")[: problem.friction.shape[1] - 1]
    given = {name: problem.friction[:, 1 + k] for k, name in enumerate(names)}
    W = (problem.W if problem.bodies is None else problem.bodies) if W is None else W
    return ContactProblem(W, problem.q, problem.friction[:, 0], relaxed=True, **given, **options)


def check_conditions(problem, r, u, slack):
    """r in K, u in K*, r·u = 0, contact by contact, in scaled variables of size 1."""
    scaled = problem.scaled
    r, u = scaled.into(r), scaled.S * u / scaled.q_norm
    sizes = [
        np.linalg.norm(x[:, 1 + 2 * k : 3 + 2 * k], axis=1) for x in (r, u) for k in range(scaled.friction.shape[1])
    ]
    parts = scaled.friction.shape[1]
    inside = np.stack(sizes[:parts], axis=1) - scaled.friction * r[:, :1]
    slide = (scaled.friction * np.stack(sizes[parts:], axis=1)).sum(axis=1)
    assert inside.max() <= 1e-12 * (1 + np.abs(r).max())
    assert (u[:, 0] - slide).min() > -slack
    assert np.abs(np.einsum("ia,ia->i", r, u)).max() < slack * (1 + np.abs(r).max())
    return slide


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_hybrid_fulfils_the_conditions(name):
    problem = relaxed(PROBLEMS[name]())
    solution = solve_contact_problem(problem, tol=1e-10)
    assert solution.converged and solution.error < 1e-10
    size = np.sqrt(problem.n_contacts)
    slide = check_conditions(problem, solution.r, solution.u, 1e-9 * size)
    moving = PROBLEMS[name]
    if name in ("kicked wall", "sliding table"):  # it is another law than Coulomb's; piles jam: u = 0 in both
        coulomb = solve_contact_problem(moving(), tol=1e-8)
        assert slide.max() > 1e-3 and np.abs(coulomb.u - solution.u).max() > 1e-3 * np.abs(solution.u).max()


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "rolling"])
def test_velocities_are_those_of_clarabel(name):
    problem = relaxed(PROBLEMS[name]())
    W = problem.W.toarray() if sp.issparse(problem.W) else np.asarray(problem.W)
    # in scaled variables and motions of the modes of W = G Gᵀ: min ½ |z|², G z + q in K*. They are unique; in impulses,
    # which a jammed pile has without bound, Clarabel may diverge
    s, scaled, n = problem.scaled.S.ravel(), problem.scaled, problem.n_contacts
    sizes, modes = np.linalg.eigh(s[:, None] * W * s)
    kept = sizes > 1e-12 * sizes.max()
    G = modes[:, kept] * np.sqrt(sizes[kept])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    slopes = np.ones((n, 3))
    slopes[:, 1:] = scaled.friction[:, :1]
    slopes, unknowns = slopes.ravel(), G.shape[1]
    P, A = sp.eye_array(unknowns, format="csc"), sp.csc_array(-slopes[:, None] * G)
    cones = [clarabel.SecondOrderConeT(3)] * n
    known = clarabel.DefaultSolver(P, np.zeros(unknowns), A, slopes * scaled.q.ravel(), cones, settings).solve()
    # 1e-11 is near the round-off of its own equations: on some processors it stops a little before
    assert known.status in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    assert known.r_prim < 1e-9 and known.r_dual < 1e-9
    u = (G @ known.x + scaled.q.ravel()).reshape(n, 3) * scaled.q_norm / scaled.S
    obtained = solve_contact_problem(problem, tol=1e-11).u
    # velocities are unique, impulses are not
    assert np.abs(obtained - u).max() < 1e-6 * np.abs(problem.q).max()


@pytest.mark.parametrize("method", ["newton", "admm", "apgd", "interior_point"])
def test_single_methods_solve_it(method):
    # Newton alone is no method for many redundant contacts
    problem = relaxed(families.random_dense(20) if method == "newton" else families.table(4, slide=1.0, spin=1.0))
    options = {"map": "natural"} if method == "newton" else {}
    known = solve_contact_problem(problem, tol=1e-10).u
    solution = solve_contact_problem(problem, method, 1e-8, **options)
    assert solution.converged
    assert np.abs(solution.u - known).max() < 1e-5 * np.abs(problem.q).max()


def test_a_w_known_by_products_is_solved_too():
    given = families.wall(3, 3, kick=1.0)
    W = given.W.toarray() if sp.issparse(given.W) else np.asarray(given.W)
    n = given.n_contacts
    blocks = W.reshape(n, 3, n, 3)[np.arange(n), :, np.arange(n)]
    product = relaxed(given, LinearOperator(W.shape, matvec=lambda x: W @ x, dtype=float), blocks=blocks)
    known = solve_contact_problem(relaxed(given), tol=1e-10).u
    assert np.abs(solve_contact_problem(product, tol=1e-10).u - known).max() < 1e-8 * np.abs(given.q).max()


@pytest.mark.parametrize("method, options", [
    ("gauss_seidel", {}), ("path", {}), ("newton", {"map": "alart_curnier"}), ("newton", {"map": "fischer_burmeister"})
])  # fmt: skip
def test_methods_of_coulombs_law_reject_it(method, options):
    problem = relaxed(families.table(4, slide=1.0))
    with pytest.raises(ParameterError, match="relaxed"):
        solve_contact_problem(problem, method, **options)
    with pytest.raises(ParameterError, match="relaxed"):
        smallest_impulses(problem, solve_contact_problem(problem))


@pytest.mark.parametrize("d, parts", [(3, 1), (5, 2), (6, 3)])
def test_derivatives_of_the_relaxed_map_agree_with_differences(d, parts):
    rng, n = np.random.default_rng(2), 40
    r, u, mu = rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.uniform(0.1, 1.0, (n, parts))
    F, A, B = np.empty((n, d)), np.empty((n, d, d)), np.empty((n, d, d))
    cones.relaxed_map(r, u, mu, F, A, B)
    h, kinks, other = 1e-6, 0, (np.empty((n, d, d)), np.empty((n, d, d)))
    for x, tangent in ((r, A), (u, B)):
        for b in range(d):
            ends = []
            for sign in (1, -1):
                x[:, b] += sign * h
                F_end = np.empty_like(F)
                cones.relaxed_map(r, u, mu, F_end, *other)
                x[:, b] -= sign * h
                ends.append(F_end)
            wrong = np.abs((ends[0] - ends[1]) / (2 * h) - tangent[:, :, b]).max(axis=1)
            kinks += (wrong > 1e-7).sum()
    assert kinks == 0
