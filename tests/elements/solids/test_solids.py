"""Solid elements: patch tests, zero modes, an independent stiffness, loads, stresses, bodies, and bad input."""

import re

import numpy as np
import pytest
from solid_models import KINDS, block, linear_displacements, system_of

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.elements.solids.element import SOLIDS
from fem_mbs.mesh.block import quadratic
from fem_mbs.mesh.cells import CELLS, _product
from fem_mbs.rotations import exp

LAWS = ("st-venant-kirchhoff", "neo-hookean")
BY_NAME = {kind.__name__.lower(): kind for kind in SOLIDS} | {"hexa8e": fem.Hexa8Enhanced}


def distorted(kind, seed=3):
    """A 2 x 2 x 2 mesh of straight-sided cells whose middle node is moved, and its boundary points."""
    name, elements = KINDS[kind]
    linear = {"tetra10": "tetra", "hexahedron20": "hexahedron", "wedge15": "wedge"}.get(name, name)
    mesh = fem.block_mesh([1, 1, 1], [2, 2, 2], cell=linear)
    points, cells = mesh.points.copy(), mesh.cells[linear]
    points += 0.08 * np.random.default_rng(seed).normal(size=points.shape)
    if linear != name:
        points, cells = quadratic(points, cells, CELLS[name].edges)
    return fem.Mesh(points, {name: cells}), elements


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_patch_of_finite_strain_is_in_equilibrium_inside(kind, law):
    mesh, elements = distorted(kind)
    body = fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 1.0, law=law), elements=elements)
    system = system_of(body)
    A = exp([0.4, -1.1, 0.8]) @ (np.eye(3) + 0.2 * np.random.default_rng(5).normal(size=(3, 3)))
    state = system.initial.copy()
    state.x[1:] = body.reference @ A.T + [3.0, -2.0, 1.0]
    f = system.forces(state)[1].reshape(-1, 6)[1:, :3]
    outer = np.unique(np.concatenate([rows.ravel() for rows in mesh.boundary().values()]))
    inner = np.setdiff1d(np.arange(len(f)), outer)
    assert len(inner) and np.abs(f[outer]).max() > 1e-3
    assert np.abs(f[inner]).max() < 1e-14  # round-off (measured below 2e-16 of E times the area)
    stress = body.stresses(state).stress
    assert stress == pytest.approx(np.broadcast_to(stress[0], stress.shape), abs=1e-13)


def plain_stiffness(element, rule):
    """Σ w BᵀℂB of small displacements, by NumPy alone."""
    X, m = element.record["X"], element.material
    K = np.zeros((3 * len(X), 3 * len(X)))
    C = np.zeros((3, 3, 3, 3))
    one = np.eye(3)
    C += m.lam * np.einsum("ij,kl->ijkl", one, one)
    C += m.mu * (np.einsum("ik,jl->ijkl", one, one) + np.einsum("il,jk->ijkl", one, one))
    for w, N in zip(rule.weights, rule.gradients):
        J = N @ X
        G = np.linalg.solve(J, N)
        K += w * np.linalg.det(J) * np.einsum("ja,ijkl,lb->aibk", G, C, G).reshape(K.shape)
    return K


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "hexa8e"])
def test_stiffness_of_the_unloaded_element_is_that_of_linear_elasticity(kind, law):
    from fem_mbs.elements.solids.element import example

    element = example(BY_NAME[kind], np.random.default_rng(7), law)
    call = Evaluator(element)
    call.parameters["beta"] = 0.0
    point = type("Rest", (), {name: np.zeros(n) for name, n in (("v", 1), ("a", 1))})
    nn = element.cell.nn
    point.x, point.R, point.x0, point.R0 = element.record["X"], np.tile(np.eye(3), (nn, 1, 1)), 0.0, 0.0
    point.v = point.a = np.zeros(6 * nn)
    point.s, point.gravity, point.state, point.lam, point.t = (
        np.zeros((0, 3)),
        np.zeros(3),
        np.zeros(0),
        np.zeros(0),
        0.0,
    )
    found = call("force_tangent", point)
    K = found["K"].reshape(nn, 6, nn, 6)[:, :3, :, :3].reshape(3 * nn, 3 * nn)
    expected = plain_stiffness(element, element.cell.stiffness)
    assert np.abs(K - expected).max() < 1e-13 * np.abs(expected).max()
    assert np.abs(found["f"]).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("kind", KINDS)
