"""Sweep of a step: contacts that bodies pass on their way are met where they touch first (docs/theory/sweep).

Gaps are evaluated at the end of a step. A body that travels through another within it is beyond it there: its gap is
open, or its normal points to the wrong side. Such contacts are found on the path of the smooth sub-problem, a cubic of
the start, the result and their velocities, per node

    D(τ) = (τ³ − 2τ² + τ) h v_n + (3τ² − 2τ³) D + (τ³ − τ²) h T⁻¹(D) v~ ,   q(τ) = q_n ∘ exp(D(τ)) ,  0 ≤ τ ≤ 1      (1)

The search goes forward from τ by gap/(1.5 travel), which the gap cannot close sooner, and by at least `FORCED` of the
passage, until the gap is negative; bisection gives the first touch θ. For the rest of this step the contact keeps what
it has there: gradients G_θ, whose moments stay those in body axes, so that impulses meet the inertia that they meet at
the touch, and, U being the correction,

    gap = g_θ + G_N ((q~ ⊖ q_θ) + U) ,  slip = G_T ((q~ ⊖ q_θ) + U) ,  q~ ⊖ q_θ = (x~ − x_θ, log(R_θᵀ R~))      (2)

Both corrections and the impact law use these. A contact is treated so when it is open at the end; when its surfaces are
convex also if it was open at the start, or if its normal turns by more than 14° from θ to the end. Contacts without
another side, bowls and bores, are treated so when they have restitution, were open, and turn by more than 14°: Newton's
law reflects what approaches along the normal of the start.

Contacts of one pair of convex bodies (`Contact.pair`) stand for one distance. All that touch are closed at the first
touch of the pair: after it the bodies overlap on the path, and the distance of another feature has no meaning. Those
that touch later wait for the second impact problem. A step in which they act elsewhere is rejected (`acts_elsewhere`).

Cost: one bound per contact and step. Nothing is searched unless the pair travels more than `FREE` of its passage (the
normal of convex surfaces cannot turn by 14° before) and more than its gap.

When the position correction is done (`settle`) the true gaps of swept contacts are looked at; rotations can make them
negative, and (2) is then shifted by what is missing. Other contacts are swept too along the corrected path
q(τ) ∘ exp(τ U): a body that was pushed may pass a third one. Both repeat the position correction.

Source: conservative advancement: Mirtich, Impulse-based Dynamic Simulation (1996), 2.3; (2) derived here.

    symbol    code                  unit  meaning
    θ         theta[e]              -     first touch, part of the step; 0: not swept
              touch[e, i]           m     gap and slip (2) for U = 0
    travel    travel_of             m     way of the second body's contact point past the first's in the step
    passage   passage[e]            m     see `Contact`
"""

import math

from fem_mbs.jit import (
    N_SLOTS,
    call2,
    entry,
    integer_matrix,
    integers,
    kernel,
    local_matrix,
    local_vector,
    matrix,
    tensor,
)
from fem_mbs.rotations import (
    log_matrix,
    multiply_T,
)
from fem_mbs.solvers.contact.law import GAP
from fem_mbs.solvers.contact.position_rows import let_go
from fem_mbs.solvers.contact.step_path import (
    CORRECTED_WAY,
    DIP,
    FASTER,
    FORCED,
    FREE,
    NEVER,
    SMOOTH_WAY,
    UNKNOWN,
    cosine,
    first_touch,
    gap_at,
    read_normal,
    rough_travel,
    travel_of,
)
from fem_mbs.solvers.stepping.kernels.codes import ELSEWHERE, OK, PASSED, UNDECIDED
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.system.contacts import (
    contact_groups,
    contacts,
    contacts_of,
    evaluate_contact,
    keep_contact,
    laws_of,
    start_gradients,
)

TURNED = 0.97  # cosine of 14°
OVERLAP = 10.0  # times the accuracy of gaps: what a solved correction may leave
ROUNDS = 30  # of position corrections with swept contacts
FURTHER = 1.5  # times what is missing: rotations give back a part of a shift


@kernel
def passes(d, s, g, e, b, theta, corrected):
    """True if a contact that touches at θ has to be treated as swept, by its gap and normal at the end."""
    N = d.n_nodes
    contact, first, normal = contacts_of(g), local_vector(3), local_vector(3)
    gap_at(d, s, g, e, b, theta, CORRECTED_WAY if corrected else SMOOTH_WAY)
    read_normal(b, first)
    x0, R0, V0 = s.x0, s.R0, s.V0
    x = matrix(s.x_at if corrected else s.xs_at, N, 3)
    R = tensor(s.R_at if corrected else s.Rs_at, N, 3, 3)
    gap = evaluate_contact(d, g, e, b, x, R, x0, R0, V0)
    read_normal(b, normal)
    turned = cosine(first, normal) < TURNED
    deep = DIP * contact.passage[e]
    if corrected:  # such a path ends at gap 0 where the contact acts
        return gap > deep or (turned and contact.convex[e] != 0)
    return gap >= 0.0 or (contact.convex[e] != 0 and (turned or contact.gap_start[e] > deep))


