"""Joint friction, static friction of contacts and motors with a largest effort, in every time stepper: closed forms.

`tests/validation/laws/test_joint_friction.py` has those of the default method, to more digits and orders.
"""

import friction_models as models
import numpy as np
import pytest
from every_stepper import METHODS, WITH_CONTACTS, label
from test_static_friction import belt_in_closed_form, block_on_a_belt, on_a_slope

import fem_mbs as fem

REFUSE = {"ConeComplementarity contact_solver=problem", "GeneralizedAlpha formulation=index 3"}
WITH_FRICTION = [method for method in METHODS if label(method) not in REFUSE]
AT_IMPACTS = [method for method in WITH_CONTACTS if label(method) not in REFUSE]
every_method = pytest.mark.parametrize("method", WITH_FRICTION, ids=label)
every_method_with_contacts = pytest.mark.parametrize("method", AT_IMPACTS, ids=label)


def run(method, model, t_end, h, **options):
    return method.run(model.compile(redundant="allow"), t_end, h, progress=False, **options)


@every_method
def test_a_sliding_block_stops_where_its_speed_is_used_up_and_stays(method):
    h = 1e-2
    result = run(method, models.block(velocity=1.0), 2.5, h)
    x, v, found = result["block"].position[:, 0], result["block"].velocity[:, 0], result["friction"]
    sliding = result.t < 1.6
    np.testing.assert_allclose(v[sliding], 1.0 - 0.6 * result.t[sliding], atol=1e-9)
    np.testing.assert_allclose(found.force[1:][sliding[1:]], -0.6, rtol=1e-8)
    np.testing.assert_allclose(result["block"].acceleration[1:][sliding[1:], 0], -0.6, rtol=1e-6)
    assert x[-1] == pytest.approx(1.0 / 1.2, abs=0.51 * h)  # methods of order 1 lose ½ h v
    assert np.ptp(x[result.t > 1.7]) < 1e-12 and abs(v[-1]) < 1e-12 and found.status[-1] == 0
    assert found.dissipated[-1] == pytest.approx(0.5, rel=1e-4)


@every_method
@pytest.mark.parametrize("load, speed", [(0.999, 0.0), (1.001, 0.401)])
def test_a_block_holds_up_to_its_static_friction_and_does_not_creep(method, load, speed):
    result = run(method, models.block(load), 1.0, 1e-2)
    assert result["block"].velocity[-1, 0] == pytest.approx(speed, rel=1e-6, abs=1e-12)
    assert result["block"].position[-1, 0] == pytest.approx(0.5 * speed, rel=2e-2, abs=1e-10)
    assert result["friction"].force[-1] == pytest.approx(-0.999 if speed == 0.0 else -0.6, rel=1e-5)


@every_method
@pytest.mark.parametrize("load", [0.8, 0.999, 1.001])
def test_a_block_that_is_thrown_stays_where_its_static_friction_holds_it(method, load):
    """It stops after 1/(load + 0.6) s; the load then accelerates it back where it is above static friction."""
    h = 1e-2
    x = run(method, models.block(-load, velocity=1.0), 1.0, h)["block"].position[:, 0]
    assert x.max() == pytest.approx(1.0 / (2.0 * (load + 0.6)), abs=0.55 * h)
    stops = 1.0 / (load + 0.6)
    back = 0.0 if load < 1.0 else 0.5 * (load - 0.6) * (1.0 - stops) ** 2
    # of second order where it stops within a step, between two saved states
    assert x.max() - x[-1] == pytest.approx(back, abs=0.6 * h * (load - 0.6) if back else 0.2 * h**2)


@every_method
def test_a_hinge_that_friction_holds_does_not_turn(method):
    result = run(method, models.pendulum(start=0.0, moment=0.2), 1.0, 1e-2)  # it can hold 0.2943
    assert abs(result["hinge"].angle).max() < 1e-10
    np.testing.assert_allclose(result["friction"].force[1:], -0.2, rtol=1e-6)
    np.testing.assert_allclose(result["friction"].bound[1:], 0.3 * 0.1 * 9.81, rtol=1e-6)


