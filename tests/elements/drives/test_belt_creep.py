"""The elastic belt that creeps and slips: closed forms, and an integration of its equation with events."""

import math
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.element.evaluator import Evaluator
from fem_mbs.rotations import exp
from fem_mbs.verify import check_element, random_point

RADII, PRETENSION, STIFFNESS, SPAN, RATE, INERTIA, GRIP = (0.1, 0.15), 200.0, 1e4, 0.5, 100.0, 0.02, 0.3 * math.pi
FREE = math.sqrt(0.5**2 - 0.05**2)  # m, free span of the geometry
LIMIT, LOOSE = 176.349406329, 112.587473048  # N, T_t − T_s and T_s where slip begins


def drive(load, rate=RATE / 1.5, crossed=False, **options):
    """Pulley 1 held at 100 rad/s, pulley 2 at ``rate`` at the start; load: function of time [N m]."""
    sign = -1.0 if crossed else 1.0
    model, bodies = fem.Model("belt that creeps"), []
    for name, x, speed in (("a", 0.0, RATE), ("b", 0.5, sign * rate)):
        inertia = [INERTIA] * 3
        body = fem.RigidBody(1.0, inertia, position=[x, 0, 0], angular_velocity=[0, 0, speed], name=name)
        hinge = model.add(body, fem.Revolute.at(model.ground, body, [x, 0, 0], [0, 0, 1], name=f"hinge {name}"))[1]
        bodies.append((body, hinge))
    (a, hinge), (b, _) = bodies
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: RATE * t, name="drive"))
    options = {"friction": 0.3, "wrap": math.pi, "length": SPAN, **options}
    belt = {"radii": RADII, "stiffness": STIFFNESS / SPAN, "pretension": PRETENSION, "crossed": crossed, **options}
    model.add(fem.CreepingBelt(a, b, name="belt", **belt))
    model.add(fem.PointMoment(b, lambda t: [0, 0, -sign * load(t)], name="load"))
    return model


def run(model, t_end, h=1e-3, **options):
    return fem.DecoupledNSGA(rho_inf=0.8, rtol=1e-9).run(model, t_end=t_end, h=h, **options)


def belt(**options):
    given = {"radii": RADII, "stiffness": STIFFNESS / FREE, "pretension": PRETENSION, "friction": 0.3, **options}
    return fem.CreepingBelt(fem.Node6(), fem.Node6([0.5, 0, 0]), **given)


@pytest.mark.parametrize("crossed", [False, True])
def test_creep_has_the_tensions_and_the_ratio_of_the_closed_form(crossed):
    result = run(drive(lambda t: 9.0, crossed=crossed), 2.0, balance=True)
    found, speed = result["belt"], abs(result["b"].angular_velocity[-1, 2])
    tight, loose = found.tension[-1]
    assert [tight, loose] == pytest.approx([230.088234531, 170.088234531], abs=2e-6)
    assert speed == pytest.approx(66.275663197, abs=1e-6)
    strain = np.array([tight, loose]) / STIFFNESS
    assert 1.5 * speed / RATE == pytest.approx((1 + strain[1]) / (1 + strain[0]), abs=1e-9)
    assert (1 / (1 + strain)).sum() == pytest.approx(2 / (1 + PRETENSION / STIFFNESS), rel=1e-12)
    assert np.ptp(found.unstretched.sum(axis=1)) < 1e-15  # no belt is lost
    assert found.slip[-1] == pytest.approx(RADII[0] * RATE - RADII[1] * speed, rel=1e-9)
    assert found.torque[-1] == pytest.approx(-6.0, rel=1e-6)
    # the table of energy closes: creep takes what the driver gives and the load does not get
    table = result.energy_table(1.5, 2.0)
    assert table.work("belt") == pytest.approx(-0.5 * (60.0 * RADII[0] * RATE - 9.0 * speed), rel=1e-6)
    assert abs(table.numerical) < 1e-8 * table.work("drive")


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_belt_holds_up_to_the_limit_and_slips_beyond_it(share):
    """The load rises smoothly, within a second, to a part of what friction holds."""
    result = run(drive(lambda t: share * RADII[1] * LIMIT * math.sin(0.5 * math.pi * min(t, 1.0)) ** 2), 2.0)
    found, speed = result["belt"], result["b"].angular_velocity[:, 2]
    if share < 1:
        assert not found.status.any() and (found.grip < 1.0).all()
        assert -np.subtract.reduce(found.tension[-1][::-1]) == pytest.approx(share * LIMIT, rel=1e-6)
        assert speed[-1] == pytest.approx(speed[-200], rel=1e-6)
    else:
        assert found.status[-1] == 1.0
        assert found.tension[-1] == pytest.approx([LOOSE + LIMIT, LOOSE], abs=1e-8)
        assert math.log(found.tension[-1, 0] / found.tension[-1, 1]) == pytest.approx(GRIP, rel=1e-13)
        # the load that is left slows pulley 2 without end
        slowed = -(share - 1.0) * RADII[1] * LIMIT / INERTIA
        assert (speed[-1] - speed[-500]) / 0.499 == pytest.approx(slowed, rel=1e-5)


