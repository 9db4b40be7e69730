"""A pile of equal spheres, capsules, boxes or hulls: `python benchmarks/bench.py pile` measures that of spheres.

Spheres of 0.05 m and 1,000 kg/m³, friction 0.3, no restitution, fall from a jittered grid of 1.1 diameters into an open
box as wide as the grid; 1 s at h = 2 ms. Capsules (radius 0.025 m, axis 0.05 m) and boxes (0.05, 0.06, 0.05 m, edges
rounded by 2 mm) have random orientations and fit into these spheres; so do these boxes as hulls of their corners, and
stones, hulls of 12 points on an ellipsoid."""

import functools
import itertools

import numpy as np
from scipy.spatial.transform import Rotation

import fem_mbs as fem

RADIUS, DENSITY, FRICTION, GRAVITY = 0.05, 1000.0, 0.3, 9.81  # m, kg/m³, -, m/s²
CAPSULE = (0.025, 0.05)  # radius and length of the axis [m]
BOX, ROUNDING = np.array([0.05, 0.06, 0.05]), 2e-3  # m
CORNERS = np.array(list(itertools.product([-0.5, 0.5], repeat=3)))
STONE = 0.05, 0.04, 0.045  # semi-axes [m]


def places(count, seed=0):
    """Centres (count, 3) [m] of a jittered grid that is about as high as wide, and half the width of the box."""
    across = max(2, int(np.ceil((count - 1e-9) ** (1 / 3))))
    pitch, rng = 2.2 * RADIUS, np.random.default_rng(seed)
    layer, place = np.divmod(np.arange(count), across**2)
    row, column = np.divmod(place, across)
    grid = np.stack([column + 0.5 - 0.5 * across, row + 0.5 - 0.5 * across, layer + 0.5], axis=1)
    return pitch * grid + rng.uniform(-0.05, 0.05, (count, 3)) * RADIUS, 0.5 * across * pitch


def put(model, group, shape, center, turn):
    """Add one capsule, box, or hull."""
    if shape == "capsule":
        mass = DENSITY * np.pi * CAPSULE[0] ** 2 * (CAPSULE[1] + 4 / 3 * CAPSULE[0])
        group.capsule(model.add(fem.RigidBody.capsule(mass, *CAPSULE, position=center, rotation=turn)), *CAPSULE)
    elif shape == "stone":
        parts = fem.convex_parts([stone()])
        body = fem.RigidBody.from_mesh(parts, DENSITY, position=center, rotation=turn, shape=[])
        group.hull(model.add(body).mesh_frame, parts.points, ROUNDING)
    else:
        body = model.add(fem.RigidBody.box(DENSITY * np.prod(BOX), BOX, position=center, rotation=turn))
        if shape == "box":
            group.box(body, BOX, ROUNDING)
        else:
            group.hull(body, BOX * CORNERS, ROUNDING)


@functools.cache
def stone(corners=12):
    """Points of a stone (corners, 3) [m]."""
    points = np.random.default_rng(2).standard_normal((corners, 3))
    return points * STONE / np.linalg.norm(points, axis=1)[:, None]


def build(count, restitution=0.0, shape="sphere"):
    """The model of ``count`` spheres, capsules, boxes ("box", as hulls: "hull") or stones."""
    model = fem.Model(f"pile of {count}, {shape}", gravity=[0, 0, -GRAVITY])
    group = fem.ContactGroup(friction=FRICTION, restitution=restitution, name="pile")
    centers, half = places(count)
    if shape == "sphere":
        model.add(group.spheres(centers, RADIUS, density=DENSITY))
    else:
        turns = Rotation.random(count, random_state=np.random.default_rng(1)).as_matrix()
        for center, turn in zip(centers, turns):
            put(model, group, shape, center, turn)
    walls = [([0, 0, 0], [0, 0, 0]), ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
             ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0])]  # fmt: skip
    for turn, place in walls:
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn), drawn_size=2 * half)
    model.add(group)
    return model


def request(count):
    """Numbers of the model, for other programs."""
    centers, half = places(count)
    return {"places": centers.tolist(), "half": half, "radius": RADIUS, "density": DENSITY, "friction": FRICTION,
            "gravity": [0.0, 0.0, -GRAVITY]}  # fmt: skip
