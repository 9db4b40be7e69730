"""Contacts at the stages: no penetration, and friction, rolling and spinning by their cones.

At stage i = 2 … s, with the multipliers of stage i − 1 (divided by k_v, as the rows):

    r g_N/h − R_N < 0 :  row g_N/h = 0 ,   else  row R_N = 0                                                      (1)
    p = r γ − R_T ,  ρ = μ max(R_N, 0) :   |p| < ρ:  row γ = 0 ,   else  row R_T + ρ p/|p| = 0                     (2)

An attempt *by impulses* at a step that has failed has (1) at the last stage only, R_N = 0 before, and the forces of
friction, rolling and spinning that the contact had in the last step, if it stays closed:

    R_T^j = ΔP_T of the last step                                                                                 (3)

What acts at the end of the step makes up for it, since the impact problem has the impulses of the whole step.

Where impacts are located (`lobatto.modes`) a contact is open or closed in all of (1), by its mode.

γ = V_T v for sliding, (γ, c W_3 v) where it is coupled with drilling, arm W v for rolling and spinning. The rows (2)
are right at a change of status; contacts that stick or slide in the whole step have others (`lobatto.lasting`).
Derivatives of V_T and W are left out of the matrix: O(h).

Source: Capobianco2024, (52), (57); docs/theory/lobatto.md, (11)-(13).
"""

import math

from fem_mbs.jit import (
    N_SLOTS,
    SLOT,
    call2,
    indices,
    integer_matrix,
    integers,
    kernel,
    local_matrix,
    local_vector,
    matrix,
)
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK
from fem_mbs.solvers.contact.law_rows import (
    CONES,
    SIX,
    SLIDING,
    arm_of,
    cone_of,
    cone_with,
    member,
    penalty,
    row_of,
    velocity_of,
)
from fem_mbs.solvers.lobatto.blocks import add_row, spread
from fem_mbs.solvers.lobatto.lasting import lasting_rows
from fem_mbs.system.contacts import (
    add_gradient,
    contact_groups,
    contacts,
    contacts_of,
    direction_of,
    gradient_times,
)
from fem_mbs.system.gather import gather_poses, gather_start, gather_state, times_tangent
from fem_mbs.system.records import POSITION, VELOCITY, zero

_K, _C, _M, _HN = (SLOT[k] for k in ("K", "C", "M", "H_N"))


@kernel
def _add_gap_row(s, o, j, g, e):
    """Add k_v G_N T/h to the row of the gap."""
    nd, size = g.nd, g.nd + 6
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
    G_N, scale = contacts_of(g).G_N[e], s.kv / s.h
    for a in range(g.nn):
        T, c = o.Ti[j, nodes[e, a]], 6 * a
        for k in range(3):
            i = where[nd * size + c + k]
            if i >= 0:
                o.R_D[i] += scale * G_N[c + k]
            i = where[nd * size + c + 3 + k]
            if i >= 0:
                for m in range(3):
                    o.R_D[i] += scale * G_N[c + 3 + m] * T[m, k]


@kernel
def _add_forces(d, s, o, j, g, e, b, tangents):
    """Forces of the multipliers of stage j, and their entries."""
    nd, size, c = g.nd, g.nd + 6, g.first_contact + e
    for i in range(SIX):
        add_gradient(g, e, direction_of(g, e, i), s.kv * arm_of(g, e, s, i) * o.cR[j, c, i], o.Fi[j])
    if not tangents:
        return
    B, S, nothing = matrix(b[_C], size, size), matrix(b[_K], size, size), matrix(b[_M], nd, 0)
    zero(b[_C], size * size)
    for i in range(SIX):
        row, column, scale = direction_of(g, e, i), nd + row_of(g, i), s.kv * arm_of(g, e, s, i)
        for r in range(nd):
            B[r, column] = scale * row[r]
    spread(s, o, j, g, e, g.maps_at[POSITION], size, True, nothing, B)
    if j > 0 and g.contact_hessian != 0 and o.cR[j, c, 0] != 0.0:
        H = matrix(b[_HN], nd, nd)
        gather_poses(g, e, b, s.xs, s.Rs)
        gather_start(g, e, b, s.x0, s.R0)
        gather_state(g, e, b)
        zero(b[_HN], nd * nd)
        zero(b[_K], size * size)
        call2(g.contact_hessian, g.parameters_at + e * g.stride, d.table_at)
        for r in range(nd):
            for i in range(nd):
                S[r, i] = s.kv * o.cR[j, c, 0] * H[r, i]
        times_tangent(g, e, S, nd, o.Ti[j])
        spread(s, o, j, g, e, g.maps_at[POSITION], size, False, nothing, S)


