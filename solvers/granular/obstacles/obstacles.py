"""Obstacles of contact groups: planes, and shapes whose gap and normal their contact elements know.

A shape is asked through the compiled kernel of its element (`fem_mbs.jit.bind`), as in assembled (pairwise) groups:
the sphere takes the place of the first body, with its centre as node. Planes have a few lines of their own, which cost
nothing.

Gaps of obstacles are distances less a radius. A distance changes by no more than the way of the point,

    |φ(y) − φ(z)| ≤ |y − z| ,                                                                                      (1)

so that one look at the centre of a cell shows whether an obstacle can be near any of the spheres in it. Nodes of
obstacles that move are *movers*. No point y* of such an obstacle that is the nearest to a sphere is farther from its
node than the reach; what the node moves and turns in a step moves these points by no more than

    h (|v| + |Ω| reach) .                                                                                          (2)

Source: docs/theory/contact_groups.md, (16), (17).

    symbol  code        shape   unit  meaning
    φ − r   gap_of(…)   ()      m     gap of a sphere of radius r; with the normal n
    y*                  (3,)    m     c − (r + gap) n, the point of the obstacle nearest to the centre c
"""

import math

import numpy as np
from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import N_SLOTS, SLOT, call2, integers, kernel, matrix, tensor, vector, void_pointer
from fem_mbs.solvers.granular.data import can_move, never_touch
from fem_mbs.system.records import zero

PER_CELL = 16  # spheres in a cell of (1), about
LOOKS, SMALLEST_LOOK = 64, 0.02  # along the way of a sphere; part of its radius
UNKNOWN, NEAR, FAR = 0, 1, 2
_X, _R, _X0, _R0, _GAP, _NORMAL = (SLOT[name] for name in ("x", "R", "x0", "R0", "gap", "normal"))
_GN, _GT, _VT, _W, _SLIP, _POINT, _TANGENTS = (
    SLOT[name] for name in ("G_N", "G_T", "V_T", "W", "slip", "point", "tangents")
)
_ND = 12  # components of two nodes

# no obstacles, as in `granular.data`; nw nodes of obstacles that move
TABLE = Table(
    "obstacles of a contact group",
    {
        "kernel": Item("no", "address of what evaluates a contact with it, 0: plane", "i8"),
        "record": Item("no", "address of the parameters of that contact", "i8"),
        "radius_at": Item("no", "address of the radius of the sphere among them", "i8"),
        "convex": Item("no", "its nearest points are no farther apart than spheres are", "i8"),
        "mover": Item("no", "row of its node among those that move, −1: none", "i8"),
        "mover_node": Item("nw", "nodes that move", "i8"),
        "mover_x": Item("nw 3", "their positions when pairs were searched"),
        "mover_R": Item("nw 3 3", "their rotations then"),
        "reach": Item("nw", "of (2) [m]"),
        "shapes": Item("", "obstacles that are no planes", "i8"),
        "ahead": Item("", "way of obstacles that the search has allowed for [m]"),
        "table_at": Item("", "arguments of the kernels of elements", "i8"),
    },
)
_RECORD = TABLE.dtype


@kernel
def obstacles_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), _RECORD)


@kernel
def _clear(b):
    """Set what a kernel of contacts adds to to zero."""
    zero(b[_GN], _ND)
    zero(b[_GT], 2 * _ND)
    zero(b[_VT], 2 * _ND)
    zero(b[_W], 3 * _ND)
    zero(b[_GAP], 1)
    zero(b[_SLIP], 2)
    zero(b[_POINT], 3)
    zero(b[_NORMAL], 3)
    zero(b[_TANGENTS], 6)


@kernel
def _place(b, x_at, R_at, c0, c1, c2, x, R):
    """Poses of the two bodies of a contact: a centre without rotation, and that of an obstacle."""
    both_x, both_R = matrix(x_at, 2, 3), tensor(R_at, 2, 3, 3)
    both_x[0, 0], both_x[0, 1], both_x[0, 2] = c0, c1, c2
    for j in range(3):
        both_x[1, j] = x[j]
        for m in range(3):
            both_R[0, j, m] = 1.0 if j == m else 0.0
            both_R[1, j, m] = R[j, m]


