"""Attachment: holds two bodies together in the pose in which they are when it is switched on.

    a = R_Aᵀ (x_Q − x_A) ,   R_AP = R_Aᵀ R_B R_BQ        recorded when it is switched on                             (1)
    g = [ x_Q − x_A − R_A a ;  x_P·y_Q ;  y_P·z_Q ;  z_P·x_Q ] = 0        "point" and three "perpendicular" rows     (2)

so that g = 0 at that time, whatever the pose. With a node that has no rotation (`Node3`) the first three rows alone.

Source: docs/theory/switches.md, (6). Symbols: see `fem_mbs.elements.joints.rows`; a and R_AP are the ``state``.
"""

from typing import Any

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Constraint, register
from fem_mbs.elements.joints.rows import (
    add_effort,
    clear_rows,
    orientation_hessian,
    orientation_rows,
    point_hessian,
    point_rows,
)
from fem_mbs.jit import kernel, local_matrix, local_vector
from fem_mbs.nodes import Node3
from fem_mbs.rotations import rotate, rotate_T


@kernel
def recorded_axes(state, R_AP):
    """Fill R_AP (3, 3) of (1) from the state."""
    for i in range(3):
        for j in range(3):
            R_AP[i, j] = state[3 + 3 * i + j]


@kernel
def engage_point(p, x_A, R_A, x_B, R_B, state):
    """Record a of (1) in state[:3] [m]."""
    r = local_vector(3)
    rotate(R_B, p.p_BQ, r)
    for i in range(3):
        r[i] += x_B[i] - x_A[i]
    rotate_T(R_A, r, state)


@kernel
def engage(p, x_A, R_A, x_B, R_B, state):
    """Record (1) in state (12,)."""
    engage_point(p, x_A, R_A, x_B, R_B, state)
    for j in range(3):
        for i in range(3):
            total = 0.0
            for k in range(3):
                for m in range(3):
                    total += R_A[k, i] * R_B[k, m] * p.R_BQ[m, j]
            state[3 + 3 * i + j] = total


@kernel
def point_constraint(p, x_A, R_A, x_B, R_B, state, g, G):
    """Add the first three rows of (2) to g [m] and G."""
    point_rows(x_A, R_A, state, x_B, R_B, p.p_BQ, 0, g, G)


@kernel
def constraint(p, x_A, R_A, x_B, R_B, state, g, G):
    """Add (2) to g (6,) [m, m, m, -, -, -] and its gradient to G (6, 12)."""
    R_AP = local_matrix(3, 3)
    recorded_axes(state, R_AP)
    point_rows(x_A, R_A, state, x_B, R_B, p.p_BQ, 0, g, G)
    orientation_rows(R_A, R_AP, R_B, p.R_BQ, 3, g, G)


@kernel
def point_hessian_of(p, R_A, R_B, state, H):
    """Add ∂Gᵀ/∂q of the first three rows to H (3, 12, 12)."""
    point_hessian(R_A, state, R_B, p.p_BQ, 0, H)


@kernel
def hessian(p, R_A, R_B, state, H):
    """Add ∂Gᵀ/∂q of (2) to H (6, 12, 12)."""
    R_AP = local_matrix(3, 3)
    recorded_axes(state, R_AP)
    point_hessian(R_A, state, R_B, p.p_BQ, 0, H)
    orientation_hessian(R_A, R_AP, R_B, p.R_BQ, 3, H)


@kernel
def point_output(p, x_A, R_A, x_B, R_B, state, lam, g, G, out):
    """Force and moment on the second body, of three rows."""
    clear_rows(g, G)
    point_constraint(p, x_A, R_A, x_B, R_B, state, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)


@kernel
def output(p, x_A, R_A, x_B, R_B, state, lam, g, G, out):
    """Force and moment on the second body."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, state, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)


class Attachment(Constraint):
    """Hold two bodies together in the pose that they have when it is switched on: a gripper, a latch, glue.

    Where it is switched on in a run, velocities jump as in a plastic impact: momentum is kept, energy is lost.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        On the first and on the second body (or ground). They need not coincide. Of P only the node matters; Q is where
        ``force`` and ``moment`` are reported. With a point mass (`Node3`) on either side Q alone is attached: rotations
        stay free.
    active : bool
        Whether it is on from the start.
    intervals : sequence of (begin, end) [s], optional
        Times in which it is on, in the place of ``active``; steps end at these times.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the first body on the second at Q, inertial axes; 0 while it is off
    moment : (3,) [N m], of the first body on the second about Q, inertial axes; 0 while it is off

    Raises
    ------
    ParameterError
        Both frames on one node; intervals that are no rising pairs.
    SolverError
        In a run, where it is switched on while joints or other attachments already hold the bodies together.

    Notes
    -----
    docs/howto/locks_and_attachments.md. For bodies that are always attached use `Fixed`, or one node.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> grip = Attachment(Node6([0, 0, 1]), Node6([0, 0, 0.8]), active=False, name="grip")
    """

    rows, n_state = 6, 12
    parameters = JOINT_FRAMES
    kernels = {"constraint": constraint, "hessian": hessian, "output": output, "engage": engage, "initial": engage}
    outputs = {"force": (3, "N"), "moment": (3, "N m")}

    def __init__(
        self,
        frame_P: FrameLike,
        frame_Q: FrameLike,
        *,
        active: bool = True,
        intervals: Any = None,
        name: str | None = None,
    ) -> None:
        self._connect(frame_P, frame_Q, "they are together anyway", name=name)
        self.record = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)
        if any(isinstance(node, Node3) for node in self.nodes):
            self.rows, self.n_state = 3, 3
            self.kernels = {"constraint": point_constraint, "hessian": point_hessian_of, "output": point_output,
                            "engage": engage_point, "initial": engage_point}  # fmt: skip
        self.use_switch(active, intervals)


register(Attachment, example=lambda rng, a, b: Attachment(a.frame(p=rng.normal(size=3)), b.frame(p=rng.normal(size=3))))
