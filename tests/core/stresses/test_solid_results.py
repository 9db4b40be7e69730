"""Stresses of solids in results: read back by VTK, from files without the model, in exports and pictures."""

import meshio
import numpy as np
import pytest
from solid_models import block

import fem_mbs as fem
from fem_mbs.results.drawing.skin import SOLID


@pytest.fixture(scope="module")
def bent(tmp_path_factory):
    """A beam of quadratic hexahedra under an end load and one of tetrahedra next to it, with a results file."""
    path = tmp_path_factory.mktemp("bent") / "bent.vtkhdf"
    first = block("hexa20", [4, 1, 1], [4, 1, 2], E=1e4)
    mesh = fem.block_mesh([1, 1, 1], [1, 1, 1], cell="tetra10")
    second = fem.SolidBody(mesh, first.material, position=[0, 5, 0], name="other")
    model = fem.Model("bent")
    for body in (first, second):
        body.fix("x0")
        model.add(body, fem.SurfaceTraction(body, "x1", [0, 0, -1.0]))
    return fem.static_equilibrium(model, stability=False, save=path), (first, second), path


def test_vtk_reads_quadratic_cells_with_stresses_on_the_deformed_mesh(bent):
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    result, bodies, path = bent
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.SetStep(1)
    reader.Update()
    grid = reader.GetOutput()
    types = [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())]
    assert types.count(vtk.VTK_QUADRATIC_HEXAHEDRON) == 8 and types.count(vtk.VTK_QUADRATIC_TETRA) == 6
    points = vtk_to_numpy(grid.GetPoints().GetData())
    data = {name: vtk_to_numpy(grid.GetPointData().GetArray(name)) for name in ("stress", "von_mises", "strain")}
    for body in bodies:
        fields = body.stresses(result)
        # points of the file are in the order of nodes of the model
        rows = np.array([node.index for node in body.nodes]) - 1
        assert points[rows] == pytest.approx(np.array([result.position(n) for n in body.nodes]), abs=1e-6)
        assert data["von_mises"][rows] == pytest.approx(fields.von_mises, rel=1e-5)
        assert data["stress"][rows, 3] == pytest.approx(fields.stress[:, 0, 1], abs=1e-5)
        assert data["strain"][rows, 0] == pytest.approx(fields.strain[:, 0, 0], abs=1e-8)


def test_a_file_contains_stresses_without_the_model(bent):
    result, (first, _), path = bent
    read = fem.load(path)
    _, data = read.scene.frames(read.rows([-1]))
    rows = np.array([node.index for node in first.nodes]) - 1
    assert data["von_mises"][0, rows, 0] == pytest.approx(first.stresses(result).von_mises, rel=1e-12)
    assert first.stresses(read).stress == pytest.approx(first.stresses(result).stress, rel=1e-12)
    assert set(read.skin.kind) == {SOLID} and read.skin.solid_surface[0].max() < read.skin.n_points


def test_exports_have_solid_cells_or_their_surface(bent, tmp_path):
    result, bodies, _ = bent
    result.results.export(tmp_path / "bent.vtu")
    grid = meshio.read(tmp_path / "bent.vtu")
    assert {block.type: len(block.data) for block in grid.cells} == {"hexahedron20": 8, "tetra10": 6}
    assert "von_mises" in grid.point_data
    result.results.export(tmp_path / "bent.stl")
    found = fem.mass_of_mesh(tmp_path / "bent.stl", 1.0)  # closed, faces outwards
    assert found.volume == pytest.approx(sum(body.volume for body in bodies), rel=1e-3)


def test_pictures_are_coloured_by_stress_and_other_colours_are_rejected(bent):
    pytest.importorskip("pyvista")
    result = bent[0].results
    images = [result.picture(color=color, size=(320, 180)) for color in ("von_mises", "smallest stress")]
    assert images[0].std() > 5 and np.abs(images[0].astype(int) - images[1]).max() > 50
    with pytest.raises(fem.FemMbsError, match=r"color = .*bending moment.*von_mises"):
        result.picture(color="bending moment")


def test_stresses_ask_for_a_state_with_the_body(bent):
    result, (first, _), _ = bent
    with pytest.raises(fem.ParameterError, match=r"state = .*Results, a StaticResult or a State"):
        first.stresses("bent.vtkhdf")
    with pytest.raises(fem.ParameterError, match=r"time = 1.*alone"):
        first.stresses(result, time=1.0)
    with pytest.raises(fem.ParameterError, match=r"state = .*without this body"):
        block("tetra4", [1, 1, 1], [1, 1, 1]).stresses(result)


def test_vtk_reads_every_saved_time_of_solids_and_of_recovered_reductions(tmp_path):
    """A swinging solid and its reduction: positions and stresses of each saved step, of every fifth step."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    solid = block("hexa20", [2, 0.2, 0.2], [4, 1, 1], E=1e6, density=1e3)
    solid.fix("x0")
    mesh = fem.block_mesh([2, 0.2, 0.2], [8, 2, 2], cell="tetra10")
    part = fem.reduce_mesh(mesh, fem.SolidMaterial(1e6, 0.3, 1e3), {"root": "x0", "tip": "x1"}, modes=4)
    arm = fem.Superelement(part, name="arm", position=[0, 5, 0])
    model = fem.Model("swinging", gravity=[0, 0, -9.81])
    model.add(solid, arm, fem.Fixed.at(model.ground, arm.frame("root"), arm.frame("root").position))
    path = tmp_path / "swinging.vtkhdf"
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.05, h=2e-3, save=path, save_every=5)
    assert len(result.t) == 6
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == 6
    for k, t in enumerate(result.t):
        reader.SetStep(k)
        reader.Update()
        grid = reader.GetOutput()
        solids = (vtk.VTK_QUADRATIC_HEXAHEDRON, vtk.VTK_QUADRATIC_TETRA)  # joints have points of their own
        cells = [i for i in range(grid.GetNumberOfCells()) if grid.GetCellType(i) in solids]
        used = set()
        for i in cells:
            corners = grid.GetCell(i).GetPointIds()
            used.update(corners.GetId(j) for j in range(corners.GetNumberOfIds()))
        used = np.array(sorted(used))
        points = vtk_to_numpy(grid.GetPoints().GetData())[used].astype(float)
        found = vtk_to_numpy(grid.GetPointData().GetArray("von_mises"))[used].astype(float)
        position = result.rows([k])["position"][0]
        for places, fields in (
            (position[[node.index for node in solid.nodes]], solid.stresses(result, time=t)),
            (arm.positions(result, time=t), arm.stresses(result, time=t)),
        ):
            distance = np.linalg.norm(points[:, None] - places[None], axis=2)
            rows = distance.argmin(axis=0)
            assert distance.min(axis=0).max() < 1e-6  # single precision
            assert found[rows] == pytest.approx(fields.von_mises, rel=1e-5, abs=1e-3)
    assert arm.stresses(result, time=result.t[-1]).von_mises.max() > 1e3 < found.max()
