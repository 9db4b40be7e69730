"""Impacts that are split: order two, right finite differences, no jumps in parameters. Each test fails with "plain".

References are closed forms and an event-driven integrator that shares nothing with the package (helpers/split_models).
"""

import numpy as np
import pytest
from split_models import Ball, Disc, Pendulum, TwoLinks

import fem_mbs as fem

IMPACTS = "split"


def run(model, t_end, h, **options):
    return fem.DecoupledNSGA(**{"impacts": IMPACTS, "rtol": 1e-10, **options}).run(model, t_end, h)


def in_plane(result, name):
    body = result[name]
    return np.concatenate([body.position[-1, [0, 2]], body.velocity[-1, [0, 2]]])


def slope(value, at, step):
    return (value(at + step) - value(at - step)) / (2.0 * step)


# --- order ------------------------------------------------------------------------------------------------------------

CASES = {
    "pendulum": (Pendulum, "ball", {}),
    "disc slides": (Disc, "ball", {}),
    "disc sticks": (Disc, "ball", {"mu": 1.0}),
    "two links": (TwoLinks, "lower", {}),
}


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_states_after_impacts_are_of_second_order(case, persistent):
    kind, name, values = CASES[case]
    exact, impacts = kind.exact(**values)
    sizes, errors = kind.t_end / np.array([64, 128, 256, 512]), []
    for h in sizes:
        result = run(kind.build(**values), kind.t_end, h, persistent_contacts=persistent)
        assert result.statistics["split_impacts"] == impacts
        errors.append(np.abs(in_plane(result, name) - exact).max())
    order = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    # measured: 1.97 … 2.00 in all cases; "plain": 0.4 … 1.6, errors 40 … 600 times as large
    assert 1.93 < order < 2.07, f"order {order:.2f}, errors {errors}"
    assert errors[-1] < 2e-4, errors


def test_two_equal_balls_swap_their_speeds_and_their_sensitivities():
    def ends(place, speed):
        model = fem.Model("balls")
        start = {"position": [place, 0, 0], "velocity": [speed, 0, 0]}
        first = model.add(fem.RigidBody.sphere(1.0, 0.1, name="A", **start))
        second = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0.5, 0, 0], name="B"))
        model.add(fem.SphereOnSphere(first, second, radius_A=0.1, radius_B=0.1, restitution=1.0, name="hit"))
        result = run(model, 1.0, 7e-3)
        return np.array([result[name].position[-1, 0] for name in "AB"])

    t_end = 142 * 7e-3
    # the first stops where it touches, 0.3 m on; the second goes on with its speed and its lead
    assert ends(0.0, 1.0) == pytest.approx([0.3, t_end + 0.2], abs=1e-12)
    assert slope(lambda x: ends(x, 1.0), 0.0, 1e-4) == pytest.approx([0.0, 1.0], abs=1e-8)
    assert slope(lambda v: ends(0.0, v), 1.0, 1e-4) == pytest.approx([0.0, t_end], abs=1e-8)


# --- finite differences -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [4e-3, 1e-3])
@pytest.mark.parametrize("step", [1e-6, 1e-4])
def test_finite_differences_of_a_bouncing_ball_are_its_derivatives(h, step):
    def height(z=1.0, e=0.8):
        return run(Ball.build(z, e), 1.6, h)["ball"].position[-1, 2]

    assert slope(height, 1.0, step) == pytest.approx(1.39313, abs=1e-5)
    assert slope(lambda e: height(e=e), 0.8, step) == pytest.approx(4.23361, abs=1e-5)
    assert height() - 0.1 == pytest.approx(Ball.exact(), abs=1e-12)  # free flight is exact


PARAMETERS = {
    "pendulum": {"angle": 1.0, "wall": 0.1, "e": 0.7, "drag": 0.2},
    "disc slides": {"height": 0.5, "speed": 2.0, "spin": -10.0, "e": 0.7, "mu": 0.1},
    "disc sticks": {"height": 0.5, "speed": 2.0, "spin": -10.0, "e": 0.7},
    "two links": {"wall": 0.05, "mass": 1.0, "e": 0.6, "mu": 0.3},
}


@pytest.mark.parametrize("case", CASES)
def test_finite_differences_of_runs_are_derivatives_of_second_order(case):
    kind, name, values = CASES[case]
    errors = []
    for steps in (64, 256):
        worst = 0.0
        for parameter, at in PARAMETERS[case].items():
            step = 1e-5 * max(1.0, abs(at))

            def end(value, parameter=parameter, steps=steps):
                model = kind.build(**{**values, parameter: value})
                return in_plane(run(model, kind.t_end, kind.t_end / steps), name)

            def exact(value, parameter=parameter):
                return kind.exact(**{**values, parameter: value})[0]

            right = slope(exact, at, step)
            worst = max(worst, np.abs(slope(end, at, step) - right).max() / np.abs(right).max())
        errors.append(worst)
    # with "plain" they do not fall: 0.5 … 1.2
    assert errors[1] < errors[0] / 12 and errors[1] < 3e-3, errors