@every_method
@pytest.mark.parametrize("velocity", [1.0, -1.0])
def test_a_guide_presses_as_much_as_its_own_friction_makes_it(method, velocity):
    """N = 2 M/(b (1 ± κ)), from the start of the run on."""
    found = run(method, models.guide(0.6, velocity), 3e-3, 1e-3)["friction"]
    N = 5.0 / (1.0 + 0.6 * velocity)
    rtol = 3e-6  # redundant rows at the start: a proximal shift of 1e-6
    np.testing.assert_allclose(found.bound / 0.5, N, rtol=rtol)
    np.testing.assert_allclose(found.force, -velocity * 0.5 * N, rtol=rtol)


@every_method
def test_a_guide_that_cannot_slide_jams_by_an_impulse_and_says_so(method):
    h = 1e-3
    result = run(method, models.guide(1.5, -1.0), 3 * h, h)
    assert h * result["friction"].force[1] == pytest.approx(1.0, rel=1e-6)  # takes m v
    assert abs(result["slider"].velocity[1:, 0]).max() < 1e-9
    assert result.statistics["jammed_joints"] == 1 and any("jammed" in text for text in result.warnings)


@every_method_with_contacts
@pytest.mark.parametrize("offset, restitution, impulse", [(0.1, 0.5, 2.0), (0.3, 0.8, 7.2)])
def test_a_stop_next_to_the_guide_is_hit_with_the_friction_of_its_own_impulse(method, offset, restitution, impulse):
    result = run(method, models.guide(moment=0.0, stop=offset, restitution=restitution), 0.03, 1e-3)
    assert result["stop"].impulse[:, 0].max() == pytest.approx(impulse, rel=1e-6)  # m v (1 + e)/(1 − 2 μ c/b)
    assert result["slider"].velocity[-1, 0] == pytest.approx(-restitution, rel=1e-6)


@every_method
def test_a_crank_slider_with_four_dry_joints_converges_to_that_of_the_default_method(method):
    """Of order 1 at least: the error halves with the step."""
    reference = run(fem.DecoupledNSGA(), models.crank_slider(), 0.2, 1.25e-4)["slider"].position[-1, 0]
    errors = [
        abs(run(method, models.crank_slider(), 0.2, h)["slider"].position[-1, 0] - reference) for h in (2e-3, 1e-3)
    ]
    assert errors[1] < 0.7 * errors[0] + 1e-9 and errors[1] < 2e-3, errors


@every_method
def test_a_motor_gives_its_largest_effort_up_to_its_rate_and_then_holds_it(method):
    model = fem.Model("motor")
    rotor = model.add(fem.RigidBody(1.0, 0.5 * np.eye(3), name="rotor"))
    motor = fem.Motor(rate=10.0, limit=2.0)
    model.add(fem.Revolute.at(model.ground, rotor, [0, 0, 0], [0, 0, 1], motor=motor, name="hinge"))
    result = run(method, model, 3.0, 1e-2, balance=True)
    rate, effort = result["rotor"].angular_velocity[:, 2], result["hinge motor"].effort
    np.testing.assert_allclose(rate, np.minimum(4.0 * result.t, 10.0), atol=1e-9)
    np.testing.assert_allclose(effort[1:245], 2.0, rtol=1e-9)
    np.testing.assert_allclose(effort[-20:], 0.0, atol=1e-8)
    assert result.energy_table().work("hinge motor") == pytest.approx(25.0, rel=1e-2)  # ½ J ω², and one step


@every_method
def test_friction_of_a_joint_takes_its_bound_times_the_way_in_the_energy_table(method):
    result = run(method, models.block(velocity=1.0), 1.2, 5e-3, balance=True)
    way, table = result["block"].position[-1, 0], result.energy_table()
    assert table.work("friction") == pytest.approx(-0.6 * way, rel=4e-3)
    assert abs(table.numerical) < 2e-3 * 0.5
    assert result["friction"].dissipated[-1] == pytest.approx(0.6 * way, rel=4e-3)


