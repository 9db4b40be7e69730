"""Surfaces of faces without bodies, and what a node finds over them."""

import numpy as np

import fem_mbs as fem
from fem_mbs.elements.contacts.node_on_faces import NodeOnFaces
from fem_mbs.evaluator import Evaluator, Point


def sphere_patch(count=5, radius=2.0, width=1.0):
    """Quadrilaterals whose nodes lie on a sphere round the origin, unevenly spaced; nodes and rows."""
    side = width * (np.linspace(-1, 1, count) + 0.05 * np.sin(3 * np.arange(count)))
    x, y = np.meshgrid(side, 0.9 * side, indexing="ij")
    points = np.stack([x, y, np.sqrt(radius**2 - x**2 - y**2)], axis=-1).reshape(-1, 3)
    rows = [(k, k + count, k + count + 1, k + 1) for k in range(count * (count - 1)) if k % count < count - 1]
    return points, rows


def probed(points, rows, place, start=None, **options):
    """What a node at a place finds over faces of given nodes, in a step from ``start``: outputs of its kernel."""
    nodes = [fem.Node3(p) for p in points]
    first = fem.Node3(place if start is None else start)
    contact = NodeOnFaces(first, [[nodes[k] for k in row] for row in rows], **options)
    call, point = Evaluator(contact), Point()
    point.x = point.x0 = np.array([node.position for node in contact.nodes])
    point.R = point.R0 = np.tile(np.eye(3), (len(contact.nodes), 1, 1))
    point.v = point.a = np.zeros(6 * len(contact.nodes))
    point.s, point.t, point.gravity, point.lam = np.zeros((0, 3)), 0.0, np.zeros(3), np.zeros(0)
    point.state = np.zeros(contact.n_state)
    point.state = call("initial", point)["state"]
    point.x = np.vstack([place, point.x0[1:]])
    return call("contact", point)
