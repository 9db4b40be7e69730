"""Compliant contacts: force law, first touch, friction, any geometry, errors."""

from itertools import pairwise

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs import verify
from fem_mbs.elements.contacts.compliant_kernels import PARAMETERS, normal_law
from fem_mbs.errors import SolverError
from fem_mbs.nodes import Ground, Node6
from fem_mbs.recovery.hysteresis import FACTORS

STIFFNESS = 140e6  # N/m^1.5


def throw(restitution=0.6, *, speed=4.0, gravity=0.0, height=0.01, position=None, **options):
    """Model of a ball of 1 kg, 0.1 m, that flies at a floor."""
    model = fem.Model("ball", gravity=[0, 0, -gravity])
    at = [0, 0, 0.1 + height] if position is None else position
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=at, velocity=[0, 0, -speed], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=restitution, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=STIFFNESS, **options))
    return model


def run(model, t_end, *, h=1e-5, tolerance=1e-9, h_max=1e-3, rho_inf=0.8):
    control = fem.StepControl(tolerance=tolerance, h_max=h_max)
    return fem.DecoupledNSGA(rho_inf=rho_inf, rtol=1e-8, step_control=control).run(model, t_end=t_end, h=h)


# --- the contract, for geometries beyond those of the registered example ----------------------------------------------


# type -> options that make it large enough to be closed often, and the number of its nodes
CLOSED = {
    "CapsuleOnCapsule": ({"radius_A": 4.0, "radius_B": 3.0}, 4),
    "SphereOnCapsule": ({"radius": 4.0, "radius_capsule": 3.0}, 3),
    "SphereOnWire": (
        {"radius": 1.5, "radius_wire": 0.3, "points": [[-2, 0, 0], [0, 0.3, 0.2], [2, 0, 0], [4, 0, 1]]},
        2,
    ),
    "PointOnSurface": (
        {"radius": 1.0, "height": lambda x, y: 0.05 * x * y, "x": (-9, 9), "y": (-9, 9), "cells": (3, 3)},
        2,
    ),
    "SphereOnBox": ({"radius": 2.0, "size": [0.6, 0.4, 0.5], "rounding": 0.1}, 2),
}


def closed_contact(kind, rng):
    """A contact of a type on random nodes."""
    options, count = CLOSED[kind]
    ends = [Node6(rng.normal(size=3), rng.normal(size=3)).frame(0.2 * rng.normal(size=3)) for _ in range(count)]
    sides = {2: ends, 3: (ends[0], ends[1:]), 4: (ends[:2], ends[2:])}[count]
    return getattr(fem, kind)(*sides, **options)


@pytest.mark.parametrize("kind", CLOSED)
def test_any_geometry_satisfies_the_contract(kind):
    for seed in range(3):
        contact = closed_contact(kind, np.random.default_rng([7, seed]))
        element = fem.CompliantContact(
            contact, stiffness=1.3, restitution=0.5, friction=0.4, slip_speed=0.5, least_speed=2.0
        )
        report = verify.check_element(element, seed=seed, configurations=3)
        # differences of six points over a tenth of the indentation: 1e-7 measured, mistakes are above 1e-4
        assert report.ok, f"{kind}, seed {seed}\n{report}"


# --- normal law -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hysteresis", FACTORS)
def test_an_impact_is_that_of_the_law_alone(hysteresis):
    model = throw(0.7, model=hysteresis)
    result = run(model, 6e-3, h_max=1e-4)
    factor = float(fem.hysteresis_factor(hysteresis, 0.7))
    curve = fem.resolved_impact(mass=1.0, speed=4.0, stiffness=STIFFNESS, factor=factor)
    contact = result["floor"]
    # some 100 steps of second order in the impact
    assert contact.force_normal.max() == pytest.approx(curve.force.max(), rel=1e-3)
    assert contact.indentation.max() == pytest.approx(curve.indentation.max(), rel=5e-4)
    assert result["ball"].velocity[-1, 2] == pytest.approx(-curve.velocity[-1], rel=1e-3)
    assert np.all(contact.force_normal >= 0)


@pytest.mark.parametrize("exponent", [1.0, 10 / 9, 2.0])
def test_the_consistent_model_returns_the_restitution_for_any_exponent(exponent):
    result = run(throw(0.5, exponent=exponent), 0.02, h_max=1e-4)
    assert result["floor"].gap[-1] > 0
    assert result["ball"].velocity[-1, 2] == pytest.approx(0.5 * 4.0, rel=1e-3)