@kernel
def hold(d, s, g, e, b, theta, corrected):
    """Keep contact e of group g as it is at θ for the rest of the step, (2)."""
    nodes, contact = integer_matrix(g.nodes_at, g.n, g.nn), contacts_of(g)
    xs, Rs = s.xs, s.Rs
    xt, Rt = s.xt, s.Rt
    turn, psi = local_matrix(3, 3), local_vector(3)
    contact.touch[e, 0] = gap_at(d, s, g, e, b, theta, CORRECTED_WAY if corrected else SMOOTH_WAY)
    keep_contact(g, e, b)
    contact.touch[e, 1] = contact.touch[e, 2] = 0.0
    for a in range(g.nn):
        i = nodes[e, a]
        multiply_T(Rt[i], Rs[i], turn)
        log_matrix(turn, psi)
        for r in range(3):
            row = contact.G_N[e] if r == 0 else contact.G_T[e, r - 1]
            for j in range(3):
                contact.touch[e, r] += row[6 * a + j] * (xs[i, j] - xt[i, j]) + row[6 * a + 3 + j] * psi[j]
    # Newton's law too takes the directions at the touch
    start_gradients(g, e)
    contact.theta[e] = theta
    s.swept += 1


@kernel
def undecided(d, s, g, e, corrected):
    """Store the data for the message of a rejected step; returns −1."""
    s.sweep_travel, s.swept_contact = travel_of(d, s, g, e, corrected), g.first_contact + e
    s.sweep_size, s.passed_how = contacts_of(g).passage[e], UNDECIDED
    return -1


@kernel
def wall_touch(d, s, g, e, b):
    """τ at which a contact without other side has to be treated as swept, `NEVER` or `UNKNOWN`.

    Newton's law reflects the approach at the start of the step. Inside a bowl or a bore a body that was far from the
    wall meets it along another normal, and all restitution was lost.
    """
    contact, n0, n1 = contacts_of(g), local_vector(3), local_vector(3)
    gap = contact.gap_start[e]
    travel = rough_travel(d, s, g, e, False)
    if gap <= OVERLAP * s.exact * s.scale_x or gap >= FASTER * travel:
        return NEVER
    for j in range(3):
        n0[j] = contact.normal[e, j]
    if gap_at(d, s, g, e, b, 1.0, SMOOTH_WAY) >= 0.0:
        return NEVER
    read_normal(b, n1)
    if cosine(n0, n1) >= TURNED:
        return NEVER
    return first_touch(d, s, g, e, b, gap, gap, travel, SMOOTH_WAY)


@kernel
def touch_of(d, s, g, e, b, corrected):
    """τ at which contact e of group g, not held yet, has to be treated as swept; `NEVER` or `UNKNOWN`."""
    contact, law = contacts_of(g), laws_of(g)
    passage, gap = contact.passage[e], contact.gap_start[e]
    if passage == 0.0:
        if corrected or law[e].restitution == 0.0 or contact.reach[e] == math.inf:
            return NEVER
        return wall_touch(d, s, g, e, b)
    travel = rough_travel(d, s, g, e, corrected)
    if not travel > FREE * passage or gap >= FASTER * travel:
        return NEVER
    travel = travel_of(d, s, g, e, corrected)
    if not travel > FREE * passage or gap >= FASTER * travel:
        return NEVER
    theta = first_touch(d, s, g, e, b, gap, passage, travel, CORRECTED_WAY if corrected else SMOOTH_WAY)
    if 0.0 <= theta <= 1.0 and not passes(d, s, g, e, b, theta, corrected):
        return NEVER
    return theta


@kernel
def end_of_pair(g, lead):
    """Number of the contact behind those of a pair, of which ``lead`` is the first."""
    contact, last = contacts_of(g), lead + 1
    while last < g.n and contact.number[last] != 0:
        last += 1
    return last


