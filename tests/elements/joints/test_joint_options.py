"""Springs, stops and motors of joints: closed forms, with every method, at angles of several turns."""

import numpy as np
import pytest
from every_stepper import SMOOTH, every_method, every_method_with_contacts
from scipy.optimize import brentq

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.rotations import frame_with_axis

AXIS = np.array([0.6, 0.0, 0.8])
MASS, J = 2.0, np.diag([0.15, 0.18, 0.2])
ARM = np.array([-0.3, 0.1, 0.2])  # hinge, from the centre of mass
INERTIA = AXIS @ J @ AXIS + MASS * np.linalg.norm(np.cross(AXIS, ARM)) ** 2  # about the axis of the hinge


def hinged(rate=0.0, gravity=(0, 0, 0), **options):
    """A body on a hinge with a skew axis through a point off its centre of mass."""
    model = fem.Model("hinged body", gravity=gravity)
    spin = rate * AXIS
    body = fem.RigidBody(MASS, J, position=-ARM, velocity=np.cross(spin, -ARM), angular_velocity=spin, name="body")
    model.add(body, fem.Revolute.at(model.ground, body, [0, 0, 0], AXIS, name="hinge", **options))
    return model


def slider(speed=0.0, mass=2.0, **options):
    """A mass on a horizontal rail."""
    model = fem.Model("slider")
    body = fem.RigidBody(mass, 0.1, velocity=[speed, 0, 0], name="mass")
    model.add(body, fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], name="rail", **options))
    return model


# --- springs --------------------------------------------------------------------------------------------------------


def test_spring_of_a_hinge_swings_over_several_turns_in_its_own_frequency():
    k, turns = 4.0, 3.0  # from rest at 0, with the rest of the spring three turns away
    model = hinged(stiffness=k, rest=2 * np.pi * turns)
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=1.0, h=1e-3)
    w = np.sqrt(k / INERTIA)
    exact = 2 * np.pi * turns * (1 - np.cos(w * result.t))
    assert result["hinge"].angle.max() > 2 * np.pi * turns
    assert result["hinge"].angle == pytest.approx(exact, abs=2e-2)  # 7e-3 at 1e-3 s, of 38 rad
    assert result["hinge spring"].effort == pytest.approx(k * (result["hinge"].angle - 2 * np.pi * turns), rel=1e-12)


def test_table_and_function_of_a_spring_are_one_law():
    x = np.linspace(-0.5, 0.5, 41)
    law = {"stiffness": lambda s: 50 * s + 4e2 * s**3, "damping": lambda rate: 0.4 * rate * np.abs(rate)}
    table = {"stiffness": np.column_stack([x, 50 * x + 4e2 * x**3]), "damping": law["damping"]}
    runs = [fem.DecoupledNSGA().run(slider(1.2, **laws), t_end=0.5, h=2e-3) for laws in (law, table)]
    displacement = [run["rail"].displacement for run in runs]
    assert np.abs(displacement[0]).max() > 0.15  # the cubic part counts
    assert displacement[1] == pytest.approx(displacement[0], abs=1e-4)  # error of the pieces: h⁴ y⁗/384 and slopes


def test_tangents_of_functions_are_those_of_tables_and_numbers():
    model = fem.Model("sleeve")
    body = fem.RigidBody(2.0, 0.1, position=[0.3, 0.1, 0], rotation=[0.2, 0.4, 0.1], name="body")
    sleeve = fem.Cylindrical.at(model.ground, body, [0.1, 0, 0], [0, 0.6, 0.8])
    for coordinate in ("angle", "displacement"):
        law = {"stiffness": lambda s: np.sinh(s), "damping": lambda rate: 0.3 * rate + 0.1 * rate**3}
        report = verify.check_element(fem.JointSpring(sleeve, coordinate=coordinate, **law), configurations=5)
        assert report.ok, report


def test_a_nonlinear_spring_keeps_the_energy_that_it_stores():
    run = fem.DecoupledNSGA(rho_inf=1.0).run(slider(1.2, stiffness=lambda s: 4e3 * s**3), t_end=0.5, h=5e-4)
    start = 0.5 * 2.0 * 1.2**2
    assert run.energy.potential.max() == pytest.approx(start, rel=1e-3)  # all of it at the turning points
    assert run.energy.total == pytest.approx(start, rel=1e-3)  # order 2 in h


