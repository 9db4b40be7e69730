"""Corrections by the contact-problem solver, where Newton's iteration stalls or is not wanted.

A correction is linearised with the contact impulses r as *total* unknowns. With the matrix S of the correction without
contacts (mass, h C or ½ h² K, constraints: the call ``matrix`` of its problem) and the kept contact gradients D

    S (ΔU, Δν) = (−r1 + Dᵀ r, k g)     r1: residual without contact forces                                           (1)
    u = u₀ + D ΔU = W r + q ,   W = D S⁻¹ Dᵀ ,   q = u₀ + D S⁻¹ (−r1, k g)                                           (2)

u₀ holds gaps and slips at position level, g°_N and g°_T of the impact law at velocity level. (2) with the friction
cones is a `ContactProblem`; its solution gives U and ν, where (1) is written again. What the linearisation leaves out
(T(U), curvature of contacts, gyroscopic terms) is small, so two or three rounds do. Redundant contacts make W singular:
the motion is that of the scheme, the impulses are the ones nearest to the last step's that the solver finds (from zero
after an impact: near the minimum norm).

Where nothing couples nodes but contacts, S is a block per node: W is then kept by bodies, with
`ContactProblem.from_contacts`, and not formed. With 63, 160, 325 contacts between spheres a step takes 0.2 to 0.6, 0.2
to 0.35, 0.13 to 0.2 of the time.

Source: docs/theory/decoupled_nsga.md, (24); docs/theory/contact_problems.md, (31).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.jit import (
    address,
    callback_address,
    python_callback,
)
from fem_mbs.solvers.contact.linearised import (
    apply_increment,
    contact_blocks,
    contact_values,
    dense_rows,
    expand,
    finish_matrix,
    node_inverses,
    reduce,
    residual_norm,
    right_side,
    solve_rows,
)
from fem_mbs.solvers.contact.products import delassus, sparse_rows
from fem_mbs.solvers.contact_problem.hybrid import LARGEST_FORMED
from fem_mbs.solvers.contact_problem.operators import SMALL_ROWS
from fem_mbs.solvers.contact_problem.problem import ContactProblem, Solution, solve_contact_problem
from fem_mbs.solvers.stepping.kernels.blocked import prescribed, without_motion
from fem_mbs.solvers.stepping.kernels.codes import LARGE_ROTATION, NOT_CONVERGED, OK, ROUND_OFF, TOUCHES
from fem_mbs.solvers.stepping.saved.saved_state import attributes_of
from fem_mbs.system.contacts import (
    TURNING,
    with_any,
)
from fem_mbs.system.records import POSITION, SMOOTH

if TYPE_CHECKING:
    from fem_mbs.solvers.stepping.engine import Engine
    from fem_mbs.system.compiled import CompiledSystem
    from fem_mbs.system.layout import Layout


ROUNDS = 12  # linearisations before a correction fails; two of velocity problems that have no solution
TOLERANCE = 1e-12  # scale-free error asked of the contact problems; the Newton iterations at their end reach it
EXACT_ROUNDS = 6  # of these, those in which gaps have to be as small as Newton's iteration makes them
ACCEPTED = 1e-11  # what is accepted in the others, relative to sizes and speeds
WORST = 1e-3  # errors of contact problems above which a step is rejected
# methods for problems of free bodies before the hybrid: (name, iterations, start from zero or from the best so far)
LOOSE = (("gauss_seidel", 400, False), ("admm", 1000, False), ("gauss_seidel", 1200, True))
GRADIENTS = (("apgd", 400, False), ("admm", 1000, False), ("apgd", 3000, False))  # without sweeps
ALLOWED = 3.0  # times the contact tolerance: errors with which a correction is still solved
FIRST = 0.03  # error asked of the first problem of a position correction relative to that of its start
SLOW = 1e-6  # of the mobility 1/k_p: contacts below it may be those that no impulse moves
LESS = 0.5  # of the error of a velocity problem: one of which the next linearisation leaves more has no solution
OF_A_PROBLEM = 10  # iterations that it takes as long as to make a contact problem
MARGIN = 0.1  # open contacts nearer than this part of the deepest penetration are in the problem from the start


def node_entries(system: "CompiledSystem", layout: "Layout") -> np.ndarray | None:
    """Places (N, 6, 6) of the blocks of nodes in the values of the smooth matrix, −1 for fixed components.

    None when the matrix couples nodes, or has rows of constraints or of contacts.
    """
    if system.m or layout.n != system.n:
        return None
    full = np.flatnonzero(system.dof >= 0)
    columns = np.repeat(np.arange(layout.n), np.diff(layout.pointers))
    row, column = full[layout.rows], full[columns]
    if layout.rows.size != len(columns) or (row // 6 != column // 6).any():
        return None
    entries = np.full((len(system.nodes), 6, 6), -1, np.int64)
    entries[row // 6, row % 6, column % 6] = np.arange(len(row))
    return entries


def solved_loosely(problem: ContactProblem, tolerance: float, start: np.ndarray) -> Solution:
    """Solution to a tolerance of about 1e-4: Gauss-Seidel iterations, ADMM from where they stall, Gauss-Seidel from
    zero, the hybrid.

    Gauss-Seidel iterations stall where a few contacts change their state to and fro. In 19 problems of 1,700 to 2,000
    contacts (spheres that a box is filled with, the hardest moments) ADMM continued from there to 1e-4 in 10 to 800
    iterations for 17; Gauss-Seidel iterations from zero help the others, Newton's iteration one in eight, the hybrid
    takes 5 to 10 times longer. Errors up to `ALLOWED` times the tolerance are taken before that. Gauss-Seidel
    iterations support Coulomb's law only, and need bodies: other problems are left to `GRADIENTS`.
    """
    best: Any = None
    sweeps = not problem.relaxed and problem.bodies is not None
    for method, iterations, afresh in LOOSE if sweeps else GRADIENTS:
        begin = start if best is None else best.r
        begin = np.zeros_like(start) if afresh else begin
        solution = solve_contact_problem(problem, method, tolerance, start=begin, iterations=iterations)
        if best is None or solution.error < best.error:
            best = solution
        if best.converged:
            return best
    if best.error <= ALLOWED * tolerance:
        return best
    solution = solve_contact_problem(problem, tol=tolerance, start=best.r, rounds=0)
    return solution if solution.error < best.error else best


class ContactProblemCorrection:
    """Solves position and velocity corrections of a run as contact problems; called from compiled code.

    Attributes
    ----------
    problem : ContactProblem or None
        The last one: what a failed step leaves behind.
    error : Exception or None
        A fault in a call, for the engine to raise.
    inexact : int
        Problems of free bodies that were left with an error above the tolerance, but below `WORST`.
    worst : float
        Largest error of those.
    """

    def __init__(self, engine: "Engine") -> None:
        self.engine, self.problem, self.error = engine, None, None
        self.inexact, self.worst = 0, 0.0
        self.reached = np.inf  # error of the last problem
        self.unfinished = False  # the last was not asked to the tolerance
        self.node_entries = node_entries(engine.system, engine.matrices.layouts[SMOOTH])
        # contact groups are solved loosely, and their number may grow; one body alone or a handful exactly
        self.by_bodies = self.node_entries is not None and bool(engine.system.searches)
        self.loose = self.by_bodies  # whether the last problem was solved to the tolerance of the method only
        self._callback = python_callback(self._called)
        self.address = callback_address(self._callback)

    def _called(self, data, run):
        """Entry point for compiled code: an exception may not leave it."""
        record, solved = self.engine.run[0], False
        try:
            solved = self._correct(int(record["failed_problem"]))
        except (ArithmeticError, np.linalg.LinAlgError, ParameterError):
            pass  # singular or not finite: not solved, which is the answer
        except Exception as error:
            self.error = error
        record["handed_problems"] += 1
        record["code"] = OK if solved else NOT_CONVERGED

    own = ("inexact", "worst", "reached", "loose", "unfinished")

    def get_state(self) -> dict[str, Any]:
        """State of the solver: counters, and the end of the last problem; the problem itself is not kept."""
        return attributes_of(self, self.own)

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from the state of `get_state`."""
        for name in self.own:
            setattr(self, name, state[name])

    def last(self) -> str:
        """Describe the end of the last contact problem."""
        if self.problem is None:
            return "it made no contact problem"
        return f"{len(self.problem.friction)} contacts, scale-free error {self.reached:.1e}"

    def _correct(self, level):
        """Linearise and solve until the correction itself is solved; True when it is."""
        system, record, arrays = self.engine.system, self.engine.run[0], self.engine.arrays
        self.at = int(record["data_at"]), int(record["run_at"])
        if system.n_drill:
            return False  # cones of sliding coupled with drilling are not among those of the contact-problem solver
        problem = self.engine.problem_at(int(record["solving"]))
        r, exact, force = self._start(level), float(record["exact"]), float(record["F_s"])
        self.linear = None
        u = np.zeros((system.nc, 6))
        try:
            for k in range(ROUNDS):
                if self.engine.exhausted:
                    return False
                if k == EXACT_ROUNDS:
                    self._relax(level, record)
                record["without_contacts"] = 1
                evaluated = self._evaluate(problem)
                record["without_contacts"] = 0
                if not evaluated:
                    return False
                contact_values(*self.at, level, u)
                if not np.isfinite(record["dynamic"] + record["row"]):
                    return False
                if self.loose and self._is_solved(level, u, r):
                    self.engine.call(problem, "residual")  # leaves statuses
                    if level != POSITION:  # inexact impulses are the ones that act
                        arrays["aLam"][:] = r
                    return True
                record["number"] = SMOOTH
                self.engine.call(problem, "matrix")
                if not finish_matrix(self.at[0], level, not self.by_bodies):
                    return False
                self.loose = self.by_bodies
                r = self._linearised(level, u, r, k == 0)
                self._store(level, r)
                if not self.loose:
                    if not self._evaluate(problem):
                        return False
                    self.engine.call(problem, "solved")
                    if record["solved"]:
                        return True
        finally:
            record["exact"], record["F_s"], record["without_contacts"] = exact, force, 0
        return False

    def _evaluate(self, problem):
        """Residual at the present unknowns. False where they turn a node too far: what is there is of the last ones."""
        record = self.engine.run[0]
        record["code"] = OK
        self.engine.call(problem, "residual")
        return record["code"] != LARGE_ROTATION

    @staticmethod
    def _relax(level, record):
        """Accept gaps and approach speeds up to `ACCEPTED`, also where forces are too small to be a measure."""
        step = record["h"] ** 2 if level == POSITION else record["h"]
        size = record["scale_x" if level == POSITION else "scale_v"]
        record["exact"] = max(record["exact"], ACCEPTED)
        record["F_s"] = max(record["F_s"], ACCEPTED * size * record["mean_mass"] / (record["rtol"] * step))

    def _is_solved(self, level, u, r):
        """Test with inexact impulses: the contact problem to its tolerance, with the values u that were reached, and
        the equations of motion.

        The residual with contacts would not do: it takes the error of the impulses for one of the motion.
        """
        if self.linear is None:
            return False
        s, (chosen, nodes, blocks) = self.engine.run[0], self.linear
        size = blocks.shape[2]
        allowed = ALLOWED * self.engine.contact_tolerance
        scaled = self.problem.scaled
        if len(chosen):
            reached = scaled.S * u[chosen, :size] / scaled.q_norm if scaled.q_norm > 0 else u[chosen, :size]
            error, _ = scaled.error(scaled.into(r[chosen, :size]), reached)
            if scaled.q_norm > 0:  # a problem as small as round-off is not solved to digits that it does not have
                digits = ROUND_OFF * s["scale_x" if level == POSITION else "scale_v"]
                error = max(error - np.linalg.norm(scaled.S * np.full_like(reached, digits)) / scaled.q_norm, 0.0)
            if self.unfinished:
                if not error <= allowed:
                    return False
            elif self.solution.error > max(WORST, allowed) or not error <= max(allowed, 3.0 * self.solution.error):
                return False
            missed = np.setdiff1d(np.flatnonzero(u[:, 0] < 0.0), chosen) if level == POSITION else ()
            if len(missed) and u[missed, 0].min() < -allowed * np.abs(self.problem.q[:, 0]).max():
                return False
        motion = residual_norm(*self.at, nodes, blocks, r[chosen, :size])
        force = s["rtol"] * (s["h"] ** 2 if level == POSITION else s["h"]) * s["F_s"]
        k, size = (s["kp"], s["scale_x"]) if level == POSITION else (s["kv"], s["scale_v"])
        rounding = ROUND_OFF * k * size * len(self.engine.system.nodes)
        return motion <= max(force, s["rtol"] * np.linalg.norm(r[chosen, :3])) + rounding

    def _start(self, level):
        """First impulses (nc, 6): those of the last step where a contact stayed closed without impact."""
        a, record = self.engine.arrays, self.engine.run[0]
        r = np.zeros((self.engine.system.nc, 6))
        stays = (a["was_active"] != 0) & (a["impact"] == 0)
        factor = record["position_factor"] * record["h"]
        if level == POSITION:
            a["U"][:], a["nu"][:] = 0.0, 0.0
            r[stays, :3] = factor * a["total_Lam"][stays, :3]
        else:
            a["W"][:], a["Lam"][:] = 0.0, 0.0
            if record["impact_problems"] == 0:
                if not self.engine.method.velocities_first:
                    r[stays, :3] = a["cnu"][stays, :3] * record["kp"] / factor
                elif not record["newton"]:  # where Newton has stalled is a bad start
                    r[stays, :3] = record["kv"] * a["cLam"][stays, :3]
        return r

    def _linearised(self, level, u, r, first):
        """Solve (1), (2) at contact values u (nc, 6); applies the increment and returns the impulses (nc, 6)."""
        system, a, record = self.engine.system, self.engine.arrays, self.engine.run[0]
        if level == POSITION:
            margin = MARGIN * max(-u[:, 0].min(initial=0.0), 0.0)
            chosen = np.flatnonzero(((u[:, 0] <= margin) | (r[:, 0] > 0)) & (a["held"] == 0))
        else:
            chosen = np.flatnonzero(a["candidate"])
        laws = system.laws[chosen]
        mu = system.acting_friction()[chosen]
        turns = level != POSITION and bool(with_any(laws, *TURNING).any())
        size = 6 if turns else 3
        place = np.full(system.nc, -1)
        place[chosen] = np.arange(len(chosen))
        most = max((group.sizes["nn"] for group in system.groups if group.is_contact), default=0)
        nodes, blocks = np.full((len(chosen), most), -1), np.zeros((len(chosen), most, size, 6))
        contact_blocks(self.at[0], level, place, nodes, blocks)
        self.linear = chosen, nodes, blocks
        resistances = {"rolling": laws["rolling_resistance"], "spinning": laws["spinning_resistance"]} if turns else {}
        name = f"{system.name}: {'position' if level == POSITION else 'velocity'} correction at t = {record['t']:.9g} s"
        relaxed = bool(self.engine.method.relaxed)
        options = {"name": name, "relaxed": relaxed, **resistances}
        r_old, r = r[chosen, :size], np.zeros_like(r)
        many = len(chosen) * size > SMALL_ROWS and self.node_entries is not None
        if self.by_bodies or many:
            solution = self._free_bodies(level, nodes, blocks, u[chosen, :size], mu, r_old, options, first)
            r[chosen, :size] = solution.r
            return r
        if system.searches and len(chosen) * size > LARGEST_FORMED:
            solution = self._by_products(level, nodes, blocks, u[chosen, :size], mu, r_old, options, first)
            r[chosen, :size] = solution.r
            return r
        # the last row is the right-hand side without contacts
        rows = np.zeros((len(chosen) * size + 1, self.engine.matrices.layouts[SMOOTH].n))
        dense_rows(self.at[0], nodes, blocks, rows)
        right_side(*self.at, level, rows[-1])
        responses = rows.copy()
        solve_rows(self.at[0], address(responses), *rows.shape)
        D = rows[:-1, : system.n]
        W = D @ responses[:-1, : system.n].T
        q = u[chosen, :size].ravel() + D @ responses[-1, : system.n]
        if level == POSITION and self._hold(chosen, D[::size], np.diag(W)[::size], q[::size]):
            return self._linearised(level, u, r, first)
        self.problem = ContactProblem(W, q, mu, **options)
        solution = solve_contact_problem(self.problem, tol=TOLERANCE, start=r_old, rounds=0)
        before = np.inf if first else self.reached
        self._spend(solution)
        if solution.error > WORST and not first:  # what has no solution where it is linearised twice
            self._refuse_squeezed(level, D[::size], W[::size, ::size], q[::size])
            if level != POSITION and solution.error > LESS * before:
                raise ArithmeticError("the velocity problem has no solution")
        apply_increment(*self.at, level, responses[-1] + solution.r.ravel() @ responses[:-1])
        r[chosen, :size] = solution.r
        return r

    def _hold(self, chosen, normals, mobility, gaps):
        """Mark contacts that joints and drivers alone keep closed, at gaps that need no correction; True if there are
        any. ArithmeticError where one would need it: the problem has no solution.
        """
        free, least = self._measures(POSITION, normals)
        slow = np.flatnonzero(mobility <= SLOW * free)
        if not len(slow):
            return False
        slow = slow[prescribed(self.engine.system, self.engine.state(), normals[slow])]
        if (gaps[slow] < -least).any():
            raise ArithmeticError("joints and drivers alone close a contact")
        self.engine.arrays["held"][chosen[slow]] = 1
        return len(slow) > 0

    def _refuse_squeezed(self, level, normals, mobility, values):
        """ArithmeticError where joints and drivers close contacts, one or several, that leave no motion.

        Asked after a problem was not solved: tiny mobilities (a flywheel behind gears) are like none here.
        """
        if self.engine.system.m == 0 or not values.min(initial=0.0) < 0.0:
            return
        free, least = self._measures(level, normals)
        if without_motion(mobility, free, values, least).any():
            raise ArithmeticError("joints and drivers close contacts that leave no motion")

    def _measures(self, level, normals):
        """Mobilities (k,) that contacts with these gradients have without constraints, about; least gap or speed."""
        record = self.engine.run[0]
        k, least = (record["kp"], TOUCHES * record["scale_x"]) if level == POSITION else (record["kv"], record["tol_v"])
        return np.einsum("kn,kn->k", normals, normals) / k, least

    def _free_bodies(self, level, nodes, blocks, u, friction, start, options, first):
        """(2) body by body, without forming W, where no joint or spring couples nodes; loosely for contact groups."""
        system = self.engine.system
        N, unknowns = len(system.nodes), system.n + system.m
        inverse = np.zeros((N, 6, 6))
        node_inverses(self.at[0], self.node_entries, inverse)
        right = np.zeros(unknowns)
        right_side(*self.at, level, right)
        free = np.zeros((N, 6))
        expand(self.at[0], right, free)
        free = np.einsum("nij,nj->ni", inverse, free)
        self.problem = ContactProblem.from_contacts(
            inverse, nodes, blocks, u, friction, v=free, inverse=True, **options
        )
        if self.by_bodies:
            solution = self._loosely(level, start, first)
        else:
            solution = solve_contact_problem(self.problem, tol=TOLERANCE, start=start, rounds=0)
        self._spend(solution)
        increment = np.zeros(unknowns)
        reduce(self.at[0], solution.v, increment)
        apply_increment(*self.at, level, increment)
        return solution

    def _by_products(self, level, nodes, blocks, u, friction, start, options, first):
        """(2) by products with W, for contact groups of bodies that joints or springs couple; solved loosely."""
        system, unknowns = self.engine.system, self.engine.matrices.layouts[SMOOTH].n

        def solve(rows):
            solve_rows(self.at[0], address(rows), *rows.shape)
            return rows

        D, right = sparse_rows(system.dof, nodes, blocks, unknowns), np.zeros((1, unknowns))
        right_side(*self.at, level, right[0])
        free = solve(right)[0]
        W, diagonal = delassus(D, blocks.shape[2], solve)
        self.problem = ContactProblem(W, u.ravel() + D @ free, friction, blocks=diagonal, **options)
        self.loose = True
        solution = self._loosely(level, start, first)
        self._spend(solution)
        apply_increment(*self.at, level, free + solve((D.T @ solution.r.ravel())[None])[0])
        return solution

    def _spend(self, solution):
        """Count the iterations of a contact problem among those of the step."""
        self.reached = solution.error
        self.engine.run[0]["work"] += OF_A_PROBLEM + solution.iterations

    def _loosely(self, level, start, first):
        """Solution of the problem to the tolerance of the method."""
        tolerance, self.unfinished = self.engine.contact_tolerance, False
        if first and level == POSITION:
            # the gaps are linearised anew after this one: what bends away is some hundredths of it
            begun = min(self.problem.error(start)[0], 1.0)
            self.unfinished, tolerance = FIRST * begun > tolerance, max(FIRST * begun, tolerance)
        self.solution = solved_loosely(self.problem, tolerance, start)
        if not self.solution.converged:
            self.inexact, self.worst = self.inexact + 1, max(self.worst, self.solution.error)
        return self.solution

    def _store(self, level, r):
        """Impulses as the multipliers of the scheme."""
        a, record = self.engine.arrays, self.engine.run[0]
        if level == POSITION:
            a["cnu"][:, :3] = r[:, :3] / record["kp"]
        else:
            a["cLam"][:, :3] = r[:, :3] / record["kv"]
            a["cLam"][:, 3:] = r[:, 3:] / (record["length"] * record["kv"])
