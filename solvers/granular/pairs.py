"""Pairs of a contact group as rows of arrays: found, matched with those before, and evaluated at the start of a step.

Pairs are kept by their first particle: those of particle i are rows start[i] … start[i + 1]. With at most a dozen
partners per particle, the impulse that a pair had before a search is found among the old pairs of its particle.

Source: docs/theory/contact_groups.md, (1), (2).
"""

import math

import numpy as np

from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import (
    add_cross,
    dot,
    quaternion_exp,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
    rotate,
)
from fem_mbs.solvers.contact.bias import bias, open_bias
from fem_mbs.solvers.granular.data import can_move, clear_impulse, copy_impulse, never_touch
from fem_mbs.solvers.granular.obstacles.obstacles import (
    begin_search,
    cells_of,
    gap_ahead,
    gap_of,
    movers_way,
    near_obstacles,
    obstacles_at,
)
from fem_mbs.solvers.granular.speed_laws import begin_friction, restitution_at
from fem_mbs.solvers.granular.sweeps import moved_from
from fem_mbs.solvers.granular.turning_pairs import keep_turns, take_over_turns, turn_lift
from fem_mbs.system.broad_phase import centers_of, displaced, near_pairs, ways

TOGETHER = 16  # particles whose pairs an iteration takes in turn
FAST = 0.1  # of the radius: spheres with longer ways in a step meet another side of a shape than they see at the start
PART = 0.25  # of the margin: longer paths in a step are part of the reach of a particle


@kernel
def place_planes(p, x, R):
    """Normals and distances of the planes at poses x, R."""
    plane, local = p.plane, p.plane_local
    for k in range(plane.shape[0]):
        i, distance = p.plane_node[k], 0.0
        for j in range(3):
            at, n = x[i, j], 0.0
            for m in range(3):
                at += R[i, j, m] * local[k, m]
                n += R[i, j, m] * local[k, 3 + m]
            plane[k, j] = n
            distance += n * at
        plane[k, 3] = distance


@kernel
def farthest(p, x, R, V, h):
    """Largest distance [m] of a sphere from where pairs were searched, beyond what the search has allowed for, at the
    end of a step with velocities V from poses x, R.
    """
    return displaced(p.node, p.offset, p.center, p.ahead, x, R, V, h)


@kernel
def leaves_margin(p, x, R, V, h):
    """True if a pair that is not known may meet in a step with velocities V from poses x, R."""
    o = obstacles_at(p.obstacles_at)[0]
    moved = farthest(p, x, R, V, h)
    return max(2.0 * moved, moved + movers_way(o, x, R, V, h) - o.ahead) > p.skin


@kernel
def find(p, x, R, V, h):
    """Search the pairs at poses x, R for a step with velocities V; the planes are placed already.

    Returns False when there are more than the arrays have room for: ``p.found`` says how many.
    """
    center, radius, ahead, reach, body = p.center, p.radius, p.ahead, p.reach, p.body
    count = reach.shape[0]
    centers_of(p.node, p.offset, x, R, center)
    ways(p.node, p.offset, V, h, PART * p.skin, ahead)
    for i in range(count):
        reach[i] = radius[i] + ahead[i]
    room = p.room.shape[0]
    near = near_pairs(center[:count], reach, p.skin, p.room)
    p.found = near
    if near > room:
        return False
    _keep_old(p)
    if p.resists != 0:
        keep_turns(p)
    o = obstacles_at(p.obstacles_at)[0]
    begin_search(o, x, R, V, h, PART * p.skin)
    low, cell, most = np.empty(3), np.zeros(count, np.int64), 0.0
    size, number = cells_of(center, count, low, cell)
    state = np.zeros((number[0] * number[1] * number[2], o.kernel.shape[0]), np.int8)
    for i in range(count):
        most = max(most, reach[i] + p.skin + o.ahead)
    first, second, start = p.first, p.second, p.start
    total, at, choosy = 0, 0, p.excluded.shape[0] > 0
    for i in range(count):
        start[i] = total
        total = near_obstacles(p, i, cell, low, size, number, state, most, x, R, total)
        while at < near and p.room[at, 0] == i:
            other = p.room[at, 1]
            at += 1
            if body[other] == body[i] or (choosy and never_touch(p, p.node[i], p.node[other], x.shape[0])):
                continue
            if not (can_move(p, i) or can_move(p, other)):
                continue
            if total < room:
                first[total], second[total] = i, other
            total += 1
    start[count] = total
    p.found = total
    p.count = min(total, room)
    p.pending = 1 if total > room else 0
    if total > room:
        return False
    p.searches += 1
    _take_over(p)
    _put_in_order(p)
    if p.resists != 0:
        take_over_turns(p)
    return True


