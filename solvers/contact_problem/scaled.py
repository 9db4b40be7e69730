"""A contact problem in the scaled variables: what the methods work on.

    r = S r̂,  û = S u,  Ŵ = S W S,  q̂ = S q,  S = diag(a, b I, …),   a = b = (trace W_ii/3)^(-½)                  (1)
    rolling, spinning: c = (mean of the diagonal of their block)^(-½),  μ̂ = μ a/c                                  (2)
    err(r) = ‖r̂ − P_K(r̂ − ũ̂)‖ / ‖q̂‖                                                                             (3)

One scale per block of a contact, never per row: other scalings change the cone. The impulses are scaled once more so
that |q̂| = √nc.

Source: docs/theory/contact_problems.md, (4)-(6).
"""

import copy
import math
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fem_mbs.solvers.contact_problem.cones import natural_error, project_all, saxce_all
from fem_mbs.solvers.contact_problem.operators import (
    DENSE_ROWS,
    SMALL_ROWS,
    BodyOperator,
    DenseOperator,
    FreeOperator,
    Operator,
    SparseOperator,
)

if TYPE_CHECKING:
    from fem_mbs.solvers.contact_problem.problem import ContactProblem

LARGEST_FRICTION = 1e3  # larger and infinite coefficients are treated as this one
SMALLEST_DIAGONAL = 1e-14  # of the median: floor for contacts between immobile bodies
SPARSE_PART = 0.2  # of entries that are not zero, up to which W is treated by blocks
ROUNDING_LIMIT = 1e-6  # rounding never excuses more than this


