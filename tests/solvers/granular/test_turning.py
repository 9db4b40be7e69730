"""Contact groups that resist rolling and spinning, or drill on a disc: closed forms, pairwise solver, invariants."""

import numpy as np
import pytest
from grain_piles import swept
from scipy.integrate import solve_ivp

import fem_mbs as fem
from fem_mbs.jit import kernel
from fem_mbs.solvers.contact_problem import cones
from fem_mbs.solvers.granular import grains, turning_contact

H, G = 2e-3, 9.81
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "relaxed": lambda **options: fem.ConeComplementarity(relaxed=True, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
    "moreau": lambda **options: fem.MoreauJean(**options),
}
COULOMB = ("cone", "nsga", "moreau")


@kernel
def projected(x, mu, disc, size):
    turning_contact.project(x, mu, disc, size)


@kernel
def projected_by_contact_problem(x, mu, out):
    cones.project(x, mu, out)


def test_the_projection_is_that_of_the_contact_problem_solver():
    rng = np.random.default_rng(5)
    for k in range(300):
        x, mu, out = rng.normal(size=6), rng.uniform(0.0, 2.0, 3) * (rng.random(3) > 0.2), np.zeros(6)
        projected_by_contact_problem(x, mu, out)
        projected(x, mu, False, np.zeros(3))
        np.testing.assert_allclose(x, out, atol=1e-14, err_msg=f"case {k}")


def test_the_projection_onto_the_cone_of_a_disc_is_nearest():
    """The residual is normal to the cone: orthogonal to the projection, and nowhere inside."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        x, mu = 2.0 * rng.normal(size=6), np.array([rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.5), 0.0])
        p = x.copy()
        projected(p, mu, True, np.zeros(3))
        assert np.linalg.norm(p[[1, 2, 5]]) <= mu[0] * p[0] + 1e-12 and np.hypot(*p[3:5]) <= mu[1] * p[0] + 1e-12
        assert (x - p) @ p == pytest.approx(0.0, abs=1e-12)
        lift = mu[0] * np.linalg.norm((p - x)[[1, 2, 5]]) + mu[1] * np.hypot(*(p - x)[3:5])
        assert (p - x)[0] >= lift - 1e-12  # in the dual cone


def ball(law, *, velocity=(0, 0, 0), spin=(0, 0, 0), slope=0.0):
    """A ball of 2 kg and 0.1 m on a floor, gravity as on a slope about y."""
    model = fem.Model("ball", gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
    group = fem.ContactGroup(name="floor", **law)
    start = {"position": [0, 0, 0.1], "velocity": velocity, "angular_velocity": spin}
    group.sphere(model.add(fem.RigidBody.sphere(2.0, 0.1, name="ball", **start)), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


@pytest.mark.parametrize("name", COULOMB)
def test_a_rolling_ball_slows_down_by_its_resistance_and_stops(name):
    """m a = −F and (2/5) m r² α = F r − ρ m g: a = −(5/7) (ρ/r) g; it stands after v r/((5/7) ρ g)."""
    law = {"friction": 0.5, "rolling_resistance": 0.005}
    result = METHODS[name](contact_tolerance=1e-10).run(ball(law, velocity=(1, 0, 0), spin=(0, 10, 0)), 3.5, H)
    assert swept(result)
    slower = 5 / 7 * 0.05 * G
    x, v, w = result["ball"].position[:, 0], result["ball"].velocity[:, 0], result["ball"].angular_velocity[:, 1]
    moving = result.t < 1 / slower - H
    assert v[moving] == pytest.approx(1.0 - slower * result.t[moving], abs=1e-9)
    assert w[moving] == pytest.approx(10 * v[moving], abs=1e-7)
    assert x[-1] == pytest.approx(0.5 / slower, abs=1e-3)  # half a step of 1 m/s
    assert abs(v[-1]) < 1e-9 and abs(w[-1]) < 1e-8
    moment = result.pairs(100).moment_impulse[0]
    assert moment == pytest.approx([0, -0.005 * 2.0 * G * H, 0], abs=1e-9)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("times", "rolls"), [(0.98, False), (1.02, True)])
def test_a_ball_on_a_slope_rolls_beyond_the_angle_of_its_resistance(name, times, rolls):
    """tan α = ρ/r; beyond it a = (5/7) g (sin α − (ρ/r) cos α)."""
    slope = times * np.arctan(0.05)
    law = {"friction": 0.5, "rolling_resistance": 0.005}
    result = METHODS[name](contact_tolerance=1e-8).run(ball(law, slope=slope), 0.5, H)
    v = result["ball"].velocity[-1, 0]
    expected = 5 / 7 * G * (np.sin(slope) - 0.05 * np.cos(slope)) * 0.5 if rolls else 0.0
    # the relaxed law lifts with ρ ω: the normal force is m (g + ρ ω'), where 2 % of the resistance are all that acts
    assert v == pytest.approx(expected, abs=(3e-3 if name == "relaxed" else 2e-4) * expected + 1e-9)
    assert (result["ball"].position[-1, 0] > 1e-6) == rolls


@pytest.mark.parametrize("name", COULOMB)
def test_a_spinning_ball_stops_in_the_time_of_its_moment(name):
    """J ω' = −γ m g."""
    law = {"friction": 0.5, "spinning_resistance": 0.002}
    result = METHODS[name](contact_tolerance=1e-10).run(ball(law, spin=(0, 0, 8.0)), 2.0, H)
    w = result["ball"].angular_velocity[:, 2]
    rate = 0.002 * 2.0 * G / (0.4 * 2.0 * 0.01)
    assert 8.0 / rate < 1.8
    assert w == pytest.approx(np.maximum(8.0 - rate * result.t, 0.0), abs=1e-7)


