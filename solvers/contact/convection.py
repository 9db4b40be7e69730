"""Convective terms of contacts, d(G v)/dt at fixed v: what their gradients turn in the motion.

Source: docs/theory/decoupled_nsga.md, decision 12.
"""

from fem_mbs.jit import kernel
from fem_mbs.system.assembly import advance_configuration
from fem_mbs.system.contacts import contact_groups, contacts, contacts_of, gradient_times

PART = 1e-3  # of the step: how far the difference goes to either side


@kernel
def closed_rates(d, s, V, rates, turns):
    """Fill rates (nc, 3) with G_N v, G_T v and turns (nc, 3) with length W v of all contacts at the last evaluation."""
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            rates[c, 0] = gradient_times(g, e, contact.G_N[e], V)
            for i in range(2):
                rates[c, 1 + i] = gradient_times(g, e, contact.V_T[e, i], V)
            for i in range(3):
                turns[c, i] = s.length * gradient_times(g, e, contact.W[e, i], V)


@kernel
def contact_convection(d, s, V, xs, Qs, Rs, D, T, x0, R0, gamma, gamma_w):
    """Fill gamma, gamma_w (nc, 3) with d(G v)/dt, length d(W v)/dt at fixed v, by a central difference along the motion
    from q (any contact type). x0, R0 is the start of the step, to which tangents may refer; the arrays before it are
    scratch. What contacts keep is afterwards that of another configuration, and so are the rows of contacts.
    """
    rates, turns, delta = s.rows_c, s.rows_chi, PART * s.h
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for i in range(d.n_nodes):
            for j in range(6):
                D[i, j] = sign * delta * V[i, j]
        advance_configuration(d, s.x, s.Q, D, xs, Qs, Rs, T)
        contacts(d, xs, Rs, x0, R0, V)
        closed_rates(d, s, V, rates, turns)
        for c in range(d.nc):
            for i in range(3):
                gamma[c, i] = (gamma[c, i] if side == 1 else 0.0) + sign * rates[c, i] / (2.0 * delta)
                gamma_w[c, i] = (gamma_w[c, i] if side == 1 else 0.0) + sign * turns[c, i] / (2.0 * delta)
