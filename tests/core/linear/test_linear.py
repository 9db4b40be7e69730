"""Linear solvers: all give the same solution, detect singular matrices, and stay accurate when values change."""

import ctypes
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import fem_mbs as fem
from fem_mbs.jit import address
from fem_mbs.linear import cholmod as linear_cholmod
from fem_mbs.linear import klu as linear_klu
from fem_mbs.linear import solvers as linear
from fem_mbs.linear import superlu as linear_superlu
from fem_mbs.linear import umfpack as linear_umfpack
from fem_mbs.linear.klu_kernels import AMORTISED, SCALED

MISSING = {
    "klu": linear.klu() is None,
    "umfpack": linear.library("umfpack") is None,
    "cholmod": not linear.cholesky_found(),
}
NAMES = [name for name in linear.SOLVERS if not MISSING.get(name)]


def chain(n_bodies):
    """KKT pattern of a chain, 6 unknowns per body and 5 rows between neighbours, and the number of unknowns."""
    n, m = 6 * n_bodies, 5 * (n_bodies - 1)
    pattern = sp.lil_array((n + m, n + m))
    for b in range(n_bodies):
        pattern[6 * b : 6 * b + 6, 6 * b : 6 * b + 6] = 1
    for j in range(n_bodies - 1):
        rows, columns = slice(n + 5 * j, n + 5 * j + 5), slice(6 * j, 6 * j + 12)
        pattern[rows, columns] = 1
        pattern[columns, rows] = 1
    return sp.csc_array(pattern), n


def kkt_values(matrix, n, rng):
    """Random values on the pattern: a mass block that is positive definite, full-rank constraint rows."""
    dense = matrix.toarray() * rng.normal(size=matrix.shape)
    dense[:n, :n] = 0.1 * (dense[:n, :n] + dense[:n, :n].T) + np.diag(rng.uniform(3, 5, n))
    dense[:n, n:] = dense[n:, :n].T
    return dense


def make(name, matrix):
    """Solver of a pattern; a dense one stores every entry."""
    if name == "dense":
        matrix = sp.csc_array(np.ones(matrix.shape))
    matrix.sort_indices()
    pointers, rows = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return linear.SOLVERS[name](matrix.shape[0], pointers, rows)


def values_of(solver, dense):
    columns = np.repeat(np.arange(solver.n), np.diff(solver.pointers))
    return np.ascontiguousarray(dense[solver.rows, columns])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_bodies", [1, 3, 30])
def test_every_solver_solves_kkt_systems_to_round_off(name, n_bodies):
    rng = np.random.default_rng(n_bodies)
    matrix, n = chain(n_bodies)
    solver = make(name, matrix)
    for _ in range(3):  # the pattern is analysed once, values change
        dense = kkt_values(matrix, n, rng)
        right = rng.normal(size=solver.n)
        assert solver.factor(values_of(solver, dense))
        solution = solver.solve(right)
        residual = np.abs(dense @ solution - right).max()
        assert residual < 1e-11 * (1 + np.abs(solution).max()), f"{name}: {residual}"  # round-off at condition < 1e4


@pytest.mark.parametrize("name", NAMES)
def test_right_hand_side_of_the_caller_is_not_changed(name):
    matrix, n = chain(2)
    solver = make(name, matrix)
    right = np.ones(solver.n)
    solver.factor(values_of(solver, kkt_values(matrix, n, np.random.default_rng(1))))
    solver.solve(right)
    assert np.array_equal(right, np.ones(solver.n))


@pytest.mark.parametrize("name", NAMES)
def test_singular_matrices_are_reported_and_do_not_spoil_the_next_factorisation(name):
    rng = np.random.default_rng(5)
    matrix, n = chain(3)
    solver = make(name, matrix)
    good = kkt_values(matrix, n, rng)
    singular = good.copy()
    singular[:, 2] = singular[2, :] = 0.0  # an unknown without mass, stiffness or constraint
    assert solver.factor(values_of(solver, good))
    assert not solver.factor(values_of(solver, singular))
    assert solver.factor(values_of(solver, good))
    right = rng.normal(size=solver.n)
    assert good @ solver.solve(right) == pytest.approx(right, abs=1e-11)  # round-off


