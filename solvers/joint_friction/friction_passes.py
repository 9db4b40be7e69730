"""Passes of joint friction in a step: static and sliding coefficient, and what changes within the step.

Each pass is an ordinary problem, (3) of `joint_friction.friction`, with one coefficient per joint:

    stuck before     μ_s; where it slips again with μ_k                                                            (1)
    slid before      μ_k; where it reverses again with μ_s: it sticks, or again with μ_k

Friction that jumps within the step has an impulse of two parts. With φ, the part of the step before the jump,

    reversal     φ = γ_n/(γ_n − γ~) with γ~ of the smooth motion, in which friction is as before;
                 Λ_F = −s (b − 2 φ h |λ~_F|)                                                                      (2)
    stops, and cannot stay      the force that holds it since, (s_n Λ_F/h + μ_k N φ)/(1 − φ), is more than μ_s N:
                                it reverses, as (2)                                                               (3)
    breaks loose                φ = (μ_s N − |λ_n|)/(|λ~| − |λ_n|) ,  Λ_F = −s (½ φ h (|λ_n| + μ_s N) + (1 − φ) b)  (4)

which leaves O(h²) in the velocity instead of O(h): second order needs no step that ends there. Not in impacts of
contacts: when in the step friction changed is then not known. In a split step the time before the touch has (1)-(5),
the impact (1) alone. Several directions pass zero with (5) in the place of (2), where γ~ is at more than 90° to γ_n,

    φ = γ_n·(γ_n − γ~)/|γ_n − γ~|² ,    Λ_F = φ h λ~_F − d (b − φ h |λ~_F|)                                        (5)

φ is where the smooth rate is least; the law with d = −ξ/|ξ| holds for Λ_F − φ h λ~_F. (3) has |Λ_F/h − φ λ~_F|.

Source: docs/theory/joint_friction.md, (7), (8).

    symbol      field of FRICTION           meaning
    φ           event_fraction
    φ h λ~_F    earlier_part                of (5)
    1 − φ, …    bound_share, added_bound    fraction of b that acts; impulse that is added to it. In the impact of a
                                            split step this is what `joint_friction.friction_touch` tries first
"""

import math

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    coefficients_of,
    directions_of,
    friction_groups,
    friction_of,
    row_times,
)  # fmt: skip


@kernel
def two_parts(s, kept, part):
    """Impulse (2) of a joint that slides as before in a part of the step, and then the other way.

    b is of the mean reaction, φ times that of the smooth motion and 1 − φ times that after the jump.
    """
    kept.event_fraction = part
    if kept.excluded != 0.0:  # its smooth motion is without friction
        kept.bound_share = 1.0 - 2.0 * part
    else:
        kept.added_bound = -2.0 * part * s.h * abs(kept.smooth_force)


@kernel
def turns_back(g, e, s, kept, static, sliding):
    """True if a joint that stops in the step cannot stay: the force since then exceeds static friction, (6).

    ``event_fraction`` is then the part of the step in which it slid on.
    """
    rate = row_times(g, e, s.Vs) + kept.given_rate
    if kept.start_rate * rate >= 0.0:
        return False
    part = kept.start_rate / (kept.start_rate - rate)
    hold = kept.sign * kept.impulse / s.h + sliding * kept.normal_force * part
    if hold <= static * kept.normal_force * (1.0 - part) * (1.0 + s.rtol):
        return False
    two_parts(s, kept, part)
    return True


@kernel
def breaks_loose(g, e, s, static):
    """Impulse of a joint that sticks until its load is that of static friction, and slides from then on, (4)."""
    n, before, needed = directions_of(g), 0.0, 0.0
    head = friction_of(g, n * e)
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        before += -kept.trial_sign * kept.force
        needed += -kept.trial_sign * kept.smooth_force
    most = static * head.normal_force
    if head.excluded != 0.0 or before < 0.0 or before >= most or needed <= most * (1.0 - s.rtol):
        return
    part = min((most - before) / (needed - before), 1.0)  # 1 but for rounding where it does just as the step ends
    head.event_fraction, head.bound_share, head.added_bound = part, 1.0 - part, part * s.h * 0.5 * (before + most)


@kernel
def strikes(d, s):
    """True if contacts had an impact in the step: when friction changed its direction is then not known."""
    for c in range(d.nc):
        if s.acted[c] != GAP and s.was_active[c] == 0:
            return True
    return s.impact_problems > 1


@kernel
def turned(g, e):
    """True if element e slides in the other direction than as the step began; of several: by more than 90 degrees."""
    n, along = directions_of(g), 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        along += kept.trial_sign * kept.sign
    return along < 0.0


@kernel
def share_pass(g, e):
    """Give all rows of element e the pass of the first."""
    n = directions_of(g)
    head = friction_of(g, n * e)
    for r in range(n * e + 1, n * e + n):
        kept = friction_of(g, r)
        kept.coefficient, kept.pass_number, kept.prescribed = head.coefficient, head.pass_number, head.prescribed
        kept.trial_status, kept.event_fraction = head.trial_status, head.event_fraction
        kept.bound_share, kept.added_bound = head.bound_share, head.added_bound


