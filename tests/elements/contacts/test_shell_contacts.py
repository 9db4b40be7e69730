"""Shells that touch with their skins: planes, cylinders, solids and other shells, against closed forms."""

import warnings

import numpy as np
import pytest
from shell_models import model_of, section, strip

import fem_mbs as fem
from fem_mbs.rotations import exp

G = 9.81


def rigid(sides, h, *, cell="quad", density=1000.0, **pose):
    """A plate of one cell (two triangles) whose nodes are fixed to each other: rigid, with the mass of a shell."""
    body = fem.ShellBody(fem.panel_mesh(sides, [1, 1], cell=cell), section(1e9, 0.3, h, density), name="plate", **pose)
    first = body.nodes[0]
    joints = []
    for node in body.nodes[1:]:
        joints.append(fem.Fixed(first.frame(first.rotation.T @ (node.position - first.position)), node))
    return body, joints


def motion(body, state):
    """Velocity of the middle (3,) and angular velocity (3,) of a rigid plate, inertial axes."""
    numbers = [node.index for node in body.nodes]
    spin = state.R[numbers[0]] @ state.V[numbers[0], 3:]
    return state.V[numbers, :3].mean(axis=0), spin


# --- planes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["quad", "triangle"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_plate_that_falls_flat_bounces_from_half_of_its_thickness(cell, turned):
    """Impulse (1 + e) m v and energy e², exactly; the surface of the nodes stays h/2 above the plane."""
    h, e = 0.1, 0.6
    body = fem.ShellBody(
        fem.panel_mesh([1, 0.6], [3, 2], cell=cell), section(1e7, 0.3, h, 1000.0), name="plate",
        position=[0, 0, h / 2 + 0.0105], rotation=[np.pi, 0, 0] if turned else None, velocity=[0.3, 0, -2.0],
    )  # fmt: skip
    model = model_of(body)
    floor = fem.SurfaceContacts(body, None, model.ground, restitution=e, name="floor")
    model.add(floor)
    result = fem.DecoupledNSGA().run(model, t_end=0.02, h=1e-3)
    x = np.array([result.state(k).x[[node.index for node in body.nodes], 2] for k in range(len(result.t))])
    assert x.min() == pytest.approx(h / 2, abs=2e-3) and x.min() >= h / 2 - 1e-12
    assert result.resultant(floor).sum(axis=0) * 1e-3 == pytest.approx([0, 0, (1 + e) * 2.0 * body.mass], rel=1e-9)
    v = result.state(-1).V[[node.index for node in body.nodes]]
    assert v == pytest.approx(np.tile([0.3, 0, 2.0 * e, 0, 0, 0], (len(v), 1)), abs=1e-8)  # round-off
    below = "top" if turned else "bottom"
    assert len(floor.elements) == 2 * len(body.nodes)
    assert len(fem.SurfaceContacts(body, None, model.ground, side=below).elements) == len(body.nodes)


