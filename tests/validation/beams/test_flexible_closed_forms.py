"""Solids, ties and superelements compared with closed forms and other programs of a few lines."""

import numpy as np
import pytest
from scipy.linalg import eigh

import fem_mbs as fem

# --- solids -----------------------------------------------------------------------------------------------------------

E, NU = 1.0, 0.3
LAME, SHEAR = E * NU / ((1 + NU) * (1 - 2 * NU)), E / (2 * (1 + NU))
STRETCHED = np.array([[1.2, 0.2, 0.0], [0.0, 0.9, 0.0], [0.0, 0.0, 1.1]])


def nominal(F, law):
    """First Piola-Kirchhoff stress."""
    C, J = F.T @ F, np.linalg.det(F)
    if law == "neo-hookean":
        inverse = np.linalg.inv(C)
        return F @ (SHEAR * (np.eye(3) - inverse) + LAME * np.log(J) * inverse)
    strain = 0.5 * (C - np.eye(3))
    return F @ (LAME * np.trace(strain) * np.eye(3) + 2 * SHEAR * strain)


@pytest.mark.parametrize("law", ["neo-hookean", "st-venant-kirchhoff"])
@pytest.mark.parametrize("cell", ["tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "wedge15", "enhanced"])
def test_a_block_under_the_tractions_of_a_state_of_strain_takes_this_state(cell, law):
    """Dead tractions P N on six faces of a block give x = F X and Cauchy's stress P Fᵀ/J everywhere."""
    kind, elements = ("hexahedron", "Hexa8Enhanced") if cell == "enhanced" else (cell, None)
    mesh = fem.block_mesh([1, 1, 1], [2, 1, 1], cell=kind)
    for name, corner in (("o", [0, 0, 0]), ("x", [1, 0, 0]), ("z", [0, 0, 1])):
        mesh = mesh.with_group(name, lambda x, corner=corner: np.abs(x - corner).max(axis=1) < 1e-9)
    body = fem.SolidBody(mesh, fem.SolidMaterial(E, NU, 1.0, law=law), elements=elements, name="block")
    for group, held in (("o", True), ("x", ("y", "z")), ("z", "y")):
        body.fix(group, held)
    P = nominal(STRETCHED, law)
    model = fem.Model("block")
    model.add(body)
    for i, axis in enumerate("xyz"):
        model.add(fem.SurfaceTraction(body, f"{axis}0", -P[:, i]), fem.SurfaceTraction(body, f"{axis}1", P[:, i]))
    result = fem.static_equilibrium(model, steps=2)
    places = np.array([result.position(node) for node in body.nodes])
    assert np.abs(places - body.reference @ STRETCHED.T).max() < 1e-8  # the tolerance of statics is 1e-9
    cauchy = P @ STRETCHED.T / np.linalg.det(STRETCHED)
    assert np.abs(body.stresses(result).stress - cauchy).max() < 1e-8


@pytest.mark.parametrize(("offset", "unit", "rel"), [(0.0, 1.0, 2e-4), (1e4, 1.0, 2e-4), (0.0, 1e-3, 2e-4)])
def test_a_thick_cylinder_widens_under_pressure_as_lame_says(offset, unit, rel):
    """Far from the origin, and in mm, t, s; plane strain. The mesh errs by 1e-5, a strain of 1e-5 by its own size."""
    a, b, p, modulus = 0.1, 0.2, 1e6, 210e9

    def form(x):
        r, angle = a + (b - a) * x[:, 0], 0.5 * np.pi * x[:, 1]
        return np.stack([r * np.cos(angle), r * np.sin(angle), 0.02 * x[:, 2]], axis=1) / unit + offset

    pressure = unit**2  # a Pa is 1e-6 N/mm²
    body = fem.SolidBody(
        fem.block_mesh([1, 1, 1], [6, 8, 1], form=form), fem.SolidMaterial(modulus * pressure, NU, 1.0)
    )
    for group, component in (("z0", "z"), ("z1", "z"), ("y0", "y"), ("y1", "x")):
        body.fix(group, component)
    model = fem.Model("cylinder")
    model.add(body, fem.SurfacePressure(body, "x0", p * pressure))
    result = fem.static_equilibrium(model)
    start = np.array([a / unit, 0, 0]) + offset
    wide = (result.position(body.node_at(start)) - start)[0] * unit
    assert wide == pytest.approx((1 + NU) / modulus * p * a**2 / (b**2 - a**2) * ((1 - 2 * NU) * a + b**2 / a), rel=rel)


@pytest.mark.parametrize("ratio", [3.0, 0.25])
def test_a_tie_of_two_bars_passes_waves_by_their_impedances(ratio):
    """A pulse of velocity v behind the bond is 2 v/(1 + ratio), before it (1 − ratio)/(1 + ratio) v."""
    modulus, density, side = 1e6, 1000.0, 0.1
    c = np.sqrt(modulus / density)
    near = fem.block_mesh([1, side, side], [40, 1, 1], cell="hexahedron")
    far = fem.block_mesh([1, side, side], [40, 2, 2], cell="hexahedron")
    first = fem.SolidBody(near, fem.SolidMaterial(modulus, 0.0, density), name="first")
    heavier = fem.SolidMaterial(ratio * modulus, 0.0, ratio * density)
    second = fem.SolidBody(far, heavier, position=[1, 0, 0], name="second")
    length, traction = 0.4 / c, 100.0
    push = fem.SurfaceTraction(
        first, "x0", [traction, 0, 0], signal=lambda t: np.sin(np.pi * t / length) ** 2 if t <= length else 0.0
    )
    model = fem.Model("bars")
    model.add(first, second, fem.Tie(second, "x0", first, "x1", name="bond"), push)
    result = fem.DecoupledNSGA(rho_inf=0.9).run(model, t_end=1.5 / c, h=1 / (80 * c))
    v = result.rows([len(result.t) - 1])["velocity"][0][:, 0]
    behind, before = (v[[node.index for node in body.nodes]] for body in (second, first))
    speed = traction / np.sqrt(modulus * density)
    # 16 elements in a pulse
    assert behind[np.abs(behind).argmax()] == pytest.approx(2 / (1 + ratio) * speed, rel=0.01)
    assert before[np.abs(before).argmax()] == pytest.approx((1 - ratio) / (1 + ratio) * speed, rel=0.01)


# --- superelements ----------------------------------------------------------------------------------------------------

SOFT = fem.SolidMaterial(1e9, 0.0, 1000.0)


def bar(cell="hexahedron20"):
    return fem.block_mesh([1, 0.1, 0.1], [20, 1, 1], cell=cell, form=lambda x: x - [0, 0.05, 0.05])


def test_mass_and_momentum_of_a_model_leave_amplitudes_of_modes_out():
    reduction = fem.reduce_mesh(bar(), SOFT, {"tip": "x1"}, modes=8)
    velocity, spin = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, 2.0])
    body = fem.Superelement(reduction, velocity=velocity, angular_velocity=spin, name="bar")
    model = fem.Model("free bar")
    model.add(body)
    mass, centre = model.mass_properties()
    assert mass == pytest.approx(reduction.mass, rel=1e-12)
    np.testing.assert_allclose(centre, reduction.center, atol=1e-12)
    result = fem.GeneralizedAlpha(rho_inf=0.9).run(model, 0.02, 1e-3)
    momentum = reduction.mass * (velocity + np.cross(spin, centre))
    about_origin = reduction.inertia @ spin + np.cross(centre, momentum)
    # conserved but for the tolerance of Newton's iteration, 1e-6, and the order of the step
    np.testing.assert_allclose(result.linear_momentum, np.tile(momentum, (21, 1)), rtol=1e-5)
    np.testing.assert_allclose(result.angular_momentum[0], about_origin, rtol=1e-9, atol=1e-9)  # sizes of 17 N m s


