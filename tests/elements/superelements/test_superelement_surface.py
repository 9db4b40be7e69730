"""Surfaces of superelements: their points, groups, forces, and errors."""

import copy
import pickle
import warnings

import h5py
import numpy as np
import pytest
from scipy.linalg import block_diag, eigh, null_space

import fem_mbs as fem
from fem_mbs.errors import ModelError, ParameterError
from fem_mbs.shapes import matrices
from fem_mbs.stresses.reduced_parts import ReducedParts

MATERIAL = fem.SolidMaterial(1e6, 0.3, 1000.0)
ENDS = {"left": "x0", "right": "x1"}
SIDES = (1.0, 0.2, 0.1)


def mesh_of(cell="hexahedron", count=(6, 2, 2)):
    return fem.block_mesh(SIDES, count, cell=cell)


def made(cell="hexahedron", frames=None, **options):
    return fem.reduce_mesh(mesh_of(cell), MATERIAL, frames or ENDS, **options)


def thrown(modes=5):
    """A bar that spins, is bent by springs, and has points on a side and at an end."""
    body = fem.Superelement(
        made(modes=modes), position=[1, 2, 3], rotation=[0.4, -1.0, 0.7], velocity=[3, -1, 2],
        angular_velocity=[2.0, -1.0, 4.0], name="bar",
    )  # fmt: skip
    surface = fem.SuperelementSurface(body, "z1", name="side")
    model = fem.Model("thrown", gravity=[0, 0, -9.81])
    model.add(body, surface, fem.Spring(model.ground.frame([1, 2, 3.5]), body.frame("left"), stiffness=500.0))
    return model, body, surface


def test_points_move_with_the_deformed_body():
    """Places and velocities of the nodes are those that the field of the reduction gives, at round-off."""
    model, body, surface = thrown()
    result = fem.DecoupledNSGA().run(model, t_end=0.3, h=1e-3)
    assert result["bar"].local_rotation.max() > 0.01
    state, places = result.state(-1), [node.index for node in surface.nodes]
    np.testing.assert_allclose(state.x[places], body.positions(result)[surface.points], atol=1e-10)
    own, R = ReducedParts.of([(0, body)]), matrices(state.Q)
    points = own.points(state.x, R)
    speeds = own.velocities(points, state.x, R, state.V[:, :3], state.V[:, 3:])
    np.testing.assert_allclose(state.V[places, :3], speeds[surface.points], atol=1e-8)


def test_points_begin_with_the_motion_of_the_body():
    model, _body, _surface = thrown()
    system = model.compile()
    system.constraint_values(system.initial)
    assert np.abs(system.g).max() < 1e-14
    assert np.abs(system.rate).max() < 1e-13


@pytest.mark.parametrize("weights", [None, {"left": 1.0}])
def test_points_do_not_change_how_a_body_moves(weights):
    """Without forces on them they take nothing from the motion, whatever the floating frame is."""
    ends = []
    for with_points in (False, True):
        body = fem.Superelement(made(modes=5), angular_velocity=[1.0, 2.0, 8.0], weights=weights, name="bar")
        model = fem.Model("free", gravity=[0, 0, 0])
        model.add(body, *([fem.SuperelementSurface(body)] if with_points else []))
        result = fem.DecoupledNSGA(rtol=1e-12).run(model, t_end=0.1, h=1e-3)
        ends.append(body.positions(result))
    np.testing.assert_allclose(*ends, atol=1e-10)


