"""Results: what goes in comes out, by name, from memory and from files; ParaView's reader sees every frame.

The run is made up (see made_up.py), so that what must come out is known without a solver.
"""

import json
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from made_up import H, made_up_chunk, made_up_system, written

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ParameterError
from fem_mbs.results.drawing.plot import panels
from fem_mbs.results.drawing.sketch import Sketch
from fem_mbs.results.drawing.skin import KINDS, Skin
from fem_mbs.results.file import final_layout
from fem_mbs.results.file.names import UnknownNameError
from fem_mbs.results.file.run_file import START_ROWS
from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.results.results import Results
from fem_mbs.results.table import HISTORIES
from fem_mbs.shapes import matrices


@pytest.fixture(scope="module")
def system():
    return made_up_system()


@pytest.fixture(scope="module")
def result(system, tmp_path_factory):
    return written(system, tmp_path_factory.mktemp("run") / "made_up.vtkhdf", frames="all")


def test_a_file_gives_back_the_same_numbers_as_memory(system, result):
    memory = written(system)
    for name in memory.names:
        for history in memory[name].units:
            a, b = getattr(memory[name], history), getattr(result[name], history)
            assert np.array_equal(a, b) and a.dtype == b.dtype, f"{name}.{history}"
    assert np.array_equal(memory.energy.total, result.energy.total)
    chosen = [150, 3, 3]
    for name, values in memory.rows(chosen).items():
        assert np.array_equal(values, result.rows(chosen)[name]), name


def test_histories_are_what_was_saved(system, result):
    chunk = made_up_chunk(system, np.arange(201))
    ball = system.model["ball"].node.index
    assert np.array_equal(result.t, chunk["t"])
    assert np.array_equal(result["ball"].position, chunk["position"][:, ball])
    assert np.array_equal(result["ball"].angular_velocity, chunk["velocity"][:, ball, 3:])
    assert np.array_equal(result["ball"].rotation, matrices(chunk["quaternion"][:, ball]))
    assert np.array_equal(result["pin"].multiplier[0], np.arange(5))
    assert np.array_equal(result["pin"].force[7], [1, 2, 3])
    assert result["rod 2"].moment_B[50, 1] == 20 * np.sin(0.5)
    assert np.array_equal(result.iterations.max, [2, 1, 0])
    assert np.array_equal(result.iterations.mean, [2, 1, 0])  # the initial state is not a step


def test_contact_forces_are_impulses_over_the_step_and_turn_to_inertial_axes(result):
    table = result["table"]
    n = int(np.flatnonzero(table.status[1:])[0]) + 1
    assert table.force[n] == pytest.approx([0.3 / H, 0.04 / H, 0.0], rel=1e-15)  # one division
    assert table.force_normal[n] == table.force[n, 0]
    expected = [4.0 * np.cos(0.3), 4.0 * np.sin(0.3), 30.0]
    assert table.force_vector[n] == pytest.approx(expected, rel=1e-15)  # round-off
    assert not table.force[0].any()  # no step led to the initial state


def test_lift_offs_are_ends_of_contact_phases(result):
    # |sin 4t| returns at t = π/4 k; it opens after each with sin 4t = 0.12, found one step later at most
    expected = np.pi / 4 * np.arange(3) + 0.25 * np.arcsin(0.12)
    assert np.all((result.lift_offs("table") >= expected) & (result.lift_offs("table") < expected + H))


def test_unknown_names_and_histories_report_what_there_is(result):
    with pytest.raises(UnknownNameError, match=r"'made up'.*'bal'.*'ball'") as caught:
        result["bal"]
    assert isinstance(caught.value, KeyError)
    with pytest.raises(AttributeError, match=r"'ball'.*'positon'.*position.*velocity"):
        _ = result["ball"].positon
    with pytest.raises(UnknownNameError, match=r"has no 'q'.*'x', 'y', 'z', 'norm'"):
        result.plot("ball.position.q")


def test_the_report_reports_the_numbers_of_the_run(result):
    text = result.report()
    for part in ("made up", "complete", "200 steps, 201 states", "smooth 2 / 2.00", "'table'", "3 lift-offs", "3 J at"):
        assert part in text, f"{part!r} is missing in\n{text}"


# --- files for ParaView -----------------------------------------------------------------------------------------------


def hdf_reader(path):
    vtk = pytest.importorskip("vtk", reason="VTK comes with PyVista, an optional extra")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    return reader


