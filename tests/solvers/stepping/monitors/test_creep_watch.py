"""Nodes whose positions part from the integral of their velocities are reported, and only these."""

import re

import numpy as np
import pytest
from resumed import stopped_and_resumed

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.solvers.stepping.monitors.creep_watch import SHARE, WINDOW

CREEP = 5e-4  # rad/s, not in the rate of the driver: below what counts as a jump of the arm


def creeping(t):
    return CREEP * t


def zero(t):
    return 0.0


def driven_arm(angle=None, rate=0.0):
    """An arm whose driver turns it at a reported rate of zero; or by another angle, rate [rad/s] at the start."""
    angle = angle or fem.Signal(creeping, rate=zero, acceleration=zero)
    model = fem.Model("arm")
    arm = model.add(fem.RigidBody.box(1.0, [0.4, 0.05, 0.05], angular_velocity=[0, 0, rate], name="arm"))
    hinge = model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=angle, name="driver"))
    return model


def told(result):
    return [text for text in result.warnings if "integral of its velocity" in text]


@pytest.mark.parametrize(
    "method",
    [
        fem.DecoupledNSGA(),
        fem.DecoupledNSGA(step_control=fem.StepControl()),
        fem.MoreauJean(projection=True),
        fem.NonsmoothGeneralizedAlphaGGL(),
    ],
    ids=["NSGA", "controlled steps", "Moreau-Jean", "GGL"],
)
def test_an_arm_that_turns_at_a_reported_rate_of_zero_is_named(method):
    result = method.run(driven_arm(), 0.5, 1e-3)
    assert np.abs(result["arm"].angular_velocity).max() < 1e-12
    assert result["hinge"].angle[-1] == pytest.approx(CREEP * 0.5)
    (text,) = told(result)
    assert text.startswith(f"Node6 'arm' rotated by {CREEP * 0.5:.3g} rad in 0.5 s")
    assert "from t = 0 s on" in text and re.search("driver.*derivative", text)


def test_creep_is_in_report_and_file_and_ends_strict_runs(tmp_path):
    method, file = fem.DecoupledNSGA(), tmp_path / "arm.vtkhdf"
    result = method.run(driven_arm(), 0.5, 1e-3, save=file)
    (text,) = told(result)
    assert text in result.report() and told(fem.load(file)) == [text]
    with pytest.raises(SolverError, match="integral of its velocity"):
        method.run(driven_arm(), 0.5, 1e-3, strict=True)


@pytest.mark.parametrize("options", [{"save_every": 70}, {"output_times": [0.2, 0.5]}], ids=str)
def test_creep_between_saved_states_is_reported(options):
    assert told(fem.DecoupledNSGA().run(driven_arm(), 0.5, 1e-3, **options))


def test_a_resumed_run_reports_the_creep_of_all_its_parts(tmp_path, monkeypatch):
    asked = fem.DecoupledNSGA(), driven_arm(), 0.3, 1e-3  # 1.5e-4 rad: above what is reported
    other = stopped_and_resumed(monkeypatch, *asked, tmp_path / "arm.vtkhdf", every=33, kills=[3])
    assert told(other) == told(asked[0].run(*asked[1:])) != []


def test_an_arm_that_turns_faster_than_its_rate_says_is_reported():
    """As a drum did that let its load down while its motor lifted it, by 5 % of its rate."""
    rate = CREEP / 0.05
    angle = fem.Signal(lambda t: (rate + CREEP) * t, rate=lambda t: rate, acceleration=zero)
    (text,) = told(fem.DecoupledNSGA().run(driven_arm(angle, rate), 0.5, 1e-3))
    assert f"rotated by {CREEP * 0.5:.3g} rad" in text


@pytest.mark.parametrize("share, reported", [(0.9, False), (1.1, True)])
def test_displacements_are_reported_from_a_share_of_the_size_of_the_model_on(share, reported):
    """A carriage 2 m from the origin, which its driver displaces at a reported velocity of zero."""
    drift, travel = np.zeros(1), fem.Signal(lambda t: 2.0 + drift[0] * t, rate=zero, acceleration=zero)
    model = fem.Model("carriage")
    body = model.add(fem.RigidBody.box(1.0, [0.1, 0.1, 0.1], position=[0, 0, 2.0], name="body"))
    slide = model.add(fem.Prismatic(model.ground.frame(), body.frame(), name="slide"))
    model.add(fem.LinearDriver(slide.frame_P, slide.frame_Q, distance=travel, name="driver"))
    system = model.compile()
    drift[0] = share * SHARE * system.size  # m/s, for 1 s
    result = fem.DecoupledNSGA().run(system, 1.0, 0.2 / WINDOW)
    assert bool(told(result)) is reported


