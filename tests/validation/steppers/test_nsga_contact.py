"""Impacts and contact with DecoupledNSGA: docs/theory/decoupled_nsga.md, decisions 6 to 11."""

import bouncing_ball
import contact_models as models
import numpy as np
import orders
import pytest
import references
import tilting_plate

import fem_mbs as fem
from fem_mbs.cases.bruls2014 import bouncing_pendulum

TIGHT = {"rho_inf": 0.8, "rtol": 1e-10}  # as the prototype's tables


def contact_names(result):
    return [name for name in result.names if hasattr(result[name], "gap")]


# --- bouncing ball (Bruls2014, 10.1) --------------------------------------


def test_bouncing_ball_passes_the_accumulation_point_and_rests():
    result = fem.DecoupledNSGA.published(rho_inf=0.8).run(bouncing_ball.build(), 4.5, 2e-3)
    table, ball = result["table"], result["ball"]
    k = result.at(0.402)  # the first impact, at 0.400250 s, is captured at the end of its step
    assert ball.velocity[k - 1 : k + 1, 2] == pytest.approx([-4.0, 3.2], abs=1e-12)
    assert table.impulse[k, 0] == pytest.approx(7.22, rel=1e-12)  # m (1 + e) v_n + m g h
    closed = result.t > 3.45  # permanent contact from 3.444 s with these data (Bruls2014)
    assert np.all(table.status[closed] > 0)
    assert np.abs(ball.velocity[-1]).max() < 1e-15  # Newton's law leaves 0.8 per step of what was there
    assert table.force_normal[-1] == pytest.approx(10.0, rel=1e-6)
    assert table.gap.min() > -1e-12  # no penetration: round-off
    assert np.diff(result.energy.total).max() < 1e-12  # never rises: proved for this example, 8 J in all
    assert np.all(result.iterations.max <= [1, 2, 2])


@pytest.mark.parametrize("impacts, lowest, highest", [("plain", 0.8, 1.2), ("auto", 1.8, 4.0)])
def test_bouncing_ball_is_first_order_on_average_if_its_impacts_are_captured(impacts, lowest, highest):
    # far from each other and from multiples of the flight times: the error depends on where impacts lie in their steps
    h = 1.1e-3 * np.array([6.4, 3.2, 1.6, 0.8, 0.4])
    # captured as published; with the speed at the touch the slope over these phases is 0.75
    captured = {"restitution_speed": "start"} if impacts == "plain" else {}
    errors = []
    for step in h:
        stepper = fem.DecoupledNSGA(rho_inf=0.8, impacts=impacts, **captured)
        result = stepper.run(bouncing_ball.build(), 4.5, step)
        errors.append(np.mean(np.abs(result["table"].gap - bouncing_ball.exact_gap(result.t))))
    slope = np.polyfit(np.log(h), np.log(errors), 1)[0]
    # "auto": exact but for the slow impacts before the accumulation point, measured 3.0
    assert lowest < slope < highest, (slope, errors)


def test_bouncing_ball_of_the_recovery_is_first_order_in_position_and_velocity():
    """Sanchez2025, C.6.1; published slopes: 1."""
    slopes = orders.slopes("C.6.1 bouncing ball")
    assert np.all(np.abs(slopes - 1.0) < 0.2), (slopes, orders.measured("C.6.1 bouncing ball"))


# --- bouncing pendulum ----------------------------------------------------


@pytest.fixture(scope="module")
def pendulum():
    return fem.DecoupledNSGA.published(**TIGHT).run(bouncing_pendulum(), 6.0, 1e-3)


def test_first_impact_of_the_pendulum_has_the_numbers_of_the_note(pendulum):
    k = int(np.argmax(pendulum["wall"].impact))
    assert pendulum.t[k] == pytest.approx(0.487, abs=1e-9)  # exact 0.486110: the end of its step
    assert pendulum["wall"].impulse[k, 0] == pytest.approx(11.74029, abs=1e-5)  # printed digits; exact 11.7347
    rates = pendulum["bob"].angular_velocity[k - 1 : k + 1, 2]
    assert rates == pytest.approx([-4.190015, 3.350451], abs=1e-6)
    assert pendulum["pivot"].force[k, 0] * 1e-3 == pytest.approx(-6.4097, abs=1e-4)  # joint impulse of the step


