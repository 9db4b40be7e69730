"""Knife edge (skate, blade, narrow wheel): a point of the second body does not move sideways on the first.

    γ = z_Q·(v_B(Q) − v_A(Q)) = 0 ,    t = z_Q = R_B w ,  r = x_B + R_B b − x_A ,  G_θB = b × w                     (1)
    δt = α_B × t ,  δr = δx_B + α_B × (R_B b) − δx_A                                                            (2)

one row of velocities (`joints.velocity_rows`, (1) and (2), with s = 0 for constant vectors: G_θB); v_A(Q) is the
velocity of the surface under Q.

Source: docs/theory/non_holonomic.md, (5); Neimark and Fufaev, Dynamics of Nonholonomic Systems (1972).

    symbol    code          shape    unit  meaning
    b, w      p_BQ, R_BQ    (3,)     m, -  Q from the node of B; z axis of Q: node axes of B
"""

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import JOINT_FRAMES, Joint, register
from fem_mbs.elements.joints.rows import column, random_joint
from fem_mbs.elements.joints.velocity_rows import (
    relative_velocity,
    subtract,
    unit_variation,
    velocity_row,
    velocity_row_change,
)
from fem_mbs.jit import kernel, local_arrays
from fem_mbs.rotations import add_cross, cross, rotate


@kernel
def edge(R_BQ, p_BQ, x_A, x_B, R_B, w, r, s, t):
    """Fill w, r, s = R_B b (3,) [m] and t (3,) of (1)."""
    column(R_BQ, 2, w)
    rotate(R_B, w, t)
    rotate(R_B, p_BQ, s)
    subtract(x_B, x_A, r)
    for i in range(3):
        r[i] += s[i]


@kernel
def constraint(p, x_A, R_A, x_B, R_B, G):
    """Add (1) to G (1, 12)."""
    r, s, t, w = local_arrays("3, 3, 3, 3")
    edge(p.R_BQ, p.p_BQ, x_A, x_B, R_B, w, r, s, t)
    for i in range(3):
        s[i] = 0.0
    velocity_row(R_A, R_B, r, s, t, G[0])
    add_cross(1.0, p.p_BQ, w, G[0, 9:12])


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add ∂Gᵀ/∂q of (1) to H (1, 12, 12)."""
    r, s, t, w, nothing, dt, moved, turned_A, turned_B = local_arrays("3, 3, 3, 3, 3, 3, 3, 3, 3")
    edge(p.R_BQ, p.p_BQ, x_A, x_B, R_B, w, r, s, t)
    for i in range(3):
        nothing[i] = 0.0
    for j in range(12):
        unit_variation(R_A, R_B, j, moved, turned_A, turned_B)
        add_cross(1.0, turned_B, s, moved)
        cross(turned_B, t, dt)
        velocity_row_change(R_A, R_B, r, nothing, t, (moved, nothing, dt, turned_A, turned_B), j, H[0])


@kernel
def output(p, x_A, R_A, v_A, w_A, x_B, R_B, v_B, w_B, lam, out):
    """Force on the second body at Q, velocity of Q on the first."""
    r, s, t, w = local_arrays("3, 3, 3, 3")
    edge(p.R_BQ, p.p_BQ, x_A, x_B, R_B, w, r, s, t)
    for i in range(3):
        out[i] += lam[0] * t[i]
    relative_velocity(R_A, v_A, w_A, R_B, v_B, w_B, r, s, t)
    for i in range(3):
        out[3 + i] += t[i]


class KnifeEdge(Joint):
    """A point of the second body does not move sideways on the first: skate, blade, keel, narrow wheel.

    It takes one direction of the velocity, and no position: a sleigh can reach every place, but not slide there
    sideways. The point may still lift off the surface and the body tilt, unless other joints or fixed components
    keep it there.

    Parameters
    ----------
    frame_P : Frame, Node or body
        The first body, which the edge cuts. Only its node matters, usually that of the ground.
    frame_Q : Frame, Node or body
        On the second body: origin at the edge, z axis across it, the direction in which it cannot move. Usually made by
        ``KnifeEdge.at(first, second, position, axis)``.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the first body on the second at Q, inertial axes; along z of Q
    velocity : (3,) [m/s], of Q relative to the first body at that place, inertial axes; 0 along z of Q

    Raises
    ------
    ParameterError
        Both frames on one node.

    Notes
    -----
    It holds with any force and cannot slip. A blade that may slip is a contact with friction.
    `static_equilibrium` raises an error: it constrains no position.

    Examples
    --------
    >>> from fem_mbs.nodes import Ground, Node6
    >>> blade = KnifeEdge.at(Ground(), Node6([1, 0, 0]), position=[0.7, 0, 0], axis=[0, 1, 0], name="blade")
    """

    rows = velocity_rows = 1
    parameters = JOINT_FRAMES
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N"), "velocity": (3, "m/s")}

    def __init__(self, frame_P: FrameLike, frame_Q: FrameLike, *, name: str | None = None) -> None:
        super().__init__(frame_P, frame_Q, name=name)


register(KnifeEdge, example=lambda rng, a, b: random_joint(KnifeEdge, rng, a, b))
