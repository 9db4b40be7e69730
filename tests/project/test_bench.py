"""The command that measures speed: it runs, keeps what it says, and the page shows the newest measurement."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "peers"))
import bench
import bench_cases
import bench_tables

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def session():
    """The smallest case, without peers."""
    told = []
    found = bench.session(["top"], quick=True, rounds=1, extras=False, report=told.append)
    return json.loads(json.dumps(found)), told  # as it is read from a file


def test_a_run_of_ours_is_measured_and_divided_into_shares_that_add_up_to_a_step(session):
    (row,) = session[0]["rows"]
    own = row["lines"][bench.OWN]
    assert own["steps"] == 1000 and own["simulated"] == pytest.approx(1.0)
    assert own["us_per_step"] == pytest.approx(1e6 * own["seconds"] / 1000) and own["seconds"] > 0
    assert own["seconds_per_second"] == pytest.approx(own["seconds"]) and own["ratio"] == 1.0
    assert sum(own["shares"].values()) == pytest.approx(1.0)
    assert min(own["shares"].values()) > -1e-9
    assert 1 <= own["factorisations"] <= own["iterations"]  # each is solved with
    assert own["memory"] > own["memory_before_model"] > 10  # MB
    # second order; each of three coordinates has at most 8.3e-5 m at 2.5 ms (examples/heavy_top.py)
    assert own["quality"]["error [m]"] < 3**0.5 * 8.3e-5 / 2.5**2


def test_peers_that_are_not_installed_are_reported_in_their_rows(session):
    (row,) = session[0]["rows"]
    peers = {name: line for name, line in row["lines"].items() if name != bench.OWN}
    assert set(peers) == {"exudyn", "mujoco", "drake"}
    assert all(line == {"refused": "not installed"} for line in peers.values())
    assert "not installed" in session[1][0] and "not installed" in bench_tables.page("speed", session[0])


def test_the_file_of_a_session_names_no_machine_and_no_folder(session):
    import getpass
    import platform

    text = json.dumps(session[0])
    for word in (platform.node(), str(ROOT), str(Path.home()), f"/{getpass.getuser()}/"):
        assert word == "" or word not in text
    assert set(session[0]["machine"]) == {"processor", "cores", "system"}


def test_a_failed_run_is_reported_and_ends_nothing():
    answer = bench.ask_own({"case": "top", "size": 1, "h": -1.0, "steps": 1, "warm": 0})
    assert "ParameterError" in answer["failed"] or "h = -1" in answer["failed"]
    assert "refused" in bench.summary([answer])


def test_growth_is_the_slope_of_the_times():
    rows = [
        {"case": "chain", "size": n, "h": 1e-3, "lines": {bench.OWN: {"seconds_per_second": 2e-3 * n**1.5}}}
        for n in (10, 100, 1000)
    ]
    assert bench.growth(rows)["chain"][bench.OWN] == {"all": pytest.approx(1.5), "last": pytest.approx(1.5)}


def test_the_median_of_the_rounds_counts():
    answer = {"method": "m", "steps": 10, "simulated": 0.1, "memory": 1.0, "before_model": 1.0}
    line = bench.summary([{**answer, "seconds": seconds} for seconds in (1.0, 9.0, 2.0)])
    assert line["seconds"] == 2.0 and line["all_seconds"] == [1.0, 9.0, 2.0]
    assert line["us_per_step"] == pytest.approx(2e5) and line["seconds_per_second"] == pytest.approx(20.0)


@pytest.mark.parametrize("name", bench_tables.PAGES)
def test_tables_of_the_page_are_those_of_the_newest_measurement(name):
    shown = (ROOT / "docs" / f"benchmarks_{name}.inc").read_text(encoding="utf-8")
    assert shown == bench_tables.page(name, bench_tables.newest()), "python benchmarks/bench_tables.py writes them"
    assert f"benchmarks_{name}.inc" in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")


def test_the_newest_measurement_has_every_case():
    found = {(row["case"], row["size"]) for row in bench_tables.newest()["rows"]}
    assert found >= {(name, size) for name, case in bench_cases.CASES.items() for size in case.sizes}


def test_overlaps_of_a_pile_are_those_of_its_closest_pair():
    import numpy as np
    import protocol

    rng = np.random.default_rng(3)
    places, radius = rng.uniform(-1, 1, (60, 3)) + [0, 0, 2], 0.05
    places[7] = places[30] + [0.0, 0.03, 0.05]
    distance = np.linalg.norm(places[:, None] - places, axis=2) + 10 * np.eye(60)
    assert protocol.overlap(places, radius, 2.0) == pytest.approx(1 - distance.min() / (2 * radius))
    assert protocol.overlap(places[:1] * [1, 1, 0] + [0, 0, 0.04], radius, 2.0) == pytest.approx(0.1)  # in the floor
