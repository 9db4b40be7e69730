"""Set-valued friction in joints against closed forms and a reference (docs/theory/joint_friction.md)."""

import friction_models as models
import numpy as np
import pytest

import fem_mbs as fem

# κ, N for v = +1, N for v = −1: 2 M/(b (1 ± κ)) with M = 1 N m, b = 0.4 m
GUIDE = [(k, 5.0 / (1.0 + k), 5.0 / (1.0 - k)) for k in (0.3, 0.6, 0.9, 0.99)]


@pytest.mark.parametrize("kappa, forwards, backwards", GUIDE)
def test_guide_presses_as_much_as_its_own_friction_makes_it(kappa, forwards, backwards):
    for velocity, N in ((1.0, forwards), (-1.0, backwards)):
        found = models.run(models.guide(kappa, velocity), 3e-3, 1e-3)["friction"]
        np.testing.assert_allclose(found.bound / 0.5, N, rtol=1e-9)
        np.testing.assert_allclose(found.force, -velocity * 0.5 * N, rtol=1e-9)
        np.testing.assert_allclose(found.kappa[1:], -velocity * kappa, rtol=1e-6)  # shift of redundant rows: 1e-8


@pytest.mark.parametrize("h, pressure", [(1e-2, 3.05), (1e-3, 3.005), (1e-4, 3.0005)])
def test_guide_that_cannot_slide_jams_by_an_impulse_independent_of_the_step(h, pressure):
    result = models.run(models.guide(1.5, -1.0), 2 * h, h)
    found = result["friction"]
    assert found.status.tolist() == [-1.0, 2.0, 0.0]
    assert h * found.force[1] == pytest.approx(1.0, rel=1e-9)  # takes m v
    assert h * found.bound[1] / 0.5 == pytest.approx(pressure, rel=1e-9)
    assert abs(result["slider"].velocity[1:, 0]).max() < 1e-12  # to which rows are solved: 3e-13 of the speed
    assert result.statistics["jammed_joints"] == 1
    assert "JointFriction 'friction' jammed" in result.warnings[0] and "κ = 1.5" in result.warnings[0]


def test_guide_with_kappa_above_one_slides_the_other_way():
    found = models.run(models.guide(1.5, 1.0), 3e-3, 1e-3)["friction"]
    np.testing.assert_allclose(found.bound / 0.5, 2.0, rtol=1e-9)


@pytest.mark.parametrize(
    "offset, restitution, impulse", [(0.1, 0.5, 2.0), (0.1, 0.8, 2.4), (0.3, 0.5, 6.0), (0.3, 0.8, 7.2)]
)
def test_stop_next_to_the_guide_is_hit_with_the_friction_of_its_own_impulse(offset, restitution, impulse):
    result = models.run(models.guide(moment=0.0, stop=offset, restitution=restitution), 0.03, 1e-3)
    assert result["stop"].impulse[:, 0].max() == pytest.approx(impulse, rel=1e-9)  # m v (1 + e)/(1 − 2 μ c/b)
    assert result["slider"].velocity[-1, 0] == pytest.approx(-restitution, rel=1e-9)


def test_hinge_that_friction_holds_does_not_creep():
    result = models.run(models.pendulum(start=0.0, moment=0.2), 2.0, 1e-2)  # it can hold 0.2943
    assert abs(result["hinge"].angle).max() < 1e-15
    np.testing.assert_allclose(result["friction"].force, -0.2, rtol=1e-9)
    np.testing.assert_allclose(result["friction"].bound, 0.3 * 0.1 * 9.81, rtol=1e-9)


@pytest.mark.parametrize("load, way", [(0.999, 0.0), (1.001, 0.5 * 0.401)])
def test_block_holds_up_to_its_static_friction(load, way):
    result = models.run(models.block(load), 1.0, 1e-2)
    assert result["block"].position[-1, 0] == pytest.approx(way, rel=1e-2, abs=1e-15)


@pytest.mark.parametrize("load, stays", [(0.8, True), (0.999, True), (1.001, False)])
@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_thrown_block_stays_where_static_friction_holds_it(load, stays, h):
    result = models.run(models.block(-load, velocity=1.0), 1.0, h)
    x = result["block"].position[:, 0]
    assert x.max() == pytest.approx(1 / (2 * (load + 0.6)), rel=60 * h**2 + 1e-9)  # ½ a (part of a step)²
    assert (abs(x[-1] - x.max()) < 20 * h**2) == stays


