"""Sketch: what is to be drawn of a system, from which the arrays of its `Skin` are made when somebody looks."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.nodes import Frame, Ground, Node
from fem_mbs.results.drawing.skin import (
    BEAM,
    BODY,
    CONTACT,
    JOINT,
    LINE,
    QUAD,
    SHELL,
    SOLID,
    SPAN,
    SPRING,
    TRIANGLE,
    VERTEX,
    Skin,
    triangulate,
)
from fem_mbs.shapes import PALETTE, SHARP, color_of
from fem_mbs.stresses.reduced_parts import ReducedParts
from fem_mbs.stresses.shell_arrays import Shells
from fem_mbs.stresses.solid_stress import Solids

if TYPE_CHECKING:
    from fem_mbs.system.compiled import CompiledSystem

PALETTE_RGB = [color_of(None, color) for color in PALETTE]
INK = np.array([0.25, 0.27, 0.3])  # of joints and springs


class Sketch:
    """Shapes and places of all that is drawn of a `System`, as they are now.

    It holds the shapes that the elements have anyway, and numbers: thousands of spheres need megabytes here and
    hundreds of them as a `Skin`, which a run in memory that nobody draws does without.

    Parameters
    ----------
    system : System
    stations : int, optional
        Outlines along each beam; default 5, less for thousands of beams.
    """

    def __init__(self, system: "CompiledSystem", stations: int | None = None) -> None:
        self.fixed = []  # (element, node number, shape, colour), or (element, [(node number, place)], kind, cell)
        self.beams, self.outlines, self.beam_elements = [], [], []
        self.bodies, self.spans = {}, []
        ours = {id(element) for element in system.contacts}
        number = {id(element): index for index, element in enumerate(system.elements) if id(element) in ours}
        self.contacts = [number[id(element)] for element in system.contacts]  # in the order of contact results
        meshed = {}  # elements that are drawn together
        for index, element in enumerate(system.elements):
            if element.cell is not None or element.node_directors is not None:
                meshed[id(element)] = index
            else:
                self.add(index, element)
        self.solids = Solids.of(system.groups, meshed)
        self.shells = Shells.of(system.groups, meshed)
        reduced = [(k, element) for k, element in enumerate(system.elements) if element.reduction is not None]
        self.reduced = ReducedParts.of(reduced)
        for group in system.model.contact_groups:
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
                ends = (where.frame_A, where.frame_B)
                self.beams.append([(f.node.index, np.array(f.p), np.array(f.rotation)) for f in ends])
                self.outlines.append(np.array(what, float))
                self.beam_elements.append(index)
        frames = [frame for frame in (element.frame_P, element.frame_Q) if isinstance(frame, Frame)]
        if element.role == "constraint" and frames:
            self.add_points(index, frames[:1], JOINT, VERTEX)
        spans = element.drawn_spans()
        if spans is None and element.role == "dynamic" and len(frames) == 2:
            self.add_points(index, frames, SPRING, LINE)
        for first, second, radii, axis in spans or ():
            self.add_points(index, [first, second], SPAN, LINE)
            self.spans.append((radii, axis.node.index, np.array(axis.rotation[:, 2])))

    def add_shape(self, index: int, node: Node, shape: Any) -> None:
        n = node.index
        if shape.color is not None:
            rgb = shape.color
        elif isinstance(node, Ground):
            rgb = color_of(shape, "grey")
        else:
            rgb = PALETTE_RGB[self.bodies.setdefault(n, len(self.bodies)) % len(PALETTE_RGB)]
        self.fixed.append((index, n, shape, rgb))

    def add_points(self, index: int, frames: list[Frame], kind: int, cell: int) -> None:
        self.fixed.append((index, [(frame.node.index, np.array(frame.p)) for frame in frames], kind, cell))

    def skin(self) -> Skin:
        """The skin of all that was taken in."""
        node, offset, cells, fixed_edges, joints, spans = self._fixed()
        first = sum(map(len, node))
        node.append(self.shells.node)
        offset.append(self.shells.offset)
        cells += self._shell_cells(first)
        first += len(self.shells.node)
        node.append(self.solids.nodes)
        offset.append(np.zeros((len(self.solids.nodes), 3)))
        cells += self._solid_cells(first)
        first += len(self.solids.nodes)
        swept, edges, beam, station, section = self._sweep(first)
        cells += swept
        first, red = first + sum(map(len, beam)), color_of(None, "red")
        for c, index in enumerate(self.contacts):
            cells.append((np.array([[first + c]]), VERTEX, CONTACT, index, red))
        cells += self._reduced_cells(first + len(self.contacts))
        ends = [end for pair in self.beams for end in pair]
        return Skin(
            node=_joined(node, 0, np.int64),
            offset=_joined(offset, (0, 3)),
            ends=np.array([n for n, _, _ in ends], np.int64).reshape(-1, 2),
            end_offset=np.array([p for _, p, _ in ends], float).reshape(-1, 2, 3),
            end_rotation=np.array([R for _, _, R in ends], float).reshape(-1, 2, 3, 3),
            beam_element=np.array(self.beam_elements, np.int64),
            stations=self.stations,
            beam=_joined(beam, 0, np.int64),
            station=_joined(station, 0, np.int64),
            section=_joined(section, (0, 2)),
            contact_element=np.array(self.contacts, np.int64),
            edges=_joined(fixed_edges + edges, (0, 2), np.int64),
            joint_point=np.array([p for p, _ in joints], np.int64),
            joint_element=np.array([e for _, e in joints], np.int64),
            span_point=np.array(spans, np.int64).reshape(-1, 2),
            span_radii=np.array([radii for radii, _, _ in self.spans], float).reshape(-1, 2),
            span_node=np.array([n for _, n, _ in self.spans], np.int64),
            span_axis=np.array([axis for _, _, axis in self.spans], float).reshape(-1, 3),
            **_cell_arrays(cells),
            **{f"solid_{name}": array for name, array in self.solids.arrays().items()},
            **{f"shell_{name}": array for name, array in self.shells.arrays().items()},
            **{f"reduced_{name}": array for name, array in self.reduced.arrays().items()},
        )

    def _shell_cells(self, first):
        """Cells of shells, whose points are those from number ``first`` on."""
        cells, shells = [], self.shells
        for (cell, points), rows in zip(shells.cells, shells.rows):
            rgb = np.array(PALETTE_RGB)[shells.color[rows] % len(PALETTE_RGB)]
            cells.append((first + points, cell.vtk, SHELL, shells.owner[rows], rgb))
        return cells

    def _solid_cells(self, first):
        """Cells of solids, whose nodes are points from number ``first`` on."""
        nodes = self.solids.nodes
        return _cells_of(self.solids, lambda numbers: first + np.searchsorted(nodes, numbers))

    def _reduced_cells(self, first):
        """Cells of reduced bodies, whose points are those from number ``first`` on."""
        part = self.reduced
        cells = _cells_of(part.solids, lambda numbers: first + numbers)
        if len(part.triangles):
            number = part.part_of[part.triangles[:, 0]]
            rgb = np.array(PALETTE_RGB)[number % len(PALETTE_RGB)]
            cells.append((first + part.triangles, TRIANGLE, SOLID, part.sizes[number, 3], rgb))
        return cells

    def _fixed(self):
        """Nodes and places of the points fixed to nodes, their cells and edges, and the points of joints and spans."""
        node, offset, cells, edges, joints, spans, first = [], [], [], [], [], [], 0
        for index, where, what, how in self.fixed:
            if isinstance(where, list):
                points, numbers = np.array([p for _, p in where]), first + np.arange(len(where))[None]
                node.append(np.array([n for n, _ in where]))
                cells.append((numbers, how, what, index, INK))
                if what == JOINT:
                    joints.append((first, index))
                elif what == SPAN:
                    spans.append((first, first + 1))
            else:
                points = what.points
                node.append(np.full(len(points), where))
                for block in what.faces:
                    cell = TRIANGLE if block.shape[1] == 3 else QUAD
                    cells.append((block + first, cell, BODY, index, how))
                edges.append(what.edges + first)
            offset.append(points)
            first += len(points)
        return node, offset, cells, edges, joints, spans

    def _sweep(self, first):
        """Cells and edges of all beams; of their points, numbered from ``first``, the beams, stations and places in the
        section, beam by beam."""
        cells, edges, beam, station, section = [], [], [], [], []
        used = Counter(n for pair in self.beams for n, _, _ in pair)
        S, rgb = len(self.stations), color_of(None, "blue")
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
                for (n_end, _, _), at in zip(self.beams[b], (first, first + (S - 1) * n))
                if used[n_end] == 1  # where a line of beams ends
            ]
            first += S * n
        return cells, edges, beam, station, section


def _joined(parts, shape, dtype=float):
    """Arrays put together along the first axis; ``shape`` of the array that none give."""
    return np.concatenate([np.zeros(shape, dtype), *parts]).astype(dtype)


def _cell_arrays(cells):
    """The arrays of a `Skin` that have its cells, from blocks (point numbers, type, kind, element, colour).

    Element and colour are those of all cells of a block, or one for each.
    """
    counts = [len(block) for block, *_ in cells]
    corners = np.repeat([block.shape[1] for block, *_ in cells], counts).astype(np.int64)

    def per_cell(i, dtype):
        parts = [np.broadcast_to(cell[i], count) for cell, count in zip(cells, counts)]
        return _joined(parts, 0, dtype)

    return {
        "connectivity": _joined([block.ravel() for block, *_ in cells], 0, np.int64),
        "offsets": np.concatenate([[0], np.cumsum(corners)]).astype(np.int64),
        "types": per_cell(1, np.uint8),
        "kind": per_cell(2, np.int8),
        "owner": per_cell(3, np.int32),
        "color": _joined(
            [np.broadcast_to(np.round(255 * cell[4]), (n, 3)) for cell, n in zip(cells, counts)], (0, 3), np.uint8
        ),
    }


def _corners(outline):
    """True (k,) where a polygon (k, 2) turns by more than 30°."""
    before, after = outline - np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0) - outline
    cosine = np.einsum("ij,ij->i", before, after)
    return cosine < SHARP * np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)


def _cells_of(solids, numbered):
    """Cells of `Solids`, with points by ``numbered(nodes)``."""
    cells = []
    for block, rows in zip(solids.blocks, solids.rows):
        rgb = np.array(PALETTE_RGB)[solids.color[rows] % len(PALETTE_RGB)]
        cells.append((numbered(block.nodes), block.cell.vtk, SOLID, solids.owner[rows], rgb))
    return cells
