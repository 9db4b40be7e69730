"""Positions of many spheres after a step: overlaps that the velocities leave are pushed apart, along normals only.

With the gap in the law of the velocities nothing is left at rest, and h times the error of the normal velocities
elsewhere: a few pairs per step. They are taken one by one, in passes over all pairs, until none overlaps by more than
1e-6 of the smaller diameter. Shares are those of the masses.

Source: docs/theory/contact_groups.md, (8).
"""

import math

from fem_mbs.jit import kernel
from fem_mbs.solvers.granular.data import G_MASS
from fem_mbs.solvers.granular.sweeps import partner_of

PASSES = 100


@kernel
def move(x, i, way, n0, n1, n2):
    """Move node i by a way [m] along a direction."""
    x[i, 0] += way * n0
    x[i, 1] += way * n1
    x[i, 2] += way * n2


@kernel
def push_apart(p, x, h):
    """Move the grains at positions x (N, 3), the end of a step of h [s], until no pair overlaps; the number of pushes.

    What overlapped at the start of the step is taken back with ``p.recovery`` [m/s] at most.
    """
    g, node, radius, pushes = p.grains, p.node, p.radius, 0
    for _ in range(PASSES):
        before = pushes
        for c in range(p.count):
            a, b = p.first[c], p.second[c]
            i = node[a]
            if b >= 0:
                k = node[b]
                n0, n1, n2 = x[i, 0] - x[k, 0], x[i, 1] - x[k, 1], x[i, 2] - x[k, 2]
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
                n0, n1, n2 = p.plane[-1 - b, 0], p.plane[-1 - b, 1], p.plane[-1 - b, 2]
                gap = n0 * x[i, 0] + n1 * x[i, 1] + n2 * x[i, 2] - p.plane[-1 - b, 3] - radius[a]
                kept = 2.0 * p.clean * radius[a]
                if gap >= -kept:
                    continue
            goal = min(0.0, p.gap[c] + h * p.recovery) if p.gap[c] < -kept else 0.0
            if gap >= goal - kept:
                continue
            other = partner_of(p, c)
            total = g[a, G_MASS] + g[other, G_MASS]
            if total == 0.0:
                continue
            push = (goal - gap) / total
            pushes += 1
            move(x, i, push * g[a, G_MASS], n0, n1, n2)
            if b >= 0:
                move(x, node[b], -(push * g[other, G_MASS]), n0, n1, n2)
        if pushes == before:
            break
    return pushes