@pytest.mark.parametrize("friction", [0.0, 0.2])
@pytest.mark.parametrize("turn", [[0.0, 0.6, 0.0], [0.2, 1.2, -0.4], [-2.5, 0.3, 0.5]])
def test_an_eccentric_impact_on_a_corner_of_a_plate_turns_it_as_a_rigid_one(turn, friction):
    """Impulse of a rigid plate at the lowest corner of its skin, ± h/2 from the middle surface, h/L = 0.2."""
    a, b, h, e, v0 = 0.5, 0.3, 0.1, 0.4, np.array([1.5, 0.0, -2.0])
    R = exp(np.array(turn))
    corners = 0.5 * np.array([[i * a, j * b, k * h] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) @ R.T
    low = corners[:, 2].min()
    body, joints = rigid([a, b], h, rotation=R, position=R @ [-a / 2, -b / 2, 0] + [0, 0, 1e-6 - low], velocity=v0)
    model = model_of(body, *joints)
    model.add(fem.SurfaceContacts(body, None, model.ground, restitution=e, friction=friction, name="floor"))
    result = fem.DecoupledNSGA().run(model, t_end=3e-6, h=1e-6)
    # closed form: one corner, or two of an edge that is parallel to the plane, which slides after the impact
    m, n, slides = body.mass, np.array([0, 0, 1.0]), np.array([1.0, 0, 0])
    touching = corners[corners[:, 2] < low + 1e-9].mean(axis=0)
    inertia = m / 12 * np.diag([b * b + h * h, a * a + h * h, a * a + b * b + 1e-3 * h * h])
    inverse = R @ np.linalg.inv(inertia) @ R.T
    K = np.eye(3) / m - np.array([np.cross(touching, inverse @ np.cross(touching, u)) for u in np.eye(3)]).T
    for _ in range(100):  # friction opposes the velocity that the corner has after the impact
        along = n - friction * slides
        P = along * (1 + e) * -v0[2] / (n @ K @ along)
        after = (v0 + K @ P) * [1, 1, 0]
        slides = after / np.linalg.norm(after)
    assert np.linalg.norm(P * [1, 1, 0] + friction * P[2] * slides) < 1e-12
    v, w = motion(body, result.state(-1))
    assert v == pytest.approx(v0 + P / m, abs=5e-5)  # measured 9e-6, by what it turns within the step of the impact
    assert w == pytest.approx(inverse @ np.cross(touching, P), abs=3e-4)  # 8e-5, of 5 to 20


def slid(tangent, friction=0.5):
    """Way of a strip of steel along a slope in 0.2 s."""
    body = fem.ShellBody(fem.panel_mesh([0.4, 0.1], [4, 1]), section(210e9, 0.3, 0.02, 7850.0), position=[0, 0, 0.01],
                         damping=1e-4, name="strip")  # fmt: skip
    model = model_of(body, gravity=G / np.hypot(1, tangent) * np.array([tangent, 0, -1.0]))
    model.add(fem.SurfaceContacts(body, None, model.ground, side="bottom", friction=friction, name="floor"))
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=0.2, h=1e-3)
    numbers = [node.index for node in body.nodes]
    return (result.state(-1).x - result.state(0).x)[numbers, 0].mean()


def test_a_strip_on_a_slope_slides_from_the_angle_of_friction_on():
    way = 0.5 * 0.005 * G / np.hypot(1, 0.505) * 0.2**2
    assert abs(slid(0.99 * 0.5)) < 1e-6
    assert slid(1.01 * 0.5) == pytest.approx(way, rel=0.02)


@pytest.mark.parametrize(("over", "tips"), [(0.98, False), (1.02, True)])
def test_a_thick_plate_on_a_slope_tips_over_where_its_weight_passes_its_edge(over, tips):
    """tan = length/thickness: with forces at the nodes instead of the skin no slope would do it."""
    body, joints = rigid([0.2, 0.3], 0.2, position=[0, 0, 0.1])
    tangent = over * 1.0
    model = model_of(body, *joints, gravity=G / np.hypot(1, tangent) * np.array([tangent, 0, -1.0]))
    model.add(fem.SurfaceContacts(body, None, model.ground, friction=2.0, name="floor"))
    result = fem.DecoupledNSGA().run(model, t_end=0.5, h=2e-3)
    turned = np.linalg.norm(result.state(-1).R[body.nodes[0].index] - np.eye(3))
    assert turned > 0.02 if tips else turned < 1e-9


# --- strips on round obstacles ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("round_one", ["cylinder", "sphere"])
def test_a_cylinder_or_a_sphere_props_a_cantilever_at_its_skin(round_one):
    """A strip (EI = 100) that is 0.01 above it, loaded at its tip: force and place by beam theory."""
    L, a, h, gap, P, radius = 12.0, 8.0, 0.1, 0.01, 0.02, 0.5
    body = fem.ShellBody(fem.panel_mesh([L, 1.0], [24, 2]), section(1.2e6, 0.0, h), name="strip")
    body.fix("x0")
    model = model_of(body, fem.EdgeTraction(body, "x1", [0, 0, -P]))
    centre = model.ground.frame([a, 0.5, -h / 2 - gap - radius], [np.pi / 2, 0, 0])
    touch = fem.SurfaceContacts(body, None, **{round_one: centre}, radius=radius, name="prop")
    model.add(touch)
    result = fem.static_equilibrium(model, steps=4)
    force = np.sum([result.contact_force(contact)[0] for contact in touch.elements])
    expected = (P * a**2 * (3 * L - a) / 600 - gap) * 300 / a**3
    z = result.position(body.node_at([a, 0.5, 0]))[2]
    assert force == pytest.approx(expected, rel=1e-3)  # measured 3e-4, shear and chords
    assert z == pytest.approx(-gap, abs=1e-5)