@kernel
def _keep_old(p):
    """Keep the pairs that there are for `_take_over`, unless a search that had no room has done so."""
    if p.pending != 0:
        return
    for i in range(p.start.shape[0]):
        p.old_start[i] = p.start[i]
    for c in range(p.count):
        p.old_second[c] = p.second[c]
        copy_impulse(p.pairs[c], p.last[c])
        if p.stiction != 0:
            p.old_mu[c] = p.mu[c]


@kernel
def _take_over(p):
    """Impulses of pairs that were known; friction of all by the table of laws."""
    old_second, old_start = p.old_second, p.old_start
    material, plane_material, laws = p.material, p.plane_material, p.laws
    for c in range(p.count):
        i, b = p.first[c], p.second[c]
        other = material[b] if b >= 0 else plane_material[-1 - b]
        p.mu[c] = laws[material[i], other].friction
        clear_impulse(p.pairs[c])
        for old in range(old_start[i], old_start[i + 1]):
            if old_second[old] == b:
                copy_impulse(p.last[old], p.pairs[c])
                if p.stiction != 0:
                    p.mu[c] = p.old_mu[old]
                break


@kernel
def _put_in_order(p):
    """Order of an iteration: of a few particles the first pair of each, then the second of each and so on.

    A pair has to wait for the one before it where both have a particle in common, and any order converges as well.
    """
    order, start = p.order, p.start
    count, total = start.shape[0] - 1, 0
    for block in range(0, count, TOGETHER):
        end, number = min(block + TOGETHER, count), 0
        before = -1
        while total > before:
            before = total
            for i in range(block, end):
                c = start[i] + number
                if c < start[i + 1]:
                    order[total] = c
                    total += 1
            number += 1
    p.ordered = 1


@kernel
def _arm(p, c, x):
    """From the node of the obstacle of pair c to the point that touches, inertial axes."""
    i = p.first[c]
    k, r = p.plane_node[-1 - p.second[c]], p.radius[i]
    if p.shapes != 0:  # `granular.shapes.features` has the point
        j = p.node[i]
        return p.arms[c, 0] + x[j, 0] - x[k, 0], p.arms[c, 1] + x[j, 1] - x[k, 1], p.arms[c, 2] + x[j, 2] - x[k, 2]
    n = p.pairs[c].normal
    return p.at[i, 0] - r * n[0] - x[k, 0], p.at[i, 1] - r * n[1] - x[k, 1], p.at[i, 2] - r * n[2] - x[k, 2]


@kernel
def velocity_at(p, c, x, R, V, u):
    """Fill u (3,) with the velocity of the plane of pair c at its point, for node velocities V."""
    k, (d0, d1, d2) = p.plane_node[-1 - p.second[c]], _arm(p, c, x)
    w0 = R[k, 0, 0] * V[k, 3] + R[k, 0, 1] * V[k, 4] + R[k, 0, 2] * V[k, 5]
    w1 = R[k, 1, 0] * V[k, 3] + R[k, 1, 1] * V[k, 4] + R[k, 1, 2] * V[k, 5]
    w2 = R[k, 2, 0] * V[k, 3] + R[k, 2, 1] * V[k, 4] + R[k, 2, 2] * V[k, 5]
    u[0], u[1], u[2] = V[k, 0] + w1 * d2 - w2 * d1, V[k, 1] + w2 * d0 - w0 * d2, V[k, 2] + w0 * d1 - w1 * d0


