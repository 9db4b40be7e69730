"""Gaps, normals and points between convex shapes of a contact group: corners against cores, edges against edges.

A shape is all that is within a radius ρ of its core, a box of half edge lengths h about its centre c with axes F, some
of which may be 0: a point (sphere), a segment (capsule), a box (with rounded edges). Its corners are the ends of the
core, 1, 2, 4 (of a plate) or 8. Or the core is a convex polyhedron, of which `hull_kernels` has faces and edges.
Two shapes touch where a corner y of one is nearest to the core of the other, or where two edges cross:

    corner:  q the point of the core nearest to y ,   n = (y − q)/|y − q| ,   gap = |y − q| − ρ_a − ρ_b              (1)
    edges:   P, Q nearest points of two segments ,    n = (P − Q)/|P − Q| ,   gap = |P − Q| − ρ_a − ρ_b              (2)

A corner inside a core has a depth in place of |y − q| and the normal of the nearest face. Edges whose segments went
through each other in the step keep their normal, and |P − Q| is negative. What (1) or (2) say twice is left out:

    a corner nearest to a corner is taken from one side; edges count where P and Q are inside both, 1e-3 ρ from their
    ends, and not parallel to 1e-4 rad; there corners give the same                                                (3)

Edges of polyhedra, of which there are many, count only where they can be the nearest part of their body as well, (2) of
`hull_kernels`.

Obstacles are shapes too, with sharp edges where ρ = 0, or endless axes: of these a piece next to the other shape
counts. In planes and hollows the free space is convex, and only corners touch, as spheres do
(`granular.obstacles.obstacles`).

Distances of the cores are convex functions of a shift of one of them, so that (1) of the theory page excludes overlaps
as for spheres; the error of rotations is of second order.

Source: docs/theory/contact_groups.md, (21)-(23); docs/theory/hulls.md, (3), (4); nearest points: those of
`SphereOnBox`, `CapsuleOnCapsule` and `hull_kernels`.
"""

import math

from fem_mbs.distance.box import out_of_core
from fem_mbs.distance.hull_kernels import (
    INSIDE,
    beyond_corner,
    cross_inside,
    edge_count,
    edge_faces,
    out_of_hull,
)
from fem_mbs.distance.segments import feet
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.rotations import dot, rotate_T
from fem_mbs.solvers.granular.obstacles.obstacles import gap_of
from fem_mbs.solvers.granular.shapes.hulls import hulls_at

CORNER = 0  # feature of a corner on a core; edges i and j have EDGES i + j + 1
EDGES = 1024  # more than a shape has
BESIDE = 0.01  # of the thickness: corners this far beyond a corner are left to the corner there


@kernel
def place_shape(p, s, x, R):
    """Corners, centre and axes of shape s at poses x, R."""
    first, at, offset = p.core_first[s], p.at, p.offset
    i = p.node[first]
    for c in range(first, first + p.core_count[s]):
        for k in range(3):
            at[c, k] = x[i, k] + (R[i, k, 0] * offset[c, 0] + R[i, k, 1] * offset[c, 1] + R[i, k, 2] * offset[c, 2])
    for k in range(3):
        place = x[i, k]
        for m in range(3):
            place += R[i, k, m] * p.core_offset[s, m]
            turn = 0.0
            for j in range(3):
                turn += R[i, k, j] * p.core_axes[s, j, m]
            p.core_turn[s, k, m] = turn
        # a sphere's centre and its corner are one point, to the last digit
        p.core_center[s, k] = at[first, k] if p.core_count[s] == 1 else place


@kernel
def is_endless(p, s):
    """True if shape s has an endless axis."""
    return p.core_half[s, 2] == math.inf


@kernel
def bring_beside(p, s, t):
    """Put the corners of endless shape t, the ends of a piece of its axis, to both sides of shape s."""
    first, axis, half, along = p.core_first[t], p.core_turn[t], 2.0 * p.core_bound[s], 0.0
    for k in range(3):
        along += (p.core_center[s, k] - p.core_center[t, k]) * axis[k, 2]
    for k in range(3):
        p.at[first, k] = p.core_center[t, k] + (along - half) * axis[k, 2]
        p.at[first + 1, k] = p.core_center[t, k] + (along + half) * axis[k, 2]


@kernel
def edge_ends(p, s, e, z):
    """Corners of edge e of the core of shape s into z (2,), as numbers."""
    count = p.core_count[s]
    if p.core_hull[s] >= 0:
        q = hulls_at(p.hulls_at)[0]
        e += q.first_edge[p.core_hull[s]]
        z[0], z[1] = float(q.end[e, 0]), float(q.end[e, 1])
        return
    if count == 2:
        z[0], z[1] = 0.0, 1.0
        return
    if count == 4:
        axis, low = e // 2, (e % 2) << (1 - e // 2)
        z[0], z[1] = float(low), float(low | (1 << axis))
        return
    axis, k = e // 4, e % 4
    low = k << 1 if axis == 0 else ((k & 1) | ((k >> 1) << 2) if axis == 1 else k)
    z[0], z[1] = float(low), float(low | (1 << axis))


@kernel
def edges_of(p, s):
    """Number of edges of the core of shape s."""
    count = p.core_count[s]
    if p.core_hull[s] >= 0:
        return edge_count(hulls_at(p.hulls_at)[0], p.core_hull[s])
    if count == 8:
        return 12
    return count if count == 4 else count - 1


@kernel
def local_corner(p, a, t, y):
    """Corner a in the axes of shape t, about its centre: y (3,)."""
    d = local_vector(3)
    for k in range(3):
        d[k] = p.at[a, k] - p.core_center[t, k]
    rotate_T(p.core_turn[t], d, y)