@kernel
def part_before(g, e, s):
    """φ of (5), the part of the step in which several directions slide on; 0: they do not reverse."""
    n, along, change, squares = directions_of(g), 0.0, 0.0, 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        rate = row_times(g, r, s.Vs) + kept.given_rate
        along += kept.start_rate * rate
        change += kept.start_rate * (kept.start_rate - rate)
        squares += (kept.start_rate - rate) ** 2
    if not along < 0.0 or friction_of(g, n * e).excluded != 0.0:
        return 0.0
    return change / squares


@kernel
def reverse(g, e, s, mu, part):
    """Friction (5) of several directions that slide as before in a part of the step, and then in another direction."""
    n, squares = directions_of(g), 0.0
    head = friction_of(g, n * e)
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        squares += kept.smooth_force**2
        kept.earlier_part = part * s.h * kept.smooth_force
        if kept.trial_status != SLIP:
            kept.trial_sign = -kept.sign
    head.event_fraction, head.added_bound = part, -part * s.h * math.sqrt(squares)
    head.coefficient, head.pass_number, head.prescribed, head.trial_status = mu.sliding, 2.0, 1.0, SLIP


@kernel
def exceeds_static(g, e, s, static, part):
    """True if several directions that stop in the step cannot stay, as (3)."""
    n, squares = directions_of(g), 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        squares += (kept.impulse / s.h - part * kept.smooth_force) ** 2
    most = static * friction_of(g, n * e).normal_force * (1.0 - part)
    return math.sqrt(squares) > most * (1.0 + s.rtol)


@kernel
def next_pass_of_several(g, e, s, mu, struck):
    """True if element e of several directions has another coefficient in the next pass, (1), (4), (5)."""
    kept = friction_of(g, directions_of(g) * e)
    slid, part = kept.start_status == SLIP, 0.0 if struck else part_before(g, e, s)
    if kept.trial_status != SLIP:
        if not slid or part == 0.0 or not exceeds_static(g, e, s, mu.static, part):
            return False
        reverse(g, e, s, mu, part)
    elif slid and not turned(g, e):
        return False
    elif slid and kept.pass_number == 0.0 and mu.static > mu.sliding:
        kept.coefficient, kept.pass_number = mu.static, 1.0
    elif slid and part > 0.0:
        reverse(g, e, s, mu, part)
    elif slid and kept.pass_number == 0.0:
        return False
    else:
        kept.coefficient, kept.pass_number = mu.sliding, 2.0
        if not slid and not struck:
            breaks_loose(g, e, s, mu.static)
    share_pass(g, e)
    return True


@kernel
def next_pass_of_one(g, e, s, mu, struck):
    """True if element e of one direction has another coefficient in the next pass, (1)-(4)."""
    kept = friction_of(g, e)
    if kept.trial_status != SLIP:
        if kept.start_status != SLIP or struck or not turns_back(g, e, s, kept, mu.static, mu.sliding):
            return False
        kept.coefficient, kept.pass_number, kept.prescribed = mu.sliding, 2.0, 1.0
        kept.trial_status, kept.trial_sign = SLIP, -kept.sign
        return True
    reverses = kept.start_status == SLIP and turned(g, e)
    if reverses and kept.pass_number == 0.0 and mu.static > mu.sliding:
        kept.coefficient, kept.pass_number = mu.static, 1.0
    elif reverses:
        rate = row_times(g, e, s.V if kept.excluded != 0.0 else s.Vs) + kept.given_rate
        kept.coefficient, kept.pass_number, kept.prescribed = mu.sliding, 2.0, 1.0
        if kept.start_rate * rate < 0.0 and not struck:
            two_parts(s, kept, kept.start_rate / (kept.start_rate - rate))
    elif kept.start_status == STICK:
        kept.coefficient, kept.pass_number = mu.sliding, 2.0
        if not struck:
            breaks_loose(g, e, s, mu.static)
    else:
        return False
    return True


@kernel
def next_pass(d, s, impact):
    """Coefficients of the next pass, (1), and friction where sliding has reversed, (2); True when one has changed.

    ``impact``: of the impact of a split step, which lasts no time.
    """
    again, struck = False, impact or strikes(d, s)
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            kept, mu = friction_of(g, n * e), coefficients_of(g, n * e)
            if impact and kept.added_bound > 0.0 and kept.trial_status == SLIP:
                kept.added_bound, again = 0.0, True
                share_pass(g, e)
                continue
            if kept.pass_number == 2.0 or (impact and mu.static == mu.sliding):
                continue
            if n > 1:
                again = next_pass_of_several(g, e, s, mu, struck) or again
            else:
                again = next_pass_of_one(g, e, s, mu, struck) or again
    return again
