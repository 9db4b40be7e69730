"""Closed contacts inside the smooth sub-problem (`persistent_contacts`): order, and the same answers elsewhere."""

import billiard_break
import contact_models
import numpy as np
import order_in_contact as study
import persistent_models as models
import pytest
import roller_crank as crank
import rolling_ball
import tilting_plate as plate
from rolling_ball import ACARY_BOURRIER, ROLLING, SPINNING

import fem_mbs as fem
from fem_mbs.solvers.contact.law import GAP, SLIP, STICK

CAPTURED = {"impacts": "plain", "restitution_speed": "start"}  # impacts taken with a whole step, as published


def plate_errors(h, **options):
    """Errors at 1 s of the path, its rate and the normal force of the sphere on the tilting plate."""
    result = fem.DecoupledNSGA(rtol=1e-8, **options).run(plate.build(), t_end=1.0, h=h)
    s, rate = plate.path(result)
    reference = plate.REFERENCE
    force = result["contact"].force_normal[-1]
    return np.abs([s[-1] - reference["s"], rate[-1] - reference["rate"], force - reference["normal"]])


@pytest.mark.parametrize("damping", [{"rho_inf": 0.0}, {"rho_inf": 0.8}, {"alpha_f": 0.2}], ids=str)
def test_rolling_contact_is_second_order_in_motion_and_force(damping):
    steps = [1e-2, 5e-3, 2.5e-3]
    errors = np.array([plate_errors(h, **damping, persistent_contacts=True) for h in steps])
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    # 1.85 … 2.02 measured (the lowest is the path for rho_inf = 0, not yet asymptotic at 1e-2)
    assert (order > 1.8).all() and (order < 2.1).all(), f"orders {order}, errors\n{errors}"
    assert errors[-1].max() < 1e-4  # an order alone does not show that the limit is right


def test_errors_of_a_closed_contact_fall_by_more_than_a_factor_of_ten():
    published = plate_errors(5e-3, rho_inf=0.8, persistent_contacts=False)
    persistent = plate_errors(5e-3, rho_inf=0.8, persistent_contacts=True)
    # measured: factors 258 (path), 16 (rate), 6.7 (force, whose error happens to be small with the published scheme)
    assert persistent[0] < published[0] / 100 and persistent[1] < published[1] / 10 and persistent[2] < published[2] / 5


# --- orders: rolling on a curved path, sticking mechanism, sliding and rolling in turn ------------------------------


@pytest.mark.parametrize("name", list(study.CASES))
@pytest.mark.parametrize("options, order", [({"persistent_contacts": False}, 1.0), ({}, 2.0)], ids=str)
def test_motion_and_force_are_of_second_order_while_a_contact_stays_closed(name, options, order):
    table, measured = study.study(name, (200, 400, 800), **options)
    # measured 0.96 … 1.00 and 1.95 … 2.00: with changes between sliding and rolling the constant depends on their phase
    assert measured == pytest.approx([order, order], abs=0.12), table


def test_a_sticking_foot_is_as_accurate_as_a_joint_in_its_place():
    contact, joint = (
        study.errors("leg", 400, model=study.leg(joint), persistent_contacts=not joint) for joint in (False, True)
    )
    # measured: 0.91 and 0.77 of the errors of the joint, which starts without a trapezoidal step
    assert np.all(np.array(contact) < joint) and np.all(np.array(contact) > np.array(joint) / 2)
    published = study.errors("leg", 400, persistent_contacts=False)
    assert contact[0] < published[0] / 500 and contact[1] < published[1] / 500  # measured 706 and 1211


@pytest.mark.parametrize("case", [models.Bowl, models.BowlSliding, models.PushedAside])
def test_order_where_normals_and_ways_of_sliding_turn(case):
    published, _ = models.orders(case, [100, 200, 400], persistent_contacts=False)
    persistent, finest = models.orders(case, [200, 400, 800], persistent_contacts=True)
    assert all(0.9 < order < 1.1 for order in published.values()), published
    # 1.94 … 2.4 measured: rolling with spin at 20 rad/s is not yet asymptotic at 10 ms
    assert all(1.85 < order < 2.5 for order in persistent.values()), persistent
    assert finest["position"] < 1e-4  # m: an order alone does not show that the limit is right