def test_a_strip_wound_on_a_cylinder_has_the_curvature_of_its_middle():
    """Moment EI/(R + h/2) where it lies on: R + h/2 is 5 % more than R."""
    radius, h = 3.0, 0.3
    body = strip(32, thickness=h, E=1.2e6)
    bending = 1.2e6 * h**3 / 12
    model = model_of(body, fem.EdgeTraction(body, "x1", [0, 0, -800.0]))
    axis = model.ground.frame([0, 0, -radius - h / 2], [np.pi / 2, 0, 0])
    touch = fem.SurfaceContacts(body, None, cylinder=axis, radius=radius, side="bottom", name="drum")
    model.add(touch)
    result = fem.static_equilibrium(model, steps=10)
    forces = np.array([result.contact_force(contact)[0] for contact in touch.elements])
    x = np.array([result.position(node) for node in body.nodes])
    turned = np.array([result.state.R[node.index] for node in body.nodes])
    skin = x - 0.5 * h * turned[:, :, 2]
    distance = np.hypot(skin[:, 0], skin[:, 2] + radius + h / 2)
    on = body.reference[:, 0] < 0.9 * body.reference[forces > 0, 0].max()
    moments = np.array([result.output(element, "moment")[0] for element in body.elements])
    middle = np.array([np.mean([body.reference[body.nodes.index(n), 0] for n in e.nodes]) for e in body.elements])
    there = moments[(middle > 0.5) & (middle < 0.8 * body.reference[on, 0].max())]
    assert len(there) >= 5
    assert distance[on] == pytest.approx(radius, abs=1e-9)
    # measured 2.5e-3: it is stretched by 1.9e-3, and chords of 0.12 rad do the rest
    assert there == pytest.approx(np.full(len(there), bending / (radius + h / 2)), rel=4e-3)


# --- solids and other shells ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["quad", "triangle"])
@pytest.mark.parametrize("first", ["shell", "block"])
@pytest.mark.parametrize("cells", [2, 4])
def test_a_plate_under_pressure_compresses_a_soft_block(first, cells, cell):
    """By p H/E wherever nodes match; the plate is h/2 above the block, whichever of both has the nodes."""
    h, p, E = 0.05, 1.0, 1e4
    soft = fem.SolidMaterial(E, 0.0, 1000.0)
    mesh = fem.block_mesh([1, 1, 0.5], [2, 2, 2] if first == "shell" else [cells, cells, 2], cell="hexahedron")
    block = fem.SolidBody(mesh, soft, name="block")
    block.fix("z0", "z")
    block.fix("x0", "x")
    block.fix("y0", "y")
    count = cells if first == "shell" else 2
    panel = fem.panel_mesh([1, 1], [count, count], cell=cell)
    plate = fem.ShellBody(panel, section(1e12, 0.0, h), position=[0, 0, 0.5 + h / 2], name="plate")
    plate.fix("x0", ["x", "rz"])
    plate.fix("y0", ["y"])
    if first == "shell":
        touch = fem.SurfaceOnSurface(plate, None, block, "z1", side_A="bottom", name="touch")
    else:
        touch = fem.SurfaceOnSurface(block, "z1", plate, None, side_B="bottom", name="touch")
    model = model_of(plate, block, touch, fem.SurfacePressure(plate, None, p))
    result = fem.static_equilibrium(model)
    force = np.sum([result.contact_force(contact)[0] for contact in touch.elements])
    z = np.array([result.position(node)[2] for node in plate.nodes])
    assert force == pytest.approx(p, rel=1e-6)
    # strains of 1e-4, of which 1.5e-8 are not linear; nodes of triangles have unequal shares, which bend the plate
    assert z == pytest.approx(0.5 * (1 - p / E) + h / 2, abs=1e-8 if cell == "quad" else 2e-8)


