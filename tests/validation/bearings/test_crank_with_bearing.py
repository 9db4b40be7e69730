"""Crank mechanism with play in a ball bearing, impacts of the balls resolved in time (Sanchez2025, section 4.5)."""

import numpy as np
import pytest
from crank_bearing_models import ball_forces, bending, run


@pytest.mark.slow
def test_impacts_of_balls_are_as_strong_as_printed_and_softened_by_beams():
    """The source prints 9.1 kN with rigid links, 2.5 kN with beams, over 0.6 s.

    Not reproduced: 2.5 kN. In 0.26 s beams came to 5.8 kN and rigid links to 9.1 kN, both after the first impact, which
    is stronger (13.0 and 18.4 kN): the races begin concentric, though the joint must carry a force at once. After a
    few impacts the motion is chaotic; the first ones below are the same in any run.

    Reason of the bounds on later impacts: one of mass m at speed v has F = K^(2/5) (5/4 m v²)^(3/5). A factor
    of two in F is one of 5.7 in stiffness or 1.8 in speed or 3.2 in mass: wrong units, or a missing race, link or
    curvature. It says nothing about the law; that is tested against closed forms in
    elements/contacts/test_compliant_contact.py.
    """
    first, later = {}, {}
    for flexible in (False, True):
        result, bearing = run(flexible, compliant=True, t_end=0.02)
        force = ball_forces(result, bearing).max(axis=1)
        first[flexible], later[flexible] = force[result.t < 0.01].max(), force[result.t >= 0.01].max()
    # 18.4, 13.0 kN: the first impact moves a link and the slider, or the end of a beam
    assert first[False] == pytest.approx(18.4e3, rel=0.03)  # steps follow the impact to 1e-8 m, of 75e-6 m
    assert 0.5 < first[True] / first[False] < 0.8
    assert abs(np.log2(later[False] / 9.1e3)) < 1.0  # chaotic; what this guards: see above
    assert later[True] < 0.8 * later[False]


@pytest.mark.slow
def test_the_coupler_bends_much_more_with_play_than_with_a_hinge():
    """Asserted by the source without numbers, for rigid unilateral balls and 0.6 s; here the first turn but one."""
    played, hinged = (run(True, clearance, t_end=0.25)[0] for clearance in (True, False))
    largest = [np.abs(bending(result)[result.t > 0.05]).max() for result in (played, hinged)]
    assert largest[0] > 3 * largest[1], largest  # 11 times measured over 0.6 s
    # not so the slider: its speed differs by what the play allows
    speed = [result["slider"].velocity[:, 0] for result in (played, hinged)]
    assert np.sqrt(np.mean((speed[0] - speed[1]) ** 2) / np.mean(speed[1] ** 2)) < 0.1
