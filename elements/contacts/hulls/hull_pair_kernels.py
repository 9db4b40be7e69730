"""Kernels of two hulls that touch each other: which features are near each other, and the contact of a pair of them.

Hulls are all that is within ρ of their cores, convex polyhedra with corners c and edges. Their distance is reached
between a corner of one and the other core, or between two edges that cross,

    gap = min( |c_A − core B| , |c_B − core A| , |edge of A − edge of B| ) − 2ρ                                     (1)

of which there are as many as the product of the numbers of edges. Few of them are near: two faces that lie on each
other have at most as many corners in common as both together. An element is one of K *slots*: it holds one feature pair
during a step, and has its gap and rows, which are smooth and those of a sphere against a shape (`shape_contact`) or of
two capsules (`capsule_kernels`). At the end of the step the K nearest pairs are found, for hulls that come near each
other in the next one at the pose in which they touch first on the straight way

    x + θ h ẋ ,  R exp(θ h Ω) ,  0 ≤ θ ≤ 1 ,   θ ← θ + gap/(h (|ẋ_A − ẋ_B| + Σ |Ω| largest arm))                     (2)

with h the size of the step before. Pairs that a slot holds stay in it, so that multipliers and histories go on; others
get the slots that are left.

    corner on core   n, N by (1), (3) of `hull_kernels`;  of a corner of B the roles are exchanged and n, t2 turned  (3)
    edge on edge     first those whose nearest points are inside both, not parallel, that face each other by (2) of
                     `hull_kernels`; then others, as if they were farther by ρ: a corner gives the same for them

The others are there because a corner may slide over an edge within the step.

No pair outside the slots may be deeper than those inside: `trouble` looks at all of them once for each step that is to
be accepted. Cores whose edges go through each other, with no corner inside, are trouble too: no gap shows it. So are
hulls that overlap between the start of the step and its end: they went through each other, whoever held which features.

All slots of two hulls make the same choice. It depends on its arguments alone: the first slot that needs it stores
the result, with the arguments, for the others.

Source: docs/theory/hulls.md, (6)-(8); nearest features: Ericson, Real-Time Collision Detection (2005), 5.1.9 and 5.2.

    symbol  code        shape   unit  meaning
    ρ, …    TABLE                     all parameters, and results that the kernels of the slots share
    -       state       (K,)    -     feature of each slot: corners of A, of B, then edge of A · edges of B + edge of B
    t, h    state       (2,)    s     time at which features were chosen, and how long after the time before
"""

import math
from typing import NamedTuple

import numpy as np

from fem_mbs.data_table import Item, Table
from fem_mbs.distance.hull_kernels import (
    INSIDE,
    bend_of_hull,
    bound_by_hull,
    cross_inside,
    edge_beyond,
    edge_faces,
    out_of_hull,
    passes_through_hull,
)
from fem_mbs.distance.segments import feet
from fem_mbs.elements.contacts.shapes import capsule_kernels
from fem_mbs.elements.contacts.shapes.shape_contact import Foot, middle_of_gap, shape_hessian, shape_rows, sphere_center
from fem_mbs.jit import ContactRows, kernel, local_arrays, local_matrix, local_vector
from fem_mbs.rotations import dot, exp_matrix, log_matrix, multiply, multiply_T, rotate, rotate_T

