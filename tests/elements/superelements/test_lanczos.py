"""Lowest modes by Lanczos' method in blocks, against closed forms."""

import numpy as np
import pytest
from scipy.sparse import block_diag, diags_array
from scipy.sparse.linalg import splu

from fem_mbs.elements.superelements.lanczos import fewer_equal, lowest_modes


def chain(n):
    """Stiffness of n unit masses between springs, both ends held, and ω_k² = 4 sin²(k π/(2 n + 2))."""
    K = diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tocsc()
    return K, 4.0 * np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2)) ** 2


def found(K, weights, count, block, most=1000):
    factor = splu(K)
    return lowest_modes(factor.solve, lambda x: weights[:, None] * x, K.shape[0], count, block, most)


@pytest.mark.parametrize("block", [1, 2, 6])
@pytest.mark.parametrize("count", [1, 15, 60])
def test_frequencies_and_modes_of_a_chain_are_those_of_the_closed_form(block, count):
    K, squares = chain(500)
    ours, modes, good = found(K, np.full(500, 4.0), count, block)
    assert good == count
    # round-off of K⁻¹, whose condition number is 1e5
    np.testing.assert_allclose(4.0 * ours, squares[:count], rtol=1e-11)
    assert np.abs(4.0 * (modes.T @ modes) - np.eye(count)).max() < 1e-12
    shapes = np.sin(np.outer(np.arange(1, 501), np.arange(1, count + 1)) * np.pi / 501)
    shapes /= 2.0 * np.linalg.norm(shapes, axis=0)
    # residuals of 1e-11 over gaps of 2/k
    assert np.abs(4.0 * np.abs(np.sum(shapes * modes, axis=0)) - 1.0).max() < 1e-12


@pytest.mark.parametrize("block", [1, 2, 6])
def test_equal_frequencies_are_all_found(block):
    """Thirty chains that are alike: a block finds as many of each frequency as it has columns, others the rest."""
    K, squares = chain(20)
    ours, _, good = found(block_diag([K] * 30, format="csc"), np.ones(600), 70, block)
    assert good == 70
    np.testing.assert_allclose(ours, np.repeat(squares, 30)[:70], rtol=1e-11)


def test_nodes_without_mass_have_no_modes():
    """Every second mass of a chain alone: springs of half the stiffness between them."""
    K, _ = chain(401)
    weights = np.tile([0.0, 1.0], 201)[:401]
    _, squares = chain(200)
    ours, _, good = found(K, weights, 10, 4)
    assert good == 10
    np.testing.assert_allclose(ours, 0.5 * squares[:10], rtol=1e-11)
    weights[6:] = 0.0  # three masses are left
    ours, _, good = found(K, weights, 10, 4)
    assert good < 10 and len(ours) == 3


def test_a_method_that_is_stopped_reports_how_many_modes_are_accurate():
    K, squares = chain(500)
    ours, _, good = found(K, np.ones(500), 30, 2, most=25)
    assert 0 < good < 30
    np.testing.assert_allclose(ours[:good], squares[:good], rtol=1e-11)


def test_as_many_equal_numbers_as_columns_are_reported():
    assert fewer_equal(np.array([3.0, 2.0, 2.0, 1.0]), 3)
    assert not fewer_equal(np.array([3.0, 2.0, 2.0, 1.0]), 2)
    assert fewer_equal(np.array([3.0]), 2)
    assert not fewer_equal(np.array([3.0]), 1)  # a single column does not show if there is another
