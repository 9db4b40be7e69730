"""Obstacles that fit between the nodes of a surface: nodes alone touch, so that they pass, and that is reported."""

import math
import warnings

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.arguments.checked import Named
from fem_mbs.elements.contacts.faces.holes import holes, narrow, tell_small_obstacle
from fem_mbs.elements.solids.between_nodes import BetweenNodes
from fem_mbs.rotations import exp

RUBBER = fem.SolidMaterial(E=1e6, nu=0.3, density=1000.0)
SINKS = 0.5  # of the radius: reported from there on


def words(make, *arguments, **options):
    """What ``make(…)`` returns, and the warnings of it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = make(*arguments, **options)
    return made, [str(one.message) for one in told]


def block(cell="hexahedron", form=None):
    """2 × 2 × 1, cells of 1 × 1 × ½, top at z = 0, held at the bottom."""
    mesh = fem.block_mesh([2, 2, 1], [2, 2, 2], cell=cell, form=form)
    body = fem.SolidBody(mesh, RUBBER, position=[0, 0, -1], name="block")
    body.fix("z0")
    return body


def radius_told(hole):
    """The radius at which r − √(r² − ℓ²) = r/2."""
    return hole / math.sqrt(1.0 - (1.0 - SINKS) ** 2)


def thrown(radius):
    """How deep a heavy ball sinks into the middle of a cell, over its radius; and what is reported."""
    body = block()
    ball = fem.RigidBody.sphere(50.0, radius, position=[0.5, 0.5, radius + 0.1], velocity=[0, 0, -3], name="ball")
    touch, told = words(fem.SurfaceContacts, body, "z1", sphere=ball, radius=radius, name="touch")
    model = fem.Model("ball", gravity=[0, 0, 0])
    model.add(body, ball, touch)
    result = fem.DecoupledNSGA().run(model, t_end=0.3, h=2e-3)
    hit = any(result[contact.name].impulse[:, 0].any() for contact in touch.elements)
    return hit, told


def test_a_ball_that_fits_between_nodes_passes_and_is_reported_one_that_does_not_touches():
    """Four nodes at ±½: the ball passes below a radius of 1/√2."""
    passes, told = thrown(0.99 * math.sqrt(0.5))
    assert not passes and len(told) == 1
    for part in ("SurfaceContacts 'touch'", "0.707 m", "passes between", "SurfaceOnSurface([ball.frame(point)"):
        assert part in told[0]
    touches, told = thrown(1.01 * math.sqrt(0.5))
    assert touches and len(told) == 1 and "up to 0.614 m" in told[0]  # r − √(r² − ½)


@pytest.mark.parametrize("shell", [False, True])
@pytest.mark.parametrize("factor, is_told", [(0.98, True), (1.02, False)])
def test_the_radius_of_a_ball_is_reported_up_to_where_it_sinks_in_by_a_half(shell, factor, is_told):
    radius = factor * radius_told(math.sqrt(0.5))
    ball = fem.RigidBody.sphere(1.0, radius, position=[0.5, 0.5, radius + 0.1])
    if shell:
        sheet = fem.ShellSection(RUBBER, 0.01)
        body = fem.ShellBody(fem.panel_mesh([2, 2], [2, 2]), sheet, name="sheet")
        told = words(fem.SurfaceContacts, body, None, sphere=ball, radius=radius, side="top")[1]
    else:
        told = words(fem.SurfaceContacts, block(), "z1", sphere=ball, radius=radius)[1]
    assert bool(told) == is_told


@pytest.mark.parametrize("cell, hole", [("hexahedron", math.sqrt(0.5)), ("tetra", math.sqrt(0.5))])
def test_squares_and_their_halves_have_the_same_hole(cell, hole):
    """The middle of a square, and the middle of the long edge of a right-angled triangle."""
    for factor in (0.98, 1.02):
        radius = factor * radius_told(hole)
        ball = fem.RigidBody.sphere(1.0, radius, position=[0.5, 0.5, radius + 0.1])
        body = block(cell)
        assert bool(words(fem.SurfaceContacts, body, "z1", sphere=ball, radius=radius)[1]) == (factor < 1.0)


@pytest.mark.parametrize("angle, hole", [(0.0, 0.5), (0.25 * math.pi, 0.5 * math.sqrt(0.5))])
def test_a_cylinder_passes_between_rows_of_nodes_along_its_axis(angle, hole):
    for factor in (0.98, 1.02):
        radius = factor * radius_told(hole)
        model = fem.Model()
        turn = fem.rotations.exp(np.array([0, 0, angle])) @ fem.rotations.exp(np.array([0, 0.5 * math.pi, 0]))
        axis = model.ground.frame([1, 1, radius + 0.1], turn)
        told = words(fem.SurfaceContacts, block(), "z1", cylinder=axis, radius=radius)[1]
        assert bool(told) == (factor < 1.0)


@pytest.mark.parametrize(
    "size, is_told",
    [([3.0, 3.0, 0.1], False), ([0.8, 0.8, 3.0], True), ([3.0, 1.02, 0.8], False), ([1.42, 1.42, 0.1], False)],
    ids=["plate", "post", "post that lies", "smaller plate"],
)
def test_a_box_is_as_wide_as_the_side_of_it_that_looks_at_the_body(size, is_told):
    """Narrower than the circle of 1.41 m between four nodes both ways; a long one is caught by rows of nodes."""
    place = fem.Model().ground.frame([1, 1, 0.5 * size[2] + 0.1])
    told = words(fem.SurfaceContacts, block(), "z1", box=place, size=size, radius=0.01)[1]
    assert bool(told) == is_told


@pytest.mark.parametrize("angle, row", [(0.0, 1.0), (0.25 * math.pi, math.sqrt(0.5))])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_slab_passes_between_rows_of_nodes_along_it_and_is_reported(angle, row, factor):
    """Between the rows y = 0 and 1 of squares of 1; along their diagonals rows are 1/√2 apart."""
    size, body = [3.0, factor * row, 0.4], block()
    middle = [0.5, 0.5, 0.3] if angle == 0.0 else [0.75, 0.25, 0.3]  # between two rows
    turned = fem.rotations.exp(np.array([0, 0, angle]))
    slab = fem.RigidBody.box(500.0, size, position=middle, rotation=turned, velocity=[0, 0, -3], name="slab")
    touch, told = words(fem.SurfaceContacts, body, "z1", box=slab, size=size, radius=0.01, name="touch")
    assert len(told) == (factor < 1.0)
    assert not told or f"{size[1]:.3g} m wide passes between" in told[0]
    model = fem.Model("slab", gravity=[0, 0, 0])
    model.add(body, slab, touch)
    result = fem.DecoupledNSGA().run(model, t_end=0.08, h=2e-3)
    hit = any(result[contact.name].impulse[:, 0].any() for contact in touch.elements)
    assert hit == (factor > 1.0)


def test_only_faces_near_the_obstacle_count():
    """A mesh that is fine where a ball meets it, and coarse beyond."""

    def graded(x):
        return np.column_stack([np.where(x[:, 0] > 1.0, 1.0 + 6.0 * (x[:, 0] - 1.0), x[:, 0]), x[:, 1:]])

    for place, is_told in ((0.5, False), (5.0, True)):
        ball = fem.RigidBody.sphere(1.0, 1.2, position=[place, 1.0, 1.3])
        told = words(fem.SurfaceContacts, block(form=graded), "z1", sphere=ball, radius=1.2)[1]
        assert bool(told) == is_told


def test_a_bore_and_a_plane_have_no_size_that_passes():
    model, body = fem.Model(), block()
    assert not words(fem.SurfaceContacts, body, "z1", model.ground.frame([0, 0, 1], [math.pi, 0, 0]))[1]
    axis = model.ground.frame([1, 1, 0], [0.5 * math.pi, 0, 0])
    assert not words(fem.SurfaceContacts, body, "z0", cylinder=axis, radius=0.1, hollow=True)[1]


def pressed(side, place, first="coarse", **options):
    """A small block that falls on the coarse one: True if anything touches, and what is reported."""
    coarse = block()
    small = fem.SolidBody(
        fem.block_mesh([side, side, 0.3], [1, 1, 1], cell="hexahedron"), RUBBER,
        position=[place - 0.5 * side, place - 0.5 * side, 0.01], velocity=[0, 0, -1], name="small",
    )  # fmt: skip
    pair = (coarse, "z1", small, "z0") if first == "coarse" else (small, "z0", coarse, "z1")
    touch, told = words(fem.SurfaceOnSurface, *pair, name="touch", **options)
    model = fem.Model("small on coarse", gravity=[0, 0, 0])
    model.add(coarse, small, touch)
    result = fem.DecoupledNSGA().run(model, t_end=0.04, h=2e-3)
    return any(result[contact.name].impulse[:, 0].any() for contact in touch.elements), told


@pytest.mark.parametrize(
    "options, touches, is_told",
    [
        ({}, False, True),
        ({"both": True}, True, False),
        ({"first": "small"}, True, False),
    ],
    ids=["passes", "both", "small first"],
)
def test_a_second_surface_that_fits_between_nodes_of_the_first_is_reported(options, touches, is_told):
    found, told = pressed(0.6, 0.5, **options)
    assert found == touches and bool(told) == is_told
    if told:
        assert "0.6 m wide" in told[0] and "both=True" in told[0]


def test_a_second_surface_over_a_node_of_the_first_touches_and_nothing_is_reported():
    """As wide as a cell where meshes match, or narrower on a node."""
    for side, place in ((0.6, 1.0), (1.0, 0.5)):
        found, told = pressed(side, place)
        assert found and not told


@pytest.mark.parametrize(
    "corner, hole",
    [
        ([0.5, math.sqrt(0.75), 0.0], math.sqrt(1.0 / 3.0)),  # equilateral: the circle through the corners
        ([0.0, 1.0, 0.0], math.sqrt(0.5)),  # right angle: half of the long edge
        ([0.5, 0.1, 0.0], 0.1),  # obtuse: the middle of the long edge is near the third corner
    ],
    ids=["equilateral", "right angle", "obtuse"],
)
def test_the_hole_of_a_triangle(corner, hole):
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], corner])
    assert holes(x, [np.array([0, 1, 2])]) == pytest.approx([hole])


def beside(side, first="block", **options):
    """Warning about a second block that is next to the first at the start, over none of its nodes."""
    coarse = block()
    if first == "shell":
        coarse = fem.ShellBody(fem.panel_mesh([2, 2], [2, 2]), fem.ShellSection(RUBBER, 0.01), name="sheet")
        options["side_A"] = "top"
    small = fem.SolidBody(
        fem.block_mesh([side, side, 0.3], [1, 1, 1], cell="hexahedron"), RUBBER, position=[2.5, 0.1, 0.05], name="small"
    )
    group = None if first == "shell" else "z1"
    return words(fem.SurfaceOnSurface, coarse, group, small, "z0", **options)[1]


@pytest.mark.parametrize("first", ["block", "shell"])
def test_a_second_surface_next_to_the_first_is_reported_by_its_width_alone(first):
    """Narrower than the circle of 1.41 m between four nodes, or wider."""
    assert len(beside(1.4, first)) == 1
    assert not beside(1.43, first)


def test_a_second_surface_whose_nodes_touch_too_does_not_pass():
    assert not beside(0.6, both=True)


def test_the_width_of_a_second_surface_is_the_smallest_in_its_plane():
    """3 long and 0.6 wide, turned in space: it passes between rows of nodes all along."""
    corners = np.array([[0, 0, 0], [3, 0, 0], [3, 0.6, 0], [0, 0.6, 0], [1, 0.3, 0]])
    assert narrow(corners @ fem.rotations.exp(np.array([0.5, -0.8, 1.1]))) == pytest.approx(0.6)


def test_larger_faces_within_the_width_of_the_second_surface_count():
    """Cells of 0.3 and 1.7 along x: the nearer ones catch a block of 1.2, the others do not."""

    def graded(x):
        return np.column_stack([np.where(x[:, 0] > 1.0, 0.3 + 1.7 * (x[:, 0] - 1.0), 0.3 * x[:, 0]), x[:, 1:]])

    small = fem.SolidBody(
        fem.block_mesh([1.2, 1.2, 0.3], [1, 1, 1], cell="hexahedron"), RUBBER, position=[-1.35, 0.1, 0.05], name="small"
    )
    assert len(words(fem.SurfaceOnSurface, block(form=graded), "z1", small, "z0")[1]) == 1


@pytest.mark.parametrize("apart, is_told", [(1.9, True), (2.1, False)])
def test_wide_faces_within_the_radius_of_the_nearest_count(apart, is_told):
    """A ball of radius 1 over a fine face, 1 away; a coarse one lies farther by less than its radius, or by more."""
    ways, found = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, apart]]), np.array([0.1, 5.0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tell_small_obstacle(Named("ball"), "radius", 1.0, ways, found)
    assert len(told) == is_told


def edge_on_coarse_cells(cells, lean):
    """Return what a run reports of a box on a block: flat, or with an edge along the middles of cells."""
    mesh = fem.block_mesh([1, 1, 0.2], [cells, cells, 1], cell="hexahedron")
    body = fem.SolidBody(mesh, RUBBER, name="block")
    body.fix("z0")
    size, edge = np.array([0.6, 0.6, 0.1]), 0.5 * (0.6 * np.sin(lean) + 0.1 * np.cos(lean))
    held = ("x", "y", "rx", "ry", "rz")
    place = {"position": [0.739, 0.5, 0.2 + edge + 0.01], "rotation": [0, -lean, 0], "velocity": [0, 0, -0.5]}
    box = fem.RigidBody.box(5.0, size, **place, fixed=held, name="box")
    model = fem.Model("edge", gravity=[0, 0, -9.81])
    touch, told = words(fem.SurfaceContacts, body, "z1", box=box, size=size, radius=2e-3, name="top")
    model.add(body, box, touch)
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.2, h=2e-3)
    assert not told
    return [text for text in result.warnings if "between nodes" in text]


def test_an_edge_of_a_box_that_sinks_in_between_nodes_is_reported_by_the_run():
    (text,) = edge_on_coarse_cells(3, 0.5)
    assert text.startswith("SurfaceContacts 'top': at t = ") and "shortest edge" in text
    assert edge_on_coarse_cells(3, 0.0) == []


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "box"])
def test_the_depth_between_nodes_is_that_of_the_middle_of_a_face_less_that_of_its_nodes(kind):
    nodes = [fem.Node3(x) for x in ([-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0])]
    x, frame, half = np.array([node.position for node in nodes]), fem.Node6([0, 0, 0]).frame(), None
    if kind == "box":
        half = np.array([0.5, 0.5, 0.4])
    between = BetweenNodes(nodes, [np.arange(4)], frame, 0.1 if kind == "box" else 0.4, half, kind == "cylinder")
    turn = exp([0, np.pi / 2, 0]) if kind == "cylinder" else np.eye(3)  # its axis lies along x
    assert between.deepest(x, np.array([0, 0, 0.3]), turn) == pytest.approx(0.1, abs=1e-12)
    assert between.deepest(x, np.array([0, 0, 0.5]), turn) == 0.0
    assert between.deepest(x + [1, 1, 0], np.array([0, 0, 0.3]), turn) == pytest.approx(0.0, abs=1e-12)  # at a node
