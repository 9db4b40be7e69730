"""Solid elements against published benchmarks, wave theory, beams, and tables measured with another code.

"Prototype" numbers are those of a NumPy program written for the formulation before these elements were, with the same
meshes; their digits are the tolerance. Literature: MacNeal & Harder 1985 (twisted beam), Cook, Malkus & Plesha (Cook's
membrane), Bathe & Bolourchi 1979 (45 degree bend).
"""

import numpy as np
import pytest
from solid_models import block, linear_displacements, mean_at, system_of

import fem_mbs as fem


def free_in(body, *components):
    """Let the nodes of a body move in some directions only."""
    held = [c for c in "xyz" if c not in components]
    whole = body.mesh.with_group("all", np.arange(len(body.mesh.points)))
    body.mesh.groups["all"] = whole.groups["all"]
    body.fix("all", held)


def cantilever(kind, n, across, nu=0.3, height=1.0):
    """Mean deflection of the tip under a unit shear traction."""
    body = block(kind, [10, height, height], [n, across, across], E=1e3, nu=nu)
    body.fix("x0")
    system = system_of(body, fem.SurfaceTraction(body, "x1", [0, 0, 1.0]))
    return mean_at(body, system, linear_displacements(system), "x1")[2]


@pytest.mark.parametrize(
    ("kind", "one", "two"),
    [
        ("tetra4", (0.0361, 0.0990, 0.1942), (0.1175, 0.2897)),
        ("tetra10", (0.8817, 0.9511, 0.9788), (0.9631, 0.9868)),
        ("hexa8", (0.0930, 0.2803, 0.5678), (0.2875, 0.6028)),
        ("hexa8e", (0.9038, 0.9679, 0.9899), (0.9456, 0.9785)),
        ("hexa20", (0.8945, 0.9608, 0.9838), (0.9729, 0.9902)),
    ],
)
def test_cantilever_bends_as_the_prototype_and_near_to_timoshenko(kind, one, two):
    fine = 3.998711  # prototype, hexa20 40 x 4 x 4; Timoshenko 4.0312
    assert [cantilever(kind, n, 1) / fine for n in (2, 4, 8)] == pytest.approx(one, abs=6e-5)
    assert [cantilever(kind, n, 2) / fine for n in (4, 8)] == pytest.approx(two, abs=6e-5)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("tetra4", (0.0398, 0.0304, 0.0229)), ("hexa8", (0.0895, 0.2131, 0.3840)), ("hexa8e", (0.7051, 0.8319, 0.9205)),
        ("tetra10", (0.6219, 0.8662, 0.9651)), ("hexa20", (0.7833, 0.9197, 0.9755)),
    ],
)  # fmt: skip
def test_nearly_incompressible_cantilever_locks_as_the_table_says(kind, found):
    """n × 2 × 2 elements, n = 4, 8, 16, ν = 0.499."""
    # the table divides by a mesh of hexa20 with 8 points: one of its numbers, 8 elements of hexa20, says by how much
    fine = cantilever("hexa20", 8, 2, nu=0.499) / 0.9197
    assert [cantilever(kind, n, 2, nu=0.499) / fine for n in (4, 8, 16)] == pytest.approx(found, abs=1.5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "one", "two", "slender"),
    [
        ("tetra4", 0.2613, 0.4691, (0.0015, 0.0057, 0.0215)),
        ("tetra10", 0.9899, 0.9956, (0.9391, 0.9720, 0.9873)),
        ("hexa8", 0.7658, 0.8350, (0.0041, 0.0163, 0.0619)),
        ("hexa8e", 0.9981, 0.9922, (0.9629, 0.9855, 0.9943)),
        ("hexa20", 0.9929, 0.9965, (0.9459, 0.9763, 0.9899)),
    ],
)
def test_fine_and_slender_cantilevers_bend_as_the_prototype(kind, one, two, slender):
    """16 elements along; then 4, 8, 16 along a beam of 10 × 0.1 × 0.1: what locks in shear is seen.

    The prototype's table does not say by what it divides the last ones. Beam theory is 400; all fifteen agree with
    399.40.
    """
    assert cantilever(kind, 16, 1) / 3.998711 == pytest.approx(one, abs=6e-5)
    assert cantilever(kind, 16, 2) / 3.998711 == pytest.approx(two, abs=6e-5)
    found = [cantilever(kind, n, 1, height=0.1) / 399.40 for n in (4, 8, 16)]
    assert found == pytest.approx(slender, abs=1.5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "omega"),
    [
        ("hexa8e", (0.010303, 0.010184, 0.010136)), ("hexa20", (0.010399, 0.010236, 0.010173)),
        ("tetra10", (0.010429, 0.010252, 0.010186)), ("hexa8", (0.019034, 0.013428, 0.011568)),
    ],
)  # fmt: skip
def test_first_frequency_of_a_cantilever(kind, omega):
    """10 × 1 × 1, E = ρ = 1, ν = 0.3, n × 1 × 1 elements, n = 4, 8, 16; fine mesh 0.0101272."""
    found = []
    for n in (4, 8, 16):
        body = block(kind, [10, 1, 1], [n, 1, 1], E=1.0, nu=0.3, density=1.0)
        body.fix("x0")
        model = fem.Model("cantilever")
        model.add(body)
        found.append(fem.modes(model, n=1).omega[0])
    assert found == pytest.approx(omega, abs=6e-7)


