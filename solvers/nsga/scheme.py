"""Steps of the decoupled scheme: the three sub-problems, and the history that a step leaves to the next."""

from fem_mbs.jit import call2, entry, kernel, vector
from fem_mbs.solvers.alpha.motion import keep_accelerations, set_coefficients
from fem_mbs.solvers.contact.convection import contact_convection
from fem_mbs.solvers.contact.law import GAP, STICK
from fem_mbs.solvers.contact.law_rows import SIX, place_of
from fem_mbs.solvers.contact.position_rows import let_go
from fem_mbs.solvers.contact.sweep import acts_elsewhere
from fem_mbs.solvers.nsga import stiction_tasks
from fem_mbs.solvers.nsga.closed import BEGIN, END, STOP
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.nsga.entry import decide_turning, leave_cones
from fem_mbs.solvers.nsga.guesses import keep_corrections
from fem_mbs.solvers.nsga.momentum import restart_forces, take_from_memory
from fem_mbs.solvers.nsga.persistent import add_row_rates, closed_tangents, sliding_directions, state_of
from fem_mbs.solvers.stepping.initial import REPETITIONS, equations
from fem_mbs.solvers.stepping.kernels import friction_tasks
from fem_mbs.solvers.stepping.kernels.accept import accept
from fem_mbs.solvers.stepping.kernels.arrays import copy, copy3
from fem_mbs.solvers.stepping.kernels.codes import LOOKS, OK, ROUND_OFF, SINGULAR, STOPS, STRIKES, TOUCHED
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import (
    ACCELERATIONS,
    CHECK,
    LAGS,
    LET_GO,
    REPORT,
    RIGHT_SIDES,
    TAKE,
    WITH_ROWS,
)
from fem_mbs.solvers.stepping.kernels.friction_tasks import END as FRICTION_END
from fem_mbs.solvers.stepping.kernels.step import LEAST_SHIFT, begin, mark_impacts, take
from fem_mbs.system.assembly import dynamic_tangents, inertia
from fem_mbs.system.constraints import constraint_rates
from fem_mbs.system.contacts import add_gradient, contact_groups, contacts, direction_of
from fem_mbs.system.global_matrices import (
    expand_add,
    factorise,
    fill_diagonal,
    full_norm,
    reduce_vector,
    solve_in_place,
)
from fem_mbs.system.records import POSITION, SMOOTH, VELOCITY, zero

FEW, SMALL_SHIFT = (
    2,
    1e-6,
)  # repetitions of the proximal step that gain twelve digits, and the shift up to which they do
MOST_SOLUTIONS = 28  # of consistent accelerations with friction of joints; the last ones leave out what is open
NEVER, PLAIN, FILTERED, AT_START = 0, 1, 2, 3  # ``o.reset``: restarts after impacts; a run begins
HALF, THREE_QUARTERS = 1.0 / 3.0, 1.0 / 7.0  # α_f − α_m of ρ = ½ and ρ = ¾
CALM = 10  # steps without a restart after which one begins with a trapezoidal step, see `advance`


@kernel
def add_last_moments(d, s, f):
    """Subtract from f (full) the moments that contacts gave against rolling and spinning in the last step.

    The position correction has no rows of them, but positions move by c_p h² times them: a ball that resistance holds
    on a slope would creep by what its weight turns it in each step. Not after a step with an impact, whose impulses
    are over; they may have passed through contacts that were closed.
    """
    for g in contact_groups(d):
        for e in range(g.n):
            for m in range(3, 5 if g.drilling != 0 else SIX):  # drilling has its row
                add_gradient(g, e, direction_of(g, e, m), -s.total_Lam[g.first_contact + e, m] / s.h, f)


