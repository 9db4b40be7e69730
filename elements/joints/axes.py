"""Axes of two bodies that stay parallel, or at right angles; places stay free. Building blocks of joints.

    parallel        g = [ x_P·z_Q ;  y_P·z_Q ] = 0                              two rows "perpendicular"          (1)
    perpendicular   g = z_P·x_Q = 0                                             one row "perpendicular"           (2)

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from fem_mbs.element.base import register
from fem_mbs.elements.joints.coordinates.coordinates import COUNTS_TURN, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import TURN_X, TURN_Z, add_coordinate
from fem_mbs.elements.joints.coordinates.options import JointWithOptions
from fem_mbs.elements.joints.rows import axes_hessian, axes_row, check_parallel, clear_rows, random_joint
from fem_mbs.elements.joints.universal import CrossedAxes, Universal, check_perpendicular, count_turns, first_turns
from fem_mbs.jit import kernel, local_vector
from fem_mbs.rotations import add_rotated


@kernel
def parallel(p, R_A, R_B, g, G):
    """Add (1) to g (2,) [-] and its gradient to G (2, 12)."""
    for i in range(2):
        axes_row(R_A, p.R_AP, i, R_B, p.R_BQ, 2, i, g, G)


@kernel
def parallel_hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (2, 12, 12)."""
    for i in range(2):
        axes_hessian(R_A, p.R_AP, i, R_B, p.R_BQ, 2, i, H)


@kernel
def add_moment(R_B, G, lam, out):
    """Add the moment of rows of directions on the second body to out[0:3] [N m], inertial axes."""
    m = local_vector(3)
    for j in range(3):
        m[j] = 0.0
        for i in range(G.shape[0]):
            m[j] += G[i, 9 + j] * lam[i]
    add_rotated(1.0, R_B, m, out[0:3])


@kernel
def parallel_output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Moment on the second body, angle about the axes and its rate."""
    clear_rows(g, G)
    parallel(p, R_A, R_B, g, G)
    add_moment(R_B, G, lam, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 3, 4, out)


@kernel
def perpendicular(p, R_A, R_B, g, G):
    """Add (2) to g (1,) [-] and its gradient to G (1, 12)."""
    axes_row(R_A, p.R_AP, 2, R_B, p.R_BQ, 0, 0, g, G)


@kernel
def perpendicular_hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (2) to H (1, 12, 12)."""
    axes_hessian(R_A, p.R_AP, 2, R_B, p.R_BQ, 0, 0, H)


@kernel
def perpendicular_output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Moment on the second body, angles about both axes and their rates."""
    clear_rows(g, G)
    perpendicular(p, R_A, R_B, g, G)
    add_moment(R_B, G, lam, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 3, 5, out)
    add_coordinate(TURN_X, p, state[1], x_A, R_A, x_B, R_B, v, 4, 6, out)


class ParallelAxes(JointWithOptions):
    """The z axes of frames P and Q stay parallel: the second body may move anywhere and rotate about its z axis.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground), z axes equal at the start; their origins do not
        matter. Usually made by ``ParallelAxes.at(first, second, position, axis)``.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    moment : (3,) [N m], of the joint on the second body, inertial axes; perpendicular to the axes
    angle : [rad], from the x axis of P to that of Q about z, unwrapped (multi-turn)
    rate : [rad/s]

    Raises
    ------
    ParameterError
        Both frames on one node; z axes apart at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> upright = ParallelAxes.at(Ground(), Node6(), position=[0, 0, 0], axis=[0, 0, 1], name="upright")
    """

    rows = 2
    n_state = 1
    counts_turns = True
    conditions = (check_parallel,)
    coordinates = (Coordinate("angle", TURN_Z, "rate"),)
    kernels = {"constraint": parallel, "hessian": parallel_hessian, **COUNTS_TURN, "output": parallel_output}
    outputs = MOMENT | outputs_of(*coordinates)


class PerpendicularAxes(CrossedAxes):
    """The z axis of frame P and the x axis of frame Q stay at right angles; the second body may move anywhere.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground); their origins do not matter.
        ``PerpendicularAxes.at(first, second, position, axis, second_axis=…)`` places them as `Universal.at` does.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    moment : (3,) [N m], of the joint on the second body, inertial axes; perpendicular to both axes
    first_angle, second_angle : [rad], about z of P and about x of Q as for `Universal`, unwrapped (multi-turn)
    first_rate, second_rate : [rad/s]

    Raises
    ------
    ParameterError
        Both frames on one node; axes not at right angles at the start.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> block = PerpendicularAxes.at(Ground(), Node6(), [0, 0, 0], axis=[0, 0, 1], second_axis=[1, 0, 0], name="block")
    """

    rows = 1
    n_state = 2
    conditions = (check_perpendicular,)
    coordinates = Universal.coordinates
    kernels = {
        "constraint": perpendicular,
        "hessian": perpendicular_hessian,
        "initial": first_turns,
        "accept": count_turns,
        "output": perpendicular_output,
    }
    outputs = MOMENT | outputs_of(*coordinates)


register(ParallelAxes, example=lambda rng, a, b: random_joint(ParallelAxes, rng, a, b))
register(PerpendicularAxes, example=lambda rng, a, b: random_joint(PerpendicularAxes, rng, a, b))
