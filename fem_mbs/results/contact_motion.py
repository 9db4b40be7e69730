"""Contact motion: normal speeds of contacts, from the saved motion of their bodies; sums of contact forces.

Contact point p, normal n from body B to body A. The gap opens with the relative speed of the two material points there,

    ġ_N = n·(ẋ_A + ω_A × (p − x_A) − ẋ_B − ω_B × (p − x_B)) = G_N v ,       ω = R Ω                               (1)

exactly, also while the contact is open (the nearest points differ by a vector along n, which ω × does not turn into a
normal speed), for spheres, curves and surfaces. G_N v̇ follows with accelerations in place of velocities. The axis
of a beam, whose ends z₁, z₂ move with two nodes, is straight for contacts; its point nearest to p moves with

    ż = (1 − σ) ż₁ + σ ż₂ ,   ż_i = ẋ_i + ω_i × R_i b_i ,   σ = (p − z₁)·(z₂ − z₁)/|z₂ − z₁|², within [0, 1]         (2)

    symbol   code                          unit    meaning
    p, n     contact_point, contact_normal m, -    inertial axes
    x, R     position, quaternion          m, -    of a node; Ω, Ω̇ in body axes
    b        offset                        m       from node to end of the axis, body axes
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.errors import FemMbsError, label
from fem_mbs.nodes import Frame, Node
from fem_mbs.shapes import matrices

if TYPE_CHECKING:
    from fem_mbs.results.results import Results


def contact_number(result: "Results", name: str) -> tuple[int, list[int]]:
    """Number of the contact called ``name`` and the numbers of its nodes.

    Raises
    ------
    UnknownNameError, FemMbsError
        No such name; not a contact.
    """
    result[name]  # explains a misspelt name
    element = result._entries[name][1]
    described = {} if element is None else result.description["elements"][element]
    if described.get("contact") is None:
        listed = ", ".join(repr(n) for n in result.contacts[:10]) or "none"
        raise FemMbsError(f"'{name}' of model '{result.model}' is not a contact; contacts: {listed}")
    return described["contact"], described["nodes"]


def node_number(result: "Results", node: Node) -> int:
    """Number of a node in a run: by its name, because ``node.index`` is that in the system compiled last.

    Raises
    ------
    FemMbsError
        The run has no such node.
    """
    names = [described["name"] for described in result.description["nodes"]]
    if node.name is not None and names.count(node.name) == 1:
        return names.index(node.name)
    if node.index is None or node.index >= len(names) or names[node.index] != node.name:
        raise FemMbsError(
            f"{label(node)} is not a node of the run of '{result.model}': give the results of a run of its model"
        )
    return node.index


class FrameMotion(NamedTuple):
    """A frame over the k states of a run, all in inertial axes: place of its origin (k, 3) [m], its axes (k, 3, 3) as
    columns, velocity of the origin (k, 3) [m/s], angular velocity (k, 3) [rad/s]."""

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray


def frame_motion(result: "Results", frame: Frame) -> FrameMotion:
    """`FrameMotion` of a frame of the model, moving or on the ground."""
    i, read = node_number(result, frame.node), result._store.read
    R = matrices(read("quaternion", i))
    arm, w = R @ frame.p, np.einsum("kij,kj->ki", R, read("angular_velocity", i))
    return FrameMotion(read("position", i) + arm, R @ frame.rotation, read("velocity", i) + np.cross(w, arm), w)


class _Sides:
    """Where the two bodies of a contact touch: nodes, or for beams the ends of their axes."""

    def __init__(self, element: dict) -> None:
        ends = element.get("ends")
        if ends == []:
            raise FemMbsError(
                f"'{element['name']}' ({element['type']}) is no contact of two bodies in one point: its gap depends on "
                "more than their motion there, so that it cannot be computed from this motion"
            )
        if ends is None and len(element["nodes"]) != 2:
            raise FemMbsError(
                f"contact '{element['name']}' moves with {len(element['nodes'])} nodes and the results, written by an "
                "older fem_mbs, do not say how; run the model again"
            )
        self.ends = ends
        self.nodes = element["nodes"]

    def normal(self, read: Callable, contact: int | np.integer, linear: str, angular: str) -> np.ndarray:
        """(1) with the histories named ``linear`` and ``angular``; ``read(name, column)`` gives histories (k, …)."""
        n = read("contact_normal", contact)
        return np.einsum("ki,ki->k", n, self.relative(read, contact, linear, angular))

    def relative(self, read: Callable, contact: int | np.integer, linear: str, angular: str) -> np.ndarray:
        """Velocity (k, 3) of the first body against the second at the contact point, inertial axes."""
        p = read("contact_point", contact)
        if self.ends is None:
            A, B = (self._of_node(read, i, p, linear, angular) for i in self.nodes)
        else:
            A, B = (self._of_axis(read, self.ends[i : i + 2], p, linear, angular) for i in (0, 2))
        return A - B

    @staticmethod
    def _of_node(read, i, p, linear, angular):
        turn = np.einsum("kij,kj->ki", matrices(read("quaternion", i)), read(angular, i))
        return read(linear, i) + np.cross(turn, p - read("position", i))

    def _of_axis(self, read, ends, p, linear, angular):
        at = [read("position", int(i)) + matrices(read("quaternion", int(i))) @ np.array(offset) for i, *offset in ends]
        rate = [self._of_node(read, int(i), z, linear, angular) for (i, *_), z in zip(ends, at)]
        axis = at[1] - at[0]
        length = np.einsum("ki,ki->k", axis, axis)
        along = np.einsum("ki,ki->k", p - at[0], axis)
        sigma = np.clip(np.divide(along, length, out=np.zeros_like(along), where=length > 0), 0, 1)[:, None]
        return (1 - sigma) * rate[0] + sigma * rate[1]


def contact_velocity(result: "Results", name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Of a contact: velocity (k, 3) [m/s] of the first body against the second at the contact point, normal (k, 3),
    both in inertial axes, and the numbers of its nodes.
    """
    contact, nodes = contact_number(result, name)
    sides = _Sides(next(e for e in result.description["elements"] if e["contact"] == contact))
    read = result._store.read
    return sides.relative(read, contact, "velocity", "angular_velocity"), read("contact_normal", contact), nodes


