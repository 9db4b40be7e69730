"""Schemes of Bruls2014 for small models in R^n, from its equations, dense and without fem_mbs.

`Coupled` has constraints at both levels, `Smooth` gaps in positions alone, `Moreau` in velocities. Each step solves
residual(x) = 0 by a semismooth Newton method: branches are chosen by real parts, the Jacobian is that of complex steps,
exact to round-off. Models and residuals therefore take columns: q, v are (n, k), one column for each perturbation.

    symbol   code    meaning
    g, G     rows    gaps and constraints (m, k) and their gradient (m, n, k); joints come first
    f        force   forces (n, k) of q, v
    M        masses  constant and diagonal (n,)

Tests: test_numbers_of_*.py.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

TINY = 1e-40  # of a complex step


def newton(residual: Callable, x: np.ndarray, tolerance: float = 1e-11, most: int = 50) -> tuple[np.ndarray, int]:
    """Zero of a residual of columns (n, k) -> (n, k), and the number of updates."""
    perturbed = 1j * TINY * np.eye(len(x))
    for count in range(most):
        R = residual(x[:, None] + perturbed)
        if np.abs(R.real).max() < tolerance:
            return x, count
        x = x - np.linalg.solve(R.imag / TINY, R.real[:, 0])
    raise RuntimeError(f"no convergence: largest residual {np.abs(R.real).max():.1e}")


def branch(active: np.ndarray, closed: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Rows of ``closed`` where the real part of ``active`` is not negative, else of ``other``."""
    return np.where(active.real >= 0, closed, other)


def push(G: np.ndarray, P: np.ndarray) -> np.ndarray:
    """Gᵀ P (n, k)."""
    return np.einsum("mnk,mk->nk", G, P)


def rate(G: np.ndarray, v: np.ndarray) -> np.ndarray:
    """G v (m, k)."""
    return np.einsum("mnk,nk->mk", G, v)


def column(x: np.ndarray) -> np.ndarray:
    """One column (n, 1) of a vector."""
    return np.asarray(x, float)[:, None]


def split(x: np.ndarray, *sizes: int) -> list[np.ndarray]:
    """Parts of x of these numbers of rows."""
    return np.split(x, np.cumsum(sizes)[:-1])


@dataclass(frozen=True)
class Model:
    """M v̇ = f + Gᵀ λ with ``joints`` rows g = 0 and others g ≥ 0; impacts with ``restitution``."""

    masses: np.ndarray
    force: Callable
    rows: Callable
    joints: int = 0
    restitution: float = 0.0

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of coordinates and of rows."""
        n = len(self.masses)
        return n, len(self.rows(np.zeros((n, 1)))[0])

    def start(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and joint forces at rest, where G v̇ = 0 of the joints."""
        (n, _), b = self.sizes, self.joints
        G = self.rows(column(q))[1][:b, :, 0]
        f = self.force(column(q), np.zeros((n, 1)))[:, 0]
        A = np.block([[np.diag(self.masses), -G.T], [G, np.zeros((b, b))]])
        return tuple(split(np.linalg.solve(A, [*f, *np.zeros(b)]), n, b))


def coefficients(rho_inf: float) -> tuple[float, float, float, float]:
    """α_m, α_f, β, γ; Bruls2014, (31)."""
    alpha_m, alpha_f = (2 * rho_inf - 1) / (rho_inf + 1), rho_inf / (rho_inf + 1)
    gamma = 0.5 + alpha_f - alpha_m
    return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma


def auxiliary(new: np.ndarray, old: np.ndarray, a: np.ndarray, rho_inf: float) -> np.ndarray:
    """a_{n+1} of accelerations at the end and at the start of a step and of a_n; Bruls2014, (30e)."""
    alpha_m, alpha_f, _, _ = coefficients(rho_inf)
    return ((1 - alpha_f) * new + alpha_f * old - alpha_m * a) / (1 - alpha_m)


def course(scheme, steps: int) -> dict[str, np.ndarray]:
    """What a scheme records at the start and at the end of each step: name -> (steps + 1, …)."""
    records = [scheme.record()]
    for _ in range(steps):
        scheme.step()
        records.append(scheme.record())
    return {name: np.array([one[name] for one in records]) for name in records[0]}