def test_a_force_on_a_point_bends_the_body_as_virtual_work_says():
    """K d = Φᵀ F with the left frame held: a small force between the frames; measured against the linear solution."""
    part = made(modes=5)
    body = fem.Superelement(part, name="bar")
    surface = fem.SuperelementSurface(body, "z1")
    model, force = fem.Model("bent", gravity=[0, 0, 0]), np.array([1e-4, 2e-4, -3e-4])
    middle = int(np.abs(part.points[surface.points] - [0.5, 0.1, 0.1]).sum(axis=1).argmin())
    model.add(body, surface, fem.Fixed(model.ground.frame(body.frame("left").position), body.frame("left")))
    model.add(fem.PointForce(surface.nodes[middle], force))
    found = fem.static_equilibrium(model)
    rows = part.basis.reshape(-1, 3, part.size)[surface.points[middle]]
    free = np.arange(6, part.size)
    d = np.linalg.solve(part.K[np.ix_(free, free)], rows[:, free].T @ force)
    moved = found.position(surface.nodes[middle]) - part.points[surface.points[middle]]
    np.testing.assert_allclose(moved, rows[:, free] @ d, rtol=1e-5)
    np.testing.assert_allclose(found.output(surface.elements[1 + middle], "force"), -force, rtol=1e-9)


def test_joints_between_points_of_two_bodies_hold_their_displacements_together():
    """Natural frequencies of two clamped bars, hinged on a line between frames: K, M on the null space of joints."""
    part = fem.reduce_mesh(mesh_of(), MATERIAL, {"left": "x0"}, modes=12)
    bodies = [fem.Superelement(part, position=[0, y, 0], name=f"bar {y}") for y in (0.0, SIDES[1])]
    model = fem.Model("hinged bars", gravity=[0, 0, 0])
    hinge = np.flatnonzero((part.points[:, 0] == 0.5) & (part.points[:, 2] != 0.05))
    rows, ends = part.basis.reshape(-1, 3, part.size)[:, :, 6:], []
    for body, y in zip(bodies, (SIDES[1], 0.0)):
        surface = fem.SuperelementSurface(body, hinge[part.points[hinge, 1] == y], name=f"{body.name} points")
        clamp = fem.Fixed(model.ground.frame(body.frame("left").position), body.frame("left"))
        model.add(body, surface, clamp)
        ends.append(surface)
    model.add([fem.Spherical(*pair) for pair in zip(ends[0].nodes, ends[1].nodes)])
    apart = np.hstack([rows[ends[0].points].reshape(6, -1), -rows[ends[1].points].reshape(6, -1)])
    Z = null_space(apart, rcond=1e-10)
    K, M = (Z.T @ block_diag(A[6:, 6:], A[6:, 6:]) @ Z for A in (part.K, part.M))
    expected = np.sqrt(eigh(K, M, eigvals_only=True)) / (2.0 * np.pi)
    np.testing.assert_allclose(fem.modes(model, len(expected)).frequency, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["contacts", "surfaces", "spring", "mass"])
def test_a_surface_that_was_not_added_is_reported_by_its_name(kind):
    body, model = fem.Superelement(made(modes=2), position=[0, 0, 0.5], name="bar"), fem.Model("forgotten")
    side = fem.SuperelementSurface(body, "z0", name="side")
    model.add(body)
    if kind == "contacts":
        model.add(fem.SurfaceContacts(side, None, model.ground.frame(), restitution=0.5))
    elif kind == "surfaces":
        other = fem.SolidBody(mesh_of(), MATERIAL)
        model.add(other, fem.SurfaceOnSurface(side, None, other, "z1"))
    elif kind == "spring":
        model.add(fem.Spring(model.ground.frame(), side.nodes[3], stiffness=10.0))
    else:
        model.add(fem.PointMass(1.0, at=side.nodes[3]))
    with pytest.raises(ModelError, match=r"'side'.*added"):
        model.compile()
    model.add(side)
    model.compile()


