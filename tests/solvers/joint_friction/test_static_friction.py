"""Static and sliding friction of contacts: closed forms of stick-slip, thresholds from both sides, Stribeck's fall."""

import numpy as np
import pytest
from resumed import differences, stopped_and_resumed
from scipy.integrate import quad, solve_ivp

import fem_mbs as fem
from fem_mbs.errors import ModelError, ParameterError
from fem_mbs.rotations import exp

G = 9.81
STATIC, SLIDING = 0.6, 0.4
STICK, SLIP = 1, 2
BOTH = pytest.mark.parametrize("persistent", [False, True])


def method(persistent=False, **options):
    return fem.DecoupledNSGA(persistent_contacts=persistent, **options)


# --- the block on the belt: m 1, k 4, N 1, μ_s 1, μ_k 0.6, belt 0.3 m/s -----------------------------------------------


class Way:
    """Of the belt, by a class that a pickle finds."""

    def __init__(self, speed):
        self.speed = speed

    def __call__(self, t):
        return self.speed * t


def block_on_a_belt(speed=0.3, friction=(1.0, 0.6), damping=0.0, start=0.0, **law):
    model = fem.Model("belt", gravity=[0, 0, -1.0])
    block = fem.PointMass(1.0, position=[start, 0, 0], velocity=[speed, 0, 0], name="block", fixed=("y",))
    belt = fem.RigidBody(1.0, [1, 1, 1], velocity=[speed, 0, 0], fixed=("y", "z", "rx", "ry", "rz"), name="belt")
    model.add(block, belt, fem.Prescribed(belt, x=fem.Signal(Way(speed)), name="drive"))
    model.add(fem.SphereOnPlane(block, belt, radius=0.0, friction=friction, name="rub", **law))
    anchor = model.ground.frame([-10, 0, 0])
    model.add(fem.Spring(anchor, block, stiffness=4.0, free_length=10.0, damping=damping, name="spring"))
    return model


@BOTH
def test_a_block_on_a_belt_sticks_and_slips_as_the_closed_form_says(persistent):
    """Breaks at 0.25 m, turns at 0.330277564 m, sticks at 0.05 m; slips 2.553590050 s and sticks 0.666666667 s."""
    errors = []
    for h in (5e-3, 2.5e-3, 1.25e-3):
        result = method(persistent).run(block_on_a_belt(), 13.3, h)
        x, status, t = result["block"].position[:, 0], result["rub"].status, result.t
        breaks = 1 + np.flatnonzero((status[1:] == SLIP) & (status[:-1] == STICK))
        sticks = 1 + np.flatnonzero((status[1:] == STICK) & (status[:-1] == SLIP))
        breaks = breaks[breaks > 10]
        assert len(breaks) == 4 and len(sticks) == 4
        assert np.diff(t[breaks]) == pytest.approx(3.220257, abs=h)  # events are seen at the ends of steps
        assert t[sticks] - t[breaks] == pytest.approx(2.553590050, abs=1.5 * h)
        assert t[breaks[1:]] - t[sticks[:-1]] == pytest.approx(0.666666667, abs=1.5 * h)
        errors.append([np.abs(x[breaks] - 0.25).max(), abs(x.max() - 0.330277564), np.abs(x[sticks] - 0.05).max()])
        # with persistent contacts the motion is of second order: the belt continues by V h up to the end of the step
        most = 1.02 if persistent else 1.7
        assert (np.array(errors[-1]) < [most * 0.3 * h, 0.1 * h, 1.1 * 0.3 * h]).all(), (h, errors[-1])


