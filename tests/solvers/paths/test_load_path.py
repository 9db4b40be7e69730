"""Load paths by arc length: limit points, branch points, branches, stability, pre-loads; closed forms of two bars."""

import re

import numpy as np
import pytest
from scipy.optimize import brentq

import fem_mbs as fem
from fem_mbs.solvers import eigen
from fem_mbs.solvers.paths.follow import Follower

SPAN = 1.0


def truss(rise, load=1.0, sideways=False, **options):
    """Two springs of stiffness 1 from (±1, 0, 0) to a crown, which a load pushes down."""
    model = fem.Model("truss")
    crown = fem.Node3([0, 0, rise], fixed=("y",) if sideways else ("x", "y"), name="crown")
    for x in (-SPAN, SPAN):
        model.add(fem.Spring(model.ground.frame([x, 0, 0]), crown, stiffness=1.0))
    model.add(fem.PointForce(crown, [0, 0, -load], name="load", **options))
    return model


def force(z, rise):
    """Load that holds the crown at height z."""
    return 2 * (np.hypot(SPAN, rise) / np.hypot(SPAN, z) - 1) * z


def limit_load(rise):
    """Largest of them, where its derivative is zero: L³ = L₀ (L² − z²)."""
    length = np.hypot(SPAN, rise)
    z = brentq(lambda z: length * SPAN**2 - np.hypot(SPAN, z) ** 3, 1e-9, rise)
    return force(z, rise)


@pytest.fixture(scope="module")
def snap():
    load = limit_load(0.1) / 0.4
    return load, fem.load_path(truss(0.1, load), step=0.02)


def test_limit_points_of_two_bars_are_those_of_the_closed_form(snap):
    _, path = snap
    assert [point.kind for point in path.critical] == ["limit", "limit"] and path.branches == []
    # the extremum is flat: λ is known to the square of the accuracy of the place
    assert [point.load_factor for point in path.limits] == pytest.approx([0.4, -0.4], rel=1e-9)
    assert path.limits[0].mode[path.system.nodes.index(path.system.model["crown"])][2] == pytest.approx(1.0)


def test_every_point_of_the_path_is_an_equilibrium_and_reported_stable_or_not(snap):
    load, path = snap
    z = path["crown"].position[:, 2]
    assert path.load_factors * load == pytest.approx(force(z, 0.1), abs=1e-9 * load)
    top = path.limits[0].position(path.system.model["crown"])[2]
    assert [u == 0 for u in path.unstable] == [bool(abs(height) > top) for height in z]
    assert [point.stable for point in path.points] == [u == 0 for u in path.unstable]
    assert path.load_factors[-1] == 1.0 and path.ended == "at load factor 1"
    assert np.diff(path.lengths).max() <= 0.02 * (1 + 1e-6) and path["crown"].position.shape == (len(path.points), 3)