@kernel
def smooth_motion(d, s, o):
    """The smooth sub-problem, and the forces of its end that the corrections refer to."""
    call2(o.smooth_part, s.data_at, s.run_at)
    if s.code != OK:
        return
    Ma, f, Gl, Gw = s.Ma, s.f, s.Gl, o.Gw
    fs, Mas, base, base_v = s.fs, s.Mas, s.base, s.base_v
    for i in range(6 * d.n_nodes):
        base[i] = f[i] + Gl[i]  # f(q~, v~) + G(q~)ᵀ k_s λ~
    if s.free != 0:
        return  # no corrections, which the others are for
    for i in range(6 * d.n_nodes):
        fs[i], Mas[i] = f[i], Ma[i]
        base_v[i] = base[i] + Gw[i] - Ma[i]
    if d.n_roll > 0 and s.persistent == 0 and s.struck == 0 and s.repeats == 0:
        add_last_moments(d, s, base)


@kernel
def take_motion(s):
    """The smooth motion is that of the step: neither constraints nor contacts correct it."""
    copy(s.xs, s.x)
    copy(s.Qs, s.Q)
    copy3(s.Rs, s.R)
    copy(s.Vs, s.V)
    for i in range(s.W.shape[0]):
        for j in range(6):
            s.W[i, j] = 0.0
    s.position_iterations = s.velocity_iterations = 0
    s.impact_problems = 1