def test_each_impact_has_the_approach_speed_of_its_own_touch():
    result = run(throw(0.5, speed=0.0, gravity=10.0, height=0.2), 0.75, h_max=5e-3)
    speed, contact = result["ball"].velocity[:, 2], result["floor"]
    opens = np.flatnonzero((contact.gap[1:] > 0) & (contact.gap[:-1] <= 0))
    closes = np.flatnonzero((contact.gap[1:] <= 0) & (contact.gap[:-1] > 0))
    assert len(opens) >= 2
    # gravity acts during the impact, for 1.4 ms: g T is 0.7 % of the speed at the first, 1.7 % at the second
    for i, j in zip(closes[:2], opens[:2]):
        assert speed[j + 1] == pytest.approx(-0.5 * speed[i], abs=0.014)


def test_the_tangents_of_the_normal_law_are_its_derivatives_also_while_the_rate_grows():
    contact = fem.CompliantContact(plane_contact(restitution=0.5), stiffness=1.3, least_speed=0.5)
    p = np.array([contact.record], PARAMETERS)[0]
    eps = 1e-6
    for rate in (-0.2, 0.7, 1.3, 2.0):  # δ̇_i = 1: below it, above it
        N, N_d, N_r = normal_law(p, 0.4, rate, 1.0)
        by_depth = (normal_law(p, 0.4 + eps, rate, 1.0)[0] - normal_law(p, 0.4 - eps, rate, 1.0)[0]) / (2 * eps)
        by_rate = (normal_law(p, 0.4, rate + eps, 1.0)[0] - normal_law(p, 0.4, rate - eps, 1.0)[0]) / (2 * eps)
        np.testing.assert_allclose([N_d, N_r], [by_depth, by_rate], rtol=1e-8, atol=1e-9)
        assert (N - 1.3 * 0.4**1.5) * rate >= 0.0  # the damping takes energy


def test_an_elastic_contact_keeps_the_energy_and_a_lossy_one_loses_its_loop():
    elastic = run(throw(1.0), 6e-3, rho_inf=1.0, h_max=1e-4)
    # the energy of the elastic part counts as potential; second order in steps
    np.testing.assert_allclose(elastic.energy.total, 8.0, rtol=1e-3)
    assert elastic.energy.potential.max() == pytest.approx(8.0, rel=1e-3)
    lossy = run(throw(0.5), 8e-3, h_max=1e-4)
    contact, t = lossy["floor"], lossy.t
    area = np.trapezoid(contact.force_normal * contact.indentation_rate, t)
    assert lossy.energy.total[0] - lossy.energy.total[-1] == pytest.approx(0.75 * 8.0, rel=2e-3)
    assert area == pytest.approx(0.75 * 8.0, rel=2e-3)


def test_a_ball_rests_and_vibrates_about_the_indentation_that_carries_its_weight():
    depth = (9.81 / STIFFNESS) ** (2 / 3)
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    others = ("x", "y", "rx", "ry", "rz")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1 - 2 * depth], fixed=others, name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=STIFFNESS, restitution=0.5))
    static = fem.static_equilibrium(model)
    assert static.position(ball.node)[2] == pytest.approx(0.1 - depth, abs=1e-6 * depth)
    # small vibrations about it: stiffness 3/2 K δ^½
    frequency = np.sqrt(1.5 * STIFFNESS * np.sqrt(depth)) / (2 * np.pi)
    assert fem.modes(model, 1, about=static).frequency[0] == pytest.approx(frequency, rel=1e-5)


def test_a_pulled_contact_does_not_stick():
    """Started closed and parting faster than the damping allows, the force is cut off, not negative."""
    model = throw(0.2, speed=-5.0, position=[0, 0, 0.0995], least_speed=0.1)
    contact = fem.DecoupledNSGA().run(model, t_end=1e-3, h=1e-6)["floor"]
    assert contact.indentation[0] > 0 and contact.force_normal[0] == 0.0
    assert np.all(contact.force_normal == 0.0)


