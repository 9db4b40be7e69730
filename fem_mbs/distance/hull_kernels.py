"""Distances of points and edges from convex polyhedra, and planes between them, for all that has hulls.

A polyhedron has faces n·x ≤ d. A point y is outside where it is beyond a face. The nearest point q of the polyhedron is
then on one of the faces that y is beyond: where y − (n·y − d) n is inside the rim of such a face it is that point,
since no other one of the half space is nearer; else it is the nearest point of the edges of these faces.

    φ(y) = |y − q| outside ,   else max (n·y − d) over the faces, with the normal of the nearest one                (1)

An edge can be the nearest part of its body in a direction u only if u does not lead into one of its faces. With t the
direction from the edge into a face, in the plane of the face and across the edge, edges count where

    u·t ≤ OPEN    for both faces .                                                                                  (2)

OPEN is not 0: faces that lie on each other have their directions on the border, and bodies turn in a step. With e the
direction of the edge on which q is,

    ∂n/∂y = 0 over a face, inside;   (I − e eᵀ − n nᵀ)/φ near an edge;   (I − n nᵀ)/φ near a corner                 (3)

Kernels take a record or tuple q with the arrays of `fem_mbs.distance.hull_arrays`, and the number of a
polyhedron in these.

Source: docs/theory/hulls.md, (3), (4); nearest points: Ericson, Real-Time Collision Detection (2005), 5.1.
"""

import math

from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import dot

OPEN = 0.25  # sine of the angle by which directions may lead into a face: more than bodies turn in a step
FACE, POINT = -1, -2  # what a nearest point is on, where it is no edge
INSIDE = 1e-3  # of the smaller radius: edges that cross nearer to an end are left to the corner there
PARALLEL = 1e-8  # sine squared of the angle of edges


@kernel
def edge_count(q, u):
    """Number of edges of polyhedron u."""
    return q.first_edge[u + 1] - q.first_edge[u]


@kernel
def beyond_face(q, f, y):
    """How far point y (3,) is beyond face f [m]."""
    return q.face[f, 0] * y[0] + q.face[f, 1] * y[1] + q.face[f, 2] * y[2] - q.face[f, 3]


@kernel
def _near_edge(q, e, v0, y, best, n):
    """Put y − q into n (3,) where the nearest point of edge e is nearer than the root of ``best``.

    Returns the least square, and whether that is of this edge: its number, or POINT where q is an end; else FACE.
    """
    a, b = v0 + q.end[e, 0], v0 + q.end[e, 1]
    along = length = 0.0
    for k in range(3):
        d = q.corner[b, k] - q.corner[a, k]
        along += d * (y[k] - q.corner[a, k])
        length += d * d
    at = min(max(along / length, 0.0), 1.0)
    square = 0.0
    for k in range(3):
        d = y[k] - q.corner[a, k] - at * (q.corner[b, k] - q.corner[a, k])
        square += d * d
    if square < best:
        for k in range(3):
            n[k] = y[k] - q.corner[a, k] - at * (q.corner[b, k] - q.corner[a, k])
        return square, (e if 0.0 < at < 1.0 else POINT)
    return best, FACE


@kernel
def out_of_hull(q, u, y, n):
    """Distance (1) [m] of the point y (3,) from polyhedron u; fills the normal n (3,). As `out_of_core` for boxes.

    Returns also what the nearest point is on: number of an edge, FACE or POINT.
    """
    first, last, v0 = q.first_face[u], q.first_face[u + 1], q.first_corner[u]
    nearest, depth = first, -math.inf
    for f in range(first, last):
        beyond = beyond_face(q, f, y)
        if beyond > depth:
            nearest, depth = f, beyond
    if depth <= 0.0:
        for k in range(3):
            n[k] = q.face[nearest, k]
        return depth, FACE
    best, on = math.inf, FACE
    for i in range(first - 1, last):
        f = nearest if i < first else i  # the farthest face is the likeliest
        beyond = beyond_face(q, f, y)
        if i == nearest or beyond <= 0.0 or beyond * beyond >= best:
            continue
        inside = True
        for r in range(q.first_rim[f], q.first_rim[f + 1]):
            e, side = q.rim[r, 0], q.rim[r, 1]
            a, within = v0 + q.end[e, 0], 0.0
            for k in range(3):
                within += q.into[e, side, k] * (y[k] - q.corner[a, k])
            if within < 0.0:
                inside = False
                best, found = _near_edge(q, e, v0, y, best, n)
                on = found if found != FACE else on
        if inside:
            for k in range(3):
                n[k] = q.face[f, k]
            return beyond, FACE
    distance = math.sqrt(best)
    for k in range(3):
        n[k] /= distance
    return distance, on


