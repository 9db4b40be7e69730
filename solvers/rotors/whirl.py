"""Direction of whirl of a mode, and which mode is which at another speed.

With displacements u₁, u₂ across the axis (and tilts alike) the orbit of a node under Re(φ e^{iωt}) encloses an area
π Im(u₁ ū₂), positive in the direction of e₁ → e₂, which with e₃, the spin, are right-handed. With masses as weights

    w = Σ m Im(u₁ ū₂) / (½ Σ m (|u₁|² + |u₂|²)),     −1 ≤ w ≤ 1                                                      (1)

is 1 for forward and −1 for backward circles, 0 for motion to and fro. Nodes that whirl in both directions are "mixed".

    MAC(φ, ψ) = |φᴴMψ|² / (φᴴMφ ψᴴMψ)                                                                               (2)

Source: docs/theory/rotors.md, (6), (7); Ewins, Modal Testing (2000), for (2).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.rotations import frame_with_axis
from fem_mbs.system.compiled import CompiledSystem

if TYPE_CHECKING:
    from scipy.sparse import csc_array

    from fem_mbs.system.state import State


LATERAL = 0.5  # share of the kinetic energy that makes a mode a lateral one
NARROW = 1e-3  # an orbit with a smaller w is a line
MIXED = 1e-2  # share of the orbits that go the other way


class Whirl:
    """Directions across the axes of the nodes that turn, and masses.

    Parameters
    ----------
    system : System
    state : State
    spins : (N, 3), body components, see `spin.turning`
    mass : (n,), diagonal of the mass matrix
    """

    def __init__(self, system: CompiledSystem, state: "State", spins: np.ndarray, mass: np.ndarray) -> None:
        self.rows = np.flatnonzero(spins.any(axis=1))
        weights = system.expanded(mass)[self.rows]
        self.weights = np.stack([weights[:, :3].mean(axis=1), weights[:, 3:].mean(axis=1)], axis=1)
        self.R = state.R[self.rows]
        axes = np.einsum("nij,nj->ni", self.R, spins[self.rows])
        self.frames = np.array([frame_with_axis(a / np.linalg.norm(a)) for a in axes])  # columns e₁, e₂, axis

    def orbit(self, shape: np.ndarray) -> np.ndarray:
        """Displacements and tilts (2, rows, 3) of a shape (N, 6) along e₁, e₂ and the axis."""
        moved, turned = shape[self.rows, :3], np.einsum("nij,nj->ni", self.R, shape[self.rows, 3:])
        return np.einsum("nij,pni->pnj", self.frames, np.stack([moved, turned]))

    def of(self, shape: np.ndarray) -> tuple[str, float]:
        """Label and w of a mode with positive frequency, shape (N, 6) complex, the spin being positive.

        Labels: "forward", "backward", "mixed", "straight"; "along the axis" for torsion and axial motion.
        """
        u = self.orbit(shape)
        weights = self.weights.T[:, :, None]
        energy = weights * np.abs(u) ** 2
        across, total = float(energy[:, :, :2].sum()), float(energy.sum())
        if total == 0.0 or across < LATERAL * total:
            return "along the axis", 0.0
        areas = (weights[:, :, 0] * (u[:, :, 0] * u[:, :, 1].conj()).imag).ravel()
        with_spin, against = areas[areas > 0].sum(), -areas[areas < 0].sum()
        w = float(2 * (with_spin - against) / across)
        if 2 * max(with_spin, against) < NARROW * across:
            return "straight", w
        if min(with_spin, against) > MIXED * max(with_spin, against):
            return "mixed", w
        return ("forward" if with_spin > against else "backward"), w


def mac(first: np.ndarray, second: np.ndarray, M: "csc_array") -> np.ndarray:
    """MAC (2) of all pairs of two sets of vectors by columns."""
    energies = [np.einsum("ik,ik->k", vectors.conj(), M @ vectors).real for vectors in (first, second)]
    return np.abs(first.conj().T @ (M @ second)) ** 2 / np.outer(*energies)


def matched(
    expected: np.ndarray, first: np.ndarray, found: np.ndarray, second: np.ndarray, M: "csc_array"
) -> np.ndarray:
    """Find the modes among ``found`` [rad/s], ``second`` (n, k) that continue ``first`` (n, j), by expected
    frequencies.

    Returns indices (j,); the assignment has the largest sum of MAC less relative changes of frequency.
    """
    from scipy.optimize import linear_sum_assignment

    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max())
    cost = 1 - mac(first, second, M) + 2 * np.abs(found[None, :] - expected[:, None]) / scale[:, None]
    return linear_sum_assignment(cost)[1]