@kernel
def carry_along(p, x, R, V):
    """Put the velocities of moving planes into b, and their tangential parts into ``given``."""
    u, moved = local_vector(3), moved_from(p)
    for c in range(p.count):
        along, pair = 0.0, p.pairs[c]
        for j in range(3):
            u[j] = 0.0
        if moved < p.second[c] < 0:
            velocity_at(p, c, x, R, V, u)
            for j in range(3):
                along += pair.normal[j] * u[j]
            pair.bias -= along
        for j in range(3):
            p.given[c, j] = u[j] - along * pair.normal[j]


@kernel
def push_planes(p, x, R, P):
    """Subtract the impulses of pairs with planes from P (6 N,), at the nodes of these."""
    for c in range(p.count):
        pair = p.pairs[c]
        r, n, f = pair.normal_impulse, pair.normal, pair.tangential_impulse
        if p.second[c] >= 0 or r == 0.0:
            continue
        k, (d0, d1, d2) = p.plane_node[-1 - p.second[c]], _arm(p, c, x)
        f0, f1, f2 = r * n[0] + f[0], r * n[1] + f[1], r * n[2] + f[2]
        m0, m1, m2 = d1 * f2 - d2 * f1, d2 * f0 - d0 * f2, d0 * f1 - d1 * f0
        P[6 * k], P[6 * k + 1], P[6 * k + 2] = P[6 * k] - f0, P[6 * k + 1] - f1, P[6 * k + 2] - f2
        for j in range(3):
            P[6 * k + 3 + j] -= R[k, 0, j] * m0 + R[k, 1, j] * m1 + R[k, 2, j] * m2


@kernel
def _swing(p, R, V):
    """Velocities of the centres of the spheres, for node velocities V."""
    swing, node, offset = p.swing, p.node, p.offset
    for a in range(node.shape[0]):
        i = node[a]
        # Ω × offset in axes of the node
        d0, d1, d2 = offset[a, 0], offset[a, 1], offset[a, 2]
        w0 = V[i, 4] * d2 - V[i, 5] * d1
        w1 = V[i, 5] * d0 - V[i, 3] * d2
        w2 = V[i, 3] * d1 - V[i, 4] * d0
        for j in range(3):
            swing[a, j] = V[i, j] + (R[i, j, 0] * w0 + R[i, j, 1] * w1 + R[i, j, 2] * w2)


@kernel
def _add_surface(p, a, sign, arm, n, R, V, u):
    """Add to u (3,) sign times the velocity of the point of sphere a at arm n from its centre; `_swing` is known."""
    i, w, r = p.node[a], local_vector(3), local_vector(3)
    for j in range(3):
        u[j] += sign * p.swing[a, j]
        r[j] = sign * arm * n[j]
    rotate(R[i], V[i, 3:6], w)
    add_cross(1.0, w, r, u)


@kernel
def _slide(p, c, n0, n1, n2, x, R, V, u):
    """Speed [m/s] at which the surfaces of pair c slide on each other with node velocities V; u (3,) is scratch."""
    a, b, n = p.first[c], p.second[c], local_vector(3)
    n[0], n[1], n[2] = n0, n1, n2
    for j in range(3):
        u[j] = 0.0
    if b < 0 and p.moving != 0:
        velocity_at(p, c, x, R, V, u)
        for j in range(3):
            u[j] = -u[j]
    elif b >= 0:
        _add_surface(p, b, -1.0, p.radius[b], n, R, V, u)
    _add_surface(p, a, 1.0, -p.radius[a], n, R, V, u)
    return math.sqrt(max(dot(u, u) - dot(u, n) ** 2, 0.0))


