"""fclib files: what is written comes back, and every storage form of the format is understood."""

import contact_families as families
import numpy as np
import pytest
import scipy.sparse as sp

from fem_mbs.errors import FemMbsError, ParameterError
from fem_mbs.solvers.contact_problem import fclib, fclib_writer
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem

h5py = pytest.importorskip("h5py")


def rewrite_matrix(path, name, matrix, kind):
    """Replace a stored matrix by the same one in another storage form."""
    with h5py.File(path, "a") as file:
        g = file[name]
        if kind >= 0:
            coo = matrix.tocoo()  # every entry in two halves: duplicates must be summed
            i, p, x = np.tile(coo.row, 2), np.tile(coo.col, 2), np.tile(coo.data / 2, 2)
            kind = len(x)
        else:
            csr = sp.csr_array(matrix)
            i, p, x = csr.indices, csr.indptr, csr.data
        for key in ("i", "p", "x", "nz"):
            del g[key]
        g["i"], g["p"], g["x"], g["nz"] = i.astype(np.int32), p.astype(np.int32), x, np.array([kind], np.int32)


def test_problem_and_solution_survive_the_round_trip(tmp_path):
    problem = families.slabs(3)
    solution = solve_contact_problem(problem)
    fclib.write_problem(tmp_path / "slabs.hdf5", problem, solution=solution, guess=solution)
    again = fclib.read_problem(tmp_path / "slabs.hdf5")
    assert np.array_equal(again.W.toarray(), problem.W.toarray())
    assert np.array_equal(again.q, problem.q) and np.array_equal(again.friction, problem.friction)
    assert np.array_equal(fclib.read_solution(tmp_path / "slabs.hdf5")["r"], solution.r.ravel())
    assert np.array_equal(fclib.read_guesses(tmp_path / "slabs.hdf5")[0]["u"], solution.u.ravel())
    # the error of the stored solution is the error of the solver: nothing was lost
    assert again.error(solution.r)[0] == pytest.approx(solution.error, rel=1e-6, abs=1e-15)


def test_rolling_and_spinning_coefficients_survive_the_round_trip(tmp_path):
    problem = families.pile(2, 1, rolling=0.02, spinning=0.01)
    fclib.write_problem(tmp_path / "pile.hdf5", problem)
    again = fclib.read_problem(tmp_path / "pile.hdf5")
    assert again.size == 6 and np.array_equal(again.friction, problem.friction)


@pytest.mark.parametrize("kind", [0, -2])
def test_triplets_with_duplicates_and_rows_are_read_like_columns(tmp_path, kind):
    problem, path = families.arch(4), tmp_path / "arch.hdf5"
    fclib.write_problem(path, problem)
    rewrite_matrix(path, "fclib_local/W", sp.csr_array(problem.W), kind)
    assert fclib.read_problem(path).W.toarray() == pytest.approx(problem.W.toarray(), rel=1e-15)  # halves add exactly


def test_q_is_found_under_its_other_name(tmp_path):
    path = tmp_path / "a.hdf5"
    fclib.write_problem(path, families.stack(1))
    with h5py.File(path, "a") as file:
        file.move("fclib_local/vectors/q", "fclib_local/vectors/a")
    assert np.array_equal(fclib.read_problem(path).q, families.stack(1).q)


def test_global_problem_is_the_local_one_of_its_bodies(tmp_path):
    rng = np.random.default_rng(3)
    M, H = np.diag(rng.uniform(1, 2, 12)), rng.normal(size=(12, 9))
    w, f = rng.normal(size=9), rng.normal(size=12)
    fclib.write_global(tmp_path / "g.hdf5", M, H, w, 0.5, f=f)
    problem = fclib.read_problem(tmp_path / "g.hdf5")
    W = problem.W.toarray()
    assert W == pytest.approx(H.T @ np.linalg.solve(M, H), abs=1e-13)  # round-off of nine products
    assert problem.q.ravel() == pytest.approx(w + H.T @ np.linalg.solve(M, f), abs=1e-13)


