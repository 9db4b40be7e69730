"""Fixed joint: the second body stays at its initial pose relative to the first.

    g = [ x_Q − x_P ;  x_P·y_Q ;  y_P·z_Q ;  z_P·x_Q ] = 0            "point" and three "perpendicular" rows       (1)

The axes x_P, y_P, z_P of (1) are those of Q at the start, taken as fixed to the first body: the joint keeps the initial
relative rotation, whatever it is.

Source: docs/theory/joints.md, (8). Symbols: see `fem_mbs.elements.joints.rows`.
"""

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Joint, register
from fem_mbs.elements.joints.rows import (
    add_effort,
    check_origins,
    clear_rows,
    orientation_hessian,
    orientation_rows,
    point_hessian,
    point_rows,
    start_orientation,
)
from fem_mbs.jit import kernel


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (6,) [m, m, m, -, -, -] and its gradient to G (6, 12)."""
    point_rows(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, 0, g, G)
    orientation_rows(R_A, p.R_AP, R_B, p.R_BQ, 3, g, G)


@kernel
def hessian(p, R_A, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (6, 12, 12)."""
    point_hessian(R_A, p.p_AP, R_B, p.p_BQ, 0, H)
    orientation_hessian(R_A, p.R_AP, R_B, p.R_BQ, 3, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, lam, g, G, out):
    """Force and moment on the second body."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)


class Fixed(Joint):
    """Weld: the second body keeps its initial position and rotation relative to the first.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Attachments on the first and on the second body (or ground). Their origins coincide at the start; their
        rotations do not matter, the relative rotation of the bodies at the start is kept.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the joint on the second body at Q, inertial axes
    moment : (3,) [N m], of the joint on the second body about Q, inertial axes

    Raises
    ------
    ParameterError
        Both frames on one node; origins apart at the start.

    Notes
    -----
    A body that never moves needs no joint: fix the components of its node (``fixed=True``). Two parts that are always
    welded are cheaper as elements on one node.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> clamp = Fixed.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], name="clamp")
    """

    rows = 6
    weaker_rows = {"Revolute": (0, 1, 2, 4, 5), "Spherical": (0, 1, 2)}
    parameters = JOINT_FRAMES
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N"), "moment": (3, "N m")}

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        check_origins(self)
        self.record = (self.frame_P.p, start_orientation(self), self.frame_Q.p, self.frame_Q.rotation)


register(Fixed, example=lambda rng, a, b: Fixed.at(a, b, rng.normal(size=3)))
