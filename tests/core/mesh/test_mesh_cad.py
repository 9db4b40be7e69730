"""Parts of CAD programs and closed surfaces, meshed by Gmsh: volumes, units, named faces, and errors."""

import meshio
import numpy as np
import pytest

import fem_mbs as fem

try:
    import gmsh
except (ImportError, OSError) as error:
    pytest.skip(f"Gmsh is not there: {error}", allow_module_level=True)

# a plate 100 × 20 × 10 mm with a hole of 10 mm diameter along z at (20, 10)
VOLUME = (100 * 20 * 10 - np.pi * 25 * 10) * 1e-9
GROUPS = {
    "bore": ([0.02, 0.01, 0], [0, 0, 1], 0.005),
    "end": [0.1, 0.01, 0.005],
    "sides": [[0.05, 0, 0.005], [0.05, 0.02, 0.005]],
    "top": lambda x: np.abs(x[:, 2] - 0.01) < 1e-9,
}


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    """Folder with the plate as plate.step, .brep, .stl, .obj, all in mm."""
    folder = tmp_path_factory.mktemp("plate")
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        box, hole = gmsh.model.occ.addBox(0, 0, 0, 100, 20, 10), gmsh.model.occ.addCylinder(20, 10, -1, 0, 0, 12, 5)
        gmsh.model.occ.cut([(3, box)], [(3, hole)])
        gmsh.model.occ.synchronize()
        for name in ("plate.step", "plate.brep"):
            gmsh.write(str(folder / name))
        gmsh.option.setNumber("Mesh.MeshSizeMax", 3.0)
        gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 24)
        gmsh.model.mesh.generate(2)
        gmsh.write(str(folder / "plate.vtk"))
    finally:
        gmsh.finalize()
    found = meshio.read(folder / "plate.vtk")
    surface = meshio.Mesh(found.points, [("triangle", found.cells_dict["triangle"])])
    for name in ("plate.stl", "plate.obj"):
        meshio.write(folder / name, surface)
    return folder


@pytest.mark.parametrize(
    "name, rel", [("plate.step", 1e-4), ("plate.brep", 1e-4), ("plate.stl", 1e-3), ("plate.obj", 1e-3)]
)
def test_parts_have_their_volume_and_named_faces(plate, name, rel):
    """STEP files state their unit. Curved edges of 6 mm err by 5e-5 of the volume, 24 chords by 1.1 % of the hole."""
    options = {} if name.endswith("step") else {"units": "mm"}
    mesh = fem.mesh_from_cad(plate / name, 6e-3, groups=GROUPS, **options)
    assert mesh.volume == pytest.approx(VOLUME, rel=rel)
    assert set(mesh.cells) == {"tetra10", "triangle6"} and set(mesh.groups) == {*GROUPS, "body"}
    points = {group: mesh.points[mesh.nodes_of(group)] for group in GROUPS}
    radius = np.hypot(points["bore"][:, 0] - 0.02, points["bore"][:, 1] - 0.01)
    assert radius.max() == pytest.approx(0.005, rel=1e-6) and radius.min() > 0.0047
    assert points["end"][:, 0] == pytest.approx(0.1) and points["top"][:, 2] == pytest.approx(0.01)
    assert sorted(set(points["sides"][:, 1].round(9))) == [0.0, 0.02]
    body = fem.SolidBody(mesh, fem.SolidMaterial(210e9, 0.3, 7850))
    assert body.mass == pytest.approx(7850 * VOLUME, rel=2 * rel)
    assert len(body.nodes_of("bore")) > 20


def test_sizes_refine_near_a_group_and_order_one_has_flat_cells(plate):
    coarse = fem.mesh_from_cad(plate / "plate.step", 6e-3, groups=GROUPS, order=1)
    fine = fem.mesh_from_cad(plate / "plate.step", 6e-3, groups=GROUPS, order=1, sizes={"bore": 1.5e-3})
    assert set(fine.cells) == {"tetra", "triangle"}
    assert len(fine.nodes_of("bore")) > 3 * len(coarse.nodes_of("bore"))
    assert len(fine.nodes_of("end")) < 3 * len(coarse.nodes_of("end"))


def test_files_that_are_written_after_a_part_was_read_have_the_size_they_should(plate, tmp_path):
    """OpenCASCADE keeps the unit of what it read, even when Gmsh begins anew."""
    import gmsh

    fem.mesh_from_cad(plate / "plate.step", 6e-3)
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.occ.addBox(0, 0, 0, 10, 20, 30)  # mm
        gmsh.model.occ.synchronize()
        gmsh.write(str(tmp_path / "box.step"))
    finally:
        gmsh.finalize()
    assert fem.mesh_from_cad(tmp_path / "box.step", 2e-2).volume == pytest.approx(6e-6)


def test_the_same_part_has_the_same_mesh_every_time(plate):
    one, two = (fem.mesh_from_cad(plate / "plate.step", 6e-3, groups=GROUPS) for _ in range(2))
    assert np.array_equal(one.points, two.points) and np.array_equal(one.cells["tetra10"], two.cells["tetra10"])


