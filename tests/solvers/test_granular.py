"""Contact groups of free spheres: published digits of the sweeps, the same motion as pair by pair, invariants."""

from contextlib import nullcontext

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.jit import address, kernel
from fem_mbs.solvers.contact_problem.problem import ContactProblem
from fem_mbs.solvers.granular import fitting, grains, halves, lanes, momentum, sweeps
from fem_mbs.solvers.granular.data import LANES, TABLE
from fem_mbs.solvers.granular.halves import TAKEN, TICKET, SecondThread
from fem_mbs.solvers.stepping.engine import Engine

H, G = 2e-3, 9.81
METHODS = {
    "cone": lambda **options: fem.ConeComplementarity(relaxed=False, **options),
    "relaxed": lambda **options: fem.ConeComplementarity(relaxed=True, **options),
    "nsga": lambda **options: fem.DecoupledNSGA(**options),
    "moreau": lambda **options: fem.MoreauJean(**options),
}


@kernel
def size_of(record):
    return sweeps.size_of_problem(record[0])


@kernel
def error_of(record):
    return sweeps.error_of(record[0])


@kernel
def begin(record):
    halves.begin(record[0])
    lanes.look(record[0], 0)


@kernel
def look(record):
    lanes.look(record[0], 0)


@kernel
def sweep(record, beta):
    return halves.sweep(record[0], beta)


@kernel
def one_sweep(record):
    p = record[0]
    halves.begin(p)
    lanes.look(p, 0)
    halves.sweep(p, 0.0)
    lanes.put_back(p)


@kernel
def begin_lag(record):
    p = record[0]
    halves.begin(p)
    lanes.look(p, 0)
    lanes.begin_lag(p)


@kernel
def solve(record, q_square):
    return momentum.solve(record[0], q_square)


