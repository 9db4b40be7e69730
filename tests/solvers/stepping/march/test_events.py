"""Events: times of crossings against closed forms, actions, re-arming, several in one step."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from switch_runs import LINKS, chain, locked_chain

import fem_mbs as fem
from fem_mbs.elements.control.event import Action


def pendulum(*events, gravity=9.81):
    """A point mass of 1 kg on 1 m from 60°; events get its angle."""
    model = fem.Model("pendulum", gravity=[0, -gravity, 0])
    start = np.pi / 3
    bob = fem.RigidBody(
        1.0, [1e-9] * 3, position=[np.sin(start), -np.cos(start), 0], rotation=[0, 0, start], name="bob"
    )
    hinge = fem.Revolute.at(model.ground, bob, [0, 0, 0], [0, 0, 1], name="hinge")
    angle = fem.Sensor(bob, "angle", axis=[0, 0, 1], name="angle")
    model.add(bob, hinge, *(event(angle) for event in events))
    return model


def stop(angle):
    return fem.Event(angle, fem.Stop("it is there"), level=0.3, direction="down", name="there")


def test_the_time_of_a_crossing_has_the_order_of_the_scheme_and_the_step_ends_on_it():
    """0.44094491989510 s; errors 6.14e-5, 1.54e-5, 3.86e-6 are those of the scheme itself."""
    exact, published = 0.44094491989510, [6.14e-5, 1.54e-5, 3.86e-6]
    for h, error in zip((1e-2, 5e-3, 2.5e-3), published):
        result = fem.DecoupledNSGA(rho_inf=0.8).run(pendulum(stop), 1.0, h, progress=False)
        assert result.events.t[0] - exact == pytest.approx(error, rel=2e-3)
        assert abs(result["angle"].value[-1] - 0.3) < 1e-12 and result.t[-1] == result.events.t[0]
        assert result.status == f"stopped: it is there (event 'there' at t = {result.t[-1]:.9g} s)"
    result = fem.LobattoIIIAB(stages=3).run(pendulum(stop), 1.0, 2.5e-3, progress=False)
    assert abs(result.events.t[0] - exact) < 1e-9


def falling(*parts, **options):
    model = fem.Model("ball", gravity=[0, 0, -10.0])
    ball = fem.PointMass(1.0, position=[0, 0, 1.0], name="ball", **options)
    height, speed = (fem.Sensor(ball, q, component="z") for q in ("position", "velocity"))
    model.add(ball, *(part(ball, height, speed) for part in parts))
    return model


def noted(name, **options):
    """An event that does nothing but be noted; on the height, or on the speed with ``speed=True``."""
    of_speed = options.pop("speed", False)

    def make(ball, height, speed):
        return fem.Event(speed if of_speed else height, lambda moment: None, name=name, **options)

    return make


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-4)])
def test_several_events_in_one_step_are_met_in_their_order(control):
    levels = [0.9, 0.2, 0.905, 0.9, 0.899]
    model = falling(*(noted(f"{k}", level=z) for k, z in enumerate(levels)))
    result = fem.DecoupledNSGA(step_control=control).run(model, 0.5, 0.05, progress=False)
    exact = np.sqrt(2 * (1 - np.array(levels)) / 10)
    assert result.events.name.tolist() == ["2", "0", "3", "4", "1"]
    assert np.abs(np.sort(exact) - result.events.t).max() < 1e-11
    assert abs(result["ball"].position[-1, 2] - (1 - 5 * result.t[-1] ** 2)) < 1e-12


def test_of_two_events_in_one_step_the_earlier_one_comes_first_where_a_straight_line_says_the_other():
    """Between the ends of the step the height falls along a parabola: a line puts it at 0.0205 s, before the speed."""
    level = 1.0 - 5.0 * 0.032**2
    model = falling(noted("height", level=level), noted("speed", speed=True, level=-0.25, direction="down"))
    result = fem.DecoupledNSGA().run(model, 0.1, 0.05, progress=False)
    assert result.events.name.tolist() == ["speed", "height"]
    assert result.events.t == pytest.approx([0.025, 0.032], abs=1e-11)


def test_a_speed_that_jumps_at_an_impact_is_found_where_it_jumps():
    model = fem.Model("ball", gravity=[0, 0, -10.0])
    ball = fem.PointMass(1.0, position=[0, 0, 1.0], fixed=("x", "y"), name="ball")
    speed = fem.Sensor(ball, "velocity", component="z")
    model.add(ball, fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name="floor"))
    model.add(fem.Event(speed, lambda m: None, direction="up", once=False, name="hit"))
    model.add(fem.Event(speed, lambda m: None, direction="down", once=False, name="top"))
    result = fem.DecoupledNSGA(impacts="split").run(model, 0.9, 2e-3, progress=False)
    fall = np.sqrt(2 * 0.9 / 10)
    times = np.array([fall, fall * 1.5, fall * 2.0])
    assert result.events.name.tolist()[:4] == ["top", "hit", "top", "hit"]  # at rest it begins at its top
    assert np.abs(result.events.t[1:4] - times).max() < 1e-11 and result.events.t[0] < 1e-10
    plain = fem.DecoupledNSGA().run(model, 0.45, 2e-3, progress=False)
    assert abs(plain.events.t[1] - fall) < 1e-8


def test_direction_once_and_dead_band():
    def count(**options):
        def make(angle):
            return fem.Event(angle, lambda m: None, name="zero", **options)

        return len(fem.MoreauJean(theta=0.5).run(pendulum(make), 6.0, 0.01, progress=False).events)

    # the period of this pendulum is 2.1529 s: it passes zero at T/4, 3T/4, …
    assert count() == 1
    assert count(once=False) == 6 and count(once=False, direction="up") == 3 and count(once=False, direction=-1) == 3
    assert count(once=False, dead_band=0.5) == 6
    assert count(once=False, dead_band=1.2) == 1  # it never goes so far


def test_an_event_sets_a_held_signal_and_the_jump_of_the_force_is_exact():
    """A thruster that starts at half height: two parabolas, from the exact time on."""
    thrust = fem.Held(0.0, name="thrust")

    def engine(ball, height, speed):
        return fem.PointForce(ball, [0, 0, 1], signal=30.0 * thrust)

    def ignition(ball, height, speed):
        return fem.Event(height, fem.SetTo(thrust, 1.0), level=0.5, name="ignition")

    model = falling(engine, ignition)
    for rho in (0.2, 1.0):
        result = fem.DecoupledNSGA(rho_inf=rho).run(model, 0.5, 0.02, progress=False)
        t_1 = np.sqrt(0.1)
        rest = 0.5 - t_1
        assert abs(result.events.t[0] - t_1) < 1e-12 and result.events.action[0] == "thrust = 1"
        assert abs(result["ball"].position[-1, 2] - (0.5 - 10 * t_1 * rest + 10 * rest**2)) < 1e-12
        assert thrust.now == 0.0  # the next run begins as this one did


def test_conditions_and_actions_in_python_read_and_stop():
    seen = []

    def energy_event(ball, height, speed):
        kinetic = fem.Sensor(lambda v: 0.5 * v * v, inputs=[speed])

        def tell(moment):
            seen.append((moment.t, moment.read(kinetic), moment.read(height), moment.state.V[ball.node.index, 2]))
            if moment.name == "fast":
                moment.stop("fast enough")

        return fem.Event(kinetic, tell, level=2.0, name="fast")

    with pytest.raises(fem.SolverError, match=r"'fast'.*not in the model"):
        fem.DecoupledNSGA().run(falling(energy_event), 0.5, 0.03, progress=False)
    model = falling(energy_event, lambda ball, height, speed: height)
    result = fem.DecoupledNSGA().run(model, 0.5, 0.03, progress=False)
    (time, kinetic, height, speed), t_1 = seen[0], 0.2
    assert abs(time - t_1) < 1e-12 and abs(kinetic - 2.0) < 1e-11 and abs(height - 0.8) < 1e-12
    assert abs(speed + 2.0) < 1e-11 and result.status == "stopped: fast enough (event 'fast' at t = 0.2 s)"


def test_faults_of_conditions_and_actions_are_reported_and_keep_the_run():
    def bad_condition(ball, height, speed):
        return fem.Event(
            fem.Sensor(lambda z: 1 / 0 if z < 0.9 else 1.0, inputs=[height]), fem.Stop("never"), name="bad"
        )

    def bad_action(ball, height, speed):
        return fem.Event(height, lambda moment: {}["key"], level=0.9, name="bad")

    with pytest.raises(fem.SolverError, match="ZeroDivisionError") as caught:
        fem.DecoupledNSGA().run(falling(bad_condition), 0.5, 0.01, progress=False)
    assert len(caught.value.result.t) > 10
    with pytest.raises(fem.SolverError, match=r"'bad'.*KeyError: 'key'") as caught:
        fem.DecoupledNSGA().run(falling(bad_action), 0.5, 0.01, progress=False)
    assert abs(caught.value.time - np.sqrt(0.02)) < 1e-9 and len(caught.value.result.t) > 10


def test_what_an_event_cannot_switch_is_rejected_before_the_run():
    model = falling()
    ball = model["ball"]
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor")
    with pytest.raises(fem.ParameterError, match=r"'floor'.*cannot be switched"):
        fem.SwitchOff(floor)
    with pytest.raises(fem.ParameterError, match=r"'ball' cannot be switched.*mass"):
        fem.SwitchOn(ball)
    height = fem.Sensor(ball, "position", component="z", name="height")
    grip = fem.Attachment(model.ground, ball, active=False, name="grip")
    model.add(fem.Event(height, fem.SwitchOn(grip), level=-1e6, name="catch"))  # it would never come
    with pytest.raises(fem.ModelError, match=r"'catch'.*'grip'.*not in the model"):
        fem.DecoupledNSGA().run(model, 0.1, 0.01, progress=False)
    pick = falling()
    height = fem.Sensor(pick["ball"], "position", component="z", name="height")
    pick.add(fem.Event(height, lambda moment: moment.switch("grip", True), level=0.9, name="catch"))
    with pytest.raises(fem.SolverError, match=r"'grip'.*not an element"):
        fem.DecoupledNSGA().run(pick, 1.0, 0.01, progress=False)


def test_a_controller_in_the_place_of_its_output_is_reported_so():
    model = falling()
    height = fem.Sensor(model["ball"], "position", component="z", name="height")
    law = fem.Controller(lambda t, y: -y[0], 1e-3, [height], name="law")
    with pytest.raises(fem.ParameterError, match=r"signal = .*controller\.output"):
        fem.PointForce(model["ball"], [0, 0, 1], signal=law)


def test_a_controller_and_an_event_in_one_run_and_in_the_file(tmp_path):
    def parts(ball, height, speed):
        return fem.Controller(lambda t, y: y[0], 0.07, [height], name="log")

    model = falling(parts, noted("half", level=0.5), noted("low", level=0.21))
    file = tmp_path / "run.vtkhdf"
    result = fem.DecoupledNSGA().run(model, 0.42, 0.01, progress=False, save=file, save_every=3)
    for found in (result, fem.load(file)):
        assert np.abs(found.events.t - np.sqrt([0.1, 0.158])).max() < 1e-12
        assert found.events.name.tolist() == ["half", "low"]
        samples = found.samples["log"]
        assert np.array_equal(samples.t, 0.07 * np.arange(7))
        assert np.abs(samples.inputs[:, 0] - (1 - 5 * samples.t**2)).max() < 1e-12
    assert result["ball"].position[-1, 2] == pytest.approx(1 - 5 * result.t[-1] ** 2, abs=1e-12)


def test_a_crossing_at_the_end_of_a_step_is_not_missed():
    """0.4 s is the end of a step, where round-off decides on which side the height is."""
    result = fem.DecoupledNSGA().run(falling(noted("low", level=0.2)), 0.45, 0.01, progress=False)
    assert len(result.events) == 1 and abs(result.events.t[0] - 0.4) < 1e-9


def test_an_event_that_never_comes_changes_nothing():
    plain = fem.DecoupledNSGA().run(falling(), 0.4, 0.01, progress=False)
    watched = fem.DecoupledNSGA().run(falling(noted("far", level=-99.0)), 0.4, 0.01, progress=False)
    assert np.array_equal(plain["ball"].position, watched["ball"].position) and len(watched.events) == 0
    assert np.abs(plain.t - watched.t).max() < 1e-15


def test_events_are_rejected_with_contact_groups_and_controllers_need_multiples_of_the_step():
    def pile(period=None):
        model = fem.Model("pile", gravity=[0, 0, -10.0])
        balls = [fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.5 + k], name=f"ball {k}") for k in (0, 1)]
        group = fem.ContactGroup(friction=0.0, name="pile")
        for ball in balls:
            group.sphere(ball, 0.1)
        model.add(*balls, group)
        height = fem.Sensor(balls[0], "position", component="z")
        if period is None:
            model.add(fem.Event(height, fem.Stop("low"), level=0.1, name="low"))
        else:
            model.add(fem.Controller(lambda t, y: y[0], period, [height], name="log"))
        return model

    with pytest.raises(fem.ParameterError, match=r"'low'.*contact group 'pile'"):
        fem.DecoupledNSGA().run(pile(), 0.1, 0.01, progress=False)
    with pytest.raises(fem.ParameterError, match=r"period = .*multiple of h"):
        fem.DecoupledNSGA().run(pile(0.015), 0.1, 0.01, progress=False)
    for period in (0.0301, 0.0325, 0.0275):  # near a multiple of h is none
        with pytest.raises(fem.ParameterError, match=r"period = .*multiple of h"):
            fem.DecoupledNSGA().run(pile(period), 0.1, 0.01, progress=False)
    samples = fem.DecoupledNSGA().run(pile(0.03), 0.12, 0.01, progress=False).samples["log"]
    assert np.abs(samples.inputs[:, 0] - (0.5 - 5 * samples.t**2)).max() < 1e-12 and len(samples) == 5


def test_a_sensor_that_is_a_function_needs_its_own_sensors_and_an_event_one_number():
    ball = fem.PointMass(1.0)
    with pytest.raises(fem.ParameterError, match=r"condition = .*component"):
        fem.Event(fem.Sensor(ball, "position"), fem.Stop("there"))
    with pytest.raises(fem.ParameterError, match="is empty"):
        fem.Sensor(lambda: 0.0)
    with pytest.raises(fem.ParameterError, match="not an action"):
        fem.Event(fem.Sensor(ball, "position", component="z"), 3.0)


@pytest.mark.parametrize("missing", ["act", "describe"])
def test_an_action_defined_by_the_user_without_its_functions_is_rejected_when_the_event_is_made(missing):
    functions = {"act": lambda self, moment: moment.stop("own"), "describe": lambda self: "stops"}
    whole = type("Whole", (Action,), functions)
    part = type("Part", (Action,), {k: v for k, v in functions.items() if k != missing})
    height = fem.Sensor(fem.PointMass(1.0), "position", component="z")
    assert fem.Event(height, whole()).describe() == "stops"
    with pytest.raises(fem.ParameterError, match=rf"does not define {missing}\(self"):
        fem.Event(height, [whole(), part()])


def test_reference_of_the_pendulum():
    """The crossing of the reference, by another program."""
    found = solve_ivp(
        lambda t, y: [y[1], -9.81 * np.sin(y[0])], [0, 1], [np.pi / 3, 0], rtol=1e-13, atol=1e-14,
        events=lambda t, y: y[0] - 0.3,
    )  # fmt: skip
    assert abs(found.t_events[0][0] - 0.44094491989510) < 1e-12


@pytest.mark.parametrize("name", ["plain", "split", "controlled"])
def test_many_events_samples_and_impacts_in_one_run(name):
    """Three balls that bounce, hit each other, hang on a spring: 60 events, 110 samples, in order and in place."""
    options = {
        "plain": {},
        "split": {"impacts": "split"},
        "controlled": {"step_control": fem.StepControl(tolerance=1e-5)},
    }
    model = fem.Model("balls", gravity=[0, 0, -9.81])
    balls = []
    for k in range(3):
        place, speed = [0.5 * k, 0.02 * k, 0.5 + 0.2 * k], [0.3 * (1 - k), 0, 0]
        balls.append(fem.RigidBody.sphere(1.0, 0.1, position=place, velocity=speed, name=f"ball {k}"))
        law = {"restitution": 0.6, "friction": 0.3}
        model.add(balls[k], fem.SphereOnPlane(balls[k], model.ground.frame(), radius=0.1, name=f"floor {k}", **law))
        for other in balls[:k]:
            model.add(fem.SphereOnSphere(balls[k], other, radius_A=0.1, radius_B=0.1, restitution=0.5))
        height = fem.Sensor(balls[k], "position", component="z")
        rate = fem.Sensor(balls[k], "velocity", component="z")
        model.add(fem.Event(height, lambda m: None, level=0.3, once=False, name=f"height {k}"))
        model.add(fem.Event(rate, lambda m: None, once=False, dead_band=1e-2, name=f"rate {k}"))
    spring = model.add(fem.Spring(balls[0], balls[2], stiffness=300.0, damping=1.0, name="spring"))
    model.add(fem.Event(fem.Sensor(spring, "force"), lambda m: None, level=5.0, once=False, name="force"))
    law = fem.Controller(lambda t, y: 0.2 * np.sin(5 * t) - y[0], 0.0137, [rate], name="law")
    model.add(law, fem.PointForce(balls[1], [0, 0, 1], signal=law.output()))
    result = fem.DecoupledNSGA(**options[name]).run(model, 1.5, 2e-3, progress=False)
    assert (np.diff(result.t) > 0).all() and abs(result.t[-1] - 1.5) < 1e-12
    assert len(result.events) > 50 and (np.diff(result.events.t) >= 0).all()
    assert np.array_equal(result.samples["law"].t, 0.0137 * np.arange(110))
    assert np.abs(result.samples["law"].t[:, None] - result.t).min(axis=1).max() < 1e-12  # steps end at samples
    for event in result.events:
        state = int(np.argmin(np.abs(result.t - event.t)))
        assert result.t[state] == event.t
        if event.name.startswith("height"):
            assert abs(result[f"ball {event.name[-1]}"].position[state, 2] - 0.3) < 1e-9


# --- switches ---------------------------------------------------------------------------------------------------------


def locked_by_an_event(control, action):
    """The chain of `switch_runs`: an event locks its second hinge at 0.5 s, when a clock (ẋ = 1) has come there."""
    model = chain()
    clock = model.add(fem.PointMass(1.0, velocity=[0, 0, 1.0], name="clock"))
    clock_hand = fem.Sensor(clock, "position", component="z")
    model.add(fem.PointForce(clock, [0, 9.81, 0], name="no weight"))
    model.add(fem.Event(clock_hand, action(model["lock"]), level=0.5, direction="up", name="closes"))
    return fem.DecoupledNSGA(step_control=control).run(model, 0.6, 1.1e-3, progress=False)


def falls(*angles):
    """Angular acceleration [rad/s²] of the locked chain at angles of its links, whatever its rate is."""
    (m_1, J_1, c_1), (m_2, J_2, c_2) = LINKS
    e_1, e_2 = (np.array([np.cos(a), np.sin(a)]) for a in angles)
    x_1, x_2 = c_1 * e_1, e_1 + c_2 * e_2
    return -9.81 * (m_1 * x_1[0] + m_2 * x_2[0]) / (J_1 + J_2 + m_1 * x_1 @ x_1 + m_2 * x_2 @ x_2)


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-8)], ids=["equal", "controlled"])
def test_an_event_locks_a_hinge_at_a_crossing_inside_a_step(control):
    """By moments of momentum the rate is −2.978208174 rad/s after it, the loss 0.384049121 J (formulation, 6.2)."""
    for action in (fem.SwitchOn, lambda lock: lambda moment: moment.switch(lock, True)):
        result = locked_by_an_event(control, action)
        (event,) = result.events
        at = int(np.argmin(np.abs(result.t - 0.5)))
        assert event.t == result.t[at] and event.t == pytest.approx(0.5, abs=1e-9)
        # the state at the event is the one before it: what the scheme has there jumps by the closed form
        angles = [2 * np.arctan2(*result[f"link {k}"].quaternion[at, [3, 0]]) for k in (1, 2)]
        rates = [result[f"link {k}"].angular_velocity[at, 2] for k in (1, 2)]
        rate, _, _, loss = locked_chain(angles, rates)
        assert result.statistics["switches"] == 1
        assert result.statistics["energy_lost_in_switches"] == pytest.approx(loss, rel=1e-10)
        assert rate == pytest.approx(-2.978208174, abs=1e-4) and loss == pytest.approx(0.384049121, abs=1e-4)
        after, h = result["link 1"].angular_velocity[at + 1, 2], result.t[at + 1] - result.t[at]
        assert after - rate == pytest.approx(h * falls(*angles), rel=0.01)  # and continues as a pendulum of one part
    free, locked = locked_by_an_event(control, lambda lock: fem.SwitchOff(lock)), result
    assert "switches" not in free.statistics and free.events.action.tolist() == ["lock off"]
    assert abs(free["link 1"].angular_velocity[-1, 2] - locked["link 1"].angular_velocity[-1, 2]) > 0.05


def test_a_controller_attaches_a_payload_and_releases_it():
    """2 kg at 3 m/s take 1 kg along from 0.2 s: 2 m/s; let go at 0.5 s both keep it. Exact, whatever the steps are."""
    model = fem.Model("gripper")
    hand = model.add(fem.PointMass(2.0, velocity=[3.0, 0, 0], name="hand"))
    load = model.add(fem.PointMass(1.0, position=[0, 0.4, 0], name="load"))
    grip = model.add(fem.Attachment(hand, load, active=False, name="grip"))
    place = fem.Sensor(hand, "position", component="x")

    def decide(t, y):
        return [1.0 if 0.195 < t < 0.495 else 0.0, y[0]]

    law = fem.Controller(decide, 0.1, [place], outputs=["grip", "seen"], switches={"grip": grip}, name="law")
    model.add(law)
    result = fem.DecoupledNSGA().run(model, 0.81, 0.03, progress=False)
    assert [(round(e.t, 12), e.action) for e in result.events] == [(0.2, "on by its controller"),
                                                                  (0.5, "off by its controller")]  # fmt: skip
    t = result.t
    along = np.where(t <= 0.2 + 1e-12, 3.0, 2.0)
    assert np.abs(result["hand"].velocity[:, 0] - along).max() < 1e-12
    assert np.abs(result["load"].velocity[:, 0] - np.where(t <= 0.2 + 1e-12, 0.0, 2.0)).max() < 1e-12
    assert result.samples["law"].inputs[:, 0] == pytest.approx(np.array([0, 0.3, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8]))
    assert result.statistics["energy_lost_in_switches"] == pytest.approx(0.5 * 2 * 9 - 0.5 * 3 * 4, rel=1e-12)


def test_what_events_and_controllers_switch_must_be_in_the_model_and_switchable():
    model = chain()
    z = fem.Sensor(model["link 1"], "position", component="x")
    floor = fem.SphereOnPlane(model["link 1"], model.ground, radius=0.1, name="floor")
    other = fem.Attachment(model["link 1"], model["link 2"], active=False, name="other")
    model.add(fem.Event(z, fem.SwitchOn(other)))
    with pytest.raises(fem.ModelError, match=r"'other'.*not in the model"):
        fem.DecoupledNSGA().run(model, 0.1, 0.01, progress=False)
    with pytest.raises(fem.ParameterError, match=r"element = .*cannot be switched.*bodies"):
        fem.SwitchOff(floor)
    with pytest.raises(fem.ParameterError, match=r"element = .*cannot be switched.*mass"):
        fem.SwitchOff(model["link 2"])
    with pytest.raises(fem.ParameterError, match=r"switches = 'hold'.*output.* u"):
        fem.Controller(lambda t, y: 0.0, 0.1, switches={"hold": other})


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda moment, held: moment.set(held, np.nan), "finite"),
        (lambda moment, held: moment.set("brake", 1.0), "Held signal"),
        (lambda moment, held: moment.switch("ball", False), "not an element"),
    ],
)
def test_a_wrong_use_of_a_moment_is_reported_where_it_is(act, message):
    model, held = fem.Model("ball", gravity=[0, 0, -10]), fem.Held(0.0)
    ball = model.add(fem.PointMass(1.0, position=[0, 0, 1], name="ball"))
    height = fem.Sensor(ball, "position", component="z")
    model.add(fem.PointForce(ball, [0, 0, 1], signal=held))
    model.add(fem.Event(height, lambda moment: act(moment, held), level=0.5, name="half way"))
    with pytest.raises(fem.SolverError, match=f"Event 'half way'.*{message}"):
        fem.DecoupledNSGA().run(model, 1.0, 1e-2)


# --- on the level at the start ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("control", [None, fem.StepControl(tolerance=1e-4)], ids=["equal", "controlled"])
def test_what_is_on_its_level_at_the_start_fires_where_it_leaves_in_the_direction_asked(control):
    """A ball that is thrown up at 2 m/s from the level of seven events; it is there again at 0.4 s."""
    model = fem.Model("throw", gravity=[0, 0, -10.0])
    ball = model.add(fem.PointMass(1.0, position=[0, 0, 0.3], velocity=[0, 0, 2.0], name="ball"))
    height, speed = (fem.Sensor(ball, q, component="z") for q in ("position", "velocity"))
    near = 0.1 + 0.2  # not 0.3: round-off of a level does not decide
    for name, level in (("exact", 0.3), ("rounded", near)):
        for direction in ("up", "down", "either"):
            model.add(fem.Event(height, lambda m: None, level=level, direction=direction, name=f"{name} {direction}"))
    model.add(fem.Event(speed, lambda m: None, level=2.0, once=False, name="slower"))
    result = fem.DecoupledNSGA(step_control=control).run(model, 0.5, 0.03, progress=False)
    times = {event.name: event.t for event in result.events}
    assert len(result.events) == len(times) == 7
    for name, time in times.items():
        assert time == pytest.approx(0.4 if name.endswith("down") else 0.0, abs=1e-9), name
    t = result.t[-1]
    assert min(times.values()) > 0.0 and abs(result["ball"].position[-1, 2] - (0.3 + 2 * t - 5 * t**2)) < 1e-12


def test_an_event_at_rest_on_its_level_fires_when_moved():
    """Held until 0.2 s by a driver that then moves as (t − 0.2)²; nothing happens where it stays."""
    model = fem.Model("lift")
    slide, table = (model.add(fem.PointMass(1.0, position=[k, 0, 0.7], name=f"{k}")) for k in (0, 1))
    lift = fem.Signal(lambda t: 0.7 + np.maximum(t - 0.2, 0.0) ** 2)
    model.add(fem.Prescribed(slide, z=lift))
    for body in (slide, table):
        height = fem.Sensor(body, "position", component="z")
        model.add(fem.Event(height, lambda m: None, level=0.7, direction="up", name=f"up {body.name}"))
        model.add(fem.Event(height, lambda m: None, level=0.7, direction="down", name=f"down {body.name}"))
    result = fem.MoreauJean(theta=0.5).run(model, 0.5, 0.03, progress=False)
    (event,) = result.events
    assert event.name == "up 0" and event.t == pytest.approx(0.2, abs=1e-6)  # (t − 0.2)² is round-off of 0.7 before
