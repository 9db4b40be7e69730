"""Figures by case: pages of the sources, and pictures that scripts of ``examples`` draw."""

import functools
import inspect
from collections.abc import Sequence
from pathlib import Path

from fem_mbs.cases.figures.page import Page
from fem_mbs.cases.registry import cases
from fem_mbs.cases.scripts import folder, script
from fem_mbs.errors import FemMbsError


@functools.cache
def pages() -> dict[str, Page]:
    """Name of a case -> its page; cases of one example share theirs."""
    from fem_mbs.cases.figures import bruls2014, capobianco2021, capobianco2024

    return {**bruls2014.PAGES, **capobianco2021.PAGES, **capobianco2024.PAGES}


@functools.cache
def _pictured():
    """Names of the cases whose script writes a picture to a file that it is given."""
    found = [name for name in cases() if (folder() / f"{name}.py").exists()]
    text = {name: (folder() / f"{name}.py").read_text(encoding="utf-8") for name in found}
    return [name for name in found if f'picture="{name}.png"' in text[name]]


def drawable() -> list[str]:
    """Names of the cases that have a figure, in the order of the registry."""
    return [name for name in cases() if name in pages() or name in _pictured()]


def check(names: Sequence[str]) -> None:
    """Raise `FemMbsError` for a case without a figure; the message lists the cases that have one."""
    missing = [name for name in names if name not in drawable()]
    if missing:
        raise FemMbsError(f"no figure of {', '.join(missing)}; cases with a figure: {', '.join(drawable())}")


def write(names: Sequence[str], target: Path, methods: Sequence[str] = ()) -> list[str]:
    """Draw the figures of cases; cases of one page together.

    Parameters
    ----------
    names : sequence of str
        Cases; see `drawable`.
    target : Path
        Existing folder. A file has the name of the first case that it shows.
    methods : sequence of str, optional
        Draw only these time steppers on pages; default: all of the cases.

    Returns
    -------
    list of str
        Lines "bruls2014-ball.png: bruls2014-ball".

    Raises
    ------
    FemMbsError
        For a case without a figure, a page without any of the methods, or a file that cannot be written.
    """
    check(names)
    shown: dict[str, list[str]] = {}
    for name in names:
        first = next((other for other in shown if pages().get(other, other) is pages().get(name)), name)
        shown.setdefault(first, []).append(name)
    for name in shown:
        file = target / f"{name}.png"
        try:
            if name in pages():
                pages()[name].draw(methods).savefig(file, dpi=110)
            else:
                main = script(name).main
                quiet = {"save": None} if "save" in inspect.signature(main).parameters else {}
                main(picture=str(file), **quiet)
        except OSError as error:
            raise FemMbsError(f"{file} cannot be written: {error.strerror}") from None
    return [f"{target / first}.png: {', '.join(together)}" for first, together in shown.items()]
