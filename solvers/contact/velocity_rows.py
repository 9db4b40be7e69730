"""Contacts in the velocity correction: residual parts and tangent blocks.

Source: docs/theory/contact_laws.md, (6)-(11); Newton's law docs/theory/decoupled_nsga.md, (19).
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, local_vector, matrix, vector
from fem_mbs.solvers.contact.approach import reflected, slide_before, tangential_restitution
from fem_mbs.solvers.contact.law import CLOSED, GAP, STICK, open_contact
from fem_mbs.solvers.contact.law_rows import (
    CONES,
    SIX,
    SLIDING,
    arm_of,
    cone_of,
    cone_residual,
    contact_tangent,
    member,
    open_residual,
)
from fem_mbs.solvers.stepping.kernels.sizes import speed_of
from fem_mbs.system.contacts import add_gradient, contact_groups, contacts_of, direction_of, gradient_times
from fem_mbs.system.gather import scatter_matrix
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import VELOCITY, zero

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def open_velocity_rows(g, c, s, rows):
    """Rows (nc, 6) of contact c where it takes no part; no impulses."""
    open_residual(g, s, VELOCITY, s.cLam[c], rows[c])
    for m in range(SIX):
        s.aLam[c, m] = 0.0


@kernel
def rates_of_cone(g, e, s, cone, n, V, Vminus, u):
    """Fill u (6,) with the velocities of a cone of n components, as the impact law of sliding sees them."""
    e_T = tangential_restitution(g, e, s) if cone == SLIDING else 0.0
    for i in range(n):
        m = member(cone, i)
        rate = gradient_times(g, e, direction_of(g, e, m), V)
        if e_T != 0.0:
            rate += e_T * slide_before(g, e, s, m, Vminus)
        u[m] = arm_of(g, e, s, m) * rate


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
def velocity_contact_residual(d, s, V, Vminus, r1, rows):
    """Contact part of the velocity residual: subtract impulses from r1 (full), fill rows (nc, 6) divided by k_v.

    The impulses that act, which are inside the cones to round-off, are kept in aLam; multipliers differ from them by
    the tolerance of the iteration. Multipliers of contacts that ``stuck`` are shifted as in
    `position_contact_residual`.
    """
    status, turning, u = s.status, s.turning, local_vector(6)
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            open_velocity_rows(g, c, s, rows)
            stuck = s.first_residual != 0 and status[c] == STICK and g.drilling == 0
            status[c] = turning[c] = GAP
            if s.candidate[c] == 0:
                continue
            g_N, sigma_N = normal_rate(g, e, d, s, V, Vminus)
            if sigma_N < 0.0:
                continue
            add_gradient(g, e, contact.G_N[e], -sigma_N, r1)
            s.aLam[c, 0], rows[c, 0], status[c] = sigma_N, -g_N, CLOSED
            for cone in range(CONES):
                n, mu = cone_of(g, e, s, cone)
                if n == 0 or mu == 0.0:
                    continue
                rates_of_cone(g, e, s, cone, n, V, Vminus, u)
                if stuck and cone == SLIDING:
                    for i in range(1, 3):
                        s.cLam[c, i] += s.pv_T / s.kv * u[i]
                state = cone_residual(g, e, s, VELOCITY, cone, sigma_N, s.cLam[c], u, s.aLam[c], rows[c], r1)
                if cone == SLIDING:
                    status[c] = state
                else:
                    turning[c] = max(turning[c], state)


@kernel
def velocity_contact_tangents(d, s, V, Vminus):
    """Add the contact blocks of the velocity sub-problem to its matrix."""
    b, u = integers(d.table_at, N_SLOTS), local_vector(6)
    layout = matrix_values(d, VELOCITY)
    k, p, p_T = s.kv, s.pv, s.pv_T
    for g in contact_groups(d):
        nd = g.nd
        size = nd + SIX
        S, B = matrix(b[_KK], size, size), matrix(b[_H_N], 3, nd)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            sigma_N = -1.0
            if s.candidate[c] != 0:
                sigma_N = normal_rate(g, e, d, s, V, Vminus)[1]
            if sigma_N < 0.0:
                open_contact(S, nd, SIX, 2 + g.drilling, k, p, p_T)
            else:
                for cone in range(CONES):
                    n, mu = cone_of(g, e, s, cone)
                    if mu != 0.0:
                        rates_of_cone(g, e, s, cone, n, V, Vminus, u)
                contact_tangent(S, g, e, s, VELOCITY, sigma_N, s.cLam[c], u, B)
                for i in range(SIX):  # proximal: redundant contacts
                    S[nd + i, nd + i] -= s.epsilon * k * k / (p if i == 0 else p_T)
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), layout)
