"""Contacts of two spheres: outside (`SphereOnSphere`) and inside (`SphereInSphere`)."""

import numpy as np
import pytest
from contact_at import Kinematics, rigid_motion_seen, slip_order

import fem_mbs as fem
from fem_mbs.element.registry import make_example
from fem_mbs.nodes import Node6
from fem_mbs.rotations import exp, log

STEPPER = {"rho_inf": 0.8, "rtol": 1e-9}


def ball(radius, position, velocity=(0, 0, 0), spin=(0, 0, 0), mass=1.0, name="ball", **options):
    return fem.RigidBody.sphere(
        mass, radius, position=position, velocity=velocity, angular_velocity=spin, name=name, **options
    )


def collide(e, friction, spin=(0, 0, 0), offset=0.0):
    """Two free balls of 0.1 m and 1 kg, no gravity: the first flies along x and hits the second; state at the end."""
    model = fem.Model("two balls")
    start = np.array([-0.3, offset, 0.0])
    A = model.add(ball(0.1, start, velocity=[2, 0, 0], spin=spin, name="A"))
    B = model.add(ball(0.1, [0, 0, 0], name="B"))
    model.add(fem.SphereOnSphere(A, B, radius_A=0.1, radius_B=0.1, restitution=e, friction=friction, name="hit"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=0.1, h=1e-3)
    return {name: (result[name].velocity[-1], result[name].angular_velocity[-1]) for name in "AB"}, result


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_a_central_hit_of_equal_balls_exchanges_the_part_of_the_speed_that_restitution_says(e):
    end, result = collide(e, friction=0.0)
    # u_A' = (1 − e)/2 u, u_B' = (1 + e)/2 u; 1e-9: tolerance of the stepper
    np.testing.assert_allclose(end["A"][0], [(1 - e), 0, 0], atol=1e-9)
    np.testing.assert_allclose(end["B"][0], [(1 + e), 0, 0], atol=1e-9)
    assert result["hit"].gap.min() > -1e-12  # no penetration: round-off


@pytest.mark.parametrize("friction, sticks", [(0.5, True), (0.02, False)])
def test_a_spinning_ball_hands_over_the_tangential_impulse_of_the_closed_form(friction, sticks):
    # balls of m = 1, slip u_T = ω r: J_N = m (1 + e) u/2; sticking J_T = m u_T/7, sliding μ J_N (annex B, B.4)
    u, e, r, w = 2.0, 0.5, 0.1, 6.0
    normal = 0.5 * (1 + e) * u
    tangential = w * r / 7 if sticks else friction * normal
    assert (friction * normal > w * r / 7) == sticks
    end, _ = collide(e, friction, spin=[0, 0, w])
    # spin about z: the contact point of A moves along +y, friction pushes A along −y and B along +y
    np.testing.assert_allclose(end["A"][0], [u - normal, -tangential, 0], atol=1e-9)
    np.testing.assert_allclose(end["B"][0], [normal, tangential, 0], atol=1e-9)
    inertia = 0.4 * r**2
    np.testing.assert_allclose(end["A"][1][2], w - tangential * r / inertia, rtol=1e-8)
    np.testing.assert_allclose(end["B"][1][2], -tangential * r / inertia, rtol=1e-8)


def test_an_oblique_hit_with_friction_keeps_linear_momentum():
    end, _ = collide(0.7, 0.3, spin=[3, -2, 5], offset=0.08)
    np.testing.assert_allclose(end["A"][0] + end["B"][0], [2, 0, 0], atol=1e-12)  # round-off: impulses cancel exactly


def test_ball_turned_by_the_ball_below_slides_when_the_torque_exceeds_friction():
    # Sanchez2025, section B.5.1: torque k t on the lower ball; sliding from t = 2 m g μ r/k = 0.294 s
    k, mu, g = 20.0, 0.3, 9.8
    model = fem.Model("driven balls", gravity=[0, -g, 0])
    A = model.add(ball(1.0, [0, 2, 0], name="A", fixed=("x", "z")))
    B = model.add(ball(1.0, [0, 0, 0], name="B", fixed=("x", "y", "z")))
    model.add(fem.PointMoment(B, [0, 0, -k], signal=lambda t: t, name="torque"))
    model.add(fem.SphereOnSphere(A, B, radius_A=1.0, radius_B=1.0, friction=mu, name="touch"))
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=1.0, h=2e-3)
    # closed form at t = 1 s; sliding begins at the end of a step: 6e-7 rad/s are left (measured), five times that
    assert result["A"].angular_velocity[-1, 2] == pytest.approx(6.269550, abs=3e-6)
    assert result["B"].angular_velocity[-1, 2] == pytest.approx(-18.730450, abs=3e-6)
    assert result["touch"].gap.max() < 1e-12 and result["touch"].gap.min() > -1e-12  # stays closed: round-off
    np.testing.assert_allclose(result["touch"].impulse[1:, 0], 9.8 * 2e-3, rtol=1e-7)  # weight, at the tolerance
    tangential = np.hypot(*result["touch"].impulse[-1, 1:])
    assert tangential == pytest.approx(mu * 9.8 * 2e-3, rel=1e-7)