@kernel
def _gap_met(p, c, x, R, V0, h, gap):
    """Gap [m] of pair c to the tangent plane of its obstacle that it meets with velocities V0, and that normal."""
    k, i = -1 - p.second[c], p.first[c]
    if obstacles_at(p.obstacles_at)[0].kernel[k] == 0:
        return gap
    u, n, sphere = local_vector(3), local_vector(3), local_vector(4)
    velocity_at(p, c, x, R, V0, u)
    for j in range(3):
        u[j] = h * (p.swing[i, j] - u[j])
        n[j], sphere[j] = p.pairs[c].normal[j], p.at[i, j]
    sphere[3], way = p.radius[i], math.sqrt(dot(u, u))
    if way <= max(gap, FAST * p.radius[i]):
        return gap
    gap = gap_ahead(p, k, x, R, sphere, u, way, gap, n)
    for j in range(3):
        p.pairs[c].normal[j] = n[j]
    return gap


@kernel
def note_restitution(p, c, restitution, bias, stop):
    """Keep for `granular.strikes` the largest restitution of pair c, and b that stops it unless it meets."""
    p.restitution[c], p.lift[c] = restitution, bias
    p.stop[c] = stop if restitution > 0.0 and bias > 0.0 else 0.0


@kernel
def turn_friction(pair):
    """Turn the friction of the step before into the present tangents; 0 where they have turned by more than 60°."""
    t, n = pair.tangential_impulse, pair.normal
    t0, t1, t2, n0, n1, n2 = t[0], t[1], t[2], n[0], n[1], n[2]
    before, along = t0 * t0 + t1 * t1 + t2 * t2, t0 * n0 + t1 * n1 + t2 * n2
    t0, t1, t2 = t0 - along * n0, t1 - along * n1, t2 - along * n2
    now = t0 * t0 + t1 * t1 + t2 * t2
    part = math.sqrt(before / now) if now > 0.25 * before and now > 0.0 else 0.0
    t[0], t[1], t[2] = part * t0, part * t1, part * t2


@kernel
def evaluate(p, x, R, V0, h, tol_v):
    """Gaps, normals and b of all pairs at poses x, R, impulses of the last step turned into the new tangents.

    Approaches faster than tol_v [m/s] that close a gap are reflected by Newton's law. The relaxed law leaves those
    alone that do not meet yet: b has μ times their slide in addition (docs/theory/cone_complementarity.md, (5)).
    """
    at, swing, radius, u = p.at, p.swing, p.radius, local_vector(3)
    material, plane_material, laws = p.material, p.plane_material, p.laws
    centers_of(p.node, p.offset, x, R, at)
    _swing(p, R, V0)
    for c in range(p.count):
        a, b, pair = p.first[c], p.second[c], p.pairs[c]
        if b >= 0:
            n0, n1, n2 = at[a, 0] - at[b, 0], at[a, 1] - at[b, 1], at[a, 2] - at[b, 2]
            size = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
            gap = size - radius[a] - radius[b]
            if size > 0.0:
                n0, n1, n2 = n0 / size, n1 / size, n2 / size
            else:
                n2 = 1.0
            smaller = min(radius[a], radius[b])
        else:
            gap, n0, n1, n2 = gap_of(p, -1 - b, x, R, at[a, 0], at[a, 1], at[a, 2], radius[a])
            smaller = radius[a]
        pair.normal[0], pair.normal[1], pair.normal[2] = n0, n1, n2
        p.gap[c] = gap
        band = 2.0 * p.band * smaller
        if b < 0 and gap > band:
            gap = _gap_met(p, c, x, R, V0, h, gap)
            n0, n1, n2 = pair.normal[0], pair.normal[1], pair.normal[2]
        if p.stiction != 0:
            _slide(p, c, n0, n1, n2, x, R, V0, u)
            begin_friction(p, c, u)
        b_N = stop = open_bias(gap, band, h)
        other = material[b] if b >= 0 else plane_material[-1 - b]
        restitution = laws[material[a], other].restitution
        if restitution > 0.0:
            rate = n0 * swing[a, 0] + n1 * swing[a, 1] + n2 * swing[a, 2]
            if b >= 0:
                rate -= n0 * swing[b, 0] + n1 * swing[b, 1] + n2 * swing[b, 2]
            elif p.moving != 0:
                velocity_at(p, c, x, R, V0, u)
                rate -= n0 * u[0] + n1 * u[1] + n2 * u[2]
            e_N = restitution if p.restitutions.shape[2] == 0 else restitution_at(p, c, abs(rate))
            b_N, apart = bias(stop, gap, band, rate, h, e_N, tol_v)
            if apart and p.relaxed != 0:
                b_N += p.mu[c] * _slide(p, c, n0, n1, n2, x, R, V0, u)
                if p.resists != 0:
                    b_N += turn_lift(p, c, n0, n1, n2, R, V0)
        pair.bias = b_N
        if p.bounces != 0:
            note_restitution(p, c, restitution, b_N, stop)
        if pair.normal_impulse > 0.0:
            turn_friction(pair)


