"""Newton iterations fall quadratically: of a smooth step, whose tangents are exact, and of the impact of a break."""

import newton_residuals as study
import numpy as np
import pytest

MIDDLE = 1.3  # between the exponents of Newton's method, 2, and of one with a tangent that is not exact, 1


@pytest.mark.parametrize("name", study.CASES)
def test_the_correct_digits_double_with_every_iteration(name):
    norms = study.residuals(name)
    assert len(norms) >= 3 and norms[-1] < 1e-3  # there is something to see above round-off
    # 3.03, 2.47, 2.14; 1.46 to 1.57 where round-off cuts the last residual
    assert study.exponent(name) > MIDDLE


@pytest.mark.parametrize("name", study.CASES)
def test_an_iteration_with_the_tangent_of_the_one_before_would_be_noticed(name):
    assert study.exponent(name, reuse=True) < MIDDLE  # 1.00, 1.03, 1.12, 1.18


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_the_exponent_of_a_sequence_is_that_with_which_it_was_made(exponent):
    falls = -np.log(10.0) * exponent ** np.arange(4)
    norms = np.exp(np.cumsum([0.0, *falls]))
    assert study.last_exponent(norms) == pytest.approx(exponent)


@pytest.mark.parametrize("problem", study.PROBLEMS[1:])
def test_residuals_of_the_impact_problems_of_the_break_fall_quadratically(problem):
    norms = study.break_residuals(problem)
    assert len(norms) >= 3 and norms[-1] < 1e-8  # at most two iterations after the statuses are found
    assert study.constant(norms) < 1.0  # measured 3e-9, .083, 3e-9


def test_residuals_of_the_position_correction_of_the_break_fall_quadratically_and_then_by_two_digits():
    norms = study.break_residuals("position correction")
    # seven iterations, the number the source prints; they find 1e-11 after the last residual that is seen
    assert len(norms) == 7
    assert study.constant(norms[:5]) < 1.0 and norms[4] < 1e-5  # measured .52
    # with friction between the balls a factor of 200 from here on; without it the iteration ends before
    assert np.all(norms[5:] < 0.01 * norms[4:-1])


def test_the_constant_is_the_largest_above_round_off():
    assert study.constant(np.array([1.0, 1e-2, 3e-4, 2e-13])) == pytest.approx(3.0)