def lattice(k, kind, mu=0.3):
    """Touching unit spheres in a cube k³ on a floor between four walls; arrays and record of `granular.data`."""
    n, pairs = k**3, []
    for i in range(n):
        x, y, z = i % k, (i // k) % k, i // k**2
        walls = [(z == 0, (0, 0, 1)), (x == 0, (1, 0, 0)), (x == k - 1, (-1, 0, 0))]
        walls += [(y == 0, (0, 1, 0)), (y == k - 1, (0, -1, 0))]
        pairs += [(i, -1 - w, normal) for w, (there, normal) in enumerate(walls) if there]
        above = [(x < k - 1, 1, (-1, 0, 0)), (y < k - 1, k, (0, -1, 0)), (z < k - 1, k * k, (0, 0, -1))]
        pairs += [(i, i + step, normal) for there, step, normal in above if there]
    sizes = {
        "ns": n,
        "ng": n + 1,
        "np": len(pairs),
        "nq": LANES * (len(pairs) // LANES + 1),
        "nm": 0,
        "no": 5,
        "nl": 1,
        "nodes": n,
        "nb": 0,
        "nk": 0,
        "nv": n + 1,
        **dict.fromkeys(("nx", "nt", "nh", "nr", "nf", "nc", "ny"), 0),
    }
    a, record = TABLE.arrays(sizes), np.zeros(1, TABLE.dtype)
    TABLE.aim(record, a)
    a["first"][:], a["second"][:], a["rows"][:, :3] = map(list, zip(*pairs))
    a["mu"][:], a["radius"][:] = mu, 1.0
    a["grains"][:n, 6:] = 1.0, 2.5
    if kind == "impact":
        rng = np.random.default_rng(7)
        a["grains"][:n, :3], a["grains"][:n, 3:6] = rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
    else:
        a["grains"][:n, :3] = 0.2, 0.0, -1.0
    for name, value in {"count": len(pairs), "most": 5000, "cap": 0.85, "tolerance": 1e-3}.items():
        record[0][name] = value
    return a, record


def kinetic(a):
    g = a["grains"]
    return 0.5 * ((g[:, :3] ** 2).sum() + 0.4 * (g[:, 3:6] ** 2).sum())


@pytest.mark.parametrize(
    ("k", "kind", "q", "error", "after", "energy"),
    [
        (8, "impact", 38.8910739734, 0.4347457024, 0.2174744142, 402.3897159),
        (8, "kick", 7.06540869306, 0.6794713895, 0.3762387332, 208.1000772),
        (16, "impact", 108.967427724, 0.4289311098, 0.2152879432, 3375.471242),
    ],
)
def test_one_sweep_has_the_digits_of_an_independent_program(k, kind, q, error, after, energy):
    a, record = lattice(k, kind)
    square = size_of(record)
    assert square == pytest.approx(q**2, rel=1e-10)
    assert error_of(record) == pytest.approx(error**2 * square, rel=1e-9)
    one_sweep(record)
    assert error_of(record) == pytest.approx(after**2 * square, rel=1e-8)
    assert kinetic(a) == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize(("tolerance", "count"), [(1e-3, 31), (1e-6, 69), (1e-9, 101)])
def test_sweeps_with_momentum_converge_as_published(tolerance, count):
    a, record = lattice(8, "kick")
    record[0]["tolerance"] = tolerance
    assert solve(record, size_of(record))
    assert record[0]["sweeps"] == count and record[0]["error"] <= tolerance
    if tolerance < 1e-8:
        assert kinetic(a) < 1e-14  # all stop: nobody can get away
        # one of the values that sums of the normal impulses end with, by the path
        assert a["rows"][:, 3].sum() == pytest.approx(2638.05, rel=1e-4)


@pytest.mark.parametrize("relaxed", [False, True])
def test_the_error_is_that_of_the_contact_problem_solver(relaxed):
    """Blocks of gradients, masses and the error by code that knows no spheres."""
    a, record = lattice(3, "impact")
    record[0]["relaxed"] = relaxed
    n, count = 27, int(record[0]["count"])
    grains_of, first, second, normals = a["grains"][:n].copy(), a["first"], a["second"], a["rows"][:, :3].copy()
    blocks = np.zeros((count, 2, 3, 6))
    for c, normal in enumerate(normals):
        axes = np.array([normal, np.roll(normal, 1), np.cross(normal, np.roll(normal, 1))])
        for side, sign in ((0, 1.0), (1, -1.0)):
            blocks[c, side, :, :3] = sign * axes
            for row in range(3):  # velocity of the point: v − s × n of the first, −(v + s × n) of the second
                blocks[c, side, row, 3:] = -np.cross(normal, axes[row])
    masses = np.zeros((n, 6))
    masses[:, :3], masses[:, 3:] = 1.0, 1.0 / 2.5
    bodies = np.stack([first, np.where(second >= 0, second, -1)], axis=1)
    v = grains_of[:, :6]
    problem = ContactProblem.from_contacts(masses, bodies, blocks, np.zeros((count, 3)), 0.3, v=v, relaxed=relaxed)
    for _ in range(3):
        one_sweep(record)
    r = np.einsum("crk,ck->cr", np.array([[x, np.roll(x, 1), np.cross(x, np.roll(x, 1))] for x in normals]),
                  a["rows"][:, 3, None] * normals + a["rows"][:, 4:7])  # fmt: skip
    mine, theirs = error_of(record), problem.error(r)[0]
    q = np.linalg.norm(problem.scaled.S * problem.q)
    assert mine == pytest.approx((theirs * q) ** 2, rel=1e-9)


def test_sweeps_that_get_no_further_lag_and_find_impulses_of_coulombs_law():
    """Disordered normals and much friction: a window of sweeps without progress comes before the tolerance."""
    a, record = lattice(8, "kick", mu=0.5)
    rng = np.random.default_rng(0)
    normals = a["rows"][:, :3] + 0.4 * rng.standard_normal((len(a["rows"]), 3))
    a["rows"][:, :3] = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    a["grains"][:-1, :3] += 0.1 * rng.standard_normal((512, 3))
    square = size_of(record)
    assert solve(record, square) and record[0]["lagged"] == 1
    assert error_of(record) <= 1e-6 * square  # of Coulomb's law itself, not of the law that lags
    r, tangential = a["rows"][:, 3], np.linalg.norm(a["rows"][:, 4:7], axis=1)
    assert (r >= 0.0).all() and (tangential <= 0.5 * r * (1 + 1e-12)).all()


def test_the_lag_begins_with_the_slip_that_there_is():
    a, record = lattice(4, "impact", mu=0.7)
    a["rows"][::3, 7] = 100.0  # some pairs are far from closing, and are listed when the others lag
    begin_lag(record)
    a["rows"][:, 7] = 0.0
    look(record)
    v, s = a["grains"][:, :3], a["grains"][:, 3:6]
    i, j = a["first"], np.where(a["second"] < 0, len(v) - 1, a["second"])  # the last cannot move
    n = a["rows"][:, :3]
    u = v[i] - v[j] - np.cross(s[i] + s[j], n)
    slip = np.linalg.norm(u - np.einsum("ck,ck->c", u, n)[:, None] * n, axis=1)
    assert slip.min() > 0.0 and (a["place"] >= 0).all()
    block, lane = np.divmod(a["place"], LANES)
    sigma = a["lanes"].reshape(-1, lanes.FIELDS * LANES)[block, lanes.LAGGED + lane]
    assert sigma == pytest.approx(0.7 * slip, rel=1e-12)


def test_pairs_that_are_far_from_closing_are_left_out_of_the_sweeps():
    """Whoever leaves them out by hand gets the same velocities; one that begins to close is taken in."""
    a, record = lattice(8, "impact")
    far = np.random.default_rng(3).random(len(a["first"])) < 0.5
    a["rows"][:, 7] = np.where(far, 100.0, 0.0)  # they close only at 100 m/s
    one_sweep(record)
    assert set(a["chosen"][: record[0]["listed"]]) == set(np.flatnonzero(~far))
    b, other = lattice(8, "impact")
    for name in ("first", "second", "rows", "mu"):
        b[name][: (~far).sum()] = b[name][~far]
    other[0]["count"] = (~far).sum()
    one_sweep(other)
    np.testing.assert_allclose(a["grains"], b["grains"], rtol=1e-13, atol=1e-15)
    begins = np.flatnonzero(far & (a["second"] >= 0))[0]
    i, k = a["first"][begins], a["second"][begins]
    a["grains"][i, :3] = a["grains"][k, :3] - 60.0 * a["rows"][begins, :3]
    look(record)
    assert begins in a["chosen"][: record[0]["listed"]]


def in_groups(record, a):
    """Put pairs into groups, and say which pairs each has."""
    record[0]["ordered"] = 1
    a["order"][:] = np.random.default_rng(1).permutation(len(a["order"]))
    begin(record)
    ends = a["group"][: record[0]["groups"]]
    return [a["chosen"][k:end] for k, end in zip([0, *ends], ends)]


@pytest.mark.parametrize("fixed", [False, True])
def test_groups_take_every_pair_once_and_no_grain_twice(fixed):
    a, record = lattice(8, "kick")
    if fixed:  # 64 grains that cannot move
        a["grains"][:64, 6:] = 0.0
    groups = in_groups(record, a)
    assert sorted(np.concatenate(groups)) == list(range(record[0]["count"]))
    assert max(map(len, groups)) == LANES and np.mean([len(group) for group in groups]) > 0.8 * LANES
    for group in groups:
        grains_of = np.concatenate([a["first"][group], a["second"][group]])
        moved = grains_of[(grains_of >= 0) & (a["grains"][grains_of, 6] > 0.0)]
        assert len(set(moved)) == len(moved)


def test_a_grain_with_very_many_contacts_is_in_one_pair_of_a_group():
    """More pairs wait for another group than there is room for."""
    a, record = lattice(16, "kick")
    a["second"][:500] = 4095
    for group in in_groups(record, a):
        pairs = np.stack([a["first"][group], a["second"][group]])
        assert (pairs == 4095).any(axis=0).sum() <= 1
    assert sorted(a["chosen"][: record[0]["listed"]]) == list(range(record[0]["count"]))


@pytest.mark.parametrize("law", ["coulomb", "relaxed", "lagged"])
def test_a_sweep_over_groups_is_one_over_their_pairs_in_turn(law):
    """Vectors of pairs and single pairs round alike up to products that go into sums."""
    found = []
    for single in (False, True):
        a, record = lattice(8, "impact", mu=0.5)
        record[0]["relaxed"] = law == "relaxed"
        in_groups(record, a)
        if single:
            order = a["chosen"][: record[0]["listed"]].copy()
            for name in ("first", "second", "rows", "mu"):
                a[name][:] = a[name][order]
            record[0]["ordered"] = 0
            begin(record)
            assert record[0]["groups"] == record[0]["count"]
        record[0]["lagged"] = law == "lagged"
        sums = [sweep(record, beta) for beta in (0.0, 0.0, 0.5)]
        found.append((a["grains"].copy(), sums))
    (grouped, sums), (in_turn, others) = found
    np.testing.assert_allclose(grouped, in_turn, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(sums, others, rtol=1e-10)


def halved(k, kind, **numbers):
    """A lattice whose spheres have places, for two threads."""
    a, record = lattice(k, kind)
    a["at"][:] = np.stack([np.arange(k**3) // k**j % k for j in range(3)], axis=1)
    a["order"][:] = np.arange(len(a["order"]))
    for name, value in {"threads": 2, "ordered": 1, "self_at": address(record), **numbers}.items():
        record[0][name] = value
    return a, record


def test_halves_have_no_moving_grain_in_common():
    a, record = halved(8, "kick")
    a["grains"][100, 6:] = 0.0  # cannot move
    begin(record)
    p = record[0]
    left, right = a["group"][p["left"] - 1], a["group"][p["right"] - 1]
    moves = a["grains"][:, 6] > 0.0
    grains_of = [{i for i in a["partners"][part].ravel() if moves[i]} for part in (slice(left), slice(left, right))]
    assert not grains_of[0] & grains_of[1]
    assert [len(part) for part in grains_of] == pytest.approx([256, 256], abs=1)
    # of the 64 pairs through the plane between halves of 8 × 8 × 8 spheres one has a sphere that cannot move
    assert sorted(a["chosen"][: p["listed"]]) == list(range(p["count"])) and p["count"] - right == 63


def test_digits_do_not_depend_on_which_thread_sweeps_a_half():
    """Without a second thread the first one sweeps both halves."""
    found = []
    for there in (True, True, False):
        a, record = halved(16, "impact", cap=0.9)
        square = size_of(record)
        with SecondThread(record, a) if there else nullcontext():
            assert solve(record, square)
        assert a["shared"][TAKEN] == record[0]["sweeps"] == a["shared"][TICKET]
        assert error_of(record) <= 1e-6 * square
        found.append((a["grains"].copy(), a["rows"].copy()))
    for grains_, rows in found[1:]:
        assert (grains_ == found[0][0]).all() and (rows == found[0][1]).all()


def test_two_threads_find_the_solution_of_one():
    """All spheres stop, which is the only solution of this problem in velocities."""
    a, record = halved(8, "kick", tolerance=1e-9)
    with SecondThread(record, a):
        assert solve(record, size_of(record))
    assert kinetic(a) < 1e-14


@pytest.mark.parametrize("name", METHODS)
def test_a_pile_with_two_threads_moves_as_with_one_until_chaos(name):
    found = []
    for threads in (1, 2, 2):
        result = METHODS[name](contact_tolerance=1e-8, threads=threads).run(pile(64, 4), 0.16, H)
        assert result.statistics["inexact_contact_problems"] == 0
        assert np.diff(result.energy.total).max() <= 1e-8 * result.energy.kinetic.max()
        found.append(result.rows([-1])["position"])
    one, two, again = found
    np.testing.assert_array_equal(two, again)
    assert 0.0 < np.abs(two - one).max() < 1e-6


def test_groups_without_halves_take_one_thread():
    """A second one would wait in a loop for halves that never come."""
    for law, threads in (({}, 2), ({"rolling_resistance": 1e-4}, 1)):
        model, group = fem.Model("one"), fem.ContactGroup(friction=0.5, **law)
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.1, position=[0, 0, 1])), 0.1)
        group.obstacle(fem.SphereOnPlane, model.ground)
        model.add(group)
        grains = Engine(fem.DecoupledNSGA(threads=2), model.compile(), 1e-3, 1, False).grains
        assert grains.record[0]["threads"] == threads


def test_more_threads_than_halves_are_refused():
    with pytest.raises(fem.ParameterError, match=r"threads.*1 or 2"):
        fem.DecoupledNSGA(threads=3)


def test_sweeps_take_every_pair_once_in_any_order():
    a, record = lattice(8, "kick")
    count = int(record[0]["count"])
    a["order"][:] = np.random.default_rng(1).permutation(count)
    record[0]["ordered"], record[0]["tolerance"] = 1, 1e-9
    assert solve(record, size_of(record))
    assert sorted(a["chosen"][:count]) == list(range(count)) and kinetic(a) < 1e-14  # all stop, whatever the order


def test_searches_put_all_pairs_in_the_order_of_the_sweeps():
    stepper, system = fem.DecoupledNSGA(), pile(64, 4).compile()
    engine = stepper.prepare(system, H)
    engine.t_end = 0.2
    engine.advance(H * np.arange(1, 101), np.zeros((100, 1, 1, 3)), engine.make_records(101))
    p, a = engine.grains.record[0], engine.grains.arrays
    assert p["count"] > 100 and sorted(a["order"][: p["count"]]) == list(range(p["count"]))


def pile(count, across, *, restitution=0.0, friction=0.3, radii=(0.05,), seed=0):
    """Spheres in layers, a little apart, that fall into an open box."""
    model = fem.Model("pile", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=friction, restitution=restitution, name="balls")
    rng, pitch = np.random.default_rng(seed), 2.2 * max(radii)
    half = 0.5 * across * pitch
    for i in range(count):
        layer, place = divmod(i, across**2)
        column, row = divmod(place, across)
        center = pitch * np.array([column + 0.5 - 0.5 * across, row + 0.5 - 0.5 * across, layer + 0.5])
        radius = radii[i % len(radii)]
        center += rng.uniform(-0.05, 0.05, 3) * radius
        group.sphere(model.add(fem.RigidBody.sphere(1000 * radius**3, radius, position=center)), radius)
    walls = [([0, 0, 0], [0, 0, 0]), ([0, 0.5 * np.pi, 0], [-half, 0, 0]), ([0, -0.5 * np.pi, 0], [half, 0, 0]),
             ([-0.5 * np.pi, 0, 0], [0, -half, 0]), ([0.5 * np.pi, 0, 0], [0, half, 0])]  # fmt: skip
    for turn, place in walls:
        group.obstacle(fem.SphereOnPlane, model.ground.frame(place, rotation=turn))
    model.add(group)
    return model


def swept(result):
    """Whether a run was solved by sweeps."""
    return "contact_sweeps" in result.statistics


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_smooth_spheres_move_as_they_do_pair_by_pair(restitution, monkeypatch):
    """Friction acts on open pairs with arms that end at the surface of each sphere here, at one point there."""
    monkeypatch.setattr(grains, "BAND", 0.0)  # the only thing that the law has besides
    a, b = both_ways(pile(18, 3, restitution=restitution, friction=0.0, radii=(0.05, 0.04)), False, 60)
    assert a.pair_count.max() > 12
    for k in (25, 40, 60):
        assert a.rows([k])["position"] == pytest.approx(b.rows([k])["position"], abs=1e-8)
        assert a.rows([k])["velocity"] == pytest.approx(b.rows([k])["velocity"], abs=1e-6)


@pytest.mark.parametrize("relaxed", [False, True])
def test_friction_of_touching_spheres_is_that_of_their_contacts(relaxed):
    model = fem.Model("kick", gravity=[0, 0, -G])
    group = fem.ContactGroup(friction=0.3, name="balls")
    rng = np.random.default_rng(3)
    for i in range(27):
        place = 0.1 * np.array([i % 3, (i // 3) % 3, i // 9 + 0.5])
        motion = {"velocity": rng.normal(size=3), "angular_velocity": 20 * rng.normal(size=3)}
        group.sphere(model.add(fem.RigidBody.sphere(1.0, 0.05, position=place, **motion)), 0.05)
    group.obstacle(fem.SphereOnPlane, model.ground)
    model.add(group)
    a, b = both_ways(model, relaxed, 1)
    assert a.pair_count[1] > 15
    assert a.rows([1])["velocity"] == pytest.approx(b.rows([1])["velocity"], abs=1e-6)
    mine, theirs = (np.lexsort((r.pairs(1).partner, r.pairs(1).type, r.pairs(1).sphere)) for r in (a, b))
    for name in ("sphere", "partner"):  # impulses: one of many solutions
        x, y = getattr(a.pairs(1), name)[mine], getattr(b.pairs(1), name)[theirs]
        assert x == pytest.approx(y, abs=1e-7), name


def both_ways(model, relaxed, steps):
    """Runs by sweeps and pair by pair."""
    results = []
    for solver in ("auto", "problem"):
        method = fem.ConeComplementarity(relaxed, contact_tolerance=1e-11, contact_solver=solver)
        results.append(method.run(model, steps * H, H))
        assert swept(results[-1]) == (solver == "auto")
    return results


@pytest.mark.parametrize("radii", [(0.05,), (0.05, 0.03)])
@pytest.mark.parametrize("name", METHODS)
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
    # momentum: what the floor gave and gravity took is what is left
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
    result = METHODS[name]().run(model, 0.3, 1e-3)
    assert swept(result)
    # it slips until it rolls: v = 2/7 of the belt, r ω = −5/7 of it
    v, w = result["b1"].velocity[-1, 0], result["b1"].angular_velocity[-1, 1]
    assert v == pytest.approx(0.5 * 2 / 7, rel=5e-3) and v - 0.05 * w == pytest.approx(0.5, rel=1e-3)
    other = METHODS[name](contact_solver="problem").run(model, 0.3, 1e-3)
    assert not swept(other)
    force = [r["drive"].force[-1] for r in (result, other)]
    assert force[0] == pytest.approx(force[1], abs=1e-3)
    assert result["belt"].position[-1] == pytest.approx([0.15, 0, 0], abs=1e-12)


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


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m, g, b: m.add(fem.RigidBody(1.0, 1e-3, node=b.node, center=[0.1, 0, 0])), "not centred at its node"),
        (lambda m, g, b: m.add(fem.Spring(m.ground, b, stiffness=1.0)), "acts on a body with spheres"),
    ],
)
def test_what_does_not_fit_is_solved_pair_by_pair(change, words):
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
    with pytest.raises(fem.SolverError, match=r"pairs of contact group 'balls' .* after 2 sweeps .*above 1e-02"):
        fem.ConeComplementarity().run(pile(64, 4), 0.8, H)


def test_contacts_that_are_left_above_the_tolerance_are_told(monkeypatch):
    monkeypatch.setattr(grains, "SWEEPS", 2)
    monkeypatch.setattr(grains, "WORST", 10.0)
    result = fem.ConeComplementarity().run(pile(64, 4), 0.8, H)
    assert result.statistics["inexact_contact_problems"] > 0
    assert any("above contact_tolerance = 0.001" in text for text in result.warnings)


def test_the_report_says_how_groups_were_solved():
    by_sweeps = fem.ConeComplementarity().run(pile(8, 2), 4 * H, H)
    by_pairs = fem.DecoupledNSGA(contact_solver="problem").run(pile(8, 2), 4 * H, H)
    assert "solved by sweeps" in str(by_sweeps.report()) and "solved_pair_by_pair" not in by_sweeps.statistics
    assert "solved pair by pair, because contact_solver is 'problem'" in str(by_pairs.report())


def test_the_report_says_which_impacts_lost_their_restitution():
    result = fem.DecoupledNSGA(max_problems=4).run(pile(18, 3, restitution=0.5), 0.3, H)
    count = result.statistics["impact_sequences_cut_short"]
    assert count > 0 and f"{count} sequences cut short" in str(result.report())


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
    """Grains alone skip the problems of positions and velocities, which run where a joint is in the model."""
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
