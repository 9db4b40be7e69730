"""Description of an object in one line: ``Spring 's': stiffness=10, damping=0.5``; the common `repr` of the package."""

import inspect
import numbers
from typing import Any

import numpy as np

from fem_mbs.errors import label

HIDDEN = {"name", "drawn", "drawn_size", "drawn_length"}  # parameters
LONGEST = 110  # characters of a line
SHOWN_TEXT = 24  # characters of a text in it


class Described:
    """Base of what describes itself by its type, its name, and the parameters that are not the default ones."""

    def __repr__(self) -> str:
        return line(label(self), parameters(self))


def line(head: str, values: dict[str, Any]) -> str:
    """Head and values ``name=value`` as far as they fit into a line."""
    texts: list[str] = []
    for name, value in values.items():
        text = short(value)
        if len(head) + sum(len(one) + 2 for one in texts) + len(name) + len(text) > LONGEST:
            texts.append("…")
            break
        texts.append(f"{name}={text}")
    return f"{head}: {', '.join(texts)}" if texts else head


def parameters(thing: Any) -> dict[str, Any]:
    """Parameters of the constructor that an object keeps under their names, but None and default values."""
    found, kept = {}, vars(thing)
    for parameter in _signature(type(thing)):
        value = kept.get(parameter.name)
        if parameter.name not in HIDDEN and value is not None and not _same(value, parameter.default):
            found[parameter.name] = value
    return found


def _signature(cls):
    """Parameters of a constructor, then the keywords of the base classes that get its ``**options``."""
    found: dict[str, inspect.Parameter] = {}
    for base in cls.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        own = list(inspect.signature(base.__init__).parameters.values())[1:]
        found |= {one.name: one for one in own if not found or (one.kind is one.KEYWORD_ONLY and one.name not in found)}
        if not any(one.kind is one.VAR_KEYWORD for one in own):
            break
    return found.values()


def _same(value, default):
    """True if a value is the default: numbers, texts, flags and empty containers."""
    if isinstance(value, (str, numbers.Number)):
        return isinstance(default, (str, numbers.Number)) and value == default
    return isinstance(value, (list, tuple, dict)) and len(value) == 0


def short(value: Any) -> str:
    """A value in a few characters: numbers with six digits, parts by their names, containers by their lengths."""
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN_TEXT else value[:SHOWN_TEXT] + "…")
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(value)
    if isinstance(value, (numbers.Number, np.number)):
        return f"{value:.6g}"
    if isinstance(value, (np.ndarray, list, tuple)):
        return _row(value)
    if isinstance(value, dict):
        return f"{{{len(value)}}}"
    return _named(value)


def _row(values):
    """Up to four numbers or texts, the shape of larger arrays, the number of other things."""
    if isinstance(values, np.ndarray) and (values.ndim != 1 or values.size > 4):
        return f"array {values.shape}" if values.ndim else short(values.item())
    if len(values) > 4 or not all(isinstance(value, (str, numbers.Number, np.number)) for value in values):
        return f"[{len(values)}]"
    return f"[{', '.join(short(value) for value in values)}]"


def _named(value):
    """A part of a model, a signal or a function by its name, otherwise its type."""
    if getattr(value, "constant", False) and isinstance(getattr(value, "value", None), numbers.Number):
        return short(value.value)  # a signal
    if not getattr(value, "name", None) and hasattr(value, "p"):
        value = value.node  # of a frame
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    return str(name)[:SHOWN_TEXT] if isinstance(name, str) and name != "<lambda>" else type(value).__name__
