"""Stiffening by an axial load: one pattern of stress, whose size follows the stretch between two frames.

A unit pull along e from frame A to frame B is the static solution d_1 with the stress σ_1:

    c = (−e on u_A, e on u_B) ,   K̂ d_1 = c ,   k = 1/(c·d_1)                                                       (17)
    Ĝ = ΦᵀK_G Φ + Σ_k [sym(F_k p_kᵀ) − (F_k·p_k) 1]_θθ ,   (K_G)_ab = ∫ ∇N_a·σ_1 ∇N_b dV  on each component         (18)

The sum is over the nodes of rigid frames at p_k = X_k − X_i, with forces F = K Φ d_1: a turn θ moves them by
θ × p + ½ θ × (θ × p), and the second part works on F. Rigid faces hold Poisson's contraction back by such forces.

Source: docs/theory/superelements.md, section 6; Géradin & Cardona, Flexible Multibody Dynamics (2001), on geometric
stiffness.
"""

from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.sparse import coo_matrix

from fem_mbs.arguments import Checked
from fem_mbs.cells import CELLS
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.superelements.craig_bampton import FrameNodes
from fem_mbs.elements.superelements.reduction import Reduction, as_lengths, rigid_coordinates


def unit_pull(owner: Checked, K: np.ndarray, X: np.ndarray, ends: tuple[int, int], units: np.ndarray) -> tuple:
    """c (n,), k [N/m] and d_1 (n,) of (17), of frames ``ends`` at places X (n_b, 3); ``units`` of `as_lengths`."""
    A, B = ends
    along = X[B] - X[A]
    length = np.linalg.norm(along)
    owner.check(A != B and length > 0.0, "stiffening", ends, "must be two frames at different places")
    c = np.zeros(len(K))
    c[6 * A : 6 * A + 3], c[6 * B : 6 * B + 3] = -along / length, along / length
    R = np.linalg.qr(rigid_coordinates(X - X.mean(axis=0), len(K)) * units[:, None])[0]
    scaled = K / np.outer(units, units)
    d = np.linalg.solve(scaled + np.abs(scaled).max() * R @ R.T, c / units) / units
    return c, float(1.0 / (c @ d)), d


def follower_stiffness(frames: list[FrameNodes], X: np.ndarray, F: np.ndarray, n: int) -> np.ndarray:
    """The sum (n, n) of (18) for forces F (k, 3) [N] on nodes at X (k, 3)."""
    found = np.zeros((n, n))
    for i, frame in enumerate(frames):
        if frame.weights is None:
            moments = F[frame.nodes].T @ (X[frame.nodes] - frame.at)
            turns = slice(6 * i + 3, 6 * i + 6)
            found[turns, turns] = 0.5 * (moments + moments.T) - np.trace(moments) * np.eye(3)
    return found


def geometric_stiffness(cells: list, X: np.ndarray, u: np.ndarray) -> Any:
    """K_G (N, N) of (18), of one component, for the stress of displacements u (N, 3) of nodes at X (N, 3).

    ``cells``: list of (type, rows (k, nn) of nodes, λ (k,), μ (k,) [Pa]).
    """
    total = coo_matrix((len(X), len(X))).tocsr()
    for cell, places, lam, mu in cells:
        rule = CELLS[cell].stiffness
        for first in range(0, len(places), 1024):
            part = slice(first, first + 1024)
            rows = places[part]
            jacobians = rule.jacobians(X[rows])
            slopes = np.einsum("qja,eqji->eqia", rule.gradients, np.linalg.inv(jacobians), optimize=True)
            strain = np.einsum("eqia,eaj->eqij", slopes, u[rows], optimize=True)
            strain = 0.5 * (strain + strain.transpose(0, 1, 3, 2))
            trace = np.trace(strain, axis1=2, axis2=3)[..., None, None]
            stress = lam[part, None, None, None] * trace * np.eye(3) + 2.0 * mu[part, None, None, None] * strain
            weights = np.linalg.det(jacobians) * rule.weights
            block = np.einsum("eq,eqia,eqij,eqjb->eab", weights, slopes, stress, slopes, optimize=True)
            i, j = np.broadcast_arrays(rows[:, :, None], rows[:, None, :])
            total = total + coo_matrix((block.ravel(), (i.ravel(), j.ravel())), shape=total.shape).tocsr()
    return total


def cells_of(body: SolidBody) -> list:
    """Cells of a body as `geometric_stiffness` takes them."""
    material = body.material
    found = [(cell, body.connectivity(cell)) for cell in body.cells]
    return [(cell, rows, *np.full((2, len(rows)), [[material.lam], [material.mu]])) for cell, rows in found]


def kept_cells(r: Reduction) -> list:
    """Cells that a reduction keeps, likewise; none with incompatible modes, whose stress is another."""
    names = {cell.vtk: name for name, cell in CELLS.items()}
    if not len(r.cell_types) or r.cell_material[:, 2].any():
        return []
    counts = np.array([len(CELLS[names[kind]].points) for kind in r.cell_types.tolist()])
    starts, found = np.cumsum(counts) - counts, []
    for kind in np.unique(r.cell_types).tolist():
        chosen = np.flatnonzero(r.cell_types == kind)
        rows = r.cell_points[starts[chosen, None] + np.arange(len(CELLS[names[kind]].points))]
        found.append((names[kind], rows, *r.cell_material[chosen, :2].T))
    return found


def change_by_stress(r: Reduction, d: np.ndarray, patterns: int) -> float:
    """Largest part of K̂ that stresses of d add or take, those of ``patterns`` left out: max |y·ΦᵀK_GΦ y|/(y·K̂ y).

    Over all deformations y of the free body. 1 is where it would buckle by itself, free; held it does so earlier.
    """
    cells = kept_cells(r)
    if not cells:
        return 0.0
    n, basis = len(r.K), r.basis.reshape(len(r.points), 3, -1)
    G = geometric_stiffness(cells, r.points, r.displacements(d))
    made = sum(basis[:, i].T @ (G @ basis[:, i]) for i in range(3))
    for p in range(patterns):
        made -= r.pull_stiffness[p] * (r.stretch[p] @ d) * r.pull_geometry[p]
    units = as_lengths(len(r.positions), n - 6 * len(r.positions), float(np.ptp(r.points, axis=0).max()), r.mass)
    rigid = rigid_coordinates(r.positions - r.positions.mean(axis=0), n) * units[:, None]
    Y = null_space((rigid / np.abs(rigid).max(axis=0).clip(1e-300)).T) / units[:, None]
    return float(np.abs(eigh(Y.T @ made @ Y, Y.T @ r.K @ Y, eigvals_only=True)).max())