def test_springs_of_a_sleeve_act_along_each_of_its_coordinates():
    model = fem.Model("sleeve")
    body = fem.RigidBody(2.0, [0.1, 0.2, 0.3], name="body")
    springs = {"stiffness": {"displacement": 8.0, "angle": 3.0}, "rest": {"displacement": 0.1, "angle": -0.2}}
    model.add(body, fem.Cylindrical.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="sleeve", **springs))
    system = model.compile()
    A, _ = fem.initial_accelerations(system, system.initial)
    assert A[1] == pytest.approx([0, 0, 8.0 * 0.1 / 2.0, 0, 0, -3.0 * 0.2 / 0.3], abs=1e-12)
    assert [e.name for e in model.elements[2:]] == ["sleeve displacement spring", "sleeve angle spring"]


def test_dampers_of_a_hinge_stop_it_exponentially():
    result = fem.DecoupledNSGA().run(hinged(10.0, damping=0.9), t_end=1.0, h=2e-3)
    exact = 10.0 * np.exp(-0.9 * result.t / INERTIA)
    assert result["hinge"].rate == pytest.approx(exact, abs=1e-3)  # order 2: 2.4e-4 at 2e-3 s


# --- stops ----------------------------------------------------------------------------------------------------------


def test_stops_are_hit_in_closed_form_after_more_than_a_turn():
    e, rate, upper, lower = 0.7, 10.0, np.radians(400), np.radians(-50)
    stops = fem.Stops(lower, upper, restitution=e)
    result = fem.DecoupledNSGA(rho_inf=0.8).run(hinged(rate, stops=stops), t_end=2.5, h=2e-3)
    first, second = result["hinge upper stop"], result["hinge lower stop"]
    hits = [np.flatnonzero(np.abs(stop.impulse[:, 0]) > 1e-9) for stop in (first, second)]
    assert [len(hit) for hit in hits] == [1, 1]
    t = upper / rate, upper / rate + (upper - lower) / (e * rate)
    found = [result.t[hit[0]] for hit in hits]
    assert found[0] == pytest.approx(t[0], abs=2e-3)  # impacts are seen at the end of their step
    assert found[1] == pytest.approx(t[1], abs=8e-3)
    impulses = [stop.impulse[hit[0], 0] for stop, hit in zip((first, second), hits)]
    # rates between impacts are of order 2 (the axis is none of the body's own): 2e-4 at this step
    assert impulses == pytest.approx([INERTIA * rate * (1 + e), INERTIA * rate * e * (1 + e)], rel=1e-3)
    assert result["hinge"].rate[-1] == pytest.approx(e * e * rate, rel=1e-3)
    for hit in hits:
        before, after = result["hinge"].rate[hit[0] + [-1, 0]]
        assert after == pytest.approx(-e * before, rel=1e-4)
    assert result["hinge"].angle.max() <= upper + 1e-12


@every_method_with_contacts
def test_every_method_with_contacts_takes_stops(method):
    e, rate = 0.5, 10.0
    model = hinged(rate, stops=fem.Stops(upper=np.radians(400), restitution=e))
    result = method.run(model, t_end=1.0, h=5e-3)
    rates = result["hinge"].rate
    hit = np.flatnonzero(rates < 0)[0]
    assert rates[hit] == pytest.approx(-e * rates[hit - 1], rel=0.01)  # rates change a little over the step itself
    assert result.t[hit] == pytest.approx(np.radians(400) / rate, rel=0.08)  # methods of first order lose rate
    assert result["hinge"].angle.max() == pytest.approx(np.radians(400), abs=0.06)  # the way of a step