def test_block_on_a_belt_breaks_loose_with_second_order():
    """The amplitude after the first breakaway; its place falls anywhere in a step."""
    errors = []
    for h in (1e-2, 5e-3, 2.5e-3, 1.25e-3):
        result = models.run(models.block(velocity=0.3, position=0.2, stiffness=4.0, speed=0.3), 1.5, h)
        t, x = result.t, result["block"].position[:, 0]
        i = x.argmax()
        a, b, c = np.polyfit(t[i - 2 : i + 3] - t[i], x[i - 2 : i + 3], 2)
        errors.append(abs(c - b * b / (4 * a) - 0.330277564))
        assert not result.warnings  # the belt gives the energy
    assert max(np.array(errors) / np.array([1e-2, 5e-3, 2.5e-3, 1.25e-3]) ** 2) < 0.4  # 0.2 … 0.24 measured


def test_block_on_a_belt_has_the_period_of_the_closed_form():
    result = models.run(models.block(velocity=0.3, stiffness=4.0, speed=0.3), 33.0, 2.5e-3)
    status = result["friction"].status
    breaks = result.t[1:][(status[:-1] == 0) & (status[1:] != 0)]
    assert len(breaks) == 10
    assert np.diff(breaks).mean() == pytest.approx(2 * 0.1 / 0.3 + 2.553590050, abs=5e-4)  # seen at ends of steps


def exact_pendulum(t_end):
    """Angle, rate and torque at t_end, from θ' θ' as a closed form between the turning points, by integration."""
    from scipy.integrate import solve_ivp

    factor = 0.03 / np.sqrt(1 - 0.03**2)
    t, y, s = 0.0, np.array([np.pi / 3, 0.0]), -1.0
    while True:

        def rates(_, y, s=s):
            return [y[1], -9.81 * np.sin(y[0]) - s * factor * (y[1] ** 2 + 9.81 * np.cos(y[0]))]

        def turns(now, y, begin=t, s=s):
            return y[1] if now > begin + 0.1 else s

        turns.terminal = True
        found = solve_ivp(rates, [t, t_end], y, method="DOP853", rtol=1e-11, atol=1e-12, events=turns)
        t, y = found.t[-1], found.y[:, -1].copy()
        if found.status != 1:
            return np.array([*y, -s * factor * (y[1] ** 2 + 9.81 * np.cos(y[0]))])
        y[1], s = 0.0, -s


@pytest.mark.parametrize("t_end", [1.0, 4.0])  # before the first reversal, after three
def test_pendulum_is_of_second_order_through_its_reversals(t_end):
    exact, steps = exact_pendulum(t_end), np.array([8e-3, 4e-3, 2e-3, 1e-3])
    errors = []
    for h in steps:
        result = models.run(models.pendulum(), t_end, h)
        hinge = result["hinge"]
        end = [hinge.angle[-1] + np.pi / 3, hinge.rate[-1], result["friction"].force[-1]]
        errors.append(np.abs(end - exact))
    orders = np.diff(np.log(errors), axis=0) / np.log(
        0.5
    )  # at each halving: where reversals fall in steps is no matter
    assert (abs(orders - 2) < 0.06).all(), f"orders {orders}, errors {errors}"
    assert (errors[-1] < [1e-5, 4e-5, 4e-6]).all()  # 7.4e-6, 3.2e-5, 3.4e-6 measured


# Angles from hanging down and spatial rates, of the equations of motion by hand, integrated piece by piece between
# changes of status (DOP853, 1e-13)
SWUNG = {0.6: (-0.31865706943, -0.24228198198, -1.0495544832, -7.53602599439),
         3.0: (-0.60110623376, -0.86830521393, 0.4766197704, 0.4766197704)}  # fmt: skip


