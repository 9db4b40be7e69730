"""Twisted cantilever of solids: a beam turned by 90 degrees along its length, loaded at its end (MacNeal & Harder).

Warped elements, bending in two planes at once, stiff against one and soft against the other. Plain hexahedra of 8 nodes
find half of the deflection (docs/theory/solids.md); those with enhanced strains and quadratic elements find all of it.

    python examples/twisted_beam.py         writes twisted_beam.vtkhdf with the stresses, to open in ParaView
"""

import numpy as np

import fem_mbs as fem

length, width, thickness = 12.0, 1.1, 0.32  # published in inches and pounds; any consistent units
material = fem.SolidMaterial(E=29e6, nu=0.22, density=7.3e-4)
REFERENCE = {"z": 5.424e-3, "y": 1.754e-3}  # deflection along a unit load, at the free end


def twisted(x):
    """Places (n, 3) of the twisted beam, of places in the straight one."""
    turn, y, z = np.pi / 2 * x[:, 0] / length, x[:, 1] - width / 2, x[:, 2] - thickness / 2
    return np.column_stack([x[:, 0], np.cos(turn) * y - np.sin(turn) * z, np.sin(turn) * y + np.cos(turn) * z])


def deflection(cell, elements, axis, **options):
    """Mean deflection of the end along a unit load on it."""
    mesh = fem.block_mesh([length, width, thickness], [24, 4, 2], cell=cell, form=twisted)
    beam = fem.SolidBody(mesh, material, elements=elements, name="beam")
    beam.fix("x0")
    model = fem.Model("twisted beam")
    stress = np.eye(3)["xyz".index(axis)] / (width * thickness)
    model.add(beam, fem.SurfaceTraction(beam, "x1", stress, name="load"))
    result = fem.static_equilibrium(model, stability=False, **options)
    moved = [result.position(node) - node.position for node in beam.nodes_of("x1")]
    return np.mean(moved, axis=0)["xyz".index(axis)]


def main(save="twisted_beam.vtkhdf"):
    checks = []
    for name, cell, elements in (("Hexa20", "hexahedron20", None), ("Hexa8Enhanced", "hexahedron", "Hexa8Enhanced")):
        for axis, reference in REFERENCE.items():
            path = save if (name, axis) == ("Hexa20", "z") else None
            obtained = deflection(cell, elements, axis, save=path)
            # what this mesh leaves: 0.2 and 0.3 %
            checks.append(fem.Check(f"{name}, load along {axis}", reference=reference, obtained=obtained, rel=4e-3))
    return fem.Checks(*checks)


if __name__ == "__main__":
    main().print()
