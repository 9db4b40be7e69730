"""Impacts of a step that are isolated enough to be split, and their times of touch.

A step h (of the user's H) stops before its velocity correction when the position correction has closed a contact that
was open and whose impact is faster than forces make it in a whole step, (2) of `contact.first_touch`. So does an open
contact whose gap is zero but for round-off as the step ends.

Slower impacts, those of a body that comes to rest, are left to the step as it is: they are many, and each is small.
The first guess of the touch is the first root of the cubic of the gaps and their rates at both ends of the step, (1)
there.

The touch itself is where a *step that ends there* has gap zero after its smooth motion and a position correction that
leaves out the contacts which touch; joints and other contacts are in it. `stepping.march.splitter` seeks it.

For a contact that is passed within the step (`contact.sweep`) ġ~ is that of the touch on its path, and τ is known.

Source: worked out here (docs/theory/split_impacts.md). Closed contacts do not touch.

    symbol       code                    meaning
    g~, ġ~       gap, rate               at the end of the smooth motion
    τ            guess                   of the first contact
    H            whole                   step size of the user
"""

from fem_mbs.jit import N_SLOTS, integers, kernel
from fem_mbs.solvers.contact.first_touch import NEAR, ends_at_touch, first_root, is_fast
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.stepping.kernels.codes import LOOKS, STOPS
from fem_mbs.solvers.stepping.kernels.step import configuration_at_start
from fem_mbs.system.contacts import contact_groups, contacts_of, evaluate_contact, gradient_times, rate_of


@kernel
def find_touching(d, s, o):
    """Mark the contacts that touch, estimate where the first one does; returns their number."""
    b, count = integers(d.table_at, N_SLOTS), 0
    o.guess = o.latest = 1.0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            s.touching[c] = 0
            if s.closed[c] != GAP:
                continue
            if s.active[c] == 0 and not ends_at_touch(s, contact.gap[e], gradient_times(g, e, contact.G_N[e], s.Vs)):
                continue
            gap_0, rate_0 = contact.gap_start[e], gradient_times(g, e, contact.G_N_start[e], s.V0)
            if gap_0 <= s.exact * s.scale_x and rate_0 <= s.tol_v:
                continue  # was closed
            guess = contact.theta[e]
            if guess != 0.0:  # swept: gradients are those of the touch
                change = gradient_times(g, e, contact.G_N[e], s.Vs) - rate_0
                rate = rate_0 + guess * change
            else:
                gap = evaluate_contact(d, g, e, b, s.xs, s.Rs, s.x0, s.R0, s.Vs)
                rate = rate_of(g, e, b, s.Vs)
                change = rate - rate_0
                guess = first_root(gap_0, s.h * rate_0, gap, s.h * rate)
            if is_fast(s, rate, change, o.whole, s.h):
                s.touching[c] = 1
                o.guess = min(o.guess, guess)
                count += 1
    return count


@kernel
def look(d, s, o):
    """Smallest gap of the touching contacts after the position correction that leaves them out, and its rate.

    The configuration goes back to the start of the step.
    """
    b, first = integers(d.table_at, N_SLOTS), True
    for g in contact_groups(d):
        for e in range(g.n):
            if s.touching[g.first_contact + e] == 0:
                continue
            gap = evaluate_contact(d, g, e, b, s.x, s.R, s.x0, s.R0, s.Vs)
            if first or gap < o.least:
                o.least, o.least_rate, first = gap, rate_of(g, e, b, s.Vs), False
    configuration_at_start(s)


@kernel
def stops(d, s, o):
    """True if the step stops before its velocity correction."""
    if s.cut == LOOKS:
        look(d, s, o)
        return True
    return s.cut == STOPS and d.nc > 0 and find_touching(d, s, o) > 0


@kernel
def close_touching(d, s):
    """Contacts that touch at the end of the step take part in its impact; its position correction leaves them out."""
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.touching[c] != 0 and contact.gap[e] <= NEAR * s.exact * s.scale_x:
                s.active[c] = 1
