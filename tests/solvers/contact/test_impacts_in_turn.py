"""Impacts of a step that come one after the other in contact groups: closed forms of rows, energy, what is reported."""

import re
from itertools import pairwise

import numpy as np
import pytest
from in_turn import in_turn
from resumed import differences, stopped_and_resumed
from stones import CUBE

import fem_mbs as fem

H, SIZE = 1e-3, 0.1
METHODS = {"nsga": fem.DecoupledNSGA, "cone": fem.ConeComplementarity, "moreau": fem.MoreauJean}


def row(kind, masses, gaps, restitution, bystander=0.0, **law):
    """Bodies in a row, of which the first flies at the others with 1 m/s and hits within 0.05 s; and one of another
    mass that flies past.
    """
    model = fem.Model("row", gravity=[0, 0, 0])
    group, at = fem.ContactGroup(restitution=restitution, name="row", **law), -0.05
    for i, mass in enumerate(masses):
        speed = 0.0 if i else 1.0
        place = {"position": [at, 0, 0], "velocity": [speed, 0, 0], "name": f"body {i}"}
        body = model.add(fem.RigidBody.box(mass, 3 * [SIZE], **place))
        if kind == "sphere":
            group.sphere(body, SIZE / 2)
        elif kind == "box":
            group.box(body, 3 * [SIZE], 1e-3)
        else:
            group.hull(body, SIZE * CUBE, 1e-3)
        at += SIZE + [0.05, *gaps, 0.0][i]
    if bystander > 0.0:
        past = fem.RigidBody.sphere(bystander, SIZE, position=[0, 2, 0], velocity=[1, 0, 0], name="bystander")
        group.sphere(model.add(past), SIZE)
    model.add(group)
    return model


def speeds(result):
    """Of all bodies along the row at the end."""
    return result.state(-1).V[1:, 0]


@pytest.mark.parametrize(("name", "kind", "gap"), in_turn(METHODS, ["sphere", "box", "hull"], [1e-5, 1e-4, 3e-3]))
def test_a_cradle_of_bodies_that_nearly_touch_hands_its_impact_on(name, kind, gap):
    """All gaps but the last close within one step; 17 % of the energy was lost with 1e-4 m."""
    result = METHODS[name](contact_tolerance=1e-8).run(row(kind, np.ones(5), 3 * [gap], 1.0, friction=0.0), 0.1, H)
    assert speeds(result) == pytest.approx([0, 0, 0, 0, 1], abs=1e-6)
    assert result.statistics.get("restitution_lost", 0.0) == 0.0 and not result.warnings


@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.6])
@pytest.mark.parametrize("gaps", [[1e-4, 1e-5, 3e-5], [1e-5, 1e-4, 2e-4]])
def test_a_row_of_lighter_and_lighter_bodies_has_the_speeds_of_impacts_in_turn(restitution, gaps):
    """Each of them flies on behind a faster one, for e > 0.5: no pair meets twice."""
    masses = np.array([16.0, 8.0, 4.0, 2.0, 1.0])
    expected, speed = [], 1.0
    for a, b in pairwise(masses):
        expected.append((a - restitution * b) / (a + b) * speed)
        speed *= (1 + restitution) * a / (a + b)
    model = row("box", masses, gaps, restitution, friction=0.0)
    result = fem.DecoupledNSGA(contact_tolerance=1e-9).run(model, 0.055, H)
    assert speeds(result) == pytest.approx([*expected, speed], abs=1e-6)
    assert result.statistics["steps_with_impacts_in_turn"] > 0


def test_impacts_beyond_the_limit_of_a_step_lose_energy_and_are_reported():
    """260 bodies of which one hands its speed to the next: 200 impacts are solved in turn."""
    model = row("sphere", np.ones(260), 258 * [2e-6], 1.0, friction=0.0)
    result = fem.MoreauJean(contact_tolerance=1e-8).run(model, 0.06, H)
    energy, lost = result.energy.total, result.statistics["restitution_lost"]
    assert np.diff(energy).max() < 1e-7  # the tolerance of Gauss-Seidel iterations is 1e-8
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=0.05) and lost > 0.1 * energy[0]
    (text,) = result.warnings
    assert "ContactGroup 'row'" in text and "kinetic energy" in text and "Halve h" in text