def test_double_pendulum_that_reverses_and_sticks_follows_its_equations_with_second_order():
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        result = models.run(models.double_pendulum(), 3.0, h)
        shoulder, elbow = result["shoulder"], result["elbow"]
        angle, rate = shoulder.angle + 1.3, shoulder.rate
        found = np.array([angle, angle + elbow.angle - 1.1, rate, rate + elbow.rate])
        errors.append([abs(found[:, round(t / h)] - exact).max() for t, exact in SWUNG.items()])
        assert result["elbow friction"].status[-1] == 0
    ratios = np.divide(errors[0], errors[2])
    assert ((ratios > 12) & (ratios < 20)).all(), f"{errors}"  # 16 at order 2
    assert (errors[2] < np.array([2e-4, 6e-5])).all()  # 1.3e-4, 3.7e-5 measured


@pytest.mark.parametrize("steps", [50, 51, 53, 57, 120, 247])
@pytest.mark.parametrize("mu", [0.3, 1.2, 1.9])
def test_velocity_after_a_reversal_is_exact_wherever_it_falls_in_its_step(mu, steps):
    """A block thrown against its load: deceleration F + μ N, acceleration F − μ N back, whatever μ N / F."""
    load, end = 2.0, 1.0
    result = models.run(models.block(-load, (mu, mu), velocity=1.0), end, end / steps)
    stands = 1 / (load + mu)
    back = (load - mu) * (end - stands)
    assert result["block"].velocity[-1, 0] == pytest.approx(-back, abs=1e-12)
    way = 0.5 * stands + 0.5 * back * (end - stands)
    assert result["friction"].dissipated[-1] == pytest.approx(mu * way, abs=1e-12)


@pytest.mark.parametrize("steps", [60, 67, 120, 123, 240])  # 60, 120, 240: just as a step ends
def test_velocity_after_breaking_loose_is_of_second_order_also_where_a_step_ends(steps):
    """A load that grows as 20 t breaks 1 N loose at 0.05 s, against 0.6 N from then on."""
    end, loose, h = 0.6, 0.05, 0.6 / steps
    model = models.block(None, (1.0, 0.6))
    model.add(fem.PointForce(model["block"].frame(), lambda t: [20 * t, 0, 0]))
    velocity = models.run(model, end, h)["block"].velocity[-1, 0]
    exact = 10 * (end**2 - loose**2) - 0.6 * (end - loose)
    assert abs(velocity - exact) < 11 * h**2  # 10.1 h² measured, and h (1 − 0.6) where it slides a step too early


def test_pendulum_comes_to_rest_where_and_when_the_closed_form_says():
    result = models.run(models.pendulum(), 17.0, 4e-3)
    angle, rate = result["hinge"].angle + np.pi / 3, result["hinge"].rate
    moving = rate[np.abs(rate) > 1e-6]
    assert (np.diff(np.sign(moving)) != 0).sum() == 13
    assert angle[-1] == pytest.approx(0.021036904, abs=2e-5)  # 1.2e-5 measured, 4.7e-5 at twice the step
    assert abs(rate[-1]) < 1e-14
    energy, work = result.energy.total, result["friction"].dissipated
    assert abs(energy - energy[0] + work).max() < 3e-4  # 6.8e-5 J of 4.9 J measured at the end


REFERENCE = {0.1: (1.344265354, 7.078848, 0.764158691), 0.2: (2.104205904, 9.039910, 1.466557959),
             0.4: (4.623916191, 8.945214, 3.953836564)}  # fmt: skip


def test_crank_slider_with_four_frictions_follows_its_reference_with_second_order():
    errors = []
    for h in (1e-3, 5e-4):
        result = models.run(models.crank_slider(), 0.8, h)
        angle, rate = np.unwrap(result["main"].angle) + 0.5, result["main"].rate
        work = sum(result[f"{name} friction"].dissipated for name in ("main", "pin", "wrist", "guide"))
        at = [round(t / h) for t in REFERENCE]
        errors.append(np.abs(np.array([angle[at], rate[at], work[at]]).T - list(REFERENCE.values())))
        balance = result.energy.total - result.energy.total[0] + work
        assert abs(balance[-1]) < 6e-5  # J of 6.44: 1.5e-5 and 2.8e-5 measured
        assert not result.warnings and not result.statistics["repeated_steps"]
    assert (errors[1] < [[4e-6, 5e-5, 6e-6], [1.2e-5, 1.4e-4, 1e-5], [5e-6, 5e-5, 1.2e-5]]).all()
    assert (errors[1] / errors[0] < 0.3).all()


