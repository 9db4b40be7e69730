"""Impulses of successive impact problems in one step add up, those of rolling and spinning resistance too.

A ball falls with v on one of the same mass that rests on the floor, e = 1 everywhere, without friction and gravity.
Impacts that are not simultaneous come one after the other: the balls exchange their velocities (m v), the lower one
bounces off the floor (2 m v), they exchange them again (m v). Resisting moments that slip throughout take μ_R, μ_S
times these impulses from the relative angular velocities, in both directions independently:

    J Δω_upper = 2 m v μ_balls,    J Δω_lower = −2 m v (μ_balls + μ_floor)   along ω_lower, ω_upper = 0     (1)
"""

import numpy as np
import pytest

import fem_mbs as fem

mass, inertia, radius, speed, h = 2.0, 3e-3, 0.05, 1.5, 1e-3
spin = np.array([20.0, 0.0, 30.0])  # rad/s of the lower ball; the moments change it by a few
ROLLING, SPINNING = {"balls": 1e-3, "floor": 3e-3}, {"balls": 2e-3, "floor": 0.5e-3}  # m


def build():
    model = fem.Model("two balls in a column")
    lower = model.add(fem.RigidBody(mass, inertia, position=[0, 0, radius], angular_velocity=spin, name="lower"))
    top = [0, 0, 3 * radius + 0.5 * h * speed]
    upper = model.add(fem.RigidBody(mass, inertia, position=top, velocity=[0, 0, -speed], name="upper"))
    laws = {n: {"rolling_resistance": ROLLING[n], "spinning_resistance": SPINNING[n]} for n in ROLLING}
    model.add(fem.SphereOnPlane(lower, model.ground, radius=radius, restitution=1.0, name="floor", **laws["floor"]))
    model.add(fem.SphereOnSphere(upper, lower, radius_A=radius, radius_B=radius, restitution=1.0, name="balls",
                                 **laws["balls"]))  # fmt: skip
    return model


@pytest.mark.parametrize("contact_solver", ["newton", "problem"])
def test_moments_of_all_impacts_of_a_sequence_act_and_are_reported(contact_solver):
    result = fem.DecoupledNSGA(contact_solver=contact_solver).run(build(), 3 * h, h)
    assert result.problems.max() >= 3  # a sequence, else this proves nothing
    resisted = np.array([[law["balls"], law["floor"]] for law in (ROLLING, ROLLING, SPINNING)])  # along x, y, z
    turn = 2 * mass * speed * np.sign(spin)[:, None] * resisted
    assert result["upper"].velocity[-1] == pytest.approx([0, 0, speed], abs=1e-8)  # tolerance of the solver
    assert result["lower"].velocity[-1] == pytest.approx([0, 0, 0], abs=1e-8)
    end = {name: result[name].rotation[-1] @ result[name].angular_velocity[-1] for name in ("upper", "lower")}
    assert inertia * end["upper"] == pytest.approx(turn[:, 0], abs=1e-8)
    assert inertia * (spin - end["lower"]) == pytest.approx(turn.sum(axis=1), abs=1e-8)
    for k, name in enumerate(("balls", "floor")):
        contact = result[name]
        assert contact.impulse[:, 0].sum() == pytest.approx(2 * mass * speed, rel=1e-6)
        given = np.abs(contact.moment_impulse.sum(axis=0))
        assert np.linalg.norm(given[:2]) == pytest.approx(np.linalg.norm(turn[:2, k]), rel=1e-6)
        assert given[2] == pytest.approx(abs(turn[2, k]), rel=1e-6)


def test_contacts_that_an_impact_reaches_through_their_bodies_have_one_too():
    model = fem.Model("row of balls")
    balls = [
        model.add(fem.RigidBody.sphere(1.0, 0.1, position=[x, 0, 0], velocity=[v, 0, 0], name=f"ball {k}"))
        for k, (x, v) in enumerate(((-0.25, 1.0), (0.0, 0.0), (0.2, 0.0)))
    ]
    for k in (0, 1):
        pair = fem.SphereOnSphere(balls[k + 1], balls[k], radius_A=0.1, radius_B=0.1, name=f"pair {k}")
        model.add(pair)
    result = fem.DecoupledNSGA().run(model, 0.1, 1e-3)
    first, second = (np.flatnonzero(result[f"pair {k}"].impact) for k in (0, 1))
    assert len(first) == 1 and list(second) == list(first)
