"""Natural modes of small motions about a configuration, with constraints, pre-stress, follower loads, spin and damping.

About an equilibrium q₀ with multipliers μ (stiffness of constraints included)

    M δq̈ + C δq̇ + K δq − Gᵀ δμ = 0,   G δq = 0                                                                    (1)

Rows of velocities hold G δq̇ = 0, which is the same but for motions with s = 0, from one place of rest to the next;
these are left out. Their reactions make K unsymmetric.

Real modes, when C = 0 and K is symmetric:  K φ = ω² M φ on the null space of G. Otherwise the quadratic problem
(s²M + sC + K) φ = 0, s = −ζω ± iω√(1 − ζ²). They are solved in `fem_mbs.solvers.eigen`. For a steady rotation see
`fem_mbs.solvers.equilibrium.rotating_matrices`, for nodes that spin and closed contacts
`fem_mbs.solvers.linear.small_motions`; without ``damping`` of C only its antisymmetric, gyroscopic part is kept.

Source: docs/theory/statics_and_modes.md, (4)-(6); Géradin & Rixen, Mechanical Vibrations (2015), ch. 2 and 6.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.deprecated import Deprecated
from fem_mbs.errors import ModelError, label
from fem_mbs.results.file.names import ShapesByName
from fem_mbs.solvers import eigen
from fem_mbs.solvers.eigen import DENSE_LIMIT
from fem_mbs.solvers.linear.small_motions import small_motions
from fem_mbs.solvers.rotors.whirl import Whirl
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.in_use import alone
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fem_mbs.element.contact import Contact
    from fem_mbs.model import Model
    from fem_mbs.results.results import Results
    from fem_mbs.solvers.static_result import StaticResult
    from fem_mbs.system.system import System


@Deprecated.attributes(remarks="warnings")
class Modes(ShapesByName):
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
        (δx inertial [m], δθ body [rad]) of all nodes; complex if modes are; largest component 1. Of a node or body:
        ``modes["tip"]`` (k, 6); ``len(modes)`` is the number of modes.
    warnings : list of str
        Warnings: fewer modes than requested, closed contacts, loads without an equilibrium.
        `print` shows them.
    whirl : list of str or None
        With ``spinning``: "forward", "backward", "mixed", "straight", "along the axis", see `campbell`.
    state : State, about which the motions are small
    """

    def __init__(
        self, system: CompiledSystem, eigenvalues: np.ndarray, vectors: np.ndarray, state: State | None = None
    ) -> None:
        size = np.abs(eigenvalues)
        real = np.isrealobj(vectors)
        grows = (eigenvalues.real > 1e-9 * np.maximum(size, 1e-300)) & (eigenvalues.imag == 0)
        self.omega = np.where(grows, -size, size)
        self.eigenvalues = eigenvalues
        self.damping_ratio = (
            np.divide(-eigenvalues.real, size, out=np.zeros_like(size), where=size > 0) + 0.0
        )  # no "-0"
        self.warnings: list[str] = []
        shapes = np.zeros((len(eigenvalues), 6 * len(system.nodes)), float if real else complex)
        shapes[:, system.dof >= 0] = vectors.T
        largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1)
        self.shapes = (shapes / np.where(largest == 0, 1, largest)).reshape(-1, len(system.nodes), 6)
        self.system, self.state = system, system.initial if state is None else state
        self.whirl: list[str] | None = None

    def motion(
        self, mode: int, *, amplitude: float | None = None, frames: int = 24, save: str | Path | None = None
    ) -> "Results":
        """One period of a mode (without its decay) as `Results`: ``animate``, ``picture``, ``export``, ``show``.

        Parameters
        ----------
        mode : int
            Number of the mode, from 0.
        amplitude : float, optional [m]
            Of the largest displacement; default: a twentieth of the model, and no rotation above 0.3 rad.
        frames : int ≥ 2
        save : path, optional
            Results file, which ParaView plays.

        Raises
        ------
        ParameterError
            No such mode.
        """
        from fem_mbs.solvers.linear.mode_motion import mode_motion

        owner = Named("motion")
        mode, frames = owner.as_integer("mode", mode, 0), owner.as_integer("frames", frames, 2)
        owner.check(mode < len(self), "mode", mode, f"is not there: {len(self)} modes, numbered from 0")
        amplitude = None if amplitude is None else owner.positive("amplitude", amplitude, "m")
        owner.as_path("save", save)
        return mode_motion(self.system, self.state, self.shapes[mode], self.omega[mode], amplitude, frames, save)

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
        lines = ["mode   frequency [Hz]   omega [rad/s]   damping ratio" + ("   whirl" if self.whirl else "")]
        for i, (f, w, z) in enumerate(zip(self.frequency, self.omega, self.damping_ratio), 1):
            lines.append(
                f"{i:4d}   {f:14.6g}   {w:13.6g}   {z:13.4g}" + (f"   {self.whirl[i - 1]}" if self.whirl else "")
            )
        return "\n".join([*lines, *self.warnings])

    def __repr__(self):
        warnings = f"; {len(self.warnings)} warnings, print shows them" if self.warnings else ""
        return f"Modes({len(self)}, lowest {self.frequency[0]:.6g} Hz{warnings})" if len(self) else "Modes(0)"


