"""Friction of contacts that stick, or slide, in a whole step: rows that keep the order of the scheme.

A contact is taken for one that lasts when it is closed at the start of the step and does not move along its normal. It
sticks or slides by its velocity there. Instead of the rows (2) of `lobatto.contacts` it has, for i = 1 … s − 1,

    stick   Σ_j b_j c_j^(i−1) γ(q^j, v^j) = 0 ,   and γ = 0 at the end by the cone of the impact problem            (1)
    slide   R_T^j + μ R_N^j τ^j = 0 ,   τ^j = γ^j/|γ^j| ,  j = 1 … s                                              (2)

The last of (2) belongs to the impact problem. With B = Σ_{j<s} b_j R^j and the normal impulse ΔP_N of the step as its
unknown it is

    ΔP_T = B_T − μ (ΔP_N − B_N) τ^s ,   G_N v = 0                                                                (3)

A step that does not end as it was taken to last (the contact opens, stick and slide change, an impulse pulls) is solved
again without these rows.

Source: docs/theory/lobatto.md, (12), (13); averaged rows in the sense of Jay (1996).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, entry, indices, integers, kernel, local_vector, matrix
from fem_mbs.solvers.contact.law import GAP, SLIP, STICK
from fem_mbs.solvers.contact.rows import velocity_contact_tangents
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.lobatto.directions import add_row, block_of, local_row
from fem_mbs.solvers.stepping.data import run_at, system_at
from fem_mbs.system.assembly import POSITION, VELOCITY, groups_of, matrix_values, scatter_matrix, zero
from fem_mbs.system.contacts import (
    B_GN,
    B_VT,
    B_VT0,
    C_BLOCKS,
    C_GAP,
    L_MU,
    L_ROLLING,
    L_SPINNING,
    add_gradient,
    gradient_times,
    laws_of,
)  # fmt: skip

_K = SLOT["K"]
CLOSED_GAP = 10.0  # times the accuracy of gaps: a gap below it is closed
STILL = 1e2  # times the accuracy of velocities: a contact that moves no faster stays closed, or sticks
SLOW = 1e-2  # times tol_v, likewise


@kernel
def choose_lasting(d, s, o, allowed):
    """Choose contacts that last, if ``allowed``, by what they do at the start of the step; whether there is one."""
    groups = groups_of(d)
    still = STILL * s.exact * (1.0 + s.scale_v) + SLOW * s.tol_v
    o.lasting = 0
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        kept, law = matrix(g.contact_at, g.n, g.contact_stride), laws_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            o.lasts[c] = GAP
            # rows of rolling and spinning belong to the usual ones: with these the motion did not follow their moments
            resists = law[e, L_ROLLING] > 0.0 or law[e, L_SPINNING] > 0.0
            if not allowed or g.drilling != 0 or law[e, L_MU] == 0.0 or resists:
                continue
            if kept[e, C_GAP] > CLOSED_GAP * s.exact * (1.0 + s.scale_x):
                continue
            if abs(gradient_times(g, e, B_GN, 0, s.V0)) > still:
                continue
            speed = math.hypot(gradient_times(g, e, B_VT, 0, s.V0), gradient_times(g, e, B_VT, 1, s.V0))
            o.lasts[c] = STICK if speed <= still else SLIP
            o.lasting = 1
    return o.lasting != 0


@kernel
def lasted(d, s, o):
    """Whether the contacts did what they were taken to do; velocities at the end are known."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            if o.lasts[c] == GAP:
                continue
            if s.status[c] != o.lasts[c]:
                return False
            for j in range(o.a.shape[0] - 1):
                if o.stage_status[j, c] == GAP or o.cR[j, c, 0] < 0.0:
                    return False
            for j in range(o.a.shape[0]):
                if o.lasts[c] == SLIP and o.forward[j, c] == 0:
                    return False
            if o.lasts[c] == SLIP and (s.aLam[c, 0] < 0.0 or not goes_on(g, e, s, s.V)):
                return False
    return True


@kernel
def goes_on(g, e, s, V):
    """Whether a contact slides on in the direction that it had at the start of the step: less than 90° off."""
    along = 0.0
    for i in range(2):
        along += gradient_times(g, e, B_VT0, i, s.V0) * gradient_times(g, e, B_VT, i, V)
    return along > 0.0


@kernel
def sticking_rows(s, o, j, g, e, tangents):
    """What stage j gives to the rows (1) of a contact, and its entries."""
    c = g.first_contact + e
    for i in range(1, 3):
        rate, weight = gradient_times(g, e, block_of(i), 0, s.Vs), o.b[j]
        for k in range(o.a.shape[0] - 1):
            o.rows[k, c, i] += weight * rate
            weight *= s.instants[j]
        if tangents:
            add_row(o, j, g, e, local_row(g, i), block_of(i), s.kv, o.A_D, o.A_w)


