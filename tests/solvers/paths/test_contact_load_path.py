"""Load paths and buckling with contacts that close and open: closed forms, statics, joints in their place."""

import re

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.solvers.paths import follow, load_steps

SECTION = fem.Section.general(EA=1e7, GJ=1e3, EI2=1e3, EI3=2e3)


def sprung_point(gap, load, **law):
    """A point on a spring of 100 N/m, pushed down on a floor a gap below."""
    model = fem.Model("sprung point")
    point = fem.Node3([0, 0, 0], fixed=("x", "y"), name="point")
    model.add(fem.Spring(model.ground.frame([0, 0, 1]), point, stiffness=100.0))
    model.add(fem.PointForce(point, [0, 0, -load], name="load"))
    model.add(fem.SphereOnPlane(point, model.ground.frame([0, 0, -gap]), radius=0.0, name="floor", **law))
    return model


def test_a_point_closes_at_half_the_load_and_presses_with_the_rest():
    path = fem.load_path(sprung_point(0.05, 10.0), step=0.1)
    (change,) = path.contact_changes
    assert change.kind == "closes" and change.contact is path.system.model["floor"] and not change.turns
    assert change.load_factor == pytest.approx(0.5, rel=1e-9)
    assert path.points[-1].contact_force(change.contact) == pytest.approx([5.0, 0, 0], rel=1e-9)
    force = path["floor"].force_normal
    assert force == pytest.approx(np.maximum(10.0 * path.load_factors - 5.0, 0.0), abs=1e-8)
    assert path["floor"].gap.min() > -1e-10
    assert re.search(r"'floor'.*load factor 0\.5", str(path)) and set(path.unstable) == {0}
    (axes,) = path.plot(path.system.model["point"], "z").axes
    lines = [(line.get_xdata()[-1], line.get_ydata()[-1], line.get_linestyle()) for line in axes.lines]
    assert lines[-2] == (pytest.approx(-0.05), 1.0, "-") and lines[-1][:2] == pytest.approx((-0.05, 0.5))
    with pytest.raises(fem.ParameterError, match=r"LoadPath.plot: component = 'rx'"):
        path.plot(path.system.model["point"], "rx")


def test_contacts_closed_at_the_start_stay_or_open_as_the_load_requires():
    pressed = fem.load_path(sprung_point(0.0, 4.0), step=0.3)
    lifted = fem.load_path(sprung_point(0.0, -4.0), step=0.3)
    assert pressed.points[-1].contact_force(pressed.system.model["floor"])[0] == pytest.approx(4.0, rel=1e-9)
    assert lifted.points[-1].position(lifted.system.model["point"])[2] == pytest.approx(0.04, rel=1e-9)
    assert not pressed.contact_changes and not lifted.contact_changes


def propped(gap, load, shift=0.0):
    """A cantilever of 1 m, pushed down at its tip over a stop under its middle, a gap below."""
    root, tip = fem.Node6(fixed=True), fem.Node6([1, 0, 0], name="tip")
    model = fem.Model("propped cantilever")
    line = model.add(fem.beam_line(root, tip, 4, SECTION))
    model.add(fem.PointForce(tip, [0, 0, -load], name="load"))
    model.add(fem.SphereOnPlane(line.nodes[2], model.ground.frame([0, 0, -gap]), radius=0.0, name="stop"))
    return model


def test_a_cantilever_comes_to_its_stop_and_is_propped_from_then_on():
    gap, load = 1e-4, 10.0  # small: linear to 1e-4
    path = fem.load_path(propped(gap, load), step=0.1)
    # w(L/2) = 5 P L³/48 EI, and 1 m N of the prop moves it by L³/24 EI
    touch = gap * 48 * 1e3 / (5 * load)
    assert path.contact_changes[0].load_factor == pytest.approx(touch, rel=1e-4)
    push = (5 * load / 48 - gap * 1e3) * 24
    assert path.points[-1].contact_force(path.system.model["stop"])[0] == pytest.approx(push, rel=1e-4)


def test_a_path_has_the_forces_of_the_equilibria_of_statics_in_large_motion():
    model = propped(0.1, 2000.0)
    path = fem.load_path(model, step=0.1)
    static = fem.static_equilibrium(model, steps=5)
    stop, tip = model["stop"], model["tip"]
    assert path.points[-1].position(tip) == pytest.approx(static.position(tip), abs=1e-9)
    assert path.points[-1].contact_force(stop) == pytest.approx(static.contact_force(stop), rel=1e-7, abs=1e-4)
    assert path.points[-1].stable and path.points[-1].contact_status.tolist() == [3]


