"""Stops that are out of reach are not evaluated: steps are the same to the last bit, and their bound is one."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.elements.joints.coordinates.coordinates import JointCoordinate
from fem_mbs.elements.joints.coordinates.kernels import coordinate_value
from fem_mbs.elements.joints.coordinates.stops import JointStop
from fem_mbs.rotations import exp

SHOWN = ("position", "quaternion", "velocity", "gap", "impulse", "multiplier", "contact_status", "contact_point")


def arm(stops):
    """Three links with stops at all hinges: they swing into these, one after the other."""
    model, last = fem.Model("arm", gravity=[0, 0, -9.81]), None
    for i in range(3):
        body = fem.RigidBody.box(0.3, [0.2, 0.02, 0.02], position=[0.2 * i + 0.1, 0, 0], name=f"link {i}")
        model.add(body)
        first = model.ground if last is None else last
        model.add(fem.Revolute.at(first, body, [0.2 * i, 0, 0], [0, 1, 0], name=f"hinge {i}", stops=stops))
        last = body
    return model


def sleeve(stops):
    """A sleeve that slides and turns ten times into stops of both coordinates, on a rail that turns with its body."""
    model = fem.Model("sleeve", gravity=[3.0, 0, -9.81])
    rail = model.add(fem.RigidBody(5.0, 0.5, angular_velocity=[0, 0, 1.0], name="rail"))
    model.add(fem.Revolute.at(model.ground, rail, [0, 0, 0], [0, 0, 1]))
    motion = {"velocity": [2.0, 0.4, 0], "angular_velocity": [90.0, 0, 1.0]}
    ring = model.add(fem.RigidBody.box(0.3, [0.2, 0.1, 0.1], position=[0.4, 0, 0], name="ring", **motion))
    model.add(fem.Cylindrical.at(rail, ring, [0.1, 0, 0], [1, 0, 0], name="guide", stops=stops))
    return model


LIMITS = fem.Stops(-0.7, 0.4, restitution=0.5)
TWO = {"displacement": fem.Stops(-0.3, 0.5, restitution=0.7), "angle": fem.Stops(-30.0, 62.0, restitution=0.9)}
CONTROL = fem.StepControl(tolerance=1e-4)
CASES = {
    "plain": (arm, LIMITS, {"impacts": "plain"}), "split": (arm, LIMITS, {"impacts": "split"}),
    "isolated": (arm, LIMITS, {}), "sleeve": (sleeve, TWO, {}),
    "control": (arm, LIMITS, {"step_control": CONTROL}), "problem": (arm, LIMITS, {"contact_solver": "problem"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_steps_are_the_same_to_the_last_bit(case, monkeypatch):
    build, stops, options = CASES[case]
    method = fem.DecoupledNSGA(persistent_contacts=False, **options)  # else the smooth motion needs all contacts
    found = method.run(build(stops), 1.0, 2e-3)
    scalars = fem.DecoupledNSGA.scalars
    monkeypatch.setattr(fem.DecoupledNSGA, "scalars", lambda *given: scalars(*given) | {"far": 0})
    expected = method.run(build(stops), 1.0, 2e-3)
    assert scalars(method, build(stops).compile(), 1e-3)["far"] == 1
    assert expected._store.read("impact").any(axis=0).sum() >= 2  # stops that are hit
    for name in SHOWN:
        assert np.array_equal(found._store.read(name), expected._store.read(name)), name


def pose(joint, angles, way, common, shift):
    """Places and rotations of both nodes: the second turned by ``angles`` about the pins and slid, both moved."""
    (first, second), P, Q = joint.nodes, joint.frame_P, joint.frame_Q
    axis = P.orientation[:, 2]
    pin = Q.orientation[:, 0] if isinstance(joint, fem.Universal) else axis
    turn = exp(axis * angles[0]) @ exp(pin * angles[1])
    x_B = P.position + turn @ (second.position - P.position) + way * axis
    places = [shift + common @ x for x in (first.position, x_B)]
    return places, [common @ first.rotation, common @ turn @ second.rotation]


@pytest.mark.parametrize("coordinate", ["angle", "displacement", "first_angle", "second_angle"])
def test_gaps_change_by_no_more_than_their_slopes_say(coordinate):
    """Both bodies move and turn by anything that their joint allows, up to 0.25 rad each."""
    rng, steepest = np.random.default_rng(11), 0.0
    for _ in range(300):
        first, second = (fem.Node6(rng.normal(size=3), rotation=rng.normal(size=3)) for _ in range(2))
        kind = fem.Universal if "_" in coordinate else fem.Cylindrical
        axis = rng.normal(size=3)
        joint = kind.at(first, second, rng.normal(size=3), axis=axis / np.linalg.norm(axis))
        stop = JointStop(joint, limit=-100.0, side="lower", coordinate=coordinate)
        angles, way = rng.uniform(-3, 3, size=2), rng.normal() * (kind is fem.Cylindrical)
        x, R = pose(joint, angles, way, np.eye(3), np.zeros(3))
        angles, way = angles + rng.uniform(-0.1, 0.1, size=2), way + 0.1 * rng.normal() * (kind is fem.Cylindrical)
        y, S = pose(joint, angles, way, exp(rng.uniform(-0.05, 0.05, size=3)), 0.1 * rng.normal(size=3))
        record = JointCoordinate(joint, next(c for c in joint.coordinates if c.name == coordinate)).record
        before = coordinate_value(*record, 0.0, x[0], R[0], x[1], R[1])
        change = abs(coordinate_value(*record, before, y[0], S[0], y[1], S[1]) - before)
        ways = sum(np.linalg.norm(y[i] - x[i]) for i in range(2))
        turns = sum(0.7146 * np.linalg.norm(S[i] - R[i]) for i in range(2))
        a, b = stop.gap_slopes
        bound = a * (ways + turns * np.linalg.norm(x[1] - x[0])) + b * turns
        assert change <= bound
        steepest = max(steepest, change / bound)
    assert steepest > 0.2  # it is not far too wide; .26 of a slide, whose bodies turn as well


def test_a_stop_that_comes_near_by_turning_alone_is_met():
    """A table of 10 kg m² turns under a puck 10 m off its centre: x = 10 cos θ m meets its stop at 0.2 rad."""
    model = fem.Model("table")
    table = model.add(fem.RigidBody(1.0, 10.0, angular_velocity=[0, 0, 1.0], name="table"))
    puck = model.add(fem.RigidBody(1e-3, 1e-6, position=[10.0, 0, 0], name="puck"))
    stops = {"x": fem.Stops(10.0 * np.cos(0.2), 11.0, restitution=1.0)}
    model.add(fem.Revolute.at(model.ground, table, [0, 0, 0], [0, 0, 1]))
    slot = fem.Planar(table.frame(), puck.frame(), stops=stops, name="slot")
    model.add(slot)
    result = fem.DecoupledNSGA().run(model, 0.5, 1e-3)
    assert result["slot"].x.min() > stops["x"].lower - 1e-9 and slot.companions[0].gap_slopes[1] == 0.0
    struck = result.t[np.argmax(result["slot x lower stop"].impulse[:, 0] > 0)]
    assert struck == pytest.approx(0.2, abs=2e-3)


def test_nothing_is_known_of_the_stops_of_another_run():
    """A turn later the pose is that of the start, and the lower stop is 6.5 rad away; at the start 0.2 rad."""
    model = fem.Model("wheel")
    wheel = model.add(fem.RigidBody(1.0, 0.1, angular_velocity=[0, 0, 2 * np.pi], name="wheel"))
    model.add(fem.Revolute.at(model.ground, wheel, [0, 0, 0], [0, 0, 1], name="hinge", stops=fem.Stops(-0.2, 7.0)))
    system = model.compile()
    method = fem.DecoupledNSGA()
    assert method.run(system, 1.0, 1e-3)["hinge"].angle[-1] == pytest.approx(2 * np.pi)
    system.initial.V[wheel.node.index, 5] = -0.5
    again = method.run(system, 1.0, 1e-3)
    assert again["hinge"].angle.min() == pytest.approx(-0.2, abs=1e-9)