@pytest.mark.skipif(linear.klu() is None, reason="KLU is not installed")
def test_diagonal_matrices_are_divided_by_to_the_last_bit_and_without_factors():
    rng = np.random.default_rng(6)
    matrix, n = chain(4)
    free, coupled = make("klu", matrix[:n, :n]), kkt_values(matrix, n, rng)[:n, :n]
    diagonal = np.diag(np.diag(coupled) * 10.0 ** rng.uniform(-8, 8, n) * rng.choice([-1.0, 1.0], n))
    right = rng.normal(size=n)
    assert free.factor(values_of(free, diagonal))
    assert np.array_equal(free.solve(right), right / np.diag(diagonal))
    assert free.symbolic[0] == free.numeric[0] == 0  # KLU has nothing
    assert free.factor(values_of(free, coupled))
    assert coupled @ free.solve(right) == pytest.approx(right, abs=1e-12)  # round-off
    assert free.numeric[0] != 0
    diagonal[3, 3] = 0.0
    assert not free.factor(values_of(free, diagonal))


@pytest.mark.parametrize("name", NAMES)
def test_pivots_that_become_bad_are_replaced(name):
    """The pivot order of the first values would lose ten digits on the second: it must not be kept blindly."""
    rng = np.random.default_rng(8)
    matrix, n = chain(20)
    solver = make(name, matrix)
    first = kkt_values(matrix, n, rng)
    second = first.copy()
    scale = np.where(np.arange(n) % 2 == 0, 1e-9, 1.0)  # every other mass becomes tiny
    second[:n, :n] = np.diag(scale * np.diag(first)[:n])
    right = rng.normal(size=solver.n)
    solver.factor(values_of(solver, first))
    solver.solve(right)
    assert solver.factor(values_of(solver, second))
    residual = second @ solver.solve(right) - right
    assert np.abs(residual).max() < 1e-9  # 10 × the residual at which factors are refreshed


@pytest.mark.skipif(linear.klu() is None, reason="KLU is not installed")
def test_rows_in_units_far_apart_have_good_pivots():
    """16 orders of magnitude: the largest entry of a column is no good pivot unless rows are scaled."""
    rng = np.random.default_rng(2)
    matrix, n = chain(20)
    dense = 10.0 ** rng.uniform(-8, 8, matrix.shape[0])[:, None] * kkt_values(matrix, n, rng)
    solver, solution = make("klu", matrix), rng.normal(size=matrix.shape[0])
    right = dense @ solution
    assert solver.factor(values_of(solver, dense))
    first, second = solver.solve(right), solver.solve(right)
    assert np.array_equal(first, second)  # the second is not checked, with the factors that the first has left
    assert first == pytest.approx(solution, abs=1e-9)  # condition up to 1e4 of the balanced matrix


@pytest.mark.skipif(linear.klu() is None, reason="KLU is not installed")
def test_later_factorisations_leave_scales_out_and_are_as_accurate():
    """Pivots are given then; without scales where they are chosen five digits are lost (above)."""
    matrix, n = chain(30)

    def errors(seed, scaled):
        rng = np.random.default_rng(seed)
        units = 10.0 ** rng.uniform(-6, 6, matrix.shape[0])
        dense, solver, found = kkt_values(matrix, n, rng), make("klu", matrix), []
        always = np.full(1, SCALED, np.int32)
        if scaled:
            solver.context[0]["scale_at"] = address(always)  # KLU's own switch stays as it is
        for _ in range(4):
            dense = dense * (1.0 + 0.05 * rng.normal(size=dense.shape))
            solution = rng.normal(size=solver.n)
            assert solver.factor(values_of(solver, units[:, None] * dense))
            found.append(np.abs(solver.solve(units * (dense @ solution)) - solution).max())
        return np.array(found[1:])

    ratios = np.array([errors(seed, False) / errors(seed, True) for seed in range(20)])
    assert np.exp(np.abs(np.log(ratios).mean())) < 1.5  # measured: 1.04; no drift, only other round-off
    assert np.all(ratios != 1.0)  # the switch was used


@pytest.mark.skipif(linear.klu() is None, reason="KLU is not installed")
def test_entries_that_come_and_go_are_never_missed():
    """Random entries are zero in each matrix, more of them in some: what KLU is given has to follow."""
    rng = np.random.default_rng(3)
    matrix, n = chain(6)
    solver = make("klu", matrix)
    for k in range(400):
        dense = kkt_values(matrix, n, rng)
        keep = rng.random((n, n)) < (1.0 if k % 3 == 0 else 0.3)
        dense[:n, :n] *= keep | np.eye(n, dtype=bool)
        right = rng.normal(size=solver.n)
        assert solver.factor(values_of(solver, dense))
        solution = solver.solve(right)
        assert np.abs(dense @ solution - right).max() < 1e-9 * (1 + np.abs(solution).max())  # 10 × `REFRESH`
    used = solver.context[0]["used"]
    assert np.count_nonzero(dense) <= used <= len(solver.rows)


