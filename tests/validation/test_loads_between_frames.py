"""Lasting loads between the frames of superelements: beside full meshes, and the remark that tells what is missing."""

import re
import warnings

import numpy as np
import pytest

import fem_mbs as fem

E = 1e7
STEPPERS = [
    fem.DecoupledNSGA(rho_inf=0.8),
    fem.MoreauJean(),
    fem.NonsmoothGeneralizedAlphaGGL(rho_inf=0.8),
    fem.NonsmoothGeneralizedAlphaFriction(rho_inf=0.8),
    fem.ConeComplementarity(),
]
TELLS = r"loads between its frames, on 'z0', deform it by (\d+)% less than they should: its \d+ modes .*\['z0'\]"


def reduced(mesh, frames, modes, nu=0.0, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*cuts modes of the same frequency")
        return fem.reduce_mesh(mesh, fem.SolidMaterial(E, nu, 1000.0), frames, modes=modes, **options)


def column_mesh(sides=(0.1, 0.1, 0.2), divisions=(2, 2, 4)):
    return fem.block_mesh(sides, divisions, cell="hexahedron")


def pressed(mesh, nu, modes, friction, force, **options):
    """Way of the top of a block that is pressed on the floor by a force on it, and remarks."""
    block = fem.Superelement(reduced(mesh, {"top": "z1"}, modes, nu, **options), name="block")
    sole, model = fem.SuperelementSurface(block, "z0", name="sole"), fem.Model()
    top = block.frame("top").node
    floor = fem.SurfaceContacts(sole, None, model.ground, friction=friction, restitution=0.1)
    model.add(block, sole, floor, fem.PointForce(top, [0, 0, -force]))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rest = fem.static_equilibrium(model, stability=False)
    assert rest.results.warnings == [str(one.message) for one in told]
    return top.position[2] - rest.position(top)[2], rest.results.warnings


def pressed_mesh(mesh, nu, friction, force):
    """The same of the full mesh."""
    body, model = fem.SolidBody(mesh, fem.SolidMaterial(E, nu, 1000.0), name="block"), fem.Model()
    height = mesh.points[:, 2].max()
    top = fem.Node6([*mesh.points[:, :2].mean(axis=0), height])
    floor = fem.SurfaceContacts(body, "z0", model.ground, friction=friction, restitution=0.1)
    model.add(body, top, fem.SurfaceCoupling(body, "z1", top, kind="rigid"), floor)
    model.add(fem.PointForce(top, [0, 0, -force]))
    return height - fem.static_equilibrium(model, stability=False).position(top)[2]


@pytest.mark.parametrize(
    ("nu", "divisions", "friction", "most"),
    [
        (0.0, (2, 2, 4), 0.5, 1e-3),
        (0.3, (2, 2, 4), 1e-3, 3e-3),  # sole that widens: a uniform pressure, but for the top, which is rigid
        (0.3, (4, 4, 8), 1e-3, 3e-3),
        (0.3, (2, 2, 4), 0.5, 0.04),  # sole that friction keeps from widening: more points than coordinates
    ],
)
def test_a_block_pressed_on_its_sole_is_as_soft_as_its_mesh(nu, divisions, friction, most):
    """Five modes, without residual vectors 18 % too stiff or more. The remark tells it, of a uniform pressure."""
    mesh, force = column_mesh(divisions=divisions), 10.0
    exact = pressed_mesh(mesh, nu, friction, force)
    plain, told = pressed(mesh, nu, 5, friction, force)
    short = 1.0 - plain / exact
    assert 0.17 < short < 0.25
    (remark,) = told
    assert share_of(remark) == pytest.approx(short, rel=0.2)
    way, told = pressed(mesh, nu, 5, friction, force, residual_vectors="z0")
    assert not told
    assert abs(1.0 - way / exact) < most


def share_of(remark):
    """The share that a remark tells."""
    found = re.search(TELLS, remark)
    assert found, remark
    return float(found[1]) / 100.0


def test_strain_energy_under_a_pressure_is_that_of_the_mesh():
    """Half the work of a traction, by a static solution of the mesh; of curved faces of tetrahedra, held at its top."""
    mesh = fem.block_mesh([0.2, 0.15, 0.1], [4, 3, 2], cell="tetra10", form=lambda x: x + 0.01 * np.sin(9 * x[:, ::-1]))
    traction = np.array([30.0, 0.0, 100.0])
    body = fem.SolidBody(mesh, fem.SolidMaterial(E, 0.3, 1000.0), name="block")
    body.fix("z1")
    model = fem.Model("mesh", gravity=[0, 0, 0])
    model.add(body, fem.SurfaceTraction(body, "z0", traction))
    area = loads_of(body, "z0")
    works = [work(fem.static_equilibrium(model, stability=False), body.nodes, area, traction)]
    for given in ({}, {"residual_vectors": ["z0"]}):
        part = fem.Superelement(reduced(mesh, {"top": "z1"}, 5, 0.3, **given), name="block")
        surface, model = fem.SuperelementSurface(part, "z0"), fem.Model("reduced", gravity=[0, 0, 0])
        model.add(part, surface, fem.Fixed(model.ground.frame(part.frame("top").position), part.frame("top")))
        model.add([fem.PointForce(node, area[key_of(node)] * traction) for node in surface.nodes])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if not given else "error", UserWarning)
            works.append(work(fem.static_equilibrium(model, stability=False), surface.nodes, area, traction))
    assert works[1] < 0.9 * works[0]
    assert works[2] == pytest.approx(works[0], rel=1e-3)  # strains of 1e-4, and what is of second order


