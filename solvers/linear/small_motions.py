"""Matrices of small motions about a state, however it moves and whatever it touches; all linear analyses begin here.

    M δq̈ + C δq̇ + K δq − Gᵀ δμ = 0,    G δq = 0                                                                 (1)

about a state at rest, one that turns steadily as a whole (rotating frame, `solvers.equilibrium`) or one of nodes that
spin about their own axes (inertial frame, `solvers.rotors.spin`). Contacts that are closed add rows: their normal
direction, and both tangents where they stick, with the stiffness −∂(Gᵀλ)/∂q of the forces λ that hold the state.

Source: docs/theory/statics_and_modes.md, (4), (7)-(9); docs/theory/rotors.md, (1)-(3).
"""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.errors import ParameterError, SolverError, Warnings, label
from fem_mbs.model import compiled
from fem_mbs.solvers.counting_rows import SAME, counting_rows, spread
from fem_mbs.solvers.equilibrium import rotating_matrices, steady_rotation
from fem_mbs.solvers.linear.closed_contacts import ClosedContacts
from fem_mbs.solvers.rotors.spin import check_symmetry, holding, spinning_matrices, turning
from fem_mbs.solvers.static_result import StaticResult
from fem_mbs.solvers.stepping.initial import initial_accelerations
from fem_mbs.system.checks import element_checks, model_checks
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.element_states import contact_states
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csc_array

    from fem_mbs.arguments.checked import ArrayLike, Checked
    from fem_mbs.element.contact import Contact
    from fem_mbs.model import Model
    from fem_mbs.system.system import System


HELD = 1e-9  # of the forces: what may be left over at a state that joints hold


class SmallMotions:
    """The matrices of (1), and what they are about.

    Attributes
    ----------
    system, state : CompiledSystem, State; the state with the velocities that the matrices are about
    M, C, K : (n, n) sparse
    G : (k, n) sparse, the rows that count (`fem_mbs.solvers.counting_rows`) of joints, and of contacts
    spread : (m, k) sparse, multipliers of all rows of joints from those of G
    multipliers : (m,)
    rotation : (3,) [rad/s] or None, angular velocity of the frame
    spins : (N, 3) [rad/s] or None, body components, of nodes that spin
    warnings : list of str, warnings of terms neglected in the matrices
    """

    def __init__(self, system: CompiledSystem, state: State, lam: np.ndarray) -> None:
        self.system, self.state, self.multipliers = system, state, lam
        self.M: csc_array = None  # matrices, set as they are found
        self.C: csc_array = None
        self.K: csc_array = None
        self.G: csc_array = None
        self.spread: csc_array = None
        self.spins: np.ndarray | None = None
        self.rotation: np.ndarray | None = None
        self.warnings: list[str] = []

    def count_rows(self) -> None:
        """Keep the independent rows in G."""
        G = self.G
        kept = counting_rows(self.system, G)
        arm = np.append(self.system.row_arm[: self.system.m], np.ones(G.shape[0] - self.system.m))
        self._rows: csc_array = G
        self._kept, self.G = kept, G[kept]
        self.spread = spread(G, kept, arm)[: self.system.m]

    def moved_rows(self, change: np.ndarray) -> np.ndarray | None:
        """Express a change of g (m,) by a driver in the rows of G; None where redundant rows forbid it."""
        full = np.append(change, np.zeros(self._rows.shape[0] - len(change)))
        here = full[self._kept]
        rest = np.setdiff1d(np.arange(len(full)), self._kept)
        if full.any() and len(rest):
            parts = np.linalg.lstsq(self.G.toarray().T, self._rows[rest].toarray().T, rcond=SAME)[0]
            if np.abs(full[rest] - parts.T @ here).max() > SAME * np.abs(full).max():
                return None
        return here

    def finite(self) -> None:
        """Raise a SolverError that names the element whose matrices are not finite."""
        for matrix in (self.K, self.M, self.C):
            if not np.isfinite(matrix.data).all():
                element = self.system.find_nonfinite(self.state)
                raise SolverError(f"matrices are not finite at this configuration ({label(element)})", element=element)


def small_motions(
    owner: "Checked",
    model: "Model | System",
    about: StaticResult | State | None,
    *,
    rotation: "ArrayLike | None" = None,
    spinning: bool = False,
    contacts: "str | Sequence[Contact]" = "open",
) -> SmallMotions:
    """Matrices of a model about a state; parameters as those of `modes`."""
    if about is not None:
        owner.as_instance("about", about, (StaticResult, State), "a StaticResult or a State")
    system = compiled(owner, model, check="positions")
    lam = about.multipliers if isinstance(about, StaticResult) else np.zeros(system.m)
    given = about.state if isinstance(about, StaticResult) else about
    given = system.initial if given is None else given
    state = given.copy()
    if len(state.x) != len(system.nodes):
        raise ParameterError(
            owner, "about", about, f"has {len(state.x)} nodes, the model {len(system.nodes)}; is it of this model?"
        )
    system.switch_at(state.t, system.initial if isinstance(about, StaticResult) else state)
    model_checks.state_fits(system, state)
    system.update_signals(state.t)
    contact_states(system.data[0], state.x, state.R, state.V)
    status = about.contact_status if isinstance(about, StaticResult) else ()
    closed = ClosedContacts(owner, system, state, contacts, status)
    state.V[:] = 0.0
    w = _rotation(owner, system, about, rotation)
    owner.check(not (spinning and w is not None), "spinning", spinning, "is not for a rotating frame; give one of both")
    found = SmallMotions(system, state, lam)
    found.rotation = w
    if w is not None:
        if not isinstance(about, StaticResult):
            found.multipliers = lam = _at_rest(found)
        found.K, found.C, found.M = rotating_matrices(system, state, lam, w)
        found.G = system.matrices(state)[3]
    elif spinning:
        _spin(owner, found, given, about)
    else:
        if system.non_holonomic:
            found.multipliers = initial_accelerations(system, state)[1]
        elif not isinstance(about, StaticResult):
            found.multipliers = _at_rest(found)
        found.M, found.C, found.K, found.G = system.matrices(state, found.multipliers)
    found.finite()
    force = _left_over(found)
    force = closed.add_to(found, force)
    found.count_rows()
    if not isinstance(about, StaticResult):
        loads = _loads(found, force)
        found.warnings += loads
        for text in loads:
            Warnings.issue(f"{label(owner)}: {text}")
    found.warnings += _neutral(system) + closed.warnings + element_checks.rotation_warnings(system, state, w)
    return found