def test_block_on_a_shaken_plate_changes_between_sticking_and_sliding_as_it_should():
    result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True).run(models.Shaken.build(), t_end=2.0, h=2e-3)
    _, _, events = models.Shaken.exact(result.t)
    status = result["contact"].status[1:]
    assert set(status) == {STICK, SLIP}
    changes = result.t[2:][np.diff(status) != 0]
    assert len(changes) == len(events) == 11
    # seen at the end of the step they lie in; the end of sticking, where the force only bends, up to one later
    assert np.all((changes - events > -1e-9) & (changes - events < 2 * 2e-3))


def test_force_between_changes_of_a_shaken_block_is_second_order():
    published, _ = models.orders(models.Shaken, [200, 400, 800, 1600], persistent_contacts=False)
    persistent, finest = models.orders(models.Shaken, [200, 400, 800, 1600], persistent_contacts=True)
    # the path is of second order in both: both know velocities of the plate and the constant friction exactly, and err
    # by the phase of the changes in their steps (measured 1.66 and 1.91, scattered)
    assert published["force"] == pytest.approx(1.0, abs=0.05)
    assert persistent["force"] > 1.7 and finest["force"] < 1e-4  # 1.80 measured, 3.8e-5 N; published 2.7e-2 N
    assert finest["position"] < 1e-5  # 2.4e-6 m


def test_sliding_that_reverses_is_first_order_with_the_option_as_without():
    """Friction of the step in which it turns has the direction of its end: what docs and docstring say."""
    assert len(models.PushedToAndFro.exact(np.linspace(0.0, 2.0, 3))[2]) == 4
    steps = [200, 283, 400, 566, 800, 1131, 1600, 2263, 3200]  # many phases of the reversals in their steps
    for persistent in (False, True):
        order, finest = models.orders(models.PushedToAndFro, steps, persistent_contacts=persistent)
        # measured 1.43 and 1.12, with the option 1.25 and 1.20
        assert all(0.9 < value < 1.6 for value in order.values()), order
        assert finest["position"] < 1.5e-3 and finest["velocity"] < 1.5e-3, finest  # 1.0e-3 m, 1.1e-3 m/s


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("persistent, low, high", [(False, 0.9, 1.1), (True, 1.7, 2.1)])
def test_ball_leaves_a_hill_where_its_weight_no_longer_holds_it(friction, persistent, low, high):
    """Sliding without friction: cos φ = 2/3 + v²/(3 g a); with friction it rolls, slides from 47°, leaves at 51°."""
    hill = models.Hill(friction)
    motion, _, leaves = hill.exact()
    if not friction:
        exact = 2 / 3 + hill.speed**2 / (3 * models.g * hill.path)
        assert np.cos(motion(np.array([leaves]))[0, 0]) == pytest.approx(exact, abs=1e-10)
    steps, table = np.array([50, 100, 200, 400]), []
    for k in steps:  # release in the middle of a step: its error depends on that phase
        h = leaves / (k + 0.5)
        hill.duration = int(1.1 / h) * h
        table.append(models.run(hill, int(1.1 / h), persistent_contacts=persistent))
        assert table[-1]["release"] <= 0.5 * h * (1 + 1e-9)  # open at the end of the step in which it leaves
    for name in ("position", "velocity", "force"):
        order = -np.polyfit(np.log(steps), np.log([row[name] for row in table]), 1)[0]
        # measured 0.98 … 1.04 and 1.77 … 2.0; forces until two steps before the release
        assert low < order < high, (name, order)


# --- rolling and spinning resistance ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [ROLLING, SPINNING])
def test_angle_of_a_ball_stopped_by_resistance_is_second_order(case):
    steps, late = np.array([10, 20, 40, 80]), []
    for k in steps:  # it stops in the middle of a step
        h = case.t_stop / (k + 0.5)
        model = rolling_ball.build(spin=case.spin, **case.law)
        result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True).run(model, 1.0, h)
        late.append(np.linalg.norm(result["ball"].rotation_vector[-1]) - case.angle)
    # exact but for the step in which it stops: that turns it by up to h² times the deceleration
    order = -np.polyfit(np.log(steps), np.log(np.abs(late)), 1)[0]
    assert 1.9 < order < 2.2 and abs(late[-1]) < 2e-5, (order, late)


