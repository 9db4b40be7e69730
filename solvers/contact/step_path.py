"""Paths of a step and the first touch of a contact on them: what `contact.sweep` and `contact.passed` share.

The path is (1) of `contact.sweep`, with the increments D and last velocities of the smooth motion, or of the result.
The travel of a pair is the way of its contact point on one body past that on the other, and what their relative
rotation adds within the reach. A gap closes no faster than `FASTER` travel, by which the search goes forward.

Source: docs/theory/sweep.md; conservative advancement, as in `contact.sweep`.
"""

import math

from fem_mbs.jit import (
    SLOT,
    call2,
    integer_matrix,
    integers,
    kernel,
    local_matrix,
    local_vector,
    matrix,
    tensor,
    vector,
)
from fem_mbs.rotations import (
    log_matrix,
    multiply_T,
    quaternion_exp,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_to_matrix,
    rotate,
    tangent_inverse,
)
from fem_mbs.system.contacts import (
    contacts_of,
    evaluate_contact,
)
from fem_mbs.system.gather import gather_poses

_GAP, _NORMAL = SLOT["gap"], SLOT["normal"]
# paths: (1), with τ U, with the result of the step in it, and free flight
SMOOTH_WAY, CORRECTED_WAY, RESULT_WAY, FREE_WAY = 0, 1, 2, 3
FREE = 0.24  # of the passage: travel in which no normal turns by 14° (0.244 rad)
FORCED = 0.05  # of the passage: shorter overlaps of glancing bodies, in which normals turn by 1.4°, may be missed
DIP = 1e-6  # of the passage: overlaps that count
FASTER = 1.5  # than the mean speed: how a gap may close on the way
EVALUATIONS = 500  # of a contact in a step before the search stops
BISECTIONS = 40  # of a part of the step: to 1e-12 of it
EARLIEST = 1e-12  # touch: 0 means not swept
NEVER, UNKNOWN = 2.0, -1.0


@kernel
def place_along(d, s, i, tau, D, V):
    """Put node i where it is at τ of the path (1) with increment D (6,) and last velocity V (6,), into xt, Qt, Rt."""
    x0, Q0, V0 = s.x0, s.Q0, s.V0
    xt, Qt, Rt = s.xt, s.Qt, s.Rt
    p, q, T = local_vector(4), local_vector(4), local_matrix(3, 3)
    now, last = local_vector(6), local_vector(3)
    square = tau * tau
    cube = tau * square
    a, b, c = (cube - 2.0 * square + tau) * s.h, (cube - square) * s.h, 3.0 * square - 2.0 * cube
    for j in range(6):
        now[j] = a * V0[i, j] + c * D[j]
    for j in range(3):
        xt[i, j] = x0[i, j] + now[j] + b * V[j]
    if integers(d.turns_at, d.n_nodes)[i] == 0:
        return
    tangent_inverse(D[3:6], T)
    rotate(T, V[3:6], last)
    for j in range(3):
        last[j] = now[3 + j] + b * last[j]
    quaternion_exp(last, p)
    quaternion_multiply(Q0[i], p, q)
    for j in range(4):
        Qt[i, j] = q[j]
    quaternion_normalise(Qt[i])
    quaternion_to_matrix(Qt[i], Rt[i])


@kernel
def place(d, s, i, tau, corrected):
    """Put node i where it is at τ of the path of the step, into xt, Qt, Rt; ``corrected`` adds τ U."""
    D, Vs, U = s.D, s.Vs, s.U
    place_along(d, s, i, tau, D[i], Vs[i])
    if not corrected:
        return
    xt, Qt, Rt = s.xt, s.Qt, s.Rt
    p, q, last = local_vector(4), local_vector(4), local_vector(3)
    for j in range(3):
        xt[i, j] += tau * U[i, j]
        last[j] = tau * U[i, 3 + j]
    if integers(d.turns_at, d.n_nodes)[i] == 0:
        return
    for j in range(4):
        q[j] = Qt[i, j]
    quaternion_exp(last, p)
    quaternion_multiply(q, p, Qt[i])
    quaternion_normalise(Qt[i])
    quaternion_to_matrix(Qt[i], Rt[i])


