"""Mass, centre of mass and inertia of a body from a mesh of its surface or its volume.

A tetrahedron with corners x_0 … x_3 and s = Σ x_i has

    V = (x_1 − x_0) × (x_2 − x_0) · (x_3 − x_0)/6 ,   ∫ x dV = V s/4 ,   ∫ x xᵀ dV = V/20 (Σ x_i x_iᵀ + s sᵀ)       (1)

A closed surface is the sum of the signed tetrahedra of its triangles with one point; other cells of a volume mesh are
cut into tetrahedra. Cells with middle nodes are integrated by their rule of mass, as those of a solid body; types
without such a rule must have straight sides. With C = ∫ x xᵀ ρ dV about the centre of mass the inertia is tr(C) I − C.

Source: docs/theory/bodies.md, (6).
"""

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Checked, Keywords, Named
from fem_mbs.errors import Warnings
from fem_mbs.mesh.cells import CELLS, DRAWN, outer_faces
from fem_mbs.mesh.files import LARGE_UNSAID, SMALL, mesh_of
from fem_mbs.mesh.mesh import Mesh

# corners of the tetrahedra of linear cells, in the numbering of VTK and meshio
TETRAHEDRA = {
    "tetra": [[0, 1, 2, 3]],
    "pyramid": [[0, 1, 2, 4], [0, 2, 3, 4]],
    "wedge": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]],
    "hexahedron": [[0, 1, 3, 4], [1, 2, 3, 6], [1, 3, 4, 6], [1, 4, 5, 6], [3, 4, 6, 7]],
}
FLAT = {"triangle": 3, "quad": 4, "triangle6": 6, "quad8": 8}
OTHERS = ("vertex", "line", "line3")  # have no volume and bound none
ROUND_OFF = 1e-15  # of the extent of a mesh, in its centre of mass


class MassProperties:
    """What a mesh of constant density weighs.

    Attributes
    ----------
    volume : float [m³]
    mass : float [kg]
    center : (3,) [m], centre of mass, axes of the mesh
    inertia : (3, 3) [kg m²], about the centre of mass, axes of the mesh
    """

    def __init__(self, volume: float, density: float, center: np.ndarray, inertia: np.ndarray) -> None:
        self.volume, self.mass = volume, density * volume
        self.center, self.inertia = center, inertia

    def __repr__(self):
        center = ", ".join(f"{x:.6g}" for x in self.center)
        return f"MassProperties(mass {self.mass:.6g} kg, volume {self.volume:.6g} m³, centre ({center}) m)"


@Keywords.known
def mass_of_mesh(mesh: Any, density: float, *, scale: float = 1.0) -> MassProperties:
    """Mass, centre of mass and inertia of a body of constant density.

    Parameters
    ----------
    mesh : path, fem.Mesh, meshio.Mesh, or fem.shapes.Mesh
        A closed surface (STL, OBJ, PLY …) or a mesh of solid cells (Gmsh, VTU, Abaqus …), of any format that meshio
        reads. Solid cells count where there are any, those with middle nodes with their curved sides.
    density : float > 0 [kg/m³]
    scale : float > 0
        Multiplies coordinates: 1e-3 for a drawing in millimetres. Without it, a warning is issued for a part longer
        than 5 m.

    Returns
    -------
    MassProperties

    Raises
    ------
    ParameterError
        No triangles, quadrilaterals or solid cells; a surface that is not closed or whose faces are not turned alike;
        no volume; a file that cannot be read.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> cube = fem.shapes.Box([2.0, 1.0, 1.0])
    >>> mass_of_mesh(fem.shapes.Mesh(cube.points, cube.faces), density=3.0)
    MassProperties(mass 6 kg, volume 2 m³, centre (0, 0, 0) m)
    """
    owner = Named("mass_of_mesh")
    density, scale = owner.positive("density", density, "kg/m³"), owner.positive("scale", scale)
    points, blocks = cells_of(owner, mesh)
    solid = [(kind, cells) for kind, cells in blocks if kind.rstrip("0123456789") in TETRAHEDRA]
    faces = ("triangle", "quad") if solid else ()  # of any order: they do not count
    other = [kind for kind, _ in blocks if kind.rstrip("0123456789") not in (*TETRAHEDRA, *faces)]
    other = [kind for kind in other if kind not in (*FLAT, *OTHERS)]
    other += [kind for kind, cells in solid if kind not in (*TETRAHEDRA, *CELLS) and not _straight(kind, points[cells])]
    why = "are types of cells that have no rule of volume here, or none with curved sides. Mesh the part with others"
    owner.check(not other, "mesh", ", ".join(other), why)
    used = np.unique(np.concatenate([np.zeros(0, np.int64), *(np.ravel(cells) for _, cells in blocks)]))
    origin = points[used].mean(axis=0)
    points = scale * (points - origin)
    of_file = Named("mass_of_mesh", Path(mesh).name) if isinstance(mesh, (str, Path)) else owner
    volume, first, second = _of_solids(points, solid) if solid else moments(_of_surface(of_file, points, blocks))
    extent = np.ptp(points[used], axis=0).max()
    if not solid and volume < 0.0:  # the faces look inwards
        volume, first, second = -volume, -first, -second
    owner.check(volume > 1e-12 * extent**3, "mesh", mesh, f"has a volume of {volume:.3g} m³")
    if isinstance(mesh, (str, Path)) and scale == 1.0 and not SMALL < extent < LARGE_UNSAID:
        text = (
            f"mass_of_mesh: '{mesh}' is {extent:.3g} m long. Is it in metres? Of a file in millimetres make a mesh by "
            'fem.read_mesh(path, units="mm"), or give scale=1e-3; units="m" says that it is in metres'
        )
        Warnings.issue(text)
    center = first / volume
    C = density * (second - volume * np.outer(center, center))
    inertia = np.trace(C) * np.eye(3) - C
    place = scale * origin + center
    place[np.abs(place) < ROUND_OFF * extent] = 0.0
    return MassProperties(volume, density, place, 0.5 * (inertia + inertia.T))


