"""Parameters of shell elements: from the unloaded shape, directors and a section to what kernels read.

Source: docs/theory/shells.md, sections 3 and 4.
"""

import numpy as np

from fem_mbs.elements.shells.kernels import parameters
from fem_mbs.elements.shells.section import ShellSection
from fem_mbs.stresses.shell_cells import cell_of
from fem_mbs.stresses.shell_stiffness import Stiffness, axes, unit

CHUNK = 4096  # elements whose matrices are integrated at once
DRILLING = 1e-3  # stiffness of drilling, of the mean A_66; and inertia of drilling, of ρh³/12


def records(
    X: np.ndarray,
    directors: np.ndarray,
    rotations: np.ndarray,
    section: ShellSection,
    *,
    first: np.ndarray,
    drilling: float,
    damping: float,
    lumped: bool,
) -> np.ndarray:
    """Parameters of elements with nodes X and directors (n, nn, 3) in the same axes, nodes turned (n, nn, 3, 3)."""
    made = np.zeros(len(X), parameters(X.shape[1]))
    for start in range(0, len(X), CHUNK):
        some = slice(start, start + CHUNK)
        _fill(made[some], X[some], directors[some], rotations[some], section, first[some], drilling, lumped)
    made["beta"], made["eps"] = damping, drilling
    return made


def _fill(made, X, directors, rotations, section, first, drilling, lumped):
    n, nn = X.shape[:2]
    cell = cell_of(nn)
    found = Stiffness(X, section, first)
    vectors = np.zeros((n, 4, nn, 3))
    vectors[:, 0], vectors[:, 1] = X, directors
    middle = cell.cell.gradients(np.full((1, 2), 0.0 if nn == 4 else 1 / 3))[0]
    J = np.einsum("ja,eai->eij", middle, X)
    basis = axes(J, first)
    g = np.linalg.inv(np.einsum("eki,eia->eka", basis[:, :2], J))  # ξ^α_,k
    # ½(x_,1·t_2 − x_,2·t_1), x_,k = x_,α ξ^α_,k, t the axes as tangents of the surface at the node
    t_1 = unit(basis[:, None, 0] - np.einsum("ei,eai->ea", basis[:, 0], directors)[..., None] * directors)
    t_2 = np.cross(directors, t_1)
    for k in (0, 1):
        vectors[:, 2 + k] = g[:, k, 0, None, None] * t_2 - g[:, k, 1, None, None] * t_1
    made["X"], made["first"] = X, first
    made["Y"] = np.einsum("eaji,ekaj->ekai", rotations, vectors[:, 1:])
    made["c"] = cell.strains(vectors)
    made["H"] = found.H
    shapes = cell.cell.stiffness.shapes
    share = found.area @ shapes
    made["drill"] = drilling * section.mean_shear_stiffness * share
    made["nodal"] = section.mass_per_area * share
    if lumped:
        made["m"] = made["nodal"][:, :, None] * np.eye(nn)
    else:
        made["m"] = section.mass_per_area * np.einsum("eq,qa,qb->eab", found.area, shapes, shapes)
    made["J"] = section.inertia_per_area * share
    made["Z"] = found.law @ found.middle
    made["products"], made["cell_at"] = len(cell.table), cell.table_at
