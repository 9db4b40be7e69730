"""Runs of superelements that turn fast: neglected stiffening is reported where it matters, and nowhere else."""

import functools

import numpy as np
import pytest
from resumed import stopped_and_resumed
from scipy.linalg import eigh

import fem_mbs as fem
from fem_mbs.elements.superelements.reduction import ARRAYS, CELLS, Reduction
from fem_mbs.errors import SolverError

LENGTH, SIDE = 1.0, 0.02
MATERIAL = fem.SolidMaterial(1e9, 0.0, 1000.0)
LOWEST = 3.5160 * np.sqrt(1e9 * SIDE**2 / 12 / 1000.0) / LENGTH**2  # rad/s, of the clamped rod
BOTH, ONE = {"a": "x0", "b": "x1"}, {"a": "x0"}


@functools.cache
def rod(frames, axis=None, cells=True, pull=False):
    """A rod along x with frames at ``"a"`` or ``"ab"``; a pattern of rotation about an axis; without cells."""
    mesh = fem.block_mesh([LENGTH, SIDE, SIDE], [8, 1, 1], form=lambda x: x - [0, SIDE / 2, SIDE / 2])
    loads = ("a", "b") if pull else None if axis is None else fem.LoadPattern(axis=axis, held="a")
    made = fem.reduce_mesh(mesh, MATERIAL, BOTH if frames == "ab" else ONE, modes=8, stiffening=loads)
    return made if cells else without_cells(made)


def without_cells(r):
    """The same as of matrices."""
    return Reduction(r.frames, r.mass, {key: getattr(r, key) for key in ARRAYS} | CELLS)


def turn(reduction, ratio, axis=(0, 0, 1), pulse=False, **options):
    """Run with a speed over the lowest frequency, of 3 rad; or from rest to rest, with the speed in the middle."""
    speed = ratio * LOWEST
    h = 0.03 / speed
    end = 400 * h if pulse else 100 * h
    axis = np.array(axis, float)
    model = fem.Model("turning")
    body = model.add(fem.Superelement(reduction, angular_velocity=speed * axis * (not pulse), name="rod"))
    hinge = model.add(fem.Revolute.at(model.ground, body.frame("a"), [0, 0, 0], axis, name="hinge"))

    def angle(t):
        x = 2 * np.pi * t / end
        return 0.25 / np.pi * speed * end * (x - np.sin(x)) if pulse else speed * t

    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle, name="drive"))
    return fem.GeneralizedAlpha(rho_inf=0.5).run(model, end, h, **options)


def told(result):
    return [text for text in result.warnings if "rotates fastest" in text]


@pytest.mark.parametrize(
    ("frames", "cells", "ratio", "says"),
    # ω² of flapping grows by 1.2 Ω² with one frame, and by a tenth at the frequency itself with two: one of them, at
    # the tip, has the pull and its chord turns with it (tests/validation/beams/test_rotating_flexible_bodies.py)
    [
        ("ab", True, 0.3, None),
        ("ab", True, 0.9, "stresses would"),
        ("ab", False, 0.9, None),
        ("ab", False, 1.1, "1.1 times"),
        ("a", True, 0.28, None),
        ("a", True, 0.36, "0.36 times"),
        ("a", False, 0.36, "0.36 times"),
    ],
)
def test_a_blade_that_turns_fast_without_a_pattern_is_reported(frames, cells, ratio, says, tmp_path):
    file = tmp_path / "rod.vtkhdf"
    result = turn(rod(frames, cells=cells), ratio, save=file)
    assert [says in text for text in told(result)] == [True] * (says is not None)
    assert told(fem.load(file)) == told(result)
    for text in told(result):
        assert "Superelement 'rod'" in text and f"with {ratio * LOWEST:.2g}"[:-1] in text and text in result.report()
    assert result["rod"].spin.max() == pytest.approx(ratio * LOWEST, rel=0.01)


@pytest.mark.parametrize("frames", ["a", "ab"])
def test_a_shaft_that_turns_about_its_own_axis_has_nothing_to_report(frames):
    """Its mass is on the axis: centrifugal forces stretch nothing."""
    body, model = fem.Superelement(rod(frames), name="rod"), fem.Model("shaft")
    model.add(body, fem.Fixed.at(model.ground, body.frame("a"), [0, 0, 0]))
    for axis, says in (([3.0 * LOWEST, 0, 0], False), ([0, 3.0 * LOWEST, 0], True)):
        remarks = fem.modes(model, 1, rotation=axis).warnings
        assert any("rotates with" in text for text in remarks) == says
    result = turn(rod(frames), 3.0, axis=(1, 0, 0))
    assert result["rod"].spin.max() == pytest.approx(3.0 * LOWEST * np.sqrt(2.0) * SIDE / LENGTH, rel=0.01)
    assert not told(result)