def test_a_pendulum_comes_to_rest_on_a_stop_with_the_moment_of_its_weight():
    model = hinged(gravity=[0, -9.81, 0], stops=fem.Stops(-0.5, 0.5, restitution=0.2))
    result = fem.DecoupledNSGA().run(model, t_end=3.0, h=5e-3)
    moment = AXIS @ np.cross(-ARM, [0, -MASS * 9.81, 0])  # at angle 0, where the stops are not
    side, limit = ("upper", 0.5) if moment > 0 else ("lower", -0.5)
    from fem_mbs.rotations import exp

    at_rest = AXIS @ np.cross(exp(limit * AXIS) @ -ARM, [0, -MASS * 9.81, 0])
    assert result["hinge"].angle[-1] == pytest.approx(limit, abs=1e-9)
    assert result[f"hinge {side} stop"].force_normal[-1] == pytest.approx(abs(at_rest), rel=1e-6)


def test_a_compliant_stop_gives_back_what_its_law_says():
    v, d, k = 1.5, 0.3, 4e4
    stops = fem.Stops(upper=0.1, stiffness=k, damping=d)
    result = fem.DecoupledNSGA(rho_inf=1.0).run(slider(v, stops=stops), t_end=0.1, h=2e-5)

    def law(e):  # (3) in the header of the file
        return d * v - np.log1p(d * v) + d * e * v + np.log1p(-d * e * v)

    e = brentq(law, 0.3, 0.99)
    assert -result["rail"].rate[-1] / v == pytest.approx(e, abs=2e-4)
    assert e == pytest.approx(1 - 2 / 3 * d * v, abs=0.08)  # the rule for choosing d
    assert result["rail stops"].effort.min() == pytest.approx(-np.sqrt(k * 2.0) * v, rel=0.25)


def test_a_bumper_that_is_left_faster_than_its_damping_allows_does_not_pull():
    """1 + d δ̇ < 0: the bodies part before the material has recovered; without the limit it would brake the mass."""
    model, d, speed = fem.Model("slider"), 2.0, 1.0
    body = fem.RigidBody(2.0, 0.1, position=[0.09, 0, 0], velocity=[speed, 0, 0], name="mass")
    rail = fem.Prismatic.at(model.ground, body, [0.09, 0, 0], [1, 0, 0], name="rail")
    stop = fem.JointBumper(rail, lower=0.01, stiffness=1e3, damping=d, name="bumper")
    model.add(body, rail, stop)
    assert d * speed > 1.0
    result = fem.DecoupledNSGA(rho_inf=1.0).run(model, t_end=0.02, h=1e-4)
    assert result["bumper"].value[0] < 0.01 < result["bumper"].value[-1]  # it leaves the bumper
    assert (result["bumper"].effort >= 0.0).all()
    assert result["rail"].rate == pytest.approx(speed, abs=1e-12)


# --- motors ---------------------------------------------------------------------------------------------------------


def test_a_motor_that_prescribes_the_position_needs_inertia_times_acceleration():
    position = fem.Signal(lambda t: 20.0 * t**2)
    result = fem.DecoupledNSGA().run(hinged(motor=fem.Motor(position=position)), t_end=1.0, h=1e-3)
    assert result["hinge motor"].value == pytest.approx(20.0 * result.t**2, abs=1e-9)  # three turns
    assert result["hinge motor"].effort[5:] == pytest.approx(INERTIA * 40.0, rel=1e-3)  # order 2


@every_method
def test_a_motor_that_prescribes_the_rate_turns_on(method):
    if type(method).__name__ in SMOOTH | {"LobattoIIIAB"}:
        pytest.skip("takes no rows of velocities")
    model = hinged(12.0, motor=fem.Motor(rate=lambda t: 12.0 + 8.0 * t))
    result = method.run(model, t_end=1.0, h=5e-3)
    assert result["hinge"].rate == pytest.approx(12.0 + 8.0 * result.t, rel=1e-8)
    assert result["hinge"].angle[-1] == pytest.approx(16.0, abs=0.05)  # first order adds ½ h Δω


def test_a_motor_with_a_given_effort_accelerates_its_inertia():
    model = hinged(motor=fem.Motor(effort=lambda t: 3.0 * np.cos(2 * t)))
    result = fem.DecoupledNSGA().run(model, t_end=1.0, h=2e-3)
    assert result["hinge"].rate == pytest.approx(1.5 * np.sin(2 * result.t) / INERTIA, abs=2e-5)  # order 2
    assert result["hinge motor"].effort == pytest.approx(3.0 * np.cos(2 * result.t), rel=1e-12)


