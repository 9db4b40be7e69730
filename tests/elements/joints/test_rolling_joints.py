"""KnifeEdge, RollingDisc and user elements with rows of velocities: what they say of themselves, and its checks."""

import numpy as np
import pytest
from velocity_elements import DrivenBlade, RateMotor, blade_rheonomic

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.elements.joints.knife_edge import KnifeEdge, constraint, hessian
from fem_mbs.elements.joints.rolling_disc import FLAT
from fem_mbs.jit import kernel
from fem_mbs.rotations import exp


def tilted_disc(tilt, radius=0.5, **options):
    node = fem.Node6([0, 0, radius * np.sin(tilt)], rotation=[0, tilt, 0], name="disc")
    return fem.RollingDisc.at(fem.Model("m").ground, node, node.position, radius=radius, **options)


def outputs(element, node, v, lam):
    """Outputs of an element on the ground and one node with velocities v (6,) and multipliers."""
    call = Evaluator(element)
    point = verify.random_point(element, np.random.default_rng(0))
    point.x = np.array([n.position for n in element.nodes])
    point.R = np.array([n.rotation for n in element.nodes])
    point.v, point.lam = np.concatenate([np.zeros(6), v]), np.asarray(lam, float)
    out, at, named = call("output", point)["out"], 0, {}
    for name, (count, _) in element.outputs.items():
        named[name], at = out[at : at + count], at + count
    return named


def test_the_disc_touches_at_its_lowest_point_and_its_force_acts_there():
    disc = tilted_disc(np.radians(70))
    named = outputs(disc, disc.nodes[1], np.zeros(6), [3.0, 1.0, 2.0])
    assert named["point"] == pytest.approx([0.5 * np.cos(np.radians(70)), 0, 0], abs=1e-15)
    axes = disc.frame_P.orientation
    assert named["force"] == pytest.approx(axes @ [1.0, 2.0, 3.0])  # multipliers: normal first
    assert named["tilt"] == pytest.approx(np.radians(70))


def test_the_slip_of_a_disc_is_the_velocity_of_its_lowest_point():
    disc = tilted_disc(np.pi / 2)
    upright = np.array([0, 0, 0.5])
    spin = disc.nodes[1].rotation.T @ [2.0, 0, 0]  # about its axis, x
    rolls = np.concatenate([np.cross([2.0, 0, 0], upright), spin])
    assert np.abs(outputs(disc, disc.nodes[1], rolls, np.zeros(3))["slip"]).max() < 1e-15
    slides = outputs(disc, disc.nodes[1], rolls + [0.1, 0.2, 0.3, 0, 0, 0], np.zeros(3))
    assert slides["slip"] == pytest.approx([0.1, 0.2, 0.3])


def test_a_blade_pushes_across_and_shows_its_velocity_along():
    sleigh = fem.Node6(name="sleigh")
    blade = fem.KnifeEdge.at(fem.Model("m").ground, sleigh, [-0.3, 0, 0], [0, 1, 0])
    named = outputs(blade, sleigh, np.array([2.0, 0.6, 0, 0, 0, 2.0]), [5.0])
    assert named["force"] == pytest.approx([0, 5.0, 0])
    assert named["velocity"] == pytest.approx([2.0, 0.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("tilt, lies", [(1.5 * FLAT, False), (0.5 * FLAT, True), (np.pi - 0.5 * FLAT, True)])
def test_a_disc_that_lies_on_the_plane_is_rejected_by_name_and_with_a_cure(tilt, lies):
    if not lies:
        tilted_disc(tilt, name="coin")
        return
    with pytest.raises(fem.ParameterError, match=r"'coin'.*frame_Q.*on the plane"):
        tilted_disc(tilt, name="coin")


@pytest.mark.parametrize("height", [0.47, 0.46])
def test_a_disc_above_or_below_its_plane_is_rejected_with_the_distance(height):
    ground, node = fem.Model("m").ground, fem.Node6([0, 0, height], rotation=[0, np.radians(70), 0])
    right = 0.5 * np.sin(np.radians(70))
    with pytest.raises(fem.ParameterError, match=rf"touches.* {right:.6g} m. Move it by {right - height:.6g}"):
        fem.RollingDisc(ground, node, radius=0.5, name="coin")


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan])
def test_the_radius_of_a_disc_is_a_length(radius):
    with pytest.raises(fem.ParameterError, match="RollingDisc 'coin': radius"):
        fem.RollingDisc(fem.Model("m").ground, fem.Node6([0, 0, 0.5], rotation=[0, 1.5, 0]), radius=radius, name="coin")
    with pytest.raises(fem.ParameterError, match="RollingDisc: radius"):
        fem.RollingDisc.at(fem.Model("m").ground, fem.Node6(), [0, 0, 0.5], radius=radius)


