"""Distance joint: two points keep their distance, as at the ends of a massless rigid rod with ball joints.

With d = x_Q − x_P, l = |d|, e = d/l and J = ∂d/∂q = [−I, R_A ã, I, −R_B b̃]:

    g = l − L = 0        G = eᵀ J        H = Jᵀ (I − e eᵀ)/l J + (θ_A,θ_A) −ã (R_Aᵀe)~ + (θ_B,θ_B) b̃ (R_Bᵀe)~      (1)

The multiplier is the thrust of the rod: it pushes the points apart.

Source: docs/theory/joints.md, (8); the blocks are those of the row "point". Symbols: see `joints.rows`.

    symbol   code        shape   unit   meaning
    L        p.length    ()      m      distance
"""

import math

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, FrameLike, Keywords, Named
from fem_mbs.element.base import Joint, register
from fem_mbs.elements.joints.rows import points_apart, start_tolerance
from fem_mbs.jit import kernel, local_arrays, local_vector
from fem_mbs.rotations import add_R_skew, add_skew_skew, dot, rotate_T

PARAMETERS = np.dtype([("p_AP", "f8", (3,)), ("p_BQ", "f8", (3,)), ("length", "f8")])


@kernel
def direction(p, x_A, R_A, x_B, R_B, e, J):
    """Fill e (3,) and J (3, 12) of (1); return the distance."""
    points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, e)
    length = math.sqrt(dot(e, e))
    J[:, :] = 0.0
    for i in range(3):
        e[i] /= length
        J[i, i] = -1.0
        J[i, 6 + i] = 1.0
    add_R_skew(1.0, R_A, p.p_AP, J, 0, 3)
    add_R_skew(-1.0, R_B, p.p_BQ, J, 0, 9)
    return length


@kernel
def constraint(p, x_A, R_A, x_B, R_B, g, G):
    """Add (1) to g (1,) [m] and G (1, 12)."""
    e, J = local_arrays("3, 3 12")
    g[0] += direction(p, x_A, R_A, x_B, R_B, e, J) - p.length
    for j in range(12):
        G[0, j] += e[0] * J[0, j] + e[1] * J[1, j] + e[2] * J[2, j]


@kernel
def hessian(p, x_A, R_A, x_B, R_B, H):
    """Add H of (1) to H (1, 12, 12)."""
    e, y, G, J = local_arrays("3, 3, 12, 3 12")
    length = direction(p, x_A, R_A, x_B, R_B, e, J)
    for j in range(12):
        G[j] = e[0] * J[0, j] + e[1] * J[1, j] + e[2] * J[2, j]
    for i in range(12):
        for j in range(12):
            H[0, i, j] += (J[0, i] * J[0, j] + J[1, i] * J[1, j] + J[2, i] * J[2, j] - G[i] * G[j]) / length
    rotate_T(R_A, e, y)
    add_skew_skew(-1.0, p.p_AP, y, H[0], 3, 3)
    rotate_T(R_B, e, y)
    add_skew_skew(1.0, p.p_BQ, y, H[0], 9, 9)


@kernel
def output(p, x_A, R_A, x_B, R_B, lam, out):
    """Force on the second body, and tension."""
    e = local_vector(3)
    points_apart(x_A, R_A, p.p_AP, x_B, R_B, p.p_BQ, e)
    length = math.sqrt(dot(e, e))
    for i in range(3):
        out[i] += lam[0] * e[i] / length
    out[3] -= lam[0]


class Distance(Joint):
    """Two points keep their distance: a massless rigid link with ball joints at its ends.

    Parameters
    ----------
    frame_P, frame_Q : Frame, Node or body
        Their origins are the points, on the first and on the second body (or ground). Usually made by
        ``Distance.at(first, second, position, second_position)``.
    length : float > 0 [m], optional
        Must be the distance at the start, which is the default: given to be sure of it.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the link on the second body at Q, inertial axes; along the link
    tension : [N]

    Raises
    ------
    ParameterError
        Both frames on one node; points that coincide; another length than at the start.

    Notes
    -----
    Rotation of the link about its axis has no effect: it has no inertia. A rod with mass is a `RigidBody` with two
    `Spherical` joints, or one of them `Universal`.

    Examples
    --------
    >>> from fem_mbs.nodes import Node6
    >>> rod = Distance.at(Node6(), Node6([1, 0, 0]), [0, 0.1, 0], [1, 0.2, 0], name="coupling rod")
    """

    rows = 1
    parameters = PARAMETERS
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N"), "tension": (1, "N")}

    def __init__(
        self, frame_P: FrameLike, frame_Q: FrameLike, *, length: float | None = None, name: str | None = None
    ) -> None:
        super().__init__(frame_P, frame_Q, name=name)
        start, tolerance = float(np.linalg.norm(self.frame_Q.position - self.frame_P.position)), start_tolerance(self)
        self.check(start > tolerance, "frame_Q", self.frame_Q, "has its origin in that of frame_P: use Spherical")
        self.length = start if length is None else self.positive("length", length, "m")
        self.check(
            abs(self.length - start) <= tolerance,
            "length",
            length,
            f"m, but the points are {start:.9g} m apart at the start. Move one of them, or leave length out",
        )
        self.record = (self.frame_P.p, self.frame_Q.p, self.length)

    @classmethod
    @Keywords.known
    def at(  # type: ignore[override]
        cls,
        first: FrameLike,
        second: FrameLike,
        position: ArrayLike,
        second_position: ArrayLike,
        *,
        length: float | None = None,
        name: str | None = None,
    ) -> "Distance":
        """Make the link between two points (3,) [m] of the initial configuration, one on each body."""
        owner = Named(cls.__name__, name)
        A, B = owner.as_frame("first", first).node, owner.as_frame("second", second).node
        return cls(A.frame_at(position), B.frame_at(second_position), length=length, name=name)


register(Distance, example=lambda rng, a, b: Distance(a.frame(rng.normal(size=3)), b.frame(rng.normal(size=3))))