@pytest.mark.skipif(linear.klu() is None, reason="KLU is not installed")
def test_klu_forgets_entries_that_have_become_zero():
    rng = np.random.default_rng(4)
    matrix, n = chain(6)
    solver, full = make("klu", matrix), kkt_values(matrix, n, rng)
    sparse = full * 1.0
    sparse[:n, :n] = np.diag(np.diag(full)[:n])
    for row in range(n, solver.n):  # one entry in each row
        only = np.flatnonzero(sparse[row])[(row - n) % 5]
        sparse[row, :only] = sparse[row, only + 1 :] = sparse[:only, row] = sparse[only + 1 :, row] = 0.0
    assert solver.factor(values_of(solver, full))
    assert solver.context[0]["used"] == np.count_nonzero(full)
    for _ in range(AMORTISED):
        assert solver.factor(values_of(solver, sparse))
    assert 2 * np.count_nonzero(sparse) < np.count_nonzero(full)  # else it keeps them
    assert solver.context[0]["used"] == np.count_nonzero(sparse)
    right = rng.normal(size=solver.n)
    assert sparse @ solver.solve(right) == pytest.approx(right, abs=1e-11)  # round-off
    assert solver.factor(values_of(solver, full))
    assert full @ solver.solve(right) == pytest.approx(right, abs=1e-11)


def pendulum_chain(links):
    """Chain of links on hinges that fall from the horizontal."""
    model = fem.Model("chain", gravity=[0, 0, -9.81])
    before = model.ground
    for i in range(links):
        rod = model.add(
            fem.RigidBody.box(1.0, [0.5, 0.05, 0.05], position=[0.5 * i + 0.25, 0, 0], name=f"link {i + 1}")
        )
        model.add(fem.Revolute.at(before, rod, [0.5 * i, 0, 0], [0, 1, 0]))
        before = rod
    return model


@pytest.mark.parametrize("name", NAMES)
def test_motion_does_not_depend_on_the_linear_solver(name):
    reference, other = (
        fem.DecoupledNSGA(rtol=1e-10).run(pendulum_chain(8).compile(linear_solver=solver), 0.5, 5e-3)
        for solver in ("dense", name)
    )
    # 100 steps of a chain that is not yet chaotic, each with 1e-10 of its forces
    assert other["link 8"].position == pytest.approx(reference["link 8"].position, abs=1e-8)
    assert other.violation.position.max() < 1e-11


def test_choice_follows_the_size_and_what_is_installed():
    assert linear.choose(linear.DENSE_LIMIT) is (linear.KLU if linear.klu() else linear.DenseLU)
    assert linear.choose(linear.DENSE_LIMIT + 1) is (linear.KLU if linear.klu() else linear.SuperLU)
    assert linear.choose(10, "superlu") is linear.SuperLU
    system = pendulum_chain(8).compile()
    assert type(system.own.layouts[0].solver) is linear.choose(system.n + system.m)


def cube(n, cell="hexahedron"):
    """Falling cube of solids, n elements along each edge, held to the ground by one face."""
    model = fem.Model("cube", gravity=[0, 0, -9.81])
    body = fem.SolidBody(fem.block_mesh([1, 1, 1], [n, n, n], cell=cell), fem.SolidMaterial(1e6, 0.3, 1e3), name="cube")
    model.add(body, fem.SurfaceCoupling(body, "x0", kind="averaged"))
    return model


@pytest.mark.skipif(MISSING["umfpack"], reason="UMFPACK is not installed")
def test_patterns_that_fill_in_go_to_cholmod_or_umfpack_and_others_stay(monkeypatch):
    kinds = [type(layout.solver) for layout in cube(8).compile().own.layouts]
    assert set(kinds) == {linear.CholeskyWithBorder if linear.cholesky_found() else linear.UMFPACK}
    with monkeypatch.context() as without:
        without.setattr(linear_cholmod, "_module", None)
        assert {type(layout.solver) for layout in cube(8).compile().own.layouts} == {linear.UMFPACK}
    assert type(pendulum_chain(300).compile().own.layouts[0].solver) is linear.KLU  # 3,300 unknowns, no fill
    assert type(cube(8).compile(linear_solver="klu").own.layouts[0].solver) is linear.KLU
    monkeypatch.setitem(linear_umfpack._libraries, "amd", None)
    assert type(cube(8).compile().own.layouts[0].solver) is linear.KLU


def test_solids_move_the_same_whatever_factorises_them():
    ends = []
    for name in ("umfpack", "cholmod", "klu", "superlu"):
        if not MISSING.get(name):
            system = cube(5).compile(linear_solver=name)
            result = fem.DecoupledNSGA(rtol=1e-10).run(system, t_end=2e-3, h=1e-3)
            ends.append(np.array([result[key].position[-1] for key in result if key.startswith("node")]))
    assert len(ends) > 0
    for other in ends[1:]:
        assert np.abs(other - ends[0]).max() < 1e-12


