"""A node that touches faces of another mesh: arguments of the user, tables of faces, edges and corners for the kernels.

Source: docs/theory/surface_contact.md; kernels and equations: `node_face_kernels`.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.element.base import register
from fem_mbs.element.contact import Contact
from fem_mbs.elements.contacts.faces.face_guards import folded, trouble
from fem_mbs.elements.contacts.faces.face_kernels import beside
from fem_mbs.elements.contacts.faces.face_search import (
    BORDER,
    CREASE,
    CUT,
    FACE,
    PARAMETERS,
    RIDGE,
    SMOOTH,
    accept,
    behind,
    initial,
    locate,
)
from fem_mbs.elements.contacts.faces.node_face_kernels import contact, contact_hessian
from fem_mbs.errors import label
from fem_mbs.jit import address
from fem_mbs.nodes import Node, Node3

FLAT = 1e-9  # of the squares of lengths: no area
MOST = 400  # nodes and faces of one contact: their squares are kept


class NodeOnFaces(Contact):
    """A node and the faces of another mesh that it can touch; `SurfaceOnSurface` makes those of two surfaces.

    Parameters
    ----------
    node : Node
    faces : list of lists of 3 or 4 Node
        As seen from the side on which the node is, counter-clockwise. They are one surface: nodes that two of them
        share are the same.
    cut : sequence of (int, int), optional
        Edges (face, corner, from it to the next) where the surface continues with faces that were left out: the run
        ends when the node comes there.
    smooth : bool
        Whether normals are continuous from face to face. False: flat triangles, bilinear quadrilaterals.
    crease : float, 0 … π/2 [rad]
        Edges where faces meet at a larger angle at the start stay sharp.
    room : (int, int), optional
        Number of nodes and of faces to make room for: contacts with the same ones are evaluated together.
    **law
        restitution, friction, name, see `Contact`; what resists turning is not for nodes.

    Raises
    ------
    ParameterError
        Faces that are none, have no area, bend inwards or are turned differently; edges to cut that are none;
        resistances to turning; a node that belongs to a face.

    Notes
    -----
    Tangent t1 runs along the first edge of the face. The node touches the nearest point alone: in a corner in which two
    faces meet at less than 180° it touches one of them.

    Examples
    --------
    >>> corners = [Node3([0, 0, 0]), Node3([1, 0, 0]), Node3([1, 1, 0]), Node3([0, 1, 0])]
    >>> NodeOnFaces(Node3([0.3, 0.4, 0.1]), [corners], friction=0.2, name="touch")
    NodeOnFaces 'touch': friction=0.2
    """

    parameters = PARAMETERS
    kernels = {
        "contact": contact, "contact_hessian": contact_hessian, "initial": initial, "accept": accept,
        "trouble": trouble,
    }  # fmt: skip
    sides = ()  # nothing rotates
    two_sided = False  # the second is a surface of several nodes
    checked_within = 0.05
    corner: Any = Node  # what nodes and corners of faces are
    corner_name = "node"
    arms: Any = None  # (nn, 3), from nodes to points that they carry

    def __init__(
        self,
        node: Node,
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
        what = self.corner_name
        self.as_instance(what, node, self.corner, f"a {what}")
        right = isinstance(faces, (list, tuple)) and len(faces) > 0 and all(map(self._is_face, faces))
        self.check(right, "faces", faces, f"must be lists of three or four {what}s, all different")
        numbers = {"cut": (cut, None), "room": ((room,), 1)}
        for parameter, (pairs, count) in numbers.items():
            message = "must be pairs of whole numbers ≥ 0" if count is None else "must be a pair of whole numbers ≥ 0"
            right = isinstance(pairs, (list, tuple, set)) and all(map(_is_pair, pairs))
            self.check(right, parameter, pairs if count is None else room, message)
        number: dict[Any, int] = {}
        for one in (n for face in faces for n in face):
            number.setdefault(one, 1 + len(number))
        self.check(node not in number, what, node, "belongs to one of the faces")
        around = list(number)
        wanted, more = room
        message = f"is too large: {MOST} nodes and faces at most"
        self.check(max(wanted, more, len(around), len(faces)) <= MOST, "room", room, message)
        around += around[:1] * (int(wanted) - 1 - len(around))
        points = [node, *around]
        super().__init__(self._carriers(points), name=name, **law)
        turning = self.rolling_resistance, self.spinning_resistance, self.radius_contensou
        message = "and other resistances to rotation are not for contacts of nodes, which do not rotate; remove them"
        self.check(not any(turning), "rolling_resistance", turning, message)
        angle = self.number("crease", crease)
        self.check(0.0 <= angle <= np.pi / 2, "crease", crease, "rad must be between 0 and π/2")
        self.smooth = self.as_flag("smooth", smooth)
        self.n_state = 1 + 8 * max(len(faces), int(more)) + 3 * len(self.nodes)
        rows = [[number[n] for n in face] for face in faces]
        x = np.array([n.position for n in points])
        edges = [np.linalg.norm(x[row] - x[np.roll(row, -1)], axis=1).min() for row in rows]
        self.check(min(edges) > 0.0, "faces", faces, "must have nodes at different places")
        self._one_surface(rows, x, cut)
        self.tables = _tables(rows, x, set(map(tuple, cut)), angle)
        self.place()

    def _is_face(self, face):
        """True if it is a list of three or four corners, all different."""
        right = isinstance(face, (list, tuple)) and len(face) in (3, 4)
        return right and all(isinstance(one, self.corner) for one in face) and len(set(map(id, face))) == len(face)

    def _carriers(self, points):
        """Nodes of the points that touch and are touched."""
        return points

    def _one_surface(self, rows, x, cut):
        """Check that faces have an area and the same orientation, and that edges that are cut exist."""
        X = x[np.array([[*row, row[-1]][:4] for row in rows])]
        e = np.roll(X, -1, axis=1) - X
        turns = np.cross(np.roll(e, 1, axis=1), e)  # at the corners; of a triangle two are sufficient
        whole = turns.sum(axis=1)
        area = np.linalg.norm(whole, axis=1)
        inwards = np.einsum("fai,fi->fa", turns, whole).min(axis=1) < -FLAT * area**2
        for f in np.flatnonzero(inwards | (area <= FLAT * (e**2).sum(axis=(1, 2)))):
            message = "has no area, or crosses itself or bends inwards at a corner; nodes go once round a convex face"
            self.check(False, "faces", f"face {f}, nodes at {x[rows[f]].round(6).tolist()} m,", message)
        seen: dict[tuple[int, int], int] = {}
        for f, row in enumerate(rows):
            for edge in zip(row, [*row[1:], row[0]]):
                if edge in seen:
                    message = (
                        f"has an edge that face {seen[edge]} has in the same direction: one of them is seen "
                        "from the wrong side or is there twice, or bodies meet along an edge alone"
                    )
                    self.check(False, "faces", f"face {f}", message)
                seen[edge] = f
        for f, a in cut:
            right = f < len(rows) and a < len(rows[f])
            self.check(right, "cut", (int(f), int(a)), "is no face and corner")

    def place(self) -> None:
        faces, fans, spokes = self.tables
        arms_at = 0 if self.arms is None else address(self.arms)
        tables = address(faces), address(fans), address(spokes)
        self.record = (len(self.nodes), self.n_state, *tables, len(faces), int(self.smooth), arms_at)

    def places_at(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Positions (nn, 3) of the touching point and of all corners of faces, with nodes at x and R."""
        return x

    def where_at(self, x: ArrayLike) -> tuple[int, np.ndarray, int, np.ndarray]:
        """Face, place (2,) and kind of the point nearest to the first of places x (nn, 3) of `places_at`; the state."""
        p, uv, state = np.zeros(1, self.parameters), np.zeros(2), np.zeros(self.n_state)
        p[0] = self.record
        x = np.ascontiguousarray(x, float)
        accept(p[0], x, state)
        face, kind = locate(p[0], x, state, 0.0, uv)
        return int(face), uv, int(kind), state

    def regular(self, point: Any) -> bool:
        """True if the nearest point is well inside of one face, and not behind it."""
        for x in (self.places_at(point.x0, point.R0), self.places_at(point.x, point.R)):
            face, uv, kind, state = self.where_at(x)
            nn = self.tables[0][face, 0]
            over = max(beside(nn, uv, k) for k in range(nn))
            if kind != SMOOTH or over > -0.05:
                return False
            p = np.zeros(1, self.parameters)
            p[0] = self.record
            if behind(p[0], np.ascontiguousarray(x), state, face, uv):
                return False
        return True

    def trouble(self, state: Any) -> str:
        """Describe the inadmissible position of the node."""
        numbers = [node.index for node in self.nodes]
        x = self.places_at(state.x[numbers], state.R[numbers])
        face, uv, kind, heights = self.where_at(x)
        p = np.zeros(1, self.parameters)
        p[0] = self.record
        if kind == CUT:
            what = "left the faces within its reach; make reach larger, or None for all faces of the surface"
        elif kind == SMOOTH and folded(p[0], x, heights, face):
            what = (
                f"is near face {face} of the surface, which its neighbours bend by more than 56°, so that its nearest "
                "point is uncertain; take a finer mesh there, smaller steps, a smaller crease or smooth=False"
            )
        elif kind != SMOOTH or not behind(p[0], x, heights, face, uv):
            what = (
                "went through the body in one step, in by one side and out by another, or came to the surface over "
                "its border and from below; take smaller steps, or let the surface have all faces that can be met"
            )
        else:
            what = (
                f"is behind face {face} of the surface, to which it came round a border or through it in one step; "
                "let the surface have all faces that can be met, or take smaller steps"
            )
        return f"{label(self)}: the {self.corner_name} at {x[0].round(6).tolist()} m {what}"


