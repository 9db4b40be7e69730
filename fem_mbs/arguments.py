"""Arguments of constructors and functions: what cannot be right is refused, in the words of the user's script.

`Checked` is the base of everything that has parameters: its methods take (parameter, value) and return the value in the
form that is computed with, or raise a `ParameterError` that names the owner, the parameter, the value and what is
allowed. `Named` speaks for what does not exist: a function, or an object that could not be made. Keywords that nobody
knows are refused with the name that was probably meant.

Everything is in classes, which kernels cannot see: a change here compiles nothing anew.
"""

import functools
import inspect
import numbers
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np

from fem_mbs.errors import ParameterError
from fem_mbs.spelling import listed, meant

_SMALLEST, _LARGEST = 1e-50, 1e50  # of what is computed with: sixth powers (sections) stay within what floats hold
_LARGEST_INTEGER = 10**9
F = TypeVar("F", bound=Callable | type)
_VAR_KEYWORDS = 0x08  # flag of code objects: the function has **options


if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fem_mbs.nodes import Frame, Node

    class HasFrame(Protocol):
        def frame(self) -> Frame: ...

    FrameLike: TypeAlias = Frame | Node | HasFrame
    FloatOrArray: TypeAlias = Any
else:  # names that help() can show

    class ArrayLike:
        """Type of what NumPy makes an array of numbers from."""

    class FrameLike:
        """Type of what attaches to a body: a `Frame`, a `Node`, or a body with one node."""

    class FloatOrArray:
        """Type of what has the shape of an argument: a float for a number, an array for an array."""


class KeywordError(ParameterError, TypeError):
    """A keyword that a constructor or function does not have; a TypeError as well, as Python's own is."""


class UnknownAttributeError(ParameterError, AttributeError):
    """An attribute that nothing reads was set; an AttributeError as well, as Python's own is."""


class StepError(ParameterError, IndexError):
    """A saved step that a result does not have; an IndexError as well, as Python's own is."""


