"""Contact groups of free spheres: what does not fit or converge, what is excluded, held or closes at once."""

import re
from itertools import pairwise

import numpy as np
import pytest
from grain_piles import METHODS, G, H, pile, swept

import fem_mbs as fem
from fem_mbs.solvers.granular import fitting, grains


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m, g, b: m.add(fem.RigidBody(1.0, 1e-3, node=b.node, center=[0.1, 0, 0])), "centre"),
        (lambda m, g, b: m.add(fem.Spring(m.ground, b, stiffness=1.0)), "body with spheres"),
    ],
)
def test_what_does_not_fit_is_solved_pairwise(change, words):
    model = fem.Model("other", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.2, name="balls")
    body = model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 0.1]))
    group.sphere(body, 0.1)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    change(model, group, body)
    system, method = model.compile(), fem.DecoupledNSGA()
    assert words in fitting.fit(system, method).reason
    assert not swept(method.run(system, 0.01, 1e-3))


def test_contacts_that_are_not_solved_end_the_run_with_how_far_they_came(monkeypatch):
    monkeypatch.setattr(grains, "SWEEPS", 2)
    with pytest.raises(fem.SolverError, match=r"'balls' .* 2 iterations .*1e-02"):
        fem.ConeComplementarity().run(pile(64, 4), 0.8, H)


def test_contacts_that_are_left_above_the_tolerance_are_reported(monkeypatch):
    monkeypatch.setattr(grains, "SWEEPS", 2)
    monkeypatch.setattr(grains, "WORST", 10.0)
    result = fem.ConeComplementarity().run(pile(64, 4), 0.8, H)
    assert result.statistics["inexact_contact_problems"] > 0
    assert any("above contact_tolerance = 0.001" in text for text in result.warnings)


def test_the_report_says_how_groups_were_solved():
    by_sweeps = fem.ConeComplementarity().run(pile(8, 2), 4 * H, H)
    by_pairs = fem.DecoupledNSGA(contact_solver="problem").run(pile(8, 2), 4 * H, H)
    assert "Gauss-Seidel" in str(by_sweeps.report()) and "solved_pair_by_pair" not in by_sweeps.statistics
    assert re.search("contact_solver.*'problem'", str(by_pairs.report()))


def test_the_report_says_which_impacts_lost_their_restitution():
    result = fem.DecoupledNSGA(max_problems=4).run(pile(18, 3, restitution=0.5), 0.3, H)
    count = result.statistics["impact_sequences_cut_short"]
    assert count > 0 and f"{count} sequences" in str(result.report())


@pytest.mark.parametrize(("restitution", "told"), [(0.0, False), (0.5, True)])
def test_a_long_sequence_without_restitution_has_none_to_lose(restitution, told):
    """A ball hits a row of seven: they move on together, in as many problems as there are contacts and one."""
    model = fem.Model("row")
    place = [0.1 * k + (0.001 if k else 0.0) for k in range(8)]
    balls = [fem.RigidBody.sphere(1.0, 0.05, position=[x, 0, 0], velocity=[float(x == 0), 0, 0]) for x in place]
    model.add(*balls)
    for one, other in pairwise(balls):
        model.add(fem.SphereOnSphere(one, other, radius_A=0.05, radius_B=0.05, restitution=restitution))
    result = fem.DecoupledNSGA(max_problems=12).run(model, 0.01, H)
    assert result.problems.max() > 6  # more than half of those allowed
    assert ("cut short" in str(result.report())) == told
    if not told:
        assert result.state(-1).V[1:, 0] == pytest.approx(1 / 8, rel=1e-9)