def _is_pair(pair):
    """True if it is a pair of whole numbers ≥ 0."""
    right = isinstance(pair, (list, tuple)) and len(pair) == 2
    return right and all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 0 for k in pair)


def _tables(rows, x, cut, crease):
    """Arrays of faces, fans and spokes for faces ``rows`` on nodes x at the start."""
    owners: dict[tuple[int, int], tuple[int, int]] = {}  # edge from one node to the next -> face and corner
    for f, row in enumerate(rows):
        for a, k in enumerate(row):
            owners[k, row[(a + 1) % len(row)]] = f, a
    normals = [_normals_at_edges(x[row]) for row in rows]
    at: list[set[int]] = [set() for _ in x]  # kinds of the edges at each node
    faces = np.zeros((len(rows), FACE), np.int64)
    for f, row in enumerate(rows):
        faces[f, 0], faces[f, 1 : 1 + len(row)] = len(row), row
        for a, k in enumerate(row):
            b = row[(a + 1) % len(row)]
            kind = CUT if (f, a) in cut else BORDER
            if (b, k) in owners:
                g, o = owners[b, k]
                kind = _fold(normals[f][a], normals[g][o], x[b] - x[k], crease)
            faces[f, 5 + a] = kind
            at[k].add(kind)
            at[b].add(kind)
    for f, row in enumerate(rows):
        faces[f, 9 : 9 + len(row)] = [_corner(at[k]) for k in row]
    fans, spokes = np.zeros((len(rows), 12), np.int64), []
    for f, row in enumerate(rows):
        for a in range(len(row)):
            fan, closed = _fan(faces, owners, rows, f, a)
            fans[f, 3 * a : 3 * a + 3] = len(spokes), len(fan), int(closed)
            spokes += fan
    return faces, fans, np.array(spokes, np.int64)


