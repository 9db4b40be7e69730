"""Models of solids for the tests: small displacements by one linear solution, and the shapes of benchmarks."""

from scipy.sparse.linalg import splu

import fem_mbs as fem

KINDS = {
    "tetra4": ("tetra", None), "tetra10": ("tetra10", None), "hexa8": ("hexahedron", None),
    "hexa8e": ("hexahedron", "Hexa8Enhanced"), "hexa20": ("hexahedron20", None), "wedge6": ("wedge", None),
    "wedge15": ("wedge15", None),
}  # fmt: skip


def block(kind, sides, divisions, *, E=1.0, nu=0.3, density=1.0, law="st-venant-kirchhoff", form=None, **options):
    """A body of a block of cells."""
    cell, elements = KINDS[kind]
    mesh = fem.block_mesh(sides, divisions, cell=cell, form=form)
    material = fem.SolidMaterial(E, nu, density, law=law)
    return fem.SolidBody(mesh, material, elements=elements, name="body", **options)


def system_of(body, *loads, gravity=(0, 0, 0)):
    model = fem.Model("solid", gravity=gravity)
    model.add(body, *loads)
    return fem.System(model, check=False)


def linear_displacements(system):
    """Displacements (N, 3) of the nodes under the loads of the model, of small motions."""
    state = system.initial
    K = system.matrices(state)[2]
    f = system.reduced(system.forces(state)[1])
    return system.expanded(splu(K.tocsc()).solve(f))[:, :3]


def mean_at(body, system, u, group):
    """Mean of nodal values (N, c) over the nodes of a group."""
    return u[[node.index for node in body.nodes_of(group)]].mean(axis=0)
