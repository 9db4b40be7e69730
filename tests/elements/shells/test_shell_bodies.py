"""Bodies of shells: sides and folds of surfaces, groups, loads, refusals."""

import math
import warnings

import numpy as np
import pytest
from shell_models import CARBON, CELLS, STEEL, deflection, inner, linear, model_of, plate, posed, section, strip

import fem_mbs as fem
from fem_mbs.rotations import exp
from fem_mbs.system.checks import element_checks

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
    with pytest.raises(fem.ParameterError, match=r"mesh = .*warped"):
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


def test_cells_with_different_sides_up_are_rejected_or_turned_over():
    with pytest.raises(fem.ParameterError, match=r"mesh = .*4 edges.*orient=True"):
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
    with pytest.raises(fem.ParameterError, match=r"mesh = .*1 edges.*sides"):
        fem.ShellBody(ribbed(True), sheet)
    for body in (fem.ShellBody(ribbed(True), sheet, orient=True), fem.ShellBody(ribbed(False), sheet)):
        assert fem.SurfacePressure(body, "skin", 3.0).total == pytest.approx([0, 0, -6.0])
    # three walls at 120° have no side in common: as they are
    a = np.sqrt(0.75)
    star = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [-0.5, a, 0], [-0.5, a, 1], [-0.5, -a, 0], [-0.5, -a, 1]]
    fem.ShellBody(fem.Mesh(star, {"quad": [[0, 2, 3, 1], [0, 4, 5, 1], [0, 1, 7, 6]]}), sheet)


def test_a_flap_next_to_the_one_that_continues_keeps_its_side():
    """Of two cells that continue a third within the fold, the straighter one is its pair; the other is free."""
    points = [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1], [-1, 0, 0], [-1, 0, 1], [-0.9, 0.4, 0], [-0.9, 0.4, 1]]
    for flap in ([0, 1, 7, 6], [6, 7, 1, 0]):
        mesh = fem.Mesh(points, {"quad": [flap, [0, 2, 3, 1], [0, 1, 5, 4]]})
        assert len(fem.ShellBody(mesh, section(1.0, 0.3, 0.1)).elements) == 3


@pytest.mark.parametrize("orient", [False, True])
def test_cells_that_lie_on_each_other_are_rejected(orient):
    """They would be a sheet twice as thick; the same cell again, turned over, or a quadrilateral over triangles."""
    mesh = fem.panel_mesh([1, 1], [2, 2])
    quads, sheet = mesh.cells["quad"], section(1.0, 0.3, 0.1)
    for again in (quads[3], quads[3, ::-1], np.roll(quads[3], 1)):
        with pytest.raises(fem.ParameterError, match=r"mesh = .*on each other.* one at .* m"):
            fem.ShellBody(fem.Mesh(mesh.points, {"quad": [*quads, again]}), sheet, orient=orient)
    both = {"quad": quads[:1], "triangle": quads[:1][:, [[0, 1, 2], [0, 2, 3]]][0]}
    with pytest.raises(fem.ParameterError, match=r"mesh = .*on each other"):
        fem.ShellBody(fem.Mesh(mesh.points, both), sheet, orient=orient)


def test_two_quadrilaterals_around_a_peak_are_no_cells_on_each_other():
    """They have three corners in common, and enclose nothing: only all four corners make one cell twice."""
    peak = fem.Mesh(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0.5]], {"quad": [[0, 1, 4, 3], [1, 2, 3, 4]]}
    )
    assert len(fem.ShellBody(peak, section(1.0, 0.3, 0.1)).elements) == 2