def test_rejected_steps_do_not_change_the_approach_speed():
    """Steps that reach deep into the contact are rejected; what they would have kept must not remain."""
    coarse = run(throw(0.6, height=0.05), 0.03, h=1e-3, h_max=1e-2, tolerance=1e-9)
    assert coarse.statistics["inaccurate_steps"] + coarse.statistics["failed_steps"] > 3
    assert coarse["ball"].velocity[-1, 2] == pytest.approx(0.6 * 4.0, rel=1e-3)


# --- bodies that touch already ----------------------------------------------------------------------------------------

BALL, RADIUS, HARD, RETURN = 0.17, 0.028575, 1e8, 0.93  # kg, m, N/m^1.5, -: a billiard ball


def row_of_balls(gap, h, *, count=3, least_speed=1e-3, t_end=1.2e-3):
    """Run of a ball with 1 m/s that touches the first of a row of balls at rest, the last of which is a gap away."""
    model = fem.Model("row", gravity=[0, 0, 0])
    places = 2 * RADIUS * np.arange(count)
    places[-1] += gap
    balls = []
    for i, x in enumerate(places):
        options = {"velocity": [float(i == 0), 0, 0], "fixed": ("y", "z"), "name": f"{i}"}
        balls.append(model.add(fem.PointMass(BALL, position=[x, 0, 0], **options)))
    for i, (one, other) in enumerate(pairwise(balls)):
        pair = fem.SphereOnSphere(one, other, radius_A=RADIUS, radius_B=RADIUS, restitution=RETURN, name=f"pair {i}")
        model.add(fem.CompliantContact(pair, stiffness=HARD, model="flores", least_speed=least_speed))
    return fem.DecoupledNSGA(rho_inf=1.0, rtol=1e-10).run(model, t_end=t_end, h=h, progress=False)


def final_speeds(result, count=3):
    return np.array([result[f"{i}"].velocity[-1, 0] for i in range(count)])


def integrated_row(gap, t_end=1.2e-3, h=2e-7):
    """Velocities after an integration of the law by the classical method of Runge and Kutta, three balls."""
    chi = 8 * (1 - RETURN) / (5 * RETURN)
    largest = [0.0, 0.0]

    def force(depth, rate, speed):
        return HARD * depth**1.5 * max(1 + chi * rate / max(speed, rate, 1e-3), 0.0) if depth > 0 else 0.0

    def slope(y):
        first = force(y[0] - y[1], y[3] - y[4], largest[0])
        second = force(y[1] - y[2] - gap, y[4] - y[5], largest[1])
        return [y[3], y[4], y[5], -first / BALL, (first - second) / BALL, second / BALL]

    def along(y, k, s):
        return [a + s * b for a, b in zip(y, k)]

    y = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    for _ in range(round(t_end / h)):
        rates = (y[0] - y[1], y[3] - y[4]), (y[1] - y[2] - gap, y[4] - y[5])
        largest = [max(old, rate) if depth > 0 else max(rate, 0.0) for old, (depth, rate) in zip(largest, rates)]
        k1 = slope(y)
        k2 = slope(along(y, k1, h / 2))
        k3 = slope(along(y, k2, h / 2))
        k4 = slope(along(y, k3, h))
        y = [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]
    return np.array(y[3:])


def test_an_impact_on_balls_that_touch_is_the_limit_of_one_on_balls_a_small_gap_apart():
    found = {gap: final_speeds(row_of_balls(gap, 1e-6)) for gap in (0.0, 1e-9, 1e-7, 1e-6)}
    for gap, speeds in found.items():
        # second order in steps of 1/700 of the impact: 3e-6 m/s
        np.testing.assert_allclose(speeds, integrated_row(gap), atol=2e-5, err_msg=f"gap {gap:g} m")
    np.testing.assert_allclose(found[1e-9], found[0.0], atol=1e-5)
    np.testing.assert_allclose(found[1e-7], found[0.0], atol=5e-4)  # linear in the gap: 1.5e-3 at 1 µm
    assert found[0.0][2] > 0.9  # nearly all of the momentum continues
    # the damping is that of the impact, not of least_speed
    np.testing.assert_allclose(final_speeds(row_of_balls(0.0, 1e-6, least_speed=0.05)), found[0.0], atol=1e-4)