LEFT_OUT = 1e-4  # of ρ: pairs outside the slots may be deeper than those inside by less
AROUND = 1.5  # times their spheres: features are looked for where hulls are nearer, or may come
TOUCH = 0.1  # of ρ: hulls that are so near touch
LOOKS, HALVINGS = 60, 8  # along (2)
LONGER = 2.0  # than the step before: a step may be, and where hulls touch later nothing touches now
OVERLAP = 0.5  # of ρ: hulls that overlap by more on the path of a step, but not at its ends, went through each other
MANY = 2000.0  # evaluations along a path, at most
BESIDE = 1.0  # of ρ, by which edges that do not cross, but may when they slide, come after those that do
HIDDEN, CROSSED, THROUGH = 1.0, 2.0, 3.0  # answers of `trouble`
EDGES = capsule_kernels.PARAMETERS
NUMBERS = {
    "nq": Item("", "internal variables", "i8"),
    "slot": Item("", "number of the slot of this element", "i8"),
    "radius": Item("", "ρ, rounding of both [m]"),
}
HULLS = {  # both polyhedra, see `fem_mbs.distance.hull_arrays`
    "first_corner": Item("3", "first corner of each", "i8"),
    "first_edge": Item("3", "first edge of each", "i8"),
    "first_face": Item("3", "first face of each", "i8"),
    "corner": Item("nv 3", "corners [m]"),
    "end": Item("ne 2", "corners of edges, counted from the first of the polyhedron", "i8"),
    "into": Item("ne 2 3", "directions from edges into faces"),
    "face": Item("nf 4", "n and d [m] of faces"),
    "first_rim": Item("firsts", "first edge of each face in rim", "i8"),
    "rim": Item("sides 2", "edges of faces, and which side of them", "i8"),
}
SPHERES = {
    "center": Item("2 3", "centres of spheres around the hulls, axes of the nodes [m]"),
    "bound": Item("2", "their radii [m]"),
    "arm": Item("2", "from each node to the farthest point of its hull [m]"),
}
SCRATCH = {  # of all slots of two hulls
    "pose": Item("24", "x and R of the last search"),
    "best": Item("K", "distances of the nearest features [m]"),
    "found": Item("K", "these features", "i8"),
    "places": Item("nv 3", "corners in axes of the other body [m]"),
    "low": Item("nv", "lower bounds of the distances of corners [m]"),
    "low_face": Item("nv", "faces with these bounds", "i8"),
    "near": Item("m_B", "1: an edge of B is near", "i8"),
    "placed": Item("K", "1: a feature has a slot", "i8"),
    "ahead_of": Item("37", "x, R, v, h of the last search along (2)"),
    "x_ahead": Item("2 3", "positions in which hulls touch first on (2) [m]"),
    "R_ahead": Item("2 3 3", "rotations in which they do"),
    "x_way": Item("2 3", "positions on the path of a step [m]"),
    "R_way": Item("2 3 3", "rotations on the path of a step"),
    "edges": Item("1", "capsules of a pair of edges", EDGES),
}
TABLE = Table("pair of hulls", {**NUMBERS, **HULLS, **SPHERES, **SCRATCH})  # K: slots, elements of two hulls


class Hulls(NamedTuple):
    """Arrays of both polyhedra, see `fem_mbs.distance.hull_arrays`."""

    first_corner: np.ndarray
    first_edge: np.ndarray
    first_face: np.ndarray
    corner: np.ndarray
    end: np.ndarray
    into: np.ndarray
    face: np.ndarray
    first_rim: np.ndarray
    rim: np.ndarray


@kernel
def hulls_of(p):
    """Arrays of both polyhedra."""
    return Hulls(p.first_corner, p.first_edge, p.first_face, p.corner, p.end, p.into, p.face, p.first_rim, p.rim)


@kernel
def _near_spheres(p, x, R, reach):
    """True if the centres of both hulls are nearer than a reach [m]."""
    square, d = 0.0, local_matrix(2, 3)
    for a in range(2):
        rotate(R[a], p.center[a], d[a])
    for i in range(3):
        square += (x[0, i] + d[0, i] - x[1, i] - d[1, i]) ** 2
    return square < reach * reach


@kernel
def _same(numbers, given):
    """Return True if numbers (n,) are those given, and set them to these."""
    same = True
    for k in range(numbers.shape[0]):
        same = same and numbers[k] == given[k]
        numbers[k] = given[k]
    return same


@kernel
def _put(x, R, numbers):
    """A pose x (2, 3), R (2, 3, 3) as numbers (24,)."""
    for a in range(2):
        for i in range(3):
            numbers[3 * a + i] = x[a, i]
            for k in range(3):
                numbers[6 + 9 * a + 3 * i + k] = R[a, i, k]


