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
from fem_mbs.solvers.joint_friction.friction_passes import turned
from fem_mbs.solvers.joint_friction.friction_pieces import kappas_and_masses, kappas_wanted
from fem_mbs.solvers.joint_friction.friction_start import AT_REST, knows_forces
from fem_mbs.solvers.joint_friction.friction_touch import back_to_touch, in_impact, past_impulse
from fem_mbs.solvers.stepping.monitors.external_work import mean_velocities
from fem_mbs.system.friction import (
    SLIP,
    STICK,
    coefficient_at,
    coefficients_of,
    directions_of,
    friction_groups,
    friction_of,
    length_of,
    row_times,
)  # fmt: skip


@kernel
def reverses(g, e):
    """True if element e slides in the other direction than at the start of the step."""
    head = friction_of(g, directions_of(g) * e)
    return head.trial_status == SLIP and head.start_status == SLIP and turned(g, e)


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
def end_status(s, g, e):
    """Status of element e at the end of the step."""
    head = friction_of(g, directions_of(g) * e)
    if not in_impact(s):
        return head.trial_status
    return STICK if head.arm * rate_of(g, e) <= AT_REST * s.slow else SLIP


@kernel
def rate_of(g, e):
    """Length of the rates γ of element e at the end of the step."""
    n, squares = directions_of(g), 0.0
    for r in range(n * e, n * e + n):
        squares += friction_of(g, r).rate ** 2
    return length_of(n, squares, friction_of(g, n * e).rate)


