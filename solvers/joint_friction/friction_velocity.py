"""Joint friction in velocity problems: rows, tangents and first guess of its impulses.

    b = μ N_h(h λ~ + Λ) ,  ξ = Λ_F − p γ ,  Λ_F the total impulse of the step, force G_F(q)ᵀ Λ_F                    (1)
    |ξ| < b  stick  γ = 0      else  s = −sign ξ ,  Λ_F + s b = 0

the law of a contact (`contact.law`, (2)) with N_h of the impulses of the joint in the place of the normal impulse, and
one direction. With several directions Λ_F, γ and ξ are vectors, p is one number, and d = −ξ/|ξ| has the place of s:

    |ξ| < b  stick  γ = 0      else  Λ_F + b d = 0 ,      δd = −(1/|ξ|) (I − d dᵀ) δξ                               (2)

Symbols: `joint_friction.friction`.

Source: docs/theory/joint_friction.md, (1), (6).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix
from fem_mbs.solvers.joint_friction.friction_position import add_norms
from fem_mbs.solvers.joint_friction.friction_touch import added_in_impact, begin_split, impulse_bound, past_impulse
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.solvers.stepping.kernels.friction_tasks import GO, IMPACT_WORK, IMPULSES, JOINT_RATES, KEEP, SLOPES
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    add_row,
    add_turns,
    clear_block,
    coefficient_at,
    coefficients_of,
    directions_of,
    evaluate_row,
    friction_groups,
    friction_of,
    gradients_of,
    length_of,
    row_times,
    rows_in,
    rows_of,
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
        for r in range(rows_of(g)):
            right[g.first_friction + r] = k * friction_of(g, r).residual


@kernel
def keep_impulses(d):
    """Keep the impulses with which a search along a Newton step begins."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.impulse_before = kept.impulse


@kernel
def move_impulses(d, at, factor):
    """Set the impulses to those kept plus factor times the Newton step at an address."""
    step = rows_in(d, VELOCITY, at)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.impulse = kept.impulse_before + factor * step[g.first_friction + r]


@kernel
def begin_step(d, let_go):
    """Statuses as the step begins; with ``let_go`` friction that is not settled leaves its smooth sub-problem instead.

    Within a step that is all of it.
    """
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
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
        for r in range(rows_of(g)):
            kept, mu = friction_of(g, r), coefficients_of(g, r)
            evaluate_row(d, g, r, b, s.x, s.R, s.Vs)
            kept.impulse, kept.prescribed, kept.pass_number = s.h * kept.smooth_force, 0.0, 0.0
            kept.event_fraction, kept.bound_share, kept.added_bound, kept.earlier_part = 0.0, 1.0, 0.0, 0.0
            kept.coefficient = coefficient_at(mu, kept.start_status)
            kept.trial_status, kept.trial_sign = kept.start_status, kept.sign
            if s.cut == STRIKES:
                begin_split(kept)


@kernel
def set_statuses(s, g, e, bound):
    """Status and direction of sliding of element e by (1) or (2); ``bound``: b without what a split step adds."""
    n, squares = directions_of(g), 0.0
    head = friction_of(g, n * e)
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.residual = kept.impulse - past_impulse(s, kept) - kept.effective_mass * kept.trial_rate
        squares += kept.residual**2
    size, status = length_of(n, squares, head.residual), head.trial_status
    if head.prescribed == 0.0:
        status = STICK if size < bound + added_in_impact(s, head) else SLIP
    turns = status == SLIP and size > 0.0 and (head.prescribed == 0.0 or n > 1)
    held = head.bound_share * bound + head.added_bound
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.trial_status = status
        if turns:
            kept.trial_sign = -kept.residual / size
        kept.turning = min(held / size, 1.0) if turns and n > 1 and head.prescribed >= 0.0 else 0.0


@kernel
def number_of(g, e, pressed):
    """Number of the status of an element, for the search for statuses that do not change."""
    head = friction_of(g, directions_of(g) * e)
    number = int(head.trial_status) + pressed
    return number + int(head.trial_sign) if directions_of(g) == 1 else number


@kernel
def impulses(d, s, anew):
    """Subtract impulses of (1) from r1, evaluate rows and statuses; ``anew``: gradients too, where positions change."""
    b, number = integers(d.table_at, N_SLOTS), 0
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                if anew:
                    kept.trial_rate = evaluate_row(d, g, r, b, s.x, s.R, s.V)
                else:
                    kept.trial_rate = row_times(g, r, s.V) + kept.given_rate
            if not anew:
                gather_motion(d, g, e, b, s.x, s.R, s.V)
            bound = friction_of(g, n * e).coefficient * impulse_bound(d, s, g, e, b)
            set_statuses(s, g, e, bound)
            pressed = 4 if bound > 0.0 else 0  # an impact begins without reactions, and its bound without a slope
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                held = kept.bound_share * bound + kept.added_bound
                sticks = kept.trial_status == STICK
                if kept.prescribed < 0.0:
                    held = 0.0  # without friction
                impulse = kept.impulse - past_impulse(s, kept)
                missing = (impulse + kept.trial_sign * held) / kept.effective_mass
                kept.residual = kept.trial_rate if sticks else missing
                add_row(g, r, -kept.impulse, s.r1)
                add_norms(s, kept, sticks)
            number = (11 * number + number_of(g, e, pressed)) % 1000003
    s.friction_status = number


@kernel
def velocity_tangents(d, s):
    """Add the blocks of (1) and (2) to the matrix of the velocity problem."""
    b, values, kv = integers(d.table_at, N_SLOTS), matrix_values(d, VELOCITY), s.kv
    for g in friction_groups(d):
        nd, n, stored = g.nd, directions_of(g), gradients_of(g)
        size = nd + n + g.nr
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            clear_block(S, nd, n)
            for k in range(n):
                r, row = n * e + k, nd + k
                kept = friction_of(g, r)
                for i in range(nd):
                    S[i, row] -= kv * stored[r, i]
                    if kept.trial_status == STICK:
                        S[row, i] -= kv * stored[r, i]
                if kept.trial_status == STICK:
                    S[row, row] -= s.epsilon * kv / kept.arm**2
                    continue
                weight = kv * kv / kept.effective_mass
                S[row, row] -= weight
                add_turns(S, g, e, k, weight, kv, False)
                weight *= kept.bound_share if kept.prescribed >= 0.0 else 0.0
                for i in range(g.nr):
                    S[row, nd + n + i] -= weight * kept.trial_sign * kept.coefficient * kept.slope[i]
            scatter_block(g.maps_at[VELOCITY], e, S, nd, n, values)


@kernel
def impact_work(d, s):
    """Work of friction by γ of a step up to the impact problem solved last, but for earlier problems.

        ½ (Λ_F − Λ_F,before) (γ⁻ + γ⁺)   and in the first problem   ½ h (λ~_n + λ~) ½ (γ_n + γ~)

    Of the second term, the friction of the smooth motion, the impulses of the first problem may take back.
    """
    s.friction_work = s.friction_work_size = 0.0
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            before, after = row_times(g, r, s.Vsminus) + kept.given_rate, row_times(g, r, s.V) + kept.given_rate
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
