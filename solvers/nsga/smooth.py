"""Smooth sub-problem of the decoupled scheme (docs/theory/decoupled_nsga.md, (7)-(12)): contacts take no part, unless
they are closed and the method keeps them (`nsga.persistent`).
"""

import math

from fem_mbs.jit import call2, entry, kernel, vector
from fem_mbs.solvers.alpha.motion import overshoots, predict, stand_still
from fem_mbs.solvers.contact.law_rows import SIX, move_multipliers, put_rows
from fem_mbs.solvers.nsga.closed import FORCES, LEAVE, PREDICTED, TANGENTS
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.stepping.kernels import friction_tasks
from fem_mbs.solvers.stepping.kernels.codes import LARGE_ROTATION, OK, ROUND_OFF
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.newton import SAFE, STALLED, Problem, attempt, problem_at, solve, turns_too_far
from fem_mbs.solvers.stepping.kernels.shared_factors import kept, look_at_price, share
from fem_mbs.solvers.stepping.kernels.sizes import farthest_part, push_of, speed_of, step_size
from fem_mbs.system.assembly import advance_configuration, dynamics
from fem_mbs.system.constraints import RATES, add_constraint_forces, constraint_tangents, constraints, row_norm
from fem_mbs.system.element_states import update_states
from fem_mbs.system.global_matrices import clear_matrix, expand_add, full_norm, reduce_vector
from fem_mbs.system.records import SMOOTH, zero

FAR = 10.0  # residual, relative to the forces at the start of the step, that only a step much too deep can leave
LATE = 6  # iterations before steps that raise the residual are shortened in any case
LARGE_SHIFT = 1e-4  # of constraint rows in repeated steps without contacts: forces of nearly dependent rows stay small
CONTRADICT = 1e-2  # of the velocities: rates of dependent rows that repeated steps leave to the corrections
SHORTEST = 1e-3  # part of a Newton step
TRIALS = 5  # trial points per iteration allowed
DOWN = 0.3  # slope along a Newton step at which its search ends, relative to that at its start
SHORTEN = 0.25  # a part of a step or of a bracket where no better one is known
INSIDE = 0.02  # of a bracket: what regula falsi stays away from its ends
SHAKEN = 1e4  # times the accuracy of constraints: velocities of closed contacts up to it are round-off of positions


@kernel
def mixed_update(d, s, o):
    """Update the states of mixed elements with δθ = T(D) δD of this iteration."""
    T, trial = s.T, s.trial
    zero(s.trial_at, 6 * d.n_nodes)
    expand_add(d, o.c_q, vector(s.dx_at, d.n), trial)
    for i in range(d.n_nodes):
        a, b, c = trial[i, 3], trial[i, 4], trial[i, 5]
        for j in range(3):
            trial[i, 3 + j] = T[i, j, 0] * a + T[i, j, 1] * b + T[i, j, 2] * c
    update_states(d, s.xs, s.Rs, trial)


@kernel
def alone_again(d, s):
    """True if a step without contacts is repeated, as at a dead centre."""
    return s.repeats > 0 and d.nc == 0


@kernel
def slope_along(d, s):
    """Residual r1 times the Newton step, over the free components; leaves r1 reduced in r.

    The step is one of a nearly convex problem: negative at its start, zero where the residual along it vanishes.
    """
    r, dx = vector(s.r_at, d.n), vector(s.dx_at, d.n)
    reduce_vector(d, s.r1, r)
    total = 0.0
    for i in range(d.n):
        total += r[i] * dx[i]
    return total


