"""Pairs side by side: a sweep over spheres takes groups of pairs without a common grain, many at once.

Pairs of a group change velocities of different grains, so that their order does not matter, and processors with vector
instructions solve several by one instruction. What a sweep needs of its pairs stands in blocks of LANES pairs, one
number of all of them after the other:

    lane = position modulo LANES,   block = position div LANES:   n, b, r, r of the sweep before, μ, w, w_T, σ     (1)

A sweep goes through the groups: relative velocities of all their pairs, (2)-(4) of `granular.sweeps` in all lanes, then
the changes of the grains. Groups are filled in the order of a search. A pair that has a grain in common with the group
waits for one of the next; where too many wait the group ends early, and a block holds several.

Pairs that are far from closing their gaps are not listed: what is not listed is not read. Relaxed, all are, since open
pairs may act at once. Pairs are added while sweeps go on, and stay until the step ends.

Source: docs/theory/contact_groups.md, (3)-(5), (7).
"""

import math

from fem_mbs.jit import kernel, local_vector, vector
from fem_mbs.solvers.granular.data import FIELDS, G_MASS, G_TURN, GRAIN, LANES, P_BIAS, P_N, P_RN, WAITING
from fem_mbs.solvers.granular.sweeps import moved_from, push, row_of

LAG = 0.3  # part of the way that σ of (4) of `granular.sweeps` goes in a sweep
STAYS = 0.5  # of the gap: pairs that close no more of it in the step are not listed
# rows of a block, LANES numbers each
N, BIAS, R, BEFORE, MU, W, W_T, LAGGED = 0, 3 * LANES, 4 * LANES, 8 * LANES, *(k * LANES for k in range(12, 16))
SPIN, ESTIMATE, WORK, ROWS = 3 * LANES, 6 * LANES, 7 * LANES, 8 * LANES  # of what a sweep has of its pairs; sums


@kernel
def begin(p):
    """Empty the list of pairs."""
    p.listed = p.groups = p.waits = 0
    for c in range(p.count):
        p.place[c] = -1
    for a in range(p.mark.shape[0]):
        p.mark[a] = -1


