"""Drivers: a coordinate of a joint follows a function of time.

With ξ a coordinate (unwrapped), G and H its derivatives (`joints.coordinates.kernels`), φ(t) given:

    g = ξ − φ(t)         ∂g/∂t = −φ̇        ∂²g/∂t² = −φ̈                                                            (1)

On g = 0 the gradient of an angle with respect to θ_B is the axis, that of a distance with respect to x_B is z of P:
the multiplier is the driving moment or force on the second body.

Source: docs/theory/joints.md, (9), (10).

    symbol   code      shape   unit      meaning
    φ        s[0, 0]   ()      rad or m  given function; s[0, 1], s[0, 2] are its derivatives
    θ_n      state[0]  ()      rad       last angle
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import Joint, register
from fem_mbs.elements.joints.coordinates.coordinates import COORDINATE, coordinate_of, random_coordinate, regular_angle
from fem_mbs.elements.joints.coordinates.given import driving_signal
from fem_mbs.elements.joints.coordinates.kernels import (
    SLIDE_X,
    SLIDE_Z,
    TURN_Z,
    coordinate_gradient,
    coordinate_hessian,
    coordinate_value,
    count,
)
from fem_mbs.elements.joints.rows import POSE_TOLERANCE, check_parallel, random_joint, start_tolerance
from fem_mbs.errors import label
from fem_mbs.functions.signals import Signal
from fem_mbs.jit import kernel, local_vector

MOST = 3.0  # rad that a driver may rotate in a step: nodes must rotate by less


@kernel
def constraint(p, x_A, R_A, x_B, R_B, s, state, g, G):
    """Add (1) to g (1,) [rad or m] and its gradient to G (1, 12)."""
    row = local_vector(12)
    value = coordinate_gradient(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B, row)
    g[0] += value - s[0, 0]
    for j in range(12):
        G[0, j] += row[j]


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (1, 12, 12)."""
    coordinate_hessian(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H[0])


@kernel
def rheonomic(s, gt, gtt):
    """Add the time derivatives of (1) to gt (1,) and gtt (1,)."""
    gt[0] -= s[0, 1]
    gtt[0] -= s[0, 2]


@kernel
def first_of_signal(p, x_A, R_A, x_B, R_B, s, state):
    """Angle at the start: that of φ, whatever its number of turns."""
    state[0] = s[0, 0]
    count(p, x_A, R_A, x_B, R_B, state)


@kernel
def output(p, x_A, R_A, x_B, R_B, state, lam, out):
    """Driving moment or force, and the coordinate."""
    out[0] += lam[0]
    out[1] += coordinate_value(p.kind, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)


class _Driver(Joint):
    """A row (1) along a coordinate."""

    rows = 1
    n_state = 1
    remembers = False  # the signal determines the number of turns
    parameters = COORDINATE
    kernels = {
        "constraint": constraint,
        "hessian": hessian,
        "rheonomic": rheonomic,
        "initial": first_of_signal,
        "accept": count,
        "output": output,
    }
    regular = regular_angle
    kind = TURN_Z  # of its coordinate

    def _follow(self, parameter: str, value: Any, kind: int, tolerance: float) -> None:
        """Follow a function, which begins where the coordinate does, angles up to whole turns."""
        P, Q = self.frame_P, self.frame_Q
        self.kind = kind
        self.record = (kind, P.p, P.rotation, Q.p, Q.rotation)
        signal, start = driving_signal(self, parameter, value)
        self.signals = [signal]
        A, B = P.node, Q.node
        initial = coordinate_value(*self.record, start[0], A.position, A.rotation, B.position, B.rotation)
        place = _place(kind, coordinate_value(*self.record, 0.0, A.position, A.rotation, B.position, B.rotation))
        self.check(abs(start[0] - initial) <= tolerance * (1.0 + abs(start[0])), parameter, start[0], place)

    def cause(self, t: float, h: float) -> str | None:
        """Why a step h [s] that ends at t [s] cannot succeed, in words; None if it is not for this driver."""
        turn = abs(self.signals[0](t) - self.signals[0](t - h))
        if self.kind >= SLIDE_X or turn < MOST:
            return None
        return (
            f"{label(self)} rotates by {np.degrees(turn):.4g}° in this step, and must rotate by less than 172°: h "
            f"must be below {MOST * h / turn:.2g} s. Is its angle in degrees? Angles are in radians (np.radians)"
        )


def _place(kind, initial):
    """Describe the initial value of a coordinate, for a function that begins elsewhere."""
    if kind == TURN_Z:
        return (
            f"rad at t = 0, but x of frame_Q is at {initial:.9g} rad from x of frame_P about z. Add the difference to "
            "the function, or rotate a frame"
        )
    if kind == SLIDE_Z:
        return (
            f"m at t = 0, but Q is at {initial:.9g} m from P along z of frame_P. Add the difference to the function, "
            "or move a frame"
        )
    unit = "m" if kind >= SLIDE_X else "rad"
    return f"{unit} at t = 0, but the coordinate is {initial:.9g} {unit}. Add the difference to the function"


