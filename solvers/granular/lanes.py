"""Pairs side by side: an iteration over spheres takes groups of pairs without a common particle, many at once.

Pairs of a group change velocities of different particles, so that their order does not matter, and processors with
vector instructions solve several by one instruction. What an iteration needs of its pairs stands in blocks of LANES
pairs, one number of all of them after the other:

    lane = position modulo LANES,   block = position div LANES:   n, b, r, r of the iteration before, μ, w, w_T, σ (1)

An iteration goes through the groups: relative velocities of all their pairs, (2)-(4) of `granular.sweeps` in all lanes,
then the changes of the particles. Groups are filled in the order of a search. A pair that has a particle in common with
the group waits for one of the next; where too many wait the group ends early, and a block holds several.

Pairs that are far from closing their gaps are not listed: what is not listed is not read. With the relaxed law all
are, since open pairs may act at once. Pairs are added during the iterations, and stay until the step ends.

Source: docs/theory/contact_groups.md, (3)-(5), (7).
"""

import math

from numba import carray

from fem_mbs.jit import kernel, vector, void_pointer
from fem_mbs.solvers.granular.data import BLOCK, LANES, PARTICLE, WAITING
from fem_mbs.solvers.granular.sweeps import moved_from, push, row_of

LAG = 0.3  # part of its change that σ of (4) of `granular.sweeps` takes in an iteration
STAYS = 0.5  # of the gap: pairs that close no more of it in the step are not listed
BLOCK_BYTES, PARTICLE_NUMBERS = BLOCK.itemsize, PARTICLE.itemsize // 8


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
    """Block of position k, moved to its lane: lane i of the answer is that of position k + i."""
    return carray(void_pointer(p.lanes_at + BLOCK_BYTES * (k // LANES) + 8 * (k % LANES)), (1,), BLOCK)[0]


@kernel
def look(p):
    """Add to the list all pairs that may close their gaps, for the next iterations."""
    first, second, order, place = p.first, p.second, p.order, p.place
    g, end, moved, ordered = p.particles, p.particles.shape[0] - 1, moved_from(p), p.ordered != 0
    for k in range(p.count):
        c = order[k] if ordered else k
        if place[c] >= 0 or second[c] <= moved:
            continue
        pair = p.pairs[c]
        if pair.bias > 0.0 and pair.normal_impulse == 0.0 and p.relaxed == 0:
            v, w, u_n = g[first[c]].velocity, g[row_of(second[c], end)].velocity, 0.0
            for j in range(3):
                u_n += pair.normal[j] * (v[j] - w[j])
            if u_n >= -STAYS * pair.bias:
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
    """True if the group that is filled has none of the particles of pair c."""
    b = p.second[c]
    return p.mark[p.first[c]] != p.groups and (b < 0 or p.mark[b] != p.groups)


@kernel
def _end_group(p):
    if p.listed > (p.group[p.groups - 1] if p.groups > 0 else 0):
        p.group[p.groups] = p.listed
        p.groups += 1


@kernel
def _put_waiting(p):
    """Put those pairs that wait into the group that is filled that have none of its particles."""
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
    k, a, b, pair = p.listed, p.first[c], row_of(p.second[c], p.particles.shape[0] - 1), p.pairs[c]
    A, B, D = p.particles[a], p.particles[b], _block_of(p, k)
    D.impulse[0, 0] = D.before[0, 0] = pair.normal_impulse
    for j in range(3):
        D.normal[j, 0] = pair.normal[j]
        D.impulse[1 + j, 0] = D.before[1 + j, 0] = pair.tangential_impulse[j]
    w = A.inverse_mass + B.inverse_mass
    D.bias[0], D.friction[0], D.lag[0] = pair.bias, p.mu[c], 0.0
    D.mobility[0], D.tangential_mobility[0] = w, w + A.inverse_inertia + B.inverse_inertia
    p.partners[k, 0], p.partners[k, 1], p.chosen[k], p.place[c], p.listed = a, b, c, k, k + 1
    if p.lagged != 0:
        D.lag[0] = _slip(p, k)
    if A.inverse_mass > 0.0:  # what cannot move may be in many pairs
        p.mark[a] = p.groups
    if B.inverse_mass > 0.0:
        p.mark[b] = p.groups
    if p.listed % LANES == 0:
        _end_group(p)


@kernel
def begin_lag(p):
    """Solve Coulomb's law with a lag, (4) of `granular.sweeps`, in the next iterations, from the present slip."""
    p.lagged = 1
    for k in range(p.listed):
        _block_of(p, k).lag[0] = _slip(p, k)


@kernel
def _slip(p, k):
    """μ ‖u_T‖ of position k."""
    D, U = _block_of(p, k), p.changes[0]
    _approach(p.particles, p.partners, k, 1, U)
    if p.moving != 0:
        _subtract_given(p, k, 1, U)
    n, u, s = D.normal, U.linear, U.angular
    n0, n1, n2, u0, u1, u2 = n[0, 0], n[1, 0], n[2, 0], u[0, 0], u[1, 0], u[2, 0]
    s0, s1, s2 = s[0, 0], s[1, 0], s[2, 0]
    u_n = n0 * u0 + n1 * u1 + n2 * u2
    u0 -= u_n * n0 + s1 * n2 - s2 * n1
    u1 -= u_n * n1 + s2 * n0 - s0 * n2
    u2 -= u_n * n2 + s0 * n1 - s1 * n0
    return D.friction[0] * math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)


@kernel
def put_back(p):
    """Give the impulses of the listed pairs back to these."""
    for k in range(p.listed):
        D, pair = _block_of(p, k), p.pairs[p.chosen[k]]
        pair.normal_impulse = D.impulse[0, 0]
        for j in range(3):
            pair.tangential_impulse[j] = D.impulse[1 + j, 0]


@kernel
def extrapolate(p, beta):
    """(1) of `granular.momentum` for all particles; keeps their velocities. 1/m and r²/J stay what they are."""
    count = PARTICLE_NUMBERS * p.particles.shape[0]
    g, before = vector(p.particles_at, count), vector(p.before_at, count)
    for i in range(count):
        v = g[i]
        g[i], before[i] = v + beta * (v - before[i]), v


@kernel
def sweep(p, beta):
    """One iteration over all listed pairs. Returns the estimate of the squared error times ‖q̂‖², and the work of the
    change against the last one: positive when the momentum points the wrong way.
    """
    U, group = p.changes[0], p.group
    for i in range(LANES):
        U.estimate[i] = U.work[i] = 0.0
    moving, lagged = p.moving != 0, p.lagged != 0
    relaxed, at = p.relaxed != 0 or lagged, 0
    for q in range(p.groups):
        count = group[q] - at
        _approach(p.particles, p.partners, at, count, U)
        if moving:
            _subtract_given(p, at, count, U)
        _solve(_block_of(p, at), count, beta, relaxed, lagged, U)
        _push(p.particles, p.partners, at, count, U)
        at = group[q]
    estimate = work = 0.0
    for i in range(LANES):
        estimate += U.estimate[i]
        work += U.work[i]
    return estimate, work


@kernel(fused=True)
def _approach(g, partners, at, count, U):
    """v_a − v_b and s_a + s_b of ``count`` pairs from position ``at``."""
    u, s = U.linear, U.angular
    for i in range(count):
        A, B = g[partners[at + i, 0]], g[partners[at + i, 1]]
        v_a, v_b, s_a, s_b = A.velocity, B.velocity, A.surface_velocity, B.surface_velocity
        u0, u1, u2 = v_a[0] - v_b[0], v_a[1] - v_b[1], v_a[2] - v_b[2]
        s0, s1, s2 = s_a[0] + s_b[0], s_a[1] + s_b[1], s_a[2] + s_b[2]
        u[0, i], u[1, i], u[2, i], s[0, i], s[1, i], s[2, i] = u0, u1, u2, s0, s1, s2


@kernel
def _subtract_given(p, at, count, U):
    """Without the tangential velocities of obstacles that move."""
    for i in range(count):
        for j in range(3):
            U.linear[j, i] -= p.given[p.chosen[at + i], j]


@kernel(fused=True)
def _solve(D, count, beta, relaxed, lagged, U):
    """Impulses of all pairs of a group one after the other, by which loops become vector instructions.

    U has relative velocities at the start, and changes of impulses d and n × d at the end.
    """
    n, impulse, before, u, s = D.normal, D.impulse, D.before, U.linear, U.angular
    for i in range(count):
        n0, n1, n2, w, w_t, mu = n[0, i], n[1, i], n[2, i], D.mobility[i], D.tangential_mobility[i], D.friction[i]
        u0, u1, u2, s0, s1, s2 = u[0, i], u[1, i], u[2, i], s[0, i], s[1, i], s[2, i]
        u_n = n0 * u0 + n1 * u1 + n2 * u2
        u0 -= u_n * n0 + s1 * n2 - s2 * n1
        u1 -= u_n * n1 + s2 * n0 - s0 * n2
        u2 -= u_n * n2 + s0 * n1 - s1 * n0
        # impulses that go on as they changed, and those before
        r, r0, r1, r2 = impulse[0, i], impulse[1, i], impulse[2, i], impulse[3, i]
        y, y0 = r + beta * (r - before[0, i]), r0 + beta * (r0 - before[1, i])
        y1, y2 = r1 + beta * (r1 - before[2, i]), r2 + beta * (r2 - before[3, i])
        # where nothing has acted and nothing approaches, nothing acts;
        # with the σ of the slip that there is (4) says so too
        open_ = lagged and r == 0.0 and before[0, i] == 0.0 and u_n + D.bias[i] >= 0.0
        before[0, i], before[1, i], before[2, i], before[3, i] = r, r0, r1, r2
        # (2), or (3) with σ of (4), of `granular.sweeps`
        new = y - (u_n + D.bias[i] + D.lag[i]) / w
        f0, f1, f2 = y0 - u0 / w_t, y1 - u1 / w_t, y2 - u2 / w_t
        size = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
        if lagged:
            D.lag[i] += LAG * (mu * math.sqrt(u0 * u0 + u1 * u1 + u2 * u2) - D.lag[i])
        if relaxed and size > mu * new:
            new = (w * new + mu * w_t * size) / (w + mu * mu * w_t)
        new = new if new > 0.0 and not open_ else 0.0
        part = mu * new / size if size > mu * new else 1.0
        f0, f1, f2 = f0 * part, f1 * part, f2 * part
        impulse[0, i], impulse[1, i], impulse[2, i], impulse[3, i] = new, f0, f1, f2
        d, d0, d1, d2 = new - y, f0 - y0, f1 - y1, f2 - y2
        change = w * w * d * d + w_t * w_t * (d0 * d0 + d1 * d1 + d2 * d2)
        U.estimate[i] += 3.0 / (w + 2.0 * w_t) * change
        U.work[i] -= w * d * (new - r) + w_t * (d0 * (f0 - r0) + d1 * (f1 - r1) + d2 * (f2 - r2))
        s[0, i], s[1, i], s[2, i] = n1 * d2 - n2 * d1, n2 * d0 - n0 * d2, n0 * d1 - n1 * d0
        u[0, i], u[1, i], u[2, i] = d0 + d * n0, d1 + d * n1, d2 + d * n2


@kernel(fused=True)
def _push(g, partners, at, count, U):
    """Give the changes of impulses to the first particles of the pairs, and take them from the second."""
    d, c = U.linear, U.angular
    for i in range(count):
        d0, d1, d2, c0, c1, c2 = d[0, i], d[1, i], d[2, i], c[0, i], c[1, i], c[2, i]
        A, B = g[partners[at + i, 0]], g[partners[at + i, 1]]
        push(A, A.inverse_mass, d0, d1, d2, c0, c1, c2)
        push(B, -B.inverse_mass, d0, d1, d2, c0, c1, c2)
