"""Steps of the coupled methods: how the iteration starts, the problem or its blocks in turn, what a step leaves."""

import math

from fem_mbs.jit import call2, entry, kernel, local_vector
from fem_mbs.solvers.alpha.coupled import ALL, whole_merit
from fem_mbs.solvers.alpha.data import own_at
from fem_mbs.solvers.alpha.motion import keep_accelerations, keep_unknowns, overshoots, predict, stand_still
from fem_mbs.solvers.alpha.one_level import reactions
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.solvers.contact.one_problem import begin_friction, begin_step, end_step, next_pass
from fem_mbs.solvers.contact.position import start_position
from fem_mbs.solvers.contact.restitution import limit_restitution, solve_impact
from fem_mbs.solvers.contact.velocity import accumulate_impulses, clear_impulses, start_from_last
from fem_mbs.solvers.stepping.kernels.accept import accept
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy1
from fem_mbs.solvers.stepping.kernels.codes import NOT_CONVERGED, OK
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.newton import HISTORY, problem_at
from fem_mbs.solvers.stepping.kernels.shared_factors import look_at_price
from fem_mbs.solvers.stepping.kernels.step import begin, mark_impacts, take
from fem_mbs.system.records import POSITION, SMOOTH, VELOCITY, zero


@kernel
def start_motion(d, s, o):
    """First guess of what all coupled methods have: motion by the prediction, joints from their last multipliers."""
    N, m = d.n_nodes, d.m
    predict(d, s, o)
    if overshoots(s):
        stand_still(d, s, o)
    copy1(o.lam0, s.lam)
    zero(s.U_at, 6 * N)
    zero(s.W_at, 6 * N)
    zero(s.nu_at, m)
    zero(s.Lam_at, m)
    zero(s.P_at, 6 * N)
    copy(s.V0, s.Vminus)
    copy(s.Vs, s.Vsminus)
    o.moved = math.inf


@kernel
def start(d, s, o):
    """First guess: also contacts that stay closed from their last multipliers."""
    start_motion(d, s, o)
    start_position(d, s)
    start_from_last(d, s)
    clear_impulses(d, s)
    for c in range(d.nc):
        if o.follows != 0:
            s.cnu[c, 0] = 0.0


@entry("void(int64, int64)")
def first_guess(data, run):
    """`start` as a part of `alpha.reduced`."""
    d, s = system_at(data)[0], run_at(run)[0]
    start(d, s, own_at(s.own_at)[0])


@entry("void(int64, int64)")
def solve_blocks(problem, run):
    """The diagonal blocks in turn, one Newton step each, until all are solved; in the place of `newton.newton`.

    Where that fails, as in stiff structures, Newton's iteration on all of them, from where this one has started.
    """
    s = run_at(run)[0]
    o = own_at(s.own_at)[0]
    keep_unknowns(s, o, False)
    most, iterations, going, history = s.most, 0, True, local_vector(HISTORY)
    while going and iterations < most:
        for block in range(o.levels):
            # how far the motion went before says nothing of round-off in this block
            o.block, o.complete, o.moved, s.most = block, 0, math.inf, 1
            call2(o.iterate_part, o.block_problem, run)
            going = o.complete == 0 and (s.code == OK or s.code == NOT_CONVERGED)
            if not going:
                break
        iterations += 1
        history[min(iterations, HISTORY - 1)] = whole_merit(s, o)
    o.block = ALL
    s.iteration, s.solving = iterations, problem
    if o.complete == 0:
        keep_unknowns(s, o, True)
        s.most, s.want_matrix = most, 0
        call2(o.iterate_part, problem, run)
        s.iteration += iterations
        return
    history[0], s.history_length = o.first_merit, min(iterations + 1, HISTORY)
    for i in range(s.history_length):
        s.history[i] = history[i]


@kernel
def keep_impulses(d, s):
    """Impulses of the contacts of the one problem of the step, and the forces at the nodes for
    `stepping.kernels.checks`.
    """
    s.impact_problems = 1
    accumulate_impulses(d, s)
    for i in range(6 * d.n_nodes):
        s.base[i] = s.f[i] + s.Gl[i]


@kernel
def solve_coupled(d, s, limited):
    """Solve the problem of a step as often as coefficients of friction change; ``limited``: with restitution limited
    where its impulses give energy.
    """
    begin_friction(s)
    going = True
    while going:
        solve_impact(s)
        if s.code == OK and limited and s.approach != 0 and s.plastic == 0:
            limit_restitution(d, s)
        going = s.code == OK and next_pass(d, s)
        if going:
            s.restitution_scale = 1.0


@entry("void(int64, int64)")
def coupled_step(data, run):
    """Solve the coupled problem of one step. What the start of the step kept is not touched."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.smooth_iterations = s.position_iterations = s.velocity_iterations = s.impact_problems = 0
    s.failed_problem = VELOCITY if d.nc > 0 else SMOOTH
    if s.costly != 0:
        look_at_price(problem_at(s.velocity_problem)[0], s)
    start(d, s, o)
    solve_coupled(d, s, d.nc > 0 and o.levels > 1)
    s.smooth_iterations = s.velocity_iterations
    s.position_iterations = s.velocity_iterations = s.smooth_iterations if o.levels > 1 else 0
    if s.code != OK:
        return
    if o.levels == 1 and d.nc > 0:
        reactions(d, s, o)
    keep_impulses(d, s)
    s.lasting = 1
    for i in range(d.m):
        s.lam_lasting[i] = s.ks * s.lam[i]
        s.lam_report[i] = s.lam_lasting[i] + s.kv * s.Lam[i] / s.h


@kernel
def blame(s, o):
    """Name the rows that were worst when a step failed, and show them to its diagnosis."""
    motion = o.dynamic_s + s.kv * o.row_s
    moved, jumped = o.dynamic_p + s.kp * o.row_p / s.h, s.dynamic + s.kv * (s.row + s.row_T)
    if not motion < math.inf or (motion >= moved and motion >= jumped):
        s.failed_problem = SMOOTH
        copy1(o.rs, s.r1)
        for i in range(s.rate.shape[0]):
            s.rate[i] = s.g[i] / o.c_q if o.levels == 1 else o.rate_s[i]
    elif moved >= jumped:
        s.failed_problem = POSITION
        copy1(o.rp, s.r1)
        for c in range(o.rows_p.shape[0]):
            for m in range(SIX):
                s.rows_c[c, m] = o.rows_p[c] if m == 0 else 0.0


@kernel
def take_coupled(d, s, o):
    """Perform one step after `begin`, and prepare the next for all coupled methods; returns the code of the step."""
    copy1(s.lam, o.lam0)
    begin_step(s)
    code = take(d, s)
    if code == OK and d.nc > 0:
        call2(s.sweep_part, s.data_at, s.run_at)
        code = s.code
    if code == OK:
        keep_accelerations(d, s, o, 0.0)
        accept(d, s)
        s.struck = 1 if mark_impacts(d, s) else 0
        end_step(s)
    elif code == NOT_CONVERGED:
        blame(s, o)
    return code


@entry("void(int64, int64)")
def coupled_advance(data, run):
    """Perform one step, and prepare the next."""
    d, s = system_at(data)[0], run_at(run)[0]
    begin(d, s)
    s.code = take_coupled(d, s, own_at(s.own_at)[0])