def twisted(kind, divisions):
    """1e3 times the tip displacement of MacNeal and Harder's beam under unit loads along z and y."""

    def form(x):
        angle, y, z = x[:, 0] / 12 * np.pi / 2, x[:, 1] - 0.55, x[:, 2] - 0.16
        c, s = np.cos(angle), np.sin(angle)
        return np.column_stack([x[:, 0], c * y - s * z, s * y + c * z])

    found = []
    for axis in (2, 1):
        body = block(kind, [12, 1.1, 0.32], divisions, E=29e6, nu=0.22, form=form)
        body.fix("x0")
        system = system_of(body, fem.SurfaceTraction(body, "x1", np.eye(3)[axis] / (1.1 * 0.32)))
        found.append(1e3 * mean_at(body, system, linear_displacements(system), "x1")[axis])
    return found


@pytest.mark.parametrize(
    ("kind", "divisions", "prototype"),
    [
        ("hexa8e", (6, 1, 1), (4.969, 1.602)), ("hexa8e", (12, 2, 1), (5.380, 1.730)),
        ("tetra10", (6, 1, 1), (5.098, 1.653)), ("tetra10", (12, 2, 1), (5.354, 1.738)),
        ("hexa20", (6, 1, 1), (5.218, 1.710)), ("hexa8", (12, 2, 1), (1.119, 0.583)),
    ],
)  # fmt: skip
def test_twisted_beam(kind, divisions, prototype):
    assert twisted(kind, divisions) == pytest.approx(prototype, abs=6e-4)


@pytest.mark.parametrize(
    ("kind", "prototype"),
    [
        ("tetra4", (0.900, 0.567)), ("hexa8", (2.658, 1.037)), ("hexa8e", (5.419, 1.748)), ("tetra10", (5.401, 1.750)),
        ("hexa20", (5.405, 1.752)),
    ],
)  # fmt: skip
def test_twisted_beam_on_the_third_mesh_of_the_prototype(kind, prototype):
    """24 × 4 × 1 elements; the prototype's table says 24 × 4 × 2, and all of its numbers are those of this mesh."""
    assert twisted(kind, (24, 4, 1)) == pytest.approx(prototype, abs=6e-4)


@pytest.mark.slow
def test_twisted_beam_converges_to_the_published_tip():
    # MacNeal & Harder: (5.424, 1.754) of beam theory
    for kind in ("hexa8e", "tetra10", "hexa20", "wedge15"):
        assert twisted(kind, (24, 4, 2)) == pytest.approx((5.424, 1.754), rel=4e-3)
    assert twisted("hexa20", (36, 6, 3)) == pytest.approx((5.41923, 1.75288), abs=6e-6)


def cook(kind, n, nu):
    """Displacement of the tip (48, 60) of Cook's membrane in plane strain."""

    def form(x):
        low, high = 44 * x[:, 0], 44 + 16 * x[:, 0]
        return np.column_stack([48 * x[:, 0], low + (high - low) * x[:, 1], x[:, 2]])

    body = block(kind, [1, 1, 1], [n, n, 1], nu=nu, form=form)
    free_in(body, "x", "y")
    body.fix("x0")
    system = system_of(body, fem.SurfaceTraction(body, "x1", [0, 1 / 16, 0]))
    return linear_displacements(system)[body.node_at([48, 60, 0]).index, 1]


