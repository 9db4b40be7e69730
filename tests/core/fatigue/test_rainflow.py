"""Rainflow counting: the printed example, another code, an independent algorithm, what must not matter, bad input."""

from itertools import pairwise

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.errors import ParameterError

ASTM = [-2, 1, -3, 5, -1, 3, -4, 4, -2]  # ASTM E1049-85, figure 6: A … I


def by_range(cycles):
    """Range -> number of cycles."""
    ranges, which = np.unique(np.round(cycles.range, 9), return_inverse=True)
    return dict(zip(ranges.tolist(), np.bincount(which, cycles.number).tolist()))


def test_the_printed_example_has_the_printed_counts():
    assert by_range(fem.rainflow(ASTM)) == {3: 0.5, 4: 1.5, 6: 0.5, 8: 1.0, 9: 0.5}


def test_the_printed_example_has_the_means_of_its_turning_points():
    """Worked by hand: A-B, B-C, E-F (whole), C-D, D-G, G-H, H-I."""
    cycles = fem.rainflow(ASTM)
    rows = sorted(zip(cycles.range, cycles.mean, cycles.number))
    assert rows == [(3, -0.5, 0.5), (4, -1, 0.5), (4, 1, 1), (6, 1, 0.5), (8, 0, 0.5), (8, 1, 0.5), (9, 0.5, 0.5)]


def test_a_repeating_history_has_whole_cycles_whatever_its_beginning():
    """ASTM E1049-85, figure 7: the example as a period, counted from its largest value D."""
    expected = {3: 1.0, 4: 1.0, 7: 1.0, 9: 1.0}
    assert by_range(fem.rainflow(ASTM, repeats=True)) == expected
    period = ASTM[:-1]
    for k in range(len(period)):
        assert by_range(fem.rainflow(np.roll(period, k), repeats=True)) == expected


def four_points(history):
    """Range, mean, count by the four-point method, which removes whole cycles wherever they are; in plain Python."""
    points = [history[0]]
    for value in history[1:]:
        if len(points) > 1 and (points[-1] - points[-2]) * (value - points[-1]) > 0:
            points.pop()
        points.append(value)
    found, k = [], 0
    while k + 3 < len(points):
        a, b, c, d = points[k : k + 4]
        if abs(c - b) <= min(abs(b - a), abs(d - c)):
            found.append((abs(c - b), 0.5 * (b + c), 1.0))
            del points[k + 1 : k + 3]
            k = 0
        else:
            k += 1
    found += [(abs(b - a), 0.5 * (a + b), 0.5) for a, b in pairwise(points)]
    return np.array(sorted(found)).T


@pytest.mark.parametrize("seed", range(20))
def test_counts_equal_those_of_the_four_point_method(seed):
    history = np.random.default_rng(seed).normal(size=400)
    assert np.array(fem.rainflow(history)) == pytest.approx(four_points(history.tolist()), abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_counts_equal_those_of_another_code(seed):
    rainflow = pytest.importorskip("rainflow")
    history = np.cumsum(np.random.default_rng(seed).normal(size=2000))
    theirs = np.array(sorted((size, mean, count) for size, mean, count, _, _ in rainflow.extract_cycles(history))).T
    assert np.array(fem.rainflow(history)) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("repeats", [False, True])
def test_samples_between_turning_points_do_not_matter(repeats):
    rng = np.random.default_rng(3)
    turning = rng.normal(size=50) * np.resize([1, -1], 50) + np.resize([3, -3], 50)
    counted = fem.rainflow(turning, repeats=repeats)
    # many more values, at places of their own, each turning point twice
    where = np.sort(np.concatenate([np.arange(50), np.arange(50), rng.uniform(0, 49, 3000)]))
    fine = fem.rainflow(np.interp(where, np.arange(50), turning), repeats=repeats)
    assert all((a == b).all() for a, b in zip(counted, fine))


def test_sign_and_offset_of_a_history():
    history = np.random.default_rng(4).normal(size=300)
    one, mirrored, raised = (fem.rainflow(h) for h in (history, -history, history + 5.0))
    assert mirrored.range == pytest.approx(one.range) and mirrored.mean == pytest.approx(-one.mean)
    assert raised.range == pytest.approx(one.range) and raised.mean == pytest.approx(one.mean + 5.0)
    assert (one.number == mirrored.number).all() and (one.number == raised.number).all()


def test_every_turning_point_begins_or_ends_half_a_cycle():
    """Half cycles are as many as ranges of the history; over a period all cycles are whole."""
    history = np.random.default_rng(5).normal(size=501)
    turning = 1 + np.count_nonzero(np.diff(np.sign(np.diff(history))))
    assert 2 * fem.rainflow(history).number.sum() == turning
    whole = fem.rainflow(history, repeats=True)
    assert (whole.number == np.round(whole.number)).all()
    assert whole.range.max() == np.ptp(history)


def test_equal_cycles_are_one_row():
    cycles = fem.rainflow(np.resize([1.0, -1.0], 2001))
    assert cycles.range.tolist() == [2.0] and cycles.mean.tolist() == [0.0] and cycles.number.tolist() == [1000.0]
    assert repr(cycles) == "Cycles(1000 cycles in 1 rows, range up to 2)"
    assert cycles.amplitude.tolist() == [1.0]


@pytest.mark.parametrize("history", [[3.0], [2.0, 2.0, 2.0]])
@pytest.mark.parametrize("repeats", [False, True])
def test_a_constant_history_has_no_cycles(history, repeats):
    cycles = fem.rainflow(history, repeats=repeats)
    assert len(cycles.range) == len(cycles.mean) == len(cycles.number) == 0


@pytest.mark.parametrize(
    "history, words",
    [
        ([], "history .*no values|history .*array"),
        ([1.0, np.nan], "not finite"),
        (np.ones((4, 2)), r"\(4, 2\), must be \(n,\)"),
        ("stress", "not an array"),
    ],
)
def test_bad_histories_are_rejected_by_name(history, words):
    with pytest.raises(ParameterError, match=words):
        fem.rainflow(history)