@kernel
def sweep_pair(d, s, g, lead, last, b, corrected):
    """Sweep the contacts of a pair; returns how many were found to be passed, −1 where one is undecided."""
    contact, first, found = contacts_of(g), NEVER, 0
    for e in range(lead, last):
        if not corrected:
            contact.first_touch[e] = contact.late[e] = 0
        if contact.theta[e] != 0.0:
            continue
        theta = touch_of(d, s, g, e, b, corrected)
        if theta == UNKNOWN:
            return undecided(d, s, g, e, False)
        contact.touch[e, 0] = theta
        if theta < first:
            first = theta
            if not corrected:
                contact.first_touch[lead] = e - lead + 1
    for e in range(lead, last):
        if contact.theta[e] == 0.0 and contact.touch[e, 0] <= 1.0:
            way = (contact.touch[e, 0] - first) * travel_of(d, s, g, e, corrected)
            late = contact.first_touch[lead] != 0 and (corrected or way > FORCED * contact.passage[e])
            if late:  # what lay on the other before the step carries on
                late = contact.gap_start[lead + contact.first_touch[lead] - 1] > DIP * contact.passage[e]
            contact.late[e] = 1 if late else 0
            hold(d, s, g, e, b, first, corrected)
            found += 1
    s.swept_total += found
    return found


@kernel
def sweep_contacts(d, s, corrected):
    """Sweep all contacts along the path; returns how many were found to be passed, −1 where one is undecided."""
    b, count = integers(d.table_at, N_SLOTS), 0
    for g in contact_groups(d):
        last = 0
        while last < g.n:
            lead, last = last, end_of_pair(g, last)
            found = sweep_pair(d, s, g, lead, last, b, corrected)
            if found < 0:
                return found
            count += found
    return count


@entry("void(int64, int64)")
def sweep(data, run):
    """Find the contacts that the smooth motion passes."""
    d, s = system_at(data)[0], run_at(run)[0]
    if s.swept != 0:
        let_go(d, s)  # of an attempt before
    if s.persistent != 0 or s.repeats > 0 or s.plastic != 0:
        # what is kept is not of the start: trials of an attempt that failed may have been anywhere
        contacts(d, s.x0, s.R0, s.x0, s.R0, s.V0)
    s.code = PASSED if sweep_contacts(d, s, False) < 0 else OK


@kernel
def shift_swept(d, s):
    """Shift (2) of contacts that overlap after the correction; returns how many, −1 where the normal has turned."""
    b = integers(d.table_at, N_SLOTS)
    x, R = s.x, s.R
    x0, R0, V0 = s.x0, s.R0, s.V0
    normal, count = local_vector(3), 0
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.theta[e] == 0.0:
                continue
            gap = evaluate_contact(d, g, e, b, x, R, x0, R0, V0)
            if gap >= -OVERLAP * s.exact * s.scale_x:
                continue
            read_normal(b, normal)
            along = cosine(normal, contact.normal[e])
            undecided(d, s, g, e, False)  # in case it stays so
            if not along > 0.0:
                return -1
            contact.touch[e, 0] += FURTHER * gap - DIP * contact.passage[e]
            count += 1
    return count


@entry("void(int64, int64)")
def settle(data, run):
    """Repeat the position correction until swept contacts do not overlap and it has passed no others."""
    d, s = system_at(data)[0], run_at(run)[0]
    for _ in range(ROUNDS):
        shifted = shift_swept(d, s)
        found = sweep_contacts(d, s, True) if shifted >= 0 else -1
        if found < 0:
            s.code = PASSED
            return
        if shifted + found == 0:
            s.code = OK
            return
        call2(s.position_part, s.data_at, s.run_at)
        if s.code != OK:
            return
    s.code = PASSED


@kernel
def acts_elsewhere(d, s):
    """True if a pair that is met at its first touch has an impact elsewhere: the step is then rejected.

    Where convex bodies touch, all their contacts have one normal. What (2) says of those that are far at the touch is a
    lower bound of their gap: they may act in the air. One at least of those that are near at the touch has to act.
    """
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        last = 0
        while last < g.n:
            lead, last = last, end_of_pair(g, last)
            contact = contacts_of(g)
            first, nearest, turned = lead + contact.first_touch[lead] - 1, math.inf, False
            for e in range(lead, last if first >= lead and last > lead + 1 else lead):
                if s.acted[g.first_contact + e] != GAP:
                    nearest = min(nearest, gap_at(d, s, g, e, b, contact.theta[first], SMOOTH_WAY))
                    normal = contact.normal[e]
                    turned = turned or cosine(normal, contact.normal[first]) < TURNED
            if turned or (nearest != math.inf and nearest > FREE * contact.passage[lead]):
                undecided(d, s, g, first, False)
                s.passed_how, s.code = ELSEWHERE, PASSED
                return True
    return False
