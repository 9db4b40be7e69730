"""Shell elements: patch tests, rigid motions, sections, sides and folds of surfaces, stresses, motion, refusals."""

import copy
import math
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from shell_models import deflection, linear, model_of, plate, section, strip

import fem_mbs as fem
from fem_mbs.elements.shells.element import SHELLS, example
from fem_mbs.evaluator import Evaluator
from fem_mbs.rotations import exp, matrix_to_quaternion
from fem_mbs.verify import random_point

CELLS = ("quad", "triangle")
STEEL = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)
CARBON = fem.PlyMaterial(E1=140e9, E2=10e9, nu12=0.3, G12=5e9, G13=5e9, G23=3.5e9, density=1600)


def curved(cell="quad", n=3, density=1.0, **options):
    """A piece of a saddle."""
    mesh = fem.panel_mesh([1, 1], [n, n], cell=cell, form=lambda x: x + [0, 0, 1] * (0.3 * x[:, :1] * (1 - x[:, 1:2])))
    return fem.ShellBody(mesh, section(1.0, 0.3, 0.05, density), name="saddle", **options)


def posed(body, x, R):
    """Forces (n, 6) on the nodes of a body alone in its model, with positions x and rotations R."""
    system = fem.System(model_of(body), check=False)
    state = system.initial.copy()
    numbers = [node.index for node in body.nodes]
    state.x[numbers], state.R[numbers] = x, R
    for number in numbers:
        matrix_to_quaternion(state.R[number], state.Q[number])
    return system.forces(state)[1].reshape(-1, 6)[numbers], state


def inner(body):
    """Which nodes of a body on the unit square are not on its rim."""
    x = body.reference[:, :2]
    return ((x > 1e-9) & (x < 1 - 1e-9)).all(axis=1)


# --- patch tests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", CELLS)
def test_patch_of_finite_membrane_strain_is_in_equilibrium_inside(cell):
    """A plate stretched and turned far: nodes turn with the rotation of the stretch, no moment and no drilling."""
    body = plate(4, 0.1, cell=cell, moved=0.3, fixed=None)
    Q, U = exp([0.4, -1.1, 0.8]), np.eye(3)
    U[:2, :2] = [[1.2, 0.15], [0.15, 0.9]]
    f, state = posed(body, body.reference @ (Q @ U).T + [3.0, -2.0, 1.0], Q)
    assert np.abs(f).max() > 1e-3
    assert np.abs(f[inner(body)]).max() < 1e-15  # round-off (measured 1e-17)
    assert np.abs(f[:, 3:]).max() < 1e-15
    stress = body.stresses(state).stress
    assert stress == pytest.approx(np.broadcast_to(stress[0], stress.shape), abs=1e-13)


def bent(body, kappa):
    """Places and rotations of a plate in the xy plane, bent to a cylinder with curvature kappa along x."""
    x, angle = body.reference, kappa * body.reference[:, 0]
    places = np.column_stack([np.sin(angle) / kappa, x[:, 1], 2 * np.sin(angle / 2) ** 2 / kappa])
    return places, np.array([exp([0, -a, 0]) for a in angle])


@pytest.mark.parametrize("cell", CELLS)
def test_patch_of_bending_has_the_moments_of_the_plate(cell):
    """Small curvature: moments D κ and ν D κ in every element of a distorted mesh, no shear, equilibrium inside."""
    kappa, h = 1e-7, 0.1
    body = plate(4, h, cell=cell, moved=0.3, fixed=None)
    places, turns = bent(body, kappa)
    f, state = posed(body, places, turns)
    assert np.abs(f[inner(body)]).max() < 1e-4 * np.abs(f).max()  # membrane force of the curved places
    D = h**3 / 12 / (1 - 0.3**2)
    for block in body.blocks:
        numbers = [node.index for node in body.nodes]
        forces = block.section_forces(state.x[numbers], state.R[numbers])
        # sides: the surface bends towards its normal, so that its upper side is pressed
        moments = np.broadcast_to([-D * kappa, -0.3 * D * kappa, 0.0], forces[..., 3:6].shape)
        assert forces[..., 3:6] == pytest.approx(moments, rel=1e-4, abs=1e-4 * D * kappa)
        assert np.abs(forces[..., 6:]).max() < 1e-6 * D * kappa / h


@pytest.mark.parametrize("cell", CELLS)
def test_patch_of_twist_has_constant_twisting_moments(cell):
    """w = κ x y with the directors on the surface: M_12 = D (1 − ν) κ in every element of a regular mesh."""
    kappa, h = 1e-7, 0.1
    body = plate(4, h, cell=cell, fixed=None)
    x, y = body.reference[:, 0], body.reference[:, 1]
    places = np.column_stack([x, y, kappa * x * y])
    f, state = posed(body, places, np.array([exp([kappa * a, -kappa * b, 0]) for a, b in zip(x, y)]))
    expected = -(h**3) / 12 / (1 + 0.3) * kappa
    numbers = [node.index for node in body.nodes]
    for block in body.blocks:
        forces = block.section_forces(state.x[numbers], state.R[numbers])
        assert forces[..., 5] == pytest.approx(np.full(forces.shape[:2], expected), rel=1e-4)
        assert np.abs(forces[..., 6:]).max() < 1e-6 * kappa * h
    assert np.abs(f[inner(body)]).max() < 1e-4 * np.abs(f).max()