def test_one_element_has_the_six_rigid_motions_as_its_only_ones_without_energy(kind):
    cell, elements = KINDS[kind]
    one = CELLS[cell]
    mesh = fem.Mesh(one.points @ (np.eye(3) + 0.1 * np.ones((3, 3))), {cell: [np.arange(one.nn)]})
    system = system_of(fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.3, 1.0), elements=elements))
    values = np.linalg.eigvalsh(system.matrices(system.initial)[2].toarray())
    assert (np.abs(values) < 1e-12 * values[-1]).sum() == 6 and values[6] > 1e-4 * values[-1]


def test_hexahedra_of_20_nodes_with_8_points_would_fold_without_energy():
    """Why they have 27: six motions too many, and they survive in a row of elements that is clamped at one end."""
    body = block("hexa20", [2, 1, 1], [2, 1, 1])
    element = body.elements[0]
    rule = element.cell.rule(*_product(2, 3))
    values = np.linalg.eigvalsh(plain_stiffness(element, rule))
    assert (np.abs(values) < 1e-12 * values[-1]).sum() == 12
    free = np.setdiff1d(np.arange(len(body.nodes)), body.node_numbers("x0"))
    for points, loose in ((rule, True), (element.cell.stiffness, False)):
        K = np.zeros((3 * len(body.nodes),) * 2)
        for one, places in zip(body.elements, body.connectivity("hexahedron20")):
            dofs = (3 * places[:, None] + np.arange(3)).ravel()
            K[np.ix_(dofs, dofs)] += plain_stiffness(one, points)
        held = (3 * free[:, None] + np.arange(3)).ravel()
        values = np.linalg.eigvalsh(K[np.ix_(held, held)])
        assert (values[0] < 1e-12 * values[-1]) == loose


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
@pytest.mark.parametrize("kind", KINDS)
def test_mass_of_a_curved_body_is_density_times_volume_in_every_direction(kind, mass):
    def bent(x):
        return np.column_stack([x[:, 0] + 0.1 * x[:, 1] ** 2, x[:, 1], x[:, 2] + 0.1 * x[:, 0] * x[:, 1]])

    body = block(kind, [1, 1, 1], [2, 2, 2], density=3.0, form=bent, mass=mass)
    system = system_of(body, gravity=[0, 0, -2.0])
    M = system.matrices(system.initial, mass_only=True)
    push = np.tile([0.0, 1.0, 0.0], len(body.nodes))
    assert push @ (M @ push) == pytest.approx(3.0 * body.volume) == pytest.approx(body.mass)
    weight = system.forces(system.initial)[1].reshape(-1, 6)
    assert weight.sum(axis=0) == pytest.approx([0, 0, -2.0 * body.mass, 0, 0, 0])
    assert M.diagonal().min() > 0 and (M.nnz == 0 or mass == "consistent" or (M - np.diag(M.diagonal())).max() == 0)


@pytest.mark.parametrize("kind", ["tetra4", "tetra10", "hexa8", "hexa20"])
def test_pressure_all_around_has_no_resultant_and_squeezes_evenly(kind):
    body = block(kind, [2, 1, 1], [2, 1, 1], E=1e4, nu=0.25)
    loads = [fem.SurfacePressure(body, side, 1.0, name=side) for side in ("x0", "x1", "y0", "y1", "z0", "z1")]
    body.fix("x0", "x")
    body.fix("y0", "y")
    body.fix("z0", "z")
    model = fem.Model("squeezed")
    model.add(body, *loads)
    result = fem.static_equilibrium(model, stability=False)
    strain = -1.0 / 1e4 * (1 - 2 * 0.25)
    # St. Venant-Kirchhoff of finite strain: the difference to linear elasticity is of second order
    assert body.stresses(result).strain[0] == pytest.approx(strain * np.eye(3), abs=3 * strain**2)
    assert body.stresses(result).stress == pytest.approx(np.broadcast_to(-np.eye(3), (len(body.nodes), 3, 3)), abs=1e-8)
    assert sum(load.total for load in loads) == pytest.approx(np.zeros(3), abs=1e-12)
    assert loads[1].area == pytest.approx(1.0)