@pytest.mark.parametrize("restitution", [0.0, 0.7])
@pytest.mark.parametrize("stepper", [fem.DecoupledNSGA(), fem.MoreauJean(1.0), fem.LobattoIIIAB(2)])
def test_a_bar_that_hits_a_ball_gives_it_the_speed_of_its_effective_mass(stepper, restitution):
    """v = (1 + e) m_eff v_0/(m_eff + m), with m_eff by hand; energy falls by (1 − e²) ½ m_eff m/(m_eff + m) v_0²."""
    reduction = fem.reduce_mesh(bar("hexahedron"), SOFT, {"tip": "x0", "end": "x1"}, modes=9)
    struck, speed, h = 2.0, 3.0, 2e-5
    effective = 1.0 / np.linalg.inv(reduction.M)[0, 0]
    body = fem.Superelement(reduction, velocity=[-speed, 0, 0], name="bar")
    ball = fem.RigidBody.sphere(struck, 0.1, position=[-0.1005, 0, 0], name="ball")
    model = fem.Model("blow")
    model.add(body, ball)
    model.add(fem.SphereOnSphere(body.frame("tip"), ball, radius_A=0.0, radius_B=0.1, restitution=restitution))
    result = stepper.run(model, 2.4e-4, h)
    v = -result["ball"].velocity[:, 0]
    k = int(np.flatnonzero(v > 1e-6)[0])
    # within the step of the impact the tip continues to move: 2 % of a period of the highest mode
    assert v[k] == pytest.approx((1 + restitution) * effective * speed / (effective + struck), rel=0.01)
    lost = 0.5 * (1 - restitution**2) * effective * struck / (effective + struck) * speed**2
    assert result.energy.total[k] == pytest.approx(result.energy.total[0] - lost, rel=1e-3)
    assert result.linear_momentum[-1, 0] == pytest.approx(-reduction.mass * speed, rel=1e-9)


