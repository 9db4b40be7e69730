"""Penetrations that are reported: deeper than a tenth of a clearance or of the size of the bodies."""

import re

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import SolverError


def pin_in_a_bush(clearance=5e-5):
    """A rod that hangs in a journal with clearance and swings; its pin crosses the clearance in one step of 2 ms."""
    model = fem.Model("worn pendulum", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody.box(1.0, [0.3, 0.02, 0.02], position=[0.15, 0, 0], name="rod"))
    first, second = rod.frame([-0.15, 0, 0], [0.5 * np.pi, 0, 0]), model.ground.frame([0, 0, 0], [0.5 * np.pi, 0, 0])
    joint = {"radius": 0.01, "clearance": clearance, "length": 0.02, "name": "pin"}
    model.add(fem.JournalClearance(first, second, **joint))
    return model


@pytest.mark.parametrize(
    "method, share",
    [(fem.MoreauJean(), 18.0), (fem.ConeComplementarity(relaxed=False), 0.4)],
    ids=["MoreauJean", "ConeComplementarity"],
)
def test_a_pin_that_is_deep_in_its_bush_is_reported(method, share):
    result = method.run(pin_in_a_bush(), 0.2, 2e-3)
    deep = max(-result[f"pin {k}"].gap.min() for k in (1, 2))
    assert deep > share * 5e-5
    told = [text for text in result.warnings if "deep at t =" in text]
    assert len(told) == 1 and "SphereInCylinder 'pin" in told[0] and f"{deep:.3g} m deep" in told[0]
    assert "5e-05 m" in told[0] and "projection=True" in told[0]
    with pytest.raises(SolverError, match="deep at t ="):
        method.run(pin_in_a_bush(), 0.2, 2e-3, strict=True)


@pytest.mark.parametrize("method", [fem.MoreauJean(projection=True), fem.DecoupledNSGA()], ids=["projection", "NSGA"])
def test_methods_that_hold_gaps_have_nothing_to_report(method):
    result = method.run(pin_in_a_bush(), 0.2, 2e-3)
    assert not [text for text in result.warnings if "deep" in text]


@pytest.mark.parametrize("speed, deep", [(1.0, False), (30.0, True)])
def test_a_ball_may_sink_by_a_tenth_of_its_size_and_not_more(speed, deep):
    """Half a step of flight, then half a step in which the contact acts: 1 mm and 30 mm of a radius of 100 mm."""
    model = fem.Model("ball")
    place = {"position": [0, 0, 0.1 + 0.51e-3 * speed], "velocity": [0, 0, -speed]}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball", **place))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="table"))
    result = fem.MoreauJean().run(model, 5e-3, 1e-3)
    assert -result["table"].gap.min() == pytest.approx(0.99e-3 * speed, rel=1e-6)
    assert [text.split(" is ")[0] for text in result.warnings] == ["SphereOnPlane 'table'"] * deep


@pytest.mark.parametrize("faster", [1.0, 10.0])
def test_points_without_a_body_are_measured_by_the_model(faster):
    """A mass has no size: 1 % of the model, 1 m, as joints that are apart."""
    model, speed = fem.Model("mass"), 0.9 * faster
    mass = model.add(fem.PointMass(1.0, name="mass", position=[1, 0, 0.51e-2 * speed], velocity=[0, 0, -speed]))
    model.add(fem.SphereOnPlane(mass, model.ground, radius=0.0, name="table"))
    result = fem.MoreauJean().run(model, 5e-2, 1e-2)
    assert -result["table"].gap.min() == pytest.approx(0.99e-2 * speed, rel=1e-6)
    assert any("size of the model" in text for text in result.warnings) == (faster > 1.0)


def test_spheres_of_contact_groups_are_measured_by_the_smaller_radius():
    model = fem.Model("two spheres")
    big = model.add(fem.RigidBody.sphere(50.0, 0.3, position=[0, 0, 0], name="big"))
    small = model.add(fem.RigidBody.sphere(0.1, 0.02, position=[0.321, 0, 0], velocity=[-2, 0, 0], name="small"))
    group = fem.ContactGroup(name="grains")
    group.sphere(big, 0.3)
    group.sphere(small, 0.02)
    model.add(group)
    result = fem.MoreauJean(contact_solver="problem").run(model, 2e-2, 4e-3)  # sweeps leave no depth
    assert any("'big' - 'small'" in text and "0.02 m" in text for text in result.warnings)
    assert fem.MoreauJean(projection=True).run(model, 2e-2, 4e-3).warnings == []


def test_what_was_saved_last_is_looked_at_too():
    """Of 3 steps only the last is saved."""
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.146], velocity=[0, 0, -30], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="table"))
    result = fem.MoreauJean().run(model, 3e-3, 1e-3, save_every=7)
    assert len(result.t) == 2 and "'table' is" in result.warnings[0]


@pytest.mark.parametrize("every", [1, 100])
def test_a_depth_between_two_saved_states_is_reported_too(every):
    """It flies at 30 m/s from 46 mm, two steps of 30 mm; 14 mm deep it turns round."""
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.146], velocity=[0, 0, -30], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=1.0, name="table"))
    result = fem.MoreauJean().run(model, 1e-2, 1e-3, save_every=every)
    assert (result["table"].gap.min() > 0.0) == (every > 1) and result["table"].gap[-1] > 0.1
    assert re.search(r"'table'.*0\.014 m.*t = 0\.002 s", result.warnings[0])


def test_a_run_continues_from_bodies_at_rest_that_a_run_has_left_inside_each_other():
    """Neither speed nor weight says how deep a step may lead; the state includes what its run has left."""
    model = fem.Model("ball")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.10051], velocity=[0, 0, -1.0], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="table"))
    result = fem.MoreauJean().run(model, 5e-3, 1e-3)
    system = model.compile()
    system.initial = result.state(-1)
    assert result["table"].gap[-1] < -1e-5 and np.abs(system.initial.V).max() < 1e-15
    system.initial.V[:] = 0.0
    again = fem.MoreauJean().run(system, 1e-2, 1e-3)
    assert again["table"].gap[-1] == pytest.approx(result["table"].gap[-1], rel=1e-9)
    with pytest.raises(fem.ModelError, match=r"'table'.*penetration"):
        fem.DecoupledNSGA().run(system, 1e-2, 1e-3)
