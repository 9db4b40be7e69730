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

    symbol    field of FRICTION            meaning
    Y         correction_force             friction force [N, N m]; the unknown is divided by 2 k_p/h²
    p         effective_mass               of the coordinate
    s         sign                         direction of sliding
    N         correction_normal_force      bound over the coefficient, −1 in the first pass
"""

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix, tensor
from fem_mbs.system.friction import (
    FREE,
    SLIP,
    STICK,
    add_row,
    clear_block,
    coefficient_at,
    coefficients_of,
    evaluate_bound,
    evaluate_row,
    friction_groups,
    friction_of,
    row_times,
    rows_in,
    scatter_block,
    smooth_status,
)
from fem_mbs.system.global_matrices import matrix_values

_KK = SLOT["K"]


@kernel
def add_norms(s, kept, sticks):
    """Add the residual of a row, as a velocity or a length, to the norms."""
    row = (kept.arm * kept.residual) ** 2
    if sticks:
        s.friction_row += row
    else:
        s.friction_slip += row


@kernel
def first_corrections(d):
    """Begin the first pass: Y is the friction of the smooth motion."""
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.correction_force, kept.correction_normal_force = kept.smooth_force, -1.0


@kernel
def next_bounds(d, s):
    """N of the next pass by the reactions of the last one; True where one has changed."""
    b, half, changed = integers(d.table_at, N_SLOTS), s.position_factor * s.h * s.h, False
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
            N = evaluate_bound(d, g, e, b, s.lam, s.ks, s.nu, s.kp / half)
            changed = changed or abs(N - kept.correction_normal_force) > s.rtol * N
            kept.correction_normal_force = N
    return changed


@kernel
def correction_row(d, s, g, e, b):
    """Row of (2) or (3) of element e of group g, its residual. Returns its status and sign."""
    kept, mu, half = friction_of(g, e), coefficients_of(g, e), s.position_factor * s.h * s.h
    evaluate_row(d, g, e, b, s.x, s.R, s.Vs)
    status, sign, Y, p = smooth_status(kept), kept.sign, kept.correction_force, kept.effective_mass / half
    if status == FREE or kept.correction_normal_force < 0.0:
        kept.residual = (Y - kept.smooth_force) / p
        return FREE, sign
    moved = row_times(g, e, s.U)
    bound = coefficient_at(mu, status) * kept.correction_normal_force
    if status == SLIP:
        rate = row_times(g, e, s.Vs) + kept.given_rate
        moved += max(0.5 * s.h * (kept.start_rate + rate) * sign, 0.0) * sign
    xi = Y - p * moved
    if abs(xi) < bound or xi == 0.0:
        kept.residual = moved
        return STICK, sign
    sign = -1.0 if xi > 0.0 else 1.0
    kept.residual = (Y + sign * bound) / p
    return SLIP, sign


@kernel
def corrections(d, s):
    """Subtract the forces of (1) from r1, evaluate rows and statuses."""
    b, number = integers(d.table_at, N_SLOTS), 0
    half, s.friction_moves = s.position_factor * s.h * s.h, 0.0
    for g in friction_groups(d):
        for e in range(g.n):
            status, sign = correction_row(d, s, g, e, b)
            kept = friction_of(g, e)
            impulse = half * (kept.correction_force - kept.smooth_force)
            s.friction_moves += impulse * impulse / kept.effective_mass
            add_row(g, e, -impulse, s.r1)
            add_norms(s, kept, status == STICK)
            number = (5 * number + int(status) + int(sign)) % 1000003
    s.friction_status = number


@kernel
def correction_tangents(d, s):
    """Add the blocks of (1)-(3) to matrix ``s.number``, that of the problem or of `contact.correction`."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, s.number)
    for g in friction_groups(d):
        nd, size, stored = g.nd, g.nd + 1 + g.nr, tensor(g.G_at, g.n, 1, g.nd)
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            status, _ = correction_row(d, s, g, e, b)
            kept = friction_of(g, e)
            clear_block(S, nd)
            for i in range(nd):
                S[i, nd] -= s.kp * stored[e, 0, i]
                if status == STICK:
                    S[nd, i] -= s.kp * stored[e, 0, i]
            if status == STICK:
                S[nd, nd] -= s.epsilon * s.kp / kept.arm**2
            else:
                S[nd, nd] -= s.kp * s.kp / kept.effective_mass
            scatter_block(g.maps_at[s.number], e, S, nd, values)


@kernel
def keep_corrections(d):
    """Keep the friction with which a search along a Newton step begins."""
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.correction_force_before = kept.correction_force


@kernel
def move_corrections(d, s, factor):
    """Set the friction to that kept plus factor times the Newton step in dx."""
    step = rows_in(d, s.number, s.dx_at)
    for g in friction_groups(d):
        for e in range(g.n):
            kept = friction_of(g, e)
            kept.correction_force = kept.correction_force_before + factor * step[g.first_friction + e]