@pytest.mark.parametrize("redundant", [False, True])
def test_bilateral_rows_of_a_global_problem_hold_in_its_solution(tmp_path, redundant):
    rng = np.random.default_rng(4)
    M, H, G = np.diag(rng.uniform(1, 2, 12)), rng.normal(size=(12, 6)), rng.normal(size=(12, 2))
    G = np.column_stack([G, G[:, 0]]) if redundant else G
    b = G.T @ rng.normal(size=12)
    w, f = rng.normal(size=6), rng.normal(size=12)
    path = tmp_path / "g.hdf5"
    fclib.write_global(path, M, H, w, 0.5, f=f)
    with h5py.File(path, "a") as file:
        fclib_writer._write_matrix(file["fclib_global"], "G", G)
        file["fclib_global/vectors/b"] = b
    problem = fclib.read_problem(path)
    r = rng.normal(size=6)
    # the motion with these impulses, from the conditions themselves: minimise the kinetic energy on Gᵀ v + b = 0
    inverse = np.linalg.inv(M)
    free = inverse @ (H @ r + f)
    l = np.linalg.lstsq(G.T @ inverse @ G, -b - G.T @ free, rcond=None)[0]
    v = free + inverse @ G @ l
    assert G.T @ v == pytest.approx(-b, abs=1e-12)
    assert problem.velocity(r).ravel() == pytest.approx(H.T @ v + w, abs=1e-11)  # round-off, condition about 1e2


def test_bilateral_part_of_a_local_problem_is_eliminated(tmp_path):
    rng = np.random.default_rng(5)
    G = rng.normal(size=(8, 8))
    full, q = G @ G.T, rng.normal(size=8)
    path = tmp_path / "l.hdf5"
    fclib.write_problem(path, ContactProblem(full[:6, :6], q[:6], 0.3))
    with h5py.File(path, "a") as file:
        fclib_writer._write_matrix(file["fclib_local"], "V", full[:6, 6:])
        fclib_writer._write_matrix(file["fclib_local"], "R", full[6:, 6:])
        file["fclib_local/vectors/s"] = q[6:]
    problem, r = fclib.read_problem(path), rng.normal(size=6)
    l = -np.linalg.solve(full[6:, 6:], full[6:, :6] @ r + q[6:])
    expected = full[:6] @ np.concatenate([r, l]) + q[:6]
    assert problem.velocity(r).ravel() == pytest.approx(expected, rel=1e-10)  # round-off times the condition of R


def test_planar_problem_keeps_its_solution_and_has_no_third_component(tmp_path):
    W, q = np.diag([1.0, 2.0, 1.0, 2.0]), np.array([-1.0, 0.1, -1.0, 3.0])  # the first sticks, the second slides
    path = tmp_path / "planar.hdf5"
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        fclib_writer._write_matrix(group, "W", W)
        fclib_writer._write_vectors(group, 2, np.array([[0.3], [0.3]]), q=q)
    solution = solve_contact_problem(fclib.read_problem(path))
    assert solution.r == pytest.approx(np.array([[1.0, -0.05, 0.0], [1.0, -0.3, 0.0]]), abs=1e-8)  # closed form; tol


def test_unsolved_problem_is_dumped_with_its_best_iterate(tmp_path):
    problem, path = families.stack(8, kick=1.0), tmp_path / "failed.hdf5"
    solution = solve_contact_problem(problem, "gauss_seidel", iterations=10, dump=path)
    assert not solution.converged
    assert fclib.read_problem(path).error(fclib.read_guesses(path)[0]["r"])[0] == pytest.approx(solution.error)


def test_other_file_is_rejected_with_what_is_missing(tmp_path):
    path = tmp_path / "other.hdf5"
    with h5py.File(path, "w") as file:
        file["x"] = 1.0
    with pytest.raises(fclib.FormatError, match=r"'fclib_local'.*'fclib_global'"):
        fclib.read_problem(path)
    with h5py.File(path, "w") as file:
        file["fclib_local/spacedim"] = np.array([3])
    with pytest.raises(fclib.FormatError, match=r"no matrix 'W'"):
        fclib.read_problem(path)


def damage(path, name, values):
    """Replace a data set of a file."""
    with h5py.File(path, "a") as file:
        del file[name]
        if values is not None:
            file[name] = values


