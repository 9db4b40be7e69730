"""Bruls2014, section 10: ball, pendulum and block with the schemes of `dense_schemes`; the bar, which is linear.

An oscillator at a wall is added, with the same schemes. Data: fem_mbs/cases/bruls2014.py. Tests: test_numbers_of_*.py.
"""

import numpy as np
from dense_schemes import Model

RHO, THETA = 0.8, 1 / 1.8  # of all examples; of Moreau's scheme, 1/(1 + ρ)


def gap_of_the_first(q):
    """The first of one coordinate is the gap."""
    return q[:1], np.ones((1, 1, q.shape[1]))


BALL = Model(np.ones(1), lambda q, v: -10.0 + 0 * q, gap_of_the_first, restitution=0.8)  # 1 kg, gap 0.801 m
OSCILLATOR = Model(np.ones(1), lambda q, v: -100.0 * q, gap_of_the_first, restitution=0.8)  # 1 kg, 10 rad/s, 1 m


def pendulum_rows(q):
    """Bar of 1 m in x, y, θ, and the wall x ≥ √½."""
    x, y, angle = q
    one, zero, s, c = 1 + 0 * x, 0 * x, np.sin(angle), np.cos(angle)
    return np.array([x - c, y - s, x - np.sqrt(0.5)]), np.array([[one, zero, s], [zero, one, -c], [one, zero, zero]])


PENDULUM = Model(
    np.array([1, 1, 0.1]), lambda q, v: np.array([0, -10.0, 0])[:, None] + 0 * q, pendulum_rows, joints=2,
    restitution=0.8,
)  # fmt: skip
# ρ∞: reactions λ~ of the first joint row in the steps after the first impact [N]
PENDULUM_REACTIONS = {0.8: (-28.50, 1.81, -24.83, -1.96, -21.25), 0.0: (-13.45, -12.80, -12.58, -12.50)}
PENDULUM_START = [np.cos(np.pi / 12), np.sin(np.pi / 12), np.pi / 12]


def block_rows(q, width=1.0, height=1.5):
    """Corners 1 and 2 of the block over the floor, in x, y, θ; (53), (54)."""
    _, y, angle = q
    one, zero = 1 + 0 * y, 0 * y
    s, c = np.sin(angle), np.cos(angle)
    gaps = [y - height / 2 * c + side * width / 2 * s for side in (1, -1)]
    return np.array(gaps), np.array([[zero, one, height / 2 * s + side * width / 2 * c] for side in (1, -1)])


BLOCK = Model(
    np.array([1, 1, (1 + 1.5**2) / 12]), lambda q, v: np.array([0, -9.81, 0])[:, None] + 0 * q, block_rows,
    restitution=0.5,
)  # fmt: skip
BLOCK_START = [0, 1, 0.2]
BLOCK_LATER = ((0.53, 0.8168), (0.62, 0.5039))  # fourth and fifth impact: end of the step [s], impulse [N s]