@pytest.mark.parametrize("nodes_of", ["lower", "upper"])
def test_two_cantilevers_that_meet_share_the_load_as_beams_do(nodes_of):
    """The tip of the shorter one below props the upper: force by beam theory, distance (h1 + h2)/2."""
    L, a, h1, h2, P, gap = 12.0, 8.0, 0.1, 0.2, 0.02, 0.01
    upper = strip(24, thickness=h1)
    lower = fem.ShellBody(fem.panel_mesh([a, 1], [16, 1]), section(1.2e6, 0.0, h2),
                          position=[0, 0, -(h1 + h2) / 2 - gap], name="lower")  # fmt: skip
    lower.fix("x0")
    if nodes_of == "lower":
        touch = fem.SurfaceOnSurface(lower, "x1", upper, None, side_A="top", side_B="bottom", name="touch")
    else:
        touch = fem.SurfaceOnSurface(upper, None, lower, None, side_A="bottom", side_B="top", reach=1.0, name="touch")
    result = fem.static_equilibrium(model_of(upper, lower, touch, fem.EdgeTraction(upper, "x1", [0, 0, -P])), steps=2)
    force = np.sum([result.contact_force(contact)[0] for contact in touch.elements])
    EI1, EI2 = 100.0, 800.0
    expected = (P * a**2 * (3 * L - a) / (6 * EI1) - gap) / (a**3 / 3 * (1 / EI1 + 1 / EI2))
    apart = result.position(upper.node_at([a, 0, 0]))[2] - result.position(lower.node_at([a, 0, 0]))[2]
    assert force == pytest.approx(expected, rel=1e-3)  # measured 3e-4
    assert apart == pytest.approx((h1 + h2) / 2, abs=1e-5)


@pytest.mark.parametrize("offset", [0.0, 0.25])
def test_both_rims_of_a_plate_that_stands_on_its_edge_carry_it(offset):
    """A plate of 0.2 m upright on a stiff one: a load at ``offset`` h from the middle is shared by the lever."""
    h, P = 0.2, 10.0
    base = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), section(1e9, 0.3, 0.1), position=[0, 0, -0.05], name="base")
    for group in ("x0", "x1", "y0", "y1"):
        base.fix(group)
    wall = fem.ShellBody(fem.panel_mesh([0.5, 0.4], [2, 1]), section(1e9, 0.3, h), name="wall", position=[0.25, 0.5, 0],
                         rotation=[np.pi / 2, 0, 0])  # fmt: skip
    wall.fix("y1", ["x", "y", "rz"])
    loads = [fem.PointForce(node.frame([0, 0, -offset * h]), [0, 0, -P / 3]) for node in wall.nodes_of("y1")]
    touch = fem.SurfaceOnSurface(wall, "y0", base, None, side_A="both", side_B="top", name="touch")
    result = fem.static_equilibrium(model_of(base, wall, touch, *loads))
    forces = np.array([result.contact_force(contact)[0] for contact in touch.elements])
    assert len(forces) == 6 and forces.sum() == pytest.approx(P, rel=1e-9)
    assert forces.reshape(2, 3).sum(axis=1) == pytest.approx([P * (0.5 - offset), P * (0.5 + offset)], rel=1e-3)


@pytest.mark.parametrize("kind", ["shell", "block"])
def test_feet_of_a_rigid_body_stand_on_a_shell_or_a_solid(kind):
    """Three of them carry a load by the lever; they are h/2 over the nodes of the shell."""
    if kind == "shell":
        base = fem.ShellBody(
            fem.panel_mesh([1, 1], [4, 4]), section(1e12, 0.3, 0.1), position=[0, 0, -0.05], name="base"
        )
        for group in ("x0", "x1", "y0", "y1"):
            base.fix(group)
    else:
        mesh = fem.block_mesh([1, 1, 0.1], [4, 4, 1], cell="hexahedron")
        base = fem.SolidBody(mesh, fem.SolidMaterial(1e12, 0.3, 1.0), position=[0, 0, -0.1], name="base")
        base.fix("z0")
    table = fem.RigidBody(2.0, 0.1, position=[0.5, 0.5, 0.3], name="table")
    feet = np.array([[-0.2, -0.1, -0.3], [0.25, -0.1, -0.3], [0.0, 0.3, -0.3]])
    frames = [table.frame(foot) for foot in feet]
    group, side = (None, "top") if kind == "shell" else ("z1", None)
    touch = fem.SurfaceOnSurface(frames, None, base, group, side_B=side, friction=0.5, name="feet")
    model = model_of(table, base, touch, gravity=[0, 0, -G])
    result = fem.static_equilibrium(model)
    forces = np.array([result.contact_force(contact)[0] for contact in touch.elements])
    shares = np.linalg.solve(np.vstack([np.ones(3), feet[:, :2].T]), [1.0, 0.0, 0.0])
    weight_of_base = 1e-4  # what it weighs itself bends it
    assert forces == pytest.approx(2.0 * G * shares, rel=1e-4, abs=weight_of_base)
    assert result.position(table.node)[2] == pytest.approx(0.3, abs=1e-6)
    assert touch.nodes == [table.node] * 3


