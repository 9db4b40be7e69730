"""Piles of spheres, and the methods that contact groups of free spheres are solved with."""

import numpy as np

import fem_mbs as fem

H, G = 2e-3, 9.81
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "relaxed": lambda **options: fem.ConeComplementarity(relaxed=True, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
    "moreau": lambda **options: fem.MoreauJean(**options),
}


def pile(count, across, *, restitution=0.0, friction=0.3, radii=(0.05,), seed=0):
    """Spheres in layers, a little apart, that fall into an open box."""
    model = fem.Model("pile", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=friction, restitution=restitution, name="balls")
    rng, pitch = np.random.default_rng(seed), 2.2 * max(radii)
    half = 0.5 * across * pitch
    for i in range(count):
        layer, place = divmod(i, across**2)
        column, row = divmod(place, across)
        center = pitch * np.array([column + 0.5 - 0.5 * across, row + 0.5 - 0.5 * across, layer + 0.5])
        radius = radii[i % len(radii)]
        center += rng.uniform(-0.05, 0.05, 3) * radius
        group.sphere(model.add(fem.RigidBody.sphere(1000 * radius**3, radius, position=center)), radius)
    walls = [([0, 0, 0], [0, 0, 0]), ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
             ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0])]  # fmt: skip
    for turn, place in walls:
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn))
    model.add(group)
    return model


def kicked(**law):
    """27 spheres that touch, in a block on a plane, with velocities of all kinds."""
    model, group = fem.Model("kick", gravity=[0, 0, -G]), fem.ContactGroup(name="all", **law)
    rng = np.random.default_rng(3)
    for i in range(27):
        place = 0.1 * np.array([i % 3, (i // 3) % 3, i // 9 + 0.5])
        motion = {"velocity": rng.normal(size=3), "angular_velocity": 20 * rng.normal(size=3)}
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=place, **motion)), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


def swept(result):
    """True if a run was solved by Gauss-Seidel iterations."""
    return "contact_sweeps" in result.statistics