def trusses(stop=None):
    """Two bars that snap through, rise 0.1 m; a stop below the crown catches it at a height."""
    model, crown = fem.Model("truss"), fem.Node3([0, 0, 0.1], fixed=("x", "y"), name="crown")
    for x in (-1.0, 1.0):
        model.add(fem.Spring(model.ground.frame([x, 0, 0]), crown, stiffness=1 / 1.01**0.5))
    model.add(fem.PointForce(crown, [0, 0, -1e-3], name="load"))
    if stop is not None:
        model.add(fem.SphereOnPlane(crown, model.ground.frame([0, 0, stop]), radius=0.0, name="stop"))
    return model


def held_load(z):
    """Load factor of the truss with its crown at a height z."""
    length = np.sqrt(1 + z * z)
    return -2 * (1 / 1.01**0.5) * (length - 1.01**0.5) * z / length / 1e-3


def test_a_truss_that_snaps_is_caught_by_a_stop_where_its_load_turns_to_grow_again():
    path = fem.load_path(trusses(0.02), step=0.05, factor=0.6)
    (limit,) = path.limits
    assert limit.load_factor == pytest.approx(fem.load_path(trusses(), step=0.05).limits[0].load_factor, rel=1e-9)
    (change,) = path.contact_changes
    # falling along the unstable part, closed from there: the load grows again on a stable one
    assert change.turns and change.load_factor == pytest.approx(held_load(0.02), rel=1e-8)
    end = path.points[-1]
    assert end.load_factor == 0.6 and end.stable
    push = (0.6 - held_load(0.02)) * 1e-3
    assert end.contact_force(path.system.model["stop"])[0] == pytest.approx(push, rel=1e-8)
    lengths = [limit.length, change.length]
    told = [point.unstable for point in path.points if lengths[0] < point.length < lengths[1] - 1e-9]
    assert told and set(told) == {1}


def test_a_support_that_only_pushes_lets_an_arch_go_where_its_force_is_zero():
    # the weight presses the crown of the truss on a stop from above it; the load that grows lifts it off
    model = trusses(0.1)
    lift = model.add(fem.PointForce(model["crown"], [0, 0, 2e-3], name="lift"))
    path = fem.load_path(model, loads=[lift], step=0.05)
    (change,) = path.contact_changes
    assert change.kind == "opens" and change.load_factor == pytest.approx(0.5, rel=1e-8)
    z = path.points[-1].position(model["crown"])[2]
    assert held_load(z) == pytest.approx(-1.0, rel=1e-8) and path.points[-1].contact_status.tolist() == [0]


def test_two_stops_that_close_at_once_are_both_held():
    model = fem.Model("plate")
    plate = model.add(fem.RigidBody.box(1, [1, 1, 0.1], name="plate", fixed=("x", "y", "rx", "rz")))
    for x in (-0.5, 0.5):
        model.add(fem.Spring(model.ground.frame([x, 0, 10]), plate.frame([x, 0, 0]), stiffness=100.0))
        floor = model.ground.frame([x, 0, -0.02])
        model.add(fem.SphereOnPlane(plate.frame([x, 0, 0]), floor, radius=0.0, name=f"foot {x}"))
    model.add(fem.PointForce(plate, [0, 0, -10.0]))
    path = fem.load_path(model, step=0.1)
    assert [c.load_factor for c in path.contact_changes] == pytest.approx([0.4, 0.4], rel=1e-6)
    forces = [path.points[-1].contact_force(c.contact)[0] for c in path.contact_changes]
    assert forces == pytest.approx([3.0, 3.0], rel=1e-6)


def column(support, side=0.0):
    """Euler's column on hinges, with a joint, a stop or nothing next to its middle; a side load presses it there."""
    model = fem.Model("column")
    planar = ("y", "rx", "rz")
    ends = [fem.Node6([x, 0, 0], fixed=(*planar, "z") if x else (*planar, "x", "z")) for x in (0.0, 1.0)]
    middle = fem.Node6([0.5, 0, 0], fixed=(*planar, "z") if support == "joint" else planar)
    for a, b in ((ends[0], middle), (middle, ends[1])):
        model.add(fem.beam_line(a, b, 4, SECTION, fixed=planar))
    if support == "stop":
        model.add(fem.SphereOnPlane(middle, model.ground.frame([0.5, 0, 0]), radius=0.0, name="stop"))
    model.add(fem.PointForce(ends[1], [-1000.0, 0, 0], name="load"))
    if side:
        model.add(fem.PointForce(middle, [0, 0, -side], name="side"))
    return model


def test_a_column_pressed_on_a_stop_buckles_as_one_on_a_joint_and_the_stop_is_reported():
    model = column("stop", side=1.0)
    found = fem.buckling(model, 1, loads=[model["load"]])
    joint = fem.buckling(column("joint"), 1)
    assert found.load_factors == pytest.approx(joint.load_factors, rel=1e-9)
    assert found.load_factors == pytest.approx([4 * np.pi**2], rel=2e-3)  # two half waves, shear left out: 1e-3
    assert any("hold in both directions" in text and "'stop'" in text for text in found.warnings)


