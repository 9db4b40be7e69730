"""Frames of results files: which saved states ParaView sees, and that histories keep all of them."""

import os
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ParameterError
from fem_mbs.results.file import final_layout, guarded_file
from fem_mbs.results.file.final_layout import Rows, chunk_shape
from fem_mbs.results.file.frames import FRAMES, FrameChoice, frame_interval
from fem_mbs.results.file.writer import ResultsWriter

H = 1e-3


def bouncing(height=0.3, restitution=0.8):
    model = fem.Model("bouncing", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1 + height], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=restitution, name="floor"))
    return model


METHOD = fem.DecoupledNSGA()


def times(path):
    """Times of the frames in a file."""
    with h5py.File(path) as file:
        steps = file["VTKHDF/Steps"]
        assert int(steps.attrs["NSteps"]) == len(steps["Values"])
        return steps["Values"][()]


def bits(result):
    """All histories as bytes."""
    return {name: values.tobytes() for name, values in result.rows(np.arange(len(result.t))).items()}


# --- which states ---------------------------------------------------------------------------------------------------


def chosen(choice, t, impact=()):
    """States that are drawn, given in blocks of seven."""
    struck = np.isin(np.arange(len(t)), impact)[:, None]
    rows = {"t": t, "h": np.diff(t, prepend=t[0]), "impact": struck}
    found = []
    for first in range(0, len(t), 7):
        found += [first + i for i in choice.choose({name: values[first : first + 7] for name, values in rows.items()})]
    return found


def test_frames_are_evenly_spaced_and_an_impact_between_two_is_one_more():
    t = 1e-3 * np.arange(1001)
    assert chosen(FrameChoice(0.05), t) == list(range(0, 1001, 50))
    more = set(chosen(FrameChoice(0.05), t, [100, 120, 130, 777])) - set(range(0, 1001, 50))
    assert more == {120, 777}  # 100 is a frame, 130 the second between 100 and 150
    assert chosen(FrameChoice(0.0), t) == list(range(1001))


def test_impacts_in_all_states_double_the_frames_and_no_more():
    t = 1e-3 * np.arange(1001)
    assert len(chosen(FrameChoice(0.05), t, np.arange(1001))) == 2 * 20 + 1


def test_steps_of_variable_size_are_thinned_by_time():
    t = np.cumsum(np.tile([1e-5, 1e-3], 500))
    found = t[chosen(FrameChoice(0.02), t)]
    assert np.allclose(np.diff(found), 0.02, atol=1.1e-3)  # one step


@pytest.mark.parametrize(
    "frames, parameters, interval",
    [
        (FRAMES, {"t_end": 1.0, "h": 1e-3}, 9e-3),  # 1000 states: every ninth
        (FRAMES, {"t_end": 3.0, "t_start": 2.0, "h": 1e-4, "save_every": 10}, 9e-3),
        (FRAMES, {}, 0.0),
        ("all", {"t_end": 1.0, "h": 1e-3}, 0.0),
        (None, {"t_end": 1.0, "h": 1e-3}, None),
        (11, {"t_end": 1.0, "h": 1e-3, "output_times": 5}, 0.0),  # few states that somebody has chosen
        (11, {"t_end": 1.0, "h": 1e-3, "output_times": 500}, 0.1),
    ],
)
def test_the_interval_is_a_whole_number_of_saved_states(frames, parameters, interval):
    found = frame_interval(frames, parameters)
    assert found is None if interval is None else found == pytest.approx(interval, rel=1e-12, abs=0)


# --- runs -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return METHOD.run(bouncing(), 2.0, H, save=tmp_path_factory.mktemp("saved") / "run.vtkhdf")


def test_a_run_has_some_hundred_frames_and_one_at_each_impact(saved):
    found, impacts = times(saved.path), saved.t[saved["floor"].impact.astype(bool)]
    even = saved.t[:: int(np.ceil(2000 / (FRAMES - 1)))]
    assert 100 <= len(even) <= FRAMES
    assert np.isin(even, found).all() and found[-1] == saved.t[-1]
    apart = impacts[np.diff(impacts, prepend=-1.0) > 0.02]  # the last ones come in shorter intervals than frames
    assert len(apart) >= 5 and np.isin(apart, found).all()
    assert len(found) <= len(even) + len(impacts) + 1


