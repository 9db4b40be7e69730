"""Velocities of bodies with several spheres each: Gauss-Seidel iterations as of `granular.sweeps`, with 3×3 blocks.

A body has a node at its centre of mass, velocities v and ω (inertial axes), 1/m and J⁻¹. A contact with the normal n
(from the second sphere to the first) is at a_a from the node of the first body and at a_b from that of the second:

    u = v_a + ω_a × a_a − v_b − ω_b × a_b − u_given                                                               (1)
    W = E [(1/m_a + 1/m_b) I − ã_a J_a⁻¹ ã_a − ã_b J_b⁻¹ ã_b] Eᵀ ,   E = (n, t_1, t_2)ᵀ                            (2)
    one contact:   Coulomb's law for u + b n and W, exactly (`contact_problem.one`)                               (3)
    relaxed law:   r ← P_K(r − (W r + q)/tr W), `LOCAL` times                                                     (4)

With (4) a contact is not solved exactly, and need not be: fixed points are the same.

Source: docs/theory/contact_groups.md, (9), (10).
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix
from fem_mbs.solvers.contact_problem.one import solve_coulomb
from fem_mbs.solvers.granular.data import copy_impulse
from fem_mbs.solvers.granular.lanes import LAG
from fem_mbs.solvers.granular.sweeps import left, moved_from

LOCAL = 5  # projections for one contact


@kernel
def turned(body, m0, m1, m2):
    """J⁻¹ m of a body, inertial axes."""
    J = body.inverse_inertia
    return (
        J[0] * m0 + J[1] * m1 + J[2] * m2,
        J[1] * m0 + J[3] * m1 + J[4] * m2,
        J[2] * m0 + J[4] * m1 + J[5] * m2,
    )


@kernel
def cross(a0, a1, a2, b0, b1, b2):
    """a × b."""
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@kernel
def load(p, R, V):
    """Velocities and inverse inertias of the nodes as those of the bodies."""
    node, inverse = p.body_node, p.inverse
    B = local_vector(9)
    for a in range(node.shape[0] - 1):
        i, body = node[a], p.bodies[a]
        for j in range(3):
            spin = 0.0
            for m in range(3):
                spin += R[i, j, m] * V[i, 3 + m]
                # J⁻¹ Rᵀ
                B[3 * m + j] = (
                    inverse[a, m, 0] * R[i, j, 0] + inverse[a, m, 1] * R[i, j, 1] + inverse[a, m, 2] * R[i, j, 2]
                )
            body.velocity[j], body.angular_velocity[j] = V[i, j], spin
        at = 0
        for j in range(3):
            for k in range(j, 3):
                body.inverse_inertia[at] = R[i, j, 0] * B[k] + R[i, j, 1] * B[3 + k] + R[i, j, 2] * B[6 + k]
                at += 1


@kernel
def unload(p, R, V, P):
    """Velocities of the bodies as those of the nodes; P (6 N,): what was added, as impulses."""
    node, J, d = p.body_node, p.inertia, local_vector(3)
    for a in range(node.shape[0] - 1):
        i, body = node[a], p.bodies[a]
        if body.inverse_mass == 0.0:
            continue
        for j in range(3):
            turn = 0.0
            for m in range(3):
                turn += R[i, m, j] * body.angular_velocity[m]
            P[6 * i + j] = (body.velocity[j] - V[i, j]) / body.inverse_mass
            d[j] = turn - V[i, 3 + j]
            V[i, j] = body.velocity[j]
            V[i, 3 + j] = turn
        for j in range(3):
            P[6 * i + 3 + j] = J[a, j, 0] * d[0] + J[a, j, 1] * d[1] + J[a, j, 2] * d[2]


@kernel
def place(p, x):
    """Arms, tangents and blocks (2) of all pairs, for normals and centres that are known and nodes at x."""
    body, node, at, radius, g, pairs = p.body, p.body_node, p.at, p.radius, p.bodies, p.pairs
    arms, tangents, block = p.arms, p.tangents, p.block
    end, E = node.shape[0] - 1, local_vector(9)
    for c in range(p.count):
        for j in range(3):
            E[j] = pairs[c].normal[j]
        complete_axes(E)
        for j in range(6):
            tangents[c, j] = E[3 + j]
        for j in range(3):
            for k in range(3):
                block[c, j, k] = 0.0
        for side in range(2):
            sphere = p.first[c] if side == 0 else p.second[c]
            a = body[sphere] if sphere >= 0 else end
            k = 3 * side
            if p.shapes != 0:  # `granular.shapes.features` has the arms
                if a != end:
                    _add_mobility(g[a], arms[c, k], arms[c, k + 1], arms[c, k + 2], E, block[c])
                continue
            if a == end:
                arms[c, k] = arms[c, k + 1] = arms[c, k + 2] = 0.0
                continue
            reach = radius[sphere] if side == 1 else -radius[sphere]
            i = node[a]
            for j in range(3):
                arms[c, k + j] = at[sphere, j] + reach * E[j] - x[i, j]
            _add_mobility(g[a], arms[c, k], arms[c, k + 1], arms[c, k + 2], E, block[c])


@kernel
def complete_axes(E):
    """Complete E = (n, t_1, t_2) from n in its first three numbers."""
    if abs(E[0]) < 0.6:
        t0, t1, t2 = 0.0, E[2], -E[1]  # n × e_x
    else:
        t0, t1, t2 = -E[2], 0.0, E[0]  # n × e_y
    size = 1.0 / math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    E[3], E[4], E[5] = t0 * size, t1 * size, t2 * size
    E[6], E[7], E[8] = cross(E[0], E[1], E[2], E[3], E[4], E[5])


@kernel
def _add_mobility(body, a0, a1, a2, E, W):
    """Add what a body gives to W (3, 3) of a contact at an arm."""
    for k in range(3):
        m0, m1, m2 = cross(a0, a1, a2, E[3 * k], E[3 * k + 1], E[3 * k + 2])
        y0, y1, y2 = turned(body, m0, m1, m2)
        W[k, k] += body.inverse_mass
        for l in range(3):
            m0, m1, m2 = cross(a0, a1, a2, E[3 * l], E[3 * l + 1], E[3 * l + 2])
            W[l, k] += m0 * y0 + m1 * y1 + m2 * y2


@kernel
def push(body, arms, c, k, sign, d0, d1, d2):
    """Give impulse ±d at an arm to a body."""
    m, v, w = sign * body.inverse_mass, body.velocity, body.angular_velocity
    v[0] += m * d0
    v[1] += m * d1
    v[2] += m * d2
    m0, m1, m2 = cross(arms[c, k], arms[c, k + 1], arms[c, k + 2], d0, d1, d2)
    y0, y1, y2 = turned(body, m0, m1, m2)
    w[0] += sign * y0
    w[1] += sign * y1
    w[2] += sign * y2


@kernel
def both(p, c):
    """Rows of the two bodies of pair c."""
    b = p.second[c]
    return p.body[p.first[c]], p.body[b] if b >= 0 else p.body_node.shape[0] - 1


@kernel
def add_impulses(p):
    """Add the impulses of all pairs to the velocities of the bodies."""
    g, arms, moved = p.bodies, p.arms, moved_from(p)
    for c in range(p.count):
        pair = p.pairs[c]
        r, n, f = pair.normal_impulse, pair.normal, pair.tangential_impulse
        if r == 0.0 or p.second[c] <= moved:
            continue
        a, b = both(p, c)
        d0, d1, d2 = f[0] + r * n[0], f[1] + r * n[1], f[2] + r * n[2]
        push(g[a], arms, c, 0, 1.0, d0, d1, d2)
        push(g[b], arms, c, 3, -1.0, d0, d1, d2)


@kernel
def point_velocity(body, arms, c, k):
    """Velocity of a body at an arm."""
    v, w = body.velocity, body.angular_velocity
    s0, s1, s2 = cross(w[0], w[1], w[2], arms[c, k], arms[c, k + 1], arms[c, k + 2])
    return v[0] + s0, v[1] + s1, v[2] + s2


@kernel
def approach(p, c, a, b):
    """u of (1) with u_given left out, inertial axes, and u_N."""
    g, arms, n = p.bodies, p.arms, p.pairs[c].normal
    u0, u1, u2 = point_velocity(g[a], arms, c, 0)
    v0, v1, v2 = point_velocity(g[b], arms, c, 3)
    u0, u1, u2 = u0 - v0, u1 - v1, u2 - v2
    return u0, u1, u2, n[0] * u0 + n[1] * u1 + n[2] * u2


@kernel
def slip(p, c, u0, u1, u2, u_n):
    """u_T, inertial axes."""
    n = p.pairs[c].normal
    u0, u1, u2 = u0 - u_n * n[0], u1 - u_n * n[1], u2 - u_n * n[2]
    if p.moving != 0:
        return u0 - p.given[c, 0], u1 - p.given[c, 1], u2 - p.given[c, 2]
    return u0, u1, u2


@kernel
def _scale(p, c):
    """a² of pair c."""
    return 3.0 / (p.block[c, 0, 0] + p.block[c, 1, 1] + p.block[c, 2, 2])


@kernel
def size_of_problem(p):
    """‖q̂‖² over the contacts that approach with the present velocities (those without impulses), or carry."""
    relaxed, total, moved = p.relaxed != 0, 0.0, moved_from(p)
    for c in range(p.count):
        if p.second[c] <= moved:
            continue
        a, b = both(p, c)
        u0, u1, u2, u_n = approach(p, c, a, b)
        pair = p.pairs[c]
        q_n = u_n + pair.bias
        if q_n >= 0.0 and pair.normal_impulse == 0.0 and not relaxed:
            continue
        u0, u1, u2 = slip(p, c, u0, u1, u2, u_n)
        slide = u0 * u0 + u1 * u1 + u2 * u2
        if relaxed and pair.normal_impulse == 0.0 and q_n >= p.mu[c] * math.sqrt(slide):
            continue
        total += _scale(p, c) * (q_n * q_n + slide)
    return total


@kernel
def error_of(p):
    """Squared error times ‖q̂‖² at the present velocities and impulses."""
    relaxed, total, away, moved = p.relaxed != 0, 0.0, 0.0, moved_from(p)
    for c in range(p.count):
        if p.second[c] <= moved:
            continue
        a, b = both(p, c)
        u0, u1, u2, u_n = approach(p, c, a, b)
        pair = p.pairs[c]
        q_n = u_n + pair.bias
        if pair.normal_impulse == 0.0 and q_n >= 0.0 and not relaxed:
            continue
        u0, u1, u2 = slip(p, c, u0, u1, u2, u_n)
        square, short = left(pair, q_n, u0, u1, u2, _scale(p, c), p.mu[c], relaxed)
        total += square
        away += short
    return max(total, away)


@kernel
def _onto_cone(r, mu):
    """Project r (3,) onto the friction cone."""
    size = math.sqrt(r[1] * r[1] + r[2] * r[2])
    if size <= mu * r[0] and r[0] >= 0.0:  # without friction μ r_N = -0.0 is not below 0
        return
    if mu * size <= -r[0]:
        r[0] = r[1] = r[2] = 0.0
        return
    r[0] = (r[0] + mu * size) / (1.0 + mu * mu)
    size = mu * r[0] / size
    r[1], r[2] = size * r[1], size * r[2]


@kernel
def solve_relaxed(W, q, mu, r):
    """(4) from r (3,)."""
    step = 1.0 / (W[0, 0] + W[1, 1] + W[2, 2])
    for _ in range(LOCAL):
        u0 = q[0] + W[0, 0] * r[0] + W[0, 1] * r[1] + W[0, 2] * r[2]
        u1 = q[1] + W[1, 0] * r[0] + W[1, 1] * r[1] + W[1, 2] * r[2]
        u2 = q[2] + W[2, 0] * r[0] + W[2, 1] * r[1] + W[2, 2] * r[2]
        r[0], r[1], r[2] = r[0] - step * u0, r[1] - step * u1, r[2] - step * u2
        _onto_cone(r, mu)


@kernel
def sweep(p, beta):
    """One iteration over all pairs, as `granular.lanes.sweep`."""
    g, t, arms, mus = p.bodies, p.tangents, p.arms, p.mu
    q, r, d, y = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    estimate = work = 0.0
    lagged, moved = p.lagged != 0, moved_from(p)
    relaxed = p.relaxed != 0 or lagged
    for c in range(p.count):
        if p.second[c] <= moved:
            continue
        a, b = both(p, c)
        u0, u1, u2, u_n = approach(p, c, a, b)
        pair, last = p.pairs[c], p.last[c]
        r_n, r_t, n = pair.normal_impulse, pair.tangential_impulse, pair.normal
        if r_n == 0.0 and last.normal_impulse == 0.0 and u_n + pair.bias >= 0.0 and not relaxed:
            continue
        if p.moving != 0:
            u0, u1, u2 = u0 - p.given[c, 0], u1 - p.given[c, 1], u2 - p.given[c, 2]
        W = p.block[c]
        # impulses of before, and those that go on as they changed, axes n, t_1, t_2
        r0, r1, r2, l_t = r_t[0], r_t[1], r_t[2], last.tangential_impulse
        y0, y1, y2 = r0 + beta * (r0 - l_t[0]), r1 + beta * (r1 - l_t[1]), r2 + beta * (r2 - l_t[2])
        d[0] = r_n
        d[1] = t[c, 0] * r0 + t[c, 1] * r1 + t[c, 2] * r2
        d[2] = t[c, 3] * r0 + t[c, 4] * r1 + t[c, 5] * r2
        y[0] = r_n + beta * (r_n - last.normal_impulse)
        y[1] = t[c, 0] * y0 + t[c, 1] * y1 + t[c, 2] * y2
        y[2] = t[c, 3] * y0 + t[c, 4] * y1 + t[c, 5] * y2
        copy_impulse(pair, last)
        u_1 = t[c, 0] * u0 + t[c, 1] * u1 + t[c, 2] * u2
        u_2 = t[c, 3] * u0 + t[c, 4] * u1 + t[c, 5] * u2
        for j in range(3):
            q[j] = -(W[j, 0] * y[0] + W[j, 1] * y[1] + W[j, 2] * y[2])
            r[j] = y[j]
        q[0], q[1], q[2] = q[0] + u_n + pair.bias, q[1] + u_1, q[2] + u_2
        if lagged:  # as in `granular.sweeps`, (4)
            q[0] += p.slide[c]
            p.slide[c] += LAG * (mus[c] * math.sqrt(u_1 * u_1 + u_2 * u_2) - p.slide[c])
        if relaxed:
            solve_relaxed(W, q, mus[c], r)
        else:
            solve_coulomb(W, q, mus[c], r)
        for j in range(3):
            d[j] = r[j] - d[j]  # against the last iteration
            y[j] = r[j] - y[j]
        square = 0.0
        for j in range(3):
            change = W[j, 0] * y[0] + W[j, 1] * y[1] + W[j, 2] * y[2]
            square += change * change
            work -= change * d[j]
        estimate += _scale(p, c) * square
        pair.normal_impulse = r[0]
        for j in range(3):
            r_t[j] = r[1] * t[c, j] + r[2] * t[c, 3 + j]
            q[j] = y[0] * n[j] + y[1] * t[c, j] + y[2] * t[c, 3 + j]
        push(g[a], arms, c, 0, 1.0, q[0], q[1], q[2])
        push(g[b], arms, c, 3, -1.0, q[0], q[1], q[2])
    return estimate, work


@kernel
def follow(p, x0, Q0, V, h, x, Q, R):
    """Poses of bodies that contacts push, by the velocities of the contact law.

    A contact that carries marks its bodies. Impulses are no criterion: velocities that were rotated to inertial axes
    and back have round-off, and bodies in flight would lose the second order of the method.
    """
    node, mark, d, e = p.body_node, p.turn, local_vector(3), local_vector(4)
    for a in range(node.shape[0]):
        mark[a, 0] = 0.0
    for c in range(p.count):
        if p.pairs[c].normal_impulse != 0.0:
            a, b = both(p, c)
            mark[a, 0] = mark[b, 0] = 1.0
    for a in range(node.shape[0] - 1):
        if mark[a, 0] == 0.0 or p.bodies[a].inverse_mass == 0.0:
            continue
        i = node[a]
        for j in range(3):
            x[i, j] = x0[i, j] + h * V[i, j]
            d[j] = h * V[i, 3 + j]
        quaternion_exp(d, e)
        quaternion_multiply(Q0[i], e, Q[i])
        quaternion_normalise(Q[i])
        quaternion_to_matrix(Q[i], R[i])


@kernel
def turn_nodes(p, Q, R):
    """Turn the nodes of bodies by what the correction of positions has turned them."""
    turn, node, e, new = p.turn, p.body_node, local_vector(4), local_vector(4)
    for a in range(node.shape[0] - 1):
        if turn[a, 0] == 0.0 and turn[a, 1] == 0.0 and turn[a, 2] == 0.0:
            continue
        i = node[a]
        quaternion_exp(turn[a], e)
        quaternion_multiply(e, Q[i], new)
        for j in range(4):
            Q[i, j] = new[j]
        quaternion_normalise(Q[i])
        quaternion_to_matrix(Q[i], R[i])
