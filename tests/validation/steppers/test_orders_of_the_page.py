"""Orders of convergence on the page of published benchmarks are those that `benchmarks/orders.py` measures."""

import re
from pathlib import Path

import orders
import pytest

ROOT = Path(__file__).parents[3]

PAGE = (ROOT / "docs" / "published_benchmarks.md").read_text(encoding="utf-8")
SLOPE = re.compile(r"(-?\d+\.\d\d)(?=,|$)")


def shown():
    """Example -> steps and slopes of its line of the page."""
    table = PAGE.partition(orders.HEAD)[2].partition("\n\n")[0]
    cells = [line.strip("| ").split(" | ") for line in table.splitlines() if line]
    return {name: (steps, slopes) for name, steps, slopes in cells}


def test_the_page_shows_all_studies_with_their_steps_and_quantities():
    assert list(shown()) == list(orders.STUDIES)
    for name, (steps, quantities, _) in orders.STUDIES.items():
        sizes, slopes = shown()[name]
        assert [SLOPE.sub("", part).strip() for part in slopes.split(", ")] == list(quantities)
        assert sizes == f"{1e3 * steps[0]:.2g} … {1e3 * steps[-1]:.2g}"


@pytest.mark.slow
@pytest.mark.parametrize("name", orders.STUDIES)
def test_slopes_of_the_page_are_measured(name):
    found = [float(slope) for slope in SLOPE.findall(shown()[name][1])]
    assert list(orders.slopes(name)) == pytest.approx(found, abs=0.02), orders.row(name)  # two decimals; round-off
