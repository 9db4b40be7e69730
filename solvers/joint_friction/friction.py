"""Dry friction of joints in the decoupled scheme: set-valued, with the reactions of the joint itself.

    −λ_F ∈ μ N Sign(γ) ,   γ = G_F v + γ_t ,   N of the multipliers of the joint                                    (1)

A row of friction is in two sub-problems, in the smooth one while it persistently sticks or slides,

    smooth     stick  γ(v~) = 0       slip  λ~_F + s μ N(λ~) = 0        force G_F(q~)ᵀ λ~_F                         (2)
    velocity   b = μ N_h(h λ~ + Λ) ,  ξ = Λ_F − p γ ,  Λ_F the *total* impulse of the step, force G_F(q)ᵀ Λ_F       (3)
               |ξ| < b  stick  γ = 0      else  s = −sign ξ ,  Λ_F + s b = 0

and with contacts in the position correction (`joint_friction.friction_position`). f of the velocity correction has
−G_F(q~)ᵀ λ~_F, with what closed contacts have there (``Gw``). N is positively homogeneous but for the given part:
N_h(R) = h N(R/h).

Static friction, and friction that jumps within the step, take passes (`joint_friction.friction_passes`), each of which
is an ordinary problem (3). Where sticking starts or ends, and where sliding reverses, the memory of the method starts
again
(`joint_friction.friction_start`). What Newton's iteration does not solve goes piece by piece
(`joint_friction.friction_pieces`).

Source: docs/theory/joint_friction.md, (1), (5), (6).

    symbol        code                      meaning
    λ~_F, Λ_F     F_SMOOTH, F_IMPULSE       N and N s, of an angle N m and N m s; unknowns are divided by k_s, k_v
    p             F_MASS                    effective mass of the coordinate
    μ of a pass   F_MU                      and F_PASS, its number
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, entry, integers, kernel, matrix, tensor, vector
from fem_mbs.solvers.joint_friction.friction_end import end_step, report_step
from fem_mbs.solvers.joint_friction.friction_passes import next_pass
from fem_mbs.solvers.joint_friction.friction_pieces import kappas_and_masses, search_pieces
from fem_mbs.solvers.joint_friction.friction_position import (
    add_norms,
    correction_tangents,
    corrections,
    first_corrections,
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
    first_tried,
    held_within_step,
    impulse_bound,
    in_impact,
    next_pass_of_impact,
    past_impulse,
)
from fem_mbs.solvers.nsga.data import own_at
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.friction_tasks import (
    ACCELERATIONS,
    BEGIN,
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
    GO,
    IMPACT_BEGIN,
    IMPACT_DONE,
    IMPACT_WORK,
    IMPULSES,
    JOINT_RATES,
    JUMP,
    JUMPED,
    KEEP,
    LAGS,
    LET_GO,
    MOVE,
    PASSES,
    PIECES,
    REPORT,
    RESTARTED,
    RIGHT,
    RIGHT_SIDES,
    SLOPES,
    SPEEDS,
    START,
    STARTED,
    TAKE,
    TANGENTS,
    WITH_ROWS,
)  # fmt: skip
from fem_mbs.system.friction import (
    F_ARM,
    F_BEFORE,
    F_BEGAN,
    F_BEGAN_GT,
    F_CORRECTED,
    F_CORRECTED_BEFORE,
    F_DONE,
    F_FORCED,
    F_GT,
    F_HELD,
    F_IMPULSE,
    F_JAM,
    F_MASS,
    F_MU,
    F_OLD,
    F_OPEN,
    F_OUT,
    F_PART,
    F_PASS,
    F_RATE,
    F_ROW,
    F_SHARE,
    F_SIGN,
    F_SLOPE,
    F_SMOOTH,
    F_START,
    F_STATUS,
    F_TRY,
    F_TRY_SIGN,
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficients_of,
    curvature,
    evaluate_bound,
    evaluate_row,
    row_times,
    scatter_block,
    smooth_status,
    states_of,
)
from fem_mbs.system.gather import gather_motion, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import SMOOTH, VELOCITY, groups_of, layouts_of

_V, _H, _KK, _BOUND_Q = SLOT["v"], SLOT["H"], SLOT["K"], SLOT["bound_q"]


@kernel
def smooth_forces(d, s, o):
    """Add forces of (2) to Gw, evaluate the rows at q~, v~."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept = states_of(g)[e]
            rate = evaluate_row(d, g, e, b, s.xs, s.Rs, s.Vs)
            add_row(g, e, kept[F_SMOOTH], o.Gw)
            status = smooth_status(kept)
            if status == STICK:
                kept[F_ROW] = rate
            else:
                missing = kept[F_SMOOTH]
                if status == SLIP:
                    missing += kept[F_SIGN] * mu[e, 1] * evaluate_bound(d, g, e, b, s.lam, s.ks, s.lam, 0.0)
                kept[F_ROW] = missing / (o.c_a * kept[F_MASS])  # with c_a: velocity problems can use its factors
            add_norms(s, kept, status == STICK)