def test_the_impact_on_a_row_is_second_order_in_the_step_and_gains_no_energy():
    exact = final_speeds(row_of_balls(1e-6, 0.5e-6))
    error = [np.abs(final_speeds(row_of_balls(1e-6, h)) - exact).max() for h in (8e-6, 4e-6, 2e-6)]
    order = np.log2([error[0] / error[1], error[1] / error[2]])
    assert np.all(order > 1.8), f"orders {order}, errors {error}"
    result = row_of_balls(0.0, 1e-6, count=5, t_end=2e-3)
    rise = np.diff(result.energy.total)
    assert rise.max() < 1e-7 * result.energy.total[0]  # truncation of a step
    assert np.all(np.diff(final_speeds(result, 5)) > 0)  # the row has come apart


# --- friction ---------------------------------------------------------------------------------------------------------


def test_a_ball_slides_until_it_rolls_at_five_sevenths_of_its_speed():
    mu, g, v0 = 0.3, 9.81, 1.0
    model = fem.Model("sliding ball", gravity=[0, 0, -g])
    depth = (g / 1e6) ** (2 / 3)
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1 - depth], velocity=[v0, 0, 0], name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=mu, name="floor")
    contact = fem.CompliantContact(floor, stiffness=1e6, restitution=1.0, slip_speed=1e-3)
    model.add(contact)
    result = fem.DecoupledNSGA().run(model, t_end=0.2, h=2e-4)
    v, w, sliding = result["ball"].velocity[:, 0], result["ball"].angular_velocity[:, 1], result["floor"].sliding_speed
    half = np.searchsorted(result.t, 0.05)
    assert v[half] == pytest.approx(v0 - mu * g * 0.05, rel=1e-4)
    np.testing.assert_allclose(result["floor"].friction_force[half], [-mu * g, 0, 0], rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(result["floor"].force_vector[half], [-mu * g, 0, g], rtol=1e-3, atol=1e-9)
    # friction acts at the radius that is left, R − δ = 0.9995 R: 5/7 to that; the regularised law ends slowly
    assert v[-1] == pytest.approx(5 / 7 * v0, rel=1e-3)
    assert v[-1] == pytest.approx(0.1 * w[-1], rel=1e-3)
    assert sliding[-1] < 1e-3


@pytest.mark.parametrize("mu", [0.3, 0.2])
def test_a_box_on_an_incline_creeps_or_slides_as_the_smooth_law_says(mu):
    """Eight corners; tan 15° = 0.268 lies between: w/√(w² + w_s²) = tan α/μ, or a = g (sin α − μ cos α)."""
    g, alpha = 9.81, np.radians(15)
    model = fem.Model("box", gravity=[g * np.sin(alpha), 0, -g * np.cos(alpha)])
    box = model.add(fem.RigidBody.box(1.0, [0.2, 0.2, 0.1], position=[0, 0, 0.0501], name="box"))
    corners = fem.BoxOnPlane(box, model.ground, size=[0.2, 0.2, 0.1], restitution=0.5, friction=mu, name="corner")
    model.add([fem.CompliantContact(corner, stiffness=1e7, slip_speed=1e-3) for corner in corners.elements])
    result = run(model, 1.0, h=1e-4, tolerance=1e-8, h_max=1e-2)
    v, t = result["box"].velocity[:, 0], result.t
    if mu > np.tan(alpha):
        ratio = np.tan(alpha) / mu
        assert v[-1] == pytest.approx(1e-3 * ratio / np.sqrt(1 - ratio**2), rel=1e-4)
    else:
        half = np.searchsorted(t, 0.5)
        # at 0.3 m/s and more the friction is full to 1e-5
        expected = g * (np.sin(alpha) - mu * np.cos(alpha))
        assert (v[-1] - v[half]) / (t[-1] - t[half]) == pytest.approx(expected, rel=1e-4)


def test_an_oblique_impact_with_friction_keeps_momentum_and_angular_momentum():
    model = fem.Model("billiard")
    a = model.add(fem.RigidBody.sphere(0.2, 0.03, position=[0, 0, 0], velocity=[2, 0.3, 0], name="a"))
    a.node.angular_velocity[:] = [5.0, -20.0, 40.0]
    b = model.add(fem.RigidBody.sphere(0.3, 0.04, position=[0.0705, 0.03, 0.01], name="b"))
    pair = fem.SphereOnSphere(a, b, radius_A=0.03, radius_B=0.04, restitution=0.8, friction=0.02, name="pair")
    model.add(fem.CompliantContact(pair, stiffness=1e8))
    result = run(model, 0.02, h=1e-6, tolerance=1e-10, h_max=1e-4)
    assert result["pair"].force_normal.max() > 100 and result["pair"].gap[-1] > 0
    inertias = [0.4 * m * r * r for m, r in ((0.2, 0.03), (0.3, 0.04))]
    momentum = 0.2 * result["a"].velocity + 0.3 * result["b"].velocity
    turning = 0.2 * np.cross(result["a"].position, result["a"].velocity)
    turning += 0.3 * np.cross(result["b"].position, result["b"].velocity)
    for name, inertia in zip("ab", inertias):
        turning += inertia * np.einsum("kij,kj->ki", result[name].rotation, result[name].angular_velocity)
    # both bodies have the same force on the same line: linear momentum to the tolerance of Newton's iterations;
    # angular momentum to the error of the steps
    np.testing.assert_allclose(momentum - momentum[0], 0, atol=1e-6 * 0.4)
    np.testing.assert_allclose(turning - turning[0], 0, atol=2e-5 * np.linalg.norm(turning[0]))
    # the ratio of the impulses: sliding throughout; the normal turns by some 4e-4 meanwhile
    jump = 0.2 * (result["a"].velocity[-1] - result["a"].velocity[0])
    n = result["pair"].normal[np.argmax(result["pair"].force_normal)]
    assert np.linalg.norm(jump - (jump @ n) * n) / (jump @ n) == pytest.approx(0.02, abs=1e-3)


# --- errors -----------------------------------------------------------------------------------------------------------


def plane_contact(**law):
    ball = fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1])
    return fem.SphereOnPlane(ball, Ground(), radius=0.1, name="floor", **law)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": 0.0}, "stiffness"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"exponent": 0.5}, "exponent"),
        ({"restitution": 0.0}, "between 0.02 and 1"),
        ({"restitution": 1.2}, "between 0.02 and 1"),
        ({"friction": -0.1}, "friction"),
        ({"slip_speed": 0.0}, "slip_speed"),
        ({"least_speed": -1.0}, "least_speed"),
        ({"model": "herz"}, "herz"),
        ({"model": fem.ForceLaw(lambda d, r, s, e: d)}, "UserForce"),
    ],
)
def test_impossible_parameters_are_rejected(options, words):
    with pytest.raises(fem.ParameterError, match=words) as error:
        fem.CompliantContact(plane_contact(restitution=0.5), **{"stiffness": 1e6, **options})
    assert "floor" in str(error.value)


