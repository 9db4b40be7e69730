"""Sliding coupled with drilling (Coulomb-Contensou, Capobianco2021 (49), (157)) against closed forms.

A body of mass m, inertia I about the vertical, on a point with a contact disc of arm c, that can only slide and turn:

    s = (v_1, v_2, c ω) ,   m v̇ = −μ m g (v_1, v_2)/|s| ,   I ω̇ = −μ m g c² ω/|s|                                   (1)

so v ∝ ω^κ with κ = I/(m c²); for κ = 1 the direction of s stays and |s| falls by μ g t.
"""

from functools import partial

import numpy as np
import pytest

import fem_mbs as fem

g, mass, friction, disc = 9.81, 2.0, 0.3, 0.04  # m/s², kg, -, m
arm = 3 * np.pi / 16 * disc
PUBLISHED = fem.DecoupledNSGA.published
SOLVERS = {
    "published": PUBLISHED,
    "persistent": partial(fem.DecoupledNSGA, persistent_contacts=True),
    "three levels": fem.NonsmoothGeneralizedAlphaFriction,
}
# steps after a stop in which positions still move: the memory of accelerations halves in each with ρ = 0.8
SETTLES = {PUBLISHED: 1, SOLVERS["persistent"]: 1, SOLVERS["three levels"]: 12}
every_method = pytest.mark.parametrize("method", SOLVERS.values(), ids=SOLVERS)


def puck(velocity, spin, kappa=1.0, slope=0.0, **law):
    """Body (1) on a plane inclined by ``slope`` [rad] about y, in axes of the plane."""
    model = fem.Model("puck", gravity=[g * np.sin(slope), 0, -g * np.cos(slope)])
    inertia = kappa * mass * arm**2
    body = fem.RigidBody(
        mass, inertia, velocity=[*velocity, 0], angular_velocity=[0, 0, spin], fixed=("rx", "ry"), name="puck"
    )
    model.add(body)
    law = {"friction": friction, "radius_contensou": disc} | law
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.0, name="floor", **law))
    return model


def state(result):
    """Sliding velocities (k, 2) [m/s] and c ω (k,) [m/s]."""
    return result["puck"].velocity[:, :2], arm * result["puck"].angular_velocity[:, 2]


def test_arm_is_that_of_the_hertz_pressure():
    r = (np.arange(200000) + 0.5) / 200000
    pressure = np.sqrt(1 - r**2)
    contact = puck([0, 0], 0).elements[-1]
    assert contact.drilling_arm == pytest.approx(disc * (r**2 * pressure).sum() / (r * pressure).sum(), rel=1e-6)


@every_method
def test_friction_opposes_sliding_and_drilling_together_and_has_full_size(method):
    h = 1e-3
    result = method(rtol=1e-8).run(puck([0.25, -0.1], 8.0, kappa=2.5), t_end=0.05, h=h)
    v, spin = state(result)
    slip = np.column_stack([v, spin])[1:]
    floor = result["floor"]
    normal = floor.force_normal[1:]
    tangential = np.einsum("kt,ktj->kj", floor.force_tangential[1:], floor.tangents[1:])[:, :2]
    percussion = np.column_stack([tangential, floor.moment[1:, 2] / arm])
    assert normal == pytest.approx(mass * g, rel=1e-9)
    # the law at the end of each step, to the tolerance of the iterations
    assert np.linalg.norm(percussion, axis=1) == pytest.approx(friction * normal, rel=1e-7)
    expected = -friction * normal[:, None] * slip / np.linalg.norm(slip, axis=1)[:, None]
    assert percussion == pytest.approx(expected, abs=1e-6 * friction * mass * g)
    assert np.all(floor.status[1:] == 2) and np.abs(floor.moment_impulse[:, :2]).max() == 0.0