@kernel
def smooth_tangents(d, s, o):
    """Add the blocks of (2) to the matrix of the smooth sub-problem, where it was evaluated last."""
    b, groups, values = integers(d.table_at, N_SLOTS), groups_of(d), matrix_values(d, SMOOTH)
    s.friction_stuck = 0
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        nd, size, mu, stored = g.nd, g.nd + 1 + g.nr, coefficients_of(g), tensor(g.G_at, g.n, 1, g.nd)
        S, H, ve, slope = matrix(b[_KK], size, size), matrix(b[_H], nd, nd), vector(b[_V], nd), vector(b[_BOUND_Q], nd)
        for e in range(g.n):
            kept = states_of(g)[e]
            status, force, weight = smooth_status(kept), kept[F_SMOOTH], 1.0 / (o.c_a * kept[F_MASS])
            clear_block(S, nd)
            gather_motion(d, g, e, b, s.xs, s.Rs, s.Vs)
            bent = status == STICK or force != 0.0
            if bent:
                curvature(d, g, e, b)
            if status == SLIP:
                weight_N = weight * kept[F_SIGN] * mu[e, 1]
                evaluate_bound(d, g, e, b, s.lam, s.ks, s.lam, 0.0)
                for j in range(nd):
                    S[nd, j] -= s.ks * o.c_q * weight_N * slope[j]
                for i in range(g.nr):
                    S[nd, nd + 1 + i] -= s.ks * weight_N * kept[F_SLOPE + i] * s.ks
            for i in range(nd if bent else 0):
                for j in range(nd):
                    S[i, j] -= o.c_q * force * H[i, j]
                    if status == STICK:
                        S[nd, j] -= s.ks * o.c_q * ve[i] * H[i, j]
            times_tangent(g, e, S, nd + 1, s.T)
            if status == STICK:
                s.stuck_rows[s.friction_stuck] = g.first_friction + e
                s.friction_stuck += 1
            for i in range(nd):
                S[i, nd] -= s.ks * stored[e, 0, i]
                if status == STICK:
                    S[nd, i] -= s.ks * stored[e, 0, i]
            S[nd, nd] -= s.epsilon * s.ks / kept[F_ARM] ** 2 if status == STICK else s.ks * weight * s.ks
            scatter_block(g.maps_at[SMOOTH], e, S, nd, values)


@kernel
def first_row(d, layout):
    """Number of the first row of friction in a global matrix."""
    return layouts_of(d)[layout].n - d.n_friction


@kernel
def right_sides(d, s, layout, k):
    """k times the residuals of the rows, in dx."""
    dx, groups = vector(s.dx_at, layouts_of(d)[layout].n), groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                dx[first_row(d, layout) + g.first_friction + e] = k * states_of(g)[e, F_ROW]


@kernel
def move(d, s, layout, column, start, factor):
    """A column of internal variables ← column ``start`` + factor times the Newton step in dx."""
    dx, groups = vector(s.dx_at, layouts_of(d)[layout].n), groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                kept = states_of(g)[e]
                kept[column] = kept[start] + factor * dx[first_row(d, layout) + g.first_friction + e]