@kernel
def _shape_gap(o, k, x, R, c0, c1, c2, radius):
    """Gap and normal of a sphere about c from shape k with its node at x (3,), R (3, 3)."""
    b = integers(o.table_at, N_SLOTS)
    _clear(b)
    _place(b, b[_X], b[_R], c0, c1, c2, x, R)
    _place(b, b[_X0], b[_R0], c0, c1, c2, x, R)
    vector(o.radius_at[k], 1)[0] = radius
    call2(o.kernel[k], o.record[k], o.table_at)
    n = vector(b[_NORMAL], 3)
    return vector(b[_GAP], 1)[0], n[0], n[1], n[2]


@kernel
def gap_of(p, k, x, R, c0, c1, c2, radius):
    """Gap [m] of a sphere about c from obstacle k, and the normal, for nodes at x, R; planes are placed already."""
    o = obstacles_at(p.obstacles_at)[0]
    if o.shapes != 0 and o.kernel[k] != 0:
        i = p.plane_node[k]
        return _shape_gap(o, k, x[i], R[i], c0, c1, c2, radius)
    n0, n1, n2 = p.plane[k, 0], p.plane[k, 1], p.plane[k, 2]
    return n0 * c0 + n1 * c1 + n2 * c2 - p.plane[k, 3] - radius, n0, n1, n2


@kernel
def gap_ahead(p, k, x, R, c, u, way, gap, n):
    """Gap [m] of sphere c (3,) of radius c[3] to the tangent plane of shape k that it meets first on its way u (3,)
    [m] of length ``way``, or comes nearest to; n (3,) is the normal, at first that of the start.

    Spheres that move by a good part of their radius meet another side of an edge than they see at the start.
    """
    at, step, least, tangent = 0.0, gap, gap, gap
    for _ in range(LOOKS):
        at = min(at + max(step, SMALLEST_LOOK * c[3]) / way, 1.0)
        step, n0, n1, n2 = gap_of(p, k, x, R, c[0] + at * u[0], c[1] + at * u[1], c[2] + at * u[2], c[3])
        if step < least:
            least, tangent = step, step - at * (n0 * u[0] + n1 * u[1] + n2 * u[2])
            n[0], n[1], n[2] = n0, n1, n2
        if step <= 0.0 or at == 1.0:
            break
    return tangent


@kernel
def movers_way(o, x, R, V, h):
    """Largest way (2) [m] of obstacles from where pairs were searched, at the end of a step with velocities V."""
    largest = 0.0
    for a in range(o.mover_node.shape[0]):
        i, reach = o.mover_node[a], o.reach[a]
        shift = turn = speed = spin = 0.0
        for k in range(3):
            shift += (x[i, k] - o.mover_x[a, k]) ** 2
            speed += V[i, k] ** 2
            spin += V[i, 3 + k] ** 2
            for m in range(3):
                turn += (R[i, k, m] - o.mover_R[a, k, m]) ** 2
        # a chord of the rotation is at most |R − R0|/√2 times the distance from the axis
        moved = math.sqrt(shift) + reach * math.sqrt(0.5 * turn) + h * (math.sqrt(speed) + reach * math.sqrt(spin))
        largest = max(largest, moved)
    return largest


# --- search
# --------------------------------------------------------------------------------------------------------------


@kernel
def begin_search(o, x, R, V, h, least):
    """Poses of movers, and their way in the step, if it is longer than ``least`` [m]; reaches are those of before."""
    for a in range(o.mover_node.shape[0]):
        i = o.mover_node[a]
        for j in range(3):
            o.mover_x[a, j] = x[i, j]
            for m in range(3):
                o.mover_R[a, j, m] = R[i, j, m]
    way = movers_way(o, x, R, V, h)
    o.ahead = way if way > least else 0.0
    for a in range(o.mover_node.shape[0]):
        o.reach[a] = 0.0