@pytest.mark.parametrize("what", ["balls", "floor"])
def test_excluded_bodies_pass_through_each_other(what):
    """Balls that fly through each other, or through a floor, as in flight; others are held."""
    model = fem.Model("ghosts", gravity=[0, 0, -G])
    group = fem.ContactGroup(name="all")
    balls = []
    for k in range(6):
        start = {"position": [0.5 * (k // 2), 0, 0.05 + 0.15 * (k % 2)], "velocity": [0, 0, -1.0 * (k % 2)]}
        balls.append(model.add(fem.RigidBody.sphere(1.0, 0.05, name=f"ball {k}", **start)))
        group.sphere(balls[-1], 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    if what == "balls":
        group.exclude(balls[3], balls[2])
        free, lowest = 3, 0.05
    else:
        group.exclude(model.ground, balls[4])
        free, lowest = 4, -np.inf
    model.add(group)
    result = fem.ConeComplementarity(relaxed=False).run(model, 0.2, H)
    assert swept(result)
    z = np.array([result[f"ball {k}"].position[-1, 2] for k in range(6)])
    if what == "balls":
        assert z[[2, 3]] == pytest.approx([lowest, lowest], abs=1e-6)
    else:
        assert z[4] < 0.05 - 0.1
    held = [k for k in range(6) if k // 2 != free // 2]
    assert z[held] == pytest.approx([0.05, 0.15, 0.05, 0.15], abs=1e-6)
    other = fem.ConeComplementarity(relaxed=False, contact_solver="problem").run(model, 0.2, H)
    assert not swept(other)
    assert z == pytest.approx([other[f"ball {k}"].position[-1, 2] for k in range(6)], abs=2e-6)


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("clumps", [False, True])
def test_fixed_spheres_that_touch_each_other_and_a_floor_carry(relaxed, clumps):
    """Pairs without mobility are no contacts: the relaxed law divided zero by it. The ball above is held by two."""
    model = fem.Model("nest", gravity=[0, 0, -G])
    group, r = fem.ContactGroup(friction=0.3, name="all"), 0.05
    for k, (x, z) in enumerate(((0, r), (2 * r, r), (r, (1 + np.sqrt(3)) * r))):
        ball = model.add(fem.RigidBody.sphere(1.0, r, position=[x, 0, z], fixed=k < 2, name=f"ball {k}"))
        group.sphere(ball, r)
    if clumps:
        far = model.add(fem.RigidBody.sphere(1.0, r, position=[5, 0, r]))
        group.sphere(far.frame([0, 0, 0]), r)
        group.sphere(far.frame([0, 0, 1]), r)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = fem.ConeComplementarity(relaxed=relaxed, contact_tolerance=1e-8).run(model, 10 * H, H)
    assert swept(result)
    pairs = result.pairs(-1)
    on_ball = (pairs.type == 0) & ((pairs.sphere == 2) | (pairs.partner == 2))
    assert on_ball.sum() == 2 and not ((pairs.sphere < 2) & (pairs.type == 1)).any()
    assert np.abs(pairs.impulse[on_ball, 2]).sum() == pytest.approx(H * G, rel=1e-6)


@pytest.mark.parametrize("name", ["nsga", "cone"])
def test_fixed_spheres_that_touch_each_other_and_a_plane_carry_others(name):
    """Nothing moves these pairs, and no impulse belongs to them: W = 0 would give NaN."""
    model = fem.Model("on fixed spheres", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.5, name="balls")
    for k in range(4):
        place = [0.1 * (k % 2), 0.1 * (k // 2), 0.05]
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=place, fixed=True)), 0.05)
    top = [0.05, 0.05, 0.05 + 0.1 / np.sqrt(2.0)]  # touches all four
    group.sphere(model.add(fem.RigidBody.sphere(2.0, 0.05, position=top, name="top")), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = METHODS[name](contact_tolerance=1e-8).run(model, 0.1, H)
    assert "contact_sweeps" in result.statistics
    assert result["top"].position[-1] == pytest.approx(top, abs=1e-6)
    pairs = result.pairs(-1)
    assert len(pairs.gap) == 4  # of the loose sphere only
    sign = np.where(pairs.sphere == 4, 1.0, -1.0)
    assert (sign * pairs.impulse[:, 2]).sum() / H == pytest.approx(2.0 * G, rel=1e-6)


def poured(beside):
    """Forty spheres that fall on a floor; ``beside`` them a pendulum, whose joint wants all corrections of a step."""
    model, group = fem.Model("pour", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.4, name="balls")
    rng = np.random.default_rng(5)
    places = 0.22 * np.stack(np.indices((3, 3, 5)), axis=-1).reshape(-1, 3)[:40] + rng.uniform(-0.01, 0.01, (40, 3))
    model.add(group.spheres(places + [0, 0, 0.12], 0.1, density=500.0, velocity=rng.normal(size=(40, 3))))
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    if beside:
        bob = model.add(fem.RigidBody.sphere(2.0, 0.1, position=[5.0, 0, 1.0], name="bob"))
        model.add(fem.Spherical.at(model.ground, bob, [5.3, 0, 1.0], name="pivot"))
    return model


def test_leaving_out_corrections_that_have_nothing_to_do_changes_nothing():
    """Particles alone skip the problems of positions and velocities, which run where a joint is in the model."""
    alone, beside = (fem.DecoupledNSGA(contact_tolerance=1e-6).run(poured(there), 0.3, H) for there in (False, True))
    assert alone.pair_count[-1] > 10
    assert alone.statistics["contact_sweeps"] == beside.statistics["contact_sweeps"] > 100
    for name, left in (("position", 1e-12), ("velocity", 1e-12), ("quaternion", 1e-12), ("acceleration", 1e-9)):
        ours, theirs = (result.rows([-1])[name][0][1:41] for result in (alone, beside))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=left, err_msg=name)  # round-off, over h


def test_a_column_that_closes_at_once_has_no_overlaps_left():
    """Each sphere hands its push on to the next; 100 passes, as there were once, leave 2e-5 of a diameter."""
    count, radius = 30, 0.01
    model, group = fem.Model("column", gravity=[0, 0, -G]), fem.ContactGroup(friction=0.5, rolling_resistance=1e-3)
    centers = np.zeros((count, 3))
    centers[:, 2] = 2.3 * radius * (np.arange(count) + 0.5)
    centers[:, :2] = np.random.default_rng(1).uniform(-0.05, 0.05, (count, 2)) * radius
    model.add(group.spheres(centers, radius, density=2500.0))
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    result = fem.DecoupledNSGA().run(model, 0.3, H)
    gap = min(result.pairs(k).gap.min(initial=0.0) for k in range(len(result.t)))
    assert -1.01e-6 * 2 * radius < gap < 0.0
