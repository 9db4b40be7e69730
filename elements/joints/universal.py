"""Universal (Hooke, Cardan) joint: two bodies hold a cross whose pins are at right angles.

    g = [ x_Q − x_P ;  z_P·x_Q ] = 0                              "point" and one "perpendicular" row              (1)

The first body rotates about the pin along the z axis of P, the second about the pin along the x axis of Q.

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from typing import Any, TypeVar

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike, Keywords, Named
from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import FORCE, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import TURN_X, TURN_Z, add_coordinate, coordinate_value
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import (
    POSE_TOLERANCE,
    add_effort,
    axes_hessian,
    axes_row,
    check_origins,
    clear_rows,
    point_hessian,
    point_rows,
    random_joint,
)
from fem_mbs.jit import kernel
from fem_mbs.rotations import frame_with_axis

T = TypeVar("T", bound="CrossedAxes")


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (4,) [m, m, m, -] and its gradient to G (4, 12)."""
    point_rows(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, 0, g, G)
    axes_row(R_A, p.R_AP, 2, R_B, p.R_BQ, 0, 3, g, G)


@kernel
def hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (4, 12, 12)."""
    point_hessian(R_A, p.p_AP, R_B, p.p_BQ, 0, H)
    axes_hessian(R_A, p.R_AP, 2, R_B, p.R_BQ, 0, 3, H)


@kernel
def count_turns(p, x_A, R_A, x_B, R_B, state):
    """Angles about both pins at the end of a step, counted on from ``state``."""
    state[0] = coordinate_value(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B)
    state[1] = coordinate_value(TURN_X, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[1], x_A, R_A, x_B, R_B)


@kernel
def first_turns(p, x_A, R_A, x_B, R_B, state):
    """Angles about both pins at the start, in (−π, π]."""
    state[:] = 0.0
    count_turns(p, x_A, R_A, x_B, R_B, state)


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Force and moment on the second body, angles about both pins and their rates."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 6, 8, out)
    add_coordinate(TURN_X, p, state[1], x_A, R_A, x_B, R_B, v, 7, 9, out)


def check_perpendicular(joint: Any) -> None:
    """The z axis of P and the x axis of Q are at right angles at the start."""
    sine = float(joint.frame_P.orientation[:, 2] @ joint.frame_Q.orientation[:, 0])
    angle = np.degrees(np.arccos(np.clip(sine, -1, 1)))
    joint.check(
        abs(sine) <= POSE_TOLERANCE,
        "frame_Q",
        joint.frame_Q,
        f"has its x axis {angle:.6g}° from the z axis of frame_P at the start; the pins of the cross are at right "
        f"angles. Correct the rotation of a frame, or let {type(joint).__name__}.at(…) place both",
    )


class CrossedAxes(JointWithOptions):
    """Base of joints about the z axis of frame P and the x axis of frame Q, which its method `at` places."""

    @classmethod
    @Keywords.known
    def at(
        cls: type[T],
        first: FrameLike,
        second: FrameLike,
        position: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        second_axis: ArrayLike | None = None,
        **options: Any,
    ) -> T:
        """Make the joint at a point (3,) [m] of the initial configuration.

        ``axis``, ``second_axis`` (3,), unit: the pins of the first and of the second body, inertial axes. A second pin
        along the shaft it belongs to would not permit rotation of this shaft.
        """
        made: Any = cls
        owner = Named(cls.__name__, options.get("name"))
        A, B = owner.as_frame("first", first).node, owner.as_frame("second", second).node
        place = owner.as_vector("position", position)
        pin = owner.unit_vector("axis", (0, 0, 1) if axis is None else axis)
        if second_axis is None:
            along = np.cross(pin, place - B.position)
            far = np.linalg.norm(along) > 1e-9 * np.linalg.norm(place - B.position)
            other = along / np.linalg.norm(along) if far else frame_with_axis(pin)[:, 0]
        else:
            other = owner.unit_vector("second_axis", second_axis)
        across = np.cross(pin, other)
        if np.linalg.norm(across) < 1.0 - POSE_TOLERANCE:  # not at right angles: the constructor raises an error
            return made(
                A.frame_at(place, frame_with_axis(pin)), B.frame_at(place, frame_with_axis(other, 0)), **options
            )
        cross = np.column_stack([other, across, pin])  # both frames in the axes of the cross
        return made(A.frame_at(place, cross), B.frame_at(place, cross), **options)


class Universal(CrossedAxes):
    """Hooke's joint: transmits rotation between shafts at an angle; bends about two pins.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground), origins in the centre of the cross. The pin of the
        first body lies along the z axis of P, that of the second along the x axis of Q; at right angles at the start.
        ``Universal.at(first, second, position, axis)`` puts the first pin along ``axis``, the second at right angles to
        it and to the line from the second node to the joint, as in a shaft; ``second_axis`` gives another one.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes; perpendicular to both pins
    first_angle : [rad], of the cross against the first body, about the pin along z of P; unwrapped (multi-turn)
    second_angle : [rad], of the second body against the cross, about the pin along x of Q; unwrapped (multi-turn).
    Both are 0 at
        the start for joints made by ``at``
    first_rate, second_rate : [rad/s]

    Raises
    ------
    ParameterError
        Both frames on one node; origins apart, or pins not at right angles, at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> cross = Universal.at(Node6(), Node6([1, 0, 0]), position=[0.5, 0, 0], axis=[0, 0, 1], name="cross")
    """

    rows = 4
    weaker_rows = {"Spherical": (0, 1, 2)}
    n_state = 2
    conditions = (check_origins, check_perpendicular)
    coordinates = (Coordinate("first_angle", TURN_Z, "first_rate"), Coordinate("second_angle", TURN_X, "second_rate"))
    kernels = {
        "constraint": constraint,
        "hessian": hessian,
        "initial": first_turns,
        "accept": count_turns,
        "output": output,
    }
    outputs = FORCE | MOMENT | outputs_of(*coordinates)


register(Universal, example=lambda rng, a, b: random_joint(Universal, rng, a, b))
