"""Sanchez2025: recovered impacts of annex C, rigid roller-crank of A.6.3.

Multiple impacts, B.5.2, B.5.4 and B.5.6, are in `impact_sequence`. Tests: test_numbers_of_*.py.
"""

import numpy as np
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

# B.5.2, half ball on an elastic cloth, μ_b = 0.06: restitution -> final deflection of the cue ball [deg], h = 0.1 ms
RELEASED = {1.0: 36.37, 0.94: 34.47}

# --- recovered impacts, C.6.1 and C.6.2 -------------------------------------------------------------------------------


def damping(law, e):
    """D δ̇_i/K of table C.1."""
    return {
        "flores": 8 * (1 - e) / (5 * e),
        "hu": -6.66264 * np.log(e) / (3.85238 + np.log(e)),
        "zhang": 3 * (1 - e) / (2 * e * (0.6181 * np.exp(-3.52 * e) + 0.899 * np.exp(0.09025 * e))),
    }[law]


def recovered(e, impulse, speed, stiffness, law):
    """Duration [s], largest force [N] and indentation [m] of an impact; exponent 3/2.

    δ̇/δ̇_i = 1 − 3 (1 + e) g² + 2 (1 + e) g³ (C.37a) of τ = t/T, where g has slope a up to τ = k, (C.29), and a is such
    that the indentation vanishes at τ = 1, (C.35), with a k ≤ 1.
    """
    k = 1.7 * e / (1 + 1.7 * e)  # (C.30)

    def end(a):  # ∫ δ̇ dτ of the two pieces, with Simpson's rule: exact for cubics
        warp = [0, a * k / 2, a * k, (a * k + 1) / 2, 1]
        rate = [1 - 3 * (1 + e) * g**2 + 2 * (1 + e) * g**3 for g in warp]
        return k / 6 * (rate[0] + 4 * rate[1] + rate[2]) + (1 - k) / 6 * (rate[2] + 4 * rate[3] + rate[4])

    a = brentq(end, 0.5 / k, 1 / k, xtol=1e-15)
    tau = np.unique(np.concatenate([np.linspace(0, k, 2001), np.linspace(k, 1, 2001)]))
    g = np.where(tau <= k, a * tau, a * k + (1 - a * k) * (tau - k) / (1 - k))
    rate = 1 - 3 * (1 + e) * g**2 + 2 * (1 + e) * g**3
    middle = 0.5 * (g[1:] + g[:-1])  # Simpson again
    between = 1 - 3 * (1 + e) * middle**2 + 2 * (1 + e) * middle**3
    depth = np.concatenate([[0], np.cumsum(np.diff(tau) / 6 * (rate[:-1] + 4 * between + rate[1:]))])
    integral = quad(lambda t: max(np.interp(t, tau, depth), 0) ** 1.5, 0, 1, points=[k], limit=200, epsabs=1e-9)[0]
    T = (impulse / (stiffness * speed**1.5 * integral)) ** 0.4  # (C.39)
    delta = T * speed * depth.clip(0)
    force = stiffness * delta**1.5 * (1 + damping(law, e) * rate)
    return T, force.max(), delta.max()


# --- rigid roller-crank, A.6.3 ----------------------------------------------------------------------------------------

LINK, BAR, RADIUS, G, MU = 0.1, 0.3, 0.05, 9.8, 0.1  # m: crank, rod, roller; m/s²; friction
MASSES, INERTIAS = (0.12, 0.3, 0.1), np.array([0.002, 0.002, 0.001])  # kg, kg m², about the centres


class RollerCrank:
    """Rates of the angles of crank, rod and roller; the roller's centre stays level with the pivot."""

    def __init__(self, state):
        alpha, theta, _, *rates = state
        crank, rod, turn = np.array([np.cos(alpha), np.sin(alpha)]), np.array([np.cos(theta), np.sin(theta)]), rates
        self.rates, quarter = np.array(turn), np.array([[0, -1], [1, 0]])
        M, pull = np.diag(INERTIAS), np.zeros(3)
        for mass, a, b in zip(MASSES, (LINK / 2, LINK, LINK), (0.0, BAR / 2, BAR)):  # centres a e(α) + b e(θ)
            J = np.column_stack([a * quarter @ crank, b * quarter @ rod, [0, 0]])
            bias = -a * crank * turn[0] ** 2 - b * rod * turn[1] ** 2
            M = M + mass * J.T @ J
            pull += mass * J.T @ ([0, -G] - bias)
        self.M, self.pull, self.level, self.bias = M, pull, J[1], bias  # of the roller
        self.slip_row = J[0] + [0, 0, RADIUS]
        self.slip = self.slip_row @ turn

    def accelerations(self, direction):
        """Angular accelerations, normal force and friction; sliding in a direction, or sticking (0)."""
        push = MU * direction * self.slip_row if direction else 0.0
        rows = [self.level] if direction else [self.level, self.slip_row]
        known = -self.bias[[1]] if direction else -self.bias[::-1]
        columns = [self.level - push] if direction else rows
        A = np.block([[self.M, -np.array(columns).T], [np.array(rows), np.zeros((len(rows),) * 2)]])
        x = np.linalg.solve(A, [*self.pull, *known])
        return x[:3], x[3], -MU * direction * x[3] if direction else x[4]


def roller_crank(times):
    """Angle [rad] and speed of the crank, speed and acceleration of the roller, normal force [N], slip [m/s] (k, 6)."""
    sliding, direction = False, 0.0

    def rate(_, y):
        return [*y[3:], *RollerCrank(y).accelerations(direction)[0]]

    def stops(_, y):
        return direction * RollerCrank(y).slip

    def slides(_, y):
        _, N, F = RollerCrank(y).accelerations(0.0)
        return abs(F) - MU * N

    stops.terminal = slides.terminal = True
    stops.direction, slides.direction = -1, 1
    t, y, phases = 0.0, [np.pi / 2, -np.arcsin(LINK / BAR), 0.0, 4.0, 0.0, 8.0], []
    while t < times[-1]:
        run = solve_ivp(rate, (t, times[-1]), y, "DOP853", dense_output=True, events=stops if direction else slides,
                        rtol=1e-11, atol=1e-13)  # fmt: skip
        phases.append((t, run.sol, direction))
        t, y = run.t[-1], run.y[:, -1]
        sliding = not direction or slides(t, y) > 0
        direction = -np.sign(RollerCrank(y).accelerations(0.0)[2]) if sliding else 0.0
    found = []
    for time in times:
        _, sol, direction = [phase for phase in phases if phase[0] <= time][-1]
        state = sol(time)
        crank = RollerCrank(state)
        acceleration, N, _ = crank.accelerations(direction)
        found.append([state[0], state[3], state[5], acceleration[2], N, crank.slip])
    return np.array(found)