def test_a_ball_rolls_in_a_bowl_with_the_period_of_a_long_pendulum_and_without_slip():
    # small oscillations: ω² = 5 g/(7 (R − r))
    r, R, g, amplitude = 0.1, 1.0, 9.81, 0.02
    model = fem.Model("bowl", gravity=[0, 0, -g])
    start = (R - r) * np.array([np.sin(amplitude), 0, -np.cos(amplitude)])
    A = model.add(ball(r, start))
    model.add(fem.SphereInSphere(A, model.ground, radius=r, radius_outer=R, friction=0.8, name="bowl"))
    frequency = np.sqrt(5 * g / (7 * (R - r)))
    period = 2 * np.pi / frequency
    result = fem.DecoupledNSGA(**STEPPER).run(model, t_end=period, h=period / 1000)
    # impulses act as at the end of a step: the amplitude falls by half of ω h π, 1 % (0.98 % measured), to be doubled
    position, velocity = (
        result["ball"].position[-1, 0] / start[0],
        result["ball"].velocity[-1, 0] / start[0] / frequency,
    )
    assert position == pytest.approx(1, abs=2e-2)
    assert velocity == pytest.approx(0, abs=4e-4)  # phase: 2e-4 measured, doubled
    assert abs(result["bowl"].gap).max() < 1e-11  # closed all the time, to the tolerance
    # rolling: ω r = −v at every step
    w = np.einsum("kij,kj->ki", result["ball"].rotation, result["ball"].angular_velocity)
    n = -result["ball"].position / np.linalg.norm(result["ball"].position, axis=1)[:, None]
    slip = result["ball"].velocity + np.cross(w, -r * n)
    assert abs(slip[1:]).max() < 1e-9  # velocity level, to the tolerance


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_rolling_in_a_plane_gives_no_slip_for_a_step_of_any_size(turn):
    # ball of 0.3 m on (in) a sphere of 1 m: centre at angle φ, spatial rotation φ (R ± r)/r (−: rolls the other way);
    # in a frame where the second sphere turns, nothing changes
    for cls, radius, radii in (
        (fem.SphereOnSphere, 1.3, {"radius_A": 0.3, "radius_B": 1.0}),
        (fem.SphereInSphere, 0.7, {"radius": 0.3, "radius_outer": 1.0}),
    ):
        kinematics = Kinematics(cls(Node6(), Node6([0, 1, 0]), **radii))
        sign = 1 if cls is fem.SphereOnSphere else -1

        def poses(phi, spin, radius=radius, sign=sign):
            superposed = exp([0, spin, 0])
            center = superposed @ (radius * np.array([np.sin(phi), 0, np.cos(phi)]))
            return [(center, superposed @ exp([0, sign * phi * radius / 0.3, 0])), ([0, 0, 0], superposed)]

        for phi in (1e-3, 0.3, 0.6):
            out = kinematics(poses(0.2 + phi, turn), poses(0.2, 0.0))
            assert abs(out["slip"]).max() < 1e-14 * 50  # round-off of a path of 0.6 m
            assert out["gap"] == pytest.approx(0, abs=1e-15 * 10)
            # without its rotation the ball slips by the arc of its point of contact: radius φ, exactly
            still = poses(0.2 + phi, turn)
            still[0] = (still[0][0], exp([0, turn, 0]) @ poses(0.2, 0.0)[0][1])
            assert np.linalg.norm(kinematics.slip(still, poses(0.2, 0.0))) == pytest.approx(radius * phi, rel=1e-12)


