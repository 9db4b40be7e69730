"""Momentum that contacts hand over in a step, where closed contacts take part in the smooth sub-problem.

The corrections act within the step: what they give is an impulse. The forces λ_c of the smooth sub-problem act while
velocities are integrated, from the start of the step to its end, and the total multiplier Λ holds h λ_c of the end:

    impulse = Λ + ½ h (λ_c,n − λ_c,n+1) ,        force at the end of the step = Λ/h                                (1)

λ_c,n is that of the memory, after a restart the one that is consistent with the new statuses. Over any window (1) sums
to what the method integrates; Λ alone sums to ½ h [λ] more at each jump of a force. Moments likewise.

Source: docs/theory/decoupled_nsga.md, (32); tests/validation/test_momentum.py.

    symbol        code                     meaning
    λ_c,n         clam0, mchi0 (nc, 3)     at the start of the step, divided as clam and mchi
    impulse       sent, sent_chi (nc, 3)   N s, N m s
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law import SLIP
from fem_mbs.solvers.nsga.persistent import coupled_speed
from fem_mbs.solvers.stepping.arrays import copy
from fem_mbs.system.contacts import B_W, L_DRILLING, L_MU, gradient_times, laws_of
from fem_mbs.system.records import groups_of, zero


@kernel
def disc_moments(d, s, o, V, start, factor, chi):
    """Add factor times the moments of sliding discs, (2c) of `nsga.persistent`, to chi (nc, 3); no unknown holds them.

    ``start``: those at the start of the step, with its velocities V; else those of the smooth sub-problem.
    """
    groups = groups_of(d)
    closed, lam, ctau = s.closed, o.clam, o.ctau
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0 or g.drilling == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if closed[c] == SLIP:
                speed = coupled_speed(g, e, V, V) if start else ctau[c, 2]
                friction = law[e, L_MU] * lam[c, 0] / speed * law[e, L_DRILLING] ** 2
                chi[c, 2] -= factor / s.length * friction * gradient_times(g, e, B_W, 2, V)


@kernel
def keep_forces(d, s, o):
    """Keep the forces of closed contacts at the start of the step; contacts are evaluated there."""
    chi = o.mchi0
    copy(o.clam, o.clam0)
    copy(o.mchi, chi)
    disc_moments(d, s, o, s.V0, True, 1.0, chi)


@kernel
def momentum(d, s, o):
    """Fill sent and sent_chi by (1), before statuses change for the next step."""
    clam, clam0, sent = o.clam, o.clam0, s.sent
    mchi, mchi0, sent_chi = o.mchi, o.mchi0, s.sent_chi
    total, total_chi = s.total_Lam, s.total_chi
    half = 0.5 * s.h * s.ks
    zero(s.sent_chi_at, 3 * d.nc)
    disc_moments(d, s, o, s.Vs, False, 1.0, sent_chi)
    for c in range(d.nc):
        for i in range(3):
            sent[c, i] = total[c, i] + half * (clam0[c, i] - clam[c, i])
            end = mchi[c, i] + sent_chi[c, i]  # with the moment of the disc
            sent_chi[c, i] = total_chi[c, i] + half * s.length * (mchi0[c, i] - end)
