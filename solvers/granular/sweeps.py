"""Velocities of many spheres: projected Gauss-Seidel iterations with momentum, exact for one contact at a time.

Spheres with velocity v and surface speed s = r ω touch at normals n (from the second to the first):

    u = v_a − v_b − (s_a + s_b) × n − u_given ,   W = diag(w, w_T, w_T),                                           (1)
    w = 1/m_a + 1/m_b ,   w_T = w + r_a²/J_a + r_b²/J_b
    one contact:   p = (r_N − (u_N + b)/w)⁺ ,   f = r_T − u_T/w_T ,   |f| ≤ μ p by shortening f                    (2)
    relaxed law:   where |f| > μ p̂, p̂ without ⁺:  p = (w p̂ + μ w_T |f|)⁺/(w + μ² w_T) ,   f = μ p f/|f|            (3)
    Coulomb's law with a lag:   (3) with b + σ ,   σ ← σ + 0.3 (μ |u_T| − σ) in each iteration                    (4)

No tangents, no matrix: r_T is a vector normal to n. (2) solves Coulomb's law with De Saxcé's term exactly, because W
couples neither the normal with the tangents nor these with each other. (4) has the same solutions, and converges where
(2) cycles. One iteration is in `granular.lanes`, their sequence in `granular.momentum`.

The error is that of contact problems: e = ‖r̂ − P_K(r̂ − ũ̂)‖/‖q̂‖ in variables scaled with a = (tr W/3)^(-½), over the
contacts that approach or carry. Each iteration estimates it by its own changes; e itself costs two iterations.

Source: docs/theory/contact_groups.md, (3)-(5), (7), (8).
"""

import math

from fem_mbs.jit import kernel

NOBODY = -(2**62)


@kernel
def row_of(b, last):
    return b if b >= 0 else last


@kernel
def moved_from(p):
    """Number in place of a second particle from which downwards contacts are those of `granular.obstacles.coupled`."""
    return p.coupled if p.coupled < 0 else NOBODY


@kernel
def add_impulses(p):
    """Add the impulses of all pairs to the velocities of the particles."""
    first, second, pairs, g = p.first, p.second, p.pairs, p.particles  # read once: stores could change the record
    count, end, moved = p.count, g.shape[0] - 1, moved_from(p)
    for c in range(count):
        pair = pairs[c]
        r, n, t = pair.normal_impulse, pair.normal, pair.tangential_impulse
        if r == 0.0 or second[c] <= moved:
            continue
        a, b = first[c], row_of(second[c], end)
        n0, n1, n2 = n[0], n[1], n[2]
        t0, t1, t2 = t[0], t[1], t[2]
        c0, c1, c2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
        t0, t1, t2 = t0 + r * n0, t1 + r * n1, t2 + r * n2
        push(g[a], g[a].inverse_mass, t0, t1, t2, c0, c1, c2)
        push(g[b], -g[b].inverse_mass, t0, t1, t2, c0, c1, c2)


@kernel(fused=True)
def push(particle, m, d0, d1, d2, c0, c1, c2):
    """Give impulse d to a particle whose inverse mass is m, or −d where m is negative; c = n × d."""
    turn, v, s = particle.inverse_inertia, particle.velocity, particle.surface_velocity
    v[0] += m * d0
    v[1] += m * d1
    v[2] += m * d2
    s[0] -= turn * c0
    s[1] -= turn * c1
    s[2] -= turn * c2


@kernel
def approach(g, pair, a, b):
    """Normal of a pair of particles a and b, and u_N of (1), without what b has of moving planes."""
    n, v, w = pair.normal, g[a].velocity, g[b].velocity
    return n[0], n[1], n[2], n[0] * (v[0] - w[0]) + n[1] * (v[1] - w[1]) + n[2] * (v[2] - w[2])


