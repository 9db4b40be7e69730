"""Reject steps in which bodies pass a contact, or meet it far from their first touch (docs/theory/sweep).

For methods that cannot act at the first touch as `contact.sweep` does, and for force laws on contacts. Only pairs that
travel more than `FREE` of their passage in the step are looked at: no normal turns by 14° before.

    a contact that has not acted   the path is that of the result. It must not touch, unless the bodies end inside each
                                   other, their normal not turned: the next step then acts. One that was closed at the
                                   start and approached must not end beyond either.
    a contact that acts newly      the path is that without contacts. The normal of the impulse must be within 14° of
                                   that of first touch, and the approach that Newton's law reflects within
                                   `FREE` e_N of the relative speed; a touch must be on the path at all.
    a force law                    the path is that of the result, as for a contact that has not acted. Nor may the step
                                   take more than half of the approach: an impact has many steps.

First touch of bodies that overlap at the start is sought on the same path before the start. Without a passage (planes,
bowls, bores) only what acts with restitution is looked at, and travels more than `FREE` of its reach: in clearances,
which are small against their bodies, slow impacts of unresolved steps go on.

The path without contacts is that of the smooth motion in methods that have one, else free flight with the velocities of
the start.
"""

import math

from fem_mbs.jit import N_SLOTS, entry, integer_matrix, integers, kernel, local_vector
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.step_path import (
    BISECTIONS,
    CORRECTED_WAY,
    DIP,
    EARLIEST,
    FASTER,
    FORCED,
    FREE,
    FREE_WAY,
    NEVER,
    RESULT_WAY,
    SMOOTH_WAY,
    UNKNOWN,
    cosine,
    first_touch,
    gap_at,
    read_normal,
    rough_travel,
    travel_of,
)
from fem_mbs.solvers.contact.sweep import TURNED, passes, undecided
from fem_mbs.solvers.stepping.kernels.arrays import copy, largest_turn
from fem_mbs.solvers.stepping.kernels.codes import (
    ELSEWHERE,
    LARGE_ROTATION,
    LARGEST_TURN,
    MISSED,
    OK,
    PASSED,
    UNDECIDED,
    UNRESOLVED,
)
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.assembly import advance_configuration
from fem_mbs.system.contacts import (
    contact_groups,
    contacts_of,
    gradient_times,
    laws_of,
    rate_of,
)
from fem_mbs.system.records import groups_of, switches_of

RIGHT = -1
SUDDEN = 0.5  # of the approach: a force law that takes more of it in one step of a fast pair is not resolved
APPROACH = 0.01  # of the passage, in a step: bodies in contact that come slower do not pass each other


@kernel
def refuse(d, s, g, e, how, corrected):
    """Store the data for the message of the rejected step."""
    undecided(d, s, g, e, corrected)
    s.passed_how, s.code = how, PASSED


@kernel
def unmet(d, s, g, e, b):
    """True if bodies have passed each other, at a contact that has not acted: on their path (1) with U of `sweep`."""
    contact = contacts_of(g)
    size = contact.passage[e]
    least = FREE * size
    if least == 0.0 or not rough_travel(d, s, g, e, True) > least:
        return False
    travel = travel_of(d, s, g, e, True)
    gap = gap_at(d, s, g, e, b, 0.0, CORRECTED_WAY)
    if not travel > least or gap >= FASTER * travel:
        return False
    contact.gap_start[e] = gap
    if gap > 0.0:
        theta = first_touch(d, s, g, e, b, gap, size, travel, CORRECTED_WAY)
    else:
        theta = 0.0 if s.h * rate_of(g, e, b, s.V0) < -APPROACH * size else NEVER
    return theta == UNKNOWN or (theta <= 1.0 and passes(d, s, g, e, b, theta, True))


