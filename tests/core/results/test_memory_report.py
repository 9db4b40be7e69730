"""Report of the memory of a run: arrays by what they are for, and what the process had at most."""

import numpy as np
import pytest

import fem_mbs as fem
from fem_mbs.linear.klu import klu
from fem_mbs.results.file.memory import memory_line, most_of_process, size_of


def memory_of_beam(n, steps=3):
    """Results and memory of a beam of n intervals in free fall, n/2 elements of three nodes."""
    model = fem.Model("beam", gravity=[0, 0, -9.81])
    rod = fem.beam_line([0, 0, 0], [1, 0, 0], n, fem.Section.circle(0.01, E=2e9, density=1200))
    model.add(rod)
    result = fem.DecoupledNSGA(rho_inf=0).run(model, steps * 1e-4, 1e-4, progress=False)
    return result, result.statistics["memory"]


def test_arrays_of_a_beam_have_the_sizes_that_its_elements_and_nodes_give():
    n = 200
    _, memory = memory_of_beam(n)
    assert memory["index maps"] == pytest.approx(n / 2 * 18**2 * 4 / 1e6, rel=1e-12)  # int32 for each entry
    assert memory["elements"] > n / 2 * 18 * 8 / 1e6
    assert sum(size for name, size in memory.items() if name != "process") < memory["process"]


def test_memory_of_a_line_of_beams_grows_with_its_length():
    short, long = memory_of_beam(200)[1], memory_of_beam(400)[1]
    names = ["index maps", "matrices", "run", *(["factors"] if klu() is not None else [])]
    for name in names:
        assert 1.8 < long[name] / short[name] < 2.2, name  # bands: no fill but their own


def test_views_and_repeated_arrays_count_once():
    a = np.zeros((100, 3))
    assert size_of([a, a[1:], {"x": a.T}, (np.zeros(2),)], set()) == a.nbytes + 16


def test_the_process_had_at_least_what_it_has_filled():
    block = np.ones(40_000_000 // 8)
    assert block.sum() == len(block) and most_of_process() > block.nbytes


def test_the_report_reports_the_memory_of_large_models_only_largest_part_first():
    result, _ = memory_of_beam(20)
    assert "memory" not in result.report()
    result.statistics["memory"] = {"run": 20.0, "factors": 100.0, "records": 0.1, "process": 400.0}
    assert "memory" in result.report()
    line = memory_line(result.statistics["memory"])
    assert line == "400 MB at most, 120 MB of it arrays: factors 100, run 20"