class ScaledProblem:
    """A contact problem in the variables (1).

    Attributes
    ----------
    operator : `Operator`
    q : (nc, d), norm √nc; friction : (nc, parts)
    lift : (nc, parts), coefficients of De Saxcé's term: friction, or zero in the relaxed problem
    """

    def __init__(self, problem: "ContactProblem") -> None:
        n, d = problem.q.shape
        blocks = problem.diagonal
        diagonal = np.einsum("iaa->ia", blocks)
        weight = _floored((diagonal[:, :3] / 3).sum(axis=1))
        S = np.repeat(weight[:, None] ** -0.5, d, axis=1)
        friction = np.minimum(problem.friction, LARGEST_FRICTION)
        for part in range(1, friction.shape[1]):
            columns = slice(1 + 2 * part, min(3 + 2 * part, d))
            mobility = diagonal[:, columns].mean(axis=1)
            S[:, columns] = np.where(mobility > 0, _floored(mobility) ** -0.5, S[:, 0])[:, None]
            friction[:, part] *= S[:, 0] / S[:, columns.start]
        self.friction = np.ascontiguousarray(np.minimum(friction, LARGEST_FRICTION))
        self.relaxed = problem.relaxed
        self.lift = np.zeros_like(self.friction) if problem.relaxed else self.friction
        q = S * problem.q
        largest = np.abs(q).max(initial=0.0)  # squares of it may overflow
        self.q_norm = largest * np.linalg.norm(q / largest) / math.sqrt(n) if largest > 0 else 0.0
        self.S, self.q = S, q / self.q_norm if self.q_norm > 0 else q
        self.slope = np.sqrt(1.0 + np.square(self.friction).sum(axis=1))
        self.q_largest = np.linalg.norm(self.q, axis=1).max(initial=0.0)
        blocks = S[:, :, None] * blocks * S[:, None, :]
        if problem.bodies is not None:
            self.operator: Operator = BodyOperator(problem.bodies.scaled(S))
        else:
            self.operator = _operator(problem.W, S.ravel(), d, blocks)

    def formed(self) -> "ScaledProblem":
        """The same problem with a full matrix in place of products: as many products as it has rows."""
        other = copy.copy(self)
        matrix, unit = np.empty((self.q.size, self.q.size)), np.zeros(self.q.size)
        for k in range(self.q.size):
            unit[k] = 1.0
            matrix[:, k] = self.operator.product(unit.reshape(self.q.shape)).ravel()
            unit[k] = 0.0
        other.operator = DenseOperator(matrix, self.q.shape[1], _is_symmetric(matrix))
        return other

    def into(self, r: np.ndarray) -> np.ndarray:
        """Impulses in scaled variables."""
        return r / self.S / self.q_norm if self.q_norm > 0 else r / self.S

    def back(self, r: np.ndarray) -> np.ndarray:
        """Impulses in the user's units."""
        return r * self.S * self.q_norm

    def velocity(self, r: np.ndarray) -> np.ndarray:
        return self.operator.product(r) + self.q

    def saxce(self, u: np.ndarray) -> np.ndarray:
        """De Saxcé's term s = Σ μ_k |u_k|, (nc,); 0 in the relaxed problem."""
        s = np.empty(len(u))
        saxce_all(u, self.lift, s)
        return s

    def project(self, x: np.ndarray) -> np.ndarray:
        """Projection onto the cones, (nc, d)."""
        out = np.empty_like(x)
        project_all(x, self.friction, out)
        return out

    def error(self, r: np.ndarray, u: np.ndarray | None = None, s: np.ndarray | None = None) -> tuple[float, float]:
        """(3) and its largest contact; with s (nc,) given, of the convex problem in which s is frozen."""
        if self.q_norm == 0.0:
            return (0.0, 0.0) if not r.any() else (math.inf, math.inf)
        u = self.velocity(r) if u is None else u
        s = self.saxce(u) if s is None else s
        slide = np.empty(len(u))
        saxce_all(u, self.friction, slide)
        total, largest = natural_error(r, u, s, self.friction)
        short = slide - s - u[:, 0]  # of ũ from K*
        away = np.maximum(short, 0.0) / self.slope  # (4) of contact_problem: lost in r − ũ where r is very large
        total, largest = max(total, away @ away), max(largest, away.max() ** 2)
        return math.sqrt(total) / math.sqrt(len(r)), math.sqrt(largest) / self.q_largest

    def _rounding(self, r):
        """ε ‖r̂‖ / ‖q̂‖: what rounding of r does to the error."""
        return np.finfo(float).eps * np.linalg.norm(r) / math.sqrt(max(len(r), 1))

    def reachable(self, r: np.ndarray, tol: float) -> float:
        """The tolerance that rounding allows at r; the norm of W is not larger than the trace of a semidefinite one."""
        trace = np.maximum(np.einsum("iaa->ia", self.operator.diagonal), 0.0).sum()
        return max(tol, min(30 * min(self.operator.norm(), trace) * self._rounding(r), ROUNDING_LIMIT))

    def lost_in_rounding(self, r: np.ndarray, error: float, tol: float) -> bool:
        """True if r is so large that its error says nothing about velocities, (5) of contact_problem."""
        rounding = self._rounding(r)
        if rounding <= 0.1 * tol:
            return False
        limit = self.reachable(r, tol) if error <= ROUNDING_LIMIT else ROUNDING_LIMIT
        return not rounding <= 0.1 * limit


def _operator(W, s, d, blocks):
    """Operator of s W s by the kind of W; s (nc d,)."""
    many_zeros = len(s) > SMALL_ROWS and (W.nnz if sp.issparse(W) else _count(W)) < SPARSE_PART * len(s) ** 2
    if many_zeros or (sp.issparse(W) and len(s) > DENSE_ROWS):
        scaled = sp.csr_array(sp.csr_array(W).multiply(s[:, None]).multiply(s[None, :]))
        return SparseOperator(scaled, d, _is_symmetric(scaled))
    if sp.issparse(W) or isinstance(W, np.ndarray):
        full = (W.toarray() if sp.issparse(W) else W) * s[:, None] * s
        return DenseOperator(np.ascontiguousarray(full, float), d, _is_symmetric(full))
    return FreeOperator(lambda x: s * W.matvec(s * x), blocks, True)


def _count(W):
    """Entries of a full matrix that are not zero; of a product: all."""
    return np.count_nonzero(W) if isinstance(W, np.ndarray) else math.inf


def _floored(weight):
    """Weights above a small part of their median; ones where nothing moves."""
    positive = weight[weight > 0]
    if len(positive) == 0:
        return np.ones_like(weight)
    return np.maximum(weight, SMALLEST_DIAGONAL * np.median(positive))


def _is_symmetric(W):
    difference = abs(W - W.T)
    largest = abs(W).max() if W.shape[0] else 0.0
    return bool((difference.max() if W.shape[0] else 0.0) <= 1e-12 * largest)
