"""Natural modes of small motions about a configuration, with constraints, pre-stress, follower loads, spin and damping.

About an equilibrium q₀ with multipliers μ (stiffness of constraints included)

    M δq̈ + C δq̇ + K δq − Gᵀ δμ = 0,   G δq = 0                                                                    (1)

Real modes, when C = 0 and K is symmetric:  K φ = ω² M φ on the null space of G. Otherwise the quadratic problem
(s²M + sC + K) φ = 0, s = −ζω ± iω√(1 − ζ²). Up to `DENSE_LIMIT` unknowns by LAPACK on an orthonormal basis of the null
space; larger ones by Lanczos or Arnoldi, shifted and inverted, on the saddle-point matrices

    A = [K −Gᵀ; −G 0],  B = [M 0; 0 0]                                                                              (2)

so that the sparsity of (1) is kept. For a steady rotation see `fem_mbs.solvers.statics.rotating_matrices`.

Source: Géradin & Rixen, Mechanical Vibrations (2015), ch. 2 and 6; (2) Bathe, Finite Element Procedures, ch. 11.
"""

import numpy as np

from fem_mbs.assembly import SMOOTH
from fem_mbs.errors import ParameterError, SolverError
from fem_mbs.nodes import finite_vector
from fem_mbs.solvers.statics import StaticResult, rotating_matrices
from fem_mbs.system import System

DENSE_LIMIT = 600  # unknowns: 0.2 s of LAPACK
LANCZOS = 8  # restarts; a good shift needs one to five
ARNOLDI = 40  # the same for damped modes, whose pairs need more
SYMMETRIC = 1e-7  # of √(K_ii K_jj): above it K is treated as unsymmetric (follower loads); equilibria leave 1e-9


class Modes:
    """Natural modes, by increasing frequency.

    Attributes
    ----------
    omega : (k,) [rad/s]
        Circular frequencies |s| (undamped); negative for a mode that grows without oscillation (ω² < 0, unstable).
    frequency : (k,) [Hz], omega/2π
    eigenvalues : (k,) complex [1/s], s of exp(st); of a conjugate pair the one with positive imaginary part
    damping_ratio : (k,) [-], −Re s/|s|; negative: unstable
    shapes : (k, N, 6)
        (δx inertial [m], δθ body [rad]) of all nodes; complex if modes are; largest component 1.
    """

    def __init__(self, system, eigenvalues, vectors):
        size = np.abs(eigenvalues)
        real = np.isrealobj(vectors)
        grows = (eigenvalues.real > 1e-9 * np.maximum(size, 1e-300)) & (eigenvalues.imag == 0)
        self.omega = np.where(grows, -size, size)
        self.eigenvalues = eigenvalues
        # rigid modes: frequency zero to round-off; their ratio means nothing
        self.damping_ratio = np.divide(-eigenvalues.real, size, out=np.zeros_like(size), where=size > 0)
        shapes = np.zeros((len(eigenvalues), 6 * len(system.nodes)), float if real else complex)
        shapes[:, system.dof >= 0] = vectors.T
        largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1)
        self.shapes = (shapes / np.where(largest == 0, 1, largest)).reshape(len(eigenvalues), -1, 6)
        self.system = system

    @property
    def frequency(self):
        return self.omega / (2 * np.pi)

    @property
    def stable(self):
        """True if no mode grows (to 1e-6 of its frequency)."""
        return bool((self.eigenvalues.real <= 1e-6 * np.abs(self.eigenvalues).max()).all())

    def __len__(self):
        return len(self.omega)

    def __str__(self):
        lines = ["mode   frequency [Hz]   omega [rad/s]   damping ratio"]
        for i, (f, w, z) in enumerate(zip(self.frequency, self.omega, self.damping_ratio), 1):
            lines.append(f"{i:4d}   {f:14.6g}   {w:13.6g}   {z:13.4g}")
        return "\n".join(lines)

    def __repr__(self):
        return f"Modes({len(self)}, lowest {self.frequency[0]:.6g} Hz)" if len(self) else "Modes(0)"


