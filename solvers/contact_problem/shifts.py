"""Solvers with W + ρ I, which first-order methods call again and again with one matrix: what `Operator.shifted` makes.

Source: docs/theory/contact_problems.md, (13).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.contact_problem.bodies import Bodies

if TYPE_CHECKING:
    from collections.abc import Callable

    from fem_mbs.solvers.contact_problem.operators import Operator

CG_STEPS = 30  # most conjugate gradient steps of one solve without a matrix


def apply_blocks(blocks: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Blocks (nc, d, d) times vectors (nc, d)."""
    return np.matmul(blocks, x[:, :, None])[:, :, 0]


class DenseShift:
    """Solves with W + ρ I by its inverse (m, m)."""

    def __init__(self, inverse: np.ndarray) -> None:
        self.inverse = inverse

    def __call__(self, b):
        return (self.inverse @ b.ravel()).reshape(b.shape)


class BlockShift:
    """Solves with W + ρ I by its factors in contact space."""

    def __init__(self, factors: "Callable[[np.ndarray], np.ndarray]") -> None:
        self.factors = factors

    def __call__(self, b):
        return self.factors(b)


class BodyShift:
    """Solves with W + ρ I by (1) of `contact_problem.operators`, with the factors of ρ I + Gᵀ G."""

    def __init__(self, factors: "Callable[[np.ndarray], np.ndarray]", bodies: Bodies, rho: float) -> None:
        self.factors, self.bodies, self.rho = factors, bodies, rho

    def __call__(self, b):
        return (b - self.bodies.relative(self.factors(self.bodies.mass_scaled(b)))) / self.rho


class FreeShift:
    """Solves with W + ρ I, W known by products and symmetric, by conjugate gradients from the last solution.

    Attributes
    ----------
    tolerance : absolute residual at which to stop; to be set before each call
    """

    def __init__(self, operator: "Operator", rho: float) -> None:
        self.operator, self.rho, self.tolerance = operator, rho, 0.0
        self.inverse = np.linalg.inv(operator.diagonal + rho * np.eye(operator.d))
        self.x = np.zeros((operator.n, operator.d))

    def _product(self, x):
        return self.operator.product(x) + self.rho * x

    def __call__(self, b):
        x = self.x
        rest = b - self._product(x)
        direction, before = None, 1.0
        for _ in range(CG_STEPS):
            if np.linalg.norm(rest) <= max(self.tolerance, 1e-14 * np.linalg.norm(b)):
                break
            preconditioned = apply_blocks(self.inverse, rest)
            size = np.vdot(rest, preconditioned)
            direction = preconditioned if direction is None else preconditioned + size / before * direction
            moved, before = self._product(direction), size
            step = size / np.vdot(direction, moved)
            x, rest = x + step * direction, rest - step * moved
        self.x = x
        return x
