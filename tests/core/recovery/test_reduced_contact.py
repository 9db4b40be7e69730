"""Modes of models at their contacts: closed forms, those of the model, their number; free motion before impacts."""

import numpy as np
import pytest
import struck_models as struck
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.recovery.modal_impact import ContactModes

LAW = (struck.stiffness, 1.5)


def oscillator(fixed=("y", "z", "rx", "ry", "rz"), load=0.0, damping=0.0):
    """Ball against a block on a spring along x: two modes, 0 and √(k/m)."""
    model = fem.Model("block on a spring")
    ball = model.add(
        fem.RigidBody.sphere(0.2, 0.1, position=[-0.101, 0, 0], velocity=[3, 0, 0], fixed=fixed, name="ball")
    )
    block = model.add(fem.RigidBody(0.5, 1.0, velocity=[0.7, 0, 0], fixed=fixed, name="block"))
    model.add(
        fem.Spring(model.ground.frame([-1, 0, 0]), block.frame(), stiffness=8e4, free_length=0.98, damping=damping)
    )
    if load:
        model.add(fem.PointForce(ball, [load, 0, 0]))
    face = block.frame(rotation=[[0, 0, -1], [0, 1, 0], [1, 0, 0]])
    model.add(fem.SphereOnPlane(ball, face, radius=0.1, restitution=1.0, name="hit"))
    return model


def test_a_ball_and_a_block_on_a_spring_have_two_modes():
    modes = fem.ReducedContact(oscillator(damping=20.0)).modes("hit", 1e-4)
    order = np.argsort(modes.omega)
    # round-off of K compared with σ M, σ = 1e8
    np.testing.assert_allclose(modes.omega[order], [0.0, np.sqrt(8e4 / 0.5)], atol=1e-2)
    np.testing.assert_allclose(np.abs(modes.participation[order]), [0.2**-0.5, 0.5**-0.5], rtol=1e-8)
    np.testing.assert_allclose(modes.damping[order], [0.0, 20.0 / 0.5], atol=1e-6)


def test_all_vectors_give_the_modes_of_the_model():
    model = struck.ball_on_beam(8)
    found, known = fem.ReducedContact(model).modes("hit", 3e-5), fem.modes(model, 200)
    # those that move the gap: the symmetric half of the bending modes, 8 of them, and the ball
    assert len(found) == 9
    rising = np.sort(found.omega)
    assert rising[0] == pytest.approx(0.0, abs=1.0)  # round-off of K compared with σ M, σ = 1e9
    nearest = np.abs(known.omega[:, None] / rising[1:] - 1).min(axis=0)
    np.testing.assert_allclose(nearest, 0.0, atol=1e-6)


def test_the_mesh_tends_to_the_closed_form_of_a_timoshenko_beam():
    omega, participation = struck.beam_modes(400)
    ball = ContactModes([0.0], [struck.ball_mass**-0.5])
    known = fem.resolved_impact(modes=ball + ContactModes(omega, participation), speed=1.0, stiffness=struck.stiffness)
    errors = []
    for elements in (16, 32, 64):
        modes = fem.ReducedContact(struck.ball_on_beam(elements)).modes("hit", 3e-5)
        found = fem.resolved_impact(modes=modes, speed=1.0, stiffness=struck.stiffness)
        errors.append([found.force.max() / known.force.max() - 1, found.duration / known.duration - 1])
    errors = np.abs(errors)
    assert errors[-1].max() < 2e-3, errors
    assert np.all(errors[-1] < 0.5 * errors[0]), errors


@pytest.mark.parametrize(
    "build, K, count", [(struck.ball_on_beam, struck.stiffness, 40), (struck.mass_on_bar, 5e9, 20)]
)
def test_few_vectors_are_enough(build, K, count):
    model = build()
    peaks = []
    for number in (count, 4 * count):
        modes = fem.ReducedContact(model, count=number).modes("hit", 2e-5)
        peaks.append(fem.resolved_impact(modes=modes, speed=1.0, stiffness=K).force.max())
    # the law of Hertz with the mass of the node alone, whose impact is the shortest, is what σ belongs to
    assert peaks[0] == pytest.approx(peaks[1], rel=1e-3)


def free_gap(local, times):
    """Gap over time without contact force, by (1) and (2) of `modal_impact`, integrated by another method."""
    modes, load, gap, speed, acceleration, _ = local
    k = len(modes)

    def rates(t, y):
        total = load[:, 0] * t + 0.5 * load[:, 1] * t * t
        return np.concatenate([y[k:], total - modes.damping * y[k:] - modes.omega**2 * y[:k]])

    run = solve_ivp(rates, (0, times[-1]), np.zeros(2 * k), "DOP853", t_eval=times, rtol=1e-10, atol=1e-18)
    return gap - speed * times - 0.5 * acceleration * times**2 + modes.participation @ run.y[:k]


def test_the_free_motion_of_a_state_is_that_of_the_model():
    """Vibration, load and damper before the impact, for a whole period: exact for a linear model."""
    c, force = 20.0, 40.0
    model = oscillator(load=force, damping=c)
    result = fem.DecoupledNSGA().run(model, t_end=2e-5, h=1e-5)
    local = fem.ReducedContact(model).local_motion(result, "hit", 0, 2.3, LAW)
    assert (local.gap, local.speed) == pytest.approx((1e-3, 2.3), rel=1e-9)
    t = np.linspace(0, 0.016, 9)
    k, m, u, v = 8e4, 0.5, 0.02, 0.7  # the spring is stretched by 0.02 m at the start
    decay = 0.5 * c / m
    w = np.sqrt(k / m - decay**2)
    block = np.exp(-decay * t) * (u * np.cos(w * t) + (v + decay * u) / w * np.sin(w * t)) - u
    ball = 3.0 * t + 0.5 * force / 0.2 * t**2
    # differences over the shortest impact, of forces that are linear: round-off, of a travel of 0.4 m
    np.testing.assert_allclose(free_gap(local, t), 1e-3 + block - ball, atol=1e-7)


