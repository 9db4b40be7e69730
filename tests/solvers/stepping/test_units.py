"""No time stepper depends on metres, kilogrammes or seconds: numbers without dimensions are the same in all units."""

import numpy as np
import pytest
from every_stepper import METHODS, SMOOTH, label
from scaled_models import MODELS, box_on_plane, motion

import fem_mbs as fem
from fem_mbs.jit import kernel
from fem_mbs.system.constraints import row_norm

# µm in SI; Mm and µs; heavy and slow; light and fast
UNITS = [(1e-6, 1e-12, 1e-3), (1e6, 1.0, 1e-6), (1.0, 1e6, 1e6), (1e3, 1e-6, 1.0)]
# one unit may end an iteration where another takes one step more: that is worth less than rtol = 1e-6. The largest
# measured is 4e-9, of 900 runs; with floors of 1 m and 1 m/s it was 1e-6 to 7e-2
SAME = 1e-7


@pytest.mark.parametrize("chosen", [UNITS[:2], pytest.param(UNITS[2:], marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", METHODS, ids=label)
def test_motions_without_dimensions_are_the_same_in_all_units(method, name, chosen):
    # h below the limit of stability of an explicit treatment of stiff beams
    stiff = isinstance(method, fem.LobattoIIIAB) and "beams" in name
    options = {"contacts": type(method).__name__ not in SMOOTH, "part": 0.02 if stiff else 1.0}
    known, _ = motion(method, name, **options)
    for units in chosen:
        found, result = motion(method, name, units, **options)
        assert np.abs(found - known).max() < SAME, units
        assert result.warnings == [], units


def test_the_models_touch():
    for name in ("box", "pendulum", "slider-crank", "slider-crank with beams"):
        _, result = motion(fem.DecoupledNSGA(), name)
        contacts = [result[contact] for contact in result.contacts]
        assert sum((contact.impulse[:, 0] > 0.0).sum() for contact in contacts) > 3, name
        assert any(np.linalg.norm(contact.impulse[:, 1:], axis=1).any() for contact in contacts), name


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_a_contact_that_is_open_gets_no_impulse_in_a_large_model(stages):
    """Its multiplier at inner stages is round-off of the linear system, and no reason to take part in an impact."""
    model, _ = box_on_plane(100.0, 1.0, 1.0)
    result = fem.LobattoIIIAB(stages).run(model, 0.01, 2e-3)
    assert all(result[name].gap.min() > 1.0 and not result[name].impulse.any() for name in result.contacts)
    assert result["box"].velocity[-1, 2] == pytest.approx(-981.0 * 0.01)


@kernel
def norm_of(data, rows):
    """`row_norm` of rows (m,)."""
    return row_norm(data[0], rows)


@pytest.mark.parametrize("size", [3.0, 3e6])
def test_rows_of_constraints_count_as_lengths(size):
    """Rows that are angles or sines count times the size of the model, 0.2 rad of a model of 3 m as 0.6 m."""
    model = fem.Model("door")
    door = model.add(fem.RigidBody(1.0, [size**2] * 3, position=[0, size, 0], name="door"))
    model.add(fem.Revolute.at(model.ground, door, [0, size, 0], axis=[0, 0, 1], name="hinge"))
    system = model.compile()
    assert system.size == size
    assert sorted(system.row_arm) == [1.0, 1.0, 1.0, size, size]
    for i, arm in enumerate(system.row_arm):
        assert norm_of(system.data, 0.2 * np.eye(system.m)[i]) == pytest.approx(0.2 * arm, rel=1e-15)
