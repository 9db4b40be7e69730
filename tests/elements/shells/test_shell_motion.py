"""Bodies of shells: stresses, and motion."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from shell_models import CELLS, STEEL, curved, model_of, plate, posed, section, strip

import fem_mbs as fem
from fem_mbs.elements.shells.element import SHELLS, example
from fem_mbs.rotations import exp
from fem_mbs.stresses.shell_arrays import Shells

# --- stresses ---------------------------------------------------------------------------------------------------------


def test_stresses_of_a_bent_strip_are_those_of_a_beam_on_both_sides():
    body = strip(24)
    M = 0.1
    tips = body.nodes_of("x1")
    result = fem.static_equilibrium(model_of(body, *(fem.PointMoment(n, [0, -0.5 * M, 0]) for n in tips)))
    fields = body.stresses(result)
    size = 6 * M / 0.1**2
    along = np.linalg.norm(fields.stress, axis=(2, 3))
    assert along[:, [0, 2]] == pytest.approx(np.full((len(along), 2), size), rel=1e-3)
    assert along[:, 1] == pytest.approx(0.0, abs=1e-2 * size)
    # M = (0, −M, 0) bends the strip upwards: the top is pressed
    at = int(np.flatnonzero(fields.nodes == body.nodes.index(tips[0]))[0])
    assert fields.principal_stress[at, 2, 0] == pytest.approx(-size, rel=1e-3)
    assert fields.principal_stress[at, 0, 2] == pytest.approx(size, rel=1e-3)
    moment = np.array([result.output(element, "moment") for element in body.elements])
    assert moment[:, 0] == pytest.approx(np.full(24, -M), rel=1e-3)
    assert np.array([result.output(e, "shear_force") for e in body.elements]) == pytest.approx(0.0, abs=1e-3 * M)


@pytest.mark.parametrize("cell", CELLS)
def test_shear_stress_is_a_parabola_with_the_shear_force_as_its_integral(cell):
    """Small force at the tip of a strip: 3/2 P/A in the middle, none on both faces."""
    body, P = strip(24, cell, length=4.0), 1e-6
    result = fem.static_equilibrium(model_of(body, fem.EdgeTraction(body, "x1", [0, 0, P])))
    fields = body.stresses(result)
    inside = np.abs(body.reference[fields.nodes, 0] - 2.0) < 1.0
    shear = fields.stress[inside][:, :, 0, 2].mean(axis=0)  # over both sides of the strip: triangles differ there
    # equilibrium: Q is constant along the strip
    assert shear == pytest.approx([0.0, 1.5 * P / 0.1, 0.0], abs=0.003 * P / 0.1)


def test_shear_stress_ends_at_both_faces_where_nodes_are_not_in_the_middle():
    """Two layers alike but for their density: nodes lie at the centre of mass, the parabola about the middle."""
    P, E, half = 1e-6, 1.2e6, 0.05
    layers = [(fem.SolidMaterial(E, 0.0, density), half, 0.0) for density in (1.0, 9.0)]
    made = fem.ShellSection.layered(layers)
    assert abs(made.levels()[0][1]) > 0.3 * half
    body = fem.ShellBody(fem.panel_mesh([4, 1], [24, 1]), made, axis=[1, 0, 0])
    body.fix("x0")
    fields = body.stresses(fem.static_equilibrium(model_of(body, fem.EdgeTraction(body, "x1", [0, 0, P]))))
    inside = np.abs(body.reference[fields.nodes, 0] - 2.0) < 1.0
    shear = fields.stress[inside][:, :, 0, 2].mean(axis=0)
    assert shear == pytest.approx([0.0, 1.5 * P / 0.1, 0.0], abs=0.003 * P / 0.1)


def test_stress_at_a_corner_is_the_mean_by_area_of_the_cells_around_it():
    """Cells of 1 and 3 m² with strains of 1e-6 and 5e-6 along x: E (1 · 1 + 3 · 5)/4 e-6 between them."""
    x = np.array([[0, 0, 0], [1, 0, 0], [4, 0, 0], [0, 1, 0], [1, 1, 0], [4, 1, 0]], float)
    body = fem.ShellBody(fem.Mesh(x, {"quad": np.array([[0, 1, 4, 3], [1, 2, 5, 4]])}), section(2.0, 0.0, 0.1))
    u = np.interp(x[:, 0], [0, 1, 4], [0, 1e-6, 1e-6 + 3 * 5e-6])
    _, state = posed(body, body.reference + np.outer(u, [1, 0, 0]), np.tile(np.eye(3), (6, 1, 1)))
    fields = body.stresses(state)
    expected = 2.0e-6 * np.array([1, 4, 5, 1, 4, 5], float)
    assert fields.stress[:, 1, 0, 0] == pytest.approx(expected[fields.nodes], rel=1e-4)


def test_stresses_on_both_sides_of_a_slight_fold_stay_apart():
    """A fold of 0.4 rad: its nodes have a corner for each side, whose directors are the normals of the two planes."""
    angle = 0.4
    up = np.array([np.cos(angle), 0, np.sin(angle)])

    def form(x):
        bent = [1, 0, 0] + np.outer(x[:, 0] - 1, up)
        return np.where(x[:, :1] > 1, bent, x * [1, 0, 0]) + x * [0, 1, 0]

    body = fem.ShellBody(fem.panel_mesh([2, 1], [2, 1], form=form), section(1.0, 0.3, 0.1), fold=0.3)
    _, state = posed(body, body.reference, np.tile(np.eye(3), (6, 1, 1)))
    fields = body.stresses(state)
    at = np.flatnonzero(np.abs(body.reference[fields.nodes, 0] - 1) < 1e-9)
    normals = np.unique(fields.directors[at].round(6), axis=0)
    assert len(at) == 4
    assert normals == pytest.approx(np.array([[-np.sin(angle), 0, np.cos(angle)], [0, 0, 1]]), abs=1e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_stress_of_a_rolled_plate_is_per_deformed_area_on_each_side(cell):
    """A plate of ν = 0 rolled up by κ h = 0.2: fibres at z are λ = 1 − κ z as long, σ = λ² S/J = λ S, S = −E κ z."""
    kappa, h, E, count = 1.0, 0.2, 3.0, 40
    body = fem.ShellBody(fem.panel_mesh([1, 0.1], [count, 4], cell=cell), section(E, 0.0, h))
    angle = kappa * body.reference[:, 0]
    places = np.column_stack([np.sin(angle), kappa * body.reference[:, 1], 1 - np.cos(angle)]) / kappa
    _, state = posed(body, places, np.array([exp([0, -a, 0]) for a in angle]))
    found = body.stresses(state).principal_stress
    size = 0.5 * kappa * h
    tolerance = 2 * E * (kappa / count) ** 2 / 24  # chords are shorter than arcs
    assert found[:, 0, 2] == pytest.approx(E * size * (1 + size), abs=tolerance)
    assert found[:, 2, 0] == pytest.approx(-E * size * (1 - size), abs=tolerance)
    assert found[:, 1] == pytest.approx(0.0, abs=tolerance)


def test_bodies_of_different_sections_keep_their_own_stresses_next_to_each_other():
    """Elements are held by section: the third body, of the section of the first, comes before the second."""
    thin, thick = section(3e6, 0.3, 0.02), section(1e6, 0.1, 0.05)
    bodies = [
        fem.ShellBody(fem.panel_mesh([length, 0.5], [4, 2], form=lambda x, y=y: x + [0, y, 0]), of, name=f"plate {y}")
        for length, of, y in ((1.0, thin, 0), (2.0, thick, 1), (1.5, thin, 2))
    ]
    model = fem.Model("three", gravity=[0, 0, -1e-3])
    for body in bodies:
        body.fix("x0")
        model.add(body)
    result = fem.static_equilibrium(model)
    system, state = result.system, result.state
    number = {id(element): k for k, element in enumerate(system.elements)}
    together = Shells.of(system.groups, number)
    assert np.array_equal(np.unique(together.section), [0, 1]) and (np.diff(together.section) >= 0).all()
    fields = together.fields(state.x, state.R)
    for body in bodies:
        own, index = body.stresses(result), [node.index for node in body.nodes]
        rows = [int(np.flatnonzero(fields.nodes == index[k])[0]) for k in own.nodes]
        assert fields.stress[rows] == pytest.approx(own.stress, rel=1e-9, abs=1e-9 * np.abs(own.stress).max())
    nodes = together.connectivity.reshape(-1, 4)
    for owner, row in zip(together.owner, nodes):
        assert [node.index for node in system.elements[owner].nodes] == row.tolist()


def test_stresses_are_in_results_files_and_vtk_reads_the_thickness(tmp_path):
    body = curved(n=4)
    body.fix("x0")
    model = model_of(body, gravity=[0, 0, -1e-4])
    path = str(tmp_path / "saddle.vtkhdf")
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=1.0, h=0.25, save=path)
    again = fem.load(path)
    points, data = again.scene.frames(again.rows([len(again.t) - 1]))
    skin = again.skin
    where = skin.shell_points
    half = len(skin.shells.node) // 2
    fields = body.stresses(result)
    found = data["von_mises"][0, where, 0]
    assert found == pytest.approx(np.concatenate([fields.von_mises[:, 0], fields.von_mises[:, 2]]), rel=1e-9)
    bottom, top = points[0, where][:half], points[0, where][half:]
    assert np.linalg.norm(top - bottom, axis=1) == pytest.approx(0.05, rel=1e-12)
    triangles, _ = skin.solid_surface
    a, b, c = (points[0][triangles[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6  # of the closed surface that is drawn, outwards
    assert volume == pytest.approx(body.mass, rel=2e-3)  # density 1; z times the curvature
    vtk = pytest.importorskip("vtk", reason="VTK comes with PyVista, an optional extra")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkHDFReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    reader.SetStep(reader.GetNumberOfSteps() - 1)
    reader.Update()
    grid = reader.GetOutput()
    assert {grid.GetCellType(k) for k in range(grid.GetNumberOfCells())} == {12}  # hexahedra
    assert vtk_to_numpy(grid.GetPointData().GetArray("von_mises"))[where] == pytest.approx(found, rel=1e-6)
    assert vtk_to_numpy(grid.GetPoints().GetData()) == pytest.approx(points[0], abs=1e-6)  # single precision


# --- motion -----------------------------------------------------------------------------------------------------------


def free_flight(h, rho_inf=1.0, t_end=0.2, **options):
    """A soft plate that spins and tumbles: momenta and energies at the steps."""
    mesh = fem.panel_mesh([1.0, 0.6], [4, 3], form=lambda x: x - [0.5, 0.3, 0])
    body = fem.ShellBody(
        mesh, section(2e4, 0.3, 0.05, density=10.0), angular_velocity=[4.0, 2.0, 6.0], velocity=[1, 0, 0], **options
    )
    model = model_of(body)
    result = fem.GeneralizedAlpha(rho_inf=rho_inf).run(model, t_end=t_end, h=h)
    system = fem.System(model, check=False)
    M = system.matrices(system.initial, mass_only=True)
    found = []
    for step in (0, -1):
        state = result.state(step)
        p = (M @ system.reduced(state.V)).reshape(-1, 6)
        turned = np.einsum("nij,nj->ni", state.R[1:], p[:, 3:])
        found += [p[:, :3].sum(axis=0), np.cross(state.x[1:], p[:, :3]).sum(axis=0) + turned.sum(axis=0)]
    return found, result


def test_free_flight_keeps_momentum_exactly_and_angular_momentum_with_second_order():
    errors = []
    for h in (1e-3, 5e-4):
        (p0, l0, p1, l1), result = free_flight(h)
        assert p1 == pytest.approx(p0, abs=1e-11)  # constant mass matrix: round-off
        errors.append(np.abs(l1 - l0).max() / np.linalg.norm(l0))
        energy = result.energy.total
        assert np.abs(energy - energy[0]).max() < 5e-5 * energy[0]  # measured 3.4e-5, 8.6e-6: second order as well
    assert errors[1] < 5e-6 and 3.6 < errors[0] / errors[1] < 4.4, errors  # measured 1.5e-5, 3.8e-6


def test_a_body_starts_where_and_as_it_is_put():
    """Turned, moved and spinning: no stress, and the kinetic energy of a rigid box in the same motion."""
    Q, spin, speed = exp([0.3, -1.0, 2.0]), np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.0, -1.0])
    mesh = fem.panel_mesh([2, 1], [4, 2], form=lambda x: x - [1, 0.5, 0])
    pose = dict(position=[1, 2, 3], rotation=Q, velocity=speed, angular_velocity=spin)
    body = fem.ShellBody(mesh, section(1.0, 0.3, 0.2, 3.0), **pose)
    system = fem.System(model_of(body), check=False)
    state = system.initial
    assert body.stresses(state).stress == pytest.approx(0.0, abs=1e-15)
    V = state.V.reshape(-1)[6:]
    m, (a, b, h) = body.mass, (2.0, 1.0, 0.2)
    box = m / 12 * np.diag([b**2 + h**2, a**2 + h**2, a**2 + b**2 + 1e-3 * h**2])
    kinetic = 0.5 * m * speed @ speed + 0.5 * (Q.T @ spin) @ box @ (Q.T @ spin)
    assert 0.5 * V @ (system.matrices(state, mass_only=True) @ V) == pytest.approx(kinetic, rel=1e-12)


def test_damping_takes_vibration_and_leaves_rigid_motion():
    body = plate(4, 0.02, E=1e3, fixed="clamped", damping=2e-3)
    plain = plate(4, 0.02, E=1e3, fixed="clamped")
    damped = fem.modes(model_of(body), 1, damping=True)
    omega = fem.modes(model_of(plain), 1).omega[0]
    assert damped.damping_ratio[0] == pytest.approx(2e-3 * omega / 2, rel=1e-6)


def test_inertia_of_a_plate_is_that_of_a_thin_box_about_all_axes():
    """Exact for the products of the bilinear field; about the normal without ρh³/12, but for 1e-3 of it."""
    a, b, h = 2.0, 1.0, 0.2
    body = fem.ShellBody(
        fem.panel_mesh([a, b], [4, 2], form=lambda x: x - [a / 2, b / 2, 0]), section(1.0, 0.3, h, 3.0)
    )
    system = fem.System(model_of(body), check=False)
    M = system.matrices(system.initial, mass_only=True)
    m, found = 3.0 * a * b * h, []
    for axis in np.eye(3):
        V = np.zeros((len(body.nodes), 6))
        V[:, :3], V[:, 3:] = np.cross(axis, body.reference), axis
        found.append(V.ravel() @ (M @ V.ravel()))
    assert found[:2] == pytest.approx([m * (b**2 + h**2) / 12, m * (a**2 + h**2) / 12], rel=1e-12)
    assert found[2] == pytest.approx(m * (a**2 + b**2) / 12 + 1e-3 * m * h**2 / 12, rel=1e-12)


def test_beams_joints_and_rigid_bodies_hang_on_nodes_of_shells():
    """A panel on a hinge along one edge carries a mast, a beam, with a ball: reactions carry all weights."""
    body = fem.ShellBody(fem.panel_mesh([1, 0.5], [4, 2]), fem.ShellSection(STEEL, 5e-3), name="panel")
    model = fem.Model("mast", gravity=[0, 0, -9.81])
    model.add(body)
    for node in body.nodes_of("x0"):
        model.add(fem.Fixed(model.ground.frame(node.position), node.frame()))
    foot = body.node_at([1, 0.25, 0])
    top = fem.Node6([1, 0.25, 0.3])
    rod = fem.Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    mast = fem.Beam(foot, top, rod, name="mast")
    ball = fem.RigidBody.sphere(0.5, 0.02, node=top, name="ball")
    model.add(mast, ball)
    result = fem.static_equilibrium(model)
    held = sum(result.output(e, "force") for e in model.elements if isinstance(e, fem.Fixed))
    weight = 9.81 * (body.mass + 0.5 + rod.mass_per_length * 0.3)
    assert abs(held[2]) == pytest.approx(weight, rel=1e-9)
    assert result.position(top)[2] - result.position(foot)[2] == pytest.approx(0.3, rel=1e-2)


@pytest.mark.parametrize("kind", SHELLS.values())
def test_a_shell_is_the_same_after_pickling(kind):

    element = example(kind, np.random.default_rng(3))
    for other in (pickle.loads(pickle.dumps(element)), copy.deepcopy(element)):
        assert all(np.array_equal(element.record[name], other.record[name]) for name in element.parameters.names)


def forces_of(model):
    """Forces at the start; of a module, so that another process can be asked."""
    system = fem.System(model)
    return system.forces(system.initial)[1].copy()


def test_a_model_with_shells_is_the_same_in_another_process():
    """Records hold addresses of tables, which are others there."""
    body = curved()
    body.fix("x0")
    model = model_of(body, fem.SurfacePressure(body, None, 0.5), gravity=[0, 0, -1.0])
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(forces_of, model).result()
    assert there == pytest.approx(forces_of(model), abs=1e-15)
    assert forces_of(copy.deepcopy(model)) == pytest.approx(there, abs=1e-15)
