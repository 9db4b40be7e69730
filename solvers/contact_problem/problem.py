"""The frictional contact problem on the Delassus form: what is to be solved, and when it is solved.

    u = W r + q,   s_i = Σ_k μ_ik |u_ik|,   ũ = u + s n,      K* ∋ ũ ⟂ r ∈ K                                         (1)

with the cones of `cones`; s = 0 in the relaxed problem (Negrut2018, (10)). The problem is scaled contact by contact
before anything is done with it, r = S r̂, û = S u, Ŵ = S W S, q̂ = S q, S = diag(a, b I, …): with d_i = trace W_ii/3
of the sliding block a = b = d_i^(-½).
Rolling and spinning have scales of their own, c = (trace W_RR/2)^(-½), which changes μ̂_R = μ_R a/c and removes the
unit of length (2). The impulses are scaled once more so that |q̂| = √nc. Errors are measured in these variables:

    err(r) = ‖r̂ − P_K(r̂ − ũ̂)‖ / ‖q̂‖                                                                             (3)

They change neither with W → a W, q → b q nor with the units of any single contact. Rounding limits what can be reached:
the tolerance is max(tol, 30 ε ‖Ŵ‖ ‖r̂‖/‖q̂‖), at most 10⁻⁶. ‖Ŵ‖ is that of a semidefinite matrix, at most the trace; an
indefinite one is not excused.

Problems without a solution, as an obstacle that nothing can evade, drive r̂ to values in which ũ̂ is lost by
rounding: r̂ − ũ̂ = r̂ and (3) is zero for any u. Two conditions see that. The residual cannot be smaller than the
distance of ũ̂ from K*, which is measured without r̂, so (3) is at least (4); and an iterate is a solution only where
rounding of r̂ is a tenth of the tolerance or less (5).

    err(r) ≥ ‖max(0, −û_n)/(1 + Σ μ_k²)^½‖ / ‖q̂‖                                                                    (4)
    ε ‖r̂‖ ≤ 0.1 tolerance ‖q̂‖                                                                                       (5)

Source: docs/theory/contact_problems.md, (1)-(6).

    symbol  code      shape          unit    meaning
    r, u    r, u      (nc, d)        N s, m/s  impulses and relative velocities: normal, two tangential; where asked
                                               for rolling about two tangents, spinning about the normal
    W       W         (nc d, nc d)           Delassus matrix; need not be symmetric
    μ       friction  (nc, parts)    -, m    sliding, rolling, spinning
"""

import inspect
import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from fem_mbs.arguments.checked import ArrayLike, Named
from fem_mbs.errors import ParameterError
from fem_mbs.solvers.contact_problem.bodies import Bodies, split_bodies
from fem_mbs.solvers.contact_problem.input import Unsuitable, real_array, real_matrix
from fem_mbs.solvers.contact_problem.operators import diagonal_blocks
from fem_mbs.solvers.contact_problem.scaled import ScaledProblem
from fem_mbs.solvers.contact_problem.watch import Watch

if TYPE_CHECKING:
    from scipy.sparse import csc_array


