"""Sanchez2025, chapter 4: the ball bearing under radial load, over a whole turn of its cage."""

import numpy as np
import pytest
import rigid_ball_bearing as example

import fem_mbs as fem


@pytest.mark.slow
@pytest.mark.parametrize("approach", ["slower", "start"])
def test_cage_speed_and_loads_over_a_turn_of_the_cage(approach):
    """Speed ratio 0.3813; each ball carries 0 to 100 N, all of the load at the lowest point, all balls the same way.

    The source shows it over 1 s. Not reproduced: that no value is above 100 N. With a restitution of 0.9 balls and
    races hit each other, up to 600 N as impulse over the step; the numbers below are medians over some degrees,
    which impacts do not move.
    """
    model, bearing = example.build()
    result = fem.DecoupledNSGA(rho_inf=0.0, approach=approach).run(model, t_end=0.35, h=5e-5)
    beta, force = example.passing(result, bearing)
    later = result.t > 0.02
    turned = np.unwrap(beta, axis=0)[later]
    ratio = (turned[-1] - turned[0]) / (result.t[-1] - result.t[later][0]) / example.speed
    assert ratio == pytest.approx(bearing.speed_ratio, abs=1e-4)  # 1e-5 to 5e-5 measured; with
    # 103, 100 and 97 µs 2e-6 to 4e-4, by chance: between two races balls have more impacts in a step than is solved
    assert bearing.speed_ratio == pytest.approx(0.3813, abs=5e-5)
    edges = np.radians(np.arange(-60.0, 61.0, 6.0))
    middle = 0.5 * (edges[1:] + edges[:-1])
    medians = example.bands(beta[later], force[later], edges)
    # now and then one ball carries all while the race swings: medians differ by up to 5 N. With "start" that is so for
    # half of the time off the lowest point, in some runs (steps of 97, 99 and 100 µs differ): up to all of the load.
    # At -39° a ball that enters the zone is often not yet touched: 0 for 15 N, left out; with "start" at -33° as well
    inside = (middle < np.radians(36)) & (middle > -np.radians(30 if approach == "start" else 36))
    expected = example.load * bearing.share(middle)
    swings = inside & (np.abs(middle) < np.radians(12)) & (approach == "start")
    assert medians[inside & ~swings] == pytest.approx(expected[inside & ~swings], abs=8.0)
    assert (medians[swings] > expected[swings] - 8.0).all()
    assert (medians[swings] < example.load + 8.0).all()
    assert medians[np.abs(middle) > np.radians(45)] == pytest.approx(0.0, abs=0.5)
    for j in range(bearing.balls):
        near = np.abs(beta[later, j]) < np.radians(5)
        assert np.median(force[later, j][near]) == pytest.approx(example.load, rel=0.08)
    assert np.sum(force * np.cos(beta), axis=1)[later].mean() == pytest.approx(example.load, rel=1e-3)
    # contacts gave the inner race the impulse of the load and what it moves with, to what the iterations leave: 7e-11
    given = np.zeros(3)
    for contact in bearing.inner_contacts:
        c = result[contact.name]
        axes = np.concatenate([c.normal[:, None], c.tangents.reshape(-1, 2, 3)], axis=1)
        given -= np.einsum("kt,ktj->j", c.impulse[1:], axes[1:])  # their first body is the ball
    velocity = result["inner race"].velocity[:, 1]
    assert given[1] - example.load * result.t[-1] == pytest.approx(1.25 * (velocity[-1] - velocity[0]), abs=1e-8)
