"""Corrections of the decoupled scheme by the contact-problem solver, where Newton's iteration stalls or is not wanted.

A correction is linearised with the contact impulses r as *total* unknowns. With the matrix S of the correction without
contacts (mass, h C or ½ h² K, constraints) and the kept contact gradients D

    S (ΔU, Δν) = (−r1 + Dᵀ r, k g)     r1: residual without contact forces                                           (1)
    u = u₀ + D ΔU = W r + q ,   W = D S⁻¹ Dᵀ ,   q = u₀ + D S⁻¹ (−r1, k g)                                           (2)

u₀ holds gaps and slips at position level, g°_N and g°_T of the impact law at velocity level. (2) with the friction
cones is a `ContactProblem`; its solution gives U and ν, where (1) is written again. What the linearisation leaves out
(T(U), curvature of contacts, gyroscopic terms) is small, so two or three rounds do. Redundant contacts make W singular:
the motion is that of the scheme, the impulses are the ones nearest to the last step's that the solver finds (from zero
after an impact: near the minimum norm).

Source: formulation-decoupled-nsga-lie-group, sections 1.4, 1.5; formulation-contact-problem-solver.
"""

import numpy as np

from fem_mbs.assembly import (
    POSITION,
    SMOOTH,
    clear_matrix,
    constraint_tangents,
    dynamics,
    expand_add,
    factorise,
    groups_of,
    layouts_of,
    matrix_values,
    reduce_vector,
    solve_in_place,
)
from fem_mbs.contact_assembly import B_GN, B_GN0, B_GT, B_VT, B_VT0, B_W, C_BLOCKS, C_GAP, C_SLIP, gradient_times
from fem_mbs.errors import ParameterError
from fem_mbs.jit import (
    address,
    callback_address,
    integer_matrix,
    integers,
    invoke,
    kernel,
    matrix,
    python_callback,
    tensor,
    vector,
)
from fem_mbs.solvers.contact_problem import ContactProblem, solve_contact_problem
from fem_mbs.solvers.nsga_position import position_solved
from fem_mbs.solvers.nsga_velocity import velocity_solved

ROUNDS = 12  # linearisations before a correction is given up
TOLERANCE = 1e-12  # scale-free error asked of the contact problems; the Newton iterations at their end reach it
ACCEPTED = 1e-11  # gaps and approach speeds that are accepted, relative to sizes and speeds
MARGIN = 0.1  # open contacts nearer than this part of the deepest penetration are in the problem from the start


@kernel
def fill_matrix(d, s, level):
    """Assemble (1) in the matrix of the smooth sub-problem, whose pattern is that without contacts, and factorise."""
    N, m = d.n_nodes, d.m
    x, R, T = matrix(s.x_at, N, 3), tensor(s.R_at, N, 3, 3), tensor(s.T_at, N, 3, 3)
    Ma, f, phi = vector(s.force_at, 6 * N), vector(s.Gl_at, 6 * N), vector(s.phi_at, m)  # the first two are scratch
    clear_matrix(d, SMOOTH)
    if level == POSITION:
        half, Vs, U = s.position_factor * s.h * s.h, matrix(s.Vs_at, N, 6), matrix(s.U_at, N, 6)
        dynamics(d, SMOOTH, x, R, Vs, U, Ma, f, True, 1.0, 0.0, half, 1.0, T, False)
        if m > 0:
            constraint_tangents(d, SMOOTH, x, R, Vs, phi, 1.0, 0.0, s.kp, 0.0, s.epsilon * s.kp, True, T)
    else:
        V = matrix(s.V_at, N, 6)
        dynamics(d, SMOOTH, x, R, V, matrix(s.Ad_at, N, 6), Ma, f, True, 1.0, s.h, 0.0, 0.0, R, False)
        if m > 0:
            constraint_tangents(d, SMOOTH, x, R, V, phi, 0.0, 0.0, s.kv, 0.0, s.epsilon * s.kv, False, R)
    if s.persistent != 0:  # rows of contacts are there but not meant
        L = layouts_of(d)[SMOOTH]
        values, diagonal = matrix_values(d, SMOOTH), integers(L.diagonal_at, L.n)
        for i in range(d.n + m, L.n):
            values[diagonal[i]] = -1.0
    return factorise(d, SMOOTH)


@kernel
def solve_rows(d, at, count, size):
    """Solve with each of ``count`` rows of ``size`` numbers at an address, in place."""
    for k in range(count):
        solve_in_place(d, SMOOTH, at + 8 * k * size)