@every_method_with_contacts
def test_a_block_on_a_belt_sticks_and_slips_as_the_closed_form_says(method):
    h = 2.5e-3
    result = method.run(block_on_a_belt(), 7.0, h, progress=False)
    x = result["block"].position[:, 0]
    np.testing.assert_allclose(x, belt_in_closed_form(result.t), atol=0.3 * 10 * h)
    assert x.max() == pytest.approx(0.330277564, abs=0.3 * h)
    changes = np.flatnonzero(np.diff(result["rub"].status[10:]))
    assert len(changes) == 4  # breaks loose and sticks, twice


@every_method_with_contacts
@pytest.mark.parametrize("tan, moves", [(0.599, False), (0.601, True)])
def test_a_contact_holds_up_to_its_static_friction(method, tan, moves):
    model, axes = on_a_slope(tan)
    result = method.run(model, 0.3, 2e-3, progress=False)
    along = (result["block"].position[-1] - result["block"].position[0]) @ axes[:, 0]
    a = 9.81 * (tan - 0.4) / np.hypot(1.0, tan) if moves else 0.0
    assert abs(along) == pytest.approx(0.5 * a * 0.09, rel=3e-2, abs=1e-8)


def rod_and_ball():
    """A rod of 2 kg on a journal with friction, at rest without load, and a ball of 0.4 kg that hits it at 0.9 m."""
    model = fem.Model("rod and ball")
    rod = model.add(fem.RigidBody(2.0, np.eye(3) / 6.0, position=[0.5, 0, 0], name="rod"))
    hinge = model.add(fem.Revolute.at(model.ground, rod, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.JointFriction(hinge, 0.3, radius=0.1, name="journal"))
    ball = model.add(fem.PointMass(0.4, position=[0.9, 0.0315, 0], velocity=[0, -3.0, 0], name="ball"))
    top = rod.frame([0.4, 0, 0], fem.rotations.frame_with_axis(np.array([0, 1.0, 0])))
    model.add(fem.SphereOnPlane(ball, top, radius=0.0, restitution=0.5, name="hit"))
    return model


@every_method_with_contacts
@pytest.mark.parametrize("h", [4.0e-4, 4.2e-4, 5.2e-4, 8.1e-4])
def test_the_journal_of_a_rod_that_is_hit_has_friction_by_the_reaction_to_the_impact(method, h):
    """P of the ball and reaction L: 2 c ω = L − P, J ω = −0.9 P + μ r |L|, u + 0.9 ω… = −e (u − 0): linear in ω."""
    c, J, a, arm, m, M, e, u = 0.5, 2.0 / 3.0, 0.9, 0.03, 0.4, 2.0, 0.5, -3.0
    # unknowns ω, P, L, u': M c ω = L − P with L > 0 … or < 0, whose sign turns that of friction's moment arm |L|
    for sign in (1.0, -1.0):
        A = [[M * c, 1.0, -1.0, 0.0], [J, a, -arm * sign, 0.0], [0.0, -1.0, 0.0, m], [-a, 0.0, 0.0, 1.0]]
        omega, _, reaction, after = np.linalg.solve(A, [0.0, 0.0, m * u, -e * u])
        if reaction * sign >= 0.0:
            break
    result = run(method, rod_and_ball(), 0.0145, h)
    impact = int(np.argmax(abs(result["rod"].angular_velocity[:, 2]) > 1e-3))
    assert result["rod"].angular_velocity[impact, 2] == pytest.approx(omega, rel=1e-4)
    assert result["ball"].velocity[impact, 1] == pytest.approx(after, abs=2e-3)


@every_method_with_contacts
def test_the_energy_table_closes_where_friction_and_an_impact_are_in_one_step(method):
    """Friction of a step with an impact gives no energy: what its impulse would give the contact's line has."""
    result = run(method, rod_and_ball(), 0.03, 5e-4, balance=True)
    table = result.energy_table()
    kinetic = 0.5 * 0.4 * 9.0
    assert table.work("journal") <= 0.0 and abs(table.numerical) < 2e-3 * kinetic
    assert table.work("hit") + table.work("journal") == pytest.approx(table.change, abs=2e-3 * kinetic)


CONTROLLED = [
    fem.NonsmoothGeneralizedAlphaGGL, fem.NonsmoothGeneralizedAlphaFriction, fem.GeneralizedAlpha, fem.LobattoIIIAB,
]  # fmt: skip


@pytest.mark.parametrize("method", CONTROLLED)
def test_the_error_of_variable_steps_has_the_change_of_joint_friction(method):
    """A tenth of the tolerance takes more steps, and is nearer."""
    reference = run(fem.DecoupledNSGA(), models.pendulum(), 1.5, 2e-4)["hinge"].angle[-1]
    errors, steps = [], []
    for tolerance in (1e-4, 1e-6):
        control = fem.StepControl(tolerance=tolerance)
        result = run(method(step_control=control), models.pendulum(), 1.5, 2e-2)
        errors.append(abs(result["hinge"].angle[-1] - reference))
        steps.append(len(result.t))
    assert steps[1] > 2 * steps[0] and errors[1] < 0.5 * errors[0], (steps, errors)


@pytest.mark.parametrize("method", CONTROLLED)
def test_steps_that_joint_friction_alone_accelerates_are_controlled_by_its_change(method):
    """A preload that grows with time: nothing else has an error. Without it all steps would be as long as allowed."""
    steps = []
    for tolerance in (1e-5, 1e-7):
        model = fem.Model("block")
        body = model.add(fem.RigidBody(1.0, 0.1 * np.eye(3), velocity=[2.0, 0, 0], name="block"))
        guide = model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], name="guide"))
        model.add(fem.JointFriction(guide, 0.5, preload=lambda t: 1.0 + t, name="friction"))
        result = run(method(step_control=fem.StepControl(tolerance=tolerance)), model, 1.0, 1e-1)
        steps.append(len(result.t))
        # of first order in the longest step, which the tolerance of a step limits
        assert result["block"].velocity[-1, 0] == pytest.approx(2.0 - 0.75, abs=0.25 * np.diff(result.t).max())
    assert steps[1] > 2 * steps[0], steps


