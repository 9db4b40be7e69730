"""Factors of single matrices, and the order in which large ones are factorised."""

import numpy as np
import pytest
from scipy.sparse import diags_array, eye_array, kron, random_array, tril

from fem_mbs.linear import factors_cholmod, metis
from fem_mbs.linear.factors import factors, positive_factors
from fem_mbs.linear.panels import panels, workspaces
from fem_mbs.linear.umfpack import library, predicted_fill


def grid(n):
    """Stiffness of a grid of n × n × n nodes, each tied to its six neighbours and to the ground."""
    line, one = diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]), eye_array(n)
    ties = kron(kron(line, one), one) + kron(kron(one, line), one) + kron(kron(one, one), line)
    return (ties + 0.1 * eye_array(n**3)).tocsc()


@pytest.mark.parametrize("many", [0, 10**9])
def test_a_triangle_has_the_factors_of_the_whole_matrix(many, monkeypatch):
    """In either order, that of METIS with effort and CHOLMOD's own."""
    monkeypatch.setattr(factors_cholmod, "MANY", many)
    A = grid(9)
    right = np.random.default_rng(0).normal(size=(A.shape[0], 3))
    for found in (positive_factors(tril(A, format="csc")), factors(A, positive=True)):
        # round-off with a condition number of some 100
        assert np.abs(A @ found.solve(right) - right).max() < 1e-12


@pytest.mark.skipif(library("cholmod") is None, reason="CHOLMOD is not installed; SuperLU does not detect it")
def test_a_matrix_that_is_not_positive_definite_is_rejected():
    with pytest.raises(RuntimeError, match="not positive definite"):
        positive_factors(tril(grid(9) - 3.0 * eye_array(729), format="csc"))


@pytest.mark.skipif(library("cholmod") is None, reason="CHOLMOD is not installed")
@pytest.mark.parametrize("side, width", [(15, 1), (23, 7), (23, 64), pytest.param(23, 1, marks=pytest.mark.slow)])
def test_panels_are_the_same_factors_in_less_memory(side, width, monkeypatch):
    """The separator of a cube has side² = n columns: n² numbers as one block, and half of that in columns."""
    A = grid(side)
    lower, right = tril(A, format="csc"), np.random.default_rng(0).normal(size=(A.shape[0], 3))
    monkeypatch.setattr(factors_cholmod, "MANY", 0)
    monkeypatch.setattr(factors_cholmod, "_PANEL", 10**9)
    wide = positive_factors(lower)
    monkeypatch.setattr(factors_cholmod, "_PANEL", width)
    narrow = positive_factors(lower)
    assert np.abs(A @ narrow.solve(right) - right).max() < 1e-12  # round-off, as above
    assert np.abs(narrow.solve(right) - wide.solve(right)).max() < 1e-12
    assert 8 * 0.45 * side**4 < wide.bytes() - narrow.bytes() < 0.3 * wide.bytes()
    with pytest.raises(RuntimeError, match="not positive definite"):
        narrow.factor(tril(A - 3.0 * eye_array(A.shape[0]), format="csc"))
    narrow.factor(2.0 * lower)
    assert np.abs(2.0 * (A @ narrow.solve(right)) - right).max() < 1e-12


def test_panels_keep_the_rows_below_their_columns():
    """Columns 0, 1 with row 4; 2, 3, 4 alone. The first updates one row of the second: one number."""
    first, at, rows = np.array([0, 2, 5]), np.array([0, 3, 6]), np.array([0, 1, 4, 2, 3, 4])
    assert [part.tolist() for part in panels(first, at, rows, 5)] == [[0, 2, 5], [0, 3, 6], [0, 6, 15], rows.tolist()]
    assert workspaces(first, at, rows) == (1, 1)
    first, at, numbers, rows = panels(first, at, rows, 2)
    assert first.tolist() == [0, 2, 3, 5] and rows.tolist() == [0, 1, 4, 2, 3, 4, 3, 4]
    assert at.tolist() == [0, 3, 6, 8] and numbers.tolist() == [0, 6, 9, 13]
    assert workspaces(first, at, rows) == (4, 2)  # column 2 updates 3 and 4


@pytest.mark.skipif(library("metis") is None or library("amd") is None, reason="METIS or AMD is not installed")
def test_nested_dissection_leaves_less_fill_than_minimum_degree():
    """Of a cube: AMD's fill grows faster with the size than that of separators."""
    A = grid(24)
    order = metis.nested_dissection(tril(A, format="csc"))
    assert np.array_equal(np.sort(order), np.arange(A.shape[0]))
    P = A[order][:, order].tocsc()
    P.sort_indices()

    def fill(matrix):
        """Entries of the factor in the order that is given, by the sets of rows of its columns."""
        rows = [set() for _ in range(matrix.shape[0])]
        total = 0
        for k in range(matrix.shape[0]):
            below = matrix.indices[matrix.indptr[k] : matrix.indptr[k + 1]]
            rows[k].update(below[below > k].tolist())
            total += len(rows[k])
            if rows[k]:
                parent = min(rows[k])
                rows[parent] |= rows[k] - {parent}
                rows[k] = ()
        return total

    by_degree, _ = predicted_fill(A.shape[0], A.indptr.astype(np.int32), A.indices.astype(np.int32))
    assert fill(P) < 0.9 * by_degree


def test_without_the_library_there_is_no_order(monkeypatch):
    monkeypatch.setattr(metis, "library", lambda name: None)
    assert metis.nested_dissection(tril(random_array((5, 5), density=0.5), format="csc")) is None