@pytest.mark.parametrize("case", ACARY_BOURRIER)
def test_way_of_a_ball_that_slides_rolls_and_stops_is_exact_but_for_the_steps_of_the_changes(case):
    spin, friction, t_turn, t_stop, path = ACARY_BOURRIER[case]
    errors = []
    for persistent in (False, True):
        law = {"friction": friction, "rolling_resistance": 0.04}
        model = rolling_ball.build(velocity=[2.5, 0, 0], spin=[0, 0, -spin], **law)
        result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=persistent).run(model, t_stop + 0.1, 5e-3)
        v, w = rolling_ball.speeds(result)
        assert rolling_ball.time_of_rest(result.t, w) == pytest.approx(t_turn, abs=2 * 5e-3)
        assert rolling_ball.time_of_rest(result.t, v) == pytest.approx(t_stop, abs=2 * 5e-3)
        errors.append(abs(np.ptp(result["ball"].position[:, 0]) - path))
    # measured up to 1.6e-5 m; 5e-6 are digits of the source
    assert max(errors) < 3e-5, errors


def sphere_on_floor(velocity, spin, **law):
    """The sphere of Sanchez2025, section A.6.1, in contact with the floor; gravity along −y."""
    model = fem.Model("sphere on a floor", gravity=[0, -9.8, 0])
    ball = model.add(
        fem.RigidBody(1309.0, 131.0, position=[0, 0.5, 0], velocity=velocity, angular_velocity=spin, name="ball")
    )
    model.add(fem.SphereOnPlane(ball, model.ground.frame(rotation=[-np.pi / 2, 0, 0]), radius=0.5, name="floor", **law))
    return model


def test_sliding_then_rolling_ends_at_the_exact_speed_and_place():
    model = sphere_on_floor([1.5, 0, 1.5], [0, 0, 0], friction=0.25)
    result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True).run(model, t_end=1.0, h=5e-3)
    speed = np.linalg.norm(result["ball"].velocity[-1])
    way = np.linalg.norm(result["ball"].position[-1] - [0, 0.5, 0])
    assert speed == pytest.approx(1.514898, abs=1e-6)  # digits of the closed form (derived for I = 131)
    assert way == pytest.approx(1.589949, abs=2e-5)  # the transition is captured to a step: O(h²) in the way
    assert result["floor"].gap.min() > -1e-12


def test_rolling_resistance_stops_the_sphere_where_the_closed_form_says():
    model = sphere_on_floor([2.5, 0, 0], [0, 0, -2.5], friction=0.2, rolling_resistance=0.04)
    result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True).run(model, t_end=5.0, h=2e-3)
    stopped = result.t[np.abs(result["ball"].velocity[:, 0]) < 1e-9][0]
    assert stopped == pytest.approx(3.82702, abs=2 * 2e-3)  # two steps
    assert result["ball"].position[-1, 0] == pytest.approx(4.14560, abs=1e-5)  # digits of the source; O(h²)


def test_a_bouncing_ball_is_the_same_with_and_without():
    def ball():
        model = fem.Model("ball", gravity=[0, 0, -10.0])
        body = model.add(fem.RigidBody(1.0, 0.016, position=[0, 0, 1.001], name="ball"))
        model.add(fem.SphereOnPlane(body, model.ground, radius=0.2, restitution=0.8, name="table"))
        return model

    runs = [
        fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=persistent).run(ball(), t_end=4.5, h=2e-3)
        for persistent in (False, True)
    ]
    published, persistent = (run["table"].gap for run in runs)
    # until it rests both take the same steps; Newton tolerances differ by round-off
    assert np.abs(published - persistent).max() < 1e-9
    assert persistent.min() > -1e-12
    assert runs[1]["table"].force_normal[-1] == pytest.approx(10.0, abs=1e-6)
    assert np.diff(runs[1].energy.total).max() < 1e-9