def collision(stepper, h, frame=None, drift=(0.0, 0.0, 0.0), t_end=0.05, **law):
    """A tilted soft plate that hits a larger one obliquely and rubs, in a turned frame that drifts.

    Returns the result, linear and angular momentum (2, 6) at start and end, places of the first at the end.
    """
    Q, c = np.eye(3) if frame is None else exp(np.array(frame)), np.array(drift)
    A = fem.ShellBody(fem.panel_mesh([0.3, 0.3], [2, 2]), section(1e6, 0.3, 0.04, 1000.0), name="A",
                      position=Q @ [0.35, 0.3, 0.075], rotation=Q @ exp(np.array([0.02, -0.05, 0.3])),
                      velocity=Q @ [1.0, 0.5, -3.0] + c)  # fmt: skip
    B = fem.ShellBody(fem.panel_mesh([1, 1], [4, 4]), section(1e6, 0.3, 0.06, 1000.0), name="B", rotation=Q, velocity=c)
    touch = fem.SurfaceOnSurface(A, None, B, None, side_A="bottom", side_B="top", name="touch", friction=0.3, **law)
    model = model_of(A, B, touch)
    result = stepper.run(model, t_end=t_end, h=h)
    system = fem.System(model, check=False)
    M, found = system.matrices(system.initial, mass_only=True), []
    for state in (result.state(0), result.state(-1)):
        p = system.expanded(M @ system.reduced(state.V.ravel())).reshape(-1, 6)
        spin = np.cross(state.x, p[:, :3]) + np.einsum("kij,kj->ki", state.R, p[:, 3:])
        found.append([*p[:, :3].sum(axis=0), *spin.sum(axis=0)])
    return result, np.array(found), result.state(-1).x[[node.index for node in A.nodes]]


STEPPERS = {
    "DecoupledNSGA": (1e-3, 0.05), "MoreauJean": (1e-3, 0.05), "NonsmoothGeneralizedAlphaGGL": (1e-3, 0.05),
    "NonsmoothGeneralizedAlphaFriction": (1e-3, 0.012), "LobattoIIIAB": (5e-4, 0.02),
    "ConeComplementarity": (1e-3, 0.05),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPPERS)
def test_two_free_plates_that_hit_obliquely_and_rub_keep_their_momentum(name):
    """Friction at the skins turns both; angular momentum to round-off with the scheme that keeps it, else to O(h²)."""
    h, t_end = STEPPERS[name]
    result, momentum, _ = collision(getattr(fem, name)(), h, t_end=t_end)
    change = np.abs(momentum[1] - momentum[0])
    assert change[:3].max() < 1e-14 * np.linalg.norm(momentum[0, :3])
    assert change[3:].max() < (1e-14 if name == "LobattoIIIAB" else 5e-4) * np.linalg.norm(momentum[0, 3:])
    assert result.energy.total[-1] < result.energy.total[0]


def test_a_collision_of_shells_is_the_same_in_a_turned_frame_that_drifts():
    frame, drift = [1.0, -2.0, 0.5], np.array([3.0, -8.0, 2.0])
    result, _, x = collision(fem.MoreauJean(), 1e-3)
    moved = collision(fem.MoreauJean(), 1e-3, frame, drift)[2]
    assert (moved - drift * result.t[-1]) @ exp(np.array(frame)) == pytest.approx(x, abs=1e-13)


# --- warnings ---------------------------------------------------------------------------------------------------------