@kernel
def _insert(best, found, count, distance, feature):
    """Put a feature among the nearest (K,), of which there are ``count``; the new number."""
    most = best.shape[0]
    if count == most and distance >= best[most - 1]:
        return count
    k = min(count, most - 1)
    while k > 0 and best[k - 1] > distance:
        best[k], found[k] = best[k - 1], found[k - 1]
        k -= 1
    best[k], found[k] = distance, feature
    return min(count + 1, most)


@kernel
def search(p, q, x, R):
    """Find the K nearest feature pairs at poses x (2, 3), R (2, 3, 3), and the corners in axes of the other body."""
    pose = local_vector(24)
    _put(x, R, pose)
    if _same(p.pose, pose):
        return
    K, places, best, found, bound, face = p.size_K, p.places, p.best, p.found, p.low, p.low_face
    d, n, count = local_vector(3), local_vector(3), 0
    for a in range(2):
        b, first, last = 1 - a, q.first_corner[a], q.first_corner[a + 1]
        for f in range(first, last):
            rotate(R[a], q.corner[f], d)
            for i in range(3):
                d[i] += x[a, i] - x[b, i]
            rotate_T(R[b], d, places[f])
        bound_by_hull(q, b, places[first:last], last - first, math.inf, bound[first:last], face[first:last])
        for f in range(first, last):
            if count < K or bound[f] < best[K - 1]:  # no corner is nearer than its bound
                count = _insert(best, found, count, out_of_hull(q, b, places[f], n)[0], f)
    count, nv = _search_edges(p, q, R, count), p.size_nv
    pair = 0
    while count < K:  # hulls of few corners: any edges, which are farther
        if not _has(found[:count], nv + pair):
            best[count], found[count] = math.inf, nv + pair
            count += 1
        pair += 1


@kernel
def _has(numbers, number):
    for k in range(numbers.shape[0]):
        if numbers[k] == number:
            return True
    return False


@kernel
def _search_edges(p, q, R, count):
    """Put pairs of edges among the K nearest, of which corners are ``count``; axes are those of B. The new number."""
    n_a, nv, K, m_a, m_b = q.first_corner[1], p.size_nv, p.size_K, q.first_edge[1], p.size_m_B
    places, best, found, bound, face, near = p.places, p.best, p.found, p.low, p.low_face, p.near
    z, at, v, u, w = local_arrays("4 3, 4, 3, 3, 3")
    reach = best[K - 1] if count == K else math.inf
    for j in range(m_b):
        i, k = q.end[m_a + j, 0], q.end[m_a + j, 1]
        near[j] = 0 if edge_beyond(q, places[n_a:], i, k, reach, bound[n_a:], face[n_a:]) else 1
    for e in range(m_a):
        i, k = q.end[e, 0], q.end[e, 1]
        reach = best[K - 1] if count == K else math.inf
        if reach <= 0.0 or edge_beyond(q, places, i, k, reach, bound, face):
            continue
        for j in range(m_b):
            if near[j] == 0:
                continue
            for c in range(3):
                z[0, c], z[1, c] = places[i, c], places[k, c]
                z[2, c], z[3, c] = q.corner[n_a + q.end[m_a + j, 0], c], q.corner[n_a + q.end[m_a + j, 1], c]
            feet(z, 1, at)
            for c in range(3):
                v[c] = z[0, c] + at[0] * (z[1, c] - z[0, c]) - z[2, c] - at[1] * (z[3, c] - z[2, c])
            size = math.sqrt(dot(v, v))
            if size == 0.0 or (count == K and size >= best[K - 1]):
                continue
            for c in range(3):
                v[c] /= size
            rotate(R[1], v, u)
            rotate_T(R[0], u, w)
            for c in range(3):
                w[c] = -w[c]
            meets = cross_inside(z, at, INSIDE * p.radius) and edge_faces(q, 0, e, w) and edge_faces(q, 1, j, v)
            rank = size if meets else size + BESIDE * p.radius
            count = _insert(best, found, count, rank, nv + e * m_b + j)
    return count