def test_pendulum_keeps_its_constraints_through_impacts(pendulum):
    assert pendulum["wall"].gap.min() > -1e-12 and pendulum.violation.position.max() < 1e-13  # note: 4e-16, 1e-15
    assert pendulum.violation.velocity.max() < 1e-11  # note: 2e-11 with its tolerance
    assert np.all(pendulum.iterations.max[[0, 2]] <= [2, 2])


def test_pendulum_comes_to_rest_with_the_static_forces(pendulum):
    wall, pivot = pendulum["wall"], pendulum["pivot"]
    open_steps = np.flatnonzero(wall.status == 0)
    assert pendulum.t[open_steps[-1] + 1] == pytest.approx(4.933, abs=1e-9)
    assert wall.force_normal[-1] == pytest.approx(10.0, rel=1e-9)  # m g, closed form; solver tolerance
    assert pivot.force[-1] == pytest.approx([-10.0, 10.0, 0.0], abs=1e-9)
    assert pendulum["bob"].rotation_vector[-1, 2] == pytest.approx(-np.pi / 4, abs=5e-14)


@pytest.mark.parametrize("arm", [1.0, 0.0])
def test_pendulum_angle_has_the_errors_of_the_note(arm):
    for h, printed in ((4e-3, 0.0500), (2e-3, 0.0105), (1e-3, 0.0075)):
        result = fem.DecoupledNSGA.published(**TIGHT).run(bouncing_pendulum(arm), 3.0, h)
        exact, _, _ = models.bouncing_pendulum_motion(result.t)
        error = np.abs(result["bob"].rotation_vector[:, 2] - exact).sum() / np.abs(exact).sum()
        assert error == pytest.approx(printed, abs=1e-4)  # printed digits


@pytest.mark.parametrize(
    "h, energies",
    [
        (1e-3, (-0.89703, -3.14948, -4.58396, -5.49392, -6.07185)),
        (5e-4, (-0.89698, -3.12855, -4.55373, -5.46032, -6.04548)),
        (2.5e-4, (-0.89696, -3.12851, -4.55376, -5.46029, -6.04268)),
    ],
)
def test_energies_after_impacts_are_those_of_the_note(h, energies):
    result = fem.DecoupledNSGA.published(**TIGHT).run(bouncing_pendulum(), 3.0, h)
    impacts = np.flatnonzero(result["wall"].impact)[:5]
    assert result.energy.total[impacts] == pytest.approx(energies, abs=1e-5)  # printed digits
    _, times, exact = models.bouncing_pendulum_motion(result.t)
    assert exact[:5] == pytest.approx([-0.88914, -3.11464, -4.53895, -5.45051, -6.03391], abs=1e-5)
    assert times[:5] == pytest.approx([0.486110, 1.281225, 1.951340, 2.517137, 2.991277], abs=1e-6)


def test_reactions_after_an_impact_oscillate_unless_the_radius_is_zero_or_the_memory_is_reset():
    def run(**options):
        result = fem.DecoupledNSGA.published(**{**TIGHT, **options}).run(bouncing_pendulum(), 3.0, 1e-3)
        k = int(np.argmax(result["wall"].impact))
        return result["pivot"].force[k + 1 : k + 9, 0], np.diff(result.energy.total).max()

    published, rise = run()
    assert published[:7] == pytest.approx([-8.1, -16.5, -9.0, -15.5, -9.9, -14.6, -10.7], abs=0.05)  # printed digits
    damped, _ = run(rho_inf=0.0)
    assert damped[:6] == pytest.approx([-11.0, -12.0, -12.3, -12.4, -12.44, -12.44], abs=0.05)  # printed digits
    reset, rise_with_reset = run(reset_after_impact=True)
    # exact: -12.49 just after the impact, and smooth: neighbours differ by the drift of 0.02 N per step
    assert reset == pytest.approx(-12.49, abs=0.15) and np.abs(np.diff(reset)).max() < 0.05
    assert rise == pytest.approx(1.8e-4, abs=1e-5) and rise_with_reset < 2e-6  # note: 1.8e-4 -> 1.1e-6 J


# --- sphere on a driven plate ---------------------------------------------