@kernel
def load(p, R, V):
    """Velocities of the nodes as those of the particles."""
    node, radius = p.node, p.radius
    for a in range(node.shape[0]):
        i, particle = node[a], p.particles[a]
        for j in range(3):
            spin = 0.0
            for m in range(3):
                spin += R[i, j, m] * V[i, 3 + m]
            particle.velocity[j] = V[i, j]
            particle.surface_velocity[j] = radius[a] * spin


@kernel
def unload(p, R, V, P, recorded):
    """Velocities of the particles as those of the nodes; P (6 N,): what was added, as impulses, if ``recorded``."""
    node, radius = p.node, p.radius
    for a in range(node.shape[0]):
        i, particle = node[a], p.particles[a]
        for j in range(3):
            turn = 0.0
            for m in range(3):
                turn += R[i, m, j] * particle.surface_velocity[m]
            turn /= radius[a]
            if particle.inverse_mass > 0.0:
                if recorded:
                    P[6 * i + j] = (particle.velocity[j] - V[i, j]) / particle.inverse_mass
                V[i, j] = particle.velocity[j]
            if particle.inverse_inertia > 0.0:
                if recorded:
                    P[6 * i + 3 + j] = (turn - V[i, 3 + j]) * radius[a] ** 2 / particle.inverse_inertia
                V[i, 3 + j] = turn


@kernel
def follow(p, x0, V, h, x):
    """Positions of particles that contacts push, by the velocities of the contact law.

    Particles that nothing pushes keep the method's own positions, whatever round-off has done to their velocities.
    """
    for c in range(p.count):
        if p.pairs[c].normal_impulse == 0.0:
            continue
        for side in range(2):
            a = p.first[c] if side == 0 else p.second[c]
            if a >= 0:
                i = p.node[a]
                for j in range(3):
                    x[i, j] = x0[i, j] + h * V[i, j]


@kernel
def turn_along(p, Q0, V, P, h, Q, R):
    """Rotations of particles that contacts have turned: those that keep their angular velocity in inertial axes."""
    node, d, e = p.node, local_vector(3), local_vector(4)
    for a in range(node.shape[0]):
        i = node[a]
        if P[6 * i + 3] == 0.0 and P[6 * i + 4] == 0.0 and P[6 * i + 5] == 0.0:
            continue
        for j in range(3):
            d[j] = h * V[i, 3 + j]
        quaternion_exp(d, e)
        quaternion_multiply(Q0[i], e, Q[i])
        quaternion_normalise(Q[i])
        quaternion_to_matrix(Q[i], R[i])
