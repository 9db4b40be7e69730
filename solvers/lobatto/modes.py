"""Modes of contacts in a step whose impacts and transitions are located: each keeps its mode to the end of the step.

    left out   open, or opens as the step begins: no multipliers; its gap may fall below zero (`lobatto.events`)
    kept       closed and at rest along its normal: g_N = 0 at the stages and G_N v = 0 at the end, whatever the sign of
               its force; each of its cones sticks or slips, by the rows of `lobatto.lasting`
    usual      others: closed contacts that approach, and open ones whose impacts are slow, by `lobatto.contacts`

A kept contact sticks or slips by its rate at the start of the step, unless the step before has ended at a transition,
or its forces as the step begins are outside their bounds. Then it has one of these modes, bits of ``now``:

    RELEASED                     it opens
    slides(cone), sticks(cone)   it begins to slip in the direction that its friction opposed, or sticks

Forces as the step begins are the multipliers R^1/h of the first stage, those as it ends R^s/h; both are of order s − 1.
Before they leave their bound forces change continuously, such that an error δ of the time of a transition changes
velocities by O(δ²): the order of the scheme, 2 s − 2, remains.

Source: worked out here (docs/theory/lobatto.md, (19)-(21)). Tests: tests/validation/laws/test_lobatto_split.py.
"""

import math

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law import GAP, SLIP, STICK
from fem_mbs.solvers.contact.law_rows import CONES, arm_of, cone_of, member
from fem_mbs.solvers.lobatto.lasting import choose_cone, rests, speed_of_rest
from fem_mbs.solvers.stepping.kernels.arrays import copy
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP, ROUND_OFF, STOPS, STRIKES
from fem_mbs.solvers.stepping.kernels.sizes import speed_of
from fem_mbs.system.contacts import contact_groups, contacts, contacts_of, gradient_times

RELEASED = 1
FORCE = 1e-7  # of the forces of the model: forces that are zero, or at their bound
LEFT = 10.0  # times the relative tolerance of the problems, likewise


@kernel
def slides(which):
    """Bit of a cone that begins to slip."""
    return 2 << which


@kernel
def sticks(which):
    """Bit of a cone that begins to stick."""
    return 16 << which


@kernel
def begins_open(g, e, s):
    """True if a contact is open as the step begins, or leaves; contacts are evaluated there."""
    contact = contacts_of(g)
    open_by_gap = contact.gap_start[e] > CLOSED_GAP * s.exact * s.scale_x
    return open_by_gap or gradient_times(g, e, contact.G_N_start[e], s.V0) > s.tol_v


@kernel
def begin_modes(d, o):
    """Take the modes that the last step has left."""
    for c in range(d.nc):
        o.now[c] = o.mode[c]
    copy(o.begin, o.now_begin)


@kernel
def choose_modes(d, s, o):
    """Fill left_out, kept and lasts for the step."""
    still = speed_of_rest(s)
    contacts(d, s.x0, s.R0, s.x0, s.R0, s.V0)
    o.lasting = 0
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for which in range(CONES):
                o.lasts[c, which] = GAP
            # once the first touch is known other contacts act as in a step that is not cut
            awaited = begins_open(g, e, s) if s.cut == STOPS else s.touching[c] != 0
            o.left_out[c] = 1 if awaited or o.now[c] == RELEASED else 0
            o.kept[c] = 1 if o.left_out[c] == 0 and rests(g, e, s, s.V0) else 0
            if o.kept[c] == 0:
                continue
            o.lasting = 1
            for which in range(CONES):
                if choose_cone(g, e, s, o, which, still):
                    begin_cone(g, e, s, o, which, still)
                if o.lasts[c, which] == STICK and s.cut != STRIKES:
                    forget_friction(g, e, s, o, which)


@kernel
def begin_cone(g, e, s, o, which, still):
    """Set the status of a cone, sticking or slipping, by its mode, if it has one."""
    c = g.first_contact + e
    if o.now[c] & sticks(which):
        o.lasts[c, which] = STICK
    elif o.now[c] & slides(which):
        o.lasts[c, which] = SLIP
        for k in range(cone_of(g, e, s, which)[0]):
            i = member(which, k)
            o.rate0[c, i] = still * o.now_begin[c, i]


@kernel
def forget_friction(g, e, s, o, which):
    """Set the first guess of friction of a cone to zero: redundant contacts keep what they brace of the guess."""
    c = g.first_contact + e
    for k in range(cone_of(g, e, s, which)[0]):
        i = member(which, k)
        s.total_Lam[c, i] = 0.0
        for j in range(o.a.shape[0]):
            o.cR[j, c, i] = 0.0


@kernel
def force_tolerance(s):
    """Size [N] of forces that are zero."""
    return max(FORCE, LEFT * s.rtol) * s.F_s + ROUND_OFF * s.kv * speed_of(s) / s.h


@kernel
def force_of(g, e, s, o, i, end):
    """Force [N] of direction i of a kept contact at the end of the step, or at its start; moments divided by arms."""
    c, last = g.first_contact + e, o.a.shape[0] - 1
    if not end:
        return s.kv * o.cR[0, c, i] / s.h
    return (s.aLam[c, i] - o.before_end[c, i]) / (o.b[last] * s.h * arm_of(g, e, s, i))


@kernel
def reserve_of(g, e, s, o, which, end):
    """Force [N] that a cone which sticks is inside its bound: μ R_N − |R_T|."""
    n, mu = cone_of(g, e, s, which)
    size = 0.0
    for k in range(n):
        size += force_of(g, e, s, o, member(which, k), end) ** 2
    return mu * force_of(g, e, s, o, 0, end) - math.sqrt(size)


@kernel
def begin_to_slide(g, e, s, o, which, end, begin):
    """Fill begin (nc, 6) with the direction against the friction of a cone."""
    c, size = g.first_contact + e, 0.0
    n, _ = cone_of(g, e, s, which)
    for k in range(n):
        size += force_of(g, e, s, o, member(which, k), end) ** 2
    for k in range(n):
        i = member(which, k)
        begin[c, i] = -force_of(g, e, s, o, i, end) / math.sqrt(size) if size > 0.0 else 0.0


@kernel
def leaves_at_once(s, o, at_start, at_end):
    """True if a force is beyond its bound as the step begins, and as it ends."""
    tolerance = force_tolerance(s)
    return at_start <= tolerance and at_end < -tolerance


@kernel
def change_at_start(d, s, o):
    """Change modes of contacts whose forces are outside their bounds from the start of the step; returns how many."""
    count = 0
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            if o.kept[c] == 0:
                continue
            if leaves_at_once(s, o, force_of(g, e, s, o, 0, False), force_of(g, e, s, o, 0, True)):
                o.now[c] = RELEASED
                count += 1
                continue
            for which in range(CONES):
                if o.lasts[c, which] != STICK:
                    continue
                if leaves_at_once(s, o, reserve_of(g, e, s, o, which, False), reserve_of(g, e, s, o, which, True)):
                    o.now[c] = (o.now[c] | slides(which)) & ~sticks(which)
                    begin_to_slide(g, e, s, o, which, False, o.now_begin)
                    count += 1
    return count
