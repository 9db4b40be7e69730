"""Facts of mechanics that pin down factors, signs and indices of solids, their loads and bonds."""

import numpy as np
import pytest
from solid_models import KINDS, block, system_of

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.elements.solids.element import SOLIDS
from fem_mbs.mesh.cells import CELLS
from fem_mbs.nodes import Node3
from fem_mbs.verify import random_point

KIND = pytest.mark.parametrize("kind", SOLIDS, ids=lambda kind: kind.__name__)
MATERIAL = fem.SolidMaterial(1.0, 0.3, 2.0)


@pytest.mark.parametrize("bent", [0.08, 1e-4])
@KIND
def test_a_bent_cell_has_the_mass_matrix_of_its_shape_functions(kind, bent):
    """m_ab = ∫ ρ N_a N_b dV on each component: that of a cell without curved sides would be another one."""
    rng = np.random.default_rng(3)
    cell = kind.cell
    X = cell.points + bent * rng.normal(size=cell.points.shape)
    element = kind([Node3(x) for x in X], MATERIAL)
    M = Evaluator(element)("inertia_tangent", random_point(element, rng, 0.1))["M"]
    rule = cell.mass
    weights = 2.0 * rule.volumes(X[None])[0]
    np.testing.assert_allclose(M[::6, ::6], rule.shapes.T @ (weights[:, None] * rule.shapes), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(M[::6, 1::6], 0.0, atol=1e-14)


@KIND
def test_damping_gives_every_mode_half_beta_omega(kind):
    name = next(key for key, value in KINDS.items() if value[0] == kind.cell.name and kind.enhanced == bool(value[1]))
    body = block(name, [2.0, 0.5, 0.6], [2, 1, 1], damping=0.02)
    body.fix("x0")
    damped = fem.modes(system_of(body), 4, damping=True)
    np.testing.assert_allclose(damped.damping_ratio, 0.5 * 0.02 * damped.omega, rtol=1e-6)


@KIND
def test_a_cell_turned_inside_out_at_any_corner_is_found_by_its_kernel(kind):
    """The corner is pushed through the middle of the cell: only points of integration near it are turned."""
    cell = kind.cell
    X = cell.points
    for corner in range(cell.n_corners):
        element = kind([Node3(x) for x in X], MATERIAL)
        point = random_point(element, np.random.default_rng(0), 0.0)
        for way in (0.1, 1.6):
            x = X + 0.0
            middle = X[[k for k in range(cell.n_corners) if k != corner]].mean(axis=0)
            x[corner] += way * (middle - X[corner])
            inverted = cell.stiffness.volumes(x[None]).min() <= 0.0
            assert inverted == (way > 1.0)
            assert Evaluator(element)("trouble", point.copy(x=x))["energy"][0] == float(inverted)


def test_a_cell_that_is_sound_where_it_is_stiff_but_not_where_it_weighs_is_rejected():
    """A middle node near a corner turns a quadratic tetrahedron inside out there, next to its four points."""
    cell = CELLS["tetra10"]
    for part in np.linspace(0.5, -0.5, 100):
        X = cell.points.copy()
        X[4] = [part, 0.0, 0.0]
        X[6] = [0.0, part, 0.0]
        X[7] = [0.0, 0.0, part]
        if cell.mass.volumes(X[None]).min() <= 0.0:
            break
    assert cell.stiffness.volumes(X[None]).min() > 0.0 >= cell.mass.volumes(X[None]).min()
    with pytest.raises(fem.ParameterError, match=r"mesh = .*flat"):
        fem.SolidBody(fem.Mesh(X, {"tetra10": [range(10)]}), MATERIAL)


def test_a_pressure_pushes_inwards_and_has_no_potential():
    body = block("hexa8", [1, 1, 1], [1, 1, 1])
    body.fix("z0")
    load = fem.SurfacePressure(body, "z1", 1e-3)
    np.testing.assert_allclose(load.total, [0, 0, -1e-3], atol=1e-15)
    assert fem.static_equilibrium(system_of(body, load)).stable is None  # it turns with its faces
    body = block("hexa8", [1, 1, 1], [1, 1, 1])
    body.fix("z0")
    assert fem.static_equilibrium(system_of(body, fem.SurfaceTraction(body, "z1", [0, 0, -1e-3]))).stable is True


def test_components_that_are_held_one_after_the_other_add_up():
    body = block("hexa8", [1, 1, 1], [1, 1, 1])
    body.fix("x0", "y")
    body.fix("x0", ["z"])
    assert [node.free[:3].tolist() for node in body.nodes_of("x0")] == 4 * [[True, False, False]]
    with pytest.raises(fem.ParameterError, match="hold nothing"):
        body.fix("x1", [])


def test_cells_that_are_there_twice_are_rejected():
    mesh = fem.block_mesh([2, 1, 1], [2, 1, 1], cell="hexahedron")
    cells = mesh.cells["hexahedron"]
    doubled = fem.Mesh(mesh.points, {"hexahedron": np.vstack([cells, cells[1:]])}, {"all": {"hexahedron": [0, 1]}})
    with pytest.raises(fem.ParameterError, match=r"mesh = .*more than once.*number 1,.*\[1\.5, 0\.5"):
        fem.SolidBody(doubled, MATERIAL)
    assert fem.SolidBody(doubled, MATERIAL, group="all").mass == pytest.approx(4.0)


def test_nodes_of_a_group_are_each_there_once_and_faces_go_before_points():
    mesh = fem.block_mesh([2, 1, 1], [2, 1, 1], cell="hexahedron")
    at = {tuple(x): k for k, x in enumerate(mesh.points.tolist())}
    top = [[at[x, 0.0, 1.0], at[x + 1, 0.0, 1.0], at[x + 1, 1.0, 1.0], at[x, 1.0, 1.0]] for x in (0.0, 1.0)]
    groups = {"top": {"quad": [0, 1]}, "both": {"quad": [0], "node": np.arange(12)}, "inner": {"quad": [2]}}
    middle = [at[1.0, y, z] for y, z in ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))]
    mesh = fem.Mesh(mesh.points, mesh.cells | {"quad": [*top, middle]}, groups)
    assert mesh.nodes_of("top").tolist() == sorted({k for face in top for k in face})
    assert mesh.faces_of("both")["quad"].tolist() == top[:1]
    body = fem.SolidBody(mesh, MATERIAL)
    assert fem.SurfacePressure(body, "both", 1.0).area == pytest.approx(1.0)
    with pytest.raises(fem.ParameterError, match=r"group = .*two cells"):
        fem.SurfacePressure(body, "inner", 1.0)


