"""Calls that do not fit: arguments that are missing, given twice, or too many, in the words of the user's script.

Imported when such a call was made. Python has tried the call and found it wrong; this module finds out why.
"""

from collections.abc import Callable
from typing import Any

from fem_mbs.arguments.spelling import NEAR, listed, nearness
from fem_mbs.errors import label, show

SHOWN = 8  # parameters that a message lists
_VAR_POSITIONAL = 0x04  # flag of code objects: the function has *args


def explained(function: Callable, args: tuple, keywords: dict[str, Any]) -> tuple[str, Any, str]:
    """Return the fault of a call that Python could not make: the parameter, its value, and a sentence.

    Parameters
    ----------
    function : called function
    args, keywords : arguments of the call; ``self`` or the class is the first of a method's
    """
    code, defaults = function.__code__, function.__defaults__ or ()
    ordered = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    first = int(ordered[:1] in (("self",), ("cls",)))
    if ordered[:1] == ("self",) and args and not hasattr(type(args[0]), function.__name__):
        message = f"was called on the class, with {label(args[0])} in the place of an object. Make one first: "
        return ordered[0], args[0], f"{message}Class(…).{function.__name__}(…)"
    given, required = ordered[: len(args)], ordered[: len(ordered) - len(defaults)]
    missing = [n for n in required[first:] if n not in given and n not in keywords]
    missing += [n for n in named if n not in keywords and n not in (function.__kwdefaults__ or {})]
    twice = [n for n in given if n in keywords]
    if twice:
        return twice[0], keywords[twice[0]], f"{twice[0]} is given twice, by its place and by its name"
    if len(args) > len(ordered) and not code.co_flags & _VAR_POSITIONAL:
        by_name = missing or [n for n in named if n not in keywords and n != "name"]
        return _too_many(ordered[first:], args[first:], by_name, bool(missing))
    known = {*ordered, *named}
    return _missing(missing, {name: value for name, value in keywords.items() if name not in known})


def _too_many(ordered, args, by_name, needed):
    """Message for more arguments than there are parameters."""
    extra = args[len(ordered) :]
    places = (
        f"only {listed(ordered)} {'have' if len(ordered) > 1 else 'has'} a place" if ordered else "none has a place"
    )
    message = f"{', '.join(show(value) for value in extra)} is given without a name, but {places}"
    if needed and len(extra) == 1 == len(by_name):
        message += f". Write {by_name[0]}={show(extra[0])}"
    elif by_name:
        more = ", …" if len(by_name) > SHOWN else ""
        message += f". Others are given by name: {', '.join(f'{name}=…' for name in by_name[:SHOWN])}{more}"
    return by_name[0] if by_name else "arguments", extra[0], message


def _missing(missing, unknown):
    """Message for parameters that were not given; the ``unknown`` ones may be meant for them."""
    message = f"{listed(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    for name, value in unknown.items():
        near = [f"'{other}'" for other in missing if nearness(name, other) >= NEAR]
        if near:
            message += f"; {name} = {show(value)} is given: did you mean {listed(near, 'or')}?"
    return missing[0] if missing else "arguments", None, message
