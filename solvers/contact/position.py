"""Position correction (docs/theory/decoupled_nsga.md, (13)-(15)): gaps ≥ 0 and g = 0, nearest to a motion q~.

In models with contacts rows of velocities have G U = 0, and joint friction has its row
(`joint_friction.friction_position`): a coordinate that they fix keeps its value when contacts move its bodies.
"""

import math

from fem_mbs.jit import call2, entry, kernel, matrix
from fem_mbs.solvers.contact.border import position_border
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.law_rows import SIX, add_squares, move_multipliers, put_rows
from fem_mbs.solvers.contact.position_rows import (
    ends_at_touch,
    position_contact_residual,
    position_contact_tangents,
    swept_gaps,
)
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1, copy3, largest
from fem_mbs.solvers.stepping.kernels.codes import DRIFT, NOT_CONVERGED, OK, ROUND_OFF
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import (
    CORRECTION,
    CORRECTION_BOUNDS,
    CORRECTION_FIRST,
    CORRECTION_GO,
    CORRECTION_KEEP,
    CORRECTION_RIGHT,
    CORRECTION_SLOPES,
)
from fem_mbs.solvers.stepping.kernels.newton import STALLED, Problem, by_contact_problem, halve, merit_of, solve
from fem_mbs.system.assembly import advance_configuration, dynamic_tangents, dynamics
from fem_mbs.system.constraints import (
    INCREMENTS,
    POSITIONS,
    add_constraint_forces,
    constraint_rates,
    constraint_tangents,
    constraints,
    replace_velocity_rows,
    row_norm,
)
from fem_mbs.system.contacts import contacts
from fem_mbs.system.far_contacts import near_contacts
from fem_mbs.system.global_matrices import clear_matrix, expand_add, full_norm, reduce_vector
from fem_mbs.system.records import POSITION, zero

FARTHEST = 2.0  # |U| relative to |D|, see `farthest`
NEAR = 1e-8  # of the size of the positions: a U that is allowed in a step without motion
MOST_PASSES = 20  # of the bounds of joint friction


@kernel
def moved(d, s):
    """|U|² in the metric of the mass matrix, from the residual evaluated last."""
    U, Ma, total = s.U, s.Ma, 0.0
    for i in range(d.n_nodes):
        for j in range(6):
            total += U[i, j] * Ma[6 * i + j]
    return total


@kernel
def stay(d, s):
    """Configuration, M U and forces for U = 0: what the smooth sub-problem left."""
    s.at_smooth, s.unmoved = 0, 1
    copy(s.xs, s.x)
    copy(s.Qs, s.Q)
    copy3(s.Rs, s.R)
    for i in range(d.n_nodes):
        for j in range(3):
            for k in range(3):
                s.T[i, j, k] = 1.0 if j == k else 0.0
    for i in range(6 * d.n_nodes):
        s.Ma[i], s.f[i] = 0.0, s.fs[i]


@kernel
def speeds_at(d, s, U_at):
    """Velocities (N, 6) that forces are taken at: v~, with contacts of damped flexible bodies v~ + 2 U/h (decision 14).

    ``U_at``: address of U (N, 6), so that no argument is an array that the result could be (`compiler.Borrowing`).

    The smooth motion has no contacts: light nodes that contacts hold get far in it, and v~ is what they do not do.
    Friction would be decided by the damping forces of that. A body at rest ends at v~ + W = v~ + 2 U/h.
    """
    if s.drags == 0:
        return s.Vs
    U, Vs, Vp, rate = matrix(U_at, d.n_nodes, 6), s.Vs, s.Vp, 2.0 / s.h
    for i in range(d.n_nodes):
        for j in range(6):
            Vp[i, j] = Vs[i, j] + rate * U[i, j]
    return Vp


@kernel
def contacts_move(d, s):
    """True if the correction may contain displacements by contacts, those of a contact group included."""
    return d.nc > 0 or s.grains_at != 0


