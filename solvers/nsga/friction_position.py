"""Joint friction in the position correction: a joint that sticks keeps its position when contacts move its bodies.

The smooth motion contains persistent contacts only. A body on another closed contact falls by ½ g h² in it, and the
correction U lifts both bodies in proportion to their masses. Without a row of its own a sticking joint would creep by
½ h F/m, at a reported rate of zero. A row on positions is of first order. Here the *correction* obeys Coulomb's law, as
velocities do in the velocity correction. With Y, the friction force, and N of the reactions of the position correction,

    N = N(k_s λ~ + 2 k_p ν/h²) ,    r_1 −= ½ h² G_F(q)ᵀ (Y − λ~_F)                                                 (1)
    |Y − 2 p u/h²| < b :  u = 0        else  Y = ± b                                                              (2)
    last status    stick   u = G_F U ,       b = μ_s N
                   slip    u = G_F U + w ,   b = μ_k N ,   w = s max(s ½ h (γ_n + γ~), 0)                           (3)

w is the displacement of the smooth motion: friction stops a joint that an impact loads, and does not move it back.
Friction that is left out of the smooth motion is left out here. Without contacts U is O(h³), and there are no rows.

Source: derived here; docs/theory/joint_friction.md, (6).

    symbol    code             meaning
    Y         F_CORRECTED      friction force [N, N m]; the unknown is divided by 2 k_p/h²
    p         F_MASS           effective mass of the coordinate
    s         F_SIGN           direction of sliding
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, tensor
from fem_mbs.system.friction import (
    F_ARM,
    F_BEGAN,
    F_CORRECTED,
    F_CORRECTED_BEFORE,
    F_GT,
    F_IMPULSE,
    F_MASS,
    F_OLD,
    F_ROW,
    F_SIGN,
    F_SLOPE,
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
from fem_mbs.system.records import POSITION, groups_of

_KK = SLOT["K"]


@kernel
def add_norms(s, kept, sticks):
    """Add the residual of a row, as a velocity or a length, to the norms."""
    row = (kept[F_ARM] * kept[F_ROW]) ** 2
    if sticks:
        s.friction_row += row
    else:
        s.friction_slip += row


@kernel
def first_corrections(d, s):
    """First guess of Y: friction of the smooth motion, with what closed contacts added to it in the last step."""
    groups, closed = groups_of(d), False
    if s.struck == 0 and s.persistent == 0 and s.counts[4] == 0:
        for c in range(d.nc):
            closed = closed or s.was_active[c] != 0
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        for e in range(g.n):
            kept = states_of(g)[e]
            kept[F_CORRECTED] = kept[F_SMOOTH]
            if closed and smooth_status(kept) != FREE:
                kept[F_CORRECTED] += kept[F_IMPULSE] / s.h - kept[F_BEGAN]


@kernel
def keep_corrections(d):
    """Keep Y for the search along a Newton step."""
    groups = groups_of(d)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction != 0:
            for e in range(g.n):
                states_of(g)[e, F_CORRECTED_BEFORE] = states_of(g)[e, F_CORRECTED]


@kernel
def correction_row(d, s, g, e, b):
    """Row of (2) or (3) of element e of group g, in F_ROW. Returns its status and sign."""
    kept, mu, half = states_of(g)[e], coefficients_of(g), s.position_factor * s.h * s.h
    evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
    status, sign, Y, p = smooth_status(kept), kept[F_SIGN], kept[F_CORRECTED], kept[F_MASS] / half
    if status == FREE:
        kept[F_ROW] = (Y - kept[F_SMOOTH]) / p
        return FREE, sign
    moved = row_times(g, e, s.U)
    bound = mu[e, 0 if status == STICK else 1] * evaluate_bound(d, g, e, b, s.lam, s.ks, s.nu, s.kp / half)
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
    """Add the blocks of (1)-(3) to matrix ``s.number``.

    That is the matrix of the problem, or the one of `contact.correction`. The latter has to be nearly symmetric: the
    slope of N is left out there.
    """
    b, groups, values = integers(d.table_at, N_SLOTS), groups_of(d), matrix_values(d, s.number)
    for k in range(d.n_groups):
        g = groups[k]
        if g.friction == 0:
            continue
        nd, size, mu, stored = g.nd, g.nd + 1 + g.nr, coefficients_of(g), tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            status, sign = correction_row(d, s, g, e, b)
            kept = states_of(g)[e]
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= s.kp * stored[e, 0, i]
                if status == STICK:
                    S[nd, i] -= s.kp * stored[e, 0, i]
            if status == STICK:
                S[nd, nd] -= s.epsilon * s.kp / kept[F_ARM] ** 2
            else:
                weight = s.kp * s.kp / kept[F_MASS]
                S[nd, nd] -= weight
                if status == SLIP and s.number == POSITION:
                    weight *= sign * mu[e, 0 if smooth_status(kept) == STICK else 1]
                    for i in range(g.nr):
                        S[nd, nd + 1 + i] -= weight * kept[F_SLOPE + i]
            scatter_block(g.maps_at[s.number], e, S, nd, values)
