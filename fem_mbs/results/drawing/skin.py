"""The skin of a system: everything that is drawn of it, moved all at once.

`Skin` collects the shapes of a whole system once - fixed connectivity - and gives the positions of all its points for
any configuration, without a Python loop over bodies. Beams are swept: their outline follows the helix between the
section frames A and B of each element (docs/theory/beams.md):

    ψ = log(R_Aᵀ R_B),   Γ L = T⁻ᵀ(ψ) R_Aᵀ (x_B − x_A),   R(s) = R_A exp(s ψ̃),   x(s) = x_A + s R_A T(s ψ)ᵀ Γ L      (1)

with s = 0 … 1 along the element: the picture is the interpolation the element computes with, not a spline.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.arguments.checked import ArrayLike
from fem_mbs.mesh.cells import CELLS, DRAWN
from fem_mbs.rotations import log
from fem_mbs.stresses.reduced_parts import ReducedParts
from fem_mbs.stresses.shell_arrays import Shells
from fem_mbs.stresses.solid_stress import Solids

# values 0, 1, … of the cell array "kind"
KINDS = ("body", "beam", "contact", "joint", "spring", "span", "solid", "shell")
BODY, BEAM, CONTACT, JOINT, SPRING, SPAN, SOLID, SHELL = range(8)
VERTEX, LINE, TRIANGLE, QUAD = 1, 3, 5, 9  # cell types of VTK
CORNERS = {VERTEX: 1, LINE: 2, TRIANGLE: 3, QUAD: 4} | {cell.vtk: cell.nn for cell in CELLS.values()}
# outlines of faces of so many nodes
RIMS = {3: [0, 1, 2], 4: [0, 1, 2, 3], 6: [0, 3, 1, 4, 2, 5], 8: [0, 4, 1, 5, 2, 6, 3, 7]}


def triangulate(outline: ArrayLike) -> np.ndarray:
    """Triangles (k − 2, 3) of a simple polygon (k, 2), counter-clockwise; cuts off one ear after another."""
    return _triangles(np.ascontiguousarray(outline, float).tobytes())


@functools.lru_cache(maxsize=64)
def _triangles(outline):
    """`triangulate` of an outline given as bytes: thousands of beams share a few outlines."""
    outline = np.frombuffer(outline).reshape(-1, 2)
    y, z = outline.T
    area = np.dot(y, np.roll(z, -1)) - np.dot(z, np.roll(y, -1))
    left = list(range(len(outline))) if area > 0 else list(range(len(outline)))[::-1]

    def turn(a, b, c):
        u, v = outline[b] - outline[a], outline[c] - outline[a]
        return u[0] * v[1] - u[1] * v[0]

    triangles = []
    while len(left) > 3:
        for i in range(len(left)):
            a, b, c = left[i - 1], left[i], left[(i + 1) % len(left)]
            inside = (
                turn(a, b, p) >= 0 and turn(b, c, p) >= 0 and turn(c, a, p) >= 0 for p in left if p not in (a, b, c)
            )
            if turn(a, b, c) > 0 and not any(inside):
                break
        else:  # only degenerate corners are left (repeated or collinear points)
            i = 0
            a, b, c = left[-1], left[0], left[1]
        triangles.append((a, b, c))
        del left[i]
    triangles.append(tuple(left))
    return np.array(triangles)


def skews(a: ArrayLike) -> np.ndarray:
    """Cross-product matrices (…, 3, 3) of vectors (…, 3)."""
    x, y, z = np.moveaxis(np.asarray(a, float), -1, 0)
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*x.shape, 3, 3)


def _runs(values):
    """First and last + 1 of each run of equal neighbours."""
    values = np.asarray(values)
    if not len(values):
        return []
    cuts = np.flatnonzero(np.diff(values)) + 1
    return list(zip([0, *cuts.tolist()], [*cuts.tolist(), len(values)]))


def helix(
    x_A: np.ndarray, R_A: np.ndarray, x_B: np.ndarray, R_B: np.ndarray, s: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (…, S, 3) and rotations (…, S, 3, 3) at s (S,) of the helices (1) between poses (…, 3), (…, 3, 3)."""
    psi = log(np.swapaxes(R_A, -1, -2) @ R_B)
    theta = np.linalg.norm(psi, axis=-1)[..., None]
    # k = (1 − θ/2 cot θ/2)/θ² of T⁻¹; its series where the closed form would cancel (error 1e-13 at θ = 1e-2)
    small = theta < 1e-2
    safe = np.where(small, 1.0, theta)
    k = np.where(small, 1 / 12 + theta**2 / 720, (1 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    u = np.einsum("...ji,...j->...i", R_A, x_B - x_A)
    psi_u = np.cross(psi, u)
    gamma = u - 0.5 * psi_u + k * np.cross(psi, psi_u)  # Γ L = T⁻ᵀ u
    s = np.asarray(s, float)[:, None]
    theta, psi, gamma = theta[..., None, :] * s, psi[..., None, :] * s, gamma[..., None, :] * s
    small = theta < 1e-2
    safe = np.where(small, 1.0, theta)
    c1 = np.where(small, 1 - theta**2 / 6, np.sin(safe) / safe)
    c2 = np.where(small, 0.5 - theta**2 / 24, (1 - np.cos(safe)) / safe**2)
    c3 = np.where(small, 1 / 6 - theta**2 / 120, (safe - np.sin(safe)) / safe**3)
    psi_g = np.cross(psi, gamma)
    way = gamma + c2 * psi_g + c3 * np.cross(psi, psi_g)  # T(sψ)ᵀ s Γ L
    x = x_A[..., None, :] + way @ np.swapaxes(R_A, -1, -2)
    # exp(ψ̃) = I + c_1 ψ̃ + c_2 ψ̃², column by column
    columns = []
    for axis in np.eye(3):
        first = np.cross(psi, axis)
        columns.append(axis + c1 * first + c2 * np.cross(psi, first))
    return x, R_A[..., None, :, :] @ np.stack(columns, axis=-1)


def tangent_offsets(d: np.ndarray, axis: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """From centres of pulleys to where straight spans touch them.

    With u along the span and the axis a, a pulley that is run round counter-clockwise is touched at ρ u×a from its
    centre, and the span from the first to the second has no component along u×a:

        d·(u×a) = ρ_1 − ρ_2,   u×a = sin θ e − cos θ a×e,   sin θ = (ρ_1 − ρ_2)/|d|                                (2)

    Parameters
    ----------
    d, axis : (…, n, 3) [m]
        From the first centre to the second; unit vectors of the axes. What d has along the axis is left out.
    radii : (n, 2) [m]
        Of both pulleys, signed as in `Element.drawn_spans`.

    Returns
    -------
    (…, n, 2, 3) [m]
    """
    d = d - np.einsum("...i,...i->...", d, axis)[..., None] * axis
    length = np.linalg.norm(d, axis=-1, keepdims=True)
    e = d / np.where(length > 0.0, length, 1.0)
    sine = np.clip((radii[:, :1] - radii[:, 1:]) / np.where(length > 0.0, length, 1.0), -1.0, 1.0)
    normal = sine * e - np.sqrt(1.0 - sine**2) * np.cross(axis, e)
    return radii[..., None] * normal[..., None, :]


class Skin:
    """Everything that is drawn of a system: points that follow nodes, beams and contacts, and cells that join them.

    `fem_mbs.results.drawing.sketch.Sketch` makes it of a `System`.

    Points come in four blocks: those fixed to nodes, those of beams, one for each contact, those of reduced bodies.

    Attributes
    ----------
    node, offset : (n_fixed,), (n_fixed, 3) [m]
        Node that carries a point, and the point in the axes of that node.
    ends, end_offset, end_rotation : (n_beams, 2), (n_beams, 2, 3) [m], (n_beams, 2, 3, 3)
        Nodes of each beam and its section frames A, B in node axes; ``beam_element`` (n_beams,) numbers the elements.
    stations : (S,)
        Places s = 0 … 1 along a beam where its outline is put.
    beam, station, section : (n_swept,), (n_swept,), (n_swept, 2) [m]
        Beam and station of a swept point, and its place (y2, y3) in the section.
    n_contacts : int
    connectivity, offsets, types : cells as in VTK; kind, owner, color : per cell: `KINDS`, element number, (…, 3) uint8
    edges : (m, 2)
        Point numbers of the lines drawn on surfaces.
    joint_point, joint_element : (n_joints,)
        Points of joints, and their elements.
    span_point, span_radii : (n_spans, 2), (n_spans, 2) [m]
        Points at the ends of straight spans of belts and cables, fixed to nodes at the centres of pulleys and drawn
        where the span touches these; signed radii. Their velocities are those of the centres.
    span_node, span_axis : (n_spans,), (n_spans, 3)
        Axes of the pulleys, in axes of a node.
    solids : Solids
        Solid elements. Their nodes are the last points of the first block, in the order of ``solids.nodes``.
    shells : Shells
        Shell elements. Their points come before those of solids, in the order of ``shells.node``.
    reduced : ReducedParts
        Reduced flexible bodies, with points of the last block.
    """

    ARRAYS = (
        "node", "offset", "ends", "end_offset", "end_rotation", "beam_element", "stations", "beam", "station",
        "section", "contact_element", "connectivity", "offsets", "types", "kind", "owner", "color", "edges",
        "joint_point", "joint_element", "span_point", "span_radii", "span_node", "span_axis",
    )  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> np.ndarray: ...

    SOLID_ARRAYS = tuple(f"solid_{name}" for name in Solids.ARRAYS)  # older files have none
    SHELL_ARRAYS = tuple(f"shell_{name}" for name in Shells.ARRAYS)  # the same
    REDUCED_ARRAYS = tuple(f"reduced_{name}" for name in (*ReducedParts.ARRAYS, *ReducedParts.CELLS))  # the same

    def __init__(self, **arrays: ArrayLike) -> None:
        for name in self.ARRAYS:
            setattr(self, name, np.asarray(arrays[name]))
        given = {name.removeprefix("solid_"): arrays[name] for name in self.SOLID_ARRAYS if name in arrays}
        self.solids = Solids(**given)
        given = {name.removeprefix("shell_"): arrays[name] for name in self.SHELL_ARRAYS if name in arrays}
        self.shells = Shells(**given)
        given = {name.removeprefix("reduced_"): arrays[name] for name in self.REDUCED_ARRAYS if name in arrays}
        self.reduced = ReducedParts(**given)
        self._blocks = _runs(self.node)
        counts = np.bincount(self.beam, minlength=len(self.ends)) // max(len(self.stations), 1)
        self._sweeps, at = [], self.n_fixed
        for first, last in _runs(counts):
            n, S = int(counts[first]), len(self.stations)
            size = (last - first) * S * n
            outline = self.section[at - self.n_fixed :][:size].reshape(last - first, S, n, 2)[:, :1]
            self._sweeps.append((slice(first, last), slice(at, at + size), outline))
            at += size

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name: what `Skin(**arrays)` needs to make an equal skin."""
        solids = {f"solid_{name}": array for name, array in self.solids.arrays().items()} if len(self.solids) else {}
        reduced = {f"reduced_{name}": array for name, array in self.reduced.arrays().items()} if self.reduced else {}
        shells = {f"shell_{name}": array for name, array in self.shells.arrays().items()} if len(self.shells) else {}
        return {name: getattr(self, name) for name in self.ARRAYS} | solids | shells | reduced

    @property
    def solid_points(self) -> slice:
        """Points that are nodes of solids."""
        return slice(self.n_fixed - len(self.solids.nodes), self.n_fixed)

    @property
    def shell_points(self) -> slice:
        """Points on the bottoms and tops of shells."""
        return slice(self.solid_points.start - len(self.shells.node), self.solid_points.start)

    @property
    def contact_points(self) -> slice:
        """Points of contacts."""
        first = self.n_fixed + self.n_swept
        return slice(first, first + self.n_contacts)

    @property
    def reduced_points(self) -> slice:
        """Points of reduced bodies."""
        return slice(self.contact_points.stop, self.n_points)

    @functools.cached_property
    def solid_surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Triangles (k, 3) and lines (m, 2) that draw the outer faces of solids and shells, numbers of points."""
        triangles, lines = [np.zeros((0, 3), np.int64)], [np.zeros((0, 2), np.int64)]
        faces = [
            (nn, self.solid_points.start + np.searchsorted(self.solids.nodes, nodes))
            for nn, nodes in self.solids.boundary().items()
        ]
        faces += [(nn, self.shell_points.start + points) for nn, points in self.shells.boundary().items()]
        first = self.reduced_points.start
        faces += [(nn, first + points) for nn, points in self.reduced.solids.boundary().items()]
        triangles.append(first + self.reduced.triangles)
        for nn, rows in faces:
            triangles += [rows[:, corners] for corners in DRAWN[nn]]
            rim = rows[:, RIMS[nn]]
            lines.append(np.stack([rim, np.roll(rim, -1, axis=1)], axis=2).reshape(-1, 2))
        return np.concatenate(triangles), np.unique(np.sort(np.concatenate(lines), axis=1), axis=0)

    @property
    def n_fixed(self) -> int:
        return len(self.node)

    @property
    def n_swept(self) -> int:
        return len(self.beam)

    @property
    def n_contacts(self) -> int:
        return len(self.contact_element)

    @property
    def n_points(self) -> int:
        return self.n_fixed + self.n_swept + self.n_contacts + len(self.reduced)

    def points(self, x: np.ndarray, R: np.ndarray, contact_points: np.ndarray | None = None) -> np.ndarray:
        """Positions of all points.

        Parameters
        ----------
        x : (…, n_nodes, 3) [m], inertial axes
        R : (…, n_nodes, 3, 3)
        contact_points : (…, n_contacts, 3) [m], optional
            Default: the origin.

        Returns
        -------
        (…, n_points, 3) [m], inertial axes
        """
        x, R = np.asarray(x), np.asarray(R)
        out = np.zeros((*x.shape[:-2], self.n_points, 3))
        self._carry(x, R, out)
        if len(self.span_point):
            first, second = self.span_point.T
            axis = np.einsum("...nij,nj->...ni", R[..., self.span_node, :, :], self.span_axis)
            offsets = tangent_offsets(out[..., second, :] - out[..., first, :], axis, self.span_radii)
            out[..., self.span_point, :] += offsets
        if self.n_swept:
            A, B = self.ends.T
            x_A, x_B = (
                x[..., N, :] + np.einsum("...bij,bj->...bi", R[..., N, :, :], self.end_offset[:, end])
                for end, N in enumerate((A, B))
            )
            R_A, R_B = R[..., A, :, :] @ self.end_rotation[:, 0], R[..., B, :, :] @ self.end_rotation[:, 1]
            axis, triad = helix(x_A, R_A, x_B, R_B, self.stations)
            across = np.swapaxes(triad, -1, -2)[..., 1:, :]
            for beams, where, outline in self._sweeps:
                swept = axis[..., beams, :, None, :] + outline @ across[..., beams, :, :, :]
                out[..., where, :] = swept.reshape(*x.shape[:-2], -1, 3)
        if contact_points is not None:
            out[..., self.contact_points, :] = contact_points
        if self.reduced:
            out[..., self.reduced_points, :] = self.reduced.points(x, R)
        return out

    def _carry(self, x, A, out):
        """Fill the points fixed to nodes with x + A p; x (…, n_nodes, 3), A (…, n_nodes, 3, 3)."""
        AT = np.swapaxes(A, -1, -2)
        for first, last in self._blocks:
            node = self.node[first]
            out[..., first:last, :] = self.offset[first:last] @ AT[..., node, :, :]
            out[..., first:last, :] += x[..., node, None, :]

    def velocities(self, points: np.ndarray, x: np.ndarray, R: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Velocities (…, n_points, 3) [m/s] of points; x, R as in `points`, v (…, n_nodes, 3) inertial, w body axes.

        Along a beam the motions of its two ends are blended linearly; contact points get zero.
        """
        out = np.zeros(points.shape)
        self._carry(v, R @ skews(w), out)
        if self.n_swept:
            # ω × (X − x) + v of both ends, weighted; X on the beam
            spin = np.einsum("...ij,...j->...i", R, w)
            still = v - np.cross(spin, x)
            s = self.stations[:, None]
            A, B = self.ends.T
            spin, still = ((1 - s) * u[..., A, None, :] + s * u[..., B, None, :] for u in (spin, still))
            turn = np.swapaxes(skews(spin), -1, -2)
            for beams, where, outline in self._sweeps:
                shape = (*still[..., beams, :, :].shape[:-1], outline.shape[2], 3)
                swept = points[..., where, :].reshape(shape) @ turn[..., beams, :, :, :]
                out[..., where, :] = (swept + still[..., beams, :, None, :]).reshape(*points.shape[:-2], -1, 3)
        if self.reduced:
            recovered = points[..., self.reduced_points, :]
            out[..., self.reduced_points, :] = self.reduced.velocities(recovered, x, R, v, w)
        return out

    def along_beams(self, at_A: np.ndarray, at_B: np.ndarray) -> np.ndarray:
        """Values (…, n_points, c): linear between values at the ends of each beam (…, n_beams, c), zero elsewhere."""
        out = np.zeros((*at_A.shape[:-2], self.n_points, at_A.shape[-1]))
        s = self.stations[self.station][:, None]
        values = (1 - s) * at_A[..., self.beam, :] + s * at_B[..., self.beam, :]
        out[..., self.n_fixed : self.n_fixed + self.n_swept, :] = values
        return out

    def faces(self, kinds: Sequence[int]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Triangles (a, 3) and quadrilaterals (b, 4) of given kinds, and the colours (a, 3), (b, 3) of both."""
        start, wanted = self.offsets[:-1], np.isin(self.kind, kinds)
        result = []
        for cell in (TRIANGLE, QUAD):
            chosen = wanted & (self.types == cell)
            rows = self.connectivity[start[chosen][:, None] + np.arange(CORNERS[cell])]
            result.append((rows, self.color[chosen]))
        return result

    def cells(self, kind: int, cell: int) -> np.ndarray:
        """Point numbers (k, corners) of the cells of one kind and one VTK type."""
        chosen = (self.kind == kind) & (self.types == cell)
        return self.connectivity[self.offsets[:-1][chosen][:, None] + np.arange(CORNERS[cell])]
