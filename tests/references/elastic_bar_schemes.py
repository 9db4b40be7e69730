"""Bar of linear elements that flies against a wall, Bruls2014, 10.3: M v̇ + K q = G_Nᵀ λ, gap q_0 + 5.005 m.

Linear, with one contact: forces and jumps of a step are linear in its impulse, no iteration is needed.
Tests: test_numbers_of_*.py.
"""

import numpy as np
from dense_schemes import auxiliary, coefficients

E, DENSITY, LENGTH, GAP, SPEED, AREA = 900.0, 1.0, 10.0, 5.005, 10.0, 1.0  # Pa, kg/m³, m, m, m/s, m²
TOUCH, LEAVE = GAP / SPEED, GAP / SPEED + 2 * LENGTH / np.sqrt(E / DENSITY)  # s


# 60 elements, constraints at both levels: Courant number -> energy at 2 s [J], mean and standard deviation of the force
COARSE = {1.2: (493.7, 300.0, 0.8), 6.0: (482.3, 297.9, 10.6)}


def matrices(elements):
    """Consistent mass and stiffness (n, n)."""
    size, n = LENGTH / elements, elements + 1
    M, K = np.zeros((n, n)), np.zeros((n, n))
    for i in range(elements):
        M[i : i + 2, i : i + 2] += DENSITY * AREA * size / 6 * np.array([[2, 1], [1, 2]])
        K[i : i + 2, i : i + 2] += E * AREA / size * np.array([[1, -1], [-1, 1]])
    return M, K


class Bar:
    """Courses (steps + 1, …) of displacements, velocities and impulses over 2 s with one of four schemes."""

    def __init__(self, scheme, elements=200, h=2e-3, rho_inf=0.8):
        self.h, self.rho = h, rho_inf
        self.M, self.K = matrices(elements)
        self.inverse = np.linalg.inv(self.M)
        self.end = self.inverse[:, 0]  # M⁻¹ G_Nᵀ
        n = elements + 1
        state = np.zeros(n), np.full(n, -SPEED), np.zeros(n), np.zeros(n)
        course = [(*state[:2], 0.0)]
        step = getattr(self, scheme)
        for _ in range(round(2 / h)):
            *state, impulse = step(*state)
            course.append((*state[:2], impulse))
        self.q, self.v, self.impulse = map(np.array, zip(*course))
        self.t, self.gap = h * np.arange(len(course)), GAP + self.q[:, 0]
        self.energy = 0.5 * np.sum(self.v @ self.M * self.v + self.q @ self.K * self.q, axis=1)

    @property
    def error(self):
        """Σ |gap − exact| h [m s]."""
        t = self.t
        exact = np.where(t < TOUCH, GAP - SPEED * t, np.maximum(0.0, SPEED * (t - LEAVE)))
        return self.h * np.abs(self.gap - exact).sum()

    def smooth_motion(self, q, v, old, a, jump=0.0, force=0.0):
        """q~, v~, v̇~ and a at the end: M v̇~ = −K (q~ + jump) + force, Bruls2014, (30)."""
        h, (_, _, beta, gamma) = self.h, coefficients(self.rho)
        c = auxiliary(1.0, 0.0, 0.0, self.rho)  # ∂a/∂v̇~
        known = auxiliary(0.0, old, a, self.rho)
        if not hasattr(self, "solved"):
            self.solved = np.linalg.inv(self.M + h**2 * beta * c * self.K)
        start = q + h * v + h**2 * ((0.5 - beta) * a + beta * known)
        new = self.solved @ (force - self.K @ (start + jump))
        return (
            start + h**2 * beta * c * new,
            v + h * ((1 - gamma) * a + gamma * (known + c * new)),
            new,
            known + c * new,
        )

    def coupled(self, q, v, old, a):
        """(29): ν = max(0, …) closes the gap, Λ stops the end if its gap was closed by q~; e = 0."""
        free = self.smooth_motion(q, v, old, a)
        moved = self.smooth_motion(0 * q, 0 * q, 0 * q, 0 * q, self.end)[0] + self.end  # of q by ν = 1
        nu = max(0.0, -(GAP + free[0][0]) / moved[0])
        q_s, v_s, new, a = self.smooth_motion(q, v, old, a, nu * self.end) if nu else free
        impulse = max(0.0, -v_s[0] / self.end[0]) if GAP + q_s[0] <= 0 else 0.0
        return q_s + nu * self.end, v_s + impulse * self.end, new, a, impulse

    def decoupled(self, q, v, old, a):
        """Sanchez2025, (A.2): forces of the correction, f^p = f^v = −K U, do not act on the smooth motion."""
        q_s, v_s, new, a = self.smooth_motion(q, v, old, a)
        if not hasattr(self, "moves"):
            self.moves = np.linalg.inv(self.M + 0.5 * self.h**2 * self.K)[:, 0]
        U = max(0.0, -(GAP + q_s[0]) / self.moves[0]) * self.moves
        W = -self.h * self.inverse @ (self.K @ U)
        impulse = max(0.0, -(v_s + W)[0] / self.end[0]) if U.any() else 0.0
        return q_s + U, v_s + W + impulse * self.end, new, a, impulse

    def smooth(self, q, v, old, a):
        """(51), (52): the gap in positions alone, as a smooth force λ."""
        free = self.smooth_motion(q, v, old, a)
        unit = self.smooth_motion(0 * q, 0 * q, 0 * q, 0 * q, 0.0, np.eye(len(q))[0])
        force = max(0.0, -(GAP + free[0][0]) / unit[0][0])
        return *(x + force * y for x, y in zip(free, unit)), force * self.h

    def moreau(self, q, v, old, _):
        """(50) with θ = 1/(1 + ρ∞); the contact is chosen by the gap at q + h v/2."""
        h, theta = self.h, 1 / (1 + self.rho)
        if not hasattr(self, "solved"):
            self.solved = np.linalg.inv(self.M + (h * theta) ** 2 * self.K)
        start = q + h * (1 - theta) * v
        v_1 = self.solved @ (self.M @ (v + h * (1 - theta) * old) - h * theta * self.K @ start)
        near, unit = GAP + (q + 0.5 * h * v)[0] <= 0, self.solved[:, 0]
        impulse = max(0.0, -v_1[0] / unit[0]) if near else 0.0
        v_1 = v_1 + impulse * unit
        q_1 = start + h * theta * v_1
        return q_1, v_1, -self.inverse @ (self.K @ q_1), 0.0, impulse
