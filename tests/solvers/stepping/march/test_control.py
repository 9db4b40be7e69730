"""Sampled controllers: exact discrete solutions, exact times, delays, laws of scipy, faults of the user's function."""

import copy
import math
import threading

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp

import fem_mbs as fem

PERIOD = 0.05


def turning_mass(law=None, period=PERIOD, **options):
    """A wheel of inertia 1 that starts at 1 rad, driven by the moment of a controller; PD (9, 3) by default."""
    model = fem.Model("wheel")
    wheel = fem.RigidBody(1.0, [1, 1, 1], rotation=[0, 0, 1.0], fixed=("x", "y", "z", "rx", "ry"), name="wheel")
    angle = fem.Sensor(wheel, "angle", axis=[0, 0, 1], name="angle")
    rate = fem.Sensor(wheel, "angular_velocity", component="z")
    law = law or (lambda t, y: -9.0 * y[0] - 3.0 * y[1])
    controller = fem.Controller(law, period, [angle, rate], name="pd", **options)
    load = fem.PointMoment(wheel, [0, 0, 1], signal=controller.output(), name="motor")
    model.add(wheel, controller, load)
    return model


def wheel_state(result):
    return np.array([result["angle"].value[-1], result["wheel"].angular_velocity[-1, 2]])


def discrete(samples, delay=0, gains=(9.0, 3.0)):
    """Exact states of the wheel at the samples, whose outputs act ``delay`` samples later."""
    state, waiting, T = np.array([1.0, 0.0]), [0.0] * delay, PERIOD
    for _ in range(samples):
        waiting.append(-gains[0] * state[0] - gains[1] * state[1])
        u = waiting.pop(0)
        state = np.array([state[0] + T * state[1] + 0.5 * T * T * u, state[1] + T * u])
    return state


METHODS = {
    "nsga 0": fem.DecoupledNSGA(rho_inf=0.0),
    "nsga 0.8": fem.DecoupledNSGA(rho_inf=0.8),
    "nsga 1": fem.DecoupledNSGA(rho_inf=1.0),
    "persistent": fem.DecoupledNSGA(persistent_contacts=True),
    "controlled": fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-6)),
    "alpha": fem.GeneralizedAlpha(),
    "ggl": fem.NonsmoothGeneralizedAlphaGGL(),
    "friction": fem.NonsmoothGeneralizedAlphaFriction(),
    "moreau": fem.MoreauJean(theta=0.5),
    "lobatto": fem.LobattoIIIAB(),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_sampled_pd_is_the_exact_discrete_solution_with_any_number_of_steps(name):
    exact = discrete(40)
    assert np.abs(exact - [0.01449925, 0.1304358]).max() < 1e-8  # the digits of the reference
    for steps in (1, 2, 3.3):
        result = METHODS[name].run(turning_mass(), 2.0, PERIOD / steps, progress=False)
        assert np.abs(wheel_state(result) - exact).max() < 1e-12
        assert len(result.samples["pd"]) == 41


def test_a_sampled_pd_on_a_pendulum_has_the_order_of_the_scheme():
    def model():
        made = fem.Model("pendulum", gravity=[0, -9.81, 0])
        bob = fem.RigidBody(1.0, [1e-9] * 3, position=[np.sin(1), -np.cos(1), 0], rotation=[0, 0, 1.0], name="bob")
        hinge = fem.Revolute.at(made.ground, bob, [0, 0, 0], [0, 0, 1], name="hinge")
        angle = fem.Sensor(bob, "angle", axis=[0, 0, 1], name="angle")
        rate = fem.Sensor(bob, "angular_velocity", component="z")
        pd = fem.Controller(lambda t, y: -20.0 * (y[0] - 0.5) - 4.0 * y[1], PERIOD, [angle, rate], name="pd")
        made.add(bob, hinge, pd, fem.PointMoment(bob, [0, 0, 1], signal=pd.output()))
        return made

    state = np.array([1.0, 0.0])
    for _ in range(20):
        start = [*state, -20.0 * (state[0] - 0.5) - 4.0 * state[1]]
        found = solve_ivp(
            lambda t, y: [y[1], y[2] - 9.81 * np.sin(y[0]), 0.0], [0, PERIOD], start, rtol=1e-12, atol=1e-14
        )
        state = found.y[:2, -1]
    errors = []
    for steps in (4, 8, 16):
        result = fem.DecoupledNSGA(rho_inf=0.8).run(model(), 1.0, PERIOD / steps, progress=False)
        errors.append(abs(result["angle"].value[-1] - state[0]))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.85).all() and errors[-1] < 1e-5


