"""Direct solution of systems of small blocks: against LAPACK, and what it says of singular matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from fem_mbs.solvers.contact_problem.factor import BlockPattern, SingularPivot


def random_pattern(rng, n, links):
    """Symmetric block pattern by rows with every diagonal block: pointers, columns."""
    i, j = rng.integers(n, size=(2, links))
    graph = sp.csr_array((np.ones(2 * links + n), (np.r_[i, j, :n], np.r_[j, i, :n])), shape=(n, n))
    graph.sum_duplicates()
    graph.sort_indices()
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def full(pointers, columns, values):
    return sp.bsr_array((values, columns, pointers)).toarray()


@pytest.mark.parametrize("n, links, m", [(1, 0, 3), (7, 4, 3), (40, 60, 6), (120, 200, 6), (150, 2000, 3)])
def test_systems_of_blocks_are_solved(n, links, m):
    rng = np.random.default_rng(n)
    pointers, columns = random_pattern(rng, n, links)
    pattern = BlockPattern(pointers, columns, m)
    row = np.repeat(np.arange(n), np.diff(pointers))
    for _ in range(2):  # the pattern serves again
        values = rng.normal(size=(len(columns), m, m))  # not symmetric
        values[columns == row] += 3.0 * np.sqrt(m * len(columns) / n) * np.eye(m)  # no pivots needed
        right = rng.normal(size=(n, m))
        x = pattern.factor(values)(right)
        exact = np.linalg.solve(full(pointers, columns, values), right.ravel()).reshape(n, m)
        assert np.abs(x - exact).max() < 1e-10 * np.abs(exact).max()  # round-off times condition, below 1e3


def test_an_arrow_matrix_has_no_fill():
    n, m = 50, 3
    others = np.arange(1, n)
    graph = sp.csr_array((np.ones(3 * n - 2), (np.r_[np.zeros(n - 1, int), others, np.arange(n)],
                                               np.r_[others, np.zeros(n - 1, int), np.arange(n)])))  # fmt: skip
    graph.sort_indices()
    pattern = BlockPattern(graph.indptr.astype(np.int64), graph.indices.astype(np.int64), m)
    # the hub is eliminated last; merging of supernodes may add a few blocks
    assert pattern.entries <= 1.3 * len(graph.indices) * m * m


def test_islands_are_solved_side_by_side():
    rng, m = np.random.default_rng(3), 3
    pointers, columns = np.arange(6), np.arange(5)  # five blocks without links
    values = rng.normal(size=(5, m, m)) + 5 * np.eye(m)
    right = rng.normal(size=(5, m))
    x = BlockPattern(pointers, columns, m).factor(values)(right)
    assert x == pytest.approx(np.linalg.solve(values, right[:, :, None])[:, :, 0], rel=1e-12)


def test_a_block_without_inverse_is_reported():
    pointers, columns = np.array([0, 2, 4]), np.array([0, 1, 0, 1])
    values = np.zeros((4, 3, 3))
    values[0] = np.eye(3)
    with pytest.raises(SingularPivot):
        BlockPattern(pointers, columns, 3).factor(values)