@kernel
def keep(d, column, start):
    """Keep a column of internal variables in another one, for the search along a Newton step."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                kept = states_of(g)[e]
                kept[column] = kept[start]


@kernel
def begin_step(d, let_go):
    """Statuses as the step begins; with ``let_go`` friction that is not settled leaves its smooth sub-problem instead.

    Within a step that is all of it.
    """
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction != 0:
            for e in range(g.n):
                kept = states_of(g)[e]
                if let_go and kept[F_OPEN] != 0.0:
                    kept[F_OUT], kept[F_SMOOTH] = 1.0, 0.0
                elif not let_go:
                    kept[F_OUT], kept[F_OPEN] = 0.0, 1.0
                    kept[F_START], kept[F_OLD], kept[F_JAM] = kept[F_STATUS], kept[F_RATE], 0.0
                    kept[F_BEGAN], kept[F_BEGAN_GT] = kept[F_SMOOTH], kept[F_GT]


@kernel
def first_impulses(d, s, o):
    """Rows at the end of the step, impulses of the smooth forces as a first guess, coefficients of the first pass."""
    b, groups = integers(d.table_at, N_SLOTS), groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept = states_of(g)[e]
            evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
            kept[F_IMPULSE], kept[F_FORCED], kept[F_PASS] = s.h * kept[F_SMOOTH], 0.0, 0.0
            kept[F_PART], kept[F_SHARE], kept[F_HELD] = 0.0, 1.0, 0.0
            kept[F_MU] = mu[e, 0] if kept[F_START] == STICK else mu[e, 1]
            kept[F_TRY], kept[F_TRY_SIGN] = kept[F_START], kept[F_SIGN]
            if s.cut == STRIKES:
                first_tried(kept, o, g.first_friction + e)


@kernel
def impulses(d, s, o):
    """Subtract impulses of (3) from r1, evaluate rows and statuses."""
    b, groups, number = integers(d.table_at, N_SLOTS), groups_of(d), 0
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept = states_of(g)[e]
            gather_motion(d, g, e, b, s.x, s.R, s.V)
            rate = row_times(g, e, s.V) + kept[F_GT]
            bound = kept[F_MU] * impulse_bound(d, s, o, g, e, b)
            impulse = kept[F_IMPULSE] - past_impulse(s, o, g.first_friction + e)
            if kept[F_FORCED] == 0.0:
                xi = impulse - kept[F_MASS] * rate
                kept[F_TRY] = STICK if abs(xi) < bound + held_within_step(s, kept) else SLIP
                if kept[F_TRY] == SLIP and xi != 0.0:
                    kept[F_TRY_SIGN] = -1.0 if xi > 0.0 else 1.0
            pressed = 4 if bound > 0.0 else 0  # an impact begins without reactions, and its bound without a slope
            bound = kept[F_SHARE] * bound + kept[F_HELD]
            sticks = kept[F_TRY] == STICK
            if kept[F_FORCED] < 0.0:
                bound = 0.0  # without friction
            kept[F_ROW] = rate if sticks else (impulse + kept[F_TRY_SIGN] * bound) / kept[F_MASS]
            add_row(g, e, -kept[F_IMPULSE], s.r1)
            add_norms(s, kept, sticks)
            number = (11 * number + int(kept[F_TRY]) + int(kept[F_TRY_SIGN]) + pressed) % 1000003
    s.friction_status = number


@kernel
def velocity_tangents(d, s):
    """Add the blocks of (3) to the matrix of the velocity problem."""
    b, groups, values, kv = integers(d.table_at, N_SLOTS), groups_of(d), matrix_values(d, VELOCITY), s.kv
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        nd, size, stored = g.nd, g.nd + 1 + g.nr, tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            kept = states_of(g)[e]
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= kv * stored[e, 0, i]
                if kept[F_TRY] == STICK:
                    S[nd, i] -= kv * stored[e, 0, i]
            if kept[F_TRY] == STICK:
                S[nd, nd] -= s.epsilon * kv / kept[F_ARM] ** 2
            else:
                weight = kv * kv / kept[F_MASS]
                S[nd, nd] -= weight
                weight *= kept[F_SHARE] if kept[F_FORCED] >= 0.0 else 0.0
                for i in range(g.nr):
                    S[nd, nd + 1 + i] -= weight * kept[F_TRY_SIGN] * kept[F_MU] * kept[F_SLOPE + i]
            scatter_block(g.maps_at[VELOCITY], e, S, nd, values)


@kernel
def note_impulses(d, s, smooth):
    """Keep the impulses of the step before the next impact problem: of smooth forces, or as the last one left them."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction != 0:
            for e in range(g.n):
                kept = states_of(g)[e]
                kept[F_DONE] = s.h * kept[F_SMOOTH] if smooth else kept[F_IMPULSE]


@kernel
def begin_sequence(d, s, o):
    """Begin the impact problems of a step."""
    note_impulses(d, s, True)
    if s.cut == STRIKES:
        begin_time(d, s, o)


@kernel
def end_problem(d, s, o):
    """End an impact problem; True if the problems of the step begin again."""
    again = s.cut == STRIKES and s.counts[3] == 1 and end_time(d, s, o)
    note_impulses(d, s, False)
    return again


