"""Drivers: a relative angle or distance that follows a function of time.

Angle φ(t) about the common z axis, with θ the turn from x of P to x of Q (`joints.coordinate_kernels`, (1)):

    g = θ − φ(t)                          ∂g/∂t = −φ̇        ∂²g/∂t² = −φ̈                                           (1)

On g = 0 the gradient with respect to θ_B is the axis: the multiplier is the driving moment on the second body about z.

Distance d(t) along z of P (row "in plane"):

    g = z_P·(x_Q − x_P) − d(t)            ∂g/∂t = −ḋ        ∂²g/∂t² = −d̈                                           (2)

The multiplier is the driving force on the second body along z.

Source: docs/theory/joints.md, (9), (10). Symbols: see `fem_mbs.elements.joints.coordinate_kernels`;
φ (or d) and its derivatives are s[0, 0], s[0, 1], s[0, 2].
"""

from typing import Any

import numpy as np

from fem_mbs.arguments import FrameLike
from fem_mbs.elements.base import JOINT_FRAMES, Joint, register
from fem_mbs.elements.joints.coordinate_kernels import (
    TURN_Z,
    coordinate_gradient,
    coordinate_hessian,
    coordinate_value,
    count_turn,
)
from fem_mbs.elements.joints.rows import (
    POSE_TOLERANCE,
    along_axis,
    check_parallel,
    driving_signal,
    plane_hessian,
    plane_row,
    random_joint,
    start_tolerance,
)
from fem_mbs.errors import label
from fem_mbs.jit import kernel, local_vector
from fem_mbs.signals import Signal


@kernel
def angle_constraint(p, x_A, R_A, x_B, R_B, s, state, g, G):
    """Add (1) to g (1,) [rad] and its gradient to G (1, 12)."""
    row = local_vector(12)
    g[0] -= s[0, 0]
    g[0] += coordinate_gradient(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B, row)
    for j in range(12):
        G[0, j] += row[j]


@kernel
def angle_hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (1, 12, 12)."""
    coordinate_hessian(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H[0])


@kernel
def first_angle(p, x_A, R_A, x_B, R_B, s, state):
    """Angle at the start: that of φ, whatever its number of turns."""
    state[0] = s[0, 0]
    count_turn(p, x_A, R_A, x_B, R_B, state)


@kernel
def angle_output(p, x_A, R_A, x_B, R_B, state, lam, out):
    """Driving moment and angle."""
    out[0] += lam[0]
    out[1] += coordinate_value(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)


@kernel
def distance_constraint(p, x_A, R_A, x_B, R_B, s, g, G):
    """Add (2) to g (1,) [m] and its gradient to G (1, 12)."""
    plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, g, G)
    g[0] -= s[0, 0]


@kernel
def distance_hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (2) to H (1, 12, 12)."""
    plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, H)


@kernel
def rheonomic(s, gt, gtt):
    """Add the time derivatives of (1) or (2) to gt (1,) and gtt (1,)."""
    gt[0] -= s[0, 1]
    gtt[0] -= s[0, 2]


@kernel
def distance_output(p, x_A, R_A, x_B, R_B, lam, out):
    """Driving force and distance."""
    out[0] += lam[0]
    out[1] += along_axis(x_A, R_A, p.p_AP, p.R_AP, 2, x_B, R_B, p.p_BQ)


class RevoluteDriver(Joint):
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
        (0, unless a run goes on from a later one). Any number of turns; less than
        half a turn in one time step.
    name : str, optional

    Outputs
    -------
    moment : [N m], driving moment on the second body about z of P
    angle : [rad], turns counted

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

    rows = 1
    n_state = 1
    parameters = JOINT_FRAMES
    kernels = {
        "constraint": angle_constraint,
        "hessian": angle_hessian,
        "rheonomic": rheonomic,
        "initial": first_angle,
        "accept": count_turn,
        "output": angle_output,
    }
    outputs = {"moment": (1, "N m"), "angle": (1, "rad")}
    period = 2 * np.pi  # of its function: angles may be given between −π and π

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, angle: Any, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        check_parallel(self)
        signal, start = driving_signal(self, "angle", angle)
        self.signals = [signal]
        x, y = self.frame_P.orientation[:, 0], self.frame_P.orientation[:, 1]
        initial = float(np.arctan2(y @ self.frame_Q.orientation[:, 0], x @ self.frame_Q.orientation[:, 0]))
        miss = np.remainder(start[0] - initial + np.pi, 2 * np.pi) - np.pi
        self.check(
            abs(miss) <= POSE_TOLERANCE * (1.0 + abs(start[0])),
            "angle",
            start[0],
            f"rad at t = 0, but x of frame_Q is at {initial:.9g} rad from x of frame_P about z. Add the "
            "difference to the function, or turn a frame",
        )

    def cause(self, t: float, h: float) -> str | None:
        """Why a step h [s] that ends at t [s] cannot succeed, in words; None if it is not for this driver."""
        turn = abs(self.signals[0](t) - self.signals[0](t - h))
        if turn < np.pi:
            return None
        return (
            f"{label(self)} turns by {np.degrees(turn):.4g}° in this step, and must turn by less than 180°: h must be "
            f"below {np.pi * h / turn:.2g} s. Is its angle in degrees? Angles are in radians (np.radians)"
        )


class LinearDriver(Joint):
    """Prescribe the distance of two frames along z of the first as a function of time.

    It drives only; what keeps the bodies on the line is a `Prismatic` or `Cylindrical` joint between the same frames.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Those of the joint, see `at`.
    distance : float, callable or Signal [m]
        d(t) from P to Q along z of P, twice differentiable. d must be the distance at the time of the
        initial state (0, unless a run goes on from a later one): 0 for frames made by ``at``.
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

    rows = 1
    parameters = JOINT_FRAMES
    kernels = {
        "constraint": distance_constraint,
        "hessian": distance_hessian,
        "rheonomic": rheonomic,
        "output": distance_output,
    }
    outputs = {"force": (1, "N"), "distance": (1, "m")}

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, distance: Any, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        signal, start = driving_signal(self, "distance", distance)
        self.signals = [signal]
        initial = float(self.frame_P.orientation[:, 2] @ (self.frame_Q.position - self.frame_P.position))
        self.check(
            abs(start[0] - initial) <= start_tolerance(self),
            "distance",
            start[0],
            f"m at t = 0, but Q is at {initial:.9g} m from P along z of frame_P. Add the difference to the "
            "function, or move a frame",
        )


def _random_motion(rng):
    """A smooth function of time that is 0 at t = 0."""
    a, b = rng.normal(size=2)
    return Signal(lambda t: a * np.sin(2 * t) + b * t)


register(RevoluteDriver, example=lambda rng, a, b: random_joint(RevoluteDriver, rng, a, b, angle=_random_motion(rng)))
register(LinearDriver, example=lambda rng, a, b: random_joint(LinearDriver, rng, a, b, distance=_random_motion(rng)))
