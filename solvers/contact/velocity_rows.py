"""Contacts in the velocity correction: residual parts and tangent blocks.

Source: docs/theory/contact_laws.md, (6)-(11); Newton's law docs/theory/decoupled_nsga.md, (19).
"""

from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    integers,
    kernel,
    local_vector,
    matrix,
    vector,
)
from fem_mbs.solvers.contact.approach import reflected, slide_before, tangential_restitution
from fem_mbs.solvers.contact.drilling import coupled_gradient, drilling_rate
from fem_mbs.solvers.contact.law import (
    CLOSED,
    GAP,
    STICK,
    cone_forces,
    cone_tangent,
    normal_tangent,
    open_contact,
    open_rows,
)
from fem_mbs.solvers.stepping.kernels.sizes import speed_of
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    contacts_of,
    gradient_times,
    laws_of,
)
from fem_mbs.system.gather import scatter_matrix
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, zero

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def open_velocity_rows(g, c, s, rows, rows_chi):
    """Rows of contact c where it takes no part; no impulses."""
    k, p, p_T = s.kv, s.pv, s.pv_T
    cLam, cchi, aLam, achi = s.cLam, s.cchi, s.aLam, s.achi
    rows[c, 0] = -k / p * cLam[c, 0]
    rows[c, 1], rows[c, 2] = -k / p_T * cLam[c, 1], -k / p_T * cLam[c, 2]
    for i in range(3):
        rows_chi[c, i] = -k / (p_T if g.drilling != 0 and i == 2 else p) * cchi[c, i]
        aLam[c, i] = achi[c, i] = 0.0


@kernel
def sliding_rows(g, e, s, V, Vminus, sigma_N, stuck, r1, rows, rows_chi):
    """Friction of an active contact, coupled with drilling where it has a disc; its status.

    Multipliers of contacts that ``stuck`` are shifted as in `position_contact_residual`.
    """
    contact = contacts_of(g)
    c, k, p = g.first_contact + e, s.kv, s.pv_T
    law, cLam, cchi, aLam, achi = laws_of(g), s.cLam, s.cchi, s.aLam, s.achi
    force, row, rate, lam = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    mu, e_T, disc = law[e].friction, tangential_restitution(g, e, s), law[e].drilling_arm
    for i in range(2):
        rate[i] = gradient_times(g, e, contact.V_T[e, i], V) + e_T * slide_before(g, e, s, i, Vminus)
        if stuck:
            cLam[c, 1 + i] += p / k * rate[i]
        lam[i] = cLam[c, 1 + i]
    if g.drilling != 0:
        rate[2], lam[2] = disc * drilling_rate(g, e, s, e_T, V, Vminus), cchi[c, 2]
    status = cone_forces(k, p, mu, sigma_N, lam, rate, 2 + g.drilling, force, row)
    for i in range(2):
        add_gradient(g, e, contact.V_T[e, i], -force[i], r1)
        aLam[c, 1 + i] = force[i]
        rows[c, 1 + i] = row[i]
    if g.drilling != 0:
        add_gradient(g, e, contact.W[e, 2], -disc * force[2], r1)
        achi[c, 2] = disc * force[2]
        rows_chi[c, 2] = row[2]
    return status


@kernel
def turning_rows(g, e, s, V, sigma_N, first, n, limit, r1, rows_chi):
    """Resistance of an active contact against n of its angular velocities, from ``first`` on, up to ``limit`` [m]
    times the normal impulse; its status. Rolling has two, spinning the last.
    """
    contact = contacts_of(g)
    c, k, p, arm, cchi, achi = g.first_contact + e, s.kv, s.pv, s.length, s.cchi, s.achi
    force, row, rate = local_vector(3), local_vector(3), local_vector(3)
    for i in range(n):
        rate[i] = arm * gradient_times(g, e, contact.W[e, first + i], V)
    status = cone_forces(k, p, limit / arm, sigma_N, cchi[c, first:], rate, n, force, row)
    for i in range(n):
        add_gradient(g, e, contact.W[e, first + i], -arm * force[i], r1)
        achi[c, first + i] = arm * force[i]
        rows_chi[c, first + i] = row[i]
    return status


@kernel
def normal_rate(g, e, d, s, V, Vminus):
    """Normal velocity g_N of Newton's law of a candidate, and its augmented impulse σ_N: active where that is ≥ 0.

    In the first guess a contact at rest without an impulse yet has σ_N = 0 but for round-off. It counts as active:
    of redundant contacts round-off would choose the first ones to carry the load, and by that one of the solutions.
    """
    contact = contacts_of(g)
    c = g.first_contact + e
    g_N = gradient_times(g, e, contact.G_N[e], V) + reflected(g, e, d, s, Vminus)
    sigma_N = s.kv * s.cLam[c, 0] - s.pv * g_N
    if s.iteration == 0 and sigma_N < 0.0 and sigma_N >= -s.pv * s.exact * speed_of(s):
        sigma_N = 0.0
    return g_N, sigma_N


