"""Directions, cones and unknowns of a contact, which the laws of all methods have in common.

A contact has six multipliers, one per direction, each with the velocity γ that it opposes:

    m      direction   γ          arm
    0      normal      G_N v      1
    1, 2   sliding     V_T v      1
    3, 4   rolling     arm W v    length of the model
    5      spinning    arm W v    length of the model; with a contact disc c, `Contact.drilling_arm`

Moments are counted as forces at the arm, such that one k and one p serve forces and moments. Those of friction and of
resistances form cones, vectors that are bounded by μ times the normal multiplier (`contact.law`):

    cone       directions             μ                              penalty
    sliding    1, 2; with a disc 5    friction                       p_T
    rolling    3, 4                   rolling resistance/length      p
    spinning   5, without a disc      spinning resistance/length     p

Arrays of multipliers and of their rows have six columns, one per direction. In the matrix of an element drilling, which
is coupled with sliding, follows it (`row_of`); linear systems have the first three unknowns of all contacts, then the
moments of those that have any (`place_of`).

Below are the rows and tangents of `contact.law` for one contact at the level of positions or of velocities, cone by
cone; what the contact moves by there, u (6,), is up to the level.

Source: docs/theory/contact_laws.md, (2), (5)-(10).
"""

from fem_mbs.jit import integers, kernel, local_vector, vector
from fem_mbs.solvers.contact.law import cone_forces, cone_tangent, normal_tangent, open_rows
from fem_mbs.system.contacts import add_gradient, contacts_of, direction_of, gradient_times, laws_of
from fem_mbs.system.records import POSITION

SIX = 6  # directions of a contact
SLIDING, ROLLING, SPINNING = range(3)
CONES = 3  # of a contact


@kernel
def member(cone, i):
    """Direction of component i of a cone."""
    if cone == SLIDING:
        return 1 + i if i < 2 else 5
    return 3 + i if cone == ROLLING else 5


@kernel
def cone_with(g, m):
    """Cone of direction m > 0."""
    if m < 3:
        return SLIDING
    if m < 5:
        return ROLLING
    return SLIDING if g.drilling != 0 else SPINNING


@kernel
def cone_of(g, e, s, cone):
    """Number of components of a cone, 0 where the contact does not have it, and its μ."""
    law = laws_of(g)
    if cone == SLIDING:
        return 2 + g.drilling, law[e].friction
    if cone == ROLLING:
        return 2, law[e].rolling_resistance / s.length
    return 1 - g.drilling, law[e].spinning_resistance / s.length


@kernel
def penalty(s, level, cone):
    """Penalty of a cone at a level, positions or velocities."""
    if level == POSITION:
        return s.pp_T
    return s.pv_T if cone == SLIDING else s.pv


@kernel
def arm_of(g, e, s, m):
    """Factor of direction m: that of moments is a length."""
    if m < 3:
        return 1.0
    return laws_of(g)[e].drilling_arm if m == 5 and g.drilling != 0 else s.length


@kernel
def velocity_of(g, e, s, m, V):
    """Velocity γ [m/s] that direction m opposes."""
    return arm_of(g, e, s, m) * gradient_times(g, e, direction_of(g, e, m), V)


@kernel
def contact_arm(d, s, c, m):
    """`arm_of` of contact c, whose group is not at hand."""
    if m < 3:
        return 1.0
    arm = vector(d.drill_arm_at, d.nc)[c]
    return arm if m == 5 and arm > 0.0 else s.length


@kernel
def gradient_of(g, e, level, m):
    """Gradient (nd,) of direction m at a level: in positions that of the slip since the start of the step."""
    if level == POSITION and 0 < m < 3:
        return contacts_of(g).G_T[e, m - 1]
    return direction_of(g, e, m)


@kernel
def row_of(g, m):
    """Place of direction m among those of an element."""
    if m < 3 or g.drilling == 0:
        return m
    return 3 + (m - 2) % 3