@kernel
def bend_of_hull(q, u, on, distance, n, N):
    """Fill N (3, 3) [1/m] with (3), from what `out_of_hull` has found."""
    e = local_vector(3)
    for k in range(3):
        e[k] = 0.0
        if on >= 0:
            e[k] = q.corner[q.first_corner[u] + q.end[on, 1], k] - q.corner[q.first_corner[u] + q.end[on, 0], k]
    square = dot(e, e)
    for i in range(3):
        for k in range(3):
            along = e[i] * e[k] / square if on >= 0 else 0.0
            N[i, k] = 0.0 if on == FACE else ((1.0 if i == k else 0.0) - n[i] * n[k] - along) / distance


@kernel
def beyond_corner(q, u, y, margin):
    """Whether y (3,) is beyond a corner of polyhedron u by a margin [m] along all of its edges."""
    v0, v1 = q.first_corner[u], q.first_corner[u + 1]
    corner, best, d = v0, math.inf, local_vector(3)
    for v in range(v0, v1):
        square = 0.0
        for k in range(3):
            square += (y[k] - q.corner[v, k]) ** 2
        if square < best:
            corner, best = v, square
    for k in range(3):
        d[k] = y[k] - q.corner[corner, k]
    for s in range(q.first_star[corner], q.first_star[corner + 1]):
        e, end = q.star[s, 0], q.star[s, 1]
        a, b, along, length = v0 + q.end[e, end], v0 + q.end[e, 1 - end], 0.0, 0.0
        for k in range(3):
            way = q.corner[b, k] - q.corner[a, k]
            along += way * d[k]
            length += way * way
        if along > -margin * math.sqrt(length):
            return False
    return True


@kernel
def bound_by_hull(q, u, points, count, reach, bound, face):
    """Fill ``bound`` (count,) with how far points (count, 3) are beyond the faces of polyhedron u at most, which is no
    more than their distance, and ``face`` (count,) with these faces.

    Returns True, and may leave that undone, where all points are beyond one face by more than a reach [m].
    """
    for i in range(count):
        bound[i] = -math.inf
    for f in range(q.first_face[u], q.first_face[u + 1]):
        least = math.inf
        for i in range(count):
            beyond = beyond_face(q, f, points[i])
            least = min(least, beyond)
            if beyond > bound[i]:
                bound[i], face[i] = beyond, f
        if least > reach:
            return True
    return False


@kernel
def edge_beyond(q, points, i, j, reach, bound, face):
    """Whether the edge between points i and j is farther than a reach [m] by what `bound_by_hull` has found."""
    if bound[i] > reach and beyond_face(q, face[i], points[j]) > reach:
        return True
    return bound[j] > reach and beyond_face(q, face[j], points[i]) > reach


@kernel
def edge_faces(q, u, number, direction):
    """Whether an edge of polyhedron u, counted from its first, can be the nearest one in a direction (3,), by (2)."""
    e = q.first_edge[u] + number
    return dot(q.into[e, 0], direction) <= OPEN and dot(q.into[e, 1], direction) <= OPEN


@kernel
def passes_through_hull(q, u, y, z):
    """Whether the way from y to z (3,) passes through polyhedron u."""
    enter, leave = 0.0, 1.0
    for f in range(q.first_face[u], q.first_face[u + 1]):
        from_y, from_z = beyond_face(q, f, y), beyond_face(q, f, z)
        if from_y > 0.0 and from_z > 0.0:
            return False
        if from_y > 0.0:
            enter = max(enter, from_y / (from_y - from_z))
        elif from_z > 0.0:
            leave = min(leave, from_y / (from_y - from_z))
    return enter <= leave


@kernel
def are_parallel(z):
    """Whether edges with ends z (4, 3) are."""
    a = b = c = 0.0
    for k in range(3):
        e_a, e_b = z[1, k] - z[0, k], z[3, k] - z[2, k]
        a += e_a * e_a
        b += e_b * e_b
        c += e_a * e_b
    return a * b - c * c <= PARALLEL * a * b


@kernel
def cross_inside(z, at, margin):
    """Whether edges with ends z (4, 3) are nearest inside both, by a margin [m], and not parallel; at (4,): `feet`."""
    if are_parallel(z):
        return False
    a = b = 0.0
    for k in range(3):
        a += (z[1, k] - z[0, k]) ** 2
        b += (z[3, k] - z[2, k]) ** 2
    m_a, m_b = margin / math.sqrt(a), margin / math.sqrt(b)
    return m_a < at[0] < 1.0 - m_a and m_b < at[1] < 1.0 - m_b
