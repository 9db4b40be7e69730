"""The stage problem: joints and contacts hold in positions at the stages 2 … s; what the last stage does is left out.

    0 = r^i   (`lobatto.blocks`, (1)),  i = 1 … s                                                                (1)
    0 = g(q^i, t^i)  with R^{i−1},  i = 2 … s;  contacts: `lobatto.contacts`                                      (2)

with rows of velocities (`lobatto.rates`) in the place of (2).

Block j of the stacked matrix has the unknowns w^j, R^j, and the rows r^j, (2) of stage j + 1; the last has no R.

Source: docs/theory/lobatto.md, (4)-(10).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, call2, entry, indices, integers, kernel, local_vector, matrix, tensor, vector
from fem_mbs.rotations import add_rotated, rotate, rotate_T
from fem_mbs.solvers.contact.law_rows import move_multipliers, put_rows
from fem_mbs.solvers.lobatto.blocks import clear_entries, distribute, elements, multiplier_diagonal, spread
from fem_mbs.solvers.lobatto.chart import charts, curvatures, own_rows, to_stage, without_gyration
from fem_mbs.solvers.lobatto.contacts import stage_contacts
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.lobatto.rates import rate_entries, rates_squared, stage_rates
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1
from fem_mbs.solvers.stepping.kernels.codes import LARGE_ROTATION, ROUND_OFF
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import FORCES
from fem_mbs.solvers.stepping.kernels.newton import Problem, halve, problem_at
from fem_mbs.solvers.stepping.kernels.run import go_to
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part, push_of, speed_of, step_size
from fem_mbs.system.constraints import add_constraint_forces, constraints, replace_velocity_rows, row_norm
from fem_mbs.system.gather import gather, times_tangent
from fem_mbs.system.global_matrices import clear_matrix, expand_add, full_norm, reduce_vector
from fem_mbs.system.records import POSITION, STACKED, groups_of, switches_of, zero

_H, _RATE, _K, _C, _M = (SLOT[k] for k in ("H", "rate", "K", "C", "M"))


@kernel
def _constraint_entries(d, s, o, j):
    """Entries of joints at stage j: ∂(Gᵀ R)/∂q and Gᵀ in F, G in the rows of the stage before."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    last = j == o.a.shape[0] - 1
    scale = s.kv / s.h
    for k in range(d.n_groups):
        g = groups[k]
        if g.constraint == 0:
            continue
        nd, nr = g.nd, g.nr
        size, stored = nd + nr, tensor(g.G_at, g.n, nr, nd)
        S, B, G = matrix(b[_K], size, size), matrix(b[_C], size, size), matrix(b[_M], nr, nd)
        nothing, H, on = matrix(b[_M], nd, 0), tensor(b[_H], nr, nd, nd), switches_of(g)
        for e in range(g.n):
            if on[e] == 0:
                continue
            where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
            if j > 0:
                for i in range(nr):
                    for c in range(nd):
                        G[i, c] = scale * stored[e, i, c]
                times_tangent(g, e, G, nr, o.Ti[j])
                for i in range(nr - g.velocity_rows):
                    for c in range(nd):
                        at = where[(nd + i) * size + c]
                        if at >= 0:
                            o.R_D[at] += G[i, c]
            if last:
                continue
            zero(b[_C], size * size)
            for i in range(nr):
                for r in range(nd):
                    B[r, nd + i] = s.kv * stored[e, i, r]
            spread(s, o, j, g, e, g.maps_at[POSITION], size, True, nothing, B)
            if j == 0:
                continue
            gather(d, g, e, b, s.xs, s.Rs, s.Vs, s.Vs)
            zero(b[_K], size * size)
            zero(b[_H], nr * nd * nd)
            zero(b[_RATE], nr * nd)
            call2(g.hessian, g.parameters_at + e * g.stride, d.table_at)
            for i in range(nr):
                lam = s.kv * o.Ri[j, g.first_row + e * nr + i]
                for r in range(nd):
                    for c in range(nd):
                        S[r, c] += lam * H[i, r, c]
            times_tangent(g, e, S, nd, o.Ti[j])
            spread(s, o, j, g, e, g.maps_at[POSITION], size, False, nothing, S)


