"""Impulses of contacts are the momentum handed over in a step, forces those at its end (nsga.momentum)."""

import numpy as np
import persistent_models as models
import pytest
import rigid_ball_bearing as bearing_example

import fem_mbs as fem

PERSISTENT = {"rho_inf": 0.8, "persistent_contacts": True}


def given(contact):
    """Momentum (k, 3) [N s] that a contact gave to its first body up to each saved state, inertial axes."""
    axes = np.concatenate([contact.normal[:, None], contact.tangents.reshape(-1, 2, 3)], axis=1)
    return np.cumsum(np.einsum("kt,ktj->kj", contact.impulse, axes), axis=0)


def missing(result, mass=1.0, body="block", weight=(0, 0, -models.g)):
    """Momentum (k, 3) [N s] that neither contact nor weight explains, up to each state; differences: over a window."""
    gained = mass * result[body].velocity
    return gained - gained[0] - given(result["contact"]) - mass * np.outer(result.t, weight)


def block(height=0.0, speed=0.0, **law):
    model = fem.Model("block over a floor", gravity=[0, 0, -models.g])
    start = {"position": [0, 0, height], "velocity": [speed, 0, 0], "fixed": ("rx", "ry", "rz")}
    body = model.add(fem.RigidBody(2.0, 1.0, name="block", **start))
    model.add(fem.SphereOnPlane(body, model.ground, radius=0, name="contact", **law))
    return model


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
@pytest.mark.parametrize("height", [0.0, 0.02])
def test_a_floor_gives_a_dropped_block_what_it_lost_and_then_its_weight(height, rho_inf):
    model = block(height, friction=0.3, restitution=0.3)
    stepper = fem.DecoupledNSGA(rho_inf=rho_inf, rtol=1e-10, persistent_contacts=True)
    result = stepper.run(model, t_end=0.5, h=1e-3)
    assert (result["contact"].impact.sum() > 3) == (height > 0.0)
    # impacts and all changes of status included: nothing is left over in any window but what the iterations leave
    assert np.ptp(missing(result, 2.0), axis=0) == pytest.approx(np.zeros(3), abs=1e-10)
    assert np.diff(given(result["contact"])[-200:, 2]) == pytest.approx(2.0 * models.g * 1e-3, rel=1e-9)


@pytest.mark.parametrize("rho_inf", [0.0, 0.8])
def test_impulses_over_any_window_are_the_change_of_momentum_where_friction_jumps(rho_inf):
    stepper = fem.DecoupledNSGA(rho_inf=rho_inf, rtol=1e-9, persistent_contacts=True)
    left = missing(stepper.run(models.Shaken.build(), t_end=2.0, h=5e-3))
    # largest difference of two states: the worst of all windows. With h times the force at the end of the step 7.4e-3:
    # half a step of force at every jump; with the mean of the forces at start and end 1.0e-3 and 1.1e-5
    assert np.ptp(left, axis=0) == pytest.approx(np.zeros(3), abs=1e-11)


@pytest.mark.parametrize("rho_inf, beyond", [(0.0, 1e-5), (0.8, 3e-4), (1.0, 1e-5)])
def test_impulses_lie_in_the_cone_where_a_block_sticks_and_slides(rho_inf, beyond):
    """Where sliding begins velocities of rho_inf = 0.8 swing: they get up to 2.3e-4 more than friction for one step."""
    result = fem.DecoupledNSGA(rho_inf, persistent_contacts=True).run(models.Shaken.build(), t_end=2.0, h=5e-3)
    contact = result["contact"]
    for values, size, more in ((contact.impulse, 5e-3, beyond), (contact.force, 1.0, 1e-5)):  # of the iterations
        tangential, largest = np.linalg.norm(values[:, 1:], axis=1), models.g * size
        assert (values[1:, 0] > 0.0).all()
        assert np.all(tangential <= models.Shaken.friction * values[:, 0] + more * largest)


def rolling(**law):
    """Ball that rolls and spins on a floor, with resistance to both; inertia 1 kg m² about every axis."""
    model = fem.Model("ball with resistance", gravity=[0, 0, -models.g])
    spin = [0.0, 3.0, 0.7]
    body = model.add(
        fem.RigidBody(1.0, 1.0, position=[0, 0, 0.5], velocity=[1.5, 0, 0], angular_velocity=spin, name="block")
    )
    model.add(fem.SphereOnPlane(body, model.ground, radius=0.5, friction=0.5, name="contact", **law))
    return model


@pytest.mark.parametrize(
    "law, places",
    [({"rolling_resistance": 0.2, "spinning_resistance": 0.05}, (1, 2)), ({"radius_contensou": 0.3}, (2,))],
    ids=["resistance", "disc"],
)
def test_moment_impulses_over_any_window_are_the_change_of_angular_momentum(law, places):
    steps, worst = [200, 400, 800], []
    for n in steps:
        result = fem.DecoupledNSGA(rtol=1e-9, **PERSISTENT).run(rolling(**law), t_end=2.0, h=2.0 / n)
        ball, contact = result["block"], result["contact"]
        spin = np.einsum("kij,kj->ki", ball.rotation, ball.angular_velocity)
        axes = np.concatenate([contact.tangents.reshape(-1, 2, 3), contact.normal[:, None]], axis=1)
        moment = np.einsum("kt,ktj->kj", contact.moment_impulse, axes)
        arm = np.diff(given(contact), axis=0, prepend=0.0)  # at (0, 0, −0.5) from the centre
        about_centre = 0.5 * np.column_stack([arm[:, 1], -arm[:, 0], 0 * arm[:, 0]])
        left = spin - spin[0] - np.cumsum(moment + about_centre, axis=0)
        worst.append([np.ptp(left[:, i]) for i in places])
    print(worst)
    assert np.abs(spin[-1, 2]) < 1e-6  # it has stopped spinning: the moment has jumped
    assert np.all(np.array(worst[-1]) < 1e-4), worst


