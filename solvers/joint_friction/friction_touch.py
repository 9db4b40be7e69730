"""Joint friction in a split step: up to the touch by its bound there, in the impact by what the impact itself gives.

The first velocity problem of a step that ends at a touch is the time h₁ before it, the problems after it are the
impact. With Λ_F and Λ as the first problem leaves them, Λ_F⁻ and Λ⁻, the row (3) of `joint_friction.friction` is there

    b = μ ( N(Λ − Λ⁻) − N(0) ) ,   ξ = (Λ_F − Λ_F⁻) − p γ ,      slip  Λ_F − Λ_F⁻ + s b = 0                          (1)

An impact has no duration: a preload, a normal force that acts over time alone, gives it no friction. The same bound
holds in a jump of velocities between two steps (h = 0). A joint that stuck, and that its friction would stop again
within a step H of the user, is beyond what steps resolve, and stays: it is tried with b + μ_s H N, N that at the
touch, and again with (1) where it slips. Statuses and coefficients of the impact begin with those at the touch; passes
of the time before the touch are over before the impact is solved.

Source: docs/theory/split_impacts.md, "The step".

    symbol       field of FRICTION        meaning
    Λ_F⁻         touch_impulse            [N s, N m s]; Λ⁻ is s.touch_Lam, divided by k_v
    γ⁻           touch_rate               rate at the touch
                 before_touch, at_touch   problem of the time before the touch, and of the impact, as the pass begins
    μ_s H N      added_bound              in the impact
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.joint_friction.friction_passes import next_pass
from fem_mbs.solvers.stepping.kernels.arrays import copy1
from fem_mbs.solvers.stepping.kernels.codes import STRIKES
from fem_mbs.system.friction import (
    FREE,
    SLIP,
    STICK,
    coefficient_at,
    coefficients_of,
    directions_of,
    evaluate_bound,
    friction_groups,
    friction_of,
    row_times,
    rows_of,
)


@kernel
def in_impact(s):
    """True in the impact of a split step, after the time before the touch."""
    return s.h > 0.0 and s.cut == STRIKES and s.impact_problems > 0


@kernel
def past_impulse(s, kept):
    """Friction impulse of a row that is not of the law: before the impact, or before sliding reversed [N s, N m s]."""
    return kept.touch_impulse if in_impact(s) else kept.earlier_part


@kernel
def bound_of_impulses(d, s, g, e, b, one, scale, more, more_scale):
    """b over μ for the impulses scale one + more_scale more (m,), its slope kept: h N, or that of (1)."""
    n, impact = directions_of(g), in_impact(s)
    if s.h > 0.0 and not impact:
        return s.h * evaluate_bound(d, g, e, b, one, scale / s.h, more, more_scale / s.h)
    lasting = friction_of(g, n * e).normal_force
    given = evaluate_bound(d, g, e, b, one, 0.0, more, 0.0)
    bound = evaluate_bound(d, g, e, b, one, scale, more, more_scale) - given
    if impact:
        for r in range(n * e, n * e + n):
            friction_of(g, r).normal_force = lasting
    return bound


@kernel
def impulse_bound(d, s, g, e, b):
    """Bound of the friction impulse of the problem that is solved, over μ."""
    if in_impact(s):
        return bound_of_impulses(d, s, g, e, b, s.Lam, s.kv, s.touch_Lam, -s.kv)
    return bound_of_impulses(d, s, g, e, b, s.lam, s.h * s.ks, s.Lam, s.kv)


@kernel
def added_in_impact(s, kept):
    """Impulse that is added to the bound of a joint that stuck as the impact began [N s, N m s]; 0 before an impact."""
    return kept.added_bound if in_impact(s) else 0.0


@kernel
def copy_problem(source, target):
    """Copy the fields `PROBLEM` of one record to another."""
    target.start_status, target.sign = source.start_status, source.sign
    target.event_fraction = source.event_fraction
    target.coefficient, target.pass_number = source.coefficient, source.pass_number
    target.bound_share, target.added_bound = source.bound_share, source.added_bound
    target.earlier_part = source.earlier_part
    target.prescribed = source.prescribed
    target.trial_status, target.trial_sign = source.trial_status, source.trial_sign


@kernel
def begin_split(kept):
    """Begin the problems of a split step: nothing is known of its impact."""
    copy_problem(kept, kept.before_touch)
    kept.touch_impulse, kept.at_touch.start_status = kept.impulse, FREE


@kernel
def begin_time(d):
    """Begin the sequence of problems with the time before the touch."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            copy_problem(kept.before_touch, kept)
            kept.impulse = kept.touch_impulse


@kernel
def begin_impact(kept, mu, o, several):
    """Statuses and coefficient with which the impact begins: those at the touch, or of its last pass.

    ``several``: the row is one of several, which turn in every pass.
    """
    status, sign = kept.trial_status, kept.trial_sign if kept.trial_status == SLIP else kept.sign
    if kept.at_touch.start_status == status and (several or kept.at_touch.sign == sign):
        copy_problem(kept.at_touch, kept)
        return
    kept.start_status, kept.sign, kept.trial_sign = status, sign, sign
    kept.coefficient = coefficient_at(mu, status)
    kept.event_fraction, kept.pass_number, kept.prescribed, kept.bound_share = 0.0, 0.0, 0.0, 1.0
    kept.earlier_part = 0.0
    kept.added_bound = mu.static * o.whole * kept.normal_force if status == STICK else 0.0
    copy_problem(kept, kept.at_touch)


@kernel
def end_time(d, s, o):
    """End the time before the touch; True if a pass follows, with which the sequence begins again."""
    again = next_pass(d, s, False)
    if not again:
        copy1(s.Lam, s.touch_Lam)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.touch_impulse = kept.impulse
            if again:
                copy_problem(kept, kept.before_touch)
            else:
                kept.touch_rate = row_times(g, r, s.V) + kept.given_rate
                begin_impact(kept, coefficients_of(g, r), o, directions_of(g) > 1)
    return again


@kernel
def next_pass_of_impact(d, s):
    """Coefficients of the next pass of the impact; True when one has changed."""
    again = next_pass(d, s, True)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            copy_problem(kept, kept.at_touch)
    return again


@kernel
def back_to_touch(kept):
    """Statuses of the time before the touch, as it began and as it ended."""
    kept.trial_status, kept.trial_sign = kept.start_status, kept.sign
    kept.start_status, kept.sign = kept.before_touch.start_status, kept.before_touch.sign
    kept.event_fraction = kept.before_touch.event_fraction


@kernel
def impulse_before(s, kept):
    """Impulse before the problem that is solved: first guess of what is solved anew."""
    return kept.earlier_impulse if in_impact(s) else 0.0