# what is written over a sound problem of two contacts, and what the message has to say
DAMAGED = {
    "row index too large": ("W/i", lambda i: np.full_like(i, 10**6), r"matrix '/fclib_local/W' has i\[0\] = 1000000"),
    "row index negative": ("W/i", lambda i: -1 - i, r"has i\[0\] = -\d+; must be an index from 0"),
    "row index not whole": ("W/i", lambda i: i + 0.5, r"has i\[0\] = 0.5; must be an index"),
    "rows cut off": ("W/i", lambda i: i[:3], r"p ends with \d+ entries, but i and x hold 3 and"),
    "values cut off": ("W/x", lambda x: x[:3], r"p ends with \d+ entries, but i and x hold \d+ and 3"),
    "pointers fall": ("W/p", lambda p: p[::-1].copy(), "must begin with 0 and never fall"),
    "pointers cut off": ("W/p", lambda p: p[:2], "but p holds 2 pointers"),
    "pointers past the end": ("W/p", lambda p: p * 1000, "p ends with"),
    "size negative": ("W/m", lambda m: -m, "must be ≥ 0"),
    "size wrong": ("W/m", lambda m: m + 30, "'W' has the shape"),
    "size not a number": ("W/n", lambda n: "many", "must be an array of numbers"),
    "size empty": ("W/n", lambda n: n[:0], "must be an integer"),
    "triplets that are not there": ("W/nz", lambda nz: np.array([10**6]), "has nz = 1000000 entries, but p, i, x hold"),
    "unknown storage": ("W/nz", lambda nz: np.array([-7]), "has nz = -7"),
    "matrix missing": ("W", None, "has no matrix 'W'"),
    "vectors missing": ("vectors", None, "has no 'vectors'"),
    "q cut off": ("vectors/q", lambda q: q[:-1], "'W' has the shape"),
    "q not numbers": ("vectors/q", lambda q: "abc", "must be an array of numbers"),
    "mu cut off": ("vectors/mu", lambda mu: mu[:-1], "'mu' has the shape"),
    "dimension": ("spacedim", lambda d: np.array([9]), "spacedim = 9; must be 2 to 6"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_files_are_rejected_with_the_place_of_the_damage(tmp_path, what):
    name, change, message = DAMAGED[what]
    path, name = tmp_path / "damaged.hdf5", f"fclib_local/{name}"
    fclib.write_problem(path, families.stack(1))
    with h5py.File(path) as file:
        values = None if change is None else change(file[name][()])
    damage(path, name, values)
    with pytest.raises(fclib.FormatError, match=message) as caught:
        fclib.read_problem(path)
    assert isinstance(caught.value, FemMbsError) and "damaged.hdf5" in str(caught.value)


def test_values_that_are_no_numbers_of_a_problem_are_rejected_by_the_problem(tmp_path):
    path = tmp_path / "nan.hdf5"
    fclib.write_problem(path, families.stack(1))
    damage(path, "fclib_local/vectors/mu", np.full(families.stack(1).n_contacts, -0.5))
    with pytest.raises(ParameterError, match=r"'nan'.*friction = -0\.5 of contact 0"):
        fclib.read_problem(path)


@pytest.mark.parametrize("content", [b"", b"no HDF5 at all", b"\x89HDF\r\n\x1a\n" + bytes(40)],
                         ids=["empty", "text", "cut off"])  # fmt: skip
def test_a_file_that_is_not_hdf5_is_rejected_by_name(tmp_path, content):
    path = tmp_path / "text.hdf5"
    path.write_bytes(content)
    with pytest.raises(fclib.FormatError, match=r"text\.hdf5"):
        fclib.read_problem(path)


def test_a_solution_that_is_a_group_or_a_guess_that_is_missing_is_rejected(tmp_path):
    path, problem = tmp_path / "s.hdf5", families.stack(1)
    solution = solve_contact_problem(problem)
    fclib.write_problem(path, problem, solution=solution, guess=solution)
    damage(path, "guesses/number_of_guesses", np.array([3]))
    with pytest.raises(fclib.FormatError, match="has no '2'"):
        fclib.read_guesses(path)
    with h5py.File(path, "a") as file:
        del file["solution/r"]
        file.create_group("solution/r")
    with pytest.raises(fclib.FormatError, match=r"'/solution/r'.*array"):
        fclib.read_solution(path)
