"""Numbers of the cases of Capobianco2024 are those of its scheme and of integrations, without fem_mbs."""

import capobianco2024 as models
import numpy as np
import pytest
from dense_schemes import course
from lobatto_scheme import IIIA, Lobatto

from fem_mbs.cases import capobianco2024 as registry


def ball(stages, spin, normal, tangential=0.0, steps=200):
    return course(Lobatto(models.ball(normal, tangential), [0, 1, 0], [0, 0, spin], 1e-2, stages, r=0.5), steps)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_the_ball_has_the_given_impulses(stages):
    bounces, slides = ball(stages, 0.0, 0.5), ball(stages, 50.0, 0.0)
    assert bounces["q"][43:85, 1].max() - 0.1 == pytest.approx(registry.APEX, abs=5e-5)
    assert bounces["normal"][43, 0] == pytest.approx(registry.BOUNCE, abs=5e-5)
    assert slides["normal"][43, 0] == pytest.approx(registry.LANDING, abs=5e-5)
    for k, (friction, digit) in registry.RUBS.items():
        assert slides["friction"][k, 0] == pytest.approx(friction, abs=digit)
    assert bounces["count"].max() <= registry.ITERATIONS
    sticks, back = ball(stages, 10.0, 0.0, steps=60), ball(stages, 10.0, 0.5, 1.0, steps=43)
    assert sticks["friction"][43, 0] == pytest.approx(-2 / 7, abs=1e-10)
    assert np.abs(sticks["friction"][44:]).max() < 1e-10
    assert back["friction"][43, 0] == pytest.approx(-4 / 7, abs=1e-10)
    assert back["v"][43, 0] + 0.1 * back["v"][43, 2] == pytest.approx(-1.0, abs=1e-10)


@pytest.mark.parametrize("height", registry.SLOPE)
def test_the_point_on_the_slope_has_the_given_motion(height):
    place, velocity, time, x = models.slope_motion(height)
    known_place, known_velocity, known_time, known_x = registry.SLOPE[height]
    assert place == pytest.approx(known_place, abs=1e-8)
    assert velocity == pytest.approx(known_velocity, abs=1e-7)
    assert (time, x) == pytest.approx((known_time, known_x), abs=1e-6)
    case_place, case_velocity = (course[-1] for course in registry.slope_exact(np.array([0.0, 1.6]), height))
    assert case_place == pytest.approx(place, abs=1e-10) and case_velocity == pytest.approx(velocity, abs=1e-10)


def test_the_point_that_falls_on_the_slope_has_the_given_impact():
    found = course(Lobatto(models.SLOPE, [0, 1.5], [0, 0], 1e-2, 3), 250)
    k = int(np.argmax(found["normal"][:, 0] > 0.5))
    obtained = found["normal"][k, 0], found["friction"][k, 0], found["q"][-1, 0]
    assert obtained == pytest.approx(registry.SLOPE_SCHEME, abs=5.1e-6)


@pytest.mark.parametrize("stages, h", [(stages, h) for stages, row in registry.SLOPE_ERRORS.items() for h in row])
def test_the_point_on_the_slope_has_the_given_errors(stages, h):
    steps = int(1.6 / h + 1e-9)
    found = course(Lobatto(models.SLOPE, [0, 1], [0, 0], h, stages, tolerance=1e-13), steps)
    exact = registry.slope_exact(np.arange(steps + 1) * h)
    errors = [h * np.abs(found[name] - reference).sum() for name, reference in zip("qv", exact)]
    assert errors == pytest.approx(registry.SLOPE_ERRORS[stages][h], rel=5e-3)  # three digits


@pytest.mark.slow
def test_the_mechanism_with_clearance_has_the_given_numbers():
    found = course(Lobatto(models.MECHANISM, *models.MECHANISM_START, 1e-4, 3, tolerance=1e-8), 1000)
    energy = models.mechanism_energy(found["q"], found["v"])
    gaps = models.mechanism_rows(found["q"].T)[2]
    for corner, gap in registry.MECHANISM_GAPS.items():
        assert gaps[corner - 1, 0] == pytest.approx(gap, abs=5e-8)
    assert energy[[0, -1]] == pytest.approx(registry.MECHANISM_ENERGIES, abs=5e-5)
    touches = (found["normal"] > 1e-9).any(axis=1)
    assert 1e-4 * np.argmax(touches) == pytest.approx(registry.FIRST_TOUCH, abs=1e-9)
    assert found["q"][200, 2] == pytest.approx(registry.CRANK_ANGLE, abs=5e-6)
    mean, most, rise = registry.MECHANISM_STEPS
    # where an iteration starts is not printed: 2.05 here
    assert found["count"][1:].mean() == pytest.approx(mean, abs=0.06)
    assert found["count"].max() == most
    assert np.diff(energy).max() == pytest.approx(rise, rel=0.05)
    assert np.abs(found["q"][101:, 8]).max() < 1e-12 and gaps.min() > -1e-12


def test_the_tableaus_are_symplectic_and_of_order_2s_minus_2():
    for stages, A in IIIA.items():
        b, c = A[-1], A.sum(axis=1)
        hat = b * (1 - A.T / b[:, None])
        assert b[:, None] * hat + b * A.T == pytest.approx(np.outer(b, b), abs=1e-15)
        for k in range(1, 2 * stages - 1):
            assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-15)
