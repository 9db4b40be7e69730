"""A run with all that a run can change, killed and resumed: the same bits."""

import numpy as np
import pytest
from resumed import differences, stopped_and_resumed

import fem_mbs as fem

H = 2.5e-3


def decide(t, y, state):
    """Sampled law with a state, and a grip that opens and closes with its own count."""
    count, total = state
    return [-2.0 * y[0] - 0.3 * total, 1.0 if 3 <= count % 12 < 8 else 0.0], (count + 1, total + 0.02 * y[0])


def works(friction=True):
    """An arm with spring, stops and friction, wheels that turn many times; a brake, an event, a gripper."""
    model = fem.Model("works", gravity=[0, -9.81, 0])
    arm = model.add(fem.RigidBody(2.0, [0.3, 0.3, 0.3], position=[0.5, 0, 0], name="arm"))
    rub = {"friction": fem.DryFriction((0.25, 0.2), radius=0.02, preload=0.1)} if friction else {}
    stops = fem.Stops(-1.2, 1.4, restitution=0.4)
    options = {"stiffness": 3.0, "damping": 0.05, "stops": stops, **rub}
    hinge = fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 0, 1], name="hinge", **options)
    model.add(hinge)
    end = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], position=[1.3, 0, 0], name="end"))
    elbow = model.add(fem.Revolute.at(arm, end, [1.0, 0, 0], [0, 0, 1], name="elbow"))
    model.add(fem.Lock(elbow, intervals=[(0.1012, 0.2304), (0.4, 0.5)], name="brake"))
    wheels, axles = [], []
    for k, speed in enumerate((30.0, -60.0)):
        place = [0.3 * k, 2, 0]
        wheels.append(fem.RigidBody(1, [0.02] * 3, position=place, angular_velocity=[0, 0, speed], name=f"wheel {k}"))
        axles.append(fem.Revolute.at(model.ground, wheels[k], place, [0, 0, 1], name=f"axle {k}"))
        model.add(wheels[k], axles[k])
    model.add(fem.GearPair(axles[0], axles[1], radii=(0.2, 0.1), name="gears"))
    load = model.add(fem.PointMass(0.5, position=[1.5, 0.2, 0], name="load"))
    grip = model.add(fem.Attachment(end, load, active=False, name="grip"))
    angle, rate = fem.Sensor(hinge, "angle"), fem.Sensor(wheels[0], "angle", axis=[0, 0, 1])
    law = fem.Controller(
        decide, 0.02, [angle], ["torque", "grip"], delay=0.003, state=(0, 0.0), switches={"grip": grip}, name="law"
    )
    model.add(law, fem.PointMoment(wheels[0], [0, 0, 1], signal=law.output("torque"), name="torque"))
    wind = fem.Held(0.0, name="wind")
    model.add(fem.PointForce(arm, [1.0, 0, 0], signal=wind, name="push"))
    model.add(fem.Event(rate, [fem.SetTo(wind, 2.0), fem.SwitchOff(model["gears"])], level=9.0, name="fast"))
    return model


@pytest.mark.parametrize(
    "method",
    [fem.DecoupledNSGA(), fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-4)), fem.MoreauJean()],
    ids=["friction", "controlled", "MoreauJean"],
)
def test_a_run_with_control_locks_friction_stops_and_gears_is_resumed_to_the_last_bit(method, monkeypatch, tmp_path):
    model = works(friction=method.step_control is None)
    whole = method.run(model, 0.7, H, save=tmp_path / "whole.vtkhdf", progress=False)
    parts = stopped_and_resumed(
        monkeypatch, method, model, 0.7, H, tmp_path / "parts.vtkhdf", every=7, kills=(12, 13, 31)
    )
    assert differences(whole, parts) == []
    assert [tuple(e) for e in whole.events] == [tuple(e) for e in parts.events]
    names = set(whole.events.name)
    assert {"brake", "grip", "fast"} <= names and whole.statistics["switches"] >= 7
    assert whole.samples["law"].outputs.tobytes() == parts.samples["law"].outputs.tobytes()


@pytest.mark.slow  # 20 runs each
@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean()], ids=["DecoupledNSGA", "MoreauJean"])
def test_twenty_of_twenty_runs_with_all_of_this_that_died_at_random_end_with_the_same_bits(
    method, monkeypatch, tmp_path
):
    rng = np.random.default_rng(7)
    whole = method.run(works(True), 0.7, H, progress=False)
    for number in range(20):
        every = int(rng.integers(1, 9))
        kill = int(rng.integers(1, 270 // every))
        path = tmp_path / f"{number}.vtkhdf"
        parts = stopped_and_resumed(monkeypatch, method, works(True), 0.7, H, path, every=every, kills=(kill,))
        assert differences(whole, parts) == [], f"checkpoint at step {every * kill}"
        assert not [text for text in parts.warnings if "last bit" in text]