@pytest.mark.parametrize("cell", ["hexahedron", "hexahedron20", "tetra", "tetra10", "wedge", "wedge15"])
def test_triangles_of_the_whole_boundary_enclose_the_body(cell):
    """Divergence theorem: what the triangles enclose, seen from outside, is the volume of the mesh."""
    body = fem.Superelement(made(cell, modes=0))
    surface = fem.SuperelementSurface(body)
    corners = np.array([surface.points[row] for row in surface.faces_of(surface, None)])
    a, b, c = (body.reduction.points[corners[:, k]] for k in range(3))
    assert np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0 == pytest.approx(np.prod(SIDES), rel=1e-12)
    on = body.reduction.points[surface.points]
    rim = np.isclose(on, 0.0) | np.isclose(on, SIDES)
    assert rim.any(axis=1).all()
    inside = body.reduction.points[np.setdiff1d(np.arange(len(body.reduction.points)), surface.points)]
    assert not (np.isclose(inside, 0.0) | np.isclose(inside, SIDES)).any()


def test_a_group_of_faces_or_of_nodes_chooses_its_own_points():
    half = mesh_of("hexahedron20").with_group("half", lambda x: (x[:, 2] > 0.0999) & (x[:, 0] < 0.501))
    part = fem.reduce_mesh(half, MATERIAL, ENDS, modes=0)
    body = fem.Superelement(part)
    for group, inside in (
        ("z1", lambda x: np.isclose(x[:, 2], 0.1)),
        ("half", lambda x: np.isclose(x[:, 2], 0.1) & (x[:, 0] < 0.501)),
    ):
        surface = fem.SuperelementSurface(body, group)
        np.testing.assert_array_equal(surface.points, np.flatnonzero(inside(part.points)))
    numbers = fem.SuperelementSurface(body, [5, 3, 3])
    assert numbers.points.tolist() == [3, 5]
    assert len(numbers.nodes) == 2


@pytest.mark.parametrize("cell", ["hexahedron20", "wedge", "wedge15", "tetra10"])
def test_every_side_of_a_block_has_its_own_points_and_area(cell):
    """Wedges have triangles and quadrilaterals on their boundary, whose numbers follow each other."""
    body = fem.Superelement(made(cell, modes=0))
    X = body.reduction.points
    for axis in range(3):
        for side, at in enumerate((0.0, SIDES[axis])):
            surface = fem.SuperelementSurface(body, f"{'xyz'[axis]}{side}")
            np.testing.assert_array_equal(surface.points, np.flatnonzero(np.isclose(X[:, axis], at, atol=1e-12)))
            a, b, c = (X[surface.points[np.array(surface.faces_of(surface, None))[:, k]]] for k in range(3))
            area = 0.5 * np.cross(b - a, c - a).sum(axis=0)
            outward = np.eye(3)[axis] * (2 * side - 1) * np.prod(SIDES) / SIDES[axis]
            np.testing.assert_allclose(area, outward, atol=1e-12)


def test_groups_are_kept_in_the_file_and_by_a_choice_of_modes(tmp_path):
    mesh = mesh_of().with_group("odd/name", lambda x: x[:, 2] < 1e-9)
    part = fem.reduce_mesh(mesh, MATERIAL, ENDS, modes=2)
    part.save(tmp_path / "part.h5")
    for read in (fem.load_reduction(tmp_path / "part.h5"), part.with_modes(1)):
        assert read.groups.keys() == part.groups.keys()
        for name, numbers in part.groups.items():
            np.testing.assert_array_equal(read.groups[name], numbers)
    with h5py.File(tmp_path / "part.h5", "a") as file:  # as versions before surfaces wrote it
        del file["groups"]
    assert fem.load_reduction(tmp_path / "part.h5").groups == {}


def test_the_share_of_an_impact_on_a_rigid_end_is_that_of_its_frame():
    """Points of a rigid end that stop stop turns of the frame too, which by symmetry have no part in it."""
    part = made(modes=8)
    surface = fem.SuperelementSurface(fem.Superelement(part), "x0")
    share = surface.mass_share(np.arange(len(surface.nodes)))
    assert share == pytest.approx(max(part.effective_mass("left", e) for e in np.eye(3)), rel=1e-9)
    rigid = fem.SuperelementSurface(fem.Superelement(made(modes=0, frames={"left": "x0"})), "x0")
    assert rigid.mass_share(np.arange(len(rigid.nodes))) == pytest.approx(1.0, abs=1e-9)