@kernel
def out_of(p, t, y, n):
    """Distance [m] of the point y (3,), axes of shape t, from its core; fills the normal n (3,), as `out_of_core`."""
    if p.core_hull[t] >= 0:
        return out_of_hull(hulls_at(p.hulls_at)[0], p.core_hull[t], y, n)[0]
    return out_of_core(p.core_half[t], y, n)


@kernel
def _beyond(p, t, y, margin):
    """True if y (3,), axes of shape t, is beyond a corner of its core by a margin."""
    if p.core_hull[t] >= 0:
        return beyond_corner(hulls_at(p.hulls_at)[0], p.core_hull[t], y, margin)
    for k in range(3):
        half = p.core_half[t, k]
        if half > 0.0 and abs(y[k]) <= half + margin:
            return False
    return True


@kernel
def corner_on_core(p, a, b, g):
    """(1) for corner a and the shape whose first corner is b; fills n, P and Q, g (9,): surface points of both.

    Returns the gap, and whether the pair counts by (3).
    """
    t, s, y, n = p.shape[b], p.shape[a], local_vector(3), local_vector(3)
    local_corner(p, a, t, y)
    distance = out_of(p, t, y, n)
    r_a, r_b, turn = p.radius[a], p.radius[b], p.core_turn[t]
    for k in range(3):
        g[k] = turn[k, 0] * n[0] + turn[k, 1] * n[1] + turn[k, 2] * n[2]
    for k in range(3):
        g[3 + k] = p.at[a, k] - r_a * g[k]
        g[6 + k] = p.at[a, k] - (distance - r_b) * g[k]
    counts = True
    if t < s and p.core_count[t] > 1 and p.core_count[s] > 1:
        counts = not _beyond(p, t, y, BESIDE * min(p.thick[a], p.thick[b]))
    return distance - r_a - r_b, counts


@kernel
def edge_points(p, a, b, feature, z, at):
    """Ends z (4, 3) of the edges of a feature, of the shapes with first corners a and b, and their `feet` at (4,)."""
    e, number = local_vector(2), feature - 1
    if is_endless(p, p.shape[b]):
        bring_beside(p, p.shape[a], p.shape[b])
    for side in range(2):
        first = a if side == 0 else b
        edge_ends(p, p.shape[first], number // EDGES if side == 0 else number % EDGES, e)
        for j in range(2):
            for k in range(3):
                z[2 * side + j, k] = p.at[first + int(e[j]), k]
    feet(z, 1, at)


@kernel
def _can_be_nearest(p, s, e, sign, g):
    """True if edge e of shape s can be its nearest part in the direction sign · n of g, see `hull_kernels`, (2)."""
    if p.core_hull[s] < 0:
        return True
    n, u = local_vector(3), local_vector(3)
    for k in range(3):
        n[k] = sign * g[k]
    rotate_T(p.core_turn[s], n, u)
    return edge_faces(hulls_at(p.hulls_at)[0], p.core_hull[s], e, u)


@kernel
def edge_on_edge(p, a, b, feature, before, g):
    """(2) for a feature of the shapes with first corners a and b, as `corner_on_core`; before (3,): the normal that a
    closed pair had, or 0.

    Open pairs beyond the margin of the search, which are those of fast bodies, count wherever they are nearest.
    """
    z, at, n = local_matrix(4, 3), local_vector(4), local_vector(3)
    edge_points(p, a, b, feature, z, at)
    for k in range(3):
        g[3 + k] = z[0, k] + at[0] * (z[1, k] - z[0, k])
        g[6 + k] = z[2, k] + at[1] * (z[3, k] - z[2, k])
        n[k] = g[3 + k] - g[6 + k]
    size = math.sqrt(dot(n, n))
    r_a, r_b = p.radius[a], p.radius[b]
    counts = cross_inside(z, at, INSIDE * (min(r_a, r_b) if r_b > 0.0 else r_a))
    along = dot(n, before)
    sign = -1.0 if along < 0.0 and size < r_a + r_b else 1.0
    if size == 0.0:
        size, sign = 1.0, 0.0
        for k in range(3):
            n[k] = before[k]
        counts = counts and dot(n, n) > 0.0
    for k in range(3):
        g[k] = n[k] / size if sign >= 0.0 else -n[k] / size
        g[3 + k] -= r_a * g[k]
        g[6 + k] += r_b * g[k]
    gap = sign * size - r_a - r_b
    if not (counts or gap >= p.skin):
        return gap, False
    i, j = (feature - 1) // EDGES, (feature - 1) % EDGES
    return gap, _can_be_nearest(p, p.shape[a], i, -1.0, g) and _can_be_nearest(p, p.shape[b], j, 1.0, g)


@kernel
def corner_in_room(p, a, k, x, R, g):
    """Find corners as `corner_on_core`, for obstacle k, a plane or a hollow, and nodes at x, R."""
    gap, g[0], g[1], g[2] = gap_of(p, k, x, R, p.at[a, 0], p.at[a, 1], p.at[a, 2], p.radius[a])
    for j in range(3):
        g[3 + j] = p.at[a, j] - p.radius[a] * g[j]
        g[6 + j] = g[3 + j] - gap * g[j]
    return gap, True


@kernel
def touch(p, k, x, R, before, g):
    """Gap of listed pair k with nodes at x, R, whether it counts, and n, P, Q as g (9,); shapes are placed already."""
    first, second, feature = p.near[k, 0], p.near[k, 1], p.near[k, 2]
    if second < 0:
        return corner_in_room(p, first, -1 - second, x, R, g)
    if feature == CORNER:
        return corner_on_core(p, first, second, g)
    return edge_on_edge(p, first, second, feature, before, g)