def plate_errors(h, rho_inf=0.8, offset=(0, 0, 0)):
    """Largest errors from 0.1 s on of s, ṡ, normal and tangential force, driving moment; and the result."""
    times = np.linspace(0.0, 1.0, 51)
    result = fem.DecoupledNSGA.published(rho_inf=rho_inf, rtol=1e-10).run(tilting_plate.build(offset), 1.0, h)
    k, contact = np.round(times / h).astype(int), result["contact"]
    s, rate = tilting_plate.path(result, offset)
    tangential = np.linalg.norm(contact.force_tangential, axis=1)
    exact = references.rolling_on_plate_motion(times)
    exact[:, 3] = np.abs(exact[:, 3])
    obtained = np.column_stack([s, rate, contact.force_normal, tangential, result["drive"].moment])[k]
    return np.abs(obtained - exact)[times >= 0.1 - 1e-9].max(axis=0), result


@pytest.mark.parametrize("rho_inf", [0.0, 0.8, 1.0])
def test_rolling_on_a_driven_plate_has_the_errors_of_the_note_and_first_order(rho_inf):
    (errors, result), (finer, _) = plate_errors(2.5e-3, rho_inf), plate_errors(1.25e-3, rho_inf)
    # printed digits: one unit of the last
    assert np.all(np.abs(errors - [8.4e-4, 1.3e-3, 2.7e-3, 1.4e-4, 8.9e-3]) <= [1e-5, 1e-4, 1e-4, 1e-5, 1e-4]), errors
    order = np.log2(errors / finer)
    assert np.all(np.abs(order - 1.0) < 0.01), order  # "every order 1.00"
    assert np.abs(result["contact"].gap).max() < 1e-15 and result.violation.position.max() < 1e-15
    assert result.violation.velocity.max() < 1e-15
    assert np.all(result.iterations.max <= [1, 2, 2])


def test_rolling_with_an_off_centre_node_is_the_same():
    offset = (0.1, 0.05, 0.02)
    (errors, result), (finer, _) = plate_errors(2.5e-3, 0.8, offset), plate_errors(1.25e-3, 0.8, offset)
    assert errors[0] == pytest.approx(9.9e-4, abs=1e-5)  # printed digits
    assert np.log2(errors[0] / finer[0]) == pytest.approx(1.0, abs=0.02)
    assert np.all(result.iterations.max <= [1, 3, 2])


# --- sphere and free plate ------------------------------------------------


def struck(restitution, friction, h=1e-3, offset=0, **options):
    result = fem.DecoupledNSGA.published(**{**TIGHT, **options}).run(
        models.free_plate(restitution, friction, offset), 0.3, h
    )
    return result, int(np.argmax(result["contact"].impact))


def test_elastic_impact_on_a_free_plate_has_the_numbers_of_the_note():
    result, k = struck(1.0, 0.0)
    assert result.t[k] == pytest.approx(0.135, abs=1e-9)
    assert result["contact"].impulse[k, 0] == pytest.approx(2.11708, abs=1e-5)  # printed digits
    coarse, _ = struck(1.0, 0.0, h=2e-3)
    gain, coarse_gain = (np.ptp(r.energy.total[[0, -1]]) for r in (result, coarse))
    assert gain == pytest.approx(8.1e-4, abs=1e-5) and coarse_gain == pytest.approx(1.7e-3, abs=1e-4)
    linear, angular = models.momentum(result)
    assert np.abs(linear - linear[0]).max() < 1e-14  # round-off
    assert np.abs(angular - angular[0]).max() == pytest.approx(4.5e-4, abs=1e-5)


def test_frictional_impact_on_a_free_plate_has_the_numbers_of_the_note():
    result, k = struck(0.8, 0.3)
    impulse = result["contact"].impulse[k]
    assert impulse[0] == pytest.approx(1.90585, abs=1e-5)  # printed digits
    assert np.hypot(*impulse[1:]) == pytest.approx(0.17384, abs=1e-5)  # the norm: components depend on the tangents
    assert result.energy.total[-1] - result.energy.total[0] == pytest.approx(-0.4064, abs=1e-4)
    linear, _ = models.momentum(result)
    assert np.abs(linear - linear[0]).max() < 1e-14  # round-off