def readme_pendulum(wall=-0.07, mass=0.5, e=0.7, h=5e-4):
    """Place of the ball of the README model at 0.7 s, with the beam of the measurements in the note."""
    model = fem.Model("flexible pendulum", gravity=[0, 0, -9.81])
    section = fem.Section.circle(0.01, E=1e9, density=1200)
    rod = fem.beam_line([0, 0, 1], [1, 0, 1], 8, section, poses=2, large_strain=False, name="rod")
    ball = fem.RigidBody.sphere(mass, 0.07, node=rod.nodes[-1], name="ball")
    hinge = fem.Revolute.at(model.ground, rod.nodes[0], [0, 0, 1], axis=[0, 1, 0], name="hinge")
    frame = model.ground.frame([wall, 0, 0], [0, 1.5708, 0])
    model.add(rod, ball, hinge, fem.SphereOnPlane(ball, frame, radius=0.07, restitution=e, name="wall"))
    result = fem.DecoupledNSGA(rho_inf=0, impacts=IMPACTS).run(model, 0.7, h)
    return result["ball"].position[-1, 0]


@pytest.mark.parametrize("step", [1e-3, 1e-2])
def test_the_flexible_pendulum_of_the_readme_has_the_right_sensitivities(step):
    # a prototype that split the steps of an earlier version: 1.355, 0.169, 0.483; "plain" at the same h: 7.6, −1.03
    assert slope(lambda x: readme_pendulum(wall=x), -0.07, step) == pytest.approx(1.355, abs=0.012)
    assert slope(lambda m: readme_pendulum(mass=m), 0.5, step) == pytest.approx(0.1687, abs=0.002)
    assert slope(lambda e: readme_pendulum(e=e), 0.7, step) == pytest.approx(0.483, abs=0.002)


# --- accumulations, energy, continuity --------------------------------------------------------------------------------


def rolling(e=0.5, mu=0.3, height=0.5, h=2e-3):
    """Place and speed at 3 s of a sphere that bounces to rest on a table and rolls from the fourth bounce on."""
    model = fem.Model("Zeno", gravity=[0, 0, -9.81])
    start = {"position": [0, 0, height + 0.1], "velocity": [2.0, 0, 0], "angular_velocity": [0, -70, 0]}
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball", **start))
    law = {"restitution": e, "friction": mu}
    model.add(fem.SphereOnPlane(ball, model.ground.frame(), radius=0.1, name="table", **law))
    result = run(model, 3.0, h)
    return np.array([result["ball"].position[-1, 0], result["ball"].velocity[-1, 0]]), result


def rolling_exact(e=0.5, mu=0.3, height=0.5, g=9.81, t_end=3.0):
    """The same, closed form: friction of a bounce is mu times its impulse until v = r ω = (5 v_0 + 2 r ω_0)/7."""
    fall, x, end = np.sqrt(2 * height / g), 2.0, (5.0 * 2.0 - 2.0 * 7.0) / 7.0
    place, t, speed = x * fall, fall, g * fall
    while speed > 1e-14:
        x, speed = max(x - mu * (1 + e) * speed, end), e * speed
        place, t = place + x * 2 * speed / g, t + 2 * speed / g
    return np.array([place + x * (t_end - t), x])


@pytest.mark.parametrize("h", [2e-2, 2e-3])
def test_a_ball_goes_through_the_accumulation_point_of_its_bounces(h):
    reached, result = rolling(h=h)
    assert result.statistics["split_impacts"] >= 5  # slower ones are left to the steps as they are
    assert reached == pytest.approx(rolling_exact(), abs=1e-6)
    assert result["table"].gap.min() > -1e-12
    for name, at in {"mu": 0.3, "e": 0.5, "height": 0.5}.items():
        found = slope(lambda value, name=name: rolling(h=h, **{name: value})[0], at, 1e-4)
        right = slope(lambda value, name=name: rolling_exact(**{name: value}), at, 1e-4)
        assert found == pytest.approx(right, abs=1e-6), name


# --- energy -----------------------------------------------------------------------------------------------------------


def bounces(t_end, h):
    result = fem.DecoupledNSGA(impacts=IMPACTS).run(Ball.build(e=1.0), t_end, h, save_every=10)
    return result.statistics["split_impacts"], result.energy.total[-1] / result.energy.total[0] - 1.0


@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_an_elastic_ball_keeps_its_energy(h):
    count, change = bounces(90.0, h)
    assert count == 100 and abs(change) < 1e-11


@pytest.mark.slow
def test_an_elastic_ball_keeps_its_energy_over_a_hundred_thousand_bounces():
    count, change = bounces(90_310.0, 2e-2)
    assert count >= 99_990 and abs(change) < 1e-8