def test_slip_over_a_step_in_space_is_of_second_order():
    element = fem.SphereOnSphere(Node6(), Node6(), radius_A=0.3, radius_B=0.7)
    w_A, w_B = np.array([0.7, -1.1, 1.9]), np.array([-0.4, 0.8, 0.5])  # body axes, constant

    def center(t):
        return np.array([np.sin(1 + t), 0.2 + 0.5 * t, np.cos(1 + t) * np.exp(-0.3 * t)])

    def path(t):
        return [(center(t), exp(t * w_A)), ([0.1 * t, 0, 0], exp(t * w_B))]

    def velocity(t):
        rate = (center(t + 1e-4) - center(t - 1e-4)) / 2e-4  # error 1e-8: far below those compared
        return np.concatenate([rate, w_A, [0.1, 0, 0], w_B])

    def halfway(t):
        return exp(0.5 * log(exp(t * w_A) @ exp(t * w_B).T)) @ exp(t * w_B)

    order, errors = slip_order(element, path, velocity, axes=halfway)
    assert 2.8 < order < 3.3, f"errors of one step {errors}"  # h³ in one step


def test_the_sphere_that_is_named_first_does_not_matter_to_the_slip():
    rng = np.random.default_rng(5)
    start = [([0, 0, 0], exp(rng.normal(size=3))), ([0.6, 0.7, 0.4], exp(rng.normal(size=3)))]
    end = [(x + 0.1 * rng.normal(size=3), R @ exp(0.5 * rng.normal(size=3))) for x, R in start]
    velocity = rng.normal(size=(2, 6))
    slips, speeds = [], []
    for order in (1, -1):
        radii = dict(zip(("radius_A", "radius_B"), (0.3, 0.7)[::order]))
        kinematics = Kinematics(fem.SphereOnSphere(Node6(), Node6(), **radii))
        # slips from the axes of the start to those of the end: where these are does not matter, but how they turn does
        before, out = kinematics(start[::order])["tangents"], kinematics(end[::order], start[::order])
        slips.append(order * before.T @ out["slip"])
        speeds.append(order * before.T @ out["V_T"] @ velocity[::order].ravel())
    np.testing.assert_allclose(slips[1], slips[0], atol=1e-14)  # round-off
    np.testing.assert_allclose(speeds[1], speeds[0], atol=1e-14)


@pytest.mark.parametrize("name", ["SphereOnSphere", "SphereInSphere"])
def test_forces_and_moments_on_both_bodies_balance(name):
    rng = np.random.default_rng(3)
    assert rigid_motion_seen(make_example(name, rng), rng) < 1e-13  # round-off of lengths of a few m


def test_concentric_spheres_have_all_of_the_clearance_and_no_contact():
    kinematics = Kinematics(fem.SphereInSphere(Node6(), Node6(), radius=0.4, radius_outer=0.5))
    out = kinematics([([0, 0, 0], None), ([0, 0, 0], None)])
    assert out["gap"] == pytest.approx(0.1, rel=1e-15)
    assert all(np.isfinite(value).all() for value in out.values())
    assert np.linalg.norm(out["normal"]) == 1.0


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda a, b: fem.SphereOnSphere(a, b, radius_A=-0.1, radius_B=1), r"radius = -0.1 m must be"),
        (lambda a, b: fem.SphereOnSphere(a, b, radius_A=1, radius_B=-1), "radius_B = -1.0 m.*> 0"),
        (lambda a, b: fem.SphereOnSphere(a, a, radius_A=1, radius_B=1), "same node"),
        (lambda a, b: fem.SphereInSphere(a, b, radius=1, radius_outer=1), "clearance: .*radius = 1 m"),
        (lambda a, b: fem.SphereOnSphere(a, b, radius_A=1, radius_B=1, friction=-1), "friction"),
    ],
)
def test_spheres_that_cannot_be_are_rejected_in_the_words_of_the_user(make, message):
    with pytest.raises(fem.ParameterError, match=message):
        make(Node6(), Node6())
