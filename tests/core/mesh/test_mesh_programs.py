"""Meshes of Abaqus and Nastran: cells in their numbering, sets, surfaces, instances, supports, and errors."""

import warnings

import meshio
import numpy as np
import pytest
from mesh_texts import abaqus_text, nastran_text

import fem_mbs as fem
from fem_mbs.mesh.files import unjoined

CELLS = {
    "tetra": ("C3D4", "CTETRA"), "tetra10": ("C3D10M", "CTETRA"), "hexahedron": ("C3D8I", "CHEXA"),
    "hexahedron20": ("C3D20R", "CHEXA"), "wedge": ("C3D6", "CPENTA"), "wedge15": ("C3D15", "CPENTA"),
}  # fmt: skip


def bent(x):
    """Curved sides: middle nodes in a wrong order would be another volume, or cells turned inside out."""
    return np.column_stack([x[:, 0], x[:, 1] + 0.2 * x[:, 0] ** 2, x[:, 2] + 0.1 * x[:, 0] * x[:, 1]])


def brick(kind):
    return fem.block_mesh([2, 1, 1], [2, 1, 1], cell=kind, form=bent)


def write(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("spelling", [str, str.lower])
def test_every_cell_of_abaqus_has_its_volume_and_set(tmp_path, kind, spelling):
    mesh = brick(kind)
    text = spelling(abaqus_text(mesh, kind, CELLS[kind][0]))
    read = fem.read_mesh(write(tmp_path / "brick.inp", text))
    assert read.volume == pytest.approx(mesh.volume, rel=1e-6)  # six digits are written
    assert list(read.cells) == [kind] and len(read.nodes_of(spelling("BODY"))) == len(mesh.points)
    assert np.abs(read.points - mesh.points).max() < 1e-5


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("form", [{}, {"free": True}, {"large": True}, {"above": ""}], ids=str)
def test_every_cell_of_nastran_has_its_volume_and_property(tmp_path, kind, form):
    mesh = brick(kind)
    read = fem.read_mesh(write(tmp_path / "brick.bdf", nastran_text(mesh, kind, CELLS[kind][1], **form)))
    assert read.volume == pytest.approx(mesh.volume, rel=2e-4)  # four digits are written
    assert sorted(read.groups) == ["SPC1 1", "property 7", "property 8"]
    assert read.nodes_of("SPC1 1").tolist() == [0, 1, 2]
    body = fem.SolidBody(read, fem.SolidMaterial(1.0, 0.3, 2.0), group="property 7")
    assert 0.0 < body.volume < mesh.volume


def test_numbers_and_names_that_nastran_writes_in_its_own_way(tmp_path):
    text = (
        nastran_text(brick("hexahedron"), "hexahedron", "CHEXA").replace("  2.0000", "    .2+1").replace("GRID", "grid")
    )
    assert fem.read_mesh(write(tmp_path / "brick.dat", text)).points[:, 0].max() == 2.0


SETS = """*NSET, NSET=ROOT, GENERATE
11, 17, 3
*NSET, nset=Tip
13, 16,
ROOT
*ELSET, ELSET=FIRST
1
*SURFACE, NAME=Under, TYPE=ELEMENT
BODY, S1
*SURFACE, NAME=end
FIRST, S6
*SURFACE, NAME=points, TYPE=NODE
Tip, 1.0
*MATERIAL, NAME=STEEL
*ELASTIC
210e9, 0.3
*ELEMENT, TYPE=MASS, ELSET=M
7, 11
"""


@pytest.mark.parametrize("kind", ["hexahedron", "hexahedron20"])
def test_sets_and_surfaces_of_abaqus_are_groups_of_points_cells_and_faces(tmp_path, kind):
    straight = fem.block_mesh([2, 1, 1], [2, 1, 1], cell=kind)
    read = fem.read_mesh(
        write(tmp_path / "part.inp", abaqus_text(straight, kind, "C3D" + kind[10:].ljust(1, "8"), SETS))
    )
    assert read.nodes_of("ROOT").tolist() == [0, 3, 6]
    assert read.nodes_of("Tip").tolist() == read.nodes_of("points").tolist() == [0, 2, 3, 5, 6]
    assert read.groups["FIRST"][kind].tolist() == [0] and "M" not in read.groups
    body = fem.SolidBody(read, fem.SolidMaterial(1.0, 0.3, 1.0))
    # S1 is the lower side, S6 that of the corners 4, 1, 5, 8: x = 0; both look outwards
    for name, area, normal in (("Under", 2.0, [0, 0, -1]), ("end", 1.0, [-1, 0, 0])):
        load = fem.SurfacePressure(body, name, 1.0, name=name)
        assert load.area == pytest.approx(area) and load.total == pytest.approx(-area * np.array(normal))


INSTANCES = """*END PART
*ASSEMBLY, NAME=A
*INSTANCE, NAME=one, PART=brick
*END INSTANCE
*INSTANCE, NAME=two, PART=Brick
0., 0., 3.
0., 0., 3., 0., 0., 4., 90.
*END INSTANCE
*NSET, NSET=foot, INSTANCE=two
11, 12
*NSET, NSET=both
one.11, two.11
*ELSET, ELSET=_S1, INTERNAL, INSTANCE=two
1
*SURFACE, NAME=S
_S1, S6
*END ASSEMBLY
"""


def test_instances_of_abaqus_are_where_the_assembly_puts_them(tmp_path):
    """meshio leaves them where their part is, without a warning."""
    mesh = fem.block_mesh([2, 1, 1], [2, 1, 1], cell="hexahedron")
    text = abaqus_text(mesh, "hexahedron", "C3D8", INSTANCES, above="*PART, NAME=Brick\n")
    read = fem.read_mesh(write(tmp_path / "two.inp", text))
    n = len(mesh.points)
    turned = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert read.points[:n] == pytest.approx(mesh.points)
    assert read.points[n:] == pytest.approx(mesh.points @ turned.T + [0, 0, 3], abs=1e-12)
    assert read.nodes_of("foot").tolist() == [n, n + 1] and read.nodes_of("both").tolist() == [0, n]
    assert len(read.nodes_of("one")) == len(read.nodes_of("two")) == n and read.nodes_of("two").min() == n
    assert (
        read.points[read.nodes_of("S"), 1] == pytest.approx(np.zeros(4), abs=1e-12)
        and len(read.nodes_of("ALL")) == 2 * n
    )


BAD_ABAQUS = [
    (("C3D8,", "C3D27,"), r"line \d+, '\*ELEMENT, TYPE=C3D27.*elements of type C3D27 are not supported"),
    (("C3D8,", "CPS6,"), "CPS6 has 6 nodes, which the lines below do not give"),
    (("*NODE,", "*INCLUDE, INPUT=nodes.inp\n*NODE,"), r"line 3, '\*INCLUDE.*there is no file 'nodes\.inp'"),
    (("*NODE,", "*NODE, SYSTEM=S,"), "SYSTEM=S is not supported; write nodes in cartesian or cylindrical"),
    (("12, 1, 0, 0", "12, one, 0, 0"), r"line 3.*cannot be read \(could not convert string to float: 'ONE'\)"),
    (("12, 1, 0, 0", "11, 1, 0, 0"), "has node 11 twice"),
    (("12, 1, 0, 0\n", ""), "has a cell with node 12, which is not there"),
    (("*ELEMENT, TYPE", "*ELEMENT, KIND"), "KIND is no parameter of"),
    (("*NODE, NSET=ALL", "** NODE"), "has no nodes or no elements of Abaqus"),
]


@pytest.mark.parametrize(("change", "words"), BAD_ABAQUS)
def test_input_files_that_cannot_be_right_are_rejected_with_their_line(tmp_path, change, words):
    text = abaqus_text(fem.block_mesh([2, 1, 1], [2, 1, 1], cell="hexahedron"), "hexahedron", "C3D8")
    assert change[0] in text
    with pytest.raises(fem.ParameterError, match=words):
        fem.read_mesh(write(tmp_path / "bad.inp", text.replace(*change)))


BAD_NASTRAN = [
    (("GRID,1,,", "GRID,1,5,"), "has grid 1 in coordinate system 5: coordinate system 5 is not there"),
    (("GRID,2,,1", "GRID,2,,x"), "line 5, .*cannot be read"),
    (("CHEXA,1,7,1,", "CHEXA,1,7,,"), "has 7 nodes; a CHEXA must have 8 or 20, without gaps"),
    (("BEGIN BULK\n", "BEGIN BULK\nINCLUDE 'other.bdf'\n"), "line 4, 'INCLUDE.*there is no file 'other.bdf'"),
    (("GRID,2,,", "GRID,1,,"), "has node 1 twice"),
    (("GRID,2,,1.0000,0.0000,0.0000\n", ""), "has a cell with node 2, which is not there"),
    (("CHEXA", "CBAR"), "has no GRID, or no cells"),
]


@pytest.mark.parametrize(("change", "words"), BAD_NASTRAN)
def test_bulk_data_that_cannot_be_right_are_rejected_with_their_line(tmp_path, change, words):
    text = nastran_text(fem.block_mesh([2, 1, 1], [2, 1, 1], cell="hexahedron"), "hexahedron", "CHEXA", free=True)
    assert change[0] in text
    with pytest.raises(fem.ParameterError, match=words):
        fem.read_mesh(write(tmp_path / "bad.bdf", text.replace(*change)))


@pytest.mark.parametrize("name", ["part.inp", "part.bdf", "part.msh", "part.vtu", "part.vtk", "part.stl", "part.med"])
@pytest.mark.parametrize("text", ["", "no mesh\n", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 9 1 9\n"])
def test_empty_and_cut_files_of_any_format_are_rejected_by_name(tmp_path, name, text):
    with pytest.raises(fem.ParameterError, match=name.replace(".", r"\.")):
        fem.read_mesh(write(tmp_path / name, text))


def test_units_that_were_mistaken_and_cells_that_are_not_joined_are_reported(tmp_path):
    mesh = fem.block_mesh([200, 50, 50], [2, 1, 1], cell="hexahedron")  # millimetres
    path = write(tmp_path / "part.inp", abaqus_text(mesh, "hexahedron", "C3D8"))
    with pytest.warns(UserWarning, match=r"^read_mesh: .*part\.inp'.* 200 m .*units"):
        fem.read_mesh(path)
    with pytest.warns(UserWarning, match=r'200 m .*metres.*units="mm"'):
        fem.mass_of_mesh(path, 7850.0)
    points = np.vstack([mesh.points, mesh.points])
    cells = mesh.cells["hexahedron"]
    apart = fem.Mesh(points, {"hexahedron": np.vstack([cells[:1], cells[1:] + len(mesh.points)])})
    write(path, abaqus_text(apart, "hexahedron", "C3D8"))
    with pytest.warns(UserWarning, match=r"4 points.*joined"):
        fem.read_mesh(path, units="mm")


def test_points_that_differ_by_round_off_are_reported_wherever_they_lie():
    mesh = fem.block_mesh([1, 1, 1], [2, 1, 1], cell="hexahedron")
    cells, right = mesh.cells["hexahedron"], mesh.points + 1e-12
    for shift in np.arange(0.0, 1e-8, 0.25e-9):  # over the borders of any grid
        points = np.vstack([mesh.points, right]) + [shift, 0, 0]
        apart = fem.Mesh(points, {"hexahedron": np.vstack([cells[:1], cells[1:] + len(right)])})
        (told,) = unjoined(apart)
        assert "4 points of cells" in told


def test_a_surface_is_rejected_as_a_solid_with_what_makes_one_of_it(tmp_path):
    box = fem.shapes.Box([1, 1, 1])
    surface = fem.Mesh(box.points, {"quad": np.vstack(box.faces)})
    with pytest.raises(fem.ParameterError, match=r"group = .*no solid cells.*6 quad.*mesh_from_cad"):
        fem.SolidBody(surface, fem.SolidMaterial(1.0, 0.3, 1.0))


@pytest.mark.parametrize("kind", ["hexahedron", "quad"])
def test_parts_of_some_metres_are_asked_about_unless_the_unit_is_said(tmp_path, kind):
    """Most parts drawn in millimetres have 5 to 500 of them: above 5 m the question is worth its line."""
    mesh = (
        fem.block_mesh([40, 20, 15], [2, 1, 1], cell=kind) if kind == "hexahedron" else fem.panel_mesh([40, 20], [2, 1])
    )
    meshio.write(tmp_path / "part.vtu", meshio.Mesh(mesh.points, list(mesh.cells.items())))
    with pytest.warns(UserWarning, match=r"part\.vtu'.* 40 m .*units=\"m\""):
        fem.read_mesh(tmp_path / "part.vtu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.ptp(fem.read_mesh(tmp_path / "part.vtu", units="m").points, axis=0).max() == 40
        assert np.ptp(fem.read_mesh(tmp_path / "part.vtu", units="mm").points, axis=0).max() == pytest.approx(0.04)


def test_a_body_made_of_a_drawing_in_millimetres_is_asked_about(tmp_path):
    box = fem.shapes.Box([40.0, 20.0, 15.0])  # mm: 12 cm³, 94.2 g
    meshio.write(tmp_path / "part.stl", meshio.Mesh(box.points, [("triangle", triangles(box))]))
    with pytest.warns(UserWarning, match=r"part\.stl'.* 40 m .*metres"):
        fem.RigidBody.from_mesh(tmp_path / "part.stl", 7850.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for body in (
            fem.RigidBody.from_mesh(tmp_path / "part.stl", 7850.0, scale=1e-3),
            fem.RigidBody.from_mesh(fem.read_mesh(tmp_path / "part.stl", units="mm"), 7850.0),
        ):
            assert body.mass == pytest.approx(0.0942, rel=1e-6)


def triangles(box):
    """Triangles of the faces of a box, turned outwards as these are."""
    faces = [np.asarray(rows) for rows in box.faces]
    return np.concatenate([rows[:, [0, k, k + 1]] for rows in faces for k in range(1, rows.shape[1] - 1)])


@pytest.mark.parametrize("maker", ["block", "panel"])
def test_a_form_that_closes_a_ring_without_joining_it_is_reported(maker):
    def ring(part):
        """A part of a ring: x is the part of a turn, y the width, z the thickness."""

        def form(x):
            angle, radius = 2 * np.pi * part * x[:, 0], 1.0 - x[:, 2]
            return np.column_stack([radius * np.sin(angle), x[:, 1], -radius * np.cos(angle)])

        if maker == "block":
            return fem.block_mesh([1, 1, 0.1], [12, 1, 1], cell="hexahedron", form=form)
        return fem.panel_mesh([1, 1], [12, 1], form=form)

    with pytest.warns(UserWarning, match=f"{maker}_mesh: .*{4 if maker == 'block' else 2} points"):
        ring(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ring(0.9)