@pytest.mark.parametrize("cell", CELLS)
def test_patch_of_transverse_shear_is_in_equilibrium_inside(cell):
    """Planes stay, directors all turned alike against them: Q = k G h γ, moments balanced by the forces of the rim."""
    gamma, h = 1e-5, 0.5
    body = plate(4, h, cell=cell, fixed=None)
    f, state = posed(body, body.reference, exp([0, gamma, 0]))
    numbers = [node.index for node in body.nodes]
    edge = math.sqrt(2) / 4 if cell == "triangle" else 0.0
    expected = 5 / 6 * h / 2.6 * gamma * h**2 / (h**2 + 0.1 * edge**2)  # with the factor of triangles
    for block in body.blocks:
        forces = block.section_forces(state.x[numbers], state.R[numbers])
        assert forces[..., 6] == pytest.approx(np.full(forces.shape[:2], expected), rel=1e-6)
    assert np.abs(f[inner(body), :3]).max() < 1e-12 * np.abs(f).max()


# --- rigid motions, zero energy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", CELLS)
def test_a_curved_shell_has_six_motions_without_energy(cell):
    """No hidden mechanism: neither hourglass, nor one of drilling."""
    system = fem.System(model_of(curved(cell, n=2)), check=False)
    K = system.matrices(system.initial)[2].toarray()
    values = np.abs(np.linalg.eigvalsh(0.5 * (K + K.T)))
    order = np.sort(values) / values.max()
    assert order[5] < 1e-15 < 1e-9 < order[6]  # round-off, and the softest motion (drilling, 1e-3 of the shear)


@pytest.mark.parametrize("cell", CELLS)
def test_a_large_rigid_motion_has_no_forces_and_no_damping(cell):
    body = curved(cell, damping=1.0, density=1e-12)  # no gyroscopic moments
    Q, w = exp([1.0, -2.0, 0.5]), np.array([3.0, 1.0, -2.0])
    system = fem.System(model_of(body), check=False)
    state, numbers = system.initial.copy(), [node.index for node in body.nodes]
    state.x[numbers], state.R[numbers] = body.reference @ Q.T, Q
    V = np.zeros((len(state.x), 6))
    V[numbers, :3], V[numbers, 3:] = np.cross(w, state.x[numbers]), Q.T @ w
    state.V[:] = V.reshape(state.V.shape)
    assert np.abs(system.forces(state)[1]).max() < 1e-15  # round-off of E h L


# --- sections ---------------------------------------------------------------------------------------------------------


def test_layers_of_one_material_are_the_homogeneous_section():
    """A, D, mass and rotatory inertia do not depend on how a plate is cut into layers."""
    whole = fem.ShellSection(STEEL, 3e-3)
    cut = fem.ShellSection.layered([(STEEL, 0.5e-3, 0.0), (STEEL, 2e-3, 0.7), (STEEL, 0.5e-3, -1.0)])
    assert cut.stiffness == pytest.approx(whole.stiffness, rel=1e-12, abs=1e-6)
    assert cut.mass_per_area == pytest.approx(whole.mass_per_area)
    assert cut.inertia_per_area == pytest.approx(whole.mass_per_area * 3e-3**2 / 12, rel=1e-12)
    D = 210e9 * 3e-3**3 / 12 / (1 - 0.3**2)
    assert whole.stiffness[3, 3] == pytest.approx(D) and whole.stiffness[3, 4] == pytest.approx(0.3 * D)


def test_orthotropic_layers_have_the_stiffness_of_laminate_theory():
    """Closed forms: a layer turned by 90°; cross-ply, symmetric and of two layers, B = (Q_22 − Q_11) t²/2."""
    Q11 = 140e9 / (1 - 0.3**2 * 10 / 140)
    Q22 = Q11 * 10 / 140
    t = 1e-3
    turned = fem.ShellSection.layered([(CARBON, t, math.pi / 2)]).stiffness
    assert turned[0, 0] == pytest.approx(Q22 * t) and turned[1, 1] == pytest.approx(Q11 * t)
    assert turned[6, 6] == pytest.approx(5 / 6 * 3.5e9 * t) and turned[7, 7] == pytest.approx(5 / 6 * 5e9 * t)
    symmetric = fem.ShellSection.layered([(CARBON, t, a) for a in (0, math.pi / 2, math.pi / 2, 0)]).stiffness
    assert not symmetric[:3, 3:6].any()
    two = fem.ShellSection.layered([(CARBON, t, 0.0), (CARBON, t, math.pi / 2)]).stiffness
    assert two[0, 3] == pytest.approx((Q22 - Q11) * t**2 / 2)
    diagonal = fem.ShellSection.layered([(CARBON, t, math.pi / 4)]).stiffness
    expected = (Q11 + Q22 + 2 * 0.3 * Q22 + 4 * 5e9) / 4 * t  # Q̄_11 at 45°
    assert diagonal[0, 0] == pytest.approx(expected) and diagonal[0, 2] == pytest.approx((Q11 - Q22) / 4 * t)