def test_positions_of_a_body_are_those_of_its_nodes_at_a_time():
    body = block("hexa8", [1, 1, 1], [1, 1, 1])
    model = fem.Model("falling", gravity=[0, 0, -9.81])
    model.add(body)
    result = fem.DecoupledNSGA().run(model, t_end=0.2, h=0.1)
    for time, fallen in ((0.0, 0.0), (0.2, 0.5 * 9.81 * 0.2**2)):
        assert body.positions(result, time=time) == pytest.approx(body.reference - [0, 0, fallen], abs=1e-12)
    assert body.positions(result) == pytest.approx(body.positions(result, time=0.2), abs=0)


def test_traction_and_body_force_bend_a_bar_as_they_should():
    body = block("hexa20", [4, 1, 1], [4, 1, 1], E=1e6, nu=0.0, density=2.0)
    body.fix("x0")
    pull = fem.SurfaceTraction(body, "x1", [3.0, 0, 0])
    system = system_of(body, pull, fem.BodyForce(body, [5.0, 0, 0]))
    u = linear_displacements(system)
    # u(L) = (t L + b L²/2)/E of a bar
    assert u[body.node_at([4, 0.5, 0.5]).index, 0] == pytest.approx((3 * 4 + 5 * 16 / 2) / 1e6, rel=1e-12)
    assert pull.total == pytest.approx([3, 0, 0])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", KINDS)
def test_uniaxial_stress_is_that_of_the_law_at_every_point(kind, law):
    body = block(kind, [1, 1, 1], [2, 1, 1], E=10.0, nu=0.25, law=law)
    lam = mu = 4.0
    state = system_of(body).initial.copy()
    turn, stretch = exp([0.3, 0.9, -0.4]), np.diag([1.25, 0.9, 1.1])
    state.x[1:] = body.reference @ (turn @ stretch).T
    E = 0.5 * (stretch @ stretch - np.eye(3))
    J = np.linalg.det(stretch)
    if law == "neo-hookean":
        sigma = (mu * (stretch @ stretch - np.eye(3)) + lam * np.log(J) * np.eye(3)) / J
    else:
        sigma = stretch @ (lam * np.trace(E) * np.eye(3) + 2 * mu * E) @ stretch / J
    found = body.stresses(state)
    assert found.stress == pytest.approx(np.broadcast_to(turn @ sigma @ turn.T, found.stress.shape), abs=1e-12)
    assert found.strain == pytest.approx(np.broadcast_to(E, found.strain.shape), abs=1e-13)
    assert found.principal_stress[0] == pytest.approx(np.sort(np.diag(sigma)))
    s1, s2, s3 = np.diag(sigma)
    assert found.von_mises[0] == pytest.approx(np.sqrt(0.5 * ((s1 - s2) ** 2 + (s2 - s3) ** 2 + (s3 - s1) ** 2)))
    assert all(np.abs(stress - turn @ sigma @ turn.T).max() < 1e-12 for _, stress in found.points)


def test_bending_stress_of_every_element_for_bending_is_that_of_beam_theory():
    for kind in ("tetra10", "hexa8e", "hexa20"):
        body = block(kind, [10, 1, 1], [10, 2, 2], E=1e5, nu=0.3)
        body.fix("x0")
        model = fem.Model("bent")
        model.add(body, fem.SurfaceTraction(body, "x1", [0, 0, -1.0]))
        found = body.stresses(fem.static_equilibrium(model, stability=False))
        place = body.nodes.index(body.node_at([5, 0.5, 1]))
        assert found.stress[place, 0, 0] == pytest.approx(5 * 6.0, rel=0.03), kind  # M/W at the middle