def test_a_stop_that_is_not_pressed_does_not_hold_a_column_and_that_is_reported():
    found = fem.buckling(column("stop"), 1)
    assert found.load_factors == pytest.approx(fem.buckling(column("nothing"), 1).load_factors, rel=1e-9)
    assert any(re.search("without force.*'stop'", text) for text in found.warnings)
    with pytest.raises(SolverError, match=r"'floor'.*closed.*load factor is 0, .*contacts with friction"):
        rough = sprung_point(0.0, 4.0, friction=0.2)
        fem.buckling(rough)


def test_a_column_on_a_stop_goes_straight_to_its_second_load_and_is_unstable_beyond():
    model = column("stop", side=1.0)
    path = fem.load_path(model, loads=[model["load"]], factor=45.0, step=2.0)
    joint = fem.load_path(column("joint"), factor=45.0, step=2.0)
    assert path.branches[0].load_factor == pytest.approx(joint.branches[0].load_factor, rel=1e-6)
    assert path.points[-1].unstable == joint.points[-1].unstable == 1
    # with the stop always pressed by the same force
    stop = model["stop"]
    assert path.points[-1].contact_force(stop)[0] == pytest.approx(1.0, rel=1e-6) and not path.contact_changes


def test_the_branch_of_a_column_comes_to_a_wall_and_leans_on_it():
    gap = 0.05
    model = column("nothing")
    middle = next(node for node in model.compile().nodes if abs(node.position[0] - 0.5) < 1e-12)
    model.add(fem.SphereOnPlane(middle, model.ground.frame([0.5, 0, -gap]), radius=0.0, name="wall"))
    straight = fem.load_path(model, factor=12.0, step=2.0)
    (branch,) = straight.branches
    sides = [fem.load_path(straight.system, start=branch, side=side, factor=12.0, step=0.2) for side in (1, -1)]
    leans, free = sorted(sides, key=lambda path: -len(path.contact_changes))
    assert not free.contact_changes and leans.contact_changes[0].kind == "closes"
    # P/P_cr = 1 + (π w/L)²/8 of the buckled elastica: the wall is met there, to fourth order in w, shear aside
    rise = leans.contact_changes[0].load_factor / branch.load_factor - 1
    assert rise == pytest.approx((np.pi * gap) ** 2 / 8, rel=2e-2)
    assert leans["wall"].gap.min() > -1e-10 and (leans["wall"].force_normal >= 0).all()
    assert leans.points[-1].stable and leans.points[-1].position(middle)[2] == pytest.approx(-gap, abs=1e-10)


def test_joints_that_are_redundant_do_not_disturb_contacts():
    forces = []
    for twice in (False, True):
        root, tip = fem.Node6(name="root"), fem.Node6([1, 0, 0], name="tip")
        model = fem.Model("propped cantilever")
        line = model.add(fem.beam_line(root, tip, 4, SECTION))
        for k in range(1 + twice):
            model.add(fem.Fixed.at(model.ground, root, [0, 0, 0], name=f"clamp {k}"))
        model.add(fem.PointForce(tip, [0, 0, -200.0], name="load"))
        floor = model.ground.frame([0, 0, -0.01])
        stop = model.add(fem.SphereOnPlane(line.nodes[2], floor, radius=0.0, name="stop"))
        system = model.compile(redundant="allow" if twice else "error")
        static, path = fem.static_equilibrium(system, steps=3), fem.load_path(system, step=0.1)
        forces.append([static.contact_force(stop)[0], path.points[-1].contact_force(stop)[0]])
        forces[-1].append(path.contact_changes[0].load_factor)
    assert forces[1] == pytest.approx(forces[0], rel=1e-9)
    assert forces[0][0] == pytest.approx(forces[0][1], rel=1e-7) and forces[0][0] > 100.0


def test_contacts_with_friction_under_the_constant_loads_are_rejected_by_name():
    model = sprung_point(0.0, 4.0, friction=0.2)
    more = model.add(fem.PointForce(model["point"], [0, 0, -1.0], name="more"))
    with pytest.raises(SolverError, match=r"'floor'.*closed.*resists"):
        fem.load_path(model, loads=[more])


