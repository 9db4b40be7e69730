"""Convective terms of contacts, d(G v)/dt at fixed v: what their gradients turn in the motion.

Source: docs/theory/decoupled_nsga.md, decision 12.
"""

from fem_mbs.jit import kernel
from fem_mbs.solvers.contact.law_rows import SIX
from fem_mbs.system.assembly import advance_configuration
from fem_mbs.system.contacts import contact_groups, contacts, direction_of, gradient_times

PART = 1e-3  # of the step: how far the difference goes to either side


@kernel
def closed_rates(d, s, V, rates):
    """Fill rates (nc, 6) with G_N v, G_T v and length W v of all contacts at the last evaluation."""
    for g in contact_groups(d):
        for e in range(g.n):
            for m in range(SIX):
                rate = gradient_times(g, e, direction_of(g, e, m), V)
                rates[g.first_contact + e, m] = rate if m < 3 else s.length * rate


@kernel
def contact_convection(d, s, V, xs, Qs, Rs, D, T, x0, R0, gamma):
    """Fill gamma (nc, 6) with d(G v)/dt, length d(W v)/dt at fixed v, by a central difference along the motion from q
    (any contact type). x0, R0 is the start of the step, to which tangents may refer; the arrays before it are
    scratch. What contacts keep is afterwards that of another configuration, and so are the rows of contacts.
    """
    rates, delta = s.rows_c, PART * s.h
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(d.n_nodes):
            for j in range(6):
                D[i, j] = sign * delta * V[i, j]
        advance_configuration(d, s.x, s.Q, D, xs, Qs, Rs, T)
        contacts(d, xs, Rs, x0, R0, V)
        closed_rates(d, s, V, rates)
        for c in range(d.nc):
            for m in range(SIX):
                gamma[c, m] = (gamma[c, m] if side == 1 else 0.0) + sign * rates[c, m] / (2.0 * delta)