def test_an_angle_of_the_fibres_is_one_of_the_axis():
    """Fibres at 30° to an axis along x, and fibres along an axis at 30° to it: the same stiffness."""
    matrices = []
    for angle, axis in ((math.pi / 6, [1, 0, 0]), (0.0, [math.cos(math.pi / 6), 0.5, 0])):
        laminate = fem.ShellSection.layered([(CARBON, 1e-3, angle), (CARBON, 1e-3, angle + 0.5)])
        body = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), laminate, axis=axis)
        system = fem.System(model_of(body), check=False)
        matrices.append(system.matrices(system.initial)[2].toarray())
    assert matrices[0] == pytest.approx(matrices[1], abs=1e-12 * np.abs(matrices[0]).max())


def test_nodes_lie_on_the_surface_of_the_centres_of_mass():
    heavy, light = fem.SolidMaterial(1.0, 0.0, 3.0), fem.SolidMaterial(1.0, 0.0, 1.0)
    both = fem.ShellSection.layered([(heavy, 1.0, 0.0), (light, 1.0, 0.0)])
    assert both.bottom == pytest.approx(-0.75) and both.top == pytest.approx(1.25)
    # ∫ρ z² dz about it
    assert both.inertia_per_area == pytest.approx(3 * (0.25**2 + 1 / 12) + (0.75**2 + 1 / 12))


def test_a_face_between_layers_is_of_the_layer_nearer_to_the_middle():
    a, b = fem.SolidMaterial(1.0, 0.0, 1.0), fem.SolidMaterial(2.0, 0.0, 1.0)
    three = fem.ShellSection.layered([(a, 1.0, 0.0), (b, 2.0, 0.0), (a, 1.0, 0.0)])
    assert [three.layer_at(z)[0] for z in (-2.0, -1.5, -1.0, 0.0, 1.0, 1.5, 2.0)] == [a, a, b, b, b, a, a]


def test_a_strip_of_two_materials_bends_as_its_neutral_fibre_says():
    """Tip moment on two layers, ν = 0: curvature M/(EI) about the neutral fibre, though nodes lie elsewhere."""
    E1, E2, t = 2.0e6, 1.0e6, 0.05
    layers = [(fem.SolidMaterial(E1, 0.0, 1.0), t, 0.0), (fem.SolidMaterial(E2, 0.0, 2.0), t, 0.0)]
    body = fem.ShellBody(fem.panel_mesh([4, 1], [8, 1]), fem.ShellSection.layered(layers))
    body.fix("x0")
    tip = body.nodes_of("x1")
    u = linear(body, *(fem.PointMoment(node, [0, -0.5e-3, 0]) for node in tip))
    zero = (E1 * 0.5 * t + E2 * 1.5 * t) / (E1 + E2)  # neutral fibre from the bottom
    EI = E1 * (t**3 / 12 + t * (zero - 0.5 * t) ** 2) + E2 * (t**3 / 12 + t * (1.5 * t - zero) ** 2)
    assert u[tip[0].index, 2] == pytest.approx(1e-3 * 4**2 / 2 / EI, rel=2e-3)  # ½ κ L², with n = 8 (order 2)


# --- sides, folds, bodies ---------------------------------------------------------------------------------------------


def test_a_closed_cylinder_has_the_normals_of_a_cylinder():
    mesh = fem.panel_mesh([1, 2 * math.pi], [2, 16], radius=1.0)
    body = fem.ShellBody(mesh, section(1.0, 0.3, 0.1))
    for element in body.elements:
        radial = np.array([node.position * [0, 1, 1] for node in element.nodes])
        assert element.node_directors == pytest.approx(radial, abs=1e-12)
    assert body.mass == pytest.approx(16 * 2 * math.sin(math.pi / 16) * 0.1)  # the area of the polygon


def angle_mesh(flip=()):
    """Two squares that meet at a right angle at y = 1, divided in 2 × 2 cells each."""
    mesh = fem.panel_mesh([1, 2], [2, 4], form=lambda x: np.column_stack(
        [x[:, 0], np.minimum(x[:, 1], 1), np.maximum(x[:, 1] - 1, 0)]))  # fmt: skip
    cells = mesh.cells["quad"].copy()
    cells[list(flip)] = cells[list(flip), ::-1]
    return fem.Mesh(mesh.points, {"quad": cells}, mesh.groups)


def test_cells_at_a_fold_have_directors_of_their_own():
    body = fem.ShellBody(angle_mesh(), section(1.0, 0.3, 0.1))
    for element in body.elements:
        flat = all(abs(node.position[2]) < 1e-9 for node in element.nodes)
        expected = [0, 0, 1] if flat else [0, -1, 0]
        assert element.node_directors == pytest.approx(np.tile(expected, (4, 1)), abs=1e-12)
    with pytest.raises(fem.ParameterError, match="so much warped"):
        fem.ShellBody(
            fem.panel_mesh([1, 1], [1, 1], form=lambda x: x + [0, 0, 3] * (x[:, :1] * x[:, 1:2])), section(1, 0, 1)
        )


