"""Faces of a group on the boundary of a solid body, and what part of the area stands for each node.

    w_a = Σ ∫ N_a dA / Σ ∫ dA     over the faces of the group, Σ w_a = 1                                             (1)

Those of quadratic faces are consistent, as the forces of a uniform traction are: −1/12 at the corners and 1/3 at the
middles of the sides of a quadrilateral, 0 and 1/3 on a triangle.

Source: docs/theory/solids.md, sections 6 and 8.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked
from fem_mbs.elements.solids.body import SolidBody
from fem_mbs.elements.solids.mesh_body import MeshBody
from fem_mbs.errors import Warnings, label
from fem_mbs.mesh.cells import FACES
from fem_mbs.mesh.mesh import owned_faces


def places_of_faces(owner: Checked, body: Any, group: str | None) -> list[np.ndarray]:
    """Places (nn,) among the nodes of the body of the faces of a group, as seen from outside of the body.

    None: of all faces of the boundary. Of a shell: the cells of a group, as seen from the side of the normals. Of a
    `SuperelementSurface`: triangles.

    Raises
    ------
    ParameterError
        In the name of ``owner``: no such group, no faces in it, or faces that are not on the boundary of the body.
    """
    if body.is_surface:
        return body.faces_of(owner, group)
    mesh, inside = body.mesh, body.points_inside
    if group is None:
        faces, keys = owned_faces(mesh, body.cells)
        _, first, count = np.unique(keys, axis=0, return_index=True, return_counts=True)
        return [body.places_of(faces[k]) for k in first[count == 1]]
    wanted = {}
    for kind, rows in mesh.faces_of(group).items():
        corners = 3 if kind.startswith("triangle") else 4
        wanted |= {tuple(sorted(row[:corners])): row for row in rows[inside[rows].all(axis=1)].tolist()}
    owner.check(wanted, "group", group, "has no faces of this body")
    faces, keys = owned_faces(mesh, body.cells)
    found: list[list[np.ndarray]] = [[] for _ in wanted]
    number = {key: k for k, key in enumerate(wanted)}
    for face, key in zip(faces, keys.tolist()):
        k = number.get(tuple(key if key[0] >= 0 else key[1:]))
        if k is not None:
            found[k].append(face)
    owner.check(all(found), "group", group, "has faces that belong to no cell of this body")
    twice = sum(len(owners) > 1 for owners in found)
    owner.check(twice == 0, "group", group, f"has {twice} faces between two cells of this body: nothing acts there")
    return [body.places_of(owners[0]) for owners in found]


def normals_of_faces(x: np.ndarray, faces: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Middles (f, 3) of the corners of faces, and normals (f, 3) of their areas, from places x (n, 3) of nodes."""
    corners = [row[: 3 if len(row) in (3, 6) else 4] for row in faces]
    middles = np.array([x[row].mean(axis=0) for row in corners])
    return middles, np.array([np.cross(x[row[-2]] - x[row[0]], x[row[-1]] - x[row[1]]) for row in corners])


def tell_far_faces(owner: Checked, what: str, normals: np.ndarray, ways: np.ndarray) -> None:
    """Warn where all faces of a body look away from the obstacle: the rest of it would sink in.

    ``what`` names the faces. ``normals`` (f, 3) point out of the body, ``ways`` (f, 3) from the obstacle to
    the faces, at the start.
    """
    size = np.linalg.norm(normals, axis=1) * np.linalg.norm(ways, axis=1)
    if (np.einsum("fi,fi->f", normals, ways) > 0.5 * size).all():
        text = (
            f"{label(owner)}: {what} looks away from the obstacle: the body sinks in until these "
            "faces meet it from behind. Take the faces of the other side, or of both if it turns over"
        )
        Warnings.issue(text)


def nodal_areas(body: MeshBody, places: np.ndarray) -> np.ndarray:
    """∫ N_a dA (…, nn) [m²] of faces (…, nn) of one type of the unloaded body."""
    places = np.asarray(places)
    rule = FACES[places.shape[-1]].stiffness
    J = rule.jacobians(body.reference[places.reshape(-1, places.shape[-1])])
    sizes = rule.weights * np.linalg.norm(np.cross(J[..., 0], J[..., 1]), axis=-1)
    return (sizes @ rule.shapes).reshape(places.shape)


def area_shares(owner: Checked, body: SolidBody, group: str) -> tuple[np.ndarray, np.ndarray]:
    """Places (n,) of the nodes of the faces of a group, rising, and their shares (n,) of (1)."""
    area = np.zeros(len(body.nodes))
    on_face = np.zeros(len(body.nodes), bool)
    for places in places_of_faces(owner, body, group):
        area[places] += nodal_areas(body, places)
        on_face[places] = True
    found = np.flatnonzero(on_face)
    return found, area[found] / area.sum()