@pytest.mark.parametrize("cells", [True, False])
@pytest.mark.parametrize("frames", ["a", "ab"])
def test_the_pattern_of_the_rotation_leaves_nothing_to_report_and_that_of_another_axis_does(frames, cells):
    assert not told(turn(rod(frames, (0.0, 0.0, 1.0), cells), 1.5))
    # turning about y it is pulled along x too, and by nothing else, so thin it is: the same pattern but for 0.01 %
    assert not told(turn(rod(frames, (0.0, 0.0, 1.0), cells), 1.5, axis=(0, 1, 0)))
    assert told(turn(rod(frames, (1.0, 0.0, 0.0), cells), 1.5))


def test_the_fastest_step_is_the_one_that_counts_whether_it_is_saved_or_not():
    """It turns fast in the middle of a run whose first and last states alone are saved, nearly at rest."""
    result = turn(rod("a"), 0.5, pulse=True, save_every=400)
    assert len(result.t) == 2 and result["rod"].spin.max() < 0.2 * LOWEST
    (text,) = told(result)
    # the speed in the middle, and the rod swings by a part of that
    assert float(text.split("with ")[1].split(" rad/s")[0]) == pytest.approx(0.5 * LOWEST, rel=0.2)
    assert float(text.split("t = ")[1].split(" s")[0]) == pytest.approx(0.5 * result.t[-1], rel=0.1)
    whole = turn(rod("a"), 0.5, pulse=True)
    assert f"{whole['rod'].spin.max():.4g} rad/s" in text
    assert f"t = {whole.t[whole['rod'].spin.argmax()]:.6g} s" in text
    with pytest.raises(SolverError, match="rotates fastest"):
        turn(rod("a"), 0.5, strict=True)


@pytest.mark.parametrize(
    "method",
    [
        fem.LobattoIIIAB(),
        fem.MoreauJean(),
        fem.ConeComplementarity(),
        fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-3)),
    ],
    ids=lambda method: type(method).__name__,
)
def test_every_method_reports(method):
    model = fem.Model("turning")
    body = model.add(fem.Superelement(rod("a"), angular_velocity=[0, 0, 0.5 * LOWEST], name="rod"))
    model.add(fem.Revolute.at(model.ground, body.frame("a"), [0, 0, 0], [0, 0, 1]))
    assert len(told(method.run(model, 0.02, 1e-3))) == 1


@pytest.mark.parametrize(("ratio", "says"), [(1.8, False), (2.2, True)])
def test_a_pull_is_good_to_twice_the_frequency_in_runs_as_in_statics(ratio, says):
    assert bool(told(turn(rod("ab", pull=True, cells=False), ratio))) == says


def test_what_bends_too_far_is_reported_by_that_and_not_by_its_spin():
    body = fem.Superelement(rod("ab", cells=False), name="rod")
    count = len(body.nodes)
    x = np.array([node.position for node in body.nodes])
    for turned, says in ((0.1, True), (0.6, False)):  # from the floating frame by a half
        R = np.tile(np.eye(3), (count, 1, 1))
        R[1] = fem.rotations.exp(np.array([turned, 0.0, 0.0]))
        assert bool(body.peak_warnings(2.0 * LOWEST, 0.0, x, R, np.zeros((count, 6)))) == says


