"""Restitution that depends on the approach speed, against closed forms."""

import itertools
import pickle

import numpy as np
import pytest
from every_stepper import every_method_with_contacts

import fem_mbs as fem
from fem_mbs.errors import FemMbsError, ParameterError

TABLE = [(0.5, 0.9), (2.0, 0.5)]
LAWS = {"table": TABLE, "power": fem.PowerRestitution(0.8, 0.4)}


def table(v):
    """`TABLE` by numpy's interpolation."""
    return np.interp(v, *np.transpose(TABLE))


def power(v):
    """The power law of `LAWS`, written out."""
    return 0.8 if v <= 0.4 else 0.8 * (v / 0.4) ** -0.25


EXPECTED = {"table": table, "power": power}
either_law = pytest.mark.parametrize("law", LAWS)


def shuttle(restitution, start, others=None):
    """A ball that flies without gravity between two parallel planes, and may turn to a third, of another law."""
    model = fem.Model("shuttle", gravity=[0, 0, 0])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.3], velocity=[0, 0, -start], name="ball"))
    for name, frame in (("floor", model.ground.frame()), ("roof", model.ground.frame([0, 0, 1], [np.pi, 0, 0]))):
        model.add(fem.SphereOnPlane(ball, frame, radius=0.1, restitution=restitution, name=name))
    if others is not None:
        far = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[9, 0, 0.3], velocity=[0, 0, -1.0], name="far"))
        model.add(fem.SphereOnPlane(far, model.ground.frame(), radius=0.1, restitution=others, name="far floor"))
    return model


def changes(values, error=1e-9):
    """Values that follow each other in a history, apart from an error."""
    kept = [values[0]]
    for value in values[1:]:
        if abs(value - kept[-1]) > error:
            kept.append(value)
    return np.array(kept)


def rebounds(law, start, count):
    """Speeds before the first of some impacts, and after each of them."""
    speeds = [start]
    for _ in range(count):
        speeds.append(EXPECTED[law](speeds[-1]) * speeds[-1])
    return speeds


@either_law
@every_method_with_contacts
def test_each_impact_has_the_restitution_of_its_own_approach_speed(method, law):
    result = method.run(shuttle(LAWS[law], 3.0), 1.6, 4e-3)
    speeds = changes(np.abs(result["ball"].velocity[:, 2]))
    assert len(speeds) > 3
    # without forces the velocity between impacts is constant: what remains is the tolerance of Newton's iterations
    np.testing.assert_allclose(speeds, rebounds(law, 3.0, len(speeds) - 1), rtol=1e-8)


@pytest.mark.parametrize("impacts", ["plain", "split"])
def test_a_ball_that_falls_rebounds_by_the_speed_at_its_touch(impacts):
    model = fem.Model("drop", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.4], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=TABLE, name="floor"))
    result = fem.DecoupledNSGA(impacts=impacts).run(model, 1.2, 2e-3)
    z, v = result["ball"].position[:, 2] - 0.1, result["ball"].velocity[:, 2]
    energies = changes(9.81 * z + 0.5 * v**2)
    expected = [9.81 * 0.3]
    for _ in energies[1:]:
        expected.append(table(np.sqrt(2.0 * expected[-1])) ** 2 * expected[-1])
    assert len(energies) > 3
    np.testing.assert_allclose(energies, expected, rtol=1e-8)
    assert not result.warnings  # nothing is lost against the law


def test_balls_that_land_in_one_step_rebound_by_their_own_speeds():
    law = [(0.5, 0.9), (4.0, 0.8)]
    model = fem.Model("two drops", gravity=[0, 0, -9.81])
    for name, height, down in (("slow", 0.2, 0.0), ("fast", 0.4, 1.0)):
        ball = fem.RigidBody.sphere(1.0, 0.1, position=[height, 0, 0.1 + height], velocity=[0, 0, -down], name=name)
        model.add(ball, fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=law, name=f"floor of {name}"))
    # both land at about 0.2 s
    result = fem.DecoupledNSGA(impacts="plain").run(model, 0.3, 2e-3)
    for name, energy in (("slow", 9.81 * 0.2), ("fast", 9.81 * 0.4 + 0.5)):
        z, v = result[name].position[-1, 2] - 0.1, result[name].velocity[-1, 2]
        after = np.interp(np.sqrt(2.0 * energy), *np.transpose(law)) ** 2 * energy
        assert 9.81 * z + 0.5 * v**2 == pytest.approx(after, rel=1e-8)
    landed = [int(np.argmax(result[f"floor of {name}"].impact > 0)) for name in ("slow", "fast")]
    assert landed[0] == landed[1]


