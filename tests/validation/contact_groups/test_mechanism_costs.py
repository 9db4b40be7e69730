"""What the comparison says of a step on the roller-crank is what its runs have."""

import re

import numpy as np
import pytest
import roller_crank

import fem_mbs as fem
from fem_mbs.cases.mechanism import Cost, cone_excess, costs


def test_costs_are_those_of_the_runs_and_errors_have_their_reason():
    steppers = {
        "default": fem.DecoupledNSGA(), "coupled": fem.NonsmoothGeneralizedAlphaGGL(),
        "cone": fem.ConeComplementarity(), "smooth": fem.GeneralizedAlpha(),
    }  # fmt: skip
    found = costs(steppers, flexible=False, t_end=0.1, rounds=1)
    assert re.search("'floor'.*contact.*GeneralizedAlpha", found["smooth"])
    crank = roller_crank.build().compile()
    for label in ("default", "coupled", "cone"):
        cost, run = found[label], steppers[label].run(crank, 0.1, 1e-3)
        assert isinstance(cost, Cost) and cost.seconds > 0
        assert cost.gap == run["floor"].gap.min() and cost.drift == run.violation.position.max()
        assert cost.rise == np.diff(run.energy.total).max() and cost.cone < 1e-6
    # 33 coordinates and rows of joints, three of the contact; the coupled problem has three levels of them
    assert found["default"].unknowns == 36 and found["coupled"].unknowns == 108
    assert found["default"].iterations == pytest.approx(steppers["default"].run(crank, 0.1, 1e-3).iterations.mean)
    assert found["coupled"].iterations[0] > 0 == found["coupled"].iterations[1]
    assert found["cone"].drift > 1e3 * found["default"].drift  # its joints drift


def test_an_excess_over_the_friction_cone_is_reported():
    force = np.array([[10.0, 0.6, 0.8], [20.0, 0.0, 2.0], [5.0, 0.0, 0.3]])
    assert cone_excess(force, 0.1) == 0.0
    force[2, 1] = 0.4  # 0.5 N, all that there is
    assert cone_excess(force, 0.1) == pytest.approx(0.0, abs=1e-15)
    force[1, 1] = 1.5  # 2.5 N of 2.0 N
    assert cone_excess(force, 0.1) == pytest.approx(0.5 / 20)
