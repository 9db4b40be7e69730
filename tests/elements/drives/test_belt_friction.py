"""Belts that slip: the ideal belt with set-valued friction against closed forms of Euler and Eytelwein."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem

RADII, PRETENSION, LOAD, RATE, INERTIA = (0.1, 0.15), 200.0, 9.0, 100.0, 0.02
BOUND = 175.679911083  # N, 2 T_0 tanh(μβ/2), μ .3, β π
END = 0.076840385  # s: where slip ends
PATH = 0.384201924  # m


def wheel(model, inertia, x, name, rate=0.0):
    body = fem.RigidBody(1.0, [inertia] * 3, position=[x, 0, 0], angular_velocity=[0, 0, rate], name=name)
    model.add(body, fem.Revolute.at(model.ground, body, [x, 0, 0], [0, 0, 1], name=f"hinge {name}"))
    return body


def drive(crossed=False, load=LOAD, rate=RATE, intervals=None, **options):
    """Pulley 1 is held at a rate, pulley 2 starts from rest against a load."""
    model = fem.Model("belt drive")
    a, b = wheel(model, 0.01, 0.0, "a", rate), wheel(model, INERTIA, 0.5, "b")
    hinge = model.elements[1]
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: rate * t, name="drive"))
    options = {"friction": 0.3, "wrap": math.pi, "pretension": PRETENSION, **options}
    model.add(fem.IdealBelt(a, b, radii=RADII, crossed=crossed, name="belt", **options), intervals=intervals)
    model.add(fem.PointMoment(b, [0, 0, load if crossed else -load]))
    return model


def run(model, t_end=0.1, h=1e-3, **options):
    return fem.DecoupledNSGA(rho_inf=0.8, **options).run(model, t_end=t_end, h=h)


@pytest.mark.parametrize("crossed", [False, True])
def test_belt_slips_until_pulley_2_has_its_speed_and_holds_from_then_on(crossed):
    late = {}
    for h in (2e-3, 1e-3):
        result = run(drive(crossed), h=h)
        belt, t = result["belt"], result.t
        assert belt.bound == pytest.approx(BOUND, rel=1e-11)
        slipping = t < END
        assert belt.status[slipping] == pytest.approx(1.0) and not belt.status[~slipping].any()
        assert belt.force[slipping] == pytest.approx(BOUND, rel=1e-9)
        # the rate is linear until the step in which slip ends: its path is short by ½ a (remainder of the step)²
        a = RADII[1] * (RADII[1] * BOUND - LOAD) / INERTIA
        late[h] = PATH - belt.slip_path[-1]
        assert late[h] == pytest.approx(0.5 * a * (t[~slipping][0] - END) ** 2, rel=1e-3)
        # all that slips away is taken, and no more; afterwards the belt is a rigid ratio
        assert belt.dissipated[-1] == pytest.approx(BOUND * PATH, rel=1e-9)
        assert result["b"].angular_velocity[-1, 2] == pytest.approx((-1 if crossed else 1) * RATE / 1.5, rel=1e-12)
        assert np.ptp(belt.slip_path[~slipping]) < 1e-13
        assert belt.force[-1] == pytest.approx(LOAD / RADII[1], rel=1e-8)
        assert belt.tension[-1] == pytest.approx([230.0, 170.0], rel=1e-8)
    # both spans load the bearings along their directions
    lean = math.asin((0.25 if crossed else 0.05) / 0.5)
    force = result["hinge a"].force[-1]
    assert np.abs(force[:2]) == pytest.approx([400 * math.cos(lean), 60 * math.sin(lean)], rel=1e-7)
    assert late[2e-3] < 1e-4 and late[1e-3] < 3e-6  # formulation-joints 4: .3841, .384195


@pytest.mark.parametrize("share, holds", [(0.999, True), (1.001, False)])
def test_belt_holds_up_to_euler_and_eytelwein(share, holds):
    """From rest, pulley 1 held: pulley 2 is loaded by a part of what the belt can hold."""
    result = run(drive(load=share * RADII[1] * BOUND, rate=0.0), t_end=0.2, h=5e-3)
    belt, tension = result["belt"], result["belt"].tension[-1]
    if holds:
        assert abs(belt.slip_path).max() < 1e-14
        assert tension[0] / tension[1] < math.exp(0.3 * math.pi)
    else:
        way = 0.5 * RADII[1] ** 2 * (share - 1.0) * BOUND / INERTIA * 0.2**2
        assert belt.slip_path[-1] == pytest.approx(way, rel=0.06)  # consistent after the first step of 40
        assert tension[0] / tension[1] == pytest.approx(math.exp(0.3 * math.pi), rel=1e-9)


def two_free_pulleys(t_end, inertias, torques, bounds):
    """Speeds of two free pulleys and the times of changes, by events of an integration; static and sliding bound."""
    (r_1, r_2), (J_1, J_2) = RADII, inertias

    def held(t):
        return (r_1 * torques[0](t) / J_1 - r_2 * torques[1](t) / J_2) / (r_1**2 / J_1 + r_2**2 / J_2)

    t, state, sense, changes = 0.0, np.zeros(2), 0, []
    while t < t_end:

        def rates(t, w, sense=sense):
            F = sense * bounds[1] if sense else held(t)
            return [(torques[0](t) - r_1 * F) / J_1, (torques[1](t) + r_2 * F) / J_2]

        def change(t, w, sense=sense, begin=t):
            if sense:
                return (r_1 * w[0] - r_2 * w[1]) * sense if t > begin + 1e-9 else 1.0
            return bounds[0] - abs(held(t))

        change.terminal, change.direction = True, -1
        options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12, "max_step": 2e-3}
        found = solve_ivp(rates, [t, t_end], state, events=change, **options)
        t, state = found.t[-1], found.y[:, -1]
        if found.status == 1:
            changes.append(t)
            if not sense:
                sense = int(np.sign(held(t)))
            else:
                sense = 0 if abs(held(t)) <= bounds[0] else -sense
    return state, changes


def test_static_and_sliding_friction_of_two_free_pulleys_with_second_order():
    """The belt breaks loose and holds again, in both directions."""
    torques, mu = (lambda t: 60 * math.sin(6 * t), lambda t: -8 * math.cos(3 * t)), (0.4, 0.25)
    bounds = [2 * PRETENSION * math.tanh(0.5 * k * math.pi) for k in mu]
    exact, changes = two_free_pulleys(2.0, (0.01, INERTIA), torques, bounds)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        model = fem.Model("two free pulleys")
        a, b = wheel(model, 0.01, 0.0, "a"), wheel(model, INERTIA, 0.5, "b")
        options = {"radii": RADII, "pretension": PRETENSION, "wrap": math.pi}
        model.add(fem.IdealBelt(a, b, friction=mu, name="belt", **options))
        for body, torque in zip((a, b), torques):
            model.add(fem.PointMoment(body, lambda t, torque=torque: [0, 0, torque(t)]))
        result = run(model, t_end=2.0, h=h)
        status = result["belt"].status
        assert np.flatnonzero(np.diff(status)).size == len(changes) == 7
        assert {-1.0, 0.0, 1.0} == set(status)
        errors.append([abs(result[name].angular_velocity[-1, 2] - w) for name, w in zip("ab", exact)])
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (abs(orders - 2) < 0.25).all(), f"orders {orders}, errors {errors}"
    assert max(errors[-1]) < 1e-3  # rad/s


def test_pulley_with_the_smaller_exponent_decides():
    a, b = fem.Node6(), fem.Node6([0.5, 0, 0])
    lean = 2 * math.asin(0.05 / 0.5)

    def belt(**options):
        return fem.IdealBelt(a, b, radii=RADII, pretension=PRETENSION, **options)

    def bound(belt, k=1):
        return belt.law[k] * PRETENSION

    open_belt = belt(friction=(0.4, 0.3))
    assert open_belt.wraps == pytest.approx([math.pi - lean, math.pi + lean], rel=1e-14)
    assert open_belt.slips_on == 1
    for k, mu in enumerate((0.4, 0.3)):
        assert bound(open_belt, k) == pytest.approx(400 * math.tanh(0.5 * mu * (math.pi - lean)), rel=1e-14)
    smooth = belt(friction=0.3, other_friction=0.2)
    assert smooth.slips_on == 2
    assert bound(smooth) == pytest.approx(400 * math.tanh(0.1 * (math.pi + lean)), rel=1e-14)
    crossed = belt(friction=0.3, crossed=True)
    assert crossed.wraps == pytest.approx([math.pi + 2 * math.asin(0.5)] * 2, rel=1e-14)
    # tensions at the bound have the ratio of Euler and Eytelwein
    F = bound(crossed)
    assert (PRETENSION + F / 2) / (PRETENSION - F / 2) == pytest.approx(math.exp(0.3 * crossed.wraps[0]), rel=1e-13)
    assert belt(friction=0.3, wrap=(3.0, 4.0)).wraps.tolist() == [3.0, 4.0]


def test_belt_on_a_carrier_includes_the_rotation_of_the_centre_line():
    """Equal pulleys, the one on ground fixed: the other one, on the carrier, does not turn in space."""
    model = fem.Model("orbit")
    carrier = wheel(model, 0.1, 0.0, "carrier", 2.0)
    body = model.add(fem.RigidBody(0.5, [1e-3] * 3, position=[0.4, 0, 0], velocity=[0, 0.8, 0], name="planet"))
    model.add(fem.Revolute.at(carrier, body, [0.4, 0, 0], [0, 0, 1], name="pin"))
    options = {"radii": (0.1, 0.1), "pretension": 50.0, "friction": 0.3}
    model.add(fem.IdealBelt(model.ground.frame(), body, name="belt", **options))
    model.add(fem.PointMoment(carrier, [0, 0, 0.5]))
    result = run(model, t_end=1.0, h=5e-3)
    belt, rate = result["belt"], result["carrier"].angular_velocity[-1, 2]
    assert not belt.status.any() and abs(belt.slip_path).max() < 1e-13
    assert abs(result["planet"].angular_velocity[:, 2]).max() < 1e-12
    inertia = 0.1 + 0.5 * 0.4**2
    assert rate == pytest.approx(2.0 + 0.5 / inertia, rel=1e-4)  # error of the scheme, of second order
    # both spans pull along the centre line, against the centripetal force
    across, along = 0.5 * 0.4 * 0.5 / inertia, 2 * 50.0 - 0.5 * 0.4 * rate**2
    assert np.linalg.norm(result["pin"].force[-1]) == pytest.approx(math.hypot(across, along), rel=1e-3)


def test_belt_that_comes_off_pulls_no_more():
    result = run(drive(intervals=[(0.0, 0.05)]))
    late = result.t > 0.0505
    assert abs(result["hinge a"].force[late]).max() < 1e-6
    assert not result["belt"].force[late].any()
    slowed = -LOAD / INERTIA
    assert np.diff(result["b"].angular_velocity[late, 2]) == pytest.approx(slowed * 1e-3, rel=1e-6)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"friction": -0.1}, r"friction = -0.1"),
        ({"friction": (0.3, 0.0)}, "friction = 0.*where it slides"),
        ({"friction": (0.2, 0.3)}, r"friction = .*static.*≥ sliding"),
        ({"friction": 0.3, "other_friction": 0.0}, r"other_friction = 0"),
        ({"friction": 0.3, "pretension": 0.0}, r"pretension = 0"),
        ({"friction": 0.3, "wrap": 180.0}, r"wrap = 180.*degrees"),
        ({"friction": 0.3, "wrap": (1.0, -1.0)}, "wrap.*positive"),
        ({"friction": 0.3, "radii": (0.3, 0.3)}, r"the wheels overlap"),
        ({"friction": 0.3, "radii": (0.1, 0.0)}, "radii.*positive"),
    ],
)
def test_what_makes_no_sense_is_rejected_in_words(options, words):
    options = {"radii": RADII, "pretension": PRETENSION, **options}
    with pytest.raises(fem.ParameterError, match=words):
        fem.IdealBelt(fem.Node6(), fem.Node6([0.5, 0, 0]), **options)


# --- a belt that does not slip reports where it would --------------------------------------------------------------


def kelvin(load, friction=0.3, **options):
    """Elastic belt without slip: pulley 1 held at rest, the load on pulley 2 rises within .1 s."""
    model = fem.Model("elastic belt")
    b = wheel(model, INERTIA, 0.5, "b")
    options = {"wrap": math.pi, **options} if friction else options
    belt = fem.Belt(
        model.ground.frame(), b, radii=RADII, stiffness=2e4, pretension=PRETENSION, damping=400.0, friction=friction,
        name="belt", **options,
    )  # fmt: skip
    model.add(belt)
    model.add(fem.PointMoment(b, lambda t: [0, 0, -load * min(t / 0.1, 1.0)]))
    return run(model, t_end=0.3, h=2e-3)


def test_belt_without_slip_reports_when_it_would_and_by_how_much():
    load = 1.2 * RADII[1] * BOUND
    result = kelvin(load)
    belt = result["belt"]
    grip = np.abs(belt.tension[:, 0] - belt.tension[:, 1]) / BOUND  # the sum of the tensions stays
    assert belt.grip == pytest.approx(grip, abs=1e-9)
    assert belt.grip[-1] == pytest.approx(1.2, rel=1e-3)
    first = result.t[np.argmax(grip > 1.0)]
    (warning,) = result.warnings
    assert f"{grip.max():.4g} times" in warning and "wheel 1, μβ = 0.9425" in warning
    assert "Belt 'belt'" in warning and f"t = {first:.6g} s" in warning
    assert warning in result.report()
    assert belt.beyond[-1] == pytest.approx(first, rel=1e-12) and belt.beyond[0] == -1


def test_belt_that_holds_or_has_no_friction_reports_nothing():
    assert not kelvin(0.98 * RADII[1] * BOUND).warnings  # it swings by 1 %
    belt = kelvin(1.2 * RADII[1] * BOUND, friction=None)
    assert not belt.warnings and not belt["belt"].grip.any()


def test_friction_of_the_other_pulley_or_a_wrap_need_friction():
    for options in ({"other_friction": 0.3}, {"wrap": 3.0}):
        with pytest.raises(fem.ParameterError, match="without friction"):
            fem.Belt(fem.Node6(), fem.Node6([0.5, 0, 0]), radii=RADII, stiffness=1e4, **options)


def test_what_is_no_belt_has_no_pull():
    with pytest.raises(fem.ParameterError, match="belt"):
        fem.BeltPull(3.0)