def test_friction_of_many_joints_that_come_to_rest_is_solved():
    """A chain that falls: Newton's iteration cycles between statuses of rows with little load in some steps."""
    model = fem.Model("chain", gravity=[0, -9.81, 0])
    last, works = model.ground, []
    for i in range(20):
        body = model.add(fem.RigidBody(1.0, np.diag([0.01, 0.02, 0.02]), position=[i + 0.5, 0, 0]))
        joint = model.add(fem.Revolute.at(last, body, [i, 0, 0], [0, 0, 1]))
        works.append(model.add(fem.JointFriction(joint, 0.2, radius=0.02)).name)
        last = body
    result = models.run(model, 0.05, 2e-4, divide_failed_steps=False)
    assert not result.warnings
    energy = result.energy.total + sum(result[work].dissipated for work in works)
    assert abs(energy - energy[0]).max() < 1e-4 * result.energy.kinetic.max()
    for work in works:
        found = result[work]
        # solved to rtol of all forces, 1e-6 × 200 N × 0.02 m; 2e-9 measured
        assert (np.abs(found.force) <= found.bound + 1e-7).all()


def discs(speed):
    """A disc of 1 kg m² about the z axis of the ground, with an initial speed."""
    model = fem.Model("discs")
    disc = model.add(fem.RigidBody(1.0, np.eye(3), angular_velocity=[0, 0, speed], name="disc"))
    axle = model.add(fem.Revolute.at(model.ground, disc, [0, 0, 0], [0, 0, 1], name="axle"))
    return model, disc, axle


def test_brake_that_is_put_on_stops_a_disc_in_time():
    model, _, axle = discs(10.0)
    model.add(fem.JointFriction(axle, 1.0, preload=lambda t: 5.0 if t >= 0.5 else 0.0, name="brake"))
    result = models.run(model, 3.0, 5e-3)
    stops = result.t[(result["brake"].status == 0) & (result.t > 0.5)][0]
    assert stops == pytest.approx(0.5 + 10 / 5, abs=5e-3)
    assert result["brake"].dissipated[-1] == pytest.approx(50.0, rel=1e-5)


def test_clutch_brings_two_discs_to_one_speed_and_keeps_the_momentum():
    model, disc, _ = discs(10.0)
    other = model.add(fem.RigidBody(1.0, 2 * np.eye(3), name="other"))
    joint = model.add(fem.Revolute.at(disc, other, [0, 0, 0], [0, 0, 1], name="pilot bearing"))
    model.add(fem.JointFriction(joint, 1.0, preload=2.0, name="clutch"))
    result = models.run(model, 4.0, 1e-2)
    closes = result.t[result["clutch"].status == 0][0]
    assert closes == pytest.approx(10 / (2 / 1 + 2 / 2), abs=1e-2)
    for name in ("disc", "other"):
        assert result[name].angular_velocity[-1, 2] == pytest.approx(10 / 3, rel=1e-10)
    assert result["clutch"].dissipated[-1] == pytest.approx(0.5 * 100 * 2 / 3, rel=1e-10)


def test_motor_with_a_torque_limit_reaches_its_speed_and_follows_it():
    model, _, axle = discs(0.0)
    model.add(fem.JointFriction(axle, 1.0, preload=2.0, speed=lambda t: 3.0 + np.sin(t), name="motor"))
    result = models.run(model, 5.0, 1e-2)
    assert result["axle"].rate[-1] == pytest.approx(3.0 + np.sin(5.0), rel=1e-10)
    assert result["motor"].force[-1] == pytest.approx(np.cos(5.0), abs=1e-4)  # 2.4e-6 measured
    assert not result.warnings


@pytest.mark.parametrize("rho_inf", [0.0, 0.5])
def test_hinge_of_a_flexible_rod_is_not_shaken_by_its_friction(rho_inf):
    """Statuses change at a node of little inertia; the work of friction is what the energy loses."""
    from fem_mbs.warmup import flexible_pendulum

    model = flexible_pendulum()
    model.elements = [element for element in model.elements if not isinstance(element, fem.SphereOnPlane)]
    hinge = next(element for element in model.elements if isinstance(element, fem.Revolute))
    model.add(fem.JointFriction(hinge, 0.3, radius=0.02, name="friction"))
    result = fem.DecoupledNSGA(rho_inf=rho_inf).run(model, t_end=0.2, h=1e-3)
    lost = result.energy.total[0] - result.energy.total[-1]
    assert lost == pytest.approx(0.004085, rel=0.02)  # at a quarter of the step
    assert result["friction"].dissipated[-1] == pytest.approx(0.004085, rel=0.03)