@alone("modes")
@Keywords.known
def modes(
    model: "Model | System",
    n: int = 10,
    *,
    about: "StaticResult | State | None" = None,
    rotation: ArrayLike | None = None,
    damping: bool = False,
    shift: float | None = None,
    spinning: bool = False,
    contacts: "str | Sequence[Contact]" = "open",
) -> Modes:
    """Natural modes of a model about a configuration.

    Parameters
    ----------
    model : Model or System
    n : int ≥ 1
        Number of modes; if the model has fewer, all are returned, with a warning in ``warnings``.
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
    spinning : bool
        Nodes go on turning about their own axes, as they do in ``about`` (an equilibrium: as they do initially): modes
        in the inertial frame with gyroscopic terms, see `campbell`. Without ``damping`` the unsymmetric part of the
        stiffness is left out as well.
    contacts : "open", "closed", or a list of contacts
        "closed": contacts that touch at the state hold in their normal direction, those with friction that do not
        slide there along their tangents too; a list: these, whatever their gap. Contact groups are left out.

    Returns
    -------
    Modes

    Raises
    ------
    ParameterError
        ``rotation`` is not that of the rotating equilibrium, or ``about`` has other nodes than the model; ``rotation``
        of a model with rows of velocities; ``spinning`` of what is not the same after a turn.
    ModelError
        Nothing can move.
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
    spinning = owner.as_flag("spinning", spinning)
    shift = None if shift is None else owner.number("shift", shift)
    about_it = small_motions(owner, model, about, rotation=rotation, spinning=spinning, contacts=contacts)
    system, M, C, K, G = about_it.system, about_it.M, about_it.C, about_it.K, about_it.G
    if not damping:
        about_it.warnings += [
            f"{label(element)} is left out: its states of first order are coupled by velocities, see damping=True."
            for element in [e for e in system.elements if e.abstract][:1]
        ]
        C = 0.5 * (C - C.T)
        K = 0.5 * (K + K.T) if spinning else K  # damping of what turns is circulatory
        if not spinning and rotation is None and getattr(about, "angular_velocity", None) is None:
            C = 0 * C
    simple = eigen.symmetric(K, system.circulatory) and not abs(C).max() > 0
    if system.n == G.shape[0]:
        if contacts == "open":
            raise ModelError(f"nothing in model '{system.name}' can move: its constraints hold all of it. Free some")
        found = Modes(system, np.zeros(0, complex), np.zeros((system.n, 0)), about_it.state)
        text = (
            "There are no modes: constraints and contacts hold all of the model. Contacts with friction stick; "
            "friction=0 frees them."
        )
        found.warnings = [text, *about_it.warnings]
        return found
    # a degree of freedom has one ω², but two s: real ones, and those of a motion without stiffness, count twice
    asked, n = n, min(int(n), (1 if simple else 2) * (system.n - G.shape[0]))
    if simple:
        K = 0.5 * (K + K.T)
    small = system.n + G.shape[0] <= DENSE_LIMIT
    if simple:
        squares, vectors = (eigen.dense if small else eigen.sparse)(K, M, G, n, shift)
        eigenvalues = np.where(squares < 0, np.sqrt(np.abs(squares)) + 0j, 1j * np.sqrt(np.abs(squares)))
    else:
        eigenvalues, vectors = (eigen.dense_quadratic if small else eigen.sparse_quadratic)(K, C, M, G, n, shift)
    found = Modes(system, eigenvalues, vectors, about_it.state)
    if about_it.spins is not None:
        whirl = Whirl(system, about_it.state, about_it.spins, M.diagonal())
        found.whirl = [whirl.of(shape)[0] if s.imag > 0 else "no whirl" for s, shape in zip(eigenvalues, found.shapes)]
    found.warnings = about_it.warnings
    if len(found) < asked:
        found.warnings.insert(0, f"These are all modes of the model: {len(found)}; {asked} were requested.")
    return found
