"""Prismatic joint: the second body slides along the common z axis of frames P and Q and does not rotate.

    g = [ x_P·(x_Q − x_P) ;  y_P·(x_Q − x_P) ;  x_P·y_Q ;  y_P·z_Q ;  z_P·x_Q ] = 0                                (1)

(two rows "in plane", three rows "perpendicular"; in the products x_P, y_P, z_P are axes, in the brackets x_P is a
point). The axes of P are replaced by those of Q at the start: the joint keeps the initial relative rotation.

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from typing import Any

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import FORCE, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_Z, add_coordinate
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import (
    add_effort,
    check_on_axis,
    check_parallel,
    clear_rows,
    orientation_hessian,
    orientation_rows,
    plane_hessian,
    plane_row,
    random_joint,
    start_orientation,
)
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (5,) [m, m, -, -, -] and its gradient to G (5, 12)."""
    plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 0, 0, g, G)
    plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 1, 1, g, G)
    orientation_rows(R_A, p.R_AP, R_B, p.R_BQ, 2, g, G)


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (5, 12, 12)."""
    plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 0, 0, H)
    plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 1, 1, H)
    orientation_hessian(R_A, p.R_AP, R_B, p.R_BQ, 2, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, out):
    """Force and moment on the second body, displacement along the axis and its rate."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    add_coordinate(SLIDE_Z, p, 0.0, x_A, R_A, x_B, R_B, v, 6, 7, out)


class Prismatic(JointWithOptions):
    """Slider: the second body moves along the common z axis of frames P and Q, without turning against the first.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground). At the start the z axes are equal and Q lies on the
        z axis of P (anywhere on it). Usually made by ``Prismatic.at(first, second, position, axis)``.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes; perpendicular to the axis
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes
    displacement : [m], from P to Q along the axis
    rate : [m/s]

    Raises
    ------
    ParameterError
        Both frames on one node; z axes not equal, or Q off the z axis of P, at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> slider = Prismatic.at(Ground(), Node6([1, 0, 0]), position=[1, 0, 0], axis=[1, 0, 0], name="slider")
    """

    rows = 5
    weaker_rows = {"Cylindrical": (0, 1, 3, 4), "PointOnLine": (0, 1)}
    conditions = (check_parallel, check_on_axis)
    coordinates = (Coordinate("displacement", SLIDE_Z, "rate"),)
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = FORCE | MOMENT | outputs_of(*coordinates)

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None, **options: Any) -> None:
        super().__init__(frame_P, frame_Q, name=name, **options)
        self.record = (self.frame_P.p, start_orientation(self), self.frame_Q.p, self.frame_Q.rotation)


register(Prismatic, example=lambda rng, a, b: random_joint(Prismatic, rng, a, b))
