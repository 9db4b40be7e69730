"""Modes of what turns: closed forms in the rotating frame, with and without dampers."""

import re

import numpy as np
import pytest

import fem_mbs as fem

OMEGA_0 = 10.0  # rad/s of the mass on its springs at rest


def whirl(damping=0.0):
    """Mass held in a plane by four springs that turn with the frame: m = 2, 2 k = m OMEGA_0²."""
    model = fem.Model("whirl")
    mass = model.add(fem.PointMass(2.0, fixed=("z",), name="mass"))
    for point in ([1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]):
        model.add(fem.Spring(model.ground.frame(point), mass, stiffness=OMEGA_0**2, damping=damping))
    return model


@pytest.mark.parametrize("damping", [0.0, 3.0])
@pytest.mark.parametrize("speed", [3.0, 9.0])
def test_mass_on_springs_whirls_with_the_sum_and_the_difference_of_the_speeds(speed, damping):
    # seen in the frame a circular motion ±ω₀ has the speed ±ω₀ − Ω; without damping= dampers play no part
    found = fem.modes(whirl(damping), 2, rotation=[0, 0, speed])
    assert found.omega == pytest.approx([OMEGA_0 - speed, OMEGA_0 + speed], rel=1e-12)
    assert np.abs(found.damping_ratio).max() < 1e-12 and found.stable


@pytest.mark.parametrize("speed", [3.0, 9.9, 10.1])
def test_damping_that_turns_with_the_mass_makes_it_unstable_above_its_own_frequency(speed):
    damping = 3.0
    found = fem.modes(whirl(damping), 2, rotation=[0, 0, speed], damping=True)
    # z = x + iy in the frame: m z̈ + (2 c + 2 i m Ω) ż + (2 k − m Ω²) z = 0
    roots = np.roots([2.0, 2 * damping + 4j * speed, 2 * OMEGA_0**2 - 2 * speed**2])
    roots = np.array([root if root.imag > 0 else root.conjugate() for root in roots])
    assert found.eigenvalues == pytest.approx(roots[np.argsort(np.abs(roots))], rel=1e-10)
    assert found.stable is (speed < OMEGA_0)  # internal damping destabilises what turns faster than it vibrates


@pytest.mark.parametrize("axial", [1.6, 0.7])
def test_free_body_precesses_about_its_axis_with_the_frequency_of_euler(axial):
    speed, model = 5.0, fem.Model("top")
    model.add(fem.RigidBody(3.0, [1.0, 1.0, axial], fixed=("x", "y", "z"), name="top"))
    found = np.sort(np.abs(fem.modes(model, 4, rotation=[0, 0, speed]).eigenvalues.imag))
    # seen in the body: Euler's (I₃ − I₁)/I₁ Ω, an inclined axis that stands still Ω, the angle 0, twice; a double
    # root is found to the root of round-off
    assert found == pytest.approx(np.sort([0.0, 0.0, abs(axial - 1.0) * speed, speed]), abs=1e-6)


def test_rotating_equilibrium_brings_its_rotation():
    section = fem.Section.general(EA=1e6, GA2=1e6, GA3=1e6, GJ=10, EI2=1, EI3=1, rhoA=1.0, rhoJ=1e-4)
    model = fem.Model("blade")
    model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([1, 0, 0]), 8, section))
    system, speed = model.compile(), [0, 0, 12.0]
    turning = fem.static_equilibrium(system, rotation=speed)
    assert turning.angular_velocity == pytest.approx(speed) and turning.stable
    brought, given = fem.modes(system, 3, about=turning), fem.modes(system, 3, about=turning, rotation=speed)
    assert np.array_equal(brought.omega, given.omega)
    # Wright et al. 1982: first flap at this speed 13.1702; lag² is less by Ω²
    assert brought.omega[1] == pytest.approx(13.17, rel=2e-3)
    assert brought.omega[0] ** 2 == pytest.approx(brought.omega[1] ** 2 - 144, rel=1e-2)
    with pytest.raises(fem.ParameterError, match=r"rotation = .*equilibrium.*\[0\.0, 0\.0, 12\.0\]"):
        fem.modes(system, 3, about=turning, rotation=[0, 0, 5])