def pendulum_at_a_stop():
    """An arm that falls on a stop and rebounds, with static and sliding friction and a preload in its hinge."""
    model = fem.Model("pendulum", gravity=[0, -9.81, 0])
    arm = model.add(fem.RigidBody(2.0, 0.3 * np.eye(3), position=[0.5, 0, 0], name="arm"))
    friction = fem.DryFriction((0.25, 0.2), radius=0.02, preload=0.1)
    stops = fem.Stops(-1.2, 1.4, restitution=0.4)
    model.add(fem.Revolute.at(model.ground, arm, [0, 0, 0], [0, 0, 1], stops=stops, friction=friction, name="hinge"))
    return model


@every_method_with_contacts
def test_work_that_friction_would_give_in_a_rebound_is_counted_with_the_impact(method):
    """The hinge reverses in the impact: its friction works with the rate before it, which dry friction cannot."""
    result = run(method, pendulum_at_a_stop(), 0.9, 6.25e-4, balance=True)
    table = result.energy_table()
    assert result["hinge lower stop"].impulse[:, 0].max() > 1.0 and table.work("hinge friction") < 0.0
    damped = method.theta > 0.5 or method.constraints == "velocities"  # or joints drift
    assert abs(table.numerical) < (0.06 if damped else 0.006)  # of 7.7 J


@every_method_with_contacts
@pytest.mark.parametrize("steps", [63.05, 63.5])
def test_a_block_that_is_thrown_up_a_slope_stays_where_static_friction_of_its_contact_holds_it(method, steps):
    """0.5 is between sliding friction, 0.4, and static friction, 0.6: it stops after v²/(2 a), and stays.

    Sliding friction lets it turn back in a step of which a ninth or less is left to stop in.
    """
    h, a = 2e-3, 9.81 * (0.5 + 0.4) / np.hypot(1.0, 0.5)
    speed = steps * h * a
    model, axes = on_a_slope(0.5, speed=(-speed, 0.0))
    result = method.run(model, 0.4, h, progress=False)
    along = (result["block"].position - result["block"].position[0]) @ axes[:, 0]
    assert abs(along).max() == pytest.approx(speed**2 / (2.0 * a), abs=0.6 * h)
    assert np.ptp(along[result.t > 0.2]) < 1e-7


