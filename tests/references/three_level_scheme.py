"""Scheme of Capobianco2021 for planar contacts with friction, and Moreau's scheme for comparison; dense, without
fem_mbs.

Unknowns (126) without joints: a, U, Q, κ_N, Λ_N, λ_N, Λ_F, λ_F; residuals (127) to (142), index sets of r. Masses are
constant, e_F = 0. Tests: test_numbers_of_*.py.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from dense_schemes import auxiliary, coefficients, column, newton, push, rate, split


@dataclass(frozen=True)
class Contacts:
    """Body in x, y, φ; functions take and give columns.

    ``rows(q)``: gaps (m, k), W_Nᵀ and W_Fᵀ (m, 3, k); ``turning(q, u)``: what rates of W_Nᵀ, W_Fᵀ add to g̈_N, γ̇_F.
    """

    masses: np.ndarray
    force: np.ndarray
    rows: Callable
    turning: Callable
    restitution: np.ndarray  # e_N (m,)
    friction: float


class ThreeLevels:
    """From rest at q, where no contact acts: constraints on positions, velocities and accelerations."""

    def __init__(self, model: Contacts, q, h: float, rho_inf: float, r: float):
        m = len(model.restitution)
        self.model, self.h, self.rho_inf, self.r, self.sizes = model, h, rho_inf, r, (3, 3, 3, *[m] * 5)
        self.q, self.u, self.a = np.array(q, float), np.zeros(3), model.force / model.masses
        self.bar, self.impulse = self.a, np.zeros((2, m))
        self.force, self.bars = np.zeros((2, m)), np.zeros((2, m))  # λ_N and λ_F, and with a bar

    def record(self):
        return {"q": self.q, "u": self.u, "impulse": self.impulse, "force": self.force}

    def advance(self, x):
        """q, u, ā (73); λ̄ (96), (114)."""
        a, U, Q, _, _, lam_N, _, lam_F = split(x, *self.sizes)
        h, rho, (_, _, beta, gamma) = self.h, self.rho_inf, coefficients(self.rho_inf)
        bar = auxiliary(a, column(self.a), column(self.bar), rho)
        u = column(self.u + h * (1 - gamma) * self.bar) + h * gamma * bar + U
        q = column(self.q + h * self.u + h**2 * (0.5 - beta) * self.bar) + h**2 * beta * bar + Q
        known = zip((lam_N, lam_F), self.force, self.bars)
        return q, u, bar, *(auxiliary(lam, column(old), column(mean), rho) for lam, old, mean in known)

    def percussions(self, x):
        """P_N (95), P_F (113), κ̂_N (102)."""
        *_, kappa, Lam_N, _, Lam_F, _ = split(x, *self.sizes)
        h, (_, _, beta, gamma) = self.h, coefficients(self.rho_inf)
        *_, bar_N, bar_F = self.advance(x)
        old_N, old_F = column(self.bars[0]), column(self.bars[1])
        P_N, P_F = (L + h * ((1 - gamma) * o + gamma * b) for L, o, b in ((Lam_N, old_N, bar_N), (Lam_F, old_F, bar_F)))
        return P_N, P_F, kappa + h**2 * ((0.5 - beta) * old_N + beta * bar_N)

    def residual(self, x):
        a, U, Q, kappa, Lam_N, lam_N, Lam_F, lam_F = split(x, *self.sizes)
        model, r, mu, M = self.model, self.r, self.model.friction, column(self.model.masses)
        q, u, *_ = self.advance(x)
        P_N, P_F, hat = self.percussions(x)
        g, W_N, W_F = model.rows(q)
        turn_N, turn_F = model.turning(q, u)
        xi_N = rate(W_N, u) + column(model.restitution) * rate(W_N, column(self.u) + 0 * u)  # (88)
        xi_F, g_2, slip_2 = rate(W_F, u), rate(W_N, a) + turn_N, rate(W_F, a) + turn_F
        A = (r * g - hat).real <= 0  # (130), (133), (136)
        B = A & ((r * xi_N - P_N).real <= 0)
        C = B & ((r * g_2 - lam_N).real <= 0)
        D, P_row = rubs(r, xi_F, P_F, mu * P_N)  # (138)
        _, stick_row = rubs(r, slip_2, lam_F, mu * lam_N)  # (142)
        lam_row = np.where(D, stick_row, lam_F + mu * lam_N * np.sign(xi_F.real))
        return np.concatenate([
            M * a - column(model.force) - push(W_N, lam_N) - push(W_F, lam_F),
            M * U - push(W_N, Lam_N) - push(W_F, Lam_F),
            M * Q - push(W_N, kappa) - 0.5 * self.h * push(W_F, Lam_F),
            np.where(A, g, hat), np.where(B, xi_N, P_N), np.where(C, g_2, lam_N),
            np.where(A, P_row, P_F), np.where(A, lam_row, lam_F),
        ])  # fmt: skip

    def step(self):
        m = len(self.model.restitution)
        guess = [self.a, np.zeros(6 + 2 * m), self.force[0], np.zeros(m), self.force[1]]
        x, _ = newton(self.residual, np.concatenate(guess), 1e-9)
        self.q, self.u, self.bar, *bars = (part[:, 0] for part in self.advance(column(x)))
        self.a, _, _, _, Lam_N, lam_N, Lam_F, lam_F = split(x, *self.sizes)
        self.bars, self.force, self.impulse = np.array(bars), np.array([lam_N, lam_F]), np.array([Lam_N, Lam_F])


def rubs(r, slip, reaction, limit):
    """Return a mask of what sticks, and the row of Coulomb's law; (27)."""
    p = r * slip - reaction
    sticks = (np.abs(p.real) <= limit.real) & (limit.real > 0)
    return sticks, np.where(sticks, slip, reaction + limit * np.sign(p.real))


class Moreau:
    """From velocities u: one contact, e = 0; q_M = q + h u/2, impulses there, q = q_M + h u/2."""

    def __init__(self, model: Contacts, q, h: float, u=(0.0, 0.0, 0.0)):
        self.model, self.h, self.q, self.u, self.impulse = model, h, np.array(q, float), np.array(u, float), 0.0

    def record(self):
        return {"q": self.q, "u": self.u, "impulse": self.impulse, "gap": self.model.rows(column(self.q))[0][0, 0]}

    def step(self):
        h, model = self.h, self.model
        middle = self.q + 0.5 * h * self.u
        g, W_N, W_F = (part[0, ..., 0] for part in model.rows(column(middle)))
        self.u, self.impulse = self.u + h * model.force / model.masses, 0.0
        if g <= 0 and W_N @ self.u < 0:
            P = coulomb(np.array([W_N, W_F]), self.u, model.masses, model.friction)
            self.u, self.impulse = self.u + P @ [W_N, W_F] / model.masses, P[0]
        self.q = middle + 0.5 * h * self.u


def coulomb(W, u, masses, friction):
    """P_N, P_F of one contact that closes: sticks, or slides in the direction that the friction does not reverse."""
    D, rates = W / masses @ W.T, W @ u
    P = np.linalg.solve(D, -rates)
    if P[0] >= 0 and abs(P[1]) <= friction * P[0]:
        return P
    for sign in (1.0, -1.0):
        along = np.array([1.0, -friction * sign])
        P = along * -rates[0] / (D[0] @ along)
        if P[0] >= 0 and sign * (rates + D @ P)[1] >= 0:
            return P
    raise RuntimeError("no state of the contact satisfies Coulomb's law")
