"""What joint friction leaves at the end of a step: statuses, whether a joint jammed, forces and work.

Friction at the end of a step is Λ_F/h, but where something changed in the step: then that of consistent accelerations,
with which the memory of the method starts again. Its work is the trapezoidal rule,

    work = ½ h (γ_n + γ_n+1) (½ λ_n + ½ λ_n+1) ,  φ λ_n + (1 − φ) λ_n+1 where another joint has changed after φ h   (1)

and the rate of the joint that changed is linear in each of its two parts. In a step with an impact it is that of Λ_F.
The energy balance (`stepping.monitors.ledger`) has what the *scheme* takes instead: its smooth motion turns γ_n into
γ~ by the forces λ~ of both ends, its correction turns γ~ into γ_n+1 by an impulse,

    W = ½ h (λ~_n + λ~) ½ (γ_n + γ~) + (Λ_F − h λ~) ½ (γ~ + γ_n+1)                                                  (2)

and the surface gives the same with −γ_t in place of γ. Where a contact stays closed its impulse and the correction of
positions are part of the motion from γ_n to γ_n+1, not an impact after γ~: γ~ is then the rate that the way of the step
ξ_n+1 − ξ_n = ½ h (γ_n + γ~) gives, and a joint that a stop holds does no work.

In a split step the second term ends at the touch, with γ⁻ in place of γ_n+1 and Λ_F⁻ in place of Λ_F, and the impact
gives (Λ_F − Λ_F⁻) ½ (γ⁻ + γ_n+1), see `joint_friction.friction_touch`. (1) too has Λ_F⁻ and γ⁻ up to the touch.
Statuses after the impact are those of velocities, as after a jump; friction at the end is that of consistent
accelerations, but where a joint sticks and a contact acts that these leave out: then it is that before the touch.

The course of the impulses of an impact is not known, and Newton's law may let friction that turns its joint round work
with it, W > 0. Dry friction takes energy or does nothing: in a step with an impact W ≤ 0 is kept, and what is above it
is booked where it comes from, with the contacts that were struck (`stepping.monitors.ledger`).

(1) is nearer to the motion where sliding reverses within a step, (2) is what the velocities of the scheme have lost.
They differ by O(h²).

Source: docs/theory/joint_friction.md, (10), (13).
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.joint_friction.friction_pieces import kappas_and_masses, kappas_wanted
from fem_mbs.solvers.joint_friction.friction_start import AT_REST, knows_forces
from fem_mbs.solvers.joint_friction.friction_touch import back_to_touch, in_impact, past_impulse
from fem_mbs.solvers.stepping.monitors.external_work import mean_velocities
from fem_mbs.system.friction import (
    F_ARM,
    F_BEGAN,
    F_BEGAN_GT,
    F_BOUND,
    F_FORCE,
    F_GIVEN,
    F_GT,
    F_IMPULSE,
    F_JAM,
    F_KAPPA,
    F_LAST,
    F_N,
    F_OLD,
    F_PART,
    F_RATE,
    F_SIGN,
    F_SMOOTH,
    F_START,
    F_STATUS,
    F_TAKEN,
    F_TRY,
    F_TRY_SIGN,
    F_WORK,
    SLIP,
    STICK,
    coefficients_of,
    row_times,
    states_of,
)  # fmt: skip
from fem_mbs.system.records import groups_of


@kernel
def reverses(kept):
    """Whether a joint slides the other way than at the start of the step."""
    return kept[F_TRY] == SLIP and kept[F_START] == SLIP and kept[F_TRY_SIGN] != kept[F_SIGN]


@kernel
def stays_closed(d, s):
    """True if contacts act in the step by corrections of its smooth motion, without an impact.

    With persistent contacts these are the ones that the smooth motion leaves out, as in the steps after an impact.
    """
    if s.struck != 0:
        return False
    for c in range(d.nc):
        if s.was_active[c] != 0 and (s.persistent == 0 or s.closed[c] == GAP):
            return True
    return False


@kernel
def impact_of_split(s, kept, o, j):
    """Work of the friction of row j by γ in the impact of a split step [J]; 0 in other steps."""
    if not in_impact(s):
        return 0.0
    return 0.5 * (kept[F_IMPULSE] - o.touch_impulse[j]) * (o.touch_rate[j] + kept[F_RATE])


@kernel
def end_of_time(s, kept, o, j):
    """Impulse and rate of row j at the end of the step, of a split step at the touch."""
    if in_impact(s):
        return o.touch_impulse[j], o.touch_rate[j]
    return kept[F_IMPULSE], kept[F_RATE]


@kernel
def ended(s, kept):
    """Status at the end of the step."""
    if not in_impact(s):
        return kept[F_TRY]
    return STICK if kept[F_ARM] * abs(kept[F_RATE]) <= AT_REST * s.tol_v else SLIP


@kernel
def book(g, e, s, o, kept, corrected):
    """(2), for the energy balance; ``corrected``: γ~ by the way of the step, whose mean velocities s.trial has.

    Without the work of the impact of a split step.
    """
    rate, lasting = row_times(g, e, s.Vs) + kept[F_GT], 0.5 * s.h * (kept[F_BEGAN] + kept[F_SMOOTH])
    if corrected:
        rate = 2.0 * row_times(g, e, s.trial) + kept[F_BEGAN_GT] + kept[F_GT] - kept[F_OLD]
    total, end = end_of_time(s, kept, o, g.first_friction + e)
    kept[F_TAKEN] = lasting * 0.5 * (kept[F_OLD] + rate) + (total - s.h * kept[F_SMOOTH]) * 0.5 * (rate + end)
    impulse = kept[F_IMPULSE] - s.h * kept[F_SMOOTH]
    kept[F_GIVEN] = -lasting * 0.5 * (kept[F_BEGAN_GT] + kept[F_GT]) - impulse * kept[F_GT]


@kernel
def contacts_struck(d, s):
    """True if a contact had an impact in the step."""
    for c in range(d.nc if s.struck != 0 else 0):
        if s.impact[c] != 0:
            return True
    return False


@kernel
def end_step(d, s, o):
    """Statuses that the step has brought; True when the memory of the method has to start again.

    ``s.friction_event``: part of the step after which a joint changed, −1: none did.
    """
    groups, changed, stopped = groups_of(d), False, False
    s.friction_event, s.given_back = -1.0, 0.0
    struck, split = contacts_struck(d, s), in_impact(s)
    corrected = s.ledger_part != 0 and stays_closed(d, s)
    if corrected:
        mean_velocities(d, s)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept, j = states_of(g)[e], g.first_friction + e
            kept[F_RATE] = row_times(g, e, s.V) + kept[F_GT]
            if split:
                back_to_touch(kept, o, j)
                stopped = stopped or (kept[F_START] == SLIP and ended(s, kept) == STICK)
            if s.ledger_part != 0:
                book(g, e, s, o, kept, corrected)
                impact = impact_of_split(s, kept, o, j)
                most = impact if split else kept[F_TAKEN]
                kept[F_TAKEN] += impact
                if struck and most > 0.0:
                    s.given_back, kept[F_TAKEN] = s.given_back + most, kept[F_TAKEN] - most
            stops = kept[F_TRY] == STICK and kept[F_START] == SLIP
            if stops or kept[F_TRY] != kept[F_START] or reverses(kept):
                stopped, changed = stopped or stops, True
                rate = row_times(g, e, s.Vs) + kept[F_GT]
                if stops and kept[F_OLD] * rate < 0.0:
                    kept[F_PART] = kept[F_OLD] / (kept[F_OLD] - rate)
                s.friction_event = max(s.friction_event, kept[F_PART])
    if stopped or kappas_wanted(d):
        kappas_and_masses(d, s)
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept, status = states_of(g)[e], ended(s, states_of(g)[e])
            if status == STICK and kept[F_START] == SLIP and kept[F_KAPPA] >= 1.0:
                kept[F_JAM] = 1.0
                if s.jammed == 0:
                    s.jam_row, s.jam_time = g.first_friction + e, s.t
                    impulse = kept[F_IMPULSE] - past_impulse(s, o, g.first_friction + e)
                    s.jam_kappa, s.jam_impulse = kept[F_KAPPA], abs(impulse)
                s.jammed += 1
                s.struck = 1
            mu = coefficients_of(g)[e, 0 if status == STICK else 1]
            kept[F_STATUS], kept[F_BOUND] = status, mu * kept[F_N]
            if status == SLIP:
                kept[F_SIGN] = kept[F_TRY_SIGN]
                if split:
                    kept[F_SIGN] = -1.0 if kept[F_RATE] < 0.0 else 1.0
    return changed


@kernel
def way_of(s, kept, new):
    """Way of a joint in a step to the rate ``new``, with its sign; of one that changed in it that in which it slid as
    it does last."""
    old, part = kept[F_OLD], kept[F_PART]
    if part == 0.0:
        return 0.5 * s.h * (old + new)
    return 0.5 * s.h * (part * old if kept[F_TRY] == STICK else (1.0 - part) * new)


@kernel
def report_step(d, s, o):
    """Forces and work of the step; where something has changed, after the memory of the method has started again."""
    groups, event, known = groups_of(d), s.friction_event, knows_forces(d, s)
    struck, split = contacts_struck(d, s), in_impact(s)
    single = s.struck != 0 and not split  # friction and impact of the step are one
    for a in range(d.n_groups):
        g = groups[a]
        if g.friction == 0:
            continue
        mu = coefficients_of(g)
        for e in range(g.n):
            kept = states_of(g)[e]
            impulse, rate = end_of_time(s, kept, o, g.first_friction + e)
            force = impulse / s.h
            if split and kept[F_TRY] == SLIP:
                kept[F_PART] = 0.0
            if event >= 0.0 and s.struck == 0 and known:
                force = kept[F_SMOOTH]
            way, before, part = way_of(s, kept, rate), kept[F_LAST], event if event > 0.0 else 0.5
            mean = force if single or kept[F_OLD] * before > 0.0 else part * before + (1.0 - part) * force
            if kept[F_PART] > 0.0 and not single:
                mean = before if kept[F_TRY] == STICK else force
                if kept[F_START] == SLIP and kept[F_TRY] == SLIP:  # the way before it reversed
                    kept[F_WORK] -= 0.5 * s.h * kept[F_PART] * kept[F_OLD] * before
            kept[F_WORK] -= min(mean * way, 0.0) if struck and not split else mean * way
            kept[F_WORK] -= min(impact_of_split(s, kept, o, g.first_friction + e), 0.0)
            jumped = split and (known or kept[F_STATUS] == SLIP)
            if jumped:
                force = kept[F_SMOOTH]
            kept[F_FORCE] = kept[F_LAST] = force
            if jumped or (event >= 0.0 and s.struck == 0 and known):
                kept[F_BOUND] = (mu[e, 0] if kept[F_STATUS] == STICK else mu[e, 1]) * kept[F_N]