def reference(load, t_end, start):
    """Speed of pulley 2, T_t, T_s and the times at which slip begins and ends, by events of an integration."""
    short = SPAN / (1 + PRETENSION / STIFFNESS)

    def tensions(y):
        return STIFFNESS * (SPAN / (short + np.array([y, -y])) - 1)

    def flow(y, speed):
        return (RADII[1] * speed * (short - y) - RADII[0] * RATE * (short + y)) / SPAN

    ratio = math.exp(GRIP)  # T_t/T_s = ratio: a quadratic equation of −y
    largest = -np.roots([1.0, (ratio + 1) / (ratio - 1) * SPAN, (SPAN - short) * short]).max()
    t, state, slips, changes = 0.0, [0.0, start], False, []
    while t < t_end:

        def rates(t, s, slips=slips):
            T = tensions(s[0])
            return [0.0 if slips else flow(*s), (RADII[1] * (T[0] - T[1]) - load(t)) / INERTIA]

        def change(t, s, slips=slips):
            return flow(*s) * np.sign(s[0]) if slips else largest - abs(s[0])

        change.terminal, change.direction = True, -1
        options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "max_step": 5e-3}
        found = solve_ivp(rates, [t, t_end], state, events=change, **options)
        t, state = found.t[-1], found.y[:, -1]
        if found.status == 1:
            slips = not slips
            changes.append(t)
    return np.array([state[1], *tensions(state[0])]), changes


def test_overload_slips_and_holds_again_with_second_order():
    def load(t):
        return 9.0 + 30.0 * math.sin(math.pi * min(max((t - 0.1) / 0.2, 0.0), 1.0)) ** 2

    start, t_end = 66.275663197, 0.4
    exact, (begins, ends) = reference(load, t_end, start)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        result = run(drive(load, rate=start), t_end, h)
        found, t = result["belt"], result.t
        slipping = t[found.status != 0]
        assert abs(slipping[0] - begins) < 1.5 * h and abs(slipping[-1] - ends) < 1.5 * h
        assert found.grip[found.status != 0] == pytest.approx(1.0, abs=1e-12)
        assert (found.grip <= 1.0 + 1e-12).all()
        end = [result["b"].angular_velocity[-1, 2], *found.tension[-1]]
        errors.append(np.abs(end - exact))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert ((orders > 1.6) & (orders < 2.6)).all(), f"orders {orders}, errors {errors}"
    assert errors[-1][0] < 0.02


@pytest.mark.parametrize("method", [fem.GeneralizedAlpha, fem.MoreauJean])
def test_other_methods_support_it(method):
    result = method().run(drive(lambda t: 9.0), t_end=1.0, h=5e-4)
    assert result["belt"].tension[-1] == pytest.approx([230.088234531, 170.088234531], abs=2e-3)


def hanging():
    """Pulley 1 is held on ground, pulley 2 free."""
    model = fem.Model("hanging")
    b = model.add(fem.RigidBody(1.0, [INERTIA] * 3, position=[0.5, 0, 0], name="b"))
    model.add(fem.Revolute.at(model.ground, b, [0.5, 0, 0], [0, 0, 1]))
    options = {"radii": RADII, "stiffness": STIFFNESS / SPAN, "pretension": PRETENSION, "friction": 0.3}
    model.add(fem.CreepingBelt(model.ground.frame(), b, length=SPAN, name="belt", **options))
    return model


def test_damped_modes_have_its_swing_and_the_others_report_that_they_have_not():
    """A belt at rest does not creep: ω² = (EA/L_0)(1 + ε_0) 2 r_2²/J of spans that are l_0 long."""
    system = hanging().compile()
    strain = PRETENSION / STIFFNESS
    rate = RADII[1] * math.sqrt(2 * STIFFNESS / SPAN * (1 + strain) / INERTIA)
    assert np.abs(fem.modes(system, damping=True).eigenvalues.imag).max() == pytest.approx(rate, rel=1e-9)
    remarks = fem.modes(system).warnings
    assert any(re.search("CreepingBelt 'belt'.*left out", text) and "damping=True" in text for text in remarks)


def test_statics_rejects_states_that_are_velocities():
    with pytest.raises(fem.ParameterError, match=r"CreepingBelt 'belt'.*first order"):
        fem.static_equilibrium(hanging().compile())


def test_pulleys_that_come_nearer_loosen_the_belt_until_it_drives_no_more():
    """Tensions follow the centre distance: h' of the spans; a belt that is slack is no error."""
    element = belt()
    call = Evaluator(element)
    point = random_point(element, np.random.default_rng(1))
    rest = point.copy(v=np.zeros(18), R=np.array([np.eye(3)] * 3))

    def tension(distance):
        return call("output", rest.copy(x=np.array([[0, 0, 0], [distance, 0, 0], [0, 0, 0.0]])))["out"][:2]

    span = math.sqrt(0.5**2 - 0.05**2)
    short = span / (1 + PRETENSION / STIFFNESS)
    longer = math.sqrt(0.501**2 - 0.05**2) - 0.05 * math.acos(0.05 / 0.501) - span + 0.05 * math.acos(0.1)
    assert tension(0.5) == pytest.approx([PRETENSION] * 2, rel=1e-12)
    assert tension(0.501) == pytest.approx([STIFFNESS * ((span + longer) / short - 1)] * 2, rel=1e-11)
    assert not tension(0.48).any()


