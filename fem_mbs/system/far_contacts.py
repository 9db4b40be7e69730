"""Contacts that are far from closing are not evaluated: stops of joints, of which a model has many and few act.

A contact with a bound of the rate of its gap (`Contact.gap_slopes`) keeps the poses x*, R* of its two nodes at which
it was evaluated last with a gap g* > 0. With Δx_A, Δx_B the displacements of both nodes since, φ the sum of the angles
by which they have rotated, it is open wherever

    a (|Δx_A| + |Δx_B| + φ |x*_B − x*_A|) + b φ < g*                                                               (1)

    φ_i = 2 asin(|R_i − R*_i|_F/√8) ≤ 0.7146 |R_i − R*_i|_F      for |R_i − R*_i|_F < 0.35, φ_i < 0.25 rad          (2)

and of open contacts only this status enters a step. (1) is evaluated at the start of a step and at each
configuration that its iteration comes to. Where it does not hold the contact is evaluated, at the start of the step as
well; so steps are the same to the last bit. Contacts of the same two nodes in a row, both stops of a joint, share (2).
What is recorded is evaluated as it is recorded.

Source: elementary; derived here.

    symbol      code
    g*          far_gap[e], 0: not open where it was evaluated
    a, b        gap_slopes[e]
    x*_i, R*_i  far_x[e, i], far_R[e, i], of the first of contacts that share it
"""

import math

from fem_mbs.jit import N_SLOTS, integer_matrix, integers, kernel
from fem_mbs.system.contacts import begin_contact, contact_groups, contacts_of, evaluate_contact, keep_contact
from fem_mbs.system.element_states import accept_state

LARGEST = 0.35**2  # of (2)
ANGLE = 0.7146
SPARE = 0.7  # of (1) as a step begins: most steps then need no evaluation within


@kernel
def last_of_row(g, e):
    """Number after the contacts from e on that have the nodes of e."""
    nodes, end = integer_matrix(g.nodes_at, g.n, g.nn), e + 1
    while end < g.n and nodes[end, 0] == nodes[e, 0] and nodes[end, 1] == nodes[e, 1]:
        end += 1
    return end


@kernel
def open_for_sure(g, e, end, x, R, part):
    """True if (1) holds for contacts e … end − 1, which share their nodes, with ``part`` of g*."""
    nodes, contact = integer_matrix(g.nodes_at, g.n, g.nn), contacts_of(g)
    ways = turns = apart = 0.0
    for a in range(2):
        i, way, turn = nodes[e, a], 0.0, 0.0
        for j in range(3):
            way += (x[i, j] - contact.far_x[e, a, j]) ** 2
            for k in range(3):
                turn += (R[i, j, k] - contact.far_R[e, a, j, k]) ** 2
        if not turn < LARGEST:
            return False
        ways, turns = ways + math.sqrt(way), turns + ANGLE * math.sqrt(turn)
    for j in range(3):
        apart += (contact.far_x[e, 1, j] - contact.far_x[e, 0, j]) ** 2
    slides = ways + turns * math.sqrt(apart)
    for k in range(e, end):
        if not contact.gap_slopes[k, 0] * slides + contact.gap_slopes[k, 1] * turns < part * contact.far_gap[k]:
            return False
    return True


@kernel
def keep_poses(g, e, end, x, R):
    """Poses and gaps of contacts e … end − 1, which were evaluated there, for (1)."""
    nodes, contact = integer_matrix(g.nodes_at, g.n, g.nn), contacts_of(g)
    for k in range(e, end):
        contact.far_gap[k] = max(contact.gap[k], 0.0)
    for a in range(2):
        i = nodes[e, a]
        for j in range(3):
            contact.far_x[e, a, j] = x[i, j]
            for k in range(3):
                contact.far_R[e, a, j, k] = R[i, j, k]


@kernel
def begin_one(d, g, e, b, x, R, V):
    """Evaluate a contact at the start of a step, from which its angles are unwrapped."""
    if g.accept != 0:
        accept_state(d, g, e, b, x, R, V, V[0])  # a contact has no multipliers
    evaluate_contact(d, g, e, b, x, R, x, R, V)
    keep_contact(g, e, b)
    begin_contact(g, e)


@kernel
def begin_far(d, g, b, x, R, V):
    """Evaluate those contacts of a group at the start of a step that may close in it."""
    e = 0
    while e < g.n:
        end = last_of_row(g, e)
        if not open_for_sure(g, e, end, x, R, SPARE):
            for k in range(e, end):
                begin_one(d, g, k, b, x, R, V)
            keep_poses(g, e, end, x, R)
        e = end


@kernel
def evaluate_far(d, g, b, x, R, x0, R0, V):
    """Evaluate those contacts of a group that may be closed at poses x, R of a step from x0, R0.

    What is evaluated once in a step has g* = 0 until the next begins.
    """
    contact, e = contacts_of(g), 0
    while e < g.n:
        end = last_of_row(g, e)
        if not open_for_sure(g, e, end, x, R, 1.0):
            for k in range(e, end):
                if contact.far_gap[k] > 0.0:  # its gradients may be those of an earlier step
                    begin_one(d, g, k, b, x0, R0, V)
                    contact.far_gap[k] = 0.0
                evaluate_contact(d, g, k, b, x, R, x0, R0, V)
                keep_contact(g, k, b)
        e = end


@kernel
def begin_contacts(d, x, R, V):
    """`contacts` and `contacts_begin_step` at the start of a step, without contacts that are far."""
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        if g.far != 0:
            begin_far(d, g, b, x, R, V)
            continue
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.theta[e] == 0.0:
                evaluate_contact(d, g, e, b, x, R, x, R, V)
                keep_contact(g, e, b)
            begin_contact(g, e)


@kernel
def near_contacts(d, x, R, x0, R0, V):
    """`contacts` within a step that `begin_contacts` began, without contacts that are far."""
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        if g.far != 0:
            evaluate_far(d, g, b, x, R, x0, R0, V)
            continue
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.theta[e] == 0.0:
                evaluate_contact(d, g, e, b, x, R, x0, R0, V)
                keep_contact(g, e, b)


@kernel
def all_far(d, x, R, x0, R0, V):
    """Evaluate all contacts that may have been left out; what (1) refers to stays."""
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        if g.far != 0:
            for e in range(g.n):
                evaluate_contact(d, g, e, b, x, R, x0, R0, V)
                keep_contact(g, e, b)


@kernel
def wake_far(d, s):
    """Evaluate all contacts that were left out, at the start of the step and where it is: others look at them too."""
    b = integers(d.table_at, N_SLOTS)
    for g in contact_groups(d):
        if g.far == 0:
            continue
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.far_gap[e] > 0.0:
                begin_one(d, g, e, b, s.x0, s.R0, s.V0)
                contact.far_gap[e] = 0.0
    all_far(d, s.x, s.R, s.x0, s.R0, s.V)
