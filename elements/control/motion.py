"""Motion of a frame as numbers that controllers, events and results read: elements that put out and do nothing else.

Frame P at a on node A, seen from the inertial frame, or from frame Q at b on node B:

    x_P = x_A + R_A a     v_P = ẋ_A + R_A (Ω_A × a)     ω_P = R_A Ω_A     and likewise Q                          (1)
    a_P = ẍ_A + R_A (Ω̇_A × a + Ω_A × (Ω_A × a))       ω̇_P = R_A Ω̇_A                                             (2)
    r = R_Qᵀ(x_P − x_Q)     ṙ = R_Qᵀ(v_P − v_Q − ω_Q × (x_P − x_Q))     ω = R_Qᵀ(ω_P − ω_Q)                       (3)
    θ = θ_n + wrap(atan2(f·y, e·y) − θ_n)      y = R_QᵀR_P e ,   f = n × e                                        (4)

The angle (4) about the axis n (axes of Q, or inertial ones) is that of a vector e across n that is fixed in P. θ_n is
the internal variable of the element, the angle at the end of the last step: full turns are counted.

Source: docs/theory/control.md, (1)-(4); elementary kinematics.

    symbol   code             shape   unit  meaning
    a, R_AP  p.p_AP, p.R_AP   (3,) …  m, -  frame P in node axes; Q likewise
    n, e     p.axis, p.across (3,)    -     axis of the angle; a unit vector across it
    kind     p.kind           int     -     which of `QUANTITIES`
    θ_n      state[0]         ()      rad   angle at the end of the last step
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Force, register
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_cross, add_rotated, cross, dot, frame_with_axis, rotate, rotate_T

QUANTITIES = {  # name -> number for kernels, unit
    "position": (0, "m"),
    "velocity": (1, "m/s"),
    "acceleration": (2, "m/s²"),
    "angular_velocity": (3, "rad/s"),
    "angular_acceleration": (4, "rad/s²"),
}
POINT = np.dtype([("p_AP", "f8", (3,)), ("R_AP", "f8", (3, 3)), ("kind", "i8")])
POINT_AXIS = np.dtype([*POINT.descr, ("axis", "f8", (3,)), ("across", "f8", (3,))])
PAIR = np.dtype([*JOINT_FRAMES.descr, ("kind", "i8")])
PAIR_AXIS = np.dtype([*PAIR.descr, ("axis", "f8", (3,)), ("across", "f8", (3,))])


@kernel
def point_velocity(R, v, w, a, out):
    """Fill out (3,) with the velocity of a point by (1)."""
    y = local_vector(3)
    cross(w, a, y)
    for i in range(3):
        out[i] = v[i]
    add_rotated(1.0, R, y, out)


@kernel
def point_output(p, x_A, R_A, v_A, w_A, a_A, alpha_A, out):
    """One of (1), (2) in inertial axes."""
    y, z = local_arrays("3, 3")
    if p.kind == 0:
        for i in range(3):
            out[i] += x_A[i]
        add_rotated(1.0, R_A, p.p_AP, out)
    elif p.kind == 1:
        point_velocity(R_A, v_A, w_A, p.p_AP, y)
        for i in range(3):
            out[i] += y[i]
    elif p.kind == 2:
        cross(w_A, p.p_AP, y)
        cross(w_A, y, z)
        add_cross(1.0, alpha_A, p.p_AP, z)
        for i in range(3):
            out[i] += a_A[i]
        add_rotated(1.0, R_A, z, out)
    else:
        add_rotated(1.0, R_A, w_A if p.kind == 3 else alpha_A, out)


@kernel
def pair_output(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, out):
    """One of (3) in the axes of Q."""
    d, y, z = local_arrays("3, 3, 3")
    if p.kind == 3:
        rotate(R_A, w_A, d)
        add_rotated(-1.0, R_B, w_B, d)
    else:
        for i in range(3):
            d[i] = x_A[i] - x_B[i]
        add_rotated(1.0, R_A, p.p_AP, d)
        add_rotated(-1.0, R_B, p.p_BQ, d)
    if p.kind == 1:
        rotate(R_B, w_B, y)
        cross(y, d, z)
        point_velocity(R_A, v_A, w_A, p.p_AP, y)
        point_velocity(R_B, v_B, w_B, p.p_BQ, d)
        for i in range(3):
            d[i] = y[i] - d[i] - z[i]
    rotate_T(R_B, d, y)
    rotate_T(p.R_BQ, y, d)
    for i in range(3):
        out[i] += d[i]


@kernel
def unwrapped(across, axis, y, last):
    """(4): the angle of y (3,) that is nearest to the last one."""
    f = local_vector(3)
    cross(axis, across, f)
    turn = math.atan2(dot(f, y), dot(across, y)) - last
    return last + turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)


@kernel
def point_direction(p, R_A, y):
    """Fill y (3,) with e of (4) in inertial axes."""
    z = local_vector(3)
    rotate(p.R_AP, p.across, z)
    rotate(R_A, z, y)


@kernel
def pair_direction(p, R_A, R_B, y):
    """Fill y (3,) with e of (4) in the axes of Q."""
    z = local_vector(3)
    point_direction(p, R_A, y)
    rotate_T(R_B, y, z)
    rotate_T(p.R_BQ, z, y)


@kernel
def point_angle(p, R_A, state, out):
    """(4) from the inertial frame."""
    y = local_vector(3)
    point_direction(p, R_A, y)
    out[0] += unwrapped(p.across, p.axis, y, state[0])


@kernel
def point_angle_initial(p, R_A, state):
    """(4) within half a turn."""
    y = local_vector(3)
    point_direction(p, R_A, y)
    state[0] = unwrapped(p.across, p.axis, y, 0.0)


@kernel
def point_angle_accept(p, R_A, state):
    """(4) at the end of a step."""
    y = local_vector(3)
    point_direction(p, R_A, y)
    state[0] = unwrapped(p.across, p.axis, y, state[0])


@kernel
def pair_angle(p, R_A, R_B, state, out):
    """(4) from frame Q."""
    y = local_vector(3)
    pair_direction(p, R_A, R_B, y)
    out[0] += unwrapped(p.across, p.axis, y, state[0])


@kernel
def pair_angle_initial(p, R_A, R_B, state):
    """(4) within half a turn."""
    y = local_vector(3)
    pair_direction(p, R_A, R_B, y)
    state[0] = unwrapped(p.across, p.axis, y, 0.0)


@kernel
def pair_angle_accept(p, R_A, R_B, state):
    """(4) at the end of a step."""
    y = local_vector(3)
    pair_direction(p, R_A, R_B, y)
    state[0] = unwrapped(p.across, p.axis, y, state[0])


class FrameMotion(Force):
    """Position, velocity or acceleration of a frame, translation or rotation; made by `Sensor`, it acts on nothing.

    Parameters
    ----------
    frame : Frame, Node or body
    quantity : {"position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"}
    relative_to : Frame, Node or body, optional
        Seen from this frame, in its axes (position, velocity, angular velocity); default: inertial axes.
    name : str, optional

    Outputs
    -------
    value : (3,) [m, m/s, m/s², rad/s or rad/s²]

    Raises
    ------
    ParameterError
        Unknown quantity; accelerations from a moving frame; both frames on one node.
    """

    viscous = False
    invariant = False  # puts out inertial components

    def __init__(
        self, frame: FrameLike, quantity: str, *, relative_to: FrameLike | None = None, name: str | None = None
    ) -> None:
        self.name = name
        self.quantity = self.as_choice("quantity", quantity, tuple(QUANTITIES))
        kind, unit = QUANTITIES[quantity]
        self.outputs = {"value": (3, unit)}
        if relative_to is None:
            self.frame = self.as_frame("frame", frame)
            super().__init__((self.frame.node,), name=name)
            self.parameters, self.kernels = POINT, {"output": point_output}
            self.record: tuple = (self.frame.p, self.frame.rotation, kind)
            return
        seen = "is seen from the inertial frame only; leave relative_to out"
        self.check("acceleration" not in quantity, "quantity", quantity, seen)
        self._connect(frame, relative_to, "a frame does not move relative to its own node", name=name)
        self.parameters, self.kernels = PAIR, {"output": pair_output}
        P, Q = self.frame_P, self.frame_Q
        self.record = (P.p, P.rotation, Q.p, Q.rotation, kind)


class FrameAngle(Force):
    """Unwrapped (multi-turn) angle of a frame about an axis; made by `Sensor`, it exerts no force.

    Parameters
    ----------
    frame : Frame, Node or body
    axis : (3,), unit
        Inertial axes, or axes of ``relative_to``.
    relative_to : Frame, Node or body, optional
    name : str, optional

    Outputs
    -------
    value : [rad], within half a turn at the start of a run

    Raises
    ------
    ParameterError
        Axis not of length 1; both frames on one node.

    Notes
    -----
    The angle is 0 where the frame is parallel to its reference frame. Where the frame also rotates about other axes it
    is that of a direction across the axis; less than half a turn in one step.
    """

    viscous = False
    invariant = False
    outputs = {"value": (1, "rad")}

    @property
    def counted(self) -> list[tuple[int, Any, str, int]]:
        """Its own angle."""
        return [(0, self, "value", 0)]

    n_state = 1

    def __init__(
        self, frame: FrameLike, axis: ArrayLike, *, relative_to: FrameLike | None = None, name: str | None = None
    ) -> None:
        self.name = name
        self.axis = self.unit_vector("axis", axis)
        across = frame_with_axis(self.axis)[:, 0]
        if relative_to is None:
            self.frame = self.as_frame("frame", frame)
            super().__init__((self.frame.node,), name=name)
            self.parameters = POINT_AXIS
            self.kernels = {"output": point_angle, "initial": point_angle_initial, "accept": point_angle_accept}
            self.record: tuple = (self.frame.p, self.frame.rotation, 0, self.axis, across)
            return
        self._connect(frame, relative_to, "a frame does not turn relative to its own node", name=name)
        self.parameters = PAIR_AXIS
        self.kernels = {"output": pair_angle, "initial": pair_angle_initial, "accept": pair_angle_accept}
        P, Q = self.frame_P, self.frame_Q
        self.record = (P.p, P.rotation, Q.p, Q.rotation, 0, self.axis, across)


def _motion(rng: np.random.Generator, a: Any, b: Any) -> FrameMotion:
    frame = a.frame(rng.normal(size=3), rng.normal(size=3))
    if rng.integers(2):
        return FrameMotion(frame, str(rng.choice(list(QUANTITIES))))
    quantity = str(rng.choice(["position", "velocity", "angular_velocity"]))
    return FrameMotion(frame, quantity, relative_to=b.frame(rng.normal(size=3), rng.normal(size=3)))


def _angle(rng: np.random.Generator, a: Any, b: Any) -> FrameAngle:
    axis = rng.normal(size=3)
    seen_from = b.frame(rng.normal(size=3), rng.normal(size=3)) if rng.integers(2) else None
    return FrameAngle(
        a.frame(rng.normal(size=3), rng.normal(size=3)), axis / np.linalg.norm(axis), relative_to=seen_from
    )


register(FrameMotion, example=_motion)
register(FrameAngle, example=_angle)
