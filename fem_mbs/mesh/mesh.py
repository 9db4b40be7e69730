"""Meshes: points, cells by type in the numbering of VTK, and named groups of cells, faces and nodes.

A mesh is read from a file (`fem_mbs.mesh.files.read_mesh`), made of blocks (`fem_mbs.mesh.block.block_mesh`), or put
together from arrays. `fem_mbs.elements.solids.body.SolidBody` makes nodes and elements of it.

Source: docs/howto/meshes.md.
"""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import ArrayLike, Checked
from fem_mbs.arguments.spelling import meant
from fem_mbs.errors import ParameterError, Warnings, label
from fem_mbs.mesh.cells import CELLS, FACES, outer_faces

SHOWN = 10  # bad cells in a message
NODES = "node"  # the key of a group's points
SURFACES = {cell.name: cell for cell in FACES.values()}
OTHERS = ("vertex", "line", "line3")  # cells that nothing is made of
UNKNOWN = "has cells of types that no solid element has"


class Mesh(Checked):
    """Points, cells and named groups.

    Parameters
    ----------
    points : (n, 3) [m]
    cells : dict
        Type as meshio names it ("tetra10", "hexahedron20", "triangle6" …) -> (k, nn) numbers of points, in the order of
        VTK. Types without a solid element (pyramids) are allowed; elements that would use them raise an error.
    groups : dict, optional
        Name -> dict of type -> numbers of cells of this type; type "node" -> numbers of points.
    name : str, optional

    Attributes
    ----------
    points, cells, groups : as above; read-only

    Raises
    ------
    ParameterError
        Points that are not finite or have not three coordinates; cells with numbers of points that are not there or
        with a wrong number of them; a group of cells that are not there.

    Examples
    --------
    >>> import numpy as np
    >>> corner = Mesh(np.vstack([np.zeros(3), np.eye(3)]), {"tetra": [[0, 1, 2, 3]]})
    >>> round(corner.volume, 12)
    0.166666666667
    """

    freezes = True

    def __init__(
        self, points: ArrayLike, cells: dict[str, Any], groups: dict[str, Any] | None = None, *, name: str | None = None
    ) -> None:
        self.name = name
        self.points = self.as_array("points", points, (None, 3))
        self.cells: dict[str, np.ndarray] = {}
        message = "must be a dict: type of cell, as meshio names it, to numbers of points (k, nn)"
        self.check(isinstance(cells, dict), "cells", cells, message)
        for kind, rows in cells.items():
            self.cells[kind] = self._cells(kind, rows)
        self.groups: dict[str, dict[str, np.ndarray]] = {}
        message = "must be a dict: name of a group to a dict, type of cell to numbers of cells"
        right = groups is None or (isinstance(groups, dict) and all(isinstance(g, dict) for g in groups.values()))
        self.check(right, "groups", groups, message)
        for group, parts in (groups or {}).items():
            self.groups[group] = {kind: self._numbers(group, kind, numbers) for kind, numbers in parts.items()}

    def _cells(self, kind, rows):
        """Numbers of points (k, nn) of the cells of one type, checked."""
        array = np.atleast_2d(self._whole("cells", rows))
        known = CELLS.get(kind) or SURFACES.get(kind)
        wanted = None if known is None else known.nn
        good = array.ndim == 2 and (wanted in (None, array.shape[1]))
        self.check(good, "cells", kind, f"have {array.shape[-1]} points each, must have {wanted}")
        outside = array.size and (array.min() < 0 or array.max() >= len(self.points))
        self.check(not outside, "cells", kind, f"have numbers of points that are not between 0 and {len(self.points)}")
        return array

    def _whole(self, parameter, given):
        """Whole numbers of points or cells as an array of integers."""
        array = self.as_array(parameter, given)
        right = (array == np.floor(array)).all() and np.abs(array).max(initial=0.0) < 2**31
        self.check(right, parameter, given, "must be whole numbers")
        return array.astype(np.int64)

    def _numbers(self, group, kind, numbers):
        """Numbers of cells or points of a group, checked."""
        found = np.unique(self._whole("groups", numbers).ravel())
        most = len(self.points) if kind == NODES else len(self.cells.get(kind, ()))
        inside = not found.size or (found[0] >= 0 and found[-1] < most)
        self.check(inside, "groups", group, f"has a number of type '{kind}' that is not there")
        return found

    # --- groups -------------------------------------------------------------------------------------------------------

    def group(self, name: str) -> dict[str, np.ndarray]:
        """Type -> numbers of the cells (or of points, "node") of a group.

        Raises
        ------
        ParameterError
            No group of this name: lists those there are.
        """
        if not isinstance(name, str) or name not in self.groups:
            there = f"it has: {', '.join(sorted(self.groups))}" if self.groups else "it has no groups"
            near = meant(name, sorted(self.groups)) if self.groups and isinstance(name, str) else ""
            hint = f"{near} ({there})" if near.startswith("did you mean") else there
            raise ParameterError(self, "group", name, f"is not in this mesh; {hint}")
        return self.groups[name]

    def nodes_of(self, name: str) -> np.ndarray:
        """Numbers of the points of a group, rising: those of its cells and faces, and its own."""
        parts = [part if kind == NODES else self.cells[kind][part].ravel() for kind, part in self.group(name).items()]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))

    def faces_of(self, name: str) -> dict[str, np.ndarray]:
        """Type -> (k, nn) numbers of points of the faces of a group.

        A group of points alone has the faces of the boundary all of whose points are in it.
        """
        parts = self.group(name)
        found = {kind: self.cells[kind][part] for kind, part in parts.items() if kind in SURFACES}
        if not found and NODES in parts:
            inside = np.zeros(len(self.points), bool)
            inside[parts[NODES]] = True
            found = {kind: rows[inside[rows].all(axis=1)] for kind, rows in self.boundary().items()}
            found = {kind: rows for kind, rows in found.items() if len(rows)}
        if not found:
            raise ParameterError(self, "group", name, f"has no faces; it has {', '.join(parts) or 'nothing'}")
        return found

    def solids_of(self, name: str | None) -> dict[str, np.ndarray]:
        """Type -> numbers of the solid cells of a group; of None all there are.

        Raises
        ------
        ParameterError
            None there, or cells of a type without an element (pyramids, hexahedra of 27 nodes).
        """
        given = {k: np.arange(len(v)) for k, v in self.cells.items()} if name is None else self.group(name)
        plain = {*SURFACES, *OTHERS, NODES}
        unknown = [f"{len(part)} {kind}" for kind, part in given.items() if kind not in CELLS and kind not in plain]
        message = f"{UNKNOWN} ({', '.join(CELLS)}). Mesh the part anew with these, or convert them"
        self.check(not unknown, "cells", ", ".join(unknown), message)
        found = {kind: part for kind, part in given.items() if kind in CELLS and len(part)}
        kinds = ", ".join(f"{len(part)} {kind}" for kind, part in given.items()) or "nothing"
        surface = (
            ". fem.mesh_from_cad makes solid cells of a closed surface" if set(given) <= {*SURFACES} and given else ""
        )
        self.check(found, "group", name, f"has no solid cells; it has {kinds}{surface if name is None else ''}")
        return found

    @Warnings.kept
    def with_group(self, name: str, where: Any) -> "Mesh":
        """A mesh with one more group of points.

        Parameters
        ----------
        name : str
        where : callable or (n,) bool or int
            ``where(points)`` of points (n, 3) [m] returns (n,) bool, e.g. ``lambda x: x[:, 0] < 1e-6``; or the points.

        Raises
        ------
        ParameterError
            No point is in it; the name is taken.
        """
        self.as_text("name", name)
        self.check(name not in self.groups, "name", name, "is taken by another group")
        if callable(where):
            self.as_function("where", where, "a function of points (n, 3)", 1)
            where = np.asarray(where(self.points))
            self.check(where.dtype == bool, "where", where, "must return True or False for each point, (n,)")
        flags = isinstance(where, np.ndarray) and where.dtype == bool
        if flags:
            self.check(where.shape == (len(self.points),), "where", where, "must have one value for each point")
        found = np.flatnonzero(where) if flags else self._whole("where", where).ravel()
        self.check(found.size > 0, "where", name, "holds for none of the points")
        return Mesh(self.points, self.cells, self.groups | {name: {NODES: found}}, name=self.name)

    @Warnings.kept
    def moved(self, function: Any) -> "Mesh":
        """A mesh whose points are ``function(points)``, (n, 3) [m] of (n, 3): scaled, turned, bent."""
        return Mesh(function(np.array(self.points)), self.cells, self.groups, name=self.name)

    # --- geometry -----------------------------------------------------------------------------------------------------

    def boundary(self, name: str | None = None) -> dict[str, np.ndarray]:
        """Type -> (k, nn) numbers of points of the outer faces of solid cells, as seen from outside."""
        parts = [(CELLS[kind], self.cells[kind][numbers]) for kind, numbers in self.solids_of(name).items()]
        return {FACES[nn].name: rows for nn, rows in outer_faces(parts).items()}

    @property
    def volume(self) -> float:
        """Volume [m³] of all solid cells."""
        return float(sum(determinants(self, kind)[0].sum() for kind in self.cells if kind in CELLS))

    @property
    def orphans(self) -> np.ndarray:
        """Numbers of the points that no cell has; nothing is made of them."""
        used = np.zeros(len(self.points), bool)
        for rows in self.cells.values():
            used[rows] = True
        return np.flatnonzero(~used)

    def check_cells(self) -> None:
        """Raise an error for solid cells that are flat or inverted at an integration point.

        Raises
        ------
        ParameterError
            Names the first ten by type, number and place.
        """
        bad, count, total = [], 0, 0
        for kind in (kind for kind in self.cells if kind in CELLS):
            found = np.flatnonzero(~sound(determinants(self, kind)))
            count, total = count + len(found), total + len(self.cells[kind])
            for e in found[: SHOWN - len(bad)]:
                place = self.points[self.cells[kind][e]].mean(axis=0)
                bad.append(f"{kind} {e} at ({', '.join(f'{x:.4g}' for x in place)}) m")
        if count:
            all_of = " That is all of them: their nodes are numbered the other way round" if count == total else ""
            more = f" and {count - len(bad)} more" if count > len(bad) else ""
            message = f"solid cells are flat or turned inside out: {'; '.join(bad)}{more}.{all_of}"
            raise ParameterError(self, "cells", count, message.rstrip(".") + ". Repair the mesh where it was made")

    def __repr__(self) -> str:
        cells = ", ".join(f"{len(rows)} {kind}" for kind, rows in self.cells.items()) or "no cells"
        groups = f"; groups {', '.join(self.groups)}" if self.groups else ""
        return f"{label(self)}: {len(self.points)} points, {cells}{groups}"


