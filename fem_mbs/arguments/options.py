"""Options of a family of classes, each defined once: name, type, default and check in one line, text in the docstring.

    class Method(Options):
        \"\"\"...
        Parameters
        ----------
        rtol : float, 0 … 1, -
            Relative tolerance.
        \"\"\"

        rtol: float = option(default=1e-6, check=number(above=0, below=1))

A subclass has the options of its bases. It names its own ones, those that have another default or are positional, and
with `unsupported` those that it does not have. From the definitions are made: the constructor, as `dataclasses` makes
it, with its signature; attributes of the checked values; in the docstring the entries of inherited options. Type
checkers read the classes as dataclasses (PEP 681), so that names and types are checked in a user's script.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fem_mbs.arguments.checked import Checked

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**keywords: Any) -> Callable[[type], type]:
        """Leave a class as it is: `typing.dataclass_transform` of Python 3.11."""
        return lambda cls: cls


Check: TypeAlias = Callable[[Checked, str, Any], Any]  # (owner, name, value) -> value in the form that is kept

_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : ", re.M)


def option(*, default: Any, check: Check, kw_only: bool = True) -> Any:
    """Define an option by its default and the check of values; only the first ones of a class are positional."""
    return field(default=default, kw_only=kw_only, metadata={"check": check})


def unsupported(*, default: Any = None, init: Literal[False] = False) -> Any:
    """Remove an inherited option from the constructor; the attribute is its default."""
    return field(default=default, init=init)


@dataclass_transform(kw_only_default=True, field_specifiers=(option, unsupported))
class Options(Checked):
    """Base of classes whose constructor has options and nothing else."""

    def __init_subclass__(cls, **keywords):
        if any(isinstance(value, Field) for value in vars(cls).values()):
            dataclass(eq=False, repr=False, match_args=False)(cls)
        if cls.__doc__:
            cls.__doc__ = _documented(cls)
        super().__init_subclass__(**keywords)

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            if item.init and item.name in vars(self):
                check = item.metadata.get("check")
                value = getattr(self, item.name)
                setattr(self, item.name, check(self, item.name, value) if check else value)


def _documented(cls):
    """Docstring of a class with the entries of all its options: first those that it documents itself."""
    own, inherited = inspect.cleandoc(cls.__doc__), {}
    for base in reversed(cls.__mro__[1:]):
        if issubclass(base, Options):
            inherited |= _entries(inspect.cleandoc(base.__doc__ or ""))
    supported = getattr(cls, "__dataclass_fields__", {})
    written = _entries(own)
    missing = (name for name in inherited if name not in written and name in supported and supported[name].init)
    more = dict.fromkeys(inherited[name] for name in missing)  # names that share an entry have it once
    if not more:
        return own
    start, end = _parameters(own)
    if start == end:
        own = f"{own[:start].rstrip()}\n\nParameters\n----------\n{own[end:]}"
        start, end = _parameters(own)
    text = "\n".join([own[:end].rstrip(), *more])
    return f"{text}\n\n{own[end:]}".rstrip()


def _entries(text):
    """Entries of the parameters in a docstring: name -> its lines; names that share an entry have one each."""
    start, end = _parameters(text)
    part = text[start:end]
    begins = [found.start() for found in _ENTRY.finditer(part)] + [len(part)]
    blocks = [part[a:b].rstrip() for a, b in pairwise(begins)]
    return {name: block for block in blocks for name in block.partition(" : ")[0].split(", ")}


def _parameters(text):
    """Begin and end of the entries of the section "Parameters"; without one twice the position where it belongs."""
    sections = [*_SECTION.finditer(text)]
    for found, following in zip(sections, [*sections[1:], None]):
        if found[1] == "Parameters":
            return found.end(), following.start() if following else len(text)
    place = sections[0].start() if sections else len(text)
    return place, place


# --- checks ------------------------------------------------------------------


def number(unit: str = "", **limits: float) -> Check:
    """Check for a number within limits, see `Values.number`."""
    return lambda owner, name, value: owner.number(name, value, unit, **limits)


def positive(unit: str = "") -> Check:
    """Check for a positive number."""
    return lambda owner, name, value: owner.positive(name, value, unit)


def integer(owner: Checked, name: str, value: Any) -> int:
    """Check for a whole number ≥ 1."""
    return owner.as_integer(name, value)


def flag(owner: Checked, name: str, value: Any) -> bool:
    """Check for True or False."""
    return owner.as_flag(name, value)


def choice(*allowed: str) -> Check:
    """Check for one of several words."""
    return lambda owner, name, value: owner.as_choice(name, value, allowed)


def choice_or_flag(*allowed: str) -> Check:
    """Check for one of several words, True or False."""

    def check(owner: Checked, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return owner.as_flag(name, value)
        owner.check(value in allowed, name, value, f"must be {', '.join(map(repr, allowed))}, True or False")
        return value

    return check


def instance(kind: type, what: str) -> Check:
    """Check for an object of a class."""
    return lambda owner, name, value: owner.as_instance(name, value, kind, what)


def optional(check: Check) -> Check:
    """Check for None, which leaves the choice to the class, or what another check accepts."""
    return lambda owner, name, value: None if value is None else check(owner, name, value)
