"""Runs that die and are resumed from their checkpoints: equal to the last bit to those that were not stopped."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from every_stepper import METHODS, SMOOTH, label
from resumed import Killed, differences, stop_after, stopped_and_resumed

import fem_mbs as fem
from fem_mbs.solvers import STEPPERS
from fem_mbs.system.contacts import CONTACTS

sys.path.append(str(Path(__file__).parents[4] / "examples"))
import roller_crank

G = 9.81


class Kinked:
    """A driven angle with a kink, by a class that a pickle finds."""

    def __call__(self, t):
        return np.maximum(2.0 * (t - 0.05), 0.0)


def mixed_bag(contacts=True):
    """A driven and a free pendulum with springs, and two balls that bounce, slide and come to rest."""
    model = fem.Model("mixed bag", gravity=[0, 0, -G])
    rod = model.add(fem.RigidBody(2.0, [0.01, 0.02, 0.03], position=[0.5, 0, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="hinge"))
    end = model.add(
        fem.RigidBody(
            1.0, [0.01, 0.02, 0.03], position=[1.5, 0, 0], angular_velocity=[0, 0, 1], velocity=[0, 0.5, 0], name="end"
        )
    )
    model.add(fem.Spherical.at(rod, end, [1, 0, 0], name="ball joint"))
    model.add(
        fem.Spring(model.ground.frame([1, 1, 1]), end, stiffness=50.0, damping=0.4, free_length=1.0, name="spring")
    )
    if contacts:
        for k in range(2):
            place, speed = [3 + k, 0, 0.12 + 0.05 * k], [0.4, 0.1 * k, 0]
            ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=place, velocity=speed, name=f"ball {k}"))
            model.add(
                fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, friction=0.3, name=f"floor {k}")
            )
    return model


def pour(sprung=False):
    """Particles on a floor; with a spring at one of them the group is solved by the pairwise solver."""
    model, group = (
        fem.Model("pour", gravity=[0, 0, -G]),
        fem.ContactGroup(friction=0.3, restitution=0.2 if sprung else 0.0, name="grains"),
    )
    for k in range(8):
        place = [0.045 * (k % 2), 0.01 * (k // 2), 0.021 + 0.045 * (k // 2)]
        grain = model.add(fem.RigidBody.sphere(0.05, 0.02, position=place, name=f"particle {k}"))
        group.sphere(grain, 0.02)
    group.obstacle(fem.SphereOnPlane, model.ground.frame())
    model.add(group)
    if sprung:
        model.add(fem.Spring(model.ground.frame([0, 0, 0.5]), grain, stiffness=1.0, free_length=0.2))
    return model


def plate():
    """A ball that falls on a sprung plate in a guide: particles push a mechanism."""
    model = fem.Model("plate", gravity=[0, 0, -G])
    body = model.add(fem.RigidBody(2.0, 0.1, name="plate"))
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="guide"))
    model.add(fem.Spring(model.ground.frame([0, 0, -1]), body, stiffness=2000.0, damping=5.0, free_length=1.01))
    group = fem.ContactGroup(friction=0.3, name="contact")
    group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0.1, 0, 0.1], name="ball")), 0.05)
    group.obstacle(fem.SphereOnBox, body.frame([0, 0, -0.05]), size=[1, 1, 0.1])
    model.add(group)
    return model


def swing():
    """A rod whose end would pass a small ball within a step, which is therefore subdivided; and a kinked driver."""
    model = fem.Model("swing", gravity=[0, 0, -G])
    motion = {"velocity": [0, 0, -40.0], "angular_velocity": [0, 80.0, 0]}
    rod = model.add(fem.RigidBody(2.0, [0.01, 0.02, 0.03], position=[0.5, 0, 0], name="rod", **motion))
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0], name="hinge"))
    stop = model.ground.frame([0.5 * np.cos(0.5), 0, -0.5 * np.sin(0.5)])
    model.add(fem.SphereOnSphere(rod, stop, radius_A=0.02, radius_B=0.02, restitution=0.5, name="stop"))
    arm = model.add(fem.RigidBody(1.0, [0.01, 0.02, 0.03], position=[5, 0, 0], name="arm"))
    model.add(fem.Revolute.at(model.ground, arm, [5, 0, 0], [0, 0, 1], name="shaft"))
    model.add(fem.RevoluteDriver.at(model.ground, arm, [5, 0, 0], [0, 0, 1], angle=Kinked(), name="motor"))
    return model


def whip():
    """A beam that falls about a hinge on a stop: flexible, with a contact, so that factors are kept over steps."""
    model = fem.Model("whip", gravity=[0, 0, -G])
    root, tip = fem.Node6(), fem.Node6([1, 0, 0], name="tip")
    section = fem.Section.rectangle(0.02, 0.02, E=2e9, density=7800)
    model.add(fem.beam_line(root, tip, 8, section, name="beam"))
    model.add(fem.Revolute.at(model.ground, root, [0, 0, 0], [0, 1, 0], name="hinge"))
    model.add(fem.SphereOnPlane(tip, model.ground.frame([0, 0, -0.1]), radius=0.02, restitution=0.3, name="stop"))
    return model


def told_by(moment):
    """An action of a module, which a pickle finds by its name."""


def watched(model, node, levels, quantity="position"):
    """The model with events of a node that do nothing but make steps end there."""
    place = fem.Sensor(node, quantity, component="z", name="place")
    model.add(*(fem.Event(place, told_by, level=z, once=False, name=f"at {z}") for z in levels))
    return model


def watched_whip():
    """The whip with many events: their steps are taken again while the factors are those of other steps."""
    model = whip()
    tip = next(node for node in model.nodes if node.name == "tip")
    return watched(model, tip, [-0.01, -0.022, -0.034, -0.046, -0.058])


def watched_bag():
    """The mixed bag with events before, in and after impacts that are split."""
    model = mixed_bag()
    return watched(model, model["ball 1"], [0.16, 0.13, 0.1002])


def watched_swing():
    """The swing with events in the step that would be subdivided."""
    model = swing()
    return watched(model, model["rod"], [-20.0, 0.0, 10.0], "velocity")


NSGA = fem.DecoupledNSGA


def count(name):
    """Whether a run has counted something of that name: what a case is about happens."""
    return lambda result: result.statistics.get(name, 0) > 0


def crossed(number):
    """Whether events have come."""
    return lambda result: len(result.events) >= number


def struck(result):
    """Whether contacts closed."""
    return any(result[name].status.any() for name in result.contacts)


def stack(sides=(1 / 16, 1 / 32, 1 / 16)):
    """A box that falls turned on another, which is held: kernels of hulls leave answers for each other in arrays."""
    model = fem.Model("stack", gravity=[0, 0, -G])
    low = model.add(fem.RigidBody(1.0, 0.01, name="low"))
    high = model.add(fem.RigidBody(1.0, 0.01, position=[0, 0, 0.13], rotation=[0.2, 0.1, 0], name="high"))
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners, others = signs * [0.05, 0.05, 0.05], signs * sides
    model.add(fem.Fixed(model.ground.frame(), low, name="held"))
    model.add(fem.HullOnHull(high, low, points_A=corners, points_B=others, rounding=1 / 512, friction=0.3, name="pair"))
    return model


CASES = {
    "hulls": (lambda: NSGA(), stack, 0.15, 1e-3, 30, struck),
    "swept particles": (lambda: NSGA(), pour, 0.15, 1e-3, 20, count("contact_sweeps")),
    "particles, pairwise": (lambda: NSGA(), lambda: pour(sprung=True), 0.3, 1e-3, 40, count("contact_problems")),
    "particles on a mechanism": (lambda: NSGA(), plate, 0.2, 1e-3, 35, count("contact_sweeps")),
    "particles with cones": (lambda: fem.ConeComplementarity(), pour, 0.15, 1e-3, 20, count("contact_sweeps")),
    "step control": (lambda: NSGA(step_control=fem.StepControl(tolerance=1e-6)), mixed_bag, 0.3, 2e-3, 20,
                     lambda result: np.unique(result.h).size > 5),
    "subdivided steps": (lambda: fem.MoreauJean(), swing, 0.2, 3e-3, 2, count("divided_steps")),
    "split impacts": (lambda: NSGA(impacts="split"), mixed_bag, 0.3, 2e-3, 20, count("split_impacts")),
    "split impacts with step control": (
        lambda: NSGA(impacts="split", step_control=fem.StepControl(tolerance=1e-6)), mixed_bag, 0.6, 2e-3, 40,
        count("split_impacts"),
    ),
    "kept factors": (lambda: NSGA(rho_inf=0.0), whip, 0.2, 1e-3, 40, struck),
    "mixed beams": (lambda: NSGA(rho_inf=0.0, mixed=True), whip, 0.4, 1e-3, 60, struck),
    "persistent contacts": (lambda: NSGA(persistent_contacts=True), mixed_bag, 0.3, 2e-3, 20, struck),
    "events and kept factors": (lambda: NSGA(rho_inf=0.0), watched_whip, 0.2, 1e-3, 7, crossed(5)),
    "events and split impacts": (lambda: NSGA(impacts="split"), watched_bag, 0.3, 2e-3, 7, crossed(3)),
    "events and subdivided steps": (lambda: fem.MoreauJean(), watched_swing, 0.2, 3e-3, 2, crossed(5)),
    "roller on a flexible crank": (lambda: NSGA(rho_inf=0.0), lambda: roller_crank.build(True), 0.15, 1e-3, 30, struck),
}  # fmt: skip


LONG = {
    "particles, pairwise",
    "subdivided steps",
    "split impacts with step control",
    "mixed beams",
    "events and kept factors",
    "events and split impacts",
}


@pytest.mark.parametrize("case", [pytest.param(c, marks=[pytest.mark.slow] if c in LONG else []) for c in CASES])
def test_a_run_that_died_twice_is_that_of_one_run_to_the_last_bit(case, monkeypatch, tmp_path):
    method, build, t_end, h, every, happens = CASES[case]
    whole = method().run(build(), t_end, h)
    assert happens(whole)
    path = tmp_path / "run.vtkhdf"
    resumed = stopped_and_resumed(monkeypatch, method(), build(), t_end, h, path, every=every, kills=(1, 3))
    assert differences(whole, resumed) == []


@pytest.mark.parametrize(
    "method",
    [pytest.param(one, marks=[] if label(one) in STEPPERS else [pytest.mark.slow]) for one in METHODS],
    ids=label,
)
def test_every_method_continues_to_the_last_bit(method, monkeypatch, tmp_path):
    contacts = type(method).__name__ not in SMOOTH
    whole = method.run(mixed_bag(contacts), 0.2, 2e-3)
    assert not contacts or all(whole[f"floor {k}"].status.any() for k in range(2))
    path = tmp_path / "run.vtkhdf"
    resumed = stopped_and_resumed(monkeypatch, method, mixed_bag(contacts), 0.2, 2e-3, path, every=20, kills=(3,))
    assert differences(whole, resumed) == []


def steered(stiffness=8.0, table=2.0, period=5e-3, level=-0.02, delay=0.0, held=2.0, switch=0.0):
    """A door with springs, a sampled controller and an event; its functions are lambdas, which no pickle takes."""
    model = fem.Model("door", gravity=[0, -G, 0])
    door = model.add(fem.RigidBody(1.0, [0.02, 0.03, 0.04], position=[0.5, 0, 0], name="door"))
    hinge = fem.Revolute.at(model.ground, door, [0, 0, 0], [0, 0, 1], name="hinge", stiffness=stiffness)
    line = fem.NonlinearSpring(
        model.ground.frame([0.5, 1, 0]), door, fem.ForceCurve([[-1, -1], [0, 0], [1, table]]), name="line"
    )
    angle = fem.Sensor(hinge, "angle", name="angle")
    law = fem.Controller(lambda t, y: 40 * t - 5 * y[0], period, [angle], name="law", delay=delay)
    brake = fem.Held(switch, name="brake")
    model.add(hinge, line, law, fem.Event(angle, fem.SetTo(brake, held), level=level, name="event"))
    model.add(fem.PointMoment(door, [0, 0, 1], signal=law.output()), fem.PointMoment(door, [0, 0, 1], signal=brake))
    return model


@pytest.mark.parametrize("h, delay", [(5e-3, 0.0), (2e-3, 0.0), (1e-2, 0.0), (5e-3, 7e-3)])
def test_controlled_runs_are_resumed_with_a_model_made_anew_to_their_end(h, delay, tmp_path):
    # samples every 5 ms, and delays: steps of another size than h, and held signals that are not at their start
    method, path = fem.DecoupledNSGA(), tmp_path / "door.vtkhdf"
    whole = method.run(steered(delay=delay), 0.3, h)
    first = method.run(steered(delay=delay), 0.1, h, save=path, checkpoint_every="10 steps")
    assert len(first.events) == 1  # the held signal of the event has its second value
    result = fem.resume(path, t_end=0.3, model=steered(delay=delay))
    assert result.t[-1] == whole.t[-1] == 0.3
    assert not differences(result, whole)
    assert result.samples["law"].outputs.tobytes() == whole.samples["law"].outputs.tobytes()


@pytest.mark.parametrize(
    "change, named",
    [
        ({"stiffness": 9.0}, "JointSpring"),  # behind an address: in a table
        ({"table": 3.0}, "NonlinearSpring"),
        ({"period": 1e-2}, "Controller 'law'"),
        ({"level": -0.03}, "Event 'event'"),
        ({"held": 3.0}, "Event 'event'"),
        ({"switch": 0.1}, "function of time"),
    ],
)
def test_a_model_with_other_tables_controllers_or_events_is_rejected(change, named, tmp_path):
    path = tmp_path / "door.vtkhdf"
    fem.DecoupledNSGA().run(steered(), 0.05, 5e-3, save=path, checkpoint_every="10 steps")
    with pytest.raises(fem.ModelError, match=f"{named}.* differs"):
        fem.resume(path, t_end=0.1, model=steered(**change))


def test_the_state_of_contacts_has_all_their_data_and_another_layout_is_rejected():
    group = next(group for group in mixed_bag().compile().groups if group.is_contact)
    state = group.get_state()
    assert set(CONTACTS.names(array=True)) <= set(state)
    group.contact_data["gap"][:], group.contact_data["V_T_start"][:] = 7.0, 8.0
    group.set_state(state)
    assert not group.contact_data["V_T_start"].any() and np.array_equal(group.contact_data["gap"], state["gap"])
    rows = {name: array for name, array in state.items() if name not in group.contact_data}
    with pytest.raises(ValueError, match=r"SphereOnPlane.*'G_N'.*in one of the two"):
        group.set_state(rows | {"kept": np.zeros((group.n, 185))})
    with pytest.raises(ValueError, match=r"'gap'.*SphereOnPlane.*\(2,\), not float64 \(3,\)"):
        group.set_state(state | {"gap": np.zeros(3)})


def test_other_hulls_of_the_same_size_are_rejected(tmp_path):
    path = tmp_path / "stack.vtkhdf"
    fem.DecoupledNSGA().run(stack(), 0.05, 1e-3, save=path, checkpoint_every="10 steps")
    assert fem.resume(path, t_end=0.06, model=stack()).t[-1] == 0.06
    with pytest.raises(fem.ModelError, match=r"HullFeature.* differs"):
        fem.resume(path, t_end=0.1, model=stack(sides=(1 / 32, 1 / 16, 1 / 16)))


# --- functions in Python ----------------------------------------------------------------------------------------------


def set_from_outside(moment):
    moment.set(OUTSIDE[-1], 4.0)


OUTSIDE: list = []


def gust(where, hidden=False):
    """A ball in wind that an action alone sets, and a law in Python alone reads."""
    wind = fem.Held(0.5, name="wind")
    model = fem.Model("gust", gravity=[0, 0, -G])
    ball = model.add(fem.PointMass(1.0, position=[0, 0, 1], name="ball"))
    OUTSIDE[:] = [wind]
    actions = {"closure": lambda moment: moment.set(wind, 4.0), "global": set_from_outside}
    moment_of = {"hidden": lambda moment: moment.set(fem.Held(1.0), 4.0)}
    height = fem.Sensor(ball, "position", component="z", name="height")
    model.add(fem.UserForce(ball, lambda x, R, v, t: np.array([wind(t) - v[0, 0], 0, 0, 0, 0, 0]), name="air"))
    model.add(fem.Event(height, (actions | moment_of)[where], level=0.9, name="gust"))
    return model


@pytest.mark.parametrize("where", ["closure", "global"])
def test_a_held_signal_that_only_an_action_sets_is_resumed(where, monkeypatch, tmp_path):
    method, path = fem.DecoupledNSGA(), tmp_path / "gust.vtkhdf"
    whole = method.run(gust(where), 0.3, 5e-3)
    with monkeypatch.context() as patch:
        stop_after(patch, 40)
        with pytest.raises(Killed):
            method.run(gust(where), 0.3, 5e-3, save=path, checkpoint_every="10 steps")
    resumed = fem.resume(path, model=gust(where))
    assert len(resumed.events) == 1 and whole["ball"].velocity[-1, 0] > 0.4  # without the gust 0.13
    assert not differences(resumed, whole)


def test_a_held_signal_that_no_function_of_the_model_holds_is_reported(tmp_path):
    path = tmp_path / "gust.vtkhdf"
    fem.DecoupledNSGA().run(gust("hidden"), 0.2, 5e-3, save=path, checkpoint_every="10 steps")
    with pytest.raises(fem.ModelError, match="held signal"):
        fem.resume(path, t_end=0.3, model=gust("hidden"))


SPRING = 3.0


class Hardening:
    """A law with a parameter of its own."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return SPRING * x + self.factor * x**3