@kernel
def _crossed(q, places):
    """True if the cores go through each other; ``places`` of `search`."""
    for a in range(2):
        b, first = 1 - a, q.first_corner[a]
        for e in range(q.first_edge[a], q.first_edge[a + 1]):
            if passes_through_hull(q, b, places[first + q.end[e, 0]], places[first + q.end[e, 1]]):
                return True
    return False


@kernel
def _go(x, R, v, time, x1, R1):
    """Fill x1 (2, 3), R1 (2, 3, 3) with where velocities v (12,) take a pose x, R in a time."""
    psi, E = local_arrays("3, 3 3")
    for a in range(2):
        for i in range(3):
            x1[a, i] = x[a, i] + time * v[6 * a + i]
            psi[i] = time * v[6 * a + 3 + i]
        exp_matrix(psi, E)
        multiply(R[a], E, R1[a])


@kernel
def _travel(p, v, h):
    """Way [m] by which points of both hulls may come nearer in a step h with velocities v (12,)."""
    square, way = 0.0, 0.0
    for i in range(3):
        square += (v[i] - v[6 + i]) ** 2
    for a in range(2):
        way += p.arm[a] * math.sqrt(v[6 * a + 3] ** 2 + v[6 * a + 4] ** 2 + v[6 * a + 5] ** 2)
    return h * (math.sqrt(square) + way)


@kernel
def _first_touch(p, q, x, R, v, h, least, x1, R1):
    """`search` along (2): fills x1 (2, 3), R1 (2, 3, 3) with the pose of the first touch, or of the smallest gap.

    ``least`` [m]: gaps below it are touches; the search advances by no less, and to the end in no more than `LOOKS`.
    """
    search(p, q, x, R)
    best = p.best
    travel, gap = _travel(p, v, h), best[0] - 2.0 * p.radius
    at, clear, smallest, nearest_at = 0.0, 0.0, gap, 0.0
    if least < gap < travel:
        for k in range(LOOKS):
            at = min(at + max(gap / travel, least / travel, (1.0 - at) / (LOOKS - k)), 1.0)
            _go(x, R, v, at * h, x1, R1)
            search(p, q, x1, R1)
            gap = best[0] - 2.0 * p.radius
            if gap < smallest:
                smallest, nearest_at = gap, at
            if gap <= least or at == 1.0:
                break
            clear = at
        for _ in range(HALVINGS if gap < -least else 0):
            nearest_at = 0.5 * (clear + at)
            _go(x, R, v, nearest_at * h, x1, R1)
            search(p, q, x1, R1)
            if best[0] - 2.0 * p.radius > 0.0:
                clear = nearest_at
            else:
                at = nearest_at
    _go(x, R, v, nearest_at * h, x1, R1)


@kernel
def search_ahead(p, q, x, R, v, h):
    """`search` at the pose of (2), where hulls touch first or come nearest in a step h with velocities v (12,)."""
    x1, R1, given = p.x_ahead, p.R_ahead, local_vector(37)
    _put(x, R, given)
    for k in range(12):
        given[24 + k] = v[k]
    given[36] = h
    if not _same(p.ahead_of, given):
        _first_touch(p, q, x, R, v, h, TOUCH * p.radius, x1, R1)
    search(p, q, x1, R1)


@kernel
def _way(x0, R0, x, R, v):
    """Velocities v (12,) that take a pose x0, R0 to x, R in a unit of time."""
    turn = local_matrix(3, 3)
    for a in range(2):
        for i in range(3):
            v[6 * a + i] = x[a, i] - x0[a, i]
        multiply_T(R0[a], R[a], turn)
        log_matrix(turn, v[6 * a + 3 : 6 * a + 6])