def surface_of(mesh: Any, scale: float, offset: np.ndarray, color: Any = None) -> Any:
    """Surface of a mesh as a shape, moved by ``offset`` (3,) [m] after scaling; None where it has none."""
    from fem_mbs import shapes

    points, blocks = cells_of(Named("surface_of"), mesh)
    solid = [(kind, cells) for kind, cells in blocks if kind.rstrip("0123456789") in TETRAHEDRA]
    faces = surface_faces(blocks)  # of solids often those of some groups alone
    if solid and all(kind in CELLS for kind, _ in solid):
        outer = outer_faces([(CELLS[kind], cells) for kind, cells in solid])
        faces = [np.concatenate([rows[:, corners] for corners in DRAWN[nn]]) for nn, rows in outer.items()]
    return shapes.Mesh(scale * points, faces, offset=offset, color=color) if faces else None


def surface_faces(blocks: Iterable[tuple[str, np.ndarray]]) -> list[np.ndarray]:
    """Triangles and quadrilaterals (k, 3 or 4) of the faces in blocks (kind, cells), those with middle nodes cut up."""
    flat = [(cells, FLAT[kind]) for kind, cells in blocks if kind in FLAT]
    return [cells if nn < 5 else cells[:, DRAWN[nn]].reshape(-1, 3) for cells, nn in flat]


def cells_of(owner: Checked, mesh: Any) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """Points (n, 3) and blocks (kind, cells) of what is given."""
    if hasattr(mesh, "faces") and hasattr(mesh, "points"):
        return np.asarray(mesh.points, float), [({3: "triangle", 4: "quad"}[f.shape[1]], f) for f in mesh.faces]
    if isinstance(mesh, Mesh):
        return np.asarray(mesh.points), list(mesh.cells.items())
    return cells_of(owner, mesh_of(owner, mesh, 1.0, "mesh"))


def _of_solids(points, solid):
    """Volume, first (3,) and second (3, 3) moments of solid cells."""
    found = []
    for kind, cells in solid:
        linear = kind.rstrip("0123456789")
        if kind in CELLS and kind != linear:
            found.append(_curved(points[cells], CELLS[kind].mass))
        else:
            found.append(moments(np.concatenate([_upright(points[cells[:, c]]) for c in TETRAHEDRA[linear]])))
    return [sum(parts) for parts in zip(*found)]


