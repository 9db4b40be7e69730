"""Dry friction of joints in the decoupled scheme: set-valued, with the reactions of the joint itself.

    −λ_F ∈ μ N Sign(γ) ,   γ = G_F v + γ_t ,   N of the multipliers of the joint                                    (1)

A row of friction is in two sub-problems, in the smooth one while it persistently sticks or slides,

    smooth     stick  γ(v~) = 0       slip  λ~_F + s μ N(λ~) = 0        force G_F(q~)ᵀ λ~_F                         (2)
    velocity   b = μ N_h(h λ~ + Λ) ,  ξ = Λ_F − p γ ,  Λ_F the *total* impulse of the step, force G_F(q)ᵀ Λ_F       (3)
               |ξ| < b  stick  γ = 0      else  s = −sign ξ ,  Λ_F + s b = 0

and with contacts in the position correction (`joint_friction.friction_position`). f of the velocity correction has
−G_F(q~)ᵀ λ~_F, with what closed contacts have there (``Gw``). N is positively homogeneous but for the given part:
N_h(R) = h N(R/h).

With several directions λ_F, Λ_F, γ and ξ are vectors, and s is a direction: that of ξ in (3), that with which the step
begins in (2).

Static friction, and friction that jumps within the step, take passes (`joint_friction.friction_passes`), each of which
is an ordinary problem (3). Where sticking starts or ends, and where sliding reverses, the memory of the method starts
again
(`joint_friction.friction_start`). What Newton's iteration does not solve goes piece by piece
(`joint_friction.friction_pieces`).

Source: docs/theory/joint_friction.md, (1), (5), (6).

    symbol        field of FRICTION         meaning
    λ~_F, Λ_F     smooth_force, impulse     N and N s, of an angle N m and N m s; unknowns are divided by k_s, k_v
    p             effective_mass            of the coordinate
    μ of a pass   coefficient               and pass_number, its number
"""

from fem_mbs.jit import N_SLOTS, SLOT, entry, integers, kernel, matrix, vector
from fem_mbs.solvers.joint_friction.friction_end import end_step, report_step
from fem_mbs.solvers.joint_friction.friction_passes import next_pass
from fem_mbs.solvers.joint_friction.friction_pieces import kappas_and_masses, search_pieces
from fem_mbs.solvers.joint_friction.friction_position import (
    add_norms,
    correction_tangents,
    corrections,
    first_corrections,
    keep_corrections,
    move_corrections,
    next_bounds,
)
from fem_mbs.solvers.joint_friction.friction_start import (
    acceleration_right,
    acceleration_tangents,
    add_jumps,
    begin_accelerations,
    check_accelerations,
    end_jump,
    lags_right,
    last_forces,
    new_speeds,
    report_start,
    start_statuses,
    take_accelerations,
)
from fem_mbs.solvers.joint_friction.friction_touch import (
    begin_time,
    end_time,
    in_impact,
    next_pass_of_impact,
)
from fem_mbs.solvers.joint_friction.friction_velocity import (
    begin_step,
    first_impulses,
    norms,
    perform_velocity,
    right_sides,
)
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import (
    ACCELERATIONS,
    BEGIN,
    CHECK,
    CORRECTION,
    CORRECTION_BOUNDS,
    CORRECTION_FIRST,
    CORRECTION_GO,
    CORRECTION_KEEP,
    CORRECTION_RIGHT,
    CORRECTION_SLOPES,
    END,
    FIRST,
    FORCES,
    IMPACT_BEGIN,
    IMPACT_DONE,
    JUMP,
    JUMPED,
    LAGS,
    LET_GO,
    MOVE,
    PASSES,
    PIECES,
    REPORT,
    RESTARTED,
    RIGHT,
    RIGHT_SIDES,
    SPEEDS,
    START,
    STARTED,
    TAKE,
    TANGENTS,
    WITH_ROWS,
)  # fmt: skip
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficients_of,
    curvature,
    curvature_at,
    directions_of,
    evaluate_bound,
    evaluate_row,
    friction_groups,
    friction_of,
    gradients_of,
    rows_in,
    rows_of,
    scatter_block,
    smooth_status,
)
from fem_mbs.system.gather import gather_motion, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import SMOOTH

