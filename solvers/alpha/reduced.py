"""The coupled problem of a step reduced to its contacts, where Newton's iteration goes to and fro between statuses.

With friction the matrix of the contacts need not be positive definite in the set where contacts slide. Two ends of a
journal in a bearing: both closed one of them would pull, with this one open it would close further; that the *other*
one opens is the solution. Newton's iteration, whose steps are shortened, does not find it, whatever p is and however
small the step. The solvers of `contact_problem` do, and Newton's iteration then starts from their statuses.

With the matrix J of the coupled problem, rows of contacts replaced by −k δz (``held``), at unknowns y without forces of
contacts, impulses P of velocities and κ of positions:

    δy = J⁻¹ ( −R + B (P, κ) )                                                                                      (1)
    u = u₀ + D δv ,   g = g₀ + G_N δq ,   δq = c_q 𝒫 δv~ + T(U) δU                                                  (2)

u by P is a contact problem with friction, g by κ and the friction in P one without. Which contacts are closed is known
from κ, so that they are solved in turn; what κ does to velocities by turning bodies is left to Newton's. B has
D_T h/2 of friction in positions. Contacts of which the method has forces λ in addition to impulses (persistent
contacts, ``forces``) get P as λ = c_a (P − P_0), with P_0 of the memory of forces in the step.

Source: docs/theory/nonsmooth_generalized_alpha.md, "Where Newton's iteration fails".
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.jit import address, callback_address, invoke, kernel, python_callback
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.contact.correction import TOLERANCE, contact_blocks, contact_values, dense_rows
from fem_mbs.solvers.contact_problem.problem import ContactProblem, solve_contact_problem
from fem_mbs.solvers.stepping.kernels.checks import SHARE
from fem_mbs.solvers.stepping.kernels.codes import OK
from fem_mbs.solvers.stepping.kernels.data import COUNTS, run_at, system_at
from fem_mbs.solvers.stepping.kernels.sizes import left_over, round_off_of
from fem_mbs.system.assembly import energies
from fem_mbs.system.contacts import TURNING, with_any
from fem_mbs.system.global_matrices import factorise, solve_in_place
from fem_mbs.system.records import POSITION, STACKED, VELOCITY

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine


ROUNDS = 2  # linearisations, each with Newton's iteration from what it leads to
TURNS = 8  # velocities and positions are solved in turn
LARGEST = 120  # contacts: those of larger problems would make full matrices of their responses
NEAR = 2.0  # times what a gap closes in the step: contacts that may take part
SIX = 6  # impulses and moments of a contact
RESTORED = ("history", "active", "status", "candidate", "r1", "rate", "rows_c")  # of what Newton's has left
MOTION = ("Vs", "Vd", "D", "U", "W", "lam", "nu", "Lam")  # unknowns other than those of contacts


@kernel
def factors(data):
    """Factorise the coupled matrix; False when it is singular."""
    return factorise(system_at(data)[0], STACKED)


@kernel
def solve_rows(data, at, count, size):
    """Solve the coupled system with each of ``count`` rows of ``size`` numbers at an address, in place."""
    d = system_at(data)[0]
    for k in range(count):
        solve_in_place(d, STACKED, at + 8 * k * size)


@kernel
def gives_energy(data, run):
    """True if the energy at the present unknowns is above that of the start by more than `stepping.kernels.checks`
    lets pass.

    Friction goes into positions too, where it may bend stiff parts: smaller steps have less of that, and no Newton's
    iteration that fails.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    if s.external.shape[0] > 0:
        return False
    begun, potential = energies(d, s.x0, s.R0, s.V0, s.force)
    before, top = begun + potential, max(s.top_kinetic, begun)
    kinetic, potential = energies(d, s.x, s.R, s.V, s.force)
    after = kinetic + potential
    return after - before > SHARE * top + round_off_of(s, before) + left_over(s)


@kernel
def hold(run, held):
    """True if multipliers of contacts are given."""
    own_at(run_at(run)[0].own_at)[0].held = held