@kernel
def _cone_rows(d, s, o, j, g, e, which, tangents):
    """Rows (2) of one cone at stage j, and their entries; returns the status."""
    n, mu = cone_of(g, e, s, which)
    if n == 0:
        return GAP
    c, k, r = g.first_contact + e, j - 1, penalty(s, VELOCITY, which) / s.kv
    nd, size = g.nd, g.nd + 6
    where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
    rate, tau, P = local_vector(3), local_vector(3), local_matrix(3, 3)
    length, radius = 0.0, mu * max(o.cR[k, c, 0], 0.0)
    for a in range(n):
        i = member(which, a)
        rate[a] = velocity_of(g, e, s, i, s.Vs)
        tau[a] = r * rate[a] - o.cR[k, c, i]
        length += tau[a] ** 2
    length = math.sqrt(length)
    stick = length < radius
    share = radius / length if length > 0.0 and not stick else 0.0
    for a in range(n):
        tau[a] = tau[a] / length if length > 0.0 else 0.0
    for a in range(n):
        i = member(which, a)
        o.rows[k, c, i] = rate[a] if stick else o.cR[k, c, i] + radius * tau[a]
        if not tangents:
            continue
        row = row_of(g, i)
        if stick:
            add_row(o, j, g, e, row, direction_of(g, e, i), s.kv * arm_of(g, e, s, i), o.R_D, o.R_w)
            continue
        for m in range(n):
            P[a, m] = share * ((1.0 if a == m else 0.0) - tau[a] * tau[m])
            other = member(which, m)
            at = where[(nd + row) * size + nd + row_of(g, other)]
            if at >= 0:
                o.R_L[at] += s.kv * ((1.0 if a == m else 0.0) - P[a, m])
            scale = s.kv * r * P[a, m] * arm_of(g, e, s, other)
            if scale != 0.0:
                add_row(o, j, g, e, row, direction_of(g, e, other), scale, o.R_D, o.R_w)
        at = where[(nd + row) * size + nd]
        if at >= 0 and radius > 0.0:
            o.R_L[at] += s.kv * mu * tau[a]
    return STICK if stick else (SLIP if radius > 0.0 else CLOSED)


@kernel
def _add_diagonal(o, g, e, i, value):
    """Add a number to the diagonal of the row of direction i."""
    size, row = g.nd + 6, g.nd + row_of(g, i)
    at = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)[row * size + row]
    if at >= 0:
        o.R_L[at] += value


@kernel
def carried(s, o, g, e, i):
    """Multiplier (3) of direction i, and 0 in usual attempts."""
    c = g.first_contact + e
    if o.by_impulses == 0 or i == 0 or s.was_active[c] == 0 or s.impact[c] != 0:
        return 0.0
    return s.total_Lam[c, i] / (arm_of(g, e, s, i) * s.kv)


@kernel
def _multiplier_row(s, o, k, g, e, i, tangents):
    """The row R = 0, or (3), of direction i of an open contact, or of one without such resistance."""
    o.rows[k, g.first_contact + e, i] = o.cR[k, g.first_contact + e, i] - carried(s, o, g, e, i)
    if tangents:
        _add_diagonal(o, g, e, i, s.kv)


@kernel
def _contact_rows(d, s, o, j, g, e, tangents):
    """Rows of one contact at stage j > 0."""
    c, k = g.first_contact + e, j - 1
    gap = contacts_of(g).gap[e]
    o.stage_gap[k, c] = gap
    closed = s.pv * gap / s.h - s.kv * o.cR[k, c, 0] < 0.0
    closed = closed and (o.by_impulses == 0 or j == o.a.shape[0] - 1)
    if o.left_out[c] != 0:
        o.stage_rate[k, c] = gradient_times(g, e, contacts_of(g).G_N[e], s.Vs)
    closed = (closed and o.left_out[c] == 0) or o.kept[c] != 0
    resists = closed and o.by_impulses == 0
    o.stage_status[k, c] = CLOSED if closed else GAP
    if not closed:
        _multiplier_row(s, o, k, g, e, 0, tangents)
    else:
        o.rows[k, c, 0] = gap / s.h
        if tangents:
            _add_gap_row(s, o, j, g, e)
            _add_diagonal(o, g, e, 0, s.epsilon * s.kv)
    for i in range(1, 6):
        if not resists and o.lasts[c, cone_with(g, i)] == GAP:
            _multiplier_row(s, o, k, g, e, i, tangents)
        elif tangents:  # proximal, in the matrix only: redundant contacts, those that last while they are open too
            _add_diagonal(o, g, e, i, s.epsilon * s.kv)
    if resists:
        for which in range(CONES):
            if o.lasts[c, which] != GAP:
                continue
            status = _cone_rows(d, s, o, j, g, e, which, tangents)
            if which == SLIDING:
                o.stage_status[k, c] = status


@kernel
def stage_contacts(d, s, o, j, tangents):
    """Forces and rows of all contacts at stage j, evaluated at xs, Rs, Vs, with ``tangents`` also their entries."""
    b = integers(d.table_at, N_SLOTS)
    last = o.a.shape[0] - 1
    contacts(d, s.xs, s.Rs, s.x0, s.R0, s.Vs)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            if j == 0:
                for k in range(last):
                    for i in range(SIX):
                        o.rows[k, c, i] = 0.0
            if j < last:
                _add_forces(d, s, o, j, g, e, b, tangents)
            if j > 0:
                _contact_rows(d, s, o, j, g, e, tangents)
            lasting_rows(s, o, j, g, e, tangents)
            s.status[c] = GAP if j == 0 else 4 * s.status[c] + o.stage_status[j - 1, c]
