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
from scipy.sparse import coo_matrix

from fem_mbs.arguments import Checked
from fem_mbs.cells import CELLS
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.superelements.craig_bampton import FrameNodes
from fem_mbs.elements.superelements.reduction import rigid_coordinates


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


def geometric_stiffness(body: SolidBody, u: np.ndarray) -> Any:
    """K_G (N, N) of (18), of one component, for the stress of displacements u (N, 3) of the nodes of a body."""
    material, n = body.material, len(body.nodes)
    total = coo_matrix((n, n)).tocsr()
    for cell in body.cells:
        places, made = body.connectivity(cell), body.records[cell]
        for first in range(0, len(places), 1024):
            rows, part = places[first : first + 1024], made[first : first + 1024]
            rule = CELLS[cell].stiffness
            inverse = np.linalg.inv(rule.jacobians(part["X"]))  # ∂ξ/∂X
            slopes = np.einsum("qja,eqji->eqia", rule.gradients, inverse, optimize=True)
            strain = np.einsum("eqia,eaj->eqij", slopes, u[rows], optimize=True)
            strain = 0.5 * (strain + strain.transpose(0, 1, 3, 2))
            trace = np.trace(strain, axis1=2, axis2=3)[..., None, None]
            stress = material.lam * trace * np.eye(3) + 2.0 * material.mu * strain
            block = np.einsum("eq,eqia,eqij,eqjb->eab", part["w"], slopes, stress, slopes, optimize=True)
            i, j = np.broadcast_arrays(rows[:, :, None], rows[:, None, :])
            total = total + coo_matrix((block.ravel(), (i.ravel(), j.ravel())), shape=(n, n)).tocsr()
    return total