def test_off_centre_nodes_lose_momentum_of_first_order_at_an_impact():
    """Known property of the published equations (decision 11): nodes belong at centres of mass."""
    losses = []
    for h in (4e-3, 2e-3, 1e-3):
        linear, _ = models.momentum(struck(1.0, 0.0, h, offset=1)[0], offset=1)
        losses.append(np.abs(linear - linear[0]).max())
    assert np.all(np.diff(np.log2(losses)) == pytest.approx(-1.0, abs=0.1)), losses


# --- tangential restitution ---------------------------------------------------


@pytest.mark.parametrize("e_T", [-0.5, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("friction", [0.1, 100.0])
def test_spinning_ball_leaves_the_floor_as_newtons_law_and_coulombs_limit_say(e_T, friction):
    # planar: in space the rotation by the position correction turns ω by O(h) of itself
    radius, mass = 0.1, 2.0
    model = fem.Model("super ball")
    spin = [0.0, -30.0, 0.0]
    ball = model.add(
        fem.RigidBody.sphere(
            mass, radius, position=[0, 0, 0.1503], velocity=[1.0, 0.0, -2.0], angular_velocity=spin, name="ball"
        )
    )
    law = {"restitution": 0.7, "tangential_restitution": e_T, "friction": friction}
    model.add(fem.SphereOnPlane(ball, model.ground, radius=radius, name="floor", **law))
    result = fem.DecoupledNSGA.published(**TIGHT).run(model, 0.05, 1e-3)
    body, floor = result["ball"], result["floor"]
    k = int(np.argmax(floor.impact))
    w = np.einsum("kij,kj->ki", body.rotation, body.angular_velocity)
    sliding = (body.velocity + np.cross(w, [0, 0, -radius]))[[k - 1, k], :2]  # of the point that touches
    normal, tangential = floor.impulse[k, 0], np.linalg.norm(floor.impulse[k, 1:])
    # no gravity: exact but for the tolerance of the iterations
    assert normal == pytest.approx(mass * 1.7 * 2.0, rel=1e-8)
    assert body.velocity[k, 2] == pytest.approx(0.7 * 2.0, rel=1e-8)
    # an impulse at the surface changes the sliding speed by 7/2 of what it gives the centre of a homogeneous sphere
    needed = mass / 3.5 * (1 + e_T) * np.linalg.norm(sliding[0])
    if needed < friction * normal:
        assert sliding[1] == pytest.approx(-e_T * sliding[0], abs=1e-7)
        assert tangential == pytest.approx(needed, rel=1e-7)
    else:
        assert tangential == pytest.approx(friction * normal, rel=1e-7)
    if tangential:
        force = floor.force_vector[k, :2]
        assert force @ sliding[0] == pytest.approx(-np.linalg.norm(force) * np.linalg.norm(sliding[0]), rel=1e-6)
    assert np.abs(w[k, [0, 2]]).max() < 1e-12  # nothing turns it about other axes: round-off


# --- impact sequences -----------------------------------------------------


@pytest.mark.parametrize(
    "restitution, speeds, problems",
    [(1.0, (0, 0, 2), 2), (0.5, (0.40625, 0.46875, 1.125), 3), (0.0, (2 / 3,) * 3, None)],
)
def test_three_bodies_in_line_pass_the_impulse_on(restitution, speeds, problems):
    result = fem.DecoupledNSGA(rho_inf=0.8, impacts="plain").run(models.three_in_line(restitution), 0.1, 1e-3)
    # e = 0: the sequence halves the approach speed until tol_v = 2e-8 m/s; else exact
    assert [result[name].velocity[-1, 0] for name in "abc"] == pytest.approx(speeds, abs=1e-12 if restitution else 2e-8)
    if problems:
        assert result.problems.max() == problems
    total = result.energy.total
    assert total[-1] == pytest.approx(0.5 * np.sum(np.square(speeds)), abs=1e-7)
    assert np.diff(total).max() < 1e-12
    assert min(result[name].gap.min() for name in contact_names(result)) > -1e-12


# --- bodies that land -----------------------------------------------------


def test_body_at_rest_stays_with_its_weight_from_the_first_step():
    model = fem.Model("rest", gravity=[0, 0, -9.81])
    ball = model.add(fem.RigidBody.sphere(2.0, 0.3, position=[0, 0, 0.3], name="ball"))
    model.add(fem.SphereOnPlane(ball, model.ground, radius=0.3, friction=0.5, name="table"))
    result = fem.DecoupledNSGA().run(model, 0.1, 1e-3)
    assert np.abs(result["table"].gap).max() < 1e-12 and np.abs(result["ball"].velocity).max() < 1e-12  # round-off
    assert result["table"].force_normal[1:] == pytest.approx(2.0 * 9.81, rel=1e-12)
    assert not result["table"].impact.any()


def at_rest(points, result, position):
    body, names = result["body"], contact_names(result)
    assert body.position[-1] == pytest.approx(position, abs=1e-4)  # printed digits
    assert np.abs(body.velocity[-1]).max() < 1e-6 and np.abs(body.angular_velocity[-1]).max() < 1e-6
    assert sum(result[name].force_normal[-1] for name in names) == pytest.approx(9.81, rel=1e-6)
    assert min(result[name].gap.min() for name in names) > -1e-10
    assert result.energy.total.max() == result.energy.total[0]
    assert len(names) == len(points)


def test_thrown_tripod_lands_where_the_note_says():
    # its three feet are redundant in friction: multipliers are not unique, the motion is
    result = fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-6).run(models.thrown(models.LEGS), 1.3, 1e-3)
    at_rest(models.LEGS, result, [0.4840, 0.5469, 0.1500])


def test_thrown_box_lands_where_the_note_says():
    result = fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-6).run(models.thrown(models.CORNERS), 2.0, 2e-3)
    at_rest(models.CORNERS, result, [0.8284, 0.0927, 0.3000])
    assert result.problems.max() <= 2