_V, _KK, _BOUND_Q = SLOT["v"], SLOT["K"], SLOT["bound_q"]


@kernel
def smooth_forces(d, s, o):
    """Add forces of (2) to Gw, evaluate the rows at q~, v~."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        n = directions_of(g)
        for r in range(rows_of(g)):
            kept, mu = friction_of(g, r), coefficients_of(g, r)
            rate = evaluate_row(d, g, r, b, s.xs, s.Rs, s.Vs)
            add_row(g, r, kept.smooth_force, o.Gw)
            status = smooth_status(kept)
            if status == STICK:
                kept.residual = rate
            else:
                missing = kept.smooth_force
                if status == SLIP:
                    if r % n == 0:
                        evaluate_bound(d, g, r // n, b, s.lam, s.ks, s.lam, 0.0)
                    missing += kept.sign * mu.sliding * kept.normal_force
                # with c_a: velocity problems can use its factors
                kept.residual = missing / (o.c_a * kept.effective_mass)
            add_norms(s, kept, status == STICK)


@kernel
def smooth_row(s, o, g, r, b, S):
    """Fill the part of row r in its element matrix S that increments of positions have; of (2).

    Bound and curvature of the element were evaluated.
    """
    nd, n = g.nd, directions_of(g)
    kept, row, ve, slope = friction_of(g, r), nd + r % n, vector(b[_V], nd), vector(b[_BOUND_Q], nd)
    status, force, H = smooth_status(kept), kept.smooth_force, matrix(curvature_at(g, r, b), nd, nd)
    if status == SLIP:
        weight_N = 1.0 / (o.c_a * kept.effective_mass) * kept.sign * coefficients_of(g, r).sliding
        for j in range(nd):
            S[row, j] -= s.ks * o.c_q * weight_N * slope[j]
        for i in range(g.nr):
            S[row, nd + n + i] -= s.ks * weight_N * kept.slope[i] * s.ks
    if status != STICK and force == 0.0:
        return
    for i in range(nd):
        for j in range(nd):
            S[i, j] -= o.c_q * force * H[i, j]
            if status == STICK:
                S[row, j] -= s.ks * o.c_q * ve[i] * H[i, j]


@kernel
def smooth_tangents(d, s, o):
    """Add the blocks of (2) to the matrix of the smooth sub-problem, where it was evaluated last."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, SMOOTH)
    s.friction_stuck = 0
    for g in friction_groups(d):
        nd, n, stored = g.nd, directions_of(g), gradients_of(g)
        size = nd + n + g.nr
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            clear_block(S, nd, n)
            gather_motion(d, g, e, b, s.xs, s.Rs, s.Vs)
            if smooth_status(friction_of(g, n * e)) == SLIP:
                evaluate_bound(d, g, e, b, s.lam, s.ks, s.lam, 0.0)
            curvature(d, g, e, b)
            for r in range(n * e, n * e + n):
                smooth_row(s, o, g, r, b, S)
            times_tangent(g, e, S, nd + n, s.T)
            for k in range(n):
                r, row = n * e + k, nd + k
                kept = friction_of(g, r)
                stuck = smooth_status(kept) == STICK
                if stuck:
                    s.stuck_rows[s.friction_stuck] = g.first_friction + r
                    s.friction_stuck += 1
                for i in range(nd):
                    S[i, row] -= s.ks * stored[r, i]
                    if stuck:
                        S[row, i] -= s.ks * stored[r, i]
                weight = 1.0 / (o.c_a * kept.effective_mass)
                S[row, row] -= s.epsilon * s.ks / kept.arm**2 if stuck else s.ks * weight * s.ks
            scatter_block(g.maps_at[SMOOTH], e, S, nd, n, values)


@kernel
def move_smooth_forces(d, s, factor):
    """Add factor times the Newton step in dx to the friction of the smooth sub-problem."""
    step = rows_in(d, SMOOTH, s.dx_at)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            friction_of(g, r).smooth_force += factor * step[g.first_friction + r]


