"""Velocity problems: impulses by impact law and friction cones, and G v + ∂g/∂t = 0, at a held configuration.

One problem with the contacts that take part in it (``s.candidate``), and what its solution leaves. Which contacts these
are, and how often it is solved, says the method.

Source: docs/theory/decoupled_nsga.md, (16)-(21).
"""

import math

from fem_mbs.jit import call2, entry, kernel
from fem_mbs.solvers.contact.impact_work import compare_with_law
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX, add_squares, contact_arm, move_multipliers, put_rows
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_residual, velocity_contact_tangents
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1
from fem_mbs.solvers.stepping.kernels.codes import DRIFT, OK, ROUND_OFF, STRIKES, STRUCK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import GO, IMPULSES, JOINT_RATES, KEEP, SLOPES
from fem_mbs.solvers.stepping.kernels.newton import STALLED, Problem, by_contact_problem, halve, merit_of, solve
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part, speed_of
from fem_mbs.system.assembly import dynamic_tangents, dynamics
from fem_mbs.system.constraints import (
    RATES,
    add_constraint_forces,
    constraint_rates,
    constraint_tangents,
    constraints,
    row_norm,
)
from fem_mbs.system.contacts import add_gradient, contact_groups, direction_of
from fem_mbs.system.global_matrices import clear_matrix, expand_add, full_norm, reduce_vector
from fem_mbs.system.records import VELOCITY, zero


@kernel
def at_once(s):
    """True if forces have no time to change with the velocities: in an impact at the end of the step or on its way.

    Taken with the velocities after it for a whole step, gyroscopic forces would work with those before.
    """
    return s.cut == STRIKES or s.touch == STRUCK


@entry("void(int64, int64)")
def velocity_residual(data, run):
    """Residual at W, Λ: r1 (full), rows; norms in s.dynamic, s.row, s.row_T. Gradients are those kept."""
    d, s = system_at(data)[0], run_at(run)[0]
    N, m, nc = d.n_nodes, d.m, d.nc
    x, R, V = s.x, s.R, s.V
    Vs, W, Vd, Ad = s.Vs, s.W, s.Vd, s.Ad
    Ma, f, r1, base = s.Ma, s.f, s.r1, s.base_v
    rate, lam, Lam, phi = s.rate, s.lam, s.Lam, s.phi
    P, h = s.P, s.h
    for i in range(N):
        for j in range(6):
            V[i, j] = Vs[i, j] + W[i, j]
            Ad[i, j] = W[i, j] + h * Vd[i, j]
    # M(q)(W + h v̇~) − h (f(q, v) + Gᵀ k_s λ~) + h (f(q~, v~) + G~ᵀ k_s λ~ − M(q~) v̇~): base holds the last bracket
    if s.unmoved != 0 and s.cut != STRIKES and s.swept == 0:  # q = q~, v = v~
        for i in range(6 * N):
            Ma[i], f[i] = h * s.Mas[i], s.fs[i]
    else:
        speeds = Vs if at_once(s) else V
        dynamics(d, VELOCITY, x, R, speeds, Ad, Ma, f, False, 0.0, 0.0, 0.0, 0.0, R, False)
    s.unmoved = 0
    for i in range(6 * N):
        r1[i] = Ma[i] - h * (f[i] - base[i]) - P[i]
    total = 0.0
    if m > 0:
        constraint_rates(d, V, rate)
        gt = s.g  # ∂g/∂t, stored before
        for i in range(m):
            rate[i] += gt[i]
            phi[i] = h * s.ks * lam[i] + s.kv * Lam[i]
        total = row_norm(d, rate) ** 2
        add_constraint_forces(d, -1.0, phi, r1)
    friction = 0.0
    if nc > 0 and s.without_contacts == 0:
        velocity_contact_residual(d, s, V, s.Vminus, r1, s.rows_c)
        total, friction = add_squares(s.rows_c, total)
    if s.friction != 0:
        call2(s.friction_part, run, IMPULSES)
        total += s.friction_row**2
        friction += s.friction_slip**2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)
    s.merit = merit_of(s, s.kv)


@kernel
def contradict(s, speed):
    """True if all that is left are constraint rates that contradict each other, as at a singular position.

    Where a mechanism passes a dead centre, g = 0 has a double root: with the residual of g, up to DRIFT times
    ``s.exact``, the position has an error of its root, and by as much the rates of the dependent rows differ. Only a
    proximal shift finds such a solution.
    """
    stands = s.iteration > 1 and s.merit > STALLED * s.before and s.epsilon_rows > 0.0
    small = s.dynamic <= s.tolerance + ROUND_OFF * s.kv * speed and s.row_T <= s.exact * speed
    return stands and small and s.row <= math.sqrt(DRIFT * s.exact) * speed


@entry("void(int64, int64)")
def velocity_solved(data, run):
    """Convergence test of the page on the last residual; gap and constraint rates to s.exact."""
    d, s = system_at(data)[0], run_at(run)[0]
    s.scale_v = max(s.scale_v, farthest_part(s.V, s.size))
    s.tolerance = s.rtol * max(s.h * s.F_s, full_norm(d, s.Ma, s.length))
    # of impulses too: where there are no forces, rows would have to hold to the last bit
    speed, change = speed_of(s), s.tolerance / s.mean_mass
    solved = (
        s.iteration >= s.insist
        and s.dynamic <= s.tolerance + ROUND_OFF * s.kv * speed
        and s.row <= min(change, s.exact * speed) + ROUND_OFF * speed
        and s.row_T <= change + s.exact * speed
    )
    s.solved = 1 if solved or contradict(s, speed) else 0