@entry("void(int64, int64)")
def step(data, run):
    """The three sub-problems of one step, and its reactions. What the start of the step kept is not touched."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    s.failed_problem = SMOOTH
    if s.cut != STRIKES or s.repeats > 0 or s.plastic != 0:  # else it has been solved
        if s.stiction_part != 0:
            call2(s.stiction_part, run, stiction_tasks.BEGIN)
        smooth_motion(d, s, o)
        if s.code != OK:
            return
    if s.free != 0:
        s.failed_problem = VELOCITY
        take_motion(s)
        call2(s.grains_part, s.data_at, s.run_at)
        return
    if d.nc > 0 and s.cut != LOOKS:
        call2(s.sweep_part, s.data_at, s.run_at)
        if s.code != OK:
            return
    s.failed_problem = POSITION
    call2(s.position_part, s.data_at, s.run_at)
    if s.code == OK and s.swept != 0:
        call2(s.settle_part, s.data_at, s.run_at)
    if s.code == OK and (s.cut == STOPS or s.cut == LOOKS):
        call2(o.closed_part, run, STOP)
        if o.answer != 0:
            s.code = TOUCHED
    if s.code != OK:
        return
    s.failed_problem = VELOCITY
    call2(o.velocity_part, s.data_at, s.run_at)
    if s.code == OK and s.swept != 0 and acts_elsewhere(d, s):
        return
    if s.code == OK and s.grains_at != 0:
        call2(s.grains_part, s.data_at, s.run_at)
    s.lasting = 1
    for i in range(d.m):
        s.lam_lasting[i] = s.ks * s.lam[i]
        s.lam_report[i] = s.lam_lasting[i] + s.kv * s.Lam[i] / s.h


@kernel
def add_stiffness(d, s, o, x, R, V, A):
    """Add ¼ h² K + ½ h C to the mass in the matrix of `equations`: a filter that leaves what steps resolve.

    A jump shakes light nodes of stiff parts, for much shorter than a step; as a memory their accelerations would act
    through all of it. What steps resolve differs by O(h²). The part of a step that begins at an impact may be short:
    what counts is the step of the user.
    """
    h, T = s.h if s.cut != STRIKES else o.whole, s.T
    for i in range(d.n_nodes):
        for j in range(3):
            for k in range(3):
                T[i, j, k] = 1.0 if j == k else 0.0
    dynamic_tangents(d, SMOOTH, x, R, V, A, 0.0, 0.5 * h, 0.25 * h * h, 0.0, T)


@kernel
def closed_right(d, s, o, shift, dx):
    """Right-hand sides of the rows of closed contacts in dx, from ``o.gamma_c``."""
    for c in range(d.nc):
        for m in range(SIX):
            at = place_of(d, SMOOTH, c, m)
            if at >= 0:
                rated = state_of(s, o, c, m) == STICK or (m == 0 and s.closed[c] != GAP)
                dx[at] = o.gamma_c[c, m] - shift * o.clam[c, m] if rated else 0.0


@kernel
def closed_solution(d, nc, dx, lam):
    """Take the multipliers of nc closed contacts out of dx into lam (nc, 6)."""
    for c in range(nc):
        for m in range(SIX):
            at = place_of(d, SMOOTH, c, m)
            lam[c, m] = dx[at] if at >= 0 else 0.0


@kernel
def consistent(d, s, o, plain):
    """Solve for consistent accelerations and multipliers (not divided by k_s) of the kept contacts.

    In dx is what they are beyond those of ``s.trial``, which the rows ``o.gamma_c`` hold already:
    filtered by `add_stiffness` if not ``plain``.
    """
    N, n, m = d.n_nodes, d.n, d.m
    nc = d.nc if s.persistent != 0 else 0
    turning = d.n_roll if s.persistent != 0 else 0
    x, R, V = s.x, s.R, s.V
    Ma, f, missing, dx = s.Ma, s.f, s.r1, vector(s.dx_at, n + m + 3 * nc + 3 * turning)
    lam, gamma = s.lam, s.phi
    shift, arm, rate = s.epsilon / s.mean_mass, vector(d.row_arm_at, m), s.rate
    zero(s.lam_at, m)
    zero(o.clam_at, SIX * nc)
    equations(d, shift, x, R, V, s.trial, lam, s.g, rate, gamma, Ma, f)
    constraint_rates(d, s.trial, rate)
    for i in range(6 * N):
        missing[i] = f[i] - Ma[i]
    if not plain:
        add_stiffness(d, s, o, x, R, V, s.trial)
    if nc > 0:
        closed_tangents(d, s, o, x, R, V, 1.0, shift, 0.0, R)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, WITH_ROWS)
    s.epoch += 1
    if not factorise(d, SMOOTH):
        s.code = SINGULAR
        return
    # repeated for the shift of redundant rows, as in `initial.consistent`
    for _ in range((FEW if s.epsilon <= SMALL_SHIFT else REPETITIONS) if m + nc + s.friction > 0 else 1):
        reduce_vector(d, missing, dx)
        for i in range(m):
            dx[n + i] = gamma[i] + rate[i] - shift / arm[i] ** 2 * lam[i]
        if nc > 0:
            closed_right(d, s, o, shift, dx)
        if s.friction != 0:
            call2(s.friction_part, s.run_at, RIGHT_SIDES)
        solve_in_place(d, SMOOTH, s.dx_at)
        if s.friction != 0:
            call2(s.friction_part, s.run_at, TAKE)
        for i in range(m):
            lam[i] = dx[n + i]
        closed_solution(d, nc, dx, o.clam)


@kernel
def jump_of_friction(d, s, o, x, R, V):
    """Add to the memory of the method what the jump of joint friction since the smooth motion does, and no more."""
    f, dx = s.f, vector(s.dx_at, d.n + d.m)
    equations(d, s.epsilon / s.mean_mass, x, R, V, s.trial, s.lam, s.g, s.rate, s.phi, s.Ma, f)
    add_stiffness(d, s, o, x, R, V, s.trial)
    fill_diagonal(d, SMOOTH, d.n + d.m, -1.0)
    s.epoch += 1
    if not factorise(d, SMOOTH):
        s.code = SINGULAR
        return
    zero(s.f_at, 6 * d.n_nodes)
    call2(s.friction_part, s.run_at, friction_tasks.JUMP)
    zero(s.dx_at, d.n + d.m + d.n_friction)
    reduce_vector(d, f, dx)
    solve_in_place(d, SMOOTH, s.dx_at)
    expand_add(d, 1.0, dx, o.Vd0)
    expand_add(d, 1.0, dx, s.Va0)


@kernel
def forget_lag(d, s, o, x, R, V):
    """Take from a − v̇~, in ``s.trial``, what steps resolve, with the matrix of the last `consistent`.

    That is (α_m − α_f) h dv̇/dt of a motion that has ended; stiff parts keep theirs, which their damping needs.
    """
    n, m = d.n, d.m
    nc = d.nc if s.persistent != 0 else 0
    lag, dx = s.trial, vector(s.dx_at, n + m + 3 * nc + (3 * d.n_roll if nc > 0 else 0))
    inertia(d, SMOOTH, x, R, V, lag, s.Ma, False, 0.0, 0.0, R)
    zero(s.dx_at, dx.shape[0] + d.n_friction)
    reduce_vector(d, s.Ma, dx)
    constraint_rates(d, lag, s.rate)
    for i in range(m):
        dx[n + i] = -s.rate[i]
    if nc > 0:
        zero(o.gamma_c_at, SIX * nc)
        add_row_rates(d, s, o, -1.0, lag, o.gamma_c)
        closed_right(d, s, o, 0.0, dx)
    if s.friction != 0:
        call2(s.friction_part, s.run_at, LAGS)
    solve_in_place(d, SMOOTH, s.dx_at)
    expand_add(d, -1.0, dx, lag)
    if nc > 0:
        closed_solution(d, nc, dx, o.gamma_c)
        take_from_memory(d, s, o, o.gamma_c, V)


@kernel
def steps_by_trapezoids(s, o, event):
    """Number of steps after a restart that are those of the trapezoidal rule; ``event``: an impact.

    They need no a: else a = v̇~ at first, an error of (α_f − α_m) h dv̇/dt. A body that turns by 0.12 rad per step
    loses with it 0.4 % of its energy at each impact for ρ = 0, 0.1 % for ρ = ½, and 0.01 % for ρ = 0.8. The last of
    them finds dv̇/dt for the steps that follow. The rest of a step that an impact has cut may be too short for that:
    the next step is one of them too.
    """
    delay = o.alpha_f - o.alpha_m
    damps = delay >= THREE_QUARTERS - ROUND_OFF
    if s.cut == STRIKES:
        return 2 if damps else 0
    if o.since < CALM:
        return 0
    if event:
        return 1 if o.reset == FILTERED and damps else 0
    return 1 if s.persistent != 0 and delay <= HALF + ROUND_OFF else 0


@entry("void(int64, int64)")
def restart(data, run):
    """Memory of the method from consistent accelerations at the current state (decision 10), closed contacts
    included."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    N, m = d.n_nodes, d.m
    nc = d.nc if s.persistent != 0 else 0
    x, R, V = s.x, s.R, s.V
    Va0, Vd0, f, dx, trial = s.Va0, o.Vd0, s.f, vector(s.dx_at, d.n), s.trial
    lam, clam = s.lam, o.clam
    event = s.struck != 0 and s.cut != STRIKES
    jump = s.friction != 0 and s.friction_event >= 0.0 and s.struck == 0 and nc == 0
    plain = jump or o.reset == AT_START or (event and o.reset == PLAIN)
    for i in range(N):
        for j in range(6):
            trial[i, j] = 0.0 if plain else Vd0[i, j]
    if nc > 0:
        contact_convection(d, s, V, s.xs, s.Qs, s.Rs, s.D, s.T, s.xs, s.Rs, o.gamma_c)
        contacts(d, x, R, x, R, V)  # what the step began with is kept: balances and watches of the step need it
        decide_turning(d, s, o, V)
        sliding_directions(d, s, o, V, False)
        add_row_rates(d, s, o, 1.0, trial, o.gamma_c)
    s.code = OK
    if s.friction != 0:
        call2(s.friction_part, s.run_at, ACCELERATIONS)
    epsilon = s.epsilon
    for k in range(4 if s.friction == 0 else MOST_SOLUTIONS):
        consistent(d, s, o, plain)
        if s.code == SINGULAR and s.epsilon < LEAST_SHIFT:  # closed contacts may be redundant: as steps are repeated
            s.code, s.epsilon = OK, LEAST_SHIFT
            consistent(d, s, o, plain)
        # forces outside their cones: the contact opens or slides at once
        again = s.code == OK and nc > 0 and k < 4 and leave_cones(d, s, o, s.rtol * full_norm(d, f, s.length))
        if s.code == OK and s.friction != 0:
            call2(s.friction_part, s.run_at, CHECK)
            again = again or s.friction_answer != 0
            if s.friction_answer != 0 and MOST_SOLUTIONS - 6 <= k < MOST_SOLUTIONS - 1:
                call2(s.friction_part, s.run_at, LET_GO)
        if not again:
            break
    s.epsilon = epsilon
    if s.code != OK:
        return
    if jump:
        for i in range(m):
            lam[i] /= s.ks
        jump_of_friction(d, s, o, x, R, V)
        return
    for i in range(N):
        for j in range(6):
            lag = 0.0 if plain else Va0[i, j] - Vd0[i, j]
            Vd0[i, j], trial[i, j] = trial[i, j], lag
    expand_add(d, 1.0, dx, Vd0)
    o.fresh = max(o.fresh, steps_by_trapezoids(s, o, event))
    for c in range(nc):
        for i in range(SIX):
            clam[c, i] /= s.ks
    if nc > 0:
        restart_forces(d, s, o, V)
    if not plain:
        forget_lag(d, s, o, x, R, V)
    for i in range(N):
        for j in range(6):
            Va0[i, j] = Vd0[i, j] + trial[i, j]
    o.since = 0
    for i in range(m):
        lam[i] /= s.ks


