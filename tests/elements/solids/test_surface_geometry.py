"""Geometry of surfaces of faces compared with closed forms: heights, foot points, rims, distances from borders."""

from types import SimpleNamespace

import numpy as np
import pytest
from face_probes import probed, sphere_patch

import fem_mbs as fem
from fem_mbs.elements.contacts.faces.face_guards import passed, trouble
from fem_mbs.elements.contacts.faces.face_kernels import facet, foot, height, surface
from fem_mbs.elements.contacts.faces.face_search import BORDER, CREASE, CUT, SMOOTH, initial
from fem_mbs.elements.contacts.faces.node_on_faces import NodeOnFaces


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


@pytest.mark.parametrize("nn", [3, 4])
def test_foot_points_are_found_on_sharply_bent_and_warped_faces(nn):
    """Places over a known point along its normal. Newton's steps alone went to and fro on some, up to a face away."""
    rng = np.random.default_rng(12)
    d, nu, N, z, S, r = np.zeros((2, 3)), np.zeros(3), np.zeros((4, 4)), np.zeros(6), np.zeros((6, 3)), np.zeros(3)
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    for _ in range(4000):
        X = (square if nn == 4 else square[[0, 1, 3, 3]]) + 0.2 * rng.uniform(-1, 1, (4, 3)) * [1, 1, 1.5]
        facet(nn, X, d, nu)
        h, at = 1.5 * rng.uniform(-1, 1, 8), rng.uniform(0, 1, 2)
        at = 1 - at if nn == 3 and at.sum() > 1 else at
        surface(nn, X, h, nu, *at, N, z, S)
        n = np.cross(S[1], S[2])
        y, uv = S[0] + 0.03 * rng.uniform(-1, 1) * n / np.linalg.norm(n), np.full(2, 1 / nn if nn == 3 else 0.5)
        assert foot(nn, X, h, nu, y, uv, N, z, S, r) and uv == pytest.approx(at, abs=1e-9), (X, h, at)


def test_a_face_that_its_neighbours_bend_too_much_is_rejected():
    """A strip of three that is rolled up. Outer ones are shorter and count twice: normals at nodes are soon behind.

    With tan = 2 sin/(1 + 2 cos) at the nodes the slope of 1.5 is reached at 80°, and infinity at 120°.
    """
    nodes = [fem.Node3([x, y, 0]) for x in range(4) for y in range(2)]
    rows = [(2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1) for k in range(3)]
    contact = NodeOnFaces(fem.Node3([1.5, 0.5, 0.6]), [[nodes[k] for k in row] for row in rows])
    p, at = np.zeros(1, contact.parameters), [contact.nodes.index(node) for node in nodes]
    p[0] = contact.record
    for degrees, answer in ((0, 0.0), (75, 0.0), (85, 5.0), (119, 5.0), (121, 5.0), (170, 5.0)):
        x, c, s = np.zeros((9, 3)), 0.5 * np.cos(np.radians(degrees)), 0.5 * np.sin(np.radians(degrees))
        x[0] = 1.5, 0.5, 0.6
        x[at] = [[px, y, pz] for px, pz in ((1 - c, -s), (1, 0), (2, 0), (2 + c, -s)) for y in range(2)]
        state = np.zeros(contact.n_state)
        initial(p[0], x, state)
        assert np.abs(state[1:25]).max() <= 1.5 * (1 + 1e-12) and trouble(p[0], x, state) == answer, degrees
        assert state[9] >= 0.0, degrees  # rolled downwards the middle bulges up
        up = x * [1, 1, -1]
        initial(p[0], up, state)
        assert state[9] <= 0.0, degrees
    for k, node in enumerate(contact.nodes):
        node.index = k
    assert "56°" in contact.trouble(SimpleNamespace(x=x, R=np.tile(np.eye(3), (len(x), 1, 1))))


def stepped(points, rows, start, end):
    """What is wrong with a node over faces at rest that goes straight from place to place; whether it has passed."""
    nodes = [fem.Node3(p) for p in points]
    contact = NodeOnFaces(fem.Node3(start), [[nodes[k] for k in row] for row in rows])
    p, x, state = (
        np.zeros(1, contact.parameters),
        np.array([n.position for n in contact.nodes]),
        np.zeros(contact.n_state),
    )
    p[0] = contact.record
    initial(p[0], x, state)
    x[0] = end
    return trouble(p[0], x, state), bool(passed(p[0], x, state))


STRIP = np.array([[x, y, z] for x, z in ((0, -1), (0, 0), (1, 0), (1, -1)) for y in (0, 1)], float)
ROWS = [(0, 2, 3, 1), (2, 4, 5, 3), (4, 6, 7, 5)]  # a wall, a roof of 1 m, a wall


