"""Skins of shells: where their points are, and that forces on them turn the nodes."""

import numpy as np
import pytest
from face_probes import sphere_patch
from shell_models import CARBON, STEEL

import fem_mbs as fem
from fem_mbs.arguments.values import Values
from fem_mbs.element.evaluator import Evaluator, Point
from fem_mbs.elements.shells.skin import skin
from fem_mbs.errors import ParameterError
from fem_mbs.rotations import exp


class Owner(Values):
    """In whose name skins raise errors."""

    name = "owner"


def sheet(thickness):
    return fem.ShellSection(STEEL, thickness)


def points_of(body, side, group=None, faces=False):
    """Places (n, 3) of the skin and its faces."""
    points, rows = skin(Owner(), "group", body, group, side, with_faces=faces)
    return np.array([point.position for point in points]), rows


def bent(angle, thickness=0.1, n=4):
    """Two strips of 1 m that meet on the y axis, the second turned down by an angle [rad]."""

    def form(x):
        s = x[:, :1] - 1.0
        along = np.where(s > 0, np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([1.0, 0, 0]))
        return s * along + x * [0, 1, 0]

    return fem.ShellBody(fem.panel_mesh([2, 1], [2 * n, n], form=form), sheet(thickness), fold=0.3, name="bent")


@pytest.mark.parametrize("cell", ["quad", "triangle"])
def test_points_of_a_curved_shell_lie_on_both_its_faces_wherever_it_is(cell):
    """A cylinder of 0.5 m with exact normals: radii are R ± h/2, in a body that is moved and turned."""
    radius, h, turn, place = 0.5, 0.04, exp(np.array([0.3, -1.0, 2.0])), np.array([1.0, 2.0, 3.0])
    mesh = fem.panel_mesh([1, 1], [3, 6], cell=cell, radius=radius)
    body = fem.ShellBody(
        mesh, sheet(h), normals=lambda x: x * [0, 1, 1] / radius, position=place, rotation=turn, name="roof"
    )
    for side, r in (("top", radius + h / 2), ("bottom", radius - h / 2)):
        x = (points_of(body, side)[0] - place) @ turn
        assert len(x) == len(body.nodes)
        assert np.linalg.norm(x[:, 1:], axis=1) == pytest.approx(r, abs=1e-14)


def test_faces_look_out_of_their_side():
    body = fem.ShellBody(fem.panel_mesh([1, 1], [2, 3]), sheet(0.1))
    for side, up in (("top", 1.0), ("bottom", -1.0)):
        x, rows = points_of(body, side, faces=True)
        normals = np.array([np.cross(x[row[2]] - x[row[0]], x[row[3]] - x[row[1]]) for row in rows])
        assert len(rows) == 6 and (np.sign(normals[:, 2]) == up).all()
        assert x[:, 2] == pytest.approx(0.05 * up)


def test_layers_of_different_density_have_faces_at_different_distances():
    """Nodes are on the surface of the centres of mass: here 3.2 mm below the top and 1.8 mm above the bottom."""
    heavy, light = fem.SolidMaterial(1e9, 0.3, 3000.0), fem.SolidMaterial(1e9, 0.3, 1000.0)
    section = fem.ShellSection.layered([(heavy, 3e-3, 0.0), (light, 2e-3, 0.0)])
    centre = (3000 * 3e-3 * 1.5e-3 + 1000 * 2e-3 * 4e-3) / (3000 * 3e-3 + 1000 * 2e-3)
    body = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), section)
    assert points_of(body, "top")[0][:, 2] == pytest.approx(5e-3 - centre, rel=1e-12)
    assert points_of(body, "bottom")[0][:, 2] == pytest.approx(-centre, rel=1e-12)


