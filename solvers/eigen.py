"""Eigenvalues of small motions: real and quadratic problems with constraints, dense and sparse.

On the null space of G, with multipliers δμ as unknowns of the sparse forms,

    K φ − Gᵀ δμ = ω² M φ                        real:       A = [K −Gᵀ; −G 0],  B = [M 0; 0 0]                     (1)
    (s² M + s C + K) φ − Gᵀ δμ = 0              quadratic:  first order in (φ̇, φ, δμ)                              (2)

Small problems are solved by LAPACK on an orthonormal basis Z of the null space, large ones by Lanczos or Arnoldi on the
saddle-point matrices, shifted and inverted, so that the sparsity is kept. The lowest eigenvalue of the tangent
stiffness on the null space, K φ = λ D φ with D = 1 for displacements and L² for rotations (L the size of the model),
shows whether an equilibrium is stable: λ is a stiffness [N/m] that does not depend on the mass.

Source: Géradin & Rixen, Mechanical Vibrations (2015), ch. 2 and 6; (1) Bathe, Finite Element Procedures, ch. 11.
"""

import warnings
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import SolverError
from fem_mbs.linear.factors import factors

if TYPE_CHECKING:
    from scipy.sparse import csc_array


DENSE_LIMIT = 600  # unknowns: 0.2 s of LAPACK
LANCZOS, PATIENT = 8, 100  # restarts; a good shift needs one to five, free bodies, whose first six are 0, up to 40
AGREES = 1e-7  # of ω²: to which Rayleigh's quotient of a vector has to come
ARNOLDI = 40  # the same for damped modes, whose pairs need more
SYMMETRIC = 1e-7  # of √(K_ii K_jj): above it K is treated as unsymmetric (follower loads); equilibria leave 1e-9
NEUTRAL = 1e-14  # of φᵀ|K|φ: a smaller eigenvalue is round-off of its sums
FREE = 1e-6  # of the shift σ of quadratic problems, 1e-4 of the highest frequency: smaller is s = 0
NEAREST = 6  # eigenvalues nearest to zero that a large problem is searched for a negative one


def lowest(
    K: "csc_array", D: "csc_array", G: "csc_array", circulatory: bool = False
) -> tuple[float, np.ndarray, bool | None]:
    """Smallest eigenvalue of K φ = λ D φ on the null space of G, its vector, and whether the equilibrium is stable.

    Parameters
    ----------
    K, D : (n, n) sparse; D diagonal, positive
    G : (m, n) sparse
    circulatory : whether there are loads without a potential, see `symmetric`

    Returns
    -------
    value : float
        Of an unsymmetric K (follower loads) the smallest real part; inf when constraints leave no motion.
    vector : (n,)
    stable : bool or None
        Symmetric K: λ ≥ 0, to round-off. Unsymmetric K: False if an odd number of eigenvalues is negative, because
        det K < 0 means divergence with any mass; otherwise the mass decides: None.

    Raises
    ------
    SolverError
        The iteration of a large problem did not converge.
    """
    n = K.shape[0]
    if n <= G.shape[0]:
        return np.inf, np.zeros(n), True
    small, conservative = n + G.shape[0] <= DENSE_LIMIT, symmetric(K, circulatory)
    some = min(NEAREST, n - G.shape[0], n + G.shape[0] - 2)  # ARPACK wants fewer than all
    if conservative:
        K = 0.5 * (K + K.T)
        values, vectors = dense(K, D, G, 1, None) if small else sparse(K, D, G, some, None)
    elif small:
        from scipy.linalg import eig

        Z = null_space(G)
        values, vectors = eig(Z.T @ (K @ Z), Z.T @ (D @ Z))
        vectors = Z @ vectors
    else:
        values, vectors = _sparse_unsymmetric(K, D, G, some)
    if not len(values):
        return np.inf, np.zeros(n), True
    k = int(np.argmin(values.real))
    mode = np.abs(vectors)
    neutral = NEUTRAL * np.sum(mode * (abs(K) @ mode), axis=0) / np.maximum(np.sum(mode * (D @ mode), axis=0), 1e-300)
    stable: bool | None
    if conservative:
        stable = bool(values[k].real >= -neutral[k])
    else:
        negative = (values.real < -neutral) & (np.abs(values.imag) <= 1e-9 * np.abs(values))
        stable = False if int(negative.sum()) % 2 else None
    return float(values[k].real), np.real(vectors[:, k]), stable