class Coupled:
    """From rest at q with constraints at both levels; (29), (30), with the sets (38), r = 1."""

    def __init__(self, model: Model, q, h: float, rho_inf: float):
        (n, m), b = model.sizes, model.joints
        self.model, self.h, self.rho_inf, self.sizes = model, h, rho_inf, (n, b, n, m, m)
        self.joint = (np.arange(m) < b)[:, None]
        self.q, self.v, (self.old, self.force) = np.array(q, float), np.zeros(n), model.start(q)
        self.a, self.impulse, self.count = self.old, np.zeros(m), 0

    def record(self):
        return {"q": self.q, "v": self.v, "impulse": self.impulse, "force": self.force, "count": self.count}

    def advance(self, x):
        """q~, v~ and a at the end of the step."""
        h, (_, _, beta, gamma) = self.h, coefficients(self.rho_inf)
        a = auxiliary(split(x, *self.sizes)[0], column(self.old), column(self.a), self.rho_inf)
        q = column(self.q + h * self.v + h**2 * (0.5 - beta) * self.a) + h**2 * beta * a
        return q, column(self.v + h * (1 - gamma) * self.a) + h * gamma * a, a

    def residual(self, x):
        acceleration, lam, U, nu, Lam = split(x, *self.sizes)
        model, M, b = self.model, column(self.model.masses), self.model.joints
        free_q, free_v, _ = self.advance(x)
        g, G = model.rows(free_q + U)
        v = free_v + push(G, Lam) / M
        before = model.restitution * rate(model.rows(column(self.q))[1], column(self.v))
        xi = rate(G, v) + np.where(self.joint, 0.0, before)
        A = np.where(self.joint, 1.0, nu - g)
        B = np.where(self.joint, 1.0, np.where(model.rows(free_q)[0].real <= 0, Lam - xi, -1.0))
        return np.concatenate([
            M * acceleration - model.force(free_q + U, v) - push(G[:b], lam), rate(G[:b], free_v),
            M * U - push(G, nu), branch(A, g, nu), branch(B, xi, Lam),
        ])  # fmt: skip

    def step(self):
        rest = np.zeros(sum(self.sizes[2:]))
        x, self.count = newton(self.residual, np.concatenate([self.old, self.force, rest]))
        free_q, self.v, self.a = (part[:, 0] for part in self.advance(column(x)))
        self.old, self.force, U, _, self.impulse = split(x, *self.sizes)
        self.q = free_q + U
        self.v = self.v + self.model.rows(column(self.q))[1][..., 0].T @ self.impulse / self.model.masses


class Smooth:
    """From rest at q: the generalized-α method with gaps in positions alone; (51), (52)."""

    def __init__(self, model: Model, q, h: float, rho_inf: float):
        self.model, self.h, self.rho_inf = model, h, rho_inf
        self.q, self.v, (self.old, _) = np.array(q, float), np.zeros(model.sizes[0]), model.start(q)
        self.a = self.old

    def record(self):
        return {"q": self.q, "v": self.v}

    def advance(self, acceleration):
        """q, v and a at the end of the step."""
        h, (_, _, beta, gamma) = self.h, coefficients(self.rho_inf)
        a = auxiliary(acceleration, column(self.old), column(self.a), self.rho_inf)
        q = column(self.q + h * self.v + h**2 * (0.5 - beta) * self.a) + h**2 * beta * a
        return q, column(self.v + h * (1 - gamma) * self.a) + h * gamma * a, a

    def residual(self, x):
        acceleration, lam = split(x, *self.model.sizes)
        q, v, _ = self.advance(acceleration)
        g, G = self.model.rows(q)
        inertia = column(self.model.masses) * acceleration
        return np.concatenate([inertia - self.model.force(q, v) - push(G, lam), branch(lam - g, g, lam)])

    def step(self):
        n, m = self.model.sizes
        x, _ = newton(self.residual, np.concatenate([self.old, np.zeros(m)]))
        self.q, self.v, self.a = (part[:, 0] for part in self.advance(column(x[:n])))
        self.old = x[:n]


class Moreau:
    """From rest at q: Moreau's scheme (50), with the contacts whose gaps are closed at q + h v/2."""

    def __init__(self, model: Model, q, h: float, theta: float):
        self.model, self.h, self.theta = model, h, theta
        self.joint = (np.arange(model.sizes[1]) < model.joints)[:, None]
        self.q, self.v, self.impulse = np.array(q, float), np.zeros(model.sizes[0]), np.zeros(model.sizes[1])

    def record(self):
        return {"q": self.q, "v": self.v, "impulse": self.impulse}

    def acceleration(self, q, v):
        """M⁻¹ f of columns."""
        return self.model.force(q, v) / column(self.model.masses)

    def residual(self, x):
        h, theta, model, (q, v) = self.h, self.theta, self.model, (column(self.q), column(self.v))
        v_1, Lam = split(x, *model.sizes)
        q_1 = q + h * (1 - theta) * v + h * theta * v_1
        _, G = model.rows(q_1)
        free = v + h * (1 - theta) * self.acceleration(q, v) + h * theta * self.acceleration(q_1, v_1)
        xi = rate(G, v_1) + np.where(self.joint, 0.0, model.restitution * rate(model.rows(q)[1], v))
        near = model.rows(q + 0.5 * h * v)[0] <= 0
        B = np.where(self.joint, 1.0, np.where(near, Lam - xi, -1.0))
        return np.concatenate([column(model.masses) * (v_1 - free) - push(G, Lam), branch(B, xi, Lam)])

    def step(self):
        h, theta, (n, m) = self.h, self.theta, self.model.sizes
        x, _ = newton(self.residual, np.concatenate([self.v, np.zeros(m)]))
        self.q = self.q + h * (1 - theta) * self.v + h * theta * x[:n]
        self.v, self.impulse = x[:n], x[n:]