def test_a_rate_motor_holds_a_mass_against_its_weight():
    model = fem.Model("hoist", gravity=[0, 0, -9.81])
    load = fem.RigidBody(2.0, 0.1, name="load")
    rail = fem.Prismatic.at(model.ground, load, [0, 0, 0], [0, 0, 1], name="rail", motor=fem.Motor(rate=0.0))
    model.add(load, rail)
    result = fem.DecoupledNSGA().run(model, t_end=0.1, h=5e-3)
    assert result["rail motor"].effort == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert np.abs(result["rail"].displacement).max() < 1e-12


# --- names and messages ---------------------------------------------------------------------------------------------


def test_companions_are_named_after_their_joint_also_where_it_has_no_name():
    model = fem.Model("names")
    body = model.add(fem.RigidBody(1.0, 0.1))
    hinge = fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], stiffness=2.0, stops=fem.Stops(-1, 1))
    model.add(hinge)
    names = [f"revolute 1 {part}" for part in ("spring", "lower stop", "upper stop")]
    assert [e.name for e in hinge.companions] == names
    assert all(model[name].joint is hinge for name in names)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stops": fem.Stops(0.1, 0.2)}, r"'hinge lower stop'.*0\.1 rad.*angle = 0 rad"),
        ({"stops": 0.3}, "stops = 0.3.*a fem.Stops"),
        ({"motor": 3.0}, "motor = 3.0.*a fem.Motor"),
        ({"motor": fem.Motor(position=1.0)}, "x of frame_Q .* 0 rad|coordinate is 0 rad"),
        ({"stiffness": {"turn": 1.0}}, "'turn'.*'hinge'.*angle"),
        ({"stiffness": -1.0}, "JointSpring 'hinge spring': stiffness = -1.0 N m/rad.*≥ 0"),
        ({"stiffness": [[0, 0], [0, 1]]}, r"stiffness = .*rise in x"),
        ({"damping": lambda rate: 1.0 + rate}, r"damping = .*1 N m at rate 0"),
        ({"stiffness": 0.0}, r"stiffness = .*damping.* 0"),
        ({"rest": 0.1}, r"rest = .*stiffness of angle"),
        ({"stifness": 1.0}, r"did you mean 'stiffness'"),
        ({"friction": 0.3}, r"'hinge friction': radius = 0\.0.*collar and preload"),
        ({"friction": fem.DryFriction(-0.3, preload=1.0)}, "'hinge friction': friction = -0.3.*≥ 0"),
    ],
)
def test_options_that_make_no_sense_are_rejected_in_words(options, message):
    with pytest.raises(fem.ParameterError, match=message):
        hinged(**options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fem.Stops(0.2, 0.1), r"lower = 0\.2.*below upper = 0\.1"),
        (lambda: fem.Stops(), r"both missing"),
        (lambda: fem.Stops(0, 1, restitution=0.1, stiffness=3.0), r"restitution = .*rigid stops, stiffness"),
        (lambda: fem.Stops(0, 1, damping=3.0), r"damping = .*stiffness too"),
        (lambda: fem.Stops(0, 1, restitution=1.5), r"between 0 and 1"),
        (lambda: fem.Motor(), r"given = .*nothing.*position, rate and effort"),
        (lambda: fem.Motor(rate=1.0, effort=2.0), "given = 'rate and effort'"),
    ],
)
def test_stops_and_motors_that_make_no_sense_are_rejected_in_words(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make()


def test_an_option_of_a_joint_with_two_coordinates_says_which():
    model = fem.Model("sleeve")
    body = fem.RigidBody(2.0, 0.1, name="body")
    with pytest.raises(fem.ParameterError, match=r"2 free.*'displacement' or 'angle'"):
        fem.Cylindrical.at(model.ground, body, [0, 0, 0], [0, 0, 1], stiffness=3.0)


def test_frames_of_the_skew_hinge_have_its_axis():
    hinge = hinged()["hinge"]
    assert hinge.frame_P.orientation == pytest.approx(frame_with_axis(AXIS), abs=1e-15)
