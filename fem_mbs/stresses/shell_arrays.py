"""All shell elements of a model as arrays that a file can hold, and the thin bricks that draw them.

A corner of the surface, that is a node and a director, has a point on the bottom and one on the top, fixed to the node
at z times the director; an element is drawn as the hexahedron or wedge between them.

Source: docs/theory/shells.md, section 6.
"""

from typing import Any

import numpy as np

from fem_mbs.mesh.cells import CELLS, outer_faces
from fem_mbs.stresses.shell_cells import cell_of
from fem_mbs.stresses.shell_stress import Layers, ShellBlock, ShellFields, corner_numbers

DRAWN = {4: CELLS["hexahedron"], 3: CELLS["wedge"]}  # nodes -> cell that draws an element


class Shells:
    """Shell elements of a model.

    Attributes
    ----------
    count : (n,) int, nodes of each element, in one run for each number of them and section
    section : (n,) int, number of its section
    connectivity : (m,) int, nodes of all elements, one after the other
    X : (m, 3) [m]; Y : (m, 9); c : (…,); first : (n, 3)
        As in `elements.shells.kernels`: Y has D, τʳ, τˢ of each node.
    stiffness, thickness, z, plane : (s, 8, 8), (s,), (s, 3), (s, 3, 3, 3), of the sections, see `shell_stress.Layers`
    owner : (n,) int, numbers of the elements in the model
    color : (n,) int, number of the colour
    """

    ARRAYS = (
        "count", "section", "connectivity", "X", "Y", "c", "first", "stiffness", "thickness", "z", "plane", "owner",
        "color",
    )  # fmt: skip
    SHAPES = {"X": (0, 3), "Y": (0, 9), "c": (0,), "first": (0, 3), "stiffness": (0, 8, 8), "thickness": (0,),
              "z": (0, 3), "plane": (0, 3, 3, 3)}  # fmt: skip
    count: np.ndarray
    section: np.ndarray
    connectivity: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    c: np.ndarray
    first: np.ndarray
    stiffness: np.ndarray
    thickness: np.ndarray
    z: np.ndarray
    plane: np.ndarray
    owner: np.ndarray
    color: np.ndarray

    def __init__(self, **arrays: Any) -> None:
        for name in self.ARRAYS:
            none = np.zeros(self.SHAPES.get(name, (0,)), float if name in self.SHAPES else int)
            setattr(self, name, np.asarray(arrays.get(name, none)))
        self.blocks: list[ShellBlock] = []
        self.rows: list[slice] = []  # elements of each block
        key = np.stack([self.count, self.section], axis=1) if len(self.count) else np.zeros((0, 2), int)
        cuts = np.flatnonzero((np.diff(key, axis=0) != 0).any(axis=1)) + 1
        node = strain = 0
        for first, last in zip([0, *cuts.tolist()], [*cuts.tolist(), len(key)]):
            if first == last:
                break
            n, nn = last - first, int(self.count[first])
            ne = cell_of(nn).nm + nn
            at, to = slice(node, node + n * nn), slice(strain, strain + n * ne)
            s = int(self.section[first])
            layers = Layers(self.stiffness[s], float(self.thickness[s]), self.z[s], self.plane[s])
            Y = self.Y[at].reshape(n, nn, 3, 3).swapaxes(1, 2)
            nodes, X, c = self.connectivity[at].reshape(n, nn), self.X[at].reshape(n, nn, 3), self.c[to].reshape(n, ne)
            self.blocks.append(ShellBlock(nodes, X, Y, c, self.first[first:last], layers))
            self.rows.append(slice(first, last))
            node, strain = at.stop, to.stop
        node_of, director, z, self.corners = corner_numbers(self.blocks)
        self.node = np.concatenate([node_of, node_of])  # of the points: first those at the bottom
        self.offset = np.concatenate([z[:, :1] * director, z[:, 2:] * director])

    def __len__(self) -> int:
        return len(self.count)

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    @property
    def cells(self) -> list[tuple[Any, np.ndarray]]:
        """Cell and points (n, 2 nn) of the bricks of each block."""
        half = len(self.node) // 2
        return [(DRAWN[rows.shape[1]], np.hstack([rows, rows + half])) for rows in self.corners]

    def boundary(self) -> dict[int, np.ndarray]:
        """Number of corners -> (k, nn) points of the outer faces of the bricks, as seen from outside."""
        return outer_faces(self.cells)

    def fields(self, x: np.ndarray, R: np.ndarray) -> ShellFields:
        """Strains and stresses at poses x (N, 3) [m], R (N, 3, 3) of all nodes of the model."""
        return ShellFields(self.blocks, x, R)

    @classmethod
    def of(cls, groups: Any, number: dict[int, int]) -> "Shells":
        """The shell elements among groups of a system; ``number``: element by its id -> its number in the model."""
        found = [group for group in groups if group.elements[0].node_directors is not None]
        parts: dict[str, list] = {name: [] for name in cls.ARRAYS}
        sections: dict[int, int] = {}
        for group in found:
            p, nn = group.parameters, group.nodes.shape[1]
            which = []
            for element in group.elements:
                section = element.section
                if id(section) not in sections:
                    sections[id(section)] = len(sections)
                    layers = Layers.of(section)
                    for name, value in zip(("stiffness", "thickness", "z", "plane"), layers):
                        parts[name].append(np.asarray(value)[None])
                which.append(sections[id(section)])
            order = np.argsort(which, kind="stable")
            elements = [group.elements[k] for k in order]
            parts["count"].append(np.full(group.n, nn))
            parts["section"].append(np.array(which)[order])
            parts["connectivity"].append(group.nodes[order].ravel())
            parts["X"].append(p["X"][order].reshape(-1, 3))
            parts["Y"].append(p["Y"][order].swapaxes(1, 2).reshape(-1, 9))
            parts["c"].append(p["c"][order].ravel())
            parts["first"].append(p["first"][order])
            parts["owner"].append([number[id(element)] for element in elements])
            parts["color"].append(np.array(which)[order])
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()}) if found else cls()