@pytest.mark.parametrize("left, right", [(0.2, 0.1), (0.1, 0.2)])
def test_where_thickness_changes_the_thicker_cells_count(left, right):
    whole = fem.panel_mesh([2, 1], [4, 2])
    x = whole.points[whole.cells["quad"]].mean(axis=1)[:, 0]
    parted = fem.Mesh(
        whole.points, whole.cells, {"left": {"quad": np.flatnonzero(x < 1)}, "right": {"quad": np.flatnonzero(x > 1)}}
    )
    body = fem.ShellBody(parted, {"left": sheet(left), "right": sheet(right)})
    for side, up in (("top", 0.5), ("bottom", -0.5)):
        z = points_of(body, side)[0][:, 2]
        away = body.reference[:, 0] - 1.0
        assert z[away < -1e-9] == pytest.approx(left * up, abs=1e-15)
        assert z[away > 1e-9] == pytest.approx(right * up, abs=1e-15)
        assert z[abs(away) < 1e-9] == pytest.approx(0.2 * up, abs=1e-15)
        z = points_of(body, side, "right")[0][:, 2]
        assert z == pytest.approx(right * up, abs=1e-15)  # of its cells alone


@pytest.mark.parametrize("angle", [0.5, 1.5, 2.0])
def test_faces_of_cells_at_a_fold_meet_in_a_corner(angle):
    """Of planes at h/2 from both strips, outside and inside: cross-section by trigonometry."""
    h = 0.1
    body = bent(angle, h)
    at_fold = np.linalg.norm(body.reference[:, ::2], axis=1) < 1e-12
    outside = np.array([np.sin(angle / 2), np.cos(angle / 2)]) * 0.5 * h / np.cos(angle / 2)
    for side, sign in (("top", 1.0), ("bottom", -1.0)):
        x, rows = points_of(body, side, faces=True)
        assert x[at_fold][:, ::2] == pytest.approx(np.tile(sign * outside, (5, 1)), abs=1e-14)
        edges = np.concatenate([np.stack([row, np.roll(row, -1)], axis=1) for row in rows]).tolist()
        assert sum([b, a] in edges for a, b in edges) == 2 * (7 * 4 + 8 * 3)  # all edges inside have two faces


def test_cells_at_a_rib_have_points_on_all_their_faces_but_no_single_side():
    """A skin of 0.1 m, 0.14 m behind a rib of 0.2 m below: points over the rib are on the top of the thicker part."""
    x = np.array([[i, j, 0.0] for i in range(3) for j in range(2)] + [[1.0, j, -1.0] for j in range(2)])
    rows = np.array([[0, 2, 3, 1], [2, 4, 5, 3], [2, 3, 7, 6]])
    groups = {"skin": [0, 1], "front": [0], "behind": [1], "rib": [2]}
    mesh = fem.Mesh(x, {"quad": rows}, {name: {"quad": np.array(numbers)} for name, numbers in groups.items()})
    body = fem.ShellBody(mesh, {"front": sheet(0.1), "behind": sheet(0.14), "rib": sheet(0.2)})
    top = points_of(body, "top")[0]
    assert top[:6, 2] == pytest.approx([0.05, 0.05, 0.07, 0.07, 0.07, 0.07], abs=1e-14)
    assert abs(top[6:, 0] - 1.0) == pytest.approx(0.1, abs=1e-14)
    with pytest.raises(ParameterError, match=r"group = .*1 edges.*three"):
        points_of(body, "top", faces=True)
    assert len(points_of(body, "top", "skin", faces=True)[1]) == 2


def test_sharp_folds_and_thick_shells_of_small_radius_are_rejected():
    with pytest.raises(ParameterError, match=r"group = .*\[0\.0, 0\.0, 0\.0\] m .*120°"):
        points_of(bent(2.2), "top")
    tube = fem.panel_mesh([1, 0.3], [1, 6], radius=0.1)
    body = fem.ShellBody(tube, sheet(0.3), name="tube")
    points_of(body, "top", faces=True)
    with pytest.raises(ParameterError, match=r"group = .*thickness.*half"):
        points_of(body, "bottom", faces=True)