WEDGE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, -np.tan(0.7)], [0, 1, -np.tan(0.7)]])
SIDES = [(0, 1, 2, 3), (4, 5, 2, 1)]  # above, and below at 0.7 rad


@pytest.mark.parametrize(("cut", "told"), [(0.5e-4, False), (2e-4, True), (0.1, True)])
def test_a_way_over_a_sharp_edge_that_cuts_in_by_less_than_1e_4_of_a_face_goes_through_nothing(cut, told):
    """From over a wedge to under it, as far from the edge above as below: halfway it is half as deep as at the end."""
    size = np.sqrt(2.0)  # of the upper face: root of twice its area
    off = 2 * cut * size / np.sin(0.7)  # from the edge
    enters, leaves = np.array([1 - off, 0.5, 0]), np.array([1 - off * np.cos(0.7), 0.5, -off * np.sin(0.7)])
    on = 0.1 * (leaves - enters) / np.linalg.norm(leaves - enters)
    assert stepped(WEDGE, SIDES, enters - on, leaves + on) == (3.0 * told, told)


def test_in_a_slot_a_node_that_goes_from_wall_to_wall_goes_through_neither():
    """It leaves one, into which it was pressed a little, before it comes to the other."""
    slot = [row[::-1] for row in ROWS]  # seen from inside
    for start, end in (([-1e-3, 0.5, -0.5], [1.001, 0.5, -0.5]), ([1.001, 0.5, -0.4], [-1e-3, 0.5, -0.6])):
        assert stepped(STRIP, slot, start, end) == (0.0, False)
    assert stepped(STRIP, ROWS, [-0.3, 0.5, -0.5], [1.3, 0.5, -0.5]) == (3.0, True)  # a body of the same form
    assert stepped(STRIP, ROWS, [-0.3, 0.5, 0.1], [1.3, 0.5, 0.1]) == (0.0, False)  # over it


def test_over_a_blunt_edge_a_way_that_cuts_in_is_no_way_through_the_body():
    """A roof of 120°, its sides turned by 60°: what a long step cuts off, the contact lifts."""
    points = np.array([[x, y, z] for x, z in ((-1, -0.577), (0, 0), (1, -0.577)) for y in (0, 1)])
    assert not stepped(points, [(0, 2, 3, 1), (2, 4, 5, 3)], [-0.4, 0.5, -0.1], [0.4, 0.5, -0.1])[1]


def test_a_node_that_comes_over_a_ridge_from_next_to_and_below_is_welcome():
    """Round the edge of a wedge; where the edge is a border, what is lower was not on the surface."""
    way = [1.06, 0.5, -0.0025], [0.98, 0.5, 0.001]
    assert stepped(WEDGE, SIDES, *way)[0] == 0.0
    assert stepped(WEDGE, SIDES[:1], *way)[0] == 4.0


