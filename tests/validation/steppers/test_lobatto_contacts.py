"""Lobatto IIIA-IIIB with impacts and friction: the examples of Capobianco et al. (2024), as bodies in space."""

import bouncing_ball
import contact_models
import double_pendulum
import numpy as np
import pytest
import three_balls

import fem_mbs as fem
from fem_mbs.cases import bruls2014

MORE = [pytest.param(stages, marks=pytest.mark.slow) for stages in (5, 6)]
STAGES = pytest.mark.parametrize("stages", [2, 3, 4, *MORE])
turned = [0.4, -0.3, 0.5]  # rad, of the node axes: nothing may depend on them
ball_mass, ball_radius, g = 1.0, 0.1, 9.81
NONE = 1e-9  # N s: impulses are solved to 1e-10 m g h = 1e-11 N s per stage and step
GAP = 4e-13  # m: what gaps are solved to, 3e-13 of the size of the model


def ball(restitution, spin):
    """A ball that falls by 0.9 m on a table with friction; spins about −y."""
    model = fem.Model("ball", gravity=[0, 0, -g])
    body = fem.RigidBody.sphere(
        ball_mass, ball_radius, position=[0, 0, 1], rotation=turned, angular_velocity=[0, -spin, 0], name="ball"
    )
    model.add(body)
    table = fem.SphereOnPlane(
        body, model.ground, radius=ball_radius, friction=0.2, restitution=restitution, name="table"
    )
    model.add(table)
    return model


@STAGES
def test_a_body_that_an_inner_stage_stops_meets_its_impact_in_that_step(stages):
    """Left to later steps it comes late, or never: gaps that are round-off above zero, bodies that still approach."""
    pendulum = fem.LobattoIIIAB(stages).run(bruls2014.bouncing_pendulum(), 1.5, 5e-3)
    wall = next(pendulum[name] for name in pendulum.names if hasattr(pendulum[name], "gap"))
    assert pendulum.t[wall.impact > 0] == pytest.approx([0.49, 1.285]) and np.diff(pendulum.energy.total).max() < 2e-5
    system = three_balls.build(False).compile()
    result = fem.LobattoIIIAB(stages).run(system, 0.5, 0.5 / 300)
    for k in range(1, len(result.t)):
        state = result.state(k)
        closed = system.gaps(state) < 1e-9
        assert system.contact_velocities(state)[closed, 0].min(initial=0.0) > -1e-9


# --- the rotating ball -------------------------------------------------------


@STAGES
def test_a_ball_that_bounces_comes_to_rest_and_never_penetrates(stages):
    result = fem.LobattoIIIAB(stages).run(ball(0.5, 0.0), 2.0, 1e-2)
    table, step = result["table"], np.flatnonzero(result["table"].impact)
    # 0.43 s: 1.5 m times the mean of 4.12 and 4.2183 m/s; the second flight takes 42 steps to round-off, or 43
    assert result.t[step[0]] == pytest.approx(0.43) and table.impulse[step[0], 0] == pytest.approx(6.2784, abs=1e-10)
    second = {85: 3.0411, 86: 3.1882}[step[1]]
    assert table.impulse[step[1], 0] == pytest.approx(second, abs=2e-4)
    assert table.gap.min() > -GAP and table.gap[-1] < 1e-8 and np.abs(result["ball"].velocity[-1]).max() < 1e-8
    assert table.impulse[-1, 0] == pytest.approx(ball_mass * g * 1e-2, rel=1e-6)
    assert result.statistics["repeated_steps"] == 0


@STAGES
def test_a_ball_with_much_spin_slides_then_rolls(stages):
    result = fem.LobattoIIIAB(stages).run(ball(0.0, 50.0), 1.2, 1e-2)
    impulse = result["table"].impulse
    assert impulse[43] == pytest.approx([4.2183, -0.84366, 0], abs=NONE)
    assert np.abs(impulse[44:, 0] - 0.0981).max() < NONE
    assert np.abs(impulse[44:73, 1] + 0.01962).max() < NONE  # μ m g h
    assert impulse[73, 1] == pytest.approx(-0.0159314, abs=1e-7)  # sliding ends in this step, in 0.728 s
    assert np.abs(impulse[74:, 1:]).max() < NONE
    last = result["ball"]
    assert last.velocity[-1] == pytest.approx([-1.4285714286, 0, 0], abs=1e-9)
    assert np.linalg.norm(last.angular_velocity[-1]) == pytest.approx(14.285714286, abs=1e-8)


