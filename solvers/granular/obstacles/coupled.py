"""Contacts of particles with obstacles that they move: their part of the Gauss-Seidel iterations.

Blocks and tangents are those of (2) of `granular.obstacles.mechanism`; a contact is solved as in `granular.bodies`,
whose functions serve here. Particles give their own part of velocities and blocks, whether they are single spheres
(`granular.sweeps`) or bodies with arms.

Source: docs/theory/contact_groups.md, (18), (19).
"""

import math

from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.solvers.contact_problem.one import solve_coulomb
from fem_mbs.solvers.granular import bodies, sweeps
from fem_mbs.solvers.granular.bodies import LAG, complete_axes, cross, point_velocity, solve_relaxed
from fem_mbs.solvers.granular.data import clear_impulse, copy_impulse
from fem_mbs.solvers.granular.obstacles.mechanism import give, is_round_off, velocity_of
from fem_mbs.solvers.granular.sweeps import left


@kernel
def place(p, o, x):
    """Arms, tangents and blocks of all contacts, for normals and centres that are known and nodes at x."""
    E, Y, Z = local_vector(9), local_matrix(3, 6), local_matrix(3, 6)
    for a in range(o.node.shape[0]):
        k = o.node[a]
        for q in range(o.start[a], o.start[a + 1]):
            c, o.slide[q] = o.pair[q], 0.0
            i = p.first[c]
            for j in range(3):
                E[j] = p.pairs[c].normal[j]
                if p.shapes != 0:  # `granular.shapes.features` has the point
                    o.arm[q, j] = p.arms[c, j] + x[p.node[i], j] - x[k, j]
                else:
                    o.arm[q, j] = p.at[i, j] - p.radius[i] * E[j] - x[k, j]
            complete_axes(E)
            for j in range(6):
                o.tangents[q, j] = E[3 + j]
            for l in range(3):
                e0, e1, e2 = E[3 * l], E[3 * l + 1], E[3 * l + 2]
                Y[l, 0], Y[l, 1], Y[l, 2] = e0, e1, e2
                Y[l, 3], Y[l, 4], Y[l, 5] = cross(o.arm[q, 0], o.arm[q, 1], o.arm[q, 2], e0, e1, e2)
                for j in range(6):
                    Z[l, j] = 0.0
                    for m in range(6):
                        Z[l, j] += Y[l, m] * o.own[a, m, j]
            for l in range(3):
                for m in range(3):
                    W = p.block[c, l, m] if p.clumps != 0 else 0.0
                    if p.clumps == 0 and l == m:
                        W = p.particles[i].inverse_mass + (p.particles[i].inverse_inertia if l > 0 else 0.0)
                    for j in range(6):
                        W += Z[l, j] * Y[m, j]
                    o.block[q, m, l] = W
            if p.block[c, 0, 0] == 0.0 if p.clumps != 0 else p.particles[i].inverse_mass == 0.0:
                _leave_out(p, o, a, q)


@kernel
def _leave_out(p, o, a, q):
    """Remove contact q of a shape that cannot move where node a does not move along its normal either."""
    if is_round_off(o, a, o.block[q, 0, 0], o.arm[q, 0], o.arm[q, 1], o.arm[q, 2], p.radius[p.first[o.pair[q]]]):
        o.block[q, 0, 0] = 0.0
        clear_impulse(p.pairs[o.pair[q]])


@kernel
def _approach(p, o, q, v):
    """Velocity of the sphere of contact q against its node of velocity v (6,), inertial axes, and u_N."""
    c = o.pair[q]
    i, n = p.first[c], p.pairs[c].normal
    n0, n1, n2 = n[0], n[1], n[2]
    if p.clumps != 0:
        u0, u1, u2 = point_velocity(p.bodies[p.body[i]], p.arms, c, 0)
    else:
        speed, surface = p.particles[i].velocity, p.particles[i].surface_velocity
        s0, s1, s2 = cross(surface[0], surface[1], surface[2], n0, n1, n2)
        u0, u1, u2 = speed[0] - s0, speed[1] - s1, speed[2] - s2
    w0, w1, w2 = cross(v[3], v[4], v[5], o.arm[q, 0], o.arm[q, 1], o.arm[q, 2])
    u0, u1, u2 = u0 - v[0] - w0, u1 - v[1] - w1, u2 - v[2] - w2
    return u0, u1, u2, n0 * u0 + n1 * u1 + n2 * u2