@pytest.mark.parametrize(
    ("kind", "plain", "soft"),
    [
        ("hexa8", (10.403, 16.249, 20.088), (5.085, 5.207, 5.350)),
        ("hexa8e", (19.194, 21.141, 21.930), (15.995, 17.600, 18.552)),
        ("hexa20", (20.540, 21.885, 22.295), (11.074, 16.514, 18.222)),
    ],
)
def test_cooks_membrane(kind, plain, soft):
    assert [cook(kind, n, 1 / 3) for n in (2, 4, 8)] == pytest.approx(plain, abs=6e-4)
    assert [cook(kind, n, 0.4999) for n in (2, 4, 8)] == pytest.approx(soft, abs=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "plain", "soft"),
    [
        ("hexa8", (21.679,), (5.779,)), ("hexa8e", (22.286,), (19.013,)), ("hexa20", (22.471,), (18.870,)),
        ("tetra10", (19.772, 21.661, 22.206, 22.436), (9.857, 15.744, 18.006, 18.834)),
    ],
)  # fmt: skip
def test_cooks_membrane_on_fine_meshes_and_with_tetrahedra(kind, plain, soft):
    """ν = 1/3: 22.5788 on a fine mesh of the prototype; ν = 0.4999: 19.2816.

    Tetrahedra differ by up to 2e-4, and 1.2e-3 with the second, from the prototype's, whose cubes may be cut along
    other diagonals.
    """
    meshes = (2, 4, 8, 16)[-len(plain) :]
    assert [cook(kind, n, 1 / 3) for n in meshes] == pytest.approx(plain, rel=3e-4)
    assert [cook(kind, n, 0.4999) for n in meshes] == pytest.approx(soft, rel=1.3e-3 if kind == "tetra10" else 3e-4)


def bend_45(kind, n):
    """Mean of the tip of an arc of 45 degrees, radius 100, section 1 x 1, under an end load of 600 across it."""

    def form(x):
        angle, r = x[:, 0] * np.pi / 4, 100 - (x[:, 1] - 0.5)
        return np.column_stack([r * np.sin(angle), 100 - r * np.cos(angle), x[:, 2] - 0.5])

    body = block(kind, [1, 1, 1], [n, 1, 1], E=1e7, nu=0.0, form=form)
    body.fix("x0")
    model = fem.Model("bend")
    model.add(body, fem.SurfaceTraction(body, "x1", [0, 0, 600.0]))
    result = fem.static_equilibrium(model, steps=6, stability=False)
    x, y, z = np.mean([result.position(node) for node in body.nodes_of("x1")], axis=0)
    return y, x, z, result


@pytest.mark.parametrize(
    ("kind", "n", "prototype"),
    [
        ("hexa8e", 16, (47.4183, 15.6550, 53.2212)),
        ("hexa20", 8, (50.0884, 15.1035, 51.0621)),
        ("hexa20", 16, (47.4019, 15.6385, 53.2555)),
    ],
)
def test_45_degree_bend_at_large_displacements(kind, n, prototype):
    y, x, z, result = bend_45(kind, n)
    # the table has the arc along the other axis: (x, y, z) of it is (x, y, z) here
    assert (x, y, z) == pytest.approx(prototype, abs=6e-5)
    assert max(result.iterations) <= 10  # quadratic convergence: the tangent is exact


@pytest.mark.slow
def test_45_degree_bend_converges_to_the_beam_of_its_own_torsion():
    # beams (47.1504, 15.6848, 53.4749) with J = 1/6, what one element over the section has
    prototype = {"hexa8e": (47.1790, 15.6864, 53.4473), "tetra10": (47.1542, 15.6863, 53.4663)}
    for kind in ("hexa8e", "tetra10", "hexa20", "wedge15"):
        y, x, z, _ = bend_45(kind, 32)
        assert (x, y, z) == pytest.approx((47.1504, 15.6848, 53.4749), rel=1.2e-3)
        assert (x, y, z) == pytest.approx(prototype.get(kind, (x, y, z)), abs=6e-5)
    y, x, z, _ = bend_45("hexa8", 16)
    assert (x, y, z) == pytest.approx((69.4, 27.1, 16.2), abs=0.06)  # locks


def test_wedges_bend_and_lock_as_the_cells_they_are_made_next_to():
    """Two wedges for each hexahedron; no prototype had them. Wedge15 is near to Hexa20, Wedge6 locks as Hexa8 does."""
    fine = 3.998711
    for wedge, hexa, near in (("wedge15", "hexa20", 4e-3), ("wedge6", "hexa8", 1.5e-2)):
        for n in (4, 8):
            assert cantilever(wedge, n, 1) / fine == pytest.approx(cantilever(hexa, n, 1) / fine, abs=near)
    assert cantilever("wedge15", 16, 2) / fine == pytest.approx(1.0, abs=4e-3)
    assert cantilever("wedge15", 16, 1, height=0.1) / 399.40 == pytest.approx(1.0, abs=1.2e-2)  # slender, no locking
    assert cook("wedge15", 16, 1 / 3) == pytest.approx(22.5788, rel=7e-3)  # fine mesh of the prototype
    assert cook("wedge15", 16, 0.4999) == pytest.approx(19.2816, rel=3e-2)
    assert bar_errors("wedge15", "consistent") == pytest.approx((1.43e-5, 1.10e-3, 7.9e-7, 6.4e-5), rel=0.02)
    assert bar_errors("wedge15", "consistent")[0] < bar_errors("hexa20", "consistent")[0]


