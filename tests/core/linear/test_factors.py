"""Factors of single matrices: by which library, and that they are those of the matrix."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csc_array, diags_array, eye_array, kron, tril

from fem_mbs.linear import cholmod
from fem_mbs.linear.cholmod import Cholesky
from fem_mbs.linear.factors import EVEN, _Multifrontal, factors, positive_factors
from fem_mbs.linear.umfpack import library

WITHOUT = cholmod.cholmod() is None
NEEDED = pytest.mark.skipif(WITHOUT, reason="scikit-sparse is not installed")
FILLS = pytest.mark.skipif(library("umfpack") is None or library("amd") is None, reason="UMFPACK is not installed")


def grid(n):
    """Stiffness of a grid of n × n × n nodes, each tied to its six neighbours and to the ground."""
    line, one = diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]), eye_array(n)
    ties = kron(kron(line, one), one) + kron(kron(one, line), one) + kron(kron(one, one), line)
    return (ties + 0.1 * eye_array(n**3)).tocsc()


def check(matrix, found):
    """The solution of three right-hand sides, and of one of them alone."""
    right = np.random.default_rng(0).normal(size=(matrix.shape[0], 3))
    solution = found.solve(right)
    # round-off with a condition number of some 100
    assert np.abs(matrix @ solution - right).max() < 1e-12
    assert np.abs(found.solve(right[:, 0]) - solution[:, 0]).max() < 1e-12


@pytest.mark.parametrize("side", [5, 9, 17])  # eliminated one by one, in dense blocks, and such that fill in
@pytest.mark.parametrize("without", [pytest.param(False, marks=NEEDED), True])
def test_a_triangle_has_the_factors_of_the_whole_matrix(side, without, monkeypatch):
    """With scikit-sparse, and by UMFPACK or SuperLU without it."""
    if without:
        monkeypatch.setattr(cholmod, "_module", None)
    A = grid(side)
    for found in (positive_factors(tril(A, format="csc")), factors(A, positive=True)):
        assert isinstance(found, Cholesky) != without
        check(A, found)


@NEEDED
@pytest.mark.parametrize("side", [3, 9])
def test_a_matrix_that_is_not_positive_definite_is_rejected(side):
    """By eliminating one by one, which does not stop at a negative pivot, and in dense blocks."""
    with pytest.raises(RuntimeError, match="not positive definite"):
        positive_factors(tril(grid(side) - 3.0 * eye_array(side**3), format="csc"))


@NEEDED
def test_factors_of_another_matrix_take_the_place_of_the_former():
    A = grid(9)
    lower = tril(A, format="csc")
    found = positive_factors(lower)
    with pytest.raises(RuntimeError, match="not positive definite"):
        found.factor(tril(A - 3.0 * eye_array(729), format="csc"))
    found.factor(2.0 * lower)
    check(2.0 * A, found)


@NEEDED
def test_evenness_is_the_ratio_of_the_pivots():
    """A diagonal matrix has its own numbers as pivots."""
    values = np.linspace(2.0, 50.0, 40)
    assert positive_factors(csc_array(diags_array(values))).evenness == pytest.approx(2.0 / 50.0, rel=1e-15)


@NEEDED
@FILLS
def test_what_fills_in_has_cholesky_factors_if_it_is_symmetric_and_definite():
    A = grid(18)
    n = A.shape[0]
    check(A, found := factors(A))
    assert isinstance(found, Cholesky)
    turned = A.tolil()
    turned[5, 6] += 1e-9  # the triangle below does not have it
    for other in (turned.tocsc(), A - 0.22 * eye_array(n)):  # one eigenvalue is -0.04, and the next one 0.04
        check(other, found := factors(other))
        assert isinstance(found, _Multifrontal)


@NEEDED
@FILLS
@pytest.mark.parametrize("part", [1e3, 1e-3])
def test_a_nearly_singular_matrix_is_left_to_lu(part):
    """Two unknowns with nearly equal rows: their last pivot is twice what is apart, the largest of all some 5."""
    apart = part * EVEN
    found = factors(block_diag([grid(18), [[1.0, 1.0 - apart], [1.0 - apart, 1.0]]], format="csc"))
    assert isinstance(found, Cholesky) == (part > 1.0)
