"""Box and polyhedra of the note on mesh contact: overlap, energy and rest of dropped ones, stacks without creep, cost.

Figures are those of a prototype with contacts from coal 3.0.3 (docs/theory/hulls.md, "Decisions"): the scene is
of the same kind; where the second body starts is not printed.
"""

import numpy as np
import pytest
from in_turn import in_turn
from scipy.spatial.transform import Rotation
from stones import CUBE, distance, lying, polyhedron, put_stone, world

import fem_mbs as fem
from fem_mbs.mesh.polyhedra import Polyhedron

SIDES, RHO = np.array([1.0, 0.8, 0.5]), 0.01
STONE = polyhedron(30, 1, (0.5, 0.4, 0.35))


def dropped(box=True, stone=True):
    """A tilted box and a polyhedron of 30 points, on a plane and on each other; friction 0.4, no restitution."""
    model, group = world(friction=0.4)
    if box:
        put_stone(model, group, SIDES * CUBE, rounding=RHO, position=[0, 0, 0.75], rotation=[0.3, 0.2, 0.1], name="box")
    if stone:
        height = 1.8 if box else 0.7
        put_stone(model, group, STONE, rounding=RHO, position=[0.1, 0.05, height], rotation=[0.5, 0.4, 0], name="stone")
    return model


def deepest(result):
    """Deepest overlap [m] of saved states: cores with the plane and with each other, by other means than the run's."""
    depth, forms = 0.0, {"box": SIDES * CUBE, "stone": STONE}
    names = [name for name in forms if name in result]
    cores = {name: Polyhedron(forms[name]).core_points(RHO) for name in names}
    for k in range(len(result.t)):
        places = []
        for name in names:
            turn = Rotation.from_quat(result[name].quaternion[k, [1, 2, 3, 0]])
            places.append(result[name].position[k] + turn.apply(cores[name]))
            depth = max(depth, RHO - places[-1][:, 2].min())
        if len(places) == 2:
            depth = max(depth, 2 * RHO - distance(*places))
    return depth


CASES = {
    "both": ({}, 7.5e-4, 5e-6, 4e-8),  # prototype: vertices on faces + witness points
    "box": ({"stone": False}, 2e-6, None, 5e-21),  # by patches
    "stone": ({"box": False}, 4e-9, 3e-11, 4e-20),  # vertices on plane
}
STEPPERS = {
    "nsga": lambda: fem.DecoupledNSGA(contact_tolerance=1e-8),
    "cone": lambda: fem.ConeComplementarity(contact_tolerance=1e-8),
    "moreau": lambda: fem.MoreauJean(contact_tolerance=1e-8),
}


@pytest.mark.parametrize(("name", "case"), in_turn(STEPPERS, CASES))
def test_dropped_polyhedra_come_to_rest_without_overlap_or_gain_of_energy(case, name):
    options, overlap, rise, kinetic = CASES[case]
    result = STEPPERS[name]().run(dropped(**options), 2.5, 2e-3)
    gain = np.diff(result.energy.total).max() / result.energy.total[0]
    figures = deepest(result), gain, result.energy.kinetic[-1]
    assert figures[0] < min(overlap, 2e-7), figures  # positions keep 1e-6 of the half thickness
    assert figures[1] < min(rise or 1.0, 1e-11), figures
    assert figures[2] < min(kinetic, 1e-25), figures


BRICKS = 4


def stack():
    """Four bricks, each smaller and turned, a polyhedron on a face of its own on top, and another one on the floor."""
    model, group = world(friction=0.5)
    forms = [CUBE * [0.2 - 0.02 * k, 0.3 - 0.03 * k, 0.1] for k in range(BRICKS)]
    forms.append(lying(polyhedron(12, 4, (0.08, 0.06, 0.05)), 2e-3))
    height = 0.0
    for k, points in enumerate(forms):
        height += 1e-3
        turn = [0, 0, 0.1 * k] if k < BRICKS else [0, 0, 0]
        place = [0.01 * k, 0, height - points[:, 2].min()]
        put_stone(model, group, points, position=place, rotation=turn, name=f"body {k}")
        height += np.ptp(points[:, 2])
    points = lying(polyhedron(30, 21, (0.1, 0.08, 0.06)), 2e-3)
    put_stone(model, group, points, position=[0.5, 0, 1e-3 - points[:, 2].min()], name="body 5")
    return model


def creep(t_end, settled):
    """Largest way [m] of a body, and angle [rad], from ``settled`` [s] to the end of a run, and its length in steps."""
    result = fem.DecoupledNSGA().run(stack(), t_end, 1e-3)
    k, ways = np.searchsorted(result.t, settled - 1e-9), []
    for name in (f"body {i}" for i in range(6)):
        ways.append(np.linalg.norm(result[name].position[k:] - result[name].position[k], axis=1).max())
        turns = Rotation.from_quat(result[name].quaternion[k:, [1, 2, 3, 0]])
        ways.append((turns * turns[0].inv()).magnitude().max())
    return max(ways), len(result.t) - 1 - k


def test_a_stack_of_bricks_and_stones_does_not_creep():
    """They fall by millimetres, settle, and stay. What settles after half a second is 7e-10 m and rad (measured)."""
    way, steps = creep(1.5, 0.5)
    assert steps == 1000 and way < 1e-8, way


@pytest.mark.slow
def test_a_stack_of_bricks_and_stones_does_not_creep_in_ten_thousand_steps():
    way, steps = creep(11.0, 1.0)
    assert steps == 10_000 and way < 1e-10, way
