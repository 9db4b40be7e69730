"""States of first order within the implicit solve: filters, actuators, anything with ż = f(z, …).

A state is the velocity of a `Node1` of unit mass: the equation of motion of the node is then the equation of the state.

    ż = A z + B u + E w                 M = I ,   f = A z + B u + E w ,   C_z = −A                                 (10)
    y = C z + D u + F w                 E w, F w: coordinates of other nodes, their K and C likewise              (11)
    f_node += y_j e_k                   outputs that act as a force or moment on a component k of a node          (12)

with inputs u, functions of time or held, and w, positions or velocities of free components of nodes. All of it is
linear, so that tangents are the matrices themselves. The position of the nodes is ∫ z dt, which is not used.

The masses store no energy. Source: docs/theory/control.md, (10)-(12); elementary.

    symbol  code       shape        meaning
    z       v[6 i]     (nz,)        velocities of the first nz nodes
    u       s[:, 0]    (nu,)        signals
    A … F   p.matrix   (rows, cols) rows: ż, then y; columns: z, u, w
    w       p.place    (nw, 2)      node of the element and component; component + 6: a velocity
    k       p.acts     (ny, 2)      node of the element and component, −1: acts on nothing
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.element.base import Inertia, register
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import kernel
from fem_mbs.nodes import COMPONENTS, Node1

MOST = 12  # states, inputs or outputs of one element
SIZE = np.dtype(
    [
        ("nz", "i8"), ("nu", "i8"), ("nw", "i8"), ("ny", "i8"),
        ("matrix", "f8", (2 * MOST, 3 * MOST)), ("place", "i8", (MOST, 2)), ("acts", "i8", (MOST, 2)),
    ]
)  # fmt: skip


@kernel
def row_value(p, row, x, v, s):
    """Row of (10) or (11): the rate of a state, or an output."""
    total = 0.0
    for j in range(p.nz):
        total += p.matrix[row, j] * v[6 * j]
    for j in range(p.nu):
        total += p.matrix[row, MOST + j] * s[j, 0]
    for j in range(p.nw):
        node, k = p.place[j, 0], p.place[j, 1]
        value = v[6 * node + k - 6] if k >= 6 else x[node, k]
        total += p.matrix[row, 2 * MOST + j] * value
    return total


@kernel
def inertia(p, a, Ma):
    """M = I of the states."""
    for i in range(p.nz):
        Ma[6 * i] += a[6 * i]


@kernel
def inertia_tangent(p, M):
    """M = I of the states."""
    for i in range(p.nz):
        M[6 * i, 6 * i] += 1.0


@kernel
def force(p, x, v, s, f):
    """Add (10) and (12)."""
    for i in range(p.nz):
        f[6 * i] += row_value(p, i, x, v, s)
    for i in range(p.ny):
        if p.acts[i, 0] >= 0:
            f[6 * p.acts[i, 0] + p.acts[i, 1]] += row_value(p, MOST + i, x, v, s)


@kernel
def add_row(p, row, at, K, C):
    """Subtract the derivatives of a row that is the force ``at``."""
    for j in range(p.nz):
        C[at, 6 * j] -= p.matrix[row, j]
    for j in range(p.nw):
        node, k = p.place[j, 0], p.place[j, 1]
        if k >= 6:
            C[at, 6 * node + k - 6] -= p.matrix[row, 2 * MOST + j]
        else:
            K[at, 6 * node + k] -= p.matrix[row, 2 * MOST + j]


@kernel
def force_tangent(p, K, C):
    """Add the derivatives of (10), (12)."""
    for i in range(p.nz):
        add_row(p, i, 6 * i, K, C)
    for i in range(p.ny):
        if p.acts[i, 0] >= 0:
            add_row(p, MOST + i, 6 * p.acts[i, 0] + p.acts[i, 1], K, C)


@kernel
def output(p, x, v, s, out):
    """States, then outputs (11)."""
    for i in range(p.nz):
        out[i] += v[6 * i]
    for i in range(p.ny):
        out[p.nz + i] += row_value(p, MOST + i, x, v, s)


class Coordinate(Checked):
    """A component of the motion of a node, as input of a `StateSpace`, or what one of its outputs acts on.

    Parameters
    ----------
    node : Node or body
    component : {"x", "y", "z", "rx", "ry", "rz"}
        Position and velocity in inertial axes; "rx" …: angular velocity, and moments, about the node's own axes.
    of : {"velocity", "position"}
        What an input reads; angles have no position.

    Raises
    ------
    ParameterError
        A frame with an offset; the position of a rotation.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> slide = fem.PointMass(1.0, name="slide")
    >>> speed = Coordinate(slide, "x")
    """

    def __init__(self, node: Any, component: str = "x", of: str = "velocity") -> None:
        frame = self.as_frame("node", node)
        self.check(not frame.p.any(), "node", node, "has an offset; give the node")
        self.node, self.component = frame.node, self.as_choice("component", component, COMPONENTS)
        self.of = self.as_choice("of", of, ("velocity", "position"))
        self.index = COMPONENTS.index(component)
        turns = self.of == "position" and self.index >= 3
        self.check(not turns, "of", of, "has no meaning for a rotation, which is no vector")


class StateSpace(Inertia):
    """Linear system of first order ż = A z + B u, y = C z + D u within the implicit solve: filter, actuator, drive.

    Parameters
    ----------
    A, B, C, D : (n, n), (n, m), (k, n), (k, m)
        One number stands for (1, 1). C is I and D is 0 by default.
    inputs : sequence of m float, callable, Signal, Held or Coordinate
        Functions of time, outputs of controllers, or velocities and positions of nodes.
    acts_on : sequence of k Coordinate or None, optional
        What each output acts on: a force [N] on "x", "y", "z" (inertial axes), a moment [N m] on "rx" … (node axes).
    start : (n,), optional
        States at the start; default 0.
    scale : float > 0
        Typical size of the states: the node carries z/scale. States that are much larger than the velocities of the
        model would spoil its tolerances.
    name : str, optional

    Outputs
    -------
    state : (n,), over ``scale``
    output : (k,)

    Raises
    ------
    ParameterError
        Matrices that do not fit each other, or the inputs; more than 12 states, inputs or outputs.

    Notes
    -----
    Steppers of second order integrate it with second order, coupled to the motion without a step of delay. The time
    constants should be larger than the step where their motion matters; shorter ones are damped as by the method.

    Examples
    --------
    A motor torque that lags 20 ms behind its command:

    >>> import fem_mbs as fem
    >>> arm = fem.RigidBody(1.0, [0.1, 0.1, 0.1], name="arm")
    >>> command = fem.Held(2.0)
    >>> motor = StateSpace(-50.0, 50.0, inputs=[command], acts_on=[fem.Coordinate(arm, "rz")], name="motor")
    """

    parameters = SIZE
    kernels = {
        "inertia": inertia, "inertia_tangent": inertia_tangent,
        "force": force, "force_tangent": force_tangent, "output": output,
    }  # fmt: skip
    abstract = True
    circulatory = True
    invariant = False

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        C: ArrayLike | None = None,
        D: ArrayLike | None = None,
        *,
        inputs: Sequence[Any] = (),
        acts_on: Sequence[Any] | None = None,
        start: ArrayLike | None = None,
        scale: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.scale = self.positive("scale", scale, "")
        self.A = self._matrix("A", A, None, None)
        n = len(self.A)
        self.check(self.A.shape == (n, n), "A", A, f"has shape {self.A.shape}, must be square")
        self.check(isinstance(inputs, (list, tuple)), "inputs", inputs, "must be a list")
        self.inputs = [i if isinstance(i, Coordinate) else Signal.of(self.as_motion("inputs", i)) for i in inputs]
        m = len(self.inputs)
        self.B = self._matrix("B", B, n, m)
        self.C = np.eye(n) if C is None else self._matrix("C", C, None, n)
        k = len(self.C)
        self.D = np.zeros((k, m)) if D is None else self._matrix("D", D, k, m)
        for parameter, count in (("A", n), ("B", m), ("C", k)):
            self.check(count <= MOST, parameter, count, f"is too many: {MOST} states, inputs or outputs at most")
        self.acts_on = self._targets(acts_on, k)
        self.start = np.zeros(n) if start is None else self.as_array("start", start, (n,))
        self._make(n, k)

    def _matrix(self, parameter, value, rows, columns):
        found = np.atleast_2d(self.as_array(parameter, value, finite=True))
        good = found.ndim == 2 and rows in (None, len(found)) and columns in (None, found.shape[1])
        wanted = f"({'k' if rows is None else rows}, {'n' if columns is None else columns})"
        self.check(good, parameter, value, f"has shape {found.shape}, must be {wanted}")
        return found

    def _targets(self, acts_on, k):
        targets = [None] * k if acts_on is None else acts_on
        self.check(isinstance(targets, (list, tuple)), "acts_on", acts_on, "must be a list, one entry per output")
        self.check(len(targets) == k, "acts_on", acts_on, f"has {len(targets)} entries for {k} outputs")
        for target in targets:
            good = target is None or isinstance(target, Coordinate)
            self.check(good, "acts_on", target, "is not a Coordinate, nor None")
        return list(targets)

    def _make(self, n, k):
        """Nodes, places and the record."""
        states = [Node1(velocity=float(z) / self.scale, name=None) for z in self.start]
        others: list[Any] = []
        used = [i for i in (*self.inputs, *self.acts_on) if isinstance(i, Coordinate)]
        for coordinate in used:
            if not any(coordinate.node is node for node in others):
                others.append(coordinate.node)

        def number(coordinate):
            return n + next(i for i, node in enumerate(others) if node is coordinate.node)

        signals = [i for i in self.inputs if not isinstance(i, Coordinate)]
        super().__init__((*states, *others), name=self.name, signals=signals)
        for node in states:
            node.body = self
        self.outputs = {"state": (n, ""), "output": (k, "")}
        matrix = np.zeros((2 * MOST, 3 * MOST))
        place, acts = np.zeros((MOST, 2), np.int64), np.full((MOST, 2), -1, np.int64)
        matrix[:n, :n], matrix[MOST : MOST + k, :n] = self.A, self.scale * self.C
        nu = nw = 0
        for j, item in enumerate(self.inputs):
            at = 2 * MOST + nw if isinstance(item, Coordinate) else MOST + nu
            matrix[:n, at], matrix[MOST : MOST + k, at] = self.B[:, j] / self.scale, self.D[:, j]
            if isinstance(item, Coordinate):
                place[nw] = number(item), item.index + (6 if item.of == "velocity" else 0)
                nw += 1
            else:
                nu += 1
        for j, target in enumerate(self.acts_on):
            if target is not None:
                acts[j] = number(target), target.index
        self.record = (n, nu, nw, k, matrix, place, acts)


def _example(rng: np.random.Generator, a: Any, b: Any) -> StateSpace:
    inputs = [Signal(lambda t: np.sin(t)), Coordinate(a, "x"), Coordinate(b, "y", of="position"), Coordinate(b, "rz")]
    acts_on = [Coordinate(a, "z"), Coordinate(b, "rx")]
    return StateSpace(
        rng.normal(size=(3, 3)), rng.normal(size=(3, 4)), rng.normal(size=(2, 3)), rng.normal(size=(2, 4)),
        inputs=inputs, acts_on=acts_on, start=rng.normal(size=3), scale=2.0,
    )  # fmt: skip


register(StateSpace, example=_example)
