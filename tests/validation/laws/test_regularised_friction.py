"""Roller-crank with the friction of the scheme, smoothed and switched: numbers of docs/published_benchmarks.md."""

import numpy as np
import pytest
import regularised_friction as laws

EXACT = 8.0077  # rad/s at 0.1 s: the independent model of tests/validation/steppers/test_annex_a.py


def test_a_switched_law_oscillates_while_the_roller_sticks_and_the_scheme_does_not():
    scheme, switched = laws.scheme(), laws.switched()
    assert laws.turns(*scheme) == 1 and laws.noise(*scheme) < 0.05
    assert laws.turns(*switched) > 50 and laws.noise(*switched) > 10
    assert np.interp(0.1, *scheme) == pytest.approx(EXACT, abs=2e-4)


def test_the_smoothed_law_goes_to_that_of_the_scheme_with_its_width():
    errors = [np.interp(0.1, *laws.smoothed(width, h)) - EXACT for width, h in ((1e-2, 1e-3), (1e-3, 1e-4))]
    assert errors == pytest.approx([-0.0264, -0.0027], abs=2e-4)