def test_bad_input_of_skins_is_rejected_by_name():
    plate = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), section(1e6, 0.3, 0.1), name="plate")
    other = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), section(1e6, 0.3, 0.1), position=[0, 0, 0.2], name="other")
    block = fem.SolidBody(fem.block_mesh([1, 1, 1], [1, 1, 1], cell="hexahedron"), fem.SolidMaterial(1e6, 0.3, 1.0))
    ground = fem.Model().ground
    sides = {"side_A": "bottom", "side_B": "top"}
    refused = {
        "side = 'left' must be one of 'top', 'bottom', 'both'": lambda: fem.SurfaceContacts(
            plate, None, ground, side="left"
        ),
        "side = 'top' is for shells": lambda: fem.SurfaceContacts(block, None, ground, side="top"),
        "is not in this mesh": lambda: fem.SurfaceContacts(plate, "edge", ground),
        'side_A = None must be given of a shell: "top" or "bottom"': lambda: fem.SurfaceOnSurface(
            plate, None, block, None
        ),
        "side_B = None must be given of a shell": lambda: fem.SurfaceOnSurface(block, None, plate, None),
        "side_A = 'top' is for shells, which have two": lambda: fem.SurfaceOnSurface(
            block, None, plate, None, **sides | {"side_A": "top"}
        ),
        "side_B = 'both' is for points that touch alone": lambda: fem.SurfaceOnSurface(
            other, None, plate, None, side_A="both", side_B="both"
        ),
        "side_A = 'both' is for points that touch alone": lambda: fem.SurfaceOnSurface(
            other, None, plate, None, side_A="both", side_B="top", both=True
        ),
        "is the first body": lambda: fem.SurfaceOnSurface(plate, None, plate, None, side_A="top", side_B="top"),
        "body_A = .* a list of frames": lambda: fem.SurfaceOnSurface(fem.RigidBody(1.0, 1.0), None, block, None),
        "group_A = 'z0' is for bodies from meshes": lambda: fem.SurfaceOnSurface([ground], "z0", block, None),
        "side_A = 'top' is for shells": lambda: fem.SurfaceOnSurface([ground], None, block, None, side_A="top"),
        "both = True needs faces of the first": lambda: fem.SurfaceOnSurface([ground], None, block, None, both=True),
        r"body_A = \[\] has no frames": lambda: fem.SurfaceOnSurface([], None, block, None),
        "group = 'x0' has no cells of this body": lambda: fem.SurfaceOnSurface(other, None, plate, "x0", **sides),
    }
    for message, call in refused.items():
        with pytest.raises(fem.ParameterError, match=message):
            call()
    assert len(fem.SurfaceOnSurface(other, "x0", plate, None, **sides).elements) == 3
    assert len(fem.SurfaceOnSurface(other, None, plate, None, both=True, **sides).elements) == 18
    with pytest.warns(UserWarning, match="looks away"):
        wrong = fem.SurfaceOnSurface(other, None, plate, None, side_A="bottom", side_B="bottom", name="touch")
    with pytest.raises(fem.ModelError, match=r"touch 0.*penetration.*side"):
        model_of(plate, other, wrong).compile()


@pytest.mark.parametrize("obstacle", ["plane", "sphere", "cylinder", "hollow", "box", "shell", "block"])
def test_a_side_that_looks_away_is_reported(obstacle):
    """It would sink in by its thickness, without any other indication."""
    ground, turn = fem.Model().ground, np.array([0.4, -0.3, 0.2])
    Q = exp(turn)
    plate = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), section(1e6, 0.3, 0.1), rotation=turn, name="plate")
    middle, across = Q @ [0.5, 0.5, 0.0], Q @ exp(np.array([0.0, 1.5, 0.0]))

    def below(depth):
        return ground.frame(middle + Q @ [0, 0, -depth], turn)

    def touching(side):
        if obstacle in ("shell", "block"):
            mesh = fem.block_mesh([1, 1, 1], [1, 1, 1], cell="hexahedron")
            other = fem.SolidBody(mesh, fem.SolidMaterial(1e6, 0.3, 1.0), rotation=turn, position=Q @ [0, 0, -1.1])
            group, options = "z1", {}
            if obstacle == "shell":
                triangles = fem.panel_mesh([1, 1], [1, 1], cell="triangle")
                other = fem.ShellBody(triangles, section(1e6, 0.3, 0.1), rotation=turn, position=Q @ [0, 0, -0.2])
                group, options = None, {"side_B": "top"}
            return fem.SurfaceOnSurface(plate, None, other, group, side_A=side, name="touch", **options)
        options = {
            "plane": {"plane": below(0.1)},
            "sphere": {"sphere": below(2.1), "radius": 2.0},
            "cylinder": {"cylinder": ground.frame(middle + Q @ [0, 0, -2.1], across), "radius": 2},
            "hollow": {"cylinder": ground.frame(middle + Q @ [0, 0, 2.5], across), "radius": 3.0, "hollow": True},
            "box": {"box": below(0.6), "size": [2.0, 2.0, 0.9], "radius": 0.05},
        }[obstacle]
        return fem.SurfaceContacts(plate, None, side=side, name="touch", **options)

    with pytest.warns(UserWarning, match=r"touch.*side(_A)? = 'top'.*'bottom'"):
        touching("top")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        touching("bottom")
        touching("both")


