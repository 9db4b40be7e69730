"""Convex parts of bodies that are not convex: given, or cut by CoACD.

The parts of a body together are what contacts see of it. Their volume compared with that of the body is a measure of
the error: the hull of a part fills hollows,

    gained = (Σ V_part − V)/V                                                                                       (1)

and is negative where parts leave something out. Parts that overlap count twice.

Source: docs/theory/hulls.md, (5); Wei, Liu, Ling and Su, Approximate convex decomposition for 3D meshes with
collision-aware concavity and tree search, ACM Trans. Graph. 41 (2022).
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Keywords, Named
from fem_mbs.errors import FemMbsError, ParameterError, Warnings
from fem_mbs.mesh.mass import cells_of, closed_triangles, mass_of_mesh
from fem_mbs.mesh.polyhedra import Polyhedron, fault_of, overlap_of

SHARED = 1e-3  # of the volume: what parts have in common above it is a warning
REPORTED = 0.05  # of the volume: what is gained or lost above it is a warning


class ConvexParts:
    """Convex parts that together are a body.

    Also a closed surface, of all parts: `RigidBody.from_mesh` and `mass_of_mesh` take it.

    Attributes
    ----------
    parts : list of (n, 3) [m], points of each part
    volume : float [m³], sum over the parts
    mesh_volume : float [m³], of the mesh that was cut; that of the parts, where these were given
    gained : float, (1): part of the volume that the parts have more
    points, faces : surface of all parts
    """

    def __init__(self, parts: list[np.ndarray], mesh_volume: float | None = None) -> None:
        hulls = [Polyhedron(points) for points in parts]
        self.parts = [hull.points for hull in hulls]
        self.volume = sum(hull.volume for hull in hulls)
        self.mesh_volume = self.volume if mesh_volume is None else mesh_volume
        first = np.cumsum([0, *(len(hull.points) for hull in hulls)])
        self.points = np.concatenate(self.parts)
        self.faces = [np.concatenate([hull.triangles + k for hull, k in zip(hulls, first)])]

    @property
    def gained(self) -> float:
        return (self.volume - self.mesh_volume) / self.mesh_volume

    def __repr__(self):
        text = f"{len(self.parts)} parts, {len(self.points)} corners, volume {self.volume:.6g} m³"
        return f"ConvexParts({text}, {100 * self.gained:+.2g} % of that of the mesh)"


@Warnings.kept
@Keywords.known
def convex_parts(
    mesh: Any, *, most: int = 16, concavity: float = 0.05, corners: int = 32, seed: int = 0
) -> ConvexParts:
    """Cut a body into convex parts.

    Parameters
    ----------
    mesh : fem.Mesh, fem.shapes.Mesh, meshio.Mesh, path; or a list of parts
        A closed surface. A list of convex parts, each points (n, 3) [m] or a mesh of its own, is taken as it is. Of a
        `fem.Mesh` of which groups are the parts: ``[mesh.points[mesh.nodes_of(name)] for name in …]``.
    most : int > 0
        Parts at most.
    concavity : float in 0.01 … 1
        How far a part may be from its hull, over its size. Smaller: more parts.
    corners : int ≥ 4
        Of a part at most: contacts cost in proportion.
    seed : int ≥ 0, of the search

    Returns
    -------
    ConvexParts

    Raises
    ------
    ParameterError
        A surface that is not closed, parts without thickness, values out of range.
    FemMbsError
        The package coacd is not installed: says what to do.

    Notes
    -----
    A warning is issued if the volume of the parts differs from that of the mesh by 5 % or more, or if given parts
    overlap by more than 1e-3 of their volume.

    Examples
    --------
    >>> import fem_mbs as fem
    >>> bars = [fem.shapes.Box([0.3, 0.1, 0.1]), fem.shapes.Box([0.1, 0.1, 0.2], offset=[0.1, 0, 0.15])]
    >>> convex_parts(bars)
    ConvexParts(2 parts, 16 corners, volume 0.005 m³, +0 % of that of the mesh)
    """
    owner = Named("convex_parts")
    most, seed = owner.as_integer("most", most), owner.as_integer("seed", seed, at_least=0)
    corners = owner.as_integer("corners", corners, at_least=4)
    concavity = owner.number("concavity", concavity, at_least=0.01, at_most=1.0)
    if isinstance(mesh, (list, tuple)):
        return _given(owner, mesh)
    volume = mass_of_mesh(mesh, 1.0).volume
    points, faces = closed_triangles(owner, mesh)
    found = ConvexParts(_cut(points, faces, most, concavity, corners, seed), volume)
    if abs(found.gained) > REPORTED:
        text = (
            f"convex_parts: the {len(found.parts)} parts have {100 * abs(found.gained):.2g} % "
            f"{'more' if found.gained > 0 else 'less'} volume than the mesh; contacts see the parts. More of them "
            "(most), or a smaller concavity, come nearer"
        )
        Warnings.issue(text)
    return found


def _given(owner, parts):
    """Parts as they are given."""
    owner.check(len(parts) > 0, "mesh", parts, "has no parts")
    found = []
    for k, part in enumerate(parts):
        is_array = isinstance(part, (np.ndarray, list, tuple))
        points = owner.as_array("mesh", part, (None, 3)) if is_array else cells_of(owner, part)[0]
        fault = fault_of(points)
        if fault is not None:
            raise ParameterError(owner, "mesh", f"part {k} of {len(parts)}", f"is {len(points)} {fault}")
        found.append(points)
    parts = ConvexParts(found)
    common = overlap_of([Polyhedron(points) for points in parts.parts])
    if common > SHARED * parts.volume:
        text = (
            f"convex_parts: the parts have {common:.4g} m³ in common, {100 * common / parts.volume:.2g} % of their "
            "volume, which mass and inertia of RigidBody.from_mesh count twice. Let parts end at each other, or give "
            "RigidBody the mass and inertia of the body"
        )
        Warnings.issue(text)
    return parts


def _cut(points, faces, most, concavity, corners, seed):
    """Parts by CoACD, as their points."""
    try:
        import coacd
    except ImportError:
        message = (
            "convex_parts: cutting a mesh into convex parts needs the package coacd: pip install coacd (or "
            "fem_mbs[convex]). Or give the convex parts yourself, as a list"
        )
        raise FemMbsError(message) from None
    coacd.set_log_level("error")
    middle, size = points.mean(axis=0), np.ptp(points, axis=0).max()
    options = {"threshold": concavity, "max_convex_hull": most, "preprocess_mode": "auto", "seed": seed}
    options |= {"decimate": True, "max_ch_vertex": corners}
    found = coacd.run_coacd(coacd.Mesh((points - middle) / size, faces), **options)
    return [middle + size * np.asarray(vertices, float) for vertices, _ in found]
