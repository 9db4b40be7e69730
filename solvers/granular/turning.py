"""Contacts that resist rolling and spinning, or drill on a disc: iterations with forces and moments of each contact.

In addition to its impulse r a contact has a moment impulse χ, on the first body, −χ on the second, and in addition to
its velocity u the relative angular velocity of the bodies. With E = (n, t_1, t_2)ᵀ and F = (t_1, t_2, n)ᵀ

    ω = ω_a − ω_b − ω_given ,   W_ωχ = F (J_a⁻¹ + J_b⁻¹) Fᵀ ,   W_ωr = F (J_a⁻¹ ã_a + J_b⁻¹ ã_b) Eᵀ                 (1)
    |r_T| ≤ μ r_N ,   |χ_R| ≤ ρ r_N ,   |χ_S| ≤ γ r_N ,   each against its own velocity                              (2)
    with a disc:  |(r_T, χ_S/c)| ≤ μ r_N ,   against (u_T, c ω_S)                                                    (3)

Nodes of obstacles that contacts move have rows among the bodies, for their velocities alone: what a contact gives them
goes through C of `granular.obstacles.mechanism` to all of them at once, and C_jj is added to the blocks,

    W_ωχ + F C_jj,θθ Fᵀ ,   W_ωr + F (C_jj,θv + C_jj,θθ ã) Eᵀ                                                     (4)

One contact is solved by `granular.turning_contact`. Scales of the error are those of contact problems: forces by
tr W/3, rolling by tr W_RR/2, spinning by W_SS; with a disc χ_S/c is a force.

Models without such laws have none of these arrays and none of this code.

Source: docs/theory/contact_groups.md, (12)-(15).
"""

from fem_mbs.jit import kernel, local_vector
from fem_mbs.solvers.granular.bodies import approach, cross, push, turned
from fem_mbs.solvers.granular.data import copy_impulse, velocities_of
from fem_mbs.solvers.granular.obstacles.mechanism import give, mechanism_at, velocity_of
from fem_mbs.solvers.granular.sweeps import moved_from
from fem_mbs.solvers.granular.turning_contact import lifts, parts, project, scales, solve, solve_relaxed, times

STIFF = 1e-9  # of the mobility of a contact: what it turns by at least


@kernel
def _sides(p, c):
    """Rows of the two bodies of pair c; nodes that contacts move have rows of their own."""
    b = p.second[c]
    return p.body[p.first[c]], p.body[b] if b >= 0 else p.plane_row[-1 - b]


@kernel
def place(p):
    """Blocks of (1) of all pairs; arms, tangents and W are known."""
    g, arms, mixed, spin = p.bodies, p.arms, p.mixed, p.spin
    F = local_vector(9)
    for c in range(p.count):
        a, b = _sides(p, c)
        for j in range(6):
            F[j] = p.tangents[c, j]
        for j in range(3):
            F[6 + j] = p.pairs[c].normal[j]
        for l in range(3):
            y0, y1, y2 = turned(g[a], F[3 * l], F[3 * l + 1], F[3 * l + 2])
            z0, z1, z2 = turned(g[b], F[3 * l], F[3 * l + 1], F[3 * l + 2])
            v0, v1, v2 = cross(y0, y1, y2, arms[c, 0], arms[c, 1], arms[c, 2])
            w0, w1, w2 = cross(z0, z1, z2, arms[c, 3], arms[c, 4], arms[c, 5])
            v0, v1, v2 = v0 + w0, v1 + w1, v2 + w2
            y0, y1, y2 = y0 + z0, y1 + z1, y2 + z2
            for k in range(3):
                spin[c, l, k] = F[3 * k] * y0 + F[3 * k + 1] * y1 + F[3 * k + 2] * y2
                e = 3 * ((k + 2) % 3)  # n, t_1, t_2 among t_1, t_2, n
                mixed[c, l, k] = F[e] * v0 + F[e + 1] * v1 + F[e + 2] * v2
    if p.coupled < 0:
        _place_moved(p)


