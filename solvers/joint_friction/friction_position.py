"""Joint friction in the position correction: a joint that sticks keeps its position when contacts move its bodies.

The smooth motion contains persistent contacts only. A body on another closed contact falls by ½ g h² in it, and the
correction U lifts both bodies in proportion to their masses. Without a row of its own a sticking joint would creep by
½ h F/m, at a reported rate of zero. A row on positions is of first order. Here the *correction* obeys Coulomb's law, as
velocities do in the velocity correction. With Y, the friction force, and N of the reactions of the position correction,

    N = N(k_s λ~ + 2 k_p ν′/h²) ,    r_1 −= ½ h² G_F(q)ᵀ (Y − λ~_F)                                                (1)
    |Y − 2 p u/h²| < b :  u = 0        else  Y = ± b                                                              (2)
    last status    stick   u = G_F U ,       b = μ_s N
                   slip    u = G_F U + w ,   b = μ_k N ,   w = s max(s ½ h (γ_n + γ~), 0)                           (3)

w is the displacement of the smooth motion: friction stops a joint that an impact loads, and does not move it back.
Friction that is left out of the smooth motion is left out here. Without contacts U is O(h³), and there are no rows.

ν′ are the multipliers of the pass before; in the first pass Y = λ~_F. With ν in their place several joints of one
mechanism can brace each other: large Y of both signs raise N, and hold the mechanism in front of a stop that does not
act. With bounds that are given the problem has one solution. Passes end where N has settled.

Source: derived here; docs/theory/joint_friction.md, (6).

    symbol    code             meaning
    Y         F_CORRECTED      friction force [N, N m]; the unknown is divided by 2 k_p/h²
    p         F_MASS           effective mass of the coordinate
    s         F_SIGN           direction of sliding
    N         N_OF_PASS        bound over the coefficient, −1 in the first pass
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, tensor
from fem_mbs.system.friction import (
    F_ARM,
    F_CORRECTED,
    F_DONE,
    F_GT,
    F_MASS,
    F_OLD,
    F_ROW,
    F_SIGN,
    F_SMOOTH,
    FREE,
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficients_of,
    evaluate_bound,
    evaluate_row,
    row_times,
    scatter_block,
    smooth_status,
    states_of,
)
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import groups_of

_KK = SLOT["K"]
N_OF_PASS = F_DONE  # that column has its own meaning from the first impact problem of a step on


@kernel
def add_norms(s, kept, sticks):
    """Add the residual of a row, as a velocity or a length, to the norms."""
    row = (kept[F_ARM] * kept[F_ROW]) ** 2
    if sticks:
        s.friction_row += row
    else:
        s.friction_slip += row


@kernel
def first_corrections(d):
    """Begin the first pass: Y is the friction of the smooth motion."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction != 0:
            for e in range(g.n):
                kept = states_of(g)[e]
                kept[F_CORRECTED], kept[N_OF_PASS] = kept[F_SMOOTH], -1.0


@kernel
def next_bounds(d, s):
    """N of the next pass by the reactions of the last one; True where one has changed."""
    b, groups, half, changed = integers(d.table_at, N_SLOTS), groups_of(d), s.position_factor * s.h * s.h, False
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept = states_of(g)[e]
            evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
            N = evaluate_bound(d, g, e, b, s.lam, s.ks, s.nu, s.kp / half)
            changed = changed or abs(N - kept[N_OF_PASS]) > s.rtol * N
            kept[N_OF_PASS] = N
    return changed


@kernel
def correction_row(d, s, g, e, b):
    """Row of (2) or (3) of element e of group g, in F_ROW. Returns its status and sign."""
    kept, mu, half = states_of(g)[e], coefficients_of(g), s.position_factor * s.h * s.h
    evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
    status, sign, Y, p = smooth_status(kept), kept[F_SIGN], kept[F_CORRECTED], kept[F_MASS] / half
    if status == FREE or kept[N_OF_PASS] < 0.0:
        kept[F_ROW] = (Y - kept[F_SMOOTH]) / p
        return FREE, sign
    moved = row_times(g, e, s.U)
    bound = mu[e, 0 if status == STICK else 1] * kept[N_OF_PASS]
    if status == SLIP:
        rate = row_times(g, e, s.Vs) + kept[F_GT]
        moved += max(0.5 * s.h * (kept[F_OLD] + rate) * sign, 0.0) * sign
    xi = Y - p * moved
    if abs(xi) < bound or xi == 0.0:
        kept[F_ROW] = moved
        return STICK, sign
    sign = -1.0 if xi > 0.0 else 1.0
    kept[F_ROW] = (Y + sign * bound) / p
    return SLIP, sign


@kernel
def corrections(d, s):
    """Subtract the forces of (1) from r1, evaluate rows and statuses."""
    b, groups, number = integers(d.table_at, N_SLOTS), groups_of(d), 0
    half, s.friction_moves = s.position_factor * s.h * s.h, 0.0
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        for e in range(g.n):
            status, sign = correction_row(d, s, g, e, b)
            kept = states_of(g)[e]
            impulse = half * (kept[F_CORRECTED] - kept[F_SMOOTH])
            s.friction_moves += impulse * impulse / kept[F_MASS]
            add_row(g, e, -impulse, s.r1)
            add_norms(s, kept, status == STICK)
            number = (5 * number + int(status) + int(sign)) % 1000003
    s.friction_status = number


@kernel
def correction_tangents(d, s):
    """Add the blocks of (1)-(3) to matrix ``s.number``, that of the problem or of `contact.correction`."""
    b, groups, values = integers(d.table_at, N_SLOTS), groups_of(d), matrix_values(d, s.number)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        nd, size, stored = g.nd, g.nd + 1 + g.nr, tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            status, _ = correction_row(d, s, g, e, b)
            kept = states_of(g)[e]
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= s.kp * stored[e, 0, i]
                if status == STICK:
                    S[nd, i] -= s.kp * stored[e, 0, i]
            if status == STICK:
                S[nd, nd] -= s.epsilon * s.kp / kept[F_ARM] ** 2
            else:
                S[nd, nd] -= s.kp * s.kp / kept[F_MASS]
            scatter_block(g.maps_at[s.number], e, S, nd, values)