def belt_in_closed_form(t):
    """Place of the block at times t: with the belt up to 0.25 m, then about 0.15 m with 2 rad/s down to 0.05 m."""
    x, begin, start = np.empty_like(t), 0.0, 0.0
    slips = 0.5 * np.pi + np.arctan2(0.15, 0.1)  # until its speed is that of the belt again
    while begin <= t[-1]:
        breaks = begin + (0.25 - start) / 0.3
        with_belt, free = (t >= begin) & (t <= breaks), t >= breaks
        x[with_belt] = start + 0.3 * (t[with_belt] - begin)
        x[free] = 0.15 + 0.1 * np.cos(2.0 * (t[free] - breaks)) + 0.15 * np.sin(2.0 * (t[free] - breaks))
        begin, start = breaks + slips, 0.05
    return x


def test_a_block_on_a_belt_is_of_second_order_with_persistent_contacts_wherever_in_a_step_it_breaks_loose():
    """Two cycles and a half; before: 6.1e-4, 1.5e-4, 1.5e-4, 6.8e-5 m at 8, 4, 2, 1 ms."""
    errors = []
    for h in (8e-3, 4e-3, 2e-3):
        result = method(True).run(block_on_a_belt(), 8.0, h)
        errors.append(np.abs(result["block"].position[:, 0] - belt_in_closed_form(result.t)).max())
    assert errors[-1] < 3e-6
    assert (np.log2(np.array(errors[:-1]) / errors[1:]) > 1.8).all(), errors


def test_one_coefficient_given_twice_is_the_same_as_once():
    results = [method().run(block_on_a_belt(friction=mu), 3.0, 1e-2) for mu in (0.6, (0.6, 0.6))]
    assert not differences(*results)


# --- thresholds -------------------------------------------------------------------------------------------------------


def on_a_slope(tan, friction=(STATIC, SLIDING), speed=(0.0, 0.0), turn=0.0, heading=0.0, **law):
    """A block on a plane that rises with tan: turned in itself by ``turn``, its slope looking along ``heading``."""
    model = fem.Model("slope")
    alpha = np.arctan(tan)
    R = exp(np.array([0, 0, heading])) @ exp(np.array([0, alpha, 0]))
    model.gravity = [0, 0, -G]
    block = fem.PointMass(2.0, velocity=R @ [*speed, 0.0], name="block")
    plane = model.ground.frame(rotation=R @ exp(np.array([0, 0, turn])))
    model.add(block, fem.SphereOnPlane(block, plane, radius=0.0, friction=friction, name="rub", **law))
    return model, R


def travel(result, R):
    """Down the slope and across it (k, 2)."""
    return (result["block"].position @ R)[:, :2]


@BOTH
@pytest.mark.parametrize("h", [1e-2, 1e-3])
@pytest.mark.parametrize("ratio, slides", [(0.999, False), (1.001, True)])
def test_a_block_holds_to_its_static_coefficient_and_slides_with_the_other_from_there(ratio, slides, h, persistent):
    tan, heading = ratio * STATIC, 0.7
    model, R = on_a_slope(tan, heading=heading, turn=0.3)
    result = method(persistent).run(model, 0.5, h)
    s = travel(result, R)[-1]
    if slides:
        a = G * np.cos(np.arctan(tan)) * (tan - SLIDING)
        assert s[0] == pytest.approx(0.5 * a * 0.25, rel=5 * h) and abs(s[1]) < 1e-9
    else:
        assert np.abs(s).max() < 1e-9  # rtol g h²: what the iterations leave


@BOTH
@pytest.mark.parametrize("ratio, stays", [(0.999, True), (1.001, False)])
@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_what_slides_up_a_slope_stops_and_stays_below_the_static_coefficient(ratio, stays, h, persistent):
    """It slows down by g (sin α + μ_k cos α), stays if tan α < μ_s, else slides back with sin α − μ_k cos α.

    Wherever in its step it stops: without the second pass it slides back from the last fifth of a step.
    """
    tan = ratio * STATIC
    alpha = np.arctan(tan)
    up, back = G * (np.sin(alpha) + SLIDING * np.cos(alpha)), G * (np.sin(alpha) - SLIDING * np.cos(alpha))
    for v in 1.0 + up * h * np.arange(0.0, 1.0, 0.125):
        model, R = on_a_slope(tan, speed=(-v, 0.0), turn=1.1)
        t_end = 0.3
        result = method(persistent).run(model, t_end, h)
        s, stop = travel(result, R), v / up
        top = -v * v / (2 * up)
        expected = top if stays else top + 0.5 * back * (t_end - stop) ** 2
        assert s[-1, 0] == pytest.approx(expected, abs=1.2 * v * h) and abs(s[-1, 1]) < 1e-9
        assert (result["rub"].status[-1] == STICK) == stays, v
        if stays:  # and it does not creep
            still = result.t > stop + 2 * h
            assert np.ptp(s[still, 0]) < 1e-9  # rtol g h²: what the iterations leave


