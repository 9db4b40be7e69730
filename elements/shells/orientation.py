"""Sides and normals of surfaces that are made of triangles and quadrilaterals.

Two cells that share an edge run along it in opposite directions where both have the same side up. At edges where three
or more meet this holds for two that continue each other, as the skin does at a rib. Directors of a node
are means of the normals of the cells around it, weighted with the angles there; cells on the two sides of a fold have
separate directors, and so have cells at edges where three or more meet.

Source: docs/theory/shells.md, section 5.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from fem_mbs.elements.shells.element import corners, normals_of
from fem_mbs.stresses.shell_stiffness import unit

ON_EDGE = 1e-6  # of its length: closer to an edge a node lies on it


class Edges(NamedTuple):
    """Pairs of cells at edges, and the data of the two there.

    Attributes
    ----------
    cells : (m, 2) int
    alike : (m,) bool, whether both have the same side up
    ends : (m, 2, 2) int, corners (of cell, of end) that meet at the two ends
    """

    cells: np.ndarray
    alike: np.ndarray
    ends: np.ndarray


def shared_edges(blocks: list[np.ndarray]) -> Edges:
    """Edges that exactly two cells share."""
    every, order, first, count = edges_of_cells(blocks)
    return paired(every[order[first[count == 2]]], every[order[first[count == 2] + 1]])


def hanging_nodes(points: np.ndarray, blocks: list[np.ndarray]) -> np.ndarray:
    """Numbers (k,) of corners of cells that lie on an edge of one cell, between its ends: nothing joins them to it.

    Such an edge has no second cell, and has a corner of an edge without one within half of its length from its middle.
    """
    every, order, first, count = edges_of_cells(blocks)
    free = every[order[first[count == 1]], :2]
    nodes = np.unique(free)
    a, b = points[free[:, 0]], points[free[:, 1]]
    lengths = np.linalg.norm(b - a, axis=1)
    near = cKDTree(points[nodes]).query_ball_point(0.5 * (a + b), 0.5 * lengths)
    edge = np.repeat(np.arange(len(free)), [len(found) for found in near])
    node = nodes[np.concatenate([*near, []]).astype(np.int64)]
    own = (node == free[edge, 0]) | (node == free[edge, 1])
    edge, node = edge[~own], node[~own]
    away, along, length = points[node] - a[edge], (b - a)[edge], lengths[edge]
    part = np.einsum("ij,ij->i", away, along) / length**2
    aside = np.linalg.norm(away - part[:, None] * along, axis=1)
    # what lies on an end of it is another node at the same place, and is reported where meshes are read
    inside = (aside < ON_EDGE * length) & (part > ON_EDGE) & (part < 1.0 - ON_EDGE)
    return np.unique(node[inside])


def branches(points: np.ndarray, blocks: list[np.ndarray], fold: float) -> Edges:
    """Pairs of cells that continue each other, within ``fold`` [rad], at edges of three or more cells.

    A rib on a skin: the two cells of the skin have one side up, and pressure on both is one pressure. Of the cells at
    an edge two are a pair that each leave it opposite to the other, more than to any other.
    """
    every, order, first, count = edges_of_cells(blocks)
    middles = np.concatenate([points[rows].mean(axis=1) for rows in blocks])
    pairs = [np.zeros((0, 2), np.int64)]
    for k in np.unique(count[count > 2]):
        members = order[first[count == k, None] + np.arange(k)]  # (m, k) rows of `every`
        a, b = points[every[members[:, 0], 0]], points[every[members[:, 0], 1]]
        along = unit(b - a)[:, None]
        away = middles[every[members, 4]] - a[:, None]
        away = unit(away - np.einsum("mki,mki->mk", away, np.broadcast_to(along, away.shape))[..., None] * along)
        cosine = np.einsum("mki,mli->mkl", away, away)
        best = cosine.argmin(axis=2)
        mutual = np.take_along_axis(best, best, axis=1) == np.arange(k)
        straight = np.take_along_axis(cosine, best[..., None], axis=2)[..., 0] < -np.cos(fold)
        edge, own = np.nonzero(mutual & straight & (np.arange(k) < best))
        pairs.append(np.stack([members[edge, own], members[edge, best[edge, own]]], axis=1))
    a, b = np.concatenate(pairs).T
    return paired(every[a], every[b])


def joined(*parts: Edges) -> Edges:
    """Pairs of several kinds as one."""
    return Edges(*(np.concatenate(arrays) for arrays in zip(*parts)))


def covered(blocks: list[np.ndarray]) -> np.ndarray:
    """Points (k,) of the corners of cells that lie on another: with the same corners, or a triangle on three of a quad.

    Two quadrilaterals may have three corners in common: both sides of a node that no other cell has.
    """
    found, three, triangle, cell = [], [], [], 0
    for rows in blocks:
        n, nn = rows.shape
        same, count = np.unique(np.sort(rows, axis=1), axis=0, return_counts=True)
        found.append(same[count > 1].ravel())
        parts = [rows] if nn == 3 else [np.delete(rows, k, axis=1) for k in range(4)]
        three += [np.column_stack([np.sort(part, axis=1), np.arange(cell, cell + n)]) for part in parts]
        triangle += [np.full(n, nn == 3)] * len(parts)
        cell += n
    every, first = np.unique(np.concatenate(three), axis=0, return_index=True)
    corners_of, where, count = np.unique(every[:, :3], axis=0, return_inverse=True, return_counts=True)
    flat = np.bincount(where.ravel(), np.concatenate(triangle)[first], len(corners_of)) > 0
    return np.concatenate([*found, corners_of[flat & (count > 1)].ravel()])


def edges_of_cells(blocks: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Edges of cells in blocks (k, nn) of points; cells and their corners are numbered through all blocks.

    Returns
    -------
    every : (n, 5) int, of each cell: both ends, both corners, the cell
    order : (n,) int, rows of ``every`` that belong to one edge follow one another
    first, count : (m,) int, where in ``order`` those of an edge begin, and how many they are
    """
    parts, cell, corner = [], 0, 0
    for rows in blocks:
        n, nn = rows.shape
        at = corner + np.arange(n * nn).reshape(n, nn)
        number = np.repeat(np.arange(cell, cell + n), nn)
        forth = [np.roll(array, -1, axis=1).ravel() for array in (rows, at)]
        parts.append(np.stack([rows.ravel(), forth[0], at.ravel(), forth[1], number], axis=1))
        cell, corner = cell + n, corner + n * nn
    every = np.concatenate(parts)
    low, high = every[:, :2].min(axis=1), every[:, :2].max(axis=1)
    order = np.lexsort((high, low))
    key = np.stack([low, high], axis=1)[order]
    first = np.flatnonzero(np.append(True, (np.diff(key, axis=0) != 0).any(axis=1)))
    return every, order, first, np.diff(np.append(first, len(key)))