@kernel
def sliding_rows(s, o, j, g, e, tangents):
    """Rows (2) of a contact at stage j, and their entries, which are those of block row j."""
    c, mu, k_v = g.first_contact + e, laws_of(g)[e, L_MU], s.kv
    nd, size = g.nd, g.nd + 6
    where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
    tau = local_vector(2)
    speed = direction_of_sliding(g, e, s.Vs, tau)
    o.forward[j, c] = 1 if goes_on(g, e, s, s.Vs) else 0
    for i in range(2):
        o.rows[j, c, 1 + i] = o.cR[j, c, 1 + i] + mu * o.cR[j, c, 0] * tau[i]
        if not tangents:
            continue
        row = nd + 1 + i
        at = where[row * size + row]
        if at >= 0:
            o.S_w[at] += k_v
        at = where[row * size + nd]
        if at >= 0:
            o.S_w[at] += k_v * mu * tau[i]
        factor = k_v * mu * o.cR[j, c, 0] / speed if speed > 0.0 else 0.0
        for m in range(2):
            scale = factor * ((1.0 if i == m else 0.0) - tau[i] * tau[m])
            if scale != 0.0:
                add_row(o, j, g, e, 1 + i, block_of(1 + m), scale, o.S_D, o.S_w)


@kernel
def direction_of_sliding(g, e, V, tau):
    """Fill tau (2,) with γ/|γ|; returns |γ|."""
    for i in range(2):
        tau[i] = gradient_times(g, e, B_VT, i, V)
    speed = math.hypot(tau[0], tau[1])
    for i in range(2):
        tau[i] = tau[i] / speed if speed > 0.0 else 0.0
    return speed


@kernel
def keep_directions(d, s, o):
    """Keep τ^s of sliding contacts; contacts are evaluated at the last stage, whose velocities are in Vs."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            direction_of_sliding(g, e, s.Vs, o.slide[c])
            o.forward[o.a.shape[0] - 1, c] = 1 if goes_on(g, e, s, s.Vs) else 0


@kernel
def last_sliding(d, s, o, r1, rows):
    """Impulses (3) and rows of contacts that slide, in the impact problem; its contact residual left them open."""
    groups = groups_of(d)
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            if o.lasts[c] != SLIP:
                continue
            s.aLam[c, 0] = s.kv * s.cLam[c, 0]
            rows[c, 0] = -gradient_times(g, e, B_GN, 0, s.V)
            add_gradient(g, e, B_GN, 0, -s.aLam[c, 0], r1)
            friction = laws_of(g)[e, L_MU] * (s.aLam[c, 0] - o.before_end[c, 0])
            for i in range(2):
                s.aLam[c, 1 + i] = o.before_end[c, 1 + i] - friction * o.slide[c, i]
                add_gradient(g, e, B_VT, i, -s.aLam[c, 1 + i], r1)
            s.status[c] = SLIP


@kernel
def forces_at_the_end(d, s, o):
    """Add to P, which has the impulses ΔP of all contacts, what the last multipliers R^s of those that last differ."""
    groups, b = groups_of(d), o.b[o.a.shape[0] - 1]
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        for e in range(g.n):
            c = g.first_contact + e
            if o.lasts[c] != GAP:
                for i in range(3):
                    last = (s.aLam[c, i] - o.before_end[c, i]) / b
                    add_gradient(g, e, block_of(i), 0, last - s.aLam[c, i], s.P)


@entry("void(int64, int64)")
def impact_contacts(data, run):
    """Add the contacts to the matrix of the impact problem, those of (3) too."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    velocity_contact_tangents(d, s, s.V, s.Vminus)
    if o.lasting == 0:
        return
    b = integers(d.table_at, N_SLOTS)
    groups = groups_of(d)
    values, k = matrix_values(d, VELOCITY), s.kv
    for a in range(d.n_groups):
        g = groups[a]
        if g.contact == 0:
            continue
        nd = g.nd
        size = nd + 6
        S, kept = matrix(b[_K], size, size), matrix(g.contact_at, g.n, g.contact_stride)
        for e in range(g.n):
            c = g.first_contact + e
            if o.lasts[c] != SLIP:
                continue
            zero(b[_K], size * size)
            S[nd, nd] = k * k / s.pv  # takes the row of an open contact off
            mu = laws_of(g)[e, L_MU]
            for i in range(nd):
                S[nd, i] = -k * kept[e, C_BLOCKS + B_GN * nd + i]
                S[i, nd] = S[nd, i]
                for m in range(2):
                    S[i, nd] += k * mu * o.slide[c, m] * kept[e, C_BLOCKS + (B_VT + m) * nd + i]
            scatter_matrix(g.maps_at[VELOCITY], e, size, S.reshape(size * size), values)