@entry("void(int64, int64)")
def velocity_matrix(data, run):
    """Assemble the matrix of a velocity problem at the current W, Λ, without contacts."""
    d, s = system_at(data)[0], run_at(run)[0]
    x, R, V = s.x, s.R, s.V
    clear_matrix(d, s.number)
    damping = 0.0 if at_once(s) else s.h
    dynamic_tangents(d, s.number, x, R, V, s.Ad, 1.0, damping, 0.0, 0.0, R)
    if d.m > 0:
        shift = s.epsilon_rows * s.kv
        constraint_tangents(d, s.number, x, R, V, s.phi, 0.0, 0.0, s.kv, 0.0, shift, RATES, R)
    if s.friction != 0:
        call2(s.friction_part, run, SLOPES)


@entry("void(int64, int64)")
def velocity_contacts(data, run):
    """Add the contacts to the matrix of a velocity problem."""
    d, s = system_at(data)[0], run_at(run)[0]
    velocity_contact_tangents(d, s, s.V, s.Vminus)


@entry("void(int64, int64)")
def velocity_right(data, run):
    """Right-hand side −r of a velocity problem in dx."""
    d, s = system_at(data)[0], run_at(run)[0]
    n, m, dx, rate = d.n, d.m, s.dx, s.rate
    reduce_vector(d, s.r1, dx)
    for i in range(n):
        dx[i] = -dx[i]
    for i in range(m):
        dx[n + i] = s.kv * rate[i]
    put_rows(d, VELOCITY, -s.kv, s.rows_c, dx)
    if s.friction != 0:
        call2(s.friction_part, run, JOINT_RATES)


@entry("void(int64, int64)")
def velocity_keep(data, run):
    """Keep W, Λ, χ for the search along the Newton step."""
    s = run_at(run)[0]
    copy(s.W, s.trial)
    copy1(s.Lam, s.keep_m)
    copy(s.cLam, s.keep_c)
    if s.friction != 0:
        call2(s.friction_part, run, KEEP)


@entry("void(int64, int64)")
def velocity_move(data, run):
    """W, Λ, χ ← kept values plus s.scale times the Newton step."""
    d, s = system_at(data)[0], run_at(run)[0]
    n, m, scale, dx, W, trial = d.n, d.m, s.scale, s.dx, s.W, s.trial
    Lam, keep_m = s.Lam, s.keep_m
    copy(trial, W)
    expand_add(d, scale, dx, W)
    for i in range(m):
        Lam[i] = keep_m[i] + scale * dx[n + i]
    move_multipliers(d, VELOCITY, s.keep_c, scale, dx, s.cLam)
    if s.friction != 0:
        call2(s.friction_part, run, GO)


PROBLEM = Problem(
    number=VELOCITY,
    residual=velocity_residual,
    solved=velocity_solved,
    matrix=velocity_matrix,
    contacts=velocity_contacts,
    right=velocity_right,
    keep=velocity_keep,
    move=velocity_move,
    search=halve,
)


@kernel
def solve_velocities(s, problem):
    """Solve the velocity problem at an address, by Newton's iteration or the contact-problem solver."""
    s.first_residual = 1 if s.impact_problems == 0 else 0
    solve(s, problem, s.max_iterations if s.newton != 0 else 0)
    if s.code == OK:
        s.velocity_iterations = max(s.velocity_iterations, s.iteration)
    else:
        by_contact_problem(s)


@kernel
def rates_of_time(d, s, V):
    """∂g/∂t = ġ − G V in s.g, with the gradients that are kept."""
    if d.m > 0:
        if s.rates_known == 0:
            constraints(d, s.x, s.R, V, s.phi, s.rate)
        s.rates_known = 0
        constraint_rates(d, V, s.g)
        for i in range(d.m):
            s.g[i] = s.rate[i] - s.g[i]


@kernel
def start_from_last(d, s):
    """First guess of contact impulses: those of the last step where the contact stayed closed without impact."""
    cLam, total_Lam, was_active, impact = s.cLam, s.total_Lam, s.was_active, s.impact
    status = s.status
    for c in range(d.nc):
        keep = 1.0 if was_active[c] != 0 and impact[c] == 0 and s.repeats == 0 else 0.0
        if keep == 0.0:
            status[c] = GAP  # its start is not shifted, see `position_contact_residual`
        for m in range(SIX):
            cLam[c, m] = keep * total_Lam[c, m] / (contact_arm(d, s, c, m) * s.kv)


@kernel
def clear_impulses(d, s):
    """No contact has acted in the step yet."""
    zero(s.total_Lam_at, SIX * d.nc)
    zero(s.missed_at, 2 * d.nc)
    s.step_gain = 0.0
    for c in range(d.nc):
        s.acted[c] = GAP


@kernel
def accumulate_impulses(d, s):
    """Add the impulses of the candidates to P and to the totals; zero the contact unknowns; True if one was active."""
    compare_with_law(d, s)
    status, aLam, acted = s.status, s.aLam, False
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            if status[c] != GAP:
                acted = True
                s.acted[c] = status[c]
                for m in range(SIX):
                    add_gradient(g, e, direction_of(g, e, m), aLam[c, m], s.P)
                    s.total_Lam[c, m] += aLam[c, m]
    zero(s.cLam_at, SIX * d.nc)
    return acted