def bar_errors(kind, mass):
    """Relative errors of the first two axial frequencies of a clamped bar with 4 and 8 elements."""
    errors = []
    for n in (4, 8):
        body = block(kind, [10, 1, 1], [n, 1, 1], nu=0.0, mass=mass)
        free_in(body, "x")
        body.fix("x0")
        omega = fem.modes(system_of(body), 2).omega
        errors.append(omega / (np.pi / 20 * np.array([1, 3])) - 1)
    return np.ravel(errors)


@pytest.mark.parametrize(
    ("kind", "mass", "prototype"),
    [
        ("hexa8", "consistent", (6.4e-3, 5.8e-2, 1.6e-3, 1.5e-2)),
        ("hexa8", "lumped", (-6.4e-3, -5.7e-2, -1.6e-3, -1.4e-2)),
        ("hexa20", "consistent", (1.6e-5, 1.3e-3, 1.0e-6, 8.2e-5)),
        ("hexa20", "lumped", (-4.0e-3, -3.7e-2, -2.2e-3, -1.9e-2)),
        ("tetra10", "consistent", (1.2e-5, 9.6e-4, 6.4e-7, 5.1e-5)),
        ("tetra10", "lumped", (-1.1e-3, -9.7e-3, -6.6e-4, -5.8e-3)),
    ],
)
def test_axial_frequencies_of_a_bar(kind, mass, prototype):
    assert bar_errors(kind, mass) == pytest.approx(prototype, rel=0.05)  # two digits are given


@pytest.mark.parametrize(
    ("kind", "n", "omega"),
    [
        ("hexa20", 2, (1.79767, 2.45422, 2.46007)), ("hexa20", 4, (1.77412, 2.39039, 2.42983)),
        ("tetra10", 4, (1.78051, 2.39044, 2.43154)), ("hexa8", 8, (1.79877, 2.42993, 2.46828)),
        ("hexa8e", 8, (1.79774, 2.41801, 2.46566)), ("hexa20", 6, (1.77191, 2.38629, 2.42655)),
        ("tetra4", 8, (1.87452, 2.47523, 2.50752)),
    ],
)  # fmt: skip
def test_free_cube_has_six_rigid_motions_and_the_frequencies_of_the_prototype(kind, n, omega):
    found = fem.modes(system_of(block(kind, [1, 1, 1], [n, n, n])), 14).omega
    assert np.abs(found[:6]).max() < 1e-5  # √ of the round-off of the stiffness
    assert found[[6, 8, 11]] == pytest.approx(omega, abs=4e-5)  # `modes` of free bodies: the shift costs digits


@pytest.mark.parametrize(("kind", "n", "omega"), [("hexa20", 4, 1.6579), ("tetra10", 4, 1.7322), ("hexa8", 8, 1.7445)])
def test_lumped_elements_are_as_poor_as_the_table_says(kind, n, omega):
    """First frequency of the free cube, 1.7719 on a fine mesh: 6.5, 2.2 and 1.5 % below."""
    found = fem.modes(system_of(block(kind, [1, 1, 1], [n, n, n], mass="lumped")), 8).omega
    assert found[6] == pytest.approx(omega, abs=6e-5)


@pytest.mark.parametrize(
    ("kind", "unstable"), [("hexa8", (0, 0, 2)), ("tetra10", (0, 0, 2)), ("hexa20", (0, 2, 3)), ("hexa8e", (2, 19, 40))]
)
def test_stability_under_large_compression(kind, unstable):
    """Negative eigenvalues of the stiffness at stretches 0.6, 0.5 and 0.4, neo-Hookean, lateral free; hexa8e folds."""
    n = 4 if kind.startswith("hexa8") else 2
    counts = []
    for stretch in (0.6, 0.5, 0.4):
        body = block(kind, [1, 1, 1], [n, n, n], E=1.0, nu=0.3, law="neo-hookean")
        lam, mu = body.material.lam, body.material.mu
        side = 1.0  # lateral stretch of zero lateral stress: μ(s² − 1) + λ ln(s² stretch) = 0, by Newton
        for _ in range(50):
            side -= (mu * (side**2 - 1) + lam * np.log(side**2 * stretch)) / (2 * mu * side + 2 * lam / side)
        body.fix("x0", "x")
        body.fix("x1", "x")  # the sides are free: three rigid motions are left, of eigenvalue 0
        system = system_of(body)
        state = system.initial.copy()
        state.x[1:] = body.reference * [stretch, side, side]
        K = system.matrices(state)[2].toarray()
        counts.append(int((np.linalg.eigvalsh(0.5 * (K + K.T)) < -1e-9).sum()))
    assert tuple(counts) == unstable