@entry("void(int64, int64)")
def smooth_residual(data, run):
    """r1 = M v̇~ − f − Gᵀφ (full, in r1) and G v~ + ∂g/∂t (in rate) at the current q~, v~; leaves both norms in
    s.dynamic, s.row, that of the normal rows of closed contacts in s.row_T.

    With ``s.want_matrix`` the matrix of the sub-problem is assembled in the same pass. Constraint rows are linear in
    the unknowns: whole Newton steps solve them, and the norm of the search is that of the dynamic rows.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    if turns_too_far(s, s.D):
        return
    advance_configuration(d, s.x0, s.Q0, s.D, s.xs, s.Qs, s.Rs, s.T)
    N, m, tangents = d.n_nodes, d.m, s.want_matrix != 0
    x, R, V = s.xs, s.Rs, s.Vs
    Vd, T = s.Vd, s.T
    Ma, f, r1, Gl = s.Ma, s.f, s.r1, s.Gl
    g, rate, lam, phi = s.g, s.rate, s.lam, s.phi
    if tangents:
        clear_matrix(d, SMOOTH)
    single = dynamics(d, SMOOTH, x, R, V, Vd, Ma, f, tangents, o.c_a, 1.0, o.c_q, o.c_q, T, o.mixed != 0)
    Gw = o.Gw  # moments of closed contacts, which the position correction does not contain
    if s.free == 0:  # otherwise they are unused
        zero(s.Gl_at, 6 * N)
        zero(o.Gw_at, 6 * N)
    if m > 0:
        constraints(d, x, R, V, g, rate)
        for i in range(m):
            phi[i] = s.ks * lam[i] - o.ps * rate[i]
        add_constraint_forces(d, 1.0, phi, Gl)
    missing = 0.0
    if s.persistent != 0:
        call2(o.closed_part, run, FORCES)
        missing = o.missing
    if s.friction != 0:
        call2(s.friction_part, run, friction_tasks.FORCES)
        missing += s.friction_row + s.friction_slip
    for i in range(6 * N):
        r1[i] = Ma[i] - f[i] - Gl[i] - Gw[i]
    if tangents and m > 0:
        shift = max(s.epsilon_rows, LARGE_SHIFT if alone_again(d, s) else 0.0) * s.ks
        constraint_tangents(d, SMOOTH, x, R, V, phi, o.c_q, o.c_q, s.ks, o.ps, shift, RATES, T)
    if tangents and s.persistent != 0:
        call2(o.closed_part, run, TANGENTS)
    if tangents and s.friction != 0:
        call2(s.friction_part, run, friction_tasks.TANGENTS)
    # forces of single elements: net nodal forces cancel in a stressed structure at rest, whose round-off they would
    # not see
    s.F_s = full_norm(d, Ma, s.length) + max(full_norm(d, f, s.length), math.sqrt(single)) + full_norm(d, Gl, s.length)
    s.dynamic, s.row = full_norm(d, r1, s.length), row_norm(d, rate) + missing
    s.merit = s.dynamic if math.isfinite(s.row) else math.inf


@entry("void(int64, int64)")
def smooth_matrix(data, run):
    """Assemble the matrix of the sub-problem, with the residual, where that was evaluated last."""
    s = run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.want_matrix = 1
    call2(problem_at(o.smooth_problem)[0].residual, data, run)
    s.want_matrix = 0


@kernel
def converged(s, o):
    """Convergence test of the page on the last residual: (it is small, forces are not just round-off)."""
    s.scale_v = max(s.scale_v, farthest_part(s.Vs, s.size))
    speed = speed_of(s)
    exact = s.dynamic <= s.rtol * s.F_s + ROUND_OFF * s.ks * push_of(s)
    # stiff parts without load: their forces are the round-off of positions, which no iteration removes
    stalled = s.dynamic > STALLED * s.before and o.moved <= ROUND_OFF * s.scale_x
    small = (
        (exact or stalled)
        and s.row <= s.rtol * s.h * s.F_s / s.mean_mass + ROUND_OFF * speed
        # as in the velocity correction, which then has nothing to do where the prediction was right
        and (s.persistent == 0 or s.iteration > 0 or s.row_T <= s.exact * speed)
        # what sticks has no position correction: the rest of its row would be a creep
        and (s.friction == 0 or s.friction_row <= (ROUND_OFF if s.iteration < 2 else s.exact) * speed)
        and not (o.mixed != 0 and s.iteration == 0)
    )
    return small, exact


@entry("void(int64, int64)")
def smooth_solved(data, run):
    """True if the residual is small enough, and forces of closed contacts are in their cones.

    Those that are not open or slide, once per step, and the iteration continues. The same holds where rows of contacts
    and drivers contradict each other.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    small, exact = converged(s, o)
    s.solved = 0
    # rows are linear, and solved by now unless they contradict each other: a driver moves what sticks. The multipliers,
    # which grow without bound, show which contact has to be released
    contradiction = exact and s.iteration >= LATE
    # at a dead centre rows contradict each other by what q~ is off the constraints, which the corrections mend
    small = small or (contradiction and alone_again(d, s) and s.row <= CONTRADICT * speed_of(s))
    if not small and not contradiction:
        return
    if o.checked == 0:
        call2(o.closed_part, run, LEAVE)
        if o.answer != 0:
            o.checked = 1
            call2(problem_at(o.smooth_problem)[0].residual, data, run)
            s.before, o.moved = 0.0, math.inf
            return
    if not small:
        return
    if not exact:
        s.F_s = SAFE * s.dynamic / s.rtol
    s.solved = 1