@pytest.mark.parametrize("name", COULOMB)
def test_a_ball_that_slides_and_drills_has_one_friction_for_both(name):
    """Against the equations of motion of Coulomb-Contensou friction, integrated while the ball slides."""
    mu, radius = 0.3, 0.02
    law = {"friction": mu, "radius_contensou": radius}
    c = 3 * np.pi / 16 * radius

    def rates(_, y):
        slip = np.array([y[0] - 0.1 * y[2], c * y[3]])
        force = -mu * 2.0 * G * slip / np.linalg.norm(slip)
        return [force[0] / 2.0, 0.0, -0.1 * force[0] / 0.008, c * force[1] / 0.008]

    reference = solve_ivp(rates, (0, 0.1), [1.0, 0.0, 0.0, 60.0], rtol=1e-10, atol=1e-12).y[:, -1]
    start = {"velocity": (1, 0, 0), "spin": (0, 0, 60.0)}
    errors = []
    for h in (1e-3, 5e-4):
        result = METHODS[name](contact_tolerance=1e-10).run(ball(law, **start), 0.1, h)
        assert swept(result)
        body = result["ball"]
        spin = body.rotation[-1] @ body.angular_velocity[-1]
        found = np.array([body.velocity[-1, 0], 0.0, spin[1], spin[2]])
        errors.append(np.abs(found - reference) / [1.0, 1.0, 10.0, 60.0])
    assert errors[0].max() < 2e-3 and errors[1].max() < 0.6 * errors[0].max()  # of first order
    assert reference[0] - 0.1 * reference[2] > 0.1  # it still slides