def test_a_moment_passes_a_fold():
    """Angle of two plates under a force at its end: displacements of the frame of two beams (ν = 0)."""
    E, h, P = 1e6, 0.05, 1e-3
    body = fem.ShellBody(angle_mesh(), section(E, 0.0, h))
    body.fix("y0")
    u = linear(body, fem.EdgeTraction(body, "y1", [0, P, 0]))
    tip = body.nodes_of("y1")[0].index
    EI = E * h**3 / 12
    # horizontal force at the top of the upright: its bending L³/3, and the turn L²·L of its foot
    assert u[tip, 1] == pytest.approx(
        P * (1 / 3 + 1) / EI, rel=0.02
    )  # 2 cells along each leg: 1 − 1/(4 n²) in the upright
    assert u[tip, 2] == pytest.approx(-P * 0.5 / EI, rel=1e-9)


def test_cells_with_different_sides_up_are_refused_or_turned_over():
    with pytest.raises(fem.ParameterError, match=r"has 4 edges whose two cells have different sides up; orient=True"):
        fem.ShellBody(angle_mesh(flip=[1, 7]), section(1.0, 0.3, 0.1))
    turned = fem.ShellBody(angle_mesh(flip=[1, 7]), section(1.0, 0.3, 0.1), orient=True)
    plain = fem.ShellBody(angle_mesh(), section(1.0, 0.3, 0.1))
    for a, b in zip(turned.elements, plain.elements):
        assert a.node_directors.mean(axis=0) == pytest.approx(b.node_directors.mean(axis=0), abs=1e-12)


def ribbed(flip):
    """Two squares of a skin that meet over the upper side of a rib, the second turned over or not."""
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0], [1, 0, -1], [1, 1, -1]]
    second = [5, 4, 1, 2] if flip else [1, 4, 5, 2]
    return fem.Mesh(points, {"quad": [[0, 1, 2, 3], second, [1, 2, 7, 6]]}, {"skin": {"quad": [0, 1]}})


def test_the_skin_over_a_rib_has_one_side_up():
    """At an edge of three cells two continue each other: a pressure on both must not cancel."""
    sheet = section(1.0, 0.3, 0.1)
    with pytest.raises(fem.ParameterError, match="has 1 edges whose two cells have different sides up"):
        fem.ShellBody(ribbed(True), sheet)
    for body in (fem.ShellBody(ribbed(True), sheet, orient=True), fem.ShellBody(ribbed(False), sheet)):
        assert fem.SurfacePressure(body, "skin", 3.0).total == pytest.approx([0, 0, -6.0])
    # three walls at 120° have no side in common: as they are
    a = np.sqrt(0.75)
    star = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [-0.5, a, 0], [-0.5, a, 1], [-0.5, -a, 0], [-0.5, -a, 1]]
    fem.ShellBody(fem.Mesh(star, {"quad": [[0, 2, 3, 1], [0, 4, 5, 1], [0, 1, 7, 6]]}), sheet)


def test_a_flap_beside_the_one_that_goes_on_keeps_its_side():
    """Of two cells that continue a third within the fold, the straighter one is its pair; the other is free."""
    points = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [-1, 0, 0], [-1, 0, 1], [-0.9, 0.4, 0], [-0.9, 0.4, 1]]
    for flap in ([0, 1, 7, 6], [6, 7, 1, 0]):
        mesh = fem.Mesh(points, {"quad": [flap, [0, 2, 3, 1], [0, 1, 5, 4]]})
        assert len(fem.ShellBody(mesh, section(1.0, 0.3, 0.1)).elements) == 3


@pytest.mark.parametrize("orient", [False, True])
def test_cells_that_lie_on_each_other_are_refused(orient):
    """They would be a sheet twice as thick; the same cell again, turned over, or a quadrilateral over triangles."""
    mesh = fem.panel_mesh([1, 1], [2, 2])
    quads, sheet = mesh.cells["quad"], section(1.0, 0.3, 0.1)
    for again in (quads[3], quads[3, ::-1], np.roll(quads[3], 1)):
        with pytest.raises(fem.ParameterError, match=r"cells that lie on each other.* one at .* m\. Take each once"):
            fem.ShellBody(fem.Mesh(mesh.points, {"quad": [*quads, again]}), sheet, orient=orient)
    both = {"quad": quads[:1], "triangle": quads[:1][:, [[0, 1, 2], [0, 2, 3]]][0]}
    with pytest.raises(fem.ParameterError, match="cells that lie on each other"):
        fem.ShellBody(fem.Mesh(mesh.points, both), sheet, orient=orient)


def test_two_quadrilaterals_around_a_peak_are_no_cells_on_each_other():
    """They have three corners in common, and enclose nothing: only all four corners make one cell twice."""
    peak = fem.Mesh(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0.5]], {"quad": [[0, 1, 4, 3], [1, 2, 3, 4]]}
    )
    assert len(fem.ShellBody(peak, section(1.0, 0.3, 0.1)).elements) == 2