def test_fix_and_groups_of_a_body_and_what_is_rejected():
    body = block("hexa20", [2, 1, 1], [2, 1, 1])
    body.fix("z0", ["x", "z"])
    free = body.nodes_of("z0")[0].free
    assert free.tolist() == [False, True, False, False, False, False] and body.nodes_of("z1")[0].free[:3].all()
    with pytest.raises(fem.ParameterError, match=r"rx.*not a component"):
        body.fix("x0", "rx")
    with pytest.raises(fem.ParameterError, match="x0, x1, y0"):
        fem.SurfacePressure(body, "left", 1.0)
    inner = fem.SolidBody(body.mesh.with_group("middle", lambda x: np.abs(x[:, 0] - 1) < 1e-9), body.material)
    with pytest.raises(fem.ParameterError, match="has no faces"):
        fem.SurfacePressure(inner, "middle", 1.0)
    system_of(body)
    with pytest.raises(fem.ParameterError, match="was compiled"):
        body.fix("x0")
    with pytest.raises(fem.ParameterError, match=r"elements = .*hexahedron20; allowed: Hexa20"):
        fem.SolidBody(body.mesh, body.material, elements="Tetra10")
    with pytest.raises(fem.ParameterError, match=r"nu = 0\.5"):
        fem.SolidMaterial(1.0, 0.5, 1.0)
    with pytest.raises(fem.ParameterError, match=r"mesh = .*a Mesh"):
        fem.SolidBody("part.msh", body.material)


def test_single_elements_are_rejected_by_name():
    steel = fem.SolidMaterial(1.0, 0.3, 1.0)
    nodes = [fem.Node3(x) for x in CELLS["tetra"].points]
    with pytest.raises(fem.ParameterError, match=r"'one': nodes = 4.*10"):
        fem.Tetra10(nodes, steel, name="one")
    with pytest.raises(fem.ParameterError, match=r"nodes = .*inverted"):
        fem.Tetra4([nodes[i] for i in (1, 0, 2, 3)], steel)
    with pytest.raises(fem.ParameterError, match=r"nodes = .*solids have no rotation"):
        fem.Tetra4([*nodes[:3], fem.Node6([0, 0, 1])], steel)
    with pytest.raises(fem.ParameterError, match="has a node twice"):
        fem.Tetra4([*nodes[:3], nodes[0]], steel)


def test_an_element_turned_inside_out_is_reported_with_its_name_and_place():
    body = block("hexa8", [1, 1, 1], [1, 1, 1])
    system = system_of(body)
    state = system.initial.copy()
    state.x[1:, 2] *= -1.0
    from fem_mbs.system.checks.element_checks import trouble

    element, text = trouble(system, state)
    assert element is body.elements[0] and re.search(r"'body 0' near \[0\.5, 0\.5, -0\.5\] m.*inverted", text)


def test_a_body_of_many_elements_is_that_of_single_ones():
    body = block(
        "tetra10", [1, 1, 1], [1, 1, 1], density=2.0, damping=0.1, velocity=[1, 0, 0], angular_velocity=[0, 0, 2]
    )
    nodes = [fem.Node3(node.position, velocity=node.velocity) for node in body.nodes]
    model = fem.Model("one by one")
    for places in body.connectivity("tetra10"):
        model.add(fem.Tetra10([nodes[i] for i in places], body.material, damping=0.1))
    one, many = fem.System(model, check=False), system_of(body)
    order = [node.index for node in nodes]
    state = many.initial.copy()
    state.x[1:] += 0.02 * np.random.default_rng(1).normal(size=state.x[1:].shape)
    same = one.initial.copy()
    same.x[order] = state.x[1:]
    found, expected = many.forces(state)[1].reshape(-1, 6)[1:], one.forces(same)[1].reshape(-1, 6)[order]
    assert np.abs(expected).max() > 1e-3 and found == pytest.approx(expected, abs=1e-13)


class Tied(fem.elements.Force):
    """A force on translations, made with mistakes of an author of elements."""

    numbers_per_node = 3
    viscous = False

    def __init__(self, nodes, kernels):
        super().__init__(nodes)
        self.kernels = kernels


