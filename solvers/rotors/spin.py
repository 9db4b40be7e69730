"""Small motions of what spins about its own axes, seen in the inertial frame.

Nodes of a rotor turn about axes that are fixed in them, Ω constant in body components. Variations δθ in body axes that
are held at the instant t = 0 (and do not turn on with the node) have δΩ = δθ̇ and δΩ̇ = δθ̈ − Ω×δθ̇, so that with
N = diag(0, Ω̃) per node the matrices at that instant are

    M,    C − M N,    K                                                                                             (1)

with gyroscopic terms of the forces in C, and what damping makes of the turning (circulatory terms) in K. They are those
of every instant if the rotor looks the same from all sides: with T(α) = diag(1, exp(−α ã)) per node

    M = Tᵀ M(α) T,    C − M N = Tᵀ (C − M N)(α) T,    K = Tᵀ K(α) T,    G(α) T ξ = 0 where G ξ = 0                   (2)

after a turn by α. Otherwise the coefficients are periodic and (1) would be wrong: such rotors raise an error.

Source: docs/theory/rotors.md, (1)-(3), derived there.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.spelling import listed
from fem_mbs.element.kinds import BeamLike, ShellLike
from fem_mbs.errors import ParameterError, SolverError, label
from fem_mbs.nodes import Node3
from fem_mbs.rotations import exp, skew
from fem_mbs.system.compiled import CompiledSystem
from fem_mbs.system.state import State

if TYPE_CHECKING:
    from fem_mbs.arguments.checked import ArrayLike, Checked, FrameLike


ANGLES = (1.0, 2.5)  # rad, of the turns of the check (2): no symmetry of a real part repeats after both
UNEVEN = 1e-6  # relative difference of entries that counts as a difference


def turning(
    owner: "Checked", system: CompiledSystem, rotor: "FrameLike | Sequence | None", axis: "ArrayLike | None"
) -> np.ndarray:
    """Angular velocities (N, 3) of all nodes in body components, for the speed 1 of the fastest.

    Parameters
    ----------
    owner : Checked, in whose name errors are raised
    system : System
    rotor : node, body, beam line, or a list of them; or None: the nodes that have an initial angular velocity
    axis : (3,), inertial components, with ``rotor``; or None

    Raises
    ------
    ParameterError
        Nothing turns; an axis without a rotor or the other way round; a node in the rotor that cannot turn.
    """
    if rotor is None:
        owner.check(axis is None, "axis", axis, "is that of rotor=…; without it nodes turn as they do initially")
        spins = system.initial.V[:, 3:].copy()
        fastest = np.linalg.norm(spins, axis=1).max(initial=0.0)
        if fastest == 0.0:
            what = "but no node turns initially: give rotor=… and axis=…, or nodes of the rotor an angular_velocity"
            raise ParameterError(owner, "rotor", None, what)
        return spins / fastest
    owner.check(axis is not None, "axis", axis, "is missing: about which axis does the rotor turn?")
    direction = owner.as_vector("axis", axis)
    owner.check(np.linalg.norm(direction) > 0, "axis", axis, "must not be zero")
    spins = np.zeros((len(system.nodes), 3))
    for node in _nodes(owner, rotor):
        owner.check(node in system.nodes, "rotor", rotor, f"has {label(node)}, which is not in '{system.name}'")
        spins[node.index] = system.initial.R[node.index].T @ direction / np.linalg.norm(direction)
    return spins


def _nodes(owner, rotor):
    """Nodes of what the user calls the rotor."""
    found = []
    parts = rotor if isinstance(rotor, Sequence) else [rotor]
    empty = isinstance(rotor, str) or not len(parts)
    owner.check(not empty, "rotor", rotor, "must be a node, a body, a beam line, or a list of them")
    for part in parts:
        nodes = getattr(part, "nodes", None)
        found += list(nodes) if nodes is not None else [owner.as_frame("rotor", part).node]
    return list({id(node): node for node in found}.values())


def spun(system: CompiledSystem, state: State, spins: np.ndarray, angle: float) -> State:
    """The state after a turn of the rotor, ``angle`` [rad] of the fastest node; velocities are not changed."""
    return system.moved(state, np.hstack([np.zeros_like(spins), angle * spins]))


def spinning_matrices(
    system: CompiledSystem, state: State, spins: np.ndarray, speed: float, lam: np.ndarray | None = None
) -> tuple:
    """M, C, K (n, n) and G (m, n) of (1) at a speed [rad/s], G with all rows of the system.

    ``lam``: multipliers; None: those that hold the forces at rest best.
    """
    from scipy.sparse import block_diag

    state = state.copy()
    state.V[:] = 0.0
    state.V[:, 3:] = speed * spins
    lam = holding(system, state) if lam is None else lam
    M, C, K, G = system.matrices(state, lam)
    N = block_diag([block for spin in spins for block in (np.zeros((3, 3)), skew(speed * spin))], format="csc")
    free = system.dof >= 0
    return M, (C - M @ N[free][:, free]).tocsc(), K, G


def holding(system: CompiledSystem, state: State, force: np.ndarray | None = None) -> np.ndarray:
    """Multipliers (m,) with which the forces f + Gᵀλ that are left over are smallest; f (n,) may be given."""
    from scipy.sparse import block_array, eye_array
    from scipy.sparse.linalg import splu

    if system.m == 0:
        return np.zeros(0)
    f = system.reduced(system.forces(state)[1]) if force is None else force
    G = system.matrices(state)[3]
    scale = abs(G).max() ** 2
    saddle = block_array([[eye_array(system.n), -G.T], [-G, -1e-13 * scale * eye_array(system.m)]])
    return splu(saddle.tocsc()).solve(np.concatenate([f, np.zeros(system.m)]))[system.n :]


def check_symmetry(owner: "Checked", system: CompiledSystem, state: State, spins: np.ndarray, speed: float) -> None:
    """Raise a ParameterError unless (2) holds: the rotor looks the same however far it has turned."""
    _same_beams(owner, system, spins)
    _same_supports(owner, system, spins)
    from scipy.sparse import block_diag

    names = ("masses", "damping and gyroscopic terms", "stiffnesses")
    here = spinning_matrices(system, state, spins, speed)
    free = system.dof >= 0
    for angle in ANGLES:
        there = spinning_matrices(system, spun(system, state, spins, angle), spins, speed)
        T = block_diag([block for spin in spins for block in (np.eye(3), exp(-angle * spin))], format="csc")
        T = T[free][:, free]
        for name, first, second in zip(names, here, there):
            _same(owner, system, name, first, (T.T @ second @ T).tocsc(), angle)
        _same_rows(owner, system, here[3], there[3] @ T)


def _same(owner, system, name, first, second, angle):
    """Compare two matrices entry by entry, each with the largest of its row and column."""
    difference = abs(first - second).tocoo()
    if not np.isfinite(difference.data).all():
        raise SolverError(f"matrices are not finite at this configuration ({system.find_nonfinite(system.initial)!r})")
    size = abs(first).max(axis=1).toarray().ravel()
    size = np.maximum(size, 1e-9 * size.max(initial=0.0))
    bound = UNEVEN * np.sqrt(size[difference.row] * size[difference.col]) + 1e-300
    if (difference.data > bound).any():
        worst = int(np.argmax(difference.data / bound))
        node, where = system.unknown(int(difference.row[worst]))
        at = [label(element) for element in system.elements if node in element.nodes]
        relative = difference.data[worst] / bound[worst] * UNEVEN
        raise ParameterError(
            owner, "model", system.name,
            f"is not the same after a turn of the rotor by {angle:g} rad: its {name} differ by {relative:.2g}, most at "
            f"{where}, on which act {listed(at[:4])}. Modes in the inertial frame need a rotor with the same inertia "
            "and stiffness in all directions about its axis, without eccentricity (unbalance_response takes unbalances "
            "as an argument), all of whose nodes turn. A Bushing turns with the node that it is on: put it on a "
            "housing that stands still, and hold the rotor in that by a Spherical joint. For other rotors use "
            "modes(…, rotation=…) if the supports are the same in all directions, else floquet(…)",
        )  # fmt: skip


def _same_rows(owner, system, first, second):
    """Motions that joints allow now must be those that they allow after the turn."""
    if system.m == 0:
        return
    from scipy.sparse import block_array, eye_array
    from scipy.sparse.linalg import splu

    n, m = system.n, system.m
    solve = splu(block_array([[eye_array(n), first.T], [first, -1e-13 * eye_array(m)]]).tocsc()).solve
    trials = np.random.default_rng(0).normal(size=(n, 3))
    allowed = solve(np.vstack([trials, np.zeros((m, 3))]))[:n]
    left = np.abs(second @ allowed).max(axis=1)
    worst = int(left.argmax())
    if left[worst] > UNEVEN * np.abs(allowed).max() * max(1.0, abs(second).max()):
        row = next(element for element, rows in system.rows.items() if rows.start <= worst < rows.stop)
        what = "turns with the rotor and holds another direction after a turn: its constraint is periodic; see floquet"
        raise ParameterError(owner, "model", system.name, f"{label(row)} {what}")


def _same_beams(owner, system, spins):
    """Beams turn as a whole."""
    for beam in system.elements:
        if isinstance(beam, (BeamLike, ShellLike)):
            turns = [node for node in beam.nodes if spins[node.index].any()]
            stands = [node for node in beam.nodes if not spins[node.index].any()]
            if turns and stands:
                what = (
                    f"has {label(beam)}, of which {label(turns[0])} turns and {label(stands[0])} does not: give all "
                    "nodes of the rotor an angular_velocity (for node in line.nodes: …), or rotor=[line, …]"
                )
                raise ParameterError(owner, "model", system.name, what)


def _same_supports(owner, system, spins):
    """Rotations of a node that turns are fixed in a way that turns into itself, and the spin itself is free."""
    for node in system.nodes:
        spin, free = spins[node.index], np.diag(system.free[node.index, 3:].astype(float))
        if not spin.any():
            continue
        if isinstance(node, Node3):
            whose = f" of {label(node.body)}" if node.body is not None else ""
            what = (
                f"has {label(node)}{whose}, which cannot turn about itself: a rotor with a solid or superelement in it "
                "has modes in the rotating frame alone: fem.modes about fem.static_equilibrium(…, rotation=…)"
            )
            raise ParameterError(owner, "rotor", system.name, what)
        if np.abs(free @ skew(spin) - skew(spin) @ free).max() > 1e-9 or np.abs(free @ spin - spin).max() > 1e-9:
            what = f"has {label(node)}, which turns but has rotations fixed ({', '.join(_fixed(system, node))}) in its"
            raise ParameterError(
                owner, "model", system.name, f"{what} own axes; use joints, or fix both across the axis"
            )


def _fixed(system, node):
    return [name for name, free in zip(("rx", "ry", "rz"), system.free[node.index, 3:]) if not free]
