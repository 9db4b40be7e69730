"""The frictional contact problem on the Delassus form: what is to be solved, and when it is solved.

    u = W r + q,   s_i = Σ_k μ_ik |u_ik|,   ũ = u + s n,      K* ∋ ũ ⟂ r ∈ K                                         (1)

with the cones of `contact_cones`. The problem is scaled contact by contact before anything is done with it, r = S r̂,
û = S u, Ŵ = S W S, q̂ = S q, S = diag(a, b I, …): with d_i = trace W_ii/3 of the sliding block a = b = d_i^(-½).
Rolling and spinning have scales of their own, c = (trace W_RR/2)^(-½), which changes μ̂_R = μ_R a/c and removes the
unit of length (2). The impulses are scaled once more so that |q̂| = √nc. Errors are measured in these variables:

    err(r) = ‖r̂ − P_K(r̂ − ũ̂)‖ / ‖q̂‖                                                                             (3)

They change neither with W → a W, q → b q nor with the units of any single contact. Rounding limits what can be reached:
the tolerance is max(tol, 30 ε ‖Ŵ‖ ‖r̂‖/‖q̂‖).

Source: formulation-contact-problem-solver, sections 1, 2, 7 and 8.5.

    symbol  code      shape          unit    meaning
    r, u    r, u      (nc, d)        N s, m/s  impulses and relative velocities: normal, two tangential; where asked
                                               for rolling about two tangents, spinning about the normal
    W       W         (nc d, nc d)           Delassus matrix; need not be symmetric
    μ       friction  (nc, parts)    -, m    sliding, rolling, spinning
"""

import math
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_cones import natural_error, project_all, saxce_all
from fem_mbs.solvers.contact_operators import (
    DENSE_ROWS,
    BodyOperator,
    DenseOperator,
    FreeOperator,
    SparseOperator,
)

LARGEST_FRICTION = 1e3  # larger and infinite coefficients are treated as this one
SMALLEST_DIAGONAL = 1e-14  # of the median: floor for contacts between immobile bodies
LARGEST_BODY = 12  # unknowns of a block of M up to which body space is used
ROUNDING_LIMIT = 1e-6  # rounding never excuses more than this
GRACE = 6  # iterates that rounding would excuse before a method stops above the tolerance