def test_roller_crank_loses_less_to_the_method_and_lifts_off_at_the_same_times():
    losses, speeds, lifted = [], [], []
    for persistent in (False, True):
        solver = fem.DecoupledNSGA(rho_inf=0.0, persistent_contacts=persistent)
        rigid = solver.run(crank.build(), t_end=2.0, h=1e-3)
        losses.append(abs(crank.method_loss(rigid)))
        speeds.append(rigid["crank"].angular_velocity[-1, 2])
        lifted.append(crank.lift_offs(solver.run(crank.build(flexible=True), t_end=0.345, h=1e-3)))
    # energy that neither friction nor the end of the run accounts for, measured 1.3e-3 J and 1.0e-4 J
    assert losses[1] < losses[0] / 5
    # rad/s at 1, 1/4, 1/16 ms: published 9.82, 8.50, 8.18, with closed contacts 8.03, 8.10, 8.05
    assert speeds[0] > 9 and speeds[1] == pytest.approx(8.06, abs=0.1)
    # two in this time as published; a third, of a millisecond at 0.353 s, is there with smaller steps in both schemes
    assert lifted[1] == pytest.approx(lifted[0], abs=2e-3) and len(lifted[1]) == 2


# --- entry and release in the midst of impacts ---------------------------------------------------------------------


def test_balls_with_rolling_resistance_hit_while_they_rest_gain_no_energy():
    """A contact at rest in the first impact problem slides after the second: it must not enter as sticking (6.6 J)."""
    model = billiard_break.build(rolling_resistance=0.005)
    result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True).run(model, t_end=3.0, h=1e-3)
    assert np.diff(result.energy.total).max() < 1e-9  # round-off of 10 J
    for name in ("cue", "ball 3", "ball 4", "ball 5"):
        assert np.linalg.norm(result[name].velocity[-1]) < 1e-9, name


def test_closed_contacts_without_load_wait_for_the_impact_to_reach_them():
    """Three in line, 2 and 3 touch: taken into the first problem they would share it and 1 would bounce back."""
    for restitution, speeds in ((1.0, (0, 0, 2)), (0.5, (0.40625, 0.46875, 1.125))):
        model = contact_models.three_in_line(restitution)
        result = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True).run(model, 0.1, 1e-3)
        assert [result[name].velocity[-1, 0] for name in "abc"] == pytest.approx(speeds, abs=1e-10)


def test_what_carries_a_load_takes_part_in_the_first_impact_problem_wherever_the_impact_is():
    """Left out of it, a ball at rest would fall for the length of the problem, and need one of its own."""
    model = fem.Model("two", gravity=[0, 0, -9.81])
    for k, height in enumerate((0.0, 0.2)):
        ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[2.0 * k, 0, 0.1 + height], name=f"ball {k}"))
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, restitution=0.5, name=f"floor {k}"))
    result = fem.DecoupledNSGA(persistent_contacts=True, **CAPTURED).run(model, 0.3, 1e-3)
    at = np.flatnonzero(result["floor 1"].impact)
    assert len(at) == 1
    assert result.problems[at] == 1 and result["floor 0"].impact.sum() == 0
    assert result["floor 0"].impulse[at, 0] == pytest.approx(9.81e-3, rel=1e-9)


def throws(points, h, seeds, **options):
    """Largest invariants over random throws of a body: penetration, rise of energy, violation of Coulomb's law by
    forces; and the share of impulses that violate it.
    """
    depth = rise = friction = 0.0
    outside = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        model = contact_models.thrown(points, velocity=rng.normal(size=3), spin=4 * rng.normal(size=3))
        result = fem.DecoupledNSGA(rho_inf=0.8, **options).run(model, 1.5, h)
        contacts = [result[name] for name in result.names if hasattr(result[name], "gap")]
        depth = max(depth, *(-c.gap.min() for c in contacts))
        rise = max(rise, result.energy.total.max() / result.energy.total[0] - 1)
        for c in contacts:
            # forces obey the law; what a step hands over may hold friction of two directions
            friction = max(friction, (np.linalg.norm(c.force_tangential, axis=1) - 0.4 * c.force_normal).max())
            assert c.force_normal.min() >= 0.0, f"seed {seed}"
            mean = c.impulse / h
            excess = np.linalg.norm(mean[:, 1:], axis=1) - 0.4 * mean[:, 0]
            assert mean[:, 0].min() > -0.01 * 9.81, f"seed {seed}"  # 0.004 in 200 throws
            outside.append(excess > 2e-4 * 9.81)
    return depth, rise, friction, np.mean(outside)


