"""Point on line: a point of the second body stays on a line of the first.

    g = [ x_P·(x_Q − x_P) ;  y_P·(x_Q − x_P) ] = 0                                  two rows "in plane"           (1)

(in the products x_P, y_P are axes, in the brackets x_P is a point).

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import FORCE, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_Z, add_coordinate
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import check_on_axis, clear_rows, plane_hessian, plane_row, random_joint
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (2,) [m] and its gradient to G (2, 12)."""
    for i in range(2):
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, g, G)


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (2, 12, 12)."""
    for i in range(2):
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, out):
    """Force on the second body, place on the line and its rate."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    for j in range(3):
        out[j] += G[0, 6 + j] * lam[0] + G[1, 6 + j] * lam[1]
    add_coordinate(SLIDE_Z, p, 0.0, x_A, R_A, x_B, R_B, v, 3, 4, out)


class PointOnLine(JointWithOptions):
    """A point of the second body stays on a line of the first; all rotations stay free.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        On the first and on the second body (or ground): the line is the z axis of P, the point the origin of Q, on the
        line at the start. Usually made by ``PointOnLine.at(first, second, position, axis)``.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes; perpendicular to the line
    displacement : [m], from P to Q along the line
    rate : [m/s]

    Raises
    ------
    ParameterError
        Both frames on one node; Q off the z axis of P at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> pin = PointOnLine.at(Ground(), Node6([1, 0, 0]), position=[1, 0, 0], axis=[0, 1, 0], name="pin in slot")
    """

    rows = 2
    conditions = (check_on_axis,)
    coordinates = (Coordinate("displacement", SLIDE_Z, "rate"),)
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = FORCE | outputs_of(*coordinates)


register(PointOnLine, example=lambda rng, a, b: random_joint(PointOnLine, rng, a, b))
