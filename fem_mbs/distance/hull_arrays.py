"""Convex polyhedra as arrays for kernels, one after the other: corners, edges, faces, and which belong to which.

    array          shape     meaning; with nu polyhedra, and one after the last where it is a first
    first_corner   (nu + 1,)  of each polyhedron
    first_edge     (nu + 1,)  the same
    first_face     (nu + 1,)  the same
    corner         (nv, 3)    place of each [m]
    end            (ne, 2)    corners of each edge, counted from the first of the polyhedron
    into           (ne, 2, 3) directions from each edge into both adjacent faces, across the edge
    face           (nf, 4)    n and d [m] of each
    first_rim      (nf + 1,)  first edge of each face in rim
    rim            (2 ne, 2)  edges, and which of their sides the face is
    first_star     (nv + 1,)  first edge of each corner in star
    star           (2 ne, 2)  edges at each corner, and which of their ends it is

Source: docs/theory/hulls.md.
"""

import numpy as np

from fem_mbs.mesh.polyhedra import Polyhedron


def arrays_of(forms: list[Polyhedron]) -> dict[str, np.ndarray]:
    """Arrays of polyhedra, in their order."""
    corners, edges, faces = (
        np.cumsum([0, *(len(getattr(form, name)) for form in forms)]) for name in ("points", "edges", "normals")
    )
    a = {"first_corner": corners, "first_edge": edges, "first_face": faces}
    nv, ne, nf = corners[-1], edges[-1], faces[-1]
    shapes = {"corner": (nv, 3), "into": (ne, 2, 3), "face": (nf, 4)}
    a |= {name: np.zeros(shape) for name, shape in shapes.items()}
    shapes = {"end": (ne, 2), "first_rim": nf + 1, "rim": (2 * ne, 2), "first_star": nv + 1, "star": (2 * ne, 2)}
    a |= {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
    for k, form in enumerate(forms):
        a["corner"][corners[k] : corners[k + 1]] = form.points
        own = slice(edges[k], edges[k + 1])
        a["end"][own], a["into"][own] = form.edges, _into_faces(form)
        a["face"][faces[k] : faces[k + 1]] = np.column_stack([form.normals, form.offsets])
        _chain(a, "rim", form.sides, edges[k], faces[k], len(form.normals))
        _chain(a, "star", form.edges, edges[k], corners[k], len(form.points))
    return a


def _into_faces(form):
    """Directions (m, 2, 3) from edges into the adjacent faces, across the edges."""
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