def test_forces_turn_with_a_rigid_motion_of_the_pulleys():
    element, rng = belt(friction=1.0), np.random.default_rng(5)
    call, point = Evaluator(element), random_point(element, rng)
    point.x[1] = point.x[0] + point.R[0] @ [0.501, 0.02, 0.01]
    point.R[1] = point.R[0] @ exp([0, 0, 0.7])
    point.v[12] = 50.0
    Q, c = exp([0.4, -1.0, 0.7]), rng.normal(size=3)
    moved = point.rigidly_moved(Q, c)
    moved.v[12:] = point.v[12:]  # the state is no vector
    before, after = call("force", point)["f"], call("force", moved)["f"]
    assert abs(before[12]) > 1.0
    turned = before.copy()
    for k in (0, 6):
        turned[k : k + 3] = Q @ before[k : k + 3]
    assert after == pytest.approx(turned, rel=1e-9, abs=1e-9 * abs(before).max())


def test_tangents_are_right_while_it_slips():
    """The registered examples mostly creep; with hardly any friction all poses slip."""
    P, Q = fem.Node6(), fem.Node6([0.6, 0.1, 0.05])
    element = fem.CreepingBelt(
        P, Q, radii=(0.1, 0.15), stiffness=6.6, pretension=1.0, friction=0.05, recovery=0.5, name="slips"
    )
    rng, slipping = np.random.default_rng(2), 0
    for _ in range(200):
        point = random_point(element, rng)
        if element.regular(point):
            slipping += Evaluator(element)("output", point)["out"][-1] != 0
    assert slipping > 5
    report = check_element(element, configurations=20)
    assert report.ok, report


def test_a_drive_that_turns_backwards_tightens_the_other_span():
    forwards = drive(lambda t: 9.0)
    backwards = fem.Model("backwards")
    a = backwards.add(fem.RigidBody(1.0, [INERTIA] * 3, angular_velocity=[0, 0, -RATE], name="a"))
    b = fem.RigidBody(1.0, [INERTIA] * 3, position=[0.5, 0, 0], angular_velocity=[0, 0, -RATE / 1.5], name="b")
    backwards.add(b)
    hinge = backwards.add(fem.Revolute.at(backwards.ground, a, [0, 0, 0], [0, 0, 1]))
    backwards.add(fem.Revolute.at(backwards.ground, b, [0.5, 0, 0], [0, 0, 1]))
    backwards.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: -RATE * t, name="drive"))
    options = {
        "stiffness": STIFFNESS / SPAN,
        "pretension": PRETENSION,
        "friction": 0.3,
        "wrap": math.pi,
        "length": SPAN,
    }
    backwards.add(fem.CreepingBelt(a, b, radii=RADII, name="belt", **options))
    backwards.add(fem.PointMoment(b, [0, 0, 9.0]))
    one, other = (run(model, 0.2)["belt"].tension[-1] for model in (forwards, backwards))
    assert other[::-1] == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"stiffness": 0.0}, r"stiffness = 0"),
        ({"pretension": -1.0}, r"pretension = -1"),
        ({"friction": 0.0}, r"friction = 0"),
        ({"other_friction": -0.2}, r"other_friction = -0.2"),
        ({"length": 0.0}, r"length = 0"),
        ({"recovery": 0.0}, r"recovery = 0"),
        ({"wrap": 170.0}, r"wrap = 170.*degrees"),
        ({"radii": (0.3, 0.3)}, r"the wheels overlap"),
    ],
)
def test_what_makes_no_sense_is_rejected_in_words(options, words):
    with pytest.raises(fem.ParameterError, match=words):
        belt(**options)


def test_limit_is_that_of_euler_and_eytelwein_on_a_belt_of_constant_length():
    """1/(1 + ε_t) + 1/(1 + ε_s) = 2/(1 + ε_0) with T_t = e^{μβ} T_s."""
    strain = np.array([LOOSE + LIMIT, LOOSE]) / STIFFNESS
    assert (1 / (1 + strain)).sum() == pytest.approx(2 / (1 + PRETENSION / STIFFNESS), rel=1e-12)
    assert strain[0] / strain[1] == pytest.approx(math.exp(GRIP), rel=1e-11)


def test_pulley_with_the_smaller_exponent_slips():
    assert belt().slips_on == 1
    assert belt(other_friction=0.2).slips_on == 2
    assert belt().wraps == pytest.approx([math.pi - 2 * math.asin(0.1), math.pi + 2 * math.asin(0.1)])
