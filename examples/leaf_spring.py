"""Leaf spring with a load drops on the floor: a superelement that touches with the surface of its ends.

The leaf of steel is reduced to one frame, its seat, and some modes. Its ends have no frames: they slide outwards
on the floor as the leaf is pressed flat. The solid mesh that it was reduced from runs for comparison.

    python examples/leaf_spring.py       writes leaf_spring.vtkhdf, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

length, width, thickness, rise = 0.6, 0.06, 0.012, 0.06  # m
load_mass, speed, drop, modes, friction = 20.0, 1.0, 0.01, 24, 0.2  # kg, m/s, m
steel = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)


def leaf_mesh():
    """An arch; groups "seat" in its middle and "heels", the lower faces at both ends."""

    def arch(x):
        return x + np.outer(4 * rise * x[:, 0] * (length - x[:, 0]) / length**2, [0, 0, 1])

    mesh = fem.block_mesh([length, width, thickness], [24, 2, 1], cell="hexahedron", form=arch)
    mesh = mesh.with_group("seat", lambda x: np.abs(x[:, 0] - length / 2) < 0.026)
    return mesh.with_group("heels", lambda x: (np.abs(x[:, 0] - length / 2) > 0.274) & (x[:, 2] < 0.011))


def build(reduced=True):
    """Leaf and load, falling; reduced, or as a mesh of solids."""
    model = fem.Model("leaf spring", gravity=[0, 0, -9.81])
    start = {"position": [0, 0, drop], "velocity": [0, 0, -speed]}
    place = [length / 2, width / 2, drop + rise + thickness / 2 + 0.06]
    load = fem.RigidBody.box(load_mass, [0.1, 0.1, 0.1], position=place, velocity=[0, 0, -speed], name="load")
    options = {"elements": "Hexa8Enhanced"}
    if reduced:
        part = fem.reduce_mesh(leaf_mesh(), steel, {"seat": "seat"}, modes=modes, **options)
        leaf = fem.Superelement(part, name="leaf", **start)
        surface, group = fem.SuperelementSurface(leaf, "heels", name="heels"), None
        seat = leaf.frame("seat")
        model.add(leaf, surface, fem.Fixed.at(seat, load, seat.position))
    else:
        leaf = surface = fem.SolidBody(leaf_mesh(), steel, name="leaf", **options, **start)
        group = "heels"
        model.add(leaf, fem.SurfaceCoupling(leaf, "seat", load, kind="rigid"))
    floor = fem.SurfaceContacts(surface, group, model.ground, friction=friction, drawn_size=0.8, name="floor")
    model.add(load, floor)
    return model, leaf, floor


def run(reduced, h, solver=None, **options):
    """Result, way of the load from the first touch [m], force of the floor [N]."""
    model, leaf, floor = build(reduced)
    result = (solver or fem.DecoupledNSGA(rho_inf=0.8)).run(model, t_end=0.12, h=h, **options)
    height = result["load"].position[:, 2]
    return result, leaf, height[0] - drop - height, result.resultant(floor)[:, 2]


def main(h=5e-4, save="leaf_spring.vtkhdf", solver=None):
    _result, _leaf, way, force = run(True, h, solver, save=save)
    _, _, way_of_mesh, force_of_mesh = run(False, h, solver)
    # a reduced body is linear: 0.8 % with 12 or 48 modes, half as much at 0.3 m/s
    return fem.Checks(
        fem.Check("largest way of the load [m]", reference=way_of_mesh.max(), obtained=way.max(), rel=0.01),
        fem.Check("impulse of the floor [N s]", reference=h * force_of_mesh.sum(), obtained=h * force.sum(), rel=0.01),
        fem.Check("largest difference of ways [m]", reference=0, obtained=np.abs(way - way_of_mesh).max(), abs=6e-4),
    )


if __name__ == "__main__":
    main().print()
