"""Forces of contacts in static equilibria: gap ≥ 0, Coulomb's friction, and their rows in Newton's iteration.

With the gap g_N and the slip g_T of each contact since the last equilibrium, and the laws of
`fem_mbs.solvers.contact.law` (k = 1), which give the force φ = (ξ_N, ξ_T or μ ξ_N τ, or 0) and rows ρ,

    r = f + Gᵀμ + Fᵀφ(g_N, g_T, λ) = 0 ,   ρ(g_N, g_T, λ) = 0                                                      (1)
    F = (G_N; V_T): what forces do,   B = (G_N; G_T): how gap and slip change                                      (2)

so that friction acts exactly at the point of contact, whatever has rolled in the load step. With the blocks S of the
law in the coordinates (g_N, g_T, λ) of one contact, one iteration solves

    [ A + FᵀS_gg B − ∂(Fᵀφ)/∂q   FᵀS_gλ     ] [ δ  ]   [ r  ]
    [ S_λg B                      S_λλ − ε   ] [ δλ ] = [ −ρ ] ,      A = [ K + K_g  −Gᵀ; −G  0 ]                   (3)

The derivative of Fᵀφ at constant φ is a central difference of the kernels of the contacts. ε holds contacts that are
one too many (four feet), and is taken out again. A direction that a force of the size of the load moves by `SOFT`
extents has no stiffness: then there is no equilibrium.

    symbol  code           shape         meaning
    λ       lam            (nc, 3)       forces of the contacts on their first body: normal, t1, t2 [N]
    φ       force          (nc, 3)       λ where (1) holds
    p       p              ()            [N/m] size of the forces per extent of the model; decides of no solution

Source: docs/theory/static_contact.md, (1)-(6); Alart and Curnier 1991.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import block_array, block_diag, csc_array
from scipy.sparse.linalg import splu

from fem_mbs.errors import ModelError, SolverError, label
from fem_mbs.linear.factors import factors
from fem_mbs.solvers.contact.law import (
    CLOSED,
    GAP,
    SLIP,
    STICK,
    cone_forces,
    cone_tangent,
    normal_tangent,
    open_contact,
)
from fem_mbs.solvers.paths.contact_rows import ContactRows
from fem_mbs.solvers.paths.untouched import CLOSED as TOUCHES
from fem_mbs.system.contacts import TURNING, with_any
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.element.contact import Contact
    from fem_mbs.solvers.equilibrium import Equilibrium
    from fem_mbs.system.compiled import CompiledSystem


PROXIMAL = np.array([1e-9, 1e-7, 1e-7])  # ε, of the flexibility at the contact or of 1/p: what may press does
APEX = 1e-13  # of the forces
NEAR = 1e-5  # sizes of the model: gap at the start of the load step in which a contact with friction closes
ROUNDS = 2  # of taking ε out again
SOFT = 1e7  # extents that a force of the size of the load moves something without stiffness
NORMAL, TANGENTS = np.eye(3)[0], np.eye(3)[1:]
WORDS = {GAP: "open", STICK: "sticks", SLIP: "slides", CLOSED: "closed, no friction"}


class ContactForces(ContactRows):
    """Contacts of a system in its load steps; ``lam`` and ``status`` are those of the last iterate, ``slid`` which
    have slid in one of the load step.
    """

    def __init__(self, system: "CompiledSystem") -> None:
        two = [contact for contact in system.contacts if contact.two_coefficients]
        if two:
            cure = "load paths know one coefficient; give the contacts friction=static for how far they stick"
            raise ModelError(f"{label(two[0])}: has static and sliding friction; {cure}", [two[0]])
        super().__init__(system)
        nc = system.nc
        self.lam, self.rows = np.zeros((nc, 3)), np.zeros((nc, 3))
        self.status, self.slid = np.zeros(nc, np.int64), np.zeros(nc, bool)
        self.p, self.size = 1.0, 1.0

    # --- a load step --------------------------------------------------------------------------------------------------

    def begin(self, problem: "Equilibrium", state: State, lam: np.ndarray, factor: float) -> None:
        """Slip is counted from this equilibrium; forces have the size of those that act at the load factor."""
        system = self.system
        self.start, self.before = state.copy(), self.lam.copy()
        self.slid[:] = False
        self.size = system.size_at(state)
        problem.set_load(factor)
        system.constraint_values(state)
        self.evaluate(state)
        self.start_gap = self.gap.copy()
        self.p = self._largest(problem, state, lam) / self.size
        # touching contacts are closed to begin with: they may be all that supports the model
        touching = (self.gap <= TOUCHES * self.size) & (self.lam[:, 0] == 0.0)
        self.lam[touching, 0] = self.p * np.maximum(self.gap[touching], 0.0) + self._apex

    def _largest(self, problem, state, lam):
        """Size of the forces [N]."""
        scale = problem.scale(state, lam)
        return float(max(scale[:, :3].max(), scale[:, 3:].max() / self.size)) or 1.0

    def restore(self) -> None:
        """Forces of the last equilibrium: the load step failed."""
        self.lam[:] = self.before

    def accept(self, state: State) -> None:
        """The load step is done: forces are those that are in equilibrium."""
        self.evaluate(state)
        self.lam[:] = self.force
        for c in np.flatnonzero((self.status != GAP) & with_any(self.laws, *TURNING, "drilling_arm")):
            contact = self.system.contacts[c]
            raise SolverError(
                f"{label(contact)} is closed and resists rolling, spinning or drilling, which static_equilibrium does "
                "not know: let a damped run in time settle, or leave these resistances out",
                element=contact,
            )

    def off(self, state: State) -> "tuple[float, Contact | None]":
        """Largest gap [m] of closed contacts on the surfaces that there are now, and whose it is; None: no one's."""
        closed = np.flatnonzero(self.status != GAP)
        if not len(closed):
            return 0.0, None
        self.kinematics(state)
        gaps = np.abs(self.gap[closed])
        return float(gaps.max()), self.system.contacts[closed[int(gaps.argmax())]]

    def slips(self) -> bool:
        """True if a closed contact has friction, whose slip counts from the last equilibrium."""
        return bool(((self.status != GAP) & (self.laws["friction"] > 0.0)).any())

    def hasty(self) -> "Contact | None":
        """One with friction that has closed from afar in this load step, whose slip is not known; or None."""
        closed = (self.status != GAP) & (self.laws["friction"] > 0.0)
        found = np.flatnonzero(closed & (self.start_gap > NEAR * self.size))
        return self.system.contacts[found[0]] if len(found) else None

    @property
    def _apex(self):
        """Force [N] below which a contact without force sticks: that is what is tried first."""
        return APEX * self.p * self.size

    # --- evaluation ---------------------------------------------------------------------------------------------------

    def evaluate(self, state: State) -> None:
        """Gaps, slips, gradients and the law at a state."""
        self.kinematics(state)
        tangential, row = np.zeros(2), np.zeros(2)
        for c, mu in enumerate(self.laws["friction"]):
            xi = self.lam[c, 0] - self.p * self.gap[c]
            self.force[c], self.rows[c] = 0.0, -self.lam[c] / self.p
            if xi < 0.0:
                self.status[c] = GAP
                continue
            self.force[c, 0], self.rows[c, 0], self.status[c] = xi, -self.gap[c], CLOSED
            if mu > 0.0:
                slip, lam = self.slip[c].copy(), self.lam[c, 1:].copy()
                self.status[c] = cone_forces(1.0, self.p, mu, xi + self._apex, lam, slip, 2, tangential, row)
                self.force[c, 1:], self.rows[c, 1:] = tangential, row
                self.slid[c] |= self.status[c] == SLIP

    # --- Newton's iteration -------------------------------------------------------------------------------------------

    def step(self, problem: "Equilibrium", state: State, lam: np.ndarray, right: np.ndarray) -> np.ndarray | None:
        """Increments (n + m,) of (3) for the residual of the system, or None; forces get theirs."""
        system, n = self.system, self.system.n
        turning = self._turning(state)
        A = problem.matrix(state, lam, problem.mixed)
        F, B = self.gradient("G_N", "V_T"), self.gradient("G_N", "G_T")
        held = np.maximum(B.multiply(B) @ np.abs(A.diagonal()[:n]), self.p).reshape(
            -1, 3
        )  # ε stays below flexibilities
        S = [self._law_tangent(c, PROXIMAL / held[c]) for c in range(system.nc)]
        gg, gl, lg, ll = (
            block_diag([s[a, b] for s in S], format="csc")
            for a in (slice(3), slice(3, 6))
            for b in (slice(3), slice(3, 6))
        )
        wide = [csc_array((system.m, 3 * system.nc)), csc_array((3 * system.nc, system.m))]
        K = A[:n, :n] + F.T @ gg @ B + turning
        blocks = [[K, A[:n, n:], F.T @ gl], [A[n:, :n], A[n:, n:], wide[0]], [lg @ B, wide[1], ll]]
        if not system.m:
            blocks = [[K, F.T @ gl], [lg @ B, ll]]
        matrix, right = block_array(blocks).tocsc(), np.append(problem.solvable(right), -self.rows.ravel())
        try:
            solve = factors(matrix).solve
        except RuntimeError:
            return None
        found, last = np.zeros(len(right)), slice(n + system.m, None)
        proximal = (PROXIMAL / held * (self.status != GAP)[:, None]).ravel()
        for _ in range(ROUNDS):  # to the solution without ε, the forces of rows that are one too many stay as they are
            rest = right - matrix @ found
            rest[last] -= proximal * found[last]
            found += solve(rest)
        push = np.zeros(len(found))
        push[:n] = self.p * self.size * np.random.default_rng(0).choice([-1.0, 1.0], n)
        moved = np.abs(system.expanded(solve(push)[:n]))
        if not max(moved[:, :3].max() / self.size, moved[:, 3:].max()) < SOFT:
            return None
        self.lam += found[n + system.m :].reshape(-1, 3)
        return found[: n + system.m]

    def carried(self, state: State, lam: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Multipliers (m,) and forces of closed contacts that balance a residual best; these are kept, those returned.

        A rocking body has no stiffness before the floor carries it.
        """
        from scipy.sparse import eye_array, vstack

        system, n = self.system, self.system.n
        G = system.matrices(state, lam)[3]
        closed = np.repeat(self.status != GAP, 3)
        closed[[3 * c + i for c in range(system.nc) for i in (1, 2) if self.status[c] != STICK]] = False
        self.evaluate(state)
        F = self.gradient("G_N", "V_T").tocsr()[closed]
        rows = csc_array(vstack([G, F]))
        blocks = [[eye_array(n), -rows.T], [-rows, -PROXIMAL[0] * eye_array(rows.shape[0])]]
        found = splu(block_array(blocks).tocsc()).solve(np.concatenate([right[:n], np.zeros(rows.shape[0])]))
        self.lam.reshape(-1)[closed] += found[n + system.m :]
        return lam + found[n : n + system.m]

    def _law_tangent(self, c, epsilon):
        """S (6, 6) of a contact in the coordinates (g_N, g_T, λ), less ε (3,)."""
        S, p, mu = np.zeros((6, 6)), self.p, self.laws["friction"][c]
        if self.status[c] == GAP:
            open_contact(S, 3, 3, 2, 1.0, p, p)
            return S
        normal_tangent(S, 3, 3, NORMAL, 1.0, p)
        if mu > 0.0:
            xi, lam, slip = self.force[c, 0] + self._apex, self.lam[c, 1:].copy(), self.slip[c].copy()
            cone_tangent(S, 3, 3, 4, NORMAL, TANGENTS, 2, 1.0, p, p, mu, xi, lam, slip)
        else:
            S[4, 4] = S[5, 5] = -1.0 / p
        S[[3, 4, 5], [3, 4, 5]] -= epsilon
        return S

    def error(self) -> float:
        """Residual of (1): gaps and slips in sizes of the model, forces in the size of the load."""
        touching, sticking = self.status != GAP, self.status == STICK
        lengths = [np.abs(self.gap[touching]), -self.gap[~touching], np.abs(self.slip[sticking]).ravel()]
        length = max(float(part.max(initial=0.0)) for part in lengths) / self.size
        off = np.abs(self.force - self.lam).max(initial=0.0) / max(
            self.p * self.size, np.abs(self.force).max(initial=0)
        )
        return max(length / (0.5 * TOUCHES) * 1e-9, float(off))

    def _turning(self, state):
        """−∂(Fᵀφ)/∂q (n, n) at constant φ; the evaluation is that of the state again afterwards."""
        found = self.stiffness(state)
        self.evaluate(state)
        return found

    # --- messages -------------------------------------------------------------------------------------------------

    def closed_rows(self, state: State) -> tuple[csc_array, csc_array] | None:
        """Stiffness (n, n), and rows of pressed and sticking contacts (k, n); None while contacts slide."""
        self.evaluate(state)
        if (self.status == SLIP).any():
            return None
        K = self._turning(state)
        F = self.gradient("G_N", "V_T").tocsr()
        pressed = self.force[:, 0] > TOUCHES * np.abs(self.force).max(initial=0.0)
        chosen = np.zeros((self.system.nc, 3), bool)
        chosen[:, 0], chosen[:, 1:] = pressed, (pressed & (self.status == STICK))[:, None]
        return K, csc_array(F[chosen.ravel()])

    def sliding(self) -> str:
        """Contacts that slide, or that none is closed, in words; "" if neither is so."""
        contacts = self.system.contacts
        names = [label(contacts[c]) for c in np.flatnonzero(self.slid)[:5]]
        if names:
            return (
                f" Friction was used up at {', '.join(names)}: if nothing else holds the model, it slides: there is no "
                "equilibrium."
            )
        if (self.status == GAP).all():
            return (
                " No contact is closed: a body supported by contacts alone has no equilibrium before it touches. "
                "Place it so that it touches (gap 0)."
            )
        return (
            " Motions that frictionless contacts permit (a block on a plane) have no stiffness; friction supports it."
        )
