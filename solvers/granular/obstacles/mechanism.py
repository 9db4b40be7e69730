"""Obstacles that contacts move: nodes of a mechanism - beams, jointed and sprung bodies - among the particles.

Impulses P at the k nodes of such obstacles change their velocities as

    Δv = C P ,   C = S M̂⁻¹ Sᵀ ,   M̂ = [ M + h D + c h² K   −Gᵀ ;  −G   0 ]                                         (1)

with S the rows of these nodes; c = 1 where velocities and positions are found together, ½ where positions follow (3),
and c = θ² with θ h D of Moreau's scheme.
A contact of a particle at the arm a from node j has W of both, with E = (n, t_1, t_2)ᵀ,

    W = W_grain + E [I  −ã] C_jj [I  −ã]ᵀ Eᵀ                                                                      (2)

and is solved exactly, as those of `granular.bodies`. Contacts are taken node by node: those of one node change its own
velocity only, and what they gave together goes through C to the other nodes then. An iteration costs 36 k² in addition.

Methods that find positions first get those of the mechanism once more, with U the change of positions by contacts,

    M U = ½ h² (f(q) − f(q~)) + ½ h P + Gᵀ ν ,   g(q) = 0     whence   U = ½ h W ,                                  (3)

their position problem with ½ in place of c_p: positions move with the mean of the velocities before and after.

C is kept until Gauss-Seidel iterations and the method's own velocities need more than `SOON` turns to agree.

Source: docs/theory/contact_groups.md, (18)-(20).

    symbol  code              shape     meaning
    C       C                 (6k, 6k)  row i: velocities by a unit impulse on component i (inertial, body axes)
    C_jj    own               (k, 6, 6) of node j alone, inertial axes
    v, Ω    v                 (k, 6)    of the nodes, inertial and body axes
    a       arm               (np, 3)   inertial axes
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import call2, integers, kernel, local_vector, vector, void_pointer
from fem_mbs.rotations import quaternion_exp, quaternion_multiply, quaternion_normalise, quaternion_to_matrix
from fem_mbs.solvers.contact.velocity import rates_of_time, solve_velocities
from fem_mbs.solvers.stepping.kernels.codes import OK, SINGULAR
from fem_mbs.solvers.stepping.kernels.newton import problem_at, solve
from fem_mbs.system.assembly import dynamic_tangents
from fem_mbs.system.constraints import RATES, constraint_tangents
from fem_mbs.system.global_matrices import clear_matrix, matrix_values
from fem_mbs.system.records import VELOCITY

SOON = 2  # turns of a step after which C is made anew
MEAN = 0.5  # c of (1) where (3) moves positions
IMMOBILE = 1e-12  # of what C_jj may give a point: less is round-off of C, as of a turntable along its axis

# nj nodes that contacts move, nq = 6 nj, np room for pairs, nu unknowns of the mechanism, nz entries of its matrix
TABLE = Table(
    "mechanism that contacts move",
    {
        "node": Item("nj", "nodes of obstacles", "i8"),
        "slot": Item("no", "row of the node of each obstacle, −1: contacts do not move it", "i8"),
        "part": Item("nodes", "1: of the mechanism, 2: with obstacles, 0: of others", "i8"),
        "C": Item("nq nq", "of (1)"),
        "own": Item("nj 6 6", "C of each node, inertial axes"),
        "v": Item("nj 6", "velocities in the Gauss-Seidel iterations"),
        "before": Item("nj 6", "one iteration ago"),
        "R": Item("nj 3 3", "rotations of the nodes"),
        "start": Item("nk", "first contact of each node", "i8"),
        "pair": Item("np", "pairs, by nodes", "i8"),
        "arm": Item("np 3", "from the node to the contact"),
        "tangents": Item("np 6", "t_1 and t_2"),
        "block": Item("np 3 3", "W of (2)"),
        "slide": Item("np", "σ of (4) of `granular.sweeps`, where De Saxcé's term lags"),
        "base": Item("nodes 6", "forces that (3) replaces"),
        "Vs": Item("nodes 6", "velocities that (3) replaces"),
        "place": Item("nz", "of each entry among the values of the whole matrix, −1: none", "i8"),
        "unknown": Item(
            "nodes 6", "of each component of all nodes, −1: not of the mechanism, or it does not move", "i8"
        ),
        "values": Item("nz", "matrix of the mechanism"),
        "right": Item("nu", "right-hand side"),
        "factor": Item("", "of the linear solver", "i8"),
        "solve": Item("", "of the linear solver", "i8"),
        "context_at": Item("", "of the linear solver", "i8"),
        "status_at": Item("", "of the linear solver", "i8"),
        "count": Item("", "contacts with the mechanism", "i8"),
        "known": Item("", "C is there", "i8"),
        "turns": Item("", "number of the last turn of a step", "i8"),
        "acted": Item("", "contacts have moved the mechanism in this step", "i8"),
        "made": Item("", "times that C was made", "i8"),
    },
)
_RECORD = TABLE.dtype


@kernel
def mechanism_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), _RECORD)


@kernel
def respond(d, s, p, o):
    """Make C of (1) where the method's velocities were found last; False where the matrix is singular."""
    if p.held != 0:
        clear_matrix(d, VELOCITY)
        dynamic_tangents(d, VELOCITY, s.x, s.R, s.V, s.Ad, 1.0, s.h, MEAN * s.h * s.h, 0.0, s.T)
        if d.m > 0:
            shift = s.epsilon_rows * s.kv
            constraint_tangents(d, VELOCITY, s.x, s.R, s.V, s.phi, 0.0, 0.0, s.kv, 0.0, shift, RATES, s.R)
    else:
        s.number = VELOCITY
        call2(problem_at(s.velocity_problem)[0].matrix, s.data_at, s.run_at)
    whole = matrix_values(d, VELOCITY)
    for i in range(o.place.shape[0]):
        o.values[i] = whole[o.place[i]] if o.place[i] >= 0 else 0.0
    call2(o.factor, o.context_at, o.values_at)
    if integers(o.status_at, 1)[0] != 0:
        return False
    C, right = o.C, o.right
    for i in range(C.shape[0]):
        force = o.unknown[o.node[i // 6], i % 6]
        for j in range(right.shape[0]):
            right[j] = 0.0
        if force >= 0:
            right[force] = 1.0
            call2(o.solve, o.context_at, o.right_at)
        for j in range(C.shape[0]):
            answer = o.unknown[o.node[j // 6], j % 6]
            C[i, j] = right[answer] if force >= 0 and answer >= 0 else 0.0
    o.known = 1
    o.made += 1
    return True


@kernel
def load_velocities(o, V):
    """Velocities of the nodes."""
    for a in range(o.node.shape[0]):
        for j in range(6):
            o.v[a, j] = V[o.node[a], j]


@kernel
def load_nodes(o, R, V):
    """Velocities of the nodes, and their own part of C in inertial axes."""
    own, C, turn = o.own, o.C, o.R
    load_velocities(o, V)
    for a in range(o.node.shape[0]):
        i = o.node[a]
        for j in range(3):
            for m in range(3):
                turn[a, j, m] = R[i, j, m]
        first = 6 * a
        for j in range(3):
            for m in range(3):
                own[a, j, m] = C[first + j, first + m]
                own[a, 3 + j, m] = own[a, j, 3 + m] = own[a, 3 + j, 3 + m] = 0.0
        for j in range(3):
            for m in range(3):
                for k in range(3):
                    own[a, 3 + j, m] += R[i, j, k] * C[first + 3 + k, first + m]
                    own[a, j, 3 + m] += R[i, m, k] * C[first + j, first + 3 + k]
                    for l in range(3):
                        own[a, 3 + j, 3 + m] += R[i, j, k] * C[first + 3 + k, first + 3 + l] * R[i, m, l]


@kernel
def unload_nodes(o, V, P):
    """Velocities of the nodes after the Gauss-Seidel iterations, and of the others of the mechanism as P (6 N,)
    changes them by (1).
    """
    right, unknown = o.right, o.unknown
    for j in range(right.shape[0]):
        right[j] = 0.0
    for a in range(o.node.shape[0]):
        i = o.node[a]
        for j in range(6):
            V[i, j] = o.v[a, j]
            if unknown[i, j] >= 0:
                right[unknown[i, j]] = P[6 * i + j]
    call2(o.solve, o.context_at, o.right_at)
    for i in range(unknown.shape[0]):
        for j in range(6):
            if o.part[i] == 1 and unknown[i, j] >= 0:
                V[i, j] += right[unknown[i, j]]


@kernel
def collect(p, o):
    """Contacts with the mechanism by nodes: counted, then put into their places."""
    start, nodes = o.start, o.node.shape[0]
    for a in range(nodes + 1):
        start[a] = 0
    for c in range(p.count):
        b = p.second[c]
        if b < 0 and o.slot[-1 - b] >= 0:
            start[o.slot[-1 - b] + 1] += 1
    for a in range(nodes):
        start[a + 1] += start[a]
    o.count = start[nodes]
    for c in range(p.count - 1, -1, -1):
        b = p.second[c]
        if b < 0 and o.slot[-1 - b] >= 0:
            a = o.slot[-1 - b] + 1
            start[a] -= 1
            o.pair[start[a]] = c
    # start[a + 1] is now the first of node a
    for a in range(nodes):
        start[a] = start[a + 1]
    start[nodes] = o.count


@kernel
def give(o, a, F):
    """Add the response of all nodes to the impulse F (6,), inertial axes, on node a."""
    v, d = vector(o.v_at, 6 * o.node.shape[0]), local_vector(6)
    for j in range(3):
        d[j] = F[j]
        d[3 + j] = o.R[a, 0, j] * F[3] + o.R[a, 1, j] * F[4] + o.R[a, 2, j] * F[5]
    for j in range(6):
        factor, row = d[j], o.C[6 * a + j]
        if factor != 0.0:
            for k in range(v.shape[0]):
                v[k] += factor * row[k]


@kernel
def velocity_of(o, a, v):
    """Fill v (6,) with the velocity of node a, all in inertial axes."""
    for j in range(3):
        v[j] = o.v[a, j]
        v[3 + j] = o.R[a, j, 0] * o.v[a, 3] + o.R[a, j, 1] * o.v[a, 4] + o.R[a, j, 2] * o.v[a, 5]


@kernel
def is_round_off(o, a, own, arm0, arm1, arm2, length):
    """True if a part ``own`` of W_NN by node a at an arm is round-off of zero; ``length`` [m] of the shape there."""
    moves = turns = 0.0
    for j in range(3):
        moves += o.own[a, j, j]
        turns += o.own[a, 3 + j, 3 + j]
    square = arm0 * arm0 + arm1 * arm1 + arm2 * arm2 + length * length
    return own <= IMMOBILE * (moves + square * turns)


@kernel
def give_way(p, o, k, n, arm, length):
    """Displacement of the point of obstacle k along n (3,) by a push along n at an arm (3,) from its node."""
    a, y, total = o.slot[k], local_vector(6), 0.0
    for j in range(3):
        y[j] = n[j]
    y[3], y[4], y[5] = arm[1] * n[2] - arm[2] * n[1], arm[2] * n[0] - arm[0] * n[2], arm[0] * n[1] - arm[1] * n[0]
    for i in range(6):
        for j in range(6):
            total += y[i] * o.own[a, i, j] * y[j]
    return 0.0 if is_round_off(o, a, total, arm[0], arm[1], arm[2], length) else total


@kernel
def nudge(p, o, k, push, n, arm, x, Q, R):
    """Displace the poses x, Q, R of the mechanism by a push [kg m] against n (3,) on obstacle k; joints keep theirs
    to first order.
    """
    i, right, m, e, old = p.plane_node[k], o.right, local_vector(3), local_vector(4), local_vector(4)
    for j in range(right.shape[0]):
        right[j] = 0.0
    m[0] = -push * (arm[1] * n[2] - arm[2] * n[1])
    m[1] = -push * (arm[2] * n[0] - arm[0] * n[2])
    m[2] = -push * (arm[0] * n[1] - arm[1] * n[0])
    for j in range(3):
        if o.unknown[i, j] >= 0:
            right[o.unknown[i, j]] = -push * n[j]
        if o.unknown[i, 3 + j] >= 0:
            right[o.unknown[i, 3 + j]] = R[i, 0, j] * m[0] + R[i, 1, j] * m[1] + R[i, 2, j] * m[2]
    call2(o.solve, o.context_at, o.right_at)
    for i in range(o.part.shape[0]):
        if o.part[i] == 0:
            continue
        turns = False
        for j in range(3):
            if o.unknown[i, j] >= 0:
                x[i, j] += right[o.unknown[i, j]]
            m[j] = right[o.unknown[i, 3 + j]] if o.unknown[i, 3 + j] >= 0 else 0.0
            turns = turns or m[j] != 0.0
        if turns:
            for j in range(4):
                old[j] = Q[i, j]
            quaternion_exp(m, e)
            quaternion_multiply(old, e, Q[i])
            quaternion_normalise(Q[i])
            quaternion_to_matrix(Q[i], R[i])


@kernel
def settle(d, s, o):
    """Positions (3) of the mechanism with the impulses in P, and rates of constraints there; leaves s.code."""
    half, s.code = s.position_factor, OK
    for i in range(o.part.shape[0]):
        for j in range(6):
            o.acted = 1 if o.part[i] == 2 and s.P[6 * i + j] != 0.0 else o.acted
    if o.acted == 0:
        return
    for i in range(o.part.shape[0]):
        for j in range(6):
            o.base[i, j], o.Vs[i, j] = s.base[6 * i + j], s.Vs[i, j]
            if o.part[i] != 0:
                s.base[6 * i + j] -= s.P[6 * i + j] / s.h
                s.Vs[i, j] = s.V[i, j]
    s.position_factor = MEAN
    solve(s, s.position_problem, s.max_iterations)
    s.position_factor = half
    for i in range(o.part.shape[0]):
        for j in range(6):
            s.base[6 * i + j], s.Vs[i, j] = o.base[i, j], o.Vs[i, j]
    if s.code == OK:
        rates_of_time(d, s, s.Vs)


@kernel
def make_ready(d, s, p, turn):
    """C, where there is none or the last one has become too old; False where the matrix is singular."""
    o = mechanism_at(p.mechanism_at)[0]
    if turn == 0:
        o.acted = 0
    if o.known == 0 or (turn == 0 and o.turns > SOON) or turn == SOON + 1:
        if not respond(d, s, p, o):
            s.code = SINGULAR
            return False
    o.turns = turn
    return True


@kernel
def solve_with(d, s, p):
    """The method's own velocities with the impulses in P, and its positions where they follow; leaves s.code."""
    o = mechanism_at(p.mechanism_at)[0]
    if p.held != 0:
        settle(d, s, o)
        if s.code != OK:
            return
    solve_velocities(s, s.velocity_problem)