def plate(lines):
    """A plate whose top has faces between x of ``lines``, all 2 wide along y, at z = 1."""
    x = np.array(lines, float)
    mesh = fem.block_mesh([len(x) - 1.0, 2, 1], [len(x) - 1, 1, 1], cell="hexahedron")
    placed = mesh.moved(lambda p: np.column_stack([x[p[:, 0].round().astype(int)], p[:, 1:]]))
    return fem.SolidBody(placed, MATERIAL, name="plate")


def tied(foot, place, group="z1", **options):
    """The first tied node of a small post that stands at a place on a plate."""
    post = fem.SolidBody(
        fem.block_mesh([0.05, 0.05, 0.1], [1, 1, 1], cell="hexahedron"), MATERIAL, name="post", position=place
    )
    return fem.Tie(post, "z0", foot, group, **options).elements


def test_a_tied_node_is_on_its_own_face_where_the_centre_of_another_is_nearer():
    foot = plate([0, 4, 4.2, 4.4])  # a long face next to short ones
    for element in tied(foot, [3.8, 1.0, 1.0]):
        assert max(node.position[0] for node in element.nodes[1:]) == 4.0


def test_a_tied_node_takes_the_nearest_of_two_faces_within_the_tolerance():
    foot = plate([0, 2])
    foot = fem.SolidBody(foot.mesh.with_group("both", lambda p: p[:, 2] > -1), MATERIAL, name="plate")
    for element in tied(foot, [0.9, 0.9, 1.01], "both", tolerance=2.0):
        assert {node.position[2] for node in element.nodes[1:]} == {1.0}


def test_nodes_next_to_a_face_are_on_no_face():
    with pytest.raises(fem.ParameterError, match=r"group_A = .*no face"):
        tied(plate([0, 2]), [2.1, 1.0, 1.0])


def test_the_centre_of_a_mesh_in_millimetres_is_in_metres():
    mesh = fem.block_mesh([10, 20, 30], [1, 1, 1], cell="hexahedron").moved(lambda x: x + [100, 200, 300])
    found = fem.mass_of_mesh(mesh, 1000.0, scale=1e-3)
    np.testing.assert_allclose(found.center, [0.105, 0.21, 0.315], rtol=1e-12)
    assert found.mass == pytest.approx(6e-3, rel=1e-12)


def test_columns_of_a_file_are_in_the_order_of_vtk():
    """xx, yy, zz, xy, yz, xz: ParaView takes them by place."""
    body = block("hexa20", [1, 1, 1], [2, 1, 1])
    body.fix("x0")
    load = fem.SurfaceTraction(body, "x1", [1e-3, 2e-3, -3e-3])
    fields = body.stresses(fem.static_equilibrium(system_of(body, load)))
    for name, tensor in (("stress", fields.stress), ("strain", fields.strain)):
        columns = np.stack([tensor[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))], axis=1)
        np.testing.assert_array_equal(fields.columns()[name], columns)


