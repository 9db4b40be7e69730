"""Errors and warnings in the words of the user's script: where (type, name), what (parameter, value), what to do.

Every error carries its data as attributes, so that a program can react as well as a person. Warnings have one
channel, `Warnings`.
"""

from threading import get_ident
from types import FunctionType

import numpy as np


class FemMbsError(Exception):
    """Base of all errors of this package.

    All can be pickled with their attributes, so that they reach the caller of a process pool. An attribute that cannot
    (an element with a function of a script) arrives as None.
    """

    def __reduce__(self):
        packed = {name: FemMbsError._packed(value) for name, value in vars(self).items()}
        return FemMbsError._restored, (type(self), self.args, packed)

    @staticmethod
    def _packed(value):
        """A value as bytes, None if it cannot be pickled."""
        import pickle

        try:
            return pickle.dumps(value)
        except Exception:  # what an object raises when it is pickled is up to its class
            return None

    @staticmethod
    def _restored(kind, args, attributes):
        """An error with the message and the attributes it had in another process."""
        import pickle

        error = kind.__new__(kind)
        error.args = args
        for name, value in attributes.items():
            try:
                setattr(error, name, None if value is None else pickle.loads(value))
            except Exception:  # a class unknown to this process: the message is complete
                setattr(error, name, None)
        return error


def label(item: object) -> str:
    """``Beam 'rod 3'``: how elements and nodes are named in messages; functions and types by their name."""
    if isinstance(item, (FunctionType, type)):
        return item.__name__
    name = getattr(item, "name", None)
    return f"{type(item).__name__} '{name}'" if name else type(item).__name__


def show(value: object) -> str:
    """Short text of a value for messages."""
    if isinstance(value, np.ndarray) and value.size > 12:
        return f"array of shape {value.shape}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=6, separator=", ")
    if isinstance(value, type) or hasattr(value, "name"):
        return label(value)
    return repr(value)


class ParameterError(FemMbsError, ValueError):
    """A parameter that no element can have; raised by constructors.

    Attributes
    ----------
    element, parameter, value : the owner, and the value
    given reason : str, the fault of the value

    Unless ``prefixed``, the message is a complete sentence, without the parameter and its value before it.
    """

    def __init__(self, element: object, parameter: str, value: object, message: str, *, prefixed: bool = True) -> None:
        value = value.item() if isinstance(value, np.generic) else value
        self.element, self.parameter, self.value, self.reason = element, parameter, value, message
        what = f"{parameter} = {show(value)} " if prefixed else ""
        super().__init__(f"{label(element)}: {what}{message}")


class ModelError(FemMbsError, ValueError):
    """The parts of a model do not fit together; raised by ``model.compile()``.

    Attributes
    ----------
    items : nodes or elements concerned
    """

    def __init__(self, message: str, items: tuple | list = ()) -> None:
        self.items = tuple(items)
        super().__init__(message)


class FileError(FemMbsError):
    """A file that cannot be read or written, or has another content than expected.

    Attributes
    ----------
    path : str
    result : the run up to the failure, when a stepper was writing the file, else None
    """

    def __init__(self, path: object, message: str) -> None:
        self.path, self.result = str(path), None
        super().__init__(f"results file {path} {message}")


class SolverError(FemMbsError, RuntimeError):
    """A solver stopped; everything computed so far is in ``result`` and on disk.

    Attributes
    ----------
    step, time, history : number and time of the step, residual norms of the last iterations
    element : the element (or node) of the largest residual row, when known
    result : the run up to the failure, when a stepper ran
    contact_problem : the `ContactProblem` that was not solved, or None
    """

    def __init__(
        self,
        message: str,
        *,
        step: int | None = None,
        time: float | None = None,
        history: tuple | list = (),
        element: object = None,
    ) -> None:
        self.step, self.time, self.history, self.element = step, time, tuple(history), element
        self.result = self.contact_problem = None
        super().__init__(message)


class NonFiniteError(SolverError):
    """NaN or infinity in a residual; names the element that produced it."""


class Warnings:
    """The channel of warnings: they are shown as Python's are, and kept with the object under construction.

    A model keeps those of all that is added to it, a system those of its model and of the checks at compile time, and
    a run reports them in ``result.warnings``. Functions that return an object are decorated with `kept`; constructors
    of `fem_mbs.arguments.checked.Checked` need no decorator. Objects have their warnings in ``_warnings``, a tuple of
    str.

    Classes are not part of the key of compiled code (`fem_mbs.compiled.sources`): a change here compiles nothing anew.
    """

    from typing import TypeVar

    F = TypeVar("F")
    _threads: dict = {}  # thread -> lists of texts, one for each constructor or function that runs, the inner one last

    @staticmethod
    def issue(text: str, of: object = None) -> None:
        """Issue a UserWarning at the line of the user's script, and keep it with the object under construction.

        ``of``: an object that was made before, and keeps it too.
        """
        import sys
        import warnings

        frame, level, package = sys._getframe(1), 2, __name__.partition(".")[0]
        while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
            frame, level = frame.f_back, level + 1
        warnings.warn(text, UserWarning, stacklevel=level)
        for texts in Warnings._lists()[-1:]:
            texts.append(text)
        if of is not None:
            Warnings.keep(of, [text])

    @staticmethod
    def _lists() -> list:
        return Warnings._threads.get(get_ident(), [])

    @staticmethod
    def issued() -> tuple:
        """Those issued so far in the function or constructor that runs and keeps them."""
        return tuple(text for texts in Warnings._lists()[-1:] for text in texts)

    @staticmethod
    def during(function: object, args: tuple, keywords: dict) -> object:
        """Call a function; its result keeps the warnings issued meanwhile, and those of its arguments."""
        threads, thread = Warnings._threads, get_ident()
        lists = threads.get(thread)
        if lists is None:
            lists = threads[thread] = []
        issued: list[str] = []
        lists.append(issued)
        try:
            made = function(*args, **keywords)  # type: ignore[operator]
        finally:
            lists.pop()
            if not lists:
                del threads[thread]
            elif issued:
                lists[-1].extend(issued)
        for given in (*args, *keywords.values()) if keywords else args:
            if getattr(given, "_warnings", None):
                texts = [text for given in (*args, *keywords.values()) for text in Warnings.of(given)]
                Warnings.keep(made, texts + issued)
                return made
        if issued:
            Warnings.keep(made, issued)
        return made

    @staticmethod
    def kept(function: F) -> F:
        """Decorate a function: the object that it returns keeps the warnings of its making."""
        import functools

        @functools.wraps(function)  # type: ignore[arg-type]
        def making(*args, **keywords):  # type: ignore[no-untyped-def]
            return Warnings.during(function, args, keywords)

        return making  # type: ignore[return-value]

    @staticmethod
    def of(thing: object) -> tuple:
        """Warnings that an object keeps of its making."""
        found = getattr(thing, "_warnings", ())
        return found if type(found) is tuple else ()

    @staticmethod
    def keep(thing: object, texts: list | tuple) -> None:
        """Store warnings in an object, each once; arrays and tuples cannot hold any."""
        if hasattr(thing, "__dict__"):
            object.__setattr__(thing, "_warnings", tuple(dict.fromkeys((*Warnings.of(thing), *texts))))
