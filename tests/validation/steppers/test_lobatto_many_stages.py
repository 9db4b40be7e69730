"""Lobatto IIIA-IIIB with five and six stages: orders 8 and 10 in coarse steps, energy, accelerations, tolerances."""

import double_pendulum
import heavy_top
import loaded_ball
import numpy as np
import pytest
import references
from references import rotation_error
from test_lobatto import (
    NODES,
    TIMES,
    ball_motion,
    free_top,
    free_top_motion,
    lobatto,
    mean_energy_errors,
    pendulum_motion,
)
from test_lobatto_contacts import ball as ball_with_spin

import fem_mbs as fem


def top(stages, h):
    """Errors of rotation and angular velocity of a free top after 2 s, which turns by 0.5 to 1 rad in a step."""
    body, y = lobatto(stages).run(free_top(), 2.0, h)["top"], free_top_motion()[-1]
    return [rotation_error(body.rotation[-1:], y[None, :9].reshape(-1, 3, 3)),
            np.abs(body.angular_velocity[-1] - y[9:]).max()]  # fmt: skip


def pendulum(stages, h):
    """Errors of position, velocity and of forces and moments of both hinges of the double pendulum after 0.5 s."""
    nodes = NODES["off"]
    result, exact = lobatto(stages).run(double_pendulum.build(*nodes), TIMES[-1], h), pendulum_motion()[-1]
    assert result.violation.position.max() < 3e-13 and result.violation.velocity.max() < 1e-12
    body, tip = result["body 2"], exact.R2 @ nodes[1]
    velocity = np.cross(exact.w1, exact.p2) + np.cross(exact.w2, tip)
    efforts = [getattr(result[joint], effort)[-1] for joint in ("joint 1", "joint 2") for effort in ("force", "moment")]
    return [np.abs(body.position[-1] - exact.p2 - tip).max(), np.abs(body.velocity[-1] - velocity).max(),
            np.abs(np.hstack(efforts) - exact.efforts()).max()]  # fmt: skip


def ball(slides, stages, h):
    """Errors of the loaded ball that rolls or slides, after 0.4 s; no step is repeated."""
    x, R, v, _ = ball_motion(slides)
    result = lobatto(stages).run(loaded_ball.loaded_ball(slides), 0.4, h)
    body = result["ball"]
    assert result.statistics["repeated_steps"] == 0 and result["table"].gap.min() > -2e-13
    return [np.abs(body.position[-1] - x[-1]).max(), rotation_error(body.rotation[-1:], R[-1:]),
            np.abs(body.velocity[-1] - v[-1]).max()]  # fmt: skip


def rolling(stages, h):
    return ball(False, stages, h)


def sliding(stages, h):
    return ball(True, stages, h)


ORDERS = [  # the coarser of two steps, the largest error with the finer one
    (top, 5, 0.4, 1e-10), (top, 6, 0.5, 1e-12), (pendulum, 5, 0.1, 5e-7), (pendulum, 6, 0.1, 2e-9),
    (rolling, 5, 0.1, 2e-12), (rolling, 6, 0.2, 2e-12), (sliding, 5, 0.05, 3e-12),
]  # fmt: skip


@pytest.mark.parametrize("errors, stages, h, bound", ORDERS, ids=lambda p: getattr(p, "__name__", None))
def test_the_order_is_twice_the_number_of_stages_less_two(errors, stages, h, bound):
    coarse, fine = (np.array(errors(stages, step)) for step in (h, h / 2))
    assert fine.max() < bound  # an order alone does not show that the limit is right
    assert np.log2(coarse / fine) == pytest.approx(2 * stages - 2, abs=0.7)  # 0.1 … 0.6: steps are coarse


def test_six_stages_follow_a_ball_whose_sliding_direction_rotates_to_round_off_of_the_reference():
    """Of order 9 to 11 between steps of 0.1 and 0.04 s: above them steps are too coarse, below there is round-off."""
    assert max(sliding(6, 0.1)) < 1e-8 and max(sliding(6, 0.05)) < 1e-11


@pytest.mark.parametrize("stages", [5, 6])
def test_a_ball_with_spin_has_the_impulses_of_the_source(stages):
    result = fem.LobattoIIIAB(stages).run(ball_with_spin(0.0, 50.0), 0.5, 1e-2)
    table, impact = result["table"], np.flatnonzero(result["table"].impact)
    assert result.t[impact] == pytest.approx([0.43])
    assert table.impulse[impact[0], 0] == pytest.approx(4.2183, abs=1e-10)
    assert np.linalg.norm(table.impulse[impact[0], 1:]) == pytest.approx(0.84366, abs=1e-10)  # μ times it
    assert table.impulse[-1, 0] == pytest.approx(9.81e-2, abs=1e-9) and table.gap.min() > -4e-13


def test_accelerations_in_closed_contact_are_of_the_order_of_the_last_multipliers():
    def error(h):
        body = lobatto(5).run(loaded_ball.loaded_ball(False), 0.4, h)["ball"]
        state = body.rotation[-1], body.velocity[-1], body.angular_velocity[-1]
        return np.abs(body.acceleration[-1] - loaded_ball.accelerations(*state, False)[0]).max()

    assert np.log2(error(0.04) / error(0.02)) == pytest.approx(4, abs=0.3)


def test_the_energy_of_a_heavy_top_does_not_drift_in_coarse_steps():
    """Six stages, half a revolution of the slow motion in six steps; a drift would grow with the number of steps."""
    result = lobatto(6).run(heavy_top.build(heavy_top.SLOW, heavy_top.arm), 20.0, 0.1)
    first, last = mean_energy_errors(result)
    assert abs(first) < 1e-4 * 114.0 and abs(last) < 3 * abs(first) + 1e-6, (first, last)


def test_a_tolerance_is_kept_with_more_stages_than_the_estimate_of_the_error_has():
    nodes = double_pendulum.center_1, double_pendulum.center_2
    control = fem.StepControl(tolerance=1e-7, h_max=0.1)
    result = fem.LobattoIIIAB(5, rtol=1e-12, step_control=control).run(double_pendulum.build(*nodes), 0.5, 1e-3)
    motion = references.double_pendulum_motion(np.array([0.0, 0.5]))[1]
    assert rotation_error(result["body 2"].rotation[-1:], np.array([motion.R2])) < 1e-9
    assert len(result.t) < 40
