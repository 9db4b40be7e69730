"""The equations of a static equilibrium at a load factor: residual, tangent, and what a steady rotation adds.

The load factor may multiply some of the loads only; the others stay at a constant share of theirs (a pre-load).

Numbers in brackets are those in the head of `fem_mbs.solvers.statics`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, vector
from fem_mbs.linear.factors import factors
from fem_mbs.solvers.counting_rows import SAME, counting_rows
from fem_mbs.system.gather import gather, scatter_vector
from fem_mbs.system.records import groups_of, switches_of, zero
from fem_mbs.system.state import State
from fem_mbs.system.system import System

if TYPE_CHECKING:
    from scipy.sparse import csc_array


GRAVITY = "gravity"  # names the weight among the loads


class Equilibrium:
    """One system with its load factor: residual, tangent, iterates.

    Parameters
    ----------
    varied : list of loads and drivers, with `GRAVITY` among them for the weight, or None
        What the load factor multiplies; None: everything. The rest is there to the share ``rest``.
    """

    def __init__(
        self,
        system: System,
        t: float,
        mixed: bool,
        rotation: np.ndarray | None,
        varied: list | None = None,
        rest: float = 1.0,
    ) -> None:
        self.system, self.t, self.mixed, self.rotation = system, t, mixed, rotation
        names = None if varied is None else {id(load) for load in varied}
        self.varies = np.array([names is None or id(owner) in names for owner in system.signal_owner], bool)
        self.gravity_varies = varied is None or any(load is GRAVITY for load in varied)
        self.rest = rest
        system.update_signals(system.initial.t)
        self.at_start = system.signal_values.copy()
        system.update_signals(t)
        self.gravity = system.gravity_at(t)
        self.at_end = system.signal_values.copy()
        self.is_load = np.array([owner.role == "dynamic" for owner in system.signal_owner], bool)
        self.magnitudes = np.zeros(6 * len(system.nodes))
        self.twin = None if rotation is None else unfixed(system)
        self.contacts: Any = None  # `fem_mbs.solvers.paths.contact_forces.ContactForces` where contacts take part
        self.held: Any = None  # `fem_mbs.solvers.paths.held_contacts.HeldContacts` where closed ones are rows of a path
        self.kept: np.ndarray | None = None  # numbers of the rows that count; None: all

    def set_load(self, factor: float) -> None:
        """Apply load factor λ to gravity, loads and drivers."""
        system = self.system
        system.set_gravity((factor if self.gravity_varies else self.rest) * self.gravity)
        for k, is_load in enumerate(self.is_load):
            start = 0.0 if is_load else self.at_start[k]
            share = factor if self.varies[k] else self.rest
            system.signal_values[k] = start + share * (self.at_end[k] - start)
        system.signal_values[:, 1:] = 0.0

    def loaded(self) -> bool:
        """True if the load factor multiplies anything that is not zero, or that moves a driver."""
        gravity = self.gravity_varies and bool(self.gravity.any())
        start = np.where(self.is_load[:, None], 0.0, self.at_start[: len(self.is_load)])
        return gravity or bool(self.varies.any() and (self.at_end[: len(self.is_load)] - start)[self.varies].any())

    # --- rows ---------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Number of multipliers: of constraints, then of contacts that are held."""
        return self.system.m + (0 if self.held is None else len(self.held.numbers))

    def hold(self, numbers: tuple[int, ...], state: State) -> None:
        """Close these contacts from an equilibrium on, and find the independent rows there."""
        if self.held is not None:
            self.held.numbers = numbers
        self.count(state)

    def count(self, state: State) -> None:
        """Find which rows count at a state, an equilibrium (`fem_mbs.solvers.counting_rows`)."""
        system = self.system
        self.kept = None
        if system.rows_repeat or self.rows > system.m:
            kept = counting_rows(system, self.gradients(state))
            self.kept = kept if len(kept) < self.rows else None

    def gradients(self, state: State) -> "csc_array":
        """G of all rows (m + contacts, n)."""
        from scipy.sparse import csc_array, vstack

        system, n = self.system, self.system.n
        system.constraint_values(state)
        G = -system.assemble(state).matrix()[n:, :n].tocsc()
        if self.held is None or not len(self.held.numbers):
            return G
        self.held.kinematics(state)
        return csc_array(vstack([G, self.held.rows()]))

    def solvable(self, right: np.ndarray) -> np.ndarray:
        """A right-hand side (n + rows,) with 0 in rows that do not count."""
        if self.kept is None:
            return right
        right = right.copy()
        right[self.system.n + np.setdiff1d(np.arange(self.rows), self.kept)] = 0.0
        return right

    def matrix(self, state: State, lam: np.ndarray, mixed: bool = False) -> "csc_array":
        """[K + K_g −Gᵀ; −G 0] sparse; rows that do not count have −1 on the diagonal and nothing else.

        `System.constraint_values` must have been called at the same state.
        """
        from scipy.sparse import block_array, diags_array

        system, n, m = self.system, self.system.n, self.system.m
        A = system.assemble(state, c_K=1.0, lam=lam[:m], c_H=1.0, mixed=mixed).matrix().tocsc()
        if self.held is not None and len(self.held.numbers):
            turning, rows = self.held.turning(state, lam[m:]), self.held.rows()
            turning.resize(A.shape)
            rows.resize((rows.shape[0], A.shape[0]))
            A = block_array([[A + turning, -rows.T], [-rows, None]]).tocsc()
        if self.kept is None:
            return A
        counts = np.zeros(n + len(lam))
        counts[:n] = counts[n + self.kept] = 1.0
        only = diags_array(counts)
        return (only @ A @ only + diags_array(counts - 1.0)).tocsc()

    def least(self, state: State, lam: np.ndarray) -> np.ndarray:
        """Multipliers of least norm with the same forces, where rows are redundant."""
        if self.kept is None or not self.system.rows_repeat:
            return lam
        arm = np.append(self.system.row_arm[: self.system.m], np.ones(len(lam) - self.system.m))
        G = self.gradients(state)
        scaled = (arm[:, None] * G.toarray()).T
        return arm * np.linalg.lstsq(scaled, G.T @ lam, rcond=SAME)[0]

    # --- loads and forces ---------------------------------------------------------------------------------------------

    def load_rate(self, state: State, lam: np.ndarray, factor: float) -> tuple[np.ndarray, float]:
        """∂(f + Gᵀμ)/∂λ (n,) and ∂g/∂λ of all rows in one vector, and how far the forces are from straight lines in λ.

        Differences over a unit of λ are exact for loads that are proportional to it; those of drivers, whose rows are
        not, are small ones. Left out: the rotation.
        """
        system = self.system
        middle, below, above = (self._at(state, lam, factor + shift) for shift in (0.0, -0.5, 0.5))
        rate = above[0] - below[0]
        bend = above[0] + below[0] - 2.0 * middle[0]
        if any(self.varies & ~self.is_load):
            step = 1e-5
            below, above = (self._at(state, lam, factor + shift) for shift in (-step, step))
            rows = [(a - b) / (2.0 * step) for a, b in zip(above[1:], below[1:])]
        else:
            rows = [np.zeros(system.n), np.zeros(system.m)]
        self._at(state, lam, factor)
        size = max(np.abs(rate).max(initial=0.0), 1e-9 * np.abs(middle[0]).max(initial=0.0))
        crooked = np.abs(bend).max(initial=0.0) / size if size > 0.0 else 0.0
        return np.concatenate([rate + rows[0], rows[1], np.zeros(self.rows - system.m)]), float(crooked)

    def _at(self, state, lam, factor):
        """f (n,), Gᵀμ (n,) and g (m,) at a load factor, the pose kept."""
        system = self.system
        self.set_load(factor)
        f = system.reduced(system.forces(state)[1]).copy()
        g = system.constraint_values(state)[0].copy()
        return f, system.reduced(system.constraint_forces(lam[: system.m])), g

    def reactions(self, state: State, lam: np.ndarray, factor: float) -> np.ndarray:
        """Support reactions of the fixed components of the nodes (N, 6): force [N] and moment [N m], inertial axes."""
        system = self.system
        self.set_load(factor)
        state.V[:], A = self.motion(state, factor)
        Ma, f = system.forces(state, A)
        system.constraint_values(state)
        carried = system.constraint_forces(lam[: system.m]) + self.contact_forces(state, lam)
        total = (Ma - f - carried).reshape(-1, 6)
        held = np.where(system.dof.reshape(-1, 6) < 0, total, 0.0)
        held[:, 3:] = np.einsum("nij,nj->ni", state.R, held[:, 3:])
        return held

    def motion(self, state: State, factor: float) -> tuple:
        """Velocities and accelerations (N, 6) of the steady rotation; its centrifugal forces grow with λ."""
        if self.rotation is None:
            return np.zeros_like(state.V), self.system.no_acceleration
        w = np.sqrt(factor) * self.rotation
        return steady_rotation(self.system, state, w)

    def residual(self, state: State, lam: np.ndarray, factor: float, mixed: bool) -> np.ndarray | None:
        """f + Gᵀμ − M v̇ (n,), with the forces of contacts, and g of all rows in one vector; None: not finite."""
        system = self.system
        state.V[:], A = self.motion(state, factor)
        Ma, f = system.forces(state, A, mixed=mixed)
        if not (np.isfinite(f).all() and np.isfinite(Ma).all()):
            return None
        g, _ = system.constraint_values(state)
        total = f - Ma + system.constraint_forces(lam[: system.m]) + self.contact_forces(state, lam)
        gaps = [] if self.held is None else self.held.gap[list(self.held.numbers)]
        return np.concatenate([system.reduced(total), g, gaps])

    def contact_forces(self, state: State, lam: np.ndarray) -> np.ndarray:
        """Forces of contacts at a state, full vector (6 N,); zero where they take no part."""
        if self.held is not None:
            self.held.evaluate(state, lam[self.system.m :])
            return self.held.full()
        if self.contacts is None:
            return np.zeros(6 * len(self.system.nodes))
        self.contacts.evaluate(state)
        return self.contacts.full()

    def scale(self, state: State, lam: np.ndarray) -> np.ndarray:
        """Sums of the magnitudes of the forces that act on each component (N, 6)."""
        system = self.system
        absolute_forces(system.data[0], state.x, state.R, state.V, self.magnitudes)
        full = self.magnitudes + np.abs(system.constraint_forces(lam[: system.m]))
        for contacts in (self.contacts, self.held):
            full += 0.0 if contacts is None else np.abs(contacts.full())
        return full.reshape(-1, 6)

    def carried(self, state: State, lam: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Multipliers that balance the forces best: r = f + Gᵀμ, G r = 0; the given ones where that is singular."""
        from scipy.sparse import block_array, eye_array
        from scipy.sparse.linalg import splu

        n, lam = self.system.n, lam.copy()
        G = self.system.matrices(state)[3]
        kept = np.flatnonzero(self.system.active_rows) if self.kept is None else self.kept
        try:
            solve = splu(block_array([[eye_array(n), -G[kept].T], [-G[kept], None]]).tocsc()).solve
        except RuntimeError:
            return lam
        lam[kept] += solve(np.append(right[:n], np.zeros(len(kept))))[n:]
        return lam

    def tangent(self, state: State, lam: np.ndarray, factor: float) -> Callable | None:
        """Factorised (1); returns a function that solves it, or None if it is singular."""
        system, n = self.system, self.system.n
        if self.rotation is None and self.kept is None and self.rows == system.m:
            layout = system.assemble(state, c_K=1.0, lam=lam, c_H=1.0, mixed=self.mixed)
            return layout.solver.solve if layout.solver.factor(layout.values) else None
        from scipy.sparse import block_array

        A = self.matrix(state, lam, self.mixed)
        if self.rotation is not None:
            w = np.sqrt(factor) * self.rotation
            K = rotating_matrices(system, state, lam, w, twin=self.twin, mixed=self.mixed)[0]
            A = block_array([[K, A[:n, n:]], [A[n:, :n], A[n:, n:]]]) if system.m else K
        try:
            solve = factors(A).solve
        except RuntimeError:
            return None
        return lambda right: solve(self.solvable(right))


def steady_rotation(system: System, state: State, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and accelerations (N, 6) of nodes that all turn with w (3,) [rad/s] about the origin."""
    V, A = np.zeros_like(state.V), np.zeros_like(state.V)
    V[:, :3] = np.cross(w, state.x)
    V[:, 3:] = np.einsum("nji,j->ni", state.R, w)
    V[~system.spatial] = 0.0
    A[:, :3] = np.where(system.spatial[:, None], np.cross(w, V[:, :3]), 0.0)
    return V, A


def unfixed(system: System) -> System:
    """The same system with all three translations of a node free where one is, and all three rotations.

    They all have velocities when everything turns; those of one node belong to its variations alone, (7) of the theory.
    """
    saved = [node._free for node in system.nodes]
    try:
        for node in system.nodes:
            node._free = np.repeat([node.free[:3].any(), node.free[3:].any()], 3)
        return System(system.model, check=False, linear_solver="superlu")
    finally:
        for node, free in zip(system.nodes, saved):
            node._free = free


def rotating_matrices(
    system: System, state: State, lam: np.ndarray, w: np.ndarray, *, twin: System | None = None, mixed: bool = False
) -> tuple:
    """K, C, M (n, n) of small motions seen in a frame that turns with w (3,) [rad/s] about the origin.

    Variations relative to the frame, (ξ, δθ): δẋ = ξ̇ + ω×ξ, δẍ = ξ̈ + 2ω×ξ̇ + ω×(ω×ξ), δΩ = δθ̇ + Ω×δθ, Ω = Rᵀω. Hence
    C + M D and K + ∂(Ma)/∂q + C N + M N², with N = (ω̃, Ω̃), N² without its rotation part, D = (2ω̃, Ω̃) per node, zero of
    nodes without a place; all with the matrices of ``twin``, `unfixed` of the system, of which rows and columns of the
    free components are taken.
    """
    from scipy.sparse import block_diag

    from fem_mbs.rotations import skew

    twin = unfixed(system) if twin is None else twin
    twin.set_gravity(system.workspace.buffer["gravity"])
    twin.signal_values[:] = system.signal_values
    for mine, theirs in zip(twin.groups, system.groups):
        mine.state[:], mine.active[:] = theirs.state, theirs.active
    n, moves = twin.n, twin.dof >= 0
    state = state.copy()
    state.V[:], A = steady_rotation(system, state, w)
    twin.constraint_values(state)
    M = twin.assemble(state, c_M=1.0).matrix()[:n, :n].tocsc()
    C = twin.assemble(state, c_C=1.0).matrix()[:n, :n].tocsc()
    K = twin.assemble(state, c_K=1.0, c_A=1.0, A=A, lam=lam, c_H=1.0, mixed=mixed).matrix()[:n, :n].tocsc()
    W = [skew(place * w) for place in system.spatial]
    spins = [skew(place * (R.T @ w)) for place, R in zip(system.spatial, state.R)]

    def by_node(translations):
        blocks = [block for pair in zip(translations, spins) for block in pair]
        return block_diag(blocks, format="csc")[moves][:, moves]

    N, D = by_node(W), by_node([2.0 * turn for turn in W])
    NN = block_diag([block for turn in W for block in (turn @ turn, np.zeros((3, 3)))], format="csc")[moves][:, moves]
    free = (system.dof >= 0)[moves]
    return tuple(matrix.tocsc()[free][:, free] for matrix in (K + C @ N + M @ NN, C + M @ D, M))


@kernel
def absolute_forces(d, x, R, V, total):
    """Fill total (6 N,) with the sum over elements of the absolute values of their forces."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    for i in range(6 * d.n_nodes):
        total[i] = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        f_at, Ma_at = b[SLOT_F], b[SLOT_MA]
        f, on = vector(f_at, g.nd), switches_of(g)
        for role in range(2):
            call = g.inertia if role == 0 else g.force
            if call == 0:
                continue
            for e in range(g.n):
                if on[e] == 0:
                    continue
                gather(d, g, e, b, x, R, V, V)
                zero(f_at, g.nd)
                zero(Ma_at, g.nd)
                call2(call, g.parameters_at + e * g.stride, d.table_at)
                for i in range(g.nd):
                    f[i] = abs(f[i])
                scatter_vector(g, e, f, total)


SLOT_F, SLOT_MA = SLOT["f"], SLOT["Ma"]
