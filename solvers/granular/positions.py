"""Positions of many spheres after a step: overlaps that the velocities leave are pushed apart, along normals only.

With the gap in the law of the velocities nothing is left at rest, and h times the error of the normal velocities
elsewhere: a few pairs per step. They are taken one by one, in passes over all pairs, until none overlaps by more than
1e-6 of the smaller diameter. Shares are those of the masses; bodies with arms (`granular.bodies`) turn as well.

Source: docs/theory/contact_groups.md, (11).
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.granular.bodies import cross, turn_nodes, turned
from fem_mbs.solvers.granular.obstacles.mechanism import give_way, mechanism_at, nudge
from fem_mbs.solvers.granular.obstacles.obstacles import gap_of
from fem_mbs.solvers.granular.pairs import place_planes
from fem_mbs.solvers.granular.sweeps import moved_from, row_of
from fem_mbs.system.broad_phase import centers_of

PASSES, FIRST_PASSES = 1000, 10  # columns take as many as the square of their height


@kernel
def _start(p, x, R):
    """Centres of the spheres; for bodies their arms, from which the centres follow while the bodies turn."""
    centers_of(p.node, p.offset, x, R, p.at)
    if p.clumps == 0:
        return
    for a in range(p.at.shape[0]):
        for j in range(3):
            p.swing[a, j] = p.at[a, j] - x[p.node[a], j]
    for b in range(p.turn.shape[0]):
        p.turn[b, 0] = p.turn[b, 1] = p.turn[b, 2] = 0.0


@kernel
def _center(p, x, a):
    """Centre of sphere a."""
    i = p.node[a]
    if p.clumps == 0:
        return x[i, 0], x[i, 1], x[i, 2]
    b = p.body[a]
    d0, d1, d2 = p.swing[a, 0], p.swing[a, 1], p.swing[a, 2]
    t0, t1, t2 = cross(p.turn[b, 0], p.turn[b, 1], p.turn[b, 2], d0, d1, d2)
    return x[i, 0] + d0 + t0, x[i, 1] + d1 + t1, x[i, 2] + d2 + t2


@kernel
def _mobility(p, a, n0, n1, n2):
    """Inverse mass of sphere a, or of what cannot move, along a normal."""
    b = p.body[a]
    if p.clumps == 0:
        return p.particles[b].inverse_mass
    if a == p.swing.shape[0]:
        return 0.0
    m0, m1, m2 = cross(p.swing[a, 0], p.swing[a, 1], p.swing[a, 2], n0, n1, n2)
    y0, y1, y2 = turned(p.bodies[b], m0, m1, m2)
    return p.bodies[b].inverse_mass + m0 * y0 + m1 * y1 + m2 * y2


@kernel
def _move(p, x, a, push, n0, n1, n2):
    """Give a push along a normal to the body of sphere a."""
    i, b = p.node[a], p.body[a]
    way = push * (p.particles[b].inverse_mass if p.clumps == 0 else p.bodies[b].inverse_mass)
    x[i, 0] += way * n0
    x[i, 1] += way * n1
    x[i, 2] += way * n2
    if p.clumps != 0:
        m0, m1, m2 = cross(p.swing[a, 0], p.swing[a, 1], p.swing[a, 2], n0, n1, n2)
        y0, y1, y2 = turned(p.bodies[b], m0, m1, m2)
        p.turn[b, 0] += push * y0
        p.turn[b, 1] += push * y1
        p.turn[b, 2] += push * y2


@kernel
def push_apart(p, x, Q, R, h):
    """Move the bodies at poses x, Q, R, the end of a step of h [s], until no pair overlaps.

    What overlapped at the start of the step is removed with ``p.recovery`` [m/s] at most. Obstacles that contacts
    can move are displaced only where particles alone do not find room.
    """
    _start(p, x, R)
    if p.coupled == 0:
        _passes(p, x, Q, R, h, PASSES, False)
    elif not _passes(p, x, Q, R, h, FIRST_PASSES, False):
        _passes(p, x, Q, R, h, PASSES, True)
    if p.clumps != 0:
        turn_nodes(p, Q, R)


@kernel
def _passes(p, x, Q, R, h, most, yielding):
    """At most so many passes over all pairs; True when none overlaps any more."""
    radius, pushes, n, arm, moved = p.radius, 0, local_vector(3), local_vector(3), moved_from(p)
    for _ in range(most):
        before, stuck = pushes, False
        for c in range(p.count):
            a, b = p.first[c], p.second[c]
            x0, x1, x2 = _center(p, x, a)
            if b >= 0:
                y0, y1, y2 = _center(p, x, b)
                n0, n1, n2 = x0 - y0, x1 - y1, x2 - y2
                reach = radius[a] + radius[b]
                square = n0 * n0 + n1 * n1 + n2 * n2
                smaller = min(radius[a], radius[b])
                kept = 2.0 * p.clean * smaller
                if square >= (reach - kept) ** 2 or square == 0.0:
                    continue
                size = math.sqrt(square)
                gap = size - reach
                n0, n1, n2 = n0 / size, n1 / size, n2 / size
            else:
                gap, n0, n1, n2 = gap_of(p, -1 - b, x, R, x0, x1, x2, radius[a])
                kept = 2.0 * p.clean * radius[a]
                if gap >= -kept:
                    continue
            goal = min(0.0, p.gap[c] + h * p.recovery) if p.gap[c] < -kept else 0.0
            if gap >= goal - kept:
                continue
            total = _mobility(p, a, n0, n1, n2) + _mobility(p, row_of(b, p.at.shape[0]), n0, n1, n2)
            gives = yielding and b <= moved
            if gives:
                o, k = mechanism_at(p.mechanism_at)[0], -1 - b
                n[0], n[1], n[2] = n0, n1, n2
                arm[0], arm[1], arm[2] = x0 - radius[a] * n0, x1 - radius[a] * n1, x2 - radius[a] * n2
                for j in range(3):
                    arm[j] -= x[p.plane_node[k], j]
                total += give_way(p, o, k, n, arm, radius[a])
            if total == 0.0:
                stuck = True  # a fixed sphere: only the obstacle can move
                continue
            push = (goal - gap) / total
            pushes += 1
            if gives:
                nudge(p, o, k, push, n, arm, x, Q, R)
                place_planes(p, x, R)
            _move(p, x, a, push, n0, n1, n2)
            if b >= 0:
                _move(p, x, b, -push, n0, n1, n2)
        if pushes == before:
            return not stuck
    return False
