"""A pile of equal spheres: `python benchmarks/bench.py pile` measures it.

Spheres of 0.05 m and 1,000 kg/m³, friction 0.3, no restitution, fall from a jittered grid of 1.1 diameters into an open
box as wide as the grid; 1 s at h = 2 ms."""

import numpy as np

import fem_mbs as fem

RADIUS, DENSITY, FRICTION, GRAVITY = 0.05, 1000.0, 0.3, 9.81  # m, kg/m³, -, m/s²


def places(count, seed=0):
    """Centres (count, 3) [m] of a jittered grid that is about as high as wide, and half the width of the box."""
    across = max(2, int(np.ceil((count - 1e-9) ** (1 / 3))))
    pitch, rng = 2.2 * RADIUS, np.random.default_rng(seed)
    layer, place = np.divmod(np.arange(count), across**2)
    row, column = np.divmod(place, across)
    grid = np.stack([column + 0.5 - 0.5 * across, row + 0.5 - 0.5 * across, layer + 0.5], axis=1)
    return pitch * grid + rng.uniform(-0.05, 0.05, (count, 3)) * RADIUS, 0.5 * across * pitch


def build(count, restitution=0.0):
    """The model of ``count`` spheres."""
    model = fem.Model(f"pile of {count} spheres", gravity=[0, 0, -GRAVITY])
    group = fem.ContactGroup(friction=FRICTION, restitution=restitution, name="spheres")
    centers, half = places(count)
    mass = DENSITY * 4 / 3 * np.pi * RADIUS**3
    for center in centers:
        group.sphere(model.add(fem.RigidBody.sphere(mass, RADIUS, position=center)), RADIUS)
    walls = [([0, 0, 0], [0, 0, 0]), ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
             ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0])]  # fmt: skip
    for turn, place in walls:
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn), drawn_size=2 * half)
    model.add(group)
    return model


def request(count):
    """Numbers of the model, for programs beside ours."""
    centers, half = places(count)
    return {"places": centers.tolist(), "half": half, "radius": RADIUS, "density": DENSITY, "friction": FRICTION,
            "gravity": [0.0, 0.0, -GRAVITY]}  # fmt: skip