def _sparse_unsymmetric(K, D, G, n):
    from scipy.sparse.linalg import eigs

    A, B = _saddle(K, D, G)
    try:
        values, vectors = _near_a_shift(eigs, A, B, _shifts(K, D, None, (-6, -8, -10, -12, -14)), n, ARNOLDI)
    except SolverError as error:
        raise SolverError(f"lowest eigenvalue: {error}") from error
    return values, vectors[: K.shape[0]]


def _near_a_shift(method, A, B, shifts, n, most):
    """The n eigenvalues of A x = s B x nearest to a shift, and vectors by columns, by a method of ARPACK.

    Shifts are tried in order until the factors exist and the method converges, in ``most`` restarts; SolverError says
    what went wrong at the last.
    """
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator

    problem = None
    for sigma in shifts:
        try:
            factor = factors(A - sigma * B)
            inverse = LinearOperator(A.shape, matvec=factor.solve, dtype=float)
            # in the range of the operator, so that multipliers carry no spurious part; with ARPACK's own random start
            # success would be a matter of luck
            start = factor.solve(B @ np.random.default_rng(0).normal(size=A.shape[0]))
            return method(A, n, M=B, sigma=sigma, OPinv=inverse, which="LM", v0=start, maxiter=most)
        except (RuntimeError, ArpackError, ArpackNoConvergence) as error:
            problem = error
    raise SolverError(str(problem)) from problem


def symmetric(K: "csc_array", circulatory: bool = False) -> bool:
    """True if K (n, n) is symmetric to `SYMMETRIC`; with loads without a potential (followers) to round-off.

    What a small follower load adds is far below the stiffness of a slender beam in shear, and decides all the same.
    """
    difference = (K - K.T).tocoo()
    size = np.sqrt(np.abs(K.diagonal()))
    round_off = 1e-14 * abs(K).max()  # of components without stiffness of their own
    allowed = 0.0 if circulatory else SYMMETRIC
    bound = allowed * size[difference.row] * size[difference.col] + round_off
    return bool((np.abs(difference.data) <= bound).all())


def null_space(G: "csc_array") -> np.ndarray:
    """Orthonormal basis (n, n − rank) of the null space of G (m, n), by columns."""
    from scipy import linalg

    n = G.shape[1]
    return np.eye(n) if G.shape[0] == 0 else linalg.null_space(G.toarray(), rcond=1e-11)


def dense(K: "csc_array", M: "csc_array", G: "csc_array", n: int, shift: float | None) -> tuple[np.ndarray, np.ndarray]:
    """The n lowest ω² of (1) and vectors by columns, by LAPACK."""
    from scipy.linalg import LinAlgError, eigh

    Z = null_space(G)
    k, m = Z.T @ (K @ Z), Z.T @ (M @ Z)
    k, m = 0.5 * (k + k.T), 0.5 * (m + m.T)
    sigma = _shifts(K, M, shift, (-12,))[0]
    n = min(n, len(k))
    try:
        # inverse form: the lowest modes come with full relative accuracy, whatever the axial stiffness
        inverse, vectors = eigh(m, k - sigma * m)
        heavy = inverse > 1e-13 * inverse[-1]  # the rest moves without mass
        if inverse[-n] <= 1e-13 * inverse[-1]:
            n = int(heavy.sum())
        squares, vectors = sigma + 1.0 / inverse[heavy][::-1], vectors[:, heavy][:, ::-1]
        squares, vectors = (part[..., :n] for part in _sharper(squares, vectors, k, m, sigma))
    except LinAlgError:  # unstable configuration
        k, m, basis = _condense(k, m)
        squares, vectors = eigh(k, m)
        squares, vectors = squares[:n], basis @ vectors[:, :n]
    return _without_round_off(squares, Z @ vectors, K, M, np.abs(Z) @ np.abs(vectors), sigma), Z @ vectors


