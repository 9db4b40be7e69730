"""Events in a step whose contacts keep their modes: touches of open contacts, and transitions of closed ones.

A quantity φ that is positive before an event falls through zero there (`lobatto.modes` has the modes):

    touch       φ = g_N                   of a contact that is left out; from then on it is closed
    release     φ = R_N/h                 of one that is kept; from then on it is open
    slip begins φ = ( μ R_N − |R_T| )/h   of a cone that sticks
    slip ends   φ = γ · γ_n/|γ_n|         of a cone that slips

at the end of the step, touches at the stages too. Impacts that are slow, by (2) of `contact.first_touch`, are left to
the rows of the stages. A step that ends at an event has |φ| below ½ accuracy of gaps, when φ is multiplied by
(accuracy)/(tolerance of forces, or speed of rest): for `stepping.march.splitter` all of them are gaps. Of several
events the first is where the smallest φ is zero.

Source: worked out here (docs/theory/lobatto.md, (19)-(21)). Tests: tests/validation/laws/test_lobatto_split.py.

    symbol      code            meaning
                marked          bits of the transitions of a kept contact; those of touches are in s.touching
                guess, latest   parts of the step: estimate of the first event; an event is before it
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact.first_touch import NEAR, ends_at_touch, first_root, is_fast
from fem_mbs.solvers.contact.law import SLIP, STICK
from fem_mbs.solvers.contact.law_rows import CONES, cone_of, member
from fem_mbs.solvers.lobatto.lasting import rates_of, speed_of_rest
from fem_mbs.solvers.lobatto.modes import (
    RELEASED,
    begin_to_slide,
    force_of,
    force_tolerance,
    reserve_of,
    slides,
    sticks,
)
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP
from fem_mbs.system.contacts import contact_groups, contacts_of, gradient_times


@kernel
def slip_along(g, e, s, o, which, V):
    """Slip [m/s] of a cone with velocities V, along the direction in which it began the step."""
    c, rate = g.first_contact + e, local_vector(3)
    n, _ = cone_of(g, e, s, which)
    rates_of(g, e, s, V, which, n, rate)
    along = first = 0.0
    for k in range(n):
        along += rate[k] * o.rate0[c, member(which, k)]
        first += o.rate0[c, member(which, k)] ** 2
    return along / math.sqrt(first) if first > 0.0 else 0.0


@kernel
def stage_of_entry(g, e, s, o):
    """First stage but one at which a contact that is left out has penetrated, or touches at the end; −1: none."""
    c, last = g.first_contact + e, o.a.shape[0] - 2
    accuracy = s.exact * s.scale_x
    for k in range(last + 1):
        if o.stage_gap[k, c] < -CLOSED_GAP * accuracy:
            return k
    if contacts_of(g).gap_start[e] > CLOSED_GAP * accuracy:
        rate = gradient_times(g, e, contacts_of(g).G_N[e], s.V)
        if ends_at_touch(s, o.stage_gap[last, c], rate):
            return last
    return -1


@kernel
def find_touches(d, s, o):
    """Mark contacts that touch with a fast impact; returns the number of those with a slow one."""
    slow = 0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            s.touching[c] = 0
            k = stage_of_entry(g, e, s, o) if o.left_out[c] != 0 else -1
            if k < 0:
                continue
            part = s.instants[k + 1]
            h = part * s.h
            rate_0 = gradient_times(g, e, contact.G_N_start[e], s.V0)
            rate = o.stage_rate[k, c]
            if k == o.a.shape[0] - 2:
                rate = gradient_times(g, e, contact.G_N[e], s.V)
            tau = first_root(contact.gap_start[e], h * rate_0, o.stage_gap[k, c], h * rate)
            # a body may be on its way out at the stage
            met = min(rate, rate_0 + tau * (rate - rate_0))
            if not is_fast(s, met, rate - rate_0, o.whole, h):
                slow += 1
                continue
            s.touching[c] = 1
            o.guess, o.latest = min(o.guess, tau * part), min(o.latest, part)
    return slow


@kernel
def estimate(o, at_start, at_end):
    """Take a part of the step where φ falls to zero into the first guess."""
    o.guess = min(o.guess, at_start / (at_start - at_end) if at_start > 0.0 else 0.5)


@kernel
def find_transitions(d, s, o):
    """Mark what kept contacts do in the step; returns the number of transitions."""
    count, tolerance, still = 0, force_tolerance(s), speed_of_rest(s)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            o.marked[c] = 0
            if o.kept[c] == 0:
                continue
            force = force_of(g, e, s, o, 0, True)
            if force < -tolerance:
                o.marked[c] |= RELEASED
                estimate(o, force_of(g, e, s, o, 0, False), force)
            for which in range(CONES):
                if o.lasts[c, which] == STICK:
                    reserve = reserve_of(g, e, s, o, which, True)
                    if reserve < -tolerance:
                        o.marked[c] |= slides(which)
                        estimate(o, reserve_of(g, e, s, o, which, False), reserve)
                elif o.lasts[c, which] == SLIP:
                    slip = slip_along(g, e, s, o, which, s.V)
                    if slip < -still:
                        o.marked[c] |= sticks(which)
                        estimate(o, slip_along(g, e, s, o, which, s.V0), slip)
            count += 1 if o.marked[c] != 0 else 0
    return count


@kernel
def find_events(d, s, o):
    """Mark all events of the step; returns the number of contacts with one, and of slow impacts."""
    o.guess = o.latest = 1.0
    slow = find_touches(d, s, o)
    count = find_transitions(d, s, o)
    for c in range(d.nc):
        count += 1 if s.touching[c] != 0 else 0
    return count, slow


@kernel
def value_of(g, e, s, o, event):
    """φ of one event of a contact at the end of the step, as a gap [m]; infinite if it is not marked."""
    c, accuracy = g.first_contact + e, s.exact * s.scale_x
    if o.marked[c] & event == 0:
        return math.inf
    if event == RELEASED:
        return accuracy * force_of(g, e, s, o, 0, True) / force_tolerance(s)
    for which in range(CONES):
        if event == slides(which):
            return accuracy * reserve_of(g, e, s, o, which, True) / force_tolerance(s)
        if event == sticks(which):
            return accuracy * slip_along(g, e, s, o, which, s.V) / speed_of_rest(s)
    return math.inf


@kernel
def look(d, s, o):
    """Smallest φ of the marked events at the end of the step, and its rate, 0 if that is not known."""
    o.least, o.least_rate = math.inf, 0.0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.touching[c] != 0 and contact.gap[e] < o.least:
                o.least, o.least_rate = contact.gap[e], gradient_times(g, e, contact.G_N[e], s.V)
            for bit in range(3 + 2 * CONES):
                value = value_of(g, e, s, o, 1 << bit)
                if value < o.least:
                    o.least, o.least_rate = value, 0.0


@kernel
def reach_events(d, s, o):
    """Fill the modes of the next step where this one has ended at events; ``o.touched``: an impact follows."""
    accuracy = s.exact * s.scale_x
    o.touched = o.changed = 0
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            o.mode[c] = 0
            if s.touching[c] != 0 and contacts_of(g).gap[e] <= NEAR * accuracy:
                o.touched = 1
            for bit in range(3 + 2 * CONES):
                if value_of(g, e, s, o, 1 << bit) <= accuracy:
                    o.mode[c] |= 1 << bit
                    o.changed = 1
            if o.mode[c] & RELEASED:
                o.mode[c] = RELEASED
            for which in range(CONES):
                if o.mode[c] & slides(which):
                    begin_to_slide(g, e, s, o, which, True, o.begin)