@kernel
def _stage(d, s, o, j, tangents):
    """Evaluate stage j, with ``tangents`` also its entries of the matrix; returns the sum of squares of its g."""
    go_to(d, s, j)
    to_stage(d, s, o, j)
    zero(o.Pi_at + 48 * d.n_nodes * j, 6 * d.n_nodes)
    zero(o.Fi_at + 48 * d.n_nodes * j, 6 * d.n_nodes)
    if tangents:
        clear_entries(o)
    elements(d, s, o, j, POSITION, tangents)
    total, last = 0.0, j == o.a.shape[0] - 1
    if d.m > 0:
        constraints(d, s.xs, s.Rs, s.Vs, s.g, s.rate)
        total = row_norm(d, s.g) ** 2
        if o.averaged != 0:
            stage_rates(d, s, o, j)
            replace_velocity_rows(d, 1.0, o.gaps[j], s.g)
        for i in range(d.m):
            o.gaps[j, i] = s.g[i]
            s.phi[i] = 0.0 if last else s.kv * o.Ri[j, i]
        add_constraint_forces(d, 1.0, s.phi, o.Fi[j])
        if tangents:
            _constraint_entries(d, s, o, j)
            if o.averaged != 0:
                rate_entries(d, s, o, j)
    if s.friction != 0:
        s.friction_block = j
        call2(s.friction_part, s.run_at, FORCES)
    if d.nc > 0:
        stage_contacts(d, s, o, j, tangents)
    return total


@kernel
def _collect(d, s, o, j):
    """Add what stage j, the last evaluated, gives to y, or to the common rows at the last stage, in r1."""
    turns = integers(d.turns_at, d.n_nodes)
    last, b, r1 = j == o.a.shape[0] - 1, o.b[j], s.r1
    moment, spin = local_vector(3), local_vector(3)
    for n in range(d.n_nodes):
        at = 6 * n
        if not last:
            for k in range(3):
                o.y[at + k] += b * o.Fi[j, at + k]
            if turns[n]:
                without_gyration(s, o, j, n, moment)
                add_rotated(b, o.Ex[j, n], moment, o.y[at + 3 : at + 6])
            continue
        for k in range(6):
            r1[at + k] = -o.y[at + k]
        if turns[n]:
            rotate(o.Ti[j, n], o.y[at + 3 : at + 6], moment)
            for k in range(3):
                spin[k] = o.Fi[j, at + 3 + k]
            without_gyration(s, o, j, n, r1[at + 3 : at + 6])
            for k in range(3):
                spin[k] = spin[k] - r1[at + 3 + k]  # −h Ω × P
            rotate_T(o.Ti[j, n], spin, r1[at + 3 : at + 6])
            for k in range(3):
                turning = 0.0
                for i in range(3):
                    turning += s.h * o.Td[j, n, i, k] * o.Pi[j, at + 3 + i]
                r1[at + 3 + k] = b * (turning + r1[at + 3 + k]) - moment[k]


@kernel
def _rows(d, s, o):
    """Fill the rows r^i of all stages from P, F and the common rows in r1."""
    turns = integers(d.turns_at, d.n_nodes)
    stages = o.a.shape[0]
    for i in range(stages):
        res = o.res[i]
        own_rows(d, o, i, res)
        for k in range(6 * d.n_nodes):
            res[k] += s.r1[k]
        for j in range(stages - 1):
            rest = o.b[j] - o.a_hat[i, j]
            for n in range(d.n_nodes):
                at = 6 * n
                for k in range(3):
                    res[at + k] += rest * o.Fi[j, at + k]
                if turns[n]:
                    T, Td = o.Ti[j, n], o.Td[j, n]
                    for k in range(3):
                        total = 0.0
                        for m in range(3):
                            total += T[m, k] * o.Fi[j, at + 3 + m] + s.h * Td[m, k] * o.Pi[j, at + 3 + m]
                        res[at + 3 + k] += rest * total


@kernel
def _sizes(d, s, o):
    """Sums of squares of dynamic rows and of contact rows; the largest of them where `stepping.monitors.failure`
    looks.
    """
    total, friction, worst = 0.0, 0.0, -1.0
    for i in range(o.a.shape[0]):
        size = full_norm(d, o.res[i], s.length)
        total += size**2
        if size > worst:
            worst = size
            copy1(o.res[i], s.r1)
    for i in range(d.m):
        s.g[i] = 0.0
        for j in range(1, o.a.shape[0]):
            s.g[i] = max(s.g[i], abs(o.gaps[j, i]))
    for c in range(d.nc):
        for k in range(6):
            largest_row = 0.0
            for j in range(o.a.shape[0] - 1):
                friction += o.rows[j, c, k] ** 2
                largest_row = max(largest_row, abs(o.rows[j, c, k]))
            if k < 3:
                s.rows_c[c, k] = largest_row
    return total, friction