def test_a_moebius_strip_is_rejected():
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
    with pytest.raises(fem.ParameterError, match=r"section = .*4 cells of type quad"):
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
    with pytest.raises(fem.ParameterError, match=r"group = .*no cells"):
        fem.SurfacePressure(body, "x1", 1.0)
    solid = fem.SolidBody(fem.block_mesh([1, 1, 1], [1, 1, 1]), STEEL)
    with pytest.raises(fem.ParameterError, match=r"body = .*a ShellBody"):
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
    with pytest.raises(fem.ParameterError, match=r"group = .*8 edges.* 2 inside"):
        fem.EdgeTraction(body, "rim", [0, 0, 2])
    # one cell across: line cells of both long sides, whose nodes are all there are
    ribbon = fem.panel_mesh([3, 1], [3, 1])
    sides = [[k, k + 1] for k in (0, 1, 2, 4, 5, 6)]
    ribbon = fem.Mesh(ribbon.points, dict(ribbon.cells) | {"line": sides}, {"sides": {"line": range(6)}})
    load = fem.EdgeTraction(fem.ShellBody(ribbon, section(1.0, 0.3, 0.1)), "sides", [0, 0, 1])
    assert load.total == pytest.approx([0, 0, 6])


def test_a_moment_about_the_normal_of_one_node_is_reported():
    """It meets the stiffness of drilling alone, c A_66 a: the angle grows as cells shrink. Several nodes carry it."""
    told = r"Shell4 'plate \d+' \(and 3 more\): a node is rotated about its normal by 0\.\d* rad"
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


def test_a_moment_about_the_normal_of_several_nodes_is_not_reported():
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


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_wrong_shells_are_rejected_with_a_cure():
    nodes = [fem.Node6(x) for x in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0])]
    sheet = fem.ShellSection(STEEL, 1e-3)
    mesh = fem.panel_mesh([1, 1], [2, 2])
    with pytest.raises(fem.ParameterError, match="a Shell4 has 4"):
        fem.Shell4(nodes[:3], sheet)
    with pytest.raises(fem.ParameterError, match=r"nodes = .*a Node6"):
        fem.Shell4([*nodes[:3], fem.Node3()], sheet)
    with pytest.raises(fem.ParameterError, match="has a node twice"):
        fem.Shell4([nodes[0], nodes[0], nodes[2], nodes[3]], sheet)
    with pytest.raises(fem.ParameterError, match=r"nodes = .*inwards"):
        fem.Shell4([nodes[0], nodes[2], nodes[1], nodes[3]], sheet)
    with pytest.raises(fem.ParameterError, match=r"nodes = .*without area"):
        fem.Shell3([*nodes[:2], fem.Node6([2, 0, 0])], sheet)
    with pytest.raises(fem.ParameterError, match=r"(?s)directors .*length"):
        fem.Shell4(nodes, sheet, directors=np.tile([0, 0, 2.0], (4, 1)))
    with pytest.raises(fem.ParameterError, match=r"nodes = .*60°"):
        fem.Shell4(nodes, sheet, directors=np.tile([0, 0, -1.0], (4, 1)))
    with pytest.raises(fem.ParameterError, match=r"thickness = 0\.0 m.*> 0"):
        fem.ShellSection(STEEL, 0.0)
    with pytest.raises(fem.ParameterError, match="law='st-venant-kirchhoff'"):
        fem.ShellSection(fem.SolidMaterial(1.0, 0.3, 1.0, law="neo-hookean"), 0.1)
    with pytest.raises(fem.ParameterError, match=r"nu12 = .*−3\.74166 and 3\.74166"):
        fem.PlyMaterial(140e9, 10e9, 4.0, 5e9, 5e9, 3.5e9, 1600)
    with pytest.raises(fem.ParameterError, match=r"angle = 45\.0.*degrees.*0\.785398 rad"):
        fem.ShellSection.layered([(CARBON, 1e-3, 45)])
    with pytest.raises(fem.ParameterError, match=r"layers .*list"):
        fem.ShellSection.layered([(STEEL, 1e-3)])
    plies = fem.ShellSection.layered([(CARBON, 1e-3, 0.0)])
    with pytest.raises(fem.ParameterError, match=r"axis .*directions"):
        fem.ShellBody(mesh, plies)
    with pytest.raises(fem.ParameterError, match=r"axis = .*along the normal"):
        fem.ShellBody(mesh, plies, axis=[0, 0, 1])
    with pytest.raises(fem.ParameterError, match=r"triangle6.*corners"):
        fem.ShellBody(
            fem.Mesh(np.random.default_rng(0).normal(size=(6, 3)), {"triangle6": [[0, 1, 2, 3, 4, 5]]}), sheet
        )
    with pytest.raises(fem.ParameterError, match=r"group = .*triangles or quadrilaterals.*1 hexahedron20"):
        fem.ShellBody(fem.block_mesh([1, 1, 1], [1, 1, 1]), sheet)
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [3, 0, 0], [4, 0, 0], [5, 0, 0]]
    flat = fem.Mesh(points, {"triangle": [[0, 1, 2], [3, 4, 5]]})
    with pytest.raises(fem.ParameterError, match=r"mesh = .*triangle.*without area.*number 1,.*\[4\.0, 0"):
        fem.ShellBody(flat, sheet)
    with pytest.raises(fem.ParameterError, match=r"normals = .*length one"):
        fem.ShellBody(mesh, sheet, normals=lambda x: 2 * x)