@pytest.mark.parametrize("name", METHODS)
def test_contacts_that_resist_rolling_hand_an_impact_on(name):
    model = row("hull", np.ones(5), 3 * [1e-4], 1.0, friction=0.1, rolling_resistance=1e-3)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 0.1, H)
    assert speeds(result) == pytest.approx([0, 0, 0, 0, 1], abs=1e-6)
    assert result.statistics["restitution_lost"] == pytest.approx(0.0, abs=1e-12) and not result.warnings


@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_what_restitution_loses_is_what_it_would_have_left(restitution):
    """Three bodies of 1 kg share an impact: v_1 − v_0 = e and v_2 − v_1 = −(g − δ/2)/h, δ = 1e-5 of their size.

    A heavy one flies past: compared with its energy the loss is too small to solve the step again.
    """
    model = row("box", np.ones(3), [1e-4], restitution, friction=0.1, rolling_resistance=1e-3, bystander=1e4)
    result = fem.MoreauJean(contact_tolerance=1e-9).run(model, 0.06, H)
    stop = (1e-4 - 0.5e-5 * SIZE) / H
    impulse = (1 + restitution - 2 * stop) / 3
    assert result.statistics["restitution_lost"] == pytest.approx(0.5 * restitution**2 * impulse * stop, rel=1e-6)
    assert result.statistics["steps_with_impacts_in_turn"] == 0


