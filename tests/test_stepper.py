"""What all time steppers share: steps and saved steps, files, interruption, failure."""

import signal
import subprocess
import sys
import threading
import time

import bouncing_ball
import double_pendulum
import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.solvers import stepper


def failing_model(t_fail=0.125):
    """A falling body whose force is not finite from a time on."""
    model = fem.Model("falls", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody(1.0, 1.0, name="rod"))
    model.add(fem.PointForce(body, lambda t: [np.nan if t > t_fail else 1.0, 0, 0], name="thrust"))
    return model


# --- steps --------------------------------------------------------------------


@pytest.mark.parametrize(
    "t_end, h, steps", [(0.3, 0.1, 3), (1.0, 1e-3, 1000), (0.35, 0.1, 3), (0.1, 0.1, 1), (2.1, 0.7, 3)]
)
def test_the_last_step_ends_at_or_just_before_the_end(t_end, h, steps):
    result = fem.DecoupledNSGA().run(bouncing_ball.build(), t_end, h)
    assert len(result.t) == steps + 1 and result.status == "complete"
    assert np.array_equal(result.step, np.arange(steps + 1))
    assert np.array_equal(result.t, np.arange(steps + 1) * h)  # not summed: no drift
    assert np.all(result.h[1:] == h)


def test_every_third_step_is_saved_when_asked():
    model = double_pendulum.build()
    every, third = (fem.DecoupledNSGA().run(model, 0.5, 5e-3, save_every=n) for n in (1, 3))
    assert np.array_equal(third.step, np.arange(0, 101, 3))
    for name in ("position", "rotation", "velocity", "acceleration"):
        assert np.array_equal(getattr(third["body 2"], name), getattr(every["body 2"], name)[::3])
    assert np.array_equal(third["joint 1"].force, every["joint 1"].force[::3])


def test_results_do_not_depend_on_how_steps_are_grouped(monkeypatch):
    usual = fem.DecoupledNSGA().run(bouncing_ball.build(), 1.0, 2e-3)
    monkeypatch.setattr(stepper, "CHUNK_BYTES", 1.0)  # one step at a time
    single = fem.DecoupledNSGA().run(bouncing_ball.build(), 1.0, 2e-3)
    assert np.array_equal(single["ball"].position, usual["ball"].position)
    assert np.array_equal(single["table"].impulse, usual["table"].impulse)


def test_a_file_holds_the_same_as_memory_and_what_was_asked_for(tmp_path):
    method = fem.DecoupledNSGA(rho_inf=0.6, rtol=1e-7)
    memory = method.run(double_pendulum.build(), 0.2, 1e-2)
    method.run(double_pendulum.build(), 0.2, 1e-2, save=tmp_path / "pendulum.vtkhdf")
    file = fem.load(tmp_path / "pendulum.vtkhdf")
    assert np.array_equal(file["body 1"].position, memory["body 1"].position)
    assert file.status == "complete" and file.parameters["stepper"] == "DecoupledNSGA"
    assert (file.parameters["rho_inf"], file.parameters["rtol"], file.parameters["h"]) == (0.6, 1e-7, 1e-2)


def test_initial_state_has_the_consistent_reactions():
    result = fem.DecoupledNSGA().run(double_pendulum.build(), 0.01, 1e-2)
    # formulation note 4.1, first row: printed to 6 decimals
    assert result["joint 1"].force[0] == pytest.approx([-14.038436, 0.674926, 7.800566], abs=1e-6)
    assert result["joint 2"].force[0] == pytest.approx([-9.477543, 0.674926, -2.711230], abs=1e-6)


# --- failure --------------------------------------------------------------------


def test_a_failing_step_leaves_everything_before_it_on_disk(tmp_path):
    path = tmp_path / "falls.vtkhdf"
    with pytest.raises(SolverError, match=r"thrust.*0\.13 s.* Steps 0-12 are in .*falls\.vtkhdf\.") as caught:
        fem.DecoupledNSGA().run(failing_model(), 1.0, 1e-2, save=path)
    result = fem.load(path)
    assert result.t == pytest.approx(0.01 * np.arange(13), abs=1e-15)
    assert result.status.startswith("stopped: PointForce 'thrust'")
    assert np.array_equal(caught.value.result["rod"].position, result["rod"].position)
    assert result["rod"].position[-1, 2] == pytest.approx(-0.5 * 9.81 * 0.12**2, rel=1e-9)  # exact for constant forces


def test_a_failure_in_the_first_step_leaves_the_initial_state(tmp_path):
    with pytest.raises(SolverError):
        fem.DecoupledNSGA().run(failing_model(1e-3), 1.0, 1e-2, save=tmp_path / "falls")
    assert np.array_equal(fem.load(tmp_path / "falls.vtkhdf").step, [0])