def test_a_turned_body_that_spins_has_the_velocities_of_a_rigid_one():
    spin, velocity, turn = np.array([1.0, -2.0, 3.0]), np.array([4.0, 5.0, 6.0]), [0.5, 2.0, -1.0]
    body = block(
        "hexa8", [1, 2, 3], [1, 1, 1], position=[7, 8, 9], rotation=turn, velocity=velocity, angular_velocity=spin
    )
    for node in body.nodes:
        np.testing.assert_allclose(node.velocity, velocity + np.cross(spin, node.position - [7, 8, 9]), rtol=1e-13)


def test_stress_at_a_node_is_the_mean_of_its_cells_by_volume():
    """Two cells of 1 and 3 m³, stretched by 1 and 5 parts in a million: 4 of them at the nodes between."""
    mesh = fem.block_mesh([2, 1, 1], [2, 1, 1], cell="hexahedron")
    mesh = mesh.moved(lambda x: np.column_stack([np.where(x[:, 0] > 1.5, 4.0, x[:, 0]), x[:, 1:]]))
    body = fem.SolidBody(mesh, fem.SolidMaterial(1.0, 0.0, 1.0))
    system = system_of(body)
    state = system.initial
    for node in body.nodes:
        x = node.position[0]
        state.x[node.index, 0] += 1e-6 * (x if x <= 1 else 1 + 5 * (x - 1))
    stress = body.stresses(state).stress[:, 0, 0]
    for x, part in ((0.0, 1.0), (1.0, 4.0), (4.0, 5.0)):
        np.testing.assert_allclose(stress[body.reference[:, 0] == x], part * 1e-6, rtol=1e-4)


def test_cauchy_stress_of_incompatible_strains_carries_the_moment():
    """A block bent to a quarter circle by SVK hexahedra: Σ σ n dA over a middle section has the applied moment."""
    material = fem.SolidMaterial(1e3, 0.0, 1.0)
    body = fem.SolidBody(
        fem.block_mesh([10, 1, 1], [10, 1, 1], cell="hexahedron"), material, elements="Hexa8Enhanced", name="body"
    )
    system = system_of(body)
    state = system.initial
    radius = 2 * 10 / np.pi
    for node in body.nodes:
        x, z = node.position[0], node.position[2] - 0.5
        angle = x / radius
        state.x[node.index, [0, 2]] = (radius - z) * np.sin(angle), 0.5 + radius - (radius - z) * np.cos(angle)
    strain, stress = body.stresses(state).points[0]
    # the stress turns with the cell: in its own axes it is σ_xx = E (λ² − 1)/2 λ² / (volume ratio λ) = E λ (λ² − 1)/2
    middle = (np.arange(10) + 0.5) / radius
    for e in range(10):
        c, s = np.cos(middle[e]), np.sin(middle[e])
        R = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
        own = R.T @ stress[e] @ R
        stretch = np.sqrt(1 + 2 * strain[e][:, 0, 0])
        # Green-Lagrange strains along the axis alone are uniaxial; shears of the bent cell are below a tenth of them
        np.testing.assert_allclose(own[:, 0, 0], 1e3 * stretch * (stretch**2 - 1) / 2, rtol=0.05)
        # pure bending has no shear; with the gradient of the nodes alone it is 2 % of the axial stress
        assert np.abs(own[:, 0, 2]).max() < 2e-3 * np.abs(own[:, 0, 0]).max()


def test_numbers_of_a_group_that_are_not_there_are_rejected_below_and_above():
    mesh = fem.block_mesh([1, 1, 1], [1, 1, 1], cell="hexahedron")
    for wrong in (-1, 8):
        with pytest.raises(fem.ParameterError, match="is not there"):
            fem.Mesh(mesh.points, mesh.cells, {"bad": {"node": [0, wrong]}})


def test_a_load_of_time_has_no_potential():
    body = block("hexa8", [1, 1, 1], [1, 1, 1])
    for signal, has in ((None, True), (lambda t: 2.0 + 0.0 * t, False)):
        model = fem.Model("loaded")
        own = block("hexa8", [1, 1, 1], [1, 1, 1])
        model.add(own, fem.SurfaceTraction(own, "x1", [1e-3, 0, 0], signal=signal))
        result = fem.GeneralizedAlpha().run(model, t_end=1e-3, h=1e-3)
        assert (abs(result.energy.potential[0]) > 1e-4) == has
    assert body.mass == pytest.approx(1.0)


def test_shares_of_modes_count_by_mass_and_phase():
    """MAC with weights by hand, and of shapes that differ by a phase alone: the same mode."""
    first, second = np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])
    w = np.array([4.0, 9.0])
    by_hand = (4 * 3 - 9 * 2) ** 2 / ((4 + 9 * 4) * (4 * 9 + 9))
    assert fem.mac(first, second, weights=w)[0, 0] == pytest.approx(by_hand, rel=1e-13)
    shape = np.array([[1.0 + 2.0j, 0.5 - 1.0j]])
    assert fem.mac(shape, np.exp(0.7j) * shape)[0, 0] == pytest.approx(1.0, rel=1e-13)
    assert fem.mac(shape, shape.conj())[0, 0] < 0.9