def test_a_moebius_strip_is_refused():
    n, rows = 24, []
    angle = 2 * np.pi * np.arange(n) / n
    for side in (-0.3, 0.3):
        r = 2 + side * np.cos(angle / 2)
        rows.append(np.column_stack([r * np.cos(angle), r * np.sin(angle), side * np.sin(angle / 2)]))
    cells = [[k, n + k, n + k + 1, k + 1] for k in range(n - 1)] + [[n - 1, 2 * n - 1, 0, n]]
    mesh = fem.Mesh(np.vstack(rows), {"quad": cells})
    with pytest.raises(fem.ParameterError, match="one side only"):
        fem.ShellBody(mesh, section(1.0, 0.3, 0.1), orient=True)


def test_groups_have_sections_of_their_own():
    mesh = fem.panel_mesh([2, 1], [4, 2])
    left = np.flatnonzero(mesh.points[mesh.cells["quad"]].mean(axis=1)[:, 0] < 1)
    right = np.setdiff1d(np.arange(8), left)
    mesh = fem.Mesh(mesh.points, dict(mesh.cells), {"left": {"quad": left}, "right": {"quad": right}})
    thin, thick = section(1.0, 0.3, 0.1), section(1.0, 0.3, 0.3)
    body = fem.ShellBody(mesh, {"left": thin, "right": thick})
    assert body.mass == pytest.approx(0.1 + 0.3)
    with pytest.raises(fem.ParameterError, match="4 cells of type quad are in none of these groups"):
        fem.ShellBody(mesh, {"left": thin})


def test_quadrilaterals_and_triangles_mix():
    """A plate of both under tension is a patch test too; its deflection lies between those of the two."""
    mesh = fem.panel_mesh([1, 1], [8, 8])
    quads = mesh.cells["quad"]
    middle = mesh.points[quads].mean(axis=1)
    inside = ((middle > 0.25) & (middle < 0.75))[:, :2].all(axis=1)
    triangles = quads[inside][:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    mixed = fem.Mesh(mesh.points, {"quad": quads[~inside], "triangle": triangles}, mesh.groups)
    body = fem.ShellBody(mixed, section(1.0, 0.3, 0.01), name="both")
    assert sorted({type(e).__name__ for e in body.elements}) == ["Shell3", "Shell4"]
    U = np.diag([1.1, 0.95, 1.0])
    f, _ = posed(body, body.reference @ U, np.eye(3))
    assert np.abs(f[inner(body)]).max() < 1e-15
    body = fem.ShellBody(mixed, section(1.0, 0.3, 0.01), name="both")
    for group in ("x0", "x1", "y0", "y1"):
        body.fix(group)
    found = deflection(body, 1e-12)
    low, high = sorted(deflection(plate(8, 0.01, cell=cell), 1e-12) for cell in CELLS)
    assert 0.98 * low < found < 1.02 * high


def test_a_surface_mesh_is_read_from_a_file_with_its_groups(tmp_path):
    """Triangles and quadrilaterals of Gmsh's format, in mm, with a physical group; and of VTK."""
    import meshio

    points = 1e3 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0.5, 0]])
    cells = [("quad", [[0, 1, 2, 3]]), ("triangle", [[1, 4, 2]]), ("line", [[3, 0]])]
    tags = [np.array([1]), np.array([2]), np.array([3])]
    names = {"sheet": np.array([1, 2]), "tip": np.array([2, 2]), "root": np.array([3, 1])}
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    meshio.write(tmp_path / "s.msh", meshio.Mesh(points, cells, cell_data=data, field_data=names), file_format="gmsh22")
    meshio.write(tmp_path / "s.vtu", meshio.Mesh(points, cells[:2]))
    mesh = fem.read_mesh(tmp_path / "s.msh", units="mm")
    body = fem.ShellBody(mesh, {"sheet": section(1.0, 0.3, 0.1), "tip": section(1.0, 0.3, 0.2)})
    assert body.mass == pytest.approx(0.1 + 0.5 * 0.2)
    assert [node.position[0] for node in body.nodes_of("root")] == pytest.approx([0, 0])
    assert fem.SurfaceTraction(body, "tip", [0, 0, 4]).total == pytest.approx([0, 0, 2])
    part = fem.ShellBody(mesh, section(1.0, 0.3, 0.1), group="sheet")
    assert len(part.nodes) == 4 and part.area == pytest.approx(1.0)
    other = fem.ShellBody(fem.read_mesh(tmp_path / "s.vtu", units="mm"), section(1.0, 0.3, 0.1))
    assert other.area == pytest.approx(1.5)


# --- loads ------------------------------------------------------------------------------------------------------------