@kernel
def speeds(p, o):
    """u_N of all contacts in ``p.rate``."""
    v = local_vector(6)
    for a in range(o.node.shape[0]):
        velocity_of(o, a, v)
        for q in range(o.start[a], o.start[a + 1]):
            p.rate[o.pair[q]] = _approach(p, o, q, v)[3]


@kernel
def slips(p, o):
    """u_T of all contacts, inertial axes, in ``p.slip``."""
    v = local_vector(6)
    for a in range(o.node.shape[0]):
        velocity_of(o, a, v)
        for q in range(o.start[a], o.start[a + 1]):
            c = o.pair[q]
            u0, u1, u2, u_n = _approach(p, o, q, v)
            n = p.pairs[c].normal
            p.slip[c, 0], p.slip[c, 1], p.slip[c, 2] = u0 - u_n * n[0], u1 - u_n * n[1], u2 - u_n * n[2]


@kernel
def _push(p, o, q, d0, d1, d2, F):
    """Give impulse d to the sphere of contact q, and add −d at its arm to F (6,)."""
    c = o.pair[q]
    i, n = p.first[c], p.pairs[c].normal
    if p.clumps != 0:
        bodies.push(p.bodies[p.body[i]], p.arms, c, 0, 1.0, d0, d1, d2)
    else:
        c0, c1, c2 = cross(n[0], n[1], n[2], d0, d1, d2)
        sweeps.push(p.particles[i], p.particles[i].inverse_mass, d0, d1, d2, c0, c1, c2)
    m0, m1, m2 = cross(o.arm[q, 0], o.arm[q, 1], o.arm[q, 2], d0, d1, d2)
    F[0], F[1], F[2] = F[0] - d0, F[1] - d1, F[2] - d2
    F[3], F[4], F[5] = F[3] - m0, F[4] - m1, F[5] - m2


@kernel
def add_impulses(p, o):
    """Add the impulses of all contacts to the velocities."""
    F = local_vector(6)
    for a in range(o.node.shape[0]):
        for j in range(6):
            F[j] = 0.0
        for q in range(o.start[a], o.start[a + 1]):
            pair = p.pairs[o.pair[q]]
            r, n, f = pair.normal_impulse, pair.normal, pair.tangential_impulse
            if r != 0.0:
                _push(p, o, q, r * n[0] + f[0], r * n[1] + f[1], r * n[2] + f[2], F)
        give(o, a, F)


@kernel
def _scale(o, q):
    """a² of contact q."""
    return 3.0 / (o.block[q, 0, 0] + o.block[q, 1, 1] + o.block[q, 2, 2])


@kernel
def size_of_problem(p, o):
    """Part of these contacts in ‖q̂‖²."""
    v, relaxed, total = local_vector(6), p.relaxed != 0, 0.0
    for a in range(o.node.shape[0]):
        velocity_of(o, a, v)
        for q in range(o.start[a], o.start[a + 1]):
            c = o.pair[q]
            if o.block[q, 0, 0] == 0.0:
                continue
            u0, u1, u2, u_n = _approach(p, o, q, v)
            pair = p.pairs[c]
            q_n, slide = u_n + pair.bias, max(u0 * u0 + u1 * u1 + u2 * u2 - u_n * u_n, 0.0)
            if q_n >= 0.0 and pair.normal_impulse == 0.0 and not (relaxed and q_n < p.mu[c] * math.sqrt(slide)):
                continue
            total += _scale(o, q) * (q_n * q_n + slide)
    return total