def test_wrong_panels_are_rejected():
    with pytest.raises(fem.ParameterError, match=r"sides = .*1\.5 times.*cylinder"):
        fem.panel_mesh([1, 3 * math.pi], [2, 8], radius=1.0)
    with pytest.raises(fem.ParameterError, match=r"divisions = .*cylinder.*three cells"):
        fem.panel_mesh([1, 2 * math.pi], [2, 2], radius=1.0)
    with pytest.raises(fem.ParameterError, match=r"sides = .*positive"):
        fem.panel_mesh([1, -1], [2, 2])


def test_a_folded_shell_stops_a_run_with_its_place():
    body = fem.ShellBody(fem.panel_mesh([1, 1], [1, 1]), section(1.0, 0.3, 0.1), name="leaf")
    _, state = posed(body, body.reference, np.array([np.eye(3)] * 3 + [exp([2.0, 0, 0])]))
    assert "Shell4 'leaf 0' near [0.5, 0.5, 0.0] m" in body.elements[0].trouble(state)


@pytest.mark.parametrize("cell", ["quad", "triangle"])
@pytest.mark.parametrize("side", [1e-3, 1.0, 1e3])
def test_a_shell_is_folded_where_a_normal_lies_in_its_surface(cell, side):
    """By a millionth of a radian on either side of a right angle, at each corner, in any unit."""
    leaf = fem.ShellBody(fem.panel_mesh([side, side], [1, 1], cell=cell), section(1.0, 0.3, 0.1 * side), name="leaf")
    model = fem.Model("leaf")
    model.add(leaf)
    system = model.compile()
    for node in leaf.nodes:
        for beyond in (-1e-6, 1e-6):
            state = system.initial.copy()
            state.R[node.index] = exp([0.5 * np.pi + beyond, 0, 0])
            found = element_checks.trouble(system, state)
            assert (found is not None and "is folded" in found[1]) == (beyond > 0)


def mesh_with_hanging_node(thin=1.0):
    """A square of one cell next to two cells of half its size; the node between them is on its edge."""
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 0.5, 0], [2, 1, 0], [1, 0.5, 0]]
    cells = [[0, 1, 2, 3], [1, 4, 5, 7], [7, 5, 6, 2]]
    return fem.Mesh(np.array(points) * [1.0, 1.0, thin], {"quad": np.array(cells)})


def test_nodes_on_edges_of_cells_that_end_elsewhere_are_reported():
    """The surface is open along that edge, as a slit whose ends are joined."""
    section = fem.ShellSection(fem.SolidMaterial(2e11, 0.3, 7800.0), thickness=0.01)
    with pytest.warns(UserWarning, match=r"'skin'.*edges.*\[1\.0, 0\.5, 0\.0\] m"):
        fem.ShellBody(mesh_with_hanging_node(), section, name="skin")
    mesh = mesh_with_hanging_node()
    halves = {"quad": mesh.cells["quad"][1:], "triangle": np.array([[0, 1, 7], [0, 7, 3], [7, 2, 3]])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.ShellBody(fem.Mesh(mesh.points, halves), section)
        fem.ShellBody(fem.panel_mesh([1.0, 0.5], [4, 3], radius=0.5), section)