class NormalMotion(NamedTuple):
    """Gap rates (k,) [m/s], gain (k,) [m/s] of speed by smooth motion in the step to each state, largest speed [m/s] of
    the bodies."""

    rate: np.ndarray
    gain: np.ndarray
    speed: float


def normal_motion(result: "Results", name: str) -> NormalMotion:
    """`NormalMotion` of a contact."""
    contact, nodes = contact_number(result, name)
    sides = _Sides(next(e for e in result.description["elements"] if e["contact"] == contact))
    read = result._store.read
    rate = sides.normal(read, contact, "velocity", "angular_velocity")
    acceleration = sides.normal(read, contact, "acceleration", "angular_acceleration")
    gain = 0.5 * result.h * np.abs(acceleration + np.concatenate([acceleration[:1], acceleration[:-1]]))
    speed = max(np.linalg.norm(read("velocity", i), axis=1).max(initial=0.0) for i in nodes)
    return NormalMotion(rate, gain, speed)


def approaching(result: "Results", states: ArrayLike, v_tol: float) -> tuple[np.ndarray, np.ndarray, list, np.ndarray]:
    """For saved states (j,): contacts (j, nc) that had an impact in the step that led there, by (3) of
    `impulse_filter`.

    Also the bodies that an impulse reaches from each node, as labels (j, N): nodes of one label are linked by elements
    and closed contacts; a fixed node is linked to nothing.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    states = np.asarray(states)
    described = result.description
    contacts = sorted((e for e in described["elements"] if e["contact"] is not None), key=lambda e: e["contact"])
    free = np.array([any(node["free"]) for node in described["nodes"]])
    N = len(free)
    links = _links(e for e in described["elements"] if e["contact"] is None)
    before, after = result.rows(states - 1), result.rows(states)
    closed = after["impulse"][:, :, 0] > 0
    struck = np.zeros_like(closed)
    for c in np.flatnonzero(closed.any(axis=0)):
        if contacts[c].get("ends") == []:  # no speeds of two points: what the run calls an impact
            struck[:, c] = closed[:, c] & (after["impact"][:, c] != 0)
            continue
        sides = _Sides(contacts[c])
        first, last = (lambda name, i, rows=rows: rows[name][:, i] for rows in (before, after))
        approach = -sides.normal(first, c, "velocity", "angular_velocity")
        gain = [sides.normal(read, c, "acceleration", "angular_acceleration") for read in (first, last)]
        change = 0.5 * after["h"] * np.abs(gain[0] + gain[1])
        struck[:, c] = closed[:, c] & (approach > np.maximum(change, v_tol))
    labels = np.empty((len(states), N), int)
    for i in range(len(states)):
        edges = np.concatenate([links, _links(contacts[c] for c in np.flatnonzero(closed[i]))])
        edges = edges[free[edges].all(axis=1)]
        graph = coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(N, N))
        labels[i] = connected_components(graph, directed=False)[1]
    return struck, labels, [e["nodes"] for e in contacts], free


def _links(elements):
    """Pairs of nodes (j, 2) that elements join."""
    pairs = [(e["nodes"][0], other) for e in elements for other in e["nodes"][1:]]
    return np.array(pairs, int).reshape(-1, 2)


def impact_times(result: "Results", name: str) -> np.ndarray:
    """Times (n,) [s] of the impacts of a contact inside of their steps, see `Results.impact_times`.

    With gap g, rate ġ and g̈ ≈ (ġ_n − ġ_{n−1})/h at the start of the step, τ is the first root of g + ġ τ + ½ g̈ τ².
    After an impact in the step before, whose velocities jump, g̈ is taken from accelerations. Contacts
    whose gap is not a distance in one point (stops, backlash, cables) have those of the parabola through three gaps.
    """
    contact, _ = contact_number(result, name)
    read = result._store.read
    gap, struck = read("gap", contact), read("impact", contact) != 0
    follows = np.diff(result.step, prepend=-1) == 1
    smooth = follows & ~(read("impact") != 0).any(axis=1)
    element = next(e for e in result.description["elements"] if e["contact"] == contact)
    if element.get("ends") == []:
        rate, second = _rates_of_gaps(gap, result.h, smooth)
    else:
        sides = _Sides(element)
        rate = sides.normal(read, contact, "velocity", "angular_velocity")
        second = sides.normal(read, contact, "acceleration", "angular_acceleration")
        at = np.flatnonzero(smooth[1:]) + 1
        second[at] = (rate[at] - rate[at - 1]) / result.h[at]
    times = []
    for k in np.flatnonzero(struck):
        tau = np.nan
        if k > 0 and follows[k] and gap[k - 1] > 0.0 and np.isfinite(rate[k - 1]):
            tau = min(_first_root(gap[k - 1], rate[k - 1], second[k - 1], result.h[k]), result.h[k])
        times.append(result.t[k] - result.h[k] + tau)
    return np.array(times)


def _rates_of_gaps(gap, h, smooth):
    """Rates ġ, g̈ of the parabola through three gaps at its last; NaN where one of the two steps is not smooth."""
    rate, second = np.full_like(gap, np.nan), np.full_like(gap, np.nan)
    at = np.flatnonzero(smooth[2:] & smooth[1:-1]) + 2
    last, before = ((gap[k] - gap[k - 1]) / h[k] for k in (at, at - 1))
    second[at] = 2.0 * (last - before) / (h[at] + h[at - 1])
    rate[at] = last + 0.5 * h[at] * second[at]
    return rate, second


def _first_root(g, rate, second, latest):
    """First τ > 0 with g + ġ τ + ½ g̈ τ² = 0 for g > 0; ``latest`` when there is none."""
    discriminant = rate * rate - 2.0 * second * g
    if discriminant < 0.0:
        return latest
    root = np.sqrt(discriminant)
    if root - rate > 0.0:  # falls at the root
        return 2.0 * g / (root - rate)
    return latest


def resultant(result: Any, contacts: Any) -> np.ndarray:
    """Sum (k, 3) [N] of contact forces on the first bodies, inertial axes; see `Results.resultant`."""
    parts = contacts if isinstance(contacts, (list, tuple)) else [contacts]
    elements = [element for part in parts for element in getattr(part, "elements", [part])]
    total = np.zeros((len(result.t), 3))
    for element in elements:
        name = getattr(element, "name", element)
        if name is None:
            raise FemMbsError(
                f"result of model '{result.model}': {label(element)} is no part of it; model.add(…) it before"
            )
        one = result[name]
        if not {"tangents", "normal", "force"} <= set(one.units):
            raise FemMbsError(f"result of model '{result.model}': {label(element)} has no contact force")
        axes = np.concatenate([one.normal[:, None], one.tangents.reshape(-1, 2, 3)], axis=1)
        total += np.einsum("kt,ktj->kj", one.force, axes)
    return total