@pytest.mark.parametrize("samples", [4_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_sample_times_are_multiples_of_the_period_over_many_samples(samples):
    """0.001 added 1e5 times is off by 1.1e-10 s; times from the number of the sample are not."""
    seen = []
    model = turning_mass(lambda t, y: seen.append(t) or 0.0, period=1e-3)
    result = fem.MoreauJean().run(model, samples * 1e-3, 2.5e-3, progress=False, save_every=samples // 100)
    assert seen == [k * 1e-3 for k in range(samples + 1)]
    assert np.array_equal(result.samples["pd"].t, seen)
    assert abs(sum([0.001] * samples) - samples * 1e-3) > (1e-10 if samples == 100_000 else 1e-13)
    # h is above the period: steps end at all samples
    assert result.t[-1] == samples * 1e-3 and result.statistics["steps"] == samples


@pytest.mark.slow
def test_a_sampled_pd_keeps_to_the_exact_discrete_solution_over_1e5_samples():
    # an undamped loop, P alone with half a period's rate: it neither decays nor grows, even after 1e5 samples
    gains = (9.0, 0.5 * 9.0 * PERIOD)
    law = lambda t, y: -gains[0] * y[0] - gains[1] * y[1]  # noqa: E731
    stepper = fem.DecoupledNSGA(rho_inf=1.0)
    result = stepper.run(turning_mass(law), 100_000 * PERIOD, PERIOD, progress=False, save_every=1000)
    assert np.array_equal(result.samples["pd"].t, np.arange(100_001) * PERIOD)
    exact = discrete(100_000, gains=gains)
    assert np.linalg.norm(exact) > 0.1
    assert wheel_state(result) == pytest.approx(exact, abs=1e-8)  # round-off of 1e5 samples


def test_a_delay_of_whole_samples_and_of_parts_of_them():
    two = fem.DecoupledNSGA().run(turning_mass(delay=2 * PERIOD), 1.0, PERIOD / 2, progress=False)
    assert np.abs(wheel_state(two) - discrete(20, delay=2)).max() < 1e-12

    def exact(delay, samples):
        state, waiting, u = np.array([1.0, 0.0]), [], 0.0
        times = sorted([(k * PERIOD, 1) for k in range(samples)] + [(k * PERIOD + delay, 0) for k in range(samples)])
        t = 0.0
        for time, sampled in times:
            if time >= samples * PERIOD - 1e-12:
                break
            h, t = time - t, time
            state = np.array([state[0] + h * state[1] + 0.5 * h * h * u, state[1] + h * u])
            if sampled:
                waiting.append(-9.0 * state[0] - 3.0 * state[1])
            else:
                u = waiting.pop(0)
        h = samples * PERIOD - t
        return np.array([state[0] + h * state[1] + 0.5 * h * h * u, state[1] + h * u])

    for delay in (0.013, 0.07):
        result = fem.DecoupledNSGA().run(turning_mass(delay=delay), 1.0, 0.02, progress=False)
        assert np.abs(wheel_state(result) - exact(delay, 20)).max() < 1e-12


def test_state_is_copied_for_every_run_and_several_controllers_work_in_cascade():
    def count(t, y, state):
        state["n"] += 1
        return 0.5 * state["n"], state

    model = turning_mass(count, state={"n": 0})
    inputs = [model["pd"].output(), fem.Signal(lambda t: t)]
    follower = fem.Controller(lambda t, y: [2.0 * y[0], y[1]], 2 * PERIOD, inputs, ["a", "b"], name="follower")
    model.add(follower)
    for _ in range(2):
        result = fem.DecoupledNSGA().run(model, 0.5, PERIOD, progress=False)
        assert np.array_equal(result.samples["pd"].outputs[:, 0], 0.5 * np.arange(1, 12))
        assert np.array_equal(result.samples["follower"].outputs[:, 0], 1.0 * np.arange(1, 12, 2))
        assert np.array_equal(result.samples["follower"].outputs[:, 1], result.samples["follower"].t)
        assert result.samples["follower"].output_names == ("a", "b")
        assert model["pd"].output().now == 0.0 and model["pd"].state == {"n": 0}


# --- laws given directly ----------------------------------------------------------------------------------------------


def prescribed_input(law, u, period=PERIOD, t_end=2.0):
    """Outputs of a linear law whose input is a function of time, without a model that answers."""
    model = fem.Model()
    body = fem.PointMass(1.0, name="mass")
    controller = fem.Controller(law, period, [fem.Signal(u)], name="law")
    model.add(body, controller)
    return fem.MoreauJean().run(model, t_end, period, progress=False).samples["law"]


def test_systems_of_scipy_in_continuous_and_discrete_time():
    system = signal.StateSpace([[-3.0, 2.0], [-2.0, -3.0]], [[1.0], [0.5]], [[1.0, -1.0]], [[0.2]])
    u = lambda t: np.sin(3 * t) + 0.5  # noqa: E731
    found = prescribed_input(system, u)
    discrete_system = system.to_discrete(PERIOD)
    _, expected, _ = signal.dlsim(discrete_system, u(found.t))
    assert np.abs(found.outputs[:, 0] - expected[:, 0]).max() < 1e-13
    again = prescribed_input(discrete_system, u)
    assert np.abs(again.outputs[:, 0] - expected[:, 0]).max() < 1e-13
    low_pass = prescribed_input(signal.TransferFunction([1.0], [0.1, 1.0]), lambda t: 1.0 + 0 * t)
    assert np.abs(low_pass.outputs[:, 0] - (1 - np.exp(-low_pass.t / 0.1))).max() < 1e-13


class OfPythonControl:
    """What python-control's state-space systems have."""

    A, B, C, D, dt = [[0.5]], [[1.0]], [[2.0]], [[0.0]], PERIOD


def test_a_system_that_looks_like_one_of_python_control():
    found = prescribed_input(OfPythonControl(), lambda t: 1.0 + 0 * t)
    k = np.arange(len(found))
    assert np.abs(found.outputs[:, 0] - 2.0 * (1 - 0.5**k) / 0.5).max() < 1e-13


def test_pid_with_limits_does_not_wind_up():
    """With the integral standing still the overshoot is small; k_i I is what a constant load needs in the end."""

    def run(**options):
        model = fem.Model("slide")
        slide = fem.PointMass(1.0, fixed=("y", "z"), name="slide")
        place = fem.Sensor(slide, "position", component="x", name="place")
        pid = fem.PID(place, 40.0, 30.0, 12.0, period=5e-3, set_point=1.0, name="pid", **options)
        load = fem.PointForce(slide, [-2.0, 0, 0])
        model.add(slide, pid, load, fem.PointForce(slide, [1, 0, 0], signal=pid.output()))
        return fem.MoreauJean(theta=0.5).run(model, 12.0, 5e-3, progress=False)

    limits = {"limits": (-4.0, 4.0)}
    free, clamped, back = run(), run(**limits), run(**limits, anti_windup="back")
    for result in (free, clamped, back):
        assert abs(result["slide"].position[-1, 0] - 1.0) < 2e-3
        assert abs(result.samples["pid"].outputs[-1, 0] - 2.0) < 2e-2
    for result in (clamped, back):
        assert np.abs(result.samples["pid"].outputs).max() == 4.0
        assert result["slide"].position[:, 0].max() < 1.35
    first = free.samples["pid"].outputs[:2, 0]
    assert first[0] == 40.0  # no rate at the first sample


# --- what users get wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law, words",
    [
        (
            lambda t, y: 1 / (0.4 - t) if t < 0.39 else {}["gain"],
            "'pd'.*KeyError: 'gain'",
        ),
        (lambda t, y: [1.0, 2.0] if t > 0.3 else 0.0, r"'pd'.*2 numbers.* 1 outputs"),
        (lambda t, y: math.nan if t > 0.3 else 0.0, "not finite"),
        (lambda t, y: "full" if t > 0.3 else 0.0, "not a number"),
    ],
)
def test_a_fault_in_the_function_is_reported_with_name_and_time_and_keeps_the_run(law, words, tmp_path):
    with pytest.raises(fem.SolverError, match=words) as caught:
        fem.DecoupledNSGA().run(turning_mass(law), 1.0, 0.025, progress=False, save=tmp_path / "run.vtkhdf")
    assert "(t = 0." in str(caught.value) and 0.3 < caught.value.time < 0.41
    assert caught.value.result.t[-1] == pytest.approx(caught.value.time, abs=1e-12)
    assert len(fem.load(tmp_path / "run.vtkhdf").samples["pd"]) > 5


def test_what_cannot_work_is_rejected():
    model = turning_mass()
    wheel, pd = model["wheel"], model["pd"]
    with pytest.raises(fem.ParameterError, match=r"x = .*smooth"):
        fem.Prescribed(fem.Node6(), x=lambda t: 2.0 * pd.output()(t))
    with pytest.raises(fem.ParameterError, match="not a Sensor"):
        fem.Controller(lambda t, y: 0.0, 0.1, [wheel])
    with pytest.raises(fem.ParameterError, match="axis"):
        fem.Sensor(wheel, "angle")
    with pytest.raises(TypeError, match="no integral"):
        (2.0 * pd.output()).integral()
    with pytest.raises(fem.ParameterError, match="2 inputs"):
        system = signal.StateSpace([[-1.0]], [[1.0, 1.0]], [[1.0]], [[0.0, 0.0]])
        fem.Controller(system, 0.1, [fem.Sensor(wheel, "angle", axis=[0, 0, 1])])
    with pytest.raises(fem.ParameterError, match="in the model already"):
        model.add(pd)
    other = fem.Model()
    body = fem.PointMass(1.0)
    other.add(body, fem.PointForce(body, [1, 0, 0], signal=pd.output()), fem.Event(
        fem.Sensor(body, "position", component="x"), fem.Stop("far"), level=9.0))  # fmt: skip
    with pytest.raises(fem.ParameterError, match=r"signal = .*not in the model"):
        fem.DecoupledNSGA().run(other, 0.1, 0.01, progress=False)


def test_a_load_on_an_output_of_a_controller_that_was_forgotten_is_rejected_without_any_schedule():
    wheel = turning_mass()
    model, body = fem.Model(), fem.PointMass(1.0)
    model.add(body, fem.PointForce(body, [1, 0, 0], signal=wheel["pd"].output()))
    with pytest.raises(fem.ParameterError, match=r"signal = .*not in the model"):
        fem.DecoupledNSGA().run(model, 0.1, 0.01, progress=False)


# --- results ----------------------------------------------------------------------------------------------------------


def test_samples_and_saved_states_are_read_back_from_the_file(tmp_path):
    file = tmp_path / "run.vtkhdf"
    result = fem.DecoupledNSGA().run(turning_mass(), 1.0, 0.01, progress=False, save=file, save_every=5)
    memory = fem.DecoupledNSGA().run(turning_mass(), 1.0, 0.01, progress=False, save_every=5)
    for found in (result, fem.load(file)):
        samples = found.samples["pd"]
        assert samples.name == "pd" and samples.output_names == ("u",) and len(found.events) == 0
        assert np.array_equal(samples.t, PERIOD * np.arange(21))
        assert np.array_equal(samples.inputs, memory.samples["pd"].inputs)
        assert np.array_equal(samples.outputs, memory.samples["pd"].outputs)
        assert np.array_equal(found.t, memory.t) and len(found.t) == 21
    # inputs of a sample are what results have there
    assert np.abs(samples.inputs[:, 0] - memory["angle"].value).max() == 0.0


def test_output_times_are_those_of_saved_states():
    times = [0.013, 0.05, 0.0771, 0.5, 1.0]
    fine = fem.DecoupledNSGA().run(turning_mass(), 1.0, 1e-3, progress=False)
    for stepper in (fem.DecoupledNSGA(), METHODS["controlled"]):
        result = stepper.run(turning_mass(), 1.0, 0.02, progress=False, output_times=times)
        assert np.abs(result.t - [0.0, *times]).max() < 1e-15
        for time, angle in zip(times, result["angle"].value[1:]):
            # the moment is constant between samples: positions are parabolas, whatever the steps are
            before = int(np.searchsorted(fine.t, time + 1e-9)) - 1
            rest, rate = time - fine.t[before], fine["wheel"].angular_velocity[before, 2]
            u = fine.samples["pd"].outputs[int(fine.t[before] / PERIOD + 1e-9), 0]
            assert abs(angle - (fine["angle"].value[before] + rest * rate + 0.5 * rest**2 * u)) < 1e-12
    with pytest.raises(fem.ParameterError, match="must increase"):
        fem.DecoupledNSGA().run(turning_mass(), 1.0, 0.02, progress=False, output_times=[0.2, 0.1])
    with pytest.raises(fem.ParameterError, match="within the run"):
        fem.DecoupledNSGA().run(turning_mass(), 1.0, 0.02, progress=False, output_times=[1.2])


def test_output_times_without_anything_that_is_sampled():
    model = fem.Model(gravity=[0, 0, -10])
    model.add(fem.PointMass(1.0, name="ball"))
    result = fem.DecoupledNSGA().run(model, 1.0, 0.03, progress=False, output_times=[0.1, 0.25, 1.0])
    assert np.abs(result["ball"].position[:, 2] + 5 * np.array([0, 0.1, 0.25, 1.0]) ** 2).max() < 1e-13


def test_a_schedule_is_restored_from_its_state():
    """What a checkpoint keeps: numbers of samples, states, delayed outputs, held values."""
    from fem_mbs.solvers.stepping.march.schedule import Schedule

    model = turning_mass(delay=0.07)
    system = model.compile()
    engine = fem.DecoupledNSGA().prepare(system, 0.01)
    engine.t_end = 1.0
    block = engine.make_records(200)
    assert engine.march.begin() is None
    engine.march.advance(np.array([0.31]), block)
    kept = engine.march.schedule.get_state()
    fresh = Schedule(engine.march)
    fresh.set_state(kept)
    assert fresh.get_state()["samples"][0]["k"] == 7 and len(fresh.samples[0].waiting) == 2
    assert fresh.t == engine.march.t == pytest.approx(0.31) and model["pd"].output().now == kept["held"][0] != 0.0
    engine.march.finish()
    assert model["pd"].output().now == 0.0


def test_runs_of_one_model_in_threads_do_not_see_held_signals_of_each_other():
    # held signals belong to the model: each thread has values of its own
    model = turning_mass(lambda t, y: -9.0 * y[0] - 3.0 * y[1] + t, period=1e-3)
    alone, start = fem.DecoupledNSGA().run(model, 0.4, 1e-3), threading.Barrier(3)
    found = []

    def run():
        start.wait()
        found.append(fem.DecoupledNSGA().run(model, 0.4, 1e-3, progress=False))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for result in found:
        assert result.samples["pd"].outputs.tobytes() == alone.samples["pd"].outputs.tobytes()
        assert wheel_state(result).tobytes() == wheel_state(alone).tobytes()


def test_a_function_of_a_held_signal_is_evaluated_anew_in_each_thread():
    # interleaved by hand: the vector of a load is kept for one time
    model = fem.Model("threads")
    held, seen = fem.Held(1.0, name="held"), []
    force = model.add(fem.PointForce(model.add(fem.PointMass(1.0)), lambda t: [held(t), 0, 0]))
    held.set(2.0)
    assert force.signals[0](0.5) == 2.0
    other = threading.Thread(target=lambda: seen.append((force.signals[0](0.5), fem.Held.among(held))))
    other.start()
    other.join()
    assert seen == [(1.0, [held])]
    assert force.signals[0](0.5) == 2.0
    with fem.Held.as_at_start():
        assert force.signals[0](0.5) == 1.0
    assert force.signals[0](0.5) == held.now == 2.0
    assert copy.deepcopy(held).now == 1.0  # a run continues here, not in the copy


def test_the_filter_of_the_derivative_has_its_time_constant():
    # backward differences of T_f r' + r = e' on a ramp e' = 2: r_k = 2 (1 − β^k), β = T_f / (T_f + T)
    wheel, T, T_f = fem.RigidBody(1.0, [1, 1, 1], name="wheel"), 0.01, 0.03
    angle = fem.Sensor(wheel, "angle", axis=[0, 0, 1])
    pid = fem.PID(angle, 0.0, 0.0, 5.0, period=T, set_point=fem.Held(0.0), filter_time=T_f)
    state, found = pid.start(), []
    for k in range(8):
        u, state = pid.control(k * T, np.array([-2.0 * k * T, 0.0]), state)
        found.append(u)
    assert np.abs(np.array(found) - 10.0 * (1.0 - 0.75 ** np.arange(8))).max() < 1e-13  # round-off
