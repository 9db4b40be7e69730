"""Contacts in the smooth sub-problem of the decoupled scheme: entry, release, and pauses.

Entry: by the velocities at the end of a step, of contacts that carry load, had no impact and are at rest along the
normal; they stick when they are at rest along the plane too, and wait for a step where sliding turns. Release: when the
smooth sub-problem has converged, or cannot because a driver moves what sticks, once per step, contacts that pull are
opened and those beyond Coulomb's cone slide, and it continues. Without that test the memory of the method holds forces
that never acted, and light contacts of a stiff beam on a floor never come to rest.

A change starts the memory again from accelerations consistent with the closed contacts. The first step after it is one
of the trapezoidal rule (ρ = 1), in which a = v̇, and then a_1 = v̇_1 + (α_m − α_f)(v̇_1 − v̇_0): forces are of second
order from the first step on. For ρ < ½, where the error of the start dies within some steps, or when another change
was less than ten steps ago, a − v̇ is kept instead, so that the damping of stiff parts does not start afresh. After an
impact the contacts of the bodies in it stay out for three steps, and the forces before it are those of the memory.
Parts whose contacts change five times in quick succession leave all of them to the corrections for 20 to 200 steps.

Source: worked out here (docs/theory/decoupled_nsga.md, (27)); figures:
tests/validation/laws/test_persistent_contacts.py.

    code                              meaning
    closed, entered, ends (nc,)       status now; as it entered the step; as the step ended, before pauses
    part (N,)                         connected part each node belongs to (−1: cannot move); contacts connect none
    stirred, pause, pause_length,     per part: a contact has changed; steps left of a pause; length of the last one;
    quick, quiet (N,)                 changes in quick succession; steps since the last change
"""

import math

from fem_mbs.jit import integer_matrix, kernel
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK
from fem_mbs.solvers.contact.law_rows import ROLLING, SLIDING, SPINNING, cone_of
from fem_mbs.solvers.stepping.kernels.sizes import rest_speed
from fem_mbs.system.contacts import anisotropic, contact_groups, contacts_of, gradient_times, laws_of

BRISK, SETTLING, FIRST_PAUSE, LONGEST_PAUSE = 5, 3, 20, 200  # changes; steps
SUCCESSION = 3  # steps between changes that are quick
TURNED = 0.93  # cos² of the angle by which sliding may turn in a step


@kernel
def decide_turning(d, s, o, V):
    """Fill rolls and spins (nc,) of closed contacts by their relative angular velocities; True when one has changed."""
    closed, rolls, spins = s.closed, o.rolls, o.spins
    rest, changed = rest_speed(s) / s.length, False
    for g in contact_groups(d):
        contact = contacts_of(g)
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            roll = spin = GAP
            if closed[c] != GAP and law[e].rolling_resistance != 0.0:
                w1, w2 = gradient_times(g, e, contact.W[e, 0], V), gradient_times(g, e, contact.W[e, 1], V)
                roll = STICK if w1 * w1 + w2 * w2 <= rest * rest else SLIP
            if closed[c] != GAP and law[e].spinning_resistance != 0.0:
                spin = STICK if abs(gradient_times(g, e, contact.W[e, 2], V)) <= rest else SLIP
            changed = changed or roll != rolls[c] or spin != spins[c]
            rolls[c], spins[c] = roll, spin
    return changed


@kernel
def pause_chattering(d, s, o):
    """Parts of the system that ``stirred`` names and whose contacts have changed BRISK times in quick succession pause.

    Without that the light contacts of stiff structures can open and close, or stick and slide, from step to step and
    keep a vibration alive that the two corrections alone would end.
    """
    N = d.n_nodes
    stirred, pause, length = o.stirred, o.pause, o.pause_length
    quick, quiet = o.quick, o.quiet
    for i in range(N):
        if pause[i] > 0:
            pause[i] -= 1
        elif stirred[i] != 0:
            quick[i] = quick[i] + 1 if quiet[i] < SUCCESSION else max(quick[i] - 1, 0)
            quiet[i] = 0
            if quick[i] >= BRISK:
                quick[i] = 0
                length[i] = min(2 * length[i], LONGEST_PAUSE) if length[i] > 0 else FIRST_PAUSE
                pause[i] = length[i]
        else:
            quiet[i] += 1
            if quiet[i] > LONGEST_PAUSE:
                length[i] = quick[i] = 0
        stirred[i] = 0


@kernel
def turned_aside(g, e, v1, v2, V0, rest):
    """True if sliding with (v1, v2) has turned by more than 15 degrees since the start of the step.

    The direction that friction has in the smooth sub-problem is that of the prediction. Where friction turns it within
    a step, that of a point about to stick, it goes to and fro, and the point never sticks.
    """
    contact = contacts_of(g)
    o1, o2 = gradient_times(g, e, contact.V_T_start[e, 0], V0), gradient_times(g, e, contact.V_T_start[e, 1], V0)
    before, along = o1 * o1 + o2 * o2, v1 * o1 + v2 * o2
    if before <= rest * rest:
        return False
    return along <= 0.0 or along * along < TURNED * before * (v1 * v1 + v2 * v2)