class RevoluteDriver(_Driver):
    """Prescribe the angle of a hinge as a function of time.

    It drives only; the hinge itself is a `Revolute` (or `Cylindrical`) joint between the same frames.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Those of the hinge, see `at`. The angle is measured from the x axis of P to that of Q about their common z axis;
        for frames made by ``at`` it is 0 at the start.
    angle : float, callable or Signal [rad]
        φ(t), twice differentiable: made of NumPy functions, a `Signal` with its derivatives, or one of `smooth_start`,
        `trapezoidal`, `ramp`, `table`. φ must be the angle of the pose at the time of the initial state
        (0, unless a run continues from a later one). Any number of turns; less than
        half a turn in one time step.
    name : str, optional

    Outputs
    -------
    moment : [N m], driving moment on the second body about z of P
    angle : [rad], unwrapped (multi-turn)

    Raises
    ------
    ParameterError
        Both frames on one node; z axes apart at the start; φ(0) not the initial angle; φ not differentiable or not
        finite.

    Examples
    --------
    >>> import numpy as np
    >>> from fem_mbs.elements.joints.revolute import Revolute
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], axis=[0, 0, 1])
    >>> motor = RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: 0.8 * np.sin(3 * t), name="motor")
    """

    outputs = {"moment": (1, "N m"), "angle": (1, "rad")}
    period = 2 * np.pi  # of its function: angles may be given between −π and π

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, angle: Any, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        check_parallel(self)
        self._follow("angle", angle, TURN_Z, POSE_TOLERANCE)


class LinearDriver(_Driver):
    """Prescribe the distance of two frames along z of the first as a function of time.

    It drives only; what keeps the bodies on the line is a `Prismatic` or `Cylindrical` joint between the same frames.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Those of the joint, see `at`.
    distance : float, callable or Signal [m]
        d(t) from P to Q along z of P, twice differentiable. d must be the distance at the time of the
        initial state (0, unless a run continues from a later one): 0 for frames made by ``at``.
    name : str, optional

    Outputs
    -------
    force : [N], driving force on the second body along z of P
    distance : [m]

    Raises
    ------
    ParameterError
        Both frames on one node; d(0) not the initial distance; d not differentiable or not finite.

    Examples
    --------
    >>> from fem_mbs.elements.joints.prismatic import Prismatic
    >>> from fem_mbs.nodes import Ground, Node6
    >>> rail = Prismatic.at(Ground(), Node6([1, 0, 0]), position=[1, 0, 0], axis=[1, 0, 0])
    >>> jack = LinearDriver(rail.frame_P, rail.frame_Q, distance=lambda t: 0.1 * t**2, name="jack")
    """

    outputs = {"force": (1, "N"), "distance": (1, "m")}

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, distance: Any, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        self._follow("distance", distance, SLIDE_Z, start_tolerance(self))


class JointDriver(_Driver):
    """Prescribe a free coordinate of a joint as a function of time: what ``motor=Motor(position=…)`` of a joint makes.

    Parameters
    ----------
    joint : Joint
        One that rotates or slides.
    position : float, callable or Signal [rad or m]
        Twice differentiable; as for `RevoluteDriver` and `LinearDriver`.
    coordinate : str, optional
        Name of the coordinate where the joint has several.
    name : str, optional

    Outputs
    -------
    effort : [N m or N], driving moment or force on the second body along the coordinate
    value : [rad or m], the coordinate, unwrapped (multi-turn)

    Raises
    ------
    ParameterError
        No such coordinate; the function does not begin at its initial value, or cannot be differentiated.
    """

    def __init__(self, joint: Joint, position: Any, *, coordinate: str | None = None, name: str | None = None) -> None:
        self.name = name
        along = coordinate_of(self, "joint", joint, coordinate)
        self.joint, self.outputs = joint, {"effort": (1, along.effort), "value": (1, along.unit)}
        super().__init__(joint.frame_P, joint.frame_Q, name=name)
        if along.turns:
            self.period = 2 * np.pi
        self._follow("position", position, along.kind, POSE_TOLERANCE if along.turns else start_tolerance(self))


def random_motion(rng: np.random.Generator) -> Signal:
    """A smooth function of time that is 0 at t = 0."""
    a, b = rng.normal(size=2)
    return Signal(lambda t: a * np.sin(2 * t) + b * t)


def _example(rng, a, b):
    joint, coordinate = random_coordinate(rng, a, b)
    start, motion = coordinate_of(joint, "joint", joint, coordinate).start, random_motion(rng)
    return JointDriver(joint, start + motion, coordinate=coordinate)


register(RevoluteDriver, example=lambda rng, a, b: random_joint(RevoluteDriver, rng, a, b, angle=random_motion(rng)))
register(LinearDriver, example=lambda rng, a, b: random_joint(LinearDriver, rng, a, b, distance=random_motion(rng)))
register(JointDriver, example=_example)