def _sharper(squares, vectors, k, m, sigma):
    """ω² (j,), rising, and vectors of the inverse form, those anew by Ritz's method that have lost digits in it.

    Its round-off goes by its largest eigenvalue, which is 1/|σ| of a free body: frequencies then had errors of 1e-4.
    """
    from scipy.linalg import eigh

    sizes, mass = np.abs(vectors), np.einsum("ij,ij->j", vectors, m @ vectors)
    inverse = NEUTRAL / (squares[0] - sigma) * (squares - sigma) ** 2
    poor = np.einsum("ij,ij->j", sizes, abs(k) @ sizes) / mass * NEUTRAL < inverse
    if poor.any():
        part = vectors[:, poor] / np.sqrt(mass[poor])
        found, turned = eigh(part.T @ k @ part, part.T @ m @ part)
        squares, vectors = squares.copy(), vectors.copy()
        squares[poor], vectors[:, poor] = found, part @ turned
        order = np.argsort(squares)
        squares, vectors = squares[order], vectors[:, order]
    return squares, vectors


def _without_round_off(squares, vectors, K, M, sizes, sigma):
    """ω² (k,), with 0 for those that are not above what round-off makes of a motion without stiffness.

    For ω² = φᵀKφ/φᵀMφ that is of the size ε (|φ|ᵀ|K||φ|/φᵀMφ + |σ|); ``sizes``: the magnitudes |φ| that enter it.
    Measured: up to 0.4 of it for free beams, 100 and more for the first bending of a wire of L/r = 1e5.
    """
    stiffness = np.einsum("ik,ik->k", sizes, abs(K) @ sizes)
    mass = np.einsum("ik,ik->k", vectors, M @ vectors)
    bound = NEUTRAL * (stiffness + abs(sigma) * mass)
    return np.where(np.abs(squares) * mass <= bound, 0.0, squares)


def _condense(k, m):
    """Stiffness and mass on the motions that carry mass, the others in static equilibrium, and the map to all."""
    values, vectors = np.linalg.eigh(m)
    heavy = values > 1e-13 * values[-1]
    if not heavy.any():
        raise SolverError("no component has mass: there are no modes")
    a, b = vectors[:, heavy], vectors[:, ~heavy]
    try:
        follow = -np.linalg.solve(b.T @ k @ b, b.T @ k @ a)
    except np.linalg.LinAlgError:
        raise SolverError("components without mass and without stiffness: the modes are undefined") from None
    basis = a + b @ follow
    return basis.T @ k @ basis, basis.T @ m @ basis, basis


def _saddle(K, M, G):
    from scipy.sparse import block_array, csc_array

    m = G.shape[0]
    if m == 0:
        return K.tocsc(), M.tocsc()
    return block_array([[K, -G.T], [-G, None]]).tocsc(), block_array([[M, None], [None, csc_array((m, m))]]).tocsc()


def _shifts(K, M, shift, exponents):
    """The shift given, or small negative ones to try: 10^exponent times the largest frequency squared of a component.

    Below zero K − σM is regular for free bodies too. Round-off of the stiffness is 1e-16 of that frequency squared.
    """
    if shift is not None:
        return [float(shift)]
    k, m = np.abs(K.diagonal()), np.abs(M.diagonal())
    good = (m > 0) & (k > 0)
    largest = float(np.max(k[good] / m[good])) if good.any() else 1.0
    return [-(10.0**e) * largest for e in exponents]