@pytest.mark.parametrize("turn", [0.0, 0.4, 2.0])
def test_sliding_across_a_slope_has_no_preferred_axes_and_ends_at_rest(turn):
    """Thrown across a slope below the sliding threshold: in the plane against an integration of its equations."""
    tan, v = 0.3, np.array([0.2, 1.0])
    alpha, mu = np.arctan(tan), SLIDING
    normal, down = G * np.cos(alpha), G * np.sin(alpha)

    def rates(t, y):
        speed = np.hypot(y[2], y[3])
        return [y[2], y[3], down - mu * normal * y[2] / speed, -mu * normal * y[3] / speed]

    def rests(t, y):
        return np.hypot(y[2], y[3]) - 1e-4

    rests.terminal = True
    way = solve_ivp(rates, (0, 5), [0, 0, *v], events=rests, rtol=1e-10, atol=1e-12)
    model, R = on_a_slope(tan, speed=tuple(v), turn=turn)
    result = method().run(model, way.t[-1] + 0.2, 1e-3)
    s = travel(result, R)
    assert s[-1] == pytest.approx(way.y[:2, -1], abs=2e-3)
    assert result["rub"].status[-1] == STICK and np.ptp(s[-100:], axis=0).max() < 1e-10


def test_the_work_of_two_coefficients_is_friction_of_sliding_times_the_way():
    model, R = on_a_slope(0.8, speed=(0.5, 0.0))
    result = method(True).run(model, 0.4, 1e-3, balance=True, strict=True)
    way, N = travel(result, R)[-1, 0], 2.0 * G * np.cos(np.arctan(0.8))
    assert result.energy_table().work("rub", "friction") == pytest.approx(-SLIDING * N * way, rel=1e-3)


# --- Stribeck's law ---------------------------------------------------------------------------------------------------


def stribeck(v, scale):
    return SLIDING + (STATIC - SLIDING) * np.exp(-((v / scale) ** 2))


@BOTH
def test_sliding_slows_down_as_the_falling_coefficient_says(persistent):
    """m v̇ = −μ(v) m g on a level plane: the time to stop is ∫ dv/(g μ(v)), the way ∫ v dv/(g μ(v))."""
    scale, v = 0.3, 1.0
    time = quad(lambda u: 1.0 / (G * stribeck(u, scale)), 0, v)[0]
    way = quad(lambda u: u / (G * stribeck(u, scale)), 0, v)[0]
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        model, R = on_a_slope(0.0, speed=(v, 0.0), stribeck_speed=scale)
        result = method(persistent).run(model, time + 0.05, h)
        s = travel(result, R)[:, 0]
        stopped = result.t[np.argmax(result["rub"].status == STICK)]
        assert stopped == pytest.approx(time, abs=1.5 * h)
        errors.append(abs(s[-1] - way))
    assert errors[-1] < 3e-4 and errors[-1] < 0.6 * errors[0], errors


