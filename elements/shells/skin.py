"""The skin of a shell: points on its outer faces, which the rotations of its nodes carry.

Where a cell meets a node with the director D, in node axes, its face lies at ζ from the surface of the nodes, at the
top or the bottom of its section. One point of a node is on the faces of all cells there,

    D_k·a = ζ_k                                                                                                    (1)

with the shortest a: ζ D where directors are one, the corner in which two faces meet at a fold. Of cells that differ in
thickness alone the thicker one counts. A point moves with its node, y = x + R a, so that forces on it have moments on
the rotations.

Source: docs/theory/shells.md, section 8.
"""

from typing import Any

import numpy as np

from fem_mbs.elements.shells.body import ShellBody
from fem_mbs.errors import Warnings, label
from fem_mbs.nodes import Frame

SIDES = ("top", "bottom")
ALIKE = 0.985  # cosine of 10°: directors that differ by less, as at ribs on curved skins, are one
LONGEST = 2.0  # of the thickness at a corner: cells that meet at more than 120° have no meaningful common corner
FLAT = 0.5  # cosine of 60°: between shell and surface; steeper ones touch with an edge
BARE = 0.1  # of the thickness: deviation allowed for points on nodes
OFF = 1e-3  # of the thickness: what (1) may miss


def skin(
    owner: Any, parameter: str, body: ShellBody, group: str | None, side: str, *, with_faces: bool = False
) -> tuple[list[Frame], list[np.ndarray]]:
    """Points of one side of a shell, and faces between them.

    Parameters
    ----------
    owner, parameter : in whose name errors are raised, and of which of its parameters
    group : str or None
        Of cells, or of nodes; None: all cells.
    side : {"top", "bottom"}
    with_faces : bool
        Faces are wanted: the group must have cells, which make one surface.

    Returns
    -------
    points : list of Frame, one for each node
    faces : list of (nn,) int, numbers of points, counter-clockwise as seen from outside; [] where none are wanted

    Raises
    ------
    ParameterError
        No such group; folds without a common corner; faces of more than one surface, or turned over by the thickness.
    """
    places, directors, heights, cells = _corners(owner, body, group, side, with_faces)
    nodes, number = np.unique(places, return_inverse=True)
    arms = _arms(owner, parameter, body, nodes, number, directors, heights)
    points = [body.nodes[k].frame(a) for k, a in zip(nodes, arms)]
    if not with_faces:
        return points, []
    rows = [np.searchsorted(nodes, row) for row in cells]
    _one_surface(owner, parameter, body, nodes, arms, rows)
    return points, rows if side == "top" else [row[::-1].copy() for row in rows]


def tell_far_side(owner: Any, parameter: str, side: Any, points: list[Frame], ways: np.ndarray) -> None:
    """Warn where a side of a shell looks away from the obstacle: it would sink in by its thickness.

    ``ways`` (n, 3) point from the obstacle to each of the points, at the start.
    """
    arms = np.array([point.node.rotation @ point.p for point in points])
    size = np.linalg.norm(arms, axis=1) * np.maximum(np.linalg.norm(ways, axis=1), 1e-300)
    if side in SIDES and (np.einsum("ki,ki->k", arms, ways) > 0.5 * size).all():
        text = (
            f"{label(owner)}: {parameter} = {side!r} looks away from the obstacle: the shell sinks into it by "
            f'its thickness. Take {SIDES[1 - SIDES.index(side)]!r}, or "both" if it turns over'
        )
        Warnings.issue(text)


def tell_bare_nodes(owner: Any, parameter: str, frames: list[Frame], normals: np.ndarray) -> None:
    """Warn about frames on nodes of shells that leave out the thickness: they touch as points inside of it.

    ``normals`` (n, 3) are those of the touched surface, at each of the frames. Reported is the distance between a
    frame and the face of the shell that looks at the touched surface; a frame that is out there, or at an edge,
    touches as it should.
    """
    numbers: dict[int, dict[int, int]] = {}
    for frame, normal in zip(frames, normals):
        body = frame.node.body
        if not isinstance(body, ShellBody):
            continue
        places = numbers.setdefault(id(body), {id(node): k for k, node in enumerate(body.nodes)})
        place, normal = places[id(frame.node)], frame.node.rotation.T @ normal / np.linalg.norm(normal)
        for section, cells, made in body._parts:
            cell, corner = np.nonzero(cells == place)
            for D in made["Y"][cell, 0, corner]:
                looks = -float(D @ normal)  # the top at the touched surface: 1, the bottom: −1
                face = section.top if looks > 0.0 else -section.bottom
                left_out = face - np.sign(looks) * float(D @ frame.p)
                if abs(looks) > FLAT and left_out > BARE * section.thickness:
                    text = (
                        f"{label(owner)}: {parameter} has nodes of {label(body)} as points without thickness: its face "
                        f"is {left_out:.3g} m farther out, and sinks in by that. In the place of its nodes give the "
                        f'body with side_A="{SIDES[0] if looks > 0.0 else SIDES[1]}", and a group of it'
                    )
                    Warnings.issue(text)
                    return