@kernel
def slip(g, given, moving, c, a, b, n0, n1, n2, u_n):
    """u_T of (1), inertial axes."""
    v, w, s, t = g[a].velocity, g[b].velocity, g[a].surface_velocity, g[b].surface_velocity
    s0, s1, s2 = s[0] + t[0], s[1] + t[1], s[2] + t[2]
    u0 = v[0] - w[0] - (u_n * n0 + s1 * n2 - s2 * n1)
    u1 = v[1] - w[1] - (u_n * n1 + s2 * n0 - s0 * n2)
    u2 = v[2] - w[2] - (u_n * n2 + s0 * n1 - s1 * n0)
    if moving:
        return u0 - given[c, 0], u1 - given[c, 1], u2 - given[c, 2]
    return u0, u1, u2


@kernel
def size_of_problem(p):
    """‖q̂‖² over the contacts that approach with the present velocities (those without impulses), or carry."""
    first, second, given, mus = p.first, p.second, p.given, p.mu
    count, end, moving = p.count, p.particles.shape[0] - 1, p.moving != 0
    relaxed, moved = p.relaxed != 0, moved_from(p)
    g, pairs, total = p.particles, p.pairs, 0.0
    for c in range(count):
        if second[c] <= moved:
            continue
        a, b = first[c], row_of(second[c], end)
        pair = pairs[c]
        n0, n1, n2, u_n = approach(g, pair, a, b)
        q_n, r = u_n + pair.bias, pair.normal_impulse
        if q_n >= 0.0 and r == 0.0 and not relaxed:
            continue
        u0, u1, u2 = slip(g, given, moving, c, a, b, n0, n1, n2, u_n)
        slide = u0 * u0 + u1 * u1 + u2 * u2
        if relaxed and r == 0.0 and q_n >= mus[c] * math.sqrt(slide):
            continue
        w = g[a].inverse_mass + g[b].inverse_mass
        total += 3.0 / (3.0 * w + 2.0 * (g[a].inverse_inertia + g[b].inverse_inertia)) * (q_n * q_n + slide)
    return total


@kernel
def left(pair, q_n, u0, u1, u2, scale, mu, relaxed):
    """Contribution of a pair to the squared error, for its velocities u_N + b and u_T (inertial axes) and a² =
    ``scale``; and what remains of it where no impulse that is finite is one of (2).
    """
    r, t = pair.normal_impulse, pair.tangential_impulse
    slide = math.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
    # all of it times a: x = r − a² ũ
    x = r - scale * (q_n + (0.0 if relaxed else mu * slide))
    x0, x1, x2 = t[0] - scale * u0, t[1] - scale * u1, t[2] - scale * u2
    size = math.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
    if x < 0.0 or size > mu * x:
        if mu * size <= -x:
            x = x0 = x1 = x2 = 0.0
        else:
            x = (x + mu * size) / (1.0 + mu * mu)
            size = mu * x / size
            x0, x1, x2 = size * x0, size * x1, size * x2
    x0, x1, x2 = x0 - t[0], x1 - t[1], x2 - t[2]
    square, short = ((x - r) ** 2 + x0 * x0 + x1 * x1 + x2 * x2) / scale, (mu * slide if relaxed else 0.0) - q_n
    return square, scale * short * short / (1.0 + mu * mu) if short > 0.0 else 0.0


@kernel
def error_of(p):
    """Squared error times ‖q̂‖² at the present velocities and impulses."""
    first, second, given, mus = p.first, p.second, p.given, p.mu
    count, end, moving = p.count, p.particles.shape[0] - 1, p.moving != 0
    g, pairs, total, away = p.particles, p.pairs, 0.0, 0.0
    relaxed, moved = p.relaxed != 0, moved_from(p)
    for c in range(count):
        if second[c] <= moved:
            continue
        a, b = first[c], row_of(second[c], end)
        pair = pairs[c]
        n0, n1, n2, u_n = approach(g, pair, a, b)
        q_n, r = u_n + pair.bias, pair.normal_impulse
        if r == 0.0 and q_n >= 0.0 and not relaxed:
            continue
        u0, u1, u2 = slip(g, given, moving, c, a, b, n0, n1, n2, u_n)
        w = g[a].inverse_mass + g[b].inverse_mass
        scale = 3.0 / (3.0 * w + 2.0 * (g[a].inverse_inertia + g[b].inverse_inertia))  # a²
        square, short = left(pair, q_n, u0, u1, u2, scale, mus[c], relaxed)
        total += square
        away += short
    return max(total, away)
