"""Polyhedra of a run: arrays for `granular.hulls`, each form once."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.solvers.granular.hulls import TABLE

if TYPE_CHECKING:
    from fem_mbs.elements.contacts.group_shapes import GroupShape
    from fem_mbs.polyhedra import Polyhedron


class Hulls:
    """The polyhedra among the cores of a contact group.

    Attributes
    ----------
    numbers : (n,) polyhedron of each shape, −1: none
    most_corners, most_edges : int, of one of them
    arrays, record : of `granular.hulls`
    """

    def __init__(self, shapes: "list[GroupShape]") -> None:
        forms: dict[int, Polyhedron] = {id(shape.hull): shape.hull for shape in shapes if shape.hull is not None}
        places = {name: k for k, name in enumerate(forms)}
        self.numbers = np.array([-1 if s.hull is None else places[id(s.hull)] for s in shapes], np.int64)
        found = list(forms.values())
        self.most_corners = max((len(form.points) for form in found), default=0)
        self.most_edges = max((len(form.edges) for form in found), default=0)
        corners, edges, faces = (
            np.cumsum([0, *(len(getattr(form, name)) for form in found)]) for name in ("points", "edges", "normals")
        )
        sizes = {"nu": len(found) + 1, "nv": corners[-1], "ne": edges[-1], "nf": faces[-1], "nm": faces[-1] + 1}
        sizes |= {"nw": corners[-1] + 1, "ns": 2 * edges[-1], "nr": 2 * edges[-1]}
        self.arrays, self.record = TABLE.arrays(sizes), np.zeros(1, TABLE.dtype)
        a = self.arrays
        a["first_corner"][:], a["first_edge"][:], a["first_face"][:] = corners, edges, faces
        for k, form in enumerate(found):
            a["corner"][corners[k] : corners[k + 1]] = form.points
            own = slice(edges[k], edges[k + 1])
            a["end"][own], a["into"][own] = form.edges, _into_faces(form)
            a["face"][faces[k] : faces[k + 1]] = np.column_stack([form.normals, form.offsets])
            _chain(a, "rim", form.sides, edges[k], faces[k], len(form.normals))
            _chain(a, "star", form.edges, edges[k], corners[k], len(form.points))
        TABLE.aim(self.record, self.arrays)


def _into_faces(form):
    """Directions (m, 2, 3) from edges into the faces beside them, across the edges."""
    ends = form.points[form.edges]
    along = ends[:, 1] - ends[:, 0]
    into = np.cross(form.normals[form.sides], along[:, None])
    middle = np.array([form.points[np.unique(form.edges[(form.sides == f).any(axis=1)])].mean(axis=0)
                       for f in range(len(form.normals))])  # fmt: skip
    inwards = np.einsum("esk,esk->es", into, middle[form.sides] - ends.mean(axis=1)[:, None])
    into *= np.sign(inwards)[:, :, None]
    return into / np.linalg.norm(into, axis=2)[:, :, None]


def _chain(arrays, name, members, first_edge, first, count):
    """Edges by their faces or corners ``members`` (m, 2), of a polyhedron with ``count`` of these."""
    edge, place = np.divmod(np.argsort(members.reshape(-1), kind="stable"), 2)
    start = 2 * first_edge
    arrays[name][start : start + len(edge)] = np.stack([first_edge + edge, place], axis=1)
    ends = start + np.cumsum(np.bincount(members.reshape(-1), minlength=count))
    arrays[f"first_{name}"][first + 1 : first + count + 1] = ends