def paired(a: np.ndarray, b: np.ndarray) -> Edges:
    """Pairs of rows a and b (m, 5) of `edges_of_cells`."""
    alike = a[:, 0] == b[:, 1]
    start = np.where(alike, b[:, 3], b[:, 2])
    end = np.where(alike, b[:, 2], b[:, 3])
    ends = np.stack([np.stack([a[:, 2], start], axis=1), np.stack([a[:, 3], end], axis=1)], axis=1)
    return Edges(np.stack([a[:, 4], b[:, 4]], axis=1), alike, ends)


def turned_cells(count: int, edges: Edges) -> np.ndarray | None:
    """Mask of the cells (count,) to turn over such that all have the side up of the first of their part; None:
    one-sided.
    """
    i, j = edges.cells.T
    other = np.where(edges.alike, 0, count)
    rows, columns = np.concatenate([i, i + count]), np.concatenate([j + other, j + count - other])
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(2 * count, 2 * count))
    _, part = connected_components(graph, directed=False)
    up, down = part[:count], part[count:]
    if (up == down).any():
        return None
    # parts come in pairs, of which the one with the lowest cell upright is kept
    _, first = np.unique(np.minimum(up, down), return_index=True)
    kept = np.zeros(part.max() + 1, bool)
    kept[up[first]] = True
    return ~kept[up]


def smooth_normals(points: np.ndarray, blocks: list[np.ndarray], edges: Edges, fold: float) -> list[np.ndarray]:
    """Directors (k, nn, 3) of each block: means over cells that meet at angles below ``fold`` [rad]."""
    normals = np.concatenate([normals_of(points[rows]) for rows in blocks])
    cosine = np.einsum("ei,ei->e", *(normals[k] for k in edges.cells.T))
    smooth = edges.ends[(cosine > np.cos(fold)) & edges.alike].reshape(-1, 2)
    weighted = []
    for rows in blocks:
        X = points[rows]
        forth, back = unit(np.roll(X, -1, axis=1) - X), unit(np.roll(X, 1, axis=1) - X)
        angle = np.arccos(np.clip(np.einsum("eai,eai->ea", forth, back), -1.0, 1.0))
        weighted.append((unit(corners(X)) * angle[..., None]).reshape(-1, 3))
    every = np.concatenate(weighted)
    graph = coo_matrix((np.ones(len(smooth)), smooth.T), shape=(len(every), len(every)))
    _, part = connected_components(graph, directed=False)
    total = np.stack([np.bincount(part, every[:, i]) for i in range(3)], axis=1)
    directors, found, at = unit(total)[part], [], 0
    for rows in blocks:
        found.append(directors[at : at + rows.size].reshape(*rows.shape, 3))
        at += rows.size
    return found
