"""Files of Gmsh, STL and OBJ: groups of all dimensions, partitions, headers, polygons; nothing is lost in silence."""

import struct
import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.mesh.polygons import triangles_of

gmsh = pytest.importorskip("gmsh")

CORNER = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
VERSIONS = [(2.2, 0), (2.2, 1), (4.0, 0), (4.1, 0), (4.1, 1)]


@pytest.fixture(params=VERSIONS, ids=lambda one: f"MSH {one[0]} {'binary' if one[1] else 'text'}")
def two_boxes(request, tmp_path):
    """Function that writes two boxes with a face in common; returns the path and numbers of nodes of the groups."""
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    gmsh.option.setNumber("General.Verbosity", 0)
    gmsh.option.setNumber("Mesh.MeshSizeMin", 2.0)
    gmsh.model.add("two boxes")
    occ = gmsh.model.occ
    occ.fragment([(3, occ.addBox(0, 0, 0, 1, 1, 1))], [(3, occ.addBox(1, 0, 0, 1, 1, 1))])
    occ.synchronize()
    left = [tag for _, tag in gmsh.model.getEntities(2) if occ.getCenterOfMass(2, tag)[0] < 1e-9]
    groups = {(3, 1): ([1, 2], "all of it"), (3, 2): ([1], "left"), (3, 3): ([2], ""), (2, 7): (left, "Fläche"),
              (2, 8): ([-left[0]], "left")}  # fmt: skip

    def write(second=False, partitions=0, parametric=0):
        for (dimension, number), (tags, name) in groups.items():
            gmsh.model.addPhysicalGroup(dimension, tags, number, name)
        gmsh.model.mesh.generate(3)
        if second:
            gmsh.model.mesh.setOrder(2)
        counts = {pair: len(gmsh.model.mesh.getNodesForPhysicalGroup(*pair)[0]) for pair in groups}
        if partitions:
            gmsh.model.mesh.partition(partitions)
        version, binary = request.param
        options = {"MshFileVersion": version, "Binary": binary, "SaveParametric": parametric}
        for name, value in options.items():
            gmsh.option.setNumber(f"Mesh.{name}", value)
        gmsh.write(str(tmp_path / "part.msh"))
        return tmp_path / "part.msh", counts

    yield write
    gmsh.finalize()


def checked(path, counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = fem.read_mesh(path)
    assert mesh.volume == pytest.approx(2.0) and fem.mass_of_mesh(path, 3.0).mass == pytest.approx(6.0)
    assert len(mesh.nodes_of("all of it")) == counts[3, 1] and len(mesh.nodes_of("physical 3")) == counts[3, 3]
    assert len(mesh.nodes_of("Fläche")) == counts[2, 7]
    kinds = mesh.group("left")  # of two dimensions
    solid, surface = (next(kind for kind in kinds if kind.startswith(name)) for name in ("tetra", "triangle"))
    assert len(np.unique(mesh.cells[solid][kinds[solid]])) == counts[3, 2]
    assert len(np.unique(mesh.cells[surface][kinds[surface]])) == counts[2, 8]


def test_all_physical_groups_of_gmsh_are_read_whatever_they_share(two_boxes):
    """Cells in two groups, one name in two dimensions, a group without a name, one of a reversed surface."""
    checked(*two_boxes())


def test_cells_of_second_order_of_gmsh_have_their_volume(two_boxes):
    checked(*two_boxes(second=True))


def test_parts_that_gmsh_has_divided_for_several_processors_are_whole(two_boxes, request):
    if "4.0" in request.node.name:
        pytest.skip("Gmsh writes no complete partitions in MSH 4.0")
    checked(*two_boxes(partitions=2))


def test_parameters_of_nodes_do_not_matter_or_the_version_that_has_them_is_rejected(two_boxes, request):
    path, counts = two_boxes(parametric=1)
    if "2.2" in request.node.name:
        with pytest.raises(fem.ParameterError, match=r"\$Nodes.*MSH 4.1"):
            fem.read_mesh(path)
    else:
        checked(path, counts)


EDGES = {  # of VTK, in the order of the nodes in their middles
    "tetra10": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    "hexahedron20": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
    "wedge15": [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    "pyramid13": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)],
    "quad8": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "triangle6": [(0, 1), (1, 2), (2, 0)],
}
WHOLE = {"hexahedron27": "hexahedron20", "wedge18": "wedge15", "pyramid14": "pyramid13", "quad9": "quad8"}
NUMBERS = {"tetra10": 11, "hexahedron20": 17, "wedge15": 18, "pyramid13": 19, "quad8": 16, "triangle6": 9,
           "hexahedron27": 12, "wedge18": 13, "pyramid14": 14, "quad9": 10}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_nodes_in_the_middle_of_edges_are_where_vtk_has_them(tmp_path, kind):
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        _, dimension, _, count, places, _ = gmsh.model.mesh.getElementProperties(NUMBERS[kind])
    finally:
        gmsh.finalize()
    points = np.zeros((count, 3))
    points[:, :dimension] = np.reshape(places, (count, dimension))
    nodes = "".join(f"{k} {x} {y} {z}\n" for k, (x, y, z) in enumerate(points, 1))
    element = " ".join(map(str, range(1, count + 1)))
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{count}\n{nodes}$EndNodes\n"
    (tmp_path / "part.msh").write_text(f"{text}$Elements\n1\n1 {NUMBERS[kind]} 0 {element}\n$EndElements\n")
    mesh = fem.read_mesh(tmp_path / "part.msh", check=False)
    (cell,) = mesh.points[mesh.cells[kind]]
    edges = EDGES[WHOLE.get(kind, kind)]
    corners = 1 + max(map(max, edges))
    assert cell[corners : corners + len(edges)] == pytest.approx(
        np.array([cell[list(pair)].mean(axis=0) for pair in edges])
    )
    if kind in ("hexahedron27", "quad9"):
        assert cell[-1] == pytest.approx(cell[:corners].mean(axis=0))
    if kind == "hexahedron27":  # sides x, y, z
        sides = [(0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4), (3, 2, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7)]
        assert cell[20:26] == pytest.approx(np.array([cell[list(side)].mean(axis=0) for side in sides]))


