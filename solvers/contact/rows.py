"""Contacts in position and velocity corrections: residual parts and tangent blocks.

Drilling (turning about the normal) of contacts with a disc, coupled with sliding by `contact.law` (7), uses the last
row w of W and its value w0 at the start of the step; Δq the increments of the nodes over the step (displacements,
rotation vectors in body axes), v− the velocities before the impact problem:

    position level   g_ω = ½ (w0 + w) Δq ,  gradient w                                                             (1)
    velocity level   g_ω = w v + e_T w0 v−                                                                       (2)

(1) is the relative rotation about the mean normal to second order; its gradient leaves out T⁻¹(Δq), as for sliding
(docs/theory/decoupled_nsga.md, decision 9).

Source: docs/theory/contact_laws.md, (6)-(11); Newton's law docs/theory/decoupled_nsga.md, (19).
"""

import math

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
from fem_mbs.solvers.contact.law import CLOSED, GAP, STICK, cone_forces, cone_tangent, normal_tangent, open_rows
from fem_mbs.solvers.stepping.codes import LOOKS, STRIKES, TOUCHES
from fem_mbs.system.assembly import (
    POSITION,
    VELOCITY,
    gather_poses,
    gather_start,
    groups_of,
    matrix_values,
    scatter_matrix,
    times_tangent,
    zero,
)
from fem_mbs.system.contacts import (
    B_GN,
    B_GN0,
    B_GT,
    B_VT,
    B_VT0,
    B_W,
    B_WN0,
    C_BLOCKS,
    C_GAP,
    C_GAP0,
    C_SLIP,
    C_THETA,
    C_TOUCH,
    L_DRILLING,
    L_MU,
    L_NORMAL,
    L_ROLLING,
    L_SPINNING,
    L_TANGENTIAL,
    add_gradient,
    evaluate_contact,
    gradient_times,
    laws_of,
)

_H_N, _KK = SLOT["H_N"], SLOT["K"]


@kernel
def drilling_increment(g, e, x, R, x0, R0):
    """Relative rotation about the normal over the step, (1)."""
    nodes, kept = integer_matrix(g.nodes_at, g.n, g.nn), matrix(g.contact_at, g.n, g.contact_stride)
    now, begin = C_BLOCKS + (B_W + 2) * g.nd, C_BLOCKS + B_WN0 * g.nd
    turn, psi = local_matrix(3, 3), local_vector(3)
    total = 0.0
    for a in range(g.nn):
        i = nodes[e, a]
        multiply_T(R0[i], R[i], turn)
        log_matrix(turn, psi)
        for j in range(3):
            k = 6 * a + j
            total += 0.5 * (kept[e, begin + k] + kept[e, now + k]) * (x[i, j] - x0[i, j])
            total += 0.5 * (kept[e, begin + k + 3] + kept[e, now + k + 3]) * psi[j]
    return total


@kernel
def at_the_touch(g, e, s):
    """Whether the step ends where this contact touches (`nsga.split`): what strikes are the velocities there."""
    return s.cut == STRIKES and s.touching[g.first_contact + e] != 0


@kernel
def slide_before(g, e, s, i, Vminus):
    """Component i of the sliding velocity that the impact law with e_T reflects."""
    if at_the_touch(g, e, s):
        return gradient_times(g, e, B_VT, i, s.Vsminus)
    return gradient_times(g, e, B_VT0, i, Vminus)


@kernel
def drilling_rate(g, e, s, e_T, V, Vminus):
    """Angular velocity about the normal as the impact law sees it, (2)."""
    if at_the_touch(g, e, s):
        return gradient_times(g, e, B_W, 2, V) + e_T * gradient_times(g, e, B_W, 2, s.Vsminus)
    return gradient_times(g, e, B_W, 2, V) + e_T * gradient_times(g, e, B_WN0, 0, Vminus)


@kernel
def coupled_gradient(g, e, block, c, B):
    """Fill B, 3 rows of nd numbers: the two rows of a block and c times the last row of W."""
    nd, kept = g.nd, matrix(g.contact_at, g.n, g.contact_stride)
    for j in range(2 * nd):
        B[j] = kept[e, C_BLOCKS + block * nd + j]
    for j in range(nd):
        B[2 * nd + j] = c * kept[e, C_BLOCKS + (B_W + 2) * nd + j]