def test_a_contact_without_restitution_must_be_given_one():
    with pytest.raises(fem.ParameterError, match=r"restitution = .*contacts have 0"):
        fem.CompliantContact(plane_contact(), stiffness=1e6)


@pytest.mark.parametrize("what", ["rolling_resistance", "spinning_resistance", "tangential_restitution"])
def test_laws_that_it_does_not_support_are_rejected(what):
    with pytest.raises(fem.ParameterError, match=what):
        fem.CompliantContact(plane_contact(restitution=0.5, friction=0.1, **{what: 0.1}), stiffness=1e6)


def test_parts_of_several_contacts_and_groups_are_rejected():
    box = fem.RigidBody.box(1.0, [0.1, 0.1, 0.1], position=[0, 0, 1], name="box")
    part = fem.BoxOnPlane(box, Ground(), size=[0.1, 0.1, 0.1], restitution=0.5, name="corners")
    with pytest.raises(fem.ParameterError, match=r"contact = .*elements"):
        fem.CompliantContact(part, stiffness=1e6)
    assert len([fem.CompliantContact(c, stiffness=1e6) for c in part.elements]) == 8
    with pytest.raises(fem.ParameterError, match=r"contact = .*pairs"):
        fem.CompliantContact(fem.ContactGroup(name="many"), stiffness=1e6)
    with pytest.raises(fem.ParameterError, match="is not a contact"):
        fem.CompliantContact(box, stiffness=1e6)