@either_law
def test_two_balls_part_with_the_restitution_of_their_relative_speed(law):
    masses, before = np.array([1.0, 3.0]), np.array([1.5, -0.4])
    model = fem.Model("two", gravity=[0, 0, 0])
    balls = [
        model.add(fem.RigidBody.sphere(m, 0.1, position=[x, 0, 0], velocity=[v, 0, 0], name=name))
        for m, v, x, name in zip(masses, before, (-0.3, 0.3), "AB")
    ]
    model.add(fem.SphereOnSphere(*balls, radius_A=0.1, radius_B=0.1, restitution=LAWS[law], name="hit"))
    result = fem.DecoupledNSGA().run(model, 0.5, 1e-3)
    after = [result[name].velocity[-1, 0] for name in "AB"]
    mean, e = masses @ before / masses.sum(), EXPECTED[law](before[0] - before[1])
    np.testing.assert_allclose(after, (1 + e) * mean - e * before, rtol=1e-9)  # momentum and e


@either_law
def test_stops_of_a_joint_take_the_rate_of_its_coordinate(law):
    model = fem.Model("door", gravity=[0, 0, 0])
    stops = fem.Stops(-0.4, 0.4, restitution=LAWS[law])
    door = model.add(
        fem.RigidBody(2.0, [0.1, 0.1, 0.1], position=[0.5, 0, 0], velocity=[0, 1.5, 0], angular_velocity=[0, 0, 3.0])
    )
    model.add(fem.Revolute.at(model.ground, door, [0, 0, 0], [0, 0, 1], stops=stops, name="hinge"))
    result = fem.DecoupledNSGA().run(model, 2.5, 2e-3)
    rates = changes(np.abs(result["hinge"].rate), 1e-6)
    assert len(rates) > 3
    # without forces on the hinge but those of a mass on a circle, whose rate has the error of the smooth motion
    np.testing.assert_allclose(rates, rebounds(law, 3.0, len(rates) - 1), rtol=1e-6)


def test_numbers_next_to_laws_are_what_they_are_alone():
    both = fem.DecoupledNSGA().run(shuttle(TABLE, 3.0, others=0.7), 0.5, 2e-3)
    assert both["far"].velocity[-1, 2] == pytest.approx(0.7, rel=1e-9)
    assert (
        both["ball"].velocity[-1, 2] == fem.DecoupledNSGA().run(shuttle(TABLE, 3.0), 0.5, 2e-3)["ball"].velocity[-1, 2]
    )


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean(), fem.ConeComplementarity()], ids=repr)
def test_impacts_with_friction_of_several_bodies_gain_no_energy(method):
    """The table falls faster than 1/v, the worst case: faster impacts rebound more slowly than slower ones."""
    steep = [(0.2, 1.0), (0.4, 0.1)]
    rng, model = np.random.default_rng(3), fem.Model("heap", gravity=[0, 0, 0])
    law = {"restitution": steep, "friction": 0.3}
    balls, roof = [], model.ground.frame([0, 0, 0.35], [np.pi, 0, 0])
    for k in range(4):
        place, velocity = [0.25 * k, 0.02 * k, 0.15], rng.uniform(-1, 1, 3)
        balls.append(model.add(fem.RigidBody.sphere(1.0, 0.1, position=place, velocity=velocity, name=f"ball {k}")))
        model.add(fem.SphereOnPlane(balls[-1], model.ground, radius=0.1, name=f"floor {k}", **law))
        model.add(fem.SphereOnPlane(balls[-1], roof, radius=0.1, name=f"roof {k}", **law))
    for k, (a, b) in enumerate(itertools.pairwise(balls)):
        model.add(fem.SphereOnSphere(a, b, radius_A=0.1, radius_B=0.1, name=f"pair {k}", **law))
    energy = method.run(model, 0.6, 2e-3).energy.total
    assert np.diff(energy).max() < 1e-9 * energy[0] and energy[-1] < 0.8 * energy[0]


def test_recovered_forces_have_the_restitution_of_each_impact():
    result = fem.DecoupledNSGA().run(shuttle(TABLE, 3.0), 1.6, 2e-3)
    impacts = fem.recover_forces(result, "floor", stiffness=1e8).impacts
    assert len(impacts.speed) > 1
    np.testing.assert_allclose(impacts.restitution, table(impacts.speed), rtol=1e-7)


