"""Interactive views: the slider and the arrow keys choose the saved step; what cannot be shown says why."""

import sys

import numpy as np
import pytest
from made_up import made_up_system, written

import fem_mbs as fem
from fem_mbs.errors import FemMbsError
from fem_mbs.results.drawing.show import Viewer, show
from fem_mbs.results.initial import at_start
from fem_mbs.system.system import System


@pytest.fixture(scope="module")
def result():
    return written(made_up_system())


@pytest.fixture
def viewer(result):
    """A view without a window; skipped where there is no way to draw."""
    from fem_mbs.results.drawing.picture import _pyvista

    try:
        _pyvista()
    except FemMbsError as error:
        pytest.skip(str(error))
    viewer = Viewer(result, off_screen=True, size=(400, 300), view="y")
    yield viewer
    viewer.close()


def lowest_blue(image):
    """Row of the lowest pixel of the ball, which alone is blue at the left of the colour bar."""
    r, _, b = np.moveaxis(image[:, :320].astype(int), 2, 0)
    return np.flatnonzero((b - r > 25).any(axis=1)).max()


def test_the_slider_moves_the_drawn_model_to_its_time(viewer, result):
    assert viewer.step == 0
    low = lowest_blue(viewer.image())
    handle = viewer.slider.GetRepresentation()
    assert (handle.GetMinimumValue(), handle.GetMaximumValue()) == (result.t[0], result.t[-1])
    handle.SetValue(0.393)  # the ball is at its highest, 0.5 m above the table
    viewer.slider.InvokeEvent("InteractionEvent")
    assert viewer.step == 39
    assert lowest_blue(viewer.image()) < low - 20


def test_arrow_keys_go_from_step_to_step_and_stop_at_the_ends(viewer, result):
    keys = viewer.plotter.iren._key_press_event_callbacks
    for key, step in (("Right", 1), ("Right", 2), ("Left", 1), ("Left", 0), ("Left", 0)):
        for callback in keys[key]:
            callback()
        assert viewer.step == step and viewer.slider.GetRepresentation().GetValue() == result.t[step]
    viewer.move(1000)
    assert viewer.step == len(result.t) - 1


def test_a_contact_arrow_stays_at_its_contact_when_the_camera_turns(viewer):
    viewer.go_to(0.79)
    arrow = viewer.plotter.actors["contacts"]
    ball = viewer.result["ball"].position[79]
    assert np.array(arrow.bounds)[[0, 2, 4]] == pytest.approx(ball - [0, 0, 0.2], abs=0.1)


def test_a_model_that_has_not_run_is_shown_as_it_starts():
    system = made_up_system()
    start = at_start(System(system.model, check=False))
    assert len(start.t) == 1 and np.array_equal(start["ball"].position, [[0.9, 0, 0.2]])
    assert start["table"].gap == pytest.approx([0.0], abs=1e-15)


def test_a_model_that_has_not_run_has_no_slider(viewer):
    other = Viewer(at_start(System(made_up_system().model, check=False)), off_screen=True, size=(200, 150))
    assert other.slider is None
    assert other.image().std() > 5
    other.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only on Linux a name identifies the display")
def test_without_a_display_show_says_what_to_do_instead(result, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(FemMbsError, match=r"no display.*result.picture"):
        result.show()
    with pytest.raises(FemMbsError, match="no display"):
        made_up_system().model.show()


def test_without_pyvista_show_says_how_to_install_it(result, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(FemMbsError, match=r"'fem_mbs\[pictures\]'"):
        show(result)


def test_an_empty_model_is_not_shown(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":99")
    with pytest.raises(fem.ModelError, match="nothing in it"):
        fem.Model("empty").show()
