"""Loads: a force at a point, a moment on a node; of fixed direction (dead) or turning with the node (follower).

    dead force F (inertial axes) at a        f = [ F ; a × RᵀF ]   K: (θ,θ) −ã (RᵀF)~          V = −F·(x + R a)    (1)
    follower force F (frame axes) at a       f = [ R F_b ; a × F_b ]        K: (x,θ) R F̃_b     F_b = R_AP F        (2)
    dead moment M (inertial axes)            f = [ 0 ; RᵀM ]                K: (θ,θ) −(RᵀM)~                       (3)
    follower moment M (frame axes)           f = [ 0 ; R_AP M ]             K = 0                                  (4)

A dead force that does not depend on time has the potential V; a dead moment has none (its work depends on the path).

Source: docs/theory/springs_and_loads.md, (7)-(9).

    symbol   code              shape   unit    meaning
    a        p.p_AP            (3,)    m       point from the node, node axes
    R_AP     p.R_AP            (3, 3)  -       axes of the frame (columns), node axes
    F, M     s[i, 0]           (3,)    N, N m  components at time t
    follower p.follower        int     -       1: components in the axes of the frame, 0: inertial axes
    V        p.has_potential   int     -       1: (1) with constant F
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Force, register
from fem_mbs.errors import ParameterError
from fem_mbs.functions.signals import Signal, VectorOfTime
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.nodes import Node1, Node3
from fem_mbs.rotations import add_cross, add_R_skew, add_rotated, add_skew, add_skew_skew, dot, rotate, rotate_T

PARAMETERS = np.dtype([("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("follower", "i8"), ("has_potential", "i8")])


@kernel
def components(p, R_A, s, F, y):
    """Fill F (3,) with the load in inertial axes and y (3,) with the same in node axes."""
    if p.follower == 1:
        for i in range(3):
            y[i] = p.R_AP[i, 0] * s[0, 0] + p.R_AP[i, 1] * s[1, 0] + p.R_AP[i, 2] * s[2, 0]
        rotate(R_A, y, F)
    else:
        for i in range(3):
            F[i] = s[i, 0]
        rotate_T(R_A, F, y)


@kernel
def point_force(p, R_A, s, f):
    """Add (1) or (2) to f (6,)."""
    F, y = local_arrays("3, 3")
    components(p, R_A, s, F, y)
    for i in range(3):
        f[i] += F[i]
    add_cross(1.0, p.p_AP, y, f[3:6])


@kernel
def point_force_tangent(p, R_A, s, K):
    """Add the load stiffness of (1) or (2) to K (6, 6)."""
    F, y = local_arrays("3, 3")
    components(p, R_A, s, F, y)
    if p.follower == 1:
        add_R_skew(1.0, R_A, y, K, 0, 3)
    else:
        add_skew_skew(-1.0, p.p_AP, y, K, 3, 3)


@kernel
def energy_point_force(p, x_A, R_A, s):
    """Potential V of (1) [J]; 0 for loads that have none."""
    if p.has_potential == 0:
        return 0.0
    point, F = local_arrays("3, 3")
    for i in range(3):
        point[i] = x_A[i]
        F[i] = s[i, 0]
    add_rotated(1.0, R_A, p.p_AP, point)
    return -dot(F, point)


@kernel
def point_moment(p, R_A, s, f):
    """Add (3) or (4) to f (6,)."""
    M, y = local_arrays("3, 3")
    components(p, R_A, s, M, y)
    for i in range(3):
        f[3 + i] += y[i]


@kernel
def point_moment_tangent(p, R_A, s, K):
    """Add the load stiffness of (3) to K (6, 6); that of (4) is 0."""
    M, y = local_arrays("3, 3")
    if p.follower == 0:
        components(p, R_A, s, M, y)
        add_skew(-1.0, y, K, 3, 3)


@kernel
def output(p, R_A, s, out):
    """The load in inertial axes."""
    F, y = local_arrays("3, 3")
    components(p, R_A, s, F, y)
    for i in range(3):
        out[i] += F[i]


class _Load(Force):
    """Common base of forces and moments."""

    parameters = PARAMETERS

    def __init__(
        self, frame: FrameLike, parameter: str, vector: Any, follower: bool, signal: Any, name: str | None
    ) -> None:
        self.name = name
        self.frame = self.as_frame("frame", frame)
        self.follower = self.as_flag("follower", follower)
        constant = not callable(vector)
        if constant:
            vector = self.as_vector(parameter, vector)
        else:
            self.as_function(parameter, vector, "a function of time t", 1)
        scale = Signal.of(self.as_motion("signal", 1.0 if signal is None else signal))
        load = VectorOfTime(self, parameter, vector, scale)
        try:
            self.number("signal", scale(0.0))
        except (TypeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(self, "signal", signal, f"must return numbers: {error}") from error
        start = load.at_start()
        self.check(np.isfinite(start).all(), parameter, start, "is not finite at t = 0")
        super().__init__((self.frame.node,), name=name, signals=load.signals())
        self.constant = constant and scale.constant
        self.record = (self.frame.p, self.frame.rotation, int(self.follower), int(self.conservative))

    external = True

    @property
    def invariant(self) -> bool:
        """True if the load rotates with its node."""
        return self.follower

    @property
    def circulatory(self) -> bool:
        """True if the load makes the stiffness unsymmetric."""
        return self.follower

    @property
    def conservative(self) -> bool:
        """True if the load has a potential."""
        return self.constant and not self.follower


class PointForce(_Load):
    """Force at a point.

    Parameters
    ----------
    frame : Frame, Node or body
        The force acts at its origin.
    force : (3,) [N], or callable t -> (3,)
        Components in inertial axes, or in the axes of ``frame`` with ``follower``.
    follower : bool
        False: the direction stays (a weight). True: it rotates with the frame (a thruster, a pressure).
    signal : float, callable or Signal, optional
        Factor or function of time [s] that scales ``force``, e.g. ``ramp(duration=1)``. Any Python function is
        allowed; it is evaluated once per step.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], inertial axes

    Raises
    ------
    ParameterError
        Components not three finite numbers.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> tip = Node6([1, 0, 0])
    >>> load = PointForce(tip, [0, 0, -10], signal=lambda t: min(t, 1.0), name="weight")
    >>> thrust = PointForce(tip.frame(p=[0, 0.1, 0]), [5, 0, 0], follower=True)
    """

    kernels = {
        "force": point_force,
        "force_tangent": point_force_tangent,
        "energy": energy_point_force,
        "output": output,
    }
    outputs = {"force": (3, "N")}

    def __init__(
        self, frame: FrameLike, force: Any, *, follower: bool = False, signal: Any = None, name: str | None = None
    ) -> None:
        super().__init__(frame, "force", force, follower, signal, name)

    @property
    def by_time(self) -> bool:  # type: ignore[override]
        return not self.follower and not self.frame.p.any()


class PointMoment(_Load):
    """Moment on a node.

    Parameters
    ----------
    frame : Frame, Node or body
        Only its rotation matters, with ``follower``.
    moment : (3,) [N m], or callable t -> (3,)
        Components in inertial axes, or in the axes of ``frame`` with ``follower``.
    follower : bool
        False: the direction stays. True: it rotates with the frame.
    signal : float, callable or Signal, optional
        Factor or function of time [s] that scales ``moment``.
    name : str, optional

    Outputs
    -------
    moment : (3,) [N m], inertial axes

    Raises
    ------
    ParameterError
        Components not three finite numbers; a node without rotation, such as that of a `PointMass`.

    Notes
    -----
    A moment of fixed direction is not conservative in space: its work depends on the path, and its stiffness is not
    symmetric.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> torque = PointMoment(Node6(), [0, 0, 2.0], follower=True, name="motor")
    """

    kernels = {"force": point_moment, "force_tangent": point_moment_tangent, "output": output}
    outputs = {"moment": (3, "N m")}

    def __init__(
        self, frame: FrameLike, moment: Any, *, follower: bool = False, signal: Any = None, name: str | None = None
    ) -> None:
        super().__init__(frame, "moment", moment, follower, signal, name)
        if isinstance(self.frame.node, (Node1, Node3)):
            cure = "has no rotation, and a moment no effect on it. Use a RigidBody"
            raise ParameterError(self, "frame", self.frame.node, cure)

    @property
    def by_time(self) -> bool:  # type: ignore[override]
        return self.follower


def _example(cls):
    def example(rng, a):
        frame = a.frame(rng.normal(size=3), rng.normal(size=3))
        return cls(frame, rng.normal(size=3), follower=bool(rng.integers(0, 2)))

    return example


register(PointForce, example=_example(PointForce))
register(PointMoment, example=_example(PointMoment))
