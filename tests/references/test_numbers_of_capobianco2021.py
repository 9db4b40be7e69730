"""Numbers of the cases of Capobianco2021 are those of its scheme and of integrations, without fem_mbs."""

import capobianco2021 as models
import numpy as np
import pytest
from dense_schemes import course
from three_level_scheme import Moreau, ThreeLevels

from fem_mbs.cases import capobianco2021 as registry


@pytest.mark.slow
def test_the_ball_in_the_corner_has_the_given_impacts_and_gaps():
    """Up to 1.22 s: later impacts are not compared, and from 1.361 s on the forces are not unique."""
    h = registry.CORNER_STEP
    found = course(ThreeLevels(models.CORNER, [-0.5, 1, 0], h, 0.5, r=0.2), 12200)
    for plane, impacts in registry.CORNER.items():
        impulses = found["impulse"][:, 0, plane - 1]
        steps = np.flatnonzero(impulses > 0.05)
        assert len(steps) == len(impacts)
        for k, (time, impulse) in zip(steps, impacts):
            assert k * h == pytest.approx(time, abs=0.51 * h)
            # the first impulse of plane 2 is the exact one: it is caught up to a step late, with m g h sin 45° less
            assert impulses[k] == pytest.approx(impulse, abs=7e-4 if (plane, k) == (2, steps[0]) else 5e-4)
    for time, gaps in registry.CORNER_GAPS.items():
        place = found["q"][round(time / h)]
        assert models.corner_rows(place[:, None])[0][:, 0] == pytest.approx(gaps, abs=5.1e-5)


def test_the_first_impacts_in_the_corner_have_the_closed_form():
    """Falls on plane 2, rolls down with 5/7 of the slope's pull, hits plane 1 with e = 0.5."""
    s, g, R = np.sqrt(0.5), registry.g, registry.radius
    gap = s * 0.5 - R
    time = np.sqrt(2 * gap / (s * g))
    speed = g * time * s  # towards plane 2, and along it
    assert registry.CORNER[2][0] == pytest.approx((time, speed), abs=5.1e-5)
    start, pull = 5 / 7 * speed, 5 / 7 * g * s
    left = s * 1.5 - R - speed * time / 2  # gap of plane 1 when it lands
    later = (np.sqrt(start**2 + 2 * pull * left) - start) / pull
    assert registry.CORNER[1][0] == pytest.approx((time + later, 1.5 * (start + pull * later)), abs=5.1e-4)


def turns(q, times):
    """Times [s] and angles from the bottom [rad] where it turns back."""
    angle = np.arctan2(q[:, 0], models.TUBE - q[:, 1])
    k = 1 + np.flatnonzero(np.diff(np.sign(np.diff(angle))))
    return np.column_stack([times[k], angle[k]])[:4]


def test_the_ball_in_the_cylinder_turns_where_its_scheme_and_an_integration_do():
    found = course(ThreeLevels(models.CYLINDER, [-0.9, 1, 0], 1e-2, 0.5, r=0.3), 500)
    times = 1e-2 * np.arange(501)
    assert turns(found["q"], times) == pytest.approx(np.array(registry.TURNS), abs=5.1e-5)
    exact = models.cylinder_motion(times[1:])
    assert turns(exact, times[1:]) == pytest.approx(np.array(registry.TURNS), abs=2.5e-4)  # second order in h
    assert exact[39, [0, 2]] == pytest.approx(registry.EARLY, abs=1e-6)
    assert exact[99, :2] == pytest.approx(registry.PLACE, abs=5.1e-5)
    assert np.abs(models.tube_rows(found["q"].T)[0]).max() < 1e-10  # no penetration


def test_the_ball_sinks_into_the_cylinder_with_moreaus_scheme():
    found = course(Moreau(models.CYLINDER, [-0.9, 1, 0], 1e-2), 1000)
    for time, gap in registry.SINKS.items():
        assert found["gap"][round(time / 1e-2)] == pytest.approx(gap, abs=5e-4)


def test_painleves_rod_has_the_given_motion_before_the_singularity():
    angle, speed, rate, force = models.rod_motion(list(registry.ROD)).T
    for k, (known_rate, known_force) in enumerate(registry.ROD.values()):
        assert rate[k] == pytest.approx(known_rate, abs=5.1e-7)
        assert force[k] == pytest.approx(known_force, abs=5.1e-5)
    assert (speed[-1], angle[-1]) == pytest.approx(registry.ROD_LATE, abs=5e-6)


def test_painleves_rod_leaves_the_floor_at_the_given_step_with_moreaus_scheme():
    start = np.radians(31)
    found = course(Moreau(models.ROD, [0, np.sin(start), start], 8e-4, [30.0, 0, 0]), 1875)
    assert 8e-4 * np.flatnonzero(found["impulse"])[-1] == pytest.approx(registry.ROD_LEAVES, abs=1e-9)