def rigid_share(arm, direction):
    """1/m_eff = 1/m + (r × e)·J⁻¹(r × e) of a rigid block that is hit in one point, over its mass."""
    squares = np.square(SIDES)
    across = np.cross(arm, direction)
    return 1.0 / (1.0 + np.sum(across**2 * 12.0 / (squares.sum() - squares)))


@pytest.mark.parametrize("direction", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.48, -0.6, 0.64]])
def test_the_share_of_an_impact_on_one_point_of_a_rigid_block_is_closed(direction):
    """For any direction, and for a plane anywhere below a body that is turned."""
    rigid = made(modes=0, frames={"left": "x0"})
    corner = int(np.abs(rigid.points - [1.0, 0.2, 0.0]).sum(axis=1).argmin())
    expected = rigid_share(rigid.points[corner] - 0.5 * np.array(SIDES), direction)
    R = fem.rotations.exp(np.array([0.4, -1.0, 0.7]))
    surface = fem.SuperelementSurface(fem.Superelement(rigid, rotation=R), [corner])
    assert surface.mass_share([0], direction) == pytest.approx(expected, rel=1e-9)
    ground = fem.Model().ground
    plane = ground.frame([0, 0, -5.0], rotation=fem.rotations.frame_with_axis(R @ direction))
    struck = fem.SurfaceContacts(surface, None, plane, restitution=0.5)
    assert struck.mass_shares["surface"] == pytest.approx(expected, rel=1e-9)


def test_the_share_of_an_impact_on_a_part_of_a_surface_is_that_of_the_part():
    """The end of a rigid bar stops across its axis: 1/m_eff = 1/m + (l/2)²/J, a quarter of the mass if it were thin."""
    whole = fem.SuperelementSurface(fem.Superelement(made(modes=0, frames={"left": "x0"})))
    struck = fem.SurfaceContacts(whole, "x1", fem.Model().ground.frame([0, 0, -5.0]), restitution=0.5)
    assert struck.mass_shares["surface"] == pytest.approx(rigid_share([0.5, 0, 0], [0, 0, 1]), rel=1e-9)


def test_a_surface_of_matrices_has_the_faces_that_are_given():
    disc = np.diag([2.0, 2.0, 2.0, 0.1, 0.05, 0.05])
    M, K = np.kron(np.eye(4), disc), np.zeros((24, 24))
    K[np.ix_([0, 6], [0, 6])] = [[1.0, -1.0], [-1.0, 1.0]]
    places = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    options = {"modes": 0}
    plain = fem.reduce_matrices(M, K, places, {"all": [0, 1, 2, 3]}, **options)
    with pytest.raises(ParameterError, match=r"group = .*faces.*matrices.*faces="):
        fem.SuperelementSurface(fem.Superelement(plain))
    assert len(fem.SuperelementSurface(fem.Superelement(plain), [0, 2]).nodes) == 2
    part = fem.reduce_matrices(M, K, places, {"all": [0, 1, 2, 3]}, faces=[[0, 2, 1], [0, 3, 2]], **options)
    surface = fem.SuperelementSurface(fem.Superelement(part))
    assert [row.tolist() for row in surface.faces_of(surface, None)] == [[0, 2, 1], [0, 3, 2]]
    with pytest.raises(ParameterError, match=r"faces.*nodes from 0 to 3"):
        fem.reduce_matrices(M, K, places, {"all": [0, 1, 2, 3]}, faces=[[0, 2, 4]], **options)
    labelled = {10 + k: place for k, place in enumerate(places)}
    named = fem.reduce_matrices(M, K, labelled, {"all": [10, 11, 12, 13]}, faces=[[10, 12, 11]], **options)
    assert named.faces.tolist() == [[0, 2, 1]]