@every_method
def test_isotropic_puck_keeps_its_direction_and_stops_when_the_closed_form_says(method):
    h, start = 1e-3, np.array([0.3, -0.2, 0.25])
    result = method().run(puck(start[:2], start[2] / arm), t_end=0.25, h=h)
    v, spin = state(result)
    t_stop = np.linalg.norm(start) / (friction * g)
    exact = np.maximum(1 - result.t / t_stop, 0.0)[:, None] * start
    # constant deceleration in a constant direction: exact but in the step in which it stops
    sliding = result.t < t_stop
    assert np.column_stack([v, spin])[sliding] == pytest.approx(exact[sliding], abs=1e-6)
    assert np.column_stack([v, spin])[result.t > t_stop + h] == pytest.approx(0.0, abs=1e-9)
    turned = result["puck"].rotation_vector[-1, 2]
    way = 0.5 * t_stop * start
    # a position of backward Euler until the end: ½ h |s0|; with persistent contacts only the last step counts
    bound = 0.51 * h * np.linalg.norm(start) if method is PUBLISHED else friction * g * h**2
    assert [*result["puck"].position[-1, :2], arm * turned] == pytest.approx(way, abs=bound)
    resting = result["puck"].position[result.t > t_stop + SETTLES[method] * h]
    assert np.ptp(resting, axis=0).max() < 1e-12  # sticks


@every_method
@pytest.mark.parametrize("kappa", [0.4, 2.5])
def test_sliding_velocity_follows_a_power_of_the_spin(method, kappa):
    errors, steps, order = [], (4e-3, 2e-3, 1e-3), 1 if method is PUBLISHED else 2
    for h in steps:
        result = method(rtol=1e-9).run(puck([0.3, 0.0], 0.3 / arm, kappa), t_end=0.08, h=h)
        v, spin = state(result)
        errors.append(abs(v[-1, 0] / 0.3 - (spin[-1] / 0.3) ** kappa))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    # κ = 0.4, persistent: 2.9, errors of v and ω (each of order 2) nearly cancel in the invariant
    assert order - 0.15 < slope < order + 1, f"order {slope:.2f}, errors {errors}"
    assert errors[-1] < 10 * steps[-1] ** order


@every_method
def test_ball_that_only_spins_stops_when_the_closed_form_says(method):
    h, radius, spin = 1e-3, 0.2, 6.0
    model = fem.Model("spinning ball", gravity=[0, 0, -g])
    ball = model.add(
        fem.RigidBody.sphere(mass, radius, position=[0, 0, radius], angular_velocity=[0, 0, spin], name="ball")
    )
    law = {"friction": friction, "radius_contensou": disc}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=radius, name="floor", **law))
    result = method().run(model, t_end=1.5, h=h)
    moment = friction * mass * g * arm
    t_stop = 0.4 * mass * radius**2 * spin / moment
    w, floor = result["ball"].angular_velocity[:, 2], result["floor"]
    turning = result.t < t_stop - h
    assert w[turning] == pytest.approx(spin * (1 - result.t[turning] / t_stop), abs=1e-6 * spin)
    assert floor.moment_impulse[turning, 2][1:] == pytest.approx(-moment * h, rel=1e-6)
    # what the one iteration of the step in which it stops leaves scales with 1/friction_penalty: 1.9e-9 rad/s (5e-10 at
    # 1), a speed c ω far below the tolerance, rtol g h; the next step leaves 1e-15, with persistent contacts 4e-10
    assert arm * np.abs(w[result.t > t_stop + h]).max() < 1e-2 * 1e-6 * g * h
    assert np.abs(w[result.t > t_stop + 2 * h]).max() < 1e-9
    assert np.abs(result["ball"].position[:, :2]).max() < 1e-12  # no reason to go anywhere
    angle = np.unwrap(result["ball"].rotation_vector[:, 2])
    assert np.ptp(angle[result.t > t_stop + SETTLES[method] * h]) < 1e-9  # sticks at position level too
    assert angle[-1] == pytest.approx(0.5 * spin * t_stop, abs=h * spin)