@kernel
def place_of(d, level, c, m):
    """Place of multiplier m of contact c among the unknowns of a matrix, or of one of its blocks; −1: it has none.

    The position correction has no moments but those of drilling; all others have those of all contacts with moments.
    """
    if m < 3:
        return d.n + d.m + 3 * c + m
    first = d.n + d.m + 3 * d.nc
    if level == POSITION:
        drill = integers(d.drill_index_at, d.nc)[c]
        return first + drill if m == 5 and drill >= 0 else -1
    roll = integers(d.roll_index_at, d.nc)[c]
    return first + 3 * roll + m - 3 if roll >= 0 else -1


@kernel
def put_rows(d, level, factor, rows, dx):
    """Put factor times rows (nc, 6) of contacts to their places in dx, a right-hand side."""
    for c in range(d.nc):
        for m in range(SIX):
            at = place_of(d, level, c, m)
            if at >= 0:
                dx[at] = factor * rows[c, m]


@kernel
def move_multipliers(d, level, kept, part, dx, multipliers):
    """Multipliers (nc, 6) of contacts ← kept ones plus a part of a Newton step dx."""
    for c in range(d.nc):
        for m in range(SIX):
            at = place_of(d, level, c, m)
            if at >= 0:
                multipliers[c, m] = kept[c, m] + part * dx[at]


@kernel
def add_squares(rows, total):
    """Sum ``total`` and the squares of the normal ones of rows (nc, 6), and the sum of those of all others."""
    friction = 0.0
    for c in range(rows.shape[0]):
        total += rows[c, 0] ** 2
        friction += rows[c, 1] ** 2 + rows[c, 2] ** 2
        for m in range(3, SIX):
            friction += rows[c, m] ** 2
    return total, friction


@kernel
def k_and_p(s, level):
    """k and the penalty of normal directions at a level."""
    if level == POSITION:
        return s.kp, s.pp
    return s.kv, s.pv


@kernel
def open_residual(g, s, level, lam, rows):
    """Fill rows (6,) of a contact that takes no part, divided by k; lam (6,) are its multipliers."""
    k, p = k_and_p(s, level)
    sliding, turning = -k / penalty(s, level, SLIDING), -k / penalty(s, level, ROLLING)
    rows[0] = -k / p * lam[0]
    for m in range(1, SIX):
        rows[m] = (sliding if cone_with(g, m) == SLIDING else turning) * lam[m]


@kernel
def cone_residual(g, e, s, level, cone, xi_N, lam, u, acts, rows, r1):
    """Add a cone of an active contact: its forces to r1 (full) and ``acts`` (6,), its rows divided by k to rows (6,).

    xi_N is the augmented normal force. Returns the status of the cone.
    """
    own, rate, force, row = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    n, mu = cone_of(g, e, s, cone)
    for i in range(n):
        m = member(cone, i)
        own[i], rate[i] = lam[m], u[m]
    status = cone_forces(k_and_p(s, level)[0], penalty(s, level, cone), mu, xi_N, own, rate, n, force, row)
    for i in range(n):
        m = member(cone, i)
        acts[m], rows[m] = arm_of(g, e, s, m) * force[i], row[i]
        add_gradient(g, e, gradient_of(g, e, level, m), -acts[m], r1)
    return status


@kernel
def contact_tangent(S, g, e, s, level, xi_N, lam, u, B):
    """Add the blocks of an active contact to S; xi_N, lam, u as in `cone_residual`, B (3, nd) is scratch."""
    own, rate, nd, G_N = local_vector(3), local_vector(3), g.nd, contacts_of(g).G_N[e]
    k, p_N = k_and_p(s, level)
    normal_tangent(S, nd, nd, G_N, k, p_N)
    for cone in range(1 if level == POSITION else CONES):
        n, mu = cone_of(g, e, s, cone)
        p, row = penalty(s, level, cone), nd + row_of(g, member(cone, 0))
        if mu == 0.0:
            open_rows(S, row, n, k, p)
            continue
        for i in range(n):
            m = member(cone, i)
            arm, G = arm_of(g, e, s, m), gradient_of(g, e, level, m)
            own[i], rate[i] = lam[m], u[m]
            for j in range(nd):
                B[i, j] = arm * G[j]
        cone_tangent(S, nd, nd, row, G_N, B, n, k, p_N, p, mu, xi_N, own, rate)
