"""Places, velocities and stresses of the full mesh of superelements: against solids, in files, read back by VTK."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.rotations import exp
from fem_mbs.stresses.reduced_parts import ReducedParts

STEEL = fem.SolidMaterial(E=210e9, nu=0.3, density=7850)
ENDS = {"left": "x0", "right": "x1"}


def part(cell, modes=5):
    sizes = [6, 1, 2] if cell in ("hexahedron20", "tetra10") else [6, 2, 2]
    return fem.reduce_mesh(fem.block_mesh([0.4, 0.02, 0.03], sizes, cell=cell), STEEL, ENDS, modes=modes)


def cantilever(reduction, force, **pose):
    """Superelement held at its left frame with a force (3,) [N] on the right, and its equilibrium."""
    arm = fem.Superelement(reduction, name="arm", **pose)
    model = fem.Model("arm")
    model.add(arm, fem.Fixed.at(model.ground, arm.frame("left"), arm.frame("left").position))
    model.add(fem.PointForce(arm.frame("right"), force))
    return arm, fem.static_equilibrium(model, stability=False)


@pytest.mark.parametrize("cell", ["hexahedron20", "hexahedron", "tetra10", "wedge"])
def test_stresses_under_loads_on_frames_are_those_of_the_full_mesh(cell):
    """Static columns are exact; a load of 1 N keeps what large strains add to the full mesh below 1e-5."""
    reduction = part(cell)
    force = np.array([0.5, 1.0, -0.7])
    arm, found = cantilever(reduction, force)
    sizes = [6, 1, 2] if cell in ("hexahedron20", "tetra10") else [6, 2, 2]
    body = fem.SolidBody(fem.block_mesh([0.4, 0.02, 0.03], sizes, cell=cell), STEEL)
    body.fix("x0")
    model = fem.Model("full")
    hand = fem.RigidBody(1.0, [1, 1, 1], position=[0.4, 0.01, 0.015], name="hand")
    model.add(body, hand, fem.SurfaceCoupling(body, "x1", hand, kind="rigid"), fem.PointForce(hand, force))
    full = body.stresses(fem.static_equilibrium(model, stability=False))
    mine = arm.stresses(found)
    largest = full.von_mises.max()
    assert largest > 5e4
    assert mine.stress == pytest.approx(full.stress, abs=2e-5 * largest)
    assert mine.strain == pytest.approx(full.strain, abs=2e-5 * np.abs(full.strain).max())


def test_stresses_turn_with_the_body():
    reduction, R = part("hexahedron20"), exp(np.array([0.7, -1.1, 2.0]))
    arm, found = cantilever(reduction, [0.5, 1.0, -0.7])
    turned, other = cantilever(reduction, R @ [0.5, 1.0, -0.7], position=[3.0, -2.0, 1.0], rotation=R)
    one, two = arm.stresses(found), turned.stresses(other)
    assert two.stress == pytest.approx(R @ one.stress @ R.T, abs=1e-8 * one.von_mises.max())
    assert two.von_mises == pytest.approx(one.von_mises, rel=1e-6)
    moved = [3.0, -2.0, 1.0] + arm.positions(found) @ R.T
    assert turned.positions(other) == pytest.approx(moved, abs=1e-13)


def test_velocities_of_all_points_are_differences_of_places():
    """Frames turned by tenths of a radian against each other, and modes that move."""
    rng = np.random.default_rng(3)
    arm = fem.Superelement(part("hexahedron20"), position=[1.0, 2.0, 3.0], rotation=[0.3, 1.0, -0.5])
    model = fem.Model("arm")
    model.add(arm)
    system = model.compile()
    parts, count = ReducedParts.of([(0, arm)]), len(system.nodes)
    x = system.initial.x + 0.02 * rng.normal(size=(count, 3))
    R = np.array([exp(0.2 * rng.normal(size=3)) for _ in range(count)])
    v, w = rng.normal(size=(count, 3)), 3.0 * rng.normal(size=(count, 3))

    def moved(dt):
        return parts.points(x + dt * v, np.array([one @ exp(dt * spin) for one, spin in zip(R, w)]))

    dt = 1e-5
    differences = (moved(dt) - moved(-dt)) / (2.0 * dt)
    found = parts.velocities(parts.points(x, R), x, R, v, w)
    assert found == pytest.approx(differences, abs=1e-8 * np.abs(found).max())  # of the order dt²


@pytest.fixture(scope="module")
def swung(tmp_path_factory):
    """Two arms of two meshes on hinges, with a results file."""
    path = tmp_path_factory.mktemp("swung") / "arms.vtkhdf"
    model = fem.Model("arms", gravity=[0, 0, -9.81])
    arms = []
    for k, cell in enumerate(("hexahedron20", "tetra10")):
        arm = fem.Superelement(part(cell, 2 + k), position=[0, 0.1 * k, 0], name=f"arm {k}")
        hinge = fem.Revolute.at(model.ground, arm.frame("left"), arm.frame("left").position, [0, 1, 0])
        model.add(arm, hinge)
        arms.append(arm)
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.02, h=1e-3, save=path)
    return result, arms, path


def test_vtk_reads_the_deformed_mesh_with_its_stresses(swung):
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    result, arms, path = swung
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.SetStep(len(result.t) - 1)
    reader.Update()
    grid = reader.GetOutput()
    types = [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())]
    assert types.count(vtk.VTK_QUADRATIC_HEXAHEDRON) == 12 and types.count(vtk.VTK_QUADRATIC_TETRA) == 72
    points = vtk_to_numpy(grid.GetPoints().GetData())
    stress = vtk_to_numpy(grid.GetPointData().GetArray("von_mises"))
    first = result.skin.reduced_points.start
    for arm in arms:
        count = len(arm.reduction.points)
        assert points[first : first + count] == pytest.approx(arm.positions(result), abs=1e-6)  # single precision
        mine = arm.stresses(result).von_mises
        assert mine.max() > 1e4 and stress[first : first + count] == pytest.approx(
            mine, rel=1e-4, abs=1e-5 * mine.max()
        )
        first += count


def test_a_file_contains_the_mesh_without_the_model(swung):
    result, arms, path = swung
    read = fem.load(path)
    points, data = read.scene.frames(read.rows([-1]))
    here = read.skin.reduced_points
    assert points[0, here][: len(arms[0].reduction.points)] == pytest.approx(arms[0].positions(result), abs=1e-14)
    assert data["von_mises"][0, here, 0].max() == pytest.approx(
        max(arm.stresses(result).von_mises.max() for arm in arms), rel=1e-12
    )


def test_a_damaged_file_is_rejected(swung, tmp_path):
    import shutil

    import h5py

    for name, change in (("sizes", [[2, 2, 9, 0], [2, 3, 9, 1]]), ("nodes", None), ("connectivity", 10**6)):
        path = tmp_path / f"{name}.vtkhdf"
        shutil.copy(swung[2], path)
        with h5py.File(path, "r+") as file:
            data = file[f"fem_mbs/skin/reduced_{name}"]
            values = data[()]
            del file[f"fem_mbs/skin/reduced_{name}"]
            if change is not None:
                values[:] = change
                file[f"fem_mbs/skin/reduced_{name}"] = values
        with pytest.raises(fem.FemMbsError, match=r"reduced|its solids|skin"):
            fem.load(path).skin  # noqa: B018


def test_pictures_show_the_body_coloured_by_stress(swung):
    pytest.importorskip("pyvista")
    images = [swung[0].picture(color=color, size=(320, 180)) for color in ("von_mises", "largest stress")]
    assert images[0].std() > 5 and np.abs(images[0].astype(int) - images[1]).max() > 50


def test_bodies_of_matrices_move_but_have_no_stresses():
    rod = fem.reduce_mesh(fem.block_mesh([1, 0.1, 0.1], [4, 1, 1]), STEEL, ENDS, modes=0)
    K, M = rod.K, rod.M
    made = fem.reduce_matrices(M, K, rod.positions, {"left": [0], "right": [1]}, modes=0)
    body = fem.Superelement(made, name="rod")
    model = fem.Model("rod")
    model.add(body)
    state = model.compile().initial
    assert body.positions(state) == pytest.approx(rod.positions, abs=1e-14)
    with pytest.raises(fem.ParameterError, match=r"reduction = .*no cells.*reduce_mesh"):
        body.stresses(state)


def test_reductions_written_before_there_were_cells_are_reported(tmp_path):
    import h5py

    path = tmp_path / "old.h5"
    part("tetra10", 0).save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["fem_mbs reduction"] = 1
    with pytest.raises(fem.ParameterError, match=r"path = .*no reduction"):
        fem.load_reduction(path)


@pytest.mark.parametrize("force, reported", [(300.0, False), (6e4, True)])
def test_deformations_beyond_the_linear_range_are_reported(force, reported):
    """A cantilever turns by F L²/2EI at its end, 7/12 of it from the floating frame: 0.0015 and 0.3 rad.

    That turns by the mean of the chord, 2/3 of it, and of both ends, 1/2 of it: 5/12 and 7/12 are left.
    """
    arm = fem.Superelement(part("hexahedron20"), damping=0.5, name="arm")
    model = fem.Model("arm")
    model.add(arm, fem.Fixed.at(model.ground, arm.frame("left"), arm.frame("left").position))
    model.add(fem.PointForce(arm.frame("right"), [0, 0, force], signal=lambda t: min(t / 0.02, 1.0)))
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.02, h=1e-3)
    turn = result["arm"].local_rotation
    tip = force * 0.4**2 / (2 * STEEL.E * 0.02 * 0.03**3 / 12)
    assert turn[-1] == pytest.approx(7 / 12 * tip, rel=0.1)
    text = [line for line in result.warnings if "floating frame" in line]
    assert bool(text) == reported
    if reported:
        assert "Superelement 'arm'" in text[0] and "Divide the part" in text[0]


def test_modes_of_a_reduced_arm_have_the_shapes_of_the_full_mesh():
    """Clamped, of another stiffness in each plane, turned in space: MAC of the first four with all four."""
    mesh, turned = fem.block_mesh([0.4, 0.02, 0.03], [8, 1, 1]), [0.3, 1.0, -0.5]
    body = fem.SolidBody(mesh, STEEL, rotation=turned)
    body.fix("x0")
    full = fem.Model("full")
    full.add(body)
    reduction = fem.reduce_mesh(mesh, STEEL, ENDS, modes=12)
    arm = fem.Superelement(reduction, rotation=turned, name="arm")
    model = fem.Model("reduced")
    model.add(arm, fem.Fixed.at(model.ground, arm.frame("left"), arm.frame("left").position))
    one, two = fem.modes(full, n=4), fem.modes(model, n=4)
    assert two.omega == pytest.approx(one.omega, rel=2e-3)
    alike = fem.mac(body.mode_shapes(one), arm.mode_shapes(two))
    assert np.diag(alike).min() > 0.9999 and (alike - np.diag(np.diag(alike))).max() < 0.05
    by_mass = fem.mac(one.shapes[:, :, :3], one.shapes[:, :, :3], np.arange(len(full.nodes)))
    assert np.diag(by_mass) == pytest.approx(np.ones(4))
    with pytest.raises(fem.ParameterError, match=r"modes = .*without this body"):
        body.mode_shapes(two)
    with pytest.raises(fem.ParameterError, match=r"second = .*other points"):
        fem.mac(one.shapes, two.shapes)
