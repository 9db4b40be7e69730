"""A stack of three boxes at rest: 32 closed contacts with friction hold 18 velocities, and 296 pairs are open.

Which forces the contacts have is not determined; what they are in sum is.
"""

import numpy as np
import pytest

import fem_mbs as fem

g, size = 9.81, np.array([0.1, 0.1, 0.05])  # m/s², m


def stack():
    model, below = fem.Model("stack", gravity=[0, 0, -g]), None
    for i in range(3):
        position = [0.01 * i, 0, size[2] * (i + 0.5)]
        box = model.add(fem.RigidBody.box(1.0 + i, size, position=position, name=f"box {i}"))
        if below is None:
            model.add(fem.BoxOnPlane(box, model.ground, size=size, rounding=1e-3, friction=0.5, name="floor"))
        else:
            model.add(fem.BoxOnBox(below, box, size_A=size, size_B=size, rounding=1e-3, friction=0.5, name=f"top {i}"))
        below = box
    return model


@pytest.mark.parametrize("method, h", [
    (fem.LobattoIIIAB(2), 1e-2), (fem.LobattoIIIAB(2), 2e-3), (fem.LobattoIIIAB(3), 1e-2),
    (fem.NonsmoothGeneralizedAlphaGGL(), 1e-2), (fem.NonsmoothGeneralizedAlphaGGL(), 2e-3),
])  # fmt: skip
def test_a_stack_at_rest_stays_and_its_steps_cost_no_more_than_others(method, h):
    steps = 20
    result = method.run(stack(), steps * h, h)
    for i in range(3):
        moved = np.abs(result[f"box {i}"].position - result[f"box {i}"].position[0])
        assert moved.max() < 1e-11 and np.abs(result[f"box {i}"].velocity).max() < 1e-9
    assert np.diff(result.energy.total).max() < 1e-10 and not result.warnings
    floor = [name for name in result.names if name.startswith("floor")]
    weight = sum(result[name].impulse[1:, 0] for name in floor)
    assert weight == pytest.approx(6.0 * g * h, rel=1e-6)
    assert result.statistics["repeated_steps"] == 0
    # a contact that takes over load from others has no impact
    assert not any(result[name].impact.any() for name in result.names if hasattr(result[name], "gap"))
    # each iteration factorises a matrix of 2000 to 3000 unknowns: 15 to 25, before. Redundant contacts leave the number
    # to the last digits, and these to the order of pivots: means of 2.6 to 3.7 and at most 9 were seen
    assert result.iterations.position[2:].mean() < 5.0 and result.iterations.position[2:].max() <= 10
