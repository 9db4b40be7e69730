"""The memory of the decoupled scheme after steps with impacts: docs/theory/decoupled_nsga.md, decision 10."""

from functools import cache

import numpy as np
import pytest

import fem_mbs as fem

SPEED, TIME = 30.0, 4.0  # rad/s, s: 60 impacts, 19 turns
CAPTURED = {"impacts": "plain", "restitution_speed": "start"}  # impacts taken with a whole step, as published


def gate(elastic_stops):
    """A bar that turns about its end."""
    model = fem.Model("gate")
    bar = fem.RigidBody(2.0, [0.01, 0.06, 0.06], position=[0.3, 0, 0], velocity=[0, 0.3 * SPEED, 0],
                        angular_velocity=[0, 0, SPEED], name="bar")  # fmt: skip
    stops = fem.Stops(-1.0, 1.0, restitution=1.0) if elastic_stops else None
    model.add(bar, fem.Revolute.at(model.ground, bar, [0, 0, 0], [0, 0, 1], name="hinge", stops=stops))
    return model


@cache
def gain(rho_inf, h, elastic_stops=True, **options):
    """Change of the energy of the bar, relative."""
    result = fem.DecoupledNSGA(rho_inf=rho_inf, **options).run(gate(elastic_stops), TIME, h)
    if elastic_stops:
        assert np.count_nonzero(np.diff(np.sign(result["hinge"].rate))) >= 55
    return result.energy.total[-1] / result.energy.total[0] - 1


def test_a_bar_between_elastic_stops_keeps_its_energy_at_an_eighth_of_a_radian_per_step():
    assert abs(gain(0.8, 4e-3)) < 5e-3  # 0.12 %; 25 % with the memory of the motion before each impact
    assert abs(gain(0.8, 2e-3)) < 1.5e-3  # -0.08 %; 3.2 %


@pytest.mark.parametrize("rho_inf, more", [(0.0, 3e-2), (0.5, 1.5e-3), (0.6, 1e-3), (0.7, 1e-3), (1.0, 1e-3)])
def test_impacts_change_the_energy_of_a_bar_by_no_more_than_its_free_turning_does(rho_inf, more):
    """The scheme itself loses 15 % in these 19 turns with rho_inf = 0, and gains 1 % with 1, order 3 in h."""
    # beyond it 1.9, 0.0, 0.0, 0.0 and 0.0 % measured; without restarts 31 and 12 % for 0 and 1. Where the first steps
    # have a = v', 3.8 % for 0.6
    assert abs(gain(rho_inf, 4e-3, **CAPTURED) - gain(rho_inf, 4e-3, elastic_stops=False)) < more


@pytest.mark.parametrize("rho_inf, change", [(0.5, 5e-3), (0.6, 3e-3), (0.7, 3e-3), (1.0, 3e-3)])
def test_split_impacts_leave_the_energy_of_a_bar_nearer_to_what_it_was_than_free_turning_does(rho_inf, change):
    """Each of them begins the memory anew, of which the gain of free turning is: 0.3 to 1.0 % here."""
    # -0.32, -0.20, -0.16 and -0.16 % measured; 4.7 % where the first steps have a = v' (0.5)
    assert abs(gain(rho_inf, 4e-3)) < change


def test_split_impacts_with_the_most_damping_lose_no_more_than_free_turning_does():
    assert abs(gain(0.0, 4e-3) - gain(0.0, 4e-3, elastic_stops=False)) < 3e-2  # -15 %; 23 % more with a = v' first


def test_energy_that_a_bar_gains_at_its_impacts_is_reported_with_its_cause():
    """3 % in 60 impacts, each within what a step may gain."""
    model = gate(True)
    result = fem.DecoupledNSGA(reset_after_impact=False, **CAPTURED).run(model, TIME, 2e-3)
    (text,) = [text for text in result.warnings if "energy was" in text]
    assert 'reset_after_impact="filtered"' in text
    assert fem.DecoupledNSGA(**CAPTURED).run(model, TIME, 2e-3).warnings == []
    assert fem.DecoupledNSGA().run(model, TIME, 2e-3).warnings == []