def _corners(owner, body, group, side, with_faces):
    """Corners of chosen cells: their nodes (m,), directors (m, 3), heights (m,); and these cells."""
    nodes_alone = group is not None and not with_faces and not set(body.cells) & set(body.mesh.group(group))
    cells = [] if nodes_alone else body.faces_of(owner, group)
    chosen, inside = {tuple(row) for row in map(tuple, cells)}, np.zeros(len(body.nodes), bool)
    if nodes_alone:
        inside[body.node_numbers(group)] = True
    found = []
    for section, places, made in body._parts:
        if nodes_alone:
            taken = inside[places]
        else:
            taken = np.repeat([[tuple(row) in chosen] for row in places.tolist()], places.shape[1], axis=1)
        height = np.full(taken.sum(), section.top if side == "top" else section.bottom)
        found.append((places[taken], made["Y"][:, 0][taken], height))
    places, directors, heights = (np.concatenate(parts) for parts in zip(*found))
    return places, directors, heights, cells


def _arms(owner, parameter, body, nodes, number, directors, heights):
    """From each node to its point (n, 3) by (1), axes of the nodes."""
    order = np.argsort(number, kind="stable")
    first = np.searchsorted(number[order], np.arange(len(nodes)))
    D, z = directors[order], heights[order]
    thickest = np.maximum.reduceat(np.abs(z), first)
    arms = D[first] * (np.sign(z[first]) * thickest)[:, None]
    count = np.diff(np.append(first, len(D)))
    own = np.repeat(np.arange(len(nodes)), count)
    folded = np.einsum("ki,ki->k", D, D[first][own]) < ALIKE
    for k in np.unique(own[folded]):
        part = slice(first[k], first[k] + count[k])
        ways, levels = _distinct(D[part], z[part])
        arms[k] = np.linalg.pinv(ways, rcond=1e-6) @ levels
        off = np.abs(ways @ arms[k] - levels).max()
        where = body.reference[nodes[k]].round(6).tolist()
        message = (
            f"has cells that meet at {where} m at more than 120°, or with different sides up: their outer faces have "
            "no common corner there. Give the parts on both sides as separate groups"
        )
        good = off < OFF * thickest[k] and np.linalg.norm(arms[k]) < LONGEST * thickest[k]
        owner.check(good, parameter, body, message)
    return arms


def _distinct(D, z):
    """Directors that are not alike, and the largest height of each."""
    ways: list[np.ndarray] = []
    levels: list[float] = []
    for d, height in zip(D, z):
        same = [k for k, way in enumerate(ways) if way @ d > ALIKE]
        if not same:
            ways.append(d)
            levels.append(height)
        elif abs(height) > abs(levels[same[0]]):
            levels[same[0]] = height
    return np.array(ways), np.array(levels)


def _one_surface(owner, parameter, body, nodes, arms, rows):
    """Raise an error for faces of three cells at an edge, and for those that the thickness turns over."""
    edges = np.concatenate([np.stack([row, np.roll(row, -1)], axis=1) for row in rows])
    _, count = np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)
    message = (
        f"has {np.sum(count > 2)} edges at which three or more cells meet: it has no single side there. Give a group "
        "of cells that make one surface, of the skin without its ribs"
    )
    owner.check((count <= 2).all(), parameter, body, message)
    X = body.reference[nodes]
    Y = X + arms  # nodes have the axes of the mesh
    for row in rows:
        old, new = (np.cross(P[row[2]] - P[row[0]], P[row[-1]] - P[row[1]]) for P in (X, Y))
        where = X[row].mean(axis=0).round(6).tolist()
        message = (
            f"has a cell at {where} m that its thickness turns over: the surface is bent there about less than half of "
            "the thickness, or the cell at a fold is smaller than that"
        )
        owner.check(old @ new > 0.1 * (old @ old), parameter, body, message)
