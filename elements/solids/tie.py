"""Bonding of two meshes that do not match: every node of one surface stays on its place of a face of the other.

    g = x_s − Σ N_a(ξ_s) x_a = 0                                               3 rows for each node                  (1)

with the shape functions N_a of the face at the place ξ_s where the node lies at the start. Σ N_a = 1, so that rigid
motions satisfy it exactly; so do fields that are linear in the position. Forces of the node go to the face by N_a:
resultants are exact, and their distribution is that of point forces at the nodes, not of tractions. A uniform stress is
therefore met in the mean, and disturbed by some per cent in the elements next to the bond (docs/theory/solids.md).

Source: node-to-surface tie, as in Wriggers, Computational Contact Mechanics (2006), ch. 9; (1) is elementary.

    symbol   code     shape   unit   meaning
    N_a      p.N      (8,)    -      shape functions at the node, 0 beyond the nodes of the face
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.element.base import Constraint, register
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import places_of_faces
from fem_mbs.errors import ParameterError, label
from fem_mbs.jit import kernel
from fem_mbs.mesh.cells import FACES
from fem_mbs.nodes import Node, Node3

MOST = 8  # nodes of a face
NEAREST = 8  # faces that are tried for each node, by the distance of their centres
STEPS = 20  # of Newton's iteration for the nearest place
RIM = 1e-6  # of a face, by which positions may lie outside it
TOLERANCE = 1e-6  # of the size of a face
SHOWN = 5  # nodes that a message names


@kernel
def constraint(p, x, R, g, G):
    """Add (1) to g (3,) [m] and its gradient to G (3, 6 nn)."""
    for i in range(3):
        g[i] += x[0, i]
        G[i, i] += 1.0
        for a in range(1, x.shape[0]):
            g[i] -= p.N[a - 1] * x[a, i]
            G[i, 6 * a + i] -= p.N[a - 1]


@kernel
def hessian(p, x, R, H):
    """(1) is linear."""


@kernel
def output(p, x, R, lam, out):
    """Force on the node."""
    for i in range(3):
        out[i] += lam[i]


class TiedNode(Constraint):
    """A node that stays on its place of a face; `Tie` makes those of a surface.

    Parameters
    ----------
    node : Node3
    face : list of 3, 4, 6 or 8 Node3
    shapes : (k,), -
        Shape functions of the face at the node, which add to 1.
    name : str, optional

    Outputs
    -------
    force : (3,) [N], of the face on the node, inertial axes

    Raises
    ------
    ParameterError
        Another number of nodes; shape functions that do not add to 1.
    """

    rows = 3
    parameters = np.dtype([("N", "f8", (MOST,)), ("nn", "i8")])
    kernels = {"constraint": constraint, "hessian": hessian, "output": output}
    outputs = {"force": (3, "N")}

    def __init__(self, node: Node, face: Any, shapes: ArrayLike, *, name: str | None = None) -> None:
        self.name = name
        self.as_instance("node", node, Node, "a node")
        right = isinstance(face, (list, tuple)) and len(face) in FACES and all(isinstance(n, Node) for n in face)
        self.check(right, "face", face, f"must be a list of {', '.join(map(str, FACES))} nodes")
        super().__init__([node, *face], name=name)
        N = np.zeros(MOST)
        N[: len(face)] = self.as_array("shapes", shapes, (len(face),))
        self.check(abs(N.sum() - 1.0) < 1e-9, "shapes", shapes, "must add to 1")
        self.record = (N, len(self.nodes))


def _how_far(distance):
    return f"{distance:.3g} m away" if np.isfinite(distance) else "outside all faces"


class Tie(Checked):
    """Bond of two solids whose meshes do not match; ``model.add(tie)`` adds it.

    Every node of the first surface stays on its place of a face of the second. Take the finer mesh first.

    Parameters
    ----------
    body_A : SolidBody
    group_A : str
        Its nodes are tied.
    body_B : SolidBody
    group_B : str
        Faces of its boundary that they lie on.
    tolerance : float > 0, optional [m]
        Largest distance of a node from its face; default: 1e-6 of the size of the face. The remaining distance is
        closed at the start of a run by ``model.compile(project=True)``.
    name : str, optional
        Elements are called "name 0", "name 1", …

    Attributes
    ----------
    elements : list of TiedNode

    Raises
    ------
    ParameterError
        No such group, no faces in it; nodes that lie on no face, by number and place; one and the same body.

    Examples
    --------
    >>> from fem_mbs import Model, SolidMaterial, block_mesh
    >>> steel = SolidMaterial(210e9, 0.3, 7850.0)
    >>> foot = SolidBody(block_mesh([2, 2, 1], [2, 2, 1], cell="hexahedron"), steel, name="foot")
    >>> post = SolidBody(block_mesh([1, 1, 3], [3, 3, 6], cell="hexahedron"), steel, position=[0.5, 0.5, 1])
    >>> weld = Tie(post, "z0", foot, "z1", name="weld")
    >>> len(Model().add(foot, post, weld)[2].elements)
    16
    """

    def __init__(
        self,
        body_A: SolidBody,
        group_A: str,
        body_B: SolidBody,
        group_B: str,
        *,
        tolerance: float | None = None,
        name: str | None = None,
    ) -> None:
        self.name = name
        first = self.as_instance("body_A", body_A, SolidBody, "a SolidBody")
        second = self.as_instance("body_B", body_B, SolidBody, "a SolidBody")
        self.check(first is not second, "body_B", second, "is the first body; a mesh needs no bond with itself")
        if tolerance is not None:
            tolerance = self.positive("tolerance", tolerance, "m")
        nodes = first.nodes_of(self.as_text("group_A", group_A))
        faces = places_of_faces(self, second, self.as_text("group_B", group_B))
        x = np.array([node.position for node in nodes])
        which, shapes = self._placed(x, faces, np.array([node.position for node in second.nodes]), tolerance)
        self.elements: list[TiedNode] = []
        for k, (node, face, N) in enumerate(zip(nodes, which, shapes)):
            called = None if name is None else f"{name} {k}"
            self.elements.append(TiedNode(node, [second.nodes[a] for a in faces[face]], N, name=called))

    def __repr__(self) -> str:
        return f"{label(self)}: {len(self.elements)} nodes tied"

    def _placed(self, x, faces, points, tolerance):
        """Face of each node and shape functions there."""
        from scipy.spatial import cKDTree

        centres = np.array([points[face].mean(axis=0) for face in faces])
        sizes = np.array([np.ptp(points[face], axis=0).max() for face in faces])
        tried = cKDTree(centres).query(x, k=min(NEAREST, len(faces)))[1].reshape(len(x), -1)
        best, found = np.full(len(x), np.inf), [(-1, np.zeros(0))] * len(x)
        for nn, cell in FACES.items():
            node, column = np.nonzero(np.isin(tried, [k for k, face in enumerate(faces) if len(face) == nn]))
            if not len(node):
                continue
            face = tried[node, column]
            corners = points[np.array([faces[k] for k in face])]
            N, apart = _nearest(cell, corners, x[node])
            for pair in np.flatnonzero(apart < best[node]):
                if apart[pair] < best[node[pair]]:
                    best[node[pair]], found[node[pair]] = apart[pair], (int(face[pair]), N[pair])
        allowed = [tolerance or TOLERANCE * sizes[face] for face, _ in found]
        bad = np.flatnonzero(~(best <= allowed))
        if len(bad):
            named = [f"{k} at {x[k].round(6).tolist()} m, {_how_far(best[k])}" for k in bad[:SHOWN]]
            message = (
                f"has {len(bad)} of {len(x)} nodes that lie on no face of the other group: {'; '.join(named)}. Take "
                "the group that lies within the other, or give the gap that is allowed by tolerance"
            )
            raise ParameterError(self, "group_A", self.name or "nodes", message)
        return [face for face, _ in found], [N for _, N in found]


def _nearest(cell, corners, x):
    """Shape functions (n, nn) at the places of faces (n, nn, 3) nearest to points (n, 3), and distances; ∞ outside."""
    triangle = cell.kind == "triangle"
    xi = np.full((len(x), 2), 1 / 3 if triangle else 0.0)
    for _ in range(STEPS):
        J = np.einsum("nja,nai->nij", cell.gradients(xi), corners)
        apart = np.einsum("na,nai->ni", cell.shapes(xi), corners) - x
        normal = np.einsum("nij,nik->njk", J, J)
        step = np.linalg.solve(normal, np.einsum("nij,ni->nj", J, apart)[..., None])[..., 0]
        xi = np.clip(xi - step, -2.0, 2.0)  # positions far outside the face are none
    inside = (xi >= -RIM).all(axis=1) & (xi.sum(axis=1) <= 1 + RIM) if triangle else (np.abs(xi) <= 1 + RIM).all(axis=1)
    N = cell.shapes(xi)
    distance = np.linalg.norm(np.einsum("na,nai->ni", N, corners) - x, axis=1)
    return N, np.where(inside, distance, np.inf)


def _example(rng):
    count = int(rng.choice(list(FACES)))
    nodes = [Node3(rng.normal(size=3)) for _ in range(count + 1)]
    cell = FACES[count]
    xi = rng.uniform(0.1, 0.4, size=(1, 2))
    return TiedNode(nodes[0], nodes[1:], cell.shapes(xi)[0])


register(TiedNode, example=_example)