def test_fast_drilling_takes_the_friction_of_sliding_away():
    """The sliding speed falls like that of a body in a viscous fluid: v = v0 exp(−μ g t/(c ω))."""
    spin, t_end = 400.0, 0.5
    result = fem.DecoupledNSGA(rtol=1e-8).run(puck([0.05, 0.0], spin, kappa=1e4), t_end=t_end, h=1e-3)
    assert result["puck"].angular_velocity[-1, 2] == pytest.approx(spin, rel=1e-4)
    # first order in h: 2e-5; (v/c ω)² = 3e-5
    assert state(result)[0][-1, 0] == pytest.approx(0.05 * np.exp(-friction * g * t_end / (arm * spin)), rel=1e-4)


@pytest.mark.parametrize("spin", [0.0, 8.0])
@every_method
def test_on_a_slope_below_the_angle_of_friction_a_puck_creeps_while_it_drills(spin, method):
    slope = np.arctan(0.5 * friction)
    model = puck([0, 0], spin, kappa=1e4, slope=slope)
    result = method(rtol=1e-8).run(model, t_end=2.0, h=1e-3)
    v, rest = state(result)
    # force along the slope is half of friction's size: v/|s| = ½, so v = c ω/√3; the spin falls by 0.1 %
    assert v[-1, 0] == pytest.approx(rest[-1] / np.sqrt(3.0), rel=2e-3, abs=1e-12)
    assert (rest[-1] == 0.0) == (spin == 0.0)


@pytest.mark.parametrize("limit, slips", [(0.98, False), (1.02, True)])
@every_method
def test_ball_follows_a_turntable_up_to_the_drilling_moment(limit, slips, method):
    radius = 0.1
    inertia = 0.4 * mass * radius**2
    acceleration = limit * friction * mass * g * arm / inertia
    model = fem.Model("turntable", gravity=[0, 0, -g])
    table = model.add(fem.RigidBody(5.0, 0.5, name="table"))
    hinge = model.add(fem.Revolute.at(model.ground, table, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, lambda t: 0.5 * acceleration * t * t, name="drive"))
    ball = model.add(fem.RigidBody.sphere(mass, radius, position=[0, 0, radius], rotation=[1, 2, 3], name="ball"))
    law = {"friction": friction, "radius_contensou": disc}
    model.add(fem.SphereOnPlane(ball, table, radius=radius, name="contact", **law))
    result = method(rtol=1e-8).run(model, t_end=0.5, h=1e-3)
    turn = np.einsum("kij,kj->ki", result["ball"].rotation, result["ball"].angular_velocity)[:, 2]
    behind = acceleration * result.t - turn
    if slips:
        assert behind[-1] == pytest.approx(0.02 / 1.02 * acceleration * 0.5, rel=1e-3)
    else:
        # velocities stick: the tolerance of the iterations, a velocity, over the arm c
        assert np.abs(behind).max() < 1e-6
        assert result["contact"].moment_impulse[-1, 2] == pytest.approx(inertia * acceleration * 1e-3, rel=1e-6)
    assert np.all(result["contact"].status[5:] == (2 if slips else 1))


def spinning_pairs():
    """Contacts of a ball at its lowest point, with the normal upwards."""
    r = 0.1
    return {
        "box": lambda ball, ground: fem.SphereOnBox(
            ball, ground.frame([0, 0, -0.1]), radius=r, size=[1, 1, 0.2], **LAW
        ),
        "sphere": lambda ball, ground: fem.SphereOnSphere(
            ball, ground.frame([0, 0, -0.4]), radius_A=r, radius_B=0.4, **LAW
        ),
        "hollow sphere": lambda ball, ground: fem.SphereInSphere(
            ball, ground.frame([0, 0, 0.5]), radius=r, radius_outer=0.5, **LAW
        ),
        "tube": lambda ball, ground: fem.SphereInCylinder(
            ball, ground.frame([0, 0, 0.3], [0, np.pi / 2, 0]), radius=r, radius_cylinder=0.3, **LAW
        ),
        "capsule": lambda ball, ground: fem.SphereOnCapsule(
            ball, (ground.frame([-1, 0, -0.1]), ground.frame([1, 0, -0.1])), radius=r, radius_capsule=0.1, **LAW
        ),
    }


LAW = {"friction": friction, "radius_contensou": disc, "name": "contact"}