def test_layers_with_fibres_have_points_too():
    ply = fem.ShellSection.layered([(CARBON, 1e-3, 0.0), (CARBON, 1e-3, 1.0)])
    body = fem.ShellBody(fem.panel_mesh([1, 1], [1, 1]), ply, axis=[1, 0, 0])
    assert points_of(body, "top")[0][:, 2] == pytest.approx(1e-3)


# --- a frame on faces -------------------------------------------------------------------------------------------------


def pose_of(contact):
    """The point at which a contact is at the start of a run, and what evaluates it."""
    call, point = Evaluator(contact), Point()
    point.x = point.x0 = np.array([node.position for node in contact.nodes])
    point.R = point.R0 = np.array([node.rotation for node in contact.nodes])
    point.v = point.a = np.zeros(6 * len(contact.nodes))
    point.s, point.t, point.gravity, point.lam = np.zeros((0, 3)), 0.0, np.zeros(3), np.zeros(0)
    point.state, point.size, point.width = np.zeros(contact.n_state), 1.0, 6
    point.state = call("initial", point)["state"]
    return call, point


def gap_of(contact):
    """Gap at the start."""
    call, point = pose_of(contact)
    return call("contact", point)["gap"][0]


def offset_patch(seed=3, height=2.05):
    """A frame over a patch of a sphere of 2 m, all on turned nodes with offsets as large as faces: contact, a point."""
    random = np.random.default_rng(seed)
    points, rows = sphere_patch(4, 2.0, 0.8)
    places = [*points, [0.13, 0.21, height]]
    arms, turns = 0.5 * random.normal(size=(len(places), 3)), [exp(random.normal(size=3)) for _ in places]
    nodes = [fem.Node6(np.array(y) - R @ a, R) for y, a, R in zip(places, arms, turns)]
    frames = [node.frame(a) for node, a in zip(nodes, arms)]
    contact = fem.FrameOnFaces(frames[-1], [[frames[k] for k in row] for row in rows], friction=0.3)
    call, point = pose_of(contact)
    start = point.moved(0.02 * random.normal(size=6 * len(contact.nodes)))
    point.x0, point.R0 = start.x, start.R
    return call, point, random


@pytest.mark.parametrize("height", [2.05, 1.85])
def test_rows_and_curvature_of_a_frame_with_long_arms_are_gradients(height):
    """In front of the surface and behind it, where the gap is counted from the other side."""
    call, point, random = offset_patch(height=height)
    out, H = call("contact", point), call("contact_hessian", point)["H_N"]
    assert np.abs(out["G_N"].reshape(-1, 6)[:, 3:]).max() > 0.1  # moments
    e = 1e-5
    for _ in range(20):
        u = random.normal(size=out["G_N"].size)
        one, other = (call("contact", point.moved(sign * e * u)) for sign in (1, -1))
        scale = np.linalg.norm(u)
        assert out["G_N"] @ u == pytest.approx((one["gap"][0] - other["gap"][0]) / (2 * e), abs=1e-8 * scale)
        assert out["G_T"] @ u == pytest.approx((one["slip"] - other["slip"]) / (2 * e), abs=1e-8 * scale)
        assert H @ u == pytest.approx((one["G_N"] - other["G_N"]) / (2 * e), abs=1e-7 * scale)


def test_forces_of_a_frame_on_faces_add_to_nothing_and_have_no_moment():
    call, point, random = offset_patch()
    out = call("contact", point)
    for _ in range(5):
        drift, spin = random.normal(size=(2, 3))
        v = np.concatenate([[*(drift + np.cross(spin, x)), *(R.T @ spin)] for x, R in zip(point.x, point.R)])
        for rows in (out["G_N"], *out["V_T"], *out["G_T"]):
            assert abs(rows @ v) < 1e-12


