"""Sweeps over halves of a pile by two threads: the digits of one thread."""

from contextlib import nullcontext

import numpy as np
import pytest
from grain_lattice import (
    begin,
    error_of,
    kinetic,
    lattice,
    size_of,
    solve,
)
from grain_piles import METHODS, H, pile

import fem_mbs as fem
from fem_mbs.jit import address
from fem_mbs.solvers.granular.halves import TAKEN, TICKET, SecondThread
from fem_mbs.solvers.stepping.engine import Engine


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
