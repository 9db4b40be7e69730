"""What notebooks display: tables of reports and models, figures, pictures and films."""

import io
import pickle
from html.parser import HTMLParser

import numpy as np
import pytest
from made_up import made_up_system, written

import fem_mbs as fem
from fem_mbs.results.drawing.notebook import Film, Picture


class Table(HTMLParser):
    """Cells and caption of a table; rejects tags that do not close."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.tags = [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append((tag, dict(attrs).get("style", "")))
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.cells.append((*self.open[-1], data))

    def texts(self):
        return [text for _, _, text in self.cells]


@pytest.fixture(scope="module")
def system():
    return made_up_system()


def test_a_result_is_a_table_with_the_lines_of_its_report(system):
    result = written(system)
    table = Table(result._repr_html_())
    lines = [line.split(None, 1) for line in str(result).splitlines()[1:]]
    assert table.texts() == [str(result).splitlines()[0], *(text for line in lines for text in line)]
    assert table.tags == {"table", "caption", "tr", "th", "td"}
    assert result.report()._repr_html_() == result._repr_html_()


def test_warnings_stand_out_in_the_table_and_other_lines_do_not(system):
    result = written(system)
    result.statistics["warnings"] = ["energy increased"]
    cells = Table(result._repr_html_()).cells
    alarming = [text for _, style, text in cells if "background" in style]
    assert alarming == ["WARNING", "energy increased"]


def test_names_that_look_like_html_stay_names():
    model = fem.Model("<script>alert(1)</script> & 'co'")
    model.add(fem.RigidBody.sphere(1.0, 0.1, name="ball"))
    table = Table(model._repr_html_())
    assert "script" not in table.tags and table.texts()[0] == "Model '<script>alert(1)</script> & 'co''"
    result = written(made_up_system())
    result.statistics["warnings"] = ["<b onclick='x'>"]
    table = Table(result._repr_html_())
    assert "b" not in table.tags and table.texts()[-1] == "<b onclick='x'>"


def test_a_model_is_a_table_with_the_lines_of_its_text(system):
    lines = [line.split(None, 1) for line in str(system.model).splitlines()[1:]]
    assert Table(system.model._repr_html_()).texts()[1:] == [text for line in lines for text in line]
    assert Table(fem.Model("empty")._repr_html_()).texts()[-2:] == ["elements", "none"]


def test_a_report_is_a_text_that_can_be_pickled(system):
    report = written(system).report()
    copy = pickle.loads(pickle.dumps(report))
    assert isinstance(report, str) and copy == report and copy._repr_html_() == report._repr_html_()


def test_plots_and_pictures_are_images_in_a_notebook(system):
    from PIL import Image

    figure = written(system).plot("ball.position.z")
    shown = np.asarray(Image.open(io.BytesIO(figure._repr_png_())))
    assert shown.shape[:2] == tuple(np.round(100 * figure.get_size_inches()[::-1])) and shown.std() > 5
    pixels = np.random.default_rng(1).integers(0, 255, (20, 30, 3)).astype(np.uint8)
    picture = pixels.view(Picture)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(picture._repr_png_()))), pixels)
    assert picture.mean(axis=2)._repr_png_() is None and picture[0]._repr_png_() is None


def test_a_film_plays_in_a_notebook_and_is_still_a_path(tmp_path):
    (tmp_path / "a.gif").write_bytes(b"GIF89a")
    film = Film(tmp_path / "a.gif")
    assert film == tmp_path / "a.gif"
    assert film._repr_html_() == "<img alt='a.gif' src='data:image/gif;base64,R0lGODlh'>"
    (tmp_path / "a.mp4").write_bytes(b"GIF89a")
    assert "<video" in Film(tmp_path / "a.mp4")._repr_html_()