def test_a_part_made_by_gmsh_is_taken_with_its_physical_groups():
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        with pytest.raises(fem.FemMbsError, match=r"mesh.*gmsh\.model\.mesh\.generate"):
            fem.mesh_from_gmsh()
        gmsh.model.occ.addBox(0, 0, 0, 0.1, 0.02, 0.02)
        gmsh.model.occ.synchronize()
        gmsh.model.addPhysicalGroup(3, [1], name="bar")
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.02)
        gmsh.model.mesh.generate(3)
        gmsh.option.setNumber("Mesh.ScalingFactor", 1000)  # of files of the caller
        mesh = fem.mesh_from_gmsh()
        assert mesh.volume == pytest.approx(4e-5) and list(mesh.groups) == ["bar"]
        assert gmsh.option.getNumber("Mesh.ScalingFactor") == 1000
    finally:
        gmsh.finalize()
    with pytest.raises(fem.FemMbsError, match=r"call gmsh\.initialize\(\)"):
        fem.mesh_from_gmsh()


def test_a_model_of_the_caller_is_left_alone(plate):
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        gmsh.model.add("mine")
        gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
        gmsh.model.occ.synchronize()
        fem.mesh_from_cad(plate / "plate.step", 0.02)
        assert gmsh.model.getCurrent() == "mine" and len(gmsh.model.getEntities(3)) == 1
        assert "part of fem_mbs" not in gmsh.model.list()
    finally:
        gmsh.finalize()


def test_options_of_the_caller_change_no_mesh_and_are_there_afterwards(plate):
    alone = fem.mesh_from_cad(plate / "plate.step", 0.01)
    mine = {
        "Mesh.MeshSizeFactor": 3.0, "Mesh.RecombineAll": 1.0, "Mesh.ScalingFactor": 1e3, "Mesh.MeshSizeMax": 7.0,
        "Mesh.SubdivisionAlgorithm": 2.0, "Mesh.ElementOrder": 2.0, "General.NumThreads": 2.0,
    }  # fmt: skip
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        for name, value in mine.items():
            gmsh.option.setNumber(name, value)
        gmsh.option.setString("Geometry.OCCTargetUnit", "MM")
        there = fem.mesh_from_cad(plate / "plate.step", 0.01)
        # optimisation of Gmsh leaves round-off of the place of its arrays in memory
        np.testing.assert_allclose(there.points, alone.points, atol=1e-14)
        assert {name: gmsh.option.getNumber(name) for name in mine} == mine
        assert gmsh.option.getString("Geometry.OCCTargetUnit") == "MM"
    finally:
        gmsh.finalize()


def test_what_cannot_be_meshed_is_rejected_with_what_to_do(plate, tmp_path):
    step = plate / "plate.step"

    def refused(match, path=step, size=0.02, **options):
        with pytest.raises(fem.ParameterError, match=match):
            fem.mesh_from_cad(path, size, **options)

    refused("is no file of a part", path=tmp_path / "none.step")
    (tmp_path / "bad.step").write_text("nothing of a part")
    refused("is no part that Gmsh reads|has no solid", path=tmp_path / "bad.step")
    refused(r"size = 1e-05 .* cells for a part of 0.1 × 0.02 × 0.01 m", size=1e-5)
    refused("order = 3 must be 1 or 2", order=3)
    other = ([0.02, 0.01, 0], [0, 0, 1], 0.007)
    refused(r"has no face on the cylinder of radius 0.007 m; the nearest face is 0.002", groups={"b": other})
    refused("holds on no whole face; there are 7 faces", groups={"b": lambda x: x[:, 0] > 1.0})
    refused("fails for points.*ZeroDivisionError", groups={"b": lambda x: 1 / 0})
    refused("must be a point, points", groups={"b": "top"})
    refused(
        r"and 'a' have the face plane about \(0.1, 0.01, 0.005\) m in common.*by their length",
        groups={"a": [0.1, 0.01, 0.005], "b": [0.1, 0.012, 0.005]},
    )
    refused("is the name of all solid cells", groups={"body": [0.1, 0.01, 0.005]})
    refused("sizes = 'c' is no group; there are none", sizes={"c": 1e-3})
    refused("sizes = 0", groups={"a": [0.1, 0.01, 0.005]}, sizes={"a": 0})
    refused("sizes = .x. is not a number", groups={"a": [0.1, 0.01, 0.005]}, sizes={"a": "x"})
    surface = meshio.read(plate / "plate.obj")
    faces = surface.cells_dict["triangle"]
    meshio.write(tmp_path / "open.obj", meshio.Mesh(surface.points, [("triangle", faces[3:])]))
    refused("the surface is not closed", path=tmp_path / "open.obj", units="mm")


def test_parts_of_an_unlikely_size_are_reported(plate):
    with pytest.warns(UserWarning, match=r"'plate.brep'.* 100 m .*units"):
        fem.mesh_from_cad(plate / "plate.brep", 20.0)


