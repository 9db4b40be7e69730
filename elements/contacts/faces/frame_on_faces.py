"""A point of a frame that touches faces whose corners are points of frames: the skin of bodies whose nodes have
rotations.

Corners, and the points that touch them, are points at constant offsets a_k in the axes of their nodes,

    y_k = x_k + R_k a_k ,   δy_k = J_k (δx_k, δθ_k) ,   J_k = [ I , −R_k ã_k ]                                      (1)

and all else is that of `node_face_kernels` with these places for nodes. Its rows g_k get moments, its curvature h_ij
the turning of the offsets:

    G_k = J_kᵀ g_k = [ g_k ; a_k × R_kᵀ g_k ]                                                                      (2)
    ∂G_i/∂q_j = J_iᵀ h_ij J_j + δ_ij [ 0, 0 ; 0, ã_i (R_iᵀ g_i)~ ]                                                 (3)

A common rigid motion of all nodes is one of all points, so that gap and slip do not change in it.

Source: docs/theory/surface_contact.md, section 6; derived here, checked by differences.

    symbol   code     shape     unit  meaning
    a_k      arms     (nn, 3)   m     from the node to its point, axes of the node
    y_k      y        (nn, 3)   m     the points
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import FrameLike
from fem_mbs.element.base import register
from fem_mbs.elements.contacts.faces.face_guards import trouble as trouble_of_places
from fem_mbs.elements.contacts.faces.face_search import FACE
from fem_mbs.elements.contacts.faces.face_search import accept as accept_places
from fem_mbs.elements.contacts.faces.node_face_kernels import contact as contact_of_places
from fem_mbs.elements.contacts.faces.node_face_kernels import curvature
from fem_mbs.elements.contacts.faces.node_on_faces import NodeOnFaces
from fem_mbs.jit import address_of, integer_matrix, kernel, local_arrays, local_vector, matrix
from fem_mbs.nodes import Frame, Node6
from fem_mbs.rotations import add_cross, add_rotated, add_skew_skew, cross, exp, rotate_T

MOST = 1200  # 3 nn numbers of places, of which nn is at most `node_on_faces.MOST`


@kernel
def _places(p, x, R, y):
    """Fill y (nn, 3) with (1)."""
    arms = matrix(p.arms_at, x.shape[0], 3)
    for k in range(x.shape[0]):
        for i in range(3):
            y[k, i] = x[k, i]
        add_rotated(1.0, R[k], arms[k], y[k])


@kernel
def _add_moments(p, R, row):
    """Add the moments of (2) to a row (nd,) that has its forces."""
    arms, u = matrix(p.arms_at, R.shape[0], 3), local_vector(3)
    for k in range(R.shape[0]):
        f = row[6 * k : 6 * k + 3]
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
            rotate_T(R[k], f, u)
            add_cross(1.0, arms[k], u, row[6 * k + 3 : 6 * k + 6])


@kernel
def contact(p, x, R, x0, R0, state, rows):
    """Gap, slip and rows by (1), (2)."""
    y = matrix(address_of(local_vector(MOST)), x.shape[0], 3)
    y0 = matrix(address_of(local_vector(MOST)), x.shape[0], 3)
    _places(p, x, R, y)
    _places(p, x0, R0, y0)
    contact_of_places(p, y, y0, state, rows)
    _add_moments(p, R, rows.G_N)
    for k in range(2):
        _add_moments(p, R, rows.G_T[k])
        _add_moments(p, R, rows.V_T[k])


@kernel
def contact_hessian(p, x, R, x0, R0, state, H_N):
    """Add (3) to H_N (nd, nd)."""
    y = matrix(address_of(local_vector(MOST)), x.shape[0], 3)
    y0 = matrix(address_of(local_vector(MOST)), x.shape[0], 3)
    B, row, J, u = local_arrays("15 15, 15, 15 3, 3")
    _places(p, x, R, y)
    _places(p, x0, R0, y0)
    f = curvature(p, y, y0, state, B, row)
    if f < 0:
        return
    faces, arms = integer_matrix(p.faces_at, p.nf, FACE), matrix(p.arms_at, x.shape[0], 3)
    nn = faces[f, 0]
    for a in range(nn + 1):  # rows of J: a column of −R ã is a × the row of R
        k = 0 if a == 0 else faces[f, a]
        for i in range(3):
            cross(arms[k], R[k, i], J[3 * a + i])
    for a in range(nn + 1):
        k = 0 if a == 0 else faces[f, a]
        for b in range(nn + 1):
            m = 0 if b == 0 else faces[f, b]
            for i in range(3):
                for j in range(3):
                    value = B[3 * a + i, 3 * b + j]
                    H_N[6 * k + i, 6 * m + j] += value
                    for c in range(3):
                        H_N[6 * k + i, 6 * m + 3 + c] += value * J[3 * b + j, c]
                        H_N[6 * k + 3 + c, 6 * m + j] += J[3 * a + i, c] * value
                        for d in range(3):
                            H_N[6 * k + 3 + c, 6 * m + 3 + d] += J[3 * a + i, c] * value * J[3 * b + j, d]
        rotate_T(R[k], row[3 * a : 3 * a + 3], u)
        add_skew_skew(1.0, arms[k], u, H_N, 6 * k + 3, 6 * k + 3)


@kernel
def accept(p, x, R, state):
    """New heights of all faces, and the face that is nearest, at the end of a step."""
    y = matrix(address_of(local_vector(MOST)), x.shape[0], 3)
    _places(p, x, R, y)
    accept_places(p, y, state)


@kernel
def initial(p, x, R, state):
    """Heights and face that are consistent with the pose."""
    accept(p, x, R, state)


@kernel
def trouble(p, x, R, state):
    """Apply ``trouble`` of `node_face_kernels`."""
    y = matrix(address_of(local_vector(MOST)), x.shape[0], 3)
    _places(p, x, R, y)
    return trouble_of_places(p, y, state)


class FrameOnFaces(NodeOnFaces):
    """A point of a body and faces whose corners are points of bodies; `SurfaceOnSurface` makes those of shells.

    Parameters
    ----------
    frame : Frame, Node or body
        Its origin touches.
    faces : list of lists of 3 or 4 Frame
        As seen from the side on which the point is, counter-clockwise. They are one surface: corners that two of them
        share are the same frame.
    cut, smooth, crease, room, **law :
        As `NodeOnFaces`.

    Raises
    ------
    ParameterError
        As `NodeOnFaces`; a frame on a node that carries corners of faces.

    Examples
    --------
    >>> from fem_mbs import RigidBody
    >>> box, floor = RigidBody(1.0, 0.1, position=[0, 0, 0.1]), [Node6(x) for x in ([0, 0, 0], [1, 0, 0], [0, 1, 0])]
    >>> corners = [node.frame([0, 0, 0.01]) for node in floor]
    >>> FrameOnFaces(box.frame([0.2, 0.2, -0.05]), [corners], friction=0.2, name="touch")
    FrameOnFaces 'touch': friction=0.2
    """

    kernels = {
        "contact": contact, "contact_hessian": contact_hessian, "initial": initial, "accept": accept,
        "trouble": trouble,
    }  # fmt: skip
    checked_within = 0.03  # rotations move the points too
    where = "the places of both and, of a shell, which of its sides is touched"
    corner = Frame
    corner_name = "frame"

    def __init__(
        self,
        frame: FrameLike,
        faces: Any,
        *,
        cut: Any = (),
        smooth: bool = True,
        crease: float = 0.6,
        room: Any = (0, 0),
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        place = self.as_frame("frame", frame)
        super().__init__(place, faces, cut=cut, smooth=smooth, crease=crease, room=room, name=name, **law)  # type: ignore[arg-type]

    def _carriers(self, points):
        nodes = [point.node for point in points]
        message = "is on a node that carries faces; they can never touch"
        self.check(nodes[0] not in nodes[1:], "frame", points[0], message)
        self.arms = np.ascontiguousarray([point.p for point in points], float)
        return nodes

    def places_at(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x + np.einsum("kij,kj->ki", R, self.arms))


def _example(rng):
    """Four quadrilaterals on frames of nodes that are turned, with a frame over them."""
    x = np.stack(np.meshgrid([-1.0, 0.1, 1.0], [-0.9, 0.0, 1.0], indexing="ij"), axis=-1).reshape(-1, 2)
    rows = [(k, k + 3, k + 4, k + 1) for k in (0, 1, 3, 4)]
    places = [*([*place, 0.0] for place in x), [*(0.4 * rng.normal(size=2)), 0.4]]
    arms = 0.04 * rng.normal(size=(10, 3))
    turns = [exp(rng.normal(size=3)) for _ in places]
    frames = [Node6(place - R @ a, R).frame(a) for place, a, R in zip(places, arms, turns)]
    return FrameOnFaces(frames[-1], [[frames[k] for k in row] for row in rows])


register(FrameOnFaces, example=_example)