def test_copies_keep_their_law_and_checkpoints_reject_another(tmp_path):
    copy = pickle.loads(pickle.dumps(shuttle(LAWS["power"], 3.0)))
    speeds = changes(np.abs(fem.DecoupledNSGA().run(copy, 1.0, 2e-3)["ball"].velocity[:, 2]))
    np.testing.assert_allclose(speeds, rebounds("power", 3.0, len(speeds) - 1), rtol=1e-9)
    path = tmp_path / "run.vtkhdf"
    fem.DecoupledNSGA().run(shuttle(TABLE, 3.0), 0.1, 2e-3, save=path, checkpoint_every="10 steps")
    other = [(0.5, 0.9), (1.9, 0.5)]  # its largest value is that of `TABLE`
    with pytest.raises(FemMbsError, match="SphereOnPlane"):
        fem.resume(path, 0.2, model=shuttle(other, 3.0))
    resumed = fem.resume(path, 0.8)
    speeds = changes(np.abs(resumed["ball"].velocity[:, 2]))
    np.testing.assert_allclose(speeds, rebounds("table", 3.0, len(speeds) - 1), rtol=1e-9)


def test_laws_return_their_values():
    contact = fem.SphereOnPlane(fem.RigidBody.sphere(1.0, 0.1), fem.Model().ground, radius=0.1, restitution=TABLE)
    v = np.array([[0.0, 0.5, 1.1], [2.0, 2.5, 1e9]])
    np.testing.assert_allclose(contact.restitution(v), table(v), rtol=1e-14)
    assert LAWS["power"](0.4) == 0.8 and LAWS["power"](6.4) == pytest.approx(0.4, rel=1e-15)
    with pytest.raises(ParameterError, match=r"speed = .*≥ 0"):
        LAWS["power"](-1.0)


BAD = {
    "one pair": ([(1.0, 0.5)], r"restitution = .*two or more pairs"),
    "speeds that fall": ([(1.0, 0.5), (0.5, 0.4)], r"restitution = .*pair \(0\.5, 0\.4\).*must rise"),
    "the same speed twice": ([(1.0, 0.5), (1.0, 0.4)], r"must rise"),
    "a negative speed": ([(-1.0, 0.5), (0.5, 0.4)], r"pair \(-1, 0\.5\); speeds \[m/s\] must be ≥ 0"),
    "a gain": ([(0.0, 0.5), (0.5, 1.01)], r"pair \(0\.5, 1\.01\); values must be 0 … 1"),
    "negative": ([(0.0, 0.5), (0.5, -0.1)], r"values must be 0 … 1"),
    "not finite": ([(0.0, 0.5), (np.inf, 0.1)], r"finite"),
    "triples": ([(0.0, 0.5, 1), (0.5, 0.1, 1)], r"\(n, 2\)"),
    "text": ([("a", "b"), ("c", "d")], r"restitution"),
    "a pair": ((0.5, 0.4), r"restitution = .*not a number"),
    "a function": (lambda v: 0.5, r"pairs \(approach speed.*PowerRestitution"),
}


@pytest.mark.parametrize("case", BAD)
def test_tables_that_are_none_are_rejected_with_the_pair(case):
    value, message = BAD[case]
    model = fem.Model()
    ball = fem.RigidBody.sphere(1.0, 0.1)
    with pytest.raises(ParameterError, match=rf"SphereOnPlane 'floor': .*{message}"):
        fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=value, name="floor")
    with pytest.raises(ParameterError, match=message):
        fem.Stops(-1.0, 1.0, restitution=value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda v: 0.5, r"pairs \(sliding speed"),
        ({0.0: 0.5}, r"AnisotropicFriction\(…\)"),
        ([], "one number or"),
        ("a", "not a number"),
    ],
)
def test_friction_of_another_kind_is_rejected_with_what_there_is(value, message):
    with pytest.raises(ParameterError, match=rf"SphereOnPlane 'floor': friction = .*{message}"):
        fem.SphereOnPlane(fem.RigidBody.sphere(1.0, 0.1), fem.Model().ground, radius=0.1, friction=value, name="floor")


def test_tables_of_a_friction_with_two_coefficients_are_rejected_as_a_whole():
    with pytest.raises(ParameterError, match=r"along = \[\(0.*\)\] must be one number or \(static, sliding\)"):
        fem.AnisotropicFriction([(0.0, 0.3), (1.0, 0.2)], 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1.1, 1.0), "restitution = 1.1"), ((0.5, 0.0), "speed = 0"), ((0.5, 1.0, 0.0), "exponent = 0")],
)
def test_power_laws_out_of_range_are_rejected(arguments, message):
    with pytest.raises(ParameterError, match=rf"PowerRestitution: {message}"):
        fem.PowerRestitution(*arguments)


def test_what_takes_one_number_says_so():
    model = fem.Model()
    ball = fem.RigidBody.sphere(1.0, 0.1)
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=TABLE, name="floor")
    with pytest.raises(ParameterError, match=r"CompliantContact 'floor': restitution = .*approach speed"):
        fem.CompliantContact(floor, stiffness=1e7)
    assert fem.CompliantContact(floor, stiffness=1e7, restitution=0.5).restitution == 0.5
