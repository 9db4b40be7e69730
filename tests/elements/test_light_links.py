"""Rigid bodies without mass, and without a moment of inertia: constraints determine their motion."""

import numpy as np
import pytest
from every_stepper import METHODS, label
from scipy.integrate import solve_ivp

import fem_mbs as fem

# the first rejects components without mass; with constraints on velocities alone their positions are free
REFUSE = ("LobattoIIIAB", "NonsmoothGeneralizedAlphaGGL constraints=velocities")
OTHERS = [method for method in METHODS if not label(method).startswith(REFUSE)]
LENGTH, INERTIA, MASS = 1.0, 0.02, 2.0


def pendulum():
    """Bob at the end of a rod without mass."""
    model = fem.Model("pendulum", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody(0.0, 0.0, position=[0.5, 0, 0], name="rod"))
    bob = model.add(fem.RigidBody(MASS, INERTIA, position=[LENGTH, 0, 0], name="bob"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="hinge"))
    model.add(fem.Fixed.at(rod, bob, [LENGTH, 0, 0], name="end"))
    return model


def fallen(t, length=LENGTH, inertia=MASS * LENGTH**2 + INERTIA):
    """Place of the centre of mass of a pendulum that starts horizontally."""
    rates = lambda _, y: [y[1], MASS * 9.81 * length * np.cos(y[0]) / inertia]  # noqa: E731
    turned = solve_ivp(rates, (0, t), [0, 0], rtol=1e-11, atol=1e-12).y[0, -1]
    return length * np.array([np.cos(turned), 0, -np.sin(turned)])


@pytest.mark.parametrize("method", OTHERS, ids=label)
def test_a_bob_on_a_rod_without_mass_swings_as_the_pendulum_does(method):
    result = method.run(pendulum().compile(), 0.4, 1e-3, progress=False)
    first_order = "theta=1" in label(method) or "Cone" in label(method)
    np.testing.assert_allclose(result["bob"].position[-1], fallen(0.4), atol=5e-3 if first_order else 2e-6)
    # the reaction goes through the rod, which takes nothing of it
    np.testing.assert_allclose(result["hinge"].force[-1], result["end"].force[-1], atol=1e-6)


def test_it_has_no_energy_and_no_weight():
    result = fem.DecoupledNSGA().run(pendulum(), 0.2, 1e-3, progress=False)
    height, speed = result["bob"].position[:, 2], result["bob"].velocity
    spin = result["bob"].angular_velocity
    kinetic = 0.5 * MASS * (speed**2).sum(1) + 0.5 * INERTIA * (spin**2).sum(1)
    np.testing.assert_allclose(result.energy.kinetic, kinetic, rtol=1e-12)
    np.testing.assert_allclose(result.energy.potential, MASS * 9.81 * height, atol=1e-12)


def test_a_thin_rod_swings_about_a_hinge_that_holds_its_axis():
    model = fem.Model("rod", gravity=[0, 0, -9.81])
    inertia = MASS * LENGTH**2 / 12
    rod = model.add(fem.RigidBody(MASS, [0, inertia, inertia], position=[0.5 * LENGTH, 0, 0], name="rod"))
    model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 1, 0], name="hinge"))
    result = fem.DecoupledNSGA().run(model, 0.4, 5e-4, progress=False)
    expected = fallen(0.4, 0.5 * LENGTH, MASS * LENGTH**2 / 3)
    np.testing.assert_allclose(result["rod"].position[-1], expected, atol=1e-6)


@pytest.mark.parametrize("method", [m for m in METHODS if label(m).startswith(REFUSE)], ids=label)
def test_methods_that_cannot_step_it_reject_it_by_name(method):
    with pytest.raises(fem.FemMbsError, match=r"'rod'|singular"):
        method.run(pendulum().compile(), 0.1, 1e-3, progress=False)


@pytest.mark.parametrize("joint", [fem.Spherical, fem.Revolute])
def test_motions_that_constraints_do_not_determine_are_rejected(joint):
    model = fem.Model("rod", gravity=[0, 0, -9.81])
    rod = model.add(fem.RigidBody(0.0, 0.0, position=[1, 0, 0], name="light"))
    axis = () if joint is fem.Spherical else ([0, 1, 0],)
    spring = {} if joint is fem.Spherical else {"stiffness": 3.0}
    model.add(joint.at(model.ground, rod, [0, 0, 0], *axis, name="joint", **spring))
    with pytest.raises(fem.FemMbsError, match=r"'light'.*no mass"):
        fem.DecoupledNSGA().run(model, 0.1, 1e-3, progress=False)


@pytest.mark.parametrize(
    ("mass", "inertia", "named"),
    [(-1.0, 0.1, "mass"), (0.0, 0.1, "no mass"), (1.0, [-0.1, 0.1, 0.1], "≥ 0"), (1.0, [0, 0.1, 0.3], "exceeds")],
)
def test_wrong_masses_are_rejected(mass, inertia, named):
    with pytest.raises(fem.ParameterError, match=named):
        fem.RigidBody(mass, inertia)
