"""Checks of the arguments of constructors and functions; errors use the words of the user's script.

`Checked` is the base of everything that has parameters: the methods it has of `fem_mbs.arguments.values.Values` take
(parameter, value) and return the value in the form that is computed with. `Named` stands for an owner without an
object: a function, or an object that could not be made. Unknown keywords raise an error that suggests the name that
was probably meant.

Everything is in classes, which kernels cannot see: a change here compiles nothing anew.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

from fem_mbs.arguments.representation import Described
from fem_mbs.arguments.spelling import listed, meant
from fem_mbs.arguments.values import Values
from fem_mbs.errors import ParameterError

F = TypeVar("F", bound=Callable | type)
_VAR_KEYWORDS = 0x08  # flag of code objects: the function has **options


if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    class FrameLike(Protocol):
        def frame(self) -> Any: ...

    FloatOrArray: TypeAlias = Any
else:  # names that help() can show

    class ArrayLike:
        """Type of what NumPy makes an array of numbers from."""

    class FrameLike:
        """Type of what attaches to a body: a `Frame`, a `Node`, or a body with one node."""

    class FloatOrArray:
        """Type of a value with the shape of an argument: a float for a number, an array for an array."""


class KeywordError(ParameterError, TypeError):
    """A keyword that a constructor or function does not have; a TypeError as well, as Python's own is."""


class UnknownAttributeError(ParameterError, AttributeError):
    """An unused attribute was set; an AttributeError as well, as Python's is."""


class StepError(ParameterError, IndexError):
    """A saved step that a result does not have; an IndexError as well, as Python's own is."""