def test_a_beam_that_turns_is_stretched_by_its_centrifugal_force():
    """Not by its rotation. Without stress at first, its end goes straight on and is pulled in by the wave c ω² t³/6."""
    rod, flat, spin, end = fem.Section.circle(5e-3, E=210e9, nu=0.3, density=7850), ("z", "rx", "ry"), 200.0, 0.3
    model = fem.Model("turning rod")
    hinge = fem.Node6(fixed=("x", "y", *flat))
    line = model.add(fem.beam_line(hinge, [end, 0, 0], 4, rod, fixed=flat, poses=2, orientation=[0, 1, 0]))
    for node in line.nodes:
        node.velocity[:] = [0, spin * node.position[0], 0]
        node.angular_velocity[:] = [0, 0, spin]
    wall = model.ground.frame([-1, 0, 0], rotation=[[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    model.add(fem.SphereOnPlane(line.nodes[-1], wall, radius=5e-3, name="hit"))
    result = fem.DecoupledNSGA().run(model, t_end=1e-4, h=1e-6)
    local = fem.ReducedContact(model).local_motion(result, "hit", 0, 1.0, LAW)
    gap = result["hit"].gap
    # before the wave comes back from the hinge, 0.116 ms; four elements
    assert gap[0] - gap[-1] == pytest.approx(np.sqrt(210e9 / 7850) * spin**2 * 1e-12 / 6, rel=0.02)
    # a turn of 0.02 rad, whose terms of third order are left out, and the step of the run
    np.testing.assert_allclose(free_gap(local, result.t), gap, atol=2e-3 * (gap[0] - gap[-1]))


def test_a_gap_whose_normal_turns_has_its_convective_acceleration():
    """Spheres that pass each other: the gap |x| − 2 R opens with v²/|x| though nothing accelerates."""
    model = fem.Model("passing spheres")
    first, second = (
        model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, z], velocity=[v, 0, 0], name=f"{z}"))
        for z, v in ((0.0, 0.0), (0.21, 5.0))
    )
    model.add(fem.SphereOnSphere(first, second, radius_A=0.1, radius_B=0.1, name="hit"))
    result = fem.DecoupledNSGA().run(model, t_end=2e-5, h=1e-5)
    local = fem.ReducedContact(model).local_motion(result, "hit", 0, 1.0, LAW)
    assert local.acceleration == pytest.approx(-(5.0**2) / 0.21, rel=1e-6)
    assert local.speed == pytest.approx(0.0, abs=1e-12)


def test_a_hinged_body_follows_its_arc():
    """The hinge pulls along the body, which turns: without this load the jerk −L ω³ of the gap is missing.

    The parabola leaves the hinge by L (ω t)³/6, which is left out: of a body with the inertia I about its centre of
    mass it is I/(m L²) of the jerk, here 1e-5.
    """
    arm, spin = 0.5, 30.0
    model = fem.Model("hinged body")
    start = {"position": [arm, 0, 0], "velocity": [0, arm * spin, 0], "angular_velocity": [0, 0, spin]}
    body = model.add(fem.RigidBody(2.0, 5e-6, name="body", **start))
    model.add(fem.Revolute.at(model.ground, body, [0, 0, 0], [0, 0, 1], name="hinge"))
    wall = model.ground.frame([0, -1, 0], rotation=[[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    model.add(fem.SphereOnPlane(body, wall, radius=0.1, name="hit"))
    result = fem.DecoupledNSGA().run(model, t_end=2e-5, h=1e-5)
    local = fem.ReducedContact(model).local_motion(result, "hit", 0, 1.0, LAW)
    t = np.linspace(0, 0.01, 6)
    # sin 0.3 without its term of fifth order, which is 2e-5
    np.testing.assert_allclose(free_gap(local, t) - local.gap, arm * np.sin(spin * t), atol=3e-5 * arm)


def test_unknown_contacts_and_other_models_raise_errors():
    model = struck.ball_on_beam(8)
    reduced = fem.ReducedContact(model)
    with pytest.raises(fem.FemMbsError, match="no contact 'miss'"):
        reduced.modes("miss", 1e-4)
    with pytest.raises(fem.FemMbsError, match="duration"):
        reduced.modes("hit", 0.0)
    result = fem.DecoupledNSGA().run(struck.ball_on_beam(4), t_end=4e-6, h=2e-6)
    with pytest.raises(fem.FemMbsError, match=r"modes.*nodes.*give ReducedContact"):
        fem.recover_forces(result, "hit", stiffness=1e10, restitution=1.0, modes=reduced)


def test_bodies_fixed_along_the_normal_raise_an_error():
    everything = ("x", "y", "z", "rx", "ry", "rz")
    model = oscillator(fixed=everything)
    model.add(fem.RigidBody(1.0, 1.0, position=[5, 0, 0]))
    result = fem.DecoupledNSGA().run(model, t_end=2e-5, h=1e-5)
    with pytest.raises(fem.FemMbsError, match="cannot open"):
        fem.ReducedContact(model).local_motion(result, "hit", 0, 1.0, LAW)