class ContactProblem:
    """Frictional contact problem (1) in the form of a Delassus matrix.

    Parameters
    ----------
    W : (nc d, nc d) array, scipy sparse array or scipy LinearOperator
        u = W r + q. Must be (nearly) positive semidefinite; symmetry is not required. A LinearOperator needs ``blocks``
        and is solved by first-order methods only.
    q : (nc d,) or (nc, d)
        Relative velocities without contact impulses, contact by contact: normal, tangent 1, tangent 2, then rolling (2)
        and spinning (1) where there is such a resistance.
    friction : float or (nc,), ≥ 0
        Sliding coefficient μ. Values above 1e3 are treated as 1e3.
    rolling, spinning : float or (nc,), ≥ 0 [length], optional
        Resistances μ_R and μ_S; each adds its components to every contact: d = 3, 4 (spinning), 5 (rolling) or 6.
    blocks : (nc, d, d), optional
        Diagonal blocks of W; only for a LinearOperator.
    name : str, optional

    Notes
    -----
    Redundant contacts make W singular: u is then determined but r is not. The methods start from zero and end near the
    smallest impulses, not exactly there; `contact_choice.smallest_impulses` selects exactly those. Problems with moving
    obstacles may have no solution: the error does not fall.

    Examples
    --------
    A mass of 2 kg lands at 3 m/s, sliding at 1 m/s, with friction 0.2:

    >>> problem = ContactProblem(np.eye(3) / 2.0, [-3.0, 1.0, 0.0], 0.2)
    >>> solve_contact_problem(problem).r.round(12)
    array([[ 6. , -1.2,  0. ]])
    """

    def __init__(self, W, q, friction, *, rolling=None, spinning=None, blocks=None, name=None):
        self.name = name
        coefficients = [friction] + [c for c in (rolling, spinning) if c is not None]
        self.size = {(False, False): 3, (False, True): 4, (True, False): 5, (True, True): 6}[
            rolling is not None, spinning is not None
        ]
        d = self.size
        self.q = np.array(q, float).reshape(-1)
        if self.q.size % d:
            raise ParameterError(self, "q", self.q, f"has {self.q.size} numbers, not a multiple of {d} per contact")
        self.q = self.q.reshape(-1, d)
        n = len(self.q)
        if not np.isfinite(self.q).all():
            raise ParameterError(self, "q", self.q, "has components that are not finite")
        try:
            self.friction = np.stack([np.broadcast_to(np.asarray(c, float), n) for c in coefficients], axis=1)
        except ValueError:
            raise ParameterError(self, "friction", friction, f"must be a number or one per contact ({n})") from None
        if not (self.friction >= 0).all():
            raise ParameterError(self, "friction", self.friction, "must be ≥ 0")
        if W.shape != (n * d, n * d):
            raise ParameterError(self, "W", W.shape, f"must be the shape {(n * d, n * d)} for {n} contacts")
        self.W, self.blocks = W, blocks
        self.H = None
        if sp.issparse(W) or isinstance(W, np.ndarray):
            values = W.data if sp.issparse(W) else W
            if not np.isfinite(values).all():
                raise ParameterError(self, "W", "an array", "has entries that are not finite")
        elif blocks is None:
            raise ParameterError(self, "blocks", None, "must be given (nc, d, d) when W is a product only")

    @classmethod
    def from_bodies(cls, M, H, w, friction, *, f=None, rolling=None, spinning=None, name=None):
        """Problem of bodies M v = H r + f with relative velocities u = Hᵀ v + w: W = Hᵀ M⁻¹ H, q = w + Hᵀ M⁻¹ f.

        Parameters
        ----------
        M : (nv, nv) sparse or dense
            Mass matrix (or iteration matrix of a step). When it is symmetric and falls into blocks of at most 12
            unknowns, large problems are factorised in body space, which is much faster; otherwise W is formed.
        H : (nv, nc d) sparse or dense
            Directions of the contacts.
        w : (nc d,) or (nc, d)
            Given part of the relative velocities.
        friction, rolling, spinning, name : see the class
        f : (nv,), optional
            Momentum without contacts, M v_free.
        """
        M, H = sp.csc_array(M, dtype=float), sp.csc_array(H, dtype=float)
        scaled = _mass_scaled(M, H)
        q = np.array(w, float).ravel()
        if scaled is None:
            factors = sp.linalg.splu(M)
            W = H.T @ factors.solve(H.toarray())
            q = q if f is None else q + H.T @ factors.solve(np.asarray(f, float))
        else:
            H, right = scaled(H), None if f is None else scaled(sp.csc_array(np.asarray(f, float)[:, None]))
            W = sp.csr_array(H.T @ H)
            q = q if f is None else q + (H.T @ right).toarray().ravel()
        problem = cls(W, q, friction, rolling=rolling, spinning=spinning, name=name)
        problem.H = None if scaled is None else H
        return problem

    @property
    def n_contacts(self):
        return len(self.q)

    @cached_property
    def scaled(self):
        """The problem in the variables of (3)."""
        return ScaledProblem(self)

    def velocity(self, r):
        """Relative velocities u = W r + q, (nc, d)."""
        return (self.W @ np.asarray(r, float).ravel()).reshape(self.q.shape) + self.q

    def error(self, r):
        """Scale-free error (3) of impulses r (nc, d), and the largest of a single contact relative to max |q̂_i|."""
        return self.scaled.error(self.scaled.into(np.asarray(r, float).reshape(self.q.shape)))


