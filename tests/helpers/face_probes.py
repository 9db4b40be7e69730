"""Surfaces of faces without bodies, and what a node finds over them."""

import numpy as np

import fem_mbs as fem
from fem_mbs.elements.contacts.faces.face_search import initial
from fem_mbs.elements.contacts.faces.node_face_kernels import contact
from fem_mbs.elements.contacts.faces.node_on_faces import NodeOnFaces
from fem_mbs.jit import ContactRows


def sphere_patch(count=5, radius=2.0, width=1.0):
    """Quadrilaterals whose nodes lie on a sphere round the origin, unevenly spaced; nodes and rows."""
    side = width * (np.linspace(-1, 1, count) + 0.05 * np.sin(3 * np.arange(count)))
    x, y = np.meshgrid(side, 0.9 * side, indexing="ij")
    points = np.stack([x, y, np.sqrt(radius**2 - x**2 - y**2)], axis=-1).reshape(-1, 3)
    rows = [(k, k + count, k + count + 1, k + 1) for k in range(count * (count - 1)) if k % count < count - 1]
    return points, rows


def probed(points, rows, place, start=None, **options):
    """What a node at a place finds over faces of given nodes, in a step from ``start``: outputs of its kernel, which is
    called as it is: the same compiled code for surfaces of any size."""
    nodes = [fem.Node3(p) for p in points]
    first = fem.Node3(place if start is None else start)
    element = NodeOnFaces(first, [[nodes[k] for k in row] for row in rows], **options)
    p, state = np.zeros(1, element.parameters), np.zeros(element.n_state)
    p[0], x0 = element.record, np.array([node.position for node in element.nodes])
    initial(p[0], x0, state)
    nd = 6 * len(x0)
    found = {
        "gap": 1,
        "slip": 2,
        "G_N": nd,
        "G_T": (2, nd),
        "V_T": (2, nd),
        "W": (3, nd),
        "point": 3,
        "normal": 3,
        "tangents": (2, 3),
    }
    found = {name: np.zeros(shape) for name, shape in found.items()}
    contact(p[0], np.vstack([place, x0[1:]]), x0, state, ContactRows(**found))
    return found
