"""States of first order given by a Python function: ż = g(t, z, motion of nodes), within the implicit solve.

    M = I of the nodes of the states,   f = g   on them,   f of the function on the other nodes                    (13)

with the states as velocities of `Node1`s, as in `elements.control.first_order`. Tangents come from central differences.

Source: docs/theory/control.md, (13).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import register
from fem_mbs.elements.user import PythonElement
from fem_mbs.jit import kernel
from fem_mbs.nodes import Node1

COUNT = np.dtype([("nz", "i8")])

# `first_order` has the same for its own record: numba would convert between two records, one of them part of the other


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
def output(p, v, out):
    """The states."""
    for i in range(p.nz):
        out[i] += v[6 * i]


class UserStates(PythonElement):
    """States z with ż given by a Python function: nonlinear actuators, hydraulics, batteries.

    Parameters
    ----------
    function : callable
        ``function(t, z)`` returns ż (n,). With ``nodes``: ``function(t, z, x, R, v)``, with their motion as in
        `UserForce`, returns ż, or ``(ż, f)`` with forces f (n_nodes, 6) on them. It must be smooth within a step and
        depend on nothing else that changes during a step; held signals may be read.
    start : (n,)
        States at the start.
    nodes : sequence of node or body
    name : str, optional

    Outputs
    -------
    state : (n,)

    Raises
    ------
    ParameterError
        A result of the wrong shape, or not finite, at the start.

    Notes
    -----
    A linear system is a `StateSpace`, which is compiled and some hundred times quicker.

    Examples
    --------
    >>> import numpy as np
    >>> tank = UserStates(lambda t, z: [0.2 - 0.3 * np.sqrt(abs(z[0]))], start=[1.0], name="tank")
    """

    parameters = COUNT
    kernels = {"inertia": inertia, "inertia_tangent": inertia_tangent, "output": output}
    abstract = True
    invariant = False

    def __init__(
        self, function: Callable, start: ArrayLike, nodes: Sequence[Any] = (), *, name: str | None = None
    ) -> None:
        self.name = name
        self.start = self.as_array("start", start, finite=True).ravel()
        self.check(len(self.start) > 0, "start", start, "is empty; give the states at the start")
        self.check(isinstance(nodes, (list, tuple)), "nodes", nodes, "must be a list")
        states = [Node1(velocity=float(z)) for z in self.start]
        super().__init__([*states, *nodes], name=name)
        for node in states:
            node.body = self
        n, others = len(states), len(nodes)
        what = "function(t, z, x, R, v)" if others else "function(t, z)"
        self.function = self.as_function("function", function, what, 5 if others else 2)
        self.outputs = {"state": (n, "")}
        self.record = (n,)
        x, R = np.array([k.position for k in self.nodes]), np.array([k.rotation for k in self.nodes])
        v = np.array([[*k.velocity, *(k.rotation.T @ k.angular_velocity)] for k in self.nodes])
        self.evaluate(x, R, v, 0.0)

    def force(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """Rates of the states and forces on the other nodes, per node (n_nodes, 6)."""
        n, f = len(self.start), np.zeros((len(self.nodes), 6))
        if len(self.nodes) > n:
            found = self.function(t, v[:n, 0].copy(), x[n:], R[n:], v[n:])
        else:
            found = self.function(t, v[:n, 0].copy())
        rates = found
        if isinstance(found, tuple) and len(found) == 2 and len(self.nodes) > n:
            rates = found[0]
            f[n:] = self.as_array("function", found[1], (len(self.nodes) - n, 6), finite=False)
        f[:n, 0] = self.as_array("function", rates, (n,), finite=False)
        return f


def _example(rng: np.random.Generator, a: Any) -> UserStates:
    k = rng.uniform(0.5, 2.0, size=3)

    def law(t, z, x, R, v):
        rate = [np.tanh(k[0] * z[1] + x[0, 0]), -k[1] * z[0] ** 2 + v[0, 3]]
        return rate, np.array([[k[2] * z[0], 0, z[1] * x[0, 1], 0, np.sin(z[0]), 0]])

    return UserStates(law, rng.normal(size=2), [a])


register(UserStates, example=_example)
