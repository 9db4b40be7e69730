"""Arguments of pictures, films, plots and exports, checked where they are given."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fem_mbs.arguments.checked import Named
from fem_mbs.errors import FemMbsError

VIEWS = {"x": (1, 0, 0), "y": (0, -1, 0), "z": (0, 0, 1), "iso": (1.0, -1.4, 0.8)}  # from where the camera looks
MOST_PIXELS = 20_000  # in one direction


def as_file(owner: Named, save: Any, endings: Sequence[str] = (), optional: bool = False) -> Any:
    """The path of a file to write, with one of the endings if there are any; None where that is allowed."""
    if save is None and optional:
        return None
    path = owner.as_path("save", save)
    owner.check(path is not None, "save", save, "must be the path of a file")
    if endings and Path(path).suffix.lower() not in endings:
        text = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise FemMbsError(f"{type(owner).__name__} {path}: the ending must be {text}")
    return path


def as_window(owner: Named, size: Any) -> tuple[int, int]:
    """Width and height in pixels."""
    array = owner.as_vector("size", size, 2)
    right = (array >= 1).all() and (array <= MOST_PIXELS).all() and (array == array.round()).all()
    owner.check(right, "size", size, f"must be two whole numbers of pixels, 1 to {MOST_PIXELS}")
    return int(array[0]), int(array[1])


def as_view(owner: Named, view: Any) -> Any:
    """A direction (3,) of any length, the name of one, or None."""
    if view is None or (isinstance(view, str) and view in VIEWS):
        return view
    if isinstance(view, str):
        owner.as_choice("view", view, tuple(VIEWS))
    direction = owner.as_vector("view", view)
    owner.check(direction.any(), "view", view, f"has no direction; give one, or one of {', '.join(VIEWS)}")
    return tuple(direction.tolist())


def as_color(owner: Named, color: Any) -> str | None:
    """The name of what colours a picture, or None."""
    return owner.as_text("color", color, optional=True)
