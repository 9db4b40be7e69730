"""Contacts that stick or slip in whole steps of Lobatto IIIA-IIIB: when they are taken to, and when they are not.

Forces are constant in these models, so that the motion of the scheme is exact: a step in which a contact does not what
it was taken to do shows at once.
"""

import loaded_ball
import numpy as np
import pytest

import fem_mbs as fem

STAGES = pytest.mark.parametrize("stages", [2, 3, 4, 5, 6])
m, r, g, h = 2.0, 0.1, 9.81, 0.01  # kg, m, m/s², s
J = 0.4 * m * r**2
EXACT = 1e-11  # m, rad, m/s: forces are solved to 1e-10 of the weight


def ball(velocity=(0, 0, 0), spin=(0, 0, 0), gravity=g, **laws):
    """A ball on a table, with moments (3,) [N m] where they are given."""
    moment = laws.pop("moment", None)
    model = fem.Model("ball", gravity=[0, 0, -gravity])
    body = model.add(
        fem.RigidBody.sphere(m, r, position=[0, 0, r], velocity=velocity, angular_velocity=spin, name="ball")
    )
    model.add(fem.SphereOnPlane(body, model.ground, radius=r, name="table", **laws))
    if moment is not None:
        model.add(fem.PointMoment(body.frame(), moment, name="moment"))
    return model


def state(stages, model, steps=1):
    """Position, rotation vector about fixed axes, velocity, angular velocity of the ball after some steps."""
    last = fem.LobattoIIIAB(stages).run(model, steps * h, h)["ball"]
    turned = fem.rotations.log(last.rotation[-1])
    return last.position[-1], turned, last.velocity[-1], last.rotation[-1] @ last.angular_velocity[-1]


@STAGES
@pytest.mark.parametrize("excess", [-0.05, 0.05])
def test_a_ball_begins_to_roll_in_the_step_in_which_its_resistance_yields(stages, excess):
    rho = 0.02
    moment = (1 + excess) * rho * m * g
    x, turned, v, w = state(stages, ball(friction=1.0, rolling_resistance=rho, moment=[0, moment, 0]))
    alpha = max(moment - rho * m * g, 0.0) / (J + m * r**2)
    assert w == pytest.approx([0, alpha * h, 0], abs=EXACT) and v == pytest.approx([alpha * r * h, 0, 0], abs=EXACT)
    assert turned == pytest.approx([0, alpha * h**2 / 2, 0], abs=EXACT)
    assert x == pytest.approx([alpha * r * h**2 / 2, 0, r], abs=EXACT)


@STAGES
@pytest.mark.parametrize("excess", [-0.05, 0.05])
def test_a_ball_begins_to_spin_in_the_step_in_which_its_resistance_yields(stages, excess):
    sigma = 0.02
    moment = (1 + excess) * sigma * m * g
    _, turned, _, w = state(stages, ball(friction=1.0, spinning_resistance=sigma, moment=[0, 0, moment]))
    alpha = max(moment - sigma * m * g, 0.0) / J
    assert w == pytest.approx([0, 0, alpha * h], abs=EXACT)
    assert turned == pytest.approx([0, 0, alpha * h**2 / 2], abs=EXACT)


@STAGES
@pytest.mark.parametrize("rho", [0.019, 0.021])
def test_a_ball_that_slides_begins_to_turn_where_friction_overcomes_its_resistance_to_rolling(stages, rho):
    """Sliding slips from the start, rolling is at rest: its cone has to yield while the other slips."""
    mu, speed, steps = 0.2, 3.0, 20
    x, turned, v, w = state(stages, ball([speed, 0, 0], friction=mu, rolling_resistance=rho), steps)
    t, alpha = steps * h, max(mu * r - rho, 0.0) * m * g / J
    assert w == pytest.approx([0, alpha * t, 0], abs=100 * EXACT)
    assert turned == pytest.approx([0, alpha * t**2 / 2, 0], abs=100 * EXACT)
    assert v == pytest.approx([speed - mu * g * t, 0, 0], abs=100 * EXACT)
    assert x[0] == pytest.approx(speed * t - mu * g * t**2 / 2, abs=100 * EXACT)


@STAGES
@pytest.mark.parametrize("along", [0.0, 2.0])
def test_a_ball_that_touches_and_approaches_at_the_start_has_its_impact(stages, along):
    """A closed contact whose bodies approach does not last: Newton's law and the cone act on the whole impulse."""
    mu, e, approach = 0.1, 0.5, 2.0
    _, _, v, w = state(stages, ball([along, 0, -approach], gravity=0.0, friction=mu, restitution=e))
    tangential = mu * (1 + e) * approach if along else 0.0  # m/s: it slides through the impact
    assert v == pytest.approx([along - tangential, 0, e * approach], abs=EXACT)
    assert w == pytest.approx([0, m * r * tangential / J, 0], abs=EXACT)


@STAGES
def test_a_contact_that_changes_does_not_disturb_others(stages):
    """Order 2 s − 2 of a ball that slides in a curve, whatever another body does that never touches it."""
    alone = loaded_ball.loaded_ball(True)
    both = loaded_ball.loaded_ball(True)
    slope = both.ground.frame([5, 0, 0], rotation=[0, 0.3, 0])
    # it slips on the slope although it starts at rest, and is hit by what falls on it
    block = both.add(fem.PointMass(1.0, position=[5, 0, 0], name="block"))
    both.add(fem.SphereOnPlane(block, slope, radius=0.0, friction=0.1, name="slope"))
    hopping = both.add(fem.PointMass(1.0, position=[0, 9, 1e-3], name="hopping"))
    both.add(fem.SphereOnPlane(hopping, both.ground, radius=0.0, friction=0.3, restitution=0.3, name="floor"))
    results = [fem.LobattoIIIAB(stages).run(model, 0.1, 5e-3) for model in (alone, both)]
    assert results[1]["floor"].impact.sum() >= 3
    positions = [result["ball"].position for result in results]
    assert np.abs(positions[0] - positions[1]).max() < 1e-9


@pytest.mark.parametrize("slides", [False, True])
def test_contacts_that_last_are_given_the_iterations_that_they_need(slides):
    """Left to other rows after two iterations, which are of lower order, the ball was up to 0.15 mm off its path."""
    results = [fem.LobattoIIIAB(3, max_iterations=n).run(loaded_ball.loaded_ball(slides), 0.1, h) for n in (2, 30)]
    assert [result.statistics["unsolved_lasting_contacts"] for result in results] == [0, 0]
    few, many = (result["ball"].position for result in results)
    assert few == pytest.approx(many, abs=1e-9)