class ContactProblem:
    """Frictional contact problem (1) in the form of a Delassus matrix.

    Parameters
    ----------
    W : (nc d, nc d) array, list of rows, scipy sparse array of any format or scipy LinearOperator
        u = W r + q, real. Must be (nearly) positive semidefinite; symmetry is not required. A LinearOperator needs
        ``blocks``; single methods are then APGD and ADMM (by conjugate gradients: W symmetric), and the hybrid forms
        the matrix up to 2,000 rows.
    q : (nc d,) or (nc, d)
        Relative velocities without contact impulses, contact by contact: normal, tangent 1, tangent 2, then rolling (2)
        and spinning (1) where there is such a resistance.
    friction : float or (nc,), ≥ 0
        Sliding coefficient μ. Values above 1e3 are treated as 1e3.
    rolling, spinning : float or (nc,), ≥ 0 [length], optional
        Resistances μ_R and μ_S; each adds its components to every contact: d = 3, 4 (spinning), 5 (rolling) or 6.
    blocks : (nc, d, d), optional
        Diagonal blocks of W; only for a LinearOperator.
    relaxed : bool
        Leave out De Saxcé's term: K* ∋ u ⟂ r ∈ K. Convex, with a solution that has one u; but sliding contacts lift
        off with u_n = Σ μ_k |u_k|. Methods: "hybrid", "newton" with the natural map, "admm", "apgd", "interior_point".
    name : str, optional

    Raises
    ------
    ParameterError
        Shapes that do not fit, complex or other than numbers, not finite, friction < 0, impulses that overflow.

    Notes
    -----
    Redundant contacts make W singular: u is then determined but r is not. The methods start from zero and end near the
    smallest impulses, not exactly there; `choice.smallest_impulses` selects exactly those. Problems with moving
    obstacles may have no solution: the error does not fall.

    Examples
    --------
    A mass of 2 kg lands at 3 m/s, sliding at 1 m/s, with friction 0.2:

    >>> problem = ContactProblem(np.eye(3) / 2.0, [-3.0, 1.0, 0.0], 0.2)
    >>> solve_contact_problem(problem).r.round(12)
    array([[ 6. , -1.2,  0. ]])
    """

    def __init__(
        self,
        W: Any,
        q: ArrayLike,
        friction: ArrayLike,
        *,
        rolling: ArrayLike | None = None,
        spinning: ArrayLike | None = None,
        blocks: ArrayLike | None = None,
        relaxed: bool = False,
        name: str | None = None,
    ) -> None:
        self.name, self.relaxed = name, relaxed
        d = self.size = contact_size(rolling, spinning)
        numbers = real_array(self, "q", q).reshape(-1).copy()
        if numbers.size % d:
            raise ParameterError(self, "q", numbers, f"has {numbers.size} numbers, not a multiple of {d} per contact")
        self.q = numbers.reshape(-1, d)
        self.friction = self._coefficients({"friction": friction, "rolling": rolling, "spinning": spinning})
        self.bodies = W if isinstance(W, Bodies) else None
        self.factors = self.free = None
        is_product = isinstance(W, LinearOperator)
        matrix = W if self.bodies is not None or is_product else real_matrix(self, "W", W)
        rows = self.q.size
        if matrix.shape != (rows, rows):
            raise ParameterError(
                self, "W", matrix.shape, f"must be the shape {(rows, rows)} for {len(self.q)} contacts"
            )
        self._W = None if self.bodies is not None else matrix
        if is_product:
            self.diagonal = self._given_blocks(matrix, blocks)
        else:
            self.diagonal = diagonal_blocks(matrix, len(self.q), d) if self.bodies is None else W.diagonal
            if blocks is not None:
                message = "are for a W that is a LinearOperator; of a matrix they are known: leave them out"
                raise ParameterError(self, "blocks", np.shape(blocks), message)
        self._check_sizes()

    def _coefficients(self, given):
        """Coefficients (nc, parts) of the laws that are given, by name."""
        n, columns = len(self.q), []
        for name, values in given.items():
            if values is None and name != "friction":
                continue
            array = real_array(self, name, values, finite=False)
            if array.shape not in ((), (1,), (n,)):
                raise ParameterError(self, name, values, f"must be a number or one per contact ({n})")
            array = np.broadcast_to(array, n)
            bad = np.flatnonzero(~(array >= 0))
            if len(bad):
                raise ParameterError(self, name, float(array[bad[0]]), f"of contact {bad[0]} must be ≥ 0")
            columns.append(array)
        return np.stack(columns, axis=1)

    def _given_blocks(self, W, blocks):
        """Diagonal blocks of a product, checked."""
        n, d = self.q.shape
        if W.dtype is not None and np.dtype(W.dtype).kind == "c":
            raise ParameterError(self, "W", f"a LinearOperator of {W.dtype}", "must be real")
        if blocks is None:
            raise ParameterError(self, "blocks", None, f"must be given, {(n, d, d)}, when W is a product only")
        blocks = real_array(self, "blocks", blocks)
        if blocks.shape != (n, d, d):
            raise ParameterError(self, "blocks", blocks.shape, f"must be the shape {(n, d, d)}")
        return blocks

    def _check_sizes(self):
        """Raise an error for W and q so large or small that impulses are no floating point numbers."""
        mobility = np.einsum("iaa->ia", self.diagonal)
        with np.errstate(all="ignore"):
            largest, mobile = np.abs(self.q).max(initial=0.0), mobility.max(initial=0.0)
            if np.isfinite(3 * mobile) and (not mobile > 0 or np.isfinite(3 * largest / mobile)):
                return
        message = (
            f"is too large compared with W, whose diagonal goes up to {mobile:.1e}: impulses overflow; take other units"
        )
        raise ParameterError(self, "q", float(largest), message)

    @classmethod
    def from_contacts(
        cls,
        masses: ArrayLike,
        bodies: ArrayLike,
        blocks: ArrayLike,
        w: ArrayLike,
        friction: ArrayLike,
        *,
        v: ArrayLike | None = None,
        inverse: bool = False,
        rolling: ArrayLike | None = None,
        spinning: ArrayLike | None = None,
        relaxed: bool = False,
        name: str | None = None,
    ) -> "ContactProblem":
        """Problem of contacts between bodies, by arrays of blocks: the quick way in, made for time steppers.

            u_i = Σ_k blocks[i, k] v_b + w_i  with b = bodies[i, k],   v_b = v[b] + masses[b]⁻¹ Σ blocks[i, k]ᵀ r_i

        Parameters
        ----------
        masses : (nb, m, m), or (nb, m) for diagonal ones
            Mass matrices of the bodies, symmetric positive definite; with ``inverse`` their inverses, which may be
            singular (zero for a body that follows a prescribed motion). Bodies with fewer unknowns than m: fill up with
            ones on the diagonal of the mass and zeros in the blocks.
        bodies : (nc, sides) int
            Bodies of each contact, -1 for a fixed one or none. Usually two sides.
        blocks : (nc, sides, d, m)
            Gradients of the relative velocities with respect to the velocities of these bodies.
        w : (nc, d) or (nc d,)
            Given part of the relative velocities: moving obstacles, restitution.
        friction, rolling, spinning, relaxed, name : see the class
        v : (nb, m), optional
            Velocities without contact impulses; zero by default.
        inverse : bool
            Whether ``masses`` holds the inverses.

        Returns
        -------
        ContactProblem
            W is not formed: a product or a Gauss-Seidel sweep takes time proportional to the number of contacts. The
            solution has the velocities of the bodies too, ``Solution.v``.

        Examples
        --------
        Two balls of 1 kg and 3 kg meet at 2 m/s and go on together:

        >>> second_minus_first = np.stack([-np.eye(3), np.eye(3)])[None]
        >>> problem = ContactProblem.from_contacts(
        ...     [[1.0] * 3, [3.0] * 3], [[0, 1]], second_minus_first, [0.0, 0, 0], 0.3, v=[[2.0, 0, 0], [0, 0, 0]])
        >>> solve_contact_problem(problem).v[:, 0].round(9)
        array([0.5, 0.5])
        """
        unmade = Named(cls.__name__, name)
        d = contact_size(rolling, spinning)
        given = Bodies.from_arrays(masses, bodies, blocks, w, v, inverse, d, unmade)
        problem = cls(given.bodies, given.q, friction, rolling=rolling, spinning=spinning, relaxed=relaxed, name=name)
        problem.factors, problem.free = given.factors, given.v
        return problem

    @classmethod
    def from_bodies(
        cls,
        M: "ArrayLike | csc_array",
        H: "ArrayLike | csc_array",
        w: ArrayLike,
        friction: ArrayLike,
        *,
        f: ArrayLike | None = None,
        rolling: ArrayLike | None = None,
        spinning: ArrayLike | None = None,
        relaxed: bool = False,
        name: str | None = None,
    ) -> "ContactProblem":
        """Problem of bodies M v = H r + f with relative velocities u = Hᵀ v + w: W = Hᵀ M⁻¹ H, q = w + Hᵀ M⁻¹ f.

        Parameters
        ----------
        M : (nv, nv) sparse or dense
            Mass matrix (or iteration matrix of a step). When it is symmetric, falls into blocks of at most 12 unknowns
            and no contact touches more than four of them, W is kept by blocks as in `from_contacts`, which is much
            faster; otherwise W is formed.
        H : (nv, nc d) sparse or dense
            Directions of the contacts.
        w : (nc d,) or (nc, d)
            Given part of the relative velocities.
        friction, rolling, spinning, relaxed, name : see the class
        f : (nv,), optional
            Momentum without contacts, M v_free.

        Raises
        ------
        ParameterError
            Shapes that do not fit, complex or other than numbers, not finite, a mass matrix that is singular.
        """
        unmade = Named(cls.__name__, name)
        d = contact_size(rolling, spinning)
        M, H, w, momentum = cls._checked_bodies(unmade, M, H, w, f, d)
        arrays = split_bodies(M, H, momentum, d)
        if arrays is not None:
            masses, bodies, blocks, v = arrays
            return cls.from_contacts(
                masses, bodies, blocks, w, friction,
                v=v, rolling=rolling, spinning=spinning, relaxed=relaxed, name=name,
            )  # fmt: skip
        try:
            factors = sp.linalg.splu(M)
        except RuntimeError:
            message = "is singular; every velocity needs a mass (from_contacts takes inverse masses, also zero)"
            raise ParameterError(unmade, "M", f"a matrix {M.shape}", message) from None
        W = H.T @ factors.solve(H.toarray())
        q = w if momentum is None else w + H.T @ factors.solve(momentum)
        return cls(W, q, friction, rolling=rolling, spinning=spinning, relaxed=relaxed, name=name)

    @staticmethod
    def _checked_bodies(owner, M, H, w, f, d):
        """Arguments of `from_bodies` as sparse matrices and arrays whose shapes fit."""
        M, H = (sp.csc_array(real_matrix(owner, name, given)) for name, given in (("M", M), ("H", H)))
        w = real_array(owner, "w", w).ravel().copy()
        if M.shape[0] != M.shape[1]:
            raise ParameterError(owner, "M", M.shape, "must be the shape of a square matrix (nv, nv)")
        if H.shape == (0, 0) and not w.size:
            H = sp.csc_array((M.shape[0], 0))
        if H.shape[0] != M.shape[0] or H.shape[1] % d:
            message = f"must be the shape ({M.shape[0]}, nc·{d}): a row per velocity of M, {d} columns per contact"
            raise ParameterError(owner, "H", H.shape, message)
        if w.size != H.shape[1]:
            raise ParameterError(owner, "w", w.shape, f"must be the shape {(H.shape[1],)}: a number per column of H")
        if f is not None:
            f = real_array(owner, "f", f).ravel()
            if f.size != M.shape[0]:
                raise ParameterError(owner, "f", f.shape, f"must be the shape {(M.shape[0],)}: a number per row of M")
        return M, H, w, f

    @property
    def n_contacts(self) -> int:
        return len(self.q)

    @cached_property
    def W(self) -> "np.ndarray | csc_array":
        """The Delassus matrix as it was given; of bodies as a sparse matrix, formed on demand."""
        return self.bodies.delassus() if self._W is None and self.bodies is not None else self._W

    @cached_property
    def scaled(self) -> ScaledProblem:
        """The problem in the variables of (3)."""
        return ScaledProblem(self)

    def velocity(self, r: ArrayLike) -> np.ndarray:
        """Relative velocities u = W r + q, (nc, d)."""
        r = self.impulses("r", r)
        if self.bodies is not None:
            return self.bodies.product(r) + self.q
        return (self._W @ r.ravel()).reshape(self.q.shape) + self.q

    def body_velocity(self, r: ArrayLike) -> np.ndarray | None:
        """Velocities of the bodies with impulses r, (nb, m); None for a problem that was not given by bodies."""
        if self.factors is None:
            return None
        z = self.bodies.mass_scaled(self.impulses("r", r))
        return self.free + np.einsum("bij,bj->bi", self.factors, z)

    def error(self, r: ArrayLike) -> tuple[float, float]:
        """Scale-free error (3) of impulses r (nc, d), and the largest of a single contact relative to max |q̂_i|."""
        return self.scaled.error(self.scaled.into(self.impulses("r", r)))

    def impulses(self, parameter: str, r: ArrayLike) -> np.ndarray:
        """Impulses that were given as an array (nc, d); raises ParameterError in the name of the parameter."""
        given = r if isinstance(r, np.ndarray) and r.dtype == float else real_array(self, parameter, r)
        if given.size != self.q.size:
            raise ParameterError(self, parameter, given.shape, f"must be the shape {self.q.shape}")
        return given.reshape(self.q.shape)