def test_a_plane_of_any_direction_is_laid_under_the_disc():
    rng = np.random.default_rng(3)
    Q, centre = exp(rng.normal(size=3)), rng.normal(size=3)
    node = fem.Node6(centre, rotation=Q @ exp([0, 1.0, 0]))
    disc = fem.RollingDisc.at(fem.Model("m").ground, node, centre, radius=0.5, normal=Q[:, 2])
    out = Evaluator(disc)
    point = verify.random_point(disc, rng)
    point.x, point.R = np.array([n.position for n in disc.nodes]), np.array([n.rotation for n in disc.nodes])
    assert abs(out("constraint", point)["g"]).max() < 1e-15


# --- the generic checks -----------------------------------------------------------------------------------------------


@kernel
def half_of_a_hessian(p, x_A, R_A, x_B, R_B, H):
    """What the rows change with the first node, but not with the second: as if H were not asked for."""
    hessian(p, x_A, R_A, x_B, R_B, H)
    for i in range(12):
        for j in range(6, 12):
            H[0, i, j] = 0.0


@kernel
def with_a_g(p, x_A, R_A, x_B, R_B, g, G):
    constraint(p, x_A, R_A, x_B, R_B, G)
    g[0] += 1.0


def blade(kernels):
    nodes = fem.Node6(name="A"), fem.Node6([1.0, 0.2, 0.1], name="B")
    kind = type("Blade", (KnifeEdge,), {"kernels": {**KnifeEdge.kernels, **kernels}})
    return kind.at(*nodes, [0.7, 0, 0], [0, 0.6, 0.8])


@pytest.mark.parametrize(
    "kernels, found",
    [
        ({}, set()),
        ({"hessian": half_of_a_hessian},
         {"velocity rows: ∂(Gᵀλ)/∂q", "velocity rows: ∂γ/∂q", "velocity rows: dγ/dt", "constraint: H"}),
        ({"constraint": with_a_g}, {"velocity rows: no g"}),
    ],
    ids=["right", "half of H", "a g"],
)  # fmt: skip
def test_wrong_rows_of_velocities_are_found(kernels, found):
    report = verify.check_element(blade(kernels), configurations=3)
    assert {name for name, error in report.errors.items() if error > 1e-3} == found
    assert report.ok == (not found)


def test_rows_of_velocities_need_not_be_gradients():
    """The antisymmetry of H that holds for a gradient does not: else the flag would be of no use."""
    element = blade({})
    point = verify.random_point(element, np.random.default_rng(1))
    call = Evaluator(element)
    H, G = call("hessian", point)["H"][0], call("constraint", point)["G"][0]
    gap = H[9:, 9:] - H[9:, 9:].T - fem.rotations.skew(G[9:])
    assert np.abs(gap).max() > 0.1 * np.abs(G).max()


@kernel
def without_the_turn(x_A, v_A, s, gt, gtt, rate):
    blade_rheonomic(x_A, v_A, s, gt, gtt, rate)
    gtt[0] -= s[0, 1] * (np.cos(s[0, 0]) * v_A[1] - np.sin(s[0, 0]) * v_A[0])


@pytest.mark.parametrize("rheonomic, ok", [(blade_rheonomic, True), (without_the_turn, False)])
def test_time_derivatives_of_rows_of_velocities_are_checked(rheonomic, ok):
    kind = type("Blade", (DrivenBlade,), {"kernels": {**DrivenBlade.kernels, "rheonomic": rheonomic}})
    report = verify.check_element(kind(fem.Node6([1, 2, 0]), np.sin, np.cos), configurations=5)
    assert report.ok == ok, report
    assert (report.errors["velocity rows: dγ/dt"] < 1e-7) == ok


def test_a_motor_that_holds_a_rate_passes_the_checks():
    report = verify.check_element(RateMotor(fem.Node6(), np.cos), configurations=3)
    assert report.ok and report.worst < 1e-7, report