def test_copies_and_pickles_have_their_own_arrays():
    model, _body, _surface = thrown()
    here = fem.DecoupledNSGA().run(model, t_end=0.01, h=1e-3).state(-1).x
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(fem.DecoupledNSGA().run(other, t_end=0.01, h=1e-3).state(-1).x, here)


@pytest.mark.parametrize(
    ("group", "match"),
    [
        ("nowhere", "group = 'nowhere'.*faces.*x0"),
        ("left", "'left'.*frame"),
        ([0.5], r"group = .*name of a group.*points from 0 to"),
        ([-1], r"group = .*points from 0 to"),
        ([10**6], r"group = .*points from 0 to"),
        ([], r"group = .*points from 0 to"),
    ],
)
def test_what_is_no_part_of_the_surface_is_rejected(group, match):
    body = fem.Superelement(made(modes=0), name="bar")
    with pytest.raises(ParameterError, match=match):
        fem.SuperelementSurface(body, group)


def test_contacts_reject_what_a_surface_does_not_have():
    body, ground = fem.Superelement(made(modes=0), name="bar"), fem.Model().ground.frame()
    side, points = fem.SuperelementSurface(body, "z1", name="side"), fem.SuperelementSurface(body, [0, 1])
    with pytest.raises(ParameterError, match=r"group = 'z0'.*SuperelementSurface 'side'"):
        fem.SurfaceContacts(side, "z0", ground)
    other = fem.SuperelementSurface(fem.Superelement(made(modes=0)), [0, 1])
    with pytest.raises(ParameterError, match=r"no faces.*single points"):
        fem.SurfaceOnSurface(side, None, other, None)
    with pytest.raises(ParameterError, match=r"body_B = .*first body"):
        fem.SurfaceOnSurface(side, None, fem.SuperelementSurface(body, "z0"), None)
    with pytest.raises(ParameterError, match=r"group = .*fem\.SuperelementSurface"):
        fem.SurfaceContacts(body, "z1", ground)
    with pytest.raises(ParameterError, match=r"body = .*a Superelement"):
        fem.SuperelementSurface(fem.SolidBody(mesh_of(), MATERIAL))
    assert len(fem.SurfaceContacts(points, None, ground).elements) == 2


def test_lobatto_rejects_nodes_without_mass_by_name():
    model, _, _ = thrown()
    with pytest.raises(ParameterError, match=r"'side 0' and \d+ more nodes.*without mass"):
        fem.LobattoIIIAB().run(model, t_end=0.01, h=1e-4)


def test_a_surface_that_stops_all_of_a_body_is_reported():
    """More points than motions that they see: an impact with restitution 0 on all of them leaves no energy."""
    ground = fem.Model().ground.frame()
    foot = fem.SuperelementSurface(fem.Superelement(made(modes=1), name="bar"), "z0")
    with pytest.warns(UserWarning, match=r"21 points.*100%.*'bar'"):
        stuck = fem.SurfaceContacts(foot, None, ground)
    assert stuck.mass_shares["surface"] == pytest.approx(1.0)
    assert not [one for one in warned(foot, ground, restitution=0.5) if "blow" in str(one.message)]
    assert fem.SurfaceContacts(fem.SuperelementSurface(foot.body, [0]), None, ground).mass_shares["surface"] < 0.5


def warned(surface, plane, **law):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fem.SurfaceContacts(surface, None, plane, **law)
    return found