@entry("void(int64, int64)")
def stage_residual(data, run):
    """Residual of (1) in res, of (2) in gaps and rows; norms in s.dynamic, s.row, s.row_T.

    With ``s.want_matrix`` the matrix is assembled in the same pass.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    stages, tangents = o.a.shape[0], s.want_matrix != 0
    if not charts(d, s, o):
        s.merit, s.code = math.inf, LARGE_ROTATION
        return
    if tangents:
        clear_matrix(d, STACKED)
    for k in range(6 * d.n_nodes):
        o.y[k] = o.Pn[k]
    total, single, size = 0.0, 0.0, 0.0
    for j in range(stages):
        gaps = _stage(d, s, o, j, tangents)
        total += gaps if j > 0 else 0.0
        single = max(single, o.single)
        size = max(size, full_norm(d, o.Fi[j], s.length))
        _collect(d, s, o, j)
        if tangents:
            curvatures(d, s, o, j)
            distribute(d, s, o, j)
    if o.averaged != 0:
        total += rates_squared(d, s, o)
    if tangents:
        multiplier_diagonal(d, s, o, STACKED, s.epsilon_rows * s.kv, s.kv)
    _rows(d, s, o)
    dynamic, friction = _sizes(d, s, o)
    s.F_s = size / s.h + math.sqrt(single)
    s.dynamic, s.row, s.row_T = math.sqrt(dynamic), math.sqrt(total), math.sqrt(friction)
    s.merit = math.sqrt(s.dynamic**2 + (s.kv * s.row / s.h) ** 2 + (s.kv * s.row_T) ** 2)


@entry("void(int64, int64)")
def stage_solved(data, run):
    """Convergence test on the last residual; or the last Newton step was below the round-off of positions."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.scale_v = max(s.scale_v, farthest_part(s.Vs, s.size))
    length, speed = s.scale_x, speed_of(s)
    momentum = full_norm(d, o.Pi[0], s.length)
    s.tolerance = s.rtol * s.h * s.F_s + ROUND_OFF * (momentum + s.kv * push_of(s))
    gaps, rates = s.exact * length, s.exact * speed + s.exact * length / s.h
    exact = s.dynamic <= s.tolerance and s.row <= gaps and s.row_T <= rates
    stalled = s.iteration > 0 and s.h * o.moved <= ROUND_OFF * length and s.row <= 10.0 * gaps
    stalled = stalled and s.row_T <= 10.0 * rates  # joints may let a contact move nowhere: no step closes its gap
    s.solved = 1 if exact or stalled else 0


@entry("void(int64, int64)")
def stage_matrix(data, run):
    """Assemble the matrix, with the residual, where that was evaluated last."""
    s = run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.want_matrix = 1
    call2(problem_at(o.stage_problem)[0].residual, data, run)
    s.want_matrix = 0


@entry("void(int64, int64)")
def stage_contacts_none(data, run):
    """Nothing: contacts are assembled with the residual."""


@entry("void(int64, int64)")
def stage_right(data, run):
    """Right-hand side −r in dx."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    stages, n, m = o.a.shape[0], d.n, d.m
    size = n + m + 3 * d.nc + 3 * d.n_roll
    for j in range(stages):
        dx = vector(s.dx_at + 8 * j * size, size)
        reduce_vector(d, o.res[j], dx)
        for i in range(n):
            dx[i] = -dx[i]
        for i in range(n, size):
            dx[i] = 0.0
        if j < stages - 1:
            for i in range(m):
                dx[n + i] = -s.kv / s.h * o.gaps[j + 1, i]
            put_rows(d, STACKED, -s.kv, o.rows[j], dx)


@entry("void(int64, int64)")
def stage_keep(data, run):
    """Keep the unknowns for the search along the Newton step; size of that step."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    stages = o.a.shape[0]
    size = d.n + d.m + 3 * d.nc + 3 * d.n_roll
    o.moved = 0.0
    for j in range(stages):
        copy(o.w[j], o.w_keep[j])
        copy(o.cR[j], o.cR_keep[j])
        dx = vector(s.dx_at + 8 * j * size, size)
        o.moved = max(o.moved, step_size(d, s, dx))
    copy(o.Ri, o.Ri_keep)


@entry("void(int64, int64)")
def stage_move(data, run):
    """Unknowns ← kept values plus s.scale times the Newton step."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    stages, scale, n = o.a.shape[0], s.scale, d.n
    size = n + d.m + 3 * d.nc + 3 * d.n_roll
    for j in range(stages):
        dx = vector(s.dx_at + 8 * j * size, size)
        copy(o.w_keep[j], o.w[j])
        expand_add(d, scale, dx, o.w[j])
        if j < stages - 1:
            for i in range(d.m):
                o.Ri[j, i] = o.Ri_keep[j, i] + scale * dx[n + i]
            move_multipliers(d, STACKED, o.cR_keep[j], scale, dx, o.cR[j])


PROBLEM = Problem(
    number=STACKED,
    residual=stage_residual,
    solved=stage_solved,
    matrix=stage_matrix,
    contacts=stage_contacts_none,
    right=stage_right,
    keep=stage_keep,
    move=stage_move,
    search=halve,
)
