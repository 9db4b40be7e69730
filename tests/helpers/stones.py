"""Polyhedra of tests: random ones, and distances of shapes by their Minkowski difference."""

import itertools

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import fem_mbs as fem
from fem_mbs.mesh.polyhedra import Polyhedron

CUBE = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))


def polyhedron(count, seed, semi_axes=(1.0, 1.0, 1.0)):
    """Points (count, 3) on an ellipsoid, about their centre of volume; all are corners of their hull."""
    points = np.random.default_rng(seed).standard_normal((count, 3))
    points *= np.asarray(semi_axes) / np.linalg.norm(points, axis=1)[:, None]
    return points - center_of(points)


def center_of(points):
    """Centre of volume of the hull of points."""
    hull, origin = ConvexHull(points), points.mean(axis=0)
    a, b, c = (points[hull.simplices[:, k]] - origin for k in range(3))
    parts = np.abs(np.einsum("ij,ij->i", a, np.cross(b, c)))
    return origin + (parts[:, None] * (a + b + c)).sum(axis=0) / (4.0 * parts.sum())


def distance(first, second):
    """Distance of the hulls of points (n, 3) and (m, 3); 0 where they overlap.

    That of the origin from all differences, a least-distance problem in the planes of their hull.
    """
    apart = (first[:, None] - second[None]).reshape(-1, 3)
    planes = ConvexHull(apart).equations if np.linalg.matrix_rank(apart - apart[0]) == 3 else None
    rows, least = -planes[:, :3], planes[:, 3]
    if least.max() <= 0.0:
        return 0.0
    matrix = np.vstack([rows.T, least])
    left = matrix @ nnls(matrix, [0, 0, 0, 1.0])[0] - [0, 0, 0, 1.0]
    return float(np.linalg.norm(left[:3] / left[3]))


def lying(points, rounding):
    """Points turned so that the largest face of their rounded hull is below and level, about their centre of volume.

    The face is that of the core: where more than three faces meet in a corner it is not quite that of the hull.
    """
    core = Polyhedron(Polyhedron(points).core_points(rounding))
    areas = []
    for rim in core.rims():
        ring = core.points[rim]
        areas.append(np.linalg.norm(np.cross(ring[1:-1] - ring[0], ring[2:] - ring[0]).sum(axis=0)))
    turn = Rotation.align_vectors([[0, 0, -1]], [core.normals[np.argmax(areas)]])[0]
    return turn.apply(points)


def world(slope=0.0, gravity=9.81, floor=True, **law):
    """A model with gravity [m/s²] tilted about y by a slope [rad], and its contact group, on the plane z = 0."""
    model = fem.Model("world", gravity=[gravity * np.sin(slope), 0, -gravity * np.cos(slope)])
    group = fem.ContactGroup(name="group", **law)
    if floor:
        group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model, group


def put_stone(model, group, points, material="", rounding=2e-3, **options):
    """Add a body of 1000 kg/m³ with the hull of points, about their centre of volume."""
    hull = Polyhedron(points)
    body = fem.RigidBody.from_mesh(fem.shapes.Mesh(hull.points, [hull.triangles]), 1000.0, **options)
    group.hull(model.add(body).mesh_frame, points, rounding, material)
    return body