@kernel
def _went_through(p, q, x0, R0, x, R):
    """True if hulls overlap on the straight path from x0, R0 to x, R by more than at its ends."""
    v = local_vector(12)
    _way(x0, R0, x, R, v)
    travel = _travel(p, v, 1.0)
    if travel <= OVERLAP * p.radius or not _near_spheres(p, x0, R0, p.bound[0] + p.bound[1] + travel):
        return False
    best, x1, R1 = p.best, p.x_way, p.R_way
    search(p, q, x, R)
    floor = min(best[0] - 2.0 * p.radius, 0.0)
    search(p, q, x0, R0)
    gap = best[0] - 2.0 * p.radius
    floor, at = min(floor, gap) - OVERLAP * p.radius, 0.0
    while gap < travel * (1.0 - at):
        at += max(gap, 0.5 * OVERLAP * p.radius, travel / MANY) / travel
        if at >= 1.0:
            return False
        _go(x0, R0, v, at, x1, R1)
        search(p, q, x1, R1)
        gap = best[0] - 2.0 * p.radius
        if gap < floor:
            return True
    return False


@kernel
def accept(p, x, R, v, t, state):
    """The K nearest features, each in the slot that has it, the others in those that are left."""
    q, K = hulls_of(p), p.size_K
    chosen = state[0] != state[1]  # once there were some
    if chosen and t != state[K]:
        state[K + 1] = max(t - state[K], 0.0)
    state[K] = t
    around, rate = AROUND * (p.bound[0] + p.bound[1]), _travel(p, v, 1.0)
    h = LONGER * state[K + 1]
    if not chosen and rate > 0.0:  # no step is known yet: as long as hulls that near each other may take
        h = 2.0 * around / rate
    if chosen and not _near_spheres(p, x, R, around + h * rate):
        return
    search_ahead(p, q, x, R, v, h)
    found, placed = p.found, p.placed
    for m in range(K):
        placed[m] = 0
    for k in range(K):
        holds = int(state[k])
        state[k] = -1.0
        for m in range(K):
            if found[m] == holds and placed[m] == 0:
                placed[m], state[k] = 1, float(holds)
    k = 0
    for m in range(K):
        if placed[m] == 0:
            while state[k] >= 0.0:
                k += 1
            state[k] = float(found[m])


@kernel
def initial(p, x, R, v, t, state):
    """The K nearest features."""
    accept(p, x, R, v, t, state)


@kernel
def trouble(p, x, R, x0, R0, state):
    """1: a pair outside the slots is deeper than those inside; 2: cores go through each other away from their corners;
    3: the hulls went through each other on the path from the start of the step.
    """
    if p.slot != 0:
        return 0.0
    q = hulls_of(p)
    if _went_through(p, q, x0, R0, x, R):
        return THROUGH
    if not _near_spheres(p, x, R, p.bound[0] + p.bound[1]):
        return 0.0
    search(p, q, x, R)
    best, found = p.best, p.found
    if best[0] > 0.0 and _crossed(q, p.places):
        return CROSSED
    held = 0.0  # gap of the deepest that a slot has
    for m in range(p.size_K):
        if best[m] - 2.0 * p.radius >= held - LEFT_OUT * p.radius:
            break
        if not _has(state[: p.size_K], float(found[m])):
            return HIDDEN
        held = min(held, best[m] - 2.0 * p.radius)
    return 0.0


@kernel
def edges_of(p, q, number):
    """Record of the capsules of a pair of edges; one for all slots, which fill it one after the other."""
    record, m_a, m_b = p.edges[0], q.first_edge[1], p.size_m_B
    for a in range(2):
        e = number // m_b if a == 0 else m_a + number % m_b
        for k in range(2):
            corner = q.first_corner[a] + q.end[e, k]
            record.node[2 * a + k] = a
            for i in range(3):
                record.offset[2 * a + k, i] = q.corner[corner, i]
    record.radius[0] = record.radius[1] = p.radius
    record.segment = 1
    return record


@kernel
def nearest(q, b, y, n, N):
    """Distance [m] of y (3,) from core b, in its axes; fills n (3,) and N (3, 3)."""
    distance, on = out_of_hull(q, b, y, n)
    bend_of_hull(q, b, on, distance, n, N)
    return distance


@kernel
def _unit(F):
    for i in range(3):
        for k in range(3):
            F[i, k] = 1.0 if i == k else 0.0


