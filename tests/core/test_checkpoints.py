"""Checkpoint files: complete or the previous one, for the right model, errors; results that are continued."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from resumed import Killed, differences, stop_after

import fem_mbs as fem
from fem_mbs.cli import main
from fem_mbs.errors import FileError, ModelError, ParameterError
from fem_mbs.solvers.stepping.saved import checkpoint_file, checkpoints

HELPERS = Path(__file__).parents[1] / "helpers"


def balls(mass=1.0, push=None):
    """Two balls that bounce, slide and roll; one may be pushed by a function of time."""
    model = fem.Model("balls", gravity=[0, 0, -9.81])
    for k in range(2):
        motion = {"velocity": [0.4, 0.1 * k, 0], "angular_velocity": [0, 2.0 * k, 0.5]}
        ball = fem.RigidBody.sphere(mass, 0.1, position=[k, 0, 0.15 + 0.05 * k], name=f"ball {k}", **motion)
        model.add(ball)
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, friction=0.3, name=f"floor {k}"))
    if push is not None:
        model.add(fem.PointForce(model["ball 0"], force=[1, 0, 0], signal=push, name="push"))
    return model


METHOD = fem.DecoupledNSGA()
H = 1e-3


@pytest.fixture(scope="module")
def whole():
    return METHOD.run(balls(), 0.4, H)


def die(monkeypatch, path, model=None, *, after=100, **options):
    """A run with a checkpoint each 50 steps, the last one after 100 of them."""
    with monkeypatch.context() as patch:
        stop_after(patch, after)
        with pytest.raises(Killed):
            METHOD.run(model or balls(), 0.4, H, save=path, checkpoint_every="50 steps", **options)


@pytest.fixture(scope="module")
def one_that_died(tmp_path_factory):
    """Folder with the files of a run that died; tests continue copies of it."""
    folder = tmp_path_factory.mktemp("died")
    with pytest.MonkeyPatch.context() as patch:
        die(patch, folder / "run.vtkhdf")
    return folder


@pytest.fixture
def died(one_that_died, tmp_path):
    """Results file of a run that died, in a folder of its own."""
    shutil.copytree(one_that_died, tmp_path, dirs_exist_ok=True)
    return tmp_path / "run.vtkhdf"


# --- what is resumed --------------------------------------------------------------------------------------------------


def test_rows_after_the_checkpoint_are_cut_off_and_computed_again(monkeypatch, tmp_path, died, whole):
    path = died
    assert len(fem.load(path).t) == 151  # 50 steps more than the checkpoint
    seen = []
    write = checkpoints.Checkpoints.write
    monkeypatch.setattr(checkpoints.Checkpoints, "write", lambda self, c: (seen.append(c.done), write(self, c)))
    resumed = fem.resume(path)
    assert seen[0] == 150 and differences(whole, resumed) == []
    assert not list(tmp_path.glob("*.before")) and not list(tmp_path.glob("*.part"))


# the checkpoint is at a saved state with 1 and 5, between two with 7
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 5, 7])
def test_the_file_of_a_resumed_run_is_that_of_one_run_for_paraview_too(every, monkeypatch, tmp_path):
    import h5py

    METHOD.run(balls(), 0.4, H, save=tmp_path / "whole.vtkhdf", save_every=every)
    die(monkeypatch, tmp_path / "run.vtkhdf", save_every=every)
    resumed = fem.resume(tmp_path / "run.vtkhdf")
    assert resumed.step.tolist() == [*range(0, 400, every), 400]
    compared = 0
    with h5py.File(tmp_path / "whole.vtkhdf") as a, h5py.File(tmp_path / "run.vtkhdf") as b:

        def same(name, item):
            nonlocal compared
            if isinstance(item, h5py.Dataset) and name not in ("fem_mbs/statistics", "fem_mbs/versions"):
                compared += 1
                assert np.array_equal(item[()], b[name][()]), name

        a.visititems(same)
    assert compared > 40


def test_a_complete_run_continues_to_a_later_end(tmp_path, whole):
    """Its last state, saved out of turn, is not one of the longer run."""
    path = tmp_path / "run.vtkhdf"
    METHOD.run(balls(), 0.25, H, save=path, save_every=20, checkpoint_every=3600.0)
    with pytest.raises(ParameterError, match=r"t_end .*run\.vtkhdf.*complete.*0\.25 s"):
        fem.resume(path)
    with pytest.raises(ParameterError, match=r"t_end = 0\.2 s.*before.*0\.25 s"):
        fem.resume(path, 0.2)
    resumed = fem.resume(path, 0.4)
    assert resumed.status == "complete" and resumed.parameters["t_end"] == 0.4
    longer = METHOD.run(balls(), 0.4, H, save_every=20)
    assert differences(longer, resumed) == []


def test_ctrl_c_leaves_a_checkpoint_where_the_run_ended(monkeypatch, tmp_path, whole):
    from fem_mbs.solvers.stepping.march import chunks

    take, path = chunks.Chunks._take, tmp_path / "run.vtkhdf"

    def interrupted(self, count):
        seconds = take(self, count)
        if self.done > 30:
            os.kill(os.getpid(), signal.SIGINT)
        return seconds

    with monkeypatch.context() as patch:
        patch.setattr(chunks.Chunks, "_take", interrupted)
        with pytest.raises(KeyboardInterrupt):
            METHOD.run(balls(), 0.4, H, save=path, checkpoint_every=3600.0, progress=False)
    head, _ = checkpoint_file.read(checkpoint_file.checkpoint_path(path))
    assert 30 < head["step"] < 400 and not head["complete"]
    assert differences(whole, fem.resume(path)) == []


def test_observers_continue_with_what_they_have_seen(monkeypatch, tmp_path):
    def watch():
        return fem.ForceObserver("floor 0", speed_tolerance=2e-2, stiffness=1e7, model="flores")

    one = watch()
    METHOD.run(balls(), 0.4, H, save_every=9, observers=[one])
    path, two = tmp_path / "run.vtkhdf", watch()
    die(monkeypatch, path, observers=[two], save_every=9)
    again, saved = watch(), fem.resume(path, 0.4)
    for found in (saved.observers[0], fem.resume(path, 0.4, observers=[again]).observers[0]):
        assert len(one.impacts) > 1 and found.impacts.tobytes() == one.impacts.tobytes()
        assert found.continuous.tobytes() == one.continuous.tobytes()
    assert again.impacts.tobytes() == one.impacts.tobytes()
    with pytest.raises(ParameterError, match=r"observers = 2 .* 1"):
        fem.resume(path, 0.5, observers=[again, again])


def test_warnings_and_counts_of_before_are_reported_at_the_end(monkeypatch, tmp_path):
    """A driver that jumps before the checkpoint is reported after it."""

    def jumping():
        model = fem.Model("jump")
        arm = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], angular_velocity=[0, 0, 2], name="arm"))
        model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 0, 1]))
        model.add(fem.RevoluteDriver.at(model.ground, arm, [0, 0, 0], [0, 0, 1], angle=jump, name="motor"))
        return model

    one, path = METHOD.run(jumping(), 0.4, H), tmp_path / "run.vtkhdf"
    assert any("RevoluteDriver 'motor' jumps" in text for text in one.warnings)
    die(monkeypatch, path, jumping())
    assert differences(one, fem.resume(path)) == []


def jump(t):
    return 2.0 * t + np.where(t < 0.0305, 0.0, 0.025)


def test_the_command_line_resumes(died, capsys, whole):
    path = died
    assert main(["resume", str(path), "--quiet"]) == 0
    assert "balls" in capsys.readouterr().out and differences(whole, fem.load(path)) == []
    assert main(["resume", str(path), "--quiet"]) == 2
    assert "complete" in capsys.readouterr().err


# --- models -----------------------------------------------------------------------------------------------------------


def test_a_model_with_a_lambda_is_asked_for_and_compared(monkeypatch, tmp_path):
    def pushed(size=1.0, mass=1.0):
        return balls(mass, lambda t: size * np.sin(20 * t))

    one, path = METHOD.run(pushed(), 0.4, H), tmp_path / "run.vtkhdf"
    die(monkeypatch, path, pushed())
    with pytest.raises(ModelError, match=r"no model.*resume\(FILE, model=model\)"):
        fem.resume(path)
    with pytest.raises(ModelError, match=r"'push' at t = 0\.1 s differs"):
        fem.resume(path, model=pushed(size=1.001))
    with pytest.raises(ModelError, match=r"'balls'.*RigidBody differs"):
        fem.resume(path, model=pushed(mass=1.0 + 1e-15))
    more = pushed()
    more.add(fem.PointMass(1.0))
    with pytest.raises(ModelError, match="differs"):
        fem.resume(path, model=more)
    assert differences(one, fem.resume(path, model=pushed())) == []


def test_options_without_support_of_checkpoints_are_rejected_before_the_run(tmp_path):
    path = tmp_path / "run.vtkhdf"
    for options, words in (
        ({"checkpoint_every": 5.0}, r"checkpoint_every = 5\.0 .*file"),
        ({"checkpoint_every": 5.0, "save": path, "single": True}, "not single=True"),
        ({"checkpoint_every": "5", "save": path}, "checkpoint_every = '5'.*\"1000 steps\""),
        ({"checkpoint_every": 0, "save": path}, "checkpoint_every = 0.0 s.*> 0"),
        ({"checkpoint_every": 1.0, "save": path, "observers": [Stateless()]}, r"'Stateless'.*get_state\(\)"),
    ):
        with pytest.raises(ParameterError, match=words):
            METHOD.run(balls(), 0.1, H, **options)
    METHOD.run(balls(), 0.01, H, save=path)  # nobody holds the file
    with pytest.raises(FileError, match=r"run\.vtkhdf\.checkpoint.*not exist"):
        fem.resume(path)


class Stateless:
    def start(self, system): ...

    def observe(self, block): ...

    def finish(self): ...


# --- files ------------------------------------------------------------------------------------------------------------


def test_damage_and_other_versions_are_reported(monkeypatch, died):
    path = died
    file = checkpoint_file.checkpoint_path(path)
    data = file.read_bytes()
    for bad, words in (
        (data[:-100], "damaged.*'state'"),
        (data[:2000] + b"x" + data[2001:], "is damaged"),
        (b"GIF89a", "not a checkpoint"),
        (
            data.replace(b'"fem_mbs": "', b'"fem_mbs": "9', 1).replace(b', "h5py"', b',"h5py"', 1),
            "written by fem_mbs 9",
        ),
    ):
        file.write_bytes(bad)
        with pytest.raises(FileError, match=words):
            fem.resume(path)
    file.write_bytes(data)
    with monkeypatch.context() as patch:
        now = checkpoint_file.environment()
        patch.setattr("fem_mbs.solvers.stepping.saved.resume.environment", lambda: now | {"numba": "0.0"})
        assert "numba" in fem.resume(path).warnings[-1]


def test_a_file_of_another_run_is_not_continued(died):
    path = died
    METHOD.run(balls(), 0.1, H, save=path)
    with pytest.raises(FileError, match=r"run\.vtkhdf was replaced"):
        fem.resume(path)
    assert len(fem.load(path).t) == 101


def test_who_dies_while_the_results_are_copied_can_resume_again(monkeypatch, died, whole):
    from fem_mbs.results.file import continued

    path = died
    with monkeypatch.context() as patch:
        patch.setattr(continued, "copy_into", lambda *_: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            fem.resume(path)
    assert len(fem.load(path).t) == 151  # restored
    os.replace(path, continued.before_path(path))  # as a killed process leaves it
    path.write_bytes(b"half a file")
    checkpoint = checkpoint_file.checkpoint_path(path)
    assert checkpoint.exists()
    path.unlink()
    assert differences(whole, fem.resume(path)) == []


def test_a_resumed_run_that_cannot_begin_holds_no_files(monkeypatch, died, whole):
    from fem_mbs.results.file.file_lock import lock_path
    from fem_mbs.solvers.stepping.march import chunks

    path = died
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        patch.setattr(chunks.Chunks, "set_state", lambda *_: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed) as caught:
            fem.resume(path)
        assert not lock_path(path).exists()
        del caught
        gc.collect()
    assert differences(whole, fem.resume(path)) == []


SCRIPT = """
import os, signal, sys
sys.path[:0] = [{helpers!r}, {here!r}]
import test_checkpoints as t
from fem_mbs.solvers.stepping.saved import checkpoint_file
if {kill}:
    real, calls = os.fsync, []
    def fsync(number):
        calls.append(number)
        if "checkpoint.part" in os.readlink(f"/proc/self/fd/{{number}}"):
            fsync.written += 1
            if fsync.written == {kill}:
                os.truncate(number, os.fstat(number).st_size // 2)  # in the middle of it
                os.kill(os.getpid(), signal.SIGKILL)
        real(number)
    fsync.written = 0
    os.fsync = fsync
t.METHOD.run(t.balls(), {t_end}, {h}, save={path!r}, checkpoint_every={every!r}, progress=False)
"""


def child(path, t_end, h, every, kill=0):
    """A process that runs the balls, and kills itself in the middle of the checkpoint number ``kill``."""
    text = SCRIPT.format(
        helpers=str(HELPERS), here=str(Path(__file__).parent), kill=kill, t_end=t_end, h=h, path=str(path), every=every
    )
    return subprocess.Popen([sys.executable, "-c", text])


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the names of open files are read from /proc")
def test_sigkill_in_the_middle_of_a_checkpoint_leaves_the_one_before(tmp_path, whole):
    path = tmp_path / "run.vtkhdf"
    assert child(path, 0.4, H, "60 steps", kill=3).wait(120) == -signal.SIGKILL
    head, _ = checkpoint_file.read(checkpoint_file.checkpoint_path(path))
    assert head["step"] == 120 and Path(f"{path}.checkpoint.part").exists()
    assert differences(whole, fem.resume(path)) == []


@pytest.mark.slow
def test_twenty_of_twenty_runs_that_were_killed_at_random_end_with_the_same_bits(tmp_path):
    """1e4 steps with contacts, SIGKILL at a random moment, the rest by resume."""
    rng, t_end, h = np.random.default_rng(12), 1.0, 1e-4
    one = METHOD.run(balls(), t_end, h)
    assert one.step[-1] == 10_000 and any(one[name].impact.sum() > 5 for name in one.contacts)
    same, killed = 0, []
    while len(killed) < 20:
        path = tmp_path / f"run{len(killed)}.vtkhdf"
        process = child(path, t_end, h, "37 steps")
        file = checkpoint_file.checkpoint_path(path)
        while not file.exists() and process.poll() is None:
            time.sleep(1e-3)
        time.sleep(rng.uniform(0.0, 2.0))
        process.kill()
        if process.wait() != -signal.SIGKILL:
            continue
        killed.append(checkpoint_file.read(file)[0]["step"])
        same += differences(one, fem.resume(path)) == [] if killed[-1] < 10_000 else 1
    assert same == 20, f"{same} of 20, seed 12, checkpoints after {killed} steps"
    assert len(set(killed)) > 10


# --- second best ------------------------------------------------------------------------------------------------------


def test_another_method_continues_from_a_state_by_the_names_of_nodes(whole):
    changed = fem.Model("changed", gravity=[0, 0, -9.81])
    other = changed.add(fem.RigidBody.sphere(2.0, 0.1, position=[5, 5, 5], name="new"))
    ball = changed.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1], name="ball 1"))
    changed.add(fem.SphereOnPlane(ball, changed.ground, radius=0.1, name="floor"))
    with pytest.raises(ModelError, match=r"'new', Node3 'one more'.*no node"):
        fem.continue_from(whole, 0.2, _with_more(changed))
    changed = fem.Model("changed", gravity=[0, 0, -9.81])
    ball = changed.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1], name="ball 1"))
    changed.add(fem.SphereOnPlane(ball, changed.ground, radius=0.1, name="floor"))
    result = fem.MoreauJean().run(fem.continue_from(whole, 0.2, changed), 0.21, 1e-4)
    assert result.t[0] == pytest.approx(0.2) and other is not ball
    for name in ("position", "velocity", "angular_velocity", "rotation"):
        assert np.array_equal(getattr(result["ball 1"], name)[0], getattr(whole["ball 1"], name)[200])
    state = fem.continue_from(whole, 0.2)
    assert np.array_equal(state.x[1], whole["ball 0"].position[200])


def _with_more(model):
    model.add(fem.PointMass(1.0, name="one more"))
    return model


def test_internal_states_that_results_do_not_hold_are_named(whole):
    model = fem.Model("compliant", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1], name="ball 0"))
    table = fem.SphereOnPlane(ball, model.ground, radius=0.1)
    model.add(fem.CompliantContact(table, stiffness=1e6, restitution=0.5, model="flores", name="cushion"))
    with pytest.warns(UserWarning, match="'cushion': internal states"):
        fem.continue_from(whole, 0.2, model)


def turned_many_times():
    """Wheels of a gear pair that turn about three times and one and a half times, with all multi-turn angles."""
    model = fem.Model("turns")
    axles = []
    for k, speed in enumerate((40.0, -20.0)):
        place = [0.3 * k, 0, 0]
        wheel = model.add(
            fem.RigidBody(1, [0.02] * 3, position=place, angular_velocity=[0, 0, speed], name=f"wheel {k}")
        )
        stops = fem.Stops(-1.0, 21.0, stiffness=40.0)
        options = [{"stiffness": 0.05, "stops": stops}, {"motor": fem.Motor(effort=0.01)}]
        axles.append(fem.Revolute.at(model.ground, wheel, place, [0, 0, 1], name=f"axle {k}", **options[k]))
        model.add(axles[k], fem.Sensor(wheel, "angle", axis=[0, 0, 1], name=f"angle {k}"))
    model.add(fem.GearPair(*axles, radii=(0.1, 0.2), name="gears"))
    model.add(
        fem.TorsionSpring.at(model.ground, model["wheel 1"], [0.3, 0, 0], [0, 0, 1], stiffness=0.02, name="twist")
    )
    return model


@pytest.mark.parametrize("model", [None, turned_many_times], ids=["state", "model"])
def test_a_new_run_from_a_state_of_another_counts_rotations_on(model, recwarn):
    """Springs and stops go on with the angles of the run before: without them the moments jump by 2π times k."""
    whole = METHOD.run(turned_many_times(), 0.8, H)
    if model is None:
        system = turned_many_times().compile()
        system.initial = fem.continue_from(whole, 0.5)
    else:
        system = fem.continue_from(whole, 0.5, turned_many_times())
    assert not [str(w.message) for w in recwarn if "begin anew" in str(w.message)]
    later = METHOD.run(system, 0.8, H)
    begin = whole.at(0.5)
    assert whole["axle 0"].angle[begin] > 4 * np.pi and whole["axle 0"].angle.max() > 18.0
    for name, output in [("axle 0", "angle"), ("axle 1", "angle"), ("angle 1", "value"), ("gears", "angle"),
                         ("twist", "angle"), ("twist", "moment"), ("axle 0 spring", "effort")]:  # fmt: skip
        before, after = (getattr(result[name], output) for result in (whole, later))
        assert np.abs(after - before[begin:]).max() < 1e-4, name  # two starts of a method of order 2: h² of the motion
