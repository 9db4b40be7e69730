"""Polyhedra of a run: arrays for `granular.shapes.hulls`, each form once."""

from typing import TYPE_CHECKING

import numpy as np

from fem_mbs.distance.hull_arrays import arrays_of
from fem_mbs.solvers.granular.shapes.hulls import TABLE

if TYPE_CHECKING:
    from fem_mbs.distance.group_shapes import GroupShape
    from fem_mbs.mesh.polyhedra import Polyhedron


class Hulls:
    """The polyhedra among the cores of a contact group.

    Attributes
    ----------
    numbers : (n,) polyhedron of each shape, −1: none
    most_corners, most_edges : int, of one of them
    arrays, record : of `granular.shapes.hulls`
    """

    def __init__(self, shapes: "list[GroupShape]") -> None:
        forms: dict[int, Polyhedron] = {id(shape.hull): shape.hull for shape in shapes if shape.hull is not None}
        places = {name: k for k, name in enumerate(forms)}
        self.numbers = np.array([-1 if s.hull is None else places[id(s.hull)] for s in shapes], np.int64)
        found = list(forms.values())
        self.most_corners = max((len(form.points) for form in found), default=0)
        self.most_edges = max((len(form.edges) for form in found), default=0)
        self.arrays, self.record = arrays_of(found), np.zeros(1, TABLE.dtype)
        TABLE.aim(self.record, self.arrays)