def test_report_reports_what_was_found(snap):
    _, path = snap
    assert "limit point at load factor 0.4" in str(path) and re.search(r"\b2 limit.*\b0 branch", repr(path))
    assert "unstable in 1 motion" in str(path.points[len(path.points) // 2])


@pytest.fixture(scope="module")
def forked():
    return fem.load_path(truss(3.0, sideways=True), step=0.05, factor=1.5)


def branch_height(rise):
    """Height at which the crown of a steep truss moves aside: (L0/L − 1) z² = 1."""
    return brentq(lambda z: (np.hypot(1, rise) / np.hypot(1, z) - 1) * z**2 - 1, 2, 3)


def test_branch_point_of_a_steep_truss_is_that_of_the_closed_form(forked):
    (branch,) = forked.critical
    crown = forked.system.model["crown"]
    assert branch.kind == "branch"
    assert branch.position(crown)[2] == pytest.approx(branch_height(3.0), rel=1e-9)
    assert branch.load_factor == pytest.approx(force(branch_height(3.0), 3.0), rel=1e-9)
    assert abs(branch.mode[forked.system.nodes.index(crown)][0]) == 1.0
    assert forked.points[-1].unstable == 1 and "branch point" in branch.report()


@pytest.mark.parametrize("side", [1, -1])
def test_the_other_branch_is_followed_on_the_side_asked_for(forked, side):
    path = fem.load_path(
        forked.system, start=forked.branches[0], side=side, step=0.1, factor=None, until=lambda p: p.length > 4.0
    )
    x, _, z = path["crown"].position.T
    assert (side * x[1:20] > 0).all()
    # the springs have lengths a and b: P = both vertical parts, the horizontal ones balance
    a, b, free = np.hypot(x + 1, z), np.hypot(x - 1, z), np.hypot(1, 3.0)
    horizontal = (free / a - 1) * (x + 1) + (free / b - 1) * (x - 1)
    assert horizontal == pytest.approx(np.zeros(len(x)), abs=1e-8)
    assert path.load_factors == pytest.approx((free / a + free / b - 2) * z, abs=1e-8)
    # it comes back to the straight path where the load is the opposite one
    assert path.branches[0].load_factor == pytest.approx(-forked.branches[0].load_factor, rel=1e-6)


def test_load_control_stops_at_a_limit_point_and_displacement_control_passes_it():
    model = truss(0.1, limit_load(0.1) / 0.4)
    with pytest.raises(fem.SolverError, match=r"load factor 0\.4 .*control='load'") as caught:
        fem.load_path(model, control="load")
    assert caught.value.path.load_factors[-1] == pytest.approx(0.4, abs=1e-3)
    path = fem.load_path(model, control=(model["crown"], "z"), step=0.05)
    assert [point.load_factor for point in path.limits] == pytest.approx([0.4, -0.4], rel=1e-8)


def test_a_pre_load_stays_while_the_other_grows():
    load = limit_load(0.1)
    model = truss(0.1, 0.25 * load)
    more = model.add(fem.PointForce(model["crown"], [0, 0, -load], name="more"))
    path = fem.load_path(model, loads=[more], step=0.02, factor=1.2)
    assert path.points[0].load_factor == 0.0
    assert force(path["crown"].position[0, 2], 0.1) == pytest.approx(0.25 * load, rel=1e-6)  # Newton tolerance
    assert path.limits[0].load_factor == pytest.approx(0.75, rel=1e-8)
    assert path["load"].force[:, 2] == pytest.approx(-0.25 * load, rel=1e-12)
    assert path["more"].force[:, 2] == pytest.approx(-load * path.load_factors, rel=1e-12, abs=1e-15)


def test_a_driver_leads_along_the_path_and_its_force_turns_over():
    """A prescribed crown never meets a limit point: constraints are part of the bordered system."""
    model = fem.Model("pushed")
    crown = fem.Node3([0, 0, 0.1], fixed=("x", "y"), name="crown")
    for x in (-1.0, 1.0):
        model.add(fem.Spring(model.ground.frame([x, 0, 0]), crown, stiffness=1.0))
    push = model.add(fem.Prescribed(crown, z=lambda t: 0.1 - 0.2 * t, name="push"))
    path = fem.load_path(model, t=1.0, step=0.1)
    z = path["crown"].position[:, 2]
    assert z == pytest.approx(0.1 - 0.2 * path.load_factors, abs=1e-12)
    assert path["push"].force[:, 2] == pytest.approx(-force(z, 0.1), abs=1e-12)
    assert path.critical == [] and path.unstable[-1] == 0 and push.name == "push"


def test_a_joint_changes_neither_critical_loads_nor_reactions():
    """Limit load of a clamped-hinged arch (DaDeppo and Schmidt 1975: 897), its clamp by fixed components or a joint."""
    found, held = [], []
    for joint in (False, True):
        model, start = arch(16, joint)
        path = fem.load_path(model, step=0.15, until=lambda p: p.unstable == 1)
        found.append(path.limits[0].load_factor)
        path = fem.load_path(model, step=0.15, factor=0.5)
        held.append(path["clamp"].force[-1] if joint else path.reactions(start)[-1, :3])
    assert found[0] == pytest.approx(found[1], rel=1e-8)
    assert found[0] == pytest.approx(0.8989, abs=1e-4)  # 16 intervals; 0.8974 with 32
    assert held[0] == pytest.approx(held[1], abs=1e-4)  # of 500 N


def arch(n, joint):
    """Clamped-hinged arch of 215°, R = 100, EI = 1e6, with a load of 1000 on its crown."""
    R, half = 100.0, np.radians(215 / 2)

    def curve(s):
        turn = half * (1 - 2 * s)
        return R * np.array([-np.sin(turn), np.cos(turn), 0]), np.array([np.cos(turn), np.sin(turn), 0])

    planar = ("z", "rx", "ry")
    position, tangent = curve(0.0)
    rotation = np.stack([tangent, [-tangent[1], tangent[0], 0], [0, 0, 1]], axis=1)
    start = fem.Node6(position, rotation, fixed=not joint, name="start")
    end = fem.Node6(curve(1.0)[0], fixed=("x", "y", "z", "rx", "ry"))
    section = fem.Section.general(EA=1e8, GA2=1e8, GA3=1e8, GJ=1e6, EI2=1e6, EI3=1e6)
    model = fem.Model("arch")
    line = model.add(fem.beam_curve(curve, n, section, start=start, end=end, length=2 * half * R, fixed=planar))
    if joint:
        model.add(fem.Fixed(model.ground.frame_at(position), start.frame_at(position), name="clamp"))
    model.add(fem.PointForce(line.nodes[n // 2], [0, -1000.0, 0]))
    return model, start


def test_unstable_motions_are_counted_alike_in_small_and_large_models(monkeypatch):
    model, _ = arch(8, True)
    counts = []
    for limit in (eigen.DENSE_LIMIT, 0):
        monkeypatch.setattr(eigen, "DENSE_LIMIT", limit)
        path = fem.load_path(model, step=0.15, points=30, factor=None)
        counts.append(path.unstable)
        limits = [point.load_factor for point in path.limits]
        assert limits[0] == pytest.approx(0.92467, abs=1e-5)  # 8 intervals are coarse
    assert counts[0] == counts[1] and 1 in counts[0]


def test_load_steps_of_statics_report_stability_and_reactions_of_each():
    model = truss(3.0, sideways=True)
    with pytest.warns(UserWarning, match="UNSTABLE"):
        result = fem.static_equilibrium(model, steps=10)
    branch = force(branch_height(3.0), 3.0)
    assert result.negative == [int(factor > branch) for factor in result.load_factors]
    assert re.search(r"0\.7 and 0\.8.*0 -> 1 unstable", str(result.report()))


def test_reactions_balance_the_loads_at_every_load_step():
    model = fem.Model("cantilever", gravity=[0, 0, -9.81])
    root, tip = fem.Node6(fixed=True, name="root"), fem.Node6([1, 0, 0], name="tip")
    section = fem.Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=10, EI2=10, EI3=10, rhoA=2.0)
    model.add(fem.beam_line(root, tip, 4, section), fem.PointForce(tip, [1.0, 2.0, 3.0]))
    result = fem.static_equilibrium(model, steps=2)
    weight = np.array([1.0, 2.0, 3.0 - 2.0 * 9.81])
    for factor, reaction in zip((0.0, 0.5, 1.0), result.reactions(root)):
        assert reaction[:3] == pytest.approx(-factor * weight, abs=1e-7)  # Newton tolerance
    force_root, moment = result.reaction(root)
    held = model.elements[0].nodes  # moments about the root, from the section moment of the first beam
    assert force_root == pytest.approx(-weight, abs=1e-7) and held[0] is root
    assert moment == pytest.approx(-result.output(model.elements[0], "moment_A"), abs=1e-6)
    assert not np.any(result.reaction(tip))


def test_what_cannot_be_a_path_is_rejected_in_words():
    model = truss(0.1)
    with pytest.raises(fem.ParameterError, match=r"'still'.*no load"):
        still = fem.Model("still")
        still.add(fem.PointMass(1.0, name="bob"))
        still.add(fem.Spring(still.ground.frame([0, 0, 1]), still["bob"], stiffness=1.0))
        fem.load_path(still)
    with pytest.raises(fem.ParameterError, match=r"start = .*limit point"):
        path = fem.load_path(truss(0.1, limit_load(0.1) / 0.4), step=0.02, points=60)
        fem.load_path(path.system, start=path.limits[0])
    with pytest.raises(fem.ParameterError, match=r"loads = .*no load"):
        fem.load_path(model, loads=[model["crown"]])
    with pytest.raises(fem.ParameterError, match=r"control = .*'arc length'"):
        fem.load_path(model, control=3)
    with pytest.raises(fem.SolverError, match=r"'loose'.*mechanism"):
        loose = fem.Model("loose")
        loose.add(fem.PointMass(1.0, name="bob"))
        loose.add(fem.PointForce(loose["bob"], [1, 0, 0]))
        fem.load_path(loose)


def test_a_path_is_written_to_a_file_and_its_points_serve_modes_and_outputs(tmp_path):
    model = truss(3.0, sideways=True)
    model.add(fem.PointMass(2.0, at=model["crown"].frame(), name="mass"))
    path = fem.load_path(model, loads=[model["load"]], step=0.2, factor=0.7, save=str(tmp_path / "path.vtkhdf"))
    again = fem.load(str(tmp_path / "path.vtkhdf"))
    assert again.t == pytest.approx(path.lengths) and len(again.t) == len(path.points)
    last = path.points[-1]
    assert last.load_factor == 0.7 and last.output(model["load"], "force")[2] == pytest.approx(-0.7)
    # sideways stiffness at the height z: 2 (1 − L₀/L (1 − 1/L²)), from the lengths of the springs
    z, free = last.position(model["crown"])[2], np.hypot(1, 3.0)
    length = np.hypot(1, z)
    omega = np.sqrt(2 * (1 - free / length * z**2 / length**2) / 2.0)
    assert fem.modes(path.system, 1, about=last).omega[0] == pytest.approx(omega, rel=1e-6)


@pytest.mark.parametrize("step", [0.02, 0.3])  # the second passes both in one step, with the same count at its ends
def test_two_limit_points_in_one_step_are_both_found(step):
    # a spring of k along z straightens the path: P(z) = 2 c z (1 − L₀/√(1 + z²)) + k (z − 0.1), P' = 0 near z = 0
    model, k, c, free = truss(0.1, 3e-3), 0.00985, 1.0, 1.01**0.5
    model.add(fem.Spring(model.ground.frame([0, 0, 100.1]), model["crown"], stiffness=k))
    path = fem.load_path(model, step=step)
    z = np.sqrt((2 * c * free / (2 * c + k)) ** (2 / 3) - 1)  # 2 c (1 − L₀/(1 + z²)^1.5) + k = 0
    exact = [-(2 * c * x * (1 - free / np.sqrt(1 + x * x)) + k * (x - 0.1)) / 3e-3 for x in (z, -z)]
    assert [point.kind for point in path.critical] == ["limit", "limit"]
    # the third spring is 100 m long and turns by nothing; the difference of both loads is 5e-4 of them
    assert [point.load_factor for point in path.limits] == pytest.approx(exact, rel=1e-8)


def test_one_column_that_buckles_while_another_straightens_up_are_both_found_in_one_step():
    model, loads, critical = fem.Model("two columns"), [], np.pi**2 / 4
    for y, stays, grows in ((0, 0.0, -5.0), (1, -5.0, 5.1)):
        root, tip = fem.Node6([0, y, 0], fixed=True), fem.Node6([1, y, 0], fixed=("y", "rx", "rz"))
        line = fem.beam_line(root, tip, 4, fem.Section.general(EA=1e6, GJ=1, EI2=1, EI3=1), fixed=("y", "rx", "rz"))
        model.add(line)
        model.add(fem.PointForce(tip, [stays, 0, 0]))
        loads.append(model.add(fem.PointForce(tip, [grows, 0, 0])))
    path = fem.load_path(model, loads=loads, step=0.3)
    assert path.unstable[1:3] == [1, 1]  # one motion before and after: another one
    exact = sorted([critical / 5.0, (5.0 - critical) / 5.1])
    assert [point.load_factor for point in path.branches] == pytest.approx(exact, rel=2e-4)  # 4 intervals
    assert not path.warnings


# --- the unit of the load, and the sense of the path ------------------------------------------------------------------


@pytest.mark.parametrize("control", ["arc length", "displacement"])
def test_the_path_of_a_truss_is_the_same_in_any_unit_of_the_load(control):
    found = []
    for unit in (1e-3, 1.0, 1e5):  # load factors at the limit point: 1000, 1, 1e-5
        model = truss(0.1, unit * limit_load(0.1))
        crown = model["crown"]
        options = {} if control == "arc length" else {"control": (crown, "z")}
        path = fem.load_path(
            model,
            factor=None,
            step=0.1,
            points=60,
            until=lambda p, crown=crown: p.position(crown)[2] < -0.12,
            **options,
        )
        assert path.ended.startswith("where until")
        assert [point.load_factor * unit for point in path.limits] == pytest.approx([1.0, -1.0], rel=1e-8)
        found.append(path["crown"].position[:, 2])
    for z in found[1:]:
        np.testing.assert_allclose(z, found[0], atol=1e-9)


def test_a_straight_column_buckles_at_its_force_in_any_unit_of_the_load():
    points = []
    for unit in (1e-3, 1.0, 1e5):
        root, tip = fem.Node6(fixed=True), fem.Node6([1, 0, 0], fixed=("y", "rx", "rz"))
        model, section = fem.Model("column"), fem.Section.general(EA=1e6, GJ=1, EI2=1, EI3=1)
        model.add(fem.beam_line(root, tip, 4, section, fixed=("y", "rx", "rz")))
        model.add(fem.PointForce(tip, [-unit, 0, 0]))
        path = fem.load_path(model, factor=None, points=30, until=lambda p: p.unstable > 0)
        assert path.branches[0].load_factor * unit == pytest.approx(np.pi**2 / 4, rel=2e-4)  # 4 intervals
        points.append(len(path.points))
    assert points[0] == points[1] == points[2] > 2


def shallow_arch(half_angle, load):
    """Pinned planar arch of radius 1 m with a load on its crown."""

    def curve(s):
        turn = half_angle * (2 * s - 1)
        tangent = np.array([np.cos(turn), 0, -np.sin(turn)])
        position = np.array([np.sin(turn), 0, np.cos(turn) - np.cos(half_angle)])
        return position, np.column_stack([tangent, [0, 1, 0], np.cross(tangent, [0, 1, 0])])

    planar = ("y", "rx", "rz")
    section = fem.Section.general(EA=2e5, GA2=8e4, GA3=8e4, GJ=1e3, EI2=3, EI3=3)
    ends = [fem.Node6(*curve(s), fixed=("x", "z", *planar)) for s in (0.0, 1.0)]
    model = fem.Model("arch")
    line = model.add(fem.beam_curve(curve, 8, section, start=ends[0], end=ends[1], length=2 * half_angle, fixed=planar))
    model.add(fem.PointForce(line.nodes[4], [0, 0, -load]))
    return model, line.nodes[4]


def test_a_path_continues_past_limit_points_that_are_sharper_than_its_steps():
    """With weight 1 the load takes most of the arc length: at a limit point the tangent turns back within one step."""
    model, crown = shallow_arch(0.15, 100.0)
    height = crown.position[2]
    path = fem.load_path(
        model, factor=None, step=0.3, load_weight=1.0, points=60, until=lambda p: p.position(crown)[2] < -1.2 * height
    )
    assert path.ended.startswith("where until")
    assert [point.load_factor for point in path.limits] == pytest.approx([0.834958, 0.412804], abs=1e-6)
    assert np.all(np.diff([p.position(crown)[2] for p in path.points]) < 0)


def test_a_displacement_that_is_prescribed_continues_past_a_limit_point_at_a_large_load_factor():
    model, crown = shallow_arch(0.45, 1.0)
    half = -0.5 * crown.position[2]
    path = fem.load_path(
        model, factor=None, step=0.02, points=40, control=(crown, "z"), until=lambda p: p.position(crown)[2] < half
    )
    assert path.ended.startswith("where until")
    assert [point.load_factor for point in path.limits] == pytest.approx([88.554], abs=1e-3)


def test_a_closed_path_ends_where_it_began():
    """A pendulum of weight 1 N and length 1 m that a moment leads around: λ = sin φ, the same after a revolution."""
    model = fem.Model("pendulum", gravity=[0, 0, -1.0])
    body = model.add(fem.RigidBody(1.0, 0.1, position=[0, 0, -1], name="bob"))
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], axis=[0, 1, 0], name="pin"))
    moment = model.add(fem.PointMoment(body, [0, 1.0, 0]))
    path = fem.load_path(model, loads=[moment], factor=None, step=0.2, points=200)
    assert "closed" in path.ended
    assert [point.load_factor for point in path.limits] == pytest.approx([1.0, -1.0], rel=1e-8)
    turned = np.unwrap([np.arctan2(*p.position(body.node)[[0, 2]]) for p in path.points])
    assert abs(turned[-1] - turned[0]) == pytest.approx(2 * np.pi, abs=0.3)


def test_a_path_that_goes_back_over_its_points_ends_with_an_error(monkeypatch):
    def reversed_at_six(self, point, new, ds):
        return new._replace(tangent=new.tangent.times(-1.0)) if len(self.path.points) == 6 else new

    monkeypatch.setattr(Follower, "_sense", reversed_at_six)
    with pytest.raises(fem.SolverError, match=r"'truss'.*passed before") as caught:
        fem.load_path(truss(0.1, limit_load(0.1) / 0.4), step=0.02)
    assert len(caught.value.path.points) < 12