def test_the_reader_of_paraview_sees_all_steps_with_points_where_the_skin_puts_them(result):
    from vtk.util.numpy_support import vtk_to_numpy

    reader = hdf_reader(result.path)
    assert reader.GetNumberOfSteps() == 201
    for n in (0, 77, 200):
        reader.SetStep(n)
        reader.Update()
        assert reader.GetTimeValue() == result.t[n]
        grid = reader.GetOutput()
        points, data = result.scene.frames(result.rows([n]))
        # single precision of numbers up to 1.5
        assert vtk_to_numpy(grid.GetPoints().GetData()) == pytest.approx(points[0], abs=1.5e-7)
        for name, values in data.items():
            stored = vtk_to_numpy(grid.GetPointData().GetArray(name)).reshape(values[0].shape)
            assert stored == pytest.approx(values[0], rel=1e-7, abs=1e-30), name
        kinds = vtk_to_numpy(grid.GetCellData().GetArray("kind"))
        assert {KINDS[k] for k in kinds} == set(KINDS) - {
            "span",
            "solid",
            "shell",
        }  # test_solid_results.py, test_shell_motion.py


def test_point_data_show_section_moments_along_beams_and_impulses_at_contacts(result):
    n = 50
    points, data = result.scene.frames(result.rows([n]))
    skin, moment = result.skin, data["section_moment"][0, :, 1]
    swept = slice(skin.n_fixed, skin.n_fixed + skin.n_swept)
    # the beams lie along −x from −0.2 m and the moment grows with 50 N m per metre
    assert moment[swept] == pytest.approx(50 * np.sin(0.5) * (-0.2 - points[0, swept, 0]), abs=1e-12)  # round-off
    n = int(np.flatnonzero(result["table"].status[1:])[0]) + 1
    _, data = result.scene.frames(result.rows([n]))
    assert data["contact_force"][0, -1] == pytest.approx(result["table"].force_vector[n], rel=1e-14)  # round-off
    assert not data["contact_force"][0, :-1].any()


def test_the_name_of_a_body_of_many_elements_says_where_its_results_are():
    block = fem.SolidBody(
        fem.block_mesh([1, 1, 1], [2, 2, 2], cell="hexahedron"), fem.SolidMaterial(1e6, 0.3, 1e3), name="block"
    )
    model = fem.Model("parts")
    model.add(block)
    result = fem.DecoupledNSGA().run(model, t_end=1e-3, h=1e-3)
    with pytest.raises(UnknownNameError, match=r"'block'.* 8.*'block 0' to 'block 7'"):
        result["block"]
    for thing, cure in (
        (block, r"'block'.*nodes, result\[….nodes\[0\]\]"),
        (model.ground.frame(), r"'parts'.*result\[frame\.node\]"),
        (block.elements[3], r"Ask result\['block 3'\]"),
        (None, r"'parts'.*not by None"),
        (3, "not by 3$"),
    ):
        with pytest.raises(UnknownNameError, match=cure):
            result[thing]


def test_misspelt_options_of_what_draws_are_reported(result, tmp_path):
    for call, option in ((result.picture, "tme"), (result.animate, "fpss"), (result.export, "frame")):
        with pytest.raises(ParameterError, match=rf"{call.__name__}: {option} = 1.*parameter"):
            call(tmp_path / "x.png", **{option: 1})
    with pytest.raises(ParameterError, match=r"titel = 1.*parameter.*'title'"):
        result.plot("ball.position", titel=1)


def test_a_run_in_memory_has_a_skin_when_it_is_drawn_and_that_of_the_model_as_it_was(tmp_path, monkeypatch):
    system = made_up_system()
    expected = Sketch(system).skin().arrays()
    with monkeypatch.context() as patch:
        patch.setattr(Skin, "__init__", lambda *_, **__: pytest.fail("made although nobody looks"))
        result = written(system, None, steps=3)
        _ = result["ball"].position, result.report()
    for i, node in enumerate(reversed(system.nodes)):  # another system of the same nodes has its own numbers
        node.index = i
    system.model["ball"].shapes.clear()
    for name, array in pickle.loads(pickle.dumps(result)).skin.arrays().items():
        np.testing.assert_array_equal(array, expected[name])


