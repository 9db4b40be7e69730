"""What all time steppers share: steps and saved steps, files, interruption, failure."""

import inspect
import re
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
from fem_mbs.solvers.stepping import stepper


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
    early = t_end == 0.35
    result = fem.DecoupledNSGA().run(bouncing_ball.build(), t_end, h)
    assert bool(re.search(r"t_end = 0\.35 s.*multiple", str(result.report()))) == early
    assert len(result.t) == steps + 1 and result.status == "complete"
    assert np.array_equal(result.step, np.arange(steps + 1))
    assert np.array_equal(result.t, np.arange(steps + 1) * h)  # not summed: no drift
    assert np.all(result.h[1:] == h)


def test_every_third_step_is_saved_when_asked():
    model = double_pendulum.build()
    every, third = (fem.DecoupledNSGA().run(model, 0.5, 5e-3, save_every=n) for n in (1, 3))
    saved = [*range(0, 101, 3), 100]  # the last one as well
    assert third.step.tolist() == saved
    for name in ("position", "rotation", "velocity", "acceleration"):
        assert np.array_equal(getattr(third["body 2"], name), getattr(every["body 2"], name)[saved])
    assert np.array_equal(third["joint 1"].force, every["joint 1"].force[saved])


def test_a_stepper_is_printed_with_the_options_that_are_not_the_default():
    control = fem.StepControl(tolerance=1e-6)
    assert repr(fem.DecoupledNSGA()) == "DecoupledNSGA()"
    text = repr(fem.DecoupledNSGA(rho_inf=0, impacts="split", step_control=control))
    assert text == "DecoupledNSGA(rho_inf=0.0, step_control=StepControl(tolerance=1e-06), impacts='split')"


def test_the_report_says_that_impacts_are_counted_in_saved_states():
    """What happened between two saved states is not in the results; of every step nothing is missing."""
    reports = [str(fem.DecoupledNSGA().run(bouncing_ball.build(), 0.02, 1e-3, save_every=n).report()) for n in (1, 5)]
    assert "lift-offs in saved states" in reports[1] and "in saved states" not in reports[0].split("energy")[0]


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


def test_all_options_of_the_method_are_kept_with_the_results(tmp_path):
    control = fem.StepControl(tolerance=1e-6, h_max=1e-2)
    chosen = {"step_control": control, "penalty": 0.5, "max_problems": 40, "approach": "slower", "mixed": True}
    result = fem.DecoupledNSGA(**chosen).run(bouncing_ball.build(), 0.02, 2e-3, save=tmp_path / "run")
    plain = {**chosen, "step_control": {"tolerance": 1e-6, "h_max": 1e-2, "h_min": None}}
    assert {name: result.parameters[name] for name in plain} == plain
    options = set(inspect.signature(fem.DecoupledNSGA).parameters)
    assert options <= set(result.parameters)
    assert fem.DecoupledNSGA().run(bouncing_ball.build(), 0.02, 2e-3).parameters["epsilon"] is None


def test_initial_state_has_the_consistent_reactions():
    result = fem.DecoupledNSGA().run(double_pendulum.build(), 0.01, 1e-2)
    # minimal coordinates, 6 decimals
    assert result["joint 1"].force[0] == pytest.approx([-14.038436, 0.674926, 7.800566], abs=1e-6)
    assert result["joint 2"].force[0] == pytest.approx([-9.477543, 0.674926, -2.711230], abs=1e-6)


# --- the time at which a run begins ---------------------------------------------------------------------------------


def shaken(seen=None):
    """A driven mass, one on a spring that a force of time pulls, and a law in Python that sees the time."""
    model = fem.Model("shaken", gravity=[0, 0, -9.81])
    table = model.add(fem.PointMass(1.0, name="table", fixed=("x", "y")))
    model.add(fem.Prescribed(table, z=lambda t: 0.1 * t**2, name="driver"))
    bob = model.add(fem.PointMass(0.5, name="bob", position=[1, 0, 0], fixed=("x", "y")))
    model.add(fem.Spring(model.ground.frame([1, 0, 1]), bob, stiffness=200.0, name="spring"))
    model.add(fem.PointForce(bob, [0, 0, 3.0], signal=lambda t: np.sin(5 * t), name="force"))
    if seen is not None:
        model.add(fem.UserForce(bob, lambda x, R, v, t: seen.append(t) or np.zeros(6), name="clock"))
    return model


def restarted(result, k, model):
    """System of a model whose initial state is saved step k of a run."""
    system = model.compile()
    state = system.initial
    state.t = result.t[k]
    for name in ("table", "bob"):
        i = system.nodes.index(model[name].node)
        state.x[i], state.V[i, :3] = result[name].position[k], result[name].velocity[k]
    return system