@kernel
def _place_moved(p):
    """Contribution of nodes of obstacles that contacts move to the blocks, (4), and their arms and velocities."""
    o, F = mechanism_at(p.mechanism_at)[0], local_vector(9)
    for a in range(o.node.shape[0]):
        own = o.own[a]
        for q in range(o.start[a], o.start[a + 1]):
            c, arm = o.pair[q], o.arm[q]
            for j in range(3):
                p.arms[c, 3 + j] = arm[j]
                F[j], F[3 + j], F[6 + j] = p.tangents[c, j], p.tangents[c, 3 + j], p.pairs[c].normal[j]
                for k in range(3):
                    p.block[c, j, k] = o.block[q, j, k]
            for k in range(3):
                e = 3 * ((k + 2) % 3)  # n, t_1, t_2 among t_1, t_2, n
                m0, m1, m2 = cross(arm[0], arm[1], arm[2], F[e], F[e + 1], F[e + 2])
                for l in range(3):
                    for j in range(3):
                        of_r = own[3 + j, 3] * m0 + own[3 + j, 4] * m1 + own[3 + j, 5] * m2
                        of_m = 0.0
                        for i in range(3):
                            of_r += own[3 + j, i] * F[e + i]
                            of_m += own[3 + j, 3 + i] * F[3 * k + i]
                        p.mixed[c, l, k] += F[3 * l + j] * of_r
                        p.spin[c, l, k] += F[3 * l + j] * of_m
            _keep_positive(p, c)
    follow_moved(p)


@kernel
def _keep_positive(p, c):
    """Give directions about which neither side turns some mobility: their moments then end at their bounds."""
    W, spin, length = p.block[c], p.spin[c], p.radius[p.first[c]]
    least = STIFF * ((W[0, 0] + W[1, 1] + W[2, 2]) / (length * length) + spin[0, 0] + spin[1, 1] + spin[2, 2])
    for k in range(3):
        spin[k, k] = max(spin[k, k], least)


@kernel
def follow_moved(p):
    """Velocities of the nodes that contacts move, inertial axes, in their rows."""
    o, first = mechanism_at(p.mechanism_at)[0], p.body_node.shape[0]
    for a in range(o.node.shape[0]):
        velocity_of(o, a, velocities_of(p, first + a))


@kernel
def _give_moved(p, c, b, f0, f1, f2, m0, m1, m2):
    """Give impulse −f at the arm of pair c and moment −m to the node of row b."""
    o, F = mechanism_at(p.mechanism_at)[0], local_vector(6)
    y0, y1, y2 = cross(p.arms[c, 3], p.arms[c, 4], p.arms[c, 5], f0, f1, f2)
    F[0], F[1], F[2], F[3], F[4], F[5] = -f0, -f1, -f2, -y0 - m0, -y1 - m1, -y2 - m2
    give(o, b - p.body_node.shape[0], F)
    follow_moved(p)


@kernel
def _turn(body, sign, m0, m1, m2):
    """Give moment impulse ±m to a body."""
    w = body.angular_velocity
    y0, y1, y2 = turned(body, m0, m1, m2)
    w[0] += sign * y0
    w[1] += sign * y1
    w[2] += sign * y2


@kernel
def add_impulses(p):
    """Add the moments of all pairs to the velocities of the bodies; forces are there already."""
    g, moved = p.bodies, moved_from(p)
    for c in range(p.count):
        m = p.moments[c].moment_impulse
        if p.pairs[c].normal_impulse == 0.0:
            m[0] = m[1] = m[2] = 0.0
            continue
        a, b = _sides(p, c)
        _turn(g[a], 1.0, m[0], m[1], m[2])
        if p.second[c] > moved:
            _turn(g[b], -1.0, m[0], m[1], m[2])
        else:
            _give_moved(p, c, b, 0.0, 0.0, 0.0, m[0], m[1], m[2])
    if p.coupled < 0:
        follow_moved(p)


