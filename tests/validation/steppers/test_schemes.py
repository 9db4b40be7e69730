"""Tables of all schemes in docs/comparison.md: what the page shows is what the schemes have."""

import re
from pathlib import Path

import numpy as np
import pytest
import schemes

from fem_mbs.solvers import STEPPERS

ROOT = Path(__file__).parents[3]


def tables(name):
    """Tables of an included file: lists of rows, each of its cells, without the head."""
    text = (ROOT / "docs" / f"comparison_{name}.inc").read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in block.splitlines()]
        found.append({row[0]: row[1:] for row in rows[2:]})
    return found


ORDERS, ERRORS = tables("orders")
MOTIONS = list(schemes.MOTIONS)


def shown(label, name):
    """Orders of a motion on the page, as numbers; None: not supported."""
    cell = ORDERS[label][MOTIONS.index(name)]
    if cell == schemes.UNSUPPORTED:
        return None
    return [np.inf if text == "exact" else float(text) for text in cell.split(", ")]


def compare(label, name):
    found, page = schemes.slopes(label, name), shown(label, name)
    assert isinstance(found, str) == (page is None), found
    if page is not None:
        assert found[~np.isnan(found)] == pytest.approx(page, abs=0.11)  # printed with one digit


@pytest.mark.parametrize("name", ["rigid", "rigid, joints"])
def test_orders_in_smooth_motion_of_rigid_bodies_are_those_of_the_page(name):
    for label in schemes.SCHEMES:
        compare(label, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flexible", "flexible, joints"])
def test_orders_in_smooth_motion_of_flexible_bodies_are_those_of_the_page(name):
    for label in schemes.SCHEMES:
        compare(label, name)


@pytest.mark.parametrize("name", ["rolls", pytest.param("slides", marks=pytest.mark.slow)])
def test_orders_through_persistent_contact_are_those_of_the_page(name):
    for label in schemes.SCHEMES:
        compare(label, name)


@pytest.mark.slow
def test_orders_at_impacts_and_energies_are_those_of_the_page():
    for label in schemes.SCHEMES:
        order, cell = schemes.impact_order(label), ORDERS[label][-1]
        assert (order is None) == (cell == schemes.UNSUPPORTED)
        if order is not None:
            assert order == pytest.approx(float(cell), abs=0.11)
        if max(map(abs, schemes.top_energy(label))) > 1e-10:  # else round-off
            assert schemes.top_energy(label) == pytest.approx([float(c) for c in ERRORS[label][-2:]], rel=0.1, abs=1e-9)


def test_only_schemes_whose_closed_contacts_are_in_the_smooth_motion_keep_second_order_in_contact():
    second = {label for label in schemes.SCHEMES for n in ("rolls", "slides") if (shown(label, n) or [0])[0] > 1.9}
    assert second == {"Decoupled, default", "Nonsmooth friction", "Lobatto 2", "Lobatto 3", "Lobatto 4"}


def test_errors_are_shown_in_both_tables():
    for label in schemes.SCHEMES:
        places = [cell == schemes.UNSUPPORTED for cell in ORDERS[label][: len(MOTIONS)]]
        assert places == [cell == schemes.UNSUPPORTED for cell in ERRORS[label][: len(MOTIONS)]]


def test_every_stepper_is_in_all_tables():
    assert {type(stepper) for stepper in schemes.SCHEMES.values()} == set(STEPPERS.values())
    assert set(ORDERS) == set(ERRORS) == set(schemes.SCHEMES)
    rigid, flexible = tables("roller_crank")
    refused = {"Generalized-α", "Generalized-α, index 3"}
    assert set(rigid) == set(schemes.SCHEMES) - refused
    assert set(flexible) == set(rigid) - {"Lobatto 2", "Lobatto 3", "Lobatto 4"}


# --- lines of code ----------------------------------------------------------------------------------------------------


MADE_UP = [
    '"""A header', 'of two lines."""', "", "import numpy  # why", "", "", "def f(x):", '    """What."""', "    # how",
    "    return (", '        "text"', "    )", "", "", "class A:", '    """What it is.', "", "    More.", '    """', "",
    '    b = """data', 'here"""',
]  # fmt: skip


def test_lines_with_code_are_counted_and_no_others():
    assert schemes.lines_of("\n".join(MADE_UP)) == 8  # import, def, three of return, class, two of b


def test_lines_of_a_scheme_are_those_of_the_files_it_needs():
    counts, files = schemes.code(), schemes.imports.sources()
    own = [name for name in files if name.startswith("fem_mbs.solvers.cone.")]
    assert counts["ConeComplementarity"].own == sum(schemes.lines_of(files[n].read_text(encoding="utf-8")) for n in own)
    # the scheme of two levels is the smooth one and its options
    assert counts["NonsmoothGeneralizedAlphaGGL"].family == counts["GeneralizedAlpha"].family
    assert counts["MoreauJean"].shared.keys() == {"contact"}
    (page,) = tables("code")
    assert set(page) == {f"`{name}`" for name in STEPPERS}
    for name, code in counts.items():
        lines = [float(page[f"`{name}`"][i]) for i in (0, 1, 3)]
        # lines come and go: the page is right to a tenth, or `python benchmarks/schemes.py --write`
        assert [code.own, code.family, code.common] == pytest.approx(lines, rel=0.1)