def test_a_side_of_a_bent_shell_that_looks_away_in_part_is_not_reported():
    """The outside of an arch that rolls on a plane."""
    arch = fem.ShellBody(
        fem.panel_mesh([1, 3], [1, 12], radius=1.0), section(1e6, 0.3, 0.1), rotation=[2.0, 0, 0], position=[0, 0, 2]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fem.SurfaceContacts(arch, None, fem.Model().ground, side="top")


@pytest.mark.parametrize("stepper", [fem.DecoupledNSGA(), fem.MoreauJean()], ids=["DecoupledNSGA", "MoreauJean"])
def test_a_plate_that_gets_to_the_other_side_of_a_shell_ends_the_run(stepper):
    """Round its border, and under it: the top of the shell cannot be touched from there."""
    low = fem.ShellBody(fem.panel_mesh([1, 1], [2, 2]), section(1e6, 0.3, 0.02), name="low")
    low.fix("x0")
    low.fix("x1")
    high = fem.ShellBody(fem.panel_mesh([0.3, 0.3], [1, 1]), section(1e6, 0.3, 0.02), position=[1.1, 0.3, -0.1],
                         velocity=[-4.0, 0, 0], name="high")  # fmt: skip
    touch = fem.SurfaceOnSurface(high, None, low, None, side_A="bottom", side_B="top", name="touch")
    with pytest.raises(fem.SolverError, match=r"touch.*(behind|below)"):
        stepper.run(model_of(low, high, touch), t_end=0.3, h=5e-3)


def flown(kind, position, velocity, t_end, stepper=None, h=1e-2):
    """A point of a rigid body that flies over a sheet or a slab of 1 m whose surface is at z = 0.01: its last place."""
    if kind == "shell":
        low = fem.ShellBody(fem.panel_mesh([1, 1], [4, 4]), section(1e9, 0.3, 0.02, 1000.0), name="low")
    else:
        mesh = fem.block_mesh([1, 1, 0.02], [4, 4, 1], cell="hexahedron")
        low = fem.SolidBody(mesh, fem.SolidMaterial(1e9, 0.3, 1000.0), position=[0, 0, -0.01], name="low")
    for group in ("y0", "y1"):
        low.fix(group)
    ball = fem.RigidBody(0.01, 0.1, position=position, velocity=velocity, name="ball")
    group, side = (None, "top") if kind == "shell" else ("z1", None)
    touch = fem.SurfaceOnSurface([ball.frame()], None, low, group, side_B=side, name="touch")
    model = model_of(low, ball, touch, gravity=[0, 0, -G])
    return (stepper or fem.DecoupledNSGA(rho_inf=0.5)).run(model, t_end=t_end, h=h).state(-1).x[ball.node.index]


@pytest.mark.parametrize("kind", ["shell", "block"])
def test_a_point_that_flies_through_a_sheet_near_its_border_in_one_step_ends_the_run(kind):
    """It is outside the border and below after the step, where nothing touches: it passed, and nothing reported it."""
    with pytest.raises(fem.SolverError, match=r"touch.*went through.*one step"):
        flown(kind, [0.9, 0.5, 0.05], [20.0, 0, -20.0], t_end=0.04)


@pytest.mark.parametrize("kind", ["shell", "block"])
@pytest.mark.parametrize("h", [2e-3, 1e-2])
def test_a_point_that_slides_off_the_border_falls(kind, h):
    """The same as above with an ordinary speed: it leaves the border and falls freely."""
    x = flown(kind, [0.7, 0.5, 0.01 + 1e-5], [2.0, 0, 0], t_end=0.4, h=h)
    assert x[0] == pytest.approx(1.5, abs=1e-3)
    fallen = 0.4 - (0.3 + 0.05 * 0.25) / 2.0  # the surface continues by 5 % of a face
    assert x[2] == pytest.approx(0.01 - 0.5 * G * fallen**2, abs=3 * h)  # a step more or less: g t h


@pytest.mark.parametrize("turned", [False, True])
def test_nodes_of_a_shell_given_as_points_are_reported_of_the_thickness_that_they_leave_out(turned):
    """Points sink in by half of it; frames out on the face are right, and those of an edge that stands on the other."""
    h, turn = 0.1, [np.pi, 0, 0] if turned else [0, 0, 0]
    mesh = fem.block_mesh([1, 1, 0.1], [2, 2, 1], cell="hexahedron")
    base = fem.SolidBody(mesh, fem.SolidMaterial(1e9, 0.3, 1.0), position=[0, 0, -0.1], name="base")

    def sheet(rotation, height):
        mesh = fem.panel_mesh([0.5, 0.5], [2, 2])
        place = [0.25, 0.75 if turned else 0.25, height]
        return fem.ShellBody(mesh, section(1e9, 0.3, h), position=place, rotation=exp(np.array(rotation)), name="sheet")

    def gaps_and_words(body, frames):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            touch = fem.SurfaceOnSurface(frames, None, base, "z1", name="touch")
        system = fem.System(model_of(base, body, touch), check=False)
        return system.gaps(system.initial), [str(one.message) for one in told]

    flat = sheet(turn, 0.5 * h)
    gaps, words = gaps_and_words(flat, flat.nodes)
    side = "top" if turned else "bottom"
    assert gaps == pytest.approx(0.5 * h) and len(words) == 1  # where the skin touches
    for part in ("ShellBody 'sheet'", "0.05 m", f'side_A="{side}"'):
        assert part in words[0]
    out = 0.5 * h if turned else -0.5 * h
    gaps, words = gaps_and_words(flat, [node.frame([0, 0, out]) for node in flat.nodes])
    assert gaps == pytest.approx(0.0, abs=1e-12) and not words
    gaps, words = gaps_and_words(flat, [node.frame([0, 0, -out]) for node in flat.nodes])
    assert len(words) == 1 and "0.1 m" in words[0]  # the other face
    upright = sheet([np.pi / 2, 0, 0], 0.0)
    assert not gaps_and_words(upright, upright.nodes_of("y0"))[1]


@pytest.mark.parametrize("turned", [False, True])
def test_of_layers_of_unlike_weight_each_side_leaves_out_its_own_height(turned):
    """Nodes lie in the centre of mass, nearer to the heavy layer at the bottom."""
    light, heavy = (fem.SolidMaterial(1e9, 0.3, density) for density in (100.0, 700.0))
    layers = fem.ShellSection.layered([(heavy, 0.04, 0.0), (light, 0.04, 0.0)])
    assert -layers.bottom == pytest.approx(0.025) and layers.top == pytest.approx(0.055)
    mesh = fem.block_mesh([1, 1, 0.1], [2, 2, 1], cell="hexahedron")
    base = fem.SolidBody(mesh, fem.SolidMaterial(1e9, 0.3, 1.0), position=[0, 0, -0.1], name="base")
    turn = exp(np.array([np.pi if turned else 0.0, 0, 0]))
    place = [0.25, 0.75 if turned else 0.25, 0.1]
    sheet = fem.ShellBody(fem.panel_mesh([0.5, 0.5], [2, 2]), layers, position=place, rotation=turn, name="sheet")
    with pytest.warns(UserWarning, match="is 0.055 m farther out" if turned else "is 0.025 m farther out"):
        fem.SurfaceOnSurface(sheet.nodes, None, base, "z1", name="touch")
