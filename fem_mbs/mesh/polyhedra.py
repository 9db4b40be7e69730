"""Convex polyhedra: the hull of points with its faces, edges and corners, and its core for rounded edges.

The hull of Qhull has triangles. Those that lie in one plane, to `FLAT` of the size, are one face; points that are no
corner of at least three faces are left out. Each face has the plane n·x = d with n outwards and d the farthest of its
points, so that nothing of the hull is beyond it.

Edges and corners are rounded off by ρ when all faces move in by ρ and a ball of that radius rolls around the remaining
body, C = { x : n_f·x ≤ d_f − ρ for all faces }. C may have four corners where the hull had one. The *core* has as many
corners as the hull,

    core = hull of { nearest point of C to c : corners c }  ⊂ C ,                                                   (1)

which is C where three faces meet in each corner. The rounded shape is never outside of the hull. The nearest point is
that of a least-distance problem, solved by non-negative least squares.

Source: Barber, Dobkin and Huhdanpaa, The Quickhull algorithm (1996); Lawson and Hanson, Solving Least Squares Problems
(1974), 23.4; docs/theory/hulls.md, (1), (2).
"""

import functools

import numpy as np
from scipy.optimize import linprog, nnls
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

FLAT = 1e-6  # of the size: triangles whose points are nearer to one plane are one face; that of single precision
MOST = 256  # corners
THIN = 1e-4  # of the size: hulls that are thinner have no inside
PASSES = 10  # over points that are no corners