def modes(model, n=10, *, about=None, rotation=None, damping=False, shift=None):
    """Natural modes of a model about a configuration.

    Parameters
    ----------
    model : Model or System
    n : int ≥ 1
        Number of modes.
    about : StaticResult or State, optional
        Configuration, which should be an equilibrium; default: the initial one. A StaticResult brings its multipliers
        and, through gravity and loads at full factor, the stiffness of pre-stress.
    rotation : (3,) [rad/s], optional
        Steady rotation about an axis through the origin: modes in the rotating frame, with centrifugal and gyroscopic
        terms. Use the equilibrium of ``static_equilibrium(…, rotation=…)``.
    damping : bool
        Take dampers into account (complex modes). Gyroscopic terms and unsymmetric stiffness always are.
    shift : float, optional [rad²/s²]
        Large models: σ near which ω² is sought; default slightly below zero.

    Returns
    -------
    Modes

    Raises
    ------
    SolverError
        The mass is singular in a way that leaves no mode, or the iteration did not converge.

    Examples
    --------
    >>> from fem_mbs.model import Model
    >>> from fem_mbs.elements.beam_line import beam_line
    >>> from fem_mbs.elements.sections import Section
    >>> from fem_mbs.nodes import Node6
    >>> rod = Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    >>> model = Model("cantilever")
    >>> _ = model.add(beam_line(Node6(fixed=True), Node6([0.5, 0, 0]), 8, rod))
    >>> modes(model, 2).frequency.round(2)
    array([28.94, 28.94])
    """
    system = model if isinstance(model, System) else model.compile()
    if int(n) != n or n < 1:
        raise ParameterError(modes, "n", n, "must be a whole number ≥ 1")
    lam = about.multipliers if isinstance(about, StaticResult) else np.zeros(system.m)
    state = about.state if isinstance(about, StaticResult) else about
    state = (system.initial if state is None else state).copy()
    state.V[:] = 0.0
    if rotation is None:
        M, C, K, G = system.matrices(state, lam)
        C = C if damping else 0 * C
    else:
        w = finite_vector(modes, "rotation", rotation)
        K, C, M = rotating_matrices(system, state, lam, w)
        if not damping:
            C = 0.5 * (C - C.T)
        G = system.matrices(state)[3]
    for matrix in (K, M, C):
        if not np.isfinite(matrix.data).all():
            element = system.find_nonfinite(state)
            raise SolverError(f"matrices are not finite at this configuration ({element!r})", element=element)
    n = min(int(n), system.n - system.m)
    simple = _symmetric(K) and not abs(C).max() > 0
    if simple:
        K = 0.5 * (K + K.T)
    small = system.layouts[SMOOTH].n <= DENSE_LIMIT
    if simple:
        squares, vectors = (_dense if small else _sparse)(K, M, G, n, shift)
        eigenvalues = np.where(squares < 0, np.sqrt(np.abs(squares)) + 0j, 1j * np.sqrt(np.abs(squares)))
    else:
        eigenvalues, vectors = (_dense_quadratic if small else _sparse_quadratic)(K, C, M, G, n, shift)
    return Modes(system, eigenvalues, vectors)


def _symmetric(K):
    difference = (K - K.T).tocoo()
    size = np.sqrt(np.abs(K.diagonal()))
    return bool((np.abs(difference.data) <= SYMMETRIC * size[difference.row] * size[difference.col]).all())


def _null_space(G):
    """Orthonormal basis (n, n − rank) of the null space of G (m, n), by columns."""
    from scipy.linalg import null_space

    n = G.shape[1]
    return np.eye(n) if G.shape[0] == 0 else null_space(G.toarray(), rcond=1e-11)


def _dense(K, M, G, n, shift):
    from scipy.linalg import LinAlgError, eigh

    Z = _null_space(G)
    k, m = Z.T @ (K @ Z), Z.T @ (M @ Z)
    k, m = 0.5 * (k + k.T), 0.5 * (m + m.T)
    sigma = _shifts(K, M, shift, (-12,))[0]
    n = min(n, len(k))
    try:
        # inverse form: the lowest modes come with full relative accuracy, whatever the axial stiffness
        inverse, vectors = eigh(m, k - sigma * m)
        if inverse[-n] <= 1e-13 * inverse[-1]:
            n = int((inverse > 1e-13 * inverse[-1]).sum())  # the rest moves without mass
        squares, vectors = sigma + 1.0 / inverse[: -n - 1 : -1], vectors[:, : -n - 1 : -1]
    except LinAlgError:  # unstable configuration
        k, m, basis = _condense(k, m)
        squares, vectors = eigh(k, m)
        squares, vectors = squares[:n], basis @ vectors[:, :n]
    return squares, Z @ vectors


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