@kernel
def add_corrections(d, s, o):
    """Add what the position correction gave, U/(c_p h²), to the accelerations of the memory.

    Those of the smooth motion have no forces of contacts that act in the corrections: a mesh at rest falls in it. The
    filter of a restart would leave a part of that fall to stiff and to damped nodes.
    """
    half = s.position_factor * s.h * s.h
    for i in range(d.n_nodes):
        for j in range(6):
            o.Vd0[i, j] += s.U[i, j] / half
            s.Va0[i, j] += s.U[i, j] / half


@kernel
def finish(d, s, o):
    """History for the next step and impact flags."""
    keep_accelerations(d, s, o, o.lag)
    if o.past_U.shape[1] > 0:
        keep_corrections(s, o)
    accept(d, s)
    struck = mark_impacts(d, s)
    restart_now = struck and (o.reset != NEVER or s.cut == STRIKES)
    if s.stiction_part != 0:
        call2(s.stiction_part, s.run_at, stiction_tasks.END)
        restart_now = restart_now or (s.persistent != 0 and o.answer != 0)
    s.struck = 1 if struck else 0
    if struck:
        o.by_course += o.integrated
        o.by_newton += 1 - o.integrated
    if s.friction != 0:  # before the statuses of contacts change
        call2(s.friction_part, s.run_at, FRICTION_END)
        restart_now = restart_now or s.friction_answer != 0
    if s.persistent != 0:
        call2(o.closed_part, s.run_at, END)
        restart_now = restart_now or o.answer != 0
    o.fresh = max(o.fresh - 1, 0)
    o.since += 1
    if restart_now:
        if s.persistent != 0 and not struck:
            add_corrections(d, s, o)
        call2(o.restart_part, s.data_at, s.run_at)
    if s.friction != 0 and s.code == OK:
        call2(s.friction_part, s.run_at, REPORT)


@entry("void(int64, int64)")
def advance(data, run):
    """Perform one step; after a fresh start of the memory it is one of the trapezoidal rule, see
    `steps_by_trapezoids`.
    """
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    begin(d, s)
    if s.persistent != 0 and s.cut != STRIKES:
        call2(o.closed_part, run, BEGIN)
    if s.friction != 0 and s.cut != STRIKES:
        call2(s.friction_part, run, friction_tasks.BEGIN)
    alpha_m, alpha_f, beta, gamma = o.alpha_m, o.alpha_f, o.beta, o.gamma
    o.lag = 0.0
    if o.fresh != 0:
        set_coefficients(s, o, 0.5, 0.5, 0.25, 0.5)
        o.lag = alpha_m - alpha_f if o.fresh == 1 else 0.0
    code = take(d, s)
    if code == OK:
        finish(d, s, o)
    if s.swept != 0:
        let_go(d, s)
    set_coefficients(s, o, alpha_m, alpha_f, beta, gamma)
    s.code = code
