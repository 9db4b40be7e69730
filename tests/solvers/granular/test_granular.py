"""Contact groups of free spheres in motion: as with the pairwise solver, invariants, rolling, impacts, obstacles."""

import numpy as np
import pytest
from grain_piles import METHODS, G, H, kicked, pile, swept
from in_turn import in_turn

import fem_mbs as fem
from fem_mbs.solvers.granular import grains


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_smooth_spheres_move_as_they_do_pairwise(restitution, monkeypatch):
    """Friction acts on open pairs with arms that end at the surface of each sphere here, at one point there."""
    monkeypatch.setattr(grains, "BAND", 0.0)  # the law has this in addition, and impacts in turn
    monkeypatch.setattr(grains, "BOUNCES", False)
    a, b = both_ways(pile(18, 3, restitution=restitution, friction=0.0, radii=(0.05, 0.04)), False, 60)
    assert a.pair_count.max() > 12
    for k in (25, 40, 60):
        assert a.rows([k])["position"] == pytest.approx(b.rows([k])["position"], abs=1e-8)
        assert a.rows([k])["velocity"] == pytest.approx(b.rows([k])["velocity"], abs=1e-6)


@pytest.mark.parametrize("relaxed", [False, True])
def test_friction_of_touching_spheres_is_that_of_their_contacts(relaxed):
    a, b = both_ways(kicked(friction=0.3), relaxed, 1)
    assert a.pair_count[1] > 15
    assert a.rows([1])["velocity"] == pytest.approx(b.rows([1])["velocity"], abs=1e-6)
    mine, theirs = (np.lexsort((r.pairs(1).partner, r.pairs(1).type, r.pairs(1).sphere)) for r in (a, b))
    for name in ("sphere", "partner"):  # impulses: one of many solutions
        x, y = getattr(a.pairs(1), name)[mine], getattr(b.pairs(1), name)[theirs]
        assert x == pytest.approx(y, abs=1e-7), name


def both_ways(model, relaxed, steps):
    """Runs with the Gauss-Seidel and the pairwise solver."""
    results = []
    for solver in ("auto", "problem"):
        method = fem.ConeComplementarity(relaxed, contact_tolerance=1e-11, contact_solver=solver)
        results.append(method.run(model, steps * H, H))
        assert swept(results[-1]) == (solver == "auto")
    return results


@pytest.mark.parametrize(("name", "radii"), in_turn(METHODS, [(0.05,), (0.05, 0.03)], first="nsga"))
def test_a_pile_keeps_its_invariants(name, radii):
    tolerance, method = 1e-3, METHODS[name](contact_tolerance=1e-3)
    model = pile(64, 4, radii=radii)
    result = method.run(model, 0.8, H)
    weight = G * sum(1000 * radii[i % len(radii)] ** 3 for i in range(64))
    assert swept(result) and result.statistics["inexact_contact_problems"] == 0
    for k in range(len(result.t)):
        pairs = result.pairs(k)
        assert pairs.gap.min(initial=0.0) > -2.1e-6 * max(radii)  # 1e-6 of a diameter
        along = np.einsum("ck,ck->c", pairs.impulse, pairs.normal)
        across = np.linalg.norm(pairs.impulse - along[:, None] * pairs.normal, axis=1)
        assert (along > 0.0).all() and (across <= 0.3 * along * (1 + 1e-12)).all()
    assert np.diff(result.energy.total).max() <= tolerance * result.energy.kinetic.max()
    # momentum: that of the floor and of gravity
    up = sum(result.pairs(k).impulse[result.pairs(k).type == 1, 2].sum() for k in range(1, len(result.t)))
    mass = np.array([1000 * radii[i % len(radii)] ** 3 for i in range(64)])
    left = (mass * result.rows([-1])["velocity"][0, 1:, 2]).sum()
    assert up - weight * 0.8 == pytest.approx(left, abs=1e-9 * weight)


@pytest.mark.parametrize("name", METHODS)
def test_a_sliding_ball_begins_to_roll(name):
    """It slides until v = r ω = 5/7 v₀ at t = 2 v₀/(7 μ g); a wall takes it back."""
    model = fem.Model("bowling", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.2, name="lane")
    for y in (0.0, 1.0):
        ball = fem.RigidBody.sphere(2.0, 0.1, position=[0, y, 0.1], velocity=[3.0, 0, 0], name=f"ball {y:g}")
        group.sphere(model.add(ball), 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = METHODS[name]().run(model, 0.8, 1e-3)
    assert swept(result)
    v = result["ball 0"].velocity[:, 0]
    assert v[200] == pytest.approx(3.0 - 0.2 * G * 0.2, rel=2e-3)
    assert v[-1] == pytest.approx(15 / 7, rel=2e-3)
    lift = (
        (0.2 * 3.0 / (1 + 3.5 * 0.2**2)) ** 2 / (2 * G) if name == "relaxed" else 0.0
    )  # what begins to slide is thrown off with μ v_T
    assert result["ball 0"].position[:, 2].max() - 0.1 == pytest.approx(lift, rel=0.02, abs=5e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_ball_rebounds_with_newtons_law(name):
    model = fem.Model("rebound", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.0, restitution=0.5, name="floor")
    ball = model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0, 0, 0.55], name="ball"))
    group.sphere(ball, 0.05)
    for k in range(60):  # DecoupledNSGA takes few spheres with restitution one impact after the other
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=[1 + k, 0, 0.05])), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = METHODS[name]().run(model, 0.6, 1e-3)
    assert swept(result)
    v = result["ball"].velocity[:, 2]
    strike = int(np.argmax(v > 0))
    assert result.t[strike] == pytest.approx(np.sqrt(2 * 0.5 / G), abs=2e-3)
    assert v[strike] == pytest.approx(0.5 * np.sqrt(2 * G * 0.5), rel=1e-2)


