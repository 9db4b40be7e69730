"""Contacts in statics: warnings where they are omitted."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError, SolverError


def sprung_point(gap, load, kind="plane", friction=0.0):
    """A point on a spring of 100 N/m, pushed down on a floor a gap below."""
    model = fem.Model("sprung point")
    point = fem.Node3([0, 0, 0], fixed=("x", "y"), name="point")
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), point, stiffness=100.0))
    model.add(fem.PointForce(point, [0, 0, -load], name="load"))
    if kind == "plane":
        floor = model.ground.frame([0, 0, -gap])
        model.add(fem.SphereOnPlane(point, floor, radius=0.0, friction=friction, name="floor"))
    return model


def test_a_load_path_ends_where_a_contact_with_friction_is_penetrated_and_keeps_what_it_found():
    with pytest.raises(SolverError, match=r"'floor'.*penetrated .*load_path") as told:
        fem.load_path(sprung_point(0.05, 10.0, friction=0.1), step=0.1, load_weight=1.0)
    path = told.value.path
    # the spring alone gives 0.1 m at the full load: half of that is free
    assert 0.3 < path.load_factors[-1] <= 0.5 and path["point"].position[:, 2].min() >= -0.05
    free = fem.load_path(sprung_point(0.05, 4.9, friction=0.1), step=0.1)
    assert free.load_factors[-1] == 1.0 and not free.warnings


def test_a_load_path_that_leaves_a_closed_contact_says_what_its_stability_means():
    path = fem.load_path(sprung_point(0.0, -4.0, friction=0.1), step=0.2)
    assert path.load_factors[-1] == 1.0 and "carry nothing here" in path.warnings[0]


@pytest.mark.parametrize("solve", [fem.static_equilibrium, fem.load_path, fem.buckling])
def test_boxes_of_contact_groups_are_rejected_by_name(solve):
    model, group = sprung_point(0.1, 1.0, kind="none"), fem.ContactGroup(name="crate")
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[1, 0, 0], fixed=True))
    group.box(body, [0.1, 0.1, 0.1], rounding=0.01)
    model.add(group)
    with pytest.raises(ParameterError, match=r"'crate'.*capsules or boxes"):
        solve(model)


# --- equilibria with contacts -----------------------------------------------------------------------------------------


def no_penetration(result, *names):
    """Gaps are not negative beyond round-off, and forces push only where they are closed."""
    for name in names:
        gap, force = result[name].gap, result[name].force_normal
        assert gap.min() > -1e-12 and force.min() >= 0.0
        assert np.abs(gap * force).max() < 1e-9 * max(force.max(), 1.0)


def test_a_spring_is_compressed_up_to_the_floor_and_no_farther():
    model = sprung_point(0.05, 10.0)
    floor = model["floor"]
    result = fem.static_equilibrium(model, steps=4)
    assert result.contact_force(floor) == pytest.approx([10.0 - 100.0 * 0.05, 0.0, 0.0], rel=1e-12)
    # the load factor is in the place of time: closed beyond a half
    assert result["floor"].force_normal == pytest.approx([0.0, 0.0, 0.0, 2.5, 5.0], abs=1e-12)
    assert result.contact_status.tolist() == [3] and result.stable
    no_penetration(result, "floor")


def propped(load, gap, steps=1, ball=False):
    """A cantilever of 1 m and 1e4 N m², pushed down at its tip on a support below its middle."""
    root, tip = fem.Node6(fixed=True), fem.Node6([1, 0, 0], name="tip")
    model = fem.Model("propped cantilever")
    line = model.add(fem.beam_line(root, tip, 4, fem.Section.general(EA=1e9, GJ=1e4, EI2=1e4, EI3=1e4)))
    middle = next(node for node in line.nodes if abs(node.position[0] - 0.5) < 1e-12)
    model.add(fem.PointForce(tip, [0, 0, -load]))
    if ball:
        place = model.ground.frame([0.5, 0, -0.5 - gap])
        prop = model.add(fem.SphereOnSphere(middle, place, radius_A=0.1, radius_B=0.4, name="prop"))
    else:
        prop = model.add(fem.SphereOnPlane(middle, model.ground.frame([0, 0, -gap]), radius=0.0, name="prop"))
    return fem.static_equilibrium(model, steps=steps), prop, root


@pytest.mark.parametrize("ball", [False, True])
def test_a_cantilever_pressed_on_a_support_has_the_force_of_the_closed_form(ball):
    load, gap, a, EI = 1.0, 1e-6, 0.5, 1e4
    result, prop, root = propped(load, gap, ball=ball)
    # deflection at a: P a² (3 L − a)/(6 EI) − R a³/(3 EI) = gap
    expected = (load * a**2 * (3.0 - a) / 6.0 - EI * gap) * 3.0 / a**3
    # linear theory of deflections of 3e-5 lengths
    assert result.contact_force(prop)[0] == pytest.approx(expected, rel=1e-6)
    force, moment = result.reaction(root)
    assert force[2] == pytest.approx(load - expected, rel=1e-6)
    assert moment[1] == pytest.approx(a * expected - load, abs=1e-6 * load)
    no_penetration(result, "prop")
    below, prop, _ = propped(load * 1e-4, gap, ball=ball)
    assert below.contact_force(prop)[0] == 0.0 and below.contact_status.tolist() == [0]


def test_without_friction_the_number_of_load_steps_changes_nothing():
    ends = [propped(3000.0, 0.02, steps, ball=True)[0] for steps in (1, 3, 8)]
    places = [end.state.x for end in ends]
    assert np.ptp(places[0][:, 2]) > 0.05
    for place in places[1:]:
        assert place == pytest.approx(places[0], abs=1e-10)  # of Newton's iteration
    forces = [end["prop"].force_normal[-1] for end in ends]
    assert forces[1:] == pytest.approx(forces[:1] * 2, rel=1e-8)


def slope(tangent, friction):
    """A block of 2 kg on four feet, on a plane that gravity is inclined to."""
    angle = np.arctan(tangent)
    model = fem.Model("block on a slope", gravity=[9.81 * np.sin(angle), 0, -9.81 * np.cos(angle)])
    block = model.add(fem.RigidBody(2.0, [0.1, 0.1, 0.1], position=[0, 0, 0.3], name="block"))
    feet = [
        fem.SphereOnPlane(
            block.frame([x, y, -0.3]), model.ground.frame(), radius=0.0, friction=friction, name=f"{x} {y}"
        )
        for x in (-0.5, 0.5)
        for y in (-0.4, 0.4)
    ]
    return model.add(*feet) and model, feet, angle


@pytest.mark.parametrize("share", [0.0, 0.6, 0.999])
def test_a_block_rests_on_a_slope_below_the_friction_angle(share):
    model, feet, angle = slope(0.5 * share, 0.5)
    result = fem.static_equilibrium(model)
    forces = np.array([result.contact_force(foot) for foot in feet])
    weight = 2.0 * 9.81
    assert forces.sum(axis=0) == pytest.approx([weight * np.cos(angle), -weight * np.sin(angle), 0.0], abs=1e-6)
    # moment about y of the weight in the centre of mass, 0.3 m above the plane
    assert (forces[2:, 0].sum() - forces[:2, 0].sum()) * 0.5 == pytest.approx(weight * np.sin(angle) * 0.3, abs=1e-6)
    assert (np.linalg.norm(forces[:, 1:], axis=1) <= 0.5 * forces[:, 0] * (1 + 1e-9)).all()
    assert result.position(model["block"].node) == pytest.approx([0, 0, 0.3], abs=1e-9)


def test_a_block_on_a_slope_above_the_friction_angle_is_reported_to_slide():
    with pytest.raises(SolverError, match=r"(?s)SphereOnPlane '.*slides.*no equilibrium"):
        fem.static_equilibrium(slope(0.501, 0.5)[0])


def ladder(tangent, floor, wall):
    """A rod of 3 m and 10 kg that leans on a wall at an angle to the floor."""
    angle = np.arctan(tangent)
    c, s = np.cos(angle), np.sin(angle)
    model = fem.Model("ladder", gravity=[0, 0, -9.81])
    rotation = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    planar = ("y", "rx", "rz")
    rod = model.add(
        fem.RigidBody(10.0, [1e-3, 7.5, 7.5], position=[1.5 * c, 0, 1.5 * s], rotation=rotation, fixed=planar)
    )
    against = model.ground.frame([3 * c, 0, 0], rotation=[0, -np.pi / 2, 0])
    foot = fem.SphereOnPlane(rod.frame([-1.5, 0, 0]), model.ground.frame(), radius=0.0, friction=floor, name="foot")
    top = fem.SphereOnPlane(rod.frame([1.5, 0, 0]), against, radius=0.0, friction=wall, name="top")
    return model.add(foot, top) and model, foot, top


def test_a_ladder_against_a_smooth_wall_has_the_forces_of_the_closed_form():
    model, foot, top = ladder(1.2, 0.5, 0.0)
    result = fem.static_equilibrium(model)
    weight, push = 98.1, 98.1 / (2 * 1.2)
    assert result.contact_force(foot) == pytest.approx([weight, push, 0.0], abs=1e-8)
    assert result.contact_force(top) == pytest.approx([push, 0.0, 0.0], abs=1e-8)
    no_penetration(result, "foot", "top")


@pytest.mark.parametrize("wall", [0.0, 0.4])
def test_a_ladder_holds_above_its_limit_angle_and_slides_below(wall):
    limit = (1.0 - 0.5 * wall) / (2 * 0.5)  # tan α = (1 − μ_f μ_w)/(2 μ_f)
    assert fem.static_equilibrium(ladder(limit * 1.002, 0.5, wall)[0]).load_factors[-1] == 1.0
    with pytest.raises(SolverError, match=r"slides.*no equilibrium"):
        fem.static_equilibrium(ladder(limit * 0.998, 0.5, wall)[0])


def test_a_stack_of_two_blocks_hands_its_weight_down():
    model = fem.Model("stack", gravity=[0.5, 0, -9.81])
    below, feet = model.ground, []
    for k, mass in enumerate((3.0, 2.0)):
        block = model.add(fem.RigidBody(mass, [0.1, 0.1, 0.1], position=[0, 0, 0.2 + 0.4 * k]))
        top = below.frame([0, 0, 0.2]) if k else below.frame()
        corners = [[x, y, -0.2] for x in (-0.3, 0.3) for y in (-0.3, 0.3)]
        feet += [
            fem.SphereOnPlane(block.frame(p), top, radius=0.0, friction=0.3, name=f"{k} {i}")
            for i, p in enumerate(corners)
        ]
        below = block
    model.add(*feet)
    result = fem.static_equilibrium(model)
    forces = np.array([result.contact_force(foot) for foot in feet])
    assert forces[:4].sum(axis=0) == pytest.approx([5 * 9.81, -5 * 0.5, 0.0], abs=1e-6)
    assert forces[4:].sum(axis=0) == pytest.approx([2 * 9.81, -2 * 0.5, 0.0], abs=1e-6)


def pulled(force, friction, stiffness=(50.0, 50.0, 100.0), gap=0.0):
    """A point on three springs, which a force presses on a rough floor and pulls along it."""
    model = fem.Model("pulled point")
    point = fem.Node6(fixed=("rx", "ry", "rz"), name="point")
    model.add(fem.Bushing(model.ground, point, stiffness=np.diag([*stiffness, 1.0, 1.0, 1.0])))
    model.add(fem.PointForce(point, force))
    floor = model.ground.frame([0, 0, -gap])
    contact = model.add(fem.SphereOnPlane(point, floor, radius=0.0, friction=friction, name="floor"))
    return model, contact, point


def test_a_point_slides_until_springs_and_friction_hold_it():
    model, contact, point = pulled([4.0, 0.0, -10.0], 0.3)
    result = fem.static_equilibrium(model)
    assert result.position(point) == pytest.approx([(4.0 - 3.0) / 50, 0, 0], abs=1e-10)
    assert result.contact_force(contact) == pytest.approx([10.0, -3.0, 0.0], abs=1e-9)
    assert result.contact_status.tolist() == [2] and result.stable is None
    held = fem.static_equilibrium(pulled([2.9, 0.0, -10.0], 0.3)[0])
    assert np.abs(held.state.x).max() < 1e-12 and held.contact_status.tolist() == [1]


def test_friction_opposes_the_slip_of_a_load_step_in_the_plane():
    from scipy.optimize import fsolve

    force, k = np.array([4.0, 3.0]), np.array([50.0, 200.0])
    model, contact, point = pulled([*force, -10.0], 0.3, (*k, 100.0))
    result = fem.static_equilibrium(model)
    place = fsolve(lambda u: force - k * u - 3.0 * u / np.linalg.norm(u), force / k, xtol=1e-13)
    assert result.position(point)[:2] == pytest.approx(place, rel=1e-8)
    assert result.contact_force(contact)[1:] == pytest.approx(-3.0 * place / np.linalg.norm(place), rel=1e-8)


def test_contacts_that_close_on_the_path_stick_at_their_first_point():
    # it goes along (2, 0, −10)/k until it touches at z = −0.04, and Px < μ Pz holds it there
    model, contact, point = pulled([2.0, 0.0, -10.0], 0.3, (100.0, 100.0, 100.0), gap=0.04)
    result = fem.static_equilibrium(model)
    touched = 0.2 * 0.04
    assert result.position(point) == pytest.approx([touched, 0, -0.04], abs=1e-5 * model.compile().size)
    assert result.contact_force(contact) == pytest.approx([10 - 4.0, 100 * touched - 2.0, 0.0], abs=1e-3)


def test_a_pendulum_that_leans_on_a_wall_is_held_by_it():
    model = fem.Model("leaning", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody(2.0, [0.1, 0.1, 0.1], position=[0.3, 0, 0.8], name="rod"))
    model.add(
        fem.Revolute(
            model.ground.frame(rotation=[-np.pi / 2, 0, 0]),
            rod.frame([-0.3, 0, -0.8], rotation=[-np.pi / 2, 0, 0]),
            name="hinge",
        )
    )
    wall = model.ground.frame([0.3, 0, 0], rotation=[0, -np.pi / 2, 0])
    contact = model.add(fem.SphereOnPlane(rod, wall, radius=0.0, name="wall"))
    result = fem.static_equilibrium(model)
    assert result.contact_force(contact)[0] == pytest.approx(2.0 * 9.81 * 0.3 / 0.8, rel=1e-12)
    assert result.stable


def test_what_statics_does_not_support_of_a_closed_contact_is_rejected():
    model = fem.Model("rolls", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], fixed=("x", "y", "rx", "ry", "rz")))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, rolling_resistance=1e-3, name="floor"))
    with pytest.raises(SolverError, match=r"'floor'.*resists rolling"):
        fem.static_equilibrium(model)


def test_a_ball_that_may_roll_anywhere_has_no_equilibrium_of_its_own():
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1]))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=0.5, name="floor"))
    with pytest.raises(SolverError, match="no equilibrium found"):
        fem.static_equilibrium(model)


def test_a_tumbler_rolls_without_slip_to_where_its_centre_of_mass_is_below():
    radius, below, tilt = 0.2, 0.05, 0.4
    model = fem.Model("tumbler", gravity=[0, 0, -9.81])
    c, s = np.cos(tilt), np.sin(tilt)
    rotation = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    centre = np.array([0, 0, radius])
    place = centre + rotation @ [0, 0, -below]
    body = model.add(fem.RigidBody(1.0, [0.01] * 3, position=place, rotation=rotation, fixed=("y", "rx", "rz")))
    ball = fem.SphereOnPlane(body.frame([0, 0, below]), model.ground, radius=radius, friction=0.5, name="floor")
    model.add(ball)
    result = fem.static_equilibrium(model)
    assert result.rotation(body.node) == pytest.approx(np.eye(3), abs=1e-9)
    assert result.position(body.node) == pytest.approx([-radius * tilt, 0, radius - below], abs=1e-9)
    assert result.contact_force(ball) == pytest.approx([9.81, 0, 0], abs=1e-8)
    assert result.stable


def test_a_pendulum_next_to_an_open_contact_hangs_as_without_it():
    model = fem.Model("hanging", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody(2.0, [0.1, 0.1, 0.1], position=[0.6, 0, -0.8], name="rod"))
    axis = [-np.pi / 2, 0, 0]
    model.add(fem.Revolute(model.ground.frame(rotation=axis), rod.frame([-0.6, 0, 0.8], rotation=axis), name="hinge"))
    model.add(fem.SphereOnPlane(rod, model.ground.frame([0, 0, -1.5]), radius=0.1, friction=0.2, name="floor"))
    result = fem.static_equilibrium(model)
    assert result.position(rod.node) == pytest.approx([0, 0, -1], abs=1e-8) and result.stable


def swinging(friction):
    """A rod of 0.5 m that gravity swings from where it is to a wall."""
    model, axis = fem.Model("swings", gravity=[0, 0, -9.81]), [-np.pi / 2, 0, 0]
    rod = model.add(fem.RigidBody(2.0, [0.1, 0.1, 0.1], position=[0.4, 0, -0.3], name="rod"))
    model.add(fem.Revolute(model.ground.frame(rotation=axis), rod.frame([-0.4, 0, 0.3], rotation=axis), name="hinge"))
    wall = model.ground.frame([0.3, 0, 0], rotation=[0, np.pi / 2, 0])
    return model, model.add(fem.SphereOnPlane(rod, wall, radius=0.0, friction=friction, name="wall"))


def test_a_rod_swings_to_a_wall_without_friction_and_is_rejected_with_it():
    model, wall = swinging(0.0)
    result = fem.static_equilibrium(model)
    assert result.state.x[-1] == pytest.approx([0.3, 0, -0.4], abs=1e-9)
    assert result.contact_force(wall)[0] == pytest.approx(2.0 * 9.81 * 0.3 / 0.4, rel=1e-9)
    # under any load it jumps there: nothing determines along which way it slid on the wall
    with pytest.raises(SolverError, match=r"'wall'.*from afar .*at once"):
        fem.static_equilibrium(swinging(0.3)[0])
    with pytest.raises(SolverError, match=r"'floor'.*from afar .*adaptive=True"):
        fem.static_equilibrium(pulled([2.0, 0.0, -10.0], 0.3, gap=0.04)[0], adaptive=False)


def test_a_stop_of_a_hinge_carries_the_moment_of_a_door():
    model, axis = fem.Model("door", gravity=[0, 0, -9.81]), [-np.pi / 2, 0, 0]
    door = model.add(fem.RigidBody(2.0, [0.1, 0.1, 0.1], position=[0.5, 0, 0], name="door"))
    hinge = (model.ground.frame(rotation=axis), door.frame([-0.5, 0, 0], rotation=axis))
    model.add(fem.Revolute(*hinge, name="hinge", stops=fem.Stops(-1.0, 0.0)))
    result = fem.static_equilibrium(model)
    moments = {stop.name: result.contact_force(stop)[0] for stop in result.system.contacts}
    assert moments == pytest.approx({"hinge lower stop": 0.0, "hinge upper stop": 2.0 * 9.81 * 0.5}, rel=1e-12)
    assert result.stable and len(fem.modes(result.system, 1, about=result, contacts="closed")) == 0


@pytest.mark.parametrize("friction, held", [(0.0, False), (0.3, True)])
def test_a_beam_that_lies_on_a_floor_needs_friction_to_have_a_place(friction, held):
    model = fem.Model("lying beam", gravity=[0, 0, -9.81])
    section = fem.Section.general(EA=1e9, GJ=1e5, EI2=1e5, EI3=1e5, rhoA=10.0)
    line = model.add(fem.beam_line(fem.Node6(), fem.Node6([1, 0, 0]), 4, section))
    places = [node.frame([0, y, 0]) for node in line.nodes for y in (-0.1, 0.1)]
    feet = [fem.SphereOnPlane(place, model.ground, radius=0.0, friction=friction) for place in places]
    model.add(*feet)
    if not held:
        with pytest.raises(SolverError, match="frictionless contacts"):
            fem.static_equilibrium(model)
        return
    result = fem.static_equilibrium(model)
    assert sum(result.contact_force(foot)[0] for foot in feet) == pytest.approx(98.1, rel=1e-12) and result.stable


def test_the_stiffness_of_contact_forces_is_that_of_one_node_at_a_time():
    """Nodes that no contact has in common are moved at once; here nodes of a surface, of solids and of spheres."""
    from fem_mbs.solvers.paths.contact_rows import STEP, ContactRows

    rubber, model, rng = fem.SolidMaterial(1e4, 0.3, 1.0), fem.Model("several"), np.random.default_rng(0)
    upper = fem.SolidBody(
        fem.block_mesh([1, 1, 0.5], [3, 3, 1], cell="hexahedron"), rubber, position=[0, 0, 0.5], name="upper"
    )
    lower = fem.SolidBody(
        fem.block_mesh([1.2, 1.2, 0.5], [4, 4, 1], cell="hexahedron"), rubber, position=[-0.1, -0.1, 0], name="lower"
    )
    lower.fix("z0")
    balls = [fem.RigidBody.sphere(0.1, 1.0, position=[3, y, 0.1]) for y in (0, 0.2)]
    ball_on_ball = fem.SphereOnSphere(*balls, radius_A=0.1, radius_B=0.1, friction=0.2)
    model.add(upper, lower, *balls, fem.SurfaceOnSurface(upper, "z0", lower, "z1", friction=0.3), ball_on_ball)
    system = fem.System(model, check=False)
    state = system.moved(system.initial, 1e-3 * rng.normal(size=(len(system.nodes), 6)))
    rows = ContactRows(system)
    rows.force[:] = rng.normal(size=(system.nc, 3))
    rows.force[::3] = 0.0
    found, expected = rows.stiffness(state).toarray(), np.zeros((system.n, system.n))
    for j in np.flatnonzero(system.dof >= 0):
        h, ends = STEP * (system.size if j % 6 < 3 else 1.0), []
        for sign in (1.0, -1.0):
            delta = np.zeros((len(system.nodes), 6))
            delta[j // 6, j % 6] = sign * h
            rows.kinematics(system.moved(state, delta))
            ends.append(system.reduced(rows.full()))
        expected[:, system.dof[j]] = (ends[1] - ends[0]) / (2.0 * h)
    # round-off of differences over 1e-6 of the size
    assert np.abs(expected).max() > 1.0 and found == pytest.approx(expected, abs=1e-8)


def test_modes_about_a_block_on_a_slope_name_the_feet_above_once_by_the_equilibrium_or_by_their_forces():
    """The feet above carry less and as much along: they slide, which the equilibrium contains, and a state does not."""
    model, feet, _ = slope(0.5 * 0.95, 0.5)
    mass = model.add(fem.PointMass(0.01, position=[0, 0, 1.0], name="mass"))
    model.add(fem.Bushing(model["block"].frame([0, 0, 0.7]), mass, stiffness=np.diag([1e3, 1e3, 1e3, 0, 0, 0])))
    rest = fem.static_equilibrium(model)
    # what slides is not unique: one of the two above may stick with all that the other one does not carry
    status = rest.contact_status.tolist()
    assert 2 in status[:2] and status[2:] == [1, 1]
    for about, words in ((rest, "Contacts slide"), (rest.state, "more than their friction")):
        remarks = fem.modes(model, 3, about=about, contacts="closed").warnings
        (text,) = [text for text in remarks if "taken as sticking" in text]
        named = [f"'{foot.name}'" in text for foot in feet]
        above = [s == 2 for s in status[:2]] if about is rest else [True, True]
        assert words in text and named == [*above, False, False]
