"""Contact of the surfaces of two flexible bodies: every node of one touches the faces of the other.

Surfaces of shells are their skins (`shells.skin`), at the top or at the bottom.

Forces at the nodes go to the faces by their shape functions: resultants are exact, and a uniform pressure is met in the
mean between meshes that do not match. Source: docs/theory/surface_contact.md.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked, FrameLike
from fem_mbs.elements.contacts.faces.face_search import SMOOTH
from fem_mbs.elements.contacts.faces.frame_on_faces import FrameOnFaces
from fem_mbs.elements.contacts.faces.holes import tell_coarse_first
from fem_mbs.elements.contacts.faces.node_on_faces import NodeOnFaces
from fem_mbs.elements.shells.body import ShellBody
from fem_mbs.elements.shells.skin import SIDES, skin, tell_bare_nodes, tell_far_side
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.faces import normals_of_faces, places_of_faces, tell_far_faces
from fem_mbs.elements.superelements.surface import SuperelementSurface
from fem_mbs.errors import ParameterError, label
from fem_mbs.nodes import Frame

LINEAR = (3, 4)  # nodes of faces whose nodes all take a part > 0 of a uniform pressure
FEW = 36  # nodes of a surface that is all within reach of every node
MOST = 121  # nodes within reach of one
EDGES = 1.5  # longest edges, the default reach


def _body(thing):
    """The body itself, that of a surface, or a list of frames."""
    return thing.body if isinstance(thing, SuperelementSurface) else thing


class SurfaceOnSurface(Checked):
    """Contact of two solids, shells or superelements, or of points with one; ``model.add(touch)`` adds it.

    Parameters
    ----------
    body_A : SolidBody, ShellBody, SuperelementSurface or list of frames
        Of `Hexa8`, `Tetra4` or `Wedge6`. Its nodes touch: take the finer, or the softer one. Frames are points of rigid
        bodies that touch, as the feet of a table; ``group_A`` is None then.
    group_A : str or None
        Faces, or nodes of the boundary. None: the whole boundary. Of a shell cells, or nodes; None: all.
    body_B : SolidBody, ShellBody or SuperelementSurface
        Of linear cells as well; not the same body.
    group_B : str or None
        Faces that they touch. Give all that can be met, beyond edges too: outside a border there is nothing to touch.
    side_A : {"top", "bottom", "both"}, of shells alone, which need it
        Which of its faces touch; the top is where its normals point.
    side_B : {"top", "bottom"}, of shells alone, which need it
        The side that the first is on.
    reach : float > 0, optional [m]
        How far a node may slide along the surface from where it is nearest at the start. A run in which one gets
        farther ends there. Every node stores the faces within its reach, so that the time of a step grows with them.
        Default: all of a surface of up to 36 nodes, else one and a half times its longest edge.
    both : bool
        Nodes of the second touch faces of the first as well. Where edges of the second press into faces of the first;
        forces of flat surfaces are then not unique, though their resultant is.
    smooth : bool
        Normals are continuous from face to face, those of the body between nodes that bulge. False: the faces are flat.
    crease : float, 0 … π/2 [rad]
        Edges of the second where faces meet at a larger angle at the start stay sharp.
    name : str, optional
        Contacts are called "name 0", "name 1", …
    **law
        restitution (0 by default: waves carry the impact), friction …, see `Contact`.

    Attributes
    ----------
    elements : list of NodeOnFaces, with a shell FrameOnFaces
    nodes : list of Node
        The node of each contact.

    Raises
    ------
    ParameterError
        No such group, no faces in it; quadratic faces; one and the same body; too many faces within reach; a shell
        without its side, or on the other side of it; edges of the second at which three or more cells meet.

    Warns
    -----
    UserWarning
        A side, or faces, of the first that look away from the second. Nodes of shells as points, without their
        thickness. A second surface that fits between nodes of the first.

    Examples
    --------
    >>> from fem_mbs import Model, SolidMaterial, block_mesh
    >>> rubber = SolidMaterial(1e6, 0.3, 1000.0)
    >>> foot = SolidBody(block_mesh([2, 2, 1], [2, 2, 1], cell="hexahedron"), rubber, name="foot")
    >>> post = SolidBody(block_mesh([1, 1, 1], [3, 3, 3], cell="hexahedron"), rubber, position=[0.5, 0.5, 1])
    >>> touch = SurfaceOnSurface(post, "z0", foot, "z1", friction=0.3, name="touch")
    >>> len(Model().add(foot, post, touch)[2].elements)
    16
    """

    def __init__(
        self,
        body_A: SolidBody | ShellBody | SuperelementSurface | Sequence[FrameLike],
        group_A: str | None,
        body_B: SolidBody | ShellBody | SuperelementSurface,
        group_B: str | None,
        *,
        side_A: str | None = None,
        side_B: str | None = None,
        reach: float | None = None,
        both: bool = False,
        smooth: bool = True,
        crease: float = 0.6,
        name: str | None = None,
        **law: Any,
    ) -> None:
        self.name = name
        what = (
            "a SolidBody, a ShellBody or a SuperelementSurface. What is rigid is an obstacle of SurfaceContacts: "
            "plane, sphere, cylinder, box"
        )
        kinds = (SolidBody, ShellBody, SuperelementSurface)
        if isinstance(body_A, (list, tuple)):
            first: Any = [self.as_frame("body_A", one) for one in body_A]
        else:
            message = f"{what}. Points of rigid bodies, as their corners, are a list of frames"
            first = self.as_instance("body_A", body_A, kinds, message)
        second = self.as_instance("body_B", body_B, kinds, what)
        same = _body(first) is _body(second)
        self.check(not same, "body_B", second, "is the first body: contact of a body with itself is not known")
        if reach is not None:
            reach = self.positive("reach", reach, "m")
        both = self.as_flag("both", both)
        surfaces = [
            self._surface("A", first, group_A, side_A, touched=both),
            self._surface("B", second, group_B, side_B, touched=True),
        ]
        options = {"smooth": smooth, "crease": crease, **law}
        self.nodes: list[Any] = []
        self.elements: list[NodeOnFaces] = []
        if isinstance(first, ShellBody):
            x = np.array([point.position for point in surfaces[0][0]])
            tell_far_side(self, "side_A", side_A, surfaces[0][0], _normals_below(x, *surfaces[1][:2]))
        elif surfaces[0][1]:
            x = np.array([node.position for node in first.nodes])
            middles, normals = normals_of_faces(x, surfaces[0][1])
            what = label(first) if group_A is None else f"group_A = {group_A!r}"
            tell_far_faces(self, what, normals, _normals_below(middles, *surfaces[1][:2]))
        if isinstance(first, list):
            x = np.array([frame.position for frame in first])
            tell_bare_nodes(self, "body_A", first, _normals_below(x, *surfaces[1][:2]))
        for one, other in ((0, 1), (1, 0)) if both else ((0, 1),):
            self._touch(surfaces[one], surfaces[other], reach, options)
        if not both:
            self._tell_small_second(first, group_A, surfaces)

    def _tell_small_second(self, first, group, surfaces):
        """Warn about a second surface that passes between nodes of the first."""
        faces = surfaces[0][1]
        if isinstance(first, ShellBody) and (group is None or set(first.cells) & set(first.mesh.group(group))):
            faces = first.faces_of(self, group)  # else nodes alone, as of an edge
        if len(faces):
            used = np.unique(np.concatenate(surfaces[1][1]))
            x = np.array([node.position for node in first.nodes])
            places = np.array([surfaces[1][0][k].position for k in used])
            tell_coarse_first(self, x, faces, places, lambda: any(map(_over, self.elements)))

    def _surface(self, which, body, group, side, *, touched):
        """Points, faces (numbers of points) and numbers of the points that touch; faces where it is ``touched``."""
        parameter = f"side_{which}"
        if isinstance(body, list):
            self.check(body, "body_A", body, "has no frames")
            self.check(group is None, "group_A", group, "is for bodies from meshes; of frames all touch: None")
            self.check(side is None, parameter, side, "is for shells, which have two")
            self.check(not touched, "both", touched, "needs faces of the first, which frames have not")
            return body, [], np.arange(len(body))
        if not isinstance(body, ShellBody):
            self.check(side is None, parameter, side, "is for shells, which have two")
            faces = self._linear(f"group_{which}", group, places_of_faces(self, body, group))
            return body.nodes, faces, np.unique(np.concatenate(faces))
        self.check(side is not None, parameter, side, 'must be given of a shell: "top" or "bottom"')
        side = self.as_choice(parameter, side, (*SIDES, "both"))
        message = "is for points that touch alone; faces are touched from one side. Make a contact of each side"
        self.check(side in SIDES or not touched, parameter, side, message)
        points: list[Any] = []
        faces: list[Any] = []
        for one in SIDES if side == "both" else (side,):
            more, faces = skin(self, f"group_{which}", body, group, one, with_faces=touched)
            points += more
        return points, faces, np.arange(len(points))

    def _linear(self, parameter, group, faces):
        bad = sum(len(places) not in LINEAR for places in faces)
        message = (
            f"has {bad} faces of quadratic cells: at their corners a pressure has forces of the wrong sign or none. "
            "Take hexahedra of 8 nodes, or tetrahedra of 4"
        )
        self.check(bad == 0, parameter, group, message)
        return faces

    def _touch(self, own, other, reach, options):
        """Contacts of points of a surface with faces of the other."""
        corners, faces, _ = other
        nodes = [own[0][k] for k in own[2]]
        x = np.array([corner.position for corner in corners])
        near = _within(np.array([node.position for node in nodes]), x, faces, reach)
        largest = max(len(np.unique(np.concatenate([faces[f] for f in some]))) for some in near)
        message = (
            f"m has {largest} nodes of the other surface within it; {MOST} at most. Take a smaller one, or coarser "
            "faces on the second body"
        )
        if largest > MOST:
            raise ParameterError(self, "reach", reach, message)
        room = 1 + largest, max(map(len, near))  # elements of one size are evaluated together
        owners = _edges(faces)
        frames = any(isinstance(one, Frame) for one in (nodes[0], corners[0]))
        kind: Any = FrameOnFaces if frames else NodeOnFaces
        if frames:
            nodes, corners = [one.frame() for one in nodes], [one.frame() for one in corners]
        for node, some in zip(nodes, near):
            inside, cut = set(some), []
            for k, f in enumerate(some):
                row = faces[f]
                for a in range(len(row)):
                    beyond = owners.get((row[(a + 1) % len(row)], row[a]))
                    if beyond is not None and beyond not in inside:
                        cut.append((k, a))
            name = None if self.name is None else f"{self.name} {len(self.elements)}"
            around = [[corners[a] for a in faces[f]] for f in some]
            self.elements.append(kind(node, around, cut=cut, room=room, name=name, **options))
            self.nodes.append(node.node if frames else node)


def _over(contact):
    """True if the touching point is over the faces at the start, not outside their border."""
    x, R = (np.array([getattr(node, what) for node in contact.nodes]) for what in ("position", "rotation"))
    return contact.where_at(contact.places_at(x, R))[2] == SMOOTH


def _normals_below(points, corners, faces):
    """Normals (n, 3) of the faces with the middles nearest to points (n, 3)."""
    from scipy.spatial import cKDTree

    middles, normals = normals_of_faces(np.array([corner.position for corner in corners]), faces)
    return normals[cKDTree(middles).query(points)[1]]


def _edges(faces):
    """Edge from one node to the next -> number of the face."""
    return {(row[a], row[(a + 1) % len(row)]): f for f, row in enumerate(faces) for a in range(len(row))}


def _within(points, x, faces, reach):
    """Numbers of the faces within reach of where each of the points (n, 3) is nearest to the surface."""
    from scipy.spatial import cKDTree

    used = np.unique(np.concatenate(faces))
    if reach is None and len(used) <= FEW:
        return [list(range(len(faces)))] * len(points)
    centres = np.array([x[row].mean(axis=0) for row in faces])
    radii = np.array([np.linalg.norm(x[row] - c, axis=1).max() for row, c in zip(faces, centres)])
    if reach is None:
        reach = EDGES * max(np.linalg.norm(x[row] - x[np.roll(row, -1)], axis=1).max() for row in faces)
    middles = np.concatenate([0.5 * (x[row] + x[np.roll(row, -1)]) for row in faces])
    places = np.vstack([x[used], centres, middles])
    nearest = places[cKDTree(places).query(points)[1]]
    tree, found = cKDTree(centres), []
    for place, some in zip(nearest, tree.query_ball_point(nearest, reach + radii.max())):
        some = np.sort(some)
        found.append(some[np.linalg.norm(centres[some] - place, axis=1) <= reach + radii[some]].tolist())
    return found
