"""Linear buckling of what bends before it buckles: beams, shells and superelements.

Differences of tangents, which turn with the bending, find a column that is bent by 2e-4 of its length too soft by a
tenth, and one that is bent by a tenth at 1/40 of Euler's load.
"""

import numpy as np
import pytest
from stress_stiffness import both

import fem_mbs as fem

E = 1e6
L, WIDTH, THICKNESS = 20.0, 2.0, 0.2
EULER = np.pi**2 * E * WIDTH * THICKNESS**3 / 12 / (4 * L**2)


def of_beams(poses):
    root, tip = fem.Node6(fixed=True), fem.Node6([L, 0, 0])
    section = fem.Section.rectangle(WIDTH, THICKNESS, E=E, nu=0.0, density=1.0)
    return [fem.beam_line(root, tip, 16, section, poses=poses, orientation=[0, 1, 0])], [tip]


def of_shells(cell):
    mesh = fem.panel_mesh([L, WIDTH], [16, 1], cell=cell)
    body = fem.ShellBody(mesh, fem.ShellSection(fem.SolidMaterial(E, 0.0, 1.0), THICKNESS), name="column")
    body.fix("x0")
    return [body], body.nodes_of("x1")


def chain(sides, divisions, parts, model, **options):
    """Clamped bar of alike superelements; its last frame."""
    length, width, height = sides
    form = lambda x: x - [0, width / 2, height / 2]  # noqa: E731
    mesh = fem.block_mesh([length / parts, width, height], divisions, cell="hexahedron20", form=form)
    part = fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.0, 1.0), {"a": "x0", "b": "x1"}, modes=10, **options)
    last = model.ground.frame()
    for k in range(parts):
        body = fem.Superelement(part, position=[k * length / parts, 0, 0], name=f"part {k}")
        model.add(body, fem.Fixed(last, body.frame("a")))
        last = body.frame("b")
    return last


def pressed(parts, ends, moment):
    model = fem.Model("column")
    model.add(*parts)
    for node in ends:
        model.add(fem.PointForce(node, [-1 / len(ends), 0, 0]), fem.PointMoment(node, [0, -moment / len(ends), 0]))
    return model


