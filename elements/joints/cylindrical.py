"""Cylindrical joint: the second body slides along and rotates about the common z axis of frames P and Q.

    g = [ x_P·(x_Q − x_P) ;  y_P·(x_Q − x_P) ;  x_P·z_Q ;  y_P·z_Q ] = 0                                           (1)

(two rows "in plane", two rows "perpendicular"; in the products x_P, y_P, z_Q are axes, in the brackets x_P is a point).

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import COUNTS_TURN, FORCE, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_Z, TURN_Z, add_coordinate
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import (
    add_effort,
    axes_hessian,
    axes_row,
    check_on_axis,
    check_parallel,
    clear_rows,
    plane_hessian,
    plane_row,
    random_joint,
)
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (4,) [m, m, -, -] and its gradient to G (4, 12)."""
    for i in range(2):
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, g, G)
        axes_row(R_A, p.R_AP, i, R_B, p.R_BQ, 2, 2 + i, g, G)


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (4, 12, 12)."""
    for i in range(2):
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, H)
        axes_hessian(R_A, p.R_AP, i, R_B, p.R_BQ, 2, 2 + i, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Force and moment on the second body, displacement along and angle about the axis, and their rates."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    add_coordinate(SLIDE_Z, p, 0.0, x_A, R_A, x_B, R_B, v, 6, 8, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 7, 9, out)


class Cylindrical(JointWithOptions):
    """The second body moves along and rotates about the common z axis of frames P and Q.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground). At the start the z axes are equal and Q lies on the
        z axis of P (anywhere on it). Usually made by ``Cylindrical.at(first, second, position, axis)``.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes; perpendicular to the axis
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes; perpendicular to the axis
    displacement : [m], from P to Q along the axis
    angle : [rad], from the x axis of P to that of Q about z, unwrapped (multi-turn)
    displacement_rate : [m/s]
    angle_rate : [rad/s]

    Raises
    ------
    ParameterError
        Both frames on one node; z axes not equal, or Q off the z axis of P, at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> sleeve = Cylindrical.at(Ground(), Node6([1, 0, 0]), position=[1, 0, 0], axis=[1, 0, 0], name="sleeve")
    """

    rows = 4
    weaker_rows = {"PointOnLine": (0, 1)}
    n_state = 1
    counts_turns = True
    conditions = (check_parallel, check_on_axis)
    coordinates = (Coordinate("displacement", SLIDE_Z, "displacement_rate"), Coordinate("angle", TURN_Z, "angle_rate"))
    kernels = {"constraint": constraint, "hessian": hessian, **COUNTS_TURN, "output": output}
    outputs = FORCE | MOMENT | outputs_of(*coordinates)


register(Cylindrical, example=lambda rng, a, b: random_joint(Cylindrical, rng, a, b))
