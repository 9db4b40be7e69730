"""Writing results files: one writer at a time, nobody else's file, a full disk, files for ParaView alone."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from h5py._hl.base import phil
from made_up import H, made_up_chunk, made_up_system, written

from fem_mbs.errors import FemMbsError, FileError
from fem_mbs.results.file import file_lock, final_layout, guarded_file, recovered
from fem_mbs.results.file.file_lock import FileLock, lock_path
from fem_mbs.results.file.writer import ResultsWriter
from fem_mbs.results.results import Results

HELPERS = Path(__file__).parents[2] / "helpers"


@pytest.fixture(scope="module")
def system():
    return made_up_system()


def python(script, *arguments, **options):
    """A Python process that finds made_up.py."""
    environment = os.environ | {"PYTHONPATH": str(HELPERS)}
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


# --- one writer ---------------------------------------------------------------------------------------------------

WRITES = """
import sys, time
import numpy as np
from made_up import made_up_chunk, made_up_system
from fem_mbs.results.file.writer import ResultsWriter

system = made_up_system()
writer = ResultsWriter(system, sys.argv[1])
writer.append(made_up_chunk(system, np.arange(10)))
print("writing", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that has begun a results file, and the path of that file."""
    path = tmp_path / "same.vtkhdf"
    process = python(WRITES, path, stdin=subprocess.PIPE)
    assert process.stdout.readline() == "writing\n", process.communicate()[1]
    yield process, path
    process.kill()
    process.communicate()


def test_a_file_that_another_process_writes_is_rejected_and_stays_readable(other, system):
    process, path = other
    with pytest.raises(FileError, match=rf"same\.vtkhdf.*written.* {process.pid} .*save=") as caught:
        ResultsWriter(system, path)
    assert caught.value.path == str(path)
    assert np.array_equal(Results.read(path).step, np.arange(10))
    with h5py.File(path, "r") as file:  # with HDF5's own lock, as ParaView opens it
        assert file["VTKHDF/Steps"].attrs["NSteps"] == 10


def test_a_writer_that_was_killed_does_not_lock_its_file(other, system):
    process, path = other
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert lock_path(path).exists()  # what a crash leaves
    assert len(written(system, path, steps=3).t) == 4
    assert not lock_path(path).exists()


def test_a_second_writer_in_one_process_is_rejected_also_under_another_name_of_the_file(system, tmp_path):
    first = ResultsWriter(system, tmp_path / "same.vtkhdf")
    (tmp_path / "link.vtkhdf").symlink_to("same.vtkhdf")
    for name in ("same.vtkhdf", "link.vtkhdf"):
        with pytest.raises(FileError, match=f"{name} .*written.* {os.getpid()}"):
            ResultsWriter(system, tmp_path / name)
    first.close()
    ResultsWriter(system, tmp_path / "same.vtkhdf").close()


def test_a_lock_file_deleted_by_its_holder_meanwhile_locks_nothing(tmp_path, monkeypatch):
    path, opened = tmp_path / "run.vtkhdf", []

    def opens_late(name, *arguments, **options):
        file = open(name, *arguments, **options)
        if not opened:
            opened.append(file)
            os.unlink(name)  # the holder before releases between our opening and our locking
        return file

    monkeypatch.setattr(file_lock, "open", opens_late, raising=False)
    with FileLock(path):
        assert lock_path(path).exists()  # the second attempt holds the file that others see
        with pytest.raises(FileError, match="is being written"):
            FileLock(path)


def test_recovered_forces_are_not_put_into_a_file_that_is_being_written(system, tmp_path):
    writer = ResultsWriter(system, tmp_path / "run.vtkhdf")
    with pytest.raises(FileError, match="is being written"):
        recovered.write(tmp_path / "run.vtkhdf", "table", np.zeros(0, [("t", float)]), (1.0, "", 1.5, ""), {})
    writer.close()


def test_results_of_a_file_replaced_since_are_not_those_of_the_new_run(system, tmp_path):
    first = written(system, tmp_path / "run.vtkhdf", steps=5)
    written(system, tmp_path / "run.vtkhdf", steps=9)
    with pytest.raises(FileError, match=r"run\.vtkhdf was replaced"):
        _ = first["ball"].position


# --- other people's files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.h5", "notes.vtkhdf"])
def test_a_file_of_another_program_is_left_as_it_is(name, system, tmp_path):
    path = tmp_path / name
    if name == "data.h5":
        with h5py.File(path, "w") as file:
            file["measured"] = np.arange(5.0)
    else:
        path.write_text("my notes")
    before = path.read_bytes()
    with pytest.raises(FileError, match=f"{name} exists.*not a results file"):
        ResultsWriter(system, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]  # no lock is left


def test_an_empty_file_and_an_older_run_are_replaced(system, tmp_path):
    path = tmp_path / "run.vtkhdf"
    path.touch()
    assert len(written(system, path, steps=3).t) == 4
    assert len(written(system, path, steps=5).t) == 6


def test_a_folder_that_takes_no_files_is_named(system, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(FileError, match=r"file/run\.vtkhdf cannot be written"):
        ResultsWriter(system, tmp_path / "file" / "run.vtkhdf")


# --- a full disk --------------------------------------------------------------------------------------------------

FILLS = """
import sys
import time
import numpy as np
from made_up import H, made_up_chunk, made_up_system
from fem_mbs.errors import FileError
from fem_mbs.results.file.writer import ResultsWriter
{prepare}
system = made_up_system()
writer = ResultsWriter(system, sys.argv[1], parameters={{"t_end": 1e4 * H, "h": H}} if {known} else None)
try:
    for n in range(1000):
        writer.append(made_up_chunk(system, np.arange(20 * n, 20 * n + 20)))
    print("no error")
except FileError as error:
    print(error)
try:
    writer.close("FileError")
except FileError as error:
    print(error.result)
"""
LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (250_000_000, 250_000_000))"


def check_full(path, process, cause):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err  # HDF5 crashed here at the end of the program
    assert err == ""
    first, *rest = out.splitlines()
    assert f"{path} " in first and cause in first
    result = Results.read(path)
    kept = len(result.t)
    assert kept >= 20 and f"first {kept} saved states" in first
    assert np.array_equal(result.step, np.arange(kept))
    assert np.isfinite(result["ball"].position).all() and result["ball"].position[-1, 0] == pytest.approx(
        0.9 + 0.1 * H * (kept - 1),
        abs=1e-14,  # round-off
    )
    assert result.status == "stopped: FileError"
    assert f"{kept} states saved" in "\n".join(rest)


def test_a_file_that_may_not_grow_ends_in_a_clear_error_with_all_states_before(tmp_path):
    # space is taken for 1024 states in advance; growing past them raises an error
    path = tmp_path / "large.vtkhdf"
    process = python(FILLS.format(prepare=LIMIT, known=False), path)
    check_full(path, process, "file has reached the largest size that this system allows")


def test_a_full_disk_ends_in_a_clear_error_with_all_states_before(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk], capture_output=True)
    if mount.returncode:
        pytest.skip("only root may mount the small disk of this test; the two next to it need none")
    try:
        process = python(FILLS.format(prepare="", known=True), disk / "run.vtkhdf")
        check_full(disk / "run.vtkhdf", process, "disk is full")
    finally:
        subprocess.run(["umount", disk], check=True)


class FullDisk:
    """The file under a `GuardedFile`, on a disk that takes so many bytes more."""

    def __init__(self, raw, left):
        self.raw, self.left = raw, left

    def write(self, data):
        if len(data) > self.left:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.left -= len(data)
        return self.raw.write(data)

    def __getattr__(self, name):
        return getattr(self.raw, name)


@pytest.mark.parametrize("left", [0, 3_000, 100_000, 1_000_000, 2_500_000])
def test_wherever_the_disk_gets_full_the_states_counted_before_can_be_read(left, system, tmp_path):
    path = tmp_path / "run.vtkhdf"
    writer = ResultsWriter(system, path)
    writer.append(made_up_chunk(system, np.arange(5)))
    writer.disk.raw = FullDisk(writer.disk.raw, left)
    kept = 5
    with pytest.raises(FileError, match="the disk is full") as caught:
        for n in range(1, 1000):
            writer.append(made_up_chunk(system, np.arange(5 * n, 5 * n + 5)))
            kept += 5
    assert f"first {kept} saved states" in str(caught.value)
    with pytest.raises(FileError, match="the disk is full") as caught:
        writer.close("FileError: the disk is full")
    result = Results.read(path)
    assert np.array_equal(result.step, np.arange(kept)) and result.status == "stopped: FileError: the disk is full"
    assert np.array_equal(caught.value.result.step, result.step)
    for name, values in result.rows(np.arange(kept)).items():
        expected = written(system, steps=kept - 1).rows(np.arange(kept))[name]
        assert np.array_equal(values, expected), name
    assert not lock_path(path).exists()


def test_a_disk_without_room_for_the_small_copy_keeps_the_large_file(system, tmp_path, monkeypatch):
    class NoRoom(guarded_file.GuardedFile):
        def __init__(self, path, mode):
            super().__init__(path, mode)
            if str(path).endswith(".part"):
                self.raw = FullDisk(self.raw, 10_000)

    monkeypatch.setattr(final_layout, "GuardedFile", NoRoom)
    result = written(system, tmp_path / "run.vtkhdf", steps=30)
    assert result.status == "complete" and np.array_equal(result.step, np.arange(31))
    assert os.listdir(tmp_path) == ["run.vtkhdf"]


def test_cutting_a_file_where_it_stands_reports_its_size(tmp_path):
    file = guarded_file.GuardedFile(tmp_path / "file", "w+b")
    file.write(b"123456")
    file.seek(4)
    assert file.truncate() == 4
    file.close()
    assert (tmp_path / "file").read_bytes() == b"1234"


def test_a_run_on_a_full_disk_raises_with_what_was_computed(tmp_path, monkeypatch):
    import bouncing_ball

    import fem_mbs as fem

    start = ResultsWriter._create

    def small(self, *arguments):
        start(self, *arguments)
        self.disk.raw = FullDisk(self.disk.raw, 3_000_000)

    monkeypatch.setattr(ResultsWriter, "_create", small)
    with pytest.raises(fem.FileError, match=r"ball\.vtkhdf .*written.*disk is full") as caught:
        fem.DecoupledNSGA().run(bouncing_ball.build(), 3.0, 1e-4, save=tmp_path / "ball.vtkhdf")
    kept = fem.load(tmp_path / "ball.vtkhdf")
    assert kept.status.startswith("stopped: FileError at t = ") and len(kept.t) > 0
    assert np.array_equal(caught.value.result["ball"].position, kept["ball"].position)


# --- what is in the file ------------------------------------------------------------------------------------------


def rows(path):
    """Number of rows of every dataset of the histories and of the frames in a file."""
    with h5py.File(path) as file:
        found = {name: len(data) for name, data in file["fem_mbs/histories"].items()}
        steps = file["VTKHDF/Steps"]
        points = int(file["VTKHDF/NumberOfPoints"][0])
        found |= {"Values": len(steps["Values"]), "NSteps": int(steps.attrs["NSteps"])}
        found["frames of Points"] = len(file["VTKHDF/Points"]) / points
        return found | {f"frames of {name}": len(d) / points for name, d in file["VTKHDF/PointData"].items()}


def test_a_large_file_is_cut_to_its_length(system, tmp_path, monkeypatch):
    monkeypatch.setattr(final_layout, "COPY_LIMIT", 0)
    writer = ResultsWriter(system, tmp_path / "large.vtkhdf")  # of unknown length: space for 1024 states
    writer.append(made_up_chunk(system, np.arange(31)))
    before = rows(tmp_path / "large.vtkhdf")
    assert before["position"] == 1024 and before["frames of Points"] == 1024
    path = writer.close().path
    assert set(rows(path).values()) == {31}


def frames(path):
    """Times of the frames for ParaView."""
    with h5py.File(path) as file:
        return file["VTKHDF/Steps/Values"][()]


def test_the_state_in_which_a_run_ends_is_a_frame_with_its_points(system, tmp_path):
    writer = ResultsWriter(system, tmp_path / "few.vtkhdf", parameters={"t_end": 2.0, "h": H}, frames=3)
    chunk = made_up_chunk(system, np.arange(151))  # stops at 1.5 s: frames are due at 0, 1 and 2 s
    writer.append(chunk | {"impact": 0 * chunk["impact"]})
    result = writer.close("interrupted at t = 1.5 s")
    assert frames(result.path) == pytest.approx([0.0, 1.0, 1.5], abs=1e-12)
    with h5py.File(result.path) as file:
        last = file["VTKHDF/Points"][-result.skin.n_points :]
    expected, _ = result.scene.frames(result.rows([150]))
    assert last == pytest.approx(expected[0], abs=1.5e-7)  # single precision of numbers up to 1.5


def test_a_chunk_of_zeros_is_packed_as_any_other_and_signed_zeros_are_kept():
    for rows in (np.zeros((5, 3), np.float32), np.full((5, 3), -0.0, np.float32), np.ones((5, 3), np.float32)):
        for shuffle in (False, True):
            data = np.frombuffer(zlib.decompress(final_layout.packed(rows, (8, 3), shuffle)), np.uint8)
            data = data.reshape(4, -1).T.copy() if shuffle else data
            back = data.view(np.float32).reshape(8, 3)
            assert back[:5].tobytes() == rows.tobytes() and not back[5:].any()


def test_a_finished_file_is_compressed_and_components_of_nodes_are_read_alone(system, tmp_path):
    result = written(system, tmp_path / "run.vtkhdf", steps=2000)
    with h5py.File(result.path) as file:
        for name in ("VTKHDF/Points", "fem_mbs/histories/position"):
            data = file[name]
            assert data.compression == "gzip" and data.id.get_storage_size() < 0.7 * data.nbytes
        rows, nodes, components = file["fem_mbs/histories/position"].chunks
        assert rows >= 500 and nodes == components == 1


def test_a_file_for_paraview_alone_is_small_and_histories_stay_in_memory(system, tmp_path):
    whole = written(system, tmp_path / "whole.vtkhdf")
    single = written(system, tmp_path / "single.vtkhdf", single=True)
    assert np.array_equal(single["ball"].position, whole["ball"].position) and single.path is None
    sizes = [(tmp_path / name).stat().st_size for name in ("single.vtkhdf", "whole.vtkhdf")]
    assert sizes[0] < 0.65 * sizes[1]  # 0.60 here, 0.58 of two bodies and 5,001 states
    with h5py.File(tmp_path / "single.vtkhdf") as a, h5py.File(tmp_path / "whole.vtkhdf") as b:
        assert "histories" not in a["fem_mbs"] and "skin" not in a["fem_mbs"]
        assert np.array_equal(a["VTKHDF/Steps/Values"], b["VTKHDF/Steps/Values"])
        for name in ("Points", "PointData/velocity", "PointData/contact_force"):
            exact, stored = b["VTKHDF"][name][()], a["VTKHDF"][name][()]
            assert np.all(np.abs(stored - exact) <= 2.0**-16 * np.abs(exact)), (
                name
            )  # half a unit of the last of 16 bits
    with pytest.raises(FileError, match=r"single\.vtkhdf.*single=True"):
        Results.read(tmp_path / "single.vtkhdf")
    assert len(written(system, tmp_path / "single.vtkhdf").t) == 201  # it is ours, and may be replaced


def test_paraview_reads_a_file_for_it_alone(system, tmp_path):
    vtk = pytest.importorskip("vtk", reason="VTK comes with PyVista, an optional extra")
    result = written(system, tmp_path / "single.vtkhdf", single=True, frames="all")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(tmp_path / "single.vtkhdf"))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == 201
    reader.SetStep(200)
    reader.Update()
    assert reader.GetTimeValue() == result.t[200]
    assert reader.GetOutput().GetNumberOfPoints() == result.skin.n_points


@pytest.mark.parametrize("single", [False, True])
def test_a_pvd_for_older_viewers_is_written_next_to_the_file_when_asked_for(single, system, tmp_path):
    result = written(system, tmp_path / "run.vtkhdf", steps=10, pvd=True, single=single)
    text = (tmp_path / "run.pvd").read_text()
    assert text.count("<DataSet ") == 11 and f'timestep="{result.t[10]:.17g}"' in text
    assert len(list((tmp_path / "run").glob("*.vtu"))) == 11


@pytest.mark.parametrize("option", ["single", "pvd"])
def test_options_of_the_file_without_a_file_are_rejected(option, system):
    with pytest.raises(FemMbsError, match=f"{option}=True.*save="):
        ResultsWriter(system, **{option: True})


def test_names_with_commas_and_quotes_are_one_column_of_a_table(tmp_path):
    import csv

    import fem_mbs as fem
    from fem_mbs.results.export import table

    model = fem.Model("names")
    for name in ('ball, "big"', "ball"):
        model.add(fem.RigidBody.sphere(1.0, 0.1, velocity=[1.0, 0, 0], name=name))
    result = fem.DecoupledNSGA().run(model, 0.01, 1e-2)
    (path,) = table(result, tmp_path / "names.csv", 'ball, "big".acceleration', "ball.position.x")
    with open(path, encoding="utf-8", newline="") as file:
        header, *numbers = csv.reader(file)
    expected = [f'ball, "big" acceleration {c} [m/s²]' for c in "xyz"]
    assert header == ["time [s]", *expected, "ball position x [m]"]
    assert all(len(row) == 5 for row in numbers) and float(numbers[1][4]) == pytest.approx(0.01, rel=1e-12)


def test_threads_that_pack_may_take_the_lock_of_h5py(system, tmp_path, monkeypatch):
    """Garbage collection in one of them closes the rest of other files, which needs the lock."""
    pack = final_layout.packed
    waits = []

    def packed(*arguments):
        begin = time.monotonic()
        while not phil.acquire(False) and time.monotonic() < begin + 2:
            time.sleep(1e-3)
        waits.append(time.monotonic() - begin)
        with contextlib.suppress(RuntimeError):
            phil.release()
        return pack(*arguments)

    monkeypatch.setattr(final_layout, "packed", packed)
    monkeypatch.setattr(final_layout, "THREADS_FROM", 0)
    writer = ResultsWriter(system, tmp_path / "run.vtkhdf")
    writer.append(made_up_chunk(system, np.arange(2000)))
    writer.close()
    assert waits and max(waits) < 1.5