def test_velocities_of_the_skin_are_the_rate_of_its_points(result):
    dt = 1e-6
    rng = np.random.default_rng(2)
    x, v, w = (rng.normal(size=(len(result.description["nodes"]), 3)) for _ in range(3))
    rows = result.rows([0])
    x = x + rows["position"][0]
    R = np.array([_turn(0.3 * rng.normal(size=3)) for _ in x])
    later, sooner = (result.skin.points(x + s * v, R @ np.array([_turn(s * a) for a in w])) for s in (dt / 2, -dt / 2))
    points = result.skin.points(x, R)
    rate = (later - sooner) / dt
    fixed = slice(0, result.skin.n_fixed)
    velocity = result.skin.velocities(points, x, R, v, w)
    assert velocity[fixed] == pytest.approx(rate[fixed], abs=1e-8)  # round-off 1e-16 / 1e-6, doubled decades
    ends = result.skin.n_fixed + np.flatnonzero(np.isin(result.skin.station, [0, len(result.skin.stations) - 1]))
    assert velocity[ends] == pytest.approx(rate[ends], abs=1e-8)  # between its ends a beam is blended, not exact


def _turn(psi):
    from fem_mbs.rotations import exp

    return exp(psi)


def test_frames_can_be_limited_and_still_reach_from_the_first_to_the_last_state(system, tmp_path):
    limited = written(system, tmp_path / "few.vtkhdf", frames=11)  # 200 steps: every 20th
    reader = hdf_reader(limited.path)
    times = []
    for n in range(reader.GetNumberOfSteps()):
        reader.SetStep(n)
        reader.Update()
        times.append(reader.GetTimeValue())
    even = np.linspace(0, 2, 11)
    assert all(min(abs(np.array(times) - t)) < 1e-12 for t in even)
    more = [t for t in times if min(abs(even - t)) > 1e-12]
    assert limited["table"].impact[[limited.at(t) for t in more]].all()
    assert len(more) > 0 and np.histogram(more, even)[0].max() == 1  # at most one between two
    assert len(limited.t) == 201  # histories are complete


KILLED = """
import sys
import numpy as np
sys.path.insert(0, {folder!r})
from made_up import made_up_chunk, made_up_system
from fem_mbs.results.file.writer import ResultsWriter

system = made_up_system()
writer = ResultsWriter(system, {path!r})
for n in range(1_000_000):
    writer.append(made_up_chunk(system, np.arange(5 * n, 5 * n + 5)))
    print(n, flush=True)
"""