@pytest.mark.parametrize(("modes", "framed", "along"), [(5, False, 1), (21, False, 2), (41, False, 3), (5, True, 4)])
def test_a_block_pressed_on_its_sole_is_as_soft_as_its_modes_or_as_a_frame_there_makes_it(modes, framed, along):
    """Shortening of a column of 0.2 m over p L/E, represented by modes that move along it, or by a frame on the sole.

    Those of a rod of n = 4 linear elements are φ_j = sin((2k − 1) jπ/2n); each shortens it by φ_n² over φᵀKφ.
    """
    shapes = [np.sin((2 * k - 1) * np.pi / 8 * np.arange(5)) for k in range(1, along + 1)]
    expected = sum(phi[-1] ** 2 / (4 * np.sum(np.diff(phi) ** 2)) for phi in shapes)
    E, area, force = 1e7, 0.01, 100.0
    frames = {"top": "z1"} | ({"sole": "z0"} if framed else {})
    mesh = fem.block_mesh([0.1, 0.1, 0.2], [2, 2, 4], cell="hexahedron")
    coupling = {"sole": "averaged"} if framed else "rigid"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of pairs of modes
        part = fem.reduce_mesh(mesh, fem.SolidMaterial(E, 0.0, 1000.0), frames, modes=modes, coupling=coupling)
    column = fem.Superelement(part, name="column")
    sole, model = fem.SuperelementSurface(column, "z0"), fem.Model()
    floor = fem.SurfaceContacts(sole, None, model.ground, friction=0.5, restitution=0.1)
    top = column.frame("top").node
    model.add(column, sole, floor, fem.PointForce(top, [0, 0, -force]))
    rest = fem.static_equilibrium(model)
    assert sum(rest.contact_force(one)[0] for one in floor.elements) == pytest.approx(force, rel=1e-6)
    shortening = top.position[2] - rest.position(top)[2]
    assert shortening / (force / area * 0.2 / E) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("turn", [np.zeros(3), np.array([0.4, -1.0, 0.7])], ids=["straight", "turned"])
def test_a_load_path_meets_a_stop_between_the_frames_as_the_reduction_says(turn):
    """Load factor and force by compliances of a cantilever propped in its middle, moved by 1e-4 of its length."""
    load, gap, R = 0.1, 1e-4, fem.rotations.exp(turn)
    mesh = fem.block_mesh([1, 0.1, 0.1], [8, 2, 2], cell="hexahedron20")
    r = fem.reduce_mesh(mesh, fem.SolidMaterial(1e7, 0.3, 1000.0), {"root": "x0", "tip": "x1"}, modes=19)
    body = fem.Superelement(r, rotation=R, name="bar")
    (under,) = np.flatnonzero(np.linalg.norm(r.points - [0.5, 0.05, 0.0], axis=1) < 1e-9)
    surface = fem.SuperelementSurface(body, [int(under)], name="under")
    model, root, tip = fem.Model("propped"), body.frame("root"), body.frame("tip")
    stop = fem.SurfaceContacts(surface, None, model.ground.frame(R @ [0, 0, -gap], R), name="stop")
    model.add(body, surface, fem.Fixed(model.ground.frame(root.position, R), root), stop)
    model.add(fem.PointForce(tip, R @ [0, 0, -load]))
    path = fem.load_path(model, step=0.05)
    free = np.setdiff1d(np.arange(len(r.K)), 6 * r.frames.index("root") + np.arange(6))
    pushed = np.zeros(len(r.K))
    pushed[6 * r.frames.index("tip") + 2] = 1.0
    rows = np.array([r.basis[3 * under + 2], pushed])[:, free]
    C = rows @ np.linalg.solve(r.K[np.ix_(free, free)], rows.T)
    (change,) = path.contact_changes
    assert change.kind == "closes" and change.load_factor == pytest.approx(gap / (C[0, 1] * load), rel=1e-4)
    pressed = path.points[-1].contact_force(stop.elements[0])[0]
    assert pressed == pytest.approx((C[0, 1] * load - gap) / C[0, 0], rel=1e-4)
    still = fem.static_equilibrium(model, steps=4).contact_force(stop.elements[0])[0]
    assert pressed == pytest.approx(still, rel=1e-7)
