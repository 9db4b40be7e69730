"""Shell elements: patch tests, rigid motions, sections, the mixed iteration."""

import math

import numpy as np
import pytest
from shell_models import CARBON, CELLS, STEEL, curved, inner, linear, model_of, plate, posed, section

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.elements.shells.element import SHELLS, example
from fem_mbs.rotations import exp
from fem_mbs.verify import random_point

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


@pytest.mark.parametrize(("degrees", "along"), [(0.0, "y"), (36.0, "y"), (38.0, "x"), (90.0, "x")])
def test_the_first_axis_is_x_or_y_where_the_normal_is_near_x(degrees, along):
    """A plate that is stretched along y by 1e-6, its normal so far from x: N = E h (1, ν)/(1 − ν²) ε, in y first."""
    angle, E, nu, h = math.radians(degrees), 2.0, 0.3, 0.1
    normal, side = np.array([math.cos(angle), 0, math.sin(angle)]), np.array([math.sin(angle), 0, -math.cos(angle)])
    mesh = fem.panel_mesh([1, 1], [1, 1], form=lambda x: np.outer(x[:, 0], side) + np.outer(x[:, 1], [0, 1, 0]))
    body = fem.ShellBody(mesh, section(E, nu, h))
    assert np.cross(side, [0, 1, 0]) == pytest.approx(normal, abs=1e-15)
    strain = 1e-6
    forces = body.blocks[0].section_forces(body.reference * [1, 1 + strain, 1], np.tile(np.eye(3), (4, 1, 1)))
    size = E * h / (1 - nu**2) * strain
    expected = [size, nu * size, 0.0] if along == "y" else [nu * size, size, 0.0]
    assert forces[0, :, :3] == pytest.approx(np.tile(expected, (4, 1)), rel=1e-5, abs=1e-5 * size)


@pytest.mark.parametrize("cell", CELLS)
def test_section_forces_do_not_ask_how_the_plate_lies(cell):
    """A laminate that is turned with its axis and its motion: N, M and Q at the middle of an element are the same."""
    laminate = fem.ShellSection.layered([(CARBON, 0.02, 0.0), (CARBON, 0.03, math.radians(30))])
    rng, found = np.random.default_rng(6), []
    shifts, turns = 1e-3 * rng.normal(size=(4, 3)), 1e-2 * rng.normal(size=(4, 3))
    for Q in (np.eye(3), exp([0.7, -0.4, 1.1])):
        mesh = fem.panel_mesh([1.0, 0.7], [1, 1], cell=cell, form=lambda x, Q=Q: x @ Q.T)
        body = fem.ShellBody(mesh, laminate, axis=Q @ [0.8, 0.6, 0.0])
        element = body.elements[0]
        numbers = [body.nodes.index(node) for node in element.nodes]
        point = random_point(element, np.random.default_rng(0)).copy(
            x=(body.reference + shifts @ Q.T)[numbers], R=np.array([Q @ exp(turns[k]) @ Q.T for k in numbers])
        )
        point.v = np.zeros_like(point.v)
        found.append(Evaluator(element)("output", point)["out"])
    assert np.abs(found[0][:8]).min() > 1e-4 * np.abs(found[0]).max()
    assert found[1] == pytest.approx(found[0], rel=1e-9, abs=1e-9 * np.abs(found[0]).max())


def test_modes_of_a_quadrilateral_take_membrane_forces_that_bending_makes():
    """Of the least energy: forces of an unsymmetric laminate do no work on ε_11 ∝ x, ε_22 ∝ y and 2ε_12 ∝ x, y.

    Without the part of bending N_22 would grow along y by what a curvature along x makes of it that grows along y.
    """
    laminate = fem.ShellSection.layered([(CARBON, 0.02, 0.0), (CARBON, 0.03, math.radians(30))])
    body = fem.ShellBody(fem.panel_mesh([1.0, 0.7], [1, 1]), laminate, axis=[1, 0, 0])
    rng = np.random.default_rng(2)
    places = body.reference + 1e-3 * rng.normal(size=(4, 3))
    turns = np.array([exp(1e-2 * rng.normal(size=3)) for _ in places])
    forces = body.blocks[0].section_forces(places, turns)[0]
    r, s = np.array([(r, s) for s in (-1, 1) for r in (-1, 1)]).T / math.sqrt(3)  # 2 × 2 points of Gauss, equal weights
    N11, N22, N12 = forces[:, :3].T
    moments = np.array([r @ N11, s @ N22, r @ N12, s @ N12])
    assert np.abs(moments).max() < 1e-12 * np.abs(forces[:, :3]).max()
    assert np.abs(r @ forces[:, 3:6]).max() > 1e-3 * np.abs(forces[:, 3:6]).max()  # moments do vary


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
