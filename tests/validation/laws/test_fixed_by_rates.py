"""A coordinate that velocities alone fix keeps its value under any contact force: joint friction, motors, knife edges.

The smooth motion has no contacts. A body on a closed contact falls by ½ g h² in it, and the position correction lifts
both bodies. Without rows of velocities and of joint friction the lower body moved by ½ h g m/(m + M) per second for
ever: 5.9 mm/s for the shelf below at 2 ms, at a reported rate of 1e-17.
"""

import itertools

import numpy as np
import pytest
from fixed_by_rates import FIXED, PRESSING, G, displacement, model_of

import fem_mbs as fem
from fem_mbs.solvers import NonsmoothGeneralizedAlphaGGL

STILL = 1e-9  # m, rad: round-off, and what tolerances of sub-problems add up to
IN_GROUPS = ("slide, motor", "hinge, motor", "knife edge", "rolling disc", "redundant guides, motor")

# each fixed coordinate and each contact at least once; all pairs are marked slow
SAMPLE = [
    ("slide, friction", "sphere", {}),
    ("slide, servo", "bouncing sphere", {}),
    ("slide, motor", "contact group", {}),
    ("hinge, friction of its load", "bouncing sphere", {"persistent_contacts": True}),
    ("hinge, servo", "stop", {"persistent_contacts": True}),
    ("hinge, motor", "hull", {}),
    ("cylindrical joint, friction", "cable", {"impacts": "split"}),
    ("screw, friction", "capsule", {}),
    ("knife edge", "solid", {}),
    ("knife edge", "contact group", {}),
    ("rolling disc", "beam skin", {"contact_solver": "problem"}),
    ("belt", "wheel", {}),
    ("redundant guides, motor", "sphere", {}),
]
ALL = [pair for pair in itertools.product(FIXED, PRESSING) if pair[1] != "contact group" or pair[0] in IN_GROUPS]


def run(fixed, pressing, t_end, options):
    model = model_of(fixed, pressing)
    if fixed.startswith("redundant"):
        model = model.compile(redundant="allow")
    return fem.DecoupledNSGA(**options).run(model, t_end, 2e-3)


def check(fixed, pressing, t_end, options):
    result = run(fixed, pressing, t_end, options)
    moved, turned, missing = displacement(result)
    assert moved < STILL and turned < STILL and missing < STILL, f"{moved:.1e} m, {turned:.1e} rad, {missing:.1e} m"


@pytest.mark.parametrize("fixed, pressing, options", SAMPLE)
def test_a_fixed_coordinate_does_not_move_under_a_closed_contact(fixed, pressing, options):
    check(fixed, pressing, 0.1, options)


@pytest.mark.slow
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("fixed, pressing", ALL)
def test_no_fixed_coordinate_moves_within_a_second(fixed, pressing, persistent):
    if persistent and pressing == "contact group":
        pytest.skip("contact groups have no persistent contacts")
    check(fixed, pressing, 1.0, {"persistent_contacts": persistent})


@pytest.mark.parametrize("fixed", ["slide, motor", "knife edge", "rolling disc"])
def test_rows_of_velocities_keep_their_coordinate_in_the_scheme_of_bruls(fixed):
    result = NonsmoothGeneralizedAlphaGGL().run(model_of(fixed, "sphere"), 0.1, 2e-3)
    assert max(displacement(result)) < STILL


@pytest.mark.parametrize("motor", [{}, {"limit": 20.0}])
def test_a_winch_lifts_its_load_by_its_radius_times_its_angle(motor):
    """2 rad/s after 0.5 s on a drum of 0.1 m: 0.15 m in 1 s, of which a rate motor lost 9 mm at 4 ms."""
    model = fem.Model("winch", gravity=[0, -G, 0])
    drum = model.add(fem.RigidBody(1.0, [0.02] * 3, name="drum"))
    rate = fem.Motor(rate=lambda t: 2.0 * min(t / 0.5, 1.0), **motor)
    model.add(fem.Revolute.at(model.ground, drum, [0, 0, 0], [0, 0, 1], name="shaft", motor=rate))
    load = model.add(fem.RigidBody.sphere(2.0, 0.05, position=[0.1, -2.0, 0], name="load"))
    model.add(fem.Cable([(drum, -0.1), load], turns={0: 3}, name="rope"))
    result = fem.DecoupledNSGA().run(model, 1.0, 4e-3)
    angle = result["shaft"].angle[-1]
    assert angle == pytest.approx(1.5, abs=1e-6)  # the kink of the rate
    assert result["load"].position[-1, 1] + 2.0 == pytest.approx(0.1 * angle, abs=1e-5)


def test_a_joint_breaks_loose_where_an_impact_exceeds_what_it_can_hold():
    """A servo of 100 N under a ball of 3 kg that falls on it with 1.7 m/s."""
    model = fem.Model("shelf", gravity=[0, 0, -G])
    shelf = model.add(fem.RigidBody.box(2.0, [0.2, 0.2, 0.1], name="part"))
    servo = fem.Motor(rate=0.0, limit=100.0)
    model.add(fem.Prismatic.at(model.ground, shelf, [0, 0, 0], [0, 0, 1], motor=servo, name="joint"))
    ball = model.add(fem.RigidBody.sphere(3.0, 0.05, position=[0, 0, 0.2], velocity=[0, 0, -1.0], name="ball"))
    model.add(fem.SphereOnPlane(ball, shelf.frame([0, 0, 0.05]), radius=0.05, name="contact"))
    result = fem.DecoupledNSGA().run(model, 0.3, 5e-4)
    # both continue with 3/5 of the impact speed and are braked by 100 N less their weight; the impact is up to h late
    speed = 0.6 * np.sqrt(1.0 + 2 * G * 0.1)
    path = speed**2 / 2 / (100.0 / 5.0 - G)
    assert -result["joint"].displacement[-1] == pytest.approx(path, rel=0.02)
    assert abs(result["joint"].rate[-1]) < 1e-12


def guide(h):
    """Largest error of the position of a guide with pads whose load is a crate on a stop, pushed to and fro."""
    model = fem.Model("guide", gravity=[0, 0, -G])
    part = model.add(fem.RigidBody.box(2.0, [0.4, 0.2, 0.1], name="part"))
    friction = fem.DryFriction(0.25)
    model.add(fem.Prismatic.at(model.ground, part, [0, 0, 0], [1, 0, 0], name="slide", friction=friction))
    crate = model.add(fem.RigidBody.box(3.0, [0.1] * 3, position=[0, 0, 0.1], name="crate"))
    stops = fem.Stops(0.0, 1.0)
    model.add(fem.Prismatic.at(part, crate, [0, 0, 0.1], [0, 0, 1], name="inner", stops=stops))
    push = fem.PointForce(part, force=lambda t: (25 * np.sin(7 * t) * np.exp(-0.3 * t), 0, 0))
    model.add(push)
    return fem.DecoupledNSGA().run(model, 1.6, h)["part"].position[:, 0]


def test_a_guide_with_friction_of_its_load_is_of_second_order():
    """Three reversals. Friction without the load of the contact was of first order: 1.4e-3, 7.0e-4, 3.4e-4 m."""
    fine, error = guide(2.5e-4), []
    for h in (4e-3, 2e-3, 1e-3):
        error.append(np.abs(guide(h) - fine[:: round(h / 2.5e-4)]).max())
    assert error[0] < 3e-4 and error[2] < 1e-5, error
    assert np.log2(error[0] / error[2]) / 2 > 1.8, error