@kernel
def contact(p, x, R, x0, R0, node_A, node_B, state, rows):
    """Gap and rows of the feature that the slot holds; (3)."""
    q, f = hulls_of(p), int(state[p.slot])
    nv = q.first_corner[2]
    if f >= nv:
        capsule_kernels.contact(edges_of(p, q, f - nv), x, R, x0, R0, rows)
        return
    foot, F, zero = (
        Foot(local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_vector(3), local_matrix(3, 3)),
        local_matrix(3, 3), local_vector(3),
    )  # fmt: skip
    own = ContactRows(
        local_vector(1), local_vector(2), local_vector(12), local_matrix(2, 12), local_matrix(2, 12),
        local_matrix(3, 12), rows.point, local_vector(3), local_matrix(2, 3),
    )  # fmt: skip
    a = 0 if f < q.first_corner[1] else 1
    b, c, r, side = 1 - a, q.corner[f], p.radius, 1.0 - 2.0 * a
    first, second = node_A, node_B
    if a == 1:
        first, second = node_B, node_A
    _unit(F)
    for i in range(3):
        zero[i] = own.normal[i] = own.tangents[0, i] = own.tangents[1, i] = 0.0
    for j in range(12):
        own.G_N[j] = 0.0
        for k in range(3):
            own.W[k, j] = 0.0
        for k in range(2):
            own.G_T[k, j] = own.V_T[k, j] = own.slip[k] = 0.0
    sphere_center(first.x0, first.R0, c, second.x0, second.R0, zero, F, foot.y_B, foot.y0)
    before = nearest(q, b, foot.y0, foot.n0, foot.N) - 2.0 * r
    sphere_center(first.x, first.R, c, second.x, second.R, zero, F, foot.y_B, foot.y)
    now = nearest(q, b, foot.y, foot.n, foot.N) - 2.0 * r
    rows.gap[0] += now
    shape_rows(c, F, r, first, second, foot, own, (middle_of_gap(r), now, before, 0.0))
    # as seen from A: exchanged roles reverse n and t2, and with them slip_2 is unchanged
    rows.slip[0] += side * own.slip[0]
    rows.slip[1] += own.slip[1]
    for j in range(12):
        k = (j + 6 * a) % 12
        rows.G_N[k] += own.G_N[j]
        rows.G_T[0, k] += side * own.G_T[0, j]
        rows.G_T[1, k] += own.G_T[1, j]
        rows.V_T[0, k] += side * own.V_T[0, j]
        rows.V_T[1, k] += own.V_T[1, j]
        rows.W[0, k] += side * own.W[0, j]
        rows.W[1, k] += own.W[1, j]
        rows.W[2, k] += own.W[2, j]
    for i in range(3):
        rows.normal[i] += side * own.normal[i]
        rows.tangents[0, i] += own.tangents[0, i]
        rows.tangents[1, i] += side * own.tangents[1, i]


@kernel
def contact_hessian(p, x, R, state, H_N):
    """Add ∂G_N/∂q to H_N (12, 12)."""
    q, f = hulls_of(p), int(state[p.slot])
    nv = q.first_corner[2]
    if f >= nv:
        capsule_kernels.contact_hessian(edges_of(p, q, f - nv), x, R, H_N)
        return
    y, y_B, n, zero, N, F, H = local_arrays("3, 3, 3, 3, 3 3, 3 3, 12 12")
    a = 0 if f < q.first_corner[1] else 1
    b, c = 1 - a, q.corner[f]
    _unit(F)
    for i in range(3):
        zero[i] = 0.0
    for i in range(12):
        for j in range(12):
            H[i, j] = 0.0
    sphere_center(x[a], R[a], c, x[b], R[b], zero, F, y_B, y)
    nearest(q, b, y, n, N)
    shape_hessian(c, F, R[a], R[b], y_B, n, N, H)
    for i in range(12):
        for j in range(12):
            H_N[(i + 6 * a) % 12, (j + 6 * a) % 12] += H[i, j]
