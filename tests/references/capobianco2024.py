"""Capobianco2024, section 6: ball, slider-crank with clearance, point on an exponential slope; with `lobatto_scheme`.

Tests: test_numbers_of_*.py.
"""

import numpy as np
from lobatto_scheme import Planar
from scipy.integrate import solve_ivp


def weight(masses, g, vertical):
    """f: gravity along −y of the coordinates at these numbers."""
    load = np.zeros((len(masses), 1))
    load[vertical, 0] = -g * np.asarray(masses)[vertical]
    return lambda q, v: load + 0 * q


def ball_rows(q, radius=0.1):
    """Ball on y = 0."""
    zero, one = 0 * q[0], 1 + 0 * q[0]
    g = np.zeros((0, q.shape[1])), np.zeros((0, 3, q.shape[1]))
    return *g, q[1:2] - radius, np.array([[zero, one, zero]]), np.array([[one, zero, radius * one]])


def ball(normal, tangential=0.0):
    """6.1: 1 kg, 0.1 m."""
    masses = np.array([1, 1, 0.004])
    return Planar(masses, weight(masses, 9.81, [1]), ball_rows, 0, 1, normal, tangential, 0.2)


def slope_rows(q):
    """6.3: g_N = (y − e^−x)/N, N = √(1 + e^−2x), that is n(x)·(q − f(x)); W_N is its gradient, W_F the tangent."""
    x, y = q
    f = np.exp(-x)
    N = np.sqrt(1 + f**2)
    slope = f / N + (y - f) * f**2 / N**3
    g = np.zeros((0, q.shape[1])), np.zeros((0, 2, q.shape[1]))
    return *g, np.array([(y - f) / N]), np.array([[slope, 1 / N]]), np.array([[1 / N, -f / N]])


SLOPE = Planar(np.ones(2), weight(np.ones(2), 10.0, [1]), slope_rows, 0, 1, friction=0.3)


def slope_motion(height):
    """Place and velocity (2,) at 1.6 s, time and x of rest: x and the speed w along the slope, to round-off.

    It falls from rest; the impact takes the normal speed and μ times as much of the other. Then
    ẇ = g e^−x/N − μ (g/N + e^−x w²/N³), ẋ = w/N.
    """
    touch = np.sqrt(2 * (height - 1) / 10)

    def rate(_, y):
        f = np.exp(-y[0])
        N = np.sqrt(1 + f**2)
        return [y[1] / N, 10 * f / N - 0.3 * (10 / N + f * y[1] ** 2 / N**3)]

    def rests(t, y):
        return y[1] if t > touch + 0.1 else 1.0

    rests.terminal = True
    start = [0.0, 10 * touch * (1 - 0.3) * np.sqrt(0.5)]
    run = solve_ivp(rate, (touch, 5), start, "DOP853", dense_output=True, events=rests, rtol=1e-12, atol=1e-13)
    x, w = run.sol(1.6)
    f = np.exp(-x)
    return np.array([x, f]), w * np.array([1, -f]) / np.sqrt(1 + f**2), run.t[-1], run.y[0, -1]


CRANK, ROD, HALF, LOW, WALLS = 0.153, 0.306, 0.05, 0.025, 0.052  # m
MECHANISM_MASSES = np.array([0.038, 0.038, 7.4e-5, 0.038, 0.038, 5.9e-4, 0.076, 0.076, 2.7e-6])
CORNERS = np.array([(-1, 1), (1, 1), (-1, -1), (1, -1)])  # left or right, top or bottom


def mechanism_rows(q):
    """6.2: x, y, φ of crank, rod and slider; hinges at the origin, between the links, in the slider; four corners."""
    k = q.shape[1]
    x, y, angle = q[0::3], q[1::3], q[2::3]
    s, c = np.sin(angle), np.cos(angle)
    g, W_g = np.zeros((6, k), q.dtype), np.zeros((6, 9, k), q.dtype)
    arms = [(None, 0, 0, CRANK / 2), (0, 1, CRANK / 2, ROD / 2), (1, 2, ROD / 2, 0.0)]
    for row, (before, body, out, into) in zip((0, 2, 4), arms):  # x_body − into e_body = x_before + out e_before
        for i, (place, along, turn) in enumerate(((x, c, -s), (y, s, c))):
            g[row + i] = place[body] - into * along[body]
            W_g[row + i, 3 * body + i], W_g[row + i, 3 * body + 2] = 1, -into * turn[body]
            if before is not None:
                g[row + i] -= place[before] + out * along[before]
                W_g[row + i, 3 * before + i], W_g[row + i, 3 * before + 2] = -1, -out * turn[before]
    g_N, W_N, W_F = np.zeros((4, k), q.dtype), np.zeros((4, 9, k), q.dtype), np.zeros((4, 9, k), q.dtype)
    for i, (side, up) in enumerate(CORNERS):
        high = side * HALF * s[2] + up * LOW * c[2]  # of the corner over the centre
        g_N[i] = WALLS / 2 - up * (y[2] + high)
        W_N[i, 7], W_N[i, 8] = -up, -up * (side * HALF * c[2] - up * LOW * s[2])
        W_F[i, 6], W_F[i, 8] = 1, -high
    return g, W_g, g_N, W_N, W_F


MECHANISM = Planar(
    MECHANISM_MASSES, weight(MECHANISM_MASSES, 9.81, [1, 4, 7]), mechanism_rows, 6, 4, normal=0.4, friction=0.01
)
MECHANISM_START = (
    [CRANK / 2, 0, 0, CRANK + ROD / 2, 0, 0, CRANK + ROD, 0, 0.017],
    [0, 11.475, 150, 0, 11.475, -75, 0, 0, 0],
)


def mechanism_energy(q, v):
    """Kinetic and potential energies (steps + 1,)."""
    return 0.5 * v**2 @ MECHANISM_MASSES + 9.81 * q[:, [1, 4, 7]] @ MECHANISM_MASSES[[1, 4, 7]]
