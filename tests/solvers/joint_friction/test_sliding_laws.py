"""Friction of contacts that depends on the sliding speed, against closed forms and independent integrations."""

import numpy as np
import pytest
from every_stepper import WITH_CONTACTS, label
from scipy.integrate import quad, solve_ivp
from test_static_friction import G, block_on_a_belt, on_a_slope, travel

import fem_mbs as fem
from fem_mbs.errors import ParameterError

TABLE = [(0.1, 0.5), (0.4, 0.2), (0.8, 0.3)]
LAWS = {
    "table": dict(friction=TABLE),
    "exponential": dict(friction=(0.6, 0.4), stribeck_speed=0.3, stribeck_exponent=1),
}
# `contact_solver="problem"` takes one coefficient: test_static_friction.py
every_method_with_contacts = pytest.mark.parametrize(
    "method", [method for method in WITH_CONTACTS if method.contact_solver != "problem"], ids=label
)
either_law = pytest.mark.parametrize("law", LAWS)


def mu(law, v):
    """Coefficients of `LAWS` at sliding speeds."""
    return np.interp(v, *np.transpose(TABLE)) if law == "table" else 0.4 + 0.2 * np.exp(-v / 0.3)


def path_to_rest(law, v):
    """∫ u du/(g μ(u)) from rest to v [m], of m u̇ = −μ(u) m g."""
    return quad(lambda u: u / (G * mu(law, u)), 0.0, v, points=[0.1, 0.4, 0.8], epsabs=1e-13)[0]


@either_law
@every_method_with_contacts
def test_a_block_comes_to_rest_after_the_path_of_its_law(method, law):
    model, R = on_a_slope(0.0, speed=(0.6, 0.8), turn=0.3, **LAWS[law])
    result = method.run(model, 0.6, 2e-3)
    path = travel(result, R)[-1]
    assert path[1] / path[0] == pytest.approx(0.8 / 0.6, rel=1e-6)
    # order 1: the speed of the start of the step, v h of the whole path
    assert np.hypot(*path) == pytest.approx(path_to_rest(law, 1.0), abs=2e-3)


@either_law
@pytest.mark.parametrize("method, order", [(fem.DecoupledNSGA(), 1.9), (fem.MoreauJean(), 0.9)], ids=["NSGA", "Moreau"])
def test_sliding_has_the_order_of_the_method(method, order, law):
    end = dict(rtol=1e-12, atol=1e-14, max_step=1e-3)
    exact = solve_ivp(lambda t, y: [y[1], -G * mu(law, y[1])], (0, 0.2), [0, 1.0], **end).y[0, -1]
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        model, R = on_a_slope(0.0, speed=(1.0, 0.0), **LAWS[law])
        errors.append(abs(travel(method.run(model, 0.2, h), R)[-1, 0] - exact))
    assert np.log2(errors[0] / errors[-1]) / 2 > order, errors


@every_method_with_contacts
def test_friction_that_rises_limits_the_speed_down_a_slope(method):
    """At tan α = μ(v) it is steady, whatever the step; tan 0.35 between 0.2 at rest and 0.5 at 1 m/s: v = 0.5 m/s."""
    model, R = on_a_slope(0.35, friction=[(0.0, 0.2), (1.0, 0.5)])
    result = method.run(model, 4.0, 1e-2)
    assert np.diff(travel(result, R)[-2:, 0])[0] / 1e-2 == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("tan, moves", [(0.199, False), (0.201, True)])
def test_a_table_holds_what_is_at_rest_up_to_its_first_value(tan, moves):
    model, R = on_a_slope(tan, friction=[(0.0, 0.2), (1.0, 0.5)])
    end = abs(travel(fem.DecoupledNSGA().run(model, 0.5, 5e-3), R)[-1, 0])
    assert end > 5e-5 if moves else end < 1e-8


def slipping(t, y, law):
    """Block of `block_on_a_belt` that slides slower than the belt: m 1, N 1, k 4, belt 0.3 m/s."""
    return [y[1], np.interp(0.3 - y[1], *np.transpose(law)) - 4.0 * y[0]]


def limit_cycle(law):
    """Largest and smallest place of the block: it slips from μ(0)/k until its speed is that of the belt again."""
    caught = lambda t, y, law: y[1] - 0.3  # noqa: E731
    caught.terminal, caught.direction = True, 1
    start = [law[0][1] / 4.0 + 1e-9, 0.3 - 1e-9]
    way = solve_ivp(slipping, (0, 20), start, args=(law,), events=caught, rtol=1e-10, atol=1e-12, max_step=1e-3)
    return way.y[0].max(), way.y[0].min()


def test_a_falling_table_drives_stick_slip_on_a_belt():
    """A slope of −4 N s/m up to 0.1 m/s makes slow sliding unstable; order 2, so 4e-4 at 5 ms allows no other cycle."""
    law = [(0.0, 1.0), (0.1, 0.6), (0.8, 0.5)]
    result = fem.DecoupledNSGA().run(block_on_a_belt(friction=law), 12.0, 2.5e-3)
    x = result["block"].position[result.t > 4.0, 0]
    assert (x.max(), x.min()) == pytest.approx(limit_cycle(law), abs=1e-3)


def test_two_coefficients_and_their_table_agree():
    """A fine table of Stribeck's law: 1e-6 is the error of its chords, ⅛ Δv² μ'' over the path."""
    v = np.linspace(0.0, 2.0, 2001)
    table = np.column_stack([v, 0.4 + 0.2 * np.exp(-((v / 0.3) ** 2))])
    paths = []
    for law in (dict(friction=(0.6, 0.4), stribeck_speed=0.3), dict(friction=table)):
        model, R = on_a_slope(0.0, speed=(1.0, 0.0), **law)
        paths.append(travel(fem.DecoupledNSGA().run(model, 0.3, 2e-3), R)[-1, 0])
    assert paths[0] == pytest.approx(paths[1], abs=1e-6)


BAD = [
    (dict(friction=[(0.0, 0.3)]), "friction = .*two or more pairs"),
    (dict(friction=[(0.0, 0.3), (0.0, 0.2)]), "friction = .*must rise"),
    (dict(friction=[(0.0, 0.3), (1.0, -0.2)]), r"pair \(1, -0\.2\); values must be ≥ 0"),
    (dict(friction=TABLE, stribeck_speed=0.1), "stribeck_speed = .*two coefficients"),
    (dict(friction=TABLE, radius_contensou=0.1), "radius_contensou = .*depends on sliding"),
    (dict(friction=TABLE, tangential_restitution=0.1), "tangential_restitution = .*depends on sliding"),
    (dict(friction=(0.3, 0.2), stribeck_exponent=1.0), "stribeck_exponent = .*stribeck_speed"),
    (dict(friction=(0.3, 0.2), stribeck_speed=1.0, stribeck_exponent=0.0), "stribeck_exponent = 0"),
]


@pytest.mark.parametrize("law, message", BAD)
def test_laws_that_are_none_are_rejected(law, message):
    ball = fem.RigidBody.sphere(1.0, 0.1)
    with pytest.raises(ParameterError, match=rf"SphereOnPlane 'rub': .*{message}"):
        fem.SphereOnPlane(ball, fem.Model().ground, radius=0.1, name="rub", **law)


def test_what_takes_one_coefficient_says_so():
    model = fem.Model()
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1))
    with pytest.raises(ParameterError, match=r"'hinge.*friction"):
        fem.Revolute.at(model.ground, ball, [0, 0, 0], [0, 0, 1], friction=fem.DryFriction(TABLE), name="hinge")