def key_of(node):
    return tuple(np.round(node.position, 9))


def work(rest, nodes, area, traction):
    """Strain energy [J]: half the work of a traction on nodes with these areas [m²]."""
    return 0.5 * sum(area.get(key_of(node), 0.0) * (rest.position(node) - node.position) @ traction for node in nodes)


def loads_of(body, group):
    """Place of a node -> its part of the area [m²] of a group."""
    load, found = fem.SurfaceTraction(body, group, [0, 0, 1.0]), {}
    for face in load.elements:
        for node, f in zip(face.nodes, face.record[0]):
            found[key_of(node)] = found.get(key_of(node), 0.0) + f[2]
    return found


def clamped_beam(force_at, modes, **options):
    """A beam between two frames that are held, a force in its middle: its way there, remarks, and the reduction."""
    mesh = fem.block_mesh([1.0, 0.04, 0.04], [24, 2, 2], cell="hexahedron20")
    mesh = mesh.with_group("pad", lambda x: (np.abs(x[:, 0] - 0.5) < 0.043) & (x[:, 2] > 0.039))
    part = fem.Superelement(reduced(mesh, {"left": "x0", "right": "x1"}, modes, **options), name="beam")
    surface, model = fem.SuperelementSurface(part, "pad"), fem.Model("beam", gravity=[0, 0, 0])
    for end in ("left", "right"):
        model.add(fem.Fixed(model.ground.frame(part.frame(end).position), part.frame(end)))
    shares = part.reduction.tractions  # of the modes only: the nodes have their own
    assert len(shares)
    body = fem.SolidBody(mesh, fem.SolidMaterial(E, 0.0, 1000.0))
    area = loads_of(body, "pad")
    whole = sum(area.values())
    model.add(part, surface)
    model.add([fem.PointForce(node, area[key_of(node)] / whole * np.array(force_at)) for node in surface.nodes])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rest = fem.static_equilibrium(model, stability=False)
    ways = [area[key_of(node)] / whole * (rest.position(node) - node.position) for node in surface.nodes]
    return np.sum(ways, axis=0), [str(one.message) for one in told], mesh


@pytest.mark.parametrize(("axis", "modes", "remarks"), [(2, 2, 0), (2, 0, 1), (0, 2, 1)])
def test_a_beam_that_is_loaded_midway_between_its_frames(axis, modes, remarks):
    """Clamped, a force across, of which one bending mode knows 96 % (told from 5 % on), or along, of which it has none.

    With residual vectors it moves as the mesh does, and as a beam with shear between its ends: L³/192 EI + L/4 GA_s.
    """
    force = np.eye(3)[axis] * [1e-1, 1e-1, 1e-2][axis]
    plain, told, mesh = clamped_beam(force, modes)
    way, none, _ = clamped_beam(force, modes, residual_vectors=["pad"])
    body, model = fem.SolidBody(mesh, fem.SolidMaterial(E, 0.0, 1000.0)), fem.Model("mesh", gravity=[0, 0, 0])
    body.fix("x0")
    body.fix("x1")
    area = loads_of(body, "pad")
    whole = sum(area.values())
    model.add(body, fem.SurfaceTraction(body, "pad", force / whole))
    exact = 2.0 * work(fem.static_equilibrium(model, stability=False), body.nodes, area, force / whole)
    assert len(told) == remarks and not none
    assert way @ force == pytest.approx(exact, rel=1e-5)
    assert 1.0 - plain @ force / exact > (0.02 if not remarks else 0.05)
    if axis == 2:
        A, EI = 0.04**2, E * 0.04**4 / 12
        closed = 1.0 / (192 * EI) + 1.0 / (4 * 5 / 6 * 0.5 * E * A)
        assert way[2] / force[2] == pytest.approx(closed, rel=0.02)  # a pad of 8 % of its length
