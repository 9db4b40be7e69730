"""Citations: what a text cites exists in the table of publications, with its number; pages made from it are current."""

import importlib.util
import re
from pathlib import Path

import pytest
from citations import FIVE, annexes, citations, in_thesis, texts

from fem_mbs.cases.registry import cases
from fem_mbs.sources import SOURCES, cited

ROOT = Path(__file__).resolve().parents[2]
STATES = ("works", "differs", "partly", "missing")
YEAR = re.compile(r"(?<![A-Za-z\d.])(?:1[89]|20)\d\d\b")


def unknown(text):
    """Citations of the five main sources that the table does not have."""
    return [f"{key}, {kind} {number}" for key, kind, number in citations(text) if not SOURCES[key].has(kind, number)]


def test_everything_cited_of_the_main_sources_exists():
    found = {file: text for file, text in texts().items() if file != "tests/project/test_citations.py"}
    assert {file: wrong for file, text in found.items() if (wrong := unknown(text))} == {}
    wrong = [
        f"{f}: {number}" for f, text in found.items() for kind, number in annexes(text) if not in_thesis(kind, number)
    ]
    assert wrong == []
    keys = {key for text in found.values() for key, _, _ in citations(text)}
    assert keys == set(FIVE), "no citations found: has their form changed?"


@pytest.mark.parametrize(
    "text, known",
    [
        ("Bruls2014, 10.1", True), ("Bruls2014, 3.1", False), ("Bruls2014, section 3", True),
        ("Bruls2014 (29), (30)-(52)", True), ("(Bruls2014, (53))", False), ("Bruls2014, figures 2-24", True),
        ("Bruls2014, fig. 25", False), ("Bruls2014, algorithm 2", False), ("Bruls2014, table 1", False),
        ("Capobianco2021, 10.1 a; closed form", True), ("Capobianco2021, section 4.6", False),
        ("Capobianco2024, (53)-(59) and (75)", False), ("Negrut2018, section 3.3", False),
        ("Sanchez2025, annexes A, B and C, chapters 2-3", True), ("Sanchez2025, 9.5", False),
        ("Sanchez2025, A.6.1 to A.6.5", False), ("Sanchez2025, table 2.1 and annex C, table C.2", False),
        ("Sanchez2025,\n    # section C.6.1", True), ("Sanchez2025, chapter 6", False), ("Sanchez2025, 1 s", True),
    ],
)  # fmt: skip
def test_wrong_numbers_are_found(text, known):
    assert (unknown(text) == []) == known


@pytest.mark.parametrize("text, known", [("A.6.4, (B.53), C.25, B.36", True), ("(B.54)", False), ("C.6.5", False)])
def test_numbers_of_the_annexes_are_found_without_a_key(text, known):
    found = annexes(text)
    assert found and all(in_thesis(kind, number) for kind, number in found) == known


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_publications_of_a_case_are_in_the_table(case):
    assert unknown(case.source) == []
    plain = case.source.replace("(", "").replace(")", "")
    labels = tuple(label for one in SOURCES.values() for label in one.labels)
    for year in YEAR.finditer(plain):
        assert plain[: year.end()].endswith(labels), f"{plain[: year.end()]} is not in fem_mbs/sources.py"
    keys = {one.key for one in cited(case.source)}
    assert keys or not YEAR.search(plain)


def test_keys_are_names_and_years():
    for key, one in SOURCES.items():
        assert key == one.key and re.fullmatch(r"[A-Za-z]+(\d{4}[a-z]?)?", key)
        assert (one.year is None) == (not key[-1].isdigit() and not key[-2].isdigit()) and str(one.year or "") in key
        assert all((one.authors, one.title, one.place, one.reference.endswith(".")))


def test_headings_of_chapters_exist_for_their_sections():
    """A section 10.1 has a chapter 10 around it; equations, figures and tables have one with their first number."""
    for key in FIVE:
        known = SOURCES[key].sections
        for number in known:
            outer = number.split(".")[0]
            assert outer in known, f"{key}: section {number} without {outer}"
        for numbers in (SOURCES[key].equations, SOURCES[key].figures, SOURCES[key].tables):
            assert all(chapter in known for chapter in numbers if chapter)


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("source_pages", ROOT / "docs" / "source_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name, make", [("citing", "citing"), ("source_items", "items")])
def test_pages_about_sources_are_those_of_the_tables(name, make, pages):
    shown = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert shown == getattr(pages, make)(), "write it anew: python docs/source_pages.py"


def trouble(row):
    """What is wrong with a judgement: numbers, files, commands that do not exist, texts that are missing."""
    found = unknown(f"{row.source}, {row.cites}") if row.cites else []
    if row.cites and not citations(f"{row.source}, {row.cites}"):
        found.append(f"no number in '{row.cites}'")
    if row.source not in FIVE or row.state not in STATES or not row.item or not row.found:
        found.append("source, state, item or difference")
    if not row.where and row.state != "missing":
        found.append("file")
    if row.where and not (ROOT / row.where).exists():
        found.append(row.where)
    program, *names = row.check.split() or ["nothing"]
    if program == "fem-mbs":
        found += [name for name in names[1:] if name not in (*cases(), "--plot")] + (
            [] if names[0] == "validate" else [names[0]]
        )
    elif program in ("pytest", "python"):
        path, _, test = names[0].partition("::")
        text = "" if not (ROOT / path).is_file() else (ROOT / path).read_text(encoding="utf-8")
        if not (ROOT / path).exists() or (test and f"def {test}(" not in text):
            found.append(names[0])
    elif row.check:
        found.append(row.check)
    return found


def test_every_judgement_names_numbers_files_cases_and_tests_that_exist(pages):
    assert {row.item: wrong for row in pages.ROWS if (wrong := trouble(row))} == {}
    assert len({(row.source, row.cites, row.item) for row in pages.ROWS}) == len(pages.ROWS) > 60
    checked = [row for row in pages.ROWS if row.state != "missing"]
    assert sum(not row.check for row in checked) <= 6  # properties of the code that no command shows


@pytest.mark.parametrize(
    "change, message",
    [
        ({"cites": "A.7.1"}, "A.7.1"), ({"cites": "no number"}, "no number"), ({"where": "solvers/none.py"}, "none.py"),
        ({"check": "fem-mbs validate rolling_bal"}, "rolling_bal"), ({"check": "fem-mbs run rolling_ball"}, "run"),
        ({"check": "pytest tests/project/test_citations.py::test_that_is_not"}, "test_that_is_not"),
        ({"check": "make all"}, "make"), ({"state": "right"}, "state"), ({"found": ""}, "difference"),
    ],
)  # fmt: skip
def test_wrong_judgements_are_found(change, message, pages):
    right = pages.Row("Sanchez2025", "A.6.1", "ball", "differs", "another number", "examples/rolling_ball.py",
                      "fem-mbs validate rolling_ball")  # fmt: skip
    assert trouble(right) == [] and any(message in text for text in trouble(right._replace(**change)))


def test_every_case_of_a_source_is_in_a_row(pages):
    shown = {word for found in pages.rows().values() for row in found for word in row.check.split()}
    assert {case.name for case in cases().values() if any(one.key in FIVE for one in cited(case.source))} <= shown
