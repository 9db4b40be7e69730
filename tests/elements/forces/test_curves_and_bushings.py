"""Force curves, springs and bushings made of them, loads along beams: closed forms, energy, errors."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipk

import fem_mbs as fem

BUMP = [(-0.03, -2e4), (-0.02, -4e3), (-0.01, 0.0), (0.0, 0.0)]


def test_a_spring_of_a_joint_takes_a_curve_and_has_the_pieces_of_its_table():
    model = fem.Model("hinge")
    hinge = fem.Revolute.at(model.ground, fem.Node6([1, 0, 0]), [0, 0, 0], [0, 0, 1])
    curve = fem.ForceCurve(BUMP)
    of_curve, of_table = (fem.JointSpring(hinge, stiffness=given, rest=0.0).spring for given in (curve, BUMP))
    assert np.array_equal(of_curve.table, of_table.table) and of_curve.function is None
    x = 0.7 * BUMP[0][0]
    assert of_curve(x) == (curve(x), curve.slope(x)) and curve(x) != 0.0
    assert of_curve.integral()(x) == curve.potential(x)


def test_a_curve_goes_through_its_points_and_on_straight_and_stays_at_zero_where_they_do():
    curve = fem.ForceCurve(BUMP)
    assert [curve(x) for x, _ in BUMP] == pytest.approx([F for _, F in BUMP])
    assert curve(-0.005) == curve(7.0) == 0.0
    assert curve(-0.05) == pytest.approx(-2e4 - 0.02 * curve.slope(-0.03))


@pytest.mark.parametrize("x", [-0.04, -0.025, -0.012, 0.3])
def test_slope_and_potential_belong_to_the_curve(x):
    curve, d = fem.ForceCurve(BUMP), 1e-6
    assert curve.slope(x) == pytest.approx((curve(x + d) - curve(x - d)) / (2 * d), rel=1e-7, abs=1e-6)
    breaks = [p for p, _ in BUMP if min(x, 0) < p < max(x, 0)]
    assert curve.potential(x) == pytest.approx(quad(curve, 0, x, points=breaks or None)[0], rel=1e-9, abs=1e-12)


def test_a_smooth_function_is_met_between_its_samples():
    curve = fem.ForceCurve(lambda x: 1e4 * np.sin(30 * x), between=(-0.1, 0.1))
    for x in np.random.default_rng(0).uniform(-0.1, 0.1, 20):
        assert curve(x) == pytest.approx(1e4 * np.sin(30 * x), abs=1e-4)


def oscillator(**laws):
    """A unit mass on a spring of length 1 m along z, 0.2 m from where it is unloaded."""
    model = fem.Model()
    ball = model.add(fem.PointMass(1.0, position=[0, 0, 1.2], name="ball"))
    model.add(fem.NonlinearSpring(model.ground, ball, free_length=1.0, name="spring", **laws))
    return model


def test_the_period_of_a_cubic_spring_is_the_elliptic_integral():
    a, beta = 0.2, 900.0  # F = x + β x³ of a mass 1: T = 4 K(m)/√(1 + β a²), m = β a²/(2 (1 + β a²))
    stiff = 1.0 + beta * a * a
    period = 4.0 * ellipk(beta * a * a / (2.0 * stiff)) / np.sqrt(stiff)
    model = oscillator(spring=fem.ForceCurve(lambda x: x + beta * x**3, between=(-0.3, 0.3)))
    errors = []
    for n in (200, 400):
        result = fem.DecoupledNSGA(rho_inf=1.0).run(model, 2 * period, period / n)
        errors.append(abs(result["ball"].position[-1, 2] - 1.2))
        assert np.ptp(result.energy.total) < 1e-3 * 8.0
    assert errors[1] < 2e-4 and errors[0] / errors[1] > 3.5


def test_a_damper_curve_and_an_actuator_give_their_forces():
    model = oscillator(damper=[(-2.0, -50.0), (-1.0, -10.0), (0.0, 0.0), (1.0, 5.0)], force=lambda t: 3.0 * t)
    result = fem.DecoupledNSGA().run(model, 0.5, 1e-2)
    spring = result["spring"]
    curve = fem.ForceCurve([(-2.0, -50.0), (-1.0, -10.0), (0.0, 0.0), (1.0, 5.0)])
    expected = [curve(rate) + 3.0 * t for rate, t in zip(spring.rate, result.t)]
    assert spring.force == pytest.approx(expected, abs=1e-9)
    assert result["ball"].velocity[-1, 2] < -0.1  # it pulls the ends together


def test_a_bump_stop_takes_up_the_energy_of_what_runs_into_it():
    model = fem.Model()
    ball = model.add(fem.PointMass(2.0, position=[0, 0, 0.5], velocity=[0, 0, -1.5], name="ball"))
    stop = model.add(fem.NonlinearSpring(model.ground, ball, spring=BUMP, name="stop"))
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, 0.03, 1e-5)
    deepest = result["stop"].length.min() - 0.5
    assert stop.spring.potential(deepest) == pytest.approx(0.5 * 2.0 * 1.5**2, rel=1e-5)


MATRIX = np.diag([2e4, 3e4, 8e4, 40.0, 30.0, 15.0])
MATRIX[0, 4] = MATRIX[4, 0] = 300.0


def mounted(first, second, rotation=(0.0, 0.0, 0.0), **laws):
    """Bushing between two named bodies, "A" at the origin and "B" moved and turned a little."""
    bodies = {
        "A": fem.RigidBody(mass=1, inertia=[1, 1, 1], fixed=True, name="A"),
        "B": fem.RigidBody(mass=1, inertia=[1, 1, 1], position=[2e-4, -1e-4, 3e-4], rotation=rotation, name="B"),
    }
    model = fem.Model()
    model.add(*bodies.values())
    model.add(fem.Bushing(bodies[first], bodies[second], name="mount", **laws))
    return model


def test_small_deformations_are_those_of_the_matrix():
    turn = np.array([1e-4, 2e-4, -3e-4])
    model = mounted("A", "B", turn, stiffness=MATRIX)
    result = fem.DecoupledNSGA().run(model, 1e-6, 1e-6)
    force = np.concatenate([result["mount"].force[0], result["mount"].moment[0]])
    expected = MATRIX @ np.concatenate([[2e-4, -1e-4, 3e-4], turn])
    assert force == pytest.approx(expected, rel=1e-3)  # of rotations of 4e-4


def test_which_end_is_named_first_does_not_matter_at_large_rotations():
    motions = []
    for first, second in (("A", "B"), ("B", "A")):
        model = mounted(first, second, [0.9, -0.4, 0.7], stiffness=MATRIX, damping=[9, 9, 9, 0.1, 0.1, 0.1])
        result = fem.DecoupledNSGA().run(model, 0.1, 1e-3)
        motions.append(np.hstack([result["B"].position, result["B"].angular_velocity]))
    assert motions[0] == pytest.approx(motions[1], abs=1e-8)


def test_a_free_pair_on_a_bushing_keeps_energy_and_momentum():
    model = fem.Model()
    a = model.add(fem.RigidBody(mass=1, inertia=[0.01, 0.02, 0.03], name="A", angular_velocity=[3, 0, 0]))
    b = model.add(fem.RigidBody(mass=2, inertia=[0.05, 0.04, 0.03], name="B", position=[0.1, 0, 0]))
    curves = {"turn x": fem.ForceCurve(lambda x: 4.0 * x + 20.0 * x**3, between=(-3.0, 3.0))}
    model.add(fem.Bushing(a.frame([0.05, 0, 0]), b.frame([-0.05, 0, 0]), MATRIX / 100, curves=curves, name="mount"))
    coarse, fine = (fem.DecoupledNSGA(rho_inf=1.0).run(model, 0.2, h) for h in (1e-3, 5e-4))
    drift = [np.ptp(r.energy.total) for r in (coarse, fine)]
    assert drift[0] < 1e-2 * 0.045 and drift[1] < 0.3 * drift[0]
    momentum = fine["A"].velocity + 2 * fine["B"].velocity
    assert np.abs(momentum).max() < 1e-9


def tip(poses, n, load, kind="force"):
    """Deflection of a cantilever's tip over that of the closed form, with shear."""
    section = fem.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
    line = fem.beam_line([0, 0, 0], [2, 0, 0], n, section, poses=poses, name="b")
    model = fem.Model()
    model.add(line, fem.Fixed.at(model.ground, line.nodes[0], [0, 0, 0]), fem.LineLoad(line, **{kind: load}))
    result = fem.static_equilibrium(model)
    return -result[f"b node {n}"].position[-1, 2], section.flexibility


