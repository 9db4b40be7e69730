"""Depth of an obstacle between the nodes of faces, which no contact has: nodes alone touch.

    d = max_p −φ(p) − max_a max(−φ(x_a), 0)         p: points of a face, x_a: its nodes                              (1)

φ is the distance of a point from the surface of a sphere, cylinder or box, negative inside. Faces are flat or bilinear
between their nodes; p are points of a regular grid on them.

Source: docs/theory/solids.md, section 9.
"""

import math
from typing import Any

import numpy as np

from fem_mbs.nodes import Frame

PARTS = 4  # of an edge of a face, in the grid of points
SHARE = 0.2  # of the radius, or of half the shortest edge of a box: a depth that is reported


def _grid(corners: int) -> np.ndarray:
    """Weights (p, corners) of the points of a grid on a face."""
    t = np.linspace(0.0, 1.0, PARTS + 1)
    a, b = (one.ravel() for one in np.meshgrid(t, t, indexing="ij"))
    if corners == 4:
        return np.stack([(1 - a) * (1 - b), a * (1 - b), a * b, (1 - a) * b], axis=1)
    inside = a + b < 1.0 + 0.5 / PARTS
    return np.stack([1 - a - b, a, b], axis=1)[inside]


GRIDS = {3: _grid(3), 4: _grid(4)}


class BetweenNodes:
    """Faces of a body with linear edges, and the sphere, cylinder or box that its nodes touch.

    Parameters
    ----------
    nodes : list of Node
        Of the body.
    faces : list of (3,) or (4,) int
        Places of the nodes of each face among ``nodes``.
    obstacle : Frame
        Its origin and axes are those of the obstacle.
    radius : float [m]
        Of the sphere or cylinder, or of the edges of the box.
    half : (3,) [m] or None
        Half edge lengths of the box. None: a sphere or cylinder.
    endless : bool
        It is a cylinder about z.
    """

    def __init__(
        self, nodes: list, faces: list, obstacle: Frame, radius: float, half: np.ndarray | None, endless: bool
    ) -> None:
        self.nodes, self.obstacle, self.radius, self.half, self.endless = nodes, obstacle, radius, half, endless
        self.faces = {n: np.array([row for row in faces if len(row) == n], int).reshape(-1, n) for n in GRIDS}
        self.size = radius if half is None else float(half.min())

    def distances(self, y: np.ndarray) -> np.ndarray:
        """Return φ (…) [m] of points (…, 3) in axes of the obstacle."""
        if self.half is None:
            return np.linalg.norm(y[..., :2] if self.endless else y, axis=-1) - self.radius
        out = np.abs(y) - (self.half - self.radius)
        return np.linalg.norm(np.maximum(out, 0.0), axis=-1) + np.minimum(out.max(axis=-1), 0.0) - self.radius

    def deepest(self, x: np.ndarray, p: np.ndarray, R: np.ndarray) -> float:
        """Return d of (1) [m], 0 or more, with places x (n, 3) of nodes and the node of the obstacle at p (3,), R."""
        axes = R @ self.obstacle.rotation
        y, most = (x - p - R @ self.obstacle.p) @ axes, 0.0
        for corners, faces in self.faces.items():
            X = y[faces]
            middles = X.mean(axis=1)
            near = self.distances(middles) < np.linalg.norm(X - middles[:, None], axis=2).max(axis=1, initial=0.0)
            if near.any():
                X = X[near]
                inside = -self.distances(np.einsum("pc,fci->fpi", GRIDS[corners], X)).min(axis=1)
                seen = np.maximum(-self.distances(X).min(axis=1), 0.0)
                most = max(most, float((inside - seen).max()))
        return most

    def depth_warnings(self, depth: float, t: float) -> list[tuple[str, float, str]]:
        """Return the warning of a run about the largest depth [m], at time t [s]: (kind, size, text), or nothing."""
        share = depth / self.size
        if share <= SHARE or not math.isfinite(share):
            return []
        what = "its radius" if self.half is None else "half its shortest edge"
        return [
            (
                "between nodes",
                share,
                f"at t = {t:.6g} s the obstacle is {depth:.3g} m deep between nodes of the surface, {share:.2g} times "
                f"{what}. Nodes alone touch: edges, corners and small obstacles sink in between them. Use smaller "
                "cells there, or let points of the obstacle touch faces: SurfaceOnSurface([ball.frame(point), …], "
                "None, body, group)",
            )
        ]


def between_nodes(surface: Any, faces: list, kind: str, obstacle: Frame, radius: Any, size: Any) -> BetweenNodes | None:
    """Return the faces of a surface whose nodes touch an obstacle; None where nothing can be between them."""
    linear = [row for row in faces if len(row) in GRIDS]
    if not linear or kind not in ("sphere", "cylinder", "box"):
        return None
    half = 0.5 * np.asarray(size, float) if kind == "box" else None
    return BetweenNodes(list(surface.nodes), linear, obstacle, float(radius), half, kind == "cylinder")
