"""Compliant contacts without restitution: Hooke, Hertz, Kelvin and Voigt; closed forms of one impact."""

import math

import numpy as np
import pytest
from test_compliant_contact import closed_contact, run

import fem_mbs as fem
from fem_mbs import verify

STIFFNESS, MASS, SPEED = 1e5, 2.0, 0.5


def throw(model, exponent=None, damping=None, speed=SPEED, stiffness=STIFFNESS):
    """Ball that flies at a floor, without gravity."""
    built = fem.Model("ball")
    ball = built.add(fem.RigidBody.sphere(MASS, 0.2, position=[0, 0, 0.201], velocity=[0, 0, -speed], name="ball"))
    floor = fem.SphereOnPlane(ball, built.ground, radius=0.2, name="floor")
    built.add(fem.CompliantContact(floor, stiffness=stiffness, model=model, exponent=exponent, damping=damping))
    return built


def separation(contact):
    """Index of the last row with a force."""
    return np.flatnonzero(contact.force_normal > 0)[-1]


@pytest.mark.parametrize("sine", [0.05, 0.3, 0.7])
def test_an_impact_on_kelvin_and_voigts_law_returns_the_closed_form(sine):
    damping, omega, theta = 2 * sine * math.sqrt(STIFFNESS * MASS), math.sqrt(STIFFNESS / MASS), math.asin(sine)
    restitution = math.exp(-math.tan(theta) * (math.pi - 2 * theta))
    duration = (math.pi - 2 * theta) / (omega * math.cos(theta))
    result = run(throw("kelvin-voigt", damping=damping), 0.002 + 1.3 * duration, h_max=2e-5, tolerance=1e-10)
    contact, speed = result["floor"], result["ball"].velocity[:, 2]
    # the force jumps within a step: c δ̇_i h/2m of the speed
    assert speed[-1] == pytest.approx(restitution * SPEED, rel=5e-4)
    # N = 0 with an indentation left: K δ = c δ̇_f
    left = damping * restitution * SPEED / STIFFNESS
    assert contact.indentation[separation(contact)] == pytest.approx(left, rel=2e-2, abs=2e-6)
    first = np.flatnonzero(contact.force_normal > 0)[0]
    assert contact.force_normal[first] == pytest.approx(damping * SPEED, rel=0.05, abs=1.0)
    assert contact.force_normal.min() == 0.0


def test_its_restitution_does_not_depend_on_the_speed():
    damping = 2 * 0.3 * math.sqrt(STIFFNESS * MASS)
    returned = []
    for speed in (0.05, 5.0):
        result = run(throw("kelvin-voigt", damping=damping, speed=speed), 0.001 / speed + 0.02, h_max=2e-5)
        returned.append(result["ball"].velocity[-1, 2] / speed)
    assert returned[0] == pytest.approx(returned[1], rel=1e-3)


@pytest.mark.parametrize(("model", "exponent"), [("hooke", 1.0), ("hertz", 1.5)])
def test_elastic_laws_keep_the_energy_and_reach_its_indentation(model, exponent):
    depth = (0.5 * (exponent + 1) * MASS * SPEED**2 / STIFFNESS) ** (1 / (exponent + 1))
    result = run(throw(model), 0.002 + 8 * depth / SPEED, h_max=depth / SPEED / 150)
    contact = result["floor"]
    assert contact.indentation.max() == pytest.approx(depth, rel=5e-4)
    assert contact.force_normal.max() == pytest.approx(STIFFNESS * depth**exponent, rel=1e-3)
    assert result["ball"].velocity[-1, 2] == pytest.approx(SPEED, rel=1e-4)


def test_its_tangents_satisfy_the_contract():
    for seed in range(2):
        contact = closed_contact("SphereOnBox", np.random.default_rng([7, seed]))
        options = {"damping": 0.2, "friction": 0.4, "slip_speed": 0.5}
        element = fem.CompliantContact(contact, stiffness=1.3, model="kelvin-voigt", **options)
        report = verify.check_element(element, seed=seed, configurations=3)
        assert report.ok, f"seed {seed}\n{report}"


def test_a_contact_at_rest_carries_its_weight_and_swings_with_the_damping_of_the_dashpot():
    damping, omega = 60.0, math.sqrt(STIFFNESS / MASS)
    model = fem.Model("ball", gravity=[0, 0, -9.81])
    others = ("x", "y", "rx", "ry", "rz")
    ball = model.add(fem.RigidBody.sphere(MASS, 0.2, position=[0, 0, 0.199], fixed=others, name="ball"))
    floor = fem.SphereOnPlane(ball, model.ground, radius=0.2, name="floor")
    model.add(fem.CompliantContact(floor, stiffness=STIFFNESS, model="kelvin-voigt", damping=damping))
    static = fem.static_equilibrium(model)
    found = fem.modes(model.compile(), about=static, damping=True)
    assert static.position(ball.node)[2] == pytest.approx(0.2 - MASS * 9.81 / STIFFNESS, abs=1e-9)
    k = np.argmax(found.omega)
    assert found.omega[k] == pytest.approx(omega, rel=1e-6)
    assert found.damping_ratio[k] == pytest.approx(damping / (2 * math.sqrt(STIFFNESS * MASS)), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"model": "kelvin-voigt"}, "damping"),
        ({"model": "kelvin-voigt", "damping": 0.0}, "damping"),
        ({"model": "kelvin-voigt", "damping": 1.0, "restitution": 0.5}, "restitution"),
        ({"model": "kelvin-voigt", "damping": 1.0, "exponent": 1.5}, "exponent"),
        ({"model": "hooke", "exponent": 2.0}, "exponent"),
        ({"model": "hooke", "damping": 1.0}, "damping"),
        ({"model": "hertz", "restitution": 1.0}, "restitution"),
        ({"model": "flores", "restitution": 0.5, "damping": 1.0}, "kelvin-voigt"),
        ({"model": "kelvin_voigt", "damping": 1.0}, "model = 'kelvin_voigt'.*did you mean 'kelvin-voigt'"),
        ({"model": "floress", "restitution": 0.5}, "model = 'floress'.*did you mean 'flores'"),
    ],
)
def test_parameters_of_other_laws_are_rejected(options, named):
    built = fem.Model("ball")
    ball = built.add(fem.RigidBody.sphere(1.0, 0.1, name="ball"))
    with pytest.raises(fem.ParameterError, match=named):
        fem.CompliantContact(fem.SphereOnPlane(ball, built.ground, radius=0.1), stiffness=1e5, **options)
