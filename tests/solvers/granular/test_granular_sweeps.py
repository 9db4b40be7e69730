"""Gauss-Seidel iterations over pairs of spheres: published digits, momentum, the lag of friction, groups of pairs."""

import numpy as np
import pytest
from grain_lattice import (
    begin,
    begin_lag,
    error_of,
    in_groups,
    kinetic,
    lattice,
    look,
    one_sweep,
    size_of,
    solve,
    sweep,
)
from grain_piles import H, pile

import fem_mbs as fem
from fem_mbs.solvers.contact_problem.problem import ContactProblem
from fem_mbs.solvers.granular.data import LANES, PAIR, PARTICLE


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


@pytest.mark.parametrize(
    ("tolerance", "count"),
    [pytest.param(1e-3, 31, marks=pytest.mark.slow), (1e-6, 69), pytest.param(1e-9, 101, marks=pytest.mark.slow)],
)
def test_sweeps_with_momentum_converge_as_published(tolerance, count):
    a, record = lattice(8, "kick")
    record[0]["tolerance"] = tolerance
    assert solve(record, size_of(record))
    assert record[0]["sweeps"] == count and record[0]["error"] <= tolerance
    if tolerance < 1e-8:
        assert kinetic(a) < 1e-14  # all stop: nobody can get away
        # one of the values that sums of the normal impulses end with, by the path
        assert a["pairs"]["normal_impulse"].sum() == pytest.approx(2638.05, rel=1e-4)


@pytest.mark.parametrize("relaxed", [False, True])
def test_the_error_is_that_of_the_contact_problem_solver(relaxed):
    """Blocks of gradients, masses and the error by code without spheres."""
    a, record = lattice(3, "impact")
    record[0]["relaxed"] = relaxed
    n, count = 27, int(record[0]["count"])
    first, second, normals, start = a["first"], a["second"], a["pairs"]["normal"].copy(), a["particles"][:n].copy()
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
    v = np.hstack([start["velocity"], start["surface_velocity"]])
    problem = ContactProblem.from_contacts(masses, bodies, blocks, np.zeros((count, 3)), 0.3, v=v, relaxed=relaxed)
    for _ in range(3):
        one_sweep(record)
    r = np.einsum("crk,ck->cr", np.array([[x, np.roll(x, 1), np.cross(x, np.roll(x, 1))] for x in normals]),
                  a["pairs"]["normal_impulse"][:, None] * normals + a["pairs"]["tangential_impulse"])  # fmt: skip
    mine, theirs = error_of(record), problem.error(r)[0]
    q = np.linalg.norm(problem.scaled.S * problem.q)
    assert mine == pytest.approx((theirs * q) ** 2, rel=1e-9)


def test_sweeps_that_get_no_further_lag_and_find_impulses_of_coulombs_law():
    """Disordered normals and much friction: a window of iterations without progress comes before the tolerance."""
    a, record = lattice(8, "kick", mu=0.5)
    rng = np.random.default_rng(0)
    normals = a["pairs"]["normal"] + 0.4 * rng.standard_normal((len(a["pairs"]), 3))
    a["pairs"]["normal"] = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    a["particles"]["velocity"][:-1] += 0.1 * rng.standard_normal((512, 3))
    square = size_of(record)
    assert solve(record, square) and record[0]["lagged"] == 1
    assert error_of(record) <= 1e-6 * square  # of Coulomb's law itself, not of the law that lags
    r, tangential = a["pairs"]["normal_impulse"], np.linalg.norm(a["pairs"]["tangential_impulse"], axis=1)
    assert (r >= 0.0).all() and (tangential <= 0.5 * r * (1 + 1e-12)).all()


def test_the_lag_begins_with_the_slip_that_there_is():
    a, record = lattice(4, "impact", mu=0.7)
    a["pairs"]["bias"][::3] = 100.0  # some pairs are far from closing, and are listed when the others lag
    begin_lag(record)
    a["pairs"]["bias"] = 0.0
    look(record)
    v, s = a["particles"]["velocity"], a["particles"]["surface_velocity"]
    i, j = a["first"], np.where(a["second"] < 0, len(v) - 1, a["second"])  # the last cannot move
    n = a["pairs"]["normal"]
    u = v[i] - v[j] - np.cross(s[i] + s[j], n)
    slip = np.linalg.norm(u - np.einsum("ck,ck->c", u, n)[:, None] * n, axis=1)
    assert slip.min() > 0.0 and (a["place"] >= 0).all()
    block, lane = np.divmod(a["place"], LANES)
    sigma = a["lanes"]["lag"][block, lane]
    assert sigma == pytest.approx(0.7 * slip, rel=1e-12)