def test_sliding_on_a_falling_coefficient_is_of_second_order_with_persistent_contacts():
    """The coefficient of the predicted speed; with that of the start of the step order 1.0, errors 5.6e-6 at 0.5 ms."""
    scale, v, errors = 0.3, 1.0, []
    exact = solve_ivp(
        lambda t, y: [y[1], -G * stribeck(y[1], scale)], (0, 0.16), [0, v], rtol=1e-12, atol=1e-14, dense_output=True
    )
    for h in (2e-3, 1e-3, 5e-4):
        model, R = on_a_slope(0.0, speed=(v, 0.0), stribeck_speed=scale)
        result = method(True).run(model, 0.16, h)
        errors.append(np.abs(travel(result, R)[:, 0] - exact.sol(result.t)[0]).max())
    assert errors[-1] < 3e-8
    assert (np.log2(np.array(errors[:-1]) / errors[1:]) > 1.9).all(), errors


@pytest.mark.parametrize("damping, steady", [(3.0, True), (0.5, False)])
def test_slow_sliding_is_steady_where_damping_is_more_than_the_fall_of_friction(damping, steady):
    """c > −N dμ/dv at the speed V of the belt: at rest with k x = μ(V) N; below, stick-slip. Slope here: 1.03 N s/m."""
    speed, scale, static, sliding = 0.3, 0.3, 1.0, 0.6
    mu = sliding + (static - sliding) * np.exp(-1.0)
    fall = 2.0 * (static - sliding) * np.exp(-1.0) / scale
    assert 0.5 < fall < 3.0
    model = block_on_a_belt(speed, (static, sliding), damping, start=mu / 4.0 - 0.02, stribeck_speed=scale)
    node = model["block"].node
    node.velocity = [0.01, 0, 0]
    result = method().run(model, 20.0, 5e-3)
    x = result["block"].position[result.t > 12.0, 0]
    if steady:
        assert x == pytest.approx(mu / 4.0, abs=1e-4)
    else:
        assert np.ptp(x) > 0.05


# --- split impacts ----------------------------------------------------------------------------------------------------

M, BALL, SPEED, E, TOUCH = 4.0, 1.0, 2.0, 0.5, 0.2437  # masses [kg], speed of the ball [m/s], restitution, time [s]


def struck_block(place=0.0, speed=0.0, meets=0.0, force=None, angle=0.0, **law):
    """A block on a level floor, and a ball that hits it from above by ``angle`` [rad] at `TOUCH`.

    The block is at ``place`` then and has the speed ``meets``.
    """
    model = fem.Model("impact on a block", gravity=[0, 0, -G])
    block = fem.RigidBody(M, 0.05, fixed=("y", "rx", "ry", "rz"), velocity=[speed, 0, 0], name="block")
    law = {"friction": (STATIC, SLIDING), "name": "floor"} | law
    model.add(block, fem.SphereOnPlane(block, model.ground, radius=0.0, **law))
    if force is not None:
        model.add(fem.PointForce(block, [1, 0, 0], signal=force))
    velocity = (SPEED + meets) * np.array([np.cos(angle), 0, -np.sin(angle)])
    falls = G if angle else 0.0
    start = np.array([place, 0, 0]) - TOUCH * velocity - [0, 0, 0.5 * falls * TOUCH**2]
    velocity += [0, 0, falls * TOUCH]
    fixed = ("y",) if angle else ("y", "z")
    ball = model.add(fem.PointMass(BALL, position=start, velocity=velocity, fixed=fixed, name="ball"))
    face = block.frame([0, 0, 0], [0, angle - np.pi / 2, 0])
    model.add(fem.SphereOnPlane(ball, face, radius=0.0, restitution=E, name="hit"))
    return model


def order_of(build, exact):
    """Errors of place and speed of the block at 0.28 s with steps of 20, 10 and 5 ms."""
    found = [fem.DecoupledNSGA().run(build(), 0.28, h) for h in (0.02, 0.01, 0.005)]
    assert all(result.statistics["split_impacts"] == 1 for result in found)
    return np.array([[r["block"].position[-1, 0] - exact[0], r["block"].velocity[-1, 0] - exact[1]] for r in found])


