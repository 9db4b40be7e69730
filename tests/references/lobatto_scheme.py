"""Lobatto IIIA-IIIB scheme of Capobianco2024 for planar models with constant, diagonal mass; dense, without fem_mbs.

Unknowns of a step: V^1 … V^s, v_{n+1} and the percussions R_g, R_N, R_F of all stages; residuals (61), (66), (69),
friction of one component for each contact. L_v = M v, all other forces are f. Tests: test_numbers_of_*.py.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from dense_schemes import column, newton, push, rate

ROOT = np.sqrt(5.0)
IIIA = {  # stages: coefficients a_ij; b is the last row
    2: np.array([[0, 0], [1, 1]]) / 2,
    3: np.array([[0, 0, 0], [5, 8, -1], [4, 16, 4]]) / 24,
    4: np.array([
        [0, 0, 0, 0], [11 + ROOT, 25 - ROOT, 25 - 13 * ROOT, ROOT - 1],
        [11 - ROOT, 25 + 13 * ROOT, 25 + ROOT, -1 - ROOT], [10, 50, 50, 10],
    ]) / 120,
}  # fmt: skip


@dataclass(frozen=True)
class Planar:
    """``rows(q)``: g and W_gᵀ, g_N and W_Nᵀ, W_Fᵀ, of columns; of b joints and m contacts."""

    masses: np.ndarray
    force: Callable
    rows: Callable
    joints: int
    contacts: int
    normal: float = 0.0  # e_N
    tangential: float = 0.0  # e_F
    friction: float = 0.0


def prox(law, reaction, r=1.0):
    """Row of x ∈ N_R-(−R): R + min(r x − R, 0); (66)."""
    return np.where((r * law - reaction).real <= 0, r * law, reaction)


def cone(slip, reaction, radius, r=1.0):
    """Row of slip ∈ N_C(−R), |R| ≤ radius; (69)."""
    p, radius = r * slip - reaction, np.where(radius.real > 0, radius, 0 * radius)
    sticks = (np.abs(p.real) <= radius.real) & (radius.real > 0)
    return np.where(sticks, r * slip, reaction + radius * np.sign(p.real))


class Lobatto:
    """Steps of s stages from q and v."""

    def __init__(self, model: Planar, q, v, h: float, stages: int, tolerance=1e-11, r=1.0):
        n, b, m = len(model.masses), model.joints, model.contacts
        self.model, self.h, self.tolerance, self.r, self.stages = model, h, tolerance, r, stages
        self.A = IIIA[stages]
        self.b = self.A[-1]
        self.hat = self.b * (1 - self.A.T / self.b[:, None])  # â_ij = b_j − b_j a_ji / b_i
        self.shapes = [(stages, n), (1, n), (stages, b), (stages, m), (stages, m)]
        self.q, self.v = np.array(q, float), np.array(v, float)
        self.P_N, self.P_F, self.count = np.zeros(m), np.zeros(m), 0
        self.guess = np.zeros(stages * (b + 2 * m))

    def record(self):
        return {"q": self.q, "v": self.v, "normal": self.P_N, "friction": self.P_F, "count": self.count}

    def parts(self, x):
        """V, v_{n+1}, R_g, R_N, R_F of all stages."""
        ends = np.cumsum([rows * width for rows, width in self.shapes])[:-1]
        return [part.reshape(*shape, x.shape[-1]) for part, shape in zip(np.split(x, ends), self.shapes)]

    def percussions(self, x):
        """ΔP_N, ΔP_F (m, k) of the step."""
        return [np.einsum("j,jmk->mk", self.b, R) for R in self.parts(x)[3:]]

    def residual(self, x):
        V, (v_1,), R_g, R_N, R_F = self.parts(x)
        model, h, r, M, v = self.model, self.h, self.r, column(self.model.masses), column(self.v)
        Q = column(self.q) + h * np.einsum("ij,jnk->ink", self.A, V)
        rows = [model.rows(one) for one in Q]
        F = np.array([
            h * model.force(Q[i], V[i]) + push(W_g, R_g[i]) + push(W_N, R_N[i]) + push(W_F, R_F[i])
            for i, (_, W_g, _, W_N, W_F) in enumerate(rows)
        ])  # fmt: skip
        lines = [
            *(M * (V - v) - np.einsum("ij,jnk->ink", self.hat, F)),
            M * (v_1 - v) - np.einsum("j,jnk->nk", self.b, F),
        ]
        for i in range(1, self.stages):  # conditions of a stage belong to the percussion of the one before
            g, _, g_N, _, W_F = rows[i]
            slips = cone(rate(W_F, V[i]), R_F[i - 1], model.friction * R_N[i - 1], r)
            lines += [g, prox(g_N, R_N[i - 1], r), slips]
        _, W_g, g_N, W_N, W_F = rows[-1]
        _, _, _, start_N, start_F = model.rows(column(self.q))
        P_N, P_F = self.percussions(x)
        xi_N = rate(W_N, v_1) + model.normal * rate(start_N, v)
        xi_F = rate(W_F, v_1) + model.tangential * rate(start_F, v)
        closed = (r * g_N - R_N[-2]).real <= 0  # (67)
        lines += [rate(W_g, v_1), np.where(closed, prox(xi_N, P_N, r), P_N), cone(xi_F, P_F, model.friction * P_N, r)]
        return np.concatenate(lines)

    def step(self):
        start = np.concatenate([np.tile(self.v, self.stages + 1), self.guess])
        x, self.count = newton(self.residual, start, self.tolerance)
        V, v_1 = self.parts(column(x))[:2]
        self.q, self.v = self.q + self.h * np.einsum("j,jn->n", self.b, V[..., 0]), v_1[0, :, 0]
        self.P_N, self.P_F = (P[:, 0] for P in self.percussions(column(x)))
        self.guess = x[(self.stages + 1) * len(self.v) :]
