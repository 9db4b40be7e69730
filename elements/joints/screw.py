"""Screw joint: the second body rotates about the common z axis of frames P and Q and moves along it by its lead.

    g = [ x_P·(x_Q − x_P) ;  y_P·(x_Q − x_P) ;  x_P·z_Q ;  y_P·z_Q ;  s − s_0 − (l/2π)(θ − θ_0) ] = 0               (1)

with s = z_P·(x_Q − x_P) and θ the unwrapped angle about z (`joints.coordinates.kernels`, (6), (3)); the first four
rows are those of a cylindrical joint.

Source: docs/theory/joints.md, (8), (17). Symbols: see `fem_mbs.elements.joints.rows`.

    symbol            code        shape   unit   meaning
    l/2π              p.pitch     ()      m/rad  advance of Q for one radian
    s_0 − l/2π θ_0    p.offset    ()      m      of the start
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Joint, register
from fem_mbs.elements.joints.coordinates.coordinates import COUNTS_TURN, FORCE, MOMENT, Coordinate, outputs_of
from fem_mbs.elements.joints.coordinates.kernels import (
    SLIDE_Z,
    TURN_Z,
    add_coordinate,
    coordinate_gradient,
    coordinate_hessian,
    coordinate_value,
)
from fem_mbs.elements.joints.coordinates.options import JointOptions
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
from fem_mbs.jit import kernel, local_matrix, local_vector

PARAMETERS = np.dtype([*JOINT_FRAMES.descr, ("pitch", "f8"), ("offset", "f8")])

MOTIONS = (Coordinate("angle", TURN_Z, "angle_rate"), Coordinate("displacement", SLIDE_Z, "displacement_rate"))


@kernel
def constraint(p, x_A, R_A, x_B, R_B, state, g, G):
    """Add (1) to g (5,) [m, m, -, -, m] and its gradient to G (5, 12)."""
    row = local_vector(12)
    for i in range(2):
        plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, g, G)
        axes_row(R_A, p.R_AP, i, R_B, p.R_BQ, 2, 2 + i, g, G)
    slide = coordinate_gradient(SLIDE_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, 0.0, x_A, R_A, x_B, R_B, G[4])
    angle = coordinate_gradient(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, state[0], x_A, R_A, x_B, R_B, row)
    g[4] += slide - p.offset - p.pitch * angle
    for j in range(12):
        G[4, j] -= p.pitch * row[j]


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (5, 12, 12)."""
    turn = local_matrix(12, 12)
    for i in range(2):
        plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, i, i, H)
        axes_hessian(R_A, p.R_AP, i, R_B, p.R_BQ, 2, 2 + i, H)
    coordinate_hessian(SLIDE_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, H[4])
    coordinate_hessian(TURN_Z, p.p_AP, p.R_AP, p.p_BQ, p.R_BQ, x_A, R_A, x_B, R_B, turn)
    for i in range(12):
        for j in range(12):
            H[4, i, j] -= p.pitch * turn[i, j]


@kernel
def output(p, x_A, R_A, x_B, R_B, v, lam, g, G, state, out):
    """Force and moment on the second body, angle and displacement, and their rates."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, state, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)
    add_coordinate(TURN_Z, p, state[0], x_A, R_A, x_B, R_B, v, 6, 8, out)
    add_coordinate(SLIDE_Z, p, 0.0, x_A, R_A, x_B, R_B, v, 7, 9, out)


class Screw(Joint):
    """Screw and nut: the second body rotates about the common z axis of frames P and Q, and moves along it meanwhile.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground). At the start the z axes are equal and Q lies on the
        z axis of P (anywhere on it). Usually made by ``Screw.at(first, second, position, axis, lead=…)``.
    lead : float [m]
        Displacement along z for one turn about z: positive for a right-hand thread, negative for a left-hand one, not
        0.
    name : str, optional
    **options
        stiffness, damping, rest, stops, motor, friction: see `JointOptions`.

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes
    angle : [rad], from the x axis of P to that of Q about z, unwrapped (multi-turn)
    displacement : [m], from P to Q along the axis
    angle_rate : [rad/s]
    displacement_rate : [m/s]

    Raises
    ------
    ParameterError
        Both frames on one node; z axes not equal, or Q off the z axis of P, at the start; lead 0.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> spindle = Screw.at(Ground(), Node6([1, 0, 0]), position=[1, 0, 0], axis=[1, 0, 0], lead=5e-3, name="spindle")
    """

    rows = 5
    n_state = 1
    options_of = JointOptions
    parameters = PARAMETERS
    coordinates = MOTIONS[:1]
    kernels = {"constraint": constraint, "hessian": hessian, **COUNTS_TURN, "output": output}
    outputs = FORCE | MOMENT | outputs_of(*MOTIONS)

    def __init__(
        self, frame_P: FrameLike, frame_Q: FrameLike, *, lead: float, name: str | None = None, **options: Any
    ) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        check_parallel(self)
        check_on_axis(self)
        self.lead = self.number("lead", lead, "m")
        message = "m is no thread: it does not move along the axis. Use a Revolute joint"
        self.check(self.lead != 0.0, "lead", lead, message)
        P, Q = self.frame_P, self.frame_Q
        A, B, pitch = P.node, Q.node, self.lead / (2 * np.pi)
        frames = (P.p, P.rotation, Q.p, Q.rotation)
        pose = A.position, A.rotation, B.position, B.rotation
        slide, angle = (coordinate_value(kind, *frames, 0.0, *pose) for kind in (SLIDE_Z, TURN_Z))
        self.record = (*frames, pitch, slide - pitch * angle)
        self.companions = JointOptions(self, **options).companions


register(Screw, example=lambda rng, a, b: random_joint(Screw, rng, a, b, lead=rng.normal()))
