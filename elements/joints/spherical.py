"""Spherical joint: point P of the first body stays on point Q of the second.

    g = x_B + R_B b − x_A − R_A a = 0            three rows "point", (1) of joint_rows                             (1)

The multipliers are the force of the joint on the second body, inertial axes.

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from typing import Any

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Joint, register
from fem_mbs.elements.joints.coordinates.options import JointOptions
from fem_mbs.elements.joints.rows import check_origins, point_hessian, point_rows
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (3,) [m] and its gradient to G (3, 12)."""
    point_rows(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, 0, g, G)


@kernel
def hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (3, 12, 12)."""
    point_hessian(R_A, p.p_AP, R_B, p.p_BQ, 0, H)


@kernel
def output(lam, out):
    """Force on the second body."""
    for i in range(3):
        out[i] += lam[i]


class Spherical(Joint):
    """Keep a point of one body on a point of another; all rotations stay free.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground). Only their origins matter; they coincide at the
        start.
    name : str, optional
    friction : float, (static, sliding) or DryFriction, optional
        Of the ball in its socket, with its radius: ``DryFriction(0.2, radius=0.01)``; see `JointFriction`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes

    Raises
    ------
    ParameterError
        Both frames on one node; origins apart at the start; the errors of `JointFriction`.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> pelvis, thigh = Node6([0, 0, 1]), Node6([0, 0, 0.78])
    >>> hip = Spherical(pelvis.frame(), thigh.frame(p=[0, 0, 0.22]), name="hip")
    """

    rows = 3
    parameters = JOINT_FRAMES
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N")}

    def __init__(
        self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None, friction: Any = None
    ) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        check_origins(self)
        if friction is not None:
            self.companions = JointOptions(self, friction=friction).companions


register(Spherical, example=lambda rng, a, b: Spherical.at(a, b, rng.normal(size=3)))