def _normals_at_edges(X):
    """Unit normals (nn, 3) of a flat or bilinear face in the middles of its edges: at right angles to these."""
    e, nn = np.roll(X, -1, axis=0) - X, len(X)
    beyond = np.roll(X, -2, axis=0) if nn == 3 else 0.5 * (np.roll(X, -2, axis=0) + np.roll(X, -3, axis=0))
    n = np.cross(e, beyond - X - 0.5 * e)
    return n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]


def _fold(n, other, e, crease):
    """Kind of the edge e (3,) of a face with the normal n there, where another one with its own begins.

    It is the same seen from both faces, warped ones too; faces that lie on each other back to back have a ridge.
    """
    if n @ other >= np.cos(crease):
        return SMOOTH
    return RIDGE if np.cross(n, other) @ e >= -FLAT * np.linalg.norm(e) else CREASE


def _corner(kinds):
    """Kind of a corner whose edges are of some kinds."""
    if CUT in kinds:
        return CUT
    if CREASE in kinds:
        return CREASE
    return RIDGE if RIDGE in kinds else (BORDER if BORDER in kinds else SMOOTH)


def _fan(faces, owners, rows, f, a):
    """Faces and corners round corner a of face f, up to edges that are not smooth; whether they go all round."""
    found = [(f, a)]
    for back in (False, True):
        g, b = f, a
        while True:
            row = rows[g]
            before = (b - 1) % len(row)
            edge = before if back else b
            if faces[g, 5 + edge] != SMOOTH:
                break
            k = row[b]
            g, b = owners[k, row[before]] if back else owners[row[(b + 1) % len(row)], k]
            b = rows[g].index(k)
            if (g, b) == (f, a):
                return found, True
            found.append((g, b))
    return found, False


def _example(rng):
    """Five triangles round a node, or four quadrilaterals, with a node over them."""
    if rng.random() < 0.5:
        edge = 2.0 * np.pi * np.arange(5) / 5
        x, rows = (
            np.array([(0.0, 0.0), *zip(np.cos(edge), np.sin(edge))]),
            [(0, 1 + k, 1 + (k + 1) % 5) for k in range(5)],
        )
    else:
        x = np.stack(np.meshgrid([-1.0, 0.1, 1.0], [-0.9, 0.0, 1.0], indexing="ij"), axis=-1).reshape(-1, 2)
        rows = [(k, k + 3, k + 4, k + 1) for k in (0, 1, 3, 4)]
    bend = 0.15 * rng.normal(size=2)
    nodes = [Node3([*place, bend @ place**2]) for place in x]
    node = Node3([*(0.4 * rng.normal(size=2)), rng.uniform(0.2, 0.3)])
    return NodeOnFaces(node, [[nodes[k] for k in row] for row in rows])


register(NodeOnFaces, example=_example)