@kernel
def right_side(d, s, level, out):
    """Fill out with (−r1, k g), or k ġ."""
    reduce_vector(d, vector(s.r1_at, 6 * d.n_nodes), out)
    k = s.kp if level == POSITION else s.kv
    g = vector(s.g_at if level == POSITION else s.rate_at, d.m)
    for i in range(d.n):
        out[i] = -out[i]
    for i in range(d.m):
        out[d.n + i] = k * g[i]


@kernel
def apply_increment(d, s, level, dx):
    """U, ν or W, Λ plus the solution of (1)."""
    N, m = d.n_nodes, d.m
    expand_add(d, 1.0, dx, matrix(s.U_at if level == POSITION else s.W_at, N, 6))
    multiplier = vector(s.nu_at if level == POSITION else s.Lam_at, m)
    for i in range(m):
        multiplier[i] += dx[d.n + i]


@kernel
def contact_values(d, s, level, u):
    """Fill u₀ (nc, 6): gap and slip, or g°_N and g°_T; then rolling (2) and spinning velocities."""
    groups = groups_of(d)
    N = d.n_nodes
    V, Vminus = matrix(s.V_at, N, 6), matrix(s.Vminus_at, N, 6)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), matrix(g.law_at, g.n, 5)
        for e in range(g.n):
            c = g.first_contact + e
            if level == POSITION:
                u[c, 0] = kept[e, C_GAP]
                for i in range(2):
                    u[c, 1 + i] = kept[e, C_SLIP + i]
                continue
            u[c, 0] = gradient_times(g, e, B_GN, 0, V) + law[e, 3] * gradient_times(g, e, B_GN0, 0, Vminus)
            for i in range(2):
                slide = gradient_times(g, e, B_VT, i, V)
                u[c, 1 + i] = slide + law[e, 4] * gradient_times(g, e, B_VT0, i, Vminus)
            for i in range(3):
                u[c, 3 + i] = gradient_times(g, e, B_W, i, V)


@kernel
def contact_blocks(d, level, place, nodes, blocks):
    """Fill nodes (k, nn) and blocks (k, nn, size, 6) of the contacts c with place[c] ≥ 0; absent nodes are −1."""
    groups = groups_of(d)
    tangential = B_GT if level == POSITION else B_VT
    size = blocks.shape[2]
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        of, kept = integer_matrix(g.nodes_at, g.n, g.nn), matrix(g.contact_at, g.n, g.contact_stride)
        for e in range(g.n):
            k = place[g.first_contact + e]
            if k < 0:
                continue
            for b in range(g.nn):
                nodes[k, b] = of[e, b]
                for i in range(size):
                    row = B_GN if i == 0 else (tangential + i - 1 if i < 3 else B_W + i - 3)
                    at = C_BLOCKS + row * g.nd + 6 * b
                    for j in range(6):
                        blocks[k, b, i, j] = kept[e, at + j]


@kernel
def dense_rows(d, nodes, blocks, rows):
    """Scatter blocks of contacts to rows (k·size, ≥ n) of free components; two nodes of a contact may be the same."""
    dof = integers(d.dof_at, 6 * d.n_nodes)
    size = blocks.shape[2]
    for k in range(blocks.shape[0]):
        for b in range(blocks.shape[1]):
            if nodes[k, b] < 0:
                continue
            for j in range(6):
                at = dof[6 * nodes[k, b] + j]
                if at >= 0:
                    for i in range(size):
                        rows[k * size + i, at] += blocks[k, b, i, j]


@kernel
def is_solved(d, s, level):
    """Whether the residual that was evaluated last is small enough."""
    return position_solved(d, s) if level == POSITION else velocity_solved(d, s)


