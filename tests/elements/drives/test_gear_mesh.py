"""Elastic gear meshes and belts against closed forms, Floquet theory of a scalar equation, and conservation laws."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator, Point
from fem_mbs.elements.drives.mesh_stiffness import involute, pair_stiffness

ALPHA = math.radians(20)


def wheel(model, inertia, x, name, rate=0.0, fixed=()):
    body = fem.RigidBody(1.0, [inertia] * 3, position=[x, 0, 0], angular_velocity=[0, 0, rate], name=name)
    model.add(body)
    model.add(fem.Revolute.at(model.ground, body, [x, 0, 0], [0, 0, 1], name=f"hinge {name}"))
    return body


def mesh_of(model, a, b, **options):
    # z 20/20, module 5 mm: centre distance .1 m, base radii .05 cos 20°
    return model.add(fem.GearMesh(a, b, teeth=(20, 20), module=5e-3, name="mesh", **options))


def driven(rate, inertia=1e-3, torque=100.0, **options):
    """Wheel 1 turns as prescribed, wheel 2 against a torque that presses flank + ."""
    model = fem.Model("driven pair")
    a, b = wheel(model, 1e-3, 0.0, "a", rate), wheel(model, inertia, 0.1, "b", -rate)
    hinge = model.elements[1]
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: rate * t, name="drive"))
    mesh_of(model, a, b, **options)
    if torque:  # grows within half a second
        model.add(fem.PointMoment(b, lambda t: np.array([0, 0, torque * np.sin(np.pi * np.minimum(t, 0.5)) ** 2])))
    return model


BASE = 0.05 * math.cos(ALPHA)
LOW, HIGH, SHARE = 2e8, 3e8, 0.6
FORCE = 100.0 / BASE


def smooth_jump(n, ramp):
    """Factor of harmonic n when a jump is replaced by the ramp 10 t³ − 15 t⁴ + 6 t⁵."""
    return quad(lambda t: 30 * t**2 * (1 - t) ** 2 * math.cos(2 * math.pi * n * ramp * (t - 0.5)), 0, 1)[0]


def test_transmission_error_has_the_spectrum_of_the_compliance():
    """Quasi-static: TE = F/k; mean and harmonics of the mesh frequency in closed form (formulation-joints 3.3)."""
    ramp, rate, per_pitch = 0.1, 2 * math.pi / 20, 128  # one pitch a second: load and inertia do not matter
    course = fem.stepped_stiffness(LOW, HIGH, SHARE, ramp=ramp)
    model = driven(rate, inertia=1e-4, stiffness=course, damping=1e4)
    result = fem.DecoupledNSGA(rho_inf=0.2).run(model, t_end=3.0, h=1.0 / per_pitch)
    error = result["mesh"].transmission_error[-per_pitch:]
    spectrum = 2.0 * np.abs(np.fft.rfft(error)) / per_pitch
    assert 0.5 * spectrum[0] == pytest.approx(FORCE * (SHARE / HIGH + (1 - SHARE) / LOW), rel=1e-5)
    assert 0.5 * spectrum[0] == pytest.approx(8.513422180e-6, rel=1e-5)
    sharp = [2.14772849e-6, 6.63684601e-7, 4.42456401e-7, 5.36932121e-7]
    for n, amplitude in enumerate(sharp, start=1):
        closed = abs(2 * FORCE * (1 / LOW - 1 / HIGH) * math.sin(n * math.pi * SHARE) / (n * math.pi))
        assert closed == pytest.approx(amplitude, rel=1e-8)
        assert spectrum[n] == pytest.approx(closed * abs(smooth_jump(n, ramp)), rel=2e-3)
    assert spectrum[5] < 1e-3 * spectrum[1]
    assert result["mesh"].force[-1] == pytest.approx(FORCE, rel=1e-3)
    assert (result["mesh"].flank[10:] == 1).all()


def test_parametric_excitation_has_the_floquet_trace_of_the_scalar_equation():
    """Meissner's equation (m 1, k 1.5 for .6 T, then .7, T 4) with smooth steps: trace from an independent integrator.

    With wheel 1 driven steadily, wheel 2 obeys x'' = −k(t) x + const on the line of action.
    """
    period, share, ramp = 4.0, 0.6, 0.1
    course = fem.stepped_stiffness(0.7, 1.5, share, ramp=ramp)
    inertia, rate = BASE**2, 2 * math.pi / 20 / period
    from scipy.interpolate import CubicSpline

    n = len(course)
    k = CubicSpline(np.arange(n + 1) * period / n, np.append(course, course[0]), bc_type="periodic")
    columns = [
        solve_ivp(lambda t, y: [y[1], -k(t % period) * y[0]], (0, period), y, rtol=1e-11, atol=1e-13).y[:, -1]
        for y in ([1.0, 0.0], [0.0, 1.0])
    ]
    exact = columns[0][0] + columns[1][1]
    halves = [
        np.array([[math.cos(w * t), math.sin(w * t) / w], [-w * math.sin(w * t), math.cos(w * t)]])
        for w, t in ((math.sqrt(1.5), share * period), (math.sqrt(0.7), (1 - share) * period))
    ]
    sharp = np.trace(halves[1] @ halves[0])
    assert sharp == pytest.approx(-0.8703592899, abs=1e-9)
    assert abs(exact - sharp) < 0.1  # ramps of a tenth of the period instead of jumps

    errors = []
    for h in (period / 40, period / 80):
        ends = []
        for x, v in ((0.0, 0.0), (1e-3, 0.0), (0.0, 1e-3)):
            model = fem.Model("Meissner")
            a = wheel(model, 1e-3, 0.0, "a", rate)
            b = wheel(model, inertia, 0.1, "b", -rate + v / BASE)
            hinge = model.elements[1]
            model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: rate * t, name="drive"))
            mesh_of(model, a, b, stiffness=course, phase=0.0)
            # pressed by a constant force; x: in the torsion of a preload, so that all start at one pose
            model.add(fem.PointMoment(b, [0, 0, BASE * 0.5]))
            system = model.compile()
            if x:
                turned = system.initial.copy()
                i = b.node.index
                turned.R[i] = turned.R[i] @ fem.rotations.exp([0.0, 0.0, x / BASE])
                fem.rotations.matrix_to_quaternion(turned.R[i], turned.Q[i])
                system.initial = turned
            result = fem.DecoupledNSGA(rho_inf=0.8).run(system, t_end=period, h=h)
            assert (result["mesh"].flank[1:] == 1).all()
            angle = result["mesh"].transmission_error[-1]
            ends.append((angle, BASE * result["b"].angular_velocity[-1, 2]))
        base, moved, thrown = (np.array(end) for end in ends)
        errors.append((moved - base)[0] / 1e-3 + (thrown - base)[1] / 1e-3 - exact)
    assert abs(errors[1]) < 5e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.8)  # order 2: no jumps to land on


def test_energy_is_conserved_where_the_stiffness_changes_along_the_pitch():
    """Wheels that turn freely and rattle: potential and kinetic energy, and the momentum of both shafts."""
    model = fem.Model("free pair")
    a, b = wheel(model, 1e-3, 0.0, "a", 30.0), wheel(model, 2e-3, 0.1, "b", -20.0)
    course = fem.stepped_stiffness(2e5, 3e5, 0.6, ramp=0.3)
    mesh_of(model, a, b, stiffness=course, backlash=1e-4, contact="middle")
    drift = []
    for h in (2e-5, 1e-5):
        result = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=0.05, h=h)
        energy = result.energy.total
        drift.append(np.abs(energy - energy[0]).max() / energy[0])
        assert {-1, 0, 1} >= set(np.unique(result["mesh"].flank)) and (result["mesh"].flank == -1).any()
    assert drift[1] < 1e-4 and drift[1] < 0.5 * drift[0]


def test_a_loose_pair_rattles_between_its_flanks():
    """Stiff flanks, speed w across the backlash b: half a period of free flight and half a period of contact."""
    model = fem.Model("rattle")
    a, b = wheel(model, 1e-3, 0.0, "a", 0.0, ()), wheel(model, 1e-3, 0.1, "b", 10.0)
    hinge = model.elements[1]
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: 0.0 * t, name="hold"))
    stiffness, gap = 1e6, 1e-3
    mesh_of(model, a, b, stiffness=stiffness, backlash=gap, contact="middle")
    mass = 1e-3 / BASE**2
    w = 10.0 * BASE
    period = 2 * (gap / w + math.pi * math.sqrt(mass / stiffness))
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=5 * period, h=1e-5)
    q = result["mesh"].transmission_error
    crossing = np.flatnonzero((q[:-1] < -gap / 2) & (q[1:] >= -gap / 2))
    times = result.t[crossing] + 1e-5 * (-gap / 2 - q[crossing]) / (q[crossing + 1] - q[crossing])
    assert np.diff(times) == pytest.approx(period, rel=1e-3)


def evaluate(element, kernel, x, R, v=None):
    call, point = Evaluator(element), Point()
    nd = 6 * len(x)
    point.x, point.R, point.v = np.array(x, float), np.array(R, float), np.zeros(nd) if v is None else v
    point.a, point.x0, point.R0, point.t = np.zeros(nd), point.x, point.R, 0.0
    point.s, point.gravity, point.lam = np.zeros((0, 3)), np.zeros(3), np.zeros(0)
    point.state = np.zeros(element.n_state)
    point.state = call("initial", point)["state"]
    return call(kernel, point)


@pytest.mark.parametrize("internal", [False, True])
def test_force_is_along_the_line_of_action_and_grows_with_centres_as_involutes_say(internal):
    """F on the base circles, at the working angle of the centre distance of that moment."""
    sign = -1 if internal else 1
    teeth = (20, 50)
    distance = 0.5 * 3e-3 * (50 + sign * 20)
    nodes = fem.Node6(), fem.Node6([distance, 0, 0])
    mesh = fem.GearMesh(*nodes, teeth=teeth, module=3e-3, stiffness=1e8, internal=internal, backlash=1e-3)
    base = 0.5 * 3e-3 * np.array(teeth) * math.cos(ALPHA)
    assert mesh.nominal_distance == pytest.approx(distance, rel=1e-14)
    for more in (0.0, 0.1e-3):
        turn = fem.rotations.exp([0, 0, 3e-3])
        x = [[0, 0, 0], [distance + more, 0, 0]]
        f = evaluate(mesh, "force", x, [turn, np.eye(3)])["f"]
        angle = math.acos((base[1] + sign * base[0]) / (distance + more))
        opened = sign * (base[1] + sign * base[0]) * (involute(angle) - involute(ALPHA))
        force = 1e8 * (base[0] * 3e-3 - opened)
        assert f[5] == pytest.approx(-force * base[0], rel=1e-9)
        assert f[11] == pytest.approx(-sign * force * base[1], rel=1e-9)
        assert np.linalg.norm(f[:3]) == pytest.approx(force, rel=1e-9)  # a unit vector times F
        assert abs(f[0]) == pytest.approx(force * math.sin(angle), rel=1e-9)
        assert f[6] == pytest.approx(sign * force * math.sin(angle), rel=1e-9)  # pushed apart; inwards in a ring
        out = evaluate(mesh, "output", x, [np.eye(3)] * 2)["out"]
        assert out[3] == pytest.approx(1e-3 + 2 * opened, abs=1e-15)  # backlash
        assert out[4] == pytest.approx(angle, rel=1e-12)


def test_profile_shift_moves_the_centres():
    """inv α_w = inv α + 2 (x1 + x2)/(z1 + z2) tan α; Σx = .5, z 20/40: a_w of the tables, 91.4 mm for module 3."""
    mesh = fem.GearMesh(
        fem.Node6(), fem.Node6([0.0914, 0, 0]), teeth=(20, 40), module=3e-3, stiffness=1e8, profile_shift=(0.3, 0.2)
    )
    angle = math.acos(0.09 * math.cos(ALPHA) / mesh.nominal_distance)
    assert involute(angle) == pytest.approx(involute(ALPHA) + 2 * 0.5 / 60 * math.tan(ALPHA), abs=1e-15)
    assert mesh.nominal_distance == pytest.approx(0.0914, abs=5e-5)


def test_wheels_nearer_than_their_base_circles_are_rejected_and_stop_a_run():
    nodes = fem.Node6(), fem.Node6([0.05, 0, 0])
    with pytest.raises(fem.ParameterError, match=r"frame_Q = .*0\.05 m .*frame_P.*0\.06 m"):
        fem.GearMesh(*nodes, teeth=(20, 20), module=3e-3, stiffness=1e8)
    with pytest.raises(fem.ParameterError, match=r"frame_Q = .*mesh.*0\.06 m"):
        fem.GearMesh(fem.Node6(), fem.Node6([0.08, 0, 0]), teeth=(20, 20), module=3e-3, stiffness=1e8)
    model = fem.Model("thrown together")
    a = model.add(fem.RigidBody(1.0, [1e-3] * 3, name="a"))
    b = model.add(fem.RigidBody(1.0, [1e-3] * 3, position=[0.061, 0, 0], velocity=[-1.0, 0, 0], name="b"))
    model.add(fem.GearMesh(a, b, teeth=(20, 20), module=3e-3, stiffness=1.0, name="mesh"))
    with pytest.raises(fem.SolverError, match=r"'mesh'.*apart.*0\.05638"):
        fem.DecoupledNSGA().run(model, t_end=0.1, h=1e-3)


def test_iso_and_weber_banaschek_agree_on_the_mean_stiffness():
    """Two sources of the same number: ISO 6336-1 method B, theoretical value without C_M, is fitted to such theory."""
    for teeth in ((30, 30), (20, 40), (25, 60), (60, 60)):
        pair = fem.SpurTeeth(teeth, 3e-3)
        course = fem.tooth_stiffness(pair, 0.02, load=4e3)
        _, mean = fem.iso_mesh_stiffness(teeth, pair.contact_ratio, 0.02)
        assert course.mean() == pytest.approx(mean, rel=0.08)  # measured: within 7.1 %
        # one pair and two pairs in contact
        assert 1.5 < course.max() / course.min() < 2.0


def test_geometry_of_spur_teeth_is_that_of_the_tables():
    pair = fem.SpurTeeth((30, 30), 1.0)
    assert pair.contact_ratio == pytest.approx(1.654, abs=5e-4)  # z 30/30, 20°: textbook tables
    # the pair is as stiff at ξ and −ξ for equal wheels, and stiffest near the pitch point
    k = [pair_stiffness(pair, xi, 1e5) for xi in (-1.0, 0.0, 1.0)]
    assert k[0] == pytest.approx(k[2], rel=1e-12) and k[1] > k[0]
    with pytest.raises(fem.ParameterError, match=r"teeth = .*contact ratio.*profile_shift"):
        fem.SpurTeeth((8, 60), 1.0)


def test_iso_stiffness_by_hand():
    q = 0.04723 + 0.15551 / 20 + 0.25791 / 40
    single, mean = fem.iso_mesh_stiffness((20, 40), 1.6, 0.02)
    assert single == pytest.approx(0.8 / q * 1e9 * 0.02 * (1 + 0.5 * (1.2 - 1.2)), rel=1e-12)
    assert mean == pytest.approx(single * 1.45, rel=1e-12)


# --- belts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("crossed", [False, True])
def test_belt_in_steady_motion(crossed):
    """T_1 − T_2 = M/r, T_1 + T_2 = 2 T_0, pull on the shaft 2 T_0 cos of the lean of the spans; no creep."""
    model = fem.Model("belt drive")
    rate = 100.0
    follows = rate * 0.1 / 0.15 * (-1 if crossed else 1)
    a, b = wheel(model, 0.01, 0.0, "a", rate), wheel(model, 0.02, 0.5, "b", follows)
    hinge = model.elements[1]
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: rate * t, name="drive"))
    belt = fem.Belt(a, b, radii=(0.1, 0.15), stiffness=2e4, pretension=200, damping=300.0, crossed=crossed, name="belt")
    model.add(belt)
    model.add(fem.PointMoment(b, [0, 0, 9.0 if crossed else -9.0]))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=1.0, h=1e-3)
    tight, loose = np.sort(result["belt"].tension[-1])[::-1]
    assert tight - loose == pytest.approx(60.0, rel=2e-5)  # 6e-6 by the tolerance of the iterations
    assert tight + loose == pytest.approx(400.0, rel=1e-9)
    assert result["belt"].torque[-1] == pytest.approx(-6.0, rel=2e-5)
    assert result["b"].angular_velocity[-1, 2] == pytest.approx(follows, rel=1e-7)
    lean = math.asin((0.25 if crossed else 0.05) / 0.5)
    assert abs(result["hinge a"].force[-1][0]) == pytest.approx(400 * math.cos(lean), rel=1e-6)
    assert abs(result["hinge a"].force[-1][1]) == pytest.approx(60 * math.sin(lean), rel=2e-5)


def test_a_span_goes_slack_and_pulls_no_more():
    model = fem.Model("slack span")
    b = wheel(model, 0.02, 0.5, "b")
    belt = fem.Belt(model.ground, b, radii=(0.1, 0.1), stiffness=1e4, pretension=50, damping=200.0, name="belt")
    model.add(belt)
    model.add(fem.PointMoment(b, [0, 0, 15.0]))
    result = fem.DecoupledNSGA(rho_inf=0.5).run(model, t_end=2.0, h=1e-3)
    # one span: T = 150 N = 50 + k r θ
    assert np.sort(result["belt"].tension[-1]) == pytest.approx([0.0, 150.0], abs=1e-4)
    assert abs(result["belt"].slip_path[-1]) == pytest.approx(100 / 1e4, rel=1e-6)


def test_wheels_that_overlap_are_rejected():
    with pytest.raises(fem.ParameterError, match=r"radii = .*wheels overlap.*0\.2 m"):
        fem.Belt(fem.Node6(), fem.Node6([0.2, 0, 0]), radii=(0.1, 0.15), stiffness=1e4)


# --- rigid teeth with backlash --------------------------------------------------------------------------------------


def loose(model, a, b, **options):
    return model.add(fem.LooseGearPair(a, b, teeth=(20, 20), module=5e-3, name="mesh", **options))


def test_rigid_flanks_are_hit_at_the_times_of_the_closed_form():
    """Wheel 1 held, gap .01, speed 1 from the middle, e .8: impacts at .005, .0175, .033125 …, speeds .8ⁿ."""
    model, radius = fem.Model("rattle"), 0.5 * math.cos(ALPHA)
    b = wheel(model, 0.1, 1.0, "b", 1.0 / radius)
    pair = fem.LooseGearPair(
        model.ground, b, teeth=(20, 20), module=0.05, backlash=0.01, restitution=0.8, contact="middle", name="mesh"
    )
    model.add(pair)
    assert [flank.name for flank in pair.elements] == ["mesh forward", "mesh backward"]
    closed, at, speed = [], 0.005, 1.0
    for _ in range(6):
        closed.append(at)
        speed *= 0.8
        at += 0.01 / speed
    assert closed[:4] == pytest.approx([0.005, 0.0175, 0.033125, 0.05265625])
    h = 1e-4
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=0.11, h=h)
    rate = radius * result["b"].angular_velocity[:, 2]
    struck = np.flatnonzero(np.diff(np.sign(rate)))
    assert len(struck) == 6
    assert np.all(result.t[struck + 1] - closed > -1e-12) and np.all(result.t[struck + 1] - closed < 6 * h)
    assert np.abs(rate[struck + 1]) == pytest.approx(0.8 ** np.arange(1, 7), rel=1e-9)
    sides = [result[f"mesh {flank}"].impulse[struck + 1, 0] > 0 for flank in ("forward", "backward")]
    assert (sides[0] == np.tile([True, False], 3)).all() and (sides[1] == ~sides[0]).all()


def test_an_impact_of_rigid_teeth_has_the_impulse_of_the_reduced_mass():
    model = fem.Model("impact")
    a, b = wheel(model, 1e-3, 0.0, "a", 10.0), wheel(model, 3e-3, 0.1, "b")
    loose(model, a, b, backlash=1e-3, restitution=0.5, contact="middle")
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=2e-3, h=1e-5)
    mass = BASE**-2 / (1 / 1e-3 + 1 / 3e-3)
    assert result["mesh forward"].impulse[:, 0].sum() == pytest.approx(1.5 * mass * 10.0 * BASE, rel=1e-9)
    assert result["mesh backward"].impulse.max() == 0.0
    # the shafts feel the line of action
    hinge, teeth = result["hinge a"].force, result["mesh forward"].force
    k = int(np.argmax(teeth[:, 0]))
    assert np.linalg.norm(hinge[k]) == pytest.approx(teeth[k, 0], rel=1e-6)
    assert abs(hinge[k, 0] / hinge[k, 1]) == pytest.approx(math.tan(ALPHA), rel=1e-6)


def test_a_loose_pair_without_backlash_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"backlash = .*teeth jam"):
        fem.LooseGearPair(fem.Node6(), fem.Node6([0.0999, 0, 0]), teeth=(20, 20), module=5e-3, backlash=1e-5)