@kernel
def _velocities(p, c, a, b, u):
    """Fill u (6,) with u + b and ω of pair c in its axes; returns u_N + b."""
    t, n = p.tangents, p.pairs[c].normal
    w_a, w_b = p.bodies[a].angular_velocity, p.bodies[b].angular_velocity
    u0, u1, u2, u_n = approach(p, c, a, b)
    w0, w1, w2 = w_a[0] - w_b[0], w_a[1] - w_b[1], w_a[2] - w_b[2]
    if p.moving != 0:
        u0, u1, u2 = u0 - p.given[c, 0], u1 - p.given[c, 1], u2 - p.given[c, 2]
        w0, w1, w2 = w0 - p.given_turn[c, 0], w1 - p.given_turn[c, 1], w2 - p.given_turn[c, 2]
    u[0] = u_n + p.pairs[c].bias
    u[1] = t[c, 0] * u0 + t[c, 1] * u1 + t[c, 2] * u2
    u[2] = t[c, 3] * u0 + t[c, 4] * u1 + t[c, 5] * u2
    u[3] = t[c, 0] * w0 + t[c, 1] * w1 + t[c, 2] * w2
    u[4] = t[c, 3] * w0 + t[c, 4] * w1 + t[c, 5] * w2
    u[5] = n[0] * w0 + n[1] * w1 + n[2] * w2
    return u[0]


@kernel
def _in_axes(p, c, r_n, r0, r1, r2, m0, m1, m2, out):
    """Fill out (6,) with an impulse and a moment impulse (inertial axes) in the axes of pair c."""
    t, n = p.tangents, p.pairs[c].normal
    out[0] = r_n
    out[1] = t[c, 0] * r0 + t[c, 1] * r1 + t[c, 2] * r2
    out[2] = t[c, 3] * r0 + t[c, 4] * r1 + t[c, 5] * r2
    out[3] = t[c, 0] * m0 + t[c, 1] * m1 + t[c, 2] * m2
    out[4] = t[c, 3] * m0 + t[c, 4] * m1 + t[c, 5] * m2
    out[5] = n[0] * m0 + n[1] * m1 + n[2] * m2


@kernel
def _impulses(p, c, r):
    """Fill r (6,) with the present impulses of pair c in its axes."""
    f, m = p.pairs[c].tangential_impulse, p.moments[c].moment_impulse
    _in_axes(p, c, p.pairs[c].normal_impulse, f[0], f[1], f[2], m[0], m[1], m[2], r)


@kernel
def _acts(p, c, u, scale, mu, size):
    """Scale the velocities u (6,) of pair c; whether it carries or approaches."""
    carries, q_n = p.pairs[c].normal_impulse != 0.0, u[0]
    if p.block[c, 0, 0] == 0.0 or (not carries and q_n >= 0.0 and p.relaxed == 0):
        return False
    scales(p, c, scale)
    parts(p, c, scale, mu)
    for j in range(6):
        u[j] *= scale[j]
    return carries or p.relaxed == 0 or u[0] < lifts(u, mu, p.moments[c].drilling_arm > 0.0, size)


@kernel
def _square(p, c, u, scale):
    """Square of the velocities u (6,) of pair c that have a law, each times its scale."""
    total = (scale[0] * u[0]) ** 2 + (scale[1] * u[1]) ** 2 + (scale[2] * u[2]) ** 2
    if p.moments[c].rolling_resistance > 0.0:
        total += (scale[3] * u[3]) ** 2 + (scale[4] * u[4]) ** 2
    if p.moments[c].spinning_resistance > 0.0 or p.moments[c].drilling_arm > 0.0:
        total += (scale[5] * u[5]) ** 2
    return total


@kernel
def size_of_problem(p):
    """‖q̂‖² over the contacts that approach with the present velocities (those without impulses), or carry."""
    u, scale, mu, size, total = local_vector(6), local_vector(6), local_vector(3), local_vector(3), 0.0
    for c in range(p.count):
        a, b = _sides(p, c)
        _velocities(p, c, a, b, u)
        if not _acts(p, c, u, scale, mu, size):
            continue
        scale[:] = 1.0  # they are scaled
        total += _square(p, c, u, scale)
    return total