@kernel
def error_of(p, o):
    """Part of these contacts in the squared error times ‖q̂‖²."""
    v, relaxed, total, away = local_vector(6), p.relaxed != 0, 0.0, 0.0
    for a in range(o.node.shape[0]):
        velocity_of(o, a, v)
        for q in range(o.start[a], o.start[a + 1]):
            c = o.pair[q]
            if o.block[q, 0, 0] == 0.0:
                continue
            u0, u1, u2, u_n = _approach(p, o, q, v)
            pair = p.pairs[c]
            q_n, n = u_n + pair.bias, pair.normal
            if pair.normal_impulse == 0.0 and q_n >= 0.0 and not relaxed:
                continue
            u0, u1, u2 = u0 - u_n * n[0], u1 - u_n * n[1], u2 - u_n * n[2]
            square, short = left(pair, q_n, u0, u1, u2, _scale(o, q), p.mu[c], relaxed)
            total += square
            away += short
    return max(total, away)


@kernel
def _solve(p, o, q, u0, u1, u2, u_n, beta, change):
    """Solve contact q; fills the change (3,) of its impulse, inertial axes. Returns the estimate and the work."""
    t, W = o.tangents[q], o.block[q]
    y, r, d, x = local_vector(3), local_vector(3), local_vector(3), local_vector(3)
    c = o.pair[q]
    pair, last = p.pairs[c], p.last[c]
    y[0] = pair.normal_impulse + beta * (pair.normal_impulse - last.normal_impulse)
    d[0] = pair.normal_impulse
    for k in range(2):
        y[1 + k] = d[1 + k] = 0.0
        for j in range(3):
            now = pair.tangential_impulse[j]
            d[1 + k] += t[3 * k + j] * now
            y[1 + k] += t[3 * k + j] * (now + beta * (now - last.tangential_impulse[j]))
    copy_impulse(pair, last)
    x[0] = u_n + pair.bias
    for k in range(2):
        x[1 + k] = t[3 * k] * u0 + t[3 * k + 1] * u1 + t[3 * k + 2] * u2
    slip = math.sqrt(x[1] * x[1] + x[2] * x[2])
    for j in range(3):
        r[j] = y[j]
        x[j] -= W[j, 0] * y[0] + W[j, 1] * y[1] + W[j, 2] * y[2]
    if p.lagged != 0:  # as in `granular.sweeps`, (4)
        lag = o.slide[q]
        o.slide[q] += LAG * (p.mu[c] * slip - lag)
        x[0] += lag
    if p.relaxed != 0 or p.lagged != 0:
        solve_relaxed(W, x, p.mu[c], r)
    else:
        solve_coulomb(W, x, p.mu[c], r)
    square = work = 0.0
    for j in range(3):
        d[j] = r[j] - d[j]  # against the last iteration
        y[j] = r[j] - y[j]
    for j in range(3):
        speed = W[j, 0] * y[0] + W[j, 1] * y[1] + W[j, 2] * y[2]
        square += speed * speed
        work -= speed * d[j]
    pair.normal_impulse = r[0]
    for j in range(3):
        pair.tangential_impulse[j] = r[1] * t[j] + r[2] * t[3 + j]
        change[j] = y[0] * pair.normal[j] + y[1] * t[j] + y[2] * t[3 + j]
    return _scale(o, q) * square, work


@kernel
def sweep(p, o, beta):
    """One iteration over these contacts, as `granular.lanes.sweep`."""
    v, F, d, before = local_vector(6), local_vector(6), local_vector(3), local_vector(6)
    estimate, total, relaxed = 0.0, 0.0, p.relaxed != 0
    for a in range(o.node.shape[0]):
        velocity_of(o, a, v)
        for j in range(6):
            F[j] = 0.0
        for q in range(o.start[a], o.start[a + 1]):
            c = o.pair[q]
            if o.block[q, 0, 0] == 0.0:
                continue
            u0, u1, u2, u_n = _approach(p, o, q, v)
            pair = p.pairs[c]
            acts = pair.normal_impulse != 0.0 or p.last[c].normal_impulse != 0.0
            if not acts and u_n + pair.bias >= 0.0 and not relaxed:
                continue
            square, work = _solve(p, o, q, u0, u1, u2, u_n, beta, d)
            estimate += square
            total += work
            for j in range(6):
                before[j] = F[j]
            _push(p, o, q, d[0], d[1], d[2], F)
            for j in range(6):
                before[j] = F[j] - before[j]
            for j in range(6):
                for m in range(6):
                    v[j] += o.own[a, m, j] * before[m]
        give(o, a, F)
    return estimate, total