def check_throws(points, h, seeds):
    depth, rise, friction, outside = throws(points, h, seeds, persistent_contacts=True)
    assert depth < 1e-12  # round-off
    assert rise < 1e-5  # the tumbling flight: 5e-6 at most, as without the option
    assert friction < 2e-4 * 9.81  # tolerance of the iterations, 1e-5 of the sum of all forces; 9.5e-5 measured
    # steps with an impact, or in which sliding turns: 5e-4 of all, 7e-4 in 200 throws. When friction of legs about to
    # stick went to and fro 1.3e-3
    assert outside < 1e-3


@pytest.mark.parametrize("pushed", [False, True])
def test_a_driver_starts_a_box_that_sticks_with_the_force_of_its_inertia_and_friction(pushed):
    driver, gravity, mass, friction = fem.smooth_start(1.0, 0.3, start=0.1), 9.81, 2.0, 0.3
    model = fem.Model("driven box", gravity=[0, 0, -gravity])
    only_x = ("y", "rx", "ry", "rz")
    box = model.add(fem.RigidBody.box(mass, [0.1] * 3, position=[0, 0, 0.05], fixed=only_x, name="box"))
    model.add(fem.SphereOnPlane(box.frame([0, 0, -0.05]), model.ground, radius=0, friction=friction, name="floor"))
    driven = box
    if pushed:  # by a piston without weight on the floor: rows of two contacts and the driver contradict each other
        driven = model.add(
            fem.RigidBody.box(1.0, [0.1] * 3, position=[-0.1, 0, 0.05], fixed=("z", *only_x), name="piston")
        )
        face = driven.frame([0.05, 0, 0], [0, np.pi / 2, 0])
        model.add(fem.SphereOnPlane(box.frame([-0.05, 0, 0]), face, radius=0, name="push"))
    start = driven.node.position[0]
    model.add(fem.Prescribed(driven, x=driver + start, name="motor"))
    result = fem.DecoupledNSGA(persistent_contacts=True).run(model, t_end=0.2, h=1e-3)
    moving = result.t > 0.1015  # from the second step of the motion on
    acceleration = np.array([driver.jet(t)[2] for t in result.t[moving]])
    exact = (mass + pushed * 1.0) * acceleration + friction * mass * gravity
    # second order in h: 3 kg · 60 v/T³ · h², with the largest second derivative of the acceleration, at the start
    np.testing.assert_allclose(result["motor"].force[moving, 0], exact, rtol=0, atol=3 * 60 / 0.3**3 * 1e-6)
    assert result.statistics["divided_steps"] == 0
    assert (result["floor"].status[result.t > 0.1005] == SLIP).all()


def test_a_leg_about_to_stick_sticks_when_it_does_without_the_option():
    """Friction of a fading slip turned by 40 to 60 degrees from step to step for 80 steps, and the leg never stuck.

    Impacts of the throw part the two runs: both begin at the same state, in which two legs carry the tripod.
    """
    rng = np.random.default_rng(2)
    model = contact_models.thrown(contact_models.LEGS, velocity=rng.normal(size=3), spin=4 * rng.normal(size=3))
    published = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=False, **CAPTURED)
    thrown, runs = published.run(model, 1.5, 1e-3), []
    for persistent in (False, True):
        stepper = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=persistent, **CAPTURED)
        result = stepper.run(fem.continue_from(thrown, 1.43, model), 1.492, 1e-3)
        legs = [result[name] for name in result.names if hasattr(result[name], "gap")]
        runs.append((np.array([leg.status[2:] for leg in legs]), np.array([leg.force[2:] for leg in legs])))
    (statuses, force), (persistent, other) = runs
    assert {STICK, SLIP} == set(statuses[0]) and statuses[0][-1] == STICK  # from 1.465 s on
    assert np.count_nonzero(statuses != persistent) <= 2  # 1 measured: it sticks one step later
    calm = (statuses == persistent).all(axis=0) & (statuses[3] == GAP)  # without the impact of the last leg
    assert other[:, calm] == pytest.approx(force[:, calm], abs=0.05)  # N, of 3.3