@STAGES
def test_a_ball_with_little_spin_sticks_at_its_impact(stages):
    result = fem.LobattoIIIAB(stages).run(ball(0.0, 10.0), 1.2, 1e-2)
    impulse = result["table"].impulse
    assert impulse[43] == pytest.approx([4.2183, -2 / 7, 0], abs=NONE)
    assert np.abs(impulse[44:, 1:]).max() < NONE
    assert result["ball"].velocity[-1] == pytest.approx([-2 / 7, 0, 0], abs=NONE)


# --- a point on a curved slope -----------------------------------------------


def point_on_slope(height):
    """A point on y = exp(−x), μ = 0.3; the spline is as accurate as the figures below."""
    x = np.linspace(-1, 5, 1201)
    model = fem.Model("slope", gravity=[0, -10, 0])
    point = model.add(fem.PointMass(1.0, position=[0, height, 0], name="point"))
    points = np.column_stack([x, np.exp(-x)])
    model.add(fem.PointOnCurve(point, model.ground, points=points, friction=0.3, name="slope"))
    return model


EXACT = {  # t: x, y, ẋ, ẏ from the equation of motion along the curve
    0.5: (0.43719086, 0.64584816, 1.71360353, -1.10672768),
    1.0: (1.49967703, 0.22320224, 2.20838381, -0.49291621),
    1.6: (2.55416429, 0.07775719, 1.17183490, -0.09111859),
}


@pytest.mark.parametrize("stages, coarse", [(2, 0.05), (3, 0.1)])
def test_sliding_along_a_curve_keeps_the_order(stages, coarse):
    def errors(h):
        result = fem.LobattoIIIAB(stages, rtol=1e-12).run(point_on_slope(1.0), 1.6 + 1e-9, h)
        assert result["slope"].gap.min() > -1e-12
        k = np.round(np.array(list(EXACT)) / h).astype(int)
        obtained = np.hstack([result["point"].position[k, :2], result["point"].velocity[k, :2]])
        return np.abs(obtained - list(EXACT.values())).max()

    assert np.log2(errors(coarse) / errors(coarse / 2)) == pytest.approx(2 * stages - 2, abs=0.1)


@pytest.mark.parametrize("height, rest, stop", [(1.0, 2.10, 2.849185), (1.5, 2.19, 3.163866)])
def test_a_point_comes_to_rest_where_friction_holds_it(height, rest, stop):
    result = fem.LobattoIIIAB(3).run(point_on_slope(height), 2.5, 1e-2)
    moving = np.abs(result["point"].velocity).max(axis=1) > 1e-6
    assert result.t[np.flatnonzero(moving)[-1] + 1] == pytest.approx(rest, abs=1e-9)
    assert result["point"].position[-1, 0] == pytest.approx(stop, abs=5e-5 if height == 1.0 else 5e-4)
    if height > 1.0:  # the impact, in the step that ends at 0.32 s: √5 and its friction
        step = np.flatnonzero(result["slope"].impact)
        assert result.t[step] == pytest.approx([0.32])
        normal, friction = result["slope"].impulse[step[0], 0], result["slope"].impulse[step[0], 1:]
        assert normal == pytest.approx(np.sqrt(5), abs=0.04)
        assert np.linalg.norm(friction) == pytest.approx(0.3 * normal, rel=1e-9)


# --- a slider-crank with clearance -------------------------------------------