def test_a_contact_of_more_nodes_than_its_scratch_holds_is_rejected():
    class Chain(type(plane_contact())):
        def __init__(self):
            super().__init__(Node6([0, 0, 1]), Ground(), radius=0.1, restitution=0.5, name="chain")
            self.nodes = tuple(Node6([i, 0, 0]) for i in range(5))

    with pytest.raises(fem.ParameterError, match=r"'chain'.*5 nodes.* 4"):
        fem.CompliantContact(Chain(), stiffness=1e6)


def test_the_wrapped_contact_must_not_be_in_the_model_too():
    model = fem.Model("twice")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1]))
    floor = model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name="floor"))
    model.add(fem.CompliantContact(floor, stiffness=1e6, name="soft floor"))
    with pytest.raises(fem.ModelError, match=r"'floor'.*in the model"):
        model.compile()


def test_simple_tangents_give_the_same_motion_and_converge_in_steps_too_long_for_exact_ones():
    def sliding(simple, h, slip_speed):
        model = fem.Model("ball", gravity=[0, 0, -9.81])
        ball = model.add(
            fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], velocity=[1.0, 0.5, 0], angular_velocity=[0, 0, 9.0])
        )
        floor = fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=1.0, friction=0.3, name="floor")
        model.add(fem.CompliantContact(floor, stiffness=STIFFNESS, slip_speed=slip_speed, simple_tangent=simple))
        return fem.DecoupledNSGA(rho_inf=0.0, rtol=1e-9).run(model, t_end=0.2, h=h)

    exact, simple = (sliding(choice, 1e-4, 1e-2) for choice in (False, True))
    # the same equations, solved to 1e-9
    np.testing.assert_allclose(exact["floor"].friction_force, simple["floor"].friction_force, atol=1e-6)
    # from sliding to rolling in steps of 1 ms, which are 30 times m w_s/(μ N): 5/7 of the speed, as in closed form
    result = sliding(True, 1e-3, 1e-4)
    rolling = np.linalg.norm(result["rigidbody 1"].velocity[-1, :2])
    assert rolling == pytest.approx(5 / 7 * np.hypot(1.0, 0.5), rel=1e-3)
    assert result.iterations.smooth.max() < 20


# --- indentations that nothing limits ---------------------------------------------------------------------------------


def buffer_stop(stiffness=1e3, **options):
    """A cart of 0.3 x 0.2 x 0.1 m whose front, a point, runs into a stop with 3 m/s."""
    model = fem.Model("cart")
    held = {"fixed": ("y", "z", "rx", "ry", "rz"), "position": [-0.3, 0, 0], "velocity": [3, 0, 0], "name": "cart"}
    cart = model.add(fem.RigidBody.box(10.0, [0.3, 0.2, 0.1], **held))
    wall = model.ground.frame(rotation=[0, -np.pi / 2, 0])
    point = fem.SphereOnPlane(cart.frame([0.15, 0, 0]), wall, radius=0, restitution=0.5, name="stop")
    model.add(fem.CompliantContact(point, stiffness=stiffness, **options))
    return model


def test_a_point_that_goes_deeper_than_its_bodies_are_large_is_reported():
    stepper = fem.DecoupledNSGA()
    result = stepper.run(buffer_stop(), 0.5, 1e-4, save_every=50)
    (text,) = result.warnings
    gyration = np.sqrt((0.3**2 + 0.2**2) / 12)
    assert f" {0.1 * gyration:.3g} m" in text and "max_indentation=…" in text
    assert f"up to {result['stop'].indentation.max():.3g} m" in text  # whichever of the saved states that is
    assert not stepper.run(buffer_stop(1e8), 0.2, 1e-4).warnings
    assert not stepper.run(buffer_stop(max_indentation=0.5), 0.5, 1e-4).warnings
    with pytest.raises(SolverError, match=r"max_indentation = 0\.1 m"):
        stepper.run(buffer_stop(max_indentation=0.1), 0.5, 1e-4)


def test_a_point_mass_has_no_size_to_compare_with():
    model = fem.Model("point", gravity=[0, 0, -9.81])
    mass = model.add(fem.PointMass(1.0, position=[0, 0, -0.05], name="mass"))
    floor = fem.SphereOnPlane(mass, model.ground, radius=0, restitution=0.5, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=1e4))
    (text,) = fem.DecoupledNSGA().run(model, 0.1, 1e-4).warnings
    assert "up to 0.05 m" in text and "no known size" in text