def test_without_gmsh_it_says_what_to_install(plate, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "gmsh", None)
    with pytest.raises(fem.FemMbsError, match=r"fem_mbs\[gmsh\].*libglu1-mesa"):
        fem.mesh_from_cad(plate / "plate.step", 0.01)


def test_bores_on_one_axis_are_distinguished_by_their_length(tmp_path):
    """A fork of two eyes: each bore has half of the nodes of both, in its own half of the part."""
    path = tmp_path / "fork.step"
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        occ = gmsh.model.occ
        back = occ.addBox(-60, 15, -10, 120, 10, 20)
        eyes = [occ.addCylinder(x, 10, 0, 20, 0, 0, 12) for x in (-60, 40)]
        whole, _ = occ.fuse([(3, back)], [(3, eye) for eye in eyes])
        occ.cut(whole, [(3, occ.addCylinder(-70, 10, 0, 140, 0, 0, 5))])
        occ.synchronize()
        gmsh.write(str(path))
    finally:
        gmsh.finalize()
    axis = ([0, 0.01, 0], [1, 0, 0], 0.005)
    ends = {"left": ([-0.05, 0.01, 0], *axis[1:], 0.02), "right": ([0.05, 0.01, 0], *axis[1:], 0.02)}
    mesh = fem.mesh_from_cad(path, 5e-3, groups=ends)
    both = fem.mesh_from_cad(path, 5e-3, groups={"both": axis})
    assert mesh.points[mesh.nodes_of("left"), 0].max() < 0 < mesh.points[mesh.nodes_of("right"), 0].min()
    assert len(mesh.nodes_of("left")) + len(mesh.nodes_of("right")) == len(both.nodes_of("both"))
    with pytest.raises(fem.ParameterError, match=r"'right' and 'left'.*cylinder .*length"):
        fem.mesh_from_cad(path, 5e-3, groups={"left": ends["left"][:3], "right": ends["right"][:3]})
    with pytest.raises(fem.ParameterError, match=r"groups = .*within 0\.00.* m .*faces: "):
        fem.mesh_from_cad(path, 5e-3, groups={"left": (*ends["left"][:3], 0.01)})


def boxes(path, *corners):
    """A STEP file of cubes of 10 mm with these corners [mm]."""
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        for corner in corners:
            gmsh.model.occ.addBox(*corner, 10, 10, 10)
        gmsh.model.occ.synchronize()
        gmsh.write(str(path))
    finally:
        gmsh.finalize()
    return path


def test_solids_of_a_file_that_touch_are_one_body_without_modes_at_zero(tmp_path):
    mesh = fem.mesh_from_cad(boxes(tmp_path / "two.step", (0, 0, 0), (10, 2, 0)), 1e-2, order=1)
    assert mesh.volume == pytest.approx(2e-6) and {"solid 1", "solid 2"} < set(mesh.groups)
    halves = [set(mesh.cells["tetra"][mesh.group(f"solid {k}")["tetra"]].ravel()) for k in (1, 2)]
    shared = mesh.points[sorted(halves[0] & halves[1])]
    assert len(shared) >= 4 and shared[:, 0] == pytest.approx(np.full(len(shared), 0.01))
    assert np.ptp(shared[:, 1]) == pytest.approx(0.008)  # they touch over 8 of 10 mm


def test_solids_of_a_file_that_overlap_weigh_once_and_are_warned_of(tmp_path):
    with pytest.warns(UserWarning, match=r"two\.step'.*overlap.*4e-07 m³"):
        mesh = fem.mesh_from_cad(boxes(tmp_path / "two.step", (0, 0, 0), (6, 0, 0)), 1e-2, order=1)
    assert mesh.volume == pytest.approx(1.6e-6)


def test_a_solid_inside_of_another_weighs_once_and_is_warned_of(tmp_path):
    """Its faces are far from those of the other one."""
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Verbosity", 0)
        gmsh.model.occ.addBox(0, 0, 0, 10, 10, 10)
        gmsh.model.occ.addBox(3, 3, 3, 4, 4, 4)
        gmsh.model.occ.synchronize()
        gmsh.write(str(tmp_path / "two.step"))
    finally:
        gmsh.finalize()
    with pytest.warns(UserWarning, match=r"two\.step'.*overlap.*6\.4e-08 m³"):
        mesh = fem.mesh_from_cad(tmp_path / "two.step", 1e-2, order=1)
    assert mesh.volume == pytest.approx(1e-6)


def test_solids_of_a_file_that_are_apart_stay_apart(tmp_path):
    mesh = fem.mesh_from_cad(boxes(tmp_path / "two.step", (0, 0, 0), (10.1, 0, 0)), 1e-2, order=1)
    assert mesh.volume == pytest.approx(2e-6) and {"solid 1", "solid 2"} < set(mesh.groups)
    assert not set(mesh.cells["tetra"][mesh.group("solid 1")["tetra"]].ravel()) & set(
        mesh.cells["tetra"][mesh.group("solid 2")["tetra"]].ravel()
    )