def test_a_block_that_breaks_loose_and_is_hit_in_the_same_step_is_of_second_order():
    """With one coefficient for both errors of its speed were 1.7 mm/s for all h."""
    breaks = 0.2412

    def velocity(t):
        return G * (STATIC * (t**2 - breaks**2) / (2 * breaks) - SLIDING * (t - breaks))

    way = quad(velocity, breaks, 0.28)[0]
    jump = BALL * (1 + E) * SPEED / (M + BALL)
    exact = way + jump * (0.28 - TOUCH), velocity(0.28) + jump

    def build():
        place = quad(velocity, breaks, TOUCH)[0]
        return struck_block(place, meets=velocity(TOUCH), force=lambda t: STATIC * M * G * t / breaks)

    errors = np.abs(order_of(build, exact))
    # where both are in the step changes with h
    assert (errors < np.array([[0.02], [0.01], [0.005]]) ** 2 * [0.1, 0.6]).all(), errors


def test_a_block_on_a_falling_coefficient_is_hit_with_the_one_of_its_speed_at_the_touch():
    """Order 2; with the coefficient of the start of the step for the time before the touch no impact could be split."""
    scale, start = 0.5, 1.3

    def rates(t, y):
        return [y[1], -G * stribeck(y[1], scale)]

    before = solve_ivp(rates, (0, TOUCH), [0, start], rtol=1e-11, atol=1e-13).y[:, -1]
    after = before[1] + BALL * (1 + E) * SPEED / (M + BALL)
    exact = solve_ivp(rates, (TOUCH, 0.28), [before[0], after], rtol=1e-11, atol=1e-13).y[:, -1]

    def build():
        return struck_block(before[0], start, before[1], stribeck_speed=scale)

    errors = np.abs(order_of(build, exact))
    assert (np.log2(errors[:-1] / errors[1:]) > 1.4).all(), errors
    assert (errors[-1] < [2e-5, 1e-3]).all()


@pytest.mark.parametrize("tan, slides", [(1.55, True), (1.8, False)])
@pytest.mark.parametrize("h", [0.02, 0.01])
def test_an_impact_from_above_holds_to_the_static_coefficient_and_slides_with_the_other_beyond(tan, slides, h):
    """The floor takes tan of the impulse that pushes: 1/1.55 is above 0.6, 1/1.8 below."""
    angle = np.arctan(tan)
    c, s = np.cos(angle), np.sin(angle)
    impulse = (1 + E) * SPEED / (1 / BALL + c * (c - SLIDING * s) / M)
    after = impulse * (c - SLIDING * s) / M if slides else 0.0
    result = fem.DecoupledNSGA().run(struck_block(angle=angle), 0.26, h)
    assert result.statistics["split_impacts"] == 1
    expected = max(after - SLIDING * G * (result.t[-1] - TOUCH), 0.0)
    assert result["block"].velocity[-1, 0] == pytest.approx(expected, abs=1e-9)


# --- together with the rest -------------------------------------------------------------------------------------------


def test_static_friction_of_contacts_and_of_joints_are_found_in_one_step():
    """A carriage on a dry guide with a block on it: each holds to its own static coefficient, from both sides."""
    for ratio, slides in ((0.99, False), (1.01, True)):
        model = fem.Model("carriage", gravity=[0, 0, -G])
        cart = model.add(fem.RigidBody(3.0, [1, 1, 1], name="cart"))
        guide = model.add(fem.Prismatic.at(model.ground, cart, [0, 0, 0], [1, 0, 0], name="guide"))
        model.add(fem.JointFriction(guide, friction=(0.5, 0.3), preload=0.0, name="dry"))
        block = model.add(fem.PointMass(1.0, position=[0, 0, 0.1], name="block"))
        model.add(fem.SphereOnPlane(block, cart.frame([0, 0, 0.1]), radius=0.0, friction=(0.6, 0.2), name="rub"))
        model.add(fem.PointForce(cart, [ratio * 0.5 * 4.0 * G, 0, 0], signal=fem.ramp(duration=0.1)))
        result = method().run(model, 0.3, 1e-3)
        assert (result["cart"].position[-1, 0] > 1e-3) == slides
        # the cart starts with (0.5 − 0.3) g and more, which the block's 0.6 g holds: they go together
        assert result["block"].position[-1, 0] == pytest.approx(result["cart"].position[-1, 0], abs=1e-9)