@pytest.mark.parametrize("method", [fem.MoreauJean(), fem.NonsmoothGeneralizedAlphaGGL()], ids=label)
def test_a_block_that_turns_and_slides_back_has_the_coefficient_at_rest_in_that_step(method):
    """Thrown up a slope that static friction does not hold: the passes of the step end with μ(0)."""
    tangent, h, g = 0.7, 1e-3, 9.81
    cosine = 1 / np.hypot(1, tangent)
    model = fem.Model("thrown", gravity=[g * tangent * cosine, 0, -g * cosine])
    start = 5e-4 + 7 * (tangent + 0.2) * g * cosine * h  # after seven steps 0.5 mm/s are left
    block = model.add(fem.PointMass(2.0, velocity=[-start, 0, 0], name="block"))
    model.add(fem.SphereOnPlane(block, model.ground, radius=0.0, friction=[(0, 0.6), (2e-4, 0.2)], name="foot"))
    result = run(method, model, 0.02, h)
    v, impulse = result["block"].velocity[:, 0], result["foot"].impulse
    k = int(np.argmax(v > 0.0))
    assert k == 8 and v[k - 1] == pytest.approx(-5e-4, rel=1e-6)  # where the coefficient is 0.2
    assert np.hypot(*impulse[k, 1:]) / impulse[k, 0] == pytest.approx(0.6, rel=1e-9)


@pytest.mark.parametrize("coupling", ["monolithic", "sequential"])
def test_the_coupled_problem_with_dry_joints_converges_in_few_iterations(coupling):
    """Tangents of its rows and bounds: three to four with them."""
    method = fem.NonsmoothGeneralizedAlphaGGL(coupling=coupling)
    iterations = run(method, models.crank_slider(), 0.2, 1e-3).iterations.velocity
    assert np.mean(iterations[1:]) < 5.0


@pytest.mark.parametrize("method", [m for m in METHODS if label(m) in REFUSE], ids=label)
def test_what_cannot_solve_for_friction_rejects_it_by_name(method):
    with pytest.raises(fem.ParameterError, match=r"'friction'"):
        run(method, models.block(), 0.1, 1e-2)


@pytest.mark.parametrize("method", [fem.MoreauJean(), fem.ConeComplementarity()], ids=label)
def test_contact_groups_next_to_joint_friction_are_rejected_by_name(method):
    model = models.block()
    group = model.add(fem.ContactGroup(name="grains"))
    for k in range(2):
        grain = model.add(fem.RigidBody(0.1, 1e-3 * np.eye(3), position=[k, 1, 0], name=f"particle {k}"))
        group.sphere(grain, 0.1)
    with pytest.raises(fem.ParameterError, match=r"'friction'.*contact groups.*'grains'"):
        run(method, model, 0.1, 1e-2)


@every_method
def test_a_joint_that_slides_at_the_start_has_its_sliding_friction_there(method):
    """However slowly: the speed below which a method counts no impacts, 20 g h of the cone, is none of joints."""
    model = fem.Model("slider", gravity=[0, 0, -9.81])
    body = model.add(fem.RigidBody(2.0, 0.1 * np.eye(3), velocity=[1e-2, 0, 0], name="body"))
    model.add(fem.Prismatic.at(model.ground, body, [0, 0, 0], [1, 0, 0], friction=(0.4, 0.3), name="guide"))
    found = run(method, model, 2e-4, 1e-4)["guide friction"]
    assert found.status[:2].tolist() == [1, 1]
    np.testing.assert_allclose([found.force[0], found.bound[0]], [-0.3 * 2.0 * 9.81, 0.3 * 2.0 * 9.81])


@every_method
def test_a_block_that_its_static_friction_does_not_hold_slides_from_the_start(method):
    found = run(method, models.block(1.001), 2e-4, 1e-4)["friction"]
    assert found.status[:2].tolist() == [1, 1]
    np.testing.assert_allclose([*found.force[:2], found.bound[0]], [-0.6, -0.6, 0.6])
