"""What notebooks display: reports and models as tables, pictures and films as images.

Each type stays what it was - a text, an array, a path - and has one more method, which notebooks look for.
"""

import base64
from collections.abc import Iterable
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np

WARNING = "WARNING"  # name of the lines that must not be overlooked
_CELL = "text-align:left;vertical-align:top;padding:2px 1em 2px 0"
_ALARM = "background:#fdecea;color:#8a1c12;font-weight:bold"


class Report(str):
    """Lines (name, text) of a report as one text; a notebook shows a table in which warnings stand out.

    The line without a name is the title.
    """

    lines: list

    def __new__(cls, lines: Iterable[tuple[str, str]]) -> "Report":
        lines = list(lines)
        report = super().__new__(cls, "\n".join(f"  {name:<13}{text}" if name else text for name, text in lines))
        report.lines = lines
        return report

    def __getnewargs__(self):
        return (self.lines,)

    def _repr_html_(self) -> str:
        title = "".join(
            f"<caption style='{_CELL};font-weight:bold'>{escape(t)}</caption>" for n, t in self.lines if not n
        )
        return f"<table>{title}{''.join(_row(name, text) for name, text in self.lines if name)}</table>"


def _row(name, text):
    """Row of a table in HTML."""
    style = _CELL + (";" + _ALARM if name == WARNING else "")
    return f"<tr><th style='{style}'>{escape(name)}</th><td style='{style}'>{escape(text)}</td></tr>"


class Picture(np.ndarray):
    """An image (height, width, 3) uint8 that a notebook displays."""

    def _repr_png_(self) -> bytes | None:
        if self.ndim != 3 or self.shape[2] != 3 or self.dtype != np.uint8:
            return None  # what a computation made of it: shown as numbers
        from PIL import Image

        data = BytesIO()
        Image.fromarray(np.asarray(self)).save(data, "png")
        return data.getvalue()


class Film(type(Path())):  # type: ignore[misc]  # the kind of path of this system
    """The path of a film that a notebook plays."""

    def _repr_html_(self) -> str:
        kind = self.suffix.lower().lstrip(".")
        data = base64.b64encode(self.read_bytes()).decode("ascii")
        if kind == "mp4":
            return f"<video controls loop src='data:video/mp4;base64,{data}'></video>"
        return f"<img alt='{escape(self.name, quote=True)}' src='data:image/{kind};base64,{data}'>"