@kernel
def slides_by(d, s):
    """Bound of |U|² due to joint friction. D is 0 where a joint breaks loose from rest."""
    return FARTHEST * FARTHEST * s.friction_moves if s.friction != 0 and d.nc > 0 else 0.0


@entry("void(int64, int64)")
def position_residual(data, run):
    """Residual at U, ν: r1 (full), constraint rows g, contact rows; norms in s.dynamic, s.row, s.row_T.

    A point farther from q~ than ``s.allowed`` is none that Newton's iteration may use, see `farthest`.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    N, m, nc = d.n_nodes, d.m, d.nc
    xs, Qs, Vs = s.xs, s.Qs, s.Vs
    x, Q, R = s.x, s.Q, s.R
    x0, R0, U, T = s.x0, s.R0, s.U, s.T
    Ma, f, r1, base = s.Ma, s.f, s.r1, s.base
    g, rate, lam, nu = s.g, s.rate, s.lam, s.nu
    phi = s.phi
    half = s.position_factor * s.h * s.h
    s.rates_known = s.unmoved = 0
    if s.at_smooth != 0:
        stay(d, s)
    else:
        advance_configuration(d, xs, Qs, U, x, Q, R, T)
        dynamics(d, POSITION, x, R, speeds_at(d, s, s.U_at), U, Ma, f, False, 0.0, 0.0, 0.0, 0.0, T, False)
    for i in range(6 * N):
        r1[i] = Ma[i] - half * (f[i] - base[i])
    total = 0.0
    if m > 0:
        constraints(d, x, R, Vs, g, rate)
        if d.n_rate_rows > 0 and contacts_move(d, s):
            constraint_rates(d, U, phi)
            replace_velocity_rows(d, 1.0, phi, g)
        for i in range(m):
            phi[i] = half * s.ks * lam[i] + s.kp * nu[i]
        total = row_norm(d, g) ** 2
        add_constraint_forces(d, -1.0, phi, r1)
    friction = 0.0
    if nc > 0:
        if s.far != 0:
            near_contacts(d, x, R, x0, R0, Vs)
        else:
            contacts(d, x, R, x0, R0, Vs)
        if s.swept != 0:
            swept_gaps(d, s)
        if s.without_contacts == 0:
            position_contact_residual(d, s, r1, s.rows_c)
            total, friction = add_squares(s.rows_c, total)
    if s.friction != 0 and nc > 0:
        call2(s.friction_part, run, CORRECTION)
        total += s.friction_row**2
        friction += s.friction_slip**2
    s.dynamic, s.row, s.row_T = full_norm(d, r1, s.length), math.sqrt(total), math.sqrt(friction)
    s.merit = merit_of(s, s.kp)
    if math.isfinite(s.allowed) and not moved(d, s) <= s.allowed + slides_by(d, s):
        s.merit, s.code = math.inf, NOT_CONVERGED


@entry("void(int64, int64)")
def position_solved(data, run):
    """Convergence test of the page on the last residual; gaps and constraints to s.exact whatever the tolerance."""
    d, s = system_at(data)[0], run_at(run)[0]
    size, displacement = s.scale_x, s.rtol * s.h * s.h * s.F_s / s.mean_mass
    s.tolerance = s.rtol * max(s.h * s.h * s.F_s, full_norm(d, s.Ma, s.length))
    solved = (
        s.dynamic <= s.tolerance + ROUND_OFF * s.kp * size
        and s.row <= min(displacement, s.exact * size) + ROUND_OFF * size
        and s.row_T <= displacement + s.exact * size
    )
    # redundant rows, some of positions and some of increments, differ by the drift of positions
    stands = s.iteration > 1 and s.merit > STALLED * s.before and s.epsilon_rows > 0.0
    contradict = stands and s.dynamic <= s.tolerance + ROUND_OFF * s.kp * size and s.row <= DRIFT * s.exact * size
    s.solved = 1 if solved or contradict else 0


@entry("void(int64, int64)")
def position_matrix(data, run):
    """Assemble the matrix of the position sub-problem at the current U, ν, without contacts."""
    d, s = system_at(data)[0], run_at(run)[0]
    x, R, Vs, U, T = s.x, s.R, s.Vs, s.U, s.T
    half = s.position_factor * s.h * s.h
    clear_matrix(d, s.number)
    drag = 2.0 / s.h * half if s.drags != 0 else 0.0
    dynamic_tangents(d, s.number, x, R, speeds_at(d, s, s.U_at), U, 1.0, drag, half, 1.0, T)
    if d.m > 0:
        shift = s.epsilon_rows * s.kp
        rows = INCREMENTS if contacts_move(d, s) else POSITIONS
        constraint_tangents(d, s.number, x, R, Vs, s.phi, 1.0, 0.0, s.kp, 0.0, shift, rows, T)
    if s.friction != 0 and d.nc > 0:
        call2(s.friction_part, run, CORRECTION_SLOPES)


@entry("void(int64, int64)")
def position_contacts(data, run):
    """Add the contacts to the matrix of the position sub-problem."""
    d, s = system_at(data)[0], run_at(run)[0]
    position_contact_tangents(d, s, s.x, s.R, s.x0, s.R0, s.T)


@entry("void(int64, int64)")
def position_right(data, run):
    """Right-hand side −r of the position sub-problem in dx."""
    d, s = system_at(data)[0], run_at(run)[0]
    n, m, nc = d.n, d.m, d.nc
    dx, g = s.dx, s.g
    reduce_vector(d, s.r1, dx)
    for i in range(n):
        dx[i] = -dx[i]
    for i in range(m):
        dx[n + i] = s.kp * g[i]
    put_rows(d, POSITION, -s.kp, s.rows_c, dx)
    if s.friction != 0 and nc > 0:
        call2(s.friction_part, run, CORRECTION_RIGHT)


@entry("void(int64, int64)")
def position_move(data, run):
    """U, ν ← kept values plus s.scale times the Newton step."""
    d, s = system_at(data)[0], run_at(run)[0]
    n, m, nc, scale = d.n, d.m, d.nc, s.scale
    dx, U, trial = s.dx, s.U, s.trial
    nu, keep_m = s.nu, s.keep_m
    copy(trial, U)
    expand_add(d, scale, dx, U)
    for i in range(m):
        nu[i] = keep_m[i] + scale * dx[n + i]
    move_multipliers(d, POSITION, s.keep_c, scale, dx, s.cnu)
    if s.friction != 0 and nc > 0:
        call2(s.friction_part, run, CORRECTION_GO)


@kernel
def farthest(d, s):
    """Bound of |U|² for the root that belongs to this step.

    The correction projects q~ onto the allowed configurations, in the metric of the mass matrix (and of the elastic
    forces that D changes). The start of the step is allowed, so the nearest one is not farther from q~ than it:
    |U|_M ≤ |D|_M, up to T(U). Many configurations have gaps ≥ 0; a box in a guide that turns far enough is open at all
    its corners. Ratios measured: below 1.0 in all right steps, 12, 83 and 2,572 in three steps that turned the box
    round; `FARTHEST` lies between. Where joints or surfaces depend on time, the start of the step need not be allowed
    at its end: no bound. Joint friction that breaks loose adds `slides_by`.
    """
    if s.given_gaps != 0:
        return math.inf
    N = d.n_nodes
    D, f0, f1 = s.D, s.force, s.fs
    MD = s.Gl
    x0, R0, back = s.x0, s.R0, s.trial
    for i in range(N):
        for j in range(6):
            back[i, j] = -D[i, j]
    dynamics(d, POSITION, x0, R0, speeds_at(d, s, s.trial_at), D, MD, f0, False, 0.0, 0.0, 0.0, 0.0, R0, False)
    inertia, elastic = 0.0, 0.0
    for i in range(N):
        for j in range(6):
            inertia += D[i, j] * MD[6 * i + j]
            elastic += D[i, j] * (f0[6 * i + j] - f1[6 * i + j])
    elastic *= s.position_factor * s.h * s.h
    return FARTHEST * FARTHEST * (inertia + abs(elastic)) + s.mean_mass * (NEAR * s.scale_x) ** 2


@entry("void(int64, int64)")
def position_keep(data, run):
    """Keep U, ν for the search along the Newton step; at the first one, how far the root may be."""
    d, s = system_at(data)[0], run_at(run)[0]
    if s.iteration == 0 and d.nc > 0:
        s.allowed = farthest(d, s)  # not before: most steps need no iteration
    copy(s.U, s.trial)
    copy1(s.nu, s.keep_m)
    copy(s.cnu, s.keep_c)
    if s.friction != 0 and d.nc > 0:
        call2(s.friction_part, run, CORRECTION_KEEP)


PROBLEM = Problem(
    number=POSITION,
    residual=position_residual,
    solved=position_solved,
    matrix=position_matrix,
    contacts=position_contacts,
    right=position_right,
    keep=position_keep,
    move=position_move,
    search=halve,
    border=position_border,
)


@kernel
def start_position(d, s):
    """Start of the position correction: U = 0, contacts that were closed from their last multipliers.

    Their statuses are then right from the first iteration.
    """
    cnu, status = s.cnu, s.status
    was_active, acted = s.was_active, s.acted
    zero(s.U_at, 6 * d.n_nodes)
    zero(s.nu_at, d.m)
    for c in range(d.nc):
        s.turning[c] = GAP  # rolling and spinning have no rows here
        status[c] = acted[c]
        if was_active[c] == 0 or s.repeats > 0:
            for m in range(SIX):
                cnu[c, m] = 0.0
            status[c] = GAP
    s.number = POSITION
    if s.friction != 0 and d.nc > 0:
        call2(s.friction_part, s.run_at, CORRECTION_FIRST)


@kernel
def acts(d, s):
    """True if a contact acts in the correction."""
    for c in range(d.nc):
        if s.status[c] != GAP:
            return True
    return False


@kernel
def solve_correction(d, s):
    """Solve the position correction from the present U, ν, by Newton's iteration or the contact-problem solver."""
    s.allowed, s.first_residual = math.inf, 1
    solve(s, s.position_problem, s.max_iterations if s.newton != 0 or ends_at_touch(s) else 0)
    s.allowed = math.inf
    if s.code == OK:
        s.position_iterations, s.rates_known = s.position_iterations + s.iteration, 1
    elif not ends_at_touch(s):  # that solver would close gaps that are left open on purpose
        s.unmoved = 0
        by_contact_problem(s)
        if s.code == OK and d.nc == s.nc_fixed and moved(d, s) > farthest(d, s) + slides_by(d, s):
            s.code = NOT_CONVERGED


@kernel
def correct_position(d, s):
    """Solve the position correction from its start, in passes where contacts load joints with friction."""
    s.scale_x, s.position_iterations = max(s.scale_x, largest(s.xs)), 0
    solve_correction(d, s)
    for _ in range(MOST_PASSES if s.friction != 0 else 0):
        if s.code != OK or not acts(d, s):
            break
        call2(s.friction_part, s.run_at, CORRECTION_BOUNDS)
        if s.friction_answer == 0:
            break
        solve_correction(d, s)
    for c in range(d.nc):
        s.active[c] = 1 if s.status[c] != GAP else 0
        if s.active[c] != 0:
            s.held[c] = 0


@entry("void(int64, int64)")
def position(data, run):
    """Solve the position correction: gaps ≥ 0 and g = 0 at the end of the step."""
    d, s = system_at(data)[0], run_at(run)[0]
    start_position(d, s)
    correct_position(d, s)
