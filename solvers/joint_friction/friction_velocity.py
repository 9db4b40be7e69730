"""Joint friction in velocity problems: rows, tangents and first guess of its impulses.

    b = μ N_h(h λ~ + Λ) ,  ξ = Λ_F − p γ ,  Λ_F the total impulse of the step, force G_F(q)ᵀ Λ_F                    (1)
    |ξ| < b  stick  γ = 0      else  s = −sign ξ ,  Λ_F + s b = 0

the law of a contact (`contact.law`, (2)) with N_h of the impulses of the joint in the place of the normal impulse, and
one direction. Symbols: `joint_friction.friction`.

Source: docs/theory/joint_friction.md, (1), (6).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, tensor
from fem_mbs.solvers.joint_friction.friction_position import add_norms
from fem_mbs.solvers.joint_friction.friction_touch import added_in_impact, begin_split, impulse_bound, past_impulse
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.solvers.stepping.kernels.friction_tasks import GO, IMPACT_WORK, IMPULSES, JOINT_RATES, KEEP, SLOPES
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficient_at,
    coefficients_of,
    evaluate_row,
    friction_groups,
    friction_of,
    row_times,
    rows_in,
    scatter_block,
)
from fem_mbs.system.gather import gather_motion
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY

_KK = SLOT["K"]


@kernel
def right_sides(d, layout, at, k):
    """Set the rows of friction in a vector at an address to k times their residuals."""
    right = rows_in(d, layout, at)
    for g in friction_groups(d):
        for e in range(g.n):
            right[g.first_friction + e] = k * friction_of(g, e).residual


@kernel
def keep_impulses(d):
    """Keep the impulses with which a search along a Newton step begins."""
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.impulse_before = kept.impulse


@kernel
def move_impulses(d, at, factor):
    """Set the impulses to those kept plus factor times the Newton step at an address."""
    step = rows_in(d, VELOCITY, at)
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.impulse = kept.impulse_before + factor * step[g.first_friction + e]


@kernel
def begin_step(d, let_go):
    """Statuses as the step begins; with ``let_go`` friction that is not settled leaves its smooth sub-problem instead.

    Within a step that is all of it.
    """
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            if let_go and kept.unsettled != 0.0:
                kept.excluded, kept.smooth_force = 1.0, 0.0
            elif not let_go:
                kept.excluded, kept.unsettled = 0.0, 1.0
                kept.start_status, kept.start_rate, kept.jammed = kept.status, kept.rate, 0.0
                kept.start_smooth_force, kept.start_given_rate = kept.smooth_force, kept.given_rate


@kernel
def first_impulses(d, s):
    """Rows at the end of the step, impulses of the smooth forces as a first guess, coefficients of the first pass."""
    b = integers(d.table_at, N_SLOTS)
    for g in friction_groups(d):
        for e in range(g.n):
            kept, mu = friction_of(g, e), coefficients_of(g, e)
            evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
            kept.impulse, kept.prescribed, kept.pass_number = s.h * kept.smooth_force, 0.0, 0.0
            kept.event_fraction, kept.bound_share, kept.added_bound = 0.0, 1.0, 0.0
            kept.coefficient = coefficient_at(mu, kept.start_status)
            kept.trial_status, kept.trial_sign = kept.start_status, kept.sign
            if s.cut == STRIKES:
                begin_split(kept)


@kernel
def impulses(d, s, anew):
    """Subtract impulses of (1) from r1, evaluate rows and statuses; ``anew``: gradients too, where positions change."""
    b, number = integers(d.table_at, N_SLOTS), 0
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            if anew:
                rate = evaluate_row(d, g, e, b, s.x, s.R, s.V)
            else:
                gather_motion(d, g, e, b, s.x, s.R, s.V)
                rate = row_times(g, e, s.V) + kept.given_rate
            bound = kept.coefficient * impulse_bound(d, s, g, e, b)
            impulse = kept.impulse - past_impulse(s, kept)
            if kept.prescribed == 0.0:
                xi = impulse - kept.effective_mass * rate
                kept.trial_status = STICK if abs(xi) < bound + added_in_impact(s, kept) else SLIP
                if kept.trial_status == SLIP and xi != 0.0:
                    kept.trial_sign = -1.0 if xi > 0.0 else 1.0
            pressed = 4 if bound > 0.0 else 0  # an impact begins without reactions, and its bound without a slope
            bound = kept.bound_share * bound + kept.added_bound
            sticks = kept.trial_status == STICK
            if kept.prescribed < 0.0:
                bound = 0.0  # without friction
            kept.residual = rate if sticks else (impulse + kept.trial_sign * bound) / kept.effective_mass
            add_row(g, e, -kept.impulse, s.r1)
            add_norms(s, kept, sticks)
            number = (11 * number + int(kept.trial_status) + int(kept.trial_sign) + pressed) % 1000003
    s.friction_status = number


@kernel
def velocity_tangents(d, s):
    """Add the blocks of (1) to the matrix of the velocity problem."""
    b, values, kv = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY), s.kv
    for g in friction_groups(d):
        nd, size, stored = g.nd, g.nd + 1 + g.nr, tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            kept = friction_of(g, e)
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= kv * stored[e, 0, i]
                if kept.trial_status == STICK:
                    S[nd, i] -= kv * stored[e, 0, i]
            if kept.trial_status == STICK:
                S[nd, nd] -= s.epsilon * kv / kept.arm**2
            else:
                weight = kv * kv / kept.effective_mass
                S[nd, nd] -= weight
                weight *= kept.bound_share if kept.prescribed >= 0.0 else 0.0
                for i in range(g.nr):
                    S[nd, nd + 1 + i] -= weight * kept.trial_sign * kept.coefficient * kept.slope[i]
            scatter_block(g.maps_at[VELOCITY], e, S, nd, values)


@kernel
def impact_work(d, s):
    """Work of friction by γ of a step up to the impact problem solved last, but for earlier problems.

        ½ (Λ_F − Λ_F,before) (γ⁻ + γ⁺)   and in the first problem   ½ h (λ~_n + λ~) ½ (γ_n + γ~)

    Of the second term, the friction of the smooth motion, the impulses of the first problem may take back.
    """
    s.friction_work = s.friction_work_size = 0.0
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            before, after = row_times(g, e, s.Vsminus) + kept.given_rate, row_times(g, e, s.V) + kept.given_rate
            impulse = kept.impulse - kept.earlier_impulse
            s.friction_work += 0.5 * impulse * (before + after)
            s.friction_work_size += abs(0.5 * impulse * before)
            if s.impact_problems == 0:
                lasting = kept.start_smooth_force + kept.smooth_force
                s.friction_work += 0.25 * s.h * lasting * (kept.start_rate + before)


@kernel
def norms(s):
    """Norms of rows from the sums of their squares."""
    s.friction_row, s.friction_slip = math.sqrt(s.friction_row), math.sqrt(s.friction_slip)


@kernel
def perform_velocity(d, s, task, at, anew):
    """Perform a task that is the same in the velocity problems of all methods; True if it was one.

    ``at``: address of the unknowns of velocities in dx; ``anew`` as in `impulses`.
    """
    if task == IMPULSES:
        s.friction_row = s.friction_slip = 0.0
        impulses(d, s, anew)
        norms(s)
    elif task == SLOPES:
        velocity_tangents(d, s)
    elif task == JOINT_RATES:
        right_sides(d, VELOCITY, at, s.kv)
    elif task == KEEP:
        keep_impulses(d)
    elif task == GO:
        move_impulses(d, at, s.scale * s.kv)
    elif task == IMPACT_WORK:
        impact_work(d, s)
    else:
        return False
    return True