def slider_crank():
    """Slider in a guide with 1 mm of clearance, four corners; the crank turns with 150 rad/s."""
    l1, l2, a, b, d = 0.153, 0.306, 0.05, 0.025, 0.052
    model = fem.Model("slider crank", gravity=[0, -g, 0])
    z = [0, 0, 1]

    def body(name, mass, inertia, x, velocity=0.0, rate=0.0, angle=0.0):
        return model.add(
            fem.RigidBody(
                mass, inertia, position=[x, 0, 0], velocity=[0, velocity, 0], angular_velocity=[0, 0, rate],
                rotation=[0, 0, angle], name=name,
            )
        )  # fmt: skip

    crank = body("crank", 0.038, 7.4e-5, l1 / 2, 11.475, 150.0)
    rod = body("rod", 0.038, 5.9e-4, l1 + l2 / 2, 11.475, -75.0)
    slider = body("slider", 0.076, 2.7e-6, l1 + l2, angle=0.017)
    for name, one, two, x in (("A", model.ground, crank, 0), ("B", crank, rod, l1), ("C", rod, slider, l1 + l2)):
        model.add(fem.Revolute.at(one, two, [x, 0, 0], z, name=name))
    for k, (side, wall) in enumerate([(-1, 1), (1, 1), (-1, -1), (1, -1)], 1):
        plane = model.ground.frame([0, wall * d / 2, 0], rotation=[wall * np.pi / 2, 0, 0])
        corner = slider.frame([side * a, wall * b, 0])
        model.add(fem.SphereOnPlane(corner, plane, radius=0.0, friction=0.01, restitution=0.4, name=f"P{k}"))
    return model


def test_a_slider_crank_with_clearance_has_the_figures_of_the_planar_mechanism():
    result = fem.LobattoIIIAB(3).run(slider_crank(), 0.01, 1e-4)
    corners = [result[f"P{k}"] for k in range(1, 5)]
    first = {k: np.flatnonzero(corner.impact) for k, corner in enumerate(corners, 1)}
    assert first[2][0] == 13 and all(steps[0] > 13 for k, steps in first.items() if k != 2 and len(steps))
    angle = np.arctan2(result["slider"].rotation[:, 1, 0], result["slider"].rotation[:, 0, 0])
    assert abs(angle[80]) == pytest.approx(5.5e-5, abs=1e-6) and abs(angle[-1]) < GAP / 0.05  # rad, both corners closed
    assert min(corner.gap.min() for corner in corners) > -GAP
    assert result.violation.position.max() < 1e-12 and result.violation.velocity.max() < 1e-12
    energy = result.energy.total
    assert energy[[0, -1]] == pytest.approx([7.49555, 7.44959], abs=6e-6)
    assert np.diff(energy).max() < 3e-9
    assert result.iterations.position.max() <= 5 and result.statistics["repeated_steps"] == 0


# --- what is reported; robustness --------------------------------------------


def test_forces_of_a_ball_at_rest_are_its_weight_and_its_acceleration_is_zero():
    result = fem.LobattoIIIAB(3).run(bouncing_ball.build(), 4.5, 2e-3)
    assert np.abs(result["table"].force_normal[-50:] - 10.0).max() < 1e-8
    assert np.abs(result["ball"].acceleration[-50:]).max() < 1e-7


def test_accelerations_of_an_impact_step_are_zero_and_those_after_it_consistent():
    result = fem.LobattoIIIAB(3).run(ball(0.5, 0.0), 0.6, 1e-2)
    step = np.flatnonzero(result["table"].impact)[0]
    acceleration = result["ball"].acceleration[:, 2]
    assert acceleration[step] == 0.0
    assert np.abs(np.delete(acceleration, step) + g).max() < 1e-10


@pytest.mark.parametrize("stages", [2, 3])
def test_bodies_on_four_legs_thrown_on_a_table_come_to_rest(stages):
    model = contact_models.thrown(contact_models.LEGS)
    result = fem.LobattoIIIAB(stages).run(model, 2.0, 2e-3)
    assert min(result[contact.name].gap.min() for contact in model.elements if contact.role == "contact") > -1e-9
    assert np.diff(result.energy.total).max() < 1e-3
    assert result.energy.kinetic[-1] < 1e-8


def test_a_rolling_ball_is_stopped_by_rolling_resistance_and_stays():
    rho, speed, h = 2e-3, 0.5, 5e-3
    model = fem.Model("rolling", gravity=[0, 0, -g])
    body = fem.RigidBody.sphere(
        1.0, 0.1, position=[0, 0, 0.1], velocity=[speed, 0, 0], angular_velocity=[0, speed / 0.1, 0], name="ball"
    )
    model.add(body)
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, friction=0.5, rolling_resistance=rho, name="table"))
    result = fem.LobattoIIIAB(3).run(model, 5.0, h)
    # 7/5 m a = −m g ρ/r (the moment m g ρ about the contact point)
    deceleration = g * rho / 0.1 / 1.4
    distance, moving = speed**2 / (2 * deceleration), result.t < speed / deceleration - h
    expected = speed * result.t - 0.5 * deceleration * result.t**2
    # constant forces: exact, but for the step in which it stops
    assert np.abs(result["ball"].position[moving, 0] - expected[moving]).max() < 1e-12
    assert result["ball"].position[-1, 0] == pytest.approx(distance, abs=deceleration * h**2)
    assert np.abs(result["ball"].velocity[-1]).max() < 1e-9


