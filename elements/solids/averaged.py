"""Averaged (distributing) coupling of many nodes to a frame: the frame moves as the nodes do in the mean.

With weights w_k, Σ w_k = 1, offsets p_k of the nodes from the node of the frame in its axes, q_k = p_k − Σ w_j p_j,
ℓ² = Σ w_k q_k², and d_k = x_k − x − R p_k the coupling is

    Σ_k w_k d_k = 0 ,        1/ℓ Σ_k w_k R q_k × d_k = 0                       6 rows, whatever the number of nodes  (1)

By the second R is the polar rotation of the group. Forces on the nodes are those of a rigid distribution,
w_k (λ_F + λ_M × R q_k/ℓ), so that a force and a moment on the frame have them as their resultant, exactly.

**Any number of nodes by one kernel.** One element has 8 nodes of the group. What it adds to the sums (1) is carried on
by two nodes without mass, s_F and s_M, whose positions are the sums so far:

    g_F = s_F + Σ w_k d_k − s_F' ,        g_M = s_M + 1/ℓ Σ w_k R q_k × d_k − s_M'                                   (2)

The first sums are 0 and so are the last ones: one fixed node. A group of n nodes has n/8 elements and n/8 − 1 pairs of
sums; couplings that are no longer than 8 nodes have none. λ is the same in all of them. Rows that many elements share
would be fewer, but gradients and multipliers belong to single elements in this framework; one element with all nodes
would be compiled for each number of them, and would have full matrices.

With e a unit vector, ε = Rᵀe, z = ε × q, y = Rᵀ(d × e), gradients and second derivatives of one node's part are

    e·d            x_k e ;   x −e ;    θ −p × ε             θθ −p̃ ε̃                                                  (3)
    e·(R q × d)    x_k Rz ;  x −Rz ;   θ q × y − p × z      θθ q̃ ỹ − q̃ ε̃ p̃ + p̃ q̃ ε̃ ;
                               (x_k,θ) −R ε̃ q̃ , (x,θ) R ε̃ q̃ , and transposes                                         (4)

Source: docs/theory/solids.md, section 8.

    symbol     code            shape    unit  meaning
    p_k, q_k   p.p, p.q        (8, 3)   m     offsets from the node of the frame and from the mean, its axes
    w_k        p.w             (8,)     -     weights; 0: no node
    ℓ          p.radius                 m     radius of gyration of the group
    nodes                      13             frame, s_F, s_M, s_F', s_M', group
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import Constraint, register
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.nodes import Node, Node3, Node6
from fem_mbs.rotations import add_cross, add_outer, add_skew_skew, cross, dot, rotate_T

TOGETHER = 8  # nodes of one element
FIRST = 5  # of them among the nodes of the element
NAMES = ("frame", "force sum", "moment sum", "next force sum", "next moment sum")
PARAMETERS = np.dtype(
    [("p", "f8", (TOGETHER, 3)), ("q", "f8", (TOGETHER, 3)), ("w", "f8", (TOGETHER,)), ("radius", "f8")]
)


@kernel
def node_apart(p, x, R, k, U, d):
    """Fill U (3,) with R q_k and d (3,) with d_k."""
    for i in range(3):
        U[i] = d[i] = 0.0
        for j in range(3):
            U[i] += R[0, i, j] * p.q[k, j]
            d[i] -= R[0, i, j] * p.p[k, j]
        d[i] += x[FIRST + k, i] - x[0, i]


@kernel
def axis_parts(p, R, k, i, d, epsilon, z, y):
    """Fill ε, z and y (3,) of (3), (4) for inertial axis i; ``d`` (3,) is d_k."""
    de = local_vector(3)
    for j in range(3):
        epsilon[j] = R[0, i, j]
    cross(epsilon, p.q[k], z)
    a, b = (i + 1) % 3, (i + 2) % 3
    de[i], de[a], de[b] = 0.0, d[b], -d[a]  # d × e_i
    rotate_T(R[0], de, y)


@kernel
def constraint(p, x, R, g, G):
    """Add (2) to g (6,) [m] and its gradient to G (6, 78)."""
    U, d, epsilon, z, y = local_arrays("3, 3, 3, 3, 3")
    for i in range(3):
        g[i] += x[1, i] - x[3, i]
        g[3 + i] += x[2, i] - x[4, i]
        G[i, 6 + i] += 1.0
        G[3 + i, 12 + i] += 1.0
        G[i, 18 + i] -= 1.0
        G[3 + i, 24 + i] -= 1.0
    for k in range(TOGETHER):
        w, v, c = p.w[k], p.w[k] / p.radius, 6 * (FIRST + k)
        if w == 0.0:
            continue
        node_apart(p, x, R, k, U, d)
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            g[i] += w * d[i]
            g[3 + i] += v * (U[a] * d[b] - U[b] * d[a])
            axis_parts(p, R, k, i, d, epsilon, z, y)
            G[i, c + i] += w
            G[i, i] -= w
            add_cross(-w, p.p[k], epsilon, G[i, 3:6])
            G[3 + i, c + a] -= v * U[b]  # R z = e × R q
            G[3 + i, c + b] += v * U[a]
            G[3 + i, a] += v * U[b]
            G[3 + i, b] -= v * U[a]
            add_cross(v, p.q[k], y, G[3 + i, 3:6])
            add_cross(-v, p.p[k], z, G[3 + i, 3:6])


@kernel
def turn_block(v, p, q, epsilon, y, H):
    """Add v times block θθ of (4) to H[3:6, 3:6]."""
    c = local_vector(3)
    add_skew_skew(v, q, y, H, 3, 3)
    cross(q, p, c)  # q̃ ε̃ p̃ = ε (q × p)ᵀ − (q·ε) p̃
    add_outer(-v, epsilon, c, H, 3, 3)
    cross(p, epsilon, c)  # p̃ q̃ ε̃ = (p × ε) qᵀ − (q·ε) p̃: the last terms cancel
    add_outer(v, c, q, H, 3, 3)


@kernel
def mixed_blocks(v, R, epsilon, q, H, c):
    """Add −v R ε̃ q̃ to H[c:c+3, 3:6] and its transpose to H[3:6, c:c+3]."""
    s = dot(epsilon, q)  # ε̃ q̃ = q εᵀ − (ε·q) I
    for i in range(3):
        Rq = R[0, i, 0] * q[0] + R[0, i, 1] * q[1] + R[0, i, 2] * q[2]
        for j in range(3):
            h = -v * (Rq * epsilon[j] - s * R[0, i, j])
            H[c + i, 3 + j] += h
            H[3 + j, c + i] += h


@kernel
def hessian(p, x, R, H):
    """Add the second derivatives of (2) to H (6, 78, 78)."""
    U, d, epsilon, z, y = local_arrays("3, 3, 3, 3, 3")
    for k in range(TOGETHER):
        w, v = p.w[k], p.w[k] / p.radius
        if w == 0.0:
            continue
        node_apart(p, x, R, k, U, d)
        for i in range(3):
            axis_parts(p, R, k, i, d, epsilon, z, y)
            add_skew_skew(-w, p.p[k], epsilon, H[i], 3, 3)
            turn_block(v, p.p[k], p.q[k], epsilon, y, H[3 + i])
            mixed_blocks(v, R, epsilon, p.q[k], H[3 + i], 6 * (FIRST + k))
            mixed_blocks(-v, R, epsilon, p.q[k], H[3 + i], 0)


@kernel
def output(p, x, R, lam, out):
    """Force and moment about its node, inertial axes, of the nodes of this element on the frame."""
    U, d, force = local_arrays("3, 3, 3")
    for k in range(TOGETHER):
        w, v = p.w[k], p.w[k] / p.radius
        node_apart(p, x, R, k, U, d)
        if w == 0.0:
            continue
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            force[i] = w * lam[i] + v * (lam[3 + a] * U[b] - lam[3 + b] * U[a])
            d[i] = x[FIRST + k, i] - x[0, i]
            out[i] -= force[i]
        add_cross(-1.0, d, force, out[3:6])


class AveragedCoupling(Constraint):
    """Part of an averaged coupling: up to eight nodes of a group; `SurfaceCoupling` makes all of them.

    Parameters
    ----------
    nodes : sequence of 13 nodes
        Of the frame; two with the sums before and two with those after it, Node3 without mass, fixed at 0 where the
        coupling begins and ends; eight of the group.
    p : (8, 3) [m]
        Of the nodes of the group from the node of the frame, in its axes.
    center : (3,) [m]
        Σ w p of the whole group.
    weights : (8,), -
        Of the whole group they add to 1; 0 for a place that has no node.
    radius : float > 0 [m]
        Radius of gyration √(Σ w (p − center)²) of the whole group: makes lengths of its moments.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of these nodes on the frame, inertial axes
    moment : (3,) [N m], about the node of the frame, inertial axes

    Raises
    ------
    ParameterError
        Another number of nodes; sizes that do not fit.
    """

    rows = 6
    parameters = PARAMETERS
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N"), "moment": (3, "N m")}

    def __init__(
        self, nodes: Any, p: ArrayLike, weights: ArrayLike, *, center: ArrayLike, radius: float, name: str | None = None
    ) -> None:
        self.name = name
        right = isinstance(nodes, (list, tuple)) and all(isinstance(node, Node) for node in nodes)
        self.check(right, "nodes", nodes, f"must be a list of {FIRST + TOGETHER} nodes: {', '.join(NAMES)}, group")
        super().__init__(nodes, name=name)
        right = len(self.nodes) == FIRST + TOGETHER
        self.check(right, "nodes", len(self.nodes), f"of them, must be {FIRST + TOGETHER}: {', '.join(NAMES)}, group")
        p = self.as_array("p", p, (TOGETHER, 3))
        q = p - self.as_vector("center", center)
        w = self.as_array("weights", weights, (TOGETHER,))
        self.record = (p, q, w, self.positive("radius", radius, "m"))


def _example(rng):
    nodes = [Node6(rng.normal(size=3), rng.normal(size=3)), *(Node3(rng.normal(size=3)) for _ in range(12))]
    p, w = rng.normal(size=(TOGETHER, 3)), rng.uniform(0.1, 0.5, size=TOGETHER)
    return AveragedCoupling(nodes, p, w, center=rng.normal(size=3), radius=rng.uniform(0.5, 2.0))


register(AveragedCoupling, example=_example)