@kernel
def cells_of(center, count, low, cell):
    """Cells of about `PER_CELL` spheres: fills their corner low (3,) and the cell (n,) of each sphere; their size [m]
    and number.
    """
    high, number = np.empty(3), np.empty(3, np.int64)
    largest = 0.0
    for j in range(3):
        low[j] = high[j] = center[0, j]
        for i in range(count):
            low[j], high[j] = min(low[j], center[i, j]), max(high[j], center[i, j])
        largest = max(largest, high[j] - low[j])
    size = largest if largest > 0.0 else 1.0
    while True:
        total = 1.0
        for j in range(3):
            total *= math.floor(2.0 * (high[j] - low[j]) / size) + 1.0
        if total * PER_CELL > count or largest == 0.0:
            break
        size *= 0.5
    for j in range(3):
        number[j] = int((high[j] - low[j]) / size) + 1
    for i in range(count):
        at = 0
        for j in range(3):
            at = at * number[j] + min(int((center[i, j] - low[j]) / size), number[j] - 1)
        cell[i] = at
    return size, number


@kernel
def _look(p, o, k, cell, low, size, number, most, x, R):
    """True if shape k can be within ``most`` [m] of centres in a cell, by (1)."""
    c2 = low[2] + size * (cell % number[2] + 0.5)
    c1 = low[1] + size * ((cell // number[2]) % number[1] + 0.5)
    c0 = low[0] + size * (cell // (number[2] * number[1]) + 0.5)
    half = 0.5 * math.sqrt(3.0) * size
    distance, n0, n1, n2 = gap_of(p, k, x, R, c0, c1, c2, 0.0)
    if distance - half <= most:
        return NEAR
    a = o.mover[k]
    if a >= 0:
        i = p.plane_node[k]
        d0, d1, d2 = c0 - x[i, 0], c1 - x[i, 1], c2 - x[i, 2]
        if o.convex[k] != 0:
            d0, d1, d2 = d0 - distance * n0, d1 - distance * n1, d2 - distance * n2
            reach = half
        else:
            reach = distance + 2.0 * half
        o.reach[a] = max(o.reach[a], reach + math.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
    return FAR


@kernel
def is_near(p, o, i, k, reach, x, R):
    """True if sphere i is near obstacle k; its nearest point is within the reach of a mover."""
    c0, c1, c2 = p.center[i, 0], p.center[i, 1], p.center[i, 2]
    gap, n0, n1, n2 = gap_of(p, k, x, R, c0, c1, c2, p.radius[i])
    a = o.mover[k]
    if a >= 0:
        j, depth = p.plane_node[k], gap + p.radius[i]
        d0, d1, d2 = c0 - depth * n0 - x[j, 0], c1 - depth * n1 - x[j, 1], c2 - depth * n2 - x[j, 2]
        o.reach[a] = max(o.reach[a], math.sqrt(d0 * d0 + d1 * d1 + d2 * d2))
    return gap - reach < p.skin + o.ahead


@kernel
def near_obstacles(p, i, cell, low, size, number, state, most, x, R, total):
    """Append the pairs of sphere i with obstacles, as far as there is room; the number of pairs then.

    ``state`` (cells, obstacles) is what is known of cells, ``most`` [m] the largest distance of a sphere that is near.
    """
    o = obstacles_at(p.obstacles_at)[0]
    room, reach, choosy = p.room.shape[0], p.ahead[i], p.excluded.shape[0] > 0
    moves = can_move(p, i)
    for k in range(o.kernel.shape[0]):
        if not moves and (p.coupled == 0 or -1 - k > p.coupled):
            continue
        if o.kernel[k] != 0:
            if state[cell[i], k] == UNKNOWN:
                state[cell[i], k] = _look(p, o, k, cell[i], low, size, number, most, x, R)
            if state[cell[i], k] == FAR:
                continue
        if choosy and never_touch(p, p.node[i], p.plane_node[k], x.shape[0]):
            continue
        if is_near(p, o, i, k, reach, x, R):
            if total < room:
                p.first[total], p.second[total] = i, -1 - k
            total += 1
    return total


@kernel
def gaps_now(p, x, R, gap):
    """Fill gap (count,) with those of pairs with obstacles at poses x, R; ``p.at`` are the centres there."""
    for c in range(p.count):
        if p.second[c] < 0:
            i = p.first[c]
            gap[c] = gap_of(p, -1 - p.second[c], x, R, p.at[i, 0], p.at[i, 1], p.at[i, 2], p.radius[i])[0]