def rubber_on_plate(smooth, thick, friction=0.0):
    """A block of 0.1 m pressed by 500 N on a plate, which it does not fit; it is held sideways at its top alone."""

    def solid(sides, divisions, E, position, name):
        mesh, rubber = fem.block_mesh(sides, divisions, cell="hexahedron"), fem.SolidMaterial(E, 0.45, 1000.0)
        return fem.SolidBody(mesh, rubber, position=position, name=name)

    model = fem.Model("rubber", gravity=[0, 0, 0])
    block = solid([0.1, 0.1, 0.1], [2, 2, 2], 1e6, [0, 0, thick], "block")
    plate = solid([0.14, 0.14, thick], [3, 3, 1], 1e7, [-0.02, -0.02, 0], "plate")
    plate.fix("z0")
    block.fix("z1", ["x", "y"])
    touch = fem.SurfaceOnSurface(block, "z0", plate, "z1", smooth=smooth, friction=friction, name="touch")
    model.add(block, plate, touch, fem.SurfaceTraction(block, "z1", [0, 0, -5e4]))
    return model, touch.elements


@pytest.mark.parametrize(
    "smooth, thick",
    [(True, 0.05), (False, 0.1), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((True, 0.1), (False, 0.05)))],
)
def test_a_path_with_soft_contact_reaches_the_equilibrium_of_load_steps(smooth, thick):
    """Smoothed surfaces change with every equilibrium, by 2e-6 of the size when all of the load comes at once.

    Before it is pressed the block has no stiffness upwards but round-off, which must not be taken for some.
    """
    model, contacts = rubber_on_plate(smooth, thick)
    path = fem.load_path(model)
    assert path.load_factors[-1] == pytest.approx(1.0, abs=1e-9)
    end, first = path.points[-1], path.points[0]
    assert (end.state.x - first.state.x)[:, 2].min() < -4e-3
    assert sum(end.contact_force(one)[0] for one in contacts) == pytest.approx(500.0, rel=1e-7)
    assert max(np.abs(path[one.name].gap).max() for one in contacts) < 1e-10  # 5e-10 of the size of the model
    rest = fem.static_equilibrium(model)
    assert rest.state.x == pytest.approx(end.state.x, abs=1e-10)
    assert max(np.abs(rest.results[one.name].gap[-1]) for one in contacts) < 1e-10


def test_a_surface_that_does_not_come_to_rest_ends_a_path_by_name(monkeypatch):
    monkeypatch.setattr(follow, "RENEWALS", 2)
    monkeypatch.setattr(follow, "CLOSED", -1.0)  # never near enough
    model, _ = rubber_on_plate(True, 0.1)
    with pytest.raises(SolverError, match=r"'touch \d'.*moves.*smooth=False"):
        fem.load_path(model)


def failing_after(solved):
    """Newton's iteration that finds nothing on after so many solutions."""
    count, right = [0], load_steps.newton

    def newton(*arguments):
        count[0] += 1
        found = right(*arguments)
        return found if count[0] <= solved else found._replace(state=None)

    return newton


@pytest.mark.parametrize(
    ("name", "value", "friction", "how"),
    [
        ("RENEWALS", 0, 0.0, "after 0 solutions"),
        ("RENEWALS", 1, 0.0, "after 1 solutions"),
        ("newton", 1, 0.0, "no equilibrium"),
        ("NEAR", 1e-8, 0.3, "its slip counts"),
    ],
)
def test_an_equilibrium_on_surfaces_that_have_moved_on_is_reported(monkeypatch, tmp_path, name, value, friction, how):
    """They move by 3e-7 m, and with the second solution by less; gaps of the third are those of right ones."""
    model, contacts = rubber_on_plate(True, 0.1, friction)
    right = fem.static_equilibrium(model, stability=False)
    assert not right.results.warnings
    monkeypatch.setattr(load_steps, name, failing_after(value) if name == "newton" else value)
    with pytest.warns(UserWarning, match=r"surface.*'touch \d'"):
        found = fem.static_equilibrium(model, stability=False, save=tmp_path / "rest.vtkhdf")
    (text,) = fem.load(tmp_path / "rest.vtkhdf").warnings
    assert how in text and "More load steps" in text
    off = float(text.split("moved on by ")[1].split(" m")[0])
    gaps = {one.name: abs(found.results[one.name].gap[-1]) for one in contacts}
    assert off == pytest.approx(max(gaps.values()), rel=0.05)  # two digits
    assert gaps[text.split("'")[1]] == pytest.approx(off, rel=0.05)
    np.testing.assert_allclose(found.state.x, right.state.x, atol=1e-5)  # the equilibrium is kept


def test_a_preload_on_surfaces_that_have_moved_on_is_rejected(monkeypatch):
    model, contacts = rubber_on_plate(True, 0.1)
    more = model.add(fem.PointForce(contacts[0].nodes[0], [0, 0, -1.0], name="more"))
    monkeypatch.setattr(load_steps, "RENEWALS", 0)
    with pytest.raises(SolverError, match=r"under the loads.*NodeOnFaces 'touch \d'"):
        fem.load_path(model, loads=[more])
