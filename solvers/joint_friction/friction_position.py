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
With several directions Y and u are vectors, s is the direction of sliding, and tangents are as
`joint_friction.friction_velocity`, (2).

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

from fem_mbs.jit import N_SLOTS, SLOT, integers, kernel, matrix
from fem_mbs.system.friction import (
    FREE,
    SLIP,
    STICK,
    add_row,
    add_turns,
    clear_block,
    coefficient_at,
    coefficients_of,
    directions_of,
    evaluate_bound,
    evaluate_row,
    friction_groups,
    friction_of,
    gradients_of,
    length_of,
    row_times,
    rows_in,
    rows_of,
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
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.correction_force, kept.correction_normal_force = kept.smooth_force, -1.0


@kernel
def next_bounds(d, s):
    """N of the next pass by the reactions of the last one; True where one has changed."""
    b, half, changed = integers(d.table_at, N_SLOTS), s.position_factor * s.h * s.h, False
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            for r in range(n * e, n * e + n):
                evaluate_row(d, g, r, b, s.x, s.R, s.Vs)
            N = evaluate_bound(d, g, e, b, s.lam, s.ks, s.nu, s.kp / half)
            changed = changed or abs(N - friction_of(g, n * e).correction_normal_force) > s.rtol * N
            for r in range(n * e, n * e + n):
                friction_of(g, r).correction_normal_force = N
    return changed


@kernel
def displacements(d, s, g, e, b, status):
    """u of (3) of the rows of element e in ``trial_rate``; its rows are evaluated."""
    n, along = directions_of(g), 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        evaluate_row(d, g, r, b, s.x, s.R, s.Vs)
        kept.trial_rate = row_times(g, r, s.U)
        if status == SLIP:
            rate = row_times(g, r, s.Vs) + kept.given_rate
            along += 0.5 * s.h * (kept.start_rate + rate) * kept.sign
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        if status == SLIP:
            kept.trial_rate += max(along, 0.0) * kept.sign


@kernel
def correction_rows(d, s, g, e, b):
    """Rows of (2) or (3) of element e of group g, their residuals. Returns their status."""
    n, half = directions_of(g), s.position_factor * s.h * s.h
    head, mu = friction_of(g, n * e), coefficients_of(g, n * e)
    status, p = smooth_status(head), head.effective_mass / half
    displacements(d, s, g, e, b, status)
    free = status == FREE or head.correction_normal_force < 0.0
    bound = coefficient_at(mu, status) * head.correction_normal_force
    squares = 0.0
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        kept.residual = kept.correction_force - p * kept.trial_rate
        squares += kept.residual**2
    size = length_of(n, squares, head.residual)
    sticks = not free and (size < bound or size == 0.0)
    for r in range(n * e, n * e + n):
        kept = friction_of(g, r)
        Y, xi = kept.correction_force, kept.residual
        kept.correction_sign, kept.turning = kept.sign, 0.0
        if free:
            kept.residual = (Y - kept.smooth_force) / p
        elif sticks:
            kept.residual = kept.trial_rate
        else:
            kept.correction_sign = -xi / size
            kept.turning = bound / size if n > 1 else 0.0
            kept.residual = (Y + kept.correction_sign * bound) / p
    return FREE if free else STICK if sticks else SLIP


@kernel
def corrections(d, s):
    """Subtract the forces of (1) from r1, evaluate rows and statuses."""
    b, number = integers(d.table_at, N_SLOTS), 0
    half, s.friction_moves = s.position_factor * s.h * s.h, 0.0
    for g in friction_groups(d):
        n = directions_of(g)
        for e in range(g.n):
            status = correction_rows(d, s, g, e, b)
            for r in range(n * e, n * e + n):
                kept = friction_of(g, r)
                impulse = half * (kept.correction_force - kept.smooth_force)
                s.friction_moves += impulse * impulse / kept.effective_mass
                add_row(g, r, -impulse, s.r1)
                add_norms(s, kept, status == STICK)
            sign = int(friction_of(g, n * e).correction_sign) if n == 1 else 0
            number = (5 * number + int(status) + sign) % 1000003
    s.friction_status = number


@kernel
def correction_tangents(d, s):
    """Add the blocks of (1)-(3) to matrix ``s.number``, that of the problem or of `contact.correction`."""
    b, values = integers(d.table_at, N_SLOTS), matrix_values(d, s.number)
    for g in friction_groups(d):
        nd, n, stored = g.nd, directions_of(g), gradients_of(g)
        size = nd + n + g.nr
        S = matrix(b[_KK], size, size)
        for e in range(g.n):
            status = correction_rows(d, s, g, e, b)
            clear_block(S, nd, n)
            for k in range(n):
                r, row = n * e + k, nd + k
                kept = friction_of(g, r)
                for i in range(nd):
                    S[i, row] -= s.kp * stored[r, i]
                    if status == STICK:
                        S[row, i] -= s.kp * stored[r, i]
                if status == STICK:
                    S[row, row] -= s.epsilon * s.kp / kept.arm**2
                else:
                    weight = s.kp * s.kp / kept.effective_mass
                    S[row, row] -= weight
                    add_turns(S, g, e, k, weight, s.kp, True)
            scatter_block(g.maps_at[s.number], e, S, nd, n, values)


@kernel
def keep_corrections(d):
    """Keep the friction with which a search along a Newton step begins."""
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.correction_force_before = kept.correction_force


@kernel
def move_corrections(d, s, factor):
    """Set the friction to that kept plus factor times the Newton step in dx."""
    step = rows_in(d, s.number, s.dx_at)
    for g in friction_groups(d):
        for r in range(rows_of(g)):
            kept = friction_of(g, r)
            kept.correction_force = kept.correction_force_before + factor * step[g.first_friction + r]
