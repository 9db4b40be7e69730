"""Contacts in the position correction: residual parts and tangent blocks.

Where a contact has a disc, drilling is coupled with sliding (`contact.law`, (7)). With the last row w of W, its value
w0 at the start of the step, and the increments Δq of the nodes over the step, displacements and rotation vectors in
body axes, it is

    g_ω = ½ (w0 + w) Δq                                                                                             (1)

the relative rotation about the mean normal to second order. Its gradient is w, which leaves out T⁻¹(Δq), as for sliding
(docs/theory/decoupled_nsga.md, decision 9).

Source: docs/theory/contact_laws.md, (6)-(11).
"""

from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    call2,
    integer_matrix,
    integers,
    kernel,
    local_matrix,
    local_vector,
    matrix,
    vector,
)
from fem_mbs.rotations import log_matrix, multiply_T
from fem_mbs.solvers.contact.law import CLOSED, GAP, STICK, open_contact
from fem_mbs.solvers.contact.law_rows import SLIDING, arm_of, cone_residual, contact_tangent, open_residual
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
def drilling_increment(g, e, x, R, x0, R0):
    """Relative rotation about the normal over the step, (1)."""
    nodes, contact = integer_matrix(g.nodes_at, g.n, g.nn), contacts_of(g)
    now, begin = contact.W[e, 2], contact.W_N_start[e]
    turn, psi = local_matrix(3, 3), local_vector(3)
    total = 0.0
    for a in range(g.nn):
        i = nodes[e, a]
        multiply_T(R0[i], R[i], turn)
        log_matrix(turn, psi)
        for j in range(3):
            k = 6 * a + j
            total += 0.5 * (begin[k] + now[k]) * (x[i, j] - x0[i, j])
            total += 0.5 * (begin[k + 3] + now[k + 3]) * psi[j]
    return total


@kernel
def slips_of(g, e, s, x, R, x0, R0, u):
    """Fill u (6,) with what a contact has slid and drilled since the start of the step."""
    contact = contacts_of(g)
    for i in range(2):
        u[1 + i] = contact.slip[e, i]
    if g.drilling != 0:
        u[5] = arm_of(g, e, s, 5) * drilling_increment(g, e, x, R, x0, R0)


@kernel
def position_contact_residual(d, s, r1, rows):
    """Contact part of the position residual: subtract forces from r1 (full), fill rows (nc, 6) divided by k_p.

    Of moments there are those of drilling. At the first residual (``s.first_residual``) the multipliers of contacts
    that stuck are shifted by p g_T/k: the augmented force ξ_T = k λ_T − p g_T is then the last one. The smooth motion
    has no friction, such that g_T is the slip of a free body. Without the shift it alone takes ξ_T out of the cone, and
    Newton's iteration goes to and fro between two directions of slip (annex B.5.1: 74 of 1,000 steps stalled, none with
    the shift). Contacts that slid are not shifted: that costs iterations (2.2 and 1.7 times).
    """
    status, cnu, u, acts = s.status, s.cnu, local_vector(6), local_vector(6)
    for g in contact_groups(d):
        contact, law = contacts_of(g), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            open_residual(g, s, POSITION, cnu[c], rows[c])
            xi_N = s.kp * cnu[c, 0] - s.pp * contact.gap[e]
            stuck = s.first_residual != 0 and status[c] == STICK and g.drilling == 0
            status[c] = GAP
            if xi_N < 0.0 or left_open(g, e, s):
                continue
            add_gradient(g, e, contact.G_N[e], -xi_N, r1)
            rows[c, 0], status[c] = -contact.gap[e], CLOSED
            if law[e].friction == 0.0:
                continue
            slips_of(g, e, s, s.x, s.R, s.x0, s.R0, u)
            if stuck:
                for i in range(1, 3):
                    cnu[c, i] += s.pp_T / s.kp * u[i]
            status[c] = cone_residual(g, e, s, POSITION, SLIDING, xi_N, cnu[c], u, acts, rows[c], r1)


@kernel
def position_contact_tangents(d, s, x, R, x0, R0, T):
    """Add the contact blocks of the position sub-problem to its matrix."""
    b, u = integers(d.table_at, N_SLOTS), local_vector(6)
    layout = matrix_values(d, POSITION)
    k, p, p_T = s.kp, s.pp, s.pp_T
    for g in contact_groups(d):
        nd = g.nd
        own = 3 + g.drilling
        size = nd + own
        S, H, B = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd), matrix(b[_H_N], 3, nd)
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            xi_N = k * s.cnu[c, 0] - p * contact.gap[e]
            if xi_N < 0.0 or left_open(g, e, s):
                open_contact(S, nd, own, 2 + g.drilling, k, p, p_T)
            else:
                slips_of(g, e, s, x, R, x0, R0, u)
                contact_tangent(S, g, e, s, POSITION, xi_N, s.cnu[c], u, B)
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