@kernel
def works_of_step(g, r, s, corrected):
    """Add the works (2) of row r to those of its element, without the work of the impact of a split step.

    With ``corrected`` γ~ is by the displacement of the step, whose mean velocities are in s.trial.
    """
    n, kept = directions_of(g), friction_of(g, r)
    head = friction_of(g, r // n * n)
    rate, lasting = row_times(g, r, s.Vs) + kept.given_rate, 0.5 * s.h * (kept.start_smooth_force + kept.smooth_force)
    if corrected:
        rate = 2.0 * row_times(g, r, s.trial) + kept.start_given_rate + kept.given_rate - kept.start_rate
    total, end = end_of_time(s, kept)
    impulse = total - s.h * kept.smooth_force
    head.step_work += lasting * 0.5 * (kept.start_rate + rate) + impulse * 0.5 * (rate + end)
    impulse = kept.impulse - s.h * kept.smooth_force
    head.surface_work += -lasting * 0.5 * (kept.start_given_rate + kept.given_rate) - impulse * kept.given_rate


@kernel
def balance_of_step(g, e, s, corrected, struck):
    """Set the works of the energy balance of element e, in the record of its first row."""
    n, impact = directions_of(g), 0.0
    head = friction_of(g, n * e)
    head.step_work = head.surface_work = 0.0
    for r in range(n * e, n * e + n):
        works_of_step(g, r, s, corrected)
        impact += impact_of_split(s, friction_of(g, r))
    most = impact if in_impact(s) else head.step_work
    head.step_work += impact
    if struck and most > 0.0:
        s.given_back, head.step_work = s.given_back + most, head.step_work - most


@kernel
def note_stop(g, e, s):
    """Set the part of the step after which element e stops, where its smooth motion goes beyond."""
    n, along, squares = directions_of(g), 0.0, 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        rate = row_times(g, r, s.Vs) + kept.given_rate
        along += kept.start_rate * rate
        squares += kept.start_rate**2
    if not along < 0.0:
        return
    head = friction_of(g, n * e)
    part = squares / (squares - along)
    if n == 1:
        part = head.start_rate / (head.start_rate - (row_times(g, e, s.Vs) + head.given_rate))
    for r in range(n * e, n * e + n):
        friction_of(g, r).event_fraction = part


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
        n = directions_of(g)
        for e in range(g.n):
            kept = friction_of(g, n * e)
            for r in range(n * e, n * e + n):
                friction_of(g, r).rate = row_times(g, r, s.V) + friction_of(g, r).given_rate
                if split:
                    back_to_touch(friction_of(g, r))
            if split:
                stopped = stopped or (kept.start_status == SLIP and end_status(s, g, e) == STICK)
            if balance:
                balance_of_step(g, e, s, corrected, struck)
            stops = kept.trial_status == STICK and kept.start_status == SLIP
            if stops or kept.trial_status != kept.start_status or reverses(g, e):
                stopped, changed = stopped or stops, True
                if stops:
                    note_stop(g, e, s)
                s.friction_event = max(s.friction_event, kept.event_fraction)
    if stopped or kappas_wanted(d):
        kappas_and_masses(d, s)
    for g in friction_groups(d):
        for e in range(g.n):
            set_status(s, g, e, split)
    return changed


@kernel
def set_status(s, g, e, split):
    """Set the saved status, bound and direction of element e."""
    n, status, size = directions_of(g), end_status(s, g, e), rate_of(g, e)
    mu = coefficients_of(g, n * e)
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.status = status
        kept.bound = coefficient_at(mu, status) * kept.normal_force
        if status == SLIP:
            kept.sign = kept.trial_sign
            if split and n == 1:
                kept.sign = -1.0 if kept.rate < 0.0 else 1.0
            elif split:
                kept.sign = kept.rate / size
    note_jam(s, g, e)


@kernel
def note_jam(s, g, e):
    """Note that the joint of element e has jammed, where it slid and sticks with κ ≥ 1; an impact."""
    n, squares, impulse = directions_of(g), 0.0, 0.0
    head = friction_of(g, n * e)
    if head.status != STICK or head.start_status != SLIP or head.kappa < 1.0:
        return
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.jammed = 1.0
        impulse = kept.impulse - past_impulse(s, kept)
        squares += impulse * impulse
    if s.jammed == 0:
        s.jam_row, s.jam_time, s.jam_kappa = g.first_friction + n * e, s.t, head.kappa
        s.jam_impulse = length_of(n, squares, impulse)
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
    """Set saved force and bound, add the work of the step to the record of the first row of an element.

    Where something has changed it is called after the memory of the method has started again.
    """
    event, known = s.friction_event, knows_forces(d, s)
    struck, split = contacts_struck(d, s), in_impact(s)
    single = s.struck != 0 and not split  # friction and impact of the step are one
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            head, driven, work, impact = friction_of(g, n * e), 0.0, 0.0, 0.0
            for r in range(n * e, n * e + n):
                driven += friction_of(g, r).start_rate * friction_of(g, r).start_force
            for r in range(n * e, n * e + n):
                kept, mu = friction_of(g, r), coefficients_of(g, r)
                impulse, rate = end_of_time(s, kept)
                force = impulse / s.h
                if split and kept.trial_status == SLIP:
                    kept.event_fraction = 0.0
                if event >= 0.0 and s.struck == 0 and known:
                    force = kept.smooth_force
                moved, before, part = displacement(s, kept, rate), kept.start_force, event if event > 0.0 else 0.5
                mean = force if single or driven > 0.0 else part * before + (1.0 - part) * force
                if kept.event_fraction > 0.0 and not single:
                    mean = before if kept.trial_status == STICK else force
                    if kept.start_status == SLIP and kept.trial_status == SLIP:  # the way before it reversed
                        head.work -= 0.5 * s.h * kept.event_fraction * kept.start_rate * before
                work += mean * moved
                impact += impact_of_split(s, kept)
                jumped = split and (known or kept.status == SLIP)
                if jumped:
                    force = kept.smooth_force
                kept.force = kept.start_force = force
                if jumped or (event >= 0.0 and s.struck == 0 and known):
                    kept.bound = coefficient_at(mu, kept.status) * kept.normal_force
            head.work -= min(work, 0.0) if struck and not split else work
            head.work -= min(impact, 0.0)
