"""Pairs of features of convex shapes: listed where shapes are near each other, evaluated at the start of each step.

A search lists what can touch before the next one: corners near cores, edges near edges, corners near planes, with gaps
below the skin and the ways of the step. Corners bound the ways of all points of a shape, which lie between them.

Each step takes the listed pairs that count (`granular.shapes.cores`, (3)) as its contacts. Impulses go over from the
contacts of the step before by first corner, partner and feature. The first of a contact is always a corner of a body,
and an obstacle the second: where a corner of an obstacle touches the core of a body, the contact is that pair turned
round.

Source: docs/theory/contact_groups.md, (21)-(24).
"""

import math

from fem_mbs.distance.hull_kernels import bound_by_hull, edge_beyond
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.rotations import add_cross, dot, rotate, rotate_T
from fem_mbs.solvers.contact.bias import bias, open_bias
from fem_mbs.solvers.granular.data import clear_impulse, copy_impulse, never_touch
from fem_mbs.solvers.granular.obstacles.obstacles import LOOKS, SMALLEST_LOOK, begin_search, is_near, obstacles_at
from fem_mbs.solvers.granular.pairs import FAST, note_restitution, turn_friction
from fem_mbs.solvers.granular.shapes.cores import (
    CORNER,
    EDGES,
    bring_beside,
    edge_ends,
    edge_points,
    edges_of,
    is_endless,
    local_corner,
    out_of,
    place_shape,
    touch,
)
from fem_mbs.solvers.granular.shapes.hulls import hulls_at
from fem_mbs.solvers.granular.speed_laws import begin_friction, restitution_at
from fem_mbs.solvers.granular.turning_pairs import begin_turns, turn_lift
from fem_mbs.system.broad_phase import centers_of, near_pairs, ways

PART = 0.25  # of the margin: longer ways in a step are part of the reach of a shape


@kernel
def find(p, x, R, V, h):
    """Search what can touch from poses x, R in a step with velocities V, as `granular.pairs.find`."""
    count, room = p.core_first.shape[0], p.room.shape[0]
    centers_of(p.node, p.offset, x, R, p.center)
    ways(p.node, p.offset, V, h, PART * p.skin, p.ahead)
    for s in range(count):
        place_shape(p, s, x, R)
        first, way = p.core_first[s], 0.0
        for c in range(first, first + p.core_count[s]):
            way = max(way, p.ahead[c])
        p.core_way[s] = way
        if p.core_plane[s] < 0:
            p.core_reach[s] = p.core_bound[s] + way
    near = near_pairs(p.core_center[: p.core_reach.shape[0]], p.core_reach, p.skin, p.room)
    p.found = near
    p.pending = 1  # until all have found room
    if near > room:
        return False
    begin_search(obstacles_at(p.obstacles_at)[0], x, R, V, h, PART * p.skin)
    total = _list_obstacles(p, x, R, 0)
    choosy = p.excluded.shape[0] > 0
    for k in range(near):
        s, t = p.room[k, 0], p.room[k, 1]
        i, j = p.core_first[s], p.core_first[t]
        a, b = p.body[i], p.body[j]
        if choosy and never_touch(p, p.node[i], p.node[j], x.shape[0]):
            continue
        if a != b and p.bodies[a].inverse_mass + p.bodies[b].inverse_mass > 0.0:
            total = _list_shapes(p, s, t, 0.0, total)
    p.found = total
    if total > room:
        return False
    p.near_count, p.pending = total, 0
    p.searches += 1
    return True


@kernel
def _list(p, first, second, feature, total):
    """List a pair as far as there is room; the new number of pairs."""
    if total < p.near.shape[0]:
        p.near[total, 0], p.near[total, 1], p.near[total, 2] = first, second, feature
    return total + 1


@kernel
def _list_obstacles(p, x, R, total):
    """Fill the features of bodies and obstacles that can touch; at least one moves by contacts."""
    o, choosy = obstacles_at(p.obstacles_at)[0], p.excluded.shape[0] > 0
    for s in range(p.core_reach.shape[0]):
        first = p.core_first[s]
        last, moves = first + p.core_count[s], p.bodies[p.body[first]].inverse_mass > 0.0
        for k in range(p.plane.shape[0]):
            if not moves and (p.coupled == 0 or -1 - k > p.coupled):
                continue
            if choosy and never_touch(p, p.node[first], p.plane_node[k], x.shape[0]):
                continue
            t, more = p.plane_shape[k], 0.0
            if t < 0 or is_endless(p, t):  # their corners do not determine their motion
                for c in range(first, last):
                    if is_near(p, o, c, k, p.ahead[c], x, R) and t < 0:
                        total = _list(p, c, -1 - k, CORNER, total)
                more = o.ahead
            if t >= 0:
                total = _list_shapes(p, s, t, more, total)
    return total


