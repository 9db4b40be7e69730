"""Newton iterations of a smooth step fall quadratically: tangents are exact, of bodies, joints, beams and of time."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import newton_residuals as study

# measured .06, 27, 190, 21 (docs/theory/decoupled_nsga.md): r_{k+1} = C r_k², residuals relative to the first
LARGEST_CONSTANT = 400.0


@pytest.mark.parametrize("name", study.CASES)
def test_the_correct_digits_double_with_every_iteration(name):
    norms = study.residuals(name)
    assert len(norms) >= 3 and norms[-1] < 1e-5  # there is something to see
    assert study.constant(norms) < LARGEST_CONSTANT


@pytest.mark.parametrize("name", study.CASES)
def test_an_iteration_with_the_tangent_of_the_one_before_would_be_noticed(name):
    assert study.constant(study.residuals(name, reuse=True)) > 4 * LARGEST_CONSTANT


def test_the_constant_is_the_largest_above_round_off():
    assert study.constant(np.array([1.0, 1e-2, 3e-4, 2e-13])) == pytest.approx(3.0)