def test_histories_do_not_depend_on_frames_or_on_the_file(saved, tmp_path):
    expected = bits(METHOD.run(bouncing(), 2.0, H))
    assert bits(saved) == expected
    for name, frames in (("none", None), ("all", "all"), ("few", 5)):
        result = METHOD.run(bouncing(), 2.0, H, save=tmp_path / f"{name}.vtkhdf", frames=frames)
        assert bits(result) == expected
    assert len(times(tmp_path / "all.vtkhdf")) == 2001
    with h5py.File(tmp_path / "none.vtkhdf") as file:
        assert "VTKHDF" not in file
    assert fem.load(tmp_path / "none.vtkhdf").skin.n_points == saved.skin.n_points


def test_the_reader_of_paraview_sees_frames_at_their_times_in_single_precision(saved):
    vtk = pytest.importorskip("vtk", reason="VTK comes with PyVista, an optional extra")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(saved.path))
    reader.UpdateInformation()
    found = times(saved.path)
    assert reader.GetNumberOfSteps() == len(found)
    for n in (0, 1, len(found) // 2, len(found) - 1):
        reader.SetStep(n)
        reader.Update()
        assert reader.GetTimeValue() == found[n]
        points = vtk_to_numpy(reader.GetOutput().GetPoints().GetData())
        assert points.dtype == np.float32
        expected, _ = saved.scene.frames(saved.rows([saved.at(found[n])]))
        assert points == pytest.approx(expected[0], abs=1.5e-7)  # single precision of numbers up to 1.5


@pytest.mark.parametrize("frames", [1, 0, -3, 2.5, True, "every", [10]])
def test_numbers_of_frames_that_are_none_are_rejected(frames, tmp_path):
    with pytest.raises(ParameterError, match=r'frames.*at least 2.*"all".*None'):
        METHOD.run(bouncing(), 0.1, H, save=tmp_path / "run.vtkhdf", frames=frames)
    assert not os.listdir(tmp_path)


def test_a_file_for_paraview_alone_without_frames_is_rejected(tmp_path):
    with pytest.raises(FemMbsError, match=r"single=True.*frames=None"):
        METHOD.run(bouncing(), 0.1, H, save=tmp_path / "run.vtkhdf", single=True, frames=None)


# --- the file during the run, and when it stops ----------------------------------------------------------------------

SLOW = """
import sys, time
import fem_mbs as fem

class Slow:
    def start(self, system): pass
    def observe(self, records):
        time.sleep(2e-3 * len(records["t"]))
        print(records["t"][-1], flush=True)
    def finish(self): pass

model = fem.Model("slow", gravity=[0, 0, -9.81])
ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.4], name="ball"))
model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.8, name="floor"))
fem.DecoupledNSGA().run(model, 100.0, 1e-3, save=sys.argv[1], observers=[Slow()], progress=False)
"""


def test_a_running_file_is_read_from_its_beginning_and_a_killed_run_loses_seconds(tmp_path):
    """The first states are written after two seconds; a killed run loses no more than that."""
    path = tmp_path / "run.vtkhdf"
    process = subprocess.Popen([sys.executable, "-c", SLOW, path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline(), "the run did not begin"
        early = fem.load(path)
        assert early.status == "running" and "running" in early.report()
        assert len(early.t) == len(early["ball"].position) == len(early.rows([])["t"]) == 0
        with pytest.raises(FemMbsError, match="nothing to draw yet"):
            _ = early.skin
        begin, last = time.monotonic(), 0.0
        while time.monotonic() < begin + 6.0:
            last = float(process.stdout.readline())
        found = fem.load(path)
        assert found.status == "running" and len(found.t) > 100
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    found = fem.load(path)
    assert np.array_equal(found.step, np.arange(len(found.t)))
    assert found.t[-1] > last - 2.5  # at 2 ms of the clock for each step at least: 1.25 s of them are lost at most
    whole = METHOD.run(bouncing(), found.t[-1], H)
    assert found["ball"].position.tobytes() == whole["ball"].position.tobytes()
    assert len(times(path)) > 1 and np.isin(times(path), found.t).all()


class Interrupting:
    """Observer that presses Ctrl-C."""

    def start(self, system):
        self.left = 100

    def observe(self, records):
        self.left -= len(records["t"])
        if self.left < 0 <= self.left + len(records["t"]):
            os.kill(os.getpid(), signal.SIGINT)

    def finish(self):
        pass


def test_ctrl_c_before_the_first_write_leaves_all_states(tmp_path):
    path = tmp_path / "run.vtkhdf"
    with pytest.raises(KeyboardInterrupt) as caught:
        METHOD.run(bouncing(), 100.0, H, save=path, observers=[Interrupting()])
    found = fem.load(path)
    assert found.status.startswith("stopped: interrupted at t = ") and len(found.t) > 100
    assert bits(found) == bits(caught.value.result) and times(path)[-1] == found.t[-1]
    assert os.listdir(tmp_path) == ["run.vtkhdf"]


@pytest.mark.parametrize("broken", ["no room", "interrupted"])
def test_where_the_final_file_cannot_be_written_the_larger_one_has_all_states(broken, saved, tmp_path, monkeypatch):
    class NoRoom(guarded_file.GuardedFile):
        def write(self, data):
            if str(self.raw.name).endswith(".part"):
                self.error = OSError(28, "No space left on device")
            return super().write(data)

    path = tmp_path / "run.vtkhdf"
    if broken == "no room":
        monkeypatch.setattr(final_layout, "GuardedFile", NoRoom)
        METHOD.run(bouncing(), 2.0, H, save=path)
    else:
        repack, calls = final_layout.repack, []

        def interrupted(*given):
            calls.append(given)
            if len(calls) == 1:
                raise KeyboardInterrupt
            return repack(*given)

        monkeypatch.setattr(final_layout, "repack", interrupted)
        with pytest.raises(KeyboardInterrupt):
            METHOD.run(bouncing(), 2.0, H, save=path)
    found = fem.load(path)
    assert found.status == "complete" and bits(found) == bits(saved)
    assert np.array_equal(times(path), times(saved.path)) and os.listdir(tmp_path) == ["run.vtkhdf"]


# --- the final layout -------------------------------------------------------------------------------------------------


def test_a_file_written_at_once_equals_one_that_has_grown(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(ResultsWriter, "end", lambda self: None)  # every write goes to the file
    METHOD.run(bouncing(), 2.0, H, save=tmp_path / "grown.vtkhdf")
    apart = ("fem_mbs/statistics",)
    with h5py.File(saved.path) as a, h5py.File(tmp_path / "grown.vtkhdf") as b:
        names, others = [], []
        a.visit(names.append)
        b.visit(others.append)
        assert names == others
        for name in names:
            if isinstance(a[name], h5py.Dataset) and name not in apart:
                assert a[name].chunks == b[name].chunks and np.array_equal(a[name][()], b[name][()]), name


@pytest.mark.parametrize("shape", [(1001, 10, 3), (1001, 104), (40, 5000, 3), (7, 3), (100_000,), (3, 2, 2, 3)])
@pytest.mark.parametrize("rows", [Rows(0), Rows(0, narrow=False), Rows(0, 2**18, shuffle=False)])
def test_packed_chunks_hold_what_was_given_and_are_of_bounded_size(shape, rows, tmp_path):
    data = np.random.default_rng(1).normal(size=shape)
    chunk = chunk_shape(shape, 8, rows)
    assert all(1 <= c <= n for c, n in zip(chunk, shape))
    row = 8 * int(np.prod(shape[1:]))
    assert 8 * np.prod(chunk) <= max(rows.block, row)
    assert not rows.narrow or 8 * np.prod(chunk) <= max(final_layout.NARROW, 8 * chunk[0])
    with h5py.File(tmp_path / "data.h5", "w") as file:
        final_layout.write_packed(file, "data", data, rows._replace(n=len(data) - 1))
    with h5py.File(tmp_path / "data.h5") as file:
        assert file["data"][()].tobytes() == data[:-1].tobytes()