@kernel
def _list_shapes(p, s, t, more, total):
    """Fill the features of shapes s < t that can touch, with a margin that is larger by ``more`` [m]."""
    corners, others, n = p.corners_a, p.corners_b, local_vector(3)
    a, b = p.core_first[s], p.core_first[t]
    n_a, n_b = p.core_count[s], p.core_count[t]
    reach, endless = p.skin + p.core_way[s] + p.core_way[t] + p.radius[a] + p.radius[b] + more, is_endless(p, t)
    if endless:
        bring_beside(p, s, t)
    for i in range(n_a):
        local_corner(p, a + i, t, corners[i])
    if _apart(p, t, corners, n_a, reach, p.bound_a, p.face_a):
        return total
    for i in range(n_b):
        local_corner(p, b + i, s, others[i])
    if _apart(p, s, others, n_b, reach, p.bound_b, p.face_b):
        return total
    if n_b > 1 or n_a == 1:  # a point has no other corner
        for i in range(n_a):
            if p.bound_a[i] < reach and out_of(p, t, corners[i], n) < reach:
                total = _list(p, a + i, b, CORNER, total)
    if n_a > 1 and not endless:
        for i in range(n_b):
            if p.bound_b[i] < reach and out_of(p, s, others[i], n) < reach:
                total = _list(p, b + i, a, CORNER, total)
    if n_a > 1 and n_b > 1:
        total = _list_edges(p, s, t, corners, others, reach, total)
    return total


@kernel
def _apart(p, t, corners, count, reach, bound, face):
    """True if all corners (count, 3) are beyond one face of the core of shape t by more than a reach; else fills bounds
    of their distances (count,), and their faces if it is a polyhedron.
    """
    if p.core_hull[t] >= 0:
        return bound_by_hull(hulls_at(p.hulls_at)[0], p.core_hull[t], corners, count, reach, bound, face)
    for i in range(count):
        bound[i] = -math.inf
    for k in range(3):
        low, high = math.inf, -math.inf
        for i in range(count):
            low, high = min(low, corners[i, k]), max(high, corners[i, k])
        if low > p.core_half[t, k] + reach or high < -p.core_half[t, k] - reach:
            return True
    return False


@kernel
def _edge_apart(p, t, corners, e, reach, bound, face):
    """The same for the edge with ends e (2,) of these corners; bounds and faces are there already."""
    i, j = int(e[0]), int(e[1])
    if p.core_hull[t] >= 0:
        return edge_beyond(hulls_at(p.hulls_at)[0], corners, i, j, reach, bound, face)
    for k in range(3):
        bound = p.core_half[t, k] + reach
        if min(corners[i, k], corners[j, k]) > bound or max(corners[i, k], corners[j, k]) < -bound:
            return True
    return False


@kernel
def _list_edges(p, s, t, corners, others, reach, total):
    """Edges of shapes s and t that are nearer than a reach; their corners (·, 3) each in axes of the other."""
    e, z, at, near = local_vector(2), local_matrix(4, 3), local_vector(4), p.edge_near
    a, b = p.core_first[s], p.core_first[t]
    n_b = edges_of(p, t)
    for j in range(n_b):
        edge_ends(p, t, j, e)
        near[j] = 0 if _edge_apart(p, s, others, e, reach, p.bound_b, p.face_b) else 1
    for i in range(edges_of(p, s)):
        edge_ends(p, s, i, e)
        if _edge_apart(p, t, corners, e, reach, p.bound_a, p.face_a):
            continue
        for j in range(n_b):
            if near[j] == 0:
                continue
            feature = EDGES * i + j + 1
            edge_points(p, a, b, feature, z, at)
            square = 0.0
            for k in range(3):
                v = z[0, k] + at[0] * (z[1, k] - z[0, k]) - z[2, k] - at[1] * (z[3, k] - z[2, k])
                square += v * v
            if square < reach * reach:
                total = _list(p, a, b, feature, total)
    return total


@kernel
def _keep_old(p):
    """Contacts of the step before, chained by their first corners."""
    for i in range(p.start.shape[0]):
        p.old_start[i] = -1
    for c in range(p.count - 1, -1, -1):
        i = p.first[c]
        p.old_second[c], p.old_feature[c], p.old_after[c] = p.second[c], p.feature[c], p.old_start[i]
        p.old_start[i] = c
        p.old_pairs[c] = p.pairs[c]
        if p.stiction != 0:
            p.old_mu[c] = p.mu[c]
        if p.resists != 0:
            for j in range(3):
                p.old_moments[c, j] = p.moments[c].moment_impulse[j]