def test_modes_take_functions_of_time_at_the_time_of_the_state():
    model = fem.Model("string")
    mass = model.add(fem.PointMass(1.0, fixed=("x", "y"), position=[1, 0, 0], name="mass"))
    model.add(fem.Spring(model.ground.frame(), mass, stiffness=100.0, free_length=0.5))
    system = model.compile()
    fem.DecoupledNSGA().run(system, t_end=0.01, h=1e-3)
    other = fem.Model("other")
    other.add(fem.PointMass(1.0), fem.PointMass(1.0))
    # lateral stiffness N/l = k (1 − l₀/l)
    assert fem.modes(system, 1).omega == pytest.approx([np.sqrt(50.0)], rel=1e-12)
    with pytest.raises(fem.ParameterError, match=r"about = .*2 nodes.* 3"):
        fem.modes(other, 1, about=system.initial)


@pytest.mark.parametrize(
    ("intervals", "error"), [(12, 1e-4), (48, 1e-4), (96, 1e-3)]
)  # round-off grows with n⁴: 3e-4 measured
def test_frequencies_of_beams_without_shear_flexibility_keep_their_digits_with_many_elements(intervals, error):
    """Bernoulli's rod; its first frequency was off by half with 96 elements, whose stiffness had lost its digits."""
    model = fem.Model("rod")
    section = fem.Section.circle(0.01, E=210e9, nu=0.3, density=7850, shear_coefficient=np.inf)
    model.add(fem.beam_line(fem.Node6(fixed=True), fem.Node6([1, 0, 0]), intervals, section))
    exact = 1.87510407**2 * np.sqrt(210e9 * 0.01**2 / 4 / 7850)
    assert fem.modes(model, 2).omega == pytest.approx(exact, rel=error)  # rotary inertia takes 5e-5


def test_a_run_from_a_rotating_equilibrium_continues_turning_and_what_is_fixed_stands_still():
    model, speed = fem.Model("rotor", gravity=[0, 0, 0]), 6.0
    hub = fem.Node6(fixed=("x", "y", "z", "rx", "ry"), angular_velocity=[0, 0, speed], name="hub")
    section = fem.Section.general(EA=1e3, GJ=10, EI2=10, EI3=10, rhoA=1.0, rhoJ=(2e-3, 1e-3, 1e-3))
    line = model.add(fem.beam_line(hub, [1, 0, 0], 4, section, name="arm"))
    model.add(fem.RevoluteDriver(model.ground, hub, lambda t: speed * t))
    for node in line.nodes:
        node.angular_velocity = [0, 0, speed]
        node.velocity = np.cross([0, 0, speed], node.position)
    system = model.compile()
    system.initial = fem.static_equilibrium(system, rotation=[0, 0, speed]).state
    assert not system.initial.V.reshape(-1)[system.dof < 0].any()
    start = system.initial.x[:, 0].max()
    tip = fem.DecoupledNSGA(rho_inf=0.9).run(system, 1.0, 2e-3, progress=False)["arm node 4"].position
    # second order in h: the stretch of 1.2e-2 m vibrates by 1e-6 m
    assert start == pytest.approx(np.tan(s := speed / np.sqrt(1e3)) / s, rel=1e-3)
    assert np.linalg.norm(tip, axis=1) == pytest.approx(start, abs=1e-5)


@pytest.mark.parametrize("damping", [False, True])
def test_what_cannot_move_is_reported(damping):
    """By a joint; by a closed contact with friction (before: an index out of bounds)."""
    model = fem.Model("welded")
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball"))
    model.add(fem.Fixed.at(model.ground, body, [0, 0, 0]))
    with pytest.raises(fem.ModelError, match=r"model 'welded'.*constraints"):
        fem.modes(model, damping=damping)
    model = fem.Model("stuck", gravity=[0, 0, -9.81])
    mass = model.add(fem.PointMass(2.0, position=[0, 0, 0.1], name="mass"))
    model.add(fem.SphereOnPlane(mass, model.ground, radius=0.1, friction=0.3, name="floor"))
    rest = fem.static_equilibrium(model)
    modes = fem.modes(model, about=rest, contacts="closed", damping=damping)
    assert len(modes) == 0 and re.search("constraints and contacts.*model", str(modes))
