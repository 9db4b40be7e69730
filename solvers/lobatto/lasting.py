"""Cones of contacts that stick, or slip, in a whole step: rows that keep the order of the scheme.

A contact is taken for one that lasts when it is closed at the start of the step and does not move along its normal.
Each of its cones, sliding (with drilling where that is coupled), rolling and spinning, sticks or slips by its rate γ
there.
Instead of the rows (2) of `lobatto.contacts` it has, for i = 1 … s − 1,

    stick   Σ_j b_j P_{i−1}(2 c_j − 1) γ(q^j, v^j) = 0 ,   and γ = 0 at the end                                     (1)
    slip    R_T^j + μ R_N^j τ^j = 0 ,   τ^j = γ^j/|γ^j| ,  j = 1 … s                                              (2)

The last of (2) belongs to the impact problem. With B = Σ_{j<s} b_j R^j and the normal impulse ΔP_N of the step as its
unknown it is

    ΔP_T = B_T − μ (ΔP_N − B_N) τ^s ,   G_N v = 0                                                                (3)

A contact in which nothing slips has the usual rows there; one in which something does has (3), and γ = 0 of its cones
that stick. Contacts that did not last (they open, stick and slip change, an impulse is outside its cone) have the usual
rows when the step is solved again. Of redundant contacts that stick some have no force, or one at the limit of their
cone: the criterion is that they neither open nor slip.

Source: docs/theory/lobatto.md, (12), (13); averaged rows in the sense of Jay (1996).
"""

import math

from fem_mbs.jit import N_SLOTS, SLOT, entry, indices, integers, kernel, local_vector, matrix, vector
from fem_mbs.solvers.contact.law import CLOSED, GAP, SLIP, STICK
from fem_mbs.solvers.contact.law_rows import CONES, SIX, arm_of, cone_of, member, penalty, row_of, velocity_of
from fem_mbs.solvers.contact.velocity_rows import velocity_contact_tangents
from fem_mbs.solvers.lobatto.blocks import add_row
from fem_mbs.solvers.lobatto.data import own_at
from fem_mbs.solvers.stepping.kernels.codes import CLOSED_GAP
from fem_mbs.solvers.stepping.kernels.data import run_at, system_at
from fem_mbs.solvers.stepping.kernels.sizes import speed_of
from fem_mbs.system.contacts import add_gradient, contact_groups, contacts_of, direction_of, gradient_times
from fem_mbs.system.gather import scatter_matrix
from fem_mbs.system.global_matrices import matrix_values
from fem_mbs.system.records import POSITION, VELOCITY, zero

_K = SLOT["K"]
STILL = 1e2  # times the accuracy of velocities: a contact that slides no faster sticks
SLOW = 1e-2  # times tol_v, likewise
FAINT = 1e-2  # of the slip at the start of the step: below it the slip of a stage has no direction


@kernel
def lasts(o, c):
    """True if a cone of contact c sticks or slips in the whole step."""
    return o.lasts[c, 0] != GAP or o.lasts[c, 1] != GAP or o.lasts[c, 2] != GAP


@kernel
def slips(o, c):
    """True if a cone of contact c slips in the whole step."""
    return o.lasts[c, 0] == SLIP or o.lasts[c, 1] == SLIP or o.lasts[c, 2] == SLIP


@kernel
def has_own_rows(o, c):
    """True if the impact problem has the rows (3) for contact c: something slips, or it is kept (`lobatto.modes`)."""
    return o.kept[c] != 0 or slips(o, c)


@kernel
def rates_of(g, e, s, V, which, n, rate):
    """Fill rate (n,) with the rates of the directions of a cone; returns their size."""
    size = 0.0
    for a in range(n):
        rate[a] = velocity_of(g, e, s, member(which, a), V)
        size += rate[a] ** 2
    return math.sqrt(size)


@kernel
def speed_of_rest(s):
    """Speed below which a contact sticks."""
    return STILL * s.exact * speed_of(s) + SLOW * s.tol_v