def _sparse(K, M, G, n, shift):
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh, splu

    A, B = _saddle(K, M, G)
    problem = None
    # far from the modes Lanczos does not converge, very near to zero the factors of a free body are inaccurate
    for sigma in _shifts(K, M, shift, (-6, -8, -10, -12, -14)):
        try:
            factor = splu((A - sigma * B).tocsc())
            inverse = LinearOperator(A.shape, matvec=factor.solve, dtype=float)
            # the start lies in the range of the operator: multipliers then carry no spurious part
            start = factor.solve(B @ np.random.default_rng(0).normal(size=A.shape[0]))
            squares, vectors = eigsh(A, n, M=B, sigma=sigma, OPinv=inverse, which="LM", v0=start, maxiter=LANCZOS)
        except (RuntimeError, ArpackError, ArpackNoConvergence) as error:
            problem = error
            continue
        order = np.argsort(squares)
        return squares[order], vectors[: K.shape[0], order]
    raise SolverError(f"modes: {problem}. Give another shift, or fewer modes") from problem


def _first_of_pairs(s, vectors, n):
    """The n eigenvalues of smallest modulus, one of each conjugate pair, by increasing modulus."""
    keep = np.isfinite(s) & (s.imag >= -1e-10 * np.abs(s))
    s, vectors = s[keep], vectors[:, keep]
    s = np.where(np.abs(s.imag) <= 1e-10 * np.abs(s), s.real + 0j, s)
    order = np.argsort(np.abs(s))[:n]
    return s[order], vectors[:, order]


def _dense_quadratic(K, C, M, G, n, shift):
    from scipy.linalg import eig

    Z = _null_space(G)
    k, c, m = (Z.T @ (matrix @ Z) for matrix in (K, C, M))
    zero, one = np.zeros_like(k), np.eye(len(k))
    s, vectors = eig(np.block([[zero, one], [-k, -c]]), np.block([[one, zero], [zero, m]]))
    s, vectors = _first_of_pairs(s, vectors, n)
    return s, Z @ vectors[: len(k)]


def _sparse_quadratic(K, C, M, G, n, shift):
    from scipy.sparse import block_array, csc_array, eye_array
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigs, splu

    size, m = K.shape[0], G.shape[0]
    one = eye_array(size)
    # unknowns (δq̇, δq, δμ): s M δq̇ = −C δq̇ − K δq + Gᵀ δμ,  s δq = δq̇,  0 = G δq
    left, right = [[-C, -K, G.T], [one, None, None], [None, G, None]], [[M, None, None], [None, one, None]]
    right.append([None, None, csc_array((m, m))])
    if m == 0:
        left, right = [row[:2] for row in left[:2]], [row[:2] for row in right[:2]]
    left, right = block_array(left).tocsc(), block_array(right).tocsc()
    problem = None
    for sigma in _shifts(K, M, shift, (-6, -8, -10, -12)):
        try:
            point = np.sqrt(abs(sigma))
            factor = splu((left - point * right).tocsc())
            inverse = LinearOperator(left.shape, matvec=factor.solve, dtype=float)
            # with ARPACK's random start the number of restarts, and so success, would be a matter of luck
            start = factor.solve(right @ np.random.default_rng(0).normal(size=left.shape[0]))
            count = min(2 * n + 2, left.shape[0] - 2)
            s, vectors = eigs(left, count, M=right, sigma=point, OPinv=inverse, which="LM", v0=start, maxiter=ARNOLDI)
        except (RuntimeError, ArpackError, ArpackNoConvergence) as error:
            problem = error
            continue
        s, vectors = _first_of_pairs(s, vectors, n)
        return s, vectors[size : 2 * size]
    raise SolverError(f"modes: {problem}. Give another shift, or fewer modes") from problem
