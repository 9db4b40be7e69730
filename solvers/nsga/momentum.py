"""Momentum that contacts hand over in a step, where closed contacts take part in the smooth sub-problem.

The corrections act within the step: what they give is an impulse. The forces λ_c of the smooth sub-problem act while
velocities are integrated, by the memory of the method: its accelerations are sums of what contacts, joints and loads
give, and each of them has the recurrence of the whole,

    (1 − α_m) â + α_m â_n = (1 − α_f) λ_c + α_f λ_c,n ,                                                            (1)

with â the part of M a that belongs to a contact. In the step it gives h ((1 − γ) â_n + γ â), while the total multiplier
Λ holds h λ_c, the force at its end:

    impulse = Λ + h ((1 − γ) â_n + γ â − λ_c) ,        force at the end of the step = Λ/h                            (2)

A restart of the memory replaces λ_c,n and â. Sums of (2) over any window are the change of momentum. Forces are added
as vectors, in inertial axes; components of impulses belong to the axes at the end of the step. Moments likewise.
Components of friction are multipliers; those of anisotropic friction are scaled (`fem_mbs.element.anisotropic`, (2)).

Source: docs/theory/decoupled_nsga.md, (32); tests/validation/laws/test_momentum.py.

    symbol        code                     meaning
    λ_c, λ_c,n    cforce, cforce0 (nc, 6)  forces and moments at the end and at the start of the step
    â             cforce_a (nc, 6)         â_n until the step ends
    impulse       sent (nc, 6)             N s, N m s
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law import GAP, SLIP
from fem_mbs.system.contacts import (
    contact_groups,
    contacts_of,
    gradient_times,
    laws_of,
)


@kernel
def force_vectors(d, s, o, lam, k, V, vectors):
    """Fill vectors (nc, 6) with forces and moments of closed contacts in inertial axes.

    Their multipliers are k lam (nc, 6), those of moments k length lam, along the axes of the last evaluation; sliding
    discs have a moment as well, by velocities V (N, 6) and (2c) of `nsga.persistent`, which no unknown holds.
    """
    for g in contact_groups(d):
        law, contact = laws_of(g), contacts_of(g)
        scale = contact.friction_scale
        for e in range(g.n):
            c = g.first_contact + e
            if s.closed[c] == GAP:
                for i in range(6):
                    vectors[c, i] = 0.0
                continue
            spin = k * s.length * lam[c, 5]
            if g.drilling != 0 and s.closed[c] == SLIP:
                friction = law[e].friction * k * lam[c, 0] / o.ctau[c, 0] * law[e].drilling_arm ** 2
                spin -= friction * gradient_times(g, e, contact.W[e, 2], V)
            for i in range(3):
                n, t1, t2 = contact.normal[e, i], contact.tangents[e, 0, i], contact.tangents[e, 1, i]
                vectors[c, i] = k * (lam[c, 0] * n + scale[e, 0] * lam[c, 1] * t1 + scale[e, 1] * lam[c, 2] * t2)
                vectors[c, 3 + i] = k * s.length * (lam[c, 3] * t1 + lam[c, 4] * t2) + spin * n


@kernel
def momentum(d, s, o):
    """Fill sent by (2), before statuses change for the next step; then â_n, λ_c,n are those of its end."""
    now, start, memory, change = o.cforce, o.cforce0, o.cforce_a, o.cforce_change
    sent = s.sent
    for g in contact_groups(d):
        contact = contacts_of(g)
        scale = contact.friction_scale
        for e in range(g.n):
            c = g.first_contact + e
            for i in range(6):
                sent[c, i] = s.total_Lam[c, i]
            for i in range(6):
                memory_0 = memory[c, i]
                star = (o.alpha_f * start[c, i] - o.alpha_m * memory_0) / (1.0 - o.alpha_m)
                memory_1 = star + (1.0 - o.alpha_f) / (1.0 - o.alpha_m) * now[c, i]
                more = s.h * ((1.0 - o.gamma) * memory_0 + o.gamma * memory_1 - now[c, i])
                change[c, i] = now[c, i] - start[c, i]
                memory[c, i] = memory_1 + o.lag * change[c, i]
                start[c, i] = now[c, i]
                j = i % 3
                n, t1, t2 = contact.normal[e, j], contact.tangents[e, 0, j], contact.tangents[e, 1, j]
                if i < 3:
                    sent[c, 0] += n * more
                    sent[c, 1] += t1 * more / scale[e, 0]
                    sent[c, 2] += t2 * more / scale[e, 1]
                else:
                    sent[c, 3] += t1 * more
                    sent[c, 4] += t2 * more
                    sent[c, 5] += n * more


@kernel
def restart_forces(d, s, o, V):
    """λ_c,n and â of a memory that starts again, with the multipliers of consistent accelerations."""
    force_vectors(d, s, o, o.clam, s.ks, V, o.cforce0)
    for c in range(d.nc):
        for i in range(6):
            o.cforce_a[c, i] = o.cforce0[c, i]


@kernel
def take_from_memory(d, s, o, lam, V):
    """Subtract the forces of multipliers lam (nc, 6) from â: a restart has taken them from M a."""
    force_vectors(d, s, o, lam, 1.0, V, o.cforce)
    for c in range(d.nc):
        for i in range(6):
            o.cforce_a[c, i] -= o.cforce[c, i]
