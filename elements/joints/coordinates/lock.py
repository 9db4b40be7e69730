"""Lock: fixes the free coordinates of a joint at their values when the lock is switched on.

    turn about n     u·w = 0              u = n × e fixed to A, w = e fixed to B, e ⊥ n: recorded when it is         (1)
                                          switched on
    slide along n    n·(x_Q − x_P) = s    s recorded then, n an axis of P                                            (2)

one row for each free coordinate of the joint. When it is switched on g = 0, and the gradient of (1) is that of
the angle: δg = n·δω, with δω the rotation of B relative to A. Its multiplier is the moment about n on the second body,
that of (2) the force along n.

Source: docs/theory/switches.md, (7). Symbols: see `fem_mbs.elements.joints.rows`.

    symbol   code      shape   meaning
             p.kinds   (5,)    of each row: axis i of P to rotate about, 3 + i of Q to rotate about, 6 + i of P: slide
    u, w, s  state     (6 nr,) of each row: u in A axes and w in B axes, or s in the first number
"""

from typing import Any

import numpy as np

from fem_mbs.element.base import JOINT_FRAMES, Constraint, Joint, register
from fem_mbs.elements.joints.axes import ParallelAxes, PerpendicularAxes
from fem_mbs.elements.joints.constant_velocity import ConstantVelocity
from fem_mbs.elements.joints.coordinates.kernels import SLIDE_X, SLIDE_Y, SLIDE_Z, TURN_X, TURN_Z
from fem_mbs.elements.joints.cylindrical import Cylindrical
from fem_mbs.elements.joints.planar import Planar
from fem_mbs.elements.joints.point_on_line import PointOnLine
from fem_mbs.elements.joints.prismatic import Prismatic
from fem_mbs.elements.joints.revolute import Revolute
from fem_mbs.elements.joints.rows import (
    add_effort,
    clear_rows,
    column,
    perpendicular_hessian,
    perpendicular_row,
    plane_hessian,
    plane_row,
    points_apart,
    random_joint,
)
from fem_mbs.elements.joints.screw import Screw
from fem_mbs.elements.joints.spherical import Spherical
from fem_mbs.elements.joints.universal import Universal
from fem_mbs.errors import label
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import dot, rotate, rotate_T

MOST = 5  # rows, of perpendicular axes
PARAMETERS = np.dtype([*((name, JOINT_FRAMES[name]) for name in JOINT_FRAMES.names or ()), ("kinds", "i8", (MOST,))])
TURN_Q, SLIDE = 3, 6
# rows of coordinates by their kind
ROW_OF = {TURN_Z: 2, TURN_X: TURN_Q, SLIDE_X: SLIDE, SLIDE_Y: SLIDE + 1, SLIDE_Z: SLIDE + 2}
ALL_TURNS, ALL_SLIDES = (0, 1, 2), (SLIDE, SLIDE + 1, SLIDE + 2)
# rows of free coordinates without a name; a constant-velocity joint itself fixes the rotation along the sum of both z
# axes, which has a part along z of P
UNNAMED = {
    Spherical: ALL_TURNS,
    ConstantVelocity: (0, 1),
    PointOnLine: ALL_TURNS,
    ParallelAxes: ALL_SLIDES,
    PerpendicularAxes: ALL_SLIDES,
}


@kernel
def record_turn(R_F, R_frame, axis, R_A, R_B, state):
    """Record u and w of (1) in state (6,) for an axis of a frame (columns of R_frame) on a node with rotation R_F."""
    u, y = local_arrays("3, 3")
    column(R_frame, (axis + 2) % 3, u)  # n × e
    rotate(R_F, u, y)
    rotate_T(R_A, y, state[:3])
    column(R_frame, (axis + 1) % 3, u)  # e
    rotate(R_F, u, y)
    rotate_T(R_B, y, state[3:6])


@kernel
def engage(p, x_A, R_A, x_B, R_B, state):
    """Record where all coordinates are."""
    d, u, n = local_arrays("3, 3, 3")
    for row in range(state.shape[0] // 6):
        kind, kept = p.kinds[row], state[6 * row : 6 * row + 6]
        if kind >= SLIDE:
            points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, d)
            column(p.R_AP, kind - SLIDE, u)
            rotate(R_A, u, n)
            kept[0] = dot(n, d)
        elif kind >= TURN_Q:
            record_turn(R_B, p.R_BQ, kind - TURN_Q, R_A, R_B, kept)
        else:
            record_turn(R_A, p.R_AP, kind, R_A, R_B, kept)


