"""Former names, accepted until a later release with a `DeprecationWarning` that states the new name.

All renamed things of the public interface are here or use `Deprecated`; completion, help and the stub show new names:

    renamed                      how
    name of the package          a line in `Deprecated.NAMES`: ``fem_mbs.old`` returns ``fem_mbs.new``
    output of an element         a line in `Deprecated.OUTPUTS`: histories, sensors and linear models accept it
    keyword                      ``@Deprecated.keywords(old="new")`` above the class or function
    attribute                    ``@Deprecated.attributes(old="new")`` above the class
    order of arguments           ``@Deprecated.calls(former, …)``: calls of the former kind go to the former function

`tests/core/arguments/test_deprecated.py` calls each of them: it warns once, works, and gives the result of the new
name. In the release ``Deprecated.REMOVED`` these lines, decorators and the former functions are deleted.
"""

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from fem_mbs.arguments.checked import KeywordError, Keywords, Named

F = TypeVar("F", bound=Callable | type)
T = TypeVar("T", bound=type)


class Deprecated:
    """Former names of the public interface, and how they are accepted."""

    REMOVED = "0.4"
    NAMES: dict[str, str] = {}  # of the package: former -> new
    OUTPUTS: dict[str, dict[str, str]] = {"Belt": {"slip": "slip_path"}}  # of an element type: former -> new
    CALLS: set[str] = set()  # classes and functions with former parameters, as far as they are imported
    ATTRIBUTES: set[str] = set()  # former ones, with their class, as far as it is imported

    @staticmethod
    def warn(former: str, new: str) -> None:
        """Issue a DeprecationWarning at the line of the user's script.

        Parameters
        ----------
        former, new : str
            As the user writes them: ``Belt: output 'slip'``, ``'slip_path'``.
        """
        frame, level, package = sys._getframe(1), 2, __name__.partition(".")[0]
        while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
            frame, level = frame.f_back, level + 1
        text = f"{former} is deprecated and will be removed in {Deprecated.REMOVED}; use {new}"
        warnings.warn(text, DeprecationWarning, stacklevel=level)

    @staticmethod
    def output(kind: str, name: Any, known: Collection[str]) -> Any:
        """Return the present name of an output of an element type; ``known``: the outputs that it has."""
        new = Deprecated.OUTPUTS.get(kind, {}).get(name) if isinstance(name, str) else None
        if new is None or name in known or new not in known:
            return name
        Deprecated.warn(f"{kind}: output '{name}'", f"'{new}'")
        return new

    @staticmethod
    def keywords(**renamed: "str | tuple[str, Callable]") -> Callable[[F], F]:
        """Decorate a class or function: it accepts former keywords.

        Parameters
        ----------
        renamed : str or (str, function)
            Former keyword -> the new one; with a function that converts a former value.
        """

        def decorate(function: F) -> F:
            if isinstance(function, type):
                function.__init__ = Deprecated.keywords(**renamed)(function.__init__)  # type: ignore[misc]
                return function
            owner = function.__qualname__.removesuffix(".__init__")
            Deprecated.CALLS.add(owner)

            @functools.wraps(function)
            def accepting(*args: Any, **keywords: Any) -> Any:
                for former in renamed.keys() & keywords.keys():
                    new, convert = renamed[former], None
                    if isinstance(new, tuple):
                        new, convert = new
                    if new in keywords:
                        message = f"is the former name of {new}, which is given too"
                        raise KeywordError(Named(owner), former, keywords[former], message)
                    Deprecated.warn(f"{owner}({former}=…)", f"{new}=…")
                    value = keywords.pop(former)
                    keywords[new] = value if convert is None else convert(value)
                return function(*args, **keywords)

            return accepting  # type: ignore[return-value]

        return decorate

    @staticmethod
    def attributes(**renamed: str) -> Callable[[T], T]:
        """Decorate a class: former attribute -> the new one. Completion shows the new ones only."""

        def decorate(kind: T) -> T:
            for former, new in renamed.items():
                Deprecated.ATTRIBUTES.add(f"{kind.__name__}.{former}")
                setattr(kind, former, Deprecated._attribute(former, new))
            shown: Callable = kind.__dir__

            def names(self: Any) -> list[str]:
                return [name for name in shown(self) if name not in renamed]

            kind.__dir__ = names  # type: ignore[method-assign,assignment]
            return kind

        return decorate

    @staticmethod
    def _attribute(former: str, new: str) -> property:
        """Return a property that warns and gives another attribute."""

        def value(self: Any) -> Any:
            Deprecated.warn(f"{type(self).__name__}.{former}", new)
            return getattr(self, new)

        return property(value, doc=f"Deprecated, see ``{new}``.")

    @staticmethod
    def calls(former: Callable, what: str, new: str, *keywords: str) -> Callable[[F], F]:
        """Decorate a function whose parameters are all keywords now: calls of the former kind go to ``former``.

        Parameters
        ----------
        former : function with the former parameters
        what, new : str
            What such calls have, and how they are written now, for the warning.
        keywords : str
            Former keywords that the function does not have any more.
        """

        def decorate(function: F) -> F:
            former.__name__ = former.__qualname__ = function.__name__  # for messages
            Deprecated.CALLS.add(function.__name__)
            known, make = set(inspect.signature(former).parameters), Keywords.known(former)

            @functools.wraps(function)
            def accepting(*args: Any, **given: Any) -> Any:
                if not (args or given.keys() & set(keywords)) or not given.keys() <= known:
                    return function(*args, **given)
                made = make(*args, **given)
                Deprecated.warn(f"{function.__name__} with {what}", new)
                return made

            return accepting  # type: ignore[return-value]

        return decorate
