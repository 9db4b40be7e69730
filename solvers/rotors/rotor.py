"""A rotor about its steady spin: what Campbell diagrams, critical speeds and unbalance responses start from.

Source: docs/theory/rotors.md, (1)-(5).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.model import compiled
from fem_mbs.solvers import eigen
from fem_mbs.solvers.counting_rows import counting_rows
from fem_mbs.solvers.rotors.spin import check_symmetry, holding, spinning_matrices, turning
from fem_mbs.solvers.rotors.whirl import Whirl
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.system.checks import model_checks
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fem_mbs.arguments.checked import ArrayLike, Checked, FrameLike
    from fem_mbs.model import Model
    from fem_mbs.system.system import System


class Rotor:
    """A compiled model, who turns in it, and its matrices at any speed.

    Parameters
    ----------
    owner : Checked, in whose name errors are raised
    model : Model or System
    rotor, axis : see `spin.turning`
    about : StaticResult or State, optional
        Configuration about which it spins; default: the initial one.
    """

    def __init__(
        self,
        owner: "Checked",
        model: "Model | System",
        rotor: "FrameLike | Sequence | None",
        axis: "ArrayLike | None",
        about: StaticResult | State | None = None,
    ) -> None:
        system: CompiledSystem = compiled(owner, model, check="positions")
        if about is not None:
            owner.as_instance("about", about, (StaticResult, State), "a StaticResult or a State")
        state = about.state if isinstance(about, StaticResult) else about
        state = (system.initial if state is None else state).copy()
        system.switch_at(state.t, system.initial if isinstance(about, StaticResult) else state)
        model_checks.state_fits(system, state)
        if system.non_holonomic:
            what = (
                f"has {label(system.non_holonomic[0])}, which constrains velocities; modes of a rotor do not support it"
            )
            raise ParameterError(owner, "model", system.name, what)
        system.update_signals(state.t)
        self.owner, self.system, self.state = owner, system, state
        self.spins = turning(owner, system, rotor, axis)
        self.small = system.n + system.m <= eigen.DENSE_LIMIT
        M, _, _, G = spinning_matrices(system, state, self.spins, 0.0)
        self.rows = counting_rows(system, G)
        self.M, self.Z = M, eigen.null_space(G[self.rows]) if self.small else None
        self.warnings = [] if isinstance(about, StaticResult) else self._loads()
        self.whirl = Whirl(system, state, self.spins, M.diagonal())

    def _loads(self) -> list[str]:
        """Warning of forces, such as the gravity load, that are not in equilibrium at the configuration."""
        system, at_rest = self.system, self.state.copy()
        at_rest.V[:] = 0.0
        force = system.forces(at_rest)[1].copy()
        if system.m:
            lam = holding(system, at_rest)
            system.constraint_values(at_rest)
            force = force + system.constraint_forces(lam)
        force = np.abs(system.reduced(force))
        stiffness = np.abs(system.matrices(at_rest)[2].diagonal())
        if not (force > 1e-9 * stiffness * system.length + 1e-12).any():
            return []
        _, where = system.unknown(int(force.argmax()))
        return [
            f"Loads act at this configuration (most on {where}) that nothing says to be in equilibrium: stiffness that "
            "depends on the load, as that of ball bearings, is that without it. Give an equilibrium: "
            "about=static_equilibrium(model)."
        ]

    def check(self, speed: float) -> None:
        """Raise unless the rotor looks the same after any turn, at a speed [rad/s]."""
        check_symmetry(self.owner, self.system, self.state, self.spins, speed or 1.0)

    def matrices(self, speed: float) -> tuple:
        """M, C, K and G, its rows that count, at a speed [rad/s], in the inertial frame."""
        matrices = spinning_matrices(self.system, self.state, self.spins, speed)
        matrices = (*matrices[:3], matrices[3][self.rows])
        for matrix in matrices[:3]:
            if not np.isfinite(matrix.data).all():
                element = self.system.find_nonfinite(self.state)
                raise SolverError(f"matrices are not finite at {speed:g} rad/s ({label(element)})", element=element)
        return matrices

    def modes(self, speed: float, n: int, damping: bool) -> tuple[np.ndarray, np.ndarray]:
        """The n lowest s [1/s] with Im s > 0 and vectors (free components, n) by columns, at a speed [rad/s]."""
        M, C, K, G = self.matrices(speed)
        if not damping:
            C, K = 0.5 * (C - C.T), 0.5 * (K + K.T)
        if self.Z is None:
            s, vectors = eigen.sparse_quadratic(K, C, M, G, 2 * n, None)
        else:
            k, c, m = (self.Z.T @ (matrix @ self.Z) for matrix in (K, C, M))
            s, vectors = eigen.reduced_quadratic(k, c, m)
            vectors = self.Z @ vectors
        oscillates = s.imag > 1e-9 * np.abs(s)
        s, vectors = s[oscillates], vectors[:, oscillates]
        order = np.argsort(np.abs(s))  # not by Im s: motions that creep in the damping of the shaft come last
        return s[order], vectors[:, order]

    def shape(self, vector: np.ndarray) -> np.ndarray:
        """A vector of free components as a shape (N, 6), complex."""
        full = np.zeros(6 * len(self.system.nodes), complex)
        full[self.system.dof >= 0] = vector
        return full.reshape(-1, 6)

    def label(self, vector: np.ndarray, speed: float) -> tuple[str, float]:
        """Whirl direction of a mode, and w; see `Whirl.of`. Against a negative speed the labels change."""
        name, w = self.whirl.of(self.shape(vector))
        if speed < 0:
            name = {"forward": "backward", "backward": "forward"}.get(name, name)
            w = -w
        return name, w
