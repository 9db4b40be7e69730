"""Steps that pass a contact, or hit it wrongly, by one thing that is wrong each: all else of them is right."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import SolverError

h = 1e-3  # s: one step


def flight(travel, offset=0.0, before=0.5, stiffness=None):
    """A ball that flies in a step past a heavy one at rest by a part of their size, 1 m; ``before`` of the step is over
    when they touch, ``offset`` is the distance [m] from which it passes the centre.
    """
    model, x = fem.Model("flight"), -np.sqrt(1.0 - offset**2) - before * travel
    a = model.add(fem.RigidBody.sphere(1.0, 0.5, position=[x, offset, 0], velocity=[travel / h, 0, 0], name="A"))
    b = model.add(fem.RigidBody.sphere(1e9, 0.5, name="B"))
    law = {} if stiffness else {"restitution": 1.0}
    contact = fem.SphereOnSphere(a, b, radius_A=0.5, radius_B=0.5, name="hit", **law)
    if stiffness:
        law = {"exponent": 1.0, "restitution": 1.0, "max_indentation": 1.0}
        contact = fem.CompliantContact(contact, stiffness=stiffness, **law)
    model.add(contact)
    return model


def lobatto():
    return fem.LobattoIIIAB(2, divide_failed_steps=False)


def moreau(**options):
    return fem.MoreauJean(divide_failed_steps=False, **options)


@pytest.mark.parametrize("offset, before", [(0.9, 0.97), (0.95, 0.9), (0.97, 0.97)])
def test_an_approach_along_a_normal_that_has_turned_until_the_touch_is_not_reflected(offset, before):
    """The impulse acts a twentieth of the step after the touch, its normal is right; the approach is that of the start.

    The difference is more than a quarter of the speed: the ball would gain as much of its energy.
    """
    normal, v = np.array([-np.sqrt(1.0 - offset**2), offset]), np.array([1.0, 0.0])
    first = np.array([normal[0] - before * 0.45, offset])
    assert abs(v @ normal - v @ first / np.linalg.norm(first)) > 0.25
    with pytest.raises(SolverError, match=r"'hit'.*normal"):
        lobatto().run(flight(0.45, offset, before), h, h)


@pytest.mark.parametrize(("method", "travel"), [(moreau(), 5.0), (lobatto(), 2.5)], ids=["MoreauJean", "LobattoIIIAB"])
def test_a_body_that_touches_at_the_start_does_not_leave_on_the_other_side(method, travel):
    with pytest.raises(SolverError, match=r"'hit'.*passed"):
        method.run(flight(travel, before=0.0), h, h)


METHODS = {
    "DecoupledNSGA": lambda: fem.DecoupledNSGA(divide_failed_steps=False),
    "LobattoIIIAB": lobatto,
    "MoreauJean": moreau,
}


@pytest.mark.parametrize("method", METHODS)
def test_a_body_that_is_in_a_soft_contact_at_the_start_does_not_leave_on_the_other_side(method):
    """It would lose 5e-8 of its speed to a contact that is softer than nothing."""
    with pytest.raises(SolverError, match=r"'hit'.*passed"):
        METHODS[method]().run(flight(2.5, before=-1e-4, stiffness=1e2), h, h)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("stiffness, taken", [(1e5, False), (5e6, True)])
def test_a_force_law_that_takes_most_of_the_approach_in_a_step_is_not_resolved(method, stiffness, taken):
    """The ball ends on the side from which it came, its normal is right, and its energy has not risen."""
    model = flight(0.3, stiffness=stiffness)
    if taken:
        with pytest.raises(SolverError, match=r"'hit'.*force law"):
            METHODS[method]().run(model, h, h)
        return
    # √(k/m) h = 0.32, of which a half is inside: the speed falls by 1 − cos 0.16
    result = METHODS[method]().run(model, h, h)
    assert result["A"].velocity[-1, 0] * h == pytest.approx(0.3 * np.cos(0.5 * np.sqrt(0.1)), rel=0.02)
    assert not result.warnings
