"""Files as other programs write them: each cell once, shortened and quoted words, tabs, marks, OBJ; nothing is lost."""

import warnings

import meshio
import numpy as np
import pytest

import fem_mbs as fem

CUBE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
NODES = "".join(f"{k}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(CUBE, 1))
HEXA = "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1,2,3,4,5,6,7,8\n"
DECK = f"*NODE\n{NODES}{HEXA}"
GRIDS = "".join(f"GRID,{k},,{x}.,{y}.,{z}.\n" for k, (x, y, z) in enumerate(CUBE, 1))
BULK = f"BEGIN BULK\n{GRIDS}CHEXA,1,1,1,2,3,4,5,6,+\n+,7,8\n"
TETRA = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def group(tmp_path, text, name):
    return fem.read_mesh(write(tmp_path / "part.inp", text)).nodes_of(name).tolist()


def test_a_cell_that_gmsh_writes_for_each_of_its_groups_weighs_once(tmp_path):
    nodes = NODES.replace(",", "")
    text = (
        '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 "all"\n3 2 "part"\n$EndPhysicalNames\n'
        f"$Nodes\n8\n{nodes}$EndNodes\n"
        "$Elements\n2\n1 5 2 1 1 1 2 3 4 5 6 7 8\n2 5 2 2 1 1 2 3 4 5 6 7 8\n$EndElements\n"
    )
    path = write(tmp_path / "cube.msh", text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = fem.read_mesh(path)
    assert mesh.volume == pytest.approx(1.0) and fem.mass_of_mesh(path, 2.0).mass == pytest.approx(2.0)
    assert mesh.group("all")["hexahedron"].tolist() == mesh.group("part")["hexahedron"].tolist() == [0]


def test_a_cell_that_any_file_has_twice_weighs_once_and_is_warned_of(tmp_path):
    points, cell = np.array(CUBE, float), np.arange(8)
    meshio.write(tmp_path / "cube.vtu", meshio.Mesh(points, [("hexahedron", np.array([cell, cell]))]))
    with pytest.warns(UserWarning, match=r"cube\.vtu'.* 1 cells of type hexahedron"):
        assert fem.read_mesh(tmp_path / "cube.vtu").volume == pytest.approx(1.0)
    given = meshio.Mesh(points, [("hexahedron", np.array([cell, cell]))])
    with pytest.warns(UserWarning, match="points of others"):
        assert fem.mass_of_mesh(given, 3.0).mass == pytest.approx(3.0)


@pytest.mark.parametrize("ending, text", [("inp", DECK + HEXA), ("bdf", BULK + "CHEXA,1,1,1,2,3,4,5,6,+\n+,7,8\n")])
def test_an_element_label_twice_is_one_cell_or_rejected(tmp_path, ending, text):
    path = write(tmp_path / f"part.{ending}", text)
    with pytest.warns(UserWarning, match=r"defines 1 elements twice \(1\)"):
        assert fem.read_mesh(path).volume == pytest.approx(1.0)
    first, _, last = text.rpartition("7,8")
    with pytest.raises(fem.ParameterError, match=r"element 1.*twice"):
        fem.read_mesh(write(path, f"{first}8,7{last}"))


ASSEMBLY = f"""*PART, NAME=P
*NODE, NSET=OWN
{NODES}{HEXA}*END PART
*ASSEMBLY, NAME=A
*INSTANCE, NAME=I, PART=P
*END INSTANCE
*INSTANCE, NAME="J.1", PART=P
0, 0, 5
*END INSTANCE
*NODE
1, 9, 9, 9
*NSET, NSET=RP, INTERNAL
1,
*NSET, NSET=mixed
1, I.2, "J.1".3, J2
*END ASSEMBLY
"""


def test_a_set_of_the_assembly_has_its_own_nodes_and_those_of_the_instances_it_names(tmp_path):
    text = ASSEMBLY.replace("*NSET, NSET=mixed", '*NSET, NSET=J2, INSTANCE="J.1"\n7, 8\n*NSET, NSET=mixed')
    mesh = fem.read_mesh(write(tmp_path / "part.inp", text), units="mm")
    assert mesh.nodes_of("RP").tolist() == [16] and len(mesh.nodes_of("OWN")) == 16
    assert mesh.nodes_of("mixed").tolist() == [1, 10, 14, 15, 16]


@pytest.mark.parametrize(
    "text, members",
    [
        ("*NSET, NSET=A, GEN\n1, 7, 2\n", [0, 2, 4, 6]),
        ("*NSE, NS=A, UNSORT\n1, 7\n", [0, 6]),
        ("*nset , nset = A\n 1 ,\t7\n", [0, 6]),
        ("** warning\n  *NSET, NSET=A\n1, 7\n", [0, 6]),
        ('*NSET, NSET="left, of it"\n1, 7\n*NSET, NSET=A\n"left, of it", 2\n', [0, 1, 6]),
        ("*SURFACE, NAME=A, TY=NO\n1,\n7,\n", [0, 6]),
        ("*HEADING\n *this is text\n*NSET, NSET=A,\nINTERNAL\n1, 7\n", [0, 6]),
    ],
)
def test_words_are_shortened_spaced_and_quoted_as_abaqus_allows(tmp_path, text, members):
    assert group(tmp_path, DECK + text, "A") == members


@pytest.mark.parametrize(
    "text, words",
    [
        ("*NSET, NSET=A\n1, nowhere\n", r"line 12, '\*NSET, NSET=A'.*'nowhere'"),
        ("*NODESET, NSET=A\n1\n", r"\*NODESET.*not supported"),
        ("*EL, TYPE=C3D8\n", r"\*EL .*\*ELEMENT or \*ELSET"),
        ("*NSET, NSET=A, BY=2\n1\n", r"BY.*parameter.*\*NSET"),
        ("*NSET\n1, 2\n", r"\*NSET needs NSET="),
        ("*SURFACE, NAME=S\nnowhere, S1\n", "line 12, .*element set 'nowhere'"),
        ("*IMPORT, STEP=1\n", r"path = .*write nodes and elements"),
    ],
)
def test_words_that_abaqus_files_cannot_mean_are_rejected_by_name(tmp_path, text, words):
    with pytest.raises(fem.ParameterError, match=words):
        fem.read_mesh(write(tmp_path / "part.inp", DECK + text))


@pytest.mark.parametrize(
    "text, words",
    [
        ("*NSET, NSET=A\n1, 77\n", "set 'A'.* 1 nodes.*77 first"),
        ("*SURFACE, NAME=S\nALL,\n", "surface 'S'.*free faces"),
        ("*SURFACE, NAME=S, COMBINE=UNION\nT, U\n", "surface 'S'.*combined"),
    ],
)
def test_sets_that_are_read_in_part_are_warned_of(tmp_path, text, words):
    with pytest.warns(UserWarning, match=words):
        fem.read_mesh(write(tmp_path / "part.inp", DECK + text))


def test_sections_materials_and_steps_of_a_deck_are_passed_over(tmp_path):
    text = "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*MATERIAL, NAME=M\n*ELASTIC\n1., .3\n"
    text += "*STEP\n*STATIC\n*NODE PRINT\nU\n*ENDSTEP\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fem.read_mesh(write(tmp_path / "part.inp", DECK + text)).volume == pytest.approx(1.0)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_names_and_marks_of_any_encoding_are_read(tmp_path, encoding):
    path = write(tmp_path / "part.inp", DECK + "*NSET, NSET=Fläche\n1, 2\n", encoding)
    assert fem.read_mesh(path).nodes_of("Fläche").tolist() == [0, 1]


MORE = "".join(f"GRID,{k},,{x}.,{y}.,2.\n" for k, (x, y, _) in enumerate(CUBE[:4], 9))


def test_cards_with_tabs_are_cells_like_others(tmp_path):
    text = BULK + MORE + "CHEXA\t2\t1\t5\t6\t7\t8\t9\t10\n\t11\t12\nENDDATA\n"
    assert fem.read_mesh(write(tmp_path / "part.bdf", text)).volume == pytest.approx(2.0)


def test_a_pyramid_of_optistruct_is_a_cell_and_unknown_solids_are_rejected_by_name(tmp_path):
    top = "GRID,9,,.5,.5,2.\n"
    path = write(tmp_path / "part.fem", BULK + top + "CPYRA,2,1,5,6,7,8,9\nENDDATA\n")
    assert fem.mass_of_mesh(path, 1.0).mass == pytest.approx(4 / 3)
    with pytest.raises(fem.ParameterError, match=r"line 13, 'CGASK8,2.*not supported.*CTETRA"):
        fem.read_mesh(write(path, BULK + top + "CGASK8,2,1,1,2,3,4,5,6,+\n+,7,8\nENDDATA\n"))


def test_what_stands_after_the_end_of_bulk_data_is_not_read(tmp_path):
    lost = "CHEXA,2,1,1,2,3,4,5,6,+\n+,7,9\n"
    path = write(tmp_path / "part.bdf", BULK + "ENDDATA\nGRID,9,,5.,5.,5.\n" + lost)
    assert fem.read_mesh(path).volume == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    [
        "v 9 9 9\n" + TETRA + "f -4 -2 -3\nf -4 -3 -1\nf -4 -1 -2\nf -3 -2 -1\n",
        TETRA.replace("\n", " 1 0 0\n") + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        TETRA + "vn 0 0 1\nf 1//1 3//1 2//1\nf 1//1 2//1 4//1\nf 1//1 4//1 3//1\nf 2//1 3//1 4//1\n",
        TETRA + "vt 0 0\nf 1/1 3/1 2/1\nf 1/1 2/1 4/1\nf 1/1 4/1 3/1\nf 2/1 3/1 4/1\n",
        "mtllib a.mtl\no t\n" + TETRA + "usemtl m\ns off\ng a\nf 1 3 2\nf 1 2 4 # c\nf 1 4\\\n 3\nf 2 3 4\n",
    ],
    ids=["negative", "colours", "normals", "textures", "groups"],
)
def test_a_tetrahedron_in_any_spelling_of_obj_weighs_a_sixth(tmp_path, text):
    path = write(tmp_path / "part.obj", text)
    assert fem.mass_of_mesh(path, 1.0).mass == pytest.approx(1 / 6)
    assert fem.read_mesh(path, units="m").cells["triangle"].shape == (4, 3)


def test_a_prism_with_sides_of_six_corners_keeps_them(tmp_path):
    turn = np.arange(6) * np.pi / 3
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    points = "".join(f"v {x:.17g} {y:.17g} {z}\n" for z in (0, 2) for x, y in ring)
    sides = "".join(f"f {k + 1} {(k + 1) % 6 + 1} {(k + 1) % 6 + 7} {k + 7}\n" for k in range(6))
    path = write(tmp_path / "prism.obj", f"{points}g ends\nf 6 5 4 3 2 1\nf 7 8 9 10 11 12\ng sides\n{sides}")
    assert fem.mass_of_mesh(path, 1.0).mass == pytest.approx(3 * np.sqrt(3), rel=1e-12)
    mesh = fem.read_mesh(path)
    assert mesh.group("ends")["triangle"].size == 8 and mesh.group("sides")["quad"].size == 6


def test_polygons_of_other_formats_weigh_as_triangles(tmp_path):
    turn = np.arange(5) * 2 * np.pi / 5
    points = np.array([[np.cos(a), np.sin(a), z] for z in (0, 1) for a in turn])
    ends = np.array([[4, 3, 2, 1, 0], [5, 6, 7, 8, 9]])
    sides = np.array([[k, (k + 1) % 5, (k + 1) % 5 + 5, k + 5] for k in range(5)])
    given = meshio.Mesh(points, [("quad", sides), ("polygon", ends)])
    assert fem.mass_of_mesh(given, 1.0).mass == pytest.approx(2.5 * np.sin(2 * np.pi / 5))


@pytest.mark.parametrize(
    "text, words",
    [
        ("f 1 2 9\n", "line 5, 'f 1 2 9'.*point"),
        ("f 0 1 2\n", "point.*not there"),
        ("f 1 2\n", "three points"),
        ("f a b c\n", "invalid literal"),
        ("curv 0 1 1 2\n", "'curv'.*not supported"),
        ("v 1 2\n", "three coordinates"),
    ],
)
def test_obj_files_that_cannot_be_right_are_rejected_with_their_line(tmp_path, text, words):
    with pytest.raises(fem.ParameterError, match=words):
        fem.read_mesh(write(tmp_path / "part.obj", TETRA + text))
