"""Cores that are convex polyhedra: distances of points, edges with the faces beside them, planes between shapes.

A polyhedron has faces n·x ≤ d. A point y is outside where it is beyond a face. The nearest point q of the polyhedron is
then on one of the faces that y is beyond: where y − (n·y − d) n is inside the rim of such a face it is that point,
since no other one of the half space is nearer; else it is the nearest point of the edges of these faces.

    φ(y) = |y − q| outside ,   else max (n·y − d) over the faces, with the normal of the nearest one                (1)

An edge can be the nearest part of its body in a direction u only if u does not lead into one of its faces. With t the
direction from the edge into a face, in the plane of the face and across the edge, edges count where

    u·t ≤ OPEN    for both faces .                                                                                  (2)

OPEN is not 0: faces that lie on each other have their directions on the border, and bodies turn in a step.

Polyhedra are shared by all shapes of the same form and are numbered; axes are those of a shape, about its centre.

Source: docs/theory/hulls.md, (3), (4); nearest points: Ericson, Real-Time Collision Detection (2005), 5.1.
"""

import math

from numba import carray

from fem_mbs.jit import kernel, local_vector, void_pointer
from fem_mbs.rotations import dot
from fem_mbs.solvers.stepping.table import Item, Table

OPEN = 0.25  # sine of the angle by which directions may lead into a face: more than bodies turn in a step

# nu polyhedra, and one after the last; nv, ne, nf, nr: their corners, edges, faces, edges of faces
TABLE = Table(
    "convex polyhedra of a contact group",
    {
        "first_corner": Item("nu", "of each polyhedron", "i8"),
        "first_edge": Item("nu", "the same", "i8"),
        "first_face": Item("nu", "the same", "i8"),
        "corner": Item("nv 3", "place of each"),
        "end": Item("ne 2", "corners of each edge, counted from the first of the polyhedron", "i8"),
        "into": Item("ne 2 3", "directions t into both faces of each edge"),
        "face": Item("nf 4", "n and d of each"),
        "first_rim": Item("nm", "first edge of each face in `rim`, and one after the last", "i8"),
        "rim": Item("nr 2", "edges, and which of their sides the face is", "i8"),
        "first_star": Item("nw", "first edge of each corner in `star`, and one after the last", "i8"),
        "star": Item("ns 2", "edges at each corner, and which of their ends it is", "i8"),
    },
)
HULLS = TABLE.dtype


@kernel
def hulls_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), HULLS)


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
    """Put y − q into n (3,) where the nearest point of edge e is nearer than the root of ``best``; the least square."""
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
        return square
    return best


@kernel
def out_of_hull(q, u, y, n):
    """Distance (1) [m] of the point y (3,) from polyhedron u; fills the normal n (3,). As `out_of_core` for boxes."""
    first, last, v0 = q.first_face[u], q.first_face[u + 1], q.first_corner[u]
    nearest, depth = first, -math.inf
    for f in range(first, last):
        beyond = beyond_face(q, f, y)
        if beyond > depth:
            nearest, depth = f, beyond
    if depth <= 0.0:
        for k in range(3):
            n[k] = q.face[nearest, k]
        return depth
    best = math.inf
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
                best = _near_edge(q, e, v0, y, best, n)
        if inside:
            for k in range(3):
                n[k] = q.face[f, k]
            return beyond
    distance = math.sqrt(best)
    for k in range(3):
        n[k] /= distance
    return distance


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