def thrown_ball(**resistances):
    """A ball that bounces, slides, rolls and stops, while it drills."""
    model = fem.Model("ball", gravity=[0, 0, -g])
    body = fem.RigidBody.sphere(
        1.0, 0.1, position=[0, 0, 0.15], velocity=[1.5, 0.3, 0], angular_velocity=[0, -20.0, 8.0], name="ball"
    )
    model.add(body)
    law = {"friction": 0.3, "restitution": 0.4, **resistances}
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.1, name="table", **law))
    return model


@pytest.mark.parametrize("resistance, size", [("spinning_resistance", 2e-3), ("radius_contensou", 0.02)])
@STAGES
def test_a_thrown_ball_bounces_slides_rolls_and_stops_whatever_resists(stages, resistance, size):
    model = thrown_ball(rolling_resistance=3e-3, **{resistance: size})
    result = fem.LobattoIIIAB(stages).run(model, 6.0, 2e-3)
    # nothing is lost to friction that changes: every step ends as it was taken to, or is solved with the usual rows;
    # gaps are closed to 3e-13 m of a body of 1 kg
    assert np.diff(result.energy.total).max() < 3e-12 and result["table"].gap.min() > -GAP
    assert result.statistics["repeated_steps"] == 0
    ball = result["ball"]
    assert max(np.abs(ball.velocity[-1]).max(), np.abs(ball.angular_velocity[-1]).max()) < 1e-9
    same = fem.DecoupledNSGA(persistent_contacts=True, approach="start").run(model, 6.0, 5e-4)["ball"]
    # impacts are of first order: 4e-4 m measured
    assert ball.position[-1] == pytest.approx(same.position[-1], abs=2e-3)


def test_the_contact_problem_solver_takes_over_the_impact_problem(monkeypatch):
    def run():
        return fem.LobattoIIIAB(3).run(contact_models.thrown(contact_models.LEGS), 1.0, 2e-3)

    usual = run()
    monkeypatch.setattr(fem.LobattoIIIAB, "contact_solver", "problem")
    handed = run()
    assert usual.contact_problems.sum() == 0 and handed.contact_problems.sum() > 100
    assert np.abs(handed.rows([-1])["position"] - usual.rows([-1])["position"]).max() < 1e-9


# --- impacts of a mechanism with friction ------------------------------------

# times and impulses of a pendulum of two bodies whose tip hits a floor, from minimal coordinates with located impacts
TIP_IMPACTS = {
    2.0: [(0.2890528, (15.559054, -0.523649, 4.638250)), (0.9661864, (8.570824, -0.377750, 2.543347))],
    2.03: [(0.2869198, (15.701343, -0.569712, 4.675823)), (0.9695976, (8.650514, -0.370757, 2.568534))],
}


@pytest.mark.parametrize("rate", TIP_IMPACTS)
def test_impulses_of_a_mechanism_with_friction_converge_to_those_of_located_impacts(rate):
    h = 5e-4
    model = double_pendulum.build(rate_1=rate)
    tip = model["body 2"].frame(np.array([0.8, -0.08, 0.12]) - double_pendulum.center_2)
    floor = model.ground.frame([0, 0, -1.30])
    model.add(fem.SphereOnPlane(tip, floor, radius=0.05, friction=0.3, restitution=0.5, name="floor"))
    result = fem.LobattoIIIAB(3).run(model, 1.2, h)
    contact = result["floor"]
    step = np.flatnonzero(contact.impact)
    assert len(step) == 2 and contact.gap.min() > -GAP
    for k, (time, impulse) in zip(step, TIP_IMPACTS[rate]):
        assert abs(result.t[k] - time) < 4 * h
        # first order with a constant that scatters: 8 to 130 N s per s of the step, measured from 4 to 0.125 ms
        assert np.abs(contact.impulse[k] - impulse).max() < 200 * h
    energy = result.energy.total
    assert np.diff(energy).max() < 1e-11
