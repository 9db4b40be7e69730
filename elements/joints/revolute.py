"""Revolute joint: a hinge about the common z axis of frames P and Q.

    g = [ x_Q − x_P ;  x_P-axis · z_Q-axis ;  y_P-axis · z_Q-axis ] = 0   "point" and two "perpendicular" rows     (1)

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import COUNTS_TURN, FORCE, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import TURN_Z, add_coordinate
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import (
    add_effort,
    axes_hessian,
    axes_row,
    check_origins,
    check_parallel,
    clear_rows,
    point_hessian,
    point_rows,
    random_joint,
)
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (5,) [m, m, m, -, -] and its gradient to G (5, 12)."""
    point_rows(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, 0, g, G)
    axes_row(R_A, p.R_AP, 0, R_B, p.R_BQ, 2, 3, g, G)
    axes_row(R_A, p.R_AP, 1, R_B, p.R_BQ, 2, 4, g, G)


@kernel
def hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (5, 12, 12)."""
    point_hessian(R_A, p.p_AP, R_B, p.p_BQ, 0, H)
    axes_hessian(R_A, p.R_AP, 0, R_B, p.R_BQ, 2, 3, H)
    axes_hessian(R_A, p.R_AP, 1, R_B, p.R_BQ, 2, 4, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Force and moment on the second body, angle and its rate."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 6, 7, out)


class Revolute(JointWithOptions):
    """Hinge: the second body rotates relative to the first about the common z axis of frames P and Q.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground); origins and z axes coincide at the start. Usually
        made by ``Revolute.at(first, second, position, axis)``.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes; perpendicular to the axis
    angle : [rad], from the x axis of P to that of Q about z, unwrapped (multi-turn); 0 at the start for joints made by
    ``at`` rate : [rad/s]

    Raises
    ------
    ParameterError
        Both frames on one node; origins or z axes apart at the start.

    Notes
    -----
    Between bodies whose out-of-plane components are all fixed the joint repeats what these impose (three of its rows):
    leave the components free, revolute joints with parallel axes keep the motion planar by themselves.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> hinge = Revolute.at(Node6(), Node6([1, 0, 0]), position=[0.5, 0, 0], axis=[0, 0, 1], name="hinge")
    """

    rows = 5
    weaker_rows = {
        "Universal": (0, 1, 2, 3),
        "Cylindrical": ("x", "y", 3, 4),
        "Spherical": (0, 1, 2),
        "PointOnLine": ("x", "y"),
    }
    n_state = 1
    counts_turns = True
    conditions = (check_origins, check_parallel)
    coordinates = (Coordinate("angle", TURN_Z, "rate"),)
    kernels = {"constraint": constraint, "hessian": hessian, **COUNTS_TURN, "output": output}
    outputs = FORCE | MOMENT | outputs_of(*coordinates)


register(Revolute, example=lambda rng, a, b: random_joint(Revolute, rng, a, b))