def test_pressure_on_a_cylinder_is_the_boiler_formula():
    """Closed ends left out: hoop force p r against the normals, so that the ring is pressed."""
    r, h, p = 2.0, 0.02, 10.0
    mesh = fem.panel_mesh([1, 2 * math.pi * r], [2, 48], radius=r)
    body = fem.ShellBody(mesh, section(1e6, 0.3, h), axis=[1, 0, 0], name="pipe")
    body.fix("x0", ["x", "rx"])
    body.fix("y0", ["y", "rx"])
    body.fix("x1", ["rx"])
    result = fem.static_equilibrium(model_of(body, fem.SurfacePressure(body, None, p)), stability=False)
    hoop = np.array([result.output(element, "membrane_force") for element in body.elements])[:, 1]
    assert hoop == pytest.approx(np.full(len(hoop), -p * r), rel=5e-3)  # polygon of 48 sides: (π/48)²/2 = 2e-3
    fields = body.stresses(result)
    assert fields.von_mises[:, 1] == pytest.approx(np.full(len(fields.nodes), p * r / h), rel=1e-2)


def test_loads_of_a_shell_have_the_resultants_of_its_area_volume_and_edges():
    body = strip(6, length=3.0, thickness=0.2)
    assert fem.SurfacePressure(body, None, 2.0).total == pytest.approx([0, 0, -6.0])
    assert fem.SurfaceTraction(body, None, [1, 0, 2]).total == pytest.approx([3, 0, 6])
    assert fem.BodyForce(body, [0, 5, 0]).total == pytest.approx([0, 5 * 0.6, 0])
    assert fem.EdgeTraction(body, "x1", [0, 0, 3]).total == pytest.approx([0, 0, 3])
    assert body.volume == pytest.approx(0.6) and body.area == pytest.approx(3.0)
    with pytest.raises(fem.ParameterError, match="has no cells of this body"):
        fem.SurfacePressure(body, "x1", 1.0)
    solid = fem.SolidBody(fem.block_mesh([1, 1, 1], [1, 1, 1]), STEEL)
    with pytest.raises(fem.ParameterError, match="must be a ShellBody"):
        fem.EdgeTraction(solid, "x1", [0, 0, 1])


def test_edges_of_a_group_are_those_of_its_line():
    """A triangle in a corner has an edge inside with both ends on the rim: it must not be loaded too."""

    def on_rim(x):
        return (np.abs(x[:, :2] - 0.5) > 0.49).any(axis=1)

    plain = fem.panel_mesh([1, 1], [2, 2], cell="triangle")
    corner = np.flatnonzero(plain.points[:, :2].sum(axis=1) == 0)[0]
    line = [[k, k + 1] for k in (0, 1)]  # of the lower side
    mesh = fem.Mesh(plain.points, dict(plain.cells) | {"line": line}, dict(plain.groups) | {"low": {"line": [0, 1]}})
    mesh = mesh.with_group("rim", on_rim).with_group("middle", lambda x: np.abs(x[:, 0] - 0.5) < 0.01)
    body = fem.ShellBody(mesh, section(1.0, 0.3, 0.1))
    assert corner == 0 and fem.EdgeTraction(body, "low", [0, 0, 2]).total == pytest.approx([0, 0, 2])
    assert fem.EdgeTraction(body, "middle", [0, 0, 2]).total == pytest.approx([0, 0, 2])  # a line inside
    with pytest.raises(fem.ParameterError, match="8 edges of the rim, and 2 inside whose ends are both in it"):
        fem.EdgeTraction(body, "rim", [0, 0, 2])
    # one cell across: line cells of both long sides, whose nodes are all there are
    ribbon = fem.panel_mesh([3, 1], [3, 1])
    sides = [[k, k + 1] for k in (0, 1, 2, 4, 5, 6)]
    ribbon = fem.Mesh(ribbon.points, dict(ribbon.cells) | {"line": sides}, {"sides": {"line": range(6)}})
    load = fem.EdgeTraction(fem.ShellBody(ribbon, section(1.0, 0.3, 0.1)), "sides", [0, 0, 1])
    assert load.total == pytest.approx([0, 0, 6])


def test_a_moment_about_the_normal_of_one_node_is_told():
    """It meets the stiffness of drilling alone, c A_66 a: the angle grows as cells shrink. Several nodes carry it."""
    told = r"Shell4 'plate \d+' \(and 3 more\): a node is turned about its normal by 0\.\d* rad"
    moment = 2.5e-8
    for n in (4, 8):
        body = plate(n, 0.01)
        node = body.node_at([0.5, 0.5, 0])
        with pytest.warns(UserWarning, match=told):
            result = fem.static_equilibrium(model_of(body, fem.PointMoment(node, [0, 0, moment])), stability=False)
        R = result.state.R[node.index]
        drill = max(result.output(element, "drilling")[0] for element in body.elements)
        k = 1e-3 * 0.01 / 2.6 / n**2  # c A_66 a
        # ½ k sin²φ; the surface itself is stiffer by 1/c and turns by 1e-3 of it and less
        assert math.atan2(R[1, 0], R[0, 0]) == pytest.approx(0.5 * math.asin(2 * moment / k), rel=3e-3)
        assert drill == pytest.approx(R[1, 0], rel=3e-3)