def sparse(
    K: "csc_array", M: "csc_array", G: "csc_array", n: int, shift: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """The n eigenvalues ω² of (1) nearest to the shift, increasing, and vectors by columns, by Lanczos."""
    from scipy.sparse.linalg import eigsh

    A, B = _saddle(K, M, G)
    # far from the modes Lanczos does not converge, very near to zero the factors of a free body are inaccurate
    shifts = _shifts(K, M, shift, (-6, -8, -10, -12, -14))
    tries = [(sigma, most) for most in (LANCZOS, PATIENT) for sigma in shifts]
    problem = "the modes that were found do not satisfy the equations"
    for sigma, most in tries:
        try:
            squares, vectors = _near_a_shift(eigsh, A, B, [sigma], n, most)
        except SolverError as error:
            problem = str(error)
            continue
        if _agree(squares, vectors, A, B):
            break
    else:
        raise SolverError(f"modes: {problem}. Give another shift, or fewer modes")
    order = np.argsort(squares)
    squares, vectors = squares[order], vectors[: K.shape[0], order]
    return _without_round_off(squares, vectors, K, M, np.abs(vectors), shifts[-1]), vectors


def _agree(squares, vectors, A, B):
    """True if ω² are Rayleigh's quotients of their vectors, as far as round-off of these lets say.

    An error δ of a vector is one of the order δ² in the quotient, and of the order δ in what inaccurate factors give.
    """
    stiffness = np.einsum("ik,ik->k", vectors, A @ vectors)
    mass = np.einsum("ik,ik->k", vectors, B @ vectors)
    size = np.einsum("ik,ik->k", np.abs(vectors), abs(A) @ np.abs(vectors))
    bound = AGREES * np.abs(squares * mass) + 100.0 * NEUTRAL * size
    return bool((np.abs(stiffness - squares * mass) <= bound).all())


def _first_of_pairs(s, vectors, n):
    """The n eigenvalues of smallest modulus, one of each conjugate pair, by increasing modulus."""
    keep = np.isfinite(s) & (s.imag >= -1e-10 * np.abs(s))
    s, vectors = s[keep], vectors[:, keep]
    s = np.where(np.abs(s.imag) <= 1e-10 * np.abs(s), s.real + 0j, s)
    order = np.argsort(np.abs(s))[:n]
    return s[order], vectors[:, order]


def dense_quadratic(
    K: "csc_array", C: "csc_array", M: "csc_array", G: "csc_array", n: int, shift: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """The n eigenvalues s of (2) of smallest modulus, one of each pair, and vectors by columns, by LAPACK."""
    Z = null_space(G)
    k, c, m = (Z.T @ (matrix @ Z) for matrix in (K, C, M))
    s, vectors = reduced_quadratic(k, c, m, shift)
    s, vectors = _first_of_pairs(s, vectors, n)
    return s, Z @ vectors


def reduced_quadratic(k: np.ndarray, c: np.ndarray, m: np.ndarray, shift: float | None = None) -> tuple:
    """All finite s of (s² m + s c + k) φ = 0 with full matrices (n, n), and vectors by columns.

    Inverse form about a real σ: 1/(s − σ) are the eigenvalues of an ordinary matrix, the lowest modes its largest ones,
    with full relative accuracy whatever the axial stiffness; motions without mass are those with 0.
    """
    from scipy.linalg import LinAlgError, LinAlgWarning, eig, solve

    one, zero = np.eye(len(k)), np.zeros_like(k)
    sigma = np.sqrt(abs(_shifts(k, m, shift, (-8,))[0]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LinAlgWarning)
            inverse = solve(k + sigma * (c + sigma * m), np.hstack([c + 2 * sigma * m, m]))
    except (LinAlgError, LinAlgWarning):  # on an eigenvalue, or nearly so
        s, vectors = eig(np.block([[zero, one], [-k, -c]]), np.block([[one, zero], [zero, m]]))
        return s, vectors[: len(k)]
    # vectors (φ, (s − σ) φ), of which the second half is taken: it keeps its digits
    values, vectors = eig(np.block([[-inverse], [np.hstack([one, zero])]]))
    finite = np.abs(values) > 1e-13 * np.abs(values).max(initial=0.0)
    s = sigma + 1 / values[finite]
    # of a free motion s = 0 counts twice, and a double root is known to the root of round-off
    return np.where(np.abs(s) <= FREE * sigma, 0.0, s), vectors[len(k) :, finite]


def sparse_quadratic(
    K: "csc_array", C: "csc_array", M: "csc_array", G: "csc_array", n: int, shift: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """The n eigenvalues s of (2) of smallest modulus, one of each pair, and vectors by columns, by Arnoldi."""
    from scipy.sparse import block_array, csc_array, eye_array
    from scipy.sparse.linalg import eigs

    size, m = K.shape[0], G.shape[0]
    one = eye_array(size)
    # unknowns (δq̇, δq, δμ): s M δq̇ = −C δq̇ − K δq + Gᵀ δμ,  s δq = δq̇,  0 = G δq
    left, right = [[-C, -K, G.T], [one, None, None], [None, G, None]], [[M, None, None], [None, one, None]]
    right.append([None, None, csc_array((m, m))])
    if m == 0:
        left, right = [row[:2] for row in left[:2]], [row[:2] for row in right[:2]]
    left, right = block_array(left).tocsc(), block_array(right).tocsc()
    shifts = [np.sqrt(abs(sigma)) for sigma in _shifts(K, M, shift, (-6, -8, -10, -12))]
    try:
        s, vectors = _near_a_shift(eigs, left, right, shifts, min(2 * n + 2, left.shape[0] - 2), ARNOLDI)
    except SolverError as error:
        raise SolverError(f"modes: {error}. Give another shift, or fewer modes") from error
    s, vectors = _first_of_pairs(s, vectors, n)
    return s, vectors[size : 2 * size]
