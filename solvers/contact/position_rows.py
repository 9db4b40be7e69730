"""Contacts in the position correction: residual parts and tangent blocks.

Source: docs/theory/contact_laws.md, (6)-(11).
"""

from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    call2,
    integers,
    kernel,
    local_vector,
    matrix,
    vector,
)
from fem_mbs.solvers.contact.drilling import coupled_gradient, drilling_increment
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
from fem_mbs.solvers.stepping.kernels.codes import LOOKS, STRIKES, TOUCHES
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    contacts_of,
    evaluate_contact,
    gradient_times,
    laws_of,
)
from fem_mbs.system.gather import gather_poses, gather_start, gather_state, scatter_matrix, times_tangent
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import POSITION, zero

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def swept_gaps(d, s):
    """Gap and slip of swept contacts, linear in the correction U (`contact.sweep`, (2))."""
    U = s.U
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.theta[e] != 0.0:
                contact.gap[e] = contact.touch[e, 0] + gradient_times(g, e, contact.G_N[e], U)
                for i in range(2):
                    contact.slip[e, i] = contact.touch[e, 1 + i] + gradient_times(g, e, contact.G_T[e, i], U)


@kernel
def let_go(d, s):
    """End of a step or of an attempt at one: swept contacts follow their bodies again; their gap is the one reached."""
    b = integers(d.table_at, N_SLOTS)
    x, R, V = s.x, s.R, s.V
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            if contact.theta[e] != 0.0:
                contact.theta[e] = 0.0
                contact.gap[e] = evaluate_contact(d, g, e, b, x, R, x, R, V)
    s.swept = 0


@kernel
def ends_at_touch(s):
    """True if the step ends where a contact touches: sought, or known to have gap zero without correction."""
    return s.cut == LOOKS or s.cut == STRIKES


@kernel
def left_open(g, e, s):
    """Return True if a contact takes no part in the position correction.

    Its own gap is what is sought, or is zero (`nsga.split`); or joints and drivers alone prescribe it, so that no
    impulse would move it, and it is no deeper than contacts may be at the start of a run.
    """
    c = g.first_contact + e
    if s.held[c] != 0:
        gap = contacts_of(g).gap[e]
        return gap >= -TOUCHES * s.scale_x
    return ends_at_touch(s) and s.touching[c] != 0


@kernel
def position_contact_residual(d, s, r1, rows):
    """Contact part of the position residual: subtract forces from r1 (full), fill rows (nc, 3) divided by k_p.

    Rows of drilling, also divided by k_p, go to rows_D (nc,). At the first residual (``s.first_residual``) the
    multipliers of contacts that stuck are shifted by p g_T/k: the augmented force ξ_T = k λ_T − p g_T is then the last
    one. The smooth motion has no friction, such that g_T is the slip of a free body. Without the shift it alone takes
    ξ_T out of the cone, and Newton's iteration goes to and fro between two directions of slip (annex B.5.1: 74 of 1,000
    steps stalled, none with the shift). Contacts that slid are not shifted: that costs iterations (2.2 and 1.7 times).
    """
    cnu, status = s.cnu, s.status
    nu_D, rows_D = s.nu_D, s.rows_D
    x, R = s.x, s.R
    x0, R0 = s.x0, s.R0
    force, row, slip, lam = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    k, p, p_T = s.kp, s.pp, s.pp_T
    for g in contact_groups(d):
        contact, law = contacts_of(g), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            xi_N = k * cnu[c, 0] - p * contact.gap[e]
            rows_D[c] = -k / p_T * nu_D[c]
            if xi_N < 0.0 or left_open(g, e, s):
                status[c] = GAP
                rows[c, 0] = -k / p * cnu[c, 0]
                for i in range(1, 3):
                    rows[c, i] = -k / p_T * cnu[c, i]
                continue
            add_gradient(g, e, contact.G_N[e], -xi_N, r1)
            rows[c, 0] = -contact.gap[e]
            mu, arm = law[e].friction, law[e].drilling_arm
            for i in range(2):
                slip[i], lam[i] = contact.slip[e, i], cnu[c, 1 + i]
            if mu == 0.0:
                status[c] = CLOSED
                for i in range(2):
                    rows[c, 1 + i] = -k / p_T * cnu[c, 1 + i]
                continue
            if s.first_residual != 0 and status[c] == STICK and g.drilling == 0:
                for i in range(2):
                    cnu[c, 1 + i] += p_T / k * slip[i]
                    lam[i] = cnu[c, 1 + i]
            if g.drilling != 0:
                slip[2], lam[2] = arm * drilling_increment(g, e, x, R, x0, R0), nu_D[c]
            status[c] = cone_forces(k, p_T, mu, xi_N, lam, slip, 2 + g.drilling, force, row)
            for i in range(2):
                add_gradient(g, e, contact.G_T[e, i], -force[i], r1)
                rows[c, 1 + i] = row[i]
            if g.drilling != 0:
                add_gradient(g, e, contact.W[e, 2], -arm * force[2], r1)
                rows_D[c] = row[2]


@kernel
def position_contact_tangents(d, s, x, R, x0, R0, T):
    """Add the contact blocks of the position sub-problem to its matrix."""
    b = integers(d.table_at, N_SLOTS)
    layout = matrix_values(d, POSITION)
    cnu, nu_D = s.cnu, s.nu_D
    slip, lam = local_vector(3), local_vector(3)
    k, p, p_T = s.kp, s.pp, s.pp_T
    for g in contact_groups(d):
        nd = g.nd
        own = 3 + g.drilling
        size = nd + own
        S, H = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd)
        contact, law = contacts_of(g), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            xi_N = k * cnu[c, 0] - p * contact.gap[e]
            if xi_N < 0.0 or left_open(g, e, s):
                open_contact(S, nd, own, 2 + g.drilling, k, p, p_T)
            else:
                G_N, G_T = contact.G_N[e], contact.G_T[e]
                normal_tangent(S, nd, nd, G_N, k, p)
                mu, arm = law[e].friction, law[e].drilling_arm
                if mu == 0.0:
                    open_rows(S, nd + 1, 2, k, p_T)
                else:
                    for i in range(2):
                        slip[i], lam[i] = contact.slip[e, i], cnu[c, 1 + i]
                    if g.drilling != 0:
                        slip[2], lam[2] = arm * drilling_increment(g, e, x, R, x0, R0), nu_D[c]
                        G_T = matrix(b[_H_N], 3, nd)
                        coupled_gradient(contact.G_T[e], contact.W[e, 2], arm, G_T)
                    cone_tangent(S, nd, nd, nd + 1, G_N, G_T, own - 1, k, p, p_T, mu, xi_N, lam, slip)
                if g.contact_hessian != 0 and contact.theta[e] == 0.0:
                    gather_poses(g, e, b, x, R)
                    gather_start(g, e, b, x0, R0)
                    gather_state(g, e, b)
                    zero(b[_H_N], nd * nd)
                    call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                    for i in range(nd):
                        for j in range(nd):
                            S[i, j] -= xi_N * H[i, j]
                if contact.theta[e] == 0.0:
                    times_tangent(g, e, S, size, T)
                for i in range(own):  # proximal: redundant contacts
                    S[nd + i, nd + i] -= s.epsilon * k * k / (p if i == 0 else p_T)
            scatter_matrix(g.maps_at[POSITION], e, size, vector(b[_KK], size * size), layout)
