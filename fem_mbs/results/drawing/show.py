"""Interactive views, drawn with PyVista: a window, or a cell of a notebook, in which a slider moves through the run.

The mouse turns, shifts and zooms; the slider and the arrow keys left and right choose the saved step.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from fem_mbs.errors import FemMbsError
from fem_mbs.results.drawing.picture import INK, SAMPLES, _Stage

if TYPE_CHECKING:
    from fem_mbs.results.results import Results


class Viewer:
    """What `show` opens: the drawn model with its time slider.

    Parameters
    ----------
    result : Results
    off_screen : bool
        Draw into memory, without a window.
    color, arrows, view, zoom, size : as `fem_mbs.results.drawing.picture.picture`

    Attributes
    ----------
    step : int
        Number of the saved step that is shown.
    slider : vtkSliderWidget or None
        None where there is one saved step.
    """

    def __init__(
        self,
        result: "Results",
        *,
        off_screen: bool = False,
        color: str | None = None,
        arrows: bool = True,
        view: Any = None,
        zoom: float = 1.0,
        size: tuple[int, int] = (1280, 720),
    ) -> None:
        if not len(result.t):
            raise FemMbsError(f"result of model '{result.model}' has no saved steps to show")
        self.result, self.step, self.slider = result, -1, None
        last = len(result.t) - 1
        framed = np.unique(np.linspace(0, last, SAMPLES).astype(int))
        self.stage = _Stage(
            result, framed, color=color, arrows=arrows, view=view, zoom=zoom, size=size, film=True,
            off_screen=off_screen,
        )  # fmt: skip
        self.plotter = self.stage.plotter
        if last:
            self.slider = self.plotter.add_slider_widget(
                self.go_to, (float(result.t[0]), float(result.t[-1])), value=float(result.t[0]), title="t [s]",
                pointa=(0.2, 0.07), pointb=(0.8, 0.07), style="modern", color=INK, fmt="%.4g",
                interaction_event="always",
            )  # fmt: skip
            for key, by in (("Left", -1), ("Right", 1)):
                self.plotter.add_key_event(key, lambda by=by: self.move(by))
        self._draw(0)

    def go_to(self, time: float) -> None:
        """Show the saved step nearest to a time [s]; what the slider calls."""
        self._draw(self.result.at(time))

    def move(self, by: int) -> None:
        """Show a step that comes so many saved steps later; what the arrow keys call."""
        self._draw(min(max(self.step + by, 0), len(self.result.t) - 1))
        if self.slider is not None:
            self.slider.GetRepresentation().SetValue(self.result.t[self.step])
        self.plotter.render()

    def _draw(self, step):
        if step != self.step:
            self.stage.draw(step)
            self.step = step

    def image(self) -> np.ndarray:
        """What is seen, (height, width, 3) uint8."""
        return self.stage.image()

    def close(self) -> None:
        self.stage.close()


def show(result: "Results", **options: Any) -> None:
    """Open an interactive view of a run and wait until its window is closed; in a notebook, show it in the cell.

    Parameters
    ----------
    result : Results
    **options
        color, arrows, view, zoom, size : as `fem_mbs.results.drawing.picture.picture`

    Raises
    ------
    FemMbsError
        PyVista is not installed, there is no screen, or nothing to draw.
    """
    _needs_a_screen()
    Viewer(result, **options).plotter.show()


def _needs_a_screen():
    """Raise an error where a window cannot open: on Linux without a display, outside of notebooks."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not screen and not _in_a_notebook():
        raise FemMbsError(
            "show() opens a window, and this machine has no display; use result.picture(…) or result.animate(…), "
            "which draw without one, or run it in a notebook"
        )


def _in_a_notebook():
    return "ipykernel" in sys.modules
