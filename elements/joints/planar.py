"""Planar joint: a plane of the second body moves in a plane of the first.

    g = [ z_P·(x_Q − x_P) ;  x_P·z_Q ;  y_P·z_Q ] = 0             one row "in plane", two "perpendicular"          (1)

(in the products x_P, y_P, z_P, z_Q are axes, in the brackets x_P is a point).

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import COUNTS_TURN, FORCE, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_X, SLIDE_Y, TURN_Z, add_coordinate
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import (
    add_effort,
    axes_hessian,
    axes_row,
    check_in_plane,
    check_parallel,
    clear_rows,
    plane_hessian,
    plane_row,
    random_joint,
)
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (3,) [m, -, -] and its gradient to G (3, 12)."""
    plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, g, G)
    axes_row(R_A, p.R_AP, 0, R_B, p.R_BQ, 2, 1, g, G)
    axes_row(R_A, p.R_AP, 1, R_B, p.R_BQ, 2, 2, g, G)


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (3, 12, 12)."""
    plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, 2, 0, H)
    axes_hessian(R_A, p.R_AP, 0, R_B, p.R_BQ, 2, 1, H)
    axes_hessian(R_A, p.R_AP, 1, R_B, p.R_BQ, 2, 2, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Force and moment on the second body, coordinates in the plane and angle, and their rates."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    add_coordinate(SLIDE_X, p, 0.0, x_A, R_A, x_B, R_B, v, 6, 9, out)
    add_coordinate(SLIDE_Y, p, 0.0, x_A, R_A, x_B, R_B, v, 7, 10, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 8, 11, out)


class Planar(JointWithOptions):
    """The second body slides in a plane of the first, at right angles to the common z axis, and rotates about it.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground). At the start the z axes are equal and Q lies in the
        x-y plane of P. Usually made by ``Planar.at(first, second, position, axis)``, the axis normal to the plane:
        without ``axis`` x and y are those of inertial axes; with it they are chosen, as
        `fem_mbs.rotations.frame_with_axis` does, for z: x along −y, y along x. Where they matter, give the frames.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes; normal to the plane
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes; in the plane
    x, y : [m], of Q from P along the x and y axes of P
    angle : [rad], from the x axis of P to that of Q about z, unwrapped (multi-turn)
    x_rate, y_rate : [m/s]
    angle_rate : [rad/s]

    Raises
    ------
    ParameterError
        Both frames on one node; z axes not equal, or Q off the plane, at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> table = Planar.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], axis=[0, 0, 1], name="table")
    """

    rows = 3
    n_state = 1
    counts_turns = True
    conditions = (check_parallel, check_in_plane)
    coordinates = (
        Coordinate("x", SLIDE_X, "x_rate"),
        Coordinate("y", SLIDE_Y, "y_rate"),
        Coordinate("angle", TURN_Z, "angle_rate"),
    )
    kernels = {"constraint": constraint, "hessian": hessian, **COUNTS_TURN, "output": output}
    outputs = FORCE | MOMENT | outputs_of(*coordinates)


register(Planar, example=lambda rng, a, b: random_joint(Planar, rng, a, b))
