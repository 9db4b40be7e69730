"""Cores that are convex polyhedra, as a table of a run.

Polyhedra are shared by all shapes of the same form and are numbered; axes are those of a shape, about its centre. What
is asked of them: `fem_mbs.distance.hull_kernels`.

Source: docs/theory/hulls.md, (3), (4).
"""

from numba import carray

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import kernel, void_pointer

# nu polyhedra, and one after the last; nv, ne, nf, nr: their corners, edges, faces, edges of faces
TABLE = Table(
    "convex polyhedra of a contact group",
    {
        "first_corner": Item("nu", "of each polyhedron", "i8"),
        "first_edge": Item("nu", "the same", "i8"),
        "first_face": Item("nu", "the same", "i8"),
        "corner": Item("nv 3", "place of each"),
        "end": Item("ne 2", "corners of each edge, counted from the first of the polyhedron", "i8"),
        "into": Item("ne 2 3", "directions t into both faces of each edge"),
        "face": Item("nf 4", "n and d of each"),
        "first_rim": Item("nm", "first edge of each face in `rim`, and one after the last", "i8"),
        "rim": Item("nr 2", "edges, and which of their sides the face is", "i8"),
        "first_star": Item("nw", "first edge of each corner in `star`, and one after the last", "i8"),
        "star": Item("ns 2", "edges at each corner, and which of their ends it is", "i8"),
    },
)
HULLS = TABLE.dtype


@kernel
def hulls_at(at):
    """Record of this table at an address, as an array of one."""
    return carray(void_pointer(at), (1,), HULLS)