@pytest.mark.parametrize(
    "angle",
    [
        fem.Signal(lambda t: 0.1 * np.sin(40.0 * t) - 4.0 * t, rate=lambda t: 4.0 * np.cos(40.0 * t) - 4.0),
        fem.Signal(lambda t: 9e-4 * (t > 0.1), rate=zero, acceleration=zero),
        fem.ramp(duration=0.25, start=0.05) * 1e-3,
    ],
    ids=["moves", "jumps once", "begins slowly"],
)
def test_an_arm_that_moves_by_its_rate_or_jumps_once_does_not_creep(angle):
    assert not told(fem.DecoupledNSGA().run(driven_arm(angle), 0.5, 1e-3))


def held_shelf(**options):
    """A shelf that friction or a motor holds, on which a ball falls and comes to rest."""
    model = fem.Model("shelf", gravity=[0, 0, -9.81])
    shelf = model.add(fem.RigidBody.box(2.0, [0.2, 0.2, 0.1], name="shelf"))
    model.add(fem.Prismatic.at(model.ground, shelf, [0, 0, 0], [0, 0, 1], name="slide", **options))
    ball = model.add(fem.RigidBody.sphere(3.0, 0.05, position=[0, 0, 0.101], name="ball"))
    model.add(fem.SphereOnPlane(ball, shelf.frame([0, 0, 0.05]), radius=0.05, restitution=0.5, name="on shelf"))
    return model


@pytest.mark.parametrize(
    "option",
    [{"friction": fem.DryFriction(1.0, preload=1e4)}, {"motor": fem.Motor(rate=0.0)}],
    ids=["friction", "motor"],
)
@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.DecoupledNSGA.published()], ids=["default", "published"])
def test_a_shelf_that_is_held_by_rates_stays_where_it_is_under_a_ball(option, method):
    """Without a row in the position correction it would sink by ½ h g 3/5 per second."""
    result = method.run(held_shelf(**option), 0.4, 2e-3)
    assert not told(result)
    assert np.abs(result["shelf"].position[:, 2]).max() < 1e-9


def test_a_rotor_that_spins_in_place_and_a_damped_beam_with_large_steps_do_not_creep():
    """What steps do not resolve leaves differences between displacements and velocities, whose sum is bounded."""
    model = fem.Model("both", gravity=[0, 0, -9.81])
    rotor = model.add(fem.RigidBody(1.0, [0.1, 0.2, 0.3], angular_velocity=[0, 0, 60.0], name="rotor"))
    model.add(fem.Spherical.at(model.ground, rotor, [0, 0, 0], name="pivot"))
    section = fem.Section.circle(0.01, E=2e11, density=7800.0)
    rod = fem.beam_line(fem.Node6(fixed=True), fem.Node6([1, 0, 0], name="tip"), 4, section, damping=1e-2, name="rod")
    model.add(rod)
    assert not told(fem.DecoupledNSGA(rho_inf=1.0).run(model, 0.5, 5e-3))


@pytest.mark.parametrize("every, reported", [(3, True), (10, False)])
def test_creep_in_every_third_step_is_reported_and_in_every_tenth_it_is_an_event(every, reported):
    """A window of twenty steps in which five have all of it is no creep."""
    h = 1e-3
    stairs = fem.Signal(lambda t: 1e-6 * every * np.floor(t / (every * h) + 1e-6), rate=zero, acceleration=zero)
    assert bool(told(fem.DecoupledNSGA().run(driven_arm(stairs), 0.5, h))) is reported


@pytest.mark.parametrize("speed, reported", [(2.5e-3, True), (2.5e-2, False)])
def test_an_arm_that_creeps_while_it_swings_is_reported_where_it_creeps_faster_than_its_rate_changes(speed, reported):
    """Rates change by up to 0.04 of their amplitude in a step; the method may be off by three such changes."""
    angle = fem.Signal(lambda t: speed / 40.0 * np.sin(40.0 * t) + CREEP * t, rate=lambda t: speed * np.cos(40.0 * t))
    assert bool(told(fem.DecoupledNSGA().run(driven_arm(angle, speed), 0.5, 1e-3))) is reported