@kernel
def last_touch(d, s, g, e, b):
    """τ < 0 at which bodies that overlap at the start have touched, on the path continued backwards by one step."""
    inside, outside = 0.0, -1.0
    if gap_at(d, s, g, e, b, outside, SMOOTH_WAY) <= 0.0:
        return outside
    for _ in range(BISECTIONS):
        middle = 0.5 * (inside + outside)
        if gap_at(d, s, g, e, b, middle, SMOOTH_WAY) < 0.0:
            inside = middle
        else:
            outside = middle
    return outside


@kernel
def struck_elsewhere(d, s, g, e, b):
    """True if a contact that acts newly does so far from its first touch on the path without contacts."""
    contact, touched = contacts_of(g), local_vector(3)
    size, e_N = contact.passage[e], laws_of(g)[e].restitution
    least = FREE * (size if size > 0.0 else contact.reach[e])
    if not rough_travel(d, s, g, e, False) > least:
        return False
    travel = travel_of(d, s, g, e, False)
    gap = gap_at(d, s, g, e, b, 0.0, SMOOTH_WAY)
    rate = s.h * rate_of(g, e, b, s.V0)
    if not travel > least:
        return False
    size = travel if size == 0.0 else size
    if gap > 0.0:
        theta = NEVER
        if gap < FASTER * travel:
            theta = first_touch(d, s, g, e, b, gap, size, travel, SMOOTH_WAY)
        if theta == UNKNOWN:
            return True
        if theta == NEVER and gap + rate >= 0.0:
            return False  # pushed there by another body
        if theta == NEVER:  # impact at a gap, or although it would have passed
            gap_at(d, s, g, e, b, 1.0, SMOOTH_WAY)
            read_normal(b, touched)
            return gap + rate < -FORCED * size or cosine(touched, contact.normal[e]) < TURNED
    elif rate < -APPROACH * size:
        theta = last_touch(d, s, g, e, b)
    else:
        return False
    gap_at(d, s, g, e, b, theta, SMOOTH_WAY)
    read_normal(b, touched)
    wrong = abs(gradient_times(g, e, contact.G_N_start[e], s.V0) - rate_of(g, e, b, s.V0))
    return cosine(touched, contact.normal[e]) < TURNED or e_N * s.h * wrong > FREE * travel


@kernel
def look_at_missed(d, s):
    """Reject a step that passes a contact that has not acted; True if there are contacts that act newly."""
    b, news = integers(d.table_at, N_SLOTS), False
    for g in contact_groups(d):
        contact, law = contacts_of(g), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.acted[c] != GAP:
                news = news or (s.was_active[c] == 0 and (contact.passage[e] > 0.0 or law[e].restitution > 0.0))
            elif unmet(d, s, g, e, b):
                refuse(d, s, g, e, MISSED, True)
                return False
    return news


@kernel
def look_at_struck(d, s):
    """Reject a step in which a contact acts newly, far from its first touch."""
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        contact, law = contacts_of(g), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if s.acted[c] == GAP or s.was_active[c] != 0 or (contact.passage[e] == 0.0 and law[e].restitution == 0.0):
                continue
            if struck_elsewhere(d, s, g, e, b):
                refuse(d, s, g, e, ELSEWHERE, False)
                return


@entry("void(int64, int64)")
def look(data, run):
    """Look at a step of a method that has no smooth motion; D and v~ are those of the result, then of free flight."""
    d, s = system_at(data)[0], run_at(run)[0]
    s.code = OK
    if not look_at_missed(d, s):
        return
    V0, D = s.V0, s.D
    for i in range(d.n_nodes):
        for j in range(6):
            D[i, j] = s.h * V0[i, j]
    copy(V0, s.Vs)
    if largest_turn(D) > LARGEST_TURN:
        s.code = LARGE_ROTATION
        return
    advance_configuration(d, s.x0, s.Q0, D, s.xs, s.Qs, s.Rs, s.T)
    look_at_struck(d, s)


@entry("void(int64, int64)")
def look_smooth(data, run):
    """Look at a step of a method whose smooth motion is in D, v~ and q~."""
    d, s = system_at(data)[0], run_at(run)[0]
    s.code = OK
    if look_at_missed(d, s):
        look_at_struck(d, s)


