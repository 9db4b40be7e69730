"""Balls, rods and boxes poured into a bin: convex shapes of a contact group touch each other with flat faces and edges.

Spheres, capsules and boxes of wood and steel fall in layers, in all orientations, between four walls and come to rest.
There is no published reference; what must hold is checked: nobody penetrates, energy only falls, friction stays inside
its cone, and at the end the bin carries the weight.

    python examples/mixed_pile.py           writes mixed_pile.vtkhdf, to open in ParaView
"""

import numpy as np
from scipy.spatial.transform import Rotation

import fem_mbs as fem
from fem_mbs.shapes import Box, Capsule, Sphere

g = 9.81  # m/s²
density = {"wood": 700.0, "steel": 7800.0}  # kg/m³
ball = 0.02  # radius [m]
rod = 0.008, 0.05  # radius and length of the axis [m]
brick, rounding = np.array([0.035, 0.05, 0.02]), 1e-3  # m
materials = fem.MaterialTable(
    {
        ("wood", "*"): {"friction": 0.5},
        ("steel", "steel"): {"friction": 0.2},
        ("steel", "bin"): {"friction": 0.3},
    }
)


def put(model, group, kind, material, **pose):
    """Add a body with its shape, and return its mass [kg]."""
    if kind == "ball":
        mass = density[material] * 4 / 3 * np.pi * ball**3
        shape = Sphere(ball, resolution=16, color="orange")
        group.sphere(model.add(fem.RigidBody.sphere(mass, ball, shape=shape, **pose)), ball, material)
    elif kind == "rod":
        mass = density[material] * np.pi * rod[0] ** 2 * (rod[1] + 4 / 3 * rod[0])
        shape = Capsule([0, 0, -0.5 * rod[1]], [0, 0, 0.5 * rod[1]], rod[0], resolution=16, color="grey")
        group.capsule(model.add(fem.RigidBody.capsule(mass, *rod, shape=shape, **pose)), *rod, material)
    else:
        mass = density[material] * np.prod(brick)
        body = fem.RigidBody.box(mass, brick, shape=Box(brick, color="blue"), **pose)
        group.box(model.add(body), brick, rounding, material)
    return mass


def build(count=64, across=4, speed=0.5):
    """The model of ``count`` bodies in layers of ``across``² that fall with ``speed`` [m/s], and their mass [kg]."""
    model = fem.Model("mixed pile", gravity=[0, 0, -g])
    group = fem.ContactGroup(materials=materials, name="shapes")
    rng, pitch, mass = np.random.default_rng(3), 0.075, 0.0
    for k in range(count):
        layer, place = divmod(k, across * across)
        i, j = np.divmod(place, across)
        center = pitch * (np.array([i + 0.5 - 0.5 * across, j + 0.5 - 0.5 * across, layer + 0.5]))
        kind = ("ball", "rod", "box")[rng.integers(3)]
        material = "steel" if kind == "rod" else "wood"
        turn = Rotation.from_rotvec(2.0 * rng.standard_normal(3)).as_matrix()
        mass += put(model, group, kind, material, position=center, rotation=turn, velocity=[0, 0, -speed])
    half = 0.5 * across * pitch
    group.obstacle(fem.SphereOnPlane, model.ground.frame(), material="bin", drawn_size=2 * half)
    for turn, place in (
        ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
        ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0]),
    ):  # fmt: skip
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn), material="bin", drawn_size=0.0)
    model.add(group)
    return model, mass


def run(count=64, t_end=0.6, h=1e-3, save="mixed_pile.vtkhdf", solver=None, **options):
    solver = solver or fem.DecoupledNSGA()
    return solver.run(build(count, **options)[0], t_end, h, save=save, save_every=10)


def outside(pairs):
    """Largest friction force beyond its cone, over the normal force, for the largest friction of the table."""
    closed = pairs.status > 0
    force, normal = pairs.force[closed], pairs.normal[closed]
    along = np.einsum("ck,ck->c", force, normal)
    across = np.linalg.norm(force - along[:, None] * normal, axis=1)
    return (across / along - 0.5).max(initial=0.0)


def main(count=64, t_end=0.6, h=1e-3, save="mixed_pile.vtkhdf", solver=None):
    result = run(count, t_end, h, save, solver)
    print(result)
    last = result.pairs(-1)
    closed = last.status > 0
    print(f"{closed.sum()} closed contacts at the end, {(last.type[closed] == 0).sum()} of them between bodies")
    mass = build(count)[1]
    carried = np.mean([result.pairs(k).force[result.pairs(k).type > 0, 2].sum() for k in range(-10, 0)])
    gap = min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t)))
    rise = np.diff(result.energy.total).max()
    beyond = max(outside(result.pairs(k)) for k in range(len(result.t)))
    return fem.Checks(
        # positions keep overlaps up to 1e-6 of the thickness
        fem.Check("smallest gap [m]", reference=0.0, obtained=gap, abs=1e-7),
        fem.Check("largest rise of energy [J]", reference=0.0, obtained=max(rise, 0.0), abs=1e-6),
        fem.Check("friction outside its cone", reference=0.0, obtained=beyond, abs=1e-9),
        # the pile still settles a little
        fem.Check("floor and walls carry the weight [N]", reference=mass * g, obtained=carried, rel=0.2),
    )


if __name__ == "__main__":
    main().print()