@kernel
def note_impulses(d, s, smooth):
    """Keep the impulses of the step before the next impact problem: of smooth forces, or as the last one left them."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.earlier_impulse = s.h * kept.smooth_force if smooth else kept.impulse


@kernel
def begin_sequence(d, s):
    """Begin the impact problems of a step."""
    note_impulses(d, s, True)
    if s.cut == STRIKES:
        begin_time(d)


@kernel
def end_problem(d, s, o):
    """End an impact problem; True if the problems of the step begin again."""
    again = s.cut == STRIKES and s.impact_problems == 1 and end_time(d, s, o)
    note_impulses(d, s, False)
    return again


@kernel
def perform_smooth(d, s, o, task):
    """Perform a task of the smooth sub-problem; True if it was one."""
    if task == FORCES:
        s.friction_row = s.friction_slip = 0.0
        smooth_forces(d, s, o)
        norms(s)
    elif task == TANGENTS:
        smooth_tangents(d, s, o)
    elif task == RIGHT:
        right_sides(d, SMOOTH, s.dx_at, s.ks)
    elif task == MOVE:
        move_smooth_forces(d, s, (s.scale - o.taken) * s.ks)
    else:
        return False
    return True


@kernel
def perform_correction(d, s, task):
    """Perform a task of the position correction; True if it was one."""
    if task == CORRECTION_FIRST:
        first_corrections(d)
    elif task == CORRECTION:
        s.friction_row = s.friction_slip = 0.0
        corrections(d, s)
        norms(s)
    elif task == CORRECTION_BOUNDS:
        s.friction_answer = 1 if next_bounds(d, s) else 0
    elif task == CORRECTION_SLOPES:
        correction_tangents(d, s)
    elif task == CORRECTION_RIGHT:
        right_sides(d, s.number, s.dx_at, s.kp)
    elif task == CORRECTION_KEEP:
        keep_corrections(d)
    elif task == CORRECTION_GO:
        move_corrections(d, s, s.scale * s.kp / (s.position_factor * s.h * s.h))
    else:
        return False
    return True


@kernel
def perform_accelerations(d, s, task):
    """Perform a task of consistent accelerations; True if it was one."""
    if task == ACCELERATIONS:
        begin_accelerations(d, s)
    elif task == WITH_ROWS:
        acceleration_tangents(d, s)
    elif task == RIGHT_SIDES:
        acceleration_right(d, s)
    elif task == TAKE:
        take_accelerations(d, s)
    elif task == CHECK:
        s.friction_answer = 1 if check_accelerations(d, s) else 0
    elif task == LAGS:
        lags_right(d, s)
    elif task == JUMP:
        add_jumps(d, s)
    elif task == RESTARTED:
        last_forces(d)
    elif task == STARTED:
        report_start(d)
    else:
        return False
    return True


@kernel
def perform_step(d, s, o, task):
    """Perform a task of a step, of its sequence of impact problems, or between steps."""
    if task == BEGIN or task == LET_GO:
        begin_step(d, task == LET_GO)
    elif task == FIRST:
        first_impulses(d, s)
    elif task == PASSES:
        again = next_pass_of_impact(d, s) if in_impact(s) else next_pass(d, s, False)
        s.friction_answer = 1 if again else 0
    elif task == PIECES:
        search_pieces(d, s)
    elif task == END:
        s.friction_answer = 1 if end_step(d, s) else 0
    elif task == IMPACT_BEGIN:
        begin_sequence(d, s)
    elif task == IMPACT_DONE:
        s.friction_answer = 1 if end_problem(d, s, o) else 0
    elif task == REPORT:
        report_step(d, s)
    elif task == START:
        start_statuses(d, s)
        s.friction_event = -1.0  # no step has changed anything
        kappas_and_masses(d, s)
    elif task == JUMPED:
        end_jump(d, s)
    elif task == SPEEDS:
        new_speeds(d, s)


@entry("void(int64, int64)")
def friction_part(run, task):
    """Do one of the `friction_tasks`."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    s.friction_answer = 0
    if perform_velocity(d, s, task, s.dx_at, False) or perform_smooth(d, s, o, task):
        return
    if not (perform_correction(d, s, task) or perform_accelerations(d, s, task)):
        perform_step(d, s, o, task)