class ContactProblemCorrection:
    """Solves position and velocity corrections of a run as contact problems; called from compiled code.

    Attributes
    ----------
    problem : ContactProblem or None
        The last one: what a failed step leaves behind.
    error : Exception or None
        A fault in a call, for the engine to raise.
    """

    def __init__(self, engine):
        self.engine, self.problem, self.error = engine, None, None
        self._callback = python_callback(self._called)
        self.address = callback_address(self._callback)

    def _called(self, data, run):
        """What compiled code calls: an exception may not leave it."""
        codes, a = self.engine.kernels, self.engine.arrays
        solved = False
        try:
            solved = self._correct(int(a["counts"][6]))
        except (ArithmeticError, np.linalg.LinAlgError, ParameterError):
            pass  # singular or not finite: not solved, which is the answer
        except Exception as error:
            self.error = error
        a["counts"][7] += 1
        self.engine.run[0]["code"] = codes.OK if solved else codes.NOT_CONVERGED

    def _call(self, part):
        run = self.engine.run
        invoke(int(run[0][part]), int(run[0]["data_at"]), address(run))

    def _correct(self, level):
        """Linearise and solve until the residual of the correction itself is small; True when it is."""
        system, run = self.engine.system, self.engine.run
        d, s, record = system.data[0], run[0], self.engine.run[0]
        part = f"{'position' if level == POSITION else 'velocity'}_residual_part"
        r, exact = self._start(level), float(record["exact"])
        record["exact"] = max(exact, ACCEPTED)
        try:
            for _ in range(ROUNDS):
                record["without_contacts"] = 1
                self._call(part)
                record["without_contacts"] = 0
                if not np.isfinite(record["dynamic"] + record["row"]) or not fill_matrix(d, s, level):
                    return False
                r = self._linearised(level, d, s, r)
                self._store(level, r)
                self._call(part)
                if is_solved(d, s, level):
                    return True
        finally:
            record["exact"], record["without_contacts"] = exact, 0
        return False

    def _start(self, level):
        """First impulses (nc, 6): those of the last step where a contact stayed closed without impact."""
        a, record = self.engine.arrays, self.engine.run[0]
        r = np.zeros((self.engine.system.nc, 6))
        stays = (a["was_active"] != 0) & (a["impact"] == 0)
        factor = record["position_factor"] * record["h"]
        if level == POSITION:
            a["U"][:], a["nu"][:] = 0.0, 0.0
            r[stays, :3] = factor * a["total_Lam"][stays]
        else:
            a["W"][:], a["Lam"][:] = 0.0, 0.0
            if a["counts"][3] == 0:
                r[stays, :3] = a["cnu"][stays] * record["kp"] / factor
        return r

    def _linearised(self, level, d, s, r):
        """Solve (1), (2); applies the increment and returns the impulses (nc, 6)."""
        system, a, record = self.engine.system, self.engine.arrays, self.engine.run[0]
        u = np.zeros((system.nc, 6))
        contact_values(d, s, level, u)
        if level == POSITION:
            chosen = np.flatnonzero((u[:, 0] <= MARGIN * max(-u[:, 0].min(), 0.0)) | (r[:, 0] > 0))
        else:
            chosen = np.flatnonzero(a["candidate"])
        laws = system.laws[chosen]
        turns = level != POSITION and bool(laws[:, 1:3].any())
        size = 6 if turns else 3
        place = np.full(system.nc, -1)
        place[chosen] = np.arange(len(chosen))
        most = max(group.sizes["nn"] for group in system.groups if group.contact_stride)
        nodes, blocks = np.full((len(chosen), most), -1), np.zeros((len(chosen), most, size, 6))
        contact_blocks(d, level, place, nodes, blocks)
        # the last row is the right-hand side without contacts
        rows = np.zeros((len(chosen) * size + 1, system.layouts[SMOOTH].n))
        dense_rows(d, nodes, blocks, rows)
        right_side(d, s, level, rows[-1])
        responses = rows.copy()
        solve_rows(d, address(responses), *rows.shape)
        D = rows[:-1, : system.n]
        W = D @ responses[:-1, : system.n].T
        q = u[chosen, :size].ravel() + D @ responses[-1, : system.n]
        resistances = {"rolling": laws[:, 1], "spinning": laws[:, 2]} if turns else {}
        name = f"{system.name}: {'position' if level == POSITION else 'velocity'} correction at t = {record['t']:.9g} s"
        self.problem = ContactProblem(W, q, laws[:, 0], name=name, **resistances)
        solution = solve_contact_problem(self.problem, tol=TOLERANCE, start=r[chosen, :size], rounds=0)
        apply_increment(d, s, level, responses[-1] + solution.r.ravel() @ responses[:-1])
        r = np.zeros_like(r)
        r[chosen, :size] = solution.r
        return r

    def _store(self, level, r):
        """Impulses as the multipliers of the scheme."""
        a, record = self.engine.arrays, self.engine.run[0]
        if level == POSITION:
            a["cnu"][:] = r[:, :3] / record["kp"]
        else:
            a["cLam"][:] = r[:, :3] / record["kv"]
            a["cchi"][:] = r[:, 3:] / (record["length"] * record["kv"])
