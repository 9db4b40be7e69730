"""Data of moments of pairs: laws of their materials, moments of the step before, turning planes.

Moments stay vectors of inertial axes while the normal of a pair turns a little from step to step; the first iteration
projects them onto their sets again. Planes get the moments of their pairs back.

Source: docs/theory/contact_groups.md, (12), (13).
"""

import math

from fem_mbs.jit import kernel
from fem_mbs.solvers.granular.sweeps import moved_from


@kernel
def keep_turns(p):
    """Keep the moments that there are for `take_over_turns`, unless a search that had no room has done so."""
    if p.pending != 0:
        return
    for c in range(p.count):
        for j in range(3):
            p.old_moments[c, j] = p.moments[c].moment_impulse[j]


@kernel
def begin_turns(p, c, law, old):
    """Law of pair c from its row, and the moment that it had as pair ``old``, −1: none."""
    moment = p.moments[c]
    moment.rolling_resistance, moment.spinning_resistance = law.rolling_resistance, law.spinning_resistance
    moment.drilling_arm = law.drilling_arm
    for j in range(3):
        moment.moment_impulse[j] = p.old_moments[old, j] if old >= 0 else 0.0


@kernel
def take_over_turns(p):
    """Moments of pairs that were known, and the laws of all, after a search."""
    material, laws = p.material, p.laws
    for c in range(p.count):
        i, b = p.first[c], p.second[c]
        other, before = material[b] if b >= 0 else p.plane_material[-1 - b], -1
        for old in range(p.old_start[i], p.old_start[i + 1]):
            if p.old_second[old] == b:
                before = old
                break
        begin_turns(p, c, laws[material[i], other], before)


@kernel
def carry_turns(p, R, V):
    """Put the angular velocities of moving planes into ``given_turn``, but for those that contacts move."""
    moved = moved_from(p)
    for c in range(p.count):
        for j in range(3):
            p.given_turn[c, j] = 0.0
        if p.second[c] >= 0 or p.second[c] <= moved:
            continue
        k = p.plane_node[-1 - p.second[c]]
        for j in range(3):
            p.given_turn[c, j] = R[k, j, 0] * V[k, 3] + R[k, j, 1] * V[k, 4] + R[k, j, 2] * V[k, 5]


@kernel
def push_turns(p, R, P):
    """Subtract the moments of pairs with planes from P (6 N,), at the nodes of these."""
    for c in range(p.count):
        if p.second[c] >= 0 or p.pairs[c].normal_impulse == 0.0:
            continue
        k, m = p.plane_node[-1 - p.second[c]], p.moments[c].moment_impulse
        for j in range(3):
            P[6 * k + 3 + j] -= R[k, 0, j] * m[0] + R[k, 1, j] * m[1] + R[k, 2, j] * m[2]


@kernel
def turn_lift(p, c, n0, n1, n2, R, V):
    """ρ |ω_R| + γ |ω_S| [m/s] of pair c with node velocities V."""
    a, b = p.node[p.first[c]], p.second[c]
    k = p.node[b] if b >= 0 else p.plane_node[-1 - b]
    along = square = 0.0
    for j in range(3):
        w = 0.0
        for m in range(3):
            w += R[a, j, m] * V[a, 3 + m] - R[k, j, m] * V[k, 3 + m]
        square += w * w
        along += w * (n0 if j == 0 else (n1 if j == 1 else n2))
    roll = math.sqrt(max(square - along * along, 0.0))
    return p.moments[c].rolling_resistance * roll + p.moments[c].spinning_resistance * abs(along)