@pytest.mark.parametrize("below", ["floor", "ball", "dumbbell", "belt"])
def test_the_relaxed_law_leaves_alone_what_does_not_touch_yet(below):
    """An oblique rebound that sticks is that of Coulomb's law, wherever in its step the body meets what is below."""
    ends = []
    for relaxed in (True, False):
        model = fem.Model("oblique")
        group = fem.ContactGroup(friction=2.0, restitution=0.5, name="all")
        for k, height in enumerate(np.linspace(0.1, 0.104, 5)):  # the way of two steps
            start = {"position": [0, k, 0.05 + height], "velocity": [0.8, 0, -2.0], "angular_velocity": [1, 3, 0]}
            if below == "dumbbell":
                body = fem.RigidBody(1.0, [2e-3, 8e-3, 9e-3], rotation=[0, 0.3, 0], name=f"b{k}", **start)
                centers = [[0.1, 0, 0], [-0.1, 0, 0]]
            else:
                body, centers = fem.RigidBody.sphere(1.0, 0.05, name=f"b{k}", **start), [[0, 0, 0]]
            model.add(body)
            for center in centers:
                group.sphere(body.frame(center), 0.05)
            if below == "ball":
                group.sphere(model.add(fem.RigidBody.sphere(3.0, 0.05, position=[0.05, k, -0.05])), 0.05)
        if below == "belt":
            belt = model.add(fem.RigidBody(1.0, 1.0, velocity=[-0.5, 0, 0], name="belt"))
            model.add(fem.Prismatic.at(model.ground, belt, [0, 0, 0], [1, 0, 0]))
            model.add(fem.Prescribed(belt, x=lambda t: -0.5 * t))
            group.obstacle(fem.SphereOnPlane, belt)
        elif below != "ball":
            group.obstacle(fem.SphereOnPlane, model.ground)
        model.add(group)
        result = fem.ConeComplementarity(relaxed=relaxed, contact_tolerance=1e-9).run(model, 0.06, 1e-3)
        assert swept(result)
        bodies = [result[f"b{k}"] for k in range(5)]
        ends.append(np.array([np.r_[body.velocity[-1], body.angular_velocity[-1]] for body in bodies]))
    assert ends[1][:, 2].min() > -1.9  # all have met something
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_a_driven_belt_takes_spheres_along_and_feels_them(name):
    model = fem.Model("belt", gravity=[0, 0, -G])
    belt = model.add(fem.RigidBody(5.0, 1.0, velocity=[0.5, 0, 0], name="belt"))
    model.add(fem.Prismatic.at(model.ground, belt, [0, 0, 0], [1, 0, 0], name="guide"))
    model.add(fem.Prescribed(belt, x=lambda t: 0.5 * t, name="drive"))
    group = fem.ContactGroup(friction=0.4, name="goods")
    for k in range(3):
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=[0.3 * k, 0, 0.05], name=f"b{k}")), 0.05)
    group.obstacle(fem.SphereOnPlane, belt)
    model.add(group)
    result = METHODS[name]().run(model, 0.1, 1e-3)
    assert swept(result)
    # it slips until it rolls: v = 2/7 of the belt, r ω = −5/7 of it
    v, w = result["b1"].velocity[-1, 0], result["b1"].angular_velocity[-1, 1]
    assert v == pytest.approx(0.5 * 2 / 7, rel=5e-3) and v - 0.05 * w == pytest.approx(0.5, rel=1e-3)
    other = METHODS[name](contact_solver="problem").run(model, 0.1, 1e-3)
    assert not swept(other)
    force = [r["drive"].force[-1] for r in (result, other)]
    assert force[0] == pytest.approx(force[1], abs=1e-3)
    assert result["belt"].position[-1] == pytest.approx([0.05, 0, 0], abs=1e-12)


def test_pairs_get_more_room_in_the_middle_of_a_run(monkeypatch):
    runs = []
    for room in (4, 0):
        monkeypatch.setattr(grains, "ROOM", room)
        runs.append(fem.DecoupledNSGA().run(pile(64, 4), 0.3, H))
    assert runs[0].pair_count.max() > 100
    np.testing.assert_array_equal(runs[0].rows([-1])["position"], runs[1].rows([-1])["position"])


def test_a_sphere_that_an_impact_throws_out_of_the_margin_meets_what_is_there():
    """A heavy fast ball hits a light one, which leaves with twice its speed and passes the margin within the step."""
    model = fem.Model("shot")
    group = fem.ContactGroup(name="balls")
    places = [(-0.06, 100.0, 30.0), (0.06, 0.01, 0.0), (0.32, 100.0, 0.0)]
    for k, (x, mass, speed) in enumerate(places):
        body = fem.RigidBody.sphere(mass, 0.05, position=[x, 0, 0], velocity=[speed, 0, 0], name=f"b{k}")
        group.sphere(model.add(body), 0.05)
    model.add(group)
    result = fem.ConeComplementarity(relaxed=False, contact_tolerance=1e-9).run(model, 0.03, 5e-3)
    assert swept(result)
    x = np.array([result[f"b{k}"].position[:, 0] for k in range(3)])
    assert (np.diff(x, axis=0) > 0.1 - 1.1e-7).all()