class Keywords:
    """Keywords of constructors and functions."""

    @staticmethod
    def known(function: F) -> F:
        """The function (or the class, for its constructor), refusing keywords that it does not have.

        Its signature is unchanged. Keywords that it passes on, as ``**options``, must fit the bases of the class;
        those passed elsewhere are checked there. Errors for missing or additional arguments use the same words.
        """
        if isinstance(function, type):
            function.__init__ = Keywords.known(function.__init__)  # type: ignore[misc]
            return function
        if hasattr(function, "_keywords"):
            return function
        code = function.__code__
        names = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        passes_on = bool(code.co_flags & _VAR_KEYWORDS)

        @functools.wraps(function)
        def checked(*args, **keywords):
            if not keywords.keys() <= names:
                Keywords._refuse(function, names, passes_on, args, keywords)
            try:
                return function(*args, **keywords)
            except TypeError as error:
                if error.__traceback__.tb_next is not None:  # the function had begun: its arguments were right
                    raise
                from fem_mbs.arguments.call_errors import explained

                owner = Keywords._owner(function, args, keywords, exact=True)
                raise KeywordError(owner, *explained(function, args, keywords), prefixed=False) from None

        only = frozenset(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
        checked._keywords = names, only, not passes_on  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    @staticmethod
    def _refuse(function, names, passes_on, args, keywords):
        """Raise a KeywordError for unknown keywords, unless another constructor checks them."""
        owner = args[0] if args and next(iter(function.__code__.co_varnames), "") in ("self", "cls") else None
        cls = owner if isinstance(owner, type) else type(owner)
        known = names
        if owner is not None and (function.__name__ == "__init__" or isinstance(owner, type)):
            more = Keywords._of_class(cls)
            if passes_on and (more is None or not cls.__module__.startswith("fem_mbs")):
                return
            known = names | (more or frozenset())
        elif passes_on:
            return
        unknown = [name for name in keywords if name not in known]
        if not unknown:
            return
        owner = Keywords._owner(function, args, keywords)
        removed = cls.removed if issubclass(cls, Checked) else {}
        if unknown[0] in removed:
            message = f"was removed; {removed[unknown[0]]}"
        else:
            message = f"is not a parameter; {Keywords._hint(cls, unknown[0], sorted(known - {'self', 'cls'}))}"
        raise KeywordError(owner, unknown[0], keywords[unknown[0]], message)

    @staticmethod
    def _hint(cls, name, known):
        """Hint for a keyword that a class does not have: one of others of its family, or a similar one."""
        found = [base for base in cls.__mro__ if vars(base).get("family")]
        having = []
        while found:
            kind = found.pop(0)
            found += kind.__subclasses__()
            if not kind.__subclasses__() and name in Keywords.of(kind):
                having.append(kind.__name__)
        return f"{listed(having)} {'has' if len(having) == 1 else 'have'} it" if having else Keywords.meant(name, known)

    @staticmethod
    def _owner(function, args, keywords, exact=False):
        """Owner named in messages about a call: the object being made, ``Class.method``, or the function.

        An object made by a class method has the name of its class, or that of the method if ``exact``.
        """
        owner = args[0] if args and next(iter(function.__code__.co_varnames), "") in ("self", "cls") else None
        cls = owner if isinstance(owner, type) else type(owner)
        if owner is None:
            return Named(function.__qualname__ if exact else function.__name__)
        if function.__name__ != "__init__" and (exact or not isinstance(owner, type)):
            known = hasattr(cls, function.__name__)  # not so for Class.method(other, …)
            return Named(f"{cls.__name__}.{function.__name__}" if known else function.__qualname__)
        name = keywords.get("name")
        return Named(cls.__name__, name if isinstance(name, str) else None)

    @staticmethod
    @functools.cache
    def _of_class(cls):
        """All keywords of a constructor; None when it passes options on to where this cannot see."""
        found, first = set(), True
        for base in cls.__mro__:
            keywords = getattr(vars(base).get("__init__"), "_keywords", None)
            if keywords is None:
                continue
            every, only, closed = keywords
            found |= every if first else only
            if closed and (first or cls.options_of is None):
                return frozenset(found)
            first = False
        if cls.options_of is not None:
            _, only, _ = cls.options_of.__init__._keywords
            return frozenset(found) | only
        return None

    @staticmethod
    @functools.cache
    def of(cls: type) -> frozenset:
        """Keywords of a constructor, as far as they are known."""
        constructors = (getattr(vars(base).get("__init__"), "_keywords", None) for base in cls.__mro__)
        known = Keywords._of_class(cls) or frozenset().union(*(found[0] for found in constructors if found))
        return known - {"self"}

    @staticmethod
    @functools.cache
    def set_by(cls: type) -> frozenset:
        """Attributes that the code of a class sets: anywhere in its methods, and in the body of a user's class."""
        import dis

        found = set()
        for base in cls.__mro__:
            if not base.__module__.startswith("fem_mbs"):
                found |= {name for name, value in vars(base).items() if not hasattr(value, "__get__")}
            for value in vars(base).values():
                code = getattr(getattr(value, "__wrapped__", value), "__code__", None)
                if code is not None and code.co_filename != "<string>":  # not constructors that dataclasses write
                    found |= {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
        return frozenset(found)

    meant = staticmethod(meant)


class Made(type):
    """Marks what its constructor has finished: parameters are fixed from then on, see `Checked`."""

    from fem_mbs.errors import Warnings as _channel  # here, because classes are no part of the key of compiled code

    def __call__(cls, *args, **keywords):
        made = Made._channel.during(type.__call__, (cls, *args), keywords)
        object.__setattr__(made, "_made", True)
        if made.freezes:
            made._freeze()
        return made

    @property
    def __signature__(cls):
        """Signature shown by `help` and the documentation: the constructor's."""
        signature = inspect.signature(cls.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class Checked(Values, Described, metaclass=Made):
    """Base of objects with parameters, and a name for messages.

    Parameters are fixed once the constructor is done: others have read them, and a change would be ignored or would
    not be checked. Parameters that may change are in ``changeable``. Unused names cannot be set: they are misspelt.

    Class attributes
    ----------------
    options_of : class or None
        Where ``**options`` of the constructor go when not to a base class: its keywords are known ones too.
    changeable : dict
        Attribute that may be set after the constructor -> function (owner, attribute, value) that returns the value in
        the form that is kept, or raises.
    refused : dict
        Attribute that is no parameter and cannot be set afterwards either -> what to do instead, in words.
    removed : dict
        Keyword that the constructor had in an earlier release -> what to do instead, in words.
    family : bool
        True if its subclasses have the same purpose: a keyword unknown to one may be one of another.
    freezes : bool
        Whether arrays that are parameters become read-only.
    """

    options_of: type | None = None
    changeable: dict[str, Callable] = {}
    refused: dict[str, str] = {}
    removed: dict[str, str] = {}
    family = False
    freezes = False

    # not looked up in __dict__: asking for it makes a dictionary, which thousands of bodies would each keep
    _made = False
    _warnings: tuple[str, ...] = ()  # of its making, see `fem_mbs.errors.Warnings`
    _own_name: str | None = None
    _inside: frozenset = frozenset()  # names that are not for users, see `__dir__`

    def __dir__(self):
        """List the names that are of use in a script: completion does not show checks and the contract with solvers."""
        inside = self._inside - Keywords.of(type(self))
        return [name for name in super().__dir__() if name not in inside]

    def __setattr__(self, name: str, value: Any) -> None:
        if self._made and not name.startswith("_") and name != "name":
            value = self._changed(name, value)
        object.__setattr__(self, name, value)

    def _changed(self, name, value):
        """The value that a public attribute gets after the constructor; raises for one that cannot be set."""
        cls = type(self)
        if name in cls.changeable:
            return cls.changeable[name](self, name, value)
        if name in cls.refused:
            raise ParameterError(self, name, value, f"cannot be set afterwards; {cls.refused[name]}")
        if name in Keywords.of(cls):
            message = f"cannot be set afterwards; give it to the constructor, {cls.__name__}({name}=…)"
            raise ParameterError(self, name, value, message)
        if not (name in self.__dict__ or hasattr(getattr(cls, name, None), "__set__") or name in Keywords.set_by(cls)):
            known = {n for n in (*self.__dict__, *cls.changeable, *Keywords.of(cls)) if not n.startswith("_")}
            hint = Keywords.meant(name, sorted(known))
            raise UnknownAttributeError(self, name, value, f"is not an attribute that can be set; {hint}")
        return value

    @staticmethod
    def set_unchecked(made: Any, **attributes: Any) -> None:
        """Set attributes of a new object; one after the other, so that objects share the table of their names.

        For many objects at once, whose parameters were checked as arrays.
        """
        for name, value in attributes.items():
            object.__setattr__(made, name, value)

    def _freeze(self):
        """Make arrays that are parameters read-only: a change of an entry would be ignored as well."""
        for name in Keywords.of(type(self)):
            array = self.__dict__.get(name)
            if type(array) is np.ndarray:
                array.setflags(write=False)

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.freezes:  # arrays of copies, and those that come from another process, can be written to
            self._freeze()

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = Keywords.known(vars(cls)["__init__"])

    @property
    def name(self) -> str | None:
        """Shown in errors, results and ParaView."""
        return self._own_name

    @name.setter
    def name(self, value: str | None) -> None:
        if value is not None and type(value) is not str:
            object.__setattr__(self, "_own_name", None)  # an error about the name has none to show
            value = Checked.as_text(self, "name", value, optional=True)
        object.__setattr__(self, "_own_name", value)


Checked._inside = frozenset(name for name in dir(Checked) if not name.startswith("_")) - {"name"}


class Named(Checked):
    """Stands for a function, or for what could not be made, in messages: ``Named("Section", "rod").positive(…)``."""

    def __new__(cls, kind: str, name=None):
        # messages show the name of the type
        return super().__new__(cls._of(kind))

    @classmethod
    @functools.cache
    def _of(cls, kind):
        return type(kind, (cls,), {})

    def __init__(self, kind: str, name: str | None = None) -> None:
        self.name = name
