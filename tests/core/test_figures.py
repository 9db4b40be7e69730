"""Figures of published cases: they show the numbers that sources print, with every method, and are drawn on request."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fem_mbs.cases.figures import bruls2014, capobianco2021, capobianco2024
from fem_mbs.cases.figures.pages import check, drawable, pages, write
from fem_mbs.cases.registry import cases
from fem_mbs.cli import main
from fem_mbs.errors import FemMbsError

ROOT = Path(__file__).resolve().parents[2]
FIRST = {id(page): name for name, page in reversed(pages().items())}  # page -> first of its cases
NAMES = [name for name in pages() if name in FIRST.values()]
LONG = {"bruls2014-bar", "capobianco2021-corner"}
WITHOUT_FIGURE = {"capobianco2021-iterations", "capobianco2024-pendulums"}  # numbers; not of the source


def marked():
    return [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in NAMES if pages()[n].marks]


@pytest.mark.parametrize("name", marked())
def test_the_scheme_of_a_source_gives_its_printed_numbers(name):
    page = pages()[name]
    runs = page.run(page.own.make())
    found = [mark.check(runs) for mark in page.marks]
    assert all(one.ok for one in found), "\n".join(map(str, found))


def test_a_landing_in_two_steps_is_not_the_printed_impulse():
    page = pages()["capobianco2021-ball-slides"]
    cone = next(method for method in page.methods if method.family == "ConeComplementarity")
    runs = page.run(cone.make())
    impulse, force = page.marks[0].check(runs), page.marks[2].check(runs)
    assert (impulse.reference, force.reference) == (4.2, 9.81) and force.ok and not impulse.ok


def test_errors_over_the_step_are_those_of_the_convergence_study():
    source = capobianco2024.source
    steps = list(source.SLOPE_ERRORS[2])
    errors = capobianco2024.slope_errors(source.TIGHT[0].make(), steps)
    np.testing.assert_allclose(errors["1"], list(source.SLOPE_ERRORS[2].values()), rtol=5e-3)
    assert errors["2"].shape == (3, 2) and (errors["2"][:, 0] < 0.3 * np.array(steps)).all()


def test_a_run_that_fails_leaves_a_hole_in_the_errors():
    errors = capobianco2024.slope_errors(capobianco2024.SCHEME.make(), [-1.0])
    assert np.isnan(errors["1"]).all() and np.isnan(errors["2"]).all()


@pytest.mark.parametrize(
    "page, contact, rate, panel",
    [
        (bruls2014.BLOCK, "corner 1", bruls2014.corner_speed(1), 2),
        (bruls2014.BLOCK, "corner 2", bruls2014.corner_speed(2), 3),
        (capobianco2024.CRANK, "corner 1", capobianco2024.corner_rate(-1, 1), 0),
        (capobianco2024.CRANK, "corner 3", capobianco2024.corner_rate(-1, -1), 2),
    ],
)
def test_rates_of_gaps_are_the_slopes_of_the_gaps_between_impacts(page, contact, rate, panel):
    result = page.run(page.own.make())
    t, gap = page.panels[panel].curve(result)
    np.testing.assert_array_equal(gap, result[contact].gap)
    middle = 0.5 * (rate(result)[1][1:] + rate(result)[1][:-1])
    names = [name for name in result.names if name.startswith("corner")]
    hits = np.sum([result[name].force_normal > 0 for name in names], axis=0) > 0
    free = ~(hits[1:] | hits[:-1])  # the trapezoidal rule is exact to h² there
    assert free.sum() > 15
    np.testing.assert_allclose(np.diff(gap)[free] / np.diff(t)[free], middle[free], atol=2e-3 * np.abs(middle).max())


def test_every_case_of_the_three_sources_has_a_figure_and_the_page_shows_it():
    sources = ("bruls2014", "capobianco2021", "capobianco2024")
    assert {name for name in cases() if name.startswith(sources)} - WITHOUT_FIGURE == set(pages())
    text = (ROOT / "docs" / "as_published.md").read_text(encoding="utf-8")
    for name in NAMES:
        file = f"pictures/{name.replace('-', '_')}.png"
        assert text.count(f"{{figure}} {file}\n") == 1 and (ROOT / "docs" / file).exists()
    assert text.count("{figure}") == len(NAMES)


def test_pages_have_all_methods_of_their_cases_and_the_scheme_of_the_source():
    for name, page in pages().items():
        labels = [method.label for method in page.methods]
        assert page.own.label in labels and len(set(labels)) == len(labels)
        expected = {m.label for case in page.cases for m in cases()[case].methods if m.exists}
        assert set(labels) == expected, name


def test_a_figure_has_a_curve_per_method_and_lines_at_printed_numbers():
    page = replace(capobianco2021.CYLINDER, others={"again": lambda: page.run(page.own.make())})
    figure = page.draw()
    path, distance, angle = figure.axes
    count = len(page.methods) + 1
    assert [len(ax.lines) for ax in (path, distance, angle)] == [count + 1] * 3  # closed form, 0.9 m, turns
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[:count] == [
        *(m.label + ", the scheme of the source" * (m.label == page.own.label) for m in page.methods), "again"
    ]  # fmt: skip
    assert distance.lines[-1].get_ydata()[0] == 0.9 and distance.texts[0].get_text() == "circle of 0.9 m"
    assert len(page.draw(["LobattoIIIAB"]).axes[0].lines) == 2
    with pytest.raises(FemMbsError, match=r"Capobianco2021, figure 4.*DecoupledNSGA, .*LobattoIIIAB"):
        page.draw(["ConeComplementarity"])


def test_the_command_line_draws_a_page_once_and_names_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ["capobianco2021-ball-rolls", "capobianco2021-ball-slides"]
    assert main(["validate", *names, "--plot", "--method", "LobattoIIIAB"]) == 0
    out = capsys.readouterr().out
    assert "2 of 2 ok" in out
    assert (
        out.splitlines()[-1] == "capobianco2021-ball-slides.png: capobianco2021-ball-slides, capobianco2021-ball-rolls"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["capobianco2021-ball-slides.png"]
    assert (tmp_path / "capobianco2021-ball-slides.png").read_bytes().startswith(b"\x89PNG")


def test_a_case_without_a_figure_is_answered_with_those_that_have_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "bend_45", "bruls2014-ball", "--plot"]) == 2
    error = capsys.readouterr().err
    assert "no figure of bend_45;" in error and "rolling_disc" in error and "bruls2014-bar" in error
    assert list(tmp_path.iterdir()) == []
    check(drawable())


def test_a_folder_that_does_not_exist_is_reported(tmp_path):
    with pytest.raises(FemMbsError, match=r"none.*cannot be written"):
        write(["capobianco2021-cylinder"], tmp_path / "none", ["LobattoIIIAB"])


@pytest.mark.slow
def test_pictures_of_scripts_are_written_where_the_command_line_says(tmp_path):
    assert write(["rolling_disc"], tmp_path) == [f"{tmp_path / 'rolling_disc.png'}: rolling_disc"]
    assert [file.name for file in tmp_path.iterdir()] == ["rolling_disc.png"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_drawn_with_every_method(name, tmp_path):
    page = pages()[name]
    figure = page.draw()
    for ax, panel in zip(figure.axes, page.panels, strict=True):
        assert len(ax.lines) >= len(page.methods) + len(page.others), panel.title
        assert any(np.isfinite(np.asarray(line.get_ydata(), float)).any() for line in ax.lines)
    figure.savefig(tmp_path / "page.png")