class Weaker(Hardening):
    def __call__(self, x):
        return SPRING * x + 2.0 * x


HARDENING = Hardening(1.0)


def swung(drag=0.1, gain=5.0, table=(0.0, 1.0), late=0.9, power=2, remembers=False, action=told_by, curve=HARDENING):
    """A door with a function wherever one can be given."""
    seen, xs = [0], np.array(table)

    def control(t, y, memory):
        return -gain * np.interp(t, [0.0, 1.0], xs) - y[0], memory

    def remembering(t, y, memory):
        seen[0] += 1
        return -float(seen[0]), memory

    model = fem.Model("door", gravity=[0, -G, 0])
    door = model.add(fem.RigidBody(1.0, [0.02, 0.03, 0.04], position=[0.5, 0, 0], name="door"))
    hinge = fem.Revolute.at(model.ground, door, [0, 0, 0], [0, 0, 1], name="hinge", stiffness=curve)
    angle = fem.Sensor(hinge, "angle", name="angle")
    square = fem.Sensor(lambda a: a**power, inputs=[angle], name="square")
    pd = fem.Controller(remembering if remembers else control, 0.02, [angle], state=0, name="pd")
    model.add(hinge, pd, fem.Event(square, action, level=9.0, name="far"))
    model.add(fem.UserForce(door, lambda x, R, v, t: -drag * v[0], name="drag"))
    model.add(fem.PointMoment(door, [0, 0, 1], signal=pd.output(), name="motor"))
    model.add(fem.PointForce(door, [1, 0, 0], signal=lambda t: np.where(t < late, 0.0, 1.0), name="later"))
    return model


