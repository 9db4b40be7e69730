"""Joint friction at the end of a step: statuses, whether a joint jammed, forces and work.

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
is counted where it comes from, with the contacts that had an impact (`stepping.monitors.ledger`).

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
    SLIP,
    STICK,
    coefficient_at,
    coefficients_of,
    friction_groups,
    friction_of,
    row_times,
)  # fmt: skip


@kernel
def reverses(kept):
    """True if a joint slides in the other direction than at the start of the step."""
    return kept.trial_status == SLIP and kept.start_status == SLIP and kept.trial_sign != kept.sign


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
def impact_of_split(s, kept):
    """Work of the friction of a row by γ in the impact of a split step [J]; 0 in other steps."""
    if not in_impact(s):
        return 0.0
    return 0.5 * (kept.impulse - kept.touch_impulse) * (kept.touch_rate + kept.rate)


@kernel
def end_of_time(s, kept):
    """Impulse and rate of a row at the end of the step, of a split step at the touch."""
    if in_impact(s):
        return kept.touch_impulse, kept.touch_rate
    return kept.impulse, kept.rate


@kernel
def end_status(s, kept):
    """Status at the end of the step."""
    if not in_impact(s):
        return kept.trial_status
    return STICK if kept.arm * abs(kept.rate) <= AT_REST * s.tol_v else SLIP


@kernel
def works_of_step(g, e, s, kept, corrected):
    """Set the works (2) of the energy balance, without the work of the impact of a split step.

    With ``corrected`` γ~ is by the displacement of the step, whose mean velocities are in s.trial.
    """
    rate, lasting = row_times(g, e, s.Vs) + kept.given_rate, 0.5 * s.h * (kept.start_smooth_force + kept.smooth_force)
    if corrected:
        rate = 2.0 * row_times(g, e, s.trial) + kept.start_given_rate + kept.given_rate - kept.start_rate
    total, end = end_of_time(s, kept)
    kept.step_work = lasting * 0.5 * (kept.start_rate + rate) + (total - s.h * kept.smooth_force) * 0.5 * (rate + end)
    impulse = kept.impulse - s.h * kept.smooth_force
    kept.surface_work = -lasting * 0.5 * (kept.start_given_rate + kept.given_rate) - impulse * kept.given_rate


@kernel
def contacts_struck(d, s):
    """True if a contact had an impact in the step."""
    for c in range(d.nc if s.struck != 0 else 0):
        if s.impact[c] != 0:
            return True
    return False


@kernel
def end_step(d, s):
    """Set what is saved of the step but for force and work; True when the memory of the method has to start again.

    ``s.friction_event``: part of the step after which a joint changed, −1: none did.
    """
    changed = stopped = False
    s.friction_event, s.given_back = -1.0, 0.0
    struck, split = contacts_struck(d, s), in_impact(s)
    balance = s.works.shape[0] > 0
    corrected = balance and stays_closed(d, s)
    if corrected:
        mean_velocities(d, s)
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.rate = row_times(g, e, s.V) + kept.given_rate
            if split:
                back_to_touch(kept)
                stopped = stopped or (kept.start_status == SLIP and end_status(s, kept) == STICK)
            if balance:
                works_of_step(g, e, s, kept, corrected)
                impact = impact_of_split(s, kept)
                most = impact if split else kept.step_work
                kept.step_work += impact
                if struck and most > 0.0:
                    s.given_back, kept.step_work = s.given_back + most, kept.step_work - most
            stops = kept.trial_status == STICK and kept.start_status == SLIP
            if stops or kept.trial_status != kept.start_status or reverses(kept):
                stopped, changed = stopped or stops, True
                rate = row_times(g, e, s.Vs) + kept.given_rate
                if stops and kept.start_rate * rate < 0.0:
                    kept.event_fraction = kept.start_rate / (kept.start_rate - rate)
                s.friction_event = max(s.friction_event, kept.event_fraction)
    if stopped or kappas_wanted(d):
        kappas_and_masses(d, s)
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            status = end_status(s, kept)
            mu = coefficients_of(g, e)
            kept.status = status
            note_jam(s, g.first_friction + e, kept, kept.impulse - past_impulse(s, kept))
            kept.bound = coefficient_at(mu, status) * kept.normal_force
            if status == SLIP:
                kept.sign = kept.trial_sign
                if split:
                    kept.sign = -1.0 if kept.rate < 0.0 else 1.0
    return changed


@kernel
def note_jam(s, row, kept, impulse):
    """Note that the joint of a row has jammed, where it slid and sticks with κ ≥ 1; an impact."""
    if kept.status != STICK or kept.start_status != SLIP or kept.kappa < 1.0:
        return
    kept.jammed = 1.0
    if s.jammed == 0:
        s.jam_row, s.jam_time, s.jam_kappa, s.jam_impulse = row, s.t, kept.kappa, abs(impulse)
    s.jammed += 1
    s.struck = 1


@kernel
def displacement(s, kept, new):
    """Signed displacement of a joint in a step to the rate ``new``.

    Of one that changed in the step: that of the part in which it slid as it does last.
    """
    old, part = kept.start_rate, kept.event_fraction
    if part == 0.0:
        return 0.5 * s.h * (old + new)
    return 0.5 * s.h * (part * old if kept.trial_status == STICK else (1.0 - part) * new)


@kernel
def report_step(d, s):
    """Set saved force and bound, add the work of the step.

    Where something has changed it is called after the memory of the method has started again.
    """
    event, known = s.friction_event, knows_forces(d, s)
    struck, split = contacts_struck(d, s), in_impact(s)
    single = s.struck != 0 and not split  # friction and impact of the step are one
    for g in friction_groups(d):
        for e in range(g.n):
            kept, mu = friction_of(g, e), coefficients_of(g, e)
            impulse, rate = end_of_time(s, kept)
            force = impulse / s.h
            if split and kept.trial_status == SLIP:
                kept.event_fraction = 0.0
            if event >= 0.0 and s.struck == 0 and known:
                force = kept.smooth_force
            moved, before, part = displacement(s, kept, rate), kept.start_force, event if event > 0.0 else 0.5
            mean = force if single or kept.start_rate * before > 0.0 else part * before + (1.0 - part) * force
            if kept.event_fraction > 0.0 and not single:
                mean = before if kept.trial_status == STICK else force
                if kept.start_status == SLIP and kept.trial_status == SLIP:  # the way before it reversed
                    kept.work -= 0.5 * s.h * kept.event_fraction * kept.start_rate * before
            kept.work -= min(mean * moved, 0.0) if struck and not split else mean * moved
            kept.work -= min(impact_of_split(s, kept), 0.0)
            jumped = split and (known or kept.status == SLIP)
            if jumped:
                force = kept.smooth_force
            kept.force = kept.start_force = force
            if jumped or (event >= 0.0 and s.struck == 0 and known):
                kept.bound = coefficient_at(mu, kept.status) * kept.normal_force