@kernel
def decide_closed(d, s, o):
    """Choose the contacts of the next smooth sub-problem, by their state at the end of this step. Returns (has it
    changed, is there one).

    Velocities at the end of the step decide: a contact acts in one of the impact problems of the step, later ones may
    change its velocity, and rows G v = 0 would take that away in a smooth step. Whether a contact at rest can stick is
    seen from its force, see `leave_cones`.
    """
    closed, impact, total = s.closed, s.impact, s.total_Lam
    entered, ends = o.entered, o.ends
    part, stirred = o.part, o.stirred
    pause, acted = o.pause, s.acted
    V, rest = s.V, rest_speed(s)
    for g in contact_groups(d):
        contact = contacts_of(g)
        law, nodes = laws_of(g), integer_matrix(g.nodes_at, g.n, g.nn)
        for e in range(g.n):
            c = g.first_contact + e
            now = GAP
            if total[c, 0] > 0.0 and impact[c] == 0 and abs(gradient_times(g, e, contact.G_N[e], V)) <= rest:
                v1, v2 = gradient_times(g, e, contact.V_T[e, 0], V), gradient_times(g, e, contact.V_T[e, 1], V)
                now = STICK if v1 * v1 + v2 * v2 <= rest * rest else SLIP
                # a disc that drills slides, whatever its centre does: the corrections know
                if law[e].friction == 0.0:
                    now = CLOSED
                elif g.drilling != 0:
                    now = acted[c]
                elif now == SLIP and turned_aside(g, e, v1, v2, s.V0, rest):
                    now = GAP
            ends[c] = now
            if now != closed[c] or closed[c] != entered[c]:
                for k in range(g.nn):
                    if part[nodes[e, k]] >= 0:
                        stirred[part[nodes[e, k]]] = 1
            if impact[c] != 0:
                for k in range(g.nn):
                    if part[nodes[e, k]] >= 0:
                        pause[part[nodes[e, k]]] = max(pause[part[nodes[e, k]]], SETTLING)
    pause_chattering(d, s, o)
    changed = some = False
    for g in contact_groups(d):
        nodes = integer_matrix(g.nodes_at, g.n, g.nn)
        for e in range(g.n):
            c = g.first_contact + e
            now = ends[c]
            for k in range(g.nn):
                if part[nodes[e, k]] >= 0 and pause[part[nodes[e, k]]] > 0:
                    now = GAP
            # what has broken loose slides in another direction than the memory holds
            loose = entered[c] == STICK and closed[c] == SLIP and anisotropic(g, e)
            changed, some = changed or loose or now != closed[c], some or now != GAP
            closed[c] = entered[c] = now
    turned = d.n_roll > 0 and decide_turning(d, s, o, V)
    return changed or turned, some


@kernel
def leave_cones(d, s, o, noise):
    """Open contacts whose forces in the smooth sub-problem leave their cones, or let them slide; True if one does.

    They would be corrected at the end of the step, but the memory of the method would hold a force that never acted:
    at the end of sticking the error of velocities is four times larger (measured on a block on a shaken plate).
    ``noise`` [unit of the multipliers] is what the iterations leave. Contacts with a disc start to slide or to drill in
    the corrections.
    """
    closed, rolls, spins = s.closed, o.rolls, o.spins
    left = False
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            if closed[c] == GAP:
                continue
            lam, tau = o.clam[c], o.ctau[c]
            if lam[0] < -noise:
                closed[c] = rolls[c] = spins[c] = GAP
                left = True
                continue
            size = math.sqrt(lam[1] * lam[1] + lam[2] * lam[2])
            if closed[c] == STICK and g.drilling == 0 and size > cone_of(g, e, s, SLIDING)[1] * lam[0] + noise:
                closed[c], left = SLIP, True
                o.needed[c] = size / lam[0] if lam[0] > 0.0 else 0.0
                tau[0], tau[1], tau[2] = 0.0, -lam[1] / size, -lam[2] / size
            size = math.sqrt(lam[3] * lam[3] + lam[4] * lam[4])
            if rolls[c] == STICK and size > cone_of(g, e, s, ROLLING)[1] * lam[0] + noise:
                rolls[c], left = SLIP, True
                tau[3], tau[4] = -lam[3] / size, -lam[4] / size
            if spins[c] == STICK and abs(lam[5]) > cone_of(g, e, s, SPINNING)[1] * lam[0] + noise:
                spins[c], left = SLIP, True
                tau[5] = -lam[5] / abs(lam[5])
    return left