def test_an_error_nobody_foresaw_is_written_to_the_file_too(tmp_path, monkeypatch):
    from fem_mbs.solvers.decoupled_nsga import _Engine

    advance, calls = _Engine.advance, []

    def breaks(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise OSError("disk on fire")
        return advance(self, *arguments)

    monkeypatch.setattr(_Engine, "advance", breaks)
    with pytest.raises(OSError, match="disk on fire"):
        fem.DecoupledNSGA().run(bouncing_ball.build(), 1.0, 2e-3, save=tmp_path / "ball.vtkhdf")
    result = fem.load(tmp_path / "ball.vtkhdf")
    assert "OSError" in result.status and "disk on fire" in result.status and len(result.t) > 1


# --- interruption -----------------------------------------------------------------

INTERRUPTED = """
import numpy as np
import fem_mbs as fem
model = fem.Model("endless", gravity=[0, 0, -9.81])
body = model.add(fem.RigidBody(1.0, 1.0, name="rod"))
{extra}
result = fem.DecoupledNSGA().run(model, 1e9, 1e-3, save={path!r}, save_every=100, progress=False)
print("after", len(result.t), result.status, flush=True)
"""
LAW = 'model.add(fem.UserForce(body, lambda x, R, v, t: np.zeros(6), name="idle"))'


@pytest.mark.parametrize(
    "extra, number, code",
    [("", signal.SIGINT, -signal.SIGINT), (LAW, signal.SIGINT, -signal.SIGINT), ("", signal.SIGTERM, 143)],
    ids=["compiled", "law in Python", "SIGTERM"],
)
def test_an_interrupted_run_leaves_a_readable_file_and_its_script_fails(tmp_path, extra, number, code):
    path = tmp_path / "endless.vtkhdf"
    script = INTERRUPTED.format(path=str(path), extra=extra)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 120  # compiles on a fresh machine
        while time.monotonic() < deadline:
            time.sleep(0.2)
            if path.exists() and _saved(path) > 2:
                break
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == code, err
    assert "interrupted at t = " in err and "results up to there are kept" in err
    result = fem.load(path)
    assert result.status.startswith("stopped: interrupted at t = ")
    assert out == ""  # nothing after the run is done with half of its results
    # nothing is lost or half written: saved steps follow each other, and the motion is that of a falling body
    assert np.array_equal(result.step, 100 * np.arange(len(result.t)))
    exact = -0.5 * 9.81 * result.t**2
    assert result["rod"].position[:, 2] == pytest.approx(exact, rel=1e-8, abs=1e-12)  # round-off over the steps


def _saved(path):
    try:
        return len(fem.load(path).t)
    except (OSError, KeyError, fem.FemMbsError):  # just being created
        return 0


def test_ctrl_c_is_given_back_after_a_run_and_left_alone_in_threads():
    before = signal.getsignal(signal.SIGINT)
    fem.DecoupledNSGA().run(bouncing_ball.build(), 0.1, 1e-2)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(SolverError):
        fem.DecoupledNSGA().run(failing_model(), 1.0, 1e-2)
    assert signal.getsignal(signal.SIGINT) is before
    results = []
    thread = threading.Thread(target=lambda: results.append(fem.DecoupledNSGA().run(bouncing_ball.build(), 0.1, 1e-2)))
    thread.start()
    thread.join()
    assert results[0].status == "complete"


@pytest.mark.parametrize("number, kind", [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_a_script_that_catches_the_interruption_has_the_results_up_to_there(number, kind, tmp_path):
    class Interrupts:
        """An observer that stands for a user who presses Ctrl-C."""

        def start(self, system):
            self.seen = 0

        def observe(self, block):
            self.seen += len(block["t"])
            if self.seen > 100:
                signal.raise_signal(number)

        def finish(self):
            self.finished = True

    before, observer = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)], Interrupts()
    with pytest.raises(kind) as caught:
        save = tmp_path / "ball.vtkhdf"
        fem.DecoupledNSGA().run(bouncing_ball.build(), 1e3, 2e-3, observers=[observer], save=save)
    result = caught.value.result
    assert result.status.startswith("stopped: interrupted at t = ") and len(result.t) > 100 and observer.finished
    assert np.array_equal(fem.load(save)["ball"].position, result["ball"].position)
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before
    if kind is SystemExit:
        assert caught.value.code == 128 + signal.SIGTERM


def test_a_second_ctrl_c_stops_at_once():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    interrupt = stepper._Interrupt()
    try:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.asked == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        interrupt.end()
        signal.signal(signal.SIGINT, before)