def _straight(kind, X):
    """Return True if all middle nodes of cells X (k, nn, 3) are means of two, four or all of their corners."""
    corners = X[:, : max(map(max, TETRAHEDRA[kind.rstrip("0123456789")])) + 1]
    n = corners.shape[1]
    chosen = [*combinations(range(n), 2), *combinations(range(n), 4), tuple(range(n))]
    means = np.stack([corners[:, list(rows)].mean(axis=1) for rows in chosen], axis=1)
    size = np.ptp(X, axis=1).max(axis=1)
    gaps = [np.abs(means - X[:, [k]]).max(axis=2).min(axis=1) for k in range(n, X.shape[1])]
    return all((gap <= 1e-6 * size).all() for gap in gaps)


def _upright(corners):
    """Tetrahedra (k, 4, 3) of positive volume: cells of other programs may be numbered the other way round."""
    edges = corners[:, 1:] - corners[:, :1]
    mirrored = np.einsum("ij,ij->i", edges[:, 2], np.cross(edges[:, 0], edges[:, 1])) < 0.0
    corners[mirrored] = corners[mirrored][:, [1, 0, 2, 3]]
    return corners


def _curved(X, rule):
    """Volume and moments of cells with nodes X (k, nn, 3)."""
    w = rule.volumes(X)
    w *= np.sign(w.sum(axis=1, keepdims=True))
    x = np.einsum("qa,kai->kqi", rule.shapes, X)
    return float(w.sum()), np.einsum("kq,kqi->i", w, x), np.einsum("kq,kqi,kqj->ij", w, x, x, optimize=True)


def closed_triangles(owner: Named, mesh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3), each once, and triangles (k, 3) of a closed surface; an open or inverted one raises an error."""
    points, blocks = cells_of(owner, mesh)
    faces = _closed(owner, points, blocks)
    span = max(np.ptp(points, axis=0).max(), 1e-300)
    _, first, number = np.unique(np.round(points / span, 9), axis=0, return_index=True, return_inverse=True)
    faces = number.reshape(-1)[faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    used, faces = np.unique(faces, return_inverse=True)
    return points[first[used]], faces.reshape(-1, 3)


def _of_surface(owner, points, blocks):
    """Corners (k, 4, 3) of the signed tetrahedra of a closed surface with the origin."""
    faces = _closed(owner, points, blocks)
    corners = np.zeros((len(faces), 4, 3))
    corners[:, 1:] = points[faces]
    return corners


def _closed(owner, points, blocks):
    """Triangles (k, 3) of a closed surface."""
    triangles = [cells[:, DRAWN[FLAT[kind]]].reshape(-1, 3) for kind, cells in blocks if kind in FLAT]
    names = ", ".join(sorted({kind for kind, _ in blocks})) or "nothing"
    owner.check(triangles, "mesh", names, "are its cells; triangles, quadrilaterals or solid cells are needed")
    faces = np.concatenate(triangles)
    _check_closed(owner, points, faces)
    return faces


def _check_closed(owner, points, faces):
    """Every edge belongs to two faces, which run through it in opposite directions; points are identified by
    position.
    """
    span = max(np.ptp(points, axis=0).max(), 1e-300)
    _, number = np.unique(np.round(points / span, 9), axis=0, return_inverse=True)
    faces = number.reshape(-1)[faces]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]  # slivers without an edge
    edges = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    signs = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    _, where, count = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    balance = np.bincount(where.reshape(-1), weights=signs)
    open_edges, turned = int((count % 2 == 1).sum()), int(((count % 2 == 0) & (balance != 0)).sum())
    owner.check(
        open_edges == 0,
        "mesh",
        open_edges,
        "edges have no face on one side: the surface is not closed. Close it where it was drawn",
    )
    message = (
        "edges are between faces that are turned differently: where is inside? Gmsh writes such files of parts made of "
        "volumes: write STEP there; other programs turn faces alike (trimesh: mesh.fix_normals())"
    )
    owner.check(turned == 0, "mesh", turned, message)


def moments(corners: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, first (3,) and second (3, 3) moments of tetrahedra (k, 4, 3) by (1)."""
    a, b, c = (corners[:, i] - corners[:, 0] for i in (1, 2, 3))
    V = np.einsum("ij,ij->i", np.cross(a, b), c) / 6.0
    s = corners.sum(axis=1)
    second = np.einsum("k,kia,kib->ab", V, corners, corners) + np.einsum("k,ka,kb->ab", V, s, s)
    return float(V.sum()), V @ s / 4.0, second / 20.0