@pytest.mark.parametrize("save", [False, True], ids=["memory", "file"])
def test_force_at_the_end_of_the_step_is_saved_next_to_the_impulse_only_where_they_differ(save, tmp_path):
    path = tmp_path / "run.vtkhdf" if save else None
    for persistent in (False, True):
        stepper = fem.DecoupledNSGA(rho_inf=0.8, rtol=1e-10, persistent_contacts=persistent)
        result = stepper.run(models.PushedAside.build(), t_end=0.2, h=2e-3, save=path)
        contact, saved = result["contact"], result.rows(np.arange(len(result.t)))["contact_force"]
        assert saved.shape == (101, int(persistent), 3)
        mean = contact.impulse[1:] / 2e-3
        force = contact.force[1:]
        # the tangential force turns: its mean over a step is not that at the end, but that half a step before
        assert np.abs(force[:, 0] - mean[:, 0]).max() < 1e-6
        assert (np.abs(force - mean).max() > 1e-3) == persistent
        assert np.array_equal(contact.force_normal, contact.force[:, 0])
        if persistent:
            assert np.abs(mean[2:] - 0.5 * (force[2:] + force[1:-1])).max() < 1e-6
            _, shown = result.scene.frames(result.rows([50]))
            assert shown["contact_force"][0, -1] == pytest.approx(contact.force_vector[50], rel=1e-12)


def test_steps_of_variable_size_hand_over_the_same_momentum():
    control = fem.StepControl(tolerance=1e-6, h_max=2e-2)
    result = fem.DecoupledNSGA(rtol=1e-9, step_control=control, **PERSISTENT).run(
        models.Shaken.build(), t_end=2.0, h=1.25e-3
    )
    assert result.statistics["inaccurate_steps"] + result.statistics["steps_too_large_for_contact"] > 0
    assert np.ptp(result.h[1:]) > 1e-3
    assert np.ptp(missing(result), axis=0) == pytest.approx(np.zeros(3), abs=1e-10)


def test_a_run_that_continues_from_a_state_hands_over_the_rest_of_the_momentum():
    def run(t, speed, until):
        system = block(0.0, speed, friction=0.3).compile()
        system.initial.t = t
        return fem.DecoupledNSGA(**PERSISTENT).run(system, t_end=until, h=1e-3)

    whole, first = run(0.0, 0.5, 0.3), run(0.0, 0.5, 0.1)
    second = run(0.1, first["block"].velocity[-1, 0], 0.3)
    parts = given(first["contact"])[-1] + given(second["contact"])[-1]
    assert parts == pytest.approx(given(whole["contact"])[-1], abs=1e-9)
    assert parts == pytest.approx([-1.0, 0.0, 2.0 * models.g * 0.3], abs=1e-9)


@pytest.mark.parametrize("rho_inf", [0.0, 0.8, 1.0])
def test_the_weight_and_the_wall_of_a_drum_give_a_rolling_ball_its_momentum(rho_inf):
    """The normal turns: forces at the start and at the end of a step are added as vectors, in the axes of its end."""
    turn, gravity = np.deg2rad(60), np.array([0, 0, -9.81])
    model = fem.Model("drum", gravity=gravity)
    start = [0, 0.9 * np.sin(turn), -0.9 * np.cos(turn)]
    ball = model.add(fem.RigidBody.sphere(1.0, 0.1, position=start, name="block"))
    drum = model.ground.frame(rotation=[0, np.pi / 2, 0])
    model.add(fem.SphereInCylinder(ball, drum, radius=0.1, radius_cylinder=1.0, friction=0.2, name="contact"))
    result = fem.DecoupledNSGA(rho_inf, rtol=1e-10, persistent_contacts=True).run(model, 2.0, 1e-2)
    # 9.9e-4 N s with the means of the axes at start and end, 1.2e-1 where Λ and both forces have those of the end
    assert np.ptp(missing(result, weight=gravity), axis=0) == pytest.approx(np.zeros(3), abs=1e-7)


@pytest.mark.parametrize("impacts", ["auto", "plain"])
def test_the_outer_race_of_a_bearing_gives_its_balls_and_race_the_momentum_that_loads_do_not(impacts):
    """Hundreds of impacts, contacts that close, open, stick and slide, and stiff springs between the balls."""
    model, bearing = bearing_example.build()
    result = fem.DecoupledNSGA(rho_inf=0.0, penalty=0.25, impacts=impacts).run(model, 0.03, 1e-4)
    gained = 1.25 * result["inner race"].velocity
    for ball in bearing.bodies:
        gained = gained + ball.mass * result[ball.name].velocity
    contacts = [result[contact.name] for contact in bearing.outer_contacts]
    assert sum(contact.impact.sum() for contact in contacts) > 50
    left = gained - gained[0] - sum(given(contact) for contact in contacts)
    left -= np.outer(result.t, [0, -bearing_example.load, 0])
    # N s, of 3; 3e-3 and 1e-4 where a restart of the memory took momentum, and axes were those half-way
    assert np.ptp(left, axis=0) == pytest.approx(np.zeros(3), abs=1e-8)
