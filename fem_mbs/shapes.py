"""Shapes: how bodies, beams and contacts look.

A shape is a surface in the axes of a node. `fem_mbs.results.drawing.skin.Skin` collects those of a system and moves
them.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.errors import FemMbsError, ParameterError

SHARP = np.cos(np.radians(30.0))  # faces that meet at a larger angle show an edge

COLORS = {
    "blue": "#4c78a8",
    "orange": "#f58518",
    "green": "#54a24b",
    "red": "#e45756",
    "teal": "#72b7b2",
    "yellow": "#eeca3b",
    "purple": "#b279a2",
    "brown": "#9d755d",
    "grey": "#b8bcc2",
    "white": "#ffffff",
    "black": "#202124",
}
PALETTE = ("blue", "orange", "teal", "green", "purple", "yellow", "red", "brown")


def color_of(owner: Any, color: Any) -> np.ndarray | None:
    """Red, green, blue (3,) in 0 … 1 of a colour given by name, "#rrggbb" or three numbers; None stays None."""
    if color is None:
        return None
    text = COLORS.get(color, color) if isinstance(color, str) else None
    if text is not None:
        digits = text.removeprefix("#")
        if len(digits) != 6 or any(c not in "0123456789abcdefABCDEF" for c in digits):
            raise ParameterError(owner, "color", color, f'is not "#rrggbb" nor one of {", ".join(COLORS)}')
        return np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255.0
    rgb = Checked.as_vector(owner, "color", color)
    if rgb.min() < 0 or rgb.max() > 1:
        raise ParameterError(owner, "color", color, "must have components between 0 and 1")
    return rgb


class Shape(Checked):
    """A surface made of triangles and quadrilaterals, in the axes of the node it is drawn on.

    Parameters
    ----------
    points : (n, 3) [m]
    faces : sequence of faces, or arrays (k, 3) and (k, 4) of them
        Point numbers, counter-clockwise seen from outside.
    edges : (m, 2) int, optional
        Lines drawn on the surface; default: where faces meet at more than 30° and at free borders.
    offset : (3,) [m], optional
        Added to all points after ``rotation`` (matrix, rotation vector or quaternion), in node axes.
    color : name, "#rrggbb" or (3,) in 0 … 1, optional
        Default: one colour for each body in turn, grey for ground.
    """

    def __init__(
        self,
        points: ArrayLike,
        faces: Any,
        edges: ArrayLike | None = None,
        *,
        offset: ArrayLike = (0, 0, 0),
        rotation: ArrayLike | None = None,
        color: Any = None,
    ) -> None:
        self._place(self.as_array("points", points, (None, 3)), offset, rotation, color)
        self.faces = self._sorted_faces(faces)
        if edges is not None:
            self.edges = self._point_numbers("edges", edges)

    @functools.cached_property
    def edges(self) -> np.ndarray:
        """Lines (m, 2) drawn on the surface; found when they are first needed, unless they are given."""
        return sharp_edges(self.points, self.faces)

    def _place(self, points, offset=(0, 0, 0), rotation=None, color=None):
        """Put the points where they belong."""
        offset = self.as_vector("offset", offset)
        if rotation is not None:
            points = points @ self.as_rotation("rotation", rotation).T
        self.points = points + offset if any(offset.tolist()) else points
        self.color = color_of(self, color)

    def _point_numbers(self, parameter, value):
        """Numbers of points (k, n) of faces or edges."""
        array = np.atleast_2d(self.as_array(parameter, value))
        good = array.ndim == 2 and (array == np.round(array)).all() and (np.abs(array) < 1e9).all()
        self.check(good, parameter, value, "must be numbers of points")
        if parameter == "edges":
            array = np.zeros((0, 2)) if array.size == 0 else array
            good = array.shape[1] == 2 and (array >= 0).all() and (array < len(self.points)).all()
            self.check(good, parameter, value, f"must be pairs of numbers of the {len(self.points)} points")
        return array.astype(int)

    def _sorted_faces(self, faces):
        """Faces as arrays (k, 3) and (k, 4)."""
        self.as_instance("faces", faces, (list, tuple, np.ndarray), "a list of faces")
        faces = np.atleast_1d(faces) if isinstance(faces, np.ndarray) else faces
        rows = [row for block in faces for row in self._point_numbers("faces", block)]
        sizes = {len(row) for row in rows}
        if not sizes <= {3, 4}:
            raise ParameterError(self, "faces", sorted(sizes), "points per face; must be 3 or 4")
        blocks = [np.array([r for r in rows if len(r) == n]) for n in sorted(sizes)]
        for block in blocks:
            if block.min() < 0 or block.max() >= len(self.points):
                raise ParameterError(self, "faces", int(block.max()), f"but there are {len(self.points)} points")
        return blocks


class Sphere(Shape):
    """Sphere of a radius [m]; three great circles are drawn on it, so that its rotation shows.

    ``resolution``: number of points around the equator, a multiple of 4; lower it for models with thousands of spheres.
    """

    def __init__(self, radius: float, *, resolution: int = 32, **placement: Any) -> None:
        self.radius = self.positive("radius", radius, "m")
        resolution = self.as_integer("resolution", resolution)
        if resolution < 8 or resolution % 4:
            raise ParameterError(self, "resolution", resolution, "must be a multiple of 4, at least 8")
        globe = _globe(resolution)
        self._place(_points_of_sphere(self.radius, resolution), **placement)
        self.faces, self.edges = globe.faces, globe.edges


@functools.cache
def _globe(resolution):
    """The unit sphere, whose faces and edges all spheres of that resolution share."""
    n, rings = resolution, resolution // 2
    latitude, longitude = np.pi * np.arange(1, rings) / rings, 2 * np.pi * np.arange(n) / n
    ring = np.stack([np.cos(longitude), np.sin(longitude)], axis=1)
    body = np.array([[np.sin(a) * c, np.sin(a) * s, np.cos(a)] for a in latitude for c, s in ring])
    points = np.vstack([body, [[0, 0, 1], [0, 0, -1]]])
    i, j = np.meshgrid(np.arange(rings - 2), np.arange(n), indexing="ij")
    k = (j + 1) % n
    quads = np.stack([i * n + j, (i + 1) * n + j, (i + 1) * n + k, i * n + k], axis=-1).reshape(-1, 4)
    top, bottom, around = len(body), len(body) + 1, np.arange(n)
    after, last = (around + 1) % n, (rings - 2) * n
    caps = np.vstack(
        [
            np.stack([np.full(n, top), around, after], axis=1),
            np.stack([np.full(n, bottom), last + after, last + around], axis=1),
        ]
    )
    equator = (rings // 2 - 1) * n + np.append(around, 0)
    meridians = [
        np.concatenate([[top], a + n * np.arange(rings - 1), [bottom], b + n * np.arange(rings - 2, -1, -1), [top]])
        for a, b in ((0, n // 2), (n // 4, 3 * n // 4))
    ]
    edges = np.vstack([np.stack([line[:-1], line[1:]], axis=1) for line in (equator, *meridians)])
    return Shape(points, [caps, quads], edges)


@functools.lru_cache(256)
def _points_of_sphere(radius, resolution):
    """Points that all spheres of a radius share; read-only."""
    points = radius * _globe(resolution).points
    points.setflags(write=False)
    return points


class Ellipsoid(Shape):
    """Ellipsoid of semi-axes (3,) [m] along the node axes; ``resolution`` and drawn circles are those of `Sphere`."""

    def __init__(self, semi_axes: ArrayLike, *, resolution: int = 32, **placement: Any) -> None:
        self.semi_axes = self.as_lengths("semi_axes", semi_axes)
        ball = Sphere(1.0, resolution=resolution)
        self._place(self.semi_axes * ball.points, **placement)
        self.faces, self.edges = ball.faces, ball.edges


_CORNERS = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])
_FACES = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])


class Box(Shape):
    """Box of edge lengths size (3,) [m] along the node axes, centred on the node (see ``offset``)."""

    def __init__(self, size: ArrayLike, **placement: Any) -> None:
        self.size = self.as_lengths("size", size)
        self._place(0.5 * self.size * _CORNERS, **placement)
        self.faces = [_FACES]


class Cylinder(Shape):
    """Cylinder from p1 to p2, both (3,) [m], with a radius [m]; a diameter is drawn on both ends to show rotation."""

    def __init__(self, p1: ArrayLike, p2: ArrayLike, radius: float, *, resolution: int = 32, **placement: Any) -> None:
        self.radius = self.positive("radius", radius, "m")
        p1, p2 = self.as_vector("p1", p1), self.as_vector("p2", p2)
        length = np.linalg.norm(p2 - p1)
        if length == 0:
            raise ParameterError(self, "p2", p2, "is the same point as p1; a cylinder needs a length")
        resolution = self.as_integer("resolution", resolution)
        if resolution < 6 or resolution % 2:
            raise ParameterError(self, "resolution", resolution, "must be even and at least 6")
        from fem_mbs.rotations import frame_with_axis

        n = resolution
        angle = 2 * np.pi * np.arange(n) / n
        R = frame_with_axis((p2 - p1) / length)
        rim = self.radius * (np.outer(np.cos(angle), R[:, 0]) + np.outer(np.sin(angle), R[:, 1]))
        points = np.vstack([p1 + rim, p2 + rim, [p1, p2]])
        i = np.arange(n)
        k = (i + 1) % n
        sides = np.stack([i, k, n + k, n + i], axis=1)
        caps = np.vstack(
            [np.stack([np.full(n, 2 * n), k, i], axis=1), np.stack([np.full(n, 2 * n + 1), n + i, n + k], axis=1)]
        )
        rims = np.vstack([np.stack([i, k], axis=1), np.stack([n + i, n + k], axis=1)])
        super().__init__(points, [caps, sides], np.vstack([rims, [[0, n // 2], [n, n + n // 2]]]), **placement)


class Capsule(Shape):
    """Capsule: all within a radius [m] of the segment from p1 to p2, both (3,) [m].

    Two outlines along it and the rims of its ends are drawn, so that its rotation shows.

    ``resolution``: number of points around it, a multiple of 4.
    """

    def __init__(self, p1: ArrayLike, p2: ArrayLike, radius: float, *, resolution: int = 32, **placement: Any) -> None:
        self.radius = self.positive("radius", radius, "m")
        p1, p2 = self.as_vector("p1", p1), self.as_vector("p2", p2)
        length = np.linalg.norm(p2 - p1)
        if length == 0:
            raise ParameterError(self, "p2", p2, "is the same point as p1; a capsule needs a length")
        resolution = self.as_integer("resolution", resolution)
        if resolution < 8 or resolution % 4:
            raise ParameterError(self, "resolution", resolution, "must be a multiple of 4, at least 8")
        from fem_mbs.rotations import frame_with_axis

        globe, n, rings = _globe(resolution), resolution, resolution // 2
        body = globe.points[: n * (rings - 1)].reshape(rings - 1, n, 3)
        # the equator twice: upper half about p2, lower half about p1
        upper = np.arange(rings - 1) < rings // 2
        R, middle = frame_with_axis((p2 - p1) / length), body[rings // 2 - 1]
        place = lambda unit, center: center + self.radius * unit @ R.T  # noqa: E731
        layers = [place(ring, p2) for ring in body[upper]] + [place(middle, p1)]
        layers += [place(ring, p1) for ring in body[~upper]]
        poles = np.vstack([place(np.array([[0, 0, 1.0]]), p2), place(np.array([[0, 0, -1.0]]), p1)])
        points = np.vstack([*layers, poles])
        i, j = np.meshgrid(np.arange(rings - 1), np.arange(n), indexing="ij")
        k = (j + 1) % n
        quads = np.stack([i * n + j, (i + 1) * n + j, (i + 1) * n + k, i * n + k], axis=-1).reshape(-1, 4)
        top, around, last = rings * n, np.arange(n), (rings - 1) * n
        after = (around + 1) % n
        caps = np.vstack(
            [
                np.stack([np.full(n, top), around, after], axis=1),
                np.stack([np.full(n, top + 1), last + after, last + around], axis=1),
            ]
        )
        first = (rings // 2 - 1) * n
        rims = [np.stack([row + around, row + after], axis=1) for row in (first, first + n)]
        lines = [
            np.concatenate([[top], a + n * np.arange(rings), [top + 1], b + n * np.arange(rings - 1, -1, -1), [top]])
            for a, b in ((0, n // 2), (n // 4, 3 * n // 4))
        ]
        edges = np.vstack([*rims, *(np.stack([line[:-1], line[1:]], axis=1) for line in lines)])
        super().__init__(points, [caps, quads], edges, **placement)


class Patch(Shape):
    """Rectangle of edge lengths size (2,) [m] in the x-y plane of the node axes; normal +z. Draws planes."""

    def __init__(self, size: ArrayLike, **placement: Any) -> None:
        self.size = self.as_lengths("size", size, 2)
        x, y = 0.5 * self.size
        super().__init__([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]], [[0, 1, 2, 3]], **placement)


class Mesh(Shape):
    """Any surface of triangles and quadrilaterals, see `Shape`; `Mesh.read` takes it from a file.

    Examples
    --------
    >>> tetrahedron = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    """

    @classmethod
    def read(cls, path: str | Path, *, scale: float = 1.0, **placement: Any) -> "Mesh":
        """Surface of a mesh file of any format that meshio reads (STL, PLY, OBJ, VTU, Gmsh …).

        ``scale`` multiplies all coordinates: 1e-3 for a drawing in millimetres. Only triangles and quadrilaterals are
        taken.
        """
        import meshio

        mesh = meshio.read(path)
        faces = [block.data for block in mesh.cells if block.type in ("triangle", "quad")]
        if not faces:
            found = ", ".join(sorted({block.type for block in mesh.cells})) or "nothing"
            raise FemMbsError(f"{path}: no triangles or quadrilaterals to draw (found {found})")
        points = np.zeros((len(mesh.points), 3))
        points[:, : mesh.points.shape[1]] = mesh.points
        return cls(scale * points, faces, **placement)


def sharp_edges(points: np.ndarray, faces: Sequence[np.ndarray]) -> np.ndarray:
    """Edges (m, 2) where faces meet at more than 30° or where a face has no neighbour.

    Corners are identified by position, so that files which repeat points for each face (STL) show the same edges.
    """
    if not faces:
        return np.zeros((0, 2), int)
    span = max(np.ptp(points, axis=0).max(), 1e-300)
    _, where = np.unique(np.round(points / span, 9), axis=0, return_inverse=True)
    pairs, ends, normals = [], [], []
    for block in faces:
        corner = points[block]
        # of a quadrilateral the product of its diagonals; a triangle is one whose last corner is its first
        normal = np.cross(corner[:, 2] - corner[:, 0], corner[:, 3 % block.shape[1]] - corner[:, 1])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        for i in range(block.shape[1]):
            edge = block[:, [i, (i + 1) % block.shape[1]]]
            ends.append(edge)
            pairs.append(np.sort(where.reshape(-1)[edge], axis=1))
            normals.append(normal)
    _, first, inverse, count = np.unique(
        np.vstack(pairs), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    total = np.zeros((len(first), 3))
    np.add.at(total, inverse.reshape(-1), np.vstack(normals))
    # |n_1 + n_2|² = 2 + 2 cos(angle) for two faces; a border has one face
    bent = np.einsum("ij,ij->i", total, total) < 2.0 + 2.0 * SHARP
    return np.vstack(ends)[first[(count != 2) | bent]]


def matrices(quaternions: ArrayLike) -> np.ndarray:
    """Rotation matrices (…, 3, 3) of unit quaternions (…, 4), scalar first."""
    q = np.asarray(quaternions, float)
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return np.stack(rows, axis=-1).reshape(*q.shape[:-1], 3, 3)