def contact_size(rolling: object, spinning: object) -> int:
    """Components of a contact."""
    return 3 + 2 * (rolling is not None) + (spinning is not None)


@dataclass
class Solution:
    """Result of `solve_contact_problem`.

    Attributes
    ----------
    r, u : (nc, d) impulses and relative velocities, units of the problem; r always finite
    v : (nb, m) velocities of the bodies, of a problem given by them (blocks of equal size); else None
    error, error_max : scale-free error (3), and the largest of one contact relative to max |q̂_i|
    converged : bool, error within the tolerance (or within what rounding allows)
    iterations : of the method, or of all stages of the hybrid
    method : the method; of the hybrid the stage that finished, as "hybrid: newton ac"
    history : list of (iteration, error); of the hybrid list of (stage, iterations, error, seconds)
    """

    r: np.ndarray
    u: np.ndarray
    v: np.ndarray | None
    error: float
    error_max: float
    converged: bool
    iterations: int
    method: str
    history: list = field(repr=False, default_factory=list)


def _methods():
    """Methods by name: function (scaled problem, start, watch, options) → best iterate. Imported when needed."""
    from fem_mbs.solvers.contact_problem.admm import admm
    from fem_mbs.solvers.contact_problem.apgd import apgd
    from fem_mbs.solvers.contact_problem.gauss_seidel import gauss_seidel
    from fem_mbs.solvers.contact_problem.hybrid import hybrid
    from fem_mbs.solvers.contact_problem.interior_point import cadoux, interior_point
    from fem_mbs.solvers.contact_problem.momentum import momentum
    from fem_mbs.solvers.contact_problem.newton import newton
    from fem_mbs.solvers.contact_problem.path import smoothed_path

    return {
        "hybrid": hybrid,
        "gauss_seidel": gauss_seidel,
        "momentum": momentum,
        "newton": newton,
        "admm": admm,
        "apgd": apgd,
        "interior_point": interior_point,
        "cadoux": cadoux,
        "path": smoothed_path,
    }


