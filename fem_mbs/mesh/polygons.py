"""Polygons cut into triangles."""

import numpy as np


def triangulated(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Triangles (k, n − 2, 3) that fill polygons (k, n) of points (m, 3), see `triangles_of`."""
    arms = points[rows[:, 1:]] - points[rows[:, :1]]
    areas = np.cross(arms[:, :-1], arms[:, 1:])
    concave = (np.einsum("kai,ki->ka", areas, areas.sum(axis=1)) < 0.0).any(axis=1)
    parts = rows[:, [[0, k, k + 1] for k in range(1, rows.shape[1] - 1)]]
    for k in np.flatnonzero(concave):
        parts[k] = rows[k][triangles_of(points[rows[k]])]
    return parts


def triangles_of(points: np.ndarray) -> list[list[int]]:
    """Numbers of the corners of n − 2 triangles that fill a polygon with corners (n, 3) in their order.

    A fan about the first corner where that does, as of convex polygons; otherwise ears are cut off: corners whose
    triangle has the sense of the polygon and no other corner in it.
    """
    n = len(points)
    fan = [[0, k, k + 1] for k in range(1, n - 1)]
    edges = points - points[0]
    normal = np.cross(edges[1:-1], edges[2:]).sum(axis=0)

    def area(a, b, c):
        return float(np.cross(points[b] - points[a], points[c] - points[a]) @ normal)

    if all(area(*corners) >= 0.0 for corners in fan):
        return fan
    left, found = list(range(n)), []
    while len(left) > 3:
        ear = max(range(len(left)), key=lambda k: _quality(area, left, k))
        found.append([left[ear - 1], left[ear], left[(ear + 1) % len(left)]])
        del left[ear]
    return [*found, left]


def _quality(area, left, k):
    """Return 1 for a corner of the rest that is an ear, 0 for one without an area, else −1."""
    a, b, c = left[k - 1], left[k], left[(k + 1) % len(left)]
    if area(a, b, c) <= 0.0:
        return 0 if area(a, b, c) == 0.0 else -1
    inside = (min(area(a, b, p), area(b, c, p), area(c, a, p)) >= 0.0 for p in left if p not in (a, b, c))
    return -1 if any(inside) else 1