def test_a_moment_about_the_normal_of_several_nodes_is_not_told():
    """The same moment as forces on the nodes around: they turn with their surface."""
    body = plate(8, 0.01)
    model = model_of(body)
    for x, y, fx, fy in ((1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)):
        node = body.node_at([0.5 + x / 8, 0.5 + y / 8, 0])
        model.add(fem.PointForce(node, np.array([fx, fy, 0]) * 2e-8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = fem.static_equilibrium(model, stability=False)
    assert max(result.output(element, "drilling")[0] for element in body.elements) < 1e-4


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
    from fem_mbs.elements.shells.element import example

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


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_wrong_shells_are_refused_with_a_cure():
    nodes = [fem.Node6(x) for x in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0])]
    sheet = fem.ShellSection(STEEL, 1e-3)
    mesh = fem.panel_mesh([1, 1], [2, 2])
    with pytest.raises(fem.ParameterError, match="a Shell4 has 4"):
        fem.Shell4(nodes[:3], sheet)
    with pytest.raises(fem.ParameterError, match="must be a Node6: shells turn their nodes"):
        fem.Shell4([*nodes[:3], fem.Node3()], sheet)
    with pytest.raises(fem.ParameterError, match="has a node twice"):
        fem.Shell4([nodes[0], nodes[0], nodes[2], nodes[3]], sheet)
    with pytest.raises(fem.ParameterError, match="corner that points inwards"):
        fem.Shell4([nodes[0], nodes[2], nodes[1], nodes[3]], sheet)
    with pytest.raises(fem.ParameterError, match="an element without area"):
        fem.Shell3([*nodes[:2], fem.Node6([2, 0, 0])], sheet)
    with pytest.raises(fem.ParameterError, match=r"(?s)directors .* must be of length one"):
        fem.Shell4(nodes, sheet, directors=np.tile([0, 0, 2.0], (4, 1)))
    with pytest.raises(fem.ParameterError, match="differ by over 60°"):
        fem.Shell4(nodes, sheet, directors=np.tile([0, 0, -1.0], (4, 1)))
    with pytest.raises(fem.ParameterError, match=r"thickness = 0\.0 m must be > 0"):
        fem.ShellSection(STEEL, 0.0)
    with pytest.raises(fem.ParameterError, match="law='st-venant-kirchhoff'"):
        fem.ShellSection(fem.SolidMaterial(1.0, 0.3, 1.0, law="neo-hookean"), 0.1)
    with pytest.raises(fem.ParameterError, match=r"must be between −3.74166 and 3.74166, √\(E1/E2\)"):
        fem.PlyMaterial(140e9, 10e9, 4.0, 5e9, 5e9, 3.5e9, 1600)
    with pytest.raises(
        fem.ParameterError, match=r"angle = 45\.0 is more than a whole turn: in degrees\? 0\.785398 rad"
    ):
        fem.ShellSection.layered([(CARBON, 1e-3, 45)])
    with pytest.raises(fem.ParameterError, match=r"layers .* must be a list of \(material"):
        fem.ShellSection.layered([(STEEL, 1e-3)])
    plies = fem.ShellSection.layered([(CARBON, 1e-3, 0.0)])
    with pytest.raises(fem.ParameterError, match=r"axis .* must be given: the section has directions"):
        fem.ShellBody(mesh, plies)
    with pytest.raises(fem.ParameterError, match="is along the normal of the surface"):
        fem.ShellBody(mesh, plies, axis=[0, 0, 1])
    with pytest.raises(fem.ParameterError, match="shells have corners alone"):
        fem.ShellBody(
            fem.Mesh(np.random.default_rng(0).normal(size=(6, 3)), {"triangle6": [[0, 1, 2, 3, 4, 5]]}), sheet
        )
    with pytest.raises(fem.ParameterError, match=r"has no triangles or quadrilaterals; it has 1 hexahedron20"):
        fem.ShellBody(fem.block_mesh([1, 1, 1], [1, 1, 1]), sheet)
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [3, 0, 0], [4, 0, 0], [5, 0, 0]]
    flat = fem.Mesh(points, {"triangle": [[0, 1, 2], [3, 4, 5]]})
    with pytest.raises(fem.ParameterError, match=r"triangle are without area.*the first is number 1, at \[4\.0, 0"):
        fem.ShellBody(flat, sheet)
    with pytest.raises(fem.ParameterError, match="must return vectors of length one"):
        fem.ShellBody(mesh, sheet, normals=lambda x: 2 * x)


def test_wrong_panels_are_refused():
    with pytest.raises(fem.ParameterError, match=r"go 1\.5 times around the cylinder"):
        fem.panel_mesh([1, 3 * math.pi], [2, 8], radius=1.0)
    with pytest.raises(fem.ParameterError, match="close a cylinder with less than three cells"):
        fem.panel_mesh([1, 2 * math.pi], [2, 2], radius=1.0)
    with pytest.raises(fem.ParameterError, match="must be positive"):
        fem.panel_mesh([1, -1], [2, 2])