def test_pairs_that_are_far_from_closing_are_left_out_of_the_sweeps():
    """Whoever leaves them out by hand gets the same velocities; one that begins to close is taken in."""
    a, record = lattice(8, "impact")
    far = np.random.default_rng(3).random(len(a["first"])) < 0.5
    a["pairs"]["bias"] = np.where(far, 100.0, 0.0)  # they close only at 100 m/s
    one_sweep(record)
    assert set(a["chosen"][: record[0]["listed"]]) == set(np.flatnonzero(~far))
    b, other = lattice(8, "impact")
    for name in ("first", "second", "pairs", "mu"):
        b[name][: (~far).sum()] = b[name][~far]
    other[0]["count"] = (~far).sum()
    one_sweep(other)
    for name in ("velocity", "surface_velocity"):
        np.testing.assert_allclose(a["particles"][name], b["particles"][name], rtol=1e-13, atol=1e-15)
    begins = np.flatnonzero(far & (a["second"] >= 0))[0]
    i, k = a["first"][begins], a["second"][begins]
    velocity = a["particles"]["velocity"]
    velocity[i] = velocity[k] - 60.0 * a["pairs"]["normal"][begins]
    look(record)
    assert begins in a["chosen"][: record[0]["listed"]]


@pytest.mark.parametrize("fixed", [False, True])
def test_groups_take_every_pair_once_and_no_particle_twice(fixed):
    a, record = lattice(8, "kick")
    if fixed:  # 64 particles that cannot move
        a["particles"]["inverse_mass"][:64] = a["particles"]["inverse_inertia"][:64] = 0.0
    groups = in_groups(record, a)
    assert sorted(np.concatenate(groups)) == list(range(record[0]["count"]))
    assert max(map(len, groups)) == LANES and np.mean([len(group) for group in groups]) > 0.8 * LANES
    for group in groups:
        grains_of = np.concatenate([a["first"][group], a["second"][group]])
        moved = grains_of[(grains_of >= 0) & (a["particles"]["inverse_mass"][grains_of] > 0.0)]
        assert len(set(moved)) == len(moved)


def test_a_particle_with_very_many_contacts_is_in_one_pair_of_a_group():
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
            for name in ("first", "second", "pairs", "mu"):
                a[name][:] = a[name][order]
            record[0]["ordered"] = 0
            begin(record)
            assert record[0]["groups"] == record[0]["count"]
        record[0]["lagged"] = law == "lagged"
        sums = [sweep(record, beta) for beta in (0.0, 0.0, 0.5)]
        particles = a["particles"]
        found.append((np.hstack([particles["velocity"], particles["surface_velocity"]]), sums))
    (grouped, sums), (in_turn, others) = found
    np.testing.assert_allclose(grouped, in_turn, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(sums, others, rtol=1e-10)


def test_iterations_visit_every_pair_once_in_any_order():
    a, record = lattice(8, "kick")
    count = int(record[0]["count"])
    a["order"][:] = np.random.default_rng(1).permutation(count)
    record[0]["ordered"], record[0]["tolerance"] = 1, 1e-9
    assert solve(record, size_of(record))
    assert sorted(a["chosen"][:count]) == list(range(count)) and kinetic(a) < 1e-14  # all stop, whatever the order


def test_a_particle_and_a_pair_fill_a_line_of_cache_each():
    assert PARTICLE.itemsize == PAIR.itemsize == 64


def test_searches_put_all_pairs_in_the_order_of_the_sweeps():
    stepper, system = fem.DecoupledNSGA(), pile(64, 4).compile()
    engine = stepper.prepare(system, H)
    engine.t_end = 0.2
    engine.march.advance(H * np.arange(1, 101), engine.make_records(101))
    p, a = engine.grains.record[0], engine.grains.arrays
    assert p["count"] > 100 and sorted(a["order"][: p["count"]]) == list(range(p["count"]))
