"""Positions of convex shapes after a step: as `granular.positions`, with shapes that turn while they are pushed apart.

Normals and points of two flat faces change with a rotation of 1e-6, so each push moves its bodies at once and places
their shapes anew. Pairs whose gap at the start of the step exceeds the displacements of both shapes cannot overlap and
are left out. Obstacles that contacts can move are displaced only where bodies alone do not find room, as with spheres.

Source: docs/theory/contact_groups.md, (11), (25).
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix
from fem_mbs.solvers.granular.bodies import cross, turned
from fem_mbs.solvers.granular.obstacles.mechanism import give_way, mechanism_at, nudge
from fem_mbs.solvers.granular.pairs import place_planes
from fem_mbs.solvers.granular.positions import FIRST_PASSES, PASSES
from fem_mbs.solvers.granular.shapes.cores import is_endless, place_shape, touch
from fem_mbs.solvers.granular.sweeps import moved_from


@kernel
def _replace(p, s, x, R):
    """Place shape s anew; the longest way of its corners since the start of the step grows by their ways."""
    first, way = p.core_first[s], 0.0
    last = first + p.core_count[s]
    for c in range(first, last):
        for k in range(3):
            p.swing[c, k] = p.at[c, k]
    place_shape(p, s, x, R)
    if is_endless(p, s):  # of which pieces were placed elsewhere
        return
    for c in range(first, last):
        way = max(
            way,
            (p.at[c, 0] - p.swing[c, 0]) ** 2 + (p.at[c, 1] - p.swing[c, 1]) ** 2 + (p.at[c, 2] - p.swing[c, 2]) ** 2,
        )
    p.core_way[s] += math.sqrt(way)


@kernel
def _mobility(p, b, d0, d1, d2, g):
    """Inverse mass of body b along the normal in g at an arm."""
    m0, m1, m2 = cross(d0, d1, d2, g[0], g[1], g[2])
    y0, y1, y2 = turned(p.bodies[b], m0, m1, m2)
    return p.bodies[b].inverse_mass + m0 * y0 + m1 * y1 + m2 * y2


@kernel
def _move(p, b, push, d0, d1, d2, g, x, Q, R):
    """Give a push along the normal in g at an arm to body b."""
    turn, e, new, i = local_vector(3), local_vector(4), local_vector(4), p.body_node[b]
    m0, m1, m2 = cross(d0, d1, d2, g[0], g[1], g[2])
    y0, y1, y2 = turned(p.bodies[b], m0, m1, m2)
    turn[0], turn[1], turn[2] = push * y0, push * y1, push * y2
    for j in range(3):
        x[i, j] += push * p.bodies[b].inverse_mass * g[j]
    quaternion_exp(turn, e)
    quaternion_multiply(e, Q[i], new)
    for j in range(4):
        Q[i, j] = new[j]
    quaternion_normalise(Q[i])
    quaternion_to_matrix(Q[i], R[i])
    s = p.body_shape[b]
    while s >= 0:
        _replace(p, s, x, R)
        s = p.core_next[s]


@kernel
def _thickness(p, first, second):
    return min(p.thick[first], p.thick[second]) if second >= 0 else p.thick[first]


@kernel
def _within_ways(p, k):
    """True if pair k of the list could have closed since the start of the step."""
    if p.moving != 0 and obstacle_of(p, k) >= 0:
        return True
    way = p.core_way[p.shape[p.near[k, 0]]]
    if p.near[k, 1] >= 0:
        way += p.core_way[p.shape[p.near[k, 1]]]
    return p.near_gap[k] <= way


@kernel
def obstacle_of(p, k):
    """Number of the obstacle of listed pair k, −1: none."""
    a, b = p.near[k, 0], p.near[k, 1]
    return -1 - b if b < 0 else max(p.core_plane[p.shape[a]], p.core_plane[p.shape[b]])


@kernel
def _yield_to(p, k, number, push, g, x, Q, R):
    """Displace the mechanism by a push of listed pair k against its obstacle, g as from
    `granular.shapes.cores.touch`.

    Returns what the push moves it by; with ``push`` 0 nothing moves.
    """
    o, n, arm, i = mechanism_at(p.mechanism_at)[0], local_vector(3), local_vector(3), p.plane_node[number]
    side = -1.0 if p.near[k, 1] >= 0 and p.core_plane[p.shape[p.near[k, 0]]] >= 0 else 1.0
    for j in range(3):
        n[j] = side * g[j]
        arm[j] = (g[3 + j] if side > 0.0 else g[6 + j]) - x[i, j]
    if push == 0.0:
        return give_way(p, o, number, n, arm, _thickness(p, p.near[k, 0], p.near[k, 1]))
    nudge(p, o, number, push, n, arm, x, Q, R)
    place_planes(p, x, R)
    for s in range(p.core_reach.shape[0], p.core_first.shape[0]):
        _replace(p, s, x, R)
    return 0.0


@kernel
def push_apart(p, x, Q, R, h):
    """Move the bodies at poses x, Q, R, the end of a step of h [s], until no pair overlaps. Planes are placed."""
    for s in range(p.core_first.shape[0]):
        p.core_way[s] = 0.0
        _replace(p, s, x, R)
    if p.coupled == 0:
        _passes(p, x, Q, R, h, PASSES, False)
    elif not _passes(p, x, Q, R, h, FIRST_PASSES, False):
        _passes(p, x, Q, R, h, PASSES, True)


@kernel
def _passes(p, x, Q, R, h, most, yielding):
    """At most so many passes over all pairs; True when none overlaps any more."""
    g, before, pushes, moved = local_vector(9), local_vector(3), 0, moved_from(p)
    for _ in range(most):
        last, stuck = pushes, False
        for k in range(p.near_count):
            if not _within_ways(p, k):
                continue
            a, b, number = p.near[k, 0], p.near[k, 1], obstacle_of(p, k)
            for j in range(3):
                before[j] = p.near_normal[k, j]
            gap, counts = touch(p, k, x, R, before, g)
            kept, start = 2.0 * p.clean * _thickness(p, a, b), p.near_gap[k]
            if not counts or gap >= -kept:
                continue
            goal = min(0.0, start + h * p.recovery) if start < -kept else 0.0
            if gap >= goal - kept:
                continue
            i, row_a, row_b = p.node[a], p.body[a], p.body_node.shape[0] - 1
            d0, d1, d2 = g[3] - x[i, 0], g[4] - x[i, 1], g[5] - x[i, 2]
            total = _mobility(p, row_a, d0, d1, d2, g)
            e0 = e1 = e2 = 0.0
            if b >= 0:
                i, row_b = p.node[b], p.body[b]
                e0, e1, e2 = g[6] - x[i, 0], g[7] - x[i, 1], g[8] - x[i, 2]
                total += _mobility(p, row_b, e0, e1, e2, g)
            gives = yielding and number >= 0 and -1 - number <= moved
            if gives:
                total += _yield_to(p, k, number, 0.0, g, x, Q, R)
            if total == 0.0:
                stuck = True  # a fixed body: only the obstacle can move
                continue
            push = (goal - gap) / total
            pushes += 1
            if gives:
                _yield_to(p, k, number, push, g, x, Q, R)
            if p.bodies[row_a].inverse_mass > 0.0:
                _move(p, row_a, push, d0, d1, d2, g, x, Q, R)
            if b >= 0 and p.bodies[row_b].inverse_mass > 0.0:
                _move(p, row_b, -push, e0, e1, e2, g, x, Q, R)
        if pushes == last:
            return not stuck
    return False