BODIES = pytest.mark.parametrize(
    "points, h", [(contact_models.LEGS, 1e-3), (contact_models.CORNERS, 2e-3)], ids=["tripod", "box"]
)


@BODIES
def test_random_throws_never_fail_nor_penetrate_nor_gain_energy(points, h):
    check_throws(points, h, range(8))


@pytest.mark.slow
@BODIES
def test_two_hundred_random_throws_never_fail(points, h):
    check_throws(points, h, range(200))


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_stiff_beam_dropped_on_a_floor_comes_to_rest(restitution):
    """Eleven light contacts on a beam whose bending the step does not resolve: its memory must not keep them moving."""
    model = fem.Model("beam on a floor", gravity=[0, 0, -9.81])
    section = fem.Section.rectangle(0.02, 0.02, E=1e11, nu=0.3, density=1000.0)
    ends = np.array([0, 0, 0.05]), np.array([1.0, 0, 0.1])
    beam = model.add(fem.beam_line(*ends, 10, section, orientation=[0, 1, 0], name="beam"))
    for i, node in enumerate(beam.nodes):
        law = {"friction": 0.3, "restitution": restitution}
        model.add(fem.SphereOnPlane(node, model.ground, radius=0.01, name=f"point {i}", **law))
    result = fem.DecoupledNSGA(rho_inf=0.0, persistent_contacts=True).run(model, t_end=0.4, h=1e-3)
    late = result.t > 0.3
    for i in range(11):
        body, contact = result[f"beam node {i}"], result[f"point {i}"]
        assert np.abs(body.velocity[late]).max() < 1e-6 and np.abs(body.angular_velocity[late]).max() < 1e-6
        assert np.all(contact.status[late] == STICK) and contact.gap.min() > -1e-12
    weight = sum(result[f"point {i}"].force_normal[-1] for i in range(11))
    assert weight == pytest.approx(0.02**2 * np.hypot(1.0, 0.05) * 1000.0 * 9.81, rel=1e-4)  # rtol of the iterations
    assert result.energy.total.max() <= result.energy.total[0] * (1 + 1e-9)


def test_closed_contacts_that_repeat_a_joint_start_without_a_shift():
    """A rod on a ball joint whose end sticks to the floor: along the rod the contact repeats the row of the joint."""
    model, end = fem.Model("leaning rod", gravity=[0, 0, -9.81]), 0.5 * np.array([np.cos(0.3), 0, -np.sin(0.3)])
    rod = model.add(fem.RigidBody(1.0, [1e-3, 2e-2, 2.1e-2], position=0.6 * end, name="rod"))
    model.add(fem.Spherical.at(model.ground, rod, [0, 0, 0], name="hinge"))
    floor = model.ground.frame([0, 0, end[2] - 0.02])
    model.add(fem.SphereOnPlane(rod.node.frame_at(end), floor, radius=0.02, friction=0.8, name="floor"))
    given, without = (fem.DecoupledNSGA(epsilon=epsilon).run(model, 0.05, 1e-3) for epsilon in (1e-8, 0.0))
    assert np.abs(without["rod"].velocity).max() < 1e-12 and without["floor"].status[-1] == STICK
    assert without["floor"].force_normal[1:] == pytest.approx(given["floor"].force_normal[1:], rel=1e-6)


def test_a_system_serves_statics_modes_and_steppers_in_any_order():
    system = plate.build().compile()
    keeping = fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=True)
    before = keeping.run(system, t_end=0.05, h=1e-3)
    _, _, _, gradient = system.matrices(system.initial)
    assert gradient.shape == (system.m, system.n)
    fem.initial_accelerations(system, system.initial)
    engine = keeping.prepare(system, 1e-3)
    system.matrices(system.initial)  # has no rows of contacts; those of the engine stay its own
    times, records = np.arange(1, 51) * 1e-3, engine.make_records(50)
    assert engine.march.advance(times, records)[0] == 50
    sphere = system.model["sphere"].node.index
    assert records["position"][-1, sphere] == pytest.approx(before["sphere"].position[-1], abs=1e-12)
