"""Natural modes of small motions about a configuration, with constraints, pre-stress, follower loads, spin and damping.

About an equilibrium q₀ with multipliers μ (stiffness of constraints included)

    M δq̈ + C δq̇ + K δq − Gᵀ δμ = 0,   G δq = 0                                                                    (1)

Rows of velocities hold G δq̇ = 0, which is the same but for motions with s = 0, from one place of rest to the next;
these are left out. Their reactions make K unsymmetric.

Real modes, when C = 0 and K is symmetric:  K φ = ω² M φ on the null space of G. Otherwise the quadratic problem
(s²M + sC + K) φ = 0, s = −ζω ± iω√(1 − ζ²). They are solved in `fem_mbs.solvers.eigen`. For a steady rotation see
`fem_mbs.solvers.statics.rotating_matrices`; without ``damping`` of C only its antisymmetric, gyroscopic part is kept.

Source: docs/theory/statics_and_modes.md, (4)-(6); Géradin & Rixen, Mechanical Vibrations (2015), ch. 2 and 6.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments import ArrayLike, Keywords, Named
from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.model import compiled
from fem_mbs.solvers import eigen
from fem_mbs.solvers.eigen import DENSE_LIMIT
from fem_mbs.solvers.equilibrium import rotating_matrices
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.system import model_checks
from fem_mbs.system.in_use import alone
from fem_mbs.system.state import State
from fem_mbs.system.system import System


class Modes:
    """Natural modes, by increasing frequency.

    Attributes
    ----------
    omega : (k,) [rad/s]
        Circular frequencies |s| (undamped); negative for a mode that grows without oscillation (ω² < 0, unstable).
        0 for rigid-body modes: without damping and gyroscopic terms ω² up to the round-off of the stiffness,
        1e-14 |φ|ᵀ|K||φ|/φᵀMφ, counts as 0.
    frequency : (k,) [Hz], omega/2π
    eigenvalues : (k,) complex [1/s], s of exp(st); of a conjugate pair the one with positive imaginary part
    damping_ratio : (k,) [-], −Re s/|s|; negative: unstable
    shapes : (k, N, 6)
        (δx inertial [m], δθ body [rad]) of all nodes; complex if modes are; largest component 1.
    remarks : list of str
        What these modes leave out, in words: fewer modes than asked for, closed contacts, loads without an equilibrium.
        `print` shows them.
    """

    def __init__(self, system: System, eigenvalues: np.ndarray, vectors: np.ndarray) -> None:
        size = np.abs(eigenvalues)
        real = np.isrealobj(vectors)
        grows = (eigenvalues.real > 1e-9 * np.maximum(size, 1e-300)) & (eigenvalues.imag == 0)
        self.omega = np.where(grows, -size, size)
        self.eigenvalues = eigenvalues
        self.damping_ratio = (
            np.divide(-eigenvalues.real, size, out=np.zeros_like(size), where=size > 0) + 0.0
        )  # no "-0"
        self.remarks: list[str] = []
        shapes = np.zeros((len(eigenvalues), 6 * len(system.nodes)), float if real else complex)
        shapes[:, system.dof >= 0] = vectors.T
        largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1)
        self.shapes = (shapes / np.where(largest == 0, 1, largest)).reshape(len(eigenvalues), -1, 6)
        self.system = system

    @property
    def frequency(self) -> np.ndarray:
        return self.omega / (2 * np.pi)

    @property
    def stable(self) -> bool:
        """True if no mode grows (to 1e-6 of its frequency)."""
        return bool((self.eigenvalues.real <= 1e-6 * np.abs(self.eigenvalues).max()).all())

    def __len__(self):
        return len(self.omega)

    def __str__(self):
        lines = ["mode   frequency [Hz]   omega [rad/s]   damping ratio"]
        for i, (f, w, z) in enumerate(zip(self.frequency, self.omega, self.damping_ratio), 1):
            lines.append(f"{i:4d}   {f:14.6g}   {w:13.6g}   {z:13.4g}")
        return "\n".join([*lines, *self.remarks])

    def __repr__(self):
        remarks = f"; {len(self.remarks)} remarks, print shows them" if self.remarks else ""
        return f"Modes({len(self)}, lowest {self.frequency[0]:.6g} Hz{remarks})" if len(self) else "Modes(0)"


@alone("modes")
@Keywords.known
def modes(
    model: Any,
    n: int = 10,
    *,
    about: Any = None,
    rotation: ArrayLike | None = None,
    damping: bool = False,
    shift: float | None = None,
) -> Modes:
    """Natural modes of a model about a configuration.

    Parameters
    ----------
    model : Model or System
    n : int ≥ 1
        Number of modes; if the model has fewer, these are all, and ``remarks`` say so.
    about : StaticResult or State, optional
        Configuration, which should be an equilibrium; default: the initial one. A StaticResult brings its multipliers,
        its rotation and, through gravity and loads at full factor, the stiffness of pre-stress. Velocities are ignored,
        functions of time are taken at the time of the state.
    rotation : (3,) [rad/s], optional
        Steady rotation about an axis through the origin: modes in the rotating frame, with centrifugal and gyroscopic
        terms. Default: that of ``about``, an equilibrium of ``static_equilibrium(…, rotation=…)``.
    damping : bool
        Take dampers into account (complex modes). Gyroscopic terms and unsymmetric stiffness always are.
    shift : float, optional [rad²/s²]
        Large models: σ near which ω² is sought; default slightly below zero.

    Returns
    -------
    Modes

    Raises
    ------
    ParameterError
        ``rotation`` is not that of the rotating equilibrium, or ``about`` has other nodes than the model; ``rotation``
        of a model with rows of velocities.
    SolverError
        The mass is singular in a way that leaves no mode, or the iteration did not converge.

    Examples
    --------
    >>> from fem_mbs.model import Model
    >>> from fem_mbs.elements.beams.line import beam_line
    >>> from fem_mbs.elements.beams.sections import Section
    >>> from fem_mbs.nodes import Node6
    >>> rod = Section.circle(5e-3, E=210e9, nu=0.3, density=7850)
    >>> model = Model("cantilever")
    >>> _ = model.add(beam_line(Node6(fixed=True), Node6([0.5, 0, 0]), 8, rod))
    >>> modes(model, 2).frequency.round(2)
    array([28.94, 28.94])
    """
    owner = Named("modes")
    n, damping = owner.as_integer("n", n), owner.as_flag("damping", damping)
    shift = None if shift is None else owner.number("shift", shift)
    if about is not None:
        owner.as_instance("about", about, (StaticResult, State), "a StaticResult or a State")
    system = compiled(owner, model, check="positions")
    lam = about.multipliers if isinstance(about, StaticResult) else np.zeros(system.m)
    state = about.state if isinstance(about, StaticResult) else about
    state = (system.initial if state is None else state).copy()
    if len(state.x) != len(system.nodes):
        raise ParameterError(
            owner, "about", about, f"has {len(state.x)} nodes, the model {len(system.nodes)}; is it of this model?"
        )
    model_checks.state_fits(system, state)
    state.V[:] = 0.0
    system.update_signals(state.t)
    w = None if rotation is None else owner.as_vector("rotation", rotation)
    turns = about.angular_velocity if isinstance(about, StaticResult) else None
    if turns is not None:
        if w is not None and not np.allclose(w, turns, rtol=1e-9, atol=0.0):
            what = f"rad/s, but the equilibrium turns with {turns.tolist()} rad/s; leave rotation out, or find another"
            raise ParameterError(owner, "rotation", w, what)
        w = turns
    if w is not None and system.non_holonomic:
        what = f"rad/s, but {label(system.non_holonomic[0])} constrains velocities, which such modes do not know"
        raise ParameterError(owner, "rotation", w, what)
    if system.non_holonomic:
        _, lam = initial_accelerations(system, state)
    if w is None:
        M, C, K, G = system.matrices(state, lam)
        C = C if damping else 0 * C
    else:
        K, C, M = rotating_matrices(system, state, lam, w)
        if not damping:
            C = 0.5 * (C - C.T)
        G = system.matrices(state)[3]
    G = G[np.flatnonzero(system.active_rows)]
    for matrix in (K, M, C):
        if not np.isfinite(matrix.data).all():
            element = system.find_nonfinite(state)
            raise SolverError(f"matrices are not finite at this configuration ({element!r})", element=element)
    simple = eigen.symmetric(K, system.circulatory) and not abs(C).max() > 0
    # a degree of freedom has one ω², but two s: real ones, and those of a motion without stiffness, count twice
    asked, n = n, min(int(n), (1 if simple else 2) * (system.n - G.shape[0]))
    remarks = [] if isinstance(about, StaticResult) or w is not None else _loads(system, state, K, lam)
    remarks += _neutral(system)
    remarks += _closed_contacts(system, state)
    if simple:
        K = 0.5 * (K + K.T)
    small = system.n + system.m <= DENSE_LIMIT
    if simple:
        squares, vectors = (eigen.dense if small else eigen.sparse)(K, M, G, n, shift)
        eigenvalues = np.where(squares < 0, np.sqrt(np.abs(squares)) + 0j, 1j * np.sqrt(np.abs(squares)))
    else:
        eigenvalues, vectors = (eigen.dense_quadratic if small else eigen.sparse_quadratic)(K, C, M, G, n, shift)
    found = Modes(system, eigenvalues, vectors)
    if len(found) < asked:
        remarks.insert(0, f"These are all modes of the model: {len(found)}; {asked} were asked for.")
    found.remarks = remarks
    return found


def _neutral(system):
    """Remarks on rows of velocities and on joint friction."""
    remarks = [
        f"{label(element)} is left out: modes are those of motions in which friction does not hold its joint."
        for element in system.frictions[:1]
    ]
    if not system.non_holonomic:
        return remarks
    return remarks + [
        f"{label(system.non_holonomic[0])} constrains velocities: the model can come to rest elsewhere. Motions from "
        "one place of rest to another (s = 0) that rows of velocities would forbid in positions are left out."
    ]


def _loads(system, state, K, lam):
    """Remark on forces that act on what can move: their stiffness of pre-stress is missing.

    With rows of velocities there is no `static_equilibrium`, and reactions ``lam`` are those of the state.
    """
    force = system.forces(state)[1]
    if system.non_holonomic:
        system.constraint_values(state)
        force = force + system.constraint_forces(lam)
    force = np.abs(system.reduced(force))
    small = 1e-9 * np.abs(K.diagonal()) * system.length + 1e-12
    if not (force > small).any():
        return []
    _, where = system.unknown(int(np.argmax(np.where(force > small, force, 0.0))))
    if system.non_holonomic:
        return [f"The model does not rest at this configuration: forces are left over (most on {where})."]
    return [
        f"Loads act at this configuration (most on {where}) that nothing says to be in equilibrium: their stiffness "
        "is left out. Give an equilibrium: modes(system, about=static_equilibrium(system))."
    ]


def _closed_contacts(system, state):
    """Remark on contacts that are closed: modes know no contacts."""
    closed = np.flatnonzero(system.gaps(state) <= 1e-9 * system.size_at(state)) if system.nc else []
    if not len(closed):
        return []
    names = ", ".join(f"'{system.contact_at(int(c)).name}'" for c in closed[:5]) + (", …" if len(closed) > 5 else "")
    return [f"Closed contacts are left out: {names}. Joints in their place would count."]
