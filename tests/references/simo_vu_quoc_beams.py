"""Beams of two-node elements after Simo and Vu-Quoc (1986, 1988), in a plane and in space; without fem_mbs.

Strains are those of the middle of an element, mass is consistent: the mesh is of second order. Soft beams use
DOP853, stiff ones with generalized-α. Tests: test_numbers_of_beams.py.
"""

from dataclasses import dataclass

import numpy as np
from dense_schemes import auxiliary, coefficients, column
from scipy.integrate import solve_ivp


def consistent(n, length):
    """Mass matrix (n + 1, n + 1) of n elements, density 1."""
    mass, i = np.zeros((n + 1, n + 1)), np.arange(n)
    for a, b, share in ((i, i, 3), (i + 1, i + 1, 3), (i, i + 1, 6), (i + 1, i, 6)):
        np.add.at(mass, (a, b), length / n / share)
    return mass


@dataclass(frozen=True)
class PlanarBeam:
    """n elements; nodes x, y, θ. Stiffnesses EA, GA, EI; masses per length rho and rotary inertia."""

    n: int
    length: float
    EA: float
    GA: float
    EI: float
    rho: float
    inertia: float

    def straight(self, start, end):
        """Nodes (n + 1, 3) on a straight line."""
        start, end = np.array(start, float), np.array(end, float)
        angle = np.arctan2(*(end - start)[::-1])
        line = start + np.outer(np.linspace(0, 1, self.n + 1), end - start)
        return np.column_stack([line, np.full(self.n + 1, angle)])

    def internal(self, q):
        """Forces (n + 1, 3, …) on nodes q (n + 1, 3, …)."""
        size = self.length / self.n
        slope, turn = (q[1:] - q[:-1]) / size, 0.5 * (q[1:, 2] + q[:-1, 2])
        c, s = np.cos(turn), np.sin(turn)
        stretch, shear = c * slope[:, 0] + s * slope[:, 1], -s * slope[:, 0] + c * slope[:, 1]
        N, V, M = self.EA * (stretch - 1), self.GA * shear, self.EI * slope[:, 2]
        force = np.stack([c * N - s * V, s * N + c * V, M], axis=1)
        moment = 0.5 * size * (N * shear - V * stretch)
        f = np.zeros_like(q)
        f[1:] -= force
        f[:-1] += force
        f[1:, 2] -= moment
        f[:-1, 2] -= moment
        return f

    def free(self, q, load, times):
        """Nodes at times (k, n + 1, 3), from rest under forces load(t) on the first; the first time is passed alone."""
        inverse, size = np.linalg.inv(consistent(self.n, self.length)), q.size

        def rates(t, y):
            f = self.internal(y[:size].reshape(q.shape))
            f[0] += load(t)
            return np.concatenate([y[size:], (inverse @ f / [self.rho, self.rho, self.inertia]).ravel()])

        y, start, found = np.concatenate([q.ravel(), np.zeros(size)]), 0.0, []
        for end in times:  # loads may have corners there
            y = solve_ivp(rates, (start, end), y, "DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
            start = end
            found.append(y[:size].reshape(q.shape))
        return np.array(found)

    def clamped(self, q, root, gravity, h, steps, rho_inf=0.9):
        """Courses (steps + 1, n + 1, 3) from rest; root(t): x, y, θ of the first node; gravity along y."""
        _, _, beta, gamma = coefficients(rho_inf)
        share = auxiliary(1.0, 0.0, 0.0, rho_inf)
        M = np.kron(consistent(self.n, self.length), np.diag([self.rho, self.rho, self.inertia]))
        weight = -gravity * M @ np.tile([0.0, 1, 0], self.n + 1)
        rest = slice(3, None)

        def forces(q):
            return self.internal(q.reshape(self.n + 1, 3, -1)).reshape(q.shape) + column(weight)

        q, v = q.ravel().copy(), np.zeros(q.size)
        old = np.zeros_like(q)
        old[rest] = np.linalg.solve(M[rest, rest], forces(column(q))[rest, 0])
        a, course = old, [q.reshape(-1, 3)]
        columns, scale = np.vstack([np.zeros((3, q.size - 3)), np.eye(q.size - 3)]), 1 / (beta * h**2)
        for k in range(1, steps + 1):
            known = auxiliary(0.0, old, a, rho_inf)
            guess = q + h * v + h**2 * ((0.5 - beta) * a + beta * known)
            x = guess.copy()
            x[:3] = root(k * h)
            for _ in range(20):  # M v̇ = f, v̇ = (x − guess)/(β h² share)
                new = scale / share * (x - guess)
                r = (M @ new - forces(column(x))[:, 0])[rest]
                K = -forces(column(x) + 1e-40j * columns).imag[rest] / 1e-40
                change = np.linalg.solve(scale / share * M[rest, rest] + K, r)
                x[rest] -= change
                if np.abs(change).max() < 1e-12:
                    break
            new = scale / share * (x - guess)
            v, a = v + h * ((1 - gamma) * a + gamma * (known + share * new)), known + share * new
            q, old = x, new
            course.append(q.reshape(-1, 3))
        return np.array(course)


# --- in space ---------------------------------------------------------------------------------------------------------


def product(p, q):
    """Of quaternions (4, …), scalar first."""
    return np.array([
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    ])  # fmt: skip


def conjugate(p):
    """Of a quaternion (4, …)."""
    return np.array([p[0], -p[1], -p[2], -p[3]])


@dataclass(frozen=True)
class SpatialBeam:
    """n elements; stiffnesses along e_1, e_2, e_3: ``forces`` EA, GA, GA and ``moments`` GJ, EI, EI; ρA = 1.

    Rotary inertia is the same about all axes, so that nothing gyroscopic acts.
    """

    n: int
    length: float
    forces: tuple
    moments: tuple
    inertia: float

    def energy(self, x, p):
        """Of each element (n, …) with ends x (2, 3, n, …) and quaternions p (2, 4, n, …)."""
        size = self.length / self.n
        between = product(conjugate(p[0]), p[1])
        middle = p[0] + p[1]  # half of the rotation between them
        middle = middle / np.sqrt(np.sum(middle**2, axis=0))
        part = np.sqrt(np.sum(between[1:] ** 2, axis=0) + 1e-30)
        curvature = 2 * np.arctan(part / between[0]) / part * between[1:] / size
        slope = (x[1] - x[0]) / size
        strain = product(conjugate(middle), product(np.array([0 * slope[0], *slope]), middle))[1:]
        strain = strain - np.array([1.0, 0, 0]).reshape(3, *[1] * (strain.ndim - 1))
        return 0.5 * size * (np.tensordot(self.forces, strain**2, 1) + np.tensordot(self.moments, curvature**2, 1))

    def internal(self, x, p):
        """Forces and moments (n + 1, 6) on nodes x (n + 1, 3), p (n + 1, 4): −∂ energy, by complex steps."""
        tiny = 1e-40j * np.eye(12)  # of x_A, θ_A, x_B, θ_B
        ends = np.array([x[:-1].T, x[1:].T])[..., None] + np.array([tiny[:3], tiny[6:9]])[:, :, None, :]
        turned = [
            product(np.array([np.ones(12), *0.5 * turn])[:, None, :], old.T[..., None])  # about spatial axes
            for old, turn in ((p[:-1], tiny[3:6]), (p[1:], tiny[9:]))
        ]
        gradient = self.energy(ends, np.array(turned)).imag / 1e-40
        f = np.zeros((self.n + 1, 6))
        f[:-1] -= gradient[:, :6]
        f[1:] -= gradient[:, 6:]
        return f

    def free(self, start, end, load, times):
        """Places (k, n + 1, 3) at times, from rest on a straight line under load(t) (6,) on the first node."""
        n, start, end = self.n, np.array(start, float), np.array(end, float)
        x = start + np.outer(np.linspace(0, 1, n + 1), end - start)
        axis = (end - start) / np.linalg.norm(end - start)
        half = np.array([1 + axis[0], 0, -axis[2], axis[1]])  # takes e_1 to the axis
        p = np.tile(half / np.linalg.norm(half), (n + 1, 1))
        inverse, ends = np.linalg.inv(consistent(n, self.length)), np.cumsum([3, 4, 6]) * (n + 1)

        def rates(t, y):
            x, p, w = (part.reshape(n + 1, -1) for part in np.split(y, ends[:-1]))
            f = self.internal(x, p / np.linalg.norm(p, axis=1)[:, None])
            f[0] += load(t)
            turn = 0.5 * product(np.array([0 * w[:, 0], *w[:, 3:].T]), p.T).T
            return np.concatenate(
                [w[:, :3].ravel(), turn.ravel(), (inverse @ f / [1, 1, 1, *[self.inertia] * 3]).ravel()]
            )

        y, now, found = np.concatenate([x.ravel(), p.ravel(), np.zeros(6 * (n + 1))]), 0.0, []
        for time in times:
            y = solve_ivp(rates, (now, time), y, "DOP853", rtol=1e-8, atol=1e-9).y[:, -1]
            now = time
            found.append(y[: 3 * (n + 1)].reshape(n + 1, 3))
        return np.array(found)