@kernel
def open_contact(S, nd, own, friction, k, p, p_T):
    """Rows of all multipliers of an open contact: the normal one, those of friction, those of rolling and spinning."""
    open_rows(S, nd, own, k, p)
    for i in range(nd + 1, nd + 1 + friction):
        S[i, i] = -k * k / p_T


@kernel
def swept_gaps(d, s):
    """Gap and slip of swept contacts, linear in the correction U (`contact.sweep`, (2))."""
    groups = groups_of(d)
    U = s.U
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept = matrix(g.contact_at, g.n, g.contact_stride)
        for e in range(g.n):
            if kept[e, C_THETA] != 0.0:
                kept[e, C_GAP] = kept[e, C_TOUCH] + gradient_times(g, e, B_GN, 0, U)
                for i in range(2):
                    kept[e, C_SLIP + i] = kept[e, C_TOUCH + 1 + i] + gradient_times(g, e, B_GT, i, U)


@kernel
def let_go(d, s):
    """End of a step or of an attempt at one: swept contacts follow their bodies again; their gap is the one reached."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    x, R, V = s.x, s.R, s.V
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept = matrix(g.contact_at, g.n, g.contact_stride)
        for e in range(g.n):
            if kept[e, C_THETA] != 0.0:
                kept[e, C_THETA] = 0.0
                kept[e, C_GAP] = evaluate_contact(d, g, e, b, x, R, x, R, V)
    s.swept = 0


@kernel
def left_open(g, e, s):
    """Whether a contact takes no part in the position correction.

    Its own gap is what is sought (`nsga.split`); or joints and drivers alone prescribe it, so that no impulse would
    move it, and it is no deeper than contacts may be at the start of a run.
    """
    c = g.first_contact + e
    if s.held[c] != 0:
        gap = matrix(g.contact_at, g.n, g.contact_stride)[e, C_GAP]
        return gap >= -TOUCHES * s.scale_x
    return s.cut == LOOKS and s.touching[c] != 0


@kernel
def position_contact_residual(d, s, r1, rows):
    """Contact part of the position residual: subtract forces from r1 (full), fill rows (nc, 3) divided by k_p.

    Rows of drilling, also divided by k_p, go to rows_D (nc,). At the first residual (``s.first_residual``) the
    multipliers of contacts that stuck are shifted by p g_T/k: the augmented force ξ_T = k λ_T − p g_T is then the last
    one. The smooth motion knows no friction, so that g_T is the slip of a free body. Without the shift it alone takes
    ξ_T out of the cone, and Newton's iteration goes to and fro between two directions of slip (annex B.5.1: 74 of 1,000
    steps stalled, none with the shift). Contacts that slid are not shifted: that costs iterations (2.2 and 1.7 times).
    """
    groups = groups_of(d)
    cnu, status = s.cnu, s.status
    nu_D, rows_D = s.nu_D, s.rows_D
    x, R = s.x, s.R
    x0, R0 = s.x0, s.R0
    force, row, slip, lam = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    k, p, p_T = s.kp, s.pp, s.pp_T
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            xi_N = k * cnu[c, 0] - p * kept[e, C_GAP]
            rows_D[c] = -k / p_T * nu_D[c]
            if xi_N < 0.0 or left_open(g, e, s):
                status[c] = GAP
                rows[c, 0] = -k / p * cnu[c, 0]
                for i in range(1, 3):
                    rows[c, i] = -k / p_T * cnu[c, i]
                continue
            add_gradient(g, e, B_GN, 0, -xi_N, r1)
            rows[c, 0] = -kept[e, C_GAP]
            mu, arm = law[e, L_MU], law[e, L_DRILLING]
            for i in range(2):
                slip[i], lam[i] = kept[e, C_SLIP + i], cnu[c, 1 + i]
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
                add_gradient(g, e, B_GT, i, -force[i], r1)
                rows[c, 1 + i] = row[i]
            if g.drilling != 0:
                add_gradient(g, e, B_W, 2, -arm * force[2], r1)
                rows_D[c] = row[2]


@kernel
def position_contact_tangents(d, s, x, R, x0, R0, T):
    """Add the contact blocks of the position sub-problem to its matrix."""
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    layout = matrix_values(d, POSITION)
    cnu, nu_D = s.cnu, s.nu_D
    slip, lam = local_vector(3), local_vector(3)
    k, p, p_T = s.kp, s.pp, s.pp_T
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        own = 3 + g.drilling
        size = nd + own
        S, H = matrix(b[_KK], size, size), matrix(b[_H_N], nd, nd)
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            xi_N = k * cnu[c, 0] - p * kept[e, C_GAP]
            if xi_N < 0.0 or left_open(g, e, s):
                open_contact(S, nd, own, 2 + g.drilling, k, p, p_T)
            else:
                G_N = kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd]
                G_T = kept[e, C_BLOCKS + B_GT * nd : C_BLOCKS + (B_GT + 2) * nd]
                normal_tangent(S, nd, nd, G_N, k, p)
                mu, arm = law[e, L_MU], law[e, L_DRILLING]
                if mu == 0.0:
                    open_rows(S, nd + 1, 2, k, p_T)
                else:
                    for i in range(2):
                        slip[i], lam[i] = kept[e, C_SLIP + i], cnu[c, 1 + i]
                    if g.drilling != 0:
                        slip[2], lam[2] = arm * drilling_increment(g, e, x, R, x0, R0), nu_D[c]
                        G_T = vector(b[_H_N], 3 * nd)
                        coupled_gradient(g, e, B_GT, arm, G_T)
                    cone_tangent(S, nd, nd, nd + 1, G_N, G_T, own - 1, k, p, p_T, mu, xi_N, lam, slip)
                if g.contact_hessian != 0 and kept[e, C_THETA] == 0.0:
                    gather_poses(g, e, b, x, R)
                    gather_start(g, e, b, x0, R0)
                    zero(b[_H_N], nd * nd)
                    call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
                    for i in range(nd):
                        for j in range(nd):
                            S[i, j] -= xi_N * H[i, j]
                if kept[e, C_THETA] == 0.0:
                    times_tangent(g, e, S, size, T)
                for i in range(own):  # proximal: redundant contacts
                    S[nd + i, nd + i] -= s.epsilon * k * k / (p if i == 0 else p_T)
            scatter_matrix(g.maps_at[POSITION], e, size, vector(b[_KK], size * size), layout)


@kernel
def touch_speed(g, e, d, s, speed):
    """Normal velocity at the touch by the energy, for ``speed`` at the start of the step; negative.

        ġ_t = −( ġ_n² − 2 a_N g_n )^½ ,   a_N = ( G_N v~ − G_N(q_n) v_n )/h                                       (3)

    A gap g_n that is round-off counts as closed.
    """
    gap = matrix(g.contact_at, g.n, g.contact_stride)[e, C_GAP0]
    if gap <= 100.0 * s.exact * s.scale_x:
        return -abs(speed)
    V0, Vs = s.V0, s.Vs
    change = gradient_times(g, e, B_GN, 0, Vs) - gradient_times(g, e, B_GN0, 0, V0)
    return -math.sqrt(max(speed * speed - 2.0 * gap * change / s.h, 0.0))


@kernel
def approach_of(g, e, d, s, Vminus):
    """Normal velocity that Newton's law reflects; negative where the bodies approach.

    Along the normal of the start of the step, as published, or, with ``approach``, the slower of that and of the one
    along the normal of its end. The impulse acts along the latter, and does no more work than the law allows. At the
    start alone a normal that turns in the step gives energy, O(h); at its end alone a contact on a curved surface would
    never close. Bodies that leave along one of the normals have nothing to reflect: on a convex surface v_n of a closed
    contact leaves along the normal of the end, and its reflection would ask for an approach. With ``touch`` the first
    impact problem of a step takes the speed at the touch, by (3), or of a swept contact between the velocities at the
    start and at the end: an elastic contact then keeps its energy (docs/theory/sweep).
    A contact whose impact is split touches at the end of the step: the speed there is the one, whatever the options.
    """
    if at_the_touch(g, e, s):
        return min(gradient_times(g, e, B_GN, 0, s.Vsminus), 0.0)
    speed = gradient_times(g, e, B_GN0, 0, Vminus)
    first = s.touch != 0 and s.counts[3] == 0
    theta = matrix(g.contact_at, g.n, g.contact_stride)[e, C_THETA]
    if theta != 0.0:
        if first:
            speed += theta * (gradient_times(g, e, B_GN, 0, s.Vs) - speed)
        if s.approach != 0:  # what the impulse meets: its bodies may turn on the way to the end of the step
            speed = min(max(speed, gradient_times(g, e, B_GN, 0, s.Vsminus)), 0.0)
        return speed
    if s.approach != 0:
        other = gradient_times(g, e, B_GN, 0, Vminus)
        if first and speed * other <= 0.0:
            speed = 0.0
        elif first and speed > 0.0:
            speed = min(speed, other)
        else:
            speed = min(max(speed, other), 0.0)
    return touch_speed(g, e, d, s, speed) if first else speed


@kernel
def reflected(g, e, d, s, Vminus):
    """What Newton's law adds to the normal velocity of a contact: e_N times the approach.

    Towards the end of a long impact sequence nothing is reflected, see `nsga.velocity.choose_candidates`; nor with
    ``plastic``, for problems without a solution: a pendulum whose tip hits a wall in a self-locking position cannot
    rebound, because friction would hold it with the same cone (no v with G_N v + e_N G_N v− ≥ μ |G_T v|). Less is
    reflected where all of it would give energy, see `contact.restitution.limit_restitution`. A method whose law has the
    gap gives the whole term as a bias.
    """
    if s.biased != 0:
        return s.bias[g.first_contact + e]
    e_N = laws_of(g)[e, L_NORMAL]
    if e_N == 0.0 or s.plastic != 0 or 2 * s.counts[3] >= s.max_problems:
        return 0.0
    return s.restitution_scale * e_N * approach_of(g, e, d, s, Vminus)


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
    c, k, p = g.first_contact + e, s.kv, s.pv_T
    law, cLam, cchi, aLam, achi = laws_of(g), s.cLam, s.cchi, s.aLam, s.achi
    force, row, rate, lam = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    mu, e_T, disc = law[e, L_MU], law[e, L_TANGENTIAL], law[e, L_DRILLING]
    for i in range(2):
        rate[i] = gradient_times(g, e, B_VT, i, V) + e_T * slide_before(g, e, s, i, Vminus)
        if stuck:
            cLam[c, 1 + i] += p / k * rate[i]
        lam[i] = cLam[c, 1 + i]
    if g.drilling != 0:
        rate[2], lam[2] = disc * drilling_rate(g, e, s, e_T, V, Vminus), cchi[c, 2]
    status = cone_forces(k, p, mu, sigma_N, lam, rate, 2 + g.drilling, force, row)
    for i in range(2):
        add_gradient(g, e, B_VT, i, -force[i], r1)
        aLam[c, 1 + i] = force[i]
        rows[c, 1 + i] = row[i]
    if g.drilling != 0:
        add_gradient(g, e, B_W, 2, -disc * force[2], r1)
        achi[c, 2] = disc * force[2]
        rows_chi[c, 2] = row[2]
    return status


@kernel
def turning_rows(g, e, s, V, sigma_N, first, n, limit, r1, rows_chi):
    """Resistance of an active contact against n of its angular velocities, from ``first`` on, up to ``limit`` [m]
    times the normal impulse; its status. Rolling has two, spinning the last.
    """
    c, k, p, arm, cchi, achi = g.first_contact + e, s.kv, s.pv, s.length, s.cchi, s.achi
    force, row, rate = local_vector(3), local_vector(3), local_vector(3)
    for i in range(n):
        rate[i] = arm * gradient_times(g, e, B_W, first + i, V)
    status = cone_forces(k, p, limit / arm, sigma_N, cchi[c, first:], rate, n, force, row)
    for i in range(n):
        add_gradient(g, e, B_W, first + i, -arm * force[i], r1)
        achi[c, first + i] = arm * force[i]
        rows_chi[c, first + i] = row[i]
    return status


@kernel
def velocity_contact_residual(d, s, V, Vminus, r1, rows, rows_chi):
    """Contact part of the velocity residual: subtract impulses from r1 (full), fill rows (nc, 3) divided by k_v.

    Rolling and spinning are scaled by a length, the radius of gyration of the model: arm ω is a velocity, and moment
    impulses are arm k_v χ, so that one k and one p serve forces and moments. The arm of drilling that is coupled with
    sliding is that of the contact disc. The impulses that act, which are inside the cones to round-off, are kept in
    aLam and achi; multipliers differ from them by the tolerance of the iteration.
    """
    groups = groups_of(d)
    cLam, aLam, status, turning, candidate = s.cLam, s.aLam, s.status, s.turning, s.candidate
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        law = laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            open_velocity_rows(g, c, s, rows, rows_chi)
            stuck = s.first_residual != 0 and status[c] == STICK and g.drilling == 0
            status[c] = turning[c] = GAP
            if candidate[c] == 0:
                continue
            g_N = gradient_times(g, e, B_GN, 0, V) + reflected(g, e, d, s, Vminus)
            sigma_N = s.kv * cLam[c, 0] - s.pv * g_N
            if sigma_N < 0.0:
                continue
            add_gradient(g, e, B_GN, 0, -sigma_N, r1)
            aLam[c, 0], rows[c, 0], status[c] = sigma_N, -g_N, CLOSED
            if law[e, L_MU] != 0.0:
                status[c] = sliding_rows(g, e, s, V, Vminus, sigma_N, stuck, r1, rows, rows_chi)
            if law[e, L_ROLLING] != 0.0:
                turning[c] = turning_rows(g, e, s, V, sigma_N, 0, 2, law[e, L_ROLLING], r1, rows_chi)
            if law[e, L_SPINNING] != 0.0:
                spinning = turning_rows(g, e, s, V, sigma_N, 2, 1, law[e, L_SPINNING], r1, rows_chi)
                turning[c] = max(turning[c], spinning)


@kernel
def velocity_contact_tangents(d, s, V, Vminus):
    """Add the contact blocks of the velocity sub-problem to its matrix.

    Rows of a contact: normal, sliding (2), rolling (2), spinning; with coupled drilling this follows sliding.
    """
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    layout = matrix_values(d, VELOCITY)
    cLam, cchi = s.cLam, s.cchi
    candidate = s.candidate
    rate, lam = local_vector(3), local_vector(3)
    k, p, p_T, arm = s.kv, s.pv, s.pv_T, s.length
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        size = nd + 6
        S, W = matrix(b[_KK], size, size), vector(b[_H_N], 3 * nd)
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        rolling = nd + 3 + g.drilling
        for e in range(g.n):
            c = g.first_contact + e
            zero(b[_KK], size * size)
            sigma_N = -1.0
            if candidate[c] != 0:
                g_N = gradient_times(g, e, B_GN, 0, V) + reflected(g, e, d, s, Vminus)
                sigma_N = k * cLam[c, 0] - p * g_N
            if sigma_N < 0.0:
                open_contact(S, nd, 6, 2 + g.drilling, k, p, p_T)
            else:
                G_N = kept[e, C_BLOCKS + B_GN * nd : C_BLOCKS + (B_GN + 1) * nd]
                V_T = kept[e, C_BLOCKS + B_VT * nd : C_BLOCKS + (B_VT + 2) * nd]
                for i in range(3 * nd):
                    W[i] = arm * kept[e, C_BLOCKS + B_W * nd + i]
                normal_tangent(S, nd, nd, G_N, k, p)
                mu, e_T, disc = law[e, L_MU], law[e, L_TANGENTIAL], law[e, L_DRILLING]
                if mu == 0.0:
                    open_rows(S, nd + 1, 2, k, p_T)
                else:
                    for i in range(2):
                        rate[i] = gradient_times(g, e, B_VT, i, V) + e_T * slide_before(g, e, s, i, Vminus)
                        lam[i] = cLam[c, 1 + i]
                    if g.drilling != 0:
                        rate[2], lam[2] = disc * drilling_rate(g, e, s, e_T, V, Vminus), cchi[c, 2]
                        V_T = vector(b[_H_N] + 24 * nd, 3 * nd)  # behind W
                        coupled_gradient(g, e, B_VT, disc, V_T)
                    cone_tangent(S, nd, nd, nd + 1, G_N, V_T, 2 + g.drilling, k, p, p_T, mu, sigma_N, lam, rate)
                if law[e, L_ROLLING] == 0.0:
                    open_rows(S, rolling, 2, k, p)
                else:
                    for i in range(2):
                        rate[i] = arm * gradient_times(g, e, B_W, i, V)
                    bound = law[e, L_ROLLING] / arm
                    cone_tangent(S, nd, nd, rolling, G_N, W, 2, k, p, p, bound, sigma_N, cchi[c], rate)
                if law[e, L_SPINNING] != 0.0:
                    rate[0] = arm * gradient_times(g, e, B_W, 2, V)
                    spin, bound = W[2 * nd :], law[e, L_SPINNING] / arm
                    cone_tangent(S, nd, nd, nd + 5, G_N, spin, 1, k, p, p, bound, sigma_N, cchi[c, 2:], rate)
                elif g.drilling == 0:
                    open_rows(S, nd + 5, 1, k, p)
                for i in range(6):
                    S[nd + i, nd + i] -= s.epsilon * k * k / (p if i == 0 else p_T)
            scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_KK], size * size), layout)
