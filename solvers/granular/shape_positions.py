"""Positions of convex shapes after a step: as `granular.positions`, with shapes that turn while they are pushed apart.

Normals and points of two flat faces change with a rotation of 1e-6, so each push moves its bodies at once and places
their shapes anew. Pairs whose gap at the start of the step was larger than the ways of both shapes cannot overlap and
are left out.

Source: docs/theory/contact_groups.md, (11), (25).
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix
from fem_mbs.solvers.granular.bodies import cross, turned
from fem_mbs.solvers.granular.cores import place_shape, touch
from fem_mbs.solvers.granular.data import B_MASS

PASSES = 100


@kernel
def _replace(p, s, x, R):
    """Place shape s anew; the longest way of its corners since the start of the step grows by their ways."""
    first, way = p.core_first[s], 0.0
    last = first + p.core_count[s]
    for c in range(first, last):
        for k in range(3):
            p.swing[c, k] = p.at[c, k]
    place_shape(p, s, x, R)
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
    y0, y1, y2 = turned(p.bodies, b, m0, m1, m2)
    return p.bodies[b, B_MASS] + m0 * y0 + m1 * y1 + m2 * y2


@kernel
def _move(p, b, push, d0, d1, d2, g, x, Q, R):
    """Give a push along the normal in g at an arm to body b."""
    turn, e, new, i = local_vector(3), local_vector(4), local_vector(4), p.body_node[b]
    m0, m1, m2 = cross(d0, d1, d2, g[0], g[1], g[2])
    y0, y1, y2 = turned(p.bodies, b, m0, m1, m2)
    turn[0], turn[1], turn[2] = push * y0, push * y1, push * y2
    for j in range(3):
        x[i, j] += push * p.bodies[b, B_MASS] * g[j]
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
    """Whether pair k of the list could have closed since the start of the step."""
    way = p.core_way[p.shape[p.near[k, 0]]]
    if p.near[k, 1] >= 0:
        way += p.core_way[p.shape[p.near[k, 1]]]
    elif p.moving != 0:
        return True
    return p.near_gap[k] <= way


@kernel
def push_apart(p, x, Q, R, h):
    """Move the bodies at poses x, Q, R, the end of a step of h [s], until no pair overlaps; the number of pushes.

    Planes are placed already.
    """
    g, before, pushes = local_vector(9), local_vector(3), 0
    for s in range(p.core_first.shape[0]):
        p.core_way[s] = 0.0
        _replace(p, s, x, R)
    for _ in range(PASSES):
        last = pushes
        for k in range(p.near_count):
            if not _within_ways(p, k):
                continue
            a, b = p.near[k, 0], p.near[k, 1]
            for j in range(3):
                before[j] = p.near_normal[k, j]
            gap, counts = touch(p, a, b, p.near[k, 2], before, g)
            kept, start = 2.0 * p.clean * _thickness(p, a, b), p.near_gap[k]
            if not counts or gap >= -kept:
                continue
            goal = min(0.0, start + h * p.recovery) if start < -kept else 0.0
            if gap >= goal - kept:
                continue
            i, row_a, row_b = p.node[a], p.body[a], p.bodies.shape[0] - 1
            d0, d1, d2 = g[3] - x[i, 0], g[4] - x[i, 1], g[5] - x[i, 2]
            total = _mobility(p, row_a, d0, d1, d2, g)
            e0 = e1 = e2 = 0.0
            if b >= 0:
                i, row_b = p.node[b], p.body[b]
                e0, e1, e2 = g[6] - x[i, 0], g[7] - x[i, 1], g[8] - x[i, 2]
                total += _mobility(p, row_b, e0, e1, e2, g)
            if total == 0.0:
                continue
            push = (goal - gap) / total
            pushes += 1
            if p.bodies[row_a, B_MASS] > 0.0:
                _move(p, row_a, push, d0, d1, d2, g, x, Q, R)
            if b >= 0 and p.bodies[row_b, B_MASS] > 0.0:
                _move(p, row_b, -push, e0, e1, e2, g, x, Q, R)
        if pushes == last:
            break
    return pushes
