"""Normal forces that beams note with their forces are those of their halves after every step."""

import numpy as np
import pytest

import fem_mbs as fem

LENGTH, TIP, G = 0.6, 3.0, 9.81  # m, kg, m/s²


def hanging_rod(kind, count):
    """A rod that hangs at rest from its upper end, with a mass at the lower one; and its mass per length."""
    section = fem.Section.circle(2e-3, E=210e9, nu=0.3, density=7850)
    model = fem.Model("rod", gravity=[0, 0, -G])
    nodes = [fem.Node6([0, 0, -LENGTH * k / count], fixed=k == 0, name=f"n{k}") for k in range(count + 1)]
    for k in range(count):
        model.add(kind(nodes[k], nodes[k + 1], section, name=f"beam {k}"))
    model.add(fem.RigidBody(TIP, 1e-2, node=nodes[-1], name="mass"))
    return model, np.pi * 2e-3**2 * 7850


# parts of an element above a half that its own weight does not load: at each end of a three-node beam acts a sixth
# of it, of a two-node beam half
@pytest.mark.parametrize("kind, above", [(fem.Beam, (1 / 6, 5 / 6)), (fem.TwoNodeBeam, (1 / 2, 1 / 2))])
def test_noted_forces_are_the_weight_that_each_half_carries(kind, above):
    count = 3
    model, density = hanging_rod(kind, count)
    rest = fem.static_equilibrium(model).state
    system = model.compile()
    system.initial = rest
    engine = fem.DecoupledNSGA().prepare(system, 1e-4, 10**9)
    _, _, error = engine.march.advance(system.initial.t + 1e-4 * np.arange(1, 6), engine.make_records(1))
    assert error is None
    noted = engine.arrays["extremes"].reshape(count, 2, 2)
    part = LENGTH / count
    for k in range(count):
        for j in range(2):
            force = G * (TIP + density * (LENGTH - part * (k + above[j])))
            assert noted[k, j] == pytest.approx(force, rel=1e-6)