def test_superlu_keeps_the_order_with_fewer_entries(monkeypatch):
    """Of a solid that of minimum degree; the columns' of a chain with rows of constraints."""
    monkeypatch.setattr(linear_superlu, "LARGE", 100)
    counts = {}
    line = sp.diags_array([np.ones(10), np.ones(11), np.ones(10)], offsets=[-1, 0, 1])
    grid = sp.csc_array(sp.kron(sp.kron(line, line), line))  # 27 neighbours
    rng = np.random.default_rng(2)
    dense = grid.toarray() * rng.normal(size=grid.shape) + 40.0 * np.eye(11**3)
    for full in (2, 1000):  # 1000: the other order is never tried
        monkeypatch.setattr(linear_superlu, "FULL", full)
        solver = make("superlu", grid.copy())
        assert solver.factor(values_of(solver, dense))
        right = rng.normal(size=11**3)
        assert dense @ solver.solve(right) == pytest.approx(right, abs=1e-12)  # round-off
        counts[full] = solver.factors.nnz
    assert counts[2] < counts[1000]


def test_unknown_and_missing_solvers_are_rejected_with_what_to_do(monkeypatch):
    with pytest.raises(ValueError, match=r"linear_solver = 'pardiso'.*unknown.*dense, klu, umfpack, cholmod, superlu"):
        linear.choose(10, "pardiso")
    monkeypatch.setattr(linear_klu, "_klu_library", False)
    monkeypatch.setitem(linear_umfpack._libraries, "umfpack", None)
    with pytest.raises(ValueError, match=r"linear_solver = .*umfpack.*not found.*apt-get"):
        linear.choose(10, "umfpack")
    monkeypatch.setattr(linear_cholmod, "_module", None)
    with pytest.raises(ValueError, match=r"linear_solver = .*cholmod.*not found.*pip install fem_mbs\[sparse\]"):
        linear.choose(10, "cholmod")
    with pytest.raises(ValueError, match=r"linear_solver = .*klu.*not found.*apt-get"):
        linear.choose(10, "klu")
    assert linear.choose(1000) is linear.SuperLU and linear.choose(10) is linear.DenseLU


def test_a_missing_library_is_not_an_error(monkeypatch):
    def nothing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", nothing)
    assert linear_klu._load_klu() is None


def test_active_solvers_are_listed_with_how_to_get_them():
    listed = {name: (found, how) for name, found, how in linear.available()}
    assert listed["dense LU (LAPACK)"][0] and listed["SuperLU (SciPy)"][0]
    assert "libsuitesparse" in listed["KLU (SuiteSparse)"][1]
    found, how = listed["CHOLMOD (scikit-sparse)"]
    assert found == linear.cholesky_found() and "pip install fem_mbs[sparse]" in how


def test_scikit_sparse_that_cannot_be_imported_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sksparse", None)
    monkeypatch.setattr(linear_cholmod, "_module", False)
    assert linear_cholmod.cholmod() is None and not linear.cholesky_found()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("zeros", [False, True])
def test_factors_made_again_from_a_state_have_the_same_bits(name, zeros):
    """Pivots are those of the first matrix, which the last one alone would not give."""
    rng, (matrix, n) = np.random.default_rng(5), chain(30)
    solver, right = make(name, matrix), rng.normal(size=matrix.shape[0])
    first = kkt_values(matrix, n, rng)
    last = first * (1.0 + 0.5 * rng.normal(size=first.shape))
    if zeros:  # more entries appear later: the pattern is analysed twice
        first[0, 1:6] = first[1:6, 0] = 0.0
    for dense in (first, last):
        assert solver.factor(values_of(solver, dense))
        expected = solver.solve(right)
    other = make(name, matrix)
    other.set_state(solver.get_state())
    assert other.solve(right).tobytes() == expected.tobytes()
    again = last * (1.0 + 0.1 * rng.normal(size=first.shape))
    for one in (solver, other):
        assert one.factor(values_of(one, again))
    assert other.solve(right).tobytes() == solver.solve(right).tobytes()
    alone = make(name, matrix)
    alone.factor(values_of(alone, last))
    if name == "klu" and not zeros:  # else a new analysis has new pivots
        assert alone.solve(right).tobytes() != expected.tobytes()  # the pivots matter
    with pytest.raises(ValueError, match=r"numbers, not|no factors of|cannot be those of"):
        make(name, chain(2)[0]).set_state(solver.get_state())