@kernel
def error_of(p):
    """Squared error times ‖q̂‖² at the present velocities and impulses."""
    u, scale, mu, size = local_vector(6), local_vector(6), local_vector(3), local_vector(3)
    r, x, total, away = local_vector(6), local_vector(6), 0.0, 0.0
    for c in range(p.count):
        a, b = _sides(p, c)
        _velocities(p, c, a, b, u)
        if not _acts(p, c, u, scale, mu, size):
            continue
        disc = p.moments[c].drilling_arm > 0.0
        lift = lifts(u, mu, disc, size)
        short = (lift if p.relaxed != 0 else 0.0) - u[0]
        _impulses(p, c, r)
        for j in range(6):
            r[j] /= scale[j]
            x[j] = r[j] - u[j]
        x[0] -= lift if p.relaxed == 0 else 0.0
        project(x, mu, disc, size)
        for j in range(6):
            total += (x[j] - r[j]) ** 2
        if short > 0.0:
            away += short * short / (1.0 + mu[0] * mu[0] + mu[1] * mu[1] + mu[2] * mu[2])
    return max(total, away)


@kernel
def sweep(p, beta):
    """One iteration over all pairs, as `granular.lanes.sweep`."""
    q, r, d, y = local_vector(6), local_vector(6), local_vector(6), local_vector(6)
    v, scale, mu, size = local_vector(6), local_vector(6), local_vector(3), local_vector(3)
    estimate = work = 0.0
    for c in range(p.count):
        if p.block[c, 0, 0] == 0.0:  # neither side can move
            continue
        a, b = _sides(p, c)
        q_n = _velocities(p, c, a, b, q)
        pair, last, m = p.pairs[c], p.last[c], p.last_moments[c]
        if pair.normal_impulse == 0.0 and last.normal_impulse == 0.0 and q_n >= 0.0 and p.relaxed == 0:
            continue
        # impulses of before, and those that go on as they changed
        _impulses(p, c, d)
        f = last.tangential_impulse
        _in_axes(p, c, last.normal_impulse, f[0], f[1], f[2], m[0], m[1], m[2], y)
        for j in range(6):
            y[j] = d[j] + beta * (d[j] - y[j])
            r[j] = y[j]
        copy_impulse(pair, last)
        for j in range(3):
            m[j] = p.moments[c].moment_impulse[j]
        times(p, c, y, v)
        for j in range(6):
            q[j] -= v[j]
        if p.relaxed != 0:
            solve_relaxed(p, c, q, r, v, scale, mu, size)
        else:
            solve(p, c, q, r, v, mu, size)
        for j in range(6):
            d[j] = r[j] - d[j]  # against the last iteration
            y[j] = r[j] - y[j]
        times(p, c, y, v)
        scales(p, c, scale)
        estimate += _square(p, c, v, scale)
        for j in range(6):
            work -= v[j] * d[j]
        _keep(p, c, a, b, r, y)
    return estimate, work


@kernel
def _keep(p, c, a, b, r, y):
    """Keep impulses r (6,) of pair c, axes of the pair, and give their change y (6,) to the bodies."""
    g, pair, moment, t, arms = p.bodies, p.pairs[c], p.moments[c], p.tangents, p.arms
    f, m = local_vector(3), local_vector(3)
    pair.normal_impulse = r[0]
    for j in range(3):
        n = pair.normal[j]
        pair.tangential_impulse[j] = r[1] * t[c, j] + r[2] * t[c, 3 + j]
        moment.moment_impulse[j] = r[3] * t[c, j] + r[4] * t[c, 3 + j] + r[5] * n
        f[j] = y[0] * n + y[1] * t[c, j] + y[2] * t[c, 3 + j]
        m[j] = y[3] * t[c, j] + y[4] * t[c, 3 + j] + y[5] * n
    push(g[a], arms, c, 0, 1.0, f[0], f[1], f[2])
    _turn(g[a], 1.0, m[0], m[1], m[2])
    if p.second[c] > moved_from(p):
        push(g[b], arms, c, 3, -1.0, f[0], f[1], f[2])
        _turn(g[b], -1.0, m[0], m[1], m[2])
    else:
        _give_moved(p, c, b, f[0], f[1], f[2], m[0], m[1], m[2])
