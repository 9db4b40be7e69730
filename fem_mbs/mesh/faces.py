"""Names for the faces of a part in Gmsh: by its own names, by points, by cylinders, by functions."""

from typing import Any

import numpy as np

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import ParameterError

SAMPLES = 6  # along both parameters of a face
ON = 1e-4  # of the size of the part: what lies on a cylinder
LISTED = 12  # faces that a message lists
FACETS = 0.1  # of the radius, for surfaces that came as triangles: they lie inside the cylinder


class Faces:
    """Faces of the volumes of the current model.

    Parameters
    ----------
    owner : Named
    gmsh : module
    volumes : list of int
    """

    def __init__(self, owner: Named, gmsh: Any, volumes: list[int]) -> None:
        self.owner, self.gmsh = owner, gmsh
        pairs = gmsh.model.getBoundary([(3, tag) for tag in volumes], combined=False, oriented=False)
        self.tags = sorted({tag for _, tag in pairs})
        box = np.array(gmsh.model.getBoundingBox(-1, -1)).reshape(2, 3)
        self.size = float(np.linalg.norm(box[1] - box[0]))
        self.points = {tag: self._points(tag) for tag in self.tags}

    def _points(self, tag):
        """Points (k, 3) on a face, of its inside and its rim."""
        low, high = self.gmsh.model.getParametrizationBounds(2, tag)
        steps = (np.arange(SAMPLES) + 0.5) / SAMPLES
        u, v = np.meshgrid(low[0] + steps * (high[0] - low[0]), low[1] + steps * (high[1] - low[1]))
        parameters = np.column_stack([u.ravel(), v.ravel()])
        inside = [p for p in parameters if self.gmsh.model.isInside(2, tag, p.tolist(), parametric=True)]
        found = [self.gmsh.model.getValue(2, tag, np.ravel(inside).tolist())] if inside else []
        for _, edge in self.gmsh.model.getBoundary([(2, tag)], oriented=False):
            low, high = self.gmsh.model.getParametrizationBounds(1, abs(edge))
            found.append(self.gmsh.model.getValue(1, abs(edge), (low[0] + steps * (high[0] - low[0])).tolist()))
        return np.concatenate(found).reshape(-1, 3)

    def named(self, groups: dict[str, Any] | None) -> dict[str, list[int]]:
        """Name -> numbers of faces, of names in the file and of ``groups``.

        Raises
        ------
        ParameterError
            No face is meant; a face is in two groups.
        """
        found = {name: tags for name, tags in self._labels().items() if name not in (groups or {})}
        groups = {} if groups is None else groups
        self.owner.check(isinstance(groups, dict), "groups", groups, "must be a dict: name to faces")
        taken: dict[int, str] = {}
        for name, which in groups.items():
            self.owner.as_text("groups", name)
            self.owner.check(name != "body", "groups", name, "is the name of all solid cells")
            found[name] = tags = self._chosen(name, which)
            for tag in tags:
                if tag in taken:  # a description of a face asks the CAD kernel
                    both = f"and '{taken[tag]}' have the face {self._described(tag)} in common; a face belongs to one. "
                    both += "Bores on one axis differ by their length: (point, axis, radius, length)"
                    self.owner.check(False, "groups", name, both)
                taken[tag] = name
        return found

    def _labels(self):
        """Faces by the last part of their names in the file."""
        found: dict[str, list[int]] = {}
        for tag in self.tags:
            name = self.gmsh.model.getEntityName(2, tag).rsplit("/", 1)[-1].strip()
            if name:
                found.setdefault(name, []).append(tag)
        return found

    def _chosen(self, name, which):
        if callable(which):
            tags = [tag for tag, x in self.points.items() if np.all(self._asked(name, which, x))]
            if not tags:
                self.owner.check(False, "groups", name, f"holds on no whole face; there are {self._all_described()}")
            return tags
        cylinder = isinstance(which, (tuple, list)) and len(which) in (3, 4) and np.ndim(which[0]) == 1
        if cylinder and np.ndim(which[1]) == 1 and all(np.ndim(number) == 0 for number in which[2:]):
            return self._on_cylinder(name, *which)
        try:
            points = np.asarray(which, float)
        except (TypeError, ValueError):
            points = np.zeros(0)
        right = points.ndim in (1, 2) and points.shape[-1:] == (3,) and np.isfinite(points).all()
        message = (
            "must be a point, points (k, 3), (point, axis, radius), with a length perhaps, or a function of points"
        )
        self.owner.check(right, "groups", f"{name}: {which!r}", message)
        return sorted({self._nearest(point) for point in points.reshape(-1, 3)})

    def _asked(self, name, function, x):
        try:
            return np.asarray(function(x))
        except Exception as error:
            message = f"fails for points (k, 3): {type(error).__name__}: {error}"
            raise ParameterError(self.owner, "groups", name, message) from error

    def _on_cylinder(self, name, point, axis, radius, length=None):
        point, axis = self.owner.as_vector("groups", point), self.owner.unit_vector("groups", axis)
        radius = self.owner.positive("groups", radius, "m")
        reach = np.inf if length is None else 0.5 * self.owner.positive("groups", length, "m") + ON * self.size
        apart = {}
        for tag, x in self.points.items():
            if self.gmsh.model.getType(2, tag) == "Plane":  # rims of its ends lie on it too
                continue
            arm = x - point
            if np.abs(arm @ axis).max() > reach:
                continue
            arm = np.linalg.norm(arm - np.outer(arm @ axis, axis), axis=1)
            apart[tag] = float(np.abs(arm - radius).max())
        near = {tag: ON * self.size + (FACETS if self._is_faceted(tag) else 1e-3) * radius for tag in apart}
        tags = [tag for tag, distance in apart.items() if distance < near[tag]]
        nearest = f"; the nearest face is {min(apart.values()):.3g} m from it" if apart else ""
        where = "" if length is None else f", within {reach:.3g} m of its point along the axis"
        message = (
            f"has no face on the cylinder of radius {radius:.6g} m{where}{nearest}; there are {self._all_described()}"
        )
        self.owner.check(tags, "groups", name, message)
        return tags

    def _described(self, tag):
        """Kind and middle of a face, for messages."""
        low, high = self.points[tag].min(axis=0), self.points[tag].max(axis=0)
        middle = 0.5 * (low + high)
        middle[np.abs(middle) < ON * self.size] = 0.0
        kind = self.gmsh.model.getType(2, tag).replace("Discrete surface", "facets").lower()
        return f"{kind} about ({', '.join(f'{number:.4g}' for number in middle)}) m"

    def _all_described(self):
        few = ", ".join(self._described(tag) for tag in self.tags[:LISTED])
        return f"{len(self.tags)} faces: {few}{' …' if len(self.tags) > LISTED else ''}"

    def _is_faceted(self, tag):
        return self.gmsh.model.getType(2, tag).startswith("Discrete")

    def _nearest(self, point):
        """Face nearest to a point."""
        distance = {}
        for tag in self.tags:
            try:
                found, _ = self.gmsh.model.getClosestPoint(2, tag, point.tolist())
                distance[tag] = float(np.linalg.norm(np.reshape(found, (-1, 3))[0] - point))
            except Exception:  # not supported for faces of discrete surfaces
                distance[tag] = np.inf
            # a point outside a trimmed face is projected onto what was cut away
            rim = float(np.linalg.norm(self.points[tag] - point, axis=1).min())
            if not self._has(tag, found if np.isfinite(distance[tag]) else None):
                distance[tag] = rim
        return min(distance, key=lambda tag: distance[tag])

    def _has(self, tag, found):
        if found is None:
            return False
        return bool(self.gmsh.model.isInside(2, tag, list(np.ravel(found)[:3]), parametric=False))