@pytest.mark.parametrize("chunks", [1, 7, 40])
def test_a_killed_run_leaves_every_finished_chunk_readable(chunks, tmp_path):
    path, folder = tmp_path / "killed.vtkhdf", str(Path(__file__).parents[2] / "helpers")
    script = KILLED.format(folder=folder, path=str(path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    for _ in range(chunks):
        assert process.stdout.readline(), "the writing process stopped by itself"
    time.sleep(0.003)  # in the middle of a later chunk
    process.send_signal(signal.SIGKILL)
    process.wait()
    result = Results.read(path)
    assert result.status == "running"
    assert len(result.t) >= 5 * chunks
    assert np.array_equal(result.step, np.arange(len(result.t)))
    assert result["ball"].position.shape == (len(result.t), 3)
    for name, values in result.rows([len(result.t) - 1]).items():
        assert np.isfinite(values).all(), name
    reader = hdf_reader(path)
    reader.SetStep(reader.GetNumberOfSteps() - 1)
    reader.Update()
    assert reader.GetOutput().GetNumberOfPoints() == result.skin.n_points


def test_a_chunk_that_was_interrupted_half_way_is_not_seen(system, tmp_path, monkeypatch):
    writer = ResultsWriter(system, tmp_path / "run.vtkhdf")
    writer.append(made_up_chunk(system, np.arange(10)))
    monkeypatch.setattr(writer.rows.grid, "append", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        writer.append(made_up_chunk(system, np.arange(10, 20)))
    monkeypatch.undo()
    result = writer.close("interrupted")
    assert result.status == "stopped: interrupted"
    assert np.array_equal(result.step, np.arange(10))


def test_a_run_that_failed_before_its_first_step_leaves_a_readable_file(system, tmp_path):
    result = ResultsWriter(system, tmp_path / "empty.vtkhdf").close("failed")
    assert len(result.t) == 0 and "nothing saved" in result.report()
    with pytest.raises(FemMbsError, match="no saved steps"):
        result.export(tmp_path / "x.vtu")


def test_a_run_of_unknown_length_grows_past_the_space_taken_for_it(system, tmp_path):
    writer = ResultsWriter(system, tmp_path / "long.vtkhdf")
    steps = np.arange(2 * START_ROWS + 100)
    for step in np.array_split(steps, 5):
        writer.append(made_up_chunk(system, step))
    result = writer.close()
    assert np.array_equal(result.step, steps)
    assert np.array_equal(result["table"].gap, made_up_chunk(system, steps)["gap"][:, 0])
    assert hdf_reader(result.path).GetNumberOfSteps() == len(steps)


def test_a_large_file_is_cut_to_length_instead_of_copied(system, tmp_path, monkeypatch):
    monkeypatch.setattr(final_layout, "COPY_LIMIT", 0)
    result = written(system, tmp_path / "large.vtkhdf", steps=30)
    assert np.array_equal(result.step, np.arange(31))
    reader = hdf_reader(result.path)
    assert reader.GetNumberOfSteps() == 31


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("missing.vtkhdf", None, "not exist"),
        ("text.vtkhdf", b"hello", "not a readable HDF5 file"),
    ],
)
def test_files_that_are_no_results_are_rejected_with_the_reason(name, content, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FemMbsError, match=message):
        Results.read(tmp_path / name)


def test_a_results_file_gets_an_ending_that_paraview_reads(system, tmp_path):
    assert written(system, tmp_path / "run", steps=2).path.name == "run.vtkhdf"
    with pytest.raises(FemMbsError, match=r"'.txt'.*.vtkhdf"):
        ResultsWriter(system, tmp_path / "run.txt")


def test_the_file_describes_itself(result):
    import h5py

    with h5py.File(result.path) as file:
        histories = file["fem_mbs/histories"]
        assert all(dataset.shape[0] == 201 for dataset in histories.values())
        assert histories["gap"].attrs["meaning"] == HISTORIES["gap"][2]
        assert json.loads(file["fem_mbs/versions"][()])["fem_mbs"]
        assert file["VTKHDF/Points"].dtype == np.float32 and histories["position"].dtype == np.float64


# --- plots, pictures, exports -----------------------------------------------------------------------------------------


def test_histories_of_one_unit_share_a_panel_and_are_labelled_with_units(result, tmp_path):
    asked = ("ball.position", "table.gap", "energy", "rod 1.moment_B.M2", "violation", "ball.velocity")
    figure = result.plot(*asked, component=None, save=tmp_path / "plot.png")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert [label.split("[")[-1] for label in labels] == ["m]", "J]", "N m]", "violation", "m/s]"]
    assert figure.axes[0].get_legend_handles_labels()[1][-1] == "table gap"
    assert figure.axes[3].get_yscale() == "log"
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_components_are_chosen_by_name_number_or_norm(result):
    (curves,) = panels(result, ["ball.position.z", "ball.position.0", "ball.position.norm"])
    expected = [result["ball"].position[:, 2], result["ball"].position[:, 0]]
    expected.append(np.linalg.norm(result["ball"].position, axis=1))
    assert all(np.array_equal(curve.values, values) for curve, values in zip(curves, expected))
    (curves,) = panels(result, ["table.force"], component=["normal", 1])
    assert [curve.component for curve in curves] == ["normal", "t1"]


def test_a_second_run_is_drawn_into_the_panels_of_the_first(result):
    figure = result.plot("ball.position.z", "table.gap", "energy.total", label="first")
    result.plot("ball.position.z", "table.gap", "energy.total", label="second", figure=figure)
    texts = figure.axes[0].get_legend_handles_labels()[1]
    assert texts == [f"{run}: {what}" for run in ("first", "second") for what in ("ball position z", "table gap")]


def test_a_vtu_series_lists_its_times_and_holds_the_same_points(result, tmp_path):
    import meshio

    files = result.export(tmp_path / "series.pvd", frames=5)
    assert len(files) == 6
    text = files[0].read_text()
    assert all(f'timestep="{t:.17g}"' in text for t in result.t[[0, 50, 100, 150, 200]])
    points, data = result.scene.frames(result.rows([100]))
    mesh = meshio.read(files[3])
    assert np.array_equal(mesh.points, points[0])
    assert np.array_equal(mesh.point_data["section_moment"], data["section_moment"][0])


def test_a_single_frame_is_exported_to_the_formats_of_meshio(result, tmp_path):
    import meshio

    (triangles, _), (quads, _) = result.skin.faces([0, 1])
    for ending in ("ply", "obj"):
        (path,) = result.export(tmp_path / f"frame.{ending}", time=1.0)
        blocks = meshio.read(path).cells
        assert sum(len(block) for block in blocks) == len(triangles) + 2 * len(quads)
    with pytest.raises(FemMbsError, match="meshio cannot write"):
        result.export(tmp_path / "frame.nonsense")


def test_a_table_has_a_column_for_each_component(result, tmp_path):
    from fem_mbs.results.export import table

    (path,) = table(result, tmp_path / "ball.csv", "ball.position", "energy.total")
    header = path.read_text().splitlines()[0].split(",")
    assert header == ["time [s]", *(f"ball position {c} [m]" for c in "xyz"), "energy total [J]"]
    numbers = np.loadtxt(path, delimiter=",", skiprows=1)
    assert np.array_equal(numbers[:, 1:4], result["ball"].position)  # 17 digits give a float back exactly


@pytest.fixture
def drawing():
    """Skip where PyVista or a way to draw is missing: pictures are an optional extra."""
    from fem_mbs.results.drawing.picture import _pyvista

    try:
        return _pyvista()
    except FemMbsError as error:
        pytest.skip(str(error))


def test_a_picture_shows_the_ball_in_its_colour_on_a_white_ground(result, drawing, tmp_path):
    image = result.picture(tmp_path / "picture.png", time=0.4, size=(320, 200), view="y")
    assert image.shape == (200, 320, 3) and (tmp_path / "picture.png").exists()
    red, blue = image[..., 0].astype(int), image[..., 2].astype(int)
    assert (image == 255).all(axis=-1).mean() > 0.5
    assert (blue > red + 30).any()  # the ball is blue
    assert (red > blue + 100).any()  # the crank is orange


def test_a_picture_looks_along_a_direction(result, drawing, tmp_path):
    image = result.picture(tmp_path / "picture.png", time=0.4, size=(320, 200), view=(0.75, -1.3, 0.35))
    assert (image == 255).all(axis=-1).mean() < 0.999  # something is seen


def test_a_camera_looks_along_a_direction_of_any_length_but_not_along_none():
    from fem_mbs.arguments.checked import Named
    from fem_mbs.results.drawing.options import as_view

    assert as_view(Named("picture"), np.array([0.75, -1.3, 0.35])) == (0.75, -1.3, 0.35)
    with pytest.raises(FemMbsError, match=r"view = \(0, 0, 0\).*direction"):
        as_view(Named("picture"), (0, 0, 0))


def test_an_animation_has_the_frames_asked_for(result, drawing, tmp_path):
    from PIL import Image

    path = result.animate(tmp_path / "film.gif", fps=5, speed=1.0, end=1.0, size=(160, 90))
    with Image.open(path) as film:
        assert film.n_frames == 6


def test_a_plane_motion_is_looked_at_from_the_front(system):
    from fem_mbs.results.drawing.picture import plane_of_motion

    assert plane_of_motion(written(system, steps=20)) == "iso"  # the ball turns about x, its way is in x-z
    writer = ResultsWriter(system)
    chunk = made_up_chunk(system, np.arange(20))
    chunk["velocity"][:, :, 3:] = 0.0
    writer.append(chunk)
    assert plane_of_motion(writer.close()) == "y"


def test_the_resultant_of_many_contacts_is_in_inertial_axes():
    """A block that sticks on a slope: the friction force balances its weight, whatever the axes of the slope are."""
    model = fem.Model("slope", gravity=[0, 0, -9.81])
    slope = model.ground.frame([0, 0, 0], [0.2, 0.1, 0.3])
    up = slope.rotation[:, 2]
    box = fem.RigidBody.box(2.0, [0.2, 0.2, 0.1], position=0.05 * up, rotation=[0.2, 0.1, 0.3], name="box")
    floor = fem.BoxOnPlane(box, slope, size=[0.2, 0.2, 0.1], friction=0.8, name="floor")
    ball = fem.RigidBody.sphere(1.0, 0.1, position=[5, 0, 0], name="ball")
    model.add(box, floor, ball)
    result = fem.DecoupledNSGA().run(model, t_end=0.1, h=1e-2)
    weight = np.broadcast_to([0, 0, 2.0 * 9.81], (10, 3))
    assert result.resultant(floor)[1:] == pytest.approx(weight, abs=1e-4)
    parts = sum(result.resultant(one) for one in floor.elements)
    assert parts == pytest.approx(result.resultant([floor]), abs=1e-9)
    with pytest.raises(fem.FemMbsError, match="'ball' has no contact force"):
        result.resultant(ball)
    with pytest.raises(fem.FemMbsError, match=r"'slope'.*SphereOnPlane.*model\.add"):
        result.resultant(fem.SphereOnPlane(ball, model.ground, radius=0.1))