@pytest.mark.parametrize(
    "change, named",
    [
        ({"drag": 0.2}, "'drag'"),
        ({"gain": 5.5}, "Controller 'pd'"),
        ({"table": (0.0, 1.5)}, "Controller 'pd'"),  # an array that it holds
        ({"power": 3}, "Sensor 'square'"),
        ({"late": 0.8}, "time of PointForce 'later'"),  # the same at both times that are compared
        ({"action": lambda moment: moment.stop("far")}, "Event 'far'"),
        ({"curve": Hardening(1.5)}, "function of JointSpring"),
        ({"curve": Weaker(1.0)}, "function of JointSpring"),
    ],
)
def test_a_model_with_another_function_in_python_is_rejected(change, named, half_swung):
    with pytest.raises(fem.ModelError, match=f"{named}.* differs"):
        fem.resume(half_swung, t_end=0.2, model=swung(**change))


@pytest.fixture(scope="module")
def half_swung(tmp_path_factory):
    path = tmp_path_factory.mktemp("swung") / "door.vtkhdf"
    fem.DecoupledNSGA().run(swung(), 0.1, 5e-3, save=path, checkpoint_every="10 steps")
    return path


def test_the_same_functions_made_anew_are_accepted_and_another_global_is_not(half_swung, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(f"{__name__}.SPRING", 3.5)
        with pytest.raises(fem.ModelError, match=r"'door'.*JointSpring.* differs"):
            fem.resume(half_swung, t_end=0.2, model=swung())
    result = fem.resume(half_swung, t_end=0.2, model=swung())
    assert not result.warnings
    assert not differences(result, fem.DecoupledNSGA().run(swung(), 0.2, 5e-3))


def test_a_function_that_remembers_in_python_is_reported(tmp_path):
    path = tmp_path / "door.vtkhdf"
    fem.DecoupledNSGA().run(swung(remembers=True), 0.1, 5e-3, save=path, checkpoint_every="10 steps")
    told = [w for w in fem.resume(path, t_end=0.2, model=swung(remembers=True)).warnings if "'pd'" in w]
    assert len(told) == 1 and "not in the checkpoint" in told[0]


def test_a_function_with_what_python_cannot_compare_is_reported(tmp_path):
    def numbered():
        numbers, model = (k for k in range(3)), gust("closure")
        model.add(fem.UserForce(model["ball"], lambda x, R, v, t: 0 * v[0] if numbers else v[0], name="odd"))
        return model

    path = tmp_path / "odd.vtkhdf"
    fem.DecoupledNSGA().run(numbered(), 0.05, 5e-3, save=path, checkpoint_every="10 steps")
    told = fem.resume(path, t_end=0.1, model=numbered()).warnings
    assert any(re.search("'odd'.*generator.*compared", text) for text in told)
