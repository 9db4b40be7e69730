"""Capobianco2021, 10.2 to 10.4: ball between planes, ball in a cylinder, Painlevé's rod.

The first two with `three_level_scheme`; before anything happens that depends on a scheme, cylinder and rod are
integrated to round-off. Tests: test_numbers_of_*.py.
"""

import numpy as np
from scipy.integrate import solve_ivp
from three_level_scheme import Contacts

RADIUS, G, MASSES = 0.1, 9.81, np.array([1, 1, 0.004])
WEIGHT = np.array([0, -G, 0])
TUBE, MU = 1.0, 0.1
S = np.sqrt(0.5)


def corner_rows(q):
    """Planes at ±45°, (149)."""
    x, y, _ = q
    one = 1 + 0 * x
    W_N = [[-S * one, S * one, 0 * x], [S * one, S * one, 0 * x]]
    W_F = [[S * one, S * one, RADIUS * one], [S * one, -S * one, RADIUS * one]]
    return np.array([-S * x + S * y - RADIUS, S * x + S * y - RADIUS]), np.array(W_N), np.array(W_F)


def steady(q, u):
    """Rows that do not turn."""
    return np.zeros((2, q.shape[1])), np.zeros((2, q.shape[1]))


CORNER = Contacts(MASSES, WEIGHT, corner_rows, steady, restitution=np.array([0.5, 0.0]), friction=0.3)


def tube(q):
    """Distance of the centre from the axis, inward normal, tangent; (150), (151)."""
    x, y = -q[0], TUBE - q[1]  # from the centre to the axis
    away = np.sqrt(x**2 + y**2)
    n_x, n_y = x / away, y / away
    return away, np.array([n_x, n_y]), np.array([n_y, -n_x])


def tube_rows(q):
    """Gap and rows of the ball in the cylinder."""
    away, n, t = tube(q)
    zero, one = 0 * away, 1 + 0 * away
    return np.array([TUBE - RADIUS - away]), np.array([[*n, zero]]), np.array([[*t, RADIUS * one]])


def tube_turning(q, u):
    """d/dt n·v = −(v·t)²/|r|; d/dt t·v with ṅ = −(v − n n·v)/|r|."""
    away, n, t = tube(q)
    v = u[:2]
    along, n_dot = np.sum(t * v, axis=0), -(v - n * np.sum(n * v, axis=0)) / away
    return np.array([-(along**2) / away]), np.array([n_dot[1] * v[0] - n_dot[0] * v[1]])


CYLINDER = Contacts(MASSES, WEIGHT, tube_rows, tube_turning, restitution=np.zeros(1), friction=MU)


def rod_rows(q):
    """Tip of a rod of 2 m on y = 0, φ clockwise; (152)."""
    _, y, angle = q
    s, c, one = np.sin(angle), np.cos(angle), 1 + 0 * y
    return np.array([y - s]), np.array([[0 * y, one, -c]]), np.array([[one, 0 * y, -s]])


def rod_turning(q, u):
    """Of the tip, which turns about the centre."""
    return np.sin(q[2:]) * u[2:] ** 2, -np.cos(q[2:]) * u[2:] ** 2


ROD = Contacts(np.array([1, 1, 1 / 3]), np.array([0, -10, 0]), rod_rows, rod_turning, np.zeros(1), friction=5 / 3)


def cylinder_motion(times):
    """x, y of the centre and angular speed (k, 3), in contact: angle from the bottom, its rate, angular speed."""
    R = TUBE - RADIUS

    def normal(y):
        return G * np.cos(y[0]) + R * y[1] ** 2

    def slip(y):
        return R * y[1] + RADIUS * y[2]

    def slides(_, y):
        push = -MU * normal(y) * direction
        return [y[1], (-G * np.sin(y[0]) + push) / R, RADIUS * push / MASSES[2]]

    def rolls(_, y):
        rate = -5 / 7 * G * np.sin(y[0]) / R
        return [y[1], rate, -R / RADIUS * rate]

    def sticks(_, y):
        return direction * slip(y)

    def breaks(_, y):  # friction that rolling takes
        return 2 / 7 * G * abs(np.sin(y[0])) - MU * normal(y)

    sticks.terminal = breaks.terminal = True
    sticks.direction, breaks.direction = -1, 1
    t, y, sliding, direction, phases = 0.0, np.array([-np.pi / 2, 0.0, 0.0]), True, 1.0, []
    while t < times[-1]:
        law, end = (slides, sticks) if sliding else (rolls, breaks)
        run = solve_ivp(law, (t, times[-1]), y, "DOP853", dense_output=True, events=end, rtol=1e-12, atol=1e-13)
        phases.append((t, run.sol))
        t, y = run.t[-1], run.y[:, -1]
        sliding, direction = not sliding or breaks(t, y) > 0, -np.sign(y[0])
    angle, _, spin = np.array([[sol for begin, sol in phases if begin <= t][-1](t) for t in times]).T
    return np.column_stack([R * np.sin(angle), TUBE - R * np.cos(angle), spin])


def rod_motion(times):
    """Angle, speed of the centre, angular speed and normal force (k, 4) of the rod of 2 m that slides on its tip; 10.4.

    N of ÿ = l cos φ φ̈ − l sin φ φ̇² with m ÿ = N − m g, ⅓ m l² φ̈ = l (μ sin φ − cos φ) N; μ = 5/3, 10 m/s².
    """
    mu = 5 / 3

    def normal(y):
        s, c = np.sin(y[0]), np.cos(y[0])
        return (10 - s * y[2] ** 2) / (1 + 3 * c * (c - mu * s))

    def rate(_, y):
        N = normal(y)
        return [y[2], -mu * N, 3 * N * (mu * np.sin(y[0]) - np.cos(y[0]))]

    start = [np.radians(31), 30.0, 0.0]
    y = solve_ivp(rate, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13).y
    return np.column_stack([*y, normal(y)])