@kernel
def impact_work(d, s):
    """Work of friction by γ of a step up to the impact problem solved last, but for earlier problems.

        ½ (Λ_F − Λ_F,before) (γ⁻ + γ⁺)   and in the first problem   ½ h (λ~_n + λ~) ½ (γ_n + γ~)

    Of the second term, the friction of the smooth motion, the impulses of the first problem may take back.
    """
    groups = groups_of(d)
    s.friction_row = s.friction_slip = 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept = states_of(g)[e]
            before, after = row_times(g, e, s.Vsminus) + kept[F_GT], row_times(g, e, s.V) + kept[F_GT]
            impulse = kept[F_IMPULSE] - kept[F_DONE]
            s.friction_row += 0.5 * impulse * (before + after)
            s.friction_slip += abs(0.5 * impulse * before)
            if s.counts[3] == 0:
                s.friction_row += 0.25 * s.h * (kept[F_BEGAN] + kept[F_SMOOTH]) * (kept[F_OLD] + before)


@entry("void(int64, int64)")
def friction_part(run, task):
    """What ``task`` says, by the numbers above."""
    s = run_at(run)[0]
    d, o = system_at(s.data_at)[0], own_at(s.own_at)[0]
    s.friction_answer = 0
    if task == FORCES or task == IMPULSES or task == CORRECTION:
        s.friction_row = s.friction_slip = 0.0
        if task == FORCES:
            smooth_forces(d, s, o)
        elif task == IMPULSES:
            impulses(d, s, o)
        else:
            corrections(d, s)
        s.friction_row, s.friction_slip = math.sqrt(s.friction_row), math.sqrt(s.friction_slip)
    elif task == TANGENTS:
        smooth_tangents(d, s, o)
    elif task == SLOPES:
        velocity_tangents(d, s)
    elif task == RIGHT:
        right_sides(d, s, SMOOTH, s.ks)
    elif task == JOINT_RATES:
        right_sides(d, s, VELOCITY, s.kv)
    elif task == MOVE:
        move(d, s, SMOOTH, F_SMOOTH, F_SMOOTH, (s.scale - o.taken) * s.ks)
    elif task == CORRECTION_FIRST:
        first_corrections(d)
    elif task == CORRECTION_BOUNDS:
        s.friction_answer = 1 if next_bounds(d, s) else 0
    elif task == CORRECTION_SLOPES:
        correction_tangents(d, s)
    elif task == CORRECTION_RIGHT:
        right_sides(d, s, s.number, s.kp)
    elif task == CORRECTION_KEEP:
        keep(d, F_CORRECTED_BEFORE, F_CORRECTED)
    elif task == CORRECTION_GO:
        factor = s.scale * s.kp / (s.position_factor * s.h * s.h)
        move(d, s, s.number, F_CORRECTED, F_CORRECTED_BEFORE, factor)
    elif task == KEEP:
        keep(d, F_BEFORE, F_IMPULSE)
    elif task == GO:
        move(d, s, VELOCITY, F_IMPULSE, F_BEFORE, s.scale * s.kv)
    elif task == BEGIN or task == LET_GO:
        begin_step(d, task == LET_GO)
    elif task == FIRST:
        first_impulses(d, s, o)
    elif task == PASSES:
        again = next_pass_of_impact(d, s, o) if in_impact(s) else next_pass(d, s, False)
        s.friction_answer = 1 if again else 0
    elif task == PIECES:
        search_pieces(d, s)
    elif task == END:
        s.friction_answer = 1 if end_step(d, s, o) else 0
    elif task == IMPACT_BEGIN:
        begin_sequence(d, s, o)
    elif task == IMPACT_DONE:
        s.friction_answer = 1 if end_problem(d, s, o) else 0
    elif task == IMPACT_WORK:
        impact_work(d, s)
    elif task == JUMP:
        add_jumps(d, s)
    elif task == REPORT:
        report_step(d, s, o)
    elif task == START:
        start_statuses(d, s)
        s.friction_event = -1.0  # no step has changed anything
        kappas_and_masses(d, s)
    elif task == ACCELERATIONS:
        begin_accelerations(d, s)
    elif task == WITH_ROWS:
        acceleration_tangents(d, s)
    elif task == RIGHT_SIDES:
        acceleration_right(d, s)
    elif task == TAKE:
        take_accelerations(d, s)
    elif task == LAGS:
        lags_right(d, s)
    elif task == JUMPED:
        end_jump(d, s)
    elif task == SPEEDS:
        new_speeds(d, s)
    elif task == RESTARTED:
        last_forces(d)
    elif task == STARTED:
        report_start(d)
    else:
        s.friction_answer = 1 if check_accelerations(d, s) else 0
