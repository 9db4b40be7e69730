"""Balls with the decoupled scheme and the sequence of impact problems of Sanchez2025, annex B; dense, without fem_mbs.

Smooth motion is exact: gravity is constant. Both corrections are solved contact after contact (Gauss-Seidel), where a
contact alone has a closed form. Tangents and their arms are those of the start of a step, normals those of its end.
Balls rest on the plane z = 0. Tests: test_numbers_of_*.py.
"""

from dataclasses import dataclass

import numpy as np

TOUCH = 1e-8  # m/s, of approach (B.26)


@dataclass(frozen=True)
class Balls:
    """Equal balls; ``cloth`` and ``pair``: (friction, e_N) of contacts with the plane and with each other."""

    radius: float
    mass: float
    inertia: float
    cloth: tuple[float, float]
    pair: tuple[float, float]
    gravity: float = 9.8
    sweeps: int = 5000

    def contacts(self, x):
        """Pairs (A, B) that are not far from each other, B = −1 for the plane."""
        count, reach = len(x), 3 * self.radius
        pairs = [(i, j) for i in range(count) for j in range(i) if np.linalg.norm(x[i] - x[j]) < reach]
        return [(i, -1) for i in range(count)] + pairs

    def laws(self, contacts):
        """Friction and e_N (m,)."""
        return np.array([self.cloth if j < 0 else self.pair for _, j in contacts]).T

    def normals(self, contacts, x):
        """Gaps (m,) and normals (m, 3) from B to A; (B.31) to (B.33)."""
        away = np.array([[0, 0, x[i, 2]] if j < 0 else x[i] - x[j] for i, j in contacts])
        distance = np.linalg.norm(away, axis=1)
        reach = np.array([self.radius if j < 0 else 2 * self.radius for _, j in contacts])
        return distance - reach, away / distance[:, None]

    def rows(self, contacts, normals, directions, count):
        """Rows (m, 6 count) of rates of contact points of A relative to B along directions; (B.34), (B.41)."""
        J = np.zeros((len(contacts), 2, count, 3))  # velocities, angular velocities
        for row, (i, j), n, d in zip(J, contacts, normals, directions):
            for body, sign in ((i, 1.0), (j, -1.0)):
                if body >= 0:
                    row[0, body] = sign * d
                    row[1, body] = -self.radius * np.cross(n, d)
        return J.reshape(len(contacts), -1)

    def step(self, x, v, h):
        """x (k, 3), velocities and angular velocities v (6 k,) at the end of a step, and the number of problems."""
        count = len(x)
        weights = np.repeat([1 / self.mass, 1 / self.inertia], 3 * count)
        contacts = self.contacts(x)
        friction, e = self.laws(contacts)
        _, n_0 = self.normals(contacts, x)
        t_1 = np.cross(np.where(np.abs(n_0[:, 2:]) > 0.9, [[0.0, 1, 0]], [[0.0, 0, 1]]), n_0)
        t_1 /= np.linalg.norm(t_1, axis=1)[:, None]
        tangents = [self.rows(contacts, n_0, t, count) for t in (t_1, np.cross(n_0, t_1))]
        approach = self.rows(contacts, n_0, n_0, count)
        fall = np.zeros((2, count, 3))
        fall[0, :, 2] = -self.gravity
        free = v + h * fall.ravel()
        moved = h * v + 0.5 * h**2 * fall.ravel()  # q~ − q_n, with rotation vectors

        D, nu = moved, np.zeros((3, len(contacts)))
        for _ in range(20):  # position correction: gaps are linear in a pass
            gaps, n = self.normals(contacts, x + D[: 3 * count].reshape(-1, 3))
            J = np.array([self.rows(contacts, n, n, count), *tangents])
            change, nu = gauss_seidel(J, weights, gaps - J[0] @ D, moved, friction, nu, self.sweeps)
            D, old = moved + change, D
            if np.abs(D - old).max() < 1e-15:
                break
        closed = nu[0] > 0
        jump, problems = np.zeros_like(v), 0
        while True:  # (B.24) to (B.28)
            now = closed & (J[0] @ (free + jump) < -TOUCH)
            if not now.any() or problems > 50:
                return x + D[: 3 * count].reshape(-1, 3), free + jump, problems
            bias = e * (approach @ (v + jump))
            W, _ = gauss_seidel(J[:, now], weights, bias[now], free + jump, friction[now], None, self.sweeps)
            jump, problems = jump + W, problems + 1

    def run(self, x, v, h, steps, w=None):
        """Courses (steps + 1, …) of places, velocities and angular velocities (k, 3), and numbers of problems."""
        x, v = np.array(x, float), np.array([v, np.zeros(np.shape(v)) if w is None else w], float).ravel()
        course = [(x, v, 0)]
        for _ in range(steps):
            course.append(self.step(*course[-1][:2], h))
        x, v, problems = map(np.array, zip(*course))
        v = v.reshape(len(v), 2, -1, 3)
        return x, v[:, 0], v[:, 1], problems


def gauss_seidel(J, weights, bias, v, friction, P, most):
    """M⁻¹ Jᵀ P and P (3, m) with 0 ≤ J_N w + bias ⟂ P_N ≥ 0 and Coulomb's law of J_T w, w = v + M⁻¹ Jᵀ P."""
    P = np.zeros(J.shape[:2]) if P is None else P.copy()
    size = np.einsum("amn,n,amn->am", J, weights, J)
    change = weights * np.einsum("amn,am->n", J, P)
    for _ in range(most):
        last = P.copy()
        for i in range(J.shape[1]):
            N = max(0.0, P[0, i] - (J[0, i] @ (v + change) + bias[i]) / size[0, i])
            change = change + weights * J[0, i] * (N - P[0, i])
            T = P[1:, i] - J[1:, i] @ (v + change) / size[1:, i]
            limit, length = friction[i] * N, np.hypot(*T)
            T = T * (limit / length if length > limit else 1.0)
            change = change + weights * ((T - P[1:, i]) @ J[1:, i])
            P[:, i] = N, *T
        if np.abs(P - last).max() <= 1e-11 * np.abs(P).max():
            return change, P
    raise RuntimeError("the contacts do not converge")