def test_deflections_of_loads_along_a_cantilever_have_the_order_of_the_element():
    q, L = 0.05, 2.0
    for load, bending, shear in (
        ([0, 0, -q], q * L**4 / 8, q * L * L / 2),
        (lambda s: [0, 0, -q * s / L], 11 * q * L**4 / 120, q * L * L / 3),
    ):
        for poses, order in ((3, 4), (2, 2)):
            found = [tip(poses, n, load) for n in (2, 4, 8)]
            exact = bending * found[0][1][4, 4] + shear * found[0][1][2, 2]
            errors = [abs(w / exact - 1) for w, _ in found]
            if poses == 3 and not callable(load):
                assert max(errors) < 1e-10
            else:
                assert np.log2(errors[0] / errors[2]) / 2 > order - 0.3
                assert errors[2] < (6.5e-5 if poses == 3 else 6e-3)


def test_a_moment_along_a_cantilever():
    m, L = 0.01, 2.0  # about −y: the tip goes down by m L³/(3 EI)
    w, F = tip(3, 4, [0, m, 0], "moment")
    assert w == pytest.approx(m * L**3 / 3 * F[4, 4], rel=1e-6)


def test_a_load_of_arc_length_and_time_is_that_of_the_time_and_a_follower_turns_with_the_beam():
    section = fem.Section.circle(0.02, E=210e9, nu=0.3, density=7850)
    line = fem.beam_line([0, 0, 0], [2, 0, 0], 4, section, name="b")
    load = fem.LineLoad(line, lambda s, t: [0, 0, s * t], follower=True, signal=2.0, name="wind")
    model = fem.Model()
    model.add(line, fem.Fixed.at(model.ground, line.nodes[0], [0, 0, 0]), load)
    result = fem.DecoupledNSGA().run(model, 0.02, 1e-2)
    total = sum(result[element.name].force[-1] for element in load.elements)
    assert np.linalg.norm(total) == pytest.approx(2.0 * 0.02 * 2.0, rel=1e-6)  # 2 t ∫ s ds


