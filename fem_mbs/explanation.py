"""Description of a model: mobility, loops of redundant joints, motions without resistance.

Motions without resistance have no strain energy: v with G v = 0 and vᵀ K v = 0, K without gravity. Each is described
by the rotation or displacement of its nodes, the largest of which is 1 m or 1 rad.

Source: docs/theory/redundancy.md, (5).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import label
from fem_mbs.model import compiled
from fem_mbs.nodes import Node1
from fem_mbs.results.drawing.notebook import Report
from fem_mbs.system.checks.locked_gears import describe_locked, locked_gears
from fem_mbs.system.checks.loops import Loop, loops_of
from fem_mbs.system.checks.redundancy import independent_count

MOST_UNKNOWNS = 2000  # for free motions, found by dense matrices
STIFF = 1e-10  # of the largest stiffness: less counts as none
_STILL = 1e-6  # of the largest motion
_MOST_PARTS, _MOST_NAMES = 8, 4  # motions, and names of the moving bodies, that are listed


class Explanation:
    """Result of `explain`; ``print`` shows it.

    Attributes
    ----------
    mobility : int
        Velocities that can be chosen freely at the initial configuration.
    redundant : int, redundant rows
    loops : list of Loop
        Joints among which rows repeat, with a proposal.
    locked : list of (couplings, bodies)
        Gears whose ratios lock each other, and the locked bodies.
    motions : (k, N, 6), motions without strain energy
        (δx inertial [m], δθ body [rad]) of all nodes, the fastest rotation 1 rad, or the longest displacement 1 m;
        empty for more than 2,000 velocities.
    moving : list of str
        Moving bodies of each, in words.
    """

    def __init__(self, system: Any, redundant: int, loops: list[Loop], motions: np.ndarray) -> None:
        self.system, self.redundant, self.loops, self.motions = system, redundant, loops, motions
        self.locked = locked_gears(system)
        self.rows = int(system.active_rows.sum() + system.empty_rows[: system.m].sum())
        self.mobility = system.n - self.rows + redundant
        self.moving = [_words(system, motion) for motion in motions]

    def _lines(self):
        system = self.system
        yield "", f"Model '{system.model.name}'"
        rows = f"{self.rows} constraint rows, {self.redundant} of them redundant"
        yield "mobility", f"{self.mobility}: {system.n} velocities, {rows}"
        for loop in self.loops:
            yield "loop", str(loop)
        for train in self.locked:
            yield "locked", describe_locked(train)
        if system.n > MOST_UNKNOWNS:
            yield "free", f"not looked for: more than {MOST_UNKNOWNS} velocities"
        for words in self.moving:
            yield "free", words
        if not self.moving and system.n <= MOST_UNKNOWNS:
            yield "free", "nothing moves without straining springs or beams"

    def __str__(self):
        return str(Report(self._lines()))

    def _repr_html_(self) -> str:
        return Report(self._lines())._repr_html_()

    def __repr__(self):
        return f"Explanation(mobility {self.mobility}, {self.redundant} redundant rows)"


@Keywords.known
def explain(model: Any) -> Explanation:
    """Explain the mobility of a model at its initial configuration.

    Parameters
    ----------
    model : Model or System
        It need not be ready to run: redundant joints are explained.

    Returns
    -------
    Explanation

    Raises
    ------
    ParameterError, ModelError
        Not a model; elements that use nodes which were not added.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> model = fem.Model("pendulum")
    >>> rod = model.add(fem.RigidBody.box(1.0, [1, 0.1, 0.1], position=[0.5, 0, 0], name="rod"))
    >>> _ = model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="pin"))
    >>> print(explain(model))
    Model 'pendulum'
      mobility     1: 6 velocities, 5 constraint rows, 0 of them redundant
      free         RigidBody 'rod': turns about [0, 1, 0] through [0, 0, 0] m
    """
    system = compiled(Named("explain"), model, check=False)
    repeated = int(system.active_rows.sum()) - independent_count(system)
    redundant = repeated + int(system.empty_rows[: system.m].sum())
    if system.m:
        system.constraint_values(system.initial)
    loops = loops_of(system) if repeated else []
    return Explanation(system, redundant, loops, _free_motions(system))


def _free_motions(system):
    """Motions (k, N, 6) without strain energy, each with one component that no other has, scaled."""
    from scipy.linalg import eigh, qr

    none = np.zeros((0, len(system.nodes), 6))
    if not 0 < system.n <= MOST_UNKNOWNS:
        return none
    gravity = system.gravity_at(system.initial.t)
    try:
        state = system.initial.copy()
        state.V[:] = 0.0
        system.update_signals(state.t)
        system.set_gravity(np.zeros(3))
        _, _, K, G = system.matrices(state)
    finally:
        system.set_gravity(gravity)
    scale = np.where(np.arange(6 * len(system.nodes)) % 6 < 3, 1.0, 1.0 / system.length)[system.dof >= 0]
    active = np.flatnonzero(system.active_rows)
    Z = np.diag(scale) @ _null_space(G.toarray()[active] * scale) if len(active) else np.diag(scale)
    if not Z.shape[1]:
        return none
    reduced = Z.T @ (K @ Z)
    values, vectors = eigh(0.5 * (reduced + reduced.T))
    size = max(np.abs(K.diagonal() * scale**2).max(initial=0.0), 1e-300)
    Z = Z @ vectors[:, np.abs(values) <= STIFF * size]
    if not Z.shape[1]:
        return none
    _, order = qr((Z / scale[:, None]).T, mode="r", pivoting=True)
    chosen = np.sort(order[: Z.shape[1]])
    motions = np.zeros((Z.shape[1], 6 * len(system.nodes)))
    motions[:, system.dof >= 0] = (Z @ np.linalg.inv(Z[chosen])).T
    return np.array([_scaled(system, motion.reshape(-1, 6)) for motion in motions])


def _scaled(system, motion):
    """Scale a motion (N, 6): fastest rotation 1 rad about an axis that points ahead, or longest displacement 1 m."""
    turns = np.array([node.rotation @ row[3:] for node, row in zip(system.nodes, motion)])
    rates, ways = np.linalg.norm(turns, axis=1), np.linalg.norm(motion[:, :3], axis=1)
    if rates.max() * system.length <= _STILL * ways.max():
        return motion / ways.max()
    fastest = turns[np.argmax(rates > (1.0 - _STILL) * rates.max())]
    return motion / (np.linalg.norm(fastest) * np.sign(fastest[np.argmax(np.abs(fastest))]))


def _null_space(G):
    """Orthonormal basis (n, k) of the null space of G (m, n), with the tolerance of `redundancy`."""
    from scipy.linalg import svd

    norms = np.linalg.norm(G, axis=1)
    _, values, V = svd(G[norms > 0] / norms[norms > 0, None])
    return V[int((values > 1e-9 * values.max(initial=1e-300)).sum()) :].T


def _words(system, motion):
    """A motion (N, 6) in words: each kind of motion, and the bodies that move."""
    size, moving = np.abs(motion).max(), {}
    for node, row in zip(system.nodes, motion):
        if np.abs(row).max() > _STILL * size:
            how = f"moves by {row[0]:.3g}" if isinstance(node, Node1) else _screw(node, row, size)
            moving.setdefault(how, []).append(label(node.body or node))
    parts = []
    for how, names in list(moving.items())[:_MOST_PARTS]:
        names = list(dict.fromkeys(names))  # a body of several nodes once
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        parts.append(f"{', '.join(names[:_MOST_NAMES])}{more}: {how}")
    if len(moving) > _MOST_PARTS:
        parts.append(f"{sum(len(names) for names in list(moving.values())[_MOST_PARTS:])} more nodes move otherwise")
    return "; ".join(parts)


def _screw(node, row, size):
    """Describe the motion of a node: a translation, or a rotation about a line, perhaps with an advance."""
    x, turn = row[:3], node.rotation @ row[3:]
    rate = np.linalg.norm(turn)
    if rate <= _STILL * size:
        way = np.linalg.norm(x)
        return f"moves along {_vector(x / way)}{_factor(way, 'm')}"
    axis = turn / rate
    lead = np.sign(axis[np.argmax(np.abs(axis))])
    place = node.position + np.cross(turn, x) / rate**2
    place = place - (place @ axis) * axis
    text = f"turns about {_vector(lead * axis)} through {_vector(place)} m{_factor(lead * rate, 'rad')}"
    advance = x @ axis
    return text + (f" and moves along it by {lead * advance:.3g} m" if abs(advance) > _STILL * size else "")


def _vector(a):
    return f"[{', '.join(f'{v + 0.0:.4g}' for v in np.where(np.abs(a) < 1e-9, 0.0, a))}]"


def _factor(amount, unit):
    return "" if abs(amount - 1.0) < 1e-6 else f" by {amount:.3g} {unit}"