class ReducedContactProblem:
    """Solves the contacts of a coupled step, linearised, as contact problems; called from compiled code.

    Attributes
    ----------
    problem : ContactProblem or None
        The last one of velocities: what a failed step leaves behind.
    error : Exception or None
        A fault in a call, for the engine to raise.
    """

    inexact = 0

    def __init__(self, engine: "Engine") -> None:
        self.engine, self.problem, self.error = engine, None, None
        self.reached = np.inf
        self.begin, self.before = engine.method.first_guess()
        self._callback = python_callback(self._called)
        self.address = callback_address(self._callback)

    def get_state(self) -> dict[str, Any]:
        """State of the solver: the end of the last problem; each begins from the data of the engine."""
        return {"reached": self.reached}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from the state of `get_state`."""
        self.reached = state["reached"]

    def last(self) -> str:
        """Describe the end of the last contact problem."""
        if self.problem is None:
            return "it made no contact problem"
        return f"{len(self.problem.friction)} contacts, scale-free error {self.reached:.1e}"

    def _called(self, data, run):
        """Entry point for compiled code: an exception may not leave it."""
        record, a, solved = self.engine.run[0], self.engine.arrays, False
        self.at = int(record["data_at"]), int(record["run_at"])
        if self.before is not None:
            invoke(self.before.address, *self.at)
            if record["code"] == OK:
                return
        failed, before = int(record["code"]), [a[name].copy() for name in RESTORED]
        counts = [int(record[name]) for name in COUNTS]
        try:
            solved = self._solve()
        except (ArithmeticError, np.linalg.LinAlgError, ParameterError):
            pass  # singular or not finite: not solved, which is the answer
        except Exception as error:
            self.error = error
        finally:
            record["without_contacts"] = 0
            hold(self.at[1], 0)
        if solved:
            record["handed_problems"] += 1
            return
        record["code"] = failed
        for name, value in zip(RESTORED, before):
            a[name][:] = value
        for name, count in zip(COUNTS, counts):
            record[name] = count

    def _solve(self):
        """Linearise, solve, and let Newton's iteration finish; True when it has."""
        system, record, a = self.engine.system, self.engine.run[0], self.engine.arrays
        if system.n_drill:
            return False  # cones of sliding coupled with drilling are not among those of the contact-problem solver
        invoke(self.begin.address, *self.at)
        for _ in range(ROUNDS):
            if not self._linearise():
                return False
            self._respond(*self._impulses())
            kept = [a[name].copy() for name in MOTION]
            record["most"], record["first_residual"], record["want_matrix"] = record["max_iterations"], 0, 0
            invoke(int(record["newton_part"]), int(record["velocity_problem"]), self.at[1])
            if record["code"] == OK:
                record["velocity_iterations"] = max(record["velocity_iterations"], record["iteration"])
                return not gives_energy(*self.at)
            for name, value in zip(MOTION, kept):
                a[name][:] = value
        return False

    def _linearise(self):
        """Rows and matrix of (1) at the present motion, without contacts; False where they are not regular."""
        engine, record, a = self.engine, self.engine.run[0], self.engine.arrays
        for name in ("cLam", "cnu", "lam_c"):
            a[name][:] = 0.0
        record["without_contacts"], record["first_residual"], record["number"] = 1, 0, STACKED
        hold(self.at[1], 1)
        engine.call("velocity", "residual")
        if not np.isfinite(record["merit"]):
            return False
        engine.call("velocity", "matrix")
        regular = factors(self.at[0])
        engine.call("velocity", "right")
        record["without_contacts"] = 0
        hold(self.at[1], 0)
        return regular

    def _impulses(self):
        """Contacts that may act, their P (k, 6) less P_0 and κ (k,) less κ_0, by (2); fills what `_respond` needs."""
        system, record, a = self.engine.system, self.engine.run[0], self.engine.arrays
        u, gaps = np.zeros((system.nc, SIX)), np.zeros((system.nc, SIX))
        contact_values(*self.at, VELOCITY, u)
        contact_values(*self.at, POSITION, gaps)
        reached = a["reached" if self.engine.forces else "candidate"] != 0
        chosen = np.flatnonzero(reached | (gaps[:, 0] <= NEAR * record["h"] * np.abs(u[:, 0])))
        if len(chosen) > LARGEST:
            raise ArithmeticError("too many contacts")
        self._gradients(chosen)
        self._columns(chosen)
        closes, moves = self._outputs()
        k = len(chosen)
        P_0, kappa_0 = self._memory(chosen)
        W_u, pushes, W_g = closes[:, : SIX * k], moves[:, : SIX * k], moves[:, SIX * k : -1]
        free_u = u[chosen].ravel() + closes[:, -1] - W_u @ P_0.ravel()
        free_g = gaps[chosen, 0] + moves[:, -1]
        self.bounce = u[chosen, 0] - self._rates(a["V"])
        P, kappa, closed = np.zeros((k, SIX)), kappa_0.copy(), reached[chosen]
        for _ in range(TURNS):
            P, before = self._velocities(chosen, closed, W_u, free_u, P), closed
            kappa = self._positions(W_g, free_g + pushes @ (P - P_0).ravel(), kappa_0)
            closed = reached[chosen] | (kappa > 0.0)
            if (closed == before).all():
                break
        return chosen, P - P_0, kappa - kappa_0, P[:, 0] > 0.0

    def _gradients(self, chosen):
        """Gradients of the chosen contacts at their nodes, and as rows of free components."""
        system = self.engine.system
        place = np.full(system.nc, -1)
        place[chosen] = np.arange(len(chosen))
        most = max(group.sizes["nn"] for group in system.groups if group.is_contact)
        self.nodes = np.full((len(chosen), most), -1)
        self.blocks = np.zeros((len(chosen), most, SIX, 6))
        contact_blocks(self.at[0], VELOCITY, place, self.nodes, self.blocks)
        self.D = np.zeros((len(chosen) * SIX, system.n))
        dense_rows(self.at[0], self.nodes, self.blocks, self.D)
        self.normal = np.where(self.nodes[:, :, None] >= 0, self.blocks[:, :, 0], 0.0)

    def _columns(self, chosen):
        """Responses (1) of all unknowns to unit P, κ and, where the method has them, λ; the last to −R."""
        system, h, a = self.engine.system, float(self.engine.run[0]["h"]), self.engine.arrays
        k, n, self.size = len(chosen), system.n, self.engine.matrices.layouts[VELOCITY].n
        size, D = self.size, self.D
        part = [slice(block * size, block * size + n) for block in range(3)]
        rows = np.zeros((k * (2 * SIX + 1 if self.engine.forces else SIX + 1) + 1, 3 * size))
        rows[: SIX * k, part[2]] = D
        rows[: SIX * k, part[1]] = 0.5 * D
        rows[: SIX * k : SIX, part[1]] = 0.0
        rows[SIX * k : (SIX + 1) * k, part[1]] = D[::SIX] / h
        if self.engine.forces:
            rows[(SIX + 1) * k : -1, part[0]] = h * D
        rows[-1] = a["dx"][: 3 * size]
        rows[-1].reshape(3, size)[:, n + system.m :] = 0.0
        solve_rows(self.at[0], address(rows), *rows.shape)
        self.columns = rows

    def _outputs(self):
        """Change by the columns in velocities (k 6, k 7 + 1) and of gaps (k, k 7 + 1), (2)."""
        system, record, a = self.engine.system, self.engine.run[0], self.engine.arrays
        k, n, size = len(self.nodes), system.n, self.size
        rows = np.vstack([self.columns[: (SIX + 1) * k], self.columns[-1:]])
        c_q = float(self.engine.record_of("c_q")["c_q"])
        moved = np.zeros((len(rows), len(system.nodes), 6))
        for block, factor, T in ((0, c_q, a["TP"]), (1, float(record["h"]), a["T"])):
            full = np.zeros_like(moved)
            free = system.dof >= 0
            full.reshape(len(rows), -1)[:, free] = (
                factor * rows[:, block * size : block * size + n][:, system.dof[free]]
            )
            full[:, :, 3:] = np.einsum("nij,cnj->cni", T, full[:, :, 3:])
            moved += full
        gaps = np.einsum("kbj,ckbj->kc", self.normal, moved[:, self.nodes])
        return self.D @ rows[:, 2 * size : 2 * size + n].T, gaps

    def _rates(self, V):
        """Normal velocities (k,) [m/s] of the chosen contacts."""
        return np.einsum("kbj,kbj->k", self.normal, V[self.nodes])

    def _arms(self):
        """Arms (6,) that forces of a contact are counted at, 1 of forces."""
        return np.repeat([1.0, float(self.engine.run[0]["length"])], 3)

    def _memory(self, chosen):
        """P_0 (k, 6) and κ_0 (k,): what the memory of forces gives in the step."""
        if not self.engine.forces:
            return np.zeros((len(chosen), SIX)), np.zeros(len(chosen))
        a, own, h = self.engine.arrays, self.engine.own[0], float(self.engine.run[0]["h"])
        last, now = a["bar0"][chosen], a["bar"][chosen]
        P_0 = h * ((1.0 - own["gamma"]) * last + own["gamma"] * now)
        return P_0 * self._arms(), h * h * ((0.5 - own["beta"]) * last[:, 0] + own["beta"] * now[:, 0])

    def _velocities(self, chosen, closed, W, free, start):
        """P (k, 6) of the contacts that are closed, by the contact problem with friction."""
        laws, P = self.engine.system.laws[chosen[closed]], np.zeros_like(start)
        friction = self.engine.system.acting_friction()[chosen[closed]]
        if not closed.any():
            return P
        turns = bool(with_any(laws, *TURNING).any())
        size = SIX if turns else 3
        at = (SIX * np.flatnonzero(closed)[:, None] + np.arange(size)).ravel()
        name = f"{self.engine.system.name}: contacts of the step at t = {self.engine.run[0]['t']:.9g} s"
        resistances = {"rolling": laws["rolling_resistance"], "spinning": laws["spinning_resistance"]} if turns else {}
        self.problem = ContactProblem(W[np.ix_(at, at)], free[at], friction, name=name, **resistances)
        solution = solve_contact_problem(self.problem, tol=TOLERANCE, start=start[closed, :size], rounds=0)
        self.reached = solution.error
        if not solution.converged:
            raise ArithmeticError("contacts of the step have no solution that is found")
        P[closed, :size] = solution.r
        return P

    def _positions(self, W, free, kappa_0):
        """κ (k,) that gaps need, by the contact problem without friction; tangents of it are nothing but there."""
        k = len(kappa_0)
        whole, q = np.zeros((3 * k, 3 * k)), np.zeros((k, 3))
        whole[::3, ::3] = W
        for i in (1, 2):
            np.fill_diagonal(whole[i::3, i::3], np.diag(W))
        q[:, 0] = free - W @ kappa_0
        if not k:
            return kappa_0
        return solve_contact_problem(ContactProblem(whole, q, 0.0), tol=TOLERANCE, rounds=0).r[:, 0]

    def _respond(self, chosen, P, kappa, pressed):
        """Store the solution of the contacts, and all other unknowns by (1)."""
        system, record, a = self.engine.system, self.engine.run[0], self.engine.arrays
        k, size, h = len(chosen), self.size, float(record["h"])
        force = np.zeros_like(P)
        if self.engine.forces:
            own = self.engine.own[0]
            stays = pressed & (own["forces"] != 0) & (-self.bounce <= record["tol_v"])
            force[stays] = own["c_a"] * P[stays]
            P = np.where(stays[:, None], 0.0, P)
            kappa = kappa - own["c_q"] / own["c_a"] * force[:, 0]
        dx = self.columns[-1] + P.ravel() @ self.columns[: SIX * k] + kappa @ self.columns[SIX * k : (SIX + 1) * k]
        if self.engine.forces:
            dx += force.ravel() @ self.columns[(SIX + 1) * k : -1]
        first, roll, arms = system.n + system.m, system.roll_index[chosen], self._arms()
        for block, value in ((0, force / arms / record["ks"]), (2, P / arms / record["kv"])):
            rows = dx[block * size : (block + 1) * size]
            rows[first : first + 3 * system.nc].reshape(-1, 3)[chosen] = value[:, :3]
            rows[first + 3 * system.nc :].reshape(-1, 3)[roll[roll >= 0]] = value[roll >= 0, 3:]
        dx[size + first + 3 * chosen] = kappa / (record["kp"] * h)
        a["dx"][: 3 * size] = dx
        self.engine.record_of("taken")["taken"], record["scale"] = 0.0, 1.0
        self.engine.call("velocity", "move")
