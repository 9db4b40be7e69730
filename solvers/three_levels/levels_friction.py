"""Friction of the method with laws at three levels: sliding, rolling, spinning and coupled drilling, one law for all.

The cones of a contact, their μ, velocities γ_F and arms are those of `contact.law_rows`; r is the penalty of a cone.
P = Λ + the force λ integrated over the step:

    sticks   |r ξ_F − P_F| ≤ μ P_N     ξ_F = 0                                                                       (1)
             |r γ̇_F − λ_F| ≤ μ λ_N     γ̇_F = 0, else λ_F = −μ λ_N γ̇_F/|γ̇_F|                                       (2)
    slides   P_F = −μ P_N ξ_F/|ξ_F|                                                                                  (3)
             λ_F = −μ λ_N γ_F/|γ_F|                                                                                  (4)
             Λ_F = −μ Λ_N γ_F/|γ_F| in the place of (3), where it was closed and sliding at the start and P_F
             that follows is none of (1)                                                                             (5)

(5) leaves P_F to the memory of λ_F. Where sliding turns about within the step the two cancel each other, P_F is inside
of the cone of (1), and neither branch would hold: there it is (3), and in all contacts of attempts by impulses alone.

Source: docs/theory/nonsmooth_generalized_alpha_friction.md, (7)-(9); cones: docs/theory/contact_laws.md, (2), (5).
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.contact.approach import slide_before, tangential_restitution
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK
from fem_mbs.solvers.contact.law_rows import CONES, SIX, SLIDING, arm_of, cone_of, member, penalty, row_of, velocity_of
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP
from fem_mbs.solvers.stepping.kernels.sizes import rest_speed
from fem_mbs.system.contacts import (
    contact_groups,
    contacts_of,
    direction_of,
    gradient_times,
)
from fem_mbs.system.records import VELOCITY


@kernel
def reflected_slide(g, e, s, cone, m):
    """Term of the impact law of sliding in the velocity that multiplier m opposes."""
    e_T = tangential_restitution(g, e, s)
    if cone != SLIDING or e_T == 0.0:
        return 0.0
    return e_T * arm_of(g, e, s, m) * slide_before(g, e, s, m, s.Vminus)


@kernel
def rate_of(g, e, s, o, m):
    """Rate [m/s²] of that velocity, γ̇_F."""
    turned = o.turned[g.first_contact + e, m] / (1.0 if m < 3 else s.length)
    return arm_of(g, e, s, m) * (gradient_times(g, e, direction_of(g, e, m), s.Vd) + turned)


@kernel
def find_lasting(d, s, o):
    """Cones that are closed and slide at the start of the step, for (5); contacts were evaluated there last."""
    rest = rest_speed(s)
    least = CLOSED_GAP * s.exact * s.scale_x
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            closed = contact.gap_start[e] <= least and abs(gradient_times(g, e, contact.G_N_start[e], s.V0)) <= rest
            for cone in range(CONES):
                n, radius = cone_of(g, e, s, cone)
                slide = 0.0
                for i in range(n):
                    slide += velocity_of(g, e, s, member(cone, i), s.V0) ** 2
                lasts = closed and radius > 0.0 and math.sqrt(slide) > rest
                o.lasting[g.first_contact + e, cone] = 1 if lasts else 0


@kernel
def measure_cones(d, s, o):
    """Update the largest distance of P outside of its cones, and their largest width, of the run.

    λ and, where sliding lasts, Λ are inside. Between them P has the memory of λ, which is not where λ_F jumps.
    """
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for cone in range(CONES):
                n, mu = cone_of(g, e, s, cone)
                size = 0.0
                for i in range(n if mu > 0.0 else 0):
                    m = member(cone, i)
                    size += (s.sent[c, m] / arm_of(g, e, s, m)) ** 2
                o.beyond = max(o.beyond, math.sqrt(size) - mu * s.sent[c, 0])
                o.widest = max(o.widest, mu * s.sent[c, 0])


@kernel
def direct(rate, n, cone, way):
    """Fill the components of a cone in way (6,) with the direction of rate (n,), 0 where it has none; its size."""
    size = 0.0
    for i in range(n):
        size += rate[i] ** 2
    size = math.sqrt(size)
    for i in range(n):
        way[member(cone, i)] = rate[i] / size if size > 0.0 else 0.0
    return size


@kernel
def beyond(r, rate, force, n):
    """|r rate − force| for n components."""
    total = 0.0
    for i in range(n):
        total += (r * rate[i] - force[i]) ** 2
    return math.sqrt(total)


@kernel
def slides_on(c, s, o, cone, n, mu, r, P, xi):
    """True if (5) holds for a cone that slides along ``direction``: its impulse is none with which it sticks."""
    after = local_vector(3)
    for i in range(n):
        m = member(cone, i)
        after[i] = P[m] - s.kv * (s.cLam[c, m] + mu * s.cLam[c, 0] * o.direction[c, m])
    return beyond(r, xi, after, n) > mu * P[0]


@kernel
def slip_row(c, s, o, cone, n, mu, r, P, xi, gamma):
    """Rows (3)-(5) of a cone that slides."""
    o.slide_a[c, cone] = direct(gamma, n, cone, o.direction_a[c])
    lasts = o.forces != 0 and o.lasting[c, cone] != 0
    if lasts:
        o.slide[c, cone] = direct(gamma, n, cone, o.direction[c])
        lasts = slides_on(c, s, o, cone, n, mu, r, P, xi)
    if not lasts:
        o.slide[c, cone] = direct(xi, n, cone, o.direction[c])
    o.slides_on[c, cone] = 1 if lasts else 0
    for i in range(n):
        m = member(cone, i)
        if lasts:
            s.rows_c[c, m] = -s.cLam[c, m] - mu * s.cLam[c, 0] * o.direction[c, m]
        else:
            s.rows_c[c, m] = -(P[m] + mu * P[0] * o.direction[c, m]) / s.kv
        if o.level[c] == 3:
            o.rows_a[c, m] -= mu * o.lam_c[c, 0] * o.direction_a[c, m]


@kernel
def stick_row(c, s, o, cone, n, mu, r, xi, rate):
    """Rows (1), (2) of a cone that sticks."""
    force = local_vector(3)
    for i in range(n):
        s.rows_c[c, member(cone, i)] = -xi[i]
        force[i] = s.ks * o.lam_c[c, member(cone, i)]
    if o.level[c] < 3:
        return
    o.begins[c, cone] = 1 if beyond(r, rate, force, n) > mu * s.ks * o.lam_c[c, 0] else 0
    o.slide_a[c, cone] = direct(rate, n, cone, o.direction_a[c])
    for i in range(n):
        m = member(cone, i)
        if o.begins[c, cone] != 0:
            o.rows_a[c, m] -= mu * o.lam_c[c, 0] * o.direction_a[c, m]
        else:
            o.rows_a[c, m] = -rate[i] / o.c_a


@kernel
def friction_rows(g, e, d, s, o, P):
    """Statuses of the cones of a contact of some level, and their rows (1)-(5); P (6,) [N s]."""
    c = g.first_contact + e
    xi, gamma, rate, own = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    s.turning[c] = GAP
    for cone in range(CONES):
        n, mu = cone_of(g, e, s, cone)
        r = penalty(s, VELOCITY, cone)
        o.begins[c, cone] = 0
        for i in range(n):
            m = member(cone, i)
            s.rows_c[c, m] = -P[m] / s.kv
            o.rows_a[c, m], own[i] = -o.lam_c[c, m], P[m]
        status = GAP if o.level[c] < 2 else (CLOSED if mu == 0.0 else STICK)
        if status == STICK:
            for i in range(n):
                m = member(cone, i)
                gamma[i], rate[i] = velocity_of(g, e, s, m, s.V), rate_of(g, e, s, o, m)
                xi[i] = gamma[i] + reflected_slide(g, e, s, cone, m)
            if beyond(r, xi, own, n) > mu * P[0]:
                status = SLIP
                slip_row(c, s, o, cone, n, mu, r, P, xi, gamma)
            else:
                stick_row(c, s, o, cone, n, mu, r, xi, rate)
        o.state[c, cone] = status
        if cone == SLIDING:
            s.status[c] = status
        elif mu > 0.0:
            s.turning[c] = max(s.turning[c], status)


@kernel
def branches(s, o, c):
    """Number that identifies the branches of contact c."""
    number = o.level[c]
    for cone in range(CONES):
        number = 2 * (4 * number + o.state[c, cone]) + o.begins[c, cone]
    return number


@kernel
def opposed(g, e, s, B):
    """Gradients of the velocities of a contact in the order of its rows, 5 rows of nd numbers in B."""
    nd = g.nd
    for m in range(1, SIX):
        arm, row, at = arm_of(g, e, s, m), direction_of(g, e, m), (row_of(g, m) - 1) * nd
        for j in range(nd):
            B[at + j] = arm * row[j]


@kernel
def slip_tangent(S, B, nd, first, n, k, force, mu, way, cone, size, rates, own):
    """Rows −k (F + μ N way(γ_F)) of a cone at ``first``: by multipliers with ``own``, by velocities with ``rates``."""
    for i in range(n):
        along = way[member(cone, i)]
        if own != 0.0:
            S[nd + first + i, nd + first + i] -= own
            S[nd + first + i, nd] -= own * mu * along
        for j in range(n if rates != 0.0 and size > 0.0 else 0):
            across = ((1.0 if i == j else 0.0) - along * way[member(cone, j)]) * mu * force / size * rates * k
            for r in range(nd):
                S[nd + first + i, r] -= across * B[(first - 1 + j) * nd + r]


@kernel
def stick_tangent(S, B, nd, first, n, k):
    """Rows −k γ_F of a cone by velocities."""
    for i in range(n):
        for r in range(nd):
            S[nd + first + i, r] -= k * B[(first - 1 + i) * nd + r]


@kernel
def friction_of_accelerations(S, g, e, d, s, o, nd, column, B):
    """Block row 0: derivatives of the rows of forces, (2) and (4)."""
    c, k = g.first_contact + e, s.h * s.ks
    for cone in range(CONES):
        n, mu = cone_of(g, e, s, cone)
        first, status = row_of(g, member(cone, 0)), o.state[c, cone]
        slides, sticks = o.level[c] == 3 and status == SLIP, o.level[c] == 3 and status == STICK
        if sticks and o.begins[c, cone] == 0:
            if column == 0:
                stick_tangent(S, B, nd, first, n, k)
        elif slides or sticks:
            follows = (o.c_a if sticks and column == 0 else 0.0) + (1.0 if slides and column == 2 else 0.0)
            own, size, force = k if column == 0 else 0.0, o.slide_a[c, cone], o.lam_c[c, 0]
            slip_tangent(S, B, nd, first, n, k, force, mu, o.direction_a[c], cone, size, follows, own)
        else:
            for i in range(n if column == 0 else 0):
                S[nd + first + i, nd + first + i] -= k


@kernel
def friction_of_velocities(S, g, e, d, s, o, nd, column, B):
    """Block row 2: derivatives of the rows of impulses, (1), (3) and (5)."""
    c, k = g.first_contact + e, s.kv
    own = k if column == 2 else (s.ks / o.c_a if column == 0 else 0.0)  # of impulses P
    for cone in range(CONES):
        n, mu = cone_of(g, e, s, cone)
        first, status = row_of(g, member(cone, 0)), o.state[c, cone]
        if status == STICK:
            if column == 2:
                stick_tangent(S, B, nd, first, n, k)
        elif status == SLIP:
            lasts = o.slides_on[c, cone] != 0
            force = s.cLam[c, 0] if lasts else s.aLam[c, 0] / k
            follows, share = 1.0 if column == 2 else 0.0, own if column == 2 or not lasts else 0.0
            slip_tangent(S, B, nd, first, n, k, force, mu, o.direction[c], cone, o.slide[c, cone], follows, share)
        else:
            for i in range(n):
                S[nd + first + i, nd + first + i] -= own