def determinants(mesh: Mesh, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Weight times determinant (k, q) [m³] of the cells of a type, at the points of stiffness and of mass."""
    X = mesh.points[mesh.cells[kind]]
    return CELLS[kind].stiffness.volumes(X), CELLS[kind].mass.volumes(X)


def sound(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Which cells (k,) have positive volumes at all points, of what `determinants` gives."""
    stiffness, mass = found
    floor = 1e-12 * np.abs(stiffness).max(axis=1, initial=0.0)[:, None]
    return (stiffness > floor).all(axis=1) & (mass > 0.0).all(axis=1)


def owned_faces(mesh: Mesh, solids: dict[str, np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """All faces of solid cells, points as seen from outside; and their corners (k, 4), rising, −1 where there is none.

    ``solids``: type -> numbers of cells.
    """
    faces: list[np.ndarray] = []
    keys = [np.zeros((0, 4), np.int64)]
    for kind, numbers in solids.items():
        cell, rows = CELLS[kind], mesh.cells[kind][numbers]
        for face in cell.faces:
            points = rows[:, face]
            corners = 3 if len(face) in (3, 6) else 4
            key = np.full((len(rows), 4), -1, np.int64)
            key[:, 4 - corners :] = np.sort(points[:, :corners], axis=1)
            faces.extend(points)
            keys.append(key)
    return faces, np.concatenate(keys)
