"""Geometry of surfaces of faces beside closed forms: heights, foot points, rims, distances from borders."""

import numpy as np
import pytest
from face_probes import probed, sphere_patch

import fem_mbs as fem
from fem_mbs.elements.contacts.face_kernels import facet, foot, height
from fem_mbs.elements.contacts.node_face_kernels import initial, trouble
from fem_mbs.elements.contacts.node_on_faces import NodeOnFaces


@pytest.mark.parametrize(
    ("nn", "h", "exact"),
    [  # z = 0.3 L0 L1 − 0.2 L1 L2 + 0.5 L2 L0 and z = 0.3 u (1 − u) − 0.2 v (1 − v)
        (3, [0.3, 0.5, -0.2, 0.3, 0.5, -0.2, 0, 0],
         lambda u, v: [0.3 * (1 - u - v) * u - 0.2 * u * v + 0.5 * v * (1 - u - v),
                       0.3 * (1 - 2 * u - v) - 0.7 * v, -0.5 * u + 0.5 * (1 - u - 2 * v), -0.6, -1.0, -1.0]),
        (4, [0.3, -0.2, -0.2, 0.3, 0.3, -0.2, -0.2, 0.3],
         lambda u, v: [0.3 * u * (1 - u) - 0.2 * v * (1 - v), 0.3 * (1 - 2 * u), -0.2 * (1 - 2 * v), -0.6, 0, 0.4]),
    ],
)  # fmt: skip
def test_heights_of_quadratic_surfaces_are_exact(nn, h, exact):
    z = np.zeros(6)
    for u, v in ((0.2, 0.3), (0.5, 0.1), (1 / 3, 1 / 3), (-0.1, 0.4)):
        height(nn, np.array(h, float), u, v, z)
        assert z == pytest.approx(exact(u, v), abs=1e-14)


def test_foot_points_converge_far_from_a_curved_face():
    """0.6 of the radius of curvature inside: steps of Gauss and Newton alone gain a factor of 0.6 in each round."""
    X = np.array([[-0.5, -0.5, 0], [0.5, -0.5, 0], [0.5, 0.5, 0], [-0.5, 0.5, 0]])
    d, nu, uv = np.zeros((2, 3)), np.zeros(3), np.full(2, 0.5)
    facet(4, X, d, nu)
    N, z, S, r = np.zeros((4, 4)), np.zeros(6), np.zeros((6, 3)), np.zeros(3)
    h = np.full(8, 0.5)  # z = (u (1 − u) + v (1 − v))/2: radius 1 at the top
    foot(4, X, h, nu, np.array([0.05, 0.02, -0.35]), uv, N, z, S, r)
    assert abs(r @ S[1]) < 1e-13 and abs(r @ S[2]) < 1e-13


def test_the_surface_goes_on_by_a_twentieth_of_a_face_beyond_its_border():
    points = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]]
    near, far = (probed(points, [(0, 1, 2, 3)], [2 + beyond, 1, 0.03]) for beyond in (0.08, 0.12))
    assert near["gap"][0] == pytest.approx(0.03, abs=1e-14)
    assert far["gap"][0] == pytest.approx(np.hypot(0.12, 0.03), abs=1e-14)


def test_beside_a_border_the_gap_has_the_gradient_of_the_distance_from_it():
    """By central differences, for the node and the four of the face; t is a third of the edge."""
    points, place, eps = np.array([[0, 0, 0], [2, 0, 0.1], [2, 2, 0], [0, 2, 0.0]]), np.array([2.3, 0.7, 0.2]), 1e-6
    rows = probed(points, [(0, 1, 2, 3)], place)["G_N"].reshape(-1, 6)[:5, :3]
    all_nodes = np.vstack([place, points])
    for k in range(5):
        for i in range(3):
            gaps = []
            for sign in (1, -1):
                moved = all_nodes.copy()
                moved[k, i] += sign * eps
                gaps.append(probed(moved[1:], [(0, 1, 2, 3)], moved[0])["gap"][0])
            assert rows[k, i] == pytest.approx((gaps[0] - gaps[1]) / (2 * eps), abs=1e-8)
    assert np.abs(rows[2:4]).max() > 0.2


def test_a_node_is_behind_a_surface_from_a_twentieth_of_a_face_on():
    """Size of a face: the root of twice its area."""
    nodes = [fem.Node3(p) for p in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0])]
    contact = NodeOnFaces(fem.Node3([0.5, 0.5, 0.1]), [nodes])
    p, x = np.zeros(1, contact.parameters), np.array([node.position for node in contact.nodes])
    p[0] = contact.record
    for depth, answer in ((0.04, 0.0), (0.06, 2.0)):
        x[0, 2], state = -depth * np.sqrt(2.0), np.zeros(contact.n_state)
        initial(p[0], x, state)
        assert trouble(p[0], x, state) == answer


def test_the_face_of_the_start_of_a_step_reaches_a_quarter_of_itself_beyond_smooth_edges():
    """Normals of flat faces tell which one it is; faces of the patch meet at 0.2 rad."""
    points, rows = sphere_patch()
    middle, across = points[[6, 7, 11, 12]].mean(axis=0), points[[11, 12]].mean(axis=0)  # of face 5, of an edge of it
    on_first, on_next = [], []
    for part in (0.9, 1.3, 1.7):  # from the middle to the edge and beyond
        place = middle + part * (across - middle)
        for start, found in ((middle, on_first), (2 * across - middle, on_next)):
            found.append(probed(points, rows, 1.01 * place, 1.01 * start, smooth=False)["normal"])
    first, same, other = np.array(on_first)
    assert np.abs(same - first).max() < 0.04 < 0.15 < np.abs(other - first).max()
    assert np.abs(on_next[1] - other).max() < 0.04


def test_foot_points_beyond_smooth_edges_are_not_cut_off():
    """0.2 of a face beyond an edge, on the face of the start: the way there is along the normal, to round-off."""
    points, rows = sphere_patch()
    middle, across = points[[6, 7, 11, 12]].mean(axis=0), points[[11, 12]].mean(axis=0)
    place = 1.05 * (middle + 1.3 * (across - middle))
    found = probed(points, rows, place, 1.05 * middle)
    assert place - found["point"] == pytest.approx(found["gap"][0] * found["normal"], abs=1e-13)
