"""Drivers that jump are reported by name, however often states are saved and whatever else the jump does."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.solvers.stepping.monitors.jumps import jumps_between

JUMP = r"RevoluteDriver 'motor' jumps: its function of time goes from 0 to 0\.002 between t = 0\.05\d* s and 0\.05\d* s"


def crank(angle):
    """A driven link that carries another."""
    model, before = fem.Model("crank", gravity=[0, -9.81, 0]), None
    for k in range(2):
        link = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], position=[k + 0.5, 0, 0], name=f"link {k}"))
        joint = model.add(fem.Revolute.at(before or model.ground, link, [k, 0, 0], [0, 0, 1], name=f"joint {k}"))
        if k == 0:
            model.add(fem.RevoluteDriver(joint.frame_P, joint.frame_Q, angle, name="motor"))
        before = link
    return model.compile(project=True)


def step(t):
    return 0.0 if t < 0.0505 else 0.002


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("method", [fem.DecoupledNSGA, fem.MoreauJean])
def test_a_driver_that_jumps_is_reported_however_often_states_are_saved(method, every):
    result = method().run(crank(step), 0.1, 1e-3, save_every=every)
    told = result.warnings
    assert [text.startswith("RevoluteDriver 'motor' jumps") for text in told].count(True) == 1
    assert "h is too large" not in " ".join(told)


def test_energy_that_rises_where_a_driver_jumps_is_not_put_down_to_the_step():
    result = fem.DecoupledNSGA().run(crank(step), 0.1, 1e-3)
    assert result.statistics["energy_rises"] == 1
    assert any("energy increased once" in text and text.endswith(": a driver jumps there") for text in result.warnings)


def test_a_step_that_fails_where_a_driver_jumps_names_it():
    with pytest.raises(fem.SolverError, match=r"'link 0' jumped: .*" + JUMP):
        fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-5)).run(crank(step), 0.3, 1e-3)


def test_a_rise_of_energy_elsewhere_is_still_that_of_the_step():
    """The jump is over when the ball hits."""
    model = fem.Model("deep", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.6], velocity=[0, 0, -40.0], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=1.0, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=1e9, name="floor"))
    mass = model.add(fem.PointMass(1.0, name="mass", fixed=("x", "y")))
    model.add(fem.Prescribed(mass, z=lambda t: 0.0 if t < 2.5e-3 else 1e-6, name="drive"))
    told = fem.DecoupledNSGA().run(model, 0.03, 1e-3).warnings
    assert ["'drive' jumps" in text for text in told].count(True) == 1
    assert any("energy increased" in text and "h is too large" in text for text in told)


@pytest.mark.parametrize(
    "course",
    [
        lambda t: 40.0 * t,
        lambda t: np.remainder(40.0 * t + np.pi, 2 * np.pi) - np.pi,
        lambda t: 5.0 * np.maximum(t - 0.0503, 0.0),
        lambda t: 0.3 * np.arcsin(np.sin(60.0 * t)),
        lambda t: 0.01 * np.sin(900.0 * t),
        lambda t: 0.5 * t**2,
    ],
    ids=["steady", "wrapped angle", "kink", "zigzag", "fast", "from rest"],
)
def test_motion_without_jumps_is_not_reported(course):
    engine = fem.DecoupledNSGA().prepare(crank(course), 1e-3)
    from fem_mbs.solvers.stepping.march.chunks import signals_at

    times = 1e-3 * np.arange(1, 301)
    for block in (times[:100], times[100:101], times[101:]):
        engine.jumps.look(block, signals_at(engine.system, block, 1e-3)[0], 1e-3)
    assert engine.jumps.times == [] and engine.jumps.warnings() == []


def test_loads_may_jump():
    model = fem.Model("pushed")
    body = model.add(fem.RigidBody(1.0, 0.1, name="body"))
    model.add(fem.PointForce(body, [1.0, 0, 0], signal=lambda t: 0.0 if t < 0.0105 else 1.0))
    assert fem.DecoupledNSGA().run(model, 0.02, 1e-3).warnings == []


def test_a_change_is_a_jump_from_ten_times_what_rates_explain():
    def of(change, rate, second=0.0, h=0.1, start=0.0):
        values = np.array([[[start, rate, 0.0]], [[start + change, 0.5 * rate, second]]])
        return bool(jumps_between(values, h, np.zeros(1), np.abs(values[:, :, 0]).max(axis=0))[0, 0])

    assert not of(0.99, 1.0) and of(1.01, 1.0)
    assert not of(0.99, 0.0, 10.0) and of(1.01, 0.0, 10.0)
    assert not of(1e-10, 0.0, start=1.0)  # round-off of a table
    assert of(1e-10, 0.0)  # in any units


def test_round_off_is_that_of_the_largest_value_so_far():
    """A signal that came down from 1000 is a table of such numbers: 1e-8 are none of its jumps, 1e-5 are one."""
    for change, jumps in ((1e-8, 0), (1e-5, 1)):
        watch = fem.DecoupledNSGA().prepare(crank(lambda t: 0.0), 1e-3).jumps
        for block in ([[1000.0, 1e7, 0.0], [0.0, 1e7, 0.0]], [[0.0, 0.0, 0.0], [change, 0.0, 0.0]]):
            table = np.array(block)[:, None, None]
            watch.look(1e-3 * np.arange(1, 3), table, 1e-3)
        assert len(watch.times) == jumps, change