@pytest.mark.parametrize("kind", spinning_pairs())
def test_every_kind_of_contact_supports_drilling(kind):
    h, spin, inertia = 1e-3, 6.0, 0.4 * 0.01
    model = fem.Model(kind, gravity=[0, 0, -g])
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1], angular_velocity=[0, 0, spin], name="ball"))
    model.add(spinning_pairs()[kind](ball, model.ground))
    result = fem.DecoupledNSGA(rtol=1e-8).run(model, t_end=0.2, h=h)
    t_stop = inertia * spin / (friction * g * arm)
    w = result["ball"].angular_velocity[:, 2]
    assert w == pytest.approx(spin * np.maximum(1 - result.t / t_stop, 0), abs=spin * h / t_stop)


def test_energy_never_rises_while_a_ball_slides_rolls_and_drills():
    model = fem.Model("ball", gravity=[0, 0, -g])
    ball = model.add(
        fem.RigidBody.sphere(
            mass, 0.1, position=[0, 0, 0.1], velocity=[1.0, 0.5, 0], angular_velocity=[3, -30, 60], name="ball"
        )
    )
    law = {"friction": friction, "radius_contensou": disc, "rolling_resistance": 1e-3, "restitution": 0.5}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, name="floor", **law))
    result = fem.DecoupledNSGA(rho_inf=0.8).run(model, t_end=1.0, h=1e-3)
    assert np.diff(result.energy.total).max() < 1e-12 * result.energy.total[0]
    assert result["floor"].gap.min() > -1e-12
    percussion = np.column_stack([result["floor"].impulse[:, 1:], result["floor"].moment_impulse[:, 2] / arm])
    # the cone to the tolerance of the iterations, 1e-5 of the weight over a step
    bound = friction * result["floor"].impulse[:, 0] + 1e-5 * mass * g * 1e-3
    assert np.all(np.linalg.norm(percussion, axis=1) <= bound)


def test_models_without_a_disc_have_no_further_unknowns_and_a_tiny_disc_changes_nothing():
    def run(**law):
        model = fem.Model("ball", gravity=[0, 0, -g])
        ball = model.add(
            fem.RigidBody.sphere(
                mass, 0.1, position=[0, 0, 0.1], velocity=[1, 0, 0], angular_velocity=[0, 3, 2], name="ball"
            )
        )
        model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, friction=friction, name="floor", **law))
        system = model.compile()
        return system, method.run(system, t_end=0.3, h=1e-3)["ball"]

    method = fem.DecoupledNSGA.published()  # its smooth motion has no rows of contacts
    (plain, motion), (with_disc, near) = run(), run(radius_contensou=1e-9)
    n = plain.n
    sizes = [[layout.n for layout in s.lay_out(*method.matrices(s)).layouts] for s in (plain, with_disc)]
    assert sizes == [[n, n + 3, n + 3], [n, n + 4, n + 6]]
    assert with_disc.n_drill == 1 and plain.n_drill == 0
    # the tolerance of the iterations in the step in which the ball begins to roll
    assert near.velocity == pytest.approx(motion.velocity, abs=1e-7)


def test_disc_without_friction_has_no_rows():
    model = fem.Model("ball", gravity=[0, 0, -g])
    ball = model.add(fem.RigidBody.sphere(mass, 0.1, position=[0, 0, 0.1], angular_velocity=[0, 0, 5], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.1, radius_contensou=0.01, name="floor"))
    system = model.compile()
    assert system.n_drill == 0
    assert fem.DecoupledNSGA().run(system, 0.1, 1e-3)["ball"].angular_velocity[-1, 2] == pytest.approx(5.0, abs=1e-12)


def test_radius_below_zero_is_rejected():
    with pytest.raises(fem.ParameterError, match=r"'floor': radius_contensou = -0\.1 m.*≥ 0"):
        puck([0, 0], 0, radius_contensou=-0.1)


def test_two_resistances_against_the_same_turning_are_rejected():
    message = r"radius_contensou = 0.01 m and spinning_resistance = 0.02 m both resist turning .* give one"
    with pytest.raises(fem.ParameterError, match=message):
        puck([0, 0], 0, radius_contensou=0.01, spinning_resistance=0.02)
