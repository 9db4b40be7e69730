"""Tables of data: what a record says in Python, compiled code sees, by name and in the shape of the table."""

import numpy as np
import pytest
from numba import carray, njit

from fem_mbs.data_table import Item, Table
from fem_mbs.jit import address, void_pointer
from fem_mbs.solvers.nsga import data
from fem_mbs.solvers.stepping.kernels.data import TABLE

PAIR = np.dtype([("normal", "f8", 3), ("impulse", "f8")], align=True)
SMALL = Table(
    "small",
    {
        "x": Item("N 3", "positions", kept=True),
        "R": Item("N 3 3", "rotations"),
        "flag": Item("nc", "statuses", "i1", kept=True),
        "lam": Item("nc 2", "multipliers", scaling=1),
        "pair": Item("nc", "records", PAIR),
        "h": Item("", "step size"),
        "count": Item("", "steps", "i8", kept=True),
    },
)
DTYPE = SMALL.dtype
OTHER = np.dtype([("x", "f8"), ("h", "f8")])  # a record of its own with names of the table


@njit
def shapes_and_numbers(at):
    s = carray(void_pointer(at), (1,), DTYPE)[0]
    s.count += 1
    return s.x.shape, s.R.shape, s.flag.shape, s.lam.shape, s.h


@njit
def write(at, other):
    s, o = carray(void_pointer(at), (1,), DTYPE)[0], carray(void_pointer(other), (1,), OTHER)[0]
    for i in range(s.x.shape[0]):
        for j in range(3):
            s.x[i, j] = 10 * i + j
            s.R[i][j, 2] = 100 * i + j
    for c in range(s.flag.shape[0]):
        s.flag[c] = c - 1
        s.lam[c, 1] += o.x * s.h
    o.h = s.x[1, 2]


LAW = np.dtype([("friction", "f8"), ("restitution", "f8")])
RECORDS = Table("records", {"laws": Item("k k", "of pairs", LAW), "mean": Item("", "of the friction")})
RECORDS_DTYPE = RECORDS.dtype


@njit
def mean_friction(at):
    s = carray(void_pointer(at), (1,), RECORDS_DTYPE)[0]
    for i in range(s.laws.shape[0]):
        for j in range(s.laws.shape[1]):
            s.mean += s.laws[i, j].friction / s.laws.size
            s.laws[i, j].restitution = 10 * i + j


def filled(N, nc):
    arrays, record = SMALL.arrays({"N": N, "nc": nc}), np.zeros(1, DTYPE)
    SMALL.aim(record, arrays)
    record["h"] = 0.25
    return arrays, record


@njit
def push(at):
    s = carray(void_pointer(at), (1,), DTYPE)[0]
    for c in range(s.pair.shape[0]):
        pair = s.pair[c]
        pair.impulse += pair.normal[2]
        pair.normal[0] = c
    s.pair[0] = s.pair[1]


@pytest.mark.parametrize("N, nc", [(2, 3), (5, 0), (2, 1)])
def test_compiled_views_have_the_shapes_of_the_arrays_of_the_run(N, nc):
    _, record = filled(N, nc)
    expected = (N, 3), (N, 3, 3), (nc,), (nc, 2), 0.25
    assert shapes_and_numbers(address(record)) == expected
    assert record["count"][0] == 1


def test_what_compiled_code_writes_is_in_the_arrays_and_other_records_keep_their_fields():
    arrays, record = filled(4, 3)
    other = np.zeros(1, OTHER)
    other["x"] = 8.0
    write(address(record), address(other))
    assert np.array_equal(arrays["x"], 10 * np.arange(4)[:, None] + np.arange(3))
    assert np.array_equal(arrays["R"][:, :, 2], 100 * np.arange(4)[:, None] + np.arange(3))
    assert not arrays["R"][:, :, :2].any()
    assert np.array_equal(arrays["flag"], [-1, 0, 1]) and np.array_equal(arrays["lam"], np.outer(np.ones(3), [0, 2]))
    assert other["h"][0] == 12.0


def test_arrays_of_records_have_the_fields_of_their_type():
    arrays, record = RECORDS.arrays({"k": 3}), np.zeros(1, RECORDS_DTYPE)
    RECORDS.aim(record, arrays)
    arrays["laws"]["friction"] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    mean_friction(address(record))
    assert record["mean"][0] == pytest.approx(5.0, rel=1e-14)
    assert np.array_equal(arrays["laws"]["restitution"], 10 * np.arange(3)[:, None] + np.arange(3))
    with pytest.raises(ValueError, match=r"array 'laws' is float64.*friction"):
        RECORDS.aim(record, {"laws": np.zeros((3, 3))})


def test_fields_of_records_in_an_array_are_those_of_compiled_code():
    arrays, record = filled(2, 3)
    arrays["pair"]["normal"], arrays["pair"]["impulse"] = np.arange(9).reshape(3, 3), 0.5
    push(address(record))
    assert np.array_equal(arrays["pair"]["impulse"], [5.5, 5.5, 8.5])
    assert np.array_equal(arrays["pair"]["normal"], [[1, 4, 5], [1, 4, 5], [2, 7, 8]])
    arrays["pair"] = np.zeros(3, OTHER)
    with pytest.raises(ValueError, match="array 'pair'"):
        SMALL.aim(record, arrays)


def test_values_are_the_fields_of_a_record_in_their_order():
    arrays = SMALL.arrays({"N": 4, "nc": 3})
    record = np.array([SMALL.values({"h": 0.25, "count": 7}, arrays)], DTYPE)
    assert shapes_and_numbers(address(record)) == ((4, 3), (4, 3, 3), (3,), (3, 2), 0.25)
    assert record["count"][0] == 8 and record["lam_at"][0] == address(arrays["lam"])


def test_some_arrays_of_a_table_need_the_sizes_of_these_alone():
    arrays = SMALL.arrays({"nc": 3}, ["lam", "flag"])
    assert {name: array.shape for name, array in arrays.items()} == {"flag": (3,), "lam": (3, 2)}


def test_a_size_that_two_arrays_do_not_share_is_rejected():
    arrays, record = filled(4, 3)
    arrays["R"] = np.zeros((5, 3, 3))
    with pytest.raises(ValueError, match=r"array 'R'.*\(5, 3, 3\).*\(4, 3, 3\)"):
        SMALL.aim(record, arrays)


def test_names_are_chosen_by_what_the_table_says():
    assert SMALL.names(array=True) == ["x", "R", "flag", "lam", "pair"]
    assert SMALL.names(kept=True) == ["x", "flag", "count"] and SMALL.names(array=False, kept=False) == ["h"]


def test_the_run_keeps_what_belongs_to_the_start_of_a_step_and_no_scratch():
    kept = set(TABLE.names(array=True, kept=True))
    assert {"x", "Q", "R", "V", "lam", "total_Lam", "closed", "acted", "fs"} <= kept
    assert {"t", "saved", "step_number", "last_energy", "scale_v"} <= set(TABLE.names(array=False, kept=True))
    assert not kept & {"trial", "force", "r", "dx", "history", "xs", "D"}
    scaled = {name: item.scaling for name, item in {**TABLE.items, **data.TABLE.items}.items() if item.scaling}
    assert scaled == {"W": 1, "lam": 1, "clam": 1, "total_Lam": 1, "cnu": 2}
    assert all(item.meaning for item in TABLE.items.values())
