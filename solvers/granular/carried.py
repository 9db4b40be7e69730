"""Bodies that rest on obstacles which contacts move: they go by the mean of two velocities, as their obstacle does.

Bodies that contacts push are put to x_n + h v (`granular.pairs`), their obstacle to x_n + h (θ v + (1 − θ) v_n). With
the acceleration a of both a gap of (1 − θ) h² a is left, which the next step closes: the body lags behind by
(1 − θ) h, and swings of the obstacle die away. Bodies that ride along move with the obstacle,

    x = x_n + h (θ v + (1 − θ) v_n) ,                                                                              (1)

and an error of the gap falls by 1/√2 in each step. (1) is for motion that is smooth: where bodies meet, half of the
approach would be left as an overlap. Bodies that push each other are one part. (1) holds for a part that an obstacle
carries, in which no contact closes at the start of the step by more than the forces of one step can give.

Source: docs/theory/contact_groups.md, swings of carried bodies.
"""

from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix
from fem_mbs.solvers.granular.bodies import cross
from fem_mbs.solvers.granular.pairs import velocity_at
from fem_mbs.solvers.granular.sweeps import moved_from

CARRIED, STRUCK = 1, 2


@kernel
def _root(parent, a):
    """First body of the part of a, which is left nearer to it."""
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


@kernel
def _approach(p, c, side, x, R, V):
    """Velocity [m/s] along the normal of pair c of the point of its first (0) or second (1) sphere; arms at x, R."""
    a = p.first[c] if side == 0 else p.second[c]
    i, n = p.node[a], p.pairs[c].normal
    if p.shapes != 0:
        k = 3 * side
        d0, d1, d2 = p.arms[c, k], p.arms[c, k + 1], p.arms[c, k + 2]
    else:  # from the centre on along the normal: no part in the velocity along it
        d0, d1, d2 = p.at[a, 0] - x[i, 0], p.at[a, 1] - x[i, 1], p.at[a, 2] - x[i, 2]
    w0 = R[i, 0, 0] * V[i, 3] + R[i, 0, 1] * V[i, 4] + R[i, 0, 2] * V[i, 5]
    w1 = R[i, 1, 0] * V[i, 3] + R[i, 1, 1] * V[i, 4] + R[i, 1, 2] * V[i, 5]
    w2 = R[i, 2, 0] * V[i, 3] + R[i, 2, 1] * V[i, 4] + R[i, 2, 2] * V[i, 5]
    w0, w1, w2 = cross(w0, w1, w2, d0, d1, d2)
    return n[0] * (V[i, 0] + w0) + n[1] * (V[i, 1] + w1) + n[2] * (V[i, 2] + w2)


@kernel
def _mark(p, x0, R0, V0):
    """Parts of bodies that push each other, ``p.parent``, and at the first body of each what (1) asks, ``p.rides``."""
    parent, rides, u, moved = p.parent, p.rides, local_vector(3), moved_from(p)
    for a in range(parent.shape[0]):
        parent[a], rides[a] = a, 0
    for c in range(p.count):
        b = p.second[c]
        if p.pairs[c].normal_impulse > 0.0 and b >= 0:
            parent[_root(parent, p.body[b])] = _root(parent, p.body[p.first[c]])
    for c in range(p.count):
        pair = p.pairs[c]
        if pair.normal_impulse == 0.0:
            continue
        b, root = p.second[c], _root(parent, p.body[p.first[c]])
        rate = _approach(p, c, 0, x0, R0, V0)
        if b >= 0:
            rate -= _approach(p, c, 1, x0, R0, V0)
        else:
            velocity_at(p, c, x0, R0, V0, u)
            rate -= u[0] * pair.normal[0] + u[1] * pair.normal[1] + u[2] * pair.normal[2]
            if b <= moved:
                rides[root] |= CARRIED
        if rate < -(p.gain + p.slow):
            rides[root] |= STRUCK


@kernel
def carry(p, s):
    """Put the bodies that ride on obstacles to (1)."""
    if p.led == 0 or p.mean == 1.0:
        return
    _mark(p, s.x0, s.R0, s.V0)
    x0, x, V0, V, d, e = s.x0, s.x, s.V0, s.V, local_vector(3), local_vector(4)
    for a in range(p.node.shape[0]):
        b = p.body[a]
        moves = p.bodies[b].inverse_mass if p.clumps != 0 else p.particles[b].inverse_mass
        if moves == 0.0 or p.rides[_root(p.parent, b)] != CARRIED:
            continue
        i = p.node[a]  # spheres of one body leave the same
        for j in range(3):
            x[i, j] = x0[i, j] + s.h * (p.mean * V[i, j] + (1.0 - p.mean) * V0[i, j])
            d[j] = s.h * (p.mean * V[i, 3 + j] + (1.0 - p.mean) * V0[i, 3 + j])
        if p.clumps != 0:
            quaternion_exp(d, e)
            quaternion_multiply(s.Q0[i], e, s.Q[i])
            quaternion_normalise(s.Q[i])
            quaternion_to_matrix(s.Q[i], s.R[i])