@kernel
def rests(g, e, s, V):
    """True if a contact, which was evaluated last, is closed and does not move along its normal.

    Rebounds of a closed contact fall by a factor per step, through every bound. This one is that of impacts, not the
    accuracy of velocities, which is worse far from the origin: contacts would begin to last in another step there.
    """
    contact = contacts_of(g)
    gap = contact.gap[e]
    closed = gap <= CLOSED_GAP * s.exact * s.scale_x
    return closed and abs(gradient_times(g, e, contact.G_N[e], V)) <= max(s.tol_v, speed_of_rest(s))


@kernel
def choose_cone(g, e, s, o, which, still):
    """Set the status of a cone by its rate at the start of the step; False if the contact does not have it."""
    c, rate = g.first_contact + e, local_vector(3)
    n, mu = cone_of(g, e, s, which)
    if n == 0 or mu == 0.0:
        return False
    speed = rates_of(g, e, s, s.V0, which, n, rate)
    o.lasts[c, which] = STICK if speed <= still else SLIP
    for k in range(n):
        o.rate0[c, member(which, k)] = rate[k]
    return True


@kernel
def choose_lasting(d, s, o, allowed):
    """Choose contacts that last, if ``allowed``, by what they do at the start of the step; whether there is one."""
    still = speed_of_rest(s)
    o.lasting = 0
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for which in range(CONES):
                o.lasts[c, which] = GAP
            if not allowed or not rests(g, e, s, s.V0):
                continue
            for which in range(CONES):
                if choose_cone(g, e, s, o, which, still):
                    o.lasting = 1
    return o.lasting != 0


@kernel
def goes_on(g, e, s, o, V):
    """True if slip continues in the direction that it had at the start of the step: less than 90° off."""
    c, rate = g.first_contact + e, local_vector(3)
    for which in range(CONES):
        if o.lasts[c, which] != SLIP:
            continue
        n, _ = cone_of(g, e, s, which)
        rates_of(g, e, s, V, which, n, rate)
        along = 0.0
        for k in range(n):
            along += o.rate0[c, member(which, k)] * rate[k]
        if not along > 0.0:
            return False
    return True


@kernel
def _held(g, e, s, o):
    """True if the cones of a contact that were taken to stick do so at the end of the step, by impulses inside of them.

    The usual rows have decided on the impulses. Those of redundant contacts may be at the limit without any slip.
    """
    c, rate = g.first_contact + e, local_vector(3)
    still = speed_of_rest(s)
    for which in range(CONES):
        if o.lasts[c, which] != STICK:
            continue
        n, mu = cone_of(g, e, s, which)
        if not slips(o, c):
            if rates_of(g, e, s, s.V, which, n, rate) > still:
                return False
            continue
        size = 0.0
        for k in range(n):
            i = member(which, k)
            size += (s.aLam[c, i] / arm_of(g, e, s, i)) ** 2
        if not math.sqrt(size) <= mu * s.aLam[c, 0]:
            return False
    return not slips(o, c) or (s.aLam[c, 0] >= 0.0 and goes_on(g, e, s, o, s.V))


@kernel
def _lasted(g, e, s, o):
    """True if a contact did what it was taken to do; what sticks may be without a force for a while.

    What slips may not: its friction is that of its force.
    """
    c, stages = g.first_contact + e, o.a.shape[0]
    if not rests(g, e, s, s.V) or not _held(g, e, s, o):
        return False
    if not slips(o, c):
        return True
    for j in range(stages - 1):
        if o.stage_status[j, c] == GAP:
            return False
    for j in range(stages):
        if o.forward[j, c] == 0:
            return False
    return True


@kernel
def give_up(d, s, o):
    """Take contacts that did not last for others; how many these are. Velocities at the end are known."""
    count = 0
    o.lasting = 0
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            if not lasts(o, c):
                continue
            if _lasted(g, e, s, o):
                o.lasting = 1
                continue
            count += 1
            for which in range(CONES):
                o.lasts[c, which] = GAP
    return count