@pytest.mark.parametrize("control", [None, fem.StepControl()], ids=["constant step", "step control"])
def test_a_run_continues_at_the_time_of_its_initial_state(control, tmp_path):
    method, seen = fem.DecoupledNSGA(step_control=control), []
    whole = method.run(shaken(), t_end=1.0, h=5e-3)
    path = tmp_path / "second.vtkhdf"
    system = restarted(whole, 100, shaken(seen))
    seen.clear()  # of the checks of a model at 0
    second = method.run(system, t_end=1.0, h=5e-3, save=path, progress=False)
    assert np.array_equal(second.t, 0.5 + 5e-3 * np.arange(101)) or control is not None
    assert second.t == pytest.approx(whole.t[100:], abs=1e-12) and second.step[-1] == 100
    assert min(seen) > 0.49 and max(seen) == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(fem.load(path).t, second.t)
    assert (second.parameters["t_start"], second.parameters["t_end"]) == (whole.t[100], 1.0)
    # what follows functions of time is the same
    assert second["driver"].force[:, 2] == pytest.approx(1.0 * (0.2 + 9.81), rel=1e-9)
    assert second["force"].force[:, 2] == pytest.approx(3.0 * np.sin(5 * second.t), abs=1e-12)
    assert second["table"].position[:, 2] == pytest.approx(0.1 * second.t**2, abs=1e-12)
    # the restart begins with consistent accelerations, the whole run carries those of the scheme: second order,
    # measured 9.9e-7 m here and 2.5e-7 m with half the step
    assert second["bob"].position[:, 2] == pytest.approx(whole["bob"].position[100:, 2], abs=1.5e-6)


def test_the_end_of_a_run_is_a_time_and_not_a_duration():
    system = shaken().compile()
    system.initial = fem.static_equilibrium(system, t=2.0).state
    system.initial.V[system.nodes.index(system.model["table"].node), 2] = 0.4  # of the driver at 2 s
    with pytest.raises(fem.ParameterError, match=r"t_end = 1\.5 s.*> 2"):
        fem.DecoupledNSGA().run(system, t_end=1.5, h=1e-2)
    with pytest.raises(fem.ParameterError, match=r"h = 0\.5 s.*longer.*0\.25 s"):
        fem.DecoupledNSGA().run(system, t_end=2.25, h=0.5)
    assert fem.DecoupledNSGA().run(system, t_end=2.05, h=1e-2).t == pytest.approx(2.0 + 0.01 * np.arange(6), abs=1e-14)
    system.initial.t = np.nan
    with pytest.raises(fem.ParameterError, match=r"initial\.t = nan s.*finite"):
        fem.DecoupledNSGA().run(system, t_end=3.0, h=1e-2)


def test_a_run_may_begin_before_time_zero():
    model = fem.Model("falls", gravity=[0, 0, -10.0])
    model.add(fem.PointMass(1.0, name="stone"))
    system = model.compile()
    system.initial.t = -1.0
    result = fem.DecoupledNSGA().run(system, t_end=0.0, h=0.1)
    assert result.t == pytest.approx(np.linspace(-1, 0, 11), abs=1e-15)
    assert result["stone"].position[-1, 2] == pytest.approx(-5.0, rel=1e-9)


def test_a_state_that_does_not_fit_the_driver_at_its_time_is_rejected():
    whole = fem.DecoupledNSGA().run(shaken(), t_end=1.0, h=1e-2)
    forgotten = restarted(whole, 50, shaken())
    forgotten.initial.t = 0.0
    with pytest.raises(fem.ModelError, match=r"'driver'.*assembled.*0\.025"):
        fem.DecoupledNSGA().run(forgotten, t_end=1.0, h=1e-2)
    at_rest = restarted(whole, 50, shaken())
    at_rest.initial.V[:] = 0.0
    with pytest.raises(fem.ModelError, match=r"'driver'.*velocities.* 0\.5 s.*0\.1"):
        fem.DecoupledNSGA().run(at_rest, t_end=1.0, h=1e-2)


def test_errors_and_interruptions_report_the_time_of_a_run_that_began_later(monkeypatch):
    system = failing_model(t_fail=5.125).compile()
    system.initial.t = 5.0
    with pytest.raises(SolverError, match=r"thrust.*5\.13 s") as caught:
        fem.DecoupledNSGA().run(system, 6.0, 1e-2)
    assert caught.value.result.t == pytest.approx(5.0 + 0.01 * np.arange(13), abs=1e-14)


# --- failure --------------------------------------------------------------------


def test_a_failing_step_leaves_everything_before_it_on_disk(tmp_path):
    path = tmp_path / "falls.vtkhdf"
    with pytest.raises(SolverError, match=r"thrust.*0\.13 s.*0-12 .*falls\.vtkhdf") as caught:
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
    from fem_mbs.solvers.stepping.march.march import March

    advance, calls = March.advance, []

    def breaks(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise OSError("disk on fire")
        return advance(self, *arguments)

    monkeypatch.setattr(March, "advance", breaks)
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
    assert "interrupted at t = " in err and "results" in err
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
