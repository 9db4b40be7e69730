"""Compiled strains and stresses of solids against NumPy."""

import numpy as np
import pytest

from fem_mbs.mesh.cells import CELLS
from fem_mbs.stresses.solid_stress import Block, at_points
from fem_mbs.stresses.solid_stress_kernels import principal


def test_principal_stresses_are_eigenvalues_also_where_they_are_equal_tiny_or_huge():
    """Jacobi's method keeps them to some units of round-off of the largest."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(2000, 3, 3)) * 10.0 ** rng.uniform(-8, 8, size=(2000, 1, 1))
    A = A + np.swapaxes(A, 1, 2)
    A[:500] = A[:500, :, :1] @ np.swapaxes(A[:500, :, :1], 1, 2)  # two are zero
    A[0], A[1], A[2], A[3] = 0.0, np.eye(3), 1e-200 * np.eye(3), 1e150 * (np.ones((3, 3)) + np.eye(3))
    found, expected = np.empty((2000, 3)), np.linalg.eigvalsh(A)
    principal(A, found)
    assert (np.abs(found - expected).max(axis=1) <= 1e-14 * np.abs(expected).max(axis=1)).all()
    A[5, 0, 1] = np.nan
    principal(A, found)
    assert np.isnan(found[5]).all() and np.isfinite(found[6]).all()


@pytest.mark.parametrize("law", [0, 1])
@pytest.mark.parametrize("name", list(CELLS))
def test_stresses_of_a_homogeneous_deformation_are_those_of_the_law(name, law):
    """x = F X of a distorted cell: strain and stress in closed form at every point, to round-off."""
    rng, cell = np.random.default_rng(3), CELLS[name]
    X = cell.points @ (np.eye(3) + rng.uniform(-0.2, 0.2, size=(3, 3)))
    F = np.eye(3) + rng.uniform(-0.3, 0.3, size=(3, 3))
    lam, mu, J, C = 3.0, 2.0, np.linalg.det(F), F.T @ F
    E, inverse = 0.5 * (C - np.eye(3)), np.linalg.inv(C)
    hooke = lam * np.trace(E) * np.eye(3) + 2 * mu * E
    S = mu * (np.eye(3) - inverse) + lam * np.log(J) * inverse if law else hooke
    block = Block(cell, np.arange(cell.nn)[None], X[None], np.array([[lam, mu, law]], float))
    strain, stress = at_points(block, X @ F.T)
    assert strain == pytest.approx(np.broadcast_to(E, strain.shape), abs=1e-13)
    assert stress == pytest.approx(np.broadcast_to(F @ S @ F.T / J, stress.shape), abs=1e-12)