@kernel
def _old(p, first, second, feature):
    """Number of a contact in the step before, or −1."""
    c = p.old_start[first]
    while c >= 0:
        if p.old_second[c] == second and p.old_feature[c] == feature:
            return c
        c = p.old_after[c]
    return -1


@kernel
def evaluate(p, x, R, V0, h, tol_v):
    """Contacts at poses x, R, as `granular.pairs.evaluate`; the arms of all."""
    g, before = local_vector(9), local_vector(3)
    for s in range(p.core_first.shape[0]):
        place_shape(p, s, x, R)
    _keep_old(p)
    count = 0
    for k in range(p.near_count):
        first, second, feature, side = _names(p, k)
        old = _old(p, first, second, feature)
        for j in range(3):
            before[j] = side * p.old_pairs[old].normal[j] if old >= 0 else 0.0
        gap, counts = touch(p, k, x, R, before, g)
        if p.near[k, 1] < 0 and p.moving != 0:
            counts = gap < p.skin + p.ahead[first] + h * _speed_of_plane(p, -1 - second, g, x, R, V0)
        p.near_gap[k] = gap
        for j in range(3):
            p.near_normal[k, j] = g[j] if counts else 0.0
        if not counts:
            continue
        c, pair = count, p.pairs[count]
        count += 1
        if gap > 2.0 * p.band * min(p.thick[p.near[k, 0]], p.thick[max(p.near[k, 1], 0)]):
            gap = _gap_met(p, k, gap, x, R, V0, h, g)
        if side < 0.0:
            _turn_round(g)
        p.first[c], p.second[c], p.feature[c], p.gap[c], p.near_of[c] = first, second, feature, gap, k
        other = p.material[second] if second >= 0 else p.plane_material[-1 - second]
        p.mu[c] = p.laws[p.material[first], other].friction
        _arms(p, c, x, g)
        for j in range(3):
            pair.normal[j] = g[j]
        clear_impulse(pair)
        if p.resists != 0:
            begin_turns(p, c, p.laws[p.material[first], other], old)
        if old >= 0 and p.old_pairs[old].normal_impulse > 0.0:
            copy_impulse(p.old_pairs[old], pair)
            turn_friction(pair)
        if p.stiction != 0:
            _begin_friction(p, c, old, x, R, V0)
        restitution = p.laws[p.material[first], other].restitution
        band = 2.0 * p.band * _thickness(p, c)
        stop = open_bias(gap, band, h)
        pair.bias = _bias(p, c, stop, band, restitution, x, R, V0, h, tol_v)
        if p.bounces != 0:
            note_restitution(p, c, restitution, pair.bias, stop)
    p.count = count


@kernel
def _names(p, k):
    """First corner, second or −1 − obstacle, and feature of the contact that listed pair k makes; −1.0 if it is the
    pair turned round, else 1.0.
    """
    first, second, feature = p.near[k, 0], p.near[k, 1], p.near[k, 2]
    if second < 0:
        return first, second, feature, 1.0
    s, t = p.shape[first], p.shape[second]
    if p.core_plane[t] >= 0:
        return first, -1 - p.core_plane[t], feature, 1.0
    if p.core_plane[s] >= 0:
        return second, -1 - p.core_plane[s], -1 - (first - p.core_first[s]), -1.0
    return first, second, feature, 1.0


@kernel
def _gap_met(p, k, gap, x, R, V0, h, g):
    """Gap [m] of the corner of listed pair k to the tangent plane of the core that it meets first on its way in the
    step, or comes nearest to, and n, P, Q there in g (9,); those of the start where it is no corner, or slow.

    As `granular.obstacles.obstacles.gap_ahead`. Distances of cores are convex: any of their tangent planes keeps
    shapes apart.
    """
    a, b = p.near[k, 0], p.near[k, 1]
    if b < 0 or p.near[k, 2] != CORNER:
        return gap
    u, d, y, n = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    u[0] = u[1] = u[2] = 0.0
    for side in range(2):
        i = p.node[a] if side == 0 else p.node[b]
        for j in range(3):
            d[j] = p.at[a, j] - x[i, j]
        _add_velocity(p, i, 1.0 - 2.0 * side, d, R, V0, u)
    t, reach, way = p.shape[b], p.radius[a] + p.radius[b], h * math.sqrt(dot(u, u))
    if way <= max(gap, FAST * reach):
        return gap
    local_corner(p, a, t, y)
    rotate_T(p.core_turn[t], u, d)
    at, step, least, tangent = 0.0, gap, gap, gap
    for _ in range(LOOKS):
        at = min(at + max(step, SMALLEST_LOOK * reach) / way, 1.0)
        for j in range(3):
            u[j] = y[j] + at * h * d[j]
        step = out_of(p, t, u, n) - reach
        if step < least:
            least, tangent = step, step - at * h * dot(n, d)
            rotate(p.core_turn[t], n, g)
        if step <= 0.0 or at == 1.0:
            break
    for j in range(3):
        g[3 + j] = p.at[a, j] - p.radius[a] * g[j]
        g[6 + j] = g[3 + j] - tangent * g[j]
    return tangent


