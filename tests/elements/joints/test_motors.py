"""Motors with a limit, and motors that a controller or an event commands: closed forms."""

import numpy as np
import pytest
from resumed import Killed, differences, stop_after

import fem_mbs as fem

J = 2.0  # kg m²


def wheel(load=0.0, command=None, **motor):
    """A wheel on a hinge with a motor, against a constant moment; ``command`` makes a controller that reads its angle.

    Values of the motor that are functions of a controller are made with it.
    """
    model = fem.Model("wheel")
    body = model.add(fem.RigidBody(1.0, [J, J, J], name="wheel"))
    if command is not None:
        controller = model.add(command(body))
        motor = {name: value(controller) if callable(value) else value for name, value in motor.items()}
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge", motor=fem.Motor(**motor)))
    if load:
        model.add(fem.PointMoment(body, [0, 0, -load], name="load"))
    return model


def to_angle(law, period=0.1):
    """A controller of the angle of a body: (angle, rate) to an output."""

    def make(body):
        sensors = [fem.Sensor(body, "angle", axis=[0, 0, 1]), fem.Sensor(body, "angular_velocity", component="z")]
        return fem.Controller(lambda t, y: law(*y), period, sensors, name="controller")

    return make


def run(model, t_end=2.0, h=1e-2, method=None, **options):
    method = fem.DecoupledNSGA(rho_inf=0.8) if method is None else method
    return method.run(model, t_end=t_end, h=h, progress=False, **options)


# --- a rate with a limited effort -----------------------------------------------------------------------------------


def test_a_servo_spins_a_load_up_at_its_limit_and_then_holds_the_rate():
    result = run(wheel(load=1.0, rate=3.0, limit=4.0), t_end=3.0, h=1.3e-2, balance=True)
    motor, hinge = result["hinge motor"], result["hinge"]
    there = J * 3.0 / (4.0 - 1.0)  # 2 s, inside a step
    before, after = result.t < there, result.t > there + 0.02
    assert hinge.rate[before] == pytest.approx(1.5 * result.t[before], abs=1e-12)
    assert hinge.rate[after] == pytest.approx(3.0, abs=1e-12)
    assert hinge.angle[-1] == pytest.approx(3.0 + 3.0 * (result.t[-1] - there), abs=1e-4)  # order 2: 6e-5
    assert motor.effort[before] == pytest.approx(4.0, abs=1e-12)
    assert motor.effort[after] == pytest.approx(1.0, abs=1e-10)
    assert set(motor.status[before]) == {-1.0}
    assert set(motor.status[after]) == {0.0}
    assert motor.power[-1] == pytest.approx(3.0, rel=1e-10)
    table = result.energy_table()
    assert table.work("hinge motor", "driver") == pytest.approx(0.5 * J * 9.0 + hinge.angle[-1], abs=1e-5)
    assert abs(table.numerical) < 1e-5  # 3e-6 J of the step in which it arrives, order 2


@pytest.mark.parametrize("over", [0.999, 1.001, 1.5])
def test_a_servo_holds_a_load_below_its_limit_and_is_overrun_above(over):
    model = wheel(load=4.0 * over, rate=0.0, limit=4.0)
    result = run(model, t_end=1.0)
    acceleration = min(0.0, 4.0 - 4.0 * over) / J
    assert result["hinge"].rate[-1] == pytest.approx(acceleration, abs=1e-12)
    assert result["hinge"].angle[-1] == pytest.approx(0.5 * acceleration, abs=1e-12)
    assert result["hinge motor"].effort[-1] == pytest.approx(4.0 * min(over, 1.0), abs=1e-10)
    assert result["hinge motor"].status[-1] == (-1.0 if over > 1.0 else 0.0)


def test_a_rate_that_changes_is_followed_while_the_limit_allows_it():
    """ω = sin 2t needs 2 J cos 2t = 4 cos 2t: with a limit of 6 it is followed, from the start on."""
    result = run(wheel(rate=lambda t: np.sin(2.0 * t), limit=6.0), h=5e-3)
    assert result["hinge"].rate == pytest.approx(np.sin(2.0 * result.t), abs=1e-12)
    assert result["hinge motor"].effort == pytest.approx(4.0 * np.cos(2.0 * result.t), abs=1e-3)  # order 2: 2e-4


# --- commands of controllers ----------------------------------------------------------------------------------------


def sampled(step, start=0.0, samples=21):
    """Angles at the samples by the exact map of one period."""
    state = [start, 0.0]
    angles = [start]
    for _ in range(samples - 1):
        state = step(*state)
        angles.append(state[0])
    return np.array(angles)


