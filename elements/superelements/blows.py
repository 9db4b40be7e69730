"""Number of modes for bodies under impacts: those that keep the energy of an impact in the body.

An impact on frame i along e stops the mass m_eff that moves with it at once, and takes the share m_eff/M of the energy:

    1/m_eff = e·W_i e ,   W = M̂⁻¹ ,   W_i its block of the three displacements of the frame   (19)
    W_bb⁻¹ = M̂_bb − Σ_j (φ_jᵀM Φ_b)ᵀ(φ_jᵀM Φ_b)   with modes j that are orthonormal   (20)
    with all modes:  W_bb⁻¹ = M_bb − M_bi M_ii⁻¹ M_ib   of the nodes of the frames and the interior nodes   (21)

The worst direction of a frame is that of the least eigenvalue of W_i. (21) is the share that a rigid frame takes in
any case: the mass of its nodes, and a part of that next to it.

Source: docs/theory/superelements.md, section 2.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.elements.superelements.craig_bampton import FrameNodes, followers
from fem_mbs.errors import ParameterError
from fem_mbs.linear.factors import factors

MOST_MODES = 200  # by default, where their number is sought


class Blows:
    """Impacts on frames, and the energy that the modes have to keep.

    Parameters
    ----------
    owner : for errors
    frames : list of FrameNodes
    M, mass : sparse mass matrix of the model, and its mass
    kept : float in (0, 1)
    struck : dict, name of a frame -> direction (3,), or None: the worst one; default: all frames
    """

    def __init__(self, owner: Checked, frames: list[FrameNodes], M: Any, mass: float, kept: Any, struck: Any) -> None:
        self.owner, self.frames, self.M, self.mass = owner, frames, M, mass
        self.kept = owner.number("energy_kept", kept, at_least=0.0, at_most=1.0)
        names = [frame.name for frame in frames]
        given = dict.fromkeys(names) if struck is None else struck
        message = "must be a dict: name of a frame to the direction of the impact, or to None for the worst"
        owner.check(isinstance(given, dict) and len(given) > 0, "struck", struck, message)
        unknown = [name for name in given if name not in names]
        owner.check(not unknown, "struck", unknown, f"are no frames; there are {', '.join(names)}")
        self.blows: list[tuple[int, np.ndarray | None]] = []
        for name, direction in given.items():
            e = None if direction is None else owner.as_vector("struck", direction)
            owner.check(e is None or e.any(), "struck", direction, "must not be zero")
            self.blows.append((names.index(name), None if e is None else e / np.linalg.norm(e)))

    def enough(self, phi: np.ndarray) -> int | None:
        """Number of modes of the columns Φ that keep the energy of all impacts; None if all of them do not."""
        first = 6 * len(self.frames)
        moved = self.M @ phi[:, :first]
        static, coupled = phi[:, :first].T @ moved, moved.T @ phi[:, first:]
        for count in range(coupled.shape[1] + 1):
            apart = static - coupled[:, :count] @ coupled[:, :count].T
            if self._worst(apart)[0] >= self.kept:
                return count
        return None

    def refuse(self, X: np.ndarray, per: int, phi: np.ndarray) -> None:
        """Say what keeps the modes of Φ from being enough."""
        first = 6 * len(self.frames)
        moved = self.M @ phi[:, :first]
        coupled = moved.T @ phi[:, first:]
        kept, i, e = self._worst(phi[:, :first].T @ moved - coupled @ coupled.T)
        frame, along = self.frames[i], e.round(3).tolist()
        limit = ""
        if all(one.weights is None for one in self.frames):
            best = self._worst(self._with_all_modes(X, per))
            limit = f", {best[0]:.4f} with all modes, as rigid frames stop their own nodes at once"
        message = (
            f"is not reached: an impact on frame '{frame.name}' along {along} keeps {kept:.4f} of the energy with "
            f"{phi.shape[1] - first} modes{limit}. Allow more (modes=), reduce energy_kept, or give the frame fewer "
            "nodes or a finer mesh"
        )
        raise ParameterError(self.owner, "energy_kept", self.kept, message)

    def _with_all_modes(self, X, per):
        """(21)."""
        held, rows = followers(self.frames, X, per)
        inner = np.setdiff1d(np.arange(self.M.shape[0]), held)
        M = self.M.tocsr()
        across = M[inner][:, held] @ rows
        own = rows.T @ (M[held][:, held] @ rows)
        return (
            own if not len(inner) else own - across.T @ factors(M[inner][:, inner].tocsc(), positive=True).solve(across)
        )

    def _worst(self, apart: np.ndarray) -> tuple[float, int, np.ndarray]:
        """Least share of energy kept, for W_bb⁻¹, and the frame and direction that it belongs to."""
        try:
            inverse = np.linalg.inv(apart)
        except np.linalg.LinAlgError:  # a frame without mass, which raises an error later
            return 0.0, 0, np.zeros(3)
        mass, found = self.mass, []
        for i, e in self.blows:
            block = inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3]
            if e is None:
                values, vectors = np.linalg.eigh(0.5 * (block + block.T))
                found.append((1.0 - 1.0 / (values[0] * mass), i, vectors[:, 0]))
            else:
                found.append((1.0 - 1.0 / (e @ block @ e * mass), i, e))
        return min(found, key=lambda one: one[0])