def test_beyond_the_end_of_a_corner_between_floor_and_wall_there_is_air():
    """Next to the border of both, nearest to the point where the valley ends; their planes do not continue there."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]], float)
    rows = [(0, 1, 2, 3), (0, 3, 5, 4)]
    for order in (rows, rows[::-1]):
        for place in ([-0.1, -0.2, -0.01], [-0.1, 1.2, -0.05]):
            distance = np.linalg.norm(np.array(place) - [0, round(place[1]), 0])
            assert probed(points, order, place)["gap"][0] == pytest.approx(distance)


def test_over_a_ridge_a_face_continues_by_a_twentieth_for_what_is_in_front_of_it():
    """On one of both faces of a box, whose planes are 0.04 and 0.045 from it; farther out the edge is nearest."""
    for order in (ROWS[1:], ROWS[:0:-1]):
        near, far = (probed(STRIP, order, place)["gap"][0] for place in ([1.04, 0.5, 0.045], [1.06, 0.5, 0.08]))
        assert min(abs(near - 0.04), abs(near - 0.045)) < 1e-12 and far == pytest.approx(0.1)


def test_an_edge_of_warped_faces_is_a_ridge_for_both():
    """A sharp one: by the nodes of one face alone the other rose from it, and its plane continued in the air."""
    w = 0.1
    points = np.array([[0, 0, w], [1, 0, -w], [1, 1, w], [0, 1, -w], [0.9, 0, -w - 0.05], [0.9, 1, w - 0.05]])
    for rows in ([(0, 1, 2, 3), (1, 4, 5, 2)], [(1, 4, 5, 2), (0, 1, 2, 3)], [(3, 0, 1, 2), (5, 2, 1, 4)]):
        for beside in (0.3, 0.1, 0.03):
            found = probed(points, rows, [1 + beside, 0.5, -0.01])  # the edge is inclined by 0.2
            assert found["gap"][0] == pytest.approx(np.hypot(beside, 0.01 / np.sqrt(1.04)), rel=1e-9)


def test_next_to_the_end_of_a_ridge_there_is_air_where_the_surface_ends_too():
    """The corner of a sharp wedge whose end faces do not belong to the surface: next to the ridge and next to a border.

    Behind the upper face no plane continues. The lower one does, which the node is in front of.
    """
    down = np.array([np.sin(0.7), 0.0, -np.cos(0.7)])
    for order in (SIDES, SIDES[::-1]):
        for place in ([1.02, -0.02, -0.005], [1.01, 1.03, -0.002], [1.04, -0.005, -0.01]):
            least = down @ (np.array(place) - [1, 0, 0])
            most = np.linalg.norm(np.array(place) - [1.0, round(place[1]), 0.0])
            assert least * (1 - 1e-9) <= probed(WEDGE, order, place)["gap"][0] <= most * (1 + 1e-9), place


def test_a_corner_beyond_which_the_surface_continues_out_of_reach_is_such_a_corner_whatever_meets_there():
    """A floor with a wall at x = 0; both go on beyond y = 1, where faces were left out."""
    nodes = [fem.Node3(p) for p in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1])]
    faces = [[nodes[k] for k in row] for row in ((0, 1, 2, 3), (0, 3, 5, 4))]
    kinds = NodeOnFaces(fem.Node3([0.5, 0.5, 0.1]), faces, cut=[(0, 2), (1, 1)]).tables[0]
    assert kinds[0, 5:9].tolist() == [BORDER, BORDER, CUT, CREASE] and kinds[1, 5:9].tolist() == [
        CREASE,
        CUT,
        BORDER,
        BORDER,
    ]
    assert kinds[0, 9:].tolist() == [CREASE, BORDER, CUT, CUT] and kinds[1, 9:].tolist() == [CREASE, CUT, CUT, BORDER]


def test_arcs_keep_the_surface_close_to_a_sphere_up_to_its_border():
    """In the outer row, whose nodes at the border have faces on one side: 36 and 55 times as close as flat faces."""
    rng = np.random.default_rng(3)
    for count in (5, 9):
        points, rows = sphere_patch(count)
        grid, worst = points.reshape(count, count, 3), np.zeros(2)
        for _ in range(30):
            k, (s, t) = rng.integers(1, count - 2), rng.uniform(0.1, 0.9, 2)
            for i, j in ((0, 1), (count - 1, count - 2)):  # the first row and the last: the border comes first or last
                low, high = (1 - s) * grid[i, k] + s * grid[j, k], (1 - s) * grid[i, k + 1] + s * grid[j, k + 1]
                place = (1 - t) * low + t * high
                place *= 2.1 / np.linalg.norm(place)
                found = [abs(probed(points, rows, place, smooth=smooth)["gap"][0] - 0.1) for smooth in (True, False)]
                worst = np.maximum(worst, found)
        assert worst[0] < worst[1] / 20, (count, worst)


@pytest.mark.parametrize("twist", [0.8, -0.8])
def test_the_angle_at_an_edge_is_that_in_its_middle(twist):
    """A twisted face continues from a flat one without an angle there; at the nodes it is 0.67 rad, above `crease`."""
    nodes = [fem.Node3(p) for p in ([0, 0, 0], [0, 1, 0], [1, 0, twist], [1, 1, -twist], [-1, 0, 0], [-1, 1, 0])]
    faces = [[nodes[k] for k in row] for row in ((0, 2, 3, 1), (4, 0, 1, 5))]
    kinds = NodeOnFaces(fem.Node3([-0.5, 0.5, 1]), faces, crease=0.6).tables[0]
    assert kinds[0, 5:9].tolist() == [BORDER, BORDER, BORDER, SMOOTH] and kinds[1, 6] == SMOOTH


def test_the_surface_continues_by_a_twentieth_of_a_face_beyond_its_border():
    points = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0]]
    near, far = (probed(points, [(0, 1, 2, 3)], [2 + beyond, 1, 0.03]) for beyond in (0.08, 0.12))
    assert near["gap"][0] == pytest.approx(0.03, abs=1e-14)
    assert far["gap"][0] == pytest.approx(np.hypot(0.12, 0.03), abs=1e-14)


def test_next_to_a_border_the_gap_has_the_gradient_of_the_distance_from_it():
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
    """Normals of flat faces identify the face; faces of the patch meet at 0.2 rad."""
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