def limited(angle, rate, wanted, T=0.1, most=2.5):
    """Exact motion of a period towards a rate with an acceleration of at most ``most``."""
    slope = np.sign(wanted - rate) * most
    begin = min(abs(wanted - rate) / most, T)
    return angle + rate * T + slope * begin * (T - 0.5 * begin), rate + slope * begin


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean(theta=1.0)], ids=["NSGA", "Moreau"])
def test_a_sampled_rate_is_held_exactly_from_sample_to_sample(method):
    """The wheel jumps to each rate, which takes and gives energy: the table has the work of the motor in it."""
    model = wheel(command=to_angle(lambda angle, rate: 3.0 * (1.0 - angle)), rate=lambda c: c.output())
    result = run(model, h=2e-2, method=method, balance=True)
    exact = sampled(lambda angle, rate: (angle + 0.3 * (1.0 - angle), 0.0))
    assert result.samples["controller"].inputs[:, 0] == pytest.approx(exact, abs=1e-14)
    assert abs(result.energy_table().numerical) < 1e-13
    assert not result.warnings


def test_a_sampled_position_is_reached_at_the_next_sample_without_jumps():
    model = wheel(command=to_angle(lambda angle, rate: 0.5 + 0.5 * angle), position=lambda c: c.motion())
    result = run(model, h=5e-3, balance=True)
    exact = sampled(lambda angle, rate: (0.5 + 0.5 * angle, 0.0))
    samples = result.samples["controller"]
    assert samples.inputs[:, 0] == pytest.approx(exact, abs=1e-13)
    # the rate at a sample is the mean one of the period before
    assert samples.inputs[1:, 1] == pytest.approx(np.diff(exact) / 0.1, abs=1e-10)
    steps = np.abs(np.diff(result["hinge"].rate))
    assert steps.max() < 1.1 * 5e-3 * 4.0 * 0.5 / 0.1**2  # ≤ h times the largest acceleration, 4 m/T
    assert not result.warnings


def test_a_sampled_effort_is_cut_off_at_its_limit():
    model = wheel(
        command=to_angle(lambda angle, rate: 9.0 * (1.0 - angle) - 3.0 * rate), effort=lambda c: c.output(), limit=5.0
    )
    result = run(model, h=2e-2)

    def step(angle, rate):
        u = np.clip(9.0 * (1.0 - angle) - 3.0 * rate, -5.0, 5.0) / J
        return angle + 0.1 * rate + 0.005 * u, rate + 0.1 * u

    samples = result.samples["controller"]
    assert samples.outputs[0, 0] > 5.0  # it is limited
    assert samples.inputs[:, 0] == pytest.approx(sampled(step), abs=1e-13)
    assert np.abs(result["hinge motor"].effort).max() == 5.0


def test_a_sampled_rate_with_a_limit_is_followed_to_second_order():
    """Rates that jump at the samples are reached inside of steps: errors 1.2e-4, 3.9e-5, 5.7e-6 at 10, 5, 2.5 ms."""
    law = to_angle(lambda angle, rate: 3.0 * (1.0 - angle))
    exact = sampled(lambda angle, rate: limited(angle, rate, 3.0 * (1.0 - angle)))
    errors = []
    for h in (1e-2, 2.5e-3):
        result = run(wheel(command=law, rate=lambda c: c.output(), limit=5.0), h=h, balance=True)
        errors.append(np.abs(result.samples["controller"].inputs[:, 0] - exact).max())
        assert abs(result.energy_table().numerical) < 1e-12
    assert errors[0] < 3e-4
    assert errors[1] < errors[0] / 8


def test_a_delayed_motion_continues_in_a_resumed_run(tmp_path, monkeypatch):
    """A checkpoint keeps where a motion is between two samples."""

    def make():
        law = to_angle(lambda angle, rate: 0.5 + 0.5 * angle)
        return wheel(command=lambda body: delayed(law(body)), position=lambda c: 2.0 * c.motion())

    def delayed(c):
        return fem.Controller(c.function, c.period, c.inputs, delay=0.03, name=c.name)

    whole = run(make(), t_end=0.5)
    path = tmp_path / "run.vtkhdf"
    with monkeypatch.context() as patch:
        stop_after(patch, 24)
        with pytest.raises(Killed):
            run(make(), t_end=0.5, save=path, checkpoint_every="8 steps")
    resumed = fem.resume(path, model=make(), progress=False)
    assert differences(whole, resumed) == []
    u = whole.samples["controller"].outputs[:, 0]
    # an output that acts at t is reached a period later, at the sample times plus the delay
    at = np.searchsorted(whole.t, 0.1 * np.arange(1, 5) + 0.03 - 1e-9)
    assert whole["hinge"].angle[at] == pytest.approx(2.0 * u[:4], abs=1e-12)