def cloud(kind, restitution, friction):
    """27 bodies that fly at their centre, turned and turning."""
    rng, model = np.random.default_rng(5), fem.Model("cloud", gravity=[0, 0, 0])
    group = fem.ContactGroup(restitution=restitution, friction=friction, name="cloud")
    for i in range(27):
        place = 0.024 * (np.array([i % 3, (i // 3) % 3, i // 9]) - 1) + 1e-3 * rng.uniform(-1, 1, 3)
        motion = {"position": place, "velocity": -40 * place, "rotation": 0.2 * rng.normal(size=3), "name": f"b{i}"}
        body = model.add(fem.RigidBody.box(0.01, 3 * [0.015], angular_velocity=20 * rng.normal(size=3), **motion))
        if kind == "box":
            group.box(body, 3 * [0.015], 5e-4)
        elif kind == "hull":
            group.hull(body, 0.015 * CUBE, 5e-4)
        else:
            group.sphere(body, 0.0075)
    model.add(group)
    return model


@pytest.mark.parametrize(("name", "kind"), in_turn(METHODS, ["sphere", "box", "hull"], once=True))
def test_smooth_elastic_bodies_that_meet_all_at_once_keep_their_energy(name, kind):
    """Boxes of 15 mm turn with 100 rad/s after it. More than half of the energy was lost, since these were compared
    with speeds in m/s. A step may lose 1e-3 of it before its impacts are solved in turn; some ten steps do.
    """
    method = METHODS[name](contact_tolerance=1e-9, **({"contact_solver": "auto"} if kind != "sphere" else {}))
    result = method.run(cloud(kind, 1.0, 0.0), 0.05, 5e-4)
    energy = result.energy.total
    assert energy[-1] == pytest.approx(energy[0], rel=1e-2) and np.diff(energy).max() < 1e-8 * energy[0]
    struck = np.abs(result.state(-1).V[1:, :3] - result.state(0).V[1:, :3]).max(axis=1) > 0.1
    assert struck.sum() > 20


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["sphere", "box"])
def test_a_small_body_that_spins_fast_rebounds(name, kind):
    """r = 1 mm, 1,000 rad/s about the normal: its surface is not faster than 1.4 m/s."""
    model = fem.Model("top", gravity=[0, 0, 0])
    group = fem.ContactGroup(restitution=0.8, friction=0.0, name="floor")
    motion = {"position": [0, 0, 2e-3], "velocity": [0, 0, -0.3], "angular_velocity": [0, 0, 1e3]}
    body = model.add(fem.RigidBody.box(1e-5, 3 * [2e-3], name="top", **motion))
    if kind == "sphere":
        group.sphere(body, 1e-3)
    else:
        group.box(body, 3 * [2e-3], 1e-4)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = METHODS[name](contact_solver="auto").run(model, 0.01, 1e-4)
    assert result["top"].velocity[-1] == pytest.approx([0, 0, 0.24], abs=1e-3)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("kind", ["sphere", "hull"])
def test_touching_bodies_fly_on_together(name, kind):
    """Their relative velocities are round-off, which no sweeps can solve to a part of itself."""
    model = row(kind, np.ones(5), 3 * [0.0], 1.0, friction=0.0)
    result = METHODS[name](contact_tolerance=1e-8).run(model, 0.2, H)
    assert speeds(result).sum() == pytest.approx(1.0, abs=1e-9)
    assert (speeds(result) ** 2).sum() == pytest.approx(1.0, abs=1e-6)


def test_a_run_that_is_resumed_among_impacts_continues_with_the_same_digits(monkeypatch, tmp_path):
    model, method = cloud("hull", 0.7, 0.3), fem.DecoupledNSGA(contact_tolerance=1e-8)
    whole = method.run(model, 0.04, 5e-4, save=tmp_path / "whole.vtkhdf")
    parts = stopped_and_resumed(
        monkeypatch, method, model, 0.04, 5e-4, tmp_path / "parts.vtkhdf", every=10, kills=(2, 4)
    )
    assert whole.statistics["steps_with_impacts_in_turn"] > 3
    assert not differences(whole, parts)


@pytest.mark.parametrize("name", METHODS)
def test_a_driven_wall_that_hits_a_row_at_rest_brings_all_to_twice_its_speed(name):
    """e = 1: bodies that have passed their speed on are hit again, until all fly at 1 m/s, the wall at 0.5."""
    model = fem.Model("piston", gravity=[0, 0, 0])
    wall = model.add(fem.RigidBody(1.0, 1.0, rotation=[0, np.pi / 2, 0], velocity=[0.5, 0, 0], name="wall"))
    guide = model.add(fem.Prismatic.at(model.ground, wall, [0, 0, 0], [1, 0, 0], name="guide"))
    model.add(fem.LinearDriver(guide.frame_P, guide.frame_Q, distance=lambda t: 0.5 * t, name="motor"))
    group = fem.ContactGroup(restitution=1.0, friction=0.0, name="row")
    for i in range(4):
        place = [0.0102 + SIZE / 2 + i * (SIZE + 1e-5), 0, 0]
        group.box(model.add(fem.RigidBody.box(1.0, 3 * [SIZE], position=place, name=f"body {i}")), 3 * [SIZE], 1e-3)
    group.obstacle(fem.SphereOnPlane, wall)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-8).run(model, 0.03, H)
    assert result.state(-1).V[2:, 0] == pytest.approx(np.ones(4), abs=1e-6)
    assert result.statistics["steps_with_impacts_in_turn"] == 1


@pytest.mark.parametrize(("name", "restitution"), [
    *((name, 0.2) for name in METHODS), ("nsga", 0.9), pytest.param("moreau", 0.9, marks=pytest.mark.slow),
])  # fmt: skip
def test_what_forces_of_a_step_give_is_no_impact(name, restitution):
    """Bricks that have fallen on a floor and on each other come to rest for good, where gaps of round-off are left."""
    model = fem.Model("bricks", gravity=[0, 0, -9.81])
    group = fem.ContactGroup(restitution=restitution, friction=0.4, name="bricks")
    group.obstacle(fem.SphereOnPlane, model.ground)
    for k, turn in enumerate(([0.1, 0.05, 0.0], [0.0, 0.1, 0.3])):
        start = {"position": [0.01 * k, 0, 0.07 + 0.15 * k], "rotation": turn, "name": f"brick {k}"}
        group.box(model.add(fem.RigidBody.box(5.0, [0.3, 0.2, 0.1], **start)), [0.3, 0.2, 0.1], 3e-3)
    model.add(group)
    options = {"contact_solver": "auto"}
    result = METHODS[name](contact_tolerance=1e-9, **options).run(model, 2.5 if restitution > 0.5 else 1.4, 1e-3)
    x = result.rows(np.arange(len(result.t) - 400, len(result.t)))["position"]
    assert np.abs(x - x[0]).max() < 1e-9
    assert result.energy.kinetic[-400:].max() < 1e-15 * result.energy.kinetic.max()


# --- pairwise solver ------------------------------------------------------------------------------------------------


def cradle(gaps, restitution, **law):
    """Balls of 1 kg in a row, their contacts elements; the first flies at the others with 1 m/s."""
    model, at, balls = fem.Model("cradle", gravity=[0, 0, 0]), 0.0, []
    for i, gap in enumerate([0.05, *gaps, 0.0]):
        speed = 0.0 if i else 1.0
        balls.append(fem.RigidBody.sphere(1.0, SIZE / 2, position=[at, 0, 0], velocity=[speed, 0, 0]))
        at += SIZE + gap
    touch = {"radius_A": SIZE / 2, "radius_B": SIZE / 2, "restitution": restitution, **law}
    model.add(*balls, *[fem.SphereOnSphere(a, b, **touch) for a, b in pairwise(balls)])
    return model


@pytest.mark.parametrize("contact_solver", ["newton", "problem"])
def test_cone_complementarity_reports_what_it_stops_pairwise(contact_solver, tmp_path):
    """Without friction and with e = 1 all that is lost is what restitution has lost."""
    method = fem.ConeComplementarity(contact_solver=contact_solver, rtol=1e-10)
    result = method.run(cradle(3 * [1e-4], 1.0), 0.1, H, save=tmp_path / "cradle.h5")
    energy = result.energy.total
    assert energy[0] - energy[-1] == pytest.approx(result.statistics["restitution_lost"], rel=1e-6)
    assert energy[-1] < 0.9 * energy[0]
    loaded = fem.load(tmp_path / "cradle.h5")
    for one in (result, loaded):
        assert any(re.search(r"restitution.*17\.", text) and "J that" in text for text in one.warnings)
    assert re.search(r"restitution.*17\.", str(result.report()))


def test_cone_complementarity_reports_what_the_restitution_of_a_stops_speed_would_have_left():
    """The second of three balls passes 1e-4 m of the first's impulse on, and is stopped at the third without it."""
    gap, e = 1e-4, {"table": [(0.5, 0.2), (1.0, 0.4)], "value": 0.4}
    losses = []
    for restitution in e.values():
        result = fem.ConeComplementarity(rtol=1e-10).run(cradle([gap], restitution), 0.1, H)
        losses.append(result.statistics["restitution_lost"])
    # the first impact has e = 0.4 in both; what is stopped is slower and has another one by the table
    stop = result.statistics["restitution_lost"]
    assert losses[0] == pytest.approx(stop * (np.interp(gap / H, *np.transpose(e["table"])) / 0.4) ** 2, rel=1e-6)


@pytest.mark.parametrize("restitution, gaps", [(0.0, 3 * [1e-4]), (1.0, 3 * [3e-3]), (1.0, 3 * [0.0])])
def test_cone_complementarity_gives_no_false_alarm(restitution, gaps):
    """No restitution, one impact a step, and balls that touch, among which Newton's law loses nothing."""
    result = fem.ConeComplementarity(rtol=1e-10).run(cradle(gaps, restitution), 0.1, H)
    assert result.statistics["restitution_lost"] == pytest.approx(0.0, abs=1e-9)
    assert not any("restitution" in text for text in result.warnings)


def test_a_body_that_floats_while_it_slides_has_lost_no_restitution():
    """The relaxed law keeps a gap of h μ |v_T| under it, with a force in every step."""
    model = fem.Model("slide", gravity=[0, 0, -9.81])
    ball = fem.RigidBody.sphere(1.0, 0.05, position=[0, 0, 0.05 + 3e-4 * 3.0], velocity=[3.0, 0, 0])
    touch = fem.SphereOnPlane(ball, model.ground, radius=0.05, friction=0.3, restitution=0.8, name="touch")
    model.add(ball, touch)
    result = fem.ConeComplementarity().run(model, 0.2, H)
    assert result["touch"].gap[20:60].min() > 1e-4
    assert result.statistics["restitution_lost"] < 1e-3 * result.energy.kinetic[0]


def test_losses_pairwise_continue_with_the_same_digits_in_a_run_that_is_resumed(monkeypatch, tmp_path):
    model, method = cradle(3 * [1e-4], 1.0), fem.ConeComplementarity()
    whole = method.run(model, 0.08, H, save=tmp_path / "whole.vtkhdf")
    parts = stopped_and_resumed(monkeypatch, method, model, 0.08, H, tmp_path / "parts.vtkhdf", every=10, kills=(3, 6))
    assert whole.statistics["restitution_lost"] > 0.05 and any("restitution" in text for text in parts.warnings)
    assert not differences(whole, parts)