@kernel
def _turn_round(g):
    """n, P, Q of the pair with the other shape as its first, g (9,)."""
    for j in range(3):
        g[j] = -g[j]
        g[3 + j], g[6 + j] = g[6 + j], g[3 + j]


@kernel
def _arms(p, c, x, g):
    """From the nodes of both bodies to their points of contact."""
    a, b = p.first[c], p.second[c]
    i = p.node[a]
    for j in range(3):
        p.arms[c, j] = g[3 + j] - x[i, j]
        p.arms[c, 3 + j] = 0.0
        if b >= 0:
            p.arms[c, 3 + j] = g[6 + j] - x[p.node[b], j]


@kernel
def _thickness(p, c):
    """Half thickness of the thinner shape of contact c."""
    b = p.second[c]
    return min(p.thick[p.first[c]], p.thick[b]) if b >= 0 else p.thick[p.first[c]]


@kernel
def _add_velocity(p, i, sign, arms, R, V, u):
    """Add to u (3,) sign times the velocity of the point at arms (3,) of node i."""
    w, d = local_vector(3), local_vector(3)
    rotate(R[i], V[i, 3:6], w)
    for j in range(3):
        u[j] += sign * V[i, j]
        d[j] = arms[j]
    add_cross(sign, w, d, u)


@kernel
def _speed_of_plane(p, k, g, x, R, V):
    """Speed [m/s] of plane k along its normal at the point of a corner, g of `granular.shapes.cores.touch`."""
    u, d, i = local_vector(3), local_vector(3), p.plane_node[k]
    for j in range(3):
        u[j], d[j] = 0.0, g[3 + j] - x[i, j]
    _add_velocity(p, i, 1.0, d, R, V, u)
    return abs(u[0] * g[0] + u[1] * g[1] + u[2] * g[2])


@kernel
def _velocity(p, c, x, R, V0, u):
    """Fill u (3,) with the relative velocity of contact c at node velocities V0, inertial axes."""
    d, b = local_vector(3), p.second[c]
    for j in range(3):
        u[j] = 0.0
    _add_velocity(p, p.node[p.first[c]], 1.0, p.arms[c, 0:3], R, V0, u)
    if b >= 0:
        _add_velocity(p, p.node[b], -1.0, p.arms[c, 3:6], R, V0, u)
    elif p.moving != 0:
        k = p.plane_node[-1 - b]
        for j in range(3):
            d[j] = p.arms[c, j] + x[p.node[p.first[c]], j] - x[k, j]
        _add_velocity(p, k, -1.0, d, R, V0, u)


@kernel
def _begin_friction(p, c, old, x, R, V0):
    """Coefficient of the first pass of contact c, which was contact ``old``, −1: none."""
    u = local_vector(3)
    _velocity(p, c, x, R, V0, u)
    if old >= 0:
        p.mu[c] = p.old_mu[old]
    begin_friction(p, c, u)


@kernel
def _bias(p, c, stop, band, restitution, x, R, V0, h, tol_v):
    """b of contact c, which the gap alone stops with ``stop``."""
    if restitution == 0.0:
        return stop
    u, n = local_vector(3), local_vector(3)
    for j in range(3):
        n[j] = p.pairs[c].normal[j]
    _velocity(p, c, x, R, V0, u)
    rate = dot(u, n)
    e_N = restitution if p.restitutions.shape[2] == 0 else restitution_at(p, c, abs(rate))
    b_N, apart = bias(stop, p.gap[c], band, rate, h, e_N, tol_v)
    if apart and p.relaxed != 0:
        b_N += p.mu[c] * math.sqrt(max(dot(u, u) - rate * rate, 0.0))
        if p.resists != 0:
            b_N += turn_lift(p, c, n[0], n[1], n[2], R, V0)
    return b_N