def test_resumed_runs_continue_with_the_coefficients_they_had(monkeypatch, tmp_path):
    options = {"checkpoint_every": "100 steps"}
    for kills in ((2,), (5,)):  # sticking and slipping
        whole = method().run(block_on_a_belt(), 8.0, 1e-2, save=tmp_path / f"whole{kills}.vtkhdf", **options)
        path = tmp_path / f"parts{kills}.vtkhdf"
        parts = stopped_and_resumed(monkeypatch, method(), block_on_a_belt(), 8.0, 1e-2, path, every=100, kills=kills)
        assert not differences(whole, parts)


@pytest.mark.parametrize(
    "stepper",
    [method(), method(persistent=True), fem.MoreauJean(), fem.ConeComplementarity(relaxed=False)],
    ids=["NSGA", "persistent", "Moreau", "cone"],
)
@pytest.mark.parametrize("part, moves", [(0.99, False), (1.01, True)])
def test_four_feet_of_one_body_hold_together_up_to_static_friction(stepper, part, moves):
    """Their impulses are not unique: some are at their bounds while the body sticks."""
    slope = np.arctan(part * STATIC)
    model = fem.Model("feet", gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
    body = model.add(fem.RigidBody(1.0, [0.1, 0.1, 0.1], position=[0, 0, 0.1], name="body"))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        foot = body.frame([0.3 * x, 0.3 * y, 0])
        model.add(fem.SphereOnPlane(foot, model.ground, radius=0.1, friction=(STATIC, SLIDING), name=f"foot {k}"))
    speed = stepper.run(model, 0.1, 2e-3)["body"].velocity[-1, 0]
    slides = 0.1 * G * (np.sin(slope) - SLIDING * np.cos(slope))
    assert speed == pytest.approx(slides, rel=0.02) if moves else abs(speed) < 1e-8


def test_a_system_is_as_it_was_for_the_next_run():
    system = block_on_a_belt().compile()
    first, second = (method().run(system, 3.0, 1e-2) for _ in range(2))
    assert not differences(first, second)


def test_what_does_not_support_two_coefficients_rejects_them_in_words():
    model, _ = on_a_slope(0.1)
    with pytest.raises(ParameterError, match=r"contact_solver.*static and sliding.*'rub'"):
        method(contact_solver="problem").run(model, 0.1, 1e-2)
    with pytest.raises(ModelError, match=r"'rub'.*static and sliding.*load paths"):
        fem.static_equilibrium(model)
    with pytest.raises(ParameterError, match=r"friction = .*static and sliding"):
        fem.CompliantContact(model["rub"], stiffness=1e4, restitution=0.5)


@pytest.mark.parametrize(
    "law, message",
    [
        ({"friction": (0.3, 0.5)}, r"friction = \(0\.3, 0\.5\).*≥ sliding"),
        ({"friction": (0.3, 0.2, 0.1)}, r"friction = .*one number or"),
        ({"friction": (0.3, -0.1)}, "friction = -0.1"),
        ({"friction": 0.3, "stribeck_speed": 0.1}, r"'rub'.*stribeck_speed.*two"),
        ({"friction": (0.3, 0.2), "stribeck_speed": -1.0}, "stribeck_speed = -1"),
        ({"friction": (0.3, 0.2), "radius_contensou": 0.1}, r"'rub'.*radius_contensou.*one"),
        ({"friction": (0.3, 0.2), "tangential_restitution": 0.1}, r"'rub'.*tangential_restitution.*one"),
    ],
)
def test_bad_coefficients_are_rejected_in_words(law, message):
    with pytest.raises(ParameterError, match=message):
        on_a_slope(0.1, **law)