class Polyhedron:
    """A convex polyhedron.

    Attributes
    ----------
    points : (n, 3) [m], corners
    normals, offsets : (k, 3), (k,) [m], planes of the faces
    edges : (m, 2) numbers of corners
    sides : (m, 2) numbers of the faces on both sides of each edge
    triangles : (t, 3) numbers of corners, counter-clockwise from outside
    """

    def __init__(self, points: np.ndarray) -> None:
        for _ in range(PASSES):
            hull = ConvexHull(points)
            size = np.ptp(points, axis=0).max()
            face = _faces(hull, size * FLAT)
            corners = _corners(hull, face)
            if len(corners) == len(points):
                break
            points = points[corners]
        self.points, self.triangles = np.ascontiguousarray(points), _outwards(hull)
        count = face.max() + 1
        areas = _areas(points, self.triangles)
        self.normals = np.zeros((count, 3))
        np.add.at(self.normals, face, areas)
        self.normals /= np.linalg.norm(self.normals, axis=1)[:, None]
        self.offsets = (self.normals @ points.T).max(axis=1)
        first = np.repeat(np.arange(len(hull.simplices)), 3)
        second, opposite = hull.neighbors.reshape(-1), np.tile(np.arange(3), len(hull.simplices))
        real = (first < second) & (face[first] != face[second])
        rims = np.array([np.delete(row, k) for row, k in zip(hull.simplices[first[real]], opposite[real])])
        self.edges, self.sides = rims, np.stack([face[first[real]], face[second[real]]], axis=1)

    @functools.cached_property
    def volume(self) -> float:
        """[m³]"""
        a, b, c = (self.points[self.triangles[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    @functools.cached_property
    def center(self) -> np.ndarray:
        """Centre (3,) [m] of the volume."""
        middle = self.points.mean(axis=0)
        a, b, c = (self.points[self.triangles[:, k]] - middle for k in range(3))
        parts = np.einsum("ij,ij->i", a, np.cross(b, c))
        return middle + (parts[:, None] * (a + b + c)).sum(axis=0) / (4.0 * parts.sum())

    @functools.cached_property
    def inradius(self) -> float:
        """Radius [m] of the largest ball inside."""
        rows = np.hstack([self.normals, np.ones((len(self.normals), 1))])
        bound = self.offsets - self.normals @ self.center
        found = linprog([0, 0, 0, -1], rows, bound, bounds=[(None, None)] * 3 + [(0, None)])
        return float(found.x[3]) if found.x is not None else 0.0

    def moved(self, offset: np.ndarray, rotation: np.ndarray | None = None) -> "Polyhedron":
        """The same polyhedron with all points turned by a rotation (3, 3) and moved by an offset (3,) [m]."""
        other = Polyhedron.__new__(Polyhedron)
        other.__dict__ = {k: v for k, v in self.__dict__.items() if k in _SHARED}
        points = self.points
        if rotation is not None:
            points, other.normals = points @ rotation.T, self.normals @ rotation.T
        other.points, other.offsets = points + offset, self.offsets + other.normals @ offset
        return other

    def core_points(self, rounding: float) -> np.ndarray:
        """Points (k, 3) whose hull is the core (1) for a ``rounding`` [m] that is less than `inradius`."""
        size, bounds = np.ptp(self.points, axis=0).max(), self.offsets - rounding
        places = [_nearest_within(self.normals, bounds, corner, size) for corner in self.points]
        return _apart(np.array(places), FLAT * size)

    def rims(self) -> list[np.ndarray]:
        """Corners of each face, counter-clockwise from outside."""
        found = []
        for k, normal in enumerate(self.normals):
            numbers = np.unique(self.edges[(self.sides == k).any(axis=1)])
            flat = self.points[numbers] - self.points[numbers].mean(axis=0)
            along = flat[0] / np.linalg.norm(flat[0])
            found.append(numbers[np.argsort(np.arctan2(flat @ np.cross(normal, along), flat @ along))])
        return found


_SHARED = ("normals", "edges", "sides", "triangles", "volume", "inradius")


def fault_of(points: np.ndarray) -> str | None:
    """Why points (n, 3) have no hull of some thickness, in words that follow their number; None where they have."""
    if len(np.unique(points, axis=0)) < 4:
        return "different points; a hull needs four, not in one plane"
    flat = points - points.mean(axis=0)
    size = np.ptp(points, axis=0).max()
    axes = np.linalg.svd(flat, full_matrices=False)[2]
    widths = np.ptp(flat @ axes.T, axis=0)
    if widths.min() < THIN * size:
        where = "in one plane" if np.sort(widths)[1] >= THIN * size else "on one line"
        return f"points {where}, to {widths.min() / size:.0e} of their extent; a hull needs a thickness"
    try:
        ConvexHull(points)
    except QhullError as error:
        return f"points without a hull ({str(error).splitlines()[0]})"
    return None


def overlap_of(hulls: list[Polyhedron]) -> float:
    """Volume [m³] that pairs of polyhedra have in common, summed over all pairs."""
    low, high = (np.array([bound(hull.points, axis=0) for hull in hulls]) for bound in (np.min, np.max))
    near = (np.minimum(high[:, None], high) - np.maximum(low[:, None], low)).min(axis=2) > FLAT * np.ptp(high - low)
    total = 0.0
    for i, k in np.argwhere(np.triu(near, 1)):
        total += _common_volume(hulls[i], hulls[k])
    return total


def _common_volume(one, other):
    """Volume of what two polyhedra have in common; 0 where it is thinner than `FLAT` of the size."""
    origin, size = one.points.mean(axis=0), np.ptp(one.points, axis=0).max()
    normals = np.vstack([one.normals, other.normals])
    bounds = np.concatenate([hull.offsets - hull.normals @ origin for hull in (one, other)]) / size
    ball = linprog([0, 0, 0, -1], np.column_stack([normals, np.ones(len(normals))]), bounds, bounds=[(None, None)] * 4)
    if ball.x is None or ball.x[3] <= FLAT:
        return 0.0
    within = HalfspaceIntersection(np.column_stack([normals, -bounds]), ball.x[:3])
    return float(ConvexHull(within.intersections).volume) * size**3


def _faces(hull, flat):
    """Number of the face of each triangle: those that hang together in the plane of the largest."""
    face, count = np.full(len(hull.simplices), -1), 0
    areas = np.linalg.norm(_areas(hull.points, hull.simplices), axis=1)
    for seed in np.argsort(-areas, kind="stable"):  # planes of large triangles are known best
        if face[seed] >= 0:
            continue
        deep = hull.points @ hull.equations[seed, :3] + hull.equations[seed, 3]
        inside, waiting = (deep[hull.simplices] > -flat).all(axis=1), [seed]
        face[seed] = count
        while waiting:
            for other in hull.neighbors[waiting.pop()]:
                if face[other] < 0 and inside[other]:
                    face[other] = count
                    waiting.append(other)
        count += 1
    return face


def _corners(hull, face):
    """Points that belong to three faces or more."""
    pairs = np.unique(np.stack([hull.simplices.reshape(-1), np.repeat(face, 3)], axis=1), axis=0)
    return np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(hull.points)) >= 3)


def _areas(points, triangles):
    """Vector areas (t, 3) [m²] of triangles."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return 0.5 * np.cross(b - a, c - a)


def _outwards(hull):
    """Triangles of a hull, counter-clockwise from outside."""
    triangles = hull.simplices.copy()
    inwards = np.einsum("ij,ij->i", _areas(hull.points, triangles), hull.equations[:, :3]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


def _nearest_within(normals, bounds, point, size):
    """Nearest point to a point (3,) where normals (k, 3) · x ≤ bounds (k,): a least-distance problem."""
    rows, least = -normals, (normals @ point - bounds) / size
    if least.max() <= 0.0:
        return point
    matrix = np.vstack([rows.T, least])
    weights, _ = nnls(matrix, np.array([0.0, 0.0, 0.0, 1.0]))
    left = matrix @ weights - np.array([0.0, 0.0, 0.0, 1.0])
    return point - size * left[:3] / left[3]


def _apart(points, least):
    """Points without those that are nearer than ``least`` [m] to one before them."""
    kept: list[np.ndarray] = []
    for point in points:
        if all(np.linalg.norm(point - other) > least for other in kept):
            kept.append(point)
    return np.array(kept)