def _start(problem, start):
    """Impulses to start from, checked."""
    start = problem.impulses("start", start)
    if not np.isfinite(start).all():
        raise ParameterError(problem, "start", start, "has components that are not finite")
    return start


def _checked_call(problem, method, tol, time_limit, options):
    """The function of a method, when all that it is called with is allowed; raises ParameterError."""
    if not isinstance(problem, ContactProblem):
        message = "is not one; make it with ContactProblem(W, q, friction)"
        raise ParameterError(Named("ContactProblem"), "problem", problem, message)
    methods = _methods()
    if method not in methods:
        raise ParameterError(problem, "method", method, f"is unknown; choose among {', '.join(methods)}")
    if not (isinstance(tol, (int, float)) and 0 < tol < 1):
        raise ParameterError(problem, "tol", tol, "must be a number between 0 and 1; 1e-8 is usual")
    if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit > 0):
        raise ParameterError(problem, "time_limit", time_limit, "s must be > 0, or None")
    known = list(inspect.signature(methods[method]).parameters)[3:]
    for name in options:
        if name not in known:
            raise ParameterError(
                problem, name, options[name], f"is no option of '{method}'; it has: {', '.join(known)}"
            )
    return methods[method]


def solve_contact_problem(
    problem: ContactProblem,
    method: str = "hybrid",
    tol: float = 1e-8,
    *,
    start: ArrayLike | None = None,
    time_limit: float | None = None,
    dump: str | Path | None = None,
    **options: Any,
) -> Solution:
    """Solve a frictional contact problem.

    Parameters
    ----------
    problem : ContactProblem
    method : str
        "hybrid" (default, tries them in turn), "gauss_seidel", "momentum" (sweeps with momentum), "newton", "admm",
        "apgd", "interior_point", "cadoux" or "path" (of smoothed problems; slow, for what the others leave).
        The last three are for sliding friction only.
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
        Always the best iterate found; check ``converged``. A problem without a solution is one that does not converge.

    Raises
    ------
    ParameterError
        Unknown method or option, a method that is not for this problem, tolerance, time limit or start out of range.
    """
    run = _checked_call(problem, method, tol, time_limit, options)
    scaled = problem.scaled
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    watch = Watch(scaled, tol, deadline)
    zero = np.zeros_like(scaled.q)
    done = watch.judge(zero)
    first = zero if start is None else scaled.project(scaled.into(_start(problem, start)))
    if start is not None and not done:
        done = watch.judge(first)
    if not done and len(zero):
        try:
            with np.errstate(all="ignore"):  # attempts may go astray
                run(scaled, first, watch, **options)
        except Unsuitable as reason:
            raise ParameterError(problem, "method", method, str(reason)) from None
    if not math.isfinite(watch.best_error):
        raise ParameterError(problem, "W", type(problem.W).__name__, "gives velocities W r + q that are not finite")
    r = scaled.back(scaled.project(watch.best))
    error, error_max = problem.error(r)
    label = watch.label or method
    solution = Solution(
        r,
        problem.velocity(r),
        problem.body_velocity(r),
        error,
        error_max,
        watch.converged,
        watch.iterations,
        label,
        watch.history,
    )
    if dump is not None and not solution.converged:
        from fem_mbs.solvers.contact_problem.fclib_writer import write_problem

        write_problem(dump, problem, guess=solution)
    return solution