# --- force laws -------------------------------------------------------------------------------------------------------


@kernel
def result_travel(s, g, e, reach):
    """Bound of the way of two bodies past each other in the step, as `sweep.rough_travel`: of its result, and of free
    flight, which is more where the step has turned them back.
    """
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    x, x0, V, V0 = s.x, s.x0, s.V, s.V0
    o = nodes[e, 0]
    far = turning = 0.0
    for a in range(g.nn):
        i = nodes[e, a]
        way = free = arm = first = last = 0.0
        for j in range(3):
            way += (x[i, j] - x0[i, j] - x[o, j] + x0[o, j]) ** 2
            free += (s.h * (V0[i, j] - V0[o, j])) ** 2
            arm += (x0[i, j] - x0[o, j]) ** 2
            first += V0[i, 3 + j] ** 2
            last += V[i, 3 + j] ** 2
        far = max(far, way, free)
        turning += s.h * math.sqrt(max(first, last)) * (math.sqrt(arm) + reach)
    return (1.0 if g.nn == 2 else 2.0) * math.sqrt(far) + turning


@kernel
def jumped(d, s, g, e, b, size, convex, travel):
    """Failure of a step that brings two bodies into a force law on a contact: of `stepping.kernels.codes`, or
    `RIGHT`.
    """
    touched, last, deep = local_vector(3), local_vector(3), DIP * size
    gap = gap_at(d, s, g, e, b, 0.0, RESULT_WAY)
    if gap >= FASTER * travel:
        return RIGHT
    closed, way = gap <= 0.0, RESULT_WAY
    if closed:
        theta = 0.0 if s.h * rate_of(g, e, b, s.V0) < -APPROACH * size else NEVER
    else:
        theta = first_touch(d, s, g, e, b, gap, size, travel, way)
        if theta == NEVER and s.instants.shape[0] > 1:  # forces within the step may have turned them back
            way = FREE_WAY
            theta = first_touch(d, s, g, e, b, gap, size, travel, way)
    if theta == UNKNOWN or theta > 1.0:
        return UNDECIDED if theta == UNKNOWN else RIGHT
    gap_at(d, s, g, e, b, max(theta, EARLIEST), way)
    read_normal(b, touched)
    before, after = rate_of(g, e, b, s.V0), rate_of(g, e, b, s.V)
    gap = gap_at(d, s, g, e, b, 1.0, RESULT_WAY)
    read_normal(b, last)
    if way == FREE_WAY:
        return UNRESOLVED if abs(after - before) > FORCED * abs(before) else RIGHT
    if before < 0.0 and after - before > SUDDEN * abs(before):
        return UNRESOLVED
    return MISSED if (gap > deep and not closed) or (convex and cosine(touched, last) < TURNED) else RIGHT


@kernel
def crossing(d, s):
    """True if the step jumps over a force law on a contact; ``s.swept_contact`` is then −1 − its element's number."""
    b, groups, first = integers(d.table_at, N_SLOTS), groups_of(d), 0
    for k in range(d.n_groups):
        g = groups[k]
        if g.touching != 0:
            contact, on = contacts_of(g), switches_of(g)
            for e in range(g.n):
                size = contact.passage[e]
                if size == 0.0 or on[e] == 0:
                    continue
                travel = result_travel(s, g, e, contact.reach[e])
                if not travel > FREE * size:
                    continue
                how = jumped(d, s, g, e, b, size, contact.convex[e] != 0, travel)
                if how != RIGHT:
                    s.swept_contact, s.sweep_travel, s.sweep_size = -1 - first - e, travel, size
                    s.passed_how = how
                    return True
        first += g.n
    return False


@entry("void(int64, int64)")
def passage(data, run):
    """Reject a step that jumps over a force law on a contact; not compiled for models without such laws."""
    s = run_at(run)[0]
    if crossing(system_at(data)[0], s):
        s.code = PASSED