@kernel
def lasting_rows(s, o, j, g, e, tangents):
    """Contribution of stage j to the rows of a persistent contact, and its entries."""
    c, last = g.first_contact + e, o.a.shape[0] - 1
    for which in range(CONES):
        if o.lasts[c, which] == STICK:
            _sticking_rows(s, o, j, g, e, which, tangents)
        elif o.lasts[c, which] == SLIP and j < last:
            _slipping_rows(s, o, j, g, e, which, tangents)
    if j < last and slips(o, c):
        o.forward[j, c] = 1 if goes_on(g, e, s, o, s.Vs) else 0


@kernel
def _sticking_rows(s, o, j, g, e, which, tangents):
    """Contribution of stage j to the rows (1) of a cone, and its entries."""
    c, rate = g.first_contact + e, local_vector(3)
    n, _ = cone_of(g, e, s, which)
    rates_of(g, e, s, s.Vs, which, n, rate)
    for a in range(n):
        i = member(which, a)
        for k in range(o.a.shape[0] - 1):
            o.rows[k, c, i] += o.averages[k, j] * rate[a]
        if tangents:
            add_row(o, j, g, e, row_of(g, i), direction_of(g, e, i), s.kv * arm_of(g, e, s, i), o.A_D, o.A_w)


@kernel
def _slipping_rows(s, o, j, g, e, which, tangents):
    """Rows (2) of a cone at stage j, and their entries, which are those of block row j."""
    c, k_v, tau = g.first_contact + e, s.kv, local_vector(3)
    n, mu = cone_of(g, e, s, which)
    nd, size = g.nd, g.nd + 6
    where = indices(g.maps_at[POSITION] + 4 * e * size * size, size * size)
    speed = _direction(g, e, s, o, j, s.Vs, which, n, tau)
    for a in range(n):
        i = member(which, a)
        o.rows[j, c, i] = o.cR[j, c, i] + mu * o.cR[j, c, 0] * tau[a]
        if not tangents:
            continue
        row = nd + row_of(g, i)
        at = where[row * size + row]
        if at >= 0:
            o.S_w[at] += k_v
        at = where[row * size + nd]
        if at >= 0:
            o.S_w[at] += k_v * mu * tau[a]
        factor = k_v * mu * o.cR[j, c, 0] / speed if abs(speed) > 0.0 else 0.0
        for m in range(n):
            other = member(which, m)
            scale = factor * ((1.0 if a == m else 0.0) - tau[a] * tau[m]) * arm_of(g, e, s, other)
            if scale != 0.0:
                add_row(o, j, g, e, row - nd, direction_of(g, e, other), scale, o.S_D, o.S_w)


@kernel
def _direction(g, e, s, o, j, V, which, n, tau):
    """Fill tau (n,) with γ/|γ| of a cone at stage j; returns |γ|.

    A contact that is kept closed (`lobatto.modes`) has the direction that continues the one of the start of the step:
    beyond the end of slip −γ/|γ|, and returned is −|γ|; that of the start itself where γ is nothing but the error of a
    stage, and 0.
    """
    speed = rates_of(g, e, s, V, which, n, tau)
    c = g.first_contact + e
    if o.kept[c] != 0:
        along = first = 0.0
        for a in range(n):
            along += o.rate0[c, member(which, a)] * tau[a]
            first += o.rate0[c, member(which, a)] ** 2
        first, still = math.sqrt(first), speed_of_rest(s)
        if speed <= max(still, FAINT * first) or (j == 0 and first <= still):
            for a in range(n):
                tau[a] = o.rate0[c, member(which, a)] / first if first > 0.0 else 0.0
            return 0.0
        speed = -speed if along < 0.0 else speed
    for a in range(n):
        tau[a] = tau[a] / speed if abs(speed) > 0.0 else 0.0
    return speed


@kernel
def keep_directions(d, s, o):
    """Keep τ^s of what slips; contacts are evaluated at the last stage, whose velocities are in Vs."""
    tau = local_vector(3)
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            for which in range(CONES):
                if o.lasts[c, which] == SLIP:
                    n, _ = cone_of(g, e, s, which)
                    _direction(g, e, s, o, o.a.shape[0] - 1, s.Vs, which, n, tau)
                    for k in range(n):
                        o.slide[c, member(which, k)] = tau[k]
            o.forward[o.a.shape[0] - 1, c] = 1 if goes_on(g, e, s, o, s.Vs) else 0


