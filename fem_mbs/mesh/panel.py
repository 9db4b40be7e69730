"""Meshes of panels for shells: a rectangle divided into cells, flat, on a cylinder, or bent into other forms.

Source: docs/howto/shells.md.
"""

from collections.abc import Callable

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Keywords, Named
from fem_mbs.errors import Warnings
from fem_mbs.mesh.files import unjoined
from fem_mbs.mesh.mesh import NODES, Mesh

CELLS = ("quad", "triangle")
CLOSED = 1e-9  # relative difference between a side and the circumference that is round-off


@Warnings.kept
@Keywords.known
def panel_mesh(
    sides: ArrayLike,
    divisions: ArrayLike,
    *,
    cell: str = "quad",
    radius: float | None = None,
    start: float = 0.0,
    form: Callable[[np.ndarray], np.ndarray] | None = None,
    name: str | None = None,
) -> Mesh:
    """A rectangle in the plane of x and y with one corner at the origin, divided into cells with the normal z.

    Parameters
    ----------
    sides : (2,) > 0 [m]
    divisions : (2,) whole numbers ≥ 1
        Quadrilaterals along each side; two triangles in the place of each.
    cell : {"quad", "triangle"}
    radius : float > 0 [m], optional
        Bends the rectangle onto a cylinder about the x axis, normals outwards: y becomes the length of arc from an
        angle ``start`` [rad] on, places are (x, r sin φ, r cos φ) with φ = start + y/r. A side of 2π r closes it.
    form : callable, optional
        ``form(points)`` moves all points (n, 3) [m]; after ``radius``.
    name : str, optional

    Returns
    -------
    Mesh
        With groups of points "x0", "x1", "y0", "y1" of its sides; of a closed cylinder "y0" and "y1" are one line.

    Raises
    ------
    ParameterError
        Numbers that are not positive; an unknown type of cell; more than one turn around a cylinder.

    Warns
    -----
    UserWarning
        A form that lays points on each other: cells are not joined there. ``radius`` closes a cylinder.

    Examples
    --------
    >>> panel_mesh([2, 1], [4, 2])
    Mesh: 15 points, 8 quad; groups x0, x1, y0, y1
    >>> import math
    >>> panel_mesh([1, 2 * math.pi], [1, 12], radius=1.0)
    Mesh: 24 points, 12 quad; groups x0, x1, y0, y1
    """
    owner = Named("panel_mesh")
    lengths = owner.as_array("sides", sides, (2,))
    owner.check((lengths > 0).all(), "sides", sides, "must be positive")
    nx, ny = (owner.as_integer("divisions", n) for n in owner.as_array("divisions", divisions, (2,)).tolist())
    cell = owner.as_choice("cell", cell, CELLS)
    start = owner.number("start", start, "rad")
    y, x = np.meshgrid(np.linspace(0.0, lengths[1], ny + 1), np.linspace(0.0, lengths[0], nx + 1), indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    number = np.arange(len(points)).reshape(ny + 1, nx + 1)
    if radius is not None:
        radius = owner.positive("radius", radius, "m")
        turn = lengths[1] / (2 * np.pi * radius)
        owner.check(turn < 1 + CLOSED, "sides", sides, f"go {turn:.6g} times around the cylinder; once is the most")
        angle = start + points[:, 1] / radius
        points[:, 1], points[:, 2] = radius * np.sin(angle), radius * np.cos(angle)
        if turn > 1 - CLOSED:
            owner.check(ny > 2, "divisions", divisions, "close a cylinder with less than three cells")
            points, number[-1] = points[: -(nx + 1)], number[0]
    groups = {
        "x0": {NODES: number[:, 0]},
        "x1": {NODES: number[:, -1]},
        "y0": {NODES: number[0]},
        "y1": {NODES: number[-1]},
    }
    corners = [number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]]
    cells = np.stack([c.ravel() for c in corners], axis=1)
    if cell == "triangle":
        cells = cells[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    if form is not None:
        points = owner.as_function("form", form, "a function of points (n, 3)", 1)(points)
    made = Mesh(points, {cell: cells}, groups, name=name)
    if form is not None:
        for text in unjoined(made):
            Warnings.issue(f"panel_mesh: the form {text}")
    return made