@pytest.mark.parametrize("nu", [0.0, 0.3])
def test_a_pinned_column_of_a_superelement_buckles_as_its_mesh_does(nu):
    """Rigid end faces hold Poisson's contraction back: 1.2 % too soft without the forces on nodes that follow them.

    With ν = 0 buckling of the mesh found 26.8 and 48.2, of multipliers alone.
    """
    L, b, h, load, modulus = 1.0, 0.04, 0.02, 1000.0, 2e11
    mesh = fem.block_mesh([L, b, h], [20, 1, 1], form=lambda x: x - [0, b / 2, h / 2])
    steel, factors = fem.SolidMaterial(modulus, nu, 7850.0), []
    for reduced in (False, True):
        model = fem.Model("column")
        if reduced:
            reduction = fem.reduce_mesh(mesh, steel, {"a": "x0", "b": "x1"}, modes=10, stiffening=("a", "b"))
            body = fem.Superelement(reduction, name="column")
            model.add(body)
            ends = body.frame("a"), body.frame("b")
        else:
            body = fem.SolidBody(mesh, steel, name="column")
            couplings = [fem.SurfaceCoupling(body, group, kind="rigid", name=group) for group in ("x0", "x1")]
            model.add(body, *couplings)
            ends = couplings[0].node.frame(), couplings[1].node.frame()
        slide = fem.RigidBody(1.0, [1, 1, 1], position=[L, 0, 0], fixed=("y", "z", "rx", "ry", "rz"), name="slide")
        model.add(slide, fem.PointForce(slide, [-load, 0, 0], name="load"))
        for k, (other, end) in enumerate(zip((model.ground, slide), ends)):
            model.add(fem.Revolute.at(other, end, [k * L, 0, 0], [0, 1, 0], name=f"pin {k}"))
        factors.append(fem.buckling(model, 1).load_factors[0])
    euler = np.pi**2 * modulus * b * h**3 / 12 / L**2 / load
    assert factors[1] == pytest.approx(factors[0], rel=5e-4)  # ten modes, small displacements before it buckles
    assert factors[0] == pytest.approx(euler, rel=2e-3)  # shear 4e-4, one element over the height


def test_frequencies_of_a_free_superelement_are_those_of_its_matrices():
    """Next to rigid motions, whose inverse eigenvalue is huge, they were off by up to 1e-4."""
    reduction = fem.reduce_mesh(bar(), SOFT, {"tip": "x0"}, modes=12)
    model = fem.Model("free bar")
    model.add(fem.Superelement(reduction, name="bar"))
    omega = np.sqrt(eigh(reduction.K, reduction.M, eigvals_only=True)[6:])
    np.testing.assert_allclose(fem.modes(model, 18).omega[6:], omega, rtol=1e-9)


def test_frequency_response_of_a_superelement_is_the_sum_of_its_damped_modes():
    reduction = fem.reduce_mesh(bar(), SOFT, {"tip": "x0", "end": "x1"}, modes=12)
    zeta = 0.03
    body = fem.Superelement(reduction, damping=zeta, name="bar")
    model = fem.Model("free bar")
    model.add(body)
    hertz = np.array([20.0, 100.0, 300.0, 1000.0])
    port = (body.frame("tip").node, "z")
    found = fem.frequency_response(model, port, [port], hertz).response[:, 0, 0]
    squares, shapes = eigh(reduction.K, reduction.M)
    squares[:6] = 0.0
    rate = 2 * np.pi * hertz[:, None]
    modal = shapes[2] ** 2 / (squares - rate**2 + 2j * zeta * np.sqrt(squares) * rate)
    np.testing.assert_allclose(found, modal.sum(axis=1), rtol=1e-6)


def test_a_part_is_reduced_in_any_unit():
    """In micrometres round-off of moments, 1e12 of forces, was taken for resistance to rigid motions."""
    slim = fem.block_mesh([1, 0.05, 0.05], [10, 1, 1])
    found = []
    for metre in (1.0, 1e3, 1e6):
        mesh = slim.moved(lambda x, metre=metre: x * metre)
        material = fem.SolidMaterial(1e9 / metre, 0.3, 1000.0 / metre**3)
        fem.reduce_mesh(mesh, material, {"a": "x0"}, modes=6)  # all of its stiffness is round-off
        reduction = fem.reduce_mesh(mesh, material, {"a": "x0", "b": "x1"}, modes=6, stiffening=("a", "b"))
        omega = np.sqrt(eigh(reduction.K, reduction.M, eigvals_only=True)[6:])
        found.append([*omega, *reduction.interface_frequencies, *reduction.pull_stiffness.ravel()])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)