def reduced_column(moment, parts=1, **options):
    model = fem.Model("column")
    end = chain([L, WIDTH, THICKNESS], [16 // parts, 1, 1], parts, model, **options)
    model.add(fem.PointForce(end, [-1, 0, 0]), fem.PointMoment(end, [0, -moment, 0]))
    return model


COLUMNS = {
    "beams": lambda moment: pressed(*of_beams(3), moment),
    "two-node beams": lambda moment: pressed(*of_beams(2), moment),
    "quads": lambda moment: pressed(*of_shells("quad"), moment),
    "triangles": lambda moment: pressed(*of_shells("triangle"), moment),
    "superelement": lambda moment: reduced_column(moment, stiffening=("a", "b")),
    "four superelements": lambda moment: reduced_column(moment, parts=4, stiffening=("a", "b")),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_moment_that_bends_a_column_changes_nothing_of_its_buckling_load(name):
    straight, bent = (fem.buckling(COLUMNS[name](moment), 1).load_factors[0] for moment in (0.0, 2.0))
    assert straight == pytest.approx(EULER, rel=2e-3)  # 16 quads: 1.6e-3
    # bent by 0.1 L at its load: round-off and what the differences of 1e-4 leave
    assert bent == pytest.approx(straight, rel=1e-5)


STRIP = 20.0, 0.05, 1.0  # length, thickness, height


def prandtl():
    length, t, h = STRIP
    return 4.0126 * np.sqrt(E * h * t**3 / 12 * E / 2 * h * t**3 / 3 * (1 - 0.63 * t / h)) / length**2


@pytest.mark.parametrize("cell, measured", [("quad", 1.036), ("triangle", 1.023)])
def test_a_strip_of_shells_tips_over_at_the_load_of_prandtl(cell, measured):
    length, t, h = STRIP
    body = fem.ShellBody(
        fem.panel_mesh([length, h], [40, 4], cell=cell),
        fem.ShellSection(fem.SolidMaterial(E, 0.0, 1.0), t),
        name="strip",
    )
    body.fix("x0")
    model = fem.Model("strip")
    model.add(body, fem.EdgeTraction(body, "x1", [0, -1 / h, 0]))
    found = fem.buckling(model, 1)
    # the clamped end cannot warp, which shortens the strip by some tenth of its height, as one of solids (1.03)
    assert 1.0 < found.load_factors[0] / prandtl() < 1.05 and not found.warnings
    assert found.load_factors[0] / prandtl() == pytest.approx(measured, abs=2e-3)


def reduced_strip(parts):
    model = fem.Model("strip")
    end = chain(STRIP, [40 // parts, 1, 2], parts, model, coupling={"a": "averaged", "b": "averaged"})
    model.add(fem.PointForce(end, [0, 0, -1]))
    return fem.buckling(model, 1)


def test_a_strip_of_one_superelement_says_that_it_buckles_late_and_divided_ones_approach_prandtl():
    """A linear component has no bending stresses; forces between components it has."""
    found = [reduced_strip(parts) for parts in (1, 2, 4)]
    ratios = np.array([one.load_factors[0] for one in found]) / prandtl()
    assert 1.3 < ratios[0] and abs(ratios[2] - 1) < 0.05
    assert (np.diff(ratios) < 0).all()
    assert "'part 0' (100%" in found[0].warnings[0]
    assert "Divide them" in str(found[0]) and "1 more" in found[2].warnings[0]


def test_only_stresses_without_a_pattern_are_remarked():
    assert not fem.buckling(reduced_column(0.0, stiffening=("a", "b")), 1).warnings
    (remark,) = fem.buckling(reduced_column(0.0), 1).warnings
    assert "stiffening=(" in remark
    (remark,) = fem.buckling(reduced_column(0.02, stiffening=("a", "b")), 1).warnings
    assert "11% of its" in remark  # M²L/2EI over that and N²L/2EA


def test_a_pull_on_a_superelement_buckles_nothing_with_a_pattern_and_is_remarked_without():
    for options in ({"stiffening": ("a", "b")}, {}):
        model = fem.Model("bar")
        end = chain([L, WIDTH, THICKNESS], [16, 1, 1], 1, model, **options)
        model.add(fem.PointForce(end, [1, 0, 0]))
        if options:
            with pytest.raises(fem.SolverError, match="no critical load"):
                fem.buckling(model)
        else:
            assert "under a pull" in fem.buckling(model).warnings[0]


def test_the_stiffness_of_forces_on_frames_is_what_a_turn_feels_of_them():
    """y·K_g(v) y is the third derivative of the energy along v, y, y, where y is a turn, whose own strain is zero."""
    model, rng = fem.Model("one"), np.random.default_rng(8)
    mesh = fem.block_mesh([2.0, 0.5, 0.3], [4, 1, 1], cell="hexahedron20")
    part = fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.3, 1.0), {"a": "x0", "b": "x1"}, modes=5, stiffening=("a", "b"))
    element = fem.Superelement(part, rotation=[0.3, -0.8, 0.5], position=[1, 2, 3])
    model.add(element)
    system = fem.System(model, check=False)
    state, w = system.initial.copy(), rng.normal(size=3)
    moved, y = np.zeros_like(state.V), np.zeros_like(state.V)
    for node in element.nodes[: element.places]:
        moved[node.index] = 0.1 * rng.normal(size=6)
        y[node.index] = np.concatenate([np.cross(w, state.x[node.index]), state.R[node.index].T @ w])
    for node in element.nodes[element.places :]:
        moved[node.index, :3] = 0.1 * rng.normal(size=3)
    y = system.reduced(y)
    found, expected = both(system, element, moved, y)
    assert found == pytest.approx(expected, rel=1e-6)
