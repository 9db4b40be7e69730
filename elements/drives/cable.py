"""Cables over pulleys: inextensible and one-sided, or elastic; pulleys rotate without friction.

    Cable           gap = L − ℓ(q) ≥ 0 ,  tension ≥ 0 ,  G_N = −∇ℓ ;  at the catch  v⁺ = −e v⁻                     (1)
    ElasticCable    T = max(k (ℓ − L) + c ℓ̇, 0) where ℓ > L, else 0 ;  f = −T ∇ℓ ,  V = ½ k (ℓ − L)²              (2)

L is the length of the cable, ℓ(q) that of its path. Where a pulley sits on a body, the body gets the tension in both
spans, −T times the sum of the unit vectors away from it: moments ± r T of the two cancel.

Source: docs/theory/gears_and_belts.md, (12)-(16). Path, symbols: `fem_mbs.elements.drives.cable_path`.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.element.base import Force, register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.drives.cable_path import (
    CABLE,
    add_gradient,
    add_hessian,
    axes_of_plane,
    cable_length,
    count_spans,
    first_spans,
    span_gradient,
    span_vector,
    trouble_path,
)
from fem_mbs.elements.drives.cable_stations import OnPath
from fem_mbs.jit import address_of, kernel, local_arrays, local_vector, matrix
from fem_mbs.rotations import add_cross, dot, exp, rotate


@kernel
def cable_contact(p, x, R, state, gap, G_N, W, point, normal, tangents):
    """Gap and its gradient, (1). The cable has no slip; turning is that of the first body against the last."""
    R_E, delta, phi, y = local_arrays("3 3, 3, 3, 3")
    gap[0] += p.length - cable_length(p, x, R, state)
    add_gradient(p, x, R, -1.0, G_N)
    axes_of_plane(p, R, R_E)
    span_vector(p, 0, x, R, R_E, delta)
    span_gradient(p, 0, delta, phi)
    rotate(R_E, phi, normal)
    size = math.sqrt(dot(normal, normal))  # 1 unless the first span leaves the plane
    least = 0
    for i in range(3):
        normal[i] /= size
        point[i] += x[p.node[0], i] + dot(R[p.node[0], i], p.point[0])
        if abs(normal[i]) < abs(normal[least]):
            least = i
    y[:] = 0.0
    y[least] = 1.0
    add_cross(1.0, normal, y, tangents[0])
    size = math.sqrt(dot(tangents[0], tangents[0]))
    for i in range(3):
        tangents[0, i] /= size
    add_cross(1.0, normal, tangents[0], tangents[1])
    first, last = p.node[0], p.node[p.count - 1]
    for r in range(3):
        for i in range(3):
            for k in range(3):
                axis = tangents[r, k] if r < 2 else normal[k]
                W[r, 6 * first + 3 + i] += axis * R[first, k, i]
                W[r, 6 * last + 3 + i] -= axis * R[last, k, i]


@kernel
def cable_contact_hessian(p, x, R, state, H_N):
    """Add ∂G_N/∂q of (1) to H_N (nd, nd)."""
    add_hessian(p, x, R, -1.0, H_N)


@kernel
def _tension(p, x, R, v, state, G):
    """T of (2) [N]; fills G (nd,) with ∇ℓ. −1 where the cable is slack."""
    stretched, rate = cable_length(p, x, R, state) - p.length, 0.0
    for j in range(G.shape[0]):
        G[j] = 0.0
    add_gradient(p, x, R, 1.0, G)
    for j in range(G.shape[0]):
        rate += G[j] * v[j]
    tension = p.stiffness * stretched + p.damping * rate
    return -1.0 if stretched <= 0.0 or tension <= 0.0 else tension


@kernel
def cable_force(p, x, R, v, state, f):
    """Add (2) to f (nd,)."""
    G = local_vector(48)[: f.shape[0]]
    tension = _tension(p, x, R, v, state, G)
    if tension == -1.0:
        return
    for j in range(f.shape[0]):
        f[j] -= tension * G[j]


@kernel
def cable_tangent(p, x, R, v, state, K, C):
    """Add −∂f/∂q and −∂f/∂v of (2) to K and C (nd, nd)."""
    nd = K.shape[0]
    G, along = local_vector(48)[:nd], local_vector(48)[:nd]
    H = matrix(address_of(local_vector(2304)), nd, nd)
    tension = _tension(p, x, R, v, state, G)
    if tension == -1.0:
        return
    H[:, :] = 0.0
    add_hessian(p, x, R, 1.0, H)
    for j in range(nd):
        along[j] = 0.0
        for i in range(nd):
            along[j] += v[i] * H[i, j]
    for i in range(nd):
        for j in range(nd):
            K[i, j] += G[i] * (p.stiffness * G[j] + p.damping * along[j]) + tension * H[i, j]
            C[i, j] += p.damping * G[i] * G[j]


@kernel
def energy_cable(p, x, R, state):
    """Strain energy of (2) [J]."""
    stretched = cable_length(p, x, R, state) - p.length
    return 0.5 * p.stiffness * stretched * stretched if stretched > 0.0 else 0.0


@kernel
def cable_output(p, x, R, v, state, out):
    """Tension and length of the path."""
    G = local_vector(48)[: v.shape[0]]
    out[0] += max(_tension(p, x, R, v, state, G), 0.0)
    out[1] += cable_length(p, x, R, state)


class Cable(OnPath, Contact):
    """Inextensible cable over pulleys: its path cannot become longer than the cable, and shorter it is slack.

    Parameters
    ----------
    path : sequence of 2 to 8 stations
        From one end to the other. An end, or a point through which the cable runs (an eye), is a frame, node or body. A
        pulley is (frame, radius): its centre, its axis z, and its radius [m], > 0 where the cable runs around it
        counter-clockwise about z, < 0 clockwise. Bodies may have several stations. An end with a radius is a drum: the
        cable is wound on it and turns it (winches; a pulley with inertia is a drum with a cable on either side). A load
        that starts vertically on the side of the other sign causes a warning when the model is compiled.
    length : float > 0 [m], optional
        Of the cable, with the length wound on a drum; default: that of the path at the start, plus ``slack``.
    slack : float ≥ 0 [m]
    turns : dict
        Station -> full turns of the cable on this pulley in addition to its arc at the start. Of a drum: the turns
        wound on it, and the run stops where it is unwound. Default for a drum: without end.
    restitution : float, 0 … 1, or a law of the approach speed as of a `Contact`
        e of the catch; 0 for ropes.
    name : str, optional

    Outputs
    -------
    tension : [N]
        Also the normal component of ``force``, among the outputs of `Contact`: ``gap`` is the slack [m], ``impulse``
        that of the step, on the first end along the first span (``normal``).

    Attributes
    ----------
    length : [m]
    arcs : dict
        Station -> arc on this pulley at the start [rad]: to see whether the signs of the radii are right.

    Raises
    ------
    ParameterError
        Fewer than 2 or more than 8 stations; drums on two bodies; pulleys with axes that are not parallel, or that
        leave no room for a span; a length below that of the path at the start.

    Notes
    -----
    Equation (1) of the file's header. Pulleys carry no cable friction: tension is the same everywhere, and pulleys do
    not rotate with it; drums do. The cable is in the plane of the drum or the first pulley, whose body may move; spans
    with pulleys at their ends should not leave it, spans between points may. A run stops where the arc on a pulley
    becomes negative.
    Motion of a rope that is tight for long is of second order with `DecoupledNSGA`.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> ground, a, b = Ground(), Node6([-0.1, 0, -1.0]), Node6([0.1, 0, -1.0])
    >>> pulley = ground.frame(rotation=[1.5707963267948966, 0, 0])
    >>> rope = Cable([a, (pulley, -0.1), b], name="rope")
    >>> round(rope.length, 6)
    2.314159
    """

    parameters = CABLE
    kernels = {
        "contact": cable_contact, "contact_hessian": cable_contact_hessian, "initial": first_spans,
        "accept": count_spans, "trouble": trouble_path,
    }  # fmt: skip
    where = "its length, or the slack"
    also_called = {"tension": "force_normal"}

    def __init__(
        self,
        path: Sequence,
        *,
        length: float | None = None,
        slack: float = 0.0,
        turns: dict | None = None,
        restitution: Any = 0.0,
        name: str | None = None,
    ) -> None:
        self.name = name
        nodes, record, begins = self.lay(path, length, slack, turns)
        Contact.__init__(self, nodes, restitution=restitution, name=name)
        self.check(
            self.length >= begins * (1.0 - 1e-9),
            "length",
            self.length,
            f"m is less than the {begins:.9g} m of the path at the start: the cable would have to stretch",
        )
        self.room = np.inf
        self.record = (*record, 0.0, 0.0)

    @property
    def two_sided(self) -> bool:
        """True if its gap is a distance of two points: without stations between the ends."""
        return len(self.path) == 2 and not self.rho.any()

    @property
    def sides(self) -> tuple:
        """Numbers of the nodes of the first and of the last body."""
        return (self.nodes.index(self.path[0].node),), (self.nodes.index(self.path[-1].node),)


class ElasticCable(OnPath, Force):
    """Elastic cable over pulleys without friction; it pulls where its path is longer than it, and is slack otherwise.

    Parameters
    ----------
    path, length, slack, turns, name :
        As those of `Cable`. ``length`` may be less than the path at the start (the cable is then tight).
    stiffness : float > 0 [N/m]
        EA/L of the whole cable.
    damping : float ≥ 0 [N s/m]
        On the rate of the length while it is tight; it never makes the cable push.

    Outputs
    -------
    tension : [N]
    length : [m], of the path

    Raises
    ------
    ParameterError
        As `Cable`; stiffness not positive.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hoist = ElasticCable([Ground(), Node6([0, 0, -2.0])], stiffness=1e5, damping=50.0, name="hoist")
    """

    parameters = CABLE
    kernels = {
        "force": cable_force, "force_tangent": cable_tangent, "energy": energy_cable, "initial": first_spans,
        "accept": count_spans, "trouble": trouble_path, "output": cable_output,
    }  # fmt: skip
    abrupt = True
    outputs = {"tension": (1, "N"), "length": (1, "m")}

    def __init__(
        self,
        path: Sequence,
        *,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        slack: float = 0.0,
        turns: dict | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        nodes, record, _ = self.lay(path, length, slack, turns)
        Force.__init__(self, nodes, name=name)
        self.stiffness = self.positive("stiffness", stiffness, "N/m")
        self.damping = self.positive("damping", damping, "N s/m", allow_zero=True)
        self.viscous = self.damping > 0.0
        self.record = (*record, self.stiffness, self.damping)


def _random_path(rng, nodes):
    """Stations on nodes: an end on the first, pulleys with parallel axes, an eye on the first again, the other end.

    In some of them the pulley of the third node is a drum, the end.
    """
    axes = exp(rng.normal(size=3))
    radii = 0.1 * rng.uniform(0.2, 1.0, size=2) * rng.choice([-1.0, 1.0], size=2)
    a, b, c = nodes
    path: list = [a.frame(0.2 * rng.normal(size=3))]
    for node, radius in zip((b, c), radii):
        centre = node.frame(0.2 * rng.normal(size=3)).position
        path.append((node.frame_at(centre, axes), radius))
    if rng.random() < 0.3:
        return path if rng.random() < 0.5 else path[::-1]
    return [*path, a.frame(0.2 * rng.normal(size=3)), c.frame(0.2 * rng.normal(size=3))]


def _example(rng, a, b, c):
    path = _random_path(rng, (a, b, c))
    return Cable(path, slack=0.1, restitution=0.3, turns={1: 0, 2: 1} if isinstance(path[2], tuple) else {1: 0})


def _example_elastic(rng, a, b, c):
    stiffness, damping = rng.uniform(0.5, 2.0), 0.02 * rng.integers(0, 2)
    path = _random_path(rng, (a, b, c))
    wound = {1: 0, 2: 1} if len(path) > 3 else {1: 0}
    return ElasticCable(path, stiffness=stiffness, damping=damping, length=0.5, turns=wound)


register(Cable, example=_example)
register(ElasticCable, example=_example_elastic)