def _rotation(owner, system, about, rotation):
    """Angular velocity (3,) of the rotating frame, or None."""
    w = None if rotation is None else owner.as_vector("rotation", rotation)
    turns = about.angular_velocity if isinstance(about, StaticResult) else None
    if turns is not None:
        if w is not None and not np.allclose(w, turns, rtol=1e-9, atol=0.0):
            what = f"rad/s, but the equilibrium turns with {turns.tolist()} rad/s; leave rotation out, or find another"
            raise ParameterError(owner, "rotation", w, what)
        w = turns
    if w is not None and system.non_holonomic:
        what = f"rad/s, but {label(system.non_holonomic[0])} constrains velocities, which such modes do not support"
        raise ParameterError(owner, "rotation", w, what)
    return w


def _spin(owner, found, given, about):
    """Matrices in the inertial frame about the angular velocities of the state, those of a StaticResult initially."""
    system = found.system
    if system.non_holonomic:
        what = f"but {label(system.non_holonomic[0])} constrains velocities, which such modes do not support"
        raise ParameterError(owner, "spinning", True, what)
    V = system.initial.V if isinstance(about, StaticResult) else given.V
    size = max(np.abs(V[:, 3:]).max(initial=0.0) * system.size, 1e-300)
    moves = np.abs(V[:, :3]).max(axis=1) > 1e-9 * size
    if moves.any():
        node = system.nodes[int(np.argmax(moves))]
        what = f"is for nodes that turn about their own axes, but {label(node)} moves: use rotation=…, or Floquet"
        raise ParameterError(owner, "spinning", True, what)
    before, system.initial = system.initial, given.copy()
    try:
        system.initial.V[:] = V
        spins = turning(owner, system, None, None)
    finally:
        system.initial = before
    speed = float(np.linalg.norm(V[:, 3:], axis=1).max())
    check_symmetry(owner, system, found.state, spins, speed)
    lam = found.multipliers if isinstance(about, StaticResult) else holding(system, found.state)
    found.M, found.C, found.K, found.G = spinning_matrices(system, found.state, spins, speed, lam)
    found.spins, found.multipliers = speed * spins, lam
    found.state.V[:, 3:] = found.spins


def _at_rest(found):
    """Multipliers of a state that its joints hold in equilibrium (a pendulum that hangs), zero if they do not."""
    system = found.system
    force = system.reduced(_forces(found))
    found.multipliers = lam = holding(system, found.state, force)
    left = np.abs(_left_over(found)).max(initial=0.0)
    return lam if left <= HELD * np.abs(force).max(initial=0.0) else np.zeros(system.m)


def _forces(found):
    """Forces (6 N,) at the state, in a rotating frame with those of inertia."""
    if found.rotation is None:
        return found.system.forces(found.state)[1].copy()
    turning_state = found.state.copy()
    turning_state.V[:], A = steady_rotation(found.system, found.state, found.rotation)
    Ma, f = found.system.forces(turning_state, A)
    return f - Ma


def _left_over(found):
    """Forces (n,) that the constraints do not hold."""
    system = found.system
    force = _forces(found)
    if system.non_holonomic or found.spins is not None or np.any(found.multipliers):
        system.constraint_values(found.state)
        force = force + system.constraint_forces(found.multipliers)
    return system.reduced(force)


def _neutral(system):
    """Warnings of rows of velocities and of joint friction."""
    warnings = [
        f"{label(element)} is left out: modes are those of motions in which the friction of the joint does not stick."
        for element in system.frictions[:1]
    ]
    if not system.non_holonomic:
        return warnings
    return [
        *warnings,
        f"{label(system.non_holonomic[0])} constrains velocities: the model can come to rest elsewhere. Motions from "
        "one equilibrium to another (s = 0) that rows of velocities would forbid in positions are left out.",
    ]


def _loads(found, force):
    """Warning of forces that act on free coordinates: their stiffness of pre-stress is missing.

    With rows of velocities there is no `static_equilibrium`, and reactions are those of the state.
    """
    system, force = found.system, np.abs(force)
    small = 1e-9 * np.abs(found.K.diagonal()) * system.length + 1e-12
    if not (force > small).any():
        return []
    _, where = system.unknown(int(np.argmax(np.where(force > small, force, 0.0))))
    if system.non_holonomic:
        return [f"This configuration is no equilibrium: there are unbalanced forces (largest on {where})."]
    what, how = ("Loads act", "") if found.rotation is None else ("Centrifugal forces or loads act", ", rotation=…")
    return [
        f"{what} at this configuration (largest on {where}) that may not be in equilibrium: their stiffness is "
        f"left out. Pass an equilibrium: modes(system, about=static_equilibrium(system{how}))."
    ]