@kernel
def constraint(p, x_A, R_A, x_B, R_B, state, g, G):
    """Add (1) and (2) to g (nr,) [-, m] and their gradients to G (nr, 12)."""
    for row in range(state.shape[0] // 6):
        kind, kept = p.kinds[row], state[6 * row : 6 * row + 6]
        if kind >= SLIDE:
            plane_row(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, kind - SLIDE, row, g, G)
            g[row] -= kept[0]
        else:
            perpendicular_row(R_A, kept[:3], R_B, kept[3:6], row, g, G)


@kernel
def hessian(p, x_A, R_A, x_B, R_B, state, H):
    """Add ∂Gᵀ/∂q of (1) and (2) to H (nr, 12, 12)."""
    for row in range(state.shape[0] // 6):
        kind, kept = p.kinds[row], state[6 * row : 6 * row + 6]
        if kind >= SLIDE:
            plane_hessian(x_A, R_A, p.p_AP, p.R_AP, x_B, R_B, p.p_BQ, kind - SLIDE, row, H)
        else:
            perpendicular_hessian(R_A, kept[:3], R_B, kept[3:6], row, H)


@kernel
def output(p, x_A, R_A, x_B, R_B, state, lam, g, G, out):
    """Force and moment on the second body."""
    clear_rows(g, G)
    constraint(p, x_A, R_A, x_B, R_B, state, g, G)
    add_effort(R_B, p.p_BQ, G, lam, out)


class Lock(Constraint):
    """Lock a joint where it is: a brake that does not slip, a latch, a parking pawl.

    Where it is switched on in a run, velocities jump as in a plastic impact. Switched off, the joint is free again;
    switched on again it holds the coordinates of that time.

    Parameters
    ----------
    joint : Joint
        All its free coordinates are locked: of a `Revolute`, `Prismatic`, `Cylindrical`, `Universal`, `Planar`,
        `Screw`,
        `Spherical`, `ConstantVelocity`, `PointOnLine`, `ParallelAxes` or `PerpendicularAxes`. The joint itself stays
        in the model.
    active : bool
        Whether the joint is locked from the start, at its initial coordinates.
    intervals : sequence of (begin, end) [s], optional
        Times in which it is locked, in the place of ``active``; steps end at these times.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the lock on the second body at Q, inertial axes; 0 while it is off
    moment : (3,) [N m], of the lock on the second body about Q, inertial axes; 0 while it is off

    Raises
    ------
    ParameterError
        Not such a joint; one with free coordinates without a name; intervals that are no rising pairs.
    SolverError
        In a run, where it is switched on while a driver or another lock already holds the joint.

    Notes
    -----
    docs/howto/locks_and_attachments.md. A brake that may slip is friction in the joint.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> hinge = Revolute.at(Ground(), Node6([1, 0, 0]), position=[0, 0, 0], axis=[0, 0, 1], name="hinge")
    >>> lock = Lock(hinge, intervals=[(0.5, 1.0)], name="hinge lock")
    """

    parameters = PARAMETERS
    kernels = {"constraint": constraint, "hessian": hessian, "output": output, "engage": engage, "initial": engage}
    outputs = {"force": (3, "N"), "moment": (3, "N m")}

    def __init__(self, joint: Any, *, active: bool = True, intervals: Any = None, name: str | None = None) -> None:
        self.name = name
        kinds = self._rows_of(self.as_instance("joint", joint, Joint, "a joint of the model"))
        super().__init__(joint.nodes, name=name)
        self.joint, self.frame_P, self.frame_Q = joint, joint.frame_P, joint.frame_Q
        self.rows, self.n_state = len(kinds), 6 * len(kinds)
        frames = (self.frame_P.p, self.frame_P.rotation, self.frame_Q.p, self.frame_Q.rotation)
        self.record = (*frames, (*kinds, *MOST * (0,))[:MOST])
        self.use_switch(active, intervals)

    def _rows_of(self, joint):
        """Kinds of the rows that fix all free coordinates of a joint."""
        kinds = tuple(ROW_OF[coordinate.kind] for coordinate in joint.coordinates)
        kinds += next((rows for cls, rows in UNNAMED.items() if isinstance(joint, cls)), ())
        free, named = 6 - joint.rows, len(kinds)
        self.check(free > 0, "joint", joint, "leaves nothing free")
        names = " and ".join(f"'{coordinate.name}'" for coordinate in joint.coordinates) or "none"
        self.check(
            free == named, "joint", joint, f"cannot be locked: of its {free} free coordinates a lock "
            f"supports {names}. Add an Attachment of its bodies (active=False), and switch the joint off where that "
            "is switched on",
        )  # fmt: skip
        return kinds

    def __repr__(self):
        return f"{label(self)} of {label(self.joint)}"


def _example(rng, a, b):
    """A lock of a random joint."""
    some = (Revolute, Cylindrical, Prismatic, Spherical, Universal, Planar, Screw, ConstantVelocity, PointOnLine)
    cls = (*some, ParallelAxes, PerpendicularAxes)[rng.integers(11)]
    if cls is Spherical:
        return Lock(cls.at(a, b, rng.normal(size=3)))
    return Lock(random_joint(cls, rng, a, b, **({"lead": rng.normal()} if cls is Screw else {})))


register(Lock, example=_example)