@pytest.mark.parametrize("node_at, point_at, expected", [(-0.5, 1.2, 0.0), (0.5, 0.8, 2.0)])
def test_what_ends_a_run_is_asked_of_points_and_not_of_their_nodes(node_at, point_at, expected):
    """A face 1 m over its nodes: a point in front of it on a node behind these, and the other way round."""
    nodes = [fem.Node6(place) for place in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0])]
    body = fem.RigidBody(1.0, 1.0, position=[0.5, 0.5, node_at])
    contact = fem.FrameOnFaces(body.frame([0, 0, point_at - node_at]), [[node.frame([0, 0, 1]) for node in nodes]])
    _, point = pose_of(contact)
    p = np.zeros(1, contact.parameters)
    p[0] = contact.record
    assert contact.kernels["trouble"](p[0], point.x, point.R, point.state) == expected
    contact.kernels["accept"](p[0], point.x, point.R, point.state)
    assert point.state[-15:].reshape(5, 3)[:, 2] == pytest.approx([point_at, 1, 1, 1, 1])


@pytest.mark.parametrize("side, sign", [("top", 1.0), ("bottom", -1.0)])
def test_faces_of_a_curved_shell_are_at_half_its_thickness_between_nodes_too(side, sign):
    """Gaps over a pipe of R = 1 m, h = 0.1 m, cells of 11°: 1.2e-5 m, and of fourth order (4, 8, 16 cells)."""
    radius, h, gap = 1.0, 0.1, 0.02
    mesh = fem.panel_mesh([1, np.pi / 2], [2, 8], radius=radius)
    pipe = fem.ShellBody(mesh, sheet(h), normals=lambda x: x * [0, 1, 1] / radius, name="pipe")
    random = np.random.default_rng(1)
    for angle, x in zip(random.uniform(0.4, 1.1, 10), random.uniform(0.2, 0.8, 10)):
        r = radius + sign * (h / 2 + gap)
        ball = fem.RigidBody(1.0, 1.0, position=[x, r * np.sin(angle), r * np.cos(angle)])
        contact = fem.SurfaceOnSurface([ball.frame()], None, pipe, None, side_B=side).elements[0]
        assert gap_of(contact) == pytest.approx(gap, abs=2e-5)


def test_without_offsets_a_frame_on_faces_is_a_node_on_faces():
    points, rows = sphere_patch(4, 2.0, 0.8)
    found = []
    for kind in (fem.FrameOnFaces, fem.NodeOnFaces):
        nodes = [fem.Node6(place) for place in [*points, [0.13, 0.21, 2.05]]]
        corners = [node.frame() for node in nodes] if kind is fem.FrameOnFaces else nodes
        contact = kind(corners[-1], [[corners[k] for k in row] for row in rows], friction=0.3)
        call, point = pose_of(contact)
        found.append({**call("contact", point), **call("contact_hessian", point)})
    for name in ("gap", "slip", "G_N", "G_T", "V_T", "H_N", "point", "normal", "tangents"):
        assert np.array_equal(found[0][name], found[1][name]), name


def test_bad_input_of_frames_on_faces_is_rejected_by_name():
    body = fem.RigidBody(1.0, 1.0, position=[0, 0, 1])
    nodes = [fem.Node6(place) for place in ([0, 0, 0], [1, 0, 0], [0, 1, 0])]
    corners = [node.frame([0, 0, 0.1]) for node in nodes]
    refused = {
        "must be lists of three or four frames, all different": lambda: fem.FrameOnFaces(body, [nodes]),
        "all different": lambda: fem.FrameOnFaces(body, [[corners[0], corners[1], corners[0]]]),
        "is on a node that carries faces": lambda: fem.FrameOnFaces(nodes[0].frame([0, 0, 1]), [corners]),
        "frame = .* belongs to one of the faces": lambda: fem.FrameOnFaces(corners[0], [corners]),
        "resistances to rotation": lambda: fem.FrameOnFaces(body, [corners], rolling_resistance=0.1),
        "frame = 3": lambda: fem.FrameOnFaces(3, [corners]),
    }
    for message, call in refused.items():
        with pytest.raises(ParameterError, match=message):
            call()
