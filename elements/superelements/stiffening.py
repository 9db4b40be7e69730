"""Stiffening by loads: patterns of stress σ_p, whose sizes follow the stretches of a body.

    ½ d·Ĝ_p d = ½ d·ΦᵀK_G Φ d + Σ_k F_k·(θ × v_k + ½ θ × (θ × p_k)) ,
    (K_G)_ab = ∫ ∇N_a·σ_p ∇N_b dV  on each component                                                               (20)

The sum is over the nodes of frames at p_k = X_k − X_i, on which these act with F = K u_p − b_p of (19). A rotation θ
moves them by θ × p + ½ θ × (θ × p), and rotates their displacements v = u_k − u_i − θ × p_k, which averaged frames
leave them; the second order of both works on F. Rigid faces hold Poisson's contraction back by such forces.

Motions z of the inside that the modes leave out would soften the body in second order. On them work W_p d,

    R_pq = W_pᵀ (K_ii⁻¹ − Σ_j φ_j φ_jᵀ/K̂_jj) W_q ,   W_p d = K_G Φ d + Σ_k F_k × θ   (averaged frames)             (21)

Source: docs/theory/superelements.md, section 6; Géradin & Cardona, Flexible Multibody Dynamics (2001), on geometric
stiffness.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space
from scipy.sparse import coo_matrix

from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.superelements.coordinates import as_lengths, rigid_coordinates, softening_of
from fem_mbs.elements.superelements.craig_bampton import FrameNodes
from fem_mbs.elements.superelements.reduction import Reduction
from fem_mbs.mesh.cells import CELLS
from fem_mbs.rotations import skew


def follower_stiffness(frames: list[FrameNodes], X: np.ndarray, F: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The sum (n, n) of (20) for forces F (k, 3) [N] of frames on nodes at X (k, 3); ``basis`` (3 k, n) is Φ."""
    n = basis.shape[1]
    found = np.zeros((n, n))
    for i, frame in enumerate(frames):
        forces, arms = F[frame.nodes], X[frame.nodes] - frame.at
        moments = forces.T @ arms
        turns = slice(6 * i + 3, 6 * i + 6)
        found[turns, turns] = 0.5 * (moments + moments.T) - np.trace(moments) * np.eye(3)
        if frame.weights is None:
            continue
        moved = basis.reshape(-1, 3, n)[frame.nodes]
        moved[:, :, 6 * i : 6 * i + 3] -= np.eye(3)
        moved[:, :, turns] += [skew(p) for p in arms]
        moments = sum(skew(f) @ v for f, v in zip(forces, moved))
        found[turns] -= moments
        found[:, turns] -= moments.T
    return found


def forces_inside(frames: list[FrameNodes], K_G: np.ndarray, F: np.ndarray) -> np.ndarray:
    """W (N, n) of (21): forces of the stress on the nodes, of all coordinates, ``K_G`` (N, n) of them K_G Φ.

    ``F`` (k, 3) [N]: forces of frames on nodes.
    """
    found = K_G.copy()
    nodes = found.reshape(len(F), -1, found.shape[1])
    for i, frame in enumerate(frames):
        if frame.weights is not None:
            nodes[frame.nodes, :3, 6 * i + 3 : 6 * i + 6] += [skew(f) for f in F[frame.nodes]]
    return found


def softening_by(W: list, G: np.ndarray, K: np.ndarray, first: int, solve: Callable) -> np.ndarray:
    """R (p, p, n, n) of (21), for Ĝ = ``G`` (p, n, n), K̂ = ``K`` and W (N, n) of each pattern.

    ``first``: number of the first mode; ``solve``: displacements under forces with the frames held.
    """
    p, n = G.shape[:2]
    found = np.zeros((p, p, n, n))
    for b in range(p):
        moved = solve(W[b])
        for a in range(b + 1):
            one = W[a].T @ moved
            found[a, b] = one if a < b else 0.5 * (one + one.T)
            found[b, a] = found[a, b].T
    return found - softening_of(G, K, np.arange(first, n))