@pytest.mark.parametrize("options", [{"penalty": 1.0}, {"penalty": 0.1}, {"epsilon": 1e-6}, {"reuse": False}])
def test_tripod_lands_at_the_same_place_whatever_the_numerical_parameters(options):
    result = fem.DecoupledNSGA.published(rho_inf=0.8, rtol=1e-6, **options).run(models.thrown(models.LEGS), 1.3, 1e-3)
    assert result["body"].position[-1] == pytest.approx([0.4840, 0.5469, 0.1500], abs=1e-4)  # printed digits


def throw(points, h, seed):
    """Run of a random throw; it fails if a step fails."""
    rng = np.random.default_rng(seed)
    model = models.thrown(points, velocity=rng.normal(size=3), spin=4 * rng.normal(size=3))
    return fem.DecoupledNSGA(rho_inf=0.8, persistent_contacts=False).run(model, 1.5, h)


def check_throws(points, h, seeds):
    for seed in seeds:
        result = throw(points, h, seed)
        names = contact_names(result)
        assert min(result[name].gap.min() for name in names) > -1e-12, f"seed {seed}"  # round-off
        landed = np.any([result[name].status > 0 for name in names], axis=0)
        # what an impact step adds, first order in h, is never more than what the impacts before have taken
        assert result.energy.total[np.argmax(landed) :].max() < result.energy.total[0], f"seed {seed}"
        # the tumbling flight alone: second order, 2e-6 at most
        assert result.energy.total.max() < result.energy.total[0] * (1 + 5e-6), f"seed {seed}"
        for name in names:
            contact = result[name]
            assert np.all(contact.impulse[:, 0] >= -1e-12), f"seed {seed}"
            tangential = np.linalg.norm(contact.impulse[:, 1:], axis=1)
            # Coulomb's law to the tolerance of the iterations, 1e-5 of the weight over the step
            assert np.all(tangential <= 0.4 * contact.impulse[:, 0] + 1e-4 * 9.81 * h), f"seed {seed}"


@pytest.mark.parametrize("points, h", [(models.LEGS, 1e-3), (models.CORNERS, 2e-3)], ids=["tripod", "box"])
def test_random_throws_never_fail_nor_penetrate_nor_gain_energy(points, h):
    check_throws(points, h, range(10))


@pytest.mark.slow
@pytest.mark.parametrize("points, h", [(models.LEGS, 1e-3), (models.CORNERS, 2e-3)], ids=["tripod", "box"])
def test_hundred_random_throws_never_fail(points, h):
    check_throws(points, h, range(100))