def test_a_run_that_continues_contains_how_fast_it_has_turned(tmp_path, monkeypatch):
    speed = 0.5 * LOWEST
    model = fem.Model("slower")
    body = model.add(fem.Superelement(rod("a"), angular_velocity=[0, 0, speed], name="rod"))
    hinge = model.add(fem.Revolute.at(model.ground, body.frame("a"), [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.JointSpring(hinge, stiffness=0.0, damping=2.0))
    method = fem.GeneralizedAlpha(rho_inf=0.5)
    whole = method.run(model, 0.2, 2e-3)
    options = {"every": 20, "kills": (3,)}
    resumed = stopped_and_resumed(monkeypatch, method, model, 0.2, 2e-3, tmp_path / "rod.vtkhdf", **options)
    assert whole["rod"].spin.argmax() < 20 and whole["rod"].spin[60:].max() < 0.3 * LOWEST  # it continues from step 60
    assert told(whole) and told(resumed) == told(whole)


def test_several_parts_are_reported_once_with_the_one_that_matters_most():
    model = fem.Model("two")
    for k, ratio in enumerate((0.5, 0.7, 0.1)):
        place = [0, 0, float(k)]
        body = model.add(
            fem.Superelement(rod("a"), position=place, angular_velocity=[0, 0, ratio * LOWEST], name=f"rod {k}")
        )
        model.add(fem.Revolute.at(model.ground, body.frame("a"), place, [0, 0, 1]))
    result = fem.DecoupledNSGA().run(model, 0.05, 1e-3)
    (text,) = told(result)
    assert text.startswith("Superelement 'rod 1' (and 1 more): rotates fastest")
    first, second = (result.t[result[f"rod {k}"].spin.argmax()] for k in (0, 1))
    assert f"t = {second:.6g} s" in text and first != second


@pytest.mark.parametrize("frames", ["a", "ab"])
def test_spin_is_that_of_the_rigid_motion_with_the_same_angular_momentum(frames):
    r = rod(frames)
    w, v = np.array([3.0, -1.0, 2.0]), np.array([10.0, 20.0, -30.0])
    turned = [0.3, -0.2, 0.5]
    R = fem.rotations.exp(np.array(turned))
    body = fem.Superelement(r, rotation=turned, velocity=v, angular_velocity=w, name="rod")
    model = fem.Model("thrown")
    model.add(body)
    system = model.compile()
    local = R.T @ w
    exact = np.sqrt(2.0 * local @ r.inertia @ local / np.trace(r.inertia))
    first = fem.GeneralizedAlpha().run(system, 1e-6, 1e-6)["rod"].spin[0]
    assert first == pytest.approx(exact, rel=1e-6)  # round-off of the reduction times v/ω

    # a vibration has no angular momentum: the frames turn at 30 rad/s, the body does not
    shape = eigh(r.K, r.M)[1][:, 6]
    shape *= 30.0 / np.abs(shape[3:6]).max()
    V = np.zeros((len(body.nodes), 6))
    V[: len(r.frames)] = shape[: 6 * len(r.frames)].reshape(-1, 6)
    V[:, :3][len(r.frames) :] = np.append(shape[6 * len(r.frames) :], np.zeros(-r.modes % 3)).reshape(-1, 3)
    still = fem.Superelement(r, name="rod")
    model = fem.Model("ringing")
    model.add(still)
    system = model.compile()
    system.initial.V[[node.index for node in still.nodes]] = V
    assert fem.GeneralizedAlpha().run(system, 1e-6, 1e-6)["rod"].spin[0] < 1e-5


def test_a_load_path_reports_the_point_with_the_largest_stresses_and_not_of_its_last():
    """A flat truss snaps through: its rods are pressed most where it is flat."""
    rise = 0.8 * SIDE
    turn = np.arcsin(rise / LENGTH)
    half = LENGTH * np.cos(turn)
    left = fem.Superelement(rod("ab"), rotation=[0, -turn, 0], name="left")
    right = fem.Superelement(rod("ab"), position=[half, 0, rise], rotation=[0, turn, 0], name="right")
    crown, model = left.frame("b"), fem.Model("truss")
    model.add(left, right, fem.Revolute.at(model.ground, left.frame("a"), [0, 0, 0], [0, 1, 0]))
    model.add(fem.Revolute.at(crown, right.frame("a"), [half, 0, rise], [0, 1, 0]))
    model.add(fem.Revolute.at(model.ground, right.frame("b"), [2 * half, 0, 0], [0, 1, 0]))
    model.add(fem.PointForce(crown, [0, 0, -1.0]))

    def passed(point):
        return point.position(crown.node)[2] <= -0.999 * rise

    path = fem.load_path(model, step=0.004, points=60, load_weight=0.0, until=passed)
    assert -1.25 * rise < path.points[-1].position(crown.node)[2] < -rise  # pulled by half of that, or less
    (text,) = [text for text in path.results.warnings if "its stresses" in text]
    # pressed by E A rise²/2 L² = 0.39 of π² E I/L², by which a clamped rod would have 12 % at an eighth: 0.37
    assert float(text.split("up to ")[1].split("%")[0]) == pytest.approx(37.0, abs=3.0)


def test_a_rod_that_is_pressed_and_hardly_turns_is_for_an_equilibrium_to_report():
    model = fem.Model("pressed")
    body = model.add(fem.Superelement(rod("ab"), name="rod"))
    model.add(fem.Fixed.at(model.ground, body.frame("a"), [0, 0, 0]))
    euler = np.pi**2 * 1e9 * SIDE**4 / 12 / (2 * LENGTH) ** 2
    model.add(fem.PointForce(body.frame("b"), [-0.7 * euler, 0, 0]))
    with pytest.warns(UserWarning, match=r"'rod'.*its stresses"):
        rest = fem.static_equilibrium(model)
    rest.system.initial = rest.state
    assert not told(fem.GeneralizedAlpha().run(rest.system, 0.02, 1e-3))