@pytest.mark.parametrize("h", [2.5e-4, 3e-4])
def test_friction_of_the_pins_does_not_hold_a_slider_in_front_of_its_stop(h):
    """Pins that brace each other held it 9 µm in front of the stop, for 12 steps with −0.96 m/s."""
    import slider_crank_friction as mechanism

    start = np.sqrt(mechanism.rod**2 - (mechanism.crank * np.sin(mechanism.angle)) ** 2)
    start += mechanism.crank * np.cos(mechanism.angle)
    stops = fem.Stops(lower=mechanism.stop - start, restitution=mechanism.e)
    system = mechanism.build(stops=stops).compile(redundant="allow")
    result = fem.DecoupledNSGA().run(system, 0.2415, h)
    guide = result["guide"]
    assert result.impact_times("guide lower stop") == pytest.approx([0.2385095], abs=1e-6)  # with 0.05 ms
    smooth = np.flatnonzero(result["guide lower stop"].impact == 0)[1:]
    travelled, mean = np.diff(guide.displacement) / h, 0.5 * (guide.rate[1:] + guide.rate[:-1])
    assert travelled[smooth - 1] == pytest.approx(mean[smooth - 1], abs=1e-5)


# --- contacts at rest that joint friction could hold for a step -------------------------------------------------------


def links_that_come_to_rest(number, restitution=0.5):
    """One or two links with friction in their hinges, which fall on a rough floor and come to rest there."""
    model = fem.Model("links", gravity=[0, 0, -9.81])
    law = fem.DryFriction(0.1, radius=0.02)
    link = model.add(fem.RigidBody(1.0, [1e-3, 0.02, 0.02], position=[0.25, 0, 0], name="link"))
    model.add(fem.Revolute.at(model.ground, link, [0, 0, 0], [0, 1, 0], friction=law, name="hinge"))
    tip, floor = link.frame([0.25, 0, 0]), [0, 0, -0.05]
    if number == 2:
        model = fem.Model("links", gravity=[0, 0, -9.81])
        upper = model.add(fem.RigidBody(1.0, [1e-3, 0.02, 0.02], position=[0.25, 0, 0], name="link"))
        place = {"position": [0.5, 0, -0.2], "rotation": [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]}
        lower = model.add(fem.RigidBody(0.6, [1e-3, 0.01, 0.01], name="lower", **place))
        stops = {"stops": fem.Stops(-0.3, 0.6, restitution=restitution), "friction": law}
        model.add(fem.Revolute.at(model.ground, upper, [0, 0, 0], [0, 1, 0], friction=law, name="hinge"))
        model.add(fem.Revolute.at(upper, lower, [0.5, 0, 0], [0, 1, 0], name="knee", **stops))
        tip, floor = lower.frame([0.2, 0, 0]), [0, 0, -0.55]
    plane = model.ground.frame(floor)
    model.add(fem.SphereOnPlane(tip, plane, radius=0.02, restitution=restitution, friction=0.2, name="tip"))
    return model


@pytest.mark.parametrize("number, options", [(1, {"persistent_contacts": False}), (2, {}), (2, {"impacts": "plain"})])
def test_links_with_friction_in_their_hinges_that_came_to_rest_on_a_floor_stay_there(number, options):
    """Joints that stick hold them in the smooth motion with more than their bounds, where the floor gives no force."""
    result = fem.DecoupledNSGA(**options).run(links_that_come_to_rest(number), 0.5, 2e-3)
    late = result.t > 0.42
    assert abs(result["hinge"].rate[late]).max() < 1e-9  # before: −0.06 rad/s in every fifth step, g h over its arm
    assert result["tip"].impulse[late, 0].min() > 0.0
    assert np.diff(result.energy.total)[late[1:]].max() < 1e-9
