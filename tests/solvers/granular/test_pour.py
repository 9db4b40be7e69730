"""The pouring benchmark on a small scale: nobody penetrates, energy falls, the parts add up."""

import numpy as np
import pour
import pytest


def test_sixty_poured_spheres_do_not_penetrate_nor_gain_energy():
    run = pour.pour(60, 0.12, save_every=1)
    result = run.result
    assert result.pair_count.max() > 60  # layers have met
    # overlaps of 1e-6 of the smaller diameter stay
    assert min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t))) > -1.01e-6 * 2 * 0.02
    energy = result.energy.total
    # no restitution: dissipated in every impact; what inexact impulses give is of the order of the tolerance
    assert np.diff(energy).max() <= 1e-4 * energy[0]
    assert energy[-1] < 0.8 * energy[0]
    assert result.statistics["steps"] == 120 and result.statistics["inexact_contact_problems"] == 0


def test_the_parts_of_the_run_add_up_to_its_time():
    run = pour.pour(20, 0.05)
    assert sum(run.parts.values()) == pytest.approx(run.wall, rel=1e-9)
    assert all(seconds >= -1e-3 * run.wall for seconds in run.parts.values()), run.parts
    assert run.sweeps > 20