MSH = """$Comments
made by hand
$EndComments
$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
3 1 "it's 5" \\ wide"
$EndPhysicalNames
$Nodes
4
11 0 0 0
12 1 0 0
13 0 1 0
14 0 0 1
$EndNodes
$Elements
1
1 4 2 1 1 11 12 13 14
$EndElements
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_marks_ends_of_lines_and_names_of_msh_files_are_read(tmp_path, encoding, ending):
    text = MSH.replace("wide", "für").replace("\n", ending)
    (tmp_path / "part.msh").write_bytes(text.encode(encoding))
    mesh = fem.read_mesh(tmp_path / "part.msh")
    assert mesh.volume == pytest.approx(1 / 6) and list(mesh.groups) == ["it's 5\" \\ für"]


@pytest.mark.parametrize(
    "change, words",
    [
        (("$Elements\n1", "$Elements\n2"), "1 cells.*declares 2"),
        (("$Nodes\n4", "$Nodes\n3"), r"\$Nodes.*longer"),
        (("$Nodes\n4", "$Nodes\n5"), r"path = .*shorter"),
        (("14\n$EndE", "19\n$EndE"), r"path = .*node 19"),
        (("14 0 0 1", "13 0 0 1"), r"path = .*node 13 twice"),
        (("$EndElements\n", ""), r"\$Elements.*line 18.*\$EndElements"),
        (("1 4 2", "1 29 2"), "type 29.*not supported.*Mesh.ElementOrder"),
        (("2.2 0 8", "3.0 0 8"), r"version 3\.0.*not supported.*MSH 4\.1"),
        (("$Nodes", "$NOD"), "version 1.*not supported"),
        (("12 1 0 0", "12 x 0 0"), r"path = .*section \$Nodes"),
    ],
)
def test_msh_files_that_cannot_be_right_are_rejected_with_their_section(tmp_path, change, words):
    assert change[0] in MSH
    (tmp_path / "part.msh").write_text(MSH.replace(*change))
    with pytest.raises(fem.ParameterError, match=words):
        fem.read_mesh(tmp_path / "part.msh")


# --- STL and OBJ ------------------------------------------------------------------------------------------------------


def binary(head, faces, points=CORNER):
    rows = (struct.pack("<12fH", 0, 0, 0, *np.ravel([points[k] for k in face]), 0) for face in faces)
    return head.ljust(80)[:80] + struct.pack("<I", len(faces)) + b"".join(rows)


def solid(name, shift=0.0):
    rows = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(CORNER[k][0] + shift, *CORNER[k][1:]) for k in face)
        + "endloop\nendfacet\n"
        for face in FACES
    )
    return f"solid {name}\n{rows}endsolid {name}\n"


@pytest.mark.parametrize(
    "raw",
    [
        binary(b"solid by a program", FACES),
        binary(b"solid facet", FACES),
        binary(b"COLOR=red", FACES) + b"\n",
        binary(b"x", [*FACES, (0, 0, 1)]),
        binary(b"x", [face[::-1] for face in FACES]),
        solid("part").upper().encode(),
        solid("Körper").encode("latin-1"),
        b"\xef\xbb\xbf" + solid("vertex 1 2 3").replace("\n", "\r\n").encode(),
    ],
    ids=["solid", "solid facet", "tail", "sliver", "inside out", "capitals", "latin", "mark"],
)
def test_a_tetrahedron_in_any_spelling_of_stl_weighs_a_sixth(tmp_path, raw):
    (tmp_path / "part.stl").write_bytes(raw)
    assert fem.mass_of_mesh(tmp_path / "part.stl", 1.0).mass == pytest.approx(1 / 6)
    assert len(fem.read_mesh(tmp_path / "part.stl").points) == 4  # facets have points in common


def test_solids_of_an_stl_file_are_groups(tmp_path):
    (tmp_path / "part.stl").write_text(solid("a") + solid("b", 5.0))
    mesh = fem.read_mesh(tmp_path / "part.stl", units="m")
    assert {name: mesh.points[mesh.nodes_of(name), 0].min() for name in mesh.groups} == {"a": 0.0, "b": 5.0}
    assert fem.mass_of_mesh(tmp_path / "part.stl", 1.0, scale=2.0).mass == pytest.approx(16 / 6)


@pytest.mark.parametrize(
    "raw, words",
    [
        (binary(b"x", FACES)[:-10], "274 bytes.*284"),
        (binary(b"x", FACES) + bytes(1000), "4 triangles, 284 bytes.*1284"),
        (solid("a").replace("vertex 1.0 0 0\n", "", 1).encode(), "line 7, 'endfacet': facet 1"),
        (solid("a").replace("vertex 1.0 0", "vertex 1,0 0", 1).encode(), "line 6, .*could not convert string to float"),
        (b"too short", r"path = .*too short"),
    ],
)
def test_stl_files_that_lack_something_are_rejected_with_what_it_is(tmp_path, raw, words):
    (tmp_path / "part.stl").write_bytes(raw)
    with pytest.raises(fem.ParameterError, match=words):
        fem.mass_of_mesh(tmp_path / "part.stl", 1.0)


POINTS = "".join("v {} {} {}\n".format(*x) for x in CORNER)
SIDES = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize(
    "text",
    [POINTS + SIDES.replace("1 3 2", "1 3 \\  \n2"), SIDES + POINTS, POINTS + SIDES.replace("f ", "fo ")],
    ids=["continued", "points behind", "outlines"],
)
def test_other_spellings_of_obj_are_the_same_surface(tmp_path, text):
    (tmp_path / "part.obj").write_text(text)
    assert fem.mass_of_mesh(tmp_path / "part.obj", 1.0).mass == pytest.approx(1 / 6)


def test_an_object_of_an_obj_file_is_a_group_next_to_those_in_it(tmp_path):
    (tmp_path / "part.obj").write_text("o upper arm\ng skin outside\n" + POINTS + SIDES)
    mesh = fem.read_mesh(tmp_path / "part.obj")
    assert sorted(mesh.groups) == ["outside", "skin", "upper arm"] and len(mesh.nodes_of("upper arm")) == 4


@pytest.mark.parametrize("first", range(6))
def test_a_concave_polygon_becomes_triangles_that_fill_it_and_do_not_overlap(tmp_path, first):
    ring = np.roll([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)], -first, axis=0).astype(float)
    points = np.column_stack([ring, np.zeros(6)])
    parts = points[triangles_of(points)]
    areas = 0.5 * np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0])[:, 2]
    assert (areas >= 0.0).all() and areas.sum() == pytest.approx(5.0)
    text = "".join(f"v {x} {y} {z}\n" for z in (0, 1) for x, y in ring) + "f 6 5 4 3 2 1\nf 7 8 9 10 11 12\n"
    text += "".join(f"f {k + 1} {(k + 1) % 6 + 1} {(k + 1) % 6 + 7} {k + 7}\n" for k in range(6))
    (tmp_path / "part.obj").write_text(text)
    assert fem.mass_of_mesh(tmp_path / "part.obj", 1.0).mass == pytest.approx(5.0)


def test_an_open_surface_is_rejected_with_the_name_of_its_file(tmp_path):
    (tmp_path / "part.obj").write_text(POINTS + SIDES[:-8])
    with pytest.raises(fem.ParameterError, match=r"mass_of_mesh 'part\.obj'.*3 edges"):
        fem.mass_of_mesh(tmp_path / "part.obj", 1.0)


def test_a_cell_without_a_rule_of_volume_weighs_only_with_straight_sides():
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1)], float)
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)]
    points = np.vstack([corners, [corners[list(pair)].mean(axis=0) for pair in edges]])
    cells = {"pyramid13": np.arange(13)[None, :]}
    assert fem.mass_of_mesh(fem.Mesh(points, cells), 1.0).mass == pytest.approx(1 / 3)
    points[5, 1] -= 0.1
    with pytest.raises(fem.ParameterError, match=r"pyramid13.*curved sides"):
        fem.mass_of_mesh(fem.Mesh(points, cells), 1.0)


def test_a_cad_part_is_no_mesh_and_the_message_names_what_meshes_it(tmp_path):
    (tmp_path / "part.step").write_text("ISO-10303-21;\n")
    with pytest.raises(fem.ParameterError, match=r"mesh = .*mesh_from_cad\(path, size\)"):
        fem.mass_of_mesh(tmp_path / "part.step", 1.0)
