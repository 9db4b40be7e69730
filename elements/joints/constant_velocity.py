"""Constant-velocity joint: two shafts at any angle that rotate at the same rate about their axes.

    g = [ x_Q − x_P ;  y_P·x_Q − x_P·y_Q ] = 0            "point" and the difference of two rows "perpendicular"  (1)

The z axes are the shafts. With the rotation R from Q to P the last row is R_21 − R_12 = 0: the axis of R has no
component along z_P, nor along z_Q = R z_P. The shafts are bent against each other about an axis at right angles to
both, and not twisted: ω_B·z_Q = ω_A·z_P.

Source: docs/theory/joints.md, (8); derived there. Symbols: see `fem_mbs.elements.joints.rows`.
"""

import math
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike, Keywords, Named
from fem_mbs.element.base import JOINT_FRAMES, Joint, register
from fem_mbs.elements.joints.rows import (
    POSE_TOLERANCE,
    add_effort,
    axes_product,
    check_origins,
    clear_rows,
    column,
    perpendicular_hessian,
    perpendicular_row,
    point_hessian,
    point_rows,
    random_joint,
)
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import exp, frame_with_axis


@kernel
def _negative(R, j, a):
    """Fill a (3,) with the opposite of column j of R (3, 3)."""
    for i in range(3):
        a[i] = -R[i, j]


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (4,) [m, m, m, -] and its gradient to G (4, 12)."""
    u, w = local_arrays("3, 3")
    point_rows(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, 0, g, G)
    column(p.R_AP, 1, u)
    column(p.R_BQ, 0, w)
    perpendicular_row(R_A, u, R_B, w, 3, g, G)
    _negative(p.R_AP, 0, u)
    column(p.R_BQ, 1, w)
    perpendicular_row(R_A, u, R_B, w, 3, g, G)


@kernel
def hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (4, 12, 12)."""
    u, w = local_arrays("3, 3")
    point_hessian(R_A, p.p_AP, R_B, p.p_BQ, 0, H)
    column(p.R_AP, 1, u)
    column(p.R_BQ, 0, w)
    perpendicular_hessian(R_A, u, R_B, w, 3, H)
    _negative(p.R_AP, 0, u)
    column(p.R_BQ, 1, w)
    perpendicular_hessian(R_A, u, R_B, w, 3, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, lam, g, G, out):
    """Force and moment on the second body, angle between the shafts."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    x, y = axes_product(R_A, p.R_AP, 0, R_B, p.R_BQ, 2), axes_product(R_A, p.R_AP, 1, R_B, p.R_BQ, 2)
    out[6] += math.atan2(math.sqrt(x * x + y * y), axes_product(R_A, p.R_AP, 2, R_B, p.R_BQ, 2))


class ConstantVelocity(Joint):
    """Constant-velocity (homokinetic) joint: shafts at an angle rotate at one rate, and bend about their common point.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground), origins in one point. The z axes are the shafts;
        Q is P bent about an axis at right angles to both, not twisted. Usually made by
        ``ConstantVelocity.at(first, second, position, axis, second_axis=…)``: ``axis`` and ``second_axis`` (default:
        the same) are the directions of the first and of the second shaft.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes; along the sum of both z axes
    bend : [rad], angle between the shafts, 0 … π

    Raises
    ------
    ParameterError
        Both frames on one node; origins apart, or frames twisted against each other, at the start.

    Notes
    -----
    Shafts that point at each other (a bend of 180°) are a singular position. A `Universal` joint at an angle rotates
    its shafts at different rates.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> joint = ConstantVelocity.at(Node6(), Node6([1, 0, 0]), [0.5, 0, 0], axis=[1, 0, 0], second_axis=[0.8, 0.6, 0])
    """

    rows = 4
    parameters = JOINT_FRAMES
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N"), "moment": (3, "N m"), "bend": (1, "rad")}

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        check_origins(self)
        R = self.frame_P.orientation.T @ self.frame_Q.orientation
        message = "has its z axis against that of frame_P: shafts that point at each other may be bent about any axis"
        self.check(R[2, 2] > -1.0 + 1e-12, "frame_Q", self.frame_Q, message)
        twist = np.degrees(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))
        self.check(
            abs(twist) <= np.degrees(POSE_TOLERANCE),
            "frame_Q",
            self.frame_Q,
            f"is twisted by {twist:.6g}° against frame_P at the start; shafts of this joint are bent only. Turn a "
            "frame about its z axis, or let ConstantVelocity.at(…) place both",
        )

    @classmethod
    @Keywords.known
    def at(
        cls,
        first: FrameLike,
        second: FrameLike,
        position: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        second_axis: ArrayLike | None = None,
        **options: Any,
    ) -> "ConstantVelocity":
        """Make the joint at a point (3,) [m] of the initial configuration.

        ``axis``, ``second_axis`` (3,), unit: the first and the second shaft, inertial axes; one direction through both,
        less than 180° apart.
        """
        owner = Named(cls.__name__, options.get("name"))
        A, B = owner.as_frame("first", first).node, owner.as_frame("second", second).node
        z = owner.unit_vector("axis", (0, 0, 1) if axis is None else axis)
        other = z if second_axis is None else owner.unit_vector("second_axis", second_axis)
        across, along = np.cross(z, other), z @ other
        sine = np.linalg.norm(across)
        owner.check(
            sine > 1e-6 or along > 0,
            "second_axis",
            other,
            "points against axis: give both in the direction of the power flow",
        )
        bend = np.arctan2(sine, along) * across / sine if sine > 0 else np.zeros(3)
        P = frame_with_axis(z)
        return cls(A.frame_at(position, P), B.frame_at(position, exp(bend) @ P), **options)


def _example(rng, a, b):
    second = rng.normal(size=3)
    return random_joint(ConstantVelocity, rng, a, b, second_axis=second / np.linalg.norm(second))


register(ConstantVelocity, example=_example)