@kernel
def velocity_contact_residual(d, s, V, Vminus, r1, rows, rows_chi):
    """Contact part of the velocity residual: subtract impulses from r1 (full), fill rows (nc, 3) divided by k_v.

    Rolling and spinning are scaled by a length, the radius of gyration of the model: arm ω is a velocity, and moment
    impulses are arm k_v χ, so that one k and one p serve forces and moments. The arm of drilling that is coupled with
    sliding is that of the contact disc. The impulses that act, which are inside the cones to round-off, are kept in
    aLam and achi; multipliers differ from them by the tolerance of the iteration.
    """
    aLam, status, turning, candidate = s.aLam, s.status, s.turning, s.candidate
    for g in contact_groups(d):
        contact = contacts_of(g)
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            open_velocity_rows(g, c, s, rows, rows_chi)
            stuck = s.first_residual != 0 and status[c] == STICK and g.drilling == 0
            status[c] = turning[c] = GAP
            if candidate[c] == 0:
                continue
            g_N, sigma_N = normal_rate(g, e, d, s, V, Vminus)
            if sigma_N < 0.0:
                continue
            add_gradient(g, e, contact.G_N[e], -sigma_N, r1)
            aLam[c, 0], rows[c, 0], status[c] = sigma_N, -g_N, CLOSED
            if law[e].friction != 0.0:
                status[c] = sliding_rows(g, e, s, V, Vminus, sigma_N, stuck, r1, rows, rows_chi)
            if law[e].rolling_resistance != 0.0:
                turning[c] = turning_rows(g, e, s, V, sigma_N, 0, 2, law[e].rolling_resistance, r1, rows_chi)
            if law[e].spinning_resistance != 0.0:
                spinning = turning_rows(g, e, s, V, sigma_N, 2, 1, law[e].spinning_resistance, r1, rows_chi)
                turning[c] = max(turning[c], spinning)


@kernel
def velocity_contact_tangents(d, s, V, Vminus):
    """Add the contact blocks of the velocity sub-problem to its matrix.

    Rows of a contact: normal, sliding (2), rolling (2), spinning; with coupled drilling this follows sliding.
    """
    b = integers(d.table_at, N_SLOTS)
    layout = matrix_values(d, VELOCITY)
    cLam, cchi = s.cLam, s.cchi
    candidate = s.candidate
    rate, lam = local_vector(3), local_vector(3)
    k, p, p_T, arm = s.kv, s.pv, s.pv_T, s.length
    for g in contact_groups(d):
        nd = g.nd
        size = nd + 6
        S, W = matrix(b[_KK], size, size), matrix(b[_H_N], 3, nd)
        contact, law = contacts_of(g), laws_of(g)
        rolling = nd + 3 + g.drilling
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            sigma_N = -1.0
            if candidate[c] != 0:
                sigma_N = normal_rate(g, e, d, s, V, Vminus)[1]
            if sigma_N < 0.0:
                open_contact(S, nd, 6, 2 + g.drilling, k, p, p_T)
            else:
                G_N, V_T = contact.G_N[e], contact.V_T[e]
                for i in range(3):
                    for j in range(nd):
                        W[i, j] = arm * contact.W[e, i, j]
                normal_tangent(S, nd, nd, G_N, k, p)
                mu, e_T, disc = law[e].friction, tangential_restitution(g, e, s), law[e].drilling_arm
                if mu == 0.0:
                    open_rows(S, nd + 1, 2, k, p_T)
                else:
                    for i in range(2):
                        rate[i] = gradient_times(g, e, contact.V_T[e, i], V) + e_T * slide_before(g, e, s, i, Vminus)
                        lam[i] = cLam[c, 1 + i]
                    if g.drilling != 0:
                        rate[2], lam[2] = disc * drilling_rate(g, e, s, e_T, V, Vminus), cchi[c, 2]
                        V_T = matrix(b[_H_N] + 24 * nd, 3, nd)  # behind W
                        coupled_gradient(contact.V_T[e], contact.W[e, 2], disc, V_T)
                    cone_tangent(S, nd, nd, nd + 1, G_N, V_T, 2 + g.drilling, k, p, p_T, mu, sigma_N, lam, rate)
                if law[e].rolling_resistance == 0.0:
                    open_rows(S, rolling, 2, k, p)
                else:
                    for i in range(2):
                        rate[i] = arm * gradient_times(g, e, contact.W[e, i], V)
                    bound = law[e].rolling_resistance / arm
                    cone_tangent(S, nd, nd, rolling, G_N, W, 2, k, p, p, bound, sigma_N, cchi[c], rate)
                if law[e].spinning_resistance != 0.0:
                    rate[0] = arm * gradient_times(g, e, contact.W[e, 2], V)
                    spin, bound = W[2:], law[e].spinning_resistance / arm
                    cone_tangent(S, nd, nd, nd + 5, G_N, spin, 1, k, p, p, bound, sigma_N, cchi[c, 2:], rate)
                elif g.drilling == 0:
                    open_rows(S, nd + 5, 1, k, p)
                for i in range(6):
                    S[nd + i, nd + i] -= s.epsilon * k * k / (p if i == 0 else p_T)
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), layout)