def test_an_event_gives_a_motor_another_rate_by_equal_and_opposite_impulses():
    """A wheel of J on a free body of J: at the event both jump, and their moment of momentum stays."""
    wanted = fem.Held(0.0, name="wanted")
    model = fem.Model("wheel in a free body")
    base = model.add(fem.RigidBody(1.0, [J, J, J], angular_velocity=[0, 0, 1.0], name="base"))
    body = model.add(fem.RigidBody(1.0, [J, J, J], angular_velocity=[0, 0, 1.0], name="wheel"))
    model.add(fem.Revolute.at(base, body, [0, 0, 0], [0, 0, 1], name="hinge", motor=fem.Motor(rate=wanted)))
    angle = fem.Sensor(base, "angle", axis=[0, 0, 1])
    model.add(fem.Event(angle, fem.SetTo(wanted, 6.0), level=0.5, direction="up", name="start"))
    result = run(model, t_end=1.0, balance=True)
    assert result.events[0].t == pytest.approx(0.5, abs=1e-9)
    spin = [result[name].angular_velocity[-1, 2] for name in ("base", "wheel")]
    assert spin == pytest.approx([1.0 - 3.0, 1.0 + 3.0], abs=1e-12)
    assert result.energy_table().work("hinge motor") == pytest.approx(0.5 * J * (4.0 + 16.0 - 2.0), rel=1e-12)
    assert not result.warnings


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fem.Motor(position=0.0, limit=3.0), r"limit = 3\.0.*position"),
        (lambda: wheel(rate=1.0, limit=-1.0), "Motor: limit = -1.0.*≥ 0"),
        (lambda: wheel(effort=1.0, limit=-1.0), "Motor: limit = -1.0.*≥ 0"),
        (lambda: wheel(rate=1.0, limit=lambda t: t - 1.0), "t = 0: limit = -1 N m.*≥ 0"),
        (lambda: wheel(rate=1.0, limit="big"), "limit = 'big'.*function of time"),
        (lambda: wheel(rate=np.nan, limit=1.0), r"rate = nan"),
        (
            lambda: wheel(command=to_angle(lambda a, r: a), position=lambda c: c.output()),
            r"position = .*jumps.*controller\.motion",
        ),
    ],
)
def test_motors_that_make_no_sense_are_rejected_in_words(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make()


def test_a_limit_that_gets_negative_ends_the_run_with_its_time():
    with pytest.raises(fem.FemMbsError, match=r"'hinge motor'.*limit = -0\.01 N m.*≥ 0.*t = 0\.51 s"):
        run(wheel(rate=1.0, limit=lambda t: 0.5 - t), t_end=1.0)


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.NonsmoothGeneralizedAlphaGGL()], ids=["NSGA", "GGL"])
def test_a_rate_that_runs_into_a_rigid_stop_is_named_as_the_cause(method):
    with pytest.raises(fem.SolverError, match="contact 'hinge upper stop'") as told:
        run(at_a_stop(fem.Motor(rate=3.0)), method=method)
    assert "JointRate 'hinge motor'" in str(told.value)
    assert 0.33 < told.value.time < 0.35


def test_a_motor_with_a_limit_presses_against_a_stop():
    result = run(at_a_stop(fem.Motor(rate=3.0, limit=4.0)), t_end=1.0)
    assert result["hinge"].angle[-1] == pytest.approx(1.0, abs=1e-12)
    assert result["hinge motor"].effort[-1] == pytest.approx(4.0, rel=1e-12)
    assert result["hinge upper stop"].force_normal[-1] == pytest.approx(4.0, rel=1e-9)


def at_a_stop(motor):
    """A wheel that turns with 3 rad/s against a stop at 1 rad."""
    model = fem.Model("stop")
    body = model.add(fem.RigidBody(1.0, [J, J, J], angular_velocity=[0, 0, 3.0], name="wheel"))
    place = {"position": [0, 0, 0], "axis": [0, 0, 1]}
    model.add(fem.Revolute.at(model.ground, body, name="hinge", motor=motor, stops=fem.Stops(upper=1.0), **place))
    return model