def test_elements_of_translations_alone_are_rejected_on_nodes_that_turn():
    from fem_mbs.elements.solids.loads import NodalLoad

    class Stiff(NodalLoad):
        """A load that does not say that it has no moments."""

        has_no_moments = False

    ball = fem.RigidBody.sphere(1.0, 0.1, name="ball")
    model = fem.Model("mixed")
    model.add(ball, Stiff([ball.node], [[1.0, 0, 0]], name="load"))
    with pytest.raises(fem.ModelError, match=r"'load'.*rotation"):
        fem.System(model)


def test_rotations_are_not_there_for_elements_of_translations_alone():
    from fem_mbs.elements.forces import loads

    kernels = {"force": loads.point_force, "force_tangent": loads.point_force_tangent}
    model = fem.Model("wrong")
    model.add(Tied([fem.Node3()], kernels))
    with pytest.raises(ValueError, match=r"'R_A'.*three"):
        fem.System(model)


def test_a_damped_body_is_one_line_of_the_energy_table():
    """24 elements of one body, 6 of another: what both dissipate explains the energy that is lost."""
    model = fem.Model("bars", gravity=[0, 0, -9.81])
    for k, parts in enumerate(([6, 2, 2], [6, 1, 1])):
        body = fem.SolidBody(
            fem.block_mesh([1, 0.2, 0.2], parts, cell="hexahedron"), fem.SolidMaterial(1e6, 0.3, 1e3), damping=1e-3,
            position=[0, k, 0], name=f"bar {k}",
        )  # fmt: skip
        body.fix("x0")
        model.add(body)
    table = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=0.1, h=2e-3, balance=True).energy_table()
    assert [(line.name, line.kind) for line in table.lines] == [("bar 0", "damper"), ("bar 1", "damper")]
    assert table.work("bar 0") < -1e-3
    assert abs(table.numerical) < 1e-6 * abs(table.total("damper"))


def test_results_contain_nodes_of_a_solid_by_themselves():
    """They have no names: the history of a node is that of its place in the model, whatever it is called there."""
    body = fem.SolidBody(fem.block_mesh([1.0, 0.1, 0.1], [4, 1, 1]), fem.SolidMaterial(1e9, 0.3, 1000), name="bar")
    body.fix("x0")
    model = fem.Model("bar", gravity=[0, 0, -9.81])
    bob = fem.RigidBody.sphere(1.0, 0.1, position=[0, 5, 0], name="bob")
    model.add(body, bob)
    result = fem.DecoupledNSGA().run(model, t_end=2e-3, h=1e-3)
    tip = body.node_at([1.0, 0.1, 0.1])
    assert result[tip].position[0] == pytest.approx([1.0, 0.1, 0.1]) and result[tip].position[-1, 2] < 0.1
    assert np.array_equal(result[bob.node].position, result["bob"].position)
    with pytest.raises(fem.FemMbsError, match=r"'bar'.*no node"):
        result[fem.Node3([1, 2, 3])]


def test_a_solid_that_is_pressed_flat_is_reported_with_its_usual_cause():
    """A block of rubber that a piston drives beyond its height in three steps."""
    rubber = fem.SolidMaterial(E=1e6, nu=0.4, density=1000, law="neo-hookean")
    body = fem.SolidBody(fem.block_mesh([0.1, 0.1, 0.1], [2, 2, 2], cell="hexahedron"), rubber, name="block")
    body.fix("z0")
    piston = fem.SurfaceCoupling(body, "z1", kind="rigid", name="top")
    model = fem.Model("pressed")
    model.add(body, piston)
    down = fem.Signal(lambda t: -0.15 * (1 - np.cos(np.pi * t / 3e-3)))
    model.add(fem.Prismatic.at(model.ground, piston.node, piston.center, [0, 0, 1], motor=fem.Motor(position=down)))
    with pytest.raises(fem.SolverError) as told:
        fem.DecoupledNSGA().run(model, t_end=3e-3, h=1e-3)
    assert "inverted" in str(told.value)
