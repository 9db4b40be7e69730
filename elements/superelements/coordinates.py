"""Coordinates d = (u_1, θ_1, …, η) of a reduced body: their rigid motions, and their units.

Source: docs/theory/superelements.md, section 2.
"""

import numpy as np

from fem_mbs.elements.superelements.craig_bampton import rigid_motions

SINGULAR = 1e-14  # of the largest eigenvalue: deformations without stiffness
BALANCED = 1e-6  # of a load: residual that the stiffness may leave


def rigid_coordinates(X: np.ndarray, n: int) -> np.ndarray:
    """Coordinates (n, 6) of rigid motions: translations, rotations about the origin, of frames at X (n_b, 3)."""
    found = np.zeros((n, 6))
    found[: 6 * len(X)] = rigid_motions(X, 6)
    return found


def as_lengths(frames: int, modes: int, length: float, mass: float) -> np.ndarray:
    """Factors (n,) that make lengths of coordinates: 1 of translations, ``length`` [m] of rotations, m^−½ of modes.

    Entries of matrices can then be compared, whatever the units of the model are.
    """
    return np.concatenate([np.tile(np.repeat([1.0, length or 1.0], 3), frames), np.full(modes, 1.0 / np.sqrt(mass))])


def responses(K: np.ndarray, loads: np.ndarray, X: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Coordinates (p, n), free of rigid motions, that loads (p, n) in equilibrium bring about: K̂ d = c.

    Those of least norm where K̂ does not resist all deformations; it must then resist these loads (`resisted`).
    ``X`` (n_b, 3): places of frames; ``units`` (n,): of `as_lengths`.
    """
    R = np.linalg.qr(rigid_coordinates(X - X.mean(axis=0), len(K)) * units[:, None])[0]
    scaled = K / np.outer(units, units)
    scaled = scaled + np.abs(scaled).max() * R @ R.T
    values, vectors = np.linalg.eigh(scaled)
    stiff = np.abs(values) > SINGULAR * np.abs(values).max()
    if stiff.all():
        found = [np.linalg.solve(scaled, c / units) / units for c in loads]
    else:
        inverse = (vectors[:, stiff] / values[stiff]) @ vectors[:, stiff].T
        found = [inverse @ (c / units) / units for c in loads]
    return np.array(found).reshape(loads.shape)


def resisted(K: np.ndarray, loads: np.ndarray, found: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Return for each of the loads (p, n) if the stiffness K balances it with its `responses` (p, n): (p,) bool."""
    left = np.abs((found @ K - loads) / units).max(axis=1, initial=0.0)
    return left <= BALANCED * np.abs(loads / units).max(axis=1, initial=0.0)


def compliance(loads: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Work (p, p) [J] of loads (p, n) on each other's `responses` (p, n)."""
    f = np.array([[c @ d for d in found] for c in loads]).reshape(len(loads), len(loads))
    return 0.5 * (f + f.T)


def softening_of(G: np.ndarray, K: np.ndarray, modes: np.ndarray) -> np.ndarray:
    """Σ_j W_pᵀφ_j φ_jᵀW_q/K̂_jj (p, p, n, n) of some modes: W_pᵀφ_j is column j of Ĝ_p."""
    columns = G[:, :, modes]
    within = np.linalg.solve(K[np.ix_(modes, modes)], columns.transpose(0, 2, 1))
    found = np.einsum("paj,qjb->pqab", columns, within, optimize=True)
    return 0.5 * (found + found.transpose(1, 0, 3, 2))
