"""Spheres poured into a box: a contact group finds the pairs, the contact-problem solver shares out the load.

A block of spheres of two sizes and materials falls into an open box of planes and comes to rest on a plate that lies in
it. There is no published reference; what must hold is checked: nobody penetrates, energy only falls, and at the end the
floor carries the weight.

    python examples/spheres_in_a_box.py           writes spheres_in_a_box.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem
from fem_mbs.shapes import Sphere

g, density = 9.81, 2500.0  # m/s², kg/m³ (glass)
radii = (0.02, 0.016)  # m
materials = fem.MaterialTable(
    {
        ("glass", "glass"): {"friction": 0.3},
        ("glass", "rubber"): {"friction": 0.6},
        ("rubber", "rubber"): {"friction": 0.8},
        ("*", "wall"): {"friction": 0.4},
    }
)


def build(count=60, across=4, speed=1.0):
    """``count`` spheres in layers of ``across``² above the floor z = 0, falling with ``speed`` [m/s]."""
    model = fem.Model("spheres in a box", gravity=[0, 0, -g])
    group = fem.ContactGroup(materials=materials, name="grains")
    rng, pitch = np.random.default_rng(1), 2.3 * radii[0]
    half = 0.5 * across * pitch + 0.3 * radii[0]
    for k in range(count):
        layer, place = divmod(k, across * across)
        kind = int(rng.integers(2))
        i, j = np.divmod(place, across)
        center = pitch * np.array([i + 0.5 - 0.5 * across, j + 0.5 - 0.5 * across, layer]) + [0, 0, 1.1 * radii[0]]
        center[:2] += rng.uniform(-0.1, 0.1, 2) * radii[0]
        shape = Sphere(radii[kind], resolution=16, color=("blue", "orange")[kind])
        mass = density * 4 / 3 * np.pi * radii[kind] ** 3
        ball = model.add(
            fem.RigidBody(mass, 0.4 * mass * radii[kind] ** 2, position=center, velocity=[0, 0, -speed], shape=shape)
        )
        group.sphere(ball, radii[kind], material=("glass", "rubber")[kind])
    patch = {"drawn_size": 0.0}
    group.obstacle(fem.SphereOnPlane, model.ground.frame(), material="wall", drawn_size=2 * half)
    for turn, place in (
        ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
        ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0]),
    ):  # fmt: skip
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn), material="wall", **patch)
    model.add(group)
    return model


def floor_force(result, k):
    """Vertical force [N] of the floor on the spheres in saved step k."""
    pairs = result.pairs(k)
    on_floor = (pairs.type > 0) & (pairs.normal[:, 2] > 0.9)
    return float(pairs.force[on_floor, 2].sum())


def run(count=60, t_end=0.4, h=1e-3, save="spheres_in_a_box.vtkhdf", solver=None, **options):
    solver = solver or fem.DecoupledNSGA(contact_tolerance=1e-4)
    return solver.run(build(count, **options), t_end, h, save=save, save_every=10)


def main(count=60, t_end=0.4, h=1e-3, save="spheres_in_a_box.vtkhdf", solver=None):
    result = run(count, t_end, h, save, solver)
    print(result)
    closed = (result.pairs(-1).status > 0).sum()
    print(f"{closed} closed contacts at the end, {result.statistics['pair_searches']} searches of pairs")
    balls = [i for i, node in enumerate(result.description["nodes"]) if any(node["free"])]
    rows = result.rows([-1])
    weight = sum(np.where(np.isclose(r, radii[0]), radii[0], radii[1]) ** 3 for r in radii_of(result))
    weight *= density * 4 / 3 * np.pi * g
    gap = min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t)))
    rise = np.diff(result.energy.total).max()
    carried = np.mean([floor_force(result, k) for k in range(-20, 0)])
    return fem.Checks(
        # tolerance of the contact problems: 1e-4 of displacements of some 1e-5 m in a step
        fem.Check("smallest gap [m]", reference=0.0, obtained=gap, abs=1e-7),
        fem.Check("largest rise of energy [J]", reference=0.0, obtained=max(rise, 0.0), abs=1e-6),
        # the walls carry a part of it by friction while the pile settles
        fem.Check("floor and walls carry the weight [N]", reference=weight, obtained=carried, rel=0.5),
        fem.Check("lowest sphere [m]", reference=radii[1], obtained=rows["position"][0, balls, 2].min(), rel=0.3),
    )


def radii_of(result):
    """Radii [m] of all spheres of the run."""
    return np.array(result.description["contact_groups"][0]["radii"])


if __name__ == "__main__":
    main().print()