class Keywords:
    """Which keywords constructors and functions have."""

    @staticmethod
    def known(function: F) -> F:
        """The function (or the class, for its constructor), refusing keywords that it does not have.

        Its signature stays what it was. What it passes on, as ``**options``, must fit the bases of the class; where it
        goes elsewhere, others check it. Arguments that are missing, or too many, are told in the same words.
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
                from fem_mbs.call_errors import explained

                owner = Keywords._owner(function, args, keywords, exact=True)
                raise KeywordError(owner, *explained(function, args, keywords), told=False) from None

        only = frozenset(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
        checked._keywords = names, only, not passes_on  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    @staticmethod
    def _refuse(function, names, passes_on, args, keywords):
        """Raise a KeywordError for what nobody knows; nothing where that is for others to say."""
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
        message = f"is not a parameter; {Keywords._hint(cls, unknown[0], sorted(known - {'self', 'cls'}))}"
        raise KeywordError(owner, unknown[0], keywords[unknown[0]], message)

    @staticmethod
    def _hint(cls, name, known):
        """What was meant by a keyword that a class does not have: one of others of its family, or one near."""
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
        """Whom messages about a call name: what is being made, ``Class.method``, or the function.

        What class methods make goes by the name of its class, or by that of the method if ``exact``.
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
            first = False
            if closed:
                return frozenset(found)
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
                if code is not None:
                    found |= {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
        return frozenset(found)

    meant = staticmethod(meant)


class Made(type):
    """Marks what its constructor has finished: parameters are fixed from then on, see `Checked`."""

    def __call__(cls, *args, **keywords):
        made = super().__call__(*args, **keywords)
        made.__dict__["_made"] = True
        if made.freezes:
            made._freeze()
        return made

    @property
    def __signature__(cls):
        """What `help` and documentation show: the constructor's."""
        signature = inspect.signature(cls.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class Checked(metaclass=Made):
    """What has parameters, and a name for messages.

    Parameters are fixed once the constructor is done: others have read them, and a change would be ignored or would
    not be checked. What may change is in ``changeable``. Names that nothing reads cannot be set: they are misspelt.

    Class attributes
    ----------------
    options_of : class or None
        Where ``**options`` of the constructor go when not to a base class: its keywords are known ones too.
    changeable : dict
        Attribute that may be set after the constructor -> function (owner, attribute, value) that returns the value in
        the form that is kept, or raises.
    refused : dict
        Attribute that is no parameter and cannot be set afterwards either -> what to do instead, in words.
    family : bool
        Whether its subclasses do the same in different ways: a keyword that one does not know may be one of another.
    freezes : bool
        Whether arrays that are parameters become read-only.
    """

    options_of: type | None = None
    changeable: dict[str, Callable] = {}
    refused: dict[str, str] = {}
    family = False
    freezes = False

    def __setattr__(self, name: str, value: Any) -> None:
        if "_made" in self.__dict__ and not name.startswith("_") and name != "name":
            value = self._changed(name, value)
        super().__setattr__(name, value)

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
        return self.__dict__.get("name")

    @name.setter
    def name(self, value: str | None) -> None:
        self.__dict__["name"] = None  # an error about the name has none to show
        self.__dict__["name"] = Checked.as_text(self, "name", value, optional=True)

    # These call each other through the class, so that they serve any owner: Checked.number(owner, …).

    def check(self, condition: Any, parameter: str, value: Any, message: str) -> None:
        """Raise a ParameterError in the name of this part unless the condition holds."""
        if not condition:
            raise ParameterError(self, parameter, value, message)

    def number(
        self,
        parameter: str,
        value: Any,
        unit: str = "",
        *,
        above: Any = None,
        at_least: Any = None,
        below: Any = None,
        at_most: Any = None,
    ) -> float:
        """The value as a finite float within bounds.

        Numbers of Python and NumPy are taken, 0-d arrays too; flags, text, complex and arrays are not.
        """
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            quoted = isinstance(value, str) and value.replace(".", "").isdigit()
            message = "is not a number" + ("; it is text: leave the quotation marks out" if quoted else "")
            raise ParameterError(self, parameter, value, message)
        try:
            result = float(value)
        except OverflowError:
            raise ParameterError(self, parameter, value, f"{unit} is too large".strip()) from None
        bounds = ((">", above), ("≥", at_least), ("<", below), ("≤", at_most))
        given = [(sign, bound) for sign, bound in bounds if bound is not None]
        if len(given) == 2:
            allowed = f"between {given[0][1]:g} and {given[1][1]:g}"
        else:
            allowed = "".join(f"{sign} {bound:g}" for sign, bound in given)
        if not np.isfinite(result):
            raise ParameterError(self, parameter, value, f"{unit} must be finite{allowed and ' and '}{allowed}".strip())
        outside = (above is not None and not result > above) or (at_least is not None and not result >= at_least)
        outside = outside or (below is not None and not result < below) or (at_most is not None and result > at_most)
        if outside:
            raise ParameterError(self, parameter, result, f"{unit} must be {allowed}".strip())
        if abs(result) > _LARGEST:
            raise ParameterError(self, parameter, result, f"{unit} is too large to be computed with".strip())
        if above == 0 and result < _SMALLEST:
            raise ParameterError(self, parameter, result, f"{unit} is too small to be computed with".strip())
        return result

    def positive(self, parameter: str, value: Any, unit: str = "", allow_zero: bool = False) -> float:
        """The value as a float > 0 (or ≥ 0)."""
        if allow_zero:
            return Checked.number(self, parameter, value, unit, at_least=0)
        return Checked.number(self, parameter, value, unit, above=0)

    def as_integer(self, parameter: str, value: Any, at_least: int = 1) -> int:
        """The value as a whole number; 3.0 is one."""
        message = f"must be a whole number ≥ {at_least}"
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        whole = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
        if not (whole and at_least <= value <= _LARGEST_INTEGER and value == int(value)):
            raise ParameterError(self, parameter, value, message)
        return int(value)

    def as_flag(self, parameter: str, value: Any) -> bool:
        """The value as True or False."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, numbers.Real) and value in (0, 1)):
            raise ParameterError(self, parameter, value, "must be True or False")
        return bool(value)

    def as_text(self, parameter: str, value: Any, optional: bool = False) -> Any:
        """The value if it is text."""
        if not (isinstance(value, str) or (optional and value is None)):
            raise ParameterError(self, parameter, value, "must be text")
        return value

    def as_choice(self, parameter: str, value: Any, allowed: Any, message: str | None = None) -> Any:
        """The value if it is one of a few."""
        for one in allowed:
            if value is one or (isinstance(value, str) and value == one):
                return one
        raise ParameterError(self, parameter, value, message or f"must be one of {', '.join(map(repr, allowed))}")

    def as_array(self, parameter: str, value: Any, *shapes: tuple, unit: str = "", finite: bool = True) -> np.ndarray:
        """The value as an array of floats; ``shapes``: those allowed, with None for any length; none given: all."""
        try:
            array: Any = np.asarray(value)
            if array.dtype.kind == "O":
                good = array.size and all(
                    isinstance(v, numbers.Real) and not isinstance(v, (bool, np.bool_)) for v in array.ravel()
                )
                array = array.astype(float) if good else None
            elif array.dtype.kind not in "iuf":
                array = None
        except (TypeError, ValueError, OverflowError):
            array = None
        wanted = " or ".join(str(tuple("n" if k is None else k for k in s)).replace("'", "") for s in shapes)
        if array is None:
            raise ParameterError(self, parameter, value, f"is not an array {wanted} of numbers".replace("  ", " "))
        fits = [len(s) == array.ndim and all(k in (None, n) for k, n in zip(s, array.shape)) for s in shapes]
        if shapes and not any(fits):
            raise ParameterError(self, parameter, value, f"has shape {array.shape}, must be {wanted}")
        array = np.array(array, float)
        if finite and not np.isfinite(array).all():
            message = "must be finite" if array.ndim == 0 else "has components that are not finite"
            raise ParameterError(self, parameter, value, f"{unit} {message}".strip())
        if finite and (np.abs(array) > _LARGEST).any():
            raise ParameterError(self, parameter, value, f"{unit} has components too large to be computed with".strip())
        return array

    def broadcast(self, **values: Any) -> tuple:
        """Arrays of numbers that fit each other, by parameter."""
        arrays = [Checked.as_array(self, parameter, value) for parameter, value in values.items()]
        try:
            return np.broadcast_arrays(*arrays)
        except ValueError:
            shapes = ", ".join(f"{parameter} {array.shape}" for parameter, array in zip(values, arrays))
            parameter = list(values)[-1]
            raise ParameterError(self, parameter, values[parameter], f"does not fit the others: {shapes}") from None

    def as_vector(self, parameter: str, value: Any, n: int = 3) -> np.ndarray:
        """The value as a float array (n,); a row or column of a matrix will do."""
        try:
            array = Checked.as_array(self, parameter, value)
        except ParameterError as error:
            if "of numbers" in error.reason:
                raise ParameterError(self, parameter, value, f"is not a vector of {n} numbers") from None
            raise
        if array.size != n:
            raise ParameterError(self, parameter, value, f"has {array.size} components, must have {n}")
        return array.reshape(n)

    def as_lengths(self, parameter: str, value: Any, n: int = 3) -> np.ndarray:
        """The value as edge lengths (n,) > 0 [m]."""
        array, words = Checked.as_vector(self, parameter, value, n), {2: "both", 3: "all three"}
        if not array.min() > _SMALLEST:
            raise ParameterError(self, parameter, array, f"m must be > 0 in {words[n]} directions")
        return array

    def unit_vector(self, parameter: str, value: Any) -> np.ndarray:
        """The value as a unit vector (3,): a length far from 1 is taken for a mistake."""
        vector = Checked.as_vector(self, parameter, value)
        length = np.linalg.norm(vector)
        if not abs(length - 1.0) < 1e-6:
            message = (
                f"has length {length:.6g}, must be a unit vector (divide it by its length; a zero vector has no "
                "direction)"
            )
            raise ParameterError(self, parameter, vector, message)
        return vector / length

    def as_rotation(self, parameter: str, value: Any) -> np.ndarray:
        """The value (matrix, rotation vector, quaternion, None) as a rotation matrix (3, 3)."""
        from fem_mbs.rotations import as_matrix

        if value is None:
            return np.eye(3)
        array = Checked.as_array(self, parameter, value, (3, 3), (3,), (4,))
        if array.shape == (3,) and np.linalg.norm(array) > 2.0 * np.pi * (1.0 + 1e-9):
            message = (
                "rad turns more than once round. Is it in degrees? Rotation vectors are in radians: "
                f"rotation=np.radians({np.round(array, 9).tolist()})"
            )
            raise ParameterError(self, parameter, value, message)
        try:
            return as_matrix(array)
        except ValueError as error:
            raise ParameterError(self, parameter, value, f"is not a rotation: {error}") from None

    def as_frame(self, parameter: str, value: Any) -> Any:
        """The value as a `Frame`: a frame, a node, or a body with one node."""
        if callable(getattr(value, "frame", None)) and not isinstance(value, type):
            return value.frame()
        hint = f"; make one: {value.__name__}(…)" if isinstance(value, type) else ""
        raise ParameterError(self, parameter, value, f"is not a frame, a node or a body{hint}")

    def as_instance(self, parameter: str, value: Any, kind: Any, what: str | None = None) -> Any:
        """The value if it is of a type (or one of several)."""
        if not isinstance(value, kind):
            raise ParameterError(self, parameter, value, f"must be {what or 'a ' + kind.__name__}")
        return value

    def as_motion(self, parameter: str, value: Any) -> Any:
        """The value as what a `Signal` is made of: a signal, a number, or a function of time."""
        if callable(value):
            return Checked.as_function(self, parameter, value, "a function of time t", 1)
        try:
            return Checked.number(self, parameter, value)
        except ParameterError as error:
            message = "must be a number or a function of time" if "not a number" in error.reason else error.reason
            raise ParameterError(self, parameter, value, message) from None

    def as_path(self, parameter: str, value: Any) -> Any:
        """The value if it is the path of a file, or None."""
        if value is not None and not (isinstance(value, (str, PathLike)) and str(value)):
            raise ParameterError(self, parameter, value, "must be the path of a file")
        return value

    def as_function(self, parameter: str, value: Any, what: str = "a function", arguments: int | None = None) -> Any:
        """The value if it can be called, with a number of arguments if that is given."""
        if not callable(value) or isinstance(value, type):
            raise ParameterError(self, parameter, value, f"cannot be called; give {what}")
        if arguments is not None:
            try:
                inspect.signature(value).bind(*range(arguments))
            except TypeError as error:
                raise ParameterError(self, parameter, value, f"must be {what}: {error}") from None
            except ValueError:  # functions written in C tell nothing about themselves
                pass
        return value


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