def _mass_scaled(M, H):
    """Function X → L⁻¹ X with M = L Lᵀ when M is symmetric positive definite in small blocks, else None."""
    asymmetry = abs(M - M.T)
    if asymmetry.nnz and asymmetry.max() > 1e-12 * abs(M).max():
        return None
    count, body = sp.csgraph.connected_components(M, directed=False)
    sizes = np.bincount(body, minlength=count)
    if sizes.max() > LARGEST_BODY:
        return None
    order = np.argsort(body, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    M = M.tocsr()
    row, column, value = [], [], []
    for size in np.unique(sizes):
        unknowns = order[starts[np.flatnonzero(sizes == size)][:, None] + np.arange(size)]  # (bodies, size)
        i, j = np.broadcast_arrays(unknowns[:, :, None], unknowns[:, None, :])
        blocks = np.asarray(M[i.ravel(), j.ravel()]).reshape(-1, size, size)
        try:
            inverse = np.linalg.inv(np.linalg.cholesky(blocks))
        except np.linalg.LinAlgError:
            return None
        row.append(i.ravel())
        column.append(j.ravel())
        value.append(inverse.ravel())
    triplets = np.concatenate(value), (np.concatenate(row), np.concatenate(column))
    inverse = sp.csr_array(sp.coo_array(triplets, shape=M.shape))
    return lambda X: sp.csr_array(inverse @ X)


class ScaledProblem:
    """A contact problem in the scaled variables: what the methods work on.

    Attributes
    ----------
    operator : `Operator`
    q : (nc, d), norm √nc; friction : (nc, parts)
    """

    def __init__(self, problem):
        n, d = problem.q.shape
        W, H = problem.W, problem.H
        blocks = np.asarray(problem.blocks, float) if problem.blocks is not None else _diagonal_blocks(W, n, d)
        diagonal = np.einsum("iaa->ia", blocks)
        weight = _floored(diagonal[:, :3].sum(axis=1) / 3)
        S = np.repeat(weight[:, None] ** -0.5, d, axis=1)
        friction = np.minimum(problem.friction, LARGEST_FRICTION)
        for part in range(1, friction.shape[1]):
            columns = slice(1 + 2 * part, min(3 + 2 * part, d))
            mobility = diagonal[:, columns].mean(axis=1)
            S[:, columns] = np.where(mobility > 0, _floored(mobility) ** -0.5, S[:, 0])[:, None]
            friction[:, part] *= S[:, 0] / S[:, columns.start]
        self.friction = np.ascontiguousarray(np.minimum(friction, LARGEST_FRICTION))
        q = S * problem.q
        self.q_norm = np.linalg.norm(q) / math.sqrt(max(n, 1))
        self.S, self.q = S, q / self.q_norm if self.q_norm > 0 else q
        self.q_largest = np.linalg.norm(self.q, axis=1).max(initial=0.0)
        s = S.ravel()
        if H is not None and n * d > DENSE_ROWS:
            self.operator = BodyOperator(H @ sp.dia_array((s[None], [0]), shape=(n * d, n * d)), d)
        elif sp.issparse(W) and n * d > DENSE_ROWS:
            scaled = sp.csr_array(W).multiply(s[:, None]).multiply(s[None, :])
            self.operator = SparseOperator(sp.csr_array(scaled), d, _is_symmetric(scaled))
        elif sp.issparse(W) or isinstance(W, np.ndarray):
            full = (W.toarray() if sp.issparse(W) else W) * s[:, None] * s
            self.operator = DenseOperator(np.ascontiguousarray(full, float), d, _is_symmetric(full))
        else:
            blocks = S[:, :, None] * blocks * S[:, None, :]
            self.operator = FreeOperator(lambda x: s * W.matvec(s * x), blocks, True)

    def into(self, r):
        """Impulses in scaled variables."""
        return r / self.S / self.q_norm if self.q_norm > 0 else r / self.S

    def back(self, r):
        """Impulses in the user's units."""
        return r * self.S * self.q_norm

    def velocity(self, r):
        return self.operator.product(r) + self.q

    def saxce(self, u):
        """s of (1), (nc,)."""
        s = np.empty(len(u))
        saxce_all(u, self.friction, s)
        return s

    def project(self, x):
        """Projection onto the cones, (nc, d)."""
        out = np.empty_like(x)
        project_all(x, self.friction, out)
        return out

    def error(self, r, u=None, s=None):
        """(3) and its largest contact; with s (nc,) given, of the convex problem in which s is frozen."""
        if self.q_norm == 0.0:
            return (0.0, 0.0) if not r.any() else (math.inf, math.inf)
        u = self.velocity(r) if u is None else u
        total, largest = natural_error(r, u, self.saxce(u) if s is None else s, self.friction)
        return math.sqrt(total) / math.sqrt(len(r)), math.sqrt(largest) / self.q_largest

    def reachable(self, r, tol):
        """The tolerance that rounding allows at r."""
        rounding = 30 * np.finfo(float).eps * self.operator.norm() * np.linalg.norm(r) / math.sqrt(max(len(r), 1))
        return max(tol, min(rounding, ROUNDING_LIMIT))


def _floored(weight):
    """Weights above a small part of their median; ones where nothing moves."""
    positive = weight[weight > 0]
    if len(positive) == 0:
        return np.ones_like(weight)
    return np.maximum(weight, SMALLEST_DIAGONAL * np.median(positive))


def _diagonal_blocks(W, n, d):
    if sp.issparse(W):
        rows = np.arange(n * d).reshape(n, d)
        i, j = np.broadcast_arrays(rows[:, :, None], rows[:, None, :])
        return np.asarray(sp.csr_array(W)[i.ravel(), j.ravel()]).reshape(n, d, d)
    return W.reshape(n, d, n, d)[np.arange(n), :, np.arange(n)]


def _is_symmetric(W):
    difference = abs(W - W.T)
    largest = abs(W).max() if W.shape[0] else 0.0
    return bool((difference.max() if W.shape[0] else 0.0) <= 1e-12 * largest)


class Watch:
    """Judges iterates, keeps the best, says when to stop; each stage of the hybrid has one of its own.

    Attributes
    ----------
    best : (nc, d), best iterate by error (3); best_error : its error
    iterations : counted by the method; history : list of (iteration, error)
    label : stage of the hybrid that found the best iterate, or None
    """

    def __init__(self, problem, tol, deadline=math.inf):
        self.problem, self.tol, self.deadline = problem, tol, deadline
        self.best, self.best_error, self.iterations, self.history = None, math.inf, 0, []
        self.converged, self.label, self.within_rounding = False, None, 0

    def judge(self, r, u=None):
        """Take note of an iterate; True when the method should stop."""
        error, _ = self.problem.error(r, u)
        if error <= 100 * self.tol:  # what is handed back lies in the cones, so that is what has to be good enough
            r = self.problem.project(r)
            error, _ = self.problem.error(r)
        self.history.append((self.iterations, error))
        if error < self.best_error or self.best is None:
            self.best, self.best_error = r.copy(), error
        if error <= self.tol:
            self.converged = True
            return True
        if error <= self.problem.reachable(r, self.tol):
            self.converged, self.within_rounding = True, self.within_rounding + 1
        return self.within_rounding >= GRACE or self.late()

    def late(self):
        """Whether the time is over."""
        return time.perf_counter() > self.deadline


@dataclass
class Solution:
    """Result of `solve_contact_problem`.

    Attributes
    ----------
    r, u : (nc, d) impulses and relative velocities, units of the problem
    error, error_max : scale-free error (3), and the largest of one contact relative to max |q̂_i|
    converged : bool, error within the tolerance (or within what rounding allows)
    iterations : of the method, or of all stages of the hybrid
    method : the method; of the hybrid the stage that finished, as "hybrid: newton ac"
    history : list of (iteration, error); of the hybrid list of (stage, iterations, error, seconds)
    """

    r: np.ndarray
    u: np.ndarray
    error: float
    error_max: float
    converged: bool
    iterations: int
    method: str
    history: list = field(repr=False, default_factory=list)


def _methods():
    """Methods by name: function (scaled problem, start, watch, options) → best iterate. Imported when needed."""
    from fem_mbs.solvers.contact_admm import admm
    from fem_mbs.solvers.contact_apgd import apgd
    from fem_mbs.solvers.contact_gauss_seidel import gauss_seidel
    from fem_mbs.solvers.contact_hybrid import hybrid
    from fem_mbs.solvers.contact_interior_point import cadoux, interior_point
    from fem_mbs.solvers.contact_newton import newton

    return {
        "hybrid": hybrid,
        "gauss_seidel": gauss_seidel,
        "newton": newton,
        "admm": admm,
        "apgd": apgd,
        "interior_point": interior_point,
        "cadoux": cadoux,
    }


def solve_contact_problem(problem, method="hybrid", tol=1e-8, *, start=None, time_limit=None, dump=None, **options):
    """Solve a frictional contact problem.

    Parameters
    ----------
    problem : ContactProblem
    method : str
        "hybrid" (default, tries them in turn), "gauss_seidel", "newton", "admm", "apgd", "interior_point" or "cadoux".
    tol : float > 0
        On the scale-free error (3).
    start : (nc, d), optional
        Impulses of a similar problem, as those of the last step; zero by default.
    time_limit : float > 0 [s], optional
        Stop then and return the best so far.
    dump : path, optional
        Write the problem there in fclib's format if it is not solved.
    options
        Of the method, as ``iterations``.

    Returns
    -------
    Solution
        Always the best iterate found; check ``converged``.
    """
    methods = _methods()
    if method not in methods:
        raise ValueError(f"method '{method}' is unknown; choose among {', '.join(methods)}")
    if not tol > 0:
        raise ValueError(f"tol = {tol} must be > 0")
    scaled = problem.scaled
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    watch = Watch(scaled, tol, deadline)
    zero = np.zeros_like(scaled.q)
    done = watch.judge(zero)
    first = scaled.project(scaled.into(np.asarray(start, float).reshape(zero.shape))) if start is not None else zero
    if start is not None and not done:
        done = watch.judge(first)
    if not done and len(zero):
        methods[method](scaled, first, watch, **options)
    r = scaled.back(scaled.project(watch.best))
    error, error_max = problem.error(r)
    label = watch.label or method
    solution = Solution(
        r, problem.velocity(r), error, error_max, watch.converged, watch.iterations, label, watch.history
    )
    if dump is not None and not solution.converged:
        from fem_mbs.solvers.fclib import write_problem

        write_problem(dump, problem, guess=solution)
    return solution