A, B = fem.Node6(), fem.Node6([0, 0, 1.0])
LINE = fem.beam_line([0, 0, 0], [1, 0, 0], 2, fem.Section.circle(0.01, E=1e9, nu=0.3, density=1.0))
REFUSED = {
    "no law": (lambda: fem.NonlinearSpring(A, B), "spring.*missing"),
    "a damper that drives": (lambda: fem.NonlinearSpring(A, B, damper=[(-1, 1), (1, -1)]), "gives energy"),
    "a function without range": (
        lambda: fem.NonlinearSpring(A, B, spring=lambda x: x),
        r"ForceCurve\(function, between",
    ),
    "one point": (lambda: fem.NonlinearSpring(A, B, spring=[(0, 1)]), "two at least"),
    "falling x": (lambda: fem.ForceCurve([(0, 0), (-1, 1)]), "must rise in x"),
    "a jump": (lambda: fem.ForceCurve(np.sign, between=(-1, 1)), "too abruptly"),
    "no range": (lambda: fem.ForceCurve(np.sin), "between.*missing"),
    "points that meet": (lambda: fem.NonlinearSpring(A, fem.Node6(), 1.0), "coincides"),
    "an unknown axis": (lambda: fem.Bushing(A, B, curves={"w": 1.0}), "'w'.*are no axes; there are x, y, z, turn x"),
    "a negative stiffness": (lambda: fem.Bushing(A, B, [1, 1, -1, 1, 1, 1]), "≥ 0 on its diagonal"),
    "an unsymmetric matrix": (lambda: fem.Bushing(A, B, np.eye(6) + np.eye(6, k=1)), "symmetric"),
    "an indefinite matrix": (lambda: fem.Bushing(A, B, np.ones((6, 6)) * 2 - np.eye(6)), "negative eigenvalue"),
    "an empty bushing": (lambda: fem.Bushing(A, B), "does nothing"),
    "a load on nothing": (lambda: fem.LineLoad([], [0, 0, 1]), "must be a beam, a line"),
    "a load without law": (lambda: fem.LineLoad(LINE), "force.*missing"),
    "a load of two numbers": (lambda: fem.LineLoad(LINE, lambda s: [0, 1]), "force.*s = "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_rejected_in_words(name):
    make, words = REFUSED[name]
    with pytest.raises(fem.ParameterError, match=words):
        make()


def test_line_loads_report_functions_that_raise_and_reject_a_beam_twice():
    line = fem.beam_line([0, 0, 0], [1, 0, 0], 2, fem.Section.circle(0.01, E=210e9, nu=0.3, density=7850))
    with pytest.raises(fem.ParameterError, match=r"'q': force.*ZeroDivisionError at s = 0\.0"):
        fem.LineLoad(line, lambda s: [0, 0, 1 / 0], name="q")
    with pytest.raises(fem.ParameterError, match="twice"):
        fem.LineLoad([line[0], line[0]], [0, 0, 1.0])