@entry("void(int64, int64)")
def smooth_right(data, run):
    """Right-hand side of the smooth sub-problem in dx."""
    d, s = system_at(data)[0], run_at(run)[0]
    n, m, dx, rate = d.n, d.m, s.dx, s.rate
    reduce_vector(d, s.r1, dx)
    for i in range(n):
        dx[i] = -dx[i]
    for i in range(m):
        dx[n + i] = s.ks * rate[i]
    if s.persistent != 0:
        put_rows(d, SMOOTH, s.ks, s.rows_c, dx)
    if s.friction != 0:
        call2(s.friction_part, run, friction_tasks.RIGHT)


@entry("void(int64, int64)")
def smooth_keep(data, run):
    """Store the reference of the next test and of the search along the Newton step; states of mixed elements."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    dx = vector(s.dx_at, d.n)
    o.moved, o.c_step = o.c_q * step_size(d, s, dx), o.c_a
    if s.iteration == 0:
        o.first_force = s.F_s
        # round-off of closed contacts: taken out of v̇~ at once, where the damping of ρ would let it swing for long
        shaken = max(s.row, s.row_T) <= SHAKEN * s.exact * speed_of(s)
        if s.persistent != 0 and shaken and s.dynamic <= s.rtol * s.F_s:
            o.c_step = 1.0 / s.h
    if o.mixed != 0:
        mixed_update(d, s, o)
    o.taken = 0.0


@entry("void(int64, int64)")
def smooth_move(data, run):
    """v~, v̇~, D and λ go from the part ``o.taken`` of the Newton step to the part ``s.scale``."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    n, m, dx, lam, part = d.n, d.m, s.dx, s.lam, s.scale - o.taken
    expand_add(d, part, dx, s.Vs)
    expand_add(d, part * o.c_step, dx, s.Vd)
    expand_add(d, part * o.c_q, dx, s.D)
    for i in range(m):
        lam[i] += part * dx[n + i]
    if s.persistent != 0:
        move_multipliers(d, SMOOTH, o.clam, part, dx, o.clam)
    if s.friction != 0:
        call2(s.friction_part, run, friction_tasks.MOVE)
    o.taken = s.scale


@kernel
def unsure(s, o, bracketed):
    """True if a part of the Newton step has to be judged by the slope along it.

    A step is shortened where it went far too deep into a contact (moderately too deep is a good start: forces are
    convex in the depth), and late, where the iteration goes to and fro, which friction that changes its direction and
    stiff parts make it do. A smaller residual does not end a search: where friction turns round it is the same on both
    sides.
    """
    far = s.abrupt != 0 and s.dynamic > FAR * o.first_force
    late = s.iteration > LATE and o.trials < TRIALS * s.max_iterations
    worse = s.dynamic > s.before or (late and bracketed)
    return worse and o.taken > SHORTEST and (far or late)


