"""Friction on an ellipse, against integrations of its equation of motion and closed forms, with every time stepper."""

import numpy as np
import pytest
from every_stepper import WITH_CONTACTS, every_method_with_contacts, label
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from switch_runs import Run, masses_on_a_table

import fem_mbs as fem
from fem_mbs.errors import SolverError
from fem_mbs.rotations import exp

G = 9.81  # m/s²
MU = (0.2, 0.5)  # along and across
MASS = 2.0  # kg


def ellipse(v, mu=MU):
    """Friction per normal force of a sliding velocity (2,) along the axes: −M² v/|M v|."""
    M = np.diag(mu)
    return -M @ M @ v / np.linalg.norm(M @ v)


def turned(angle):
    """Axes (2, 2), columns, turned in the plane."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def slider(velocity, mu=MU, axis=(1, 0, 0), gravity=(0, 0, -G), frame=None, **law):
    """A point mass on the plane z = 0 of the ground, or of a frame."""
    model = fem.Model("slider", gravity=gravity)
    point = model.add(fem.PointMass(MASS, velocity=velocity, name="point"))
    friction = fem.AnisotropicFriction(*mu, axis)
    model.add(fem.SphereOnPlane(point, frame or model.ground, radius=0.0, friction=friction, name="floor", **law))
    return model


def sliding(velocity, time, acceleration=(0, 0), angle=0.0):
    """Position and velocity (4,) of the point by integration: accelerations of gravity and of friction."""
    E = turned(angle)

    def rate(_, y):
        return [*y[2:], *(acceleration + G * E @ ellipse(E.T @ y[2:]))]

    return solve_ivp(rate, (0, time), [0, 0, *velocity], rtol=1e-12, atol=1e-13).y[:, -1]


ORDERS = {"LobattoIIIAB": 4, "LobattoIIIAB stages=2": 2, "NonsmoothGeneralizedAlphaFriction": 2,
          "DecoupledNSGA": 2, "DecoupledNSGA impacts=split": 2}  # fmt: skip
# the relaxed law lifts what slides fast: compared with its own law below
EXACT_LAW = [method for method in WITH_CONTACTS if not getattr(method, "relaxed", False)]


@pytest.mark.parametrize("method", EXACT_LAW, ids=label)
def test_a_sliding_point_deviates_as_the_ellipse_makes_it(method):
    velocity, time, angle = np.array([2.0, 1.0]), 0.25, 1.0
    exact = sliding(velocity, time, angle=angle)
    straight = velocity * (exact[:2] @ velocity) / (velocity @ velocity)
    assert np.linalg.norm(exact[:2] - straight) > 0.02  # an isotropic law would be seen
    errors = []
    for h in (1e-2, 5e-3):
        result = method.run(slider([*velocity, 0], axis=[np.cos(angle), np.sin(angle), 0]), time, h)
        errors.append(np.abs(result["point"].position[-1, :2] - exact[:2]).max())
        np.testing.assert_allclose(result["point"].position[:, 2], 0.0, atol=1e-9)
    order = ORDERS.get(label(method), 1)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.12), errors
    assert errors[1] < {1: 2e-3, 2: 2e-5, 4: 1e-9}[order]


@every_method_with_contacts
def test_friction_is_that_of_the_ellipse_in_every_step(method):
    result = method.run(slider([2.0, 1.0, 0.0]), 0.05, 1e-3)
    point, floor = result["point"].velocity, result["floor"]
    closed = floor.impulse[:, 0] > 0.0
    assert closed.any()  # the relaxed law lifts what slides fast
    if label(method).startswith(("MoreauJean", "ConeComplementarity")):  # laws of the velocities at the end of the step
        expected = floor.impulse[:, :1] * np.array([ellipse(v[:2]) for v in point])
        np.testing.assert_allclose(floor.impulse[closed, 1:], expected[closed], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.diff(point[:, :2], axis=0), floor.impulse[1:, 1:] / MASS, atol=1e-7)
    np.testing.assert_allclose(floor.tangents[-1].reshape(2, 3), np.eye(3)[:2], atol=1e-12)


# --- sticking and breaking loose --------------------------------------------------------------------------------------

SLOPE_AXIS = 0.7  # rad, of the grooves to the direction of the slope


def limit(angle, mu=MU):
    """Tangent of the slope at which a block on grooves at an angle to it breaks loose."""
    return 1.0 / np.hypot(np.cos(angle) / mu[0], np.sin(angle) / mu[1])


def on_slope(tangent, mu=MU, block=False, angle=SLOPE_AXIS):
    """A point or a block at rest on a slope in x, whose plane is z = 0, with grooves at an angle."""
    gravity = G * np.array([tangent, 0.0, -1.0]) / np.hypot(tangent, 1.0)
    axis = [np.cos(angle), np.sin(angle), 0]
    if not block:
        return slider([0, 0, 0], mu, axis, gravity)
    model = fem.Model("block", gravity=gravity)
    body = model.add(fem.RigidBody.box(MASS, [0.3, 0.2, 0.1], position=[0, 0, 0.05], name="point"))
    friction = fem.AnisotropicFriction(*mu, axis)
    model.add(fem.BoxOnPlane(body, model.ground, size=[0.3, 0.2, 0.1], friction=friction, name="floor"))
    return model


def breaks_loose(tangent, angle=SLOPE_AXIS):
    """Acceleration (2,) from rest: along d with g_T + g_N λ(d) = a d, found by its direction."""
    pull, press = G * np.array([tangent, 0.0]) / np.hypot(tangent, 1.0), G / np.hypot(tangent, 1.0)
    E = turned(angle)

    def net(phi):
        return pull + press * E @ ellipse(E.T @ [np.cos(phi), np.sin(phi)])

    def across(phi):
        return net(phi) @ [-np.sin(phi), np.cos(phi)]

    normal = E @ (E.T @ pull / np.square(MU))  # of the ellipse at the pull: the direction at the limit
    phi = np.arctan2(normal[1], normal[0])
    return net(brentq(across, phi - 0.5, phi + 0.5, xtol=1e-14))


@every_method_with_contacts
def test_a_point_on_a_slope_sticks_below_and_slides_above_the_ellipse(method):
    held = method.run(on_slope(0.999 * limit(SLOPE_AXIS)), 0.3, 2e-3)
    assert np.abs(held["point"].position[-1, :2]).max() < 1e-8
    loose = method.run(on_slope(1.05 * limit(SLOPE_AXIS)), 0.3, 2e-3)
    expected = breaks_loose(1.05 * limit(SLOPE_AXIS))
    velocity = loose["point"].velocity[-1, :2]
    # the direction does not change from rest on, and is far from that of the slope
    np.testing.assert_allclose(velocity, 0.3 * expected, rtol=2e-2, atol=2e-4)
    assert abs(np.arctan2(velocity[1], velocity[0])) > 0.4


def test_the_direction_at_the_limit_is_the_normal_of_the_ellipse():
    pull = turned(SLOPE_AXIS).T @ [1.0, 0.0]
    normal = turned(SLOPE_AXIS) @ (pull / np.square(MU))
    velocity = fem.DecoupledNSGA().run(on_slope(1.001 * limit(SLOPE_AXIS)), 0.3, 1e-3)["point"].velocity[-1, :2]
    angle = np.arctan2(velocity[1], velocity[0]) - np.arctan2(normal[1], normal[0])
    expected = breaks_loose(1.001 * limit(SLOPE_AXIS))
    assert angle == pytest.approx(0.0, abs=5e-3)  # 0.1 % above the limit
    np.testing.assert_allclose(velocity, 0.3 * expected, rtol=1e-4)
    steep = 1.05 * limit(SLOPE_AXIS)
    velocity = fem.DecoupledNSGA().run(on_slope(steep), 0.3, 2e-3)["point"].velocity[-1, :2]
    # 1e-6 measured; 3e-5 where the memory keeps the force that held the point
    np.testing.assert_allclose(velocity, 0.3 * breaks_loose(steep), rtol=5e-6)


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean()], ids=label)
def test_a_block_on_four_corners_moves_as_a_point_does(method):
    held = method.run(on_slope(0.99 * limit(SLOPE_AXIS), block=True), 0.3, 2e-3)
    assert np.abs(held["point"].position[-1, :2]).max() < 1e-7
    loose = method.run(on_slope(1.05 * limit(SLOPE_AXIS), block=True), 0.3, 2e-3)
    expected = 0.3 * breaks_loose(1.05 * limit(SLOPE_AXIS))
    np.testing.assert_allclose(loose["point"].velocity[-1, :2], expected, rtol=2e-3)
    # the resultant of the corners passes below the centre: no moment about the normal
    assert np.abs(loose["point"].angular_velocity[-1]).max() < 1e-3


def test_static_equilibrium_holds_within_the_ellipse_and_not_beyond():
    for part, axis in ((0.98, SLOPE_AXIS), (0.98, SLOPE_AXIS + np.pi / 2)):
        tangent = part * limit(axis)
        model = on_slope(tangent, angle=axis)
        result = fem.static_equilibrium(model)
        pull = turned(axis).T @ model.gravity[:2]
        expected = -MASS * np.array([model.gravity[2], *pull])  # of the contact: normal, along and across
        np.testing.assert_allclose(result.contact_force(model["floor"]), expected, rtol=1e-9)
        np.testing.assert_allclose(result["floor"].force[-1], expected, rtol=1e-9)
    with pytest.raises(SolverError, match="Friction was used up"):
        fem.static_equilibrium(on_slope(1.02 * limit(SLOPE_AXIS)))


# --- impacts ----------------------------------------------------------------------------------------------------------

BEFORE = np.array([1.5, -2.5, -1.0])


def after_impact(e_N, e_T=0.0, mu=MU):
    """Velocity (3,) after an impact of a point by the discrete law, λ opposite to w = v⁺ + e_T v⁻."""
    normal = -(1.0 + e_N) * BEFORE[2]  # impulse/mass
    squares = np.square(mu)

    def reversed_velocity(k):
        return (1.0 + e_T) * BEFORE[:2] / (1.0 + k * squares)

    k = brentq(lambda k: k * np.linalg.norm(mu * reversed_velocity(k)) - normal, 0.0, 1e3, xtol=1e-14)
    return np.array([*(reversed_velocity(k) - e_T * BEFORE[:2]), normal + BEFORE[2]])


def hit(method, e_N, e_T=0.0, save_every=1):
    model = fem.Model("hit", gravity=[0, 0, 0])
    point = model.add(fem.PointMass(MASS, position=[0, 0, 0.0205], velocity=BEFORE, name="point"))
    law = {"restitution": e_N, "tangential_restitution": e_T, "friction": fem.AnisotropicFriction(*MU)}
    model.add(fem.SphereOnPlane(point, model.ground, radius=0.0, name="floor", **law))
    return method.run(model, 0.04, 1e-3, save_every=save_every)


@every_method_with_contacts
@pytest.mark.parametrize("e_N", [0.0, 0.6])
def test_oblique_impacts_follow_the_ellipse(method, e_N):
    if getattr(method, "relaxed", False) or (e_N == 0.0 and "ConeComplementarity" in label(method)):
        pytest.skip("another law of impact: the gap of the step before is closed first")
    result = hit(method, e_N, save_every=4)
    expected = after_impact(e_N)
    np.testing.assert_allclose(result["point"].velocity[-1], expected, atol=1e-7)
    impulse = result["floor"].impulse.sum(axis=0)
    np.testing.assert_allclose(impulse, MASS * np.roll(expected - BEFORE, 1), atol=1e-6)


def test_tangential_restitution_acts_along_both_axes():
    result = hit(fem.DecoupledNSGA(), 0.6, 0.5)
    np.testing.assert_allclose(result["point"].velocity[-1], after_impact(0.6, 0.5), atol=1e-9)


@pytest.mark.parametrize("law", ["stronge", "poisson"])
def test_impacts_integrated_along_their_impulse_turn_with_the_ellipse(law):
    result = hit(fem.DecoupledNSGA(impacts="split", impact_law=law), 0.6)
    normal = -1.6 * BEFORE[2]  # friction does not change the normal velocity of a point: both laws are Newton's
    course = solve_ivp(lambda _, v: ellipse(v), (0.0, normal), BEFORE[:2], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(result["point"].velocity[-1], [*course.y[:, -1], 0.6], atol=1e-7)


def test_velocity_jumps_of_switches_have_forces_on_the_ellipse():
    """2 kg with 1 m/s down and sideways are attached to 1 kg on the table: impulses 2 down, friction on the ellipse."""
    angle = 0.6
    law = fem.AnisotropicFriction(*MU, [np.cos(angle), np.sin(angle), 0])
    run = Run(fem.DecoupledNSGA(), masses_on_a_table(-1.0, mu=law, sideways=1.0), 1e-2).take(5)
    told, start, squares = run.switch("grip", True), turned(angle).T @ [2.0, 0.0], np.square(MU)
    k = brentq(lambda k: k * np.linalg.norm(MU * start / (3.0 + k * squares)) - 2.0, 0.0, 1e3, xtol=1e-14)
    after = start / (3.0 + k * squares)
    np.testing.assert_allclose(told.contact_impulse[0], [2.0, *(3.0 * after - start)], atol=1e-10)
    np.testing.assert_allclose(run.velocity("high")[:2], turned(angle) @ after, atol=1e-10)


# --- moving axes, other forms of the law ------------------------------------------------------------------------------

SPIN = 3.0  # rad/s of the table


def on_table():
    """A point thrown onto a table that turns, with grooves along its x axis."""
    model = fem.Model("table", gravity=[0, 0, -G])
    table = model.add(fem.RigidBody(1.0, 0.1, angular_velocity=[0, 0, SPIN], name="table"))
    hinge = model.add(fem.Revolute.at(model.ground, table, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, angle=lambda t: SPIN * t, name="motor"))
    point = model.add(fem.PointMass(MASS, position=[0.3, 0.1, 0], velocity=[1.5, -0.5, 0], name="point"))
    friction = fem.AnisotropicFriction(*MU, [0, 1, 0])
    model.add(fem.SphereOnPlane(point, table, radius=0.0, friction=friction, name="floor"))
    return model


@pytest.mark.parametrize(
    ("method", "order"),
    [(fem.DecoupledNSGA(), 2), (fem.MoreauJean(), 1), (fem.LobattoIIIAB(stages=2), 2),
     (fem.NonsmoothGeneralizedAlphaFriction(), 2), (fem.NonsmoothGeneralizedAlphaGGL(), 1)], ids=repr,
)  # fmt: skip
def test_the_axes_turn_with_the_table(method, order):
    def rate(t, y):
        E = turned(SPIN * t + 0.5 * np.pi)
        relative = y[2:] - SPIN * np.array([-y[1], y[0]])
        return [*y[2:], *(G * E @ ellipse(E.T @ relative))]

    exact = solve_ivp(rate, (0, 0.4), [0.3, 0.1, 1.5, -0.5], rtol=1e-12, atol=1e-13).y[:2, -1]
    errors = []
    for h in (8e-3, 4e-3):
        result = method.run(on_table(), 0.4, h, balance=True)
        errors.append(np.abs(result["point"].position[-1, :2] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2), errors
    assert errors[1] < {1: 4e-3, 2: 4e-5}[order]
    axis = [np.cos(SPIN * 0.4 + 0.5 * np.pi), np.sin(SPIN * 0.4 + 0.5 * np.pi), 0]
    np.testing.assert_allclose(result["floor"].tangents[-1].reshape(2, 3)[0], axis, atol=1e-4)
    # impulses of the results are the change of momentum, whatever the step
    impulse = result["floor"].impulse
    tangents, normal = result["floor"].tangents.reshape(-1, 2, 3), result["floor"].normal
    vectors = impulse[:, :1] * normal + np.einsum("kt,kti->ki", impulse[:, 1:], tangents)
    change = MASS * (result["point"].velocity[-1] - result["point"].velocity[0])
    # axes of the end of a step, from which those of its forces differ by up to ω h
    np.testing.assert_allclose(vectors[1:].sum(axis=0)[:2], change[:2], atol=SPIN * 4e-3 * np.linalg.norm(change))


def test_static_and_sliding_friction_keep_their_ratio_and_use_the_sliding_speed():
    """Across the axis, where rows are scaled by 0.4: the Stribeck law takes metres per second."""
    law = {"stribeck_speed": 0.5}
    model = slider([0, 1.2, 0], mu=((1.0, 0.5), (0.4, 0.2)), **law)
    result = fem.DecoupledNSGA().run(model, 0.3, 1e-3)
    exact = solve_ivp(
        lambda _, v: -G * (0.2 + 0.2 * np.exp(-((v / 0.5) ** 2))), (0, 0.3), [1.2], rtol=1e-12, atol=1e-13
    ).y[0, -1]
    assert result["point"].velocity[-1, 1] == pytest.approx(exact, abs=2e-5)
    static = ((0.3, 0.2), (0.75, 0.5))
    upper = np.array([0.3, 0.75])
    held = fem.DecoupledNSGA().run(on_slope(0.999 * limit(SLOPE_AXIS, upper), static), 0.2, 1e-3)
    assert np.abs(held["point"].position[-1]).max() < 1e-8
    loose = fem.DecoupledNSGA().run(on_slope(1.001 * limit(SLOPE_AXIS, upper), static), 0.2, 1e-3)
    expected = 0.2 * breaks_loose(1.001 * limit(SLOPE_AXIS, upper))
    np.testing.assert_allclose(loose["point"].velocity[-1, :2], expected, rtol=2e-2)


@every_method_with_contacts
def test_equal_coefficients_are_the_isotropic_law_to_the_last_bit(method):
    found = []
    for friction in (0.3, fem.AnisotropicFriction(0.3, 0.3)):
        model = fem.Model("throw", gravity=[0.5, 0, -G])
        ball = model.add(
            fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.12], velocity=[1, 0.5, 0], angular_velocity=[0, 3, 8])
        )
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=friction, restitution=0.5, name="floor"))
        result = method.run(model, 0.2, 4e-3)
        found.append(np.column_stack([result["floor"].impulse, result["floor"].gap]))
    np.testing.assert_array_equal(*found)


def bouncing(Q, shift, friction):
    """A spinning ball that bounces and slides, all turned by Q and shifted."""
    model = fem.Model("bounce", gravity=Q @ [0.3, 0, -G])
    ball = fem.RigidBody.sphere(
        1.0, 0.1, position=Q @ [0, 0, 0.15] + shift, velocity=Q @ [1.0, 0.5, 0], angular_velocity=Q @ [0, 5.0, 3.0],
        name="ball",
    )  # fmt: skip
    model.add(ball)
    frame = model.ground.frame(shift, Q)
    model.add(fem.SphereOnPlane(ball, frame, radius=0.1, friction=friction, restitution=0.5, name="floor"))
    return model


@pytest.mark.parametrize("method", [fem.DecoupledNSGA(), fem.MoreauJean(), fem.ConeComplementarity()], ids=label)
def test_a_model_that_is_turned_gives_turned_results_that_lose_energy(method):
    friction = fem.AnisotropicFriction(0.05, 0.15, [0.3, 0.8, 0])
    Q, shift = exp(np.array([0.7, -1.1, 0.4])), [1.0, -2.0, 0.5]
    level = method.run(bouncing(np.eye(3), np.zeros(3), friction), 0.5, 2e-3, balance=True)
    tilted = method.run(bouncing(Q, np.array(shift), friction), 0.5, 2e-3)
    moved = level["ball"].position @ Q.T + shift
    np.testing.assert_allclose(tilted["ball"].position, moved, atol=1e-7)
    np.testing.assert_allclose(tilted["floor"].impulse, level["floor"].impulse, atol=1e-6)
    assert (level["floor"].status == 2).sum() > 50  # slides
    assert np.diff(level.work["floor"]).max() <= 1e-9  # of impacts and of friction
    assert level.energy_table().work("floor", "friction") < -0.05


def test_forces_of_subdivided_steps_are_on_the_ellipse():
    control = fem.DecoupledNSGA(step_control=fem.StepControl(tolerance=1e-7))
    model = slider([2.0, 1.0, 0.0], axis=[1, 1, 0])
    model.add(fem.Spring(model["point"], model.ground.frame([1, 0, 0]), stiffness=300.0, free_length=0.9))
    result = control.run(model, 0.1, 1e-2)
    force = result["floor"].force[1:]
    assert (result["floor"].status[1:] == 2).all()
    # forces of results are on the ellipse, not on a disc: at the end of the step, or of its last part
    along, across = force[:, 1] / force[:, 0], force[:, 2] / force[:, 0]
    np.testing.assert_allclose((along / MU[0]) ** 2 + (across / MU[1]) ** 2, 1.0, rtol=1e-6)
    assert np.ptp(np.hypot(along, across)) > 0.02


def test_friction_never_gives_energy_and_its_work_is_that_of_the_ellipse():
    result = fem.DecoupledNSGA().run(slider([2.0, 1.0, 0.0]), 0.25, 1e-3, balance=True)
    end = sliding(np.array([2.0, 1.0]), 0.25)
    lost = 0.5 * MASS * (5.0 - end[2:] @ end[2:])
    assert -result.energy_table().work("floor", "friction") == pytest.approx(lost, rel=1e-5)
    assert abs(result.energy_table().numerical) < 1e-5 * lost
