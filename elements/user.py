"""Elements written in Python: a function of NumPy arrays gives the forces, differences give the tangents.

    K_ij ≈ −[ f_i(q ∘ ε e_j) − f_i(q ∘ −ε e_j) ] / 2ε ,   C_ij ≈ −[ f_i(v + ε e_j) − f_i(v − ε e_j) ] / 2ε         (1)

(docs/theory/springs_and_loads.md, (10)) with x + ε e for positions and R exp(ε ẽ) for rotations; ε = 6e-6 (the cube
root of the round-off, where truncation and round-off errors of central differences are equal) times |x| and the size of
the model, |v| and the size of its speeds. Relative error of (1) about 1e-10.

Each evaluation leaves compiled code: some 10 µs per call, and 24 calls per node for a tangent. For prototypes and
one-off laws; laws that are used often become a compiled element (a file in ``elements/``).
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.element.base import Force, register
from fem_mbs.errors import NonFiniteError, ParameterError, label
from fem_mbs.rotations import exp

_STEP = 6e-6


@functools.cache
def _turns():
    """Rotations by ± the step about the three axes; made when first used, because that compiles."""
    return [(exp(_STEP * axis), exp(-_STEP * axis)) for axis in np.eye(3)]


class PythonElement(Force):
    """Base of force elements whose law is Python code; a subclass supplies `force`.

    Parameters
    ----------
    nodes : node or body, or sequence of them
        Whose motion the law depends on and on which it acts.
    name : str, optional

    Attributes
    ----------
    error : Exception or None
        What the law raised in compiled code's stead; the solver raises it again, with the element's name and the time.
    invariant : bool, may be set
        True if the law rotates with the model, which `fem_mbs.verify` then checks.
    """

    changeable = {"invariant": Checked.as_flag}

    def __init__(self, nodes: Any, *, name: str | None = None) -> None:
        self.name = name
        items = nodes if isinstance(nodes, (list, tuple)) else [nodes]
        frames = [self.as_frame("nodes", item) for item in items]
        super().__init__([frame.node for frame in frames], name=name)
        self.check(frames, "nodes", nodes, "is empty; a law needs at least one node")
        for frame in frames:
            offset = frame.p.any() or (frame.rotation != np.eye(3)).any()
            self.check(not offset, "nodes", frame, "has an offset; give the node, and apply the offset in the law")
        self.error = None
        self._size, self._speed = 1.0, 1.0  # m, m/s: of the model, once it is compiled

    def force(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """Forces on the nodes.

        Parameters
        ----------
        x : (n_nodes, 3) [m], positions, inertial axes
        R : (n_nodes, 3, 3), rotations, body components to inertial components
        v : (n_nodes, 6) [m/s, rad/s], per node ẋ (inertial axes) and Ω (body axes)
        t : float [s]

        Returns
        -------
        (n_nodes, 6) or (6 n_nodes,) [N, N m], per node the force (inertial axes) and the moment (body axes)
        """
        raise NotImplementedError(f"{type(self).__name__} does not define force(self, x, R, v, t)")

    @property
    def python_kernels(self) -> dict:
        """Functions the framework calls in place of compiled kernels; each fills the arrays of the contract."""
        return {"force": self._add_force, "force_tangent": self._add_tangent}

    def use_sizes(self, size: float, speed: float) -> None:
        """Take the steps of differences for a model of a size [m] with a speed [m/s]; called when it is compiled."""
        self._size, self._speed = size, speed

    def group_key(self) -> tuple:
        return (type(self), id(self))

    def _add_output(self, arguments):
        """Outputs of all nodes, as `force` gives them at the end of a step."""
        arguments["out"][:] = self.evaluate(
            arguments["x"], arguments["R"], arguments["v"].reshape(-1, 6), arguments["t"][0]
        )

    def evaluate(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """`force` as an array (6 n_nodes,), checked: shape, finite.

        Raises
        ------
        ParameterError
            Wrong shape.
        NonFiniteError
            NaN or infinity; names the element, the node and the time.
        """
        f = self.as_array("force", self.force(x.copy(), R.copy(), v.copy(), t), finite=False)
        if f.size != 6 * len(self.nodes):
            raise ParameterError(
                self, "force", f, f"has shape {f.shape}, must be ({len(self.nodes)}, 6): per node a force and a moment"
            )
        f = f.reshape(len(self.nodes), 6)
        bad = np.flatnonzero(~np.isfinite(f).all(axis=1))
        if bad.size:
            value = f[bad[0]][~np.isfinite(f[bad[0]])][0]
            raise NonFiniteError(
                f"{label(self)}: returned {value} at t = {t:.6g} s for {label(self.nodes[bad[0]])}. The run stopped "
                "before using it.",
                time=t,
                element=self,
            )
        return f.ravel()

    def _add_force(self, arguments):
        v = arguments["v"].reshape(-1, 6)
        arguments["f"][:] += self.evaluate(arguments["x"], arguments["R"], v, arguments["t"][0])

    def _add_tangent(self, arguments):
        x, R = arguments["x"].copy(), arguments["R"].copy()
        v, t = arguments["v"].reshape(-1, 6).copy(), arguments["t"][0]
        K, C = arguments["K"], arguments["C"]
        for k in range(len(self.nodes)):
            for j in range(6):
                column = 6 * k + j
                speed = self._speed if j < 3 else self._speed / self._size
                step = _STEP * (speed + abs(v[k, j]))
                C[:, column] -= self._difference(x, R, v, t, v[k], j, step)
                if j < 3:
                    step = _STEP * (self._size + abs(x[k, j]))
                    K[:, column] -= self._difference(x, R, v, t, x[k], j, step)
                else:
                    R0 = R[k].copy()
                    forward, backward = _turns()[j - 3]
                    R[k] = R0 @ forward
                    f = self.evaluate(x, R, v, t)
                    R[k] = R0 @ backward
                    K[:, column] -= (f - self.evaluate(x, R, v, t)) / (2.0 * _STEP)
                    R[k] = R0

    def _difference(self, x, R, v, t, vector, j, step):
        """Central difference of the law with respect to entry j of ``vector``, a view into x or v."""
        before = vector[j]
        vector[j] = before + step
        f = self.evaluate(x, R, v, t)
        vector[j] = before - step
        f = (f - self.evaluate(x, R, v, t)) / (2.0 * step)
        vector[j] = before
        return f


class UserForce(PythonElement):
    """Forces given by a Python function.

    Parameters
    ----------
    nodes : node or body, or sequence of them
        Nodes whose motion the function gets, and on which its result acts.
    function : callable
        ``function(x, R, v, t)`` returns (n_nodes, 6) [N, N m]: per node the force in inertial axes and the moment in
        body axes. x (n_nodes, 3) [m] positions; R (n_nodes, 3, 3) rotations; v (n_nodes, 6) velocities, ẋ inertial and
        Ω body; t time [s]. It must be smooth within a step and depend on nothing else that changes during a step.
    name : str, optional

    Outputs
    -------
    force, moment : (3,) [N], inertial axes; (3,) [N m], body axes. With several nodes force_1, moment_1, force_2, …

    Raises
    ------
    ParameterError
        Result of the wrong shape, or not finite, at the initial configuration.

    Notes
    -----
    Tangents come from central differences: 24 calls per node. It is some hundred times slower than a compiled element;
    for loads that depend on time only use `PointForce` and `PointMoment`.

    Examples
    --------
    >>> import numpy as np
    >>> from fem_mbs.nodes import Node6
    >>> def drag(x, R, v, t):
    ...     return np.array([[*(-0.3 * np.linalg.norm(v[0, :3]) * v[0, :3]), 0, 0, 0]])
    >>> wind = UserForce(Node6(velocity=[2, 0, 0]), drag, name="drag")
    """

    invariant = False  # the law may refer to inertial axes

    def __init__(self, nodes: Any, function: Callable, *, name: str | None = None) -> None:
        super().__init__(nodes, name=name)
        self.function = self.as_function("function", function, "function(x, R, v, t)", 4)
        ends = [""] if len(self.nodes) == 1 else [f"_{k + 1}" for k in range(len(self.nodes))]
        self.outputs = {f"{name}{end}": (3, unit) for end in ends for name, unit in (("force", "N"), ("moment", "N m"))}
        x, R = np.array([n.position for n in self.nodes]), np.array([n.rotation for n in self.nodes])
        v = np.array([[*n.velocity, *(n.rotation.T @ n.angular_velocity)] for n in self.nodes])
        try:
            self.evaluate(x, R, v, 0.0)
        except NonFiniteError as error:
            raise ParameterError(
                self, "function", function, f"is not finite at the initial configuration: {error}"
            ) from None

    @property
    def python_kernels(self) -> dict:
        return super().python_kernels | {"output": self._add_output}

    def force(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        return self.function(x, R, v, t)


def _example(rng, a, b):
    A, k = rng.normal(size=(2, 3, 3)), rng.uniform(0.5, 2.0)

    def law(x, R, v, t):
        d = x[1] - x[0]
        pull = k * np.linalg.norm(d) * d - 0.3 * np.linalg.norm(v[1, :3]) * v[1, :3]
        turn = A[0] @ np.tanh(R[0].T @ d) + A[1] @ v[1, 3:]
        return np.array([np.concatenate([pull, turn]), np.concatenate([-pull, -R[1].T @ R[0] @ turn])])

    return UserForce([a, b], law)


register(UserForce, example=_example)