def touching(law, *, shape="spheres", side=2):
    """Bodies that touch each other and a floor, with any velocities."""
    model, rng = fem.Model("kick", gravity=[0, 0, -G]), np.random.default_rng(3)
    group = fem.ContactGroup(name="balls", **law)
    for i in range(side**3):
        place = 0.1 * np.array([i % side, (i // side) % side, i // side**2 + 0.5])
        motion = {"velocity": rng.normal(size=3), "angular_velocity": 20 * rng.normal(size=3)}
        if shape == "spheres":
            body = fem.RigidBody.sphere(1.0 + 0.2 * i, 0.05, position=place, **motion)
        else:
            turned = rng.normal(size=3)
            body = fem.RigidBody(1.0, [1e-3, 2e-3, 2.5e-3], position=place, rotation=turned, **motion)
        group.sphere(model.add(body), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


LAWS = [
    {"friction": 0.3, "rolling_resistance": 0.004},
    {"friction": 0.3, "spinning_resistance": 0.004},
    {"friction": 0.3, "rolling_resistance": 0.01, "spinning_resistance": 0.003},
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("shape", ["spheres", "boxes"])
def test_a_step_is_that_of_the_contacts_pairwise(law, relaxed, shape, monkeypatch):
    monkeypatch.setattr(grains, "BAND", 0.0)
    results = []
    h = H if shape == "spheres" else 1e-5  # arms and gyroscopic moments are those of the start here
    for solver in ("auto", "problem"):
        method = fem.ConeComplementarity(relaxed, contact_tolerance=1e-10, contact_solver=solver)
        results.append(method.run(touching(law, shape=shape), h, h))
        assert swept(results[-1]) == (solver == "auto")
    a, b = results
    assert a.pair_count[1] == b.pair_count[1] >= 6
    for name, scale in (("velocity", 1.0), ("angular_velocity", 50.0)):
        assert a.rows([1])[name] == pytest.approx(b.rows([1])[name], abs=1e-7 * scale), name


@pytest.mark.parametrize("name", ["nsga", "moreau"])
def test_other_methods_come_to_the_motion_pairwise_with_smaller_steps(name):
    """Both ways are of first order; what they differ by scales with h."""
    apart = []
    for h in (2e-3, 5e-4):
        ends = []
        for solver in ("auto", "problem"):
            method = METHODS[name](contact_tolerance=1e-10, contact_solver=solver)
            result = method.run(ball(LAWS[2], velocity=(0.3, 0, 0), spin=(3, 9, 20)), 0.1, h)
            assert swept(result) == (solver == "auto")
            body = result["ball"]
            ends.append(np.r_[body.velocity[-1], 0.1 * body.rotation[-1] @ body.angular_velocity[-1]])
        apart.append(np.abs(ends[0] - ends[1]).max())
    assert apart[0] < 5e-3 and apart[1] < 0.3 * apart[0]


def test_balls_that_drill_on_each_other_have_the_step_of_single_contacts():
    """`DecoupledNSGA` supports discs of single contacts; a row of three that touch each other and the floor."""
    law, ends = {"friction": 0.3, "radius_contensou": 0.02}, []
    for grouped in (True, False):
        model, rng = fem.Model("row"), np.random.default_rng(4)
        bodies = []
        for i in range(3):
            motion = {"velocity": [1 - i, *rng.normal(size=2) - [0, 1]], "angular_velocity": 20 * rng.normal(size=3)}
            place = [(0.1 - 1e-10) * i, 0, 0.05 - 1e-10]  # all are closed, whatever a forecast says
            bodies.append(model.add(fem.RigidBody.sphere(1.0 + i, 0.05, position=place, name=f"b{i}", **motion)))
        group = fem.ContactGroup(name="row", **law)
        for body in bodies:
            group.sphere(body, 0.05)
            if not grouped:
                model.add(fem.SphereOnPlane(body, model.ground, radius=0.05, **law))
        for first, second in zip(bodies[1:], bodies):
            if not grouped:
                model.add(fem.SphereOnSphere(first, second, radius_A=0.05, radius_B=0.05, **law))
        group.obstacle(fem.SphereOnPlane, model.ground)
        if grouped:
            model.add(group)
        result = fem.DecoupledNSGA(contact_tolerance=1e-12, rtol=1e-10).run(model, 1e-11, 1e-11)
        assert swept(result) == grouped
        ends.append(np.array([np.r_[result[b.name].velocity[-1], result[b.name].angular_velocity[-1]] for b in bodies]))
    assert np.abs(ends[0][:, 3:]).max() > 10
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def column(law, skin=None, count=75):
    """A column of spheres on an open floor, a little apart."""
    model, rng = fem.Model("column", gravity=[0, 0, -G]), np.random.default_rng(1)
    group = fem.ContactGroup(name="balls", skin=skin, **law)
    for i in range(count):
        place = 0.105 * np.array([i % 3, (i // 3) % 3, i // 9 + 0.5]) + rng.uniform(-1e-3, 1e-3, 3)
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=place)), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    return model


@pytest.mark.parametrize("name", METHODS)
def test_a_heap_keeps_its_invariants_and_is_steeper_with_resistance(name):
    law = {"friction": 0.4, "rolling_resistance": 0.01, "spinning_resistance": 0.005}
    method = METHODS[name]()
    result = method.run(column(law), 1.0, H)
    assert swept(result) and result.statistics["inexact_contact_problems"] == 0 and not result.warnings
    for k in range(len(result.t)):
        pairs = result.pairs(k)
        along = np.einsum("ck,ck->c", pairs.impulse, pairs.normal)
        across = np.linalg.norm(pairs.impulse - along[:, None] * pairs.normal, axis=1)
        spin = np.einsum("ck,ck->c", pairs.moment_impulse, pairs.normal)
        roll = np.linalg.norm(pairs.moment_impulse - spin[:, None] * pairs.normal, axis=1)
        assert pairs.gap.min(initial=0.0) > -1.01e-6 * 0.1
        assert (along > 0.0).all() and (across <= 0.4 * along * (1 + 1e-12)).all()
        assert (roll <= 0.01 * along * (1 + 1e-9)).all() and (np.abs(spin) <= 0.005 * along * (1 + 1e-9)).all()
    energy = result.energy.total
    assert np.diff(energy).max() <= 1e-3 * result.energy.kinetic.max()
    up = sum(result.pairs(k).impulse[result.pairs(k).type == 1, 2].sum() for k in range(1, len(result.t)))
    assert up - 75 * G == pytest.approx(result.rows([-1])["velocity"][0, 1:, 2].sum(), abs=1e-7)
    if name == "nsga":
        smooth = method.run(column({"friction": 0.4}), 1.0, H)
        spread = [np.ptp(r.rows([-1])["position"][0, 1:, :2], axis=0).max() for r in (result, smooth)]
        assert spread[0] < 0.8 * spread[1]


@pytest.mark.parametrize("name", ["nsga", "relaxed"])
def test_a_heap_of_spheres_that_drill_keeps_one_friction_for_both(name):
    law = {"friction": 0.3, "radius_contensou": 0.005}
    result = METHODS[name]().run(column(law), 0.8, H)
    assert swept(result) and result.statistics["inexact_contact_problems"] == 0 and not result.warnings
    arm, drilled = 3 * np.pi / 16 * 0.005, 0.0
    for k in range(len(result.t)):
        pairs = result.pairs(k)
        along = np.einsum("ck,ck->c", pairs.impulse, pairs.normal)
        across = np.linalg.norm(pairs.impulse - along[:, None] * pairs.normal, axis=1)
        spin = np.einsum("ck,ck->c", pairs.moment_impulse, pairs.normal)
        roll = np.linalg.norm(pairs.moment_impulse - spin[:, None] * pairs.normal, axis=1)
        assert (np.hypot(across, spin / arm) <= 0.3 * along * (1 + 1e-9)).all()
        assert (roll <= 1e-12 * along).all()  # nothing resists rolling
        drilled = max(drilled, np.abs(spin).max(initial=0.0))
    assert drilled > 0.0 and np.diff(result.energy.total).max() <= 1e-3 * result.energy.kinetic.max()


@pytest.mark.parametrize("name", COULOMB)
def test_a_turntable_takes_a_ball_along_and_feels_its_moment(name):
    model = fem.Model("turntable", gravity=[0, 0, -G])
    table = model.add(fem.RigidBody(5.0, 1.0, angular_velocity=[0, 0, 6.0], name="table"))
    hinge = model.add(fem.Revolute.at(model.ground, table, [0, 0, 0], [0, 0, 1], name="hinge"))
    model.add(fem.RevoluteDriver(hinge.frame_P, hinge.frame_Q, lambda t: 6.0 * t, name="drive"))
    group = fem.ContactGroup(friction=0.4, spinning_resistance=0.004, rolling_resistance=0.001, name="goods")
    group.sphere(model.add(fem.RigidBody.sphere(2.0, 0.1, position=[0, 0, 0.1], name="ball")), 0.1)
    group.obstacle(fem.SphereOnPlane, table)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-9).run(model, 1.0, H)
    assert swept(result)
    rate = 0.004 * 2.0 * G / 0.008
    w = result["ball"].angular_velocity[:, 2]
    assert w == pytest.approx(np.minimum(rate * result.t, 6.0), abs=2e-6)
    moment = result["drive"].moment
    assert np.abs(moment[100]).max() == pytest.approx(0.004 * 2.0 * G, rel=2e-4)  # and the drift of the angle
    assert np.abs(moment[-1]).max() < 1e-6


@pytest.mark.parametrize("name", ["cone", "nsga"])
def test_moments_stay_with_their_pairs_when_these_are_searched_again(name, monkeypatch):
    """Searches in each step, with little room, change nothing: not even the number of iterations."""
    law, runs = {"friction": 0.4, "rolling_resistance": 0.01, "spinning_resistance": 0.005}, []
    for room, skin in ((4, 0.05), (0, 0.05), (4, 1e-3)):
        monkeypatch.setattr(grains, "ROOM", room)
        runs.append(METHODS[name](contact_tolerance=1e-8).run(column(law, skin, 36), 0.25, H))
    np.testing.assert_array_equal(runs[0].rows([-1])["position"], runs[1].rows([-1])["position"])
    assert runs[2].statistics["pair_searches"] > 5 * runs[0].statistics["pair_searches"]
    assert runs[2].rows([-1])["position"] == pytest.approx(runs[0].rows([-1])["position"], abs=1e-5)
    assert runs[2].statistics["contact_sweeps"] < 1.2 * runs[0].statistics["contact_sweeps"]


def test_discs_of_groups_that_sweeps_do_not_take_are_rejected():
    law = {"friction": 0.3, "radius_contensou": 0.01}
    with pytest.raises(fem.ParameterError, match=r"'floor'.*radius_contensou.*'problem'"):
        fem.ConeComplementarity(contact_solver="problem").run(ball(law), H, H)
    model = ball(law)
    model.add(fem.Spring(model.ground, model.contact_groups[0].frames[0], stiffness=1.0))
    with pytest.raises(fem.ParameterError, match=r"radius_contensou.*sweeps"):
        fem.DecoupledNSGA().run(model, H, H)