@entry("void(int64, int64)")
def slope_search(problem, run):
    """Part of the Newton step: all of it, or where it is `unsure` what makes the slope along it vanish.

    That is found by regula falsi (Illinois) between ``low``, where the slope is negative, and ``high``.
    """
    p, s = problem_at(problem)[0], run_at(run)[0]
    d = system_at(s.data_at)[0]
    o = own_at(s.own_at)[0]
    low, high, start = 0.0, math.inf, slope_along(d, s)
    low_slope, high_slope = start, 0.0
    s.scale = 1.0
    while True:
        attempt(p, s)
        if o.mixed != 0:
            return  # their states follow whole steps
        if s.code == LARGE_ROTATION and s.scale > SHORTEST:
            high, high_slope = s.scale, 0.0
            s.scale *= SHORTEN
            continue
        if not math.isfinite(s.merit) or s.iteration >= s.most:
            return
        if converged(s, o)[0] or not unsure(s, o, math.isfinite(high)):
            return
        slope = slope_along(d, s)
        downhill = s.scale == 1.0 and -abs(start) <= slope <= 0.0
        if downhill or abs(slope) <= DOWN * abs(start):
            return
        if slope < 0.0 and math.isfinite(high):
            low, low_slope = s.scale, slope
            high_slope *= 0.5
        else:
            high, high_slope = s.scale, max(slope, 0.0)
            low_slope *= 0.5 if low > 0.0 else 1.0
        part = SHORTEN
        if high_slope > 0.0:
            part = min(max(-low_slope / (high_slope - low_slope), INSIDE), 1.0 - INSIDE)
        if not high - low > SHORTEST * high:
            return
        s.scale = low + part * (high - low)
        o.trials += 1


@entry("void(int64, int64)")
def smooth_contacts(data, run):
    """Nothing: closed contacts are assembled with the residual."""


PROBLEM = Problem(
    number=SMOOTH,
    residual=smooth_residual,
    solved=smooth_solved,
    matrix=smooth_matrix,
    contacts=smooth_contacts,
    right=smooth_right,
    keep=smooth_keep,
    move=smooth_move,
    search=slope_search,
)


@kernel
def forget_multipliers(d, s, o):
    """Zero what an iteration with closed contacts has left that failed: it may be of any size, and may be a start.

    Without contacts multipliers stay: those at a dead centre are a start near the solution with a shift.
    """
    zero(s.lam_at, d.m)
    zero(o.clam_at, SIX * d.nc)


@entry("void(int64, int64)")
def smooth(data, run):
    """Solve the smooth sub-problem."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    predict(d, s, o)
    if s.persistent != 0:
        call2(o.closed_part, run, PREDICTED)
    if o.mixed == 0 and overshoots(s):
        stand_still(d, s, o)
    o.moved, o.trials, o.checked = math.inf, 0, 1 if s.persistent == 0 else 0
    # nearly all steps need one, unless that of an earlier step suffices; not those of particles, whose acceleration
    # stays
    look_at_price(problem_at(o.smooth_problem)[0], s)
    s.lent_old = 1 if kept(problem_at(o.smooth_problem)[0], s) else 0
    s.want_matrix = 0 if s.grains_at != 0 and s.smooth_iterations == 0 else 1 - s.lent_old
    if s.lent_old == 0:
        s.lent_c = 0.0  # by the last step
    share(problem_at(o.smooth_problem)[0], 0.0 if s.persistent != 0 or (s.friction != 0 and d.nc > 0) else o.c_a, s.ks)
    solve(s, o.smooth_problem, s.max_iterations)
    if s.code != OK and s.friction != 0:
        # sliding may have no solution: the velocity correction decides
        call2(s.friction_part, run, friction_tasks.LET_GO)
        predict(d, s, o)
        solve(s, o.smooth_problem, s.max_iterations)
    s.want_matrix = 0
    if s.code == OK:
        s.smooth_iterations = s.iteration
    elif s.persistent != 0:
        forget_multipliers(d, s, o)