@kernel
def _block_of(p, k):
    """Numbers of position k and of those after it in its block: those of row j from j on."""
    return vector(p.lanes_at + 8 * (FIELDS * LANES * (k // LANES) + k % LANES), FIELDS * LANES)


@kernel
def look(p):
    """List the pairs that the next sweeps take besides those that are listed: all that may close their gaps."""
    first, second, order, place, rows = p.first, p.second, p.order, p.place, p.rows
    g, end, moved, ordered = p.grains, p.grains.shape[0] - 1, moved_from(p), p.ordered != 0
    for k in range(p.count):
        c = order[k] if ordered else k
        if place[c] >= 0 or second[c] <= moved:
            continue
        bias = rows[c, P_BIAS]
        if bias > 0.0 and rows[c, P_RN] == 0.0 and p.relaxed == 0:
            a, b, u_n = first[c], row_of(second[c], end), 0.0
            for j in range(3):
                u_n += rows[c, P_N + j] * (g[a, j] - g[b, j])
            if u_n >= -STAYS * bias:
                continue
        groups = p.groups
        if _is_apart(p, c):
            _put(p, c)
        else:
            if p.waits == WAITING:
                _end_group(p)
                _put_waiting(p)
            p.waiting[p.waits] = c
            p.waits += 1
        if not ordered:
            _end_group(p)
        elif p.groups > groups:
            _put_waiting(p)
    _end_group(p)
    while p.waits > 0:
        _put_waiting(p)
        _end_group(p)


@kernel
def _is_apart(p, c):
    """Whether the group that is filled has none of the grains of pair c."""
    b = p.second[c]
    return p.mark[p.first[c]] != p.groups and (b < 0 or p.mark[b] != p.groups)


@kernel
def _end_group(p):
    if p.listed > (p.group[p.groups - 1] if p.groups > 0 else 0):
        p.group[p.groups] = p.listed
        p.groups += 1


@kernel
def _put_waiting(p):
    """Put those pairs that wait into the group that is filled that have none of its grains."""
    left = 0
    for i in range(p.waits):
        c = p.waiting[i]
        if _is_apart(p, c):
            _put(p, c)
        else:
            p.waiting[left] = c
            left += 1
    p.waits = left


@kernel
def _put(p, c):
    """Add pair c to the list and to the group that is filled, which ends where its block does."""
    k, a, b, rows, g = p.listed, p.first[c], row_of(p.second[c], p.grains.shape[0] - 1), p.rows, p.grains
    D = _block_of(p, k)
    for j in range(3):
        D[N + j * LANES] = rows[c, P_N + j]
    for j in range(4):
        D[R + j * LANES] = D[BEFORE + j * LANES] = rows[c, P_RN + j]
    w = g[a, G_MASS] + g[b, G_MASS]
    D[BIAS], D[MU], D[W], D[W_T], D[LAGGED] = rows[c, P_BIAS], p.mu[c], w, w + g[a, G_TURN] + g[b, G_TURN], 0.0
    p.partners[k, 0], p.partners[k, 1], p.chosen[k], p.place[c], p.listed = a, b, c, k, k + 1
    if p.lagged != 0:
        D[LAGGED] = _slip(p, k)
    if g[a, G_MASS] > 0.0:  # what cannot move may be in many pairs
        p.mark[a] = p.groups
    if g[b, G_MASS] > 0.0:
        p.mark[b] = p.groups
    if p.listed % LANES == 0:
        _end_group(p)


@kernel
def begin_lag(p):
    """Let the next sweeps solve Coulomb's law with a lag, (4) of `granular.sweeps`, from the slip that there is."""
    p.lagged = 1
    for k in range(p.listed):
        _block_of(p, k)[LAGGED] = _slip(p, k)


@kernel
def _slip(p, k):
    """μ ‖u_T‖ of position k."""
    D, U = _block_of(p, k), local_vector(ROWS)
    _approach(p.grains, p.partners, k, 1, U)
    if p.moving != 0:
        _subtract_given(p, k, 1, U)
    n0, n1, n2, u0, u1, u2 = D[0], D[LANES], D[2 * LANES], U[0], U[LANES], U[2 * LANES]
    s0, s1, s2 = U[SPIN], U[SPIN + LANES], U[SPIN + 2 * LANES]
    u_n = n0 * u0 + n1 * u1 + n2 * u2
    u0 -= u_n * n0 + s1 * n2 - s2 * n1
    u1 -= u_n * n1 + s2 * n0 - s0 * n2
    u2 -= u_n * n2 + s0 * n1 - s1 * n0
    return D[MU] * math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)


@kernel
def put_back(p):
    """Give the impulses of the listed pairs to their rows."""
    for k in range(p.listed):
        D, c = _block_of(p, k), p.chosen[k]
        for j in range(4):
            p.rows[c, P_RN + j] = D[R + j * LANES]


@kernel
def extrapolate(p, beta):
    """(1) of `granular.momentum` for all grains; keeps their velocities. 1/m and r²/J stay what they are."""
    count = GRAIN * p.grains.shape[0]
    g, before = vector(p.grains_at, count), vector(p.before_at, count)
    for i in range(count):
        v = g[i]
        g[i], before[i] = v + beta * (v - before[i]), v


@kernel
def sweep(p, beta):
    """One iteration over all listed pairs. Returns the estimate of the squared error times ‖q̂‖², and the work of the
    change against the last one: positive when the momentum points the wrong way.
    """
    U, group = local_vector(ROWS), p.group
    for i in range(ESTIMATE, ROWS):
        U[i] = 0.0
    moving, lagged = p.moving != 0, p.lagged != 0
    relaxed, at = p.relaxed != 0 or lagged, 0
    for q in range(p.groups):
        count = group[q] - at
        _approach(p.grains, p.partners, at, count, U)
        if moving:
            _subtract_given(p, at, count, U)
        _solve(_block_of(p, at), count, beta, relaxed, lagged, U)
        _push(p.grains, p.partners, at, count, U)
        at = group[q]
    estimate = work = 0.0
    for i in range(LANES):
        estimate += U[ESTIMATE + i]
        work += U[WORK + i]
    return estimate, work


@kernel(fused=True)
def _approach(g, partners, at, count, U):
    """v_a − v_b and s_a + s_b of ``count`` pairs from position ``at``."""
    for i in range(count):
        a, b = partners[at + i, 0], partners[at + i, 1]
        a0, a1, a2, a3, a4, a5 = g[a, 0], g[a, 1], g[a, 2], g[a, 3], g[a, 4], g[a, 5]
        b0, b1, b2, b3, b4, b5 = g[b, 0], g[b, 1], g[b, 2], g[b, 3], g[b, 4], g[b, 5]
        U[i], U[LANES + i], U[2 * LANES + i] = a0 - b0, a1 - b1, a2 - b2
        U[SPIN + i], U[SPIN + LANES + i], U[SPIN + 2 * LANES + i] = a3 + b3, a4 + b4, a5 + b5


@kernel
def _subtract_given(p, at, count, U):
    """Without the tangential velocities of obstacles that move."""
    for i in range(count):
        for j in range(3):
            U[j * LANES + i] -= p.given[p.chosen[at + i], j]


@kernel(fused=True)
def _solve(D, count, beta, relaxed, lagged, U):
    """Impulses of all pairs of a group one after the other, by which loops become vector instructions.

    U has relative velocities at the start, and changes of impulses d and n × d at the end.
    """
    for i in range(count):
        n0, n1, n2, w, w_t, mu = D[i], D[LANES + i], D[2 * LANES + i], D[W + i], D[W_T + i], D[MU + i]
        u0, u1, u2 = U[i], U[LANES + i], U[2 * LANES + i]
        s0, s1, s2 = U[SPIN + i], U[SPIN + LANES + i], U[SPIN + 2 * LANES + i]
        u_n = n0 * u0 + n1 * u1 + n2 * u2
        u0 -= u_n * n0 + s1 * n2 - s2 * n1
        u1 -= u_n * n1 + s2 * n0 - s0 * n2
        u2 -= u_n * n2 + s0 * n1 - s1 * n0
        # impulses that go on as they changed, and those before
        r, r0, r1, r2 = D[R + i], D[R + LANES + i], D[R + 2 * LANES + i], D[R + 3 * LANES + i]
        y, y0 = r + beta * (r - D[BEFORE + i]), r0 + beta * (r0 - D[BEFORE + LANES + i])
        y1 = r1 + beta * (r1 - D[BEFORE + 2 * LANES + i])
        y2 = r2 + beta * (r2 - D[BEFORE + 3 * LANES + i])
        # where nothing has acted and nothing approaches, nothing acts;
        # with the σ of the slip that there is (4) says so too
        open_ = lagged and r == 0.0 and D[BEFORE + i] == 0.0 and u_n + D[BIAS + i] >= 0.0
        D[BEFORE + i], D[BEFORE + LANES + i] = r, r0
        D[BEFORE + 2 * LANES + i], D[BEFORE + 3 * LANES + i] = r1, r2
        # (2), or (3) with σ of (4), of `granular.sweeps`
        new = y - (u_n + D[BIAS + i] + D[LAGGED + i]) / w
        f0, f1, f2 = y0 - u0 / w_t, y1 - u1 / w_t, y2 - u2 / w_t
        size = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
        if lagged:
            D[LAGGED + i] += LAG * (mu * math.sqrt(u0 * u0 + u1 * u1 + u2 * u2) - D[LAGGED + i])
        if relaxed and size > mu * new:
            new = (w * new + mu * w_t * size) / (w + mu * mu * w_t)
        new = new if new > 0.0 and not open_ else 0.0
        part = mu * new / size if size > mu * new else 1.0
        f0, f1, f2 = f0 * part, f1 * part, f2 * part
        D[R + i], D[R + LANES + i], D[R + 2 * LANES + i], D[R + 3 * LANES + i] = new, f0, f1, f2
        d, d0, d1, d2 = new - y, f0 - y0, f1 - y1, f2 - y2
        change = w * w * d * d + w_t * w_t * (d0 * d0 + d1 * d1 + d2 * d2)
        U[ESTIMATE + i] += 3.0 / (w + 2.0 * w_t) * change
        U[WORK + i] -= w * d * (new - r) + w_t * (d0 * (f0 - r0) + d1 * (f1 - r1) + d2 * (f2 - r2))
        U[SPIN + i], U[SPIN + LANES + i] = n1 * d2 - n2 * d1, n2 * d0 - n0 * d2
        U[SPIN + 2 * LANES + i] = n0 * d1 - n1 * d0
        U[i], U[LANES + i], U[2 * LANES + i] = d0 + d * n0, d1 + d * n1, d2 + d * n2


@kernel(fused=True)
def _push(g, partners, at, count, U):
    """Give the changes of impulses to the first grains of the pairs, and take them from the second."""
    for i in range(count):
        d0, d1, d2 = U[i], U[LANES + i], U[2 * LANES + i]
        c0, c1, c2 = U[SPIN + i], U[SPIN + LANES + i], U[SPIN + 2 * LANES + i]
        a, b = partners[at + i, 0], partners[at + i, 1]
        push(g[a], g[a, G_MASS], d0, d1, d2, c0, c1, c2)
        push(g[b], -g[b, G_MASS], d0, d1, d2, c0, c1, c2)