@kernel
def gap_at(d, s, g, e, b, tau, way):
    """Gap of contact e of group g at τ of a path (`SMOOTH_WAY` …); the rest of its kinematics is left in the workspace.

    A force law on a contact, which has no contact kernel, is asked along the last two.
    """
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    x0, R0, V0 = s.x0, s.R0, s.V0
    xt, Rt = s.xt, s.Rt
    if way < RESULT_WAY:
        for a in range(g.nn):
            place(d, s, nodes[e, a], tau, way == CORRECTED_WAY)
        return evaluate_contact(d, g, e, b, xt, Rt, x0, R0, V0)
    x, R, V = s.x, s.R, s.V
    D, turn = local_vector(6), local_matrix(3, 3)
    for a in range(g.nn):
        i = nodes[e, a]
        if way == FREE_WAY:
            for j in range(6):
                D[j] = s.h * V0[i, j]
            place_along(d, s, i, tau, D, V0[i])
            continue
        for j in range(3):
            D[j] = x[i, j] - x0[i, j]
        multiply_T(R0[i], R[i], turn)
        log_matrix(turn, D[3:6])
        place_along(d, s, i, tau, D, V[i])
    gather_poses(g, e, b, xt, Rt)
    call2(g.touching, g.parameters_at + e * g.stride, d.table_at)
    return vector(b[_GAP], 1)[0]


@kernel
def rough_travel(d, s, g, e, corrected):
    """Bound of `travel_of` that costs little; for contacts of more than two nodes the travel itself."""
    nodes = integer_matrix(g.nodes_at, g.n, g.nn)
    D, U, x0 = s.D, s.U, s.x0
    contact = contacts_of(g)
    part = 1.0 if corrected else 0.0
    far = turning = 0.0
    for a in range(g.nn):
        i, o = nodes[e, a], nodes[e, 0]
        square = turn = arm = 0.0
        for j in range(3):
            square += (D[i, j] - D[o, j] + part * (U[i, j] - U[o, j])) ** 2
            turn += (abs(D[i, 3 + j]) + part * abs(U[i, 3 + j])) ** 2
            arm += (contact.point[e, j] - x0[i, j]) ** 2
        far = max(far, square)
        if turn > 0.0:
            turning += math.sqrt(turn) * (math.sqrt(arm) + contact.reach[e])
    return (1.0 if g.nn == 2 else 2.0) * math.sqrt(far) + turning


@kernel
def travel_of(d, s, g, e, corrected):
    """Way [m] of a contact point fixed to the second body past the one fixed to the first, and what their relative
    rotation adds within the reach; motion of both together is none."""
    if g.nn != 2:
        return rough_travel(d, s, g, e, corrected)
    N, nodes = d.n_nodes, integer_matrix(g.nodes_at, g.n, g.nn)
    x0, R0 = s.x0, s.R0
    x = matrix(s.x_at if corrected else s.xs_at, N, 3)
    R = tensor(s.R_at if corrected else s.Rs_at, N, 3, 3)
    contact = contacts_of(g)
    turned, arm, moved, between = local_matrix(6, 3), local_vector(3), local_vector(3), local_vector(3)
    for a in range(2):
        i = nodes[e, a]
        for j in range(3):
            for k in range(3):
                turned[3 * a + j, k] = R[i, j, 0] * R0[i, k, 0] + R[i, j, 1] * R0[i, k, 1] + R[i, j, 2] * R0[i, k, 2]
            arm[j] = contact.point[e, j] - x0[i, j]
        rotate(turned[3 * a : 3 * a + 3], arm, moved)
        for j in range(3):
            between[j] = x[i, j] + moved[j] - (between[j] if a == 1 else 0.0)
    # cos of the relative rotation from the trace of its matrix
    trace = way = 0.0
    for j in range(3):
        way += between[j] * between[j]
        for k in range(3):
            trace += turned[j, k] * turned[3 + j, k]
    return math.sqrt(way) + math.acos(min(max(0.5 * (trace - 1.0), -1.0), 1.0)) * contact.reach[e]


@kernel
def first_touch(d, s, g, e, b, gap, size, travel, way):
    """τ of the first touch on a path that starts at a gap, `NEVER`, or `UNKNOWN` when `EVALUATIONS` do not find it.

    ``size`` [m] is the length in which normals turn: the passage.
    """
    rate, deep = FASTER * travel, -DIP * size
    least = FORCED * size / rate
    tau = 0.0
    for _ in range(EVALUATIONS):
        if tau >= 1.0:
            return NEVER
        after = min(1.0, tau + max(gap / rate, least))
        gap = gap_at(d, s, g, e, b, after, way)
        if gap < deep:
            for _ in range(BISECTIONS):
                middle = 0.5 * (tau + after)
                if gap_at(d, s, g, e, b, middle, way) < 0.0:
                    after = middle
                else:
                    tau = middle
            return max(tau, EARLIEST)
        tau = after
    return UNKNOWN


@kernel
def read_normal(b, n):
    """Copy the normal of the contact that was evaluated last to n (3,)."""
    normal = vector(b[_NORMAL], 3)
    for j in range(3):
        n[j] = normal[j]


@kernel
def cosine(first, second):
    """Cosine of the angle between two normals."""
    return first[0] * second[0] + first[1] * second[1] + first[2] * second[2]