def geometric_stiffness(cells: list, X: np.ndarray, u: np.ndarray) -> Any:
    """K_G (N, N) of (20), of one component, for the stress of displacements u (N, 3) of nodes at X (N, 3).

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


def has_stresses(r: Reduction) -> bool:
    """True if `change_by_stress` supports a reduction: its stresses are stored."""
    return bool(kept_cells(r))


def change_by_stress(r: Reduction, d: np.ndarray, patterned: bool) -> float:
    """Largest part of K̂ that stresses of d add or take, those of patterns left out: max |y·ΦᵀK_GΦ y|/(y·K̂ y).

    Over all deformations y of the free body. 1 is where it would buckle by itself, free; held it does so earlier.
    """
    cells = kept_cells(r)
    if not cells:
        return 0.0
    basis = r.basis.reshape(len(r.points), 3, -1)
    if patterned:
        d = d - r.pull_stiffness @ (r.stretch @ d) @ r.pull_responses
    G = geometric_stiffness(cells, r.points, r.displacements(d))
    made = sum(basis[:, i].T @ (G @ basis[:, i]) for i in range(3))
    return _most(r, made)


def softening_by_modes(r: Reduction, pulls: np.ndarray) -> float:
    """Largest part of K̂ that motions which the modes leave out would take, for ``pulls`` (p,): max s²|y·R y|/(y·K̂ y).

    Over all deformations y of the free body.
    """
    return _most(r, np.einsum("p,q,pqij->ij", pulls, pulls, r.pull_softening, optimize=True))


def _most(r, change):
    """Largest |y·A y|/(y·K̂ y) of a change A (n, n) of K̂ over all deformations y of the free body."""
    n = len(r.K)
    units = as_lengths(len(r.positions), n - 6 * len(r.positions), float(np.ptp(r.points, axis=0).max()), r.mass)
    rigid = rigid_coordinates(r.positions - r.positions.mean(axis=0), n) * units[:, None]
    Y = null_space((rigid / np.abs(rigid).max(axis=0).clip(1e-300)).T) / units[:, None]
    return float(np.abs(eigh(Y.T @ change @ Y, Y.T @ r.K @ Y, eigvals_only=True)).max(initial=0.0))


def unknown_rotation(r: Reduction, w: np.ndarray, origin: np.ndarray | None = None) -> float:
    """Part of the centrifugal forces of a steady rotation that no load pattern has, 0 to 1, in the mean of the mass.

    ``w`` (3,) [rad/s], ``origin`` (3,) [m], of the body from a point of the axis, both in axes of the body; None: not
    known, and so chosen as the patterns have it.
    """
    given = np.zeros((4, 3))
    given[1:] = w @ w * np.eye(3) - np.outer(w, w)
    given[0] = (-r.center if origin is None else origin) @ given[1:]
    moments = np.zeros((4, 4))  # ∫ (1, X)(1, X)ᵀ dm
    moments[0, 0], moments[0, 1:], moments[1:, 0] = r.mass, r.mass * r.center, r.mass * r.center
    moments[1:, 1:] = 0.5 * np.trace(r.inertia) * np.eye(3) - r.inertia + r.mass * np.outer(r.center, r.center)
    size, shapes = np.linalg.eigh(moments)
    root = np.sqrt(size.clip(0.0))[:, None] * shapes.T
    fields = np.array([(root @ field).ravel() for field in r.pull_fields]).reshape(len(r.pull_fields), 12)
    if origin is None:
        uniform = np.zeros((3, 4, 3))
        uniform[:, 0] = np.eye(3)
        fields = np.concatenate([fields, (root @ uniform).reshape(3, 12)])
    fields /= np.linalg.norm(fields, axis=1, keepdims=True).clip(1e-300)
    right = (root @ given).ravel()
    left = right - fields.T @ np.linalg.lstsq(fields.T, right)[0]
    return float(np.linalg.norm(left)) / max(float(np.linalg.norm(right)), 1e-300)