def test_a_folded_shell_stops_a_run_with_its_place():
    body = fem.ShellBody(fem.panel_mesh([1, 1], [1, 1]), section(1.0, 0.3, 0.1), name="leaf")
    _, state = posed(body, body.reference, np.array([np.eye(3)] * 3 + [exp([2.0, 0, 0])]))
    assert "Shell4 'leaf 0' near [0.5, 0.5, 0.0] m is folded" in body.elements[0].trouble(state)


def mesh_with_hanging_node(thin=1.0):
    """A square of one cell beside two cells of half its size; the node between them is on its edge."""
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 0.5, 0], [2, 1, 0], [1, 0.5, 0]]
    cells = [[0, 1, 2, 3], [1, 4, 5, 7], [7, 5, 6, 2]]
    return fem.Mesh(np.array(points) * [1.0, 1.0, thin], {"quad": np.array(cells)})


def test_nodes_on_edges_of_cells_that_end_elsewhere_are_told():
    """The surface is open along that edge, as a slit whose ends are joined."""
    section = fem.ShellSection(fem.SolidMaterial(2e11, 0.3, 7800.0), thickness=0.01)
    with pytest.warns(UserWarning, match=r"'skin' has a node on edges of cells .* \[1.0, 0.5, 0.0\] m"):
        fem.ShellBody(mesh_with_hanging_node(), section, name="skin")
    mesh = mesh_with_hanging_node()
    halves = {"quad": mesh.cells["quad"][1:], "triangle": np.array([[0, 1, 7], [0, 7, 3], [7, 2, 3]])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.ShellBody(fem.Mesh(mesh.points, halves), section)
        fem.ShellBody(fem.panel_mesh([1.0, 0.5], [4, 3], radius=0.5), section)


# --- mixed iteration --------------------------------------------------------------------------------------------------


def kept(name, element, point, delta=None):
    """Stress resultants (ne,) of the mixed iteration that a kernel, `initial` or `update`, makes at a point."""
    state = np.zeros(element.n_state)
    record = np.array([element.record], element.parameters)[0]
    element.kernels[name](record, point.x, point.R, state, *(() if delta is None else (delta,)))
    return state


@pytest.mark.parametrize("kind", SHELLS.values(), ids=lambda kind: kind.__name__)
def test_mixed_iteration_updates_along_the_tangent_and_linearises_at_the_kept_stresses(kind):
    """(6) by differences of H e; K at kept stresses s is the plain one with ∂(Bᵀ(s − H e))/∂q more, by differences."""
    rng = np.random.default_rng(5)
    element = example(kind, rng)
    element.place()
    call, nd, step = Evaluator(element), 6 * kind.nn, 1e-5
    point = random_point(element, rng)

    def slope(direction):
        """H B δ."""
        ends = [kept("initial", element, point.moved(sign * step * direction)) for sign in (1, -1)]
        return (ends[0] - ends[1]) / (2 * step)

    now = kept("initial", element, point)
    for _ in range(3):
        delta = rng.normal(size=nd)  # large: the update is linear in it
        assert kept("update", element, point, delta) == pytest.approx(now + slope(delta), rel=1e-7, abs=1e-7)
    point = point.copy(state=now + rng.normal(size=len(now)))
    H = np.zeros((len(now), len(now)))
    H[: len(now) - kind.nn, : len(now) - kind.nn] = element.record["H"]
    H[range(len(now) - kind.nn, len(now)), range(len(now) - kind.nn, len(now))] = element.record["drill"]

    def pull(at):
        """Bᵀ(s − H e) with s − H e kept."""
        HB = np.array([kept("update", element, at, one) for one in np.eye(nd)]) - kept("initial", element, at)
        return HB @ np.linalg.solve(H, point.state - now)

    more = np.empty((nd, nd))
    for k, one in enumerate(np.eye(nd)):
        more[:, k] = (pull(point.moved(step * one)) - pull(point.moved(-step * one))) / (2 * step)
    mixed, plain = call("mixed", point), call("force_tangent", point)
    assert np.abs(more).max() > 1e-2 and np.abs(point.v).max() > 0.1  # damping takes part
    assert mixed["K"] == pytest.approx(plain["K"] + more, rel=1e-6, abs=1e-6)
    assert mixed["f"] == pytest.approx(plain["f"], rel=1e-12, abs=1e-12)
    assert mixed["C"] == pytest.approx(plain["C"], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", SHELLS.values(), ids=lambda kind: kind.__name__)
def test_section_forces_have_those_of_damping(kind):
    """A flat element at rest length that is stretched at the rate 1/s along its first axis: N = β ℂ (1, 0, 0)."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)[: kind.nn]
    element = kind([fem.Node6(x) for x in corners], section(1.0, 0.3, 0.1), damping=0.02)
    point = random_point(element, np.random.default_rng(0)).copy(x=corners, R=np.array([np.eye(3)] * kind.nn))
    point.v = np.zeros(6 * kind.nn)
    point.v[::6] = corners[:, 0]
    expected = np.zeros(9)
    expected[:2] = 0.02 * 0.1 / (1 - 0.3**2) * np.array([1.0, 0.3])
    found = Evaluator(element)("output", point)["out"]
    assert found == pytest.approx(expected, abs=1e-12)