@kernel
def last_slipping(d, s, o, r1, rows):
    """Impulses (3) and rows of contacts that slip, in the impact problem; its contact residual left them open."""
    for g in contact_groups(d):
        contact = contacts_of(g)
        for e in range(g.n):
            c = g.first_contact + e
            if not has_own_rows(o, c):
                continue
            s.aLam[c, 0] = s.kv * s.cLam[c, 0]
            rows[c, 0] = -gradient_times(g, e, contact.G_N[e], s.V)
            add_gradient(g, e, contact.G_N[e], -s.aLam[c, 0], r1)
            for which in range(CONES):
                if o.lasts[c, which] == GAP:
                    continue
                n, mu = cone_of(g, e, s, which)
                friction = mu * (s.aLam[c, 0] - o.before_end[c, 0])
                for k in range(n):
                    i = member(which, k)
                    arm = arm_of(g, e, s, i)
                    if o.lasts[c, which] == STICK:
                        impulse = s.kv * arm * s.cLam[c, i]
                        rows[c, i] = -velocity_of(g, e, s, i, s.V)
                    else:
                        impulse = o.before_end[c, i] - arm * friction * o.slide[c, i]
                    s.aLam[c, i] = impulse
                    add_gradient(g, e, direction_of(g, e, i), -impulse, r1)
            s.status[c] = CLOSED if o.lasts[c, 0] == GAP else o.lasts[c, 0]


@kernel
def forces_at_the_end(d, s, o):
    """Add to P, which has the impulses ΔP of all contacts, what the last multipliers R^s of those that last differ."""
    b = o.b[o.a.shape[0] - 1]
    for g in contact_groups(d):
        for e in range(g.n):
            c = g.first_contact + e
            if lasts(o, c) or o.kept[c] != 0:
                for i in range(SIX):
                    impulse = s.aLam[c, i]
                    last = (impulse - o.before_end[c, i]) / b
                    add_gradient(g, e, direction_of(g, e, i), last - impulse, s.P)


@kernel
def _impact_block(s, o, g, e, S):
    """Fill S with the matrix of (3) and γ = 0 of a contact; it takes the rows of an open contact off."""
    c, k, nd = g.first_contact + e, s.kv, g.nd
    contact = contacts_of(g)
    S[nd, nd] = (1.0 - s.epsilon) * k * k / s.pv
    for r in range(nd):
        S[nd, r] = S[r, nd] = -k * contact.G_N[e, r]
    for which in range(CONES):
        if o.lasts[c, which] == GAP:
            continue
        n, mu = cone_of(g, e, s, which)
        for a in range(n):
            i = member(which, a)
            B, arm, row = direction_of(g, e, i), arm_of(g, e, s, i), nd + row_of(g, i)
            if o.lasts[c, which] == STICK:
                S[row, row] = (1.0 - s.epsilon) * k * k / penalty(s, VELOCITY, which)
                for r in range(nd):
                    S[row, r] = S[r, row] = -k * arm * B[r]
            else:
                for r in range(nd):
                    S[r, nd] += k * mu * arm * o.slide[c, i] * B[r]


@entry("void(int64, int64)")
def impact_contacts(data, run):
    """Add the contacts to the matrix of the impact problem, those of (3) too."""
    d, s = system_at(data)[0], run_at(run)[0]
    o = own_at(s.own_at)[0]
    velocity_contact_tangents(d, s, s.V, s.Vminus)
    if o.lasting == 0:
        return
    b = integers(d.table_at, N_SLOTS)
    values = matrix_values(d, VELOCITY)
    for g in contact_groups(d):
        size = g.nd + 6
        S = matrix(b[_K], size, size)
        for e in range(g.n):
            if has_own_rows(o, g.first_contact + e):
                zero(b[_K], size * size)
                _impact_block(s, o, g, e, S)
                scatter_matrix(g.maps_at[VELOCITY], e, size, vector(b[_K], size * size), values)
