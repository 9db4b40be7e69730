"""The skin of a system: everything that is drawn of it, moved all at once.

`Skin` collects the shapes of a whole system once - fixed connectivity - and gives the positions of all its points for
any configuration, without a Python loop over bodies. Beams are swept: their outline follows the helix between the
section frames A and B of each element (docs/theory/beams.md):

    ψ = log(R_Aᵀ R_B),   Γ L = T⁻ᵀ(ψ) R_Aᵀ (x_B − x_A),   R(s) = R_A exp(s ψ̃),   x(s) = x_A + s R_A T(s ψ)ᵀ Γ L      (1)

with s = 0 … 1 along the element: the picture is the interpolation the element computes with, not a spline.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.arguments import ArrayLike
from fem_mbs.nodes import Frame, Ground, Node
from fem_mbs.shapes import PALETTE, SHARP, color_of

if TYPE_CHECKING:
    from fem_mbs.system.system import System

KINDS = ("body", "beam", "contact", "joint", "spring")  # values 0, 1, … of the cell array "kind"
BODY, BEAM, CONTACT, JOINT, SPRING = range(5)
VERTEX, LINE, TRIANGLE, QUAD = 1, 3, 5, 9  # cell types of VTK
CORNERS = {VERTEX: 1, LINE: 2, TRIANGLE: 3, QUAD: 4}


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
    from scipy.spatial.transform import Rotation

    relative = np.swapaxes(R_A, -1, -2) @ R_B
    psi = Rotation.from_matrix(relative.reshape(-1, 3, 3)).as_rotvec().reshape(relative.shape[:-1])
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


class Skin:
    """Everything that is drawn of a system: points that follow nodes, beams and contacts, and cells that join them.

    Points come in three blocks: those fixed to nodes, those of beams, one for each contact.

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
    """

    ARRAYS = (
        "node", "offset", "ends", "end_offset", "end_rotation", "beam_element", "stations", "beam", "station",
        "section", "contact_element", "connectivity", "offsets", "types", "kind", "owner", "color", "edges",
        "joint_point", "joint_element",
    )  # fmt: skip

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> np.ndarray: ...

    def __init__(self, **arrays: ArrayLike) -> None:
        for name in self.ARRAYS:
            setattr(self, name, np.asarray(arrays[name]))
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
        return {name: getattr(self, name) for name in self.ARRAYS}

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
        return self.n_fixed + self.n_swept + self.n_contacts

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
            out[..., self.n_fixed + self.n_swept :, :] = contact_points
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

    @classmethod
    def of(cls, system: "System", stations: int | None = None) -> "Skin":
        """Skin of all elements of a `System`.

        ``stations``: outlines along each beam; default 5, less for thousands of beams.
        """
        return _Builder(system, stations).skin()


class _Builder:
    """Collects pictures of elements into the arrays of a `Skin`."""

    def __init__(self, system: "System", stations: int | None) -> None:
        self.node, self.offset, self.fixed_cells, self.fixed_edges = [], [], [], []
        self.beams, self.outlines, self.beam_elements = [], [], []
        self.joints, self.bodies, self.n_fixed = [], {}, 0
        number = {id(element): index for index, element in enumerate(system.elements)}
        self.contacts = [number[id(element)] for element in system.contacts]  # in the order of contact results
        for index, element in enumerate(system.elements):
            self.add(index, element)
        for group in getattr(system.model, "contact_groups", ()):
            for node, shape in group.picture():
                self.add_shape(-1, node, shape)
        count = len(self.beams)
        self.stations = np.linspace(0, 1, stations or (5 if count < 500 else 3 if count < 5000 else 2))

    def add(self, index: int, element: Any) -> None:
        """Take in one element: its picture, and a point or a line by its role."""
        for where, what in element.picture():
            if isinstance(where, Node):
                self.add_shape(index, where, what)
            else:
                self.beams.append((where.frame_A, where.frame_B))
                self.outlines.append(np.asarray(what, float))
                self.beam_elements.append(index)
        frames = [
            f for f in (getattr(element, "frame_P", None), getattr(element, "frame_Q", None)) if isinstance(f, Frame)
        ]
        if element.role == "constraint" and frames:
            self.joints.append((self.n_fixed, index))
            self.add_points(index, frames[:1], JOINT, VERTEX)
        elif element.role == "dynamic" and len(frames) == 2:
            self.add_points(index, frames, SPRING, LINE)

    def add_shape(self, index: int, node: Node, shape: Any) -> None:
        n = node.index
        if shape.color is not None:
            rgb = shape.color
        elif isinstance(node, Ground):
            rgb = color_of(shape, "grey")
        else:
            rgb = color_of(shape, PALETTE[self.bodies.setdefault(n, len(self.bodies)) % len(PALETTE)])
        for block in shape.faces:
            cell = TRIANGLE if block.shape[1] == 3 else QUAD
            self.fixed_cells.append((block + self.n_fixed, cell, BODY, index, rgb))
        self.fixed_edges.append(shape.edges + self.n_fixed)
        self.node.append(np.full(len(shape.points), n))
        self.offset.append(shape.points)
        self.n_fixed += len(shape.points)

    def add_points(self, index: int, frames: list[Frame], kind: int, cell: int) -> None:
        numbers = self.n_fixed + np.arange(len(frames))[None]
        self.fixed_cells.append((numbers, cell, kind, index, np.array([0.25, 0.27, 0.3])))
        self.node.append(np.array([frame.node.index for frame in frames]))
        self.offset.append(np.array([frame.p for frame in frames]))
        self.n_fixed += len(frames)

    def skin(self) -> Skin:
        """The skin of all that was taken in."""
        beams, edges, beam, station, section = self._sweep()
        cells = self.fixed_cells + beams
        first, red = self.n_fixed + sum(map(len, beam)), color_of(None, "red")
        for c, index in enumerate(self.contacts):
            cells.append((np.array([[first + c]]), VERTEX, CONTACT, index, red))
        frames = [frame for pair in self.beams for frame in pair]
        return Skin(
            node=_joined(self.node, 0, np.int64),
            offset=_joined(self.offset, (0, 3)),
            ends=np.array([f.node.index for f in frames], np.int64).reshape(-1, 2),
            end_offset=np.array([f.p for f in frames], float).reshape(-1, 2, 3),
            end_rotation=np.array([f.rotation for f in frames], float).reshape(-1, 2, 3, 3),
            beam_element=np.array(self.beam_elements, np.int64),
            stations=self.stations,
            beam=_joined(beam, 0, np.int64),
            station=_joined(station, 0, np.int64),
            section=_joined(section, (0, 2)),
            contact_element=np.array(self.contacts, np.int64),
            edges=_joined(self.fixed_edges + edges, (0, 2), np.int64),
            joint_point=np.array([p for p, _ in self.joints], np.int64),
            joint_element=np.array([e for _, e in self.joints], np.int64),
            **_cell_arrays(cells),
        )

    def _sweep(self):
        """Cells and edges of all beams; of their points the beams, stations and places in the section, beam by beam."""
        cells, edges, beam, station, section = [], [], [], [], []
        used = Counter(frame.node.index for pair in self.beams for frame in pair)
        first, S, rgb = self.n_fixed, len(self.stations), color_of(None, "blue")
        for b, outline in enumerate(self.outlines):
            n = len(outline)
            beam.append(np.full(S * n, b))
            station.append(np.repeat(np.arange(S), n))
            section.append(np.tile(outline, (S, 1)))
            i, j = np.meshgrid(np.arange(S - 1), np.arange(n), indexing="ij")
            k, at = (j + 1) % n, first + i * n
            sides = np.stack([at + j, at + k, at + n + k, at + n + j], axis=-1).reshape(-1, 4)
            cap = triangulate(outline)
            caps = np.vstack([first + cap[:, ::-1], first + (S - 1) * n + cap])
            cells += [
                (caps, TRIANGLE, BEAM, self.beam_elements[b], rgb),
                (sides, QUAD, BEAM, self.beam_elements[b], rgb),
            ]
            corner = np.flatnonzero(_corners(outline))
            line = first + corner[:, None] + n * np.arange(S)
            edges.append(np.stack([line[:, :-1].ravel(), line[:, 1:].ravel()], axis=1))
            rim = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
            edges += [
                at + rim
                for frame, at in zip(self.beams[b], (first, first + (S - 1) * n))
                if used[frame.node.index] == 1  # where a line of beams ends
            ]
            first += S * n
        return cells, edges, beam, station, section


def _joined(parts, shape, dtype=float):
    """Arrays put together along the first axis; ``shape`` of the array that none give."""
    return np.concatenate([np.zeros(shape, dtype), *parts]).astype(dtype)


def _cell_arrays(cells):
    """The arrays of a `Skin` that have its cells, from blocks (point numbers, type, kind, element, colour)."""
    counts = [len(block) for block, *_ in cells]
    corners = np.repeat([block.shape[1] for block, *_ in cells], counts).astype(np.int64)

    def per_cell(i, dtype):
        return np.repeat([cell[i] for cell in cells], counts).astype(dtype)

    return {
        "connectivity": _joined([block.ravel() for block, *_ in cells], 0, np.int64),
        "offsets": np.concatenate([[0], np.cumsum(corners)]).astype(np.int64),
        "types": per_cell(1, np.uint8),
        "kind": per_cell(2, np.int8),
        "owner": per_cell(3, np.int32),
        "color": _joined(
            [np.tile(np.round(255 * cell[4]), (n, 1)) for cell, n in zip(cells, counts)], (0, 3), np.uint8
        ),
    }


def _corners(outline):
    """True (k,) where a polygon (k, 2) turns by more than 30°."""
    before, after = outline - np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0) - outline
    cosine = np.einsum("ij,ij->i", before, after)
    return cosine < SHARP * np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
